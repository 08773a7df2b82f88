//! Names that a scenario can use.

use crate::flows::{App, Distribution, FlowDirection, Kind, Pattern};
use crate::generate::Generator;
use crate::mac::RuleSet;
use crate::measure::Measure;
use crate::medium::{Medium, PathLossModel, Quantity};
use crate::mobility::{Mobility, PauseDistribution, Start};
use crate::phy::rate::scheme_name;
use crate::routing::{OnLinkFailure, Routing};
use crate::topology::radios;
use multihop_config::keys::schema_with_references;
use multihop_core::{Carrier, FieldKind, FieldLayout, HeaderFormat, Layout, Rate};
use multihop_dot11::{Phy, Preamble, Standard};
use multihop_schemes::{REGISTRY, SchemeEntry};
use multihop_sim::config::RouteMetric;
use multihop_sim::routing::{FORMATS, WireFormat};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// Names that a scenario can use: an object of lists, each entry with its `name` and `summary`.
///
/// The lists are:
///
/// * `schemes`, with `reference` and the JSON Schema of the `parameters`; presets also have the scheme that
///   they are a `preset_of`, and the values of the `preset`;
/// * `headers`: layouts of congestion headers (with their `type`), of notices of routers, and of messages of
///   routing protocols (with their `ip_protocol` or `udp_port`), with bytes on the `air` and `fields`;
///   messages of routing protocols also state whether Wireshark has a dissector;
/// * `phys`, with `rates_bps`, `basic_rates_bps`, `default_rate_bps`, numbers of the
///   `channels`, and `schemes` in the default width, each with its `bps`;
/// * `preambles`, `rules`, `media`, `path_losses`, `link_quantities`, `routing_protocols`, `metrics`,
///   `link_failures`, `generators`, `traffic`, `directions`, `mixes`, `apps`, `distributions`, `estimators`,
///   `mobility`, `pauses` and `mobility_starts`.
///
/// Names with keys of their own have the JSON Schema of these keys in `parameters`.
pub fn catalogue() -> Value {
    catalogue_among(REGISTRY)
}

/// Same as [`catalogue`], with these schemes.
pub fn catalogue_among(known: &[SchemeEntry]) -> Value {
    let schemes = known.iter().map(|entry| {
        json!({
            "name": entry.name,
            "summary": entry.summary,
            "reference": entry.reference,
            "reliable": entry.reliable,
            "preset_of": entry.preset_of,
            "preset": entry.preset(),
            "parameters": entry.schema(),
        })
    });
    json!({
        "schemes": schemes.collect::<Vec<_>>(),
        "headers": headers(),
        "phys": phys(),
        "preambles": names::<Preamble>(),
        "rules": names::<RuleSet>(),
        "media": names::<Medium>(),
        "path_losses": names::<PathLossModel>(),
        "link_quantities": names::<Quantity>(),
        "routing_protocols": names::<Routing>(),
        "metrics": names::<RouteMetric>(),
        "link_failures": names::<OnLinkFailure>(),
        "generators": names::<Generator>(),
        "traffic": names::<Pattern>(),
        "directions": names::<FlowDirection>(),
        "mixes": names::<Kind>(),
        "apps": names::<App>(),
        "distributions": names::<Distribution>(),
        "estimators": names::<Measure>(),
        "mobility": names::<Mobility>(),
        "pauses": names::<PauseDistribution>(),
        "mobility_starts": names::<Start>(),
    })
}

/// Layouts of the congestion headers and of the routers' notices of all schemes, each once, and of messages
/// of routing protocols.
fn headers() -> Vec<Value> {
    let mut layouts: Vec<Layout> = Vec::new();
    for HeaderFormat { layout, .. } in REGISTRY.iter().flat_map(|entry| entry.headers) {
        if !layouts.contains(layout) {
            layouts.push(*layout);
        }
    }
    layouts.sort_by_key(|layout| layout.kind);
    let carried = |carrier: &Carrier| match carrier {
        Carrier::Ip(protocol) => ("ip_protocol", u16::from(*protocol)),
        Carrier::Udp(port) => ("udp_port", *port),
    };
    let own = REGISTRY.iter().filter(|entry| entry.preset_of.is_none());
    let notices = own.filter_map(|entry| entry.notices.as_ref());
    let notices = notices.map(|(carrier, notice)| header(&notice.layout, carried(carrier)));
    let routing = FORMATS.iter().flat_map(|WireFormat { carrier, layouts, in_wireshark }| {
        layouts.iter().map(move |layout| {
            let mut entry = header(layout, carried(carrier));
            entry["in_wireshark"] = json!(in_wireshark);
            entry
        })
    });
    let typed = |layout: &Layout| layout.kind.map(|kind| header(layout, ("type", u16::from(kind))));
    layouts.iter().filter_map(typed).chain(notices).chain(routing).collect()
}

