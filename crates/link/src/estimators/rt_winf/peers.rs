//! Reports of the receivers of a node's frames about their links (Barreto 2015, Eq. 11).

use crate::Elapsed;
use multihop_core::{Report, Reported, Span, Time};

/// Latest report of each receiver.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    /// Time for which a report is valid; none if until the next one.
    lasts: Option<Span>,
    latest: Vec<Reported>,
}

impl Peers {
    /// Creates an empty set. Reports are valid for the window of busy time.
    pub(crate) fn new(elapsed: Elapsed) -> Peers {
        let lasts = match elapsed {
            Elapsed::Window(window) => Some(window),
            Elapsed::SinceStart => None,
        };
        Peers { lasts, latest: Vec::new() }
    }

    /// Adds a receiver's report.
    pub(crate) fn add(&mut self, reported: Reported) {
        match self.latest.iter_mut().find(|known| known.from == reported.from) {
            Some(known) => *known = reported,
            None => self.latest.push(reported),
        }
    }

    /// Smallest values of the node's own report and those valid at `now`.
    pub(crate) fn least(&self, own: Report, now: Time) -> Report {
        let counts = |known: &&Reported| self.lasts.is_none_or(|lasts| now.since(known.at) <= lasts);
        self.latest.iter().filter(counts).fold(own, |least, Reported { report, .. }| Report {
            capacity_bps: least.capacity_bps.min(report.capacity_bps),
            available_bps: least.available_bps.min(report.available_bps),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{B, C, us};

    fn report(capacity_bps: f64, available_bps: f64) -> Report {
        Report { capacity_bps, available_bps }
    }

    #[test]
    fn the_smaller_of_both_ends_counts_while_it_is_new() {
        let mut peers = Peers::new(Elapsed::Window(Span::from_ms(1)));
        let own = report(4.0, 2.0);
        assert_eq!(peers.least(own, us(0)), own);
        peers.add(Reported { from: B, at: us(100), report: report(5.0, 1.0) });
        peers.add(Reported { from: C, at: us(500), report: report(3.0, 3.0) });
        assert_eq!(peers.least(own, us(600)), report(3.0, 1.0));
        assert_eq!(peers.least(own, us(1_101)), report(3.0, 2.0), "that of B is old");
        peers.add(Reported { from: C, at: us(1_200), report: report(6.0, 6.0) });
        assert_eq!(peers.least(own, us(1_300)), own, "the latest of each counts");
    }

    #[test]
    fn without_a_window_reports_last() {
        let mut peers = Peers::new(Elapsed::SinceStart);
        peers.add(Reported { from: B, at: us(0), report: report(1.0, 1.0) });
        assert_eq!(peers.least(report(4.0, 2.0), us(1_000_000_000)), report(1.0, 1.0));
    }
}
