//! The integration tests of the crate, in one binary: each module is a subject.

#[path = "../../../sim/tests/it/common/mod.rs"]
mod common;

mod arp;
mod bmcc;
mod corpus;
mod defaults;
mod distance;
mod errors;
mod fading;
mod files;
mod fuzz;
mod hunt;
mod long_links;
mod meaning;
mod mobility;
mod narrow;
mod own_scheme;
mod powers;
mod protection;
mod rate_reach;
mod re_tfrc;
mod schemes;
mod sensitivity;
mod trace_forms;
mod traces;
mod wlan;
