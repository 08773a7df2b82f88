//! What tells the sorts of frames apart in the frame log, as the engine has it.

use crate::medium::Frame;
use multihop_core::Span;

/// All that makes the sort of a frame of a node.
#[derive(Clone, Copy, Debug)]
pub struct FrameKey {
    to_and_flow: u64,
    /// Bytes, rate, kind, and what it carries.
    what: u64,
    duration: Span,
    airtime: Span,
}

impl FrameKey {
    /// Those of no frame.
    pub const NONE: FrameKey =
        FrameKey { to_and_flow: 0, what: u64::MAX, duration: Span::from_ns(0), airtime: Span::from_ns(0) };

    /// Of a frame with a packet of this flow, or for one, which is that.
    #[inline]
    pub fn new(frame: &Frame, flow: i64, carries: i64) -> FrameKey {
        let to = frame.to.map_or(u32::MAX, |to| to.0);
        let rate = (frame.rate_index() as u64) << 16;
        FrameKey {
            to_and_flow: u64::from(to) << 32 | u64::from(flow as u32),
            what: u64::from(frame.bytes) << 32 | rate | (frame.kind as u64) << 8 | carries as u64,
            duration: frame.duration,
            airtime: frame.airtime(),
        }
    }

    /// Are they the same? One by one: to compare them at once, a processor would have to wait until they are
    /// in memory.
    #[inline]
    pub fn are(&self, other: &FrameKey) -> bool {
        self.what == other.what
            && self.to_and_flow == other.to_and_flow
            && self.duration == other.duration
            && self.airtime == other.airtime
    }
}
