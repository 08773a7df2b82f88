//! World: owns all parts of a run, pops events, and passes each to its node.
//!
//! Only the medium reaches other nodes, and only in `air` and in `wires`.

mod air;
mod build;
mod frames;
mod lookahead;
mod losses;
mod mpdus;
mod outcomes;
mod purpose;
mod samples;
mod stepping;
mod wires;

use crate::agenda::{Agenda, Lane, Slot};
use crate::config::Config;
use crate::logs::{AirLog, FrameLog, LogError, Logs};
use crate::mac::Timing;
use crate::measure::Measurements;
use crate::medium::{Listeners, Loads, NodeOrder, Wavefront};
use crate::node::{Node, at_node, settle};
use crate::outages::{Outages, TransmittedPart};
use crate::outcome::{NodeOutcome, Outcome, delay_rows};
use crate::record::Recorder;
use crate::routing::{LinkQuality, Routes};
use crate::slab::Slab;
use crate::stack::{End, Network, Stack, StackContext};
use build::SlotPlan;
use mpdus::MpduEnds;
use multihop_core::{FlowId, NodeId, Packet, Port, Time};
use multihop_transport::Progress;
use purpose::{Purpose, Purposes};
use samples::Samples;
use wires::Wired;

/// Order of simultaneous events of different owners; results must not depend on it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Ties {
    /// Order of slots.
    #[default]
    InOrder,
    /// Reverse order of owners.
    Reversed,
}

/// Simulation run: nodes, medium, agenda and counters.
pub struct World {
    agenda: Agenda,
    purposes: Purposes,
    timing: Timing,
    listeners: Listeners,
    /// Wavefront of each transmitter; none unless delays depend on distance.
    wavefronts: Option<Vec<Wavefront>>,
    outages: Outages,
    order: NodeOrder,
    /// Nodes, by row.
    nodes: Vec<Node>,
    wires: Vec<Wired>,
    packets: Slab,
    loads: Loads,
    /// Ends of MPDUs, by row; empty unless MPDUs are passed on one by one.
    mpdu_ends: Vec<MpduEnds>,
    record: Recorder,
    network: Network,
    config: Config,
    now: Time,
    events: u64,
    fingerprint: u64,
    samples: Samples,
    measurements: Measurements,
    air_log: Option<Box<AirLog>>,
    frame_log: Option<Box<FrameLog>>,
    /// Number of packets injected so far.
    injected: u64,
}

/// Runs a configuration to its end.
///
/// # Panics
/// If the run violates an invariant of the engine, above all the conservation of packets.
pub fn run(config: &Config) -> Outcome {
    World::new(config, Ties::InOrder).finish()
}

/// Runs a configuration to its end; `watch` is called occasionally with the virtual time reached.
///
/// # Panics
/// As [`run`].
pub fn run_watched(config: &Config, watch: impl FnMut(Time)) -> Outcome {
    World::new(config, Ties::InOrder).finish_watched(watch)
}

/// Runs a configuration to its end and writes logs, which do not change the run.
///
/// # Errors
/// If a log cannot be written; the run ends soon after that.
///
/// # Panics
/// As [`run`].
pub fn run_logged(
    config: &Config,
    logs: impl Into<Logs>,
    watch: impl FnMut(Time),
) -> Result<Outcome, LogError> {
    World::new(config, Ties::InOrder).finish_logged(logs, watch)
}

impl World {
    /// Creates a run that has not begun.
    pub fn new(config: &Config, ties: Ties) -> World {
        World::in_order(config, ties, NodeOrder::new(&config.topology))
    }

