//! Tables and columns of a frame log. Times and durations are whole nanoseconds.

use Encoding::{Delta, Dictionary, Plain};
use Type::{I32, I64, U8};
use serde::Serialize;

/// Data type of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Type {
    /// Unsigned integers of 8 bits.
    U8,
    /// Signed integers of 32 bits.
    I32,
    /// Signed integers of 64 bits.
    I64,
}

/// Encoding of a column in Parquet files, before compression.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// Dictionary and indices, for columns with few distinct values.
    Dictionary,
    /// Differences of consecutive values, for columns that mostly increase.
    Delta,
    /// Values without encoding.
    Plain,
}

/// Definition of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Column {
    /// Name of the column.
    pub name: &'static str,
    /// Unit of the values: `1` for counts, the name of the enumeration for codes.
    pub unit: &'static str,
    /// Data type of the values.
    #[serde(skip)]
    pub of: Type,
    /// Encoding in Parquet files.
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

/// Table of a frame log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Table {
    /// Sets of nodes that set their NAV by a frame, and the durations of these NAVs.
    Reservations,
    /// Transmissions in the order of their start.
    Transmissions,
    /// Packets in aggregates (A-MPDUs and A-MSDUs).
    Mpdus,
    /// Dropped packets.
    Drops,
    /// Congestion windows and round-trip times of senders.
    Windows,
    /// Changes of next hops.
    Routes,
    /// Positions of moving nodes, and outages.
    Places,
    /// Ingresses: ways other than radio by which packets enter a node.
    Ingress,
    /// Packets that entered a node by an ingress.
    Entries,
}

/// All tables in the order of their indices, with the meaning of a row.
pub const TABLES: [(Table, &str); 9] = [
    (Table::Reservations, "nodes that set their NAV by a frame: one row per set and node"),
    (Table::Transmissions, "one row per transmission, in the order of their start"),
    (Table::Mpdus, "one row per packet in an aggregate"),
    (Table::Drops, "one row per dropped packet"),
    (Table::Windows, "one row per flow and change of its sender's state, at most one in 10 ms"),
    (Table::Routes, "one row per change of a next hop, at the first frame that uses it"),
    (Table::Places, "one row per time and node that moves or has an outage"),
    (
        Table::Ingress,
        "ways other than radio by which packets of a flow enter a node (ingresses): one row per ingress, in the order of first use",
    ),
    (Table::Entries, "one row per packet that enters a node by an ingress"),
];

/// Code in the enumeration `outcome`: the receiver decoded the frame.
pub const ARRIVED: i64 = 0;
/// Code in the enumeration `outcome`: the frame has no single receiver.
pub const BROADCAST: i64 = 1;
/// Code in the enumeration `outcome`: the outcome was not observed, as in captures, or at the end of a run.
pub const UNKNOWN: i64 = 7;

/// Minimum time between two rows of a flow in the table `windows`, in nanoseconds.
pub const WINDOW_INTERVAL_NS: i64 = 10_000_000;

/// Enumerations: name, and names of the codes 0, 1, ….
pub const ENUMERATIONS: &[(&str, &[&str])] = &[
    (
        "kind",
        &["rts", "cts", "data", "ack", "block-ack-request", "block-ack", "management", "control", "damaged"],
    ),
    ("carries", &["nothing", "data", "feedback", "routing", "signalling", "arp", "probe"]),
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
    column("set", "1", I32, Delta, "Number of the set, from 1"),
    column("node", "node", I32, Dictionary, "Index of a node that sets its NAV by the frame"),
    column("nav", "ns", I64, Dictionary, "Duration of this node's NAV after the end of the frame"),
];

const TRANSMISSIONS: &[Column] = &[
    column("start", "ns", I64, Delta, "Time at which the first bit leaves the sender"),
    column("from", "node", I32, Dictionary, "Index of the sender"),
    column("to", "node", I32, Dictionary, "Index of the receiver; -1 for broadcasts"),
    column("kind", "kind", U8, Dictionary, "Kind of the frame"),
    column("airtime", "ns", I64, Dictionary, "Airtime of the frame, with preamble and PLCP header"),
    column("bytes", "B", I32, Dictionary, "Size of the MAC frame, with its FCS"),
    column("rate", "b/s", I64, Dictionary, "Data rate of the payload"),
    column(
        "nav",
        "ns",
        I64,
        Dictionary,
        "Duration field: time after the end of the frame for which other stations set their NAV",
    ),
    column(
        "flow",
        "flow",
        I32,
        Dictionary,
        "Index of the flow whose packet the frame carries or is sent for; -1 for none",
    ),
    column(
        "carries",
        "carries",
        U8,
        Dictionary,
        "Kind of that packet: data of the flow, feedback to its sender, or a packet of no flow",
    ),
    column(
        "try",
        "1",
        I32,
        Dictionary,
        "Number of the transmission attempt, from 1, for RTS and unicast DATA; 0 for other frames",
    ),
    column(
        "frozen",
        "slots",
        I32,
        Plain,
        "Part of `contended` in which the backoff did not count down, in whole slot times, for frames that begin an exchange; 0 for other frames. The \
         medium was busy or reserved, or an IFS or a timeout elapsed. The backoff counted down in the other slots of `contended`. Negative if it \
         counted down before the frame was queued",
    ),
    column(
        "waited",
        "ns",
        I64,
        Plain,
        "Time that the frame was at the head of the queue before its start, for frames that begin an exchange and reached the head after the end of the \
         sender's previous exchange; otherwise -1: the sender contends since the end of that exchange, which is its last RTS, DATA or block ack request or \
         the response to it",
    ),
    column(
        "contended",
        "ns",
        I64,
        Dictionary,
        "Duration of the contention before the frame, for frames that begin an exchange; -1 for other frames",
    ),
    column(
        "queue",
        "packets",
        I32,
        Dictionary,
        "Packets in the sender's interface queue at the start of the frame",
    ),
    column("packet", "1", I64, Plain, "Number of the packet within its flow and direction; 0 for none"),
    column("outcome", "outcome", U8, Dictionary, "Outcome of the frame at the receiver"),
    column(
        "collided",
        "node",
        I32,
        Dictionary,
        "Index of the sender of the colliding frame, the strongest one if several collide; -1 for none",
    ),
    column("overlap", "overlap", U8, Dictionary, "Cause of the overlap with the colliding frame"),
    column(
        "reserves",
        "set",
        I32,
        Dictionary,
        "Number of the set of nodes in `reservations` that set their NAV by the frame; 0 for none",
    ),
];

