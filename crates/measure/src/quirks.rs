//! Quirks of a receiver: errors of its flags and of its timer, as its first records show.

use crate::clock::{LONGEST_PPDU, radio_timer};
use multihop_capture::{Fcs, Record, dissect};
use multihop_core::{Span, Time};
use std::ops::Range;

/// Limits on the records, and on their bytes, that are buffered to detect the quirks.
const BUFFERED_RECORDS: usize = 2_048;
const BUFFERED_BYTES: usize = 4 << 20;

/// Number of frames with a wrong FCS and none with a correct one from which the FCS flag is not trusted.
const ENOUGH_WRONG: u64 = 8;

/// Shortest time over which the host's clock is compared with the receiver's timer.
const STEP: Span = Span::from_ms(10);
/// Tolerances of the comparison: relative difference of the clocks' speeds, and total delay of the host over
/// the first records.
const SPEED: f64 = 0.01;
const DELAY: Span = Span::from_ms(50);
/// Number of intervals that suffice for the comparison.
const ENOUGH_STEPS: usize = 8;

/// Reason why the receiver's timer is not used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TimerFault {
    /// The timer keeps its value while time passes.
    Stopped,
    /// The timer's speed differs from the host's clock: its unit is not microseconds, or it mixes several
    /// radios.
    WrongSpeed,
}

/// Quirks of a receiver.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Quirks {
    /// Whether frames of each type end with a frame check sequence, where the receiver's flag is overruled.
    pub fcs_present: [Option<bool>; 4],
    /// Reason why the timer is not used, if any.
    pub timer_fault: Option<TimerFault>,
    /// Whether the host's timestamps are not used, because they do not change while the timer advances.
    pub host_stopped: bool,
}

/// First records of an interface, with their bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct BufferedRecords {
    records: Vec<(Record<'static>, Range<usize>)>,
    bytes: Vec<u8>,
}

impl BufferedRecords {
    /// Appends a copy of a record.
    pub fn push(&mut self, record: &Record<'_>) {
        let start = self.bytes.len();
        self.bytes.extend(record.bytes);
        let Record { number, interface, link_type, time, original_length, fcs_bytes, .. } = *record;
        let empty = Record { number, interface, link_type, time, original_length, fcs_bytes, bytes: &[] };
        self.records.push((empty, start..self.bytes.len()));
    }

    /// Whether there are enough records to detect the quirks.
    pub fn is_full(&self) -> bool {
        self.records.len() >= BUFFERED_RECORDS || self.bytes.len() >= BUFFERED_BYTES
    }

    /// Buffered records, in order.
    pub fn iter(&self) -> impl Iterator<Item = Record<'_>> {
        self.records.iter().map(|(record, range)| Record { bytes: &self.bytes[range.clone()], ..*record })
    }
}

impl Quirks {
    /// Detects the quirks from the first records.
    pub fn detect(held: &BufferedRecords) -> Quirks {
        let mut fcs = [FcsEvidence::default(); 4];
        let mut stamps = Vec::new();
        for record in held.iter() {
            let Ok((reception, frame)) = dissect(&record) else { continue };
            fcs[usize::from(frame.type_subtype >> 4 & 3)].add(
                reception.fcs_present,
                reception.bad_fcs == Some(true) || reception.sent,
                frame.fcs,
                frame.fcs_flag_is_wrong,
            );
            if let (Some(host), Some(timer)) = (record.time, radio_timer(&reception).ns) {
                stamps.push((host, timer));
            }
        }
        let timers = stamps.iter().map(|(_, timer)| *timer);
        let timer_range = timers.clone().max().unwrap_or_default() - timers.min().unwrap_or_default();
        let host_stopped =
            timer_range > LONGEST_PPDU.ns() && stamps.iter().all(|(host, _)| *host == stamps[0].0);
        // Types with few frames follow the verdict over all frames.
        let all = fcs.iter().fold(FcsEvidence::default(), FcsEvidence::with).verdict();
        let fcs_present = fcs.map(|evidence| evidence.verdict().or(all));
        Quirks { fcs_present, timer_fault: timer_fault(&stamps), host_stopped }
    }
}

/// Number of frames by the receiver's FCS flag and by the evidence of their bytes.
#[derive(Clone, Copy, Debug, Default)]
struct FcsEvidence {
    /// Flag set: FCS correct, FCS wrong without an error report of the receiver, FCS absent by the length of
    /// the frame.
    announced: [u64; 3],
    /// Flag not set: FCS present, FCS absent.
    denied: [u64; 2],
}

impl FcsEvidence {
    fn add(&mut self, said: Option<bool>, is_excused: bool, fcs: Fcs, flag_is_wrong: bool) {
        match (said, fcs) {
            (Some(true), Fcs::Right) => self.announced[0] += 1,
            (Some(true), Fcs::Wrong) if !is_excused => self.announced[1] += 1,
            (Some(true), Fcs::Absent) if flag_is_wrong => self.announced[2] += 1,
            (Some(false), Fcs::Right) => self.denied[0] += 1,
            (Some(false), _) if !is_excused => self.denied[1] += 1,
            _ => {}
        }
    }

    fn with(self, other: &FcsEvidence) -> FcsEvidence {
        FcsEvidence {
            announced: std::array::from_fn(|index| self.announced[index] + other.announced[index]),
            denied: std::array::from_fn(|index| self.denied[index] + other.denied[index]),
        }
    }

    /// Verdict on the flag: overruled if all bytes contradict it.
    fn verdict(self) -> Option<bool> {
        let [right, wrong, without] = self.announced;
        let [there, not_there] = self.denied;
        if right == 0 && (without > 0 || wrong >= ENOUGH_WRONG) {
            Some(false)
        } else if there > 0 && there >= not_there {
            Some(true)
        } else {
            None
        }
    }
}

/// Checks a timer, in nanoseconds, against the host's clock.
fn timer_fault(stamps: &[(Time, u64)]) -> Option<TimerFault> {
    let (mut still, mut whole) = (Span::ZERO, Span::ZERO);
    let (mut steps, mut from) = (Vec::new(), *stamps.first()?);
    for pair in stamps.windows(2) {
        let [(host, timer), (next_host, next_timer)] = [pair[0], pair[1]];
        let passed = next_host.since(host.min(next_host));
        whole += passed;
        still += if timer == next_timer { passed } else { Span::ZERO };
        let step = next_host.since(from.0.min(next_host));
        if step >= STEP {
            steps.push((next_timer as f64 - from.1 as f64, step.ns() as f64));
            from = (next_host, next_timer);
        }
    }
    if whole > LONGEST_PPDU && still * 2 > whole {
        return Some(TimerFault::Stopped);
    }
    let mut ratios: Vec<f64> = steps.iter().map(|(timer, host)| timer / host).collect();
    ratios.sort_by(f64::total_cmp);
    let median = *ratios.get(ratios.len() / 2)?;
    if !(0.5..2.0).contains(&median) {
        return (ratios.len() >= ENOUGH_STEPS || whole >= STEP * 2).then_some(TimerFault::WrongSpeed);
    }
    // Over a longer time, delays of the host hardly matter. Steps of either clock do not count as speed.
    let usual = steps.iter().filter(|(timer, host)| (0.25..4.0).contains(&(timer / host)));
    let (timer, host) = usual.fold((0.0, 0.0), |(timer, host), step| (timer + step.0, host + step.1));
    let off = (timer - host).abs();
    (off > SPEED * host + DELAY.ns() as f64).then_some(TimerFault::WrongSpeed)
}
