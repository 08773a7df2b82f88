//! Integration tests of the crate in one binary, one module for each subject.

mod defaults;
mod fuzz;
mod ns2_timeline;
mod parameters;
#[path = "../../../transport/tests/it/pipe/mod.rs"]
mod pipe;
mod registered;
mod variants;

use multihop_core::Span;
use multihop_schemes::Scheme;

/// Connects a sender and a receiver of the scheme by a path.
fn connect<P: pipe::Path>(scheme: &dyn Scheme, path: P) -> pipe::Pipe<P> {
    let mut pipe = pipe::Pipe::new(scheme.sender(), scheme.receiver(), scheme.segment_size(), path);
    // The delay of a host varies by half.
    let delay = scheme.tcp().and_then(|parts| parts.options.host_delay).unwrap_or_default();
    pipe.host_delay = delay + Span::from_ns(delay.ns() / 2);
    pipe
}
