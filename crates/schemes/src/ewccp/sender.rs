//! The sender of EWCCP: a paced window that routers close, and that opens by itself by so much in each
//! control interval.

use super::header::EwccpHeader;
use super::{Law, OnTimeout};
use crate::round_trip::smoothed;
use multihop_core::{Bits, HeaderBytes, Rate, Span, Time};
use multihop_transport::{Acked, Allowance, Controller, LossKind, Lost, Returned};

/// Options of [`EwccpSender`]. Sizes and windows are in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SenderOptions {
    /// `s`.
    pub segment_size: u32,
    /// Of a full packet above the MAC, headers included: what a pace is measured in.
    pub packet_size: u32,
    pub max_window: u64,
    /// The least window. Below a segment it is a pace: one segment is outstanding, and the next leaves later
    /// than a round trip.
    pub least_window: f64,
    pub law: Law,
    /// 32-bit words of the link's part of the header in data.
    pub link_words: u8,
    /// `alpha`: segments by which what the law names opens in each control interval.
    pub alpha: f64,
    /// `d`, the routers' control interval.
    pub round: Span,
    /// Ask routers for a window at the start, and whenever what they said is out of date.
    pub probes: bool,
    /// Spread a window over a round trip.
    pub paced: bool,
    pub on_timeout: OnTimeout,
}

/// Where the sender is with the question for a window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Probe {
    /// The next packet asks.
    Due,
    /// It is on its way. The window is one segment until it is answered, so that there is only one.
    Asked,
    Answered,
}

/// The controller.
pub(super) struct EwccpSender {
    options: SenderOptions,
    window: f64,
    /// Smoothed round-trip time in seconds, with a weight of 1/8 for new samples.
    srtt: Option<f64>,
    probe: Probe,
}

impl EwccpSender {
    pub fn new(options: SenderOptions) -> EwccpSender {
        let mut sender = EwccpSender { options, window: 0.0, srtt: None, probe: Probe::Answered };
        sender.begin();
        sender
    }

    fn segment(&self) -> f64 {
        f64::from(self.options.segment_size)
    }

    /// At the start, and after everything that makes what routers said worthless.
    fn begin(&mut self) {
        self.window = self.segment();
        self.probe = if self.options.probes { Probe::Due } else { Probe::Answered };
    }

    fn set_window(&mut self, window: f64) {
        self.window = window.min(self.options.max_window as f64).max(self.options.least_window);
    }

    fn sample(&mut self, rtt: Span) {
        self.srtt = Some(smoothed(self.srtt, rtt));
    }

