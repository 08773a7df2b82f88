//! Headers of data and reports. Their clocks count microseconds and wrap.

use multihop_core::{Time, header};

header! {
    /// Header of data of Quick and Plenty
    pub struct PlentyData: "plenty", 10, 8 of 8 {
        /// Number of the packet, modulo 2^24
        number: u32 [1..4] "",
        /// Time at which the packet was sent, by the sender's clock
        timestamp: u32 [4..8] "us",
    }
}

header! {
    /// Report of Quick and Plenty: packets received in an interval
    pub struct PlentyReport: "plenty_report", 11, 20 of 20 {
        /// Packets received in the interval
        packets: u32 [1..4] "packets",
        /// Aggregates that carried the packets
        aggregates: u32 [4..8] "",
        /// Packets sent from the newest of the interval before, exclusive, to the newest of this interval,
        /// inclusive
        expected: u32 [8..12] "packets",
        /// Mean one-way delay of the packets above the least so far
        delay: u32 [12..16] "us",
        /// Length of the interval
        period: u32 [16..20] "us",
    }
}

impl PlentyData {
    /// Returns the part of a packet's number that the header can hold.
    pub fn number(seq: u64) -> u32 {
        (seq & 0xff_ffff) as u32
    }

    /// Returns the clock of timestamps, in microseconds.
    pub fn clock(now: Time) -> u32 {
        (now.ns() / 1_000) as u32
    }
}
