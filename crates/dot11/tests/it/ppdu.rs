//! Airtimes of HT, VHT and HE, against numbers worked by hand from the clauses of IEEE 802.11-2016 and 802.11ax-2021, and against
//! figures of ns-3.

use multihop_core::{Rate, Span};
use multihop_dot11::{Band, Bandwidth, Clock, HePpdu, HtPpdu, Ppdu, Preamble, VhtPpdu};

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
    ppdu.airtime(bytes, Band::Other).unwrap().ns()
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

/// 1500 bytes are 12022 bits with service and tail: 47 symbols of 260 bits, after 20 + 8 + 4 + 4 us of preamble.
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

/// At 2.4 GHz 6 us of silence follow; clause 18 is clause 17 and the silence.
#[test]
fn the_silence_at_2_4_ghz() {
    let ofdm = Ppdu::Ofdm { rate: Rate::from_kbps(54_000), clock: Clock::Full };
    assert_eq!(ofdm.airtime(1528, Band::Other), Some(Span::from_us(248)));
    assert_eq!(ofdm.airtime(1528, Band::Ghz2_4), Some(Span::from_us(254)));
    assert_eq!(Ppdu::Ht(ht(7)).airtime(1500, Band::Ghz2_4), Some(Span::from_us(36 + 188 + 6)));
    let cck = Ppdu::Dsss { rate: Rate::from_kbps(11_000), preamble: Preamble::Short };
    assert_eq!(cck.airtime(14, Band::Ghz2_4), Some(Span::from_us(107)));
    let unknown = Ppdu::Dsss { rate: Rate::from_kbps(22_000), preamble: Preamble::Long };
    assert_eq!(unknown.airtime(14, Band::Ghz2_4), None);
}

/// 27 Mb/s at half the clock is 54 Mb/s at full clock, twice as long.
#[test]
fn slower_clocks() {
    let ofdm = |kbps, clock| Ppdu::Ofdm { rate: Rate::from_kbps(kbps), clock };
    assert_eq!(ns(ofdm(27_000, Clock::Half), 1528), 496_000);
    assert_eq!(ns(ofdm(1_500, Clock::Quarter), 14), 4 * 44_000);
    assert_eq!(ofdm(54_000, Clock::Half).airtime(14, Band::Other), None);
}

/// VHT at 80 MHz, MCS 9, one stream: 1560 bits a symbol. 3000 bytes are 24016 bits, 24022 with the tail.
#[test]
fn very_high_throughput_by_hand() {
    assert_eq!(ns(Ppdu::Vht(vht(9, 1, Bandwidth::Mhz80)), 3000), 40_000 + 16 * 4_000);
    let short = VhtPpdu { short_gi: true, ..vht(9, 1, Bandwidth::Mhz80) };
    assert_eq!(ns(Ppdu::Vht(short), 3000), 40_000 + 60_000, "57.6 us, up to a multiple of 4");
    let told = |extra| VhtPpdu { ldpc: true, ldpc_extra_symbol: Some(extra), ..vht(9, 1, Bandwidth::Mhz80) };
    assert_eq!(ns(Ppdu::Vht(told(true)), 3000), 40_000 + 17 * 4_000);
    assert_eq!(ns(Ppdu::Vht(told(false)), 3000), 40_000 + 16 * 4_000);
    assert_eq!(ns(Ppdu::Vht(vht(0, 8, Bandwidth::Mhz20)), 100), 68_000 + 4 * 4_000, "8 training symbols");
}

/// HE at 20 MHz, MCS 0, one stream: 117 bits a symbol of 13.6 us, after 36 us and one training symbol of 7.2 us.
#[test]
fn high_efficiency_by_hand() {
    let slow = he(0, 1, Bandwidth::Mhz20);
    assert_eq!(ns(Ppdu::He(slow), 100), 36_000 + 7_200 + 7 * 13_600);
    let extended = HePpdu { extended_range: true, ..slow };
    assert_eq!(ns(Ppdu::He(extended), 100), 44_000 + 7_200 + 7 * 13_600);
    let dual = HePpdu { dual_carrier: true, ..slow };
    assert_eq!(ns(Ppdu::He(dual), 100), 36_000 + 7_200 + 15 * 13_600, "816 bits, 58 a symbol");
}

