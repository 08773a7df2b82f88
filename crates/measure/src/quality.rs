//! Reliability of a capture.

use crate::quirks::TimerFault;
use multihop_core::Span;

/// Losses of the sniffer, and defects of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// Number of records in the file.
    pub records: u64,
    /// Number of records without a readable frame.
    pub unreadable: u64,
    /// Most frequent reason for unreadable records.
    pub unreadable_message: Option<String>,
    /// Most frequent reason for cut records.
    pub cut_message: Option<String>,
    /// Number of frames that are damaged by their FCS or by the receiver's report.
    pub damaged: u64,
    /// Number of frames with fewer captured bytes than their header needs.
    pub cut: u64,
    /// Number of frames whose link-layer header contradicts itself.
    pub damaged_headers: u64,
    /// Number of frames whose bytes contradict the receiver's FCS flag and took precedence.
    pub fcs_overruled: u64,
    /// Number of intact frames of unknown airtime, as the receiver did not report their rate or format.
    pub unknown_airtime: u64,
    /// Number of HE frames with an end timestamp and a packet extension of unknown length.
    pub unknown_extension: u64,
    /// Number of A-MPDUs.
    pub aggregates: u64,
    /// Number of A-MPDUs with missed frames, as far as detectable.
    pub partial_aggregates: u64,
    /// Number of frames that were sent according to sequence numbers.
    pub numbered: u64,
    /// Number of these frames that were not captured.
    pub missed: u64,
    /// Number of ACKs to stations in range.
    pub acks: u64,
    /// Number of these ACKs without a captured frame that they acknowledge.
    pub orphan_acks: u64,
    /// Number of data frames to stations in range that require a response.
    pub to_answer: u64,
    /// Number of these data frames without a captured response: it was lost, or the sniffer missed it.
    pub unanswered: u64,
    /// Number of block acknowledgements.
    pub block_acks: u64,
    /// Number of block acknowledgements without captured data, which the sniffer cannot decode.
    pub orphan_block_acks: u64,
    /// Number of exchanges of DATA and response with known airtimes.
    pub timed: u64,
    /// Number of these exchanges with impossible timestamps: a response begins before the end of its DATA.
    pub impossible: u64,
    /// Number of pairs of a frame and its response that show what timestamps refer to.
    pub stamp_pairs: u64,
    /// Number of these pairs that contradict the majority.
    pub other_pairs: u64,
    /// Whether the user or the radio states what timestamps refer to.
    pub reference_is_known: bool,
    /// Number of frames whose timestamps are all contradicted by neighbouring frames.
    pub outlier_frames: u64,
    /// Number of contradicted timestamps in frames with another timestamp that is consistent.
    pub replaced_stamps: u64,
    /// Reason why the receiver's timer is not used, if any.
    pub timer_fault: Option<TimerFault>,
    /// Number of frames whose timer had not changed since a much earlier frame.
    pub stalled: u64,
    /// Number of resets of the receiver's timer.
    pub timer_steps: u64,
    /// Number of times that the host's clock was set, as the timer shows.
    pub host_steps: u64,
    /// Number of times that the host's timestamps went backwards.
    pub backward: u64,
    /// Total by which the host's clock was set back, if no timer gives the elapsed time.
    pub set_back: Span,
    /// Airtime of all frames.
    pub airtime: Span,
    /// Part of `airtime` that overlaps other frames.
    pub overlapping: Span,
    /// Number of duplicates of the sender's previous frame: same number, without the retry flag.
    pub copies: u64,
    /// Number of records without a frame among those of a remote sniffer.
    pub other_records: u64,
    /// Time that the capture covers on this channel.
    pub length: Span,
    /// Longest time between two frames.
    pub longest_silence: Span,
    /// Number of channel changes.
    pub channel_changes: u64,
    /// Time spent on other channels.
    pub elsewhere: Span,
    /// Uncertainty of `length`, as the time of a channel change is known only from neighbouring frames.
    pub uncertain: Span,
    /// Number of frames of stations beyond the limit.
    pub stations_beyond: u64,
    /// Whether the file ends in the middle of a record, or is damaged from there on.
    pub broken: bool,
}

/// Reliability grade of a capture.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Grade {
    /// Nearly all frames were captured.
    Good,
    /// Shares are too low by the stated amounts; rates and capacities are valid.
    Fair,
    /// Shares are unreliable.
    Poor,
}

impl Grade {
    /// Name of the grade.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Good => "good",
            Grade::Fair => "fair",
            Grade::Poor => "poor",
        }
    }

    /// Grade by the share of frames, records or pairs that count against the capture.
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

/// Shares from which a capture is fair, or poor.
const FAIR: f64 = 0.02;
const POOR: f64 = 0.15;

/// Number of frames below which shares of time are unreliable.
const FEW_FRAMES: u64 = 10;
/// Number of pairs below which they may agree by chance.
const FEW_PAIRS: u64 = 4;
/// Length and share of the capture from which a silence is implausible for a quiet channel.
const LONG_SILENCE: Span = Span::from_ms(10_000);
const LARGE_SILENCE: f64 = 0.5;

impl Quality {
    /// The grade, and a sentence for each defect, the worst first.
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

    /// Most frequent reason, appended to the sentence that counts unreadable or cut records.
    fn message(&self, what: &str) -> String {
        let message = match what {
            UNREADABLE => self.unreadable_message.as_ref(),
            CUT => self.cut_message.as_ref(),
            _ => None,
        };
        message.map_or_else(String::new, |message| format!(", most often because: {message}"))
    }

