//! The signal that a receiver is locked on, and what others do to it.

use super::{Collisions, Frame, RateErrors};
use multihop_core::Time;

/// The signal that a receiver is locked on. Most are never overlapped, and where overlaps are settled by
/// pairs no bits are counted: what goes with either is in [`Disturbance`].
#[derive(Clone, Copy, Debug)]
pub(super) struct LockedSignal {
    pub(super) from: u32,
    /// Strong enough to be decoded, were it alone.
    pub(super) decodable: bool,
    /// The node transmitted, or its radio was off, while it was on the air.
    pub(super) overlapped_by_own: bool,
    /// Another signal overlapped it, where that is settled by pairs.
    pub(super) overlapped: bool,
    /// Its bits are counted, because they fail by SINR.
    pub(super) counted: bool,
    pub(super) power: f64,
    pub(super) start: Time,
    pub(super) end: Time,
}

/// What happened to the signal that a receiver is locked on, if [`LockedSignal::overlapped`] or
/// [`LockedSignal::counted`] says that something did. A place of its own, so that the receivers of a large
/// network fit into caches; what overlaps do to it comes first, as most networks know nothing of bits.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Disturbance {
    pub(super) overlap: Overlap,
    pub(super) bits: Bits,
}

/// What other signals did to it, where overlaps are settled by pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overlap {
    /// A later signal destroyed it.
    pub(super) collided: bool,
    /// It beats, by the capture ratio, the strongest of the signals that began at the same instant.
    pub(super) beats_interferers: bool,
    pub(super) interferer: f64,
    pub(super) interferers_end: Time,
    /// One of the signals in it could be decoded, were it alone.
    pub(super) any_decodable: bool,
    /// When the last of the later, weaker signals ends that it captured the receiver from.
    pub(super) ignored_until: Time,
    /// When a later signal took its place for lasting longer, and the power that was there before.
    pub(super) replaced: Time,
    pub(super) former_power: f64,
}

/// Its bits, where they fail by SINR.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bits {
    /// Accumulated ln of the probability that all bits up to `counted` are right.
    pub(super) ln_success: f64,
    pub(super) counted: Time,
    /// When the first of them begins, behind preamble and header.
    pub(super) from: Time,
    /// The same of preamble and header, where something may harm them.
    pub(super) ln_header: f64,
    pub(super) header_counted: Time,
    /// When they fail is of interest, and not only how many: the frame may carry several MPDUs.
    pub(super) keeps_curve: bool,
    pub(super) rate: usize,
    /// Where bit errors without interference were measured: the noise that goes with them.
    pub(super) noise: f64,
}

/// A signal that a receiver is locked on, and what happened to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locked<'r> {
    lock: &'r LockedSignal,
    overlap: Option<&'r Overlap>,
    bits: Option<&'r Bits>,
}

impl LockedSignal {
    /// With what happened to it.
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
    /// Is it of this frame?
    pub(super) fn is_of(&self, frame: &Frame) -> bool {
        self.lock.from == frame.from.0
    }

    /// When it began.
    pub(super) fn start(&self) -> Time {
        self.lock.start
    }

    pub(super) fn is_intact(&self) -> bool {
        self.lock.decodable && !self.lock.overlapped_by_own && self.is_clean()
    }

    pub(super) fn is_clean(&self) -> bool {
        self.overlap.is_none_or(|overlap| overlap.beats_interferers && !overlap.collided)
    }

    /// Was a preamble recognized in it?
    pub(super) fn is_recognized(&self) -> bool {
        let decodable = if self.is_clean() { self.lock.decodable } else { self.overlap().any_decodable };
        !self.lock.overlapped_by_own && decodable
    }

    /// When the last of the signals in it ends.
    pub(super) fn end(&self) -> Time {
        let interferers = self.overlap.filter(|overlap| !overlap.beats_interferers);
        interferers.map_or(self.lock.end, |overlap| self.lock.end.max(overlap.interferers_end))
    }

    pub(super) fn ln_success(&self) -> f64 {
        self.bits.map_or(0.0, |bits| bits.ln_success)
    }

    /// What `ln_success` would be without interference.
    pub(super) fn ln_success_alone(&self, collisions: &Collisions, frame: &Frame) -> f64 {
        let Collisions::Sinr { noise, errors, measured, .. } = collisions else { return 0.0 };
        let Some(bits) = self.bits.filter(|_| !*measured) else {
            return 0.0; // what the link loses alone is in its own bit errors
        };
        let RateErrors { table, bps, .. } = &errors[bits.rate];
        let bits = frame.psdu_airtime().seconds() * bps;
        bits * table.bit_success_ln(self.lock.power / *noise as f64)
    }

    pub(super) fn ln_header(&self) -> f64 {
        self.bits.map_or(0.0, |bits| bits.ln_header)
    }

    /// What `ln_header` would be without interference.
    pub(super) fn ln_header_alone(&self, collisions: &Collisions, frame: &Frame) -> f64 {
        let Collisions::Sinr { noise, header: Some(errors), measured: false, .. } = collisions else {
            return 0.0;
        };
        frame.overhead.seconds() * errors.bps * errors.table.bit_success_ln(self.lock.power / *noise as f64)
    }

    /// When the last of the later, weaker signals ends; zero without such.
    pub(super) fn ignored_until(&self) -> Time {
        let Some(overlap) = self.overlap else { return Time::ZERO };
        let interferers = if overlap.beats_interferers { overlap.interferers_end } else { Time::ZERO };
        overlap.ignored_until.max(interferers)
    }

    /// What other signals did to it; nothing so far, if there were none.
    pub(super) fn overlap(&self) -> Overlap {
        self.overlap.copied().unwrap_or(Overlap {
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
