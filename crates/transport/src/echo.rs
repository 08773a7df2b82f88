//! What a receiver returns of the congestion headers and marks that came, and what a sender makes of the marks of acknowledgements.

use crate::CongestionHeader;
use multihop_core::{
    BrakeCounts, Ecn, EwccpHeader, Feedback, LoadHeader, PriceHeader, RcpHeader, Segment, XcpHeader, adpm,
};

/// What the next acknowledgement returns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Echo {
    header: CongestionHeader,
    next: Feedback,
}

impl Echo {
    pub fn new(header: CongestionHeader) -> Echo {
        Echo { header, next: Feedback::None }
    }

    /// A segment came.
    pub fn note(&mut self, segment: &Segment) {
        match segment.feedback {
            Feedback::None => self.note_mark(segment),
            came => self.note_header(&came),
        }
    }

    /// Of XCP, changes of throughput add up: each packet has its own, however few acknowledgements there are. Of RCP and MaxNet, the
    /// latest counts. Of EWCCP, feedback adds up like XCP's, and so does the number of packets; the answer to a probe means
    /// something else and stands alone.
    fn note_header(&mut self, came: &Feedback) {
        match came {
            Feedback::Xcp(header) => {
                let before = if let Feedback::Xcp(sum) = self.next { sum.reverse } else { 0 };
                let reverse = before.saturating_add(header.delta);
                self.next = Feedback::Xcp(XcpHeader { reverse, ..XcpHeader::default() });
            }
            Feedback::Rcp(header) => {
                self.next = Feedback::Rcp(RcpHeader { reverse: header.rate, ..RcpHeader::default() });
            }
            Feedback::Price(header) => {
                self.next = Feedback::Price(PriceHeader { reverse: header.price, price: 0 });
            }
            Feedback::Ewccp(header) => {
                let EwccpHeader { probe, packets, feedback, .. } = *header;
                let before = if let Feedback::Ewccp(sum) = self.next { sum } else { EwccpHeader::default() };
                let sum = if probe || before.probe {
                    EwccpHeader { probe, packets, feedback, ..EwccpHeader::default() }
                } else {
                    EwccpHeader {
                        packets: before.packets.saturating_add(packets),
                        feedback: before.feedback.saturating_add(feedback),
                        ..EwccpHeader::default()
                    }
                };
                self.next = Feedback::Ewccp(sum);
            }
            // What only acknowledgements carry.
            Feedback::None
            | Feedback::Load(_)
            | Feedback::Mark(_)
            | Feedback::Brakes(_)
            | Feedback::TfrcData(_)
            | Feedback::TfrcReport(_) => {}
        }
    }

    /// Marks stand in the codepoint alone.
    pub fn note_mark(&mut self, segment: &Segment) {
        let Segment { ecn, identification, .. } = *segment;
        match self.header {
            CongestionHeader::Load { .. } => {
                if let Some(bounds) = adpm::bounds(ecn, identification) {
                    let before = if let Feedback::Load(header) = self.next { header.load } else { 0 };
                    self.next = Feedback::Load(LoadHeader { load: within(before, bounds) });
                }
            }
            CongestionHeader::Mark if ecn != Ecn::NotCapable => {
                let before = if let Feedback::Mark(mark) = self.next { mark } else { Ecn::NotCapable };
                self.next = Feedback::Mark(if ecn.bits() > before.bits() { ecn } else { before });
            }
            CongestionHeader::Brakes if ecn != Ecn::NotCapable => {
                let mut counts =
                    if let Feedback::Brakes(counts) = self.next { counts } else { BrakeCounts::default() };
                let kind = if ecn == Ecn::Ect1 { &mut counts.accelerates } else { &mut counts.brakes };
                *kind = kind.saturating_add(1);
                self.next = Feedback::Brakes(counts);
            }
            _ => {}
        }
    }

