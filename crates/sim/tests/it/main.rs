//! The integration tests of the crate, in one binary: each module is a subject.

mod aggregation;
mod airlog;
mod architecture;
mod bianchi;
mod bit_errors;
mod causes;
mod common;
mod determinism;
mod fuzz;
mod golden;
mod laws;
mod measure;
mod media;
mod mobility;
mod queues;
mod radios;
mod regressions;
mod routing;
mod schemes;
mod sensed;
mod slotted;
mod stepping;
mod wire_loss;
mod wires;
mod wlan;
