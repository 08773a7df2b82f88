//! The receiving end of a TCP connection.

use crate::tcp::accurate_ecn::{ArrivalCounters, EcnMode, handshake_ace};
use crate::tcp::ack_compression::AckCompression;
use crate::tcp::host_queue::HostQueue;
use crate::tcp::ranges::ByteRanges;
use crate::tcp::receive_window::ReceiveWindow;
use crate::{Delivered, Echo, Endpoint, Progress, TcpOptions};
use multihop_core::{AccEcnOption, Ecn, Flags, HeaderBytes, SackBlock, SackBlocks, Segment, Time};

/// Data receiver of a TCP connection. The application reads data in order at once.
///
/// Every SYN is answered with a SYN-ACK; only the sender retransmits a lost handshake.
pub struct TcpReceiver {
    options: TcpOptions,
    /// Next expected byte (`RCV.NXT`).
    next: u64,
    /// Data received beyond the next expected byte.
    out_of_order: ByteRanges,
    window: ReceiveWindow,
    /// Data that has just arrived for the second time, to report.
    duplicate: Option<SackBlock>,
    /// Negotiated ECN feedback.
    ecn: EcnMode,
    /// Counters of marks, for accurate feedback.
    arrivals: ArrivalCounters,
    /// Whether ECN-Echo is set: congestion was experienced, and the sender has not confirmed a reduction yet.
    echo: bool,
    /// Send time to echo (`TS.Recent`), and the last acknowledgement number, which selects it
    /// (`Last.ACK.sent`; RFC 7323, section 4.3).
    recent: Option<Time>,
    last_ack: u64,
    /// Number of segments still to be acknowledged at once.
    quick_acks_left: u32,
    /// Arrival of the last data.
    last_data: Option<Time>,
    /// Number of segments that the delayed acknowledgement covers.
    unacknowledged: u32,
    /// Deadline of the delayed acknowledgement.
    deadline: Option<Time>,
    /// Feedback from congestion headers and marks for acknowledgements.
    feedback: Option<Box<dyn Echo>>,
    /// Acknowledgement to send now.
    reply: Option<Segment>,
    host: HostQueue,
    compression: AckCompression,
    /// Number of given-up acknowledgements that may be retransmitted before another segment arrives.
    repairs: u32,
}

impl TcpReceiver {
    /// A receiver that has received nothing yet.
    pub fn new(options: TcpOptions) -> TcpReceiver {
        TcpReceiver {
            ecn: if options.handshake {
                EcnMode::Off
            } else {
                EcnMode::without_handshake(options.ecn, options.accurate_ecn)
            },
            arrivals: ArrivalCounters::default(),
            feedback: None,
            repairs: options.local_repairs,
            window: ReceiveWindow::new(&options),
            options,
            next: 0,
            out_of_order: ByteRanges::default(),
            duplicate: None,
            echo: false,
            recent: None,
            last_ack: 0,
            quick_acks_left: 0,
            last_data: None,
            unacknowledged: 0,
            deadline: None,
            reply: None,
            host: HostQueue::default(),
            compression: AckCompression::default(),
        }
    }

    /// A receiver whose acknowledgements carry the feedback of `echo`.
    pub fn with_echo(options: TcpOptions, echo: Box<dyn Echo>) -> TcpReceiver {
        TcpReceiver { feedback: Some(echo), ..TcpReceiver::new(options) }
    }

    /// Congestion header of the next acknowledgement.
    fn take_feedback(&mut self) -> HeaderBytes {
        self.feedback.as_mut().map_or(HeaderBytes::NONE, |echo| echo.take())
    }

    fn on_syn(&mut self, now: Time, segment: &Segment) {
        self.compression.on_syn_ack(now);
        self.ecn = EcnMode::from_syn(segment.flags, self.options.ecn, self.options.accurate_ecn);
        let flags = Flags { syn: true, ack: true, ..Flags::default() };
        let flags = match self.ecn {
            EcnMode::Off => flags,
            EcnMode::Classic => Flags { ece: true, ..flags },
            EcnMode::Accurate => flags.with_ace(handshake_ace(segment.ecn)),
        };
        self.recent = segment.echo;
        let reply = Segment {
            ack: self.next,
            header: self.options.header_with(0),
            flags,
            echo: self.recent.filter(|_| self.options.timestamps),
            window: self.window.advertised(self.next, 0),
            feedback: self.take_feedback(),
            ..Segment::default()
        };
        self.send(now, reply);
    }

