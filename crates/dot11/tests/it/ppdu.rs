//! Airtimes of HT, VHT and HE, against numbers worked by hand from the clauses of IEEE 802.11-2016 and
//! 802.11ax-2021, and against figures of ns-3.

use multihop_core::{Rate, Span};
use multihop_dot11::{Band, Bandwidth, HePpdu, HtPpdu, OfdmClock, Ppdu, Preamble, VhtPpdu};

fn ht(mcs: u8) -> HtPpdu {
    HtPpdu {
        mcs,
        bandwidth: Bandwidth::Mhz20,
        short_gi: false,
        greenfield: false,
        stbc: 0,
        ldpc: false,
        extension_streams: 0,
    }
}

fn vht(mcs: u8, streams: u8, bandwidth: Bandwidth) -> VhtPpdu {
    VhtPpdu { mcs, streams, bandwidth, short_gi: false, stbc: false, ldpc: false, ldpc_extra_symbol: None }
}

fn he(mcs: u8, streams: u8, bandwidth: Bandwidth) -> HePpdu {
    HePpdu {
        mcs,
        streams,
        bandwidth,
        guard: Span::from_ns(800),
        training: Span::from_ns(6_400),
        extended_range: false,
        dual_carrier: false,
        stbc: false,
        ldpc: true,
    }
}

fn kbps(ppdu: Ppdu) -> Option<u64> {
    ppdu.rate().map(|rate| rate.bps() / 1_000)
}

fn ns(ppdu: Ppdu, bytes: u32) -> u64 {
    ppdu.airtime(bytes, Band::Ghz5).unwrap().ns()
}

/// Tables 19-27, 19-31 to 19-36, 21-30 and following, 27-55 and following.
#[test]
fn rates_are_those_of_the_tables() {
    assert_eq!(kbps(Ppdu::Ht(ht(0))), Some(6_500));
    assert_eq!(kbps(Ppdu::Ht(ht(7))), Some(65_000));
    assert_eq!(kbps(Ppdu::Ht(ht(31))), Some(260_000));
    let wide = |mcs| HtPpdu { bandwidth: Bandwidth::Mhz40, short_gi: true, ..ht(mcs) };
    assert_eq!(kbps(Ppdu::Ht(wide(7))), Some(150_000));
    assert_eq!(kbps(Ppdu::Ht(wide(15))), Some(300_000));
    assert_eq!(kbps(Ppdu::Ht(HtPpdu { short_gi: false, ..wide(32) })), Some(6_000));
    assert_eq!(kbps(Ppdu::Ht(ht(32))), None, "only over 40 MHz");
    assert_eq!(kbps(Ppdu::Ht(wide(33))), None);
    assert_eq!(kbps(Ppdu::Vht(vht(8, 1, Bandwidth::Mhz20))), Some(78_000));
    assert_eq!(kbps(Ppdu::Vht(vht(9, 1, Bandwidth::Mhz20))), None, "a fraction of a bit");
    assert_eq!(kbps(Ppdu::Vht(vht(9, 3, Bandwidth::Mhz20))), Some(260_000));
    assert_eq!(kbps(Ppdu::Vht(vht(9, 2, Bandwidth::Mhz80))), Some(780_000));
    assert_eq!(kbps(Ppdu::Vht(vht(9, 1, Bandwidth::Mhz160))), Some(780_000));
    assert_eq!(kbps(Ppdu::Vht(vht(0, 0, Bandwidth::Mhz80))), None);
    assert_eq!(kbps(Ppdu::Vht(vht(10, 1, Bandwidth::Mhz80))), None);
    assert_eq!(kbps(Ppdu::He(he(0, 1, Bandwidth::Mhz20))), Some(8_602));
    assert_eq!(kbps(Ppdu::He(he(11, 2, Bandwidth::Mhz80))), Some(1_200_955), "1201 Mb/s");
}

