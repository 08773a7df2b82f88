//! A scheme's ends as a layer between IP and the kernel's TCP, which does not know of it (Tan, Jiang, Zhang
//! and Shen, "Congestion Control in Multi-hop Wireless Networks", section VII).
//!
//! | at | what it does |
//! |---|---|
//! | the source of data | puts the congestion header between IP and TCP; holds segments back until window and pace allow them; sends again what the node's own MAC gave up |
//! | the destination | takes the header out, and puts what it returns before the acknowledgement |
//! | the source again | takes that out, and lowers the window that the acknowledgement advertises to the scheme's |
//!
//! A SYN says how windows are scaled; its maximum segment size is lowered to the scheme's segment. What is no
//! TCP, and connections whose SYN was not seen, pass.

mod stream;
mod tcp;

use crate::datagram::{Datagram, Refusal};
use multihop_core::{DropCause, Ecn, FlowId, HeaderBytes, Time};
use multihop_schemes::Scheme;
use multihop_sim::config::{AppConfig, Config};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use stream::{Answer, Handed, Stream};
use tcp::{StreamId, TcpSegment};
use thiserror::Error;

/// Connections beyond so many pass.
const MOST_STREAMS: usize = 1 << 16;

/// A packet that is to be injected.
pub struct Outgoing {
    /// As the kernel has made it.
    pub packet: Vec<u8>,
    /// Where it goes.
    pub flow: FlowId,
    /// What it says.
    pub datagram: Datagram,
    /// What is between IP and TCP.
    pub headers: Headers,
}

/// What is between IP and TCP.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Headers {
    /// What routers see: the congestion header of data; or of an acknowledgement without any, what it
    /// returns.
    pub congestion: HeaderBytes,
    /// What an acknowledgement with data returns behind that.
    pub returned: HeaderBytes,
}

impl Headers {
    /// The most that [`Headers::bytes`] can be.
    pub const MOST_BYTES: u32 = 2 * HeaderBytes::CAPACITY as u32;

    /// Bytes of both.
    pub fn bytes(&self) -> u32 {
        (self.congestion.on_air().len() + self.returned.on_air().len()) as u32
    }
}

/// How a packet has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// What is between IP and TCP now.
    pub headers: Headers,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// Hops that it took.
    pub hops: u16,
}

/// A scheme that cannot stand below another TCP.
#[derive(Debug, Error)]
#[error("found {found:?}; needs a scheme whose routers write into a header of segments: {}", needs.join(", "))]
pub struct NoHeader {
    /// The name of the scheme that was asked for.
    pub found: String,
    /// Schemes that can.
    pub needs: Vec<&'static str>,
}

/// The layer, at all nodes.
pub struct Shim {
    scheme: Arc<dyn Scheme>,
    segment_size: u32,
    repairs: u32,
    streams: BTreeMap<StreamId, Stream>,
    ready: VecDeque<Outgoing>,
    /// When a stream may send again.
    timers: BTreeSet<(Time, StreamId)>,
}

