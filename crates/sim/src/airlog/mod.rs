//! What each node's radio sees, as a capture: pcapng, IEEE 802.11 with radiotap, one interface per node.
//!
//! A packet stands for one frame at one radio: one that it decoded, whatever its receiver address, or one
//! that it sent itself. There is nothing of frames that were not decoded. Of an A-MPDU each MPDU is a packet,
//! at a listener each that it decoded. Its bytes are those of a true 802.11 frame (`mpdu`, `datagram`); its
//! length is that of the simulated frame. The FCS is there, because tshark reckons airtimes by what is there;
//! it is right, as in every frame that was decoded. Of long frames only headers and messages of routing
//! protocols are kept, the original length says how long they were.
//!
//! Two times are there, both of the node's own antenna. The packet's own is when the last bit had passed, in
//! nanoseconds. That of radiotap, TSFT, is when the first bit of the MPDU came, after preamble and PLCP
//! header, in whole microseconds. All MPDUs of an A-MPDU have both times of the A-MPDU, as drivers stamp them
//! and tshark takes them. Packets are in the order of their own time, those of one instant in the order of
//! interfaces, whatever the order of events was.
//!
//! It comes from the medium, not from the stream of link events: those say what a MAC heard, but not the
//! headers of what it heard.
//!
//! The log is written while the run goes on, and holds no more than the frames of one propagation delay.

mod datagram;
mod ip;
mod mpdu;
mod outside;
mod pcapng;
mod radiotap;
mod tcp;

use crate::config::{AppConfig, Channel, Config, FlowConfig, MatrixQuantity, MediumModel};
use crate::external::PacketOutcome;
use crate::framelog::Selection;
use crate::mac::Timing;
use crate::medium::{Bitmap, Frame, Link, Loads};
use crate::record::FlowFilter;
use crate::slab::{Handle, Slab};
use datagram::{Contents, Transport};
use mpdu::Unit;
use multihop_core::{FrameKind, NodeId, Packet, Span, Time};
use multihop_dot11::user_priority;
use outside::OutsideHeaders;
use pcapng::PcapngWriter;
use radiotap::{Aggregate, RateFields, Seen};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};

/// Link type of 802.11 frames behind a radiotap header.
const LINK_TYPE: u16 = 127;
/// A femtowatt in dBm.
const FEMTOWATT_DBM: f64 = -120.0;

/// A capture of everything that the radios of a run see. [`run_logged`](crate::run_logged) makes one.
pub struct AirLog {
    writer: PcapngWriter<Box<dyn Write + Send>>,
    selection: Selection,
    filter: FlowFilter,
    /// The frame that ends now is of flows that are wanted.
    is_wanted: bool,
    timing: Timing,
    /// By [`crate::medium::RateSet::index`].
    rates: Vec<RateFields>,
    /// By flow.
    transports: Vec<Transport>,
    has_powers: bool,
    /// DATA frames are those of quality of service.
    qos: bool,
    /// By node; empty if the scenario names none.
    channels: Vec<Channel>,
    /// MPDUs of the frame that ends now; other frames are one.
    mpdus: Vec<Mpdu>,
    /// The frame that ends now is an A-MPDU of several MPDUs: its reference.
    aggregate: Option<u32>,
    /// A-MPDUs so far.
    aggregates: u32,
    /// Of packets that were written, to be filled again.
    spare: Vec<Vec<u8>>,
    /// What may still be preceded: packets by their time and interface.
    pending: VecDeque<Pending>,
    headers: OutsideHeaders,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

/// An MPDU of the frame that ends now.
struct Mpdu {
    /// On the air.
    length: u32,
    /// Its first bytes.
    kept: Vec<u8>,
}

struct Pending {
    at: Time,
    interface: u32,
    length: u32,
    bytes: Vec<u8>,
}

/// Why a run has no capture.
#[derive(Debug)]
pub enum AirLogError {
    /// The scenario counts fewer bytes than this for MAC header and FCS of a DATA frame, so that no 802.11
    /// frame can be as long as its frames.
    NoRoomForHeader {
        /// What it counts.
        data_header: u32,
        /// What there must be.
        least: u32,
    },
    /// The capture cannot be written.
    Io(io::Error),
}

impl fmt::Display for AirLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AirLogError::NoRoomForHeader { data_header, least } => write!(
                f,
                "mac.override.data_header: {data_header} B leave no room for the header of an 802.11 frame in a capture; give at \
                 least {least} B, or run without a capture"
            ),
            AirLogError::Io(error) => write!(f, "the capture cannot be written: {error}"),
        }
    }
}

impl std::error::Error for AirLogError {}

impl From<io::Error> for AirLogError {
    fn from(error: io::Error) -> AirLogError {
        AirLogError::Io(error)
    }
}

