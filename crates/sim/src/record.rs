//! The run's books: what is counted while it runs.
//!
//! Everything is added up per node and per flow in integers, so that the order of events at one instant changes no sum.
//! Conservation is counted from the start of the run; everything else from the end of the warm-up.

mod categories;
mod causes;
pub mod framelog;
mod mean;
mod media;
mod occupancy;
mod selection;
mod timely;
mod wires;

use crate::config::{AppConfig, Config};
use crate::external::PacketOutcome;
use crate::medium::Frame;
use crate::outcome::{Conservation, LinkOutcome, Quantiles, RTS_COUNTS};
use categories::CategoryBook;
use causes::{CauseBook, FlowCauses};
pub use causes::{Collision, Dropped, Flown};
pub use mean::Mean;
use media::MediaBook;
use multihop_core::{
    DropCause, Exchange, Fate, FrameKind, Interval, NodeId, Packet, Port, Rate, Segment, Span, Time,
};
use multihop_dot11::AccessCategory;
use multihop_transport::Delivered;
use occupancy::Occupancy;
pub(crate) use selection::FlowFilter;
use std::collections::VecDeque;
use timely::Timely;
use wires::WireBook;

/// The run's books.
#[derive(Clone, Debug)]
pub struct Recorder {
    from: Time,
    /// One per flow.
    pub flows: Vec<FlowBook>,
    /// One per node.
    pub nodes: Vec<NodeBook>,
    /// One per node, by row: every frame changes those of all who hear it.
    pub media_use: Vec<MediumUse>,
    /// One per flow.
    media: Vec<MediaBook>,
    /// One per direction of a wire.
    wires: Vec<WireBook>,
    /// Of each node by access category; empty without such.
    categories: Vec<[CategoryBook; AccessCategory::COUNT]>,
    /// Frames lost.
    pub causes: CauseBook,
    /// Since the start of the run.
    pub conservation: Conservation,
    /// Of packets from outside, until somebody asks for them.
    pub outcomes: VecDeque<PacketOutcome>,
}

/// A flow's books.
#[derive(Clone, Debug, Default)]
pub struct FlowBook {
    /// Its packets come from outside.
    pub external: bool,
    pub delivered_bytes: u64,
    /// Those of them that came in time.
    pub timely_bytes: u64,
    timely: Timely,
    /// How long they were on the air, once on each hop, in nanoseconds.
    pub payload_air: u64,
    /// Since the start of the run, for the time series.
    pub delivered_bytes_ever: u64,
    /// Payload that its transport emitted.
    pub sent_bytes: u64,
    /// The same since the start of the run, for the time series.
    pub sent_bytes_ever: u64,
    pub packets_sent: u64,
    pub packets_delivered: u64,
    pub dropped: [u64; DropCause::ALL.len()],
    pub feedback_dropped: u64,
    pub marked: u64,
    pub delays: Vec<u64>,
    pub frames: FrameBook,
    /// RTS without CTS, of its DATA frames that used RTS.
    pub rts_failures: Mean,
    /// How many of these frames had none, one, and so on; the last one as many or more.
    pub rts_unanswered: [u64; RTS_COUNTS],
    /// Transmission efficiency since the last row of the time series.
    pub step_efficiency: Mean,
    /// Stations that sent its DATA frames, in the order of their first, and how many each.
    stations: Vec<(NodeId, u64)>,
    causes: FlowCauses,
}

/// Unicast DATA frames that were acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameBook {
    pub efficiency: Mean,
    /// In seconds.
    pub service_delay: Mean,
}

/// A node's books.
#[derive(Clone, Debug, Default)]
pub struct NodeBook {
    pub transmitting: Span,
    pub receiving: Span,
    pub dropped: [u64; DropCause::ALL.len()],
    pub frames: FrameBook,
    pub queue: Occupancy,
    /// In the hardware's queue, in seconds.
    pub hardware: Mean,
    pub routing: ControlBook,
    pub signalling: ControlBook,
    /// By next hop, in the order of their first use.
    links: Vec<LinkOutcome>,
}

/// How long a node could not use the medium.
#[derive(Clone, Copy, Debug, Default)]
pub struct MediumUse {
    pub busy: Span,
    pub nav_only: Span,
    /// Since the start of the run, for the measurements: physically busy, or with the NAV set.
    pub unusable: Span,
}

/// What a node sent that belongs to no flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlBook {
    pub sent: u64,
    pub bytes: u64,
    pub dropped: u64,
    pub airtime: Span,
}

