//! Fast recovery without selective acknowledgements (RFC 6582), and the older one that partial
//! acknowledgements end (RFC 5681).

use super::{Advance, PlannedRange, SenderView};
use crate::{ExitWindow, Recovery};

/// State of a fast recovery. The default state is outside fast recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewReno {
    /// Acknowledgement number that ends the episode.
    point: Option<u64>,
    /// Bytes by which duplicate acknowledgements inflate the window; each shows that a segment left the
    /// network.
    inflation: u64,
    /// Bytes by which partial acknowledgements deflated the window beyond its inflation.
    deflation: u64,
    /// Whether the segment at `una` must be retransmitted.
    retransmit: bool,
    /// Whether there was a partial acknowledgement.
    partial: bool,
}

impl NewReno {
    pub fn active(&self) -> bool {
        self.point.is_some()
    }

    pub fn window(&self, view: &SenderView) -> u64 {
        view.window.saturating_sub(self.deflation).max(view.mss()) + self.inflation
    }

    pub fn left_network(&self) -> u64 {
        self.inflation
    }

    pub fn enter(&mut self, view: &SenderView) {
        *self = NewReno {
            point: Some(view.max),
            // As many segments left the network; with a fine-grained timeout fewer than the threshold are
            // possible.
            inflation: u64::from(view.duplicates) * view.mss(),
            retransmit: true,
            ..NewReno::default()
        };
    }

    pub fn on_duplicate(&mut self, view: &SenderView) {
        self.inflation += view.mss();
    }

    pub fn on_advance(&mut self, view: &SenderView, acked: u64) -> Advance {
        let Some(point) = self.point else { return Advance::NoRecovery };
        let mss = view.mss();
        let any = view.options.recovery == Recovery::Reno;
        if view.una >= point || any {
            let window = match view.options.exit_window {
                // "Set cwnd to ssthresh" (RFC 5681, section 3.2, step 6).
                _ if any => view.window,
                ExitWindow::Flight => (view.nxt - view.una).max(mss) + mss,
                ExitWindow::Deflated => view.window.saturating_sub(self.deflation).max(mss),
            };
            *self = NewReno::default();
            let opens = view.options.exit_window == ExitWindow::Deflated;
            return Advance::Recovered { window, opens };
        }
        // "Deflate the congestion window by the amount of new data acknowledged", and add back one segment if
        // at least one was acknowledged.
        let add_back = if acked >= mss { mss } else { 0 };
        if self.inflation > acked {
            self.inflation = self.inflation - acked + add_back;
        } else {
            self.deflation = (self.deflation + acked - self.inflation).min(view.window);
            self.inflation = add_back;
        }
        self.retransmit = true;
        // The impatient variant: only the first partial acknowledgement restarts the timer.
        let restart_timer = !std::mem::replace(&mut self.partial, true);
        Advance::Partial { restart_timer }
    }

    pub fn plan(&self, view: &SenderView) -> Option<PlannedRange> {
        let in_flight = view.nxt - view.una;
        if self.active() {
            if self.retransmit {
                return Some(PlannedRange { start: view.una, end: view.max.min(view.una + view.mss()) });
            }
            return if view.burst > 0 { view.next_in_sequence(in_flight, self.window(view)) } else { None };
        }
        // Limited Transmit applies to data never sent before (RFC 3042, section 2).
        let new = view.nxt == view.max || view.options.limited_transmit_repeats;
        let limited = view.options.limited_transmit && new;
        let extra = if limited { view.duplicates.min(view.options.duplicate_threshold - 1) } else { 0 };
        view.next_in_sequence(in_flight, view.window + u64::from(extra) * view.mss())
    }

    pub fn on_sent(&mut self) {
        self.retransmit = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpOptions;
    use crate::tcp::recovery::SequenceState;

    const MSS: u64 = 1_000;

    fn options(recovery: Recovery) -> TcpOptions {
        TcpOptions { recovery, segment_size: MSS as u32, ..TcpOptions::default() }
    }

    /// Twenty segments of fifty are sent, with a window of ten.
    fn view(options: &TcpOptions, una: u64, duplicates: u32) -> SenderView<'_> {
        let (nxt, max, pushed, peer_window, burst) = (20_000, 20_000, 50_000, 64_000, 9);
        let sequence = SequenceState { una, nxt, max, pushed, peer_window, duplicates, burst };
        SenderView { options, window: 10_000, sequence }
    }

