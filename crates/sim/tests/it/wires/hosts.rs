//! Hosts that share a wire.

use crate::common::saturate;
use crate::common::wires::{goodput, lay, mbps, seconds, tcp, wire, wired};
use multihop_core::Span;
use multihop_dot11::DcfRules;
use multihop_link::{CakeOptions, Discipline, FqCodelOptions};
use multihop_sim::outcome::Outcome;
use serde_json::json;

/// Downloads from five servers over a wire of 10 Mb/s: four to node 2, and one to node 3.
fn downloads(discipline: Discipline) -> Outcome {
    let mut config = wired(DcfRules::IEEE, 9);
    lay(&mut config, (0, 1), mbps(10), Span::from_ms(10), 1000);
    config.topology.wires[0].discipline = discipline;
    lay(&mut config, (1, 2), mbps(100), Span::from_ms(5), 1000);
    lay(&mut config, (1, 3), mbps(100), Span::from_ms(5), 1000);
    tcp(&mut config, "tcp-cubic", &json!({}));
    for (server, sink) in (4..9).zip([2, 2, 2, 2, 3]) {
        lay(&mut config, (server, 0), mbps(100), Span::ZERO, 1000);
        saturate(&mut config, server as usize, sink);
    }
    seconds(&mut config, 10, 40)
}

/// CAKE gives both destinations half, less what one flow of CUBIC loses when its line runs empty. FQ-CoDel
/// gives each flow a fifth.
#[test]
fn cake_divides_the_rate_among_hosts() {
    for (discipline, of_one) in [
        (Discipline::Cake(CakeOptions::default()), 0.4..0.51),
        (Discipline::Cake(CakeOptions { isolate_hosts: false, ..CakeOptions::default() }), 0.18..0.22),
        (Discipline::FqCodel(FqCodelOptions::default()), 0.18..0.22),
    ] {
        let outcome = downloads(discipline);
        let each: Vec<f64> = (0..5).map(|flow| goodput(&outcome, flow)).collect();
        let share = each[4] / each.iter().sum::<f64>();
        assert!(of_one.contains(&share), "{discipline:?}: {each:?}");
        let bottleneck = wire(&outcome, 0, 1);
        assert!(bottleneck.utilisation > 0.98, "{bottleneck:?}");
    }
}
