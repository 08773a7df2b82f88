//! Every transmission with what a capture cannot say: which frames collided, back-off, NAV, queues, windows,
//! routes. `multihop-frames` is its format.
//!
//! It is a sibling of [`airlog`](crate::airlog), and comes from the medium and the counters of causes, which
//! it turns on. It looks at nodes when a frame begins and when one ends, and changes nothing in the run. A
//! transmission stays here at least until it can collide with nothing any more; so rows are in the order in
//! which transmissions began.

use crate::config::Config;
use crate::mac::{Access, Timing};
use crate::medium::Frame;
use crate::mobility::places;
use crate::outcome::{LossCause, Overlap};
use crate::record::FlowFilter;
pub use crate::record::selection::Selection;
use crate::record::{Came, Dropped, Named};
use multihop_core::{FlowId, FrameKind, Interval, NodeId, Packet, Port, Span, Time};
use multihop_frames::layout::{ARRIVED, BETWEEN_WINDOWS_NS, BROADCAST, UNKNOWN};
use multihop_frames::{Flow, Head, Mpdu, Node, Sort, Table, Transmission, Writer};
use multihop_transport::Progress;
use std::collections::VecDeque;
use std::io::{self, Write};

/// A window is written down no oftener than this.
const BETWEEN_WINDOWS: Span = Span::from_ns(BETWEEN_WINDOWS_NS as u64);

/// Transmissions are written when there are so many. What codes them and what simulates put each other out of
/// the processor's caches: one by one, writing takes a third longer.
const TOGETHER: usize = 64;

/// Ingresses that are found without a search: so many of the latest.
const LATEST_INGRESSES: usize = 32;

/// How a packet came to a node: flow, end, node, where from.
type Ingress = (FlowId, Port, NodeId, NodeId);

/// A log of every transmission of a run.
pub struct FrameLog {
    writer: Writer<Box<dyn Write + Send>>,
    selection: Selection,
    filter: FlowFilter,
    timing: Timing,
    spread: Span,
    /// In the order of their beginnings.
    pending: VecDeque<Box<Pending>>,
    /// How many are no longer pending: the number of the first that is.
    written: u64,
    /// By node: the number of its latest transmission, which is over everywhere before its next one begins;
    /// none if that is not to be there.
    latest: Vec<Option<u64>>,
    /// Rows that were written, the memory of which is used again.
    #[allow(clippy::vec_box)] // they go to and from `pending` without being copied
    spare: Vec<Box<Pending>>,
    /// By node: when its last RTS, DATA or request, or the last answer to it, is over at its sender, and
    /// whether that is in the log.
    last_end: Vec<(Time, bool)>,
    /// By node: its NAV when it was last looked at.
    nav: Vec<Time>,
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
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

/// A transmission that may still be on the air.
struct Pending {
    /// When it is at its nearest listener.
    air: Interval,
    sort: Sort,
    row: Transmission,
}

/// What was last written of a flow's sender.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    next: Time,
    values: [i64; 3],
}

/// The place of these in the enumeration `outcome`, behind `arrived` and `broadcast`.
fn outcome(cause: LossCause) -> i64 {
    2 + cause as i64
}

/// The place in the enumeration `kind`; a CF-End is one of the other control frames.
fn kind(kind: FrameKind) -> i64 {
    const OTHER_CONTROL: i64 = 7;
    if kind == FrameKind::CfEnd { OTHER_CONTROL } else { kind as i64 }
}

/// Flow, and the place in the enumeration `carries`, of a packet.
fn carried(packet: &Named) -> (i64, i64) {
    match packet.flow {
        FlowId::ROUTING => (-1, 3),
        FlowId::SIGNALLING => (-1, 4),
        FlowId::ARP => (-1, 5),
        FlowId(flow) => (i64::from(flow), if packet.port == Port::Receiver { 1 } else { 2 }),
    }
}

