//! libFuzzer's way into `targets/measure.rs`.

#![no_main]

#[path = "../targets/measure.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| target::check(bytes));
