//! What routers tell the ends of a flow: the congestion headers of XCP, RCP, EWCCP and MaxNet, and what receivers return of marks;
//! and what the ends of TFRC tell each other.
//!
//! Numbers have as many bits as on the wire, 32 if nothing is said. Times are in microseconds, where the XCP draft has milliseconds:
//! those of a radio's packets are too short for that. Rates are in bytes per second.

use crate::{Ecn, Time};

/// The congestion header of a segment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Feedback {
    /// There is none.
    #[default]
    None,
    /// Of XCP and what derives from it.
    Xcp(XcpHeader),
    /// Of RCP and what derives from it.
    Rcp(RcpHeader),
    /// Of EWCCP.
    Ewccp(EwccpHeader),
    /// Of MaxNet.
    Price(PriceHeader),
    /// Of BMCC, on acknowledgements: the load factor that marks add up to.
    Load(LoadHeader),
    /// Of VCP, on acknowledgements: the strongest mark since the one before.
    Mark(Ecn),
    /// Of Accel-Brake Control, on acknowledgements: the marks since the one before.
    Brakes(BrakeCounts),
    /// Of TFRC, on data.
    TfrcData(TfrcDataHeader),
    /// Of TFRC, on the receiver's reports.
    TfrcReport(TfrcReportHeader),
}

/// The congestion header of XCP (draft-falk-xcp-spec-03): requests of data, or what came of them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct XcpHeader {
    /// Round-trip time of the sender in microseconds; 0 if it has none yet, and on acknowledgements: then there is no request.
    pub rtt: u32,
    /// Time between packets of the sender in microseconds: the round-trip time over the packets of a window.
    pub x: u32,
    /// Change of throughput that the sender asks for, and that routers make smaller, in bytes per second.
    pub delta: i32,
    /// On acknowledgements, the change of throughput that routers granted, in bytes per second.
    pub reverse: i32,
}

/// The congestion header of RCP (Dukkipati 2007): the rate that data asks for, or the one that it got.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RcpHeader {
    /// Rate in bytes per second that routers make smaller; [`RcpHeader::UNLIMITED`] if nobody did yet; 0 on acknowledgements.
    pub rate: u32,
    /// On acknowledgements, the rate that came with what is acknowledged, in bytes per second.
    pub reverse: u32,
    /// Round-trip time of the sender in microseconds; 0 if it has none yet, and on acknowledgements.
    pub rtt: u32,
}

/// The congestion header of EWCCP (Tan, Jiang, Zhang and Shen, Figure 2). The paper names its fields and not their sizes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct EwccpHeader {
    /// Round-trip time of the sender in units of 0.1 ms; 0 if it has none yet, and on acknowledgements.
    pub rtt: u16,
    /// The feedback is credit for an initial window, as no link on the way was congested.
    pub probe: bool,
    /// Packets that the feedback is of: 1 in data, 0 in what carries none; in acknowledgements as many as came since the one before.
    pub packets: u8,
    /// What the window is to be closed by, or to be set to after a probe, in units of 1/256 byte.
    pub feedback: u32,
    /// From the router at one end of a link to that at the other; only in data.
    pub link: EwccpLink,
}

/// The link congestion header of EWCCP, which each hop fills in anew.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct EwccpLink {
    /// The link's mean queue in the last round, in units of 16 bytes (piggyback).
    pub queue: u16,
    /// Number of that round.
    pub sequence: u8,
    /// There was such a round.
    pub is_known: bool,
    /// The sender of the link found it congested.
    pub congested: bool,
    /// The links that its feedback counted, as a Bloom filter of up to 128 bits.
    pub summary: [u64; 2],
}

/// The congestion header of MaxNet: the largest price of the links on the way. The papers name no format.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PriceHeader {
    /// In data, the largest price so far, in units of 2^-16.
    pub price: u32,
    /// On acknowledgements, the price that came with what is acknowledged.
    pub reverse: u32,
}

/// What a receiver of BMCC returns, as a TCP option.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LoadHeader {
    /// The load factor as it is estimated from marks, in units of 1/10000.
    pub load: u16,
}

/// What a receiver of Accel-Brake Control returns: how many packets of each kind an acknowledgement stands for. The paper returns
/// one bit for each packet, in bits of the TCP header that are there anyway.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct BrakeCounts {
    /// Packets that came as accelerates.
    pub accelerates: u16,
    /// Packets that came as brakes.
    pub brakes: u16,
}

