//! Receiver of one node: the signal that it is locked on, and the outcome of each signal. `decoding`: bit
//! errors.

mod decoding;

use super::locked_signal::{Bits, Disturbance, Locked, LockedSignal, SignalOverlap};
use super::success_curve::SuccessCurve;
use super::{Bitmap, Collisions, Finished, Frame, Link, Loads, Reception};
use decoding::{DETECTION, Decoding, is_too_weak};
use multihop_core::{FrameKind, Rng, Time};

/// Flag: the node's own frame has not ended at its listeners.
const SENDS: u8 = 1;
/// Flag: the radio is switched off.
const OFF: u8 = 2;

/// Receiver of one node. Energy is a sum of integers, so that it does not depend on the order of additions.
/// The struct is one cache line, so that the receivers around a sender are adjacent in memory.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Radio {
    energy: u64,
    lock: Option<LockedSignal>,
    /// Start of the present silence, if the medium is quiet here: the end of the node's latest transmission
    /// at the node itself, or of the latest sensed signal, whichever is later.
    quiet_since: Time,
    /// Whether the energy is high enough to make the medium busy.
    loud: bool,
    /// Reasons why the radio cannot receive: combination of `SENDS` and `OFF`.
    not_receiving: u8,
    rest: Box<ColdState>,
}

const _: () = assert!(size_of::<Radio>() == 64, "what signals change is one cache line");

/// Part of a receiver that most signals do not change. The fields for overlapping signals come first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct ColdState {
    /// Time at which the node's latest transmission ends at the node itself.
    transmits_until: Time,
    /// Power of the signal of the latest decoded frame.
    ended_power: f64,
    disturbance: Disturbance,
    /// Energy from which the medium is busy; with `Collisions::Pairwise` any signal makes it busy.
    busy_from: u64,
    rng: Rng,
    /// MPDUs decoded from the latest A-MPDU.
    arrived: Bitmap,
    /// Progress of decoding the present A-MPDU.
    decoding: Decoding,
    curve: SuccessCurve,
}

const _: () = assert!(
    std::mem::offset_of!(ColdState, disturbance.overlap) + size_of::<SignalOverlap>() == 64,
    "what overlapping signals change is one cache line"
);

impl Radio {
    /// Creates a silent radio that senses the medium busy from this energy on.
    pub fn new(busy_from: u64, rng: Rng) -> Radio {
        let rest = ColdState {
            busy_from,
            transmits_until: Time::ZERO,
            disturbance: Disturbance::default(),
            rng,
            ended_power: 0.0,
            arrived: Bitmap::default(),
            decoding: Decoding::default(),
            curve: SuccessCurve::default(),
        };
        Radio {
            energy: 0,
            lock: None,
            quiet_since: Time::ZERO,
            loud: false,
            not_receiving: 0,
            rest: Box::new(rest),
        }
    }

    /// Reads a field that signals change, to load the cache line.
    pub fn peek(&self) -> u64 {
        self.energy
    }

    /// Whether the medium is physically busy here. Own transmissions count, and so does a radio that is
    /// switched off, which cannot transmit.
    pub fn is_busy(&self) -> bool {
        self.not_receiving != 0 || self.senses_others()
    }

    /// Whether the radio senses nothing. The node's own frame may still be on its way to the listeners.
    pub fn is_quiet(&self, now: Time) -> bool {
        !self.senses_others()
            && (self.not_receiving == 0 || (self.not_receiving == SENDS && now > self.rest.transmits_until))
    }

    fn senses_others(&self) -> bool {
        self.loud || self.lock.is_some()
    }

    /// Whether the energy is high enough to make the medium busy.
    #[inline]
    fn is_loud(&self, collisions: &Collisions) -> bool {
        match collisions {
            Collisions::Pairwise { .. } => self.energy > 0,
            Collisions::Sinr { .. } => self.energy >= self.rest.busy_from,
        }
    }

    /// Whether a frame whose preamble was recognized is being received.
    pub fn is_receiving(&self) -> bool {
        self.locked().is_some_and(|locked| locked.is_recognized())
    }

    /// Received power of the latest decoded frame, in the unit of the noise of [`Collisions::Sinr`].
    pub fn ended_power(&self) -> f64 {
        self.rest.ended_power
    }

    /// Starts a transmission of the node, which destroys the frame being received.
    pub fn transmit(&mut self, until: Time) {
        self.not_receiving |= SENDS;
        self.rest.transmits_until = until;
        self.quiet_since = self.quiet_since.max(until);
        if let Some(lock) = &mut self.lock {
            lock.overlapped_by_own = true;
        }
    }

