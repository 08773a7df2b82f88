//! Channels of 10 and 5 MHz.

use multihop_scenario::{Overrides, ScenarioError, resolve};
use multihop_sim::config::{Config, MediumModel};
use multihop_sim::run;

fn read(phy: &str, more: &str) -> Result<(Config, String), ScenarioError> {
    let text = format!(
        "duration = \"20 s\"\nwarmup = \"1 s\"\n[phy]\n{phy}\n[topology]\ngenerator = \"chain\"\nhops = 1\nspacing = \"50 m\"\n\
         {more}\n[[flows]]\nfrom = \"n0\"\nto = \"n1\"\nscheme = \"udp\"\napp = {{ kind = \"saturated\" }}\n"
    );
    resolve(&text, "case.toml", &Overrides::default()).map(|resolved| (resolved.config, resolved.hash))
}

/// Goodput in closed form: payload over DIFS, mean backoff, DATA, SIFS, ACK and twice the propagation delay.
/// All times of tables 17-21 and of 17.3 are doubled and quadrupled.
#[test]
fn a_saturated_link_has_the_goodput_of_the_closed_form() {
    // DIFS, slot, SIFS; DATA of 1472 + 28 bytes of IP and UDP, 36 of headers: 12310 bits in 57 symbols at the
    // highest rate; ACK at 24 Mb/s and its halves, 134 bits in 2 symbols.
    for (width, times, slower) in [
        ("20 MHz", [34.0, 9.0, 16.0], 1.0),
        ("10 MHz", [58.0, 13.0, 32.0], 2.0),
        ("5 MHz", [106.0, 21.0, 64.0], 4.0),
    ] {
        let (config, _) = read(&format!("standard = \"802.11a\"\nchannel_width = \"{width}\""), "").unwrap();
        let outcome = run(&config);
        let [difs, slot, sifs] = times;
        let (data, ack) = (slower * (20.0 + 57.0 * 4.0), slower * (20.0 + 2.0 * 4.0));
        let propagation = 2.0 * config.medium.propagation_delay.seconds() * 1e6;
        let expected = 1472.0 * 8.0 / (difs + 7.5 * slot + data + sifs + ack + propagation) * 1e6;
        let goodput = outcome.flows[0].delivered_bytes as f64 * 8.0 / outcome.measured_s;
        assert!((goodput / expected - 1.0).abs() < 0.01, "{width}: {goodput} for {expected}");
    }
}

#[test]
fn noise_and_thresholds_are_proportional_to_the_width() {
    let of = |width: &str| {
        let medium = "[medium]\nmodel = \"sinr\"";
        let (config, _) = read(&format!("standard = \"802.11a\"\n{width}"), medium).unwrap();
        let MediumModel::Sinr { noise_mw, sensitivity_mw, carrier_sense_mw, .. } = config.medium.model else {
            unreachable!()
        };
        [noise_mw, sensitivity_mw, carrier_sense_mw]
    };
    for (width, part) in [("10 MHz", 2.0), ("5 MHz", 4.0)] {
        let (narrow, whole) = (of(&format!("channel_width = \"{width}\"")), of(""));
        assert_eq!(narrow.map(|mw| mw * part), whole);
    }
}

#[test]
fn rates_and_channels_depend_on_the_width() {
    let half = |keys: &str| read(&format!("standard = \"802.11a\"\nchannel_width = \"10 MHz\"\n{keys}"), "");
    let (config, hash) = half("").unwrap();
    assert_eq!(config.phy.bit_rate(config.rates.data).unwrap().bps(), 27_000_000);
    assert_ne!(hash, read("standard = \"802.11a\"", "").unwrap().1);
    assert_eq!(
        read("standard = \"802.11a\"\nchannel_width = \"20 MHz\"", "").unwrap().1,
        read("standard = \"802.11a\"", "").unwrap().1,
        "a stated default is not in the hash"
    );
    assert!(half("data_rate = \"6 Mb/s\"\ncontrol_rate = \"4.5 Mb/s\"\nchannel = 178").is_ok());
    let refused = |keys: &str, part: &str| {
        let error = half(keys).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused("data_rate = \"54 Mb/s\"", "its rates: 3 Mb/s, 4.5 Mb/s");
    refused("channel = 170", "channel");
    for standard in ["802.11b", "802.11g", "802.11n"] {
        let phy = format!("standard = \"{standard}\"\nchannel_width = \"10 MHz\"");
        let error = read(&phy, "").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("phy.channel_width"), "{error}");
    }
}
