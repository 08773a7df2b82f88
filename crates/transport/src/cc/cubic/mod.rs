//! CUBIC (RFC 9438): after a reduction the window is a cubic function of time, which reaches the previous
//! window and then exceeds it. [`LinuxCubic`] has the rules of Linux.

mod linux;
mod slow_start;

use crate::{Acked, Allowance, Controller, LossKind, Lost, Marked, Recovered, Reno, RenoOptions};
pub use linux::LinuxCubic;
use multihop_core::{Span, Time};
use slow_start::ExitDetector;
pub use slow_start::SlowStartExit;

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
    /// End of the first slow start. Others than [`SlowStartExit::Loss`] need a round-trip sample from every
    /// acknowledgement ([`crate::TcpOptions::time_every_segment`]).
    pub slow_start: SlowStartExit,
}

impl CubicOptions {
    /// Constants of RFC 9438, with the slow start of RFC 5681.
    pub fn rfc(reno: RenoOptions) -> CubicOptions {
        CubicOptions { reno, scale: 0.4, beta: 0.7, beta_ecn: 0.7, slow_start: SlowStartExit::Loss }
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
    exit: ExitDetector,
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
        let exit = ExitDetector::new(options.slow_start);
        let (w_max, cwnd_prior, reduced, epoch_state, before_loss) = (0.0, 0.0, false, None, None);
        Cubic { options, reno, w_max, cwnd_prior, reduced, epoch_state, exit, before_loss }
    }

    fn cwnd(&self) -> f64 {
        self.reno.window / self.reno.segment
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
        let Some(counted_bytes) = self.exit.open(&mut self.reno, acked) else { return };
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
        self.exit.on_lost(lost);
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
        self.exit.on_marked();
        let left = self.reduce(marked.in_flight, self.options.beta_ecn);
        self.reno.window = self.reno.window.min(left.max(self.reno.segment));
    }
}

#[cfg(test)]
mod tests;
