//! What RFC 5348 and ns-2 do differently, each by its name.

use super::Equation;
use super::header::{TfrcDataHeader, TfrcReportHeader};
use super::loss_intervals::Averaging;
use crate::Flavour;
use multihop_core::{Header, Span, parameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The retransmission timeout that the equation takes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EquationTimeout {
    /// Four smoothed round-trip times (RFC 5348, section 3.1).
    RoundTrips,
    /// ns-2: that of a TCP with a coarse clock.
    Tcp,
}

/// How the rate grows until the first loss.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// It doubles once in a round-trip time, within twice the highest receive rate of the last two (RFC 5348,
    /// section 4.3).
    Doubling,
    /// ns-2: once in a round-trip time it is multiplied by a factor, within twice the last receive rate,
    /// packet by packet over a round-trip time; where it is above that limit, it becomes the receive rate.
    Gradual,
}

/// How the rate follows the equation after the first loss.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateChange {
    /// It is that of the equation, within the limit of receive rates (RFC 5348, section 4.3).
    AtOnce,
    /// ns-2: it falls at once, and rises by a packet per round-trip time, within twice the last receive rate.
    Incremental,
}

/// What happens when no report comes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoFeedback {
    /// After four round-trip times, half the receive rates, unless the sender was idle and its rate is low
    /// (RFC 5348, section 4.4).
    ReceiveRates,
    /// ns-2: after two round-trip times, half the rate, and a packet at once that asks for a report.
    Halving,
}

/// When a packet leaves.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// An interval of the present rate after the last one was due (RFC 5348, section 4.6).
    Due,
    /// ns-2: an interval of the rate of then after the last one left; and at once when a report of slow start
    /// comes.
    Timer,
}

/// When the receiver reports, besides at once of a new loss event.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportTimer {
    /// Each round-trip time (RFC 5348, section 6.2).
    RoundTrip,
    /// ns-2: with the first packet that comes a round-trip time after the last report, or after one and a
    /// half without; and whenever the sender asks for it.
    Ns2,
}

/// The rate that the loss interval before the first loss is made of.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstInterval {
    /// The highest receive rate (RFC 5348, section 6.3.1).
    Highest,
    /// ns-2, Linux: the latest receive rate.
    Latest,
}

const UDP_IP: u32 = 28;

parameters! {
    ($)
    /// Options of both ends, by default as RFC 5348 recommends, over UDP and IPv4.
    #[derive(Clone, Copy, Debug, PartialEq)]
    TfrcOptions by Flavour, listed by tfrc_parameters:
    /// Payload of a full packet.
    segment_size: Bytes from "1 B" to "65535 B" = 1460;
    /// Network and transport headers of data: IPv4, UDP, and 12 bytes of TFRC in rfc; ns2 counts no IP
    /// header.
    header: Bytes from "0 B" to "65535 B" = UDP_IP + TfrcDataHeader::LAYOUT.air as u32, Ns2: 32;
    /// Explicit congestion notification: a mark counts as a loss.
    ecn: bool = false;
    /// The retransmission timeout that the equation takes: four round-trip times ("round-trips",
    /// RFC 5348) or that of a TCP whose clock ticks each 100 ms ("tcp", ns2).
    timeout: [EquationTimeout] = EquationTimeout::RoundTrips, Ns2: EquationTimeout::Tcp;
    /// Rate before the first report (ns-2's `InitRate_`). None: a packet a second.
    initial_rate: (Option<f64> as BitRate) from "8 b/s" to "16 Gb/s" = None, Ns2: Some(300.0);
    /// Until the first loss the rate doubles in a round-trip time, within twice the highest receive rate
    /// of the last two ("doubling", RFC 5348), or rises packet by packet, within twice the last
    /// receive rate ("gradual", ns2).
    slow_start: [SlowStart] = SlowStart::Doubling, Ns2: SlowStart::Gradual;
    /// After the first loss the rate is that of the equation ("at-once", RFC 5348), or rises towards it
    /// by a packet per round-trip time ("incremental", ns2).
    rate_change: [RateChange] = RateChange::AtOnce, Ns2: RateChange::Incremental;
    /// A packet leaves an interval of the present rate after the last one was due ("due", RFC 5348), or
    /// an interval of the rate of then after the last one left, and at once with each report of slow
    /// start ("timer", ns2).
    pacing: [Release] = Release::Due, Ns2: Release::Timer;
    /// Packets with higher numbers that come before one is taken for lost (`NDUPACK`).
    duplicate_threshold: u32 [1, 1000] = 3, Ns2: 1;
    /// The receiver reports each round-trip time ("round-trip", RFC 5348), or with the first packet that
    /// comes a round-trip time after the last report, or after one and a half ("ns2"); and at once of new
    /// loss events.
    reports: [ReportTimer] = ReportTimer::RoundTrip, Ns2: ReportTimer::Ns2;
    {
        /// Size of a report: IPv4, UDP, and 16 bytes of TFRC in rfc.
        report_size: u32 = UDP_IP + TfrcReportHeader::LAYOUT.air as u32, Ns2: 40;
        /// The least of the former; RFC 5348 names "1 s" as an alternative.
        min_timeout: Span = Span::ZERO;
        /// Weight of a new sample in the smoothed round-trip time, and in the mean of its square root.
        rtt_weight: f64 = 0.1, Ns2: 0.05;
        /// Packets leave more slowly while the round-trip time is above its mean, and faster while it is
        /// below (RFC 5348, section 4.5).
        oscillation_reduction: bool = true;
        /// What a gradual slow start multiplies the rate by in a round-trip time (ns-2's `ssmult_`).
        slow_start_factor: f64 = 2.0;
        /// Without reports, the receive rates count half after four round-trip times unless the sender was
        /// idle ("receive-rates", RFC 5348), or the rate is halved after two ("halving", ns2).
        no_feedback: NoFeedback = NoFeedback::ReceiveRates, Ns2: NoFeedback::Halving;
        /// Granularity of the timer that releases packets (`t_gran`): one may leave half of it early (RFC 5348,
        /// section 4.6).
        granularity: Span = Span::ZERO;
        /// Whether a loss event needs a report to have reached the sender since the last one, and not only a
        /// round-trip time (ns-2's `PreciseLoss_`).
        new_round: bool = false, Ns2: true;
        /// The loss interval before the first loss is made of the highest receive rate ("highest", RFC 5348),
        /// or of the latest one ("latest", ns2 and Linux).
        first_rate: FirstInterval = FirstInterval::Highest, Ns2: FirstInterval::Latest;
        /// The tick of the clock of that TCP whose timeout the equation may take; zero for a fine one.
        tcp_tick: Span = Span::from_ms(100);
        /// Loss events are separated by when packets were sent, and not by when they came.
        by_timestamps: bool = false, Ns2: true;
        /// The equation.
        equation: Equation = Equation::default(), Ns2: Equation::ns2();
        /// How the loss event rate is made of intervals.
        averaging: Averaging = Averaging::of(Flavour::Rfc), Ns2: Averaging::of(Flavour::Ns2);
    }
}

