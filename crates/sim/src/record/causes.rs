//! Counters of causes: work of hops for flows, causes of frame losses, and collisions.
//!
//! Rows are sorted lists per receiver or flow, which grow with the number of distinct rows and not with the
//! number of frames. Each frame on the air is recorded once; everything else is examined only when a frame
//! was lost.

use super::Recorder;
use crate::medium::Frame;
use crate::outcome::{Causes, CollisionOutcome, DropOutcome, HopOutcome, LossCause, LossOutcome, Overlap};
use multihop_core::{
    DropCause, Exchange, Fate, FlowId, FrameKind, Interval, NodeId, Packet, Port, Span, Time,
};

const KINDS: [FrameKind; 7] = [
    FrameKind::Rts,
    FrameKind::Cts,
    FrameKind::Data,
    FrameKind::Ack,
    FrameKind::BlockAckRequest,
    FrameKind::BlockAck,
    FrameKind::CfEnd,
];

/// Number of ended frames at which they are removed from the list of recent frames.
const MANY_OVER: usize = 32;

/// Frame that is on the air, or was recently.
#[derive(Clone, Copy, Debug)]
pub struct AirborneFrame {
    pub from: NodeId,
    pub to: Option<NodeId>,
    pub kind: FrameKind,
    /// Interval at listeners, from the first bit at the nearest to the last bit at the farthest.
    pub air: Interval,
}

/// Collision of a frame with an interferer.
#[derive(Clone, Copy, Debug)]
pub struct Collision {
    pub with: AirborneFrame,
    pub overlap: Overlap,
    pub warned: bool,
}

/// Key of a collision counter: sender, frame, interferer, its frame, that frame's receiver, the reason, and
/// whether the interferer decodes frames of the receiver.
type CollisionKey = (u32, u8, u32, u8, u32, Overlap, bool);

/// Key of a loss counter: sender and frame.
type LossKey = (u32, u8);

/// Identity of a packet: flow, the end of the flow that it is addressed to, and number.
#[derive(Clone, Copy, Debug)]
pub struct PacketId {
    pub flow: FlowId,
    pub port: Port,
    pub number: u64,
}

impl From<&Packet> for PacketId {
    #[inline]
    fn from(packet: &Packet) -> PacketId {
        PacketId { flow: packet.flow, port: packet.port, number: packet.number }
    }
}

/// Packet of a flow that was lost.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    pub at: Time,
    pub node: NodeId,
    pub packet: PacketId,
    pub cause: DropCause,
}

/// Arrival of a flow's packet at a node without a frame.
#[derive(Clone, Copy, Debug)]
pub struct PacketIngress {
    pub at: Time,
    pub node: NodeId,
    /// Node that the packet came from; the node itself at the packet's source.
    pub from: NodeId,
    pub packet: PacketId,
}

/// Packet events since the last poll; new ones are kept once these are dropped.
pub struct DrainedEvents<'r> {
    pub dropped: &'r mut Vec<Dropped>,
    pub came: &'r mut Vec<PacketIngress>,
}

/// Counters of lost frames.
#[derive(Clone, Debug, Default)]
pub struct CauseCounters {
    /// Whether causes of frame losses are determined.
    on: bool,
    /// Whether causes are counted for the results.
    counts: bool,
    /// Packets lost, if requested.
    pub dropped: Option<Vec<Dropped>>,
    /// Packets that arrived without a frame, if requested.
    pub came: Option<Vec<PacketIngress>>,
    /// Largest difference between the propagation delays to a frame's farthest and nearest listeners.
    spread: Span,
    /// Recent frames by start; the first of them, by the number in `over`, can no longer overlap a frame.
    lately: Vec<AirborneFrame>,
    over: usize,
    /// For each node with fixed links, a receiver that it has a link to.
    linked: Vec<Option<NodeId>>,
    longest: Span,
    /// Loss counters by receiver.
    losses: Vec<Vec<(LossKey, [u64; LossCause::ALL.len()])>>,
    /// Collision counters by receiver.
    collisions: Vec<Vec<(CollisionKey, u64)>>,
}

/// Counters of a directed link for a flow, by feedback, sender and receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct HopCounters {
    rts: u64,
    data: u64,
    acknowledged: u64,
    given_up: u64,
    wait: Span,
    service: Span,
    airtime: Span,
}

/// Counters of causes of a flow.
#[derive(Clone, Debug, Default)]
pub struct FlowCauses {
    hops: Vec<((bool, u32, u32), HopCounters)>,
    drops: Vec<((bool, u32), [u64; DropCause::ALL.len()])>,
}

