//! Loss recovery by counts of acknowledgements: one of three algorithms.

use super::{Advance, NewReno, PlannedRange, Sack, Sack1, SenderView};
use crate::TcpOptions;
use multihop_core::SackBlock;

/// Loss recovery by one of the algorithms that count acknowledgements.
#[derive(Clone, Debug)]
pub(crate) enum AckRecovery {
    NewReno(NewReno),
    Sack(Sack),
    Sack1(Sack1),
}

impl AckRecovery {
    pub fn new(options: &TcpOptions) -> AckRecovery {
        match options.recovery {
            crate::Recovery::NewReno | crate::Recovery::Reno => AckRecovery::NewReno(NewReno::default()),
            crate::Recovery::Sack | crate::Recovery::Rack => AckRecovery::Sack(Sack::default()),
            crate::Recovery::Sack1 => AckRecovery::Sack1(Sack1::default()),
        }
    }

    pub fn active(&self) -> bool {
        match self {
            AckRecovery::NewReno(newreno) => newreno.active(),
            AckRecovery::Sack(sack) => sack.active(),
            AckRecovery::Sack1(sack) => sack.active(),
        }
    }

    /// Processes the SACK blocks of an acknowledgement up to `una`. Returns whether they are new, so that a
    /// repeated acknowledgement counts as a duplicate (RFC 6675, section 2).
    pub fn on_blocks(&mut self, una: u64, max: u64, blocks: &[SackBlock]) -> bool {
        match self {
            AckRecovery::NewReno(_) => true,
            AckRecovery::Sack(sack) => sack.on_blocks(una, max, blocks),
            AckRecovery::Sack1(sack) => sack.on_blocks(una, max, blocks),
        }
    }

    /// Processes an acknowledgement of `acked` bytes of new data, below `view.una`.
    pub fn on_advance(&mut self, view: &SenderView, acked: u64) -> Advance {
        match self {
            AckRecovery::NewReno(newreno) => newreno.on_advance(view, acked),
            AckRecovery::Sack(sack) => sack.on_advance(view),
            AckRecovery::Sack1(sack) => sack.on_advance(view),
        }
    }

    /// Processes a duplicate acknowledgement during recovery.
    pub fn on_duplicate(&mut self, view: &SenderView) {
        match self {
            AckRecovery::NewReno(newreno) => newreno.on_duplicate(view),
            AckRecovery::Sack(sack) => sack.set_pipe(view),
            AckRecovery::Sack1(_) => {} // counted with its blocks
        }
    }

    /// Whether the duplicate acknowledgements so far indicate a loss. `recover` is the end of an earlier
    /// episode.
    pub fn detects_loss(&self, view: &SenderView, recover: Option<u64>) -> bool {
        match self {
            AckRecovery::NewReno(_) => {
                // The careful variant: only if the acknowledgement covers more than `recover` (RFC 6582,
                // section 3.2).
                view.duplicates == view.options.duplicate_threshold
                    && recover.is_none_or(|recover| view.una > recover)
            }
            AckRecovery::Sack(sack) => {
                sack.detects_loss(view) && recover.is_none_or(|recover| view.una >= recover)
            }
            AckRecovery::Sack1(sack) => {
                sack.detects_loss(view) && recover.is_none_or(|recover| view.una >= recover)
            }
        }
    }

    /// Begins recovery.
    pub fn enter(&mut self, view: &SenderView) {
        match self {
            AckRecovery::NewReno(newreno) => newreno.enter(view),
            AckRecovery::Sack(sack) => sack.enter(view),
            AckRecovery::Sack1(sack) => sack.enter(view),
        }
    }

    /// Processes the expiry of the retransmission timer.
    pub fn on_timeout(&mut self, view: &SenderView) {
        match self {
            AckRecovery::NewReno(newreno) => *newreno = NewReno::default(),
            AckRecovery::Sack(sack) => sack.on_timeout(view),
            AckRecovery::Sack1(sack) => sack.on_timeout(view),
        }
    }

