//! Counters for streaming: variation of the sending rate, jitter, and the outcome of video frames.

mod video;

use super::Recorder;
use crate::config::{AppConfig, Config};
use crate::outcome::VideoOutcome;
use multihop_core::{FlowId, Packet, Port, Span, Time};
use multihop_transport::Delivered;
use video::VideoCounters;

/// Interval in which bytes sent are counted.
const RATE_INTERVAL: Span = Span::from_ms(1_000);

/// Streaming counters of a flow.
#[derive(Clone, Debug, Default)]
pub struct MediaCounters {
    sending: RateCounters,
    jitter: JitterCounters,
    video: Option<VideoCounters>,
}

/// Bytes that a transport sent in each interval, as sums from which their variation follows.
#[derive(Clone, Copy, Debug, Default)]
struct RateCounters {
    origin: Time,
    /// Number of whole intervals since the origin.
    intervals: u64,
    /// Number of the present interval, and bytes sent in it.
    present: u64,
    bytes: u64,
    /// Sums of bytes and of their squares over the earlier intervals.
    sum: u128,
    squares: u128,
}

/// Interarrival jitter (RFC 3550, section 6.4.1): difference of the transit times of consecutive packets,
/// smoothed with a gain of 1/16.
#[derive(Clone, Copy, Debug, Default)]
struct JitterCounters {
    transit: Option<Span>,
    jitter_s: f64,
    /// Sum of the jitter over the arrivals after the warm-up.
    sum_s: f64,
    count: u64,
}

impl Recorder {
    /// Adds streaming counters of the flows, from their start or the end of the warm-up until they stop.
    #[must_use]
    pub fn with_media(mut self, config: &Config) -> Recorder {
        let end = Time::ZERO + config.duration;
        for (counters, flow) in self.media.iter_mut().zip(&config.traffic.flows) {
            let origin = self.from.max(Time::ZERO + flow.start);
            let end = flow.stop.map_or(end, |stop| end.min(Time::ZERO + stop));
            counters.sending = RateCounters::new(origin, end);
            counters.video = match flow.app {
                AppConfig::Video(video) => Some(VideoCounters::new(&video)),
                _ => None,
            };
        }
        self
    }

    /// Counts a packet that a transport sent.
    pub fn media_sent(&mut self, packet: &Packet, now: Time) {
        if packet.port == Port::Receiver && packet.carries_data() {
            for flow in self.sent_by(packet.flow) {
                self.media[flow.index()].sending.add(u64::from(packet.segment.payload), now);
            }
        }
    }

    /// Counts a packet that reached the other end, and the bytes that its endpoint delivered to the
    /// application.
    pub fn media_delivered(&mut self, packet: &Packet, delivered: Delivered, now: Time) {
        if packet.port != Port::Receiver || !packet.carries_data() {
            return;
        }
        let counts = self.counts(now);
        let counters = &mut self.media[packet.flow.index()];
        counters.jitter.arrived(packet.age(now), counts);
        if let Some(video) = &mut counters.video {
            video.delivered(delivered, now);
        }
    }

    /// Records a video frame of `bytes` bytes; zero bytes if it was skipped.
    pub fn frame_made(&mut self, flow: FlowId, bytes: u64, now: Time) {
        for flow in self.sent_by(flow) {
            if let Some(video) = &mut self.media[flow.index()].video {
                video.made(bytes, now);
            }
        }
    }

    /// Coefficient of variation of the bytes that the transport of a flow sent per second; none without two
    /// whole seconds, or if nothing was sent in them.
    pub fn rate_cv(&self, flow: usize) -> Option<f64> {
        self.media[flow].sending.variation()
    }

    /// Mean interarrival jitter of the data packets of a flow in seconds; none without two arrivals.
    pub fn jitter_s(&self, flow: usize) -> Option<f64> {
        self.media[flow].jitter.mean()
    }

    /// Outcome of the frames of a flow's video up to `end`, if the flow has a video.
    pub fn video_outcome(&self, flow: usize, end: Time) -> Option<VideoOutcome> {
        self.media[flow].video.as_ref().map(|video| video.outcome(|made| self.counts(made), end))
    }
}

impl RateCounters {
    fn new(origin: Time, end: Time) -> RateCounters {
        let length = if end > origin { end - origin } else { Span::ZERO };
        RateCounters { origin, intervals: length.whole(RATE_INTERVAL), ..RateCounters::default() }
    }

    fn add(&mut self, bytes: u64, now: Time) {
        if now < self.origin {
            return;
        }
        let interval = (now - self.origin).whole(RATE_INTERVAL);
        if interval >= self.intervals {
            return;
        }
        if interval > self.present {
            let sent = u128::from(std::mem::take(&mut self.bytes));
            self.sum += sent;
            self.squares += sent * sent;
            self.present = interval;
        }
        self.bytes += bytes;
    }

    fn variation(&self) -> Option<f64> {
        let last = u128::from(self.bytes);
        let (sum, squares) = (self.sum + last, self.squares + last * last);
        if self.intervals < 2 || sum == 0 {
            return None;
        }
        // n^2 times the variance, in whole numbers.
        let spread = u128::from(self.intervals) * squares - sum * sum;
        Some((spread as f64).sqrt() / sum as f64)
    }
}

impl JitterCounters {
    fn arrived(&mut self, transit: Span, counts: bool) {
        if let Some(before) = self.transit.replace(transit) {
            let difference = transit.seconds() - before.seconds();
            self.jitter_s += (difference.abs() - self.jitter_s) / 16.0;
            if counts {
                self.sum_s += self.jitter_s;
                self.count += 1;
            }
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_s / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    /// From 2 s to 6.5 s are four seconds, in which 0, 3, 0 and 1 packets of 1000 bytes are sent: a mean of
    /// 1000, a mean square of 2.5 million, a variance of 1.5.
    #[test]
    fn the_sending_rate_varies_over_whole_seconds() {
        let mut counters = RateCounters::new(at(2_000), at(6_500));
        for ms in [1_999, 3_000, 3_500, 3_999, 5_000, 6_000, 6_499] {
            counters.add(1_000, at(ms));
        }
        assert!((counters.variation().unwrap() - 1.5f64.sqrt()).abs() < 1e-12, "{counters:?}");
    }

    #[test]
    fn an_even_rate_has_no_variation_and_silence_has_none_to_state() {
        let mut counters = RateCounters::new(at(0), at(10_000));
        assert_eq!(counters.variation(), None);
        (0..100).for_each(|packet| counters.add(500, at(100 * packet)));
        assert_eq!(counters.variation(), Some(0.0));
        let mut short = RateCounters::new(at(0), at(1_999));
        short.add(500, at(10));
        assert_eq!(short.variation(), None, "one interval has no variation");
        assert_eq!(RateCounters::new(at(5), at(3)).variation(), None, "it stops before counting begins");
    }

    /// Transit times of 10, 26, 10 and 10 ms: differences of 16, 16 and 0, so that the jitter is 1, 1.9375
    /// and 1.81640625 ms.
    #[test]
    fn jitter_is_that_of_rtp() {
        let mut counters = JitterCounters::default();
        assert_eq!(counters.mean(), None);
        for (ms, counts) in [(10, true), (26, false), (10, true), (10, true)] {
            counters.arrived(Span::from_ms(ms), counts);
        }
        let expected = f64::midpoint(1.937_5e-3, 1.816_406_25e-3);
        assert!((counters.mean().unwrap() - expected).abs() < 1e-12, "{counters:?}");
    }
}
