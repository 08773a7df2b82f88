//! Any bytes as a file of motion; the first byte chooses the format and the units.

use multihop_scenario::trace::{Coordinates, Format, Times, Units, read};

const FORMATS: [Format; 5] = [
    Format::Setdest,
    Format::BonnMotion { dimensions: None },
    Format::BonnMotion { dimensions: Some(2) },
    Format::BonnMotion { dimensions: Some(3) },
    Format::Fcd,
];

const COORDINATES: [Option<Coordinates>; 5] = [
    None,
    Some(Coordinates::Metres),
    Some(Coordinates::Kilometres),
    Some(Coordinates::LonLat),
    Some(Coordinates::LatLon),
];

const TIMES: [Option<Times>; 3] = [None, Some(Times::Seconds), Some(Times::Milliseconds)];

/// Reads the file. Nodes are where some number says, at any time.
pub fn check(bytes: &[u8]) {
    let [choice, bytes @ ..] = bytes else { return };
    let choice = usize::from(*choice);
    let units = Units {
        coordinates: COORDINATES[choice / FORMATS.len() % COORDINATES.len()],
        times: TIMES[choice / FORMATS.len() / COORDINATES.len() % TIMES.len()],
    };
    let trace = match read(bytes, FORMATS[choice % FORMATS.len()], units) {
        Ok(trace) => trace,
        Err(error) => {
            assert!(error.line > 0 && !error.found().is_empty() && !error.remedy().is_empty(), "{error}");
            return;
        }
    };
    for node in &trace.nodes {
        for time in [0.0, 1.0, 1e3, 1e9] {
            let [x, y] = node.motion.at(time);
            assert!(x.is_finite() && y.is_finite(), "{:?} at {time}", node.name);
        }
        assert!(node.motion.fastest().is_finite(), "{:?}", node.motion);
        assert!(node.off.iter().all(|[from, to]| from <= to), "{:?}", node.off);
    }
}
