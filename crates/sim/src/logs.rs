//! Logs of a run, which observe it without changing anything.

use crate::airlog::AirLog;
use crate::framelog::FrameLog;

/// Logs written during a run.
#[derive(Default)]
pub struct Logs {
    /// Capture of the frames at each radio.
    pub air: Option<AirLog>,
    /// Log of every transmission.
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
