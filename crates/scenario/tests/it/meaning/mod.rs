//! Meaning of scenarios: geometry of generators, choice of pairs, defaults, overrides, and the hash.

mod aggregates_on_routes;
mod defaults;
mod hashes;
mod identity;
mod multicast;
mod topology;

use multihop_scenario::{Overrides, resolve};
use multihop_sim::config::Config;

const CANONICAL: &str = "pattern = \"canonical\"";

const PLAIN: &str = "duration = \"100 s\"\n[topology]\ngenerator = \"chain\"\nhops = 2\n[[flows]]\nfrom = \"n0\"\nto = \"n2\"\nscheme = \"tcp-sack\"\n";

fn config(text: &str) -> Config {
    resolve(text, "case.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}")).config
}

fn hash(text: &str) -> String {
    resolve(text, "case.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}")).hash
}

/// A scenario with this topology and traffic.
fn of(topology: &str, traffic: &str) -> Config {
    config(&format!("duration = \"10 s\"\n[topology]\n{topology}\n[traffic]\nscheme = \"udp\"\n{traffic}\n"))
}
