//! Prints what each interface of a capture saw: `cargo run --release -p multihop-measure --example findings -- FILE`.

use multihop_capture::Capture;
use multihop_measure::{Onlooker, Options};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a capture")?;
    let mut capture = Capture::open(path)?;
    let mut onlookers: Vec<Onlooker> = Vec::new();
    let mut broken = None;
    while let Some(record) = capture.next() {
        match record {
            Ok(record) => {
                while onlookers.len() <= record.interface {
                    onlookers.push(Onlooker::new(Options::default()));
                }
                onlookers[record.interface].see(&record);
            }
            Err(error) => {
                broken = Some(error);
                break;
            }
        }
    }
    for (number, onlooker) in onlookers.into_iter().enumerate() {
        let found = onlooker.finish();
        let busy: f64 = found.busy.iter().map(|span| span.seconds()).sum();
        println!(
            "interface {number}: {} s, busy {:.3}, stamps {:?} by {} pairs, {} stations, {:?}",
            found.length.seconds(),
            busy / found.length.seconds(),
            found.marks,
            found.pairs,
            found.stations.len(),
            found.quality.verdict()
        );
        for (sender, receiver, link) in &found.links {
            let name = |id: multihop_measure::StationId| found.stations[id.index()].address;
            println!(
                "  {} > {}: {} exchanges, {} answered, {} retries, {} reserved, capacity {:.3} Mb/s in {} batches",
                name(*sender),
                name(*receiver),
                link.exchanges,
                link.answered,
                link.retries,
                link.reserved,
                link.capacity_bps.mean / 1e6,
                link.capacity_bps.count
            );
        }
    }
    if let Some(error) = broken {
        println!("{error}");
    }
    Ok(())
}
