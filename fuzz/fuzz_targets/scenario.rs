//! libFuzzer's way into `targets/scenario.rs`.

#![no_main]

#[path = "../targets/scenario.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| target::check(bytes));
