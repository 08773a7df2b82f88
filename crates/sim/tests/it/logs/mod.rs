//! What runs write besides tables.

mod air;
mod frames;
