//! How far a capture is to be trusted.

/// What a sniffer is likely to have missed, and what is wrong with the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Records of the file.
    pub records: u64,
    /// Records in which no frame could be read.
    pub unreadable: u64,
    /// Frames whose frame check sequence, or whose receiver, says that they are damaged.
    pub damaged: u64,
    /// Frames of which less was captured than its header and frame check sequence need.
    pub cut: u64,
    /// Frames that are not damaged whose airtime is unknown, as the receiver did not say how they were sent.
    pub unknown_airtime: u64,
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
    /// Times that the receiver's timer was set anew.
    pub timer_steps: u64,
    /// Times that the host's stamps went backwards.
    pub backward: u64,
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
}

/// From these shares on a capture is fair, or poor.
const FAIR: f64 = 0.02;
const POOR: f64 = 0.15;

impl Quality {
    /// The grade, and a sentence for each thing that speaks against the capture, the worst first.
    pub fn verdict(&self) -> (Grade, Vec<String>) {
        let mut found: Vec<(f64, String)> = self
            .shares()
            .into_iter()
            .filter(|&(part, of, _)| part > 0 && of > 0)
            .map(|(part, of, what)| {
                let share = part as f64 / of as f64;
                (share, format!("{part} of {of} {what} ({:.1} %)", share * 100.0))
            })
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let worst = found.first().map_or(0.0, |&(share, _)| share);
        let mut grade = if worst >= POOR {
            Grade::Poor
        } else if worst >= FAIR {
            Grade::Fair
        } else {
            Grade::Good
        };
        let mut said: Vec<String> = found.into_iter().map(|(_, sentence)| sentence).collect();
        let others = [
            (self.timer_steps, "steps of the receiver's timer"),
            (self.backward, "stamps that go backwards"),
            (self.stations_beyond, "frames of stations beyond those that are distinguished"),
        ];
        said.extend(
            others.iter().filter(|&&(count, _)| count > 0).map(|&(count, what)| format!("{count} {what}")),
        );
        if self.broken {
            said.push("the file is broken, or ends in the middle of a record".into());
            grade = grade.max(Grade::Fair);
        }
        if self.records == 0 {
            said.push("there is not one record".into());
            grade = Grade::Poor;
        }
        (grade, said)
    }

    /// Parts that speak against it, of how many, and what they are.
    fn shares(&self) -> [(u64, u64, &'static str); 10] {
        let frames = self.records - self.unreadable.min(self.records);
        [
            (self.unreadable - self.cut, self.records, "records have no frame that can be read"),
            (self.damaged, frames, "frames are damaged"),
            (
                self.unknown_airtime,
                frames,
                "frames do not say how they were sent, so that their airtime is unknown",
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
            (self.cut, self.records, "records are cut within the frame's header"),
            (
                self.unanswered,
                self.to_answer,
                "data frames to stations in range have no answer that was seen",
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_share_grades_and_is_said_first() {
        let mut quality = Quality { records: 1_000, ..Quality::default() };
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
        let broken = Quality { records: 5, broken: true, ..Quality::default() };
        assert_eq!(broken.verdict().0, Grade::Fair);
    }
}
