//! Reconstruction of link events from a capture, as the simulator reports them for a node.

use crate::profile::Profile;
use crate::{BlockAckOutcome, CapturedFrame, FrameNumber, ObservedExchange, StationId};
use multihop_capture::{Control, FrameType};
use multihop_core::{
    Attempt, DecodedFrame, Exchange, Fate, FlowId, FrameKind, Interval, LinkEvent, NodeId, Rate, Span, Time,
};
use multihop_link::PhyTimes;

/// Node that represents stations beyond the limit, and stations without a known address.
const UNKNOWN_STATION: NodeId = NodeId(u32::MAX - 1);

/// Node of a sniffer that is none of the stations.
const OUTSIDER: NodeId = NodeId(u32::MAX - 2);

/// Number of consecutive RTS without a response after which a frame counts as given up, if nothing else of it
/// is captured: the default of `dot11ShortRetryLimit` (annex C).
const SHORT_RETRY_LIMIT: u32 = 7;

/// Reports to estimators the link events of the capturing radio, or of one of the stations as captured there.
///
/// The events obey the rules of [`multihop_core::LinkEvent`]. A capture lacks part of what a node knows:
///
/// * The medium is busy during decoded frames; other signals are unknown.
/// * The times at which a packet was enqueued and dequeued are derived from the times of frames: see
///   [`Reconstruction::on_own_attempt`].
/// * Contention windows and back-off slots are unknown and reported as zero. Flows are not distinguished, and
///   arrivals of packets are not reported.
/// * Frames of unknown rate or format, and so of unknown airtime, only make the medium busy.
/// * An A-MPDU counts as one data frame, and its block acknowledgement as an ACK, as if all MPDUs were
///   received.
/// * Management frames, other block acknowledgements and polls make the medium busy and set the NAV, but
///   belong to no exchange.
#[derive(Clone, Debug)]
pub(crate) struct Reconstruction {
    me: Option<StationId>,
    /// Whether the capturing radio belongs to that station, so that frames sent by its host are the
    /// station's.
    at_radio: bool,
    phy: PhyTimes,
    nav_reset_after: Span,
    response_timeout: Span,
    /// Busy period of the medium: start of its first frame and end of its last one.
    busy: Option<Interval>,
    /// Time since which the medium has been idle, if it is.
    idle_since: Time,
    nav: Time,
    nav_reset: Option<Time>,
    idle: IdleTime,
    /// Start of the node's last frames, and the idle time until then. An exchange has at most two frames of
    /// the node, and is reported when those of the next one may have begun.
    own_starts: [Option<(Time, IdleTime)>; 4],
    /// Time at which the MAC finished its last frame, and the idle time until then.
    last_done: Option<(Time, IdleTime)>,
    /// The ongoing exchange.
    ongoing: Option<OngoingExchange>,
    /// Start of the node's last data frames, and the time at which the MAC dequeued their packets.
    sent: [(Time, Time); SENT],
}

/// Limit on the attempts of an MPDU, while the MAC also serves other MPDUs.
const SENT: usize = 32;

/// Total length and number of the periods in which the medium was usable.
#[derive(Clone, Copy, Debug, Default)]
struct IdleTime {
    time: Span,
    periods: u64,
}

/// A frame from its first attempt on.
#[derive(Clone, Copy, Debug)]
struct OngoingExchange {
    peer: Option<StationId>,
    number: Option<FrameNumber>,
    /// Time at which the MAC dequeued the packet.
    head_of_line: Time,
    rts_tries: u32,
    rts_failures: u32,
    /// Number of consecutive RTS failures, since the last CTS.
    consecutive_rts_failures: u32,
    data_tries: u32,
    size: u32,
    rate: Option<Rate>,
    /// End of the last attempt, and the idle time until its start.
    end: Time,
    idle: IdleTime,
}

impl OngoingExchange {
    /// An exchange without attempts.
    fn begin(peer: Option<StationId>, head_of_line: Time, end: Time) -> OngoingExchange {
        OngoingExchange {
            peer,
            number: None,
            head_of_line,
            rts_tries: 0,
            rts_failures: 0,
            consecutive_rts_failures: 0,
            data_tries: 0,
            size: 0,
            rate: None,
            end,
            idle: IdleTime::default(),
        }
    }
}

