//! Captures and frame logs of runs.

mod air;
mod frames;
