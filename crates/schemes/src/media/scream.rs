//! SCReAM version 2 (draft-ietf-ccwg-rfc8298bis-screamv2-01).

use super::{Ends, HEADER, HEADERS, SEGMENT, check_range, classic};
use crate::{ParameterError, Parameters, Scheme};
use multihop_config::keys;
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_core::{Ecn, HeaderFormat, Span};
use multihop_transport::{Endpoint, ScreamOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Media whose bytes in flight are limited by a window that follows losses, marks and queueing delay. The
    /// encoder's rate is that of the window per round trip. Defaults are those of the draft. Lost packets are
    /// not retransmitted.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Scream {
        /// Minimum payload rate, at which the flow starts (TARGET_BITRATE_MIN).
        pub min_rate: BitRate ["1 kb/s", "16 Gb/s"] = BitRate(64e3),
        /// Maximum payload rate (TARGET_BITRATE_MAX). Near the maximum, packets leave at up to six times the
        /// target rate, so that the maximum rate of the encoder belongs here.
        pub max_rate: BitRate ["1 kb/s", "16 Gb/s"] = BitRate(100e6),
        /// Least target of the queueing delay (QDELAY_TARGET_LO).
        pub delay_target: Duration ["1 ms", "400 ms"] = Duration(0.06),
        /// Raise the target of the queueing delay up to 400 ms beside flows that fill queues.
        pub compete: bool = true,
        /// Explicit congestion notification of RFC 3168: packets have ECT(0), and a mark reduces the window
        /// to 0.8 of its size.
        pub ecn: bool = false,
        /// L4S: packets have ECT(1), and the window is reduced by half of the share of marked packets.
        pub l4s: bool = false,
        /// Maximum time from the arrival of a packet to the report on it. The end of a frame, and every
        /// eighth packet, are reported at once.
        pub feedback_interval: Duration ["1 ms", "1 s"] = Duration(0.04),
        /// Maximum payload of a packet (MSS).
        pub segment_size: Size ["1 B", "65535 B"] = SEGMENT,
        /// Network and transport headers: 20 B of IPv4 and 8 B of UDP by default. Data adds 12 B of RTP, a
        /// report 20 B of RTCP and 2 B for each packet.
        pub header: Size ["0 B", "65535 B"] = HEADER,
    }
}

impl Scream {
    fn ends(&self) -> Ends {
        Ends {
            segment_size: self.segment_size,
            header: self.header,
            feedback_interval: self.feedback_interval,
            at_frame_end: true,
            ecn: if self.l4s { Ecn::Ect1 } else { classic(self.ecn) },
            burst: Span::ZERO,
        }
    }
}

impl Parameters for Scream {
    const NAME: &str = "scream";
    const SUMMARY: &str = "media with a window of bytes in flight, and a rate that follows from it";
    const REFERENCE: &str = "draft-ietf-ccwg-rfc8298bis-screamv2-01; RFC 8298";
    const RELIABLE: bool = false;
    const HEADERS: &[HeaderFormat] = HEADERS;

    fn check(&self) -> Result<(), ParameterError> {
        if self.ecn && self.l4s {
            let found = Found::NoEffect(Clash::new(true, "l4s", true));
            return Err(ParameterError::new("ecn", found, Wanted::LeaveOutOr("l4s", "false")));
        }
        check_range(self.min_rate, self.max_rate)
    }
}

impl Scheme for Scream {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.ends().sender(Box::new(multihop_transport::Scream::new(ScreamOptions {
            min_rate: self.min_rate.bytes_per_second(),
            max_rate: self.max_rate.bytes_per_second(),
            segment_size: self.segment_size(),
            delay_target: self.delay_target.0,
            competes: self.compete,
            l4s: self.l4s,
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