impl Reconstruction {
    /// Starts at station `me`, or at a sniffer that sends nothing. `at_radio` tells whether the radio belongs
    /// to `me`.
    pub fn new(me: Option<StationId>, at_radio: bool, profile: &Profile) -> Reconstruction {
        Reconstruction {
            me,
            at_radio,
            phy: profile.times,
            nav_reset_after: profile.nav_reset,
            response_timeout: profile.response_timeout,
            busy: None,
            idle_since: Time::ZERO,
            nav: Time::ZERO,
            nav_reset: None,
            idle: IdleTime::default(),
            own_starts: [None; 4],
            last_done: None,
            ongoing: None,
            sent: [(Time::ZERO, Time::ZERO); SENT],
        }
    }

    /// Sets the station.
    pub fn set_station(&mut self, me: StationId) {
        self.me = Some(me);
    }

    /// Processes a frame that was on the air at `air`, sent by `sender` if known, with the exchange that it
    /// closes, and the outcome of data that it acknowledges.
    pub fn frame(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        sender: Option<StationId>,
        (done, settled): (Option<&ObservedExchange>, Option<&BlockAckOutcome>),
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        self.begin(air, report);
        // An exchange that this frame shows to be over ended before the frame; one that it acknowledges ends
        // with it.
        let (before, with) = match done {
            Some(seen) if seen.ack == Some(air) => (None, done),
            _ => (done, None),
        };
        if let Some(seen) = before {
            self.on_own_attempt(seen, None, report);
        }
        let mine = (frame.sent && self.at_radio) || (self.me.is_some() && sender == self.me);
        if mine && !matches!(frame.control(), Some(Control::Cts | Control::Ack)) {
            self.own_starts.rotate_right(1);
            self.own_starts[0] = Some((air.start, self.idle));
        }
        if !mine {
            self.on_other_frame(frame, air, sender, with, report);
        } else if frame.control().is_none() && frame.receiver.is_none() {
            self.on_own_group_frame(frame, air, report);
        }
        if frame.control() == Some(Control::CfEnd) {
            // A CF-End of any station cancels all reservations.
            (self.nav, self.nav_reset) = (self.nav.min(air.end), None);
            report(&LinkEvent::NavReset(air.end));
        }
        let settled = settled.filter(|_| self.me.is_some() && frame.receiver == self.me);
        match with {
            Some(seen) => self.on_own_attempt(seen, settled, report),
            // The block acknowledgement was requested.
            None => settled.into_iter().for_each(|settled| self.settle(settled, air.end, Span::ZERO, report)),
        }
    }

    /// Advances to `now` without further frames.
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

    /// Starts a frame that is on the air at `air`.
    pub fn begin(&mut self, air: Interval, report: &mut dyn FnMut(&LinkEvent)) {
        self.advance(air.start, report);
        if let Some(busy) = &mut self.busy {
            busy.end = busy.end.max(air.end);
            return;
        }
        let usable = air.start.since(self.idle_since.max(self.nav));
        if usable > Span::ZERO {
            self.idle = IdleTime { time: self.idle.time + usable, periods: self.idle.periods + 1 };
        }
        self.nav_reset = None;
        // Clocks with a resolution of microseconds may make frames overlap slightly.
        let start = air.start.max(self.idle_since);
        self.busy = Some(Interval { start, end: air.end.max(start) });
        report(&LinkEvent::BusyFrom(start));
    }

    fn node(&self) -> NodeId {
        self.me.map_or(OUTSIDER, node_of)
    }

