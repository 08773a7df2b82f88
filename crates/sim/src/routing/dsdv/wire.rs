//! Updates of DSDV, and their bytes.
//!
//! No standard defines the format. This one has 12 bytes per destination, as many as ns-2 counts, right
//! behind the IP header, without a UDP header.

use crate::routing::wire_format::WireFormat;
use crate::slab::{Datagram, IpFields};
use multihop_core::{Carrier, Header, NodeId, header};

/// IP protocol "any 0-hop protocol" (IANA): updates reach neighbours only.
pub(crate) const CARRIER: Carrier = Carrier::Ip(114);

/// Wire format of DSDV, for dissectors and the reference.
pub(crate) const FORMAT: WireFormat =
    WireFormat { carrier: CARRIER, layouts: &[Advert::LAYOUT], in_wireshark: false };

header! {
    /// Entry of a routing table in an update of DSDV; an update is a sequence of entries
    pub(super) struct Advert: "dsdv" = 12 of 12 {
        /// Node that the route leads to
        destination: NodeId [0..4] "",
        /// Hops from the sender of the update; 250 if the node cannot be reached
        metric: u32 [4..8] "",
        /// Sequence number of the entry: even from the destination itself, odd after a break
        sequence: u32 [8..12] "",
    }
}

/// Encodes an update that a node sends to its neighbours.
pub(super) fn emit(from: NodeId, adverts: &[Advert]) -> Datagram {
    let mut bytes = vec![0; Advert::LEN * adverts.len()];
    for (place, advert) in bytes.chunks_exact_mut(Advert::LEN).zip(adverts) {
        advert.emit(place);
    }
    let ip = IpFields { source: from, destination: NodeId::BROADCAST, ttl: 1 };
    let air = bytes.len();
    Datagram::new(CARRIER, ip, bytes, air)
}

/// Decodes an update; none if it is malformed.
pub(super) fn parse(update: &Datagram) -> Option<impl ExactSizeIterator<Item = Advert>> {
    let places = update.bytes().chunks_exact(Advert::LEN);
    let is_whole = places.remainder().is_empty();
    is_whole.then(|| places.map(|place| Advert::parse(place).expect("a chunk is as long as an entry")))
}
