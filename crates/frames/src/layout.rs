//! Every table and column of a frame log. Times and lengths of time are whole nanoseconds.

use Encoding::{Delta, Dictionary, Plain};
use Type::{I32, I64, U8};
use serde::Serialize;

/// Type of a column's values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Type {
    /// From 0 to 255.
    U8,
    /// 32 bits with a sign.
    I32,
    /// 64 bits with a sign.
    I64,
}

/// Encoding of a column in Parquet, before compression.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// A dictionary and indices, for columns of few values.
    Dictionary,
    /// Differences, for columns that mostly rise.
    Delta,
    /// The values as they are.
    Plain,
}

/// A column.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Column {
    /// Name of the column.
    pub name: &'static str,
    /// Unit of the values; `1` for counts, the name of an enumeration for its values.
    pub unit: &'static str,
    /// Type of the values.
    #[serde(skip)]
    pub of: Type,
    /// Encoding in Parquet.
    #[serde(skip)]
    pub encoding: Encoding,
    /// Meaning of the values.
    #[serde(skip)]
    pub meaning: &'static str,
}

const fn column(
    name: &'static str,
    unit: &'static str,
    of: Type,
    encoding: Encoding,
    meaning: &'static str,
) -> Column {
    Column { name, unit, of, encoding, meaning }
}

/// A table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Table {
    /// Which stations set the NAV by a frame, and how long beyond its end.
    Reservations,
    /// Transmissions, in the order in which they began.
    Transmissions,
    /// Packets in aggregates.
    Mpdus,
    /// Packets that were lost.
    Drops,
    /// State of senders.
    Windows,
    /// Next hops, as they came into use.
    Routes,
    /// Places of nodes that move, and whether nodes are off.
    Places,
    /// How packets come to nodes otherwise than by a frame.
    Ingress,
    /// Packets that came so.
    Entries,
}

/// All tables in the order of their indices, and what a row is.
pub const TABLES: [(Table, &str); 9] = [
    (Table::Reservations, "nodes whose NAV a frame sets, a row per set and node"),
    (Table::Transmissions, "a row per transmission, in the order of their beginnings"),
    (Table::Mpdus, "a row per packet in an aggregate"),
    (Table::Drops, "a row per packet that was lost"),
    (Table::Windows, "senders, a row per change and flow, and at most one in 10 ms"),
    (Table::Routes, "a row per change of a next hop that flows use, when it is first used"),
    (Table::Places, "a row per instant and node that moves or is off for a while"),
    (
        Table::Ingress,
        "how packets of flows come to a node otherwise than by a frame, a row for each ingress, in the order of their first",
    ),
    (Table::Entries, "a row per packet of a flow that comes to a node so"),
];

/// The place in the enumeration `outcome` of what reached the node that it is for.
pub const ARRIVED: i64 = 0;
/// The same of what is for no single node.
pub const BROADCAST: i64 = 1;
/// The same where it was not observed: in captures, and of what is still propagating when a run ends.
pub const UNKNOWN: i64 = 7;

/// Of a flow, windows are written no oftener than once in this time, in nanoseconds.
pub const BETWEEN_WINDOWS_NS: i64 = 10_000_000;

/// What the numbers of a unit stand for.
pub const ENUMERATIONS: &[(&str, &[&str])] = &[
    (
        "kind",
        &["rts", "cts", "data", "ack", "block-ack-request", "block-ack", "management", "control", "damaged"],
    ),
    ("carries", &["nothing", "data", "feedback", "routing", "signalling", "arp"]),
    (
        "outcome",
        &["arrived", "broadcast", "collision", "receiver-sending", "channel", "weak", "off", "unknown"],
    ),
    ("overlap", &["none", "hidden", "simultaneous", "sensed"]),
    (
        "cause",
        &[
            "queue-full",
            "retry-limit",
            "no-route",
            "policy",
            "link-broken",
            "hop-limit",
            "lifetime",
            "aqm",
            "wire-loss",
            "reordering",
            "multicast",
        ],
    ),
];

