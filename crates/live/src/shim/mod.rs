//! The ends of a scheme as a layer between IP and the kernel's TCP, which is not aware of them (Tan, Jiang,
//! Zhang and Shen, "Congestion Control in Multi-hop Wireless Networks", section VII).
//!
//! | at | action |
//! |---|---|
//! | the source of data | inserts the congestion header between IP and TCP; delays segments until window and pace allow them; retransmits packets that the node's own MAC gave up |
//! | the destination | removes the header, and inserts the feedback before the acknowledgement |
//! | the source again | removes the feedback, and limits the advertised window of the acknowledgement to the scheme's window |
//!
//! A SYN gives the window scale; its maximum segment size is limited to the scheme's segment size. Packets
//! other than TCP, and connections without a captured SYN, pass unchanged.

mod stream;
mod tcp;

use crate::datagram::{Datagram, Refusal};
use multihop_core::{DropCause, Ecn, FlowId, HeaderBytes, Time};
use multihop_schemes::Scheme;
use multihop_sim::config::{AppConfig, TrafficConfig};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use stream::{Direction, QueuedSegment, ReceivedAck};
use tcp::{StreamId, TcpSegment};
use thiserror::Error;

/// Maximum number of connections; others pass unchanged.
const MAX_CONNECTIONS: usize = 1 << 16;

/// Packet to be injected.
pub struct ReleasedPacket {
    /// Packet as the kernel made it.
    pub packet: Vec<u8>,
    /// Flow of the packet.
    pub flow: FlowId,
    /// Parsed fields of the packet.
    pub datagram: Datagram,
    /// Headers between IP and TCP.
    pub headers: Headers,
}

/// Headers between IP and TCP.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Headers {
    /// Header that routers process: the congestion header of data, or the feedback of a pure acknowledgement.
    pub congestion: HeaderBytes,
    /// Feedback of an acknowledgement that carries data, after the congestion header.
    pub returned: HeaderBytes,
}

impl Headers {
    /// Maximum of [`Headers::bytes`].
    pub const MAX_BYTES: u32 = 2 * HeaderBytes::CAPACITY as u32;

    /// Number of bytes of both headers.
    pub fn bytes(&self) -> u32 {
        (self.congestion.on_air().len() + self.returned.on_air().len()) as u32
    }
}

/// State of a packet that arrived.
#[derive(Clone, Copy, Debug)]
pub struct ArrivedPacket {
    /// Headers between IP and TCP on arrival.
    pub headers: Headers,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Number of hops.
    pub hops: u16,
}

/// A scheme that does not work below another TCP.
#[derive(Debug, Error)]
#[error("found {found:?}; needs a scheme whose routers write into a header of segments: {}", needs.join(", "))]
pub struct NoHeader {
    /// Name of the requested scheme.
    pub found: String,
    /// Schemes that work.
    pub needs: Vec<&'static str>,
}

/// The layer at all nodes.
pub struct Shim {
    scheme: Arc<dyn Scheme>,
    segment_size: u32,
    repairs: u32,
    streams: BTreeMap<StreamId, Direction>,
    ready: VecDeque<ReleasedPacket>,
    /// Times at which directions may send again.
    timers: BTreeSet<(Time, StreamId)>,
}

impl Shim {
    /// Layer of the scheme that carries packets from outside.
    ///
    /// # Errors
    /// If the scheme's segments have no header for its routers.
    pub fn below_tcp(traffic: &TrafficConfig) -> Result<Shim, NoHeader> {
        let outside = traffic.flows.iter().find(|flow| flow.app == AppConfig::External);
        let used = outside.map(|flow| &traffic.schemes[flow.scheme]);
        let shim = used.and_then(|used| Shim::new(used.scheme.clone()));
        shim.ok_or_else(|| NoHeader {
            found: used.map_or_else(String::new, |used| used.name.clone()),
            needs: multihop_schemes::REGISTRY
                .iter()
                .filter(|entry| entry.preset_of.is_none())
                .filter(|entry| entry.build(&json!({})).is_ok_and(|scheme| Shim::new(scheme).is_some()))
                .map(|entry| entry.name)
                .collect(),
        })
    }

    fn new(scheme: Arc<dyn Scheme>) -> Option<Shim> {
        let options = scheme.tcp()?.options;
        let header = options.congestion_header;
        (header.bytes > 0 && header.codepoint.is_none() && !options.ecn).then(|| Shim {
            scheme,
            segment_size: options.segment_size,
            repairs: options.local_repairs,
            streams: BTreeMap::new(),
            ready: VecDeque::new(),
            timers: BTreeSet::new(),
        })
    }

