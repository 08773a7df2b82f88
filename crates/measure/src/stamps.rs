//! The instant of a frame that timestamps refer to.

use crate::{CapturedFrame, StationId};
use multihop_capture::Control;
use multihop_core::Span;
use std::collections::BTreeMap;

/// Instant of a frame that a timestamp refers to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StampReference {
    /// Start of the preamble.
    Begin,
    /// First bit of the MAC header, as radiotap defines TSFT.
    Mpdu,
    /// End of the frame, as hosts stamp it.
    End,
}

/// Finds the timestamp reference from pairs of a frame and its response, which follows after signal extension
/// and SIFS. The difference of their timestamps shows the reference.
///
/// Capture formats do not define the reference, or drivers ignore it, but all results on spacing depend on
/// it. A sniffer that also sends may stamp its own frames at their start and others at their end, as ns-3
/// does.
#[derive(Clone, Debug, Default)]
pub struct StampVotes {
    before: Option<CapturedFrame>,
    /// Number of pairs that fit only `Begin`, `Mpdu` or `End`, respectively.
    pub votes: [u64; 3],
    /// Number of pairs that fit both `Begin` and `Mpdu`, because both frames have preambles of equal length.
    begin_or_mpdu: u64,
    /// Number of pairs with one frame stamped at its start and the other at its end, by the station of the
    /// former.
    mixed: BTreeMap<StationId, u64>,
    /// Number of pairs with known airtimes, and the number of them that is possible if timestamps refer to
    /// the first bit of the MPDU, or to the end: the response begins after the end of the frame.
    timed: u64,
    possible: [u64; 2],
}

/// Resolution of timers and delay of hosts.
const TOLERANCE: Span = Span::from_us(4);

/// Number of mixed pairs from which the sniffer is assumed to be a station.
const ENOUGH_MIXED: u64 = 4;

impl StampVotes {
    /// Processes the next frame.
    pub fn process(&mut self, now: &CapturedFrame) {
        let Some(before) = self.before.replace(*now).filter(|before| !before.is_guessed && !now.is_guessed)
        else {
            return;
        };
        let (true, Some(first), Some(second)) =
            (is_response(&before, now), before.ppdu_airtime(), now.ppdu_airtime())
        else {
            return;
        };
        // The start of an A-MPDU is measured from its first timestamp, its end from the last one.
        let from_begin = now.stamp.since(before.stamps().0).ns();
        let from_end = now.stamp.since(before.stamps().1).ns();
        let gap = before.response_gap;
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
        // Pairs with two equal differences, such as RTS and CTS at one rate, are not decisive. If all
        // preambles have equal length, the start of the preamble and the first bit are equivalent.
        let others = off[2..].iter().filter(|&&one| close(one)).count();
        let is_decided = if close(off[0]) { others == 0 } else { others + usize::from(close(off[1])) == 1 };
        if least > TOLERANCE.ns() || !is_decided {
            return;
        }
        if close(off[0]) && close(off[1]) {
            self.begin_or_mpdu += 1;
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

    /// Number of decisive pairs, including those that fit `Begin` and `Mpdu` alike.
    pub fn pairs(&self) -> u64 {
        self.decisive() + self.begin_or_mpdu
    }

    /// Number of pairs that fit exactly one reference.
    pub fn decisive(&self) -> u64 {
        self.votes.iter().sum::<u64>() + self.mixed.values().sum::<u64>()
    }

    /// Marks a time on other channels, after which the next frame is no response.
    pub fn interrupt(&mut self) {
        self.before = None;
    }

    /// Number of pairs that contradict a reference.
    pub fn contradicting(&self, stamp_reference: StampReference) -> u64 {
        let [begin, mpdu, end] = self.votes;
        let own = self.own().and_then(|own| self.mixed.get(&own)).copied().unwrap_or_default();
        let agreeing = match stamp_reference {
            StampReference::Begin => begin + self.begin_or_mpdu,
            StampReference::Mpdu => mpdu + self.begin_or_mpdu,
            StampReference::End => end + own,
        };
        self.pairs() - agreeing
    }

    /// Default reference without decisive pairs. For TSFT (`by_tsft`) that is the definition of radiotap,
    /// unless most responses would then begin within their frames; otherwise the end, as hosts stamp.
    pub fn default_reference(&self, by_tsft: bool) -> StampReference {
        let [mpdu, end] = self.possible;
        let is_refuted = mpdu * 2 < self.timed && end > mpdu;
        if by_tsft && !is_refuted { StampReference::Mpdu } else { StampReference::End }
    }

    /// Reference that most pairs fit; none without decisive pairs. If as many pairs fit the start of the
    /// preamble as the first bit of the MPDU, TSFT (`by_tsft`) means the first bit, other timers the start.
    pub fn stamp_reference(&self, by_tsft: bool) -> Option<StampReference> {
        let [begin, mpdu, end] = self.votes;
        if self.pairs() == 0 {
            None
        } else if end + self.mixed.values().sum::<u64>() >= begin.max(mpdu) + self.begin_or_mpdu {
            Some(StampReference::End)
        } else if mpdu > begin || mpdu == begin && by_tsft {
            Some(StampReference::Mpdu)
        } else {
            Some(StampReference::Begin)
        }
    }

    /// Station of the sniffer itself, if its frames are stamped at their start and others at their end.
    pub fn own(&self) -> Option<StationId> {
        let (&own, &pairs) = self.mixed.iter().max_by_key(|&(_, pairs)| pairs)?;
        (self.stamp_reference(false) == Some(StampReference::End) && pairs >= ENOUGH_MIXED).then_some(own)
    }
}

fn is_response(before: &CapturedFrame, now: &CapturedFrame) -> bool {
    let to_its_sender = before.transmitter.is_some() && now.receiver == before.transmitter;
    match now.control() {
        Some(Control::Ack | Control::BlockAck(_)) => to_its_sender && before.requires_ack(),
        Some(Control::Cts) => to_its_sender && before.control() == Some(Control::Rts),
        _ => false,
    }
}
