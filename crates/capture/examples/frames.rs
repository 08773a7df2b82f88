//! Prints a line for each frame of a capture, for comparison with other dissectors: number, time in seconds,
//! type and subtype as one number, bytes on the air, microseconds on the air, FCS; `-` for unknown values.
//!
//! ```sh
//! cargo run --release -p multihop-capture --example frames -- CAPTURE
//! ```

use multihop_capture::{Capture, DissectError, RxInfo, airtime, dissect};
use std::error::Error;
use std::fmt::Display;
use std::io::{BufWriter, Write};

/// Time in nanoseconds: as seconds in floating point, a present-day timestamp would lose its last digits.
const SECOND: u64 = 1_000_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: frames CAPTURE")?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut capture = Capture::open(path)?;
    while let Some(record) = capture.next() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                eprintln!("{error}");
                break;
            }
        };
        let time = shown(record.time.map(|time| format!("{}.{:09}", time.ns() / SECOND, time.ns() % SECOND)));
        match dissect(&record) {
            Ok((reception, frame)) => {
                let us = microseconds(&reception, frame.air_bytes);
                writeln!(
                    out,
                    "{} {time} {} {} {} {:?}",
                    record.number, frame.type_subtype, frame.air_bytes, us, frame.fcs
                )?;
            }
            Err(DissectError::Frame { error, reception, air_bytes }) => {
                let us = microseconds(&reception, air_bytes);
                writeln!(out, "{} {time} - {air_bytes} {us} {error}", record.number)?;
            }
            Err(error) => writeln!(out, "{} {time} - - - {error}", record.number)?,
        }
    }
    Ok(())
}

fn microseconds(reception: &RxInfo, air_bytes: u32) -> String {
    shown(airtime(reception, air_bytes).map(|span| span.ns() as f64 / 1e3))
}

fn shown(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".into(), |value| value.to_string())
}
