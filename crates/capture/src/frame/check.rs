//! The frame check sequence (9.2.4.8), and padding behind the header of data, which it does not cover.

use super::FCS_BYTES;
use crate::bytes::{Order, array, bit, field};

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

/// A frame without its frame check sequence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Stripped<'f> {
    /// The frame.
    pub frame: &'f [u8],
    /// What is known of the sequence.
    pub fcs: Fcs,
    /// Of the bytes that were cut, those that belong to the frame proper.
    pub cut: u32,
    /// Bytes of padding behind the MAC header.
    pub padding: usize,
    /// Whether the bytes contradict what the receiver said of the sequence.
    pub flag_is_wrong: bool,
}

/// Takes the frame check sequence from the end of `bytes`, of which `cut` more were not captured. `present`
/// and `padded` are what the receiver said; bytes that contradict it go before.
///
/// * The sequence is of what was on the air, and so leaves out padding behind the header.
/// * Where the receiver says that there is none, a sequence that is right is there all the same.
/// * Where it says that there is one, and the frame ends where its own contents do, there is none.
pub(super) fn strip(bytes: &[u8], cut: u32, present: Option<bool>, padded: bool) -> Stripped<'_> {
    let header = data_header_bytes(bytes);
    let pad = header.map_or(0, |header| header.next_multiple_of(4) - header);
    let padding = if padded { pad } else { 0 };
    let whole = |fcs| Stripped { frame: bytes, fcs, cut, padding, flag_is_wrong: false };
    if cut > 0 {
        if present != Some(true) {
            return whole(Fcs::Absent);
        }
        let captured = FCS_BYTES.saturating_sub(cut as usize).min(bytes.len());
        let frame = &bytes[..bytes.len() - captured];
        return Stripped { frame, cut: cut.saturating_sub(FCS_BYTES as u32), ..whole(Fcs::Cut) };
    }
    let Some(length) = bytes.len().checked_sub(FCS_BYTES) else { return whole(Fcs::Absent) };
    let (frame, sequence) = bytes.split_at(length);
    let sequence = array(sequence, 0).map_or(0, u32::from_le_bytes);
    let is_right = |padding| sequence == check(frame, header.unwrap_or_default(), padding);
    let cut_off = |fcs| Stripped { frame, cut: 0, ..whole(fcs) };
    if present == Some(true) && sequence == 0 {
        return cut_off(Fcs::Zero);
    }
    // Padding that is there without a word of it, or the other way round.
    let right = [padding, pad - padding].into_iter().find(|&padding| is_right(padding));
    if let Some(padding) = right {
        return Stripped { padding, flag_is_wrong: present == Some(false), ..cut_off(Fcs::Right) };
    }
    match present {
        Some(true) if contents_end(bytes, header, padding) == Some(bytes.len()) => {
            Stripped { flag_is_wrong: true, ..whole(Fcs::Absent) }
        }
        Some(true) => cut_off(Fcs::Wrong),
        _ => whole(Fcs::Absent),
    }
}

/// CRC-32 of a frame without the padding behind its header.
fn check(frame: &[u8], header: usize, padding: usize) -> u32 {
    let (Some(before), Some(behind)) = (frame.get(..header), frame.get(header + padding..)) else {
        return crc32fast::hash(frame);
    };
    let mut crc = crc32fast::Hasher::new();
    crc.update(before);
    crc.update(behind);
    crc.finalize()
}

/// Bytes of the MAC header of a data frame of this frame control field: four addresses between distribution
/// systems, `QoS` control, and HT control in `QoS` data (in others the bit for it has an older meaning).
pub(super) fn data_header_length(control: u16) -> usize {
    let (subtype, four_addresses) = (field(control, 4, 4), bit(control, 8) && bit(control, 9));
    let qos = bit(subtype, 3);
    let htc = qos && bit(control, 15);
    24 + if four_addresses { 6 } else { 0 } + if qos { 2 } else { 0 } + if htc { 4 } else { 0 }
}

/// Bytes of the MAC header, if this is a data frame.
fn data_header_bytes(bytes: &[u8]) -> Option<usize> {
    let control = Order::Little.u16(bytes, 0)?;
    let is_data = field(control, 0, 2) == 0 && field(control, 2, 2) == 2;
    is_data.then(|| data_header_length(control))
}

/// Where a frame ends by its own contents, without a frame check sequence: control frames have fixed lengths
/// (9.3.1), and a packet of IP says how long it is.
fn contents_end(bytes: &[u8], header: Option<usize>, padding: usize) -> Option<usize> {
    const LLC: usize = 8;
    let control = Order::Little.u16(bytes, 0)?;
    let Some(header) = header else {
        return match (field(control, 2, 2), field(control, 4, 4)) {
            (1, 12 | 13) => Some(10),
            (1, 10 | 11 | 14 | 15) => Some(16),
            _ => None,
        };
    };
    let is_protected = bit(control, 14);
    let packet = header + padding + LLC;
    let total = match bytes.get(header + padding..packet).filter(|_| !is_protected)? {
        [0xaa, 0xaa, 3, 0, 0, 0, 8, 0] => Order::Big.u16(bytes, packet + 2)?.into(),
        [0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd] => 40 + usize::from(Order::Big.u16(bytes, packet + 4)?),
        _ => return None,
    };
    Some(packet + total)
}
