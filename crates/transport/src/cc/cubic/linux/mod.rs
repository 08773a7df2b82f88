//! CUBIC as in Linux 6 (`net/ipv4/tcp_cubic.c`): whole segments, and times in ticks of the kernel.

use super::CubicOptions;
use super::slow_start::ExitDetector;
use crate::{Acked, Allowance, Controller, LossKind, Lost, Marked, Recovered, Reno, SentSegment};
use multihop_core::{Span, Time};

/// Length of a tick, 1/`HZ`: that of most distributions.
const TICK: Span = Span::from_ms(4);
/// Ticks in a second.
const HZ: u64 = 250;
/// Ticks for which the growth stays while the window does (`HZ / 32`).
const TICKS_UNCHANGED: u64 = HZ / 32;
/// Denominator of `beta` (`BICTCP_BETA_SCALE`), and binary digits of a second in the cubic function
/// (`BICTCP_HZ`).
const UNIT: u64 = 1_024;
const UNIT_BITS: u32 = 10;
/// Growth before the first loss: at least a segment per this many acknowledged, 5 % per round trip.
const UNKNOWN_PLATEAU_COUNT: u64 = 20;

/// The CUBIC controller of Linux. Windows are in segments.
#[derive(Clone, Debug)]
pub struct LinuxCubic {
    reno: Reno,
    exit: ExitDetector,
    /// `cube_rtt_scale`, 410 in Linux: segments per second cubed, times [`UNIT`].
    scale: u64,
    /// `beta` after a loss and after an echo, times [`UNIT`].
    beta: u64,
    beta_ecn: u64,
    /// `delay_min`: minimum round-trip time.
    least_delay: Option<Span>,
    /// `last_max_cwnd`: plateau of the cubic function; 0 before the first loss and after a timeout.
    plateau: u64,
    epoch: Option<Epoch>,
    /// Window and tick at which the growth was last computed (`last_cwnd`, `last_time`).
    computed: (u64, u64),
    /// `cnt`: number of acknowledged segments that open the window by one, and number counted
    /// (`snd_cwnd_cnt`).
    count: u64,
    credit: u64,
    /// Time of the last transmission (`lsndtime`).
    last_sent: Time,
}

/// Epoch of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// `epoch_start`, in ticks.
    start: u64,
    /// `bic_K`: time from the start to the plateau, in seconds times [`UNIT`].
    k: u64,
    /// `bic_origin_point`: plateau.
    origin: u64,
    /// `tcp_cwnd`: window that Reno would have, and segments counted towards its next one (`ack_cnt`).
    reno_window: u64,
    reno_credit: u64,
}

impl LinuxCubic {
    /// A controller with its initial window. `is_paced` tells whether the sender is paced.
    pub fn new(options: &CubicOptions, is_paced: bool) -> LinuxCubic {
        let in_units = |share: f64| (share * UNIT as f64).round() as u64;
        let mut exit = ExitDetector::new(options.slow_start);
        if let ExitDetector::HyStart(hystart) = &mut exit {
            hystart.set_paced(is_paced);
        }
        LinuxCubic {
            reno: Reno::new(options.reno.clone()),
            exit,
            scale: in_units(options.scale).max(1),
            beta: in_units(options.beta),
            beta_ecn: in_units(options.beta_ecn),
            least_delay: None,
            plateau: 0,
            epoch: None,
            computed: (0, 0),
            count: 0,
            credit: 0,
            last_sent: Time::ZERO,
        }
    }

    fn window(&self) -> u64 {
        (self.reno.window / self.reno.segment) as u64
    }

