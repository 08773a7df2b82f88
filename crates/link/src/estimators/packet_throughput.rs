//! Capacity from the transmission times of packets (Qazi, "Improving Performance of Router-Assisted Transport
//! Protocols over Variable Capacity Links", section V).

use crate::estimators::smoothed::{Intervals, interval_options};
use crate::{Estimator, LinkView};
use multihop_core::{Exchange, Fate, LinkEvent, NodeId, Span, Time};
use std::collections::VecDeque;

interval_options! {
    ($)
    /// Options of [`PacketThroughput`].
    PacketThroughputOptions, listed by packet_throughput_options:
    /// Number of latest packets over whose mean size each packet is normalised. Default: packets count with
    /// their own size.
    normalise_over: (Option<u32> as u32) [1, 10_000] = None;
    /// Whether packets that the MAC gives up are ignored. By default they add their transmission time and no
    /// bits.
    successful_only: bool = false;
}

/// Estimates the throughput of the link in bits of MSDU per second: over the packets of an interval, all bits
/// by all transmission times, `sum X / sum (t_e - t_s)`, smoothed over intervals. (The mean of the packets'
/// rates would be too high.)
///
/// `t_s` is the time at which the MAC dequeues a packet, and `t_e` that of its ACK, so that contention and
/// retries count and the interface queue does not. A packet that was given up adds its time, and no bits. The
/// paper speaks of successful packets, whose `t_e` is the time of an ACK: with `successful_only`, a packet
/// that was given up adds nothing. The estimate is then the throughput per time in which the MAC delivers. An
/// interval without a delivery is ignored, so that the estimate of an idle node grows old. Broadcasts do not
/// count.
///
/// With equalised sizes, a packet of `X` bits counts as the mean size `X_av`, sent in `T_X + X_av / R - X /
/// R`, where `R` is its bit rate.
#[derive(Clone, Debug)]
pub struct PacketThroughput {
    options: PacketThroughputOptions,
    intervals: Intervals,
    /// Sums over the current interval.
    sums: ThroughputSums,
    /// Latest packet sizes in bits, and their sum.
    sizes: VecDeque<u64>,
    bits: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct ThroughputSums {
    delivered: u64,
    bits: u64,
    seconds: f64,
    /// Sums over delivered packets: time of one bit, and of all bits, at the packet's bit rate.
    seconds_per_bit: f64,
    seconds_of_bits: f64,
}

impl PacketThroughput {
    /// Starts for a node that has sent nothing yet.
    pub fn new(options: PacketThroughputOptions) -> PacketThroughput {
        let room = options.normalise_over.unwrap_or(0) as usize;
        PacketThroughput {
            options,
            intervals: Intervals::new(options.interval, options.smoothing),
            sums: ThroughputSums::default(),
            sizes: VecDeque::with_capacity(room),
            bits: 0,
        }
    }

    /// The estimate in bits per second at `now`; none before the first complete interval with a delivery.
    pub fn at(&self, now: Time) -> Option<f64> {
        self.intervals.at(now, self.sample())
    }

    fn on_exchange(&mut self, exchange: &Exchange) {
        if exchange.peer == NodeId::BROADCAST {
            return;
        }
        if self.intervals.is_over(exchange.done) {
            self.intervals.close(exchange.done, self.sample());
            self.sums = ThroughputSums::default();
        }
        let is_delivered = exchange.fate == Fate::Acknowledged;
        if self.options.successful_only && !is_delivered {
            return;
        }
        let bits = u64::from(exchange.size) * 8;
        self.remember(bits);
        self.sums.seconds += exchange.service_delay().seconds();
        if is_delivered {
            let bit = 1.0 / exchange.rate.bps() as f64;
            self.sums.delivered += 1;
            self.sums.bits += bits;
            self.sums.seconds_per_bit += bit;
            self.sums.seconds_of_bits += bit * bits as f64;
        }
    }

    fn remember(&mut self, bits: u64) {
        let Some(limit) = self.options.normalise_over else { return };
        if self.sizes.len() >= limit.max(1) as usize {
            self.bits -= self.sizes.pop_front().unwrap_or(0);
        }
        self.sizes.push_back(bits);
        self.bits += bits;
    }

