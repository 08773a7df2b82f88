//! Notice that a node sends to its neighbours during congestion (NCN, neighbourhood congestion notification).

use multihop_core::{Carrier, Header, Span, header};
use multihop_link::Notice;

/// IP protocol "any local network" (IANA). The notice has no room for a UDP header.
pub(super) const CARRIER: Carrier = Carrier::Ip(63);

header! {
    /// Notice of congestion in a neighbourhood (NCN of Xu et al. 2003)
    pub(crate) struct CongestionNotice: "nred" = 16 of 32 {
        /// Type of the notice: 1, chosen by this project
        kind: u32 [0..4] "",
        /// RED's probability divided by the mean queue index, below 1
        probability: u32 [4..8] "2^-32",
        /// Duration of the congestion. Its use by receivers is not known: always 0
        duration: u32 [8..12] "us",
        /// Time for which neighbours respond to the notice
        lifetime: u32 [12..16] "us",
        /// Probability in full precision for simulated nodes: the bits of a double
        whole_probability: u64 [16..24] "",
        /// Lifetime in full precision for simulated nodes
        whole_lifetime: u64 [24..32] "ns",
    }
}

/// Congestion that a neighbour signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NeighbourCongestion {
    /// RED's probability divided by the mean queue index (normalised `p_b`). A node multiplies it by its own
    /// index.
    pub per_index: f64,
    /// Time for which neighbours respond.
    pub lifetime: Span,
}

impl NeighbourCongestion {
    /// Type of the notice, [`CongestionNotice::kind`].
    const KIND: u32 = 1;
    /// Bytes on the air: an IP header and the four fields that the authors name, of 4 bytes each.
    const SIZE: u32 = 20 + CongestionNotice::LAYOUT.air as u32;

    /// Encodes a notice.
    pub fn to_notice(self) -> Notice {
        let NeighbourCongestion { per_index, lifetime } = self;
        let notice = CongestionNotice {
            kind: Self::KIND,
            probability: (per_index * 2f64.powi(32)).round() as u32,
            duration: 0,
            lifetime: u32::try_from(lifetime.ns() / 1_000).unwrap_or(u32::MAX),
            whole_probability: per_index.to_bits(),
            whole_lifetime: lifetime.ns(),
        };
        let mut content = vec![0; CongestionNotice::LEN];
        notice.emit(&mut content);
        Notice { carrier: CARRIER, content, air: CongestionNotice::LAYOUT.air, size: Self::SIZE }
    }

    /// Decodes a notice; none if a node of this scheme cannot have sent it.
    pub fn from_content(content: &[u8]) -> Option<NeighbourCongestion> {
        let notice = CongestionNotice::parse(content).filter(|notice| notice.kind == Self::KIND)?;
        let per_index = f64::from_bits(notice.whole_probability);
        let lifetime = Span::from_ns(notice.whole_lifetime);
        (per_index.is_finite() && per_index >= 0.0).then_some(NeighbourCongestion { per_index, lifetime })
    }
}
