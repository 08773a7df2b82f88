//! Parameters that all TCP schemes share.

mod ap;
mod atcp;
mod bbr;
mod bbr3;
mod cubic;
mod elfn;
mod host;
mod newreno;
mod prague;
mod sack;
mod vegas;
mod westwood;

pub use ap::{DelayDispersion, ShortPaths, TcpAp};
pub use atcp::Atcp;
pub use bbr::TcpBbr;
pub use bbr3::TcpBbr3;
pub use cubic::TcpCubic;
pub use elfn::TcpElfn;
pub use host::HostTcp;
pub use newreno::TcpNewReno;
pub use prague::TcpPrague;
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
    /// Parameters of a TCP connection. Parameters that are left out have the default of the `flavour`.
    #[schemars(transform = mark_receive_window)]
    TcpParameters by
    /// Source of the defaults of the other parameters: the standards ("rfc"), ns-2.35 ("ns2") or the Linux
    /// kernel ("linux"). linux detects losses by time (RACK-TLP, RFC 8985), reduces the window in proportion
    /// to deliveries (RFC 9937), detects spurious timeouts (RFC 5682) and undoes reductions that proved
    /// needless. Its receivers report duplicates (RFC 2883), compress acknowledgements of data beyond a gap,
    /// and acknowledge 16 segments one by one at the start of data and two when a mark arrives. Its
    /// retransmission timeout is at least `min_rto` above the smoothed round-trip time. ns2 also has quirks
    /// without a parameter. It halves the congestion window instead of the data in flight, and opens the
    /// window per acknowledgement even if it is unused. In `NewReno` recovery a duplicate acknowledgement
    /// releases at most two segments, and the window stays deflated afterwards. SACK recovery fills holes
    /// before it sends new data. After a timeout all data is retransmitted. SACK blocks cost 8 bytes each.
    /// Retransmissions are ECN capable. An ECN-Echo at a window of one segment backs off the timer.
    flavour: Flavour;
}
tcp_parameters! { onto! TcpParameters, TcpOptions; }
reno_parameters! { onto! TcpParameters, RenoOptions; }
rto_parameters! { onto! TcpParameters, RtoOptions; }

/// Comparisons that set one receive window for all schemes find the key by this role.
fn mark_receive_window(schema: &mut Schema) {
    if let Some(window) = schema.pointer_mut("/properties/window") {
        window["x-role"] = json!("receive-window");
    }
}

impl TcpParameters {
    /// Checks that the values are consistent with each other.
    ///
    /// # Errors
    /// Names the parameter, the value found and a remedy.
    pub fn check(&self) -> Result<(), ParameterError> {
        if self.flavour == Flavour::Linux {
            self.check_recovery_by_time("flavour", "\"linux\"", "\"rfc\"")?;
        }
        self.check_common()
    }

    /// Checks that no parameter is given that recovery by time does not use. `with = other` chooses it, and
    /// `with = instead` does not.
    pub(crate) fn check_recovery_by_time(
        &self,
        with: &'static str,
        other: &str,
        instead: &'static str,
    ) -> Result<(), ParameterError> {
        let given = [("keep_sacked", self.keep_sacked), ("limited_transmit", self.limited_transmit)];
        match given.iter().find_map(|(key, value)| value.map(|value| (*key, value))) {
            None => Ok(()),
            Some((key, value)) => {
                let found = Found::NoEffect(Clash::new(value, with, other));
                Err(ParameterError::new(key, found, Wanted::LeaveOutOr(with, instead)))
            }
        }
    }

    /// Checks the values that do not depend on loss recovery.
    pub(crate) fn check_common(&self) -> Result<(), ParameterError> {
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

    /// Returns the options of both ends of a connection with these parameters.
    ///
    /// Hosts of today recover by time, whatever `recovery` older flavours use.
    pub fn options(&self, recovery: Recovery) -> TcpOptions {
        let recovery = if self.flavour == Flavour::Linux { Recovery::Rack } else { recovery };
        self.options_with(recovery)
    }

    /// Returns the options of both ends of a connection with this loss recovery.
    pub(crate) fn options_with(&self, recovery: Recovery) -> TcpOptions {
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

    /// Returns each key with the value of `options` as a file would write it, or with the `flavour`'s default
    /// for keys of congestion control.
    pub(crate) fn written(flavour: Flavour, options: &TcpOptions) -> Vec<Stated> {
        let reno = RenoOptions::of(flavour, options.segment_size, options.receive_window());
        let reno = <Self as Overrides<RenoOptions>>::written(&reno);
        let rto = <Self as Overrides<RtoOptions>>::written(&options.rto);
        let mut tcp = <Self as Overrides<TcpOptions>>::written(options);
        if options.delayed_ack.is_none() {
            // Each segment has its own acknowledgement.
            tcp.iter_mut().filter(|(key, _)| *key == "ack_every").for_each(|(_, value)| *value = None);
        }
        if options.recovery == Recovery::Rack {
            let unused = ["keep_sacked", "limited_transmit"];
            tcp.iter_mut().filter(|(key, _)| unused.contains(key)).for_each(|(_, value)| *value = None);
        }
        [tcp, reno, rto].concat()
    }

    /// Returns the parameters with segments that leave one by one at the pace, unless bursts are asked for.
    pub(crate) fn paced_one_by_one(&self) -> TcpParameters {
        TcpParameters { segmentation_offload: self.segmentation_offload.or(Some(false)), ..self.clone() }
    }

    /// Returns the options of a connection whose window routers open. Unless other values are given, SACK
    /// information is kept after a timeout and the receive window does not limit the sender. Every
    /// acknowledgement gives a round-trip sample.
    pub(crate) fn router_assisted(&self, congestion_header: CongestionHeader) -> TcpOptions {
        let tcp = TcpParameters {
            window: self.window.or(Some(TcpOptions::OPEN_WINDOW)),
            keep_sacked: self.keep_sacked.or(Some(true)),
            ..self.clone()
        };
        TcpOptions { congestion_header, time_every_segment: true, ..tcp.options(Recovery::Sack) }
    }

    /// Returns the AIMD controller with these parameters.
    pub fn reno(&self) -> Reno {
        Reno::new(self.reno_options())
    }

    /// Returns the options of the AIMD controller. Other controllers use its slow start, first window and
    /// limits.
    pub fn reno_options(&self) -> RenoOptions {
        let tcp = self.options(Recovery::default());
        let mut options = RenoOptions::of(self.flavour, tcp.segment_size, tcp.receive_window());
        self.apply(&mut options);
        options
    }

    /// Returns the first congestion window in bytes, that of [`TcpParameters::reno`].
    pub(crate) fn first_window(&self) -> u64 {
        self.reno().allowance().window
    }

    /// Returns the payload bytes of a full segment.
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
    fn the_minimum_timeout_is_at_most_the_maximum() {
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

    /// Timestamps take 12 of 1500 bytes of a packet. The timer stays above the round-trip time by the minimum
    /// timeout.
    #[test]
    fn linux_has_its_own_defaults_unless_others_are_given() {
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
    fn the_output_queue_is_limited_only_if_configured() {
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
    fn zero_delay_and_zero_tick_become_none() {
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
