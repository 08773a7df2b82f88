//! CUBIC (RFC 9438): after a reduction the window is a cubic function of time, which reaches the previous
//! window and then exceeds it.

use crate::cc::hystart::HyStart;
use crate::{Acked, Allowance, Controller, LossKind, Lost, Marked, Recovered, Reno, RenoOptions};
use multihop_core::{Span, Time};

/// Options of [`Cubic`].
#[derive(Clone, Debug, PartialEq)]
pub struct CubicOptions {
    /// Slow start, initial window, limits, and the base of a reduction (`FlightSize` or the window).
    pub reno: RenoOptions,
    /// `C`, in segments per second cubed: scale of the growth. RFC 9438, section 5: 0.4.
    pub scale: f64,
    /// `beta_cubic`: factor of the window after a loss. RFC 9438, section 4.6: 0.7.
    pub beta: f64,
    /// Factor of the window after an ECN-Echo. RFC 9438, section 4.6: as after a loss, though it may be
    /// larger (RFC 8511: 0.85).
    pub beta_ecn: f64,
    /// Whether the first slow start is `HyStart++` (RFC 9406), as RFC 9438, section 4.10, recommends. Needs a
    /// round-trip sample from every acknowledgement ([`crate::TcpOptions::time_every_segment`]).
    pub hystart: bool,
}

impl CubicOptions {
    /// Constants of RFC 9438, with the slow start of RFC 5681.
    pub fn rfc(reno: RenoOptions) -> CubicOptions {
        CubicOptions { reno, scale: 0.4, beta: 0.7, beta_ecn: 0.7, hystart: false }
    }
}

/// The CUBIC controller. Windows named `w_` or `cwnd` are in segments, as in the RFC.
#[derive(Clone, Debug)]
pub struct Cubic {
    options: CubicOptions,
    reno: Reno,
    /// `W_max`: the plateau of the cubic function.
    w_max: f64,
    /// Window before the last reduction.
    cwnd_prior: f64,
    /// Whether the next epoch follows a reduction by duplicate acknowledgements or by an echo.
    reduced: bool,
    epoch_state: Option<AvoidanceEpoch>,
    /// State of `HyStart++` in the first slow start.
    hystart: Option<HyStart>,
    /// State before the last reduction by a loss.
    before_loss: Option<CubicState>,
}

/// State that an undone reduction restores (RFC 9438, section 4.9.1).
#[derive(Clone, Copy, Debug)]
struct CubicState {
    w_max: f64,
    cwnd_prior: f64,
    reduced: bool,
    epoch_state: Option<AvoidanceEpoch>,
}

/// Epoch of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct AvoidanceEpoch {
    /// `t_epoch`, shifted by the time in which the application did not use the window (section 5.8).
    epoch: Time,
    /// `K`: time from the epoch to the plateau, in seconds.
    k: f64,
    /// `W_est`: window that Reno would have.
    w_est: f64,
    /// Time since which the application has not used the window.
    idle_since: Option<Time>,
}

impl Cubic {
    /// A controller with its initial window.
    pub fn new(options: CubicOptions) -> Cubic {
        let reno = Reno::new(options.reno.clone());
        let hystart = options.hystart.then(HyStart::default);
        let (w_max, cwnd_prior, reduced, epoch_state, before_loss) = (0.0, 0.0, false, None, None);
        Cubic { options, reno, w_max, cwnd_prior, reduced, epoch_state, hystart, before_loss }
    }

    fn cwnd(&self) -> f64 {
        self.reno.window / self.reno.segment
    }

    /// Opens the window in slow start. Returns the number of bytes that count in congestion avoidance.
    fn slow_start(&mut self, acked: &Acked) -> f64 {
        let standard = self.reno.slow_start_increase(acked);
        let Some(hystart) = &mut self.hystart else { return self.reno.slow_start(acked, standard) };
        let (bytes, ended) = hystart.on_acked(acked, standard);
        let rest = self.reno.slow_start(acked, bytes);
        if ended {
            self.reno.threshold = self.reno.window;
            self.hystart = None;
        }
        rest
    }