/// 1500 bytes are 12022 bits with service and tail: 47 symbols of 260 bits, after 20 + 8 + 4 + 4 us of
/// preamble.
#[test]
fn high_throughput_by_hand() {
    assert_eq!(ns(Ppdu::Ht(ht(7)), 1500), 36_000 + 47 * 4_000);
    let short = HtPpdu { short_gi: true, ..ht(7) };
    assert_eq!(ns(Ppdu::Ht(short), 1500), 36_000 + 172_000, "169.2 us, up to a multiple of 4");
    let greenfield = HtPpdu { greenfield: true, ..short };
    assert_eq!(ns(Ppdu::Ht(greenfield), 1500), 24_000 + 169_200);
    assert_eq!(ns(Ppdu::Ht(ht(15)), 1500), 40_000 + 24 * 4_000, "two streams: one more training symbol");
    assert_eq!(ns(Ppdu::Ht(HtPpdu { stbc: 1, ..ht(7) }), 1500), 40_000 + 48 * 4_000, "symbols in pairs");
    let sounding = HtPpdu { extension_streams: 3, ..ht(0) };
    assert_eq!(ns(Ppdu::Ht(sounding), 0), 36_000 + 16_000 + 4_000);
    let fast = HtPpdu { bandwidth: Bandwidth::Mhz40, ..ht(31) };
    assert_eq!(ns(Ppdu::Ht(fast), 4_047 / 8), 48_000 + 8_000, "4040 + 16 + 2 * 6 bits, 2160 a symbol");
}

/// At 2.4 GHz a signal extension of 6 us follows; clause 18 is clause 17 with the extension.
#[test]
fn the_silence_at_2_4_ghz() {
    let ofdm = Ppdu::Ofdm { rate: Rate::from_kbps(54_000), clock: OfdmClock::Full };
    assert_eq!(ofdm.airtime(1528, Band::Ghz5), Some(Span::from_us(248)));
    assert_eq!(ofdm.airtime(1528, Band::Ghz2_4), Some(Span::from_us(254)));
    assert_eq!(Ppdu::Ht(ht(7)).airtime(1500, Band::Ghz2_4), Some(Span::from_us(36 + 188 + 6)));
    let cck = Ppdu::Dsss { rate: Rate::from_kbps(11_000), preamble: Preamble::Short };
    assert_eq!(cck.airtime(14, Band::Ghz2_4), Some(Span::from_us(107)));
    let unknown = Ppdu::Dsss { rate: Rate::from_kbps(22_000), preamble: Preamble::Long };
    assert_eq!(unknown.airtime(14, Band::Ghz2_4), None);
}

/// 27 Mb/s at half clock is 54 Mb/s at full clock, twice as long.
#[test]
fn slower_clocks() {
    let ofdm = |kbps, clock| Ppdu::Ofdm { rate: Rate::from_kbps(kbps), clock };
    assert_eq!(ns(ofdm(27_000, OfdmClock::Half), 1528), 496_000);
    assert_eq!(ns(ofdm(1_500, OfdmClock::Quarter), 14), 4 * 44_000);
    assert_eq!(ofdm(54_000, OfdmClock::Half).airtime(14, Band::Ghz5), None);
}

/// VHT at 80 MHz, MCS 9, one stream: 1560 bits a symbol. 3000 bytes are 24016 bits, 24022 with the tail.
#[test]
fn very_high_throughput_by_hand() {
    assert_eq!(ns(Ppdu::Vht(vht(9, 1, Bandwidth::Mhz80)), 3000), 40_000 + 16 * 4_000);
    let short = VhtPpdu { short_gi: true, ..vht(9, 1, Bandwidth::Mhz80) };
    assert_eq!(ns(Ppdu::Vht(short), 3000), 40_000 + 60_000, "57.6 us, up to a multiple of 4");
    let with_extra =
        |extra| VhtPpdu { ldpc: true, ldpc_extra_symbol: Some(extra), ..vht(9, 1, Bandwidth::Mhz80) };
    assert_eq!(ns(Ppdu::Vht(with_extra(true)), 3000), 40_000 + 17 * 4_000);
    assert_eq!(ns(Ppdu::Vht(with_extra(false)), 3000), 40_000 + 16 * 4_000);
    assert_eq!(ns(Ppdu::Vht(vht(0, 8, Bandwidth::Mhz20)), 100), 68_000 + 4 * 4_000, "8 training symbols");
}

