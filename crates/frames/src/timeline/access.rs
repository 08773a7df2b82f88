//! When a transmission that was not awaited begins: by its back-off, or so many slots after something on the
//! air ended.

use super::{Model, Transmission};
use crate::coding::{to_front, unzigzag, zigzag};
use crate::streams::{Coder, Stream};

/// Since when a station contends: its last exchange, the last arrival at it or at the node that feeds it, a
/// time-out, something else, the arrival before the last one.
const SINCE: u8 = 7;
const BY_EXCHANGE: u8 = 0;
const BY_ARRIVAL: u8 = 1;
const BY_FEEDER: u8 = 2;
const BY_GAP: u8 = 3;
const OTHERWISE: u8 = 4;
const BY_EARLIER: u8 = 5;
/// From here, when it begins: as its back-off says, or so many slots after the last end and one of the latest
/// rests, or another.
const START: u8 = 3;
const BY_SLOTS: u8 = 0;
const BY_OTHER_REST: u8 = 5;
const BEGINS: u8 = 1 << 6;
/// More slots than these between the first instant of contention and the first slot are no space but a wait.
const MOST_SLOTS_OF_SPACE: i64 = 64;

/// A node has a packet for no longer than this, in nanoseconds, before it contends with it.
const MOST_DELAY: i64 = 1_000_000;

/// How a beginning was come by.
struct Access {
    code: u8,
    /// Slots that counted.
    slots: i64,
    /// Slots after the last end, and the rest.
    after: [i64; 2],
}

impl Model {
    /// When it begins, its back-off, and since when it waits.
    pub(super) fn code_access<C: Coder>(
        &mut self,
        c: &mut C,
        place: usize,
        tries: i64,
        row: &mut Transmission,
    ) -> Option<()> {
        let (from, again) = (self.sorts[place].from as usize, tries > 1);
        let mut access = Access { code: 0, slots: 0, after: [0, 0] };
        if C::WRITES {
            access = self.access(from, again, self.begins(place, row.start), row);
        }
        access.code = c.byte(if again { Stream::AccessAgain } else { Stream::Access }, access.code);
        let (since, start, begins) =
            (access.code & SINCE, access.code >> START & 7, access.code & BEGINS > 0);
        if begins {
            if since == OTHERWISE {
                row.waited = c.time(row.waited);
            }
            let streams = [Stream::Slots, Stream::SlotsAgain, Stream::SlotsThird, Stream::SlotsLater];
            access.slots = c.spread(streams[(tries - 1).clamp(0, 3) as usize], access.slots);
        }
        if start != BY_SLOTS {
            access.after[0] = unzigzag(c.steep(Stream::Since, zigzag(access.after[0]) as i64) as u64);
            if start == BY_OTHER_REST {
                access.after[1] = c.number(Stream::Rest, access.after[1]);
            } else if !C::WRITES {
                access.after[1] = *self.rests.get(usize::from(start) - 1)?;
            }
            self.keep_rest(access.after[1]);
        }
        if !C::WRITES {
            self.place(from, (since, start, begins), again, &access, row)?;
        }
        if begins {
            self.learn_access(from, since, again, access.slots, row);
        }
        Some(())
    }

    /// Of a reader: puts a transmission where that says.
    fn place(
        &self,
        from: usize,
        (since, start, begins): (u8, u8, bool),
        again: bool,
        access: &Access,
        row: &mut Transmission,
    ) -> Option<()> {
        let slot = self.constants.slot;
        row.start = if start == BY_SLOTS {
            if since == OTHERWISE || !begins {
                return None;
            }
            let space = self.nodes[from].spaces[space(since, again)].0;
            self.since(from, since).wrapping_add(space).wrapping_add(access.slots.wrapping_mul(slot))
        } else {
            self.last_end.wrapping_add(access.after[0].wrapping_mul(slot)).wrapping_add(access.after[1])
        };
        row.frozen = 0;
        row.waited = match since {
            BY_EXCHANGE => -1,
            _ if !begins => -1,
            OTHERWISE => row.waited,
            _ => row.start.wrapping_sub(self.since(from, since)),
        };
        if begins {
            row.frozen = self.passed(from, row).wrapping_sub(access.slots);
        }
        Some(())
    }

