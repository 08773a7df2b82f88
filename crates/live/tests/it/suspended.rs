//! Report of an emulation that was suspended for a while.

use crate::{CHAIN, Fake, packet, world};
use multihop_core::{Ecn, Span};
use multihop_live::Emulation;

/// The process is suspended for a second; programs continue, send a packet every 100 ms, and end before any
/// delivery. The lateness of the packets read must show the wait.
#[test]
fn packets_that_waited_for_a_suspended_emulation_are_late() {
    let fake = Fake::default();
    for i in 0..10 {
        fake.send(Span::from_ms(100 * u64::from(i)), 0, packet(0, 1, Ecn::NotCapable, 1_000, i));
    }
    let mut emulation = Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0);
    emulation.run_once().unwrap();
    assert_eq!(emulation.lateness().count(), 0);
    fake.at().oversleep = Span::from_seconds(1.0);
    emulation.run_once().unwrap();
    let lateness = emulation.lateness();
    assert_eq!(emulation.counters().read, 10);
    assert!(lateness.count() >= 9 && lateness.quantile(0.5) >= Span::from_ms(900), "{lateness:?}");
}
