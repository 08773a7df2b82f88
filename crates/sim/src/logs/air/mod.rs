//! Capture of all radios of a run: pcapng with IEEE 802.11 frames behind radiotap headers, one interface per
//! node.
//!
//! A packet of the capture is one frame at one radio: a frame that the radio decoded, with any receiver
//! address, or a frame that it sent. Frames that a radio did not decode are omitted. Each decoded MPDU of an
//! A-MPDU is a packet.
//!
//! * **Bytes** are those of a real 802.11 frame (`mpdu`, `datagram`), with a correct FCS, from whose presence
//!   tshark computes airtimes.
//! * **Length** is that of the simulated frame. Long frames are truncated to their headers and messages of
//!   routing protocols; the original length is recorded.
//! * **Packet time** is the time of the last bit at the node's antenna, in nanoseconds.
//! * **TSFT** in the radiotap header is the time of the MPDU's first bit at the node's antenna, after
//!   preamble and PLCP header, in whole microseconds. All MPDUs of an A-MPDU have the times of the A-MPDU, as
//!   drivers stamp them and tshark expects.
//! * **Order** is by packet time, then by interface. It does not depend on the order of events.
//!
//! The medium is the source of the capture: link events contain no headers. The capture is written during the
//! run and buffers the frames of one propagation delay.

mod datagram;
mod ip;
mod mpdu;
mod outside;
mod pcapng;
mod radiotap;
mod tcp;

use crate::config::{AppConfig, Channel, Config, FlowConfig, MatrixQuantity, MediumModel};
use crate::external::PacketOutcome;
use crate::logs::LogError;
use crate::logs::selection::{FlowFilter, Selection};
use crate::mac::Timing;
use crate::medium::{Bitmap, Frame, Link, Loads};
use crate::slab::{Handle, Slab};
use datagram::{Contents, Transport};
use mpdu::Unit;
use multihop_core::{FrameKind, NodeId, Packet, Span, Time};
use multihop_dot11::user_priority;
use outside::OutsideHeaders;
use pcapng::PcapngWriter;
use radiotap::{Aggregate, Observation, RateFields};
use std::collections::VecDeque;
use std::io::{self, Write};

/// Link type of 802.11 frames with a radiotap header.
const LINK_TYPE: u16 = 127;
/// A femtowatt in dBm.
const FEMTOWATT_DBM: f64 = -120.0;

/// Capture of all radios of a run. [`run_logged`](crate::run_logged) writes it.
pub struct AirLog {
    writer: PcapngWriter<Box<dyn Write + Send>>,
    selection: Selection,
    filter: FlowFilter,
    /// Whether the frame that ends now belongs to a selected flow.
    is_selected: bool,
    timing: Timing,
    /// Radiotap fields by [`crate::medium::RateSet::index`].
    rates: Vec<RateFields>,
    /// Transport protocol by flow.
    transports: Vec<Transport>,
    has_powers: bool,
    /// Whether DATA frames are QoS Data frames.
    qos: bool,
    /// Channel by node; empty if the scenario names no channels.
    channels: Vec<Channel>,
    /// MPDUs of the frame that ends now; one for any frame but an A-MPDU.
    mpdus: Vec<Mpdu>,
    /// Reference number of the frame that ends now, if it is an A-MPDU of several MPDUs.
    aggregate: Option<u32>,
    /// Number of A-MPDUs so far.
    aggregates: u32,
    /// Buffers of written packets, for reuse.
    spare: Vec<Vec<u8>>,
    /// Packets that an earlier one may still precede, by time and interface.
    pending: VecDeque<Pending>,
    headers: OutsideHeaders,
    /// First error; nothing is written after it.
    failure: Option<io::Error>,
}

/// MPDU of the frame that ends now.
struct Mpdu {
    /// Length on the air.
    length: u32,
    /// First bytes, which the capture contains.
    captured: Vec<u8>,
}

/// Packet that is not written yet.
struct Pending {
    at: Time,
    interface: u32,
    length: u32,
    bytes: Vec<u8>,
}

