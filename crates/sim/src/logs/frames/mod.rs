//! Frame log of a run, in the format of `multihop-frames`: transmissions with collisions, backoff, NAVs,
//! queues, congestion windows and routes.
//!
//! The log observes nodes and the medium when a frame begins and when a frame ends. The counters of loss
//! causes are enabled for it. A transmission is written once no later frame can collide with it, so that rows
//! keep the order of their start.

mod batch;
mod writer;

use self::batch::{Nav, TransmissionRow};
use self::writer::LogWriter;
use super::selection::{FlowFilter, Selection};
use crate::config::Config;
use crate::mac::{Access, Timing};
use crate::medium::Frame;
use crate::mobility::places;
use crate::outcome::{LossCause, Overlap};
use crate::record::{Dropped, PacketId, PacketIngress};
use multihop_core::{FlowId, FrameKind, Interval, NodeId, Packet, Port, Span, Time};
use multihop_frames::layout::{ARRIVED, BROADCAST, UNKNOWN, WINDOW_INTERVAL_NS};
use multihop_frames::{Flow, Head, Mpdu, Node, Sink, Table, Tables, Writer};
use multihop_transport::Progress;
use std::io;

/// Minimum time between two rows of a flow in the table `windows`.
const WINDOW_INTERVAL: Span = Span::from_ns(WINDOW_INTERVAL_NS as u64);

/// Number of entries in the cache of recent ingresses.
const CACHED_INGRESSES: usize = 32;

/// Identity of an ingress: flow, end of the flow, node, origin.
type Ingress = (FlowId, Port, NodeId, NodeId);

/// Log of every transmission of a run.
pub struct FrameLog {
    writer: LogWriter,
    selection: Selection,
    filter: FlowFilter,
    timing: Timing,
    spread: Span,
    /// Whether the selection contains the whole run.
    is_unrestricted: bool,
    senders: Vec<Sender>,
    /// Last row in the table `windows`, by flow.
    windows: Vec<WindowState>,
    /// Flows whose source is the node, by node.
    sources: Vec<Vec<u32>>,
    /// Destinations and the last next hops to them, by node.
    routes: Vec<Vec<(NodeId, NodeId)>>,
    /// Ingresses by node that packets enter: flow, kind and origin of the packets, and the ingress's number.
    ingresses: Vec<Vec<([i64; 3], i64)>>,
    ingress_count: i64,
    /// Cache of recent ingresses and their numbers, indexed by a hash of flow and node.
    recent_ingresses: [Option<(Ingress, i64)>; CACHED_INGRESSES],
}

/// State of a node that sends.
#[derive(Clone)]
struct Sender {
    /// Number of the node's last transmission, or [`LogWriter::NONE`] if it is not selected. A transmission
    /// ends at all listeners before the next one of its sender begins.
    latest: u64,
    /// End of the node's last RTS, DATA or block ack request, or of the last response to it, and whether the
    /// log contains this frame.
    last_end: (Time, bool),
}

/// Collector of the NAVs that listeners set at the end of a frame.
pub(crate) struct Navs<'l> {
    /// List of NAVs, and index of the frame in its batch; none if the frame is not selected.
    to: Option<(&'l mut Vec<Nav>, u32)>,
    end: Time,
}

impl Navs<'_> {
    /// Records that a node set its NAV until `nav` at the end of the frame.
    #[inline]
    pub(crate) fn set(&mut self, node: u32, nav: Time) {
        if let Some((navs, index)) = &mut self.to {
            navs.push((*index, (node, ns(nav) - ns(self.end))));
        }
    }
}

/// Last row of a flow in the table `windows`.
#[derive(Clone, Copy, Debug, Default)]
struct WindowState {
    /// Earliest time of the next row.
    next: Time,
    values: [i64; 3],
}

/// Returns the code of a loss cause in the enumeration `outcome`.
fn outcome_code(cause: LossCause) -> u8 {
    2 + cause as u8
}

