//! Detection of window reductions that proved needless, because nothing had been lost: by reports of
//! duplicate data (RFC 3708) and by timestamps (Eifel, RFC 3522), as in Linux (`tcp_may_undo`).

use multihop_core::Time;

/// Reduction that may still prove needless.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// `undo_marker`: first unacknowledged byte at the reduction.
    marker: Option<u64>,
    /// `undo_retrans`: number of retransmissions that were not reported as duplicates; none before the first.
    unreported: Option<u32>,
    /// `retrans_stamp`: time of the first retransmission.
    first_retransmission: Option<Time>,
}

impl Undo {
    /// Starts at a reduction. `in_flight` tells whether earlier retransmissions are in flight.
    pub fn start(&mut self, una: u64, in_flight: bool) {
        self.marker = Some(una);
        self.unreported = in_flight.then_some(1);
    }

    /// Forgets the reduction.
    pub fn clear(&mut self) {
        *self = Undo::default();
    }

    /// Forgets the time of the first retransmission, when none is outstanding.
    pub fn forget_retransmissions(&mut self) {
        self.first_retransmission = None;
    }

    /// Records a retransmission.
    pub fn on_retransmission(&mut self, now: Time) {
        self.first_retransmission.get_or_insert(now);
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
    }

    /// Processes a report that the data up to `end` arrived twice.
    pub fn on_duplicate_report(&mut self, end: u64, una: u64) {
        let belongs = self.marker.is_some_and(|marker| end > marker) && end <= una;
        if let Some(unreported) = self.unreported.as_mut().filter(|_| belongs) {
            *unreported = unreported.saturating_sub(1);
        }
    }

    /// Whether every retransmission was reported as a duplicate.
    pub fn all_were_duplicates(&self) -> bool {
        self.marker.is_some() && self.unreported == Some(0)
    }

    /// Whether an acknowledgement with this echoed timestamp answers data sent before the first
    /// retransmission.
    pub fn answers_original(&self, echo: Option<Time>) -> bool {
        let before = self.first_retransmission.zip(echo).is_some_and(|(first, echo)| echo < first);
        self.marker.is_some() && before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Span;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Two retransmissions, and a report for each.
    #[test]
    fn rfc_3708_all_retransmissions_must_be_reported() {
        let mut undo = Undo::default();
        undo.start(1_000, false);
        assert!(!undo.all_were_duplicates(), "nothing was retransmitted");
        undo.on_retransmission(ms(10));
        undo.on_retransmission(ms(20));
        undo.on_duplicate_report(2_000, 5_000);
        undo.on_duplicate_report(1_000, 5_000);
        assert!(!undo.all_were_duplicates(), "the second report is of older data");
        undo.on_duplicate_report(3_000, 5_000);
        assert!(undo.all_were_duplicates());
        undo.clear();
        assert!(!undo.all_were_duplicates());
    }

    /// The echo of a timestamp before the first retransmission belongs to the original.
    #[test]
    fn rfc_3522_an_earlier_timestamp_is_of_the_original() {
        let mut undo = Undo::default();
        undo.start(1_000, false);
        assert!(!undo.answers_original(Some(ms(1))), "nothing was retransmitted");
        undo.on_retransmission(ms(10));
        undo.on_retransmission(ms(30));
        assert!(undo.answers_original(Some(ms(9))));
        assert!(!undo.answers_original(Some(ms(10))) && !undo.answers_original(None));
    }
}
