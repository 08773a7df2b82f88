//! Allowed sending rate (RFC 5348, sections 4.2 to 4.4), and the rules of ns-2.

use super::options::{NoFeedback, RateChange, SlowStart, TfrcOptions};
use super::receive_rates::ReceiveRates;
use multihop_core::{Span, Time};

/// Longest interval between packets (`t_mbi`), in seconds, which gives the minimum rate.
const MAX_INTERVAL: f64 = 64.0;

/// A report, with quantities derived from it. Rates are in bytes per second, and times in seconds unless they
/// are instants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    pub now: Time,
    pub rtt: f64,
    pub packet_size: f64,
    pub loss_event_rate: f64,
    /// Whether the loss event rate rose.
    pub loss_rate_rose: bool,
    pub receive_rate: f64,
    /// Whether the sender was data-limited in the whole interval of the report.
    pub data_limited: bool,
    /// Whether the sender was data-limited at some time in the last one and a half round-trip times.
    pub recently_data_limited: bool,
    /// Rate of the equation, limited by the cap.
    pub target: f64,
    /// Rate cap.
    pub ceiling: f64,
}

/// Expiry of the nofeedback timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoFeedbackExpiry {
    pub now: Time,
    pub rtt: Option<f64>,
    pub packet_size: f64,
    pub loss_event_rate: f64,
    /// Whether nothing was sent since the timer was started.
    pub idle: bool,
    /// Whether there is nothing to send.
    pub data_limited: bool,
}

/// Allowed sending rate `X`.
#[derive(Clone, Debug)]
pub struct AllowedRate {
    slow_start: SlowStart,
    /// Factor by which a gradual slow start raises the rate per round-trip time.
    slow_start_factor: f64,
    change: RateChange,
    no_feedback: NoFeedback,
    segment_size: f64,
    /// Allowed rate in bytes per second.
    rate: f64,
    /// Target rate of the last report.
    target: f64,
    received: ReceiveRates,
    /// Time at which the rate was last doubled, or (ns-2) changed.
    changed: Time,
    /// Whether the sender is in slow start, which ends with the first report of a loss after the very first
    /// report.
    in_slow_start: bool,
    /// Number of reports and (ns-2) expiries of the nofeedback timer.
    rounds: u32,
    reports: u32,
    /// ns-2's increase up to `rate`: present value, and increase per packet.
    ramp: (f64, f64),
    climbing: bool,
}

impl AllowedRate {
    /// Rate before the first report, limited by `ceiling`.
    pub fn new(options: &TfrcOptions, ceiling: f64) -> AllowedRate {
        let segment_size = f64::from(options.segment_size);
        let rate = options.initial_rate.unwrap_or(segment_size).min(ceiling);
        let rate = rate.max(AllowedRate::least(segment_size));
        AllowedRate {
            slow_start: options.slow_start,
            slow_start_factor: options.slow_start_factor,
            change: options.rate_change,
            no_feedback: options.no_feedback,
            segment_size,
            rate,
            target: f64::INFINITY,
            received: ReceiveRates::new(),
            changed: Time::ZERO,
            in_slow_start: true,
            rounds: 0,
            reports: 0,
            ramp: (rate, 0.0),
            climbing: false,
        }
    }

    /// Allowed rate in bytes per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Whether nothing was lost yet.
    pub fn in_slow_start(&self) -> bool {
        self.in_slow_start
    }

    /// Records that a packet is sent.
    pub fn on_sent(&mut self) {
        let gradual = self.slow_start == SlowStart::Gradual;
        self.climbing = gradual && self.in_slow_start && self.rounds > 2 && self.ramp.0 < self.rate;
        if self.climbing {
            self.ramp.0 += self.ramp.1;
        }
    }

    /// Rate at which the next packet follows the last one, with the factor `damping` of oscillation
    /// reduction.
    pub fn pace(&self, damping: f64) -> f64 {
        if self.climbing && self.in_slow_start {
            return self.ramp.0;
        }
        (self.rate * damping).max(AllowedRate::least(self.segment_size))
    }

    /// Rate after the first report: an initial window per round-trip time (RFC 5348, section 4.2).
    fn initial(&self, rtt: f64) -> f64 {
        let size = self.segment_size;
        (4.0 * size).min((2.0 * size).max(4380.0)) / rtt
    }

