//! CTS-to-self, and networks of 802.11g with stations of 802.11b.

use multihop_core::{Rate, Span};
use multihop_scenario::{Overrides, ScenarioError, resolve};
use multihop_sim::config::Config;
use multihop_sim::run;

fn read(phy: &str, mac: &str, medium: &str) -> Result<(Config, String), ScenarioError> {
    let text = format!(
        "duration = \"3 s\"\n[phy]\n{phy}\n[mac]\n{mac}\n[medium]\nmodel = \"ranges\"\n{medium}\n\
         [topology]\ngenerator = \"chain\"\nhops = 1\nspacing = \"50 m\"\n\
         [[flows]]\nfrom = \"n0\"\nto = \"n1\"\nscheme = \"udp\"\napp = {{ kind = \"saturated\" }}\n"
    );
    resolve(&text, "case.toml", &Overrides::default()).map(|resolved| (resolved.config, resolved.hash))
}

const MIXED: &str = "standard = \"802.11g\"\nmixed = true";
const PLAIN: &str = "standard = \"802.11g\"";

#[test]
fn a_mixed_network_has_long_slots_basic_rates_of_802_11b_and_protection() {
    let (config, _) = read(MIXED, "", "").unwrap();
    assert_eq!((config.phy.slot, config.mac.cts_to_self), (Span::from_us(20), true));
    assert_eq!(config.phy.request_rate(config.rates.data), Rate::from_kbps(11_000));
    assert_eq!(config.phy.response_rate(config.rates.data), Rate::from_kbps(24_000));
    assert!(!read(MIXED, "cts_to_self = false", "").unwrap().0.mac.cts_to_self);
    let (plain, _) = read(PLAIN, "", "").unwrap();
    assert_eq!((plain.phy.slot, plain.mac.cts_to_self), (Span::from_us(9), false));
    assert_eq!(plain.phy.request_rate(plain.rates.data), Rate::from_kbps(24_000));
}

#[test]
fn stated_defaults_do_not_change_the_hash() {
    let hash = |phy: &str, mac: &str| read(phy, mac, "").unwrap().1;
    assert_eq!(hash(PLAIN, "cts_to_self = false"), hash(PLAIN, ""));
    assert_eq!(hash(&format!("{PLAIN}\nmixed = false"), ""), hash(PLAIN, ""));
    assert_eq!(hash(MIXED, "cts_to_self = true"), hash(MIXED, ""));
    let all = [
        hash(PLAIN, ""),
        hash(PLAIN, "cts_to_self = true"),
        hash(MIXED, ""),
        hash(MIXED, "cts_to_self = false"),
    ];
    assert!((0..4).all(|a| (0..a).all(|b| all[a] != all[b])), "{all:?}");
}

/// A CTS of 203 us and a SIFS precede each exchange.
#[test]
fn protection_costs_its_airtime() {
    let goodput = |mac| {
        let outcome = run(&read(MIXED, mac, "").unwrap().0);
        outcome.flows[0].delivered_bytes as f64 * 8.0 / outcome.measured_s
    };
    let bits = 1_472.0 * 8.0 * 1e6;
    let (protected, bare) = (bits / goodput(""), bits / goodput("cts_to_self = false"));
    assert!((protected - bare - 213.0).abs() < 5.0, "{protected} us a packet for {bare}");
}

#[test]
fn protection_without_effect_is_refused() {
    let refused = |phy, mac, medium, parts: &[&str]| {
        let error = read(phy, mac, medium).map(|_| ()).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    refused(
        "standard = \"802.11b\"",
        "cts_to_self = true",
        "",
        &["mac.cts_to_self", "every station decodes"],
    );
    refused("standard = \"802.11a\"\nmixed = true", "", "", &["phy.mixed", "802.11g"]);
    let far = "propagation_delay = \"20 us\"";
    refused(PLAIN, "cts_to_self = true", far, &["mac.cts_to_self", "20 µs", "10 µs"]);
    refused(MIXED, "", far, &["mac.cts_to_self"]);
    assert!(read("standard = \"802.11a\"", "cts_to_self = true", "propagation_delay = \"16 us\"").is_ok());
}
