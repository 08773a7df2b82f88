//! One direction of a connection: the scheme's sender at its source, and the scheme's receiver at its
//! destination.

use super::tcp::TcpSegment;
use super::{Headers, Outgoing};
use crate::datagram::Datagram;
use multihop_core::{Ecn, FlowId, HeaderBytes, Segment, Span, Time};
use multihop_schemes::TcpParts;
use multihop_transport::{
    AckInfo, Acked, Controller, Echo, LossKind, Lost, Recovered, Returned, Rto, SentSegment, TcpOptions,
};
use std::collections::VecDeque;

/// Segments that wait at most, and that are watched at most until they are acknowledged: more than a kernel
/// sends without an acknowledgement, as its buffers hold 4 MB by default.
const MOST_SEGMENTS: usize = 1 << 12;

/// A segment of the kernel with where it is to go.
pub(super) struct Handed {
    pub packet: Vec<u8>,
    pub flow: FlowId,
    pub datagram: Datagram,
    pub segment: TcpSegment,
}

/// What an acknowledgement brought to the source.
pub(super) struct Answer {
    pub now: Time,
    pub ack: u32,
    /// It carries no data, so that it is a duplicate if it acknowledges nothing new.
    pub pure: bool,
    pub header: HeaderBytes,
    pub ecn: Ecn,
    pub hops: u16,
}

struct Flying {
    end: u32,
    sent: Time,
    /// It was sent once (Karn).
    once: bool,
}

/// The direction.
pub(super) struct Stream {
    options: TcpOptions,
    controller: Box<dyn Controller>,
    echo: Option<Box<dyn Echo>>,
    /// Segments came whose headers no acknowledgement has returned yet.
    noted: bool,
    /// The number of its SYN.
    pub first: u32,
    /// The shift of the windows that its source advertises, if it has offered to scale them.
    pub scale: Option<u8>,
    /// The first sequence number that is not acknowledged.
    una: u32,
    /// The one behind all that were sent.
    next: u32,
    is_open: bool,
    waiting: VecDeque<Handed>,
    flying: VecDeque<Flying>,
    /// No segment leaves before this instant.
    paced: Time,
    last_sent: Time,
    rto: Rto,
    duplicates: u32,
    /// Duplicate acknowledgements showed a loss, and recovery ends when this is acknowledged.
    recover: Option<u32>,
    timed_out: Option<u32>,
    /// The number behind its FIN.
    ending: Option<u32>,
}

