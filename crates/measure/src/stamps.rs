//! What the stamps of a capture mark.

use crate::{CapturedFrame, StationId};
use multihop_capture::Control;
use multihop_core::Span;
use std::collections::BTreeMap;

/// What a stamp marks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StampReference {
    /// The beginning of the preamble.
    Begin,
    /// The first bit of the MAC header, as radiotap defines TSFT.
    Mpdu,
    /// The end of the frame, as hosts stamp it.
    End,
}

/// An answer follows a frame after SIFS, behind the signal extension: the difference between their stamps
/// shows what the stamps mark.
///
/// Capture formats leave this open or are not kept to, and on the beginning of frames hangs all that is said
/// of spacing. An sniffer that sends too may stamp its own frames when they begin and those of others when
/// they end, as ns-3 does.
#[derive(Clone, Debug, Default)]
pub struct Stamps {
    before: Option<CapturedFrame>,
    /// Pairs that fit `Begin`, `Mpdu` and `End` for both frames, and no other of them.
    pub votes: [u64; 3],
    /// Pairs that fit `Begin` and `Mpdu` alike, as both frames have preambles of one length.
    either: u64,
    /// Pairs of which one frame was stamped when it began and the other when it ended, by the station of the
    /// former.
    mixed: BTreeMap<StationId, u64>,
    /// Pairs of which it is known how long both were, and those that are possible if stamps mark the first
    /// bit of the MPDU, and the end: the answer begins after the frame has ended.
    timed: u64,
    possible: [u64; 2],
}

/// Timers count microseconds, and hosts are late.
const TOLERANCE: Span = Span::from_us(4);

/// From so many pairs on, the sniffer is taken to be a station itself.
const ENOUGH_MIXED: u64 = 4;

impl Stamps {
    /// Looks at the next frame.
    pub fn process(&mut self, now: &CapturedFrame) {
        let Some(before) = self.before.replace(*now).filter(|before| !before.is_guessed && !now.is_guessed)
        else {
            return;
        };
        let (true, Some(first), Some(second)) =
            (is_answer(&before, now), before.ppdu_airtime(), now.ppdu_airtime())
        else {
            return;
        };
        // From the beginning of an A-MPDU its first stamp counts, from its end the last.
        let from_begin = now.stamp.since(before.stamps().0).ns();
        let from_end = now.stamp.since(before.stamps().1).ns();
        let gap = before.answer_gap;
        let begin = (first + gap).ns();
        let mpdu = (begin + now.preamble.ns()).saturating_sub(before.preamble.ns());
        let end = (gap + second).ns();
        self.timed += 1;
        self.possible[0] += u64::from(from_begin + TOLERANCE.ns() >= mpdu - gap.ns().min(mpdu));
        self.possible[1] += u64::from(from_end + TOLERANCE.ns() >= second.ns());
        let off = [
            begin.abs_diff(from_begin),
            mpdu.abs_diff(from_begin),
            end.abs_diff(from_end),
            (begin + second.ns()).abs_diff(from_begin),
            gap.ns().abs_diff(from_end),
        ];
        let least = *off.iter().min().unwrap_or(&u64::MAX);
        let close = |one: u64| one <= least + TOLERANCE.ns();
        // Frames for which two of them are the same, such as RTS and CTS at one rate, show nothing; but where all preambles are as
        // long, it makes no difference whether they are before the stamp or after it.
        let others = off[2..].iter().filter(|&&one| close(one)).count();
        let is_decided = if close(off[0]) { others == 0 } else { others + usize::from(close(off[1])) == 1 };
        if least > TOLERANCE.ns() || !is_decided {
            return;
        }
        if close(off[0]) && close(off[1]) {
            self.either += 1;
            return;
        }
        match off.iter().position(|&one| close(one)) {
            Some(which @ 0..=2) => self.votes[which] += 1,
            Some(3) => self.mix(before.transmitter),
            _ => self.mix(before.receiver),
        }
    }

    fn mix(&mut self, own: Option<StationId>) {
        if let Some(own) = own {
            *self.mixed.entry(own).or_default() += 1;
        }
    }

    /// Pairs that said something.
    pub fn pairs(&self) -> u64 {
        self.deciding() + self.either
    }

    /// Those that say which of the three it is.
    pub fn deciding(&self) -> u64 {
        self.votes.iter().sum::<u64>() + self.mixed.values().sum::<u64>()
    }

    /// The radio was elsewhere, so that the next frame answers none.
    pub fn interrupt(&mut self) {
        self.before = None;
    }

    /// Pairs that contradict that stamps mark this.
    pub fn contradicting(&self, marks: StampReference) -> u64 {
        let [begin, mpdu, end] = self.votes;
        let own = self.own().and_then(|own| self.mixed.get(&own)).copied().unwrap_or_default();
        let agreeing = match marks {
            StampReference::Begin => begin + self.either,
            StampReference::Mpdu => mpdu + self.either,
            StampReference::End => end + own,
        };
        self.pairs() - agreeing
    }

    /// What a stamp marks where no pair shows it: `by_tsft`, what radiotap says, unless most answers would
    /// begin within their frames; otherwise what a host has got, the end.
    pub fn usual(&self, by_tsft: bool) -> StampReference {
        let [mpdu, end] = self.possible;
        let is_refuted = mpdu * 2 < self.timed && end > mpdu;
        if by_tsft && !is_refuted { StampReference::Mpdu } else { StampReference::End }
    }

    /// What most pairs say; none where none says anything. Where it makes no difference to them whether
    /// stamps mark the beginning or the first bit, it is the latter if they are `by_tsft`.
    pub fn marks(&self, by_tsft: bool) -> Option<StampReference> {
        let [begin, mpdu, end] = self.votes;
        if self.pairs() == 0 {
            None
        } else if end + self.mixed.values().sum::<u64>() >= begin.max(mpdu) + self.either {
            Some(StampReference::End)
        } else if mpdu > begin || mpdu == begin && by_tsft {
            Some(StampReference::Mpdu)
        } else {
            Some(StampReference::Begin)
        }
    }

    /// The station that the sniffer is itself, if its frames are stamped when they begin and those of others
    /// when they end.
    pub fn own(&self) -> Option<StationId> {
        let (&own, &pairs) = self.mixed.iter().max_by_key(|&(_, pairs)| pairs)?;
        (self.marks(false) == Some(StampReference::End) && pairs >= ENOUGH_MIXED).then_some(own)
    }
}

fn is_answer(before: &CapturedFrame, now: &CapturedFrame) -> bool {
    let to_its_sender = before.transmitter.is_some() && now.receiver == before.transmitter;
    match now.control() {
        Some(Control::Ack | Control::BlockAck(_)) => to_its_sender && before.wants_ack(),
        Some(Control::Cts) => to_its_sender && before.control() == Some(Control::Rts),
        _ => false,
    }
}
