//! The simulated air under real programs, in real time.
//!
//! Each node of a scenario is a network namespace of the kernel with a TUN device in it. What a program sends
//! comes out of the device, is injected into a run of [`multihop_sim`], and is written into the device of its
//! destination at the instant at which the run delivers it.
//!
//! * [`datagram`]: what a packet of the kernel says that the run has to know.
//! * [`shim`]: a scheme's ends below the TCP of kernels.
//! * [`ethernet`]: the same of a frame, where programs route.
//! * [`emulation`]: the loop, behind the traits [`Clock`] and [`Wire`], so that tests run it without a clock.
//! * [`counters`]: what became of every packet; [`lateness`]: how late they were.
//! * [`journal`]: what was injected when, to run it again.
//! * `host`: clock, devices and namespaces of Linux.
//!
//! The bytes of packets never reach the simulator. A wall clock is read here and nowhere else in the project.

pub mod counters;
pub mod datagram;
pub mod emulation;
pub mod ethernet;
pub mod journal;
pub mod lateness;
pub mod shim;

#[cfg(target_os = "linux")]
pub mod host;

pub use emulation::{Clock, Emulation, Mode, Wire, address};
