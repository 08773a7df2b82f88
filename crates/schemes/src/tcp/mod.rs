//! The parameters that all TCP schemes share.

mod ap;
mod bbr;
mod cubic;
mod newreno;
mod sack;
mod vegas;
mod westwood;

pub use ap::{DelayDispersion, ShortPaths, TcpAp};
pub use bbr::TcpBbr;
pub use cubic::TcpCubic;
pub use newreno::TcpNewReno;
pub use sack::{SackRecovery, TcpSack};
pub use vegas::TcpVegas;
pub use westwood::{Filter, TcpWestwood};

pub use multihop_transport::Flavour;

use crate::ParameterError;
use crate::overrides::{Overrides, Stated};
use crate::overrides::{onto, overrides};
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_core::Span;
use multihop_transport::{
    CongestionHeader, Controller as _, Growth, Recovery, Reno, RenoOptions, RtoOptions, SackedAtTimeout,
    TcpOptions, reno_parameters, rto_parameters, tcp_parameters,
};
use schemars::Schema;
use serde_json::json;

tcp_parameters! { reno_parameters! rto_parameters! overrides!
    /// Parameters of a TCP connection. What is left out takes the default of the `flavour`.
    #[schemars(transform = mark_receive_window)]
    TcpParameters by
    /// Whose defaults the other parameters take: those of the standards ("rfc"), of ns-2.35 ("ns2"), or
    /// of the Linux kernel ("linux"). linux also acknowledges two segments at once when a mark arrives,
    /// and opens no window in the round trip after an ECN-Echo; its retransmission timeout is at least
    /// `min_rto` above the smoothed round trip. ns2 also has quirks that no single parameter covers. It
    /// halves the congestion window and not what is outstanding, and opens it per acknowledgement, used
    /// or not; in `NewReno` recovery a duplicate acknowledgement releases at most two segments, and the
    /// window stays as deflated as it was; SACK recovery fills holes before it sends new data; after a
    /// timeout everything is sent again; SACK blocks cost 8 bytes each; retransmissions are ECN capable;
    /// and echoes at a window of one segment back off the timer.
    flavour: Flavour;
}
tcp_parameters! { onto! TcpParameters, TcpOptions; }
reno_parameters! { onto! TcpParameters, RenoOptions; }
rto_parameters! { onto! TcpParameters, RtoOptions; }

/// Comparisons that give all schemes one receive window find the key by its role.
fn mark_receive_window(schema: &mut Schema) {
    if let Some(window) = schema.pointer_mut("/properties/window") {
        window["x-role"] = json!("receive-window");
    }
}

impl TcpParameters {
    /// Do values go together that each are in their range?
    ///
    /// # Errors
    /// The parameter, what was found, and what would do.
    pub fn check(&self) -> Result<(), ParameterError> {
        let has_limit = self.options(Recovery::NewReno).output_limit != TcpOptions::default().output_limit;
        if let (Some(limit), None, true) = (self.output_limit, self.pacing_shift, has_limit) {
            let found = Found::NoEffectWithout(Box::new((limit.to_string(), "pacing_shift")));
            return Err(ParameterError::new("output_limit", found, Wanted::LeaveOutOr("pacing_shift", "10")));
        }
        self.check_ack_every()?;
        let rto = self.options(Recovery::NewReno).rto;
        if rto.min_rto > rto.max_rto {
            let (min, max) = (rto.min_rto.ns() as f64 / 1e9, rto.max_rto.ns() as f64 / 1e9);
            let [min, max] = [min, max].map(|seconds| format!("{seconds} s"));
            let found = Found::Above(Clash::new(min, "max_rto", &max));
            return Err(ParameterError::new("min_rto", found, Wanted::AtMost(max)));
        }
        Ok(())
    }

    fn check_ack_every(&self) -> Result<(), ParameterError> {
        match self.ack_every {
            Some(every) if every > 1 && self.options(Recovery::NewReno).delayed_ack.is_none() => {
                let found = Found::NoEffect(Clash::new(every, "delayed_ack", "\"0 s\""));
                Err(ParameterError::new("ack_every", found, Wanted::LeaveOutOr("delayed_ack", "\"40 ms\"")))
            }
            _ => Ok(()),
        }
    }

    /// The options that these parameters mean.
    pub fn options(&self, recovery: Recovery) -> TcpOptions {
        let mut options = TcpOptions::of(self.flavour, recovery);
        self.apply(&mut options);
        self.apply(&mut options.rto);
        if self.segment_size.is_none() && !options.timestamps {
            options.segment_size = TcpOptions::default().segment_size;
        }
        if self.flavour == Flavour::Linux {
            options.rto.margin = options.rto.min_rto;
        }
        options
    }

    /// Each key, and what a file would have that means what `options` have, or what the `flavour` has of the
    /// congestion control.
    pub(crate) fn written(flavour: Flavour, options: &TcpOptions) -> Vec<Stated> {
        let reno = RenoOptions::of(flavour, options.segment_size, options.receive_window());
        let reno = <Self as Overrides<RenoOptions>>::written(&reno);
        let rto = <Self as Overrides<RtoOptions>>::written(&options.rto);
        let mut tcp = <Self as Overrides<TcpOptions>>::written(options);
        if options.delayed_ack.is_none() {
            // Each segment has an acknowledgement of its own.
            tcp.iter_mut().filter(|(key, _)| *key == "ack_every").for_each(|(_, value)| *value = None);
        }
        [tcp, reno, rto].concat()
    }

