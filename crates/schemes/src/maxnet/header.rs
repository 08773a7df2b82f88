//! Congestion header of MaxNet and its echo by the receiver. The papers name no format.

use multihop_core::{HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// Congestion header of MaxNet
    pub struct PriceHeader: "maxnet", 4, 8 of 8 {
        /// Whether the header is on an acknowledgement, which routers do not change
        returned: bool [1..2, bit 0] "",
        /// Largest price of the links passed so far; on acknowledgements, the price that arrived with the
        /// acknowledged data
        price: u32 [4..8] "2^-16",
    }
}

impl PriceHeader {
    /// Header units of a price of one.
    const UNIT: f64 = 65_536.0;

    /// Converts a price in seconds to header units.
    pub fn units(price: f64) -> u32 {
        (price * PriceHeader::UNIT).round().clamp(0.0, f64::from(u32::MAX)) as u32
    }

    /// Returns the price in seconds.
    pub fn price(self) -> f64 {
        f64::from(self.price) / PriceHeader::UNIT
    }
}

/// Receiver's echo of MaxNet: the latest price, held until the next one.
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
