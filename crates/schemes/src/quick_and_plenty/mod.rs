//! Quick and Plenty (Hassani, Gringoli and Leith, "Quick & Plenty: Achieving Low Delay & High Rate in
//! 802.11ac Edge Networks", 2021). The sender controls the length of aggregates on the last hop.

mod control;
pub(crate) mod header;
mod receiver;
mod sender;

use crate::{ParameterError, Parameters, Scheme};
use control::LevelOptions;
use header::{PlentyData, PlentyReport};
use multihop_config::keys;
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_core::{Header, HeaderFormat};
use multihop_transport::Endpoint;
use receiver::LevelReceiver;
use schemars::JsonSchema;
use sender::LevelSender;
use serde::{Deserialize, Serialize};

/// Share of the error that the controller corrects per interval if an exchange takes `overhead` besides its
/// data. A longer overhead lowers the share. The loop is stable while the gain is below twice the ratio of
/// actual to assumed overhead.
const GAIN: f64 = 0.5;
/// Share of lost packets above which the sender sends no more than arrives.
const LOSS_LIMIT: f64 = 0.1;

keys! {
    /// Datagrams at the rate that keeps aggregates of the last hop at a target length. The target makes the
    /// radio efficient without a queue. The receiver reports numbers of packets and aggregates. An integral
    /// controller on the inverse of the plant sets the time between packets. The principle and its
    /// measurement are the paper's. The update rule is a reconstruction. The response to queues and losses is
    /// this project's.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct QuickAndPlenty {
        /// Target number of packets in an aggregate (the paper's N with index epsilon). It must be below the
        /// maximum that the radio allows.
        pub target: f64 [1.0, 1024.0] = 32.0,
        /// Estimated time of an exchange besides the station's own data: access to the medium, preambles,
        /// responses and turns of other stations. A smaller estimate slows the controller. An estimate of
        /// more than twice the actual time makes it unstable.
        pub overhead: Duration ["1 us", "1 s"] = Duration(200e-6),
        /// Time between reports of the receiver.
        pub interval: Duration ["1 ms", "500 ms"] = Duration(0.1),
        /// Payload rate before the first report. It doubles with each report until packets are aggregated.
        pub start_rate: BitRate ["8 b/s", "16 Gb/s"] = BitRate(10e6),
        /// Minimum payload rate.
        pub floor: BitRate ["8 b/s", "16 Gb/s"] = BitRate(100e3),
        /// Maximum payload rate.
        pub ceiling: BitRate ["8 b/s", "16 Gb/s"] = BitRate(10e9),
        /// Payload of a full packet.
        pub segment_size: Size ["1 B", "65535 B"] = Size(1_464.0),
        /// Network and transport headers: 20 B for IPv4 and 8 B for UDP by default. The scheme adds 8 B to
        /// data (number and timestamp) and 20 B to reports.
        pub header: Size ["0 B", "65535 B"] = Size(28.0),
    }
}

impl Parameters for QuickAndPlenty {
    const NAME: &str = "quick-and-plenty";
    const SUMMARY: &str = "datagrams at the rate that keeps aggregates of the last hop at a target length";
    const REFERENCE: &str = "Hassani, Gringoli and Leith 2021 (arXiv 1806.07761)";
    const RELIABLE: bool = false;
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<PlentyData>(), HeaderFormat::of::<PlentyReport>()];

    fn check(&self) -> Result<(), ParameterError> {
        if self.floor <= self.start_rate && self.start_rate <= self.ceiling {
            return Ok(());
        }
        let ends = [("floor", self.floor), ("ceiling", self.ceiling)];
        let ends = ends.map(|(key, end)| *Clash::new(self.start_rate, key, end));
        Err(ParameterError::new("start_rate", Found::NotBetween(Box::new(ends)), Wanted::BetweenOrMove))
    }
}

impl Scheme for QuickAndPlenty {
    fn sender(&self) -> Box<dyn Endpoint> {
        let spacing = |rate: BitRate| self.segment_size.0 * 8.0 / rate.0;
        let options = LevelOptions {
            target: self.target,
            gain: GAIN,
            overhead: self.overhead.0,
            loss_limit: LOSS_LIMIT,
            spacing: [self.ceiling, self.start_rate, self.floor].map(spacing),
        };
        let header = self.header.bytes() as u32 + PlentyData::LAYOUT.air as u32;
        Box::new(LevelSender::new(self.segment_size(), header, self.interval.span(), options))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        let header = self.header.bytes() as u32 + PlentyReport::LAYOUT.air as u32;
        Box::new(LevelReceiver::new(self.interval.span(), header))
    }

    fn segment_size(&self) -> u32 {
        self.segment_size.bytes() as u32
    }

    fn is_reliable(&self) -> bool {
        false
    }

    fn is_aggregate_aware(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use multihop_core::{Span, Time};
    use serde_json::json;

    #[test]
    fn a_full_packet_is_1500_bytes_and_a_report_48() {
        let scheme = QuickAndPlenty::default();
        let mut sender = scheme.sender();
        sender.push(Time::ZERO, 5_000);
        let data = sender.poll_segment(Time::ZERO).unwrap();
        assert_eq!(data.payload + data.header, 1_500);
        let mut receiver = scheme.receiver();
        receiver.on_segment(Time::ZERO, &data);
        let due = receiver.poll_timeout().unwrap();
        assert_eq!(due, Time::ZERO + scheme.interval.span());
        receiver.on_timeout(due);
        assert_eq!(receiver.poll_segment(due).unwrap().header, 48);
        assert_eq!(
            sender.poll_timeout(),
            Some(Time::ZERO + Span::from_ns(1_171_200)),
            "1464 bytes at 10 Mb/s"
        );
    }

    #[test]
    fn rates_are_in_order() {
        let entry = find("quick-and-plenty").unwrap();
        assert!(
            entry.build(&json!({ "start_rate": "5 Mb/s", "floor": "5 Mb/s", "ceiling": "5 Mb/s" })).is_ok()
        );
        let error = entry.build(&json!({ "start_rate": "5 Mb/s", "ceiling": "4 Mb/s" })).err().unwrap();
        let said = "start_rate: 5 Mb/s is not between floor (100 kb/s) and ceiling (4 Mb/s); give a value between them, or change them";
        assert_eq!(error.to_string(), said);
        assert!(entry.build(&json!({ "interval": "600 ms" })).is_err());
    }
}
