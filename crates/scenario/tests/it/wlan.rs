//! Infrastructure networks in scenarios, and messages about broken ones.

use multihop_core::NodeId;
use multihop_scenario::{Overrides, Setting, resolve};
use multihop_sim::config::Config;

/// Two cells on one channel: one with two clients, and one whose only client reaches no node except its base
/// station.
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

/// The message after this change of a valid scenario.
fn refused(sound: &str, from: &str, to: &str) -> String {
    assert!(sound.contains(from), "{from}");
    match resolve(&sound.replacen(from, to, 1), "case.toml", &Overrides::default()) {
        Ok(_) => panic!("{to} is taken"),
        Err(error) => error.to_string(),
    }
}

/// Each case: old text, new text, and parts of the message.
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
        config(CELLS).topology.nodes.iter().map(|node| node.base.map(|base| base.0)).collect();
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
            &["topology.nodes[4].base", "\"a\" is not a base station: it is itself associated with \"bs\""],
        ),
        ("base = \"ap\"", "base = 3", &["topology.nodes[4].base", "text in quotes"]),
        (
            "base = \"ap\"",
            "base = \"ap\", data_rate = \"3 Mb/s\"",
            &["topology.nodes[4].data_rate", "\"3 Mb/s\" is not a rate of \"802.11b\"", "5.5 Mb/s"],
        ),
        (
            "base = \"ap\"",
            "data_rate = \"1 Mb/s\"",
            &["topology.nodes[4].data_rate", "\"1 Mb/s\" is the rate of the link to a base station"],
        ),
        (
            "metric = \"hops\"",
            "protocol = \"dsdv\"",
            &[
                "routing.protocol",
                "\"dsdv\" does not support associated stations",
                "\"a\"",
                "remove protocol",
            ],
        ),
        (
            "metric = \"hops\"",
            "protocol = \"dsr\"",
            &["routing.protocol", "\"dsr\" does not support associated stations"],
        ),
        (
            "[routing]",
            "[mobility]\nmodel = \"random-waypoint\"\narea = [\"1 km\", \"1 km\"]\nmax_speed = \"1 m/s\"\n\
             pause = \"0 s\"\n[routing]",
            &["mobility", "associated stations, such as \"a\""],
        ),
    ];
    check(CELLS, broken);
}

/// A client whose base station is too far away has no path, even if other nodes receive it.
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

/// Three stations with losses on some links.
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
fn error_rates_apply_to_both_directions_unless_set_otherwise() {
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
        // No frame arrives, neither directly nor through the third node.
        (
            "{ between = [\"a\", \"b\"], packet_error_rate = 0.1 },\n  { between = [\"c\", \"b\"], packet_error_rate = 0.2,",
            "{ between = [\"a\", \"b\"], packet_error_rate = 1 },\n  { between = [\"c\", \"b\"], packet_error_rate = 1,",
            &["flows[0]", "no path", "only because of medium.errors[0].packet_error_rate"],
        ),
        (
            "packet_error_rate = 0.1",
            "packet_error_rate = 0, ack_error_rate = 1.5",
            &["medium.errors[0].ack_error_rate", "1.5 is out of range"],
        ),
    ];
    check(LOSSY, broken);
    let pair: &[(&str, &str, &[&str])] = &[
        (
            "packet_error_rate = 0.1",
            "packet_error_rate = 0.1, packet_error_rate_back = 1.0",
            &["no path", "only because of medium.errors[0].packet_error_rate_back", "1 % of its DATA frames"],
        ),
        (
            "packet_error_rate = 0.1",
            "packet_error_rate = 0, ack_error_rate_back = 1.0",
            &["no path", "only because of medium.errors[0].ack_error_rate_back", "1 % of its DATA frames"],
        ),
        (
            "packet_error_rate = 0.1",
            "packet_error_rate = 0.995",
            &["no path", "only because of medium.errors[0].packet_error_rate", "1 % of its DATA frames"],
        ),
        (
            "errors = [\n  { between = [\"a\", \"b\"], packet_error_rate = 0.1 },\n]",
            "packet_error_rate = 1.0",
            &["no path", "only because of medium.packet_error_rate; lower medium.packet_error_rate"],
        ),
        (
            "packet_error_rate = 0.1 },\n]",
            "packet_error_rate = 0.1 },\n]\nreceive_range = \"5 m\"",
            &["no path", "closer nodes, more range"],
        ),
    ];
    check(PAIR, pair);
}

