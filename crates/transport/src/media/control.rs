//! Interface between the shared transport and a controller of real-time media.

use multihop_core::{Span, Time};

/// Fate of a packet, from a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketFate {
    /// Number of the packet.
    pub number: u64,
    /// Payload bytes.
    pub payload: u32,
    /// Send time in seconds, by the sender's clock.
    pub sent: f64,
    /// Arrival time in seconds, by the receiver's clock; none for a packet that did not arrive.
    pub arrival: Option<f64>,
    /// Whether the packet arrived with congestion experienced.
    pub marked: bool,
}

impl PacketFate {
    /// One-way delay in seconds, plus the difference of the two clocks; none for a packet that did not
    /// arrive.
    pub fn delay(&self) -> Option<f64> {
        self.arrival.map(|arrival| arrival - self.sent)
    }
}

/// News from a report.
#[derive(Clone, Copy, Debug)]
pub struct MediaFeedback<'a> {
    /// Time at which the report reached the sender.
    pub now: Time,
    /// Smoothed round-trip time (RFC 6298), without the time for which the receiver held the report.
    pub rtt: Span,
    /// Fates of the packets that no earlier report covered, in order of their numbers.
    pub packets: &'a [PacketFate],
    /// Payload bytes sent after the newest reported packet.
    pub in_flight: u64,
}

/// Data that the application passed to the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameQueued {
    /// Time of the frame.
    pub now: Time,
    /// Bytes of the frame.
    pub bytes: u64,
    /// Time for which the oldest data before the frame has waited.
    pub waiting: Span,
}

/// Congestion controller of real-time media. Rates are in payload bytes per second.
pub trait MediaControl: Send {
    /// Rate that the controller considers right for the path.
    fn target_rate(&self) -> f64;
    /// Rate at which an encoder should produce data while `backlog` bytes wait at the sender.
    fn encoder_rate(&self, _backlog: u64) -> f64 {
        self.target_rate()
    }
    /// Rate at which packets leave while `backlog` bytes wait, if the application is an encoder that follows
    /// [`MediaControl::encoder_rate`].
    fn pacing_rate(&self, _backlog: u64) -> f64 {
        self.target_rate()
    }
    /// Number of payload bytes in flight above which no packet leaves; none without such a limit.
    fn send_window(&self) -> Option<u64> {
        None
    }
    /// Window for the record, in bytes; none without one.
    fn window(&self) -> Option<u64> {
        None
    }
    /// Processes data from the application.
    fn on_frame(&mut self, _frame: &FrameQueued) {}
    /// Processes the departure of a packet, after which `in_flight` payload bytes are in flight.
    fn on_sent(&mut self, _now: Time, _in_flight: u64) {}
    /// Processes a report.
    fn on_feedback(&mut self, feedback: &MediaFeedback<'_>);
    /// Reacts to the absence of reports on packets in flight.
    fn on_silence(&mut self, now: Time);
}
