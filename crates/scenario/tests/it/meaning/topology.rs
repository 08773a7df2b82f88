//! Generators of topologies, wires, and generated traffic.

use super::{CANONICAL, config, hash, of};
use multihop_scenario::{Overrides, resolve};
use multihop_sim::config::{AppConfig, Config, WireConfig};

fn positions(config: &Config) -> Vec<[f64; 2]> {
    config.topology.nodes.iter().map(|node| node.position.unwrap()).collect()
}

fn pairs(config: &Config) -> Vec<(u32, u32)> {
    config.traffic.flows.iter().map(|flow| (flow.source.0, flow.destination.0)).collect()
}

#[test]
fn chains_are_straight() {
    let chain = of("generator = \"chain\"\nhops = 3\nspacing = \"150 m\"", CANONICAL);
    assert_eq!(positions(&chain), [[0.0, 0.0], [150.0, 0.0], [300.0, 0.0], [450.0, 0.0]]);
    assert_eq!(pairs(&chain), [(0, 3)]);
    assert_eq!(chain.topology.nodes[3].name, "n3");
    assert_eq!(chain.traffic.flows[0].name, "n0->n3");
}

/// A flow to `last` ends at the last node of any chain, and has the hash of a flow that names that node.
#[test]
fn first_and_last_are_the_ends_of_the_list_of_nodes() {
    let text = |topology: &str, from: &str, to: &str| {
        let flow = format!("[[flows]]\nfrom = \"{from}\"\nto = \"{to}\"\nscheme = \"udp\"\n");
        format!("duration = \"10 s\"\n[topology]\n{topology}\n{flow}")
    };
    for hops in [2, 5] {
        let chain = format!("generator = \"chain\"\nhops = {hops}");
        assert_eq!(pairs(&config(&text(&chain, "first", "last"))), [(0, hops)]);
        let named = format!("n{hops}");
        assert_eq!(hash(&text(&chain, "n0", "last")), hash(&text(&chain, "n0", &named)));
    }
    let place = |(name, x)| format!("{{ name = \"{name}\", position = [\"{x} m\", \"0 m\"] }}");
    let places = [("last", 0), ("b", 9)].map(place);
    let listed = format!("nodes = [{}]", places.join(", "));
    assert_eq!(pairs(&config(&text(&listed, "b", "last"))), [(1, 0)]);
}

#[test]
fn parking_lots_have_a_flow_per_hop_and_one_over_all() {
    let lot = of("generator = \"parking-lot\"\nhops = 3", CANONICAL);
    assert_eq!(lot.topology.nodes.len(), 4);
    assert_eq!(pairs(&lot), [(0, 3), (0, 1), (1, 2), (2, 3)]);
}

/// Ends, rate in Mb/s, delay in ms and queue of each direction of the wires.
fn wires(config: &Config) -> Vec<(u32, u32, f64, f64, usize)> {
    let of = |wire: &WireConfig| {
        (wire.from.0, wire.to.0, wire.rate.mbps(), wire.delay.seconds() * 1e3, wire.queue_limit)
    };
    config.topology.wires.iter().map(of).collect()
}

#[test]
fn dumbbells_are_two_routers_between_senders_and_receivers() {
    let text = "generator = \"dumbbell\"\npairs = 2\nrate = \"10 Mb/s\"\ndelay = \"10 ms\"\nqueue = 20\n\
                access_rates = [\"50 Mb/s\", \"100 Mb/s\"]\naccess_delays = [\"5 ms\"]";
    let dumbbell = of(text, CANONICAL);
    assert_eq!(pairs(&dumbbell), [(0, 4), (1, 5)]);
    assert!(
        dumbbell.topology.nodes.len() == 6
            && dumbbell.topology.nodes.iter().all(|node| node.position.is_none())
    );
    let both = |a, b, rate, delay, queue| [(a, b, rate, delay, queue), (b, a, rate, delay, queue)];
    let expected = [
        both(2, 3, 10.0, 10.0, 20),
        both(0, 2, 50.0, 5.0, 1000),
        both(3, 4, 50.0, 5.0, 1000),
        both(1, 2, 100.0, 5.0, 1000),
        both(3, 5, 100.0, 5.0, 1000),
    ];
    assert_eq!(wires(&dumbbell), expected.concat());
}

