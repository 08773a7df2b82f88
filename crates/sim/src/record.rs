//! Counters of a run.
//!
//! Counters are integers per node and per flow, so that the order of events at one instant changes no sum.
//! Conservation counts from the start of the run; everything else from the end of the warm-up.

mod categories;
mod causes;
mod counters;
mod mean;
mod media;
mod multicast;
mod occupancy;
mod timely;
mod wires;

use crate::config::{AppConfig, Config};
use crate::external::PacketOutcome;
use crate::medium::Frame;
use crate::outcome::Conservation;
use categories::CategoryCounters;
use causes::CauseCounters;
pub use causes::{AirborneFrame, Collision, DrainedEvents, Dropped, PacketId, PacketIngress};
pub use counters::{ControlCounters, FlowCounters, MediumUse, NodeCounters, quantiles};
use media::MediaCounters;
use multihop_core::{
    DropCause, Exchange, Fate, FlowId, FrameKind, Interval, NodeId, Packet, Port, Rate, Segment, Span, Time,
};
use multihop_dot11::AccessCategory;
use multihop_transport::Delivered;
use std::collections::VecDeque;
use wires::WireCounters;

/// Counters of a run.
#[derive(Clone, Debug)]
pub struct Recorder {
    from: Time,
    /// Counters of each flow.
    pub flows: Vec<FlowCounters>,
    /// Counters of each node.
    pub nodes: Vec<NodeCounters>,
    /// Time until the end of the warm-up in which each node could not use the medium, by row; none before
    /// that end.
    media_use_before: Option<Vec<MediumUse>>,
    /// Video and jitter counters of each flow.
    media: Vec<MediaCounters>,
    /// Counters of each direction of a wire.
    wires: Vec<WireCounters>,
    /// Counters of each node by access category; empty without access categories.
    categories: Vec<[CategoryCounters; AccessCategory::COUNT]>,
    /// Counters of lost frames.
    pub causes: CauseCounters,
    /// Conservation counters from the start of the run.
    pub conservation: Conservation,
    /// Outcomes of injected packets, until they are polled.
    pub outcomes: VecDeque<PacketOutcome>,
}

impl Recorder {
    /// Creates counters at zero that count from `from` on.
    pub fn new(nodes: usize, flows: usize, from: Time) -> Recorder {
        Recorder {
            from,
            flows: vec![FlowCounters::default(); flows],
            nodes: vec![NodeCounters::default(); nodes],
            media_use_before: None,
            media: vec![MediaCounters::default(); flows],
            wires: Vec::new(),
            categories: Vec::new(),
            causes: CauseCounters::new(nodes),
            conservation: Conservation::default(),
            outcomes: VecDeque::new(),
        }
    }

    /// Adds the counters of flows whose packets are injected.
    #[must_use]
    pub fn with_external(mut self, config: &Config) -> Recorder {
        for (counters, flow) in self.flows.iter_mut().zip(&config.traffic.flows) {
            counters.external = flow.app == AppConfig::External;
        }
        self
    }

    /// Whether this instant is after the warm-up.
    pub fn counts(&self, now: Time) -> bool {
        now > self.from || self.from == Time::ZERO
    }

    /// Counts a packet that a transport sent.
    pub fn sent(&mut self, packet: &Packet, now: Time) {
        if packet.is_multicast() {
            return self.sent_to_all(packet, now);
        }
        self.sent_to_one(packet, now);
    }

    /// Counts a packet that a transport sent to one receiver.
    #[expect(clippy::inline_always, reason = "called once for each packet; its other caller is rare")]
    #[inline(always)]
    fn sent_to_one(&mut self, packet: &Packet, now: Time) {
        self.conservation.sent += 1;
        self.packet_arrived(packet, packet.source, packet.source, now);
        if packet.port == Port::Receiver && packet.carries_data() {
            let counts = self.counts(now);
            let payload = u64::from(packet.segment.payload);
            let flow = &mut self.flows[packet.flow.index()];
            flow.sent_bytes_ever += payload;
            flow.timely.sent(&packet.segment, now);
            if counts {
                flow.packets_sent += 1;
                flow.sent_bytes += payload;
            }
        }
    }

    /// Records the arrival of a packet at a node without a frame: from the node's own endpoint, over a wire,
    /// or from another radio of the node.
    #[inline]
    pub fn packet_arrived(&mut self, packet: &Packet, from: NodeId, node: NodeId, now: Time) {
        if let Some(came) = &mut self.causes.came
            && !packet.is_control()
        {
            came.push(PacketIngress { at: now, node, from, packet: packet.into() });
        }
    }