    /// The options of a connection whose window routers open: with selective acknowledgements, which hold
    /// after a timeout, a round-trip sample from every acknowledgement, and a receive window that does not
    /// bind, unless something else was given.
    pub(crate) fn router_assisted(&self, congestion_header: CongestionHeader) -> TcpOptions {
        let tcp = TcpParameters {
            window: self.window.or(Some(TcpOptions::OPEN_WINDOW)),
            keep_sacked: self.keep_sacked.or(Some(true)),
            ..self.clone()
        };
        TcpOptions { congestion_header, time_every_segment: true, ..tcp.options(Recovery::Sack) }
    }

    /// The AIMD controller that these parameters mean.
    pub fn reno(&self) -> Reno {
        Reno::new(self.reno_options())
    }

    /// The options of that controller, which others take their slow start, first window and limits from.
    pub fn reno_options(&self) -> RenoOptions {
        let tcp = self.options(Recovery::default());
        let mut options = RenoOptions::of(self.flavour, tcp.segment_size, tcp.receive_window());
        self.apply(&mut options);
        options
    }

    /// The first congestion window in bytes, with a default as in [`TcpParameters::reno`].
    pub(crate) fn first_window(&self) -> u64 {
        self.reno().allowance().window
    }

    /// Payload bytes of a full segment.
    pub fn segment_size(&self) -> u32 {
        self.options(Recovery::default()).segment_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_config::quantity::Duration;
    use multihop_transport::SmallQueues;

    #[test]
    fn a_timer_may_be_fixed_and_not_more_than_that() {
        let check = |min: &str, max: &str| {
            let parameters: TcpParameters =
                serde_json::from_value(json!({ "min_rto": min, "max_rto": max })).unwrap();
            parameters.check()
        };
        assert_eq!(check("1 s", "1 s"), Ok(()));
        assert_eq!(
            check("1001 ms", "1 s"),
            Err(ParameterError::new(
                "min_rto",
                Found::Above(Clash::new("1.001 s", "max_rto", "1 s")),
                Wanted::AtMost("1 s".into())
            ))
        );
    }

    /// Of a packet of 1500 bytes timestamps take 12; the timer stays above the round trip by what is the
    /// least timeout.
    #[test]
    fn linux_has_its_own_defaults_and_takes_others() {
        let of = |value: serde_json::Value| serde_json::from_value::<TcpParameters>(value).unwrap();
        let linux = of(json!({ "flavour": "linux" }));
        let options = linux.options(Recovery::Sack);
        assert_eq!((options.segment_size, options.packet_size()), (1448, 1500));
        assert_eq!((linux.first_window(), options.rto.margin), (14_480, Duration(0.2).span()));
        let plain =
            of(json!({ "flavour": "linux", "timestamps": false, "min_rto": "50 ms", "initial_window": 4 }));
        let options = plain.options(Recovery::Sack);
        assert_eq!((options.segment_size, options.packet_size()), (1460, 1500));
        assert_eq!((plain.first_window(), options.rto.margin), (5_840, Duration(0.05).span()));
        assert_eq!(of(json!({ "min_rto": "50 ms" })).options(Recovery::Sack).rto.margin, Span::ZERO);
    }

    #[test]
    fn what_waits_below_is_limited_on_demand() {
        let of = |value: serde_json::Value| serde_json::from_value::<TcpParameters>(value).unwrap();
        let small = |value| of(value).options(Recovery::Sack).small_queues();
        assert_eq!(small(json!({ "flavour": "linux" })), None);
        assert_eq!(
            small(json!({ "pacing_shift": 7 })),
            Some(SmallQueues { pacing_shift: 7, limit: 4 << 20 })
        );
        let given =
            json!({ "pacing_shift": 10, "output_limit": "64 KiB", "window_pacing": true, "ack_every": 8 });
        assert_eq!(small(given.clone()), Some(SmallQueues { pacing_shift: 10, limit: 65_536 }));
        let options = of(given).options(Recovery::Sack);
        assert_eq!((options.window_pacing, options.ack_every), (true, 8));
        assert_eq!(of(json!({ "output_limit": "4 MiB" })).check(), Ok(()), "the default");
        let alone = of(json!({ "output_limit": "64 KiB" })).check();
        assert_eq!(
            alone,
            Err(ParameterError::new(
                "output_limit",
                Found::NoEffectWithout(Box::new(("64 KiB".into(), "pacing_shift"))),
                Wanted::LeaveOutOr("pacing_shift", "10")
            ))
        );
        let at_once = of(json!({ "delayed_ack": "0 s", "ack_every": 2 })).check();
        let said = "ack_every: 2 has no effect with delayed_ack = \"0 s\"; leave it out, or set delayed_ack = \"40 ms\"";
        assert_eq!(at_once.unwrap_err().to_string(), said);
        assert_eq!(of(json!({ "delayed_ack": "0 s", "ack_every": 1 })).check(), Ok(()));
    }

    #[test]
    fn no_delay_and_no_tick_are_none() {
        let options = |delayed_ack: &str, tick: &str| {
            let parameters: TcpParameters =
                serde_json::from_value(json!({ "delayed_ack": delayed_ack, "tick": tick })).unwrap();
            let options = parameters.options(Recovery::Sack);
            (options.delayed_ack.map(Span::ns), options.rto.tick.map(Span::ns))
        };
        assert_eq!(options("0 s", "0 s"), (None, None));
        assert_eq!(options("40 ms", "10 ms"), (Some(40_000_000), Some(10_000_000)));
    }
}