#[test]
fn wires_are_the_same_both_ways_unless_set_otherwise() {
    let listed = "nodes = [{ name = \"a\" }, { name = \"b\" }, { name = \"c\" }]\n\
                  [[topology.wires]]\nbetween = [\"c\", \"a\"]\nrate = \"1 Mb/s\"\ndelay = \"2 ms\"\nqueue = 3\n\
                  [[topology.wires]]\nbetween = [\"b\", \"c\"]\nrate = \"8 Mb/s\"\ndelay = \"0 s\"\n\
                  rate_back = \"0.5 Mb/s\"\ndelay_back = \"7 ms\"";
    let config = of(listed, "pattern = \"random-pairs\"\nflows = 2\nmin_hops = 2");
    let expected = [(2, 0, 1.0, 2.0, 3), (0, 2, 1.0, 2.0, 3), (1, 2, 8.0, 0.0, 50), (2, 1, 0.5, 7.0, 50)];
    assert_eq!(wires(&config), expected);
    let mut found = pairs(&config);
    found.sort_unstable();
    assert_eq!(found, [(0, 1), (1, 0)], "only these are two hops apart");
}

#[test]
fn losses_apply_to_the_wire_that_states_them() {
    let losses = |config: &Config| config.topology.wires.iter().map(|wire| wire.loss).collect::<Vec<_>>();
    let dumbbell = "generator = \"dumbbell\"\npairs = 1\nrate = \"10 Mb/s\"\ndelay = \"10 ms\"\nloss = 0.01";
    assert_eq!(losses(&of(dumbbell, CANONICAL)), [0.01, 0.01, 0.0, 0.0, 0.0, 0.0]);
    let back = format!("{dumbbell}\nloss_back = 0");
    assert_eq!(losses(&of(&back, CANONICAL)), [0.01, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let listed = "nodes = [{ name = \"a\" }, { name = \"b\" }]\n[[topology.wires]]\nbetween = [\"a\", \"b\"]\n\
                  rate = \"1 Mb/s\"\ndelay = \"2 ms\"\nloss_back = 0.5";
    assert_eq!(losses(&of(listed, "pattern = \"random-pairs\"\nflows = 1")), [0.0, 0.5]);
    let server =
        "generator = \"wlan\"\nclients = 1\nserver = { rate = \"1 Mb/s\", delay = \"1 ms\", loss = 0.2 }";
    assert_eq!(losses(&of(server, CANONICAL)), [0.2, 0.2]);
}

#[test]
fn each_value_of_a_wire_is_in_the_hash() {
    let text = |wires: &str| {
        format!(
            "duration = \"10 s\"\n[topology]\nnodes = [{{ name = \"a\", position = [\"0 m\", \"0 m\"] }}, \
             {{ name = \"b\", position = [\"9 m\", \"0 m\"] }}]\n{wires}\n[[flows]]\nfrom = \"a\"\nto = \"b\"\nscheme = \"udp\"\n"
        )
    };
    let wire =
        "[[topology.wires]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mb/s\"\ndelay = \"1 ms\"\nqueue = 5\n";
    let hashes = [
        "",
        wire,
        &wire.replace('5', "6"),
        &wire.replace("1 ms", "2 ms"),
        &wire.replace("1 Mb", "2 Mb"),
        &wire.replace("queue = 5", "queue = 5\nloss = 0.1"),
        &wire.replace("queue = 5", "queue = 5\nloss = 0.1\nloss_back = 0"),
    ]
    .map(|wires| hash(&text(wires)));
    let different: std::collections::BTreeSet<&String> = hashes.iter().collect();
    assert_eq!(different.len(), hashes.len());
    assert_eq!(hash(&text(&wire.replace("1 ms", "1000 us"))), hashes[1]);
}

#[test]
fn exposed_senders_are_in_the_middle() {
    let exposed = of("generator = \"exposed-terminal\"", CANONICAL);
    assert_eq!(positions(&exposed), [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [600.0, 0.0]]);
    assert_eq!(pairs(&exposed), [(1, 0), (2, 3)]);
}

#[test]
fn bars_are_rows_of_links() {
    let bar = of("generator = \"bar\"\nlength = \"100 m\"", CANONICAL);
    assert_eq!(
        positions(&bar),
        [[0.0, 0.0], [100.0, 0.0], [0.0, 200.0], [100.0, 200.0], [0.0, 400.0], [100.0, 400.0]]
    );
    assert_eq!(pairs(&bar), [(0, 1), (2, 3), (4, 5)]);
}

#[test]
fn grids_go_row_by_row_and_jitter_stays_within_its_bounds() {
    let traffic = "pattern = \"all-to-one\"\ngateway = \"n0\"";
    let grid = of("generator = \"grid\"\ncolumns = 3\nrows = 2\nspacing = \"100 m\"", traffic);
    assert_eq!(positions(&grid)[3..], [[0.0, 100.0], [100.0, 100.0], [200.0, 100.0]]);
    let jittered = |seed| {
        let topology = format!(
            "generator = \"grid\"\ncolumns = 3\nrows = 2\nspacing = \"100 m\"\njitter = \"20 m\"\nseed = {seed}"
        );
        positions(&of(&topology, traffic))
    };
    assert_ne!(jittered(1), jittered(2));
    assert_eq!(jittered(1), jittered(1));
    for (moved, place) in jittered(1).iter().zip(positions(&grid)) {
        let by = [moved[0] - place[0], moved[1] - place[1]];
        assert!(by.iter().all(|by| by.abs() <= 20.0) && by != [0.0, 0.0], "{by:?}");
    }
}

#[test]
fn stars_and_crosses_meet_in_their_centre() {
    let star = of("generator = \"star\"\narms = 4\narm_hops = 2\nspacing = \"100 m\"", CANONICAL);
    assert_eq!(positions(&star)[..5], [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [0.0, 100.0], [0.0, 200.0]]);
    assert_eq!(pairs(&star), [(2, 0), (4, 0), (6, 0), (8, 0)]);
    let cross = of("generator = \"cross\"\narm_hops = 1\nspacing = \"100 m\"", CANONICAL);
    assert_eq!(positions(&cross), [[-100.0, 0.0], [0.0, 0.0], [100.0, 0.0], [0.0, -100.0], [0.0, 100.0]]);
    assert_eq!(pairs(&cross), [(0, 2), (3, 4)]);
}

#[test]
fn circles_surround_their_sink() {
    let circle = of("generator = \"circle\"\nstations = 5\nradius = \"10 m\"", CANONICAL);
    let places = positions(&circle);
    assert_eq!((places.len(), places[0]), (6, [0.0, 0.0]));
    assert!(places[1..].iter().all(|[x, y]| (x.hypot(*y) - 10.0).abs() < 1e-5));
    assert_eq!(pairs(&circle), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]);
}

#[test]
fn random_networks_are_connected_and_depend_on_their_own_seed_only() {
    let places = |own: u32, run: u32| {
        let text = format!(
            "seed = {run}\nduration = \"1 s\"\n[topology]\ngenerator = \"random-geometric\"\nnodes = 30\nside = \"900 m\"\nseed = {own}\n\
             [traffic]\npattern = \"all-to-one\"\ngateway = \"n0\"\nscheme = \"udp\"\n" // refused, were it not connected
        );
        positions(&config(&text))
    };
    assert_eq!(places(1, 1), places(1, 2));
    assert_ne!(places(1, 1), places(2, 1));
    assert!(places(1, 1).iter().flatten().all(|length| (0.0..900.0).contains(length)));
    let sparse =
        "duration = \"1 s\"\n[topology]\ngenerator = \"random-geometric\"\nnodes = 20\nside = \"90 km\"\n";
    let error = resolve(sparse, "case.toml", &Overrides::default()).err().unwrap().to_string();
    assert!(error.starts_with("case.toml:4: topology.nodes: none of 1000 random placements"), "{error}");
}

#[test]
fn random_pairs_differ_are_connected_and_stay_the_same_over_the_seeds_of_runs() {
    let text = |run: u32, own: u32, min_hops: u32| {
        format!(
            "seed = {run}\nduration = \"1 s\"\n[topology]\ngenerator = \"chain\"\nhops = 9\n[traffic]\n\
             pattern = \"random-pairs\"\nflows = 12\npairs_seed = {own}\nmin_hops = {min_hops}\nscheme = \"udp\"\n"
        )
    };
    let chosen = |run, own, min_hops| pairs(&config(&text(run, own, min_hops)));
    let mut different = chosen(1, 1, 1);
    assert_eq!(different, chosen(2, 1, 1));
    assert_ne!(different, chosen(1, 2, 1));
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 12);
    assert!(chosen(1, 1, 7).iter().all(|(from, to)| from.abs_diff(*to) >= 7));
    let all = 2 * (1 + 2 + 3); // ordered pairs of ten nodes in a line that are at least 7 hops apart
    assert_eq!(pairs(&config(&text(1, 1, 7))).len(), all);
    let names: Vec<String> = config(&text(1, 1, 1)).traffic.flows.into_iter().map(|flow| flow.name).collect();
    assert!(names.iter().enumerate().all(|(i, name)| !names[..i].contains(name)));
}