    /// Processes the payload. Returns whether its acknowledgement may be delayed.
    fn on_data(&mut self, segment: &Segment) -> bool {
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.payload));
        if segment.seq <= self.last_ack && segment.echo > self.recent {
            self.recent = segment.echo;
        }
        let had_gap = !self.out_of_order.is_empty();
        if start > self.next {
            if self.out_of_order.add(start, end) == 0 {
                self.note_duplicate(start, end);
            }
            return false;
        }
        if end <= self.next {
            self.note_duplicate(start, end);
            return false;
        }
        self.next = end;
        if let Some(range) = self.out_of_order.containing(end) {
            self.next = range.end;
        }
        self.out_of_order.remove_below(self.next);
        // "SHOULD send an immediate ACK when the incoming segment fills in all or part of a gap" (RFC 5681,
        // section 4.2).
        !had_gap
    }

    /// Acknowledges this many segments at once, or more if that was begun before (`tcp_incr_quickack`).
    fn begin_quick_acks(&mut self, segments: u32) {
        self.quick_acks_left = self.quick_acks_left.max(segments);
    }

    /// Records the arrival of data. The sender may be in slow start if it is the first, or the first after a
    /// silence of a retransmission timeout (`tcp_event_data_recv`).
    fn note_data(&mut self, now: Time) {
        self.compression.on_data(now);
        let timeout = self.compression.retransmission_timeout();
        if self.last_data.is_none_or(|last| now.since(last) > timeout) {
            self.begin_quick_acks(self.options.start_quick_acks);
        }
        self.last_data = Some(now);
    }

    fn note_duplicate(&mut self, start: u64, end: u64) {
        self.begin_quick_acks(self.options.start_quick_acks);
        self.duplicate = self.options.duplicate_sack.then_some(SackBlock { start, end });
    }

    /// Sends a reply, after the host's processing.
    fn send(&mut self, now: Time, reply: Segment) {
        let leaves = self.host.departure(now, &self.options);
        let reply = Segment { ack_stamp: self.window.stamp(leaves.unwrap_or(now)), ..reply };
        match leaves {
            Some(leaves) => self.host.push(leaves, reply),
            None => self.reply = Some(reply),
        }
    }

    fn acknowledge(&mut self, now: Time) {
        let mut sack = SackBlocks::default();
        if self.options.recovery.is_selective() {
            self.duplicate.take().into_iter().for_each(|block| sack.push(block));
            self.list_blocks(&mut sack);
        }
        let blocks = sack.as_slice().len();
        let flags = Flags { ack: true, ece: self.echo, ..Flags::default() };
        let (mut flags, mut acc_ecn) = (flags, None);
        if self.ecn == EcnMode::Accurate {
            flags = flags.with_ace(self.arrivals.ace());
            acc_ecn = self.options.has_room_for_acc_ecn(blocks).then(|| self.arrivals.option());
            self.arrivals.on_acknowledged();
        }
        let reply = Segment {
            ack: self.next,
            header: self.options.header_with(blocks) + acc_ecn.map_or(0, |_| AccEcnOption::LENGTH),
            flags,
            sack,
            acc_ecn,
            ecn: self.options.congestion_header.ack_codepoint,
            echo: self.recent.filter(|_| self.options.timestamps),
            window: self.window.advertised(self.next, self.out_of_order.bytes()),
            feedback: self.take_feedback(),
            ..Segment::default()
        };
        self.send(now, reply);
        self.last_ack = self.next;
        self.unacknowledged = 0;
        self.quick_acks_left = self.quick_acks_left.saturating_sub(1);
        if self.window.is_crowded(self.out_of_order.bytes()) {
            self.quick_acks_left = 0;
        }
        self.compression.on_acknowledged();
        self.deadline = None;
    }

    /// "The first SACK block MUST specify the contiguous block of data containing the segment which triggered
    /// this ACK", then the most recent ones (RFC 2018, section 4).
    fn list_blocks(&self, sack: &mut SackBlocks) {
        let mut before = u64::MAX;
        for _ in sack.as_slice().len()..3 {
            let older = self.out_of_order.iter().filter(|range| range.last_addition < before);
            let Some(range) = older.max_by_key(|range| range.last_addition) else { return };
            before = range.last_addition;
            sack.push(SackBlock { start: range.start, end: range.end });
        }
    }
}

