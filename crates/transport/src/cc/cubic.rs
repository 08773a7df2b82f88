//! CUBIC (RFC 9438): after a reduction the window follows a cubic function of time back to where it was, and
//! past it.

use crate::cc::hystart::HyStart;
use crate::{Acked, Allowance, Controller, LossKind, Lost, Marked, Recovered, Reno, RenoOptions};
use multihop_core::{Span, Time};

/// Options of [`Cubic`].
#[derive(Clone, Debug, PartialEq)]
pub struct CubicOptions {
    /// Slow start, the first window, the limits, and what a loss reduces (what is outstanding, or the
    /// window).
    pub reno: RenoOptions,
    /// `C`, in segments per second cubed: how steeply the window grows. RFC 9438, section 5: 0.4.
    pub scale: f64,
    /// `beta_cubic`: what is left of the window after a loss. RFC 9438, section 4.6: 0.7.
    pub beta: f64,
    /// What is left of it after an ECN-Echo. RFC 9438, section 4.6: as after a loss, though it may be more
    /// (RFC 8511: 0.85).
    pub beta_ecn: f64,
    /// Give way faster to new flows when the window is falling (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// The first slow start is that of `HyStart++` (RFC 9406), which RFC 9438, section 4.10, recommends. It
    /// needs a round-trip sample from every acknowledgement ([`crate::TcpOptions::time_every_segment`]).
    pub hystart: bool,
}

impl CubicOptions {
    /// The constants of RFC 9438, with the slow start of RFC 5681.
    pub fn rfc(reno: RenoOptions) -> CubicOptions {
        CubicOptions { reno, scale: 0.4, beta: 0.7, beta_ecn: 0.7, fast_convergence: true, hystart: false }
    }
}

/// The controller. Windows named `w_` or `cwnd` are in segments, as in the RFC.
#[derive(Clone, Debug)]
pub struct Cubic {
    options: CubicOptions,
    reno: Reno,
    /// `W_max`: the plateau.
    w_max: f64,
    /// The window just before the last reduction.
    cwnd_prior: f64,
    /// The next stage of congestion avoidance follows a reduction that duplicate acknowledgements or an echo
    /// caused.
    reduced: bool,
    stage: Option<Stage>,
    /// The first slow start, if it is `HyStart++`'s and has not ended.
    hystart: Option<HyStart>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// `t_epoch`, moved on by the time in which the application did not use the window (section 5.8).
    epoch: Time,
    /// `K`: seconds from the epoch to the plateau.
    k: f64,
    /// `W_est`: the window that Reno would have.
    w_est: f64,
    /// Since when the application has not used the window.
    unused: Option<Time>,
}

impl Cubic {
    /// A controller with its first window.
    pub fn new(options: CubicOptions) -> Cubic {
        let reno = Reno::new(options.reno.clone());
        let hystart = options.hystart.then(HyStart::default);
        Cubic { options, reno, w_max: 0.0, cwnd_prior: 0.0, reduced: false, stage: None, hystart }
    }

    fn cwnd(&self) -> f64 {
        self.reno.window / self.reno.segment
    }

    /// Returns how many bytes count in congestion avoidance.
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

    /// Congestion avoidance begins. After slow start and after a timeout the plateau is here (sections 4.8
    /// and 4.10).
    fn begin_stage(&mut self, now: Time) -> Stage {
        let cwnd = self.cwnd();
        if !self.reduced || self.w_max <= cwnd {
            self.w_max = cwnd;
        }
        let k = ((self.w_max - cwnd) / self.options.scale).cbrt();
        Stage { epoch: now, k, w_est: cwnd, unused: None }
    }

    /// `W_cubic(t)` (Eq. 1), `t` in seconds.
    fn w_cubic(&self, stage: &Stage, t: f64) -> f64 {
        self.options.scale * (t - stage.k).powi(3) + self.w_max
    }

    /// `alpha_cubic` (section 4.3): Reno's growth with this `beta`, on average, until the window is what it
    /// was.
    fn alpha(&self, w_est: f64) -> f64 {
        if w_est >= self.cwnd_prior {
            1.0
        } else {
            3.0 * (1.0 - self.options.beta) / (1.0 + self.options.beta)
        }
    }

    /// Remembers the window before a reduction to `beta` of `in_flight`, sets the threshold, and returns what
    /// is left.
    ///
    /// What was sent while recovery lasted stays in `FlightSize` behind the next hole, also where the
    /// receiver has it: `beta` of that could be more than the window was. No more than the window counts (RFC
    /// 9438, section 4.6, is to reduce it; Linux starts from it).
    fn reduce(&mut self, in_flight: u64, beta: f64) -> f64 {
        let cwnd = self.cwnd();
        let yields = self.options.fast_convergence && cwnd < self.w_max;
        self.w_max = if yields { cwnd * (1.0 + self.options.beta) / 2.0 } else { cwnd };
        self.reduced = true;
        self.leave(in_flight.min(self.reno.window as u64), beta)
    }