impl AirLog {
    /// A log of a run of `config`, to be written to `out` as the run goes on.
    ///
    /// # Errors
    /// If the scenario's frames are too short for an 802.11 header, or `out` cannot be written.
    pub fn new(config: &Config, out: Box<dyn Write + Send>) -> Result<AirLog, AirLogError> {
        let data_header = config.mac.rules.data_header;
        let qos = config.phy.standard().has_mcs() || config.edca.is_some();
        let least = mpdu::data_header(qos) + mpdu::FCS;
        if data_header < least {
            return Err(AirLogError::NoRoomForHeader { data_header, least });
        }
        let application = concat!("multihop ", env!("CARGO_PKG_VERSION"));
        let comment = format!(
            "simulated: {}, seed {}; packet times are those of a frame's last bit, TSFT that of the MPDU's first bit",
            config.name, config.seed
        );
        let snap_length = radiotap::longest(qos) + mpdu::longest(qos);
        let mut writer = PcapngWriter::new(out, application, &comment)?;
        for node in &config.nodes {
            writer.interface(&node.name, LINK_TYPE, snap_length as u32)?;
        }
        let timing = Timing::new(config);
        let transport = |flow: &FlowConfig| match flow.app {
            AppConfig::External => Transport::Outside,
            _ if config.schemes[flow.scheme].scheme.is_reliable() => Transport::Tcp,
            _ => Transport::Udp,
        };
        Ok(AirLog {
            writer,
            selection: Selection::default(),
            filter: FlowFilter::default(),
            is_wanted: true,
            rates: timing.rates().map(|rate| RateFields::new(&config.phy, rate)).collect(),
            timing,
            transports: config.flows.iter().map(transport).collect(),
            has_powers: match &config.medium.model {
                MediumModel::Sinr { .. } | MediumModel::Sensed { .. } => true,
                MediumModel::Matrix { quantity, .. } => matches!(quantity, MatrixQuantity::Rssi { .. }),
                // Its powers only compare signals with each other.
                MediumModel::Ranges { .. } => false,
            },
            qos,
            channels: config.radios.channels.clone(),
            mpdus: Vec::new(),
            aggregate: None,
            aggregates: 0,
            spare: Vec::new(),
            pending: VecDeque::new(),
            headers: OutsideHeaders::default(),
            failure: None,
        })
    }

    /// The same, which has only what these nodes saw, and of that what ended in the interval.
    #[must_use]
    pub fn only(mut self, config: &Config, selection: Selection) -> AirLog {
        self.selection = selection.with_senders(config);
        self
    }

    /// A packet that comes from outside now has these headers.
    pub(crate) fn register_headers(
        &mut self,
        now: Time,
        number: u64,
        headers: &[u8],
        outcomes: &VecDeque<PacketOutcome>,
    ) {
        self.headers.note(outcomes);
        self.headers.forget(now);
        self.headers.register_headers(number, headers);
    }

    /// The first of the outcomes of packets from outside is asked for.
    pub(crate) fn ask(&mut self, outcomes: &VecDeque<PacketOutcome>) {
        self.headers.note(outcomes);
        self.headers.ask();
    }

    /// A frame ends at its listeners; [`AirLog::heard`] and [`AirLog::sent`] are about this one until the
    /// next. `packet` is that which it carries, or is sent for; `outcomes` are those that nobody has asked
    /// for.
    pub(crate) fn frame_ends(
        &mut self,
        frame: &Frame,
        packet: Option<Handle>,
        packets: &Slab,
        loads: &Loads,
        outcomes: &VecDeque<PacketOutcome>,
    ) {
        self.headers.note(outcomes);
        self.headers.forget(frame.end());
        // All that is still to come ends at its own node no earlier than this.
        self.write_before(frame.end() - self.timing.propagation);
        self.spare.extend(self.mpdus.drain(..).map(|mpdu| mpdu.kept));
        self.aggregate = None;
        if !self.selection.flows.is_empty() {
            let first = loads.mpdus(frame.load).iter().map(|mpdu| mpdu.packet).chain(packet);
            let all = first
                .flat_map(|first| std::iter::successors(Some(first), |packet| packets.next_msdu(*packet)));
            let flows = all.map(|handle| packets.get(handle).packet.flow);
            self.is_wanted = self.filter.passes(&self.selection, frame, flows);
        }
        let about = frame.load.filter(|_| frame.kind != FrameKind::Data).map(|load| loads.get(load));
        let whole = Unit {
            frame,
            bytes: frame.bytes,
            sequence: frame.sequence,
            retry: frame.retry,
            tid: 0,
            about,
            contents: &[],
            qos: self.qos,
            llc: self.timing.rules.llc_header,
        };
        let aggregated = loads.mpdus(frame.load);
        if frame.kind != FrameKind::Data || aggregated.is_empty() {
            return self.unit(whole, frame.packet, packets);
        }
        for mpdu in aggregated {
            let (sequence, retry) = (mpdu.sequence.into(), mpdu.retry);
            self.unit(Unit { bytes: mpdu.bytes, sequence, retry, ..whole }, Some(mpdu.packet), packets);
        }
        if aggregated.len() > 1 {
            self.aggregates = self.aggregates.wrapping_add(1);
            self.aggregate = Some(self.aggregates);
        }
    }

