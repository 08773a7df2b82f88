//! What a receiving station wrote in front of a frame.

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

/// What the packets of an interface begin with (the registry of link types of tcpdump.org).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkType {
    /// 105: nothing, just the frame.
    Ieee80211,
    /// 119: Prism, with items of an identifier and a number each.
    Prism,
    /// 127: radiotap.
    Radiotap,
    /// 163: AVS, 64 bytes of big-endian numbers.
    Avs,
    /// 192: per-packet information.
    Ppi,
    /// Another one, of which frames of 802.11 cannot be read.
    Other(u16),
}

impl LinkType {
    /// By its number in files.
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

    /// Its number in files.
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

/// Why a packet has no frame that can be found.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum HeaderError {
    /// Packets of this kind carry no 802.11 headers.
    #[error(
        "link type {0} has no 802.11 headers; capture in monitor mode, with link type 127 (radiotap), 105, 119, 163 or 192, or what a remote sniffer sends as TZSP, PEEKREMOTE or Aruba ERM"
    )]
    LinkType(LinkType),
    /// The header is not all there.
    #[error(
        "the {header} header needs {needed} bytes, {found} were captured; a larger snap length would do, unless the header is damaged or another one"
    )]
    Cut {
        /// Which header.
        header: &'static str,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// A packet of a remote sniffer without a frame: it keeps a port open, or carries something else.
    #[error("the {header} packet carries {what}, and no frame of 802.11")]
    NoFrame {
        /// Which header.
        header: &'static str,
        /// What there is instead.
        what: &'static str,
    },
    /// The header contradicts its own definition.
    #[error("the {header} header says {what} {found}; {known} would do")]
    Value {
        /// Which header.
        header: &'static str,
        /// Of what.
        what: &'static str,
        /// The value found.
        found: u32,
        /// What is known.
        known: &'static str,
    },
}

/// What the receiving station knew of a frame; none where it did not say.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Reception {
    /// Clock of the station when the first bit of the frame arrived, in microseconds (TSFT). Some drivers
    /// take another bit.
    pub tsft_us: Option<u64>,
    /// Clock of the station at an instant of the frame that it names.
    pub timestamp: Option<Timestamp>,
    /// How the frame was modulated.
    pub encoding: Option<Encoding>,
    /// Preamble of a direct-sequence frame.
    pub preamble: Option<Preamble>,
    /// Channel.
    pub channel: Option<Channel>,
    /// Power of the signal at the antenna, in dBm.
    pub signal_dbm: Option<i8>,
    /// Power of the noise, in dBm.
    pub noise_dbm: Option<i8>,
    /// Number of the antenna.
    pub antenna: Option<u8>,
    /// Do the bytes of the frame end with its frame check sequence?
    pub fcs_present: Option<bool>,
    /// Did the frame fail the check of the receiver?
    pub bad_fcs: Option<bool>,
    /// The A-MPDU that the frame was part of.
    pub aggregate: Option<Aggregate>,
    /// Length in the legacy signal field of its preamble, which says how long the whole PPDU takes.
    pub legacy_length: Option<u16>,
    /// The frame was sent by this host, not received.
    pub sent: bool,
    /// The MAC header is followed by bytes, never sent, that pad it to a multiple of four.
    pub padded: bool,
    /// Whether the header that said this contradicts itself: fields before the contradiction stand, others
    /// may be missing. The frame behind it is found by the header's length, and need not be damaged.
    pub header_damaged: bool,
    /// Whether the PPDU carried no frame, as those that sound the channel.
    pub has_no_frame: bool,
    /// Bytes at the end of the frame that a remote sniffer cut off before it sent the frame on.
    pub cut_bytes: u32,
}

