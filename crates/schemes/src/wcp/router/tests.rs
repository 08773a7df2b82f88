use super::super::sender::{SenderOptions, WcpSender};
use super::*;
use crate::testing;
use multihop_core::{Ecn, Segment};
use multihop_transport::{Controller, Returned};

fn constants() -> WcpConstants {
    let signalling = Signalling {
        interval: Some(Span::from_ms(100)),
        jitter: 0.1,
        lifetime: Span::from_ms(300),
        header: 28,
    };
    let mean = MeanConstants { weight: 0.02, packet_time: Span::from_ms(1) };
    WcpConstants { threshold: 4.0, mean, signalling }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Nodes in a row, each of which hears its direct neighbours.
struct Row {
    routers: Vec<WcpRouter>,
    now: Time,
}

impl Row {
    fn new(nodes: u32) -> Row {
        Row { routers: (0..nodes).map(|id| WcpRouter::new(NodeId(id), constants(), 1)).collect(), now: ms(0) }
    }

    /// Packets arrive and leave with this many in the queue from one node to another, until the mean follows.
    fn wait(&mut self, from: u32, to: u32, packets: u64) {
        let router = &mut self.routers[from as usize];
        (0..packets).for_each(|_| router.on_backlog(self.now, NodeId(to), 1_000));
        for _ in 0..500 {
            router.on_backlog(self.now, NodeId(to), -1_000);
            router.on_backlog(self.now, NodeId(to), 1_000);
        }
    }

    /// Lets every node broadcast.
    fn signal(&mut self) {
        for from in 0..self.routers.len() {
            let Some(notice) = self.routers[from].poll_notice(self.now) else { continue };
            for to in [from.wrapping_sub(1), from + 1] {
                if let Some(router) = self.routers.get_mut(to) {
                    router.on_notice(self.now, NodeId(from as u32), &notice.content);
                }
            }
        }
    }

    /// Header of a packet of a flow with this round-trip time after one hop.
    fn cross(&mut self, from: u32, to: u32, rtt: u16) -> WcpHeader {
        let mut packet = testing::packet(1_000, Ecn::NotCapable);
        packet.segment.feedback = HeaderBytes::of(&WcpHeader { rtt, ..WcpHeader::default() });
        let hop = |peer| Hop { now: self.now, peer: NodeId(peer) };
        let view = LinkView::default();
        self.routers[from as usize].on_head_of_line(hop(to), &mut packet, &view);
        self.routers[to as usize].on_received(hop(from), &mut packet, &view);
        packet.segment.feedback.parse().unwrap()
    }
}

/// Nodes 0 to 3 in a row. Flow A goes from 0 to 1, and flow B from 3 to 2: no node forwards both, and no link
/// of one is a link of the other. The queue of B alone is long; A shares its neighbourhood, as node 1 hears
/// node 2. Both senders halve.
#[test]
fn two_flows_that_share_a_neighbourhood_but_no_node_halve_together() {
    let mut row = Row::new(4);
    let options = SenderOptions { segment_size: 1_000, packet_size: 1_000, max_window: 50_000, alpha: 1.0 };
    let mut senders = [WcpSender::new(options), WcpSender::new(options)];
    for sender in &mut senders {
        sender.on_opened(Span::from_ms(100));
    }
    let rate = |sender: &WcpSender| sender.allowance().pace.unwrap().bps() / 8_000;
    let mut step = |row: &mut Row, at: u64| {
        row.now = ms(at);
        // The receiver of a link repeats in its next broadcast what the sender signalled.
        (0..2).for_each(|_| row.signal());
        let headers = [row.cross(0, 1, 1_000), row.cross(3, 2, 1_000)];
        for (sender, header) in senders.iter_mut().zip(headers) {
            let segment = Segment { feedback: HeaderBytes::of(&header), ..Segment::default() };
            sender.on_feedback(&Returned { now: row.now, segment: &segment, rtt: None, app_limited: false });
        }
        [rate(&senders[0]), rate(&senders[1])]
    };
    row.wait(0, 1, 1);
    row.wait(3, 2, 1);
    let rates: Vec<[u64; 2]> = [100, 200, 300].iter().map(|at| step(&mut row, *at)).collect();
    assert_eq!(rates, [[20, 20], [30, 30], [40, 40]], "no queue is long");
    row.wait(3, 2, 9);
    assert_eq!(step(&mut row, 400), [20, 20]);
    assert_eq!(step(&mut row, 450), [20, 20], "once in a round trip");
    assert_eq!(step(&mut row, 500), [10, 10]);
}

/// In a row of six, the neighbourhood of the link from 2 to 3 has the links with an end at most one hop from
/// one of its ends: those from 0 to 1 and from 5 to 4 as well.
#[test]
fn a_congested_link_marks_its_neighbourhood_and_no_more() {
    for (congested, marked) in [
        ((0, 1), [true, true, true, false, false]),
        ((2, 3), [true, true, true, true, true]),
        ((3, 2), [true, true, true, true, true]),
        ((4, 5), [false, false, true, true, true]),
    ] {
        let mut row = Row::new(6);
        row.wait(congested.0, congested.1, 9);
        (0..2).for_each(|_| row.signal());
        let found = [0, 1, 2, 3, 4].map(|from| row.cross(from, from + 1, 0).congested);
        assert_eq!(found, marked, "{congested:?}");
    }
}

/// A mean above four packets is congestion; a queue of nine reaches it only after many packets, and an empty
/// one leaves it by itself. A change by any number of bytes is one packet.
#[test]
fn congestion_is_a_mean_queue_above_the_threshold() {
    let mut router = WcpRouter::new(NodeId(0), constants(), 1);
    let mut packets = 0;
    while !router.is_congested(ms(0)) {
        router.on_backlog(ms(0), NodeId(1), 500);
        packets += 1;
    }
    // The means of the lengths 1, 2, 3 and so on.
    let mean = |n: i32| (1..=n).fold(0.0, |mean, length| mean + 0.02 * (f64::from(length) - mean));
    assert!(mean(packets - 1) <= 4.0 && mean(packets) > 4.0, "{packets}");
    assert!(router.is_congested(ms(900)), "the queue is still there");
    (0..packets).for_each(|_| router.on_backlog(ms(900), NodeId(1), -500));
    assert!(router.is_congested(ms(900)) && !router.is_congested(ms(950)), "0.98 in each ms");
}

/// Flows with 100 and 300 ms, at links that share a neighbourhood: packets of both report the larger.
#[test]
fn packets_report_the_largest_round_trip_of_the_neighbourhood() {
    let mut row = Row::new(4);
    row.wait(0, 1, 1);
    row.wait(1, 2, 1);
    assert_eq!(row.cross(0, 1, 1_000).neighbourhood_rtt, 100_000);
    row.cross(1, 2, 3_000);
    row.signal();
    assert_eq!(row.cross(0, 1, 1_000).neighbourhood_rtt, 300_000);
    let header = row.cross(2, 3, 0);
    assert_eq!(header.neighbourhood_rtt, 300_000, "node 3 hears of the link from 1 to 2 alone");
}

/// Two flows of one link, 100 and 300 ms: the larger counts while its flow sends, for two seconds.
#[test]
fn a_flow_that_no_longer_sends_has_no_round_trip() {
    let mut row = Row::new(2);
    row.wait(0, 1, 1);
    let mut report = |at: u64, flow: u32, rtt: u16| {
        let mut packet = testing::packet(1_000, Ecn::NotCapable);
        packet.flow = FlowId(flow);
        packet.segment.feedback = HeaderBytes::of(&WcpHeader { rtt, ..WcpHeader::default() });
        let hop = Hop { now: ms(at), peer: NodeId(1) };
        row.routers[0].on_head_of_line(hop, &mut packet, &LinkView::default());
        packet.segment.feedback.parse::<WcpHeader>().unwrap().neighbourhood_rtt
    };
    assert_eq!(report(0, 1, 3_000), 300_000);
    assert_eq!([report(1_000, 2, 1_000), report(2_000, 2, 1_000)], [300_000; 2]);
    assert_eq!(report(2_001, 2, 1_000), 100_000);
}

#[test]
fn acknowledgements_pass_untouched() {
    let mut row = Row::new(2);
    row.wait(0, 1, 9);
    let mut packet = testing::packet(0, Ecn::NotCapable);
    packet.segment.feedback = HeaderBytes::of(&WcpHeader::default());
    row.routers[0].on_head_of_line(Hop { now: ms(1), peer: NodeId(1) }, &mut packet, &LinkView::default());
    assert_eq!(packet.segment.feedback.parse(), Some(WcpHeader::default()));
}

/// A signalled link counts for 300 ms.
#[test]
fn old_congestion_ends() {
    let mut row = Row::new(3);
    row.wait(2, 1, 9);
    row.signal();
    assert!(row.cross(0, 1, 0).congested);
    row.now = ms(301);
    assert!(!row.cross(0, 1, 0).congested, "the last signal is too old");
}

#[test]
fn a_wire_has_no_broadcasts_and_restarts_forget() {
    let mut constants = constants();
    constants.signalling.interval = None;
    let mut router = WcpRouter::new(NodeId(0), constants, 1);
    (0..99).for_each(|_| router.on_backlog(ms(0), NodeId(1), 1_000));
    assert!(router.is_congested(ms(0)) && router.next_notice().is_none());
    router.on_restart(ms(1));
    assert!(!router.is_congested(ms(1)));
    assert_eq!(router.own[0].queue.packets(), 99, "packets in the queue remain");
}

#[test]
fn garbage_in_a_broadcast_does_no_harm() {
    let mut router = WcpRouter::new(NodeId(0), constants(), 1);
    let bytes: Vec<u8> = (0..=255u8).map(|byte| byte.wrapping_mul(197)).collect();
    (0..bytes.len()).for_each(|length| router.on_notice(ms(1), NodeId(9), &bytes[..length]));
    assert!(router.poll_notice(ms(200)).is_none_or(|notice| notice.size >= 28));
}
