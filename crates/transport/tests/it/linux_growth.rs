//! Window growth of a Linux sender: scripts of acknowledgements with the windows that `tcp_slow_start`,
//! `tcp_cong_avoid_ai` and `tcp_is_cwnd_limited` of Linux 6 give.

use crate::recorder::{MSS, drain, ms, sacked};
use multihop_core::Segment;
use multihop_transport::{
    Controller, Cubic, CubicOptions, Endpoint, Flavour, Recovery, Reno, RenoOptions, SlowStartExit,
    TcpOptions, TcpSender,
};

/// A sender with an initial window of 10 segments, whose application submits `pushed` segments. Segments are
/// sent one by one.
fn sender(flavour: Flavour, recovery: Recovery, threshold: u32, pushed: u64) -> TcpSender {
    let reno = RenoOptions {
        initial_window: Some(10),
        initial_threshold: Some(threshold),
        ..RenoOptions::of(flavour, MSS as u32, 100 * MSS)
    };
    started(flavour, recovery, Box::new(Reno::new(reno)), pushed)
}

fn started(flavour: Flavour, recovery: Recovery, control: Box<dyn Controller>, pushed: u64) -> TcpSender {
    let options = TcpOptions {
        segment_size: MSS as u32,
        handshake: false,
        timestamps: true,
        window: 100,
        segmentation_offload: false,
        ..TcpOptions::of(flavour, recovery)
    };
    let mut sender = TcpSender::new(options, control);
    sender.push(ms(0), pushed * MSS);
    drain(&mut sender, 0);
    sender
}

/// The window in segments, after this acknowledgement at this time and the segments sent then.
fn after(sender: &mut TcpSender, at: u64, segment: Segment) -> u64 {
    sender.on_segment(ms(at), &Segment { echo: Some(ms(at - 100)), ..segment });
    drain(sender, at);
    sender.progress().window.unwrap() / MSS
}

fn ack(number: u64) -> Segment {
    crate::recorder::ack(number)
}

#[test]
fn in_slow_start_a_merged_acknowledgement_counts_whole() {
    for (flavour, expected) in [(Flavour::Linux, [18, 28]), (Flavour::Rfc, [11, 12])] {
        let mut sender = sender(flavour, Recovery::Sack, 100, 100);
        assert_eq!([8, 18].map(|number| after(&mut sender, 100, ack(number))), expected, "{flavour:?}");
    }
    let reno = RenoOptions { initial_window: Some(10), ..RenoOptions::of(Flavour::Linux, 1_000, 100 * MSS) };
    for slow_start in [SlowStartExit::Loss, SlowStartExit::HyStartPlusPlus] {
        let cubic = Cubic::new(CubicOptions { slow_start, ..CubicOptions::rfc(reno.clone()) });
        let mut sender = started(Flavour::Linux, Recovery::Sack, Box::new(cubic), 100);
        assert_eq!(after(&mut sender, 100, ack(8)), 18, "cubic, {slow_start:?}");
    }
}

/// Two of three acknowledged segments were selectively acknowledged before, and do not count again, nor if a
/// duplicate arrived for each.
#[test]
fn what_was_selectively_acknowledged_counts_once_and_not_before_its_turn() {
    let mut one = sender(Flavour::Linux, Recovery::Sack, 100, 100);
    assert_eq!(after(&mut one, 100, sacked(0, 1, 3)), 10, "nothing is acknowledged in order");
    assert_eq!(after(&mut one, 110, ack(3)), 11);
    let mut one = sender(Flavour::Linux, Recovery::NewReno, 100, 100);
    assert_eq!([ack(0), ack(0)].map(|segment| after(&mut one, 100, segment)), [10; 2]);
    assert_eq!(after(&mut one, 110, ack(3)), 11);
    // Data that is selectively acknowledged with the advance counts.
    let mut one = sender(Flavour::Linux, Recovery::Sack, 100, 100);
    assert_eq!(after(&mut one, 100, sacked(3, 4, 6)), 15);
}

#[test]
fn in_recovery_nothing_opens_the_window() {
    let mut sender = sender(Flavour::Linux, Recovery::Sack, 100, 100);
    let halved = after(&mut sender, 100, sacked(0, 1, 5));
    assert_eq!(halved, 5);
    let script = [sacked(0, 1, 8), sacked(2, 3, 9), sacked(2, 3, 10)];
    assert_eq!(script.map(|segment| after(&mut sender, 110, segment)), [5; 3]);
}

/// All but the first of ten segments had arrived when the timer expired: its repair opens the window by one.
#[test]
fn after_a_timeout_what_had_arrived_does_not_open_the_window() {
    let mut sender = sender(Flavour::Linux, Recovery::Sack, 100, 10);
    sender.on_segment(ms(100), &sacked(0, 1, 10));
    drain(&mut sender, 100);
    let deadline = sender.poll_timeout().expect("a segment is missing");
    sender.on_timeout(deadline);
    sender.push(deadline, 50 * MSS);
    assert_eq!(sender.progress().window, Some(MSS));
    let at = 10 + deadline.since(ms(0)).ns().div_ceil(1_000_000);
    drain(&mut sender, at - 5);
    assert_eq!(after(&mut sender, at, ack(10)), 2);
}

/// Two of eight segments reach the threshold of twelve. The other six count beyond it, and with six more they
/// are twelve, which adds a segment. The next one takes thirteen.
#[test]
fn the_rest_of_slow_start_counts_in_congestion_avoidance() {
    let mut sender = sender(Flavour::Linux, Recovery::Sack, 12, 100);
    let script = [(8, 12), (13, 12), (14, 13), (26, 13), (27, 14)];
    for (number, window) in script {
        assert_eq!(after(&mut sender, 100, ack(number)), window, "{number}");
    }
}

/// Whether the application has more data does not matter: a window that was full in the last round opens, and
/// so does one in slow start that was more than half used.
#[test]
fn a_window_opens_that_was_full_or_by_half_in_slow_start() {
    for (flavour, threshold, pushed, window) in [
        (Flavour::Linux, 100, 10, 18),
        (Flavour::Linux, 100, 6, 16),
        (Flavour::Linux, 100, 5, 10),
        (Flavour::Linux, 1, 9, 10),
        (Flavour::Rfc, 100, 9, 10),
    ] {
        let mut sender = sender(flavour, Recovery::Sack, threshold, pushed);
        assert_eq!(after(&mut sender, 100, ack(pushed.min(8))), window, "{flavour:?} {threshold} {pushed}");
    }
}
