//! ns-2's scripts of motion: as `setdest` of CMU's extensions writes them, and as other tools and people do.
//!
//! They are Tcl, of which these commands say something of a motion, in any order:
//!
//! ```text
//! $node_(3) set X_ 250.0
//! $ns_ at 0.0 "$node_(3) set Y_ 20.0"
//! $ns_ at 12.5 "$node_(3) setdest 100.0 20.0 15.0"
//! $god_ set-dist 3 4 2
//! $ns_ at 20.0 "$god_ set-dist 3 4 1"
//! $ns_ at 30.0 "$node_(3) switch OFF"
//! ```
//!
//! Nodes are elements of any one array, or variables that end in a number, such as `$n3`. Numbers may be
//! variables that the script has set to a number, or arithmetic (`[expr 10 + 2.5]`). Commands that say
//! nothing of a motion are passed over, such as those that create nodes and agents, set options, or are for
//! nam. Loops, conditions and procedures are not executed: one that moves nodes is an error.

mod motions;

use super::tcl::{Command, Commands, Variables, Word};
use super::units::Units;
use super::{FASTEST, HopCount, LONGEST, Result, Trace, TraceError, number, shortened};
use crate::error::TraceProblem;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

/// Number of hops that setdest writes where there is no path.
const NO_PATH: u32 = 0x00ff_ffff;

/// Commands of Tcl and ns-2 that are ignored unless their words contain a motion.
const IGNORED_COMMANDS: [&str; 33] = [
    "append",
    "array",
    "break",
    "catch",
    "close",
    "continue",
    "create-god",
    "else",
    "eval",
    "exec",
    "exit",
    "flush",
    "for",
    "foreach",
    "global",
    "if",
    "incr",
    "lappend",
    "open",
    "proc",
    "puts",
    "return",
    "switch",
    "unset",
    "upvar",
    "variable",
    "while",
    "add-packet-header",
    "remove-packet-header",
    "add-all-packet-headers",
    "remove-all-packet-headers",
    "ns-random",
    "use-scheduler",
];

/// Commands of nodes that do not concern their motion.
const IGNORED_NODE_COMMANDS: [&str; 22] = [
    "add-mark",
    "addr",
    "agent",
    "attach",
    "attach-agent",
    "base-station",
    "cget",
    "color",
    "delete-mark",
    "energy-model",
    "id",
    "label",
    "label-at",
    "label-color",
    "log-energy",
    "log-movement",
    "log-target",
    "namattach",
    "radius",
    "reset",
    "shape",
    "topography",
];

/// Node as stated by the lines so far.
#[derive(Default)]
struct Node {
    line: usize,
    /// Starting place: X_, Y_ and Z_.
    start: [Option<f64>; 3],
    /// Times at which the node is switched, and whether it is on from then on.
    switched: Vec<(f64, bool)>,
}

/// Command to a node at some time.
struct Order {
    time: f64,
    line: usize,
    node: usize,
    to: Target,
}

enum Target {
    /// `setdest x y speed`, or with a fourth number, whose meaning depends on the node.
    Destination { numbers: [f64; 3], fourth: Option<f64> },
    /// `set X_ 10` (0) or `set Y_ 10` (1) during the run.
    Coordinate { axis: usize, value: f64 },
}

#[derive(Default)]
struct Script {
    units: Units,
    variables: Variables,
    /// Variables that hold an object other than a node.
    others: BTreeSet<String>,
    procedures: BTreeSet<String>,
    /// Name of the array of nodes, or common prefix of their names.
    family: Option<String>,
    nodes: BTreeMap<usize, Node>,
    orders: Vec<Order>,
    hops: Vec<HopCount>,
    /// First unknown command of each object: an error if the object is a node.
    unknown: BTreeMap<(String, usize), (usize, String)>,
}

/// Reads a script.
pub(super) fn read(from: impl BufRead, units: Units) -> Result<Trace> {
    let mut script = Script { units, ..Script::default() };
    let mut commands = Commands::default();
    super::for_each_line(from, |line, text| {
        for command in commands.line(line, text) {
            script.command(command, None)?;
        }
        match commands.pending() as u64 {
            ..LONGEST => Ok(()),
            _ => Err(TraceError::new(line, TraceProblem::LongLine)),
        }
    })?;
    match commands.open() {
        Some((line, '\n')) => {
            commands.line(line, "").into_iter().try_for_each(|last| script.command(last, None))?;
        }
        Some((line, missing)) => return Err(TraceError::new(line, TraceProblem::NotClosed { missing })),
        None => {}
    }
    script.finish()
}

