//! Construction of a run: slots of the agenda, nodes with their stacks, routing agents.

use super::mpdus::MpduEnds;
use super::purpose::Purpose;
use crate::agenda::Slot;
use crate::apps::App;
use crate::config::{AppConfig, Config, Delivery, TopologyConfig, TrafficConfig};
use crate::external::Outside;
use crate::mac::{Mac, Timing};
use crate::medium::{Listeners, Loads, Radio};
use crate::node::Node;
use crate::outages::Outages;
use crate::record::Recorder;
use crate::routing::{self, RoutingAgent};
use crate::stack::{End, Failures, FlowRoute, Policies, Queues, Stack};
use multihop_core::{FlowId, NodeId, Port, Rng, Time};
use multihop_link::{EgressQueue, PhyTimes};
use multihop_schemes::SenderStation;
use multihop_transport::Endpoint;
use std::sync::Arc;

/// Slots of the agenda, in the order of assignment: first those of each node, by node number.
pub(super) struct SlotPlan {
    pub(super) owners: Vec<u32>,
    /// Purposes of the further slots.
    pub(super) further: Vec<Purpose>,
}

impl SlotPlan {
    /// Creates the plan with the slots of this number of nodes.
    pub(super) fn new(nodes: u32) -> SlotPlan {
        let owners = (0..nodes).flat_map(|node| [node; Purpose::OF_NODE as usize]).collect();
        SlotPlan { owners, further: Vec::new() }
    }

    pub(super) fn add(&mut self, owner: u32, purpose: Purpose) -> Slot {
        self.owners.push(owner);
        self.further.push(purpose);
        Slot((self.owners.len() - 1) as u32)
    }
}

/// Creates the policies of the schemes at the queue `queue` of a node. `egress` has the run's seed; each
/// scheme gets one with a seed of its own.
pub(super) fn policies_at(
    traffic: &TrafficConfig,
    node: NodeId,
    queue: &str,
    egress: EgressQueue,
    phy: Option<&PhyTimes>,
    scheme_of: &Arc<[usize]>,
) -> Policies {
    let node_number = node.0.to_string();
    let by_scheme = traffic.schemes.iter().map(|scheme| {
        let path = ["node", &node_number, "policy", &scheme.name, queue];
        let seed = Rng::at(egress.seed, &path).bits();
        scheme.scheme.router(node, &EgressQueue { seed, ..egress })
    });
    Policies::new(by_scheme.collect(), phy, scheme_of.clone())
}

/// Salt of the hash of flows to sub-queues, at the queue `queue` of a node.
pub(super) fn salt_of(seed: u64, node: NodeId, queue: &str) -> u64 {
    Rng::at(seed, &["node", &node.0.to_string(), "queue", queue]).bits()
}

/// Creates the nodes with the endpoints of flows; returns the locations of endpoints too.
pub(super) fn nodes(config: &Config, timing: &Timing, plan: &mut SlotPlan) -> (Vec<Node>, Vec<FlowRoute>) {
    let Config { topology, traffic, .. } = config;
    let (phy, scheme_of) = (timing.phy_times(), traffic.scheme_of());
    let blind_to = routing::blind_to(config);
    let numbers = 0..topology.nodes.len() as u32;
    let mut nodes: Vec<Node> = numbers
        .map(|index| {
            let failures = Failures::new(config.routing.failure_rule(), blind_to.clone());
            node(config, timing, index, (&phy, &scheme_of, failures))
        })
        .collect();
    let mut routes = Vec::with_capacity(traffic.flows.len());
    for id in (0..traffic.flows.len()).map(|index| FlowId(index as u32)) {
        let route = ends(config, timing, plan, &mut nodes, (id, phy), &routes);
        routes.push(route);
    }
    (nodes, routes)
}

