//! Access categories in a network.

use super::aggregation::LIMITS;
use crate::common::{Datagrams, add_flow, network, saturate, total_goodput};
use multihop_core::{Dscp, Span};
use multihop_dot11::AccessCategory::{self, Background, BestEffort, Video, Voice};
use multihop_dot11::{
    Bandwidth, DataRate, DcfRules, EdcaParameters, Mcs, Phy, PpduOptions, Preamble, Standard,
};
use multihop_schemes::TcpNewReno;
use multihop_sim::capacity::Capacity;
use multihop_sim::config::{AggregationConfig, AppConfig, Config, SchemeConfig};
use multihop_sim::outcome::{CategoryOutcome, Outcome};
use multihop_sim::run;
use std::sync::Arc;

const VOICE: u8 = 46;
const VIDEO: u8 = 34;
const BACKGROUND: u8 = 8;

/// 802.11n at MCS 7 with the standard's parameters.
fn differentiated(positions: &[[f64; 2]]) -> Config {
    let mut config = network(DcfRules::IEEE.with_quality_of_service(), positions);
    config.phy = Phy::new(Standard::Dot11n, Preamble::Long);
    config.rates.data = DataRate::Mcs(Mcs { streams: 1, scheme: 7 });
    config.rates.control = None;
    (config.mac.cw_min, config.mac.cw_max) = (config.phy.cw_min, config.phy.cw_max);
    config.mac.queue.limit = 200;
    config.medium.propagation_delay = Span::ZERO;
    config.duration = Span::from_ms(6_000);
    config.mac.edca = Some(AccessCategory::ALL.map(|category| EdcaParameters::new(category, &config.phy)));
    config
}

fn limit(config: &mut Config, category: AccessCategory, limit: Span) {
    config.mac.edca.as_mut().expect("the configuration has access categories")[category as usize]
        .txop_limit = limit;
}

fn saturate_with(config: &mut Config, from: usize, to: usize, dscp: u8) {
    saturate(config, from, to);
    config.traffic.flows.last_mut().expect("a flow was added").dscp = Dscp::new(dscp).expect("six bits");
}

fn of(outcome: &Outcome, node: u32, category: AccessCategory) -> CategoryOutcome {
    let mut rows = outcome.categories.iter();
    *rows.find(|row| (row.node, row.category) == (node, category)).expect("each category has a row")
}

/// Cycle: AIFS, mean back-off, and as many exchanges as fit into the TXOP limit, SIFS apart. DATA takes 36 us
/// and 48 symbols, ACK 28 us, SIFS 16 us and a slot 9 us.
#[test]
fn a_lone_station_reaches_the_closed_form() {
    for (dscp, category, aifsn, window, fits) in
        [(VOICE, Voice, 2.0, 3.0, 7.0), (VIDEO, Video, 2.0, 7.0, 14.0), (0, BestEffort, 3.0, 15.0, 8.0)]
    {
        for opportunity in [false, true] {
            let mut config = differentiated(&[[0.0, 0.0], [10.0, 0.0]]);
            if !opportunity {
                limit(&mut config, category, Span::ZERO);
            }
            saturate_with(&mut config, 1, 0, dscp);
            let exchanges = if opportunity { fits } else { 1.0 };
            let access = 16.0 + 9.0 * (aifsn + window / 2.0);
            let cycle = access + exchanges * (36.0 + 48.0 * 4.0 + 16.0 + 28.0) + (exchanges - 1.0) * 16.0;
            let expected = exchanges * 1_472.0 * 8.0 / cycle * 1e6;
            let measured = total_goodput(&run(&config));
            assert!((measured / expected - 1.0).abs() < 3e-3, "{category:?}: {measured} for {expected}");
            let hop = Capacity::new(&config).demands[0].forward[0];
            let bound = 1_472.0 * 8.0 / (hop.airtime + hop.access);
            assert!((measured / bound - 1.0).abs() < 3e-3, "{category:?}: {measured} of {bound}");
        }
    }
}

/// 4.096 ms less SIFS and a block acknowledgement of 32 us are 1003 symbols of 260 bits: 21 MPDUs of 1544
/// bytes.
#[test]
fn an_aggregate_is_no_longer_than_the_txop_limit() {
    let mut config = differentiated(&[[0.0, 0.0], [10.0, 0.0]]);
    config.mac.block_ack.aggregation = Some(LIMITS);
    saturate_with(&mut config, 1, 0, VIDEO);
    let data = |mpdus: f64| 36.0 + 4.0 * ((8.0 * (mpdus * 1_544.0 - 2.0) + 22.0) / 260.0).ceil();
    assert!(data(21.0) + 16.0 + 32.0 <= 4_096.0 && data(22.0) + 16.0 + 32.0 > 4_096.0);
    let cycle = 16.0 + 9.0 * (2.0 + 3.5) + data(21.0) + 16.0 + 32.0;
    let expected = 21.0 * 1_472.0 * 8.0 / cycle * 1e6;
    let measured = total_goodput(&run(&config));
    assert!((measured / expected - 1.0).abs() < 3e-3, "{measured} for {expected}");
    let hop = Capacity::new(&config).demands[0].forward[0];
    let bound = 1_472.0 * 8.0 / (hop.airtime + hop.access);
    assert!((measured / bound - 1.0).abs() < 3e-3, "{measured} of {bound}");
}

/// TCP acknowledgements and forwarded packets keep the codepoint of their flow.
#[test]
fn every_node_of_a_path_uses_the_codepoint() {
    let mut config = differentiated(&[[0.0, 0.0], [200.0, 0.0], [400.0, 0.0]]);
    config.traffic.schemes =
        vec![SchemeConfig { name: "tcp".into(), scheme: Arc::new(TcpNewReno::default()) }];
    saturate_with(&mut config, 0, 2, VOICE);
    let outcome = run(&config);
    for node in 0..3 {
        assert!(of(&outcome, node, Voice).airtime > 0.005, "{node}");
        for other in [Background, BestEffort, Video] {
            assert_eq!(of(&outcome, node, other).airtime, 0.0, "{node} {other:?}");
        }
    }
}

