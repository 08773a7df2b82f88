//! Number of wake-ups of the loop; a wake-up costs as much processor time as a packet.

use crate::outside::{CHAIN, Fake, finish, packet, run, world};
use multihop_core::{Ecn, Span};
use multihop_live::Emulation;

/// 150 packets over one hop, each alone in the network: one wait ends with the packet, and one with its
/// delivery. Later events of the run, such as the acknowledgement, cause no wake-up. The last half second has
/// waits of 20 ms.
#[test]
fn a_packet_alone_in_the_network_wakes_the_loop_twice() {
    let fake = Fake::default();
    (0..150)
        .for_each(|i| fake.send(Span::from_ms(10) * u64::from(i), 0, packet(0, 1, Ecn::NotCapable, 500, i)));
    let (_, counters, lateness) = run(world(CHAIN), &fake, 1.0);
    assert_eq!((counters.delivered, lateness.max()), (150, Span::ZERO));
    let waits = fake.at().waits;
    assert!((300..330).contains(&waits), "{waits}");
}

/// The load of two hops at 54 Mb/s. Packets are late by at most the allowed slack, and few are late at all.
#[test]
fn a_loop_with_slack_wakes_less_often() {
    let waits = |slack: Span| {
        let fake = Fake::default();
        for i in 0..3_000 {
            let (from, to) = [(0, 2), (0, 2), (2, 0)][i as usize % 3];
            fake.send(Span::from_us(500 * u64::from(i)), from, packet(from, to, Ecn::NotCapable, 600, i));
        }
        let text =
            CHAIN.replace("802.11b", "802.11g").replace("11 Mb/s", "54 Mb/s").replace("1 Mb/s", "6 Mb/s");
        let emulation = Emulation::new(world(&text), fake.clone(), fake.clone(), 1.0).with_slack(slack);
        let (_, counters, lateness) = finish(emulation);
        assert!(counters.delivered > 2_500, "{counters:?}");
        assert!(lateness.max() <= slack && lateness.quantile(0.9) == Span::ZERO, "{}", lateness.max());
        fake.at().waits
    };
    let (strict, with_slack) = (waits(Span::ZERO), waits(Span::from_us(50)));
    assert!(with_slack * 10 < strict * 9, "{with_slack} of {strict}");
}
