//! `CoDel` (RFC 8289): drops or marks packets, with increasing frequency, while sojourn times stay above a
//! target.

use super::aqm::Aqm;
use super::line::{Line, Queued};
use multihop_core::{Span, Time};
use serde::Serialize;
use std::collections::VecDeque;

/// Parameters of `CoDel`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CodelOptions {
    /// Acceptable standing sojourn time (RFC 8289, section 4: 5 ms).
    pub target: Span,
    /// Time for which the target may be exceeded, about the longest round-trip time (RFC 8289, section 4: 100
    /// ms).
    pub interval: Span,
    /// Whether ECN-capable packets are marked instead of dropped, as in Linux (RFC 8290, section 5.2).
    pub ecn: bool,
}

impl Default for CodelOptions {
    /// Returns RFC 8289's constants, with ECN as in Linux's `fq_codel`.
    fn default() -> CodelOptions {
        CodelOptions { target: Span::from_ms(5), interval: Span::from_ms(100), ecn: true }
    }
}

/// `CoDel` state of a queue. Names are those of the pseudo-code in RFC 8289, section 5.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Codel {
    /// Time at which the sojourn time will have been above the target for an interval; none while it is
    /// below.
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Aqm for Codel {
    fn new(_salt: u64, _line: u32) -> Codel {
        Codel::default()
    }

    fn take<T>(
        &mut self,
        now: Time,
        options: &CodelOptions,
        largest: u32,
        line: &mut Line<T>,
        lost: &mut VecDeque<T>,
    ) -> Option<Queued<T>> {
        let Some((mut packet, mut too_long)) = self.next(now, options, largest, line) else {
            self.dropping = false;
            return None;
        };
        if !too_long {
            self.dropping = false;
        } else if !self.dropping {
            let marked = options.ecn && packet.markable;
            if !marked {
                lost.push_back(packet.item);
                (packet, _) = self.next(now, options, largest, line)?; // more than one packet was left
            }
            self.begin(now, options.interval);
            return Some(Queued { marked, ..packet });
        }
        while self.dropping && now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            if options.ecn && packet.markable {
                self.drop_next = self.after(self.drop_next, options.interval);
                return Some(Queued { marked: true, ..packet });
            }
            lost.push_back(packet.item);
            (packet, too_long) = self.next(now, options, largest, line)?;
            if too_long {
                self.drop_next = self.after(self.drop_next, options.interval);
            } else {
                self.dropping = false;
            }
        }
        Some(packet)
    }

    fn overflowed(&mut self, _now: Time, _options: &CodelOptions, packets: u32) {
        self.count = self.count.saturating_add(packets);
    }
}

impl Codel {
    /// Next packet, and whether the line was above the target for an interval.
    fn next<T>(
        &mut self,
        now: Time,
        options: &CodelOptions,
        largest: u32,
        line: &mut Line<T>,
    ) -> Option<(Queued<T>, bool)> {
        let packet = line.pop();
        let is_above = |packet: &Queued<T>| {
            now.since(packet.came) >= options.target && line.bytes() > u64::from(largest)
        };
        if !packet.as_ref().is_some_and(is_above) {
            self.first_above = None;
            return packet.map(|packet| (packet, false));
        }
        let due = self.first_above.map(|due| now >= due);
        if due.is_none() {
            self.first_above = Some(now + options.interval);
        }
        packet.map(|packet| (packet, due == Some(true)))
    }

    /// Starts to drop, at the rate that last controlled the line if that was recent.
    fn begin(&mut self, now: Time, interval: Span) {
        let since_last = self.count.saturating_sub(self.last_count);
        let recently = now.since(self.drop_next) < interval * 16;
        self.count = if since_last > 1 && recently { since_last } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.after(now, interval);
        self.dropping = true;
    }