    /// Ends the node's transmission at its listeners. The radio can receive from now on.
    pub fn stop(&mut self) {
        self.not_receiving &= !SENDS;
    }

    /// Switches the radio off, which destroys the frame being received. Energies of signals are still added
    /// up, for when the radio is on again.
    pub fn switch_off(&mut self) {
        self.not_receiving |= OFF;
        if let Some(lock) = &mut self.lock {
            lock.overlapped_by_own = true;
        }
    }

    /// Switches the radio on. Signals that began before add energy only.
    pub fn switch_on(&mut self, now: Time) {
        self.not_receiving &= !OFF;
        self.quiet_since = self.quiet_since.max(now);
    }

    /// Whether the radio is switched off.
    pub fn is_off(&self) -> bool {
        self.not_receiving & OFF != 0
    }

    /// Whether the radio is sending the node's own frame.
    pub fn is_sending(&self, now: Time) -> bool {
        self.not_receiving & SENDS != 0 && now < self.rest.transmits_until
    }

    /// Start of the present silence, if the medium is quiet here.
    pub fn quiet_since(&self) -> Time {
        self.quiet_since
    }

    /// Whether there is no signal at all, including the node's own, with overlaps decided by pairs.
    #[inline]
    pub fn is_silent(&self) -> bool {
        debug_assert!(self.energy > 0 || self.lock.is_none(), "a lock ends with the last signal");
        (self.energy == 0) & (self.not_receiving == 0)
    }

    /// Starts a signal during silence: same effect as [`Radio::begin`], faster.
    #[inline]
    pub fn begin_in_silence(&mut self, link: &Link, frame: &Frame, now: Time) {
        debug_assert!(self.is_silent());
        (self.energy, self.loud) = (link.energy, true);
        self.lock = Some(self.lock_on(link, frame, now));
    }

    /// Whether the end of this signal is the end of the only signal here, with overlaps decided by pairs, so
    /// that [`Radio::end_alone`] has the same effect as [`Radio::finish`], faster. The frame either cannot be
    /// decoded or is `certain` to be correct.
    #[inline]
    pub fn is_ended_alone_by(&self, link: &Link, frame: &Frame, certain: bool) -> bool {
        let Some(lock) = &self.lock else { return false };
        let disturbed = lock.overlapped | lock.overlapped_by_own | (self.not_receiving != 0);
        let may_be_wrong = lock.decodable & !(certain & (link.ln_bit_success >= 0.0));
        // Ignored signals may last longer.
        let is_last = (lock.from == frame.from.0) & (self.energy == link.energy);
        is_last & !disturbed & !may_be_wrong
    }

    /// Ends the only signal.
    #[inline]
    pub fn end_alone(&mut self, now: Time) {
        self.lock = None;
        (self.energy, self.loud) = (0, false);
        self.quiet_since = self.quiet_since.max(now);
    }

    /// Starts a signal. Returns whether the medium becomes busy here.
    #[inline]
    pub fn begin(&mut self, collisions: &Collisions, link: &Link, frame: &Frame, now: Time) -> bool {
        let Collisions::Pairwise { capture } = collisions else {
            return self.begin_by_power(collisions, link, frame, now);
        };
        if self.lock.is_some() {
            (self.energy, self.loud) = (self.energy + link.energy, true);
            self.begin_upon(capture.unwrap_or(f64::INFINITY), link, frame, now);
            return false;
        }
        let was_quiet = self.is_quiet(now);
        (self.energy, self.loud) = (self.energy + link.energy, true);
        self.lock = Some(self.lock_on(link, frame, now));
        was_quiet
    }