    /// Creates a run with this order of nodes in memory.
    fn in_order(config: &Config, ties: Ties, order: NodeOrder) -> World {
        let Config { topology, traffic, recording, .. } = config;
        let quality = LinkQuality::new(config);
        let routes = Routes::new(config, &quality);
        let (links, timing) = quality.into_parts();
        let mut plan = SlotPlan::new(topology.nodes.len() as u32);
        let mut nodes = build::nodes(config, &timing, &mut plan);
        let agents = build::routing_agents(config, &mut plan);
        let measurements = Measurements::new(recording, &timing, &mut nodes.0);
        let notices = build::notices(&nodes.0, &mut plan);
        let (loads, mpdu_ends) = build::aggregation(config, &mut nodes.0, &mut plan);
        build::join_radios(topology, &mut nodes.0, &mut plan);
        let wires = wires::build(config, &mut nodes.0, &mut plan);
        let samples = Samples::new(config, &mut plan);
        let warmup = plan.add(u32::MAX, Purpose::WarmUpEnds);
        let mut listeners = Listeners::new(config, links, &order);
        let outages = Outages::new(&config.mobility.outages, topology.nodes.len());
        let changes = build::changes(topology, &mut listeners, &outages, &mut plan);
        let mut agenda = match ties {
            Ties::InOrder => Agenda::new(plan.owners.len()),
            Ties::Reversed => Agenda::with_reversed_ties(&plan.owners),
        };
        for (node, (agent, timer)) in nodes.0.iter_mut().zip(agents) {
            node.stack.route_by(agent, timer, &mut agenda);
        }
        for (index, slot) in notices {
            nodes.0[index as usize].stack.notify_by(slot, &mut agenda);
        }
        agenda.arm(warmup, Time::ZERO + recording.warmup, Lane::Record);
        agenda.arm(Slot(samples.slot), Time::ZERO + samples.every, Lane::Record);
        for (slot, at) in changes.into_iter().chain(build::starts(traffic, &plan)) {
            agenda.arm(slot, at, Lane::Upper);
        }
        let (mut nodes, flows) = (order.arranged(nodes.0), nodes.1);
        let mpdu_ends = order.arranged(mpdu_ends);
        for node in &mut nodes {
            node.mac.join(&node.stack);
        }
        World {
            agenda,
            purposes: Purposes::new(nodes.len(), plan.further, &order),
            wavefronts: listeners.wavefronts(config),
            listeners,
            outages,
            order,
            nodes,
            record: build::recorder(config, wires.len()),
            wires,
            packets: Slab::default(),
            loads,
            mpdu_ends,
            network: Network {
                routes,
                flows,
                extra_header: config.network.extra_header,
                link_layer_delay: timing.rules.link_layer_delay,
                hop_limit: config.routing.hop_limit(topology.nodes.len()),
            },
            timing,
            config: config.clone(),
            now: Time::ZERO,
            events: 0,
            fingerprint: 0,
            samples,
            measurements,
            air_log: None,
            frame_log: None,
            injected: 0,
        }
    }

    /// Runs to the end and closes the counters.
    ///
    /// # Panics
    /// If packets are not conserved.
    pub fn finish(self) -> Outcome {
        self.finish_watched(|_| ())
    }

    /// Runs to the end; `watch` is called occasionally with the virtual time reached.
    ///
    /// # Panics
    /// If packets are not conserved.
    pub fn finish_watched(mut self, mut watch: impl FnMut(Time)) -> Outcome {
        self.advance_while(self.end(), |now| {
            watch(now);
            true
        });
        self.count()
    }

    /// Runs to the end and writes logs.
    ///
    /// # Errors
    /// If a log cannot be written.
    ///
    /// # Panics
    /// If packets are not conserved.
    pub fn finish_logged(
        mut self,
        logs: impl Into<Logs>,
        mut watch: impl FnMut(Time),
    ) -> Result<Outcome, LogError> {
        self.log_to(logs);
        self.advance_while(self.end(), |now| {
            watch(now);
            true
        });
        self.close()
    }

