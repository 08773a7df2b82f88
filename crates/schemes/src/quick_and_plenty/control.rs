//! Controller of the rate that keeps aggregates at a target length.
//!
//! A station that receives at a rate `x` gets an aggregate every `T = C + w N` seconds. `w` is the airtime of
//! a packet. `C` is all other time: access to the medium, preambles, responses and turns of other stations.
//! The packets that arrive in `T` form the next aggregate, so that `N = x T`. The time between packets is
//! then `z = 1 / x = w + C / N`, which is **linear in `1 / N`** at any PHY rate. The integral controller on
//! that inverse of the plant,
//!
//! `z(k+1) = z(k) + g c (1 / N* - 1 / N(k))`,
//!
//! has the loop gain `g c / C` everywhere. It approaches the target `N*` without overshoot for a gain up to 1
//! and is stable below 2. `c` is an estimate of `C`; a smaller estimate only slows the controller.

/// Constants of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelOptions {
    /// Target number of packets in an aggregate.
    pub(super) target: f64,
    /// Share of the error that the controller corrects per interval if the estimated overhead is right.
    pub(super) gain: f64,
    /// Estimated time of an exchange besides its data, in seconds.
    pub(super) overhead: f64,
    /// Share of lost packets above which the sender sends no more than arrives.
    pub(super) loss_limit: f64,
    /// Time between packets in seconds: minimum, initial and maximum.
    pub(super) spacing: [f64; 3],
}

/// Measurements in a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReportedInterval {
    /// Mean number of packets in an aggregate.
    pub(super) level: f64,
    /// Packets received per second.
    pub(super) arrivals: f64,
    /// Mean delay of the packets above the least so far, in seconds.
    pub(super) delay: f64,
    /// Share of packets lost.
    pub(super) lost: f64,
    /// Length of the interval, in seconds.
    pub(super) period: f64,
}

/// Level below which nearly every packet has an aggregate of its own, so that the level is no measure of the
/// load.
const MIN_AGGREGATED_LEVEL: f64 = 1.25;

/// Controller of the aggregation level.
#[derive(Clone, Debug)]
pub(super) struct LevelControl {
    options: LevelOptions,
    spacing: f64,
    /// Whether no packets were aggregated so far.
    is_starting: bool,
    /// Time between packets while a queue drains, in seconds; none otherwise.
    drain_spacing: Option<f64>,
}

impl LevelControl {
    /// Creates a controller at the initial spacing.
    pub(super) fn new(options: LevelOptions) -> LevelControl {
        LevelControl { options, spacing: options.spacing[1], is_starting: true, drain_spacing: None }
    }

    /// Returns the time between packets in seconds.
    pub(super) fn spacing(&self) -> f64 {
        self.drain_spacing.unwrap_or(self.spacing)
    }

    /// Updates the rate with the report of an interval. `app_limited` means that the application had less to
    /// send.
    pub(super) fn on_report(&mut self, report: &ReportedInterval, app_limited: bool) {
        let LevelOptions { target, gain, overhead, loss_limit, .. } = self.options;
        // Queued packets beyond a target aggregate.
        let excess = report.delay * report.arrivals - target;
        // Whether the sent packets arrived, apart from two aggregates that may be in flight.
        let keeps_up = report.arrivals + 2.0 * report.level / report.period > 1.0 / self.spacing;
        let drained = self.drain_spacing.take().is_some();
        if excess > target || report.lost > loss_limit {
            // There is a queue, which aggregates of the maximum length do not reveal. It is to drain in one
            // interval, and the rate is limited to the arrivals.
            self.is_starting = false;
            self.spacing = self.spacing.max(1.0 / report.arrivals);
            let rate = report.arrivals - excess.max(0.0) / report.period;
            self.drain_spacing = Some(1.0 / rate.max(report.arrivals / 2.0));
        } else if app_limited || drained {
            return; // the level does not belong to the spacing
        } else if self.is_starting && report.level < MIN_AGGREGATED_LEVEL && keeps_up {
            self.spacing /= 2.0;
        } else {
            self.is_starting = false;
            let change = gain * overhead * (1.0 / target - 1.0 / report.level);
            if change > 0.0 || keeps_up {
                self.spacing = (self.spacing + change).max(self.spacing / 2.0);
            }
        }
        self.keep_in_range();
    }

    /// Halves the rate after several intervals without a report.
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

    fn reported(level: f64) -> ReportedInterval {
        ReportedInterval { level, arrivals: 20_000.0, delay: 0.0, lost: 0.0, period: 0.1 }
    }

    /// Returns the spacing after each report, in microseconds.
    fn spacings(control: &mut LevelControl, reports: &[(ReportedInterval, bool)]) -> Vec<f64> {
        let mut after = |(report, app_limited): &(ReportedInterval, bool)| {
            control.on_report(report, *app_limited);
            (control.spacing() * 1e9).round() / 1e3
        };
        reports.iter().map(&mut after).collect()
    }