/// Returns the code in the enumeration `kind`; CF-End is an other control frame.
fn kind_code(kind: FrameKind) -> u8 {
    const OTHER_CONTROL: u8 = 7;
    if kind == FrameKind::CfEnd { OTHER_CONTROL } else { kind as u8 }
}

/// Returns the flow of a packet, and its code in the enumeration `carries`.
fn flow_and_kind(packet: &PacketId) -> (i64, i64) {
    match packet.flow {
        FlowId::ROUTING => (-1, 3),
        FlowId::SIGNALLING => (-1, 4),
        FlowId::ARP => (-1, 5),
        FlowId::PROBES => (-1, 6),
        FlowId(flow) => (i64::from(flow), if packet.port == Port::Receiver { 1 } else { 2 }),
    }
}

fn ns(time: Time) -> i64 {
    time.ns() as i64
}

/// Returns the description of a log.
fn head(config: &Config, timing: &Timing, selection: &Selection) -> Head {
    let node = |(index, node): (u32, &crate::config::NodeConfig)| {
        let first_radio = config.topology.radios.node_of(NodeId(index)).0;
        let radio_of = (first_radio != index).then_some(first_radio);
        Node { name: node.name.clone(), position: node.position, radio_of }
    };
    let flow = |flow: &crate::config::FlowConfig| Flow {
        name: flow.name.clone(),
        source: flow.source.0,
        destination: flow.destination.0,
        scheme: config.traffic.schemes[flow.scheme].name.clone(),
    };
    Head {
        name: config.name.clone(),
        source: "run",
        inferred: Vec::new(),
        seed: Some(config.seed),
        duration_ns: config.duration.ns(),
        warmup_ns: config.recording.warmup.ns(),
        propagation_ns: timing.propagation.ns(),
        slot_ns: timing.slot.ns(),
        nodes: (0..).zip(&config.topology.nodes).map(node).collect(),
        flows: config.traffic.flows.iter().map(flow).collect(),
        only_nodes: selection.nodes.iter().map(|node| node.0).collect(),
        only_flows: selection.flows.iter().map(|flow| flow.0).collect(),
        only_between: selection.between.map(|between| between.map(Time::ns)),
    }
}

/// Contention before a frame that begins an exchange.
#[derive(Clone, Copy)]
struct Contention {
    waited: i64,
    contended: i64,
    frozen: i64,
}

impl Contention {
    /// Values for frames that begin no exchange.
    const NONE: Contention = Contention { waited: -1, contended: -1, frozen: 0 };
}

