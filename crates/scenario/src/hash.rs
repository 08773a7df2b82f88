//! What identifies a scenario, whatever the seed.

use crate::mobility::Moved;
use multihop_dot11::DataRate;
use multihop_link::Discipline;
use multihop_sim::config::{Config, NodeConfig, Persistence, SchemeConfig};
use multihop_sim::mobility::Mobility;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// SHA-256, in hexadecimal, of everything that a run depends on but the seed.
///
/// Comments, formatting, units and the order of keys do not change it: it is that of the resolved values, in the form in which
/// Rust derives `Debug`, which names each field. `identities` stand for the schemes, as these are code, and `moved` for the
/// places of nodes that move and for outages, which may be drawn anew for each seed.
pub(super) fn hash(
    config: &Config,
    jitters: &[multihop_core::Span],
    identities: &[(&'static str, Value)],
    moved: &Moved,
) -> String {
    // Without `..`: a new field of the configuration must find its place here.
    let Config {
        name,
        seed: _,
        duration,
        warmup,
        record_interval,
        nodes,
        wires,
        phy,
        data_rate,
        control_rate,
        ack_rate,
        mac,
        aggregation,
        persistence,
        rate_control,
        edca,
        discipline,
        hardware_queue,
        medium,
        sensitivity_by_rate,
        fading,
        delays_by_distance,
        causes: _,
        routing,
        schemes,
        flows,
        extra_header,
        arp,
        measurements,
        mobility: Mobility { motions: _, resolution, outages: _ },
        link_rates,
        radios,
    } = config;
    let mut nodes: Vec<NodeConfig> = nodes.clone();
    moved.nodes.iter().for_each(|index| nodes[*index].position = None);
    let mut sink = Sink(Sha256::new());
    let general = (name, duration, warmup, record_interval, extra_header);
    let network = (
        nodes,
        phy,
        [Some(*data_rate), control_rate.map(DataRate::Bits), ack_rate.map(DataRate::Bits)],
        mac,
        medium,
        routing,
    );
    let names: Vec<&String> = schemes.iter().map(|SchemeConfig { name, scheme: _ }| name).collect();
    write!(sink, "{general:?} {network:?} {names:?} {flows:?} {jitters:?}").expect("a digest takes all text");
    for (base, parameters) in identities {
        write!(sink, " {base} {parameters}").expect("a digest takes all text");
    }
    if !measurements.is_empty() {
        write!(sink, " {measurements:?}").expect("a digest takes all text");
    }
    if *discipline != Discipline::DropTail {
        write!(sink, " {discipline:?}").expect("a digest takes all text");
    }
    if let Some(hardware) = hardware_queue {
        write!(sink, " {hardware:?}").expect("a digest takes all text");
    }
    if let Some(limits) = aggregation {
        write!(sink, " {limits:?}").expect("a digest takes all text");
    }
    if *persistence != Persistence::default() {
        write!(sink, " {persistence:?}").expect("a digest takes all text");
    }
    if *sensitivity_by_rate {
        sink.write_str(" sensitivity by rate").expect("a digest takes all text");
    }
    if let Some(fading) = fading {
        write!(sink, " {fading:?}").expect("a digest takes all text");
    }
    if let Some(control) = rate_control {
        write!(sink, " {control:?}").expect("a digest takes all text");
    }
    if let Some(parameters) = edca {
        write!(sink, " {parameters:?}").expect("a digest takes all text");
    }
    if *arp {
        sink.write_str(" arp").expect("a digest takes all text");
    }
    if *delays_by_distance {
        sink.write_str(" by distance").expect("a digest takes all text");
    }
    if !wires.is_empty() {
        write!(sink, " {wires:?}").expect("a digest takes all text");
    }
    if !link_rates.is_empty() {
        write!(sink, " {link_rates:?}").expect("a digest takes all text");
    }
    if !radios.are_one_each() {
        write!(sink, " {radios:?}").expect("a digest takes all text");
    }
    if !moved.nodes.is_empty() || !moved.outages.is_empty() {
        write!(sink, " {resolution:?} {} {}", moved.outages, moved.identity)
            .expect("a digest takes all text");
    }
    sink.0.finalize().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Text that is only digested.
struct Sink(Sha256);

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}
