//! Routing: where a node sends a packet next.
//!
//! * `static_routes`: shortest paths over the links that can carry data, computed before the run; and what
//!   links are worth.
//! * `agent`: what a routing protocol is to a node. `message`: what its nodes send to each other, as bytes.
//!   `buffer`: packets that wait for a route.
//! * `aodv`, `dsdv`: AODV and DSDV, as ns-2 has them. `dsr`: DSR, close to ns-2's. Each has the bytes of its
//!   messages in `wire`.
//!
//! With static routes nodes have no agent, and look next hops up in [`Routes`], which all of them share. A
//! protocol is an agent per node; it never sees `Routes`, which then only says which paths the run expects.

mod agent;
mod aodv;
mod buffer;
mod dsdv;
mod dsr;
mod message;
mod static_routes;

#[cfg(test)]
pub(crate) mod testing;

pub use message::WireFormat;
pub use static_routes::{Arrivals, LinkQuality, Routes};

pub(crate) use agent::{Action, GivenUp, NextHop, Overheard, RoutedPacket, RoutingAgent, SourceRoute};
pub(crate) use dsr::{DSR_PROTOCOL, next_on, source_route_bytes, source_route_header};
pub(crate) use message::{IpFields, Message};
pub use static_routes::{LEAST_DELIVERY, NOMINAL_BYTES};

use crate::config::{AodvConfig, Config, DsrConfig, LinkFailureRule, RoutingProtocol};
use multihop_core::{NodeId, Rng, Span};
use std::sync::Arc;

/// The agent of a node; none with static routes.
pub(crate) fn agent(config: &Config, node: NodeId) -> Option<Box<dyn RoutingAgent>> {
    let rng = || Rng::at(config.seed, &["node", &node.0.to_string(), "routing"]);
    match &config.routing.protocol {
        RoutingProtocol::Static => None,
        RoutingProtocol::Dsdv(parameters) => Some(Box::new(dsdv::Dsdv::new(node, parameters.clone(), rng()))),
        RoutingProtocol::Aodv(parameters) => Some(Box::new(aodv::Aodv::new(node, parameters.clone(), rng()))),
        RoutingProtocol::Dsr(parameters) => Some(Box::new(dsr::Dsr::new(node, parameters.clone(), rng()))),
    }
}

/// The messages of each protocol on the wire.
pub const FORMATS: [WireFormat; 3] = [aodv::FORMAT, dsr::FORMAT, dsdv::FORMAT];

/// When packets that the MAC gives up break the link to their next hop.
pub(crate) fn failure_rule(config: &Config) -> LinkFailureRule {
    match &config.routing.protocol {
        RoutingProtocol::Static => config.routing.on_link_failure,
        RoutingProtocol::Dsdv(_) => LinkFailureRule::Ignore,
        RoutingProtocol::Aodv(AodvConfig { failures, .. })
        | RoutingProtocol::Dsr(DsrConfig { failures, .. }) => {
            // The link is there again as soon as a message says so.
            LinkFailureRule::Break { failures: *failures, hold: Span::ZERO }
        }
    }
}

/// Flows whose packets break no link, by flow.
pub(crate) fn blind_to(config: &Config) -> Arc<[bool]> {
    let schemes: &[usize] = match &config.routing.protocol {
        RoutingProtocol::Aodv(parameters) => &parameters.blind_to,
        RoutingProtocol::Static | RoutingProtocol::Dsdv(_) | RoutingProtocol::Dsr(_) => &[],
    };
    config.flows.iter().map(|flow| schemes.contains(&flow.scheme)).collect()
}

/// Hops that packets may take.
pub(crate) fn hop_limit(config: &Config) -> u16 {
    match &config.routing.protocol {
        RoutingProtocol::Static => u16::try_from(config.nodes.len()).unwrap_or(u16::MAX),
        RoutingProtocol::Dsdv(parameters) => parameters.hop_limit,
        RoutingProtocol::Aodv(parameters) => parameters.hop_limit,
        RoutingProtocol::Dsr(parameters) => parameters.hop_limit,
    }
}

/// A random time up to a bound: jitter, so that neighbours do not send at once.
fn uniform(rng: &mut Rng, bound: Span) -> Span {
    Span::from_seconds(rng.unit() * bound.seconds())
}
