//! Link events, told of a capture as the simulator tells them of a node.

use crate::profile::Profile;
use crate::{Seen, Sighting, StationId};
use multihop_capture::{Control, FrameType};
use multihop_core::{
    Attempt, Exchange, Fate, FlowId, FrameKind, Heard, Interval, LinkEvent, NodeId, Rate, Span, Time,
};
use multihop_link::PhyTimes;

/// The node that stations beyond those that are told apart, and those that nobody can name, are taken for.
const STRANGER: NodeId = NodeId(u32::MAX - 1);

/// An onlooker that is none of the stations.
const OUTSIDER: NodeId = NodeId(u32::MAX - 2);

/// So many RTS without an answer end a frame of which nothing else is seen: the default of `dot11ShortRetryLimit` (annex C).
const SHORT_RETRY_LIMIT: u32 = 7;

/// Tells estimators what happened at the radio that captured, or at one of the stations as seen from there.
///
/// It keeps to what [`multihop_core::LinkEvent`] asks of any source. A capture does not tell all that a node knows:
///
/// * The medium was busy while frames that were decoded were on the air; of other signals nothing is known.
/// * When a packet entered the queue, and when the MAC took it, follow from the times of frames: see [`Witness::own`].
/// * Contention windows and slots of back-off are unknown, and told as zero; flows are not told apart, and packets not as having
///   arrived.
/// * An A-MPDU is one frame of data, and its block acknowledgement an ACK, as if all had arrived.
/// * Management, other block acknowledgements, and polls count as busy medium, and set the NAV; they are no part of an exchange.
#[derive(Clone, Debug)]
pub(crate) struct Witness {
    me: Option<StationId>,
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
    /// When the node's own last frames began, and the idle time up to there: an exchange has at most two, and is told of when those
    /// of the next may have begun.
    begun: [Option<(Time, Idle)>; 4],
    /// When the MAC was done with its last frame, and the idle time up to there.
    free: Option<(Time, Idle)>,
    /// The frame that is being tried.
    trying: Option<Trying>,
}

/// How long, and in how many pieces, the medium could be used.
#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    time: Span,
    periods: u64,
}

/// A frame from its first try on.
#[derive(Clone, Copy, Debug)]
struct Trying {
    peer: Option<StationId>,
    sequence: Option<u16>,
    /// When the MAC took it.
    head_of_line: Time,
    rts_tries: u32,
    rts_failures: u32,
    /// Those since the last CTS.
    in_a_row: u32,
    data_tries: u32,
    size: u32,
    rate: Option<Rate>,
    /// When the last try ended.
    end: Time,
}

impl Witness {
    /// At the radio, or at station `me`.
    pub fn new(me: Option<StationId>, profile: &Profile) -> Witness {
        Witness {
            me,
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
        }
    }

    /// The radio is this station.
    pub fn is(&mut self, me: StationId) {
        self.me = Some(me);
    }

    /// A frame was on the air at `air`, sent by `sender` if that is known, and it ended the exchange `done`.
    pub fn frame(
        &mut self,
        frame: &Sighting,
        air: Interval,
        sender: Option<StationId>,
        done: Option<&Seen>,
        tell: &mut dyn FnMut(&LinkEvent),
    ) {
        self.begin(air, tell);
        // An exchange that this frame shows to be over ended before it; one that it ends, with it.
        let (before, with) = match done {
            Some(seen) if seen.ack == Some(air) => (None, done),
            _ => (done, None),
        };
        if let Some(seen) = before {
            self.own(seen, tell);
        }
        let mine = frame.sent || (self.me.is_some() && sender == self.me);
        if mine && !matches!(frame.control(), Some(Control::Cts | Control::Ack)) {
            self.begun.rotate_right(1);
            self.begun[0] = Some((air.start, self.idle));
        }
        if !mine {
            self.hear(frame, air, sender, with, tell);
        } else if frame.control().is_none() && frame.receiver.is_none() {
            self.own_to_group(frame, air, tell);
        }
        if let Some(seen) = with {
            self.own(seen, tell);
        }
    }

    /// An exchange is over of which no more frames came.
    pub fn exchange(&mut self, seen: &Seen, tell: &mut dyn FnMut(&LinkEvent)) {
        self.own(seen, tell);
    }

