//! One interface of a capture: from its records to frames with their instants, channel by channel.

use crate::channels::Channels;
use crate::clock::{JUMP, RadioTime, Trusted, is_wild, radio_timer};
use crate::habits::{Habits, HeldRecords};
use crate::{Clock, Options, SnifferReport};
use multihop_capture::{
    Aggregate, DissectError, Encoding, Fcs, Frame, FrameError, FrameType, HeaderError, Reception, Record,
    dissect_with_fcs,
};
use multihop_core::Time;
use std::collections::{BTreeMap, VecDeque};

/// Frames that are known before the instant of one is decided.
const AHEAD: usize = 16;

/// References of A-MPDUs that are recognised by their timer count from here, so that they are none of a
/// receiver's own.
const OWN_REFERENCES: u32 = 0x8000_0000;

/// Different messages about records that cannot be read that are counted; others are left out.
const MOST_MESSAGES: usize = 64;

/// A frame as it was captured, before its instant is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sighting {
    /// Stamp of the host.
    pub host: Option<Time>,
    /// Time of the radio.
    pub timer: RadioTime,
    /// What the receiver said.
    pub reception: Reception,
    /// The frame; of one that is damaged or cannot be read only its length.
    pub frame: Frame,
    /// What became of it.
    pub state: State,
}

/// When a frame was stamped, on the time line of its interface or channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    /// The instant.
    pub at: Time,
    /// Whether it is by the radio's TSFT.
    pub is_tsft: bool,
    /// Whether it is a guess, between those of the frames around it.
    pub is_guessed: bool,
}

/// Whether a frame could be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// It is as it was sent.
    Good,
    /// Its check sequence, or its receiver, says that it is damaged.
    Damaged,
    /// Its header cannot be read; `cut`: since too little of it was captured.
    Unreadable { cut: bool },
    /// The PPDU carried none.
    Empty,
}

/// Reads an interface as a stream.
pub(crate) struct Interface {
    held: HeldRecords,
    habits: Option<Habits>,
    pending: VecDeque<Sighting>,
    clock: Clock,
    /// The stamps that were not wild, of the host and of the radio.
    trusted: [Option<Trusted>; 2],
    /// Frames without any that were not, and stamps of others that were.
    wild: u64,
    wild_beside: u64,
    /// The A-MPDU that is recognised by its timer: that, and its reference.
    group: Option<(u64, u32)>,
    groups: u32,
    channels: Channels,
    /// Records in which nothing could be found, those that are none of a remote sniffer's frames, and why, by
    /// how often.
    unreadable: u64,
    others: u64,
    messages: Messages,
    /// Why records are cut.
    cut_messages: Messages,
    fcs_overruled: u64,
}

impl Interface {
    /// Has seen nothing yet.
    pub fn new(options: Options) -> Interface {
        Interface {
            held: HeldRecords::default(),
            habits: None,
            pending: VecDeque::with_capacity(AHEAD + 1),
            clock: Clock::default(),
            trusted: [None; 2],
            wild: 0,
            wild_beside: 0,
            group: None,
            groups: 0,
            channels: Channels::new(options),
            unreadable: 0,
            others: 0,
            messages: Messages::default(),
            cut_messages: Messages::default(),
            fcs_overruled: 0,
        }
    }

    /// The next record.
    pub fn process(&mut self, record: &Record<'_>) {
        if let Some(habits) = self.habits {
            self.dissect(record, habits);
            return;
        }
        self.held.push(record);
        if self.held.is_full() {
            self.settle();
        }
    }

    /// How the receiver writes is known from now on as well as it will be.
    fn settle(&mut self) {
        let held = std::mem::take(&mut self.held);
        let habits = Habits::of(&held);
        self.habits = Some(habits);
        for record in held.iter() {
            self.dissect(&record, habits);
        }
    }