    /// Time at which a flow's receiving application last got data.
    pub fn last_delivery(&self, flow: FlowId) -> Time {
        self.flows[flow.index()].last_delivery
    }

    /// Counts a packet that reached the other end, and the bytes that its endpoint delivered to the
    /// application. `payload_air` is the time that the payload was on the air, once on each hop; bytes that
    /// had waited for this packet count with the same time.
    pub fn delivered(&mut self, packet: &Packet, got: Delivered, payload_air: Span, now: Time) {
        self.conservation.delivered += 1;
        let counts = self.counts(now);
        let bytes = got.bytes;
        let flow = &mut self.flows[packet.flow.index()];
        if flow.external {
            let Packet { number, segment: Segment { ecn, feedback: congestion, .. }, hops, .. } = *packet;
            self.outcomes.push_back(PacketOutcome::Delivered { number, at: now, ecn, congestion, hops });
        }
        flow.delivered_bytes_ever += bytes;
        if bytes > 0 {
            flow.last_delivery = now;
        }
        let timely = if packet.port == Port::Receiver && packet.carries_data() {
            flow.timely.delivered(&packet.segment, packet.created, got, now)
        } else {
            0
        };
        if counts && packet.port == Port::Receiver {
            flow.delivered_bytes += bytes;
            flow.timely_bytes += timely;
            if packet.carries_data() {
                flow.payload_air += payload_air.ns() * bytes / u64::from(packet.segment.payload);
                flow.packets_delivered += 1;
                flow.marked += u64::from(packet.segment.ecn == multihop_core::Ecn::CongestionExperienced);
                flow.delays.push(packet.age(now).ns());
            }
        }
    }

    /// Records an injected frame that reached a node.
    pub fn heard(&mut self, node: NodeId, packet: &Packet, now: Time) {
        self.outcomes.push_back(PacketOutcome::Heard { number: packet.number, at: now, node });
    }

    /// Counts a packet of no flow that a node handed to the interface queue.
    pub fn control_sent(&mut self, node: NodeId, packet: &Packet, now: Time) {
        if self.counts(now) {
            let counters = self.control(node, packet);
            counters.sent += 1;
            counters.bytes += u64::from(packet.size);
        }
    }

    fn control(&mut self, node: NodeId, packet: &Packet) -> &mut ControlCounters {
        let counters = &mut self.nodes[node.index()];
        if packet.is_routing() { &mut counters.routing } else { &mut counters.signalling }
    }

    /// Counts a packet lost at a node. Packets of no flow have separate counters.
    pub fn dropped(&mut self, node: NodeId, packet: &Packet, cause: DropCause, now: Time) {
        if packet.is_control() {
            let counts = self.counts(now);
            self.control(node, packet).dropped += u64::from(counts);
            if packet.is_outside() {
                self.outcomes.push_back(PacketOutcome::Lost { number: packet.number, at: now, node, cause });
            }
            return;
        }
        if packet.is_multicast() {
            return self.dropped_for_all(node, packet, cause, now);
        }
        self.conservation.dropped[cause as usize] += 1;
        if let Some(lost) = &mut self.causes.dropped {
            lost.push(Dropped { at: now, node, packet: packet.into(), cause });
        }
        if self.flows[packet.flow.index()].external {
            self.outcomes.push_back(PacketOutcome::Lost { number: packet.number, at: now, node, cause });
        }
        if self.counts(now) {
            self.nodes[node.index()].dropped[cause as usize] += 1;
            self.dropped_of_category(node, packet, cause);
            let flow = &mut self.flows[packet.flow.index()];
            let feedback = !(packet.port == Port::Receiver && packet.carries_data());
            if self.causes.are_kept() {
                flow.causes.dropped(node, feedback, cause);
            }
            if feedback {
                flow.feedback_dropped += 1;
            } else {
                flow.dropped[cause as usize] += 1;
            }
        }
    }

    /// Counts a frame exchange that ended.
    pub fn exchange(&mut self, exchange: &Exchange, now: Time) {
        if exchange.fate == Fate::Broadcast {
            return;
        }
        let counts = self.counts(now);
        let efficiency = exchange.transmission_efficiency();
        let service = exchange.service_delay().seconds();
        if exchange.payload > 0 {
            let flow = &mut self.flows[exchange.flow.index()];
            if let Some(efficiency) = efficiency {
                flow.step_efficiency.add(efficiency);
            }
            if counts {
                flow.frames.add(efficiency, service);
                flow.count(exchange);
            }
        }
        if !counts {
            return;
        }
        if self.causes.are_kept()
            && let Some(flow) = self.flows.get_mut(exchange.flow.index())
        {
            flow.causes.exchange(exchange);
        }
        let node = &mut self.nodes[exchange.node.index()];
        node.frames.add(efficiency, service);
        let link = node.link(exchange.node, exchange.peer);
        link.rts += u64::from(exchange.rts_tries);
        link.data += u64::from(exchange.data_tries);
        match exchange.fate {
            Fate::Acknowledged => link.acknowledged += 1,
            Fate::GivenUp => link.given_up += 1,
            Fate::Broadcast => {}
        }
    }