    /// Samples the delay, except in the first second of an epoch (`cubictcp_acked`).
    fn sample_delay(&mut self, acked: &Acked) {
        let is_new =
            self.epoch.is_some_and(|epoch| ticks(acked.now) - epoch.start.min(ticks(acked.now)) < HZ);
        if let Some(rtt) = acked.rtt.filter(|_| !is_new) {
            self.least_delay = Some(self.least_delay.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// Computes the growth of the window after `segments` were acknowledged (`bictcp_update`).
    fn update(&mut self, now: Time, segments: u64) {
        let (window, now) = (self.window(), ticks(now));
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_credit += segments;
        }
        let (last_window, last_time) = self.computed;
        if last_window == window && now - last_time <= TICKS_UNCHANGED {
            return;
        }
        if self.epoch.is_none() || now != last_time {
            self.computed = (window, now);
            let epoch = *self
                .epoch
                .get_or_insert_with(|| Epoch::begin(now, window, self.plateau, self.scale, segments));
            self.count = self.count_to(self.target(&epoch, now), window);
        }
        let delta = (window * reno_scale(self.beta) / 8).max(1);
        if let Some(epoch) = &mut self.epoch {
            self.count = self.count.min(epoch.count_of_reno(window, delta));
        }
        self.count = self.count.max(2);
    }

    /// Cubic function at a round trip from now.
    fn target(&self, epoch: &Epoch, now: u64) -> u64 {
        let delay = self.least_delay.map_or(0, |delay| delay.ns().div_ceil(TICK.ns()));
        let t = ((now - epoch.start.min(now) + delay) << UNIT_BITS) / HZ;
        let offset = u128::from(t.abs_diff(epoch.k));
        let delta = (u128::from(self.scale) * offset * offset * offset) >> (4 * UNIT_BITS);
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        if t < epoch.k { epoch.origin.saturating_sub(delta) } else { epoch.origin.saturating_add(delta) }
    }

    fn count_to(&self, target: u64, window: u64) -> u64 {
        let count = if target > window { window / (target - window) } else { 100 * window };
        if self.plateau == 0 { count.min(UNKNOWN_PLATEAU_COUNT) } else { count }
    }

    /// Opens the window by a segment for each [`LinuxCubic::count`] acknowledged (`tcp_cong_avoid_ai`).
    fn open(&mut self, segments: u64) {
        // The count was larger when the segments were counted.
        let late = u64::from(self.credit >= self.count);
        if late > 0 {
            self.credit = 0;
        }
        self.credit += segments;
        let opened = late + self.credit / self.count;
        self.credit %= self.count;
        let opened = self.reno.window + opened as f64 * self.reno.segment;
        self.reno.window = opened.min(self.reno.options.max_window as f64);
    }

    /// Begins a reduction: sets the plateau, with fast convergence, and the threshold
    /// (`cubictcp_recalc_ssthresh`).
    fn reduce(&mut self, beta: u64) {
        let window = self.window();
        self.epoch = None;
        self.credit = 0;
        let converges = window < self.plateau;
        self.plateau = if converges { window * (UNIT + self.beta) / (2 * UNIT) } else { window };
        self.reno.threshold = (window * beta / UNIT).max(2) as f64 * self.reno.segment;
    }
}

impl Epoch {
    fn begin(now: u64, window: u64, plateau: u64, scale: u64, segments: u64) -> Epoch {
        let k = if plateau > window {
            // `cube_factor`, times the distance.
            (((1u64 << (4 * UNIT_BITS)) / scale).saturating_mul(plateau - window) as f64).cbrt() as u64
        } else {
            0
        };
        Epoch { start: now, k, origin: plateau.max(window), reno_window: window, reno_credit: segments }
    }

    /// Count that opens the window to Reno's, which grows by a segment for more than `delta` acknowledged.
    fn count_of_reno(&mut self, window: u64, delta: u64) -> u64 {
        let opened = self.reno_credit.saturating_sub(1) / delta;
        self.reno_credit -= opened * delta;
        self.reno_window += opened;
        if self.reno_window > window { window / (self.reno_window - window) } else { u64::MAX }
    }
}

fn ticks(time: Time) -> u64 {
    time.ns() / TICK.ns()
}

/// `beta_scale`: eight times the number of windows for which Reno opens its window by a segment.
fn reno_scale(beta: u64) -> u64 {
    8 * (UNIT + beta) / 3 / (UNIT - beta.min(UNIT - 1))
}

impl Controller for LinuxCubic {
    fn allowance(&self) -> Allowance {
        self.reno.allowance()
    }

    fn slow_start_threshold(&self) -> Option<u64> {
        self.reno.slow_start_threshold()
    }

    /// After a time in which nothing was in flight, the epoch continues where it was (`cubictcp_cwnd_event`).
    fn on_sent(&mut self, sent: &SentSegment) {
        if sent.in_flight <= sent.size
            && let Some(epoch) = &mut self.epoch
        {
            let now = ticks(sent.now);
            epoch.start = (epoch.start + now - ticks(self.last_sent)).min(now);
        }
        self.last_sent = sent.now;
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.sample_delay(acked);
        let Some(bytes) = self.exit.open(&mut self.reno, acked) else { return };
        if self.reno.may_open(acked) {
            let segments = (bytes / self.reno.segment).ceil() as u64;
            self.update(acked.now, segments);
            self.open(segments);
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.reno.remember(lost.kind);
        self.exit.on_lost(lost);
        match lost.kind {
            LossKind::DuplicateAcks => {
                self.reduce(self.beta);
                self.reno.window = self.reno.threshold;
            }
            LossKind::Timeout { again } => {
                if !again && lost.in_flight > 0 {
                    self.reduce(self.beta);
                }
                (self.plateau, self.epoch, self.least_delay) = (0, None, None);
                (self.computed, self.count, self.credit) = ((0, 0), 0, 0);
                self.reno.window = self.reno.segment;
            }
        }
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.reno.on_recovered(recovered);
    }

    fn on_undone(&mut self) {
        self.reno.on_undone();
    }

    fn on_idle(&mut self, now: Time) {
        self.reno.on_idle(now);
    }

    fn on_marked(&mut self, _marked: &Marked) {
        self.exit.on_marked();
        self.reduce(self.beta_ecn);
        self.reno.window = self.reno.window.min(self.reno.threshold);
    }
}

#[cfg(test)]
mod tests;
