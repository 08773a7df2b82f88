//! Congestion headers there and back, and pacing that follows them.

mod pipe;

use multihop_core::{
    BrakeCounts, Ecn, EwccpHeader, Feedback, PriceHeader, Rate, RcpHeader, Segment, Span, Time, XcpHeader,
    adpm,
};
use multihop_transport::{
    Acked, Allowance, CongestionHeader, Controller, Lost, Recovery, Returned, TcpOptions, TcpReceiver,
    TcpSender,
};
use pipe::{Path, Pipe};
use std::sync::{Arc, Mutex};

const MSS: u64 = 1000;
/// One-way delay.
const DELAY: Span = Span::from_ms(50);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Asks for 100 B/s in each segment, or sends at the latest rate; and notes what came back.
struct Asking {
    header: CongestionHeader,
    rate: u64,
    returned: Arc<Mutex<Vec<Returned>>>,
}

impl Controller for Asking {
    fn allowance(&self) -> Allowance {
        let paced = self.header == CongestionHeader::Rcp;
        let pace = paced.then(|| Rate::from_bps(8 * self.rate));
        Allowance { window: if paced { u64::MAX } else { 4 * MSS }, pace }
    }
    fn on_acked(&mut self, _: &Acked) {}
    fn on_lost(&mut self, _: &Lost) {}
    fn stamp(&mut self, size: u64) -> Feedback {
        match self.header {
            CongestionHeader::Price => Feedback::Price(PriceHeader::default()),
            CongestionHeader::None
            | CongestionHeader::Load { .. }
            | CongestionHeader::Mark
            | CongestionHeader::Brakes => Feedback::None,
            CongestionHeader::Xcp => Feedback::Xcp(XcpHeader { rtt: 1, delta: 100, ..XcpHeader::default() }),
            // The first segment is a probe.
            CongestionHeader::Ewccp { .. } => {
                let (probe, packets) = (self.returned.lock().unwrap().is_empty(), u8::from(size > 0));
                Feedback::Ewccp(EwccpHeader { probe, packets, feedback: 7, ..EwccpHeader::default() })
            }
            CongestionHeader::Rcp => {
                Feedback::Rcp(RcpHeader { rate: RcpHeader::UNLIMITED, ..RcpHeader::default() })
            }
        }
    }
    fn on_feedback(&mut self, returned: &Returned) {
        self.returned.lock().unwrap().push(*returned);
        if let Feedback::Rcp(header) = returned.feedback {
            self.rate = u64::from(header.reverse);
        }
    }
    fn refresh(&self) -> Option<Span> {
        (self.header == CongestionHeader::Rcp).then_some(Span::from_ms(500))
    }
}

/// Loses the segments in `lost` once, counted from 1, and grants `rate` of each moment.
struct Router {
    lost: Vec<u64>,
    rate: fn(Time) -> u32,
}

impl Path for Router {
    fn carry(&mut self, now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>) {
        let number = segment.seq / MSS + 1;
        if let Feedback::Rcp(header) = &mut segment.feedback {
            header.rate = header.rate.min((self.rate)(now));
        }
        if to_receiver && segment.payload > 0 && self.lost.contains(&number) {
            self.lost.retain(|lost| *lost != number);
            return;
        }
        copies.push(DELAY);
    }
}

/// Routers of constant load factors, to the receiver and back.
struct Loads {
    there: f64,
    back: f64,
    numbers: [u16; 2],
}

impl Path for Loads {
    fn carry(&mut self, _now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>) {
        let number = &mut self.numbers[usize::from(to_receiver)];
        segment.identification = *number;
        *number = number.wrapping_add(1);
        segment.ecn =
            adpm::mark(segment.ecn, segment.identification, if to_receiver { self.there } else { self.back });
        copies.push(DELAY);
    }
}

fn connection<P: Path>(
    header: CongestionHeader,
    delayed_ack: Option<Span>,
    path: P,
) -> (Pipe<P>, Arc<Mutex<Vec<Returned>>>) {
    connected(TcpOptions { delayed_ack, ..options(header) }, path)
}

fn options(header: CongestionHeader) -> TcpOptions {
    TcpOptions {
        segment_size: MSS as u32,
        recovery: Recovery::Sack,
        congestion_header: header,
        timestamps: true,
        handshake: false,
        delayed_ack: None,
        receive_window: 1000 * MSS,
        ..TcpOptions::default()
    }
}

fn connected<P: Path>(options: TcpOptions, path: P) -> (Pipe<P>, Arc<Mutex<Vec<Returned>>>) {
    let header = options.congestion_header;
    let returned = Arc::new(Mutex::new(Vec::new()));
    let controller = Asking { header, rate: 10_000, returned: returned.clone() };
    let sender = TcpSender::new(options.clone(), Box::new(controller));
    let receiver = TcpReceiver::new(options);
    (Pipe::new(Box::new(sender), Box::new(receiver), MSS as u32, path), returned)
}

