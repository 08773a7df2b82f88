//! How far a capture is to be trusted.

use crate::habits::TimerFault;
use multihop_core::Span;

/// What a sniffer is likely to have missed, and what is wrong with the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// Records of the file.
    pub records: u64,
    /// Records in which no frame could be read.
    pub unreadable: u64,
    /// The most frequent reason for that.
    pub unreadable_message: Option<String>,
    /// The most frequent reason why records are cut.
    pub cut_message: Option<String>,
    /// Frames whose frame check sequence, or whose receiver, says that they are damaged.
    pub damaged: u64,
    /// Frames of which less was captured than its header and frame check sequence need.
    pub cut: u64,
    /// Frames in front of which the receiver's header contradicts itself.
    pub damaged_headers: u64,
    /// Frames whose bytes contradict what the receiver said of their frame check sequence, and went before.
    pub fcs_overruled: u64,
    /// Frames that are not damaged whose airtime is unknown, as the receiver did not say how they were sent.
    pub unknown_airtime: u64,
    /// HE frames stamped at their end of which the length of the packet extension is unknown.
    pub unknown_extension: u64,
    /// A-MPDUs.
    pub aggregates: u64,
    /// Those of which frames were missed, as far as that can be seen.
    pub partial_aggregates: u64,
    /// Frames that sequence numbers say were sent.
    pub numbered: u64,
    /// Those of them that were not seen.
    pub missed: u64,
    /// ACKs to stations that are heard.
    pub acks: u64,
    /// Those that answer no frame that was seen.
    pub orphan_acks: u64,
    /// Data frames to stations that are heard, which are to be answered.
    pub to_answer: u64,
    /// Those of which no answer was seen: it was lost, or the sniffer missed it.
    pub unanswered: u64,
    /// Block acknowledgements.
    pub block_acks: u64,
    /// Those that answer no data that was seen: the sniffer does not decode such data.
    pub orphan_block_acks: u64,
    /// Exchanges of DATA and answer whose airtimes are known.
    pub timed: u64,
    /// Those of them that cannot have been as their stamps say: an answer begins before what it answers has
    /// ended.
    pub impossible: u64,
    /// Pairs of a frame and its answer that show what stamps mark.
    pub stamp_pairs: u64,
    /// Those of them that show something else than most do.
    pub other_pairs: u64,
    /// What stamps mark was given, or the radio says it.
    pub marks_are_known: bool,
    /// Frames without any stamp that those around it do not contradict.
    pub wild_stamps: u64,
    /// Stamps that those around them contradict, of frames with another that they do not.
    pub wild_beside: u64,
    /// Why the receiver's timer is not used, if so.
    pub timer_fault: Option<TimerFault>,
    /// Frames whose timer had not moved since a frame long before.
    pub stalled: u64,
    /// Times that the receiver's timer was set anew.
    pub timer_steps: u64,
    /// Times that the host's clock was set, as the timer shows.
    pub host_steps: u64,
    /// Times that the host's stamps went backwards.
    pub backward: u64,
    /// By how much the host's clock was set back, where no timer says how much time passed meanwhile.
    pub set_back: Span,
    /// Airtime of all frames, and the part of it that lies within other frames.
    pub airtime: Span,
    /// As `airtime`.
    pub overlapping: Span,
    /// Frames that are copies of the one before of their sender: same number, and not sent again.
    pub copies: u64,
    /// Records of something else than frames, among those of a remote sniffer.
    pub other_records: u64,
    /// Time that the capture covers on this channel.
    pub length: Span,
    /// The longest time between two frames.
    pub longest_silence: Span,
    /// Times that the radio changed its channel.
    pub channel_changes: u64,
    /// Time that it spent on other channels.
    pub elsewhere: Span,
    /// By how much `length` may be wrong, as when the channel changed is known only from the frames around
    /// it.
    pub uncertain: Span,
    /// Stations beyond those that are distinguished.
    pub stations_beyond: u64,
    /// The file ends in the middle of a record, or is broken from there on.
    pub broken: bool,
}