#[test]
fn gateways_receive_from_distinct_nodes_that_reach_them() {
    let chain = "generator = \"chain\"\nhops = 6";
    let some = pairs(&of(chain, "pattern = \"to-gateway\"\ngateway = \"n2\"\nflows = 3\nmin_hops = 2"));
    assert_eq!(some.len(), 3);
    assert!(some.iter().all(|(from, to)| *to == 2 && from.abs_diff(2) >= 2));
    let all = pairs(&of(chain, "pattern = \"to-gateway\"\ngateway = \"n2\""));
    assert_eq!(all, pairs(&of(chain, "pattern = \"all-to-one\"\ngateway = \"n2\"")));
    assert_eq!(all.len(), 6);
}

/// Links of a line of seven nodes, with a branch from the second node to one more node.
const LINE: &str = "nodes = [{ name = \"n0\" }, { name = \"n1\" }, { name = \"n2\" }, { name = \"n3\" }, { name = \"n4\" }, \
    { name = \"n5\" }, { name = \"n6\" }, { name = \"b\" }]\n\
    links = [{ from = \"n0\", to = \"n1\", delivery = 1, reverse = 1 }, { from = \"n1\", to = \"n2\", delivery = 1, reverse = 1 }, \
    { from = \"n2\", to = \"n3\", delivery = 1, reverse = 1 }, { from = \"n3\", to = \"n4\", delivery = 1, reverse = 1 }, \
    { from = \"n4\", to = \"n5\", delivery = 1, reverse = 1 }, { from = \"n5\", to = \"n6\", delivery = 1, reverse = 1 }, \
    { from = \"n1\", to = \"b\", delivery = 1, reverse = 1 }]\n[medium]\nmodel = \"matrix\"\nquantity = \"delivery\"";