    /// Of a writer: how a transmission came to begin.
    fn access(&self, from: usize, again: bool, begins: bool, row: &Transmission) -> Access {
        let slot = self.constants.slot;
        let (mut code, mut slots) = (0, 0);
        if begins {
            let began = row.start.wrapping_sub(row.waited);
            let since = match row.waited {
                ..0 => BY_EXCHANGE,
                _ if began == self.since(from, BY_ARRIVAL) => BY_ARRIVAL,
                _ if began == self.since(from, BY_FEEDER) => BY_FEEDER,
                _ if began == self.since(from, BY_GAP) => BY_GAP,
                _ if began == self.since(from, BY_EARLIER) => BY_EARLIER,
                _ => OTHERWISE,
            };
            slots = self.passed(from, row).wrapping_sub(row.frozen);
            code = BEGINS | since;
            if since != OTHERWISE {
                let space = self.nodes[from].spaces[space(since, again)].0;
                let by_slots =
                    self.since(from, since).wrapping_add(space).wrapping_add(slots.wrapping_mul(slot));
                if by_slots == row.start {
                    return Access { code, slots, after: [0, 0] };
                }
            }
        }
        let after = row.start.wrapping_sub(self.last_end);
        let after = [after.div_euclid(slot), after.rem_euclid(slot)];
        let known = self.rests.iter().position(|rest| *rest == after[1]);
        let start = known.map_or(BY_OTHER_REST, |place| place as u8 + 1);
        Access { code: code | start << START, slots, after }
    }

    /// Since when a node contends, if it is this.
    fn since(&self, from: usize, since: u8) -> i64 {
        let node = &self.nodes[from];
        match since {
            BY_EXCHANGE => node.end,
            BY_ARRIVAL => node.arrived.wrapping_add(self.delay),
            BY_FEEDER => self.nodes[node.feeder].arrived,
            BY_EARLIER => node.arrived_before.wrapping_add(self.delay),
            _ => node.end.wrapping_add(node.gap),
        }
    }

    /// Slots since it contends.
    fn passed(&self, from: usize, row: &Transmission) -> i64 {
        let passed = if row.waited < 0 { row.start.wrapping_sub(self.nodes[from].end) } else { row.waited };
        passed.div_euclid(self.constants.slot)
    }

    fn keep_rest(&mut self, rest: i64) {
        let place = self.rests.iter().position(|known| *known == rest).unwrap_or(self.rests.len() - 1);
        to_front(&mut self.rests, place, rest);
    }

    fn learn_access(&mut self, from: usize, since: u8, again: bool, slots: i64, row: &Transmission) {
        let began = if row.waited < 0 { self.nodes[from].end } else { row.start.wrapping_sub(row.waited) };
        if since == OTHERWISE {
            let is_fed_by = |node: &&usize| self.nodes.get(**node).is_some_and(|node| node.arrived == began);
            let feeder = self.arrivals.iter().find(is_fed_by).copied();
            let node = &mut self.nodes[from];
            let after = began.wrapping_sub(node.arrived);
            if let Some(feeder) = feeder {
                node.feeder = feeder;
            } else if (0..MOST_DELAY).contains(&after) {
                self.delay = after;
            } else {
                let gap = began.wrapping_sub(node.end);
                if std::mem::replace(&mut node.gap_before, gap) == gap {
                    node.gap = gap;
                }
            }
            return;
        }
        let slot = self.constants.slot;
        let found = row.start.wrapping_sub(began).wrapping_sub(slots.wrapping_mul(slot));
        if (0..MOST_SLOTS_OF_SPACE * slot).contains(&found) {
            let (space, before) = &mut self.nodes[from].spaces[space(since, again)];
            if *before == found || *space == 0 {
                *space = found;
            }
            *before = found;
        }
    }
}

/// Which of the spaces of a node is meant.
fn space(since: u8, again: bool) -> usize {
    if since == BY_EXCHANGE && again { usize::from(OTHERWISE) } else { usize::from(since) }
}
