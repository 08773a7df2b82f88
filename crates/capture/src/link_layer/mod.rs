//! Link-layer headers: what a receiver reports of a frame.

mod avs;
mod peek;
mod ppi;
mod prism;
pub mod radiotap;
mod remote;

use crate::bytes::bit;
use multihop_core::Rate;
use multihop_dot11::{Bandwidth, Preamble};
use std::fmt;
use thiserror::Error;

/// Format of the header that precedes each frame (registry of link types of tcpdump.org).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkType {
    /// 105: no header.
    Ieee80211,
    /// 119: Prism, a list of items with an identifier and a number each.
    Prism,
    /// 127: radiotap.
    Radiotap,
    /// 163: AVS, 64 bytes of big-endian numbers.
    Avs,
    /// 192: per-packet information.
    Ppi,
    /// Other link type, without readable 802.11 frames.
    Other(u16),
}

impl LinkType {
    /// Link type of a number in files.
    pub fn from_number(number: u16) -> LinkType {
        match number {
            105 => LinkType::Ieee80211,
            119 => LinkType::Prism,
            127 => LinkType::Radiotap,
            163 => LinkType::Avs,
            192 => LinkType::Ppi,
            other => LinkType::Other(other),
        }
    }

    /// Number of the link type in files.
    pub fn number(self) -> u16 {
        match self {
            LinkType::Ieee80211 => 105,
            LinkType::Prism => 119,
            LinkType::Radiotap => 127,
            LinkType::Avs => 163,
            LinkType::Ppi => 192,
            LinkType::Other(number) => number,
        }
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            LinkType::Ieee80211 => "802.11",
            LinkType::Prism => "Prism",
            LinkType::Radiotap => "radiotap",
            LinkType::Avs => "AVS",
            LinkType::Ppi => "PPI",
            LinkType::Other(1) => "Ethernet",
            LinkType::Other(113 | 276) => "Linux cooked capture",
            LinkType::Other(_) => "unknown",
        };
        write!(f, "{} ({name})", self.number())
    }
}

/// Reason why a packet has no readable frame.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum HeaderError {
    /// The link type carries no 802.11 headers.
    #[error(
        "link type {0} has no 802.11 headers; capture in monitor mode, with link type 127 (radiotap), 105, 119, 163 or 192, or as TZSP, PEEKREMOTE or Aruba ERM of a remote sniffer"
    )]
    LinkType(LinkType),
    /// The header is incomplete.
    #[error(
        "the {header} header needs {needed} bytes, {found} were captured; a larger snap length would do, unless the header is damaged or of another type"
    )]
    Cut {
        /// Name of the header.
        header: &'static str,
        /// Number of bytes that the header needs.
        needed: usize,
        /// Number of captured bytes.
        found: usize,
    },
    /// Packet of a remote sniffer without a frame, such as a keep-alive.
    #[error("the {header} packet carries {what} and no 802.11 frame")]
    NoFrame {
        /// Name of the header.
        header: &'static str,
        /// Content of the packet.
        what: &'static str,
    },
    /// Header field with an undefined value.
    #[error("the {header} header says {what} {found}; {known} would do")]
    Value {
        /// Name of the header.
        header: &'static str,
        /// Name of the field.
        what: &'static str,
        /// Value of the field.
        found: u32,
        /// Supported values.
        known: &'static str,
    },
}