    /// Nothing else happened up to `now`.
    pub fn advance(&mut self, now: Time, tell: &mut dyn FnMut(&LinkEvent)) {
        if let Some(over) = self.busy.take_if(|busy| busy.end <= now) {
            tell(&LinkEvent::Busy(over));
            self.idle_since = over.end;
        }
        if self.busy.is_none()
            && let Some(reset) = self.nav_reset.take_if(|reset| *reset <= now)
            && reset < self.nav
        {
            self.nav = reset;
            tell(&LinkEvent::NavReset(reset));
        }
    }

    /// A frame begins, which will be on the air for so long.
    pub fn begin(&mut self, air: Interval, tell: &mut dyn FnMut(&LinkEvent)) {
        self.advance(air.start, tell);
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
        tell(&LinkEvent::BusyFrom(start));
    }

    fn node(&self) -> NodeId {
        self.me.map_or(OUTSIDER, node_of)
    }

    /// A frame of somebody else.
    fn hear(
        &mut self,
        frame: &Sighting,
        air: Interval,
        sender: Option<StationId>,
        ended: Option<&Seen>,
        tell: &mut dyn FnMut(&LinkEvent),
    ) {
        let duration = frame.frame.duration.unwrap_or(Span::ZERO);
        if let Some(kind) = kind(frame, ended) {
            let unknown_receiver = !frame.frame.receiver.is_some_and(multihop_capture::Address::is_group);
            tell(&LinkEvent::Heard(Heard {
                node: self.node(),
                kind,
                from: sender.map_or(STRANGER, node_of),
                to: frame.receiver.map(node_of).or(unknown_receiver.then_some(STRANGER)),
                air,
                duration,
                size: if kind == FrameKind::Data { frame.size } else { 0 },
                rate: frame.rate.unwrap_or(self.phy.data_rate),
            }));
        }
        let until = air.end + duration;
        if duration > Span::ZERO && (self.me.is_none() || frame.receiver != self.me) && until > self.nav {
            self.nav = until;
            tell(&LinkEvent::NavSet(Interval { start: air.end, end: until }));
            let is_rts = kind(frame, ended) == Some(FrameKind::Rts);
            self.nav_reset = is_rts.then(|| air.end + self.nav_reset_after);
        }
    }

    /// A try of this node's own ended, if the exchange is its own.
    ///
    /// When the MAC took the packet is not on the air. A station with more to send takes the next packet when it is done with the
    /// last, and then needs DIFS and a back-off from its first window; if the medium could be used for longer than that before the
    /// first try, the station had nothing to send, and is taken to have got the packet DIFS before.
    fn own(&mut self, seen: &Seen, tell: &mut dyn FnMut(&LinkEvent)) {
        let is_mine = self.me.is_some() && seen.sender == self.me;
        let to_group = seen.receiver.is_none() && seen.data.is_some();
        if !is_mine || to_group || (seen.block && !seen.aggregate) {
            return;
        }
        let node = self.node();
        let first = [seen.rts, seen.data].into_iter().flatten().next();
        let Some(first) = first else { return };
        self.give_up_another(seen, tell);
        let peer = seen.receiver.map_or(STRANGER, node_of);
        let Seen { rts, cts, data, ack, .. } = *seen;
        tell(&LinkEvent::Attempt(Attempt {
            node,
            peer,
            flow: FlowId(0),
            cw: 0,
            slots: 0,
            rts,
            cts,
            data,
            ack,
        }));
        if !seen.is_data && seen.data.is_some() {
            return;
        }
        let fresh = Trying {
            peer: seen.receiver,
            sequence: None,
            head_of_line: self.taken(first.start),
            rts_tries: 0,
            rts_failures: 0,
            in_a_row: 0,
            data_tries: 0,
            size: 0,
            rate: None,
            end: first.end,
        };
        let trying = self.trying.get_or_insert(fresh);
        trying.rts_tries += u32::from(rts.is_some());
        let failed = rts.is_some() && cts.is_none() && data.is_none();
        trying.rts_failures += u32::from(failed);
        trying.in_a_row = if failed { trying.in_a_row + 1 } else { 0 };
        let limit = trying.in_a_row >= SHORT_RETRY_LIMIT;
        trying.end = seen.end() + if ack.is_some() { Span::ZERO } else { self.answer_timeout };
        if data.is_some() {
            trying.data_tries += 1;
            (trying.sequence, trying.size, trying.rate) = (seen.sequence, seen.size, seen.rate);
        }
        if let Some(ack) = ack {
            let frames = [rts, cts, data, Some(ack)].into_iter().flatten();
            let airtime = frames.map(|air| air.length() + seen.sifs).sum::<Span>() - seen.sifs;
            self.finish(Fate::Acknowledged, ack.end, airtime, tell);
        } else if limit {
            self.finish(Fate::GivenUp, self.trying.map_or(first.end, |trying| trying.end), Span::ZERO, tell);
        }
    }

