//! Routing protocols in whole runs.

mod aodv;
mod dsdv;
mod dsr;

use crate::common::{add_flow, chain, network, saturate, trickle};
use multihop_core::{NodeId, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::*;
use multihop_sim::mobility::Outage;

const RULES: [DcfRules; 2] = [DcfRules::IEEE, DcfRules::NS2];

/// 0 reaches 3 over 1 or 2, of which each is off for a while.
fn diamond(rules: DcfRules) -> Config {
    let mut config = network(rules, &[[0.0, 0.0], [150.0, 100.0], [150.0, -100.0], [300.0, 0.0]]);
    (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(60_000));
    let off = |node, from: u64, to: u64| Outage {
        node: NodeId(node),
        from: Span::from_ms(from * 1_000),
        to: Span::from_ms(to * 1_000),
    };
    config.mobility.outages = vec![off(1, 10, 30), off(2, 35, 50)];
    add_flow(&mut config, 0, 3, trickle());
    config
}

/// Node b hears a, but a does not hear b; b and c hear each other. A flow from a to c, and one from c to b.
fn one_way() -> Config {
    let mut config = network(DcfRules::IEEE, &[[0.0; 2]; 3]);
    let link = |from, to| MatrixLink { from: NodeId(from), to: NodeId(to), value: 1.0 };
    config.medium.model = MediumModel::Matrix {
        links: vec![link(0, 1), link(1, 2), link(2, 1)],
        quantity: MatrixQuantity::Delivery { probe_size: 1500 },
    };
    (config.recording.warmup, config.duration) = (Span::ZERO, Span::from_ms(60_000));
    add_flow(&mut config, 0, 2, trickle());
    add_flow(&mut config, 2, 1, trickle());
    config
}

/// A chain with a flow over four hops, and one over five.
fn four_and_five_hops() -> Config {
    let mut config = chain(DcfRules::IEEE, 5);
    add_flow(&mut config, 0, 4, trickle());
    add_flow(&mut config, 0, 5, trickle());
    config
}

/// Two nodes too far apart, for so long.
fn unreachable(rules: DcfRules, duration: Span) -> Config {
    let mut config = network(rules, &[[0.0, 0.0], [5_000.0, 0.0]]);
    (config.recording.warmup, config.duration) = (Span::ZERO, duration);
    config
}

/// A grid of four by four nodes with saturated flows across it.
fn crowd(rules: DcfRules) -> Config {
    let positions: Vec<[f64; 2]> =
        (0..16).map(|i| [200.0 * f64::from(i % 4), 200.0 * f64::from(i / 4)]).collect();
    let mut config = network(rules, &positions);
    config.medium.bit_error_rate = 1e-6;
    for i in 0..8 {
        saturate(&mut config, i, 15 - i);
    }
    config
}
