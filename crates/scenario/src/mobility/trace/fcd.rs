//! Floating car data of SUMO: positions of vehicles and persons at each time step, as XML.
//!
//! Between two steps a vehicle moves in a straight line. A vehicle is present from its first step to its
//! last, or to the end of the run if its last step is the last of the file. SUMO writes places in metres, or
//! with `--fcd-output.geo` in degrees. The stated speeds, or the configuration that SUMO writes into its
//! first comment, tell which.

use super::units::{self, Coordinates, Stated, Statements, Units};
use super::{Motion, Result, Trace, TraceError, TraceNode, reach, shortened};
use crate::error::TraceProblem;
use multihop_sim::mobility::FASTEST;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, Read};

/// Reader that counts lines.
struct Lines<R> {
    from: R,
    line: usize,
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let length = from.len().min(into.len());
        into[..length].copy_from_slice(&from[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Lines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The buffer is still filled, so that this call reads nothing.
        if let Ok(filled) = self.from.fill_buf() {
            self.line += filled[..amount].split(|byte| *byte == b'\n').count() - 1;
        }
        self.from.consume(amount);
    }
}

#[derive(Default)]
struct Tracks {
    units: Units,
    statements: Statements,
    now: Option<f64>,
    /// Index in `nodes`, by name.
    names: BTreeMap<String, usize>,
    nodes: Vec<TraceNode>,
    /// Presence of each node: first and last time, and the last place.
    present: Vec<([f64; 2], [f64; 2])>,
}

/// Reads a file.
pub(super) fn read(from: impl BufRead, units: Units) -> Result<Trace> {
    let mut reader = Reader::from_reader(Lines { from, line: 1 });
    let mut buffer = Vec::new();
    let mut tracks = Tracks { units, ..Tracks::default() };
    let mut open: Vec<String> = Vec::new();
    loop {
        buffer.clear();
        let begun = reader.get_ref().line;
        let event = reader.read_event_into(&mut buffer);
        let line = reader.get_ref().line;
        match event.map_err(|error| no_xml(line, &error))? {
            Event::Start(tag) => {
                tracks.tag(begun, &open, &tag)?;
                open.push(tag.name().as_ref().to_owned());
            }
            Event::Empty(tag) => tracks.tag(begun, &open, &tag)?,
            Event::End(_) => drop(open.pop()),
            Event::Text(text) if open.is_empty() && !text.trim().is_empty() => {
                let problem = TraceProblem::TextAtTop { text: shortened(text.trim()) };
                return Err(TraceError::new(begun, problem));
            }
            Event::Comment(text) if open.is_empty() => tracks.comment(&text),
            Event::Eof if open.is_empty() => return tracks.finish(line),
            Event::Eof => {
                let tag = shortened(&open[open.len() - 1]);
                return Err(TraceError::new(line, TraceProblem::EndsWithin { tag }));
            }
            _ => {}
        }
    }
}

impl Tracks {
    /// Handles a tag below the open ones. Only steps directly below the root count, and vehicles directly
    /// below steps.
    fn tag(&mut self, line: usize, open: &[String], tag: &BytesStart) -> Result<()> {
        let within = open.last().map_or("", String::as_str);
        match (open.len(), within, tag.name().as_ref()) {
            (0, _, "fcd-export") => Ok(()),
            (0, _, other) => Err(TraceError::new(line, TraceProblem::TagAtTop { tag: shortened(other) })),
            (1, _, "timestep") => {
                let now = self.units.time(line, &attribute(line, tag, "time")?)?;
                if let Some(before) = self.now.filter(|before| now <= *before) {
                    return Err(TraceError::new(line, TraceProblem::Backwards { now, before }));
                }
                self.now = Some(now);
                Ok(())
            }
            (2, "timestep", "vehicle" | "person") => self.place(line, tag),
            _ => Ok(()),
        }
    }

    /// Handles the first comment, in which SUMO writes its configuration.
    fn comment(&mut self, text: &str) {
        let (_, option) = text.split_once("fcd-output.geo").unwrap_or_default();
        let value = option.trim_start().strip_prefix("value=\"");
        if value.is_some_and(|value| {
            ["true", "1", "x", "yes", "on"].iter().any(|yes| value.starts_with(&format!("{yes}\"")))
        }) {
            self.units.coordinates.get_or_insert(Coordinates::LonLat);
        }
    }

    fn place(&mut self, line: usize, tag: &BytesStart) -> Result<()> {
        let now = self.now.expect("a vehicle is within a step, which has a time");
        let name = attribute(line, tag, "id")?;
        let axis = |axis, key| self.units.coordinate(line, axis, key, &attribute(line, tag, key)?);
        let to = self.units.ordered([axis(0, "x")?, axis(1, "y")?]);
        let Some(&known) = self.names.get(&name) else {
            let index = self.nodes.len();
            self.names.insert(name.clone(), index);
            let motion = Motion::standing(to);
            self.nodes.push(TraceNode { index, name, line, motion, off: Vec::new() });
            self.present.push(([now; 2], to));
            return Ok(());
        };
        let ([_, until], place) = &mut self.present[known];
        if *until == now {
            let problem = TraceProblem::VehicleTwice { name: shortened(&name), now };
            return Err(TraceError::new(line, problem));
        }
        reach(line, &mut self.nodes[known].motion, [*until, now], to)?;
        // SUMO writes an unknown speed as a large negative number.
        let speed = optional(line, tag, "speed")?.and_then(|speed| speed.parse::<f64>().ok());
        if let Some(speed) = speed.filter(|speed| (0.0..=FASTEST).contains(speed)) {
            self.statements.add(Stated { from: *place, to, seconds: now - *until, speed });
        }
        (*until, *place) = (now, to);
        Ok(())
    }

    fn finish(mut self, line: usize) -> Result<Trace> {
        if self.nodes.is_empty() {
            return Err(TraceError::new(line, TraceProblem::NoVehicles));
        }
        let first_to_last = self.nodes.iter_mut().zip(&self.present);
        for (node, ([since, until], _)) in first_to_last {
            node.off.extend((*since > 0.0).then_some([0.0, *since]));
            node.off.extend((Some(*until) != self.now).then_some([*until, f64::INFINITY]));
        }
        let first = self.nodes[0].line;
        let trace = Trace { nodes: self.nodes, hops: Vec::new() };
        let in_degrees = self.units.in_degrees(first, &self.statements)?;
        let trace = if in_degrees { units::projected(trace) } else { trace };
        units::check(&trace, self.units, self.statements.len() > 0, units::FAST)?;
        Ok(trace)
    }
}

fn attribute(line: usize, tag: &BytesStart, key: &'static str) -> Result<String> {
    optional(line, tag, key)?.ok_or_else(|| {
        let tag = shortened(tag.name().as_ref());
        TraceError::new(line, TraceProblem::NoAttribute { tag, key })
    })
}

fn optional(line: usize, tag: &BytesStart, key: &'static str) -> Result<Option<String>> {
    let found = tag.try_get_attribute(key).map_err(|error| no_xml(line, &error))?;
    let value = |attribute: Attribute| {
        attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).map(Cow::into_owned)
    };
    found.map(value).transpose().map_err(|error| no_xml(line, &error))
}

fn no_xml(line: usize, error: &impl fmt::Display) -> TraceError {
    TraceError::new(line, TraceProblem::NoXml { why: error.to_string() })
}