/// Is `a` before `b` (RFC 9293, section 3.4)?
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Stream {
    /// A direction whose SYN has this number, and offers to scale windows like this.
    pub fn new(parts: TcpParts, first: u32, scale: Option<u8>) -> Stream {
        let TcpParts { options, controller, echo } = parts;
        Stream {
            rto: Rto::new(options.rto.clone()),
            options,
            controller,
            echo,
            noted: false,
            first,
            scale,
            una: first,
            next: first,
            is_open: false,
            waiting: VecDeque::new(),
            flying: VecDeque::new(),
            paced: Time::ZERO,
            last_sent: Time::ZERO,
            duplicates: 0,
            recover: None,
            timed_out: None,
            ending: None,
        }
    }

    /// Has everything arrived, and the FIN behind it?
    pub fn is_over(&self) -> bool {
        self.ending.is_some_and(|end| !is_before(self.una, end))
    }

    /// Segments that wait to be sent.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Payload bytes that may be outstanding, at least a segment.
    pub fn window(&self) -> u64 {
        self.controller.allowance().window.max(self.segment_size())
    }

    fn segment_size(&self) -> u64 {
        u64::from(self.options.segment_size)
    }

    fn in_flight(&self) -> u64 {
        u64::from(self.next.wrapping_sub(self.una))
    }

    /// Whether so many segments wait that this one may not. What is repeated does not wait.
    pub fn is_full_for(&self, segment: &TcpSegment) -> bool {
        self.waiting.len() >= MOST_SEGMENTS && !is_before(segment.seq, self.next)
    }

    /// Does this segment, or all of it within another one, wait already?
    pub fn waits_for(&self, segment: &TcpSegment) -> bool {
        let covers =
            |other: &TcpSegment| !is_before(segment.seq, other.seq) && !is_before(other.end(), segment.end());
        self.waiting.iter().any(|handed| covers(&handed.segment))
    }

    /// The kernel sends a segment of this direction, which waits its turn.
    pub fn hand(&mut self, now: Time, handed: Handed) {
        let is_repeated = |handed: &Handed| is_before(handed.segment.seq, self.next);
        // What is repeated goes first.
        let place = if is_repeated(&handed) {
            self.waiting.iter().take_while(|one| is_repeated(one)).count()
        } else {
            self.waiting.len()
        };
        if is_repeated(&handed) {
            self.note_loss(now);
        } else if self.waiting.is_empty() && self.in_flight() == 0 {
            let silent = now.since(self.last_sent);
            if self.is_open && self.last_sent > Time::ZERO && silent > self.rto.timeout() {
                self.controller.on_idle(now);
            }
        }
        self.waiting.insert(place, handed);
    }

    /// What waits when the connection is over.
    pub fn left(self) -> impl Iterator<Item = Outgoing> {
        self.waiting.into_iter().map(|Handed { packet, flow, datagram, .. }| Outgoing {
            packet,
            flow,
            datagram,
            headers: Headers::default(),
        })
    }

    /// The next segment that may be sent now, with its congestion header; or when to look again, unless an
    /// acknowledgement has to come before.
    pub fn release(&mut self, now: Time) -> Result<(Handed, HeaderBytes), Option<Time>> {
        let Some(first) = self.waiting.front() else { return Err(None) };
        let segment = first.segment;
        // What the kernel repeats is due: its own timers and duplicates say so.
        if !is_before(segment.seq, self.next) && segment.payload > 0 {
            let (window, outstanding) = (self.window(), self.in_flight());
            if outstanding > 0 && outstanding + u64::from(segment.payload) > window {
                return Err(None);
            }
            if now < self.paced {
                return Err(Some(self.paced));
            }
        }
        let handed = self.waiting.pop_front().expect("there is one");
        let header = self.sent(now, &handed.segment, handed.datagram);
        Ok((handed, header))
    }

    /// A segment leaves. Its congestion header.
    fn sent(&mut self, now: Time, segment: &TcpSegment, datagram: Datagram) -> HeaderBytes {
        let (size, end) = (u64::from(segment.payload), segment.end());
        let retransmission = is_before(segment.seq, self.next);
        if retransmission {
            let (from, to) = (segment.seq, end);
            let repeated = |one: &&mut Flying| is_before(from, one.end) && !is_before(to, one.end);
            self.flying.iter_mut().filter(repeated).for_each(|one| one.once = false);
        }
        if is_before(self.next, end) {
            self.next = end;
            // Beyond that round trips are not measured.
            if self.flying.len() < MOST_SEGMENTS {
                self.flying.push_back(Flying { end, sent: now, once: !retransmission });
            }
        }
        if segment.ends() {
            self.ending = Some(end);
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

    /// The kernel repeats a segment: it has found a loss, by as many duplicates as it takes or by its timer.
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

    /// An acknowledgement of this direction has come to its source.
    pub fn acknowledged(&mut self, answer: &Answer) {
        let Answer { now, ack, .. } = *answer;
        let before = self.in_flight();
        let app_limited = self.waiting.is_empty() && before + self.segment_size() <= self.window();
        let advance = u64::from(ack.wrapping_sub(self.una));
        let is_new = advance > 0 && advance <= before;
        let mut rtt = None;
        if is_new {
            rtt = self.advance(now, ack);
            if self.is_open {
                self.take(answer, advance, rtt, app_limited);
            } else {
                self.is_open = true;
                if let Some(rtt) = rtt {
                    self.controller.on_opened(rtt);
                }
            }
        } else if answer.pure && ack == self.una && before > 0 {
            self.duplicates += 1;
            self.controller.on_ack(&AckInfo { now, advance: None });
        }
        if !answer.header.is_none() && (is_new || self.options.feedback_of_duplicates) {
            let Answer { header: feedback, ecn, hops, .. } = *answer;
            let segment = Segment { feedback, ecn, hops, ..Segment::default() };
            self.controller.on_feedback(&Returned { now, segment: &segment, rtt, app_limited });
        }
    }

    /// What was outstanding up to `ack` has arrived. The round trip of the newest of it, if it was sent once.
    fn advance(&mut self, now: Time, ack: u32) -> Option<Span> {
        (self.una, self.duplicates) = (ack, 0);
        let mut sent = None;
        while let Some(first) = self.flying.front().filter(|first| !is_before(ack, first.end)) {
            sent = first.once.then_some(first.sent);
            self.flying.pop_front();
        }
        let sent = sent?;
        self.rto.sample(sent, now);
        self.rto.end_backoff();
        Some(now.since(sent))
    }

    fn take(&mut self, answer: &Answer, size: u64, rtt: Option<Span>, app_limited: bool) {
        let (now, in_flight) = (answer.now, self.in_flight());
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
        let hops = answer.hops;
        let acked = Acked { rtt, srtt, in_flight, app_limited, hops, ..Acked::in_order(now, size) };
        self.controller.on_acked(&acked);
    }

    /// A segment has come to its destination with this congestion header.
    pub fn arrived(&mut self, segment: &TcpSegment, header: HeaderBytes, ecn: Ecn, hops: u16) {
        if let Some(echo) = &mut self.echo {
            let payload = segment.payload;
            echo.note(&Segment { payload, feedback: header, ecn, hops, ..Segment::default() });
            self.noted = true;
        }
    }

    /// What an acknowledgement that leaves now returns to the source.
    pub fn returned(&mut self) -> HeaderBytes {
        let noted = std::mem::take(&mut self.noted);
        self.echo.as_mut().filter(|_| noted).map_or(HeaderBytes::NONE, |echo| echo.take())
    }
}
