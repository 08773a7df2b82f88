//! Reading any text ends with a configuration or one message, never with a panic.

use crate::files::shipped_files;
use multihop_core::Rng;
use multihop_scenario::{Overrides, Setting, resolve};
use std::fs;

const ROUNDS: u32 = 4000;

/// Values that often break readers of numbers and texts.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "nan",
    "-inf",
    "99999999999999999999",
    "0x7fffffffffffffff",
    "-9223372036854775808",
    "\"\"",
    "\"0 s\"",
    "\"-1 m\"",
    "\"1e300 km\"",
    "\"nan B\"",
    "\"1e-300 s\"",
    "\"99999999999 GB\"",
    "\"\\u0000\"",
    "\"n0\"",
    "\"µs\"",
    "[]",
    "[[]]",
    "{}",
    "{ model = 1 }",
    "{ kind = \"cbr\" }",
    "true",
    "1979-05-27",
    "4294967295",
    "100000",
    "\"off\"",
    "\"none\"",
    "''",
];

fn corpus() -> Vec<String> {
    let mut texts: Vec<String> =
        shipped_files().iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let generators = [
        "generator = \"grid\"\ncolumns = 3\nrows = 4\njitter = \"5 m\"\nseed = 3",
        "generator = \"star\"\narms = 4\narm_hops = 2\nspacing = \"100 m\"",
        "generator = \"cross\"\narm_hops = 2",
        "generator = \"bar\"\nrows = 3\nlength = \"150 m\"",
        "generator = \"parking-lot\"\nhops = 3",
        "generator = \"dumbbell\"\npairs = 2\nrate = \"10 Mb/s\"\ndelay = \"10 ms\"\nqueue = 20\n\
         access_rates = [\"100 Mb/s\"]\naccess_delays = [\"1 ms\", \"5 ms\"]\naccess_queue = 100",
        "generator = \"wlan\"\nclients = 3\nradius = \"20 m\"\ndirection = \"both\"\nrates = [\"11 Mb/s\", \"1 Mb/s\"]\n\
         server = { rate = \"100 Mb/s\", delay = \"5 ms\", queue = 10 }",
        "generator = \"random-geometric\"\nnodes = 12\nside = \"500 m\"\nradius = \"240 m\"\nseed = 2",
    ];
    let medium =
        "[medium]\nmodel = \"sinr\"\ntransmit_power = \"20 dBm\"\npath_loss = { model = \"two-ray\" }\n";
    for generator in generators {
        texts.push(format!(
            "duration = \"9 s\"\n{medium}[topology]\n{generator}\n[traffic]\npattern = \"to-gateway\"\ngateway = \"n0\"\n\
             scheme = \"udp\"\napp = {{ kind = \"poisson\", rate = \"1 Mb/s\", packet = \"500 B\" }}\n"
        ));
    }
    texts
}