    /// An acknowledgement leaves. What is left of sums, counts and marks is nothing to return; rates, prices and loads stay.
    pub fn take(&mut self) -> Feedback {
        let returned = self.next;
        match &mut self.next {
            Feedback::Xcp(sum) => sum.reverse = 0,
            Feedback::Ewccp(sum) => *sum = EwccpHeader::default(),
            Feedback::Mark(_) | Feedback::Brakes(_) => self.next = Feedback::None,
            Feedback::None
            | Feedback::Rcp(_)
            | Feedback::Price(_)
            | Feedback::Load(_)
            | Feedback::TfrcData(_)
            | Feedback::TfrcReport(_) => {}
        }
        returned
    }
}

/// A load factor in units, moved as little as brings it to at least the first bound and below the second.
fn within(load: u16, (from, below): (f64, f64)) -> u16 {
    let units = |bound: f64| (bound * LoadHeader::UNIT).min(f64::from(u16::MAX));
    let (from, below) = (units(from).ceil() as u16, units(below).ceil() as u16);
    load.min(below.saturating_sub(1)).max(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(ecn: Ecn, identification: u16) -> Segment {
        Segment { payload: 1000, ecn, identification, ..Segment::default() }
    }

    /// What comes back after these packets, numbered from `first` on, through a router of this load factor.
    fn told(echo: &mut Echo, first: u16, packets: u16, load: f64) -> f64 {
        for identification in (0..packets).map(|i| first.wrapping_add(i)) {
            echo.note(&data(adpm::mark(Ecn::Ect0, identification, load), identification));
        }
        let Feedback::Load(header) = echo.take() else { panic!() };
        header.load()
    }

    /// `2^k` packets in a row tell a load that stands still to `2^-k` of the range; to twice that where the row does not begin at a
    /// multiple of `2^k`.
    #[test]
    fn packets_in_a_row_tell_the_load_the_more_exactly_the_more_they_are() {
        for (first, times) in [(0, 1.0), (2048, 1.0), (5, 2.0), (4_711, 2.0), (65_530, 2.0)] {
            for load in [0.0, 0.31, 0.6, 0.79, 0.8, 0.99, 1.0, 1.13] {
                for (packets, parts) in [(8, 8.0), (64, 64.0), (1024, 1024.0)] {
                    let mut echo = Echo::new(CongestionHeader::Load { acks: false });
                    let found = told(&mut echo, first, packets, load);
                    let error = (found - load).abs();
                    assert!(
                        error <= times * adpm::LOAD_MOST / parts + 1e-3,
                        "{first} {load} {packets}: {found}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_load_that_changes_is_followed_and_an_overload_is_told_at_once() {
        let mut echo = Echo::new(CongestionHeader::Load { acks: false });
        assert!(told(&mut echo, 0, 64, 0.4) < 0.42);
        assert!(told(&mut echo, 64, 1, 1.05) >= 1.0);
        assert!(told(&mut echo, 65, 1, 0.9) < 1.0);
        assert!((told(&mut echo, 66, 64, 0.7) - 0.7).abs() < 0.02);
    }

    #[test]
    fn the_strongest_mark_and_all_brakes_are_told_once() {
        let mut echo = Echo::new(CongestionHeader::Mark);
        for ecn in [Ecn::Ect1, Ecn::CongestionExperienced, Ecn::Ect0] {
            echo.note(&data(ecn, 0));
        }
        assert_eq!(echo.take(), Feedback::Mark(Ecn::CongestionExperienced));
        assert_eq!(echo.take(), Feedback::None);
        let mut echo = Echo::new(CongestionHeader::Brakes);
        for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::Ect0, Ecn::NotCapable] {
            echo.note(&data(ecn, 0));
        }
        assert_eq!(echo.take(), Feedback::Brakes(BrakeCounts { accelerates: 1, brakes: 2 }));
        assert_eq!(echo.take(), Feedback::None);
    }
}