/// Four saturated queues of one station: a lower category sends less and has more internal collisions.
#[test]
fn categories_of_one_station_contend_with_each_other() {
    let mut config = differentiated(&[[0.0, 0.0], [10.0, 0.0]]);
    for category in AccessCategory::ALL {
        limit(&mut config, category, Span::ZERO);
    }
    for dscp in [BACKGROUND, 0, VIDEO, VOICE] {
        saturate_with(&mut config, 0, 1, dscp);
    }
    let outcome = run(&config);
    let delivered: Vec<u64> = outcome.flows.iter().map(|flow| flow.delivered_bytes).collect();
    assert!(delivered.is_sorted() && delivered[3] > 3 * delivered[2] / 2, "{delivered:?}");
    let collisions = AccessCategory::ALL.map(|category| of(&outcome, 0, category).internal_collisions);
    assert_eq!(collisions[3], 0, "the highest category has no internal collisions");
    assert!(collisions[2] > 100, "{collisions:?}");
    let airtime: f64 = AccessCategory::ALL.map(|category| of(&outcome, 0, category).airtime).iter().sum();
    assert!((airtime - outcome.nodes[0].transmitting).abs() < 1e-9, "each transmission has a category");
}

/// Each category has a queue of its own, so that a flood of one takes no room of another.
#[test]
fn a_full_queue_drops_no_packets_of_other_categories() {
    let mut config = differentiated(&[[0.0, 0.0], [10.0, 0.0]]);
    config.mac.queue.limit = 5;
    config.traffic.schemes =
        vec![SchemeConfig { name: "udp".into(), scheme: Arc::new(Datagrams { payload: 1_000, header: 28 }) }];
    let rate = |mbps: u64| multihop_core::Rate::from_kbps(1_000 * mbps);
    add_flow(&mut config, 0, 1, AppConfig::Poisson { rate: rate(100), packet: 1_000 });
    add_flow(&mut config, 0, 1, AppConfig::Cbr { rate: rate(1), packet: 1_000, jitter: 0.0 });
    config.traffic.flows[1].dscp = Dscp::new(VOICE).expect("six bits");
    let outcome = run(&config);
    let dropped = |category| of(&outcome, 0, category).dropped.iter().sum::<u64>();
    assert!(dropped(BestEffort) > 1_000 && dropped(Voice) == 0);
    assert_eq!(outcome.nodes[0].dropped.iter().sum::<u64>(), dropped(BestEffort));
    assert_eq!(outcome.flows[1].packets_delivered, outcome.flows[1].packets_sent);
}

/// A lone station reaches the bound of an idle channel, also if a TXOP holds aggregates of several lengths.
#[test]
fn the_bound_of_an_idle_channel_counts_the_exchanges_of_a_txop() {
    let cells = [
        (Standard::Dot11n, 7, 1, Bandwidth::Mhz20),
        (Standard::Dot11n, 3, 2, Bandwidth::Mhz40),
        (Standard::Dot11ac, 7, 2, Bandwidth::Mhz80),
        (Standard::Dot11ac, 9, 4, Bandwidth::Mhz160),
        (Standard::Dot11ax, 11, 2, Bandwidth::Mhz160),
        (Standard::Dot11ax, 4, 1, Bandwidth::Mhz40),
    ];
    for (standard, scheme, streams, bandwidth) in cells {
        for (category, dscp) in [(Background, BACKGROUND), (BestEffort, 0), (Video, VIDEO), (Voice, VOICE)] {
            for (rts, a_msdu, propagation) in
                [(false, None, 0), (false, None, 5_000), (true, None, 1_000), (false, Some(7_935), 1_000)]
            {
                let mut config = differentiated(&[[0.0, 0.0], [10.0, 0.0]]);
                let options = PpduOptions { bandwidth, ..PpduOptions::for_standard(standard) };
                config.phy = Phy::new(standard, Preamble::Long).with_options(options);
                config.rates.data = DataRate::Mcs(Mcs { streams, scheme });
                config.duration = Span::from_ms(2_000);
                config.mac.queue.limit = 4_000;
                config.mac.rts_threshold = rts.then_some(0);
                config.medium.propagation_delay = Span::from_ns(propagation);
                let is_ht = standard == Standard::Dot11n;
                config.mac.block_ack.aggregation = Some(AggregationConfig {
                    mpdus: 64,
                    window: 64,
                    a_mpdu: if is_ht { 65_535 } else { 1_048_575 },
                    a_msdu,
                    mpdu: if is_ht { 4_095 } else { 11_454 },
                    max_duration: Span::from_us(5_484),
                    spacing: Span::ZERO,
                    reordering_timeout: Span::from_ms(100),
                    rts: false,
                    single_delimited: !is_ht,
                });
                saturate_with(&mut config, 1, 0, dscp);
                let hop = Capacity::new(&config).demands[0].forward[0];
                let bound = 1_472.0 * 8.0 / (hop.airtime + hop.access);
                let off = total_goodput(&run(&config)) / bound - 1.0;
                let cell = (standard, scheme, streams, bandwidth, category, rts, a_msdu, propagation);
                assert!(off.abs() < 3e-3, "{:+.2} % off the bound: {cell:?}", off * 100.0);
                assert!(
                    hop.exchange <= hop.airtime,
                    "full frames have the least airtime per packet: {cell:?}"
                );
            }
        }
    }
}
