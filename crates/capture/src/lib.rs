//! Captures of 802.11 in monitor mode: from the bytes of a file to frames, with their time on the air.
//!
//! A tour, in the order in which a byte travels:
//!
//! * [`Capture`] reads pcap and pcapng files, plain or compressed, as a stream: each [`Record`] borrows from
//!   one buffer of a fixed size, so that memory does not depend on the file. What is wrong with a file is a
//!   [`CaptureError`].
//! * [`Reception`] is what the receiving station wrote in front of a frame: rate, signal, channel, clock.
//!   There are several such headers, one per [`LinkType`]; [`radiotap`] is the usual one, and can be read
//!   field by field.
//! * [`Frame`] is the MAC header, and what is readable of the payload.
//! * [`airtime`] says for how long the frame was on the air.
//! * [`dissect`] does the last three for a record.
//!
//! A capture is not to be trusted. Files end in the middle, lengths lie, headers contradict each other, and
//! stations receive damaged frames and pass them on: whatever the bytes, the result is a value or an error
//! with a sentence, never a panic.
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
pub use file::{Capture, CaptureError, Format, Interface, MAX_RECORD_BYTES, Record};
pub use frame::{
    Address, AddressError, Bitmap, BlockAck, Control, Data, Fcs, Frame, FrameError, FrameType, Network,
    NetworkName, Payload, Ports, Sequence, Transport,
};
pub use link_layer::{
    Aggregate, Channel, Encoding, HeEncoding, HeFormat, HeaderError, HtEncoding, LinkType, Position,
    Reception, Timestamp, VhtEncoding, radiotap,
};
