//! The congestion header of MaxNet, and what the receiver returns. The papers name no format.

use multihop_core::{HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// The congestion header of MaxNet
    pub struct PriceHeader: "maxnet", 4, 8 of 8 {
        /// It is on an acknowledgement: routers leave it as it is
        returned: bool [1..2, bit 0] "",
        /// The largest price of the links passed so far; on acknowledgements, the one that arrived with what
        /// is acknowledged
        price: u32 [4..8] "2^-16",
    }
}

impl PriceHeader {
    /// Units of a price of one.
    const UNIT: f64 = 65_536.0;

    /// A price as it is in the header.
    pub fn units(price: f64) -> u32 {
        (price * PriceHeader::UNIT).round().clamp(0.0, f64::from(u32::MAX)) as u32
    }

    /// The price.
    pub fn price(self) -> f64 {
        f64::from(self.price) / PriceHeader::UNIT
    }
}

/// The latest price counts, and holds.
#[derive(Default)]
pub(crate) struct PriceEcho {
    price: Option<u32>,
}

impl Echo for PriceEcho {
    fn note(&mut self, segment: &Segment) {
        if let Some(header) = segment.feedback.parse::<PriceHeader>() {
            self.price = Some(header.price);
        }
    }

    fn take(&mut self) -> HeaderBytes {
        self.price.map_or(HeaderBytes::NONE, |price| HeaderBytes::of(&PriceHeader { returned: true, price }))
    }
}
