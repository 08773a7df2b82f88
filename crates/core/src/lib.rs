//! The vocabulary that every other crate of `multihop` speaks.
//!
//! A tour, from the bottom up:
//!
//! * [`Time`] and [`Span`]: an instant and a length of time, both in whole nanoseconds. They are different
//!   types, because adding two instants is always a mistake. [`Rate`] is a bit rate, and turns bytes into a
//!   [`Span`] and back.
//! * [`NodeId`], [`FlowId`]: dense indices, given out in the order in which a scenario names things.
//! * [`Rng`]: random numbers by *path*. Each consumer owns a stream whose seed is derived from the run's seed
//!   and from the consumer's name, so that adding a node changes no other node's draws.
//! * [`Segment`] and [`Packet`]: what a transport hands down, and what a node queues and forwards. No payload
//!   bytes are carried, only their number. [`HeaderBytes`] is the congestion header: what routers signal to
//!   the ends of a flow.
//! * [`LinkEvent`]: everything that a MAC saw. Estimators, router policies and recorders all read this one
//!   stream, whether it comes from the simulator or (later) from a capture.
//!
//! This crate depends on no other of ours.

mod event;
mod header;
mod ids;
mod names;
mod packet;
mod rate;
mod rng;
mod time;

pub use event::{
    Arrived, Attempt, DecodedFrame, Dropped, Exchange, Fate, FrameKind, Interval, LinkEvent, Report, Reported,
};
pub use header::{Bits, Carrier, Field, FieldKind, FieldLayout, Header, HeaderBytes, HeaderFormat, Layout};
pub use ids::{FlowId, NodeId, Port};
pub use names::{first_of, instead_of, nearest_name, shorten};
pub use packet::{AccEcnOption, DropCause, Dscp, Ecn, Flags, Packet, SackBlock, SackBlocks, Segment};
pub use rate::Rate;
pub use rng::Rng;
pub use time::{Span, Time};
