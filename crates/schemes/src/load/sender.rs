//! Sender of BMCC and VCP. The window grows by multiplication at a low load of the path and by addition at a
//! high load. An overload cuts the window (Xia, Subramanian, Stoica and Kalyanaraman 2005; Qazi, Andrew and
//! Znati 2009).
//!
//! After a cut, further overload leaves the window unchanged for an interval of the routers, which then
//! signal the effect of the cut. For one more round trip an overload opens the window by addition, because
//! its signals come from packets sent before.
//!
//! Both rules and the limits are those of the authors' program for VCP. Its limit of the increase per
//! acknowledgement applies to windows of up to about ten segments at a round trip of 100 ms. The increase is
//! then in proportion to the window, and shares become equal slowly. BMCC has no such limit by default. It
//! adds less and cuts more at a larger overload. BMCC also carries fractions of a segment over to the next
//! round trip: rounded down, a window of 1.9 segments would send half as much as one of 2.1.

use super::header::{LoadEcho, LoadHeader, MarkHeader};
use crate::load::router::HIGH_LOAD;
use crate::round_trip::smoothed;
use multihop_core::{Ecn, HeaderBytes, Rate, Span, Time};
use multihop_transport::{AckInfo, Acked, Allowance, Controller, Echo, LossKind, Lost, Recovered, Returned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of [`LoadSender`]. Windows are in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LoadSenderOptions {
    /// Payload bytes of a full segment.
    pub segment_size: u32,
    /// Initial window.
    pub initial_window: u64,
    /// Maximum window: the receive window.
    pub max_window: u64,
    /// Time between load factors, `t_p`.
    pub interval: Span,
    /// Gain of multiplicative increase, `kappa`.
    pub kappa: f64,
    /// Segments that additive increase adds in a typical round trip, `alpha`.
    pub alpha: f64,
    /// Typical round-trip time in seconds, `t_d`.
    pub typical_rtt: f64,
    /// Share of the window that remains after a cut at a load of one, `beta`.
    pub backoff: f64,
    /// Reduction of `backoff` for each unit of load above one.
    pub backoff_slope: f64,
    /// Upper limit of the additive increase.
    pub addition_limit: AdditionLimit,
    /// Whether multiplicative increase is limited for large windows.
    pub limits_multiplication: bool,
    /// Whether fractions of a segment are carried over to the window of the next round trip.
    pub carries_fractions: bool,
}

/// Upper limit of the additive increase per acknowledged segment.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdditionLimit {
    /// A cut at a load of one, `1 - backoff` of the window in a round trip.
    #[default]
    Cut,
    /// Table of VCP's program: a tenth of a segment at a window of one, down to a fiftieth at 1000.
    Table,
    /// No limit.
    None,
}

/// Response of a sender to a load.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Response {
    /// Multiplicative increase by `xi` per interval of routers.
    Multiply(f64),
    /// Additive increase.
    Add,
    /// Multiplicative decrease to this share.
    Cut(f64),
}

/// Congestion controller of BMCC and VCP.
pub(crate) struct LoadSender {
    options: LoadSenderOptions,
    window: f64,
    /// Smoothed round-trip time in seconds, with a weight of 1/8 for new samples.
    srtt: Option<f64>,
    /// Time until which the window does not change after a cut.
    frozen_until: Time,
    /// Time until which the window is not cut again.
    uncut_until: Time,
    recovering: bool,
    /// Bytes of the window that are not acknowledged yet in this round trip.
    round_left: f64,
    /// Bytes of a segment that earlier windows did not use, below a segment.
    carried: f64,
    /// Bytes that the window of this round trip has in addition: none or a segment.
    extra: f64,
    /// Bytes that the current acknowledgement covers.
    acked: u64,
    /// Load of the acknowledgements' path, where routers mark acknowledgements.
    ack_path_load: LoadEcho,
}

