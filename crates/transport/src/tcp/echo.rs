//! What a receiver returns of congestion headers and marks.

use multihop_core::{HeaderBytes, Segment};

/// The part of a scheme that stands at the receiver of a TCP connection: it makes the headers of
/// acknowledgements of what segments brought.
pub trait Echo: Send {
    /// A segment arrived: its congestion header is in `feedback`, marks are in its ECN codepoint.
    fn note(&mut self, segment: &Segment);

    /// An acknowledgement leaves with this header. However many segments it is of, there is one.
    fn take(&mut self) -> HeaderBytes;
}
