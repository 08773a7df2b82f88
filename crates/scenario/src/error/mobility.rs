//! What can be wrong with `[mobility]` and `[[outages]]`.

use super::problems;
use crate::document::seconds;
use multihop_core::Span;

problems! {
    /// What can be wrong with motion and outages.
    MobilityProblem:

    Measured =>
        "nodes move, but links are measured, wherever nodes are";
        "use the medium \"ranges\" or \"sinr\"";
    StaticRoutes { instead: String } =>
        "static routes are computed before the run, and would not follow nodes that move";
        "set routing.protocol = {instead}";
    NoPosition { node: String } =>
        "node {node:?} has no position, and the file does not have it";
        "add its position, or a file with more nodes";
    NameTaken { name: String } =>
        "VALUE adds a node {name:?}, and the topology has one of that name";
        "rename that of the topology";

    // Random waypoints.
    TooManyLegs { legs: f64, run_s: f64, most: f64 } =>
        "nodes turn too often: up to {legs:.0} times in {run_s} s";
        "at most {most:.0} legs are kept; give a larger area, longer pauses or a smaller speed";
    SlowsDown =>
        "VALUE needs a min_speed of at least 1e-6 m/s: with speeds down to 0 nodes slow down for ever";
        "set min_speed, or start = \"pause\"";

    // Files.
    Unreadable { why: String } =>
        "VALUE cannot be read: {why}";
        "give a file that is there";
    StandsStill {
        index: usize,
        name: String,
        moving: usize,
        first: Option<u32>,
        first_instead: Option<usize>,
        enough: usize,
        option: &'static str,
    } =>
        "the file has a node {index} ({name:?}), but {}{}",
            if *moving == 1 { "1 node moves".into() } else { format!("{moving} nodes move") },
            first.map(|first| format!(", and the first of them is node {first}")).unwrap_or_default();
        "{}{}, or take the node out of the file",
            match (first_instead, *option) {
                (Some(first), _) => format!("set mobility.first_node = {first}"),
                (None, "count") => format!("set mobility.count = {enough}"),
                (None, _) => format!("let {enough} nodes move (mobility.nodes or mobility.count)"),
            },
            if first.is_some() && first_instead.is_none() { " and leave out mobility.first_node" } else { "" };

    // Outages.
    NobodyOff =>
        "missing";
        "name the node that is off, or several in one_of, of which one is drawn";
    EndsBeforeStart { from: Span } =>
        "VALUE is not after {}, when the outage begins", seconds(*from);
        "give a later time, or leave it out";
}
