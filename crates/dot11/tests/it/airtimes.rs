//! Airtimes and inter-frame spaces, against numbers worked by hand from the clauses of IEEE 802.11-2012.

use multihop_core::{Rate, Span};
use multihop_dot11::{
    ACK_BYTES, Bandwidth, CTS_BYTES, Mcs, Microseconds, OfdmSymbols, Phy, PpduOptions, Preamble, RTS_BYTES,
    Standard,
};

/// Rate in kb/s, then microseconds on the air of frames of `LENGTHS` bytes.
type Row = (u64, [u64; 4]);

/// CTS or ACK, RTS, 1500 bytes with MAC header and FCS, the longest frame.
const LENGTHS: [u32; 4] = [14, 20, 1528, 2346];

/// 192 us and the payload's 112, 160, 12224 and 18768 bits, rounded up to whole microseconds (17.2.3.6).
const DSSS_LONG: [Row; 4] = [
    (1_000, [304, 352, 12_416, 18_960]),
    (2_000, [248, 272, 6_304, 9_576]),
    (5_500, [213, 222, 2_415, 3_605]),
    (11_000, [203, 207, 1_304, 1_899]),
];

/// 96 us instead of 192 us, but at 1 Mb/s (17.2.2.2).
const DSSS_SHORT: [Row; 4] = [
    (1_000, [304, 352, 12_416, 18_960]),
    (2_000, [152, 176, 6_208, 9_480]),
    (5_500, [117, 126, 2_319, 3_509]),
    (11_000, [107, 111, 1_208, 1_803]),
];

/// 128 us, the payload's symbols, and one more for each begun 32 of them (14.3.2): 112 + 4, 160 + 5, 12224 +
/// 382, 18768 + 587 at one bit a symbol; 56 + 2, 80 + 3, 6112 + 191, 9384 + 294 at two.
const FHSS: [Row; 2] = [(1_000, [244, 293, 12_734, 19_483]), (2_000, [186, 211, 6_431, 9_806])];

/// 20 us and symbols of 4 us for 134, 182, 12246 and 18790 bits, at 24, 36, 48, 72, 96, 144, 192 and 216 bits
/// a symbol (18.4.3).
const OFDM: [Row; 8] = [
    (6_000, [44, 52, 2_064, 3_152]),
    (9_000, [36, 44, 1_384, 2_108]),
    (12_000, [32, 36, 1_044, 1_588]),
    (18_000, [28, 32, 704, 1_064]),
    (24_000, [28, 28, 532, 804]),
    (36_000, [24, 28, 364, 544]),
    (48_000, [24, 24, 276, 412]),
    (54_000, [24, 24, 248, 368]),
];

fn check(phy: &Phy, rows: &[Row], extra: u64) {
    for &(kbps, expected) in rows {
        let rate = Rate::from_kbps(kbps);
        for (bytes, us) in LENGTHS.into_iter().zip(expected) {
            let airtime = phy.airtime(rate, bytes, Microseconds::Up);
            assert_eq!(airtime, Span::from_us(us + extra), "{bytes} bytes at {rate}: {phy:?}");
        }
    }
}

fn rates(phy: &Phy) -> Vec<u64> {
    phy.rates().map(|(rate, _)| rate.bps() / 1_000).collect()
}

const PREAMBLES: [Preamble; 2] = [Preamble::Long, Preamble::Short];

#[test]
fn direct_sequence_airtimes() {
    for (preamble, rows) in PREAMBLES.into_iter().zip([DSSS_LONG, DSSS_SHORT]) {
        let dsss = Phy::new(Standard::Dsss, preamble);
        check(&dsss, &rows[..2], 0);
        assert_eq!(rates(&dsss), [1_000, 2_000]);
        let dot11b = Phy::new(Standard::Dot11b, preamble);
        check(&dot11b, &rows, 0);
        assert_eq!(rates(&dot11b), [1_000, 2_000, 5_500, 11_000]);
    }
}

