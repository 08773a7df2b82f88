//! One direction of a connection: the scheme's sender at the source, and the scheme's receiver at the
//! destination.

use super::tcp::TcpSegment;
use super::{Headers, ReleasedPacket};
use crate::datagram::Datagram;
use multihop_core::{Ecn, FlowId, HeaderBytes, Segment, Span, Time};
use multihop_schemes::TcpParts;
use multihop_transport::{
    AckInfo, Acked, Controller, Echo, LossKind, Lost, Recovered, Returned, Rto, SentSegment, TcpOptions,
};
use std::collections::VecDeque;

/// Maximum number of queued segments, and of unacknowledged segments that are tracked: more than a kernel
/// sends without an acknowledgement, as its buffers hold 4 MB by default.
const MAX_SEGMENTS: usize = 1 << 12;

/// Segment of the kernel with its flow.
pub(super) struct QueuedSegment {
    pub packet: Vec<u8>,
    pub flow: FlowId,
    pub datagram: Datagram,
    pub segment: TcpSegment,
}

/// Acknowledgement that arrived at the source.
pub(super) struct ReceivedAck {
    pub now: Time,
    pub ack: u32,
    /// Whether the acknowledgement carries no data, so that it is a duplicate if it acknowledges nothing new.
    pub pure: bool,
    pub header: HeaderBytes,
    pub ecn: Ecn,
    pub hops: u16,
}

struct UnackedSegment {
    end: u32,
    sent: Time,
    /// Whether the segment was sent only once (Karn).
    sent_once: bool,
}

/// State of one direction.
pub(super) struct Direction {
    options: TcpOptions,
    controller: Box<dyn Controller>,
    echo: Option<Box<dyn Echo>>,
    /// Whether segments arrived whose headers no acknowledgement has returned yet.
    has_feedback: bool,
    /// Sequence number of the SYN.
    pub first: u32,
    /// Window scale of the source, if it has offered one.
    pub scale: Option<u8>,
    /// First unacknowledged sequence number.
    una: u32,
    /// Next sequence number to send.
    next: u32,
    is_open: bool,
    waiting: VecDeque<QueuedSegment>,
    unacked: VecDeque<UnackedSegment>,
    /// Earliest time of the next segment.
    paced: Time,
    last_sent: Time,
    rto: Rto,
    duplicates: u32,
    /// Sequence number that ends recovery, if duplicate acknowledgements showed a loss.
    recover: Option<u32>,
    timed_out: Option<u32>,
    /// Sequence number after the FIN.
    fin_end: Option<u32>,
}

