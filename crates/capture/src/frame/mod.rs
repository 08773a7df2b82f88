//! The MAC header of a frame (9.2 and 9.3), and what can be read behind it.

mod check;
mod control;
mod network_name;
mod payload;

pub use check::Fcs;
pub use control::{Bitmap, BlockAck, Control};
pub use network_name::NetworkName;
pub use payload::{Network, Payload, Ports, Transport};

use crate::Reception;
use crate::bytes::{Order, array, bit, field};
use multihop_core::Span;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Subtypes of management frames (Table 9-1).
const PROBE_RESPONSE: u8 = 5;
const BEACON: u8 = 8;

/// Bytes of a frame check sequence.
const FCS_BYTES: usize = 4;

/// Why bytes are no frame.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum FrameError {
    /// Fewer bytes than the header of such a frame has.
    #[error("{what} needs {needed} bytes, {found} were captured")]
    Short {
        /// What was being read.
        what: &'static str,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// A protocol version that is not 0.
    #[error("version {0} of the frame format; 0 would do: the frame is damaged or of another standard")]
    Version(u8),
}

/// Text that is no MAC address.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("six bytes such as 02:00:00:00:00:01 would do")]
pub struct AddressError;

/// A MAC address.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub struct Address(pub [u8; 6]);

impl Address {
    /// To all stations.
    pub const BROADCAST: Address = Address([0xff; 6]);

    /// Of a group of stations, all of them included.
    pub fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// The same without the group bit, which in a transmitter address only says that the frame signals its
    /// bandwidth (9.2.4.3.8).
    fn individual(self) -> Address {
        let mut bytes = self.0;
        bytes[0] &= !1;
        Address(bytes)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    /// Six bytes in hexadecimal with colons or hyphens between them.
    fn from_str(text: &str) -> Result<Address, AddressError> {
        let mut bytes = [0; 6];
        let mut parts = text.trim().split([':', '-']);
        for byte in &mut bytes {
            let part = parts.next().filter(is_byte).ok_or(AddressError)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| AddressError)?;
        }
        if parts.next().is_some() { Err(AddressError) } else { Ok(Address(bytes)) }
    }
}

fn is_byte(text: &&str) -> bool {
    text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02x}", if n == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A sequence number, which counts to 4095, and the number of a fragment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sequence {
    /// The same for all fragments and tries of a frame.
    pub number: u16,
    /// From zero.
    pub fragment: u8,
}

/// What is particular to a data frame.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Data {
    /// It has a quality-of-service field.
    pub qos: bool,
    /// It carries no data: its sender signals that it sleeps, or keeps the connection.
    pub null: bool,
    /// Traffic identifier, in that field.
    pub tid: Option<u8>,
    /// How the receiver is to answer, in that field: 0 by an ACK, or a block acknowledgement in an A-MPDU; 1
    /// not; 2 not by itself; 3 when asked for a block acknowledgement (9.2.4.5.4).
    pub ack_policy: Option<u8>,
    /// Its body is an A-MSDU, of several payloads.
    pub a_msdu: bool,
    /// It has four addresses, as between the stations of a wireless distribution system or a mesh.
    pub four_addresses: bool,
}

/// Type of a frame, with what is particular to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameType {
    /// Management: its subtype.
    Management(u8),
    /// Control.
    Control(Control),
    /// Data.
    Data(Data),
    /// Extension: its subtype.
    Extension(u8),
    /// Unknown: see [`Frame::unreadable`].
    Unknown,
}

