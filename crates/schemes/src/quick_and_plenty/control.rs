//! The rate that keeps aggregates at a length.
//!
//! A station that is sent to at a rate `x` has an aggregate each `T = C + w N` seconds, where `w` is the
//! airtime of a packet and `C` all that is not its own data: access to the medium, preambles, answers, and
//! the turns of others. What arrives in `T` is the next aggregate, so that `N = x T`, and the time between
//! packets is `z = 1 / x = w + C / N`: **in `1 / N` it is linear**, whatever the rate of the PHY. An integral
//! controller on that inverse of the plant,
//!
//! `z(k+1) = z(k) + g c (1 / N* - 1 / N(k))`,
//!
//! has the loop gain `g c / C` everywhere: it approaches the target `N*` without overshoot as long as that is
//! at most 1, and is stable below 2. `c` is a guess of `C` that may be too small, which only takes time.

/// The constants of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelOptions {
    /// Packets of an aggregate that are aimed at.
    pub(super) target: f64,
    /// Share of the error that is made good in an interval, where an exchange has the overhead that is
    /// guessed.
    pub(super) gain: f64,
    /// Guess of the time of an exchange besides its data, in seconds.
    pub(super) overhead: f64,
    /// Share of lost packets above which no more is sent than arrives.
    pub(super) loss_limit: f64,
    /// Seconds between packets: of the largest rate, at the start, and of the least.
    pub(super) spacing: [f64; 3],
}

/// What a report says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observed {
    /// Packets of an aggregate.
    pub(super) level: f64,
    /// Packets that came, per second.
    pub(super) arrivals: f64,
    /// Their mean delay above the least so far, in seconds.
    pub(super) delay: f64,
    /// Share of packets that did not come.
    pub(super) lost: f64,
    /// Length of the interval, in seconds.
    pub(super) period: f64,
}

/// Below this level packets come nearly one by one, and say nothing of how many would fit.
const ALONE: f64 = 1.25;

/// The controller.
#[derive(Clone, Debug)]
pub(super) struct LevelControl {
    options: LevelOptions,
    spacing: f64,
    /// Nothing was aggregated so far.
    starting: bool,
    /// A queue drains: seconds between packets meanwhile.
    drains: Option<f64>,
}

impl LevelControl {
    pub(super) fn new(options: LevelOptions) -> LevelControl {
        LevelControl { options, spacing: options.spacing[1], starting: true, drains: None }
    }

    /// Seconds between packets.
    pub(super) fn spacing(&self) -> f64 {
        self.drains.unwrap_or(self.spacing)
    }

    /// What came in an interval. `limited`: the application had less to send.
    pub(super) fn on_report(&mut self, seen: &Observed, limited: bool) {
        let LevelOptions { target, gain, overhead, loss_limit, .. } = self.options;
        // Packets that wait, beyond an aggregate of the target.
        let excess = seen.delay * seen.arrivals - target;
        // Did what was sent come, but for two aggregates that may be under way?
        let keeps_up = seen.arrivals + 2.0 * seen.level / seen.period > 1.0 / self.spacing;
        let drained = self.drains.take().is_some();
        if excess > target || seen.lost > loss_limit {
            // There is a queue, of which aggregates say nothing once they are as long as they may be. It is to drain in an interval; and no more
            // can be sent than came.
            self.starting = false;
            self.spacing = self.spacing.max(1.0 / seen.arrivals);
            let rate = seen.arrivals - excess.max(0.0) / seen.period;
            self.drains = Some(1.0 / rate.max(seen.arrivals / 2.0));
        } else if limited || drained {
            return; // the level was not that of the spacing
        } else if self.starting && seen.level < ALONE && keeps_up {
            self.spacing /= 2.0;
        } else {
            self.starting = false;
            let change = gain * overhead * (1.0 / target - 1.0 / seen.level);
            if change > 0.0 || keeps_up {
                self.spacing = (self.spacing + change).max(self.spacing / 2.0);
            }
        }
        self.keep_in_range();
    }