/// Whether `a` is before `b` (RFC 9293, section 3.4).
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Direction {
    /// A direction whose SYN has the sequence number `first` and offers the window scale `scale`.
    pub fn new(parts: TcpParts, first: u32, scale: Option<u8>) -> Direction {
        let TcpParts { options, controller, echo } = parts;
        Direction {
            rto: Rto::new(options.rto.clone()),
            options,
            controller,
            echo,
            has_feedback: false,
            first,
            scale,
            una: first,
            next: first,
            is_open: false,
            waiting: VecDeque::new(),
            unacked: VecDeque::new(),
            paced: Time::ZERO,
            last_sent: Time::ZERO,
            duplicates: 0,
            recover: None,
            timed_out: None,
            fin_end: None,
        }
    }

    /// Whether everything up to the FIN is acknowledged.
    pub fn is_over(&self) -> bool {
        self.fin_end.is_some_and(|end| !is_before(self.una, end))
    }

    /// Number of queued segments.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Window in payload bytes, at least a segment.
    pub fn window(&self) -> u64 {
        self.controller.allowance().window.max(self.segment_size())
    }

    fn segment_size(&self) -> u64 {
        u64::from(self.options.segment_size)
    }

    fn in_flight(&self) -> u64 {
        u64::from(self.next.wrapping_sub(self.una))
    }

    /// Whether the queue is full for this segment. Retransmissions are not queued.
    pub fn is_full_for(&self, segment: &TcpSegment) -> bool {
        self.waiting.len() >= MAX_SEGMENTS && !is_before(segment.seq, self.next)
    }

    /// Whether this segment, or another one that covers it, is already queued.
    pub fn contains(&self, segment: &TcpSegment) -> bool {
        let covers =
            |other: &TcpSegment| !is_before(segment.seq, other.seq) && !is_before(other.end(), segment.end());
        self.waiting.iter().any(|queued| covers(&queued.segment))
    }

    /// Enqueues a segment that the kernel sends.
    pub fn enqueue(&mut self, now: Time, queued: QueuedSegment) {
        let is_repeated = |queued: &QueuedSegment| is_before(queued.segment.seq, self.next);
        // Retransmissions go first.
        let place = if is_repeated(&queued) {
            self.waiting.iter().take_while(|one| is_repeated(one)).count()
        } else {
            self.waiting.len()
        };
        if is_repeated(&queued) {
            self.note_loss(now);
        } else if self.waiting.is_empty() && self.in_flight() == 0 {
            let silent = now.since(self.last_sent);
            if self.is_open && self.last_sent > Time::ZERO && silent > self.rto.timeout() {
                self.controller.on_idle(now);
            }
        }
        self.waiting.insert(place, queued);
    }

    /// Queued segments when the connection is over.
    pub fn into_queued(self) -> impl Iterator<Item = ReleasedPacket> {
        self.waiting.into_iter().map(|QueuedSegment { packet, flow, datagram, .. }| ReleasedPacket {
            packet,
            flow,
            datagram,
            headers: Headers::default(),
        })
    }

    /// Next segment that may be sent now, with its congestion header; or the time of the next try, none if an
    /// acknowledgement must arrive first.
    pub fn release(&mut self, now: Time) -> Result<(QueuedSegment, HeaderBytes), Option<Time>> {
        let Some(first) = self.waiting.front() else { return Err(None) };
        let segment = first.segment;
        // Retransmissions of the kernel are due, by its own timers and duplicates.
        if !is_before(segment.seq, self.next) && segment.payload > 0 {
            let (window, outstanding) = (self.window(), self.in_flight());
            if outstanding > 0 && outstanding + u64::from(segment.payload) > window {
                return Err(None);
            }
            if now < self.paced {
                return Err(Some(self.paced));
            }
        }
        let queued = self.waiting.pop_front().expect("there is one");
        let header = self.sent(now, &queued.segment, queued.datagram);
        Ok((queued, header))
    }

    /// Records that a segment is sent. Returns its congestion header.
    fn sent(&mut self, now: Time, segment: &TcpSegment, datagram: Datagram) -> HeaderBytes {
        let (size, end) = (u64::from(segment.payload), segment.end());
        let retransmission = is_before(segment.seq, self.next);
        if retransmission {
            let (from, to) = (segment.seq, end);
            let repeated = |one: &&mut UnackedSegment| is_before(from, one.end) && !is_before(to, one.end);
            self.unacked.iter_mut().filter(repeated).for_each(|one| one.sent_once = false);
        }
        if is_before(self.next, end) {
            self.next = end;
            // Round trips of further segments are not measured.
            if self.unacked.len() < MAX_SEGMENTS {
                self.unacked.push_back(UnackedSegment { end, sent: now, sent_once: !retransmission });
            }
        }
        if segment.ends() {
            self.fin_end = Some(end);
        }
        self.last_sent = now;
        let header = self.controller.stamp(size);
        let packet = u64::from(datagram.payload + datagram.header) + header.on_air().len() as u64;
        let in_flight = self.in_flight();
        if size > 0 {
            let sent = SentSegment { now, size, packet, in_flight, retransmission, app_limited: false };
            self.controller.on_sent(&sent);
            let pace = self.controller.allowance().pace;
            self.paced = now + pace.map_or(Span::ZERO, |pace| pace.span_of_bytes(packet));
        }
        header
    }

    /// Records a loss that the kernel's retransmission shows: by duplicates if there were enough, else by its
    /// timer.
    fn note_loss(&mut self, now: Time) {
        let in_flight = self.in_flight();
        if self.recover.is_some() || in_flight == 0 {
            return;
        }
        let kind = if self.duplicates >= self.options.duplicate_threshold {
            self.recover = Some(self.next);
            LossKind::DuplicateAcks
        } else {
            let again = self.timed_out.replace(self.una) == Some(self.una);
            LossKind::Timeout { again }
        };
        self.controller.on_lost(&Lost { now, kind, in_flight });
    }

    /// Processes an acknowledgement of this direction at its source.
    pub fn acknowledged(&mut self, received: &ReceivedAck) {
        let ReceivedAck { now, ack, .. } = *received;
        let before = self.in_flight();
        let app_limited = self.waiting.is_empty() && before + self.segment_size() <= self.window();
        let advance = u64::from(ack.wrapping_sub(self.una));
        let is_new = advance > 0 && advance <= before;
        let mut rtt = None;
        if is_new {
            rtt = self.advance(now, ack);
            if self.is_open {
                self.on_new_data_acked(received, advance, rtt, app_limited);
            } else {
                self.is_open = true;
                if let Some(rtt) = rtt {
                    self.controller.on_opened(rtt);
                }
            }
        } else if received.pure && ack == self.una && before > 0 {
            self.duplicates += 1;
            self.controller.on_ack(&AckInfo { now, advance: None });
        }
        if !received.header.is_none() && (is_new || self.options.feedback_of_duplicates) {
            let ReceivedAck { header: feedback, ecn, hops, .. } = *received;
            let segment = Segment { feedback, ecn, hops, ..Segment::default() };
            self.controller.on_feedback(&Returned { now, segment: &segment, rtt, app_limited });
        }
    }

    /// Processes the arrival of data up to `ack`. Returns the round trip of the newest segment, if it was
    /// sent once.
    fn advance(&mut self, now: Time, ack: u32) -> Option<Span> {
        (self.una, self.duplicates) = (ack, 0);
        let mut sent = None;
        while let Some(first) = self.unacked.front().filter(|first| !is_before(ack, first.end)) {
            sent = first.sent_once.then_some(first.sent);
            self.unacked.pop_front();
        }
        let sent = sent?;
        self.rto.sample(sent, now);
        self.rto.end_backoff();
        Some(now.since(sent))
    }

    fn on_new_data_acked(&mut self, received: &ReceivedAck, size: u64, rtt: Option<Span>, app_limited: bool) {
        let (now, in_flight) = (received.now, self.in_flight());
        self.controller.on_ack(&AckInfo { now, advance: Some(size) });
        if let Some(recover) = self.recover {
            if !is_before(self.una, recover) {
                self.recover = None;
                let window = in_flight.max(self.segment_size());
                self.controller.on_recovered(&Recovered { now, in_flight, window });
            }
            return;
        }
        let srtt = self.rto.smoothed();
        let hops = received.hops;
        let acked = Acked { rtt, srtt, in_flight, app_limited, hops, ..Acked::in_order(now, size) };
        self.controller.on_acked(&acked);
    }

    /// Processes a segment with this congestion header at its destination.
    pub fn arrived(&mut self, segment: &TcpSegment, header: HeaderBytes, ecn: Ecn, hops: u16) {
        if let Some(echo) = &mut self.echo {
            let payload = segment.payload;
            echo.note(&Segment { payload, feedback: header, ecn, hops, ..Segment::default() });
            self.has_feedback = true;
        }
    }

    /// Feedback for an acknowledgement that is sent now.
    pub fn returned(&mut self) -> HeaderBytes {
        let has_feedback = std::mem::take(&mut self.has_feedback);
        self.echo.as_mut().filter(|_| has_feedback).map_or(HeaderBytes::NONE, |echo| echo.take())
    }
}
