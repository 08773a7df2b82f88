//! The MAC header of a frame (9.2 and 9.3), and the readable part of its body.

mod check;
mod control;
mod network_name;
mod payload;

pub use check::Fcs;
pub use control::{BlockAck, BlockAckBitmap, Control};
pub use network_name::NetworkName;
pub use payload::{IpPacket, Payload, Ports, TransportHeader};

use crate::RxInfo;
use crate::bytes::{ByteOrder, array, bit, field};
use multihop_core::Span;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Subtypes of management frames (Table 9-1).
const PROBE_RESPONSE: u8 = 5;
const BEACON: u8 = 8;

/// Bytes of a frame check sequence.
const FCS_BYTES: usize = 4;

/// Reason why bytes are not a frame.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum FrameError {
    /// Fewer bytes than the MAC header needs.
    #[error("{what} needs {needed} bytes, {found} were captured")]
    Short {
        /// Structure that was read.
        what: &'static str,
        /// Number of bytes that the structure needs.
        needed: usize,
        /// Number of captured bytes.
        found: usize,
    },
    /// Protocol version other than 0.
    #[error("version {0} of the frame format; 0 would do: the frame is damaged or of another standard")]
    Version(u8),
}

/// Text that is not a MAC address.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("six bytes such as 02:00:00:00:00:01 would do")]
pub struct MacAddressError;

/// MAC address.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The broadcast address.
    pub const BROADCAST: MacAddress = MacAddress([0xff; 6]);

    /// Whether this is a group address, broadcast included.
    pub fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// Address without the group bit. In a transmitter address that bit only signals the bandwidth of the
    /// frame (9.2.4.3.8).
    fn individual(self) -> MacAddress {
        let mut bytes = self.0;
        bytes[0] &= !1;
        MacAddress(bytes)
    }
}

impl FromStr for MacAddress {
    type Err = MacAddressError;

    /// Parses six bytes in hexadecimal, separated by colons or hyphens.
    fn from_str(text: &str) -> Result<MacAddress, MacAddressError> {
        let mut bytes = [0; 6];
        let mut parts = text.trim().split([':', '-']);
        for byte in &mut bytes {
            let part = parts.next().filter(is_byte).ok_or(MacAddressError)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| MacAddressError)?;
        }
        if parts.next().is_some() { Err(MacAddressError) } else { Ok(MacAddress(bytes)) }
    }
}

fn is_byte(text: &&str) -> bool {
    text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02x}", if n == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Sequence control field: sequence number, up to 4095, and fragment number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SequenceControl {
    /// Sequence number, equal for all fragments and retransmissions of a frame.
    pub number: u16,
    /// Fragment number, from zero.
    pub fragment: u8,
}

/// Fields of a data frame.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DataHeader {
    /// Whether the frame has a QoS control field.
    pub qos: bool,
    /// Whether the frame carries no data (null frame), as for power save or keep-alive.
    pub null: bool,
    /// Traffic identifier in the QoS control field.
    pub tid: Option<u8>,
    /// Ack policy in the QoS control field (9.2.4.5.4). 0: ACK, or block acknowledgement in an A-MPDU; 1: no
    /// acknowledgement; 2: no explicit acknowledgement; 3: block acknowledgement on request.
    pub ack_policy: Option<u8>,
    /// Whether the body is an A-MSDU of several payloads.
    pub a_msdu: bool,
    /// Whether the frame has four addresses, as in a wireless distribution system or a mesh.
    pub four_addresses: bool,
}

/// Type of a frame, with the fields of that type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameType {
    /// Management frame: its subtype.
    Management(u8),
    /// Control frame.
    Control(Control),
    /// Data frame.
    Data(DataHeader),
    /// Extension frame: its subtype.
    Extension(u8),
    /// Unknown type: see [`Frame::unreadable`].
    Unknown,
}

