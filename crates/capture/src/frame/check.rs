//! The frame check sequence (9.2.4.8), and padding after the header of data frames, which it does not cover.

use super::FCS_BYTES;
use crate::bytes::{ByteOrder, array, bit, field};

/// State of a frame check sequence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fcs {
    /// The FCS was not captured.
    Absent,
    /// The FCS is four zero bytes, as simulators write.
    Zero,
    /// The FCS is correct.
    Right,
    /// The FCS is wrong: the frame was damaged in transmission.
    Wrong,
    /// The frame was cut when it was captured, so that the FCS is unknown.
    Cut,
}

/// Frame without its frame check sequence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct FrameWithoutFcs<'f> {
    /// Bytes of the frame.
    pub frame: &'f [u8],
    /// State of the FCS.
    pub fcs: Fcs,
    /// Number of missing bytes that belong to the frame without its FCS.
    pub cut: u32,
    /// Number of padding bytes after the MAC header.
    pub padding: usize,
    /// Whether the bytes contradict the receiver's flag about the FCS.
    pub flag_is_wrong: bool,
}

/// Removes the frame check sequence from the end of `bytes`. `cut` is the number of further bytes of the
/// frame that were not captured. `present` and `padded` are the receiver's flags; bytes that contradict a
/// flag take precedence.
///
/// * The FCS covers the bytes on the air, without padding after the header.
/// * If the receiver reports no FCS, but the last four bytes are a correct one, they are the FCS.
/// * If the receiver reports an FCS, but the contents of the frame end with its last byte, there is none.
pub(super) fn remove_fcs(bytes: &[u8], cut: u32, present: Option<bool>, padded: bool) -> FrameWithoutFcs<'_> {
    let header = data_header_bytes(bytes);
    let pad = header.map_or(0, |header| header.next_multiple_of(4) - header);
    let padding = if padded { pad } else { 0 };
    let whole = |fcs| FrameWithoutFcs { frame: bytes, fcs, cut, padding, flag_is_wrong: false };
    if cut > 0 {
        if present != Some(true) {
            return whole(Fcs::Absent);
        }
        let captured = FCS_BYTES.saturating_sub(cut as usize).min(bytes.len());
        let frame = &bytes[..bytes.len() - captured];
        return FrameWithoutFcs { frame, cut: cut.saturating_sub(FCS_BYTES as u32), ..whole(Fcs::Cut) };
    }
    let Some(length) = bytes.len().checked_sub(FCS_BYTES) else { return whole(Fcs::Absent) };
    let (frame, sequence) = bytes.split_at(length);
    let sequence = array(sequence, 0).map_or(0, u32::from_le_bytes);
    let is_right = |padding| sequence == check(frame, header.unwrap_or_default(), padding);
    let cut_off = |fcs| FrameWithoutFcs { frame, cut: 0, ..whole(fcs) };
    if present == Some(true) && sequence == 0 {
        return cut_off(Fcs::Zero);
    }
    // Padding without its flag, or a flag without padding.
    let right = [padding, pad - padding].into_iter().find(|&padding| is_right(padding));
    if let Some(padding) = right {
        return FrameWithoutFcs { padding, flag_is_wrong: present == Some(false), ..cut_off(Fcs::Right) };
    }
    match present {
        Some(true) if contents_end(bytes, header, padding) == Some(bytes.len()) => {
            FrameWithoutFcs { flag_is_wrong: true, ..whole(Fcs::Absent) }
        }
        Some(true) => cut_off(Fcs::Wrong),
        _ => whole(Fcs::Absent),
    }
}

/// CRC-32 of a frame without the padding after its header.
fn check(frame: &[u8], header: usize, padding: usize) -> u32 {
    let (Some(before), Some(behind)) = (frame.get(..header), frame.get(header + padding..)) else {
        return crc32fast::hash(frame);
    };
    let mut crc = crc32fast::Hasher::new();
    crc.update(before);
    crc.update(behind);
    crc.finalize()
}

/// Length of the MAC header of a data frame with this frame control field: four addresses between
/// distribution systems, `QoS` control, and HT control in `QoS` data (in other frames its bit has an older
/// meaning).
pub(super) fn data_header_length(control: u16) -> usize {
    let (subtype, four_addresses) = (field(control, 4, 4), bit(control, 8) && bit(control, 9));
    let qos = bit(subtype, 3);
    let htc = qos && bit(control, 15);
    24 + if four_addresses { 6 } else { 0 } + if qos { 2 } else { 0 } + if htc { 4 } else { 0 }
}

/// Length of the MAC header of a data frame; none for other frames.
fn data_header_bytes(bytes: &[u8]) -> Option<usize> {
    let control = ByteOrder::Little.u16(bytes, 0)?;
    let is_data = field(control, 0, 2) == 0 && field(control, 2, 2) == 2;
    is_data.then(|| data_header_length(control))
}

/// End of a frame by its own contents, without an FCS: control frames have fixed lengths (9.3.1), and IP
/// packets carry their length.
fn contents_end(bytes: &[u8], header: Option<usize>, padding: usize) -> Option<usize> {
    const LLC: usize = 8;
    let control = ByteOrder::Little.u16(bytes, 0)?;
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
        [0xaa, 0xaa, 3, 0, 0, 0, 8, 0] => ByteOrder::Big.u16(bytes, packet + 2)?.into(),
        [0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd] => 40 + usize::from(ByteOrder::Big.u16(bytes, packet + 4)?),
        _ => return None,
    };
    Some(packet + total)
}
