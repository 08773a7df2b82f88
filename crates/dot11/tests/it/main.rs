//! The integration tests of the crate, in one binary: each module is a subject.

mod airtimes;
mod durations;
mod error_rates;
mod ppdu;
