//! Quick and Plenty (Hassani, Gringoli and Leith, "Quick & Plenty: Achieving Low Delay & High Rate in 802.11ac Edge Networks", 2021): a
//! sender that keeps aggregates of the last hop at a length.

mod control;
pub(crate) mod header;
mod receiver;
mod sender;

use crate::quantity::{BitRate, Duration, Size};
use crate::range::{number_in_range, rate_in_range, size_in_range, span_in_range};
use crate::{Misfit, Parameters, Scheme};
use control::LevelOptions;
use header::{PlentyData, PlentyReport};
use multihop_core::{Header, Layout};
use multihop_transport::Endpoint;
use receiver::LevelReceiver;
use schemars::JsonSchema;
use sender::LevelSender;
use serde::{Deserialize, Serialize};

/// Datagrams at the rate at which as many of them go in an aggregate of the last hop as is asked for: enough for the radio to be
/// efficient, and no queue besides. The receiver counts packets and the aggregates that brought them, and reports both; an integral
/// controller on the inverse of the plant makes the time between packets of it. The idea and its measure are the paper's; the update is a
/// reconstruction, and what it does about queues and losses is ours.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct QuickAndPlenty {
    /// Packets of an aggregate that are aimed at (the paper's N with index epsilon). It is to be below what the radio allows. Default 32.
    pub target: f64,
    /// Share of the error that an interval makes good where an exchange takes `overhead` besides its data; less where it takes longer.
    /// Stable below twice the ratio of the two. Default 0.5.
    pub gain: f64,
    /// Time of an exchange besides the data of the station: access to the medium, preambles, answers, turns of others. A guess that is too
    /// small makes it slow, one that is more than twice too large unstable. Default "200 us".
    pub overhead: Duration,
    /// Time between reports of the receiver. Default "100 ms"; at most "500 ms".
    pub interval: Duration,
    /// Payload rate before the first report; it doubles with each report until packets are aggregated. Default "10 Mb/s".
    pub start_rate: BitRate,
    /// The least payload rate. Default "100 kb/s".
    pub floor: BitRate,
    /// The largest payload rate. Default "10 Gb/s".
    pub ceiling: BitRate,
    /// Share of lost packets above which no more is sent than arrives. Default 0.1.
    pub loss_limit: f64,
    /// Payload of a full packet. Default "1464 B".
    pub segment_size: Size,
    /// Network and transport headers: 20 B of IPv4, 8 B of UDP. Of its own it has 8 more in data (number and time), and 20 in reports.
    pub header: Size,
}

impl Default for QuickAndPlenty {
    fn default() -> QuickAndPlenty {
        QuickAndPlenty {
            target: 32.0,
            gain: 0.5,
            overhead: Duration(200e-6),
            interval: Duration(0.1),
            start_rate: BitRate(10e6),
            floor: BitRate(100e3),
            ceiling: BitRate(10e9),
            loss_limit: 0.1,
            segment_size: Size(1_464.0),
            header: Size(28.0),
        }
    }
}

impl Parameters for QuickAndPlenty {
    const NAME: &str = "quick-and-plenty";
    const SUMMARY: &str = "datagrams at the rate that keeps aggregates of the last hop at a length";
    const REFERENCE: &str = "Hassani, Gringoli and Leith 2021 (arXiv 1806.07761)";
    const RELIABLE: bool = false;
    const HEADERS: &[Layout] = &[PlentyData::LAYOUT, PlentyReport::LAYOUT];

    fn check(&self) -> Result<(), Misfit> {
        number_in_range("target", self.target, 1.0, 1024.0)?;
        number_in_range("gain", self.gain, 1e-3, 2.0)?;
        span_in_range("overhead", Some(self.overhead), 1e-6, 1.0)?;
        span_in_range("interval", Some(self.interval), 1e-3, 0.5)?;
        rate_in_range("start_rate", Some(self.start_rate))?;
        rate_in_range("floor", Some(self.floor))?;
        rate_in_range("ceiling", Some(self.ceiling))?;
        if self.floor > self.start_rate || self.start_rate > self.ceiling {
            let remedy = format!("it must be between floor ({}) and ceiling ({})", self.floor, self.ceiling);
            return Err(Misfit::of("start_rate", self.start_rate, remedy));
        }
        number_in_range("loss_limit", self.loss_limit, 0.0, 1.0)?;
        size_in_range("segment_size", Some(self.segment_size), 1.0, 65_535.0)?;
        size_in_range("header", Some(self.header), 0.0, 65_535.0)
    }
}

impl Scheme for QuickAndPlenty {
    fn sender(&self) -> Box<dyn Endpoint> {
        let spacing = |rate: BitRate| self.segment_size.0 * 8.0 / rate.0;
        let options = LevelOptions {
            target: self.target,
            gain: self.gain,
            overhead: self.overhead.0,
            loss_limit: self.loss_limit,
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

    fn reliable(&self) -> bool {
        false
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
        let remedy = "it must be between floor (100 kb/s) and ceiling (4 Mb/s)";
        assert_eq!(error, Misfit::of("start_rate", "5 Mb/s", remedy));
        assert!(entry.build(&json!({ "interval": "600 ms" })).is_err());
    }
}
