//! `[traffic] pattern = "gateway"`: traffic of the users of a mesh, each with its nearest gateway.

use super::traffic::{GATEWAYS, Traffic, hops};
use super::{App, Distribution, FlowTemplate, Flows, served};
use crate::document::{Result, key};
use crate::error::{FlowProblem, KeyProblem};
use crate::schemes::Schemes;
use crate::values::Codepoint;
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_core::NodeId;
use multihop_sim::config::{Config, Radios};
use multihop_sim::routing::{LinkQuality, Routes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Direction of the flows between a client and its gateway.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowDirection {
    /// From the gateway to the client.
    #[default]
    Downloads,
    /// From the client to the gateway.
    Uploads,
    /// One flow in each direction.
    Both,
}

/// Activity of a client.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Download: saturated traffic.
    Download,
    /// Web: consecutive pages with exponential sizes of 1 MB on average, and exponential pauses of 10 s on
    /// average between them.
    Web,
    /// Video of 1.5 Mb/s on average, with 25 frames per second and a deadline of 2 s. A key frame of four
    /// times the size of others follows every 2 s; sizes vary by 20 %.
    Video,
    /// Voice call: 160 B of G.711 speech and 12 B of RTP header (RFC 3550, RFC 3551) every 20 ms, in both
    /// directions whatever `direction` is.
    Call,
}

/// Source and destination, or client and gateway.
type Pair = (usize, usize);

impl Kind {
    fn app(self) -> App {
        let dscp = Codepoint::BEST_EFFORT;
        match self {
            Kind::Download => App::SATURATED,
            Kind::Web => App::Transfers {
                size: Size(1e6),
                pause: Duration(10.0),
                distribution: Distribution::Exponential,
                count: None,
                dscp,
            },
            Kind::Video => App::Video {
                frame_rate: 25.0,
                rate: BitRate(1.5e6),
                min_rate: None,
                deadline: Duration(2.0),
                gop: 50,
                key_ratio: None,
                variation: 0.2,
                buffer: None,
                dscp,
            },
            Kind::Call => {
                App::Cbr { rate: BitRate(172.0 * 8.0 / 20e-3), packet: Size(172.0), jitter: 0.0, dscp }
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Download => "download",
            Kind::Web => "web",
            Kind::Video => "video",
            Kind::Call => "call",
        }
    }
}

/// Adds the flows of all clients.
pub(super) fn add(
    traffic: &Traffic,
    flows: &mut Flows<'_>,
    config: &Config,
    component: &[u32],
    schemes: &mut Schemes<'_>,
) -> Result<()> {
    let (document, nodes) = (flows.document, flows.nodes);
    if !config.mobility.motions.is_empty() {
        return Err(document.error(&key!["traffic", "pattern"], FlowProblem::UnknownGateways));
    }
    if traffic.mix.as_ref().is_some_and(Vec::is_empty) {
        return Err(document.error(&key!["traffic", "mix"], KeyProblem::EmptyList));
    }
    if traffic.mix.is_some() && document.has(&key!["traffic", "app"]) {
        return Err(document.error(&key!["traffic", "app"], KeyProblem::GivenTogether { other: "mix" }));
    }
    let quality = LinkQuality::new(config);
    let gateways = gateways(traffic, flows, &config.topology.radios, &quality)?;
    let users = traffic.users(document, nodes, config, &gateways)?;
    let served = nearest(&gateways, &users, traffic.min_hops(), config, component, &quality);
    let clients = traffic.chosen(document, traffic.clients, ("clients", "gateways"), served, |found| {
        served::describe(nodes, config, component, &gateways, &users, found, traffic.min_hops())
    })?;
    let Some(mix) = &traffic.mix else {
        let pairs: Vec<Pair> =
            clients.iter().flat_map(|client| pairs_of(*client, traffic.direction)).collect();
        return flows.add(&traffic.template(), None, &pairs, schemes);
    };
    let doing = clients.into_iter().zip(mix.iter().cycle());
    let all = doing.flat_map(|(client, kind)| {
        let direction = if *kind == Kind::Call { Some(FlowDirection::Both) } else { traffic.direction };
        pairs_of(client, direction).into_iter().map(|pair| (*kind, pair))
    });
    for (place, (kind, pair)) in all.enumerate() {
        let app = kind.app();
        let start = Duration(traffic.start.0 + traffic.start_interval.0 * place as f64);
        let template = FlowTemplate { app: &app, is_from_mix: true, start, ..traffic.template() };
        let [from, to] = [pair.0, pair.1].map(|node| &nodes.list[node].name);
        flows.add(&template, Some(&format!("{} {from}->{to}", kind.name())), &[pair], schemes)?;
    }
    Ok(())
}

/// Gateways: the named nodes, or the best connected ones.
fn gateways(
    traffic: &Traffic,
    flows: &Flows<'_>,
    radios: &Radios,
    quality: &LinkQuality,
) -> Result<Vec<usize>> {
    let (document, nodes) = (flows.document, flows.nodes);
    let at = key!["traffic", "gateways"];
    let Some(names) = &traffic.gateways else {
        let wanted = traffic.gateway_count.unwrap_or(GATEWAYS) as usize;
        if wanted >= nodes.list.len() {
            let problem = FlowProblem::NoClients { nodes: nodes.list.len() };
            return Err(document.error(&key!["traffic", "gateway_count"], problem));
        }
        return Ok(best_connected(nodes.list.len(), wanted, radios, quality));
    };
    if traffic.gateway_count.is_some() {
        let problem = KeyProblem::GivenTogether { other: "gateways" };
        return Err(document.error(&key!["traffic", "gateway_count"], problem));
    }
    if names.is_empty() {
        return Err(document.error(&at, KeyProblem::EmptyList));
    }
    let mut found = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        let node = nodes.find(document, &at.join(i), name)?;
        if found.contains(&node) {
            return Err(document.error(&at.join(i), KeyProblem::ListedTwice));
        }
        found.push(node);
    }
    Ok(found)
}