impl AirLog {
    /// Creates the capture of a run of `config`, which is written to `out` during the run.
    ///
    /// # Errors
    /// If the scenario's frames are too short for an 802.11 header, or `out` cannot be written.
    pub fn new(config: &Config, out: Box<dyn Write + Send>) -> Result<AirLog, LogError> {
        let data_header = config.mac.rules.data_header;
        let qos = config.phy.standard().has_mcs() || config.mac.edca.is_some();
        let minimum = mpdu::data_header(qos) + mpdu::FCS;
        if data_header < minimum {
            return Err(LogError::NoRoomForHeader { data_header, minimum });
        }
        let application = concat!("multihop ", env!("CARGO_PKG_VERSION"));
        let comment = format!(
            "simulated: {}, seed {}; packet times are those of a frame's last bit, TSFT that of the MPDU's first bit",
            config.name, config.seed
        );
        let snap_length = radiotap::longest(qos) + mpdu::longest(qos);
        let mut writer = PcapngWriter::new(out, application, &comment)?;
        for node in &config.topology.nodes {
            writer.interface(&node.name, LINK_TYPE, snap_length as u32)?;
        }
        let timing = Timing::new(config);
        let transport = |flow: &FlowConfig| match flow.app {
            AppConfig::External => Transport::Outside,
            _ if config.traffic.schemes[flow.scheme].scheme.is_reliable() => Transport::Tcp,
            _ => Transport::Udp,
        };
        Ok(AirLog {
            writer,
            selection: Selection::default(),
            filter: FlowFilter::default(),
            is_selected: true,
            rates: timing.rates().map(|rate| RateFields::new(&config.phy, rate)).collect(),
            timing,
            transports: config.traffic.flows.iter().map(transport).collect(),
            has_powers: match &config.medium.model {
                MediumModel::Sinr { .. } | MediumModel::Sensed { .. } => true,
                MediumModel::Matrix { quantity, .. } => matches!(quantity, MatrixQuantity::Rssi { .. }),
                // The powers of this model only compare signals with each other.
                MediumModel::Ranges { .. } => false,
            },
            qos,
            channels: config.topology.radios.channels.clone(),
            mpdus: Vec::new(),
            aggregate: None,
            aggregates: 0,
            spare: Vec::new(),
            pending: VecDeque::new(),
            headers: OutsideHeaders::default(),
            failure: None,
        })
    }

    /// Restricts the capture to radios of the selected nodes, and to frames of the selected flows whose last
    /// bit lies in the interval.
    #[must_use]
    pub fn only(mut self, config: &Config, selection: Selection) -> AirLog {
        self.selection = selection.with_senders(&config.traffic);
        self
    }

    /// Registers the headers of a packet that is injected now.
    pub(crate) fn register_headers(
        &mut self,
        now: Time,
        number: u64,
        headers: &[u8],
        outcomes: &VecDeque<PacketOutcome>,
    ) {
        self.headers.track(outcomes);
        self.headers.expire(now);
        self.headers.register_headers(number, headers);
    }

    /// Records that the first outcome of a packet from outside is polled.
    pub(crate) fn outcome_polled(&mut self, outcomes: &VecDeque<PacketOutcome>) {
        self.headers.track(outcomes);
        self.headers.outcome_polled();
    }

    /// Records that a frame ends at its listeners. [`AirLog::received`] and [`AirLog::sent`] refer to this
    /// frame until the next call.
    ///
    /// `packet` is the packet that the frame carries or is sent for; `outcomes` have not been polled.
    pub(crate) fn frame_ended(
        &mut self,
        frame: &Frame,
        packet: Option<Handle>,
        packets: &Slab,
        loads: &Loads,
        outcomes: &VecDeque<PacketOutcome>,
    ) {
        self.headers.track(outcomes);
        self.headers.expire(frame.end());
        // No later frame ends earlier than this at its sender.
        self.write_before(frame.end() - self.timing.propagation);
        self.spare.extend(self.mpdus.drain(..).map(|mpdu| mpdu.captured));
        self.aggregate = None;
        if !self.selection.flows.is_empty() {
            let first_packets = loads.mpdus(frame.load).iter().map(|mpdu| mpdu.packet).chain(packet);
            let all_packets = first_packets
                .flat_map(|first| std::iter::successors(Some(first), |packet| packets.next_msdu(*packet)));
            let flows = all_packets.map(|handle| packets.get(handle).packet.flow);
            self.is_selected = self.filter.passes(&self.selection, frame, flows);
        }
        let acknowledged = frame.load.filter(|_| frame.kind != FrameKind::Data).map(|load| loads.get(load));
        let whole = Unit {
            frame,
            bytes: frame.bytes,
            sequence: frame.sequence,
            retry: frame.retry,
            tid: 0,
            acknowledged,
            contents: &[],
            qos: self.qos,
            llc: self.timing.rules.llc_header,
        };
        let aggregated = loads.mpdus(frame.load);
        if frame.kind != FrameKind::Data || aggregated.is_empty() {
            return self.add_mpdu(whole, frame.packet, packets);
        }
        for mpdu in aggregated {
            let (sequence, retry) = (mpdu.sequence.into(), mpdu.retry);
            self.add_mpdu(Unit { bytes: mpdu.bytes, sequence, retry, ..whole }, Some(mpdu.packet), packets);
        }
        if aggregated.len() > 1 {
            self.aggregates = self.aggregates.wrapping_add(1);
            self.aggregate = Some(self.aggregates);
        }
    }