#[test]
fn frequency_hopping_airtimes_have_symbols_of_whitening_and_no_short_preamble() {
    for preamble in PREAMBLES {
        let phy = Phy::new(Standard::Fhss, preamble);
        check(&phy, &FHSS, 0);
        assert_eq!(rates(&phy), [1_000, 2_000]);
        assert!(phy.rates().all(|(rate, _)| !phy.has_short_preamble(rate)));
        // All roundings agree: symbols are whole microseconds.
        let at = |rounding| phy.airtime(Rate::from_kbps(2_000), 1_001, rounding);
        assert_eq!(at(Microseconds::Exact), Span::from_us(128 + 4_004 + 126));
        assert_eq!(at(Microseconds::Exact), at(Microseconds::Up));
    }
    // In the limit, whitening adds one symbol to 32: aMPDUDurationFactor, 3.125 % more than the PSDU.
    let phy = Phy::new(Standard::Fhss, Preamble::Long);
    let million = phy.airtime(Rate::from_kbps(1_000), 1_000_000, Microseconds::Up)
        - phy.overhead(Rate::from_kbps(1_000));
    assert_eq!(million, Span::from_us(8_000_000 / 32 * 33));
}

#[test]
fn ofdm_airtimes_do_not_know_the_direct_sequence_preamble() {
    for preamble in PREAMBLES {
        let phy = Phy::new(Standard::Dot11a, preamble);
        check(&phy, &OFDM, 0);
        assert_eq!(rates(&phy), [6_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000]);
    }
}

/// PHY of 802.11a in a channel of this width.
fn narrow(bandwidth: Bandwidth) -> Phy {
    let phy = Phy::new(Standard::Dot11a, Preamble::Long);
    phy.with_options(PpduOptions { bandwidth, ..phy.options() })
}

/// 802.11-2020, tables 17-4, 17-5 and 17-21: at half of the clock all parts of a frame last twice as long, at
/// a quarter four times.
#[test]
fn ofdm_airtimes_of_narrow_channels_are_by_17_3_those_of_20_mhz_times_two_and_four() {
    for (bandwidth, slower) in [(Bandwidth::Mhz10, 2), (Bandwidth::Mhz5, 4)] {
        let phy = narrow(bandwidth);
        let rows = OFDM.map(|(kbps, us)| (kbps / slower, us.map(|us| us * slower)));
        check(&phy, &rows, 0);
        assert_eq!(rates(&phy), rows.map(|(kbps, _)| kbps));
    }
    let half = narrow(Bandwidth::Mhz10);
    // 32 us of preamble, 8 of SIGNAL, and 22 + 8 * 100 bits in symbols of 48 bits and 8 us.
    let frame = half.airtime(Rate::from_kbps(6_000), 100, Microseconds::Up);
    assert_eq!(frame, Span::from_us(32 + 8 + 18 * 8));
    assert_eq!(half.overhead(Rate::from_kbps(27_000)), Span::from_us(40));
}

#[test]
fn spaces_of_narrow_channels_are_those_of_802_11_2020_table_17_21() {
    let us = |phy: Phy| [phy.slot, phy.sifs, phy.difs(), phy.eifs()].map(|span| span.ns() / 1_000);
    // EIFS: SIFS, DIFS and an ACK of 134 bits at the lowest rate, 6 symbols behind preamble and SIGNAL.
    assert_eq!(us(narrow(Bandwidth::Mhz20)), [9, 16, 34, 16 + 44 + 34]);
    assert_eq!(us(narrow(Bandwidth::Mhz10)), [13, 32, 58, 32 + 88 + 58]);
    assert_eq!(us(narrow(Bandwidth::Mhz5)), [21, 64, 106, 64 + 176 + 106]);
    for bandwidth in [Bandwidth::Mhz10, Bandwidth::Mhz5] {
        let phy = narrow(bandwidth);
        assert_eq!((phy.cw_min, phy.cw_max), (15, 1_023));
    }
    let delay = |bandwidth| narrow(bandwidth).rx_start_delay(narrow(bandwidth).basic_rates()[0]);
    assert_eq!([Bandwidth::Mhz10, Bandwidth::Mhz5].map(delay), [49, 97].map(Span::from_us));
}

