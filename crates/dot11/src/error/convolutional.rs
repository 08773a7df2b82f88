//! Bit error rate of the convolutional code of OFDM, by the union bound over its distance spectrum.

/// Distance spectrum of the punctured code with generators 133 and 171 (octal; 18.3.5.6): bit errors on all
/// paths that leave the correct one, by distance in coded bits, from the free distance on. Values of Haccoun
/// & Begin, IEEE Trans. Commun. 37(11), 1989; a test derives them from the generators.
pub(super) struct Spectrum {
    pub free_distance: i32,
    pub step: i32,
    /// Number of input bits in one period of the puncturing.
    pub period: f64,
    pub bit_errors: [f64; 10],
}

pub(super) const HALF: Spectrum = Spectrum {
    free_distance: 10,
    step: 2,
    period: 1.0,
    bit_errors: [
        36.0,
        211.0,
        1_404.0,
        11_633.0,
        77_433.0,
        502_690.0,
        3_322_763.0,
        21_292_910.0,
        134_365_911.0,
        843_425_871.0,
    ],
};
pub(super) const TWO_THIRDS: Spectrum = Spectrum {
    free_distance: 6,
    step: 1,
    period: 2.0,
    bit_errors: [
        3.0,
        70.0,
        285.0,
        1_276.0,
        6_160.0,
        27_128.0,
        117_019.0,
        498_835.0,
        2_103_480.0,
        8_781_268.0,
    ],
};
pub(super) const THREE_QUARTERS: Spectrum = Spectrum {
    free_distance: 5,
    step: 1,
    period: 3.0,
    bit_errors: [
        42.0,
        201.0,
        1_492.0,
        10_469.0,
        62_935.0,
        379_546.0,
        2_252_394.0,
        13_064_540.0,
        75_080_308.0,
        427_474_864.0,
    ],
};

pub(super) const FIVE_SIXTHS: Spectrum = Spectrum {
    free_distance: 4,
    step: 1,
    period: 5.0,
    bit_errors: [
        92.0,
        528.0,
        8_694.0,
        79_453.0,
        791_795.0,
        7_369_828.0,
        67_809_347.0,
        609_896_348.0,
        5_416_272_113.0,
        47_544_404_956.0,
    ],
};

/// Bound on the bit error rate after decoding when coded bits are wrong with probability `p`. The probability
/// of a path at distance `d` is at most `D^d / 2` with `D = sqrt(4 p (1 - p))` (Miller 2003).
pub(super) fn viterbi(p: f64, code: (u8, u8)) -> f64 {
    let spectrum = match code {
        (1, 2) => &HALF,
        (2, 3) => &TWO_THIRDS,
        (3, 4) => &THREE_QUARTERS,
        (5, 6) => &FIVE_SIXTHS,
        (k, n) => panic!("802.11 has no convolutional code of rate {k}/{n}"),
    };
    let bhattacharyya = (4.0 * p * (1.0 - p)).sqrt();
    let distances = (0..).map(|term| spectrum.free_distance + term * spectrum.step);
    let sum: f64 = distances.zip(spectrum.bit_errors).map(|(d, errors)| errors * bhattacharyya.powi(d)).sum();
    sum / (2.0 * spectrum.period)
}
