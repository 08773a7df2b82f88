//! Implausible results: no capture yields a capacity above the bit rate of its frames, even with delayed host
//! timestamps.

use crate::captures::{captures, name};
use crate::common::{A, CTS, DATA, TimedFrame, exchange, file};
use multihop_capture::{Capture, MacAddress, dissect, ppdu};
use multihop_core::Span;
use multihop_measure::{ChannelSurvey, SnifferReport, StampReference, SurveyOptions, survey};
use proptest::prelude::*;
use std::path::Path;

fn measured(file: &[u8], options: &SurveyOptions) -> SnifferReport {
    let found = survey(Capture::from_reader(file).unwrap(), options, |_| true).unwrap();
    found.sniffers.into_iter().next().unwrap().report
}

/// Capacities of links are at most the rate of their own frames, and those of estimators at most the highest
/// rate of all frames.
fn check(found: &SnifferReport, fastest: f64, of: &str) {
    let at_most = |bps: f64, rate: f64| bps.is_finite() && (0.0..=rate * (1.0 + 1e-9)).contains(&bps);
    for (_, _, link) in &found.links {
        let rate = link.fastest.map_or(0.0, |rate| rate.bps() as f64);
        assert!(rate <= fastest, "{of}: {rate} of {fastest}");
        assert!(at_most(link.capacity_bps.mean, rate), "{of}: {link:?}");
    }
    for reading in &found.readings {
        let view = reading.view;
        for bps in [view.capacity_bps, view.available_bps, view.packet_throughput_bps].into_iter().flatten() {
            assert!(at_most(bps, fastest), "{of}: {reading:?} of {fastest}");
        }
        for share in [view.busy_ratio, view.transmission_efficiency].into_iter().flatten() {
            assert!((0.0..=1.0 + 1e-9).contains(&share), "{of}: {reading:?}");
        }
    }
}

/// Highest rate of all frames.
fn fastest(path: &Path) -> f64 {
    let mut capture = Capture::open(path).unwrap();
    let mut fastest = 0.0_f64;
    while let Some(Ok(record)) = capture.next() {
        if let Ok((reception, _)) = dissect(&record) {
            let rate = ppdu(&reception).and_then(|how| how.rate());
            fastest = fastest.max(rate.map_or(0.0, |rate| rate.bps() as f64));
        }
    }
    fastest
}

#[test]
fn no_capture_has_a_capacity_above_the_rate_of_its_frames() {
    for path in captures("pcap").unwrap_or_default() {
        let (of, fastest) = (name(&path), fastest(&path));
        let look = |station| {
            let options = SurveyOptions { station, bin: Span::from_ms(100), ..SurveyOptions::default() };
            let found = survey(Capture::open(&path).unwrap(), &options, |_| true).unwrap();
            for ChannelSurvey { report, .. } in &found.sniffers {
                check(report, fastest, &of);
            }
            found
        };
        let stations: Vec<MacAddress> =
            look(None).sniffers.iter().flat_map(|seen| &seen.report.stations).map(|of| of.address).collect();
        for station in stations.into_iter().take(3) {
            look(Some(station));
        }
    }
}

/// From a capture of 2005 without an exact timer: an ACK 11 us after the beginning of its DATA, which lasted
/// far longer.
#[test]
fn an_ack_before_the_end_of_its_data_is_refused_and_counted() {
    let frames: Vec<TimedFrame> = (0..20_u16)
        .flat_map(|number| exchange(u64::from(number) * 5_000, number, &[0, 1]))
        .enumerate()
        .map(|(index, sent)| {
            let hasty = index % 4 == 3;
            let begin = if hasty { sent.begin - DATA - 10 + 11 } else { sent.begin };
            TimedFrame { begin, end: begin + sent.end - sent.begin, ..sent }
        })
        .collect();
    let options = SurveyOptions { stamp_reference: Some(StampReference::Begin), ..SurveyOptions::default() };
    let found = measured(&file(&frames, |sent| sent.begin), &options);
    let (_, _, link) = found.links[0];
    assert_eq!((link.exchanges, link.answered), (20, 20), "that it arrived is not in doubt");
    assert_eq!((found.quality.timed, found.quality.impossible), (20, 10));
    let capacity = 12_000.0 / ((DATA + 10 + CTS) as f64 * 1e-6);
    assert!((link.capacity_bps.mean - capacity).abs() < 1.0, "{}", link.capacity_bps.mean);
    assert_eq!(link.fastest.map(multihop_core::Rate::bps), Some(11_000_000));
    let sender = &found.stations[0];
    assert_eq!((sender.address, sender.service_s.count), (MacAddress(A), 10));
    let (_, said) = found.quality.verdict();
    assert_eq!(said.iter().filter(|line| line.starts_with("10 of 20 exchanges have impossible")).count(), 1);
}

#[test]
fn frames_that_do_not_say_how_fast_they_were_make_no_estimates() {
    let frames: Vec<TimedFrame> = exchange(0, 1, &[])
        .into_iter()
        .chain(exchange(3_000_000, 2, &[]))
        .map(|sent| TimedFrame { rate: 0, ..sent })
        .collect();
    let found = measured(&file(&frames, |sent| sent.begin), &SurveyOptions::default());
    assert!(found.readings.is_empty(), "{:?}", found.readings);
    assert_eq!(found.quality.unknown_airtime, found.quality.records);
    assert_eq!(found.stations.iter().map(|station| station.service_s.count).sum::<u64>(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A host's timestamps are early or late by up to the airtime of the frames.
    #[test]
    fn whatever_the_stamps_capacity_is_below_the_rate(
        off in prop::collection::vec(0..1_500_u64, 160),
        apart in prop_oneof![Just(2_200_u64), 2_000..5_000_u64],
        stamp_reference in prop::sample::select(vec![None, Some(StampReference::Begin), Some(StampReference::Mpdu), Some(StampReference::End)]),
        missed in prop::collection::vec(0..4_usize, 0..2),
        at_a in any::<bool>(),
    ) {
        let frames: Vec<TimedFrame> =
            (0..40_u16).flat_map(|number| exchange(u64::from(number) * apart, number, &missed)).collect();
        let late = |sent: &TimedFrame| {
            let number = frames.iter().position(|other| std::ptr::eq(other, sent));
            sent.end + number.map_or(0, |number| off[number % off.len()])
        };
        let bytes = file(&frames, late);
        let options = SurveyOptions {
            stamp_reference,
            bin: Span::from_ms(10),
            station: at_a.then_some(MacAddress(A)),
            ..SurveyOptions::default()
        };
        check(&measured(&bytes, &options), 11e6, "synthetic");
    }
}
