//! Receivers that decode no frame below the standard's sensitivity of its rate.

use multihop_scenario::{Overrides, resolve};
use multihop_sim::run;

/// Received power: 20 dBm less 40 dB, and 30 dB per decade: -62 dBm at 25 m, -69.6 dBm at 45 m. Noise alone
/// would allow MCS 7 down to -71 dBm.
fn scenario(distance: u32, more: &str) -> String {
    format!(
        r#"duration = "2 s"
warmup = "0 s"
[phy]
standard = "802.11n"
data_rate = "MCS 7"
[medium]
model = "sinr"
{more}
[topology]
nodes = [{{ name = "a", position = ["0 m", "0 m"] }}, {{ name = "b", position = ["{distance} m", "0 m"] }}]
[[flows]]
from = "a"
to = "b"
scheme = "udp"
"#
    )
}

/// Number of acknowledged DATA frames; none if there is no path.
fn acknowledged(text: &str) -> Option<u64> {
    let resolved = resolve(text, "sensitivity.toml", &Overrides::default()).ok()?;
    let outcome = run(&resolved.config);
    Some(outcome.links.iter().map(|link| link.acknowledged).sum())
}

#[test]
fn below_the_sensitivity_of_its_rate_a_frame_is_not_decoded() {
    const BY_RATE: &str = "sensitivity_by_rate = true";
    assert!(acknowledged(&scenario(25, BY_RATE)) > Some(9_000));
    assert_eq!(acknowledged(&scenario(25, BY_RATE)), acknowledged(&scenario(25, "")));
    assert!(acknowledged(&scenario(45, "")) > Some(9_000), "-69.6 dBm are 25 dB above noise");
    assert_eq!(acknowledged(&scenario(45, BY_RATE)).unwrap_or(0), 0, "MCS 7 needs -64 dBm");
    let slower = |rate| scenario(45, BY_RATE).replace("MCS 7", rate);
    assert!(acknowledged(&slower("MCS 4")) > Some(5_000), "MCS 4 needs -70 dBm");
    assert_eq!(acknowledged(&slower("MCS 5")).unwrap_or(0), 0, "MCS 5 needs -66 dBm");
}

/// Stations that know their SNR choose a rate whose sensitivity the received power reaches.
#[test]
fn the_ideal_rate_is_one_that_is_decoded() {
    let text = scenario(45, "sensitivity_by_rate = true")
        .replace("MCS 7", "MCS 0")
        .replace("[medium]", "[mac.rate_control]\nalgorithm = \"ideal\"\n[medium]");
    assert!(acknowledged(&text) > Some(5_000), "{text}");
}

#[test]
fn sensitivity_by_rate_is_in_the_hash_only_if_stated() {
    let hash = |more: &str| {
        resolve(&scenario(25, more), "sensitivity.toml", &Overrides::default())
            .map(|resolved| resolved.hash)
            .ok()
    };
    assert_eq!(hash(""), hash("sensitivity_by_rate = false"));
    assert_ne!(hash(""), hash("sensitivity_by_rate = true"));
}