    /// Steps 2 and 5: three segments are added, one per duplicate. A partial acknowledgement deflates the
    /// window by the acknowledged data, and adds back a segment if at least one was acknowledged.
    #[test]
    fn rfc_6582_3_2_partial_acknowledgements_deflate_the_window() {
        let options = options(Recovery::NewReno);
        let mut newreno = NewReno::default();
        assert_eq!(newreno.window(&view(&options, 0, 2)), 10_000);
        newreno.enter(&view(&options, 0, 3));
        assert_eq!((newreno.window(&view(&options, 0, 3)), newreno.left_network()), (13_000, 3_000));
        newreno.on_duplicate(&view(&options, 0, 4));
        assert_eq!((newreno.window(&view(&options, 0, 4)), newreno.left_network()), (14_000, 4_000));
        let mut una = 0;
        for (acked, window) in [(2_000, 13_000), (5_000, 9_000), (4_000, 6_000), (500, 5_500), (999, 4_501)] {
            una += acked;
            let restart_timer = una == 2_000;
            let advance = newreno.on_advance(&view(&options, una, 0), acked);
            assert_eq!(advance, Advance::Partial { restart_timer }, "the first alone");
            assert_eq!(newreno.window(&view(&options, una, 0)), window, "{acked}");
            let planned = PlannedRange { start: una, end: una + MSS };
            assert_eq!(newreno.plan(&view(&options, una, 0)), Some(planned), "what follows is sent again");
            newreno.on_sent();
        }
        // The window is at least a segment, and deflation at most the window.
        newreno.on_advance(&view(&options, 19_000, 0), 60_000);
        assert_eq!((newreno.deflation, newreno.window(&view(&options, 19_000, 0))), (10_000, 2_000));
    }

    /// Step 3, at the recovery point or beyond: the data in flight, at least a segment, plus one; or the
    /// deflated window (ns-2). Reno ends with any acknowledgement, at the threshold (RFC 5681, section 3.2,
    /// step 6).
    #[test]
    fn rfc_6582_3_2_recovery_ends_at_its_point() {
        for (recovery, exit_window, una, expected) in [
            (Recovery::NewReno, ExitWindow::Flight, 20_000, Some((2_000, false))),
            (Recovery::NewReno, ExitWindow::Deflated, 20_000, Some((9_000, true))),
            (Recovery::NewReno, ExitWindow::Flight, 19_999, None),
            (Recovery::Reno, ExitWindow::Flight, 5_000, Some((10_000, false))),
        ] {
            let options = TcpOptions { exit_window, ..options(recovery) };
            let mut newreno = NewReno::default();
            assert_eq!(newreno.on_advance(&view(&options, 4_000, 0), 4_000), Advance::NoRecovery);
            newreno.enter(&view(&options, 0, 3));
            newreno.deflation = 1_000;
            let found = newreno.on_advance(&view(&options, una, 0), una);
            let ended = expected.map(|(window, opens)| Advance::Recovered { window, opens });
            assert_eq!(found, ended.unwrap_or(Advance::Partial { restart_timer: true }));
            assert_eq!(newreno.active(), expected.is_none());
        }
        let options = options(Recovery::NewReno);
        let mut newreno = NewReno::default();
        newreno.enter(&view(&options, 0, 3));
        let mut later = view(&options, 20_000, 0);
        later.sequence.nxt = 24_000;
        let four_and_one = Advance::Recovered { window: 5_000, opens: false };
        assert_eq!(newreno.on_advance(&later, 20_000), four_and_one);
    }

    /// In recovery new data is sent within the inflated window and the burst limit. Outside, two duplicates
    /// each allow one more segment, but only of new data (RFC 3042), except in ns-2.
    #[test]
    fn rfc_3042_2_what_duplicates_let_go() {
        let new = Some(PlannedRange { start: 20_000, end: 21_000 });
        let options = TcpOptions { limited_transmit: true, ..options(Recovery::NewReno) };
        let mut newreno = NewReno::default();
        newreno.enter(&view(&options, 10_000, 3));
        newreno.on_sent();
        let mut inside = view(&options, 10_000, 3);
        assert_eq!(newreno.plan(&inside), new, "10 outstanding, 13 allowed");
        inside.sequence.burst = 0;
        assert_eq!(newreno.plan(&inside), None);
        for (una, duplicates, limited_transmit, expected) in [
            (10_000, 0, true, None),
            (10_000, 1, true, new),
            (10_000, 1, false, None),
            (9_000, 1, true, None),
            (9_000, 2, true, new),
            (8_000, 2, true, None),
            (8_000, 5, true, None),
            (11_000, 0, false, new),
        ] {
            let options = TcpOptions { limited_transmit, ..options.clone() };
            let found = NewReno::default().plan(&view(&options, una, duplicates));
            assert_eq!(found, expected, "{una} {duplicates}");
        }
        for (limited_transmit_repeats, expected) in
            [(false, None), (true, Some(PlannedRange { start: 18_000, end: 19_000 }))]
        {
            let options = TcpOptions { limited_transmit_repeats, ..options.clone() };
            let mut again = view(&options, 8_000, 1);
            again.sequence.nxt = 18_000;
            assert_eq!(NewReno::default().plan(&again), expected);
        }
    }
}