    /// Counts the waiting time of a packet in a node's hardware queue.
    pub fn left_hardware(&mut self, node: NodeId, waited: Span, now: Time) {
        if self.counts(now) {
            self.nodes[node.index()].hardware.add(waited.seconds());
        }
    }

    /// Counts the medium time of a node's exchange with a neighbour, with its PPDUs of DATA, each with a
    /// number of MPDUs at a rate.
    pub fn used(
        &mut self,
        [from, to]: [NodeId; 2],
        air: Span,
        [ppdus, mpdus]: [u32; 2],
        rate: Rate,
        now: Time,
    ) {
        if !self.counts(now) {
            return;
        }
        let link = self.nodes[from.index()].link(from, to);
        let carried = u64::from(ppdus * mpdus);
        link.air += air;
        link.ppdus += u64::from(ppdus);
        link.mpdus += carried;
        link.rates_bps += carried as f64 * rate.bps() as f64;
    }

    /// Counts a node's own frame that ended, with its interval on the air and its packet.
    pub fn transmitted(
        &mut self,
        node: NodeId,
        frame: &Frame,
        air: Interval,
        packet: Option<&Packet>,
        now: Time,
    ) {
        let counted = self.after_warmup(air, now);
        self.nodes[node.index()].transmitting += counted;
        if let Some(packet) = packet.filter(|packet| packet.is_control()) {
            self.control(node, packet).airtime += counted;
            if packet.is_outside() && frame.to.is_none() {
                self.outcomes.push_back(PacketOutcome::Sent { number: packet.number, at: now });
            }
        }
    }

    /// Counts a frame that a node decoded and that was addressed to it.
    pub fn received(&mut self, node: NodeId, frame: &Frame, now: Time) {
        let counted = self.after_warmup(frame.air, now);
        if frame.kind != FrameKind::Data || frame.to.is_some() {
            self.nodes[node.index()].receiving += counted;
        }
    }

    /// Marks the end of the warm-up; `media_use` is the time in which each node could not use the medium
    /// until now, by row.
    pub fn warm_up_ends(&mut self, media_use: Vec<MediumUse>) {
        self.media_use_before = Some(media_use);
    }

    /// Time after the warm-up in which the node in this row could not use the medium, given the time from the
    /// start of the run.
    pub fn media_use_measured(&self, row: usize, until_now: MediumUse) -> MediumUse {
        let before = self.media_use_before.as_ref();
        before.map_or(MediumUse::default(), |before| until_now.since(before[row]))
    }

    /// Records the length of a node's interface queue from now on.
    pub fn queue(&mut self, node: NodeId, length: usize, now: Time) {
        let counts = self.counts(now);
        self.nodes[node.index()].queue.set(length, self.from, now, counts);
    }

    /// Mean length of a node's interface queue.
    pub fn queue_mean(&mut self, node: NodeId, end: Time) -> f64 {
        self.nodes[node.index()].queue.mean(self.from, end)
    }

    #[inline]
    fn after_warmup(&self, period: Interval, now: Time) -> Span {
        now.min(period.end).since(period.start.max(self.from))
    }
}