    /// What each packet opens the window by, in bytes. A flow opens by so much in each control interval, and
    /// `w d / (rtt s)` packets share that (Eq. 4). Eq. 8 opens a *window* by `alpha s`. Eqs. 3 to 5 divide
    /// what a *rate* is to change by: `alpha s / d` is a window of `alpha s rtt / d`, as the fluid model
    /// (Eq. 16) has it.
    fn positive(&self) -> f64 {
        let Some(srtt) = self.srtt else { return 0.0 };
        let round = self.options.round.seconds();
        let opens = match self.options.law {
            Law::Windows => self.options.alpha * self.segment(),
            Law::Rates => self.options.alpha * self.segment() * srtt / round,
        };
        // A window at most doubles in a round trip, as in slow start: intervals much shorter than that would have it open by many windows.
        (opens * srtt * self.segment() / (self.window * round)).min(self.segment())
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
        let rtt = self.srtt.map_or(0, EwccpHeader::units);
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

    /// `w + p - n` (Eq. 7) for each packet that the acknowledgement is of; or the window that a probe found.
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
                self.set_window(header.bytes());
            }
            return;
        }
        // A window that is not used says nothing of what the path would carry; nor does one that a probe just found too large.
        let opens =
            if returned.app_limited || asked { 0.0 } else { self.positive() * f64::from(header.packets.0) };
        self.set_window(self.window + opens - header.bytes());
    }

    /// Congestion is what routers signal; a lost packet is repaired, and that is all, unless a timeout is to
    /// begin anew.
    fn on_lost(&mut self, lost: &Lost) {
        if matches!(lost.kind, LossKind::Timeout { .. }) && self.options.on_timeout == OnTimeout::Probe {
            self.begin();
        }
    }

    fn on_idle(&mut self, _now: Time) {
        self.begin();
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
            least_window: SEGMENT,
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

    /// Seven idle hops give seven packets; a congested one takes from the window of one segment, which is the
    /// least.
    #[test]
    fn a_probe_sets_the_first_window() {
        for (answer, window) in [(credit(7), 7_000), (credit(500), 100_000), (debit(400.0), 1_000)] {
            let mut sender = sender(options());
            sender.on_opened(Span::from_ms(10));
            assert_eq!(sender.allowance().window, 1_000);
            assert!(stamped(&mut sender).probe);
            assert!(!stamped(&mut sender).probe, "one probe at a time");
            sender.on_feedback(&answer);
            assert_eq!(sender.allowance().window, window);
            assert!(!stamped(&mut sender).probe);
            sender.on_feedback(&credit(3));
            assert_eq!(sender.allowance().window, window, "no router asked");
        }
    }

    /// One segment in each control interval, whether a round trip takes 20 ms or 80.
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
            // A fraction of a segment is not sent, and opens nothing.
            let intervals = (rounds * rtt) as f64 / 100.0;
            let opened = (sender.window - before) / SEGMENT;
            assert!(
                (0.9..=1.0).contains(&(opened / intervals)),
                "{opened} in {intervals} intervals of {rtt} ms"
            );
        }
    }

    /// `s` = 1000, `d` = 100 ms, a window of 20 segments and a round trip of 50 ms: Eq. 8 gives 1 * .05 * 1e6
    /// / (20000 * .1) = 25 bytes a packet, and the law of rates half of that, as a round trip is half an
    /// interval.
    #[test]
    fn what_a_packet_adds_under_each_law() {
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
            assert!((sender.positive() - bytes).abs() < 1e-9, "{law:?} at {rtt} ms: {}", sender.positive());
        }
    }

    /// Flows that receive the same price, however long their round trips are, come to equal windows under one
    /// law, and to equal rates under the other: with `n = price rtt s / d` (Eq. 6) the windows at rest are `s
    /// / price` and `s rtt / (price d)`.
    #[test]
    fn the_law_says_what_equal_prices_equalise() {
        let rest = |law, rtt: u64| {
            let mut sender = sender(SenderOptions { probes: false, law, ..options() });
            sender.on_opened(Span::from_ms(rtt));
            sender.set_window(3_000.0);
            let debit = 0.25 * rtt as f64 / 100.0 * SEGMENT;
            for _ in 0..2_000 {
                sender.set_window(sender.window + sender.positive() - debit);
            }
            sender.window
        };
        assert_eq!((rest(Law::Windows, 10).round(), rest(Law::Windows, 40).round()), (4_000.0, 4_000.0));
        let (short, long) = (rest(Law::Rates, 50), rest(Law::Rates, 100));
        assert_eq!((short.round(), long.round()), (2_000.0, 4_000.0), "40 packets a second, both");
    }

    /// 50 bytes for each of 40 packets: a tenth of a window of 40 000 in a round of two round trips.
    #[test]
    fn what_routers_say_closes_the_window() {
        let mut sender = sender(SenderOptions { probes: false, alpha: 0.0, ..options() });
        sender.on_opened(Span::from_ms(50));
        sender.set_window(20_000.0);
        (0..40).for_each(|_| sender.on_feedback(&debit(50.0)));
        assert_eq!(sender.allowance().window, 18_000);
        sender.on_feedback(&debit(1e6));
        assert_eq!(sender.allowance().window, 1_000);
    }

    /// A delayed acknowledgement is of two packets, and opens the window twice.
    #[test]
    fn an_acknowledgement_counts_for_its_packets() {
        let mut sender = sender(SenderOptions { probes: false, ..options() });
        sender.on_opened(Span::from_ms(100));
        sender.set_window(10_000.0);
        sender.on_feedback(&returned(EwccpHeader { packets: Bits(2), ..EwccpHeader::default() }));
        assert_eq!(sender.allowance().window, 10_200);
        sender.on_feedback(&Returned { app_limited: true, ..debit(0.0) });
        assert_eq!(sender.allowance().window, 10_200, "it is not used");
        sender.on_feedback(&returned(EwccpHeader::default()));
        assert_eq!(sender.allowance().window, 10_200, "the answer to a SYN");
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
        assert_eq!(sender.allowance().pace, None, "no round trip is known");
        sender.on_opened(Span::from_ms(100));
        sender.set_window(10_000.0);
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps(10 * 1_066 * 80)));
        let unpaced = EwccpSender::new(SenderOptions { paced: false, ..options() });
        assert_eq!(unpaced.allowance().pace, None);
    }

    /// A quarter of a segment in a round trip of 10 ms: one of 1066 bytes in 40 ms. It opens by what few
    /// packets it has: 1 * .01^2 * 1e6 / (250 * .01) = 40 bytes each.
    #[test]
    fn less_than_a_segment_in_a_round_trip_is_a_pace() {
        let least = SenderOptions { probes: false, law: Law::Rates, least_window: 100.0, ..options() };
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

    #[test]
    fn a_loss_leaves_the_window_and_a_timeout_or_silence_asks_again() {
        let mut sender = sender(options());
        stamped(&mut sender);
        sender.on_feedback(&credit(7));
        sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::DuplicateAcks, in_flight: 7_000 });
        assert_eq!(sender.allowance().window, 7_000);
        for again in [false, true] {
            sender.on_lost(&Lost { now: Time::ZERO, kind: LossKind::Timeout { again }, in_flight: 7_000 });
            assert_eq!(sender.allowance().window, 1_000);
            assert!(stamped(&mut sender).probe, "also if the probe itself was lost");
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

    /// In units of 100 us; data alone ask for something.
    #[test]
    fn a_packet_says_its_round_trip_time() {
        let mut sender = sender(SenderOptions { probes: false, ..options() });
        assert_eq!(stamped(&mut sender).rtt, 0, "none is known");
        sender.on_opened(Span::from_ms(80));
        let header = stamped(&mut sender);
        assert_eq!((header.rtt, header.words.0, header.packets.0), (EwccpHeader::units(0.08), 5, 1));
        assert!(header.rtt > 0);
        assert_eq!(sender.stamp(0).parse::<EwccpHeader>(), Some(EwccpHeader::default()));
    }
}
