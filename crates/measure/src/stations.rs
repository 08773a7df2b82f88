//! The stations that were heard.

use crate::Samples;
use multihop_capture::{Address, Frame, FrameType, NetworkName};
use multihop_core::{Span, Time};
use std::collections::BTreeMap;

/// Number of a station, in the order in which they were heard.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct StationId(u32);

impl StationId {
    pub(crate) fn of(index: usize) -> StationId {
        StationId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Its place in the list of stations.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A damaged frame, or a phone that hides, brings a new address each time: beyond so many, stations are not
/// distinguished.
const MOST: usize = 4_096;

/// Sequence numbers count modulo this.
const SEQUENCES: u16 = 4_096;

/// Of so many counts of a station the last number is kept: a receiver that is made up by damage costs nothing
/// beyond.
const MOST_COUNTS: usize = 1_024;

/// A larger step may be another count: the station began anew, or sleeps.
const LARGEST_GAP: u16 = 64;
/// A station that begins anew does not do so this often.
const ENOUGH_JUMPS: u64 = 3;

/// What was heard of a station.
#[derive(Clone, Debug)]
pub struct Station {
    /// Its address.
    pub address: Address,
    /// Name of the network that it announced last.
    pub network_name: Option<NetworkName>,
    /// Frames that it sent.
    pub frames: u64,
    /// Data frames among them, and those that were sent again.
    pub data: u64,
    /// Data frames that were sent before.
    pub retries: u64,
    /// Airtime of its frames.
    pub airtime: Span,
    /// Its signal in dBm.
    pub signal_dbm: Samples,
    /// From the first sight of a data frame to its acknowledgement, in seconds.
    pub service_s: Samples,
    /// ACKs to it.
    pub acks: u64,
    /// Those of them that answer no frame that was seen.
    pub orphan_acks: u64,
    /// Frames that its sequence numbers say were sent.
    pub numbered: u64,
    /// Those of them that were not seen.
    pub missed: u64,
    /// Frames that have all that distinguishes the one before, and are not sent again.
    pub copies: u64,
    /// Times that its numbers went on by more than frames that were lost in between can explain, and by how
    /// much in all.
    jumps: u64,
    jumped: u64,
    /// Receiver, traffic identifier, number and fragment of its last frame with a number.
    latest: Option<(Option<Address>, Option<u8>, u16, u8)>,
    /// The last number of management and plain data, which are counted together.
    last: Option<u16>,
    /// The last number of `QoS` data, which are counted by receiver and traffic identifier (802.11-2020,
    /// 10.3.2.14.2).
    last_of: BTreeMap<(Address, u8), u16>,
    first_try: Option<(u16, Time)>,
}

impl Station {
    fn new(address: Address) -> Station {
        Station {
            address,
            network_name: None,
            frames: 0,
            data: 0,
            retries: 0,
            airtime: Span::ZERO,
            signal_dbm: Samples::default(),
            service_s: Samples::default(),
            acks: 0,
            orphan_acks: 0,
            numbered: 0,
            missed: 0,
            copies: 0,
            jumps: 0,
            jumped: 0,
            latest: None,
            last: None,
            last_of: BTreeMap::new(),
            first_try: None,
        }
    }

    /// A frame that it sent, which began at `start`.
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

    /// Its data frame was acknowledged, at an instant that may be unknown.
    pub(crate) fn acknowledged(&mut self, at: Option<Time>) {
        if let (Some((_, start)), Some(at)) = (self.first_try.take(), at) {
            self.service_s.add(at.since(start).seconds());
        }
    }

    /// Gaps in its sequence numbers. Frames to groups have a count of their own in some stations, and are
    /// left out.
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
                    if self.last_of.len() < MOST_COUNTS || self.last_of.contains_key(&(receiver, tid)) =>
                {
                    self.last_of.entry((receiver, tid)).or_insert(sequence.number)
                }
                Some(_) => return,
                None => self.last.get_or_insert(sequence.number),
            },
            FrameType::Management(_) => self.last.get_or_insert(sequence.number),
            _ => return,
        };
        let before = *last;
        let step = (SEQUENCES + sequence.number % SEQUENCES - before % SEQUENCES) % SEQUENCES;
        // What is sent again in an A-MPDU stands among later numbers, as far back as the window of a block acknowledgement goes.
        let is_behind = frame.retry && step > SEQUENCES / 2;
        if is_behind || step >= SEQUENCES - LARGEST_GAP {
            return;
        }
        *last = sequence.number;
        if step > LARGEST_GAP {
            self.jumps += 1;
            self.jumped += u64::from(step);
        }
        if (1..=LARGEST_GAP).contains(&step) {
            self.numbered += u64::from(step);
            self.missed += u64::from(step - 1);
        }
    }
}

/// All stations of a capture.
#[derive(Clone, Debug, Default)]
pub struct Stations {
    ids: BTreeMap<Address, StationId>,
    all: Vec<Station>,
    /// Addresses that came when there were too many stations.
    pub beyond: u64,
}

impl Stations {
    /// The station with this address; none for a group, or if there are too many.
    pub fn id(&mut self, address: Option<Address>) -> Option<StationId> {
        let address = address.filter(|address| !address.is_group())?;
        if let Some(&known) = self.ids.get(&address) {
            return Some(known);
        }
        if self.all.len() >= MOST {
            self.beyond += 1;
            return None;
        }
        let id = StationId::of(self.all.len());
        self.ids.insert(address, id);
        self.all.push(Station::new(address));
        Some(id)
    }

    /// The station with this address, if it was seen.
    pub fn known(&self, address: Address) -> Option<StationId> {
        self.ids.get(&address).copied()
    }

    /// One of them.
    pub fn get_mut(&mut self, id: StationId) -> Option<&mut Station> {
        self.all.get_mut(id.index())
    }

    /// Nothing was heard for a while: numbers go on where they are then.
    pub(crate) fn interrupt(&mut self) {
        for station in &mut self.all {
            station.last = None;
            station.last_of.clear();
            station.first_try = None;
            station.latest = None;
        }
    }

    /// Nothing more comes. Numbers that jump again and again belong to one count, of which much was not seen.
    pub(crate) fn finish(&mut self) {
        for station in self.all.iter_mut().filter(|station| station.jumps >= ENOUGH_JUMPS) {
            station.numbered += station.jumped;
            station.missed += station.jumped - station.jumps;
        }
    }

    /// In the order of their numbers.
    pub fn all(&self) -> &[Station] {
        &self.all
    }
}