/// HE at 20 MHz, MCS 0, one stream: 117 bits a symbol of 13.6 us, after 36 us and one training symbol of 7.2
/// us.
#[test]
fn high_efficiency_by_hand() {
    let slow = he(0, 1, Bandwidth::Mhz20);
    assert_eq!(ns(Ppdu::He(slow), 100), 36_000 + 7_200 + 7 * 13_600);
    let extended = HePpdu { extended_range: true, ..slow };
    assert_eq!(ns(Ppdu::He(extended), 100), 44_000 + 7_200 + 7 * 13_600);
    let dual = HePpdu { dual_carrier: true, ..slow };
    assert_eq!(ns(Ppdu::He(dual), 100), 36_000 + 7_200 + 15 * 13_600, "816 bits, 58 a symbol");
}

/// Values of `WifiPhy::CalculateTxDuration` of ns-3 3.37 for 4000 bytes, guard intervals of 0.8 us, at 5 GHz.
/// It agrees for all schemes, streams, widths and guard intervals of HT and HE, except that it does not round
/// short symbols up in HT. Its single-user VHT frames have no signal field B, which the standard requires: 4
/// us are added here.
#[test]
fn figures_of_ns3() {
    let high = [
        (3, Bandwidth::Mhz20, 1_268_000),
        (3, Bandwidth::Mhz40, 632_000),
        (12, Bandwidth::Mhz20, 452_000),
        (12, Bandwidth::Mhz40, 240_000),
        (23, Bandwidth::Mhz20, 216_000),
        (23, Bandwidth::Mhz40, 128_000),
        (31, Bandwidth::Mhz20, 172_000),
        (31, Bandwidth::Mhz40, 108_000),
    ];
    for (mcs, bandwidth, expected) in high {
        assert_eq!(ns(Ppdu::Ht(HtPpdu { bandwidth, ..ht(mcs) }), 4_000), expected, "HT {mcs}, {bandwidth:?}");
    }
    let very_high = [
        (0, 8, Bandwidth::Mhz20, 680_000),
        (8, 2, Bandwidth::Mhz40, 140_000),
        (9, 1, Bandwidth::Mhz80, 120_000),
        (9, 4, Bandwidth::Mhz160, 60_000),
    ];
    for (mcs, streams, bandwidth, expected) in very_high {
        assert_eq!(
            ns(Ppdu::Vht(vht(mcs, streams, bandwidth)), 4_000),
            expected + 4_000,
            "VHT {mcs}, {streams}"
        );
    }
    // Guard intervals of 1.6 us here, and training of 8 us with its guard interval.
    let efficient = [
        (0, 1, Bandwidth::Mhz20, 3_989_600),
        (4, 4, Bandwidth::Mhz20, 240_800),
        (5, 2, Bandwidth::Mhz40, 181_600),
        (9, 1, Bandwidth::Mhz80, 116_000),
        (11, 8, Bandwidth::Mhz160, 114_400),
    ];
    for (mcs, streams, bandwidth, expected) in efficient {
        let ppdu = HePpdu { guard: Span::from_ns(1_600), ldpc: false, ..he(mcs, streams, bandwidth) };
        assert_eq!(ns(Ppdu::He(ppdu), 4_000), expected, "HE {mcs}, {streams}");
    }
}

