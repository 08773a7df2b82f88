//! EWCCP below a scripted TCP.

use crate::journal::Shared;
use crate::outside::{Fake, world_of};
use multihop_core::{DropCause, Ecn, FlowId, NodeId, Rng, Span, Time};
use multihop_live::counters::Counters;
use multihop_live::datagram::{Datagram, Refusal};
use multihop_live::journal::{self, JournalWriter};
use multihop_live::shim::{ArrivedPacket, Headers, ReleasedPacket, Shim};
use multihop_live::{Emulation, address};
use multihop_scenario::Overrides;
use multihop_sim::World;
use multihop_sim::outcome::Outcome;

const CHAIN: &str = r#"
name = "chain"
duration = "2 s"
[phy]
standard = "802.11a"
data_rate = "54 Mb/s"
control_rate = "24 Mb/s"
[topology]
generator = "chain"
hops = 2
spacing = "200 m"
[schemes.ewccp]
segment_size = "1000 B"
"#;

const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
const FIN: u8 = 1;

/// A segment of a connection between port 1 of node 0 and port 2 of node 2, with the options of a Linux SYN.
#[derive(Clone, Copy)]
struct Said {
    from: u32,
    flags: u8,
    seq: u32,
    ack: u32,
    payload: usize,
}

impl Said {
    fn bytes(self) -> Vec<u8> {
        let Said { from, flags, seq, ack, payload } = self;
        let options: &[u8] = match flags & SYN {
            0 => &[],
            _ => &[2, 4, 5, 180, 4, 2, 1, 1, 1, 3, 3, 7],
        };
        let (to, ports) = if from == 0 { (2, [0, 1, 0, 2]) } else { (0, [0, 2, 0, 1]) };
        let mut packet = vec![0; 40 + options.len() + payload];
        packet[0] = 0x45;
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet[9] = 6;
        packet[12..16].copy_from_slice(&address(NodeId(from)));
        packet[16..20].copy_from_slice(&address(NodeId(to)));
        packet[20..24].copy_from_slice(&ports);
        packet[24..28].copy_from_slice(&seq.to_be_bytes());
        packet[28..32].copy_from_slice(&ack.to_be_bytes());
        packet[32] = ((20 + options.len()) / 4 * 16) as u8;
        packet[33] = flags;
        packet[34..36].copy_from_slice(&50_000_u16.to_be_bytes());
        packet[40..40 + options.len()].copy_from_slice(options);
        packet
    }
}

/// Initial sequence numbers of both ends, close to the wrap.
const A: u32 = u32::MAX - 2_500;
const B: u32 = 77;

fn syn(from: u32) -> Said {
    let (seq, ack) = if from == 0 { (A, 0) } else { (B, A.wrapping_add(1)) };
    Said { from, flags: if from == 0 { SYN } else { SYN | ACK }, seq, ack, payload: 0 }
}

/// Segment number `n` of node 0, of 1000 bytes.
fn data(n: u32) -> Said {
    Said { from: 0, flags: ACK, seq: A.wrapping_add(1 + 1_000 * n), ack: B + 1, payload: 1_000 }
}

/// Acknowledgement of `n` segments by node 2.
fn ack(n: u32) -> Said {
    Said { from: 2, flags: ACK, seq: B + 1, ack: data(n).seq, payload: 0 }
}

/// The layer alone, with the packets that it has released.
struct Bench {
    shim: Shim,
    now: Time,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            shim: Shim::below_tcp(&world().config().traffic).unwrap(),
            now: Time::ZERO + Span::from_ms(1),
        }
    }

    fn at(&mut self, ms: u64) -> &mut Bench {
        self.now = Time::ZERO + Span::from_ms(ms);
        self
    }

    fn send(&mut self, said: Said) -> Result<Vec<ReleasedPacket>, Refusal> {
        let packet = said.bytes();
        let datagram = Datagram::parse(&packet).unwrap();
        self.shim.send(self.now, &packet, FlowId(said.from), datagram)?;
        Ok(self.poll())
    }

    fn poll(&mut self) -> Vec<ReleasedPacket> {
        std::iter::from_fn(|| self.shim.poll(self.now)).collect()
    }

    /// Delivers a packet as it was sent. Returns the packet that the destination's kernel receives.
    fn arrive(&mut self, sent: &ReleasedPacket) -> Vec<u8> {
        let mut packet = sent.packet.clone();
        let arrival = ArrivedPacket { headers: sent.headers, ecn: Ecn::NotCapable, hops: 2 };
        self.shim.deliver(self.now, &mut packet, &arrival);
        packet
    }

    /// Opens the connection, with a round trip of 10 ms.
    fn open() -> Bench {
        let mut bench = Bench::new();
        let there = bench.send(syn(0)).unwrap().remove(0);
        assert_eq!(there.packet[42..44], 1_000_u16.to_be_bytes(), "segments are the scheme's");
        assert!(!there.headers.congestion.is_none());
        bench.arrive(&there);
        let back = bench.at(5).send(syn(2)).unwrap().remove(0);
        let seen = bench.at(11).arrive(&back);
        assert_eq!(window(&seen), 50_000, "the first window stays");
        let third = bench.send(Said { payload: 0, ..data(0) }).unwrap();
        assert_eq!(third.len(), 1);
        bench
    }
}

