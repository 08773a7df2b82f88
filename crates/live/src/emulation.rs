//! The loop: virtual time follows a clock, packets of devices go into a run, and come out where and when the run delivers them.

use crate::books::Books;
use crate::datagram::{Datagram, Refusal, mark};
use crate::journal::Recorder;
use crate::lateness::Lateness;
use multihop_core::{Ecn, FlowId, NodeId, Span, Time};
use multihop_sim::World;
use multihop_sim::config::AppConfig;
use multihop_sim::external::{Injection, PacketOutcome};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Longest packet that devices carry, in bytes.
pub const MTU: u16 = 1_500;

/// A turn waits no longer than this, so that whoever runs the loop can end it.
const PATIENCE: Span = Span::from_ms(20);

/// Real time.
pub trait Clock {
    /// The time since the start of the emulation; it never goes backwards.
    fn elapsed(&mut self) -> Span;
}

/// The devices of all nodes.
pub trait Wire {
    /// Waits until a device has a packet, but no longer than this.
    ///
    /// # Errors
    /// If the devices are gone.
    fn wait(&mut self, at_most: Span) -> io::Result<()>;

    /// Takes a packet that a node sends: the node, and its length in the buffer. None if no more are there; then `wait` has to look.
    ///
    /// # Errors
    /// If the devices are gone.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(NodeId, usize)>>;

    /// Gives a packet to a node. False if its device does not take it.
    fn write(&mut self, node: NodeId, packet: &[u8]) -> bool;
}

/// The address of a node: 10.0.0.1 is the first, in 10.0.0.0/8.
///
/// # Panics
/// If there are more nodes than addresses.
pub fn address(node: NodeId) -> [u8; 4] {
    assert!(node.0 < (1 << 24) - 2, "10.0.0.0/8 has no address for node {}", node.0);
    let [_, high, middle, low] = (node.0 + 1).to_be_bytes();
    [10, high, middle, low]
}

/// A run under real programs.
pub struct Emulation<C, W> {
    world: World,
    clock: C,
    wire: W,
    /// Real time per virtual time.
    slow: f64,
    flows: Flows,
    /// The packets in the network, by the numbers of the run.
    held: BTreeMap<u64, Held>,
    journal: Option<Recorder<Box<dyn Write + Send>>>,
    books: Books,
    lateness: Lateness,
    /// Payload bytes delivered, by flow.
    delivered: Vec<u64>,
    buffer: Vec<u8>,
}

struct Held {
    flow: FlowId,
    to: NodeId,
    ecn: Ecn,
    payload: u32,
    packet: Vec<u8>,
}

/// Which flow takes packets from one node to another.
struct Flows {
    nodes: usize,
    of: Vec<Option<FlowId>>,
}

impl<C: Clock, W: Wire> Emulation<C, W> {
    /// An emulation of this run, which has not begun. A virtual second takes `slow` real ones.
    ///
    /// # Panics
    /// If `slow` is not positive.
    pub fn new(world: World, clock: C, wire: W, slow: f64) -> Emulation<C, W> {
        assert!(slow > 0.0 && slow.is_finite(), "time cannot pass {slow} times as slowly");
        let flows = Flows::of(&world);
        Emulation {
            delivered: vec![0; world.config().flows.len()],
            world,
            clock,
            wire,
            slow,
            flows,
            held: BTreeMap::new(),
            journal: None,
            books: Books::default(),
            lateness: Lateness::default(),
            buffer: vec![0; usize::from(u16::MAX)],
        }
    }

    /// Writes what is injected.
    #[must_use]
    pub fn recorded(mut self, journal: Recorder<Box<dyn Write + Send>>) -> Emulation<C, W> {
        self.journal = Some(journal);
        self
    }

    /// Lets virtual time come up to real time, waits for packets until the next event of the run is due, but not for long, and
    /// injects them. False when the run is over.
    ///
    /// # Errors
    /// If the devices are gone, or the journal cannot be written.
    pub fn turn(&mut self) -> io::Result<bool> {
        let Some(next) = self.catch_up() else { return Ok(false) };
        let at_most = self.real(next).saturating_sub(self.clock.elapsed());
        self.wire.wait(at_most.min(PATIENCE))?;
        while let Some((from, length)) = self.wire.read(&mut self.buffer)? {
            // A packet is injected when all before it has happened.
            self.catch_up();
            self.offer(from, length)?;
        }
        Ok(true)
    }