    /// Starts an epoch of congestion avoidance. After slow start and after a timeout the plateau is the
    /// present window (sections 4.8 and 4.10).
    fn begin_epoch(&mut self, now: Time) -> AvoidanceEpoch {
        let cwnd = self.cwnd();
        if !self.reduced || self.w_max <= cwnd {
            self.w_max = cwnd;
        }
        let k = ((self.w_max - cwnd) / self.options.scale).cbrt();
        AvoidanceEpoch { epoch: now, k, w_est: cwnd, idle_since: None }
    }

    /// `W_cubic(t)` (Eq. 1), `t` in seconds.
    fn w_cubic(&self, epoch_state: &AvoidanceEpoch, t: f64) -> f64 {
        self.options.scale * (t - epoch_state.k).powi(3) + self.w_max
    }

    /// `alpha_cubic` (section 4.3): the average growth of Reno with this `beta`, until the previous window is
    /// reached.
    fn alpha(&self, w_est: f64) -> f64 {
        if w_est >= self.cwnd_prior {
            1.0
        } else {
            3.0 * (1.0 - self.options.beta) / (1.0 + self.options.beta)
        }
    }

    /// Stores the window before a reduction to `beta` of `in_flight`, sets the threshold, and returns the
    /// reduced window.
    ///
    /// Data sent during recovery stays in `FlightSize` behind the next hole, even if the receiver has it, so
    /// that `beta` of `FlightSize` could exceed the previous window. At most the window counts (RFC 9438,
    /// section 4.6, reduces it; Linux starts from it).
    fn reduce(&mut self, in_flight: u64, beta: f64) -> f64 {
        let cwnd = self.cwnd();
        // A decreasing window releases bandwidth faster to new flows (section 4.7).
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + self.options.beta) / 2.0 } else { cwnd };
        self.reduced = true;
        self.leave(in_flight.min(self.reno.window as u64), beta)
    }

    fn leave(&mut self, in_flight: u64, beta: f64) -> f64 {
        self.cwnd_prior = self.cwnd();
        self.epoch_state = None;
        let left = self.reno.reduced(self.reno.before_reduction(in_flight) * beta);
        self.reno.threshold = left.max(2.0 * self.reno.segment);
        left
    }
}

impl Controller for Cubic {
    fn allowance(&self) -> Allowance {
        self.reno.allowance()
    }

    fn slow_start_threshold(&self) -> Option<u64> {
        self.reno.slow_start_threshold()
    }

    fn on_acked(&mut self, acked: &Acked) {
        let counted_bytes = if self.reno.window < self.reno.threshold {
            let rest = self.slow_start(acked);
            if rest == 0.0 {
                return;
            }
            rest
        } else {
            self.reno.counted_bytes(acked)
        };
        let mut epoch_state = self.epoch_state.unwrap_or_else(|| self.begin_epoch(acked.now));
        if acked.app_limited {
            epoch_state.idle_since = epoch_state.idle_since.or(Some(acked.now));
        } else if let Some(since) = epoch_state.idle_since.take() {
            epoch_state.epoch += acked.now.since(since);
        }
        if !acked.ecn_echo && !acked.app_limited {
            let cwnd = self.cwnd();
            let share = (counted_bytes / self.reno.window).min(1.0);
            let t = acked.now.since(epoch_state.epoch).seconds();
            let rtt = acked.srtt.unwrap_or(Span::ZERO).seconds();
            epoch_state.w_est += self.alpha(epoch_state.w_est) * share;
            // Growth by acknowledged bytes, so that delayed acknowledgements do not matter; section 4.2
            // bounds the target.
            let target = self.w_cubic(&epoch_state, t + rtt).clamp(cwnd, 1.5 * cwnd);
            let mut grown = cwnd + (target - cwnd) * share;
            if self.w_cubic(&epoch_state, t) < epoch_state.w_est {
                grown = grown.max(epoch_state.w_est);
            }
            self.reno.window = (grown * self.reno.segment).min(self.options.reno.max_window as f64);
        }
        self.epoch_state = Some(epoch_state);
    }

