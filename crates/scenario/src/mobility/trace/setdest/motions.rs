//! Converts the orders of a script to motions of its nodes.

use super::{Node, Order, Script, Target};
use crate::error::TraceProblem;
use crate::mobility::trace::units::{self, Coordinates, Projection, Stated, Statements};
use crate::mobility::trace::{Motion, Result, Trace, TraceError, TraceNode};
use multihop_sim::mobility::{FASTEST, distance};
use std::collections::BTreeMap;

/// Maximum distance, in metres, between the place to which a node is set during the run and the place where
/// it already is, due to rounding in the file.
const SAME_PLACE_M: f64 = 0.1;

/// Minimum number of orders at equal intervals that make a sampled motion, such as that of vehicles. Nodes
/// that pause have no such intervals.
const SAMPLES_MIN: usize = 10;

/// Movement of a node to a destination.
#[derive(Clone, Copy)]
struct Movement {
    time: f64,
    line: usize,
    node: usize,
    /// Destination, or the coordinate of one axis.
    to: [Option<f64>; 2],
    /// Speed over ground; none for a node that is set to a place.
    speed: Option<f64>,
}

impl Script {
    /// The trace, once the script is read.
    pub(super) fn finish(mut self) -> Result<Trace> {
        if let Some((line, text)) = self.unknown_command() {
            return Err(TraceError::new(line, TraceProblem::NoSetdest { line: text }));
        }
        let mut starts = BTreeMap::new();
        for (index, node) in &self.nodes {
            starts.insert(*index, self.start(*index, node)?);
        }
        if starts.is_empty() {
            return Err(TraceError::new(1, TraceProblem::NoNodeNamed));
        }
        let going = self.movements(&starts)?;
        let statements = statements(&going, &starts);
        let line = going.first().map_or(1, |going| going.line);
        let in_degrees = self.units.in_degrees(line, &statements)?;
        let units = self.units;
        let trace = self.moved(&starts, going, in_degrees)?;
        units::check(&trace, units, statements.len() > 0, FASTEST)?;
        Ok(trace)
    }

    /// First line with an unknown command of a node. If the script has no nodes, the first one of an object
    /// that may be a node.
    fn unknown_command(&self) -> Option<(usize, String)> {
        let is_node = |(family, number): &(String, usize)| {
            self.nodes.is_empty() || (self.family.as_ref() == Some(family) && self.nodes.contains_key(number))
        };
        self.unknown.iter().filter(|(name, _)| is_node(name)).map(|(_, found)| found.clone()).min()
    }

    fn start(&self, index: usize, node: &Node) -> Result<[f64; 2]> {
        let placed = |axis: usize| {
            let axis_of = |order: &Order| match order.to {
                Target::Coordinate { axis, .. } => Some(axis),
                Target::Destination { .. } => None,
            };
            self.orders.iter().find(|order| order.node == index && axis_of(order) == Some(axis))
        };
        match (node.start, placed(0).or_else(|| placed(1))) {
            ([Some(x), Some(y), _], _) => Ok(self.units.ordered([x, y])),
            (_, Some(order)) => {
                let problem = TraceProblem::SetDuringRun { node: index, time: order.time };
                Err(TraceError::new(order.line, problem))
            }
            (_, None) => Err(TraceError::new(node.line, TraceProblem::NoStart { node: index })),
        }
    }

