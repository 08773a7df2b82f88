//! Slow start of CUBIC, and its end before the bottleneck queue overflows.

use crate::cc::hystart::{HyStart, HyStartPlusPlus};
use crate::{Acked, LossKind, Lost, Reno};

/// End of slow start, unless a loss or the threshold ends it before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SlowStartExit {
    /// A loss (RFC 5681).
    Loss,
    /// `HyStart++` (RFC 9406), as RFC 9438, section 4.10, recommends: growth of the round-trip time, in the
    /// first slow start.
    HyStartPlusPlus,
    /// `HyStart` of Linux: growth of the round-trip time, or a long train of acknowledgements, in each slow
    /// start.
    HyStart,
}

/// Detector of the end of slow start.
#[derive(Clone, Debug)]
pub(super) enum ExitDetector {
    /// Slow start ends at the threshold or at a loss.
    None,
    HyStartPlusPlus(HyStartPlusPlus),
    HyStart(HyStart),
}

impl ExitDetector {
    /// A detector for the first slow start.
    pub fn new(exit: SlowStartExit) -> ExitDetector {
        match exit {
            SlowStartExit::Loss => ExitDetector::None,
            SlowStartExit::HyStartPlusPlus => ExitDetector::HyStartPlusPlus(HyStartPlusPlus::default()),
            SlowStartExit::HyStart => ExitDetector::HyStart(HyStart::default()),
        }
    }

    /// Opens the window in slow start. Returns the number of bytes that count in congestion avoidance; none
    /// if slow start used them all.
    pub fn open(&mut self, reno: &mut Reno, acked: &Acked) -> Option<f64> {
        if let ExitDetector::HyStart(hystart) = self
            && reno.window < reno.threshold
            && hystart.on_acked(acked, reno)
        {
            // The rest counts in congestion avoidance at once.
            reno.threshold = reno.window;
        }
        if reno.window >= reno.threshold {
            return Some(reno.counted_bytes(acked));
        }
        let standard = reno.slow_start_increase(acked);
        let ExitDetector::HyStartPlusPlus(hystart) = self else {
            return Some(reno.slow_start(acked, standard)).filter(|rest| *rest > 0.0);
        };
        let (bytes, ended) = hystart.on_acked(acked, standard);
        let rest = reno.slow_start(acked, bytes);
        if ended {
            reno.threshold = reno.window;
            *self = ExitDetector::None;
        }
        Some(rest).filter(|rest| *rest > 0.0)
    }

    /// Processes a loss. After the first slow start `HyStart++` leaves the end to the threshold (RFC 9406,
    /// section 4.3). `HyStart` starts again after a timeout (`bictcp_hystart_reset`).
    pub fn on_lost(&mut self, lost: &Lost) {
        match self {
            ExitDetector::HyStart(hystart) => {
                if matches!(lost.kind, LossKind::Timeout { .. }) {
                    hystart.restart(lost.in_flight);
                }
            }
            ExitDetector::HyStartPlusPlus(_) | ExitDetector::None => *self = ExitDetector::None,
        }
    }

    /// Processes an ECN-Echo.
    pub fn on_marked(&mut self) {
        if matches!(self, ExitDetector::HyStartPlusPlus(_)) {
            *self = ExitDetector::None;
        }
    }
}