    /// Throughput over the packets of the current interval; none without a delivery.
    fn sample(&self) -> Option<f64> {
        let ThroughputSums { delivered, bits, seconds, seconds_per_bit, seconds_of_bits } = self.sums;
        if delivered == 0 {
            return None;
        }
        let (bits, seconds) = if self.sizes.is_empty() {
            (bits as f64, seconds)
        } else {
            let mean = self.bits as f64 / self.sizes.len() as f64;
            (mean * delivered as f64, seconds + mean * seconds_per_bit - seconds_of_bits)
        };
        (seconds > 0.0).then(|| bits / seconds)
    }
}

impl Estimator for PacketThroughput {
    fn on_link(&mut self, event: &LinkEvent) {
        if let LinkEvent::Exchange(exchange) = event {
            self.on_exchange(exchange);
        }
    }

    fn senses_medium(&self) -> bool {
        false
    }

    fn write(&self, now: Time, view: &mut LinkView) {
        view.packet_throughput_bps = self.at(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{exchange, us};

    /// A packet of `size` bytes at 8 Mb/s that the MAC had from `start` to `end`, in ms.
    fn sent(estimator: &mut PacketThroughput, size: u32, start: u64, end: u64, fate: Fate) {
        let event = Exchange {
            rate: multihop_core::Rate::from_kbps(8_000),
            ..exchange(size, start * 1_000, end * 1_000, fate)
        };
        estimator.on_link(&LinkEvent::Exchange(event));
    }

    fn kbps(estimator: &PacketThroughput, at_ms: u64) -> Option<f64> {
        estimator.at(us(at_ms * 1_000)).map(|bps| (bps * 1e-3).round())
    }

    /// 2000 bytes in 8 ms are 2 Mb/s; the mean of the two rates, 4 and 1.33 Mb/s, would be 2.67.
    #[test]
    fn a_sample_is_a_ratio_of_sums_at_the_end_of_its_interval() {
        let mut estimator = PacketThroughput::new(PacketThroughputOptions::default());
        sent(&mut estimator, 1000, 0, 2, Fate::Acknowledged);
        sent(&mut estimator, 1000, 10, 16, Fate::Acknowledged);
        assert_eq!(kbps(&estimator, 199), None);
        assert_eq!(kbps(&estimator, 200), Some(2_000.0));
        // 1000 bytes in 2 ms, which count an eighth, when that interval is over: 2 + (4 - 2) / 8.
        sent(&mut estimator, 1000, 300, 302, Fate::Acknowledged);
        assert_eq!(kbps(&estimator, 399), Some(2_000.0));
        assert_eq!(kbps(&estimator, 400), Some(2_250.0));
        sent(&mut estimator, 1000, 500, 502, Fate::Acknowledged);
        assert_eq!(kbps(&estimator, 599), Some(2_250.0), "asking has changed nothing");
        assert_eq!(kbps(&estimator, 60_000), Some(2_469.0), "and an idle node keeps what it had");
    }

    #[test]
    fn a_packet_that_was_given_up_adds_its_time_alone() {
        let mut estimator = PacketThroughput::new(PacketThroughputOptions::default());
        sent(&mut estimator, 1500, 0, 6, Fate::GivenUp);
        assert_eq!(kbps(&estimator, 200), None, "nothing was delivered");
        let mut estimator = PacketThroughput::new(PacketThroughputOptions::default());
        sent(&mut estimator, 1500, 0, 6, Fate::GivenUp);
        sent(&mut estimator, 1000, 10, 12, Fate::Acknowledged);
        assert_eq!(kbps(&estimator, 200), Some(1_000.0));
    }

    /// Three packets of 1000 bytes in 200 ms: given up after 30 ms, delivered after 2 ms and after 6 ms. The
    /// next interval has only a packet that was given up.
    #[test]
    fn successful_packets_alone_are_counted_on_request() {
        for (successful_only, first, later) in [(false, 421.0, 421.0), (true, 2_000.0, 2_000.0)] {
            let options = PacketThroughputOptions { successful_only, ..PacketThroughputOptions::default() };
            let mut estimator = PacketThroughput::new(options);
            sent(&mut estimator, 1000, 0, 30, Fate::GivenUp);
            sent(&mut estimator, 1000, 30, 32, Fate::Acknowledged);
            sent(&mut estimator, 1000, 40, 46, Fate::Acknowledged);
            assert_eq!(kbps(&estimator, 200), Some(first), "16000 bits in 38 or in 8 ms");
            sent(&mut estimator, 1000, 250, 280, Fate::GivenUp);
            assert_eq!(kbps(&estimator, 400), Some(later), "an interval without a delivery is ignored");
        }
    }

    /// Of 500 and 1500 bytes only the delivered packet has a size, so that it counts as it is: 4000 bits in
    /// 1.5 ms.
    #[test]
    fn a_size_of_a_packet_given_up_is_ignored_on_request() {
        let options = PacketThroughputOptions {
            normalise_over: Some(2),
            successful_only: true,
            ..PacketThroughputOptions::default()
        };
        let mut estimator = PacketThroughput::new(options);
        let rate = multihop_core::Rate::from_kbps(8_000);
        let lost = Exchange { rate, ..exchange(1500, 0, 1_000, Fate::GivenUp) };
        let sent = Exchange { rate, ..exchange(500, 1_000, 2_500, Fate::Acknowledged) };
        estimator.on_link(&LinkEvent::Exchange(lost));
        estimator.on_link(&LinkEvent::Exchange(sent));
        assert_eq!(kbps(&estimator, 200), Some(2_667.0));
    }

    /// At 8 Mb/s, 500 and 1500 bytes with 1 ms of overhead: 1.5 and 2.5 ms. As 1000 bytes each they take 2
    /// ms: 4 Mb/s.
    #[test]
    fn sizes_made_alike_give_the_rate_of_the_mean_size() {
        let alike = PacketThroughputOptions { normalise_over: Some(2), ..PacketThroughputOptions::default() };
        for order in [[500, 1500], [1500, 500]] {
            let mut estimator = PacketThroughput::new(alike);
            sent(&mut estimator, 9_000, 0, 1, Fate::GivenUp); // left the mean, but not the time
            for (n, size) in order.into_iter().enumerate() {
                let start = 1_000 * n as u64;
                let event = Exchange {
                    rate: multihop_core::Rate::from_kbps(8_000),
                    ..exchange(size, start, start + 1_000 + u64::from(size), Fate::Acknowledged)
                };
                estimator.on_link(&LinkEvent::Exchange(event));
            }
            assert_eq!(kbps(&estimator, 200), Some(3_200.0), "16000 bits in 1 + 4 ms");
        }
        let mut plain = PacketThroughput::new(PacketThroughputOptions::default());
        let one = |size| exchange(size, 0, 1_000 + u64::from(size), Fate::Acknowledged);
        plain.on_link(&LinkEvent::Exchange(one(500)));
        assert_eq!(kbps(&plain, 200), Some(2_667.0), "one of 500 bytes alone is slower");
    }

    /// One of 1500 bytes is given up after 1 ms, one of 500 is delivered in 1.5 ms: as 1000 bytes, in 2 ms at
    /// 8 Mb/s.
    #[test]
    fn what_is_given_up_has_a_size_too() {
        let alike = PacketThroughputOptions { normalise_over: Some(2), ..PacketThroughputOptions::default() };
        let mut estimator = PacketThroughput::new(alike);
        let rate = multihop_core::Rate::from_kbps(8_000);
        let lost = Exchange { rate, ..exchange(1500, 0, 1_000, Fate::GivenUp) };
        let sent = Exchange { rate, ..exchange(500, 1_000, 2_500, Fate::Acknowledged) };
        estimator.on_link(&LinkEvent::Exchange(lost));
        estimator.on_link(&LinkEvent::Exchange(sent));
        assert_eq!(kbps(&estimator, 200), Some(2_667.0), "8000 bits in 1 + 2 ms");
    }
}
