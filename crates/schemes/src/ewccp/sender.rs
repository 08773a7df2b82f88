//! Sender of EWCCP: a paced window that routers close, and that opens by a fixed amount in each control
//! interval.

use super::header::EwccpHeader;
use super::{Law, OnTimeout};
use crate::round_trip::smoothed;
use multihop_core::{Bits, HeaderBytes, Rate, Span, Time};
use multihop_transport::{Acked, Allowance, Controller, LossKind, Lost, Returned};

/// Options of [`EwccpSender`]. Sizes and windows are in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SenderOptions {
    /// Segment size, `s`.
    pub segment_size: u32,
    /// Size of a full packet above the MAC, with headers, which the pace counts.
    pub packet_size: u32,
    /// Maximum window: the receive window.
    pub max_window: u64,
    /// Minimum window. Below a segment it acts as a pace: one segment is outstanding, and the next is sent
    /// more than a round trip later.
    pub least_window: LeastWindow,
    /// Quantity that grows by the same amount in each control interval.
    pub law: Law,
    /// Length of the link's part of the header in data, in 32-bit words.
    pub link_words: u8,
    /// Segments that the increase law adds in each control interval, `alpha`.
    pub alpha: f64,
    /// Control interval of routers, `d`.
    pub round: Span,
    /// Whether the sender probes for a window at the start and after silence.
    pub probes: bool,
    /// Whether the sender spreads a window over a round trip.
    pub paced: bool,
    /// Effect of a retransmission timeout on the window.
    pub on_timeout: OnTimeout,
}

/// Minimum window of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LeastWindow {
    /// Constant, in bytes.
    Constant(f64),
    /// One segment per control interval, and at most one per round trip. A sender then gets feedback in each
    /// interval, and does not fill a medium that its neighbours need.
    PerInterval,
}

/// State of the probe for a window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Probe {
    /// The next packet carries the probe.
    Due,
    /// The probe is in flight. The window is one segment until the answer, so that there is only one probe.
    Asked,
    /// The probe was answered, or the sender does not probe.
    Answered,
}

/// Congestion controller of EWCCP.
pub(super) struct EwccpSender {
    options: SenderOptions,
    window: f64,
    /// Smoothed round-trip time in seconds, with a weight of 1/8 for new samples.
    srtt: Option<f64>,
    probe: Probe,
}

impl EwccpSender {
    /// Creates a controller with a window of one segment.
    pub fn new(options: SenderOptions) -> EwccpSender {
        let mut sender = EwccpSender { options, window: 0.0, srtt: None, probe: Probe::Answered };
        sender.restart();
        sender
    }

    fn segment(&self) -> f64 {
        f64::from(self.options.segment_size)
    }

    /// Restarts the window and the probe, at the start and when the known feedback is out of date.
    fn restart(&mut self) {
        self.window = self.segment();
        self.probe = if self.options.probes { Probe::Due } else { Probe::Answered };
    }

    fn set_window(&mut self, window: f64) {
        self.window = window.min(self.options.max_window as f64).max(self.least_window());
    }

    fn least_window(&self) -> f64 {
        match self.options.least_window {
            LeastWindow::Constant(bytes) => bytes,
            LeastWindow::PerInterval => {
                let intervals = self.srtt.map_or(1.0, |srtt| srtt / self.options.round.seconds());
                self.segment() * intervals.min(1.0)
            }
        }
    }

    fn sample(&mut self, rtt: Span) {
        self.srtt = Some(smoothed(self.srtt, rtt));
    }

    /// Returns the bytes by which each packet opens the window. A flow opens by a fixed amount in each
    /// control interval, shared by its `w d / (rtt s)` packets (Eq. 4). Eq. 8 opens the window by `alpha s`.
    /// Eqs. 3 to 5 change a rate by `alpha s / d`, which is a window of `alpha s rtt / d`, as in the fluid
    /// model (Eq. 16).
    fn increment(&self) -> f64 {
        let Some(srtt) = self.srtt else { return 0.0 };
        let round = self.options.round.seconds();
        let (opens, most) = match self.options.law {
            Law::Windows => (self.options.alpha * self.segment(), f64::INFINITY),
            // The window at most doubles in a round trip, as in slow start. Much shorter intervals would
            // otherwise open it by many windows.
            Law::Rates => (self.options.alpha * self.segment() * srtt / round, self.segment()),
        };
        (opens * srtt * self.segment() / (self.window * round)).min(most)
    }
}