const RESERVATIONS: &[Column] = &[
    column("set", "1", I32, Delta, "number of the set, from 1"),
    column("node", "node", I32, Dictionary, "index of a node whose NAV it sets"),
    column("nav", "ns", I64, Dictionary, "how long after the end of the frame this NAV lasts"),
];

const TRANSMISSIONS: &[Column] = &[
    column("start", "ns", I64, Delta, "when its first bit leaves the sender"),
    column("from", "node", I32, Dictionary, "index of the node that sends"),
    column("to", "node", I32, Dictionary, "index of the node that it is for; -1 of broadcasts"),
    column("kind", "kind", U8, Dictionary, "what it is"),
    column("airtime", "ns", I64, Dictionary, "how long it is on the air, with preamble and PLCP header"),
    column("bytes", "B", I32, Dictionary, "MAC bytes, FCS included"),
    column("rate", "b/s", I64, Dictionary, "rate of its payload"),
    column(
        "nav",
        "ns",
        I64,
        Dictionary,
        "its duration field: for how long after its end others set their NAV",
    ),
    column(
        "flow",
        "flow",
        I32,
        Dictionary,
        "index of the flow of the packet in it, or that it is sent for; -1 for none",
    ),
    column(
        "carries",
        "carries",
        U8,
        Dictionary,
        "what that packet is: data of the flow, feedback to its sender, or none of a flow",
    ),
    column(
        "try",
        "1",
        I32,
        Dictionary,
        "of RTS, and of DATA that is sent to one node: which try of this frame it is, from 1; 0 of others",
    ),
    column(
        "frozen",
        "slots",
        I32,
        Plain,
        "of frames that begin an exchange: slot times since their sender contends, rounded down, in which no slot of its back-off counted: the medium was \
         busy or reserved, or an IFS or a timeout passed; 0 of others. What counted is the rest. It may be negative: slots may have counted before \
         there was a frame to send",
    ),
    column(
        "waited",
        "ns",
        I64,
        Plain,
        "of frames that begin an exchange: for how long their sender had it at the head of the line, if that began later than the end of the sender's last \
         exchange, of the last RTS, DATA or request of its own or answer to it; otherwise -1: then it contends since that end",
    ),
    column(
        "contended",
        "ns",
        I64,
        Dictionary,
        "of frames that begin an exchange: for how long their sender contended before; -1 of others",
    ),
    column("queue", "packets", I32, Dictionary, "packets in the sender's interface queue when it begins"),
    column(
        "packet",
        "1",
        I64,
        Plain,
        "number of the packet among those of its flow and direction; 0 if it carries none",
    ),
    column("outcome", "outcome", U8, Dictionary, "what became of it at the node that it is for"),
    column(
        "collided",
        "node",
        I32,
        Dictionary,
        "index of the node whose frame destroyed it, of several the strongest; -1 for none",
    ),
    column("overlap", "overlap", U8, Dictionary, "how the two came to overlap"),
    column(
        "reserves",
        "set",
        I32,
        Dictionary,
        "set of `reservations`: which stations set their NAV by it; 0 for none",
    ),
];

const MPDUS: &[Column] = &[
    column("start", "ns", I64, Plain, "when the first bit of the aggregate leaves the sender"),
    column("from", "node", I32, Dictionary, "index of the node that sends it"),
    column("flow", "flow", I32, Dictionary, "index of the flow; -1 for none"),
    column("carries", "carries", U8, Dictionary, "what the packet is"),
    column("packet", "1", I64, Delta, "number of the packet among those of its flow and direction"),
    column("outcome", "outcome", U8, Dictionary, "what became of it at the node that it is for"),
];

const DROPS: &[Column] = &[
    column("flow", "flow", I32, Dictionary, "index of the flow; -1 for none"),
    column("carries", "carries", U8, Dictionary, "what the packet was"),
    column("node", "node", I32, Dictionary, "index of the node that lost it"),
    column("cause", "cause", U8, Dictionary, "why"),
    column("packet", "1", I64, Delta, "number of the packet among those of its flow and direction"),
    column("time", "ns", I64, Delta, "when"),
];