    fn dissect(&mut self, record: &Record<'_>, habits: Habits) {
        let (reception, frame, state) = match dissect_with_fcs(record, &habits.fcs_present) {
            Ok((reception, frame)) => {
                let is_marked = reception.bad_fcs == Some(true);
                // A check sequence that is right is no chance, whatever the receiver says.
                let is_damaged = frame.fcs == Fcs::Wrong || is_marked && frame.fcs != Fcs::Right;
                let by_habit = habits.fcs_present[usize::from(frame.type_subtype >> 4 & 3)].is_some();
                let is_overruled = frame.fcs_flag_is_wrong || by_habit || is_marked && !is_damaged;
                self.fcs_overruled += u64::from(is_overruled);
                // Addresses and lengths in it may be anything; that it was on the air, and for how long, is all that is known.
                if is_damaged {
                    (reception, Frame::unreadable(frame.air_bytes), State::Damaged)
                } else {
                    (reception, frame, State::Good)
                }
            }
            Err(DissectError::Empty { reception }) => {
                (Reception { aggregate: None, ..*reception }, Frame::unreadable(0), State::Empty)
            }
            Err(DissectError::Frame { error, reception, air_bytes }) => {
                let cut = matches!(error, FrameError::Short { .. });
                let messages = if cut { &mut self.cut_messages } else { &mut self.messages };
                messages.count(error.to_string());
                (*reception, Frame::unreadable(air_bytes), State::Unreadable { cut })
            }
            Err(DissectError::Header(error)) => {
                let is_other = matches!(error, HeaderError::LinkType(_) | HeaderError::NoFrame { .. });
                *(if is_other { &mut self.others } else { &mut self.unreadable }) += 1;
                self.messages.count(error.to_string());
                return;
            }
        };
        let mut timer = radio_timer(&reception);
        if habits.timer_fault.is_some() {
            timer = RadioTime::default();
        }
        let host = record.time.filter(|_| !habits.host_stands_still);
        self.pending.push_back(Sighting { host, timer, reception, frame, state });
        if self.pending.len() > AHEAD {
            self.decide();
        }
    }

    /// The oldest frame that waits, with the frames after it in sight.
    fn decide(&mut self) {
        let Some(mut sighting) = self.pending.pop_front() else { return };
        let [host, timer] = self.trusted(&sighting);
        self.recognise_aggregate(&mut sighting, timer);
        let is_tsft = timer.is_some() && sighting.timer.is_tsft;
        let is_guessed = host.is_none() && timer.is_none();
        if is_guessed && (sighting.host.is_some() || sighting.timer.ns.is_some()) {
            self.wild += 1;
            self.wild_beside -= u64::from(sighting.host.is_some()) + u64::from(sighting.timer.ns.is_some());
        }
        // A timer alone does not say where the line begins.
        let needs_host = is_guessed || !self.clock.is_set();
        let host = host.or_else(|| sighting.host.filter(|_| needs_host).and_then(|_| self.guess()));
        if let Some(at) = self.clock.read(host.map(Time::from_ns), timer) {
            self.channels.process(&sighting, Stamp { at, is_tsft, is_guessed });
        } else {
            self.unreadable += 1;
            self.messages.count("there is no time stamp".into());
        }
    }

    /// A host's stamp for a frame that has nothing but a wild one: half-way between its neighbours, so that
    /// it is in order at least.
    fn guess(&self) -> Option<u64> {
        let after = self.pending.front().and_then(|next| next.host).map(Time::ns);
        let before = self.trusted[0].map(|trusted| trusted.last);
        match (before, after) {
            // The next one may be as wild.
            (Some(before), Some(after)) if after.abs_diff(before) <= JUMP.ns() => {
                Some(before.midpoint(after))
            }
            (before, after) => before.or(after),
        }
    }

    /// The stamps of a frame that those around it do not contradict, of the host and of the radio.
    fn trusted(&mut self, sighting: &Sighting) -> [Option<u64>; 2] {
        let own = [sighting.host.map(Time::ns), sighting.timer.ns];
        let mut trusted = own;
        for (which, stamp) in own.into_iter().enumerate() {
            let Some(stamp) = stamp else { continue };
            let following = self.pending.iter().filter_map(|next| match which {
                0 => next.host.map(Time::ns),
                _ => next.timer.ns,
            });
            if is_wild(self.trusted[which], stamp, following) {
                self.wild_beside += 1;
                trusted[which] = None;
            } else {
                self.trusted[which] = Some(Trusted::with(self.trusted[which], stamp));
            }
        }
        trusted
    }

