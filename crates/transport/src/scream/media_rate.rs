//! Rate of the encoder, and of packets, from the reference window (sections 4.3.2 and 4.4).

/// Bytes of headers per packet (`PACKET_OVERHEAD`).
const PACKET_OVERHEAD: f64 = 20.0;
/// Gain by which waiting data lowers the rate (`RATE_ADJUST_GAIN`), and the maximum of the correction.
const WAITING_GAIN: f64 = 1.0 / 16.0;
const MAX_WAITING: f64 = 0.5;
/// Weight of a frame in the mean excess of frame sizes (`FRAME_SIZE_DEV_ALPHA`), and its maximum.
const EXCESS_WEIGHT: f64 = 1.0 / 64.0;
const MAX_EXCESS: f64 = 0.2;
/// Initial frame period in seconds, and weight of a period in its estimate. The draft has no estimator.
const FIRST_PERIOD: f64 = 0.02;
const PERIOD_WEIGHT: f64 = 1.0 / 8.0;
/// Ratio of the window's rate to the target without further corrections.
const MARGIN: f64 = 1.2;
/// Minimum pace in bytes per second (`RATE_PACE_MIN`), ratio of the pace to the target
/// (`PACKET_PACING_HEADROOM`), maximum of a further ratio (`MAX_RELAXED_PACING_FACTOR`), and share of the
/// maximum rate from which on it applies (`RELAXED_PACING_LIMIT_LOW`).
const MIN_PACE: f64 = 6_250.0;
const PACE_HEADROOM: f64 = 1.5;
const MAX_RELAXED: f64 = 4.0;
const RELAXED_FROM: f64 = 0.8;

/// Media rate control.
#[derive(Clone, Copy, Debug)]
pub(super) struct MediaRate {
    min_rate: f64,
    max_rate: f64,
    segment: f64,
    /// Target rate in bytes per second (`target_bitrate`).
    rate: f64,
    /// Correction for waiting data (`rate_adjust_factor`).
    waiting: f64,
    /// Mean excess of frame sizes (`frame_size_dev`).
    excess: f64,
    /// Frame period in seconds, and time of the last frame.
    period: f64,
    last_frame: Option<f64>,
}

impl MediaRate {
    /// Creates a media rate control at its minimum rate. Rates are in bytes per second.
    pub(super) fn new(min_rate: f64, max_rate: f64, segment_size: u32) -> MediaRate {
        MediaRate {
            min_rate,
            max_rate,
            segment: f64::from(segment_size),
            rate: min_rate,
            waiting: 0.0,
            excess: 0.0,
            period: FIRST_PERIOD,
            last_frame: None,
        }
    }

    /// Target rate in bytes per second.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Pace of packets in bytes per second.
    pub(super) fn pacing_rate(&self) -> f64 {
        let above = (self.rate / self.max_rate - RELAXED_FROM) / (1.0 - RELAXED_FROM);
        let scale = (1.0 - above.min(1.0)).clamp(1.0 / MAX_RELAXED, 1.0);
        self.rate.max(MIN_PACE) * PACE_HEADROOM / scale
    }

    /// Processes a frame of `bytes` bytes, before which the oldest data has waited for `waiting` seconds.
    pub(super) fn on_frame(&mut self, now: f64, bytes: u64, waiting: f64) {
        if let Some(last) = self.last_frame.replace(now).filter(|last| now > *last) {
            self.period += PERIOD_WEIGHT * (now - last - self.period);
        }
        let error = (waiting - self.period / 4.0) / self.period;
        self.waiting = (self.waiting + WAITING_GAIN * error).clamp(0.0, MAX_WAITING);
        let nominal = self.rate * self.period;
        let excess = (bytes as f64 / nominal - 1.0).max(0.0);
        self.excess = (self.excess + EXCESS_WEIGHT * (excess - self.excess)).min(MAX_EXCESS);
    }

    /// Updates the target from the reference window in bytes and the round-trip time in seconds.
    pub(super) fn update(&mut self, window: f64, rtt: f64) {
        let small = ((self.segment / window).min(1.0) - 0.1).clamp(0.0, 0.2);
        let scale = (1.0 - small) * self.segment / (self.segment + PACKET_OVERHEAD);
        let rate = scale / (MARGIN + self.waiting + self.excess) * window / rtt;
        self.rate = rate.clamp(self.min_rate, self.max_rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn media() -> MediaRate {
        MediaRate::new(1e4, 1e6, 1_000)
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    }

    /// 20000 bytes per 50 ms are 400 kB/s. 5000 bytes are 5 segments: 1 - (0.2 - 0.1). 2000 bytes: 0.8.
    #[test]
    fn targets_by_hand() {
        let mut media = media();
        for (window, rtt, expected) in [
            (20_000.0, 0.05, 4e5 / 1.02 / 1.2),
            (5_000.0, 0.05, 1e5 * 0.9 / 1.02 / 1.2),
            (2_000.0, 0.05, 4e4 * 0.8 / 1.02 / 1.2),
            (2_000.0, 1.0, 1e4),
            (2e6, 0.01, 1e6),
        ] {
            media.update(window, rtt);
            assert_close(media.rate(), expected);
        }
    }

    /// Frames each 20 ms. Without waiting the correction stays 0. 25 ms of waiting are 1.25 periods, 1 more
    /// than a quarter: 1/16 for each frame.
    #[test]
    fn waiting_data_lowers_the_target() {
        let mut media = media();
        media.on_frame(1.0, 100, 0.0);
        media.on_frame(1.02, 100, 0.025);
        media.on_frame(1.04, 100, 0.025);
        assert_close(media.waiting, 0.125);
        media.update(20_000.0, 0.05);
        assert_close(media.rate(), 4e5 / 1.02 / 1.325);
        (0..20).for_each(|index| media.on_frame(1.06 + 0.02 * f64::from(index), 100, 0.025));
        assert_close(media.waiting, 0.5);
    }

    /// A frame of twice the nominal 10000 * 0.02 bytes has an excess of 1, of which 1/64 counts.
    #[test]
    fn large_frames_lower_the_target() {
        let mut media = media();
        media.on_frame(1.0, 400, 0.0);
        assert_close(media.excess, 1.0 / 64.0);
        media.on_frame(1.02, 1 << 60, 0.0);
        assert_eq!(media.excess, 0.2);
    }

    #[test]
    fn the_period_of_frames_is_estimated() {
        let mut media = media();
        (0..100).for_each(|index| media.on_frame(0.04 * f64::from(index), 100, 0.0));
        assert!((media.period - 0.04).abs() < 1e-6, "{}", media.period);
        let before = media.period;
        media.on_frame(0.04 * 99.0, 100, 0.0);
        assert_eq!(media.period, before, "at the same instant");
    }

    /// 1.5 times the target; up to 4 times that from 80 % to 95 % of the maximum.
    #[test]
    fn the_pace_is_relaxed_near_the_maximum() {
        for (rate, expected) in [(1e4, 1.5e4), (5e5, 7.5e5), (8e5, 1.2e6), (9e5, 1.35e6 * 2.0), (1e6, 6e6)] {
            let media = MediaRate { rate, ..media() };
            assert_close(media.pacing_rate(), expected);
        }
        let slow = MediaRate { rate: 1e3, ..media() };
        assert_close(slow.pacing_rate(), 9_375.0);
    }
}
