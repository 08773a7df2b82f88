//! One interface of a capture: converts its records to frames with times, channel by channel.

use crate::channels::Channels;
use crate::clock::{JUMP, RadioTime, TrustedStamps, is_outlier, radio_timer};
use crate::quirks::{BufferedRecords, Quirks};
use crate::{CaptureClock, SnifferReport, SurveyOptions};
use multihop_capture::{
    AmpduStatus, DissectError, Encoding, Fcs, Frame, FrameError, FrameType, HeaderError, Record, RxInfo,
    dissect_with_fcs,
};
use multihop_core::Time;
use std::collections::{BTreeMap, VecDeque};

/// Number of frames that are read ahead before the time of a frame is determined.
const READ_AHEAD: usize = 16;

/// First reference number of A-MPDUs that are recognised by their timer, distinct from the receiver's
/// references.
const OWN_REFERENCES: u32 = 0x8000_0000;

/// Limit on the number of distinct messages about unreadable records.
const MAX_MESSAGES: usize = 64;

/// Captured frame whose time is not determined yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UntimedFrame {
    /// Timestamp of the host.
    pub host: Option<Time>,
    /// Time of the radio.
    pub timer: RadioTime,
    /// Data that the receiver reported.
    pub reception: RxInfo,
    /// The frame; if it is damaged or unreadable, only its length.
    pub frame: Frame,
    /// Integrity of the frame.
    pub state: FrameIntegrity,
}

/// Time of a frame on the time line of its interface or channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameTime {
    /// Time of the frame.
    pub at: Time,
    /// Whether the time is by the radio's TSFT.
    pub is_tsft: bool,
    /// Whether the time is interpolated between neighbouring frames.
    pub is_guessed: bool,
}

/// Integrity of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FrameIntegrity {
    /// The frame is intact.
    Intact,
    /// The FCS or the receiver reports damage.
    Damaged,
    /// The header cannot be read; `cut` if too little of it was captured.
    Unreadable { cut: bool },
    /// The PPDU carried no frame.
    Empty,
}

/// Reads the records of an interface as a stream.
pub(crate) struct InterfaceReader {
    buffered: BufferedRecords,
    quirks: Option<Quirks>,
    pending: VecDeque<UntimedFrame>,
    clock: CaptureClock,
    /// Timestamps that were not outliers, of the host and of the radio.
    trusted: [Option<TrustedStamps>; 2],
    /// Number of frames whose timestamps are all outliers, and of outliers in other frames.
    outlier_frames: u64,
    replaced_stamps: u64,
    /// Timer and reference of the A-MPDU that is recognised by its timer.
    timer_ampdu: Option<(u64, u32)>,
    timer_ampdus: u32,
    channels: Channels,
    /// Numbers of unreadable records, and of records that are not from a remote sniffer, with the reasons by
    /// frequency.
    unreadable: u64,
    foreign_records: u64,
    messages: MessageCounts,
    /// Reasons for cut records.
    cut_messages: MessageCounts,
    fcs_overruled: u64,
}

impl InterfaceReader {
    /// Starts without records.
    pub fn new(options: SurveyOptions) -> InterfaceReader {
        InterfaceReader {
            buffered: BufferedRecords::default(),
            quirks: None,
            pending: VecDeque::with_capacity(READ_AHEAD + 1),
            clock: CaptureClock::default(),
            trusted: [None; 2],
            outlier_frames: 0,
            replaced_stamps: 0,
            timer_ampdu: None,
            timer_ampdus: 0,
            channels: Channels::new(options),
            unreadable: 0,
            foreign_records: 0,
            messages: MessageCounts::default(),
            cut_messages: MessageCounts::default(),
            fcs_overruled: 0,
        }
    }

    /// Processes the next record.
    pub fn process(&mut self, record: &Record<'_>) {
        if let Some(quirks) = self.quirks {
            self.dissect(record, quirks);
            return;
        }
        self.buffered.push(record);
        if self.buffered.is_full() {
            self.detect_quirks();
        }
    }

    /// Determines the receiver's quirks, and processes the buffered records.
    fn detect_quirks(&mut self) {
        let buffered = std::mem::take(&mut self.buffered);
        let quirks = Quirks::detect(&buffered);
        self.quirks = Some(quirks);
        for record in buffered.iter() {
            self.dissect(&record, quirks);
        }
    }