/// Upper limit of the round-trip time in multiplicative increase, in intervals.
const MAX_INTERVALS: f64 = 2.5;
/// Round-trip time in seconds below which additive increase is in proportion to it, and above which in
/// proportion to its square.
const LINEAR_BELOW: f64 = 0.02;
/// Round-trip time in seconds above which additive increase grows by a segment per typical round-trip time.
const LINEAR_ABOVE: f64 = 0.5;
/// Time between packets, in seconds, above which a window is paced.
const SPARSE_SPACING: f64 = 0.1;
/// Maximum number of segments of a paced window.
const MAX_SPARSE_WINDOW: f64 = 64.0;
/// Clock step of the authors' program. The window does not change for whole steps after a cut.
const TICK: Span = Span::from_ms(10);

impl LoadSender {
    /// Creates a controller with the initial window.
    pub(crate) fn new(options: LoadSenderOptions) -> LoadSender {
        LoadSender {
            window: options.initial_window as f64,
            srtt: None,
            frozen_until: Time::ZERO,
            uncut_until: Time::ZERO,
            recovering: false,
            round_left: 0.0,
            carried: 0.0,
            extra: 0.0,
            acked: 0,
            ack_path_load: LoadEcho::default(),
            options,
        }
    }

    fn segment(&self) -> f64 {
        f64::from(self.options.segment_size)
    }

    fn segments(&self) -> f64 {
        self.window / self.segment()
    }

    /// Returns the upper limit of the window.
    fn max_window(&self) -> f64 {
        (self.options.max_window as f64).max(self.segment())
    }

    /// Returns the response to the feedback of an acknowledgement. `reverse` is the load factor of the
    /// acknowledgement's own path in header units; the larger of both counts.
    fn response(&self, feedback: &HeaderBytes, reverse: Option<u16>) -> Option<Response> {
        let LoadSenderOptions { kappa, backoff, backoff_slope, .. } = self.options;
        let multiply = |load: f64| Response::Multiply((kappa * (1.0 - load) / load).min(1.0));
        if let Some(LoadHeader { load }) = feedback.parse() {
            let load = LoadHeader { load: load.max(reverse.unwrap_or(0)) }.load();
            return Some(match load {
                load if load < HIGH_LOAD => multiply(load),
                load if load < 1.0 => Response::Add,
                load => Response::Cut((backoff - backoff_slope * (load - 1.0)).max(0.5)),
            });
        }
        match Ecn::from_bits(feedback.parse::<MarkHeader>()?.mark) {
            Ecn::NotCapable => None,
            Ecn::Ect1 => Some(multiply(HIGH_LOAD)),
            Ecn::Ect0 => Some(Response::Add),
            Ecn::CongestionExperienced => Some(Response::Cut(backoff)),
        }
    }

    /// Returns the growth by multiplication over a round trip, `xi_s = (1 + xi)^(rtt / t_p) - 1`.
    fn multiplicative_growth(&self, xi: f64, rtt: f64) -> f64 {
        let xi =
            if self.options.limits_multiplication { xi.min(increase_limit(self.segments())) } else { xi };
        let rounds = (rtt / self.options.interval.seconds()).min(MAX_INTERVALS);
        (1.0 + xi).powf(rounds) - 1.0
    }

    /// Returns the segments that addition adds in a round trip, `alpha_s = alpha (rtt / t_d)^2`, which
    /// equalises rates instead of windows.
    fn additive_increase(&self, rtt: f64) -> f64 {
        let typical = self.options.typical_rtt;
        let squared = |rtt: f64| (rtt / typical).powi(2);
        let scale = match rtt {
            rtt if rtt < LINEAR_BELOW => squared(LINEAR_BELOW) * rtt / LINEAR_BELOW,
            rtt if rtt > LINEAR_ABOVE => squared(LINEAR_ABOVE) + (rtt - LINEAR_ABOVE) / typical,
            rtt => squared(rtt),
        };
        self.options.alpha * scale
    }

