//! Video frames, and two models of a player: without and with buffering.

use crate::config::VideoConfig;
use crate::outcome::VideoOutcome;
use crate::record::quantiles;
use multihop_core::{Span, Time};
use multihop_transport::Delivered;

/// Frames that a video made.
#[derive(Clone, Debug)]
pub(super) struct VideoCounters {
    deadline: Span,
    /// Interval between two frames.
    interval: Span,
    frames: Vec<VideoFrame>,
}

#[derive(Clone, Copy, Debug)]
struct VideoFrame {
    made: Time,
    /// End of the frame in the byte stream of the application.
    end: u64,
    /// Number of bytes that have not arrived yet.
    missing: u64,
    /// Time at which the last byte arrived; [`Time::NEVER`] before.
    complete: Time,
    /// Whether the encoder skipped the frame.
    skipped: bool,
}

impl VideoCounters {
    pub(super) fn new(video: &VideoConfig) -> VideoCounters {
        let interval = Span::from_seconds(1.0 / video.frame_rate);
        VideoCounters { deadline: video.deadline, interval, frames: Vec::new() }
    }

    /// Adds a frame of `bytes` bytes; zero bytes if it was skipped.
    pub(super) fn made(&mut self, bytes: u64, now: Time) {
        let end = self.frames.last().map_or(0, |frame| frame.end) + bytes;
        let skipped = bytes == 0;
        self.frames.push(VideoFrame { made: now, end, missing: bytes, complete: Time::NEVER, skipped });
    }

    /// Counts newly arrived bytes.
    pub(super) fn delivered(&mut self, delivered: Delivered, now: Time) {
        let (mut at, stop) = (delivered.offset, delivered.offset + delivered.bytes);
        let first = self.frames.partition_point(|frame| frame.end <= at);
        for frame in &mut self.frames[first..] {
            if at >= stop {
                return;
            }
            let bytes = frame.end.min(stop) - at;
            frame.missing -= bytes;
            if bytes > 0 && frame.missing == 0 {
                frame.complete = now;
            }
            at += bytes;
        }
    }

    /// Outcome up to `end` of the frames for whose creation time `counts` is true.
    pub(super) fn outcome(&self, counts: impl Fn(Time) -> bool, end: Time) -> VideoOutcome {
        let first = self.frames.partition_point(|frame| !counts(frame.made));
        let frames = &self.frames[first..];
        let count =
            |what: &dyn Fn(&VideoFrame) -> bool| frames.iter().filter(|frame| what(frame)).count() as u64;
        let in_time = |frame: &VideoFrame, at: Time| at <= frame.made + self.deadline;
        let complete = |frame: &&VideoFrame| frame.complete < Time::NEVER;
        let mut delays: Vec<u64> =
            frames.iter().filter(complete).map(|frame| (frame.complete - frame.made).ns()).collect();
        let delay = (!delays.is_empty()).then(|| quantiles(&mut delays));
        let (stalls, stalled) = self.play(frames, end);
        let outcome = VideoOutcome {
            video_frames_sent: frames.len() as u64,
            video_frames_skipped: count(&|frame| frame.skipped),
            video_frames_on_time: count(&|frame| !frame.skipped && in_time(frame, frame.complete)),
            video_frames_late: count(&|frame| complete(&frame) && !in_time(frame, frame.complete)),
            video_frames_lost: count(&|frame| !frame.skipped && !complete(&frame) && !in_time(frame, end)),
            late_ratio: None,
            stalls,
            stall_time_s: stalled.seconds(),
            video_frame_delay_mean_s: delay.map(|delay| delay.mean),
            video_frame_delay_p95_s: delay.map(|delay| delay.p95),
        };
        let missed = outcome.video_frames_late + outcome.video_frames_lost + outcome.video_frames_skipped;
        let decided = outcome.video_frames_on_time + missed;
        VideoOutcome { late_ratio: (decided > 0).then(|| missed as f64 / decided as f64), ..outcome }
    }

