//! Congestion headers in both directions, and pacing by their feedback.

use crate::grants::{Grant, Latest, Offer, Sum};
use crate::pipe::{Path, Pipe};
use multihop_core::{Ecn, Header, HeaderBytes, Rate, Segment, Span, Time};
use multihop_transport::{
    Acked, Allowance, CongestionHeader, Controller, Lost, Recovery, Returned, TcpOptions, TcpReceiver,
    TcpSender,
};
use std::sync::{Arc, Mutex};

const MSS: u64 = 1000;
/// One-way delay.
const DELAY: Span = Span::from_ms(50);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Use of the congestion header by a sender.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Scheme {
    /// Requests 100 B/s in each segment.
    Asks,
    /// Sends at the latest rate.
    Follows,
}

impl Scheme {
    fn header(self) -> CongestionHeader {
        CongestionHeader::of(match self {
            Scheme::Asks => Grant::LEN,
            Scheme::Follows => Offer::LEN,
        } as u32)
    }

    fn receiver(self, options: TcpOptions) -> TcpReceiver {
        match self {
            Scheme::Asks => TcpReceiver::with_echo(options, Box::new(Sum::default())),
            Scheme::Follows => TcpReceiver::with_echo(options, Box::new(Latest::default())),
        }
    }
}

/// Feedback that was returned.
#[derive(Clone, Copy, Debug)]
struct Noted {
    feedback: HeaderBytes,
    rtt: Option<Span>,
}

/// Records the returned feedback.
struct Asking {
    scheme: Scheme,
    rate: u64,
    returned: Arc<Mutex<Vec<Noted>>>,
}

impl Controller for Asking {
    fn allowance(&self) -> Allowance {
        let paced = self.scheme == Scheme::Follows;
        let pace = paced.then(|| Rate::from_bps(8 * self.rate));
        Allowance { window: if paced { u64::MAX } else { 4 * MSS }, pace }
    }
    fn on_acked(&mut self, _: &Acked) {}
    fn on_lost(&mut self, _: &Lost) {}
    fn stamp(&mut self, _size: u64) -> HeaderBytes {
        match self.scheme {
            Scheme::Asks => HeaderBytes::of(&Grant { change: 100, granted: 0 }),
            Scheme::Follows => HeaderBytes::of(&Offer { rate: u32::MAX, offered: 0 }),
        }
    }
    fn on_feedback(&mut self, returned: &Returned) {
        let feedback = returned.segment.feedback;
        self.returned.lock().unwrap().push(Noted { feedback, rtt: returned.rtt });
        if let Some(offer) = feedback.parse::<Offer>() {
            self.rate = u64::from(offer.offered);
        }
    }
    fn refresh(&self) -> Option<Span> {
        (self.scheme == Scheme::Follows).then_some(Span::from_ms(500))
    }
}

/// Loses the segments in `lost` once, counted from 1, and grants the present `rate`.
struct Router {
    lost: Vec<u64>,
    rate: fn(Time) -> u32,
}

impl Path for Router {
    fn carry(&mut self, now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>) {
        let number = segment.seq / MSS + 1;
        segment.feedback.change(|offer: &mut Offer| offer.rate = offer.rate.min((self.rate)(now)));
        if to_receiver && segment.payload > 0 && self.lost.contains(&number) {
            self.lost.retain(|lost| *lost != number);
            return;
        }
        copies.push(DELAY);
    }
}

type Returns = Arc<Mutex<Vec<Noted>>>;

fn connection(scheme: Scheme, delayed_ack: Option<Span>, path: Router) -> (Pipe<Router>, Returns) {
    connected(scheme, TcpOptions { delayed_ack, ..options(scheme) }, path)
}

fn options(scheme: Scheme) -> TcpOptions {
    TcpOptions {
        segment_size: MSS as u32,
        recovery: Recovery::Sack,
        congestion_header: scheme.header(),
        timestamps: true,
        handshake: false,
        delayed_ack: None,
        window: 1000,
        ..TcpOptions::default()
    }
}

fn connected(scheme: Scheme, options: TcpOptions, path: Router) -> (Pipe<Router>, Returns) {
    let returned = Arc::new(Mutex::new(Vec::new()));
    let controller = Asking { scheme, rate: 10_000, returned: returned.clone() };
    let sender = TcpSender::new(options.clone(), Box::new(controller));
    let receiver = scheme.receiver(options);
    (Pipe::new(Box::new(sender), Box::new(receiver), MSS as u32, path), returned)
}

fn granted(returned: &Noted) -> i32 {
    let grant: Grant = returned.feedback.parse().unwrap();
    assert_eq!(grant.change, 0, "an acknowledgement asks for nothing");
    grant.granted
}

fn steady(_: Time) -> u32 {
    10_000
}

#[test]
fn delayed_acknowledgements_return_the_sum_of_what_was_granted() {
    let path = Router { lost: vec![], rate: steady };
    let (mut pipe, returned) = connection(Scheme::Asks, Some(Span::from_ms(100)), path);
    pipe.push(5 * MSS);
    pipe.run_until(ms(1_000));
    let returned: Vec<i32> = returned.lock().unwrap().iter().map(granted).collect();
    assert_eq!(returned, [200, 200, 100], "two acknowledgements of two segments, one of the last");
    assert_eq!(pipe.log[0].1.header, 40 + 12 + 20);
}

