//! 802.11 captures in monitor mode: from the bytes of a file to frames with their airtimes.
//!
//! The parts, in the order in which a byte passes them:
//!
//! * [`Capture`] reads pcap and pcapng files, plain or compressed, as a stream. Each [`Record`] borrows from
//!   one buffer of fixed size, so that memory does not depend on the file. Errors of a file are
//!   [`CaptureError`]s.
//! * [`RxInfo`] holds what the receiver reported of a frame: rate, signal, channel, clock. There is one
//!   header format per [`LinkType`]; [`radiotap`] is the most frequent one, and can be read field by field.
//! * [`Frame`] is the MAC header with the readable part of the payload.
//! * [`airtime`] computes the airtime of the frame.
//! * [`dissect`] applies the last three to a record.
//!
//! Captures are untrusted input: files are truncated, lengths are wrong, headers contradict each other, and
//! receivers report damaged frames. Whatever the bytes, the result is a value or an error message, never a
//! panic.
//!
//! Clauses are those of IEEE 802.11-2016 unless another edition is named. Instants are nanoseconds since
//! 1970-01-01 UTC.

mod airtime;
mod bytes;
mod dissect;
mod file;
mod frame;
mod link_layer;

pub use airtime::{aggregate_airtime, airtime, airtime_of, legacy_airtime, ppdu, psdu_bytes, txtime};
pub use dissect::{DissectError, dissect, dissect_with_fcs};
pub use file::{Capture, CaptureError, CaptureFormat, CaptureInterface, MAX_RECORD_BYTES, Record};
pub use frame::{
    BlockAck, BlockAckBitmap, Control, DataHeader, Fcs, Frame, FrameError, FrameType, IpPacket, MacAddress,
    MacAddressError, NetworkName, Payload, Ports, SequenceControl, TransportHeader,
};
pub use link_layer::{
    AmpduStatus, Encoding, HeEncoding, HeFormat, HeaderError, HtEncoding, LinkType, RadioChannel, RxInfo,
    Timestamp, TimestampInstant, VhtEncoding, radiotap,
};