impl Recorder {
    /// Empty books, which open at `from`.
    pub fn new(nodes: usize, flows: usize, from: Time) -> Recorder {
        Recorder {
            from,
            flows: vec![FlowBook::default(); flows],
            nodes: vec![NodeBook::default(); nodes],
            media_use: vec![MediumUse::default(); nodes],
            media: vec![MediaBook::default(); flows],
            wires: Vec::new(),
            categories: Vec::new(),
            causes: CauseBook::new(nodes),
            conservation: Conservation::default(),
            outcomes: VecDeque::new(),
        }
    }

    /// The same, which keep what becomes of packets from outside.
    #[must_use]
    pub fn with_external(mut self, config: &Config) -> Recorder {
        for (book, flow) in self.flows.iter_mut().zip(&config.flows) {
            book.external = flow.app == AppConfig::External;
        }
        self
    }

    /// Is this instant after the warm-up?
    pub fn counts(&self, now: Time) -> bool {
        now > self.from || self.from == Time::ZERO
    }

    /// A transport emitted a packet.
    pub fn sent(&mut self, packet: &Packet, now: Time) {
        self.conservation.sent += 1;
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

    /// A packet reached the other end, which passed this on to its application. Its payload was on the air for `payload_air`, once
    /// on each hop; bytes that had come before, and waited for it, are taken to have come the same way.
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

    /// A frame from outside reached a node.
    pub fn heard(&mut self, node: NodeId, packet: &Packet, now: Time) {
        self.outcomes.push_back(PacketOutcome::Heard { number: packet.number, at: now, node });
    }

    /// A node handed a packet that belongs to no flow to the interface queue.
    pub fn control_sent(&mut self, node: NodeId, packet: &Packet, now: Time) {
        if self.counts(now) {
            let book = self.control(node, packet);
            book.sent += 1;
            book.bytes += u64::from(packet.size);
        }
    }

    fn control(&mut self, node: NodeId, packet: &Packet) -> &mut ControlBook {
        let book = &mut self.nodes[node.index()];
        if packet.is_routing() { &mut book.routing } else { &mut book.signalling }
    }

    /// A packet was lost at a node. Packets that belong to no flow have books of their own.
    pub fn dropped(&mut self, node: NodeId, packet: &Packet, cause: DropCause, now: Time) {
        if packet.is_control() {
            let counts = self.counts(now);
            self.control(node, packet).dropped += u64::from(counts);
            if packet.is_outside() {
                self.outcomes.push_back(PacketOutcome::Lost { number: packet.number, at: now, node, cause });
            }
            return;
        }
        self.conservation.dropped[cause as usize] += 1;
        if let Some(lost) = &mut self.causes.dropped {
            lost.push(Dropped { at: now, node, packet: *packet, cause });
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

    /// A frame's life ended.
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

    /// A packet waited for so long in the queue of a node's hardware.
    pub fn left_hardware(&mut self, node: NodeId, waited: Span, now: Time) {
        if self.counts(now) {
            self.nodes[node.index()].hardware.add(waited.seconds());
        }
    }

    /// The medium was in use for these PPDUs with DATA, or none, from a node to a neighbour, each with so many MPDUs at a rate.
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

    /// A node's own frame ended, with this packet in it.
    pub fn transmitted(&mut self, node: NodeId, frame: &Frame, packet: Option<&Packet>, now: Time) {
        let counted = self.after_warmup(frame.air, now);
        self.nodes[node.index()].transmitting += counted;
        if let Some(packet) = packet.filter(|packet| packet.is_control()) {
            self.control(node, packet).airtime += counted;
            if packet.is_outside() && frame.to.is_none() {
                self.outcomes.push_back(PacketOutcome::Sent { number: packet.number, at: now });
            }
        }
    }

    /// A node decoded a frame that was for it.
    pub fn received(&mut self, node: NodeId, frame: &Frame, now: Time) {
        let counted = self.after_warmup(frame.air, now);
        if frame.kind != FrameKind::Data || frame.to.is_some() {
            self.nodes[node.index()].receiving += counted;
        }
    }

    /// A busy period of the medium ended at the node in this row.
    pub fn busy(&mut self, row: u32, period: Interval) {
        let counted = self.after_warmup(period, period.end);
        let book = &mut self.media_use[row as usize];
        book.busy += counted;
        book.unusable += period.length();
    }

    /// An idle period during which the NAV was set ended there; the end may lie before the start.
    pub fn reserved(&mut self, row: u32, period: Interval) {
        let counted = self.after_warmup(period, period.end);
        let book = &mut self.media_use[row as usize];
        book.nav_only += counted;
        book.unusable += period.length();
    }

    /// A node's interface queue holds this many packets from now on.
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

impl FrameBook {
    /// A frame ended; it has an efficiency if it was acknowledged.
    fn add(&mut self, efficiency: Option<f64>, service: f64) {
        if let Some(efficiency) = efficiency {
            self.efficiency.add(efficiency);
            self.service_delay.add(service);
        }
    }
}

impl FlowBook {
    /// A frame of its data ended.
    fn count(&mut self, exchange: &Exchange) {
        if exchange.rts_tries > 0 {
            self.rts_failures.add(f64::from(exchange.rts_failures));
            self.rts_unanswered[(exchange.rts_failures as usize).min(RTS_COUNTS - 1)] += 1;
        }
        match self.stations.iter_mut().find(|(station, _)| *station == exchange.node) {
            Some((_, frames)) => *frames += 1,
            None => self.stations.push((exchange.node, 1)),
        }
    }

    /// The mean of a quantity of stations over its DATA frames, each counting the station that sent it.
    pub fn mean_over_frames(&self, of: impl Fn(NodeId) -> f64) -> Option<f64> {
        let frames: u64 = self.stations.iter().map(|(_, frames)| frames).sum();
        let sum: f64 = self.stations.iter().map(|(station, frames)| of(*station) * *frames as f64).sum();
        (frames > 0).then(|| sum / frames as f64)
    }
}

impl NodeBook {
    fn link(&mut self, from: NodeId, to: NodeId) -> &mut LinkOutcome {
        let at = self.links.iter().position(|link| link.to == to.0).unwrap_or_else(|| {
            self.links.push(LinkOutcome { from: from.0, to: to.0, ..LinkOutcome::default() });
            self.links.len() - 1
        });
        &mut self.links[at]
    }

    /// What its links did, by next hop.
    pub fn links(&self) -> Vec<LinkOutcome> {
        let mut links = self.links.clone();
        links.sort_by_key(|link| link.to);
        links
    }
}

/// The distribution of delays given in nanoseconds; sorts them.
pub fn quantiles(delays: &mut [u64]) -> Quantiles {
    if delays.is_empty() {
        return Quantiles::default();
    }
    delays.sort_unstable();
    let seconds = |ns: u64| ns as f64 * 1e-9;
    // The nearest-rank definition: the smallest delay that at least this share does not exceed.
    let rank = |share: f64| {
        seconds(delays[((share * delays.len() as f64).ceil() as usize).clamp(1, delays.len()) - 1])
    };
    let sum: u128 = delays.iter().map(|delay| u128::from(*delay)).sum();
    Quantiles {
        mean: sum as f64 * 1e-9 / delays.len() as f64,
        p50: rank(0.5),
        p90: rank(0.9),
        p95: rank(0.95),
        p99: rank(0.99),
        max: seconds(delays[delays.len() - 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::FlowId;

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

    /// A frame of `payload` bytes of flow 0 from `node`, whose service ended at `done` milliseconds.
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

    /// The books open at 100 ms. Station 0 sends two data frames, one given up; station 1 one data frame and one acknowledgement.
    #[test]
    fn a_flow_counts_the_frames_of_its_data_at_every_hop() {
        let mut books = Recorder::new(3, 1, Time::from_ns(100_000_000));
        let frames = [
            frame(0, 1000, 10, 90, [1, 0], Fate::Acknowledged),
            frame(0, 1000, 12, 120, [2, 1], Fate::Acknowledged),
            frame(0, 1000, 60, 180, [7, 7], Fate::GivenUp),
            frame(1, 1000, 18, 200, [1, 0], Fate::Acknowledged),
            frame(1, 0, 90, 300, [5, 4], Fate::Acknowledged),
        ];
        for frame in &frames {
            books.exchange(frame, frame.done);
        }
        let close = |mean: Mean, expected: f64| (mean.get().unwrap() - expected).abs() < 1e-9;
        let flow = &books.flows[0];
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
        assert!(close(books.nodes[1].frames.efficiency, 0.3), "nodes count all frames");
        assert_eq!(FlowBook::default().mean_over_frames(busy), None);
    }

    #[test]
    fn frames_without_rts_have_no_mean_of_rts() {
        let mut books = Recorder::new(2, 1, Time::ZERO);
        let basic = Exchange { data_tries: 1, ..frame(0, 1000, 10, 20, [0, 0], Fate::Acknowledged) };
        books.exchange(&basic, basic.done);
        assert_eq!(books.flows[0].rts_failures.get(), None);
        assert!(books.flows[0].frames.service_delay.get().is_some());
    }

    #[test]
    fn the_queue_mean_is_over_time_after_the_warm_up() {
        let at = |s: u64| Time::from_ns(s * 1_000_000_000);
        let mut books = Recorder::new(1, 0, at(10));
        books.queue(NodeId(0), 4, at(5));
        books.queue(NodeId(0), 2, at(15));
        assert_eq!(books.queue_mean(NodeId(0), at(20)), 3.0);
        assert_eq!(
            books.nodes[0].queue.max, 4,
            "it was that long after the warm-up, though not for the first time"
        );
    }
}
