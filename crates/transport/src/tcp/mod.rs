//! The two ends of a TCP connection without its congestion control: selection of data to send (loss recovery:
//! `recovery`, `scoreboard`), and detection of losses (retransmission timer, [`Rto`]).

mod accurate_ecn;
mod ack_compression;
mod bursts;
mod delivery_rate;
mod echo;
mod host_queue;
mod options;
mod ranges;
mod receive_window;
mod receiver;
mod recovery;
mod rto;
mod scoreboard;
mod send_times;
mod sender;
pub(crate) mod small_queues;
mod standby;

pub use echo::Echo;
pub use options::{CongestionHeader, ExitWindow, Recovery, SackedAtTimeout, TcpOptions};
pub use receiver::TcpReceiver;
pub use rto::{Rto, RtoOptions};
pub use sender::TcpSender;
pub use small_queues::SmallQueues;
pub use standby::{Standby, WindowAfterFailure};