/// What data of TFRC tells its receiver besides its number (RFC 5348, section 3.2.1). The clock counts microseconds, and wraps.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TfrcDataHeader {
    /// When the packet was sent, by the sender's clock.
    pub timestamp: u32,
    /// The sender's smoothed round-trip time in microseconds; 0 if it has none yet.
    pub rtt: u32,
    /// What the sender puts into the throughput equation as retransmission timeout, in microseconds; 0 if it has none yet. ns-2 tells
    /// it for convenience, and it takes no bytes: receivers can take four round-trip times.
    pub timeout: u32,
    /// Number of the round: of the sender's reactions to reports, or to their absence. Of ns-2, and takes no bytes.
    pub round: u16,
    /// The sender asks for a report at once. Of ns-2, and takes no bytes.
    pub urgent: bool,
}

/// What a receiver of TFRC reports (RFC 5348, section 3.2.2).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TfrcReportHeader {
    /// Timestamp of the last data packet that came (`t_recvdata`).
    pub echo: u32,
    /// Microseconds between its arrival and this report (`t_delay`).
    pub delay: u32,
    /// Rate at which data came in bytes per second (`X_recv`).
    pub receive_rate: u32,
    /// Loss event rate (`p`), in units of 2^-32; 0 as long as nothing was lost.
    pub loss_event_rate: u32,
}

impl TfrcDataHeader {
    /// Bytes on the wire: a number, a timestamp, a round-trip time.
    pub const BYTES: u32 = 12;

    /// The clock of timestamps.
    pub fn clock(now: Time) -> u32 {
        (now.ns() / 1_000) as u32
    }

    /// Seconds as they are in the header, at least one unit: 0 is unknown.
    pub fn units(seconds: f64) -> u32 {
        (seconds * 1e6).round().clamp(1.0, f64::from(u32::MAX)) as u32
    }

    /// A time of the header in seconds, if it is known.
    pub fn seconds(units: u32) -> Option<f64> {
        (units > 0).then(|| f64::from(units) / 1e6)
    }
}

impl TfrcReportHeader {
    /// Bytes on the wire.
    pub const BYTES: u32 = 16;
    /// Units of a loss event rate of one.
    const UNIT: f64 = 4_294_967_296.0;

    /// A loss event rate as it is in the header: at least one unit where there was a loss.
    pub fn units(loss_event_rate: f64) -> u32 {
        let least = if loss_event_rate > 0.0 { 1.0 } else { 0.0 };
        (loss_event_rate * TfrcReportHeader::UNIT).round().clamp(least, f64::from(u32::MAX)) as u32
    }

    /// The loss event rate.
    pub fn rate(&self) -> f64 {
        f64::from(self.loss_event_rate) / TfrcReportHeader::UNIT
    }
}

impl PriceHeader {
    /// Bytes on the wire.
    pub const BYTES: u32 = 8;
    /// Units of a price of one.
    pub const UNIT: f64 = 65_536.0;

    /// A price as it is in the header.
    pub fn units(price: f64) -> u32 {
        (price * PriceHeader::UNIT).round().clamp(0.0, f64::from(u32::MAX)) as u32
    }

    /// The price that came back.
    pub fn price(&self) -> f64 {
        f64::from(self.reverse) / PriceHeader::UNIT
    }
}

impl LoadHeader {
    /// Bytes of the option: kind, length, and the number.
    pub const BYTES: u32 = 4;
    /// Units of a load factor of one.
    pub const UNIT: f64 = 10_000.0;

    /// The load factor.
    pub fn load(&self) -> f64 {
        f64::from(self.load) / LoadHeader::UNIT
    }
}

impl EwccpHeader {
    /// Bytes of the end-to-end part: 2 of the round-trip time, 1 of flags, 1 of the count, 4 of feedback.
    pub const BYTES: u32 = 8;
    /// Bytes of the link part besides its summary: 2 of the queue, 1 of the number, 1 of flags.
    pub const LINK_BYTES: u32 = 4;
    /// Units of feedback in a byte.
    pub const PER_BYTE: f64 = 256.0;

    /// A round-trip time as it is in the header, at least one unit: 0 is unknown.
    pub fn units(seconds: f64) -> u16 {
        (seconds * 1e4).round().clamp(1.0, f64::from(u16::MAX)) as u16
    }

    /// A round-trip time of the header in seconds.
    pub fn seconds(rtt: u16) -> f64 {
        f64::from(rtt) / 1e4
    }

    /// The feedback in bytes.
    pub fn bytes(&self) -> f64 {
        f64::from(self.feedback) / EwccpHeader::PER_BYTE
    }
}

impl XcpHeader {
    /// Bytes on the wire.
    pub const BYTES: u32 = 20;
    /// Asks for as much as there is.
    pub const UNLIMITED: i32 = i32::MAX;
}

impl RcpHeader {
    /// Bytes on the wire.
    pub const BYTES: u32 = 12;
    /// No router has limited the rate.
    pub const UNLIMITED: u32 = u32::MAX;
}
