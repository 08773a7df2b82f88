use super::super::summary::splitmix64;
use super::*;

use crate::testing;

use multihop_core::{Bits, DecodedFrame, DropCause, Dropped, Ecn, Exchange, Fate, FlowId, Interval, Rate};

/// A capacity of 0.5 MB/s and rounds of 100 ms. At a round trip of 50 ms and 1000 bytes, 100 queued bytes
/// give one byte of feedback.
fn constants() -> EwccpConstants {
    EwccpConstants {
        beta: 1.0,
        threshold: 1_000.0,
        round: Span::from_ms(100),
        signalling: Some(Span::from_ms(100)),
        jitter: 0.1,
        hops: 1,
        lifetime: Span::from_ms(300),
        hashing: Hashing { bits: 128, hashes: 4 },
        header: 28,
        entry: 6,
        capacity: SharedCapacity::Constant(0.5e6),
        rate: Rate::from_kbps(54_000),
    }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn packet(probe: bool) -> Packet {
    let mut packet = testing::packet(1_000, Ecn::NotCapable);
    packet.segment.feedback =
        HeaderBytes::of(&EwccpHeader { rtt: 500, probe, packets: Bits(1), ..EwccpHeader::default() });
    packet
}

fn header(packet: &Packet) -> EwccpHeader {
    let Some(header) = packet.segment.feedback.parse::<EwccpHeader>() else { panic!("{packet:?}") };
    header
}

/// Nodes in a row, each of which hears its direct neighbours.
struct Row {
    routers: Vec<EwccpRouter>,
    now: Time,
}

impl Row {
    fn new(nodes: u32, constants: EwccpConstants) -> Row {
        Row { routers: (0..nodes).map(|id| EwccpRouter::new(NodeId(id), constants, 1)).collect(), now: ms(0) }
    }

    /// Adds this many bytes to the queue towards the next node, at each of the first nodes.
    fn wait(&mut self, bytes: &[i64]) {
        for (id, bytes) in (0..).zip(bytes) {
            self.routers[id as usize].on_backlog(self.now, NodeId(id + 1), *bytes);
        }
    }

    /// Lets the node broadcast to its neighbours at once. Returns the size of the broadcast.
    fn signal(&mut self, from: u32) -> Option<u32> {
        let notice = self.routers[from as usize].poll_notice(self.now)?;
        for to in [from.wrapping_sub(1), from + 1] {
            if let Some(router) = self.routers.get_mut(to as usize) {
                router.on_notice(self.now, NodeId(from), &notice.content);
            }
        }
        Some(notice.size)
    }

    fn signal_all(&mut self) -> Vec<Option<u32>> {
        (0..self.routers.len() as u32).map(|from| self.signal(from)).collect()
    }

    /// Sends a packet over the link from this node to the next.
    fn cross(&mut self, from: u32, packet: &mut Packet) {
        let hop = |peer: u32| Hop { now: self.now, peer: NodeId(peer) };
        let view = LinkView::default();
        self.routers[from as usize].on_head_of_line(hop(from + 1), packet, &view);
        self.routers[from as usize + 1].on_received(hop(from), packet, &view);
    }

    /// Returns the header of a packet after the whole row.
    fn through(&mut self, probe: bool) -> EwccpHeader {
        let mut packet = packet(probe);
        (0..self.routers.len() as u32 - 1).for_each(|from| self.cross(from, &mut packet));
        header(&packet)
    }

    fn queued(&self) -> Vec<f64> {
        self.routers.iter().map(|router| router.table.queued()).collect()
    }
}

/// Five nodes whose four links have queues of 1600, 3200, 4800 and 6400 bytes for a whole round.
fn five_nodes() -> Row {
    let mut row = Row::new(5, constants());
    row.wait(&[1_600, 3_200, 4_800, 6_400]);
    row.now = ms(101);
    row
}

/// 5000 queued bytes give 50 bytes per packet. For the 40 packets of a round these are 2000 bytes of a window
/// of 20 000.
#[test]
fn equation_6_by_hand() {
    let router = EwccpRouter::new(NodeId(0), constants(), 1);
    assert!((router.negative_feedback(5_000.0, 500, 1_000) - 50.0).abs() < 1e-9);
    let whole = 40.0 * router.negative_feedback(5_000.0, 500, 1_000);
    assert!((whole / 20_000.0 - 0.1).abs() < 1e-9);
}

/// By hand, with the links a = 0-1 (1600), b = 1-2 (3200), c = 2-3 (4800), d = 3-4 (6400):
///
/// - Each node signals the links that leave and enter it: node 0 a, node 1 a and b, node 2 b and c, node 3 c
///   and d, node 4 d. In that order node 1 knows a, b, c; node 2 all; node 3 b, c, d.
/// - Interference sets: of a {a, b, c}, of b and c all, of d {b, c, d}: 9600, 16 000, 16 000, 14 400 bytes.
/// - Halves: node 0 counts a, b (4800) and node 1 adds c (4800). Node 1 counts a, b, c (9600) and node 2 adds
///   d (6400). Node 2 counts all. Node 3 counts b, c, d (14 400) and node 4 adds nothing.
/// - At 1/100: 96 + 160 + 160 + 144 = 560 bytes of feedback.
#[test]
fn five_nodes_by_hand() {
    let mut row = five_nodes();
    let sizes = row.signal_all();
    assert_eq!(sizes, [1, 2, 2, 2, 1].map(|entries| Some(28 + 6 * entries)), "bytes of the broadcasts");
    assert_eq!(row.queued(), [4_800.0, 9_600.0, 16_000.0, 14_400.0, 11_200.0]);
    let mut packet = packet(false);
    for (from, reported) in [(0, 96.0), (1, 256.0), (2, 416.0), (3, 560.0)] {
        row.cross(from, &mut packet);
        assert!(
            (header(&packet).feedback_bytes() - reported).abs() < 0.05,
            "after link {from}: {}",
            header(&packet).feedback_bytes()
        );
        assert_eq!(header(&packet).link(), EwccpLink::default(), "the link's part ends with the link");
    }
}

/// Without broadcasts, each end of a link knows its own queue and the queues that packets signalled.
#[test]
fn piggyback_informs_the_receiver() {
    let mut row = five_nodes();
    let mut packet = packet(false);
    row.cross(0, &mut packet);
    assert_eq!(row.routers[1].table.queued(), 4_800.0, "its own queue and that of the incoming link");
    let link = row.routers[1].table.get(DirectedLink { from: NodeId(0), to: NodeId(1) }).unwrap();
    assert_eq!((link.value.queue, link.sequence), (100, 1));
    // Node 0 counted its own 1600 bytes; node 1 adds the 3200 bytes of its outgoing link.
    assert!((header(&packet).feedback_bytes() - 48.0).abs() < 0.05);
}

#[test]
fn a_mean_is_over_the_round_and_a_round_may_pass_without_events() {
    let mut router = EwccpRouter::new(NodeId(0), constants(), 1);
    let queue = |router: &EwccpRouter| {
        router.table.get(DirectedLink { from: NodeId(0), to: NodeId(1) }).map(|l| l.value.queue)
    };
    router.on_backlog(ms(0), NodeId(1), 3_200);
    router.on_backlog(ms(25), NodeId(1), -1_600);
    router.catch_up(ms(100));
    assert_eq!(queue(&router), Some(125), "(3200 * 25 + 1600 * 75) / 100 = 2000 bytes");
    router.catch_up(ms(330));
    assert_eq!(queue(&router), Some(100), "of the round from 200 to 300 ms");
    router.on_backlog(ms(330), NodeId(1), -1_600);
    router.catch_up(ms(400));
    assert_eq!(queue(&router), Some(30), "1600 bytes for 30 ms of 100");
    // A queue that is empty for longer than the lifetime is no longer signalled.
    router.catch_up(ms(701));
    assert_eq!(queue(&router), None);
}

#[test]
fn queues_below_the_threshold_are_no_congestion() {
    let mut row = Row::new(3, constants());
    row.wait(&[500, 480]);
    row.now = ms(101);
    row.signal_all();
    assert_eq!(row.through(false).feedback, 0, "980 bytes in all");
    row.wait(&[64, 0]);
    row.now = ms(201);
    row.signal_all();
    let reported = row.through(false).feedback_bytes();
    assert!((reported - 2.0 * 10.44).abs() < 0.3, "1044 bytes at both links: {reported}");
}

/// 1600 bytes do not exceed a threshold of 1600; 1616 bytes do.
#[test]
fn congestion_begins_above_the_threshold() {
    for (waiting, reported) in [(1_600, 0.0), (1_616, 32.32)] {
        let mut row = Row::new(3, EwccpConstants { threshold: 1_600.0, ..constants() });
        row.wait(&[0, waiting]);
        row.now = ms(101);
        row.signal_all();
        // Both links count the queue once.
        let found = row.through(false).feedback_bytes();
        assert!((found - reported).abs() < 0.05, "{waiting}: {found}");
    }
}

/// The receiver of a link knows 480 bytes that the sender does not know, which is below the threshold. They
/// are debit only if the sender found congestion.
#[test]
fn queues_of_the_receiver_count_once_the_sender_is_congested() {
    for (congested, reported) in [(false, 0.0), (true, 4.8)] {
        let mut router = EwccpRouter::new(NodeId(1), constants(), 1);
        router.on_backlog(ms(0), NodeId(2), 480);
        let mut packet = packet(false);
        let link = EwccpLink { congested, ..EwccpLink::default() };
        packet.segment.feedback = HeaderBytes::of(&header(&packet).with_link(link));
        router.on_received(Hop { now: ms(101), peer: NodeId(0) }, &mut packet, &LinkView::default());
        assert!(
            (header(&packet).feedback_bytes() - reported).abs() < 0.05,
            "{congested}: {}",
            header(&packet).feedback_bytes()
        );
    }
}

/// A link is signalled for the lifetime of 300 ms after its last use.
#[test]
fn a_link_is_signalled_for_the_lifetime_after_its_use() {
    let mut router = EwccpRouter::new(NodeId(0), constants(), 1);
    let link = DirectedLink { from: NodeId(0), to: NodeId(1) };
    router.on_backlog(ms(0), NodeId(1), 1_600);
    router.on_backlog(ms(100), NodeId(1), -1_600);
    router.catch_up(ms(401));
    assert!(router.table.get(link).is_some(), "300 ms");
    router.catch_up(ms(501));
    assert!(router.table.get(link).is_none(), "400 ms");
    router.on_restart(ms(900));
    router.catch_up(ms(1_001));
    assert_eq!(router.table.get(link).map(|link| link.value.queue), Some(0), "as a link that was just used");
}

/// Eight idle nodes give a segment of credit for each of seven links.
#[test]
fn a_probe_gathers_a_segment_for_each_idle_link() {
    let header = Row::new(8, constants()).through(true);
    assert!(header.probe && header.feedback == 7_000 * 256, "{header:?}");
}

/// The credit of two links is void at the third, which is congested. From there on the feedback is debit.
#[test]
fn congestion_turns_the_answer_to_a_probe_into_debit() {
    let mut row = Row::new(6, constants());
    row.wait(&[0, 0, 0, 0, 4_800]);
    row.now = ms(101);
    let mut packet = packet(true);
    (0..3).for_each(|from| row.cross(from, &mut packet));
    assert_eq!((header(&packet).probe, header(&packet).feedback), (true, 3_000 * 256));
    // Node 4 knows the 4800 bytes and node 3 does not, so the receiver of the fourth link finds it congested.
    row.cross(3, &mut packet);
    assert!(!header(&packet).probe && (header(&packet).feedback_bytes() - 48.0).abs() < 0.05, "{packet:?}");
    row.cross(4, &mut packet);
    assert!((header(&packet).feedback_bytes() - 96.0).abs() < 0.05, "{packet:?}");
}

#[test]
fn acknowledgements_pass_untouched() {
    let mut row = five_nodes();
    row.signal_all();
    let mut packet = testing::packet(0, Ecn::NotCapable);
    let returned = EwccpHeader { packets: Bits(2), feedback: 77, ..EwccpHeader::default() };
    packet.segment.feedback = HeaderBytes::of(&returned);
    row.cross(1, &mut packet);
    assert_eq!(header(&packet), returned);
}

/// Queues are forwarded if links interfere over two hops.
#[test]
fn queues_are_signalled_over_as_many_hops_as_asked() {
    for (hops, known) in [(1, [1, 2, 2, 0, 0]), (2, [1, 2, 2, 2, 0]), (3, [1, 2, 2, 2, 2])] {
        let mut row = Row::new(5, EwccpConstants { hops, ..constants() });
        row.wait(&[1_600]);
        row.now = ms(101);
        // Nodes signal in turn, after they received the signals of the nodes before them.
        row.signal_all();
        let count: Vec<usize> = row.routers.iter().map(|router| router.table.entries().len()).collect();
        let expected: Vec<usize> = known.iter().map(|known| usize::from(*known > 0)).collect();
        assert_eq!(count, expected, "{hops} hops");
    }
}

/// Broadcasts are about 100 ms apart, never at the same time, and only while there is a queue to signal.
#[test]
fn broadcasts_are_spaced_and_need_a_queue() {
    let mut router = EwccpRouter::new(NodeId(7), constants(), 1);
    assert_eq!(router.next_notice(), None, "nothing to signal");
    router.on_backlog(ms(0), NodeId(8), 1_000);
    router.catch_up(ms(100));
    let mut last = router.next_notice().unwrap();
    assert!(last <= ms(200));
    let mut gaps = Vec::new();
    for _ in 0..200 {
        assert!(router.poll_notice(last).is_some());
        let next = router.next_notice().unwrap();
        gaps.push(next.since(last).seconds());
        last = next;
    }
    assert!(gaps.iter().all(|gap| (0.09..=0.11).contains(gap)));
    let mean = gaps.iter().sum::<f64>() / 200.0;
    assert!((mean - 0.1).abs() < 0.001, "{mean}");
    router.on_backlog(last, NodeId(8), -1_000);
    assert_eq!(router.poll_notice(last + Span::from_ms(900)), None);
    assert_eq!(router.next_notice(), None, "silent until a packet is queued again");
}

/// A measured capacity is what was overheard and delivered, and at least a share of the bit rate.
#[test]
fn a_measured_capacity_is_what_was_carried() {
    // A tenth of 8 Mb/s.
    let measured = EwccpConstants {
        capacity: SharedCapacity::Measured { least: 0.1 },
        rate: Rate::from_kbps(8_000),
        ..constants()
    };
    let mut router = EwccpRouter::new(NodeId(0), measured, 1);
    router.catch_up(ms(0));
    assert!((router.negative_feedback(5_000.0, 500, 1_000) - 250.0).abs() < 1e-9, "a fifth of the constant");
    let heard = DecodedFrame {
        node: NodeId(0),
        kind: FrameKind::Data,
        from: NodeId(3),
        to: Some(NodeId(4)),
        air: Interval { start: ms(0), end: ms(1) },
        duration: Span::ZERO,
        size: 1_000,
        flow: None,
        rate: Rate::from_kbps(11_000),
    };
    (0..50).for_each(|_| router.on_link(&LinkEvent::Decoded(heard)));
    router.catch_up(ms(100));
    assert!(
        (router.negative_feedback(5_000.0, 500, 1_000) - 50.0).abs() < 1e-9,
        "50 packets in 100 ms: 0.5 MB/s"
    );
    router.catch_up(ms(300));
    assert!((router.negative_feedback(5_000.0, 500, 1_000) - 250.0).abs() < 1e-9, "silence");
}

/// `psi C` follows the bit rate in use: a fifth of 8 Mb/s, and then of 40 Mb/s.
#[test]
fn a_share_is_one_of_the_rate_in_use() {
    let share =
        EwccpConstants { capacity: SharedCapacity::Share(0.2), rate: Rate::from_kbps(8_000), ..constants() };
    let mut router = EwccpRouter::new(NodeId(0), share, 1);
    router.catch_up(ms(0));
    assert!((router.negative_feedback(5_000.0, 500, 1_000) - 125.0).abs() < 1e-9);
    router.on_link(&testing::sent(FlowId(0), 40_000));
    assert!((router.negative_feedback(5_000.0, 500, 1_000) - 25.0).abs() < 1e-9);
}

// ---- faults ----

/// Half of all broadcasts are lost at random. Entries are at most three intervals old, and feedback is at
/// most that of the true queues.
#[test]
fn lost_broadcasts_leave_older_entries_and_then_none() {
    let mut row = five_nodes();
    let full = 560.0;
    let mut worst = f64::INFINITY;
    for round in 1..200u64 {
        row.now = ms(101 + 100 * round);
        for from in 0..5 {
            if splitmix64(round << 8 | u64::from(from)) & 1 == 0 {
                row.signal(from);
            }
        }
        let reported = row.through(false).feedback_bytes();
        assert!(reported <= full + 0.2, "never more than the true queues: {reported}");
        worst = worst.min(reported);
    }
    // One end of each link knows the link's own queue and both adjacent queues without any broadcast.
    assert!(worst > 0.5 * full, "{worst}");
    // Without any more signals, each node knows its own queue only.
    row.now += Span::from_ms(1_000);
    for router in &mut row.routers {
        router.catch_up(row.now);
        router.table.expire(row.now);
    }
    assert_eq!(row.queued(), [1_600.0, 3_200.0, 4_800.0, 6_400.0, 0.0]);
}

/// A restarted router counts from 0 again while its neighbours know number 100. They accept its signals once
/// the old entries are stale.
#[test]
fn a_restarted_router_is_believed_again() {
    let mut row = five_nodes();
    for round in 0..99 {
        row.now = ms(101 + 100 * round);
        row.signal_all();
    }
    row.routers[2].on_restart(row.now);
    assert!(row.routers[2].table.is_empty());
    assert_eq!(row.routers[2].own_queues[0].backlog, 4_800, "packets in the queue remain");
    // 3200 of these bytes leave.
    row.routers[2].on_backlog(row.now, NodeId(3), -3_200);
    let mut reported = Vec::new();
    for _ in 0..8 {
        row.now += Span::from_ms(100);
        row.signal_all();
        reported.push(row.through(false).feedback_bytes());
    }
    // 64 + 128 + 128 + 112 bytes for the present queues; more while others still count the earlier 4800
    // bytes.
    assert!(reported.iter().all(|reported| (431.8..=560.2).contains(reported)), "{reported:?}");
    assert!(reported[0] > 500.0, "old entries: {reported:?}");
    assert!(
        reported[4..].iter().all(|reported| (reported - 432.0).abs() < 0.2),
        "the true queues after half a second: {reported:?}"
    );
}

/// 300 rounds: numbers pass 255, and later numbers are accepted like the earlier ones.
#[test]
fn numbers_wrap() {
    let mut row = five_nodes();
    for round in 0..300 {
        row.now = ms(101 + 100 * round);
        row.signal_all();
        assert!((row.through(false).feedback_bytes() - 560.0).abs() < 0.2, "round {round}");
    }
    assert_eq!(row.routers[0].own_queues[0].sequence, (300 % 256) as u8);
}

/// A signalled queue that is empty since counts for no longer than its lifetime.
#[test]
fn stale_entries_end() {
    let mut row = five_nodes();
    row.signal_all();
    // Nodes 0 and 1 stop; the others continue.
    for at in [200, 300, 400, 401, 402] {
        row.now = ms(at);
        for from in 2..5 {
            row.signal(from);
        }
    }
    assert_eq!(row.routers[2].table.queued(), 4_800.0 + 6_400.0);
}

#[test]
fn garbage_in_a_broadcast_does_no_harm() {
    let mut router = EwccpRouter::new(NodeId(0), constants(), 1);
    let bytes: Vec<u8> = (0..251u32).map(|i| (splitmix64(u64::from(i)) & 0xff) as u8).collect();
    (0..bytes.len()).for_each(|length| router.on_notice(ms(1), NodeId(9), &bytes[..length]));
    let dropped =
        Dropped { node: NodeId(0), flow: FlowId(0), size: 1, at: ms(1), cause: DropCause::QueueFull };
    router.on_link(&LinkEvent::Dropped(dropped));
    assert!(router.poll_notice(ms(400)).is_none_or(|notice| notice.size >= 28));
}

/// A measured capacity counts the frames that the node overhears and its own acknowledged frames.
#[test]
fn acknowledged_frames_are_carried() {
    let mut router = EwccpRouter::new(NodeId(0), constants(), 1);
    let exchange = |fate| {
        LinkEvent::Exchange(Exchange {
            node: NodeId(0),
            peer: NodeId(1),
            flow: FlowId(0),
            size: 1_000,
            rate: Rate::from_kbps(2_000),
            payload: 960,
            enqueued: ms(0),
            head_of_line: ms(0),
            done: ms(5),
            fate,
            rts_tries: 1,
            rts_failures: 0,
            data_tries: 1,
            slots: 0,
            airtime: Span::from_ms(4),
            mpdus: 1,
        })
    };
    router.on_link(&exchange(Fate::GivenUp));
    assert_eq!(router.carried, 0);
    router.on_link(&exchange(Fate::Acknowledged));
    assert_eq!(router.carried, 1_000);
}

/// Only unicast DATA and acknowledged own exchanges count.
#[test]
fn carried_bytes_are_unicast_data() {
    let decoded = |kind, to| {
        LinkEvent::Decoded(DecodedFrame {
            node: NodeId(0),
            kind,
            from: NodeId(5),
            to,
            air: Interval { start: ms(0), end: ms(1) },
            duration: Span::ZERO,
            size: 1_000,
            flow: None,
            rate: Rate::from_kbps(2_000),
        })
    };
    let mut router = EwccpRouter::new(NodeId(0), constants(), 1);
    let mut carried = |event| {
        router.on_link(&event);
        router.carried
    };
    assert_eq!(carried(decoded(FrameKind::Data, None)), 0, "a broadcast");
    assert_eq!(carried(decoded(FrameKind::Rts, Some(NodeId(6)))), 0);
    assert_eq!(carried(decoded(FrameKind::Data, Some(NodeId(6)))), 1_000);
}
