//! Proportional rate reduction (RFC 9937): the window during a reduction, by the data that is delivered.

/// State of a reduction, which lasts until the data that was outstanding at its start is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateReduction {
    /// Window at the start, which Linux takes for `RecoverFS`.
    prior_window: u64,
    /// `prr_delivered`: bytes delivered since the start.
    delivered: u64,
    /// `prr_out`: bytes sent since the start.
    sent: u64,
    /// Window allowed now, in bytes.
    window: u64,
}

/// Effect of an acknowledgement on a reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Number of bytes newly delivered, and newly lost.
    pub delivered: u64,
    pub lost: u64,
    /// Whether the acknowledgement covers new data.
    pub advanced: bool,
    /// Bytes in flight after the acknowledgement.
    pub in_flight: u64,
    /// Window at the end of the reduction (`ssthresh`).
    pub threshold: u64,
}

impl RateReduction {
    /// Starts from a window.
    pub fn new(prior_window: u64) -> RateReduction {
        RateReduction { prior_window: prior_window.max(1), delivered: 0, sent: 0, window: prior_window }
    }

    /// Window allowed now, in bytes.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// Records that `bytes` are sent.
    pub fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Processes an acknowledgement (RFC 9937, section 6.2). As in Linux (`tcp_cwnd_reduction`), shares are
    /// rounded up to whole segments of `mss` bytes, and the first acknowledgement releases a segment. A
    /// window has room for one.
    pub fn on_progress(&mut self, progress: Progress, mss: u64) {
        let Progress { delivered, lost, advanced, in_flight, threshold } = progress;
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let allowed = if in_flight > threshold {
            let share = u128::from(threshold) * u128::from(self.delivered);
            let share = u64::try_from(share.div_ceil(u128::from(self.prior_window))).unwrap_or(u64::MAX / 2);
            (share.div_ceil(mss) * mss).saturating_sub(self.sent)
        } else {
            let conserved = self.delivered.saturating_sub(self.sent).max(delivered).div_ceil(mss) * mss;
            // "If the ACK advances snd.una without further loss, grow as in slow start" (PRR-SSRB).
            let grown = if advanced && lost == 0 { mss } else { 0 };
            (conserved + grown).min(threshold - in_flight)
        };
        self.window = (in_flight + if self.sent == 0 { allowed.max(mss) } else { allowed }).max(mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    /// Figure 1 of RFC 9937's example (section 7): 20 segments are outstanding, the first is lost, and the
    /// window is halved. Each second acknowledgement releases a segment.
    #[test]
    fn rfc_9937_a_single_loss_halves_the_flight_evenly() {
        let mut reduction = RateReduction::new(20 * MSS);
        let mut in_flight = 16 * MSS; // three were selectively acknowledged, one is lost
        let mut sent = Vec::new();
        for _ in 0..16 {
            let progress =
                Progress { delivered: MSS, lost: 0, advanced: false, in_flight, threshold: 10 * MSS };
            reduction.on_progress(progress, MSS);
            let released = (reduction.window() - in_flight) / MSS;
            sent.push(released);
            reduction.on_sent(released * MSS);
            in_flight = in_flight + released * MSS - MSS;
        }
        // At the end the flight is at the threshold, and each delivered segment releases another one.
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1]);
    }

    /// Below the threshold: after further losses one segment per delivered segment, otherwise two.
    #[test]
    fn rfc_9937_below_the_threshold_losses_conserve_and_progress_grows() {
        for (lost, advanced, released) in [(MSS, true, 1), (0, true, 2), (0, false, 1)] {
            let mut reduction = RateReduction::new(20 * MSS);
            reduction.on_sent(MSS);
            let (in_flight, threshold) = (4 * MSS, 10 * MSS);
            let progress = Progress { delivered: MSS, lost, advanced, in_flight, threshold };
            reduction.on_progress(progress, MSS);
            assert_eq!(reduction.window(), in_flight + released * MSS, "{lost} {advanced}");
        }
    }

    /// Up to the threshold, and at least one segment at first.
    #[test]
    fn rfc_9937_the_window_does_not_exceed_the_threshold() {
        let mut reduction = RateReduction::new(20 * MSS);
        reduction.on_sent(MSS);
        let progress =
            Progress { delivered: 8 * MSS, lost: 0, advanced: true, in_flight: 7 * MSS, threshold: 10 * MSS };
        reduction.on_progress(progress, MSS);
        assert_eq!(reduction.window(), 10 * MSS);
        let mut first = RateReduction::new(20 * MSS);
        let progress = Progress { delivered: 1, lost: MSS, advanced: false, in_flight: 10 * MSS, ..progress };
        first.on_progress(progress, MSS);
        assert_eq!(first.window(), 11 * MSS);
    }
}
