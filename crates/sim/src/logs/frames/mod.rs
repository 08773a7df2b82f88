//! Every transmission with what a capture cannot say: which frames collided, back-off, NAV, queues, windows,
//! routes. `multihop-frames` is its format.
//!
//! It is a sibling of [`airlog`](super::air), and comes from the medium and the counters of causes, which
//! it turns on. It looks at nodes when a frame begins and when one ends, and changes nothing in the run. A
//! transmission is not written before it can collide with nothing any more; so rows are in the order in
//! which transmissions began.

mod batch;
mod writer;

use self::batch::{Event, Nav};
use self::writer::LogWriter;
use super::selection::{FlowFilter, Selection};
use crate::config::Config;
use crate::mac::{Access, Timing};
use crate::medium::Frame;
use crate::mobility::places;
use crate::outcome::{LossCause, Overlap};
use crate::record::{Dropped, PacketId, PacketIngress};
use multihop_core::{FlowId, FrameKind, Interval, NodeId, Packet, Port, Span, Time};
use multihop_frames::layout::{ARRIVED, BETWEEN_WINDOWS_NS, BROADCAST, UNKNOWN};
use multihop_frames::{Flow, Head, Mpdu, Node, Sink, Table, Tables, Writer};
use multihop_transport::Progress;
use std::io;

/// A window is written down no oftener than this.
const BETWEEN_WINDOWS: Span = Span::from_ns(BETWEEN_WINDOWS_NS as u64);

/// Ingresses that are found without a search: so many of the latest.
const LATEST_INGRESSES: usize = 32;

/// How a packet came to a node: flow, end, node, where from.
type Ingress = (FlowId, Port, NodeId, NodeId);

/// A log of every transmission of a run.
pub struct FrameLog {
    writer: LogWriter,
    selection: Selection,
    filter: FlowFilter,
    timing: Timing,
    spread: Span,
    /// Is everything selected?
    all: bool,
    senders: Vec<Sender>,
    /// By flow.
    windows: Vec<Seen>,
    /// By node: flows whose data comes from it.
    sources: Vec<Vec<u32>>,
    /// By node: destinations, and the next hops that were last used.
    routes: Vec<Vec<(NodeId, NodeId)>>,
    /// By node that packets come to: flow, what they are, where from, and the number of this ingress.
    ingresses: Vec<Vec<([i64; 3], i64)>>,
    known_ingresses: i64,
    /// Ingresses of the latest packets that came so, and their numbers. Each has a place by flow and node.
    latest_ingresses: [Option<(Ingress, i64)>; LATEST_INGRESSES],
}

/// What is known of a node that sends.
#[derive(Clone)]
struct Sender {
    /// The number of its latest transmission, which is over everywhere before its next one begins;
    /// [`LogWriter::NONE`] if that is not to be there.
    latest: u64,
    /// When its last RTS, DATA or request, or the last answer to it, is over at its sender, and whether that
    /// is in the log.
    last_end: (Time, bool),
}

/// NAVs at the listeners of a frame that ends.
pub(crate) struct Navs<'l> {
    /// Where they go, and the place of the frame.
    to: Option<(&'l mut Vec<Nav>, u32)>,
    end: Time,
}

impl Navs<'_> {
    /// The frame ended at this node, which set its NAV until this instant.
    #[inline]
    pub(crate) fn set(&mut self, node: u32, nav: Time) {
        if let Some((navs, place)) = &mut self.to {
            navs.push((*place, (node, ns(nav) - ns(self.end))));
        }
    }
}

/// What was last written of a flow's sender.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    next: Time,
    values: [i64; 3],
}

/// The place of these in the enumeration `outcome`, behind `arrived` and `broadcast`.
fn outcome(cause: LossCause) -> u8 {
    2 + cause as u8
}

/// The place in the enumeration `kind`; a CF-End is one of the other control frames.
fn kind(kind: FrameKind) -> u8 {
    const OTHER_CONTROL: u8 = 7;
    if kind == FrameKind::CfEnd { OTHER_CONTROL } else { kind as u8 }
}

/// Flow, and the place in the enumeration `carries`, of a packet.
fn carried(packet: &PacketId) -> (i64, i64) {
    match packet.flow {
        FlowId::ROUTING => (-1, 3),
        FlowId::SIGNALLING => (-1, 4),
        FlowId::ARP => (-1, 5),
        FlowId(flow) => (i64::from(flow), if packet.port == Port::Receiver { 1 } else { 2 }),
    }
}

