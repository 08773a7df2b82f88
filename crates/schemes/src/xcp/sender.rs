//! The sender of XCP: a window that routers open and close.

use super::header::XcpHeader;
use crate::round_trip::smoothed;
use multihop_core::{HeaderBytes, Span, Time};
use multihop_transport::{Acked, Allowance, Controller, LossKind, Lost, Recovered, Returned};

/// Options of [`XcpSender`]. Windows are in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct XcpSenderOptions {
    pub segment_size: u32,
    pub initial_window: u64,
    pub max_window: u64,
    /// What the application wants, in bytes per second; none for all there is.
    pub desired: Option<f64>,
}

/// The controller. Acknowledgements change the window by what routers granted, and nothing else opens it.
pub(crate) struct XcpSender {
    options: XcpSenderOptions,
    window: f64,
    /// Smoothed round-trip time in seconds, with a weight of 1/8 for new samples. TCP's has ticks of 10 ms in
    /// ns-2.
    srtt: Option<f64>,
}

impl XcpSender {
    pub(crate) fn new(options: XcpSenderOptions) -> XcpSender {
        XcpSender { window: options.initial_window as f64, srtt: None, options }
    }

    fn segment(&self) -> f64 {
        f64::from(self.options.segment_size)
    }

    /// The part of the window that can be used: whole segments. What the header says is counted from it, as
    /// their feedback makes flows equal in what they say; a flow with a window of 1.9 segments sends one in
    /// each round trip, and not 1.9.
    fn used(&self) -> f64 {
        (self.window / self.segment()).floor() * self.segment()
    }

    /// The change of throughput to ask for in each packet, in bytes per second: what is missing, over the
    /// packets of a window.
    fn request(&self, srtt: f64) -> i32 {
        if self.window >= self.options.max_window as f64 {
            return 0;
        }
        self.options.desired.map_or(XcpHeader::UNLIMITED, |desired| {
            ((desired - self.used() / srtt) * self.segment() / self.used()) as i32
        })
    }

    fn sample(&mut self, rtt: Span) {
        self.srtt = Some(smoothed(self.srtt, rtt));
    }
}

/// Microseconds of a header, at least one: 0 is unknown.
pub(crate) fn microseconds(seconds: f64) -> u32 {
    ((seconds * 1e6).round() as u32).max(1)
}

