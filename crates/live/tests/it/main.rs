//! Emulations with a clock and devices of their own, to the bit.

mod shim;
mod suspended;

use multihop_core::{DropCause, Ecn, HeaderBytes, NodeId, Rng, Span, Time};
use multihop_live::counters::Counters;
use multihop_live::datagram::{Datagram, Refusal};
use multihop_live::ethernet::hardware_address;
use multihop_live::journal::{self, JournalError, Recorder};
use multihop_live::lateness::Lateness;
use multihop_live::{Clock, Emulation, Mode, Wire, address};
use multihop_scenario::{External, Overrides};
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};

/// What happens outside: when who sends what; and what has happened: when who got what.
#[derive(Default)]
struct Outside {
    now: Span,
    /// Sooner or later, in this order.
    sends: VecDeque<(Span, NodeId, Vec<u8>)>,
    got: Vec<(Span, NodeId, Vec<u8>)>,
    /// Each wait is longer by this: the machine is busy.
    oversleep: Span,
    /// Nodes whose device is full.
    full: Vec<NodeId>,
}

/// Clock and devices, which share a world of their own.
#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Outside>>);

impl Fake {
    fn at(&self) -> MutexGuard<'_, Outside> {
        self.0.lock().unwrap()
    }

    fn send(&self, at: Span, from: u32, packet: Vec<u8>) {
        self.at().sends.push_back((at, NodeId(from), packet));
    }
}

impl Clock for Fake {
    fn elapsed(&mut self) -> Span {
        self.at().now
    }
}

impl Wire for Fake {
    fn wait(&mut self, at_most: Span) -> io::Result<()> {
        let mut outside = self.at();
        let next = outside.sends.front().map_or(outside.now + at_most, |(at, ..)| *at);
        let woken = next.max(outside.now).min(outside.now + at_most);
        outside.now = woken + outside.oversleep;
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(NodeId, usize)>> {
        let mut outside = self.at();
        if outside.sends.front().is_none_or(|(at, ..)| *at > outside.now) {
            return Ok(None);
        }
        let (_, from, packet) = outside.sends.pop_front().unwrap();
        buffer[..packet.len()].copy_from_slice(&packet);
        Ok(Some((from, packet.len())))
    }

    fn write(&mut self, node: NodeId, packet: &[u8]) -> bool {
        let mut outside = self.at();
        let now = outside.now;
        if outside.full.contains(&node) {
            return false;
        }
        outside.got.push((now, node, packet.to_vec()));
        true
    }
}

const CHAIN: &str = r#"
name = "chain"
duration = "2 s"
[phy]
standard = "802.11b"
data_rate = "11 Mb/s"
control_rate = "1 Mb/s"
[mac]
rts_threshold = "off"
[topology]
generator = "chain"
hops = 2
spacing = "200 m"
"#;

fn world(text: &str) -> World {
    world_of(text, Overrides::default())
}

fn world_of(text: &str, overrides: Overrides) -> World {
    let warmup = Some("0 s".into());
    let overrides = Overrides { external: Some(External::Alone), warmup, ..overrides };
    World::new(&multihop_scenario::load(text, "test", &overrides).unwrap(), Ties::InOrder)
}

/// A UDP packet with a payload that says its number.
fn packet(from: u32, to: u32, ecn: Ecn, payload: usize, number: u32) -> Vec<u8> {
    let mut packet = vec![0; 28 + payload];
    packet[0] = 0x45;
    packet[1] = ecn.bits();
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[9] = 17;
    packet[12..16].copy_from_slice(&address(NodeId(from)));
    packet[16..20].copy_from_slice(&address(NodeId(to)));
    packet[28..32].copy_from_slice(&number.to_be_bytes());
    packet
}

fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[28..32].try_into().unwrap())
}

fn run(world: World, fake: &Fake, slow: f64) -> (Outcome, Counters, Lateness) {
    let mut emulation = Emulation::new(world, fake.clone(), fake.clone(), slow);
    while emulation.turn().unwrap() {}
    let (world, counters, lateness) = emulation.end().unwrap();
    (world.close().unwrap(), counters, lateness)
}

/// With a clock that is never late, packets arrive at the instants of the same run without a clock.
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
        let place = stepped.config().flows.iter().position(|f| (f.source.0, f.destination.0) == (from, to));
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

/// Far more than the air carries, to everywhere, some of it nonsense, some to a device that is full.
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
        assert!(counters.balance(), "{counters:?}");
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

#[test]
fn nobody_sends_for_another() {
    let fake = Fake::default();
    fake.send(Span::ZERO, 0, packet(1, 2, Ecn::NotCapable, 100, 0));
    let (.., counters, _) = run(world(CHAIN), &fake, 1.0);
    assert_eq!((counters.read, counters.refused[Refusal::ForeignSource as usize]), (1, 1));
}

