//! Every transmission with what a capture cannot say: who collided with whom, back-off, NAV, queues, windows, routes. `multihop-frames`
//! is its format.
//!
//! It is a sibling of [`airlog`](crate::airlog), and comes from the medium and the books of causes, which it turns on. It looks at nodes when a frame begins and
//! when one ends, and changes nothing in the run. A transmission stays here until it can collide with nothing any more; so rows are in
//! the order in which transmissions began.

use crate::config::Config;
use crate::mac::{Access, Timing};
use crate::medium::Frame;
use crate::mobility::places;
use crate::outcome::{LossCause, Overlap};
use crate::record::Dropped;
use multihop_core::{FlowId, FrameKind, NodeId, Packet, Port, Span, Time};
use multihop_frames::{Flow, Head, Node, Table, Writer};
use multihop_transport::Progress;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

/// A window is written down no oftener than this.
const BETWEEN_WINDOWS: Span = Span::from_ms(10);

/// What a log is to have.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// Only what these nodes send or receive; all if there are none.
    pub nodes: Vec<NodeId>,
    /// Only what is in this interval, its ends included; none for the whole run.
    pub between: Option<[Time; 2]>,
}

impl Selection {
    pub(crate) fn has_time(&self, time: Time) -> bool {
        self.between.is_none_or(|[from, to]| from <= time && time <= to)
    }

    pub(crate) fn has_node(&self, node: NodeId) -> bool {
        self.nodes.is_empty() || self.nodes.contains(&node)
    }

    fn has(&self, frame: &Frame, start: Time) -> bool {
        self.has_time(start) && (self.has_node(frame.from) || frame.to.is_some_and(|to| self.has_node(to)))
    }
}

