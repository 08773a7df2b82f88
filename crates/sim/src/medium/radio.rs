//! One node's receiver.

use super::{Bitmap, Frame, Link, Mpdu, RateErrors};
use multihop_core::{FrameKind, Rng, Span, Time};

/// What overlapping signals do to each other at a receiver.
#[derive(Clone, Debug)]
pub enum Collisions {
    /// The first signal survives a later one that is weaker by at least this ratio; otherwise both are lost (ns-2). None: any
    /// overlap destroys both.
    Pairwise {
        /// The capture ratio.
        capture: Option<f64>,
    },
    /// Bits fail by signal over noise and the sum of all interference. Powers are in femtowatts.
    Sinr {
        /// Noise power.
        noise: u64,
        /// Frames below this power are not noticed as frames.
        sensitivity: u64,
        /// Bit errors at each rate of the run, by [`super::RateSet::index`].
        errors: Box<[RateErrors]>,
        /// What noise does to a link is in [`Link::ln_bit_success`], because it was measured: here only what interference adds.
        measured: bool,
    },
}

/// What a receiver made of a signal that has just ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reception {
    /// It was not receiving this one.
    NotSynchronised,
    /// It is transmitting itself (half-duplex), or off.
    Transmitting,
    /// It sensed a signal, but recognized no frame: too weak, or begun or cut short by an own transmission.
    Noise,
    /// It received a frame that it could not decode.
    FcsError,
    /// It decoded the frame.
    Decoded,
}

/// The end of a signal at a receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Finished {
    /// What the receiver made of it.
    pub reception: Reception,
    /// If this ended a frame that captured the receiver: when the last of the weaker signals ends, which it ignored.
    pub ignored_until: Option<Time>,
    /// The medium is not busy here any more.
    pub turns_idle: bool,
    /// The frame was received in full, and its own bits were wrong: it would have been lost alone as well.
    pub failed_alone: bool,
}

impl Finished {
    /// Does it concern nobody but the radio?
    pub fn is_nothing(&self) -> bool {
        matches!(self.reception, Reception::NotSynchronised | Reception::Transmitting)
            && self.ignored_until.is_none()
            && !self.turns_idle
    }
}

/// The signal that a receiver is locked on.
#[derive(Clone, Copy, Debug)]
struct Lock {
    from: u32,
    power: f64,
    start: Time,
    end: Time,
    /// Strong enough to be decoded, were it alone.
    decodable: bool,
    /// The node transmitted, or its radio was off, while it was on the air.
    overlapped_by_own: bool,
    /// A later signal destroyed it.
    collided: bool,
    /// It beats, by the capture ratio, the strongest of the signals that began at the same instant.
    beats_interferers: bool,
    interferer: f64,
    interferers_end: Time,
    /// One of the signals in it could be decoded, were it alone.
    any_decodable: bool,
    /// When the last of the later, weaker signals ends that it captured the receiver from.
    ignored_until: Time,
    /// When a later signal took its place for lasting longer, and the power that was there before.
    replaced: Time,
    former_power: f64,
    /// Accumulated ln of the probability that all bits up to `counted` are right.
    ln_success: f64,
    counted: Time,
    rate: usize,
    /// Where bit errors without interference were measured: the noise that goes with them.
    noise: f64,
}

impl Lock {
    fn is_intact(&self) -> bool {
        self.decodable && self.beats_interferers && !self.collided && !self.overlapped_by_own
    }

    /// Was a preamble recognized in it?
    fn is_recognized(&self) -> bool {
        let clean = self.beats_interferers && !self.collided;
        !self.overlapped_by_own && if clean { self.decodable } else { self.any_decodable }
    }

    /// When the last of the signals in it ends.
    fn end(&self) -> Time {
        if self.beats_interferers { self.end } else { self.end.max(self.interferers_end) }
    }