fn xcp(returned: &Returned) -> i32 {
    let Feedback::Xcp(header) = returned.feedback else { panic!("{returned:?}") };
    assert_eq!((header.rtt, header.delta), (0, 0), "an acknowledgement asks for nothing");
    header.reverse
}

fn steady(_: Time) -> u32 {
    10_000
}

#[test]
fn xcp_delayed_acknowledgements_return_the_sum_of_what_was_granted() {
    let path = Router { lost: vec![], rate: steady };
    let (mut pipe, returned) = connection(CongestionHeader::Xcp, Some(Span::from_ms(100)), path);
    pipe.push(5 * MSS);
    pipe.run_until(ms(1_000));
    let returned: Vec<i32> = returned.lock().unwrap().iter().map(xcp).collect();
    assert_eq!(returned, [200, 200, 100], "two acknowledgements of two segments, one of the last");
    assert_eq!(pipe.log[0].1.header, 40 + 12 + 20);
}

/// ns-2's XCP: the second of four segments is lost, and three are sent again. Of six acknowledgements two are of new data.
#[test]
fn feedback_of_duplicates_may_be_for_nobody() {
    for (feedback_of_duplicates, expected) in [(true, vec![100; 6]), (false, vec![100; 2])] {
        let path = Router { lost: vec![2], rate: steady };
        let options =
            TcpOptions { feedback_of_duplicates, recovery: Recovery::Reno, ..options(CongestionHeader::Xcp) };
        let (mut pipe, returned) = connected(options, path);
        pipe.push(4 * MSS);
        pipe.run_until(ms(3_000));
        let returned: Vec<i32> = returned.lock().unwrap().iter().map(xcp).collect();
        assert_eq!(returned, expected, "{feedback_of_duplicates}");
    }
}

/// Of EWCCP feedback adds up with the number of packets that it is of, so that an acknowledgement may count for several. The answer to
/// a probe stands alone: here to the first four segments, which leave before anything came back. The link's part is in data only.
#[test]
fn ewccp_acknowledgements_say_of_how_many_packets_they_are() {
    let path = Router { lost: vec![], rate: steady };
    let header = CongestionHeader::Ewccp { summary: 16 };
    let (mut pipe, returned) = connection(header, Some(Span::from_ms(100)), path);
    pipe.push(8 * MSS);
    pipe.run_until(ms(1_000));
    let told = |returned: &Returned| {
        let Feedback::Ewccp(header) = returned.feedback else { panic!("{returned:?}") };
        assert_eq!(header.rtt, 0, "an acknowledgement tells of no round trip");
        (header.probe, header.packets, header.feedback)
    };
    let returned: Vec<_> = returned.lock().unwrap().iter().map(told).collect();
    assert_eq!(returned, [(true, 1, 7), (true, 1, 7), (false, 2, 14), (false, 2, 14)]);
    let headers: Vec<u32> = pipe.log.iter().map(|(_, segment)| segment.header).collect();
    assert!(headers.contains(&(40 + 12 + 8 + 4 + 16)), "{headers:?}");
}

/// Schemes that mark have no header in data: each segment leaves with the codepoint of its scheme, repeated or not, and what comes back
/// stands in acknowledgements, however few they are.
#[test]
fn marks_come_back_of_every_segment() {
    let told = |header| {
        let path = Router { lost: vec![2], rate: steady };
        let (mut pipe, returned) = connection(header, Some(Span::from_ms(100)), path);
        pipe.push(5 * MSS);
        pipe.run_until(ms(5_000));
        let codepoints: Vec<Ecn> = pipe.log.iter().map(|(_, segment)| segment.ecn).collect();
        let headers: Vec<u32> = pipe.log.iter().map(|(_, segment)| segment.header).collect();
        assert!(headers.iter().all(|bytes| *bytes == 52), "{headers:?}");
        let returned: Vec<Feedback> = returned.lock().unwrap().iter().map(|told| told.feedback).collect();
        (codepoints, returned)
    };
    let (codepoints, returned) = told(CongestionHeader::Brakes);
    assert_eq!(codepoints, [Ecn::Ect1; 6], "five segments, and one again");
    let count = |feedback: &Feedback| {
        let Feedback::Brakes(BrakeCounts { accelerates, brakes }) = feedback else { panic!("{feedback:?}") };
        assert_eq!(*brakes, 0);
        *accelerates
    };
    assert_eq!(returned.iter().map(count).sum::<u16>(), 5);
    let (codepoints, returned) = told(CongestionHeader::Mark);
    assert_eq!((codepoints, returned[0]), (vec![Ecn::Ect1; 6], Feedback::Mark(Ecn::Ect1)));
    let (codepoints, returned) = told(CongestionHeader::Load { acks: false });
    assert_eq!(codepoints, [Ecn::Ect0; 6]);
    assert!(returned.iter().all(|told| matches!(told, Feedback::Load(_))), "{returned:?}");
}

