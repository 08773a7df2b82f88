//! Every PPDU of HT, VHT and HE of ns-3.37, in 20 lengths, against `validation/ns3/durations.txt`, which
//! `durations.cc` generates.
//!
//! The preambles of two formats in ns-3 deviate from the standard, by the differences added here. Its
//! single-user VHT PPDUs have no signal field B (802.11-2016, 21.3.4). Its HE PPDUs have long training
//! symbols of 8 us, whatever the guard interval (802.11ax-2021, 27.3.4). Where a symbol would carry a
//! fraction of a bit, the standard drops the fraction (27.3.12.5.1), whereas ns-3 counts it and sometimes
//! needs a symbol less.

use multihop_dot11::{Band, Bandwidth, GuardInterval, HePpdu, HtPpdu, Mcs, Phy, Ppdu, PpduOptions, Preamble};
use multihop_dot11::{Standard, VhtPpdu};
use std::fs;

/// One line of the file: a PPDU, and its excess over the airtime in ns-3 in nanoseconds.
struct Case {
    ppdu: Ppdu,
    known: Phy,
    mcs: Mcs,
    longer_ns: i64,
}

fn case(format: &str, [width, guard, streams, scheme]: [u64; 4]) -> Case {
    let bandwidth = match width {
        20 => Bandwidth::Mhz20,
        40 => Bandwidth::Mhz40,
        80 => Bandwidth::Mhz80,
        _ => Bandwidth::Mhz160,
    };
    let gaps = [GuardInterval::Ns400, GuardInterval::Ns800, GuardInterval::Ns1600, GuardInterval::Ns3200];
    let gap = gaps.into_iter().find(|gap| gap.span().ns() == guard).expect("a guard interval");
    let (short_gi, mcs) = (guard == 400, Mcs { streams: streams as u8, scheme: scheme as u8 });
    // Odd numbers of streams from three on have one more training symbol (table 21-13).
    let training_symbols = if streams > 2 { streams.next_multiple_of(2) as i64 } else { streams as i64 };
    let training: i64 = if guard == 3_200 { 12_800 } else { 6_400 };
    let (standard, ppdu, longer_ns) = match format {
        "HT" => {
            let mcs = 8 * (mcs.streams - 1) + mcs.scheme;
            let ht = HtPpdu {
                mcs,
                bandwidth,
                short_gi,
                greenfield: false,
                stbc: 0,
                ldpc: false,
                extension_streams: 0,
            };
            (Standard::Dot11n, Ppdu::Ht(ht), 0)
        }
        "VHT" => {
            let vht = VhtPpdu {
                mcs: mcs.scheme,
                streams: mcs.streams,
                bandwidth,
                short_gi,
                stbc: false,
                ldpc: false,
                ldpc_extra_symbol: None,
            };
            (Standard::Dot11ac, Ppdu::Vht(vht), 4_000)
        }
        _ => {
            let he = HePpdu {
                mcs: mcs.scheme,
                streams: mcs.streams,
                bandwidth,
                guard: gap.span(),
                training: multihop_core::Span::from_ns(training.cast_unsigned()),
                extended_range: false,
                dual_carrier: false,
                stbc: false,
                ldpc: false,
            };
            (Standard::Dot11ax, Ppdu::He(he), training_symbols * (training + guard as i64 - 8_000))
        }
    };
    let options = PpduOptions { bandwidth, guard: gap, ..PpduOptions::for_standard(standard) };
    Case { ppdu, known: Phy::new(standard, Preamble::Long).with_options(options), mcs, longer_ns }
}

/// FNV-1a hash, as in `durations.cc`.
fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(2_166_136_261, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619))
}

#[test]
fn all_are_as_long_as_in_ns3() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/ns3/durations.txt");
    let facts = fs::read_to_string(path).expect("facts of ns-3");
    let (mut lengths, mut seen, mut wrong) = (Vec::new(), 0, Vec::new());
    for line in facts.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().expect("a number");
        if words[0] == "lengths" {
            lengths = (2..words.len()).map(number).collect();
            continue;
        }
        let Case { ppdu, known, mcs, longer_ns } = case(words[0], [1, 2, 3, 4].map(number));
        assert!(known.ppdu(mcs).is_some(), "{line}: unknown here");
        let durations = lengths.iter().map(|bytes| {
            let ours = ppdu.airtime(*bytes as u32, Band::Ghz5).expect("it exists").ns();
            format!("{} ", ours.cast_signed() - longer_ns)
        });
        let all: String = durations.collect();
        if format!("{:x}", fnv1a(&all)) != words[5] {
            let [width, streams, scheme] = [1, 3, 4].map(number);
            let fraction = words[0] == "HE" && width >= 80 && matches!(scheme, 9 | 11) && streams % 3 > 0;
            wrong.push((format!("{line}, here {all}"), fraction));
        }
        seen += 1;
    }
    let unexplained: Vec<_> = wrong.iter().filter(|(_, fraction)| !fraction).collect();
    assert!(unexplained.is_empty(), "{} of {seen}: {unexplained:#?}", unexplained.len());
    assert_eq!(wrong.len(), 9, "with a fraction of a bit");
    assert_eq!(seen, 128 + 620 + 1_152);
}