const WINDOWS: &[Column] = &[
    column("time", "ns", I64, Delta, "when it was seen"),
    column("flow", "flow", I32, Dictionary, "index of the flow"),
    column("window", "B", I64, Plain, "congestion window; -1 of a sender that has none"),
    column("rtt", "ns", I64, Plain, "the latest round-trip sample; 0 before the first"),
    column("timeouts", "1", I64, Dictionary, "expiries of the retransmission timer until then"),
];

const ROUTES: &[Column] = &[
    column("time", "ns", I64, Delta, "when the first frame went there"),
    column("node", "node", I32, Dictionary, "index of the node"),
    column("destination", "node", I32, Dictionary, "index of the node that packets are for"),
    column("next", "node", I32, Dictionary, "index of the next hop"),
];

const PLACES: &[Column] = &[
    column("time", "ns", I64, Delta, "when"),
    column("node", "node", I32, Dictionary, "index of the node"),
    column("x", "mm", I64, Plain, "abscissa"),
    column("y", "mm", I64, Plain, "ordinate"),
    column("off", "1", U8, Dictionary, "1 if it is off"),
];

const INGRESS: &[Column] = &[
    column("flow", "flow", I32, Dictionary, "index of the flow"),
    column("carries", "carries", U8, Dictionary, "what the packets are"),
    column("node", "node", I32, Dictionary, "index of the node that they come to"),
    column(
        "from",
        "node",
        I32,
        Dictionary,
        "index of the node that they come from: the same, if the end of the flow there sends them; another radio of the node, which received them; otherwise \
         the other end of a wire, in the queue of which they waited, and which they crossed",
    ),
];

const ENTRIES: &[Column] = &[
    column("ingress", "ingress", I32, Dictionary, "row of `ingress`, from 0"),
    column("packet", "1", I64, Delta, "number of the packet among those of its flow and direction"),
    column("time", "ns", I64, Delta, "when it came to the node"),
];

impl Table {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Table::Reservations => "reservations",
            Table::Transmissions => "transmissions",
            Table::Mpdus => "mpdus",
            Table::Drops => "drops",
            Table::Windows => "windows",
            Table::Routes => "routes",
            Table::Places => "places",
            Table::Ingress => "ingress",
            Table::Entries => "entries",
        }
    }

    /// Its columns, in their order.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Table::Reservations => RESERVATIONS,
            Table::Transmissions => TRANSMISSIONS,
            Table::Mpdus => MPDUS,
            Table::Drops => DROPS,
            Table::Windows => WINDOWS,
            Table::Routes => ROUTES,
            Table::Places => PLACES,
            Table::Ingress => INGRESS,
            Table::Entries => ENTRIES,
        }
    }

    /// Place of the column by whose range a reader chooses batches: the time, or the number of a set.
    #[cfg(any(test, feature = "files"))]
    pub(crate) const fn key(self) -> Option<usize> {
        match self {
            Table::Ingress => None,
            Table::Drops => Some(5),
            Table::Entries => Some(2),
            _ => Some(0),
        }
    }

    /// Whether a part of a log has only the rows of its interval. Routes and places hold until the next row.
    #[cfg(feature = "files")]
    pub(crate) const fn is_cut(self) -> bool {
        matches!(self, Table::Transmissions | Table::Mpdus | Table::Drops | Table::Windows | Table::Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_stands_at_its_index_and_its_key_is_a_time_or_a_set() {
        for (index, (table, _)) in TABLES.iter().enumerate() {
            assert_eq!(*table as usize, index);
            let key = table.key().map(|key| table.columns()[key].name);
            assert!(key.is_none_or(|name| ["time", "start", "set"].contains(&name)));
        }
    }

    #[test]
    fn outcomes_have_their_names() {
        let (_, names) = ENUMERATIONS.iter().find(|(unit, _)| *unit == "outcome").unwrap();
        let named = [ARRIVED, BROADCAST, UNKNOWN].map(|place| names[place as usize]);
        assert_eq!(named, ["arrived", "broadcast", "unknown"]);
    }
}
