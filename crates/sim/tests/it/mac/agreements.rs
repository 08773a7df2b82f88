//! Agreements over a link that is down for more than half of all sequence numbers.

use super::aggregation::high_throughput;
use crate::common::{add_flow, check_conservation, dropped};
use multihop_core::{DropCause, Dscp, NodeId, Rate, Span};
use multihop_dot11::{AccessCategory, EdcaParameters};
use multihop_sim::config::{AppConfig, Config};
use multihop_sim::mobility::Outage;
use multihop_sim::run;

/// Packets of 200 and 1460 bytes, of two access categories, for a neighbour that is off from 1 s to
/// `seconds`.
fn off_until(seconds: u64, seed: u64) -> Config {
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
    (config.seed, config.duration) = (seed, Span::from_ms(1_000 * (seconds + 2)));
    config.mac.edca = Some(AccessCategory::ALL.map(|category| EdcaParameters::new(category, &config.phy)));
    for (packet, dscp) in [(200, 24), (1_460, 8)] {
        let app = AppConfig::Cbr { rate: Rate::from_kbps(20_000), packet, jitter: 1.0 };
        add_flow(&mut config, 0, 1, app);
        config.traffic.flows.last_mut().expect("a flow was added").dscp = Dscp::new(dscp).expect("six bits");
    }
    let [from, to] = [1, seconds].map(|seconds| Span::from_ms(1_000 * seconds));
    config.mobility.outages = vec![Outage { node: NodeId(1), from, to }];
    config
}

/// More than 2048 packets are given up while the neighbour is off. By their sequence numbers alone, later
/// packets would seem old to the neighbour, and would be lost.
#[test]
fn a_neighbour_that_was_off_for_long_accepts_new_packets() {
    for (seconds, seed) in [(3, 1), (3, 2), (3, 3), (3, 4), (2, 1), (5, 1), (8, 1)] {
        let outcome = run(&off_until(seconds, seed));
        check_conservation(&outcome);
        let given_up = dropped(&outcome, DropCause::RetryLimit);
        assert!(given_up > 2_048, "{given_up} were given up");
        assert_eq!(dropped(&outcome, DropCause::Reordering), 0, "{seconds} s, seed {seed}");
    }
}