    fn leave(&mut self, in_flight: u64, beta: f64) -> f64 {
        self.cwnd_prior = self.cwnd();
        self.stage = None;
        let left = self.reno.before_reduction(in_flight) * beta;
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
        let counted = if self.reno.window < self.reno.threshold {
            let rest = self.slow_start(acked);
            if rest == 0.0 {
                return;
            }
            rest
        } else {
            self.reno.counted(acked)
        };
        let mut stage = self.stage.unwrap_or_else(|| self.begin_stage(acked.now));
        if acked.app_limited {
            stage.unused = stage.unused.or(Some(acked.now));
        } else if let Some(since) = stage.unused.take() {
            stage.epoch += acked.now.since(since);
        }
        if !acked.ecn_echo && !acked.app_limited {
            let cwnd = self.cwnd();
            let share = (counted / self.reno.window).min(1.0);
            let t = acked.now.since(stage.epoch).seconds();
            let rtt = acked.srtt.unwrap_or(Span::ZERO).seconds();
            stage.w_est += self.alpha(stage.w_est) * share;
            // By the bytes acknowledged, so that a receiver that delays acknowledgements changes nothing; section 4.2 bounds
            // the target.
            let target = self.w_cubic(&stage, t + rtt).clamp(cwnd, 1.5 * cwnd);
            let mut grown = cwnd + (target - cwnd) * share;
            if self.w_cubic(&stage, t) < stage.w_est {
                grown = grown.max(stage.w_est);
            }
            self.reno.window = (grown * self.reno.segment).min(self.options.reno.max_window as f64);
        }
        self.stage = Some(stage);
    }