impl Controller for XcpSender {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window as u64, pace: None }
    }

    fn stamp(&mut self, size: u64) -> HeaderBytes {
        let header = match self.srtt {
            Some(srtt) if size > 0 => XcpHeader {
                rtt: microseconds(srtt),
                x: microseconds(srtt * size as f64 / self.used()),
                delta: self.request(srtt),
                reverse: 0,
            },
            _ => XcpHeader::default(),
        };
        HeaderBytes::of(&header)
    }

    fn on_feedback(&mut self, returned: &Returned) {
        if let Some(rtt) = returned.rtt {
            self.sample(rtt);
        }
        let (Some(header), Some(srtt)) = (returned.segment.feedback.parse::<XcpHeader>(), self.srtt) else {
            return;
        };
        // A window that is not used says nothing of what the path would carry.
        if header.reverse > 0 && returned.app_limited {
            return;
        }
        let window = self.window + f64::from(header.reverse) * srtt;
        self.window = window.min(self.options.max_window as f64).max(self.segment());
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    /// As TCP: half after duplicate acknowledgements, one segment after a timeout. Then feedback goes on.
    fn on_lost(&mut self, lost: &Lost) {
        let left = match lost.kind {
            LossKind::DuplicateAcks => self.window / 2.0,
            LossKind::Timeout { .. } => 0.0,
        };
        self.window = left.max(self.segment());
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.window = self.window.min(recovered.window as f64).max(self.segment());
    }

    fn on_idle(&mut self, _now: Time) {
        self.window = self.window.min(self.options.initial_window as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn sender(desired: Option<f64>) -> XcpSender {
        let options =
            XcpSenderOptions { segment_size: 1_000, initial_window: 10_000, max_window: 20_000, desired };
        XcpSender::new(options)
    }

    fn returned(reverse: i32) -> Returned<'static> {
        testing::returned(&XcpHeader { reverse, ..XcpHeader::default() }, Some(Span::from_ms(100)))
    }

    fn stamp(sender: &mut XcpSender) -> XcpHeader {
        let Some(header) = sender.stamp(1_000).parse::<XcpHeader>() else { panic!() };
        header
    }

    /// Ten packets of 1000 bytes and 100 ms: 10 ms between packets, and 1000 B/s are 100 bytes more of
    /// window.
    #[test]
    fn feedback_changes_the_window_by_its_throughput_times_the_round_trip() {
        let mut sender = sender(None);
        assert_eq!(stamp(&mut sender), XcpHeader::default(), "nothing is asked for before the first sample");
        sender.on_feedback(&returned(0));
        let unlimited = XcpHeader { rtt: 100_000, x: 10_000, delta: XcpHeader::UNLIMITED, reverse: 0 };
        assert_eq!(stamp(&mut sender), unlimited);
        sender.on_feedback(&returned(1_000));
        assert_eq!(sender.allowance().window, 10_100);
        assert_eq!(stamp(&mut sender).x, 10_000, "a tenth of a segment more is not sent");
        sender.on_feedback(&returned(-2_000));
        assert_eq!(sender.allowance().window, 9_900);
        sender.on_feedback(&returned(i32::MIN));
        assert_eq!(sender.allowance().window, 1_000);
        sender.on_feedback(&returned(i32::MAX));
        assert_eq!(sender.allowance().window, 20_000);
        assert_eq!(stamp(&mut sender).delta, 0, "there is no use for more than the receiver takes");
    }

    /// 10 000 bytes in 100 ms are 100 kB/s; 20 kB/s more are 2 kB/s for each of ten packets.
    #[test]
    fn an_application_asks_for_what_it_misses() {
        for (desired, delta) in [(120e3, 2_000), (100e3, 0), (50e3, -5_000)] {
            let mut sender = sender(Some(desired));
            sender.on_feedback(&returned(0));
            assert_eq!(stamp(&mut sender).delta, delta);
        }
    }

    #[test]
    fn a_window_that_is_not_used_is_closed_but_not_opened() {
        let mut sender = sender(None);
        sender.on_feedback(&Returned { app_limited: true, ..returned(1_000) });
        assert_eq!(sender.allowance().window, 10_000);
        sender.on_feedback(&Returned { app_limited: true, ..returned(-1_000) });
        assert_eq!(sender.allowance().window, 9_900);
    }

    /// What was not used for long is not known any more: no more than the first window, and what is left
    /// after recovery.
    #[test]
    fn silence_and_recovery_close_the_window_and_open_none() {
        let mut sender = sender(None);
        sender.on_feedback(&returned(50_000));
        assert_eq!(sender.allowance().window, 15_000);
        sender.on_recovered(&Recovered { now: Time::ZERO, in_flight: 0, window: 12_000 });
        assert_eq!(sender.allowance().window, 12_000);
        sender.on_idle(Time::ZERO);
        assert_eq!(sender.allowance().window, 10_000);
        sender.on_feedback(&returned(-40_000));
        for _ in 0..2 {
            assert_eq!(sender.allowance().window, 6_000);
            sender.on_idle(Time::ZERO);
        }
        sender.on_recovered(&Recovered { now: Time::ZERO, in_flight: 0, window: 8_000 });
        assert_eq!(sender.allowance().window, 6_000);
        sender.on_recovered(&Recovered { now: Time::ZERO, in_flight: 0, window: 0 });
        assert_eq!(sender.allowance().window, 1_000, "a segment at least");
    }

    #[test]
    fn a_loss_halves_and_a_timeout_begins_anew() {
        let mut sender = sender(None);
        sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: 9_000 });
        assert_eq!(sender.allowance().window, 5_000);
        sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::Timeout { again: false }, in_flight: 9_000 });
        assert_eq!(sender.allowance().window, 1_000);
        sender.on_feedback(&returned(5_000));
        assert_eq!(sender.allowance().window, 1_500);
    }
}
