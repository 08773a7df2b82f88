//! Many nodes: routes never lead in a circle (RFC 3561, section 4, relies on sequence numbers for that).

use super::*;
use crate::config::LocalRepair;

const NODES: u32 = 8;

/// Nodes whose links come and go; messages take a while, and some are lost.
struct Net {
    rng: Rng,
    nodes: Vec<Aodv>,
    now: Time,
    /// Which pairs can hear each other.
    links: Vec<bool>,
    /// Messages on the air: time of arrival, receiver, transmitter, and datagram.
    air: Vec<(Time, NodeId, NodeId, Datagram)>,
    packet: Handle,
    delivered: u32,
}

impl Net {
    fn new(seed: u64, rules: &AodvConfig) -> Net {
        let stream = |node: u32| Rng::at(seed, &["loops", &node.to_string()]);
        let nodes = (0..NODES).map(|id| Aodv::new(NodeId(id), rules.clone(), stream(id))).collect();
        let mut rng = Rng::at(seed, &["loops"]);
        let links = (0..NODES * NODES).map(|_| rng.unit() < 0.4).collect();
        Net { rng, nodes, now: Time::ZERO, links, air: Vec::new(), packet: handles(1)[0], delivered: 0 }
    }

    fn hear_each_other(&self, a: NodeId, b: NodeId) -> bool {
        self.links[(a.0.min(b.0) * NODES + a.0.max(b.0)) as usize]
    }

    /// Performs the actions of a node, and checks all routes after each.
    fn serve(&mut self, id: NodeId) {
        while let Some(action) = self.nodes[id.index()].poll(self.now) {
            match action {
                Action::Broadcast(message, _) => {
                    (0..NODES).for_each(|to| self.send(id, NodeId(to), &message));
                }
                Action::Unicast(message, _, to) => self.send(id, to, &message),
                Action::SendTo(..) | Action::Drop(..) | Action::Purge(_) => {}
                other => panic!("{other:?}"),
            }
        }
        self.check();
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: &Datagram) {
        if from != to && self.hear_each_other(from, to) && self.rng.unit() < 0.9 {
            let due = self.now + uniform(&mut self.rng, Span::from_ms(30));
            self.air.push((due, from, to, message.clone()));
        }
    }

    /// A packet goes from one node to another as far as it comes.
    fn travel(&mut self, source: NodeId, destination: NodeId) {
        let (mut here, mut hops) = (source, 0);
        while here != destination {
            let packet = RoutedPacket { handle: self.packet, source, destination, hops, route: None };
            let Some(NextHop::Neighbour(next)) = self.nodes[here.index()].route(self.now, destination) else {
                self.nodes[here.index()].on_no_route(self.now, packet);
                return self.serve(here);
            };
            if !self.hear_each_other(here, next) || self.rng.unit() < 0.05 {
                self.nodes[here.index()].on_link_failure(self.now, next, true, GivenUp::Packet(packet));
                return self.serve(here);
            }
            (here, hops) = (next, hops + 1);
        }
        self.delivered += 1;
    }

    fn check(&self) {
        for destination in (0..NODES).map(NodeId) {
            for start in (0..NODES).map(NodeId) {
                let next = |here: &NodeId| {
                    self.nodes[here.index()].next_hop(destination).filter(|_| *here != destination)
                };
                let steps = std::iter::successors(Some(start), next).take(NODES as usize + 1).count();
                assert!(
                    steps <= NODES as usize,
                    "{start:?} never comes to {destination:?} at {:?}",
                    self.now
                );
            }
        }
    }

    fn run(&mut self, until: Time) {
        while self.now < until {
            self.now += Span::from_ms(5);
            for id in (0..NODES).map(NodeId) {
                while self.nodes[id.index()].next_timer().is_some_and(|due| due <= self.now) {
                    self.nodes[id.index()].on_timer(self.now);
                    self.serve(id);
                }
            }
            while let Some(at) = self.air.iter().position(|(due, ..)| *due <= self.now) {
                let (_, from, to, message) = self.air.remove(at);
                self.nodes[to.index()].on_message(self.now, from, &message);
                self.serve(to);
            }
            if self.rng.unit() < 0.05 {
                let link = self.rng.below(NODES * NODES) as usize;
                self.links[link] = !self.links[link];
            }
            let (source, destination) = (NodeId(self.rng.below(NODES)), NodeId(self.rng.below(NODES)));
            if source != destination && self.rng.unit() < 0.3 {
                self.travel(source, destination);
            }
        }
    }
}

#[test]
fn routes_never_lead_in_a_circle() {
    for local_repair in [LocalRepair::Off, LocalRepair::Rfc] {
        for intermediate_replies in [true, false] {
            for seed in 0..10 {
                let rules = AodvConfig {
                    local_repair,
                    intermediate_replies,
                    active_route_timeout: Span::from_ms(800),
                    ..AodvConfig::default()
                };
                let mut net = Net::new(seed, &rules);
                net.run(at(60.0));
                assert!(net.delivered > 1000, "{local_repair:?} {seed}: {}", net.delivered);
            }
        }
    }
}
