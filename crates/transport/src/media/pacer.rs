//! Send times of packets.

use multihop_core::{Span, Time};

/// Pacer. Packets leave one by one, or in bursts at multiples of an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// Interval between bursts; zero for single packets.
    burst: Span,
    /// Due time of the last packet, and its payload.
    last: Option<(Time, u32)>,
    /// Time at which the last packet left.
    left: Time,
}

impl Pacer {
    /// Creates a pacer with this interval between bursts; zero for single packets.
    pub(super) fn new(burst: Span) -> Pacer {
        Pacer { burst, last: None, left: Time::ZERO }
    }

    /// Due time of the next packet at a rate in bytes per second.
    fn due(&self, rate: f64) -> Time {
        let Some((due, payload)) = self.last else { return Time::ZERO };
        due + Span::from_seconds(f64::from(payload) / rate).max(Span::from_ns(1))
    }

    /// Earliest send time of the next packet at a rate in bytes per second, from the last packet on.
    pub(super) fn release_at(&self, rate: f64) -> Time {
        let due = self.due(rate);
        if self.burst == Span::ZERO {
            return due;
        }
        let burst = self.burst.ns();
        Time::from_ns(due.ns().div_ceil(burst) * burst).max(self.left)
    }

    /// Records that a packet of `payload` bytes left. A packet that waited for a burst keeps its due time,
    /// and an application that had nothing to send gains at most one burst.
    pub(super) fn sent(&mut self, now: Time, payload: u32, rate: f64) {
        let earliest = now - self.burst.min(now.since(Time::ZERO));
        self.last = Some((self.due(rate).max(earliest), payload));
        self.left = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Sends packets as soon as they may leave. Returns their send times in microseconds.
    fn times(pacer: &mut Pacer, mut now: Time, payload: u32, rate: f64, count: usize) -> Vec<u64> {
        let mut send = |_| {
            now = now.max(pacer.release_at(rate));
            pacer.sent(now, payload, rate);
            now.ns() / 1_000
        };
        (0..count).map(&mut send).collect()
    }

    /// 1000 bytes at 500 kB/s take 2 ms.
    #[test]
    fn single_packets_leave_at_the_rate() {
        let mut pacer = Pacer::new(Span::ZERO);
        assert_eq!(times(&mut pacer, us(100), 1_000, 5e5, 3), [100, 2_100, 4_100]);
        assert_eq!(pacer.release_at(1e6), us(5_100), "the present rate counts");
        assert_eq!(times(&mut pacer, us(50_000), 1_000, 5e5, 2), [50_000, 52_000], "a pause is not made up");
    }

    /// draft-ietf-rmcat-gcc-02, section 4: bursts each 5 ms. At 500 kB/s a burst has 2500 bytes: 3 packets
    /// and 2 by turns. A packet is due each 2 ms from 0 on.
    #[test]
    fn bursts_leave_at_multiples_of_their_interval() {
        let mut pacer = Pacer::new(Span::from_ms(5));
        let sent = times(&mut pacer, us(0), 1_000, 5e5, 8);
        assert_eq!(sent, [0, 5_000, 5_000, 10_000, 10_000, 10_000, 15_000, 15_000]);
        let sent = times(&mut pacer, us(100_000), 1_000, 5e5, 4);
        assert_eq!(sent, [100_000, 100_000, 100_000, 105_000], "due from 95 ms on, and one burst at once");
        pacer.sent(us(207_000), 1_000, 5e5);
        assert_eq!(pacer.release_at(5e5), us(207_000), "due at 204 ms, but no time in the past");
    }
}
