//! libFuzzer's way into `targets/mobility.rs`.

#![no_main]

#[path = "../targets/mobility.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| target::check(bytes));
