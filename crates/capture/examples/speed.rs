//! Reads and dissects captures and prints the number of records, frames and microseconds on the air, to
//! measure speed:
//!
//! ```sh
//! time cargo run --release -p multihop-capture --example speed -- CAPTURE...
//! ```

use multihop_capture::{Capture, airtime, dissect};
use multihop_core::Span;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let (mut records, mut frames, mut air) = (0_u64, 0_u64, Span::ZERO);
        let mut capture = Capture::open(&path)?;
        while let Some(record) = capture.next() {
            let record = record?;
            records += 1;
            if let Ok((reception, frame)) = dissect(&record) {
                frames += 1;
                air += airtime(&reception, frame.air_bytes).unwrap_or_default();
            }
        }
        println!("{path}: {} bytes, {records} records, {frames} frames, {air}", capture.position());
    }
    Ok(())
}
