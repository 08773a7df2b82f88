//! Accurate ECN feedback (RFC 9768) between a sender and a receiver.

use crate::pipe::{Path, Pipe};
use multihop_core::{Ecn, Segment, Span, Time};
use multihop_transport::{
    Acked, Allowance, Controller, DeliverySample, Flavour, Lost, Marked, Recovery, TcpOptions, TcpReceiver,
    TcpSender,
};
use std::sync::{Arc, Mutex};

/// Bytes reported as marked, and number of calls of `on_marked`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Reported {
    bytes: Option<u64>,
    reductions: u32,
}

/// Window of 20 segments, which shrinks by a byte at each reduction.
struct Constant {
    window: u64,
    by_share: bool,
    reported: Arc<Mutex<Reported>>,
}

impl Controller for Constant {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window, pace: None }
    }
    fn on_acked(&mut self, _acked: &Acked) {}
    fn on_lost(&mut self, _lost: &Lost) {}
    fn on_marked(&mut self, _marked: &Marked) {
        self.window -= 1;
        self.reported.lock().unwrap().reductions += 1;
    }
    fn on_delivered(&mut self, delivery: &DeliverySample) {
        let reported = &mut self.reported.lock().unwrap().bytes;
        *reported = delivery.marked.map(|marked| reported.unwrap_or(0) + marked);
    }
    fn reduces_by_share(&self) -> bool {
        self.by_share
    }
}

/// Path of 10 ms each way that marks new data whose number has a remainder of 7 below `marks`. One
/// acknowledgement of `thinning` arrives, and options do only with `options`.
struct Marking {
    marks: u64,
    thinning: u32,
    options: bool,
    marked: u64,
    acks: u32,
    replies: Vec<Segment>,
}

impl Path for Marking {
    fn carry(&mut self, _now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>) {
        let delay = Span::from_ms(10);
        if to_receiver {
            let number = segment.seq / u64::from(segment.payload.max(1));
            let is_data = segment.payload > 0 && !segment.retransmission;
            let marks = segment.ecn != Ecn::NotCapable && is_data && number % 7 < self.marks;
            if marks {
                segment.ecn = Ecn::CongestionExperienced;
                self.marked += u64::from(segment.payload);
            }
            copies.push(delay);
            return;
        }
        self.replies.push(*segment);
        self.acks += 1;
        if !self.options {
            segment.acc_ecn = None;
        }
        if segment.flags.syn || self.acks.is_multiple_of(self.thinning) {
            copies.push(delay);
        }
    }
}

fn options() -> TcpOptions {
    TcpOptions {
        segment_size: 1_000,
        accurate_ecn: true,
        scalable: true,
        delivery_rate: true,
        segmentation_offload: false,
        receive_offload: false,
        host_delay: None,
        compressed_acks: false,
        ..TcpOptions::of(Flavour::Linux, Recovery::Rack)
    }
}

/// Transfer of 700 segments.
fn transfer(
    options: &TcpOptions,
    of_receiver: &TcpOptions,
    by_share: bool,
    path: Marking,
) -> (Pipe<Marking>, Reported) {
    let reported = Arc::new(Mutex::new(Reported::default()));
    let controller = Constant { window: 20_500, by_share, reported: reported.clone() };
    let sender = TcpSender::new(options.clone(), Box::new(controller));
    let receiver = TcpReceiver::new(of_receiver.clone());
    let mut pipe = Pipe::new(Box::new(sender), Box::new(receiver), 1_000, path);
    pipe.push(700_000);
    pipe.run_until(Time::ZERO + Span::from_ms(60_000));
    assert_eq!(pipe.delivered, 700_000);
    let reported = *reported.lock().unwrap();
    (pipe, reported)
}

fn marking(marks: u64) -> Marking {
    Marking { marks, thinning: 1, options: true, marked: 0, acks: 0, replies: Vec::new() }
}

/// Every marked byte is reported once: with the option whatever acknowledgements are lost, without the option
/// as long as an acknowledgement covers at most seven packets.
#[test]
fn rfc_9768_3_2_marks_are_counted() {
    for marks in [0, 1, 3, 6, 7] {
        for (thinning, options) in [(1, true), (1, false), (4, true)] {
            let path = Marking { thinning, options, ..marking(marks) };
            let (pipe, reported) = transfer(&self::options(), &self::options(), true, path);
            assert_eq!(pipe.path.marked, 100_000 * marks);
            assert_eq!(reported.bytes, Some(pipe.path.marked), "{marks} {thinning} {options}");
        }
        let lossy = Marking { thinning: 8, options: false, ..marking(marks) };
        let (pipe, reported) = transfer(&self::options(), &self::options(), true, lossy);
        assert!(reported.bytes >= Some(pipe.path.marked), "the safest count: {marks} {reported:?}");
    }
}

