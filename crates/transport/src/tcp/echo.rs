//! Feedback of a receiver from congestion headers and marks.

use multihop_core::{HeaderBytes, Segment};

/// Receiver part of a TCP scheme, which builds the headers of acknowledgements from those of received
/// segments.
pub trait Echo: Send {
    /// Processes a received segment, with its congestion header in `feedback` and marks in its ECN codepoint.
    fn note(&mut self, segment: &Segment);

    /// Header of the next acknowledgement. Called once per acknowledgement, however many segments it covers.
    fn take(&mut self) -> HeaderBytes;
}
