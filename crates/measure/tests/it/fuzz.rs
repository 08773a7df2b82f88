//! Damaged captures: whatever the bytes, the result is a report or an error message, and both are small.

use crate::captures::gzip;
use crate::captures::mutation::{config, mutate, mutation, seeds};
use crate::frames::{A, B, FrameFormat, Packet, Receiver, ack, block_ack, data, file, written};
use crate::measure::{check, measure};
use multihop_core::Span;
use multihop_measure::{StampReference, SurveyOptions};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

/// The captures of `crates/capture`, and one with frames and their responses, A-MPDUs and damage.
fn captures() -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for n in 0..3_u16 {
        let at = 1_000 + 5_000 * u64::from(n);
        let mut add = |after, how, aggregate, bad, bytes| {
            packets.push(Packet { stamp_us: at + after, how, aggregate, bad, bytes });
        };
        add(0, FrameFormat::Rate(48), None, false, data(B, 100, 4 * n, false));
        add(40, FrameFormat::Rate(48), None, false, ack(A));
        for part in 1..4 {
            let aggregate = Some((n.into(), if part == 3 { 12 } else { 4 }));
            add(600, FrameFormat::Ht(7), aggregate, part == 2, data(B, 80, 4 * n + part, n == 1));
        }
        add(700, FrameFormat::Rate(48), None, false, block_ack());
        add(900, FrameFormat::Rate(2), None, n == 2, data(B, 60, 4 * n, true));
    }
    let mut all = seeds();
    all.push(file(&packets));
    let channel: fn(usize, u64) -> Option<(u16, u16)> =
        |number, _| Some((if number / 4 % 2 == 0 { 2_412 } else { 5_180 }, 0x140));
    let timer_us: fn(usize, u64) -> Option<u64> = |number, stamp| (number % 5 > 0).then_some(stamp);
    let receiver = Receiver {
        channel,
        timer_us,
        says_fcs: true,
        has_fcs: |number| number % 3 > 0,
        ..Receiver::default()
    };
    all.push(written(&packets, receiver));
    all
}

fn options() -> impl Strategy<Value = SurveyOptions> {
    let bin = prop_oneof![1_000..10_000_000_u64, Just(1_000), Just(1_000_000_000_000_000)];
    let stamp_reference = prop::sample::select(vec![
        None,
        Some(StampReference::Begin),
        Some(StampReference::Mpdu),
        Some(StampReference::End),
    ]);
    (bin, stamp_reference).prop_map(|(bin, stamp_reference)| SurveyOptions {
        bin: Span::from_ns(bin),
        stamp_reference,
        ..SurveyOptions::default()
    })
}

/// The corpus of the fuzz target `measure`.
fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/measure")
}

#[test]
fn the_corpus_is_measured() {
    let files = fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path());
    let count = files.map(|file| check(&fs::read(file).unwrap())).count();
    assert!(count >= 9, "{count} inputs");
}

/// Writes the seeds: `cargo test -p multihop-measure --test it fuzz:: -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_the_seeds() {
    for (n, file) in captures().into_iter().enumerate() {
        fs::write(corpus().join(format!("seed-{n}")), [vec![n as u8], file].concat()).unwrap();
    }
}

#[test]
fn the_captures_are_good() {
    let counts: Vec<u64> = captures().iter().map(|file| measure(file, &SurveyOptions::default())).collect();
    assert_eq!(counts, [3, 3, 2, 2, 1, 1, 3, 21, 21]);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn mutated_captures_give_a_report_or_a_sentence(
        seed in 0..11_usize,
        mutations in prop::collection::vec(mutation(), 1..8),
        options in options(),
    ) {
        // Captures built for this crate count twice.
        let mut file = captures().swap_remove(if seed < 9 { seed } else { seed - 2 });
        for mutation in &mutations {
            mutate(&mut file, mutation);
        }
        measure(&file, &options);
    }
}

/// A timer that jumps by years, with frames of the longest lengths, in the narrowest bins.
#[test]
fn lies_about_lengths_and_times_cost_no_memory_and_no_time() {
    let mut lying = file(&[Packet {
        stamp_us: 1_000,
        how: FrameFormat::Rate(2),
        aggregate: None,
        bad: false,
        bytes: data(B, 1_528, 1, false),
    }]);
    let record = lying.split_off(24);
    for n in 0..1_000_u32 {
        let mut again = record.clone();
        again[..4].copy_from_slice(&(n * 4_000_000).to_le_bytes());
        again[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        lying.extend(again);
    }
    let options = SurveyOptions { bin: Span::from_us(1), ..SurveyOptions::default() };
    assert_eq!(measure(&lying, &options), 1_000);
    assert_eq!(measure(&gzip(&lying), &options), 1_000);
}
