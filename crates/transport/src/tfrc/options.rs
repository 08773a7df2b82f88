//! What RFC 5348 and ns-2 do differently, each by its name.

use super::Equation;
use super::header::{TfrcDataHeader, TfrcReportHeader};
use super::loss_intervals::Averaging;
use multihop_core::{Header, Span};
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
    /// Half of that.
    HalfOfHighest,
    /// ns-2, Linux: the latest receive rate.
    Latest,
}

/// Options of both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TfrcOptions {
    /// The most payload bytes of a packet.
    pub segment_size: u32,
    /// Header bytes of data, transport and network.
    pub header: u32,
    /// Bytes of a report.
    pub report: u32,
    /// Data is ECN capable; a mark counts as a loss.
    pub ecn: bool,
    /// The equation.
    pub equation: Equation,
    /// What it takes as retransmission timeout.
    pub timeout: EquationTimeout,
    /// The least of four round-trip times; RFC 5348 names a second as an alternative to none.
    pub min_timeout: Span,
    /// The tick of the clock of that TCP; zero for a fine one.
    pub tcp_tick: Span,
    /// Weight of a new sample in the smoothed round-trip time, and in the mean of its square root: 0.1 (RFC
    /// 5348), 0.05 (ns-2).
    pub rtt_weight: f64,
    /// The rate at which packets leave falls while the round-trip time is above its mean (RFC 5348, section
    /// 4.5).
    pub oscillation_reduction: bool,
    /// Rate before the first report in bytes per second; a packet a second if none is given.
    pub initial_rate: Option<f64>,
    /// How the rate grows until the first loss.
    pub slow_start: SlowStart,
    /// What a gradual one multiplies the rate by in a round-trip time (`ssmult_`).
    pub slow_start_factor: f64,
    /// How the rate follows the equation after the first loss.
    pub rate_change: RateChange,
    /// What happens to the rate while the receiver's reports stay away.
    pub no_feedback: NoFeedback,
    /// When packets leave.
    pub release: Release,
    /// Granularity of the timer that releases them (`t_gran`): a packet may leave up to half of it early.
    pub granularity: Span,
    /// Packets with higher numbers that come before one is taken for lost (`NDUPACK`).
    pub duplicate_threshold: u32,
    /// Loss events are separated by when packets were sent, and not by when they came.
    pub by_timestamps: bool,
    /// A loss event needs a new round, and not only a round-trip time since the last one began.
    pub new_round: bool,
    /// When the receiver reports.
    pub report_timer: ReportTimer,
    /// What the first loss interval is made of.
    pub first_interval: FirstInterval,
    /// How the loss event rate is made of intervals.
    pub averaging: Averaging,
}

impl TfrcOptions {
    /// As RFC 5348 recommends, over UDP and IPv4.
    pub fn rfc(segment_size: u32) -> TfrcOptions {
        const UDP_IP: u32 = 28;
        TfrcOptions {
            segment_size,
            header: UDP_IP + TfrcDataHeader::LAYOUT.air as u32,
            report: UDP_IP + TfrcReportHeader::LAYOUT.air as u32,
            ecn: false,
            equation: Equation::default(),
            timeout: EquationTimeout::RoundTrips,
            min_timeout: Span::ZERO,
            tcp_tick: Span::from_ms(100),
            rtt_weight: 0.1,
            oscillation_reduction: true,
            initial_rate: None,
            slow_start: SlowStart::Doubling,
            slow_start_factor: 2.0,
            rate_change: RateChange::AtOnce,
            no_feedback: NoFeedback::ReceiveRates,
            release: Release::Due,
            granularity: Span::ZERO,
            duplicate_threshold: 3,
            by_timestamps: false,
            new_round: false,
            report_timer: ReportTimer::RoundTrip,
            first_interval: FirstInterval::Highest,
            averaging: Averaging { discounting: true, ns2: false },
        }
    }

    /// As ns-2.35 has it (`Agent/TFRC`, `Agent/TFRCSink`).
    pub fn ns2(segment_size: u32) -> TfrcOptions {
        TfrcOptions {
            header: 32,
            report: 40,
            equation: Equation::ns2(),
            timeout: EquationTimeout::Tcp,
            rtt_weight: 0.05,
            initial_rate: Some(300.0),
            slow_start: SlowStart::Gradual,
            rate_change: RateChange::Incremental,
            no_feedback: NoFeedback::Halving,
            release: Release::Timer,
            duplicate_threshold: 1,
            by_timestamps: true,
            new_round: true,
            report_timer: ReportTimer::Ns2,
            first_interval: FirstInterval::Latest,
            averaging: Averaging { discounting: true, ns2: true },
            ..TfrcOptions::rfc(segment_size)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Agent/TFRC` and `Agent/TFRCSink` of ns-2.35, option by option.
    #[test]
    fn ns2_has_its_own_defaults() {
        let ns2 = TfrcOptions::ns2(1000);
        assert_eq!((ns2.segment_size, ns2.header, ns2.report), (1000, 32, 40));
        assert_eq!((ns2.equation, ns2.rtt_weight), (Equation::ns2(), 0.05), "df_ 0.95");
        assert_eq!((ns2.timeout, ns2.tcp_tick), (EquationTimeout::Tcp, Span::from_ms(100)), "tcp_tick_ 0.1");
        assert_eq!(ns2.initial_rate, Some(300.0), "InitRate_ 300");
        assert_eq!((ns2.slow_start, ns2.slow_start_factor), (SlowStart::Gradual, 2.0), "ssmult_ 2");
        assert_eq!(ns2.rate_change, RateChange::Incremental);
        assert_eq!((ns2.no_feedback, ns2.release), (NoFeedback::Halving, Release::Timer));
        assert_eq!(ns2.duplicate_threshold, 1, "a gap is a loss");
        assert!(ns2.by_timestamps && ns2.new_round);
        assert_eq!(ns2.report_timer, ReportTimer::Ns2);
        assert_eq!(ns2.first_interval, FirstInterval::Latest);
        assert_eq!(ns2.averaging, Averaging { discounting: true, ns2: true });
    }

    /// RFC 5348, sections 3.1, 4.3, 4.5, 5.1, 6.3.1.
    #[test]
    fn the_rfc_has_its_own() {
        let rfc = TfrcOptions::rfc(1000);
        assert_eq!((rfc.rtt_weight, rfc.oscillation_reduction, rfc.duplicate_threshold), (0.1, true, 3));
        assert_eq!((rfc.slow_start, rfc.rate_change), (SlowStart::Doubling, RateChange::AtOnce));
        assert_eq!((rfc.timeout, rfc.min_timeout), (EquationTimeout::RoundTrips, Span::ZERO));
        assert_eq!((rfc.initial_rate, rfc.first_interval), (None, FirstInterval::Highest));
        assert!(!rfc.by_timestamps && !rfc.new_round && !rfc.ecn);
        assert_eq!((rfc.header, rfc.report), (28 + 12, 28 + 16), "UDP and IP, section 3.2");
    }
}
