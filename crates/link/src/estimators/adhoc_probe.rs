//! `AdHoc` Probe (Chen et al. 2009).

use crate::{Estimator, LinkView};
use multihop_config::parameters;
use multihop_core::{Arrived, FlowId, LinkEvent, Time};

parameters! {
    ($)
    /// Options of [`AdHocProbe`].
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    AdHocProbeOptions, listed by adhoc_probe_options:
    /// Name of the flow whose packets are probes: datagrams in messages of two packets. Default: all flows;
    /// any two packets sent at the same instant form a pair.
    flow: (Option<FlowId> as Option<String> = None) = None;
    /// Number of pairs per estimate.
    pairs: u32 [1, 10_000] = 200;
}

/// Estimates the capacity of a path at its destination, in bits per second, from pairs of packets that the
/// source sends back to back.
///
/// Of a number of pairs, the one with the smallest sum of one-way delays counts, because cross traffic has
/// delayed neither of its packets: `C = P / (OWD2 - OWD1)`, where `P` is the size of a packet. The clock
/// offset between the ends adds the same to all sums and cancels in the difference. Pairs with a lost or
/// overtaken packet do not count, nor do pairs that arrived at the same instant.
///
/// The source is a flow of datagrams whose messages are two packets long; Chen et al. use packets of 1500
/// bytes and 4 pairs a second. Until the first number of pairs is complete, the best pair so far counts.
#[derive(Clone, Debug)]
pub struct AdHocProbe {
    options: AdHocProbeOptions,
    first: Option<Arrived>,
    /// Number of pairs since the last estimate; the best pair is `best`.
    pairs: u32,
    best: Option<Pair>,
    estimate: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Sum of the one-way delays in nanoseconds; negative if the clock of the source is ahead.
    delays: i128,
    capacity_bps: f64,
}

impl AdHocProbe {
    /// Creates an estimator without packets.
    pub fn new(options: AdHocProbeOptions) -> AdHocProbe {
        AdHocProbe { options, first: None, pairs: 0, best: None, estimate: None }
    }

    /// Capacity of the path in bits per second; none before the first pair.
    pub fn capacity_bps(&self) -> Option<f64> {
        self.estimate.or(self.best.map(|best| best.capacity_bps))
    }

    fn on_arrived(&mut self, packet: &Arrived) {
        if self.options.flow.is_some_and(|flow| flow != packet.flow) {
            return;
        }
        let is_second = |first: &Arrived| {
            first.flow == packet.flow && first.number + 1 == packet.number && first.sent == packet.sent
        };
        match self.first.take() {
            Some(first) if is_second(&first) => self.take(&first, packet),
            _ => self.first = Some(*packet),
        }
    }

    fn take(&mut self, first: &Arrived, second: &Arrived) {
        let dispersion = second.at.since(first.at).seconds();
        if dispersion == 0.0 {
            return;
        }
        let delays = one_way_delay(first) + one_way_delay(second);
        if self.best.is_none_or(|best| delays < best.delays) {
            self.best = Some(Pair { delays, capacity_bps: f64::from(second.size) * 8.0 / dispersion });
        }
        self.pairs += 1;
        if self.pairs >= self.options.pairs {
            self.estimate = self.best.take().map(|best| best.capacity_bps);
            self.pairs = 0;
        }
    }
}

fn one_way_delay(packet: &Arrived) -> i128 {
    i128::from(packet.at.ns()) - i128::from(packet.sent.ns())
}

impl Estimator for AdHocProbe {
    fn on_link(&mut self, event: &LinkEvent) {
        if let LinkEvent::Arrived(packet) = event {
            self.on_arrived(packet);
        }
    }

    fn senses_medium(&self) -> bool {
        false
    }

