//! What each node's radio sees, as a capture: pcapng, IEEE 802.11 with radiotap, one interface per node.
//!
//! A packet stands for one frame at one radio: one that it decoded, whoever it was for, or one that it sent itself. There is nothing
//! of frames that were not decoded. Its bytes are those of a true 802.11 frame (`mpdu`, `datagram`); its length is that
//! of the simulated frame. The FCS is there, because tshark reckons airtimes by what is there; it is right, as in every frame that
//! was decoded. Of long frames only headers and messages of routing protocols are kept, the original length says how long they were.
//!
//! Two times are there, both of the node's own antenna. The packet's own is when the last bit had passed, in nanoseconds. That of
//! radiotap, TSFT, is when the first bit of the MPDU came, after preamble and PLCP header, in whole microseconds. Packets are in the
//! order of their own time, those of one instant in the order of interfaces, whatever the order of events was.
//!
//! It comes from the medium, not from the stream of link events: those say what a MAC heard, but not the headers of what it heard.
//!
//! The log is written while the run goes on, and holds no more than the frames of one propagation delay.

mod datagram;
mod mpdu;
mod pcapng;
mod radiotap;
mod tcp;

use crate::config::{AppConfig, Config, FlowConfig, MatrixQuantity, MediumModel};
use crate::mac::Timing;
use crate::medium::{Frame, Link};
use crate::slab::Slab;
use datagram::{Contents, Transport};
use multihop_core::{FrameKind, NodeId, Span, Time};
use pcapng::PcapngWriter;
use radiotap::{RateFields, Seen};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};

/// Link type of 802.11 frames behind a radiotap header.
const LINK_TYPE: u16 = 127;
/// Bytes of a packet that may be kept: all that is not payload, which is zeros.
const SNAP_LENGTH: usize = radiotap::LONGEST + mpdu::LONGEST;
/// A femtowatt in dBm.
const FEMTOWATT_DBM: f64 = -120.0;

/// A capture of everything that the radios of a run see. [`run_logged`](crate::run_logged) makes one.
pub struct AirLog {
    writer: PcapngWriter<Box<dyn Write + Send>>,
    timing: Timing,
    /// By [`crate::medium::RateSet::index`].
    rates: Vec<RateFields>,
    /// By flow.
    transports: Vec<Transport>,
    has_powers: bool,
    /// The first bytes of the frame that ends now.
    mpdu: Vec<u8>,
    /// Of packets that were written, to be filled again.
    spare: Vec<Vec<u8>>,
    /// What may still be preceded: packets by their time and interface.
    pending: VecDeque<Pending>,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
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
    /// The scenario counts fewer bytes than this for MAC header and FCS of a DATA frame, so that no 802.11 frame can be as long as
    /// its frames.
    NoRoomForHeader {
        /// What it counts.
        data_header: u32,
    },
    /// The capture cannot be written.
    Io(io::Error),
}