    /// Processes a packet that a node sends; [`Shim::poll`] returns it when it may be sent.
    ///
    /// # Errors
    /// If the kernel repeats a queued segment, or the queue is full; the packet is then dropped.
    pub fn send(
        &mut self,
        now: Time,
        packet: &[u8],
        flow: FlowId,
        datagram: Datagram,
    ) -> Result<(), Refusal> {
        let mut packet = packet.to_vec();
        let Some(segment) = TcpSegment::parse(&packet) else {
            self.ready.push_back(ReleasedPacket { packet, flow, datagram, headers: Headers::default() });
            return Ok(());
        };
        let id = segment.stream;
        if segment.opens() {
            self.open(&segment, &mut packet);
        }
        match self.streams.get_mut(&id).filter(|_| segment.length() > 0) {
            Some(stream) if stream.is_full_for(&segment) => return Err(Refusal::ShimFull),
            Some(stream) if stream.contains(&segment) => return Err(Refusal::Repeated),
            Some(stream) => {
                stream.enqueue(now, QueuedSegment { packet, flow, datagram, segment });
                self.release(now, id);
            }
            None => {
                let headers = Headers { congestion: self.returned(id), ..Headers::default() };
                self.ready.push_back(ReleasedPacket { packet, flow, datagram, headers });
            }
        }
        if segment.resets() {
            self.close(id);
        }
        Ok(())
    }

    /// Next packet to be injected now.
    pub fn poll(&mut self, now: Time) -> Option<ReleasedPacket> {
        while let Some((_, id)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            self.release(now, id);
        }
        self.ready.pop_front()
    }

    /// Time at which the next packet may be ready.
    pub fn next(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Processes a packet at its destination, and changes it for the destination's kernel.
    pub fn deliver(&mut self, now: Time, packet: &mut [u8], arrival: &ArrivedPacket) {
        let Some(segment) = TcpSegment::parse(packet) else { return };
        let ArrivedPacket { headers, ecn, hops } = *arrival;
        let (id, back) = (segment.stream, segment.stream.reversed());
        let is_answer = segment.length() == 0;
        if let Some(stream) = self.streams.get_mut(&id).filter(|_| !is_answer) {
            stream.arrived(&segment, headers.congestion, ecn, hops);
        }
        if let Some(stream) = self.streams.get_mut(&back).filter(|_| segment.acknowledges()) {
            let header = if is_answer { headers.congestion } else { headers.returned };
            let pure = segment.payload == 0;
            stream.acknowledged(&ReceivedAck { now, ack: segment.ack, pure, header, ecn, hops });
            // The first window is not limited: kernels limit segments to half of the largest window seen, and
            // data sent before the second window is queued here.
            let window = stream.window();
            if !segment.opens() {
                segment.limit_window(packet, window, self.scale(id));
            }
            self.release(now, back);
        }
        let is_over = |id| self.streams.get(id).is_some_and(Direction::is_over);
        if segment.resets() || (is_over(&id) && is_over(&back)) {
            self.close(id);
        }
    }

    /// Whether to retransmit a packet that was lost for this cause, after `times` retransmissions.
    pub fn repairs(&self, packet: &[u8], cause: DropCause, times: u32) -> bool {
        let is_ours = || TcpSegment::parse(packet).is_some_and(|of| self.streams.contains_key(&of.stream));
        cause == DropCause::RetryLimit && times < self.repairs && is_ours()
    }

    /// Number of queued packets.
    pub fn waiting(&self) -> usize {
        self.ready.len() + self.streams.values().map(Direction::waiting).sum::<usize>()
    }

    /// Processes a SYN or SYN-ACK that is sent.
    fn open(&mut self, segment: &TcpSegment, packet: &mut [u8]) {
        let id = segment.stream;
        let offer = segment.offer(packet);
        segment.limit_payload(packet, offer, self.segment_size);
        if self.streams.get(&id).is_some_and(|stream| stream.first == segment.seq) {
            return;
        }
        // Sequence numbers are reused: the state of an earlier connection is discarded.
        if self.streams.contains_key(&id) || !segment.acknowledges() {
            self.close(id);
        }
        if self.streams.len() < MAX_CONNECTIONS
            && let Some(parts) = self.scheme.tcp()
        {
            self.streams.insert(id, Direction::new(parts, segment.seq, offer.scale));
        }
    }

    /// Closes both directions of a connection.
    fn close(&mut self, id: StreamId) {
        for id in [id, id.reversed()] {
            // Queued packets have no receiver any more, but were read and must be counted.
            let into_queued = self.streams.remove(&id).into_iter().flat_map(Direction::into_queued);
            self.ready.extend(into_queued);
            self.timers.retain(|(_, of)| *of != id);
        }
    }

    /// Window scale of the source of this direction; zero unless both ends have offered one.
    fn scale(&self, id: StreamId) -> u8 {
        let offered = |id| self.streams.get(&id).and_then(|stream| stream.scale);
        offered(id).filter(|_| offered(id.reversed()).is_some()).unwrap_or(0)
    }

    /// Feedback for the next packet of this direction.
    fn returned(&mut self, id: StreamId) -> HeaderBytes {
        self.streams.get_mut(&id.reversed()).map_or(HeaderBytes::NONE, Direction::returned)
    }

    fn release(&mut self, now: Time, id: StreamId) {
        while let Some(stream) = self.streams.get_mut(&id) {
            match stream.release(now) {
                Ok((QueuedSegment { packet, flow, datagram, .. }, congestion)) => {
                    let headers = Headers { congestion, returned: self.returned(id) };
                    self.ready.push_back(ReleasedPacket { packet, flow, datagram, headers });
                }
                Err(later) => {
                    self.timers.extend(later.map(|at| (at, id)));
                    return;
                }
            }
        }
    }
}
