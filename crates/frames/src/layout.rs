//! Every table and column of a frame log: the one place that says what there is. Times and lengths of time
//! are whole nanoseconds.

use crate::Coding::{self, Delta, DeltaBy, Like, Modelled, Optional, Plain};
use serde::Serialize;

/// A column.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its unit; `1` for counts and indices, the name of an enumeration for its values.
    pub unit: &'static str,
    /// How it is written.
    #[serde(flatten)]
    pub coding: Coding,
    /// What it means. Files do not say that.
    #[serde(skip)]
    pub meaning: &'static str,
}

const fn column(name: &'static str, unit: &'static str, coding: Coding, meaning: &'static str) -> Column {
    Column { name, unit, coding, meaning }
}

/// A table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Table {
    /// What transmissions have in common: of all with these values there is one row.
    Sorts,
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
pub const TABLES: [(Table, &str); 10] = [
    (
        Table::Sorts,
        "what transmissions have in common, a row for each set of values, in the order of their first",
    ),
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

const SORTS: &[Column] = &[
    column("from", "node", Plain, "index of the node that sends"),
    column("to", "node", Optional, "index of the node that it is for; none of broadcasts"),
    column("kind", "kind", Plain, "what it is"),
    column("airtime", "ns", Like([0, 2]), "how long it is on the air, with preamble and PLCP header"),
    column("bytes", "B", Like([2, 3]), "MAC bytes, FCS included"),
    column("rate", "b/s", Like([2, 3]), "rate of its payload"),
    column("nav", "ns", Like([2, 3]), "its duration field: for how long after its end others set their NAV"),
    column("flow", "flow", Like([0, 1]), "index of the flow of the packet in it, or that it is sent for"),
    column(
        "carries",
        "carries",
        Like([2, 7]),
        "what that packet is: data of the flow, feedback to its sender, or none of a flow",
    ),
];

const RESERVATIONS: &[Column] = &[
    column("set", "1", Modelled, "number of the set, from 1"),
    column("node", "node", Modelled, "index of a node whose NAV it sets"),
    column("nav", "ns", Modelled, "how long after the end of the frame this NAV lasts"),
];

const TRANSMISSIONS: &[Column] = &[
    column("start", "ns", Modelled, "when its first bit leaves the sender"),
    column("sort", "sort", Modelled, "row of `sorts`, from 0"),
    column(
        "try",
        "1",
        Modelled,
        "of RTS, and of DATA that is sent to one node: which try of this frame it is, from 1; 0 of others",
    ),
    column(
        "frozen",
        "slots",
        Modelled,
        "of frames that begin an exchange: slot times since their sender contends, rounded down, in which no slot of its back-off counted: the medium was \
         busy or reserved, or an IFS or a timeout passed; 0 of others. What counted is the rest. It may be negative: slots may have counted before \
         there was a frame to send",
    ),
    column(
        "waited",
        "ns",
        Modelled,
        "of frames that begin an exchange: for how long their sender had it at the head of the line, if that began later than the end of the sender's last \
         exchange, of the last RTS, DATA or request of its own or answer to it; otherwise none: then it contends since that end, which is in the log",
    ),
    column("queue", "packets", Modelled, "packets in the sender's interface queue when it begins"),
    column(
        "packet",
        "1",
        Modelled,
        "number of the packet among those of its flow and direction; 0 if it carries none",
    ),
    column("outcome", "outcome", Modelled, "what became of it at the node that it is for"),
    column(
        "collided",
        "node",
        Modelled,
        "index of the node whose frame destroyed it; of several the strongest",
    ),
    column("overlap", "overlap", Modelled, "how the two came to overlap"),
    column(
        "reserves",
        "set",
        Modelled,
        "set of `reservations`: which stations set their NAV by it; 0 for none",
    ),
];

const MPDUS: &[Column] = &[
    column("start", "ns", Modelled, "when the first bit of the aggregate leaves the sender"),
    column("from", "node", Modelled, "index of the node that sends it"),
    column("flow", "flow", Modelled, "index of the flow"),
    column("carries", "carries", Modelled, "what the packet is"),
    column("packet", "1", Modelled, "number of the packet among those of its flow and direction"),
    column("outcome", "outcome", Modelled, "what became of it at the node that it is for"),
];

const DROPS: &[Column] = &[
    column("flow", "flow", Modelled, "index of the flow"),
    column("carries", "carries", Modelled, "what the packet was"),
    column("node", "node", Modelled, "index of the node that lost it"),
    column("cause", "cause", Modelled, "why"),
    column("packet", "1", Modelled, "number of the packet among those of its flow and direction"),
    column("time", "ns", Modelled, "when"),
];

const WINDOWS: &[Column] = &[
    column("time", "ns", Modelled, "when it was seen"),
    column("flow", "flow", Modelled, "index of the flow"),
    column("window", "B", Modelled, "congestion window; -1 of a sender that has none"),
    column("rtt", "ns", Modelled, "the latest round-trip sample; 0 before the first"),
    column("timeouts", "1", Modelled, "expiries of the retransmission timer until then"),
];

const ROUTES: &[Column] = &[
    column("time", "ns", Delta, "when the first frame went there"),
    column("node", "node", Plain, "index of the node"),
    column("destination", "node", Plain, "index of the node that packets are for"),
    column("next", "node", Plain, "index of the next hop"),
];

const PLACES: &[Column] = &[
    column("time", "ns", Delta, "when"),
    column("node", "node", Plain, "index of the node"),
    column("x", "mm", DeltaBy(1), "abscissa"),
    column("y", "mm", DeltaBy(1), "ordinate"),
    column("off", "1", Plain, "1 if it is off"),
];

const INGRESS: &[Column] = &[
    column("flow", "flow", Plain, "index of the flow"),
    column("carries", "carries", Plain, "what the packets are"),
    column("node", "node", Plain, "index of the node that they come to"),
    column(
        "from",
        "node",
        Plain,
        "index of the node that they come from: the same, if the end of the flow there sends them; another radio of the node, which received them; otherwise \
         the other end of a wire, in the queue of which they waited, and which they crossed",
    ),
];

const ENTRIES: &[Column] = &[
    column("ingress", "ingress", Modelled, "row of `ingress`, from 0"),
    column("packet", "1", Modelled, "number of the packet among those of its flow and direction"),
    column("time", "ns", Modelled, "when it came to the node"),
];

impl Table {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Table::Sorts => "sorts",
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
            Table::Sorts => SORTS,
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

    /// The column of the time, in the order of which its rows are.
    pub const fn time(self) -> Option<usize> {
        match self {
            Table::Sorts | Table::Reservations | Table::Ingress => None,
            Table::Drops => Some(5),
            Table::Entries => Some(2),
            _ => Some(0),
        }
    }

    /// Are its rows in the blocks of transmissions?
    pub const fn is_with_transmissions(self) -> bool {
        !matches!(self, Table::Sorts | Table::Routes | Table::Places | Table::Ingress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_stands_at_its_index_and_columns_look_back_only() {
        for (index, (table, _)) in TABLES.iter().enumerate() {
            assert_eq!(*table as usize, index);
            let time = table.time().map(|time| table.columns()[time].name);
            assert!(time.is_none_or(|name| name == "time" || name == "start"));
            for (at, column) in table.columns().iter().enumerate() {
                let looks_on = matches!(column.coding, DeltaBy(by) | Like([by, _] | [_, by]) if by >= at);
                assert!(!looks_on, "{}.{}", table.name(), column.name);
            }
        }
    }

    #[test]
    fn outcomes_have_their_names() {
        let (_, names) = ENUMERATIONS.iter().find(|(unit, _)| *unit == "outcome").unwrap();
        let named = [ARRIVED, BROADCAST, UNKNOWN].map(|place| names[place as usize]);
        assert_eq!(named, ["arrived", "broadcast", "unknown"]);
    }
}
