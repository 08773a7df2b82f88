//! Reception: the outcome of a signal at a receiver.

use multihop_core::Time;

/// Outcome of a signal that has just ended at a receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reception {
    /// The receiver was not locked on this signal.
    NotSynchronised,
    /// The receiver is transmitting (half-duplex) or switched off.
    Transmitting,
    /// The receiver sensed a signal but recognized no frame: too weak, or begun or truncated by its own
    /// transmission.
    Noise,
    /// The receiver received the frame and could not decode it.
    FcsError,
    /// The receiver decoded the frame.
    Decoded,
}

/// End of a signal at a receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Finished {
    /// Outcome of the signal.
    pub reception: Reception,
    /// Latest end of the weaker signals that were ignored, if this ends a frame that captured the receiver.
    /// Otherwise zero, because an option would not fit into two registers.
    pub ignored_until: Time,
    /// Whether the medium ceases to be busy here.
    pub turns_idle: bool,
    /// Whether the frame was received in full but would have been lost without interference too.
    pub failed_alone: bool,
}

impl Finished {
    pub(super) const NOTHING: Finished = Finished {
        reception: Reception::NotSynchronised,
        ignored_until: Time::ZERO,
        turns_idle: false,
        failed_alone: false,
    };

    /// Whether the end has no effect beyond the radio.
    pub fn is_nothing(&self) -> bool {
        matches!(self.reception, Reception::NotSynchronised | Reception::Transmitting)
            && self.ignored_until == Time::ZERO
            && !self.turns_idle
    }
}
