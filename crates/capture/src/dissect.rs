//! Dissection of a record into reception data and a frame.

use crate::frame::air_bytes;
use crate::{Frame, FrameError, HeaderError, LinkType, Record, RxInfo};
use thiserror::Error;

/// Reason why a record has no readable frame.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum DissectError {
    /// The link-layer header cannot be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The PPDU carried no frame, but occupied the medium.
    #[error("a PPDU without a frame")]
    Empty {
        /// Data that the receiver reported.
        reception: Box<RxInfo>,
    },
    /// The frame cannot be read, but its link-layer header can, so that its airtime is known.
    #[error("{error}")]
    Frame {
        /// Reason why the frame cannot be read.
        error: FrameError,
        /// Data that the receiver reported.
        reception: Box<RxInfo>,
        /// Number of bytes on the air.
        air_bytes: u32,
    },
}

/// Reads the receiver's data and the frame of a record.
///
/// If the link-layer header does not tell whether there is a frame check sequence, the file may.
///
/// # Errors
/// If the frame cannot be found or read.
pub fn dissect(record: &Record<'_>) -> Result<(RxInfo, Frame), DissectError> {
    dissect_with_fcs(record, &[None; 4])
}

/// Same as [`dissect`], with better knowledge than the link-layer header of whether there is a frame check
/// sequence: one entry each for management, control, data and extension frames.
///
/// # Errors
/// As [`dissect`].
pub fn dissect_with_fcs(
    record: &Record<'_>,
    fcs_present: &[Option<bool>; 4],
) -> Result<(RxInfo, Frame), DissectError> {
    let (mut reception, bytes) = RxInfo::parse(record.link_type, record.bytes)?;
    if reception.has_no_frame {
        return Err(DissectError::Empty { reception: Box::new(reception) });
    }
    if reception.fcs_present.is_none() {
        reception.fcs_present = record.fcs_bytes.map(|bytes| bytes != 0);
    }
    let frame_type = bytes.first().map_or(0, |control| control >> 2 & 3);
    reception.fcs_present = fcs_present[usize::from(frame_type)].or(reception.fcs_present);
    // In a datagram the frame is only part of the packet; its header tells how many bytes are missing.
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