    /// Counts of defects, each with its total and its sentence.
    fn shares(&self) -> [(u64, u64, &'static str); 17] {
        let frames = self.records - self.unreadable.min(self.records);
        [
            (self.unreadable - self.cut, self.records, UNREADABLE),
            (self.damaged, frames, "frames are damaged"),
            (self.unknown_airtime, frames, "frames lack a rate or format, so that their airtime is unknown"),
            (
                self.damaged_headers,
                frames,
                "headers of the receiver contradict themselves: rates and times may be missing",
            ),
            (
                self.partial_aggregates,
                self.aggregates,
                "A-MPDUs were captured in part, so that their airtime is a lower bound",
            ),
            (self.missed, self.numbered, "frames are missing, by gaps in sequence numbers"),
            (self.orphan_acks, self.acks, "ACKs to stations in range answer a frame that was not captured"),
            (
                self.orphan_block_acks,
                self.block_acks,
                "block acknowledgements answer data that was not captured",
            ),
            (
                self.impossible,
                self.timed,
                "exchanges have impossible time stamps (an ACK within its DATA) and are not used",
            ),
            (
                self.other_pairs,
                self.stamp_pairs,
                "pairs of a frame and its response contradict the instant that timestamps are assumed to refer to",
            ),
            (
                self.outlier_frames,
                self.records,
                "frames have no timestamp that is consistent with neighbouring frames",
            ),
            (
                self.overlapping.ns(),
                self.airtime.ns(),
                "s of airtime overlap other frames, so that shares of time are too low",
            ),
            (self.set_back.ns(), self.length.ns(), "s may be missing, as the host's clock was set back"),
            (
                self.timer_steps,
                self.records,
                "frames have a timer that was reset: times there are those of the host",
            ),
            (
                self.copies,
                frames,
                "frames are duplicates of the previous one, as from two radios, and count twice",
            ),
            (self.cut, self.records, CUT),
            (self.unanswered, self.to_answer, "data frames to stations in range have no captured response"),
        ]
    }

    /// Defects that are no shares, each with the best grade that it allows.
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
        let has_few_pairs = self.timed > 0 && !self.reference_is_known && self.stamp_pairs < FEW_PAIRS;
        let timer = match self.timer_fault {
            Some(TimerFault::Stopped) => "does not advance",
            Some(TimerFault::WrongSpeed) => "differs from the host's clock",
            None => "",
        };
        say(self.records == 0, Grade::Poor, "the capture has no records".into());
        let same = "all timestamps are equal, so that there are no shares of time";
        say(frames > 1 && self.length == Span::ZERO, Grade::Poor, same.into());
        let few = format!("only {} are readable: shares of time are unreliable", counted(frames, "frame"));
        say((1..FEW_FRAMES).contains(&frames), Grade::Poor, few);
        let silent = format!(
            "nothing was captured for {silence:.0} s of {:.0} s without a break, which counts as idle",
            self.length.seconds()
        );
        say(is_silent, Grade::Poor, silent);
        let pairs = format!(
            "only {} of a frame and its response: the instant of timestamps, and so capacities, may be wrong",
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
            "the radio changed its channel {} and spent {:.3} s on others, {:.3} s on this one, uncertain by {:.3} s",
            counted(self.channel_changes, "time"),
            self.elsewhere.seconds(),
            self.length.seconds(),
            self.uncertain.seconds()
        );
        let grade = Grade::of_share(self.uncertain.seconds() / self.length.seconds().max(1e-9));
        say(self.channel_changes > 0, grade, hopped);
        let fault = format!("the receiver's timer {timer} and is not used: times are the host's");
        say(self.timer_fault.is_some(), Grade::Good, fault);
        let overruled = format!(
            "the receiver's FCS flag of {} contradicts their bytes, which take precedence",
            counted(self.fcs_overruled, "frame")
        );
        say(self.fcs_overruled > 0, Grade::Good, overruled);
        found.extend(self.notes());
        found
    }

    /// Corrections and omissions that do not affect the numbers.
    fn notes(&self) -> impl Iterator<Item = (Grade, String)> {
        [
            (
                self.host_steps,
                "time",
                "the host's clock diverged from the receiver's timer, and the timer was right",
            ),
            (
                self.replaced_stamps,
                "timestamp",
                "were inconsistent with neighbouring frames, and the frame's other timestamp was used",
            ),
            (self.stalled, "frame", "arrived while the receiver's timer did not advance"),
            (self.backward, "timestamp", "went backwards"),
            (self.other_records, "record", "carry no frame of the remote sniffer"),
            (self.stations_beyond, "frame", "are of stations beyond the limit"),
        ]
        .into_iter()
        .filter(|&(count, _, _)| count > 0)
        .map(|(count, noun, what)| (Grade::Good, format!("{} {what}", counted(count, noun))))
    }
}

/// A count with its noun.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

const UNREADABLE: &str = "records have no readable frame";
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
        assert_eq!(said[0], "15 of 500 frames are missing, by gaps in sequence numbers (3.0 %)");
        (quality.block_acks, quality.orphan_block_acks) = (10, 10);
        assert_eq!(quality.verdict().0, Grade::Poor);
        assert!(quality.verdict().1[0].starts_with("10 of 10 block acknowledgements"));
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
        let given = Quality { reference_is_known: true, ..none.clone() };
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
        let expected = "5 of 5 records have no readable frame (100.0 %), most often because: link type 1";
        assert_eq!((grade, said[0].as_str()), (Grade::Poor, expected));
    }
}
