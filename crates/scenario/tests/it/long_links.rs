//! Links so long that a frame is still propagating when its response times out.

use multihop_core::{DropCause, Span};
use multihop_scenario::{Overrides, Setting, resolve};
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run};

fn ran(text: &str) -> Outcome {
    let resolved =
        resolve(text, "long.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&resolved.config);
    assert_eq!(outcome, World::new(&resolved.config, Ties::Reversed).finish(), "{text}");
    outcome
}

/// Run of one second over two hops with this delay.
fn two_hops(delay: &str, tables: &str, flow: &str) -> String {
    format!(
        "duration = \"1 s\"\nwarmup = \"0 s\"\n[medium]\nmodel = \"ranges\"\npropagation_delay = \"{delay}\"\n\
         [topology]\ngenerator = \"chain\"\nhops = 2\nspacing = \"200 m\"\n\
         {tables}\n[[flows]]\nfrom = \"n0\"\nto = \"n2\"\n{flow}\n"
    )
}

#[test]
fn a_frame_in_flight_is_delivered_after_its_sender_dropped_it() {
    let cases = [("802.11a", "60 us"), ("802.11g", "60 us"), ("802.11b", "250 us"), ("802.11a", "1 ms")];
    for ((standard, delay), routing) in
        cases.into_iter().flat_map(|case| ["dsr", "aodv", "dsdv", "static"].map(|routing| (case, routing)))
    {
        let tables = format!("[phy]\nstandard = \"{standard}\"\n[routing]\nprotocol = \"{routing}\"");
        for rts in ["off", "0 B"] {
            let tables = format!("[mac]\nrts_threshold = \"{rts}\"\n{tables}");
            ran(&two_hops(delay, &tables, "scheme = \"tcp-newreno\""));
        }
    }
}

/// Each datagram is sent once. Every ACK arrives too late, and every datagram is delivered.
#[test]
fn packets_delivered_without_an_ack_are_neither_lost_nor_duplicated() {
    for rules in ["ieee", "ns2", "bianchi"] {
        let tables =
            format!("[phy]\nstandard = \"802.11a\"\n[mac]\nrules = \"{rules}\"\nshort_retry_limit = 1");
        let cbr = "app = { kind = \"cbr\", rate = \"800 kb/s\", packet = \"1000 B\", jitter = 0.0 }";
        let outcome = ran(&two_hops("100 us", &tables, &format!("scheme = \"udp\"\n{cbr}")));
        let flow = &outcome.flows[0];
        assert!((99..=101).contains(&flow.packets_sent), "{flow:?}");
        assert_eq!(flow.dropped, [0; DropCause::ALL.len()], "{rules}");
        assert!(flow.packets_delivered + 1 >= flow.packets_sent, "{rules}: {flow:?}");
        assert!(outcome.links.iter().all(|link| link.acknowledged == 0), "{rules}: {:?}", outcome.links);
        assert!(outcome.links.iter().any(|link| link.given_up > 90), "{rules}: {:?}", outcome.links);
    }
}

/// A long SIFS leaves room for a whole frame between DATA and its ACK: the ACK of a dropped frame arrives
/// while the sender waits for the ACK of the next one.
#[test]
fn a_late_ack_does_not_acknowledge_the_next_frame() {
    let tables = "[phy]\nstandard = \"802.11a\"\nsifs = \"5 ms\"\n[mac]\nshort_retry_limit = 1";
    let flow = "scheme = \"udp\"\napp = { kind = \"saturated\" }";
    let outcome = ran(&two_hops("1 ms", tables, flow));
    assert!(outcome.links.iter().all(|link| link.acknowledged == 0), "{:?}", outcome.links);
    assert!(outcome.flows[0].dropped[DropCause::RetryLimit as usize] > 0, "{:?}", outcome.flows);
}

/// The true busy ratio is a share of time in every row: the station's own frame keeps the medium busy only
/// until its last bit is sent, although it propagates for longer.
#[test]
fn the_true_busy_ratio_is_a_share_of_time() {
    let long = "propagation_delay = \"20 us\"";
    for (medium, interval, duration) in
        [(long, "1 ms", "2 s"), ("", "1 us", "20 ms"), (long, "3 us", "20 ms")]
    {
        let text = format!(
            "duration = \"{duration}\"\nwarmup = \"0 s\"\nrecord_interval = \"{interval}\"\n\
             [medium]\nmodel = \"ranges\"\n{medium}\n[topology]\ngenerator = \"chain\"\nhops = 3\n\
             [[measure]]\nestimator = \"busy-ratio\"\n\
             [[flows]]\nfrom = \"n0\"\nto = \"n3\"\nscheme = \"tcp-newreno\"\n"
        );
        let outcome = ran(&text);
        let rows = &outcome.measurements;
        assert!(rows.len() > 100 && rows.iter().any(|row| row.true_busy_ratio > 0.5), "{} rows", rows.len());
        let odd = rows.iter().find(|row| !(0.0..=1.0 + 1e-9).contains(&row.true_busy_ratio));
        assert_eq!(odd, None, "{medium} {interval}");
        // The rows add up to the total.
        let of_node = |node: u32| -> f64 {
            let rows: Vec<f64> =
                rows.iter().filter(|row| row.node == node).map(|row| row.true_busy_ratio).collect();
            rows.iter().sum::<f64>() / rows.len() as f64
        };
        for (node, outcome) in (0..).zip(&outcome.nodes) {
            assert!(
                (of_node(node) - outcome.busy_ratio).abs() < 2e-3,
                "{interval}: {} {outcome:?}",
                of_node(node)
            );
        }
    }
}

fn overrides(changes: &[(&str, &str)]) -> Overrides {
    let set =
        |(path, value): &(&str, &str)| Setting { path: (*path).into(), value: format!("value = {value}") };
    Overrides { set: changes.iter().map(set).collect(), ..Overrides::default() }
}

/// The shipped scenario of a 20 km link, with some values changed.
fn long_link(changes: &[(&str, &str)]) -> Outcome {
    let text = include_str!("../../../../scenarios/long-link.toml");
    run(&resolve(text, "long-link.toml", &overrides(changes))
        .unwrap_or_else(|error| panic!("{error}"))
        .config)
}

fn goodput(outcome: &Outcome) -> f64 {
    outcome.flows[0].delivered_bytes as f64 * 8.0 / outcome.measured_s
}

/// Goodput in closed form. 1472 bytes of payload are 1536 bytes in the frame: 20 us and 129 symbols at 24
/// Mb/s. The ACK takes 28 us, and the mean backoff 7.5 slots.
fn closed_form(slot_us: f64, propagation_us: f64) -> f64 {
    let (sifs, data, ack) = (16.0, 20.0 + 4.0 * 129.0, 28.0);
    1472.0 * 8.0 / ((sifs + 2.0 * slot_us + 7.5 * slot_us + data + sifs + ack + 2.0 * propagation_us) * 1e-6)
}

#[test]
fn a_long_link_has_the_goodput_of_the_closed_form() {
    for (class, delay) in [(45, 66.7), (31, 46.5), (2, 3.0), (255, 382.5)] {
        let (class_text, delay_text) = (class.to_string(), format!("\"{delay} us\""));
        let outcome =
            long_link(&[("mac.coverage_class", &class_text), ("medium.propagation_delay", &delay_text)]);
        let slot = 9.0 + 3.0 * f64::from(class);
        let expected = closed_form(slot, delay);
        // The random part is the mean of the backoffs, uniform in 0..=15 slots.
        let period_us = 1472.0 * 8.0 / expected * 1e6;
        let error = (255.0_f64 / 12.0).sqrt() * slot / period_us / (outcome.links[0].data as f64).sqrt();
        let ratio = goodput(&outcome) / expected;
        assert!((ratio - 1.0).abs() < 3.0 * error, "class {class}: {ratio}, standard error {error}");
        assert_eq!(outcome.links[0].given_up, 0);
    }
}

/// Without a coverage class every ACK is late: each packet is delivered, and sent as often as the retry limit
/// allows.
#[test]
fn a_long_link_without_a_coverage_class_sends_each_packet_seven_times() {
    let outcome = long_link(&[("mac.coverage_class", "0")]);
    let link = &outcome.links[0];
    assert_eq!(link.acknowledged, 0);
    assert!((link.data as f64 / link.given_up as f64 - 7.0).abs() < 0.01, "{link:?}");
    assert!(goodput(&outcome) < 0.4 * closed_form(9.0 + 135.0, 66.7), "{}", goodput(&outcome));
    assert_eq!(outcome.flows[0].dropped[DropCause::RetryLimit as usize], 0);
}

/// The coverage class lengthens all times that depend on the slot.
#[test]
fn a_coverage_class_adds_three_microseconds_to_the_slot() {
    use multihop_dot11::{Phy, Preamble, Standard};
    let phy = Phy::new(Standard::Dot11a, Preamble::Long);
    let covered = phy.with_coverage_class(10);
    assert_eq!(covered.slot, Span::from_us(39));
    assert_eq!(covered.difs(), Span::from_us(16 + 78));
    assert_eq!(covered.eifs() - phy.eifs(), Span::from_us(60));
    assert_eq!(phy.with_coverage_class(0), phy);
}

#[test]
fn impossible_coverage_classes_are_refused() {
    let text = include_str!("../../../../scenarios/long-link.toml");
    let refusal = |changes: &[(&str, &str)]| {
        resolve(text, "long-link.toml", &overrides(changes)).err().map(|error| error.to_string())
    };
    for rules in ["\"ns2\"", "\"bianchi\""] {
        let error = refusal(&[("mac.rules", rules)]).expect("it is refused");
        assert!(
            error.contains("mac.coverage_class: 45 has no effect unless the response timeout is"),
            "{error}"
        );
        assert_eq!(refusal(&[("mac.rules", rules), ("mac.coverage_class", "0")]), None);
        assert_eq!(
            refusal(&[("mac.rules", rules), ("mac.override.response_timeout", "\"first-bit\"")]),
            None
        );
    }
    let error = refusal(&[("mac.coverage_class", "256")]).expect("it is refused");
    assert!(error.contains("give a value from 0 to 255"), "{error}");
}
