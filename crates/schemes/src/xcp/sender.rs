//! Sender of XCP, whose window routers open and close.

use super::header::XcpHeader;
use crate::round_trip::smoothed;
use multihop_core::{HeaderBytes, Span, Time};
use multihop_transport::{Acked, Allowance, Controller, LossKind, Lost, Recovered, Returned};

/// Options of [`XcpSender`]. Windows are in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct XcpSenderOptions {
    /// Payload bytes of a full segment.
    pub segment_size: u32,
    /// Initial window.
    pub initial_window: u64,
    /// Maximum window: the receive window.
    pub max_window: u64,
    /// Throughput that the application requests, in bytes per second; none if unlimited.
    pub desired: Option<f64>,
}

/// Congestion controller of XCP. Acknowledgements change the window by the granted feedback; nothing else
/// opens it.
pub(crate) struct XcpSender {
    options: XcpSenderOptions,
    window: f64,
    /// Smoothed round-trip time in seconds, with a weight of 1/8 for new samples. TCP's own estimate has
    /// ticks of 10 ms in ns-2.
    srtt: Option<f64>,
}

impl XcpSender {
    /// Creates a controller with the initial window.
    pub(crate) fn new(options: XcpSenderOptions) -> XcpSender {
        XcpSender { window: options.initial_window as f64, srtt: None, options }
    }

    fn segment(&self) -> f64 {
        f64::from(self.options.segment_size)
    }

    /// Returns the usable part of the window in bytes: whole segments. The header reports this part, because
    /// feedback equalises the throughput that flows report. A flow with a window of 1.9 segments sends one
    /// segment per round trip.
    fn usable_window(&self) -> f64 {
        (self.window / self.segment()).floor() * self.segment()
    }

    /// Returns the change of throughput to request in each packet, in bytes per second: the missing
    /// throughput over the packets of a window.
    fn request(&self, srtt: f64) -> i32 {
        if self.window >= self.options.max_window as f64 {
            return 0;
        }
        self.options.desired.map_or(XcpHeader::UNLIMITED, |desired| {
            ((desired - self.usable_window() / srtt) * self.segment() / self.usable_window()) as i32
        })
    }

    fn sample(&mut self, rtt: Span) {
        self.srtt = Some(smoothed(self.srtt, rtt));
    }
}

/// Converts seconds to microseconds of a header, at least one, because 0 means unknown.
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
                x: microseconds(srtt * size as f64 / self.usable_window()),
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
        // An unused window is no evidence of the path's capacity.
        if header.reverse > 0 && returned.app_limited {
            return;
        }
        let window = self.window + f64::from(header.reverse) * srtt;
        self.window = window.min(self.options.max_window as f64).max(self.segment());
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    /// Halves the window after duplicate acknowledgements and sets one segment after a timeout, as TCP.
    /// Feedback then continues.
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

    /// Ten packets of 1000 bytes in 100 ms are 10 ms apart. 1000 B/s more is 100 bytes more of window.
    #[test]
    fn feedback_changes_the_window_by_its_throughput_times_the_round_trip() {
        let mut sender = sender(None);
        assert_eq!(stamp(&mut sender), XcpHeader::default(), "no request before the first sample");
        sender.on_feedback(&returned(0));
        let unlimited = XcpHeader { rtt: 100_000, x: 10_000, delta: XcpHeader::UNLIMITED, reverse: 0 };
        assert_eq!(stamp(&mut sender), unlimited);
        sender.on_feedback(&returned(1_000));
        assert_eq!(sender.allowance().window, 10_100);
        assert_eq!(stamp(&mut sender).x, 10_000, "a tenth of a segment cannot be sent");
        sender.on_feedback(&returned(-2_000));
        assert_eq!(sender.allowance().window, 9_900);
        sender.on_feedback(&returned(i32::MIN));
        assert_eq!(sender.allowance().window, 1_000);
        sender.on_feedback(&returned(i32::MAX));
        assert_eq!(sender.allowance().window, 20_000);
        assert_eq!(stamp(&mut sender).delta, 0, "the receive window allows no more");
    }

    /// 10 000 bytes in 100 ms is 100 kB/s. 20 kB/s more is 2 kB/s for each of ten packets.
    #[test]
    fn an_application_requests_its_missing_throughput() {
        for (desired, delta) in [(120e3, 2_000), (100e3, 0), (50e3, -5_000)] {
            let mut sender = sender(Some(desired));
            sender.on_feedback(&returned(0));
            assert_eq!(stamp(&mut sender).delta, delta);
        }
    }

    #[test]
    fn an_unused_window_is_closed_but_not_opened() {
        let mut sender = sender(None);
        sender.on_feedback(&Returned { app_limited: true, ..returned(1_000) });
        assert_eq!(sender.allowance().window, 10_000);
        sender.on_feedback(&Returned { app_limited: true, ..returned(-1_000) });
        assert_eq!(sender.allowance().window, 9_900);
    }

    /// After a long silence the window is at most the initial window, and after recovery at most the
    /// recovered window.
    #[test]
    fn silence_and_recovery_close_but_never_open_the_window() {
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
        assert_eq!(sender.allowance().window, 1_000, "at least one segment");
    }

    #[test]
    fn a_loss_halves_the_window_and_a_timeout_resets_it() {
        let mut sender = sender(None);
        sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: 9_000 });
        assert_eq!(sender.allowance().window, 5_000);
        sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::Timeout { again: false }, in_flight: 9_000 });
        assert_eq!(sender.allowance().window, 1_000);
        sender.on_feedback(&returned(5_000));
        assert_eq!(sender.allowance().window, 1_500);
    }
}
