//! How far acknowledgements run ahead of the bandwidth, because data or acknowledgements travel in bunches
//! (draft-cardwell-iccrg-bbr-congestion-control-02, section 4.5.5).

use multihop_core::{Span, Time};

/// Round trips of one of the two halves of the window over which the greatest excess counts.
const ROUNDS: u32 = 5;

/// An excess counts up to what the bandwidth is in this time.
const MOST: Span = Span::from_ms(100);

/// The greatest excess of the last five to ten round trips, in bytes. It costs nothing until deliveries are
/// reported.
#[derive(Clone, Debug)]
pub(super) struct Aggregation {
    /// Bytes of a full segment.
    segment: f64,
    /// The excess is counted from here, and so much was acknowledged since.
    since: Time,
    acked: f64,
    /// The greatest excesses of this half of the window and of the one before.
    greatest: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    /// Of segments of so many bytes.
    pub fn new(segment: f64) -> Aggregation {
        Aggregation { segment, since: Time::ZERO, acked: 0.0, greatest: [0.0; 2], rounds: 0 }
    }

    /// So much was acknowledged, at a time of which the bandwidth is this, when the window is that. What was
    /// to be expected is counted in whole segments, so that the excess is the more by a part of one.
    pub fn update(&mut self, now: Time, size: f64, round_start: bool, bandwidth: f64, window: f64) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.greatest = [0.0, self.greatest[0]];
            }
        }
        let expected = bandwidth * now.since(self.since).seconds();
        let mut expected = (expected / self.segment).floor() * self.segment;
        if self.acked <= expected {
            (self.since, self.acked, expected) = (now, 0.0, 0.0);
        }
        self.acked += size;
        let excess = (self.acked - expected).min(window);
        self.greatest[0] = self.greatest[0].max(excess);
    }

    /// What the window needs on top, so that the sender does not fall silent between bunches.
    pub fn excess(&self, bandwidth: f64) -> f64 {
        self.greatest[0].max(self.greatest[1]).min(bandwidth * MOST.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// 1000 bytes each 10 ms as anticipated: each acknowledgement begins anew, and is its own excess. Then
    /// five at once, of which each is beyond what the bandwidth explains.
    #[test]
    fn a_bunch_is_an_excess() {
        let mut aggregation = Aggregation::new(1_000.0);
        (1..=10).for_each(|at| aggregation.update(ms(10 * at), 1_000.0, false, 100_000.0, 50_000.0));
        assert_eq!(aggregation.excess(100_000.0), 1_000.0);
        (0..5).for_each(|_| aggregation.update(ms(150), 1_000.0, false, 100_000.0, 50_000.0));
        assert_eq!(aggregation.excess(100_000.0), 5_000.0);
        // 10 ms later 1000 bytes of these are explained.
        aggregation.update(ms(160), 2_500.0, false, 100_000.0, 50_000.0);
        assert_eq!(aggregation.excess(100_000.0), 6_500.0);
    }

    #[test]
    fn an_excess_is_bounded_by_the_window_and_by_a_tenth_of_a_second() {
        let mut aggregation = Aggregation::new(1_000.0);
        aggregation.update(ms(10), 9_000.0, false, 100_000.0, 4_000.0);
        assert_eq!(aggregation.excess(100_000.0), 4_000.0);
        assert_eq!(aggregation.excess(30_000.0), 3_000.0);
    }

    /// The bandwidth explains 1900 bytes of what is acknowledged 19 ms later: a whole segment, and not the
    /// part of a second one.
    #[test]
    fn what_is_expected_is_of_whole_segments() {
        let mut aggregation = Aggregation::new(1_000.0);
        aggregation.update(ms(10), 2_000.0, false, 100_000.0, 50_000.0);
        aggregation.update(ms(29), 2_000.0, false, 100_000.0, 50_000.0);
        assert_eq!(aggregation.excess(100_000.0), 3_000.0);
    }

    /// Of five to ten round trips: the tenth start of one drops what was found before the fifth.
    #[test]
    fn an_excess_is_forgotten_after_two_halves_of_the_window() {
        let mut aggregation = Aggregation::new(1_000.0);
        aggregation.update(ms(10), 9_000.0, false, 100_000.0, 50_000.0);
        let mut at = 1_000;
        let mut round = |aggregation: &mut Aggregation| {
            at += 1_000;
            aggregation.update(ms(at), 1_000.0, true, 100_000.0, 50_000.0);
            aggregation.excess(100_000.0)
        };
        assert_eq!([(); 9].map(|()| round(&mut aggregation)), [9_000.0; 9]);
        assert_eq!(round(&mut aggregation), 1_000.0);
    }
}