impl fmt::Display for AirLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AirLogError::NoRoomForHeader { data_header } => write!(
                f,
                "mac.override.data_header: {data_header} B leave no room for the header of an 802.11 frame in a capture; give at \
                 least {} B, or run without a capture",
                mpdu::DATA_HEADER + mpdu::FCS
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
        if data_header < mpdu::DATA_HEADER + mpdu::FCS {
            return Err(AirLogError::NoRoomForHeader { data_header });
        }
        let application = concat!("multihop ", env!("CARGO_PKG_VERSION"));
        let comment = format!(
            "simulated: {}, seed {}; packet times are those of a frame's last bit, TSFT that of the MPDU's first bit",
            config.name, config.seed
        );
        let mut writer = PcapngWriter::new(out, application, &comment)?;
        for node in &config.nodes {
            writer.interface(&node.name, LINK_TYPE, SNAP_LENGTH as u32)?;
        }
        let datagrams = |flow: &FlowConfig| {
            flow.app == AppConfig::External || !config.schemes[flow.scheme].scheme.reliable()
        };
        let timing = Timing::new(config);
        let transport = |flow| if datagrams(flow) { Transport::Udp } else { Transport::Tcp };
        Ok(AirLog {
            writer,
            rates: timing.rates().map(|rate| RateFields::new(&config.phy, rate)).collect(),
            timing,
            transports: config.flows.iter().map(transport).collect(),
            has_powers: match &config.medium.model {
                MediumModel::Sinr { .. } | MediumModel::Sensed { .. } => true,
                MediumModel::Matrix { quantity, .. } => matches!(quantity, MatrixQuantity::Rssi { .. }),
                // Its powers only compare signals with each other.
                MediumModel::Ranges { .. } => false,
            },
            mpdu: Vec::new(),
            spare: Vec::new(),
            pending: VecDeque::new(),
            failure: None,
        })
    }

    /// A frame ends at its listeners; [`AirLog::heard`] and [`AirLog::sent`] are about this one until the next.
    pub(crate) fn frame_ends(&mut self, frame: &Frame, packets: &Slab) {
        // All that is still to come ends at its own node no earlier than this.
        self.write_before(frame.end() - self.timing.propagation);
        let contents = frame.packet.map(|handle| {
            let flow = packets.get(handle).packet.flow;
            let transport = self.transports.get(flow.index()).copied().unwrap_or(Transport::Udp);
            Contents::of(packets, handle, frame.from, transport)
        });
        self.mpdu.clear();
        mpdu::put(&mut self.mpdu, frame, contents.as_ref());
        let length = (frame.bytes - mpdu::FCS) as usize;
        let kept = mpdu::kept(contents.as_ref());
        self.mpdu.resize(length.min(kept), 0);
        if length < kept {
            self.mpdu.extend(crc32fast::hash(&self.mpdu).to_le_bytes());
            self.mpdu.truncate(kept);
        }
    }

    /// A listener decoded the frame.
    pub(crate) fn heard(&mut self, frame: &Frame, link: &Link) {
        let dbm =
            |femtowatts: f64| (10.0 * femtowatts.log10() + FEMTOWATT_DBM).round().clamp(-128.0, 127.0) as i8;
        let dbm = self.has_powers.then(|| dbm(link.power));
        self.add(NodeId(link.to), frame, Span::ZERO, Seen::Received { dbm });
    }

    /// The frame's sender, whose antenna it left a propagation delay before it came to the listeners.
    pub(crate) fn sent(&mut self, frame: &Frame) {
        let with_rts =
            frame.kind == FrameKind::Data && frame.to.is_some() && self.timing.needs_rts(frame.bytes);
        let awaits = frame.to.is_some() && matches!(frame.kind, FrameKind::Rts | FrameKind::Data);
        let flags = if with_rts { radiotap::TX_WITH_RTS } else { 0 };
        let flags = flags | if awaits { 0 } else { radiotap::TX_WITHOUT_ACK };
        self.add(frame.from, frame, self.timing.propagation, Seen::Sent { flags });
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

    /// A packet of the present frame, which was at the node's antenna `earlier` than at the listeners.
    fn add(&mut self, node: NodeId, frame: &Frame, earlier: Span, seen: Seen) {
        let mpdu_starts = frame.air.start + frame.overhead - earlier;
        let at = frame.end() - earlier;
        let stamps = radiotap::Stamps {
            tsft_us: mpdu_starts.since(Time::ZERO).whole(Span::from_us(1)),
            end_ns: at.ns(),
        };
        let mut bytes = self.spare.pop().unwrap_or_default();
        radiotap::put(&mut bytes, stamps, self.rates[frame.rate_index()], seen);
        let length = bytes.len() as u32 + frame.bytes;
        bytes.extend_from_slice(&self.mpdu);
        let pending = Pending { at, interface: node.0, length, bytes };
        let key = |pending: &Pending| (pending.at, pending.interface);
        let place = self.pending.partition_point(|other| key(other) <= key(&pending));
        self.pending.insert(place, pending);
    }

    fn write_before(&mut self, settled: Time) {
        while self.pending.front().is_some_and(|packet| packet.at < settled) {
            let Pending { at, interface, length, mut bytes } =
                self.pending.pop_front().expect("it was there");
            if self.failure.is_some() {
                continue;
            }
            let written = self.writer.packet(interface, at.ns(), length, &bytes);
            bytes.clear();
            self.spare.push(bytes);
            self.failure = written.err();
        }
    }
}
