//! Clock, devices and namespaces of Linux.

mod devices;
mod isolation;
mod namespace;

pub use devices::Devices;
pub use isolation::{die_with_parent, isolate, private_mounts};
pub use namespace::{Links, Namespace};

use crate::Clock;
use multihop_core::Span;
use nix::sys::prctl;
use std::io;
use std::time::Instant;

/// Has the kernel wake this thread when it is due, and not up to 50 us later, as it does with ordinary
/// threads (`PR_SET_TIMERSLACK`).
///
/// # Errors
/// Never, on Linux.
pub fn wake_promptly() -> io::Result<()> {
    Ok(prctl::set_timerslack(1)?)
}

/// The monotonic clock from its making on. It stands still while the machine sleeps.
pub struct Monotonic(Instant);

impl Default for Monotonic {
    #[allow(clippy::disallowed_methods)] // an emulation is the one place where real time passes
    fn default() -> Monotonic {
        Monotonic(Instant::now())
    }
}

impl Clock for Monotonic {
    fn elapsed(&mut self) -> Span {
        Span::from_ns(self.0.elapsed().as_nanos() as u64)
    }
}
