//! Range of stations with rate control: that of the lowest rate that they may choose.

use multihop_core::NodeId;
use multihop_scenario::{Overrides, Problem, TopologyProblem, load};
use multihop_sim::capacity::Capacity;
use multihop_sim::config::Config;
use multihop_sim::routing::{LinkQuality, Routes};

/// An access point with a client at this distance, and a nominal rate that reaches a few metres.
fn client(phy: &str, mac: &str, metres: u32) -> String {
    format!(
        "duration = \"1 s\"\n[phy]\n{phy}\n[mac]\n{mac}\n[medium]\nmodel = \"sinr\"\n[topology]\n\
         nodes = [ {{ name = \"ap\", position = [\"0 m\", \"0 m\"] }}, \
         {{ name = \"sta\", position = [\"{metres} m\", \"0 m\"], base = \"ap\" }} ]\n\
         [[flows]]\nfrom = \"sta\"\nto = \"ap\"\nscheme = \"udp\"\n"
    )
}

const CONTROL: [&str; 2] =
    ["rate_control = { algorithm = \"ideal\" }", "rate_control = { algorithm = \"minstrel-ht\" }"];

/// Highest rate of each standard.
const FASTEST: [&str; 5] = [
    "standard = \"802.11a\"\ndata_rate = \"54 Mb/s\"",
    "standard = \"802.11g\"\ndata_rate = \"54 Mb/s\"",
    "standard = \"802.11n\"\ndata_rate = \"MCS 7\"",
    "standard = \"802.11ac\"\ndata_rate = \"MCS 8\"",
    "standard = \"802.11ax\"\ndata_rate = \"MCS 11\"",
];

fn read(text: &str) -> Config {
    load(text, "x.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_client_beyond_the_nominal_rate_is_reached_by_a_lower_one() {
    for phy in FASTEST {
        for control in CONTROL {
            let config = read(&client(phy, control, 100));
            let capacity = Capacity::new(&config);
            let [link] = capacity.demands[0].forward[..] else { panic!("{phy}: {:?}", capacity.demands) };
            assert!(link.delivery > 0.5 && link.airtime.is_finite(), "{phy}: {link:?}");
        }
        let error = load(&client(phy, "", 100), "x.toml", &Overrides::default()).err().expect(phy);
        let Problem::Topology(TopologyProblem::NoPathAtRate { lower, .. }) = *error.problem else {
            panic!("{phy}: {error}");
        };
        let rate = phy.split_once("data_rate = ").unwrap().1;
        let slower = phy.replace(rate, &format!("\"{lower}\""));
        read(&client(&slower, "", 100)); // the hint works
        assert!(error.remedy().contains(&format!("set phy.data_rate = \"{lower}\"")), "{error}");
    }
    for control in CONTROL {
        let error =
            load(&client(FASTEST[1], control, 1000), "x.toml", &Overrides::default()).err().expect("refused");
        assert!(matches!(*error.problem, Problem::Topology(TopologyProblem::NoPath { .. })), "{error}");
    }
}

/// Nodes in a row at these positions in metres.
fn row(places: &[u32], mac: &str) -> Config {
    let node =
        |(at, metres): (usize, &u32)| format!("{{ name = \"n{at}\", position = [\"{metres} m\", \"0 m\"] }}");
    let nodes: Vec<String> = places.iter().enumerate().map(node).collect();
    read(&format!(
        "duration = \"1 s\"\n[phy]\n{}\n[mac]\n{mac}\n[medium]\nmodel = \"sinr\"\n[topology]\nnodes = [{}]\n\
         [[flows]]\nfrom = \"n0\"\nto = \"n{}\"\nscheme = \"udp\"\n",
        FASTEST[1],
        nodes.join(", "),
        places.len() - 1
    ))
}

fn path(config: &Config) -> Vec<u32> {
    let (from, to) = (config.traffic.flows[0].source, config.traffic.flows[0].destination);
    let quality = LinkQuality::new(config);
    let path = Routes::new(config, &quality).path(from, to).expect("the scenario is not refused");
    path.into_iter().map(|NodeId(node)| node).collect()
}

/// Routes use links of the nominal rate if these lead to the destination, and slower links otherwise.
#[test]
fn slower_links_are_used_where_there_is_no_other_route() {
    let near = [0, 50, 100];
    for control in CONTROL {
        assert_eq!(path(&row(&near, control)), path(&row(&near, "")));
        assert_eq!(path(&row(&near, control)).len(), 3, "two hops, though 100 m are one at a lower rate");
        let reaches = |metres: &u32| {
            load(&client(FASTEST[1], control, *metres), "x.toml", &Overrides::default()).is_ok()
        };
        let far = (100..1000).step_by(10).take_while(reaches).last().expect("100 m are reached");
        let places = [0, 50, 50 + far, 100 + far];
        assert_eq!(path(&row(&places, control)), [0, 1, 2, 3], "one slow hop between fast ones: {far} m");
        assert_eq!(path(&row(&[0, far, 2 * far], control)), [0, 1, 2]);
    }
}