#[test]
fn more_streams_than_antennas_do_not_exist() {
    let none = |ppdu: Ppdu| assert_eq!(ppdu.airtime(100, Band::Ghz5), None, "{ppdu:?}");
    none(Ppdu::Ht(HtPpdu { stbc: 1, ..ht(31) }));
    none(Ppdu::Ht(HtPpdu { stbc: 2, extension_streams: 1, ..ht(15) }));
    none(Ppdu::Ht(HtPpdu { stbc: 255, extension_streams: 255, ..ht(255) }));
    none(Ppdu::Vht(VhtPpdu { stbc: true, ..vht(0, 5, Bandwidth::Mhz20) }));
    none(Ppdu::Vht(vht(0, 9, Bandwidth::Mhz20)));
    none(Ppdu::Vht(vht(0, 255, Bandwidth::Mhz20)));
    none(Ppdu::He(HePpdu { stbc: true, ..he(0, 255, Bandwidth::Mhz20) }));
    none(Ppdu::He(he(0, 9, Bandwidth::Mhz20)));
    none(Ppdu::He(HePpdu { stbc: true, ..he(0, 10, Bandwidth::Mhz20) }));
}

#[test]
fn the_longest_frames_that_a_caller_can_name_do_not_overflow() {
    let slow = [
        Ppdu::Fhss { rate: Rate::from_kbps(1_000) },
        Ppdu::Dsss { rate: Rate::from_kbps(1_000), preamble: Preamble::Long },
        Ppdu::Ofdm { rate: Rate::from_kbps(1_500), clock: OfdmClock::Quarter },
        Ppdu::Ht(HtPpdu { ldpc: true, ..ht(0) }),
        Ppdu::Vht(VhtPpdu { ldpc: true, ..vht(0, 1, Bandwidth::Mhz20) }),
        Ppdu::He(he(0, 1, Bandwidth::Tones26)),
    ];
    for ppdu in slow {
        let (long, longer) = (ns(ppdu, u32::MAX / 2), ns(ppdu, u32::MAX));
        assert!(long < longer && longer < 3 * long, "{ppdu:?}");
    }
}

/// Duration before the MAC header, clause by clause. A space-time block code doubles the streams that are
/// trained (table 21-18).
#[test]
fn the_overhead_is_preamble_and_signal_fields() {
    let us = |ppdu: Ppdu| ppdu.overhead().ns() / 1_000;
    assert_eq!(us(Ppdu::Dsss { rate: Rate::from_kbps(2_000), preamble: Preamble::Long }), 192);
    assert_eq!(us(Ppdu::Dsss { rate: Rate::from_kbps(2_000), preamble: Preamble::Short }), 96);
    assert_eq!(us(Ppdu::Ofdm { rate: Rate::from_kbps(3_000), clock: OfdmClock::Half }), 40);
    assert_eq!(us(Ppdu::Ht(ht(7))), 36);
    assert_eq!(us(Ppdu::Vht(vht(0, 1, Bandwidth::Mhz80))), 20 + 8 + 4 + 4 + 4);
    let coded = |streams| VhtPpdu { stbc: true, ..vht(0, streams, Bandwidth::Mhz80) };
    assert_eq!(us(Ppdu::Vht(coded(1))), 20 + 8 + 4 + 4 * 2 + 4);
    assert_eq!(us(Ppdu::Vht(coded(2))), 20 + 8 + 4 + 4 * 4 + 4);
    assert!(us(Ppdu::He(he(0, 1, Bandwidth::Mhz20))) > 20 + 8);
}

/// 267 bytes are 2152 bits with the service field. A symbol of MCS 31 over 40 MHz has 2160: room for one tail
/// of 6 bits, not for two.
#[test]
fn two_encoders_have_two_tails() {
    let fast = Ppdu::Ht(HtPpdu { bandwidth: Bandwidth::Mhz40, ..ht(31) });
    assert_eq!(ns(fast, 266), 48_000 + 4_000);
    assert_eq!(ns(fast, 267), 48_000 + 8_000);
}