    /// While packets arrive alone the rate doubles: 1200, 600, 300 us. Then the spacing changes by 100 us
    /// (1/32 - 1/N): 21.875 us less at 4, no change at 32, 1.5625 us more at 64. At level 1 the change would
    /// be 96.875 us less, but the rate at most doubles: from 90 to 45 us. After the start, a level of 1 is
    /// treated like any other.
    #[test]
    fn spacings_by_hand() {
        let mut control = LevelControl::new(options());
        let reports = [1.0, 1.2, 4.0, 32.0, 64.0, 1.0, 1.0, 1.0].map(|level| (reported(level), false));
        let expected = [600.0, 300.0, 278.125, 278.125, 279.688, 182.813, 91.406, 45.703];
        let found = spacings(&mut control, &reports);
        assert!(
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 2e-3),
            "{found:?}"
        );
    }

    /// An application with little to send does not raise the rate, but silence lowers it.
    #[test]
    fn an_unused_rate_is_not_raised() {
        let mut control = LevelControl::new(options());
        assert_eq!(spacings(&mut control, &[(reported(1.0), true), (reported(8.0), true)]), [1200.0, 1200.0]);
        control.on_silence();
        assert_eq!(control.spacing(), 2.4e-3);
        (0..20).for_each(|_| control.on_silence());
        assert_eq!(control.spacing(), 0.12, "the minimum rate");
    }

    /// 20,000 packets/s arrive with 5 ms of delay: 100 are queued, 68 more than an aggregate. To drain them,
    /// 680/s less are sent for an interval: 1/19320 s. At 3.2 ms the queue is exactly twice the target, which
    /// is tolerated. At 25 ms, 468 packets in 0.1 s are 4680/s. The rate falls to half at most.
    #[test]
    fn a_queue_drains_in_an_interval() {
        let at = |delay: f64| {
            let mut control = LevelControl::new(LevelOptions { spacing: [1e-6, 50e-6, 0.12], ..options() });
            control.on_report(&ReportedInterval { delay, ..reported(32.0) }, false);
            control.spacing() * 1e6
        };
        for (delay, expected) in
            [(0.0, 50.0), (3.19e-3, 50.0), (5e-3, 1e6 / 19_320.0), (25e-3, 1e6 / 15_320.0), (1.0, 100.0)]
        {
            assert!((at(delay) - expected).abs() < 1e-6, "{delay}: {}", at(delay));
        }
    }

    /// One interval later the rate is as before, whatever the level was meanwhile, but at most the arrivals:
    /// 20,000/s of 40,000/s.
    #[test]
    fn after_a_queue_the_rate_is_as_before_or_the_arrivals() {
        for (spacing, expected) in [(60e-6, 60e-6), (25e-6, 50e-6)] {
            let mut control = LevelControl::new(LevelOptions { spacing: [1e-6, spacing, 0.12], ..options() });
            control.on_report(&ReportedInterval { delay: 1.0, ..reported(64.0) }, false);
            assert_eq!(control.spacing(), 100e-6);
            control.on_report(&reported(2.0), false);
            assert!((control.spacing() - expected).abs() < 1e-12, "{spacing}");
            control.on_report(&reported(2.0), false);
            assert!(control.spacing() < expected, "the level counts again");
        }
    }

    /// 20,000/s of 25,000/s arrive, so 500 packets of an interval are missing. The rate does not rise, but
    /// may fall.
    #[test]
    fn the_rate_does_not_rise_while_packets_are_missing() {
        for (level, expected) in [(1.0, 40e-6), (8.0, 40e-6), (64.0, 41.5625e-6), (260.0, 42.740_384_615e-6)]
        {
            let mut control = LevelControl::new(LevelOptions { spacing: [1e-6, 40e-6, 0.12], ..options() });
            control.on_report(&reported(level), false);
            assert!((control.spacing() - expected).abs() < 1e-12, "{level}: {}", control.spacing());
        }
    }

    /// With more than a tenth lost, the sender sends no more than arrives.
    #[test]
    fn losses_show_that_more_is_sent_than_arrives() {
        for (lost, expected) in [(0.1, 25e-6), (0.2, 50e-6)] {
            let mut control = LevelControl::new(LevelOptions { spacing: [1e-6, 25e-6, 0.12], ..options() });
            control.on_report(&ReportedInterval { lost, ..reported(32.0) }, true);
            assert!((control.spacing() - expected).abs() < 1e-12, "{lost}");
        }
    }

    /// Fluid model of the plant: aggregates of `N = x (C + w N)` packets, at most 64. Packets beyond that
    /// wait. An interval is 0.1 s.
    struct Plant {
        packet: f64,
        overhead: f64,
        waiting: f64,
    }

    impl Plant {
        fn run(&mut self, rate: f64) -> ReportedInterval {
            let most = 64.0 / (self.overhead + 64.0 * self.packet);
            let offered = rate + self.waiting / 0.1;
            let arrivals = offered.min(most);
            let before = std::mem::replace(&mut self.waiting, ((offered - arrivals) * 0.1).max(0.0));
            let level = if offered >= most { 64.0 } else { self.overhead / (1.0 / rate - self.packet) };
            let level = level.clamp(1.0, 64.0);
            let delay = f64::midpoint(before, self.waiting) / most;
            ReportedInterval { level, arrivals, delay, lost: 0.0, period: 0.1 }
        }
    }

    fn run(packet: f64, overhead: f64, intervals: usize) -> (Vec<f64>, f64) {
        let mut control = LevelControl::new(options());
        let mut plant = Plant { packet, overhead, waiting: 0.0 };
        let mut level = |_| {
            let report = plant.run(1.0 / control.spacing());
            control.on_report(&report, false);
            report.level
        };
        ((0..intervals).map(&mut level).collect(), plant.waiting)
    }

    /// At PHY rates that differ by a factor of more than 20, the level reaches the target to 5 % in 20
    /// intervals. At four times the estimated overhead it takes four times as many. With a slow PHY the last
    /// doubling is too much, and the queue that it causes drains soon.
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

    /// At 6 Mb/s a packet takes nearly ten times as long as the overhead of an aggregate, so that all levels
    /// have nearly the same rate. The queue of the start remains, up to twice the target, above which it
    /// would drain.
    #[test]
    fn a_slow_phy_keeps_a_bounded_queue() {
        let (_, waiting) = run(1.9e-3, 200e-6, 200);
        assert!(waiting <= 64.0, "{waiting}");
    }
}
