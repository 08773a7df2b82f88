//! Durations that closed forms of 802.11 throughput use.

use crate::config::Config;
use crate::mac::Timing;
use crate::medium::RateClass;
use multihop_core::Span;
use multihop_link::PhyTimes;

/// Interframe spaces, slot and airtimes of a configuration at its nominal rates, with preambles and the
/// rounding of its rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Airtimes {
    /// Slot time.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// Distributed coordination function interframe space.
    pub difs: Span,
    /// Extended interframe space.
    pub eifs: Span,
    /// Airtime of an RTS.
    pub rts: Span,
    /// Airtime of a CTS.
    pub cts: Span,
    /// Airtime of the DATA frame of the requested length.
    pub data: Span,
    /// Airtime of an ACK.
    pub ack: Span,
    /// Airtime of a `BlockAck`; zero without aggregation.
    pub block_ack: Span,
    /// Minimum contention window, in slots.
    pub cw_min: u32,
    /// Maximum contention window, in slots.
    pub cw_max: u32,
}

impl Airtimes {
    /// Computes the airtimes of a configuration; `frame_bytes` is the length of the DATA frame, MAC header
    /// and FCS included.
    pub fn new(config: &Config, frame_bytes: u32) -> Airtimes {
        let timing = Timing::new(config);
        Airtimes {
            slot: timing.slot,
            sifs: timing.sifs,
            difs: timing.difs,
            eifs: timing.eifs,
            rts: timing.nominal.rts,
            cts: timing.nominal.cts,
            data: timing.nominal.airtime(RateClass::Data, frame_bytes),
            ack: timing.nominal.ack,
            block_ack: timing.nominal.block_ack,
            cw_min: timing.best_effort().cw_min,
            cw_max: timing.best_effort().cw_max,
        }
    }
}

/// PHY and MAC durations of a configuration, for estimators and models of links.
pub fn phy_times(config: &Config) -> PhyTimes {
    Timing::new(config).phy_times()
}