impl Reception {
    /// Reads what precedes the frame in a captured packet; returns it, and the bytes of the frame.
    ///
    /// # Errors
    /// If the frame cannot be found: the header is not all there, lies about its length, or is none of
    /// 802.11. A packet of Ethernet or IP is none, unless a remote sniffer sent a frame in it.
    pub fn parse(link_type: LinkType, packet: &[u8]) -> Result<(Reception, &[u8]), HeaderError> {
        match link_type {
            LinkType::Ieee80211 => Ok((Reception::default(), packet)),
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

/// Where a frame was received. Flags are those of the channel fields of radiotap.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Channel {
    /// Centre frequency (of the primary channel) in MHz.
    pub mhz: u16,
    /// Flags; zero where none are given.
    pub flags: u32,
}

impl Channel {
    /// At 2.4 GHz? By the frequency if there is one, otherwise by its flag.
    pub fn is_2_4_ghz(self) -> bool {
        if self.mhz == 0 { bit(self.flags, 7) } else { (2_300..2_500).contains(&self.mhz) }
    }

    /// 10 MHz wide.
    pub fn is_half(self) -> bool {
        bit(self.flags, 14)
    }

    /// 5 MHz wide.
    pub fn is_quarter(self) -> bool {
        bit(self.flags, 15)
    }

    /// Frequency hopping.
    pub fn is_gfsk(self) -> bool {
        bit(self.flags, 11)
    }

    /// Direct sequence and CCK only.
    pub fn is_cck(self) -> bool {
        bit(self.flags, 5)
    }

    /// Frequency of a channel by its number, as in the older headers: 1 to 14 lie at 2.4 GHz, others at 5 GHz
    /// (17.3.8.4.2, 18.4.6).
    fn numbered(number: u32) -> Option<Channel> {
        let mhz = match number {
            1..=13 => 2_407 + 5 * number,
            14 => 2_484,
            15..=200 => 5_000 + 5 * number,
            _ => return None,
        };
        Some(Channel { mhz: mhz as u16, flags: 0 })
    }
}

/// The time of a frame, with what it is the time of (the radiotap field of that name).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timestamp {
    /// In nanoseconds.
    pub ns: u64,
    /// How far it may be off, in nanoseconds: as the station says, and at least the unit that it counts.
    pub accuracy_ns: u32,
    /// Of which instant it is; none where the station does not know.
    pub position: Option<Position>,
}

/// An instant of a frame on the air.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Position {
    /// The signal was recognised, at the beginning of the preamble.
    Acquisition,
    /// The first bit of the MAC header.
    MpduStart,
    /// The last bit of the MAC frame.
    MpduEnd,
    /// The last bit of all that was sent.
    PpduEnd,
}

/// The A-MPDU that a frame was part of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Aggregate {
    /// The same for all frames of one A-MPDU, and different from that of the next.
    pub reference: u32,
    /// Is this its last frame?
    pub last: Option<bool>,
}

/// How a frame was modulated, as far as the receiver said.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// By its rate: direct sequence, CCK or OFDM.
    Legacy(Rate),
    /// High throughput (802.11n).
    Ht(HtEncoding),
    /// Very high throughput (802.11ac).
    Vht(VhtEncoding),
    /// High efficiency (802.11ax).
    He(HeEncoding),
    /// Extremely high throughput (802.11be), of which no more is read.
    Eht,
}

/// High throughput, as far as known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HtEncoding {
    /// Modulation and coding scheme.
    pub mcs: Option<u8>,
    /// 20 or 40 MHz.
    pub bandwidth: Option<Bandwidth>,
    /// Short guard intervals.
    pub short_gi: Option<bool>,
    /// Greenfield format, not mixed.
    pub greenfield: Option<bool>,
    /// Low-density parity check.
    pub ldpc: Option<bool>,
    /// Streams added by space-time block coding.
    pub stbc: Option<u8>,
    /// Extension spatial streams.
    pub extension_streams: Option<u8>,
}

/// Very high throughput, as far as known. Of a frame to several users, this is the first user.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct VhtEncoding {
    /// Modulation and coding scheme.
    pub mcs: Option<u8>,
    /// Spatial streams.
    pub streams: Option<u8>,
    /// 20 to 160 MHz.
    pub bandwidth: Option<Bandwidth>,
    /// Short guard intervals.
    pub short_gi: Option<bool>,
    /// Low-density parity check.
    pub ldpc: Option<bool>,
    /// A symbol more because of it.
    pub ldpc_extra_symbol: Option<bool>,
    /// Space-time block coding.
    pub stbc: Option<bool>,
    /// Users of the frame.
    pub users: u8,
}

/// Formats of high efficiency.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum HeFormat {
    /// To one user.
    #[default]
    SingleUser,
    /// To one user, with extended range.
    ExtendedRange,
    /// To several users.
    MultiUser,
    /// From one of several users, as a trigger frame asked for.
    TriggerBased,
}

/// High efficiency, as far as known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HeEncoding {
    /// Format.
    pub format: HeFormat,
    /// Modulation and coding scheme.
    pub mcs: Option<u8>,
    /// Space-time streams.
    pub streams: Option<u8>,
    /// Width, or the resource unit.
    pub bandwidth: Option<Bandwidth>,
    /// Guard interval, in nanoseconds.
    pub guard_ns: Option<u16>,
    /// Length of long training symbols without guard interval, in nanoseconds.
    pub training_ns: Option<u16>,
    /// Dual carrier modulation.
    pub dual_carrier: Option<bool>,
    /// Low-density parity check.
    pub ldpc: Option<bool>,
    /// Space-time block coding.
    pub stbc: Option<bool>,
}

/// Splits a header of `length` bytes from the frame behind it.
fn split<'p>(
    header: &'static str,
    packet: &'p [u8],
    length: usize,
) -> Result<(&'p [u8], &'p [u8]), HeaderError> {
    packet.split_at_checked(length).ok_or(HeaderError::Cut { header, needed: length, found: packet.len() })
}
