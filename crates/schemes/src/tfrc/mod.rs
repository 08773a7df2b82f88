//! TFRC, and the parameters that all schemes with its transport share.

mod airtime_ceiling;
mod capped;
mod rate_estimation;
mod re_tfrc;

pub use capped::TfrcCapped;
pub use rate_estimation::CurrentRtt;
pub use re_tfrc::{Ceiling, ExchangeOf, ReTfrc, Success};

use crate::keys;
use crate::quantity::{BitRate, Duration, Size};
use crate::tcp::{Flavour, set};
use crate::{Parameters, Scheme};
use multihop_core::HeaderFormat;
use multihop_transport::{
    Endpoint, EquationTimeout, FirstInterval, NoFeedback, RateCeiling, RateChange, Release, ReportTimer,
    SlowStart, TfrcOptions, TfrcReceiver, TfrcSender, Unlimited,
};
use multihop_transport::{TfrcDataHeader, TfrcReportHeader};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Parameters of a TFRC connection. What is left out takes the default of the `flavour`.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TfrcParameters {
        /// Whose defaults the other parameters take: those of RFC 5348 ("rfc") or of ns-2.35 ("ns2"). ns2
        /// also has quirks that no single parameter covers. It separates loss events by when packets were
        /// sent; an open loss interval does not count its first packet; while there are fewer than eight
        /// intervals, the oldest counts in both means; and what came since the last report counts to the
        /// first interval after the first loss.
        pub flavour: Flavour,
        /// Payload of a full packet. Default "1460 B".
        pub segment_size: Option<Size> ["1 B", "65535 B"],
        /// Network and transport headers of data. Default "40 B" (IPv4, UDP, and 12 bytes of TFRC; rfc) or
        /// "32 B" (ns2, which counts no IP header).
        pub header: Option<Size> ["0 B", "65535 B"],
        /// Size of a report. Default "44 B" (IPv4, UDP, and 16 bytes of TFRC; rfc) or "40 B" (ns2).
        pub report_size: Option<Size> ["0 B", "65535 B"],
        /// Explicit congestion notification: a mark counts as a loss. Default false.
        pub ecn: Option<bool>,
        /// Packets that an acknowledgement of the TCP of the equation stands for. Default 1.
        pub acknowledged: Option<f64> [0.5, 100],
        /// Whether a factor of the equation that stands for a probability is kept at most 1, which matters
        /// above a loss event rate of 0.296. Default false (rfc) or true (ns2).
        pub clamp: Option<bool>,
        /// The most that the equation gives. Default none (rfc) or "200 Mb/s" (ns2).
        pub equation_limit: Option<BitRate> ["8 b/s", "16 Gb/s"],
        /// The retransmission timeout that the equation takes: four round-trip times ("round-trips",
        /// RFC 5348) or that of a TCP whose clock ticks each 100 ms ("tcp", ns2).
        pub timeout: Option<EquationTimeout>,
        /// The least of the former; RFC 5348 names "1 s" as an alternative. Default "0 s".
        pub min_timeout: Option<Duration> ["0 s", "1 h"],
        /// Weight of a new sample in the smoothed round-trip time. Default 0.1 (rfc) or 0.05 (ns2).
        pub rtt_weight: Option<f64> [above 0, 1],
        /// Packets leave more slowly while the round-trip time is above its mean, and faster while it is
        /// below (RFC 5348, section 4.5). Default true.
        pub oscillation_reduction: Option<bool>,
        /// Rate before the first report. Default a packet a second (rfc) or "2.4 kb/s" (ns2).
        pub initial_rate: Option<BitRate> ["8 b/s", "16 Gb/s"],
        /// Until the first loss the rate doubles in a round-trip time, within twice the highest receive rate
        /// of the last two ("doubling", RFC 5348), or gets there packet by packet, within twice the last
        /// receive rate ("gradual", ns2).
        pub slow_start: Option<SlowStart>,
        /// What a gradual slow start multiplies the rate by in a round-trip time (ns-2's `ssmult_`).
        /// Default 2.
        pub slow_start_factor: Option<f64> [1, 16],
        /// After the first loss the rate is that of the equation ("at-once", RFC 5348), or rises towards it
        /// by a packet per round-trip time ("incremental", ns2).
        pub rate_change: Option<RateChange>,
        /// Without reports, the receive rates count half after four round-trip times unless the sender was
        /// idle ("receive-rates", RFC 5348), or the rate is halved after two ("halving", ns2).
        pub no_feedback: Option<NoFeedback>,
        /// A packet leaves an interval of the present rate after the last one was due ("due", RFC 5348), or
        /// an interval of the rate of then after the last one left, and at once with each report of slow
        /// start ("timer", ns2).
        pub pacing: Option<Release>,
        /// Granularity of the timer that releases packets: one may leave half of it early (RFC 5348, section
        /// 4.6). Default "0 s".
        pub granularity: Option<Duration> ["0 s", "1 s"],
        /// Packets with higher numbers that come before one is taken for lost. Default 3 (rfc) or 1 (ns2).
        pub duplicate_threshold: Option<u32> [1, 1000],
        /// Whether a loss event needs a report to have reached the sender since the last one, and not only a
        /// round-trip time. Default false (rfc) or true (ns2's `PreciseLoss_`).
        pub new_round: Option<bool>,
        /// The receiver reports each round-trip time ("round-trip", RFC 5348), or with the first packet that
        /// comes a round-trip time after the last report, or after one and a half ("ns2"); and at once of new
        /// loss events.
        pub reports: Option<ReportTimer>,
        /// The loss interval before the first loss is made of the highest receive rate ("highest", RFC 5348),
        /// of half of it ("half-of-highest"), or of the latest one ("latest", ns2 and Linux).
        pub first_rate: Option<FirstInterval>,
        /// One long loss interval makes those before it count less (RFC 5348, section 5.5). Default true.
        pub discounting: Option<bool>,
    }
}

