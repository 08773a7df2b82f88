//! Receiver sensitivity that the standard requires of each modulation.

use crate::{Bandwidth, DataRate, Modulation, Phy};

/// Receiver minimum input level sensitivity in dBm, in 20 MHz: a receiver that just complies decodes 9 frames
/// of 10.
///
/// One table covers OFDM of 802.11a and g (802.11-2016, table 17-18), HT (table 19-23), VHT (table 21-25) and
/// HE (802.11ax-2021, table 27-51), as schemes that they share have equal values. Direct sequence has values
/// for 2 Mb/s (15.4.8.2) and 11 Mb/s (16.3.8.2) only. No value is used for 1 and 5.5 Mb/s and for frequency
/// hopping. Most receivers are better by 5 to 10 dB.
fn sensitivity_in_20_mhz(modulation: Modulation) -> Option<f64> {
    let dbm = match modulation {
        Modulation::Dqpsk => -80.0,
        Modulation::Cck11 => -76.0,
        Modulation::Ofdm { bits, code } => match (bits, code) {
            (1, (1, 2)) => -82.0,
            (1, (3, 4)) => -81.0,
            (2, (1, 2)) => -79.0,
            (2, (3, 4)) => -77.0,
            (4, (1, 2)) => -74.0,
            (4, (3, 4)) => -70.0,
            (6, (2, 3)) => -66.0,
            (6, (3, 4)) => -65.0,
            (6, (5, 6)) => -64.0,
            (8, (3, 4)) => -59.0,
            (8, (5, 6)) => -57.0,
            (10, (3, 4)) => -54.0,
            (10, (5, 6)) => -52.0,
            _ => return None,
        },
        Modulation::Gfsk2 | Modulation::Gfsk4 | Modulation::Dbpsk | Modulation::Cck5_5 => return None,
    };
    Some(dbm)
}

impl Phy {
    /// Minimum sensitivity in dBm that the standard requires at a rate or a scheme in the channel of this
    /// PHY: 3 dB more for each doubling of the width. None where the standard has no value, and for rates
    /// that this PHY does not have.
    pub fn sensitivity_dbm(&self, rate: impl Into<DataRate>) -> Option<f64> {
        let doublings = match self.options().bandwidth {
            Bandwidth::Mhz5 => -2.0,
            Bandwidth::Mhz10 => -1.0,
            Bandwidth::Mhz40 => 1.0,
            Bandwidth::Mhz80 => 2.0,
            Bandwidth::Mhz160 => 3.0,
            Bandwidth::Mhz20 | Bandwidth::Tones26 | Bandwidth::Tones52 | Bandwidth::Tones106 => 0.0,
        };
        sensitivity_in_20_mhz(self.modulation(rate)?).map(|dbm| dbm + 3.0 * doublings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mcs, PpduOptions, Preamble, Standard};
    use multihop_core::Rate;

    fn of(standard: Standard, bandwidth: Bandwidth, scheme: u8) -> Option<f64> {
        let phy = Phy::new(standard, Preamble::Long);
        let phy = phy.with_options(PpduOptions { bandwidth, ..phy.options() });
        phy.sensitivity_dbm(Mcs { streams: 1, scheme })
    }

    #[test]
    fn wider_channels_and_denser_schemes_need_more() {
        assert_eq!(of(Standard::Dot11n, Bandwidth::Mhz20, 0), Some(-82.0));
        assert_eq!(of(Standard::Dot11n, Bandwidth::Mhz40, 7), Some(-61.0));
        assert_eq!(of(Standard::Dot11ac, Bandwidth::Mhz160, 9), Some(-48.0));
        assert_eq!(of(Standard::Dot11ax, Bandwidth::Mhz80, 11), Some(-46.0));
        assert_eq!(of(Standard::Dot11ac, Bandwidth::Mhz20, 9), None, "MCS 9 does not exist in 20 MHz");
    }

    /// 802.11-2016, table 17-18: -85 and -88 dBm at the lowest rates.
    #[test]
    fn narrow_channels_need_less() {
        let phy = Phy::new(Standard::Dot11a, Preamble::Long);
        let of = |bandwidth, kbps: u64| {
            let phy = phy.with_options(PpduOptions { bandwidth, ..phy.options() });
            phy.sensitivity_dbm(Rate::from_bps(kbps * 1_000))
        };
        assert_eq!([of(Bandwidth::Mhz10, 3_000), of(Bandwidth::Mhz10, 27_000)], [Some(-85.0), Some(-68.0)]);
        assert_eq!([of(Bandwidth::Mhz5, 1_500), of(Bandwidth::Mhz5, 13_500)], [Some(-88.0), Some(-71.0)]);
    }

    #[test]
    fn what_the_standard_does_not_say_is_not_made_up() {
        let phy = Phy::new(Standard::Dot11b, Preamble::Long);
        let at = |kbps: u64| phy.sensitivity_dbm(Rate::from_bps(kbps * 1_000));
        assert_eq!([at(1_000), at(2_000), at(5_500), at(11_000)], [None, Some(-80.0), None, Some(-76.0)]);
    }

    #[test]
    fn every_scheme_of_ofdm_has_one() {
        for standard in [Standard::Dot11a, Standard::Dot11n, Standard::Dot11ac, Standard::Dot11ax] {
            let phy = Phy::new(standard, Preamble::Long);
            for scheme in 0..12 {
                let mcs = Mcs { streams: 1, scheme };
                assert_eq!(
                    phy.modulation(mcs).is_some(),
                    phy.sensitivity_dbm(mcs).is_some(),
                    "{standard:?} {mcs:?}"
                );
            }
            for (rate, _) in phy.rates() {
                assert!(phy.sensitivity_dbm(rate).is_some(), "{standard:?} {rate:?}");
            }
        }
    }
}