/// Value of a key in a sorted list, inserted with its default if absent.
fn entry<K: Ord + Copy, V: Default>(rows: &mut Vec<(K, V)>, key: K) -> &mut V {
    let at = rows.binary_search_by(|(known, _)| known.cmp(&key)).unwrap_or_else(|at| {
        rows.insert(at, (key, V::default()));
        at
    });
    &mut rows[at].1
}

impl CauseCounters {
    /// Creates counters at zero for this number of nodes.
    pub fn new(nodes: usize) -> CauseCounters {
        CauseCounters {
            losses: vec![Vec::new(); nodes],
            collisions: vec![Vec::new(); nodes],
            linked: vec![None; nodes],
            ..CauseCounters::default()
        }
    }

    /// Whether causes of frame losses are determined.
    pub fn are_known(&self) -> bool {
        self.on
    }

    /// Whether causes are counted for the results.
    pub fn are_kept(&self) -> bool {
        self.counts
    }

    /// Records a frame that begins.
    pub fn begins(&mut self, frame: &Frame) {
        let Interval { start, end } = frame.air;
        self.longest = self.longest.max(frame.airtime());
        let reach = self.longest + self.spread;
        while self.lately.get(self.over).is_some_and(|first| first.air.end + reach < start) {
            self.over += 1;
        }
        if self.over >= MANY_OVER && 2 * self.over > self.lately.len() {
            self.forget();
        }
        let air = Interval { start, end: end + self.spread };
        self.lately.push(AirborneFrame { from: frame.from, to: frame.to, kind: frame.kind, air });
    }

    #[cold]
    fn forget(&mut self) {
        self.lately.copy_within(self.over.., 0);
        self.lately.truncate(self.lately.len() - self.over);
        self.over = 0;
    }

    /// Frames of other nodes that were on the air during this frame.
    #[inline]
    pub fn during(&self, frame: &Frame) -> impl Iterator<Item = &AirborneFrame> {
        let (from, air) = (frame.from, frame.air);
        self.lately[self.over..]
            .iter()
            .filter(move |other| other.air.start < air.end && other.air.end > air.start && other.from != from)
    }

    /// Receiver that a node is known to have a link to.
    #[inline]
    pub fn last_linked(&self, from: NodeId) -> Option<NodeId> {
        self.linked[from.index()]
    }

    /// Records that a fixed link exists between two nodes.
    pub fn link(&mut self, from: NodeId, to: NodeId) {
        self.linked[from.index()] = Some(to);
    }

    /// Largest difference between two starts of frames because of propagation, besides carrier sense time.
    pub fn spread(&self) -> Span {
        self.spread
    }
}

impl Recorder {
    /// Determines causes from now on; keeps packets that are lost or arrive without a frame until they are
    /// polled.
    pub fn enable_causes(&mut self, spread: Span) {
        self.causes.on = true;
        self.causes.spread = spread;
        self.causes.dropped = Some(Vec::new());
        self.causes.came = Some(Vec::new());
    }

    /// Removes and returns packets of flows lost, or arrived without a frame, since the last call.
    #[inline]
    pub fn poll_packets(&mut self) -> Option<DrainedEvents<'_>> {
        let (dropped, came) = (self.causes.dropped.as_mut()?, self.causes.came.as_mut()?);
        (!dropped.is_empty() || !came.is_empty()).then_some(DrainedEvents { dropped, came })
    }

    /// Adds counters of causes; `spread` is the largest difference between the propagation delays to a
    /// frame's farthest and nearest listeners.
    #[must_use]
    pub fn with_causes(mut self, spread: Span) -> Recorder {
        self.causes.on = true;
        self.causes.counts = true;
        self.causes.spread = spread;
        self
    }

    /// Counts a failed unicast frame.
    pub fn record_frame_loss(
        &mut self,
        kind: FrameKind,
        [from, to]: [NodeId; 2],
        cause: LossCause,
        now: Time,
    ) {
        if self.causes.counts && self.counts(now) {
            entry(&mut self.causes.losses[to.index()], (from.0, kind as u8))[cause as usize] += 1;
        }
    }

    /// Counts a collision of a unicast frame at its receiver.
    pub fn collided(&mut self, frame: &Frame, to: NodeId, collision: &Collision, now: Time) {
        self.record_frame_loss(frame.kind, [frame.from, to], LossCause::Collision, now);
        if self.causes.counts && self.counts(now) {
            let Collision { with, overlap, warned } = *collision;
            let for_whom = with.to.map_or(u32::MAX, |node| node.0);
            let key =
                (frame.from.0, frame.kind as u8, with.from.0, with.kind as u8, for_whom, overlap, warned);
            *entry(&mut self.causes.collisions[to.index()], key) += 1;
        }
    }

    /// Results of the counters for a measured interval of this length.
    pub fn causes_outcome(&self, measured: Span) -> Causes {
        let mut made = Causes::default();
        for (flow, counters) in (0..).zip(&self.flows) {
            made.hops.extend(counters.causes.hops.iter().map(|(key, hop)| hop.outcome(flow, *key, measured)));
            let drop = |((feedback, node), dropped): &((bool, u32), _)| DropOutcome {
                flow,
                feedback: *feedback,
                node: *node,
                dropped: *dropped,
            };
            made.drops.extend(counters.causes.drops.iter().map(drop));
        }
        for (to, rows) in (0..).zip(&self.causes.losses) {
            made.losses.extend(rows.iter().map(|&((from, kind), lost)| LossOutcome {
                from,
                to,
                kind: KINDS[usize::from(kind)],
                lost,
            }));
        }
        for (receiver, rows) in (0..).zip(&self.causes.collisions) {
            made.collisions.extend(rows.iter().map(|&(key, lost)| {
                let (sender, kind, interferer, interferer_kind, for_whom, overlap, warned) = key;
                CollisionOutcome {
                    receiver,
                    sender,
                    kind: KINDS[usize::from(kind)],
                    interferer,
                    interferer_kind: KINDS[usize::from(interferer_kind)],
                    interferer_node: (for_whom != u32::MAX).then_some(for_whom),
                    how: overlap,
                    warned,
                    lost,
                }
            }));
        }
        made
    }
}