/// Data that the receiver reported with a frame; none where it did not report.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RxInfo {
    /// Clock of the receiver when the first bit of the frame arrived, in microseconds (TSFT). Some drivers
    /// use another bit.
    pub tsft_us: Option<u64>,
    /// Clock of the receiver at a stated instant of the frame.
    pub timestamp: Option<Timestamp>,
    /// Modulation of the frame.
    pub encoding: Option<Encoding>,
    /// Preamble of a direct-sequence frame.
    pub preamble: Option<Preamble>,
    /// Channel of the frame.
    pub channel: Option<RadioChannel>,
    /// Signal power at the antenna, in dBm.
    pub signal_dbm: Option<i8>,
    /// Noise power, in dBm.
    pub noise_dbm: Option<i8>,
    /// Index of the antenna.
    pub antenna: Option<u8>,
    /// Whether the bytes of the frame end with its frame check sequence.
    pub fcs_present: Option<bool>,
    /// Whether the frame failed the receiver's FCS check.
    pub bad_fcs: Option<bool>,
    /// A-MPDU that the frame was part of.
    pub aggregate: Option<AmpduStatus>,
    /// Length in the legacy signal field, which gives the airtime of the whole PPDU.
    pub legacy_length: Option<u16>,
    /// Whether this host sent the frame instead of receiving it.
    pub sent: bool,
    /// Whether the MAC header is followed by padding to a multiple of four bytes, which was not sent.
    pub padded: bool,
    /// Whether the header contradicts itself. Fields before the contradiction are valid, others may be
    /// missing. The frame is found by the length of the header and may be intact.
    pub header_damaged: bool,
    /// Whether the PPDU carried no frame, as in channel sounding.
    pub has_no_frame: bool,
    /// Number of bytes at the end of the frame that a remote sniffer cut off before forwarding it.
    pub cut_bytes: u32,
}

impl RxInfo {
    /// Reads the link-layer header of a captured packet. Returns its data, and the bytes of the frame.
    ///
    /// # Errors
    /// If the frame cannot be found: the header is incomplete, has a wrong length, or is not one of 802.11.
    /// Packets of Ethernet and IP are only read if a remote sniffer sent a frame in them.
    pub fn parse(link_type: LinkType, packet: &[u8]) -> Result<(RxInfo, &[u8]), HeaderError> {
        match link_type {
            LinkType::Ieee80211 => Ok((RxInfo::default(), packet)),
            LinkType::Radiotap => radiotap::parse(packet),
            LinkType::Prism => prism::parse(packet),
            LinkType::Avs => avs::parse(packet),
            LinkType::Ppi => ppi::parse(packet),
            LinkType::Other(number) => {
                let payload = remote::datagram(number, packet).ok_or(HeaderError::LinkType(link_type))?;
                payload.parse().unwrap_or(Err(HeaderError::LinkType(link_type)))
            }
        }
    }
}

/// Channel on which a frame was received. Flags are those of the channel fields of radiotap.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RadioChannel {
    /// Centre frequency of the (primary) channel in MHz.
    pub mhz: u16,
    /// Flags; zero if none are reported.
    pub flags: u32,
}

impl RadioChannel {
    /// Whether the channel is at 2.4 GHz, by its frequency or else by its flag.
    pub fn is_2_4_ghz(self) -> bool {
        if self.mhz == 0 { bit(self.flags, 7) } else { (2_300..2_500).contains(&self.mhz) }
    }

    /// Whether the channel is 10 MHz wide.
    pub fn is_half(self) -> bool {
        bit(self.flags, 14)
    }

    /// Whether the channel is 5 MHz wide.
    pub fn is_quarter(self) -> bool {
        bit(self.flags, 15)
    }

    /// Whether the channel uses frequency hopping.
    pub fn is_gfsk(self) -> bool {
        bit(self.flags, 11)
    }

    /// Whether the channel uses direct sequence and CCK only.
    pub fn is_cck(self) -> bool {
        bit(self.flags, 5)
    }

    /// Channel with this number, as in older headers: 1 to 14 are at 2.4 GHz, others at 5 GHz (17.3.8.4.2,
    /// 18.4.6).
    fn numbered(number: u32) -> Option<RadioChannel> {
        let mhz = match number {
            1..=13 => 2_407 + 5 * number,
            14 => 2_484,
            15..=200 => 5_000 + 5 * number,
            _ => return None,
        };
        Some(RadioChannel { mhz: mhz as u16, flags: 0 })
    }
}

/// Timestamp of a frame, with the instant that it refers to (radiotap's timestamp field).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timestamp {
    /// Time in nanoseconds.
    pub ns: u64,
    /// Accuracy in nanoseconds, as the receiver reports it; at least one unit of its clock.
    pub accuracy_ns: u32,
    /// Instant of the frame that the time refers to; none if unknown.
    pub position: Option<TimestampInstant>,
}

