//! Bit error rates of a receiver in Gaussian noise, by signal to interference and noise ratio (SINR).
//!
//! A frame is received if all its bits are, independently: `(1 - ber)^bits`. The models, in closed form:
//!
//! * **Direct sequence** (1 to 11 Mb/s): a receiver without carrier recovery. Every decision is between two
//!   equal-energy signals of known correlation in unknown phase, so that all four rates follow from one
//!   formula ([`pairwise_error`]): differential phases by Stein (1964) and Proakis, *Digital Communications*,
//!   5.2.8 and appendix B; CCK code words by the union bound over the correlations that 17.4.6.5 implies.
//!   Noise is measured in the bandwidth of the chips, 11 MHz: spreading by 11 chips gains a factor of 11. A
//!   receiver with carrier recovery would gain up to 1.5 dB at 2 Mb/s and 3 dB at 11 Mb/s.
//! * **Frequency hopping** (1 and 2 Mb/s): a receiver that decides by the phase change over a symbol. The
//!   modulation index gives that change, so that [`pairwise_error`] applies too (Pawula, Rice & Roberts, IEEE
//!   Trans. Commun. 30(8), 1982; Simon & Wang, 31(11), 1983). Noise is measured in the 1 MHz of a channel,
//!   without spreading gain, so that it needs some 14 dB more than direct sequence. Intersymbol interference
//!   of the Gaussian filter is assumed to be equalized; receivers without an equalizer are a few dB worse.
//! * **OFDM**: hard decisions and a Viterbi decoder, by the union bound over the distance spectrum of the
//!   code (Pursley & Taipale, IEEE Trans. Commun. 35(1), 1987) in the form of Miller, *Validation of
//!   802.11a/UWB Coexistence Simulation*, NIST 2003, which other simulators call NIST. SINR is per carrier.
//!   HT, VHT and HE add denser constellations and a code of rate 5/6. Spatial streams share the power
//!   equally, and the receiver has one antenna per stream. The SINR of each stream is that of a single stream
//!   divided by the number of streams, the mean of a zero-forcing receiver on independent paths (Winters,
//!   Salz & Gitlin, IEEE Trans. Commun. 42(2-4), 1994). LDPC, which gains 1 to 2 dB, is given the error rate
//!   of convolutional coding.
//!
//! Multipath, frequency offset and missed preambles are not modelled.

mod convolutional;

use crate::Modulation;
use crate::special::normal_tail;
use convolutional::viterbi;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};
use std::sync::{Arc, Mutex, PoisonError};

/// Probability of a bit error, in `0..=0.5`, non-increasing in `sinr`.
///
/// `sinr` is a ratio of powers, not dB. Negative values and NaN count as no signal. Bounds above 1/2 are cut
/// to 1/2, the error rate of guessing.
///
/// # Panics
/// If the code rate of an OFDM modulation is none of 1/2, 2/3, 3/4 and 5/6. Every modulation of a
/// [`crate::Phy`] has one of these.
pub fn bit_error_rate(modulation: Modulation, sinr: f64) -> f64 {
    let sinr = sinr.max(0.0); // NaN becomes 0 too
    let bound = match modulation {
        Modulation::Gfsk2 => gfsk(sinr, GFSK2_INDEX),
        Modulation::Gfsk4 => gfsk4(sinr),
        Modulation::Dbpsk => pairwise_error(2.0 * BARKER_CHIPS * sinr, 0.0),
        Modulation::Dqpsk => dqpsk(BARKER_CHIPS * sinr),
        Modulation::Cck5_5 => cck(sinr, 2.0 / 4.0, &CCK5_5_CORRELATIONS),
        Modulation::Cck11 => cck(sinr, 2.0 / 8.0, &CCK11_CORRELATIONS),
        Modulation::Ofdm { bits, code } => viterbi(demapping(bits, sinr), code),
    };
    bound.min(0.5)
}

/// `ln(1 - bit_error_rate)`: multiplied by a number of bits, the logarithm of the probability that all of
/// them are correct.
pub fn bit_success_ln(modulation: Modulation, sinr: f64) -> f64 {
    (-bit_error_rate(modulation, sinr)).ln_1p()
}