/// SYN with all flags, SYN-ACK that tells how the SYN arrived, then the codepoint of the SYN-ACK, and the
/// counter of 5. Data has ECT(1), or ECT(0) if the sender is not scalable.
#[test]
fn rfc_9768_3_1_the_handshake_and_the_codepoint() {
    for (scalable, codepoint) in [(true, Ecn::Ect1), (false, Ecn::Ect0)] {
        let options = TcpOptions { scalable, ..options() };
        let (pipe, _) = transfer(&options, &options, true, marking(0));
        let aces: Vec<u8> = pipe.log.iter().map(|(_, segment)| segment.flags.ace()).collect();
        assert_eq!(aces[..3], [0b111, 0b010, 5]);
        assert!(aces[2..].iter().all(|ace| *ace == 5));
        let data: Vec<Ecn> = pipe
            .log
            .iter()
            .filter(|(_, segment)| segment.payload > 0)
            .map(|(_, segment)| segment.ecn)
            .collect();
        assert!(data.iter().all(|ecn| *ecn == codepoint) && pipe.log[0].1.ecn == Ecn::NotCapable);
        let replies = &pipe.path.replies;
        assert_eq!(replies[0].flags.ace(), 0b010);
        assert!(replies[1..].iter().all(|ack| ack.flags.ace() == 5 && ack.acc_ecn.is_some()));
        assert!(replies[1..].iter().all(|ack| ack.header == 40 + 12 + 8), "timestamps and the option");
    }
}

/// A receiver of RFC 3168, or without ECN: ECN-Echo once per window of data with ECT(0), or no ECN.
#[test]
fn rfc_9768_3_1_2_older_receivers() {
    let classic = TcpOptions { accurate_ecn: false, ecn: true, ..options() };
    let (pipe, reported) = transfer(&options(), &classic, true, marking(7));
    assert_eq!(reported.bytes, None);
    assert!((15..=40).contains(&reported.reductions), "700 segments are 35 windows: {reported:?}");
    let data = |pipe: &Pipe<Marking>| pipe.log.iter().find(|(_, segment)| segment.payload > 0).unwrap().1;
    assert_eq!(data(&pipe).ecn, Ecn::Ect0);
    assert!(pipe.log.iter().any(|(_, segment)| segment.flags.cwr && !segment.flags.syn));
    let none = TcpOptions { accurate_ecn: false, ..options() };
    let (pipe, reported) = transfer(&options(), &none, true, marking(7));
    assert_eq!((data(&pipe).ecn, reported), (Ecn::NotCapable, Reported::default()));
    // An older sender asks for RFC 3168 alone.
    let (pipe, _) = transfer(&classic, &options(), false, marking(0));
    assert_eq!((data(&pipe).ecn, pipe.path.replies[0].flags.ace()), (Ecn::Ect0, 0b001));
}

/// Marks in every round trip reduce once per window of data, for controllers of either kind.
#[test]
fn marks_reduce_once_per_window_of_data() {
    for by_share in [true, false] {
        let (pipe, reported) = transfer(&options(), &options(), by_share, marking(2));
        let counted = pipe.sender.progress().ecn_reductions;
        assert_eq!(counted, u64::from(reported.reductions), "{by_share}");
        assert!((15..=36).contains(&counted), "{by_share}: {counted}");
    }
}

/// RFC 9768, section 3.2.2.5.1: a receiver that delays acknowledgements reports the first mark, and each
/// second one, at once.
#[test]
fn rfc_9768_3_2_2_5_1_marks_are_acknowledged_at_once() {
    let slow = TcpOptions { ack_every: 100, prompt_acks: false, tuned_window: false, ..options() };
    let (all, _) = transfer(&slow, &slow, true, marking(7));
    let (none, _) = transfer(&slow, &slow, true, marking(0));
    let [marked, unmarked] = [&all, &none].map(|pipe| pipe.path.replies.len());
    assert!((350..=370).contains(&marked), "700 marks: {marked}");
    assert!(unmarked < 60, "{unmarked}");
}