fn window(packet: &[u8]) -> u16 {
    u16::from_be_bytes([packet[34], packet[35]])
}

fn world() -> World {
    world_of(CHAIN, Overrides { scheme: Some("ewccp".into()), ..Overrides::default() })
}

#[test]
fn segments_wait_for_window_and_pace() {
    let mut bench = Bench::open();
    let first = bench.send(data(0)).unwrap();
    let [probe] = &first[..] else { panic!("{}", first.len()) };
    assert_eq!(probe.headers.bytes(), 28, "8 bytes from end to end, and 20 of the link");
    for n in 1..10 {
        assert!(bench.send(data(n)).unwrap().is_empty(), "one segment until the probe is answered");
    }
    assert_eq!(bench.shim.waiting(), 9);
    bench.at(16).arrive(probe);
    let answer = bench.send(ack(1)).unwrap().remove(0);
    assert_eq!(answer.headers.bytes(), 8);
    let seen = bench.at(21).arrive(&answer);
    // No link has added a segment: the window stays at one segment, rounded up to a multiple of the scale of
    // 7 bits.
    assert_eq!(window(&seen), 1_000_u16.div_ceil(128));
    let second = bench.poll();
    assert_eq!(second.len(), 1);
    assert_eq!(bench.shim.next(), None, "an acknowledgement has to come first");
    assert_eq!(bench.shim.waiting(), 8);
}

#[test]
fn what_is_repeated_goes_at_once_unless_it_waits() {
    let mut bench = Bench::open();
    let first = bench.send(data(0)).unwrap().remove(0);
    (1..4).for_each(|n| assert!(bench.send(data(n)).unwrap().is_empty()));
    assert_eq!(bench.send(data(2)).err(), Some(Refusal::Repeated));
    let again = bench.at(300).send(data(0)).unwrap();
    assert_eq!(again.len(), 1, "before those that wait");
    assert_eq!(again[0].packet, first.packet);
    assert!(bench.shim.repairs(&first.packet, DropCause::RetryLimit, 9));
    assert!(!bench.shim.repairs(&first.packet, DropCause::RetryLimit, 10));
    assert!(!bench.shim.repairs(&first.packet, DropCause::QueueFull, 0));
}

/// Without an acknowledgement at most as many segments are queued as a kernel sends; lost data can still be
/// retransmitted.
#[test]
fn segments_that_nobody_acknowledges_wait_up_to_a_number() {
    let mut bench = Bench::open();
    let first = bench.send(data(0)).unwrap().remove(0);
    (1..=4_096).for_each(|n| assert!(bench.send(data(n)).unwrap().is_empty()));
    (4_097..50_000).for_each(|n| assert_eq!(bench.send(data(n)).err(), Some(Refusal::ShimFull)));
    assert_eq!(bench.shim.waiting(), 4_096);
    assert_eq!(bench.send(data(0)).unwrap()[0].packet, first.packet);
}

/// A data segment may return another one's feedback: both headers are present.
#[test]
fn data_carries_what_it_returns_behind_its_own_header() {
    let mut bench = Bench::open();
    let first = bench.send(data(0)).unwrap().remove(0);
    bench.arrive(&first);
    let answer = bench.send(Said { payload: 500, ..ack(1) }).unwrap().remove(0);
    assert_eq!(answer.headers.bytes(), 28 + 8);
    let next = bench.send(Said { seq: B + 501, ..ack(1) }).unwrap().remove(0);
    assert_eq!(next.headers, Headers::default(), "it is returned once");
}

#[test]
fn a_connection_that_is_over_leaves_nothing_but_what_is_to_be_accounted_for() {
    let mut bench = Bench::open();
    bench.send(data(0)).unwrap();
    bench.send(data(1)).unwrap();
    let reset = bench.send(Said { flags: RST | ACK, ..ack(0) }).unwrap();
    assert_eq!(reset.len(), 2, "the reset, and the segment that waited");
    assert_eq!(bench.shim.waiting(), 0);
    let plain = bench.send(data(3)).unwrap().remove(0);
    assert_eq!(plain.headers, Headers::default(), "the connection is over");

    let mut bench = Bench::open();
    let fin = bench.send(Said { flags: FIN | ACK, payload: 0, ..data(0) }).unwrap().remove(0);
    bench.arrive(&fin);
    let over = A.wrapping_add(2);
    let other = bench.send(Said { flags: FIN | ACK, ack: over, ..ack(0) }).unwrap().remove(0);
    bench.arrive(&other);
    let last = bench.send(Said { seq: over, ack: B + 2, payload: 0, ..data(0) }).unwrap().remove(0);
    bench.arrive(&last);
    let plain = bench.send(Said { seq: over, ..data(0) }).unwrap().remove(0);
    assert_eq!(plain.headers, Headers::default());
}

