//! Checks of a configuration before a run, for the validation of scenarios.

use crate::config::{Config, FlowConfig, MediumModel, Radios};
use crate::mac::Timing;
pub use crate::mac::candidates;
pub use crate::medium::{exceed, farthest, femtowatts, light};
use crate::routing::{LEAST_DELIVERY, LinkQuality, Routes};
use multihop_core::{NodeId, Span};
use multihop_dot11::success_from_delivery;

/// Shortest pause of the MAC between two frames of one exchange, which limits propagation delays.
pub fn least_pause(config: &Config) -> Span {
    Timing::new(config).least_pause()
}

/// Signal-to-noise ratios at which probes arrive at the data rate with these probabilities; none unless the
/// medium has probes and powers.
pub fn power_ratio_of_delivery(config: &Config, shares: &[f64]) -> Option<Vec<f64>> {
    let MediumModel::Sensed { probe_size, .. } = config.medium.model else { return None };
    let table = config.phy.error_table(config.rates.data)?;
    let ratio = |share: &f64| table.sinr_for(success_from_delivery(*share, probe_size));
    Some(shares.iter().map(ratio).collect())
}

/// Places the endpoints of each flow at the radios that send and receive its packets on static routes, so
/// that a saturated source follows the queue of the sending radio. A multicast flow is sent by the first
/// radio of its source and received by the radio on that channel.
pub fn place_ends(config: &mut Config) {
    let quality = LinkQuality::new(config);
    let leaves_by = |routes: &Routes, radios: &Radios, from: NodeId, to: NodeId| {
        let hops = routes.hops(from, to, radios).unwrap_or_default();
        hops.first().map_or(from, |(radio, _)| *radio)
    };
    let routes = Routes::new(config, &quality);
    let radios = &config.topology.radios;
    for flow in &mut config.traffic.flows {
        flow.destination = if flow.group.is_some() {
            hears(radios, flow.source, flow.destination)
        } else {
            leaves_by(&routes, radios, flow.destination, flow.source)
        };
    }
    let routes = Routes::new(config, &quality);
    let radios = &config.topology.radios;
    for flow in config.traffic.flows.iter_mut().filter(|flow| flow.group.is_none()) {
        flow.source = leaves_by(&routes, radios, flow.source, flow.destination);
    }
}

/// Nodes on the path of a flow at the start of the run. For a multicast flow: source, relay if there is one,
/// and receiver. Empty if the receiver is not reachable.
pub fn path(config: &Config, flow: &FlowConfig, routes: &Routes, quality: &LinkQuality) -> Vec<NodeId> {
    let (source, to) = (flow.source, flow.destination);
    if flow.group.is_none() {
        return routes.path(source, to).unwrap_or_default();
    }
    let sender = config.multicast_sender(flow);
    let is_relayed = sender == source || quality.success(source, sender) >= LEAST_DELIVERY;
    let is_open = config.topology.nodes[to.index()].base.is_none_or(|base| base == sender);
    let is_heard = to == sender || (is_open && quality.group_delivery(sender, to) >= LEAST_DELIVERY);
    if !is_relayed || !is_heard {
        return Vec::new();
    }
    let mut path = vec![source, sender, to];
    path.dedup();
    path
}

/// Radio of a node that is on the channel of the sending radio; the node's first radio if none is.
fn hears(radios: &Radios, sender: NodeId, node: NodeId) -> NodeId {
    let channel = |radio: NodeId| radios.channels.get(radio.index());
    radios.of(node).find(|radio| channel(*radio) == channel(sender)).unwrap_or(node)
}