/// A space-time block code sends the bits of one stream over two.
#[test]
fn half_of_the_streams_of_he_carry_bits_where_they_are_coded() {
    for (streams, carrying) in [(2, 1), (4, 2)] {
        let coded = Ppdu::He(HePpdu { stbc: true, ..he(5, streams, Bandwidth::Mhz20) });
        assert_eq!(kbps(coded), kbps(Ppdu::He(he(5, carrying, Bandwidth::Mhz20))));
    }
}

/// At MCS 7, 1619 bytes fit into 50 symbols and 1622 need another (equations 19-37 to 19-41, worked in
/// `ldpc.rs`), or two where symbols go in pairs. At VHT's MCS 4 two full symbols have one word of 648 bits
/// too many punctured, and three have not.
#[test]
fn punctured_words_are_sent_longer() {
    let coded = HtPpdu { ldpc: true, ..ht(7) };
    assert_eq!(ns(Ppdu::Ht(coded), 1_619), 36_000 + 50 * 4_000);
    assert_eq!(ns(Ppdu::Ht(coded), 1_622), 36_000 + 51 * 4_000);
    assert_eq!(ns(Ppdu::Ht(HtPpdu { stbc: 1, ..coded }), 1_622), 40_000 + 52 * 4_000);
    let vht = Ppdu::Vht(VhtPpdu { ldpc: true, ..vht(4, 1, Bandwidth::Mhz20) });
    assert_eq!(ns(vht, 37), 40_000 + 3 * 4_000);
    assert_eq!(ns(vht, 56), 40_000 + 3 * 4_000);
}

#[test]
fn he_ends_at_mcs_11_and_eight_streams() {
    assert!(kbps(Ppdu::He(he(11, 8, Bandwidth::Mhz20))).is_some());
    assert_eq!(kbps(Ppdu::He(he(12, 8, Bandwidth::Mhz20))), None);
    assert_eq!(kbps(Ppdu::He(he(11, 9, Bandwidth::Mhz20))), None);
}

/// Mb/s of one stream at long guard intervals (tables 19-27, 19-31, 21-30, 21-38, 21-46 and 21-54), in kb/s.
const STREAM_20: [u64; 9] = [6_500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000, 78_000];
const STREAM_40: [u64; 10] =
    [13_500, 27_000, 40_500, 54_000, 81_000, 108_000, 121_500, 135_000, 162_000, 180_000];
const STREAM_80: [u64; 10] =
    [29_250, 58_500, 87_750, 117_000, 175_500, 234_000, 263_250, 292_500, 351_000, 390_000];
/// Code rates of these schemes.
const CODES: [(u64, u64); 10] =
    [(1, 2), (1, 2), (3, 4), (1, 2), (3, 4), (2, 3), (3, 4), (5, 6), (3, 4), (5, 6)];
/// Long training symbols by space-time streams (tables 19-13, 21-13).
const TRAINING: [u64; 8] = [1, 2, 4, 4, 6, 6, 8, 8];

fn sizes() -> impl Iterator<Item = u64> {
    (0..300).chain((300..4_000).step_by(37)).chain([65_535])
}

/// Number of symbols by equations 19-32 and 21-62 with convolutional codes: blocks of `block` symbols of
/// `bits` bits each.
fn convolutional(bytes: u64, encoders: u64, bits: u64, block: u64) -> u64 {
    (16 + 8 * bytes + 6 * encoders).div_ceil(bits * block) * block
}

