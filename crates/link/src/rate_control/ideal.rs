//! Ideal rate control: the rate with the highest goodput at the signal-to-noise ratio of the last frame
//! received from the neighbour.
//!
//! The algorithm assumes a channel equal in both directions, and ignores interference. ns-3's
//! `IdealWifiManager` differs: the receiver reports the ratio to its sender, without a frame, and the choice
//! is by a bit error rate.

use super::{Chain, RateTable};

#[derive(Clone, Debug, Default)]
pub(super) struct Ideal {
    /// Signal-to-noise ratio of the last frame received, in dB; none before.
    snr: Option<f64>,
}

impl Ideal {
    pub(super) fn chain(&self, table: &RateTable) -> Chain {
        Chain::constant(self.rate(table))
    }

    /// Rate chosen by the last frame received.
    pub(super) fn rate(&self, table: &RateTable) -> u8 {
        self.snr.map_or(0, |snr| best(table, snr))
    }

    pub(super) fn on_heard(&mut self, snr: f64) {
        self.snr = Some(snr);
    }
}

fn best(table: &RateTable, snr: f64) -> u8 {
    let step = ((snr - RateTable::LEAST_SNR) / RateTable::SNR_STEP).floor().max(0.0) as usize;
    table.by_snr[step.min(table.by_snr.len() - 1)]
}
