//! Assembly of A-MPDUs, whose frames share a preamble (9.7.1).

use crate::CapturedFrame;
use multihop_capture::{AmpduStatus, Frame, FrameType, aggregate_airtime};
use multihop_core::{Span, Time};
use multihop_dot11::Ppdu;

/// Position of a frame in its A-MPDU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AmpduPosition {
    /// Stamps of the first and of the last captured frame of the A-MPDU.
    pub stamps: (Time, Time),
    /// Airtime of the A-MPDU, preamble included; zero if unknown.
    pub airtime: Span,
    /// Airtime of the frames before this one.
    pub offset: Span,
    /// Number of bytes of all data frames of the A-MPDU, if this frame represents the A-MPDU in an exchange.
    pub represented_bytes: Option<u32>,
}

/// Assembles the frames of an A-MPDU, which are consecutive and have the same reference. Each frame has a
/// share of the PPDU's airtime, preamble included, in proportion to its bytes.
///
/// A receiver reports only the frames that it decoded. If it missed some, the airtime is a lower bound,
/// unless the receiver reports the length in the legacy preamble, which is accurate to 4 us.
#[derive(Clone, Debug, Default)]
pub struct AmpduAssembler {
    open: Vec<CapturedFrame>,
    reference: u32,
    ppdu_format: Option<Ppdu>,
    /// Airtime of the PPDU by its legacy preamble.
    legacy_airtime: Option<Span>,
    /// Whether the last frame was captured; none if the receiver does not report it.
    complete: Option<bool>,
    /// Number of A-MPDUs.
    pub count: u64,
    /// Number of A-MPDUs with missed frames and without a length in the legacy preamble. Missed frames are
    /// detected by a missing last frame, or by a gap between two sequence numbers that were sent for the
    /// first time.
    pub partial: u64,
}

/// Limit on the frames of an A-MPDU: the window of a block acknowledgement in 802.11be.
const MAX_FRAMES: usize = 1_024;

/// Longest PPDU of an A-MPDU (aPPDUMaxTime, Table 19-25), and so the largest difference between its stamps.
/// Some drivers never change the reference.
const MAX_PPDU_DURATION: Span = Span::from_ms(10);

/// Sequence numbers are modulo `SEQUENCES`. A step beyond the block acknowledgement window is not counted as
/// a gap.
const SEQUENCES: u16 = 4_096;
const WINDOW: u16 = 64;

impl AmpduAssembler {
    /// Whether the next frame belongs to the open A-MPDU.
    pub fn is_continued_by(
        &self,
        frame: &CapturedFrame,
        aggregate: Option<AmpduStatus>,
        ppdu_format: Option<Ppdu>,
    ) -> bool {
        let (Some(first), Some(aggregate)) = (self.open.first(), aggregate) else { return false };
        // Some drivers report the PPDU format only with the first frame, or only with the last.
        let alike = self.ppdu_format.is_none() || ppdu_format.is_none() || self.ppdu_format == ppdu_format;
        // All frames have the same transmitter and receiver (9.7.3); the addresses of damaged frames are
        // unknown.
        let ends = |seen: &CapturedFrame| (seen.transmitter, seen.receiver);
        let readable = self.open.iter().rfind(|seen| !seen.is_damaged());
        let same_ends = frame.is_damaged() || readable.is_none_or(|seen| ends(seen) == ends(frame));
        aggregate.reference == self.reference
            && self.complete != Some(true)
            && self.open.len() < MAX_FRAMES
            && frame.stamp.since(first.stamp) <= MAX_PPDU_DURATION
            && alike
            && same_ends
    }

    /// Adds the next frame to the open A-MPDU, or opens a new one.
    pub fn push(
        &mut self,
        frame: CapturedFrame,
        aggregate: AmpduStatus,
        ppdu_format: Option<Ppdu>,
        legacy_airtime: Option<Span>,
    ) {
        if self.open.is_empty() {
            (self.reference, self.ppdu_format, self.complete) = (aggregate.reference, None, None);
            self.legacy_airtime = legacy_airtime;
        }
        self.ppdu_format = self.ppdu_format.or(ppdu_format);
        self.complete = aggregate.last.or(self.complete);
        self.open.push(frame);
    }

