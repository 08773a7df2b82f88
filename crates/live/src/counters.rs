//! Counters of packets by outcome.

use crate::datagram::Refusal;
use multihop_core::DropCause;

/// Counters since the start. Every packet read is either refused, delivered, lost for one cause, or still in
/// the network.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Number of packets read from devices.
    pub read: u64,
    /// Number of these packets that were not injected, by [`Refusal`].
    pub refused: [u64; Refusal::ALL.len()],
    /// Number of packets written into the device of their destination.
    pub delivered: u64,
    /// Number of delivered packets that the run has marked.
    pub marked: u64,
    /// Number of packets lost in the network, by cause.
    pub lost: [u64; DropCause::ALL.len()],
    /// Number of packets that arrived but that the device of their destination did not accept.
    pub device_full: u64,
    /// Number of packets in the network.
    pub queued: u64,
}

impl Counters {
    /// Whether the counters add up.
    pub fn is_balanced(&self) -> bool {
        let refused: u64 = self.refused.iter().sum();
        let lost: u64 = self.lost.iter().sum();
        self.read == refused + self.delivered + lost + self.device_full + self.queued
    }
}
