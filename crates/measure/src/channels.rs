//! A radio that changes its channel is a sniffer on each of them, which measures while it listens there.

use crate::interface::{Sighting, Stamp};
use crate::{Options, Sniffer, SnifferReport};
use multihop_core::{Span, Time};

/// Channels beyond so many are not distinguished: no radio has them, and a broken file may.
const MOST: usize = 64;

/// The channels of one interface.
pub(crate) struct Channels {
    options: Options,
    all: Vec<Listening>,
    /// The one that the radio is on.
    current: usize,
    /// The last instant.
    last: Time,
    changes: u64,
}

/// A channel, and when the radio listened there.
struct Listening {
    mhz: u16,
    sniffer: Sniffer,
    /// When it last began to; of the first channel with the first frame.
    since: Time,
    /// When it last ended.
    until: Time,
    /// For how long, before `since`.
    before: Span,
    /// For how long it was elsewhere, since the beginning of the channel's own time line.
    elsewhere: Span,
    /// By how much the time that it listened there may be wrong.
    uncertain: Span,
}

impl Channels {
    /// None yet.
    pub fn new(options: Options) -> Channels {
        Channels { options, all: Vec::new(), current: 0, last: Time::ZERO, changes: 0 }
    }

    /// A frame.
    ///
    /// When the radio changed its channel is known only to lie between two frames, and taken to be half-way.
    pub fn process(&mut self, sighting: &Sighting, stamp: Stamp) {
        let index = self.index(sighting.reception.channel.map_or(0, |channel| channel.mhz), stamp.at);
        if index != self.current {
            self.change(index, stamp.at);
        }
        self.last = stamp.at;
        let now = &mut self.all[index];
        let at = stamp.at - now.elsewhere.min(stamp.at.since(Time::ZERO));
        now.sniffer.process(sighting, Stamp { at, ..stamp });
    }

    /// The radio is on another channel at the latest from this instant on.
    fn change(&mut self, index: usize, at: Time) {
        self.changes += 1;
        let half = at.since(self.last.min(at)) / 2;
        let between = self.last + half;
        let left = &mut self.all[self.current];
        left.until = between;
        left.before += between.since(left.since);
        left.uncertain += half;
        left.sniffer.interrupt();
        let now = &mut self.all[index];
        now.elsewhere += between.since(now.until);
        now.since = between;
        now.uncertain += half;
        self.current = index;
    }

    /// The channel of a frame: where it is not said, the one that the radio is on.
    fn index(&mut self, mhz: u16, stamp: Time) -> usize {
        if let Some(current) = self.all.get_mut(self.current) {
            if mhz == 0 || current.mhz == mhz {
                return self.current;
            }
            if current.mhz == 0 {
                current.mhz = mhz;
                return self.current;
            }
        }
        let known = self.all.iter().position(|channel| channel.mhz == mhz);
        known.unwrap_or_else(|| if self.all.len() < MOST { self.add(mhz, stamp) } else { self.current })
    }

    fn add(&mut self, mhz: u16, stamp: Time) -> usize {
        let sniffer = Sniffer::new(self.options.clone());
        // A channel's own time line begins with the first frame there.
        let until =
            if self.all.is_empty() { stamp } else { self.last + stamp.since(self.last.min(stamp)) / 2 };
        let [before, elsewhere, uncertain] = [Span::ZERO; 3];
        self.all.push(Listening { mhz, sniffer, since: until, until, before, elsewhere, uncertain });
        self.all.len() - 1
    }

    /// One report for each channel, in the order of their frequencies; one without a channel if nothing was
    /// seen.
    pub fn finish(mut self) -> Vec<(u16, SnifferReport)> {
        if self.all.is_empty() {
            self.add(0, Time::ZERO);
        }
        let several = self.all.len() > 1;
        let whole: Span = self.all.iter().map(|channel| channel.before).sum();
        let (changes, last, current) = (self.changes, self.last, self.current);
        let whole = whole + last.since(self.all[current].since.min(last));
        let report = |(index, channel): (usize, Listening)| {
            let rest = if index == current { last.since(channel.since.min(last)) } else { Span::ZERO };
            let mut report = channel.sniffer.finish();
            if several {
                // A frame may end after the radio is taken to have left.
                report.length = report.length.max(channel.before + rest);
                report.quality.channel_changes = changes;
                report.quality.uncertain = channel.uncertain;
                report.quality.length = report.length;
                report.quality.elsewhere = whole.saturating_sub(report.length);
            }
            (channel.mhz, report)
        };
        let mut reports: Vec<_> = self.all.into_iter().enumerate().map(report).collect();
        reports.sort_by_key(|(mhz, _)| *mhz);
        reports
    }
}
