//! Emulations with simulated clocks and devices, exact to the bit.

mod journal;
mod outside;
mod shim;
mod suspended;
mod waking;

use multihop_core::{DropCause, Ecn, HeaderBytes, NodeId, Rng, Span, Time};
use multihop_live::datagram::{Datagram, Refusal};
use multihop_live::emulation::mtu;
use multihop_live::{Emulation, Mode};
use outside::{CHAIN, Fake, frame, number, packet, run, world};

/// With a clock that is never late, packets arrive at the same times as in a run without a clock.
#[test]
fn packets_come_out_where_and_when_the_run_delivers_them() {
    let fake = Fake::default();
    let sends = (0..300_u32).map(|i| (Span::from_us(u64::from(i) * 5_003), (i % 3, (i + 1) % 3)));
    let mut stepped = world(CHAIN);
    let mut expected = Vec::new();
    for (i, (at, (from, to))) in (0..).zip(sends) {
        let bytes = packet(from, to, Ecn::NotCapable, 1_000, i);
        stepped.advance(Time::ZERO + at);
        let datagram = Datagram::parse(&bytes).unwrap();
        let place =
            stepped.config().traffic.flows.iter().position(|f| (f.source.0, f.destination.0) == (from, to));
        stepped.inject(&multihop_sim::external::Injection {
            flow: multihop_core::FlowId(place.unwrap() as u32),
            payload: datagram.payload,
            header: datagram.header,
            ecn: datagram.ecn,
            stream: datagram.stream,
            congestion: HeaderBytes::NONE,
        });
        expected.push((to, bytes.clone()));
        fake.send(at, from, bytes);
    }
    stepped.advance(Time::NEVER);
    let mut arrivals = Vec::new();
    while let Some(outcome) = stepped.poll_outcome() {
        let multihop_sim::external::PacketOutcome::Delivered { number, at, .. } = outcome else { continue };
        let (to, bytes) = expected[number as usize - 1].clone();
        arrivals.push((at.since(Time::ZERO), NodeId(to), bytes));
    }
    let (outcome, counters, lateness) = run(world(CHAIN), &fake, 1.0);
    assert!(arrivals.len() > 290, "{}", arrivals.len());
    assert_eq!(fake.at().got, arrivals);
    assert_eq!(outcome, stepped.close().unwrap());
    assert_eq!((counters.read, counters.delivered), (300, arrivals.len() as u64));
    assert_eq!((lateness.count(), lateness.max()), (arrivals.len() as u64, Span::ZERO));
}

/// One packet over one idle hop of 11 Mb/s takes 192 + 1118 + 1 us with 1500 bytes.
#[test]
fn slow_stretches_the_air_and_a_late_clock_is_noticed() {
    let arrival = |slow: f64, oversleep: Span| {
        let fake = Fake::default();
        fake.at().oversleep = oversleep;
        fake.send(Span::from_ms(500), 0, packet(0, 1, Ecn::NotCapable, 1_472, 7));
        let (_, _, lateness) = run(world(CHAIN), &fake, slow);
        let (at, node, bytes) = fake.at().got[0].clone();
        assert_eq!((node, number(&bytes)), (NodeId(1), 7));
        (at, lateness.max(), fake.at().now)
    };
    assert_eq!(arrival(1.0, Span::ZERO), (Span::from_us(501_311), Span::ZERO, Span::from_ms(2_000)));
    let (at, late, end) = arrival(4.0, Span::ZERO);
    // Three instants are rounded to nanoseconds of the other time.
    assert!(at.ns().abs_diff(500_000_000 + 4 * 1_311_000) <= 12 && late <= Span::from_ns(12), "{at} {late}");
    assert_eq!(end, Span::from_ms(8_000));
    let (at, late, _) = arrival(1.0, Span::from_us(300));
    assert!(late > Span::ZERO && late <= Span::from_us(300), "{late}");
    assert!(at > Span::from_us(501_311), "{at}");
}

