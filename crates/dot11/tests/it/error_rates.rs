//! Properties and known values of the bit error rates.

use multihop_core::{Rate, Rng};
use multihop_dot11::{
    ErrorTable, Modulation, Phy, Preamble, Standard, bit_error_rate, bit_success_ln, frame_success,
    success_from_delivery,
};

/// 802.11g has all modulations except those of frequency hopping.
fn modulations() -> Vec<(Rate, Modulation)> {
    let of = |standard| Phy::new(standard, Preamble::Long).rates().collect::<Vec<_>>();
    [of(Standard::Dot11g), of(Standard::Fhss)].concat()
}

fn from_db(db: f64) -> f64 {
    10f64.powf(db / 10.0)
}

/// SINR of -40 to 50 dB in steps of a hundredth of a dB, which are no multiples of the table's steps.
fn ratios() -> impl Iterator<Item = f64> {
    (-4000..5000).map(|db| from_db(f64::from(db) * 0.01))
}

/// SINR in dB at which a share `loss` of frames of `bytes` bytes is lost.
fn threshold_db(modulation: Modulation, bytes: u32, loss: f64) -> f64 {
    let lost = |db: f64| 1.0 - frame_success(bit_success_ln(modulation, from_db(db)), bytes);
    let (mut low, mut high) = (-40.0, 50.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if lost(middle) > loss { low = middle } else { high = middle }
    }
    low
}

fn threshold_of(kbps: u64) -> f64 {
    let rate = Rate::from_kbps(kbps);
    let (_, modulation) =
        modulations().into_iter().find(|(known, _)| *known == rate).expect("a rate of 802.11g");
    threshold_db(modulation, 1000, 0.1)
}

fn assert_close(value: f64, expected: f64, relative: f64) {
    assert!((value / expected - 1.0).abs() < relative, "{value} instead of {expected}");
}

#[test]
fn error_rates_are_rates_and_fall_with_sinr() {
    for (rate, modulation) in modulations() {
        let rates: Vec<f64> = ratios().map(|sinr| bit_error_rate(modulation, sinr)).collect();
        assert!(rates.iter().all(|ber| (0.0..=0.5).contains(ber)), "{rate}");
        assert!(rates.windows(2).all(|pair| pair[1] <= pair[0]), "{rate}");
        assert!(rates[0] > 0.49 && rates[rates.len() - 1] < 1e-15, "{rate}");
    }
}

#[test]
fn without_a_signal_bits_are_guessed_and_without_noise_they_are_right() {
    for (_, modulation) in modulations() {
        let table = ErrorTable::new(modulation);
        for nothing in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_close(bit_error_rate(modulation, nothing), 0.5, 1e-12);
            assert_close(table.bit_success_ln(nothing), 0.5f64.ln(), 0.02);
        }
        assert_eq!(bit_error_rate(modulation, f64::INFINITY), 0.0);
        assert_eq!(table.bit_success_ln(f64::INFINITY), 0.0);
    }
}

/// DBPSK: exp(-Eb/N0) / 2, with Eb/N0 11 times the SINR (Proakis, 5.2.8).
#[test]
fn dbpsk_has_its_closed_form() {
    for bit_energy in [0.0f64, 0.5, 1.0, 4.0, 10.0, 20.0, 40.0] {
        let expected = 0.5 * (-bit_energy).exp();
        assert_close(bit_error_rate(Modulation::Dbpsk, bit_energy / 11.0), expected, 1e-12);
    }
}

const SYMBOLS: u32 = 400_000;