/// [`bit_success_ln`] of a link that delivers the share `delivery` of its probes of `probe_bytes` bytes.
///
/// `delivery` is clamped to `0..=1`; NaN counts as 0. Zero gives minus infinity: nothing is ever received.
/// Probes of zero bytes count as one byte.
pub fn success_from_delivery(delivery: f64, probe_bytes: u32) -> f64 {
    let delivery = if delivery.is_nan() { 0.0 } else { delivery.clamp(0.0, 1.0) };
    delivery.ln() / (8.0 * f64::from(probe_bytes.max(1)))
}

/// Probability that a frame of `bytes` bytes is received, given [`bit_success_ln`] of the link.
pub fn frame_success(bit_success_ln: f64, bytes: u32) -> f64 {
    if bytes == 0 { 1.0 } else { (bit_success_ln * 8.0 * f64::from(bytes)).exp() }
}

/// Table of [`bit_success_ln`] of one modulation, for look-ups per frame.
///
/// Interpolates `ln(-ln(1 - ber))` linearly in dB. The result is within 1 % of the exact value wherever the
/// success probability of a frame of up to 4096 bytes is between 1e-9 and 1 - 1e-9.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorTable {
    modulation: Modulation,
    /// Share of the total SINR that each spatial stream has.
    stream_share: f64,
    /// SINR from which errors are too rare to matter in any frame.
    error_free_sinr: f64,
    /// Logarithms of `-ln(1 - ber)` from [`FIRST_DB`] in steps of [`STEP_DB`].
    log_hazard: Arc<[f64]>,
}

/// Tables already computed. Tabulating one takes longer than the rest of a short run, and there are few
/// modulations.
static TABLES: Mutex<Vec<ErrorTable>> = Mutex::new(Vec::new());

/// SINR in dB below which every modulation is no better than guessing.
const FIRST_DB: f64 = -30.0;
const STEP_DB: f64 = 1.0 / 16.0;
/// Bit error probability that has no effect on a frame: over 2^15 bits it is below the resolution of `f64`.
const NEGLIGIBLE: f64 = 1e-21;

impl ErrorTable {
    /// Returns the table of a modulation, computed at first use, which takes about a millisecond.
    pub fn new(modulation: Modulation) -> ErrorTable {
        let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = tables.iter().find(|table| table.modulation == modulation) {
            return table.clone();
        }
        let table = ErrorTable::tabulate(modulation);
        tables.push(table.clone());
        table
    }

    fn tabulate(modulation: Modulation) -> ErrorTable {
        let hazard_at = |db: f64| -bit_success_ln(modulation, from_db(db));
        let steps = (0u32..).map(|step| hazard_at(FIRST_DB + f64::from(step) * STEP_DB));
        let log_hazard: Arc<[f64]> = steps.take_while(|hazard| *hazard >= NEGLIGIBLE).map(f64::ln).collect();
        let error_free_sinr = from_db(FIRST_DB + (log_hazard.len() - 1) as f64 * STEP_DB);
        ErrorTable { modulation, stream_share: 1.0, error_free_sinr, log_hazard }
    }

    /// Table for this number of spatial streams, which share the power.
    #[must_use]
    pub fn with_streams(self, streams: u8) -> ErrorTable {
        ErrorTable { stream_share: f64::from(streams).recip(), ..self }
    }

    /// Modulation of the table.
    pub fn modulation(&self) -> Modulation {
        self.modulation
    }

    /// [`bit_success_ln`] at a SINR, a ratio of powers over all streams together.
    pub fn bit_success_ln(&self, sinr: f64) -> f64 {
        let sinr = sinr * self.stream_share;
        if sinr >= self.error_free_sinr {
            return 0.0;
        }
        let position = ((10.0 * sinr.log10() - FIRST_DB) / STEP_DB).max(0.0); // NaN becomes 0 too
        let below = (position as usize).min(self.log_hazard.len() - 2);
        let (left, right) = (self.log_hazard[below], self.log_hazard[below + 1]);
        -(left + (right - left) * (position - below as f64)).exp()
    }
}

