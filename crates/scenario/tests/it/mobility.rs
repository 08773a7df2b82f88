//! `[mobility]` and `[[outages]]` of scenarios: meaning, refusals, and identity.

use multihop_core::Span;
use multihop_scenario::{
    MobilityProblem, Overrides, Problem, Resolved, ScenarioError, TopologyProblem, resolve,
};
use std::path::PathBuf;

/// Three nodes on the medium `ranges` with DSDV.
const BASE: &str = r#"
duration = "100 s"
[topology]
nodes = [{ name = "a", position = ["0 m", "0 m"] }, { name = "b" }, { name = "c" }]
[routing]
protocol = "dsdv"
[[flows]]
from = "a"
to = "b"
scheme = "udp"
app = { kind = "cbr", rate = "64 kb/s", packet = "512 B" }
"#;

const WALK: &str = r#"
[mobility]
model = "random-waypoint"
nodes = ["b", "c"]
area = ["1 km", "500 m"]
min_speed = "36 km/h"
max_speed = "30 m/s"
pause = "1 s"
"#;

/// A name for the scenario in the folder of the motion files.
fn origin() -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/run.toml").to_string_lossy().into_owned()
}

fn read(mobility: &str) -> Result<Resolved, ScenarioError> {
    resolve(&format!("{BASE}{mobility}"), &origin(), &Overrides::default())
}

fn seeded(mobility: &str, seed: u64) -> Resolved {
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    resolve(&format!("{BASE}{mobility}"), &origin(), &overrides).unwrap()
}

#[test]
fn motion_depends_on_the_seed_and_the_hash_does_not() {
    let (one, two) = (seeded(WALK, 1), seeded(WALK, 2));
    assert_eq!(one.hash, two.hash);
    let motion = |resolved: &Resolved, node: usize| resolved.config.mobility.motions[node].clone();
    assert!(motion(&one, 1) != motion(&two, 1) && motion(&one, 1) != motion(&one, 2));
    assert_eq!(one.config.topology.nodes[1].position, Some(motion(&one, 1).origin()));
    assert!(motion(&one, 0).legs().is_empty() && motion(&one, 0).origin() == [0.0, 0.0]);
    assert!(motion(&one, 1).legs().iter().all(|leg| (10.0..=30.0 + 1e-9).contains(&leg.speed())));
    let pinned = format!("{WALK}seed = 7\n");
    assert_eq!(motion(&seeded(&pinned, 1), 1), motion(&seeded(&pinned, 2), 1));
    let other = WALK.replace("\"1 s\"", "\"2 s\"");
    assert!(seeded(&other, 1).hash != one.hash && seeded(&pinned, 1).hash != one.hash);
}

#[test]
fn an_additional_node_does_not_change_the_motion_of_others() {
    let more = format!("{BASE}{WALK}")
        .replace("{ name = \"c\" }]", "{ name = \"c\" }, { name = \"d\" }]")
        .replace("[\"b\", \"c\"]", "[\"d\", \"b\", \"c\"]");
    let with = resolve(&more, &origin(), &Overrides::default()).unwrap();
    assert_eq!(with.config.mobility.motions[..3], read(WALK).unwrap().config.mobility.motions);
}

#[test]
fn the_content_of_motion_files_is_in_the_hash() {
    let file = |model: &str, name: &str, more: &str| {
        format!("[mobility]\nmodel = \"{model}\"\nfile = \"{name}\"\nnodes = [\"b\", \"c\"]\n{more}")
    };
    let movements = seeded(&file("bonnmotion", "passing.movements", ""), 1);
    let zipped = seeded(&file("bonnmotion", "passing.movements.gz", ""), 2);
    assert_eq!(movements.hash, zipped.hash);
    assert_eq!(movements.config.topology.nodes[2].position, Some([0.0, 150.0]));
    assert_eq!(movements.config.mobility.motions[2].at(45.0), [350.0, 150.0]);
    let later = seeded(&file("bonnmotion", "passing.movements", "file_start = \"30 s\"\n"), 1);
    let [x, y] = later.config.topology.nodes[2].position.unwrap();
    assert!((x - 200.0).abs() < 1e-9 && y == 150.0);
    assert!(later.hash != movements.hash);
    let cars = seeded(&file("fcd", "passing.fcd.xml", ""), 1);
    let outages = cars.config.mobility.outages.iter();
    let times: Vec<(f64, f64)> = outages.map(|outage| (outage.from.seconds(), outage.to.seconds())).collect();
    assert_eq!(times, [(0.0, 10.0), (70.0, 101.0)], "a node is down while its car is absent");
    let script = file("setdest", "passing.tcl", "").replace("[\"b\", \"c\"]", "[\"b\", \"c\", \"a\"]");
    assert_eq!(seeded(&script, 1).config.topology.nodes[0].position, Some([3000.0, 0.0]));
}

