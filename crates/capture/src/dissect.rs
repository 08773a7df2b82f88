//! From a record to a frame.

use crate::frame::air_bytes;
use crate::{Frame, FrameError, HeaderError, Reception, Record};
use thiserror::Error;

/// Why a record has no frame that can be read.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum DissectError {
    /// What precedes the frame cannot be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
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
    let (mut reception, bytes) = Reception::parse(record.link_type, record.bytes)?;
    if reception.fcs_present.is_none() {
        reception.fcs_present = record.fcs_bytes.map(|bytes| bytes != 0);
    }
    let cut = record.original_length.saturating_sub(record.bytes.len() as u32);
    match Frame::parse(bytes, cut, &reception) {
        Ok(frame) => Ok((reception, frame)),
        Err(error) => {
            let air_bytes = air_bytes(bytes, cut, &reception);
            Err(DissectError::Frame { error, reception: Box::new(reception), air_bytes })
        }
    }
}
