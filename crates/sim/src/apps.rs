//! Applications: the traffic that flows send, and its times.

pub mod external;
mod video;

use crate::config::{AppConfig, FlowConfig};
use multihop_core::{Rng, Span, Time};
use video::Camera;

pub use video::VideoConfig;

/// Backlog in bytes of an unlimited source, more than any run can send.
const ENDLESS: u64 = 1 << 60;

/// Application at the sending end of a flow.
#[derive(Clone, Debug)]
pub struct App {
    kind: AppConfig,
    stop: Time,
    rng: Rng,
    /// Bytes handed to the transport so far.
    pushed: u64,
    /// Start of the present transfer, for applications with transfers.
    began: Option<Time>,
    left: u32,
    completed: Vec<Span>,
    follows_queue: bool,
    camera: Camera,
}

/// Result of an application's timer event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offer {
    /// Bytes to hand to the transport now.
    pub bytes: u64,
    /// Time of the application's next timer event.
    pub again: Option<Time>,
    /// Whether the application withdraws the bytes that the transport has not sent yet.
    pub withdraw: bool,
    /// Whether a video frame was made. A frame of no bytes is not sent.
    pub frame: bool,
}

impl App {
    /// Creates the application of a flow. `datagrams` is whether its transport sends every message at once.
    pub fn new(flow: &FlowConfig, datagrams: bool, rng: Rng) -> App {
        let left = match flow.app {
            AppConfig::Transfers { count, .. } => count.unwrap_or(u32::MAX),
            _ => 0,
        };
        let endless = matches!(flow.app, AppConfig::Saturated | AppConfig::Bulk { bytes: None });
        App {
            kind: flow.app,
            stop: flow.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
            rng,
            pushed: 0,
            began: None,
            left,
            completed: Vec::new(),
            follows_queue: endless && datagrams,
            camera: Camera::default(),
        }
    }

    /// Whether the application offers a datagram whenever the interface queue has room.
    pub fn follows_queue(&self, now: Time) -> bool {
        self.follows_queue && now < self.stop
    }

    /// Durations of the transfers completed so far, each from its start to the arrival of its last byte.
    pub fn completed(&self) -> &[Span] {
        &self.completed
    }

    /// Whether the application adapts its rate to the transport.
    pub fn adapts(&self) -> bool {
        matches!(self.kind, AppConfig::Video(video) if video.min_rate_bps.is_some())
    }

    /// Handles the application's timer. `backlog` is the number of bytes that the transport has not sent yet,
    /// `encoder_rate` the rate in payload bytes per second that it asks an encoder for, if it has one.
    pub fn on_time(&mut self, now: Time, backlog: u64, encoder_rate: Option<f64>) -> Offer {
        let offer = |bytes: u64, again: Option<Time>| Offer { bytes, again, ..Offer::default() };
        if now >= self.stop {
            // An unlimited source stops at once; other applications leave the bytes to the transport.
            let withdraw = matches!(self.kind, AppConfig::Saturated | AppConfig::Bulk { bytes: None });
            return Offer { withdraw, ..Offer::default() };
        }
        let stop = Some(self.stop).filter(|stop| *stop < Time::NEVER);
        let offer = match self.kind {
            AppConfig::External => offer(0, None),
            AppConfig::Saturated | AppConfig::Bulk { bytes: None } if self.follows_queue => offer(0, None),
            AppConfig::Saturated | AppConfig::Bulk { bytes: None } if self.pushed > 0 => offer(0, stop),
            AppConfig::Saturated | AppConfig::Bulk { bytes: None } => offer(ENDLESS, stop),
            AppConfig::Bulk { bytes: Some(bytes) } => {
                self.began = Some(now);
                offer(bytes, None)
            }
            AppConfig::Cbr { rate, packet, jitter } => {
                let interval = rate.span_of_bytes(u64::from(packet));
                let varied = interval.seconds() * (1.0 + jitter * (2.0 * self.rng.unit() - 1.0));
                let wait = if jitter > 0.0 { Span::from_seconds(varied) } else { interval };
                offer(u64::from(packet), Some(now + wait.max(Span::from_ns(1))))
            }
            AppConfig::Poisson { rate, packet } => {
                let mean = rate.span_of_bytes(u64::from(packet)).seconds();
                let wait = Span::from_seconds(self.rng.exponential(mean));
                offer(u64::from(packet), Some(now + wait.max(Span::from_ns(1))))
            }
            AppConfig::Transfers { bytes, exponential, .. } => {
                self.left -= 1;
                self.began = Some(now);
                let size = if exponential { self.rng.exponential(bytes as f64).ceil() as u64 } else { bytes };
                offer(size.max(1), None)
            }
            AppConfig::Video(video) => {
                let share = video.rate_share(encoder_rate);
                let (bytes, next) = self.camera.frame(&video, share, now, &mut self.rng);
                let waits_too_long = video.buffer.is_some_and(|most| backlog as f64 > most as f64 * share);
                Offer { frame: true, ..offer(if waits_too_long { 0 } else { bytes }, Some(next)) }
            }
        };
        self.pushed += offer.bytes;
        offer
    }