/// Node 1 leads to other networks: what others send there comes out at it, and what comes from there goes to them. Its own packets have
/// another way; and an address of the nodes' network that no node has is still no address.
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
    let mut emulation = Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0).through(NodeId(1));
    while emulation.turn().unwrap() {}
    let (_, counters, _) = emulation.end().unwrap();
    let came: Vec<(u32, u32)> =
        fake.at().got.iter().map(|(_, node, packet)| (node.0, number(packet))).collect();
    assert_eq!(came, [(1, 1), (2, 2)]);
    let refused =
        [Refusal::UnknownDestination, Refusal::ForeignSource].map(|why| counters.refused[why as usize]);
    assert_eq!((counters.read, refused), (5, [2, 1]));
}

/// CoDel marks the packets of transports that understand it, in their bytes, and drops others.
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

/// What a recorder writes, to be read again.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    /// All but the first line of a journal.
    fn behind_first_line(&self) -> Vec<u8> {
        let written = self.0.lock().unwrap();
        let rest = written.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        written[rest..].to_vec()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run of random packets with a clock that is late at random; its result, and its journal without the first line.
fn recorded(seed: u64) -> (Outcome, Vec<u8>) {
    let mut rng = Rng::at(seed, &["recorded"]);
    let (fake, file) = (Fake::default(), Shared::default());
    fake.at().oversleep = Span::from_us(u64::from(rng.below(500)));
    let mut at = Span::ZERO;
    for i in 0..1_500 {
        at += Span::from_ns(u64::from(rng.below(2_000_000)));
        let (from, to) = (rng.below(3), rng.below(3));
        fake.send(at, from, packet(from, to, Ecn::Ect0, 4 + rng.below(1_400) as usize, i));
    }
    let recorder =
        Recorder::new(Box::new(file.clone()) as Box<dyn Write + Send>, "a line of its own").unwrap();
    let mut emulation = Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0).recorded(recorder);
    // Some end in the middle.
    let turns = if seed.is_multiple_of(2) { u32::MAX } else { rng.below(9_000) + 1_000 };
    for _ in 0..turns {
        if !emulation.turn().unwrap() {
            break;
        }
    }
    let (world, ..) = emulation.end().unwrap();
    (world.close().unwrap(), file.behind_first_line())
}

#[test]
fn a_journal_is_the_same_run_again() {
    for seed in 0..20 {
        let (outcome, written) = recorded(seed);
        let mut again = world(CHAIN);
        let ending = journal::replay(&written[..], &mut again).unwrap().expect("it was ended");
        assert_eq!(ending.fingerprint, outcome.fingerprint);
        assert_eq!(again.close().unwrap(), outcome, "seed {seed}");
    }
}

/// Where signals take no time, a broadcast begins at the instant at which it comes: an emulation that ends then has its beginning.
#[test]
fn an_emulation_ends_with_all_that_its_last_packet_makes_due() {
    let text = CHAIN.to_owned() + "[medium]\nmodel = \"ranges\"\npropagation_delay = \"0 s\"\n";
    let (fake, file) = (Fake::default(), Shared::default());
    fake.send(Span::from_ms(100), 0, frame(0, None, 64, 1));
    let recorder = Recorder::new(Box::new(file.clone()) as Box<dyn Write + Send>, "first").unwrap();
    let mut emulation = Emulation::new(world(&text), fake.clone(), fake.clone(), 1.0)
        .carrying(Mode::Ethernet)
        .recorded(recorder);
    while emulation.counters().read == 0 {
        emulation.turn().unwrap();
    }
    let fingerprint = emulation.end().unwrap().0.close().unwrap().fingerprint;
    let written = file.0.lock().unwrap().clone();
    let mut again = world(&text);
    let ending = journal::replay(&written["first\n".len()..], &mut again).unwrap().unwrap();
    assert_eq!((ending.fingerprint, again.fingerprint()), (fingerprint, fingerprint));
}

#[test]
fn a_journal_that_was_cut_is_the_run_until_then() {
    let (_, written) = recorded(0);
    let mut rng = Rng::at(1, &["cut"]);
    for _ in 0..20 {
        let cut = &written[..rng.below(written.len() as u32) as usize];
        let mut again = world(CHAIN);
        assert_eq!(journal::replay(cut, &mut again).unwrap(), None);
        let injections = cut.split(|byte| *byte == b'\n').count() as u64 - 1;
        assert_eq!(again.close().unwrap().conservation.sent, injections);
    }
}

#[test]
fn what_is_wrong_with_a_journal_is_said() {
    let wrong = |text: &str| match journal::replay(text.as_bytes(), &mut world(CHAIN)).unwrap_err() {
        JournalError::Line { line, needs, .. } => (line, needs),
        JournalError::Io(error) => panic!("{error}"),
    };
    let good = "1000 0 100 28 2 7 00000000000000ff\n";
    assert_eq!(wrong(&format!("{good}nonsense\n")).0, 3);
    for line in
        ["1000 0 100 28 4 7 ff\n", "1000 0 70000 28 2 7 ff\n", "1000 0 100 28 2 7\n", "-1 0 1 28 2 7 ff\n"]
    {
        assert_eq!(
            wrong(line),
            (2, "nanoseconds, flow, payload, header, ECN, stream, a congestion header if any, and a hash"),
            "{line}"
        );
    }
    assert_eq!(wrong("1000 6 100 28 2 7 ff\n").1, "a flow that takes packets from outside");
    let backwards = "instants that do not go backwards, before the end of the run";
    assert_eq!(wrong(&format!("{good}999 0 100 28 2 7 ff\n")), (3, backwards));
    assert_eq!(wrong("2000000001 0 100 28 2 7 ff\n").1, backwards);
    assert_eq!(wrong(&format!("{good}end 999 0\n")).1, "`end`, nanoseconds and a fingerprint");
}

