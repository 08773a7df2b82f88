//! Transport that all controllers of real-time media share: datagrams with feedback on each packet.
//!
//! * [`MediaSender`]: packets at the pace, and within the window, that a [`MediaControl`] allows.
//! * [`MediaReceiver`]: reports the arrival time and the ECN mark of each packet, as RFC 8888 defines.
//! * `encoder_queue`, `pacer`: data before the network. `history`: packets in flight, and their fates.
//! * `queue_delay`, `arrival_rate`: measurements on reported packets.

mod arrival_rate;
mod control;
mod encoder_queue;
mod header;
mod history;
mod pacer;
mod queue_delay;
mod receiver;
mod sender;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use arrival_rate::ArrivalRate;
pub use control::{FrameQueued, MediaControl, MediaFeedback, PacketFate};
pub use header::{MediaHeader, MediaReport};
pub(crate) use queue_delay::QueueDelay;
pub use receiver::{FeedbackOptions, MediaReceiver};
pub use sender::{MediaOptions, MediaSender};
