//! Interface between a sender and its congestion control.

use multihop_core::{HeaderBytes, Rate, Segment, Span, Time};

/// Window and pacing rate that a congestion control allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// Congestion window in bytes.
    pub window: u64,
    /// Pacing rate; none for back-to-back sending within the window.
    pub pace: Option<Rate>,
}

/// A segment that was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentSegment {
    /// Time of sending.
    pub now: Time,
    /// Number of payload bytes.
    pub size: u64,
    /// Number of packet bytes, headers included, which a pace counts.
    pub packet: u64,
    /// Payload bytes in flight, this segment included.
    pub in_flight: u64,
    /// Whether the segment is a retransmission.
    pub retransmission: bool,
    /// Whether the sender was application-limited before this segment. Known with
    /// [`crate::TcpOptions::delivery_rate`].
    pub app_limited: bool,
}

/// An acknowledgement that arrived, in loss recovery or outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckInfo {
    /// Time of arrival.
    pub now: Time,
    /// Number of payload bytes newly acknowledged; none for a duplicate acknowledgement, which shows that a
    /// segment left the network.
    pub advance: Option<u64>,
}

/// Data newly delivered by an acknowledgement, in loss recovery or outside: bytes that are acknowledged,
/// cumulatively or selectively, for the first time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeliverySample {
    /// Time of arrival of the acknowledgement.
    pub now: Time,
    /// Number of payload bytes newly delivered.
    pub size: u64,
    /// Number of payload bytes newly reported as marked; none without accurate ECN feedback.
    pub marked: Option<u64>,
    /// Number of payload bytes delivered since the connection began.
    pub delivered: u64,
    /// Value of `delivered` when the newest of the segments was sent.
    pub prior_delivered: u64,
    /// Sample of the delivery rate in payload bytes per second, if this acknowledgement gave one
    /// (draft-cheng-iccrg-delivery-rate-estimation-00).
    pub rate: Option<f64>,
    /// Whether the newest segment was sent while application-limited: the path may be faster than `rate`.
    pub app_limited: bool,
    /// Round-trip time of the newest segment, if it was sent only once (Karn).
    pub rtt: Option<Span>,
    /// Payload bytes in flight before the acknowledgement: sent, and neither delivered nor lost, as far as
    /// known.
    pub in_flight_before: u64,
    /// Payload bytes in flight after the acknowledgement.
    pub in_flight: u64,
    /// Number of payload bytes that the acknowledgement showed to be lost.
    pub lost: u64,
    /// Payload bytes in flight when the newest of the segments was sent, that segment included.
    pub in_flight_at_send: u64,
    /// Number of payload bytes that were lost since then. Known with [`crate::Recovery::Rack`].
    pub lost_since_send: u64,
    /// Whether losses are still being repaired, after duplicate acknowledgements or a timeout.
    pub recovering: bool,
    /// Whether they are repaired without a timeout.
    pub fast_recovery: bool,
    /// Earliest time at which the pace allows the next segment, not before `now`.
    pub departure: Time,
}

/// A segment whose last transmission counts as lost. Known with [`crate::Recovery::Rack`] and
/// [`crate::TcpOptions::delivery_rate`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LostSegment {
    /// First byte of the segment.
    pub start: u64,
    /// Number of payload bytes.
    pub size: u64,
    /// Payload bytes in flight when the segment was sent, the segment included.
    pub in_flight_at_send: u64,
    /// Number of payload bytes that were lost since then, the segment included.
    pub lost_since_send: u64,
    /// Whether the segment was sent while application-limited.
    pub app_limited: bool,
}

/// New data that was acknowledged outside loss recovery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acked {
    /// Time of arrival of the acknowledgement.
    pub now: Time,
    /// Number of payload bytes newly acknowledged.
    pub size: u64,
    /// Number of payload bytes newly delivered: acknowledged, and not selectively acknowledged before.
    pub fresh: u64,
    /// Valid round-trip sample (Karn), if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time, after the first sample.
    pub srtt: Option<Span>,
    /// Payload bytes in flight after the acknowledgement.
    pub in_flight: u64,
    /// Whether the sender had less to send than the window allowed.
    pub app_limited: bool,
    /// Whether the acknowledgement carried ECN-Echo.
    pub ecn_echo: bool,
    /// Number of hops of the acknowledgement.
    pub hops: u16,
}

impl Acked {
    /// An acknowledgement of `size` bytes in order, without further information.
    pub fn in_order(now: Time, size: u64) -> Acked {
        let (rtt, srtt, in_flight, app_limited, ecn_echo, hops) = (None, None, 0, false, false, 0);
        Acked { now, size, fresh: size, rtt, srtt, in_flight, app_limited, ecn_echo, hops }
    }
}

/// Indication of a loss.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LossKind {
    /// Duplicate acknowledgements or SACK blocks, which begin recovery.
    DuplicateAcks,
    /// Expiry of the retransmission timer.
    Timeout {
        /// Whether the timer had already expired for the same segment, so that the threshold is not halved
        /// again (RFC 5681, section 3.1).
        again: bool,
    },
}

