//! The headers of data and reports. Clocks count microseconds, and wrap.

use multihop_core::{Time, header};

header! {
    /// Data of Quick and Plenty
    pub struct PlentyData: "plenty", 10, 8 of 8 {
        /// Number of the packet, modulo 2^24
        number: u32 [1..4] "",
        /// When the packet was sent, by the sender's clock
        timestamp: u32 [4..8] "us",
    }
}

header! {
    /// Reports of Quick and Plenty: what came in an interval
    pub struct PlentyReport: "plenty_report", 11, 20 of 20 {
        /// Packets that came
        packets: u32 [1..4] "packets",
        /// Aggregates that brought them
        aggregates: u32 [4..8] "",
        /// Packets that were sent before the newest of them and after the newest of the interval before, and
        /// it
        expected: u32 [8..12] "packets",
        /// Mean of their one-way delays, less the least so far
        delay: u32 [12..16] "us",
        /// Length of the interval
        period: u32 [16..20] "us",
    }
}

impl PlentyData {
    /// The part of a packet's number that the header has room for.
    pub fn number(seq: u64) -> u32 {
        (seq & 0xff_ffff) as u32
    }

    /// The clock of timestamps.
    pub fn clock(now: Time) -> u32 {
        (now.ns() / 1_000) as u32
    }
}
