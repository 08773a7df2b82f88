//! Link events, reconstructed from a capture as the simulator reports them for a node.

use crate::profile::Profile;
use crate::{CapturedFrame, Number, Seen, Settled, StationId};
use multihop_capture::{Control, FrameType};
use multihop_core::{
    Attempt, DecodedFrame, Exchange, Fate, FlowId, FrameKind, Interval, LinkEvent, NodeId, Rate, Span, Time,
};
use multihop_link::PhyTimes;

/// The node that stations beyond those that are distinguished, and those without a known address, are taken
/// for.
const UNKNOWN_STATION: NodeId = NodeId(u32::MAX - 1);

/// A sniffer that is none of the stations.
const OUTSIDER: NodeId = NodeId(u32::MAX - 2);

/// So many RTS without an answer end a frame of which nothing else is seen, not even its size: the default of
/// `dot11ShortRetryLimit` (annex C).
const SHORT_RETRY_LIMIT: u32 = 7;

/// Reports to estimators what happened at the radio that captured, or at one of the stations as seen from
/// there.
///
/// It keeps to what [`multihop_core::LinkEvent`] asks of any source. A capture does not hold all that a node
/// knows:
///
/// * The medium was busy while frames that were decoded were on the air; of other signals nothing is known.
/// * When a packet entered the queue, and when the MAC took it, follow from the times of frames: see
///   [`Reconstruction::on_own_attempt`].
/// * Contention windows and slots of back-off are unknown, and reported as zero; flows are not distinguished,
///   and packets not as having arrived.
/// * Frames of which it is unknown how they were sent, and so for how long, are busy medium at most.
/// * An A-MPDU is one frame of data, and its block acknowledgement an ACK, as if all had arrived.
/// * Management, other block acknowledgements, and polls count as busy medium, and set the NAV; they are no
///   part of an exchange.
#[derive(Clone, Debug)]
pub(crate) struct Reconstruction {
    me: Option<StationId>,
    /// The radio that captured is at that station, so that what its host sent is the station's.
    at_radio: bool,
    phy: PhyTimes,
    nav_reset_after: Span,
    answer_timeout: Span,
    /// The frames on the air, of which the first began and the last will end then.
    busy: Option<Interval>,
    /// Since when the medium has been idle, when it is.
    idle_since: Time,
    nav: Time,
    nav_reset: Option<Time>,
    idle: Idle,
    /// When the node's own last frames began, and the idle time up to there: an exchange has at most two, and
    /// is reported when those of the next may have begun.
    begun: [Option<(Time, Idle)>; 4],
    /// When the MAC was done with its last frame, and the idle time up to there.
    free: Option<(Time, Idle)>,
    /// The frame that is being tried.
    trying: Option<OngoingExchange>,
    /// When the node's own last frames with data began, and when the MAC took what they carried.
    sent: [(Time, Time); SENT],
}

/// An MPDU of an A-MPDU is tried so often, while the MAC also serves others.
const SENT: usize = 32;

/// How long, and in how many pieces, the medium could be used.
#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    time: Span,
    periods: u64,
}

/// A frame from its first try on.
#[derive(Clone, Copy, Debug)]
struct OngoingExchange {
    peer: Option<StationId>,
    number: Option<Number>,
    /// When the MAC took it.
    head_of_line: Time,
    rts_tries: u32,
    rts_failures: u32,
    /// Those since the last CTS.
    in_a_row: u32,
    data_tries: u32,
    size: u32,
    rate: Option<Rate>,
    /// When the last try ended, and the idle time up to when it began.
    end: Time,
    idle: Idle,
}

impl OngoingExchange {
    /// Not tried yet.
    fn begin(peer: Option<StationId>, head_of_line: Time, end: Time) -> OngoingExchange {
        OngoingExchange {
            peer,
            number: None,
            head_of_line,
            rts_tries: 0,
            rts_failures: 0,
            in_a_row: 0,
            data_tries: 0,
            size: 0,
            rate: None,
            end,
            idle: Idle::default(),
        }
    }
}

impl Reconstruction {
    /// At station `me`, or at a sniffer that sends nothing; the radio may be `at_radio` itself.
    pub fn new(me: Option<StationId>, at_radio: bool, profile: &Profile) -> Reconstruction {
        Reconstruction {
            me,
            at_radio,
            phy: profile.times,
            nav_reset_after: profile.nav_reset,
            answer_timeout: profile.answer_timeout,
            busy: None,
            idle_since: Time::ZERO,
            nav: Time::ZERO,
            nav_reset: None,
            idle: Idle::default(),
            begun: [None; 4],
            free: None,
            trying: None,
            sent: [(Time::ZERO, Time::ZERO); SENT],
        }
    }

