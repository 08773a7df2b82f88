//! NADA (RFC 8698).

use super::{Ends, HEADER, HEADERS, SEGMENT, check_range, classic};
use crate::{ParameterError, Parameters, Scheme};
use multihop_config::keys;
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_core::{HeaderFormat, Span};
use multihop_transport::{Endpoint, NadaOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Media whose rate follows one congestion signal, in which queueing delay, losses and ECN marks count.
    /// Defaults are those of RFC 8698, figure 3. Lost packets are not retransmitted.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Nada {
        /// Minimum payload rate, at which the flow starts (RMIN).
        pub min_rate: BitRate ["1 kb/s", "16 Gb/s"] = BitRate(150e3),
        /// Maximum payload rate (RMAX). The queue of a full link is `reference_delay` times the ratio of
        /// this rate to the flow's rate, so that the maximum rate of the encoder belongs here.
        pub max_rate: BitRate ["1 kb/s", "16 Gb/s"] = BitRate(1.5e6),
        /// Weight of the flow beside other flows of NADA (PRIO).
        pub priority: f64 [0.01, 100.0] = 1.0,
        /// Congestion signal at the maximum rate (XREF).
        pub reference_delay: Duration ["100 us", "1 s"] = Duration(0.01),
        /// Time between updates of the rate, and maximum time from the arrival of a packet to the report on
        /// it (DELTA).
        pub feedback_interval: Duration ["1 ms", "1 s"] = Duration(0.1),
        /// Video frames per second, by which data that waits at the sender changes the rates (FPS).
        pub frame_rate: f64 [0.1, 1000.0] = 30.0,
        /// Explicit congestion notification: packets have ECT(0), and marks count in the signal.
        pub ecn: bool = false,
        /// Maximum payload of a packet.
        pub segment_size: Size ["1 B", "65535 B"] = SEGMENT,
        /// Network and transport headers: 20 B of IPv4 and 8 B of UDP by default. Data adds 12 B of RTP, a
        /// report 20 B of RTCP and 2 B for each packet.
        pub header: Size ["0 B", "65535 B"] = HEADER,
    }
}

impl Nada {
    fn ends(&self) -> Ends {
        Ends {
            segment_size: self.segment_size,
            header: self.header,
            feedback_interval: self.feedback_interval,
            at_frame_end: false,
            ecn: classic(self.ecn),
            burst: Span::ZERO,
        }
    }
}

impl Parameters for Nada {
    const NAME: &str = "nada";
    const SUMMARY: &str = "media at a rate from one signal of delay, losses and marks";
    const REFERENCE: &str = "RFC 8698";
    const RELIABLE: bool = false;
    const HEADERS: &[HeaderFormat] = HEADERS;

    fn check(&self) -> Result<(), ParameterError> {
        check_range(self.min_rate, self.max_rate)
    }
}

impl Scheme for Nada {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.ends().sender(Box::new(multihop_transport::Nada::new(NadaOptions {
            priority: self.priority,
            min_rate: self.min_rate.bytes_per_second(),
            max_rate: self.max_rate.bytes_per_second(),
            reference_delay: self.reference_delay.0,
            interval: self.feedback_interval.0,
            frame_rate: self.frame_rate,
        })))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.ends().receiver()
    }

    fn segment_size(&self) -> u32 {
        self.segment_size.bytes() as u32
    }

    fn is_reliable(&self) -> bool {
        false
    }
}