    /// Processes events up to this instant or the end of the run, as long as `look` returns true; `look` is
    /// called occasionally. benches/budget.py finds this function by its name.
    #[inline(never)]
    fn process(&mut self, until: Time, look: &mut dyn FnMut(&World) -> bool) {
        const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;
        let end = until.min(self.end());
        while let Some((time, slot)) = self.agenda.pop_until(end) {
            debug_assert!(time >= self.now, "time runs forwards");
            self.now = time;
            self.events += 1;
            self.fingerprint = self.fingerprint.wrapping_add(mix(time.ns(), slot.0));
            self.handle(slot);
            if self.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) && !look(self) {
                return;
            }
        }
        self.now = self.now.max(end);
    }

    #[expect(clippy::inline_always, reason = "a call for each event is 2 % of a chain")]
    #[inline(always)]
    fn handle(&mut self, slot: Slot) {
        match self.purposes.of(slot, &self.order) {
            Purpose::MacTimer(row) => at_node!(self, row, self.now, |mac, ctx| {
                let alone = mac.answers_by_itself();
                mac.on_timer(ctx);
                if !alone {
                    settle(mac, ctx, &self.network);
                }
            }),
            Purpose::Reordering(row) => at_node!(self, row, self.now, |mac, ctx| {
                mac.on_reordering_due(ctx);
                settle(mac, ctx, &self.network);
            }),
            Purpose::MpduEnds(row) => self.mpdu_ends(row),
            Purpose::AirStart(row) => self.air_starts(slot, row),
            Purpose::AirEnd(row) => self.air_ends(slot, row),
            Purpose::LinkLayer(row) => self.above(row, Stack::on_link_layer),
            Purpose::Notice(row) => self.above(row, Stack::on_notice_due),
            Purpose::Routing(row) => self.above(row, |stack, around| stack.on_routing_timer(around.now)),
            Purpose::Deadline(flow, port) => {
                self.at_end(flow, port, |stack, around, end| stack.on_deadline(around.now, end));
            }
            Purpose::App(flow) => self.at_end(flow, Port::Sender, Stack::on_app),
            Purpose::WireSent(wire) => self.wire_sent(wire),
            Purpose::WireArrives(wire) => self.wire_arrives(wire),
            Purpose::TakeOver(id) => self.take_over(id),
            Purpose::Sample => self.sample(),
            Purpose::WarmUpEnds => self.warm_up_ends(),
            Purpose::Step(id) => {
                if let Some(next) = self.listeners.step(id, self.now) {
                    self.agenda.arm(slot, next, Lane::Upper);
                }
            }
            Purpose::Switch(id) => self.switch(slot, id),
        }
    }

    /// Calls a handler above the MAC of the node in this row.
    fn above(&mut self, row: u32, what: impl FnOnce(&mut Stack, &mut StackContext)) {
        at_node!(self, row, self.now, |mac, ctx| {
            let mut around = StackContext {
                now: ctx.now,
                agenda: ctx.agenda,
                network: &self.network,
                packets: ctx.packets,
                record: ctx.record,
            };
            what(ctx.stack, &mut around);
            settle(mac, ctx, &self.network);
        });
    }

    /// Calls a handler at an endpoint of a flow.
    fn at_end(&mut self, flow: FlowId, port: Port, what: impl FnOnce(&mut Stack, &mut StackContext, u32)) {
        let of = &self.config.traffic.flows[flow.index()];
        let node = if port == Port::Sender { of.source } else { of.destination };
        let end = self.network.flows[flow.index()].ends[port as usize];
        self.above(self.order.of(node) as u32, |stack, around| what(stack, around, end));
    }

    /// Lets a radio take the packets that other radios of its node have for it, in the order of radios.
    fn take_over(&mut self, id: u32) {
        let row = self.order.of(NodeId(id));
        let mut index = 0;
        while let Some(other) = self.nodes[row].stack.other_radio(index) {
            let place = self.order.of(other);
            while let Some(handle) = self.nodes[place].stack.poll_handed(NodeId(id)) {
                self.record.packet_arrived(&self.packets.get(handle).packet, other, NodeId(id), self.now);
                self.above(row as u32, |stack, around| stack.take_over(around, handle));
            }
            index += 1;
        }
    }

    /// Switches a node off or on.
    fn switch(&mut self, slot: Slot, id: u32) {
        let off = self.outages.switch(id);
        let row = self.order.of(NodeId(id));
        if off && self.nodes[row].radio.is_sending(self.now) {
            self.outages.set_part(id, TransmittedPart::Cut);
        }
        at_node!(self, row, self.now, |mac, ctx| {
            if off {
                let was_quiet = ctx.radio.is_quiet(ctx.now);
                ctx.radio.switch_off();
                if was_quiet {
                    mac.on_busy(ctx);
                }
                mac.on_switched_off(ctx);
            } else {
                ctx.radio.switch_on(self.now);
                if !ctx.radio.is_busy() {
                    mac.on_idle(ctx);
                }
            }
            settle(mac, ctx, &self.network);
        });
        self.above(row as u32, if off { Stack::switch_off } else { Stack::switch_on });
        if let Some(next) = self.outages.next(id) {
            self.agenda.arm(slot, next, Lane::Upper);
        }
    }

    /// Ends the warm-up: counters start.
    fn warm_up_ends(&mut self) {
        self.samples.baseline = self.progress();
        let until_now = self.nodes.iter().map(|node| node.mac.medium_use(&node.radio, self.now));
        self.record.warm_up_ends(until_now.collect());
    }

    fn progress(&self) -> Vec<Progress> {
        self.senders().map(|end| end.endpoint().progress()).collect()
    }

    /// Endpoints that send, in the order of flows.
    fn senders(&self) -> impl Iterator<Item = &End> {
        self.config
            .traffic
            .flows
            .iter()
            .zip(&self.network.flows)
            .map(|(flow, route)| self.node(flow.source).stack.end(route.ends[Port::Sender as usize]))
    }

    /// Node with this number.
    fn node(&self, number: NodeId) -> &Node {
        &self.nodes[self.order.of(number)]
    }

    /// Computes the results up to now. Counters are closed; time series are in the result only.
    fn count(&mut self) -> Outcome {
        let receivers = |packet: &Packet| {
            if packet.is_multicast() { self.record.lacking(packet) } else { 1 }
        };
        self.record.conservation.queued = self.packets.under_way().map(receivers).sum();
        let counters = self.record.conservation;
        let accounted = counters.delivered + counters.dropped.iter().sum::<u64>() + counters.queued;
        assert_eq!(counters.sent, accounted, "packets are not conserved: {counters:?}");
        let stuck = self.nodes.iter().position(|node| node.mac.is_stuck(&self.agenda));
        assert_eq!(stuck, None, "a station has a packet, an idle medium, and nothing that it waits for");
        let measured = self.now.since(Time::ZERO + self.config.recording.warmup);
        let progress = self.progress();
        let nodes: Vec<NodeOutcome> =
            (0..self.config.topology.nodes.len()).map(|index| self.node_outcome(index, measured)).collect();
        let flows = (0..self.config.traffic.flows.len())
            .map(|index| self.flow_outcome(index, &progress[index], &nodes, measured))
            .collect();
        // The delays are sorted by now.
        let delays =
            (0..).zip(&self.record.flows).flat_map(|(flow, counters)| delay_rows(flow, &counters.delays));
        let delays = delays.collect();
        let wires = self.wire_outcomes();
        let links = self.record.nodes.iter().flat_map(crate::record::NodeCounters::links).collect();
        Outcome {
            seed: self.config.seed,
            measured_s: measured.seconds(),
            events: self.events,
            fingerprint: self.fingerprint,
            flows,
            nodes,
            links,
            wires,
            categories: self.record.category_outcomes(measured),
            series: std::mem::take(&mut self.samples.series),
            delays,
            measurements: self.measurements.take_rows(),
            causes: self.record.causes_outcome(measured),
            conservation: counters,
        }
    }
}

