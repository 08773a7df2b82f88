//! ns-2's scripts of motion, as `setdest` of CMU's extensions writes them.
//!
//! They are Tcl, of which only these lines are known, in any order:
//!
//! ```text
//! $node_(3) set X_ 250.0
//! $ns_ at 12.5 "$node_(3) setdest 100.0 20.0 15.0"
//! $god_ set-dist 3 4 2
//! $ns_ at 20.0 "$god_ set-dist 3 4 1"
//! $ns_ at 30.0 "$node_(3) switch OFF"
//! ```
//!
//! What follows a `#` is a comment, and what is for nam's eyes (`color`, `label`, `initial_node_pos`) or says
//! that a node does not move by itself (`random-motion 0`) is passed over.

use super::{
    FASTEST, HopCount, Motion, Result, Trace, TraceError, TraceNode, coordinate, number, shortened, time,
};
use crate::error::TraceProblem;
use std::collections::BTreeMap;
use std::io::BufRead;

/// setdest's number of hops where there is no path.
const NO_PATH: u32 = 0x00ff_ffff;

/// A node with what the lines so far say of it.
#[derive(Default)]
struct Node {
    line: usize,
    start: [Option<f64>; 2],
    /// When it is switched, and whether it is on from then on.
    switched: Vec<(f64, bool)>,
}

struct Command {
    time: f64,
    line: usize,
    node: usize,
    to: [f64; 2],
    speed: f64,
}

#[derive(Default)]
struct Script {
    nodes: BTreeMap<usize, Node>,
    commands: Vec<Command>,
    hops: Vec<HopCount>,
}

/// Reads a script.
pub(super) fn read(from: impl BufRead) -> Result<Trace> {
    let mut script = Script::default();
    super::for_each_line(from, |line, text| script.line(line, text))?;
    script.finish()
}

impl Script {
    fn line(&mut self, line: usize, text: &str) -> Result<()> {
        let text = text.split_once('#').map_or(text, |(before, _)| before).trim();
        if text.is_empty() {
            return Ok(());
        }
        let unknown = || TraceError::new(line, TraceProblem::NoSetdest { line: shortened(text) });
        let words: Vec<&str> = text
            .split(|c: char| c.is_whitespace() || matches!(c, '"' | ';' | '{' | '}'))
            .filter(|word| !word.is_empty())
            .collect();
        let (at, what) = match words.as_slice() {
            ["set", name, "[God", "instance]"] if name.starts_with("god") => return Ok(()),
            [ns, "at", at, what @ ..] if ns.starts_with('$') => (Some(time(line, at)?), what),
            what => (None, what),
        };
        match (what, at) {
            ([god, "set-dist", a, b, hops], at) if god.starts_with("$god") => {
                let whole = |text: &str| text.parse::<u32>().map_err(|_| unknown());
                let (nodes, hops) = ([whole(a)? as usize, whole(b)? as usize], whole(hops)?);
                let hops = (hops != NO_PATH).then_some(hops);
                self.hops.push(HopCount { time: at.unwrap_or(0.0), nodes, hops });
            }
            ([node, "set", axis, value], at) => {
                let node = self.node(line, node).ok_or_else(unknown)?;
                if at.is_some() {
                    return Err(TraceError::new(line, TraceProblem::SetDuringRun { node }));
                }
                let value = coordinate(line, axis, value)?;
                let start = &mut self.nodes.get_mut(&node).expect("it was just found").start;
                match *axis {
                    "X_" => start[0] = Some(value),
                    "Y_" => start[1] = Some(value),
                    "Z_" => {}
                    _ => return Err(unknown()),
                }
            }
            ([node, "setdest", x, y, speed], at) => {
                let node = self.node(line, node).ok_or_else(unknown)?;
                let to = [coordinate(line, "x", x)?, coordinate(line, "y", y)?];
                let speed = number(line, "speed", speed, 0.0, FASTEST)?;
                self.commands.push(Command { time: at.unwrap_or(0.0), line, node, to, speed });
            }
            ([node, "switch", state], at) => {
                let on = match () {
                    () if state.eq_ignore_ascii_case("on") => true,
                    () if state.eq_ignore_ascii_case("off") => false,
                    () => return Err(unknown()),
                };
                let node = self.node(line, node).ok_or_else(unknown)?;
                let switched = &mut self.nodes.get_mut(&node).expect("it was just found").switched;
                switched.push((at.unwrap_or(0.0), on));
            }
            ([node, "color" | "label", _] | [node, "random-motion", "0"], _)
            | ([_, "initial_node_pos", node, _], None) => {
                number_of(node).ok_or_else(unknown)?;
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// The number in `$node_(3)`, whose node is known from now on.
    fn node(&mut self, line: usize, word: &str) -> Option<usize> {
        let number = number_of(word)?;
        self.nodes.entry(number).or_insert(Node { line, ..Node::default() });
        Some(number)
    }

    fn finish(mut self) -> Result<Trace> {
        let mut motions = BTreeMap::new();
        for (index, node) in &self.nodes {
            let [Some(x), Some(y)] = node.start else {
                return Err(TraceError::new(node.line, TraceProblem::NoStart { node: *index }));
            };
            motions.insert(*index, Motion::standing([x, y]));
        }
        if motions.is_empty() {
            return Err(TraceError::new(1, TraceProblem::NoNodeNamed));
        }
        self.commands.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.line.cmp(&b.line)));
        for Command { time, node, to, speed, .. } in self.commands {
            motions.get_mut(&node).expect("every node named has a motion").head_for(time, to, speed);
        }
        self.hops.sort_by(|a, b| a.time.total_cmp(&b.time));
        let nodes = motions.into_iter().map(|(index, motion)| TraceNode {
            index,
            name: index.to_string(),
            line: self.nodes[&index].line,
            motion,
            off: off(&self.nodes[&index].switched),
        });
        Ok(Trace { nodes: nodes.collect(), hops: self.hops })
    }
}

/// The number in `$node_(3)`.
fn number_of(word: &str) -> Option<usize> {
    let (_, number) = word.strip_prefix('$')?.strip_suffix(')')?.split_once('(')?;
    Some(number.parse::<u32>().ok()? as usize)
}

/// Since when and until when a node is off that is on at first and switched at these times.
fn off(switched: &[(f64, bool)]) -> Vec<[f64; 2]> {
    let mut switched = switched.to_vec();
    switched.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut spans: Vec<[f64; 2]> = Vec::new();
    for (time, on) in switched {
        let last = spans.last_mut().filter(|span| span[1] == f64::INFINITY);
        match (last, on) {
            (Some(span), true) => span[1] = time,
            (None, false) => spans.push([time, f64::INFINITY]),
            _ => {}
        }
    }
    spans
}
