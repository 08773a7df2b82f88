//! Fading of received powers, from the scenario to the share of delivered frames.

use multihop_core::Span;
use multihop_scenario::{Overrides, resolve};
use multihop_sim::config::Config;
use multihop_sim::{Ties, World, run};

/// The mean received power is the sensitivity: 20 dBm less 40 dB, and 30 dB for 10 m. One transmission per
/// frame.
const MARGINAL: &str = r#"duration = "20 s"
warmup = "0 s"
[phy]
standard = "802.11a"
data_rate = "6 Mb/s"
[mac]
short_retry_limit = 1
rts_threshold = "off"
[medium]
model = "sinr"
sensitivity = "-50.01 dBm"
fading = { coherence = "7 ms" }
[topology]
nodes = [{ name = "a", position = ["0 m", "0 m"] }, { name = "b", position = ["10 m", "0 m"] }]
[[flows]]
from = "a"
to = "b"
scheme = "udp"
app = { kind = "cbr", rate = "1 Mb/s", packet = "125 B" }
"#;

fn resolved(text: &str) -> Result<(Config, String), String> {
    let resolved = resolve(text, "fading.toml", &Overrides::default());
    resolved.map(|resolved| (resolved.config, resolved.hash)).map_err(|error| error.to_string())
}

/// Share of DATA frames that arrive, with this fading.
fn delivered(fading: &str) -> f64 {
    let text = MARGINAL.replace("fading = { coherence = \"7 ms\" }", fading);
    let (config, _) = resolved(&text).unwrap();
    let outcome = run(&config);
    assert_eq!(outcome, World::new(&config, Ties::Reversed).finish(), "{fading}");
    let link = &outcome.links[0];
    link.acknowledged as f64 / link.data as f64
}

/// A Rayleigh channel is above a fraction x of its mean for a share of exp(-x) of the time.
#[test]
fn delivery_follows_the_distribution_of_powers() {
    let share = delivered("fading = { coherence = \"7 ms\" }");
    assert!((share - (-1.0f64).exp()).abs() < 0.03, "{share}");
    let share = delivered("fading = { coherence = \"7 ms\" }\ntransmit_power = \"23.0103 dBm\"");
    assert!((share - (-0.5f64).exp()).abs() < 0.03, "{share}");
    // A line-of-sight path 30 dB above the others means almost no fading: half of the frames are below the
    // mean, and half above it.
    let share = delivered("fading = { coherence = \"7 ms\", k_factor = \"30 dB\" }");
    assert!((share - 0.51).abs() < 0.04, "{share}");
    assert!(delivered("") > 0.999);
}

#[test]
fn speed_sets_the_length_of_a_block() {
    let block = |fading: &str| {
        let text = MARGINAL.replace("fading = { coherence = \"7 ms\" }", fading);
        let (config, hash) = resolved(&text).unwrap();
        (config.medium.fading.map(|fading| (fading.block, fading.rice_factor)), hash)
    };
    assert_eq!(block("fading = { coherence = \"7 ms\" }").0, Some((Span::from_ms(7), 0.0)));
    let (walking, _) = block("fading = { speed = \"1.4 m/s\", k_factor = \"0 dB\" }");
    assert!(
        walking.is_some_and(|(span, k)| (span.seconds() - 0.01749).abs() < 1e-5 && k == 1.0),
        "{walking:?}"
    );
    let hashes = ["", "fading = { coherence = \"7 ms\" }", "fading = { coherence = \"2 ms\" }"]
        .map(|text| block(text).1);
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2]);
}

#[test]
fn broken_fading() {
    let cases = [
        (
            "fading = {}",
            [
                "medium.fading",
                "neither speed nor coherence",
                "add coherence, the length of a block, or speed",
            ],
        ),
        (
            "fading = { speed = \"1 m/s\", coherence = \"7 ms\" }",
            ["medium.fading.coherence", "is given together with speed", "remove one of the two"],
        ),
        ("fading = { speed = \"0 m/s\" }", ["medium.fading.speed", "0 m/s", "0.001 m/s"]),
        ("fading = { coherence = \"0 s\" }", ["medium.fading.coherence", "0 s", "1 us"]),
        (
            "fading = { speed = \"1 m/s\", k_factor = \"99 dB\" }",
            ["medium.fading.k_factor", "99 dB", "40 dB"],
        ),
        ("fading = \"rayleigh\"", ["medium.fading", "rayleigh", ""]),
    ];
    for (fading, parts) in cases {
        let text = MARGINAL.replace("fading = { coherence = \"7 ms\" }", fading);
        let message = resolved(&text).map(|_| ()).expect_err(fading);
        for part in parts {
            assert!(message.contains(part), "{fading}: {part:?} is not in {message:?}");
        }
    }
    let ranges = MARGINAL.replace("model = \"sinr\"\nsensitivity = \"-50.01 dBm\"", "model = \"ranges\"");
    let message = resolved(&ranges).map(|_| ()).expect_err("ranges do not fade");
    assert!(message.contains("fading"), "{message}");
}
