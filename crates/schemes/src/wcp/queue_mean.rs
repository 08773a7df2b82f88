//! Mean length of a queue.

use multihop_core::{Span, Time};

/// Mean length of a queue in packets, as in RED (Floyd and Jacobson 1993).
///
/// The mean moves by a weight of the difference whenever a packet enters or leaves. An empty queue has no
/// such events, so that its mean falls as if one packet in each packet time found the queue empty. Otherwise
/// a mean above the threshold would outlive the congestion by seconds once the senders are slow.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueMean {
    /// Packets in the queue, with the one in transmission.
    packets: u64,
    mean: f64,
    /// Time of the last event.
    changed_at: Time,
}

/// Constants of a [`QueueMean`].
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanConstants {
    /// Weight of the present length of the queue.
    pub weight: f64,
    /// Transmission time of a full packet at the bit rate of the link.
    pub packet_time: Span,
}

impl QueueMean {
    /// Creates the mean of an empty queue.
    pub fn new(now: Time) -> QueueMean {
        QueueMean { packets: 0, mean: 0.0, changed_at: now }
    }

    /// Packets in the queue.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Records that a packet entered or left.
    pub fn change(&mut self, now: Time, change: i64, constants: MeanConstants) {
        let before = self.at(now, constants);
        self.packets = self.packets.saturating_add_signed(change);
        self.mean = before + constants.weight * (self.packets as f64 - before);
        self.changed_at = now;
    }

    /// Mean at this time.
    pub fn at(&self, now: Time, constants: MeanConstants) -> f64 {
        if self.packets > 0 {
            return self.mean;
        }
        let idle = now.since(self.changed_at).seconds() / constants.packet_time.seconds();
        self.mean * (1.0 - constants.weight).powf(idle)
    }

    /// Forgets the mean, but not the packets in the queue.
    pub fn forget(&mut self, now: Time) {
        (self.mean, self.changed_at) = (0.0, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSTANTS: MeanConstants = MeanConstants { weight: 0.02, packet_time: Span::from_ms(1) };

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// The mean moves by 0.02 of the difference at each event, however much time passes in between.
    #[test]
    fn the_mean_follows_the_packets() {
        let mut mean = QueueMean::new(ms(0));
        let mut expected = 0.0;
        for (at, change, packets) in [(0, 1, 1.0), (5, 1, 2.0), (500, -1, 1.0), (501, 2, 3.0)] {
            mean.change(ms(at), change, CONSTANTS);
            expected += 0.02 * (packets - expected);
            assert!((mean.at(ms(at + 400), CONSTANTS) - expected).abs() < 1e-12, "{at} ms");
        }
        assert_eq!(mean.packets(), 3);
    }

    /// Ten packet times without a packet: the mean falls to 0.98 to the tenth, read or not.
    #[test]
    fn the_mean_of_an_empty_queue_falls_with_time() {
        let mut mean = QueueMean::new(ms(0));
        for _ in 0..500 {
            mean.change(ms(0), 9, CONSTANTS);
            mean.change(ms(0), -9, CONSTANTS);
        }
        let full = mean.at(ms(0), CONSTANTS);
        assert!(full > 4.0, "{full}");
        assert!((mean.at(ms(10), CONSTANTS) - full * 0.98_f64.powi(10)).abs() < 1e-9);
        mean.change(ms(10), 1, CONSTANTS);
        let after = full * 0.98_f64.powi(11) + 0.02;
        assert!((mean.at(ms(10), CONSTANTS) - after).abs() < 1e-9);
        mean.forget(ms(10));
        assert_eq!((mean.at(ms(10), CONSTANTS), mean.packets()), (0.0, 1));
    }
}
