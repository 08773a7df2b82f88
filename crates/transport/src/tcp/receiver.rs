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
mod tests;