/// Whether an extra symbol is sent. Table 19-16 and equations 19-37 to 19-41, in real numbers; `payload` and
/// `available` are `N_pld` and `N_avbits`.
fn more_by_ldpc(payload: u64, available: u64, (k, n): (u64, u64)) -> bool {
    let (payload, available, rate) = (payload as f64, available as f64, k as f64 / n as f64);
    let exceeds = |more: f64, less: f64| more > less + 1e-6;
    let has_room = |bits: f64| !exceeds(payload + bits * (1.0 - rate), available);
    let (words, length) = if available <= 648.0 {
        (1.0, if has_room(912.0) { 1_296.0 } else { 648.0 })
    } else if available <= 1_296.0 {
        (1.0, if has_room(1_464.0) { 1_944.0 } else { 1_296.0 })
    } else if available <= 1_944.0 {
        (1.0, 1_944.0)
    } else if available <= 2_592.0 {
        (2.0, if has_room(2_916.0) { 1_944.0 } else { 1_296.0 })
    } else {
        ((payload / (1_944.0 * rate) - 1e-9).ceil(), 1_944.0)
    };
    let shortened = (words * length * rate - payload).max(0.0);
    let punctured = (words * length - available - shortened).max(0.0);
    let parity = words * length * (1.0 - rate);
    (exceeds(punctured, 0.1 * parity) && exceeds(1.2 * punctured * rate / (1.0 - rate), shortened))
        || exceeds(punctured, 0.3 * parity)
}

/// Whether the tested cases include both outcomes of the rule above.
#[derive(Default)]
struct Both {
    more: u64,
    no_more: u64,
}

impl Both {
    fn count(&mut self, more: bool) -> u64 {
        if more {
            self.more += 1;
        } else {
            self.no_more += 1;
        }
        u64::from(more)
    }
}

/// 19.4.3: every scheme of one to four streams, in both widths and formats, with all guard intervals and
/// codes.
#[test]
fn high_throughput_takes_what_its_rate_says() {
    let mut both = Both::default();
    for (mcs, scheme) in (0..32).map(|mcs: u8| (mcs, usize::from(mcs % 8))) {
        let streams = u64::from(mcs / 8 + 1);
        for (bandwidth, one) in [(Bandwidth::Mhz20, STREAM_20[scheme]), (Bandwidth::Mhz40, STREAM_40[scheme])]
        {
            let rate = one * streams;
            let bits = rate * 4 / 1_000;
            for stbc in 0..=(4 - streams).min(2) as u8 {
                let block = if stbc == 0 { 1 } else { 2 };
                let trained = TRAINING[usize::from(mcs / 8 + stbc)];
                for bytes in sizes() {
                    let plain = convolutional(bytes, if rate > 300_000 { 2 } else { 1 }, bits, block);
                    let blocks = (16 + 8 * bytes).div_ceil(bits * block) * block;
                    let (k, n) = CODES[scheme];
                    let more = more_by_ldpc(16 + 8 * bytes, blocks * bits * n / k, (k, n));
                    let dense = blocks + block * both.count(more);
                    for (ldpc, symbols) in [(false, plain), (true, dense)] {
                        let long = HtPpdu { bandwidth, stbc, ldpc, ..ht(mcs) };
                        let short = HtPpdu { short_gi: true, ..long };
                        let mixed = 32_000 + 4_000 * trained;
                        let greenfield = 20_000 + 4_000 * trained;
                        let name = format!("{long:?}, {bytes} bytes");
                        let of = |ppdu: HtPpdu| ns(Ppdu::Ht(ppdu), bytes as u32);
                        assert_eq!(of(long), mixed + 4_000 * symbols, "{name}");
                        let rounded = (3_600 * symbols).div_ceil(4_000) * 4_000;
                        assert_eq!(of(short), mixed + rounded, "{name}");
                        let green = |ppdu| HtPpdu { greenfield: true, ..ppdu };
                        assert_eq!(of(green(long)), greenfield + 4_000 * symbols, "{name}");
                        assert_eq!(of(green(short)), greenfield + 3_600 * symbols, "{name}");
                    }
                }
            }
            assert_eq!(kbps(Ppdu::Ht(HtPpdu { bandwidth, ..ht(mcs) })), Some(rate));
            let short = HtPpdu { bandwidth, short_gi: true, ..ht(mcs) };
            assert_eq!(kbps(Ppdu::Ht(short)), Some(rate * 10 / 9));
        }
    }
    assert!(both.more > 1_000 && both.no_more > 1_000);
}