/// Creates a node from what all nodes share: airtimes, the scheme of each flow, and the rule of link
/// failures.
fn node(
    config: &Config,
    timing: &Timing,
    index: u32,
    (phy, scheme_of, failures): (&PhyTimes, &Arc<[usize]>, Failures),
) -> Node {
    let (id, mac) = (NodeId(index), &config.mac);
    let [timer, air, _, link_slot] = Purpose::slots_of(id);
    let egress = EgressQueue {
        rate: phy.data_rate,
        is_wired: false,
        queue_limit: mac.queue.limit,
        rts_from: timing.rts_from(),
        aggregates: timing.aggregation.is_some(),
        seed: config.seed,
    };
    let policies = policies_at(&config.traffic, id, "radio", egress, Some(phy), scheme_of);
    let salt = salt_of(config.seed, id, "radio");
    let queues = if mac.edca.is_some() { Queues::by_category } else { Queues::single };
    let mut queues = queues(&mac.queue.discipline, mac.queue.limit, salt);
    if let Some(limits) = mac.queue.hardware.and_then(|hardware| hardware.airtime) {
        queues.limit_airtime(limits);
    }
    let mut stack = Stack::new(id, queues, mac.queue.lifetime, policies, link_slot, failures);
    if config.network.arp {
        stack.resolve_addresses();
    }
    let rng = Rng::at(config.seed, &["node", &index.to_string(), "mac"]);
    let mut station = Mac::new(id, timer, air, timing, rng);
    if mac.edca.is_some() {
        station.differentiate(timing);
    }
    if let Some(hardware) = mac.queue.hardware {
        station.queue_in_hardware(hardware);
    }
    if mac.rate_control.is_some() {
        station.control_rates(config.seed);
    }
    let rng = Rng::at(config.seed, &["node", &index.to_string(), "air"]);
    Node { radio: Radio::new(timing.busy_from, rng), mac: station, stack: Box::new(stack) }
}

/// Creates the two endpoints of a flow at their nodes, behind those of earlier flows. The flows of a
/// multicast group share the sending endpoint of the first one.
fn ends(
    config: &Config,
    timing: &Timing,
    plan: &mut SlotPlan,
    nodes: &mut [Node],
    (id, phy): (FlowId, PhyTimes),
    before: &[FlowRoute],
) -> FlowRoute {
    let flow = &config.traffic.flows[id.index()];
    let scheme = &config.traffic.schemes[flow.scheme].scheme;
    let aggregates = timing.aggregate_limits();
    let station = SenderStation { flow: id, phy, rts_from: timing.rts_from(), aggregates };
    let mut add = |port: Port| {
        let (at, peer) = match port {
            Port::Sender if flow.group.is_some() => (flow.source, NodeId::BROADCAST),
            Port::Sender => (flow.source, flow.destination),
            Port::Receiver => (flow.destination, flow.source),
        };
        let endpoint: Box<dyn Endpoint> = match (flow.app, port) {
            (AppConfig::External, _) => Box::new(Outside),
            (_, Port::Sender) => scheme.sender_at(&station),
            (_, Port::Receiver) => scheme.receiver(),
        };
        let stack = &mut nodes[at.index()].stack;
        let deadline = plan.add(at.0, Purpose::Deadline(id, port));
        let app = (port == Port::Sender).then(|| {
            let rng = Rng::at(config.seed, &["flow", &id.0.to_string(), "app"]);
            let slot = plan.add(at.0, Purpose::App(id));
            (App::new(flow, scheme.is_uncontrolled(), rng), slot)
        });
        let end = End::new(id, port, peer, endpoint, deadline, app, scheme.segment_size());
        stack.add_end(end.marked(flow.dscp))
    };
    let receiver = add(Port::Receiver);
    let sender = match flow.group.filter(|_| flow.is_sent_by_another(id)) {
        Some(first) => before[first.index()].ends[Port::Sender as usize],
        None => add(Port::Sender),
    };
    if let Some(first) = flow.group {
        let from = config.multicast_sender(flow);
        nodes[flow.source.index()].stack.relay_multicast_by(config.multicast_relay(flow.source));
        // A station accepts group-addressed frames of its own base station only.
        if config.topology.nodes[flow.destination.index()].base.is_none_or(|base| base == from) {
            nodes[flow.destination.index()].stack.join_group(first, id, from);
        }
    }
    FlowRoute { ends: [receiver, sender] }
}

/// Creates the routing agent of each node with its slot; none with static routes.
pub(super) fn routing_agents(config: &Config, plan: &mut SlotPlan) -> Vec<(Box<dyn RoutingAgent>, Slot)> {
    let agents = (0..config.topology.nodes.len() as u32).filter_map(|index| {
        let agent = routing::agent(config, NodeId(index))?;
        Some((agent, plan.add(index, Purpose::Routing(index))))
    });
    agents.collect()
}

