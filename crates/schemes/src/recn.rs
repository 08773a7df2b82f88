//! RECN (He et al. 2017): each node marks what it could hardly get onto the air, and unmodified ECN TCP backs off.

use crate::tcp::TcpParameters;
use crate::{Parameters, Scheme};
use multihop_core::{NodeId, Packet};
use multihop_link::{Departure, LinkView, RouterPolicy, TransmissionEfficiency, Verdict};
use multihop_transport::{Endpoint, Recovery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `tcp-newreno` with ECN, and nodes that set congestion experienced on a data packet when its frame transmission efficiency,
/// as predicted when its DATA frame leaves, is low.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Recn {
    /// Frame transmission efficiency below which a frame is marked, from 0 (never) to 1 (always).
    pub threshold: f64,
    /// The connection.
    #[serde(flatten)]
    pub tcp: TcpParameters,
}

impl Default for Recn {
    /// The threshold of the paper.
    fn default() -> Recn {
        Recn { threshold: 0.6, tcp: TcpParameters::default() }
    }
}

impl Parameters for Recn {
    const NAME: &str = "recn";
    const SUMMARY: &str =
        "TCP NewReno with ECN, marked by nodes from the transmission efficiency of each frame";
    const REFERENCE: &str = "He et al. 2017; RFC 3168";

    fn check(&self) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(format!("threshold is {}; it must be between 0 and 1", self.threshold));
        }
        if self.tcp.ecn == Some(false) {
            return Err("ecn is false; recn needs it, so leave it out".to_owned());
        }
        self.tcp.check()
    }
}

impl Scheme for Recn {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.ecn_tcp().sender(Recovery::NewReno)
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.ecn_tcp().receiver(Recovery::NewReno)
    }

    fn router(&self, _node: NodeId) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(Marker { threshold: self.threshold }))
    }

    fn segment_size(&self) -> u32 {
        self.tcp.segment_size()
    }
}

impl Recn {
    fn ecn_tcp(&self) -> TcpParameters {
        TcpParameters { ecn: Some(true), ..self.tcp.clone() }
    }
}

/// The node's part. Every hop marks on its own, and a retry is judged again.
struct Marker {
    threshold: f64,
}

impl RouterPolicy for Marker {
    fn on_data(&mut self, departure: &Departure, packet: &mut Packet, _view: &LinkView) -> Verdict {
        let low = TransmissionEfficiency::predicted(departure) < self.threshold;
        if low && packet.carries_data() { Verdict::Mark } else { Verdict::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{Ecn, FlowId, Port, Segment, Span, Time};

    /// 1 Mb/s, 1000 bytes, RTS 352 + CTS 304 + DATA 8416 + ACK 304 us and three SIFS: 9406 us of exchange.
    fn departure(service_us: u64) -> Departure {
        let (data, ack, sifs) = (Span::from_us(8_416), Span::from_us(304), Span::from_us(10));
        Departure {
            now: Time::ZERO,
            service_so_far: Span::from_us(service_us) - (data + ack + sifs),
            data,
            ack,
            sifs,
            exchange: Span::from_us(9_406),
            rts_tries: 1,
            rts_failures: 0,
            data_tries: 0,
        }
    }

    /// What becomes of a packet whose service delay will be `service_us`.
    fn after(service_us: u64, payload: u32, ecn: Ecn) -> Ecn {
        let mut packet = Packet {
            segment: Segment { payload, ecn, ..Segment::default() },
            flow: FlowId(0),
            port: Port::Receiver,
            source: NodeId(0),
            destination: NodeId(1),
            size: payload + 40,
            number: 0,
            created: Time::ZERO,
            hops: 0,
        };
        let mut router = Recn::default().router(NodeId(0)).unwrap();
        if router.on_data(&departure(service_us), &mut packet, &LinkView::default()) == Verdict::Mark {
            packet.mark();
        }
        packet.segment.ecn
    }

    #[test]
    fn a_frame_is_marked_when_its_service_takes_more_than_15_68_ms() {
        assert_eq!(after(9_766, 1000, Ecn::Capable), Ecn::Capable, "an idle channel");
        assert_eq!(after(15_676, 1000, Ecn::Capable), Ecn::Capable);
        assert_eq!(after(15_678, 1000, Ecn::Capable), Ecn::CongestionExperienced);
    }

    #[test]
    fn only_data_that_understands_ecn_is_marked() {
        assert_eq!(after(50_000, 1000, Ecn::NotCapable), Ecn::NotCapable);
        assert_eq!(after(50_000, 0, Ecn::Capable), Ecn::Capable);
    }

    #[test]
    fn both_ends_agree_on_ecn() {
        let (mut sender, mut receiver) = (Recn::default().sender(), Recn::default().receiver());
        sender.push(Time::ZERO, 5_000);
        let syn = sender.poll_segment(Time::ZERO).unwrap();
        receiver.on_segment(Time::ZERO, &syn);
        sender.on_segment(Time::ZERO, &receiver.poll_segment(Time::ZERO).unwrap());
        let data = sender.poll_segment(Time::ZERO).unwrap();
        assert_eq!((syn.ecn, data.ecn), (Ecn::NotCapable, Ecn::Capable));
    }
}
