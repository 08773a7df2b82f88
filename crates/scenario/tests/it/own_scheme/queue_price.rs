//! Prices of queues: each queue charges a packet by its length, and the sender pays with its window.
//!
//! In each round trip a sender asks for `increase` segments more of window, and gives `q / Q` of its window
//! for every queue of `q` bytes on the path, where `Q` is the parameter `queue`. So its equilibrium is where
//!
//! ```text
//! window * (sum of q) = increase * segment * Q
//! ```
//!
//! whatever the capacities, which no router needs to know. This is the primal algorithm of Kelly, Maulloo and
//! Tan 1998, per round trip, with queues for prices.

use multihop_config::keys;
use multihop_config::parameter_error::ParameterError;
use multihop_config::quantity::Size;
use multihop_core::{Header, HeaderBytes, HeaderFormat, NodeId, Packet, Segment, header};
use multihop_link::{EgressQueue, Hop, LinkView, RouterPolicy, Verdict};
use multihop_schemes::tcp::TcpParameters;
use multihop_schemes::{Parameters, TcpScheme};
use multihop_transport::{
    Acked, Allowance, CongestionHeader, Controller, Echo, LossKind, Lost, Recovery, Returned, TcpOptions,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// [parameters]
keys! {
    /// A reliable transport that pays for the queues that its packets meet.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct QueuePrice {
        /// Segments by which the window grows in a round trip that meets no queue.
        pub increase: f64 [0.01, 100] = 1.0,
        /// Bytes of queue that would cost the whole window in a round trip. With more, queues are
        /// longer, and run empty less often.
        pub queue: Size ["1 B", "1 GB"] = Size(15_000.0),
        /// A TCP connection with a congestion header of 12 bytes, repaired from selective
        /// acknowledgements.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for QueuePrice {
    const NAME: &str = "queue-price";
    const SUMMARY: &str = "every queue on the path charges packets for its length";
    const REFERENCE: &str = "after the primal algorithm of Kelly, Maulloo and Tan 1998";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<PriceTag>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check()
    }
}
// [header]
header! {
    /// What queue-price's packets carry
    pub struct PriceTag: "queue_price", 16, 12 of 12 {
        /// Round-trip time of the sender; 0 if it has none yet, and on acknowledgements
        rtt: u32 [1..4] "us",
        /// Change of throughput that the sender asks for, less what queues charged
        change: i32 [4..8] "B/s",
        /// On acknowledgements, the sum of the changes that arrived since the last
        granted: i32 [8..12] "B/s",
    }
}

/// What the receiver returns.
#[derive(Default)]
struct Till {
    sum: i32,
}

impl Echo for Till {
    fn note(&mut self, segment: &Segment) {
        if let Some(tag) = segment.feedback.parse::<PriceTag>() {
            self.sum = self.sum.saturating_add(tag.change);
        }
    }

    fn take(&mut self) -> HeaderBytes {
        let granted = std::mem::take(&mut self.sum);
        HeaderBytes::of(&PriceTag { granted, ..PriceTag::default() })
    }
}
// [scheme]
impl TcpScheme for QueuePrice {
    fn options(&self) -> TcpOptions {
        let congestion_header = CongestionHeader::of(PriceTag::LEN as u32);
        TcpOptions { congestion_header, ..self.tcp.options(Recovery::Sack) }
    }

    fn control(&self) -> Box<dyn Controller> {
        let options = self.options();
        let segment = f64::from(options.segment_size);
        Box::new(Payer {
            segment,
            increase: self.increase * segment,
            most: options.receive_window() as f64,
            window: self.tcp.reno().allowance().window as f64,
            srtt: None,
        })
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(Till::default()))
    }

    fn policy(&self, _node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(TollGate { queue: self.queue.0 }))
    }
}
// [router]
/// What each queue of each node does to the packets of this scheme.
struct TollGate {
    queue: f64,
}

/// The largest share of a window that one queue takes in a round trip: what a loss costs TCP.
const MOST: f64 = 0.5;

impl RouterPolicy for TollGate {
    /// The packet leaves the queue, and the others stay.
    fn on_head_of_line(&mut self, _hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        let payload = f64::from(packet.segment.payload);
        packet.segment.feedback.change(|tag: &mut PriceTag| {
            if tag.rtt > 0 {
                let share = (view.queue_bytes as f64 / self.queue).min(MOST);
                let price = share * payload / (f64::from(tag.rtt) * 1e-6);
                tag.change = tag.change.saturating_sub(price as i32);
            }
        });
        Verdict::Pass
    }
}
// [sender]
/// The sender's window. All sizes are in bytes of payload.
struct Payer {
    segment: f64,
    increase: f64,
    most: f64,
    window: f64,
    /// Smoothed round-trip time in seconds.
    srtt: Option<f64>,
}

