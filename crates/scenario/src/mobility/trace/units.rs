//! Units of a motion file: as stated by the file or the scenario, and checked against the motion.

use super::{Motion, Result, Trace, TraceError, TraceNode, number};
use crate::error::TraceProblem;
use multihop_sim::mobility::{FASTEST, distance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Mean radius of the earth in metres, as in the importers of meshes.
const EARTH_RADIUS_M: f64 = 6_371_000.0;

/// Ratios of a motion's speed to the stated speed within which the two agree. A vehicle's chord is shorter
/// than its path, and its speed changes between two steps.
const AGREES: std::ops::RangeInclusive<f64> = 1.0 / 3.0..=3.0;

/// Speed in metres per second below which all nodes are implausibly slow: places are hardly in metres, or
/// times hardly in seconds.
pub(super) const SLOW: f64 = 0.1;

/// Speed in metres per second above which a node is implausibly fast, in a file that states no speeds.
pub(super) const FAST: f64 = 1000.0;

/// Maximum number of stated speeds that are compared.
const SAMPLES_MAX: usize = 10_000;

/// Kind and unit of the coordinates of a file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coordinates {
    /// x and y in metres.
    Metres,
    /// x and y in kilometres.
    Kilometres,
    /// Longitude and latitude in degrees, as SUMO writes them with `--fcd-output.geo`. Projected
    /// equirectangularly about the mean latitude.
    LonLat,
    /// Latitude and longitude in degrees.
    LatLon,
}

/// Unit of the times of a file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Times {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

/// Units of a file as stated by the scenario. Default: metres and seconds; a motion that contradicts them is
/// an error. Places in degrees are recognised by the speeds that the file states.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Units {
    /// Kind and unit of coordinates.
    pub coordinates: Option<Coordinates>,
    /// Unit of times.
    pub times: Option<Times>,
}

/// Movement between two places in the file's coordinates, with the speed that the file states for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stated {
    pub(super) from: [f64; 2],
    pub(super) to: [f64; 2],
    pub(super) seconds: f64,
    pub(super) speed: f64,
}

/// Speeds that a file states.
#[derive(Debug, Default)]
pub(super) struct Statements(Vec<Stated>);

/// Projection of longitude and latitude to metres east and north of the south-western corner of all places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projection {
    corner: [f64; 2],
    /// Metres per degree of longitude and of latitude.
    degree_m: [f64; 2],
}

impl Units {
    /// A coordinate of this axis, in metres or degrees. Heights (axis 2) are in metres.
    pub(super) fn coordinate(
        self,
        line: usize,
        axis: usize,
        what: impl fmt::Display,
        text: &str,
    ) -> Result<f64> {
        let (most, unit) = match (self.coordinates, axis) {
            (None | Some(Coordinates::Metres), _) | (_, 2) => (1e7, 1.0),
            (Some(Coordinates::Kilometres), _) => (1e4, 1000.0),
            (Some(Coordinates::LonLat), 0) | (Some(Coordinates::LatLon), 1) => (180.0, 1.0),
            (Some(Coordinates::LonLat | Coordinates::LatLon), _) => (90.0, 1.0),
        };
        Ok(number(line, what, text, -most, most)? * unit)
    }

    /// A time in seconds, up to a hundred years.
    pub(super) fn time(self, line: usize, text: &str) -> Result<f64> {
        let unit = if self.times == Some(Times::Milliseconds) { 1e-3 } else { 1.0 };
        Ok(number(line, "time", text, 0.0, 3.155_76e9 / unit)? * unit)
    }

    /// A place with the longitude first, if it is in degrees.
    pub(super) fn ordered(self, [a, b]: [f64; 2]) -> [f64; 2] {
        if self.coordinates == Some(Coordinates::LatLon) { [b, a] } else { [a, b] }
    }

    /// Whether places are in degrees, as stated by the scenario or implied by the stated speeds.
    ///
    /// # Errors
    /// If the stated speeds contradict the motion, both in metres and in degrees.
    pub(super) fn in_degrees(self, line: usize, statements: &Statements) -> Result<bool> {
        match self.coordinates {
            Some(coordinates) => Ok(matches!(coordinates, Coordinates::LonLat | Coordinates::LatLon)),
            None => statements.in_degrees(line),
        }
    }

    /// Whether the scenario states no units, so that the motion has to be plausible.
    fn are_assumed(self) -> bool {
        self.coordinates.is_none() && self.times.is_none()
    }
}