    /// The orders in the order of their times, with speeds over ground.
    fn movements(&mut self, starts: &BTreeMap<usize, [f64; 2]>) -> Result<Vec<Movement>> {
        self.orders.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.line.cmp(&b.line)));
        // Destination and height of each node.
        let mut last: BTreeMap<usize, ([f64; 2], f64)> = BTreeMap::new();
        let mut going = Vec::with_capacity(self.orders.len());
        let (statuses, speeds) = ([0.0, 1.0, 2.0], 0.0..=FASTEST);
        for Order { time, line, node, to } in &self.orders {
            let height = self.nodes[node].start[2];
            let (place, before) = last.entry(*node).or_insert((starts[node], height.unwrap_or(0.0)));
            let (to, speed) = match *to {
                Target::Coordinate { axis, value } => {
                    let mut to = [None; 2];
                    to[axis] = Some(value);
                    (to, None)
                }
                Target::Destination { numbers: [x, y, third], fourth } => {
                    let to = self.units.ordered([x, y]);
                    let speed = match (fourth, height) {
                        (None, _) => third,
                        (Some(speed), Some(_)) => {
                            let ground = distance(*place, to);
                            let whole = ground.hypot(third - *before);
                            *before = third;
                            if whole > 0.0 { speed * ground / whole } else { 0.0 }
                        }
                        // The disaster area model of BonnMotion writes a status behind the speed.
                        (Some(status), None) if statuses.contains(&status) && speeds.contains(&third) => {
                            third
                        }
                        (Some(_), None) => {
                            return Err(TraceError::new(*line, TraceProblem::FourNumbers { node: *node }));
                        }
                    };
                    *place = to;
                    (to.map(Some), Some(speed))
                }
            };
            going.push(Movement { time: *time, line: *line, node: *node, to, speed });
        }
        Ok(going)
    }

    /// The trace in metres.
    fn moved(
        self,
        starts: &BTreeMap<usize, [f64; 2]>,
        mut going: Vec<Movement>,
        in_degrees: bool,
    ) -> Result<Trace> {
        let fastest = going.iter().filter_map(|going| going.speed).fold(0.0, f64::max);
        let in_own_units = fastest < units::SLOW;
        if in_own_units && self.units.coordinates == Some(Coordinates::Kilometres) {
            going.iter_mut().filter_map(|going| going.speed.as_mut()).for_each(|speed| *speed *= 1000.0);
        }
        let mut motions: BTreeMap<usize, Motion> =
            starts.iter().map(|(node, start)| (*node, Motion::standing(*start))).collect();
        if in_degrees && !in_own_units {
            let places = going.iter().filter_map(|going| Some([going.to[0]?, going.to[1]?]));
            let projection = Projection::new(starts.values().copied().chain(places));
            for going in &mut going {
                going.to = [0, 1].map(|axis| going.to[axis].map(|value| projection.along(axis, value)));
            }
            motions = starts
                .iter()
                .map(|(node, start)| (*node, Motion::standing(projection.place(*start))))
                .collect();
        }
        for Movement { time, line, node, to, speed } in going {
            let motion = motions.get_mut(&node).expect("every node with an order has a start");
            let now = motion.at(time);
            let Some(speed) = speed else {
                let jump = [0, 1]
                    .iter()
                    .any(|axis| to[*axis].is_some_and(|to| (to - now[*axis]).abs() > SAME_PLACE_M));
                if jump {
                    return Err(TraceError::new(line, TraceProblem::SetDuringRun { node, time }));
                }
                continue;
            };
            motion.head_for(time, [0, 1].map(|axis| to[axis].unwrap_or(now[axis])), speed);
        }
        let mut hops = self.hops;
        hops.sort_by(|a, b| a.time.total_cmp(&b.time));
        let nodes = motions.into_iter().map(|(index, motion)| TraceNode {
            index,
            name: index.to_string(),
            line: self.nodes[&index].line,
            motion,
            off: off(&self.nodes[&index].switched),
        });
        let trace = Trace { nodes: nodes.collect(), hops };
        Ok(if in_degrees && in_own_units { units::projected(trace) } else { trace })
    }
}

/// Speeds that the script states for nodes with orders at equal intervals.
fn statements(going: &[Movement], starts: &BTreeMap<usize, [f64; 2]>) -> Statements {
    /// Latest destination of a node, and the interval since the order before it.
    struct Latest {
        time: f64,
        interval: f64,
        from: [f64; 2],
        to: [f64; 2],
        speed: f64,
    }
    let mut latest: BTreeMap<usize, Latest> = BTreeMap::new();
    let mut statements = Statements::default();
    for Movement { time, node, to, speed, .. } in going {
        let (Some(speed), [Some(x), Some(y)]) = (*speed, *to) else { continue };
        let (mut interval, mut from) = (0.0, starts[node]);
        if let Some(before) = latest.get(node) {
            (interval, from) = (time - before.time, before.to);
            if (interval - before.interval).abs() <= 1e-6 * interval {
                let Latest { from, to, speed, .. } = *before;
                statements.add(Stated { from, to, seconds: interval, speed });
            }
        }
        latest.insert(*node, Latest { time: *time, interval, from, to: [x, y], speed });
    }
    if statements.len() >= SAMPLES_MIN { statements } else { Statements::default() }
}

/// Outages of a node that is on at first and switched at these times, as start and end.
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
