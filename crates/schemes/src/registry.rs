//! Registry of schemes, and construction of a scheme from its parameters.

use crate::Scheme;
use crate::overrides::Stated;
use crate::overrides::state_defaults;
use crate::published::{self, Preset};
use crate::tcp::{Flavour, TcpParameters};
use crate::tfrc::TfrcParameters;
use crate::{
    Abc, Atcp, Bmcc, EcnBusy, EcnFsd, EcnRts, Ewccp, Gcc, Lred, MaxNet, Nada, Nred, QuickAndPlenty, Rcp,
    RcpWinf, ReTfrc, Recn, Scream, TcpAp, TcpBbr, TcpBbr3, TcpCubic, TcpElfn, TcpNewReno, TcpPrague, TcpSack,
    TcpVegas, TcpWestwood, Tfrc, TfrcCapped, Udp, Vcp, Wcp, WcpCap, Xcp, XcpB, XcpWinf,
};
use multihop_config::keys::Rules;
use multihop_config::parameter_error::{Found, Kind, ParameterError, Wanted};
use multihop_core::{Carrier, HeaderFormat, instead_of};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Entries of all schemes. To add a scheme, add a file with its parameters and a line here.
pub const REGISTRY: &[SchemeEntry] = &[
    SchemeEntry::of::<Udp>(),
    SchemeEntry::of::<TcpNewReno>(),
    SchemeEntry::of::<TcpSack>(),
    SchemeEntry::of::<TcpCubic>(),
    SchemeEntry::of::<TcpVegas>(),
    SchemeEntry::of::<TcpWestwood>(),
    SchemeEntry::of::<TcpBbr>(),
    SchemeEntry::of::<TcpBbr3>(),
    SchemeEntry::of::<TcpPrague>(),
    SchemeEntry::of::<TcpAp>(),
    SchemeEntry::of::<TcpElfn>(),
    SchemeEntry::of::<Atcp>(),
    SchemeEntry::of::<Tfrc>(),
    SchemeEntry::of::<TfrcCapped>(),
    SchemeEntry::of::<ReTfrc>(),
    SchemeEntry::published::<ReTfrc>(&published::RE_TFRC),
    SchemeEntry::of::<Nada>(),
    SchemeEntry::of::<Gcc>(),
    SchemeEntry::of::<Scream>(),
    SchemeEntry::of::<QuickAndPlenty>(),
    SchemeEntry::of::<Recn>(),
    SchemeEntry::published::<Recn>(&published::RECN),
    SchemeEntry::of::<EcnRts>(),
    SchemeEntry::of::<EcnFsd>(),
    SchemeEntry::of::<EcnBusy>(),
    SchemeEntry::of::<Lred>(),
    SchemeEntry::of::<Nred>(),
    SchemeEntry::of::<Xcp>(),
    SchemeEntry::of::<XcpB>(),
    SchemeEntry::of::<Rcp>(),
    SchemeEntry::of::<XcpWinf>(),
    SchemeEntry::published::<XcpWinf>(&published::XCP_WINF),
    SchemeEntry::of::<RcpWinf>(),
    SchemeEntry::published::<RcpWinf>(&published::RCP_WINF),
    SchemeEntry::of::<Ewccp>(),
    SchemeEntry::published::<Ewccp>(&published::EWCCP),
    SchemeEntry::of::<Wcp>(),
    SchemeEntry::of::<WcpCap>(),
    SchemeEntry::of::<Vcp>(),
    SchemeEntry::of::<Abc>(),
    SchemeEntry::of::<Bmcc>(),
    SchemeEntry::published::<Bmcc>(&published::BMCC),
    SchemeEntry::of::<MaxNet>(),
];

