//! TCP Vegas (Brakmo and Peterson 1995).

use crate::tcp::{Flavour, HostTcp};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::parameter_error::{Clash, Found, Wanted};
use multihop_transport::{Controller, Recovery, RenoOptions, TcpOptions, Vegas, VegasOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// TCP that keeps a few segments queued on the path. It compares the round-trip time with the minimum so
    /// far and opens or closes the window by one segment per round trip. Every segment is timed at no cost in
    /// bytes.
    ///
    /// The flavour ns2 counts queued segments as ns-2 does: one less, in whole segments. Its fine timeout is
    /// the mean plus two deviations instead of four. It counts the round trip of the SYN as one of data, has
    /// no Limited Transmit, and starts with two segments after a timeout.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpVegas {
        /// Number of queued segments below which the window grows.
        pub alpha: f64 [0, 1_000_000] = 1.0,
        /// Number of queued segments above which the window shrinks.
        pub beta: f64 [0, 1_000_000] = 3.0,
        /// Number of queued segments above which slow start ends.
        pub gamma: f64 [0, 1_000_000] = 1.0,
        /// Whether one duplicate acknowledgement is enough to retransmit a segment that was sent longer ago
        /// than the fine timeout. Without effect with the flavour linux, which detects losses by time.
        pub fine_timeout: bool = true,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: HostTcp,
    }
}

impl Parameters for TcpVegas {
    const NAME: &str = "tcp-vegas";
    const SUMMARY: &str = "TCP that keeps few segments queued, measured by round-trip times";
    const REFERENCE: &str = "Brakmo and Peterson 1995; RFC 6298, RFC 6582";

    fn check(&self) -> Result<(), ParameterError> {
        if self.alpha > self.beta {
            let found = Found::Above(Clash::new(self.alpha, "beta", self.beta));
            return Err(ParameterError::new("alpha", found, Wanted::AtMost(self.beta.to_string())));
        }
        self.tcp.check()
    }
}

impl TcpScheme for TcpVegas {
    fn options(&self) -> TcpOptions {
        let options = self.tcp.options(Recovery::NewReno);
        // ns-2's Vegas responds to the first two duplicates with nothing or with a retransmission.
        let limited_transmit = match self.tcp.limited_transmit {
            None => options.limited_transmit && self.tcp.flavour != Flavour::Ns2,
            Some(_) => options.limited_transmit,
        };
        TcpOptions { time_every_segment: true, limited_transmit, ..options }
    }

    fn control(&self) -> Box<dyn Controller> {
        // An unused window is no evidence of the path's capacity.
        let reno = RenoOptions { grow_when_app_limited: false, ..self.tcp.reno_options() };
        let defaults = match self.tcp.flavour {
            Flavour::Rfc | Flavour::Linux => VegasOptions::rfc(reno),
            Flavour::Ns2 => VegasOptions::ns2(reno),
        };
        let vegas = Vegas::new(VegasOptions {
            alpha: self.alpha,
            beta: self.beta,
            gamma: self.gamma,
            fine_grained_rto: defaults.fine_grained_rto.filter(|_| self.fine_timeout),
            ..defaults
        });
        Box::new(vegas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{Span, Time};
    use multihop_transport::{AckInfo, Acked, SentSegment};
    use serde_json::{Value, from_value, json};

    fn control(parameters: Value) -> Box<dyn Controller> {
        from_value::<TcpVegas>(parameters).unwrap().control()
    }

    /// Simulates a round trip: a window of segments is acknowledged, each with this sample, and as many are
    /// sent.
    fn round(vegas: &mut dyn Controller, rtt: u64, app_limited: bool) -> u64 {
        let (now, rtt) = (Time::ZERO, Some(Span::from_ms(rtt)));
        let window = vegas.allowance().window / 1_000;
        for _ in 0..window {
            let (size, in_flight) = (1_000, (window - 1) * 1_000);
            vegas.on_ack(&AckInfo { now, advance: Some(size) });
            vegas.on_acked(&Acked { rtt, srtt: rtt, in_flight, app_limited, ..Acked::in_order(now, size) });
            let (packet, in_flight, retransmission) = (1_040, window * 1_000, false);
            vegas.on_sent(&SentSegment { now, size, packet, in_flight, retransmission, app_limited });
        }
        vegas.allowance().window / 1_000
    }

    /// At 125 ms over a minimum of 100 ms, a fifth of the window is queued. The window is in equilibrium if
    /// that is between alpha and beta.
    #[test]
    fn the_window_rests_with_alpha_to_beta_segments_queued() {
        for (alpha, beta, rest) in [(1.0, 3.0, 14..=15), (4.0, 5.0, 20..=25), (6.0, 8.0, 30..=32)] {
            let mut vegas = control(json!({
                "segment_size": "1000 B", "initial_window": 20, "initial_threshold": 2, "alpha": alpha, "beta": beta,
            }));
            round(vegas.as_mut(), 100, true);
            let window = (0..60).fold(0, |_, _| round(vegas.as_mut(), 125, false));
            assert!(rest.contains(&window), "{alpha} to {beta}: {window}");
        }
    }

    /// With one sample of 100 ms the deviation is 50 ms. The mean plus four deviations is 300 ms; ns-2 adds
    /// two, which is 200 ms.
    #[test]
    fn the_fine_timeout_follows_the_flavour() {
        let fine = |parameters| {
            let mut vegas = control(parameters);
            vegas.on_opened(Span::from_ms(100));
            let now = Time::ZERO;
            let (rtt, ecn_echo) = (Some(Span::from_ms(100)), false);
            vegas.on_acked(&Acked {
                now,
                size: 0,
                fresh: 0,
                rtt,
                srtt: rtt,
                in_flight: 0,
                app_limited: true,
                ecn_echo,
                hops: 1,
            });
            vegas.fine_grained_rto().map(|span| (span.seconds() * 1e3).round())
        };
        assert_eq!(fine(json!({})), Some(300.0));
        assert!(fine(json!({ "flavour": "ns2" })).is_some_and(|ms| ms < 300.0));
        assert_eq!(fine(json!({ "fine_timeout": false })), None);
    }

    /// The flavour ns2 behaves likewise, although its Reno window opens even if it is unused.
    #[test]
    fn a_window_that_is_not_used_does_not_open() {
        for flavour in ["rfc", "ns2"] {
            let given = json!({ "flavour": flavour, "segment_size": "1000 B", "initial_window": 4 });
            let mut vegas = control(given);
            (0..6).for_each(|_| {
                round(vegas.as_mut(), 100, true);
            });
            assert_eq!(vegas.allowance().window, 4_000, "{flavour}");
        }
    }
}
