//! Multicast flows in scenarios: names of receivers, and refused combinations.

use multihop_core::{DropCause, FlowId, NodeId};
use multihop_scenario::{Overrides, Resolved, resolve};
use multihop_sim::config::Config;
use multihop_sim::outcome::Outcome;

/// A base station with three nodes around it. The node "far" receives nothing.
const CELL: &str = r#"duration = "2 s"
[topology]
nodes = [
  { name = "ap", position = ["0 m", "0 m"] },
  { name = "tv 1", position = ["20 m", "0 m"] },
  { name = "tv 2", position = ["0 m", "20 m"] },
  { name = "far", position = ["9 km", "0 m"] },
]
[[flows]]
from = "ap"
to = ["tv 1", "tv 2", "far"]
scheme = "udp"
app = { kind = "cbr", rate = "400 kb/s", packet = "500 B" }
"#;

fn resolved(text: &str) -> Resolved {
    resolve(text, "case.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn changed(from: &str, to: &str) -> String {
    assert!(CELL.contains(from), "{from}");
    CELL.replacen(from, to, 1)
}

fn refused(text: &str) -> String {
    match resolve(text, "case.toml", &Overrides::default()) {
        Ok(_) => panic!("it is taken: {text}"),
        Err(error) => error.to_string(),
    }
}

fn ends(config: &Config) -> Vec<(&str, u32, u32, Option<FlowId>)> {
    config
        .traffic
        .flows
        .iter()
        .map(|flow| (flow.name.as_str(), flow.source.0, flow.destination.0, flow.group))
        .collect()
}

fn lost(outcome: &Outcome, flow: usize) -> u64 {
    outcome.flows[flow].dropped[DropCause::Multicast as usize]
}

#[test]
fn a_list_makes_a_flow_for_each_receiver() {
    let first = Some(FlowId(0));
    let expected = [("ap->tv 1", 0, 1, first), ("ap->tv 2", 0, 2, first), ("ap->far", 0, 3, first)];
    assert_eq!(ends(&resolved(CELL).config), expected);
    let named = changed("from = \"ap\"", "name = \"news\"\nfrom = \"ap\"");
    let names: Vec<String> =
        resolved(&named).config.traffic.flows.into_iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["news->tv 1", "news->tv 2", "news->far"]);
}

#[test]
fn a_star_matches_every_name_except_the_senders() {
    let list = "[\"tv 1\", \"tv 2\", \"far\"]";
    let receivers = |to: &str| -> Vec<u32> {
        resolved(&changed(list, to)).config.traffic.flows.iter().map(|flow| flow.destination.0).collect()
    };
    assert_eq!(receivers("[\"*\"]"), [1, 2, 3]);
    assert_eq!(receivers("[\"far\", \"tv*\"]"), [3, 1, 2]);
    assert_eq!(receivers("[\"tv 2\"]"), [2]);
}

/// A list with one name is a multicast flow. A plain name is a unicast flow, whose results do not change.
#[test]
fn a_name_alone_is_a_unicast_flow() {
    let list = "[\"tv 1\", \"tv 2\", \"far\"]";
    let (group, one) = (resolved(&changed(list, "[\"tv 1\"]")), resolved(&changed(list, "\"tv 1\"")));
    assert_eq!(
        (group.config.traffic.flows[0].group, one.config.traffic.flows[0].group),
        (Some(FlowId(0)), None)
    );
    assert_ne!(group.hash, one.hash);
    let sends = |config: &Config| multihop_sim::run(config).links.len();
    assert_eq!((sends(&group.config), sends(&one.config)), (0, 1));
}

#[test]
fn each_receiver_has_its_own_counters() {
    let outcome = multihop_sim::run(&resolved(CELL).config);
    let delivered: Vec<u64> = outcome.flows.iter().map(|flow| flow.packets_delivered).collect();
    assert_eq!(delivered, [200, 200, 0]);
    assert_eq!([0, 1, 2].map(|flow| lost(&outcome, flow)), [0, 0, 200]);
}

#[test]
fn flows_of_a_group_start_together() {
    let config = resolved(&changed("scheme = \"udp\"", "scheme = \"udp\"\nstart_jitter = \"1 s\"")).config;
    let flows = &config.traffic.flows;
    assert!(flows.iter().all(|flow| flow.start == flows[0].start && flow.start.ns() > 0));
}

