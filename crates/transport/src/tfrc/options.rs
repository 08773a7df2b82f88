//! Options of TFRC, with a field for each difference between RFC 5348 and ns-2.

use super::Equation;
use super::header::{TfrcDataHeader, TfrcReportHeader};
use super::loss_intervals::Averaging;
use crate::Flavour;
use multihop_config::parameters;
use multihop_core::{Header, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Retransmission timeout in the throughput equation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EquationTimeout {
    /// Four smoothed round-trip times (RFC 5348, section 3.1).
    RoundTrips,
    /// ns-2: timeout of a TCP with a coarse clock.
    Tcp,
}

/// Growth of the rate until the first loss.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// The rate doubles once per round-trip time, up to twice the highest receive rate of the last two round
    /// trips (RFC 5348, section 4.3).
    Doubling,
    /// ns-2: once per round-trip time the rate is multiplied by a factor, up to twice the last receive rate,
    /// and rises packet by packet over a round trip. Above that limit, the rate is set to the receive rate.
    Gradual,
}

/// Adjustment of the rate to the equation after the first loss.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateChange {
    /// The rate is that of the equation, limited by the receive rates (RFC 5348, section 4.3).
    AtOnce,
    /// ns-2: the rate falls at once, and rises by a packet per round-trip time, up to twice the last receive
    /// rate.
    Incremental,
}

/// Reaction to missing reports.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoFeedback {
    /// After four round-trip times, half the receive rates, unless the sender was idle and its rate is low
    /// (RFC 5348, section 4.4).
    ReceiveRates,
    /// ns-2: after two round-trip times, half the rate, and at once a packet that requests a report.
    Halving,
}

/// Send time of a packet.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// Due time of the last packet plus an interval of the present rate (RFC 5348, section 4.6).
    Due,
    /// ns-2: send time of the last packet plus an interval of the rate at that time; at once after a report
    /// during slow start.
    Timer,
}

/// Time of the receiver's reports, besides those at once after a new loss event.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportTimer {
    /// Once per round-trip time (RFC 5348, section 6.2).
    RoundTrip,
    /// ns-2: at the first packet that arrives a round-trip time after the last report, or after one and a
    /// half without packets; and whenever the sender requests a report.
    Ns2,
}

/// Receive rate that determines the loss interval before the first loss.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstInterval {
    /// Highest receive rate (RFC 5348, section 6.3.1).
    Highest,
    /// ns-2, Linux: latest receive rate.
    Latest,
}

const UDP_IP: u32 = 28;

