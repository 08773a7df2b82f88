//! The times that closed forms are made of.

use crate::config::Config;
use crate::mac::Timing;
use crate::medium::RateClass;
use multihop_core::Span;
use multihop_link::PhyTimes;

/// Spaces, slots and airtimes of a configuration, with preambles and the rounding of its rules, at its
/// nominal rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Airtimes {
    /// Slot time.
    pub slot: Span,
    /// Short inter-frame space.
    pub sifs: Span,
    /// Distributed inter-frame space.
    pub difs: Span,
    /// Extended inter-frame space.
    pub eifs: Span,
    /// Of an RTS.
    pub rts: Span,
    /// Of a CTS.
    pub cts: Span,
    /// Of the DATA frame that was asked for.
    pub data: Span,
    /// Of an ACK.
    pub ack: Span,
    /// Of a `BlockAck`; zero without aggregation.
    pub block_ack: Span,
    /// First contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
}

impl Airtimes {
    /// Of a configuration; `frame_bytes` are those of the DATA frame, MAC header and FCS included.
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

/// What estimators and models of links know of the PHY and the MAC of a configuration.
pub fn phy_times(config: &Config) -> PhyTimes {
    Timing::new(config).phy_times()
}
