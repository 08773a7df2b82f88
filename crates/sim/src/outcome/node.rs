//! Results of nodes, links, wires and access categories.

use super::losses;
use super::table::{At, Cell, Column, Table, Values, table};
use crate::config::WireConfig;
use multihop_core::{DropCause, Span};
use multihop_dot11::AccessCategory;

table! {
    /// Time shares, queue and losses of a node.
    #[derive(Clone, Debug, Default, PartialEq)]
    NodeOutcome, "nodes", "a row per node":

    /// index of the node
    column node("1"): u32 = |at| at.index as u32;
    /// name of the node
    column name(""): String = |at| at.config.topology.nodes[at.index].name.clone();
    /// position along x; missing where the scenario gives none
    column x_m("m"): Option<f64> = |at| coordinate(at, 0);
    /// position along y; missing where the scenario gives none
    column y_m("m"): Option<f64> = |at| coordinate(at, 1);
    /// share of time transmitting
    transmitting("1"): f64;
    /// share of time receiving frames that the node decoded and that were addressed to it
    receiving("1"): f64;
    /// share of time sensing the medium busy with anything else
    sensing("1"): f64;
    /// share of time physically idle; the four shares add up to 1
    idle("1"): f64;
    /// share of time physically idle but deferring to the network allocation vector
    nav_only("1"): f64;
    /// share of time that the medium could not be used: all but `idle`, plus `nav_only` (the channel busyness
    /// ratio of Zhai, Chen and Fang 2007)
    busy_ratio("1"): f64;
    /// length of the interface queue, mean over time
    queue_mean("packets"): f64;
    /// length of the interface queue, maximum
    queue_max("packets"): u64;
    /// Packets of flows lost at the node, by cause, in the order of [`DropCause::ALL`].
    dropped: [u64; DropCause::ALL.len()];
    ..losses("packets of flows, data or feedback,", |node: &NodeOutcome| &node.dropped);
    /// Packets that the node's routing protocol sent.
    routing: ControlOutcome;
    /// routing packets handed to the interface queue
    column routing_sent("packets"): u64 = |at| at.row.routing.sent;
    /// bytes of routing packets handed to the interface queue, IP header included
    column routing_bytes("byte"): u64 = |at| at.row.routing.bytes;
    /// routing packets lost before they were sent: queue full, or lifetime expired
    column routing_dropped("packets"): u64 = |at| at.row.routing.dropped;
    /// share of time that frames with routing packets were on the air
    column routing_airtime("1"): f64 = |at| at.row.routing.airtime;
    /// Packets that the node's router policies sent to neighbours.
    signalling: ControlOutcome;
    /// signalling packets of router policies, and probes of estimators, handed to the interface queue
    column signalling_sent("packets"): u64 = |at| at.row.signalling.sent;
    /// bytes of signalling packets handed to the interface queue, IP header included
    column signalling_bytes("byte"): u64 = |at| at.row.signalling.bytes;
    /// signalling packets lost before they were sent: queue full, or lifetime expired
    column signalling_dropped("packets"): u64 = |at| at.row.signalling.dropped;
    /// share of time that frames with signalling packets were on the air
    column signalling_airtime("1"): f64 = |at| at.row.signalling.airtime;
    /// frame transmission efficiency, mean over the node's acknowledged frames
    transmission_efficiency("1"): Option<f64>;
    /// time from the head of the line to the acknowledgement, mean over acknowledged frames
    service_delay_mean_s("s"): Option<f64>;
    /// time in the hardware queue before the packet's frame is assembled, mean over packets; missing without
    /// a hardware queue
    hardware_delay_mean_s("s"): Option<f64>;
}

/// Packets of a node that belong to no flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlOutcome {
    /// Packets handed to the interface queue.
    pub sent: u64,
    /// Bytes of these packets, IP header included.
    pub bytes: u64,
    /// Packets lost before they were sent: queue full, or lifetime expired.
    pub dropped: u64,
    /// Share of time that frames with these packets were on the air, without control frames of the MAC.
    pub airtime: f64,
}

