//! What is sent: loss recovery, apart from how much may be sent.

mod newreno;
mod sack;
mod sack1;

pub(crate) use newreno::NewReno;
pub(crate) use sack::Sack;
pub(crate) use sack1::Sack1;

use crate::{Controller, TcpOptions};
use multihop_core::SackBlock;
use std::ops::Deref;

/// The sender's sequence state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequence {
    /// First byte that is not acknowledged (`SND.UNA`).
    pub una: u64,
    /// Next byte to send (`SND.NXT`); below `max` after a timeout.
    pub nxt: u64,
    /// One past the highest byte ever sent.
    pub max: u64,
    /// One past the last byte that the application handed over.
    pub pushed: u64,
    /// The receiver's window in bytes, from `una`.
    pub peer_window: u64,
    /// Duplicate acknowledgements since `una` last moved.
    pub duplicates: u32,
    /// Segments that the present event may still release during fast recovery.
    pub burst: u32,
}

/// What recovery sees of the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub options: &'a TcpOptions,
    /// The controller's window in bytes.
    pub window: u64,
    pub sequence: Sequence,
}

/// Bytes `start..end` to send next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Planned {
    pub start: u64,
    pub end: u64,
}

/// What an acknowledgement of new data means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Advance {
    /// There is nothing to recover from.
    Usual,
    /// Recovery goes on.
    Partial {
        /// The retransmission timer starts afresh.
        restart_timer: bool,
    },
    /// Recovery has ended; the controller is asked for no more than this window.
    Recovered {
        /// In bytes.
        window: u64,
        /// The acknowledgement opens the window like one outside recovery.
        opens: bool,
    },
}

impl Deref for View<'_> {
    type Target = Sequence;
    fn deref(&self) -> &Sequence {
        &self.sequence
    }
}

impl View<'_> {
    pub fn new<'a>(options: &'a TcpOptions, sequence: Sequence, controller: &dyn Controller) -> View<'a> {
        View { options, sequence, window: controller.allowance().window }
    }

    pub fn mss(&self) -> u64 {
        self.options.mss()
    }

    /// Up to one segment from `start` on, but not across `limit`, if window and receiver allow.
    pub fn segment(&self, start: u64, limit: u64, in_flight: u64, window: u64) -> Option<Planned> {
        let end = limit.min(start + self.mss());
        let fits = start < end && in_flight + (end - start) <= window && end <= self.una + self.peer_window;
        fits.then_some(Planned { start, end })
    }

    /// What follows `nxt`: data to be repeated after a timeout, then new data.
    pub fn usual(&self, in_flight: u64, window: u64) -> Option<Planned> {
        let limit = if self.nxt < self.max { self.max } else { self.pushed };
        self.segment(self.nxt, limit, in_flight, window)
    }
}

/// One of the ways to recover.
#[derive(Clone, Debug)]
pub(crate) enum LossRecovery {
    NewReno(NewReno),
    Sack(Sack),
    Sack1(Sack1),
}

impl LossRecovery {
    pub fn new(options: &TcpOptions) -> LossRecovery {
        match options.recovery {
            crate::Recovery::NewReno | crate::Recovery::Reno => LossRecovery::NewReno(NewReno::default()),
            crate::Recovery::Sack => LossRecovery::Sack(Sack::default()),
            crate::Recovery::Sack1 => LossRecovery::Sack1(Sack1::default()),
        }
    }

    pub fn active(&self) -> bool {
        match self {
            LossRecovery::NewReno(newreno) => newreno.active(),
            LossRecovery::Sack(sack) => sack.active(),
            LossRecovery::Sack1(sack) => sack.active(),
        }
    }

    /// Takes in the SACK blocks of an acknowledgement up to `una`. Is it news, so that a repeated
    /// acknowledgement counts as a duplicate? (RFC 6675, section 2.)
    pub fn on_blocks(&mut self, una: u64, max: u64, blocks: &[SackBlock]) -> bool {
        match self {
            LossRecovery::NewReno(_) => true,
            LossRecovery::Sack(sack) => sack.on_blocks(una, max, blocks),
            LossRecovery::Sack1(sack) => sack.on_blocks(una, max, blocks),
        }
    }

