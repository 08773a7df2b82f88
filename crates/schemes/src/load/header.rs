//! Headers in which receivers of BMCC and VCP return marks.

use super::adpm;
use multihop_core::{Ecn, HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// Load factor that a receiver of BMCC returns. The paper names no format; these are the bytes of a TCP
    /// option
    pub struct LoadHeader: "bmcc", 5, 4 of 4 {
        /// Load factor estimated from marks
        load: u16 [2..4] "1/10000",
    }
}

header! {
    /// Strongest mark since the last acknowledgement of VCP, in existing bits of the TCP header
    pub struct MarkHeader: "vcp", 8, 0 of 2 {
        /// ECN codepoint of the strongest mark
        mark: u8 [1..2] "",
    }
}

impl LoadHeader {
    /// Header units of a load factor of one.
    pub const UNIT: f64 = 10_000.0;

    /// Returns the load factor.
    pub fn load(self) -> f64 {
        f64::from(self.load) / LoadHeader::UNIT
    }
}

/// Receiver's echo of BMCC: the load factor estimated from the marks so far ([`adpm`]).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoadEcho {
    load: Option<u16>,
}

impl LoadEcho {
    /// Returns the load factor in header units; none before the first mark.
    pub fn load(self) -> Option<u16> {
        self.load
    }
}

impl Echo for LoadEcho {
    fn note(&mut self, segment: &Segment) {
        if let Some(bounds) = adpm::bounds(segment.ecn, segment.identification) {
            self.load = Some(within(self.load.unwrap_or(0), bounds));
        }
    }

    fn take(&mut self) -> HeaderBytes {
        self.load.map_or(HeaderBytes::NONE, |load| HeaderBytes::of(&LoadHeader { load }))
    }
}

/// Moves a load factor in header units by the least amount into the range from the first bound up to below
/// the second.
fn within(load: u16, (from, below): (f64, f64)) -> u16 {
    let units = |bound: f64| (bound * LoadHeader::UNIT).min(f64::from(u16::MAX));
    let (from, below) = (units(from).ceil() as u16, units(below).ceil() as u16);
    load.min(below.saturating_sub(1)).max(from)
}

/// Receiver's echo of VCP: the strongest mark, returned once.
#[derive(Default)]
pub(super) struct MarkEcho {
    mark: Ecn,
}

impl Echo for MarkEcho {
    fn note(&mut self, segment: &Segment) {
        if segment.ecn.bits() > self.mark.bits() {
            self.mark = segment.ecn;
        }
    }

    fn take(&mut self) -> HeaderBytes {
        match std::mem::take(&mut self.mark) {
            Ecn::NotCapable => HeaderBytes::NONE,
            mark => HeaderBytes::of(&MarkHeader { mark: mark.bits() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(ecn: Ecn, identification: u16) -> Segment {
        Segment { payload: 1000, ecn, identification, ..Segment::default() }
    }

    /// Returns the load factor after `packets` packets, numbered from `first`, through a router with this
    /// load factor.
    fn returned(echo: &mut LoadEcho, first: u16, packets: u16, load: f64) -> f64 {
        for identification in (0..packets).map(|i| first.wrapping_add(i)) {
            echo.note(&data(adpm::mark(Ecn::Ect0, identification, load), identification));
        }
        echo.take().parse::<LoadHeader>().unwrap().load()
    }

    /// `2^k` consecutive packets determine a constant load to `2^-k` of the range; to twice that if they do
    /// not begin at a multiple of `2^k`.
    #[test]
    fn more_packets_determine_the_load_more_exactly() {
        for (first, times) in [(0, 1.0), (2048, 1.0), (5, 2.0), (4_711, 2.0), (65_530, 2.0)] {
            for load in [0.0, 0.31, 0.6, 0.79, 0.8, 0.99, 1.0, 1.13] {
                for (packets, parts) in [(8, 8.0), (64, 64.0), (1024, 1024.0)] {
                    let found = returned(&mut LoadEcho::default(), first, packets, load);
                    let error = (found - load).abs();
                    assert!(
                        error <= times * adpm::MAX_LOAD / parts + 1e-3,
                        "{first} {load} {packets}: {found}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_load_that_changes_is_followed_and_an_overload_is_returned_at_once() {
        let mut echo = LoadEcho::default();
        assert!(returned(&mut echo, 0, 64, 0.4) < 0.42);
        assert!(returned(&mut echo, 64, 1, 1.05) >= 1.0);
        assert!(returned(&mut echo, 65, 1, 0.9) < 1.0);
        assert!((returned(&mut echo, 66, 64, 0.7) - 0.7).abs() < 0.02);
    }

    #[test]
    fn the_strongest_mark_is_returned_once() {
        let mut echo = MarkEcho::default();
        for ecn in [Ecn::Ect1, Ecn::CongestionExperienced, Ecn::Ect0] {
            echo.note(&data(ecn, 0));
        }
        let mark = Ecn::CongestionExperienced.bits();
        assert_eq!(echo.take().parse(), Some(MarkHeader { mark }));
        assert!(echo.take().is_none());
    }

    #[test]
    fn before_the_first_mark_there_is_no_load() {
        let mut echo = LoadEcho::default();
        assert!(echo.load().is_none() && echo.take().is_none());
        let load = returned(&mut echo, 0, 64, 0.4);
        assert_eq!(echo.load(), Some((load * LoadHeader::UNIT).round() as u16));
    }
}
