//! The hunt: scenarios drawn from the published schema, with values from the edges of their ranges, run under
//! the engine's laws with overflow checks and debug assertions.
//!
//! Each scenario is run twice and with reversed ties, a share of them also in steps and with logs. The laws:
//! no panic, packets conserved, no station stuck, time advances, equal results, and each column within its
//! range. Refused scenarios give one message in one line.
//!
//! The test runs a short share. `make hunt` runs `HUNT` scenarios (100,000), starting with number `HUNT_FROM`
//! (0), and writes failures, reduced in size, to `target/hunt`. `tools/hunt.py` then tries commands on a
//! share of the scenarios that ran, in the folder `HUNT_OUT`.

#![allow(clippy::disallowed_methods)] // the clock says when a run hangs; nothing that is simulated reads it

mod columns;
pub mod draw;
mod law;
mod mend;
mod shrink;

use draw::Draw;
use law::{Kept, check, message};
use multihop_core::Rng;
use multihop_scenario::{Overrides, ScenarioError, resolve};
use multihop_sim::config::{Config, FlowConfig};
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// One of this many scenarios that ran is written to `HUNT_OUT`.
const WRITTEN: u64 = 50;
/// Number of scenarios of the short share.
const SHORT: u64 = 300;
/// Maximum number of changes before a scenario counts as refused.
const MENDS_MAX: u32 = 60;
/// Maximum time of a run; a longer run hangs.
const LONGEST: Duration = Duration::from_secs(120);

/// Results of the scenarios.
#[derive(Default)]
struct Tally {
    runs: u64,
    cut: u64,
    refused: u64,
    mends: u64,
    events: u64,
    delivered: u64,
    /// Time of reading and running the scenarios.
    reading: Duration,
    running: Duration,
    /// Messages of scenarios that stayed refused.
    refusals: BTreeMap<String, u64>,
    /// Number of runs with each part of the engine.
    parts: BTreeMap<String, u64>,
    /// First scenario that broke each law in each place, and the number of such scenarios.
    failures: BTreeMap<String, (u64, u64)>,
}

/// Result of one scenario.
enum Fate {
    Refused(String),
    Kept(Box<Config>, Kept),
    Broke(String),
}

/// Times of one scenario.
#[derive(Default)]
struct Cost {
    mends: u64,
    reading: Duration,
    running: Duration,
}

/// Reads the scenario as text, in a folder with motion files.
fn read(scenario: &Value) -> Result<Config, ScenarioError> {
    let text = toml::to_string(scenario).expect("scenarios are TOML");
    resolve(&text, "tests/data/hunt.toml", &Overrides::default()).map(|resolved| resolved.config)
}

/// Reads the scenario, changes it until it is valid, and runs it. On return, `scenario` is the one that was
/// run.
fn fate(scenario: &mut Value, draw: &Draw, rng: &mut Rng, cost: &mut Cost) -> Fate {
    let mut last = String::new();
    for _ in 0..MENDS_MAX {
        let since = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| read(scenario)));
        cost.reading += since.elapsed();
        match read.map_err(|panic| message(panic.as_ref())) {
            Err(panic) => return Fate::Broke(format!("panic: {panic}")),
            Ok(Ok(config)) => {
                let since = Instant::now();
                let checked = check(&config);
                cost.running += since.elapsed();
                return match checked {
                    Ok(kept) => Fate::Kept(Box::new(config), kept),
                    Err(law) => Fate::Broke(law),
                };
            }
            Ok(Err(error)) => {
                let line = error.to_string();
                if line.contains('\n') || line.len() > 4_000 || !line.contains("; ") {
                    return Fate::Broke(format!("a refusal that is not one clear line: {line}"));
                }
                cost.mends += 1;
                mend::mend(scenario, &error, draw, rng);
                last = line;
            }
        }
    }
    Fate::Refused(last)
}