    /// Nothing was reported for some intervals.
    pub(super) fn on_silence(&mut self) {
        self.spacing *= 2.0;
        self.keep_in_range();
    }

    fn keep_in_range(&mut self) {
        let [least, _, most] = self.options.spacing;
        self.spacing = self.spacing.clamp(least, most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> LevelOptions {
        LevelOptions {
            target: 32.0,
            gain: 0.5,
            overhead: 200e-6,
            loss_limit: 0.1,
            spacing: [1e-6, 1.2e-3, 0.12],
        }
    }

    fn seen(level: f64) -> Observed {
        Observed { level, arrivals: 20_000.0, delay: 0.0, lost: 0.0, period: 0.1 }
    }

    /// In microseconds.
    fn spacings(control: &mut LevelControl, reports: &[(Observed, bool)]) -> Vec<f64> {
        let mut after = |(report, limited): &(Observed, bool)| {
            control.on_report(report, *limited);
            (control.spacing() * 1e9).round() / 1e3
        };
        reports.iter().map(&mut after).collect()
    }

    /// While packets come alone the rate doubles: 1200, 600, 300 us. Then by 100 us (1/32 - 1/N): at 4 it is
    /// 21.875 us less, at 32 as before, at 64 it is 1.5625 more. A level of 1 would be 96.875 less, but it
    /// never more than doubles: from 90 to 45 us. After the start, packets that come alone are as any others.
    #[test]
    fn a_time_line_by_hand() {
        let mut control = LevelControl::new(options());
        let reports = [1.0, 1.2, 4.0, 32.0, 64.0, 1.0, 1.0, 1.0].map(|level| (seen(level), false));
        let expected = [600.0, 300.0, 278.125, 278.125, 279.688, 182.813, 91.406, 45.703];
        let found = spacings(&mut control, &reports);
        assert!(
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 2e-3),
            "{found:?}"
        );
    }

    /// An application that has little to send does not raise the rate; and queues, losses and silence lower
    /// it all the same.
    #[test]
    fn what_was_not_used_is_not_raised() {
        let mut control = LevelControl::new(options());
        assert_eq!(spacings(&mut control, &[(seen(1.0), true), (seen(8.0), true)]), [1200.0, 1200.0]);
        control.on_silence();
        assert_eq!(control.spacing(), 2.4e-3);
        (0..20).for_each(|_| control.on_silence());
        assert_eq!(control.spacing(), 0.12, "the floor");
    }

    /// 20,000 packets/s came, delayed by 5 ms: 100 wait, 68 more than an aggregate. Without them, 680/s less
    /// are sent for an interval: 1/19320 s. At 3.2 ms it is exactly twice the target, which is left alone. Of
    /// 25 ms, 468 in 0.1 s are 4680/s. Never less than half.
    #[test]
    fn a_queue_drains_in_an_interval() {
        let at = |delay: f64| {
            let mut control = LevelControl::new(LevelOptions { spacing: [1e-6, 50e-6, 0.12], ..options() });
            control.on_report(&Observed { delay, ..seen(32.0) }, false);
            control.spacing() * 1e6
        };
        for (delay, expected) in
            [(0.0, 50.0), (3.19e-3, 50.0), (5e-3, 1e6 / 19_320.0), (25e-3, 1e6 / 15_320.0), (1.0, 100.0)]
        {
            assert!((at(delay) - expected).abs() < 1e-6, "{delay}: {}", at(delay));
        }
    }

    /// An interval later the rate is as before, whatever the level was meanwhile; but no more than came is
    /// sent: 20,000/s of 40,000/s.
    #[test]
    fn after_a_queue_the_rate_is_as_before_or_what_came() {
        for (spacing, expected) in [(60e-6, 60e-6), (25e-6, 50e-6)] {
            let mut control = LevelControl::new(LevelOptions { spacing: [1e-6, spacing, 0.12], ..options() });
            control.on_report(&Observed { delay: 1.0, ..seen(64.0) }, false);
            assert_eq!(control.spacing(), 100e-6);
            control.on_report(&seen(2.0), false);
            assert!((control.spacing() - expected).abs() < 1e-12, "{spacing}");
            control.on_report(&seen(2.0), false);
            assert!(control.spacing() < expected, "and then the level counts");
        }
    }

    /// 20,000/s came of 25,000/s: 500 packets in an interval are missing. More is not sent, less is.
    #[test]
    fn nothing_is_raised_while_less_comes_than_is_sent() {
        for (level, expected) in [(1.0, 40e-6), (8.0, 40e-6), (64.0, 41.5625e-6), (260.0, 42.740_384_615e-6)]
        {
            let mut control = LevelControl::new(LevelOptions { spacing: [1e-6, 40e-6, 0.12], ..options() });
            control.on_report(&seen(level), false);
            assert!((control.spacing() - expected).abs() < 1e-12, "{level}: {}", control.spacing());
        }
    }

    /// With more than a tenth lost, no more is sent than comes.
    #[test]
    fn losses_show_that_more_is_sent_than_arrives() {
        for (lost, expected) in [(0.1, 25e-6), (0.2, 50e-6)] {
            let mut control = LevelControl::new(LevelOptions { spacing: [1e-6, 25e-6, 0.12], ..options() });
            control.on_report(&Observed { lost, ..seen(32.0) }, true);
            assert!((control.spacing() - expected).abs() < 1e-12, "{lost}");
        }
    }

    /// The plant as a fluid: aggregates of `N = x (C + w N)` packets, at most 64; what is more than these
    /// carry waits. In an interval of 0.1 s.
    struct Plant {
        packet: f64,
        overhead: f64,
        waiting: f64,
    }

    impl Plant {
        fn run(&mut self, rate: f64) -> Observed {
            let most = 64.0 / (self.overhead + 64.0 * self.packet);
            let offered = rate + self.waiting / 0.1;
            let arrivals = offered.min(most);
            let before = std::mem::replace(&mut self.waiting, ((offered - arrivals) * 0.1).max(0.0));
            let level = if offered >= most { 64.0 } else { self.overhead / (1.0 / rate - self.packet) };
            let level = level.clamp(1.0, 64.0);
            let delay = f64::midpoint(before, self.waiting) / most;
            Observed { level, arrivals, delay, lost: 0.0, period: 0.1 }
        }
    }

    fn run(packet: f64, overhead: f64, intervals: usize) -> (Vec<f64>, f64) {
        let mut control = LevelControl::new(options());
        let mut plant = Plant { packet, overhead, waiting: 0.0 };
        let mut level = |_| {
            let seen = plant.run(1.0 / control.spacing());
            control.on_report(&seen, false);
            seen.level
        };
        ((0..intervals).map(&mut level).collect(), plant.waiting)
    }

    /// At rates of the PHY that differ by more than twenty the target is reached within a twentieth in 20
    /// intervals, and at four times the overhead that is guessed in four times as many. Where packets are
    /// slow the last doubling is too much; what waits then is gone again soon.
    #[test]
    fn the_plant_is_brought_to_the_target() {
        for (packet, overhead, intervals, above) in
            [(17e-6, 200e-6, 20, 0), (400e-6, 200e-6, 20, 8), (17e-6, 800e-6, 80, 0)]
        {
            let (levels, waiting) = run(packet, overhead, intervals);
            let last = levels[levels.len() - 1];
            assert!((last / 32.0 - 1.0).abs() < 0.05, "{packet} {overhead}: {levels:?}");
            assert!(levels.iter().filter(|level| **level > 33.0).count() <= above, "{packet}: {levels:?}");
            assert!(waiting < 1e-6, "{waiting}");
        }
    }

    /// At 6 Mb/s a packet takes nearly ten times what surrounds an aggregate, so that all levels have nearly
    /// the same rate: what the start left waiting stays, up to twice the target, above which it would drain.
    #[test]
    fn a_slow_phy_keeps_a_bounded_queue() {
        let (_, waiting) = run(1.9e-3, 200e-6, 200);
        assert!(waiting <= 64.0, "{waiting}");
    }
}