/// Two stations and a lossy link.
const PAIR: &str = r#"duration = "10 s"
[medium]
model = "ranges"
errors = [
  { between = ["a", "b"], packet_error_rate = 0.1 },
]
[topology]
nodes = [
  { name = "a", position = ["0 m", "0 m"] },
  { name = "b", position = ["10 m", "0 m"] },
]
[[flows]]
from = "a"
to = "b"
scheme = "udp"
"#;

#[test]
fn acknowledgements_are_lost_in_both_directions_unless_configured_otherwise() {
    let acks = |text: &str| {
        let errors = config(&PAIR.replacen("packet_error_rate = 0.1", text, 1)).medium.link_errors;
        errors.iter().map(|error| (error.from.0, error.to.0, error.ack_error_rate)).collect::<Vec<_>>()
    };
    assert_eq!(acks("packet_error_rate = 0.1"), [(0, 1, 0.0), (1, 0, 0.0)]);
    assert_eq!(acks("packet_error_rate = 0, ack_error_rate = 0.2"), [(0, 1, 0.2), (1, 0, 0.2)]);
    assert_eq!(acks("packet_error_rate = 0, ack_error_rate_back = 0.2"), [(0, 1, 0.0), (1, 0, 0.2)]);
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

/// A generated network with a server, and flows that start one after another.
const GENERATED: &str = r#"duration = "100 s"
[topology]
generator = "wlan"
clients = 4
radius = "20 m"
direction = "both"
server = { rate = "100 Mb/s", delay = "5 ms", queue = 64 }
[routing]
metric = "hops"
[traffic]
pattern = "canonical"
scheme = "udp"
start = "2 s"
start_interval = "10 s"
stop = "90 s"
"#;

/// Source, destination and start in milliseconds of each flow.
fn flows(config: &Config) -> Vec<(u32, u32, u64)> {
    let flows = config.traffic.flows.iter();
    flows.map(|flow| (flow.source.0, flow.destination.0, flow.start.ns() / 1_000_000)).collect()
}

#[test]
fn a_generated_wlan_is_a_base_station_with_clients_around_it() {
    let defaults = "duration = \"10 s\"\n[topology]\ngenerator = \"wlan\"\n[traffic]\npattern = \"canonical\"\nscheme = \"udp\"";
    let plain = config(defaults);
    assert_eq!((plain.topology.nodes.len(), plain.topology.wires.len()), (6, 0));
    assert_eq!((plain.topology.nodes[0].base, plain.topology.nodes[0].position), (None, Some([0.0, 0.0])));
    for client in &plain.topology.nodes[1..] {
        let [x, y] = client.position.unwrap();
        assert_eq!(client.base, Some(NodeId(0)));
        assert!((x.hypot(y) - 10.0).abs() < 1e-5, "{client:?}");
    }
    assert_eq!(flows(&plain), [1, 2, 3, 4, 5].map(|client| (0, client, 0)));
    let upwards = config(&defaults.replacen("[traffic]", "direction = \"up\"\n[traffic]", 1));
    assert_eq!(flows(&upwards), [1, 2, 3, 4, 5].map(|client| (client, 0, 0)));
}

/// Flow `i` starts `i` intervals after the first. The server's packets are relayed by the base station.
#[test]
fn a_server_is_wired_to_the_base_station_and_flows_start_one_after_another() {
    let both = config(GENERATED);
    let expected = [(5, 1), (1, 5), (5, 2), (2, 5), (5, 3), (3, 5), (5, 4), (4, 5)];
    let expected = expected.into_iter().zip(0..).map(|((from, to), i)| (from, to, 2_000 + 10_000 * i));
    assert_eq!(flows(&both), expected.collect::<Vec<_>>());
    assert_eq!((both.topology.nodes[5].base, both.topology.nodes[5].position), (None, None));
    let wires = both.topology.wires.iter();
    let wires: Vec<_> =
        wires.map(|wire| (wire.from.0, wire.to.0, wire.rate.mbps(), wire.queue_limit)).collect();
    assert_eq!(wires, [(0, 5, 100.0, 64), (5, 0, 100.0, 64)]);
    let outcome = multihop_sim::run(&both);
    assert!(
        outcome.flows.iter().all(|flow| flow.hops == 2 && flow.delivered_bytes > 0),
        "{:?}",
        outcome.flows
    );
}

#[test]
fn broken_wlans() {
    let broken: &[(&str, &str, &[&str])] = &[
        ("clients = 4", "clients = 0", &["topology.clients", "0 is out of range"]),
        ("clients = 4", "clients = 100000", &["topology.clients", "from 1 to 99998"]),
        ("clients = 4", "client = 4", &["topology.client", "did you mean \"clients\"?"]),
        ("\"20 m\"", "\"0 m\"", &["topology.radius", "\"0 m\" is out of range"]),
        ("\"20 m\"", "\"300 m\"", &["traffic", "no path", "n1 is in a component of 1 node"]),
        ("clients = 4", "clients = 4\nrates = []", &["topology.rates", "[] is an empty list"]),
        (
            "clients = 4",
            "clients = 4\nrates = [\"1 Mb/s\", \"54 Mb/s\"]",
            &["topology.rates[1]", "\"54 Mb/s\" is not a rate of \"802.11b\""],
        ),
        ("\"both\"", "\"sideways\"", &["topology.direction", "down, up, both"]),
        ("rate = \"100 Mb/s\"", "rate = \"0 b/s\"", &["topology.server.rate", "\"0 b/s\" is out of range"]),
        ("delay = \"5 ms\"", "delay = \"-1 ms\"", &["topology.server.delay", "\"-1 ms\" is out of range"]),
        ("delay = \"5 ms\", ", "", &["topology.server.delay", "missing", "10 ms"]),
        ("queue = 64", "queue = 0", &["topology.server.queue", "0 is out of range"]),
        ("metric = \"hops\"", "protocol = \"dsr\"", &["routing.protocol", "\"dsr\""]),
        (
            "start_interval = \"10 s\"",
            "start_interval = \"14 s\"",
            &["traffic.start_interval", "makes the last flow start after the end of the run of 100 s"],
        ),
        (
            "start_interval = \"10 s\"",
            "start_interval = \"1e9 s\"",
            &["traffic.start_interval", "after the end of the run"],
        ),
        (
            "start_interval = \"10 s\"",
            "start_interval = \"-1 s\"",
            &["traffic.start_interval", "\"-1 s\" is out of range"],
        ),
        ("stop = \"90 s\"", "stop = \"71 s\"", &["traffic.stop", "72 s at the latest"]),
        (
            "[routing]",
            "[medium]\nmodel = \"matrix\"\nquantity = \"delivery\"\n[routing]",
            &["topology.generator", "measured links"],
        ),
    ];
    check(GENERATED, broken);
}

#[test]
fn links_of_clients_have_rates_of_their_own() {
    let rates = |text: &str| -> Vec<Option<f64>> {
        let config = config(text);
        let bits = |rate| config.phy.bit_rate(rate).unwrap().mbps();
        config.topology.nodes.iter().map(|node| node.data_rate.map(bits)).collect()
    };
    let listed = CELLS.replacen("base = \"ap\"", "base = \"ap\", data_rate = \"1 Mb/s\"", 1);
    assert_eq!(rates(&listed), [None, None, None, None, Some(1.0)]);
    let generated =
        GENERATED.replacen("clients = 4", "clients = 4\nrates = [\"11 Mb/s\", \"2 Mb/s\", \"1 Mb/s\"]", 1);
    assert_eq!(rates(&generated), [None, Some(11.0), Some(2.0), Some(1.0), Some(11.0), None]);
    let hash = |text: &str| resolve(text, "case.toml", &Overrides::default()).unwrap().hash;
    assert_ne!(hash(&generated), hash(GENERATED));
}

/// The best connected node is found from the links of all its radios.
#[test]
fn a_gateway_may_have_several_radios() {
    let text = r#"duration = "10 s"
[phy]
standard = "802.11a"
[topology]
generator = "chain"
hops = 4
spacing = "40 m"
channels = [36, 149]
[medium]
model = "ranges"
receive_range = "50 m"
carrier_sense_range = "90 m"
[traffic]
pattern = "gateway"
clients = 3
scheme = "udp"
"#;
    let gateways: Vec<NodeId> = config(text).traffic.flows.iter().map(|flow| flow.source).collect();
    assert_eq!(gateways.len(), 3);
    // The first of the nodes with links to both sides.
    assert!(gateways.iter().all(|gateway| *gateway == NodeId(1)), "{gateways:?}");
}