#[test]
fn only_schemes_with_a_header_stand_below_tcp() {
    for (scheme, good) in
        [("xcp", true), ("rcp-winf", true), ("udp", false), ("recn", false), ("tfrc", false)]
    {
        let config = world_of(CHAIN, Overrides { scheme: Some(scheme.into()), ..Overrides::default() });
        let made = Shim::below_tcp(&config.config().traffic);
        assert_eq!(made.is_ok(), good, "{scheme}");
        if let Err(error) = made {
            let said = error.to_string();
            assert!(
                said.starts_with(&format!("found \"{scheme}\"; needs")) && said.contains("ewccp"),
                "{said}"
            );
        }
    }
}

/// Ten segments at once, acknowledged every 2 ms, whatever has arrived.
fn script(fake: &Fake) {
    let ms = Span::from_ms;
    fake.send(ms(10), 0, syn(0).bytes());
    fake.send(ms(20), 2, syn(2).bytes());
    (0..10).for_each(|n| fake.send(ms(30), 0, data(n).bytes()));
    (1..=10).for_each(|n| fake.send(ms(40 + 5 * u64::from(n)), 2, ack(n).bytes()));
}

fn run(fake: &Fake, out: Shared) -> (Outcome, Counters) {
    let world = world();
    let shim = Shim::below_tcp(&world.config().traffic).unwrap();
    let journal = JournalWriter::new(Box::new(out) as Box<dyn std::io::Write + Send>, "first").unwrap();
    let mut emulation =
        Emulation::new(world, fake.clone(), fake.clone(), 1.0).with_journal(journal).with_shim(shim);
    while emulation.run_once().unwrap() {}
    let (world, counters, _) = emulation.end().unwrap();
    (world.close().unwrap(), counters)
}

/// Routers process the header: a probe over two idle links finds a window of two segments.
#[test]
fn routers_say_how_much_and_a_journal_repeats_it() {
    let (fake, out) = (Fake::default(), Shared::default());
    script(&fake);
    let (outcome, counters) = run(&fake, out.clone());
    assert_eq!((counters.read, counters.delivered, counters.queued), (22, 22, 0));
    let outside = fake.at();
    let windows: Vec<u16> = outside
        .got
        .iter()
        .filter(|(_, node, _)| *node == NodeId(0))
        .map(|(_, _, packet)| window(packet))
        .collect();
    assert_eq!(windows[..2], [50_000, 2_000_u16.div_ceil(128)], "that of the SYN, then the scheme's");
    assert!(windows[1..].iter().all(|window| u64::from(*window) * 128 < 20_000), "{windows:?}");
    let arrivals: Vec<Span> =
        outside.got.iter().filter(|(_, _, packet)| packet.len() > 1_000).map(|(at, ..)| *at).collect();
    assert_eq!(arrivals.len(), 10);
    assert!(
        arrivals[1].saturating_sub(arrivals[0]) > Span::from_ms(10),
        "the second waits for the answer to the first"
    );

    let mut again = world();
    let ending = journal::replay(&out.behind_first_line()[..], &mut again).unwrap().unwrap();
    assert_eq!(ending.fingerprint, again.fingerprint());
    assert_eq!(again.close().unwrap(), outcome);
}

/// Whatever is sent and arrives, in any order, the shim loses nothing.
#[test]
fn all_that_is_sent_is_released_or_refused_or_waits() {
    let mut rng = Rng::at(3, &["shim"]);
    for _ in 0..200 {
        let mut bench = Bench::new();
        let (mut taken, mut released, mut ms) = (0, Vec::new(), 0);
        for _ in 0..200 {
            ms += u64::from(rng.below(20));
            bench.at(ms);
            let flags = [SYN, SYN | ACK, ACK, ACK, ACK, ACK, FIN | ACK, RST][rng.below(8) as usize];
            let payload = if rng.below(2) == 0 { 0 } else { 1 + rng.below(1_000) as usize };
            let (from, seq, ack) =
                (2 * rng.below(2), A.wrapping_add(500 * rng.below(9)), A.wrapping_add(500 * rng.below(9)));
            match bench.send(Said { from, flags, seq, ack, payload }) {
                Ok(sent) => {
                    taken += 1;
                    released.extend(sent);
                }
                Err(refusal) => assert_eq!(refusal, Refusal::Repeated),
            }
            if !released.is_empty() && rng.below(2) == 0 {
                let place = rng.below(released.len() as u32) as usize;
                let sent = &released[place];
                let copy = ReleasedPacket { packet: sent.packet.clone(), ..*sent };
                bench.arrive(&copy);
            }
            released.extend(bench.poll());
            assert_eq!(released.len() + bench.shim.waiting(), taken);
        }
    }
}
