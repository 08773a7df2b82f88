//! Content of a router's broadcast: entries of its table (Tan, Jiang, Zhang and Shen, section III.D).

use super::table::Queue;
use crate::neighbourhood::{KnownLink, last_octets};
use multihop_core::{Carrier, header};

/// UDP port "use for experiments" (RFC 4727).
pub(super) const CARRIER: Carrier = Carrier::Udp(1_021);

header! {
    /// Entry of a broadcast of EWCCP; a broadcast is a sequence of entries
    pub(crate) struct EntryOnAir: "ewccp_entry" = 6 of 6 {
        /// Last octet of the address of the link's sending node
        from: u8 [0..1] "",
        /// Last octet of the address of the link's receiving node
        to: u8 [1..2] "",
        /// Mean queue of the link in the round
        queue: u16 [2..4] "16 B",
        /// Number of the round
        sequence: u8 [4..5] "",
        /// Hops over which the queue was signalled before this one
        hops: u8 [5..6] "",
    }
}

/// Encodes an entry of the table.
pub(super) fn entry(known: &KnownLink<Queue>) -> EntryOnAir {
    let [from, to] = last_octets(known.link);
    EntryOnAir { from, to, queue: known.value.queue, sequence: known.sequence, hops: known.hops() }
}

#[cfg(test)]
mod tests {
    use super::super::table::QUEUE_UNIT;
    use super::*;
    use crate::neighbourhood::{DirectedLink, Origin, read, write};
    use multihop_core::{Header, NodeId, Time};
    use proptest::prelude::{
        Just, ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest,
    };

    fn origins() -> impl Strategy<Value = Origin> {
        prop_oneof![Just(Origin::Own), Just(Origin::Incoming), any::<u8>().prop_map(Origin::Signalled)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn entries_are_decoded_as_encoded(
            drawn in prop::collection::vec((any::<[u32; 2]>(), origins(), any::<(u16, u8)>()), 0..40),
            most in any::<u8>(),
        ) {
            let of = |&([from, to], origin, (queue, sequence)): &([u32; 2], Origin, (u16, u8))| {
                let link = DirectedLink { from: NodeId(from), to: NodeId(to) };
                KnownLink { link, origin, value: Queue { mask: 0, queue }, sequence, at: Time::ZERO }
            };
            let entries: Vec<KnownLink<Queue>> = drawn.iter().map(of).collect();
            let (content, count) = write(&entries, most, super::entry);
            let expected: Vec<(DirectedLink, EntryOnAir)> = entries
                .iter()
                .filter(|known| match known.origin {
                    Origin::Own | Origin::Incoming => most > 0,
                    Origin::Signalled(hops) => hops < most,
                })
                .map(|known| (known.link, super::entry(known)))
                .collect();
            prop_assert_eq!(count, expected.len());
            prop_assert_eq!(read::<EntryOnAir>(&content).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn any_bytes_decode_to_whole_entries(content in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(read::<EntryOnAir>(&content).count(), content.len() / (EntryOnAir::LEN + 8));
        }
    }

    fn entry(from: u32, to: u32, origin: Origin) -> KnownLink<Queue> {
        let link = DirectedLink { from: NodeId(from), to: NodeId(to) };
        KnownLink { link, origin, value: Queue { mask: 0, queue: 0x0102 }, sequence: 7, at: Time::ZERO }
    }

    /// Nodes 0 and 4 have the addresses 10.0.0.1 and 10.0.0.5; node 258 has 10.0.1.3.
    #[test]
    fn entries_on_the_air_precede_full_identifiers() {
        let entries = [
            entry(0, 4, Origin::Own),
            entry(4, 258, Origin::Signalled(1)),
            entry(258, 0, Origin::Incoming),
            entry(4, 0, Origin::Signalled(2)),
        ];
        let (content, count) = write(&entries, 2, super::entry);
        assert_eq!(count, 3, "the last was signalled over too many hops");
        assert_eq!(content[..18], [1, 5, 1, 2, 7, 0, 5, 3, 1, 2, 7, 1, 3, 1, 1, 2, 7, 0]);
        assert_eq!(content[18..26], [0, 0, 0, 0, 0, 0, 0, 4]);
        let signalled = |known: &KnownLink<Queue>, hops| {
            let [from, to] = last_octets(known.link);
            (known.link, EntryOnAir { from, to, hops, queue: 0x0102, sequence: 7 })
        };
        let expected: Vec<(DirectedLink, EntryOnAir)> =
            entries.iter().zip([0, 1, 0]).map(|(known, hops)| signalled(known, hops)).collect();
        assert_eq!(read::<EntryOnAir>(&content).collect::<Vec<_>>(), expected);
        assert_eq!(write(&entries[1..2], 1, super::entry), (Vec::new(), 0));
    }

    #[test]
    fn header_and_table_use_the_same_unit_of_queues() {
        assert_eq!(EntryOnAir::LAYOUT.fields[2].unit, format!("{QUEUE_UNIT} B"));
    }
}