/// Encoders by the tables of 21.5: one for every 540 Mb/s, except for the schemes listed here, where the bits
/// of a symbol could not be shared equally.
fn vht_encoders(bandwidth: Bandwidth, streams: u8, mcs: u8, kbps: u64) -> u64 {
    match (bandwidth, streams, mcs) {
        (Bandwidth::Mhz80, 7, 2) => 3,
        (Bandwidth::Mhz160, 7, 3) => 4,
        (Bandwidth::Mhz80, 7, 7 | 8)
        | (Bandwidth::Mhz80, 8, 7)
        | (Bandwidth::Mhz160, 4, 7)
        | (Bandwidth::Mhz160, 7, 4) => 6,
        (Bandwidth::Mhz160, 5, 8) | (Bandwidth::Mhz160, 6, 7) => 8,
        (Bandwidth::Mhz160, 7, 7) => 9,
        (Bandwidth::Mhz160, 7, 8 | 9) => 12,
        _ => kbps.div_ceil(540_000),
    }
}

/// 21.4.3: every scheme of one to eight streams.
#[test]
fn very_high_throughput_takes_what_its_rate_says() {
    let mut both = Both::default();
    let widths = [
        (Bandwidth::Mhz20, &STREAM_20[..], 1),
        (Bandwidth::Mhz40, &STREAM_40[..], 1),
        (Bandwidth::Mhz80, &STREAM_80[..], 1),
        (Bandwidth::Mhz160, &STREAM_80[..], 2),
    ];
    for ((bandwidth, table, wider), streams) in
        widths.into_iter().flat_map(|width| (1..=8).map(move |streams: u8| (width, streams)))
    {
        for (mcs, one) in (0..).zip(table) {
            let rate = one * wider * u64::from(streams);
            let bits = rate * 4 / 1_000;
            let (k, n) = CODES[usize::from(mcs)];
            for bytes in sizes().step_by(5) {
                let stbc = streams <= 4 && bytes % 2 == 1;
                let (block, spatial) = if stbc { (2, 2 * streams) } else { (1, streams) };
                let blocks = (16 + 8 * bytes).div_ceil(bits * block) * block;
                let more = more_by_ldpc(blocks * bits, blocks * bits * n / k, (k, n));
                let dense = blocks + block * both.count(more);
                let plain = convolutional(bytes, vht_encoders(bandwidth, streams, mcs, rate), bits, block);
                for (ldpc, symbols) in [(false, plain), (true, dense)] {
                    let long = VhtPpdu { stbc, ldpc, ..vht(mcs, streams, bandwidth) };
                    let preamble = 36_000 + 4_000 * TRAINING[usize::from(spatial) - 1];
                    let name = format!("{long:?}, {bytes} bytes");
                    let of = |ppdu: VhtPpdu| ns(Ppdu::Vht(ppdu), bytes as u32);
                    assert_eq!(of(long), preamble + 4_000 * symbols, "{name}");
                    let rounded = (3_600 * symbols).div_ceil(4_000) * 4_000;
                    assert_eq!(of(VhtPpdu { short_gi: true, ..long }), preamble + rounded, "{name}");
                }
            }
            assert_eq!(kbps(Ppdu::Vht(vht(mcs, streams, bandwidth))), Some(rate));
        }
    }
    assert!(both.more > 100 && both.no_more > 100);
}