    fn on_lost(&mut self, lost: &Lost) {
        if lost.kind != (LossKind::Timeout { again: true }) {
            let Cubic { w_max, cwnd_prior, reduced, epoch_state, .. } = *self;
            self.before_loss = Some(CubicState { w_max, cwnd_prior, reduced, epoch_state });
        }
        self.reno.remember(lost.kind);
        // A later slow start ends at a threshold (RFC 9406, section 4.3).
        self.hystart = None;
        match lost.kind {
            LossKind::DuplicateAcks => {
                self.reduce(lost.in_flight, self.options.beta);
                self.reno.window = self.reno.threshold;
            }
            LossKind::Timeout { again } => {
                if !again && lost.in_flight > 0 {
                    self.leave(lost.in_flight, self.options.beta);
                }
                self.epoch_state = None;
                self.reduced = false;
                self.reno.window = self.reno.segment;
            }
        }
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.reno.on_recovered(recovered);
    }

    fn on_undone(&mut self) {
        self.reno.on_undone();
        if let Some(CubicState { w_max, cwnd_prior, reduced, epoch_state }) = self.before_loss.take() {
            (self.w_max, self.cwnd_prior, self.reduced, self.epoch_state) =
                (w_max, cwnd_prior, reduced, epoch_state);
        }
    }

    fn on_idle(&mut self, now: Time) {
        self.reno.on_idle(now);
        self.reduced = false;
        self.epoch_state = None;
    }

    fn on_marked(&mut self, marked: &Marked) {
        self.hystart = None;
        let left = self.reduce(marked.in_flight, self.options.beta_ecn);
        self.reno.window = self.reno.window.min(left.max(self.reno.segment));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;
    const RTT: Span = Span::from_ms(100);

    fn cubic(window: u32, threshold: u32) -> Cubic {
        let reno = RenoOptions {
            initial_window: Some(window),
            initial_threshold: Some(threshold),
            ..RenoOptions::rfc(MSS as u32, 10_000 * MSS)
        };
        Cubic::new(CubicOptions::rfc(reno))
    }

    fn acked(now: Time) -> Acked {
        Acked { rtt: Some(RTT), srtt: Some(RTT), ..Acked::in_order(now, MSS) }
    }

    fn lost(in_flight: u64) -> Lost {
        Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: in_flight * MSS }
    }

    fn seconds(seconds: f64) -> Time {
        Time::ZERO + Span::from_seconds(seconds)
    }

    /// Acknowledges a window per round trip, spread evenly, from `from` to `to`.
    fn avoid(cubic: &mut Cubic, from: f64, to: f64) {
        let mut now = seconds(from);
        while now <= seconds(to) {
            cubic.on_acked(&acked(now));
            now += Span::from_seconds(RTT.seconds() / cubic.cwnd());
        }
    }

    /// `W_max` 100, `beta` 0.7: K = cbrt(30 / 0.4) = 4.217 s; W(0) = 70 and W(5) = 100.19. A window that
    /// targets W(t + RTT) one round trip later lags by less than a segment. Reno's estimate, from 70 by 0.529
    /// per round trip, is 96.5 at 5 s.
    #[test]
    fn rfc_9438_4_2_the_window_follows_the_cubic_after_a_loss() {
        let mut cubic = cubic(100, 100);
        cubic.on_lost(&lost(100));
        assert_eq!((cubic.cwnd(), cubic.w_max), (70.0, 100.0));
        cubic.on_acked(&acked(Time::ZERO));
        let epoch_state = cubic.epoch_state.unwrap();
        assert!((epoch_state.k - 4.217_163).abs() < 1e-6, "{epoch_state:?}");
        assert!((cubic.w_cubic(&epoch_state, 0.0) - 70.0).abs() < 1e-9);
        assert!((cubic.w_cubic(&epoch_state, 5.0) - 100.191_9).abs() < 1e-4);
        for (from, to, expected) in [
            (0.0, 1.0, 86.683),
            (1.0, 2.0, 95.641),
            (2.0, 4.0, 99.996),
            (4.0, 7.0, 108.624),
            (7.0, 9.0, 143.755),
        ] {
            avoid(&mut cubic, from, to);
            let closed = cubic.w_cubic(&cubic.epoch_state.unwrap(), to);
            assert!((closed - expected).abs() < 1e-2, "{to}: {closed}");
            let reno = cubic.epoch_state.unwrap().w_est;
            let expected = closed.max(reno);
            assert!((cubic.cwnd() - expected).abs() < 0.02 * expected, "{to}: {} {expected}", cubic.cwnd());
        }
    }