    fn on_lost(&mut self, lost: &Lost) {
        // A later slow start has a threshold to end at (RFC 9406, section 4.3).
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
                self.stage = None;
                self.reduced = false;
                self.reno.window = self.reno.segment;
            }
        }
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.reno.on_recovered(recovered);
    }

    fn on_idle(&mut self, now: Time) {
        self.reno.on_idle(now);
        self.reduced = false;
        self.stage = None;
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

    /// A window of acknowledgements per round trip, spread evenly, from `from` to `to`.
    fn avoid(cubic: &mut Cubic, from: f64, to: f64) {
        let mut now = seconds(from);
        while now <= seconds(to) {
            cubic.on_acked(&acked(now));
            now += Span::from_seconds(RTT.seconds() / cubic.cwnd());
        }
    }

    /// `W_max` 100, `beta` 0.7: K = cbrt(30 / 0.4) = 4.217 s; W(0) = 70 and W(5) = 100.19. A window that is
    /// to be W(t + RTT) one round trip later lags by less than a segment. Reno's estimate, from 70 by 0.529
    /// per round trip, is 96.5 at 5 s.
    #[test]
    fn rfc_9438_4_2_the_window_follows_the_cubic_after_a_loss() {
        let mut cubic = cubic(100, 100);
        cubic.on_lost(&lost(100));
        assert_eq!((cubic.cwnd(), cubic.w_max), (70.0, 100.0));
        cubic.on_acked(&acked(Time::ZERO));
        let stage = cubic.stage.unwrap();
        assert!((stage.k - 4.217_163).abs() < 1e-6, "{stage:?}");
        assert!((cubic.w_cubic(&stage, 0.0) - 70.0).abs() < 1e-9);
        assert!((cubic.w_cubic(&stage, 5.0) - 100.191_9).abs() < 1e-4);
        for (from, to, expected) in [
            (0.0, 1.0, 86.683),
            (1.0, 2.0, 95.641),
            (2.0, 4.0, 99.996),
            (4.0, 7.0, 108.624),
            (7.0, 9.0, 143.755),
        ] {
            avoid(&mut cubic, from, to);
            let closed = cubic.w_cubic(&cubic.stage.unwrap(), to);
            assert!((closed - expected).abs() < 1e-2, "{to}: {closed}");
            let reno = cubic.stage.unwrap().w_est;
            let expected = closed.max(reno);
            assert!((cubic.cwnd() - expected).abs() < 0.02 * expected, "{to}: {} {expected}", cubic.cwnd());
        }
    }

    /// The target is at most 1.5 windows, however far above the cubic is: a window of acknowledgements adds
    /// half a window, one of them half a segment. At 60 s the cubic is at 0.4 (60 - 4.22)^3 + 100, 69,000
    /// segments.
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

    /// At ten segments and 100 ms, Reno's estimate is ahead of the cubic: 0.529 segments per round trip up to
    /// where the window was, one afterwards.
    #[test]
    fn rfc_9438_4_3_small_windows_grow_as_renos() {
        let mut cubic = cubic(10, 10);
        cubic.on_lost(&lost(10));
        avoid(&mut cubic, 0.0, 0.499);
        // Five round trips and the first acknowledgement.
        assert!((cubic.cwnd() - (7.0 + 5.0 * 9.0 / 17.0)).abs() < 0.15, "{}", cubic.cwnd());
        assert!((cubic.cwnd() - cubic.stage.unwrap().w_est).abs() < 1e-9);
        avoid(&mut cubic, 0.5, 0.6);
        let at = cubic.cwnd();
        assert!(at > 10.0, "{at}");
        avoid(&mut cubic, 0.601, 0.7);
        assert!((cubic.cwnd() - at - 1.0).abs() < 0.15, "{} {at}", cubic.cwnd());
    }

    /// 100, then a loss at 80 on the way back: `W_max` is 80 * 1.7 / 2 = 68.
    #[test]
    fn rfc_9438_4_7_fast_convergence() {
        for (fast_convergence, w_max) in [(true, 68.0), (false, 80.0)] {
            let mut cubic = cubic(100, 100);
            cubic.options.fast_convergence = fast_convergence;
            cubic.on_lost(&lost(100));
            cubic.reno.window = 80.0 * MSS as f64;
            cubic.on_lost(&lost(80));
            assert!((cubic.w_max - w_max).abs() < 1e-9 && (cubic.cwnd() - 56.0).abs() < 1e-9, "{cubic:?}");
        }
    }

    /// 250 segments are outstanding behind a hole, most of them sent while recovery lasted, with a window
    /// of 100.
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

    /// After a timeout the threshold is 0.7 of what was outstanding, and the plateau is where slow start
    /// ends: K = 0.
    #[test]
    fn rfc_9438_4_8_after_a_timeout_the_plateau_is_the_threshold() {
        let mut cubic = cubic(40, 40);
        cubic.on_lost(&Lost { kind: LossKind::Timeout { again: false }, ..lost(40) });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (1.0, Some(28 * MSS)));
        cubic.on_lost(&Lost { kind: LossKind::Timeout { again: true }, ..lost(1) });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (1.0, Some(28 * MSS)));
        (0..27).for_each(|_| cubic.on_acked(&acked(seconds(1.0))));
        assert!(cubic.stage.is_none());
        cubic.on_acked(&acked(seconds(2.0)));
        let stage = cubic.stage.unwrap();
        assert_eq!((stage.k, cubic.w_max, stage.epoch), (0.0, 28.0, seconds(2.0)));
    }

    /// Round trips of ten segments: 100 ms once, then 112.5 ms. Slow start ends five rounds later with the
    /// window as threshold, and the plateau is there.
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
        // Eight of the first ten open by one segment, 42 by a quarter.
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (33.5, Some(33_500)));
        cubic.on_acked(&grown);
        assert_eq!((cubic.w_max, cubic.stage.unwrap().k), (33.5, 0.0));

        // After a loss slow start is standard, and ends at its threshold.
        let mut cubic = start();
        cubic.on_lost(&Lost { kind: LossKind::Timeout { again: false }, ..lost(15) });
        cubic.on_acked(&Acked { size: 8 * MSS, fresh: 8 * MSS, ..acked(Time::ZERO) });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (2.0, Some(10_500)));
    }

    /// Ten seconds in which the application sends little do not count: the window goes on where the cubic
    /// was.
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

    /// With nothing outstanding a timeout is no sign of congestion: the threshold stays.
    #[test]
    fn a_timeout_with_nothing_outstanding_leaves_the_threshold() {
        let mut cubic = cubic(40, 40);
        cubic.on_lost(&Lost { kind: LossKind::Timeout { again: false }, ..lost(0) });
        assert_eq!((cubic.cwnd(), cubic.slow_start_threshold()), (1.0, Some(40 * MSS)));
    }

    /// Fast convergence is for a window below the last plateau, "if cwnd < `W_max`"; one that came back to it
    /// yields nothing.
    #[test]
    fn rfc_9438_4_7_a_window_at_the_plateau_yields_nothing() {
        let mut cubic = cubic(100, 100);
        cubic.on_lost(&lost(100));
        cubic.reno.window = 100.0 * MSS as f64;
        cubic.on_lost(&lost(100));
        assert_eq!((cubic.w_max, cubic.cwnd()), (100.0, 70.0));
    }
}