/// A loss; reported once per episode, before anything is retransmitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// Time of detection.
    pub now: Time,
    /// Indication of the loss.
    pub kind: LossKind,
    /// Payload bytes in flight at detection (`FlightSize`); with recovery by time the window, as in Linux.
    pub in_flight: u64,
}

/// End of loss recovery after duplicate acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovered {
    /// Time of the end.
    pub now: Time,
    /// Payload bytes in flight.
    pub in_flight: u64,
    /// Upper limit of the window that recovery sets, in bytes (RFC 6582, section 3.2, step 3).
    pub window: u64,
}

/// Congestion mark that was echoed; reported at most once per window of data (RFC 3168, section 6.1.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marked {
    /// Time of arrival of the echo.
    pub now: Time,
    /// Payload bytes in flight.
    pub in_flight: u64,
}

/// Congestion header returned by an acknowledgement, which need not acknowledge new data, or by a SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Returned<'a> {
    /// Time of arrival.
    pub now: Time,
    /// The acknowledgement, with its congestion header in `feedback`, which routers may have marked as well.
    pub segment: &'a Segment,
    /// Valid round-trip sample (Karn), if this acknowledgement gave one.
    pub rtt: Option<Span>,
    /// Whether the sender has less to send than the window allows.
    pub app_limited: bool,
}

/// Congestion control of a sender. A controller only knows what its own endpoint and its own MAC observed.
///
/// Invariants, for which every implementation is fuzzed: the window is at least one segment, the pace is
/// finite and positive, and no timer is in the past.
pub trait Controller: Send {
    /// Window and pace that are allowed now.
    fn allowance(&self) -> Allowance;
    /// Slow-start threshold in bytes, for the record; none if the scheme has no threshold.
    fn slow_start_threshold(&self) -> Option<u64> {
        None
    }
    /// Age from which a segment counts as lost at the first duplicate acknowledgement. Needs
    /// [`crate::TcpOptions::time_every_segment`].
    fn fine_grained_rto(&self) -> Option<Span> {
        None
    }
    /// Called when the connection is open: the SYN, which carried no data, was answered after `rtt`.
    fn on_opened(&mut self, _rtt: Span) {}
    /// Called when a segment is sent. The pace that is allowed afterwards applies to the next segment.
    fn on_sent(&mut self, _sent: &SentSegment) {}
    /// Called when an acknowledgement arrives, before all other methods.
    fn on_ack(&mut self, _ack: &AckInfo) {}
    /// Called when new data is acknowledged.
    fn on_acked(&mut self, acked: &Acked);
    /// Called when data is delivered, after all other methods except [`Controller::on_feedback`]. Needs
    /// [`crate::TcpOptions::delivery_rate`].
    fn on_delivered(&mut self, _delivery: &DeliverySample) {}
    /// Whether the controller deliberately uses less of the path than it could. Rate samples of segments sent
    /// now are then marked as application-limited.
    fn marks_app_limited(&self) -> bool {
        false
    }
    /// Called when a loss is detected.
    fn on_lost(&mut self, lost: &Lost);
    /// Called for each segment that counts as lost, after [`Controller::on_lost`] if the segment begins loss
    /// recovery.
    fn on_segment_lost(&mut self, _lost: &LostSegment) {}
    /// Whether the controller sets the window during loss recovery. If not, recovery by time sets it, by
    /// proportional rate reduction (RFC 9937).
    fn sets_recovery_window(&self) -> bool {
        false
    }
    /// Whether the controller reduces the window by the share of marked data, which
    /// [`Controller::on_delivered`] reports. With accurate ECN feedback, marks then begin no reduction of the
    /// connection, and acknowledgements keep opening the window. [`Controller::on_marked`] is called for each
    /// acknowledgement with marks, but after a reduction not before a window of data was acknowledged.
    fn reduces_by_share(&self) -> bool {
        false
    }
    /// Called when a loss proves to have been none: the window before the last [`Controller::on_lost`] is
    /// restored.
    fn on_undone(&mut self) {}
    /// Called when recovery ends.
    fn on_recovered(&mut self, _recovered: &Recovered) {}
    /// Called when the application sends again after an idle period longer than a retransmission timeout (RFC
    /// 5681, section 4.1).
    fn on_idle(&mut self, _now: Time) {}
    /// Called when congestion is echoed.
    fn on_marked(&mut self, _marked: &Marked) {}
    /// Congestion header of a segment of `size` payload bytes that is sent now; `size` is 0 for a SYN or a
    /// [refresh](Controller::refresh).
    fn stamp(&mut self, _size: u64) -> HeaderBytes {
        HeaderBytes::NONE
    }
    /// Called when a congestion header is returned.
    fn on_feedback(&mut self, _returned: &Returned) {}
    /// While pacing delays data: time after the last header at which a segment without data is sent, to
    /// refresh the feedback of the path. Only with recovery from selective acknowledgements, which ignores
    /// repeated acknowledgements.
    fn refresh(&self) -> Option<Span> {
        None
    }
}
