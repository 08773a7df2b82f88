//! `.movements` of `BonnMotion`: one line for each node, with `t x y` or `t x y z` for each place.

use super::units::{self, Units};
use super::{Motion, Result, Trace, TraceError, TraceNode, reach, shortened};
use crate::error::TraceProblem;
use std::io::BufRead;

/// Reads a file. Without `dimensions`, the number of coordinates is that of a `dim=` in a comment, or the
/// number that fits all lines.
pub(super) fn read(from: impl BufRead, dimensions: Option<u32>, units: Units) -> Result<Trace> {
    let mut stated = dimensions;
    let mut lines: Vec<(usize, Vec<f64>)> = Vec::new();
    super::for_each_line(from, |line, text| {
        if let Some(comment) = text.strip_prefix('#') {
            let says = |d: u32| comment.split_whitespace().any(|word| word == format!("dim={d}"));
            stated = stated.or([2, 3].into_iter().find(|d| says(*d)));
            return Ok(());
        }
        let number = |text: &str| {
            text.parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
                .ok_or_else(|| TraceError::new(line, TraceProblem::NoNumber { written: shortened(text) }))
        };
        lines.push((line, text.split_whitespace().map(number).collect::<Result<_>>()?));
        Ok(())
    })?;
    if lines.is_empty() {
        return Err(TraceError::new(1, TraceProblem::NoNodes));
    }
    let group = match stated {
        Some(dimensions) => dimensions as usize + 1,
        None => guess(&lines)?,
    };
    let nodes =
        lines.iter().enumerate().map(|(index, (line, values))| node(index, *line, values, group, units));
    let trace = Trace { nodes: nodes.collect::<Result<_>>()?, hops: Vec::new() };
    let in_degrees = units.in_degrees(1, &units::Statements::default())?;
    let trace = if in_degrees { units::projected(trace) } else { trace };
    units::check(&trace, units, false, units::FAST)?;
    Ok(trace)
}

/// Number of values for each place, time included: the one that fits all lines, with increasing times.
fn guess(lines: &[(usize, Vec<f64>)]) -> Result<usize> {
    let fits = |group: &usize| {
        lines.iter().all(|(_, values)| {
            let times = values.chunks(*group).map(|place| place[0]);
            values.len().is_multiple_of(*group) && times.is_sorted_by(|a, b| a < b)
        })
    };
    match [3, 4].into_iter().filter(fits).collect::<Vec<_>>().as_slice() {
        [group] => Ok(*group),
        [] => {
            // The error names a line that does not fit two dimensions, or three if more lines fit three.
            let whole =
                |group: usize| lines.iter().filter(|(_, values)| values.len().is_multiple_of(group)).count();
            Ok(if whole(4) > whole(3) { 4 } else { 3 })
        }
        _ => Err(TraceError::new(lines[0].0, TraceProblem::Ambiguous)),
    }
}

fn node(index: usize, line: usize, values: &[f64], group: usize, units: Units) -> Result<TraceNode> {
    if !values.len().is_multiple_of(group) {
        let problem = TraceProblem::PartOfPlace { numbers: values.len(), group };
        return Err(TraceError::new(line, problem));
    }
    let mut motion: Option<(f64, Motion)> = None;
    for place in values.chunks(group) {
        let now = units.time(line, &place[0].to_string())?;
        let axis = |axis: usize, what| units.coordinate(line, axis, what, &place[1 + axis].to_string());
        let to = units.ordered([axis(0, "x")?, axis(1, "y")?]);
        let Some((before, motion)) = &mut motion else {
            motion = Some((now, Motion::standing(to)));
            continue;
        };
        if now < *before {
            return Err(TraceError::new(line, TraceProblem::Backwards { now, before: *before }));
        }
        reach(line, motion, [*before, now], to)?;
        *before = now;
    }
    let (_, motion) = motion.expect("lines are not empty");
    Ok(TraceNode { index, name: index.to_string(), line, motion, off: Vec::new() })
}
