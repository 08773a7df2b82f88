//! Content of a router's broadcast: entries of its table (Tan, Jiang, Zhang and Shen, section III.D).

use super::summary::DirectedLink;
use super::table::{LinkQueue, Origin};
use multihop_core::{Carrier, Header, NodeId, header};

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

/// Queue of a link as a router signalled it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct SignalledQueue {
    /// Link whose queue was signalled.
    pub link: DirectedLink,
    /// Hops over which the queue was signalled before this one.
    pub hops: u8,
    /// Mean queue of the link in the round, in units of 16 bytes.
    pub queue: u16,
    /// Number of the round.
    pub sequence: u8,
}

/// Bytes of a link's full node identifiers, which follow all entries. An entry has one byte for each node, as
/// in the paper, which is ambiguous in networks of more than 256 nodes.
const LINK: usize = 8;

/// Encodes the queues of the links at this node, and the queues signalled over less than `hops` hops. Also
/// returns the number of entries.
pub(super) fn write(entries: &[LinkQueue], hops: u8) -> (Vec<u8>, usize) {
    let over = |entry: &LinkQueue| match entry.origin {
        Origin::Own | Origin::Incoming => 0,
        Origin::Signalled(over) => over,
    };
    let signalled = || entries.iter().filter(|entry| over(entry) < hops);
    let count = signalled().count();
    let mut content = vec![0; count * (EntryOnAir::LEN + LINK)];
    let (on_air, links) = content.split_at_mut(count * EntryOnAir::LEN);
    let places = on_air.chunks_exact_mut(EntryOnAir::LEN).zip(links.chunks_exact_mut(LINK));
    for (entry, (place, link)) in signalled().zip(places) {
        let LinkQueue { link: DirectedLink { from, to }, queue, sequence, .. } = *entry;
        let [from_octet, to_octet] = [from, to].map(|node| node.ipv4()[3]);
        EntryOnAir { from: from_octet, to: to_octet, queue, sequence, hops: over(entry) }.emit(place);
        link[..4].copy_from_slice(&from.0.to_be_bytes());
        link[4..].copy_from_slice(&to.0.to_be_bytes());
    }
    (content, count)
}

/// Decodes the entries of a broadcast.
pub(super) fn read(content: &[u8]) -> impl Iterator<Item = SignalledQueue> + '_ {
    let count = content.len() / (EntryOnAir::LEN + LINK);
    let (on_air, links) = content.split_at(count * EntryOnAir::LEN);
    let entries = on_air.chunks_exact(EntryOnAir::LEN).filter_map(EntryOnAir::parse);
    entries.zip(links.chunks_exact(LINK)).map(|(EntryOnAir { queue, sequence, hops, .. }, link)| {
        let node =
            |at: usize| NodeId(u32::from_be_bytes([link[at], link[at + 1], link[at + 2], link[at + 3]]));
        SignalledQueue { link: DirectedLink { from: node(0), to: node(4) }, hops, queue, sequence }
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::QUEUE_UNIT;
    use super::*;
    use multihop_core::Time;
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
                LinkQueue { link, mask: 0, origin, queue, sequence, at: Time::ZERO }
            };
            let entries: Vec<LinkQueue> = drawn.iter().map(of).collect();
            let (content, count) = write(&entries, most);
            let expected: Vec<SignalledQueue> = entries
                .iter()
                .filter_map(|&LinkQueue { link, origin, queue, sequence, .. }| {
                    let hops = if let Origin::Signalled(hops) = origin { hops } else { 0 };
                    (hops < most).then_some(SignalledQueue { link, hops, queue, sequence })
                })
                .collect();
            prop_assert_eq!(count, expected.len());
            prop_assert_eq!(read(&content).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn any_bytes_decode_to_whole_entries(content in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(read(&content).count(), content.len() / (EntryOnAir::LEN + LINK));
        }
    }

    fn entry(from: u32, to: u32, origin: Origin) -> LinkQueue {
        let link = DirectedLink { from: NodeId(from), to: NodeId(to) };
        LinkQueue { link, mask: 0, origin, queue: 0x0102, sequence: 7, at: Time::ZERO }
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
        let (content, count) = write(&entries, 2);
        assert_eq!(count, 3, "the last was signalled over too many hops");
        assert_eq!(content[..18], [1, 5, 1, 2, 7, 0, 5, 3, 1, 2, 7, 1, 3, 1, 1, 2, 7, 0]);
        assert_eq!(content[18..26], [0, 0, 0, 0, 0, 0, 0, 4]);
        let signalled =
            |entry: &LinkQueue, hops| SignalledQueue { link: entry.link, hops, queue: 0x0102, sequence: 7 };
        let expected: Vec<SignalledQueue> =
            entries.iter().zip([0, 1, 0]).map(|(entry, hops)| signalled(entry, hops)).collect();
        assert_eq!(read(&content).collect::<Vec<_>>(), expected);
        assert_eq!(write(&entries[1..2], 1), (Vec::new(), 0));
    }

    #[test]
    fn header_and_table_use_the_same_unit_of_queues() {
        assert_eq!(EntryOnAir::LAYOUT.fields[2].unit, format!("{QUEUE_UNIT} B"));
    }
}
