//! Channel changes of a radio: each channel has a sniffer that measures while the radio listens there.

use crate::interface::{FrameTime, UntimedFrame};
use crate::{Sniffer, SnifferReport, SurveyOptions};
use multihop_core::{Span, Time};

/// Limit on the number of channels; only a damaged file exceeds it.
const MAX_CHANNELS: usize = 64;

/// Channels of one interface.
pub(crate) struct Channels {
    options: SurveyOptions,
    all: Vec<ListenedChannel>,
    /// Index of the channel that the radio is on.
    current: usize,
    /// Time of the last frame.
    last: Time,
    changes: u64,
}

/// Channel, with the times at which the radio listened there.
struct ListenedChannel {
    mhz: u16,
    sniffer: Sniffer,
    /// Time at which the radio last came to the channel; for the first channel, that of the first frame.
    since: Time,
    /// Time at which the radio last left the channel.
    left_at: Time,
    /// Time spent on the channel before `since`.
    listened_before: Span,
    /// Time spent on other channels since the start of this channel's time line.
    elsewhere: Span,
    /// Uncertainty of the time spent on the channel.
    uncertain: Span,
}

impl Channels {
    /// Starts without channels.
    pub fn new(options: SurveyOptions) -> Channels {
        Channels { options, all: Vec::new(), current: 0, last: Time::ZERO, changes: 0 }
    }

    /// Processes a frame.
    ///
    /// The time of a channel change is only known to be between two frames; the midpoint is used.
    pub fn process(&mut self, untimed: &UntimedFrame, stamp: FrameTime) {
        let index = self.index(untimed.reception.channel.map_or(0, |channel| channel.mhz), stamp.at);
        if index != self.current {
            self.change(index, stamp.at);
        }
        self.last = stamp.at;
        let now = &mut self.all[index];
        let at = stamp.at - now.elsewhere.min(stamp.at.since(Time::ZERO));
        now.sniffer.process(untimed, FrameTime { at, ..stamp });
    }

    /// Changes to another channel, at some time before `at`.
    fn change(&mut self, index: usize, at: Time) {
        self.changes += 1;
        let half = at.since(self.last.min(at)) / 2;
        let between = self.last + half;
        let left = &mut self.all[self.current];
        left.left_at = between;
        left.listened_before += between.since(left.since);
        left.uncertain += half;
        left.sniffer.interrupt();
        let now = &mut self.all[index];
        now.elsewhere += between.since(now.left_at);
        now.since = between;
        now.uncertain += half;
        self.current = index;
    }

    /// Index of a frame's channel; if the frame has none, that of the current channel.
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
        known.unwrap_or_else(
            || if self.all.len() < MAX_CHANNELS { self.add(mhz, stamp) } else { self.current },
        )
    }

    fn add(&mut self, mhz: u16, stamp: Time) -> usize {
        let sniffer = Sniffer::new(self.options.clone());
        // The time line of a channel begins with its first frame.
        let left_at =
            if self.all.is_empty() { stamp } else { self.last + stamp.since(self.last.min(stamp)) / 2 };
        let [listened_before, elsewhere, uncertain] = [Span::ZERO; 3];
        self.all.push(ListenedChannel {
            mhz,
            sniffer,
            since: left_at,
            left_at,
            listened_before,
            elsewhere,
            uncertain,
        });
        self.all.len() - 1
    }

    /// Reports of all channels, ordered by frequency. Without any frames, one report without a channel.
    pub fn finish(mut self) -> Vec<(u16, SnifferReport)> {
        if self.all.is_empty() {
            self.add(0, Time::ZERO);
        }
        let several = self.all.len() > 1;
        let whole: Span = self.all.iter().map(|channel| channel.listened_before).sum();
        let (changes, last, current) = (self.changes, self.last, self.current);
        let whole = whole + last.since(self.all[current].since.min(last));
        let report = |(index, channel): (usize, ListenedChannel)| {
            let rest = if index == current { last.since(channel.since.min(last)) } else { Span::ZERO };
            let mut report = channel.sniffer.finish();
            if several {
                // A frame may end after the assumed time of a channel change.
                report.length = report.length.max(channel.listened_before + rest);
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
