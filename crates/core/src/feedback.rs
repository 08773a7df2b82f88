//! What routers tell the ends of a flow: the congestion headers of XCP and RCP.
//!
//! Numbers have 32 bits, as on the wire. Times are in microseconds, where the XCP draft has milliseconds: those of a radio's packets
//! are too short for that. Rates are in bytes per second.

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