impl Script {
    /// Executes a command, at a time or at the start.
    fn command(&mut self, (line, words): Command, at: Option<f64>) -> Result<()> {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let unknown = || TraceError::new(line, TraceProblem::NoSetdest { line: shortened(&texts.join(" ")) });
        match texts.as_slice() {
            [object, told @ ..] if object.starts_with('$') => self.told(line, object, told, at),
            ["set", name, ..] => {
                self.set(name, words.get(2));
                Ok(())
            }
            ["source", file, ..] => {
                Err(TraceError::new(line, TraceProblem::Sourced { file: shortened(file) }))
            }
            // Defaults of a class, such as an antenna's X_.
            [class, "set", ..] if class.contains('/') || class.starts_with(char::is_uppercase) => Ok(()),
            [name, rest @ ..] => {
                if *name == "proc" {
                    self.procedures.extend(rest.first().map(|name| (*name).to_owned()));
                }
                if rest.iter().any(|text| moves(text)) {
                    let problem = TraceProblem::NotExecuted { command: shortened(name) };
                    return Err(TraceError::new(line, problem));
                }
                let known =
                    at.is_some() || IGNORED_COMMANDS.contains(name) || self.procedures.contains(*name);
                if known { Ok(()) } else { Err(unknown()) }
            }
            [] => Ok(()),
        }
    }

    /// `set name value`. Only texts and numbers are stored.
    fn set(&mut self, name: &str, value: Option<&Word>) {
        let (Some(value), Some(name)) = (value, self.variables.text(name)) else { return };
        let made = value.text.strip_prefix("[new ").filter(|class| !class.trim_start().starts_with("Node"));
        match made {
            Some(_) => self.others.insert(name.clone()),
            None => self.others.remove(&name),
        };
        self.variables.set(&name, value);
    }

    /// Executes a command of an object.
    fn told(&mut self, line: usize, object: &str, told: &[&str], at: Option<f64>) -> Result<()> {
        let text = || shortened(&[&[object], told].concat().join(" "));
        let unknown = || TraceError::new(line, TraceProblem::NoSetdest { line: text() });
        match told {
            ["at", time, script @ ..] => self.at(line, time, &script.join(" "), at),
            ["set-dist", a, b, hops] if object.starts_with("$god") => {
                let whole = |text: &str| text.parse::<u32>().map_err(|_| unknown());
                let (nodes, hops) = ([whole(a)? as usize, whole(b)? as usize], whole(hops)?);
                let hops = (hops != NO_PATH).then_some(hops);
                self.hops.push(HopCount { time: at.unwrap_or(0.0), nodes, hops });
                Ok(())
            }
            _ if self.others.contains(&object[1..]) => Ok(()),
            // The first reads the node's place.
            ["set", "X_" | "Y_" | "Z_"] | ["random-motion", "0"] => Ok(()),
            ["set", axis @ ("X_" | "Y_" | "Z_"), value] => {
                let axis_index =
                    ["X_", "Y_", "Z_"].iter().position(|name| name == axis).expect("one of them");
                let node = self.node(line, object).ok_or_else(unknown)??;
                let value = self.coordinate(line, axis_index, axis, value)?;
                self.place(line, node, axis_index, value, at);
                Ok(())
            }
            ["setdest", x, y, third] => self.head_for(line, object, [x, y, third], None, at, unknown),
            ["setdest", x, y, third, fourth] => {
                self.head_for(line, object, [x, y, third], Some(fourth), at, unknown)
            }
            ["switch", state] => {
                let on = match () {
                    () if state.eq_ignore_ascii_case("on") => true,
                    () if state.eq_ignore_ascii_case("off") => false,
                    () => return Err(unknown()),
                };
                let node = self.node(line, object).ok_or_else(unknown)??;
                let switched = &mut self.nodes.get_mut(&node).expect("the node is known").switched;
                switched.push((at.unwrap_or(0.0), on));
                Ok(())
            }
            ["setdest", ..] => Err(unknown()),
            [verb, ..] if IGNORED_NODE_COMMANDS.contains(verb) => Ok(()),
            _ if told.iter().any(|text| moves(text)) => Err(unknown()),
            _ => {
                if let Some(named) = self.named(object) {
                    self.unknown.entry(named).or_insert_with(|| (line, text()));
                }
                Ok(())
            }
        }
    }

