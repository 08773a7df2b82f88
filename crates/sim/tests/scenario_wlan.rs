//! What scenarios say of infrastructure networks, and how they can be wrong.

use multihop_sim::config::Config;
use multihop_sim::scenario::{Overrides, Setting, resolve};

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

/// Three stations, and what is lost between some of them.
const LOSSY: &str = r#"duration = "10 s"
[medium]
model = "ranges"
errors = [
  { between = ["a", "b"], packet_error_rate = 0.1 },
  { between = ["c", "b"], packet_error_rate = 0.2, packet_error_rate_back = 0.0 },
]
[topology]
nodes = [
  { name = "a", position = ["0 m", "0 m"] },
  { name = "b", position = ["10 m", "0 m"] },
  { name = "c", position = ["0 m", "10 m"] },
]
[[topology.wires]]
between = ["a", "c"]
rate = "1 Mb/s"
delay = "1 ms"
[[flows]]
from = "a"
to = "b"
scheme = "udp"
"#;

/// Transmitter, receiver and error rate of each link that has one.
fn errors(text: &str) -> Vec<(u32, u32, f64)> {
    let errors = config(text).medium.link_errors;
    errors.iter().map(|error| (error.from.0, error.to.0, error.packet_error_rate)).collect()
}

#[test]
fn errors_are_of_both_directions_unless_told_otherwise() {
    let expected = [(0, 1, 0.1), (1, 0, 0.1), (2, 1, 0.2), (1, 2, 0.0)];
    assert_eq!(errors(LOSSY), expected);
    for medium in ["model = \"sinr\"", "model = \"matrix\"\nquantity = \"rssi\""] {
        let text = LOSSY.replacen("model = \"ranges\"", medium, 1);
        let links =
            "[[topology.links]]\nfrom = \"a\"\nto = \"b\"\nrssi = \"-50 dBm\"\nreverse_rssi = \"-50 dBm\"\n";
        let links = if medium.contains("matrix") { links } else { "" };
        assert_eq!(errors(&text.replacen("[[flows]]", &format!("{links}[[flows]]"), 1)), expected);
    }
}

#[test]
fn broken_errors_of_links() {
    let broken: &[(&str, &str, &[&str])] = &[
        (
            "[\"a\", \"b\"]",
            "[\"a\", \"x\"]",
            &["case.toml:5: medium.errors[0].between[1]", "\"x\" is not a node"],
        ),
        ("[\"a\", \"b\"]", "[\"b\", \"b\"]", &["medium.errors[0].between", "from \"b\" to itself"]),
        (
            "[\"a\", \"b\"]",
            "[\"b\", \"c\"]",
            &["case.toml:6: medium.errors[1].between", "medium.errors[0] already has"],
        ),
        ("[\"a\", \"b\"]", "[\"a\", \"c\"]", &["medium.errors[0].between", "joined by a wire"]),
        (
            "packet_error_rate = 0.1",
            "packet_error_rate = 1.1",
            &["medium.errors[0].packet_error_rate", "1.1 is out of range"],
        ),
        ("back = 0.0", "back = -1", &["medium.errors[1].packet_error_rate_back", "-1 is out of range"]),
        ("packet_error_rate = 0.1", "per = 0.1", &["medium.errors[0].per", "unknown key"]),
        (
            ", packet_error_rate = 0.1",
            "",
            &["medium.errors[0].packet_error_rate", "missing", "packet_error_rate = 0.1"],
        ),
        // Nothing comes through, neither directly nor by the third node.
        (
            "{ between = [\"a\", \"b\"], packet_error_rate = 0.1 },\n  { between = [\"c\", \"b\"], packet_error_rate = 0.2,",
            "{ between = [\"a\", \"b\"], packet_error_rate = 1 },\n  { between = [\"c\", \"b\"], packet_error_rate = 1,",
            &["flows[0]", "no path"],
        ),
    ];
    check(LOSSY, broken);
}

#[test]
fn errors_of_links_are_in_the_hash_and_can_be_set() {
    let hash = |value: &str| {
        let set = vec![Setting {
            path: "medium.errors[0].packet_error_rate".into(),
            value: format!("value = {value}"),
        }];
        resolve(LOSSY, "case.toml", &Overrides { set, ..Overrides::default() }).unwrap().hash
    };
    assert_ne!(hash("0.1"), hash("0.2"));
}