    /// Opens the window by `alpha_s / w` segments for each segment acknowledged, up to the limit. A queue
    /// lengthens round trips, and the increase grows with their square.
    fn add(&mut self, rtt: f64) {
        let share = self.additive_increase(rtt) / self.segments();
        let most = match self.options.addition_limit {
            AdditionLimit::Cut => 1.0 - self.options.backoff,
            AdditionLimit::Table => addition_limit(self.segments()),
            AdditionLimit::None => f64::INFINITY,
        };
        self.open_window(share.min(most));
    }

    /// Opens the window by a share of a segment for each segment acknowledged.
    fn open_window(&mut self, share: f64) {
        let by = share * self.acked as f64;
        self.window = (self.window + by).min(self.max_window());
    }

    /// Counts the acknowledged bytes of a round trip. At its end, the window's fraction of a segment is
    /// carried over, and fractions that add up to a segment open the next window by that segment.
    fn carry_fraction(&mut self) {
        self.round_left -= self.acked as f64;
        if self.round_left > 0.0 {
            return;
        }
        let segment = self.segment();
        let carried = self.carried + self.window % segment;
        self.extra = if carried < segment { 0.0 } else { segment };
        self.carried = carried - self.extra;
        self.round_left = ((self.window + self.extra) / segment).floor() * segment;
    }

    fn cut_window(&mut self, now: Time, share: f64, rtt: f64) {
        self.window = (self.window * share).max(self.segment());
        self.frozen_until = now + Span::from_ns(self.options.interval.ns().next_multiple_of(TICK.ns()));
        self.uncut_until = self.frozen_until + Span::from_seconds(rtt);
    }
}

/// Returns the upper limit of the multiplicative increase at a window of this size: 1 at one segment, 0.5 at
/// 10, 0.2 at 100 and 0.1 at 1000.
fn increase_limit(segments: f64) -> f64 {
    interpolated(segments, [1.0, 0.5, 0.2, 0.1])
}

/// Returns the upper limit of the additive increase per acknowledgement, in segments: 0.1 at a window of one,
/// 0.02 at 1000.
fn addition_limit(segments: f64) -> f64 {
    let steps = segments.clamp(1.0, 1_000.0).log10() / 3.0;
    0.1 * 0.2f64.powf(steps)
}

/// Interpolates between the values at 1, 10, 100 and 1000 segments, linearly in the logarithm.
fn interpolated(segments: f64, values: [f64; 4]) -> f64 {
    let place = segments.clamp(1.0, 1_000.0).log10();
    let left = (place as usize).min(2);
    values[left] + (place - left as f64) * (values[left + 1] - values[left])
}

impl Controller for LoadSender {
    fn allowance(&self) -> Allowance {
        let pace = self.srtt.and_then(|srtt| {
            let is_sparse = self.segments() <= MAX_SPARSE_WINDOW && srtt / self.segments() > SPARSE_SPACING;
            is_sparse.then(|| Rate::from_bps((self.window * 8.0 / srtt).max(8.0) as u64))
        });
        Allowance { window: (self.window + self.extra).min(self.max_window()) as u64, pace }
    }

    fn on_ack(&mut self, ack: &AckInfo) {
        self.acked = ack.advance.unwrap_or(0);
        if self.options.carries_fractions {
            self.carry_fraction();
        }
    }

    fn on_feedback(&mut self, returned: &Returned) {
        if let Some(rtt) = returned.rtt {
            self.srtt = Some(smoothed(self.srtt, rtt));
        }
        let now = returned.now;
        self.ack_path_load.note(returned.segment);
        let response = self.response(&returned.segment.feedback, self.ack_path_load.load());
        let (Some(response), Some(rtt)) = (response, self.srtt) else { return };
        if self.recovering {
            return;
        }
        match response {
            Response::Cut(share) if now >= self.uncut_until => self.cut_window(now, share, rtt),
            Response::Cut(_) if now < self.frozen_until => {}
            // An unused window is no evidence of the path's capacity.
            _ if returned.app_limited => {}
            Response::Multiply(xi) => self.open_window(self.multiplicative_growth(xi, rtt)),
            Response::Add | Response::Cut(_) => self.add(rtt),
        }
        self.acked = 0;
    }

    fn on_acked(&mut self, _acked: &Acked) {}

