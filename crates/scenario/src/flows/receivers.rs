//! `to` of a flow: one receiver, or the receivers of a multicast flow.

use super::{App, FlowTemplate, Flows};
use crate::document::{Document, KeyPath, Result};
use crate::error::{ConnectionKind, FlowProblem, KeyProblem};
use crate::schemes::Schemes;
use crate::settings::matches;
use crate::topology::Nodes;
use multihop_core::FlowId;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;

/// Receivers of a flow.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Receivers {
    /// Node of this name.
    One(String),
    /// Nodes of a multicast flow: names, or patterns with `*`.
    Group(Vec<String>),
}

impl<'de> Deserialize<'de> for Receivers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Receivers, D::Error> {
        struct NameOrNames;
        impl<'de> Visitor<'de> for NameOrNames {
            type Value = Receivers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a node's name, or a list of names")
            }
            fn visit_str<E>(self, name: &str) -> std::result::Result<Receivers, E> {
                Ok(Receivers::One(name.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> std::result::Result<Receivers, A::Error> {
                let mut group = Vec::new();
                while let Some(name) = names.next_element()? {
                    group.push(name);
                }
                Ok(Receivers::Group(group))
            }
        }
        deserializer.deserialize_any(NameOrNames)
    }
}

impl JsonSchema for Receivers {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Receivers".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = json_schema!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
        json_schema!({ "anyOf": [{ "type": "string" }, names] })
    }
}

impl Receivers {
    /// Receivers in the order of the list. The nodes of a pattern are in the order of nodes, without the
    /// sender.
    pub(super) fn resolve(
        &self,
        document: &Document<'_>,
        nodes: &Nodes,
        at: &KeyPath,
        from: usize,
    ) -> Result<Vec<usize>> {
        let find = |at: &KeyPath, name: &str| {
            let to = nodes.find(document, at, name)?;
            if to == from {
                let problem = KeyProblem::Loop { what: ConnectionKind::Flow, node: name.to_owned() };
                return Err(document.error(at, problem));
            }
            Ok(to)
        };
        let names = match self {
            Receivers::One(name) => return Ok(vec![find(at, name)?]),
            Receivers::Group(names) => names,
        };
        let mut found = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let at = at.join(i);
            if name.contains('*') {
                let meant = |node: &usize| *node != from && matches(name, &nodes.list[*node].name);
                let before = found.len();
                found.extend((0..nodes.list.len()).filter(meant));
                if found.len() == before {
                    let problem = FlowProblem::NoSuchName { pattern: name.clone(), known: nodes.names() };
                    return Err(document.error(&at, problem));
                }
            } else {
                found.push(find(&at, name)?);
            }
            if (0..found.len()).any(|place| found[..place].contains(&found[place])) {
                return Err(document.error(&at, KeyProblem::ListedTwice));
            }
        }
        if found.is_empty() {
            return Err(document.error(at, FlowProblem::NoReceivers));
        }
        Ok(found)
    }
}

impl Flows<'_> {
    /// Adds a flow for each receiver of a multicast flow. The first flow sends for all.
    pub(super) fn add_multicast(
        &mut self,
        template: &FlowTemplate<'_>,
        name: Option<&str>,
        (from, to): (usize, &[usize]),
        schemes: &mut Schemes<'_>,
    ) -> Result<()> {
        let first = self.planned.len();
        let pairs: Vec<(usize, usize)> = to.iter().map(|to| (from, *to)).collect();
        self.add(template, None, &pairs, schemes)?;
        let scheme = &schemes.used[self.planned[first].flow.scheme];
        if !scheme.scheme.is_uncontrolled() {
            let problem = FlowProblem::AcknowledgedMulticast { scheme: scheme.name.clone() };
            return Err(self.document.error(&template.at.join("to"), problem));
        }
        if matches!(template.app, App::External { .. }) {
            return Err(self.document.error(&template.at.join("to"), FlowProblem::ExternalMulticast));
        }
        for made in &mut self.planned[first..] {
            made.flow.group = Some(FlowId(first as u32));
            if let Some(name) = name {
                let to = &self.nodes.list[made.flow.destination.index()].name;
                made.flow.name = format!("{name}->{to}");
            }
        }
        Ok(())
    }
}