    /// Data to send next.
    pub fn plan(&self, view: &SenderView) -> Option<PlannedRange> {
        match self {
            AckRecovery::NewReno(newreno) => newreno.plan(view),
            AckRecovery::Sack(sack) => sack.plan(view),
            AckRecovery::Sack1(sack) => sack.plan(view),
        }
    }

    /// Records that planned data is sent.
    pub fn on_sent(&mut self, view: &SenderView, sent: PlannedRange) {
        match self {
            AckRecovery::NewReno(newreno) => newreno.on_sent(),
            AckRecovery::Sack(sack) => sack.on_sent(view, sent),
            AckRecovery::Sack1(sack) => sack.on_sent(sent),
        }
    }

    /// Number of bytes beyond `una` that have arrived, as far as acknowledgements showed and the sender
    /// remembers.
    pub fn arrived(&self, view: &SenderView) -> u64 {
        match self {
            AckRecovery::NewReno(_) => u64::from(view.duplicates) * view.mss(),
            AckRecovery::Sack(sack) => sack.arrived(),
            AckRecovery::Sack1(sack) => sack.arrived(),
        }
    }

    /// Number of bytes beyond `una` that have left the network, as far as recovery knows. In a long recovery
    /// they are most of the data sent, as each of them releases another segment.
    pub fn left_network(&self, view: &SenderView) -> u64 {
        match self {
            AckRecovery::NewReno(newreno) => newreno.left_network(),
            AckRecovery::Sack(sack) => sack.left_network(view),
            AckRecovery::Sack1(sack) => (view.nxt - view.una) - sack.pipe(view),
        }
    }

    /// Payload bytes in the network: sent, or retransmitted since the last timeout, and neither delivered nor
    /// lost, as far as recovery knows.
    pub fn pipe(&self, view: &SenderView) -> u64 {
        match self {
            AckRecovery::NewReno(newreno) => (view.nxt - view.una).saturating_sub(newreno.left_network()),
            AckRecovery::Sack(sack) => sack.pipe(view),
            AckRecovery::Sack1(sack) => sack.pipe(view),
        }
    }

