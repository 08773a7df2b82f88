//! The states of a station's MAC and every transition between them: the file to read first.
//!
//! A station does one thing at a time. [`Phase`] names that thing, [`MacEvent`] names what ends it, and
//! [`MacEvent::transition`] is the transition table. Every change of phase goes through [`Phase::change`],
//! which rejects an event that the table does not list for the phase. `docs/explanation/mac-states.md` shows
//! the table with a timeline for each transition; `tests/phases.rs` writes that page and compares it.
//!
//! One timer serves all phases, because no back-off runs while a response is owed or awaited.

/// Phases of a station's MAC.
///
/// A phase `AwaitingX` begins with the station's own frame on the air, and lasts while X is awaited. In a
/// phase `XDue` the station sends X after SIFS, which the timer measures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    /// No response is owed or awaited: the back-off may run. Timer: end of the back-off, or reset of the NAV.
    Contending,
    /// The RTS is on the air, or the CTS is awaited. Timer: the CTS is overdue.
    AwaitingCts,
    /// DATA follows the CTS after SIFS: the receiver's CTS, or the station's own CTS-to-self. Timer: SIFS.
    DataDue,
    /// Unicast DATA or a block acknowledgement request is on the air, or its acknowledgement is awaited.
    /// Timer: the acknowledgement is overdue.
    AwaitingAck,
    /// Broadcast DATA is on the air. No timer.
    Broadcasting,
    /// The next exchange of the transmission opportunity (TXOP) begins after SIFS. Timer: SIFS.
    NextFrameDue,
    /// A CF-End, which returns the rest of the TXOP, follows after SIFS. Timer: SIFS.
    CfEndDue,
    /// A CTS is owed after SIFS. Timer: SIFS.
    CtsDue,
    /// The CTS is on the air. Under the rules of ns-2 the station then waits for DATA. Timer: the DATA is
    /// overdue, under those rules alone.
    AwaitingData,
    /// An ACK is owed after SIFS. Timer: SIFS.
    AckDue,
    /// A block acknowledgement is owed after SIFS. Timer: SIFS.
    BlockAckDue,
    /// An ACK, a block acknowledgement or a CF-End is on the air. No timer.
    SendingControl,
}

/// Events that change the phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum MacEvent {
    /// The station begins to send an RTS.
    RtsSent,
    /// The station begins to send a CTS-to-self.
    CtsToSelfSent,
    /// The station begins to send unicast DATA or a block acknowledgement request.
    DataSent,
    /// The station begins to send broadcast DATA.
    BroadcastSent,
    /// The CTS that answers the RTS was decoded.
    CtsReceived,
    /// The awaited response did not come in time, or another frame came instead. The frame will be retried.
    AttemptFailed,
    /// The medium is busy or reserved when the frame is due, and the rules demand an idle medium for it.
    Withheld,
    /// The frame was acknowledged, broadcast or given up.
    ExchangeEnded,
    /// The frame was acknowledged or broadcast, and the next exchange fits into the TXOP.
    TxopContinued,
    /// The frame was acknowledged or broadcast, and a CF-End is to return the rest of the TXOP.
    TxopReturned,
    /// The station begins to send a CF-End.
    CfEndSent,
    /// An RTS for the station was decoded, and may be answered.
    RtsReceived,
    /// The station begins to send a CTS as response.
    CtsSent,
    /// DATA for the station with one MPDU was decoded.
    DataReceived,
    /// DATA for the station with several MPDUs was decoded.
    AggregateReceived,
    /// A block acknowledgement request for the station was decoded.
    RequestReceived,
    /// The DATA that should follow the CTS did not come in time.
    DataOverdue,
    /// The station begins to send an ACK.
    AckSent,
    /// The station begins to send a block acknowledgement.
    BlockAckSent,
    /// The station's own frame has ended, and no response to it is awaited.
    TransmissionEnded,
}

impl MacEvent {
    /// The transition table: phases in which an event can occur, and the phase after it.
    #[allow(clippy::enum_glob_use, reason = "a row of a table has no room for prefixes; no lint in tests")]
    pub(super) const fn transition(self) -> (&'static [Phase], Phase) {
        use MacEvent::*;
        use Phase::*;
        match self {
            // Exchange of the station's own frame.
            RtsSent => (&[Contending, NextFrameDue], AwaitingCts),
            CtsToSelfSent => (&[Contending, NextFrameDue], DataDue),
            DataSent => (&[Contending, NextFrameDue, DataDue], AwaitingAck),
            BroadcastSent => (&[Contending, NextFrameDue, DataDue], Broadcasting),
            CtsReceived => (&[AwaitingCts], DataDue),
            AttemptFailed => (&[AwaitingCts, AwaitingAck], Contending),
            // In `Contending` after the last internal collision of access categories that a frame may have.
            ExchangeEnded => (&[AwaitingCts, AwaitingAck, Broadcasting, Contending], Contending),
            TxopContinued => (&[AwaitingAck, Broadcasting], NextFrameDue),
            TxopReturned => (&[AwaitingAck, Broadcasting], CfEndDue),
            CfEndSent => (&[CfEndDue], SendingControl),
            // Response to a frame of another station.
            RtsReceived => (&[Contending], CtsDue),
            CtsSent => (&[CtsDue], AwaitingData),
            DataReceived => (&[Contending, AwaitingData], AckDue),
            AggregateReceived | RequestReceived => (&[Contending, AwaitingData], BlockAckDue),
            DataOverdue => (&[AwaitingData], Contending),
            AckSent => (&[AckDue], SendingControl),
            BlockAckSent => (&[BlockAckDue], SendingControl),
            // Both.
            Withheld => (&[DataDue, CtsDue], Contending),
            TransmissionEnded => (&[SendingControl, AwaitingData], Contending),
        }
    }
}

impl Phase {
    /// Moves to the phase after an event.
    ///
    /// # Panics
    /// With debug assertions, at an event that cannot occur in this phase.
    #[inline]
    pub(super) fn change(&mut self, event: MacEvent) {
        #[cfg(test)]
        super::tests::phases::note(*self, event);
        let (from, to) = event.transition();
        debug_assert!(from.contains(self), "{event:?} cannot occur in phase {self:?}");
        *self = to;
    }
}