/// 3, 6 and 12 Mb/s are mandatory at half of the clock, 1.5, 3 and 6 Mb/s at a quarter (802.11-2020, 17.1).
#[test]
fn responses_in_narrow_channels_go_at_their_mandatory_rates() {
    let response = |bandwidth, kbps| narrow(bandwidth).response_rate(Rate::from_kbps(kbps)).bps() / 1_000;
    assert_eq!([27_000, 9_000, 4_500].map(|kbps| response(Bandwidth::Mhz10, kbps)), [12_000, 6_000, 3_000]);
    assert_eq!([13_500, 4_500, 2_250].map(|kbps| response(Bandwidth::Mhz5, kbps)), [6_000, 3_000, 1_500]);
}

#[test]
fn dot11g_extends_ofdm_frames_by_6_us_and_leaves_the_others() {
    for (preamble, rows) in PREAMBLES.into_iter().zip([DSSS_LONG, DSSS_SHORT]) {
        let only_g = Phy::new(Standard::Dot11g, preamble);
        for phy in [only_g, only_g.with_long_slot(), Phy::mixed(preamble)] {
            check(&phy, &OFDM, 6);
            check(&phy, &rows, 0);
            assert_eq!(
                rates(&phy),
                [1_000, 2_000, 5_500, 6_000, 9_000, 11_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000]
            );
        }
    }
}

#[test]
fn known_frames() {
    let ofdm = Phy::new(Standard::Dot11a, Preamble::Long);
    let at = |kbps, bytes| ofdm.airtime(Rate::from_kbps(kbps), bytes, Microseconds::Up);
    assert_eq!(at(54_000, 1534), Span::from_us(248));
    assert_eq!(at(24_000, ACK_BYTES), Span::from_us(28));
    assert_eq!(at(6_000, ACK_BYTES), Span::from_us(44));
    // The example frame of annex L.1: 100 bytes at 36 Mb/s in 6 symbols.
    assert_eq!(at(36_000, 100), Span::from_us(44));

    let dot11b = Phy::new(Standard::Dot11b, Preamble::Long);
    let at_1 = |bytes| dot11b.airtime(Rate::from_kbps(1_000), bytes, Microseconds::Up);
    assert_eq!([RTS_BYTES, CTS_BYTES, ACK_BYTES].map(at_1), [352, 304, 304].map(Span::from_us));
}

/// Counts the symbols and bits one by one instead of dividing.
#[test]
fn every_length_at_every_rate_takes_the_least_time_that_holds_its_bits() {
    for standard in [Standard::Dsss, Standard::Dot11b, Standard::Dot11a, Standard::Dot11g] {
        let phy = Phy::new(standard, Preamble::Long);
        for (rate, modulation) in phy.rates() {
            let timing = phy.timing(rate, Microseconds::Up);
            let unit_us = if modulation.is_ofdm() { 4 } else { 1 };
            let more_bits = if modulation.is_ofdm() { 22 } else { 0 };
            let silence_us = if modulation.is_ofdm() && standard == Standard::Dot11g { 6 } else { 0 };
            let mut us = 0;
            for bytes in 0..=2346 {
                while us * rate.bps() < (u64::from(bytes) * 8 + more_bits) * 1_000_000 {
                    us += unit_us;
                }
                let expected = timing.overhead() + Span::from_us(us + silence_us);
                assert_eq!(timing.airtime(bytes), expected, "{bytes} bytes at {rate}");
            }
        }
    }
}

