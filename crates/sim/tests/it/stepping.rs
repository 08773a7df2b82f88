//! Runs in steps, and packets that come from outside of them.

use crate::common::{add_flow, chain, network, saturate};
use crate::mac::aggregation::high_throughput;
use multihop_core::{DropCause, Ecn, FlowId, HeaderBytes, Rate, Rng, Span, Time};
use multihop_dot11::DcfRules;
use multihop_link::{Discipline, FqCodelOptions};
use multihop_sim::config::{AppConfig, Config, Delivery};
use multihop_sim::external::{Injection, PacketOutcome};
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn datagram(flow: u32) -> Injection {
    Injection {
        flow: FlowId(flow),
        payload: 1_472,
        header: 28,
        ecn: Ecn::NotCapable,
        stream: 0,
        congestion: HeaderBytes::NONE,
    }
}

/// Three hops, all of which are busy.
fn busy() -> Config {
    let mut config = chain(DcfRules::IEEE, 3);
    config.duration = Span::from_ms(300);
    config.recording.warmup = Span::from_ms(50);
    config.recording.interval = Span::from_ms(20);
    saturate(&mut config, 0, 3);
    add_flow(&mut config, 3, 0, AppConfig::Cbr { rate: Rate::from_kbps(800), packet: 700, jitter: 0.5 });
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Steps of any lengths, backwards ones among them, and looks at the tables in between are one run to the
    /// bit.
    #[test]
    fn any_steps_are_one_run(until in prop::collection::vec((0..320_000_000_u64, any::<bool>()), 0..40), exact: bool) {
        let config = busy();
        let mut world = World::new(&config, Ties::InOrder);
        let mut furthest = Time::ZERO;
        for (ns, look) in until {
            // To an event, or to anywhere.
            let target = if exact { world.next_event() } else { Time::from_ns(ns) };
            let next = world.advance(target);
            furthest = furthest.max(target.min(world.end()));
            prop_assert_eq!(world.now(), furthest);
            prop_assert_eq!(next.is_none(), furthest == world.end());
            prop_assert!(next.is_none_or(|next| next > furthest));
            if look {
                world.tables();
            }
        }
        prop_assert_eq!(world.advance(Time::NEVER), None);
        prop_assert_eq!(world.close().unwrap(), run(&config));
    }
}

/// The tables on the way are those of a shorter run.
#[test]
fn tables_are_those_of_a_run_that_ends_there() {
    let config = busy();
    let mut world = World::new(&config, Ties::InOrder);
    world.advance(at(200_000));
    let short = run(&Config { duration: Span::from_ms(200), ..config });
    assert!(short.flows[0].delivered_bytes > 0 && !short.series.is_empty());
    assert_eq!(world.tables(), short);
    assert_eq!(world.tables(), short, "a look changes nothing");
}

/// Packets injected at the instants of a constant bit rate have the same outcome as the application's at
/// every hop.
#[test]
fn injected_packets_fare_as_those_of_an_application() {
    let mut config = chain(DcfRules::IEEE, 3);
    config.duration = Span::from_ms(2_000);
    config.recording.warmup = Span::ZERO;
    let (interval, payload) = (Span::from_us(5_888), 1_472);
    add_flow(
        &mut config,
        0,
        3,
        AppConfig::Cbr { rate: Rate::from_kbps(2_000), packet: payload, jitter: 0.0 },
    );
    let own = run(&config);
    config.traffic.flows[0].app = AppConfig::External;
    let mut world = World::new(&config, Ties::InOrder);
    for packet in 0.. {
        let Some(_) = world.advance(Time::ZERO + interval * packet) else { break };
        assert_eq!(world.inject(&datagram(0)), packet + 1);
    }
    let injected = world.close().unwrap();
    assert!(own.flows[0].packets_delivered > 100);
    assert_eq!(injected.flows, own.flows);
    assert_eq!((injected.nodes, injected.links), (own.nodes, own.links));
    assert_eq!(injected.conservation, own.conservation);
}