    /// Control law: time of the next drop after one at `time`.
    fn after(&self, time: Time, interval: Span) -> Time {
        time + Span::from_ns((interval.ns() as f64 / f64::from(self.count).sqrt()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    /// Line under `CoDel` with RFC 8289's constants.
    #[derive(Default)]
    struct Timeline {
        codel: Codel,
        line: Line<u64>,
        lost: VecDeque<u64>,
    }

    impl Timeline {
        /// Enqueues this number of packets of 1000 bytes.
        fn comes(&mut self, at: u64, packets: u64, markable: bool) {
            (0..packets).for_each(|item| {
                self.line.push(Queued { item, came: ms(at), size: 1000, markable, marked: false });
            });
        }

        fn takes(&mut self, at: u64) -> Option<Queued<u64>> {
            self.codel.take(ms(at), &CodelOptions::default(), 1000, &mut self.line, &mut self.lost)
        }

        /// Dequeues a packet every millisecond. Returns the milliseconds at which one was dropped or marked,
        /// and the number of marked packets.
        fn signals(&mut self, from: u64, to: u64) -> (Vec<u64>, usize) {
            let mut marks = 0;
            let times = (from..to).filter(|at| {
                let before = self.lost.len();
                let marked = self.takes(*at).unwrap().marked;
                marks += usize::from(marked);
                marked || self.lost.len() > before
            });
            (times.collect(), marks)
        }
    }

    /// One interval after the target was first exceeded, at 10 ms; then one interval later; then after 100 ms
    /// divided by the square roots of 2, 3, 4 and 5: at 280.7, 338.4, 388.4 and 433.2 ms, or at the next
    /// packet.
    const TIMES: [u64; 6] = [110, 210, 281, 339, 389, 434];

    #[test]
    fn drops_follow_the_control_law() {
        let mut timeline = Timeline::default();
        timeline.comes(0, 1000, false);
        assert_eq!(timeline.signals(10, 450), (TIMES.to_vec(), 0));
        assert_eq!(timeline.lost.len(), 6);
    }

    #[test]
    fn packets_that_understand_ecn_are_marked_at_the_same_instants() {
        let mut timeline = Timeline::default();
        timeline.comes(0, 1000, true);
        assert_eq!(timeline.signals(10, 450), (TIMES.to_vec(), 6));
        assert!(timeline.lost.is_empty());
        let mut without = Timeline::default();
        without.comes(0, 1000, true);
        let options = CodelOptions { ecn: false, ..CodelOptions::default() };
        let marked = (10..450).any(|at| {
            without.codel.take(ms(at), &options, 1000, &mut without.line, &mut without.lost).unwrap().marked
        });
        assert!(!marked && without.lost.len() == 6);
    }

    /// After six drops the line is short for a moment. If it is too long again soon, drops resume at the rate
    /// of the fifth: the count minus the one with which dropping began, one interval over the square root of
    /// 5, 45 ms, after the first. Soon means within 16 intervals of the next scheduled drop (RFC 8289,
    /// appendix, `now - drop_next_ < 16 * TM_INTERVAL`). The seventh was due 100 ms over the square root of 6
    /// after 433.1, at 474.0 ms, so that dropping may resume until 2074 ms.
    #[test]
    fn it_goes_on_where_it_was_if_that_was_not_long_ago() {
        for (again, second) in [(500, 645), (1_973, 2_118), (1_975, 2_175)] {
            let mut timeline = Timeline::default();
            timeline.comes(0, 446, false);
            timeline.signals(10, 450); // 440 taken, six lost
            assert_eq!(timeline.line.len(), 0);
            timeline.comes(450, 2, false);
            assert!(!timeline.takes(451).unwrap().marked);
            timeline.takes(452);
            timeline.lost.clear();
            timeline.comes(again - 10, 1000, false);
            let (times, _) = timeline.signals(again, again + 201);
            assert_eq!(times[..2], [again + 100, second], "again at {again}");
        }
    }

    #[test]
    fn what_is_short_or_no_more_than_a_packet_is_left_alone() {
        let mut short = Timeline::default();
        for at in 0..1_000 {
            short.comes(at, 1, false);
            if at >= 4 {
                short.takes(at); // what came 4 ms ago
            }
        }
        assert!(short.lost.is_empty() && short.line.len() == 4);
        let mut one = Timeline::default();
        for at in (0..100_000).step_by(500) {
            one.comes(at, 2, false);
            one.takes(at + 200);
            one.takes(at + 400);
        }
        assert!(one.lost.is_empty());
    }

    #[test]
    fn a_line_that_ran_empty_begins_anew() {
        let mut timeline = Timeline::default();
        timeline.comes(0, 10, false);
        timeline.takes(50); // above the target until 150 ms, if it stays there
        while timeline.takes(60).is_some() {}
        timeline.comes(100, 10, false);
        timeline.takes(160);
        assert!(timeline.lost.is_empty());
        timeline.takes(260);
        assert_eq!(timeline.lost.len(), 1);
    }

    /// RFC 8289, section 5: a line with `bytes() <= maxpacket()` is not controlled, however long it waits.
    #[test]
    fn a_line_of_just_the_largest_packet_is_left_alone() {
        let mut timeline = Timeline::default();
        timeline.comes(0, 1, false);
        for at in (50..2_000).step_by(50) {
            timeline.comes(at - 50, 1, false);
            timeline.takes(at);
            assert_eq!((timeline.line.bytes(), timeline.lost.len()), (1_000, 0), "at {at} ms");
        }
    }

    /// Five packets were lost because the queue was full: dropping begins at the rate of the fifth, 44.7 ms
    /// to the next and 40.8 ms to the one after.
    #[test]
    fn what_overflowed_makes_it_drop_more_often() {
        let mut timeline = Timeline::default();
        timeline.comes(0, 1000, false);
        timeline.codel.overflowed(Time::ZERO, &CodelOptions::default(), 5);
        assert_eq!(timeline.signals(10, 200), (vec![110, 155, 196], 0));
    }
}
