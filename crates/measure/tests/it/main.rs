//! Integration tests of the crate in one binary, one module per subject.

mod airtime;
mod block_acks;
#[path = "../../../capture/tests/it/common/mod.rs"]
mod captures;
mod common;
mod estimates;
mod frames;
mod fuzz;
#[path = "../../../../fuzz/targets/measure.rs"]
mod measure;
mod reasons;
mod receivers;
mod sanity;
mod timeline;