impl Controller for EwccpSender {
    fn allowance(&self) -> Allowance {
        let pace = self.srtt.filter(|_| self.options.paced).map(|srtt| {
            let packets = self.window / self.segment();
            let bits = packets * f64::from(self.options.packet_size) * 8.0;
            Rate::from_bps((bits / srtt).clamp(1.0, 1e15) as u64)
        });
        Allowance { window: self.window.max(self.segment()) as u64, pace }
    }

    fn stamp(&mut self, size: u64) -> HeaderBytes {
        if size == 0 {
            return HeaderBytes::of(&EwccpHeader::default());
        }
        let probe = self.probe == Probe::Due;
        if probe {
            self.probe = Probe::Asked;
        }
        let rtt = self.srtt.map_or(0, EwccpHeader::rtt_units);
        let words = Bits(self.options.link_words);
        HeaderBytes::of(&EwccpHeader { words, rtt, probe, packets: Bits(1), ..EwccpHeader::default() })
    }

    fn on_opened(&mut self, rtt: Span) {
        self.sample(rtt);
    }

    fn on_acked(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.sample(rtt);
        }
    }

    /// Applies `w + p - n` (Eq. 7) for each packet that the acknowledgement covers, or sets the window that a
    /// probe found.
    fn on_feedback(&mut self, returned: &Returned) {
        let Some(header) = returned.segment.feedback.parse::<EwccpHeader>() else { return };
        if header.packets == Bits(0) {
            return;
        }
        let asked = self.probe == Probe::Asked;
        if asked {
            self.probe = Probe::Answered;
        }
        if header.probe {
            if asked {
                self.set_window(header.feedback_bytes());
            }
            return;
        }
        // An unused window is no evidence of the path's capacity, and neither is a window that the probe just
        // found too large.
        let opens =
            if returned.app_limited || asked { 0.0 } else { self.increment() * f64::from(header.packets.0) };
        self.set_window(self.window + opens - header.feedback_bytes());
    }

    /// Repairs a lost packet without changing the window, because routers signal congestion. A timeout may
    /// restart the sender.
    fn on_lost(&mut self, lost: &Lost) {
        if matches!(lost.kind, LossKind::Timeout { .. }) && self.options.on_timeout == OnTimeout::Probe {
            self.restart();
        }
    }

    fn on_idle(&mut self, _now: Time) {
        self.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const SEGMENT: f64 = 1_000.0;

    fn sender(options: SenderOptions) -> EwccpSender {
        EwccpSender::new(options)
    }

    fn options() -> SenderOptions {
        SenderOptions {
            segment_size: 1_000,
            packet_size: 1_066,
            max_window: 100_000,
            least_window: LeastWindow::Constant(SEGMENT),
            law: Law::Windows,
            link_words: 5,
            alpha: 1.0,
            round: Span::from_ms(100),
            probes: true,
            paced: true,
            on_timeout: OnTimeout::Probe,
        }
    }

    fn returned(header: EwccpHeader) -> Returned<'static> {
        testing::returned(&header, None)
    }

    fn debit(bytes: f64) -> Returned<'static> {
        let feedback = (bytes * EwccpHeader::PER_BYTE) as u32;
        returned(EwccpHeader { packets: Bits(1), feedback, ..EwccpHeader::default() })
    }

    fn credit(segments: u32) -> Returned<'static> {
        let feedback = segments * 1_000 * 256;
        returned(EwccpHeader { packets: Bits(1), probe: true, feedback, ..EwccpHeader::default() })
    }

    fn stamped(sender: &mut EwccpSender) -> EwccpHeader {
        let Some(header) = sender.stamp(1_000).parse::<EwccpHeader>() else { panic!() };
        header
    }

    /// Seven idle hops give seven segments. A congested hop takes from the window of one segment, which is
    /// the minimum.
    #[test]
    fn a_probe_sets_the_first_window() {
        for (answer, window) in [(credit(7), 7_000), (credit(500), 100_000), (debit(400.0), 1_000)] {
            let mut sender = sender(options());
            sender.on_opened(Span::from_ms(10));
            assert_eq!(sender.allowance().window, 1_000);
            assert!(stamped(&mut sender).probe);
            assert!(!stamped(&mut sender).probe, "only one probe is in flight");
            sender.on_feedback(&answer);
            assert_eq!(sender.allowance().window, window);
            assert!(!stamped(&mut sender).probe);
            sender.on_feedback(&credit(3));
            assert_eq!(sender.allowance().window, window, "the sender did not probe");
        }
    }

    /// The window opens by one segment in each control interval, whether a round trip takes 20 ms or 80 ms.
    #[test]
    fn without_congestion_the_window_opens_by_a_segment_in_each_interval() {
        for (rtt, rounds) in [(20, 50), (80, 12), (100, 10)] {
            let mut sender = sender(SenderOptions { probes: false, ..options() });
            sender.on_opened(Span::from_ms(rtt));
            sender.set_window(8.0 * SEGMENT);
            let before = sender.window;
            for _ in 0..rounds {
                for _ in 0..(sender.window / SEGMENT) as u32 {
                    sender.on_feedback(&debit(0.0));
                }
            }
            // A fraction of a segment is not sent and opens nothing.
            let intervals = (rounds * rtt) as f64 / 100.0;
            let opened = (sender.window - before) / SEGMENT;
            assert!(
                (0.9..=1.0).contains(&(opened / intervals)),
                "{opened} in {intervals} intervals of {rtt} ms"
            );
        }
    }

    /// With `s` = 1000 bytes, `d` = 100 ms, 20 segments and 50 ms, Eq. 8 gives 1 * .05 * 1e6 / (20000 * .1) =
    /// 25 bytes per packet. The law of rates gives half of that, because a round trip is half an interval.
    #[test]
    fn the_increment_of_a_packet_under_each_law() {
        for (law, rtt, bytes) in [
            (Law::Windows, 50, 25.0),
            (Law::Rates, 50, 12.5),
            (Law::Windows, 10, 5.0),
            (Law::Rates, 10, 0.5),
            (Law::Windows, 100, 50.0),
            (Law::Rates, 100, 50.0),
        ] {
            let mut sender = sender(SenderOptions { probes: false, law, ..options() });
            sender.on_opened(Span::from_ms(rtt));
            sender.set_window(20_000.0);
            assert!((sender.increment() - bytes).abs() < 1e-9, "{law:?} at {rtt} ms: {}", sender.increment());
        }
    }

    /// At equal prices, one law equalises windows and the other rates, whatever the round-trip times are.
    /// With `n = price rtt s / d` (Eq. 6) the windows in equilibrium are `s / price` and `s rtt / (price d)`.
    #[test]
    fn equal_prices_equalise_windows_or_rates() {
        let equilibrium = |law, rtt: u64| {
            let mut sender = sender(SenderOptions { probes: false, law, ..options() });
            sender.on_opened(Span::from_ms(rtt));
            sender.set_window(3_000.0);
            let debit = 0.25 * rtt as f64 / 100.0 * SEGMENT;
            for _ in 0..2_000 {
                sender.set_window(sender.window + sender.increment() - debit);
            }
            sender.window
        };
        assert_eq!(
            (equilibrium(Law::Windows, 10).round(), equilibrium(Law::Windows, 40).round()),
            (4_000.0, 4_000.0)
        );
        let (short, long) = (equilibrium(Law::Rates, 50), equilibrium(Law::Rates, 100));
        assert_eq!((short.round(), long.round()), (2_000.0, 4_000.0), "40 packets a second, both");
    }

    /// 50 bytes for each of 40 packets: a tenth of a window of 20 000 bytes.
    #[test]
    fn feedback_closes_the_window() {
        let mut sender = sender(SenderOptions { probes: false, alpha: 0.0, ..options() });
        sender.on_opened(Span::from_ms(50));
        sender.set_window(20_000.0);
        (0..40).for_each(|_| sender.on_feedback(&debit(50.0)));
        assert_eq!(sender.allowance().window, 18_000);
        sender.on_feedback(&debit(1e6));
        assert_eq!(sender.allowance().window, 1_000);
    }

    /// A delayed acknowledgement covers two packets and opens the window twice.
    #[test]
    fn an_acknowledgement_counts_each_packet() {
        let mut sender = sender(SenderOptions { probes: false, ..options() });
        sender.on_opened(Span::from_ms(100));
        sender.set_window(10_000.0);
        sender.on_feedback(&returned(EwccpHeader { packets: Bits(2), ..EwccpHeader::default() }));
        assert_eq!(sender.allowance().window, 10_200);
        sender.on_feedback(&Returned { app_limited: true, ..debit(0.0) });
        assert_eq!(sender.allowance().window, 10_200, "the window is not used");
        sender.on_feedback(&returned(EwccpHeader::default()));
        assert_eq!(sender.allowance().window, 10_200, "the acknowledgement of a SYN");
    }

    #[test]
    fn acknowledgements_are_samples_of_the_round_trip() {
        let mut sender = sender(options());
        let rtt = Some(Span::from_ms(50));
        let acked = Acked {
            now: Time::ZERO,
            size: 1_000,
            fresh: 1_000,
            rtt,
            srtt: rtt,
            in_flight: 0,
            app_limited: false,
            ecn_echo: false,
            hops: 1,
        };
        sender.on_acked(&Acked { rtt: None, ..acked });
        assert_eq!(stamped(&mut sender).rtt, 0);
        sender.on_acked(&acked);
        assert_eq!(stamped(&mut sender).rtt, 500);
    }

    /// Ten packets of 1066 bytes in 100 ms.
    #[test]
    fn a_window_is_spread_over_a_round_trip() {
        let mut sender = sender(options());
        assert_eq!(sender.allowance().pace, None, "no round-trip sample yet");
        sender.on_opened(Span::from_ms(100));
        sender.set_window(10_000.0);
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps(10 * 1_066 * 80)));
        let unpaced = EwccpSender::new(SenderOptions { paced: false, ..options() });
        assert_eq!(unpaced.allowance().pace, None);
    }

    /// A quarter of a segment in a round trip of 10 ms is one packet of 1066 bytes in 40 ms. The increment is
    /// 1 * .01^2 * 1e6 / (250 * .01) = 40 bytes per packet.
    #[test]
    fn a_window_below_a_segment_is_a_pace() {
        let least = SenderOptions {
            probes: false,
            law: Law::Rates,
            least_window: LeastWindow::Constant(100.0),
            ..options()
        };
        let mut sender = sender(least);
        sender.on_opened(Span::from_ms(10));
        sender.set_window(250.0);
        assert_eq!(
            sender.allowance(),
            Allowance { window: 1_000, pace: Some(Rate::from_bps(1_066 * 8 * 25)) }
        );
        sender.on_feedback(&debit(0.0));
        assert!((sender.window - 290.0).abs() < 1e-9, "{}", sender.window);
        sender.on_feedback(&debit(1e6));
        assert!((sender.window - 100.0).abs() < 1e-9, "{}", sender.window);
    }

    /// One segment per interval of 100 ms: a tenth of a segment in a round trip of 10 ms. With a round trip
    /// of 300 ms the minimum is one segment per round trip.
    #[test]
    fn the_least_rate_is_a_segment_per_interval_or_round_trip() {
        for (rtt, least) in [(10, 100.0), (50, 500.0), (100, 1_000.0), (300, 1_000.0)] {
            let mut sender =
                sender(SenderOptions { probes: false, least_window: LeastWindow::PerInterval, ..options() });
            sender.on_opened(Span::from_ms(rtt));
            sender.on_feedback(&debit(1e6));
            assert!((sender.window - least).abs() < 1e-9, "{rtt} ms: {}", sender.window);
        }
    }

    #[test]
    fn a_loss_keeps_the_window_and_a_timeout_or_silence_probes_again() {
        let mut sender = sender(options());
        stamped(&mut sender);
        sender.on_feedback(&credit(7));
        sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: 7_000 });
        assert_eq!(sender.allowance().window, 7_000);
        for again in [false, true] {
            sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::Timeout { again }, in_flight: 7_000 });
            assert_eq!(sender.allowance().window, 1_000);
            assert!(stamped(&mut sender).probe, "even if the probe itself was lost");
        }
        sender.on_feedback(&credit(2));
        assert_eq!(sender.allowance().window, 2_000);
        sender.on_idle(Time::ZERO);
        assert!(stamped(&mut sender).probe);
        let mut keeps = EwccpSender::new(SenderOptions { on_timeout: OnTimeout::Keep, ..options() });
        stamped(&mut keeps);
        keeps.on_feedback(&credit(7));
        keeps.on_lost(&Lost { now: Time::ZERO, kind: LossKind::Timeout { again: false }, in_flight: 7_000 });
        assert_eq!(keeps.allowance().window, 7_000);
    }

    /// The round-trip time is in units of 100 us. Only data packets carry a request.
    #[test]
    fn data_packets_carry_the_round_trip_time() {
        let mut sender = sender(SenderOptions { probes: false, ..options() });
        assert_eq!(stamped(&mut sender).rtt, 0, "no sample yet");
        sender.on_opened(Span::from_ms(80));
        let header = stamped(&mut sender);
        assert_eq!((header.rtt, header.words.0, header.packets.0), (EwccpHeader::rtt_units(0.08), 5, 1));
        assert!(header.rtt > 0);
        assert_eq!(sender.stamp(0).parse::<EwccpHeader>(), Some(EwccpHeader::default()));
    }
}
