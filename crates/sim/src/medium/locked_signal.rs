//! Signal that a receiver is locked on, and the effect of other signals on it.

use super::{Collisions, Frame, RateErrors};
use multihop_core::Time;

/// Signal that a receiver is locked on. Most signals are never overlapped, and with overlaps decided by pairs
/// no bits are counted; the data for both cases is in [`Disturbance`].
#[derive(Clone, Copy, Debug)]
pub(super) struct LockedSignal {
    pub(super) from: u32,
    /// Whether the signal can be decoded without interference.
    pub(super) decodable: bool,
    /// Whether the node transmitted, or its radio was off, during the signal.
    pub(super) overlapped_by_own: bool,
    /// Whether another signal overlapped it, with overlaps decided by pairs.
    pub(super) overlapped: bool,
    /// Whether its bits are counted, because they fail by SINR.
    pub(super) counted: bool,
    pub(super) power: f64,
    pub(super) start: Time,
    pub(super) end: Time,
}

/// Effect of other signals on the locked signal, valid if [`LockedSignal::overlapped`] or
/// [`LockedSignal::counted`]. Stored apart, so that the receivers of a large network fit into caches. The
/// overlap comes first, because most networks count no bits.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Disturbance {
    pub(super) overlap: SignalOverlap,
    pub(super) bits: Bits,
}

/// Effect of other signals with overlaps decided by pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SignalOverlap {
    /// Whether a later signal destroyed the locked signal.
    pub(super) collided: bool,
    /// Whether the signal exceeds the strongest of the signals that began at the same instant by the capture
    /// ratio.
    pub(super) beats_interferers: bool,
    pub(super) interferer: f64,
    pub(super) interferers_end: Time,
    /// Whether one of the overlapping signals can be decoded without interference.
    pub(super) any_decodable: bool,
    /// Latest end of the later, weaker signals that were ignored by capture.
    pub(super) ignored_until: Time,
    /// Time at which a later signal that lasts longer replaced the locked one, and the power before that
    /// time.
    pub(super) replaced: Time,
    pub(super) former_power: f64,
}

/// Success probability of bits, where they fail by SINR.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bits {
    /// Natural logarithm of the probability that all bits up to `counted` are correct.
    pub(super) ln_success: f64,
    pub(super) counted: Time,
    /// Time of the first bit behind preamble and header.
    pub(super) from: Time,
    /// Natural logarithm of the probability that preamble and header are correct, where errors are possible.
    pub(super) ln_header: f64,
    pub(super) header_counted: Time,
    /// Whether to record when bits fail, not only how many: the frame may be an aggregate of several MPDUs.
    pub(super) keeps_curve: bool,
    pub(super) rate: usize,
    /// Effective noise, where errors without interference were measured.
    pub(super) noise: f64,
}

/// Locked signal together with the effect of other signals on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locked<'r> {
    lock: &'r LockedSignal,
    overlap: Option<&'r SignalOverlap>,
    bits: Option<&'r Bits>,
}

impl LockedSignal {
    /// Combines the signal with its disturbance.
    #[inline]
    pub(super) fn with<'r>(&'r self, disturbance: &'r Disturbance) -> Locked<'r> {
        Locked {
            lock: self,
            overlap: self.overlapped.then_some(&disturbance.overlap),
            bits: self.counted.then_some(&disturbance.bits),
        }
    }
}

impl Locked<'_> {
    /// Whether the signal carries this frame.
    pub(super) fn is_of(&self, frame: &Frame) -> bool {
        self.lock.from == frame.from.0
    }

    /// Time at which the signal began.
    pub(super) fn start(&self) -> Time {
        self.lock.start
    }

    pub(super) fn is_intact(&self) -> bool {
        self.lock.decodable && !self.lock.overlapped_by_own && self.is_clean()
    }

    pub(super) fn is_clean(&self) -> bool {
        self.overlap.is_none_or(|overlap| overlap.beats_interferers && !overlap.collided)
    }

    /// Whether a preamble was recognized in the signal.
    pub(super) fn is_recognized(&self) -> bool {
        let decodable = if self.is_clean() { self.lock.decodable } else { self.overlap().any_decodable };
        !self.lock.overlapped_by_own && decodable
    }

    /// Time at which the last of the overlapping signals ends.
    pub(super) fn end(&self) -> Time {
        let interferers = self.overlap.filter(|overlap| !overlap.beats_interferers);
        interferers.map_or(self.lock.end, |overlap| self.lock.end.max(overlap.interferers_end))
    }

    pub(super) fn ln_success(&self) -> f64 {
        self.bits.map_or(0.0, |bits| bits.ln_success)
    }

    /// Value of `ln_success` without interference.
    pub(super) fn ln_success_alone(&self, collisions: &Collisions, frame: &Frame) -> f64 {
        let Collisions::Sinr { noise, errors, measured, .. } = collisions else { return 0.0 };
        let Some(bits) = self.bits.filter(|_| !*measured) else {
            return 0.0; // the link's own bit errors contain its losses without interference
        };
        let RateErrors { table, bps, .. } = &errors[bits.rate];
        let bits = frame.psdu_airtime().seconds() * bps;
        bits * table.bit_success_ln(self.lock.power / *noise as f64)
    }

    pub(super) fn ln_header(&self) -> f64 {
        self.bits.map_or(0.0, |bits| bits.ln_header)
    }

    /// Value of `ln_header` without interference.
    pub(super) fn ln_header_alone(&self, collisions: &Collisions, frame: &Frame) -> f64 {
        let Collisions::Sinr { noise, header: Some(errors), measured: false, .. } = collisions else {
            return 0.0;
        };
        frame.overhead.seconds() * errors.bps * errors.table.bit_success_ln(self.lock.power / *noise as f64)
    }

    /// Time at which the last of the later, weaker signals ends; zero without such signals.
    pub(super) fn ignored_until(&self) -> Time {
        let Some(overlap) = self.overlap else { return Time::ZERO };
        let interferers = if overlap.beats_interferers { overlap.interferers_end } else { Time::ZERO };
        overlap.ignored_until.max(interferers)
    }

    /// Effect of overlapping signals; the default if there were none.
    pub(super) fn overlap(&self) -> SignalOverlap {
        self.overlap.copied().unwrap_or(SignalOverlap {
            collided: false,
            beats_interferers: true,
            interferer: 0.0,
            interferers_end: Time::ZERO,
            any_decodable: self.lock.decodable,
            ignored_until: Time::ZERO,
            replaced: Time::ZERO,
            former_power: 0.0,
        })
    }
}
