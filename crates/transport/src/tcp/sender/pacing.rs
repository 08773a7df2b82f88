//! The rate of a connection, and from when on its pace lets the next segment leave.

use super::TcpSender;
use crate::Allowance;
use crate::tcp::small_queues::rate_of;
use multihop_core::{Rate, Time};

impl TcpSender {
    /// The rate of the connection's payload, as `sk_pacing_rate` of Linux is: the pace of its control, or
    /// what Linux takes the window to mean, once there is a round-trip sample.
    pub(super) fn rate(&self) -> Option<Rate> {
        let Allowance { window, pace } = self.controller.allowance();
        let (payload, packet) = self.full_segment();
        pace.map(|pace| scaled(pace, payload, packet)).or_else(|| {
            let srtt = self.rto.smoothed()?;
            Some(rate_of(window, self.in_flight(), self.controller.slow_start_threshold(), srtt))
        })
    }

    /// The rate at which packets, with their headers, leave, if not as the window allows.
    pub(super) fn pace(&self) -> Option<Rate> {
        let own = self.controller.allowance().pace;
        if own.is_some() || !self.options.window_pacing {
            return own;
        }
        let (payload, packet) = self.full_segment();
        self.rate().map(|rate| scaled(rate, packet, payload))
    }

    /// Payload bytes of a full segment, and those of its packet.
    fn full_segment(&self) -> (u64, u64) {
        let payload = self.options.mss();
        (payload, payload + u64::from(self.options.header_with_data()))
    }

    /// No segment leaves before this instant.
    pub(super) fn paced_until(&self) -> Option<Time> {
        let pace = self.pace()?;
        self.paced.map(|paced| paced.until(pace))
    }
}

/// So many times the rate, by so many; never nothing.
fn scaled(rate: Rate, times: u64, by: u64) -> Rate {
    let bps = u128::from(rate.bps()) * u128::from(times) / u128::from(by);
    Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1))
}