    /// Frames with one timer between one pair of stations are one PPDU, also where the receiver does not say
    /// so: the timer is that of its beginning.
    fn recognise_aggregate(&mut self, sighting: &mut Sighting, timer: Option<u64>) {
        let Some(timer) = timer.filter(|_| may_aggregate(sighting)) else {
            self.group = None;
            return;
        };
        let goes_on = self.pending.front().is_some_and(|next| {
            next.timer.ns == Some(timer) && may_aggregate(next) && are_between_the_same(sighting, next)
        });
        let reference = match self.group {
            Some((of, reference)) if of == timer => reference,
            _ if goes_on => {
                self.groups = self.groups.wrapping_add(1) % OWN_REFERENCES;
                OWN_REFERENCES + self.groups
            }
            _ => {
                self.group = None;
                return;
            }
        };
        sighting.reception.aggregate = Some(Aggregate { reference, last: None });
        self.group = goes_on.then_some((timer, reference));
    }

    /// Whatever waits is decided. One report for each channel, with its frequency in MHz (zero where it is
    /// unknown); `broken`: the file is so from here on.
    pub fn finish(mut self, broken: bool) -> Vec<(u16, SnifferReport)> {
        if self.habits.is_none() {
            self.settle();
        }
        while !self.pending.is_empty() {
            self.decide();
        }
        let clock = &self.clock;
        let timer_fault = self.habits.and_then(|habits| habits.timer_fault);
        let mut reports = self.channels.finish();
        // What cannot be read is of no channel, and counts where most was read.
        let most = reports.iter().enumerate().max_by_key(|(_, (_, report))| report.quality.records);
        let most = most.map_or(0, |(index, _)| index);
        // Among frames of a remote sniffer, what else was on its wire is no loss.
        let is_remote = reports.iter().any(|(_, report)| report.quality.records > 0);
        let (others, unreadable) =
            if is_remote { (self.others, self.unreadable) } else { (0, self.unreadable + self.others) };
        for (index, (_, report)) in reports.iter_mut().enumerate() {
            let quality = &mut report.quality;
            if index == most {
                quality.records += unreadable;
                quality.unreadable += unreadable;
                quality.other_records = others;
            }
            quality.unreadable_message = self.messages.most_frequent();
            quality.cut_message = self.cut_messages.most_frequent();
            (quality.host_steps, quality.set_back) = (clock.host_steps, clock.set_back());
            (quality.timer_steps, quality.backward, quality.stalled) =
                (clock.timer_steps, clock.backward, clock.stalled);
            (quality.wild_stamps, quality.wild_beside) = (self.wild, self.wild_beside);
            quality.fcs_overruled = self.fcs_overruled;
            (quality.timer_fault, quality.broken) = (timer_fault, broken);
        }
        reports
    }
}

/// Messages, by how often there was one.
#[derive(Clone, Debug, Default)]
struct Messages(BTreeMap<String, u64>);

impl Messages {
    fn count(&mut self, message: String) {
        if self.0.len() < MOST_MESSAGES || self.0.contains_key(&message) {
            *self.0.entry(message).or_default() += 1;
        }
    }

    fn most_frequent(&self) -> Option<String> {
        self.0.iter().max_by_key(|(_, count)| **count).map(|(message, _)| message.clone())
    }
}

/// Whether a frame may be one of several in a PPDU of which the receiver says nothing.
fn may_aggregate(sighting: &Sighting) -> bool {
    let can = matches!(
        sighting.reception.encoding,
        Some(Encoding::Ht(_) | Encoding::Vht(_) | Encoding::He(_) | Encoding::Eht)
    );
    let kind = sighting.frame.kind;
    can && sighting.reception.aggregate.is_none()
        && (sighting.state == State::Damaged || matches!(kind, FrameType::Data(data) if data.qos))
}

/// Whether two frames may be from one station to one: the addresses of damaged frames are unknown.
fn are_between_the_same(one: &Sighting, other: &Sighting) -> bool {
    let is_unknown = |sighting: &Sighting| sighting.state == State::Damaged;
    let ends = |sighting: &Sighting| (sighting.frame.transmitter, sighting.frame.receiver);
    is_unknown(one) || is_unknown(other) || ends(one) == ends(other)
}
