//! Fast recovery without selective acknowledgements (RFC 6582), and the older one that partial acknowledgements end (RFC 5681).

use super::{Advance, Planned, View};
use crate::{ExitWindow, Recovery};

/// State of an episode of fast recovery; the default is "none".
#[derive(Clone, Debug, Default)]
pub(crate) struct NewReno {
    /// An acknowledgement up to here ends the episode.
    point: Option<u64>,
    /// Bytes by which duplicate acknowledgements inflate the window: each says that a segment left the network.
    inflation: u64,
    /// Bytes by which partial acknowledgements deflated the window beyond its inflation.
    deflation: u64,
    /// The segment at `una` is to be sent again.
    retransmit: bool,
    /// There was a partial acknowledgement.
    partial: bool,
}

impl NewReno {
    pub fn active(&self) -> bool {
        self.point.is_some()
    }

    pub fn window(&self, view: &View) -> u64 {
        view.window.saturating_sub(self.deflation).max(view.mss()) + self.inflation
    }

    pub fn gone(&self) -> u64 {
        self.inflation
    }

    pub fn enter(&mut self, view: &View) {
        *self = NewReno {
            point: Some(view.max),
            // As many segments left the network; with a fine-grained timeout it can be fewer than the threshold.
            inflation: u64::from(view.duplicates) * view.mss(),
            retransmit: true,
            ..NewReno::default()
        };
    }

    pub fn on_duplicate(&mut self, view: &View) {
        self.inflation += view.mss();
    }

    pub fn on_advance(&mut self, view: &View, acked: u64) -> Advance {
        let Some(point) = self.point else { return Advance::Usual };
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
        // "Deflate the congestion window by the amount of new data acknowledged", and add back one segment if at least one
        // was acknowledged.
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

    pub fn plan(&self, view: &View) -> Option<Planned> {
        let in_flight = view.nxt - view.una;
        if self.active() {
            if self.retransmit {
                return Some(Planned { start: view.una, end: view.max.min(view.una + view.mss()) });
            }
            return if view.burst > 0 { view.usual(in_flight, self.window(view)) } else { None };
        }
        // Limited Transmit is for data never sent before (RFC 3042, section 2).
        let new = view.nxt == view.max || view.options.limited_transmit_repeats;
        let limited = view.options.limited_transmit && new;
        let extra = if limited { view.duplicates.min(view.options.duplicate_threshold - 1) } else { 0 };
        view.usual(in_flight, view.window + u64::from(extra) * view.mss())
    }

    pub fn on_sent(&mut self) {
        self.retransmit = false;
    }
}