/// Parts of the engine that a scenario uses.
fn parts(scenario: &Value, config: &Config) -> Vec<String> {
    let name = |text: String| text.split(['(', ' ', '{']).next().unwrap_or_default().to_owned();
    let mut parts = vec![
        format!("routing {}", name(format!("{:?}", config.routing.protocol))),
        format!("medium {}", name(format!("{:?}", config.medium.model))),
        format!("queue {}", name(format!("{:?}", config.mac.queue.discipline))),
    ];
    parts.extend(config.traffic.schemes.iter().map(|scheme| format!("scheme {}", scheme.name)));
    let apps = config.traffic.flows.iter().map(|flow| format!("app {:?}", flow.app));
    let mut tags: Vec<String> = apps.map(|app| name(app.replace(' ', "-"))).collect();
    tags.extend(config.recording.measurements.iter().map(|of| name(format!("estimator-{:?}", of.estimator))));
    tags.sort();
    tags.dedup();
    parts.extend(tags);
    let present = [
        ("wires", !config.topology.wires.is_empty()),
        ("outages", !config.mobility.outages.is_empty()),
        ("motion by a model", scenario["mobility"]["area"].is_array()),
        ("motion by a file", scenario["mobility"]["file"].is_string()),
        ("long links", config.medium.propagation_delay.ns() > 50_000),
        ("delays by distance", config.medium.delays_by_distance),
        ("address resolution", config.network.arp),
        (
            "A-MSDUs on found routes",
            scenario["mac"]["aggregation"]["a_msdu"].is_string()
                && scenario["routing"]["protocol"].is_string(),
        ),
        ("access categories", config.mac.edca.is_some()),
        ("hardware queue", config.mac.queue.hardware.is_some()),
        ("airtime limits", config.mac.queue.hardware.is_some_and(|hardware| hardware.airtime.is_some())),
        ("CTS to self", config.mac.cts_to_self),
        ("mixed network", scenario["phy"]["mixed"] == true),
        ("narrow channel", config.phy.options().bandwidth.mhz() < 20),
        ("powers of nodes", !config.topology.powers.is_empty()),
        ("multicast", config.traffic.flows.iter().any(|flow| flow.group.is_some())),
        ("multicast by a relay", config.traffic.flows.iter().any(|flow| is_relayed(config, flow))),
        ("codepoints", config.traffic.flows.iter().any(|flow| flow.dscp.number() > 0)),
    ];
    parts.extend(present.iter().filter(|(_, is)| *is).map(|(part, _)| (*part).to_owned()));
    parts
}

fn is_relayed(config: &Config, flow: &FlowConfig) -> bool {
    flow.group.is_some() && config.multicast_relay(flow.source).is_some()
}

/// The failure without its numbers, which failures of one kind share.
fn kind(failure: &str) -> String {
    failure.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).take(160).collect()
}

/// Results of the scenarios with these numbers.
fn hunt(numbers: std::ops::Range<u64>) -> Tally {
    let draw = Draw::new();
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(numbers.start);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(4);
    let began: Vec<Mutex<Option<(u64, Instant)>>> = (0..threads).map(|_| Mutex::new(None)).collect();
    let work = |began: &Mutex<Option<(u64, Instant)>>| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            *began.lock().expect("unpoisoned") = Some((number, Instant::now()));
            one(&draw, number, &tally);
            *began.lock().expect("unpoisoned") = None;
        }
    };
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = began.iter().map(|began| scope.spawn(move || work(began))).collect();
        // A run that never returns from one event cannot be stopped from within.
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(Duration::from_millis(20));
            for began in &began {
                if let Some((number, since)) = *began.lock().expect("unpoisoned")
                    && since.elapsed() > LONGEST
                {
                    eprintln!("scenario {number} hangs");
                    std::process::exit(1);
                }
            }
        }
    });
    tally.into_inner().expect("unpoisoned")
}