impl FrameLog {
    /// Creates the log of a run of `config`, which is written to `out` during the run.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(config: &Config, selection: Selection, out: Box<dyn Sink>) -> io::Result<FrameLog> {
        FrameLog::with(config, selection, out, LogWriter::inline)
    }

    /// Creates a log that a separate thread writes to `out`.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn on_a_thread(config: &Config, selection: Selection, out: Box<dyn Sink>) -> io::Result<FrameLog> {
        FrameLog::with(config, selection, out, LogWriter::on_a_thread)
    }

    fn with(
        config: &Config,
        selection: Selection,
        out: Box<dyn Sink>,
        writer: fn(Writer) -> LogWriter,
    ) -> io::Result<FrameLog> {
        let (nodes, flows) = (config.topology.nodes.len(), &config.traffic.flows);
        let selection = selection.with_senders(&config.traffic);
        let timing = Timing::new(config);
        let mut log = Writer::new(out, &head(config, &timing, &selection))?;
        let mut rows = Tables::default();
        for place in places(config) {
            let time = Time::ZERO + Span::from_seconds(place.time_s);
            if let Some(position) = place.position
                && selection.has_time(time)
            {
                let [x, y] = position.map(|metres| (metres * 1e3).round() as i64);
                rows.push(Table::Places, [ns(time), i64::from(place.node.0), x, y, i64::from(place.off)]);
            }
        }
        log.append(&rows)?;
        let mut sources = vec![Vec::new(); nodes];
        for (index, flow) in (0..).zip(flows) {
            sources[flow.source.index()].push(index);
        }
        let is_unrestricted = selection == Selection::default();
        let sender = Sender { latest: LogWriter::NONE, last_end: (Time::ZERO, true) };
        Ok(FrameLog {
            writer: writer(log),
            selection,
            filter: FlowFilter::default(),
            timing,
            spread: crate::medium::Listeners::spread(config),
            is_unrestricted,
            senders: vec![sender; nodes],
            windows: vec![WindowState::default(); flows.len()],
            sources,
            routes: vec![Vec::new(); nodes],
            ingresses: vec![Vec::new(); nodes],
            ingress_count: 0,
            recent_ingresses: [None; CACHED_INGRESSES],
        })
    }

    /// Records the start of a CTS, an ACK or a block ack.
    pub(crate) fn response_started(&mut self, frame: &Frame, queue: usize) {
        let Interval { start, end } = frame.air_at_sender(self.timing.propagation);
        let is_selected = self.register(frame, None, start);
        if let Some(to) = frame.to {
            self.senders[to.index()].last_end = (end, is_selected);
        }
        if is_selected {
            self.add(self.row(frame, start, queue));
        }
    }

    /// Records the start of any other frame, which carries `packet` or is sent for it.
    pub(crate) fn frame_started(
        &mut self,
        frame: &Frame,
        access: &Access,
        queue: usize,
        packet: Option<&Packet>,
    ) {
        let Interval { start, end } = frame.air_at_sender(self.timing.propagation);
        let contention = |since| self.contention(frame.from, access.slots, since, start);
        let Contention { waited, contended, frozen } = access.since.map_or(Contention::NONE, contention);
        let is_selected = self.register(frame, packet, start);
        self.senders[frame.from.index()].last_end = (end, is_selected);
        if !is_selected {
            return;
        }
        let (flow, carries) = packet.map_or((-1, 0), |packet| flow_and_kind(&packet.into()));
        self.update_route(frame, packet, start);
        let packet = packet.map_or(0, |packet| packet.number as i64);
        let (flow, carries, tries) = (flow as i32, carries as u8, access.tries as u16);
        let row = self.row(frame, start, queue);
        self.add(TransmissionRow { waited, contended, frozen, packet, flow, tries, carries, ..row });
    }

    /// Makes a frame that begins its sender's last one. Returns whether the frame is selected.
    #[inline]
    fn register(&mut self, frame: &Frame, packet: Option<&Packet>, start: Time) -> bool {
        self.writer.write_before(start, self.spread);
        let is_selected = self.is_unrestricted || self.is_selected(frame, packet, start);
        let number = if is_selected { self.writer.next_number() } else { LogWriter::NONE };
        self.senders[frame.from.index()].latest = number;
        is_selected
    }

    #[inline]
    fn add(&mut self, row: TransmissionRow) {
        self.writer.batch().transmissions.push(row);
    }

    /// Whether a frame that begins now is selected.
    #[inline(never)]
    fn is_selected(&mut self, frame: &Frame, packet: Option<&Packet>, start: Time) -> bool {
        let flows = packet.iter().map(|packet| packet.flow);
        self.filter.passes(&self.selection, frame, flows) && self.selection.has_frame(frame, start)
    }

    /// Returns the row of a frame that begins, with the values of a response.
    #[inline]
    fn row(&self, frame: &Frame, start: Time, queue: usize) -> TransmissionRow {
        TransmissionRow {
            start: ns(start),
            end: frame.air.end,
            airtime: frame.airtime().ns() as i64,
            rate: self.timing.on(frame.rates).rate(frame.rate).bps() as i64,
            nav: frame.duration.ns() as i64,
            waited: -1,
            contended: -1,
            frozen: 0,
            packet: 0,
            from: frame.from.0,
            to: frame.to.map_or(-1, |to| to.0 as i32),
            bytes: frame.bytes,
            flow: -1,
            queue: queue as u32,
            collided: -1,
            tries: 0,
            kind: kind_code(frame.kind),
            carries: 0,
            // The end at the receiver replaces UNKNOWN.
            outcome: if frame.receiver().is_some() { UNKNOWN as u8 } else { BROADCAST as u8 },
            overlap: 0,
        }
    }

    /// Returns the contention of a station before a frame that begins now. `waited` is -1 if the station
    /// contends since the end of its previous exchange and the log contains that exchange.
    fn contention(&self, node: NodeId, slots: u32, since: Time, start: Time) -> Contention {
        let (last_end, is_logged) = self.senders[node.index()].last_end;
        let since_last_end = last_end <= start && since <= last_end + self.timing.propagation + self.spread;
        let duration = start.since(if since_last_end { last_end } else { since });
        let frozen = duration.whole(self.timing.slot) as i64 - i64::from(slots);
        let contended = duration.ns() as i64;
        Contention { waited: if since_last_end && is_logged { -1 } else { contended }, contended, frozen }
    }

    /// Adds a row to the table `routes` if the frame uses another next hop than the previous one.
    fn update_route(&mut self, frame: &Frame, packet: Option<&Packet>, start: Time) {
        let Some(packet) = packet.filter(|packet| !packet.is_control()) else { return };
        let Some(next) = frame.to.filter(|_| frame.kind == FrameKind::Data) else { return };
        let routes = &mut self.routes[frame.from.index()];
        match routes.iter_mut().find(|(destination, _)| *destination == packet.destination) {
            Some((_, known)) if *known == next => return,
            Some((_, known)) => *known = next,
            None => routes.push((packet.destination, next)),
        }
        let [node, destination, next] = [frame.from, packet.destination, next].map(|node| i64::from(node.0));
        self.add_row(Table::Routes, [ns(start), node, destination, next]);
    }

    /// Records the loss of a frame at its receiver, and the sender of the frame that collided with it.
    pub(crate) fn frame_lost(
        &mut self,
        frame: &Frame,
        cause: LossCause,
        collision: Option<(NodeId, Overlap)>,
    ) {
        if let Some(row) = self.row_of(frame) {
            row.outcome = outcome_code(cause);
            if let Some((node, overlap)) = collision {
                row.collided = node.0 as i32;
                row.overlap = 1 + overlap as u8;
            }
        }
    }

    /// Returns the collector of the NAVs that listeners set at the end of a frame.
    #[inline]
    pub(crate) fn navs_of(&mut self, frame: &Frame) -> Navs<'_> {
        let index = self.index_of(frame);
        Navs { end: frame.air.end, to: index.map(|index| (&mut self.writer.batch().navs, index as u32)) }
    }

    /// Records the end of a frame at its receiver, after [`FrameLog::frame_lost`] if the frame is lost.
    #[inline]
    pub(crate) fn frame_ended(&mut self, frame: &Frame) {
        if let Some(row) = self.row_of(frame)
            && row.outcome == UNKNOWN as u8
        {
            row.outcome = ARRIVED as u8;
        }
    }

    /// Records the packets of an aggregate that its receiver decoded, and whether each packet arrived.
    pub(crate) fn aggregate_received<'p>(
        &mut self,
        frame: &Frame,
        mpdus: impl Iterator<Item = (&'p Packet, bool)>,
    ) {
        let Some(index) = self.index_of(frame) else { return };
        let mpdus = mpdus.map(|(packet, arrived)| {
            let (flow, carries) = flow_and_kind(&packet.into());
            let outcome = if arrived { ARRIVED } else { outcome_code(LossCause::Channel).into() };
            Mpdu { stream: [flow, carries], packet: packet.number as i64, outcome }
        });
        self.writer.batch().add_mpdus(index as u32, mpdus);
    }

    /// Returns the `index`-th flow whose source is a node, and whether its state may be logged now; none if
    /// the node has fewer flows.
    pub(crate) fn flow_from(&self, node: NodeId, index: usize, now: Time) -> Option<(u32, bool)> {
        let flow = *self.sources[node.index()].get(index)?;
        Some((flow, self.windows[flow as usize].next <= now))
    }

    /// Records the state of a flow's sender, if it changed.
    pub(crate) fn sender_progressed(&mut self, flow: u32, progress: &Progress, now: Time) {
        let window = progress.window.map_or(-1, |window| window as i64);
        let values = [window, progress.rtt.map_or(0, |rtt| rtt.ns() as i64), progress.timeouts as i64];
        let state = &mut self.windows[flow as usize];
        if values != state.values && self.selection.has_flow(FlowId(flow)) && self.selection.has_time(now) {
            *state = WindowState { next: now + WINDOW_INTERVAL, values };
            self.add_row(Table::Windows, [ns(now), i64::from(flow), values[0], values[1], values[2]]);
        }
    }

    /// Records a drop.
    pub(crate) fn packet_dropped(&mut self, dropped: &Dropped) {
        let Dropped { at, node, packet, cause } = dropped;
        let is_selected = self.selection.has_node(*node) && self.selection.has_flow(packet.flow);
        if is_selected && self.selection.has_time(*at) {
            let (flow, carries) = flow_and_kind(packet);
            let row = [flow, carries, i64::from(node.0), *cause as i64, packet.number as i64, ns(*at)];
            self.add_row(Table::Drops, row);
        }
    }

    /// Records that a packet entered a node in another way than by radio.
    pub(crate) fn packet_entered(&mut self, entry: &PacketIngress) {
        let PacketIngress { at, node, from, packet } = entry;
        if !self.selection.has_time(*at) {
            return;
        }
        let key = (packet.flow, packet.port, *node, *from);
        let slot = (packet.flow.0 ^ node.0) as usize % CACHED_INGRESSES;
        let ingress = match self.recent_ingresses[slot] {
            Some((cached, ingress)) if cached == key => ingress,
            _ => {
                let has_node = self.selection.has_node(*node) || self.selection.has_node(*from);
                if !has_node || !self.selection.has_flow(packet.flow) {
                    return;
                }
                self.ingress_of(entry)
            }
        };
        self.recent_ingresses[slot] = Some((key, ingress));
        self.add_row(Table::Entries, [ingress, packet.number as i64, ns(*at)]);
    }

    /// Returns the number of the ingress by which a packet entered a node; a new ingress is added to its
    /// table.
    fn ingress_of(&mut self, entry: &PacketIngress) -> i64 {
        let (flow, carries) = flow_and_kind(&entry.packet);
        let key = [flow, carries, i64::from(entry.from.0)];
        let ingresses = &mut self.ingresses[entry.node.index()];
        if let Some((_, ingress)) = ingresses.iter().find(|(known, _)| *known == key) {
            return *ingress;
        }
        let ingress = self.ingress_count;
        ingresses.push((key, ingress));
        self.ingress_count += 1;
        self.add_row(Table::Ingress, [flow, carries, i64::from(entry.node.0), key[2]]);
        ingress
    }

    /// Whether writing failed, so that the run can end early.
    pub(crate) fn has_failed(&self) -> bool {
        self.writer.has_failed()
    }

    /// Writes the last batch of a run that ends now. Frames that are still on the air are omitted.
    pub(crate) fn finish(self, now: Time) -> io::Result<()> {
        self.writer.finish(now)
    }

    /// Returns the index of a frame in the batch; none if the frame is not selected. The sender identifies
    /// the frame; the start does not, because it differs from listener to listener.
    #[inline]
    fn index_of(&self, frame: &Frame) -> Option<usize> {
        self.writer.index(self.senders[frame.from.index()].latest)
    }

    /// Returns the row of a frame in the batch; none if the frame is not selected.
    #[inline]
    fn row_of(&mut self, frame: &Frame) -> Option<&mut TransmissionRow> {
        self.writer.row(self.senders[frame.from.index()].latest)
    }

    #[inline]
    fn add_row<const N: usize>(&mut self, table: Table, values: [i64; N]) {
        self.writer.batch().add_row(table, values);
    }
}
