//! Headers of TFRC's datagrams and reports (RFC 5348, section 3.2). The clock counts microseconds, and wraps.

use multihop_core::{Time, header};

header! {
    /// TFRC's data packets (RFC 5348, section 3.2.1)
    pub struct TfrcDataHeader: "tfrc", 6, 12 of 19 {
        /// Number of the packet, modulo 2^24
        number: u32 [1..4] "",
        /// Send time of the packet, by the sender's clock
        timestamp: u32 [4..8] "us",
        /// Smoothed round-trip time of the sender; 0 before the first sample
        rtt: u32 [8..12] "us",
        /// Retransmission timeout of the sender's throughput equation; 0 before the first sample. ns-2 sends
        /// it without counting its bytes; receivers can use four round-trip times
        timeout: u32 [12..16] "us",
        /// Number of the round, which counts the sender's reactions to reports and to their absence. As in
        /// ns-2, its bytes are not counted
        round: u16 [16..18] "",
        /// Whether the sender requests a report at once. As in ns-2, its bytes are not counted
        urgent: bool [18..19, bit 0] "",
    }
}

header! {
    /// Reports of TFRC's receiver (RFC 5348, section 3.2.2)
    pub struct TfrcReportHeader: "tfrc_report", 7, 16 of 16 {
        /// Time between the arrival of the last data packet and this report (t_delay)
        delay: u32 [1..4] "us",
        /// Timestamp of the last data packet that arrived (t_recvdata)
        echo: u32 [4..8] "us",
        /// Rate at which data arrived (X_recv)
        receive_rate: u32 [8..12] "B/s",
        /// Loss event rate (p), in units of 2^-32; 0 as long as nothing was lost
        loss_event_rate: u32 [12..16] "2^-32",
    }
}

impl TfrcDataHeader {
    /// Packet number as far as it fits into the header.
    pub fn number(seq: u64) -> u32 {
        (seq & 0xff_ffff) as u32
    }

    /// Value of the timestamp clock.
    pub fn clock(now: Time) -> u32 {
        (now.ns() / 1_000) as u32
    }

    /// Seconds in the unit of the header, at least one unit, as 0 means unknown.
    pub fn units(seconds: f64) -> u32 {
        (seconds * 1e6).round().clamp(1.0, f64::from(u32::MAX)) as u32
    }

    /// Header time in seconds; none if unknown.
    pub fn seconds(units: u32) -> Option<f64> {
        (units > 0).then(|| f64::from(units) / 1e6)
    }
}

impl TfrcReportHeader {
    /// Header value of a loss event rate of one.
    const UNIT: f64 = 4_294_967_296.0;

    /// Loss event rate in the unit of the header; at least one unit after a loss.
    pub fn units(loss_event_rate: f64) -> u32 {
        let least = if loss_event_rate > 0.0 { 1.0 } else { 0.0 };
        (loss_event_rate * TfrcReportHeader::UNIT).round().clamp(least, f64::from(u32::MAX)) as u32
    }

    /// Loss event rate as a fraction.
    pub fn rate(&self) -> f64 {
        f64::from(self.loss_event_rate) / TfrcReportHeader::UNIT
    }
}