/// Files count nodes from 0 or from 1: from 1 if that fits and 0 does not, or if the scenario states it.
#[test]
fn scripts_may_number_nodes_from_one() {
    let script =
        |nodes: &str| format!("[mobility]\nmodel = \"setdest\"\nfile = \"from_one.tcl\"\nnodes = {nodes}\n");
    let places = |text: &str| {
        let nodes = &read(text).unwrap_or_else(|error| panic!("{error}")).config.topology.nodes;
        [1, 2].map(|node: usize| nodes[node].position.unwrap())
    };
    let two = script("[\"b\", \"c\"]");
    assert_eq!(places(&two), [[300.0, 0.0], [0.0, 150.0]]);
    assert_eq!(places(&format!("{two}first_node = 1\n")), [[300.0, 0.0], [0.0, 150.0]]);
    // With three moving nodes both fit: node 1 of the file is the second node, as in ns-2.
    let three = script("[\"a\", \"b\", \"c\"]");
    assert_eq!(places(&three), [[300.0, 0.0], [0.0, 150.0]]);
    let from_one = read(&format!("{three}first_node = 1\n")).err().unwrap();
    assert_eq!(*from_one.problem, MobilityProblem::NoPosition { node: "c".into() }.into());
    for (first, index) in [(0, 2), (2, 1)] {
        let error = read(&format!("{two}first_node = {first}\n")).err().unwrap();
        assert_eq!(*error.problem, not_moving(index, Some(first), 2), "{error}");
        assert!(error.remedy().starts_with("set mobility.first_node = 1,"), "{error}");
    }
    // Node 2 of the file is switched off from 30 s to 40 s.
    let off = |text: &str| {
        let outages = read(text).unwrap().config.mobility.outages;
        outages.iter().map(|o| (o.node.0, o.from.ns() / 1_000_000, o.to.ns() / 1_000_000)).collect::<Vec<_>>()
    };
    assert_eq!(off(&two), [(2, 30_000, 40_000)]);
    assert_eq!(off(&format!("{two}file_start = \"35 s\"\n")), [(2, 0, 5_000)]);
}

#[test]
fn outages_are_in_the_hash() {
    let base = "[[flows]]\nfrom = \"n0\"\nto = \"n1\"\nscheme = \"udp\"\n[topology]\ngenerator = \"chain\"\nhops = 1\n";
    let text = format!("duration = \"10 s\"\n{base}[[outages]]\nnode = \"n1\"\nfrom = \"2 s\"\n");
    let with = resolve(&text, "x.toml", &Overrides::default()).unwrap();
    let outage = with.config.mobility.outages[0];
    assert_eq!((outage.node.0, outage.from.seconds()), (1, 2.0));
    assert!(outage.to > with.config.duration && !with.config.mobility.moves());
    let without = resolve(&format!("duration = \"10 s\"\n{base}"), "x.toml", &Overrides::default()).unwrap();
    assert!(with.hash != without.hash);
}