impl ErrorTable {
    /// Lowest SINR in the table at which [`ErrorTable::bit_success_ln`] has this value: the inverse function.
    /// For one stream the result is between -30 dB and the SINR from which errors no longer matter.
    pub fn sinr_for(&self, bit_success_ln: f64) -> f64 {
        let wanted = (-bit_success_ln).ln();
        let above = self.log_hazard.partition_point(|hazard| *hazard > wanted);
        let steps = match above {
            0 => 0.0,
            all if all == self.log_hazard.len() => return self.error_free_sinr / self.stream_share,
            above => {
                let (left, right) = (self.log_hazard[above - 1], self.log_hazard[above]);
                (above - 1) as f64 + (left - wanted) / (left - right)
            }
        };
        from_db(FIRST_DB + steps * STEP_DB) / self.stream_share
    }
}

fn from_db(db: f64) -> f64 {
    10f64.powf(db / 10.0)
}

/// Modulation index of two-level GFSK: a nominal deviation of 160 kHz at 1 Msymbol/s (14.6.5; from memory of
/// the clause, not verified). The clause demands at least 110 kHz, which 160 kHz satisfy in the least
/// favourable pattern.
const GFSK2_INDEX: f64 = 0.32;
/// Modulation index of four-level GFSK, between adjacent levels: 0.45 of the two-level index, deviations of
/// 72 and 216 kHz (14.6.5; from memory of the clause, not verified).
const GFSK4_INDEX: f64 = 0.144;
/// Number of chips of the Barker code, which carries one symbol at 1 and 2 Mb/s (15.4.6.4).
const BARKER_CHIPS: f64 = 11.0;
/// Number of chips of a CCK code word (17.4.6.5).
const CCK_CHIPS: f64 = 8.0;

/// Probability that a noncoherent receiver mistakes one signal for another. `energy` is the signal energy
/// over the noise density, `correlation` the magnitude of the correlation of the two signals, below 1.
///
/// The finite integral of Simon & Alouini (*Digital Communication over Fading Channels*, 2000, chapters 4
/// and 8) for Q1(a, b) - I0(ab) exp(-(a^2 + b^2) / 2) / 2, with a^2 + b^2 = energy and 2ab = energy *
/// correlation:
///
/// > 1/(4 pi) * integral over a full turn of sqrt(1 - r^2) / (1 + r sin t) * exp(-energy/2 * (1 + r sin t)) dt
///
/// The integrand is smooth and periodic, so that the midpoint rule converges exponentially. Every term
/// decreases with `energy`, and so does the sum.
fn pairwise_error(energy: f64, correlation: f64) -> f64 {
    const POINTS: u32 = 48; // on the half turn from -pi/2 to pi/2; the other half is its mirror image
    let root = (1.0 - correlation * correlation).sqrt();
    let sum: f64 = (0..POINTS)
        .map(|i| {
            let angle = PI * (f64::from(i) + 0.5) / f64::from(POINTS) - FRAC_PI_2;
            let pull = 1.0 + correlation * angle.sin();
            root / pull * (-0.5 * energy * pull).exp()
        })
        .sum();
    0.5 * sum / f64::from(POINTS)
}

/// Bit error rate of differential QPSK with Gray mapping, by symbol energy over noise density. Two symbols
/// decide, and the decision axes are 45 degrees from the phases.
fn dqpsk(symbol_energy: f64) -> f64 {
    pairwise_error(2.0 * symbol_energy, FRAC_1_SQRT_2)
}

/// Probability that noise moves the phase change over a symbol of 1 us, in 1 MHz, beyond a threshold at
/// distance `PI * index`.
fn gfsk(sinr: f64, index: f64) -> f64 {
    pairwise_error(2.0 * sinr, (PI * index).cos())
}

