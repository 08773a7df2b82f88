//! `[phy]` of 802.11n, ac and ax: MCSs, airtimes and noise.

use multihop_core::{Rate, Span};
use multihop_dot11::{Band, Bandwidth, Coding, DataRate, GuardInterval, Mcs, Microseconds};
use multihop_scenario::{Overrides, resolve};
use multihop_sim::config::{Config, MediumModel};

fn config(phy: &str) -> Config {
    let text = format!(
        "duration = \"1 s\"\n[phy]\n{phy}\n[topology]\ngenerator = \"chain\"\nhops = 1\nspacing = \"2 m\"\n\
         [medium]\nmodel = \"sinr\"\n[traffic]\npattern = \"canonical\"\nscheme = \"udp\"\n"
    );
    resolve(&text, "schemes.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{error}")).config
}

fn mcs(streams: u8, scheme: u8) -> DataRate {
    DataRate::Mcs(Mcs { streams, scheme })
}

/// Highest MCS in one stream of 20 MHz at 5 GHz: MCS 7, MCS 8 (there is no MCS 9), MCS 11. DATA frames are
/// QoS frames.
#[test]
fn a_standard_without_other_keys_has_defaults() {
    for (standard, scheme, kbps, coding) in [
        ("802.11n", 7, 65_000, Coding::Bcc),
        ("802.11ac", 8, 78_000, Coding::Bcc),
        ("802.11ax", 11, 143_382, Coding::Ldpc),
    ] {
        let config = config(&format!("standard = \"{standard}\""));
        let options = config.phy.options();
        assert_eq!(
            (options.band, options.bandwidth, options.guard, options.coding),
            (Band::Ghz5, Bandwidth::Mhz20, GuardInterval::Ns800, coding)
        );
        assert_eq!(config.rates.data, mcs(1, scheme));
        assert_eq!(config.phy.bit_rate(config.rates.data).unwrap().bps() / 1_000, kbps);
        assert_eq!((config.phy.sifs, config.phy.slot), (Span::from_us(16), Span::from_us(9)));
        assert_eq!((config.mac.cw_min, config.mac.rules.data_header), (15, 30));
    }
}

#[test]
fn an_mcs_has_the_name_of_its_standard() {
    let n = |rate: &str| config(&format!("standard = \"802.11n\"\ndata_rate = \"{rate}\"")).rates.data;
    for rate in ["MCS 15", "MCS 7 NSS 2", "MCS 15 NSS 2", " MCS15 "] {
        assert_eq!(n(rate), mcs(2, 7), "{rate}");
    }
    assert_eq!(n("54 Mb/s"), Rate::from_kbps(54_000).into(), "a frame of 802.11a");
    let ax = "standard = \"802.11ax\"\nchannel_width = \"160 MHz\"\ndata_rate = \"MCS 11 NSS 8\"";
    assert_eq!(config(ax).rates.data, mcs(8, 11));
}

/// Airtimes of 1500 B of IP with 38 B of LLC and MAC headers. 802.11n, MCS 7: 12326 bits in 48 symbols of
/// 260, after 36 us; at 2.4 GHz, 6 us of silence and a SIFS of 10 us. 802.11ac, MCS 9 in 80 MHz: four bytes
/// more, 12358 bits in 8 symbols of 1560, after 40 us.
#[test]
fn frames_have_the_airtime_of_the_standards_txtime() {
    let data = |phy: &str| {
        let config = config(phy);
        let rules = config.mac.rules;
        config.phy.airtime(config.rates.data, 1_500 + rules.llc_header + rules.data_header, Microseconds::Up)
    };
    assert_eq!(data("standard = \"802.11n\""), Span::from_us(36 + 48 * 4));
    let low = "standard = \"802.11n\"\nband = \"2.4 GHz\"";
    assert_eq!(data(low), Span::from_us(36 + 48 * 4 + 6));
    assert_eq!(config(low).phy.sifs, Span::from_us(10));
    let ac = "standard = \"802.11ac\"\nchannel_width = \"80 MHz\"";
    assert_eq!(data(ac), Span::from_us(40 + 8 * 4));
    // Eight symbols of 3.6 us are 28.8 us, which end at a multiple of 4 us.
    let short = format!("{ac}\nguard_interval = \"400 ns\"");
    assert_eq!(data(&short), Span::from_us(40 + 32));
}

/// Noise and thresholds are proportional to the width: 3 dB more in 40 MHz.
#[test]
fn a_wider_channel_has_more_noise() {
    let powers = |phy: &str| match config(phy).medium.model {
        MediumModel::Sinr { noise_mw, sensitivity_mw, carrier_sense_mw, .. } => {
            [noise_mw, sensitivity_mw, carrier_sense_mw]
        }
        other => panic!("{other:?}"),
    };
    let narrow = powers("standard = \"802.11n\"");
    let wide = powers("standard = \"802.11n\"\nchannel_width = \"40 MHz\"");
    for (narrow, wide) in narrow.into_iter().zip(wide) {
        assert!((wide / narrow - 2.0).abs() < 1e-12, "{narrow} {wide}");
    }
    assert_eq!(narrow, powers("standard = \"802.11a\""));
}