/// Far more packets than the network can carry, to all destinations, some malformed, some to a full device.
#[test]
fn the_counters_balance_whatever_comes() {
    for seed in 0..6 {
        let mut rng = Rng::at(seed, &["flood"]);
        let fake = Fake::default();
        fake.at().full = vec![NodeId(2)];
        fake.at().oversleep = Span::from_us(u64::from(rng.below(200)));
        let mut at = Span::ZERO;
        for i in 0..6_000 {
            at += Span::from_us(u64::from(rng.below(600)));
            let (from, to) = (rng.below(3), rng.below(4));
            let mut bytes = packet(from, to, Ecn::Ect0, 4 + rng.below(1_400) as usize, i);
            match rng.below(20) {
                0 => bytes.truncate(rng.below(60) as usize),
                1 => bytes[0] = 0x60,
                2 => bytes[rng.below(28) as usize] = rng.below(256) as u8,
                _ => {}
            }
            fake.send(at, from, bytes);
        }
        let (outcome, counters, _) = run(world(CHAIN), &fake, 1.0);
        assert!(counters.is_balanced(), "{counters:?}");
        assert_eq!(counters.read as usize + fake.at().sends.len(), 6_000);
        assert_eq!(counters.delivered as usize, fake.at().got.len());
        assert_eq!(outcome.conservation.dropped, counters.lost);
        assert_eq!(outcome.conservation.delivered, counters.delivered + counters.device_full);
        assert_eq!(outcome.conservation.queued, counters.queued);
        let refused = |why: Refusal| counters.refused[why as usize];
        assert!(refused(Refusal::Ipv6) > 100 && refused(Refusal::Malformed) > 100, "{counters:?}");
        assert!(refused(Refusal::UnknownDestination) > 500, "no node 3, nor a way from a node to itself");
        assert!(
            counters.lost[DropCause::QueueFull as usize] > 100 && counters.device_full > 100,
            "{counters:?}"
        );
    }
}

/// The maximum MSDU is 2304 bytes with 8 bytes of LLC; ns-2 has no limit.
#[test]
fn packets_longer_than_an_msdu_are_refused() {
    let too_long = |text: &str, mode: Mode| {
        let fake = Fake::default();
        for (i, size) in (0..).zip([1_500, 2_296, 2_297, 60_000]) {
            let bytes = match mode {
                Mode::Ip => packet(0, 1, Ecn::NotCapable, size - 28, i),
                Mode::Ethernet => frame(0, Some(1), size, i),
            };
            fake.send(Span::from_ms(u64::from(i) * 100), 0, bytes);
        }
        let mut emulation = Emulation::new(world(text), fake.clone(), fake.clone(), 1.0).with_mode(mode);
        while emulation.run_once().unwrap() {}
        let counters = emulation.end().unwrap().1;
        assert!(counters.is_balanced(), "{counters:?}");
        assert_eq!(counters.delivered as usize, fake.at().got.len());
        (counters.delivered, counters.refused[Refusal::TooLong as usize])
    };
    assert_eq!(too_long(CHAIN, Mode::Ip), (2, 2));
    assert_eq!(too_long(CHAIN, Mode::Ethernet), (2, 2));
    let without = CHAIN.replace("[mac]", "[mac]\nrules = \"ns2\"");
    assert_eq!(too_long(&without, Mode::Ip), (4, 0));
    let wide =
        CHAIN.to_owned() + "[network]\nextra_header = \"1200 B\"\n[schemes.udp]\nsegment_size = \"500 B\"\n";
    let mtus = [CHAIN, &without, &wide].map(|text| mtu(world(text).config()));
    assert_eq!(mtus, [1_500, 1_500, 2_304 - 8 - 1_200]);
}

#[test]
fn nobody_sends_for_another() {
    let fake = Fake::default();
    fake.send(Span::ZERO, 0, packet(1, 2, Ecn::NotCapable, 100, 0));
    let (.., counters, _) = run(world(CHAIN), &fake, 1.0);
    assert_eq!((counters.read, counters.refused[Refusal::ForeignSource as usize]), (1, 1));
}

/// Node 1 leads to other networks: packets of others to outside addresses are written to its device, and
/// packets from outside are forwarded to them. Its own packets to outside do not use the network. An address
/// in the nodes' network that no node has remains unknown.
#[test]
fn a_gateway_sends_for_networks_beyond_the_air() {
    let beyond = |mut packet: Vec<u8>, at: usize| {
        packet[at..at + 4].copy_from_slice(&[192, 0, 2, 7]);
        packet
    };
    let fake = Fake::default();
    let plain = |from, to, number| packet(from, to, Ecn::NotCapable, 100, number);
    fake.send(Span::from_ms(1), 0, beyond(plain(0, 0, 1), 16));
    fake.send(Span::from_ms(2), 1, beyond(plain(0, 2, 2), 12));
    fake.send(Span::from_ms(3), 1, beyond(plain(1, 0, 3), 16));
    fake.send(Span::from_ms(4), 2, beyond(plain(2, 0, 4), 12));
    fake.send(Span::from_ms(5), 0, plain(0, 200, 5));
    let mut emulation = Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0).with_gateway(NodeId(1));
    while emulation.run_once().unwrap() {}
    let (_, counters, _) = emulation.end().unwrap();
    let came: Vec<(u32, u32)> =
        fake.at().got.iter().map(|(_, node, packet)| (node.0, number(packet))).collect();
    assert_eq!(came, [(1, 1), (2, 2)]);
    let refused =
        [Refusal::UnknownDestination, Refusal::ForeignSource].map(|why| counters.refused[why as usize]);
    assert_eq!((counters.read, refused), (5, [2, 1]));
}