/// Payload bytes of the smallest packets that saturated sources send.
fn smallest_datagram(traffic: &TrafficConfig) -> u32 {
    let saturated = traffic.flows.iter().filter(|flow| flow.app == AppConfig::Saturated);
    saturated.map(|flow| traffic.schemes[flow.scheme].scheme.segment_size()).min().unwrap_or(1).max(1)
}

/// Enables aggregation at the nodes, if configured. Returns the store of aggregates, and where MPDUs are
/// passed on one by one, the slot of each node for their ends.
pub(super) fn aggregation(
    config: &Config,
    nodes: &mut [Node],
    plan: &mut SlotPlan,
) -> (Loads, Vec<MpduEnds>) {
    let (mut loads, mut mpdu_ends) = (Loads::default(), Vec::new());
    if let Some(limits) = config.mac.block_ack.aggregation {
        let packets =
            limits.mpdus * limits.a_msdu.map_or(1, |most| (most / smallest_datagram(&config.traffic)).max(1));
        for (index, node) in (0..).zip(nodes) {
            node.mac.aggregate(loads.add(), plan.add(index, Purpose::Reordering(index)));
            node.stack.set_aggregate_limit(packets as usize);
            if config.mac.block_ack.delivery == Delivery::Mpdu {
                mpdu_ends.push(MpduEnds::new(plan.add(index, Purpose::MpduEnds(index))));
            }
        }
    }
    (loads, mpdu_ends)
}

/// Slots of the nodes that may send notices of router policies, or probes.
pub(super) fn notices(nodes: &[Node], plan: &mut SlotPlan) -> Vec<(u32, Slot)> {
    let signallers = (0..).zip(nodes).filter(|(_, node)| node.stack.has_notices());
    signallers.map(|(index, _)| (index, plan.add(index, Purpose::Notice(index)))).collect()
}

/// Connects the radios of each node.
pub(super) fn join_radios(topology: &TopologyConfig, nodes: &mut [Node], plan: &mut SlotPlan) {
    let mut joined: Vec<NodeId> =
        topology.radios.further.iter().flat_map(|(radio, node)| [*radio, *node]).collect();
    joined.sort_unstable();
    joined.dedup();
    let slots: Vec<(NodeId, Slot)> =
        joined.iter().map(|radio| (*radio, plan.add(radio.0, Purpose::TakeOver(radio.0)))).collect();
    for radio in joined {
        let shares = |other: &&(NodeId, Slot)| other.0 != radio && topology.radios.share_node(radio, other.0);
        nodes[radio.index()].stack.join_radios(slots.iter().filter(shares).copied().collect());
    }
}

/// First changes of nodes that move or are switched, with their slots.
pub(super) fn changes(
    topology: &TopologyConfig,
    listeners: &mut Listeners,
    outages: &Outages,
    plan: &mut SlotPlan,
) -> Vec<(Slot, Time)> {
    let mut changes = Vec::new();
    for index in 0..topology.nodes.len() as u32 {
        if let Some(at) = listeners.step(index, Time::ZERO) {
            changes.push((plan.add(index, Purpose::Step(index)), at));
        }
        if let Some(at) = outages.next(index) {
            changes.push((plan.add(index, Purpose::Switch(index)), at));
        }
    }
    changes
}

/// Time at which each flow starts to offer data.
pub(super) fn starts(traffic: &TrafficConfig, plan: &SlotPlan) -> Vec<(Slot, Time)> {
    let first = (plan.owners.len() - plan.further.len()) as u32;
    let starts = (first..).zip(&plan.further).filter_map(|(slot, purpose)| {
        let Purpose::App(flow) = purpose else { return None };
        Some((Slot(slot), Time::ZERO + traffic.flows[flow.index()].start))
    });
    starts.collect()
}

/// Creates the counters of a run.
pub(super) fn recorder(config: &Config, wires: usize) -> Recorder {
    let (nodes, flows) = (config.topology.nodes.len(), config.traffic.flows.len());
    let record = Recorder::new(nodes, flows, Time::ZERO + config.recording.warmup).with_wires(wires);
    let record =
        record.with_media(config).with_external(config).with_multicast(config).with_categories(config);
    if config.recording.causes { record.with_causes(Listeners::spread(config)) } else { record }
}
