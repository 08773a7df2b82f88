//! Stations of a capture.

use crate::SampleMoments;
use multihop_capture::{Frame, FrameType, MacAddress, NetworkName};
use multihop_core::{Span, Time};
use std::collections::BTreeMap;

/// Index of a station, in the order of their first frames.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct StationId(u32);

impl StationId {
    pub(crate) fn of(index: usize) -> StationId {
        StationId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Index in the list of stations.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Limit on the number of stations: damaged frames and randomized addresses create new ones.
const MAX_STATIONS: usize = 4_096;

/// Sequence numbers are modulo `SEQUENCES`.
const SEQUENCES: u16 = 4_096;

/// Limit on the sequence counters per station: damaged receiver addresses create new ones.
const MAX_COUNTERS: usize = 1_024;

/// Largest step of sequence numbers that counts as loss; after a larger one, the station may have restarted
/// or slept.
const LARGEST_GAP: u16 = 64;
/// Number of larger steps from which they count as loss, as a station does not restart so often.
const ENOUGH_JUMPS: u64 = 3;

/// Counts of a station's captured frames.
#[derive(Clone, Debug)]
pub struct StationStatistics {
    /// MAC address.
    pub address: MacAddress,
    /// Name of the network that the station last announced.
    pub network_name: Option<NetworkName>,
    /// Number of frames that the station sent.
    pub frames: u64,
    /// Number of data frames among them.
    pub data: u64,
    /// Number of retransmitted data frames.
    pub retries: u64,
    /// Airtime of the station's frames.
    pub airtime: Span,
    /// Signal of the station in dBm.
    pub signal_dbm: SampleMoments,
    /// Time from the first captured transmission of a data frame to its acknowledgement, in seconds.
    pub service_s: SampleMoments,
    /// Number of ACKs to the station.
    pub acks: u64,
    /// Number of these ACKs without a captured frame that they acknowledge.
    pub orphan_acks: u64,
    /// Number of frames that the station sent according to its sequence numbers.
    pub numbered: u64,
    /// Number of these frames that were not captured.
    pub missed: u64,
    /// Number of frames that equal the previous one and do not have the retry flag.
    pub copies: u64,
    /// Number of steps of sequence numbers beyond `LARGEST_GAP`, and their sum.
    jumps: u64,
    jump_sum: u64,
    /// Receiver, traffic identifier, sequence number and fragment of the last numbered frame.
    latest: Option<(Option<MacAddress>, Option<u8>, u16, u8)>,
    /// Last sequence number of management and non-QoS data frames, which share a counter.
    last: Option<u16>,
    /// Last sequence number of `QoS` data by receiver and traffic identifier (802.11-2020, 10.3.2.14.2).
    last_by_tid: BTreeMap<(MacAddress, u8), u16>,
    first_try: Option<(u16, Time)>,
}

impl StationStatistics {
    fn new(address: MacAddress) -> StationStatistics {
        StationStatistics {
            address,
            network_name: None,
            frames: 0,
            data: 0,
            retries: 0,
            airtime: Span::ZERO,
            signal_dbm: SampleMoments::default(),
            service_s: SampleMoments::default(),
            acks: 0,
            orphan_acks: 0,
            numbered: 0,
            missed: 0,
            copies: 0,
            jumps: 0,
            jump_sum: 0,
            latest: None,
            last: None,
            last_by_tid: BTreeMap::new(),
            first_try: None,
        }
    }

    /// Counts a frame of the station that began at `start`.
    pub(crate) fn sent(&mut self, frame: &Frame, airtime: Span, start: Time, signal_dbm: Option<i8>) {
        self.frames += 1;
        self.airtime += airtime;
        self.network_name = frame.network_name.or(self.network_name);
        if let Some(signal) = signal_dbm {
            self.signal_dbm.add(f64::from(signal));
        }
        if let FrameType::Data(_) = frame.kind {
            self.data += 1;
            self.retries += u64::from(frame.retry);
        }
        self.count(frame);
        if let Some(sequence) = frame.sequence
            && self.first_try.is_none_or(|(number, _)| number != sequence.number || !frame.retry)
        {
            self.first_try = Some((sequence.number, start));
        }
    }

    /// Counts an acknowledgement of the station's data frame, at a time that may be unknown.
    pub(crate) fn acknowledged(&mut self, at: Option<Time>) {
        if let (Some((_, start)), Some(at)) = (self.first_try.take(), at) {
            self.service_s.add(at.since(start).seconds());
        }
    }

    /// Counts gaps in sequence numbers. Group-addressed frames are omitted, as some stations have a separate
    /// counter for them.
    fn count(&mut self, frame: &Frame) {
        let Some(sequence) = frame.sequence else { return };
        let tid = match frame.kind {
            FrameType::Data(data) => data.tid,
            _ => None,
        };
        let now = (frame.receiver, tid, sequence.number, sequence.fragment);
        let is_copy = self.latest.replace(now) == Some(now) && !frame.retry;
        self.copies += u64::from(is_copy);
        let Some(receiver) = frame.receiver.filter(|address| !address.is_group()) else { return };
        let last = match frame.kind {
            FrameType::Data(data) if !data.null => match data.tid {
                Some(tid)
                    if self.last_by_tid.len() < MAX_COUNTERS
                        || self.last_by_tid.contains_key(&(receiver, tid)) =>
                {
                    self.last_by_tid.entry((receiver, tid)).or_insert(sequence.number)
                }
                Some(_) => return,
                None => self.last.get_or_insert(sequence.number),
            },
            FrameType::Management(_) => self.last.get_or_insert(sequence.number),
            _ => return,
        };
        let before = *last;
        let step = (SEQUENCES + sequence.number % SEQUENCES - before % SEQUENCES) % SEQUENCES;
        // Retransmissions in an A-MPDU are behind later numbers, by up to the window of a block
        // acknowledgement.
        let is_behind = frame.retry && step > SEQUENCES / 2;
        if is_behind || step >= SEQUENCES - LARGEST_GAP {
            return;
        }
        *last = sequence.number;
        if step > LARGEST_GAP {
            self.jumps += 1;
            self.jump_sum += u64::from(step);
        }
        if (1..=LARGEST_GAP).contains(&step) {
            self.numbered += u64::from(step);
            self.missed += u64::from(step - 1);
        }
    }
}

/// All stations of a capture.
#[derive(Clone, Debug, Default)]
pub struct StationTable {
    ids: BTreeMap<MacAddress, StationId>,
    all: Vec<StationStatistics>,
    /// Number of addresses beyond the limit.
    pub over_limit: u64,
}

impl StationTable {
    /// Index of the station with this address; none for a group, or beyond the limit.
    pub fn id(&mut self, address: Option<MacAddress>) -> Option<StationId> {
        let address = address.filter(|address| !address.is_group())?;
        if let Some(&known) = self.ids.get(&address) {
            return Some(known);
        }
        if self.all.len() >= MAX_STATIONS {
            self.over_limit += 1;
            return None;
        }
        let id = StationId::of(self.all.len());
        self.ids.insert(address, id);
        self.all.push(StationStatistics::new(address));
        Some(id)
    }

    /// Index of the station with this address, if it was captured.
    pub fn known(&self, address: MacAddress) -> Option<StationId> {
        self.ids.get(&address).copied()
    }

    /// Station with this index.
    pub fn get_mut(&mut self, id: StationId) -> Option<&mut StationStatistics> {
        self.all.get_mut(id.index())
    }

    /// Marks a time on other channels, after which sequence numbers restart.
    pub(crate) fn interrupt(&mut self) {
        for station in &mut self.all {
            station.last = None;
            station.last_by_tid.clear();
            station.first_try = None;
            station.latest = None;
        }
    }

    /// Ends the count. Repeated large steps belong to one counter with heavy loss.
    pub(crate) fn finish(&mut self) {
        for station in self.all.iter_mut().filter(|station| station.jumps >= ENOUGH_JUMPS) {
            station.numbered += station.jump_sum;
            station.missed += station.jump_sum - station.jumps;
        }
    }

    /// Stations, by index.
    pub fn all(&self) -> &[StationStatistics] {
        &self.all
    }
}
