//! Google congestion control (draft-ietf-rmcat-gcc-02).

use super::{Ends, HEADER, HEADERS, SEGMENT};
use crate::{ParameterError, Parameters, Scheme};
use multihop_config::keys;
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_core::{Ecn, HeaderFormat};
use multihop_transport::{Endpoint, GccOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Media whose rate grows until the delay of packet groups grows, and falls with heavy losses: the
    /// algorithm of WebRTC as the draft describes it, with a Kalman filter. Lost packets are not
    /// retransmitted.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Gcc {
        /// Payload rate at the start. It grows by 8 % per second; there are no probes for more.
        pub start_rate: BitRate ["1 kb/s", "16 Gb/s"] = BitRate(300e3),
        /// Minimum payload rate.
        pub min_rate: BitRate ["1 kb/s", "16 Gb/s"] = BitRate(50e3),
        /// Maximum payload rate.
        pub max_rate: BitRate ["1 kb/s", "16 Gb/s"] = BitRate(100e6),
        /// Ratio of the pace to the target while the application follows the target: 2.5 in WebRTC, 1 in the
        /// draft.
        pub pacing_factor: f64 [1.0, 10.0] = 2.5,
        /// Interval at which packets leave in bursts, and time within which packets are one group
        /// (burst_time).
        pub burst: Duration ["1 ms", "100 ms"] = Duration(0.005),
        /// Maximum time from the arrival of a packet to the report on it, and minimum time between increases
        /// of the rate.
        pub feedback_interval: Duration ["1 ms", "1 s"] = Duration(0.03),
        /// Maximum payload of a packet.
        pub segment_size: Size ["1 B", "65535 B"] = SEGMENT,
        /// Network and transport headers: 20 B of IPv4 and 8 B of UDP by default. Data adds 12 B of RTP, a
        /// report 20 B of RTCP and 2 B for each packet.
        pub header: Size ["0 B", "65535 B"] = HEADER,
    }
}

impl Gcc {
    fn ends(&self) -> Ends {
        Ends {
            segment_size: self.segment_size,
            header: self.header,
            feedback_interval: self.feedback_interval,
            at_frame_end: false,
            ecn: Ecn::NotCapable,
            burst: self.burst.span(),
        }
    }
}

impl Parameters for Gcc {
    const NAME: &str = "gcc";
    const SUMMARY: &str = "media at the rate below which delays do not grow, as in WebRTC";
    const REFERENCE: &str = "draft-ietf-rmcat-gcc-02; Carlucci, De Cicco, Holmer and Mascolo 2016";
    const RELIABLE: bool = false;
    const HEADERS: &[HeaderFormat] = HEADERS;

    fn check(&self) -> Result<(), ParameterError> {
        if self.min_rate <= self.start_rate && self.start_rate <= self.max_rate {
            return Ok(());
        }
        let ends = [("min_rate", self.min_rate), ("max_rate", self.max_rate)];
        let ends = ends.map(|(key, end)| *Clash::new(self.start_rate, key, end));
        Err(ParameterError::new("start_rate", Found::NotBetween(Box::new(ends)), Wanted::BetweenOrMove))
    }
}

impl Scheme for Gcc {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.ends().sender(Box::new(multihop_transport::Gcc::new(GccOptions {
            start_rate: self.start_rate.bytes_per_second(),
            min_rate: self.min_rate.bytes_per_second(),
            max_rate: self.max_rate.bytes_per_second(),
            burst: self.burst.span(),
            interval: self.feedback_interval.span(),
            pacing_factor: self.pacing_factor,
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