/// 27.4.3: carriers of data by width, bits of a carrier by scheme, and symbols of 12.8 us with their guard
/// interval.
#[test]
fn high_efficiency_takes_what_its_carriers_hold() {
    let widths = [
        (Bandwidth::Tones26, 24),
        (Bandwidth::Tones52, 48),
        (Bandwidth::Tones106, 102),
        (Bandwidth::Mhz20, 234),
        (Bandwidth::Mhz40, 468),
        (Bandwidth::Mhz80, 980),
        (Bandwidth::Mhz160, 1_960),
    ];
    let bits_of = [1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10];
    let codes = [CODES.as_slice(), &[(3, 4), (5, 6)]].concat();
    for ((bandwidth, carriers), streams) in
        widths.into_iter().flat_map(|width| (1..=8).map(move |streams: u8| (width, streams)))
    {
        for (mcs, (bits, (k, n))) in (0..).zip(bits_of.into_iter().zip(codes.clone())) {
            for (guard, training) in [(800, 3_200), (1_600, 6_400), (3_200, 12_800)] {
                let data_bits = carriers * bits * u64::from(streams) * k / n;
                let plain = HePpdu {
                    guard: Span::from_ns(guard),
                    training: Span::from_ns(training),
                    ldpc: false,
                    ..he(mcs, streams, bandwidth)
                };
                let symbol = 12_800 + guard;
                let trained = TRAINING[usize::from(streams) - 1] * (training + guard);
                for bytes in sizes().step_by(7) {
                    for (ldpc, tail) in [(false, 6), (true, 0)] {
                        let ppdu = HePpdu { ldpc, ..plain };
                        let symbols = (16 + 8 * bytes + tail).div_ceil(data_bits);
                        let expected = 36_000 + trained + symbol * symbols;
                        assert_eq!(ns(Ppdu::He(ppdu), bytes as u32), expected, "{ppdu:?}, {bytes} bytes");
                    }
                }
                assert_eq!(
                    Ppdu::He(plain).rate(),
                    Some(Rate::from_bps(data_bits * 1_000_000_000 / symbol)),
                    "{plain:?}"
                );
            }
        }
    }
    // Symbols go in pairs with space-time block coding: 16 + 8 * 27 + 6 bits are three symbols of 117.
    let coded = HePpdu { stbc: true, ldpc: false, ..he(0, 2, Bandwidth::Mhz20) };
    assert_eq!(ns(Ppdu::He(coded), 27), 36_000 + 14_400 + 4 * 13_600);
}

/// Four antennas at most in HT, eight space-time streams in VHT and HE: all of them are used.
#[test]
fn as_many_streams_as_antennas_exist() {
    let some = |ppdu: Ppdu| assert!(ppdu.airtime(100, Band::Ghz5).is_some(), "{ppdu:?}");
    some(Ppdu::Ht(HtPpdu { stbc: 2, ..ht(15) }));
    some(Ppdu::Ht(HtPpdu { stbc: 1, extension_streams: 1, ..ht(15) }));
    some(Ppdu::Ht(HtPpdu { extension_streams: 3, ..ht(7) }));
    some(Ppdu::Vht(VhtPpdu { stbc: true, ..vht(0, 4, Bandwidth::Mhz20) }));
    let duplicate = HtPpdu { bandwidth: Bandwidth::Mhz40, ..ht(32) };
    some(Ppdu::Ht(HtPpdu { extension_streams: 3, ..duplicate }));
    assert_eq!(Ppdu::Ht(HtPpdu { bandwidth: Bandwidth::Mhz80, ..ht(0) }).rate(), None);
    assert_eq!(Ppdu::Vht(vht(0, 1, Bandwidth::Tones26)).rate(), None);
    // 19.3.9.4.6: extension streams have 1, 2 or 4 training symbols.
    for (extension_streams, symbols) in [(0, 0), (1, 1), (2, 2), (3, 4)] {
        let ppdu = Ppdu::Ht(HtPpdu { extension_streams, ..ht(0) });
        assert_eq!(ppdu.overhead(), Span::from_us(36 + 4 * symbols));
    }
    assert_eq!(Ppdu::Fhss { rate: Rate::from_kbps(2_000) }.overhead(), Span::from_us(128));
}