    /// Makes the first bytes of a frame, or of an MPDU of it, whose first packet this is.
    fn unit(&mut self, unit: Unit, packet: Option<Handle>, packets: &Slab) {
        let contents: Vec<Contents> = std::iter::successors(packet, |packet| packets.next_msdu(*packet))
            .map(|handle| {
                let Packet { flow, number, .. } = packets.get(handle).packet;
                let transport = self.transports.get(flow.index()).copied().unwrap_or(Transport::Udp);
                let headers = self.headers.of(number).filter(|_| transport == Transport::Outside);
                Contents::of(packets, handle, unit.frame.from, transport).headed(headers)
            })
            .collect();
        let dscp =
            contents.first().filter(|_| self.timing.differentiates).map(|first| first.packet.segment.dscp);
        let unit = Unit { contents: &contents, tid: dscp.map_or(0, user_priority), ..unit };
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        mpdu::put(&mut bytes, &unit);
        let (length, kept) = ((unit.bytes - mpdu::FCS) as usize, unit.kept());
        bytes.resize(length.min(kept), 0);
        if length < kept {
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
            bytes.truncate(kept);
        }
        self.mpdus.push(Mpdu { length: unit.bytes, kept: bytes });
    }

    /// A listener decoded the frame; of several MPDUs those that `arrived`.
    pub(crate) fn heard(&mut self, frame: &Frame, link: &Link, arrived: &Bitmap) {
        let dbm =
            |femtowatts: f64| (10.0 * femtowatts.log10() + FEMTOWATT_DBM).round().clamp(-128.0, 127.0) as i8;
        let dbm = self.has_powers.then(|| dbm(link.power));
        self.add(NodeId(link.to), frame, Span::ZERO, Seen::Received { dbm }, |place| arrived.has(place));
    }

    /// The frame's sender, whose antenna it left a propagation delay before it came to the listeners.
    pub(crate) fn sent(&mut self, frame: &Frame) {
        let is_unicast = frame.to.is_some();
        let reserves = self.aggregate.is_some() && self.timing.aggregation.is_some_and(|limits| limits.rts);
        let with_rts =
            frame.kind == FrameKind::Data && is_unicast && (reserves || self.timing.needs_rts(frame.bytes));
        let awaits =
            is_unicast && matches!(frame.kind, FrameKind::Rts | FrameKind::Data | FrameKind::BlockAckRequest);
        let is_pending = matches!(frame.kind, FrameKind::Data | FrameKind::BlockAckRequest);
        let protected = is_pending && self.timing.on(frame.rates).protection(frame.rate) > Span::ZERO;
        let flags = match (with_rts, protected) {
            (true, _) => radiotap::TX_WITH_RTS,
            (false, true) => radiotap::TX_WITH_CTS,
            (false, false) => 0,
        };
        let flags = flags | if awaits { 0 } else { radiotap::TX_WITHOUT_ACK };
        self.add(frame.from, frame, self.timing.propagation, Seen::Sent { flags }, |_| true);
    }

    /// Did writing fail? Then the run may as well end.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.write_before(Time::NEVER);
        match self.failure {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }

    /// Packets of the present frame, which was at the node's antenna `earlier` than at the listeners: of
    /// several MPDUs those at the places that are `there`.
    fn add(&mut self, node: NodeId, frame: &Frame, earlier: Span, seen: Seen, there: impl Fn(usize) -> bool) {
        let starts = frame.air.start + frame.overhead - earlier;
        let at = frame.end() - earlier;
        if !self.is_wanted || !self.selection.has_node(node) || !self.selection.has_time(at) {
            return;
        }
        let stamps = radiotap::Stamps {
            tsft_us: starts.since(Time::ZERO).whole(Span::from_us(1)),
            end_ns: at.ns(),
            airtime: frame.airtime(),
        };
        let fields = self.rates[frame.rate_index()];
        let fields = self.channels.get(node.index()).map_or(fields, |channel| fields.on(*channel));
        let key = (at, node.0);
        let place = self.pending.partition_point(|other| (other.at, other.interface) <= key);
        let last = self.mpdus.len() - 1;
        let seen_here =
            self.mpdus.iter().enumerate().filter(|(at, _)| self.aggregate.is_none() || there(*at));
        for (number, (index, mpdu)) in seen_here.enumerate() {
            let aggregate = self.aggregate.map(|reference| Aggregate { reference, is_last: index == last });
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.clear();
            radiotap::put(&mut bytes, stamps, fields, aggregate, seen);
            let length = bytes.len() as u32 + mpdu.length;
            bytes.extend_from_slice(&mpdu.kept);
            self.pending.insert(place + number, Pending { at, interface: node.0, length, bytes });
        }
    }

    fn write_before(&mut self, settled: Time) {
        while self.pending.front().is_some_and(|packet| packet.at < settled) {
            let Pending { at, interface, length, bytes } = self.pending.pop_front().expect("it was there");
            if self.failure.is_some() {
                continue;
            }
            let written = self.writer.packet(interface, at.ns(), length, &bytes);
            self.spare.push(bytes);
            self.failure = written.err();
        }
    }
}
