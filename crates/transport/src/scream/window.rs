//! Reference window (section 4.2.2).

use super::VIRTUAL_RTT;

/// Minimum window in bytes (`MIN_REF_WND`), with which the flow starts.
const MIN_WINDOW: f64 = 3_000.0;
/// Factors of the window after a loss and after a classic mark (`BETA_LOSS`, `BETA_ECN`).
const BETA_LOSS: f64 = 0.7;
const BETA_ECN: f64 = 0.8;
/// Ratio of the window to the bytes in flight that growth does not exceed (`BYTES_IN_FLIGHT_HEAD_ROOM`).
const HEADROOM: f64 = 1.5;
/// Round trips after congestion in which growth is cautious (`POST_CONGESTION_DELAY_RTT`).
const CAUTIOUS_ROUNDS: f64 = 100.0;
/// Share of the window by which it may grow per round trip (`MUL_INCREASE_FACTOR`).
const GROWTH: f64 = 0.02;
/// Round trips without congestion after which the window may be far above the bytes in flight.
const LONG_WITHOUT: f64 = 100.0;

/// Measurements for an update of the window. Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Present time.
    pub(super) now: f64,
    /// Smoothed round-trip time.
    pub(super) rtt: f64,
    /// Bytes of the packets that the report covers first.
    pub(super) newly_acked: f64,
    /// Bytes of these packets that were marked.
    pub(super) newly_marked: f64,
    /// Whether packets were lost.
    pub(super) lost: bool,
    /// Whether packets were marked.
    pub(super) marked: bool,
    /// Average share of marked packets.
    pub(super) mark_share: f64,
    /// Latest queueing delay.
    pub(super) queueing: f64,
    /// Average queueing delay.
    pub(super) average_queueing: f64,
    /// Target of the queueing delay.
    pub(super) delay_target: f64,
    /// Maximum of the bytes in flight in the present round trip.
    pub(super) in_flight_present: f64,
    /// Maximum of the bytes in flight in the previous round trip.
    pub(super) in_flight_previous: f64,
    /// Whether the target rate has its maximum.
    pub(super) is_at_max: bool,
}

/// Kind of congestion that reduces the window.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Congestion {
    Loss,
    Mark,
    /// Queueing delay, as a share of marks that it stands for.
    Delay(f64),
}

/// Reference window (`ref_wnd`).
#[derive(Clone, Copy, Debug)]
pub(super) struct ReferenceWindow {
    segment: f64,
    l4s: bool,
    bytes: f64,
    /// Window at the last congestion after growth (`ref_wnd_i`).
    inflection: f64,
    may_set_inflection: bool,
    /// Whether packets were lost or marked since the last reaction.
    lost: bool,
    marked: bool,
    /// Times of the last loss or mark, and of the last reaction; none before the first.
    last_congestion: Option<f64>,
    last_reaction: Option<f64>,
}

impl ReferenceWindow {
    /// Creates the minimum window of a flow with segments of this size in bytes.
    pub(super) fn new(segment_size: u32, l4s: bool) -> ReferenceWindow {
        ReferenceWindow {
            segment: f64::from(segment_size),
            l4s,
            bytes: MIN_WINDOW,
            inflection: 1.0,
            may_set_inflection: true,
            lost: false,
            marked: false,
            last_congestion: None,
            last_reaction: None,
        }
    }

    /// Present window in bytes.
    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Halves the window.
    pub(super) fn halve(&mut self) {
        self.bytes = (self.bytes / 2.0).max(MIN_WINDOW);
    }

    /// Updates the window with a report.
    pub(super) fn update(&mut self, round: &Round) {
        self.lost |= round.lost;
        self.marked |= round.marked;
        if round.lost || round.marked {
            self.last_congestion = Some(round.now);
        }
        let caution = self.caution();
        if let Some(congestion) = self.congestion(round) {
            self.reduce(congestion, caution, round);
        }
        self.grow(caution, round);
    }