    /// What `ln_success` would be without interference.
    fn ln_success_alone(&self, collisions: &Collisions, frame: &Frame) -> f64 {
        let Collisions::Sinr { noise, errors, measured, .. } = collisions else { return self.ln_success };
        if *measured {
            return 0.0; // what the link loses alone is in its own bit errors
        }
        let RateErrors { table, bps } = &errors[self.rate];
        let bits = frame.airtime().saturating_sub(frame.overhead).seconds() * bps;
        bits * table.bit_success_ln(self.power / *noise as f64)
    }

    fn ignored_until(&self) -> Option<Time> {
        let interferers = if self.beats_interferers { self.interferers_end } else { Time::ZERO };
        Some(self.ignored_until.max(interferers)).filter(|until| *until > Time::ZERO)
    }
}

/// One node's receiver. Energy is a sum of integers, so that it does not depend on the order of additions. What each signal changes
/// comes first, in few cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Radio {
    energy: u64,
    busy_from: u64,
    off: bool,
    transmitting: bool,
    /// When the node's latest transmission ends at the node itself, and when it last ceased to sense others.
    transmits_until: Time,
    others_until: Time,
    lock: Option<Lock>,
    rng: Rng,
    /// Of the A-MPDU that was decoded last: those of its MPDUs that were.
    arrived: Bitmap,
}

impl Radio {
    /// A silent radio that senses the medium busy from this energy on.
    pub fn new(busy_from: u64, rng: Rng) -> Radio {
        Radio {
            energy: 0,
            busy_from,
            lock: None,
            off: false,
            transmitting: false,
            transmits_until: Time::ZERO,
            others_until: Time::ZERO,
            rng,
            arrived: Bitmap::default(),
        }
    }

    /// Is the medium physically busy here? Own transmissions count, and so does a radio that is off: it is not free to be used.
    pub fn is_busy(&self) -> bool {
        self.transmitting || self.off || self.senses_others()
    }

    /// Is there nothing to sense? The node's own frame may still be on its way to the listeners.
    pub fn is_quiet(&self, now: Time) -> bool {
        let sends = self.transmitting && now <= self.transmits_until;
        !sends && !self.off && !self.senses_others()
    }

    fn senses_others(&self) -> bool {
        self.energy >= self.busy_from || self.lock.is_some()
    }

    /// Is a frame being received whose preamble was recognized?
    pub fn is_receiving(&self) -> bool {
        self.lock.as_ref().is_some_and(Lock::is_recognized)
    }

    /// Which MPDUs of the A-MPDU were decoded whose end was the last to be received.
    pub fn arrived(&self) -> &Bitmap {
        &self.arrived
    }

    /// The node starts to transmit: whatever it was receiving is lost.
    pub fn transmit(&mut self, until: Time) {
        self.transmitting = true;
        self.transmits_until = until;
        if let Some(lock) = &mut self.lock {
            lock.overlapped_by_own = true;
        }
    }

    /// The node's transmission is over at its listeners. Only now the radio can receive again.
    pub fn stop(&mut self) {
        self.transmitting = false;
    }

    /// The radio is switched off: whatever it was receiving is lost. It still adds signals up, for when it is on again.
    pub fn switch_off(&mut self) {
        self.off = true;
        if let Some(lock) = &mut self.lock {
            lock.overlapped_by_own = true;
        }
    }

    /// The radio is on again. Of signals that began before, it only senses the energy.
    pub fn switch_on(&mut self, now: Time) {
        self.off = false;
        self.others_until = now;
    }

    /// Is it off?
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// Is it sending the node's own frame?
    pub fn is_sending(&self, now: Time) -> bool {
        self.transmitting && now < self.transmits_until
    }

    /// Since when the medium is quiet here, if it is.
    pub fn quiet_since(&self) -> Time {
        self.transmits_until.max(self.others_until)
    }

