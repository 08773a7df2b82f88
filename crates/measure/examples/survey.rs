//! Prints the measurements of each interface of a capture: `cargo run --release -p multihop-measure --example
//! survey -- FILE`.

use multihop_capture::Capture;
use multihop_measure::{ChannelSurvey, StationId, SurveyOptions, survey};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a capture")?;
    let found = survey(Capture::open(path)?, &SurveyOptions::default(), |_| true)?;
    println!("{} records, {} bytes", found.records, found.bytes);
    for ChannelSurvey { interface, name, channel_mhz, report: found } in &found.sniffers {
        let busy: f64 = found.busy.iter().map(|span| span.seconds()).sum();
        println!(
            "interface {interface} {} at {channel_mhz} MHz: {} s, on the air {busy:.3} s, stamps mark {:?} by {} pairs, {} stations, {:?}",
            name.as_deref().unwrap_or_default(),
            found.length.seconds(),
            found.stamp_reference,
            found.pairs,
            found.stations.len(),
            found.quality.verdict()
        );
        for (sender, receiver, link) in &found.links {
            let name = |id: StationId| found.stations[id.index()].address;
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
    if let Some(why) = found.broken {
        println!("{why}");
    }
    Ok(())
}