/// 128 packets each way, which tell a load to 1.2 / 128 = 0.01. The larger of both directions comes out where acknowledgements are marked,
/// and else that of data alone.
#[test]
fn the_larger_load_of_both_directions_counts_if_acknowledgements_are_marked() {
    for (acks, there, back, expected) in
        [(true, 0.3, 0.9, 0.9), (true, 0.9, 0.3, 0.9), (false, 0.3, 0.9, 0.3), (true, 0.3, 1.1, 1.1)]
    {
        let path = Loads { there, back, numbers: [0; 2] };
        let (mut pipe, returned) = connection(CongestionHeader::Load { acks }, None, path);
        pipe.push(128 * MSS);
        pipe.run_until(ms(60_000));
        assert_eq!(pipe.delivered, 128 * MSS);
        let returned = returned.lock().unwrap();
        let Some(Feedback::Load(header)) = returned.last().map(|returned| returned.feedback) else {
            panic!()
        };
        assert!((header.load() - expected).abs() < 0.011, "{acks} {there} {back}: {}", header.load());
    }
}

/// One acknowledgement from an overloaded way back is enough, as one packet of data is.
#[test]
fn an_overload_on_the_way_back_is_known_at_once() {
    let path = Loads { there: 0.1, back: 1.05, numbers: [0; 2] };
    let (mut pipe, returned) = connection(CongestionHeader::Load { acks: true }, None, path);
    pipe.push(MSS);
    pipe.run_until(ms(1_000));
    let Feedback::Load(header) = returned.lock().unwrap()[0].feedback else { panic!() };
    assert!(header.load() >= 1.0, "{}", header.load());
}

/// Acknowledgements that repeat themselves bring feedback too, but no round-trip sample.
#[test]
fn feedback_counts_on_duplicates() {
    let path = Router { lost: vec![1], rate: steady };
    let (mut pipe, returned) = connection(CongestionHeader::Xcp, None, path);
    pipe.push(4 * MSS);
    pipe.run_until(ms(150));
    let returned = returned.lock().unwrap();
    assert_eq!(returned.iter().map(xcp).sum::<i32>(), 300);
    assert!(returned.iter().all(|returned| returned.rtt.is_none()), "{returned:?}");
    drop(returned);
    pipe.run_until(ms(60_000));
    assert_eq!(pipe.delivered, 4 * MSS);
}

/// 1000 bytes and 64 of headers at 10 kB/s: one each 106.4 ms. The rate changes to 100 kB/s at 200 ms, which is known one round
/// trip after the packet that met it, and counts for the packet that waits.
#[test]
fn a_new_pace_holds_for_the_packet_that_waits() {
    let path = Router { lost: vec![], rate: |now| if now < ms(200) { 10_000 } else { 100_000 } };
    let (mut pipe, _) = connection(CongestionHeader::Rcp, None, path);
    pipe.push(100 * MSS);
    pipe.run_until(ms(400));
    let sent: Vec<u64> = pipe.log.iter().map(|(at, _)| at.ns() / 100_000).collect();
    // The packet of 212.8 ms brings 100 kB/s at 312.8 ms; the next would have been due at 319.2, 10.64 ms after the last it is
    // overdue.
    assert_eq!(sent[..5], [0, 1_064, 2_128, 3_128, 3_234], "{sent:?}");
}

/// At 100 B/s packets are 10.64 s apart. The rate of 10 kB/s that holds from 3 s on is known as soon as somebody asks.
#[test]
fn a_sender_that_waits_long_asks_again_without_data() {
    let path = Router { lost: vec![], rate: |now| if now < ms(3_000) { 100 } else { 10_000 } };
    let (mut pipe, returned) = connection(CongestionHeader::Rcp, None, path);
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

/// The answer to a SYN has a rate and a round-trip time.
#[test]
fn a_handshake_asks_too() {
    let returned = Arc::new(Mutex::new(Vec::new()));
    let options = TcpOptions {
        congestion_header: CongestionHeader::Rcp,
        recovery: Recovery::Sack,
        ..TcpOptions::default()
    };
    let header = CongestionHeader::Rcp;
    let controller = Asking { header, rate: 1, returned: returned.clone() };
    let sender = TcpSender::new(options.clone(), Box::new(controller));
    let path = Router { lost: vec![], rate: steady };
    let mut pipe = Pipe::new(Box::new(sender), Box::new(TcpReceiver::new(options)), 1460, path);
    pipe.push(MSS);
    pipe.run_until(ms(100));
    let Feedback::Rcp(header) = returned.lock().unwrap()[0].feedback else { panic!() };
    assert_eq!((header.reverse, header.rate), (10_000, 0));
    assert_eq!(returned.lock().unwrap()[0].rtt, Some(Span::from_ms(100)));
    assert_eq!(pipe.log[0].1.header, 52);
}