    /// New data was acknowledged: `acked` bytes below `view.una`.
    pub fn on_advance(&mut self, view: &View, acked: u64) -> Advance {
        match self {
            LossRecovery::NewReno(newreno) => newreno.on_advance(view, acked),
            LossRecovery::Sack(sack) => sack.on_advance(view),
            LossRecovery::Sack1(sack) => sack.on_advance(view),
        }
    }

    /// A duplicate acknowledgement arrived while recovery is active.
    pub fn on_duplicate(&mut self, view: &View) {
        match self {
            LossRecovery::NewReno(newreno) => newreno.on_duplicate(view),
            LossRecovery::Sack(sack) => sack.set_pipe(view),
            LossRecovery::Sack1(_) => {} // each acknowledgement was counted with its blocks
        }
    }

    /// Do the duplicate acknowledgements so far mean a loss, given the point `recover` up to which an earlier
    /// episode reached?
    pub fn detects_loss(&self, view: &View, recover: Option<u64>) -> bool {
        match self {
            LossRecovery::NewReno(_) => {
                // The careful variant: only when the acknowledgement covers more than `recover` (RFC 6582, section 3.2).
                view.duplicates == view.options.duplicate_threshold
                    && recover.is_none_or(|recover| view.una > recover)
            }
            LossRecovery::Sack(sack) => {
                sack.detects_loss(view) && recover.is_none_or(|recover| view.una >= recover)
            }
            LossRecovery::Sack1(sack) => {
                sack.detects_loss(view) && recover.is_none_or(|recover| view.una >= recover)
            }
        }
    }

    /// Recovery begins.
    pub fn enter(&mut self, view: &View) {
        match self {
            LossRecovery::NewReno(newreno) => newreno.enter(view),
            LossRecovery::Sack(sack) => sack.enter(view),
            LossRecovery::Sack1(sack) => sack.enter(view),
        }
    }

    /// The retransmission timer expired.
    pub fn on_timeout(&mut self, view: &View) {
        match self {
            LossRecovery::NewReno(newreno) => *newreno = NewReno::default(),
            LossRecovery::Sack(sack) => sack.on_timeout(view),
            LossRecovery::Sack1(sack) => sack.on_timeout(view),
        }
    }

    /// What to send next.
    pub fn plan(&self, view: &View) -> Option<Planned> {
        match self {
            LossRecovery::NewReno(newreno) => newreno.plan(view),
            LossRecovery::Sack(sack) => sack.plan(view),
            LossRecovery::Sack1(sack) => sack.plan(view),
        }
    }

    /// What was planned is being sent.
    pub fn on_sent(&mut self, view: &View, sent: Planned) {
        match self {
            LossRecovery::NewReno(newreno) => newreno.on_sent(),
            LossRecovery::Sack(sack) => sack.on_sent(view, sent),
            LossRecovery::Sack1(sack) => sack.on_sent(sent),
        }
    }

    /// Bytes beyond `una` that have arrived, as far as acknowledgements said and the sender remembers.
    pub fn arrived(&self, view: &View) -> u64 {
        match self {
            LossRecovery::NewReno(_) => u64::from(view.duplicates) * view.mss(),
            LossRecovery::Sack(sack) => sack.arrived(),
            LossRecovery::Sack1(sack) => sack.arrived(),
        }
    }

    /// Bytes beyond `una` that have left the network, as far as recovery knows. In a long recovery they are
    /// by far the most of what was sent, as each lets another one go.
    pub fn gone(&self, view: &View) -> u64 {
        match self {
            LossRecovery::NewReno(newreno) => newreno.gone(),
            LossRecovery::Sack(sack) => sack.gone(view),
            LossRecovery::Sack1(sack) => (view.nxt - view.una) - sack.pipe(view),
        }
    }

    /// Payload bytes in the network: sent, or sent again since the last timeout, and neither delivered nor
    /// lost as far as recovery knows.
    pub fn pipe(&self, view: &View) -> u64 {
        match self {
            LossRecovery::NewReno(newreno) => (view.nxt - view.una).saturating_sub(newreno.gone()),
            LossRecovery::Sack(sack) => sack.pipe(view),
            LossRecovery::Sack1(sack) => sack.pipe(view),
        }
    }