/// Commutative contribution of an event to the run's fingerprint.
fn mix(time: u64, slot: u32) -> u64 {
    let z = (time ^ u64::from(slot).rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AppConfig, FlowConfig, MediumModel, NodeConfig, PathLoss, SchemeConfig};
    use crate::mac::tests::script;
    use multihop_core::{Dscp, Span};
    use multihop_dot11::DcfRules;
    use serde_json::json;

    /// Slots follow node numbers, and nodes lie in rows.
    #[test]
    fn where_nodes_lie_changes_nothing() {
        let mut config = script::config(DcfRules::IEEE, None);
        config.duration = Span::from_ms(500);
        let path_loss =
            PathLoss::LogDistance { exponent: 3.0, reference_loss_db: 40.0, reference_distance: 1.0 };
        let (receive_range, carrier_sense_range) = (250.0, 550.0);
        config.medium.model =
            MediumModel::Ranges { receive_range, carrier_sense_range, capture_ratio: None, path_loss };
        let node = |x: f64| NodeConfig { position: Some([x, 0.0]), ..config.topology.nodes[0].clone() };
        config.topology.nodes = [800.0, 0.0, 400.0, 600.0, 200.0].map(node).into();
        let scheme = multihop_schemes::find("udp").unwrap().build(&json!({})).unwrap();
        config.traffic.schemes = vec![SchemeConfig { name: "udp".into(), scheme }];
        config.traffic.flows = vec![FlowConfig {
            dscp: Dscp::default(),
            name: "along".into(),
            source: NodeId(1),
            destination: NodeId(0),
            group: None,
            scheme: 0,
            app: AppConfig::Saturated,
            start: Span::ZERO,
            stop: None,
        }];
        let order = NodeOrder::along_a_curve(&config.topology.nodes);
        assert!((0..5).any(|node| order.of(NodeId(node)) != node as usize));
        let by_number = World::in_order(&config, Ties::InOrder, NodeOrder::default()).finish();
        assert!(by_number.flows[0].delivered_bytes > 0);
        for ties in [Ties::InOrder, Ties::Reversed] {
            assert_eq!(World::in_order(&config, ties, order.clone()).finish(), by_number);
        }
    }
}