    /// Number and total duration of the stalls of the buffering player.
    ///
    /// The player shows each frame `deadline` after its creation. If the frame is incomplete then, the player
    /// skips it if a later one is complete. Otherwise the player stops until that frame or a later one is
    /// complete, and delays all further frames by as much. For each frame that the encoder skipped, the delay
    /// shrinks by one frame interval.
    fn play(&self, frames: &[VideoFrame], end: Time) -> (u64, Span) {
        // Index of the first frame to be complete among each frame and its successors.
        let mut soonest = vec![usize::MAX; frames.len()];
        let mut known = usize::MAX;
        for (index, frame) in frames.iter().enumerate().rev() {
            let best = frames.get(known).map_or(Time::NEVER, |frame| frame.complete);
            if frame.complete < Time::NEVER && frame.complete <= best {
                known = index;
            }
            soonest[index] = known;
        }
        let (mut stalls, mut stalled, mut delay) = (0, Span::ZERO, self.deadline);
        let mut index = 0;
        while let Some(frame) = frames.get(index) {
            let due = frame.made + delay;
            if frame.skipped {
                delay = self.deadline.max(delay.saturating_sub(self.interval));
            } else if due >= end {
                break;
            } else if let Some(next) = frames.get(soonest[index]) {
                if next.complete > due {
                    stalls += 1;
                    stalled += next.complete - due;
                    delay = delay.max(next.complete - next.made);
                    index = soonest[index];
                }
            } else {
                return (stalls + 1, stalled + (end - due));
            }
            index += 1;
        }
        (stalls, stalled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    /// Ten frames a second, with a deadline of 250 ms.
    fn counters() -> VideoCounters {
        VideoCounters::new(&VideoConfig {
            frame_rate: 10.0,
            rate_bps: 8_000.0,
            min_rate_bps: None,
            gop: 1,
            key_ratio: 1.0,
            variation: 0.0,
            deadline: Span::from_ms(250),
            buffer: None,
        })
    }

    /// Frames of 100 bytes made every 100 ms from 0. `arrivals` has first byte, number of bytes, and time in
    /// milliseconds. Counters are closed at `end`.
    fn outcome(skipped: &[u64], arrivals: &[(u64, u64, u64)], end: u64) -> VideoOutcome {
        let mut counters = counters();
        let mut made = 0;
        for &(now, offset, bytes) in arrivals.iter().chain(&[(end, 0, 0)]) {
            while 100 * made <= now && made < 10 {
                counters.made(if skipped.contains(&made) { 0 } else { 100 }, at(100 * made));
                made += 1;
            }
            counters.delivered(Delivered { bytes, offset }, at(now));
        }
        counters.outcome(|_| true, at(end))
    }

    fn assert_close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
    }

    /// Deadlines are 250, 350, ... 1150 ms. Frame 0 arrives in two parts and in order, 1 exactly at its
    /// deadline, 2 never, 3 and 4 in one piece at 660, 5 and 6 with their halves exchanged; 7 is skipped, 8
    /// is in time, and half of 9 (bytes 800 to 900) has arrived at the end.
    ///
    /// The player without buffering misses 2 (lost), 3 (110 ms late) and 4 (10 ms late). The buffering player
    /// has no frame at 450, stops until 3 arrives at 660, and shows it 360 ms after its creation. From then
    /// on frames are due 360 ms after their creation: 4 at 760, 5 at 860 and so on.
    #[test]
    fn ten_frames_by_hand() {
        let arrivals = [
            (40, 0, 60),
            (60, 60, 40),
            (350, 100, 100),
            (660, 300, 200),
            (700, 550, 100),
            (720, 500, 50),
            (730, 650, 50),
            (900, 700, 100),
            (1_000, 850, 50),
        ];
        let video = outcome(&[7], &arrivals, 1_100);
        assert_eq!(
            (video.video_frames_sent, video.video_frames_skipped, video.video_frames_on_time),
            (10, 1, 5),
            "{video:?}"
        );
        assert_eq!((video.video_frames_late, video.video_frames_lost), (2, 1), "{video:?}");
        assert_close(video.late_ratio.unwrap(), 4.0 / 9.0); // the last frame may still arrive in time
        assert_eq!(video.stalls, 1);
        assert_close(video.stall_time_s, 0.210);
        // Delays of 60, 250, 360, 260, 220, 130 and 100 ms.
        assert_close(video.video_frame_delay_mean_s.unwrap(), 1.380 / 7.0);
        assert_close(video.video_frame_delay_p95_s.unwrap(), 0.360);
    }

    /// A stream stops from 300 ms to 2 s. Frame 2 was due at 450 ms; all others arrive in one piece.
    #[test]
    fn a_stream_that_stands_still_stalls_once() {
        let video = outcome(&[], &[(150, 0, 200), (2_000, 200, 800)], 3_000);
        assert_eq!(
            (video.video_frames_on_time, video.video_frames_late, video.video_frames_lost),
            (2, 8, 0),
            "{video:?}"
        );
        assert_eq!(video.stalls, 1);
        assert_close(video.stall_time_s, 1.550);
    }

    /// The same stream, but the encoder skipped frames 4 to 8. The player is 1550 ms late for 2 and 3, and
    /// 1050 ms late for 9: five intervals less.
    #[test]
    fn skipped_frames_let_the_player_catch_up() {
        let arrivals = [(150, 0, 200), (2_000, 200, 200), (2_150, 400, 50), (2_400, 450, 50)];
        let video = outcome(&[4, 5, 6, 7, 8], &arrivals, 3_000);
        assert_eq!(
            (
                video.video_frames_skipped,
                video.video_frames_on_time,
                video.video_frames_late,
                video.video_frames_lost
            ),
            (5, 2, 3, 0),
            "{video:?}"
        );
        assert_eq!(video.stalls, 2);
        // Frame 2 is shown at 2000 instead of 450, 1800 ms after its creation; 9 is due 1300 ms after its
        // creation, at 2200, but arrives at 2400.
        assert_close(video.stall_time_s, 1.550 + 0.200);
    }

    #[test]
    fn a_stall_that_does_not_end_lasts_to_the_end_of_the_run() {
        let video = outcome(&[], &[(150, 0, 200)], 900);
        // Frames 2 to 6 were due by then, at 450 to 850 ms; 7 to 9 may still arrive.
        assert_eq!(
            (video.video_frames_on_time, video.video_frames_lost, video.video_frames_late),
            (2, 5, 0),
            "{video:?}"
        );
        assert_eq!(video.stalls, 1);
        assert_close(video.stall_time_s, 0.450);
        let nothing = outcome(&[], &[], 200);
        assert_eq!(
            (nothing.video_frames_sent, nothing.stalls, nothing.late_ratio),
            (3, 0, None),
            "nothing was due yet"
        );
        assert_eq!(nothing.video_frame_delay_mean_s, None);
    }

    /// Frame 3 is lost, but 4 is complete when 3 is due: one picture is missing, without a stall.
    #[test]
    fn a_lost_frame_is_passed_over() {
        let arrivals: Vec<(u64, u64, u64)> =
            (0..10).filter(|frame| *frame != 3).map(|frame| (100 * frame + 30, 100 * frame, 100)).collect();
        let video = outcome(&[], &arrivals, 2_000);
        assert_eq!(
            (video.video_frames_on_time, video.video_frames_lost, video.stalls),
            (9, 1, 0),
            "{video:?}"
        );
        assert_eq!(video.stall_time_s, 0.0);
    }

    #[test]
    fn frames_of_the_warm_up_do_not_count() {
        let mut counters = counters();
        (0..10).for_each(|frame| counters.made(100, at(100 * frame)));
        counters.delivered(Delivered { bytes: 1_000, offset: 0 }, at(950));
        let video = counters.outcome(|made| made > at(450), at(5_000));
        assert_eq!((video.video_frames_sent, video.video_frames_on_time, video.video_frames_late), (5, 3, 2));
        // The player begins with the first counted frame, at 750 ms.
        assert_close(video.stall_time_s, 0.200);
    }
}
