//! Airtime by time, station and kind.

use crate::StationId;
use multihop_capture::{Control, Frame, FrameType};
use multihop_core::{Interval, Span, Time};

/// What airtime was used for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// Beacons, probes, associations.
    Management,
    /// RTS and CTS.
    Reservation,
    /// ACK and block acknowledgement, and requests for them.
    Acknowledgement,
    /// Other control frames.
    Control,
    /// Data, for the first time.
    Data,
    /// Data that was sent before.
    Retry,
    /// Frames that arrived damaged, or whose header cannot be read: their kind and their sender are
    /// unknown.
    Damaged,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 7] = [
        Kind::Management,
        Kind::Reservation,
        Kind::Acknowledgement,
        Kind::Control,
        Kind::Data,
        Kind::Retry,
        Kind::Damaged,
    ];

    /// What a frame uses airtime for.
    pub(crate) fn of(frame: &Frame) -> Kind {
        match frame.kind {
            FrameType::Management(_) => Kind::Management,
            FrameType::Control(Control::Rts | Control::Cts) => Kind::Reservation,
            FrameType::Control(Control::Ack | Control::BlockAck(_) | Control::BlockAckRequest(_)) => {
                Kind::Acknowledgement
            }
            FrameType::Data(_) if frame.retry => Kind::Retry,
            FrameType::Data(_) => Kind::Data,
            FrameType::Control(_) | FrameType::Extension(_) => Kind::Control,
            FrameType::Unknown => Kind::Damaged,
        }
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Management => "management",
            Kind::Reservation => "reservation",
            Kind::Acknowledgement => "acknowledgement",
            Kind::Control => "control",
            Kind::Data => "data",
            Kind::Retry => "retry",
            Kind::Damaged => "damaged",
        }
    }
}

/// Frames of one kind, from one station, in one bin.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Cell {
    /// How many.
    pub frames: u64,
    /// Bytes on the air.
    pub bytes: u64,
    /// For how long they were on the air, as far as it is known.
    pub airtime: Span,
}

impl Cell {
    fn add(&mut self, other: Cell) {
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.airtime += other.airtime;
    }
}

/// A cell that is not empty.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Row {
    /// Number of the bin, from the start.
    pub bin: u64,
    /// Transmitter of the frames; none where it is unknown.
    pub station: Option<StationId>,
    /// What they were.
    pub kind: Kind,
    /// How much of them there was.
    pub cell: Cell,
}

/// Rows beyond so many make bins twice as wide.
const MOST_ROWS: usize = 200_000;

/// Adds up airtime. Bins begin at the first frame; when there are too many rows, two become one.
#[derive(Clone, Debug)]
pub struct Ledger {
    width: Span,
    start: Option<Time>,
    bin: u64,
    /// The bin that is being filled, by station: the first is that of unknown senders.
    now: Vec<[Cell; Kind::ALL.len()]>,
    rows: Vec<Row>,
    /// Time of each bin in which at least one frame was on the air.
    busy: Vec<Span>,
    until: Time,
}

impl Ledger {
    /// With bins of this width, which must not be zero.
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

    /// A frame. Its airtime counts in the bin in which it began.
    pub fn add(&mut self, station: Option<StationId>, kind: Kind, bytes: u32, air: Interval) {
        let start = *self.start.get_or_insert(air.start);
        let bin = air.start.since(start).whole(self.width);
        if bin > self.bin {
            self.turn(bin);
        }
        let index = station.map_or(0, |station| station.index() + 1);
        if index >= self.now.len() {
            self.now.resize(index + 1, [Cell::default(); Kind::ALL.len()]);
        }
        self.now[index][kind as usize].add(Cell { frames: 1, bytes: bytes.into(), airtime: air.length() });
        self.occupy(start, air);
    }

    /// Overlaps count once.
    fn occupy(&mut self, start: Time, air: Interval) {
        while air.end.since(start).whole(self.width) >= MOST_BINS {
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
        while self.rows.len() > MOST_ROWS || self.bin >= MOST_BINS {
            self.double_bin_width();
        }
    }

    fn flush(&mut self) {
        for (index, cells) in self.now.iter_mut().enumerate() {
            for kind in Kind::ALL {
                let cell = std::mem::take(&mut cells[kind as usize]);
                if cell.frames > 0 {
                    let station = index.checked_sub(1).map(StationId::of);
                    self.rows.push(Row { bin: self.bin, station, kind, cell });
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

    /// Sorts the rows, and makes those of the same bin, station and kind one.
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

    /// Width of the bins, rows in order, busy time of each bin, and when the first begins.
    pub fn finish(mut self) -> (Span, Vec<Row>, Vec<Span>, Option<Time>) {
        self.flush();
        self.merge();
        (self.width, self.rows, self.busy, self.start)
    }
}

/// Bins at the most, whatever is in them.
const MOST_BINS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn air(start_us: u64, end_us: u64) -> Interval {
        Interval { start: Time::from_ns(start_us * 1_000), end: Time::from_ns(end_us * 1_000) }
    }

    #[test]
    fn overlaps_count_once_and_frames_cross_bins() {
        let mut ledger = Ledger::new(Span::from_us(1_000));
        ledger.add(None, Kind::Data, 10, air(5_000, 5_300));
        ledger.add(None, Kind::Data, 10, air(5_200, 5_400));
        ledger.add(Some(StationId::of(0)), Kind::Retry, 10, air(5_900, 6_150));
        let (width, rows, busy, start) = ledger.finish();
        assert_eq!((width, start), (Span::from_us(1_000), Some(Time::from_ns(5_000_000))));
        assert_eq!(busy, [Span::from_us(500), Span::from_us(150)]);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].cell, Cell { frames: 2, bytes: 20, airtime: Span::from_us(500) });
    }

    #[test]
    fn wider_bins_are_one_row_for_each_station_and_kind_and_hold_no_more_than_fits() {
        let mut ledger = Ledger::new(Span::from_us(1));
        for us in 0..200_003 {
            ledger.add(None, Kind::Data, 10, air(us, us + 1));
        }
        ledger.add(None, Kind::Data, 10, air(200_003, 500_000));
        let (width, rows, busy, _) = ledger.finish();
        assert_eq!(width, Span::from_us(8));
        assert_eq!(busy, vec![width; 62_500]);
        assert!(rows.iter().zip(&rows[1..]).all(|(one, next)| one.bin < next.bin));
        assert_eq!(rows.iter().map(|row| row.cell.frames).sum::<u64>(), 200_004);
    }

    #[test]
    fn a_gap_of_years_makes_bins_wider_instead_of_making_millions() {
        let mut ledger = Ledger::new(Span::from_us(1));
        ledger.add(None, Kind::Data, 10, air(0, 1));
        ledger.add(None, Kind::Data, 10, air(3_000_000_000_000_000, 3_000_000_000_000_001));
        let (width, rows, busy, _) = ledger.finish();
        assert!(busy.len() as u64 <= MOST_BINS);
        assert_eq!(rows.len(), 2);
        assert_eq!(busy.iter().copied().sum::<Span>(), Span::from_us(2));
        assert!(width > Span::from_ms(1_000));
    }
}
