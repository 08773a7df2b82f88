//! Bit rate of DATA in use.

use crate::{Estimator, LinkView};
use multihop_core::{Exchange, FlowId, LinkEvent, NodeId, Rate, Time};

/// Mean PHY rate of the DATA that a node sends to all neighbours or to one: smoothed bytes divided by the
/// smoothed time of these bytes at the rate of each exchange's last DATA. Preambles, ACKs and retries do not
/// count. A queue with slow and fast neighbours drains in proportion to this rate.
///
/// Each exchange has a weight of 1/8, so that occasional probes of rate control hardly count. Before the
/// first exchange the value is the nominal data rate.
#[derive(Clone, Copy, Debug)]
pub struct RateInUse {
    nominal: f64,
    /// Smoothed bytes of an exchange.
    bytes: f64,
    /// Smoothed airtime of an exchange, in units of a byte's airtime at the nominal rate, so that the rate is
    /// exactly the nominal one while no other rate is used.
    time: f64,
}

/// Weight of a new exchange.
const GAIN: f64 = 1.0 / 8.0;

impl RateInUse {
    /// Creates an estimator for a node that has sent nothing yet.
    pub fn new(nominal: Rate) -> RateInUse {
        RateInUse { nominal: nominal.bps() as f64, bytes: 0.0, time: 0.0 }
    }

    /// Adds an exchange.
    pub fn done(&mut self, exchange: &Exchange) {
        let bytes = f64::from(exchange.size);
        let time = bytes * (self.nominal / exchange.rate.bps() as f64);
        let gain = if self.bytes == 0.0 { 1.0 } else { GAIN };
        self.bytes += gain * (bytes - self.bytes);
        self.time += gain * (time - self.time);
    }

    /// Bit rate in bits per second.
    pub fn bps(&self) -> f64 {
        if self.bytes == 0.0 { self.nominal } else { self.nominal * (self.bytes / self.time) }
    }

    /// Bit rate to the nearest bit per second.
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.bps().round() as u64)
    }
}

/// Bit rate in use for each neighbour.
#[derive(Clone, Debug)]
pub struct RatesInUse {
    nominal: RateInUse,
    /// Neighbours to which the node has sent DATA.
    known: Vec<(NodeId, RateInUse)>,
}

impl RatesInUse {
    /// Creates estimators for a node that has sent nothing yet.
    pub fn new(nominal: Rate) -> RatesInUse {
        RatesInUse { nominal: RateInUse::new(nominal), known: Vec::new() }
    }

    /// Processes an event of the node's MAC.
    pub fn on_link(&mut self, event: &LinkEvent) {
        let LinkEvent::Exchange(exchange) = event else { return };
        let mut known = self.known.iter_mut();
        if let Some((_, rate)) = known.find(|(peer, _)| *peer == exchange.peer) {
            rate.done(exchange);
        } else {
            let mut rate = self.nominal;
            rate.done(exchange);
            self.known.push((exchange.peer, rate));
        }
    }

    /// Bit rate of DATA to this neighbour.
    pub fn of(&self, peer: NodeId) -> RateInUse {
        self.known.iter().find(|(known, _)| *known == peer).map_or(self.nominal, |(_, rate)| *rate)
    }
}

/// Bit rate in use to the next hop of a flow that begins at the node.
#[derive(Clone, Debug)]
pub struct FirstHopRate {
    flow: FlowId,
    next_hop: Option<NodeId>,
    rates: RatesInUse,
}

impl FirstHopRate {
    /// Creates an estimator for a flow that has sent nothing yet.
    pub fn new(flow: FlowId, nominal: Rate) -> FirstHopRate {
        FirstHopRate { flow, next_hop: None, rates: RatesInUse::new(nominal) }
    }

    /// Processes an event of the node's MAC.
    pub fn on_link(&mut self, event: &LinkEvent) {
        if let LinkEvent::Mpdu(exchange) | LinkEvent::Exchange(exchange) = event
            && exchange.flow == self.flow
        {
            self.next_hop = Some(exchange.peer);
        }
        self.rates.on_link(event);
    }

