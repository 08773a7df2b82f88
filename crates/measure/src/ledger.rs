//! Airtime by time, station and use.

use crate::StationId;
use multihop_capture::{Control, Frame, FrameType};
use multihop_core::{Interval, Span, Time};

/// Use of airtime.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum AirtimeUse {
    /// Beacons, probes, associations.
    Management,
    /// RTS and CTS.
    Reservation,
    /// ACK, block acknowledgement, and block acknowledgement request.
    Acknowledgement,
    /// Other control frames.
    Control,
    /// Data, first transmission.
    Data,
    /// Data, retransmission.
    Retry,
    /// Damaged or unreadable frames, whose type and sender are unknown.
    Damaged,
}

impl AirtimeUse {
    /// All uses.
    pub const ALL: [AirtimeUse; 7] = [
        AirtimeUse::Management,
        AirtimeUse::Reservation,
        AirtimeUse::Acknowledgement,
        AirtimeUse::Control,
        AirtimeUse::Data,
        AirtimeUse::Retry,
        AirtimeUse::Damaged,
    ];

    /// Use of a frame's airtime.
    pub(crate) fn of_frame(frame: &Frame) -> AirtimeUse {
        match frame.kind {
            FrameType::Management(_) => AirtimeUse::Management,
            FrameType::Control(Control::Rts | Control::Cts) => AirtimeUse::Reservation,
            FrameType::Control(Control::Ack | Control::BlockAck(_) | Control::BlockAckRequest(_)) => {
                AirtimeUse::Acknowledgement
            }
            FrameType::Data(_) if frame.retry => AirtimeUse::Retry,
            FrameType::Data(_) => AirtimeUse::Data,
            FrameType::Control(_) | FrameType::Extension(_) => AirtimeUse::Control,
            FrameType::Unknown => AirtimeUse::Damaged,
        }
    }

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            AirtimeUse::Management => "management",
            AirtimeUse::Reservation => "reservation",
            AirtimeUse::Acknowledgement => "acknowledgement",
            AirtimeUse::Control => "control",
            AirtimeUse::Data => "data",
            AirtimeUse::Retry => "retry",
            AirtimeUse::Damaged => "damaged",
        }
    }
}

/// Frames of one use from one station in one bin.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AirtimeTotals {
    /// Number of frames.
    pub frames: u64,
    /// Number of bytes on the air.
    pub bytes: u64,
    /// Airtime, as far as known.
    pub airtime: Span,
}

impl AirtimeTotals {
    fn add(&mut self, other: AirtimeTotals) {
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.airtime += other.airtime;
    }
}

/// Entry of the ledger that is not empty.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AirtimeRow {
    /// Number of the bin, from zero.
    pub bin: u64,
    /// Transmitter; none if unknown.
    pub station: Option<StationId>,
    /// Use of the airtime.
    pub kind: AirtimeUse,
    /// Totals of these frames.
    pub cell: AirtimeTotals,
}

/// Limit on the number of rows; beyond it bins become twice as wide.
const MAX_ROWS: usize = 200_000;

/// Adds up airtime. Bins begin at the first frame; if there are too many rows, pairs of bins are merged.
#[derive(Clone, Debug)]
pub struct Ledger {
    width: Span,
    start: Option<Time>,
    bin: u64,
    /// Totals of the current bin by station; the first entry is for unknown senders.
    now: Vec<[AirtimeTotals; AirtimeUse::ALL.len()]>,
    rows: Vec<AirtimeRow>,
    /// Busy time of each bin.
    busy: Vec<Span>,
    until: Time,
}

impl Ledger {
    /// Starts a ledger with bins of this width, which must not be zero.
    pub fn new(width: Span) -> Ledger {
        Ledger {
            width,
            start: None,
            bin: 0,
            now: Vec::new(),
            rows: Vec::new(),
            busy: Vec::new(),
            until: Time::ZERO,
        }
    }

    /// Adds a frame. Its airtime counts in the bin in which it began.
    pub fn add(&mut self, station: Option<StationId>, kind: AirtimeUse, bytes: u32, air: Interval) {
        let start = *self.start.get_or_insert(air.start);
        let bin = air.start.since(start).whole(self.width);
        if bin > self.bin {
            self.turn(bin);
        }
        let index = station.map_or(0, |station| station.index() + 1);
        if index >= self.now.len() {
            self.now.resize(index + 1, [AirtimeTotals::default(); AirtimeUse::ALL.len()]);
        }
        self.now[index][kind as usize].add(AirtimeTotals {
            frames: 1,
            bytes: bytes.into(),
            airtime: air.length(),
        });
        self.occupy(start, air);
    }