fn ns(time: Time) -> i64 {
    time.ns() as i64
}

fn head(config: &Config, timing: &Timing, selection: &Selection) -> Head {
    let node = |(index, node): (u32, &crate::config::NodeConfig)| {
        let of = config.radios.node_of(NodeId(index)).0;
        let radio_of = (of != index).then_some(of);
        Node { name: node.name.clone(), position: node.position, radio_of }
    };
    let flow = |flow: &crate::config::FlowConfig| Flow {
        name: flow.name.clone(),
        source: flow.source.0,
        destination: flow.destination.0,
        scheme: config.schemes[flow.scheme].name.clone(),
    };
    Head {
        name: config.name.clone(),
        source: "run",
        inferred: Vec::new(),
        seed: Some(config.seed),
        duration_ns: config.duration.ns(),
        warmup_ns: config.warmup.ns(),
        propagation_ns: timing.propagation.ns(),
        slot_ns: timing.slot.ns(),
        nodes: (0..).zip(&config.nodes).map(node).collect(),
        flows: config.flows.iter().map(flow).collect(),
        only_nodes: selection.nodes.iter().map(|node| node.0).collect(),
        only_flows: selection.flows.iter().map(|flow| flow.0).collect(),
        only_between: selection.between.map(|between| between.map(Time::ns)),
    }
}

/// What a frame that begins an exchange waited for.
#[derive(Clone, Copy)]
struct Contention {
    waited: i64,
    contended: i64,
    frozen: i64,
}

impl Contention {
    /// That of frames that begin none.
    const NONE: Contention = Contention { waited: -1, contended: -1, frozen: 0 };
}