/// A log of every transmission of a run.
pub struct FrameLog {
    writer: Writer<Box<dyn Write + Send>>,
    selection: Selection,
    timing: Timing,
    spread: Span,
    /// In the order of their beginnings.
    pending: VecDeque<Pending>,
    sorts: BTreeMap<[i64; 9], i64>,
    reservations: BTreeMap<Vec<(u32, i64)>, i64>,
    /// By node: when its last RTS, DATA or request, or the last answer to it, is over at its sender.
    last_end: Vec<Time>,
    /// By node: its NAV when it was last looked at.
    nav: Vec<Time>,
    /// By flow.
    windows: Vec<Seen>,
    /// By node: flows whose data comes from it.
    sources: Vec<Vec<u32>>,
    routes: BTreeMap<(NodeId, NodeId), NodeId>,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

/// A transmission that may still be on the air.
struct Pending {
    frame: Frame,
    start: Time,
    sort: [i64; 9],
    tries: u32,
    frozen: i64,
    waited: i64,
    queue: usize,
    packet: u64,
    outcome: i64,
    collided: i64,
    overlap: i64,
    reserves: Vec<(u32, i64)>,
    mpdus: Vec<[i64; 4]>,
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

/// Flow, and the place in the enumeration `carries`, of a packet.
fn carried(packet: &Packet) -> (i64, i64) {
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
    let node = |node: &crate::config::NodeConfig| Node { name: node.name.clone(), position: node.position };
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
        nodes: config.nodes.iter().map(node).collect(),
        flows: config.flows.iter().map(flow).collect(),
        only_nodes: selection.nodes.iter().map(|node| node.0).collect(),
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
            timing,
            spread: crate::medium::Listeners::spread(config),
            pending: VecDeque::new(),
            sorts: BTreeMap::new(),
            reservations: BTreeMap::new(),
            last_end: vec![Time::ZERO; config.nodes.len()],
            nav: vec![Time::ZERO; config.nodes.len()],
            windows: vec![Seen::default(); config.flows.len()],
            sources,
            routes: BTreeMap::new(),
            failure: None,
        })
    }

    /// A frame begins. `packet` is the one in it, or that it is sent for.
    pub(crate) fn begins(&mut self, frame: &Frame, access: &Access, queue: usize, packet: Option<&Packet>) {
        let start = frame.air.start - self.timing.propagation;
        self.write_before(start);
        let ends = start + frame.airtime();
        let contention = |since| self.contention(frame.from, access.slots, since, start);
        let (waited, frozen) = access.since.map_or((-1, 0), contention);
        let is_answer = matches!(frame.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck);
        if let Some(node) = if is_answer { frame.to } else { Some(frame.from) } {
            self.last_end[node.index()] = ends;
        }
        if !self.selection.has(frame, start) {
            return;
        }
        let (flow, carries) = packet.map_or((-1, 0), carried);
        self.route(frame, packet, start);
        let rate = self.timing.on(frame.rates).rate(frame.rate).bps();
        let to = frame.to.map_or(-1, |to| i64::from(to.0));
        let sort = [
            i64::from(frame.from.0),
            to,
            frame.kind as i64,
            frame.airtime().ns() as i64,
            i64::from(frame.bytes),
            rate as i64,
            frame.duration.ns() as i64,
            flow,
            carries,
        ];
        self.pending.push_back(Pending {
            frame: *frame,
            start,
            sort,
            tries: access.tries,
            frozen,
            waited,
            queue,
            packet: packet.map_or(0, |packet| packet.number),
            outcome: i64::from(frame.to.is_none()),
            collided: -1,
            overlap: 0,
            reserves: Vec::new(),
            mpdus: Vec::new(),
        });
    }

    /// For how long a station waited with what begins now, if it did not contend since its last exchange, and for how many slots its
    /// back-off did not count.
    fn contention(&self, node: NodeId, slots: u32, since: Time, start: Time) -> (i64, i64) {
        let known = self.last_end[node.index()];
        let since_known = known <= start && since <= known + self.timing.propagation + self.spread;
        let passed = start.since(if since_known { known } else { since });
        let frozen = passed.whole(self.timing.slot) as i64 - i64::from(slots);
        (if since_known { -1 } else { passed.ns() as i64 }, frozen)
    }

    /// A next hop is used that was not used before.
    fn route(&mut self, frame: &Frame, packet: Option<&Packet>, start: Time) {
        let Some(packet) = packet.filter(|packet| !packet.is_control()) else { return };
        let Some(next) = frame.to.filter(|_| frame.kind == FrameKind::Data) else { return };
        let known = self.routes.insert((frame.from, packet.destination), next);
        if known != Some(next) {
            let [node, destination, next] =
                [frame.from, packet.destination, next].map(|node| i64::from(node.0));
            self.row(Table::Routes, [ns(start), node, destination, next]);
        }
    }

    /// A frame did not reach the node that it was for, and with whom it collided there.
    pub(crate) fn lost(&mut self, frame: &Frame, cause: LossCause, with: Option<(NodeId, Overlap)>) {
        if let Some(pending) = self.pending_of(frame) {
            pending.outcome = outcome(cause);
            if let Some((node, overlap)) = with {
                pending.collided = i64::from(node.0);
                pending.overlap = 1 + overlap as i64;
            }
        }
    }

    /// A frame ended at a node, whose NAV lasts until this instant now.
    pub(crate) fn reserved(&mut self, frame: &Frame, node: u32, nav: Time, now: Time) {
        if nav == self.nav[node as usize] {
            return;
        }
        self.nav[node as usize] = nav;
        if nav > now
            && let Some(pending) = self.pending_of(frame)
        {
            pending.reserves.push((node, ns(nav) - ns(frame.air.end)));
        }
    }

    /// Of an aggregate that its addressee decoded: a packet of it, and whether it was among those that arrived.
    pub(crate) fn mpdu(&mut self, frame: &Frame, packet: &Packet, arrived: bool) {
        let outcome = if arrived { 0 } else { outcome(LossCause::Channel) };
        let (flow, carries) = carried(packet);
        if let Some(pending) = self.pending_of(frame) {
            pending.mpdus.push([flow, carries, packet.number as i64, outcome]);
        }
    }

    /// Flows from this node of which the window may be written now.
    pub(crate) fn flows_to_look_at(&self, node: NodeId, now: Time) -> impl Iterator<Item = u32> {
        let due = move |flow: &&u32| self.windows[**flow as usize].next <= now;
        self.sources[node.index()].iter().filter(due).copied()
    }

    /// How a sender is now.
    pub(crate) fn sender(&mut self, flow: u32, progress: &Progress, now: Time) {
        let window = progress.window.map_or(-1, |window| window as i64);
        let values = [window, progress.rtt.map_or(0, |rtt| rtt.ns() as i64), progress.timeouts as i64];
        let seen = &mut self.windows[flow as usize];
        if values != seen.values && self.selection.has_time(now) {
            *seen = Seen { next: now + BETWEEN_WINDOWS, values };
            self.row(Table::Windows, [ns(now), i64::from(flow), values[0], values[1], values[2]]);
        }
    }

    /// A packet was lost at a node.
    pub(crate) fn dropped(&mut self, dropped: &Dropped) {
        let Dropped { at, node, packet, cause } = dropped;
        if self.selection.has_time(*at) && self.selection.has_node(*node) {
            let (flow, carries) = carried(packet);
            let row = [ns(*at), i64::from(node.0), flow, carries, packet.number as i64, *cause as i64];
            self.row(Table::Drops, row);
        }
    }

    /// Did writing fail? Then the run may as well end.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Writes what is left of a run that ends now. What is still on the air is no transmission.
    pub(crate) fn finish(mut self, now: Time) -> io::Result<()> {
        while let Some(pending) = self.pending.pop_front() {
            if pending.frame.air.end <= now {
                self.write(&pending);
            }
        }
        match self.failure {
            Some(error) => Err(error),
            None => self.writer.finish().map(|_| ()),
        }
    }

    fn pending_of(&mut self, frame: &Frame) -> Option<&mut Pending> {
        let same = |pending: &&mut Pending| {
            pending.frame.from == frame.from && pending.frame.air.start == frame.air.start
        };
        self.pending.iter_mut().rev().find(same)
    }

    /// Writes transmissions that are over everywhere before this instant.
    fn write_before(&mut self, now: Time) {
        while self.pending.front().is_some_and(|first| first.frame.air.end + self.spread < now) {
            let first = self.pending.pop_front().expect("it was there");
            self.write(&first);
        }
    }

    fn write(&mut self, pending: &Pending) {
        let sort = match self.sorts.get(&pending.sort) {
            Some(sort) => *sort,
            None => self.new_sort(pending.sort),
        };
        let reserves = match self.reservations.get(&pending.reserves) {
            _ if pending.reserves.is_empty() => 0,
            Some(set) => *set,
            None => self.new_reservation(&pending.reserves),
        };
        self.row(
            Table::Transmissions,
            [
                ns(pending.start),
                sort,
                i64::from(pending.tries),
                pending.frozen,
                pending.waited,
                pending.queue as i64,
                pending.packet as i64,
                pending.outcome,
                pending.collided,
                pending.overlap,
                reserves,
            ],
        );
        for [flow, carries, packet, outcome] in &pending.mpdus {
            let from = i64::from(pending.frame.from.0);
            self.row(Table::Mpdus, [ns(pending.start), from, *flow, *carries, *packet, *outcome]);
        }
    }

    fn new_sort(&mut self, sort: [i64; 9]) -> i64 {
        let index = self.row(Table::Sorts, sort) as i64;
        self.sorts.insert(sort, index);
        index
    }

    fn new_reservation(&mut self, nodes: &[(u32, i64)]) -> i64 {
        let set = self.reservations.len() as i64 + 1;
        for (node, nav) in nodes {
            self.row(Table::Reservations, [set, i64::from(*node), *nav]);
        }
        self.reservations.insert(nodes.to_vec(), set);
        set
    }

    fn row<const N: usize>(&mut self, table: Table, values: [i64; N]) -> u64 {
        if self.failure.is_some() {
            return 0;
        }
        self.writer.row(table, values).unwrap_or_else(|error| {
            self.failure = Some(error);
            0
        })
    }
}