    /// Locked signal, with the effect of other signals on it.
    #[inline]
    fn locked(&self) -> Option<Locked<'_>> {
        self.lock.as_ref().map(|lock| lock.with(&self.rest.disturbance))
    }

    #[inline]
    fn lock_on(&self, link: &Link, frame: &Frame, now: Time) -> LockedSignal {
        LockedSignal {
            from: frame.from.0,
            decodable: link.is_decodable(),
            overlapped_by_own: self.not_receiving != 0,
            overlapped: false,
            counted: false,
            power: link.power,
            start: now,
            end: frame.end(),
        }
    }

    /// Starts a signal, where bits fail by SINR.
    #[inline(never)]
    fn begin_by_power(&mut self, collisions: &Collisions, link: &Link, frame: &Frame, now: Time) -> bool {
        let Collisions::Sinr { sensitivity, noise, errors, measured, detection, .. } = collisions else {
            return false;
        };
        let was_quiet = self.is_quiet(now);
        self.count_bits(collisions, now);
        self.energy += link.energy;
        self.loud = self.is_loud(collisions);
        if link.energy >= *sensitivity {
            // Of signals that begin at one instant, or before the first is detected, the strongest is
            // received.
            let together = |start: Time| start == now || (*detection > 0.0 && now <= start + DETECTION);
            match &self.lock {
                Some(lock) if lock.start == now && lock.power.to_bits() == link.power.to_bits() => {
                    self.tie(collisions, link, frame);
                }
                Some(lock) if !together(lock.start) || lock.power >= link.power => {}
                _ => {
                    let noise = if *measured {
                        errors[frame.rate_index()].noise_of(link, *noise as f64)
                    } else {
                        0.0
                    };
                    self.receive(link, frame, noise, now);
                }
            }
        }
        was_quiet && self.senses_others()
    }

    /// Locks on a signal whose bits are counted, with its effective noise.
    fn receive(&mut self, link: &Link, frame: &Frame, noise: f64, now: Time) {
        let from = now + frame.overhead;
        self.rest.disturbance.bits = Bits {
            ln_success: 0.0,
            counted: from,
            from,
            ln_header: 0.0,
            header_counted: now,
            keeps_curve: frame.load.is_some() && frame.kind == FrameKind::Data,
            rate: frame.rate_index(),
            noise,
        };
        self.lock = Some(LockedSignal { counted: true, ..self.lock_on(link, frame, now) });
        self.rest.curve.clear();
    }

    /// Handles a signal that begins at the same instant as the locked one and is as strong: none of them is
    /// decoded (see ADR 7). The loss is known when the last of them ends.
    #[cold]
    fn tie(&mut self, collisions: &Collisions, link: &Link, frame: &Frame) {
        let Some(lock) = &mut self.lock else { return };
        let before = lock.with(&self.rest.disturbance).overlap();
        let is_recognized = collisions.recognizes_all() && (before.any_decodable || link.is_decodable());
        self.rest.disturbance.overlap =
            SignalOverlap { collided: true, any_decodable: is_recognized, ..before };
        lock.end = lock.end.max(frame.end());
        (lock.overlapped, lock.counted) = (true, false);
    }

    /// Starts a signal during another one, with overlaps decided by pairs.
    #[inline(never)]
    fn begin_upon(&mut self, ratio: f64, link: &Link, frame: &Frame, now: Time) {
        let overlapped_by_own = self.not_receiving != 0;
        let Some(lock) = &mut self.lock else { return };
        if lock.start == now {
            return self.begin_together(ratio, link, frame, now);
        }
        let locked = lock.with(&self.rest.disturbance);
        let (ends, mut overlap) = (locked.end(), locked.overlap());
        // Later signals that begin at one instant are all compared with the power before that instant.
        let among_equals = overlap.replaced == now;
        let present = if among_equals { overlap.former_power } else { lock.power };
        if present / link.power >= ratio {
            overlap.ignored_until = overlap.ignored_until.max(frame.end());
            (lock.overlapped, self.rest.disturbance.overlap) = (true, overlap);
            return;
        }
        overlap.collided = true;
        overlap.any_decodable |= link.is_decodable();
        lock.overlapped_by_own |= overlapped_by_own;
        let fresh_end = frame.end();
        if fresh_end > ends || (among_equals && fresh_end == ends && link.power > lock.power) {
            (overlap.replaced, overlap.former_power) = (now, present);
            (lock.from, lock.power, lock.end) = (frame.from.0, link.power, fresh_end);
        }
        (lock.overlapped, self.rest.disturbance.overlap) = (true, overlap);
    }

    /// Compares the signals that begin at one instant as a set, so that their order does not matter: the
    /// strongest is received if it exceeds the second strongest by the capture ratio.
    #[cold]
    fn begin_together(&mut self, ratio: f64, link: &Link, frame: &Frame, now: Time) {
        let fresh = self.lock_on(link, frame, now);
        let Some(lock) = &mut self.lock else { return };
        let before = lock.with(&self.rest.disturbance).overlap();
        let (strongest, weaker) = if fresh.power > lock.power { (fresh, *lock) } else { (*lock, fresh) };
        let interferer = weaker.power.max(before.interferer);
        let of_strongest = strongest.with(&self.rest.disturbance).overlap();
        self.rest.disturbance.overlap = SignalOverlap {
            any_decodable: fresh.decodable || before.any_decodable,
            beats_interferers: strongest.power > interferer && strongest.power / interferer >= ratio,
            interferer,
            interferers_end: weaker.end.max(before.interferers_end),
            ..of_strongest
        };
        *lock = LockedSignal { overlapped: true, ..strongest };
    }

    /// Ends a signal. `loss` is the probability that such a frame of its sender is lost on the way here.
    #[inline]
    pub fn finish(
        &mut self,
        collisions: &Collisions,
        link: &Link,
        frame: &Frame,
        loss: impl Fn() -> f64,
        loads: &Loads,
        now: Time,
    ) -> Finished {
        if matches!(collisions, Collisions::Sinr { .. }) {
            self.count_bits(collisions, now);
        }
        let Some(reception) = self.end_undisturbed(link, frame, &loss, now) else {
            return self.finish_disturbed(collisions, link, frame, loss(), loads, now);
        };
        if frame.load.is_some() && reception == Reception::Decoded {
            self.note_whole(loads.mpdus(frame.load).len());
        }
        self.lock = None;
        self.energy -= link.energy;
        self.loud = self.is_loud(collisions);
        let turns_idle = !self.loud;
        if turns_idle {
            self.quiet_since = self.quiet_since.max(now);
        }
        Finished { reception, turns_idle, ..Finished::NOTHING }
    }

    /// Variant of [`Radio::finish`] for all but the end of an undisturbed frame.
    #[inline(never)]
    fn finish_disturbed(
        &mut self,
        collisions: &Collisions,
        link: &Link,
        frame: &Frame,
        loss: f64,
        loads: &Loads,
        now: Time,
    ) -> Finished {
        let sensed = self.senses_others();
        self.energy -= link.energy;
        self.loud = self.is_loud(collisions);
        let finished = self.conclude(collisions, link, frame, loss, loads, now);
        let ceases = sensed && !self.senses_others();
        if ceases {
            self.quiet_since = self.quiet_since.max(now);
        }
        Finished { turns_idle: ceases && self.not_receiving == 0, ..finished }
    }

    /// Reception of the locked frame, if it ends undisturbed and needs no random number: same result as
    /// [`Radio::conclude`], faster.
    #[inline]
    fn end_undisturbed(
        &self,
        link: &Link,
        frame: &Frame,
        loss: impl Fn() -> f64,
        now: Time,
    ) -> Option<Reception> {
        let lock = self.lock.as_ref()?;
        if lock.overlapped || lock.overlapped_by_own || self.not_receiving != 0 {
            return None;
        }
        if !lock.decodable {
            return (lock.end == now).then_some(Reception::Noise);
        }
        let is_certain = !lock.counted && link.ln_bit_success >= 0.0 && loss() <= 0.0;
        let is_its_end = lock.from == frame.from.0;
        let is_whole = frame.load.is_none() || self.rest.curve.is_certain();
        (is_its_end && is_certain && is_whole).then_some(Reception::Decoded)
    }

    /// Reception of the locked frame, if this signal ended it; does not tell whether the medium becomes idle.
    #[inline]
    fn conclude(
        &mut self,
        collisions: &Collisions,
        link: &Link,
        frame: &Frame,
        loss: f64,
        loads: &Loads,
        now: Time,
    ) -> Finished {
        let Some(locked) = self.locked() else { return Finished::NOTHING };
        // An intact frame ends with its own signal, any other with the last of the overlapping signals.
        let intact = locked.is_intact();
        if !(if intact { locked.is_of(frame) } else { locked.end() == now }) {
            return Finished::NOTHING;
        }
        let ignored_until = if self.is_off() { Time::ZERO } else { locked.ignored_until() };
        let (mut reception, mut failed_alone) = (Reception::Decoded, false);
        if self.is_off() || now < self.rest.transmits_until {
            reception = Reception::Transmitting;
        } else if !intact {
            reception = if locked.is_recognized() { Reception::FcsError } else { Reception::Noise };
        } else if is_too_weak(collisions, link, frame) {
            (reception, failed_alone) = (Reception::FcsError, true);
        } else {
            let ln_success = locked.ln_success() + link.ln_bit_success * f64::from(frame.bytes) * 8.0;
            if ln_success < 0.0 || locked.ln_header() < 0.0 || loss > 0.0 || frame.load.is_some() {
                (reception, failed_alone) = self.decode(collisions, link, frame, loss, loads);
            }
        }
        self.rest.ended_power = link.power;
        self.lock = None;
        Finished { reception, ignored_until, turns_idle: false, failed_alone }
    }
}

#[cfg(test)]
mod tests;
