//! What XCP-Winf and RCP-Winf share: rt-Winf's estimates, which each node has of its own links (Barreto 2015,
//! section 3).

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

/// Which frames rt-Winf measures the medium by.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampledFrames {
    /// RTS, CTS, DATA and ACK. Without RTS/CTS there are no samples of capacity: it stays at the bit rate.
    RtsCts,
    /// Pairs of DATA and ACK.
    Probe,
}

/// How the equations are read where it is not said: the paper defines capacity as the maximum sustainable
/// data rate.
const READING: WinfReading = WinfReading::Whole;

/// The table of parameters, of which some are options of the estimator: their rows are its own.
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
                /// Which frames the medium is measured by: "rts-cts", or "probe" where RTS is not used.
                /// Default: what fits full packets of this scheme at the scenario's threshold.
                pub watched: Option<SampledFrames>,
                /// How the equations of capacity are read (Eqs. 1, 4 and 6): "whole", what a link sustains
                /// (Eq. 14), "printed", or "strict", which `watched` = "probe" does not have. The paper
                /// defines capacity as the maximum sustainable data rate, which is "whole". Over radios that
                /// send A-MPDUs what an exchange costs besides DATA is shared by as many packets as wait, so
                /// that what short aggregates sustain is not the maximum. With probes "printed" stands for
                /// "strict", which is the same there.
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
                /// The latest time over which busy time counts. The paper has all since the first exchange.
                pub estimate_over: Duration ["1 ms", "1 h"] = Duration(0.2),
                /// Capacities are those of packets of this size, so that acknowledgements do not lower them;
                /// "0 B" for the sizes that are sent, as printed.
                pub reference_size: Size ["0 B", "65535 B"] = Size(1500.0),
                $(#[$smoothing])*
                pub capacity_smoothing: f64 [$($weights)*] = RtWinfOptions::DEFAULT.smoothing,
                /// The hops of a flow share the medium, so that a bit that comes to a queue costs several
                /// bits of it: the time in use over the input of the queue, between 1 and 20. With true,
                /// spare bandwidth counts as input that costs so much, and a queue as the medium that it
                /// takes to send it. Not in the paper.
                pub self_interference: bool = true,
                /// The available bandwidth is a mean over `estimate_over`, and shows what a change did only
                /// after that. With true, gains count for that time and a round trip together; with false, as
                /// published, for each round trip. Not in the paper.
                pub await_estimate: bool = true,
            }
        }
    };
}
multihop_link::rt_winf_options! { parameters! }

impl WinfParameters {
    /// Do values go together that each are in their range?
    ///
    /// # Errors
    /// The parameter, what was found, and what would do.
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
        Ok(())
    }

    /// The estimates at a queue before `egress`, by which full packets of this size leave; `of_aggregates` is
    /// the reading where the radio aggregates and none is given.
    pub(crate) fn at(&self, egress: &EgressQueue, packet_size: u32, of_aggregates: WinfReading) -> Estimates {
        let fitting = match egress.rts_from {
            Some(least) if packet_size >= least => SampledFrames::RtsCts,
            _ => SampledFrames::Probe,
        };
        let watched = self.watched.unwrap_or(fitting);
        let fitting = if egress.aggregates { of_aggregates } else { READING };
        let reading = match (self.reading.unwrap_or(fitting), watched) {
            // Which is the same.
            (WinfReading::Strict, SampledFrames::Probe) => WinfReading::Printed,
            (reading, _) => reading,
        };
        Estimates { parameters: self.clone(), reading, watched, egress: *egress, input: 0.0 }
    }
}

/// Capacity and available bandwidth of what a queue leads to. A wire has no estimator: its capacity is its
/// rate, and what is available of it is what did not arrive.
pub(crate) struct Estimates {
    parameters: WinfParameters,
    reading: WinfReading,
    watched: SampledFrames,
    pub egress: EgressQueue,
    /// Mean input of the queue over the time that estimates are of, in bytes per second.
    input: f64,
}

/// The least and the most that a byte of input is taken to cost of the medium. What is in use and what came
/// are means over not quite the same time, and the use of others would make a small input seem to cost
/// anything.
const COST: (f64, f64) = (1.0, 20.0);

