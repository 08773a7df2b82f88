//! Bit error models of rates, by powers, and for links whose errors without interference were measured.

use super::{Link, femtowatts};
use multihop_dot11::{DataRate, ErrorTable, Modulation, Phy};

/// Bit error model of a rate.
#[derive(Clone, Debug)]
pub struct RateErrors {
    /// Bit error rate by SINR.
    pub table: ErrorTable,
    /// Rate in bits per second.
    pub bps: f64,
    /// Power in femtowatts below which a frame is not decoded, whatever the noise.
    pub least: f64,
}

/// Bit error probability below which measurements cannot tell a link from a perfect one: one frame of 1500
/// bytes in a thousand.
const DISTINCT: f64 = 1e-7;

impl RateErrors {
    /// Creates the model of a rate or a scheme of a PHY.
    ///
    /// # Panics
    /// If the PHY does not have the rate, which the scenario has refused.
    pub fn new(phy: &Phy, rate: DataRate) -> RateErrors {
        let known = phy.error_table(rate).zip(phy.bit_rate(rate));
        let (table, rate) = known.expect("the rate belongs to the PHY");
        RateErrors { table, bps: rate.bps() as f64, least: 0.0 }
    }

    /// Adds the standard's minimum sensitivity of the rate, below which nothing is decoded.
    #[must_use]
    pub fn above_sensitivity(self, phy: &Phy, rate: DataRate) -> RateErrors {
        let least = phy.sensitivity_dbm(rate).map_or(0.0, |dbm| femtowatts(10f64.powf(dbm / 10.0)) as f64);
        RateErrors { least, ..self }
    }

    /// Natural logarithm of the probability that a bit is correct, by powers alone.
    pub fn bit_success_ln(&self, power: f64, noise: f64) -> f64 {
        if power < self.least { f64::NEG_INFINITY } else { self.table.bit_success_ln(power / noise) }
    }

    /// Model of OFDM preambles and headers: their whole length counts as bits at 6 Mb/s, the rate of their
    /// signal fields (802.11-2016, 17.3.4, 19.3.9.4.3). At 0 dB almost none is recognized, at 4 dB almost all
    /// are.
    pub fn of_header() -> RateErrors {
        RateErrors {
            table: ErrorTable::new(Modulation::Ofdm { bits: 1, code: (1, 2) }),
            bps: 6e6,
            least: 0.0,
        }
    }

    /// Effective noise at the listener of a link whose errors without interference were measured; `noise` is
    /// the medium's. It is lower than the medium's if the link performs better than its power allows.
    /// Otherwise such a link would be immune to interference.
    pub fn noise_of(&self, link: &Link, noise: f64) -> f64 {
        let measured = link.ln_bit_success.min(-DISTINCT);
        noise.min(link.power / self.table.sinr_for(measured))
    }

    /// Change of the logarithm of a bit's success probability that `interference` causes; 0 without
    /// interference.
    pub fn due_to(&self, interference: f64, power: f64, noise: f64) -> f64 {
        if interference <= 0.0 {
            return 0.0;
        }
        self.table.bit_success_ln(power / (noise + interference)) - self.table.bit_success_ln(power / noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_dot11::{bit_success_ln, success_from_delivery};

    const NOISE: f64 = 316.0; // -95 dBm

    fn errors() -> RateErrors {
        RateErrors { table: ErrorTable::new(Modulation::Cck11), bps: 11e6, least: 0.0 }
    }

    fn link(snr_db: f64, delivery: f64) -> Link {
        let power = NOISE * 10f64.powf(snr_db / 10.0);
        let ln_bit_success = success_from_delivery(delivery, 1500);
        Link::new(0, true, power as u64, power, ln_bit_success)
    }

    #[test]
    fn without_interference_nothing_is_added() {
        for snr in [-5.0, 6.0, 9.0, 30.0] {
            let link = link(snr, 0.7);
            let noise = errors().noise_of(&link, NOISE);
            assert!(errors().due_to(0.0, link.power, noise).abs() <= 0.0);
        }
    }

    /// A link that performs as its power predicts has the medium's noise, and interference acts as by SINR
    /// alone.
    #[test]
    fn where_the_power_explains_the_errors_interference_acts_as_by_sinr() {
        let snr_db = 8.0_f64;
        let alone = bit_success_ln(Modulation::Cck11, 10f64.powf(snr_db / 10.0));
        let link = Link { ln_bit_success: alone, ..link(snr_db, 1.0) };
        let noise = errors().noise_of(&link, NOISE);
        assert!((noise / NOISE - 1.0).abs() < 0.01, "{noise}");
        let interference = 2.0 * NOISE;
        let both = alone + errors().due_to(interference, link.power, noise);
        let by_sinr = bit_success_ln(Modulation::Cck11, 10f64.powf(snr_db / 10.0) / 3.0);
        assert!((both / by_sinr - 1.0).abs() < 0.02, "{both} {by_sinr}");
    }

    /// A link that delivers everything at 20 dB less than it needs: interference as strong as the signal
    /// still destroys frames.
    #[test]
    fn a_link_better_than_its_power_is_not_immune() {
        let link = link(-10.0, 1.0);
        let noise = errors().noise_of(&link, NOISE);
        assert!(noise < NOISE / 10.0, "{noise}");
        let frame = |interference: f64| (errors().due_to(interference, link.power, noise) * 12_000.0).exp();
        assert!(frame(link.power) < 1e-3, "{}", frame(link.power));
        assert!(frame(link.power / 100.0) > 0.9, "{}", frame(link.power / 100.0));
    }

    /// A short frame that starts together with a long one destroys the long one's header, however few bits it
    /// overlaps.
    #[test]
    fn a_header_needs_some_decibels() {
        let errors = RateErrors::of_header();
        let recognized = |db: f64| {
            let per_bit = errors.table.bit_success_ln(10f64.powf(db / 10.0));
            (per_bit * errors.bps * 36e-6).exp()
        };
        assert!(recognized(0.0) < 1e-3 && recognized(4.0) > 0.99, "{} {}", recognized(0.0), recognized(4.0));
    }

    /// A strong link with losses of another cause keeps them, and weak interference adds none.
    #[test]
    fn losses_of_other_causes_stay() {
        let link = link(40.0, 0.5);
        let noise = errors().noise_of(&link, NOISE);
        assert!((noise - NOISE).abs() < 1e-9);
        assert!((errors().due_to(NOISE, link.power, noise) * 12_000.0).exp() > 0.999);
    }
}
