//! Router of BMCC and VCP. It compares the demand for each of its links with the link's capacity and signals
//! the load factor (Qazi, Table I; Xia et al. 2005).

use super::adpm;
use crate::capacity::Capacity;
use crate::load::interval::{DemandMeter, IntervalDemand};
use multihop_core::{Ecn, NodeId, Packet, Span, Time};
use multihop_link::{Estimator, Hop, LinkView, PhyTimes, QueueEvent, RouterPolicy, Verdict};
use std::collections::BTreeMap;

/// Code of a load factor in the two ECN bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Code {
    /// Number, over many packets ([`adpm`]).
    Number,
    /// Region, in each packet: 01 below a load of 0.8, 10 below 1, and 11 from 1.
    Region,
}

/// Least load of the region of high load, which ends at 1.
pub(crate) const HIGH_LOAD: f64 = 0.8;

/// Constants of a router that signals its load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadConstants {
    /// Time between load factors, `t_p`, in steps of 10 ms.
    pub interval: Span,
    /// Target share of the capacity, `gamma`.
    pub utilization: f64,
    /// Share of the mean queue that counts as demand, `kappa_1`.
    pub queue_share: f64,
    /// Weights by node number; 1 for nodes that are not listed. Without weights, all packets of the queue
    /// have one load factor.
    pub weights: BTreeMap<u32, f64>,
    /// Code of the load factor in packets.
    pub code: Code,
}

/// Router policy of BMCC and VCP at one queue.
pub(crate) struct LoadRouter {
    constants: LoadConstants,
    capacity: Capacity,
    /// Share of the capacity that the node itself may use, from its own weight.
    own_share: f64,
    /// Demand of all packets of the queue.
    total: DemandMeter,
    load: f64,
    /// Demand for each next hop, in the order of their numbers; empty without weights.
    hops: Vec<NextHop>,
}

/// Demand for one next hop and its load factor.
struct NextHop {
    node: NodeId,
    weight: f64,
    meter: DemandMeter,
    /// Bytes in the queue for the next hop, with the frame that is being sent.
    backlog: i64,
    /// Demand in the last interval.
    demand: IntervalDemand,
    load: f64,
}

impl LoadRouter {
    /// Creates the policy of `node` for a link of this capacity.
    pub(crate) fn new(node: NodeId, capacity: Capacity, constants: LoadConstants) -> LoadRouter {
        let most = constants.weights.values().copied().fold(0.0, f64::max);
        let own_share = constants.weights.get(&node.0).map_or(1.0, |weight| weight / most);
        LoadRouter {
            own_share,
            total: DemandMeter::new(constants.interval),
            load: 0.0,
            hops: Vec::new(),
            capacity,
            constants,
        }
    }

    /// Returns the load factor `f = (lambda + kappa_1 q) / (gamma C t_p)`.
    fn load_factor(&self, demand: IntervalDemand, capacity: f64) -> f64 {
        let bytes = self.constants.utilization * capacity * self.total.length();
        (demand.arrived + self.constants.queue_share * demand.queue) / bytes
    }

    fn is_weighted(&self) -> bool {
        !self.constants.weights.is_empty()
    }

    /// Advances to `now`, with `waiting` bytes in the queue since the last call.
    fn advance(&mut self, now: Time, waiting: u64, view: &LinkView) {
        let ended = self.total.advance(now, waiting as f64);
        for hop in &mut self.hops {
            if let Some(demand) = hop.meter.advance(now, hop.backlog as f64) {
                hop.demand = demand;
            }
        }
        if let Some(demand) = ended {
            let capacity = self.capacity.of(view) * self.own_share;
            self.load = self.load_factor(demand, capacity);
            self.divide_capacity(demand, capacity);
        }
    }

    /// Divides the capacity that other traffic leaves among active next hops by their weights.
    fn divide_capacity(&mut self, all: IntervalDemand, capacity: f64) {
        let is_active = |hop: &&NextHop| hop.demand.arrived > 0.0 || hop.demand.queue >= 1.0;
        let weights: f64 = self.hops.iter().filter(is_active).map(|hop| hop.weight).sum();
        let arrived: f64 = self.hops.iter().map(|hop| hop.demand.arrived).sum();
        let others = (all.arrived - arrived).max(0.0) / (self.constants.utilization * self.total.length());
        let left = (capacity - others).max(1.0);
        for index in 0..self.hops.len() {
            let hop = &self.hops[index];
            if is_active(&hop) {
                self.hops[index].load = self.load_factor(hop.demand, left * hop.weight / weights);
            }
        }
    }

    /// Returns the entry of a next hop and creates it if it is new.
    fn hop(&mut self, now: Time, node: NodeId) -> &mut NextHop {
        let index = self.hops.binary_search_by_key(&node, |hop| hop.node).unwrap_or_else(|place| {
            let weight = self.constants.weights.get(&node.0).copied().unwrap_or(1.0);
            let mut meter = DemandMeter::new(self.constants.interval);
            meter.advance(now, 0.0);
            let demand = IntervalDemand { arrived: 0.0, queue: 0.0 };
            self.hops.insert(place, NextHop { node, weight, meter, backlog: 0, demand, load: self.load });
            place
        });
        &mut self.hops[index]
    }

