//! Options of a sender that learns of failures of its route.

use multihop_core::Span;

/// Reaction of a sender to a failure of its route: the retransmission timer stops, and the sender probes with
/// its first unacknowledged segment until an acknowledgement arrives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Standby {
    /// Interval between probes.
    pub probe_interval: Span,
    /// Window after the failure.
    pub window: WindowAfterFailure,
    /// Whether losses without a congestion mark are repaired without a change of the window or of the
    /// timeout (ATCP). Needs recovery from duplicate acknowledgements.
    pub hides_losses: bool,
}

/// Window of a sender after a failure of its route.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WindowAfterFailure {
    /// Window before the failure (TCP-ELFN).
    Unchanged,
    /// One segment (ATCP).
    OneSegment,
}