impl Shim {
    /// The layer of the scheme that takes packets from outside.
    ///
    /// # Errors
    /// If none of its segments' headers says what its routers ask for.
    pub fn below_tcp(config: &Config) -> Result<Shim, NoHeader> {
        let outside = config.flows.iter().find(|flow| flow.app == AppConfig::External);
        let used = outside.map(|flow| &config.schemes[flow.scheme]);
        let shim = used.and_then(|used| Shim::new(used.scheme.clone()));
        shim.ok_or_else(|| NoHeader {
            found: used.map_or_else(String::new, |used| used.name.clone()),
            needs: multihop_schemes::REGISTRY
                .iter()
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

    /// A node sends a packet; [`Shim::poll`] has it when it may leave.
    ///
    /// # Errors
    /// If the kernel repeats what waits here, or as much waits as may: it is not needed.
    pub fn send(
        &mut self,
        now: Time,
        packet: &[u8],
        flow: FlowId,
        datagram: Datagram,
    ) -> Result<(), Refusal> {
        let mut packet = packet.to_vec();
        let Some(segment) = TcpSegment::parse(&packet) else {
            self.ready.push_back(Outgoing { packet, flow, datagram, headers: Headers::default() });
            return Ok(());
        };
        let id = segment.stream;
        if segment.opens() {
            self.open(&segment, &mut packet);
        }
        match self.streams.get_mut(&id).filter(|_| segment.length() > 0) {
            Some(stream) if stream.is_full_for(&segment) => return Err(Refusal::ShimFull),
            Some(stream) if stream.waits_for(&segment) => return Err(Refusal::Repeated),
            Some(stream) => {
                stream.hand(now, Handed { packet, flow, datagram, segment });
                self.release(now, id);
            }
            None => {
                let headers = Headers { congestion: self.returned(id), ..Headers::default() };
                self.ready.push_back(Outgoing { packet, flow, datagram, headers });
            }
        }
        if segment.resets() {
            self.close(id);
        }
        Ok(())
    }

    /// The next packet that is to be injected now.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        while let Some((_, id)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            self.release(now, id);
        }
        self.ready.pop_front()
    }

    /// When there may be another one.
    pub fn next(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// A packet has come to its destination, whose kernel is to see it as this leaves it.
    pub fn deliver(&mut self, now: Time, packet: &mut [u8], arrival: &Arrival) {
        let Some(segment) = TcpSegment::parse(packet) else { return };
        let Arrival { headers, ecn, hops } = *arrival;
        let (id, back) = (segment.stream, segment.stream.reversed());
        let is_answer = segment.length() == 0;
        if let Some(stream) = self.streams.get_mut(&id).filter(|_| !is_answer) {
            stream.arrived(&segment, headers.congestion, ecn, hops);
        }
        if let Some(stream) = self.streams.get_mut(&back).filter(|_| segment.acknowledges()) {
            let header = if is_answer { headers.congestion } else { headers.returned };
            let pure = segment.payload == 0;
            stream.acknowledged(&Answer { now, ack: segment.ack, pure, header, ecn, hops });
            // The first window stays: kernels take no more than half of the largest that they have seen for a segment, and what they
            // send before the second one waits here.
            let window = stream.window();
            if !segment.opens() {
                segment.limit_window(packet, window, self.scale(id));
            }
            self.release(now, back);
        }
        let is_over = |id| self.streams.get(id).is_some_and(Stream::is_over);
        if segment.resets() || (is_over(&id) && is_over(&back)) {
            self.close(id);
        }
    }

    /// May a packet go again that was lost like this, after so many times?
    pub fn repairs(&self, packet: &[u8], cause: DropCause, times: u32) -> bool {
        let is_ours = || TcpSegment::parse(packet).is_some_and(|of| self.streams.contains_key(&of.stream));
        cause == DropCause::RetryLimit && times < self.repairs && is_ours()
    }

    /// Packets that wait to be sent.
    pub fn waiting(&self) -> usize {
        self.ready.len() + self.streams.values().map(Stream::waiting).sum::<usize>()
    }

    /// A SYN, or the answer to one, leaves.
    fn open(&mut self, segment: &TcpSegment, packet: &mut [u8]) {
        let id = segment.stream;
        let offer = segment.offer(packet);
        segment.limit_payload(packet, offer, self.segment_size);
        if self.streams.get(&id).is_some_and(|stream| stream.first == segment.seq) {
            return;
        }
        // Numbers are used again: what is known of an earlier connection counts no more.
        if self.streams.contains_key(&id) || !segment.acknowledges() {
            self.close(id);
        }
        if self.streams.len() < MOST_STREAMS
            && let Some(parts) = self.scheme.tcp()
        {
            self.streams.insert(id, Stream::new(parts, segment.seq, offer.scale));
        }
    }

    /// Both directions of a connection are over.
    fn close(&mut self, id: StreamId) {
        for id in [id, id.reversed()] {
            // What waits has no receiver any more, but it was read, and is to be accounted for.
            let left = self.streams.remove(&id).into_iter().flat_map(Stream::left);
            self.ready.extend(left);
            self.timers.retain(|(_, of)| *of != id);
        }
    }

    /// The shift of the windows that the source of this stream advertises: none, unless both ends have
    /// offered one.
    fn scale(&self, id: StreamId) -> u8 {
        let offered = |id| self.streams.get(&id).and_then(|stream| stream.scale);
        offered(id).filter(|_| offered(id.reversed()).is_some()).unwrap_or(0)
    }

    /// What the next packet of this stream returns.
    fn returned(&mut self, id: StreamId) -> HeaderBytes {
        self.streams.get_mut(&id.reversed()).map_or(HeaderBytes::NONE, Stream::returned)
    }

    fn release(&mut self, now: Time, id: StreamId) {
        while let Some(stream) = self.streams.get_mut(&id) {
            match stream.release(now) {
                Ok((Handed { packet, flow, datagram, .. }, congestion)) => {
                    let headers = Headers { congestion, returned: self.returned(id) };
                    self.ready.push_back(Outgoing { packet, flow, datagram, headers });
                }
                Err(later) => {
                    self.timers.extend(later.map(|at| (at, id)));
                    return;
                }
            }
        }
    }
}
