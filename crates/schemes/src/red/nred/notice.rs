//! What a node signals to its neighbours in congestion (NCN, neighbourhood congestion notification).

use multihop_core::{Carrier, Header, Span, header};
use multihop_link::Notice;

/// "Any local network" (IANA): there is no room for a header of UDP.
pub(super) const CARRIER: Carrier = Carrier::Ip(63);

header! {
    /// Notice of congestion in a neighbourhood (NCN of Xu et al. 2003)
    pub(crate) struct CongestionNotice: "nred" = 16 of 32 {
        /// Type: 1, a number of our own
        kind: u32 [0..4] "",
        /// RED's probability over the mean queue index, below 1
        probability: u32 [4..8] "2^-32",
        /// How long the congestion has lasted. What receivers do with it is not known: 0
        duration: u32 [8..12] "us",
        /// How long neighbours heed the notice
        lifetime: u32 [12..16] "us",
        /// The probability as simulated nodes have it, the bits of a double
        whole_probability: u64 [16..24] "",
        /// The lifetime as simulated nodes have it
        whole_lifetime: u64 [24..32] "ns",
    }
}

/// What neighbours receive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Congestion {
    /// RED's probability over the mean index (normalised `p_b`): what a unit of a node's own index adds to
    /// its probability.
    pub per_index: f64,
    pub lifetime: Span,
}

impl Congestion {
    /// [`CongestionNotice::kind`].
    const KIND: u32 = 1;
    /// Bytes on the air: an IP header, and the four fields that the authors name, of 4 bytes each.
    const SIZE: u32 = 20 + CongestionNotice::LAYOUT.air as u32;

    pub fn to_notice(self) -> Notice {
        let Congestion { per_index, lifetime } = self;
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

    /// None if it is nothing that a node of this scheme would say.
    pub fn from_content(content: &[u8]) -> Option<Congestion> {
        let notice = CongestionNotice::parse(content).filter(|notice| notice.kind == Self::KIND)?;
        let per_index = f64::from_bits(notice.whole_probability);
        let lifetime = Span::from_ns(notice.whole_lifetime);
        (per_index.is_finite() && per_index >= 0.0).then_some(Congestion { per_index, lifetime })
    }
}