    /// The station is this one.
    pub fn set_station(&mut self, me: StationId) {
        self.me = Some(me);
    }

    /// A frame was on the air at `air`, sent by `sender` if that is known; it ended the exchange `done`, and
    /// settled what became of data.
    pub fn frame(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        sender: Option<StationId>,
        (done, settled): (Option<&Seen>, Option<&Settled>),
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        self.begin(air, report);
        // An exchange that this frame shows to be over ended before it; one that it ends, with it.
        let (before, with) = match done {
            Some(seen) if seen.ack == Some(air) => (None, done),
            _ => (done, None),
        };
        if let Some(seen) = before {
            self.on_own_attempt(seen, None, report);
        }
        let mine = (frame.sent && self.at_radio) || (self.me.is_some() && sender == self.me);
        if mine && !matches!(frame.control(), Some(Control::Cts | Control::Ack)) {
            self.begun.rotate_right(1);
            self.begun[0] = Some((air.start, self.idle));
        }
        if !mine {
            self.hear(frame, air, sender, with, report);
        } else if frame.control().is_none() && frame.receiver.is_none() {
            self.own_to_group(frame, air, report);
        }
        if frame.control() == Some(Control::CfEnd) {
            // From any station: nothing is reserved any more.
            (self.nav, self.nav_reset) = (self.nav.min(air.end), None);
            report(&LinkEvent::NavReset(air.end));
        }
        let settled = settled.filter(|_| self.me.is_some() && frame.receiver == self.me);
        match with {
            Some(seen) => self.on_own_attempt(seen, settled, report),
            // A request asked for it.
            None => settled.into_iter().for_each(|settled| self.settle(settled, air.end, Span::ZERO, report)),
        }
    }

    /// Nothing else happened up to `now`.
    pub fn advance(&mut self, now: Time, report: &mut dyn FnMut(&LinkEvent)) {
        if let Some(over) = self.busy.take_if(|busy| busy.end <= now) {
            report(&LinkEvent::Busy(over));
            self.idle_since = over.end;
        }
        if self.busy.is_none()
            && let Some(reset) = self.nav_reset.take_if(|reset| *reset <= now)
            && reset < self.nav
        {
            self.nav = reset;
            report(&LinkEvent::NavReset(reset));
        }
    }

    /// A frame begins, which will be on the air for so long.
    pub fn begin(&mut self, air: Interval, report: &mut dyn FnMut(&LinkEvent)) {
        self.advance(air.start, report);
        if let Some(busy) = &mut self.busy {
            busy.end = busy.end.max(air.end);
            return;
        }
        let usable = air.start.since(self.idle_since.max(self.nav));
        if usable > Span::ZERO {
            self.idle = Idle { time: self.idle.time + usable, periods: self.idle.periods + 1 };
        }
        self.nav_reset = None;
        // Clocks that count microseconds may make frames overlap a little.
        let start = air.start.max(self.idle_since);
        self.busy = Some(Interval { start, end: air.end.max(start) });
        report(&LinkEvent::BusyFrom(start));
    }

    fn node(&self) -> NodeId {
        self.me.map_or(OUTSIDER, node_of)
    }

    /// A frame of another station.
    fn hear(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        sender: Option<StationId>,
        ended: Option<&Seen>,
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        let duration = frame.frame.duration.unwrap_or(Span::ZERO);
        if let Some(kind) = kind(frame, ended) {
            let unknown_receiver = !frame.frame.receiver.is_some_and(multihop_capture::Address::is_group);
            report(&LinkEvent::Decoded(DecodedFrame {
                node: self.node(),
                kind,
                from: sender.map_or(UNKNOWN_STATION, node_of),
                to: frame.receiver.map(node_of).or(unknown_receiver.then_some(UNKNOWN_STATION)),
                air,
                duration,
                size: if kind == FrameKind::Data { frame.size } else { 0 },
                flow: None,
                rate: frame.rate.unwrap_or(self.phy.data_rate),
            }));
        }
        let until = air.end + duration;
        if duration > Span::ZERO && (self.me.is_none() || frame.receiver != self.me) && until > self.nav {
            self.nav = until;
            report(&LinkEvent::NavSet(Interval { start: air.end, end: until }));
            let is_rts = kind(frame, ended) == Some(FrameKind::Rts);
            self.nav_reset = is_rts.then(|| air.end + self.nav_reset_after);
        }
    }