    /// The window in use, in bytes: the controller's, as recovery changes it.
    pub fn window(&self, view: &View) -> u64 {
        match self {
            LossRecovery::NewReno(newreno) => newreno.window(view),
            LossRecovery::Sack(_) | LossRecovery::Sack1(_) => view.window,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::Recovery;

    const MSS: u64 = 1_000;

    fn view(options: &TcpOptions, duplicates: u32) -> View<'_> {
        let sequence = Sequence {
            una: 2_000,
            nxt: 20_000,
            max: 20_000,
            pushed: 50_000,
            peer_window: 64_000,
            duplicates,
            burst: 0,
        };
        View { options, window: 9_000, sequence }
    }

    fn options(recovery: Recovery) -> TcpOptions {
        TcpOptions { recovery, segment_size: MSS as u32, ..TcpOptions::default() }
    }

    /// The third duplicate alone, and only for what lies beyond the last episode (RFC 6582, section 3.2, step
    /// 2).
    #[test]
    fn rfc_6582_3_2_new_reno_takes_the_third_duplicate_beyond_the_last_episode() {
        let options = options(Recovery::NewReno);
        let recovery = LossRecovery::new(&options);
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

    /// Three duplicates, or `IsLost(una)`: more than two segments were selectively acknowledged above (RFC
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
            let mut recovery = LossRecovery::new(&options);
            if above > 0 {
                recovery.on_blocks(2_000, 20_000, &[SackBlock { start: 3_000, end: 3_000 + above * MSS }]);
            }
            let found = recovery.detects_loss(&view(&options, duplicates), recover);
            assert_eq!(found, expected, "{duplicates} {above} {recover:?}");
        }
    }

    /// 18 segments are outstanding and three of them arrived: 15 are in the network as SACK knows, and 18
    /// without a count.
    #[test]
    fn what_is_in_the_network_and_what_is_gone_are_what_is_outstanding() {
        for (recovery, outside, inside) in [
            // Each duplicate is a segment.
            (Recovery::NewReno, 18, 15),
            // One segment is lost besides.
            (Recovery::Sack, 15, 14),
            (Recovery::Sack1, 18, 15),
        ] {
            let options = options(recovery);
            let view = view(&options, 3);
            let mut loss = LossRecovery::new(&options);
            loss.on_blocks(2_000, 20_000, &[SackBlock { start: 3_000, end: 6_000 }]);
            assert_eq!(loss.pipe(&view), outside * MSS, "{recovery:?}");
            assert_eq!(loss.gone(&view), 0, "{recovery:?}: nothing counts outside recovery");
            loss.enter(&view);
            assert!(loss.active());
            assert_eq!(loss.pipe(&view), inside * MSS, "{recovery:?}");
            assert_eq!(loss.gone(&view), (18 - inside) * MSS, "{recovery:?}");
        }
    }

    /// A segment, or what there is of it, if it fits into the window and into the receiver's.
    #[test]
    fn a_segment_fits_into_both_windows() {
        let options = options(Recovery::NewReno);
        let of = |nxt, pushed, peer_window| View {
            sequence: Sequence { nxt, pushed, peer_window, ..view(&options, 0).sequence },
            ..view(&options, 0)
        };
        let planned = |start, end| Some(Planned { start, end });
        let new = of(20_000, 50_000, 64_000);
        assert_eq!(new.usual(8_000, 9_000), planned(20_000, 21_000), "exactly the window");
        assert_eq!(new.usual(8_001, 9_000), None);
        assert_eq!(of(20_000, 20_300, 64_000).usual(8_700, 9_000), planned(20_000, 20_300));
        assert_eq!(of(20_000, 20_000, 64_000).usual(0, 9_000), None, "nothing to send");
        assert_eq!(of(20_000, 50_000, 19_000).usual(0, 9_000), planned(20_000, 21_000));
        assert_eq!(of(20_000, 50_000, 18_999).usual(0, 9_000), None, "beyond what the receiver takes");
        assert_eq!(of(19_500, 50_000, 64_000).usual(0, 9_000), planned(19_500, 20_000), "not across `max`");
    }

    /// The third duplicate alone, from where the last episode ended on (ns-2's `recover_`).
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
            let found = LossRecovery::new(&options).detects_loss(&view(&options, duplicates), recover);
            assert_eq!(found, expected, "{duplicates} {recover:?}");
        }
    }
}