    fn signal(&self, packet: &mut Packet, load: f64) {
        let code_before = packet.segment.ecn;
        packet.segment.ecn = match self.constants.code {
            Code::Number => adpm::mark(code_before, packet.identification(), load),
            Code::Region => {
                let region = if load < HIGH_LOAD {
                    Ecn::Ect1
                } else if load < 1.0 {
                    Ecn::Ect0
                } else {
                    Ecn::CongestionExperienced
                };
                // The order is 01 < 10 < 11. Packets with 00 belong to another scheme.
                if code_before != Ecn::NotCapable && region.bits() > code_before.bits() {
                    region
                } else {
                    code_before
                }
            }
        };
    }
}

impl RouterPolicy for LoadRouter {
    fn senses_medium(&self) -> bool {
        false
    }

    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.capacity.estimators(phy)
    }

    fn on_arrival(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.advance(hop.now, view.queue_bytes, view);
        let size = f64::from(packet.size);
        self.total.add_arrival(size);
        if self.is_weighted() {
            self.hop(hop.now, hop.peer).meter.add_arrival(size);
        }
        Verdict::Pass
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.advance(hop.now, view.queue_bytes + u64::from(packet.size), view);
        let load = if self.is_weighted() { self.hop(hop.now, hop.peer).load } else { self.load };
        self.signal(packet, load);
        Verdict::Pass
    }

    fn on_other(&mut self, now: Time, event: QueueEvent, size: u32, view: &LinkView) {
        match event {
            QueueEvent::Enqueue => {
                self.advance(now, view.queue_bytes, view);
                self.total.add_arrival(f64::from(size));
            }
            QueueEvent::Dequeue => self.advance(now, view.queue_bytes + u64::from(size), view),
        }
    }

    fn on_backlog(&mut self, now: Time, next_hop: NodeId, bytes: i64) {
        if self.is_weighted() {
            self.hop(now, next_hop).backlog += bytes;
        }
    }

    fn on_restart(&mut self, _now: Time) {
        self.load = 0.0;
        self.hops.iter_mut().for_each(|hop| hop.load = 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::packet;

    fn constants(code: Code) -> LoadConstants {
        let interval = Span::from_ms(200);
        LoadConstants { interval, utilization: 1.0, queue_share: 0.5, weights: BTreeMap::new(), code }
    }

    /// Returns a router with a configured capacity of 4.2 Mb/s.
    fn router(node: u32, constants: LoadConstants) -> LoadRouter {
        LoadRouter::new(NodeId(node), Capacity::known(525_000.0), constants)
    }

    fn at(ms: u64, peer: u32) -> Hop {
        Hop { now: Time::ZERO + Span::from_ms(ms), peer: NodeId(peer) }
    }

    fn view(queue_bytes: u64) -> LinkView {
        LinkView { queue_bytes, ..LinkView::default() }
    }

    /// Adds packets of 1000 bytes for this next hop in the middle of an interval of 200 ms.
    fn arrive(router: &mut LoadRouter, interval: u64, peer: u32, packets: u32, queue: u64) {
        for _ in 0..packets {
            let hop = at(200 * interval + 100, peer);
            router.on_arrival(hop, &mut packet(960, Ecn::Ect0), &view(queue));
        }
    }

    /// lambda 60 000 bytes, q 10 000 bytes, C 4.2 Mb/s: a load of 65 000 of 105 000.
    #[test]
    fn the_load_is_demand_over_capacity() {
        let mut router = router(0, constants(Code::Number));
        arrive(&mut router, 0, 1, 1, 10_000);
        arrive(&mut router, 1, 1, 60, 10_000);
        router.advance(at(400, 1).now, 10_000, &view(10_000));
        assert!((router.load - 0.619).abs() < 5e-4, "{}", router.load);
        router.advance(at(600, 1).now, 0, &view(0));
        assert!(router.load < 1e-3, "{}", router.load);
    }

    /// Other traffic counts as demand, because it uses the capacity of the link.
    #[test]
    fn traffic_of_others_counts() {
        let mut router = router(0, constants(Code::Number));
        router.on_other(at(100, 1).now, QueueEvent::Enqueue, 52_500, &view(0));
        router.advance(at(200, 1).now, 0, &view(0));
        assert!((router.load - 0.5).abs() < 1e-9, "{}", router.load);
    }

    /// Only the last of 20 samples in 200 ms sees the 5000 bytes, with the departing packet of 1000 bytes. A
    /// quarter of them is the mean, of which half counts, over 105 kB.
    #[test]
    fn a_departing_packet_was_in_the_queue_until_then() {
        for others in [true, false] {
            let mut router = router(0, constants(Code::Number));
            router.advance(at(190, 1).now, 0, &view(0));
            if others {
                router.on_other(at(200, 1).now, QueueEvent::Dequeue, 1_000, &view(4_000));
            } else {
                router.on_head_of_line(at(200, 1), &mut packet(960, Ecn::Ect0), &view(4_000));
            }
            assert!((router.load - 625.0 / 105_000.0).abs() < 1e-9, "{}", router.load);
        }
    }

    #[test]
    fn a_restart_forgets_the_load() {
        let mut router = weighted(0);
        arrive(&mut router, 0, 1, 60, 0);
        let before = loads(&mut router, 200, [1, 2, 3]);
        assert!(router.load > 0.5 && before[0] > 0.5);
        router.on_restart(at(200, 1).now);
        assert_eq!(router.load, 0.0);
        assert_eq!(loads(&mut router, 200, [1, 2, 3]), [0.0; 3]);
    }

    fn marks(code: Code, load: f64, code_before: Ecn) -> Vec<Ecn> {
        let mut router = router(0, constants(code));
        router.load = load;
        let mark = |number| {
            let mut packet = Packet { number, ..packet(960, code_before) };
            router.on_head_of_line(at(0, 1), &mut packet, &view(0));
            packet.segment.ecn
        };
        (0..4).map(mark).collect()
    }

    #[test]
    fn regions_are_signalled_in_each_packet_and_never_lowered() {
        use Ecn::{CongestionExperienced as Ce, Ect0, Ect1, NotCapable};
        assert_eq!(marks(Code::Region, 0.79, Ect1), [Ect1; 4]);
        assert_eq!(marks(Code::Region, 0.8, Ect1), [Ect0; 4]);
        assert_eq!(marks(Code::Region, 1.0, Ect1), [Ce; 4]);
        assert_eq!(marks(Code::Region, 0.1, Ce), [Ce; 4]);
        assert_eq!(marks(Code::Region, 2.0, NotCapable), [NotCapable; 4]);
        // The thresholds are 0, 0.6, 0.3 and 0.9.
        assert_eq!(marks(Code::Number, 0.5, Ect0), [Ect1, Ect0, Ect1, Ect0]);
        assert_eq!(marks(Code::Number, 1.0, Ect0), [Ce; 4]);
    }

    fn weighted(node: u32) -> LoadRouter {
        let weights = BTreeMap::from([(1, 3.0), (2, 1.5)]);
        router(node, LoadConstants { weights, ..constants(Code::Number) })
    }

    fn loads(router: &mut LoadRouter, ms: u64, peers: [u32; 3]) -> [f64; 3] {
        router.advance(at(ms, 0).now, 0, &view(0));
        peers.map(|peer| (router.hop(at(ms, 0).now, NodeId(peer)).load * 1e3).round() / 1e3)
    }

    /// 105 kB per interval are divided 3 : 1.5 : 1 among next hops: 57.3, 28.6 and 19.1 kB.
    #[test]
    fn weights_divide_the_capacity_among_active_next_hops() {
        let mut router = weighted(0);
        for (peer, packets) in [(1, 20), (2, 20), (3, 20)] {
            arrive(&mut router, 0, peer, packets, 0);
        }
        assert_eq!(loads(&mut router, 200, [1, 2, 3]), [0.349, 0.698, 1.048]);
        // The first next hop is idle, which leaves 1.5 : 1. Other traffic takes 42 kB of the interval.
        arrive(&mut router, 1, 2, 20, 0);
        arrive(&mut router, 1, 3, 20, 0);
        router.on_other(at(350, 1).now, QueueEvent::Enqueue, 42_000, &view(0));
        assert_eq!(loads(&mut router, 400, [2, 3, 3]), [0.529, 0.794, 0.794]);
    }

    /// A queue for one next hop is demand for that next hop alone.
    #[test]
    fn each_next_hop_has_its_own_queue() {
        let mut router = weighted(0);
        arrive(&mut router, 0, 1, 1, 0);
        arrive(&mut router, 0, 2, 1, 0);
        router.on_backlog(at(100, 0).now, NodeId(2), 70_000);
        let [first, second, _] = loads(&mut router, 200, [1, 2, 2]);
        assert!(first < 0.02 && second > 0.9, "{first} {second}");
    }

    /// A node with half of the largest weight uses half of its capacity.
    #[test]
    fn a_weighted_node_scales_its_own_capacity() {
        for (node, expected) in [(1, 0.2), (2, 0.4), (7, 0.2)] {
            let mut router = weighted(node);
            arrive(&mut router, 0, 0, 21, 0);
            router.advance(at(200, 0).now, 0, &view(0));
            assert!((router.load - expected).abs() < 1e-9, "{node}: {}", router.load);
            assert_eq!(loads(&mut router, 200, [0, 0, 0]), [expected; 3]);
        }
    }
}