impl Controller for Payer {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window as u64, pace: None }
    }

    /// Each packet asks for its part of the increase. The header speaks of throughput, which is the
    /// window over the round-trip time.
    fn stamp(&mut self, size: u64) -> HeaderBytes {
        HeaderBytes::of(&self.srtt.map_or_else(PriceTag::default, |srtt| PriceTag {
            rtt: (srtt * 1e6).ceil() as u32,
            change: (self.increase * size as f64 / self.window / srtt) as i32,
            granted: 0,
        }))
    }

    fn on_feedback(&mut self, returned: &Returned) {
        if let Some(rtt) = returned.rtt {
            let sample = rtt.seconds();
            self.srtt = Some(self.srtt.map_or(sample, |srtt| srtt + (sample - srtt) / 8.0));
        }
        let (Some(tag), Some(srtt)) = (returned.segment.feedback.parse::<PriceTag>(), self.srtt) else {
            return;
        };
        // A window that is not used says nothing of what the path would carry.
        if tag.granted > 0 && returned.app_limited {
            return;
        }
        let window = self.window + f64::from(tag.granted) * srtt;
        self.window = window.min(self.most).max(self.segment);
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    /// What duplicate acknowledgements report was lost on the air, or at a queue that has had its
    /// say. But when nothing comes back at all, nothing is known of the path.
    fn on_lost(&mut self, lost: &Lost) {
        if matches!(lost.kind, LossKind::Timeout { .. }) {
            self.window = self.segment;
        }
    }
}
// [tests]
#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{FlowId, Port, Span, Time};

    /// A packet of 1000 bytes of payload with this header.
    fn packet(tag: PriceTag) -> Packet {
        let segment = Segment { payload: 1_000, feedback: HeaderBytes::of(&tag), ..Segment::default() };
        let (source, destination, created) = (NodeId(0), NodeId(1), Time::ZERO);
        let (flow, port) = (FlowId(0), Port::Receiver);
        Packet { segment, flow, port, source, destination, size: 1_060, number: 0, created, hops: 0 }
    }

    /// What is left of 5000 B/s after a queue of so many bytes, where 20 000 cost everything.
    fn left(queue_bytes: u64, rtt: u32) -> i32 {
        let mut packet = packet(PriceTag { rtt, change: 5_000, granted: 0 });
        let view = LinkView { queue_bytes, ..LinkView::default() };
        let hop = Hop { now: Time::ZERO, peer: NodeId(1) };
        TollGate { queue: 20_000.0 }.on_head_of_line(hop, &mut packet, &view);
        packet.segment.feedback.parse::<PriceTag>().unwrap().change
    }

    fn pay(payer: &mut Payer, granted: i32) {
        let feedback = HeaderBytes::of(&PriceTag { granted, ..PriceTag::default() });
        let segment = &Segment { feedback, ..Segment::default() };
        let rtt = Some(Span::from_ms(100));
        payer.on_feedback(&Returned { now: Time::ZERO, segment, rtt, app_limited: false });
    }

    // [tests by hand]
    /// A tenth of 1000 bytes in 0.1 s are 1000 B/s; and never more than half of them.
    #[test]
    fn a_queue_takes_its_share_of_each_packet() {
        assert_eq!([0, 2_000, 90_000].map(|queue| left(queue, 100_000)), [5_000, 4_000, 0]);
        assert_eq!(left(2_000, 0), 5_000, "no round trip is known");
    }

    // [end of tests by hand]
    /// A segment of 1000 bytes more in a round trip of 0.1 s, in the four packets of a window: 2500 B/s each.
    #[test]
    fn a_window_grows_by_the_increase_and_pays() {
        let mut payer =
            Payer { segment: 1_000.0, increase: 1_000.0, most: 9_000.0, window: 4_000.0, srtt: None };
        assert_eq!(payer.stamp(1_000), HeaderBytes::of(&PriceTag::default()), "no round trip yet");
        pay(&mut payer, 0);
        let asked = PriceTag { rtt: 100_000, change: 2_500, granted: 0 };
        assert_eq!(payer.stamp(1_000), HeaderBytes::of(&asked));
        for (granted, window) in [(10_000, 5_000), (-20_000, 3_000), (-90_000, 1_000), (200_000, 9_000)] {
            pay(&mut payer, granted);
            assert_eq!(payer.allowance().window, window);
        }
        payer.on_lost(&Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: 9_000 });
        assert_eq!(payer.allowance().window, 9_000);
        payer.on_lost(&Lost { now: Time::ZERO, kind: LossKind::Timeout { again: false }, in_flight: 9_000 });
        assert_eq!(payer.allowance().window, 1_000);
    }
}
