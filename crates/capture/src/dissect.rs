//! From a record to a frame.

use crate::frame::air_bytes;
use crate::{Frame, FrameError, HeaderError, LinkType, Reception, Record};
use thiserror::Error;

/// Why a record has no frame that can be read.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum DissectError {
    /// What precedes the frame cannot be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The PPDU carried no frame; it took time on the air all the same.
    #[error("a PPDU without a frame")]
    Empty {
        /// What the receiver said of it.
        reception: Box<Reception>,
    },
    /// The frame cannot be read; what precedes it can, so that its time on the air is known.
    #[error("{error}")]
    Frame {
        /// Why not.
        error: FrameError,
        /// What the receiver said of it.
        reception: Box<Reception>,
        /// Bytes on the air.
        air_bytes: u32,
    },
}

/// Reads what the receiver said, and the frame.
///
/// Where the header in front of the frame does not say whether there is a frame check sequence, the file may.
///
/// # Errors
/// If the frame cannot be found or read.
pub fn dissect(record: &Record<'_>) -> Result<(Reception, Frame), DissectError> {
    dissect_with_fcs(record, &[None; 4])
}

/// The same, where it is known better than by the header in front of the frame whether there is a frame check
/// sequence, for management, control, data and extension frames.
///
/// # Errors
/// As [`dissect`].
pub fn dissect_with_fcs(
    record: &Record<'_>,
    fcs_present: &[Option<bool>; 4],
) -> Result<(Reception, Frame), DissectError> {
    let (mut reception, bytes) = Reception::parse(record.link_type, record.bytes)?;
    if reception.has_no_frame {
        return Err(DissectError::Empty { reception: Box::new(reception) });
    }
    if reception.fcs_present.is_none() {
        reception.fcs_present = record.fcs_bytes.map(|bytes| bytes != 0);
    }
    let frame_type = bytes.first().map_or(0, |control| control >> 2 & 3);
    reception.fcs_present = fcs_present[usize::from(frame_type)].or(reception.fcs_present);
    // In a datagram the frame is a part of the packet, which knows what of it is missing.
    let not_captured = match record.link_type {
        LinkType::Other(_) => 0,
        _ => record.original_length.saturating_sub(record.bytes.len() as u32),
    };
    let cut = not_captured.saturating_add(reception.cut_bytes);
    match Frame::parse(bytes, cut, &reception) {
        Ok(frame) => Ok((reception, frame)),
        Err(error) => {
            let air_bytes = air_bytes(bytes, cut, &reception);
            Err(DissectError::Frame { error, reception: Box::new(reception), air_bytes })
        }
    }
}
