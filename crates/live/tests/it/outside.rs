//! Simulated environment of an emulation: a clock and devices that a test controls.

use multihop_core::{Ecn, NodeId, Span};
use multihop_live::counters::Counters;
use multihop_live::ethernet::hardware_address;
use multihop_live::lateness::Lateness;
use multihop_live::{DeviceIo, Emulation, RealClock, address};
use multihop_scenario::{External, Overrides};
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// Script of packets that are sent, and record of packets that were received, with times.
#[derive(Default)]
pub struct Outside {
    pub now: Span,
    /// Packets to send, in this order.
    pub sends: VecDeque<(Span, NodeId, Vec<u8>)>,
    pub got: Vec<(Span, NodeId, Vec<u8>)>,
    /// Additional duration of each wait, as on a busy machine.
    pub oversleep: Span,
    /// Number of waits.
    pub waits: u32,
    /// Nodes with a full device.
    pub full: Vec<NodeId>,
}

/// Clock and devices that share one environment.
#[derive(Clone, Default)]
pub struct Fake(Arc<Mutex<Outside>>);

impl Fake {
    pub fn at(&self) -> MutexGuard<'_, Outside> {
        self.0.lock().unwrap()
    }

    pub fn send(&self, at: Span, from: u32, packet: Vec<u8>) {
        self.at().sends.push_back((at, NodeId(from), packet));
    }
}

impl RealClock for Fake {
    fn elapsed(&mut self) -> Span {
        self.at().now
    }
}

impl DeviceIo for Fake {
    fn wait(&mut self, at_most: Span) -> io::Result<()> {
        let mut outside = self.at();
        let next = outside.sends.front().map_or(outside.now + at_most, |(at, ..)| *at);
        let woken = next.max(outside.now).min(outside.now + at_most);
        outside.now = woken + outside.oversleep;
        outside.waits += 1;
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

pub const CHAIN: &str = r#"
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

pub fn world(text: &str) -> World {
    world_of(text, Overrides::default())
}

pub fn world_of(text: &str, overrides: Overrides) -> World {
    let warmup = Some("0 s".into());
    let overrides = Overrides { external: Some(External::Alone), warmup, ..overrides };
    World::new(&multihop_scenario::load(text, "test", &overrides).unwrap(), Ties::InOrder)
}

/// A UDP packet whose payload gives its number.
pub fn packet(from: u32, to: u32, ecn: Ecn, payload: usize, number: u32) -> Vec<u8> {
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

pub fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[28..32].try_into().unwrap())
}

/// An Ethernet frame whose payload gives its number.
pub fn frame(from: u32, to: Option<u32>, payload: usize, number: u32) -> Vec<u8> {
    let to = to.map_or([0xff; 6], |to| hardware_address(NodeId(to)));
    let mut frame = [&to[..], &hardware_address(NodeId(from)), &[0x08, 0x06], &vec![0; payload][..]].concat();
    frame[28..32].copy_from_slice(&number.to_be_bytes());
    frame
}

pub fn run(world: World, fake: &Fake, slow: f64) -> (Outcome, Counters, Lateness) {
    finish(Emulation::new(world, fake.clone(), fake.clone(), slow))
}

pub fn finish(mut emulation: Emulation<Fake, Fake>) -> (Outcome, Counters, Lateness) {
    while emulation.run_once().unwrap() {}
    let (world, counters, lateness) = emulation.end().unwrap();
    (world.close().unwrap(), counters, lateness)
}