    /// `$node_(0) setdest x y speed`, or with a fourth number.
    fn head_for(
        &mut self,
        line: usize,
        node: &str,
        [x, y, third]: [&str; 3],
        fourth: Option<&str>,
        at: Option<f64>,
        unknown: impl Fn() -> TraceError,
    ) -> Result<()> {
        let node = self.node(line, node).ok_or_else(unknown)??;
        let (x, y) = (self.coordinate(line, 0, "x", x)?, self.coordinate(line, 1, "y", y)?);
        let speed = |text: &str| number(line, "speed", &self.known(line, text)?, 0.0, FASTEST);
        let (third, fourth) = match fourth {
            None => (speed(third)?, None),
            Some(fourth) => (self.coordinate(line, 2, "z or speed", third)?, Some(speed(fourth)?)),
        };
        let to = Target::Destination { numbers: [x, y, third], fourth };
        self.orders.push(Order { time: at.unwrap_or(0.0), line, node, to });
        Ok(())
    }

    /// `$ns_ at time script`.
    fn at(&mut self, line: usize, time: &str, script: &str, outer: Option<f64>) -> Result<()> {
        let mut inner = Commands::default();
        let commands: Vec<Command> = script.split('\n').flat_map(|text| inner.line(line, text)).collect();
        if inner.open().is_some() {
            let problem = TraceProblem::NoSetdest { line: shortened(script) };
            return Err(TraceError::new(line, problem));
        }
        if outer.is_some() {
            let problem = TraceProblem::NotExecuted { command: "at".into() };
            return if moves(script) { Err(TraceError::new(line, problem)) } else { Ok(()) };
        }
        let time = match self.known(line, time).and_then(|time| self.units.time(line, &time)) {
            // Other commands are not executed, so that their time does not matter.
            Err(_) if !affects_nodes(script) => 0.0,
            time => time?,
        };
        commands.into_iter().try_for_each(|(_, words)| self.command((line, words), Some(time)))
    }

    /// `$node_(0) set X_ 10`, at a time or at the start.
    fn place(&mut self, line: usize, node: usize, axis: usize, value: f64, at: Option<f64>) {
        let start = &mut self.nodes.get_mut(&node).expect("the node is known").start[axis];
        match at {
            None | Some(0.0) => *start = Some(value),
            Some(_) if axis == 2 => {}
            Some(time) => {
                self.orders.push(Order { time, line, node, to: Target::Coordinate { axis, value } });
            }
        }
    }

    /// Text with its variables and arithmetic replaced by their values.
    fn known(&self, line: usize, text: &str) -> Result<String> {
        let computed = || TraceError::new(line, TraceProblem::Computed { written: shortened(text) });
        self.variables.text(text).ok_or_else(computed)
    }

    fn coordinate(&self, line: usize, axis: usize, what: &str, text: &str) -> Result<f64> {
        self.units.coordinate(line, axis, what, &self.known(line, text)?)
    }

    /// Family and number of a node named `$node_(3)`, `$node_($i)` or `$n3`.
    fn named(&self, word: &str) -> Option<(String, usize)> {
        let name = word.strip_prefix('$')?;
        let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
        let (family, number) = match name.strip_suffix(')') {
            Some(element) => element.split_once('(')?,
            None => name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len()),
        };
        let number = self.variables.text(number)?.parse::<u32>().ok()?;
        Some((family.to_owned(), number as usize))
    }

    /// Number of a node. Adds the node if it is new.
    fn node(&mut self, line: usize, word: &str) -> Option<Result<usize>> {
        let (family, number) = self.named(word)?;
        let one = self.family.get_or_insert_with(|| family.clone());
        if *one != family {
            let problem = TraceProblem::TwoFamilies { one: shortened(one), other: shortened(&family) };
            return Some(Err(TraceError::new(line, problem)));
        }
        self.nodes.entry(number).or_insert(Node { line, ..Node::default() });
        Some(Ok(number))
    }
}

/// Whether a script sets the place or the destination of a node, rather than reads it.
fn moves(script: &str) -> bool {
    let sets = |axis: &str| {
        script.match_indices(axis).any(|(at, _)| {
            let after = &script[at + axis.len()..];
            let value = after.trim_start_matches([' ', '\t']);
            value.len() < after.len()
                && !value.is_empty()
                && !value.starts_with([']', ';', '\n', '\r', '}', '"'])
        })
    };
    script.contains("setdest") || [" X_", " Y_", " Z_"].into_iter().any(sets)
}

/// Whether a script that runs at some time sets a node's place, state or number of hops.
fn affects_nodes(script: &str) -> bool {
    moves(script) || ["switch ", "set-dist "].iter().any(|word| script.contains(word))
}
