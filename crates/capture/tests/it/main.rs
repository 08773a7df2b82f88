//! Integration tests of the crate in one binary, one module per subject.

#[path = "../../../../fuzz/targets/capture.rs"]
mod capture;
mod captures;
mod common;
mod corpus;
mod files;
#[path = "../../../../fuzz/targets/frame.rs"]
mod frame;
mod fuzz;
mod tshark;