impl Statements {
    /// Adds a movement, if its speed and duration are large enough to compare.
    pub(super) fn add(&mut self, stated: Stated) {
        if self.0.len() < SAMPLES_MAX && stated.seconds > 0.0 && stated.speed >= 1.0 {
            self.0.push(stated);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Median of the ratios of actual to stated speed, with places in these coordinates.
    fn ratio(&self, coordinates: Coordinates) -> Option<f64> {
        let mut ratios = Vec::with_capacity(self.0.len());
        for Stated { from, to, seconds, speed } in &self.0 {
            let metres = match coordinates {
                Coordinates::Metres => distance(*from, *to),
                Coordinates::Kilometres => 1000.0 * distance(*from, *to),
                Coordinates::LonLat => of_degrees(*from, *to)?,
                Coordinates::LatLon => of_degrees([from[1], from[0]], [to[1], to[0]])?,
            };
            ratios.push(metres / (seconds * speed));
        }
        let middle = ratios.len() / 2;
        (!ratios.is_empty()).then(|| *ratios.select_nth_unstable_by(middle, f64::total_cmp).1)
    }

    fn in_degrees(&self, line: usize) -> Result<bool> {
        let Some(ratio) = self.ratio(Coordinates::Metres).filter(|ratio| !AGREES.contains(ratio)) else {
            return Ok(false);
        };
        let fits = |coordinates| self.ratio(coordinates).is_some_and(|ratio| AGREES.contains(&ratio));
        if fits(Coordinates::LonLat) {
            return Ok(true);
        }
        let mut speeds: Vec<f64> = self.0.iter().map(|stated| stated.speed).collect();
        let middle = speeds.len() / 2;
        let stated = *speeds.select_nth_unstable_by(middle, f64::total_cmp).1;
        let mut instead = Vec::new();
        if fits(Coordinates::LatLon) {
            instead.push("coordinates = \"lat-lon\"");
        }
        if fits(Coordinates::Kilometres) {
            instead.extend(["coordinates = \"kilometres\"", "times = \"milliseconds\""]);
        }
        instead.push("coordinates = \"metres\" if only the speeds are wrong");
        let problem = TraceProblem::SpeedsContradict { stated, moved: stated * ratio, instead };
        Err(TraceError::new(line, problem))
    }
}

/// Distance in metres between two places in degrees of longitude and latitude; none if the coordinates are
/// impossible.
fn of_degrees(from: [f64; 2], to: [f64; 2]) -> Option<f64> {
    let possible = [from, to].iter().all(|[lon, lat]| lon.abs() <= 180.0 && lat.abs() <= 90.0);
    let projection = Projection::new([from, to]);
    possible.then(|| distance(projection.place(from), projection.place(to)))
}

impl Projection {
    /// The projection of these places, which have the longitude first. Equirectangular about the mean
    /// latitude, which is accurate to 1 % up to some 100 km across.
    pub(super) fn new(places: impl IntoIterator<Item = [f64; 2]>) -> Projection {
        let (mut corner, mut latitudes, mut count) = ([f64::INFINITY; 2], 0.0, 0.0);
        for [lon, lat] in places {
            corner = [corner[0].min(lon), corner[1].min(lat)];
            latitudes += lat;
            count += 1.0;
        }
        let north = EARTH_RADIUS_M.to_radians();
        Projection { corner, degree_m: [north * (latitudes / count).to_radians().cos(), north] }
    }

    /// A place in metres.
    pub(super) fn place(&self, degrees: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|axis| self.along(axis, degrees[axis]))
    }

    /// A coordinate in metres, of the longitude (axis 0) or the latitude (axis 1).
    pub(super) fn along(&self, axis: usize, degrees: f64) -> f64 {
        (degrees - self.corner[axis]) * self.degree_m[axis]
    }
}

/// The trace in metres of a trace in degrees of longitude and latitude.
pub(super) fn projected(mut trace: Trace) -> Trace {
    let places = trace.nodes.iter().flat_map(|node| places(&node.motion));
    let projection = Projection::new(places);
    for node in &mut trace.nodes {
        node.motion = node.motion.mapped(|place| projection.place(place));
    }
    trace
}

/// Places at which a node begins or ends a leg.
fn places(motion: &Motion) -> impl Iterator<Item = [f64; 2]> + '_ {
    std::iter::once(motion.origin()).chain(motion.legs().iter().map(|leg| leg.to))
}

/// Refuses a motion that is hardly in metres and seconds, unless stated speeds agree with it: all nodes are
/// slow, all are at one place, or a node is faster than `fast`.
pub(super) fn check(trace: &Trace, units: Units, speeds_agree: bool, fast: f64) -> Result<()> {
    let speed = |node: &TraceNode| node.motion.fastest();
    let Some(fastest) = trace.nodes.iter().max_by(|a, b| speed(a).total_cmp(&speed(b))) else {
        return Ok(());
    };
    let (line, speed) = (fastest.line, speed(fastest));
    let problem = if speed > FASTEST {
        TraceProblem::TooFast { speed, fastest: FASTEST }
    } else if speeds_agree || !units.are_assumed() {
        return Ok(());
    } else if speed > fast {
        TraceProblem::ImplausiblyFast { speed, fast }
    } else if speed > 0.0 && speed < SLOW {
        TraceProblem::ImplausiblySlow { speed, slow: SLOW, like: likely_coordinates(trace) }
    } else if let Some(metres) = extent(trace).filter(|metres| *metres < SLOW) {
        TraceProblem::ImplausiblyNear { metres, like: likely_coordinates(trace) }
    } else {
        return Ok(());
    };
    Err(TraceError::new(line, problem))
}

/// Likely coordinates of places that are hardly in metres.
fn likely_coordinates(trace: &Trace) -> &'static str {
    let within = |most: [f64; 2]| {
        let mut places = trace.nodes.iter().flat_map(|node| places(&node.motion));
        places.all(|place| place[0].abs() <= most[0] && place[1].abs() <= most[1])
    };
    match () {
        () if within([180.0, 90.0]) => "lon-lat",
        () if within([90.0, 180.0]) => "lat-lon",
        () => "kilometres",
    }
}

/// Larger side of the rectangle around all places; none if all nodes are at the same place.
fn extent(trace: &Trace) -> Option<f64> {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for place in trace.nodes.iter().flat_map(|node| places(&node.motion)) {
        low = [0, 1].map(|axis| low[axis].min(place[axis]));
        high = [0, 1].map(|axis| high[axis].max(place[axis]));
    }
    Some((high[0] - low[0]).max(high[1] - low[1])).filter(|extent| *extent > 0.0)
}
