//! The simulator: nodes with an 802.11 MAC on a shared medium, and the flows between them.
//!
//! A [`Config`](config::Config) goes in, an [`Outcome`](outcome::Outcome) comes out, and [`run`] is all there
//! is between:
//!
//! * `agenda`: the future-event set, of named slots.
//! * `medium`: which nodes sense each other, and which frames are received.
//! * [`mobility`]: where nodes are at any instant, from models and files. `outages`: radios that are off for
//!   a while.
//! * `mac`: the distributed coordination function of one station.
//! * `stack`: what lies above it: interface queue, router policies, estimators, ends of flows. `apps`: what
//!   flows send; [`external`]: packets that come from outside, and what became of them.
//! * [`routing`]: static shortest paths, and routing protocols. [`capacity`]: the airtime that flows need and
//!   which links share it, without a run.
//! * `message`: what packets say that belong to no flow.
//! * `measure`: estimators whose values are written down.
//! * `node` wires MAC and stack; [`World`] owns the nodes and pops events. `record` counts.
//! * [`logs`]: files that [`run_logged`] writes while a run goes on: captures of all radios, and frame logs.
//!
//! Invariants: a node never touches another node, only the medium does; nothing on the per-frame path
//! allocates or hashes; the order of events at one instant within a lane changes nothing; every packet is
//! accounted for at the end of every run.

mod agenda;
mod apps;
pub mod capacity;
pub mod config;
pub mod logs;
mod mac;
mod measure;
mod medium;
mod message;
pub mod mobility;
mod node;
mod outages;
pub mod outcome;
pub mod preflight;
mod record;
pub mod routing;
mod slab;
mod stack;
mod world;

pub use apps::external;
pub use world::{Ties, World, run, run_logged, run_watched};