    fn write(&self, _now: Time, view: &mut LinkView) {
        view.capacity_bps = self.capacity_bps();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{A, us};

    fn probe(pairs: u32) -> AdHocProbe {
        AdHocProbe::new(AdHocProbeOptions { pairs, ..AdHocProbeOptions::default() })
    }

    fn packet(flow: u32, number: u64, sent: u64, at: u64) -> LinkEvent {
        let (sent, at) = (us(sent), us(at));
        LinkEvent::Arrived(Arrived { node: A, flow: FlowId(flow), number, size: 1500, sent, at })
    }

    /// Delivers two packets numbered from `number` on, sent at `sent`.
    fn pair(estimator: &mut AdHocProbe, number: u64, sent: u64, arrivals: [u64; 2]) {
        estimator.on_link(&packet(0, number, sent, arrivals[0]));
        estimator.on_link(&packet(0, number + 1, sent, arrivals[1]));
    }

    fn mbps(estimator: &AdHocProbe) -> Option<f64> {
        estimator.capacity_bps().map(|bps| (bps * 1e-4).round() / 100.0)
    }

    /// 1500 bytes 2500 us apart are 4.8 Mb/s.
    #[test]
    fn a_pair_that_cross_traffic_delayed_at_its_second_packet_is_ignored() {
        let mut estimator = probe(200);
        assert_eq!(mbps(&estimator), None);
        pair(&mut estimator, 1, 0, [3_000, 8_000]);
        assert_eq!(mbps(&estimator), Some(2.4), "there is no better one yet");
        pair(&mut estimator, 3, 10_000, [13_000, 15_500]);
        assert_eq!(mbps(&estimator), Some(4.8));
        pair(&mut estimator, 5, 20_000, [23_000, 28_000]);
        pair(&mut estimator, 7, 30_000, [35_000, 36_000]);
        assert_eq!(mbps(&estimator), Some(4.8), "nor does one count whose first packet was delayed");
    }

    /// Equal sums of 8500 us: the packets of the first pair are 2500 us apart, those of the second 1500 us.
    #[test]
    fn of_equal_sums_the_first_counts() {
        let mut estimator = probe(200);
        pair(&mut estimator, 1, 0, [3_000, 5_500]);
        pair(&mut estimator, 3, 10_000, [13_500, 15_000]);
        assert_eq!(mbps(&estimator), Some(4.8));
    }

    #[test]
    fn lost_and_overtaken_packets_make_no_pair() {
        let mut estimator = probe(200);
        estimator.on_link(&packet(0, 1, 0, 3_000)); // 2 is lost
        estimator.on_link(&packet(0, 3, 250_000, 253_000));
        estimator.on_link(&packet(0, 5, 500_000, 503_000)); // 4 is lost
        estimator.on_link(&packet(0, 8, 750_000, 752_000)); // 7 comes later
        estimator.on_link(&packet(0, 7, 750_000, 754_000));
        estimator.on_link(&packet(0, 9, 800_000, 804_000));
        estimator.on_link(&packet(1, 10, 800_000, 805_000)); // of another flow
        assert_eq!(mbps(&estimator), None);
        pair(&mut estimator, 11, 900_000, [903_000, 905_000]);
        assert_eq!(mbps(&estimator), Some(6.0));
    }

    #[test]
    fn packets_of_other_flows_are_none_of_its_business() {
        let options = AdHocProbeOptions { flow: Some(FlowId(7)), pairs: 1 };
        let mut estimator = AdHocProbe::new(options);
        pair(&mut estimator, 1, 0, [1_000, 2_000]);
        assert_eq!(mbps(&estimator), None);
        estimator.on_link(&packet(7, 1, 0, 3_000));
        estimator.on_link(&packet(0, 3, 0, 4_000));
        estimator.on_link(&packet(7, 2, 0, 6_000));
        assert_eq!(mbps(&estimator), Some(4.0));
    }

    /// The clock of the source may be ahead: sums are negative, and the smallest is still the best.
    #[test]
    fn an_offset_of_clocks_changes_nothing() {
        for offset in [0, 50_000] {
            let mut estimator = probe(2);
            pair(&mut estimator, 1, 10_000 + offset, [13_000, 15_500]);
            pair(&mut estimator, 3, 20_000 + offset, [23_000, 28_000]);
            assert_eq!(mbps(&estimator), Some(4.8));
        }
    }

    #[test]
    fn each_number_of_pairs_makes_an_estimate_of_its_own() {
        let mut estimator = probe(2);
        pair(&mut estimator, 1, 0, [3_000, 5_500]);
        pair(&mut estimator, 3, 10_000, [14_000, 20_000]);
        pair(&mut estimator, 5, 20_000, [24_000, 30_000]);
        assert_eq!(mbps(&estimator), Some(4.8), "the first estimate, until the second is complete");
        pair(&mut estimator, 7, 30_000, [34_000, 38_000]);
        assert_eq!(mbps(&estimator), Some(3.0));
    }
}
