//! Problems with `[topology]`.

use super::problems;
use multihop_config::quantity::Length;
use multihop_dot11::DataRate;
use std::fmt;

problems! {
    /// Problem with nodes, links and wires.
    TopologyProblem:

    // Nodes.
    NoNodes =>
        "there are 0 nodes";
        "add [[topology.nodes]] with a name each, or set generator = \"chain\" (see `multihop list`)";
    NoPosition { node: String } =>
        "node {node:?} has no position";
        "this medium depends on distance: add position = [\"0 m\", \"0 m\"], give it a wire, or use the medium \"matrix\"";
    SamePlace { node: String } =>
        "VALUE is the position of {node:?}";
        "move one of the two: path loss needs a distance";

    // Generators.
    NoMeasuredLinks =>
        "a generator makes no measured links, which the medium \"matrix\" needs";
        "list [[topology.nodes]] and [[topology.links]], or use the medium \"ranges\" or \"sinr\"";
    JitterTooLarge { half: Length } =>
        "VALUE is out of range";
        "give a length from 0 m to below {half}, so that nodes keep their order";
    Unconnected { tries: usize, nodes: usize, side: Length, radius: Length } =>
        "none of {tries} random placements of {nodes} nodes in a square of {side} is connected over hops of {radius}";
        "use more nodes, a smaller side, or a longer reach";
    NotOneForEach { length: usize, pairs: usize } =>
        "a list of {length} values for {pairs} pairs";
        "give one value for all pairs, or {pairs} values";

    // Base stations.
    RateOfNoBase =>
        "VALUE is the rate of the link to a base station, but the node is not associated with one";
        "name its base station as base, or set phy.data_rate for all";
    BaseItself =>
        "VALUE is the node itself";
        "name another node, or remove the key: a base station is associated with none";
    NoBase { node: String, base: String } =>
        "VALUE is not a base station: it is itself associated with {base:?}";
        "name a base station, or remove the base of {node:?}";
    SeveralRadios =>
        "VALUE is the base station of a node with several radios, but an associated station has one radio";
        "give the station one radio, or remove base";
    NoRadioOnChannel { channel: u16 } =>
        "VALUE has no radio on channel {channel}, the channel of the station";
        "give both the same channel";

    // Features that only static routes support.
    WiresMove =>
        "nodes move, which needs a routing protocol, but no protocol uses wires";
        "remove the wires, or [mobility]";
    WiresRouted =>
        "VALUE sends its packets by radio only, but the topology has wires";
        "use static routes (remove protocol), or remove the wires";
    RadiosMove { node: String } =>
        "nodes move, which needs a routing protocol, but no protocol uses several radios, such as those of {node:?}";
        "remove [mobility], or give each node one radio";
    RadiosRouted { node: String } =>
        "VALUE uses one radio of each node, but {node:?} has several";
        "use static routes (remove protocol), or give each node one radio";
    StationsMove { node: String } =>
        "nodes move, which needs a routing protocol, but no protocol supports associated stations, such as {node:?}";
        "remove [mobility], or associate no nodes";
    StationsRouted { node: String } =>
        "VALUE does not support associated stations, such as {node:?}";
        "use static routes (remove protocol), or associate no nodes";

    // Links and wires.
    UnusedLinks =>
        "measured links have no effect on this medium, which depends on distance";
        "remove them, or set medium.model = \"matrix\"";
    OtherQuantity { quantity: &'static str, key: &'static str } =>
        "VALUE has no effect with medium.quantity = {quantity:?}";
        "give {key} instead, or set the quantity to \"delivery-and-rssi\" for both";
    NoPower { key: &'static str } =>
        "missing";
        "with quantity \"delivery-and-rssi\" every direction has a power, for example {key} = \"-70 dBm\"";
    SecondRate { first: usize } =>
        "VALUE is a second rate of this link: topology.links[{first}] has one";
        "give it once: it applies in both directions";
    SecondDirection { from: String, to: String, first: usize } =>
        "the direction from {from:?} to {to:?} is already in topology.links[{first}]";
        "list each direction of a link once";
    SecondWire { between: [String; 2], first: usize } =>
        "topology.wires[{first}] already joins {:?} and {:?}", between[0], between[1];
        "keep one of the two, with the sum of their rates";
    NoCommonChannel { between: [String; 2] } =>
        "this link joins {:?} and {:?}, which have no channel in common", between[0], between[1];
        "name radios of one channel as its ends; the second radio of \"a\" is \"a/1\"";

    // Paths.
    NoPath { ends: [FlowEnd; 2] } =>
        "no path: {}, {}", ends[0], ends[1];
        "choose nodes of one component, or join the components: closer nodes, more range, a common channel, two-way links, wires";
    NoPathForChannels { ends: [FlowEnd; 2], channels: [String; 2] } =>
        "no path: {}, {}; on one channel there would be a path, but {} is on {}, {} on {}",
        ends[0], ends[1], ends[0].node, channels[0], ends[1].node, channels[1];
        "give them, or nodes between them, radios on a common channel";
    NoPathBecause { ends: [FlowEnd; 2], key: String } =>
        "no path: {}, {}, only because of {key}", ends[0], ends[1];
        "lower {key}: a link is usable if at least 1 % of its DATA frames are acknowledged";
    NoPathAtRate { ends: [FlowEnd; 2], rate: DataRate, lower: DataRate } =>
        "no path: {}, {}; at {lower} there would be a path, but phy.data_rate is {rate}", ends[0], ends[1];
        "set phy.data_rate = \"{lower}\", let stations choose their rates (mac.rate_control), or join the components: closer nodes, more power";
}

/// End of a flow, with its component.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowEnd {
    /// Name of the node.
    pub node: String,
    /// Names of the nodes that it can reach, itself included.
    pub component: Vec<String>,
}

impl fmt::Display for FlowEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let FlowEnd { node, component } = self;
        let shown = component.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if component.len() > SHOWN { ", ..." } else { "" };
        let plural = if component.len() == 1 { "" } else { "s" };
        write!(f, "{node} is in a component of {} node{plural} ({shown}{more})", component.len())
    }
}