#[test]
fn impossible_motion_is_refused_in_one_line() {
    let walk = |from: &str, to: &str| {
        assert!(WALK.contains(from), "{from}");
        WALK.replace(from, to)
    };
    let cases = [
        (walk("random-waypoint", "random-walk"), "mobility.model", "random-walk", "random-waypoint"),
        (
            walk("\"b\", \"c\"", "\"b\", \"c\", \"d\""),
            "mobility.nodes[2]",
            "\"d\" is not a node",
            "known: a, b, c",
        ),
        (walk("\"b\", \"c\"", "\"b\", \"b\", \"c\""), "mobility.nodes[1]", "listed twice", "once"),
        (
            walk("\"b\", \"c\"", "\"b\""),
            "topology.nodes[2].position",
            "node \"c\" has no position",
            "add position",
        ),
        (walk("500 m", "0 m"), "mobility.area[1]", "out of range", "0.01 m"),
        (walk("36 km/h", "31 m/s"), "mobility.min_speed", "above max_speed 30 m/s", "raise max_speed"),
        (
            walk("36 km/h", "0 m/s") + "start = \"stationary\"\n",
            "mobility.start",
            "no stationary distribution",
            "pause",
        ),
        (walk("36 km/h", "10 m"), "mobility.min_speed", "not a unit of a speed", "km/h"),
    ];
    for (text, key, found, remedy) in cases {
        let text =
            text.replace("pause = \"1 s\"", if key == "mobility.max_speed" { "" } else { "pause = \"1 s\"" });
        let error = read(&text).err().unwrap_or_else(|| panic!("{text} is refused"));
        assert!(error.key == key && error.found().contains(found), "{error}");
        assert!(error.remedy().contains(remedy), "{error}");
    }
    let tiny = walk("1 km\", \"500 m", "1 cm\", \"1 cm")
        .replace("30 m/s", "90000 m/s")
        .replace("\"1 s\"", "\"0 s\"");
    let error = read(&tiny).err().unwrap();
    assert!(matches!(*error.problem, Problem::Mobility(MobilityProblem::TooManyLegs { .. })), "{error}");
    let fixed = format!("{BASE}{WALK}").replace("[routing]\nprotocol = \"dsdv\"\n", "");
    let error = resolve(&fixed, "x.toml", &Overrides::default()).err().unwrap();
    let instead = "\"dsdv\", \"dsr\" or \"aodv\"".into();
    assert_eq!(*error.problem, MobilityProblem::StaticRoutes { instead }.into());
    let wired = format!(
        "{BASE}{WALK}[[topology.wires]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mb/s\"\ndelay = \"1 ms\"\n"
    );
    for text in [wired.replace("protocol = \"dsdv\"", ""), wired] {
        let error = resolve(&text, "x.toml", &Overrides::default()).err().unwrap();
        assert_eq!((error.key.as_str(), *error.problem), ("mobility", TopologyProblem::WiresMove.into()));
    }
    let matrix = format!("[medium]\nmodel = \"matrix\"\nquantity = \"delivery\"\n{WALK}");
    let error = read(&matrix).err().unwrap();
    assert_eq!(*error.problem, MobilityProblem::Measured.into());
}

#[test]
fn messages_name_unusable_motion_files() {
    let file =
        |name: &str| format!("[mobility]\nmodel = \"setdest\"\nfile = \"{name}\"\nnodes = [\"b\", \"c\"]\n");
    let missing = read(&file("nowhere.tcl")).err().unwrap();
    assert!(matches!(*missing.problem, Problem::Mobility(MobilityProblem::Unreadable { .. })), "{missing}");
    let xml = read(&file("passing.fcd.xml")).err().unwrap().to_string();
    assert!(
        xml.starts_with("passing.fcd.xml:1: mobility.file: ")
            && xml.contains("not a line of a setdest script"),
        "{xml}"
    );
    let many = read(&file("passing.tcl")).err().unwrap();
    assert_eq!(*many.problem, not_moving(2, None, 3));
    assert!(many.remedy().starts_with("let 3 nodes move"), "{many}");
    assert!(many.to_string().starts_with("passing.tcl:"), "{many}");
    let backwards =
        read(&format!("{WALK}[[outages]]\nnode = \"a\"\nfrom = \"5 s\"\nto = \"5 s\"\n")).err().unwrap();
    let problem = MobilityProblem::EndsBeforeStart { from: Span::from_ms(5_000) };
    assert_eq!((backwards.key.as_str(), *backwards.problem), ("outages[0].to", problem.into()));
}