    /// Window in use, in bytes: the congestion window, as modified by recovery.
    pub fn window(&self, view: &SenderView) -> u64 {
        match self {
            AckRecovery::NewReno(newreno) => newreno.window(view),
            AckRecovery::Sack(_) | AckRecovery::Sack1(_) => view.window,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recovery;
    use crate::tcp::recovery::SequenceState;

    const MSS: u64 = 1_000;

    fn view(options: &TcpOptions, duplicates: u32) -> SenderView<'_> {
        let sequence = SequenceState {
            una: 2_000,
            nxt: 20_000,
            max: 20_000,
            pushed: 50_000,
            peer_window: 64_000,
            duplicates,
            burst: 0,
        };
        SenderView { options, window: 9_000, sequence }
    }

    fn options(recovery: Recovery) -> TcpOptions {
        TcpOptions { recovery, segment_size: MSS as u32, ..TcpOptions::default() }
    }

    /// Only the third duplicate counts, and only beyond the last episode (RFC 6582, section 3.2, step 2).
    #[test]
    fn rfc_6582_3_2_new_reno_takes_the_third_duplicate_beyond_the_last_episode() {
        let options = options(Recovery::NewReno);
        let recovery = AckRecovery::new(&options);
        for (duplicates, recover, expected) in [
            (2, None, false),
            (3, None, true),
            (4, None, false),
            (3, Some(1_999), true),
            (3, Some(2_000), false),
            (2, Some(1_999), false),
        ] {
            let found = recovery.detects_loss(&view(&options, duplicates), recover);
            assert_eq!(found, expected, "{duplicates} {recover:?}");
        }
    }

    /// Three duplicates, or `IsLost(una)`: more than two segments above were selectively acknowledged (RFC
    /// 6675, section 5).
    #[test]
    fn rfc_6675_5_sack_takes_duplicates_or_what_lies_above() {
        let options = options(Recovery::Sack);
        for (duplicates, above, recover, expected) in [
            (2, 2, None, false),
            (0, 3, None, true),
            (3, 0, None, true),
            (4, 0, None, true),
            (3, 0, Some(2_000), true),
            (3, 0, Some(2_001), false),
            (0, 3, Some(2_001), false),
        ] {
            let mut recovery = AckRecovery::new(&options);
            if above > 0 {
                recovery.on_blocks(2_000, 20_000, &[SackBlock { start: 3_000, end: 3_000 + above * MSS }]);
            }
            let found = recovery.detects_loss(&view(&options, duplicates), recover);
            assert_eq!(found, expected, "{duplicates} {above} {recover:?}");
        }
    }

    /// 18 segments are outstanding and three of them have arrived: 15 are in the network with SACK, and 18
    /// without.
    #[test]
    fn what_is_in_the_network_and_what_is_gone_are_what_is_outstanding() {
        for (recovery, outside, inside) in [
            // Each duplicate is a segment.
            (Recovery::NewReno, 18, 15),
            // One segment is also lost.
            (Recovery::Sack, 15, 14),
            (Recovery::Sack1, 18, 15),
        ] {
            let options = options(recovery);
            let view = view(&options, 3);
            let mut loss = AckRecovery::new(&options);
            loss.on_blocks(2_000, 20_000, &[SackBlock { start: 3_000, end: 6_000 }]);
            assert_eq!(loss.pipe(&view), outside * MSS, "{recovery:?}");
            assert_eq!(loss.left_network(&view), 0, "{recovery:?}: nothing counts outside recovery");
            loss.enter(&view);
            assert!(loss.active());
            assert_eq!(loss.pipe(&view), inside * MSS, "{recovery:?}");
            assert_eq!(loss.left_network(&view), (18 - inside) * MSS, "{recovery:?}");
        }
    }

    /// Up to one segment, if it fits into the congestion window and the receive window.
    #[test]
    fn a_segment_fits_into_both_windows() {
        let options = options(Recovery::NewReno);
        let of = |nxt, pushed, peer_window| SenderView {
            sequence: SequenceState { nxt, pushed, peer_window, ..view(&options, 0).sequence },
            ..view(&options, 0)
        };
        let planned = |start, end| Some(PlannedRange { start, end });
        let new = of(20_000, 50_000, 64_000);
        assert_eq!(new.next_in_sequence(8_000, 9_000), planned(20_000, 21_000), "exactly the window");
        assert_eq!(new.next_in_sequence(8_001, 9_000), None);
        assert_eq!(of(20_000, 20_300, 64_000).next_in_sequence(8_700, 9_000), planned(20_000, 20_300));
        assert_eq!(of(20_000, 20_000, 64_000).next_in_sequence(0, 9_000), None, "nothing to send");
        assert_eq!(of(20_000, 50_000, 19_000).next_in_sequence(0, 9_000), planned(20_000, 21_000));
        assert_eq!(
            of(20_000, 50_000, 18_999).next_in_sequence(0, 9_000),
            None,
            "beyond what the receiver takes"
        );
        assert_eq!(
            of(19_500, 50_000, 64_000).next_in_sequence(0, 9_000),
            planned(19_500, 20_000),
            "not across `max`"
        );
    }

    /// Only the third duplicate counts, from the end of the last episode on (ns-2's `recover_`).
    #[test]
    fn sack1_takes_the_third_duplicate() {
        let options = options(Recovery::Sack1);
        for (duplicates, recover, expected) in [
            (2, None, false),
            (3, None, true),
            (4, None, false),
            (3, Some(2_000), true),
            (3, Some(2_001), false),
        ] {
            let found = AckRecovery::new(&options).detects_loss(&view(&options, duplicates), recover);
            assert_eq!(found, expected, "{duplicates} {recover:?}");
        }
    }
}
