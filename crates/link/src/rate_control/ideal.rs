//! The rate with the highest goodput at the signal-to-noise ratio of what was heard last from the neighbour.
//!
//! It presumes that the channel is the same both ways, and knows nothing of interference. ns-3's
//! `IdealWifiManager` differs in that the receiver reports the ratio to its sender, without a frame, and in
//! that it chooses by a bit error rate.

use super::{Chain, RateTable};

#[derive(Clone, Debug, Default)]
pub(super) struct Ideal {
    /// In dB, once something was heard.
    snr: Option<f64>,
}

impl Ideal {
    pub(super) fn chain(&self, table: &RateTable) -> Chain {
        Chain::constant(self.rate(table))
    }

    /// The rate by what was heard last.
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
