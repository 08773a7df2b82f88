//! Reports for tests of controllers.

use super::{MediaControl, MediaFeedback, PacketFate};
use multihop_core::{Span, Time};

/// Path without a network: packets at equal intervals with a delay each, and a report on some of them at a
/// time.
pub(crate) struct Path {
    /// Time in seconds, which the reports move on.
    pub now: f64,
    /// Payload bytes of each packet.
    pub payload: u32,
    /// Time between packets in seconds.
    pub spacing: f64,
    /// Round-trip time of the reports.
    pub rtt: Span,
    /// Payload bytes in flight in the reports.
    pub in_flight: u64,
    number: u64,
}

impl Path {
    /// Creates a path on which packets of `payload` bytes leave each `spacing` seconds.
    pub(crate) fn new(payload: u32, spacing: f64) -> Path {
        Path { now: 0.0, payload, spacing, rtt: Span::from_ms(50), in_flight: 0, number: 0 }
    }

    /// Sends a packet for each fate, which is its one-way delay in seconds and its mark, or none if it is
    /// lost, and reports them at once.
    pub(crate) fn report(&mut self, control: &mut dyn MediaControl, fates: &[Option<(f64, bool)>]) {
        let mut packets = Vec::new();
        for fate in fates {
            self.now += self.spacing;
            packets.push(PacketFate {
                number: self.number,
                payload: self.payload,
                sent: self.now,
                arrival: fate.map(|(delay, _)| self.now + delay),
                marked: fate.is_some_and(|(_, marked)| marked),
            });
            self.number += 1;
        }
        control.on_feedback(&MediaFeedback {
            now: Time::ZERO + Span::from_seconds(self.now),
            rtt: self.rtt,
            packets: &packets,
            in_flight: self.in_flight,
        });
    }

    /// Reports `count` packets with the same delay.
    pub(crate) fn steady(&mut self, control: &mut dyn MediaControl, delay: f64, count: usize) {
        self.report(control, &vec![Some((delay, false)); count]);
    }
}