#[test]
fn fractions_of_microseconds_are_treated_as_asked() {
    let phy = Phy::new(Standard::Dot11b, Preamble::Long);
    let rate = Rate::from_kbps(11_000);
    let airtime = |rounding| phy.airtime(rate, 1528, rounding).ns();
    assert_eq!(airtime(Microseconds::Exact), 1_303_273);
    assert_eq!(airtime(Microseconds::Nearest), 1_303_000);
    assert_eq!(airtime(Microseconds::Up), 1_304_000);
    for bytes in 0..=2346 {
        let payload = phy.airtime(rate, bytes, Microseconds::Exact) - phy.overhead(rate);
        assert_eq!(payload, rate.span_of_bytes(u64::from(bytes)));
    }
    // OFDM has whole symbols under every rule.
    let ofdm = Phy::new(Standard::Dot11a, Preamble::Long);
    let airtime = |rounding| ofdm.airtime(Rate::from_kbps(54_000), 1534, rounding);
    assert_eq!(airtime(Microseconds::Exact), airtime(Microseconds::Up));
}

#[test]
fn the_longest_frames_that_a_caller_can_name_do_not_overflow() {
    for (phy, rate) in [Standard::Dot11g, Standard::Fhss]
        .map(|standard| Phy::new(standard, Preamble::Long))
        .into_iter()
        .flat_map(|phy| phy.rates().map(move |(rate, _)| (phy, rate)).collect::<Vec<_>>())
    {
        assert!(phy.airtime(rate, u32::MAX, Microseconds::Up) > rate.span_of_bytes(u64::from(u32::MAX)));
    }
}

/// Slot, SIFS, DIFS, EIFS in microseconds and the first contention window.
#[test]
fn inter_frame_spaces() {
    for preamble in PREAMBLES {
        let table = [
            // 28 + 244 + 128
            (Phy::new(Standard::Fhss, preamble), [50, 28, 128, 400], 15),
            (Phy::new(Standard::Dsss, preamble), [20, 10, 50, 364], 31),
            (Phy::new(Standard::Dot11b, preamble), [20, 10, 50, 364], 31),
            (Phy::new(Standard::Dot11a, preamble), [9, 16, 34, 94], 15),
            (Phy::new(Standard::Dot11g, preamble), [9, 10, 28, 88], 15),
            (Phy::new(Standard::Dot11g, preamble).with_long_slot(), [20, 10, 50, 110], 15),
            (Phy::mixed(preamble), [20, 10, 50, 364], 15),
        ];
        for (phy, us, cw_min) in table {
            assert_eq!([phy.slot, phy.sifs, phy.difs(), phy.eifs()], us.map(Span::from_us), "{phy:?}");
            assert_eq!((phy.cw_min, phy.cw_max), (cw_min, 1023));
        }
    }
}

#[test]
fn a_response_is_noticed_after_the_delay_of_its_phy() {
    let delay = |standard, preamble, kbps| Phy::new(standard, preamble).rx_start_delay(Rate::from_kbps(kbps));
    assert_eq!(delay(Standard::Fhss, Preamble::Short, 2_000), Span::from_us(128));
    assert_eq!(delay(Standard::Dot11b, Preamble::Long, 2_000), Span::from_us(192));
    assert_eq!(delay(Standard::Dot11b, Preamble::Short, 2_000), Span::from_us(96));
    assert_eq!(delay(Standard::Dot11b, Preamble::Short, 1_000), Span::from_us(192));
    assert_eq!(delay(Standard::Dot11a, Preamble::Long, 6_000), Span::from_us(25));
    assert_eq!(delay(Standard::Dot11g, Preamble::Long, 6_000), Span::from_us(24));
    assert_eq!(delay(Standard::Dot11g, Preamble::Long, 2_000), Span::from_us(192));
}

