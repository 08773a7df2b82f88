//! The simulated network for real programs, in real time.
//!
//! Each node of a scenario is a network namespace of the kernel with a TUN device. A packet that a program
//! sends is read from the device, injected into a run of [`multihop_sim`], and written into the device of its
//! destination when the run delivers it.
//!
//! * [`datagram`]: fields of the kernel's packets that the run needs.
//! * [`shim`]: the ends of a scheme below the TCP of kernels.
//! * [`ethernet`]: fields of the kernel's frames, where programs route.
//! * [`emulation`]: the event loop, behind the traits [`RealClock`] and [`DeviceIo`], so that tests run it
//!   without a clock.
//! * [`counters`]: packets by outcome; [`lateness`]: their lateness.
//! * [`journal`]: record of injected packets, for a replay.
//! * `host`: clock, devices and namespaces of Linux.
//!
//! The bytes of packets never reach the simulator. This is the only crate of the project that reads a wall
//! clock.

pub mod counters;
pub mod datagram;
pub mod emulation;
pub mod ethernet;
pub mod journal;
pub mod lateness;
pub mod shim;

#[cfg(target_os = "linux")]
pub mod host;

pub use emulation::{DeviceIo, Emulation, Mode, RealClock, address};
