//! Transmissions that are as expected in all.

use super::{Model, Transmission};
use crate::streams::Stream;

impl Model {
    /// Is it the next answer, in all as expected, and no aggregate? Most are: this is looked at first, and
    /// looks at no more than it has to.
    #[inline]
    pub(super) fn is_next(&self, place: usize, row: &Transmission) -> bool {
        let Some(first) = self.expected.get(0) else { return false };
        if first.time != row.start || first.sort != place {
            return false;
        }
        let of_sort = &self.of_sorts[place];
        let brief = &of_sort.brief;
        let (tries, packet) = if brief.is_answer {
            (0, 0)
        } else {
            let packet = if brief.carries { self.nodes[brief.from as usize].packet } else { 0 };
            (self.guess(place).tries, packet)
        };
        (row.tries, row.packet, row.frozen, row.waited) == (tries, packet, 0, -1)
            && (row.outcome, row.collided, row.overlap) == (i64::from(brief.usual), -1, 0)
            && row.mpdus.is_empty()
            && of_sort.mpdus == 0
            && row.reserves == of_sort.reserves
    }

    /// How many are as expected is counted, or read, from here on, if it is not yet.
    #[inline]
    pub(super) fn begin_run(&mut self) {
        if self.run.is_none() {
            let streams = [Stream::RunAlone, Stream::RunAwaited, Stream::RunSeveral];
            self.run_stream = streams[self.expected.count().min(2)];
            self.run = Some(0);
        }
    }
}
