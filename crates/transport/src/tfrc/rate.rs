//! The allowed sending rate (RFC 5348, sections 4.2 to 4.4), and how ns-2 has it.

use super::options::{NoFeedback, RateChange, SlowStart, TfrcOptions};
use super::receive_rates::ReceiveRates;
use multihop_core::{Span, Time};

/// The rate never falls below a packet in this time (`t_mbi`), in seconds.
const LONGEST_INTERVAL: f64 = 64.0;

/// What a report says, and what follows from it. Rates are in bytes per second, times in seconds where they
/// are no instants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    pub now: Time,
    pub rtt: f64,
    pub packet_size: f64,
    pub loss_event_rate: f64,
    /// The loss event rate rose.
    pub rose: bool,
    pub receive_rate: f64,
    /// The sender had less to send than it was allowed to in the whole interval that the report is of.
    pub data_limited: bool,
    /// It had at some time in the last one and a half round-trip times.
    pub limited_lately: bool,
    /// The rate of the equation, or the cap if that is lower.
    pub target: f64,
    /// The rate cap.
    pub ceiling: f64,
}

/// The nofeedback timer expired.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Silence {
    pub now: Time,
    pub rtt: Option<f64>,
    pub packet_size: f64,
    pub loss_event_rate: f64,
    /// Nothing was sent since it was started.
    pub idle: bool,
    /// There is nothing to send.
    pub data_limited: bool,
}

/// The allowed sending rate `X`.
#[derive(Clone, Debug)]
pub struct RateControl {
    slow_start: SlowStart,
    /// By which a gradual slow start raises the rate in a round-trip time.
    slow_start_factor: f64,
    change: RateChange,
    no_feedback: NoFeedback,
    segment_size: f64,
    /// In bytes per second.
    rate: f64,
    /// What the last report made of the equation.
    target: f64,
    received: ReceiveRates,
    /// When the rate was last doubled, or (ns-2) changed.
    changed: Time,
    /// Nothing was lost yet.
    starting: bool,
    /// Reports, and (ns-2) expiries of the nofeedback timer.
    rounds: u32,
    reports: u32,
    /// ns-2's increase up to `rate`: where it is, and by how much it rises with each packet.
    ramp: (f64, f64),
    climbing: bool,
}

impl RateControl {
    /// No report came yet. `ceiling`: the most that the rate may be.
    pub fn new(options: &TfrcOptions, ceiling: f64) -> RateControl {
        let segment_size = f64::from(options.segment_size);
        let rate = options.initial_rate.unwrap_or(segment_size).min(ceiling);
        let rate = rate.max(RateControl::least(segment_size));
        RateControl {
            slow_start: options.slow_start,
            slow_start_factor: options.slow_start_factor,
            change: options.rate_change,
            no_feedback: options.no_feedback,
            segment_size,
            rate,
            target: f64::INFINITY,
            received: ReceiveRates::new(),
            changed: Time::ZERO,
            starting: true,
            rounds: 0,
            reports: 0,
            ramp: (rate, 0.0),
            climbing: false,
        }
    }

    /// The allowed rate in bytes per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Was nothing lost yet?
    pub fn starting(&self) -> bool {
        self.starting
    }

    /// A packet leaves.
    pub fn on_sent(&mut self) {
        let gradual = self.slow_start == SlowStart::Gradual;
        self.climbing = gradual && self.starting && self.rounds > 2 && self.ramp.0 < self.rate;
        if self.climbing {
            self.ramp.0 += self.ramp.1;
        }
    }

    /// The rate at which the next packet follows the last one; `damping` is what oscillation reduction makes
    /// of it.
    pub fn pace(&self, damping: f64) -> f64 {
        if self.climbing && self.starting {
            return self.ramp.0;
        }
        (self.rate * damping).max(RateControl::least(self.segment_size))
    }

    /// The rate after the first report, of an initial window in a round-trip time (RFC 5348, section 4.2).
    fn initial(&self, rtt: f64) -> f64 {
        let size = self.segment_size;
        (4.0 * size).min((2.0 * size).max(4380.0)) / rtt
    }

    fn least(packet_size: f64) -> f64 {
        packet_size / LONGEST_INTERVAL
    }

