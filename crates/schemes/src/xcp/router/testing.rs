//! Packets of XCP for tests.

use crate::testing;
use crate::xcp::header::XcpHeader;
use multihop_core::{Ecn, HeaderBytes, Packet, Rate, Time};
use multihop_link::{EgressQueue, LinkView, RouterPolicy};

/// Queue before a radio at 8 Mb/s, which is 1 MB/s.
pub(crate) const EGRESS: EgressQueue = EgressQueue {
    rate: Rate::from_kbps(8_000),
    is_wired: false,
    queue_limit: 50,
    rts_from: None,
    aggregates: false,
    seed: 1,
};

/// Returns a packet of 1000 bytes after its first hop. The sender's round-trip time and time between packets
/// are in milliseconds.
pub(crate) fn packet(rtt_ms: u32, x_ms: u32, delta: i32) -> Packet {
    let mut packet = testing::packet(960, Ecn::NotCapable);
    packet.hops = 1;
    let (rtt, x) = (1_000 * rtt_ms, 1_000 * x_ms);
    packet.segment.feedback = HeaderBytes::of(&XcpHeader { rtt, x, delta, reverse: 0 });
    packet
}

/// Returns the change that the header requests or grants.
pub(crate) fn delta(packet: &Packet) -> i32 {
    let Some(header) = packet.segment.feedback.parse::<XcpHeader>() else { panic!("{packet:?}") };
    header.delta
}

/// Passes the packet through a queue without delay and returns the change that it is granted.
pub(crate) fn pass(router: &mut dyn RouterPolicy, now: Time, mut packet: Packet, view: &LinkView) -> i32 {
    router.on_arrival(testing::hop(now), &mut packet, view);
    router.on_head_of_line(testing::hop(now), &mut packet, view);
    delta(&packet)
}