fn index(node: Option<NodeId>) -> i64 {
    node.map_or(-1, |node| i64::from(node.0))
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

impl FrameLog {
    /// A log of a run of `config`, to be written to `out` as the run goes on.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(config: &Config, selection: Selection, out: Box<dyn Write + Send>) -> io::Result<FrameLog> {
        let timing = Timing::new(config);
        let mut writer = Writer::new(out, &head(config, &timing, &selection))?;
        for place in places(config) {
            let time = Time::ZERO + Span::from_seconds(place.time_s);
            if let Some(position) = place.position
                && selection.has_time(time)
            {
                let [x, y] = position.map(|metres| (metres * 1e3).round() as i64);
                writer.row(Table::Places, [ns(time), i64::from(place.node.0), x, y, i64::from(place.off)])?;
            }
        }
        let mut sources = vec![Vec::new(); config.nodes.len()];
        for (index, flow) in (0..).zip(&config.flows) {
            sources[flow.source.index()].push(index);
        }
        Ok(FrameLog {
            writer,
            selection,
            filter: FlowFilter::default(),
            timing,
            spread: crate::medium::Listeners::spread(config),
            pending: VecDeque::new(),
            written: 0,
            latest: vec![None; config.nodes.len()],
            spare: Vec::new(),
            last_end: vec![(Time::ZERO, true); config.nodes.len()],
            nav: vec![Time::ZERO; config.nodes.len()],
            windows: vec![Seen::default(); config.flows.len()],
            sources,
            routes: vec![Vec::new(); config.nodes.len()],
            ingresses: vec![Vec::new(); config.nodes.len()],
            known_ingresses: 0,
            latest_ingresses: [None; LATEST_INGRESSES],
            failure: None,
        })
    }

    /// A frame begins. `packet` is the one in it, or that it is sent for.
    pub(crate) fn begins(&mut self, frame: &Frame, access: &Access, queue: usize, packet: Option<&Packet>) {
        let Interval { start, end: ends } = frame.air_at_sender(self.timing.propagation);
        self.write_before(start);
        let contention = |since| self.contention(frame.from, access.slots, since, start);
        let (waited, frozen) = access.since.map_or((-1, 0), contention);
        let is_answer = matches!(frame.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck);
        let flows = packet.iter().map(|packet| packet.flow);
        let is_wanted = self.filter.passes(&self.selection, frame, flows) && self.selection.has(frame, start);
        if let Some(node) = if is_answer { frame.to } else { Some(frame.from) } {
            self.last_end[node.index()] = (ends, is_wanted);
        }
        self.latest[frame.from.index()] = None;
        if !is_wanted {
            return;
        }
        let (flow, carries) = packet.map_or((-1, 0), |packet| carried(&packet.into()));
        self.route(frame, packet, start);
        let new = || Pending { air: frame.air, sort: Sort::default(), row: Transmission::default() };
        let mut pending = self.spare.pop().unwrap_or_else(|| Box::new(new()));
        pending.air = frame.air;
        pending.sort = Sort {
            airtime: frame.airtime().ns() as i64,
            to: index(frame.to),
            flow,
            carries,
            kind: kind(frame.kind),
            from: i64::from(frame.from.0),
            bytes: i64::from(frame.bytes),
            rate: self.timing.on(frame.rates).rate(frame.rate).bps() as i64,
            nav: frame.duration.ns() as i64,
        };
        // Sets of nodes and packets are empty, and keep their memory.
        let row = &mut pending.row;
        row.start = ns(start);
        row.tries = i64::from(access.tries);
        (row.frozen, row.waited) = (frozen, waited);
        row.queue = queue as i64;
        row.packet = packet.map_or(0, |packet| packet.number as i64);
        // Until it is over at the node that it is for.
        row.outcome = if frame.to.is_some() { UNKNOWN } else { BROADCAST };
        (row.collided, row.overlap) = (-1, 0);
        self.latest[frame.from.index()] = Some(self.written + self.pending.len() as u64);
        self.pending.push_back(pending);
    }

    /// For how long a station waited with what begins now, if it did not contend since its last exchange, or
    /// that is not in the log, and for how many slots its back-off did not count.
    fn contention(&self, node: NodeId, slots: u32, since: Time, start: Time) -> (i64, i64) {
        let (known, is_there) = self.last_end[node.index()];
        let since_known = known <= start && since <= known + self.timing.propagation + self.spread;
        let passed = start.since(if since_known { known } else { since });
        let frozen = passed.whole(self.timing.slot) as i64 - i64::from(slots);
        (if since_known && is_there { -1 } else { passed.ns() as i64 }, frozen)
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
        if let Some(row) = self.row_of(frame) {
            row.outcome = outcome(cause);
            if let Some((node, overlap)) = with {
                row.collided = i64::from(node.0);
                row.overlap = 1 + overlap as i64;
            }
        }
    }

    /// A frame ended at these nodes, the NAVs of which last until these instants now. If one of them is the
    /// node that it was for, which is said, [`FrameLog::lost`] has said whether it was lost there.
    #[inline]
    pub(crate) fn ended(
        &mut self,
        frame: &Frame,
        navs: impl Iterator<Item = (u32, Time)>,
        now: Time,
    ) -> bool {
        let mut row = match self.place_of(frame) {
            Some(place) => Some(&mut self.pending[place].row),
            None => None,
        };
        let to = frame.to.map_or(u32::MAX, |to| to.0);
        let mut reached = false;
        for (node, nav) in navs {
            reached |= node == to;
            let known = &mut self.nav[node as usize];
            if nav == *known {
                continue;
            }
            *known = nav;
            if nav > now
                && let Some(row) = &mut row
            {
                row.reserves.push((node, ns(nav) - ns(frame.air.end)));
            }
        }
        if let Some(row) = row
            && reached
            && row.outcome == UNKNOWN
        {
            row.outcome = ARRIVED;
        }
        reached
    }

    /// The packets of an aggregate that its addressee decoded, and whether each was among those that arrived.
    pub(crate) fn aggregate<'p>(&mut self, frame: &Frame, mpdus: impl Iterator<Item = (&'p Packet, bool)>) {
        let Some(row) = self.row_of(frame) else { return };
        row.mpdus.extend(mpdus.map(|(packet, arrived)| {
            let (flow, carries) = carried(&packet.into());
            let outcome = if arrived { ARRIVED } else { outcome(LossCause::Channel) };
            Mpdu { stream: [flow, carries], packet: packet.number as i64, outcome }
        }));
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
    pub(crate) fn came(&mut self, came: &Came) {
        let Came { at, node, from, packet } = came;
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
    fn ingress_of(&mut self, came: &Came) -> i64 {
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
        self.failure.is_some()
    }

    /// Writes what is left of a run that ends now. What is still on the air is no transmission.
    pub(crate) fn finish(mut self, now: Time) -> io::Result<()> {
        while let Some(pending) = self.pending.pop_front() {
            if pending.air.end <= now {
                self.write(pending);
            }
        }
        match self.failure {
            Some(error) => Err(error),
            None => self.writer.finish().map(|_| ()),
        }
    }

    /// The place of a frame among those that may still be on the air; none if it is not to be there. Its
    /// sender alone tells which one it is: when it begins differs from listener to listener.
    fn place_of(&self, frame: &Frame) -> Option<usize> {
        let number = self.latest[frame.from.index()]?.checked_sub(self.written)?;
        usize::try_from(number).ok().filter(|place| *place < self.pending.len())
    }

    fn row_of(&mut self, frame: &Frame) -> Option<&mut Transmission> {
        let place = self.place_of(frame)?;
        Some(&mut self.pending[place].row)
    }

    /// Writes transmissions that are over everywhere before this instant, once there are many.
    fn write_before(&mut self, now: Time) {
        if self.pending.len() < TOGETHER {
            return;
        }
        while self.pending.front().is_some_and(|first| first.air.end + self.spread < now) {
            let first = self.pending.pop_front().expect("it was there");
            self.written += 1;
            self.write(first);
        }
    }

    fn write(&mut self, mut pending: Box<Pending>) {
        let Pending { sort, row, .. } = &mut *pending;
        if self.failure.is_none() {
            self.failure = self.writer.transmission(sort, row).err();
        }
        row.reserves.clear();
        row.mpdus.clear();
        self.spare.push(pending);
    }

    #[inline]
    fn row<const N: usize>(&mut self, table: Table, values: [i64; N]) {
        if self.failure.is_none() {
            self.failure = self.writer.row(table, values).err();
        }
    }
}