/// A frame's MAC header, and what can be read of its body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame {
    /// What it is.
    pub kind: FrameType,
    /// Type and subtype as one number, as display filters use it: `16 * type + subtype`.
    pub type_subtype: u8,
    /// It was sent before.
    pub retry: bool,
    /// More fragments of it follow.
    pub more_fragments: bool,
    /// Its sender will sleep.
    pub power_save: bool,
    /// Its body is encrypted.
    pub protected: bool,
    /// It goes to an access point.
    pub to_ds: bool,
    /// It comes from an access point.
    pub from_ds: bool,
    /// For how long after its end the medium is reserved; none where the field is an identifier instead.
    pub duration: Option<Span>,
    /// Whom it is for.
    pub receiver: Option<Address>,
    /// Transmitter address; not in a CTS or an ACK.
    pub transmitter: Option<Address>,
    /// The basic service set, where the frame names it.
    pub bssid: Option<Address>,
    /// Its sequence number.
    pub sequence: Option<Sequence>,
    /// Bytes of the MAC header.
    pub header_bytes: u32,
    /// Bytes between header and frame check sequence, on the air.
    pub body_bytes: u32,
    /// Bytes on the air, frame check sequence included.
    pub air_bytes: u32,
    /// Its frame check sequence.
    pub fcs: Fcs,
    /// Whether its bytes contradict what the receiver said of its frame check sequence, and went before.
    pub fcs_flag_is_wrong: bool,
    /// What the body carries, if it can be read.
    pub payload: Option<Payload>,
    /// Name of the network that a beacon or a probe response announces.
    pub network_name: Option<NetworkName>,
    /// Bytes of the packets in an A-MSDU, without their LLC/SNAP headers; none if the length of one of them
    /// was not captured.
    pub a_msdu_bytes: Option<u32>,
}

impl Frame {
    /// A frame of which nothing is known but that it was there, and how long: it arrived damaged, or its
    /// header cannot be read.
    pub fn unreadable(air_bytes: u32) -> Frame {
        Frame {
            kind: FrameType::Unknown,
            type_subtype: u8::MAX,
            retry: false,
            more_fragments: false,
            power_save: false,
            protected: false,
            to_ds: false,
            from_ds: false,
            duration: None,
            receiver: None,
            transmitter: None,
            bssid: None,
            sequence: None,
            header_bytes: 0,
            body_bytes: 0,
            air_bytes,
            fcs: Fcs::Wrong,
            fcs_flag_is_wrong: false,
            payload: None,
            network_name: None,
            a_msdu_bytes: None,
        }
    }

    /// Reads a frame from `bytes`, of which `cut` more were not captured.
    ///
    /// `reception` says whether there is a frame check sequence at the end. There is one, whatever it says,
    /// if the last four bytes are right as such, and none if the frame's contents end with its last byte. A
    /// frame check sequence that is announced but is all zero was made up by a simulator and says nothing.
    ///
    /// # Errors
    /// If `bytes` end before the MAC header does, or are of another format.
    pub fn parse(bytes: &[u8], cut: u32, reception: &Reception) -> Result<Frame, FrameError> {
        let stripped = check::strip(bytes, cut, reception.fcs_present, reception.padded);
        let bytes = stripped.frame;
        let control = Order::Little.u16(bytes, 0);
        let (Some(control), Some(duration)) = (control, Order::Little.u16(bytes, 2)) else {
            return Err(FrameError::Short { what: "a MAC header", needed: 4, found: bytes.len() });
        };
        let version = field(control, 0, 2);
        if version != 0 {
            return Err(FrameError::Version(version));
        }
        let (kind, subtype) = (field(control, 2, 2), field(control, 4, 4));
        let mut frame = Frame {
            kind: FrameType::Extension(subtype),
            type_subtype: 16 * kind + subtype,
            retry: bit(control, 11),
            more_fragments: bit(control, 10),
            power_save: bit(control, 12),
            protected: bit(control, 14),
            to_ds: bit(control, 8),
            from_ds: bit(control, 9),
            // With the highest bit it is an association identifier, or the fixed value of a contention-free period (9.2.4.2).
            duration: (!bit(duration, 15)).then(|| Span::from_us(duration.into())),
            header_bytes: 4,
            fcs: stripped.fcs,
            fcs_flag_is_wrong: stripped.flag_is_wrong,
            ..Frame::unreadable(0)
        };
        match kind {
            0 => frame.management(bytes, subtype, bit(control, 15))?,
            1 => frame.control(bytes, subtype)?,
            2 => frame.data(bytes, subtype, control)?,
            _ => {}
        }
        let padding = stripped.padding as u32;
        let present = (bytes.len() as u32).saturating_add(stripped.cut);
        frame.body_bytes = present.saturating_sub(frame.header_bytes + padding);
        frame.air_bytes =
            frame.header_bytes.saturating_add(frame.body_bytes).saturating_add(FCS_BYTES as u32);
        if let FrameType::Data(data) = frame.kind {
            let body = bytes.get((frame.header_bytes + padding) as usize..).unwrap_or_default();
            frame.payload = payload::read(body, &frame, data);
            if data.a_msdu && !frame.protected {
                frame.a_msdu_bytes = payload::a_msdu_bytes(body, frame.body_bytes);
            }
        }
        Ok(frame)
    }