    fn least(packet_size: f64) -> f64 {
        packet_size / MAX_INTERVAL
    }

    /// Processes a report.
    pub fn on_report(&mut self, feedback: &Feedback) {
        self.rounds += 1;
        self.reports += 1;
        self.target = feedback.target;
        let first = self.reports == 1;
        let limit = self.receive_limit(feedback, first);
        if self.in_slow_start && (first || feedback.loss_event_rate == 0.0) {
            match self.slow_start {
                SlowStart::Doubling => self.double(feedback, first, limit),
                SlowStart::Gradual => self.gradual_slow_start(feedback),
            }
            self.rate = self.rate.min(feedback.ceiling);
        } else {
            let left_slow_start = std::mem::replace(&mut self.in_slow_start, false);
            match self.change {
                RateChange::AtOnce => self.rate = feedback.target.min(limit),
                RateChange::Incremental if left_slow_start => self.rate = feedback.target,
                RateChange::Incremental => self.adjust_incrementally(feedback),
            }
        }
        self.rate = self.rate.max(AllowedRate::least(feedback.packet_size));
        self.ramp.0 = self.ramp.0.min(self.rate);
    }

    /// Records the receive rate. Returns the limit that it sets (`recv_limit`).
    fn receive_limit(&mut self, feedback: &Feedback, first: bool) -> f64 {
        if first {
            self.received.restart(feedback.now);
            return f64::INFINITY;
        }
        if !feedback.data_limited {
            self.received.add(feedback.now, feedback.receive_rate, Span::from_seconds(feedback.rtt));
            return 2.0 * self.received.highest();
        }
        if feedback.loss_rate_rose {
            self.received.halve();
            self.received.maximise(feedback.now, 0.85 * feedback.receive_rate);
            return self.received.highest();
        }
        self.received.maximise(feedback.now, feedback.receive_rate);
        2.0 * self.received.highest()
    }

    fn double(&mut self, feedback: &Feedback, first: bool, limit: f64) {
        let initial = self.initial(feedback.rtt);
        if first {
            self.rate = initial;
        } else if feedback.now.since(self.changed) >= Span::from_seconds(feedback.rtt) {
            self.rate = (2.0 * self.rate).min(limit).max(initial);
        } else {
            return;
        }
        self.changed = feedback.now;
    }

    /// Slow start of ns-2.
    fn gradual_slow_start(&mut self, feedback: &Feedback) {
        let initial = self.initial(feedback.rtt);
        let least = feedback.packet_size / feedback.rtt;
        let limit = 2.0 * feedback.receive_rate;
        let before = self.rate;
        if self.rounds <= 2 || (limit > 0.0 && feedback.recently_data_limited && limit < initial) {
            self.rate = self.rate.max(initial);
        } else if limit <= 0.0 {
            self.rate = least;
        } else if self.rate > limit {
            self.rate = limit / 2.0;
            self.ramp = (self.rate, 0.0);
            self.changed = feedback.now;
            return;
        } else if self.rate < limit && feedback.now.since(self.changed) > Span::from_seconds(feedback.rtt) {
            self.rate = (self.slow_start_factor * self.rate).min(limit).max(least);
        } else {
            return;
        }
        let packets = self.rate * feedback.rtt / feedback.packet_size;
        self.ramp = (before, (self.rate - before).max(0.0) / packets);
        self.changed = feedback.now;
    }

    /// Adjustment of ns-2 after its slow start.
    fn adjust_incrementally(&mut self, feedback: &Feedback) {
        let packet = feedback.packet_size / feedback.rtt;
        let limit = (2.0 * feedback.receive_rate).max(packet);
        if feedback.target > self.rate {
            let rounds = (feedback.now.since(self.changed).seconds() / feedback.rtt).min(2.0);
            let limit =
                if feedback.recently_data_limited { limit.max(self.initial(feedback.rtt)) } else { limit };
            self.rate = (self.rate + packet * rounds).min(limit).min(feedback.target);
        } else {
            self.rate = feedback.target.min(limit);
        }
        self.changed = feedback.now;
    }