    /// A frame to a group, which nothing answers.
    fn own_to_group(&mut self, frame: &Sighting, air: Interval, tell: &mut dyn FnMut(&LinkEvent)) {
        if !matches!(frame.frame.kind, FrameType::Data(_)) {
            return;
        }
        self.trying = Some(Trying {
            peer: None,
            sequence: None,
            head_of_line: self.taken(air.start),
            rts_tries: 0,
            rts_failures: 0,
            in_a_row: 0,
            data_tries: 1,
            size: frame.size,
            rate: frame.rate,
            end: air.end,
        });
        self.finish(Fate::Broadcast, air.end, air.length(), tell);
    }

    /// When the MAC took the frame whose first try began at `start`.
    fn taken(&self, start: Time) -> Time {
        let access = |periods: u64| self.phy.difs * periods.max(1) + self.phy.backoff * 2;
        let by_then = self.begun.iter().flatten().find(|(begun, _)| *begun == start).map(|(_, idle)| *idle);
        let busy_all_along = by_then.zip(self.free).filter(|(now, (_, then))| {
            now.time.saturating_sub(then.time) <= access(now.periods.saturating_sub(then.periods))
        });
        match busy_all_along {
            Some((_, (done, _))) => done,
            None => start - self.phy.difs.min(start.since(Time::ZERO)),
        }
    }

    /// Another frame is tried now: the one before was given up.
    fn give_up_another(&mut self, seen: &Seen, tell: &mut dyn FnMut(&LinkEvent)) {
        let Some(trying) = self.trying else { return };
        let other_number =
            trying.sequence.is_some() && seen.data.is_some() && seen.sequence != trying.sequence;
        if trying.peer != seen.receiver || other_number {
            self.finish(Fate::GivenUp, trying.end, Span::ZERO, tell);
        }
    }

    /// The frame's life ends.
    fn finish(&mut self, fate: Fate, done: Time, airtime: Span, tell: &mut dyn FnMut(&LinkEvent)) {
        let Some(trying) = self.trying.take() else { return };
        self.free = Some((done, self.idle));
        if trying.data_tries == 0 {
            return; // nothing was seen of the packet itself
        }
        tell(&LinkEvent::Exchange(Exchange {
            node: self.node(),
            peer: match fate {
                Fate::Broadcast => NodeId::BROADCAST,
                _ => trying.peer.map_or(STRANGER, node_of),
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
        }));
    }
}

/// What the frame is in an exchange of data, if it is part of one; `ended` is the exchange that it ended.
fn kind(frame: &Sighting, ended: Option<&Seen>) -> Option<FrameKind> {
    match frame.frame.kind {
        FrameType::Control(Control::Rts) => Some(FrameKind::Rts),
        FrameType::Control(Control::Cts) => Some(FrameKind::Cts),
        FrameType::Control(Control::Ack) if ended.is_none_or(|seen| seen.is_data) => Some(FrameKind::Ack),
        FrameType::Control(Control::BlockAck(_))
            if ended.is_some_and(|seen| seen.is_data && seen.aggregate) =>
        {
            Some(FrameKind::Ack)
        }
        FrameType::Data(_) => Some(FrameKind::Data),
        _ => None,
    }
}

fn node_of(station: StationId) -> NodeId {
    NodeId(station.index() as u32)
}