    fn management(&mut self, bytes: &[u8], subtype: u8, htc: bool) -> Result<(), FrameError> {
        const FIXED: usize = 24;
        let length = if htc { FIXED + HT_CONTROL } else { FIXED };
        need("a management header", bytes, length)?;
        self.kind = FrameType::Management(subtype);
        self.receiver = address(bytes, 4);
        self.transmitter = address(bytes, 10);
        self.bssid = address(bytes, 16);
        self.sequence = sequence(bytes, 22);
        self.header_bytes = length as u32;
        if matches!(subtype, PROBE_RESPONSE | BEACON) && !self.protected {
            self.network_name = bytes.get(length..).and_then(network_name::read);
        }
        Ok(())
    }

    fn data(&mut self, bytes: &[u8], subtype: u8, control: u16) -> Result<(), FrameError> {
        let four_addresses = self.to_ds && self.from_ds;
        let qos = bit(subtype, 3);
        let before_qos = if four_addresses { 30 } else { 24 };
        let length = check::data_header_length(control);
        need("a data header", bytes, length)?;
        let control = Order::Little.u16(bytes, before_qos).filter(|_| qos);
        self.kind = FrameType::Data(Data {
            qos,
            null: bit(subtype, 2),
            tid: control.map(|control| field(control, 0, 4)),
            ack_policy: control.map(|control| field(control, 5, 2)),
            a_msdu: control.is_some_and(|control| bit(control, 7)),
            four_addresses,
        });
        self.receiver = address(bytes, 4);
        self.transmitter = address(bytes, 10);
        // Table 9-26.
        self.bssid = match (self.to_ds, self.from_ds) {
            (false, false) => address(bytes, 16),
            (false, true) => self.transmitter,
            (true, false) => self.receiver,
            (true, true) => None,
        };
        self.sequence = sequence(bytes, 22);
        self.header_bytes = length as u32;
        Ok(())
    }
}

/// Bytes of the HT control field, which the bit `+HTC` announces.
const HT_CONTROL: usize = 4;

/// Bytes on the air, frame check sequence included, of a frame that need not be readable. As for
/// [`Frame::parse`]; padding behind its header counts.
pub(crate) fn air_bytes(bytes: &[u8], cut: u32, reception: &Reception) -> u32 {
    let stripped = check::strip(bytes, cut, reception.fcs_present, reception.padded);
    (stripped.frame.len() as u32).saturating_add(stripped.cut).saturating_add(FCS_BYTES as u32)
}

fn need(what: &'static str, bytes: &[u8], needed: usize) -> Result<(), FrameError> {
    if bytes.len() < needed { Err(FrameError::Short { what, needed, found: bytes.len() }) } else { Ok(()) }
}

fn address(bytes: &[u8], at: usize) -> Option<Address> {
    array(bytes, at).map(Address)
}

fn sequence(bytes: &[u8], at: usize) -> Option<Sequence> {
    let control = Order::Little.u16(bytes, at)?;
    Some(Sequence { number: control >> 4, fragment: field(control, 0, 4) })
}

#[cfg(test)]
mod tests;