    /// A try of this node's own ended, if the exchange is its own.
    ///
    /// When the MAC took the packet is not on the air. A station with more to send takes the next packet when
    /// it is done with the last, and then needs DIFS and a back-off from its first window; if the medium
    /// could be used for longer than that before the first try, the station had nothing to send, and is taken
    /// to have got the packet DIFS before.
    ///
    /// With a block acknowledgement it is an exchange of the data that this settles.
    pub fn on_own_attempt(
        &mut self,
        seen: &Seen,
        settled: Option<&Settled>,
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        let Some(first) = [seen.rts, seen.data].into_iter().flatten().next() else { return };
        if self.me.is_none() || seen.sender != self.me || !is_try(seen) {
            return;
        }
        self.give_up_another(seen, report);
        if !seen.is_possible() {
            // It arrived, and its time is unknown.
            self.trying = None;
            return;
        }
        let (node, peer) = (self.node(), seen.receiver.map_or(UNKNOWN_STATION, node_of));
        let Seen { rts, cts, data, ack, .. } = *seen;
        let (flow, cw, slots) = (FlowId(0), 0, 0);
        report(&LinkEvent::Attempt(Attempt { node, peer, flow, cw, slots, rts, cts, data, ack }));
        let fresh = OngoingExchange::begin(seen.receiver, self.taken(first.start), first.end);
        let idle = self.idle_before(data.unwrap_or(first).start);
        let trying = self.trying.get_or_insert(fresh);
        trying.rts_tries += u32::from(rts.is_some());
        let failed = rts.is_some() && cts.is_none() && data.is_none();
        trying.rts_failures += u32::from(failed);
        trying.in_a_row = if failed { trying.in_a_row + 1 } else { 0 };
        let limit = trying.in_a_row >= SHORT_RETRY_LIMIT;
        trying.end = seen.end() + if ack.is_some() { Span::ZERO } else { self.answer_timeout };
        trying.idle = idle.unwrap_or_default();
        if ack.is_none() {
            trying.idle.time += self.answer_timeout;
        }
        if let Some(data) = data {
            trying.data_tries += 1;
            (trying.number, trying.size, trying.rate) = (seen.number, seen.size, seen.rate);
            self.sent.rotate_right(1);
            self.sent[0] = (data.start, trying.head_of_line);
        }
        if let Some(ack) = ack {
            let frames = [rts, cts, data, Some(ack)].into_iter().flatten();
            let airtime = frames.map(|air| air.length() + seen.sifs).sum::<Span>() - seen.sifs;
            // Stamps may say that the frames were closer together than they can be.
            let airtime = airtime.min(ack.end.since(first.start));
            match settled {
                Some(settled) => self.settle(settled, ack.end, airtime, report),
                None => self.finish(Fate::Acknowledged, ack.end, airtime, report),
            }
        } else if limit {
            self.give_up(report);
        }
    }

    /// A frame to a group, which nothing answers.
    fn own_to_group(&mut self, frame: &CapturedFrame, air: Interval, report: &mut dyn FnMut(&LinkEvent)) {
        if !matches!(frame.frame.kind, FrameType::Data(_)) {
            return;
        }
        self.give_up(report);
        let begun = OngoingExchange::begin(None, self.taken(air.start), air.end);
        self.trying = Some(OngoingExchange { data_tries: 1, size: frame.size, rate: frame.rate, ..begun });
        self.finish(Fate::Broadcast, air.end, air.length(), report);
    }

    /// When the MAC took the frame whose first try began at `start`.
    fn taken(&self, start: Time) -> Time {
        let access = |periods: u64| self.phy.difs * periods.max(1) + self.phy.backoff * 2;
        let busy_all_along = self.idle_before(start).zip(self.free).filter(|(now, (_, then))| {
            now.time.saturating_sub(then.time) <= access(now.periods.saturating_sub(then.periods))
        });
        match busy_all_along {
            Some((_, (done, _))) => done.min(start),
            None => start - self.phy.difs.min(start.since(Time::ZERO)),
        }
    }

    /// The idle time up to when a frame of this node's own began.
    fn idle_before(&self, start: Time) -> Option<Idle> {
        self.begun.iter().flatten().find(|(begun, _)| *begun == start).map(|(_, idle)| *idle)
    }

    /// The frame that is being tried was given up.
    fn give_up(&mut self, report: &mut dyn FnMut(&LinkEvent)) {
        if let Some(trying) = self.trying {
            self.finish(Fate::GivenUp, trying.end, Span::ZERO, report);
        }
    }

