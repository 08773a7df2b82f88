//! Rates of each PHY with their modulations, and the mandatory rates.

use crate::{Modulation, OfdmClock};
use multihop_core::Rate;

pub(crate) const BASIC_FHSS: [Rate; 1] = [Rate::from_kbps(1_000)];
pub(crate) const BASIC_DSSS: [Rate; 2] = [Rate::from_kbps(1_000), Rate::from_kbps(2_000)];
pub(crate) const BASIC_MIXED: [Rate; 4] =
    [Rate::from_kbps(1_000), Rate::from_kbps(2_000), Rate::from_kbps(5_500), Rate::from_kbps(11_000)];
pub(crate) const BASIC_OFDM: [Rate; 3] =
    [Rate::from_kbps(6_000), Rate::from_kbps(12_000), Rate::from_kbps(24_000)];
pub(crate) const BASIC_HALF: [Rate; 3] =
    [Rate::from_kbps(3_000), Rate::from_kbps(6_000), Rate::from_kbps(12_000)];
pub(crate) const BASIC_QUARTER: [Rate; 3] =
    [Rate::from_kbps(1_500), Rate::from_kbps(3_000), Rate::from_kbps(6_000)];

pub(crate) static FHSS: [(Rate, Modulation); 2] =
    [(Rate::from_kbps(1_000), Modulation::Gfsk2), (Rate::from_kbps(2_000), Modulation::Gfsk4)];

pub(crate) static DOT11B: [(Rate, Modulation); 4] = [
    (Rate::from_kbps(1_000), Modulation::Dbpsk),
    (Rate::from_kbps(2_000), Modulation::Dqpsk),
    (Rate::from_kbps(5_500), Modulation::Cck5_5),
    (Rate::from_kbps(11_000), Modulation::Cck11),
];

/// Table 18-4, "modulation-dependent parameters".
pub(crate) static DOT11A: [(Rate, Modulation); 8] = [
    (Rate::from_kbps(6_000), Modulation::Ofdm { bits: 1, code: (1, 2) }),
    (Rate::from_kbps(9_000), Modulation::Ofdm { bits: 1, code: (3, 4) }),
    (Rate::from_kbps(12_000), Modulation::Ofdm { bits: 2, code: (1, 2) }),
    (Rate::from_kbps(18_000), Modulation::Ofdm { bits: 2, code: (3, 4) }),
    (Rate::from_kbps(24_000), Modulation::Ofdm { bits: 4, code: (1, 2) }),
    (Rate::from_kbps(36_000), Modulation::Ofdm { bits: 4, code: (3, 4) }),
    (Rate::from_kbps(48_000), Modulation::Ofdm { bits: 6, code: (2, 3) }),
    (Rate::from_kbps(54_000), Modulation::Ofdm { bits: 6, code: (3, 4) }),
];

/// Rates of 802.11a at half and quarter clock (802.11-2016, table 17-4).
pub(crate) static DOT11A_HALF: [(Rate, Modulation); 8] = at_clock(OfdmClock::Half);
pub(crate) static DOT11A_QUARTER: [(Rate, Modulation); 8] = at_clock(OfdmClock::Quarter);

const fn at_clock(clock: OfdmClock) -> [(Rate, Modulation); 8] {
    let mut rates = DOT11A;
    let mut place = 0;
    while place < rates.len() {
        rates[place].0 = Rate::from_bps(rates[place].0.bps() / clock.slowdown());
        place += 1;
    }
    rates
}

/// Rates of 802.11a and 802.11b, merged in ascending order.
pub(crate) static DOT11G: [(Rate, Modulation); 12] = [
    DOT11B[0], DOT11B[1], DOT11B[2], DOT11A[0], DOT11A[1], DOT11B[3], DOT11A[2], DOT11A[3], DOT11A[4],
    DOT11A[5], DOT11A[6], DOT11A[7],
];