parameters! {
    ($)
    /// Options of both ends, by default those of RFC 5348, over UDP and IPv4.
    #[derive(Clone, Copy, Debug, PartialEq)]
    TfrcOptions by Flavour, listed by tfrc_parameters:
    /// Payload of a full packet.
    segment_size: Bytes from "1 B" to "65535 B" = 1460;
    /// Network and transport headers of data: IPv4, UDP, and 12 bytes of TFRC in rfc; ns2 counts no IP
    /// header.
    header: Bytes from "0 B" to "65535 B" = UDP_IP + TfrcDataHeader::LAYOUT.air as u32, Ns2: 32;
    /// Explicit congestion notification: a mark counts as a loss.
    ecn: bool = false;
    /// Retransmission timeout in the throughput equation: four round-trip times ("round-trips", RFC 5348), or
    /// that of a TCP with a clock tick of 100 ms ("tcp", ns2).
    timeout: [EquationTimeout] = EquationTimeout::RoundTrips, Ns2: EquationTimeout::Tcp;
    /// Rate before the first report (ns-2's `InitRate_`). None: one packet per second.
    initial_rate: (Option<f64> as BitRate) from "8 b/s" to "16 Gb/s" = None, Ns2: Some(300.0);
    /// Growth until the first loss: the rate doubles per round-trip time, up to twice the highest receive
    /// rate of the last two ("doubling", RFC 5348), or rises packet by packet, up to twice the last receive
    /// rate ("gradual", ns2).
    slow_start: [SlowStart] = SlowStart::Doubling, Ns2: SlowStart::Gradual;
    /// Adjustment after the first loss: the rate is that of the equation ("at-once", RFC 5348), or rises
    /// towards it by a packet per round-trip time ("incremental", ns2).
    rate_change: [RateChange] = RateChange::AtOnce, Ns2: RateChange::Incremental;
    /// Send time of a packet: an interval of the present rate after the last packet was due ("due", RFC
    /// 5348), or an interval of the previous rate after the last packet was sent, and at once after each
    /// report during slow start ("timer", ns2).
    pacing: [Release] = Release::Due, Ns2: Release::Timer;
    /// Number of packets with higher numbers after whose arrival a missing packet counts as lost (`NDUPACK`).
    duplicate_threshold: u32 [1, 1000] = 3, Ns2: 1;
    /// Reports of the receiver: each round-trip time ("round-trip", RFC 5348), or at the first packet a
    /// round-trip time after the last report, or after one and a half ("ns2"); and at once after a new loss
    /// event.
    reports: [ReportTimer] = ReportTimer::RoundTrip, Ns2: ReportTimer::Ns2;
    {
        /// Size of a report: IPv4, UDP, and 16 bytes of TFRC in rfc.
        report_size: u32 = UDP_IP + TfrcReportHeader::LAYOUT.air as u32, Ns2: 40;
        /// Minimum of that timeout; RFC 5348 mentions "1 s" as an alternative.
        min_timeout: Span = Span::ZERO;
        /// Weight of a new sample in the smoothed round-trip time, and in the mean of its square root.
        rtt_weight: f64 = 0.1, Ns2: 0.05;
        /// Send more slowly while the round-trip time is above its mean, and faster while it is below (RFC
        /// 5348, section 4.5).
        oscillation_reduction: bool = true;
        /// Factor by which a gradual slow start raises the rate per round-trip time (ns-2's `ssmult_`).
        slow_start_factor: f64 = 2.0;
        /// Reaction to missing reports: the receive rates are halved after four round-trip times unless the
        /// sender was idle ("receive-rates", RFC 5348), or the rate is halved after two ("halving", ns2).
        no_feedback: NoFeedback = NoFeedback::ReceiveRates, Ns2: NoFeedback::Halving;
        /// Granularity of the timer that releases packets (`t_gran`): a packet may be sent half of it early
        /// (RFC 5348, section 4.6).
        granularity: Span = Span::ZERO;
        /// Whether a new loss event requires that a report has reached the sender since the last one, besides
        /// a round-trip time (ns-2's `PreciseLoss_`).
        new_round: bool = false, Ns2: true;
        /// Receive rate that determines the loss interval before the first loss: the highest ("highest", RFC
        /// 5348), half of it ("half-of-highest"), or the latest ("latest", ns2 and Linux).
        first_rate: FirstInterval = FirstInterval::Highest, Ns2: FirstInterval::Latest;
        /// Clock tick of the TCP whose timeout the equation may use; zero for an exact clock.
        tcp_tick: Span = Span::from_ms(100);
        /// Separate loss events by the send times of packets instead of their arrival times.
        by_timestamps: bool = false, Ns2: true;
        /// Throughput equation.
        equation: Equation = Equation::default(), Ns2: Equation::ns2();
        /// Computation of the loss event rate from loss intervals.
        averaging: Averaging = Averaging::of(Flavour::Rfc), Ns2: Averaging::of(Flavour::Ns2);
    }
}

impl TfrcOptions {
    /// Options of RFC 5348.
    pub fn rfc(segment_size: u32) -> TfrcOptions {
        TfrcOptions { segment_size, ..TfrcOptions::of(Flavour::Rfc) }
    }

    /// Options of ns-2.35 (`Agent/TFRC`, `Agent/TFRCSink`).
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