    /// Another frame is tried now: the one before was given up.
    fn give_up_another(&mut self, seen: &Seen, report: &mut dyn FnMut(&LinkEvent)) {
        let Some(trying) = self.trying else { return };
        // An A-MPDU is named by one of its MPDUs, and the next has others beside those that are sent again.
        let other_number =
            !seen.aggregate && trying.number.is_some() && seen.data.is_some() && seen.number != trying.number;
        if trying.peer != seen.receiver || other_number {
            self.give_up(report);
        }
    }

    /// The frame's life ends.
    fn finish(&mut self, fate: Fate, done: Time, airtime: Span, report: &mut dyn FnMut(&LinkEvent)) {
        let Some(trying) = self.trying.take() else { return };
        self.end(&trying, fate, done, airtime, report);
    }

    /// A block acknowledgement came. As the MAC of a simulated node does, reports what arrived as one
    /// exchange, with the mean of service delays, and what was given up as another.
    fn settle(&mut self, settled: &Settled, at: Time, airtime: Span, report: &mut dyn FnMut(&LinkEvent)) {
        let Some(trying) = self.trying.take() else { return };
        self.free = Some((at, self.idle));
        for (fate, group) in [(Fate::Acknowledged, &settled.arrived), (Fate::GivenUp, &settled.given_up)] {
            if group.frames == 0 {
                continue;
            }
            let taken = |start: Time| {
                self.sent.iter().find(|(sent, _)| *sent == start).map_or(start, |(_, taken)| *taken)
            };
            let services =
                group.first_sent().map(|(start, frames)| at.since(taken(start)) * u64::from(frames));
            let head_of_line = at - services.sum::<Span>() / group.frames;
            let size = u32::try_from(group.bytes).unwrap_or(u32::MAX);
            let group = OngoingExchange { head_of_line, size, ..trying };
            self.end(&group, fate, at, airtime, report);
        }
    }

    fn end(
        &mut self,
        trying: &OngoingExchange,
        fate: Fate,
        done: Time,
        airtime: Span,
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        // That a frame was given up shows later: what was idle since its last try counts from there.
        self.free = Some((done, if fate == Fate::GivenUp { trying.idle } else { self.idle }));
        report(&LinkEvent::Exchange(Exchange {
            node: self.node(),
            peer: match fate {
                Fate::Broadcast => NodeId::BROADCAST,
                _ => trying.peer.map_or(UNKNOWN_STATION, node_of),
            },
            flow: FlowId(0),
            size: trying.size,
            rate: trying.rate.unwrap_or(self.phy.data_rate),
            payload: 0,
            enqueued: trying.head_of_line,
            head_of_line: trying.head_of_line,
            done,
            fate,
            rts_tries: trying.rts_tries,
            rts_failures: trying.rts_failures,
            data_tries: trying.data_tries,
            slots: 0,
            airtime,
            mpdus: 1, // an A-MPDU is one frame here
        }));
    }
}

/// Is this a try to get data to one station, which answers it at once, and are its times known?
fn is_try(seen: &Seen) -> bool {
    seen.data.is_none_or(|data| {
        let answered_at_once = seen.aggregate || (seen.wants_ack && !seen.block);
        seen.is_data && seen.receiver.is_some() && answered_at_once && data.length() > Span::ZERO
    })
}

/// What the frame is in an exchange of data, if it is part of one; `ended` is the exchange that it ended.
fn kind(frame: &CapturedFrame, ended: Option<&Seen>) -> Option<FrameKind> {
    match frame.frame.kind {
        FrameType::Control(Control::Rts) => Some(FrameKind::Rts),
        FrameType::Control(Control::Cts) => Some(FrameKind::Cts),
        FrameType::Control(Control::Ack | Control::BlockAck(_))
            if ended.is_some_and(|seen| !seen.is_possible()) =>
        {
            None
        }
        FrameType::Control(Control::Ack) if ended.is_none_or(|seen| seen.is_data) => Some(FrameKind::Ack),
        FrameType::Control(Control::BlockAck(_))
            if ended.is_some_and(|seen| seen.is_data && seen.aggregate) =>
        {
            Some(FrameKind::Ack)
        }
        FrameType::Data(_) if frame.ppdu_airtime().is_some() => Some(FrameKind::Data),
        _ => None,
    }
}

fn node_of(station: StationId) -> NodeId {
    NodeId(station.index() as u32)
}