#[cfg(test)]
mod tests {
    use super::mean::Mean;
    use super::*;
    use crate::outcome::Quantiles;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut delays: Vec<u64> = (1..=100).rev().map(|ms| ms * 1_000_000).collect();
        let q = quantiles(&mut delays);
        let expected = [0.0505, 0.05, 0.09, 0.095, 0.099, 0.1];
        for (got, want) in [q.mean, q.p50, q.p90, q.p95, q.p99, q.max].into_iter().zip(expected) {
            assert!((got - want).abs() < 1e-12, "{q:?}");
        }
        assert_eq!(quantiles(&mut []), Quantiles::default());
    }

    /// Frame of `payload` bytes of flow 0 from `node`, whose service ended at `done_ms`.
    fn frame(node: u32, payload: u32, service_ms: u64, done_ms: u64, rts: [u32; 2], fate: Fate) -> Exchange {
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        Exchange {
            node: NodeId(node),
            peer: NodeId(node + 1),
            flow: FlowId(0),
            size: payload + 40,
            rate: Rate::from_kbps(1_000),
            payload,
            enqueued: at(done_ms - service_ms),
            head_of_line: at(done_ms - service_ms),
            done: at(done_ms),
            fate,
            rts_tries: rts[0],
            rts_failures: rts[1],
            data_tries: rts[0] - rts[1],
            slots: 0,
            airtime: Span::from_ms(9),
            mpdus: 1,
        }
    }

    /// Counting begins at 100 ms. Station 0 sends two data frames, one given up; station 1 one data frame and
    /// one acknowledgement.
    #[test]
    fn a_flow_counts_the_frames_of_its_data_at_every_hop() {
        let mut counters = Recorder::new(3, 1, Time::from_ns(100_000_000));
        let frames = [
            frame(0, 1000, 10, 90, [1, 0], Fate::Acknowledged),
            frame(0, 1000, 12, 120, [2, 1], Fate::Acknowledged),
            frame(0, 1000, 60, 180, [7, 7], Fate::GivenUp),
            frame(1, 1000, 18, 200, [1, 0], Fate::Acknowledged),
            frame(1, 0, 90, 300, [5, 4], Fate::Acknowledged),
        ];
        for frame in &frames {
            counters.exchange(frame, frame.done);
        }
        let close = |mean: Mean, expected: f64| (mean.get().unwrap() - expected).abs() < 1e-9;
        let flow = &counters.flows[0];
        assert!(close(flow.frames.efficiency, 0.625), "{flow:?}");
        assert!(close(flow.frames.service_delay, 0.015), "{flow:?}");
        assert!(close(flow.rts_failures, (1.0 + 7.0 + 0.0) / 3.0), "{flow:?}");
        assert_eq!(flow.rts_unanswered, [1, 1, 0, 0, 0, 0, 0, 1]);
        assert!(
            close(flow.step_efficiency, (0.9 + 0.75 + 0.5) / 3.0),
            "the warm-up is in the series: {flow:?}"
        );
        let busy = |station: NodeId| if station == NodeId(0) { 0.9 } else { 0.6 };
        assert!((flow.mean_over_frames(busy).unwrap() - 0.8).abs() < 1e-12);
        assert!(close(counters.nodes[1].frames.efficiency, 0.3), "nodes count all frames");
        assert_eq!(FlowCounters::default().mean_over_frames(busy), None);
    }

    #[test]
    fn frames_without_rts_have_no_mean_of_rts() {
        let mut counters = Recorder::new(2, 1, Time::ZERO);
        let basic = Exchange { data_tries: 1, ..frame(0, 1000, 10, 20, [0, 0], Fate::Acknowledged) };
        counters.exchange(&basic, basic.done);
        assert_eq!(counters.flows[0].rts_failures.get(), None);
        assert!(counters.flows[0].frames.service_delay.get().is_some());
    }

    /// The warm-up ends at 10 s, 2 s after the medium turned busy, and 6 s after the NAV was set for 4 s.
    #[test]
    fn what_the_medium_was_used_before_the_warm_up_ended_is_not_measured() {
        let used = |[busy, nav_only]: [u64; 2]| {
            let [busy, nav_only] = [busy, nav_only].map(|s| Span::from_ms(1_000 * s));
            MediumUse { busy, nav_only }
        };
        let mut counters = Recorder::new(1, 0, Time::from_ns(10_000_000_000));
        assert_eq!(counters.media_use_measured(0, used([4, 0])).busy, Span::ZERO, "nothing is measured yet");
        counters.warm_up_ends(vec![used([4 + 2, 4])]);
        let measured = counters.media_use_measured(0, used([4 + 5, 4]));
        assert_eq!((measured.busy, measured.nav_only), (Span::from_ms(3_000), Span::ZERO));
        assert_eq!(counters.media_use_measured(0, used([4 + 5, 5])).nav_only, Span::from_ms(1_000));
    }

    #[test]
    fn the_queue_mean_is_over_time_after_the_warm_up() {
        let at = |s: u64| Time::from_ns(s * 1_000_000_000);
        let mut counters = Recorder::new(1, 0, at(10));
        counters.queue(NodeId(0), 4, at(5));
        counters.queue(NodeId(0), 2, at(15));
        assert_eq!(counters.queue_mean(NodeId(0), at(20)), 3.0);
        assert_eq!(
            counters.nodes[0].queue.max, 4,
            "it was that long after the warm-up, though not for the first time"
        );
    }
}
