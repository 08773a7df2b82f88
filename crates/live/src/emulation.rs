//! Event loop of an emulation: virtual time follows a clock, and packets of devices are injected into a run,
//! which delivers them.

use crate::counters::Counters;
use crate::datagram::{Datagram, Refusal, mark};
use crate::ethernet;
use crate::journal::JournalWriter;
use crate::lateness::Lateness;
use crate::shim::{ArrivedPacket, Headers, ReleasedPacket, Shim};
use multihop_core::{DropCause, Ecn, FlowId, NodeId, Span, Time};
use multihop_sim::World;
use multihop_sim::config::{AppConfig, Config};
use multihop_sim::external::{Injection, OutsideFrame, PacketOutcome};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

/// Default MTU of a kernel's device, as for Wi-Fi devices.
const MTU: u16 = 1_500;

/// MTU of the devices of this run, limited by the maximum MSDU.
pub fn mtu(config: &Config) -> u16 {
    u16::try_from(config.largest_packet()).map_or(MTU, |largest| largest.min(MTU))
}

/// First byte of all node addresses.
const NET: u8 = 10;

/// Maximum number of packets per iteration, as floods do not end.
const MAX_PACKETS: u32 = 256;

/// Maximum wait of an iteration, so that the caller of the loop can end it.
const MAX_WAIT: Span = Span::from_ms(20);

/// Time for which a sent broadcast may still arrive, longer than the propagation delay to the farthest
/// listener.
const MAX_PROPAGATION: Span = Span::from_ms(1);

/// Layer at which packets are routed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// The run routes: devices carry IPv4 packets from end to end.
    #[default]
    Ip,
    /// Programs route: devices carry Ethernet frames over one hop.
    Ethernet,
}

/// Real-time clock.
pub trait RealClock {
    /// Time since the start of the emulation; never decreases.
    fn elapsed(&mut self) -> Span;
}

/// Devices of all nodes.
pub trait DeviceIo {
    /// Waits until a device has a packet, at most `at_most`; may return earlier.
    ///
    /// # Errors
    /// If the devices no longer exist.
    fn wait(&mut self, at_most: Span) -> io::Result<()>;

    /// Reads a packet that a node sends into the buffer. Returns the node and the length; none if there are
    /// no more packets until the next `wait`.
    ///
    /// # Errors
    /// If the devices no longer exist.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(NodeId, usize)>>;

    /// Writes a packet to a node. Returns false if its device does not accept the packet.
    fn write(&mut self, node: NodeId, packet: &[u8]) -> bool;
}

/// Address of a node: 10.0.0.1 is the first, in 10.0.0.0/8.
///
/// # Panics
/// If there are more nodes than addresses.
pub fn address(node: NodeId) -> [u8; 4] {
    assert!(node.0 < (1 << 24) - 2, "10.0.0.0/8 has no address for node {}", node.0);
    let [_, high, middle, low] = (node.0 + 1).to_be_bytes();
    [NET, high, middle, low]
}

/// Whether an address is outside the wireless network, which only has node addresses.
fn is_outside([net, ..]: [u8; 4]) -> bool {
    net != NET
}

/// A run with real programs.
pub struct Emulation<C, W> {
    world: World,
    clock: C,
    wire: W,
    /// Real time per virtual time.
    slow: f64,
    mode: Mode,
    flows: FlowTable,
    /// Maximum size of an injected packet in bytes.
    largest_packet: u32,
    /// Virtual time by which a packet may be late, so that the loop wakes less often.
    slack: Span,
    /// Whether the run has no traffic of its own, so that it is idle while no packet is in the network.
    has_no_own_traffic: bool,
    /// Packets in the network, by their number in the run.
    in_network: BTreeMap<u64, PacketInNetwork>,
    /// Broadcasts among them that were sent, with the time of sending.
    sent: VecDeque<(Time, u64)>,
    journal: Option<JournalWriter<Box<dyn Write + Send>>>,
    shim: Option<Shim>,
    /// Gateway node, which exchanges packets with addresses of no node.
    gateway: Option<NodeId>,
    counters: Counters,
    lateness: Lateness,
    /// Number of payload bytes delivered, by flow.
    delivered: Vec<u64>,
    buffer: Vec<u8>,
}