    /// Processes the expiry of the nofeedback timer.
    pub fn on_no_feedback(&mut self, expiry: &NoFeedbackExpiry) {
        let least = AllowedRate::least(expiry.packet_size);
        self.rounds += 1;
        match self.no_feedback {
            NoFeedback::ReceiveRates => self.halve_receive_rates(expiry, least),
            NoFeedback::Halving => self.halve(expiry),
        }
        self.rate = self.rate.max(least);
    }

    /// Reaction of RFC 5348, section 4.4.
    fn halve_receive_rates(&mut self, expiry: &NoFeedbackExpiry, least: f64) {
        let received = self.received.highest();
        let Some(rtt) = expiry.rtt else {
            if !expiry.idle {
                self.rate *= 0.5;
            }
            return;
        };
        let recover = self.initial(rtt);
        let lossless = expiry.loss_event_rate == 0.0;
        let low = if lossless { self.rate < 2.0 * recover } else { received < recover };
        if expiry.idle && low {
            return;
        }
        if lossless {
            self.rate *= 0.5;
            return;
        }
        let limit = if self.target > 2.0 * received { received } else { self.target / 2.0 };
        let limit = limit.max(least);
        self.received.replace(expiry.now, limit / 2.0);
        self.rate = self.target.min(limit);
    }

    /// Reaction of ns-2.
    fn halve(&mut self, expiry: &NoFeedbackExpiry) {
        let recover = expiry.rtt.map_or(f64::INFINITY, |rtt| self.initial(rtt));
        if !expiry.data_limited || self.rate > 2.0 * recover {
            self.rate *= 0.5;
        } else {
            self.rate = self.rate.min(recover);
        }
    }