    /// Halves the window after duplicate acknowledgements and sets one segment after a timeout, as TCP.
    /// Feedback then continues.
    fn on_lost(&mut self, lost: &Lost) {
        let left = match lost.kind {
            LossKind::DuplicateAcks => self.window / 2.0,
            LossKind::Timeout { .. } => 0.0,
        };
        self.recovering = lost.kind == LossKind::DuplicateAcks;
        (self.carried, self.extra) = (0.0, 0.0);
        self.window = left.max(self.segment());
    }

    fn on_recovered(&mut self, recovered: &Recovered) {
        self.recovering = false;
        // Data acknowledged during recovery opens no window afterwards.
        self.acked = 0;
        self.window = self.window.min(recovered.window as f64).max(self.segment());
    }

    fn on_idle(&mut self, _now: Time) {
        self.window = self.window.min(self.options.initial_window as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Segment;

    /// Returns options with a window of 10 segments of 1000 bytes.
    pub(super) fn options() -> LoadSenderOptions {
        LoadSenderOptions {
            segment_size: 1_000,
            initial_window: 10_000,
            max_window: 1_000_000,
            interval: Span::from_ms(200),
            kappa: 0.35,
            alpha: 1.0,
            typical_rtt: 0.1,
            backoff: 0.875,
            backoff_slope: 0.0,
            addition_limit: AdditionLimit::Table,
            limits_multiplication: false,
            carries_fractions: false,
        }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn load(load: f64) -> HeaderBytes {
        HeaderBytes::of(&LoadHeader { load: (load * LoadHeader::UNIT).round() as u16 })
    }

    /// Acknowledges this many bytes, 100 ms after they were sent.
    fn acknowledge(sender: &mut LoadSender, now: Time, bytes: u64, feedback: HeaderBytes) {
        sender.on_ack(&AckInfo { now, advance: Some(bytes) });
        let rtt = Some(Span::from_ms(100));
        let segment = Segment { feedback, ..Segment::default() };
        sender.on_feedback(&Returned { now, segment: &segment, rtt, app_limited: false });
    }

    #[test]
    fn multiplicative_increase_is_scaled_by_the_round_trip() {
        let bmcc = LoadSender::new(options());
        let Some(Response::Multiply(xi)) = bmcc.response(&load(0.5), None) else { panic!() };
        assert!((xi - 0.35).abs() < 1e-12);
        assert!((bmcc.multiplicative_growth(xi, 0.1) - 0.161_90).abs() < 5e-6);
        let vcp =
            LoadSender::new(LoadSenderOptions { kappa: 0.25, limits_multiplication: true, ..options() });
        let Some(Response::Multiply(xi)) =
            vcp.response(&HeaderBytes::of(&MarkHeader { mark: Ecn::Ect1.bits() }), None)
        else {
            panic!()
        };
        assert!((xi - 0.0625).abs() < 1e-12);
        assert!((vcp.multiplicative_growth(xi, 0.1) - 0.030_78).abs() < 5e-6);
        assert!((vcp.multiplicative_growth(xi, 10.0) - (1.0625f64.powf(2.5) - 1.0)).abs() < 1e-12);
        // On an idle path the window at most doubles.
        assert_eq!(bmcc.response(&load(0.0), None), Some(Response::Multiply(1.0)));
        assert_eq!(bmcc.response(&load(0.1), None), Some(Response::Multiply(1.0)));
    }

    /// Ten acknowledgements of one segment are a round trip and multiply the window by 1.1619 in total.
    #[test]
    fn a_round_trip_of_acknowledgements_multiplies_once() {
        for bytes in [1_000, 2_000, 10_000] {
            let mut sender = LoadSender::new(options());
            (0..10_000 / bytes).for_each(|_| acknowledge(&mut sender, ms(0), bytes, load(0.5)));
            assert!((sender.window - 11_619.0).abs() < 1.0, "{bytes}: {}", sender.window);
        }
    }

    #[test]
    fn additive_increase_by_the_square_of_the_round_trip_and_linear_at_both_ends() {
        let sender = LoadSender::new(options());
        for (rtt, segments) in
            [(0.1, 1.0), (0.05, 0.25), (0.02, 0.04), (0.01, 0.02), (0.5, 25.0), (1.0, 30.0)]
        {
            assert!((sender.additive_increase(rtt) - segments).abs() < 1e-9, "{rtt}");
        }
        for (window, most) in [(1.0, 0.1), (1_000.0, 0.02), (1e6, 0.02)] {
            assert!((addition_limit(window) - most).abs() < 1e-12);
        }
        for (window, most) in [(1.0, 1.0), (10.0, 0.5), (100.0, 0.2), (1_000.0, 0.1), (31.622_776_6, 0.35)] {
            assert!((increase_limit(window) - most).abs() < 1e-6, "{window}");
        }
    }

    /// A constant load of 1.05 gives a cut, 200 ms without a change, a round trip of 100 ms without a cut,
    /// and the next cut.
    #[test]
    fn a_constant_overload_cuts_once_per_interval_and_round_trip() {
        let mut sender = LoadSender::new(LoadSenderOptions { initial_window: 500_000, ..options() });
        let mut cuts = Vec::new();
        for at in 0..1_000 {
            let before = sender.window;
            acknowledge(&mut sender, ms(at), 1_000, load(1.05));
            if sender.window < before {
                assert!((sender.window - 0.875 * before).abs() < 1e-6);
                cuts.push(at);
            } else {
                let is_frozen = cuts.last().is_some_and(|cut| at < cut + 200);
                assert_eq!(sender.window > before, !is_frozen, "at {at} ms");
            }
        }
        assert_eq!(cuts, [0, 300, 600, 900]);
    }

    /// Additive increase by one acknowledgement of 1000 bytes is alpha / w of a segment. With the limit it is
    /// at most a tenth of a segment at a window of one, and 0.2^(1/3) = 0.585 of that at ten.
    #[test]
    fn one_acknowledgement_adds_alpha_over_the_window() {
        for (alpha, addition_limit, segments, expected) in [
            (0.1, AdditionLimit::Cut, 1, 100.0),
            (0.1, AdditionLimit::Cut, 2, 50.0),
            (0.1, AdditionLimit::Cut, 10, 10.0),
            (1.0, AdditionLimit::Cut, 10, 100.0),
            // At most a cut, 1 - 0.875 of the window per window.
            (1.0, AdditionLimit::Cut, 2, 125.0),
            (1.0, AdditionLimit::None, 2, 500.0),
            (1.0, AdditionLimit::Table, 1, 100.0),
            (1.0, AdditionLimit::Table, 10, 58.48),
        ] {
            let initial_window = 1_000 * segments;
            let options = LoadSenderOptions { initial_window, alpha, addition_limit, ..options() };
            let mut sender = LoadSender::new(options);
            acknowledge(&mut sender, ms(0), 1_000, load(0.9));
            let added = sender.window - initial_window as f64;
            assert!((added - expected).abs() < 0.01, "{alpha} {addition_limit:?} {segments}: {added}");
        }
    }

    /// Only overload leaves a window unchanged after a cut.
    #[test]
    fn a_lower_load_opens_the_window_at_once() {
        let mut sender = LoadSender::new(options());
        acknowledge(&mut sender, ms(0), 1_000, load(1.05));
        let cut = sender.window;
        acknowledge(&mut sender, ms(10), 1_000, load(1.05));
        assert!((sender.window - cut).abs() < 1e-9);
        acknowledge(&mut sender, ms(20), 1_000, load(0.9));
        assert!(sender.window > cut);
    }

    #[test]
    fn the_remaining_share_may_depend_on_the_load() {
        let cut = |slope: f64, of: f64| {
            let sender = LoadSender::new(LoadSenderOptions { backoff_slope: slope, ..options() });
            let Some(Response::Cut(left)) = sender.response(&load(of), None) else { panic!() };
            left
        };
        assert!((cut(0.0, 1.1) - 0.875).abs() < 1e-9);
        assert!((cut(0.5, 1.1) - 0.825).abs() < 1e-9);
        assert!((cut(5.0, 1.19) - 0.5).abs() < 1e-9);
    }

    /// A window of 1.4 segments has two segments in two of five round trips, so that all five send seven.
    #[test]
    fn fractions_of_a_segment_are_carried_over() {
        let sent = |carries_fractions: bool, initial_window: u64| -> Vec<u64> {
            let options = LoadSenderOptions { initial_window, carries_fractions, ..options() };
            let mut sender = LoadSender::new(options);
            let round = |_| {
                let segments = sender.allowance().window / 1_000;
                (0..segments).for_each(|_| sender.on_ack(&AckInfo { now: ms(0), advance: Some(1_000) }));
                segments
            };
            (0..11).map(round).collect()
        };
        assert_eq!(sent(true, 1_400), [1, 1, 1, 2, 1, 2, 1, 1, 2, 1, 2]);
        assert_eq!(sent(false, 1_400), [1; 11]);
        assert_eq!(sent(true, 2_000), [2; 11], "a whole window has no fraction");
        let options = LoadSenderOptions { max_window: 1_400, initial_window: 1_400, ..options() };
        let mut full = LoadSender::new(LoadSenderOptions { carries_fractions: true, ..options });
        (0..9).for_each(|at| acknowledge(&mut full, ms(at), 1_000, load(0.5)));
        assert_eq!(full.allowance().window, 1_400, "the receive window is the limit");
    }

    #[test]
    fn losses_halve_and_recovery_opens_nothing() {
        let mut sender = LoadSender::new(options());
        let lost = |kind| Lost { now: ms(0), kind, in_flight: 10_000 };
        sender.on_lost(&lost(LossKind::DuplicateAcks));
        acknowledge(&mut sender, ms(1), 4_000, load(0.1));
        assert_eq!(sender.allowance().window, 5_000);
        sender.on_ack(&AckInfo { now: ms(2), advance: Some(6_000) });
        sender.on_recovered(&Recovered { now: ms(2), in_flight: 0, window: 5_000 });
        let segment = Segment { feedback: load(0.1), ..Segment::default() };
        sender.on_feedback(&Returned { now: ms(2), segment: &segment, rtt: None, app_limited: false });
        assert_eq!(sender.allowance().window, 5_000);
        sender.on_lost(&lost(LossKind::Timeout { again: false }));
        assert_eq!(sender.allowance().window, 1_000);
        acknowledge(&mut sender, ms(3), 1_000, load(0.1));
        assert!(sender.allowance().window > 1_000);
    }

    #[test]
    fn a_sparse_window_is_paced() {
        let mut sender = LoadSender::new(LoadSenderOptions { initial_window: 1_000, ..options() });
        assert_eq!(sender.allowance().pace, None);
        acknowledge(&mut sender, ms(0), 0, load(0.9));
        assert_eq!(sender.allowance().pace, None, "a segment in 100 ms");
        sender.srtt = Some(0.2);
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps(40_000)));
    }

    /// Two segments in 300 ms would be 150 ms apart, more than 100 ms, so they are paced at 16 kb in 300 ms.
    /// Four segments would be 75 ms apart.
    #[test]
    fn sparse_windows_are_paced() {
        let mut sender = LoadSender::new(LoadSenderOptions { initial_window: 2_000, ..options() });
        assert_eq!(sender.allowance(), Allowance { window: 2_000, pace: None }, "no round-trip sample yet");
        sender.srtt = Some(0.3);
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps(53_333)));
        sender.window = 4_000.0;
        assert_eq!(sender.allowance().pace, None);
        // 64 segments in 6.5 s are paced. 65 segments are not paced, whatever the round-trip time is.
        (sender.window, sender.srtt) = (64_000.0, Some(6.5));
        assert_eq!(sender.allowance().pace, Some(Rate::from_bps(78_769)));
        (sender.window, sender.srtt) = (65_000.0, Some(60.0));
        assert_eq!(sender.allowance().pace, None);
    }
}
