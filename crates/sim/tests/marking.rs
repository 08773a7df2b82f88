//! Marks from the MAC in the engine: who gets them, and who does not.

mod common;

use common::{Datagrams, add_flow, chain, saturate, saturated_cell};
use multihop_core::{Rate, Span};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_schemes::find;
use multihop_sim::config::{AppConfig, Config, DsdvConfig, RoutingProtocol, SchemeConfig};
use multihop_sim::run;
use serde_json::json;
use std::sync::Arc;

const MARKING: [&str; 4] = ["recn", "ecn-rts", "ecn-fsd", "ecn-busy"];

fn scheme(name: &str) -> SchemeConfig {
    let scheme = find(name).unwrap().build(&json!({ "segment_size": "1000 B" })).unwrap();
    SchemeConfig { name: name.into(), scheme }
}

/// As He et al. 2017 have it: DSSS at 1 Mb/s, with RTS.
fn slow(mut config: Config) -> Config {
    config.phy = Phy::new(Standard::Dsss, Preamble::Long);
    config.data_rate = Rate::from_kbps(1_000);
    config.mac.rts_threshold = Some(0);
    config.medium.propagation_delay = Span::ZERO;
    config.duration = Span::from_ms(61_000);
    config
}

/// Datagrams are judged by no metric, though TCP of a marking scheme crosses the same nodes and is marked there.
#[test]
fn datagrams_are_never_marked() {
    for name in MARKING {
        let mut config = slow(saturated_cell(DcfRules::IEEE, 4));
        config.schemes = vec![scheme("udp"), scheme(name)];
        config.flows[0].scheme = 1;
        let outcome = run(&config);
        let [tcp, datagrams @ ..] = outcome.flows.as_slice() else { panic!("four flows") };
        assert!(tcp.marked > 0 && tcp.ecn_reductions > 0, "{name}: {tcp:?}");
        for flow in datagrams {
            assert_eq!(flow.marked, 0, "{name}: {flow:?}");
            assert!(flow.packets_delivered > 100, "{name}: {flow:?}");
        }
    }
}

/// A frame that has the channel to itself needs DIFS and its back-off besides the exchange: `R_FTE` is 0.963 on average.
#[test]
fn the_efficiency_of_a_saturated_link_without_contention_is_0_963() {
    let mut config = slow(chain(DcfRules { llc_header: 0, ..DcfRules::IEEE }, 1));
    config.schemes =
        vec![SchemeConfig { name: "udp".into(), scheme: Arc::new(Datagrams { payload: 972, header: 28 }) }];
    saturate(&mut config, 0, 1);
    let outcome = run(&config);
    let flow = &outcome.flows[0];
    let mean = flow.transmission_efficiency.unwrap();
    assert!((mean - 0.963).abs() < 1e-3, "{mean}");
    assert_eq!(flow.rts_retransmissions_mean, Some(0.0));
}

/// One segment at a time over one hop, beside updates of DSDV: no metric finds anything.
#[test]
fn without_contention_nothing_is_marked() {
    for name in MARKING {
        let mut config = slow(chain(DcfRules::IEEE, 1));
        config.schemes = vec![scheme(name)];
        config.routing.protocol = RoutingProtocol::Dsdv(DsdvConfig::default());
        add_flow(&mut config, 0, 1, AppConfig::Cbr { rate: Rate::from_kbps(16), packet: 1000, jitter: 0.0 });
        let outcome = run(&config);
        let flow = &outcome.flows[0];
        assert!(flow.packets_delivered > 100, "{name}: {flow:?}");
        assert_eq!((flow.marked, flow.ecn_reductions), (0, 0), "{name}: {flow:?}");
    }
}