    /// The target is at most 1.5 windows, however large the cubic function is: a window of acknowledgements
    /// adds half a window, one of them half a segment. At 60 s the cubic function is 0.4 (60 - 4.22)^3 + 100,
    /// 69,000 segments.
    #[test]
    fn rfc_9438_4_2_the_window_grows_by_half_in_a_round_trip_at_most() {
        let mut cubic = cubic(100, 100);
        cubic.on_lost(&lost(100));
        cubic.on_acked(&acked(Time::ZERO));
        let before = cubic.cwnd();
        cubic.on_acked(&acked(seconds(60.0)));
        assert!((cubic.cwnd() - before - 0.5).abs() < 1e-9, "{}", cubic.cwnd());
        let (before, size) = (cubic.cwnd(), cubic.reno.window as u64);
        cubic.on_acked(&Acked { size, fresh: size, ..acked(seconds(60.0)) });
        assert!((cubic.cwnd() / before - 1.5).abs() < 1e-3, "{} {before}", cubic.cwnd());
    }

    /// At ten segments and 100 ms, Reno's estimate exceeds the cubic function: 0.529 segments per round trip
    /// up to the previous window, one afterwards.
    #[test]
    fn rfc_9438_4_3_small_windows_grow_as_renos() {
        let mut cubic = cubic(10, 10);
        cubic.on_lost(&lost(10));
        avoid(&mut cubic, 0.0, 0.499);
        // Five round trips and the first acknowledgement.
        assert!((cubic.cwnd() - (7.0 + 5.0 * 9.0 / 17.0)).abs() < 0.15, "{}", cubic.cwnd());
        assert!((cubic.cwnd() - cubic.epoch_state.unwrap().w_est).abs() < 1e-9);
        avoid(&mut cubic, 0.5, 0.6);
        let at = cubic.cwnd();
        assert!(at > 10.0, "{at}");
        avoid(&mut cubic, 0.601, 0.7);
        assert!((cubic.cwnd() - at - 1.0).abs() < 0.15, "{} {at}", cubic.cwnd());
    }

    /// A window of 100, then a loss at 80 below the plateau: `W_max` is 80 * 1.7 / 2 = 68.
    #[test]
    fn rfc_9438_4_7_fast_convergence() {
        let mut cubic = cubic(100, 100);
        cubic.on_lost(&lost(100));
        cubic.reno.window = 80.0 * MSS as f64;
        cubic.on_lost(&lost(80));
        assert!((cubic.w_max - 68.0).abs() < 1e-9 && (cubic.cwnd() - 56.0).abs() < 1e-9, "{cubic:?}");
    }

