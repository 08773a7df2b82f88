//! Integration tests of the crate in one binary, one module for each subject.

mod defaults;
mod fuzz;
mod ns2_timeline;
mod parameters;
#[path = "../../../transport/tests/it/pipe/mod.rs"]
mod pipe;
mod registered;
mod variants;
