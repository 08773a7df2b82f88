//! Routing: the next hop of a packet.
//!
//! * `static_routes`: shortest paths over usable links, computed before the run, and link qualities.
//! * `agent`: interface between a routing protocol and its node. `buffer`:
//!   packets that wait for a route.
//! * `watched_routes`: failures of routes that flows of the node use.
//! * `aodv`, `dsdv`: AODV and DSDV as in ns-2. `dsr`: DSR, close to ns-2's. Each has the bytes of its
//!   messages in `wire`.
//!
//! With static routes nodes have no agent, and look up next hops in the shared [`Routes`]. A protocol has one
//! agent per node and never reads `Routes`, which then only describe the expected paths.

mod agent;
mod aodv;
mod buffer;
pub(crate) mod config;
mod dsdv;
mod dsr;
mod static_routes;
mod watched_routes;
mod wire_format;

#[cfg(test)]
pub(crate) mod testing;

pub use static_routes::{Arrivals, LinkQuality, Routes};
pub use wire_format::WireFormat;

pub(crate) use agent::{Action, GivenUp, NextHop, Overheard, RoutedPacket, RoutingAgent};
pub(crate) use dsr::{DSR_PROTOCOL, next_on, source_route_bytes, source_route_header};
pub use static_routes::{LEAST_DELIVERY, NOMINAL_BYTES};
pub(crate) use watched_routes::WatchedRoutes;

use crate::config::{Config, RoutingProtocol};
use multihop_core::{NodeId, Rng, Span};
use std::sync::Arc;

/// Routing agent of a node; none with static routes.
pub(crate) fn agent(config: &Config, node: NodeId) -> Option<Box<dyn RoutingAgent>> {
    let rng = || Rng::at(config.seed, &["node", &node.0.to_string(), "routing"]);
    match &config.routing.protocol {
        RoutingProtocol::Static => None,
        RoutingProtocol::Dsdv(parameters) => Some(Box::new(dsdv::Dsdv::new(node, parameters.clone(), rng()))),
        RoutingProtocol::Aodv(parameters) => Some(Box::new(aodv::Aodv::new(node, parameters.clone(), rng()))),
        RoutingProtocol::Dsr(parameters) => Some(Box::new(dsr::Dsr::new(node, parameters.clone(), rng()))),
    }
}

/// Wire formats of the routing protocols.
pub const FORMATS: [WireFormat; 3] = [aodv::FORMAT, dsr::FORMAT, dsdv::FORMAT];

/// For each flow, whether its lost packets break no link.
pub(crate) fn blind_to(config: &Config) -> Arc<[bool]> {
    let schemes: &[usize] = match &config.routing.protocol {
        RoutingProtocol::Aodv(parameters) => &parameters.blind_to,
        RoutingProtocol::Static | RoutingProtocol::Dsdv(_) | RoutingProtocol::Dsr(_) => &[],
    };
    config.traffic.flows.iter().map(|flow| schemes.contains(&flow.scheme)).collect()
}

/// Random delay up to a bound, so that neighbours do not send at the same time.
fn uniform(rng: &mut Rng, bound: Span) -> Span {
    Span::from_seconds(rng.unit() * bound.seconds())
}