#[test]
fn clients_exchange_with_the_nearest_gateway() {
    let traffic = |more: &str| pairs(&of(LINE, &format!("pattern = \"gateway\"\n{more}")));
    // The node with the most links is n1; all other nodes are its clients.
    let all = traffic("");
    assert_eq!(all, [(1, 0), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7)]);
    let two = "gateways = [\"n6\", \"n0\"]\n";
    assert_eq!(traffic(two), [(0, 1), (0, 2), (6, 3), (6, 4), (6, 5), (0, 7)]);
    assert_eq!(
        traffic(&format!("{two}direction = \"uploads\"\nmin_hops = 2")),
        [(2, 0), (3, 6), (4, 6), (7, 0)]
    );
    let both = traffic(&format!("{two}direction = \"both\"\nclients = 2"));
    assert!(both.len() == 4 && both[0] == (both[1].1, both[1].0) && both[2] == (both[3].1, both[3].0));
    assert_ne!(both, traffic(&format!("{two}direction = \"both\"\nclients = 2\npairs_seed = 3")));
    // Among nodes of equal degree, the first in the file.
    assert!(traffic("gateway_count = 2").iter().all(|(from, _)| [1, 2].contains(from)));
}

/// A gateway with a server on a wire, a house with radio and wire, and a house with only a radio.
const ROOFS: &str = "nodes = [{ name = \"gw\", position = [\"0 m\", \"0 m\"] }, { name = \"server\" }, \
    { name = \"both\", position = [\"200 m\", \"0 m\"] }, { name = \"roof\", position = [\"0 m\", \"200 m\"] }]\n\
    wires = [{ between = [\"gw\", \"server\"], rate = \"10 Mb/s\", delay = \"5 ms\" }, \
    { between = [\"gw\", \"both\"], rate = \"10 Mb/s\", delay = \"5 ms\" }, \
    { between = [\"roof\", \"both\"], rate = \"1 Mb/s\", delay = \"5 ms\" }]";

