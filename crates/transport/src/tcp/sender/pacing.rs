//! Rate of a connection, and the time at which its pace allows the next segment.

use super::TcpSender;
use crate::Allowance;
use crate::tcp::small_queues::rate_of_window;
use multihop_core::{Rate, Time};

impl TcpSender {
    /// Payload rate of the connection, like `sk_pacing_rate` of Linux: the pace of the controller, or after
    /// the first round-trip sample Linux's rate for the window.
    pub(super) fn rate(&self) -> Option<Rate> {
        let Allowance { window, pace } = self.controller.allowance();
        let (payload, packet) = self.full_segment();
        pace.map(|pace| scaled(pace, payload, packet)).or_else(|| {
            let srtt = self.rto.smoothed()?;
            Some(rate_of_window(window, self.in_flight(), self.controller.slow_start_threshold(), srtt))
        })
    }

    /// Rate at which packets, with headers, are sent; none for window-limited sending.
    pub(super) fn pace(&self) -> Option<Rate> {
        let own = self.controller.allowance().pace;
        if own.is_some() || !self.options.window_pacing {
            return own;
        }
        let (payload, packet) = self.full_segment();
        self.rate().map(|rate| scaled(rate, packet, payload))
    }

    /// Payload bytes and packet bytes of a full segment.
    fn full_segment(&self) -> (u64, u64) {
        let payload = self.options.mss();
        (payload, payload + u64::from(self.options.header_with_data()))
    }

    /// Earliest time of the next segment.
    pub(super) fn paced_until(&self) -> Option<Time> {
        let pace = self.pace()?;
        self.paced.map(|paced| paced.until(pace))
    }
}

/// Rate multiplied by `times / by`, at least 1 b/s.
fn scaled(rate: Rate, times: u64, by: u64) -> Rate {
    let bps = u128::from(rate.bps()) * u128::from(times) / u128::from(by);
    Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1))
}