/// It is sent at once, as the medium was idle: preamble and header of 192 us; 28 bytes of MAC, 8 of LLC and
/// 1500 at 11 Mb/s, 1117.1 us, in whole microseconds; 1 us of propagation.
#[test]
fn a_packet_over_one_hop_takes_what_its_frame_takes() {
    let mut config = chain(DcfRules::IEEE, 1);
    add_flow(&mut config, 0, 1, AppConfig::External);
    let mut world = World::new(&config, Ties::InOrder);
    world.advance(at(10_000));
    let number = world.inject(&Injection { ecn: Ecn::Ect0, ..datagram(0) });
    assert_eq!(world.poll_outcome(), None);
    world.advance(at(20_000));
    let Some(PacketOutcome::Delivered { number: delivered, at: when, ecn, .. }) = world.poll_outcome() else {
        panic!("it arrives")
    };
    assert_eq!((delivered, ecn), (number, Ecn::Ect0));
    assert_eq!(when - at(10_000), Span::from_us(192 + 1_118 + 1));
    assert_eq!(world.poll_outcome(), None);
}

/// Too much for the air, and for a node that is out of reach: each packet is delivered, lost for one cause,
/// or still queued.
#[test]
fn every_packet_has_one_outcome() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [2_000.0, 0.0]]);
    config.duration = Span::from_ms(500);
    for (from, to) in [(0, 2), (2, 0), (1, 3)] {
        add_flow(&mut config, from, to, AppConfig::External);
    }
    let mut world = World::new(&config, Ties::InOrder);
    let (mut open, mut lost, mut delivered) = (BTreeSet::new(), [0; DropCause::ALL.len()], 0);
    let mut stands_for = Vec::new();
    for packet in 0..2_000_u64 {
        world.advance(at(200 * packet));
        let number = world.inject(&datagram((packet % 3) as u32));
        assert!(open.insert(number), "numbers are used once");
        while let Some(outcome) = world.poll_outcome() {
            assert!(open.remove(&outcome.number()), "{outcome:?}: a second outcome");
            match outcome {
                PacketOutcome::Delivered { at, .. } => {
                    delivered += 1;
                    stands_for.push(at);
                }
                PacketOutcome::Lost { at, cause, node, .. } => {
                    lost[cause as usize] += 1;
                    stands_for.push(at);
                    assert!(cause != DropCause::NoRoute || node.0 == 1, "where it was injected");
                }
                PacketOutcome::Heard { .. } | PacketOutcome::Sent { .. } => {
                    panic!("{outcome:?} is of a frame")
                }
            }
        }
    }
    assert!(stands_for.is_sorted(), "in the order in which it happened");
    let Outcome { conservation, .. } = world.close().unwrap();
    assert_eq!((conservation.sent, conservation.queued), (2_000, open.len() as u64));
    assert_eq!((conservation.delivered, conservation.dropped), (delivered, lost));
    assert_eq!(lost[DropCause::NoRoute as usize], 666);
    assert!(delivered > 50 && lost[DropCause::QueueFull as usize] > 500, "{delivered} {lost:?}");
}

/// One connection floods, another sends few packets: FQ-CoDel separates them if they are two streams, and
/// marks.
#[test]
fn streams_of_a_flow_have_lines_of_their_own() {
    let mut config = chain(DcfRules::IEEE, 1);
    config.mac.queue.discipline = Discipline::FqCodel(FqCodelOptions::default());
    config.mac.queue.limit = 1_000;
    config.duration = Span::from_ms(2_000);
    add_flow(&mut config, 0, 1, AppConfig::External);
    let worst_of_sparse = |stream: u16| {
        let mut world = World::new(&config, Ties::InOrder);
        let (mut sent, mut sparse, mut worst, mut marked) = (Vec::new(), BTreeSet::new(), Span::ZERO, 0);
        for packet in 0..1_900_u64 {
            world.advance(at(1_000 * packet));
            sent.push(world.now());
            world.inject(&Injection { ecn: Ecn::Ect0, ..datagram(0) });
            if packet % 50 == 49 {
                sent.push(world.now());
                sparse.insert(world.inject(&Injection { payload: 100, stream, ..datagram(0) }));
            }
            while let Some(outcome) = world.poll_outcome() {
                if let PacketOutcome::Delivered { number, at, ecn, .. } = outcome {
                    marked += u64::from(ecn == Ecn::CongestionExperienced);
                    if sparse.contains(&number) {
                        worst = worst.max(at - sent[number as usize - 1]);
                    }
                }
            }
        }
        assert!(marked > 0, "the flood is marked");
        worst
    };
    let [apart, together] = [1, 0].map(worst_of_sparse);
    assert!(apart < Span::from_ms(10) && together > apart * 5, "{apart} {together}");
}