/// A frame of Ethernet with a payload that says its number.
fn frame(from: u32, to: Option<u32>, payload: usize, number: u32) -> Vec<u8> {
    let to = to.map_or([0xff; 6], |to| hardware_address(NodeId(to)));
    let mut frame = [&to[..], &hardware_address(NodeId(from)), &[0x08, 0x06], &vec![0; payload][..]].concat();
    frame[28..32].copy_from_slice(&number.to_be_bytes());
    frame
}

/// Broadcasts reach all around, unicasts one neighbour; whoever is two hops away is for programs to reach.
#[test]
fn frames_of_ethernet_go_one_hop() {
    let fake = Fake::default();
    let sends = [(1, None), (0, None), (0, Some(1)), (0, Some(2)), (1, Some(2)), (2, Some(7))];
    for (i, (from, to)) in (0..).zip(sends) {
        fake.send(Span::from_ms(u64::from(i + 1) * 100), from, frame(from, to, 200, i));
    }
    let mut emulation =
        Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0).carrying(Mode::Ethernet);
    while emulation.turn().unwrap() {}
    let (world, counters, lateness) = emulation.end().unwrap();
    world.close().unwrap();
    let got: Vec<_> = fake.at().got.iter().map(|(_, node, bytes)| (number(bytes), node.0)).collect();
    assert_eq!(got, [(0, 0), (0, 2), (1, 1), (2, 1), (4, 2)]);
    // 192 us of preamble, 236 bytes at 1 Mb/s, 1 us of propagation.
    assert_eq!(fake.at().got[0].0, Span::from_us(100_000 + 192 + 236 * 8 + 1));
    assert_eq!((counters.read, counters.delivered, counters.queued), (6, 4, 0));
    assert_eq!(counters.lost[DropCause::RetryLimit as usize], 1);
    assert_eq!(counters.refused[Refusal::UnknownDestination as usize], 1);
    assert!(counters.balance(), "{counters:?}");
    assert_eq!(lateness.count(), 5);
}

#[test]
fn a_journal_of_frames_is_the_same_run_again() {
    let (fake, file) = (Fake::default(), Shared::default());
    let mut rng = Rng::at(1, &["frames"]);
    let mut at = Span::ZERO;
    for i in 0..2_000 {
        at += Span::from_us(u64::from(rng.below(1_500)));
        let to = Some(rng.below(4)).filter(|to| *to < 3);
        fake.send(at, i % 3, frame(i % 3, to, 64 + rng.below(1_000) as usize, i));
    }
    let recorder = Recorder::new(Box::new(file.clone()) as Box<dyn Write + Send>, "first").unwrap();
    let mut emulation = Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0)
        .carrying(Mode::Ethernet)
        .recorded(recorder);
    while emulation.turn().unwrap() {}
    let counters = emulation.counters();
    assert!(counters.balance() && counters.lost[DropCause::QueueFull as usize] > 10, "{counters:?}");
    let outcome = emulation.end().unwrap().0.close().unwrap();
    let written = file.0.lock().unwrap().clone();
    let mut again = world(CHAIN);
    let ending = journal::replay(&written["first\n".len()..], &mut again).unwrap().unwrap();
    assert_eq!((ending.fingerprint, again.close().unwrap()), (outcome.fingerprint, outcome));
}

/// Random bytes, whole and damaged packets, into both modes: nothing panics, and the counters balance.
fn fuzz(packets: u32) {
    for (seed, mode) in [(1, Mode::Ip), (2, Mode::Ethernet)] {
        let mut rng = Rng::at(seed, &["fuzz"]);
        let fake = Fake::default();
        let text = CHAIN.replace("2 s", "1 h");
        let mut emulation = Emulation::new(world(&text), fake.clone(), fake.clone(), 1.0).carrying(mode);
        for i in 0..packets / 2 {
            let (from, to) = (rng.below(3), rng.below(5));
            let length = rng.below(1_600) as usize;
            let mut bytes = match (rng.below(4), mode) {
                (0, _) => (0..length).map(|_| rng.below(256) as u8).collect(),
                (_, Mode::Ip) => packet(from, to, Ecn::Ect0, 4 + length % 1_468, i),
                (_, Mode::Ethernet) => frame(from, Some(to).filter(|to| *to < 4), 18 + length % 1_482, i),
            };
            for _ in 0..rng.below(3) {
                // Where headers are.
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
            assert!(emulation.turn().unwrap());
            if i % 4 == 0 {
                fake.at().now += Span::from_us(u64::from(rng.below(400)));
            }
            fake.at().got.clear();
        }
        let counters = emulation.counters();
        assert!(counters.balance() && counters.delivered > u64::from(packets / 200), "{counters:?}");
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
