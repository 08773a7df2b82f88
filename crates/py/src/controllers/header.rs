//! Congestion header of schemes in Python: bytes of their own layout behind one byte of type.

use multihop_core::{HeaderBytes, Layout, Segment};
use multihop_transport::Echo;

/// Most bytes of a scheme's own layout.
pub(super) const MOST: usize = HeaderBytes::CAPACITY - 1;

/// Type of the header, the last one that is free for schemes outside this repository.
const KIND: u8 = Layout::KIND_BITS;

/// Bytes of the header on the air, for a scheme with this many bytes of its own.
pub(super) fn on_air(own: usize) -> u32 {
    if own == 0 { 0 } else { own as u32 + 1 }
}

/// Header with these bytes; none if there are none, or too many.
pub(super) fn pack(own: &[u8]) -> HeaderBytes {
    if own.is_empty() {
        return HeaderBytes::NONE;
    }
    let bytes = [&[KIND], own].concat();
    HeaderBytes::from_bytes(&bytes, bytes.len()).unwrap_or_default()
}

/// Bytes of a scheme's own layout; empty without a header.
pub(super) fn unpack(header: &HeaderBytes) -> &[u8] {
    header.as_slice().get(1..).unwrap_or_default()
}

/// Receiver's echo: the latest header, held until the next one.
#[derive(Default)]
pub(super) struct LatestHeader(HeaderBytes);

impl Echo for LatestHeader {
    fn note(&mut self, segment: &Segment) {
        if !segment.feedback.is_none() {
            self.0 = segment.feedback;
        }
    }

    fn take(&mut self) -> HeaderBytes {
        self.0
    }
}