    fn dissect(&mut self, record: &Record<'_>, quirks: Quirks) {
        let (reception, frame, state) = match dissect_with_fcs(record, &quirks.fcs_present) {
            Ok((reception, frame)) => {
                let is_marked = reception.bad_fcs == Some(true);
                // A correct FCS is no coincidence, whatever the receiver reports.
                let is_damaged = frame.fcs == Fcs::Wrong || is_marked && frame.fcs != Fcs::Right;
                let by_habit = quirks.fcs_present[usize::from(frame.type_subtype >> 4 & 3)].is_some();
                let is_overruled = frame.fcs_flag_is_wrong || by_habit || is_marked && !is_damaged;
                self.fcs_overruled += u64::from(is_overruled);
                // Addresses and lengths of a damaged frame are unreliable; only its time and airtime are
                // known.
                if is_damaged {
                    (reception, Frame::unreadable(frame.air_bytes), FrameIntegrity::Damaged)
                } else {
                    (reception, frame, FrameIntegrity::Intact)
                }
            }
            Err(DissectError::Empty { reception }) => {
                (RxInfo { aggregate: None, ..*reception }, Frame::unreadable(0), FrameIntegrity::Empty)
            }
            Err(DissectError::Frame { error, reception, air_bytes }) => {
                let cut = matches!(error, FrameError::Short { .. });
                let messages = if cut { &mut self.cut_messages } else { &mut self.messages };
                messages.count(error.to_string());
                (*reception, Frame::unreadable(air_bytes), FrameIntegrity::Unreadable { cut })
            }
            Err(DissectError::Header(error)) => {
                let is_other = matches!(error, HeaderError::LinkType(_) | HeaderError::NoFrame { .. });
                *(if is_other { &mut self.foreign_records } else { &mut self.unreadable }) += 1;
                self.messages.count(error.to_string());
                return;
            }
        };
        let mut timer = radio_timer(&reception);
        if quirks.timer_fault.is_some() {
            timer = RadioTime::default();
        }
        let host = record.time.filter(|_| !quirks.host_stopped);
        self.pending.push_back(UntimedFrame { host, timer, reception, frame, state });
        if self.pending.len() > READ_AHEAD {
            self.determine_time();
        }
    }

    /// Determines the time of the oldest pending frame, with the frames after it.
    fn determine_time(&mut self) {
        let Some(mut untimed) = self.pending.pop_front() else { return };
        let [host, timer] = self.trusted(&untimed);
        self.recognise_aggregate(&mut untimed, timer);
        let is_tsft = timer.is_some() && untimed.timer.is_tsft;
        let is_guessed = host.is_none() && timer.is_none();
        if is_guessed && (untimed.host.is_some() || untimed.timer.ns.is_some()) {
            self.outlier_frames += 1;
            self.replaced_stamps -= u64::from(untimed.host.is_some()) + u64::from(untimed.timer.ns.is_some());
        }
        // A timer alone does not give the start of the time line.
        let needs_host = is_guessed || !self.clock.is_set();
        let host = host.or_else(|| untimed.host.filter(|_| needs_host).and_then(|_| self.interpolate()));
        if let Some(at) = self.clock.read(host.map(Time::from_ns), timer) {
            self.channels.process(&untimed, FrameTime { at, is_tsft, is_guessed });
        } else {
            self.unreadable += 1;
            self.messages.count("there is no timestamp".into());
        }
    }

    /// Host timestamp of a frame with outliers only: midway between its neighbours, which keeps the order.
    fn interpolate(&self) -> Option<u64> {
        let after = self.pending.front().and_then(|next| next.host).map(Time::ns);
        let before = self.trusted[0].map(|trusted| trusted.last);
        match (before, after) {
            // The next timestamp may be an outlier too.
            (Some(before), Some(after)) if after.abs_diff(before) <= JUMP.ns() => {
                Some(before.midpoint(after))
            }
            (before, after) => before.or(after),
        }
    }

    /// Timestamps of host and radio that neighbouring frames do not contradict.
    fn trusted(&mut self, untimed: &UntimedFrame) -> [Option<u64>; 2] {
        let own = [untimed.host.map(Time::ns), untimed.timer.ns];
        let mut trusted = own;
        for (which, stamp) in own.into_iter().enumerate() {
            let Some(stamp) = stamp else { continue };
            let following = self.pending.iter().filter_map(|next| match which {
                0 => next.host.map(Time::ns),
                _ => next.timer.ns,
            });
            if is_outlier(self.trusted[which], stamp, following) {
                self.replaced_stamps += 1;
                trusted[which] = None;
            } else {
                self.trusted[which] = Some(TrustedStamps::with(self.trusted[which], stamp));
            }
        }
        trusted
    }