const MPDUS: &[Column] = &[
    column("start", "ns", I64, Plain, "Time at which the first bit of the aggregate leaves the sender"),
    column("from", "node", I32, Dictionary, "Index of the sender"),
    column("flow", "flow", I32, Dictionary, "Index of the flow; -1 for none"),
    column("carries", "carries", U8, Dictionary, "Kind of the packet"),
    column("packet", "1", I64, Delta, "Number of the packet within its flow and direction"),
    column("outcome", "outcome", U8, Dictionary, "Outcome of the packet at the receiver"),
];

const DROPS: &[Column] = &[
    column("flow", "flow", I32, Dictionary, "Index of the flow; -1 for none"),
    column("carries", "carries", U8, Dictionary, "Kind of the packet"),
    column("node", "node", I32, Dictionary, "Index of the node that dropped the packet"),
    column("cause", "cause", U8, Dictionary, "Cause of the drop"),
    column("packet", "1", I64, Delta, "Number of the packet within its flow and direction"),
    column("time", "ns", I64, Delta, "Time of the drop"),
];

const WINDOWS: &[Column] = &[
    column("time", "ns", I64, Delta, "Time of the observation"),
    column("flow", "flow", I32, Dictionary, "Index of the flow"),
    column("window", "B", I64, Plain, "Congestion window; -1 for senders without one"),
    column("rtt", "ns", I64, Plain, "Latest sample of the round-trip time; 0 before the first"),
    column("timeouts", "1", I64, Dictionary, "Retransmission timeouts until this time"),
];

const ROUTES: &[Column] = &[
    column("time", "ns", I64, Delta, "Time of the first frame to this next hop"),
    column("node", "node", I32, Dictionary, "Index of the node"),
    column("destination", "node", I32, Dictionary, "Index of the destination of the packets"),
    column("next", "node", I32, Dictionary, "Index of the next hop"),
];

const PLACES: &[Column] = &[
    column("time", "ns", I64, Delta, "Time of the position"),
    column("node", "node", I32, Dictionary, "Index of the node"),
    column("x", "mm", I64, Plain, "x coordinate"),
    column("y", "mm", I64, Plain, "y coordinate"),
    column("off", "1", U8, Dictionary, "1 during an outage of the node"),
];

const INGRESS: &[Column] = &[
    column("flow", "flow", I32, Dictionary, "Index of the flow"),
    column("carries", "carries", U8, Dictionary, "Kind of the packets"),
    column("node", "node", I32, Dictionary, "Index of the node that the packets enter"),
    column(
        "from",
        "node",
        I32,
        Dictionary,
        "Index of the origin of the packets: the node itself, if the flow's end there sends them; another radio of the node, if that received them; \
         otherwise the node at the other end of a wire, in whose queue the packets waited",
    ),
];

const ENTRIES: &[Column] = &[
    column("ingress", "ingress", I32, Dictionary, "Row of the ingress in `ingress`, from 0"),
    column("packet", "1", I64, Delta, "Number of the packet within its flow and direction"),
    column("time", "ns", I64, Delta, "Time at which the packet enters the node"),
];

impl Table {
    /// Returns the name of the table.
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

    /// Returns the columns of the table in order.
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

    /// Returns the index of the column by whose range a reader selects batches: a time, or the number of a
    /// set.
    #[cfg(any(test, feature = "files"))]
    pub(crate) const fn key(self) -> Option<usize> {
        match self {
            Table::Ingress => None,
            Table::Drops => Some(5),
            Table::Entries => Some(2),
            _ => Some(0),
        }
    }

    /// Whether a selection of an interval contains only the table's rows of this interval. Routes and places
    /// hold until the next row and are read whole.
    #[cfg(feature = "files")]
    pub(crate) const fn is_restricted(self) -> bool {
        matches!(self, Table::Transmissions | Table::Mpdus | Table::Drops | Table::Windows | Table::Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_ordered_by_index_and_keyed_by_time_or_set() {
        for (index, (table, _)) in TABLES.iter().enumerate() {
            assert_eq!(*table as usize, index);
            let key = table.key().map(|key| table.columns()[key].name);
            assert!(key.is_none_or(|name| ["time", "start", "set"].contains(&name)));
        }
    }

    #[test]
    fn outcome_codes_match_their_names() {
        let (_, names) = ENUMERATIONS.iter().find(|(unit, _)| *unit == "outcome").unwrap();
        let named = [ARRIVED, BROADCAST, UNKNOWN].map(|place| names[place as usize]);
        assert_eq!(named, ["arrived", "broadcast", "unknown"]);
    }
}
