//! The integration tests of the crate, in one binary: each module is a subject.

mod architecture;
mod causes;
mod common;
mod determinism;
mod fuzz;
mod golden;
mod laws;
mod logs;
mod mac;
mod measure;
mod media;
mod medium;
mod mobility;
mod multicast;
mod queues;
mod radios;
mod regressions;
mod routing;
mod saturation;
mod schemes;
mod stepping;
mod ties;
mod wires;
mod wlan;
