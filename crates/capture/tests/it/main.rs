//! The integration tests of the crate, in one binary: each module is a subject.

mod captures;
mod common;
mod corpus;
mod files;
mod fuzz;
mod tshark;
