//! Any bytes as a file of motion; the first byte chooses the format.

use multihop_scenario::trace::{Format, read};

const FORMATS: [Format; 5] = [
    Format::Setdest,
    Format::BonnMotion { dimensions: None },
    Format::BonnMotion { dimensions: Some(2) },
    Format::BonnMotion { dimensions: Some(3) },
    Format::Fcd,
];

/// Reads the file. Nodes are where some number says, at any time.
pub fn check(bytes: &[u8]) {
    let [format, bytes @ ..] = bytes else { return };
    let trace = match read(bytes, FORMATS[usize::from(*format) % FORMATS.len()]) {
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
        assert!(node.off.iter().all(|[from, to]| from <= to), "{:?}", node.off);
    }
}