/// MAC header of a frame, and the readable part of its body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame {
    /// Type of the frame.
    pub kind: FrameType,
    /// Type and subtype as one number, as in display filters: `16 * type + subtype`.
    pub type_subtype: u8,
    /// Retry flag: the frame is a retransmission.
    pub retry: bool,
    /// More-fragments flag.
    pub more_fragments: bool,
    /// Power-management flag: the sender enters power-save mode.
    pub power_save: bool,
    /// Protected-frame flag: the body is encrypted.
    pub protected: bool,
    /// To-DS flag: the frame goes to an access point.
    pub to_ds: bool,
    /// From-DS flag: the frame comes from an access point.
    pub from_ds: bool,
    /// Time after the end of the frame for which the medium is reserved; none if the field is an identifier.
    pub duration: Option<Span>,
    /// Receiver address.
    pub receiver: Option<MacAddress>,
    /// Transmitter address; none in a CTS or an ACK.
    pub transmitter: Option<MacAddress>,
    /// BSSID, if the frame carries one.
    pub bssid: Option<MacAddress>,
    /// Sequence control field.
    pub sequence: Option<SequenceControl>,
    /// Length of the MAC header in bytes.
    pub header_bytes: u32,
    /// Number of bytes on the air between MAC header and frame check sequence.
    pub body_bytes: u32,
    /// Number of bytes on the air, frame check sequence included.
    pub air_bytes: u32,
    /// State of the frame check sequence.
    pub fcs: Fcs,
    /// Whether the bytes contradicted the receiver's flag about the FCS, and took precedence.
    pub fcs_flag_is_wrong: bool,
    /// Payload, if it can be read.
    pub payload: Option<Payload>,
    /// Name of the network in a beacon or a probe response.
    pub network_name: Option<NetworkName>,
    /// Number of bytes of the packets in an A-MSDU, without LLC/SNAP headers; none if a length field was not
    /// captured.
    pub a_msdu_bytes: Option<u32>,
}

impl Frame {
    /// A frame of unknown contents, of which only the length on the air is known: it was damaged, or its
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
    /// `reception` tells whether a frame check sequence is present. Two observations take precedence: four
    /// last bytes that are a correct FCS are one, and a frame whose contents end with its last byte has none.
    /// An FCS of zeros was written by a simulator and proves nothing.
    ///
    /// # Errors
    /// If `bytes` end before the MAC header does, or have another protocol version.
    pub fn parse(bytes: &[u8], cut: u32, reception: &RxInfo) -> Result<Frame, FrameError> {
        let stripped = check::remove_fcs(bytes, cut, reception.fcs_present, reception.padded);
        let bytes = stripped.frame;
        let control = ByteOrder::Little.u16(bytes, 0);
        let (Some(control), Some(duration)) = (control, ByteOrder::Little.u16(bytes, 2)) else {
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
            // With the highest bit set, it is an association identifier or the fixed value of a
            // contention-free period (9.2.4.2).
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
        require_bytes("a management header", bytes, length)?;
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
        require_bytes("a data header", bytes, length)?;
        let control = ByteOrder::Little.u16(bytes, before_qos).filter(|_| qos);
        self.kind = FrameType::Data(DataHeader {
            qos,
            null: bit(subtype, 2),
            tid: control.map(|control| field(control, 0, 4)),
            ack_policy: control.map(|control| field(control, 5, 2)),
            a_msdu: control.is_some_and(|control| bit(control, 7)),
            four_addresses,
        });
        self.receiver = address(bytes, 4);
        self.transmitter = address(bytes, 10);
        // BSSID by the DS flags (table 9-26).
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

/// Length of the HT control field, which the `+HTC` bit announces.
const HT_CONTROL: usize = 4;

/// Number of bytes on the air, FCS included, of a frame that may be unreadable. Arguments as for
/// [`Frame::parse`]; padding after the header counts.
pub(crate) fn air_bytes(bytes: &[u8], cut: u32, reception: &RxInfo) -> u32 {
    let stripped = check::remove_fcs(bytes, cut, reception.fcs_present, reception.padded);
    (stripped.frame.len() as u32).saturating_add(stripped.cut).saturating_add(FCS_BYTES as u32)
}

fn require_bytes(what: &'static str, bytes: &[u8], needed: usize) -> Result<(), FrameError> {
    if bytes.len() < needed { Err(FrameError::Short { what, needed, found: bytes.len() }) } else { Ok(()) }
}

fn address(bytes: &[u8], at: usize) -> Option<MacAddress> {
    array(bytes, at).map(MacAddress)
}

fn sequence(bytes: &[u8], at: usize) -> Option<SequenceControl> {
    let control = ByteOrder::Little.u16(bytes, at)?;
    Some(SequenceControl { number: control >> 4, fragment: field(control, 0, 4) })
}

#[cfg(test)]
mod tests;
