//! `[schemes.NAME]`: parameters of schemes, and named variants.

use crate::document::{Document, KeyPath, Result, key};
use crate::error::{ItemKind, KeyProblem, Problem, SchemeProblem};
use crate::removed::why_removed;
use multihop_config::parameter_error::{ParameterError, Wanted};
use multihop_schemes::tcp::Flavour;
use multihop_schemes::{SchemeEntry, find_among};
use multihop_sim::config::{Config, SchemeConfig};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Parameters of a scheme, or of a variant of one.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct Parameters {
    /// Scheme of which this table defines a variant. Default: the scheme with the table's name.
    pub base: Option<String>,
    /// Parameters of the scheme; `multihop list` describes them.
    #[serde(flatten)]
    pub parameters: Map<String, Value>,
}

/// Maximum size of an MSDU in bytes (802.11-2020, 9.2.4.7).
pub(super) const MSDU_MAX: u32 = 2304;

/// Minimum size of IP and UDP headers in bytes.
pub(crate) const HEADERS_MIN: u32 = 28;

/// Schemes of a scenario. Each scheme in use is built once.
pub(super) struct Schemes<'a> {
    document: &'a Document<'a>,
    /// Schemes that a scenario can name.
    known: &'a [SchemeEntry],
    tables: &'a BTreeMap<String, Parameters>,
    /// Schemes in use, in the order of their first use.
    pub(super) used: Vec<SchemeConfig>,
    /// Identity of each scheme in use: its name in the registry, and the parameters that differ from its
    /// defaults.
    pub(super) identities: Vec<(&'static str, Value)>,
}

impl<'a> Schemes<'a> {
    /// Checks the tables of all schemes, used or not.
    pub(super) fn new(
        document: &'a Document<'a>,
        known: &'a [SchemeEntry],
        tables: &'a BTreeMap<String, Parameters>,
    ) -> Result<Schemes<'a>> {
        let schemes = Schemes { document, known, tables, used: Vec::new(), identities: Vec::new() };
        for name in tables.keys() {
            schemes.build(name)?;
        }
        Ok(schemes)
    }

    /// Index of the scheme that the text at `path` names.
    pub(super) fn find(&mut self, path: &KeyPath, name: &str) -> Result<usize> {
        if let Some(index) = self.used.iter().position(|used| used.name == name) {
            return Ok(index);
        }
        self.check_name(path, name)?;
        let (scheme, identity) = self.build(name)?;
        self.used.push(scheme);
        self.identities.push(identity);
        Ok(self.used.len() - 1)
    }

    /// Indices of the schemes in use that the text at `path` names: a scheme with its variants, or one
    /// variant.
    pub(super) fn in_use(&self, path: &KeyPath, name: &str) -> Result<Vec<usize>> {
        self.check_name(path, name)?;
        let is_meant = |index: &usize| self.used[*index].name == name || self.identities[*index].0 == name;
        Ok((0..self.used.len()).filter(is_meant).collect())
    }

    /// Refuses segments that do not fit into a frame.
    pub(super) fn check_sizes(&self, config: &Config) -> Result<()> {
        for used in &self.used {
            let size = used.scheme.segment_size();
            let at = key!["schemes", &used.name, "segment_size"];
            let headers = HEADERS_MIN + config.mac.rules.llc_header + config.network.extra_header;
            if size == 0 || size > 65_507 {
                return Err(self.document.error(&at, SchemeProblem::NoDatagram { size }));
            }
            if let Some(largest) = config.mac.msdu_limit.filter(|largest| size + headers > *largest) {
                let problem = SchemeProblem::NoMsdu { size, headers, largest };
                return Err(self.document.error(&at, problem));
            }
        }
        Ok(())
    }

    fn build(&self, name: &str) -> Result<(SchemeConfig, (&'static str, Value))> {
        let at = key!["schemes", name];
        let table = self.tables.get(name);
        let entry = self.entry(&at, name, table)?;
        let parameters = table.map(|table| table.parameters.clone()).unwrap_or_default();
        let given = Value::Object(parameters.clone());
        let built = entry.build(&given).and_then(|scheme| Ok((scheme, distinct(entry, &given)?)));
        let (scheme, distinct) = built.map_err(|ParameterError { parameter, found, wanted }| {
            let culprit = parameter.filter(|parameter| parameters.contains_key(parameter));
            let at = culprit.map_or_else(|| at.clone(), |parameter| at.join(&parameter));
            let wanted = why_removed(&at, &found).map_or(wanted, Wanted::Remove);
            self.document.error(&at, Problem::ParameterError { found, wanted })
        })?;
        Ok((SchemeConfig { name: name.to_owned(), scheme }, (entry.name, distinct)))
    }

    fn check_name(&self, path: &KeyPath, name: &str) -> Result<()> {
        if self.tables.contains_key(name) || find_among(self.known, name).is_ok() {
            return Ok(());
        }
        // Names of the file come first, because a message does not list all schemes.
        let known = self.tables.keys().cloned().chain(self.names()).collect();
        Err(self
            .document
            .error(path, KeyProblem::Unknown { what: ItemKind::Scheme, name: name.into(), known }))
    }

    fn names(&self) -> impl Iterator<Item = String> {
        self.known.iter().map(|entry| entry.name.to_owned())
    }

    fn entry(&self, at: &KeyPath, name: &str, table: Option<&Parameters>) -> Result<&'a SchemeEntry> {
        let named = find_among(self.known, name).ok();
        match (table.and_then(|table| table.base.as_deref()), named) {
            (Some(base), Some(named)) if base != named.name => {
                let problem = SchemeProblem::NameOfScheme { name: name.into(), base: base.into() };
                Err(self.document.error(&at.join("base"), problem))
            }
            (_, Some(named)) => Ok(named),
            (Some(base), None) => find_among(self.known, base).map_err(|_| {
                let (name, known) = (base.into(), self.names().collect());
                let problem = KeyProblem::Unknown { what: ItemKind::Scheme, name, known };
                self.document.error(&at.join("base"), problem)
            }),
            (None, None) => {
                let (name, known) = (name.into(), self.names().collect());
                Err(self.document.error(at, SchemeProblem::NoBase { name, known }))
            }
        }
    }
}

/// Parameters that differ from the scheme's defaults, in their canonical form. For every scheme, `rfc` counts
/// as the default flavour of the connection, so that hashes of before the default changed stay valid.
fn distinct(entry: &SchemeEntry, given: &Value) -> std::result::Result<Value, ParameterError> {
    // A scheme with a required parameter has no form of defaults alone.
    let mut usual = entry.resolve(&Value::Object(Map::new())).unwrap_or_default();
    if let Some(flavour) = usual.get_mut("flavour") {
        *flavour = json!(Flavour::Rfc);
    }
    let mut resolved = entry.resolve(given)?;
    if let Some(parameters) = resolved.as_object_mut() {
        parameters.retain(|name, value| usual.get(name) != Some(value));
    }
    Ok(resolved)
}
