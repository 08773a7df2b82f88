//! Accel-Brake Control (Goyal, Agarwal, Netravali, Alizadeh and Balakrishnan, "ABC: A Simple Explicit
//! Congestion Controller for Wireless Networks", 2020).

pub(crate) mod header;
mod router;
mod sender;

use crate::abc::router::{AbcConstants, AbcRouter};
use crate::abc::sender::AbcSender;
use crate::capacity::CapacityParameters;
use crate::tcp::TcpParameters;
use crate::xcp::reject_ecn;
use crate::{ParameterError, Parameters, TcpScheme};
use header::BrakeCounts;
use header::BrakeEcho;
use multihop_config::keys;
use multihop_config::quantity::Duration;
use multihop_core::{Ecn, HeaderFormat, NodeId};
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, CubicOptions, Echo, RenoOptions, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time over which a router measures the rate at which packets leave its queue.
const RATE_WINDOW: Duration = Duration(0.05);
/// Maximum number of tokens at a router, which is the longest burst of accelerates.
const TOKEN_LIMIT: f64 = 5.0;

keys! {
    /// Reliable transport whose data packets leave as accelerates, some of which routers turn into brakes.
    /// For an acknowledged accelerate the sender sends two packets, for a brake none. CUBIC responds to
    /// losses, and its window applies where it is the smaller one.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Abc {
        /// Capacity of links at routers.
        #[serde(flatten)]
        pub capacity: CapacityParameters,
        /// Target share of the capacity (`eta`).
        pub utilization: f64 [0.01, 2] = 0.98,
        /// Time in which a queue is to drain (`delta`). The control loop is stable for round trips up to 3/2
        /// of this time.
        pub drain_time: Duration ["1 ms", "1 min"] = Duration(0.133),
        /// Queueing delay that a router tolerates (`d_t`). On a radio it must exceed the time that a packet
        /// or a batch waits for the MAC.
        pub delay_threshold: Duration ["0 s", "1 min"] = Duration(0.02),
        /// TCP connection with SACK recovery. The receive window is 1024 segments unless `window` is given.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

impl Parameters for Abc {
    const NAME: &str = "abc";
    const SUMMARY: &str =
        "Accel-Brake Control: routers mark each packet so that the sender sends two packets or none";
    const REFERENCE: &str = "Goyal, Agarwal, Netravali, Alizadeh and Balakrishnan 2020; RFC 9438";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<BrakeCounts>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.capacity.check()?;
        reject_ecn(&self.tcp)?;
        self.tcp.check()
    }
}

impl TcpScheme for Abc {
    fn options(&self) -> TcpOptions {
        TcpOptions { delivery_rate: true, ..self.tcp.router_assisted(CongestionHeader::marks(Ecn::Ect1, 0)) }
    }

    fn control(&self) -> Box<dyn Controller> {
        let options = self.options();
        let reno = RenoOptions {
            max_window: options.receive_window(),
            grow_when_app_limited: false,
            ..self.tcp.reno_options()
        };
        Box::new(AbcSender::new(CubicOptions::rfc(reno)))
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(BrakeEcho::default()))
    }

    fn policy(&self, _node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let capacity = self.capacity.at(egress, self.options().packet_size());
        let constants = AbcConstants {
            utilization: self.utilization,
            drain: self.drain_time.0,
            threshold: self.delay_threshold.0,
            window: RATE_WINDOW.span(),
            token_limit: TOKEN_LIMIT,
        };
        Some(Box::new(AbcRouter::new(capacity, constants)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::returned;
    use multihop_core::{Span, Time};
    use multihop_transport::{Acked, DeliverySample};
    use serde_json::{from_value, json};

    /// Neither ns-2's default receive window of 20 segments nor the flavour limits the window that routers
    /// open. An application-limited sender does not open it.
    #[test]
    fn routers_open_a_used_window_in_both_flavours() {
        for flavour in ["rfc", "ns2"] {
            for (app_limited, opens) in [(false, true), (true, false)] {
                let given = json!({ "flavour": flavour, "segment_size": "1000 B", "initial_threshold": 500 });
                let scheme: Abc = from_value(given).unwrap();
                assert!(TcpScheme::options(&scheme).delivery_rate, "the sender needs the bytes in flight");
                let mut sender = TcpScheme::control(&scheme);
                let in_flight = 200_000;
                sender.on_delivered(&DeliverySample {
                    now: Time::ZERO,
                    size: 1_000,
                    marked: None,
                    delivered: 1_000,
                    prior_delivered: 0,
                    rate: None,
                    app_limited: false,
                    rtt: None,
                    in_flight_before: in_flight,
                    in_flight,
                    lost: 0,
                    in_flight_at_send: in_flight,
                    lost_since_send: 0,
                    recovering: false,
                    fast_recovery: false,
                    departure: Time::ZERO,
                });
                let rtt = Some(Span::from_ms(100));
                let ecn_echo = false;
                let (now, srtt) = (Time::ZERO, rtt);
                for _ in 0..100 {
                    sender.on_acked(&Acked {
                        now,
                        size: 1_000,
                        fresh: 1_000,
                        rtt,
                        srtt,
                        in_flight,
                        app_limited,
                        ecn_echo,
                        hops: 1,
                    });
                    sender.on_feedback(&returned(&BrakeCounts { accelerates: 1, brakes: 0 }, rtt));
                }
                let window = sender.allowance().window;
                assert_eq!(window > 50_000, opens, "{flavour}, {app_limited}: {window}");
            }
        }
    }
}
