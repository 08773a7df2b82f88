//! `Cobalt`, the queue management of CAKE: `CoDel` for senders that respond to drops, and BLUE for those that
//! do not (`net/sched/sch_cake.c` of Linux).

use super::aqm::Aqm;
use super::codel::CodelOptions;
use super::line::{Line, Queued};
use multihop_core::{Rng, Span, Time};
use std::collections::VecDeque;

/// Increment of BLUE's probability when the queue overflows: 1/256 (`p_inc`).
const INCREMENT: f64 = 1.0 / 256.0;
/// Decrement of BLUE's probability when the line runs empty: 1/4096 (`p_dec`).
const DECREMENT: f64 = 1.0 / 4096.0;

/// State of a line. Names are those of `struct cobalt_vars`.
#[derive(Clone, Debug)]
pub(super) struct Cobalt {
    count: u32,
    drop_next: Time,
    dropping: bool,
    /// BLUE's drop probability, and the time of its last change.
    probability: f64,
    changed: Option<Time>,
    random: Rng,
}

/// Decision on a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Pass,
    Mark,
    Drop,
}

impl Cobalt {
    /// Decides on the packet at the head of the line (`cobalt_should_drop`).
    fn decide(&mut self, now: Time, options: &CodelOptions, came: Time, markable: bool) -> Fate {
        let was_due = self.is_due(now);
        let mut is_overdue = now > self.drop_next;
        let is_late = now.since(came) > options.target;
        if is_late {
            if !self.dropping {
                self.drop_next = self.after(now, options.interval);
            }
            self.count = self.count.max(1);
        }
        self.dropping = is_late;
        let mut fate = Fate::Pass;
        if was_due && self.dropping {
            fate = if markable { Fate::Mark } else { Fate::Drop };
            self.count = self.count.saturating_add(1);
            self.drop_next = self.after(self.drop_next, options.interval);
            is_overdue = now > self.drop_next;
        } else if was_due {
            while self.is_due(now) {
                self.decay(options.interval);
            }
            is_overdue = now > self.drop_next;
        }
        // BLUE drops, whether the sender understands marks or not.
        if self.probability > 0.0 && self.random.unit() < self.probability {
            fate = Fate::Drop;
        }
        // While nothing is due, the time of the next drop is that of the last activity.
        if self.count == 0 {
            self.drop_next = now + options.interval;
        } else if is_overdue && fate != Fate::Drop {
            self.drop_next = now;
        }
        fate
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// Reduces the drop rate by a step.
    fn decay(&mut self, interval: Span) {
        self.count -= 1;
        self.drop_next = self.after(self.drop_next, interval);
    }

    /// Control law: time of the next drop after one at `time`.
    fn after(&self, time: Time, interval: Span) -> Time {
        time + Span::from_ns((interval.ns() as f64 / f64::from(self.count.max(1)).sqrt()) as u64)
    }

    /// Whether BLUE's probability may change: once in a target.
    fn may_change(&self, now: Time, options: &CodelOptions) -> bool {
        self.changed.is_none_or(|changed| now.since(changed) > options.target)
    }

    /// The line was served and found empty (`cobalt_queue_empty`).
    fn emptied(&mut self, now: Time, options: &CodelOptions) {
        if self.probability > 0.0 && self.may_change(now, options) {
            self.probability = (self.probability - DECREMENT).max(0.0);
            self.changed = Some(now);
        }
        self.dropping = false;
        if self.is_due(now) {
            self.decay(options.interval);
        }
    }
}

impl Aqm for Cobalt {
    fn new(salt: u64, line: u32) -> Cobalt {
        Cobalt {
            count: 0,
            drop_next: Time::ZERO,
            dropping: false,
            probability: 0.0,
            changed: None,
            random: Rng::numbered(salt, "cobalt", &[u64::from(line)]),
        }
    }

    /// The last packet of a line is never dropped (`cake_dequeue`).
    fn take<T>(
        &mut self,
        now: Time,
        options: &CodelOptions,
        _largest: u32,
        line: &mut Line<T>,
        lost: &mut VecDeque<T>,
    ) -> Option<Queued<T>> {
        loop {
            let Some(packet) = line.pop() else {
                self.emptied(now, options);
                return None;
            };
            match self.decide(now, options, packet.came, packet.markable) {
                Fate::Mark => return Some(Queued { marked: true, ..packet }),
                Fate::Drop if line.len() > 0 => lost.push_back(packet.item),
                Fate::Drop | Fate::Pass => return Some(packet),
            }
        }
    }

