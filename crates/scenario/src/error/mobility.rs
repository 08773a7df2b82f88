//! Problems with `[mobility]` and `[[outages]]`.

use super::problems;
use crate::document::seconds;
use multihop_core::Span;

problems! {
    /// Problem with motion and outages.
    MobilityProblem:

    Measured =>
        "nodes move, but measured links do not depend on positions";
        "use the medium \"ranges\" or \"sinr\"";
    StaticRoutes { instead: String } =>
        "static routes are computed before the run, and would not follow nodes that move";
        "set routing.protocol = {instead}";
    NoPosition { node: String } =>
        "node {node:?} has no position, and is not in the motion file";
        "add its position, or give a motion file with more nodes";
    NameTaken { name: String } =>
        "VALUE adds a node {name:?}, and the topology has one of that name";
        "rename that of the topology";

    // Random waypoints.
    TooManyLegs { legs: f64, run_s: f64, most: f64 } =>
        "nodes turn too often: up to {legs:.0} times in {run_s} s";
        "at most {most:.0} legs are possible; give a larger area, longer pauses or a smaller speed";
    NoStationarySpeed =>
        "VALUE needs a min_speed of at least 1e-6 m/s: with lower speeds the motion has no stationary distribution";
        "set min_speed, or start = \"pause\"";

    // Files.
    Unreadable { why: String } =>
        "VALUE cannot be read: {why}";
        "give an existing file";
    NodeNotMoving {
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
    NoOutageNode =>
        "missing";
        "name the node that is down, or several in one_of, of which one is drawn";
    EndsBeforeStart { from: Span } =>
        "VALUE is not after {}, the start of the outage", seconds(*from);
        "give a later time, or leave it out";
}
