//! How nodes spent their time, and what their links and wires carried.

use super::losses;
use super::table::{At, Cell, Column, Table, Values, table};
use crate::config::WireConfig;
use multihop_core::{DropCause, Span};
use multihop_dot11::AccessCategory;

table! {
    /// How a node spent its time, and what its queue did.
    #[derive(Clone, Debug, Default, PartialEq)]
    NodeOutcome, "nodes", "a row per node":

    /// index of the node
    column node("1"): u32 = |at| at.index as u32;
    /// name of the node
    column name(""): String = |at| at.config.nodes[at.index].name.clone();
    /// position; missing where the scenario gives none
    column x_m("m"): Option<f64> = |at| coordinate(at, 0);
    /// position; missing where the scenario gives none
    column y_m("m"): Option<f64> = |at| coordinate(at, 1);
    /// share of time transmitting
    transmitting("1"): f64;
    /// share of time receiving frames that it decoded and that were for it
    receiving("1"): f64;
    /// share of time sensing the medium busy with anything else
    sensing("1"): f64;
    /// share of time physically idle; the four shares add up to 1
    idle("1"): f64;
    /// share of time physically idle but held back by the network allocation vector
    nav_only("1"): f64;
    /// share of time that the medium could not be used: all but `idle`, and `nav_only` (the channel busyness
    /// ratio of Zhai, Chen and Fang 2007)
    busy_ratio("1"): f64;
    /// interface queue, mean over time
    queue_mean("packets"): f64;
    /// interface queue, maximum
    queue_max("packets"): u64;
    /// Packets of flows lost here, by cause, in the order of [`DropCause::ALL`].
    dropped: [u64; DropCause::ALL.len()];
    ..losses("packets of flows, data or feedback,", |node: &NodeOutcome| &node.dropped);
    /// What its routing protocol sent.
    routing: ControlOutcome;
    /// packets of its routing protocol handed to the interface queue
    column routing_sent("packets"): u64 = |at| at.row.routing.sent;
    /// their bytes, IP header included
    column routing_bytes("byte"): u64 = |at| at.row.routing.bytes;
    /// packets of its routing protocol lost before they were sent: no room in the queue, or too old
    column routing_dropped("packets"): u64 = |at| at.row.routing.dropped;
    /// share of time that frames of its routing protocol were on the air
    column routing_airtime("1"): f64 = |at| at.row.routing.airtime;
    /// What its router policies signalled to neighbours.
    signalling: ControlOutcome;
    /// packets in which its router policies signalled something to neighbours
    column signalling_sent("packets"): u64 = |at| at.row.signalling.sent;
    /// their bytes, IP header included
    column signalling_bytes("byte"): u64 = |at| at.row.signalling.bytes;
    /// those lost before they were sent: no room in the queue, or too old
    column signalling_dropped("packets"): u64 = |at| at.row.signalling.dropped;
    /// share of time that frames with such packets were on the air
    column signalling_airtime("1"): f64 = |at| at.row.signalling.airtime;
    /// frame transmission efficiency, mean over its acknowledged frames
    transmission_efficiency("1"): Option<f64>;
    /// from the head of the line to the acknowledgement, mean over acknowledged frames
    service_delay_mean_s("s"): Option<f64>;
    /// in the queue of the hardware, before the frame that it leaves in is put together, mean over packets;
    /// missing where hardware has none
    hardware_delay_mean_s("s"): Option<f64>;
}

/// What a node sent that belongs to no flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlOutcome {
    /// Packets handed to the interface queue.
    pub sent: u64,
    /// Their bytes, IP header included.
    pub bytes: u64,
    /// Packets that were lost before they were sent: the queue was full, or they waited too long.
    pub dropped: u64,
    /// Share of time that their frames were on the air, control frames of the MAC not counted.
    pub airtime: f64,
}

table! {
    /// What a directed link carried.
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
    /// Time that the medium was in use.
    air: Span;
    /// PPDUs with DATA.
    ppdus: u64;
    /// MPDUs in them.
    mpdus: u64;
    /// Sum of their bit rates.
    rates_bps: f64;
    /// share of time that the medium was in use for its frames: RTS, DATA, what answers them and SIFS, failed
    /// tries too; no back-off
    column airtime("1"): f64 = |at| at.row.air.seconds() / at.measured_s;
    /// MPDUs of a PPDU with DATA, mean; 1 without aggregation, missing without DATA
    column aggregate_mean("frames"): Option<f64> = |at| mean(at.row.mpdus as f64, at.row.ppdus);
    /// bit rate of DATA, mean over MPDUs sent, tries of a frame that is sent alone counted at its last;
    /// missing without DATA
    column rate_mean_bps("bit/s"): Option<f64> = |at| mean(at.row.rates_bps, at.row.mpdus);
}

table! {
    /// What one direction of a wire carried.
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
    /// its propagation delay
    column delay_s("s"): f64 = |at| wire(at).delay.seconds();
    /// probability with which it loses each packet at random
    column loss("1"): f64 = |at| wire(at).loss;
    /// packets whose last bit was sent
    sent("packets"): u64;
    /// their bytes, headers included
    sent_bytes("byte"): u64;
    /// packets that reached the other end
    delivered("packets"): u64;
    /// packets lost before they were sent: no room in the queue, a router policy or the discipline dropped
    /// them, or the node was switched off
    dropped("packets"): u64;
    /// packets that it lost at random after they were sent
    lost("packets"): u64;
    /// packets that waited at its sending end, mean over time
    queue_mean("packets"): f64;
    /// packets that waited at its sending end, maximum
    queue_max("packets"): u64;
    /// share of time during which it was sending
    utilisation("1"): f64;
}

table! {
    /// What a node did for one access category.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    CategoryOutcome, "categories", "a row per node and access category, of scenarios with `[mac.edca]`":

    /// Index of the node.
    node: u32;
    /// The category.
    category: AccessCategory;
    /// index of the node
    column node("1"): u32 = |at| at.row.node;
    /// name of the node
    column name(""): String = |at| at.config.nodes[at.row.node as usize].name.clone();
    /// access category: `AC_BK`, `AC_BE`, `AC_VI` or `AC_VO`
    column category(""): String = |at| at.row.category.name().to_owned();
    /// share of time that its frames were on the air: RTS, DATA and requests for block acknowledgements
    airtime("1"): f64;
    /// times that it won the medium together with a higher category of the node, which transmitted
    internal_collisions("1"): u64;
    /// Packets of flows lost here, by cause, in the order of [`DropCause::ALL`].
    dropped: [u64; DropCause::ALL.len()];
    ..losses("packets of flows, data or feedback,", |category: &CategoryOutcome| &category.dropped);
}

fn coordinate(at: &At<NodeOutcome>, axis: usize) -> Option<f64> {
    at.config.nodes[at.index].position.map(|position| position[axis])
}

fn wire<'a>(at: &At<'a, WireOutcome>) -> &'a WireConfig {
    &at.config.wires[at.index]
}

/// Of so many, unless there are none.
fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}
