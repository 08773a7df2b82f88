//! Congestion control of real-time media, and what its schemes share.

mod gcc;
mod nada;
mod scream;

pub use gcc::Gcc;
pub use nada::Nada;
pub use scream::Scream;

use crate::ParameterError;
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_core::{Ecn, HeaderFormat, Span};
use multihop_transport::{
    Endpoint, FeedbackOptions, MediaControl, MediaHeader, MediaOptions, MediaReceiver, MediaReport,
    MediaSender,
};

/// Headers of every scheme with this transport.
const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<MediaHeader>(), HeaderFormat::of::<MediaReport>()];

/// Default payload of a full packet.
const SEGMENT: Size = Size(1_200.0);
/// Default of network and transport headers: 20 B of IPv4 and 8 B of UDP.
const HEADER: Size = Size(28.0);

/// Both ends of a flow.
struct Ends {
    segment_size: Size,
    header: Size,
    /// Maximum time from the arrival of a packet to the report on it.
    feedback_interval: Duration,
    /// Whether the last packet of a frame is reported at once.
    at_frame_end: bool,
    ecn: Ecn,
    /// Interval between bursts; zero for single packets.
    burst: Span,
}

impl Ends {
    fn sender(&self, control: Box<dyn MediaControl>) -> Box<dyn Endpoint> {
        let options = MediaOptions {
            segment_size: self.segment_size.bytes() as u32,
            header: self.header.bytes() as u32,
            ecn: self.ecn,
            burst: self.burst,
            feedback_interval: self.feedback_interval.span(),
        };
        Box::new(MediaSender::new(options, control))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(MediaReceiver::new(FeedbackOptions {
            interval: self.feedback_interval.span(),
            at_frame_end: self.at_frame_end,
            header: self.header.bytes() as u32,
        }))
    }
}

/// Checks that `min_rate` is at most `max_rate`.
fn check_range(min_rate: BitRate, max_rate: BitRate) -> Result<(), ParameterError> {
    if min_rate <= max_rate {
        return Ok(());
    }
    let found = Found::Above(Clash::new(min_rate, "max_rate", max_rate));
    Err(ParameterError::new("min_rate", found, Wanted::AtMost(max_rate.to_string())))
}

/// ECN codepoint of a transport that may understand ECN.
fn classic(ecn: bool) -> Ecn {
    if ecn { Ecn::Ect0 } else { Ecn::NotCapable }
}

#[cfg(test)]
mod tests {
    use crate::find;
    use multihop_core::{Segment, Time};
    use serde_json::json;

    /// IP, UDP and RTP: 40 bytes. A report on one packet: IP, UDP, 20 bytes of RTCP and 4 for two packets.
    #[test]
    fn a_full_packet_has_1240_bytes_and_a_report_52() {
        for name in ["nada", "gcc", "scream"] {
            let scheme = find(name).unwrap().build(&json!({})).unwrap();
            let (mut sender, mut receiver) = (scheme.sender(), scheme.receiver());
            sender.push(Time::ZERO, 5_000);
            let data = sender.poll_segment(Time::ZERO).unwrap();
            assert_eq!((data.payload, data.header), (1_200, 40), "{name}");
            receiver.on_segment(Time::ZERO, &data);
            let due = receiver.poll_timeout().unwrap();
            receiver.on_timeout(due);
            let report = receiver.poll_segment(due).unwrap();
            assert_eq!((report.payload, report.header), (0, 52), "{name}");
            assert_eq!(sender.on_segment(due, &Segment::default()).bytes, 0);
            assert!(sender.encoder_rate().is_some() && !scheme.is_reliable(), "{name}");
        }
    }

    #[test]
    fn rates_must_be_in_order() {
        for (name, parameters, said) in [
            (
                "gcc",
                json!({ "start_rate": "5 Mb/s", "max_rate": "4 Mb/s" }),
                "start_rate: 5 Mb/s is not between min_rate (50 kb/s) and max_rate (4 Mb/s); give a value between them, or change them",
            ),
            (
                "nada",
                json!({ "max_rate": "100 kb/s" }),
                "min_rate: 150 kb/s is above max_rate (100 kb/s); make it at most 100 kb/s",
            ),
            (
                "scream",
                json!({ "min_rate": "200 Mb/s" }),
                "min_rate: 200 Mb/s is above max_rate (100 Mb/s); make it at most 100 Mb/s",
            ),
            (
                "scream",
                json!({ "l4s": true, "ecn": true }),
                "ecn: true has no effect with l4s = true; leave it out, or set l4s = false",
            ),
        ] {
            let error = find(name).unwrap().build(&parameters).err().unwrap().to_string();
            assert_eq!(error, said);
        }
    }
}