/// How far to trust a capture.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Grade {
    /// Nearly everything was seen.
    Good,
    /// Shares are too low by what is said; rates and capacities hold.
    Fair,
    /// Shares say little.
    Poor,
}

impl Grade {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Good => "good",
            Grade::Fair => "fair",
            Grade::Poor => "poor",
        }
    }

    /// By the share of frames, records or pairs that speak against a capture.
    fn of_share(share: f64) -> Grade {
        if share >= POOR {
            Grade::Poor
        } else if share >= FAIR {
            Grade::Fair
        } else {
            Grade::Good
        }
    }
}

/// From these shares on a capture is fair, or poor.
const FAIR: f64 = 0.02;
const POOR: f64 = 0.15;

/// Of fewer frames than this, shares of time mean little.
const FEW_FRAMES: u64 = 10;
/// Fewer pairs than this may agree by chance on what stamps mark.
const FEW_PAIRS: u64 = 4;
/// A silence of this length and this share of a capture is no quiet channel.
const LONG_SILENCE: Span = Span::from_ms(10_000);
const LARGE_SILENCE: f64 = 0.5;

impl Quality {
    /// The grade, and a sentence for each thing that speaks against the capture, the worst first.
    pub fn verdict(&self) -> (Grade, Vec<String>) {
        let mut found: Vec<(f64, String)> = self
            .shares()
            .into_iter()
            .filter(|&(part, of, _)| part > 0 && of > 0)
            .map(|(part, of, what)| {
                let share = part as f64 / of as f64;
                let numbers = match what.strip_prefix("s ") {
                    Some(_) => format!("{:.3} of {:.3}", part as f64 * 1e-9, of as f64 * 1e-9),
                    None => format!("{part} of {of}"),
                };
                (share, format!("{numbers} {what} ({:.1} %){}", share * 100.0, self.message(what)))
            })
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let worst = found.first().map_or(Grade::Good, |&(share, _)| Grade::of_share(share));
        let others = self.others();
        let grade = others.iter().map(|&(grade, _)| grade).fold(worst, Grade::max);
        let (serious, mild): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|&(grade, _)| grade > Grade::Good);
        let sentences = |list: Vec<(Grade, String)>| list.into_iter().map(|(_, sentence)| sentence);
        let shares = found.into_iter().map(|(_, sentence)| sentence);
        (grade, sentences(serious).chain(shares).chain(sentences(mild)).collect())
    }

    /// Why records cannot be read, behind the sentence that counts them.
    fn message(&self, what: &str) -> String {
        let message = match what {
            UNREADABLE => self.unreadable_message.as_ref(),
            CUT => self.cut_message.as_ref(),
            _ => None,
        };
        message.map_or_else(String::new, |message| format!(", most often because: {message}"))
    }

    /// Parts that speak against it, of how many, and what they are.
    fn shares(&self) -> [(u64, u64, &'static str); 17] {
        let frames = self.records - self.unreadable.min(self.records);
        [
            (self.unreadable - self.cut, self.records, UNREADABLE),
            (self.damaged, frames, "frames are damaged"),
            (
                self.unknown_airtime,
                frames,
                "frames do not say how they were sent, so that their airtime is unknown",
            ),
            (
                self.damaged_headers,
                frames,
                "headers of the receiver contradict themselves: rates and times may be missing",
            ),
            (
                self.partial_aggregates,
                self.aggregates,
                "A-MPDUs were seen in part, so that their airtime is a lower bound",
            ),
            (self.missed, self.numbered, "frames are missing from sequence numbers"),
            (self.orphan_acks, self.acks, "ACKs to stations in range answer a frame that was not seen"),
            (self.orphan_block_acks, self.block_acks, "BlockAcks answer data that was not seen"),
            (
                self.impossible,
                self.timed,
                "exchanges have impossible time stamps (an ACK within its DATA) and are refused",
            ),
            (
                self.other_pairs,
                self.stamp_pairs,
                "pairs of a frame and its answer contradict what stamps are taken to mark",
            ),
            (self.wild_stamps, self.records, "frames have no stamp that those around them do not contradict"),
            (
                self.overlapping.ns(),
                self.airtime.ns(),
                "s of airtime lie within other frames, so that shares of time are too low",
            ),
            (self.set_back.ns(), self.length.ns(), "s may be missing, as the host's clock was set back"),
            (
                self.timer_steps,
                self.records,
                "frames have a timer that was set anew: lengths there are the host's",
            ),
            (self.copies, frames, "frames are copies of the one before, as of two radios, and count twice"),
            (self.cut, self.records, CUT),
            (
                self.unanswered,
                self.to_answer,
                "data frames to stations in range have no answer that was seen",
            ),
        ]
    }

    /// What is no share, with the grade that a capture has at best.
    fn others(&self) -> Vec<(Grade, String)> {
        let mut found = Vec::new();
        let mut say = |is_so: bool, grade, sentence: String| {
            if is_so {
                found.push((grade, sentence));
            }
        };
        let frames = self.records.saturating_sub(self.unreadable);
        let silence = self.longest_silence.seconds();
        let is_silent =
            self.longest_silence >= LONG_SILENCE && silence >= LARGE_SILENCE * self.length.seconds();
        let has_few_pairs = self.timed > 0 && !self.marks_are_known && self.stamp_pairs < FEW_PAIRS;
        let timer = match self.timer_fault {
            Some(TimerFault::StandsStill) => "stands still",
            Some(TimerFault::RunsWrong) => "does not run as the host's clock does",
            None => "",
        };
        say(self.records == 0, Grade::Poor, "there is not one record".into());
        let same = "all stamps are the same, so that there are no shares of time";
        say(frames > 1 && self.length == Span::ZERO, Grade::Poor, same.into());
        let few = format!("only {} could be read: shares of time say little", counted(frames, "frame"));
        say((1..FEW_FRAMES).contains(&frames), Grade::Poor, few);
        let silent = format!(
            "nothing was captured for {silence:.0} s of {:.0} s on end, which counts as idle",
            self.length.seconds()
        );
        say(is_silent, Grade::Poor, silent);
        let pairs = format!(
            "only {} of a frame and its answer: what stamps mark, and so capacities, may be wrong",
            counted(self.stamp_pairs, "pair")
        );
        say(has_few_pairs, Grade::Fair, pairs);
        let extension = format!(
            "the packet extension of {} is unknown: capacities may be up to 7 % too high",
            counted(self.unknown_extension, "HE frame")
        );
        say(self.unknown_extension > 0 && self.timed > 0, Grade::Fair, extension);
        let broken = "the file is broken, or ends in the middle of a record";
        say(self.broken, Grade::Fair, broken.into());
        let hopped = format!(
            "the radio changed its channel {} and spent {:.3} s elsewhere, {:.3} s here, give or take {:.3} s",
            counted(self.channel_changes, "time"),
            self.elsewhere.seconds(),
            self.length.seconds(),
            self.uncertain.seconds()
        );
        let grade = Grade::of_share(self.uncertain.seconds() / self.length.seconds().max(1e-9));
        say(self.channel_changes > 0, grade, hopped);
        let fault = format!("the receiver's timer {timer} and is not used: times are those of the host");
        say(self.timer_fault.is_some(), Grade::Good, fault);
        let overruled = format!(
            "what the receiver says of the frame check sequence of {} contradicts their bytes, which go before",
            counted(self.fcs_overruled, "frame")
        );
        say(self.fcs_overruled > 0, Grade::Good, overruled);
        found.extend(self.notes());
        found
    }

    /// What was done, or is left out, without harm to the numbers.
    fn notes(&self) -> impl Iterator<Item = (Grade, String)> {
        [
            (
                self.host_steps,
                "time",
                "the host's clock and the receiver's timer went apart, and the timer was right",
            ),
            (
                self.wild_beside,
                "stamp",
                "were contradicted by those around, and the frame's other stamp was used",
            ),
            (self.stalled, "frame", "came while the receiver's timer stood still"),
            (self.backward, "stamp", "went backwards"),
            (self.other_records, "record", "carry no frame of the remote sniffer"),
            (self.stations_beyond, "frame", "are of stations beyond those that are distinguished"),
        ]
        .into_iter()
        .filter(|&(count, _, _)| count > 0)
        .map(|(count, noun, what)| (Grade::Good, format!("{} {what}", counted(count, noun))))
    }
}