/// Parameters of a scheme, which build it. The doc comments of the fields document the parameters.
pub trait Parameters: DeserializeOwned + JsonSchema + Scheme + Serialize + 'static {
    /// Name of the scheme in scenarios.
    const NAME: &str;
    /// Summary of the scheme in one line.
    const SUMMARY: &str;
    /// RFCs or papers that define the scheme.
    const REFERENCE: &str;
    /// Whether all data of the application arrives, in order and once. Otherwise lost data is not
    /// retransmitted.
    const RELIABLE: bool = true;
    /// Formats of the scheme's congestion headers.
    const HEADERS: &'static [HeaderFormat] = &[];
    /// Carrier of the notices that routers send each other, and format of the records in a notice.
    const NOTICES: Option<(Carrier, HeaderFormat)> = None;
    /// Checks that the values are consistent with each other.
    ///
    /// # Errors
    /// Names the parameter, the value found and a remedy.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }
    /// Defaults of this scheme or its flavour for keys that are not transport options and were left out.
    fn own_defaults(&self) -> Vec<Stated> {
        Vec::new()
    }
}

/// Registry entry of a scheme: its name, documentation, headers and constructors.
#[derive(Clone, Copy, Debug)]
pub struct SchemeEntry {
    /// Name of the scheme in scenarios.
    pub name: &'static str,
    /// Summary of the scheme in one line.
    pub summary: &'static str,
    /// RFCs or papers that define the scheme.
    pub reference: &'static str,
    /// Whether all data of the application arrives, in order and once. Otherwise lost data is not
    /// retransmitted.
    pub reliable: bool,
    /// Formats of the scheme's congestion headers.
    pub headers: &'static [HeaderFormat],
    /// Carrier of the notices that routers send each other, and format of the records in a notice.
    pub notices: Option<(Carrier, HeaderFormat)>,
    /// Scheme of which this is a preset; none if this is no preset.
    pub preset_of: Option<&'static str>,
    /// Parameters of the preset, as a JSON object.
    preset: &'static str,
    schema: fn() -> Value,
    build: fn(&Value) -> Result<Arc<dyn Scheme>, ParameterError>,
    resolve: fn(&Value, &Map<String, Value>) -> Result<Value, ParameterError>,
}

impl SchemeEntry {
    /// Creates the entry of the scheme with parameters `P`. A scheme outside [`REGISTRY`] can be built too,
    /// and scenarios can name it if they receive its entry.
    pub const fn of<P: Parameters>() -> SchemeEntry {
        SchemeEntry {
            name: P::NAME,
            summary: P::SUMMARY,
            reference: P::REFERENCE,
            reliable: P::RELIABLE,
            headers: P::HEADERS,
            notices: P::NOTICES,
            preset_of: None,
            preset: "{}",
            schema: schema::<P>,
            build: |parameters| Ok(Arc::new(parse::<P>(parameters)?)),
            resolve: resolve::<P>,
        }
    }

    /// Creates the entry of a scheme as published: the scheme with parameters `P`, with other defaults.
    const fn published<P: Parameters>(preset: &Preset) -> SchemeEntry {
        SchemeEntry {
            name: preset.name,
            summary: preset.summary,
            preset_of: Some(P::NAME),
            preset: preset.parameters,
            ..SchemeEntry::of::<P>()
        }
    }

    /// Returns the parameters of the preset; none if this is no preset.
    ///
    /// # Panics
    /// If the preset is no JSON object, which a test excludes.
    pub fn preset(&self) -> Map<String, Value> {
        serde_json::from_str(self.preset).expect("presets are JSON objects")
    }

    /// Returns these parameters on top of those of the preset.
    fn on_preset(&self, parameters: &Value) -> Value {
        match parameters {
            Value::Object(given) if self.preset_of.is_some() => {
                let mut all = self.preset();
                all.extend(given.clone());
                Value::Object(all)
            }
            _ => parameters.clone(),
        }
    }

    /// Returns the JSON Schema of the parameters. The defaults are those of the preset, if this is one.
    pub fn schema(&self) -> Value {
        let mut schema = (self.schema)();
        for (key, value) in self.preset() {
            let property = &mut schema["properties"][key];
            let text = property["description"].as_str().unwrap_or_default();
            if let Some((about, _)) = text.split_once(" Default") {
                property["description"] = json!(about);
            }
            property["default"] = value;
        }
        schema
    }

    /// Builds the scheme from an object of parameters. Parameters that are left out have their default.
    ///
    /// # Errors
    /// Names the parameter, the value found and a remedy.
    pub fn build(&self, parameters: &Value) -> Result<Arc<dyn Scheme>, ParameterError> {
        (self.build)(&self.on_preset(parameters))
    }