    /// Current bit rate.
    pub fn rate(&self) -> Rate {
        self.next_hop.map_or(self.rates.nominal, |peer| self.rates.of(peer)).rate()
    }
}

impl Estimator for RateInUse {
    fn senses_medium(&self) -> bool {
        false
    }

    fn on_link(&mut self, event: &LinkEvent) {
        if let LinkEvent::Exchange(exchange) = event
            && exchange.peer != NodeId::BROADCAST
        {
            self.done(exchange);
        }
    }

    fn write(&self, _now: Time, view: &mut LinkView) {
        view.rate_bps = Some(self.bps());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::exchange;
    use multihop_core::Fate;

    fn sends(estimator: &mut RateInUse, kbps: u64, peer: NodeId) {
        let sent = exchange(1_000, 0, 500, Fate::Acknowledged);
        estimator.on_link(&LinkEvent::Exchange(Exchange { rate: Rate::from_kbps(kbps), peer, ..sent }));
    }

    fn rate(estimator: &RateInUse) -> f64 {
        let mut view = LinkView::default();
        estimator.write(Time::ZERO, &mut view);
        view.rate_bps.unwrap()
    }

    #[test]
    fn it_is_the_nominal_rate_until_a_packet_was_sent_at_another() {
        let mut estimator = RateInUse::new(Rate::from_kbps(6_500));
        assert_eq!(rate(&estimator), 6.5e6);
        sends(&mut estimator, 1_000, NodeId::BROADCAST);
        (0..1_000).for_each(|_| sends(&mut estimator, 6_500, NodeId(1)));
        assert_eq!(rate(&estimator), 6.5e6, "to the bit, and a broadcast does not count");
        let mut estimator = RateInUse::new(Rate::from_kbps(6_500));
        sends(&mut estimator, 65_000, NodeId(1));
        assert!((rate(&estimator) - 65e6).abs() < 1e-3, "the first exchange counts in full");
        assert_eq!(estimator.rate(), Rate::from_kbps(65_000));
    }

    #[test]
    fn each_neighbour_has_its_own() {
        let mut rates = RatesInUse::new(Rate::from_kbps(11_000));
        let sent = exchange(1_000, 0, 500, Fate::Acknowledged);
        for (peer, kbps) in [(1, 2_000), (2, 5_500), (1, 2_000)] {
            let (peer, rate) = (NodeId(peer), Rate::from_kbps(kbps));
            rates.on_link(&LinkEvent::Exchange(Exchange { peer, rate, ..sent }));
        }
        assert_eq!(
            [1, 2, 3].map(|peer| rates.of(NodeId(peer)).rate().bps()),
            [2_000_000, 5_500_000, 11_000_000]
        );
    }

    /// Packets of other flows use another next hop at another rate.
    #[test]
    fn a_flow_has_the_rate_to_its_next_hop() {
        let mut first = FirstHopRate::new(FlowId(7), Rate::from_kbps(11_000));
        let sent = exchange(1_000, 0, 500, Fate::Acknowledged);
        for (flow, peer, kbps) in [(1, 1, 2_000), (7, 2, 5_500), (1, 1, 2_000), (1, 2, 5_500)] {
            assert!(flow == 7 || first.next_hop.is_some() || first.rate() == Rate::from_kbps(11_000));
            let (flow, peer, rate) = (FlowId(flow), NodeId(peer), Rate::from_kbps(kbps));
            first.on_link(&LinkEvent::Exchange(Exchange { flow, peer, rate, ..sent }));
        }
        assert_eq!(first.rate(), Rate::from_kbps(5_500));
    }

    /// As many packets at 6.5 as at 65 Mb/s drain at 11.8 Mb/s, and not at 35.75.
    #[test]
    fn slow_packets_take_their_time() {
        let mut estimator = RateInUse::new(Rate::from_kbps(65_000));
        (0..200).for_each(|n| sends(&mut estimator, if n % 2 == 0 { 6_500 } else { 65_000 }, NodeId(1)));
        assert!(
            (rate(&estimator) / (2.0 / (1.0 / 6.5e6 + 1.0 / 65e6)) - 1.0).abs() < 0.06,
            "{}",
            rate(&estimator)
        );
    }
}
