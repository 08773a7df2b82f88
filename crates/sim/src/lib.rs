//! The simulator: nodes with an 802.11 MAC on a shared medium, and the flows between them.
//!
//! [`run`] takes a [`Config`](config::Config) and returns an [`Outcome`](outcome::Outcome). Modules:
//!
//! * `agenda`: future-event set.
//! * `medium`: which nodes sense each other, and which frames are received.
//! * [`mobility`]: positions of nodes over time, from models and files. `outages`: intervals in which radios
//!   are off.
//! * `mac`: distributed coordination function of one station.
//! * `stack`: layers above the MAC: interface queue, router policies, estimators, endpoints of flows. `apps`:
//!   traffic of flows; [`external`]: injected packets and their outcomes.
//! * [`routing`]: static shortest paths, and routing protocols. [`capacity`]: airtime demands of flows and
//!   conflicts between links, without a run.
//! * `slab`: packets in the network, and contents of those that belong to no flow.
//! * `measure`: time series of estimators.
//! * `node`: MAC and stack of one node. [`World`]: all nodes, and the event loop. `record`: counters.
//! * [`logs`]: files that [`run_logged`] writes during a run: captures of all radios, and frame logs.
//!
//! Invariants:
//!
//! * A node never touches another node; only the medium does.
//! * The per-frame path neither allocates nor hashes.
//! * The order of events at one instant within a lane changes no result.
//! * Every packet is accounted for at the end of every run.

mod agenda;
mod apps;
pub mod capacity;
pub mod config;
pub mod logs;
mod mac;
mod measure;
mod medium;
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
