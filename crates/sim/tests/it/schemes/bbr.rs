//! BBR over wires, with known behaviour.

use crate::common::wires::{self, seconds, shares, wire};
use multihop_sim::config::Config;
use multihop_sim::outcome::Outcome;
use serde_json::json;

/// Dumbbell with this queue limit; a bandwidth-delay product is 33 packets at 40 ms.
fn dumbbell(name: &str, queue: usize, flows: &[(u64, u64)]) -> Config {
    wires::dumbbell(name, &json!({ "flavour": "rfc", "window": 1000 }), queue, flows)
}

/// Outcome from 30 to 90 s.
fn late(mut config: Config) -> Outcome {
    seconds(&mut config, 30, 90)
}

/// One flow: nearly all of the link, but for the phase of draining in each cycle and the measuring of the
/// round trip, which is a fifth longer than that of the empty path. CUBIC fills the queue.
#[test]
fn one_flow_uses_the_link_and_leaves_the_queue_short() {
    for queue in [35, 150] {
        let outcome = late(dumbbell("tcp-bbr", queue, &[(40, 0)]));
        assert!(shares(&outcome)[0] > 0.96, "{:?}", shares(&outcome));
        let rtt = outcome.flows[0].rtt_mean_s.unwrap();
        assert!((0.040..0.050).contains(&rtt), "{rtt}");
        let bottleneck = wire(&outcome, 0, 1);
        assert!(bottleneck.queue_mean < 8.0 && bottleneck.dropped == 0, "{bottleneck:?}");
    }
    let cubic = late(dumbbell("tcp-cubic", 35, &[(40, 0)]));
    assert!(cubic.flows[0].rtt_mean_s.unwrap() > 0.065);
}

/// Flows that overestimate the bandwidth between them are held by their windows of two bandwidth-delay
/// products: about one is queued. Flows of equal round trips share equally, whenever they came.
#[test]
fn flows_share_a_deep_queue_of_a_bandwidth_delay_product() {
    for flows in
        [vec![(40, 0), (40, 0)], vec![(40, 0), (40, 7_000)], (0..4).map(|k| (40, 1_000 * k)).collect()]
    {
        for queue in [70, 150] {
            let outcome = late(dumbbell("tcp-bbr", queue, &flows));
            let shares = shares(&outcome);
            let total: f64 = shares.iter().sum();
            let fair = total / flows.len() as f64;
            assert!(total > 0.96, "{shares:?}");
            assert!(shares.iter().all(|share| (0.75..1.33).contains(&(share / fair))), "{shares:?}");
            let bottleneck = wire(&outcome, 0, 1);
            assert!((30.0..55.0).contains(&bottleneck.queue_mean), "{bottleneck:?}");
            assert_eq!(bottleneck.dropped, 0);
        }
    }
}

/// Twice the round trip is twice the window, and nothing takes it away: the longer flow has the most of it.
#[test]
fn the_longer_round_trip_wins() {
    let shares = shares(&late(dumbbell("tcp-bbr", 150, &[(40, 0), (80, 3_000)])));
    assert!(shares[1] > 2.0 * shares[0] && shares[0] > 0.1, "{shares:?}");
}
