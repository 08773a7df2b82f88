//! What can be wrong with a file of motion.

use super::problems;

problems! {
    /// What can be wrong with a file of motion.
    TraceProblem:

    // Any file.
    Unreadable { why: String } =>
        "it cannot be read on: {why}";
        "is the file whole?";
    LongLine =>
        "a line of more than 64 MB";
        "is this a file of motion?";
    NoText =>
        "bytes that are not text (UTF-8)";
        "give a text file, or one compressed by gzip";
    OutOfRange { what: String, written: String, low: f64, high: f64 } =>
        "{what} {written}";
        "needs a number from {low} to {high}";
    Jump { metres: f64, seconds: f64, fastest: f64 } =>
        "{metres} m in {seconds} s";
        "nodes do not jump: needs at most {fastest} m/s";

    // setdest.
    NoSetdest { line: String } =>
        "{line:?} is no line of a setdest script";
        "needs a line such as $node_(0) set X_ 10.0, $ns_ at 1.0 \"$node_(0) setdest 5.0 5.0 2.0\", or a # comment";
    SetDuringRun { node: usize } =>
        "node {node} is set to a place during the run";
        "needs setdest with a speed: nodes do not jump";
    NoStart { node: usize } =>
        "node {node} has no place to start from";
        "add $node_({node}) set X_ and set Y_";
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
        "no XML: {why}";
        "is the file whole?";
    TextAtTop { text: String } =>
        "no XML: {text:?}";
        "needs <fcd-export>, as SUMO's --fcd-output writes it";
    TagAtTop { tag: String } =>
        "<{tag}> at the top";
        "needs <fcd-export>, as SUMO's --fcd-output writes it";
    EndsWithin { tag: String } =>
        "it ends within <{tag}>";
        "is the file whole?";
    VehicleTwice { name: String, now: f64 } =>
        "{name:?} is twice in the step at {now} s";
        "needs each vehicle once";
    NoVehicles =>
        "there are no vehicles";
        "needs <vehicle> within <timestep>";
    NoAttribute { tag: String, key: &'static str } =>
        "<{tag}> without {key}";
        "needs {key}=\"...\"";
}
