//! Loss recovery: selection of the data to send, separate from the amount.

mod by_acks;
mod newreno;
mod rack;
mod sack;
mod sack1;

pub(crate) use by_acks::AckRecovery;
pub(crate) use newreno::NewReno;
pub(crate) use rack::{AckEvent, Rack, RecoveryEffect, Reduction, TimerPurpose};
pub(crate) use sack::Sack;
pub(crate) use sack1::Sack1;

use crate::{Allowance, Controller, Recovery, TcpOptions};
use std::ops::Deref;

/// Sequence state of the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SequenceState {
    /// First unacknowledged byte (`SND.UNA`).
    pub una: u64,
    /// Next byte to send (`SND.NXT`); below `max` after a timeout.
    pub nxt: u64,
    /// One past the highest byte ever sent.
    pub max: u64,
    /// One past the last byte that the application submitted.
    pub pushed: u64,
    /// Receive window in bytes, from `una`.
    pub peer_window: u64,
    /// Number of duplicate acknowledgements since `una` last advanced.
    pub duplicates: u32,
    /// Number of segments that the present event may still release during fast recovery.
    pub burst: u32,
}

/// State of the sender that recovery uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderView<'a> {
    pub options: &'a TcpOptions,
    /// Congestion window in bytes.
    pub window: u64,
    pub sequence: SequenceState,
}

/// Bytes `start..end` to send next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct PlannedRange {
    pub start: u64,
    pub end: u64,
}

/// Effect of an acknowledgement of new data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Advance {
    /// There is no recovery.
    NoRecovery,
    /// Recovery continues.
    Partial {
        /// Whether the retransmission timer is restarted.
        restart_timer: bool,
    },
    /// Recovery has ended; the controller must not exceed this window.
    Recovered {
        /// Window in bytes.
        window: u64,
        /// Whether the acknowledgement opens the window like one outside recovery.
        opens: bool,
    },
}

impl Deref for SenderView<'_> {
    type Target = SequenceState;
    fn deref(&self) -> &SequenceState {
        &self.sequence
    }
}

impl SenderView<'_> {
    pub fn new<'a>(
        options: &'a TcpOptions,
        sequence: SequenceState,
        controller: &dyn Controller,
    ) -> SenderView<'a> {
        let Allowance { window, pace } = controller.allowance();
        let awaited = if pace.is_some() { options.awaited_data() } else { 0 };
        SenderView { options, sequence, window: window.max(awaited) }
    }

    pub fn mss(&self) -> u64 {
        self.options.mss()
    }

    /// Up to one segment from `start` on, at most to `limit`, if the window and the receive window allow it.
    pub fn segment(&self, start: u64, limit: u64, in_flight: u64, window: u64) -> Option<PlannedRange> {
        let end = limit.min(start + self.mss());
        let fits = start < end && in_flight + (end - start) <= window && end <= self.una + self.peer_window;
        fits.then_some(PlannedRange { start, end })
    }

    /// Data from `nxt` on: retransmissions after a timeout, then new data.
    pub fn next_in_sequence(&self, in_flight: u64, window: u64) -> Option<PlannedRange> {
        let limit = if self.nxt < self.max { self.max } else { self.pushed };
        self.segment(self.nxt, limit, in_flight, window)
    }
}

/// Loss recovery: by counts of acknowledgements, or by the times at which segments were sent.
#[derive(Clone, Debug)]
pub(crate) enum LossRecovery {
    ByAcks(AckRecovery),
    ByTime(Box<Rack>),
}

impl LossRecovery {
    pub fn new(options: &TcpOptions) -> LossRecovery {
        match options.recovery {
            Recovery::Rack => LossRecovery::ByTime(Box::default()),
            _ => LossRecovery::ByAcks(AckRecovery::new(options)),
        }
    }

    /// Whether losses are being repaired.
    pub fn active(&self) -> bool {
        match self {
            LossRecovery::ByAcks(recovery) => recovery.active(),
            LossRecovery::ByTime(rack) => rack.active(),
        }
    }

    /// Whether losses are being repaired without a timeout.
    pub fn is_fast(&self) -> bool {
        match self {
            LossRecovery::ByAcks(recovery) => recovery.active(),
            LossRecovery::ByTime(rack) => rack.is_fast(),
        }
    }

    /// Data to send next.
    pub fn plan(&self, view: &SenderView) -> Option<PlannedRange> {
        match self {
            LossRecovery::ByAcks(recovery) => recovery.plan(view),
            LossRecovery::ByTime(rack) => rack.plan(view),
        }
    }

    /// Number of bytes beyond `una` that have arrived, as far as acknowledgements showed and the sender
    /// remembers.
    pub fn arrived(&self, view: &SenderView) -> u64 {
        match self {
            LossRecovery::ByAcks(recovery) => recovery.arrived(view),
            LossRecovery::ByTime(rack) => rack.arrived(),
        }
    }

    /// Payload bytes in the network: neither delivered nor lost, as far as recovery knows.
    pub fn pipe(&self, view: &SenderView) -> u64 {
        match self {
            LossRecovery::ByAcks(recovery) => recovery.pipe(view),
            LossRecovery::ByTime(rack) => rack.pipe(),
        }
    }

    /// Window in use, in bytes: the congestion window, as modified by recovery.
    pub fn window(&self, view: &SenderView) -> u64 {
        match self {
            LossRecovery::ByAcks(recovery) => recovery.window(view),
            LossRecovery::ByTime(rack) => rack.window(view),
        }
    }
}