    /// Ends the run now, and the journal with it. What is still in the network counts as queued.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn end(self) -> io::Result<(World, Books, Lateness)> {
        let books = self.books();
        if let Some(journal) = self.journal {
            journal.end(self.world.now(), self.world.fingerprint())?;
        }
        Ok((self.world, books, self.lateness))
    }

    /// Real time since the start.
    pub fn elapsed(&mut self) -> Span {
        self.clock.elapsed()
    }

    /// The run.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// What became of the packets until now.
    pub fn books(&self) -> Books {
        Books { queued: self.held.len() as u64, ..self.books.clone() }
    }

    /// How late packets were, in real time.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Payload bytes that were delivered, by flow.
    pub fn delivered(&self) -> &[u64] {
        &self.delivered
    }

    /// Virtual time comes up to real time. Returns when the next event is due; none when the run is over.
    fn catch_up(&mut self) -> Option<Time> {
        let passed = self.passed();
        let next = self.world.advance(Time::ZERO + passed);
        while let Some(outcome) = self.world.poll_outcome() {
            self.settle(&outcome);
        }
        next
    }

    /// Virtual time that should have passed.
    fn passed(&mut self) -> Span {
        let elapsed = self.clock.elapsed();
        if self.slow == 1.0 { elapsed } else { Span::from_ns((elapsed.ns() as f64 / self.slow) as u64) }
    }

    /// The real time of an instant of the run.
    fn real(&self, at: Time) -> Span {
        let virtual_time = at.since(Time::ZERO);
        // Rounded up: a moment earlier, the event would not be due.
        if self.slow == 1.0 {
            virtual_time
        } else {
            Span::from_ns((virtual_time.ns() as f64 * self.slow).ceil() as u64)
        }
    }

    /// A node sends what is in the buffer.
    fn offer(&mut self, from: NodeId, length: usize) -> io::Result<()> {
        self.books.read += 1;
        let packet = &self.buffer[..length];
        let (datagram, to, flow) = match self.route(from, packet) {
            Ok(route) => route,
            Err(refusal) => {
                self.books.refused[refusal as usize] += 1;
                return Ok(());
            }
        };
        let Datagram { payload, header, ecn, stream, .. } = datagram;
        let injection = Injection { flow, payload, header, ecn, stream };
        if let Some(journal) = &mut self.journal {
            journal.inject(self.world.now(), &injection, packet)?;
        }
        let held = Held { flow, to, ecn, payload, packet: packet.to_vec() };
        let number = self.world.inject(&injection);
        self.held.insert(number, held);
        Ok(())
    }

    fn route(&self, from: NodeId, packet: &[u8]) -> Result<(Datagram, NodeId, FlowId), Refusal> {
        let datagram = Datagram::parse(packet)?;
        if datagram.source != address(from) {
            return Err(Refusal::ForeignSource);
        }
        let to = self.flows.node(datagram.destination).ok_or(Refusal::UnknownDestination)?;
        let flow = self.flows.between(from, to).ok_or(Refusal::UnknownDestination)?;
        Ok((datagram, to, flow))
    }

    /// The run is done with a packet.
    fn settle(&mut self, outcome: &PacketOutcome) {
        let Some(mut held) = self.held.remove(&outcome.number()) else { return };
        match *outcome {
            PacketOutcome::Lost { cause, .. } => self.books.lost[cause as usize] += 1,
            PacketOutcome::Delivered { at, ecn, .. } => {
                let marked = ecn == Ecn::CongestionExperienced && held.ecn != ecn;
                if marked {
                    mark(&mut held.packet);
                }
                if !self.wire.write(held.to, &held.packet) {
                    self.books.device_full += 1;
                    return;
                }
                self.books.delivered += 1;
                self.books.marked += u64::from(marked);
                self.delivered[held.flow.index()] += u64::from(held.payload);
                let due = self.real(at);
                self.lateness.add(self.clock.elapsed().saturating_sub(due));
            }
        }
    }
}

impl Flows {
    fn of(world: &World) -> Flows {
        let config = world.config();
        let nodes = config.nodes.len();
        let mut of = vec![None; nodes * nodes];
        for (index, flow) in config.flows.iter().enumerate() {
            let place = &mut of[flow.source.index() * nodes + flow.destination.index()];
            if flow.app == AppConfig::External && place.is_none() {
                *place = Some(FlowId(index as u32));
            }
        }
        Flows { nodes, of }
    }

    /// The node that has an address.
    fn node(&self, address: [u8; 4]) -> Option<NodeId> {
        let [net, high, middle, low] = address;
        let number = u32::from_be_bytes([0, high, middle, low]);
        (net == 10 && number > 0 && number as usize <= self.nodes).then(|| NodeId(number - 1))
    }

    fn between(&self, from: NodeId, to: NodeId) -> Option<FlowId> {
        self.of[from.index() * self.nodes + to.index()]
    }
}