/// Two phases with complex Gaussian noise: share of draws in which their difference is on the wrong side of a
/// threshold.
#[test]
fn frequency_hopping_errs_as_often_as_noisy_phases_do() {
    let mut rng = Rng::at(3, &["phases"]);
    let mut sample = |sinr: f64| {
        let (radius, angle) = ((-rng.unit().ln() / sinr).sqrt(), std::f64::consts::TAU * rng.unit());
        (1.0 + radius * angle.cos(), radius * angle.sin())
    };
    // Phase change by noise alone, in units of half the distance between adjacent levels.
    let mut turn = |sinr: f64, index: f64| {
        let ((a, b), (c, d)) = (sample(sinr), sample(sinr));
        (a * d - b * c).atan2(a * c + b * d) / (std::f64::consts::PI * index)
    };
    for db in [3.0, 6.0, 8.0] {
        let wrong = (0..SYMBOLS).filter(|_| 1.0 + turn(from_db(db), 0.32) < 0.0).count();
        // The wrong half of the circle is also reached in the other direction.
        let around = (0..SYMBOLS).filter(|_| 1.0 + turn(from_db(db), 0.32) > 1.0 / 0.32).count();
        let counted = (wrong + around) as f64 / f64::from(SYMBOLS);
        assert_close(bit_error_rate(Modulation::Gfsk2, from_db(db)), counted, 0.03);
    }
    // Levels -3, -1, 1, 3 carry 00, 01, 11, 10.
    let decide = |level: f64| match level {
        level if level < -2.0 => 0b00,
        level if level < 0.0 => 0b01,
        level if level < 2.0 => 0b11,
        _ => 0b10u32,
    };
    for db in [10.0, 13.0, 15.0] {
        let wrong_bits = |level: f64, turn: f64| (decide(level) ^ decide(level + turn)).count_ones();
        let levels = [-3.0, -1.0, 1.0, 3.0].into_iter().cycle().take(SYMBOLS as usize);
        let wrong: u32 = levels.map(|level| wrong_bits(level, turn(from_db(db), 0.144))).sum();
        let counted = f64::from(wrong) / f64::from(2 * SYMBOLS);
        assert_close(bit_error_rate(Modulation::Gfsk4, from_db(db)), counted, 0.05);
    }
}

/// The standard requires -80 dBm at 1 Mb/s and -75 dBm at 2 Mb/s (14.6.14; the former as in Gast, table
/// 11-4), over -114 dBm of thermal noise in 1 MHz. Receivers of the time were much worse than this model, by
/// the same margin at both rates.
#[test]
fn frequency_hopping_pays_for_its_second_bit_as_the_standard_counts_on() {
    let needed = [Modulation::Gfsk2, Modulation::Gfsk4].map(|modulation| threshold_db(modulation, 400, 0.03));
    assert!((13.0..15.0).contains(&needed[0]), "{needed:?}");
    assert!((5.0..8.0).contains(&(needed[1] - needed[0])), "{needed:?}");
}

/// Coded rates, computed by hand from the formulas of Miller (2003) at four points.
#[test]
fn ofdm_has_the_values_of_the_nist_model() {
    let known = [
        (1, (1, 2), 2.5, 8.207_804_453_648e-6),
        (2, (3, 4), 10.0, 5.534_575_576_404e-6),
        (4, (1, 2), 25.0, 1.771_201_802_577e-6),
        (6, (2, 3), 150.0, 2.335_552_467_571e-6),
    ];
    for (bits, code, sinr, expected) in known {
        assert_close(bit_error_rate(Modulation::Ofdm { bits, code }, sinr), expected, 1e-9);
    }
}

/// The receiver sensitivities that the standard demands for 10 % of 1000-byte frames lost, -82 to -65 dBm
/// (table 18-14), allow for a noise figure of 10 dB and 5 dB of imperfection on top of -101 dBm of thermal
/// noise in 20 MHz.
#[test]
fn ofdm_needs_the_sinr_that_the_standard_counts_on() {
    let sensitivities =
        [(6, -82), (9, -81), (12, -79), (18, -77), (24, -74), (36, -70), (48, -66), (54, -65)];
    for (mbps, dbm) in sensitivities {
        let allowed = f64::from(dbm + 101 - 10 - 5);
        let needed = threshold_of(mbps * 1_000);
        assert!((needed - allowed).abs() < 2.0, "{mbps} Mb/s: {needed} dB, the standard says {allowed}");
    }
}