    /// A signal begins. Returns whether the medium turns busy here by it.
    #[inline]
    pub fn begin(&mut self, collisions: &Collisions, link: &Link, frame: &Frame, now: Time) -> bool {
        let was_quiet = self.is_quiet(now);
        match collisions {
            Collisions::Pairwise { capture } => {
                self.energy += link.energy;
                self.begin_pairwise(capture.unwrap_or(f64::INFINITY), link, frame, now);
            }
            Collisions::Sinr { sensitivity, noise, errors, measured } => {
                self.count_bits(collisions, now);
                self.energy += link.energy;
                // Of signals that begin at one instant the strongest is received; of equals, one that does not depend on order.
                let rank = |power: f64, from: u32| (power, std::cmp::Reverse(from));
                let fresh = rank(link.power, frame.from.0);
                let stronger = |lock: &Lock| lock.start == now && fresh > rank(lock.power, lock.from);
                if link.energy >= *sensitivity && self.lock.as_ref().is_none_or(stronger) {
                    let mut lock = self.locked(link, frame, now);
                    if *measured {
                        lock.noise = errors[lock.rate].noise_of(link, *noise as f64);
                    }
                    self.lock = Some(lock);
                }
            }
        }
        was_quiet && self.senses_others()
    }

    fn locked(&self, link: &Link, frame: &Frame, now: Time) -> Lock {
        Lock {
            from: frame.from.0,
            power: link.power,
            start: now,
            end: frame.end(),
            decodable: link.decodable,
            overlapped_by_own: self.transmitting || self.off,
            collided: false,
            beats_interferers: true,
            interferer: 0.0,
            interferers_end: Time::ZERO,
            any_decodable: link.decodable,
            ignored_until: Time::ZERO,
            replaced: Time::ZERO,
            former_power: 0.0,
            ln_success: 0.0,
            counted: now + frame.overhead,
            rate: frame.rate_index(),
            noise: 0.0,
        }
    }

    #[inline]
    fn begin_pairwise(&mut self, ratio: f64, link: &Link, frame: &Frame, now: Time) {
        let overlapped_by_own = self.transmitting || self.off;
        let Some(lock) = &mut self.lock else {
            self.lock = Some(self.locked(link, frame, now));
            return;
        };
        if lock.start == now {
            return self.begin_together(ratio, link, frame, now);
        }
        // Later signals that begin at one instant are all compared with what was there before that instant.
        let among_equals = lock.replaced == now;
        let present = if among_equals { lock.former_power } else { lock.power };
        if present / link.power >= ratio {
            lock.ignored_until = lock.ignored_until.max(frame.end());
            return;
        }
        lock.collided = true;
        lock.any_decodable |= link.decodable;
        lock.overlapped_by_own |= overlapped_by_own;
        let (end, fresh_end) = (lock.end(), frame.end());
        if fresh_end > end || (among_equals && fresh_end == end && link.power > lock.power) {
            (lock.replaced, lock.former_power) = (now, present);
            (lock.from, lock.power, lock.end) = (frame.from.0, link.power, fresh_end);
        }
    }

    /// Signals that begin at one instant are compared as a set, so that their order does not matter: the strongest is received if
    /// it beats the runner-up.
    #[cold]
    fn begin_together(&mut self, ratio: f64, link: &Link, frame: &Frame, now: Time) {
        let fresh = self.locked(link, frame, now);
        let Some(lock) = &mut self.lock else { return };
        let (strongest, weaker) = if fresh.power > lock.power { (fresh, *lock) } else { (*lock, fresh) };
        let interferer = weaker.power.max(lock.interferer);
        *lock = Lock {
            any_decodable: fresh.decodable || lock.any_decodable,
            beats_interferers: strongest.power > interferer && strongest.power / interferer >= ratio,
            interferer,
            interferers_end: weaker.end.max(lock.interferers_end),
            ..strongest
        };
    }

    /// A signal ends.
    #[inline]
    pub fn finish(
        &mut self,
        collisions: &Collisions,
        link: &Link,
        frame: &Frame,
        loss: f64,
        mpdus: &[Mpdu],
        now: Time,
    ) -> Finished {
        if matches!(collisions, Collisions::Sinr { .. }) {
            self.count_bits(collisions, now);
        }
        let sensed = self.senses_others();
        self.energy -= link.energy;
        let finished = self.conclude(collisions, link, frame, loss, mpdus, now);
        let ceases = sensed && !self.senses_others();
        if ceases {
            self.others_until = now;
        }
        Finished { turns_idle: ceases && !self.transmitting && !self.off, ..finished }
    }