    /// Adds busy time, counting overlaps once.
    fn occupy(&mut self, start: Time, air: Interval) {
        while air.end.since(start).whole(self.width) >= MAX_BINS {
            self.double_bin_width();
        }
        let mut from = air.start.max(self.until).max(start);
        while from < air.end {
            let bin = from.since(start).whole(self.width);
            let end = air.end.min(start + self.width * (bin + 1));
            let index = bin as usize;
            if index >= self.busy.len() {
                self.busy.resize(index + 1, Span::ZERO);
            }
            self.busy[index] += end.since(from);
            from = end;
        }
        self.until = self.until.max(air.end);
    }

    fn turn(&mut self, bin: u64) {
        self.flush();
        self.bin = bin;
        while self.rows.len() > MAX_ROWS || self.bin >= MAX_BINS {
            self.double_bin_width();
        }
    }

    fn flush(&mut self) {
        for (index, cells) in self.now.iter_mut().enumerate() {
            for kind in AirtimeUse::ALL {
                let cell = std::mem::take(&mut cells[kind as usize]);
                if cell.frames > 0 {
                    let station = index.checked_sub(1).map(StationId::of);
                    self.rows.push(AirtimeRow { bin: self.bin, station, kind, cell });
                }
            }
        }
    }

    fn double_bin_width(&mut self) {
        self.width = self.width * 2;
        self.bin /= 2;
        for row in &mut self.rows {
            row.bin /= 2;
        }
        self.merge();
        self.busy = self.busy.chunks(2).map(|pair| pair.iter().copied().sum()).collect();
    }

    /// Sorts the rows and merges those with the same bin, station and use.
    fn merge(&mut self) {
        self.rows.sort_by_key(|row| (row.bin, row.station, row.kind));
        self.rows.dedup_by(|later, kept| {
            let same = (later.bin, later.station, later.kind) == (kept.bin, kept.station, kept.kind);
            if same {
                kept.cell.add(later.cell);
            }
            same
        });
    }

    /// Width of the bins, rows in order, busy time of each bin, and start of the first bin.
    pub fn finish(mut self) -> (Span, Vec<AirtimeRow>, Vec<Span>, Option<Time>) {
        self.flush();
        self.merge();
        (self.width, self.rows, self.busy, self.start)
    }
}

/// Limit on the number of bins.
const MAX_BINS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn air(start_us: u64, end_us: u64) -> Interval {
        Interval { start: Time::from_ns(start_us * 1_000), end: Time::from_ns(end_us * 1_000) }
    }

    #[test]
    fn overlaps_count_once_and_frames_cross_bins() {
        let mut ledger = Ledger::new(Span::from_us(1_000));
        ledger.add(None, AirtimeUse::Data, 10, air(5_000, 5_300));
        ledger.add(None, AirtimeUse::Data, 10, air(5_200, 5_400));
        ledger.add(Some(StationId::of(0)), AirtimeUse::Retry, 10, air(5_900, 6_150));
        let (width, rows, busy, start) = ledger.finish();
        assert_eq!((width, start), (Span::from_us(1_000), Some(Time::from_ns(5_000_000))));
        assert_eq!(busy, [Span::from_us(500), Span::from_us(150)]);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].cell, AirtimeTotals { frames: 2, bytes: 20, airtime: Span::from_us(500) });
    }

    #[test]
    fn wider_bins_are_one_row_for_each_station_and_kind_and_hold_no_more_than_fits() {
        let mut ledger = Ledger::new(Span::from_us(1));
        for us in 0..200_003 {
            ledger.add(None, AirtimeUse::Data, 10, air(us, us + 1));
        }
        ledger.add(None, AirtimeUse::Data, 10, air(200_003, 500_000));
        let (width, rows, busy, _) = ledger.finish();
        assert_eq!(width, Span::from_us(8));
        assert_eq!(busy, vec![width; 62_500]);
        assert!(rows.iter().zip(&rows[1..]).all(|(one, next)| one.bin < next.bin));
        assert_eq!(rows.iter().map(|row| row.cell.frames).sum::<u64>(), 200_004);
    }

    #[test]
    fn a_gap_of_years_makes_bins_wider_instead_of_making_millions() {
        let mut ledger = Ledger::new(Span::from_us(1));
        ledger.add(None, AirtimeUse::Data, 10, air(0, 1));
        ledger.add(None, AirtimeUse::Data, 10, air(3_000_000_000_000_000, 3_000_000_000_000_001));
        let (width, rows, busy, _) = ledger.finish();
        assert!(busy.len() as u64 <= MAX_BINS);
        assert_eq!(rows.len(), 2);
        assert_eq!(busy.iter().copied().sum::<Span>(), Span::from_us(2));
        assert!(width > Span::from_ms(1_000));
    }
}