#[test]
fn users_of_gateways_have_a_radio_unless_they_are_named() {
    let traffic = |pattern: &str, more: &str| pairs(&of(ROOFS, &format!("pattern = \"{pattern}\"\n{more}")));
    let served = |more: &str| traffic("gateway", more);
    assert_eq!(served("gateways = [\"gw\"]"), [(0, 2), (0, 3)]);
    assert_eq!(served("gateways = [\"server\"]"), [(1, 0), (1, 2), (1, 3)]);
    assert_eq!(served("gateways = [\"gw\"]\namong = [\"server\", \"bo*\"]"), [(0, 1), (0, 2)]);
    assert_eq!(traffic("to-gateway", "gateway = \"gw\""), [(2, 0), (3, 0)]);
    assert_eq!(traffic("to-gateway", "gateway = \"gw\"\namong = [\"*\"]"), [(1, 0), (2, 0), (3, 0)]);
}

#[test]
fn measured_nodes_without_a_radio_link_are_not_clients() {
    let measured = "nodes = [{ name = \"gw\" }, { name = \"server\" }, { name = \"roof\" }]\n\
        wires = [{ between = [\"gw\", \"server\"], rate = \"10 Mb/s\", delay = \"5 ms\" }]\n\
        links = [{ from = \"gw\", to = \"roof\", delivery = 1, reverse = 1 }]\n\
        [medium]\nmodel = \"matrix\"\nquantity = \"delivery\"";
    assert_eq!(pairs(&of(measured, "pattern = \"gateway\"\ngateways = [\"gw\"]")), [(0, 2)]);
}

#[test]
fn where_all_links_are_wires_all_nodes_may_be_clients() {
    let wired = "nodes = [{ name = \"a\" }, { name = \"b\" }, { name = \"c\" }]\n\
        wires = [{ between = [\"a\", \"b\"], rate = \"10 Mb/s\", delay = \"5 ms\" }, \
        { between = [\"b\", \"c\"], rate = \"10 Mb/s\", delay = \"5 ms\" }]";
    assert_eq!(pairs(&of(wired, "pattern = \"gateway\"\ngateways = [\"b\"]")), [(1, 0), (1, 2)]);
}

#[test]
fn too_few_users_are_reported_with_those_out_of_range() {
    let refused = |pattern: &str| {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nnodes = [{{ name = \"gw\", position = [\"0 m\", \"0 m\"] }}, \
             {{ name = \"near\", position = [\"200 m\", \"0 m\"] }}, {{ name = \"far\", position = [\"500 m\", \"0 m\"] }}]\n\
             [traffic]\nscheme = \"udp\"\n{pattern}\n"
        );
        resolve(&text, "case.toml", &Overrides::default()).err().unwrap().to_string()
    };
    let what = "2 are too many: 1 of 2 nodes reaches \"gw\"; no path leads to \"far\"; \
        \"far\" is 300 m from \"near\", the nearest node with a path, and links reach 250 m";
    let clients = refused("pattern = \"gateway\"\ngateways = [\"gw\"]\nclients = 2");
    assert!(clients.contains(&what.replace("2 are", "2 clients are")), "{clients}");
    let flows = refused("pattern = \"to-gateway\"\ngateway = \"gw\"\nflows = 2");
    assert!(flows.contains(&what.replace("2 are", "2 flows are")), "{flows}");
    assert!(flows.ends_with("ask for fewer flows, join them: closer nodes, more range, or wires"), "{flows}");
}

#[test]
fn a_mix_assigns_an_activity_to_each_client() {
    let traffic =
        "pattern = \"gateway\"\nmix = [\"web\", \"video\", \"call\", \"download\"]\nscheme = \"tcp-sack\"";
    let mixed = config(&format!("duration = \"10 s\"\n[topology]\n{LINE}\n[traffic]\n{traffic}\n"));
    let names: Vec<&str> = mixed.traffic.flows.iter().map(|flow| flow.name.as_str()).collect();
    let expected = [
        "web n1->n0",
        "video n1->n2",
        "call n1->n3",
        "call n3->n1",
        "download n1->n4",
        "web n1->n5",
        "video n1->n6",
        "call n1->b",
        "call b->n1",
    ];
    assert_eq!(names, expected);
    let AppConfig::Cbr { rate, packet, .. } = mixed.traffic.flows[2].app else {
        panic!("a call is of equal packets")
    };
    assert_eq!((rate.bps(), packet), (68_800, 172));
    assert!(matches!(
        mixed.traffic.flows[0].app,
        AppConfig::Transfers { bytes: 1_000_000, exponential: true, .. }
    ));
    assert!(
        matches!(mixed.traffic.flows[1].app, AppConfig::Video(video) if video.rate_bps == 1.5e6 && video.gop == 50)
    );
}
