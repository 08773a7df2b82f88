//! The simulator.

pub mod config;
pub mod outcome;
pub mod scenario;
