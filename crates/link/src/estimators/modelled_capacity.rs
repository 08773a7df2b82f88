//! Capacity by the model of a link, with terms that the MAC measures (Qazi, section V: "directly use Equation
//! 2").

use crate::estimators::smoothed::{Intervals, interval_options};
use crate::{Estimator, LinkCapacity, LinkView, PhyTimes};
use multihop_core::{Attempt, Exchange, Fate, Interval, LinkEvent, NodeId, Span, Time};

interval_options! {
    ($)
    /// Options of [`ModelledCapacity`].
    ModelledCapacityOptions, listed by modelled_capacity_options:
}

/// Estimates the throughput of a node's links at the network layer by [`LinkCapacity`], in bits per second of
/// MSDUs, with the means of an interval, smoothed over intervals:
///
/// * `X` and `R` are those of the packets delivered or given up, each counted once;
/// * `p` is the share of DATA frames that were not acknowledged, for any cause;
/// * `T_BO` is the back-off counted down per DATA frame; time during which it was frozen is airtime of
///   others;
/// * `U` is the share of time in which the medium was sensed busy, without the frames of the node's own
///   exchanges.
///
/// An interval without a delivery changes nothing. The node's own broadcasts count as airtime of others.
#[derive(Clone, Debug)]
pub struct ModelledCapacity {
    phy: PhyTimes,
    intervals: Intervals,
    /// Sums over the current interval.
    sums: ModelSums,
    /// Start of the present busy period; none while the medium is idle.
    busy: Option<Time>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ModelSums {
    packets: u64,
    delivered: u64,
    bytes: u64,
    /// Time of a bit at the packet's bit rate, summed over packets.
    seconds_per_bit: f64,
    tries: u64,
    slots: u64,
    busy: f64,
    own: f64,
}

impl ModelledCapacity {
    /// Creates an estimator for a node that has sent nothing yet.
    pub fn new(options: ModelledCapacityOptions, phy: PhyTimes) -> ModelledCapacity {
        let intervals = Intervals::new(options.interval, options.smoothing);
        ModelledCapacity { phy, intervals, sums: ModelSums::default(), busy: None }
    }

    /// Capacity in bits per second at `now`; none before the first complete interval with a delivery.
    pub fn at(&self, now: Time) -> Option<f64> {
        self.intervals.at(now, self.sample(now))
    }

    /// Closes the current interval if `now` is beyond it.
    fn advance(&mut self, now: Time) {
        if !self.intervals.is_over(now) {
            return;
        }
        self.intervals.close(now, self.sample(now));
        self.sums = ModelSums::default();
        // The part of a busy period before the current interval was counted there.
        let start = self.intervals.start();
        self.busy = self.busy.map(|since| since.max(start));
    }

    fn sample(&self, now: Time) -> Option<f64> {
        let ModelSums { packets, delivered, bytes, seconds_per_bit, tries, slots, busy, own } = self.sums;
        if delivered == 0 || tries == 0 {
            return None;
        }
        let until = now.min(self.intervals.start() + self.intervals.length());
        let open = self.busy.map_or(0.0, |since| until.since(since).seconds());
        let others = ((busy + open - own) / self.intervals.length().seconds()).clamp(0.0, 1.0);
        let size = bytes as f64 / packets as f64;
        let backoff = Span::from_seconds(self.phy.slot.seconds() * slots as f64 / tries as f64);
        let link = LinkCapacity {
            frame: size + f64::from(self.phy.data_header),
            rate: multihop_core::Rate::from_bps((packets as f64 / seconds_per_bit).round() as u64),
            loss: 1.0 - (delivered as f64 / tries as f64).min(1.0),
            others,
            overhead: LinkCapacity::overhead(&self.phy, backoff),
        };
        Some(link.bps() * link.above(f64::from(self.phy.data_header)))
    }

    fn on_attempt(&mut self, attempt: &Attempt) {
        let length = |air: Option<Interval>| air.map_or(0.0, |air| air.length().seconds());
        if attempt.peer != NodeId::BROADCAST {
            self.sums.own +=
                length(attempt.rts) + length(attempt.cts) + length(attempt.data) + length(attempt.ack);
            self.sums.slots += u64::from(attempt.slots);
            self.sums.tries += u64::from(attempt.data.is_some());
        }
    }

    fn on_exchange(&mut self, exchange: &Exchange) {
        if exchange.peer != NodeId::BROADCAST {
            self.sums.packets += 1;
            self.sums.bytes += u64::from(exchange.size);
            self.sums.seconds_per_bit += 1.0 / exchange.rate.bps() as f64;
            self.sums.delivered += u64::from(exchange.fate == Fate::Acknowledged);
        }
    }
}

impl Estimator for ModelledCapacity {
    fn on_link(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::BusyFrom(start) => {
                self.advance(*start);
                self.busy = Some(*start);
            }
            LinkEvent::Busy(period) => {
                self.advance(period.end);
                let since = self.busy.take().unwrap_or(period.start);
                self.sums.busy += period.end.since(since).seconds();
            }
            LinkEvent::Attempt(attempt) => self.on_attempt(attempt),
            LinkEvent::Exchange(exchange) => {
                self.advance(exchange.done);
                self.on_exchange(exchange);
            }
            _ => {}
        }
    }