    /// Handles `acked` bytes acknowledged in total; `arrived` is the time at which the receiver's application
    /// got its last byte. Returns the start of the next transfer, if a transfer ended and another follows.
    pub fn on_progress(&mut self, now: Time, acked: u64, arrived: Time) -> Option<Time> {
        if acked < self.pushed {
            return None;
        }
        let began = self.began.take()?;
        self.completed.push(arrived.max(began).since(began));
        let AppConfig::Transfers { pause, exponential, .. } = self.kind else { return None };
        if self.left == 0 {
            return None;
        }
        let wait =
            if exponential { Span::from_seconds(self.rng.exponential(pause.seconds())) } else { pause };
        Some(now + wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{NodeId, Rate};

    fn app(kind: AppConfig, stop_s: u64) -> App {
        let flow = FlowConfig {
            dscp: multihop_core::Dscp::default(),
            name: "f".into(),
            source: NodeId(0),
            destination: NodeId(1),
            group: None,
            scheme: 0,
            app: kind,
            start: Span::ZERO,
            stop: Some(Span::from_ms(stop_s * 1000)),
        };
        App::new(&flow, false, Rng::at(1, &["app"]))
    }

    #[test]
    fn constant_bit_rate_is_exact() {
        let mut app = app(AppConfig::Cbr { rate: Rate::from_kbps(800), packet: 1000, jitter: 0.0 }, 1);
        let mut now = Time::ZERO;
        let mut packets = 0;
        while let Offer { bytes: 1000, again: Some(next), .. } = app.on_time(now, 0, None) {
            assert_eq!(next - now, Span::from_ms(10));
            packets += 1;
            now = next;
        }
        assert_eq!(packets, 100);
    }

    #[test]
    fn jitter_and_poisson_keep_the_mean_rate() {
        let kinds = [
            AppConfig::Cbr { rate: Rate::from_kbps(800), packet: 1000, jitter: 0.5 },
            AppConfig::Poisson { rate: Rate::from_kbps(800), packet: 1000 },
        ];
        for kind in kinds {
            let mut app = app(kind, 1_000);
            let (mut now, mut packets) = (Time::ZERO, 0u32);
            while let Some(next) = app.on_time(now, 0, None).again {
                packets += 1;
                now = next;
            }
            assert!((f64::from(packets) / 100_000.0 - 1.0).abs() < 0.015, "{kind:?}: {packets}");
        }
    }

    /// Frames of 1000 bytes, and a limit of 2500 bytes on the backlog.
    #[test]
    fn a_video_skips_frames_while_too_much_waits() {
        let video = VideoConfig {
            frame_rate: 10.0,
            rate_bps: 80_000.0,
            min_rate_bps: None,
            gop: 1,
            key_ratio: 1.0,
            variation: 0.0,
            deadline: Span::from_ms(400),
            buffer: Some(2_500),
        };
        let mut app = app(AppConfig::Video(video), 1);
        let mut now = Time::ZERO;
        let backlogs = [0, 1_000, 2_500, 2_501, 9_000, 10, 0, 0, 0, 0];
        let offers = backlogs.map(|backlog| {
            let offer = app.on_time(now, backlog, None);
            assert!(offer.frame);
            now = offer.again.unwrap();
            offer.bytes
        });
        assert_eq!(offers, [1_000, 1_000, 1_000, 0, 0, 1_000, 1_000, 1_000, 1_000, 1_000]);
        assert_eq!(app.on_time(now, 0, None), Offer::default(), "it stops");
    }

    /// At half of the rate, frames of 500 bytes and a limit of 1250 bytes.
    #[test]
    fn an_adaptive_video_follows_the_transport() {
        let video = VideoConfig {
            frame_rate: 10.0,
            rate_bps: 80_000.0,
            min_rate_bps: Some(8_000.0),
            gop: 1,
            key_ratio: 1.0,
            variation: 0.0,
            deadline: Span::from_ms(400),
            buffer: Some(2_500),
        };
        let mut app = app(AppConfig::Video(video), 1);
        assert!(app.adapts());
        let mut now = Time::ZERO;
        let asked = [(0, Some(5e3)), (1_250, Some(5e3)), (1_251, Some(5e3)), (1_251, None), (0, Some(1.0))];
        let offers = asked.map(|(backlog, rate)| {
            let offer = app.on_time(now, backlog, rate);
            now = offer.again.unwrap();
            offer.bytes
        });
        assert_eq!(offers, [500, 500, 0, 1_000, 100]);
    }

    #[test]
    fn transfers_follow_each_other_after_a_pause() {
        let pause = Span::from_ms(500);
        let kind = AppConfig::Transfers { bytes: 10_000, pause, exponential: false, count: Some(2) };
        let mut app = app(kind, 100);
        assert_eq!(app.on_time(Time::ZERO, 0, None), Offer { bytes: 10_000, ..Offer::default() });
        let later = Time::from_ns(3_000_000_000);
        let arrived = later - Span::from_ms(20);
        assert_eq!(app.on_progress(later, 9_999, arrived), None);
        assert_eq!(app.on_progress(later, 10_000, arrived), Some(later + pause));
        assert_eq!(app.on_time(later + pause, 0, None).bytes, 10_000);
        assert_eq!(app.on_progress(later + pause + pause, 20_000, later + pause + pause), None);
        assert_eq!(
            app.completed(),
            [Span::from_ms(2_980), pause],
            "to the last byte, not its acknowledgement"
        );
    }
}