    /// Returns all parameters of the scheme in canonical units. A parameter whose default follows from other
    /// parameters is null if it is left out, or if its given value equals that default. Parameters of a
    /// preset always have their value.
    ///
    /// # Errors
    /// Same as [`SchemeEntry::build`].
    pub fn resolve(&self, parameters: &Value) -> Result<Value, ParameterError> {
        (self.resolve)(&self.on_preset(parameters), &self.preset())
    }
}

/// Returns the scheme of [`REGISTRY`] with this name.
///
/// # Errors
/// Suggests the nearest name, or lists all names.
pub fn find(name: &str) -> Result<&'static SchemeEntry, String> {
    find_among(REGISTRY, name)
}

/// Returns the scheme of `entries` with this name.
///
/// # Errors
/// Suggests the nearest name, or lists all names.
pub fn find_among<'a>(entries: &'a [SchemeEntry], name: &str) -> Result<&'a SchemeEntry, String> {
    let names = || entries.iter().map(|entry| entry.name);
    entries
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| format!("{name:?} is not a scheme; {}", instead_of(name, names())))
}

fn schema<P: Parameters>() -> Value {
    let mut schema = Rules::of::<P>().into_schema();
    state_defaults(&mut schema, &defaults::<P>());
    schema
}

/// Returns, for each flavour, the defaults of the transport's keys and of [`Parameters::own_defaults`].
fn defaults<P: Parameters>() -> Vec<(Flavour, Vec<Stated>)> {
    let of = |flavour: Flavour| {
        let scheme: P = serde_json::from_value(json!({ "flavour": flavour })).ok()?;
        Some((flavour, stated(&scheme, flavour)?))
    };
    [Flavour::Rfc, Flavour::Ns2, Flavour::Linux].into_iter().filter_map(of).collect()
}

/// Returns the same keys and values for one scheme of this flavour; none if the scheme has no such keys.
fn stated<P: Parameters>(scheme: &P, flavour: Flavour) -> Option<Vec<Stated>> {
    let stated = match (scheme.tcp(), scheme.tfrc()) {
        (Some(parts), _) => TcpParameters::written(flavour, &parts.options),
        // TFRC has no defaults of Linux.
        (None, Some(options)) if flavour != Flavour::Linux => TfrcParameters::written(&options),
        _ => return None,
    };
    Some([stated, scheme.own_defaults()].concat())
}

fn resolve<P: Parameters>(parameters: &Value, preset: &Map<String, Value>) -> Result<Value, ParameterError> {
    let rules = Rules::of::<P>();
    let mut resolved = json!(parse_by::<P>(&rules, parameters)?);
    let given = parameters.as_object().into_iter().flat_map(Map::keys);
    for key in given.filter(|key| !preset.contains_key(*key)) {
        let default = default_given_others::<P>(&rules, parameters, key);
        let is_default =
            |default: Value| rules.rule(key).is_some_and(|rule| rule.is_same_value(&default, &resolved[key]));
        if default.is_some_and(is_default) {
            resolved[key] = Value::Null;
        }
    }
    Ok(resolved)
}

/// Returns the default of a key that was left out, given the other parameters.
fn default_given_others<P: Parameters>(rules: &Rules, parameters: &Value, key: &str) -> Option<Value> {
    let mut others = parameters.clone();
    others.as_object_mut()?.remove(key);
    let scheme: P = serde_json::from_value(others).ok()?;
    scheme.check().ok()?;
    let resolved = json!(scheme);
    let flavour = serde_json::from_value(resolved["flavour"].clone()).ok();
    let stated = flavour.and_then(|flavour| stated(&scheme, flavour)).unwrap_or_default();
    let default = match stated.into_iter().find(|(name, _)| *name == key) {
        Some((_, value)) => value,
        None => rules.default_of(key).cloned(),
    };
    default.filter(|_| resolved[key].is_null())
}

fn parse<P: Parameters>(parameters: &Value) -> Result<P, ParameterError> {
    parse_by(&Rules::of::<P>(), parameters)
}

