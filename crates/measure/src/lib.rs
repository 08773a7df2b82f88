//! What a monitor-mode capture says of a channel: which stations took the airtime, what links carried, and
//! how far to trust it.
//!
//! [`survey`] reads a capture to its end. Each record of an interface goes through these steps:
//!
//! * `habits` finds out from the first records how the receiver writes: whether its flags and its timer can
//!   be right.
//! * `interface` reads the frame, leaves out stamps that those around them contradict, and recognises A-MPDUs
//!   by their timer.
//! * [`Clock`] makes one time line of the stamps of records and of the receiver's own timer, and counts their
//!   steps.
//! * `channels` gives each channel that the radio was on a `sniffer` of its own, with the time that it
//!   listened there.
//! * [`Aggregates`] puts the frames of an A-MPDU together, which share a preamble.
//! * [`Stamps`] finds out what the stamps mark, the beginning of a frame or its end, from frames and their
//!   answers; until that is known, a bounded number of frames waits.
//! * [`Exchanges`] puts RTS, CTS, DATA and ACK together by their spacing, and names the transmitter of frames
//!   without a transmitter address.
//! * `reconstruction` reports to the estimators of `multihop-link` what happened, as link events of the
//!   radio's node, and `gauges` writes down what they say; `profile` is what they have to know of the PHY, as
//!   the frames show it.
//! * `ledger` adds up airtime by time, station and kind; `links` and `stations` what became of data;
//!   `quality` what the sniffer must have missed.
//!
//! Memory does not depend on the length of the capture: the bins of the ledger become wider as it goes on,
//! and stations are bounded.

mod aggregates;
mod block_acks;
mod captured_frame;
mod channels;
mod clock;
mod exchanges;
mod gauges;
mod habits;
mod interface;
mod ledger;
mod links;
mod profile;
mod quality;
mod reconstruction;
mod sniffer;
mod stamps;
mod stations;
mod survey;
mod transmissions;

pub use aggregates::{Aggregates, Part};
pub use block_acks::{BlockAcks, Group, Settled};
pub use captured_frame::CapturedFrame;
pub use clock::Clock;
pub use exchanges::{Exchanges, Number, Seen};
pub use gauges::{Gauge, Reading};
pub use habits::TimerFault;
pub use ledger::{Cell, Kind, Ledger, Row};
pub use links::{Link, Links, RateCount, Samples};
pub use quality::{Grade, Quality};
pub(crate) use sniffer::Sniffer;
pub use sniffer::{Options, SnifferReport};
pub use stamps::{StampReference, Stamps};
pub use stations::{Station, StationId, Stations};
pub use survey::{Survey, Surveyed, survey};
pub use transmissions::{Kept, Transmissions};