    /// Duration of the nofeedback timer, with the round-trip time if it is known.
    pub fn no_feedback_interval(&self, rtt: Option<f64>, packet_size: f64) -> Span {
        let round_trips = match self.no_feedback {
            NoFeedback::ReceiveRates => 4.0,
            NoFeedback::Halving => 2.0,
        };
        Span::from_seconds((2.0 * packet_size / self.rate).max(round_trips * rtt.unwrap_or(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports of a data-limited sender (RFC 5348, section 4.3): a loss halves the receive rates, and the new
    /// receive rate counts with 0.85, without the factor of 2 that otherwise applies to the highest rate.
    #[test]
    fn rfc_5348_4_3_losses_of_a_data_limited_sender_lower_the_limit() {
        let mut control = AllowedRate::new(&TfrcOptions::rfc(1_000), f64::INFINITY);
        let mut report = |ms: u64, receive_rate: f64, data_limited: bool, loss_rate_rose: bool| {
            control.on_report(&Feedback {
                now: Time::ZERO + Span::from_ms(ms),
                rtt: 0.1,
                packet_size: 1_000.0,
                loss_event_rate: 0.01,
                loss_rate_rose,
                receive_rate,
                data_limited,
                recently_data_limited: data_limited,
                target: 1e6,
                ceiling: f64::INFINITY,
            });
            control.rate()
        };
        report(0, 60_000.0, false, false);
        assert_eq!(report(1_000, 60_000.0, false, false), 120_000.0, "twice what arrived");
        assert_eq!(
            report(1_100, 60_000.0, true, true),
            51_000.0,
            "the higher one of 60,000 / 2 and 0.85 x 60,000"
        );
        assert_eq!(
            report(1_200, 20_000.0, true, true),
            25_500.0,
            "the higher one of 51,000 / 2 and 0.85 x 20,000"
        );
        assert_eq!(report(1_300, 40_000.0, true, false), 80_000.0, "without a loss twice the highest");
    }

    fn feedback(ms: u64, receive_rate: f64) -> Feedback {
        Feedback {
            now: Time::ZERO + Span::from_ms(ms),
            rtt: 0.1,
            packet_size: 1_000.0,
            loss_event_rate: 0.0,
            loss_rate_rose: false,
            receive_rate,
            data_limited: false,
            recently_data_limited: false,
            target: f64::INFINITY,
            ceiling: f64::INFINITY,
        }
    }

    fn expiry(rtt: Option<f64>) -> NoFeedbackExpiry {
        let (now, packet_size, loss_event_rate) = (Time::ZERO + Span::from_ms(9_000), 1_000.0, 0.0);
        NoFeedbackExpiry { now, rtt, packet_size, loss_event_rate, idle: false, data_limited: false }
    }

    /// RFC 5348, section 4.2: `W_init` = min(4 MSS, max(2 MSS, 4380)), per round-trip time of 100 ms.
    #[test]
    fn rfc_5348_4_2_the_initial_window() {
        for (size, window) in [(512, 2_048.0), (1_000, 4_000.0), (1_460, 4_380.0), (2_300, 4_600.0)] {
            let control = AllowedRate::new(&TfrcOptions::rfc(size), f64::INFINITY);
            assert!((control.initial(0.1) - 10.0 * window).abs() < 1e-6, "{size}");
        }
    }

    /// In ns-2's first two rounds there is no estimate of the receive rate; an expiry of the nofeedback timer
    /// counts as a round. After a report and an expiry the third round doubles the rate; after a single
    /// report the second round only sets the initial rate.
    #[test]
    fn ns2_counts_a_silence_as_a_round() {
        let after = |silent: bool| {
            let mut control = AllowedRate::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            control.on_report(&feedback(0, 0.0));
            assert_eq!(control.rate(), 40_000.0);
            if silent {
                control.on_no_feedback(&expiry(Some(0.1)));
                assert_eq!(control.rate(), 20_000.0);
            }
            control.on_report(&feedback(200, 1e6));
            control.rate()
        };
        assert_eq!((after(false), after(true)), (40_000.0, 40_000.0));
        let mut control = AllowedRate::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
        control.on_report(&feedback(0, 0.0));
        control.rate = 50_000.0;
        control.on_no_feedback(&NoFeedbackExpiry { data_limited: true, ..expiry(Some(0.1)) });
        assert_eq!(control.rate(), 40_000.0);
        control.on_report(&feedback(200, 1e6));
        assert_eq!(control.rate(), 80_000.0, "the third round");
    }

    /// ns-2 halves the rate. Without data to send it only halves rates above twice the initial rate, 80 kB/s,
    /// and otherwise limits the rate to the initial rate.
    #[test]
    fn ns2_without_reports() {
        for (rate, data_limited, expected) in [
            (60_000.0, false, 30_000.0),
            (60_000.0, true, 40_000.0),
            (80_000.0, true, 40_000.0),
            (90_000.0, true, 45_000.0),
            (30_000.0, true, 30_000.0),
            (15.625, false, 15.625), // a packet in 64 s
        ] {
            let mut control = AllowedRate::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            control.rate = rate;
            control.on_no_feedback(&NoFeedbackExpiry { data_limited, ..expiry(Some(0.1)) });
            assert_eq!(control.rate(), expected, "{rate} {data_limited}");
        }
    }

    /// RFC 5348, section 4.4: without a round-trip time, or without losses, the rate is halved, unless the
    /// sender was idle at a low rate.
    #[test]
    fn rfc_5348_4_4_without_reports() {
        for (rtt, rate, idle, expected) in [
            (None, 1_000.0, false, 500.0),
            (None, 1_000.0, true, 1_000.0),
            (Some(0.1), 60_000.0, false, 30_000.0),
            (Some(0.1), 79_999.0, true, 79_999.0),
            (Some(0.1), 80_000.0, true, 40_000.0),
        ] {
            let mut control = AllowedRate::new(&TfrcOptions::rfc(1_000), f64::INFINITY);
            control.rate = rate;
            control.on_no_feedback(&NoFeedbackExpiry { idle, ..expiry(rtt) });
            assert_eq!(control.rate(), expected, "{rtt:?} {rate} {idle}");
        }
    }

    /// ns-2's slow start from the third round on. The rate doubles up to twice the receive rate, and falls to
    /// the receive rate if it is above. It stays at the initial rate, 40 kB/s, if the application was idle
    /// and the limit is lower.
    #[test]
    fn ns2_slow_start() {
        for (rate, receive_rate, recently_data_limited, expected) in [
            (30_000.0, 40_000.0, false, 60_000.0),
            (50_000.0, 40_000.0, false, 80_000.0),
            (80_000.0, 40_000.0, false, 80_000.0),
            (90_000.0, 40_000.0, false, 40_000.0),
            (90_000.0, 0.0, false, 10_000.0),
            (90_000.0, 0.0, true, 10_000.0),
            (30_000.0, 10_000.0, true, 40_000.0),
            (50_000.0, 20_000.0, true, 20_000.0), // exactly the initial rate is allowed
            (50_000.0, 19_000.0, true, 50_000.0),
        ] {
            let mut control = AllowedRate::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            (control.rounds, control.reports, control.rate) = (2, 2, rate);
            control.on_report(&Feedback { recently_data_limited, ..feedback(200, receive_rate) });
            assert_eq!(control.rate(), expected, "{rate} {receive_rate} {recently_data_limited}");
        }
    }

    /// Four round-trip times (RFC 5348) or two (ns-2), and at least two packets at the present rate.
    #[test]
    fn how_long_to_wait_for_a_report() {
        for (options, times) in [(TfrcOptions::rfc(1_000), 4), (TfrcOptions::ns2(1_000), 2)] {
            let mut control = AllowedRate::new(&options, f64::INFINITY);
            control.rate = 100_000.0;
            let wait = |control: &AllowedRate, rtt| control.no_feedback_interval(rtt, 1_000.0);
            assert_eq!(wait(&control, Some(0.1)), Span::from_ms(100 * times));
            assert_eq!(wait(&control, None), Span::from_ms(20));
            control.rate = 1_000.0;
            assert_eq!(wait(&control, Some(0.1)), Span::from_ms(2_000));
        }
    }

    /// RFC 5348, section 4.4, after a loss: the rate is limited to the receive rate, or to half the rate of
    /// the equation, and to half of that at the next expiry. An idle sender with a receive rate below the
    /// initial rate of 40 kB/s keeps its rate.
    #[test]
    fn rfc_5348_4_4_without_reports_after_a_loss() {
        for (target, received, idle, rates) in [
            (1e6, 60_000.0, false, [60_000.0, 30_000.0]),
            (100_000.0, 60_000.0, false, [50_000.0, 25_000.0]),
            (1e6, 60_000.0, true, [60_000.0, 60_000.0]),
            (1e6, 30_000.0, false, [30_000.0, 15_000.0]),
        ] {
            let mut control = AllowedRate::new(&TfrcOptions::rfc(1_000), f64::INFINITY);
            for ms in [0, 1_000] {
                let loss_event_rate = 0.01;
                control.on_report(&Feedback { loss_event_rate, target, ..feedback(ms, received) });
            }
            for rate in rates {
                control.on_no_feedback(&NoFeedbackExpiry {
                    loss_event_rate: 0.01,
                    idle,
                    ..expiry(Some(0.1))
                });
                assert_eq!(control.rate(), rate, "{target} {received} {idle}");
            }
        }
    }

    /// ns-2 after its slow start: at the rate of the equation, twice the receive rate is the limit. A
    /// data-limited phase does not keep the initial rate of 40 kB/s, but does so for a rising rate.
    #[test]
    fn ns2_at_the_rate_of_the_equation() {
        for (target, expected) in [(50_000.0, 30_000.0), (50_001.0, 40_000.0)] {
            let mut control = AllowedRate::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            (control.reports, control.in_slow_start, control.rate) = (2, false, 50_000.0);
            let loss_event_rate = 0.01;
            let report =
                Feedback { loss_event_rate, target, recently_data_limited: true, ..feedback(200, 15_000.0) };
            control.on_report(&report);
            assert_eq!(control.rate(), expected, "{target}");
        }
    }

    /// Changes are more than a round-trip time apart; a rate within the limit is not changed.
    #[test]
    fn ns2_slow_start_changes_after_more_than_a_round_trip() {
        for (ms, rate, expected, changed) in
            [(200, 30_000.0, 30_000.0, 100), (201, 30_000.0, 60_000.0, 201), (300, 80_000.0, 80_000.0, 100)]
        {
            let mut control = AllowedRate::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            (control.rounds, control.reports, control.rate) = (2, 2, rate);
            control.changed = Time::ZERO + Span::from_ms(100);
            control.on_report(&feedback(ms, 40_000.0));
            assert_eq!((control.rate(), control.changed), (expected, Time::ZERO + Span::from_ms(changed)));
        }
    }
}
