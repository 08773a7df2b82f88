//! BMCC in a WLAN (Qazi, Znati and Mosse): set and measured capacities, and weights of clients.

use multihop_scenario::{Overrides, resolve};
use multihop_sim::outcome::Outcome;
use multihop_sim::run;

/// Downloads with BMCC over round trips of 100 ms to five clients. The second client loses the given share of
/// frames.
fn downloads(parameters: &str, loss: f64) -> Outcome {
    wlan(5, "down", parameters, loss)
}

fn wlan(clients: u32, direction: &str, parameters: &str, loss: f64) -> Outcome {
    let text = format!(
        r#"
        duration = "60 s"
        warmup = "20 s"
        [mac]
        rules = "ns2"
        queue = 64
        [phy]
        control_rate = "1 Mb/s"
        [medium]
        model = "ranges"
        errors = [{{ between = ["n0", "n2"], packet_error_rate = {loss:?} }}]
        [topology]
        generator = "wlan"
        clients = {clients}
        direction = "{direction}"
        server = {{ rate = "100 Mb/s", delay = "50 ms" }}
        [schemes.tested]
        base = "bmcc"
        flavour = "ns2"
        {parameters}
        [traffic]
        pattern = "canonical"
        scheme = "tested"
        app = {{ kind = "bulk" }}
        start_jitter = "1 s"
        "#
    );
    run(&resolve(&text, "bmcc.toml", &Overrides::default()).expect("the scenario is right").config)
}

/// Goodputs in Mb/s.
fn goodputs(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.delivered_bytes as f64 * 8e-6 / outcome.measured_s).collect()
}

fn lost(outcome: &Outcome) -> f64 {
    let sum = |of: fn(&multihop_sim::outcome::FlowOutcome) -> u64| outcome.flows.iter().map(of).sum::<u64>();
    1.0 - sum(|flow| flow.packets_delivered) as f64 / sum(|flow| flow.packets_sent) as f64
}

/// The medium carries about 4.3 Mb/s of payload next to acknowledgements. With a lower set capacity, flows
/// send at that rate, less the loss of slow addition after cuts, and queues are empty. With the bit rate as
/// capacity, the load is about a half however full the queue is, and packets overflow it. With a measured
/// capacity, neither happens.
#[test]
fn a_base_station_carries_the_set_capacity() {
    let payload = 1460.0 / 1500.0;
    for set in [2.0, 3.0, 4.0] {
        let outcome = downloads(&format!("capacity = \"{set} Mb/s\""), 0.0);
        let (total, queue) = (goodputs(&outcome).iter().sum::<f64>(), outcome.nodes[0].queue_mean);
        assert!((total - set * payload).abs() < 0.08 * set, "{set}: {total}");
        assert!(queue < 2.0 && lost(&outcome) < 0.01, "{set}: {queue} {}", lost(&outcome));
    }
    let blind = downloads("capacity = \"phy-rate\"", 0.0);
    let sent: u64 = blind.flows.iter().map(|flow| flow.packets_sent).sum();
    let demand = 12e3 * (sent as f64 / blind.measured_s + 0.5 * blind.nodes[0].queue_mean / 0.2);
    let load = demand / 11e6;
    assert!((0.5..0.65).contains(&load), "{load}");
    assert!(lost(&blind) > 0.05 && blind.nodes[0].queue_mean > 40.0, "{}", lost(&blind));

    let measured = downloads("", 0.0);
    let total: f64 = goodputs(&measured).iter().sum();
    assert!(total > 0.95 * goodputs(&blind).iter().sum::<f64>(), "{total}");
    assert!(lost(&measured) < 0.01 && measured.nodes[0].queue_mean < 6.0, "{}", measured.nodes[0].queue_mean);
}

/// Shares are 1 : 2 : 3 : 4 : 5, although packets of the second client take longer.
#[test]
fn shares_of_goodput_follow_the_weights() {
    let outcome = downloads("weights = { 1 = 1.0, 2 = 2.0, 3 = 3.0, 4 = 4.0, 5 = 5.0 }", 0.2);
    let rates = goodputs(&outcome);
    let total: f64 = rates.iter().sum();
    for (client, rate) in rates.iter().enumerate() {
        let (share, weight) = (rate / total, (client + 1) as f64 / 15.0);
        // A window has at least one segment: the lightest has a little more.
        assert!((share / weight - 1.0).abs() < 0.25, "{client}: {share} of {weight}: {rates:?}");
    }
    assert!(rates.is_sorted(), "{rates:?}");
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|rate| rate * rate).sum::<f64>());
    sum * sum / (rates.len() as f64 * squares)
}

/// Ten flows have 3.6 segments each in flight. Under the limit of the increase per acknowledgement, which is
/// proportional to such windows, shares keep their initial values.
#[test]
fn shares_of_small_windows_become_equal() {
    let free = goodputs(&wlan(10, "down", "", 0.0));
    assert!(jain(&free) > 0.98, "{free:?}");
    let limited = goodputs(&wlan(
        10,
        "down",
        "alpha = 1.0\naddition_limit = \"table\"\nbackoff_slope = 0.0\ncarry_fractions = false",
        0.0,
    ));
    assert!(jain(&limited) < jain(&free) - 0.02, "{limited:?}");
}

/// The base station has a ninth of the transmission opportunities, and as many acknowledgements to send as
/// eight clients have data.
#[test]
fn uploads_react_to_the_queue_of_acknowledgements() {
    let fewest = |outcome: &Outcome| goodputs(outcome).into_iter().fold(f64::INFINITY, f64::min);
    let signalled = wlan(8, "up", "", 0.0);
    let fair = goodputs(&signalled).iter().sum::<f64>() / 8.0;
    assert!(
        fewest(&signalled) > 0.5 * fair && lost(&signalled) < 0.02,
        "{:?}, {}",
        goodputs(&signalled),
        lost(&signalled)
    );
    let unsignalled = wlan(8, "up", "mark_acks = false", 0.0);
    assert!(
        unsignalled.nodes[0].queue_mean > signalled.nodes[0].queue_mean + 20.0,
        "{}",
        unsignalled.nodes[0].queue_mean
    );
    assert!(lost(&unsignalled) > 0.05, "{}", lost(&unsignalled));
}