impl TcpReceiver {
    /// Acknowledges a segment that may not wait for another one; if data beyond a gap was received, the
    /// acknowledgement may be compressed.
    fn acknowledge_gap(&mut self, now: Time, is_quick: bool) {
        let compresses = self.options.compressed_acks && !is_quick && !self.out_of_order.is_empty();
        match compresses.then(|| self.compression.delay(self.next)).flatten() {
            None => self.acknowledge(now),
            Some(delay) => {
                let due = now + delay;
                self.deadline = Some(self.deadline.map_or(due, |deadline| deadline.min(due)));
            }
        }
    }
}

impl Endpoint for TcpReceiver {
    fn push(&mut self, _now: Time, _bytes: u64) {}

    fn backlog(&self) -> u64 {
        0
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        if let Some(echo) = &mut self.feedback {
            echo.note(segment);
        }
        if segment.flags.syn {
            self.on_syn(now, segment);
            return Delivered::default();
        }
        if self.ecn == EcnMode::Accurate {
            self.arrivals.count(segment);
        }
        if segment.payload == 0 {
            if !segment.feedback.is_none() {
                self.acknowledge(now);
            }
            return Delivered::default();
        }
        self.repairs = self.options.local_repairs;
        self.note_data(now);
        let is_accurate = self.ecn == EcnMode::Accurate;
        // "Until it receives a CWR packet" (RFC 3168, section 6.1.3); that packet may itself be marked.
        let confirms = segment.flags.cwr && !is_accurate;
        if confirms {
            self.echo = false;
        }
        if self.ecn == EcnMode::Classic && segment.ecn == Ecn::CongestionExperienced && !self.echo {
            self.echo = true;
            self.begin_quick_acks(self.options.quick_acks);
        }
        let before = self.next;
        let may_wait = self.on_data(segment);
        let read = self.next - before;
        if self.window.on_data(now, segment, self.next, self.out_of_order.bytes() + read) {
            self.quick_acks_left |= 1; // `tcp_grow_window`
        }
        if read > 0 {
            self.window.on_read(now, self.next, self.out_of_order.end());
        } else if let Some(last) = self.out_of_order.end() {
            self.window.on_gap(self.next, last);
        }
        let heeds_psh = self.options.prompt_acks || self.options.awaited_data() > 0;
        let is_prompt = heeds_psh && segment.flags.psh || self.options.prompt_acks && confirms;
        let reports_marks = is_accurate && self.arrivals.wants_ack();
        let is_quick = self.quick_acks_left > 0;
        let may_wait = may_wait && !is_quick && !is_prompt;
        match self.options.delayed_ack {
            Some(delay) if may_wait && !reports_marks && self.unacknowledged + 1 < self.options.ack_every => {
                self.unacknowledged += 1;
                self.deadline.get_or_insert(now + delay);
            }
            // More segments may arrive at this instant.
            Some(_) if may_wait && self.options.receive_offload => self.deadline = Some(now),
            _ => self.acknowledge_gap(now, is_quick || reports_marks),
        }
        Delivered { bytes: read, offset: before }
    }

    /// Retransmits an acknowledgement, unless a later one replaces it. The feedback is omitted: the given-up
    /// packet may have arrived, and feedback is cumulative.
    fn on_given_up(&mut self, _now: Time, segment: &Segment) -> bool {
        let is_last = self.reply.is_none() && self.host.is_empty() && segment.ack == self.next;
        let repairs = self.repairs > 0 && is_last;
        if repairs {
            self.repairs -= 1;
            self.reply = Some(Segment { feedback: HeaderBytes::NONE, ..*segment });
        }
        repairs
    }