#[test]
fn impossible_multicast_flows_are_refused() {
    let list = "[\"tv 1\", \"tv 2\", \"far\"]";
    let cases = [
        (list, "[]", ["flows[0].to", "names no receiver"]),
        (list, "[\"tv 1\", \"tv*\"]", ["flows[0].to[1]", "listed twice"]),
        (list, "[\"tv 1\", \"ap\"]", ["flows[0].to[1]", "to itself"]),
        (list, "[\"tv 9\"]", ["flows[0].to[0]", "tv 1"]),
        (list, "[\"radio*\"]", ["flows[0].to[0]", "matches no node"]),
        (list, "[1]", ["flows[0].to[0]", "text"]),
        (list, "7", ["flows[0].to", "a list of names"]),
        ("\"udp\"", "\"tcp-newreno\"", ["flows[0].to", "waits for acknowledgements"]),
        ("\"udp\"", "\"tfrc\"", ["flows[0].to", "waits for acknowledgements"]),
        (
            "{ kind = \"cbr\", rate = \"400 kb/s\", packet = \"500 B\" }",
            "{ kind = \"external\" }",
            ["flows[0].to", "injected packets have one receiver"],
        ),
    ];
    for (from, to, parts) in cases {
        let message = refused(&changed(from, to));
        assert!(parts.iter().all(|part| message.contains(part)) && message.contains("; "), "{to}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

/// The scheme of the command line replaces that of unicast flows; a multicast flow takes it only if its
/// packets are not acknowledged.
#[test]
fn a_multicast_flow_keeps_its_scheme_if_the_other_is_acknowledged() {
    let text = format!("{CELL}[[flows]]\nfrom = \"tv 1\"\nto = \"tv 2\"\nscheme = \"tcp-sack\"\n");
    let overrides = Overrides { scheme: Some("tcp-newreno".into()), ..Overrides::default() };
    let config = resolve(&text, "case.toml", &overrides).unwrap().config;
    let names: Vec<&str> =
        config.traffic.flows.iter().map(|flow| config.traffic.schemes[flow.scheme].name.as_str()).collect();
    assert_eq!(names, ["udp", "udp", "udp", "tcp-newreno"]);
    let bare = resolve(&changed("scheme = \"udp\"\n", ""), "case.toml", &overrides);
    assert!(bare.err().unwrap().to_string().contains("waits for acknowledgements"));
}

/// A server without a radio sends by wire to the base station, which sends to the group.
#[test]
fn a_server_on_a_wire_sends_through_the_base_station() {
    let text = r#"duration = "1 s"
[topology]
generator = "wlan"
clients = 3
server = { rate = "10 Mb/s", delay = "5 ms" }
[[flows]]
from = "n4"
to = ["n1", "n2", "n3", "n0"]
scheme = "udp"
app = { kind = "cbr", rate = "400 kb/s", packet = "500 B" }
stop = "900 ms"
"#;
    let config = resolved(text).config;
    assert_eq!(config.multicast_relay(NodeId(4)), Some(NodeId(0)));
    let outcome = multihop_sim::run(&config);
    for (flow, hops) in outcome.flows.iter().zip([2, 2, 2, 1]) {
        assert_eq!((flow.packets_delivered, flow.packets_sent, flow.hops), (90, 90, hops));
    }
    assert_eq!(outcome.links.len(), 0, "no unicast frame is sent");
    let gap = outcome.flows[0].delay.mean - outcome.flows[3].delay.mean;
    assert!(gap > 2e-3 && gap < 8e-3, "one frame at a basic rate behind the wire: {gap} s");
}

/// Group-addressed frames are single frames at a basic rate, also with A-MPDUs, rate control, hardware queues
/// and access categories.
#[test]
fn modern_stations_send_single_frames_at_a_basic_rate() {
    for (standard, mac) in [
        ("802.11n", ""),
        (
            "802.11ac",
            "[mac]\ndiscipline = \"stations\"\n[mac.hardware_queue]\naggregates = 2\n[mac.rate_control]\nalgorithm = \"minstrel-ht\"\n",
        ),
        ("802.11ax", "[mac.edca]\n"),
    ] {
        let phy = format!("duration = \"2 s\"\n[phy]\nstandard = \"{standard}\"\n{mac}");
        let text = CELL.replacen("duration = \"2 s\"\n", &phy, 1)
            + "[[flows]]\nfrom = \"ap\"\nto = \"tv 1\"\nscheme = \"udp\"\n";
        let config = resolved(&text).config;
        let outcome = multihop_sim::run(&config);
        let [one, other, far, unicast] = &outcome.flows[..] else { panic!("{:?}", outcome.flows) };
        assert!(unicast.packets_delivered > 1_000, "{standard}");
        assert!(
            one.packets_delivered > 100 && one.packets_delivered == other.packets_delivered,
            "{standard}"
        );
        assert_eq!(far.packets_delivered, 0, "{standard}");
        // A unicast packet is sent at the DATA rate, a multicast packet at a basic rate.
        let air =
            |flow: &multihop_sim::outcome::FlowOutcome| flow.payload_airtime / flow.delivered_bytes as f64;
        assert!(air(one) > 2.0 * air(unicast), "{standard}: {} and {}", air(one), air(unicast));
        let [link] = &outcome.links[..] else { panic!("{standard}: {:?}", outcome.links) };
        assert!(link.mpdus > 2 * link.ppdus, "{standard}: unicast packets are aggregated");
    }
}

/// Each radio of a node has a channel. Multicast packets are sent on the channel of the sender's first radio.
#[test]
fn receivers_listen_with_the_radio_that_is_on_the_channel() {
    let text = r#"duration = "1 s"
[phy]
standard = "802.11a"
[topology]
nodes = [
  { name = "a", position = ["0 m", "0 m"], radios = [{ channel = 36 }, { channel = 44 }] },
  { name = "b", position = ["20 m", "0 m"], radios = [{ channel = 44 }, { channel = 36 }] },
  { name = "c", position = ["0 m", "20 m"], channel = 44 },
]
[[flows]]
from = "a"
to = ["b", "c"]
scheme = "udp"
app = { kind = "cbr", rate = "400 kb/s", packet = "500 B" }
stop = "900 ms"
"#;
    let outcome = multihop_sim::run(&resolved(text).config);
    let delivered: Vec<u64> = outcome.flows.iter().map(|flow| flow.packets_delivered).collect();
    assert_eq!((delivered, lost(&outcome, 1)), (vec![90, 0], 90));
}