/// A grid with nodes added by `mobility.count`, and flows only between these.
const ADDED: &str = "
duration = \"10 s\"
[topology]
generator = \"grid\"
columns = 2
rows = 2
[mobility]
model = \"random-waypoint\"
count = 3
area = [\"1 km\", \"1 km\"]
max_speed = \"30 m/s\"
[routing]
protocol = \"dsdv\"
[traffic]
pattern = \"random-pairs\"
among = [\"m*\"]
flows = 6
scheme = \"udp\"
";

#[test]
fn count_adds_moving_nodes() {
    let added = read_alone(ADDED).unwrap().config;
    let names: Vec<&str> = added.topology.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["n0", "n1", "n2", "n3", "m0", "m1", "m2"]);
    let moves: Vec<bool> =
        added.mobility.motions.iter().map(|motion| motion.at(0.0) != motion.at(9.0)).collect();
    assert_eq!(moves, [false, false, false, false, true, true, true]);
    let mut pairs: Vec<(u32, u32)> =
        added.traffic.flows.iter().map(|flow| (flow.source.0, flow.destination.0)).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(4, 5), (4, 6), (5, 4), (5, 6), (6, 4), (6, 5)], "among those that move alone");
    let alone = ADDED.replace("generator = \"grid\"\ncolumns = 2\nrows = 2", "nodes = []");
    assert_eq!(read_alone(&alone).unwrap().config.topology.nodes.len(), 3);
}

/// The node that is down is drawn from the seed; the scenario hash does not change.
#[test]
fn one_of_several_nodes_is_off() {
    let text = format!("{ADDED}[[outages]]\none_of = [\"n1\", \"n2\", \"m0\"]\nfrom = \"2 s\"\n");
    let mut drawn = std::collections::BTreeSet::new();
    let mut hashes = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
        let resolved = resolve(&text, "x.toml", &overrides).unwrap();
        drawn.insert(resolved.config.mobility.outages[0].node.0);
        hashes.insert(resolved.hash);
    }
    assert_eq!((drawn.into_iter().collect::<Vec<_>>(), hashes.len()), (vec![1, 2, 4], 1));
    let fewer = resolve(&text.replace(", \"m0\"", ""), "x.toml", &Overrides::default()).unwrap();
    assert!(!hashes.contains(&fewer.hash));
}

#[test]
fn broken_counts_and_outages_are_refused() {
    let outage = |which: &str| format!("{ADDED}[[outages]]\n{which}from = \"2 s\"\n");
    let cases = [
        (ADDED.replace("count = 3", "count = 0"), "mobility.count", "0"),
        (ADDED.replace("count = 3", "count = 100000"), "mobility.count", "out of range"),
        (
            ADDED.replace("count = 3", "count = 3\nnodes = [\"n0\"]"),
            "mobility.count",
            "together with mobility.nodes",
        ),
        (ADDED.replace("\"m*\"", "\"x*\""), "traffic.among[0]", "matches no node"),
        (ADDED.replace("random-pairs\"", "all-to-one\"\ngateway = \"n0\""), "traffic.flows", "no effect"),
        (ADDED.replace("flows = 6", "flows = 7"), "traffic.flows", "there are 6"),
        (outage(""), "outages[0].node", "missing"),
        (outage("one_of = []\n"), "outages[0].one_of", "an empty list"),
        (outage("one_of = [\"n0\", \"n9\"]\n"), "outages[0].one_of[1]", "is not a node"),
        (outage("node = \"n0\"\none_of = [\"n1\"]\n"), "outages[0].one_of", "together with outages.node"),
    ];
    for (text, key, found) in cases {
        let error = read_alone(&text).err().unwrap_or_else(|| panic!("{text} is refused"));
        assert!(error.key == key && error.found().contains(found), "{error}");
    }
    let taken = "nodes = [{ name = \"m1\", position = [\"0 m\", \"0 m\"] }]";
    let taken = ADDED.replace("generator = \"grid\"\ncolumns = 2\nrows = 2", taken);
    let error = read_alone(&taken).err().unwrap();
    assert_eq!(*error.problem, MobilityProblem::NameTaken { name: "m1".into() }.into());
}

/// The problem that a node of the file, whose name is its number, is not one of two moving nodes.
fn not_moving(index: usize, first: Option<u32>, enough: usize) -> Problem {
    let first_instead = first.map(|_| 1);
    let name = index.to_string();
    MobilityProblem::NodeNotMoving { index, name, moving: 2, first, first_instead, enough, option: "nodes" }
        .into()
}

fn read_alone(text: &str) -> Result<Resolved, ScenarioError> {
    resolve(text, "x.toml", &Overrides::default())
}
