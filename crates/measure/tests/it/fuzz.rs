//! Damaged captures: whatever the bytes, there is a report or a sentence, and both are small.

use crate::captures::gzip;
use crate::captures::mutation::{config, mutate, mutation, seeds};
use crate::frames::{A, B, How, Packet, Receiver, ack, block_ack, data, file, written};
use multihop_capture::Capture;
use multihop_core::Span;
use multihop_measure::{Marks, Options, Row, SnifferReport, survey};
use proptest::prelude::*;

/// The captures of `crates/capture`, and one with what this crate makes something of: frames and their
/// answers, A-MPDUs, damage.
fn captures() -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for n in 0..3_u16 {
        let at = 1_000 + 5_000 * u64::from(n);
        let mut add = |after, how, aggregate, bad, bytes| {
            packets.push(Packet { stamp_us: at + after, how, aggregate, bad, bytes });
        };
        add(0, How::Rate(48), None, false, data(B, 100, 4 * n, false));
        add(40, How::Rate(48), None, false, ack(A));
        for part in 1..4 {
            let aggregate = Some((n.into(), if part == 3 { 12 } else { 4 }));
            add(600, How::Ht(7), aggregate, part == 2, data(B, 80, 4 * n + part, n == 1));
        }
        add(700, How::Rate(48), None, false, block_ack());
        add(900, How::Rate(2), None, n == 2, data(B, 60, 4 * n, true));
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

fn options() -> impl Strategy<Value = Options> {
    let bin = prop_oneof![1_000..10_000_000_u64, Just(1_000), Just(1_000_000_000_000_000)];
    let marks = prop::sample::select(vec![None, Some(Marks::Begin), Some(Marks::Mpdu), Some(Marks::End)]);
    (bin, marks).prop_map(|(bin, marks)| Options { bin: Span::from_ns(bin), marks, ..Options::default() })
}

/// What holds for any report.
fn check(found: &SnifferReport) {
    let frames: u64 = found.rows.iter().map(|row| row.cell.frames).sum();
    assert!(frames <= found.quality.records);
    let (grade, reasons) = found.quality.verdict();
    assert!(!grade.name().is_empty() && reasons.iter().all(|reason| reason.len() > 10));
    // Bins have room for what is in them, and the whole is as long as it is said to be.
    assert!(found.busy.iter().all(|&busy| busy <= found.bin));
    assert!(found.busy.iter().copied().sum::<Span>() <= found.length);
    let keys = |row: &Row| (row.bin, row.station, row.kind);
    assert!(found.rows.is_sorted_by(|one, next| keys(one) < keys(next)));
    let by_station: u64 = found.stations.iter().map(|station| station.airtime.ns()).sum();
    let named = found.rows.iter().filter(|row| row.station.is_some());
    assert_eq!(by_station, named.map(|row| row.cell.airtime.ns()).sum::<u64>());
    for (_, _, link) in &found.links {
        assert!(link.answered <= link.exchanges && link.capacity_bps.mean.is_finite());
        let rate = link.fastest.map_or(0.0, |rate| rate.bps() as f64);
        assert!(link.capacity_bps.mean <= rate * (1.0 + 1e-9), "{link:?}");
    }
    // Memory is bounded.
    assert!(found.busy.len() <= 100_000 && found.stations.len() <= 4_096 && found.rows.len() <= 400_000);
}

fn measure(file: &[u8], options: &Options) -> u64 {
    let found = Capture::from_reader(file).and_then(|capture| survey(capture, options, |_| true));
    match found {
        Ok(found) => {
            found.sniffers.iter().for_each(|seen| check(&seen.report));
            found.records
        }
        Err(error) => {
            assert!(error.to_string().len() > 20, "{error}");
            0
        }
    }
}

#[test]
fn the_captures_are_good() {
    let counts: Vec<u64> = captures().iter().map(|file| measure(file, &Options::default())).collect();
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
        // Those that are made for this crate count twice.
        let mut file = captures().swap_remove(if seed < 9 { seed } else { seed - 2 });
        for mutation in &mutations {
            mutate(&mut file, mutation);
        }
        measure(&file, &options);
    }
}

/// A timer that jumps by years, with frames as long as lengths can lie, in the narrowest bins.
#[test]
fn lies_about_lengths_and_times_cost_no_memory_and_no_time() {
    let mut lying = file(&[Packet {
        stamp_us: 1_000,
        how: How::Rate(2),
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
    let options = Options { bin: Span::from_us(1), ..Options::default() };
    assert_eq!(measure(&lying, &options), 1_000);
    assert_eq!(measure(&gzip(&lying), &options), 1_000);
}