    /// Recognises an A-MPDU by its timer, even if the receiver reports none: consecutive frames between the
    /// same stations with the same timer value, which refers to the start of the PPDU.
    fn recognise_aggregate(&mut self, untimed: &mut UntimedFrame, timer: Option<u64>) {
        let Some(timer) = timer.filter(|_| may_aggregate(untimed)) else {
            self.timer_ampdu = None;
            return;
        };
        let continues = self.pending.front().is_some_and(|next| {
            next.timer.ns == Some(timer) && may_aggregate(next) && are_between_the_same(untimed, next)
        });
        let reference = match self.timer_ampdu {
            Some((of, reference)) if of == timer => reference,
            _ if continues => {
                self.timer_ampdus = self.timer_ampdus.wrapping_add(1) % OWN_REFERENCES;
                OWN_REFERENCES + self.timer_ampdus
            }
            _ => {
                self.timer_ampdu = None;
                return;
            }
        };
        untimed.reception.aggregate = Some(AmpduStatus { reference, last: None });
        self.timer_ampdu = continues.then_some((timer, reference));
    }

    /// Processes all pending frames. Returns a report per channel with its frequency in MHz (zero if
    /// unknown). `broken` tells that the rest of the file is unreadable.
    pub fn finish(mut self, broken: bool) -> Vec<(u16, SnifferReport)> {
        if self.quirks.is_none() {
            self.detect_quirks();
        }
        while !self.pending.is_empty() {
            self.determine_time();
        }
        let clock = &self.clock;
        let timer_fault = self.quirks.and_then(|quirks| quirks.timer_fault);
        let mut reports = self.channels.finish();
        // Unreadable records have no channel; they count on the channel with the most records.
        let most = reports.iter().enumerate().max_by_key(|(_, (_, report))| report.quality.records);
        let most = most.map_or(0, |(index, _)| index);
        // Other traffic on the wire of a remote sniffer is no loss.
        let is_remote = reports.iter().any(|(_, report)| report.quality.records > 0);
        let (foreign_records, unreadable) = if is_remote {
            (self.foreign_records, self.unreadable)
        } else {
            (0, self.unreadable + self.foreign_records)
        };
        for (index, (_, report)) in reports.iter_mut().enumerate() {
            let quality = &mut report.quality;
            if index == most {
                quality.records += unreadable;
                quality.unreadable += unreadable;
                quality.other_records = foreign_records;
            }
            quality.unreadable_message = self.messages.most_frequent();
            quality.cut_message = self.cut_messages.most_frequent();
            (quality.host_steps, quality.set_back) = (clock.host_steps, clock.set_back());
            (quality.timer_steps, quality.backward, quality.stalled) =
                (clock.timer_steps, clock.backward, clock.stalled);
            (quality.outlier_frames, quality.replaced_stamps) = (self.outlier_frames, self.replaced_stamps);
            quality.fcs_overruled = self.fcs_overruled;
            (quality.timer_fault, quality.broken) = (timer_fault, broken);
        }
        reports
    }
}

/// Messages with their frequencies.
#[derive(Clone, Debug, Default)]
struct MessageCounts(BTreeMap<String, u64>);

impl MessageCounts {
    fn count(&mut self, message: String) {
        if self.0.len() < MAX_MESSAGES || self.0.contains_key(&message) {
            *self.0.entry(message).or_default() += 1;
        }
    }

    fn most_frequent(&self) -> Option<String> {
        self.0.iter().max_by_key(|(_, count)| **count).map(|(message, _)| message.clone())
    }
}

/// Whether a frame may belong to an A-MPDU that the receiver does not report.
fn may_aggregate(untimed: &UntimedFrame) -> bool {
    let can = matches!(
        untimed.reception.encoding,
        Some(Encoding::Ht(_) | Encoding::Vht(_) | Encoding::He(_) | Encoding::Eht)
    );
    let kind = untimed.frame.kind;
    can && untimed.reception.aggregate.is_none()
        && (untimed.state == FrameIntegrity::Damaged || matches!(kind, FrameType::Data(data) if data.qos))
}

/// Whether two frames may be between the same stations; the addresses of damaged frames are unknown.
fn are_between_the_same(one: &UntimedFrame, other: &UntimedFrame) -> bool {
    let is_unknown = |untimed: &UntimedFrame| untimed.state == FrameIntegrity::Damaged;
    let ends = |untimed: &UntimedFrame| (untimed.frame.transmitter, untimed.frame.receiver);
    is_unknown(one) || is_unknown(other) || ends(one) == ends(other)
}
