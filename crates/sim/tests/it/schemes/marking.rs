//! Marks from the MAC in the engine: which packets carry them, and which do not.

use crate::common::{Datagrams, add_flow, chain, saturate, saturated_cell};
use multihop_core::{Fate, LinkEvent, NodeId, Packet, Rate, Span};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_link::{Departure, EgressQueue, LinkView, RouterPolicy, Verdict};
use multihop_schemes::{Scheme, TcpNewReno, find};
use multihop_sim::config::{AppConfig, Config, DsdvConfig, RoutingProtocol, SchemeConfig};
use multihop_sim::run;
use multihop_transport::Endpoint;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const MARKING: [&str; 4] = ["recn", "ecn-rts", "ecn-fsd", "ecn-busy"];

fn scheme(name: &str) -> SchemeConfig {
    let scheme = find(name).unwrap().build(&json!({ "segment_size": "1000 B" })).unwrap();
    SchemeConfig { name: name.into(), scheme }
}

/// Network of He et al. 2017: DSSS at 1 Mb/s, with RTS.
fn slow(mut config: Config) -> Config {
    config.phy = Phy::new(Standard::Dsss, Preamble::Long);
    config.rates.data = Rate::from_kbps(1_000).into();
    config.mac.rts_threshold = Some(0);
    config.medium.propagation_delay = Span::ZERO;
    config.duration = Span::from_ms(61_000);
    config
}

/// Datagrams are judged by no metric, though TCP of a marking scheme crosses the same nodes and is marked
/// there.
#[test]
fn datagrams_are_never_marked() {
    for name in MARKING {
        let mut config = slow(saturated_cell(DcfRules::IEEE, 4));
        config.traffic.schemes = vec![scheme("udp"), scheme(name)];
        config.traffic.flows[0].scheme = 1;
        let outcome = run(&config);
        let [tcp, datagrams @ ..] = outcome.flows.as_slice() else { panic!("four flows") };
        assert!(tcp.marked > 0 && tcp.ecn_reductions > 0, "{name}: {tcp:?}");
        for flow in datagrams {
            assert_eq!(flow.marked, 0, "{name}: {flow:?}");
            assert!(flow.packets_delivered > 100, "{name}: {flow:?}");
        }
    }
}

/// TCP whose nodes compare each prediction with what comes of it.
struct Foretelling {
    tcp: TcpNewReno,
    fulfilled: Arc<AtomicU64>,
}

struct Prophet {
    predicted: Option<Span>,
    fulfilled: Arc<AtomicU64>,
}

impl Scheme for Foretelling {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.tcp.sender()
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        self.tcp.receiver()
    }
    fn segment_size(&self) -> u32 {
        self.tcp.segment_size()
    }
    fn router(&self, _node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(Prophet { predicted: None, fulfilled: self.fulfilled.clone() }))
    }
}

impl RouterPolicy for Prophet {
    fn on_data(&mut self, departure: &Departure, _packet: &mut Packet, _view: &LinkView) -> Verdict {
        self.predicted = Some(departure.predicted_service_delay());
        Verdict::Pass
    }

    fn on_link(&mut self, event: &LinkEvent) {
        let LinkEvent::Exchange(exchange) = event else { return };
        let predicted = self.predicted.take();
        if exchange.fate == Fate::Acknowledged {
            assert_eq!(predicted, Some(exchange.service_delay()), "{exchange:?}");
            self.fulfilled.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The service delay predicted at the last DATA of a frame equals that at its acknowledgement: retries,
/// freezing and propagation are included.
#[test]
fn the_predicted_service_delay_of_an_acknowledged_frame_comes_true() {
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        for rts_threshold in [None, Some(0)] {
            let fulfilled = Arc::new(AtomicU64::new(0));
            let mut config = chain(rules, 4);
            config.mac.rts_threshold = rts_threshold;
            config.medium.packet_error_rate = 0.1;
            let scheme = Foretelling { tcp: TcpNewReno::default(), fulfilled: fulfilled.clone() };
            config.traffic.schemes =
                vec![SchemeConfig { name: "foretelling".into(), scheme: Arc::new(scheme) }];
            saturate(&mut config, 0, 4);
            run(&config);
            assert!(fulfilled.load(Ordering::Relaxed) > 1_000);
        }
    }
}

/// A frame that has the channel to itself needs DIFS and its back-off besides the exchange: `R_FTE` is 0.963
/// on average.
#[test]
fn the_efficiency_of_a_saturated_link_without_contention_is_0_963() {
    let mut config = slow(chain(DcfRules { llc_header: 0, ..DcfRules::IEEE }, 1));
    config.traffic.schemes =
        vec![SchemeConfig { name: "udp".into(), scheme: Arc::new(Datagrams { payload: 972, header: 28 }) }];
    saturate(&mut config, 0, 1);
    let outcome = run(&config);
    let flow = &outcome.flows[0];
    let mean = flow.transmission_efficiency.unwrap();
    assert!((mean - 0.963).abs() < 1e-3, "{mean}");
    assert_eq!(flow.rts_retransmissions_mean, Some(0.0));
}

/// One segment at a time over one hop, next to updates of DSDV: no metric detects congestion.
#[test]
fn without_contention_nothing_is_marked() {
    for name in MARKING {
        let mut config = slow(chain(DcfRules::IEEE, 1));
        config.traffic.schemes = vec![scheme(name)];
        config.routing.protocol = RoutingProtocol::Dsdv(DsdvConfig::default());
        add_flow(&mut config, 0, 1, AppConfig::Cbr { rate: Rate::from_kbps(16), packet: 1000, jitter: 0.0 });
        let outcome = run(&config);
        let flow = &outcome.flows[0];
        assert!(flow.packets_delivered > 100, "{name}: {flow:?}");
        assert_eq!((flow.marked, flow.ecn_reductions), (0, 0), "{name}: {flow:?}");
    }
}
