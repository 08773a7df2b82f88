//! Congestion headers for tests: one with changes that add up, and one with rates of which the latest counts.

#![allow(dead_code)] // not every test uses all of it

use multihop_core::{HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// Requested change of throughput, and the sum of granted changes.
    pub struct Grant: "grant", 30, 20 of 20 {
        /// Requested change.
        change: i32 [4..8] "B/s",
        /// Granted change, on acknowledgements.
        granted: i32 [8..12] "B/s",
    }
}

header! {
    /// Offered rate.
    pub struct Offer: "offer", 31, 12 of 12 {
        /// Minimum so far.
        rate: u32 [4..8] "B/s",
        /// Rate that arrived, on acknowledgements.
        offered: u32 [8..12] "B/s",
    }
}

/// Returns the sum of the changes since the last acknowledgement.
#[derive(Default)]
pub struct Sum(i32);

impl Echo for Sum {
    fn note(&mut self, segment: &Segment) {
        self.0 += segment.feedback.parse::<Grant>().map_or(0, |grant| grant.change);
    }

    fn take(&mut self) -> HeaderBytes {
        HeaderBytes::of(&Grant { change: 0, granted: std::mem::take(&mut self.0) })
    }
}

/// Returns the latest rate.
#[derive(Default)]
pub struct Latest(u32);

impl Echo for Latest {
    fn note(&mut self, segment: &Segment) {
        self.0 = segment.feedback.parse::<Offer>().map_or(self.0, |offer| offer.rate);
    }

    fn take(&mut self) -> HeaderBytes {
        HeaderBytes::of(&Offer { rate: 0, offered: self.0 })
    }
}