/// Runs the scenario with this number.
fn one(draw: &Draw, number: u64, tally: &Mutex<Tally>) {
    let rng = &mut Rng::at(number, &["hunt"]);
    let mut scenario = draw.scenario(rng);
    let mut cost = Cost::default();
    let fate = fate(&mut scenario, draw, rng, &mut cost);
    let mut tally = tally.lock().expect("unpoisoned");
    tally.mends += cost.mends;
    tally.reading += cost.reading;
    tally.running += cost.running;
    match fate {
        Fate::Refused(why) => {
            tally.refused += 1;
            *tally.refusals.entry(kind(&why)).or_default() += 1;
        }
        Fate::Kept(config, kept) => {
            tally.runs += 1;
            for part in parts(&scenario, &config) {
                *tally.parts.entry(part).or_default() += 1;
            }
            if number.is_multiple_of(WRITTEN)
                && let Ok(folder) = std::env::var("HUNT_OUT")
            {
                let text = toml::to_string(&scenario).expect("scenarios are TOML");
                std::fs::write(PathBuf::from(folder).join(format!("{number}.toml")), text)
                    .expect("scenarios can be written");
            }
            match kept {
                Kept::CutShort => tally.cut += 1,
                Kept::Whole(outcome) => {
                    tally.events += outcome.events;
                    tally.delivered += outcome.conservation.delivered;
                }
            }
        }
        Fate::Broke(failure) => {
            let kind = kind(&failure);
            tally.failures.entry(kind.clone()).or_insert((number, 0)).1 += 1;
            if tally.failures[&kind].1 == 1 {
                drop(tally);
                keep(number, &failure, &scenario);
            }
        }
    }
}

/// Writes a small scenario that fails in the same way to `target/hunt`.
fn keep(number: u64, failure: &str, scenario: &Value) {
    let same = |candidate: &Value| {
        let read = catch_unwind(AssertUnwindSafe(|| read(candidate)));
        let found = match read.map_err(|panic| message(panic.as_ref())) {
            Err(panic) => Some(format!("panic: {panic}")),
            Ok(read) => read.ok().and_then(|config| check(&config).err()),
        };
        found.is_some_and(|found| kind(&found) == kind(failure))
    };
    let small = shrink::shrink(scenario, same);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../hunt");
    let text = toml::to_string(&small).expect("scenarios are TOML");
    let comment = format!("# Scenario {number} of the hunt: {}\n", failure.replace('\n', " "));
    std::fs::create_dir_all(&folder).expect("the folder of results can be made");
    std::fs::write(folder.join(format!("{number}.toml")), comment.clone() + &text)
        .expect("it can be written");
    eprintln!("{comment}{text}");
}

#[test]
fn scenarios_of_the_schema_break_no_law() {
    let given = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (from, count) = (given("HUNT_FROM").unwrap_or(0), given("HUNT").unwrap_or(SHORT));
    std::panic::set_hook(Box::new(|_| ())); // panics are caught, and reported with their scenario
    let start = Instant::now();
    let tally = hunt(from..from + count);
    drop(std::panic::take_hook());
    println!(
        "{count} scenarios in {:.0} s ({:.0} s reading, {:.0} s running): {} ran ({} cut short), {} refused, {} values mended; {} events, \
         {} packets delivered",
        start.elapsed().as_secs_f64(),
        tally.reading.as_secs_f64(),
        tally.running.as_secs_f64(),
        tally.runs,
        tally.cut,
        tally.refused,
        tally.mends,
        tally.events,
        tally.delivered,
    );
    println!("{:?}", tally.parts);
    println!("refused for good: {:#?}", tally.refusals);
    assert!(tally.failures.is_empty(), "{:#?}", tally.failures);
    assert!(tally.runs * 2 > count, "most scenarios are refused");
    assert!(tally.delivered > 10 * tally.runs, "hardly anything happens in them");
    let kinds = |prefix: &str| tally.parts.keys().filter(|part| part.starts_with(prefix)).count();
    assert_eq!((kinds("routing"), kinds("medium"), kinds("queue")), (4, 4, 6), "{:?}", tally.parts);
    assert!(kinds("scheme") * 10 > multihop_schemes::REGISTRY.len() * 9, "{:?}", tally.parts);
    for part in [
        "wires",
        "outages",
        "motion by a model",
        "long links",
        "delays by distance",
        "address resolution",
        "CTS to self",
        "mixed network",
        "narrow channel",
        "powers of nodes",
        "A-MSDUs on found routes",
    ] {
        assert!(tally.parts.contains_key(part), "no {part}: {:?}", tally.parts);
    }
}

/// Scenarios that once broke a law, reduced in size: one file each in `found`.
#[test]
fn scenarios_that_once_broke_a_law_keep_it() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/hunt/found");
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let text = std::fs::read_to_string(entry.expect("it can be listed").path()).expect("it can be read");
        let config = resolve(&text, "found.toml", &Overrides::default()).expect("it is a scenario").config;
        if let Err(law) = check(&config) {
            panic!("{law}\n{text}");
        }
    }
}