impl FrameLog {
    /// A log of a run of `config`, to be written to `out` as the run goes on.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(config: &Config, selection: Selection, out: Box<dyn Sink>) -> io::Result<FrameLog> {
        FrameLog::with(config, selection, out, LogWriter::in_turn)
    }

    /// The same, written on a thread of its own: what it writes may be there later than what is reported to
    /// it.
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
        let selection = selection.with_senders(config);
        let timing = Timing::new(config);
        let mut made = Writer::new(out, &head(config, &timing, &selection))?;
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
        made.append(&rows)?;
        let mut sources = vec![Vec::new(); config.nodes.len()];
        for (index, flow) in (0..).zip(&config.flows) {
            sources[flow.source.index()].push(index);
        }
        let all = selection == Selection::default();
        let sender = Sender { latest: LogWriter::NONE, last_end: (Time::ZERO, true) };
        Ok(FrameLog {
            writer: writer(made),
            selection,
            filter: FlowFilter::default(),
            timing,
            spread: crate::medium::Listeners::spread(config),
            all,
            senders: vec![sender; config.nodes.len()],
            windows: vec![Seen::default(); config.flows.len()],
            sources,
            routes: vec![Vec::new(); config.nodes.len()],
            ingresses: vec![Vec::new(); config.nodes.len()],
            known_ingresses: 0,
            latest_ingresses: [None; LATEST_INGRESSES],
        })
    }

    /// A CTS, an ACK or a block ack begins.
    pub(crate) fn answer_begins(&mut self, frame: &Frame, queue: usize) {
        let Interval { start, end: ends } = frame.air_at_sender(self.timing.propagation);
        let is_wanted = self.enters(frame, None, start);
        if let Some(to) = frame.to {
            self.senders[to.index()].last_end = (ends, is_wanted);
        }
        if is_wanted {
            self.add(self.event(frame, start, queue));
        }
    }

    /// Another frame begins. `packet` is the one in it, or that it is sent for.
    pub(crate) fn begins(&mut self, frame: &Frame, access: &Access, queue: usize, packet: Option<&Packet>) {
        let Interval { start, end: ends } = frame.air_at_sender(self.timing.propagation);
        let contention = |since| self.contention(frame.from, access.slots, since, start);
        let Contention { waited, contended, frozen } = access.since.map_or(Contention::NONE, contention);
        let is_wanted = self.enters(frame, packet, start);
        self.senders[frame.from.index()].last_end = (ends, is_wanted);
        if !is_wanted {
            return;
        }
        let (flow, carries) = packet.map_or((-1, 0), |packet| carried(&packet.into()));
        self.route(frame, packet, start);
        let packet = packet.map_or(0, |packet| packet.number as i64);
        let (flow, carries, tries) = (flow as i32, carries as u8, access.tries as u16);
        let event = self.event(frame, start, queue);
        self.add(Event { waited, contended, frozen, packet, flow, carries, tries, ..event });
    }

    /// A frame begins, and is its sender's latest; is it to be there?
    #[inline]
    fn enters(&mut self, frame: &Frame, packet: Option<&Packet>, start: Time) -> bool {
        self.writer.write_before(start, self.spread);
        let is_wanted = self.all || self.is_wanted(frame, packet, start);
        let number = if is_wanted { self.writer.next() } else { LogWriter::NONE };
        self.senders[frame.from.index()].latest = number;
        is_wanted
    }

    #[inline]
    fn add(&mut self, event: Event) {
        self.writer.batch().events.push(event);
    }

    /// Is a frame selected that begins now?
    #[inline(never)]
    fn is_wanted(&mut self, frame: &Frame, packet: Option<&Packet>, start: Time) -> bool {
        let flows = packet.iter().map(|packet| packet.flow);
        self.filter.passes(&self.selection, frame, flows) && self.selection.has(frame, start)
    }

    /// A frame that begins, with what an answer has.
    #[inline]
    fn event(&self, frame: &Frame, start: Time, queue: usize) -> Event {
        Event {
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
            kind: kind(frame.kind),
            carries: 0,
            // Until it is over at the node that it is for.
            outcome: if frame.receiver().is_some() { UNKNOWN as u8 } else { BROADCAST as u8 },
            overlap: 0,
        }
    }

    /// For how long a station contended before what begins now; waited, if it did not contend since its last
    /// exchange, or that is not in the log; and for how many slots its back-off did not count.
    fn contention(&self, node: NodeId, slots: u32, since: Time, start: Time) -> Contention {
        let (known, is_there) = self.senders[node.index()].last_end;
        let since_known = known <= start && since <= known + self.timing.propagation + self.spread;
        let passed = start.since(if since_known { known } else { since });
        let frozen = passed.whole(self.timing.slot) as i64 - i64::from(slots);
        let contended = passed.ns() as i64;
        Contention { waited: if since_known && is_there { -1 } else { contended }, contended, frozen }
    }

    /// A next hop is used that was not used before.
    fn route(&mut self, frame: &Frame, packet: Option<&Packet>, start: Time) {
        let Some(packet) = packet.filter(|packet| !packet.is_control()) else { return };
        let Some(next) = frame.to.filter(|_| frame.kind == FrameKind::Data) else { return };
        let routes = &mut self.routes[frame.from.index()];
        match routes.iter_mut().find(|(destination, _)| *destination == packet.destination) {
            Some((_, known)) if *known == next => return,
            Some((_, known)) => *known = next,
            None => routes.push((packet.destination, next)),
        }
        let [node, destination, next] = [frame.from, packet.destination, next].map(|node| i64::from(node.0));
        self.row(Table::Routes, [ns(start), node, destination, next]);
    }

    /// A frame did not reach its receiver, and with which it collided there.
    pub(crate) fn lost(&mut self, frame: &Frame, cause: LossCause, with: Option<(NodeId, Overlap)>) {
        if let Some(event) = self.event_of(frame) {
            event.outcome = outcome(cause);
            if let Some((node, overlap)) = with {
                event.collided = node.0 as i32;
                event.overlap = 1 + overlap as u8;
            }
        }
    }

    /// A frame ends at some of its listeners.
    #[inline]
    pub(crate) fn ends(&mut self, frame: &Frame) -> Navs<'_> {
        let place = self.place_of(frame);
        Navs { end: frame.air.end, to: place.map(|place| (&mut self.writer.batch().navs, place as u32)) }
    }

    /// A frame ended at the node that it was for. [`FrameLog::lost`] has said whether it was lost there.
    #[inline]
    pub(crate) fn ended(&mut self, frame: &Frame) {
        if let Some(event) = self.event_of(frame)
            && event.outcome == UNKNOWN as u8
        {
            event.outcome = ARRIVED as u8;
        }
    }

    /// The packets of an aggregate that its addressee decoded, and whether each was among those that arrived.
    pub(crate) fn aggregate<'p>(&mut self, frame: &Frame, mpdus: impl Iterator<Item = (&'p Packet, bool)>) {
        let Some(place) = self.place_of(frame) else { return };
        let mpdus = mpdus.map(|(packet, arrived)| {
            let (flow, carries) = carried(&packet.into());
            let outcome = if arrived { ARRIVED } else { outcome(LossCause::Channel).into() };
            Mpdu { stream: [flow, carries], packet: packet.number as i64, outcome }
        });
        self.writer.batch().mpdus(place as u32, mpdus);
    }

    /// The flow in this place among those from a node, if its window may be written now; none beyond the
    /// last.
    pub(crate) fn flow_from(&self, node: NodeId, place: usize, now: Time) -> Option<(u32, bool)> {
        let flow = *self.sources[node.index()].get(place)?;
        Some((flow, self.windows[flow as usize].next <= now))
    }

    /// How a sender is now.
    pub(crate) fn sender(&mut self, flow: u32, progress: &Progress, now: Time) {
        let window = progress.window.map_or(-1, |window| window as i64);
        let values = [window, progress.rtt.map_or(0, |rtt| rtt.ns() as i64), progress.timeouts as i64];
        let seen = &mut self.windows[flow as usize];
        if values != seen.values && self.selection.has_flow(FlowId(flow)) && self.selection.has_time(now) {
            *seen = Seen { next: now + BETWEEN_WINDOWS, values };
            self.row(Table::Windows, [ns(now), i64::from(flow), values[0], values[1], values[2]]);
        }
    }

    /// A packet was lost at a node.
    pub(crate) fn dropped(&mut self, dropped: &Dropped) {
        let Dropped { at, node, packet, cause } = dropped;
        let wanted = self.selection.has_node(*node) && self.selection.has_flow(packet.flow);
        if wanted && self.selection.has_time(*at) {
            let (flow, carries) = carried(packet);
            let row = [flow, carries, i64::from(node.0), *cause as i64, packet.number as i64, ns(*at)];
            self.row(Table::Drops, row);
        }
    }

    /// A packet came to a node otherwise than by a frame.
    pub(crate) fn came(&mut self, came: &PacketIngress) {
        let PacketIngress { at, node, from, packet } = came;
        if !self.selection.has_time(*at) {
            return;
        }
        let key = (packet.flow, packet.port, *node, *from);
        let place = (packet.flow.0 ^ node.0) as usize % LATEST_INGRESSES;
        let ingress = match self.latest_ingresses[place] {
            Some((known, ingress)) if known == key => ingress,
            _ => {
                let concerns = self.selection.has_node(*node) || self.selection.has_node(*from);
                if !concerns || !self.selection.has_flow(packet.flow) {
                    return;
                }
                self.ingress_of(came)
            }
        };
        self.latest_ingresses[place] = Some((key, ingress));
        self.row(Table::Entries, [ingress, packet.number as i64, ns(*at)]);
    }

    /// The number of the ingress by which a packet came, which may be new.
    fn ingress_of(&mut self, came: &PacketIngress) -> i64 {
        let (flow, carries) = carried(&came.packet);
        let key = [flow, carries, i64::from(came.from.0)];
        let ingresses = &mut self.ingresses[came.node.index()];
        if let Some((_, ingress)) = ingresses.iter().find(|(known, _)| *known == key) {
            return *ingress;
        }
        let ingress = self.known_ingresses;
        ingresses.push((key, ingress));
        self.known_ingresses += 1;
        self.row(Table::Ingress, [flow, carries, i64::from(came.node.0), key[2]]);
        ingress
    }

    /// Did writing fail? Then the run may as well end.
    pub(crate) fn has_failed(&self) -> bool {
        self.writer.has_failed()
    }

    /// Writes what is left of a run that ends now. What is still on the air is no transmission.
    pub(crate) fn finish(self, now: Time) -> io::Result<()> {
        self.writer.finish(now)
    }

    /// The place of a frame that may still be on the air; none if it is not to be there. Its sender alone
    /// tells which one it is: when it begins differs from listener to listener.
    #[inline]
    fn place_of(&self, frame: &Frame) -> Option<usize> {
        self.writer.place(self.senders[frame.from.index()].latest)
    }

    /// The same, and itself.
    #[inline]
    fn event_of(&mut self, frame: &Frame) -> Option<&mut Event> {
        self.writer.event(self.senders[frame.from.index()].latest)
    }

    #[inline]
    fn row<const N: usize>(&mut self, table: Table, values: [i64; N]) {
        self.writer.batch().row(table, values);
    }
}
