//! TFRC below a rate ceiling: a constant rate, and the ceiling of RE TFRC's model.

use multihop_scenario::{Overrides, load};
use multihop_sim::outcome::FlowOutcome;
use multihop_sim::run;

const DSSS: &str = r#"{ standard = "dsss", data_rate = "2 Mb/s", control_rate = "1 Mb/s" }"#;
const FAST: &str = r#"{ standard = "802.11b", data_rate = "11 Mb/s", control_rate = "1 Mb/s" }"#;

/// A flow over a chain of `hops` hops at 2 Mb/s, measured from 20 s to 100 s.
fn over(hops: usize, scheme: &str) -> FlowOutcome {
    over_with(DSSS, hops, scheme)
}

fn over_with(phy: &str, hops: usize, scheme: &str) -> FlowOutcome {
    let text = format!(
        r#"
        duration = "100 s"
        warmup = "20 s"
        phy = {phy}
        mac = {{ rts_threshold = "0 B" }}
        topology = {{ generator = "chain", hops = {hops}, spacing = "200 m" }}
        schemes = {{ tested = {scheme} }}
        traffic = {{ pattern = "canonical", scheme = "tested", app = {{ kind = "saturated" }} }}
        "#
    );
    let config = load(&text, "chain", &Overrides::default()).expect("it is a scenario");
    run(&config).flows.swap_remove(0)
}

/// Ceiling of the paper.
const ROUND_TRIP: &str = r#"base = "re-tfrc", ceiling = "round-trip""#;

/// Payload rate in bit/s.
fn bps(bytes: u64) -> f64 {
    bytes as f64 * 8.0 / 80.0
}

/// Oscillation reduction moves the rate around its mean, but not above the constant rate.
#[test]
fn a_constant_rate_is_never_exceeded() {
    for flavour in ["rfc", "ns2"] {
        let flow =
            over(2, &format!(r#"{{ base = "tfrc-capped", cap = "200 kb/s", flavour = "{flavour}" }}"#));
        assert!((199e3..=200.2e3).contains(&bps(flow.sent_bytes)), "{}", bps(flow.sent_bytes));
        assert_eq!(flow.dropped.iter().sum::<u64>(), 0, "a chain of two hops carries 700 kb/s");
    }
}

/// Over two hops only a full queue drops packets, so that TFRC keeps it full. RE TFRC keeps the round trip
/// near that of its model, 54 ms, with almost the same goodput.
#[test]
fn the_round_trip_is_that_of_saturation_and_not_of_full_queues() {
    for flavour in ["rfc", "ns2"] {
        let [plain, held] = [r#"base = "tfrc""#, ROUND_TRIP]
            .map(|base| over(2, &format!(r#"{{ {base}, flavour = "{flavour}" }}"#)));
        let [full, saturated] = [&plain, &held].map(|flow| flow.rtt_mean_s.unwrap());
        assert!(full > 0.4 && saturated < 0.5 * full, "{full} and {saturated}");
        let share = held.delivered_bytes as f64 / plain.delivered_bytes as f64;
        assert!(share > 0.8, "{share}");
    }
}

/// As printed, with the smoothed round trip, the rate keeps falling after the queue of slow start is empty.
#[test]
fn a_smoothed_round_trip_winds_up() {
    let [latest, smoothed] = ["latest", "smoothed"]
        .map(|current| over(1, &format!(r#"{{ {ROUND_TRIP}, current_rtt = "{current}" }}"#)));
    assert!(bps(latest.delivered_bytes) > 1e6, "{}", bps(latest.delivered_bytes));
    assert!(bps(smoothed.delivered_bytes) < 0.1e6, "{}", bps(smoothed.delivered_bytes));
}

/// With one hop set, a round trip above that of four exchanges counts as queueing; with thirty hops, none
/// does.
#[test]
fn with_more_hops_set_the_ceiling_is_higher() {
    let [short, long] =
        [1, 30].map(|hops| over(4, &format!(r#"{{ {ROUND_TRIP}, hops = {hops}, flavour = "ns2" }}"#)));
    let plain = over(4, r#"{ base = "tfrc", flavour = "ns2" }"#);
    assert!(short.sent_bytes < long.sent_bytes, "{} and {}", short.sent_bytes, long.sent_bytes);
    let share = long.sent_bytes as f64 / plain.sent_bytes as f64;
    assert!((0.97..1.03).contains(&share), "with a ceiling that high it is plain TFRC: {share}");
}

/// With the ceiling of airtime, a chain has the goodput of plain TFRC at less than half of its round trip,
/// and the MAC drops hardly any packet. The same holds for a longer chain with short packets at a higher
/// rate, where a share of four fifths of four exchanges causes queues.
#[test]
fn below_the_ceiling_of_airtime_the_mac_is_not_saturated() {
    for (phy, hops, size) in [(DSSS, 7, 1460), (FAST, 13, 500)] {
        for flavour in ["rfc", "ns2"] {
            let [plain, held] = ["tfrc", "re-tfrc"].map(|base| {
                let size = format!(r#"segment_size = "{size} B""#);
                over_with(phy, hops, &format!(r#"{{ base = "{base}", flavour = "{flavour}", {size} }}"#))
            });
            let share = held.delivered_bytes as f64 / plain.delivered_bytes as f64;
            assert!(share > 0.97, "{hops} {flavour}: {share}");
            let [saturated, free] = [&plain, &held].map(|flow| flow.rtt_mean_s.unwrap());
            assert!(free < 0.5 * saturated, "{hops} {flavour}: {free} and {saturated}");
            let [jammed, quiet] = [&plain, &held].map(|flow| flow.dropped.iter().sum::<u64>());
            assert!(5 * quiet < jammed, "{hops} {flavour}: {quiet} and {jammed}");
        }
    }
}
