//! Golden tables: goodput in kb/s, rounded, of every scheme on every small topology, with the default rules.
//!
//! They change when behaviour changes. If that was meant, paste the rows that the failing test prints into
//! `GOLDEN`, and say why in the commit message. A new scheme adds a row, which the test prints too.

use crate::common::{add_flow, network, total_goodput};
use multihop_core::Span;
use multihop_dot11::DcfRules;
use multihop_schemes::{REGISTRY, SchemeEntry};
use multihop_sim::config::{AppConfig, Config, SchemeConfig};
use multihop_sim::run;
use serde_json::{Value, json};

const TOPOLOGIES: [&str; 4] =
    ["chain of 4 hops", "cross of 2 x 4 hops", "star of 3 arms", "exposed terminals"];

/// Scheme, and its goodput on each of the topologies. Schemes whose default flavour is another have a row "of
/// rfc" too.
const GOLDEN: &[(&str, [u32; 4])] = &[
    ("udp", [1201, 1210, 2338, 4820]),
    ("tcp-newreno", [936, 963, 1868, 3805]),
    ("tcp-newreno of rfc", [996, 1001, 1925, 3963]),
    ("tcp-sack", [999, 997, 1912, 4004]),
    ("tcp-cubic", [975, 969, 1880, 3878]),
    ("tcp-cubic of rfc", [991, 988, 1912, 3930]),
    ("tcp-vegas", [965, 977, 1898, 3851]),
    ("tcp-vegas of rfc", [990, 983, 1936, 3851]),
    ("tcp-westwood", [965, 950, 1859, 3895]),
    ("tcp-westwood of rfc", [996, 989, 1928, 3995]),
    ("tcp-bbr", [992, 975, 1783, 3918]),
    ("tcp-bbr of rfc", [990, 997, 1892, 3978]),
    ("tcp-bbr3", [985, 964, 1845, 3895]),
    ("tcp-bbr3 of rfc", [994, 1000, 1910, 4003]),
    ("tcp-prague", [984, 971, 1865, 3895]),
    ("tcp-prague of rfc", [997, 994, 1899, 3961]),
    ("tcp-ap", [617, 811, 1567, 2959]),
    ("tcp-elfn", [996, 1001, 1925, 3963]),
    ("atcp", [996, 999, 1870, 4006]),
    ("tfrc", [1116, 1123, 2116, 4755]),
    ("tfrc-capped", [298, 585, 892, 593]),
    ("re-tfrc", [1055, 1102, 2108, 4416]),
    ("re-tfrc-published", [806, 65, 120, 111]),
    ("re-tfrc-published of rfc", [51, 69, 13, 39]),
    ("nada", [948, 945, 1763, 2875]),
    ("gcc", [741, 850, 1590, 2227]),
    ("scream", [907, 918, 1854, 3853]),
    ("quick-and-plenty", [1023, 854, 963, 4723]),
    ("recn", [957, 959, 1917, 3904]),
    ("recn-published", [843, 828, 1558, 3402]),
    ("recn-published of rfc", [957, 959, 1917, 3904]),
    ("ecn-rts", [972, 978, 1953, 3993]),
    ("ecn-fsd", [997, 996, 1948, 3968]),
    ("ecn-busy", [957, 957, 1913, 3783]),
    ("lred", [774, 709, 1912, 3916]),
    ("nred", [407, 528, 1142, 2138]),
    ("xcp", [989, 976, 1864, 3820]),
    ("xcp-b", [976, 967, 1896, 3951]),
    ("rcp", [900, 792, 1798, 4034]),
    ("xcp-winf", [945, 836, 1666, 3320]),
    ("xcp-winf-published", [862, 851, 1719, 3463]),
    ("xcp-winf-published of rfc", [648, 715, 1194, 3668]),
    ("rcp-winf", [861, 866, 1720, 3390]),
    ("rcp-winf-published", [480, 427, 1115, 2563]),
    ("rcp-winf-published of rfc", [485, 366, 1074, 3168]),
    ("ewccp", [911, 888, 1744, 3597]),
    ("ewccp-published", [842, 814, 1581, 3333]),
    ("ewccp-published of rfc", [939, 902, 1748, 3778]),
    ("wcp", [370, 378, 781, 799]),
    ("wcp-cap", [584, 622, 1070, 2257]),
    ("vcp", [995, 948, 1805, 3676]),
    ("abc", [993, 1002, 1928, 4008]),
    ("bmcc", [993, 987, 1900, 4000]),
    ("bmcc-published", [894, 897, 1745, 3550]),
    ("bmcc-published of rfc", [980, 985, 1925, 3794]),
    ("maxnet", [996, 970, 1851, 3837]),
];

