//! The states of a station's MAC and every transition between them: the file to read first.
//!
//! A station does one thing at a time. [`Phase`] names that thing, [`Event`] names what ends it, and
//! [`Phase::after`] is the transition table. Every change of phase goes through [`Phase::change`], which
//! panics at an event that the table does not list. `docs/explanation/mac-states.md` shows the table with a
//! timeline for each transition; `tests/phases.rs` writes that page and compares it.
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
pub(super) enum Event {
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

impl Phase {
    /// The transition table: phase after an event, or none if the event cannot occur in this phase.
    #[inline]
    #[allow(clippy::enum_glob_use, clippy::match_same_arms, reason = "a table has one row for each rule")]
    pub(super) const fn after(self, event: Event) -> Option<Phase> {
        use Event::*;
        use Phase::*;
        Some(match (self, event) {
            // Exchange of an own frame.
            (Contending | NextFrameDue, RtsSent) => AwaitingCts,
            (Contending | NextFrameDue, CtsToSelfSent) | (AwaitingCts, CtsReceived) => DataDue,
            (Contending | NextFrameDue | DataDue, DataSent) => AwaitingAck,
            (Contending | NextFrameDue | DataDue, BroadcastSent) => Broadcasting,
            (AwaitingCts | AwaitingAck, AttemptFailed) => Contending,
            // From `Contending` at an internal collision of access categories, after the last allowed attempt.
            (Contending | AwaitingCts | AwaitingAck | Broadcasting, ExchangeEnded) => Contending,
            // Transmission opportunity.
            (AwaitingAck | Broadcasting, TxopContinued) => NextFrameDue,
            (AwaitingAck | Broadcasting, TxopReturned) => CfEndDue,
            (CfEndDue, CfEndSent) => SendingControl,
            // Response to a frame of another station.
            (Contending, RtsReceived) => CtsDue,
            (CtsDue, CtsSent) => AwaitingData,
            (Contending | AwaitingData, DataReceived) => AckDue,
            (Contending | AwaitingData, AggregateReceived | RequestReceived) => BlockAckDue,
            (AwaitingData, DataOverdue) => Contending,
            (AckDue, AckSent) | (BlockAckDue, BlockAckSent) => SendingControl,
            // Either.
            (DataDue | CtsDue, Withheld) | (AwaitingData | SendingControl, TransmissionEnded) => Contending,
            _ => return None,
        })
    }

    /// Moves to the phase after an event.
    ///
    /// # Panics
    /// If the table lists no such transition.
    #[inline]
    pub(super) fn change(&mut self, event: Event) {
        #[cfg(test)]
        super::tests::phases::note(*self, event);
        match self.after(event) {
            Some(next) => *self = next,
            None => self.reject(event),
        }
    }

    #[cold]
    #[inline(never)]
    fn reject(self, event: Event) -> ! {
        panic!("a station in phase {self:?} cannot handle {event:?}: see `Phase::after`")
    }
}