table! {
    /// Traffic of a directed link.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    LinkOutcome, "links", "a row per pair of nodes that exchanged frames":

    /// Index of the sending node.
    from: u32;
    /// Index of the receiving node.
    to: u32;
    /// index of the sending node
    column sender("1"): u32 = |at| at.row.from;
    /// index of the receiving node
    column receiver("1"): u32 = |at| at.row.to;
    /// name of the sending node
    derived sender_name("");
    /// name of the receiving node
    derived receiver_name("");
    /// RTS transmissions
    rts("frames"): u64;
    /// DATA transmissions
    data("frames"): u64;
    /// frames acknowledged
    acknowledged("frames"): u64;
    /// frames given up at the retry limit
    given_up("frames"): u64;
    /// Time that the link's exchanges used the medium.
    air: Span;
    /// PPDUs with DATA.
    ppdus: u64;
    /// MPDUs in PPDUs with DATA.
    mpdus: u64;
    /// Sum of the bit rates of these MPDUs.
    rates_bps: f64;
    /// share of time that the link's exchanges used the medium: RTS, DATA, responses and SIFS, failed
    /// attempts included, without back-off
    column airtime("1"): f64 = |at| at.row.air.seconds() / at.measured_s;
    /// MPDUs per PPDU with DATA, mean; 1 without aggregation, missing without DATA
    column aggregate_mean("frames"): Option<f64> = |at| mean(at.row.mpdus as f64, at.row.ppdus);
    /// bit rate of DATA, mean over MPDUs sent; all attempts of a single frame count at its last rate; missing
    /// without DATA
    column rate_mean_bps("bit/s"): Option<f64> = |at| mean(at.row.rates_bps, at.row.mpdus);
}

table! {
    /// Traffic of one direction of a wire.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    WireOutcome, "wires", "a row per direction of a wire":

    /// Index of the sending node.
    from: u32;
    /// Index of the receiving node.
    to: u32;
    /// index of the sending node
    column sender("1"): u32 = |at| at.row.from;
    /// index of the receiving node
    column receiver("1"): u32 = |at| at.row.to;
    /// name of the sending node
    derived sender_name("");
    /// name of the receiving node
    derived receiver_name("");
    /// rate of this direction of the wire
    column rate_bps("bit/s"): f64 = |at| wire(at).rate.bps() as f64;
    /// propagation delay of the wire
    column delay_s("s"): f64 = |at| wire(at).delay.seconds();
    /// probability of random loss of a packet on the wire
    column loss("1"): f64 = |at| wire(at).loss;
    /// packets sent to the last bit
    sent("packets"): u64;
    /// bytes of these packets, headers included
    sent_bytes("byte"): u64;
    /// packets that reached the other end
    delivered("packets"): u64;
    /// packets lost before they were sent: queue full, dropped by a router policy or the queue discipline, or
    /// node switched off
    dropped("packets"): u64;
    /// packets lost at random after they were sent
    lost("packets"): u64;
    /// packets queued at the sending end, mean over time
    queue_mean("packets"): f64;
    /// packets queued at the sending end, maximum
    queue_max("packets"): u64;
    /// share of time that the wire was sending
    utilisation("1"): f64;
}

table! {
    /// Results of a node for one access category.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    CategoryOutcome, "categories", "a row per node and access category, of scenarios with `[mac.edca]`":

    /// Index of the node.
    node: u32;
    /// Access category of the row.
    category: AccessCategory;
    /// index of the node
    column node("1"): u32 = |at| at.row.node;
    /// name of the node
    column name(""): String = |at| at.config.topology.nodes[at.row.node as usize].name.clone();
    /// access category: `AC_BK`, `AC_BE`, `AC_VI` or `AC_VO`
    column category(""): String = |at| at.row.category.name().to_owned();
    /// share of time that the category's frames were on the air: RTS, DATA and requests for block
    /// acknowledgements
    airtime("1"): f64;
    /// internal collisions: times that the category's back-off ended together with that of a higher category,
    /// which transmitted
    internal_collisions("1"): u64;
    /// Packets of flows lost in the category, by cause, in the order of [`DropCause::ALL`].
    dropped: [u64; DropCause::ALL.len()];
    ..losses("packets of flows, data or feedback,", |category: &CategoryOutcome| &category.dropped);
}

fn coordinate(at: &At<NodeOutcome>, axis: usize) -> Option<f64> {
    at.config.topology.nodes[at.index].position.map(|position| position[axis])
}

fn wire<'a>(at: &At<'a, WireOutcome>) -> &'a WireConfig {
    &at.config.topology.wires[at.index]
}

/// Mean of `count` values with this sum; none if there are no values.
fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}
