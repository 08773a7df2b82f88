//! XCP, RCP and MaxNet over wires, where it is known what they should do.

use crate::common::wires::{dumbbell, goodput, seconds, tcp, wire};
use multihop_core::Span;
use multihop_sim::outcome::{Outcome, WireOutcome};
use serde_json::json;

const BOTTLENECK: f64 = 10e6;
/// Packets that wait for it at most.
const QUEUE: usize = 200;

fn bottleneck(outcome: &Outcome) -> WireOutcome {
    wire(outcome, 0, 1)
}

fn dropped(outcome: &Outcome) -> u64 {
    outcome.wires.iter().map(|wire| wire.dropped).sum()
}

/// Fair payload rate of a flow that shares the bottleneck with `count - 1` others, in bits per second.
fn fair(headers: f64, count: usize) -> f64 {
    BOTTLENECK * 1460.0 / (1460.0 + headers) / count as f64
}

/// Round trips of 40 and 80 ms: equal shares, a full link, and no loss (Katabi, Handley and Rohrs 2002,
/// section 5). Loss is counted from the beginning.
#[test]
fn xcp_shares_a_wire_equally_between_unequal_round_trips() {
    for name in ["xcp", "xcp-winf"] {
        let mut config = dumbbell(name, &json!({ "window": 500 }), QUEUE, &[(40, 0), (80, 0)]);
        let outcome = seconds(&mut config, 10, 30);
        let shares = [0, 1].map(|flow| goodput(&outcome, flow) / fair(72.0, 2));
        assert!(shares.iter().all(|share| (share - 1.0).abs() < 0.05), "{name}: {shares:?}");
        assert!(bottleneck(&outcome).utilisation > 0.95, "{name}: {:?}", bottleneck(&outcome));
        assert_eq!(dropped(&seconds(&mut config, 0, 30)), 0, "{name}");
    }
}

/// A flow that comes later receives its share, the first gives it up, and when the second goes the first
/// takes it again.
#[test]
fn xcp_makes_room_for_a_new_flow() {
    let mut config = dumbbell("xcp", &json!({ "window": 500 }), QUEUE, &[(60, 0), (60, 10_000)]);
    config.traffic.flows[1].stop = Some(Span::from_ms(20_000));
    let alone = goodput(&seconds(&mut config, 5, 10), 0);
    let together = seconds(&mut config, 15, 20);
    let again = goodput(&seconds(&mut config, 23, 30), 0);
    assert!(alone > 0.95 * fair(72.0, 1), "{alone}");
    assert!((goodput(&together, 0) / goodput(&together, 1) - 1.0).abs() < 0.05, "{:?}", together.flows);
    assert!(again > 0.95 * fair(72.0, 1), "{again}");
    assert_eq!(dropped(&seconds(&mut config, 0, 30)), 0);
}

/// A flow that wants less keeps to that, and the other has the rest.
#[test]
fn xcp_leaves_what_a_flow_does_not_want_to_the_others() {
    let mut config =
        dumbbell("xcp", &json!({ "window": 500, "desired": "2 Mb/s" }), QUEUE, &[(60, 0), (60, 0)]);
    let mut greedy = config.clone();
    tcp(&mut greedy, "xcp", &json!({ "window": 500 }));
    config.traffic.schemes.extend(greedy.traffic.schemes);
    config.traffic.flows[1].scheme = 1;
    let outcome = seconds(&mut config, 10, 30);
    let (modest, greedy) = (goodput(&outcome, 0), goodput(&outcome, 1));
    assert!(
        (modest / 2e6 - 1.0).abs() < 0.1 && greedy > 0.9 * (fair(72.0, 1) - modest),
        "{modest}, {greedy}"
    );
}