/// Datagrams at the rate that TCP would have on the same path by the throughput equation, from the loss event
/// rate that the receiver reports. Each packet of the application is a message of its own; nothing is sent
/// again.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Tfrc {
    /// The connection.
    #[serde(flatten)]
    pub tfrc: TfrcParameters,
}

/// The headers of every scheme with TFRC's transport.
const HEADERS: &[HeaderFormat] =
    &[HeaderFormat::of::<TfrcDataHeader>(), HeaderFormat::of::<TfrcReportHeader>()];

impl Parameters for Tfrc {
    const NAME: &str = "tfrc";
    const SUMMARY: &str = "datagrams at the rate of TCP's throughput equation";
    const REFERENCE: &str = "RFC 5348; Floyd, Handley, Padhye and Widmer 2000";
    const RELIABLE: bool = false;
    const HEADERS: &[HeaderFormat] = HEADERS;
}

impl Scheme for Tfrc {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.tfrc.sender(Box::new(Unlimited))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.tfrc.receiver()
    }

    fn segment_size(&self) -> u32 {
        self.tfrc.segment_size()
    }

    fn reliable(&self) -> bool {
        false
    }
}

impl TfrcParameters {
    /// The options that these parameters mean.
    pub fn options(&self) -> TfrcOptions {
        let mut options = match self.flavour {
            Flavour::Rfc | Flavour::Linux => TfrcOptions::rfc(self.segment_size()),
            Flavour::Ns2 => TfrcOptions::ns2(self.segment_size()),
        };
        set(&mut options.header, self.header.map(|header| header.bytes() as u32));
        set(&mut options.report, self.report_size.map(|size| size.bytes() as u32));
        set(&mut options.ecn, self.ecn);
        set(&mut options.equation.acknowledged, self.acknowledged);
        set(&mut options.equation.clamp, self.clamp);
        set(&mut options.equation.most, self.equation_limit.map(BitRate::bytes_per_second));
        set(&mut options.timeout, self.timeout);
        set(&mut options.min_timeout, self.min_timeout.map(Duration::span));
        set(&mut options.rtt_weight, self.rtt_weight);
        set(&mut options.oscillation_reduction, self.oscillation_reduction);
        set(&mut options.initial_rate, self.initial_rate.map(|rate| Some(rate.bytes_per_second())));
        set(&mut options.slow_start, self.slow_start);
        set(&mut options.slow_start_factor, self.slow_start_factor);
        set(&mut options.rate_change, self.rate_change);
        set(&mut options.no_feedback, self.no_feedback);
        set(&mut options.release, self.pacing);
        set(&mut options.granularity, self.granularity.map(Duration::span));
        set(&mut options.duplicate_threshold, self.duplicate_threshold);
        set(&mut options.new_round, self.new_round);
        set(&mut options.report_timer, self.reports);
        set(&mut options.first_interval, self.first_rate);
        set(&mut options.averaging.discounting, self.discounting);
        options
    }

    /// A sender that `ceiling` may hold down.
    pub fn sender(&self, ceiling: Box<dyn RateCeiling>) -> Box<dyn Endpoint> {
        Box::new(TfrcSender::new(self.options(), ceiling))
    }

    /// The receiver for it.
    pub fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(TfrcReceiver::new(self.options()))
    }

    /// Payload bytes of a full packet.
    pub fn segment_size(&self) -> u32 {
        self.segment_size.map_or(1460, |size| size.bytes() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_is_as_chosen_or_as_the_flavour_has_it() {
        let start = |slow_start, slow_start_factor| {
            let options =
                TfrcParameters { slow_start, slow_start_factor, ..TfrcParameters::default() }.options();
            (options.slow_start, options.slow_start_factor)
        };
        assert_eq!(start(Some(SlowStart::Doubling), None), (SlowStart::Doubling, 2.0));
        assert_eq!(start(Some(SlowStart::Gradual), None), (SlowStart::Gradual, 2.0));
        assert_eq!(start(Some(SlowStart::Gradual), Some(1.5)), (SlowStart::Gradual, 1.5));
        assert_eq!(start(None, None).0, SlowStart::Doubling, "RFC 5348, 4.3");
    }
}