struct PacketInNetwork {
    /// Flow; none for broadcasts, and between nodes without a flow.
    flow: Option<FlowId>,
    is_broadcast: bool,
    ecn: Ecn,
    payload: u32,
    packet: Vec<u8>,
    shim_state: Option<ShimState>,
}

/// State of a packet in the shim.
struct ShimState {
    datagram: Datagram,
    headers: Headers,
    /// Number of times that the MAC of its node has given up the packet.
    given_up: u32,
}

/// Flow that carries packets from one node to another.
struct FlowTable {
    nodes: usize,
    of: Vec<Option<FlowId>>,
}

impl<C: RealClock, W: DeviceIo> Emulation<C, W> {
    /// An emulation of this run, not started yet. A virtual second takes `slow` real ones.
    ///
    /// # Panics
    /// If `slow` is not positive.
    pub fn new(world: World, clock: C, wire: W, slow: f64) -> Emulation<C, W> {
        assert!(slow > 0.0 && slow.is_finite(), "time cannot pass {slow} times as slowly");
        let table = FlowTable::of(&world);
        let flows = &world.config().traffic.flows;
        Emulation {
            delivered: vec![0; flows.len()],
            has_no_own_traffic: flows.iter().all(|flow| flow.app == AppConfig::External),
            largest_packet: world.config().largest_packet(),
            slack: Span::ZERO,
            world,
            clock,
            wire,
            slow,
            mode: Mode::Ip,
            flows: table,
            in_network: BTreeMap::new(),
            sent: VecDeque::new(),
            journal: None,
            shim: None,
            gateway: None,
            counters: Counters::default(),
            lateness: Lateness::default(),
            buffer: vec![0; usize::from(u16::MAX)],
        }
    }

    /// Records the injected packets in a journal.
    #[must_use]
    pub fn with_journal(mut self, journal: JournalWriter<Box<dyn Write + Send>>) -> Emulation<C, W> {
        self.journal = Some(journal);
        self
    }

    /// Allows packets to be late by this real time if that saves wake-ups of the loop; a wake-up costs as
    /// much processor time as a packet.
    #[must_use]
    pub fn with_slack(mut self, slack: Span) -> Emulation<C, W> {
        self.slack = Span::from_ns((slack.ns() as f64 / self.slow) as u64);
        self
    }