/// What `WifiPhy::CalculateTxDuration` of ns-3 3.37 says of 4000 bytes, guard intervals of 0.8 us, at 5 GHz. It agrees for all
/// schemes, streams, widths and guard intervals of HT and HE, but that it does not round short symbols up in HT. Its VHT frames
/// to one user have no signal field B, which the standard gives them: 4 us are added here.
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
    let none = |ppdu: Ppdu| assert_eq!(ppdu.airtime(100, Band::Other), None, "{ppdu:?}");
    none(Ppdu::Ht(HtPpdu { stbc: 1, ..ht(31) }));
    none(Ppdu::Ht(HtPpdu { stbc: 2, extension_streams: 1, ..ht(15) }));
    none(Ppdu::Ht(HtPpdu { stbc: 255, extension_streams: 255, ..ht(255) }));
    none(Ppdu::Vht(VhtPpdu { stbc: true, ..vht(0, 5, Bandwidth::Mhz20) }));
    none(Ppdu::Vht(vht(0, 9, Bandwidth::Mhz20)));
    none(Ppdu::Vht(vht(0, 255, Bandwidth::Mhz20)));
    none(Ppdu::He(HePpdu { stbc: true, ..he(0, 255, Bandwidth::Mhz20) }));
    none(Ppdu::He(he(0, 9, Bandwidth::Mhz20)));
}

#[test]
fn the_longest_frames_that_a_caller_can_name_do_not_overflow() {
    let slow = [
        Ppdu::Fhss { rate: Rate::from_kbps(1_000) },
        Ppdu::Dsss { rate: Rate::from_kbps(1_000), preamble: Preamble::Long },
        Ppdu::Ofdm { rate: Rate::from_kbps(1_500), clock: Clock::Quarter },
        Ppdu::Ht(HtPpdu { ldpc: true, ..ht(0) }),
        Ppdu::Vht(VhtPpdu { ldpc: true, ..vht(0, 1, Bandwidth::Mhz20) }),
        Ppdu::He(he(0, 1, Bandwidth::Tones26)),
    ];
    for ppdu in slow {
        let (long, longer) = (ns(ppdu, u32::MAX / 2), ns(ppdu, u32::MAX));
        assert!(long < longer && longer < 3 * long, "{ppdu:?}");
    }
}

/// What precedes the MAC header, clause by clause; a space-time block code doubles the streams that are trained (table 21-18).
#[test]
fn the_overhead_is_preamble_and_signal_fields() {
    let us = |ppdu: Ppdu| ppdu.overhead().ns() / 1_000;
    assert_eq!(us(Ppdu::Dsss { rate: Rate::from_kbps(2_000), preamble: Preamble::Long }), 192);
    assert_eq!(us(Ppdu::Dsss { rate: Rate::from_kbps(2_000), preamble: Preamble::Short }), 96);
    assert_eq!(us(Ppdu::Ofdm { rate: Rate::from_kbps(3_000), clock: Clock::Half }), 40);
    assert_eq!(us(Ppdu::Ht(ht(7))), 36);
    assert_eq!(us(Ppdu::Vht(vht(0, 1, Bandwidth::Mhz80))), 20 + 8 + 4 + 4 + 4);
    let coded = |streams| VhtPpdu { stbc: true, ..vht(0, streams, Bandwidth::Mhz80) };
    assert_eq!(us(Ppdu::Vht(coded(1))), 20 + 8 + 4 + 4 * 2 + 4);
    assert_eq!(us(Ppdu::Vht(coded(2))), 20 + 8 + 4 + 4 * 4 + 4);
    assert!(us(Ppdu::He(he(0, 1, Bandwidth::Mhz20))) > 20 + 8);
}

/// 267 bytes are 2152 bits with the service field. A symbol of MCS 31 over 40 MHz has 2160: room for one tail of 6 bits, not for two.
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

/// At MCS 7, 1619 bytes fit into 50 symbols and 1622 need another (equations 19-37 to 19-41, worked in `ldpc.rs`), or two where symbols go in
/// pairs. At VHT's MCS 4 two full symbols have one word of 648 bits too many punctured, and three have not.
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