    /// Closes the open A-MPDU and returns its frames with their shares; no frames if none is open.
    /// [`AmpduAssembler::recycle`] takes the list back.
    pub fn close(&mut self) -> Vec<CapturedFrame> {
        let mut frames = std::mem::take(&mut self.open);
        let (Some(first), Some(last)) = (frames.first(), frames.last()) else { return frames };
        let stamps = (first.stamp, last.stamp);
        self.count += 1;
        let is_partial = self.complete == Some(false) || has_gap(&frames);
        self.partial += u64::from(is_partial && self.legacy_airtime.is_none());
        let lengths = frames.iter().map(|seen| seen.frame.air_bytes);
        let all: u64 = lengths.clone().map(u64::from).sum();
        let whole = airtime_or_legacy(
            self.legacy_airtime,
            self.ppdu_format.and_then(|ppdu_format| aggregate_airtime(&ppdu_format, lengths)),
        );
        let known = whole.unwrap_or_default();
        let after =
            |bytes: u64| Span::from_ns((u128::from(known.ns()) * u128::from(bytes) / u128::from(all)) as u64);
        let (representative, size) = representative(&frames);
        let (mut before, mut bytes) = (Span::ZERO, 0);
        for (number, seen) in frames.iter_mut().enumerate() {
            bytes += u64::from(seen.frame.air_bytes);
            let until = after(bytes);
            seen.airtime = whole.map(|_| until - before);
            let represented_bytes = (number == representative).then_some(size);
            seen.ampdu = Some(AmpduPosition { stamps, airtime: known, offset: before, represented_bytes });
            before = until;
        }
        frames
    }

    /// Takes back the list of [`AmpduAssembler::close`], so that the next A-MPDU needs no new allocation.
    pub fn recycle(&mut self, mut frames: Vec<CapturedFrame>) {
        frames.clear();
        self.open = frames;
    }
}

/// Airtime by the legacy preamble, which includes missed frames. If no frame was missed, the airtime by the
/// frames is used, as it is not rounded.
fn airtime_or_legacy(legacy_airtime: Option<Span>, seen: Option<Span>) -> Option<Span> {
    const ROUNDED: Span = Span::from_us(4);
    seen.filter(|&seen| legacy_airtime.is_none_or(|legacy_airtime| legacy_airtime < seen + ROUNDED))
        .or(legacy_airtime)
}

/// Index of the frame that represents an A-MPDU in an exchange, and the bytes of all frames of its kind: the
/// last data frame, else the last readable frame, else the last frame.
fn representative(frames: &[CapturedFrame]) -> (usize, u32) {
    let carries_data = |seen: &CapturedFrame| matches!(seen.frame.kind, FrameType::Data(data) if !data.null);
    if let Some(last) = frames.iter().rposition(carries_data) {
        let data = frames.iter().filter(|seen| carries_data(seen));
        return (last, data.fold(0, |sum, seen| sum.saturating_add(seen.size)));
    }
    let last = frames.iter().rposition(|seen| !seen.is_damaged()).unwrap_or(frames.len().saturating_sub(1));
    (last, frames.get(last).map_or(0, |seen| seen.size))
}

/// Whether a sequence number is missing between two consecutive frames that were both sent for the first
/// time. Retransmissions may be in any order, with gaps where frames were received.
fn has_gap(frames: &[CapturedFrame]) -> bool {
    let mut before: Option<(Option<u8>, u16)> = None;
    let mut damaged = 0;
    for seen in frames {
        if seen.is_damaged() {
            damaged += 1;
            continue;
        }
        let now = first_try(&seen.frame);
        if let (Some((tid, last)), Some((same, number))) = (before, now)
            && tid == same
        {
            let step = (SEQUENCES + number - last) % SEQUENCES;
            if step <= WINDOW && step > damaged + 1 {
                return true;
            }
        }
        (before, damaged) = (now, 0);
    }
    false
}

/// Traffic identifier and sequence number of a data frame that is no retransmission.
fn first_try(frame: &Frame) -> Option<(Option<u8>, u16)> {
    match (frame.kind, frame.sequence) {
        (FrameType::Data(data), Some(sequence)) if !frame.retry && !data.null => {
            Some((data.tid, sequence.number % SEQUENCES))
        }
        _ => None,
    }
}
