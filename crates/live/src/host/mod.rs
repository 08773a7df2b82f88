//! Clock, devices and namespaces of Linux.

mod devices;
mod isolation;
mod namespace;

pub use devices::Devices;
pub use isolation::{die_with_parent, isolate, private_mounts};
pub use namespace::{DeviceOptions, Namespace};

use crate::RealClock;
use multihop_core::Span;
use nix::sys::prctl;
use std::io;
use std::time::Instant;

/// Makes the kernel wake this thread on time, instead of up to 50 us late as for ordinary threads
/// (`PR_SET_TIMERSLACK`).
///
/// # Errors
/// Never, on Linux.
pub fn wake_promptly() -> io::Result<()> {
    Ok(prctl::set_timerslack(1)?)
}

/// Monotonic clock, started at its creation. The clock stops while the machine is suspended.
pub struct Monotonic(Instant);

impl Default for Monotonic {
    #[allow(clippy::disallowed_methods)] // an emulation is the one place where real time passes
    fn default() -> Monotonic {
        Monotonic(Instant::now())
    }
}

impl RealClock for Monotonic {
    fn elapsed(&mut self) -> Span {
        Span::from_ns(self.0.elapsed().as_nanos() as u64)
    }
}
