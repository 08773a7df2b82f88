//! `app = { kind = "video", ... }`.

use crate::document::{Document, KeyPath, Result};
use crate::error::FlowProblem;
use crate::values::Switch;
use multihop_config::quantity::{BitRate, Duration};
use multihop_sim::config::VideoConfig;

/// Keys of a video, as given in the file.
pub(super) struct Video {
    pub(super) frame_rate: f64,
    pub(super) rate: BitRate,
    pub(super) min_rate: Option<BitRate>,
    pub(super) deadline: Duration,
    pub(super) gop: u32,
    pub(super) key_ratio: Option<f64>,
    pub(super) variation: f64,
    pub(super) buffer: Option<Switch<Duration>>,
}

/// Default frame rate per second: that of television in most of the world.
pub(super) fn television() -> f64 {
    25.0
}

/// Default number of frames in a group of pictures: key frames do not differ from others.
pub(super) fn alone() -> u32 {
    1
}

/// Default of `key_ratio` where `gop` is above 1.
pub(super) const KEY_RATIO: f64 = 4.0;

impl Video {
    /// Video of the table at `at`.
    pub(super) fn resolve(self, document: &Document<'_>, at: &KeyPath) -> Result<VideoConfig> {
        let Video { frame_rate, rate, deadline, gop, variation, .. } = self;
        let (rate_bps, deadline) = (rate.0, deadline.span());
        if let (1, Some(_)) = (gop, self.key_ratio) {
            return Err(document.error(&at.join("key_ratio"), FlowProblem::NoKeyFrames));
        }
        let usual = if gop == 1 { 1.0 } else { KEY_RATIO };
        let key_ratio = self.key_ratio.unwrap_or(usual);
        let waits = match self.buffer {
            None => Some(deadline),
            Some(Switch::Off) => None,
            Some(Switch::At(buffer)) => Some(buffer.span()),
        };
        let buffer = waits.map(|waits| (waits.seconds() * rate_bps / 8.0) as u64);
        let min_rate_bps = self.min_rate.map(|rate| rate.0);
        if min_rate_bps.is_some_and(|least| least > rate_bps) {
            return Err(document.error(&at.join("min_rate"), FlowProblem::MinRateAbove { rate }));
        }
        let video =
            VideoConfig { frame_rate, rate_bps, min_rate_bps, gop, key_ratio, variation, deadline, buffer };
        let least = video.least_mean_frame() * min_rate_bps.map_or(1.0, |least| least / rate_bps);
        if least < 1.0 {
            let key = if min_rate_bps.is_some() { "min_rate" } else { "rate" };
            return Err(document.error(&at.join(key), FlowProblem::FramesTooSmall { bytes: least }));
        }
        if video.least_mean_frame() * key_ratio > f64::from(u32::MAX) {
            return Err(document.error(&at.join("rate"), FlowProblem::FramesTooLarge));
        }
        Ok(video)
    }
}
