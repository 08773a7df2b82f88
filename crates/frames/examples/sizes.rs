//! What the bytes of frame logs are spent on: `cargo run --release -p multihop-frames --example sizes --
//! LOG...`, in bytes per transmission.

use multihop_frames::{Table, read, sizes};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let log = read(&bytes, None, u64::MAX)?;
        let transmissions = log.column(Table::Transmissions, "start").len().max(1) as f64;
        println!(
            "{path}: {:.3} B for each of {transmissions} transmissions",
            bytes.len() as f64 / transmissions
        );
        let mut found: Vec<_> = sizes(&bytes)?.into_iter().collect();
        found.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
        for (name, size) in found.iter().take_while(|(_, size)| *size as f64 >= transmissions / 100.0) {
            println!("{:>8.3}  {name}", *size as f64 / transmissions);
        }
    }
    Ok(())
}
