//! The frame check sequence (9.2.4.8).

use super::FCS_BYTES;
use crate::bytes::array;

/// What is known of a frame check sequence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fcs {
    /// It was not captured.
    Absent,
    /// It is there by name only: four zero bytes, as simulators write.
    Zero,
    /// It is right.
    Right,
    /// It is wrong: the frame was damaged on its way.
    Wrong,
    /// The frame was cut when it was captured, so that it is unknown.
    Cut,
}

/// Takes the frame check sequence from the end of `bytes`, of which `cut` more were not captured. Returns the
/// rest, what is known of the sequence, and how many of the bytes that were cut belong to the frame proper.
pub(super) fn strip(bytes: &[u8], cut: u32, present: Option<bool>) -> (&[u8], Fcs, u32) {
    let absent = (bytes, Fcs::Absent, cut);
    if present == Some(false) {
        return absent;
    }
    if cut > 0 {
        if present.is_none() {
            return absent;
        }
        let captured = FCS_BYTES.saturating_sub(cut as usize).min(bytes.len());
        return (&bytes[..bytes.len() - captured], Fcs::Cut, cut.saturating_sub(FCS_BYTES as u32));
    }
    let Some(length) = bytes.len().checked_sub(FCS_BYTES) else { return absent };
    let (frame, sequence) = bytes.split_at(length);
    let sequence = array(sequence, 0).map_or(0, u32::from_le_bytes);
    let right = (sequence != 0 || present.is_none()) && sequence == crc32fast::hash(frame);
    match (right, present, sequence) {
        (true, ..) => (frame, Fcs::Right, 0),
        (false, None, _) => absent,
        (false, Some(_), 0) => (frame, Fcs::Zero, 0),
        (false, Some(_), _) => (frame, Fcs::Wrong, 0),
    }
}