    fn on_timeout(&mut self, now: Time) {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.acknowledge(now);
        }
    }

    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        self.reply.take().or_else(|| self.host.poll(now))
    }

    fn poll_timeout(&self) -> Option<Time> {
        [self.deadline, self.host.next_departure()].into_iter().flatten().min()
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recovery;
    use multihop_core::Span;

    const NOW: Time = Time::ZERO;

    fn receiver(delayed_ack: Option<Span>) -> TcpReceiver {
        let recovery = Recovery::Sack;
        TcpReceiver::new(TcpOptions {
            delayed_ack,
            recovery,
            ecn: true,
            handshake: false,
            ..TcpOptions::default()
        })
    }

    /// A segment of 100 bytes.
    fn data(number: u64) -> Segment {
        Segment { seq: 100 * number, payload: 100, ..Segment::default() }
    }

    fn reply(receiver: &mut TcpReceiver, segment: &Segment) -> Option<Segment> {
        receiver.on_segment(NOW, segment);
        receiver.poll_segment(NOW)
    }

    #[test]
    fn rfc_2018_4_the_latest_block_comes_first() {
        let mut receiver = receiver(None);
        reply(&mut receiver, &data(0));
        for number in [2, 4, 6, 8] {
            reply(&mut receiver, &data(number));
        }
        let ack = reply(&mut receiver, &data(3)).unwrap();
        let blocks: Vec<(u64, u64)> = ack.sack.as_slice().iter().map(|b| (b.start, b.end)).collect();
        assert_eq!(blocks, [(200, 500), (800, 900), (600, 700)]);
        assert_eq!((ack.ack, ack.header), (100, 40 + 28));
        assert_eq!(receiver.on_segment(NOW, &data(1)).bytes, 400);
    }

    #[test]
    fn rfc_5681_4_2_every_second_segment_or_the_timer() {
        let mut receiver = receiver(Some(Span::from_ms(100)));
        assert_eq!(reply(&mut receiver, &data(0)), None);
        assert_eq!(reply(&mut receiver, &data(1)).unwrap().ack, 200);
        assert_eq!(reply(&mut receiver, &data(2)), None);
        let deadline = receiver.poll_timeout().unwrap();
        assert_eq!(deadline, NOW + Span::from_ms(100));
        receiver.on_timeout(deadline);
        assert_eq!(receiver.poll_segment(deadline).unwrap().ack, 300);
        assert_eq!(receiver.poll_timeout(), None);
    }

    /// Every fourth segment, or the delay since the first unacknowledged one; segments out of order are
    /// acknowledged at once.
    #[test]
    fn rfc_5690_an_acknowledgement_may_stand_for_more() {
        let mut receiver = receiver(Some(Span::from_ms(100)));
        receiver.options.ack_every = 4;
        for number in [0, 1, 2] {
            assert_eq!(reply(&mut receiver, &data(number)), None);
        }
        assert_eq!(reply(&mut receiver, &data(3)).unwrap().ack, 400);
        assert_eq!(
            (reply(&mut receiver, &data(4)), receiver.poll_timeout()),
            (None, Some(NOW + Span::from_ms(100)))
        );
        let later = NOW + Span::from_ms(60);
        receiver.on_segment(later, &data(5));
        assert_eq!(receiver.poll_timeout(), Some(NOW + Span::from_ms(100)), "since the first");
        receiver.on_timeout(NOW + Span::from_ms(100));
        assert_eq!(receiver.poll_segment(later).unwrap().ack, 600);
        assert_eq!(reply(&mut receiver, &data(7)).unwrap().ack, 600);
        receiver.options.ack_every = 1;
        assert_eq!(reply(&mut receiver, &data(6)).unwrap().ack, 800);
        assert_eq!(reply(&mut receiver, &data(8)).unwrap().ack, 900, "each");
    }

    #[test]
    fn rfc_5681_4_2_at_once_out_of_order_duplicate_or_filling_a_gap() {
        let mut receiver = receiver(Some(Span::from_ms(100)));
        assert_eq!(reply(&mut receiver, &data(1)).unwrap().ack, 0);
        assert_eq!(reply(&mut receiver, &data(0)).unwrap().ack, 200);
        assert_eq!(reply(&mut receiver, &data(1)).unwrap().ack, 200);
    }

    #[test]
    fn rfc_3168_6_1_3_every_ack_echoes_until_cwr() {
        let mut receiver = receiver(None);
        let echoes =
            |receiver: &mut TcpReceiver, segment: &Segment| reply(receiver, segment).unwrap().flags.ece;
        assert!(!echoes(&mut receiver, &data(0)));
        let marked = Segment { ecn: Ecn::CongestionExperienced, ..data(1) };
        assert!(echoes(&mut receiver, &marked));
        assert!(echoes(&mut receiver, &data(2)));
        let cwr = Flags { cwr: true, ..Flags::default() };
        assert!(!echoes(&mut receiver, &Segment { flags: cwr, ..data(3) }));
        assert!(!echoes(&mut receiver, &data(4)));
        let both = Segment { flags: cwr, ecn: Ecn::CongestionExperienced, ..data(5) };
        assert!(echoes(&mut receiver, &both));
    }

    /// The marked segment and the next one are acknowledged at once, once until the sender has reacted.
    #[test]
    fn linux_acknowledges_at_once_when_a_mark_arrives() {
        let mut receiver = receiver(Some(Span::from_ms(100)));
        (receiver.ecn, receiver.options.quick_acks) = (EcnMode::Classic, 2);
        let marked = |number| Segment { ecn: Ecn::CongestionExperienced, ..data(number) };
        let mut at_once = |segment: &Segment| reply(&mut receiver, segment).is_some();
        assert_eq!([data(0), data(1)].map(|segment| at_once(&segment)), [false, true]);
        let segments = [marked(2), data(3), marked(4), data(5), data(6)];
        assert_eq!(segments.map(|segment| at_once(&segment)), [true, true, false, true, false]);
        let cwr = Flags { cwr: true, ..Flags::default() };
        let segments = [Segment { flags: cwr, ..data(7) }, marked(8), data(9), data(10), data(11)];
        assert_eq!(segments.map(|segment| at_once(&segment)), [true, true, true, false, true]);
    }

    /// `tcp_incr_quickack`: three segments are acknowledged at once from the first, from the first after more
    /// than a second, which is the timeout without a round trip, and from a duplicate.
    #[test]
    fn linux_acknowledges_at_once_when_the_sender_may_be_in_slow_start() {
        let mut receiver = receiver(Some(Span::from_ms(100)));
        receiver.options.start_quick_acks = 3;
        let mut at_once = |ms, number| {
            let now = NOW + Span::from_ms(ms);
            receiver.on_segment(now, &data(number));
            receiver.poll_segment(now).is_some()
        };
        assert_eq!([0, 1, 2, 3, 4].map(|number| at_once(0, number)), [true, true, true, false, true]);
        assert_eq!([5, 6].map(|number| at_once(1_000, number)), [false, true]);
        assert_eq!([7, 8, 9, 10, 11].map(|number| at_once(2_001, number)), [true, true, true, false, true]);
        assert_eq!(
            [11, 12, 13, 14, 15].map(|number| at_once(2_002, number)),
            [true, true, true, false, true]
        );
    }

    #[test]
    fn rfc_7323_4_3_a_delayed_ack_echoes_its_first_segment() {
        let options = TcpOptions { timestamps: true, handshake: false, ..TcpOptions::default() };
        let mut receiver = TcpReceiver::new(options);
        let at = |number, ms| Segment { echo: Some(NOW + Span::from_ms(ms)), ..data(number) };
        assert_eq!(reply(&mut receiver, &at(0, 10)), None);
        let ack = reply(&mut receiver, &at(1, 20)).unwrap();
        assert_eq!((ack.echo, ack.header), (Some(NOW + Span::from_ms(10)), 52));
    }

    #[test]
    fn a_receiver_has_nothing_to_send() {
        let mut receiver = receiver(None);
        receiver.push(NOW, 1_000);
        assert_eq!((receiver.backlog(), receiver.progress()), (0, Progress::default()));
        assert_eq!((receiver.poll_segment(NOW), receiver.poll_timeout()), (None, None));
    }

    /// RFC 3168, section 6.1.1: ECN is negotiated if the SYN has ECE and CWR, and the receiver supports it.
    /// Checks the whole answer.
    #[test]
    fn rfc_3168_6_1_1_the_answer_to_a_syn() {
        for (wanted, ece, cwr, agreed) in [
            (true, true, true, true),
            (true, true, false, false),
            (true, false, true, false),
            (false, true, true, false),
        ] {
            for timestamps in [true, false] {
                let options = TcpOptions {
                    ecn: wanted,
                    timestamps,
                    segment_size: 1_000,
                    window: 9,
                    ..TcpOptions::default()
                };
                let mut receiver = TcpReceiver::new(options);
                let flags = Flags { syn: true, ece, cwr, ..Flags::default() };
                let sent = Some(NOW + Span::from_ms(5));
                let answer = reply(&mut receiver, &Segment { flags, echo: sent, ..Segment::default() });
                let expected = Segment {
                    header: if timestamps { 52 } else { 40 },
                    flags: Flags { syn: true, ack: true, ece: agreed, ..Flags::default() },
                    echo: sent.filter(|_| timestamps),
                    window: 9_000,
                    ..Segment::default()
                };
                assert_eq!(answer, Some(expected));
                let marked = Segment { ecn: Ecn::CongestionExperienced, ..data(1) };
                assert_eq!(reply(&mut receiver, &marked).unwrap().flags.ece, agreed, "{ece} {cwr}");
            }
        }
    }

    /// Every field of an acknowledgement, with and without missing data.
    #[test]
    fn rfc_9293_3_10_7_4_an_acknowledgement() {
        let options = TcpOptions {
            recovery: Recovery::Sack,
            handshake: false,
            timestamps: true,
            segment_size: 1_000,
            window: 5,
            delayed_ack: None,
            ..TcpOptions::default()
        };
        let mut receiver = TcpReceiver::new(options.clone());
        let at = |number, ms| Segment { echo: Some(NOW + Span::from_ms(ms)), ..data(number) };
        let flags = Flags { ack: true, ..Flags::default() };
        let echo = Some(NOW + Span::from_ms(10));
        let first = Segment { ack: 100, header: 52, flags, echo, window: 5_000, ..Segment::default() };
        assert_eq!(reply(&mut receiver, &at(0, 10)), Some(first));
        let mut sack = SackBlocks::default();
        sack.push(SackBlock { start: 200, end: 300 });
        // Segments out of order do not update `TS.Recent`.
        assert_eq!(reply(&mut receiver, &at(2, 20)), Some(Segment { header: 64, sack, ..first }));
        let echo = Some(NOW + Span::from_ms(30));
        assert_eq!(reply(&mut receiver, &at(1, 30)), Some(Segment { ack: 300, echo, ..first }));
        // A duplicate changes nothing, and a segment without data has no answer.
        assert_eq!(reply(&mut receiver, &at(0, 10)), Some(Segment { ack: 300, echo, ..first }));
        assert_eq!(reply(&mut receiver, &Segment { seq: 300, ..Segment::default() }), None);
        // Without SACK there are no blocks, however much is missing.
        let mut reno = TcpReceiver::new(TcpOptions { recovery: Recovery::NewReno, ..options });
        let Segment { ack, header, sack, .. } = reply(&mut reno, &at(2, 20)).unwrap();
        assert_eq!((ack, header, sack), (0, 52, SackBlocks::default()));
    }

    /// A segment may repeat delivered data, with new data after it, or extend into data received early.
    #[test]
    fn segments_that_overlap_deliver_what_is_new() {
        let mut receiver = receiver(None);
        let segment = |seq, payload| Segment { seq, payload, ..Segment::default() };
        let mut delivered = |seq, payload| {
            let Delivered { bytes, offset } = receiver.on_segment(NOW, &segment(seq, payload));
            (bytes, offset, receiver.poll_segment(NOW).unwrap().ack)
        };
        assert_eq!(delivered(0, 100), (100, 0, 100));
        assert_eq!(delivered(50, 100), (50, 100, 150));
        assert_eq!(delivered(50, 100), (0, 150, 150));
        assert_eq!(delivered(300, 100), (0, 150, 150));
        assert_eq!(delivered(150, 150), (250, 150, 400), "up to where the early one begins");
        assert_eq!(delivered(500, 100), (0, 400, 400));
        assert_eq!(delivered(400, 150), (200, 400, 600), "into the middle of it");
        assert_eq!(delivered(700, 10), (0, 600, 600));
        assert_eq!(delivered(600, 200), (200, 600, 800), "beyond it");
        assert_eq!(delivered(800, 10), (10, 800, 810));
    }

    /// The host takes 200 us for each acknowledgement, and keeps their order.
    #[test]
    fn the_host_delays_acknowledgements() {
        let mut receiver = receiver(None);
        receiver.options.host_delay = Some(Span::from_us(200));
        let at = |us| NOW + Span::from_us(us);
        for (number, us) in [(0, 0), (1, 50)] {
            receiver.on_segment(at(us), &data(number));
            assert_eq!(receiver.poll_segment(at(us)), None);
        }
        assert_eq!(receiver.poll_timeout(), Some(at(200)));
        assert_eq!(receiver.poll_segment(at(200)).map(|ack| ack.ack), Some(100));
        assert_eq!((receiver.poll_segment(at(200)), receiver.poll_timeout()), (None, Some(at(250))));
        assert_eq!(receiver.poll_segment(at(250)).map(|ack| ack.ack), Some(200));
        assert_eq!(receiver.poll_timeout(), None);
    }

    /// A segment below the acknowledgement number, and one inside a block beyond it, arrive twice.
    #[test]
    fn rfc_2883_4_what_arrived_twice_is_reported_first() {
        let mut receiver = receiver(None);
        receiver.options.duplicate_sack = true;
        let blocks = |ack: Segment| -> Vec<(u64, u64)> {
            ack.sack.as_slice().iter().map(|block| (block.start, block.end)).collect()
        };
        for number in [0, 2, 3] {
            reply(&mut receiver, &data(number));
        }
        assert_eq!(blocks(reply(&mut receiver, &data(0)).unwrap()), [(0, 100), (200, 400)]);
        assert_eq!(blocks(reply(&mut receiver, &data(3)).unwrap()), [(300, 400), (200, 400)]);
        assert_eq!(blocks(reply(&mut receiver, &data(5)).unwrap()), [(500, 600), (200, 400)], "once");
    }

    /// Beyond a gap three segments are acknowledged at once; then a millisecond passes without a known round
    /// trip, or 44 segments.
    #[test]
    fn linux_compresses_acknowledgements_beyond_a_gap() {
        let mut receiver = receiver(Some(Span::from_ms(40)));
        receiver.options.compressed_acks = true;
        let at = |us| NOW + Span::from_us(us);
        for number in 1..=3 {
            assert!(reply(&mut receiver, &data(number)).is_some(), "{number}");
        }
        receiver.on_segment(at(10), &data(4));
        receiver.on_segment(at(20), &data(5));
        assert_eq!((receiver.poll_segment(at(20)), receiver.poll_timeout()), (None, Some(at(1_010))));
        receiver.on_timeout(at(1_010));
        let ack = receiver.poll_segment(at(1_010)).unwrap();
        assert_eq!((ack.ack, ack.sack.as_slice()[0].end, receiver.poll_timeout()), (0, 600, None));
        for number in 6..50 {
            assert_eq!(reply(&mut receiver, &data(number)), None, "{number}");
        }
        assert!(reply(&mut receiver, &data(50)).is_some(), "44 segments wait");
        assert_eq!(reply(&mut receiver, &data(0)).unwrap().ack, 5_100, "a filled gap");
    }

    /// From 100 to 300 us, in order, and on average near 200 us.
    #[test]
    fn the_delay_of_a_host_varies_by_half() {
        let mut receiver = receiver(None);
        receiver.options.host_delay = Some(Span::from_us(200));
        receiver.options.host_delay_varies = true;
        let mut delays = Vec::new();
        for number in 0..1_000 {
            let now = NOW + Span::from_ms(number);
            receiver.on_segment(now, &data(number));
            let leaves = receiver.poll_timeout().unwrap();
            delays.push(leaves.since(now).ns() / 1_000);
            assert_eq!(receiver.poll_segment(leaves).unwrap().ack, 100 * (number + 1));
        }
        let mean = delays.iter().sum::<u64>() / 1_000;
        assert!((190..210).contains(&mean), "{mean}");
        let ends = (*delays.iter().min().unwrap(), *delays.iter().max().unwrap());
        assert!((100..105).contains(&ends.0) && (295..300).contains(&ends.1), "{ends:?}");
        // Two at one instant leave in order.
        let now = NOW + Span::from_ms(2_000);
        (1_000..1_100).for_each(|number| _ = receiver.on_segment(now, &data(number)));
        let later = now + Span::from_ms(1);
        let acks: Vec<u64> =
            std::iter::from_fn(|| receiver.poll_segment(later)).map(|reply| reply.ack).collect();
        assert!(acks.len() == 100 && acks.is_sorted(), "{acks:?}");
    }
}