/// ns-2's XCP: the second of four segments is lost, and three are retransmitted. Of six acknowledgements two
/// acknowledge new data.
#[test]
fn feedback_of_duplicates_may_be_for_nobody() {
    for (feedback_of_duplicates, expected) in [(true, vec![100; 6]), (false, vec![100; 2])] {
        let path = Router { lost: vec![2], rate: steady };
        let options =
            TcpOptions { feedback_of_duplicates, recovery: Recovery::Reno, ..options(Scheme::Asks) };
        let (mut pipe, returned) = connected(Scheme::Asks, options, path);
        pipe.push(4 * MSS);
        pipe.run_until(ms(3_000));
        let returned: Vec<i32> = returned.lock().unwrap().iter().map(granted).collect();
        assert_eq!(returned, expected, "{feedback_of_duplicates}");
    }
}

/// If routers change marks, all segments carry the codepoint of their scheme, retransmitted or not, without a
/// header.
#[test]
fn each_segment_leaves_with_the_codepoint_of_its_scheme() {
    let header = CongestionHeader::marks(Ecn::Ect1, 4);
    let options = TcpOptions { congestion_header: header, ..options(Scheme::Asks) };
    let path = Router { lost: vec![2], rate: steady };
    let (mut pipe, _) = connected(Scheme::Asks, options, path);
    pipe.push(5 * MSS);
    pipe.run_until(ms(5_000));
    let codepoints: Vec<Ecn> = pipe.log.iter().map(|(_, segment)| segment.ecn).collect();
    assert_eq!(codepoints, [Ecn::Ect1; 6], "five segments, and one again");
    assert!(pipe.log.iter().all(|(_, segment)| segment.header == 52));
}

/// Duplicate acknowledgements return feedback too, but give no round-trip sample.
#[test]
fn feedback_counts_on_duplicates() {
    let path = Router { lost: vec![1], rate: steady };
    let (mut pipe, returned) = connection(Scheme::Asks, None, path);
    pipe.push(4 * MSS);
    pipe.run_until(ms(150));
    let returned = returned.lock().unwrap();
    assert_eq!(returned.iter().map(granted).sum::<i32>(), 300);
    assert!(returned.iter().all(|returned| returned.rtt.is_none()), "{returned:?}");
    drop(returned);
    pipe.run_until(ms(60_000));
    assert_eq!(pipe.delivered, 4 * MSS);
}

/// 1000 bytes and 64 bytes of headers at 10 kB/s: one per 106.4 ms. The rate changes to 100 kB/s at 200 ms.
/// The sender learns this one round trip after the first packet that received it, and applies it to the next
/// packet.
#[test]
fn a_new_pace_holds_for_the_packet_that_waits() {
    let path = Router { lost: vec![], rate: |now| if now < ms(200) { 10_000 } else { 100_000 } };
    let (mut pipe, _) = connection(Scheme::Follows, None, path);
    pipe.push(100 * MSS);
    pipe.run_until(ms(400));
    let sent: Vec<u64> = pipe.log.iter().map(|(at, _)| at.ns() / 100_000).collect();
    // The packet of 212.8 ms returns 100 kB/s at 312.8 ms. The next packet was due at 319.2 ms; 10.64 ms
    // after the last one it is overdue.
    assert_eq!(sent[..5], [0, 1_064, 2_128, 3_128, 3_234], "{sent:?}");
}

/// At 100 B/s packets are 10.64 s apart. The rate of 10 kB/s from 3 s on is known at the next request.
#[test]
fn a_sender_that_waits_long_asks_again_without_data() {
    let path = Router { lost: vec![], rate: |now| if now < ms(3_000) { 100 } else { 10_000 } };
    let (mut pipe, returned) = connection(Scheme::Follows, None, path);
    pipe.push(3 * MSS);
    pipe.run_until(ms(60_000));
    let data: Vec<u64> =
        pipe.log.iter().filter(|(_, s)| s.payload > 0).map(|(at, _)| at.ns() / 1_000_000).collect();
    assert_eq!(data, [0, 3_100, 3_206], "{data:?}");
    let asked: Vec<u64> =
        pipe.log.iter().filter(|(_, s)| s.payload == 0).map(|(at, _)| at.ns() / 1_000_000).collect();
    assert_eq!(asked, [500, 1_000, 1_500, 2_000, 2_500, 3_000]);
    assert_eq!(pipe.sender.progress().recoveries, 0, "answers are no duplicates");
    assert_eq!(returned.lock().unwrap().len(), 9);
}

/// The SYN-ACK returns a rate and a round-trip time.
#[test]
fn a_handshake_asks_too() {
    let returned = Arc::new(Mutex::new(Vec::new()));
    let scheme = Scheme::Follows;
    let options =
        TcpOptions { congestion_header: scheme.header(), recovery: Recovery::Sack, ..TcpOptions::default() };
    let controller = Asking { scheme, rate: 1, returned: returned.clone() };
    let sender = TcpSender::new(options.clone(), Box::new(controller));
    let path = Router { lost: vec![], rate: steady };
    let mut pipe = Pipe::new(Box::new(sender), Box::new(scheme.receiver(options)), 1460, path);
    pipe.push(MSS);
    pipe.run_until(ms(100));
    let offer: Offer = returned.lock().unwrap()[0].feedback.parse().unwrap();
    assert_eq!((offer.offered, offer.rate), (10_000, 0));
    assert_eq!(returned.lock().unwrap()[0].rtt, Some(Span::from_ms(100)));
    assert_eq!(pipe.log[0].1.header, 52);
}

/// A sender without data does not request a rate, however long pacing would delay it.
#[test]
fn a_sender_without_data_does_not_ask() {
    let (mut pipe, returned) = connection(Scheme::Follows, None, Router { lost: vec![], rate: |_| 100 });
    pipe.push(MSS);
    pipe.run_until(ms(60_000));
    assert_eq!((pipe.log.len(), returned.lock().unwrap().len()), (1, 1));
}