/// ns-2's 802.11a: 1080 bytes at 54 Mb/s last 160 us after the 20 us of preamble and SIGNAL, and an ACK at 6
/// Mb/s 18.667 us. Airtimes do not include the PHY-RX-START delay.
#[test]
fn ofdm_without_symbols_is_bits_in_a_row() {
    for standard in [Standard::Dot11a, Standard::Dot11g] {
        let whole = Phy::new(standard, Preamble::Long);
        let bits = whole.with_ofdm_symbols(OfdmSymbols::None);
        let airtime = |kbps, bytes| bits.airtime(Rate::from_kbps(kbps), bytes, Microseconds::Up);
        assert_eq!(airtime(54_000, 1080), Span::from_us(180));
        assert_eq!(airtime(6_000, 14), Span::from_ns(38_667));
        assert_eq!(bits.eifs(), bits.sifs + Span::from_ns(38_667) + bits.difs());
        let rate = Rate::from_kbps(24_000);
        assert_eq!(bits.rx_start_delay(rate), whole.rx_start_delay(rate));
    }
}

#[test]
fn overridden_spaces_are_used() {
    let mut phy = Phy::new(Standard::Dot11b, Preamble::Long);
    phy.slot = Span::from_us(50);
    phy.sifs = Span::from_us(28);
    assert_eq!(phy.difs(), Span::from_us(128));
    assert_eq!(phy.eifs(), Span::from_us(28 + 304 + 128));
}

#[test]
fn responses_use_the_highest_basic_rate_of_their_kind() {
    let responses =
        |phy: Phy| phy.rates().map(|(r, _)| phy.response_rate(r).bps() / 1_000).collect::<Vec<_>>();
    assert_eq!(responses(Phy::new(Standard::Fhss, Preamble::Long)), [1_000, 1_000], "2 Mb/s are an option");
    assert_eq!(responses(Phy::new(Standard::Dsss, Preamble::Long)), [1_000, 2_000]);
    assert_eq!(responses(Phy::new(Standard::Dot11b, Preamble::Long)), [1_000, 2_000, 2_000, 2_000]);
    let ofdm = [6_000, 6_000, 12_000, 12_000, 24_000, 24_000, 24_000, 24_000];
    assert_eq!(responses(Phy::new(Standard::Dot11a, Preamble::Long)), ofdm);
    // No basic rate has the kind of modulation of the frame: mandatory rates are used.
    let both = [1_000, 2_000, 5_500, 6_000, 6_000, 11_000, 12_000, 12_000, 24_000, 24_000, 24_000, 24_000];
    assert_eq!(responses(Phy::new(Standard::Dot11g, Preamble::Long)), both);
    assert_eq!(responses(Phy::mixed(Preamble::Long)), both);
}

#[test]
fn rates_of_another_phy_are_unknown() {
    let phy = Phy::new(Standard::Dot11b, Preamble::Long);
    assert_eq!(phy.modulation(Rate::from_kbps(54_000)), None);
    assert_eq!(phy.modulation(Rate::from_kbps(1_001)), None);
    assert_eq!(Phy::new(Standard::Dsss, Preamble::Long).modulation(Rate::from_kbps(11_000)), None);
    assert_eq!(Phy::new(Standard::Fhss, Preamble::Long).modulation(Rate::from_kbps(5_500)), None);
}

/// 17.2.2.3: a short preamble exists from 2 Mb/s on, and for direct sequence only.
#[test]
fn short_preambles_are_of_direct_sequence_from_2_mbps() {
    let of = |preamble, mbps: u64| {
        Phy::new(Standard::Dot11g, preamble).has_short_preamble(Rate::from_kbps(1_000 * mbps))
    };
    for (mbps, short) in [(1, false), (2, true), (11, true), (6, false), (54, false)] {
        assert_eq!(of(Preamble::Short, mbps), short, "{mbps} Mb/s");
        assert!(!of(Preamble::Long, mbps), "{mbps} Mb/s");
    }
}