/// Bit error rate of four levels with Gray mapping and three thresholds, at distances `h` and `3 h`. The
/// first bit, the sign, is wrong beyond the middle threshold. The second bit is wrong beyond either outer
/// threshold for an inner symbol, and beyond the nearest one for an outer symbol. Crossing two thresholds
/// corrects the second bit again; neglecting this makes the result an upper bound.
fn gfsk4(sinr: f64) -> f64 {
    0.25 * (3.0 * gfsk(sinr, GFSK4_INDEX) + 2.0 * gfsk(sinr, 3.0 * GFSK4_INDEX))
}

/// Number of other CCK code words, up to a common phase, by magnitude of their correlation with a code word:
/// (number, magnitude).
type Correlations = [(f64, f64)];

/// 5.5 Mb/s: two of the three relative phases are keyed by 0 or pi, which gives four orthogonal words.
const CCK5_5_CORRELATIONS: [(f64, f64); 1] = [(3.0, 0.0)];
/// 11 Mb/s: all three relative phases are keyed by quarter turns. A difference of a quarter turn multiplies
/// the correlation by 1/sqrt(2), a half turn by 0.
const CCK11_CORRELATIONS: [(f64, f64); 4] =
    [(6.0, FRAC_1_SQRT_2), (12.0, 0.5), (8.0, 0.5 * FRAC_1_SQRT_2), (37.0, 0.0)];

/// Bit error rate of CCK. Two bits are keyed in the phase of the code word relative to the previous one, the
/// others select the word. A wrong word has half of all bits wrong.
fn cck(sinr: f64, share_of_phase: f64, correlations: &Correlations) -> f64 {
    let energy = CCK_CHIPS * sinr;
    let wrong_word: f64 =
        correlations.iter().map(|&(words, correlation)| words * pairwise_error(energy, correlation)).sum();
    share_of_phase * dqpsk(energy) + 0.5 * wrong_word
}