/// 802.11b: -80 dBm at 2 Mb/s (15.4.8.2) and -76 dBm at 11 Mb/s (17.4.8.2), with 1024 bytes and 8 % loss.
/// Noise in the 11 MHz of the chips is -103.6 dBm. Good receivers are a few dB better.
#[test]
fn direct_sequence_needs_no_more_sinr_than_the_standard_counts_on() {
    for (modulation, dbm) in [(Modulation::Dqpsk, -80.0), (Modulation::Cck11, -76.0)] {
        let allowed = dbm + 103.6 - 10.0 - 5.0;
        let needed = threshold_db(modulation, 1024, 0.08);
        assert!(
            (allowed - 6.0..allowed).contains(&needed),
            "{modulation:?}: {needed} dB, the standard says {allowed}"
        );
    }
    assert!((7.0..11.0).contains(&threshold_of(11_000)), "{}", threshold_of(11_000));
}

/// 9 Mb/s is left out: it needs the SINR of 12 Mb/s and is slower, a known weakness of its code (Huang,
/// Malone & Duffy, 2008).
#[test]
fn faster_rates_need_more() {
    for rates in
        [&[1_000, 2_000, 5_500, 11_000][..], &[6_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000]]
    {
        let needed: Vec<f64> = rates.iter().map(|kbps| threshold_of(*kbps)).collect();
        assert!(needed.windows(2).all(|pair| pair[0] + 0.5 < pair[1]), "{needed:?}");
    }
    assert!((threshold_of(9_000) - threshold_of(12_000)).abs() < 0.5);
}

#[test]
fn longer_frames_need_more() {
    for (_, modulation) in modulations() {
        let needed = [14, 100, 1500].map(|bytes| threshold_db(modulation, bytes, 0.1));
        assert!(needed[0] < needed[1] && needed[1] < needed[2], "{needed:?}");
    }
}

#[test]
fn tiny_error_rates_keep_their_digits() {
    let sinr = 40.0 / 11.0;
    let ber = bit_error_rate(Modulation::Dbpsk, sinr);
    assert!(ber < 1e-17, "below the resolution of 1 - ber");
    assert_close(bit_success_ln(Modulation::Dbpsk, sinr), -ber, 1e-12);
}

#[test]
fn the_table_follows_the_exact_rates() {
    const LONGEST_BITS: f64 = 8.0 * 4096.0;
    for (rate, modulation) in modulations() {
        let table = ErrorTable::new(modulation);
        assert_eq!(table.modulation(), modulation);
        let mut compared = 0;
        for sinr in ratios() {
            let (exact, tabulated) = (bit_success_ln(modulation, sinr), table.bit_success_ln(sinr));
            let chance_matters = -exact * LONGEST_BITS > 1e-9 && -exact * 100.0 < 20.0;
            if chance_matters {
                assert!((tabulated / exact - 1.0).abs() < 0.01, "{rate} at {sinr}: {tabulated} not {exact}");
                compared += 1;
            }
            let difference = (tabulated * LONGEST_BITS).exp() - (exact * LONGEST_BITS).exp();
            assert!(difference.abs() < 1e-3, "{rate} at {sinr}");
        }
        assert!(compared > 500, "{rate}: only {compared} ratios");
    }
}

#[test]
fn the_table_never_falls_with_sinr() {
    for (rate, modulation) in modulations() {
        let table = ErrorTable::new(modulation);
        let values: Vec<f64> = ratios().map(|sinr| table.bit_success_ln(sinr)).collect();
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]), "{rate}");
        assert!(values.iter().all(|ln| *ln <= 0.0));
    }
}

#[test]
fn delivery_of_probes_becomes_success_of_bits() {
    let per_bit = success_from_delivery(0.8, 1500);
    assert_close(frame_success(per_bit, 1500), 0.8, 1e-12);
    assert_close(frame_success(per_bit, 3000), 0.64, 1e-12);
    assert_eq!(success_from_delivery(1.0, 100), 0.0);
    assert_eq!(success_from_delivery(1.5, 100), 0.0);
    for none in [0.0, -0.5, f64::NAN] {
        assert_eq!(success_from_delivery(none, 100), f64::NEG_INFINITY);
        assert_eq!(frame_success(success_from_delivery(none, 100), 14), 0.0);
    }
    assert_eq!(frame_success(f64::NEG_INFINITY, 0), 1.0);
    assert_eq!(success_from_delivery(0.5, 0), 0.5f64.ln() / 8.0);
}
