//! What scenarios say of infrastructure networks, and how they can be wrong.

use multihop_sim::config::Config;
use multihop_sim::scenario::{Overrides, resolve};

/// Two cells of one channel: one with two clients, and one with one that is out of everybody's reach but its base station's.
const CELLS: &str = r#"duration = "10 s"
[topology]
nodes = [
  { name = "bs", position = ["0 m", "0 m"] },
  { name = "a", position = ["10 m", "0 m"], base = "bs" },
  { name = "b", position = ["0 m", "10 m"], base = "bs" },
  { name = "ap", position = ["200 m", "0 m"] },
  { name = "c", position = ["400 m", "0 m"], base = "ap" },
]
[routing]
metric = "hops"
[[flows]]
from = "a"
to = "c"
scheme = "udp"
"#;

fn config(text: &str) -> Config {
    resolve(text, "case.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}")).config
}

/// The message that this change of a sound scenario makes.
fn refused(sound: &str, from: &str, to: &str) -> String {
    assert!(sound.contains(from), "{from}");
    match resolve(&sound.replacen(from, to, 1), "case.toml", &Overrides::default()) {
        Ok(_) => panic!("{to} is taken"),
        Err(error) => error.to_string(),
    }
}

/// Each case: what is replaced, by what, and what the message has.
fn check(sound: &str, cases: &[(&str, &str, &[&str])]) {
    for (from, to, parts) in cases {
        let message = refused(sound, from, to);
        for part in *parts {
            assert!(message.contains(part), "{to}: {part:?} is not in {message:?}");
        }
    }
}

#[test]
fn clients_name_their_base_station() {
    let bases: Vec<Option<u32>> =
        config(CELLS).nodes.iter().map(|node| node.base.map(|base| base.0)).collect();
    assert_eq!(bases, [None, Some(0), Some(0), None, Some(3)]);
}

#[test]
fn broken_associations() {
    let broken: &[(&str, &str, &[&str])] = &[
        (
            "base = \"bs\" },\n  { name = \"b\"",
            "base = \"bbs\" },\n  { name = \"b\"",
            &["case.toml:5: topology.nodes[1].base", "\"bbs\" is not a node", "did you mean \"bs\"?"],
        ),
        ("base = \"ap\"", "base = \"c\"", &["topology.nodes[4].base", "\"c\" is the node itself"]),
        (
            "base = \"ap\"",
            "base = \"a\"",
            &["topology.nodes[4].base", "\"a\" is no base station: it is itself associated with \"bs\""],
        ),
        ("base = \"ap\"", "base = 3", &["topology.nodes[4].base", "text in quotes"]),
        (
            "metric = \"hops\"",
            "protocol = \"dsdv\"",
            &["routing.protocol", "\"dsdv\" has no say", "\"a\"", "remove protocol"],
        ),
        ("metric = \"hops\"", "protocol = \"dsr\"", &["routing.protocol", "\"dsr\" has no say"]),
        (
            "[routing]",
            "[mobility]\nmodel = \"random-waypoint\"\narea = [\"1 km\", \"1 km\"]\nmax_speed = \"1 m/s\"\n\
             pause = \"0 s\"\n[routing]",
            &["mobility", "\"a\" is associated with a base station"],
        ),
    ];
    check(CELLS, broken);
}

/// Others that hear it do not help a client whose base station is too far away.
#[test]
fn a_client_out_of_reach_of_its_base_station_has_no_path() {
    let message = refused(
        CELLS,
        "position = [\"400 m\", \"0 m\"], base = \"ap\"",
        "position = [\"400 m\", \"0 m\"], base = \"bs\"",
    );
    assert!(
        message.contains("no path") && message.contains("c is in a component of 1 node (c)"),
        "{message}"
    );
}

#[test]
fn associations_are_in_the_hash() {
    let hash = |text: &str| resolve(text, "case.toml", &Overrides::default()).unwrap().hash;
    assert_ne!(hash(CELLS), hash(&CELLS.replacen(", base = \"bs\"", "", 1)));
}