    /// The queue was full, and a packet of this line was dropped (`cobalt_queue_full`).
    fn overflowed(&mut self, now: Time, options: &CodelOptions, _packets: u32) {
        if self.may_change(now, options) {
            self.probability = (self.probability + INCREMENT).min(1.0);
            self.changed = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: CodelOptions =
        CodelOptions { target: Span::from_ms(5), interval: Span::from_ms(100), ecn: true };

    fn ms(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    /// Line of packets that are numbered from 0, and of which each waited for `wait` when it leaves: one
    /// leaves in each millisecond, after one at 0 that did not wait. Returns the times of marks, and the
    /// numbers of dropped packets.
    fn timeline(cobalt: &mut Cobalt, markable: bool, wait: u64, until: u64) -> (Vec<u64>, Vec<u64>) {
        let (mut marks, mut lost) = (Vec::new(), VecDeque::new());
        cobalt.decide(ms(0), &OPTIONS, ms(0), markable);
        for now in wait..until {
            let mut line = Line::default();
            (0..3).for_each(|_| {
                line.push(Queued { item: now, came: ms(now - wait), size: 1000, markable, marked: false });
            });
            let packet = cobalt.take(ms(now), &OPTIONS, 1000, &mut line, &mut lost).unwrap();
            if packet.marked {
                marks.push(now);
            }
        }
        (marks, lost.into())
    }

    /// The first signal comes an interval after the first late packet, the next after 100 ms over the square
    /// root of 2, 3 and 4: at 110, 180.7, 238.4 and 288.4 ms.
    #[test]
    fn signals_follow_the_control_law() {
        let (marks, lost) = timeline(&mut Cobalt::new(0, 0), true, 10, 300);
        assert_eq!((marks, lost), (vec![110, 181, 239, 289], vec![]));
        let (marks, lost) = timeline(&mut Cobalt::new(0, 0), false, 10, 300);
        assert_eq!((marks, lost), (vec![], vec![110, 181, 239, 289]));
        let (marks, lost) = timeline(&mut Cobalt::new(0, 0), true, 5, 300);
        assert_eq!((marks, lost), (vec![], vec![]), "the target is not exceeded");
    }

    /// After a pause of more than an interval, the second late packet is marked at once.
    #[test]
    fn a_line_that_paused_is_controlled_at_once() {
        let mut cobalt = Cobalt::new(0, 0);
        cobalt.decide(ms(0), &OPTIONS, ms(0), true);
        let fates = [200, 201].map(|now| cobalt.decide(ms(now), &OPTIONS, ms(now - 10), true));
        assert_eq!(fates, [Fate::Pass, Fate::Mark]);
    }

    #[test]
    fn the_last_packet_of_a_line_is_not_dropped() {
        let mut cobalt = Cobalt::new(0, 0);
        cobalt.probability = 1.0;
        let mut line = Line::default();
        (0..3).for_each(|item| {
            line.push(Queued { item, came: ms(0), size: 1000, markable: true, marked: false });
        });
        let mut lost = VecDeque::new();
        let last = cobalt.take(ms(1), &OPTIONS, 1000, &mut line, &mut lost).unwrap();
        assert_eq!((last.item, last.marked, lost), (2, false, VecDeque::from([0, 1])));
    }

    /// An overflow adds 1/256 to BLUE's probability, and an empty line takes 1/4096 from it, each at most
    /// once in a target of 5 ms.
    #[test]
    fn blue_follows_overflows_and_empty_lines() {
        let mut cobalt = Cobalt::new(0, 0);
        let of_4096 = |cobalt: &Cobalt| cobalt.probability * 4096.0;
        for (now, expected) in [(0, 16.0), (5, 16.0), (6, 32.0)] {
            cobalt.overflowed(ms(now), &OPTIONS, 1);
            assert_eq!(of_4096(&cobalt), expected, "{now} ms");
        }
        for (now, expected) in [(11, 32.0), (12, 31.0), (17, 31.0), (18, 30.0)] {
            let taken =
                cobalt.take(ms(now), &OPTIONS, 1000, &mut Line::<u64>::default(), &mut VecDeque::new());
            assert!(taken.is_none());
            assert_eq!(of_4096(&cobalt), expected, "{now} ms");
        }
    }

    /// With a probability of 1/4, packets that did not wait are dropped at that rate, markable or not.
    #[test]
    fn blue_drops_at_random() {
        let mut cobalt = Cobalt::new(0, 0);
        cobalt.probability = 0.25;
        let (marks, lost) = timeline(&mut cobalt, true, 0, 4_000);
        // Each packet that leaves is the first of its line that BLUE passes.
        assert!(marks.is_empty() && (1_100..1_450).contains(&lost.len()), "{}", lost.len());
    }
}