impl FlowCauses {
    /// Counts a frame exchange of the flow that ended after the warm-up.
    pub fn exchange(&mut self, exchange: &Exchange) {
        let hop = entry(&mut self.hops, (exchange.payload == 0, exchange.node.0, exchange.peer.0));
        hop.rts += u64::from(exchange.rts_tries);
        hop.data += u64::from(exchange.data_tries);
        hop.acknowledged += u64::from(exchange.fate == Fate::Acknowledged);
        hop.given_up += u64::from(exchange.fate == Fate::GivenUp);
        hop.wait += exchange.head_of_line.since(exchange.enqueued);
        hop.service += exchange.done.since(exchange.head_of_line);
        hop.airtime += exchange.airtime * u64::from(exchange.data_tries) / u64::from(exchange.mpdus);
    }

    /// Counts a packet of the flow that was dropped at a node after the warm-up.
    pub fn dropped(&mut self, node: NodeId, feedback: bool, cause: DropCause) {
        entry(&mut self.drops, (feedback, node.0))[cause as usize] += 1;
    }
}

impl HopCounters {
    fn outcome(&self, flow: u32, (feedback, from, to): (bool, u32, u32), measured: Span) -> HopOutcome {
        let ended = (self.acknowledged + self.given_up).max(1) as f64;
        HopOutcome {
            flow,
            feedback,
            from,
            to,
            rts: self.rts,
            data: self.data,
            acknowledged: self.acknowledged,
            given_up: self.given_up,
            wait_mean_s: self.wait.seconds() / ended,
            service_mean_s: self.service.seconds() / ended,
            airtime: self.airtime.seconds() / measured.seconds(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(from: u32, start_us: u64, end_us: u64) -> Frame {
        let at = |us: u64| Time::from_ns(us * 1_000);
        Frame::sample(from, Interval { start: at(start_us), end: at(end_us) })
    }

    /// Frames on the air: 1 from 0 to 100, 2 from 90 to 300, 3 from 300 to 310, 4 from 250 to 260 (all in
    /// microseconds).
    #[test]
    fn frames_overlap_if_they_share_time_and_not_if_they_touch() {
        let mut counters = CauseCounters::new(10);
        let flown = [frame(1, 0, 100), frame(2, 90, 300), frame(4, 250, 260), frame(3, 300, 310)];
        for frame in &flown {
            counters.begins(frame);
        }
        let with = |frame: &Frame| counters.during(frame).map(|other| other.from.0).collect::<Vec<_>>();
        assert_eq!(with(&flown[0]), [2]);
        assert_eq!(with(&flown[1]), [1, 4]);
        assert_eq!(with(&flown[3]), [] as [u32; 0]);
    }

    #[test]
    fn what_can_overlap_nothing_any_more_is_forgotten() {
        let mut counters = CauseCounters::new(10);
        for n in 0..1_000 {
            let start = 1_000 * u64::from(n);
            counters.begins(&frame(n % 5, start, start + 900));
        }
        assert!(counters.lately.len() <= MANY_OVER + 3, "{}", counters.lately.len());
    }
}