/// Error rate of the coded bits of Gray-mapped BPSK, QPSK, and QAM of 16 to 1024 points, counting errors to
/// adjacent points (Proakis, 5.2). For square constellations: `4/bits * (1 - 2^(-bits/2)) * Q(sqrt(3 * sinr /
/// (2^bits - 1)))`.
fn demapping(bits: u8, sinr: f64) -> f64 {
    if bits == 1 {
        return normal_tail((2.0 * sinr).sqrt());
    }
    let points = f64::from(1u32 << bits);
    let neighbours = 4.0 / f64::from(bits) * (1.0 - points.sqrt().recip());
    neighbours * normal_tail((3.0 * sinr / (points - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::convolutional::{FIVE_SIXTHS, HALF, Spectrum, THREE_QUARTERS, TWO_THIRDS};
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_ratio_for_a_delivery_gives_that_delivery() {
        let table = ErrorTable::new(Modulation::Cck11);
        for delivery in [0.01, 0.3, 0.5, 0.9, 0.999] {
            let ratio = table.sinr_for(success_from_delivery(delivery, 1500));
            let found = frame_success(table.bit_success_ln(ratio), 1500);
            assert!((found - delivery).abs() < 1e-9, "{delivery}: {found}");
        }
        assert_eq!(table.bit_success_ln(table.sinr_for(0.0)), 0.0);
        assert!((10.0 * table.sinr_for(f64::NEG_INFINITY).log10() - FIRST_DB).abs() < 1e-9);
    }

    fn parity(bits: usize) -> usize {
        bits.count_ones() as usize % 2
    }

    /// Sums the input ones by distance over all paths that leave the all-zero path at one phase of the
    /// puncturing until they return, up to the distance `farthest`. `sent` gives for each input bit the
    /// number of times that each of its two coded bits is sent.
    fn bit_errors(kept: &[(usize, usize)], phase: usize, farthest: usize, found: &mut BTreeMap<usize, f64>) {
        // Open paths by (encoder state, distance): number of paths, and their ones.
        let mut paths = BTreeMap::from([((0usize, 0usize), (1.0, 0.0))]);
        let mut at = phase;
        while !paths.is_empty() {
            let mut next = BTreeMap::new();
            for ((state, distance), (count, ones)) in paths {
                for input in 0..=1 {
                    if state == 0 && input == 0 {
                        continue; // has not left yet; returned paths are removed below
                    }
                    let register = input << 6 | state;
                    let (a, b) = kept[at % kept.len()];
                    let farther = distance + a * parity(register & 0o133) + b * parity(register & 0o171);
                    let ones = ones + count * input as f64;
                    if register >> 1 == 0 && farther <= farthest {
                        *found.entry(farther).or_insert(0.0) += ones;
                    } else if farther <= farthest {
                        let sum = next.entry((register >> 1, farther)).or_insert((0.0, 0.0));
                        *sum = (sum.0 + count, sum.1 + ones);
                    }
                }
            }
            paths = next;
            at += 1;
        }
    }

    #[test]
    fn the_distance_spectra_follow_from_the_generators() {
        let codes: [(&Spectrum, &[(usize, usize)]); 4] = [
            (&HALF, &[(1, 1)]),
            (&TWO_THIRDS, &[(1, 1), (1, 0)]),
            (&THREE_QUARTERS, &[(1, 1), (1, 0), (0, 1)]),
            (&FIVE_SIXTHS, &[(1, 1), (1, 0), (0, 1), (1, 0), (0, 1)]),
        ];
        for (spectrum, kept) in codes {
            let farthest = spectrum.free_distance + 9 * spectrum.step;
            let mut found = BTreeMap::new();
            for phase in 0..kept.len() {
                bit_errors(kept, phase, farthest as usize, &mut found);
            }
            assert_eq!(spectrum.period, kept.len() as f64);
            assert_eq!(found.keys().next(), Some(&(spectrum.free_distance as usize)));
            assert_eq!(found.into_values().collect::<Vec<_>>(), spectrum.bit_errors);
        }
    }

    /// The chips of a code word with phases in quarter turns (17.4.6.5), as quarter turns.
    fn code_word([p1, p2, p3, p4]: [u32; 4]) -> [u32; 8] {
        [p1 + p2 + p3 + p4, p1 + p3 + p4, p1 + p2 + p4, p1 + p4 + 2, p1 + p2 + p3, p1 + p3, p1 + p2 + 2, p1]
    }

    fn correlation(one: [u32; 8], other: [u32; 8]) -> f64 {
        let (re, im) = one.iter().zip(other).fold((0, 0), |(re, im), (a, b)| match (a + 4 * 8 - b) % 4 {
            0 => (re + 1, im),
            1 => (re, im + 1),
            2 => (re - 1, im),
            _ => (re, im - 1),
        });
        f64::from(re * re + im * im).sqrt() / CCK_CHIPS
    }

    #[test]
    fn the_correlations_of_cck_follow_from_its_code_words() {
        let words_11: Vec<_> = (0..64).map(|i| code_word([0, i % 4, i / 4 % 4, i / 16])).collect();
        // 5.5 Mb/s: the second phase is d2 * pi + pi/2, the third 0, the fourth d3 * pi (17.4.6.5.3).
        let words_5_5: Vec<_> = (0..4).map(|i| code_word([0, 2 * (i % 2) + 1, 0, 2 * (i / 2)])).collect();
        for (words, expected) in [(words_11, &CCK11_CORRELATIONS[..]), (words_5_5, &CCK5_5_CORRELATIONS[..])]
        {
            for (i, word) in words.iter().enumerate() {
                for &(count, magnitude) in expected {
                    let alike = |j: usize| j != i && (correlation(*word, words[j]) - magnitude).abs() < 1e-9;
                    assert_eq!((0..words.len()).filter(|j| alike(*j)).count() as f64, count);
                }
            }
            let others: f64 = expected.iter().map(|(count, _)| count).sum();
            assert_eq!(others, words.len() as f64 - 1.0);
        }
    }

    /// Q1(a, b) - I0(ab) exp(-(a^2 + b^2) / 2) / 2 by its series of Bessel functions (Proakis, 2.1.4).
    fn pairwise_error_by_series(energy: f64, correlation: f64) -> f64 {
        let root = (1.0 - correlation * correlation).sqrt();
        let (a, b) = ((0.5 * energy * (1.0 - root)).sqrt(), (0.5 * energy * (1.0 + root)).sqrt());
        let bessel = |order: u32| -> f64 {
            let half = 0.5 * a * b;
            let first = (1..=order).fold(1.0, |term, k| term * half / f64::from(k));
            let terms = (1u32..200).scan(first, |term, k| {
                *term *= half * half / (f64::from(k) * f64::from(k + order));
                Some(*term)
            });
            first + terms.sum::<f64>()
        };
        let tail: f64 = (1..100).map(|k| (a / b).powi(k) * bessel(k as u32)).sum();
        (-0.5 * energy).exp() * (0.5 * bessel(0) + tail)
    }

    #[test]
    fn pairwise_error_agrees_with_marcums_function() {
        for correlation in [0.0, 0.5 * FRAC_1_SQRT_2, 0.5, FRAC_1_SQRT_2] {
            for energy in [0.1, 1.0, 5.0, 20.0, 60.0, 100.0] {
                let (integral, series) =
                    (pairwise_error(energy, correlation), pairwise_error_by_series(energy, correlation));
                assert!(
                    (integral / series - 1.0).abs() < 1e-9,
                    "{energy} {correlation}: {integral} {series}"
                );
            }
        }
    }

    /// The table ends with the last hazard that is not negligible; beyond it the hazard is zero.
    #[test]
    fn what_is_negligible_is_nothing() {
        let table = ErrorTable::new(Modulation::Dqpsk);
        let at = |step: f64| table.bit_success_ln(from_db(FIRST_DB + step * STEP_DB));
        let last = (table.log_hazard.len() - 1) as f64;
        assert!(at(last - 0.5) <= -NEGLIGIBLE);
        assert_eq!((at(last + 0.5), at(last + 1.5)), (0.0, 0.0));
    }

    /// The last step of the table is interpolated, however its end is rounded.
    #[test]
    fn the_last_step_belongs_to_the_table() {
        let ofdm = |bits, code| Modulation::Ofdm { bits, code };
        for modulation in [
            Modulation::Gfsk2,
            Modulation::Gfsk4,
            Modulation::Dbpsk,
            Modulation::Dqpsk,
            Modulation::Cck5_5,
            Modulation::Cck11,
            ofdm(1, (1, 2)),
            ofdm(2, (3, 4)),
            ofdm(4, (1, 2)),
            ofdm(6, (2, 3)),
            ofdm(6, (3, 4)),
        ] {
            let table = ErrorTable::new(modulation);
            let last = table.log_hazard.last().unwrap().exp();
            let before = table.bit_success_ln(f64::from_bits(table.error_free_sinr.to_bits() - 1));
            assert!((before / -last - 1.0).abs() < 1e-6, "{modulation:?}: {before} {last}");
            assert_eq!(modulation.is_gfsk(), matches!(modulation, Modulation::Gfsk2 | Modulation::Gfsk4));
        }
    }

    /// Two bits of 4 and two of 8 are keyed in the phase (17.4.6.5). Orthogonal words are mistaken with
    /// probability `exp(-energy / 2) / 2`.
    #[test]
    fn two_bits_of_a_code_word_lie_in_its_phase() {
        for sinr in [0.5, 1.0, 2.0] {
            let (energy, phase) = (8.0 * sinr, dqpsk(8.0 * sinr));
            let orthogonal = 0.5 * (-0.5 * energy).exp();
            let expected = 0.5 * phase + 0.5 * 3.0 * orthogonal;
            assert!((bit_error_rate(Modulation::Cck5_5, sinr) / expected - 1.0).abs() < 1e-9, "{sinr}");
            let near: f64 = [(6.0, 0.5f64.sqrt()), (12.0, 0.5), (8.0, 0.125f64.sqrt())]
                .iter()
                .map(|(words, correlation)| words * pairwise_error_by_series(energy, *correlation))
                .sum();
            let expected = (0.25 * phase + 0.5 * (near + 37.0 * orthogonal)).min(0.5);
            assert!((bit_error_rate(Modulation::Cck11, sinr) / expected - 1.0).abs() < 1e-9, "{sinr}");
        }
    }
}