fn parse_by<P: Parameters>(rules: &Rules, parameters: &Value) -> Result<P, ParameterError> {
    let Value::Object(given) = parameters else {
        let (found, wanted) = (Found::Said(format!("found {parameters}")), Wanted::Value(Kind::Table));
        return Err(ParameterError { parameter: None, found, wanted });
    };
    let parsed: P = rules.read(P::NAME, given)?;
    parsed.check()?;
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_config::keys::Rule;
    use multihop_core::Layout;
    use multihop_core::{FieldKind, NodeId};

    #[test]
    fn every_entry_is_documented_and_builds_from_defaults() {
        for entry in REGISTRY {
            assert!(!entry.summary.is_empty() && !entry.reference.is_empty(), "{}", entry.name);
            let schema = entry.schema();
            let properties = schema["properties"].as_object().unwrap();
            assert!(!properties.is_empty(), "{}", entry.name);
            for (key, property) in properties {
                let description = property["description"].as_str().unwrap_or_default();
                assert!(description.len() > 20, "{} of {} is not documented: {property}", key, entry.name);
            }
            let scheme = entry.build(&json!({})).unwrap();
            assert!(scheme.segment_size() > 0);
            assert_eq!(find(entry.name).unwrap().summary, entry.summary);
        }
    }

    /// The range and the default of a parameter come from the same row, so the default must be in the range.
    #[test]
    fn every_number_has_a_range_and_its_default_is_in_it() {
        for entry in REGISTRY {
            for (key, property) in entry.schema()["properties"].as_object().unwrap() {
                let rule = Rule::of(property);
                assert!(rule.is_bounded() || !rule.has_numbers(), "{key} of {}: {property}", entry.name);
                let default = property.get("default").unwrap_or(&Value::Null);
                assert_eq!(rule.check(default), Ok(()), "{key} of {}", entry.name);
            }
        }
    }

    /// A capture identifies a congestion header by its type alone.
    #[test]
    fn each_header_type_has_one_format() {
        let mut known: Vec<Layout> = Vec::new();
        for HeaderFormat { layout, .. } in REGISTRY.iter().flat_map(|entry| entry.headers) {
            let has_type = layout.kind.is_some_and(|kind| kind <= Layout::KIND_BITS);
            assert!(has_type && layout.air <= layout.len, "{layout:?}");
            let same = known.iter().find(|other| other.kind == layout.kind || other.name == layout.name);
            assert!(same.is_none_or(|other| other == layout), "{layout:?} and {same:?}");
            if same.is_some() {
                continue;
            }
            known.push(*layout);
            assert_no_field_overlaps(layout, Layout::KIND_BITS);
        }
        assert!(known.len() >= 9, "{known:?}");
    }

    /// Checks that each field has a meaning and bits of its own, apart from the bits of `first` in byte 0.
    fn assert_no_field_overlaps(layout: &Layout, first: u8) {
        let mut taken = vec![0u8; layout.len];
        taken[0] = first;
        for field in layout.fields {
            assert!(!field.meaning.is_empty() && field.to <= layout.len, "{field:?}");
            for byte in &mut taken[field.from..field.to] {
                let bits = match field.kind {
                    FieldKind::Flag(bit) => 1 << bit,
                    FieldKind::Bits(bit, width) => (((1u16 << width) - 1) << bit) as u8,
                    _ => 0xff,
                };
                assert_eq!(*byte & bits, 0, "{layout:?}: {field:?} overlaps another field");
                *byte |= bits;
            }
        }
    }

    /// A capture identifies a notice by its carrier alone, and names fields after the layout.
    #[test]
    fn each_carrier_has_one_notice_format() {
        let mut carriers = Vec::new();
        let mut names: Vec<&str> =
            REGISTRY.iter().flat_map(|entry| entry.headers).map(|header| header.layout.name).collect();
        // A preset has the notices of its scheme.
        let own = REGISTRY.iter().filter(|entry| entry.preset_of.is_none());
        for (carrier, HeaderFormat { layout, .. }) in own.filter_map(|entry| entry.notices.as_ref()) {
            assert!(!carriers.contains(carrier) && !names.contains(&layout.name), "{layout:?}");
            let of_headers = Layout::PROTOCOLS.map(|(own, _)| Carrier::Ip(own));
            assert!(!of_headers.contains(carrier), "{layout:?}: congestion headers have this protocol");
            assert!(layout.kind.is_none() && (1..=layout.len).contains(&layout.air), "{layout:?}");
            assert_no_field_overlaps(layout, 0);
            carriers.push(*carrier);
            names.push(layout.name);
        }
        assert!(carriers.len() >= 2, "{carriers:?}");
    }

    #[test]
    fn names_are_distinct() {
        for (index, entry) in REGISTRY.iter().enumerate() {
            assert!(REGISTRY[..index].iter().all(|other| other.name != entry.name), "{}", entry.name);
        }
    }

    /// A preset builds what its scheme builds from the same values, and other values replace them.
    #[test]
    fn a_preset_is_its_scheme_with_other_defaults() {
        let mut presets = 0;
        for entry in REGISTRY.iter().filter(|entry| entry.preset_of.is_some()) {
            let base = find(entry.preset_of.unwrap()).unwrap();
            let preset = Value::Object(entry.preset());
            assert_eq!(entry.name, format!("{}-published", base.name));
            assert_eq!(entry.resolve(&json!({})).unwrap(), base.resolve(&preset).unwrap());
            assert_ne!(
                entry.resolve(&json!({})).unwrap(),
                base.resolve(&json!({})).unwrap(),
                "{}",
                entry.name
            );
            let other = json!({ "flavour": "rfc" });
            assert_eq!(entry.resolve(&other).unwrap()["flavour"], "rfc", "{}", entry.name);
            let schema = entry.schema();
            for (key, value) in entry.preset() {
                assert_eq!(schema["properties"][&key]["default"], value, "{key} of {}", entry.name);
            }
            presets += 1;
        }
        assert!(presets >= 5, "{presets}");
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let error = |name: &str| find(name).map(|_| ()).unwrap_err();
        assert!(error("tcp-newrno").contains("did you mean \"tcp-newreno\"?"), "{}", error("tcp-newrno"));
        assert!(error("carrier-pigeon").contains("known: udp, tcp-newreno"), "{}", error("carrier-pigeon"));
    }

    /// Number of estimators that each scheme's router policy needs by default.
    #[test]
    fn each_scheme_installs_its_policies_and_estimators() {
        let asked = |entry: &SchemeEntry| {
            let scheme = entry.build(&json!({})).unwrap();
            let router = scheme.router(NodeId(0), &crate::testing::EGRESS)?;
            Some((entry.name, router.estimators(&crate::testing::phy()).len()))
        };
        let found: Vec<(&str, usize)> = REGISTRY.iter().filter_map(asked).collect();
        let expected = [
            ("recn", 0),
            ("ecn-rts", 0),
            ("ecn-fsd", 0),
            ("ecn-busy", 1), // channel busyness ratio
            ("lred", 0),
            ("nred", 0),
            ("xcp", 1), // capacity of the link, from here on
            ("xcp-b", 0),
            ("rcp", 1),
            ("xcp-winf", 1),
            ("rcp-winf", 1),
            ("ewccp", 0),
            ("vcp", 1),
            ("abc", 1),
            ("bmcc", 1),
            ("maxnet", 1),
        ];
        for scheme in expected {
            assert!(found.contains(&scheme), "{scheme:?} of {found:?}");
        }
        for end_to_end in ["udp", "tcp-newreno", "tcp-bbr", "tfrc"] {
            assert!(found.iter().all(|(name, _)| *name != end_to_end), "{end_to_end} has no router policy");
        }
    }

    /// The resolved form lists every parameter, whether given or left out.
    #[test]
    fn resolved_parameters_are_complete() {
        for entry in REGISTRY {
            let resolved = entry.resolve(&json!({})).unwrap();
            for key in entry.schema()["properties"].as_object().unwrap().keys() {
                assert!(resolved.get(key).is_some(), "{key} of {}", entry.name);
            }
        }
        let size = |text| {
            find("udp").unwrap().resolve(&json!({ "segment_size": text })).unwrap()["segment_size"].clone()
        };
        assert_eq!(size("1.5 kB"), size("1500 B"));
        assert_ne!(size("1.5 kB"), size("1400 B"));
    }
}