/// A layout with the number that identifies it.
fn header(layout: &Layout, (key, number): (&str, u16)) -> Value {
    let field = |field: &FieldLayout| {
        let mut entry = json!({
            "name": field.name,
            "from": field.from,
            "to": field.to,
            "unit": field.unit,
            "summary": field.meaning.trim(),
        });
        entry["kind"] = match field.kind {
            FieldKind::Unsigned => json!("unsigned"),
            FieldKind::Signed => json!("signed"),
            FieldKind::Opaque => json!("bytes"),
            FieldKind::Address => json!("address"),
            FieldKind::Flag(bit) => {
                entry["bit"] = json!(bit);
                json!("flag")
            }
            FieldKind::Bits(bit, width) => {
                entry["bit"] = json!(bit);
                entry["width"] = json!(width);
                json!("bits")
            }
        };
        entry
    };
    json!({
        "name": layout.name,
        "summary": layout.title.trim(),
        key: number,
        "air": layout.air,
        "fields": layout.fields.iter().map(field).collect::<Vec<_>>(),
    })
}

/// Standards with their rates.
fn phys() -> Vec<Value> {
    let mut phys = names::<Standard>();
    for phy in &mut phys {
        let standard: Option<Standard> = serde_json::from_value(phy["name"].clone()).ok();
        let Some(standard) = standard else { continue };
        let table = Phy::new(standard, Preamble::Long);
        phy["rates_bps"] = table.rates().map(|(rate, _)| rate.bps()).collect();
        phy["basic_rates_bps"] = table.basic_rates().iter().map(|rate| rate.bps()).collect();
        phy["default_rate_bps"] = table.bit_rate(table.highest()).map(Rate::bps).into();
        phy["channels"] = radios::numbers(&table).into();
        phy["schemes"] = table
            .schemes()
            .filter_map(|scheme| {
                Some(json!({"name": scheme_name(&table, scheme), "bps": table.bit_rate(scheme)?.bps()}))
            })
            .collect();
    }
    phys
}

/// Names of an enum's variants that a message proposes: `"a", "b" or "c"`.
pub(crate) fn proposed<T: JsonSchema>(is_proposed: impl Fn(&str) -> bool) -> String {
    let names: Vec<Value> = names::<T>().into_iter().map(|mut entry| entry["name"].take()).collect();
    let names = names.iter().filter_map(Value::as_str).filter(|name| is_proposed(name));
    let quoted: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    match quoted.as_slice() {
        [first @ .., before, last] => [first, &[format!("{before} or {last}")]].concat().join(", "),
        few => few.concat(),
    }
}

/// Variants of an enum, from its schema: texts, and tables with a tag.
fn names<T: JsonSchema>() -> Vec<Value> {
    let schema = schema_with_references::<T>();
    let variants = schema["oneOf"].as_array().cloned().unwrap_or_default();
    variants.iter().flat_map(variant).collect()
}

fn variant(schema: &Value) -> Vec<Value> {
    let summary = &schema["description"];
    let entry = |name: &Value, keys: Map<String, Value>| {
        let mut entry = json!({ "name": name, "summary": summary });
        if !keys.is_empty() {
            entry["parameters"] = json!({ "properties": keys });
        }
        entry
    };
    if let Some(name) = schema.get("const") {
        return vec![entry(name, Map::new())];
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return names.iter().map(|name| entry(name, Map::new())).collect();
    }
    let mut keys = Map::new();
    let mut name = Value::Null;
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        match property.get("const") {
            Some(tag) => name = tag.clone(),
            None => drop(keys.insert(key.clone(), property.clone())),
        }
    }
    vec![entry(&name, keys)]
}