/// One change: a byte changed, the text cut, a line removed or doubled, or a value replaced or swapped with
/// that of another line.
fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = rng.below(lines.len() as u32) as usize;
    let other = rng.below(lines.len() as u32) as usize;
    let split = |line: &str| line.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    match rng.below(7) {
        0 => {
            let mut bytes = text.as_bytes().to_vec();
            let at = rng.below(bytes.len() as u32) as usize;
            bytes[at] ^= 1 << rng.below(8);
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        1 => {
            let at = rng.below(text.len() as u32 + 1) as usize;
            return String::from_utf8_lossy(&text.as_bytes()[..at]).into_owned();
        }
        2 => drop(lines.remove(line)),
        3 => lines.insert(other, lines[line].clone()),
        4 => {
            if let (Some((key, _)), Some((_, value))) = (split(&lines[line]), split(&lines[other])) {
                lines[line] = format!("{key}={value}");
            }
        }
        _ => {
            if let Some((key, _)) = split(&lines[line]) {
                let value = VALUES[rng.below(VALUES.len() as u32) as usize];
                lines[line] = format!("{key}= {value}");
            }
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn mutated_scenarios_are_read_or_refused_in_one_line() {
    let corpus = corpus();
    let (mut read, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let mut rng = Rng::at(u64::from(round), &["fuzz", "scenario"]);
        let mut text = corpus[rng.below(corpus.len() as u32) as usize].clone();
        for _ in 0..=rng.below(3) {
            if !text.trim().is_empty() {
                text = mutate(&text, &mut rng);
            }
        }
        match resolve(&text, "fuzz.toml", &Overrides::default()) {
            Ok(_) => read += 1,
            Err(error) => {
                let message = error.to_string();
                let formed =
                    message.starts_with("fuzz.toml:") && message.contains("; ") && !message.contains('\n');
                assert!(formed && message.len() < 4000, "round {round}: {message:?}\n{text}");
                refused += 1;
            }
        }
    }
    assert!(
        read > ROUNDS / 20 && refused > ROUNDS / 4,
        "{read} were read, {refused} refused: the changes are one-sided"
    );
}

/// Parts of which paths of settings are made.
const PIECES: &[&str] = &[
    "topology",
    "flows",
    "mac",
    "override",
    "traffic",
    "schemes",
    "medium",
    "nodes",
    "path_loss",
    "\"a b\"",
    "hops",
    "start",
    "queue",
    "app",
    "rate",
    "length",
    "pattern",
    "[0]",
    "[*]",
    "[1]",
    "[99]",
    "[",
    "\"",
    "]",
    "\u{e9}",
    "duration",
    "warmup",
];

/// Settings that are valid for most scenarios.
const SOUND: &[(&str, &str)] = &[
    ("name", "\"other\""),
    ("duration", "\"90 s\""),
    ("mac.queue", "5"),
    ("mac.override.eifs", "\"never\""),
    ("network.extra_header", "\"8 B\""),
    ("phy.control_rate", "\"1 Mb/s\""),
    ("schemes.recn.threshold", "0.5"),
    ("flows[*].start", "\"1 s\""),
    ("flows.length", "1"),
    ("traffic.start", "\"1 s\""),
];

fn setting(rng: &mut Rng) -> Setting {
    if rng.below(3) > 0 {
        let (path, value) = SOUND[rng.below(SOUND.len() as u32) as usize];
        return Setting { path: path.into(), value: format!("value = {value}") };
    }
    let mut pick = |from: &[&'static str]| from[rng.below(from.len() as u32) as usize];
    let mut path = pick(PIECES).to_owned();
    while !pick(PIECES).starts_with(['q', 'h', 's', 'd']) {
        let piece = pick(PIECES);
        path += if piece.starts_with('[') { "" } else { "." };
        path += piece;
    }
    let value = format!("value = {}", pick(VALUES));
    Setting { path, value }
}

#[test]
fn random_settings_are_applied_or_refused_in_one_line() {
    let corpus = corpus();
    let (mut read, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let mut rng = Rng::at(u64::from(round), &["fuzz", "settings"]);
        let text = &corpus[rng.below(corpus.len() as u32) as usize];
        let set: Vec<Setting> = (0..=rng.below(2)).map(|_| setting(&mut rng)).collect();
        match resolve(text, "fuzz.toml", &Overrides { set: set.clone(), ..Overrides::default() }) {
            Ok(_) => read += 1,
            Err(error) => {
                let message = error.to_string();
                let placed = message.starts_with("--set ") || message.starts_with("fuzz.toml:");
                let formed = placed && message.contains("; ") && !message.contains('\n');
                assert!(formed && message.len() < 4000, "round {round}: {message:?}\n{set:?}");
                refused += 1;
            }
        }
    }
    assert!(read > ROUNDS / 50 && refused > ROUNDS / 4, "{read} were read, {refused} refused");
}

#[test]
fn deep_nesting_is_refused() {
    for text in ["a = ".to_owned() + &"[".repeat(100_000), "[a".to_owned() + &".a".repeat(100_000) + "]"] {
        assert!(resolve(&text, "deep.toml", &Overrides::default()).is_err());
    }
}
