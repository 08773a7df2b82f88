//! `app = { kind = "video", ... }`.

use crate::document::{Document, KeyPath, Result};
use crate::values::Switch;
use multihop_core::Span;
use multihop_schemes::quantity::{BitRate, Duration};
use multihop_sim::config::VideoConfig;

/// The keys of a video, as they were given.
pub(super) struct Video {
    pub(super) frame_rate: f64,
    pub(super) rate: BitRate,
    pub(super) deadline: Duration,
    pub(super) gop: u32,
    pub(super) key_ratio: Option<f64>,
    pub(super) variation: f64,
    pub(super) buffer: Option<Switch<Duration>>,
}

/// Frames of a second, by default: those of television in most of the world.
pub(super) fn television() -> f64 {
    25.0
}

/// Frames of a group of pictures that is none.
pub(super) fn alone() -> u32 {
    1
}

/// How many times larger a key frame is than others, where there are others.
const KEY_RATIO: f64 = 4.0;

impl Video {
    /// The video of the table at `at`.
    pub(super) fn resolve(self, document: &Document<'_>, at: &KeyPath) -> Result<VideoConfig> {
        let number = |key: &str, value: f64, least, most| document.between(&at.join(key), value, least, most);
        let frame_rate = number("frame_rate", self.frame_rate, "0.1", "1000 frames per second")?;
        let rate_bps = document.between(&at.join("rate"), self.rate, "1 b/s", "1000 Gb/s")?.0;
        let deadline = time(document, at, "deadline", self.deadline)?;
        let gop = document.count(&at.join("gop"), self.gop, 1, 100_000)?;
        if let (1, Some(_)) = (gop, self.key_ratio) {
            let remedy = "give gop, the number of frames from one key frame to the next, or remove the key";
            return Err(document.bad(&at.join("key_ratio"), "needs frames that are no key frames", remedy));
        }
        let usual = if gop == 1 { 1.0 } else { KEY_RATIO };
        let key_ratio = number("key_ratio", self.key_ratio.unwrap_or(usual), "1", "1000")?;
        let variation = number("variation", self.variation, "0", "10")?;
        let waits = match self.buffer {
            None => Some(deadline),
            Some(Switch::Off) => None,
            Some(Switch::At(buffer)) => Some(time(document, at, "buffer", buffer)?),
        };
        let buffer = waits.map(|waits| (waits.seconds() * rate_bps / 8.0) as u64);
        let video = VideoConfig { frame_rate, rate_bps, gop, key_ratio, variation, deadline, buffer };
        let least = video.least_mean_frame();
        if least < 1.0 {
            let why = format!("leaves {least:.2} B for a frame");
            let remedy = "a frame has a byte at least; raise the rate, or lower frame_rate or key_ratio";
            return Err(document.bad(&at.join("rate"), why, remedy));
        }
        if video.least_mean_frame() * key_ratio > f64::from(u32::MAX) {
            let remedy = "frames have up to 4 GB; lower the rate, or raise frame_rate";
            return Err(document.bad(&at.join("rate"), "makes frames too large", remedy));
        }
        Ok(video)
    }
}

/// A time that is not zero, nor longer than any that a player waits.
fn time(document: &Document<'_>, at: &KeyPath, key: &str, value: Duration) -> Result<Span> {
    document.between(&at.join(key), value, "1 ms", "1 h").map(Duration::span)
}