    fn write(&self, now: Time, view: &mut LinkView) {
        view.capacity_bps = self.at(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy_times::testing::dot11b;
    use crate::testing::{A, B, exchange, us};
    use multihop_core::FlowId;

    fn estimator() -> ModelledCapacity {
        ModelledCapacity::new(ModelledCapacityOptions::default(), dot11b())
    }

    /// Reports a busy period between two instants in microseconds.
    fn busy(estimator: &mut ModelledCapacity, start: u64, end: u64) {
        estimator.on_link(&LinkEvent::BusyFrom(us(start)));
        estimator.on_link(&LinkEvent::Busy(Interval { start: us(start), end: us(end) }));
    }

    /// Reports a DATA frame of 1200 us from `start` on, after `slots`, with or without an ACK of 304 us.
    fn tried(estimator: &mut ModelledCapacity, start: u64, slots: u32, acknowledged: bool) {
        let air = |start, end| Some(Interval { start: us(start), end: us(end) });
        busy(estimator, start, start + 1_200);
        if acknowledged {
            busy(estimator, start + 1_210, start + 1_514);
        }
        let ack = if acknowledged { air(start + 1_210, start + 1_514) } else { None };
        let data = air(start, start + 1_200);
        let attempt =
            Attempt { node: A, peer: B, flow: FlowId(0), cw: 31, slots, rts: None, cts: None, data, ack };
        estimator.on_link(&LinkEvent::Attempt(attempt));
    }

    fn ended(estimator: &mut ModelledCapacity, size: u32, end: u64, fate: Fate) {
        estimator.on_link(&LinkEvent::Exchange(exchange(size, 0, end, fate)));
    }

    /// Packet sent at once: `T_tr` = 1528 * 8 / 11 us, `T_ov` = 50 + 192 + 320 + 10 + 304 us.
    #[test]
    fn an_interval_of_one_packet_by_hand() {
        let mut alone = estimator();
        tried(&mut alone, 1_000, 16, true);
        ended(&mut alone, 1_500, 2_514, Fate::Acknowledged);
        assert_eq!(alone.at(us(199_999)), None, "the interval is not over");
        let expected = 12_000.0 / (1_528.0 * 8.0 / 11.0 + 876.0);
        let found = alone.at(us(200_000)).unwrap() * 1e-6;
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }

    /// Two attempts with 10 and 22 slots are a loss of 1/2 and a back-off of 16 slots; others used 50 of 200
    /// ms.
    #[test]
    fn losses_back_off_and_the_airtime_of_others() {
        let mut node = estimator();
        busy(&mut node, 10_000, 60_000);
        tried(&mut node, 100_000, 10, false);
        tried(&mut node, 110_000, 22, true);
        ended(&mut node, 1_500, 111_514, Fate::Acknowledged);
        let expected = 12_000.0 / (1_528.0 * 8.0 / 11.0 + 876.0) * 0.5 * 0.75;
        let found = node.at(us(200_000)).unwrap() * 1e-6;
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        // A packet given up after two more attempts: one of four succeeded.
        tried(&mut node, 120_000, 16, false);
        tried(&mut node, 130_000, 16, false);
        ended(&mut node, 1_500, 140_000, Fate::GivenUp);
        let found = node.at(us(200_000)).unwrap() * 1e-6;
        assert!((found - expected / 2.0).abs() < 1e-4, "{found}");
    }

    /// A frame of another node from 150 to 250 ms takes a quarter of each interval; the second interval has a
    /// weight of an eighth.
    #[test]
    fn busy_periods_are_divided_among_intervals() {
        let mut node = estimator();
        tried(&mut node, 1_000, 16, true);
        ended(&mut node, 1_500, 2_514, Fate::Acknowledged);
        node.on_link(&LinkEvent::BusyFrom(us(150_000)));
        let full = 12_000.0 / (1_528.0 * 8.0 / 11.0 + 876.0);
        let first = node.at(us(240_000)).unwrap() * 1e-6;
        assert!((first - full * 0.75).abs() < 1e-4, "{first}");
        node.on_link(&LinkEvent::Busy(Interval { start: us(150_000), end: us(250_000) }));
        busy(&mut node, 260_000, 310_000);
        tried(&mut node, 320_000, 16, true);
        ended(&mut node, 1_500, 321_514, Fate::Acknowledged);
        let second = node.at(us(400_000)).unwrap() * 1e-6;
        assert!((second - full * (0.75 - 0.25 / 8.0)).abs() < 1e-4, "{second}");
        assert_eq!(node.at(us(9_000_000)), node.at(us(400_000)), "an idle node keeps what it had");
    }

    #[test]
    fn broadcasts_are_no_packets_of_a_link() {
        let mut node = estimator();
        let broadcast = Exchange { peer: NodeId::BROADCAST, ..exchange(100, 0, 500, Fate::Broadcast) };
        node.on_link(&LinkEvent::Exchange(broadcast));
        assert_eq!(node.at(us(200_000)), None);
    }
}
