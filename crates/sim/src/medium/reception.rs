//! What a receiver makes of a signal.

use multihop_core::Time;

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
    /// If this ended a frame that captured the receiver: when the last of the weaker signals ends, which it
    /// ignored. Otherwise zero: an option would not fit into two registers.
    pub ignored_until: Time,
    /// The medium is not busy here any more.
    pub turns_idle: bool,
    /// The frame was received in full, and its own bits were wrong: it would have been lost alone as well.
    pub failed_alone: bool,
}

impl Finished {
    pub(super) const NOTHING: Finished = Finished {
        reception: Reception::NotSynchronised,
        ignored_until: Time::ZERO,
        turns_idle: false,
        failed_alone: false,
    };

    /// Does it concern the radio alone?
    pub fn is_nothing(&self) -> bool {
        matches!(self.reception, Reception::NotSynchronised | Reception::Transmitting)
            && self.ignored_until == Time::ZERO
            && !self.turns_idle
    }
}
