//! Frames of one A-MPDU, which share a preamble (9.7.1).

use crate::CapturedFrame;
use multihop_capture::{Aggregate, Frame, FrameType, aggregate_airtime};
use multihop_core::{Span, Time};
use multihop_dot11::Ppdu;

/// Where a frame lay in its A-MPDU.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Part {
    /// Stamps of the first and of the last frame of the A-MPDU that were seen.
    pub stamps: (Time, Time),
    /// Airtime of all its frames, preamble included; zero if it is unknown.
    pub whole: Span,
    /// Airtime of the frames before this one.
    pub before: Span,
    /// Bytes that all its data carry, if this frame stands for the A-MPDU in an exchange; one of them does.
    pub stands_for: Option<u32>,
}

/// Puts the frames of an A-MPDU together: they follow each other with the same reference. Each has a share of
/// the airtime of the PPDU, preamble included, by its bytes, so that all shares together are the PPDU.
///
/// The receiver reports the frames of an A-MPDU that it decoded. Where it missed some, the airtime is a lower
/// bound, unless it says what the legacy preamble announced, to 4 us.
#[derive(Clone, Debug, Default)]
pub struct Aggregates {
    open: Vec<CapturedFrame>,
    reference: u32,
    how: Option<Ppdu>,
    /// Its airtime, by its legacy preamble.
    announced: Option<Span>,
    /// Its last frame came; none where the receiver does not report it.
    complete: Option<bool>,
    /// A-MPDUs.
    pub count: u64,
    /// Those of them of which frames were missed and no preamble says how long they were, as far as that can
    /// be seen: the last one did not come, or, between two that were sent for the first time, a sequence
    /// number.
    pub partial: u64,
}

/// Frames of an A-MPDU at the most: as many as a block acknowledgement covers, in 802.11be.
const MOST: usize = 1_024;

/// No PPDU of an A-MPDU is longer (aPPDUMaxTime, Table 19-25), so that its stamps do not differ by more. Some
/// drivers never change the reference.
const LONGEST: Span = Span::from_ms(10);

/// Sequence numbers count modulo this; a larger step than the window of a block acknowledgement says nothing.
const SEQUENCES: u16 = 4_096;
const WINDOW: u16 = 64;

impl Aggregates {
    /// Does the next frame belong to the A-MPDU that is open?
    pub fn continues(&self, frame: &CapturedFrame, aggregate: Option<Aggregate>, how: Option<Ppdu>) -> bool {
        let (Some(first), Some(aggregate)) = (self.open.first(), aggregate) else { return false };
        // Some drivers say how it was sent with the first frame only, or with the last.
        let alike = self.how.is_none() || how.is_none() || self.how == how;
        // All are from one station to one (9.7.3); the addresses of damaged frames are unknown.
        let ends = |seen: &CapturedFrame| (seen.transmitter, seen.receiver);
        let readable = self.open.iter().rfind(|seen| !seen.is_damaged());
        let same_ends = frame.is_damaged() || readable.is_none_or(|seen| ends(seen) == ends(frame));
        aggregate.reference == self.reference
            && self.complete != Some(true)
            && self.open.len() < MOST
            && frame.stamp.since(first.stamp) <= LONGEST
            && alike
            && same_ends
    }

    /// The next frame of the A-MPDU that is open, or the first one of another.
    pub fn push(
        &mut self,
        frame: CapturedFrame,
        aggregate: Aggregate,
        how: Option<Ppdu>,
        announced: Option<Span>,
    ) {
        if self.open.is_empty() {
            (self.reference, self.how, self.complete) = (aggregate.reference, None, None);
            self.announced = announced;
        }
        self.how = self.how.or(how);
        self.complete = aggregate.last.or(self.complete);
        self.open.push(frame);
    }

    /// Ends the A-MPDU that is open: its frames, with their shares; nothing if none is open.
    /// [`Aggregates::reuse`] takes the list back.
    pub fn end(&mut self) -> Vec<CapturedFrame> {
        let mut frames = std::mem::take(&mut self.open);
        let (Some(first), Some(last)) = (frames.first(), frames.last()) else { return frames };
        let stamps = (first.stamp, last.stamp);
        self.count += 1;
        let is_partial = self.complete == Some(false) || has_gap(&frames);
        self.partial += u64::from(is_partial && self.announced.is_none());
        let lengths = frames.iter().map(|seen| seen.frame.air_bytes);
        let all: u64 = lengths.clone().map(u64::from).sum();
        let whole = announced_or(self.announced, self.how.and_then(|how| aggregate_airtime(&how, lengths)));
        let known = whole.unwrap_or_default();
        let after =
            |bytes: u64| Span::from_ns((u128::from(known.ns()) * u128::from(bytes) / u128::from(all)) as u64);
        let (representative, size) = representative(&frames);
        let (mut before, mut bytes) = (Span::ZERO, 0);
        for (number, seen) in frames.iter_mut().enumerate() {
            bytes += u64::from(seen.frame.air_bytes);
            let until = after(bytes);
            seen.airtime = whole.map(|_| until - before);
            let stands_for = (number == representative).then_some(size);
            seen.part = Some(Part { stamps, whole: known, before, stands_for });
            before = until;
        }
        frames
    }

    /// Takes the list of [`Aggregates::end`] back, so that the next A-MPDU needs no memory of its own.
    pub fn reuse(&mut self, mut frames: Vec<CapturedFrame>) {
        frames.clear();
        self.open = frames;
    }
}

/// The airtime that is announced, in which frames count that were not seen; if all were, that of the frames,
/// which is not rounded.
fn announced_or(announced: Option<Span>, seen: Option<Span>) -> Option<Span> {
    const ROUNDED: Span = Span::from_us(4);
    seen.filter(|&seen| announced.is_none_or(|announced| announced < seen + ROUNDED)).or(announced)
}

/// The frame that stands for an A-MPDU in an exchange, and the bytes that all that are like it carry: its
/// last data; if there are none its last frame that can be read; if there are none its last.
fn representative(frames: &[CapturedFrame]) -> (usize, u32) {
    let carries_data = |seen: &CapturedFrame| matches!(seen.frame.kind, FrameType::Data(data) if !data.null);
    if let Some(last) = frames.iter().rposition(carries_data) {
        let data = frames.iter().filter(|seen| carries_data(seen));
        return (last, data.fold(0, |sum, seen| sum.saturating_add(seen.size)));
    }
    let last = frames.iter().rposition(|seen| !seen.is_damaged()).unwrap_or(frames.len().saturating_sub(1));
    (last, frames.get(last).map_or(0, |seen| seen.size))
}

/// Is a sequence number missing between two frames that follow each other and were both sent for the first
/// time? What was sent before may lie in an A-MPDU in any order, with gaps where frames have arrived.
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

/// Traffic identifier and sequence number of data that was not sent before.
fn first_try(frame: &Frame) -> Option<(Option<u8>, u16)> {
    match (frame.kind, frame.sequence) {
        (FrameType::Data(data), Some(sequence)) if !frame.retry && !data.null => {
            Some((data.tid, sequence.number % SEQUENCES))
        }
        _ => None,
    }
}