    /// A report came.
    pub fn on_report(&mut self, feedback: &Feedback) {
        self.rounds += 1;
        self.reports += 1;
        self.target = feedback.target;
        let first = self.reports == 1;
        let limit = self.receive_limit(feedback, first);
        if self.starting && (first || feedback.loss_event_rate == 0.0) {
            match self.slow_start {
                SlowStart::Doubling => self.double(feedback, first, limit),
                SlowStart::Gradual => self.climb(feedback),
            }
            self.rate = self.rate.min(feedback.ceiling);
        } else {
            let left_slow_start = std::mem::replace(&mut self.starting, false);
            match self.change {
                RateChange::AtOnce => self.rate = feedback.target.min(limit),
                RateChange::Incremental if left_slow_start => self.rate = feedback.target,
                RateChange::Incremental => self.rise_or_fall(feedback),
            }
        }
        self.rate = self.rate.max(RateControl::least(feedback.packet_size));
        self.ramp.0 = self.ramp.0.min(self.rate);
    }

    /// Notes the receive rate. Returns the limit that it sets (`recv_limit`).
    fn receive_limit(&mut self, feedback: &Feedback, first: bool) -> f64 {
        if first {
            self.received.restart(feedback.now);
            return f64::INFINITY;
        }
        if !feedback.data_limited {
            self.received.add(feedback.now, feedback.receive_rate, Span::from_seconds(feedback.rtt));
            return 2.0 * self.received.highest();
        }
        if feedback.rose {
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

    /// ns-2's slow start.
    fn climb(&mut self, feedback: &Feedback) {
        let initial = self.initial(feedback.rtt);
        let least = feedback.packet_size / feedback.rtt;
        let limit = 2.0 * feedback.receive_rate;
        let before = self.rate;
        if self.rounds <= 2 || (limit > 0.0 && feedback.limited_lately && limit < initial) {
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

    /// ns-2 after its slow start.
    fn rise_or_fall(&mut self, feedback: &Feedback) {
        let packet = feedback.packet_size / feedback.rtt;
        let limit = (2.0 * feedback.receive_rate).max(packet);
        if feedback.target > self.rate {
            let rounds = (feedback.now.since(self.changed).seconds() / feedback.rtt).min(2.0);
            let limit = if feedback.limited_lately { limit.max(self.initial(feedback.rtt)) } else { limit };
            self.rate = (self.rate + packet * rounds).min(limit).min(feedback.target);
        } else {
            self.rate = feedback.target.min(limit);
        }
        self.changed = feedback.now;
    }

    /// No report came for a long time.
    pub fn on_silence(&mut self, silence: &Silence) {
        let least = RateControl::least(silence.packet_size);
        self.rounds += 1;
        match self.no_feedback {
            NoFeedback::ReceiveRates => self.halve_receive_rates(silence, least),
            NoFeedback::Halving => self.halve(silence),
        }
        self.rate = self.rate.max(least);
    }

    /// RFC 5348, section 4.4.
    fn halve_receive_rates(&mut self, silence: &Silence, least: f64) {
        let received = self.received.highest();
        let Some(rtt) = silence.rtt else {
            if !silence.idle {
                self.rate *= 0.5;
            }
            return;
        };
        let recover = self.initial(rtt);
        let lossless = silence.loss_event_rate == 0.0;
        let low = if lossless { self.rate < 2.0 * recover } else { received < recover };
        if silence.idle && low {
            return;
        }
        if lossless {
            self.rate *= 0.5;
            return;
        }
        let limit = if self.target > 2.0 * received { received } else { self.target / 2.0 };
        let limit = limit.max(least);
        self.received.replace(silence.now, limit / 2.0);
        self.rate = self.target.min(limit);
    }

    /// ns-2.
    fn halve(&mut self, silence: &Silence) {
        let recover = silence.rtt.map_or(f64::INFINITY, |rtt| self.initial(rtt));
        if !silence.data_limited || self.rate > 2.0 * recover {
            self.rate *= 0.5;
        } else {
            self.rate = self.rate.min(recover);
        }
    }

    /// How long to wait for a report from now on, once there is a round-trip time; before that, without one.
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

    /// Reports while an application limits the sender (RFC 5348, section 4.3): a loss halves the receive
    /// rates and lets the new one count for 0.85, without the factor of 2 that otherwise makes a limit of the
    /// highest.
    #[test]
    fn rfc_5348_4_3_losses_of_a_data_limited_sender_lower_the_limit() {
        let mut control = RateControl::new(&TfrcOptions::rfc(1_000), f64::INFINITY);
        let mut report = |ms: u64, receive_rate: f64, data_limited: bool, rose: bool| {
            control.on_report(&Feedback {
                now: Time::ZERO + Span::from_ms(ms),
                rtt: 0.1,
                packet_size: 1_000.0,
                loss_event_rate: 0.01,
                rose,
                receive_rate,
                data_limited,
                limited_lately: data_limited,
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
            rose: false,
            receive_rate,
            data_limited: false,
            limited_lately: false,
            target: f64::INFINITY,
            ceiling: f64::INFINITY,
        }
    }

    fn silence(rtt: Option<f64>) -> Silence {
        let (now, packet_size, loss_event_rate) = (Time::ZERO + Span::from_ms(9_000), 1_000.0, 0.0);
        Silence { now, rtt, packet_size, loss_event_rate, idle: false, data_limited: false }
    }

    /// RFC 5348, section 4.2: `W_init` = min(4 MSS, max(2 MSS, 4380)), in a round-trip time of 100 ms.
    #[test]
    fn rfc_5348_4_2_the_initial_window() {
        for (size, window) in [(512, 2_048.0), (1_000, 4_000.0), (1_460, 4_380.0), (2_300, 4_600.0)] {
            let control = RateControl::new(&TfrcOptions::rfc(size), f64::INFINITY);
            assert!((control.initial(0.1) - 10.0 * window).abs() < 1e-6, "{size}");
        }
    }

    /// ns-2's first two rounds have no estimate of the receive rate: a nofeedback timer that expires is one
    /// of them. After a report and a silence the third round doubles; after a report alone the second only
    /// goes to the initial rate.
    #[test]
    fn ns2_counts_a_silence_as_a_round() {
        let after = |silent: bool| {
            let mut control = RateControl::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            control.on_report(&feedback(0, 0.0));
            assert_eq!(control.rate(), 40_000.0);
            if silent {
                control.on_silence(&silence(Some(0.1)));
                assert_eq!(control.rate(), 20_000.0);
            }
            control.on_report(&feedback(200, 1e6));
            control.rate()
        };
        assert_eq!((after(false), after(true)), (40_000.0, 40_000.0));
        let mut control = RateControl::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
        control.on_report(&feedback(0, 0.0));
        control.rate = 50_000.0;
        control.on_silence(&Silence { data_limited: true, ..silence(Some(0.1)) });
        assert_eq!(control.rate(), 40_000.0);
        control.on_report(&feedback(200, 1e6));
        assert_eq!(control.rate(), 80_000.0, "the third round");
    }

    /// ns-2 halves, unless it has nothing to send: then only what is above twice the initial rate, 80 kB/s,
    /// and else down to that rate.
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
            let mut control = RateControl::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            control.rate = rate;
            control.on_silence(&Silence { data_limited, ..silence(Some(0.1)) });
            assert_eq!(control.rate(), expected, "{rate} {data_limited}");
        }
    }

    /// RFC 5348, section 4.4: without a round-trip time, or without losses, the rate is halved; not if the
    /// sender was idle at a low one.
    #[test]
    fn rfc_5348_4_4_without_reports() {
        for (rtt, rate, idle, expected) in [
            (None, 1_000.0, false, 500.0),
            (None, 1_000.0, true, 1_000.0),
            (Some(0.1), 60_000.0, false, 30_000.0),
            (Some(0.1), 79_999.0, true, 79_999.0),
            (Some(0.1), 80_000.0, true, 40_000.0),
        ] {
            let mut control = RateControl::new(&TfrcOptions::rfc(1_000), f64::INFINITY);
            control.rate = rate;
            control.on_silence(&Silence { idle, ..silence(rtt) });
            assert_eq!(control.rate(), expected, "{rtt:?} {rate} {idle}");
        }
    }

    /// ns-2's slow start from the third round on: it doubles within twice what arrived, goes down to what
    /// arrived where it is above, and does not fall below the initial rate, 40 kB/s, if the application was
    /// silent and less than that was allowed.
    #[test]
    fn ns2_slow_start() {
        for (rate, receive_rate, limited_lately, expected) in [
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
            let mut control = RateControl::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            (control.rounds, control.reports, control.rate) = (2, 2, rate);
            control.on_report(&Feedback { limited_lately, ..feedback(200, receive_rate) });
            assert_eq!(control.rate(), expected, "{rate} {receive_rate} {limited_lately}");
        }
    }

    /// Four round-trip times (RFC 5348) or two (ns-2), and at least two packets at the present rate.
    #[test]
    fn how_long_to_wait_for_a_report() {
        for (options, times) in [(TfrcOptions::rfc(1_000), 4), (TfrcOptions::ns2(1_000), 2)] {
            let mut control = RateControl::new(&options, f64::INFINITY);
            control.rate = 100_000.0;
            let wait = |control: &RateControl, rtt| control.no_feedback_interval(rtt, 1_000.0);
            assert_eq!(wait(&control, Some(0.1)), Span::from_ms(100 * times));
            assert_eq!(wait(&control, None), Span::from_ms(20));
            control.rate = 1_000.0;
            assert_eq!(wait(&control, Some(0.1)), Span::from_ms(2_000));
        }
    }

    /// RFC 5348, section 4.4, once something was lost: within what was received, or half the rate of the
    /// equation, and half of that next time; an idle sender that received less than the initial rate of 40
    /// kB/s is left alone.
    #[test]
    fn rfc_5348_4_4_without_reports_after_a_loss() {
        for (target, received, idle, rates) in [
            (1e6, 60_000.0, false, [60_000.0, 30_000.0]),
            (100_000.0, 60_000.0, false, [50_000.0, 25_000.0]),
            (1e6, 60_000.0, true, [60_000.0, 60_000.0]),
            (1e6, 30_000.0, false, [30_000.0, 15_000.0]),
        ] {
            let mut control = RateControl::new(&TfrcOptions::rfc(1_000), f64::INFINITY);
            for ms in [0, 1_000] {
                let loss_event_rate = 0.01;
                control.on_report(&Feedback { loss_event_rate, target, ..feedback(ms, received) });
            }
            for rate in rates {
                control.on_silence(&Silence { loss_event_rate: 0.01, idle, ..silence(Some(0.1)) });
                assert_eq!(control.rate(), rate, "{target} {received} {idle}");
            }
        }
    }

    /// ns-2 after its slow start: at the rate of the equation, half of it is what arrived; a silence of the
    /// application is no reason to stay at the initial rate of 40 kB/s, which it is for a rate that rises.
    #[test]
    fn ns2_at_the_rate_of_the_equation() {
        for (target, expected) in [(50_000.0, 30_000.0), (50_001.0, 40_000.0)] {
            let mut control = RateControl::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            (control.reports, control.starting, control.rate) = (2, false, 50_000.0);
            let loss_event_rate = 0.01;
            let report =
                Feedback { loss_event_rate, target, limited_lately: true, ..feedback(200, 15_000.0) };
            control.on_report(&report);
            assert_eq!(control.rate(), expected, "{target}");
        }
    }

    /// A round-trip time between two changes is no more than a round-trip time; what is allowed already is no
    /// change.
    #[test]
    fn ns2_slow_start_changes_after_more_than_a_round_trip() {
        for (ms, rate, expected, changed) in
            [(200, 30_000.0, 30_000.0, 100), (201, 30_000.0, 60_000.0, 201), (300, 80_000.0, 80_000.0, 100)]
        {
            let mut control = RateControl::new(&TfrcOptions::ns2(1_000), f64::INFINITY);
            (control.rounds, control.reports, control.rate) = (2, 2, rate);
            control.changed = Time::ZERO + Span::from_ms(100);
            control.on_report(&feedback(ms, 40_000.0));
            assert_eq!((control.rate(), control.changed), (expected, Time::ZERO + Span::from_ms(changed)));
        }
    }
}
