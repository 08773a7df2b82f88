//! The medium: which nodes sense each other, and which frames are received.
//!
//! A transmission is one start and one end, a constant propagation delay after the transmitter's own. At
//! each, the world walks the transmitter's [`Link`]s and notifies the [`Radio`] at the far end of each. Three
//! models share this:
//!
//! * *ranges* (ns-2): a signal is audible up to one distance and decodable up to another; a receiver stays
//!   with the first signal, which survives a later one only if it is stronger by the capture ratio;
//! * *SINR*: powers add up, and bits fail by signal over interference and noise;
//! * *link matrix*: measured delivery (any overlap destroys), measured power (SINR), or both (what a link
//!   delivers alone as measured, what interference does to it by SINR).
//!
//! With delays by distance, each of the two is a wavefront that reaches one group of listeners after the
//! other, see [`Wavefront`].
//!
//! Links by distance may fade over time (`fading`): a frame has the power of its beginning.
//!
//! Where nodes move, a transmitter's links are looked up anew when it begins a frame, and stay until that
//! frame is over.
//!
//! Beside it there are wires, each direction a [`Wire`]: they share nothing with the air, nor with each
//! other.

mod collisions;
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
