//! What became of every packet that was read.

use crate::datagram::Refusal;
use multihop_core::DropCause;

/// Counters since the start. Every packet that was read is refused, delivered, lost for one cause, or still
/// in the network.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Packets that came out of devices.
    pub read: u64,
    /// Of these, those that were not injected, by [`Refusal`].
    pub refused: [u64; Refusal::ALL.len()],
    /// Written into the device of their destination.
    pub delivered: u64,
    /// Of these, those that the run has marked.
    pub marked: u64,
    /// Lost in the network, by cause.
    pub lost: [u64; DropCause::ALL.len()],
    /// They arrived, but the device of their destination would not take them.
    pub device_full: u64,
    /// In the network.
    pub queued: u64,
}

impl Counters {
    /// Do they add up?
    pub fn balance(&self) -> bool {
        let refused: u64 = self.refused.iter().sum();
        let lost: u64 = self.lost.iter().sum();
        self.read == refused + self.delivered + lost + self.device_full + self.queued
    }
}
