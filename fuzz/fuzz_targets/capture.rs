//! libFuzzer's way into `targets/capture.rs`.

#![no_main]

#[path = "../targets/capture.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    target::check(bytes);
});