    /// Adds a frame, or an MPDU of it, whose first packet is `packet`.
    fn add_mpdu(&mut self, unit: Unit, packet: Option<Handle>, packets: &Slab) {
        let contents: Vec<Contents> = std::iter::successors(packet, |packet| packets.next_msdu(*packet))
            .map(|handle| {
                let Packet { flow, number, .. } = packets.get(handle).packet;
                let transport = self.transports.get(flow.index()).copied().unwrap_or(Transport::Udp);
                let headers = self.headers.of(number).filter(|_| transport == Transport::Outside);
                Contents::of(packets, handle, unit.frame.from, transport).with_headers(headers)
            })
            .collect();
        let dscp =
            contents.first().filter(|_| self.timing.differentiates).map(|first| first.packet.segment.dscp);
        let unit = Unit { contents: &contents, tid: dscp.map_or(0, user_priority), ..unit };
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        mpdu::put(&mut bytes, &unit);
        let (length, limit) = ((unit.bytes - mpdu::FCS) as usize, unit.capture_length());
        bytes.resize(length.min(limit), 0);
        if length < limit {
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
            bytes.truncate(limit);
        }
        self.mpdus.push(Mpdu { length: unit.bytes, captured: bytes });
    }

    /// Records that a listener decoded the frame, or those of its MPDUs that `arrived`.
    pub(crate) fn received(&mut self, frame: &Frame, link: &Link, arrived: &Bitmap) {
        let dbm =
            |femtowatts: f64| (10.0 * femtowatts.log10() + FEMTOWATT_DBM).round().clamp(-128.0, 127.0) as i8;
        let dbm = self.has_powers.then(|| dbm(link.power));
        self.add_packets(NodeId(link.to), frame, Span::ZERO, Observation::Received { dbm }, |index| {
            arrived.has(index)
        });
    }

    /// Records the frame at its sender, a propagation delay before it reaches the listeners.
    pub(crate) fn sent(&mut self, frame: &Frame) {
        let is_unicast = frame.to.is_some();
        let needs_rts = self.aggregate.is_some() && self.timing.aggregation.is_some_and(|limits| limits.rts);
        let with_rts =
            frame.kind == FrameKind::Data && is_unicast && (needs_rts || self.timing.needs_rts(frame.bytes));
        let needs_response =
            is_unicast && matches!(frame.kind, FrameKind::Rts | FrameKind::Data | FrameKind::BlockAckRequest);
        let may_be_protected = matches!(frame.kind, FrameKind::Data | FrameKind::BlockAckRequest);
        let protected = may_be_protected && self.timing.on(frame.rates).protection(frame.rate) > Span::ZERO;
        let flags = match (with_rts, protected) {
            (true, _) => radiotap::TX_WITH_RTS,
            (false, true) => radiotap::TX_WITH_CTS,
            (false, false) => 0,
        };
        let flags = flags | if needs_response { 0 } else { radiotap::TX_WITHOUT_ACK };
        self.add_packets(frame.from, frame, self.timing.propagation, Observation::Sent { flags }, |_| true);
    }

    /// Whether writing failed, so that the run can end early.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Writes the pending packets and ends the capture.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.write_before(Time::NEVER);
        match self.failure {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }

    /// Adds packets of the current frame at a node, whose antenna it reaches `earlier` than the listeners. If
    /// the frame is an A-MPDU, `has_mpdu` selects its MPDUs.
    fn add_packets(
        &mut self,
        node: NodeId,
        frame: &Frame,
        earlier: Span,
        observation: Observation,
        has_mpdu: impl Fn(usize) -> bool,
    ) {
        let start = frame.air.start + frame.overhead - earlier;
        let at = frame.end() - earlier;
        if !self.is_selected || !self.selection.has_node(node) || !self.selection.has_time(at) {
            return;
        }
        let stamps = radiotap::Stamps {
            tsft_us: start.since(Time::ZERO).whole(Span::from_us(1)),
            end_ns: at.ns(),
            airtime: frame.airtime(),
        };
        let fields = self.rates[frame.rate_index()];
        let fields = self.channels.get(node.index()).map_or(fields, |channel| fields.on(*channel));
        let key = (at, node.0);
        let place = self.pending.partition_point(|other| (other.at, other.interface) <= key);
        let last = self.mpdus.len() - 1;
        let mpdus =
            self.mpdus.iter().enumerate().filter(|(index, _)| self.aggregate.is_none() || has_mpdu(*index));
        for (number, (index, mpdu)) in mpdus.enumerate() {
            let aggregate = self.aggregate.map(|reference| Aggregate { reference, is_last: index == last });
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.clear();
            radiotap::put(&mut bytes, stamps, fields, aggregate, observation);
            let length = bytes.len() as u32 + mpdu.length;
            bytes.extend_from_slice(&mpdu.captured);
            self.pending.insert(place + number, Pending { at, interface: node.0, length, bytes });
        }
    }

    /// Writes the pending packets before a time.
    fn write_before(&mut self, time: Time) {
        while self.pending.front().is_some_and(|packet| packet.at < time) {
            let Pending { at, interface, length, bytes } =
                self.pending.pop_front().expect("the list is not empty");
            if self.failure.is_some() {
                continue;
            }
            let written = self.writer.packet(interface, at.ns(), length, &bytes);
            self.spare.push(bytes);
            self.failure = written.err();
        }
    }
}