    /// Caution near the window at the last congestion: 0.1 there, 1 from an eighth away on (`scl_t`).
    fn caution(&self) -> f64 {
        let distance = 8.0 * (self.bytes - self.inflection) / self.inflection;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// Time in round trips since `then`, in which a round trip is at least the virtual one; none if there was
    /// no such time.
    fn rounds_since(then: Option<f64>, round: &Round) -> Option<f64> {
        then.map(|then| (round.now - then) / round.rtt.max(VIRTUAL_RTT))
    }

    /// Congestion to react to, at most once per round trip.
    fn congestion(&self, round: &Round) -> Option<Congestion> {
        let interval = round.rtt.min(VIRTUAL_RTT);
        if self.last_reaction.is_some_and(|last| round.now - last < interval) {
            return None;
        }
        let from = round.delay_target / 2.0;
        match (self.lost, self.marked) {
            (true, _) => Some(Congestion::Loss),
            (_, true) => Some(Congestion::Mark),
            _ if round.average_queueing > from => {
                Some(Congestion::Delay(((round.average_queueing - from) / from).min(1.0)))
            }
            _ => None,
        }
    }

    fn reduce(&mut self, congestion: Congestion, caution: f64, round: &Round) {
        if self.may_set_inflection {
            self.inflection = self.bytes;
            self.may_set_inflection = false;
        }
        // Reactions are up to a virtual round trip apart.
        let long_round = (round.rtt / VIRTUAL_RTT).max(1.0);
        let mut before = self.bytes;
        let factor = match congestion {
            Congestion::Loss => BETA_LOSS,
            Congestion::Mark if self.l4s => {
                if Self::rounds_since(self.last_reaction, round).is_none_or(|rounds| rounds > LONG_WITHOUT) {
                    before = before.min(round.in_flight_previous);
                }
                let is_steady = round.queueing < 0.25 * round.delay_target;
                let scale = if is_steady { caution.max(0.25) } else { 1.0 };
                1.0 - scale * round.mark_share / 2.0 / long_round
            }
            Congestion::Mark => BETA_ECN,
            Congestion::Delay(share) => 1.0 - share / 2.0 / long_round,
        };
        self.bytes = (factor * before).max(MIN_WINDOW);
        (self.lost, self.marked, self.last_reaction) = (false, false, Some(round.now));
    }

    fn grow(&mut self, caution: f64, round: &Round) {
        let ratio = (self.segment / self.bytes).min(1.0);
        let mut increment = (round.newly_acked - round.newly_marked) * ratio;
        increment *= (round.rtt / VIRTUAL_RTT).min(1.0) * caution.max(0.25);
        let calm = Self::rounds_since(self.last_congestion, round)
            .map_or(1.0, |rounds| (rounds / CAUTIOUS_ROUNDS).clamp(0.0, 1.0));
        increment *= 1.0 + GROWTH * self.bytes / self.segment * calm * caution;
        let in_flight = round.in_flight_present.max(round.in_flight_previous);
        let grown = self.bytes + increment;
        if grown <= self.segment + HEADROOM * in_flight && !round.is_at_max && increment > 0.0 {
            self.bytes = grown;
            self.may_set_inflection = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Report at 10 s without congestion, on a path with a round trip of 50 ms, and enough in flight.
    fn round() -> Round {
        Round {
            now: 10.0,
            rtt: 0.05,
            newly_acked: 0.0,
            newly_marked: 0.0,
            lost: false,
            marked: false,
            mark_share: 0.0,
            queueing: 0.0,
            average_queueing: 0.0,
            delay_target: 0.06,
            in_flight_present: 1e6,
            in_flight_previous: 1e6,
            is_at_max: false,
        }
    }

    fn window(bytes: f64) -> ReferenceWindow {
        ReferenceWindow { bytes, ..ReferenceWindow::new(1_000, false) }
    }

    fn after(mut window: ReferenceWindow, round: &Round) -> f64 {
        window.update(round);
        window.bytes()
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn each_kind_of_congestion_has_its_reduction() {
        let l4s = ReferenceWindow { l4s: true, ..window(20_000.0) };
        let marked = Round { marked: true, mark_share: 0.2, queueing: 0.02, ..round() };
        assert_close(after(window(20_000.0), &Round { lost: true, ..round() }), 14_000.0);
        assert_close(after(window(20_000.0), &marked), 16_000.0);
        // Half of 0.2, and half of that as the round trip is two virtual ones.
        assert_close(after(l4s, &marked), 20_000.0 * 0.95);
        // 45 ms are half way from 30 to 60 ms: a share of a half.
        let delayed = Round { average_queueing: 0.045, ..round() };
        assert_close(after(window(20_000.0), &delayed), 20_000.0 * 0.875);
        assert_close(after(window(20_000.0), &Round { average_queueing: 1.0, ..delayed }), 15_000.0);
        assert_close(after(window(20_000.0), &Round { rtt: 0.02, ..delayed }), 15_000.0);
        assert_close(after(window(20_000.0), &Round { average_queueing: 0.03, ..delayed }), 20_000.0);
        assert_close(after(window(3_500.0), &Round { lost: true, ..round() }), 3_000.0);
    }

    /// A loss within 25 ms of a reaction counts 25 ms after it.
    #[test]
    fn reactions_are_an_interval_apart() {
        let mut window = window(20_000.0);
        window.update(&Round { lost: true, ..round() });
        window.update(&Round { lost: true, now: 10.02, ..round() });
        assert_close(window.bytes(), 14_000.0);
        window.update(&Round { now: 10.03, ..round() });
        assert_close(window.bytes(), 9_800.0);
        window.update(&Round { now: 10.06, ..round() });
        assert_close(window.bytes(), 9_800.0);
    }

    /// After more than 100 round trips without congestion, L4S falls to the bytes in flight first.
    #[test]
    fn an_inflated_window_falls_to_the_bytes_in_flight() {
        let marked = Round { marked: true, in_flight_previous: 8_000.0, queueing: 0.02, ..round() };
        let inflated = ReferenceWindow { l4s: true, last_reaction: Some(1.0), ..window(20_000.0) };
        assert_close(after(inflated, &marked), 8_000.0);
        assert_close(after(ReferenceWindow { last_reaction: Some(5.1), ..inflated }, &marked), 20_000.0);
    }

    /// A window of 20 segments that is acknowledged whole: a segment, times 1 + 0.02 * 20.
    #[test]
    fn growth_without_congestion_by_hand() {
        let acked = Round { newly_acked: 20_000.0, ..round() };
        assert_close(after(window(20_000.0), &acked), 21_400.0);
        // Half of the bytes are marked; a mark also reduces, which share 0 of L4S does not.
        let half = Round { newly_marked: 10_000.0, ..acked };
        assert_close(after(window(20_000.0), &half), 20_700.0);
        // A round trip of 10 ms: 10 / 25.
        assert_close(after(window(20_000.0), &Round { rtt: 0.01, ..acked }), 20_560.0);
        // 50 round trips after a loss: half of the multiplicative part.
        let cautious = ReferenceWindow { last_congestion: Some(7.5), ..window(20_000.0) };
        assert_close(after(cautious, &acked), 21_200.0);
    }

    /// At the inflection point a quarter of the increment, and a tenth of the multiplicative part; a
    /// sixteenth above it, a half: (8 / 16)^2 = 0.25, which is also the least.
    #[test]
    fn growth_is_slow_near_the_inflection_point() {
        let acked = Round { newly_acked: 20_000.0, ..round() };
        let near = ReferenceWindow { inflection: 20_000.0, ..window(20_000.0) };
        assert_close(after(near, &acked), 20_000.0 + 1_000.0 * 0.25 * 1.04);
        let above = ReferenceWindow { inflection: 20_000.0, ..window(20_000.0 * 17.0 / 16.0) };
        let bytes = 21_250.0;
        let expected = bytes + 20_000.0 / bytes * 1_000.0 * 0.25 * (1.0 + 0.02 * 21.25 * 0.25);
        assert_close(after(above, &acked), expected);
    }

    #[test]
    fn growth_needs_bytes_in_flight_and_room_for_the_rate() {
        let acked = Round { newly_acked: 20_000.0, ..round() };
        let few = Round { in_flight_present: 13_000.0, in_flight_previous: 0.0, ..acked };
        assert_close(after(window(20_000.0), &few), 20_000.0); // up to 1000 + 1.5 * 13000
        let enough = Round { in_flight_previous: 13_700.0, ..few };
        assert_close(after(window(20_000.0), &enough), 21_400.0);
        assert_close(after(window(20_000.0), &Round { is_at_max: true, ..acked }), 20_000.0);
    }

    /// The inflection point is the window at the first congestion after growth.
    #[test]
    fn the_inflection_point_is_where_congestion_began() {
        let mut window = window(20_000.0);
        window.update(&Round { lost: true, ..round() });
        window.update(&Round { lost: true, now: 11.0, ..round() });
        assert_eq!(window.inflection, 20_000.0);
        window.update(&Round { newly_acked: 9_000.0, now: 12.0, ..round() });
        let grown = window.bytes();
        window.update(&Round { lost: true, now: 13.0, ..round() });
        assert_eq!(window.inflection, grown);
    }
}