    /// What became of the frame that it was locked on, if this was the end of it; not whether the medium turns idle.
    #[inline]
    fn conclude(
        &mut self,
        collisions: &Collisions,
        link: &Link,
        frame: &Frame,
        loss: f64,
        mpdus: &[Mpdu],
        now: Time,
    ) -> Finished {
        // A frame in good order ends with its own signal; anything else when the last of the signals in it does.
        let ends = |lock: &Lock| if lock.is_intact() { lock.from == frame.from.0 } else { lock.end() == now };
        let Some(lock) = self.lock.as_ref().filter(|lock| ends(lock)) else {
            let reception = Reception::NotSynchronised;
            return Finished { reception, ignored_until: None, turns_idle: false, failed_alone: false };
        };
        let ignored_until = if self.off { None } else { lock.ignored_until() };
        let mut failed_alone = false;
        let reception = if self.off || now < self.transmits_until {
            Reception::Transmitting
        } else if lock.is_intact() {
            let loss = if frame.kind == FrameKind::Data { loss } else { 0.0 };
            // Of an A-MPDU, each MPDU has its share by bytes.
            let arrives = |rng: &mut Rng, bytes: u32, share: f64| {
                let of_link = link.ln_bit_success * f64::from(bytes) * 8.0;
                let drawn = wrong(rng, lock.ln_success * share + of_link, loss)?;
                // The same draw decides what would have become of it alone.
                let alone = lock.ln_success_alone(collisions, frame) * share + of_link;
                Some(drawn >= alone.exp() * (1.0 - loss))
            };
            if mpdus.len() < 2 {
                match arrives(&mut self.rng, frame.bytes, 1.0) {
                    None => Reception::Decoded,
                    Some(alone) => {
                        failed_alone = alone;
                        Reception::FcsError
                    }
                }
            } else {
                self.arrived = Bitmap::default();
                failed_alone = true;
                for (place, mpdu) in mpdus.iter().enumerate() {
                    let share = f64::from(mpdu.bytes) / f64::from(frame.bytes);
                    match arrives(&mut self.rng, mpdu.bytes, share) {
                        None => self.arrived.set(place),
                        Some(alone) => failed_alone &= alone,
                    }
                }
                let decoded = self.arrived.count() > 0;
                failed_alone &= !decoded;
                if decoded { Reception::Decoded } else { Reception::FcsError }
            }
        } else if lock.is_recognized() {
            Reception::FcsError
        } else {
            Reception::Noise
        };
        self.lock = None;
        Finished { reception, ignored_until, turns_idle: false, failed_alone }
    }

    /// Adds the bits since the last change of interference to the chance that all are right.
    fn count_bits(&mut self, collisions: &Collisions, now: Time) {
        let Collisions::Sinr { noise, errors, measured, .. } = collisions else { return };
        let Some(lock) = &mut self.lock else { return };
        let length: Span = now.since(lock.counted);
        if length == Span::ZERO {
            return;
        }
        let interference = self.energy as f64 - lock.power;
        let of_rate = &errors[lock.rate];
        let per_bit = if *measured {
            of_rate.due_to(interference, lock.power, lock.noise)
        } else {
            of_rate.table.bit_success_ln(lock.power / (*noise as f64 + interference.max(0.0)))
        };
        lock.ln_success += length.seconds() * of_rate.bps * per_bit;
        lock.counted = now;
    }
}

/// Are some bits wrong, where all are right with a probability of this logarithm and the frame is not lost besides? Then what was drawn.
fn wrong(rng: &mut Rng, ln_success: f64, loss: f64) -> Option<f64> {
    if ln_success >= 0.0 && loss <= 0.0 {
        return None;
    }
    let drawn = rng.unit();
    (drawn >= ln_success.exp() * (1.0 - loss)).then_some(drawn)
}
