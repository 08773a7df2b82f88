//! Video source: frames at a fixed rate, in groups of pictures.

use multihop_core::{Rng, Span, Time};
use serde::Serialize;

/// Live video, encoded while it is sent, as by a camera.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VideoConfig {
    /// Frames per second.
    pub frame_rate: f64,
    /// Mean payload rate over a group of pictures, in bits per second; the maximum for an encoder that
    /// adapts.
    pub rate_bps: f64,
    /// Minimum rate of an encoder that adapts to the transport, in bits per second; none for a fixed rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate_bps: Option<f64>,
    /// Number of frames in a group of pictures: one key frame and the frames that encode differences. One if
    /// all frames are alike.
    pub gop: u32,
    /// Ratio of a key frame's size to another frame's size.
    pub key_ratio: f64,
    /// Coefficient of variation of lognormal frame sizes around the sizes of the pattern; 0 for none.
    pub variation: f64,
    /// Time from a frame's creation to its playback.
    pub deadline: Span,
    /// Backlog of the sender in bytes above which frames are skipped; none for no limit. At a lower rate of
    /// the encoder, the limit is lower in proportion.
    pub buffer: Option<u64>,
}

impl VideoConfig {
    /// Mean size in bytes of frames other than key frames.
    pub fn least_mean_frame(&self) -> f64 {
        let frame = self.rate_bps / 8.0 / self.frame_rate;
        frame * f64::from(self.gop) / (f64::from(self.gop) - 1.0 + self.key_ratio)
    }

    /// Rate of the encoder as a share of its mean or maximum rate, if the transport asks for `encoder_rate`
    /// payload bytes per second, or has no such rate.
    pub(super) fn rate_share(&self, encoder_rate: Option<f64>) -> f64 {
        match (self.min_rate_bps, encoder_rate) {
            (Some(least), Some(rate)) => (8.0 * rate).clamp(least, self.rate_bps) / self.rate_bps,
            _ => 1.0,
        }
    }

    /// Total bytes of the first `frames` frames before variation. Sizes are differences of these totals, so
    /// that rounding to whole bytes keeps the rate.
    fn bytes_of(&self, frames: u64) -> u64 {
        let key_frames = frames.div_ceil(u64::from(self.gop));
        let least_frames = frames as f64 + (self.key_ratio - 1.0) * key_frames as f64;
        (self.least_mean_frame() * least_frames).round() as u64
    }
}

/// Generator of the frames of a video.
#[derive(Clone, Debug, Default)]
pub(super) struct Camera {
    began: Option<Time>,
    /// Number of frames made so far.
    made: u64,
}

impl Camera {
    /// Makes a frame now, at this share of the mean or maximum rate. Returns its size in bytes and the time
    /// of the next frame. Frames stay on the grid of the frame rate.
    pub(super) fn frame(&mut self, video: &VideoConfig, share: f64, now: Time, rng: &mut Rng) -> (u64, Time) {
        let began = *self.began.get_or_insert(now);
        let before = video.bytes_of(self.made);
        self.made += 1;
        let bytes = (video.bytes_of(self.made) - before) as f64 * varied(video.variation, rng) * share;
        let next = began + Span::from_seconds(self.made as f64 / video.frame_rate);
        ((bytes.round() as u64).max(1), next.max(now + Span::from_ns(1)))
    }
}

/// Lognormal random number with mean 1 and this coefficient of variation.
fn varied(variation: f64, rng: &mut Rng) -> f64 {
    if variation == 0.0 {
        return 1.0;
    }
    let spread = (variation * variation).ln_1p().sqrt();
    // Normal random number by Box and Muller.
    let radius = (2.0 * rng.exponential(1.0)).sqrt();
    let normal = radius * (std::f64::consts::TAU * rng.unit()).cos();
    (spread * normal - 0.5 * spread * spread).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video() -> VideoConfig {
        VideoConfig {
            frame_rate: 30.0,
            rate_bps: 256_000.0,
            min_rate_bps: None,
            gop: 1,
            key_ratio: 1.0,
            variation: 0.0,
            deadline: Span::from_ms(400),
            buffer: None,
        }
    }

    /// Makes `count` frames: bytes, and seconds since the first.
    fn frames(video: &VideoConfig, count: usize) -> Vec<(u64, f64)> {
        let mut rng = Rng::at(1, &["video"]);
        let mut camera = Camera::default();
        let start = Time::from_ns(7);
        let mut now = start;
        let mut made = Vec::new();
        for _ in 0..count {
            let (bytes, next) = camera.frame(video, 1.0, now, &mut rng);
            made.push((bytes, (now - start).seconds()));
            now = next;
        }
        made
    }

    #[test]
    fn frames_come_at_their_rate_and_add_up_to_the_bit_rate() {
        let made = frames(&video(), 901);
        assert!((made[900].1 - 30.0).abs() < 1e-9, "rounding does not add up: {}", made[900].1);
        assert!(made.iter().all(|(bytes, _)| (1_066..=1_067).contains(bytes)));
        let half_a_minute: u64 = made[..900].iter().map(|(bytes, _)| bytes).sum();
        assert_eq!(half_a_minute, 256_000 / 8 * 30);
    }

    /// 12 frames in 0.4 s have 12 800 bytes: 11 of 800 and a key frame of 4000.
    #[test]
    fn a_group_of_pictures_begins_with_its_key_frame() {
        let made = frames(&VideoConfig { gop: 12, key_ratio: 5.0, ..video() }, 24);
        let sizes: Vec<u64> = made.iter().map(|(bytes, _)| *bytes).collect();
        let group: Vec<u64> = std::iter::once(4_000).chain([800; 11]).collect();
        assert_eq!(sizes, [group.clone(), group].concat());
    }

    /// From 64 to 256 kb/s. The transport asks for 16, 4 and 64 kB/s: 128, 32 and 512 kb/s.
    #[test]
    fn an_encoder_adapts_within_its_range() {
        let adaptive = VideoConfig { min_rate_bps: Some(64_000.0), ..video() };
        for (asked, share) in [(Some(16e3), 0.5), (Some(4e3), 0.25), (Some(64e3), 1.0), (None, 1.0)] {
            assert_eq!(adaptive.rate_share(asked), share, "{asked:?}");
            assert_eq!(video().rate_share(asked), 1.0, "a fixed rate");
        }
        let mut camera = Camera::default();
        let frame = camera.frame(&adaptive, 0.5, Time::ZERO, &mut Rng::at(1, &["video"])).0;
        assert_eq!(frame, 534, "half of 1067");
    }

    #[test]
    fn variation_keeps_the_mean() {
        let made = frames(&VideoConfig { variation: 0.5, ..video() }, 100_000);
        let count = made.len() as f64;
        let mean = made.iter().map(|(bytes, _)| *bytes as f64).sum::<f64>() / count;
        let square = made.iter().map(|(bytes, _)| (*bytes as f64 - mean).powi(2)).sum::<f64>() / count;
        assert!((mean / 1_066.67 - 1.0).abs() < 0.01, "{mean}");
        assert!((square.sqrt() / mean - 0.5).abs() < 0.02, "{}", square.sqrt() / mean);
    }

    #[test]
    fn a_frame_has_a_byte_at_least() {
        let made = frames(&VideoConfig { rate_bps: 300.0, variation: 3.0, ..video() }, 1_000);
        assert!(made.iter().all(|(bytes, _)| *bytes >= 1));
    }
}
