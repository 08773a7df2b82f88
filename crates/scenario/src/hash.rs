//! What identifies a scenario, whatever the seed.

use crate::mobility::Moved;
use multihop_dot11::DataRate;
use multihop_link::Discipline;
use multihop_sim::config::{Config, Delivery, NodeConfig, Persistence, Protection, SchemeConfig};
use multihop_sim::mobility::Mobility;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::{Arguments, Debug, Write};

/// SHA-256, in hexadecimal, of everything that a run depends on but the seed.
///
/// Comments, formatting, units, the order of keys, and whether a default is stated do not change it: it is
/// that of the resolved values, in the form in which Rust derives `Debug`, which names each field.
/// `identities` stand for the schemes, as these are code, and `moved` for the places of nodes that move and
/// for outages, which may be drawn anew for each seed. The name is what the scenario says, and not that of a
/// file, so that a copy under another name is the same scenario.
pub(super) fn hash(
    config: &Config,
    name: Option<&str>,
    jitters: &[multihop_core::Span],
    identities: &[(&'static str, Value)],
    moved: &Moved,
) -> String {
    // Without `..`: a new field of the configuration must find its place here.
    let Config {
        name: _,
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
        delivery,
        rate_control,
        edca,
        protection,
        cts_to_self,
        discipline,
        hardware_queue,
        medium,
        sensitivity_by_rate,
        preamble_detection,
        fading,
        delays_by_distance,
        causes: _,
        routing,
        schemes,
        flows,
        extra_header,
        msdu_limit: _, // of the rules
        arp,
        measurements,
        mobility: Mobility { motions: _, resolution, outages: _ },
        link_rates,
        radios,
        powers,
    } = config;
    let mut sink = Sink(Sha256::new());
    let general = (name.unwrap_or_default(), duration, warmup, record_interval, extra_header);
    let rates = [Some(*data_rate), control_rate.map(DataRate::Bits), ack_rate.map(DataRate::Bits)];
    let network = (unmoved(nodes, moved), phy, rates, mac, medium, routing);
    sink.text(format_args!("{general:?} {network:?} {:?} {flows:?} {jitters:?}", names(schemes)));
    sink.schemes(identities);
    // What came later counts where it is used alone: scenarios without it keep their identity.
    sink.unless(measurements.is_empty(), measurements);
    sink.unless(*discipline == Discipline::DropTail, discipline);
    sink.given(hardware_queue.as_ref()).given(aggregation.as_ref());
    sink.persistence(*persistence);
    sink.flag(*delivery == Delivery::Mpdu, "MPDU by MPDU");
    sink.flag(*sensitivity_by_rate, "sensitivity by rate").given(preamble_detection.as_ref());
    sink.given(fading.as_ref()).given(rate_control.as_ref()).given(edca.as_ref());
    sink.flag(*protection == Protection::Multiple, "multiple protection");
    sink.flag(*cts_to_self, "CTS to self");
    sink.flag(*arp, "arp").flag(*delays_by_distance, "by distance");
    sink.list(wires).list(link_rates);
    sink.unless(radios.are_one_each(), radios);
    sink.list(powers).moved(*resolution, moved);
    sink.hexadecimal()
}

fn names(schemes: &[SchemeConfig]) -> Vec<&String> {
    schemes.iter().map(|SchemeConfig { name, scheme: _ }| name).collect()
}

/// The nodes, without the places of those that move.
fn unmoved(nodes: &[NodeConfig], moved: &Moved) -> Vec<NodeConfig> {
    let mut nodes = nodes.to_vec();
    moved.nodes.iter().for_each(|index| nodes[*index].position = None);
    nodes
}

/// Text that is only digested.
struct Sink(Sha256);

impl Sink {
    fn schemes(&mut self, identities: &[(&'static str, Value)]) {
        for (base, parameters) in identities {
            self.text(format_args!(" {base} {parameters}"));
        }
    }

    /// A limit of requests came later than the rest.
    fn persistence(&mut self, persistence: Persistence) {
        let Persistence { retry_limit, reorders_without_end, request_limit } = persistence;
        if retry_limit.is_some() || reorders_without_end {
            self.text(format_args!(
                " Persistence {{ retry_limit: {retry_limit:?}, reorders_without_end: {reorders_without_end:?} }}"
            ));
        }
        if let Some(limit) = request_limit {
            self.text(format_args!(" {limit} requests"));
        }
    }

    fn moved(&mut self, resolution: f64, moved: &Moved) {
        if !moved.nodes.is_empty() || !moved.outages.is_empty() {
            self.text(format_args!(" {resolution:?} {} {}", moved.outages, moved.identity));
        }
    }

    fn hexadecimal(self) -> String {
        self.0.finalize().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    }

    fn text(&mut self, text: Arguments<'_>) {
        self.write_fmt(text).expect("a digest takes all text");
    }

    /// A value, unless it is that of a scenario which does not have it.
    fn unless(&mut self, is_usual: bool, value: impl Debug) {
        if !is_usual {
            self.text(format_args!(" {value:?}"));
        }
    }

    /// Values of which there may be none.
    fn list(&mut self, values: &[impl Debug]) -> &mut Sink {
        self.unless(values.is_empty(), values);
        self
    }

    /// A value that there may be.
    fn given(&mut self, value: Option<impl Debug>) -> &mut Sink {
        if let Some(value) = value {
            self.unless(false, value);
        }
        self
    }

    /// A name, if what it stands for is on.
    fn flag(&mut self, is_on: bool, name: &str) -> &mut Sink {
        if is_on {
            self.text(format_args!(" {name}"));
        }
        self
    }
}

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}
