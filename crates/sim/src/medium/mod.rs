//! The medium: which nodes sense each other, and which frames are received.
//!
//! A transmission has one start and one end, a constant propagation delay after the transmitter's own. At
//! each, the world iterates over the transmitter's [`Link`]s and notifies the [`Radio`] at the far end of
//! each. Three models share this mechanism:
//!
//! * *ranges* (ns-2): a signal is audible up to one distance and decodable up to another; a receiver stays
//!   with the first signal, which survives a later one only if it is stronger by the capture ratio;
//! * *SINR*: powers add up, and bits fail by signal over interference and noise;
//! * *link matrix*: measured delivery (any overlap destroys), measured power (SINR), or both (delivery
//!   without interference as measured, interference by SINR).
//!
//! With propagation delays by distance, start and end are wavefronts that reach one group of listeners after
//! the other, see [`Wavefront`].
//!
//! Links by distance may fade over time (`fading`): a frame has the power of its first instant.
//!
//! Where nodes move, a transmitter's links are computed when it starts a frame, and stay until that frame
//! ends.
//!
//! Wires, each direction a [`Wire`], are independent of the radio medium and of each other.

mod collisions;
pub(crate) mod config;
mod errors;
mod fading;
mod frame;
mod links;
mod load;
mod locked_signal;
mod loss;
mod moving;
mod node_order;
mod propagation;
mod radio;
mod reception;
mod success_curve;
mod wire;

pub use collisions::Collisions;
pub use errors::RateErrors;
pub use frame::{Frame, RateClass, RateSet};
pub use links::{Link, Links, exceed, farthest, femtowatts};
pub use load::{Bitmap, Course, Load, LoadId, Loads, Mpdu};
pub use loss::FrameLoss;
pub use moving::Listeners;
pub use node_order::NodeOrder;
pub use propagation::{Group, Wavefront, light};
pub use radio::Radio;
pub use reception::{Finished, Reception};
pub use wire::Wire;