/// Instant of a frame on the air.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TimestampInstant {
    /// Detection of the signal, at the beginning of the preamble.
    Acquisition,
    /// First bit of the MAC header.
    MpduStart,
    /// Last bit of the MAC frame.
    MpduEnd,
    /// Last bit of the PPDU.
    PpduEnd,
}

/// A-MPDU that a frame was part of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AmpduStatus {
    /// Reference number, equal for all frames of an A-MPDU and different for the next A-MPDU.
    pub reference: u32,
    /// Whether this is the last frame of the A-MPDU.
    pub last: Option<bool>,
}

/// Modulation of a frame, as far as the receiver reported it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// Bit rate of direct sequence, CCK or OFDM.
    Legacy(Rate),
    /// High throughput (802.11n).
    Ht(HtEncoding),
    /// Very high throughput (802.11ac).
    Vht(VhtEncoding),
    /// High efficiency (802.11ax).
    He(HeEncoding),
    /// Extremely high throughput (802.11be), of which no details are read.
    Eht,
}

/// Parameters of an HT PPDU, as far as reported.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HtEncoding {
    /// Modulation and coding scheme.
    pub mcs: Option<u8>,
    /// 20 or 40 MHz.
    pub bandwidth: Option<Bandwidth>,
    /// Whether guard intervals are short.
    pub short_gi: Option<bool>,
    /// Greenfield format instead of mixed format.
    pub greenfield: Option<bool>,
    /// Low-density parity check coding.
    pub ldpc: Option<bool>,
    /// Number of streams added by space-time block coding.
    pub stbc: Option<u8>,
    /// Number of extension spatial streams.
    pub extension_streams: Option<u8>,
}

/// Parameters of a VHT PPDU, as far as reported; for a multi-user PPDU, those of its first user.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct VhtEncoding {
    /// Modulation and coding scheme.
    pub mcs: Option<u8>,
    /// Number of spatial streams.
    pub streams: Option<u8>,
    /// 20 to 160 MHz.
    pub bandwidth: Option<Bandwidth>,
    /// Whether guard intervals are short.
    pub short_gi: Option<bool>,
    /// Low-density parity check coding.
    pub ldpc: Option<bool>,
    /// Extra symbol of LDPC.
    pub ldpc_extra_symbol: Option<bool>,
    /// Space-time block coding.
    pub stbc: Option<bool>,
    /// Number of users of the PPDU.
    pub users: u8,
}

/// Formats of HE PPDUs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum HeFormat {
    /// Single user.
    #[default]
    SingleUser,
    /// Single user with extended range.
    ExtendedRange,
    /// Multi-user, downlink.
    MultiUser,
    /// Trigger-based, uplink: one of several users that a trigger frame solicits.
    TriggerBased,
}

/// Parameters of an HE PPDU, as far as reported.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HeEncoding {
    /// Format of the PPDU.
    pub format: HeFormat,
    /// Modulation and coding scheme.
    pub mcs: Option<u8>,
    /// Number of space-time streams.
    pub streams: Option<u8>,
    /// Width of the channel, or the resource unit.
    pub bandwidth: Option<Bandwidth>,
    /// Guard interval, in nanoseconds.
    pub guard_ns: Option<u16>,
    /// Length of long training symbols without guard interval, in nanoseconds.
    pub training_ns: Option<u16>,
    /// Dual carrier modulation.
    pub dual_carrier: Option<bool>,
    /// Low-density parity check coding.
    pub ldpc: Option<bool>,
    /// Space-time block coding.
    pub stbc: Option<bool>,
}

/// Splits a header of `length` bytes from the frame after it.
fn split_header<'p>(
    header: &'static str,
    packet: &'p [u8],
    length: usize,
) -> Result<(&'p [u8], &'p [u8]), HeaderError> {
    packet.split_at_checked(length).ok_or(HeaderError::Cut { header, needed: length, found: packet.len() })
}