#[test]
#[should_panic(expected = "sends packets of its own")]
fn only_external_flows_take_packets() {
    World::new(&busy(), Ties::InOrder).inject(&datagram(0));
}

/// Networks that differ in what a delivery follows from.
fn networks() -> Vec<(&'static str, Config)> {
    let chain = || chain(DcfRules::IEEE, 3);
    let base = |mut config: Config, change: &dyn Fn(&mut Config)| {
        config.duration = Span::from_ms(1_500);
        for (from, to) in [(0, 3), (3, 0), (1, 2), (2, 1)] {
            add_flow(&mut config, from, to, AppConfig::External);
        }
        saturate(&mut config, 1, 3);
        change(&mut config);
        config
    };
    vec![
        ("without RTS", base(chain(), &|config| config.mac.rts_threshold = None)),
        ("with RTS", base(chain(), &|config| config.mac.rts_threshold = Some(0))),
        ("ns-2", base(chain(), &|config| config.mac.rules = DcfRules::NS2)),
        ("short lives", base(chain(), &|config| config.mac.queue.lifetime = Some(Span::from_ms(3)))),
        (
            "light",
            base(chain(), &|config| {
                config.medium.delays_by_distance = true;
                config.medium.propagation_delay = Span::ZERO;
            }),
        ),
        ("aggregates", base(high_throughput(&[0.0, 200.0, 400.0, 600.0].map(|x| [x, 0.0])), &|_| ())),
        (
            "MPDU by MPDU",
            base(high_throughput(&[0.0, 200.0, 400.0, 600.0].map(|x| [x, 0.0])), &|config| {
                config.mac.block_ack.delivery = Delivery::Mpdu;
            }),
        ),
    ]
}

/// Until the instant that is said nothing is delivered, and the run comes to its end by such steps.
#[test]
fn nothing_is_delivered_before_it_is_said_to_be() {
    for (name, config) in networks() {
        let mut world = World::new(&config, Ties::InOrder);
        let mut rng = Rng::at(3, &["lookahead", name]);
        let (mut steps, mut events, mut delivered) = (0, 0, 0);
        let mut came = Time::ZERO;
        while world.now() < world.end() {
            let next = world.next_delivery();
            assert!(next >= world.next_event(), "{name}");
            if came == world.now() {
                world.inject(&Injection { payload: 4 + rng.below(1_400), ..datagram(rng.below(4)) });
                came += Span::from_us(u64::from(rng.below(8_000)) + 1);
                continue;
            }
            // The last instant before.
            while world.next_event() < next.min(came) {
                events += 1;
                let event = world.next_event();
                world.advance(event);
                while let Some(outcome) = world.poll_outcome() {
                    assert!(
                        !matches!(outcome, PacketOutcome::Delivered { .. }),
                        "{name}: {outcome:?} before {next}"
                    );
                }
            }
            world.advance(next.min(came));
            steps += 1;
            while let Some(outcome) = world.poll_outcome() {
                delivered += u32::from(matches!(outcome, PacketOutcome::Delivered { .. }));
            }
        }
        assert!(delivered > 50, "{name}: {delivered}");
        // Where MPDUs are passed on one by one, most events are deliveries.
        let least = if config.mac.block_ack.delivery == Delivery::Mpdu { steps / 8 } else { steps / 2 };
        assert!(events > least, "{name}: {steps} steps, {events} events between them");
    }
}

/// With slack that instant is later by no more than that; where a delivery is certain it is the same.
#[test]
fn with_slack_a_delivery_is_found_no_later_than_that() {
    let slack = Span::from_us(50);
    for (name, config) in networks() {
        let mut world = World::new(&config, Ties::InOrder);
        let (mut same, mut later) = (0, 0);
        for step in 0..4_000_u64 {
            if step % 20 == 0 {
                world.inject(&datagram((step / 20 % 4) as u32));
            }
            let (strict, within) = (world.next_delivery(), world.next_delivery_within(slack));
            assert!(strict <= within && within <= strict + slack, "{name}: {strict} {within}");
            (same, later) = (same + u32::from(strict == within), later + u32::from(strict < within));
            let event = world.next_event();
            world.advance(event);
            while world.poll_outcome().is_some() {}
        }
        assert!(same > 200 && later > 200, "{name}: {same} {later}");
    }
}
