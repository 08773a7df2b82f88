//! Outputs of estimators on a capture built by hand: exchanges of 1500 bytes at 11 Mb/s with RTS/CTS, at
//! fixed intervals.

use crate::common::{A, CTS, DATA, RTS, SIFS, TimedFrame, exchange, file};
use multihop_capture::{Capture, MacAddress};
use multihop_core::Span;
use multihop_link::LinkView;
use multihop_measure::{SnifferReport, StampReference, SurveyOptions, survey};

/// Time from the first bit of the RTS to the last bit of the ACK, and the reservation of the RTS by its
/// duration field, in microseconds.
const EXCHANGE: u64 = RTS + CTS + DATA + CTS + 3 * SIFS;
const NAV: u64 = 1_947;

/// Two seconds of exchanges that begin at this interval, without the frames whose indices are in `missed`.
fn apart(us: u64, station: Option<MacAddress>, missed: &[usize]) -> SnifferReport {
    let number_of = 2_000_000 / us;
    let frames: Vec<_> =
        (0..number_of).flat_map(|number| exchange(number * us, number as u16, missed)).collect();
    let bytes = file(&frames, |sent| sent.begin);
    let options = SurveyOptions {
        bin: Span::from_ms(100),
        station,
        stamp_reference: Some(StampReference::Begin),
        ..SurveyOptions::default()
    };
    let found = survey(Capture::from_reader(&bytes[..]).unwrap(), &options, |_| true).unwrap();
    found.sniffers.into_iter().next().unwrap().report
}

/// Last output of an estimator.
fn last(found: &SnifferReport, name: &str) -> LinkView {
    let estimator =
        SurveyOptions::default().estimators.iter().position(|estimator| estimator.name == name).unwrap();
    found.readings.iter().rev().find(|reading| reading.estimator == estimator).unwrap().view
}

fn close(found: Option<f64>, expected: f64, tolerance: f64) -> bool {
    found.is_some_and(|found| (found / expected - 1.0).abs() <= tolerance)
}

#[test]
fn a_sniffer_has_capacity_and_what_is_left_of_it() {
    let found = apart(5_000, None, &[]);
    assert_eq!(found.at, None);
    // Eq. 6 as printed: DATA and ACK.
    let capacity = 12_000.0 / ((DATA + CTS) as f64 * 1e-6);
    let rt_winf = last(&found, "rt-winf");
    assert!(close(rt_winf.capacity_bps, capacity, 1e-9), "{rt_winf:?}");
    // The NAV of the CTS lies within that of its RTS, which the ACK exceeds by a microsecond.
    let left = 1.0 - NAV as f64 / 5_000.0;
    assert!(close(rt_winf.available_bps, capacity * left, 1e-3), "{rt_winf:?}");
    assert!(close(last(&found, "idlegap").available_bps, 11e6 * left, 1e-3));
    let probe = last(&found, "rt-winf-probe");
    let transfer = DATA + SIFS + CTS;
    assert!(close(probe.capacity_bps, 12_000.0 / (transfer as f64 * 1e-6), 1e-9), "{probe:?}");
    assert!(close(last(&found, "busy-ratio").busy_ratio, EXCHANGE as f64 / 5_000.0, 1e-3));
    let silent =
        [last(&found, "fsd").service_delay_s, last(&found, "packet-throughput").packet_throughput_bps];
    assert_eq!(silent, [None; 2], "a sniffer sends nothing");
}

/// A station without backlog receives its packet DIFS before it sends the packet; a station with a queue,
/// when it has finished the last one.
#[test]
fn a_station_s_own_service_begins_when_the_mac_takes_the_packet() {
    for (interval, service) in [(5_000, EXCHANGE + 50), (EXCHANGE + 50 + 620, EXCHANGE + 670)] {
        let found = apart(interval, Some(MacAddress(A)), &[]);
        assert_eq!(found.at.map(|at| found.stations[at.index()].address), Some(MacAddress(A)));
        let seconds = service as f64 * 1e-6;
        assert!(close(last(&found, "fsd").service_delay_s, seconds, 1e-6), "{:?}", last(&found, "fsd"));
        let efficiency = last(&found, "fte").transmission_efficiency;
        assert!(close(efficiency, EXCHANGE as f64 / service as f64, 1e-6), "{efficiency:?}");
        let throughput = last(&found, "packet-throughput").packet_throughput_bps;
        // The first packet found an idle medium and still affects the average.
        assert!(close(throughput, 12_000.0 / seconds, 2e-3), "{throughput:?}");
        let capacity = last(&found, "rt-winf").capacity_bps;
        assert!(close(capacity, 12_000.0 / ((DATA + CTS) as f64 * 1e-6), 1e-9), "Eq. 1: {capacity:?}");
    }
}