    /// 250 segments are outstanding behind a hole, most of them sent during recovery, with a window of 100.
    #[test]
    fn rfc_9438_4_6_a_second_episode_leaves_beta_of_the_window() {
        let mut cubic = cubic(100, 100);
        cubic.on_lost(&lost(250));
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (70.0, Some(70 * MSS)));
        cubic.on_marked(&Marked { now: Time::ZERO, in_flight: 250 * MSS });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (49.0, Some(49 * MSS)));
        // The application left most of the window unused.
        cubic.on_lost(&lost(10));
        assert_eq!(cubic.cwnd(), 7.0);
    }

    #[test]
    fn rfc_9438_4_6_an_echo_reduces_by_its_own_beta_and_down_to_one_segment() {
        let mut cubic = cubic(20, 20);
        cubic.options.beta_ecn = 0.85;
        cubic.on_marked(&Marked { now: Time::ZERO, in_flight: 20 * MSS });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (17.0, Some(17 * MSS)));
        cubic.on_marked(&Marked { now: Time::ZERO, in_flight: MSS });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (1.0, Some(2 * MSS)));
    }

    /// After a timeout the threshold is 0.7 of the data in flight, and the plateau is the end of slow start:
    /// K = 0.
    #[test]
    fn rfc_9438_4_8_after_a_timeout_the_plateau_is_the_threshold() {
        let mut cubic = cubic(40, 40);
        cubic.on_lost(&Lost { kind: LossKind::Timeout { again: false }, ..lost(40) });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (1.0, Some(28 * MSS)));
        cubic.on_lost(&Lost { kind: LossKind::Timeout { again: true }, ..lost(1) });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (1.0, Some(28 * MSS)));
        (0..27).for_each(|_| cubic.on_acked(&acked(seconds(1.0))));
        assert!(cubic.epoch_state.is_none());
        cubic.on_acked(&acked(seconds(2.0)));
        let epoch_state = cubic.epoch_state.unwrap();
        assert_eq!((epoch_state.k, cubic.w_max, epoch_state.epoch), (0.0, 28.0, seconds(2.0)));
    }

    /// Round trips of ten segments: 100 ms once, then 112.5 ms. Slow start ends five rounds later with the
    /// window as threshold and plateau.
    #[test]
    fn rfc_9406_4_2_the_window_is_the_threshold_when_slow_start_ends() {
        let start = || {
            let mut cubic = Cubic::new(CubicOptions {
                hystart: true,
                ..CubicOptions::rfc(RenoOptions::rfc(MSS as u32, 10_000 * MSS))
            });
            (0..11).for_each(|_| cubic.on_acked(&Acked { in_flight: 10 * MSS, ..acked(Time::ZERO) }));
            assert_eq!(cubic.cwnd(), 15.0);
            cubic
        };
        let grown = Acked { rtt: Some(Span::from_us(112_500)), in_flight: 10 * MSS, ..acked(Time::ZERO) };
        let mut cubic = start();
        (0..50).for_each(|_| cubic.on_acked(&grown));
        // Eight of the first ten acknowledgements add one segment, 42 add a quarter.
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (33.5, Some(33_500)));
        cubic.on_acked(&grown);
        assert_eq!((cubic.w_max, cubic.epoch_state.unwrap().k), (33.5, 0.0));

        // After a loss slow start is standard, and ends at its threshold.
        let mut cubic = start();
        cubic.on_lost(&Lost { kind: LossKind::Timeout { again: false }, ..lost(15) });
        cubic.on_acked(&Acked { size: 8 * MSS, fresh: 8 * MSS, ..acked(Time::ZERO) });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (2.0, Some(10_500)));
    }

    /// Ten seconds in which the application sends little do not count: the window continues on the cubic
    /// function.
    #[test]
    fn rfc_9438_5_8_time_in_which_the_window_is_not_used_does_not_count() {
        let mut busy = cubic(100, 100);
        busy.on_lost(&lost(100));
        avoid(&mut busy, 0.0, 1.0);
        let mut idle = busy.clone();
        for tenths in 10..=110 {
            idle.on_acked(&Acked { app_limited: true, ..acked(seconds(f64::from(tenths) / 10.0)) });
        }
        assert_eq!(idle.cwnd(), busy.cwnd());
        avoid(&mut busy, 1.01, 2.0);
        avoid(&mut idle, 11.01, 12.0);
        assert!((idle.cwnd() - busy.cwnd()).abs() < 0.2, "{} {}", idle.cwnd(), busy.cwnd());
    }

    /// With nothing outstanding a timeout shows no congestion: the threshold stays.
    #[test]
    fn a_timeout_with_nothing_outstanding_leaves_the_threshold() {
        let mut cubic = cubic(40, 40);
        cubic.on_lost(&Lost { kind: LossKind::Timeout { again: false }, ..lost(0) });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (1.0, Some(40 * MSS)));
    }

    /// Fast convergence applies to a window below the last plateau, "if cwnd < `W_max`", not to one that has
    /// reached it.
    #[test]
    fn rfc_9438_4_7_a_window_at_the_plateau_yields_nothing() {
        let mut cubic = cubic(100, 100);
        cubic.on_lost(&lost(100));
        cubic.reno.window = 100.0 * MSS as f64;
        cubic.on_lost(&lost(100));
        assert_eq!((cubic.w_max, cubic.cwnd()), (100.0, 70.0));
    }
}