impl TfrcOptions {
    /// As RFC 5348 recommends.
    pub fn rfc(segment_size: u32) -> TfrcOptions {
        TfrcOptions { segment_size, ..TfrcOptions::of(Flavour::Rfc) }
    }

    /// As ns-2.35 has it (`Agent/TFRC`, `Agent/TFRCSink`).
    pub fn ns2(segment_size: u32) -> TfrcOptions {
        TfrcOptions { segment_size, ..TfrcOptions::of(Flavour::Ns2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Agent/TFRC` and `Agent/TFRCSink` of ns-2.35, option by option.
    #[test]
    fn ns2_has_its_own_defaults() {
        let ns2 = TfrcOptions::ns2(1000);
        assert_eq!((ns2.segment_size, ns2.header, ns2.report_size), (1000, 32, 40));
        assert_eq!((ns2.equation, ns2.rtt_weight), (Equation::ns2(), 0.05), "df_ 0.95");
        assert_eq!((ns2.timeout, ns2.tcp_tick), (EquationTimeout::Tcp, Span::from_ms(100)), "tcp_tick_ 0.1");
        assert_eq!(ns2.initial_rate, Some(300.0), "InitRate_ 300");
        assert_eq!((ns2.slow_start, ns2.slow_start_factor), (SlowStart::Gradual, 2.0), "ssmult_ 2");
        assert_eq!(ns2.rate_change, RateChange::Incremental);
        assert_eq!((ns2.no_feedback, ns2.pacing), (NoFeedback::Halving, Release::Timer));
        assert_eq!(ns2.duplicate_threshold, 1, "a gap is a loss");
        assert!(ns2.by_timestamps && ns2.new_round);
        assert_eq!(ns2.reports, ReportTimer::Ns2);
        assert_eq!(ns2.first_rate, FirstInterval::Latest);
        assert_eq!(ns2.averaging, Averaging { discounting: true, ns2: true });
    }

    /// RFC 5348, sections 3.1, 4.3, 4.5, 5.1, 6.3.1.
    #[test]
    fn the_rfc_has_its_own() {
        let rfc = TfrcOptions::rfc(1000);
        assert_eq!((rfc.rtt_weight, rfc.oscillation_reduction, rfc.duplicate_threshold), (0.1, true, 3));
        assert_eq!((rfc.slow_start, rfc.rate_change), (SlowStart::Doubling, RateChange::AtOnce));
        assert_eq!((rfc.timeout, rfc.min_timeout), (EquationTimeout::RoundTrips, Span::ZERO));
        assert_eq!((rfc.initial_rate, rfc.first_rate), (None, FirstInterval::Highest));
        assert!(!rfc.by_timestamps && !rfc.new_round && !rfc.ecn);
        assert_eq!((rfc.header, rfc.report_size), (28 + 12, 28 + 16), "UDP and IP, section 3.2");
    }
}