/// A hidden sender: only CTS and ACK are captured. The size of the data follows from the reservation of the
/// CTS (Barreto 2015, Table 1).
#[test]
fn a_hidden_sender_s_packets_are_known_by_the_nav() {
    let found = apart(5_000, None, &[0, 2]);
    let capacity = last(&found, "rt-winf").capacity_bps.unwrap();
    // Without captured DATA, its rate is assumed to be the highest one captured: 1 Mb/s.
    let bytes = ((1_633 - 2 * SIFS - CTS - 192) / 8 - 36) as f64;
    assert!((capacity / (bytes * 8.0 / ((DATA + CTS) as f64 * 1e-6)) - 1.0).abs() < 0.01, "{capacity}");
}

#[test]
fn readings_stay_bounded_however_long_the_capture_is() {
    let mut frames = exchange(0, 0, &[]);
    frames.extend(exchange(3_000_000_000, 1, &[]));
    let bytes = file(&frames, |sent| sent.end);
    let options = SurveyOptions { bin: Span::from_us(10), ..SurveyOptions::default() };
    let found = survey(Capture::from_reader(&bytes[..]).unwrap(), &options, |_| true).unwrap();
    let readings = &found.sniffers[0].report.readings;
    assert!(!readings.is_empty() && readings.len() < 40_000, "{}", readings.len());
    assert!(readings.windows(2).all(|pair| pair[0].at <= pair[1].at));
}

/// Last outputs of station A's estimators on a capture of these frames.
fn at_sender(frames: &[TimedFrame], name: &str) -> LinkView {
    let bytes = file(frames, |sent| sent.begin);
    let options = SurveyOptions {
        bin: Span::from_ms(500),
        station: Some(MacAddress(A)),
        stamp_reference: Some(StampReference::Begin),
        ..SurveyOptions::default()
    };
    let found = survey(Capture::from_reader(&bytes[..]).unwrap(), &options, |_| true).unwrap();
    last(&found.sniffers[0].report, name)
}

/// DATA alone, or with its ACK, which begins at `start`.
fn basic(start: u64, sequence: u16, answered: bool) -> Vec<TimedFrame> {
    let begin = start - (RTS + CTS + 2 * SIFS);
    exchange(begin, sequence, if answered { &[0, 1] } else { &[0, 1, 3] })
}

/// End of the capture: a lone CTS, a second later.
fn and_silence(mut frames: Vec<TimedFrame>) -> Vec<TimedFrame> {
    let end = frames.last().unwrap().end;
    frames.extend(exchange(end + 1_000_000, 0, &[0, 2, 3]));
    frames
}

const BASIC: u64 = DATA + SIFS + CTS;

#[test]
fn silence_after_a_frame_that_was_given_up_is_nobody_s_service() {
    let mut frames = basic(10_000, 80, false);
    frames.extend(basic(900_000, 81, true));
    let delay = at_sender(&and_silence(frames), "fsd").service_delay_s;
    assert!(close(delay, (BASIC + 50) as f64 * 1e-6, 1e-6), "{delay:?}");
}

#[test]
fn management_in_between_does_not_end_a_packet_s_life() {
    let mut frames = basic(10_000, 80, false);
    let mut probe_response = basic(15_000, 81, true);
    probe_response[0].bytes[0] = 0x50;
    frames.extend(probe_response);
    frames.extend(basic(20_000, 80, true));
    let delay = at_sender(&and_silence(frames), "fsd").service_delay_s;
    assert!(close(delay, (10_000 + BASIC + 50) as f64 * 1e-6, 1e-6), "{delay:?}");
}

#[test]
fn a_broadcast_does_not_hide_that_a_packet_was_lost() {
    let mut frames = basic(10_000, 80, false);
    let mut broadcast = basic(15_000, 81, false);
    broadcast[0].bytes[4..10].fill(0xff);
    frames.extend(broadcast);
    frames.extend(basic(20_000, 82, true));
    let frames = and_silence(frames);
    let throughput = at_sender(&frames, "packet-throughput").packet_throughput_bps;
    // The lost frame took DIFS, DATA, and the ACK timeout: SIFS, a slot, and PHY-RX-START delay.
    let seconds = (BASIC + 50 + 50 + DATA + SIFS + 20 + 192) as f64 * 1e-6;
    assert!(close(throughput, 12_000.0 / seconds, 1e-3), "{throughput:?}");
}

#[test]
fn frames_of_unknown_length_have_no_capacity() {
    let mut frames: Vec<_> = (0..20).flat_map(|n| basic(10_000 + 5_000 * u64::from(n), n, true)).collect();
    frames.iter_mut().filter(|sent| sent.rate == 22).for_each(|sent| sent.rate = 0);
    let view = at_sender(&and_silence(frames), "rt-winf-probe");
    // Only the highest captured rate, that of ACKs.
    assert_eq!(view.capacity_bps, Some(1e6));
}