/// The rate that routers offer grows as R' = alpha R (1 - N R / C) / d, from C / 20: a logistic curve, which
/// reaches 90 % of C / N after d / alpha ln(9 (20 / N - 1)), that is ten round trips of N = 4. A round trip
/// passes before a rate is known, every rate is known a round trip late, and the first windows leave in one
/// burst. Then all have C / N and the queue is gone.
#[test]
fn rcp_gives_each_of_n_flows_its_part_as_its_law_says() {
    for count in [1, 4, 10] {
        let mut config = dumbbell("rcp", &json!({ "initial_rtt": "0.1 s" }), QUEUE, &vec![(100, 0); count]);
        config.recording.interval = Span::from_ms(100);
        let outcome = seconds(&mut config, 0, 12);
        let expected = fair(64.0, count);
        let law = 0.1 / 0.4 * (9.0 * (20.0 / count as f64 - 1.0)).ln();
        for flow in 0..count as u32 {
            let rows = outcome.series.iter().filter(|row| row.flow == flow);
            let rows: Vec<(f64, f64)> =
                rows.map(|row| (row.time_s, row.delivered_bytes as f64 * 80.0)).collect();
            let reached = rows.iter().find(|(_, rate)| *rate > 0.9 * expected).unwrap().0;
            assert!(
                (law - 0.2..law + 0.5).contains(&reached),
                "{count} flows: {reached} s, the law says {law} s"
            );
            let late: Vec<f64> = rows.iter().filter(|(time, _)| *time > 6.0).map(|(_, rate)| *rate).collect();
            let mean = late.iter().sum::<f64>() / late.len() as f64;
            assert!((mean / expected - 1.0).abs() < 0.05, "flow {flow} of {count}: {mean} of {expected}");
        }
        let after = bottleneck(&seconds(&mut config, 6, 12));
        assert!(after.queue_mean < 3.0 && after.dropped == 0, "{count} flows: {after:?}");
    }
}

/// The queue alone shows XCP-b what the wire carries: it fills it, and loses nothing.
#[test]
fn xcp_b_fills_a_wire_that_it_does_not_know() {
    let mut config = dumbbell("xcp-b", &json!({ "window": 500 }), QUEUE, &[(40, 0), (80, 0)]);
    let outcome = seconds(&mut config, 20, 40);
    assert!(bottleneck(&outcome).utilisation > 0.9, "{:?}", bottleneck(&outcome));
    assert_eq!(dropped(&seconds(&mut config, 0, 40)), 0);
}

/// One sender gets the target rate, 95 % of the wire, from the start and with any queue: nothing is lost.
#[test]
fn maxnet_aims_at_its_share_of_a_wire_and_loses_nothing() {
    for (round_trip, queue) in [(48, 100), (20, 10), (200, 50), (400, 100)] {
        let mut config = dumbbell("maxnet", &json!({}), queue, &[(round_trip, 0)]);
        let share = goodput(&seconds(&mut config, 10, 40), 0) / fair(48.0, 1);
        assert!((share - 0.95).abs() < 0.01, "{round_trip} ms, {queue} packets: {share}");
        assert_eq!(dropped(&seconds(&mut config, 0, 40)), 0, "{round_trip} ms, {queue} packets");
    }
}

/// Equal demands give equal shares, whatever the round trips and the starts.
#[test]
fn maxnet_shares_a_wire_equally_between_unequal_round_trips() {
    let mut config = dumbbell("maxnet", &json!({}), 100, &[(40, 0), (160, 0), (80, 5_000)]);
    let outcome = seconds(&mut config, 20, 40);
    let shares = [0, 1, 2].map(|flow| goodput(&outcome, flow) / fair(48.0, 3));
    assert!(shares.iter().all(|share| (share - 0.95).abs() < 0.05), "{shares:?}");
}

/// If a capacity set too high keeps prices too low, losses limit the rate: at least half of what is sent
/// arrives.
#[test]
fn maxnet_obeys_losses_where_prices_do_not_say_enough() {
    let mut config =
        dumbbell("maxnet", &json!({ "max_rate": "12 Mb/s", "utilization": 1.5 }), 50, &[(48, 0)]);
    let outcome = seconds(&mut config, 10, 60);
    let there = bottleneck(&outcome);
    assert!(goodput(&outcome, 0) / fair(48.0, 1) > 0.5, "{}", goodput(&outcome, 0));
    assert!(there.dropped < there.sent, "{there:?}");
}