    /// Processes a frame of another station.
    fn on_other_frame(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        sender: Option<StationId>,
        ended: Option<&ObservedExchange>,
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        let duration = frame.frame.duration.unwrap_or(Span::ZERO);
        if let Some(kind) = kind(frame, ended) {
            let unknown_receiver = !frame.frame.receiver.is_some_and(multihop_capture::MacAddress::is_group);
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

    /// Processes the end of an attempt, if the exchange is the node's own.
    ///
    /// The time at which the MAC dequeued the packet is not on the air. A backlogged station dequeues the
    /// next packet when it has finished the last one, and then defers for DIFS and a back-off from its first
    /// window. If the medium was usable for longer before the first attempt, the station had no packet; then
    /// the packet is assumed to be dequeued DIFS before the attempt.
    ///
    /// With a block acknowledgement, the exchange is that of the data that it settles.
    pub fn on_own_attempt(
        &mut self,
        seen: &ObservedExchange,
        settled: Option<&BlockAckOutcome>,
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        let Some(first) = [seen.rts, seen.data].into_iter().flatten().next() else { return };
        if self.me.is_none() || seen.sender != self.me || !is_try(seen) {
            return;
        }
        self.give_up_another(seen, report);
        if !seen.is_possible() {
            // The frame was delivered, at an unknown time.
            self.ongoing = None;
            return;
        }
        let (node, peer) = (self.node(), seen.receiver.map_or(UNKNOWN_STATION, node_of));
        let ObservedExchange { rts, cts, data, ack, .. } = *seen;
        let (flow, cw, slots) = (FlowId(0), 0, 0);
        report(&LinkEvent::Attempt(Attempt { node, peer, flow, cw, slots, rts, cts, data, ack }));
        let fresh = OngoingExchange::begin(seen.receiver, self.dequeued_at(first.start), first.end);
        let idle = self.idle_before(data.unwrap_or(first).start);
        let ongoing = self.ongoing.get_or_insert(fresh);
        ongoing.rts_tries += u32::from(rts.is_some());
        let failed = rts.is_some() && cts.is_none() && data.is_none();
        ongoing.rts_failures += u32::from(failed);
        ongoing.consecutive_rts_failures = if failed { ongoing.consecutive_rts_failures + 1 } else { 0 };
        let limit = ongoing.consecutive_rts_failures >= SHORT_RETRY_LIMIT;
        ongoing.end = seen.end() + if ack.is_some() { Span::ZERO } else { self.response_timeout };
        ongoing.idle = idle.unwrap_or_default();
        if ack.is_none() {
            ongoing.idle.time += self.response_timeout;
        }
        if let Some(data) = data {
            ongoing.data_tries += 1;
            (ongoing.number, ongoing.size, ongoing.rate) = (seen.number, seen.size, seen.rate);
            self.sent.rotate_right(1);
            self.sent[0] = (data.start, ongoing.head_of_line);
        }
        if let Some(ack) = ack {
            let frames = [rts, cts, data, Some(ack)].into_iter().flatten();
            let airtime = frames.map(|air| air.length() + seen.sifs).sum::<Span>() - seen.sifs;
            // By their timestamps, frames may be closer together than possible.
            let airtime = airtime.min(ack.end.since(first.start));
            match settled {
                Some(settled) => self.settle(settled, ack.end, airtime, report),
                None => self.finish(Fate::Acknowledged, ack.end, airtime, report),
            }
        } else if limit {
            self.give_up(report);
        }
    }

    /// Processes the node's own group-addressed frame, which has no response.
    fn on_own_group_frame(
        &mut self,
        frame: &CapturedFrame,
        air: Interval,
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        if !matches!(frame.frame.kind, FrameType::Data(_)) {
            return;
        }
        self.give_up(report);
        let own_starts = OngoingExchange::begin(None, self.dequeued_at(air.start), air.end);
        self.ongoing =
            Some(OngoingExchange { data_tries: 1, size: frame.size, rate: frame.rate, ..own_starts });
        self.finish(Fate::Broadcast, air.end, air.length(), report);
    }

    /// Time at which the MAC dequeued the frame whose first attempt began at `start`.
    fn dequeued_at(&self, start: Time) -> Time {
        let access = |periods: u64| self.phy.difs * periods.max(1) + self.phy.backoff * 2;
        let busy_all_along = self.idle_before(start).zip(self.last_done).filter(|(now, (_, then))| {
            now.time.saturating_sub(then.time) <= access(now.periods.saturating_sub(then.periods))
        });
        match busy_all_along {
            Some((_, (done, _))) => done.min(start),
            None => start - self.phy.difs.min(start.since(Time::ZERO)),
        }
    }

    /// Idle time until the start of one of the node's own frames.
    fn idle_before(&self, start: Time) -> Option<IdleTime> {
        self.own_starts.iter().flatten().find(|(own_starts, _)| *own_starts == start).map(|(_, idle)| *idle)
    }

    /// Gives up the ongoing exchange.
    fn give_up(&mut self, report: &mut dyn FnMut(&LinkEvent)) {
        if let Some(ongoing) = self.ongoing {
            self.finish(Fate::GivenUp, ongoing.end, Span::ZERO, report);
        }
    }

    /// Gives up the ongoing exchange if `seen` is an attempt of another frame.
    fn give_up_another(&mut self, seen: &ObservedExchange, report: &mut dyn FnMut(&LinkEvent)) {
        let Some(ongoing) = self.ongoing else { return };
        // The number of an A-MPDU is that of one MPDU, and the next A-MPDU has new MPDUs besides
        // retransmissions.
        let other_number = !seen.aggregate
            && ongoing.number.is_some()
            && seen.data.is_some()
            && seen.number != ongoing.number;
        if ongoing.peer != seen.receiver || other_number {
            self.give_up(report);
        }
    }

    /// Ends the ongoing exchange.
    fn finish(&mut self, fate: Fate, done: Time, airtime: Span, report: &mut dyn FnMut(&LinkEvent)) {
        let Some(ongoing) = self.ongoing.take() else { return };
        self.end(&ongoing, fate, done, airtime, report);
    }

    /// Processes a block acknowledgement. As the MAC of a simulated node does, reports delivered frames as
    /// one exchange with the mean service delay, and given-up frames as another.
    fn settle(
        &mut self,
        settled: &BlockAckOutcome,
        at: Time,
        airtime: Span,
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        let Some(ongoing) = self.ongoing.take() else { return };
        self.last_done = Some((at, self.idle));
        for (fate, group) in [(Fate::Acknowledged, &settled.delivered), (Fate::GivenUp, &settled.given_up)] {
            if group.frames == 0 {
                continue;
            }
            let dequeued_at = |start: Time| {
                self.sent
                    .iter()
                    .find(|(sent, _)| *sent == start)
                    .map_or(start, |(_, dequeued_at)| *dequeued_at)
            };
            let services =
                group.first_sent().map(|(start, frames)| at.since(dequeued_at(start)) * u64::from(frames));
            let head_of_line = at - services.sum::<Span>() / group.frames;
            let size = u32::try_from(group.bytes).unwrap_or(u32::MAX);
            let group = OngoingExchange { head_of_line, size, ..ongoing };
            self.end(&group, fate, at, airtime, report);
        }
    }

    fn end(
        &mut self,
        ongoing: &OngoingExchange,
        fate: Fate,
        done: Time,
        airtime: Span,
        report: &mut dyn FnMut(&LinkEvent),
    ) {
        // A given-up frame is recognised late: idle time since its last attempt counts from there.
        self.last_done = Some((done, if fate == Fate::GivenUp { ongoing.idle } else { self.idle }));
        report(&LinkEvent::Exchange(Exchange {
            node: self.node(),
            peer: match fate {
                Fate::Broadcast => NodeId::BROADCAST,
                _ => ongoing.peer.map_or(UNKNOWN_STATION, node_of),
            },
            flow: FlowId(0),
            size: ongoing.size,
            rate: ongoing.rate.unwrap_or(self.phy.data_rate),
            payload: 0,
            enqueued: ongoing.head_of_line,
            head_of_line: ongoing.head_of_line,
            done,
            fate,
            rts_tries: ongoing.rts_tries,
            rts_failures: ongoing.rts_failures,
            data_tries: ongoing.data_tries,
            slots: 0,
            airtime,
            mpdus: 1, // an A-MPDU counts as one frame
        }));
    }
}

/// Whether this is an attempt to deliver data to one station, with an immediate response and known times.
fn is_try(seen: &ObservedExchange) -> bool {
    seen.data.is_none_or(|data| {
        let answered_at_once = seen.aggregate || (seen.requires_ack && !seen.is_block_ack);
        seen.is_data && seen.receiver.is_some() && answered_at_once && data.length() > Span::ZERO
    })
}

/// Kind of the frame in an exchange of data, if it belongs to one; `ended` is the exchange that it closed.
fn kind(frame: &CapturedFrame, ended: Option<&ObservedExchange>) -> Option<FrameKind> {
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
