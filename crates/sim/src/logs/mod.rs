//! Files that a run writes while it goes on: captures of all radios, and frame logs.
//!
//! Logs observe the run and change nothing in it.

mod air;
mod frames;
mod selection;

pub use air::AirLog;
pub use frames::FrameLog;
pub use selection::Selection;
use std::{fmt, io};

/// Logs of one run.
#[derive(Default)]
pub struct Logs {
    /// Capture of all radios.
    pub air: Option<AirLog>,
    /// Log of all transmissions.
    pub frames: Option<FrameLog>,
}

impl From<AirLog> for Logs {
    fn from(log: AirLog) -> Logs {
        Logs { air: Some(log), frames: None }
    }
}

impl From<FrameLog> for Logs {
    fn from(log: FrameLog) -> Logs {
        Logs { air: None, frames: Some(log) }
    }
}

/// Reason why a log cannot be written.
#[derive(Debug)]
pub enum LogError {
    /// The scenario counts too few bytes for the MAC header and the FCS of a DATA frame, so that its frames
    /// are shorter than any 802.11 frame.
    NoRoomForHeader {
        /// Bytes that the scenario counts.
        data_header: u32,
        /// Bytes that a capture needs at least.
        minimum: u32,
    },
    /// The log's file cannot be written.
    Io(io::Error),
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::NoRoomForHeader { data_header, minimum } => write!(
                f,
                "mac.override.data_header: {data_header} B leave no room for the header of an 802.11 frame in a \
                 capture; give at least {minimum} B, or run without a capture"
            ),
            LogError::Io(error) => write!(f, "the log cannot be written: {error}"),
        }
    }
}

impl std::error::Error for LogError {}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> LogError {
        LogError::Io(error)
    }
}