/// A number of things, in words.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

const UNREADABLE: &str = "records have no frame that can be read";
const CUT: &str = "records are cut within the frame's header";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_share_grades_and_is_said_first() {
        let mut quality = Quality { records: 1_000, length: Span::from_ms(1), ..Quality::default() };
        assert_eq!(quality.verdict(), (Grade::Good, vec![]));
        (quality.numbered, quality.missed) = (500, 15);
        (quality.acks, quality.orphan_acks) = (400, 1);
        let (grade, said) = quality.verdict();
        assert_eq!(grade, Grade::Fair);
        assert_eq!(said[0], "15 of 500 frames are missing from sequence numbers (3.0 %)");
        (quality.block_acks, quality.orphan_block_acks) = (10, 10);
        assert_eq!(quality.verdict().0, Grade::Poor);
        assert!(quality.verdict().1[0].starts_with("10 of 10 BlockAcks"));
    }

    #[test]
    fn nothing_at_all_is_poor_and_a_broken_file_fair_at_best() {
        assert_eq!(Quality::default().verdict().0, Grade::Poor);
        let length = Span::from_ms(1);
        let broken = Quality { records: 50, broken: true, length, ..Quality::default() };
        assert_eq!(broken.verdict().0, Grade::Fair);
    }

    #[test]
    fn a_grade_knows_how_many_pairs_voted_and_how_many_frames_there_were() {
        let length = Span::from_ms(1);
        let quality = Quality { records: 100, timed: 30, stamp_pairs: 30, length, ..Quality::default() };
        assert_eq!(quality.verdict().0, Grade::Good);
        let none = Quality { stamp_pairs: 0, ..quality.clone() };
        assert_eq!(none.verdict().0, Grade::Fair);
        assert!(none.verdict().1[0].starts_with("only 0 pairs of a frame"));
        let given = Quality { marks_are_known: true, ..none.clone() };
        assert_eq!(given.verdict().0, Grade::Good);
        let untimed = Quality { timed: 0, ..none };
        assert_eq!(untimed.verdict().0, Grade::Good, "nothing hangs on it");
        let divided = Quality { other_pairs: 10, ..quality.clone() };
        assert_eq!(divided.verdict().0, Grade::Poor);
        let few = Quality { records: 9, ..Quality::default() };
        assert_eq!(few.verdict().0, Grade::Poor);
    }

    #[test]
    fn a_silence_that_no_channel_has_is_poor() {
        let of = |silence, length| {
            let [longest_silence, length] = [silence, length].map(Span::from_ms);
            Quality { records: 100, longest_silence, length, ..Quality::default() }.verdict().0
        };
        assert_eq!(of(3_990_000, 4_000_000), Grade::Poor);
        assert_eq!(of(9_000, 10_000), Grade::Good);
        assert_eq!(of(20_000, 4_000_000), Grade::Good);
    }

    #[test]
    fn why_records_cannot_be_read_is_said_behind_their_number() {
        let quality = Quality {
            records: 5,
            unreadable: 5,
            unreadable_message: Some("link type 1".into()),
            ..Quality::default()
        };
        let (grade, said) = quality.verdict();
        let expected =
            "5 of 5 records have no frame that can be read (100.0 %), most often because: link type 1";
        assert_eq!((grade, said[0].as_str()), (Grade::Poor, expected));
    }
}