/// Nodes with two-way links to the most nodes; of equal ones, the first.
fn best_connected(nodes: usize, wanted: usize, radios: &Radios, quality: &LinkQuality) -> Vec<usize> {
    let usable: BTreeSet<(NodeId, NodeId)> =
        quality.usable().into_iter().map(|(from, to, _)| (from, to)).collect();
    let mut degrees = vec![0_usize; nodes];
    let both_ways = usable.iter().filter(|(from, to)| usable.contains(&(*to, *from)));
    let neighbours: BTreeSet<(NodeId, NodeId)> =
        both_ways.map(|(from, to)| (radios.node_of(*from), radios.node_of(*to))).collect();
    for (from, _) in neighbours.iter().filter(|(from, to)| from != to) {
        degrees[from.index()] += 1;
    }
    let mut ranked: Vec<usize> = (0..nodes).collect();
    ranked.sort_by_key(|node| Reverse(degrees[*node]));
    ranked.truncate(wanted);
    ranked
}

/// Users that can reach a gateway over at least `min_hops` hops, each with the gateway of the cheapest route;
/// of equal ones, the first.
fn nearest(
    gateways: &[usize],
    users: &[usize],
    min_hops: usize,
    config: &Config,
    component: &[u32],
    quality: &LinkQuality,
) -> Vec<Pair> {
    let ids = gateways.iter().map(|gateway| NodeId(*gateway as u32));
    let routes = Routes::towards(ids, config, quality);
    let mut served: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for &client in users {
        for &gateway in gateways.iter().filter(|gateway| component[**gateway] == component[client]) {
            let ends = (NodeId(client as u32), NodeId(gateway as u32));
            let Some(cost) = routes.cost(ends, config, quality) else { continue };
            if served.get(&client).is_none_or(|(best, _)| cost < *best) {
                served.insert(client, (cost, gateway));
            }
        }
    }
    let pairs = served.into_iter().map(|(client, (_, gateway))| (client, gateway));
    pairs.filter(|pair| hops(&routes, &config.topology.radios, *pair) >= min_hops).collect()
}

/// Source and destination of the flows between a client and its gateway.
fn pairs_of((client, gateway): Pair, direction: Option<FlowDirection>) -> Vec<Pair> {
    match direction.unwrap_or_default() {
        FlowDirection::Downloads => vec![(gateway, client)],
        FlowDirection::Uploads => vec![(client, gateway)],
        FlowDirection::Both => vec![(gateway, client), (client, gateway)],
    }
}
