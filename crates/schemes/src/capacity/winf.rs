//! rt-Winf's estimates of a node's own links, which XCP-Winf and RCP-Winf share (Barreto 2015, section 3).

use multihop_config::keys;
use multihop_config::keys::usually_by;
use multihop_config::parameter_error::{Clash, Found, ParameterError, Wanted};
use multihop_config::quantity::{Duration, Size};
use multihop_link::{
    EgressQueue, Elapsed, Estimator, LinkView, PhyTimes, RtWinf, RtWinfOptions, RtWinfProbe,
    RtWinfProbeOptions, WinfReading,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Frames from which rt-Winf measures the medium.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampledFrames {
    /// RTS, CTS, DATA and ACK. Without RTS/CTS there are no samples, and the capacity remains the bit rate.
    RtsCts,
    /// Pairs of DATA and ACK.
    Probe,
}

/// Default reading of the equations. The paper defines capacity as the maximum sustainable data rate.
const READING: WinfReading = WinfReading::Whole;

/// Defaults of probing.
const PROBING: RtWinfProbeOptions = RtWinfProbeOptions::DEFAULT;

/// Table of parameters. The rows that are options of the estimator come from the estimator's own table.
macro_rules! parameters {
    (
        $(#[$_reading:meta])* reading: $_reading_kind:tt [];
        $(#[$_window:meta])* window: $_window_kind:tt [$($_times:tt)*];
        $(#[$total_per_exchange:meta])* total_per_exchange: bool [];
        $(#[$full_busy:meta])* full_busy: bool [];
        $(#[$ack_report:meta])* ack_report: bool [];
        $(#[$_size:meta])* reference_size: $_size_kind:tt [$($_sizes:tt)*];
        $(#[$smoothing:meta])* smoothing: f64 [$($weights:tt)*];
    ) => {
        keys! {
            /// Parameters of rt-Winf at each node.
            #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
            pub struct WinfParameters {
                /// Frames from which the medium is measured: "rts-cts", or "probe" if the MAC does not send
                /// RTS. Default: the one that applies to full packets of this scheme at the scenario's RTS
                /// threshold.
                pub watched: Option<SampledFrames>,
                /// Reading of the capacity equations (Eqs. 1, 4 and 6): "whole", "printed" or "strict".
                /// "whole" divides by the whole exchange, with DIFS and backoff (Eq. 14): the maximum
                /// sustainable data rate, which is the paper's definition. "strict" divides by the airtime of
                /// DATA alone. "printed" follows the equations as printed. With `watched` = "probe", "strict"
                /// is refused, because it is the same as "printed". With A-MPDUs, the packets of an aggregate
                /// share the cost of an exchange, so the throughput with short aggregates is below the
                /// maximum.
                #[schemars(transform = usually_by(vec![
                    ("`xcp-winf` over radios that send A-MPDUs", json!(WinfReading::Strict)),
                    ("others", json!(READING)),
                ]))]
                pub reading: Option<WinfReading>,
                $(#[$ack_report])*
                pub ack_report: bool = RtWinfOptions::DEFAULT.ack_report,
                $(#[$full_busy])*
                pub full_busy: bool = RtWinfOptions::DEFAULT.full_busy,
                $(#[$total_per_exchange])*
                pub total_per_exchange: bool = RtWinfOptions::DEFAULT.total_per_exchange,
                /// Length of the latest interval over which busy time is counted. The paper counts all time
                /// since the first exchange.
                pub estimate_over: Duration ["1 ms", "1 h"] = Duration(0.2),
                /// Packet size for which the capacity is computed, so that acknowledgements do not lower it.
                /// "0 B" uses the actual sizes, as printed.
                pub reference_size: Size ["0 B", "65535 B"] = Size(1500.0),
                $(#[$smoothing])*
                pub capacity_smoothing: f64 [$($weights)*] = RtWinfOptions::DEFAULT.smoothing,
                /// Number of probes that a node sends to a next hop before a communication, with `watched` =
                /// "probe": UDP datagrams in data frames of the reserved subtype 1001. The paper sends 4, and
                /// states no case in which a congestion control uses them.
                pub probes: u32 [0, 1_000] = PROBING.probes,
                /// Time between two probes.
                pub probe_interval: Duration ["0 s", "1 min"] = Duration(0.25),
                /// Size of a probe, with UDP and IP headers.
                pub probe_size: Size ["28 B", "2304 B"] = Size(1500.0),
                /// Time without packets to a next hop after which the next packet begins a new communication.
                pub probe_after: Duration ["1 ms", "1 h"] = Duration(10.0),
                /// Whether packets to a next hop wait until its probes are sent, as in the paper.
                pub probe_hold: bool = PROBING.probe_hold,
                /// Whether routers account for hops of a flow that share the medium. A bit of input then
                /// needs more than one bit of the medium: the capacity in use over the input of the queue,
                /// from 1 to 20. Spare bandwidth counts as the input that it can carry, and a queue as the
                /// capacity that it needs. Not in the paper.
                pub self_interference: bool = true,
                /// Whether gains are scaled to the delay of the estimate. The available bandwidth is a mean
                /// over `estimate_over`, and shows the effect of a change only after that time. With true, a
                /// gain applies per `estimate_over` plus one round trip. With false it applies per round
                /// trip, as published. Not in the paper.
                pub await_estimate: bool = true,
            }
        }
    };
}
multihop_link::rt_winf_options! { parameters! }

impl WinfParameters {
    /// Checks that the values are consistent with each other.
    ///
    /// # Errors
    /// Names the parameter, the value found and a remedy.
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        let printed = [("full_busy", self.full_busy), ("total_per_exchange", self.total_per_exchange)];
        let whole = self.reading.unwrap_or(READING) == WinfReading::Whole;
        if let Some((name, _)) = printed.iter().find(|(_, given)| *given && whole) {
            let found = Found::NoEffect(Clash::new(true, "reading", "\"whole\""));
            let wanted = Wanted::LeaveOutOr("reading", "\"printed\" or \"strict\"");
            return Err(ParameterError::new(name, found, wanted));
        }
        if self.watched == Some(SampledFrames::Probe) && self.reading == Some(WinfReading::Strict) {
            let found = Found::NotWith(Clash::new("\"strict\"", "watched", "\"probe\""));
            let wanted = Wanted::OneOf("\"printed\", which is the same there, or \"whole\"");
            return Err(ParameterError::new("reading", found, wanted));
        }
        if self.watched == Some(SampledFrames::RtsCts) && self.probes > 0 {
            let found = Found::NoEffect(Clash::new(self.probes, "watched", "\"rts-cts\""));
            return Err(ParameterError::new("probes", found, Wanted::LeaveOutOr("watched", "\"probe\"")));
        }
        Ok(())
    }

    /// Returns the estimates at a queue before `egress` whose full packets have this size in bytes.
    /// `default_of_aggregates` is the default reading if the radio aggregates.
    pub(crate) fn at(
        &self,
        egress: &EgressQueue,
        packet_size: u32,
        default_of_aggregates: WinfReading,
    ) -> Estimates {
        let fitting = match egress.rts_from {
            Some(least) if packet_size >= least => SampledFrames::RtsCts,
            _ => SampledFrames::Probe,
        };
        let watched = self.watched.unwrap_or(fitting);
        let fitting = if egress.aggregates { default_of_aggregates } else { READING };
        let reading = match (self.reading.unwrap_or(fitting), watched) {
            // With probes the two readings are the same.
            (WinfReading::Strict, SampledFrames::Probe) => WinfReading::Printed,
            (reading, _) => reading,
        };
        Estimates { parameters: self.clone(), reading, watched, egress: *egress, input: 0.0 }
    }
}

/// Estimates of the capacity and the available bandwidth of the link behind a queue. A wire has no estimator:
/// its capacity is its bit rate, and its available bandwidth is the capacity minus the input.
pub(crate) struct Estimates {
    parameters: WinfParameters,
    reading: WinfReading,
    watched: SampledFrames,
    /// Queue before the link.
    pub egress: EgressQueue,
    /// Mean input of the queue in bytes per second, over the time of the estimates.
    input: f64,
}

/// Lower and upper limit of the capacity that a byte of input uses, in bytes. The limits are needed because
/// the two means are over slightly different times, and other traffic makes the ratio large for a small
/// input.
const COST_RANGE: (f64, f64) = (1.0, 20.0);

impl Estimates {
    /// Returns the estimator of the sampled frames; none on a wire.
    pub(crate) fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        if self.egress.is_wired {
            return Vec::new();
        }
        let parameters = &self.parameters;
        let window = Elapsed::Window(parameters.estimate_over.span());
        let reference_size = Some(parameters.reference_size.bytes() as u32).filter(|size| *size > 0);
        let smoothing = parameters.capacity_smoothing;
        vec![match self.watched {
            SampledFrames::RtsCts => {
                let options = RtWinfOptions {
                    reading: self.reading,
                    window,
                    total_per_exchange: parameters.total_per_exchange,
                    full_busy: parameters.full_busy,
                    ack_report: parameters.ack_report,
                    reference_size,
                    smoothing,
                };
                Box::new(RtWinf::new(options, *phy))
            }
            SampledFrames::Probe => {
                let options = RtWinfProbeOptions {
                    reading: self.reading,
                    window,
                    probes: parameters.probes,
                    probe_interval: parameters.probe_interval.span(),
                    probe_size: parameters.probe_size.bytes() as u32,
                    probe_after: parameters.probe_after.span(),
                    probe_hold: parameters.probe_hold,
                    ack_report: parameters.ack_report,
                    reference_size,
                    smoothing,
                };
                Box::new(RtWinfProbe::new(options, *phy))
            }
        }]
    }

    /// Returns the capacity in bytes per second.
    pub(crate) fn capacity(&self, view: &LinkView) -> f64 {
        view.capacity_bps.unwrap_or(self.egress.rate.bps() as f64) / 8.0
    }

    /// Updates the mean input with a rate in bytes per second over `seconds`.
    pub(crate) fn note_input(&mut self, input: f64, seconds: f64) {
        let weight = (seconds / self.parameters.estimate_over.0).min(1.0);
        self.input += weight * (input - self.input);
    }

    /// Returns the capacity, in bytes, that a byte of input uses if `used` bytes per second of the medium are
    /// in use. `used` includes all hops of the neighbourhood and acknowledgements. On a wire the result is 1.
    pub(crate) fn cost(&self, used: f64) -> f64 {
        if !self.parameters.self_interference || self.egress.is_wired || self.input <= 0.0 {
            return 1.0;
        }
        (used / self.input).clamp(COST_RANGE.0, COST_RANGE.1)
    }

    /// Returns the factor for a gain on the available bandwidth, for a round trip of `rtt` seconds. The gains
    /// of XCP and RCP assume a loop that sees the effect of a change within a round trip. Here the effect is
    /// complete after a round trip plus the time of the estimates.
    pub(crate) fn gain_scale(&self, rtt: f64) -> f64 {
        if self.parameters.await_estimate && !self.egress.is_wired {
            rtt / (rtt + self.parameters.estimate_over.0)
        } else {
            1.0
        }
    }

    /// Returns the available bandwidth in bytes per second for an input of `arrived` bytes per second.
    pub(crate) fn available(&self, arrived: f64, view: &LinkView) -> f64 {
        view.available_bps.map_or((self.capacity(view) - arrived).max(0.0), |bps| bps / 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{EGRESS, phy};

    /// 0.9 MB/s are in use. An input of 0.5 MB/s counts half after 0.1 of the 0.2 s of the estimates, and
    /// finally in full.
    #[test]
    fn the_cost_is_the_medium_in_use_over_the_input() {
        let mut estimates = WinfParameters::default().at(&EGRESS, 1_500, WinfReading::Whole);
        assert_eq!(estimates.cost(0.9e6), 1.0, "no input yet");
        estimates.note_input(0.5e6, 0.1);
        assert!((estimates.cost(0.9e6) - 3.6).abs() < 1e-12);
        estimates.note_input(0.5e6, 0.5);
        assert!((estimates.cost(0.9e6) - 1.8).abs() < 1e-12);
        assert_eq!([estimates.cost(0.4e6), estimates.cost(40e6)], [1.0, 20.0]);
        let alone = WinfParameters { self_interference: false, ..WinfParameters::default() };
        let wire = EgressQueue { is_wired: true, ..EGRESS };
        for mut other in [
            alone.at(&EGRESS, 1_500, WinfReading::Whole),
            WinfParameters::default().at(&wire, 1_500, WinfReading::Whole),
        ] {
            other.note_input(0.5e6, 0.5);
            assert_eq!(other.cost(0.9e6), 1.0);
        }
    }

    #[test]
    fn gains_are_scaled_to_the_time_of_the_estimates() {
        let gain_scale = |await_estimate, egress: &EgressQueue, rtt| {
            let parameters = WinfParameters { await_estimate, ..WinfParameters::default() };
            parameters.at(egress, 1_500, WinfReading::Whole).gain_scale(rtt)
        };
        assert!((gain_scale(true, &EGRESS, 0.05) - 0.2).abs() < 1e-12);
        assert!((gain_scale(true, &EGRESS, 0.6) - 0.75).abs() < 1e-12);
        assert_eq!(gain_scale(false, &EGRESS, 0.05), 1.0);
        assert_eq!(gain_scale(true, &EgressQueue { is_wired: true, ..EGRESS }, 0.05), 1.0);
    }

    #[test]
    fn frame_counting_options_have_no_effect_with_the_reading_whole() {
        let whole = WinfParameters { reading: Some(WinfReading::Whole), ..WinfParameters::default() };
        assert_eq!(whole.check(), Ok(()));
        let default_reading = WinfParameters { full_busy: true, ..WinfParameters::default() };
        assert!(
            default_reading.check().unwrap_err().to_string().contains("no effect with reading = \"whole\"")
        );
        for (name, given) in [
            ("full_busy", WinfParameters { full_busy: true, ..whole.clone() }),
            ("total_per_exchange", WinfParameters { total_per_exchange: true, ..whole.clone() }),
        ] {
            let error = given.check().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name}: true has no effect")), "{error}");
            assert_eq!(WinfParameters { reading: Some(WinfReading::Strict), ..given }.check(), Ok(()));
        }
    }

    #[test]
    fn probes_have_no_strict_reading() {
        let probe = |reading| {
            let watched = Some(SampledFrames::Probe);
            WinfParameters { watched, reading: Some(reading), ..WinfParameters::default() }.check()
        };
        assert_eq!(probe(WinfReading::Printed), Ok(()));
        assert_eq!(probe(WinfReading::Whole), Ok(()));
        let error = probe(WinfReading::Strict).unwrap_err().to_string();
        assert!(
            error.starts_with("reading: \"strict\" is not available with watched = \"probe\""),
            "{error}"
        );
        for watched in [None, Some(SampledFrames::RtsCts)] {
            let reading = Some(WinfReading::Strict);
            let other = WinfParameters { watched, reading, ..WinfParameters::default() };
            assert_eq!(other.check(), Ok(()));
        }
    }

    #[test]
    fn nodes_probe_only_where_probes_are_sampled() {
        let probes = |watched| WinfParameters { watched, probes: 4, ..WinfParameters::default() };
        let error = probes(Some(SampledFrames::RtsCts)).check().unwrap_err().to_string();
        assert!(error.starts_with("probes: 4 has no effect with watched = \"rts-cts\""), "{error}");
        for (rts_from, expected) in [(None, true), (Some(0), false)] {
            let parameters = probes(None);
            assert_eq!(parameters.check(), Ok(()));
            let egress = EgressQueue { rts_from, ..EGRESS };
            let estimators = parameters.at(&egress, 1_500, WinfReading::Whole).estimators(&phy());
            let probing = estimators[0].probing();
            assert_eq!(probing.is_some_and(|probing| probing.count == 4), expected);
        }
    }

    /// The scheme states the defaults of the estimator in units of a file.
    #[test]
    fn probing_has_the_defaults_of_the_estimator() {
        let own = WinfParameters::default();
        let options = RtWinfProbeOptions {
            probe_interval: own.probe_interval.span(),
            probe_size: own.probe_size.bytes() as u32,
            probe_after: own.probe_after.span(),
            ..PROBING
        };
        assert_eq!(options, PROBING);
    }

    #[test]
    fn sampled_frames_follow_the_rts_threshold_unless_given() {
        let watched = |rts_from, given| {
            let parameters = WinfParameters { watched: given, ..WinfParameters::default() };
            parameters.at(&EgressQueue { rts_from, ..EGRESS }, 1_532, WinfReading::Whole).watched
        };
        assert_eq!(watched(Some(0), None), SampledFrames::RtsCts);
        assert_eq!(watched(Some(1_532), None), SampledFrames::RtsCts);
        assert_eq!(watched(Some(1_533), None), SampledFrames::Probe, "acknowledgements are even shorter");
        assert_eq!(watched(None, None), SampledFrames::Probe);
        assert_eq!(watched(None, Some(SampledFrames::RtsCts)), SampledFrames::RtsCts);
    }

    /// The default reading depends on whether the radio aggregates; a given reading has priority.
    #[test]
    fn the_reading_follows_the_radio_unless_given() {
        let reading = |aggregates, rts_from, given| {
            let parameters = WinfParameters { reading: given, ..WinfParameters::default() };
            parameters.at(&EgressQueue { aggregates, rts_from, ..EGRESS }, 1_532, WinfReading::Strict).reading
        };
        assert_eq!(reading(false, Some(0), None), WinfReading::Whole);
        assert_eq!(reading(true, Some(0), None), WinfReading::Strict);
        assert_eq!(reading(true, None, None), WinfReading::Printed, "pairs have no strict reading");
        assert_eq!(reading(true, Some(0), Some(WinfReading::Whole)), WinfReading::Whole);
        assert_eq!(reading(false, Some(0), Some(WinfReading::Printed)), WinfReading::Printed);
    }
}
