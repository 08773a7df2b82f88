//! Measurements from a monitor-mode capture: airtime of stations, traffic of links, and the quality of the
//! capture.
//!
//! [`survey`] reads a capture to its end. Each record of an interface passes these steps:
//!
//! * `quirks` detects errors of the receiver's flags and timer from its first records.
//! * `interface` reads the frame, discards outliers among timestamps, and recognises A-MPDUs by their timer.
//! * [`CaptureClock`] makes one time line from the host's timestamps and the receiver's timer, and counts
//!   their steps.
//! * `channels` gives each channel of the radio a `sniffer` of its own, with the time spent there.
//! * [`AmpduAssembler`] assembles the frames of an A-MPDU, which share a preamble.
//! * [`StampVotes`] finds the instant that timestamps refer to, the start or the end of a frame, from frames
//!   and their responses. Until it is known, a bounded number of frames is buffered.
//! * [`ExchangeAssembler`] assembles RTS, CTS, DATA and ACK by their spacing, and finds the transmitter of
//!   frames without a transmitter address.
//! * `reconstruction` reports link events of the radio's node to the estimators of `multihop-link`, and
//!   `estimators` records their outputs. `profile` holds the PHY parameters that they need, as the frames
//!   show them.
//! * `ledger` adds up airtime by time, station and use. `links` and `stations` count the outcomes of data,
//!   and `quality` the losses of the sniffer.
//!
//! Memory does not depend on the length of the capture: the bins of the ledger become wider over time, and
//! the number of stations is bounded.

mod aggregates;
mod block_acks;
mod captured_frame;
mod channels;
mod clock;
mod estimators;
mod exchanges;
mod interface;
mod ledger;
mod links;
mod profile;
mod quality;
mod quirks;
mod reconstruction;
mod sniffer;
mod stamps;
mod stations;
mod survey;
mod transmissions;

pub use aggregates::{AmpduAssembler, AmpduPosition};
pub use block_acks::{BlockAckOutcome, BlockAcks, MpduGroup};
pub use captured_frame::CapturedFrame;
pub use clock::CaptureClock;
pub use estimators::{NamedEstimator, Reading};
pub use exchanges::{ExchangeAssembler, FrameNumber, ObservedExchange};
pub use ledger::{AirtimeRow, AirtimeTotals, AirtimeUse, Ledger};
pub use links::{LinkStatistics, LinkTable, RateCount, SampleMoments};
pub use quality::{Grade, Quality};
pub use quirks::TimerFault;
pub(crate) use sniffer::Sniffer;
pub use sniffer::{SnifferReport, SurveyOptions};
pub use stamps::{StampReference, StampVotes};
pub use stations::{StationId, StationStatistics, StationTable};
pub use survey::{ChannelSurvey, Survey, survey};
pub use transmissions::{TransmissionFilter, TransmissionLog};
