//! Problems with a motion file.

use super::problems;

problems! {
    /// Problem with a motion file.
    TraceProblem:

    // Any file.
    Unreadable { why: String } =>
        "reading fails: {why}";
        "check that the file is complete";
    LongLine =>
        "a line of more than 64 MB";
        "check that this is a motion file";
    NoText =>
        "bytes that are not text (UTF-8)";
        "give a text file, or one compressed by gzip";
    OutOfRange { what: String, written: String, low: f64, high: f64 } =>
        "{what} {written}";
        "needs a number from {low} to {high}";
    TooFast { speed: f64, fastest: f64 } =>
        "a node moves at {speed:.0} m/s";
        "needs at most {fastest} m/s";
    SpeedsContradict { stated: f64, moved: f64, instead: Vec<&'static str> } =>
        "the file states speeds of {stated:.1} m/s, but places in metres change by {} m per second", rounded(*moved);
        "set mobility.{}", instead.join(", or mobility.");
    ImplausiblySlow { speed: f64, slow: f64, like: &'static str } =>
        "nodes move, but none faster than {} m/s, less than {slow} m/s: places are probably not in metres, or times not in seconds",
            rounded(*speed);
        "set mobility.coordinates = \"{like}\" or the actual unit, or \"metres\" to confirm metres, or mobility.times = \"milliseconds\"";
    ImplausiblyFast { speed: f64, fast: f64 } =>
        "a node moves at {speed:.0} m/s, more than {fast} m/s: places are probably not in metres, or times not in seconds";
        "give the file in metres and seconds, or set mobility.coordinates = \"metres\" to confirm metres";
    ImplausiblyNear { metres: f64, like: &'static str } =>
        "all nodes are within {} m: places are probably not in metres", rounded(*metres);
        "set mobility.coordinates = \"{like}\" or the actual unit, or \"metres\" to confirm metres";
    Jump { metres: f64, seconds: f64, fastest: f64 } =>
        "{metres} m in {seconds} s";
        "nodes do not jump: needs at most {fastest} m/s";

    // setdest.
    NoSetdest { line: String } =>
        "{line:?} is not a line of a setdest script";
        "needs a line such as $node_(0) set X_ 10.0, $ns_ at 1.0 \"$node_(0) setdest 5.0 5.0 2.0\", or a # comment";
    SetDuringRun { node: usize, time: f64 } =>
        "node {node} is set to a place during the run, at {time} s";
        "needs the place at 0 s, and from then on setdest with a speed: nodes do not jump";
    NoStart { node: usize } =>
        "node {node} has no place to start from";
        "add $node_({node}) set X_ 0 and set Y_ 0 for the corner, where ns-2 and ns-3 let such a node start, or another place";
    NotClosed { missing: char } =>
        "a command has no closing {missing:?}";
        "check that the file is complete";
    Computed { written: String } =>
        "{written:?} is computed by the script";
        "needs a number, a variable that the script sets to one, or arithmetic of these";
    NotExecuted { command: String } =>
        "nodes move within {command:?}, which is not executed here";
        "write out the lines that the script would execute, such as $ns_ at 1.0 \"$node_(0) setdest 5.0 5.0 2.0\"";
    Sourced { file: String } =>
        "the script sources another file: {file:?}";
        "give that one as mobility.file, or put its lines here";
    TwoFamilies { one: String, other: String } =>
        "nodes are called both {one:?} and {other:?}";
        "needs one array of nodes, such as $node_(0), $node_(1)";
    FourNumbers { node: usize } =>
        "setdest with four numbers, but node {node} has no height";
        "needs x y speed, or x y z speed and $node_({node}) set Z_";
    NoNodeNamed =>
        "no node is named";
        "needs lines such as $node_(0) set X_ 10.0";

    // BonnMotion.
    NoNumber { written: String } =>
        "{written:?} is not a number";
        "needs t x y for each place, with blanks between";
    NoNodes =>
        "there are no nodes";
        "needs a line for each node";
    Ambiguous =>
        "places have two or three coordinates: both fit";
        "set dimensions = 2 or dimensions = 3";
    PartOfPlace { numbers: usize, group: usize } =>
        "{numbers} numbers, which are not whole places of {group} each";
        "needs t x y for each place, or t x y z with dimensions = 3";
    Backwards { now: f64, before: f64 } =>
        "time {now} s after {before} s";
        "needs times that increase";

    // FCD.
    NoXml { why: String } =>
        "invalid XML: {why}";
        "check that the file is complete";
    TextAtTop { text: String } =>
        "not XML: {text:?}";
        "needs <fcd-export>, as SUMO's --fcd-output writes it";
    TagAtTop { tag: String } =>
        "<{tag}> at the top";
        "needs <fcd-export>, as SUMO's --fcd-output writes it";
    EndsWithin { tag: String } =>
        "the file ends within <{tag}>";
        "check that the file is complete";
    VehicleTwice { name: String, now: f64 } =>
        "{name:?} is listed twice in the step at {now} s";
        "needs each vehicle once";
    NoVehicles =>
        "there are no vehicles";
        "needs <vehicle> within <timestep>";
    NoAttribute { tag: String, key: &'static str } =>
        "<{tag}> without {key}";
        "needs {key}=\"...\"";
}

/// Text of a number with two significant digits.
fn rounded(value: f64) -> String {
    let digits = if value > 0.0 { (2.0 - value.log10().ceil()).clamp(0.0, 9.0) as usize } else { 0 };
    format!("{value:.digits$}")
}