impl Estimates {
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
                    ack_report: parameters.ack_report,
                    reference_size,
                    smoothing,
                };
                Box::new(RtWinfProbe::new(options, *phy))
            }
        }]
    }

    /// In bytes per second.
    pub(crate) fn capacity(&self, view: &LinkView) -> f64 {
        view.capacity_bps.unwrap_or(self.egress.rate.bps() as f64) / 8.0
    }

    /// So many bytes per second came to the queue for so many seconds.
    pub(crate) fn arrived(&mut self, input: f64, seconds: f64) {
        let weight = (seconds / self.parameters.estimate_over.0).min(1.0);
        self.input += weight * (input - self.input);
    }

    /// What a byte that comes to the queue costs of the medium, in bytes, where `used` bytes per second of it
    /// are in use: those of all hops of the neighbourhood, and of acknowledgements. A wire is used by this
    /// queue alone.
    pub(crate) fn cost(&self, used: f64) -> f64 {
        if !self.parameters.self_interference || self.egress.is_wired || self.input <= 0.0 {
            return 1.0;
        }
        (used / self.input).clamp(COST.0, COST.1)
    }

    /// The part of a gain for what is available that counts in a round trip of so many seconds. The gains of
    /// XCP and RCP are those of a loop that sees within a round trip what it did, and not each time again
    /// what it has given out already. Here it sees that in full after a round trip and the time that
    /// estimates are of.
    pub(crate) fn gain_scale(&self, rtt: f64) -> f64 {
        if self.parameters.await_estimate && !self.egress.is_wired {
            rtt / (rtt + self.parameters.estimate_over.0)
        } else {
            1.0
        }
    }

    /// In bytes per second, where `arrived` came to the queue.
    pub(crate) fn available(&self, arrived: f64, view: &LinkView) -> f64 {
        view.available_bps.map_or((self.capacity(view) - arrived).max(0.0), |bps| bps / 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::EGRESS;

    /// 0.9 MB/s in use. After 0.1 of the 0.2 s that estimates are of, an input of 0.5 MB/s counts half, and
    /// in the end in full.
    #[test]
    fn a_byte_of_input_costs_what_is_in_use_for_it() {
        let mut estimates = WinfParameters::default().at(&EGRESS, 1_500, WinfReading::Whole);
        assert_eq!(estimates.cost(0.9e6), 1.0, "nothing came");
        estimates.arrived(0.5e6, 0.1);
        assert!((estimates.cost(0.9e6) - 3.6).abs() < 1e-12);
        estimates.arrived(0.5e6, 0.5);
        assert!((estimates.cost(0.9e6) - 1.8).abs() < 1e-12);
        assert_eq!([estimates.cost(0.4e6), estimates.cost(40e6)], [1.0, 20.0]);
        let alone = WinfParameters { self_interference: false, ..WinfParameters::default() };
        let wire = EgressQueue { is_wired: true, ..EGRESS };
        for mut other in [
            alone.at(&EGRESS, 1_500, WinfReading::Whole),
            WinfParameters::default().at(&wire, 1_500, WinfReading::Whole),
        ] {
            other.arrived(0.5e6, 0.5);
            assert_eq!(other.cost(0.9e6), 1.0);
        }
    }

    #[test]
    fn gains_count_for_the_time_that_estimates_are_of() {
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
    fn what_counts_frames_has_no_effect_where_the_medium_is_sensed() {
        let whole = WinfParameters { reading: Some(WinfReading::Whole), ..WinfParameters::default() };
        assert_eq!(whole.check(), Ok(()));
        let unsaid = WinfParameters { full_busy: true, ..WinfParameters::default() };
        assert!(unsaid.check().unwrap_err().to_string().contains("no effect with reading = \"whole\""));
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
        assert!(error.starts_with("reading: \"strict\" is none of watched = \"probe\""), "{error}");
        for watched in [None, Some(SampledFrames::RtsCts)] {
            let reading = Some(WinfReading::Strict);
            let other = WinfParameters { watched, reading, ..WinfParameters::default() };
            assert_eq!(other.check(), Ok(()));
        }
    }

    #[test]
    fn what_is_watched_fits_the_threshold_unless_it_is_said() {
        let watched = |rts_from, said| {
            let parameters = WinfParameters { watched: said, ..WinfParameters::default() };
            parameters.at(&EgressQueue { rts_from, ..EGRESS }, 1_532, WinfReading::Whole).watched
        };
        assert_eq!(watched(Some(0), None), SampledFrames::RtsCts);
        assert_eq!(watched(Some(1_532), None), SampledFrames::RtsCts);
        assert_eq!(watched(Some(1_533), None), SampledFrames::Probe, "acknowledgements are shorter still");
        assert_eq!(watched(None, None), SampledFrames::Probe);
        assert_eq!(watched(None, Some(SampledFrames::RtsCts)), SampledFrames::RtsCts);
    }

    /// One exchange with RTS, or a pair without, may carry many packets or not; what is said goes before what
    /// fits.
    #[test]
    fn the_reading_fits_the_radio_unless_it_is_said() {
        let reading = |aggregates, rts_from, said| {
            let parameters = WinfParameters { reading: said, ..WinfParameters::default() };
            parameters.at(&EgressQueue { aggregates, rts_from, ..EGRESS }, 1_532, WinfReading::Strict).reading
        };
        assert_eq!(reading(false, Some(0), None), WinfReading::Whole);
        assert_eq!(reading(true, Some(0), None), WinfReading::Strict);
        assert_eq!(reading(true, None, None), WinfReading::Printed, "pairs have no strict reading");
        assert_eq!(reading(true, Some(0), Some(WinfReading::Whole)), WinfReading::Whole);
        assert_eq!(reading(false, Some(0), Some(WinfReading::Printed)), WinfReading::Printed);
    }
}