/// CoDel marks the bytes of packets with ECN-capable transports, and drops others.
#[test]
fn marks_are_in_the_bytes() {
    let discipline = CHAIN.replace("[mac]", "[mac]\nqueue = 1000\ndiscipline = \"fq-codel\"");
    let sent = |ecn: Ecn| {
        let fake = Fake::default();
        for i in 0..1_500_u32 {
            fake.send(Span::from_us(u64::from(i) * 1_200), 0, packet(0, 1, ecn, 1_472, i));
        }
        let (_, counters, _) = run(world(&discipline), &fake, 1.0);
        let is_marked = |bytes: &[u8]| bytes[1] & 3 == Ecn::CongestionExperienced.bits();
        let marked = fake.at().got.iter().filter(|(.., bytes)| is_marked(bytes)).count() as u64;
        assert_eq!(marked, counters.marked);
        (marked, counters.lost[DropCause::Aqm as usize])
    };
    let (marked, lost) = sent(Ecn::Ect0);
    assert!(marked > 10 && lost == 0, "{marked} {lost}");
    let (marked, lost) = sent(Ecn::NotCapable);
    assert!(marked == 0 && lost > 10, "{marked} {lost}");
}

/// Broadcasts reach all neighbours, unicasts one; programs must relay to a node two hops away.
#[test]
fn frames_of_ethernet_go_one_hop() {
    let fake = Fake::default();
    let sends = [(1, None), (0, None), (0, Some(1)), (0, Some(2)), (1, Some(2)), (2, Some(7))];
    for (i, (from, to)) in (0..).zip(sends) {
        fake.send(Span::from_ms(u64::from(i + 1) * 100), from, frame(from, to, 200, i));
    }
    let mut emulation =
        Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0).with_mode(Mode::Ethernet);
    while emulation.run_once().unwrap() {}
    let (world, counters, lateness) = emulation.end().unwrap();
    world.close().unwrap();
    let got: Vec<_> = fake.at().got.iter().map(|(_, node, bytes)| (number(bytes), node.0)).collect();
    assert_eq!(got, [(0, 0), (0, 2), (1, 1), (2, 1), (4, 2)]);
    // 192 us of preamble, 236 bytes at 1 Mb/s, 1 us of propagation.
    assert_eq!(fake.at().got[0].0, Span::from_us(100_000 + 192 + 236 * 8 + 1));
    assert_eq!((counters.read, counters.delivered, counters.queued), (6, 4, 0));
    assert_eq!(counters.lost[DropCause::RetryLimit as usize], 1);
    assert_eq!(counters.refused[Refusal::UnknownDestination as usize], 1);
    assert!(counters.is_balanced(), "{counters:?}");
    assert_eq!(lateness.count(), 5);
}

/// Random bytes, valid and damaged packets, in both modes: nothing panics, and the counters balance.
fn fuzz(packets: u32) {
    for (seed, mode) in [(1, Mode::Ip), (2, Mode::Ethernet)] {
        let mut rng = Rng::at(seed, &["fuzz"]);
        let fake = Fake::default();
        let text = CHAIN.replace("2 s", "1 h");
        let mut emulation = Emulation::new(world(&text), fake.clone(), fake.clone(), 1.0).with_mode(mode);
        for i in 0..packets / 2 {
            let (from, to) = (rng.below(3), rng.below(5));
            let length = rng.below(1_600) as usize;
            let mut bytes = match (rng.below(4), mode) {
                (0, _) => (0..length).map(|_| rng.below(256) as u8).collect(),
                (_, Mode::Ip) => packet(from, to, Ecn::Ect0, 4 + length % 1_468, i),
                (_, Mode::Ethernet) => frame(from, Some(to).filter(|to| *to < 4), 18 + length % 1_482, i),
            };
            for _ in 0..rng.below(3) {
                // Offsets of headers.
                let place = rng.below(40) as usize;
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = rng.below(256) as u8;
                }
            }
            if rng.below(8) == 0 {
                bytes.truncate(rng.below(bytes.len() as u32 + 1) as usize);
            }
            let now = fake.at().now;
            fake.send(now, from, bytes);
            assert!(emulation.run_once().unwrap());
            if i % 4 == 0 {
                fake.at().now += Span::from_us(u64::from(rng.below(400)));
            }
            fake.at().got.clear();
        }
        let counters = emulation.counters();
        assert!(counters.is_balanced() && counters.delivered > u64::from(packets / 200), "{counters:?}");
        assert_eq!(counters.read, u64::from(packets / 2));
        emulation.end().unwrap().0.close().unwrap();
    }
}

#[test]
fn damaged_packets_are_counted() {
    fuzz(40_000);
}

/// `cargo test --release -p multihop-live --test it -- --ignored ten_million`
#[test]
#[ignore = "takes minutes"]
fn ten_million_damaged_packets_are_counted() {
    fuzz(10_000_000);
}