/// Rates that all stations of a network have, in Mb/s: the mandatory ones of each PHY, and those of
/// 802.11-1999 for direct sequence.
#[test]
fn basic_rates_are_those_that_every_station_has() {
    let basic = |phy: Phy| phy.basic_rates().iter().map(|rate| rate.bps() / 100_000).collect::<Vec<_>>();
    let new = |standard| basic(Phy::new(standard, Preamble::Long));
    assert_eq!(new(Standard::Fhss), [10]);
    assert_eq!(new(Standard::Dsss), [10, 20]);
    assert_eq!(new(Standard::Dot11b), [10, 20]);
    assert_eq!(new(Standard::Dot11a), [60, 120, 240]);
    assert_eq!(new(Standard::Dot11g), [60, 120, 240]);
    assert_eq!(basic(Phy::mixed(Preamble::Long)), [10, 20, 55, 110]);
}

/// A slot grows by 3 us per coverage class.
#[test]
fn slots_grow_by_coverage_class() {
    for (class, us) in [(0, 9), (1, 12), (31, 102)] {
        let phy = Phy::new(Standard::Dot11a, Preamble::Long).with_coverage_class(class);
        assert_eq!((phy.slot, phy.standard()), (Span::from_us(us), Standard::Dot11a));
    }
}

/// 10.7.6.5: the highest of 6, 12 and 24 Mb/s that is not above the rate of 802.11a with the same modulation
/// and code (table 10-7).
#[test]
fn responses_to_schemes_go_at_basic_rates() {
    for standard in [Standard::Dot11n, Standard::Dot11ac, Standard::Dot11ax] {
        let phy = Phy::new(standard, Preamble::Long);
        let rates: Vec<u64> =
            (0..7).map(|scheme| phy.response_rate(Mcs { scheme, streams: 1 }).bps() / 1_000).collect();
        assert_eq!(rates, [6_000, 12_000, 12_000, 24_000, 24_000, 24_000, 24_000]);
        let references = [6, 12, 18, 24, 36, 48, 54, 54, 54, 54, 54, 54];
        for mcs in phy.schemes() {
            assert_eq!(mcs.non_ht_reference(), Rate::from_kbps(1_000 * references[usize::from(mcs.scheme)]));
        }
    }
}

/// HT has 8 schemes in each of four streams. VHT omits scheme 9 in 20 MHz except for 3 and 6 streams, and
/// schemes with a fraction of a bit per symbol (21.5). HE has all.
#[test]
fn schemes_are_those_of_the_tables() {
    let count = |standard, bandwidth| {
        let options = PpduOptions { bandwidth, ..PpduOptions::for_standard(standard) };
        Phy::new(standard, Preamble::Long).with_options(options).schemes().count()
    };
    assert_eq!(count(Standard::Dot11n, Bandwidth::Mhz20), 32);
    assert_eq!(count(Standard::Dot11n, Bandwidth::Mhz80), 0);
    assert_eq!(count(Standard::Dot11ac, Bandwidth::Mhz20), 80 - 6);
    assert_eq!(count(Standard::Dot11ac, Bandwidth::Mhz40), 80);
    assert_eq!(count(Standard::Dot11ax, Bandwidth::Mhz160), 96);
    assert_eq!(Phy::new(Standard::Dot11g, Preamble::Long).schemes().count(), 0);
}

/// VHT and HE put a delimiter of four bytes before a single frame, so that it lasts as long as a PSDU of four
/// bytes more.
#[test]
fn a_lone_frame_has_a_delimiter_from_vht_on() {
    for (standard, delimiter) in [(Standard::Dot11n, 0), (Standard::Dot11ac, 4), (Standard::Dot11ax, 4)] {
        let phy = Phy::new(standard, Preamble::Long);
        let timing = phy.timing(Mcs { scheme: 0, streams: 1 }, Microseconds::Up);
        for bytes in 14..2_000 {
            assert_eq!(timing.airtime(bytes), timing.psdu_airtime(bytes + delimiter), "{standard:?} {bytes}");
        }
    }
    let legacy = Phy::new(Standard::Dot11a, Preamble::Long).timing(Rate::from_kbps(6_000), Microseconds::Up);
    assert_eq!(legacy.airtime(1_500), legacy.psdu_airtime(1_500));
}