fn topology(name: &str) -> Config {
    let line = |n: usize, dx: f64, dy: f64| (0..n).map(move |i| [dx * i as f64, dy * i as f64]);
    let (positions, flows): (Vec<[f64; 2]>, Vec<(usize, usize)>) = match name {
        "chain of 4 hops" => (line(5, 200.0, 0.0).collect(), vec![(0, 4)]),
        "cross of 2 x 4 hops" => {
            let vertical = [-400.0, -200.0, 200.0, 400.0].map(|y| [400.0, y]);
            (line(5, 200.0, 0.0).chain(vertical).collect(), vec![(0, 4), (5, 8)])
        }
        "star of 3 arms" => {
            let arm = |angle: f64| {
                let (sin, cos) = angle.to_radians().sin_cos();
                [[200.0 * cos, 200.0 * sin], [400.0 * cos, 400.0 * sin]]
            };
            let arms = [0.0, 120.0, 240.0].into_iter().flat_map(arm);
            (std::iter::once([0.0, 0.0]).chain(arms).collect(), vec![(2, 0), (4, 0), (6, 0)])
        }
        _ => (line(4, 200.0, 0.0).collect(), vec![(1, 0), (2, 3)]),
    };
    let mut config = network(DcfRules::IEEE, &positions);
    config.mac.rts_threshold = Some(500);
    config.duration = Span::from_ms(31_000);
    for (from, to) in flows {
        add_flow(&mut config, from, to, AppConfig::Saturated);
    }
    config
}

fn goodput_kbps(scheme: &SchemeConfig, topology_name: &str) -> u32 {
    let mut config = topology(topology_name);
    config.traffic.schemes = vec![scheme.clone()];
    (total_goodput(&run(&config)) / 1e3).round() as u32
}

/// Returns the names of an entry's rows, with their schemes. Labels of schemes enter random streams.
fn rows(entry: &SchemeEntry) -> Vec<(String, SchemeConfig)> {
    let build = |parameters: Value| SchemeConfig {
        name: entry.name.into(),
        scheme: entry.build(&parameters).unwrap(),
    };
    let mut rows = vec![(entry.name.to_owned(), build(json!({})))];
    let flavour = &entry.schema()["properties"]["flavour"]["default"];
    if flavour.as_str().is_some_and(|flavour| flavour != "rfc") {
        rows.push((format!("{} of rfc", entry.name), build(json!({ "flavour": "rfc" }))));
    }
    rows
}

#[test]
fn every_scheme_does_what_it_did() {
    let found: Vec<(String, [u32; 4])> = REGISTRY
        .iter()
        .flat_map(rows)
        .map(|(name, scheme)| (name, TOPOLOGIES.map(|topology| goodput_kbps(&scheme, topology))))
        .collect();
    let is_known = |(name, goodput): &(String, [u32; 4])| GOLDEN.contains(&(name.as_str(), *goodput));
    let row = |row: &(String, [u32; 4])| format!("    {row:?},\n");
    let changed: String = found.iter().filter(|row| !is_known(row)).map(row).collect();
    assert!(
        changed.is_empty(),
        "columns: {TOPOLOGIES:?}; if these changes are meant, the rows of GOLDEN in crates/sim/tests/it/golden.rs are\n{changed}"
    );
    let expected: Vec<&str> = GOLDEN.iter().map(|(name, _)| *name).collect();
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(expected, names, "GOLDEN has the rows of each scheme, in the order of REGISTRY");
}