    /// Sets the layer of routing, by default IPv4.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Emulation<C, W> {
        self.mode = mode;
        self
    }

    /// Places the ends of a scheme below the TCP of kernels.
    #[must_use]
    pub fn with_shim(mut self, shim: Shim) -> Emulation<C, W> {
        self.shim = Some(shim);
        self.largest_packet = self.largest_packet.saturating_sub(Headers::MAX_BYTES);
        self
    }

    /// Sets the gateway to networks outside the wireless network.
    #[must_use]
    pub fn with_gateway(mut self, gateway: NodeId) -> Emulation<C, W> {
        self.gateway = Some(gateway);
        self
    }

    /// Advances virtual time to real time, waits for packets until the next possible delivery, for a limited
    /// time, and injects the packets. Returns false when the run is over.
    ///
    /// Events before a delivery need not be processed at their real time, but before the next packet is
    /// injected.
    ///
    /// # Errors
    /// If the devices cannot be read.
    pub fn run_once(&mut self) -> io::Result<bool> {
        if !self.catch_up() {
            return Ok(false);
        }
        let released = self.shim.as_ref().and_then(Shim::next).unwrap_or(Time::NEVER);
        let next = self.next_delivery().min(released);
        let before = self.clock.elapsed();
        let at_most = self.real(next).saturating_sub(before).min(MAX_WAIT);
        self.wire.wait(at_most)?;
        // After a suspension or a lack of processor time, packets may have been waiting.
        let overslept = self.clock.elapsed().saturating_sub(before + at_most);
        for _ in 0..MAX_PACKETS {
            let Some((from, length)) = self.wire.read(&mut self.buffer)? else { break };
            if overslept > Span::ZERO {
                self.lateness.add(overslept);
            }
            // A packet is injected after all earlier events.
            self.catch_up();
            self.on_packet_read(from, length);
        }
        Ok(true)
    }

    /// Ends the journal at the present time, if there is one.
    ///
    /// # Errors
    /// If the journal could not be written, now or earlier.
    pub fn end_journal(&mut self) -> io::Result<()> {
        // A replay processes the events that the last packet causes at its own instant; so must this run.
        self.advance_to(self.world.now());
        let (now, fingerprint) = (self.world.now(), self.world.fingerprint());
        self.journal.take().map_or(Ok(()), |journal| journal.end(now, fingerprint))
    }

    /// Ends the run and its journal at the present time. Packets in the network count as queued.
    ///
    /// # Errors
    /// If the journal could not be written.
    pub fn end(mut self) -> io::Result<(World, Counters, Lateness)> {
        self.end_journal()?;
        let counters = self.counters();
        Ok((self.world, counters, self.lateness))
    }

    /// Real time since the start.
    pub fn elapsed(&mut self) -> Span {
        self.clock.elapsed()
    }

    /// The run.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The devices.
    pub fn wire(&self) -> &W {
        &self.wire
    }

    /// Counters at the present time.
    pub fn counters(&self) -> Counters {
        let waiting = self.shim.as_ref().map_or(0, Shim::waiting);
        Counters {
            queued: (self.in_network.len() - self.sent.len() + waiting) as u64,
            ..self.counters.clone()
        }
    }

    /// Distribution of the lateness of packets, in real time.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Number of payload bytes delivered, by flow.
    pub fn delivered(&self) -> &[u64] {
        &self.delivered
    }

    /// Earliest time of the next delivery, unless a packet is injected first.
    fn next_delivery(&mut self) -> Time {
        let is_empty = self.in_network.is_empty() && self.has_no_own_traffic;
        if is_empty { self.world.end() } else { self.world.next_delivery_within(self.slack) }
    }

    /// Advances virtual time to real time. Returns false when the run is over.
    fn catch_up(&mut self) -> bool {
        let now = Time::ZERO + self.passed();
        // Packets are released by the shim at their exact time.
        while let Some(at) = self.shim.as_ref().and_then(Shim::next).filter(|at| *at < now) {
            if !self.advance_to(at) {
                return false;
            }
        }
        self.advance_to(now)
    }

    /// Advances the run to this time, and injects the packets that the shim releases then.
    fn advance_to(&mut self, until: Time) -> bool {
        let next = self.world.advance(until);
        while let Some(outcome) = self.world.poll_outcome() {
            self.on_outcome(&outcome);
        }
        self.inject_released();
        let now = self.world.now();
        while let Some((_, number)) = self.sent.front().filter(|(at, _)| *at + MAX_PROPAGATION < now) {
            self.in_network.remove(number);
            self.sent.pop_front();
        }
        next.is_some()
    }

    /// Virtual time that corresponds to the elapsed real time.
    fn passed(&mut self) -> Span {
        let elapsed = self.clock.elapsed();
        if self.slow == 1.0 { elapsed } else { Span::from_ns((elapsed.ns() as f64 / self.slow) as u64) }
    }

    /// Real time of an instant of the run.
    fn real(&self, at: Time) -> Span {
        let virtual_time = at.since(Time::ZERO);
        // Rounded up: earlier, the event would not be due.
        if self.slow == 1.0 {
            virtual_time
        } else {
            Span::from_ns((virtual_time.ns() as f64 * self.slow).ceil() as u64)
        }
    }

    /// Processes a packet in the buffer that a node sends.
    fn on_packet_read(&mut self, from: NodeId, length: usize) {
        self.counters.read += 1;
        let taken = match self.mode {
            Mode::Ip => self.inject(from, length),
            Mode::Ethernet => self.inject_frame(from, length),
        };
        if let Err(refusal) = taken {
            self.counters.refused[refusal as usize] += 1;
        }
    }

    fn inject(&mut self, from: NodeId, length: usize) -> Result<(), Refusal> {
        let packet = &self.buffer[..length];
        let (datagram, flow) = self.route(from, packet)?;
        if let Some(shim) = &mut self.shim {
            shim.send(self.world.now(), packet, flow, datagram)?;
            self.inject_released();
        } else {
            self.inject_datagram(packet.to_vec(), flow, datagram, None);
        }
        Ok(())
    }

    fn inject_released(&mut self) {
        let now = self.world.now();
        while let Some(outgoing) = self.shim.as_mut().and_then(|shim| shim.poll(now)) {
            let ReleasedPacket { packet, flow, datagram, headers } = outgoing;
            self.inject_datagram(packet, flow, datagram, Some(ShimState { datagram, headers, given_up: 0 }));
        }
    }

    fn inject_datagram(
        &mut self,
        packet: Vec<u8>,
        flow: FlowId,
        datagram: Datagram,
        shim_state: Option<ShimState>,
    ) {
        let Datagram { payload, header, ecn, stream, .. } = datagram;
        let headers = &packet[..header as usize];
        let between = shim_state.as_ref().map_or_else(Headers::default, |shim_state| shim_state.headers);
        let (header, congestion) = (header + between.bytes(), between.congestion);
        let injection = Injection { flow, payload, header, ecn, stream, congestion };
        if let Some(journal) = &mut self.journal {
            journal.inject(self.world.now(), &injection, headers, &packet);
        }
        let number = self.world.inject_with_headers(&injection, headers);
        let in_network =
            PacketInNetwork { flow: Some(flow), is_broadcast: false, ecn, payload, packet, shim_state };
        self.in_network.insert(number, in_network);
    }

    fn inject_frame(&mut self, from: NodeId, length: usize) -> Result<(), Refusal> {
        let packet = &self.buffer[..length];
        let to = ethernet::destination(packet, from, self.flows.nodes)?;
        let payload = (length - ethernet::HEADER) as u32;
        if payload > self.largest_packet {
            return Err(Refusal::TooLong);
        }
        let frame = OutsideFrame { from, to, size: payload };
        if let Some(journal) = &mut self.journal {
            journal.inject_frame(self.world.now(), &frame, packet);
        }
        let flow = to.and_then(|to| self.flows.between(from, to));
        let (ecn, packet) = (Ecn::NotCapable, packet.to_vec());
        let in_network =
            PacketInNetwork { flow, is_broadcast: to.is_none(), ecn, payload, packet, shim_state: None };
        self.in_network.insert(self.world.inject_frame(&frame), in_network);
        Ok(())
    }

    fn route(&self, from: NodeId, packet: &[u8]) -> Result<(Datagram, FlowId), Refusal> {
        let datagram = Datagram::parse(packet)?;
        let forwards = self.gateway == Some(from);
        if datagram.source != address(from) && !(forwards && is_outside(datagram.source)) {
            return Err(Refusal::ForeignSource);
        }
        let beyond = || self.gateway.filter(|_| !forwards && is_outside(datagram.destination));
        let to = self.flows.node(datagram.destination).or_else(beyond).ok_or(Refusal::UnknownDestination)?;
        let flow = self.flows.between(from, to).ok_or(Refusal::UnknownDestination)?;
        if datagram.header + datagram.payload > self.largest_packet {
            return Err(Refusal::TooLong);
        }
        Ok((datagram, flow))
    }

    /// Processes the outcome of a packet.
    fn on_outcome(&mut self, outcome: &PacketOutcome) {
        let number = outcome.number();
        match *outcome {
            PacketOutcome::Lost { cause, node, .. } => {
                if let Some(in_network) = self.in_network.remove(&number) {
                    self.lost(in_network, node, cause);
                }
            }
            PacketOutcome::Delivered { at, ecn, congestion, hops, .. } => {
                let Some(mut in_network) = self.in_network.remove(&number) else { return };
                let marked = ecn == Ecn::CongestionExperienced && in_network.ecn != ecn;
                if marked {
                    mark(&mut in_network.packet);
                }
                if let (Some(shim), Some(ShimState { headers, .. })) =
                    (&mut self.shim, &in_network.shim_state)
                {
                    let headers = Headers { congestion, ..*headers };
                    shim.deliver(at, &mut in_network.packet, &ArrivedPacket { headers, ecn, hops });
                }
                let to =
                    in_network.flow.map(|flow| self.world.config().traffic.flows[flow.index()].destination);
                let taken = to.is_some_and(|to| self.deliver(to, &in_network, at));
                self.counters.marked += u64::from(marked && taken);
            }
            PacketOutcome::Heard { at, node, .. } => {
                let Some(in_network) = self.in_network.remove(&number) else { return };
                // For a broadcast this is a copy; the broadcast itself is counted when it is sent.
                if in_network.is_broadcast {
                    self.write_to_device(node, &in_network, at);
                    self.in_network.insert(number, in_network);
                } else {
                    self.deliver(node, &in_network, at);
                }
            }
            PacketOutcome::Sent { at, .. } => {
                self.counters.delivered += 1;
                self.sent.push_back((at, number));
            }
        }
    }

    /// Processes the loss of a packet at a node. At the source, the shim may retransmit the packet.
    fn lost(&mut self, in_network: PacketInNetwork, node: NodeId, cause: DropCause) {
        if let (Some(shim), PacketInNetwork { flow: Some(flow), packet, shim_state: Some(shim_state), .. }) =
            (&self.shim, &in_network)
            && self.world.config().traffic.flows[flow.index()].source == node
            && shim.repairs(packet, cause, shim_state.given_up)
        {
            let ShimState { datagram, headers, given_up } = *shim_state;
            let again = ShimState { datagram, headers, given_up: given_up + 1 };
            let flow = *flow;
            self.inject_datagram(in_network.packet, flow, datagram, Some(again));
        } else {
            self.counters.lost[cause as usize] += 1;
        }
    }

    /// Delivers a packet to its destination. Returns false if its device does not accept the packet.
    fn deliver(&mut self, to: NodeId, in_network: &PacketInNetwork, at: Time) -> bool {
        let taken = self.write_to_device(to, in_network, at);
        if taken {
            self.counters.delivered += 1;
        } else {
            self.counters.device_full += 1;
        }
        if let Some(flow) = in_network.flow.filter(|_| taken) {
            self.delivered[flow.index()] += u64::from(in_network.payload);
        }
        taken
    }

    fn write_to_device(&mut self, to: NodeId, in_network: &PacketInNetwork, at: Time) -> bool {
        let taken = self.wire.write(to, &in_network.packet);
        if taken {
            let due = self.real(at);
            self.lateness.add(self.clock.elapsed().saturating_sub(due));
        }
        taken
    }
}

impl FlowTable {
    fn of(world: &World) -> FlowTable {
        let config = world.config();
        let nodes = config.topology.nodes.len();
        let mut of = vec![None; nodes * nodes];
        for (index, flow) in config.traffic.flows.iter().enumerate() {
            let place = &mut of[flow.source.index() * nodes + flow.destination.index()];
            if flow.app == AppConfig::External && place.is_none() {
                *place = Some(FlowId(index as u32));
            }
        }
        FlowTable { nodes, of }
    }

    /// Node with this address.
    fn node(&self, address: [u8; 4]) -> Option<NodeId> {
        let [net, high, middle, low] = address;
        let number = u32::from_be_bytes([0, high, middle, low]);
        (net == NET && number > 0 && number as usize <= self.nodes).then(|| NodeId(number - 1))
    }

    fn between(&self, from: NodeId, to: NodeId) -> Option<FlowId> {
        self.of[from.index() * self.nodes + to.index()]
    }
}
