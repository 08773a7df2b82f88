//! Headers and messages as bytes. A scheme owns the layout of its congestion header, and a routing protocol
//! the layouts of its messages. No other code interprets them.

mod field;

pub use field::{Bits, Field};

/// Congestion header of a segment: empty, or bytes of which the first identifies the layout.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct HeaderBytes {
    bytes: [u8; HeaderBytes::CAPACITY],
    len: u8,
    air: u8,
}

/// Congestion header or other fixed sequence of fields. [`header!`](crate::header!) implements it from a
/// table of the fields.
pub trait Header: Sized {
    /// Names, type and fields, for dissectors.
    const LAYOUT: Layout;
    /// Length of the header in bytes.
    const LEN: usize = Self::LAYOUT.len;

    /// Writes the header into [`Header::LEN`] bytes of zeros.
    fn emit(&self, bytes: &mut [u8]);

    /// Parses the header; none if the bytes have another length or type.
    fn parse(bytes: &[u8]) -> Option<Self>;
}

/// Entry of a list of header kinds: the layout, and a parser.
#[derive(Clone, Copy, Debug)]
pub struct HeaderFormat {
    /// Layout of the header.
    pub layout: Layout,
    /// Parses a header and emits it again; none if the bytes have another length or type.
    pub reemit: fn(&[u8]) -> Option<Vec<u8>>,
}

impl HeaderFormat {
    /// Entry of this header type.
    pub const fn of<H: Header>() -> HeaderFormat {
        HeaderFormat { layout: H::LAYOUT, reemit: reemit::<H> }
    }
}

fn reemit<H: Header>(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut again = vec![0; H::LEN];
    H::parse(bytes)?.emit(&mut again);
    Some(again)
}

/// Layout of a header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Layout {
    /// Prefix of the field names: `xcp`, as in `multihop.xcp.delta`.
    pub name: &'static str,
    /// Description of the header in one line.
    pub title: &'static str,
    /// Type of a congestion header, in its first byte. Other headers have no type, or a field for it. Types
    /// from [`Layout::FREE`] on are for schemes outside this repository.
    pub kind: Option<u8>,
    /// Bytes on the air, before the words that the first byte counts. What follows is known to simulated ends
    /// alone: ns-2 shares some numbers at no cost in bytes, and some papers use bits that are there anyway.
    pub air: usize,
    /// Bytes of the whole header.
    pub len: usize,
    /// Fields of the header.
    pub fields: &'static [FieldLayout],
}

/// Field of a header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FieldLayout {
    /// Name of the field in Wireshark filters, behind the header's prefix.
    pub name: &'static str,
    /// Offset of the field's first byte.
    pub from: usize,
    /// Offset of the first byte behind the field.
    pub to: usize,
    /// Type of the field.
    pub kind: FieldKind,
    /// Unit of the number; empty for a number without one.
    pub unit: &'static str,
    /// Meaning of the field.
    pub meaning: &'static str,
}

/// Type of a field. Numbers are in network byte order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FieldKind {
    /// Unsigned number.
    Unsigned,
    /// Signed number in two's complement.
    Signed,
    /// One bit of a byte, counted from the least significant.
    Flag(u8),
    /// Unsigned number in several bits of one or two bytes: first bit, counted from the least significant,
    /// and number of bits.
    Bits(u8, u8),
    /// Node, as an IPv4 address.
    Address,
    /// Bytes.
    Opaque,
}

/// Protocol that carries a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Carrier {
    /// IP with this protocol number.
    Ip(u8),
    /// UDP with this source and destination port.
    Udp(u16),
}

impl FieldKind {
    /// Type of the field, moved to this bit.
    #[must_use]
    pub const fn at(self, bit: u8) -> FieldKind {
        match self {
            FieldKind::Flag(_) => FieldKind::Flag(bit),
            FieldKind::Bits(_, width) => FieldKind::Bits(bit, width),
            other => other,
        }
    }
}

impl Layout {
    /// First type that no scheme of this repository uses.
    pub const FREE: u8 = 16;
    /// IP protocols of a congestion header, "use for experimentation and testing" (RFC 3692), each with the
    /// protocol of the transport behind it: TCP and UDP.
    pub const PROTOCOLS: [(u8, u8); 2] = [(253, 6), (254, 17)];
    /// Mask of the first byte's bits that hold the type; the other bits count 32-bit words beyond
    /// [`Layout::air`].
    pub const KIND_BITS: u8 = 0x1f;
}

impl HeaderBytes {
    /// Length in bytes of the longest header.
    pub const CAPACITY: usize = 30;
    /// Empty header.
    pub const NONE: HeaderBytes = HeaderBytes { bytes: [0; HeaderBytes::CAPACITY], len: 0, air: 0 };

    /// Encodes a header.
    #[inline]
    pub fn of<H: Header>(header: &H) -> HeaderBytes {
        const { assert!(H::LEN > 0 && H::LEN <= HeaderBytes::CAPACITY && H::LAYOUT.air <= H::LEN) };
        let mut made = HeaderBytes { len: H::LEN as u8, ..HeaderBytes::NONE };
        header.emit(&mut made.bytes[..H::LEN]);
        let words = made.bytes[0] >> Layout::KIND_BITS.count_ones();
        made.air = (H::LAYOUT.air as u8 + 4 * words).min(made.len);
        made
    }

    /// Creates a header from its bytes and the number of bytes on the air; none if there are too many bytes.
    pub fn from_bytes(given: &[u8], air: usize) -> Option<HeaderBytes> {
        let mut made = HeaderBytes { len: given.len() as u8, air: air as u8, ..HeaderBytes::NONE };
        made.bytes.get_mut(..given.len())?.copy_from_slice(given);
        (air <= given.len()).then_some(made)
    }

    /// Parses the header; none if it has another type.
    #[inline]
    pub fn parse<H: Header>(&self) -> Option<H> {
        H::parse(self.as_slice())
    }

    /// Changes the header if it has this type.
    #[inline]
    pub fn change<H: Header>(&mut self, change: impl FnOnce(&mut H)) {
        if let Some(mut header) = self.parse::<H>() {
            change(&mut header);
            *self = HeaderBytes::of(&header);
        }
    }

    /// Whether there is no header.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.len == 0
    }

    /// Number of bytes on the air.
    pub fn on_air(&self) -> &[u8] {
        &self.bytes[..usize::from(self.air)]
    }

    /// Bytes of the header; empty without a header.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl Default for HeaderBytes {
    fn default() -> HeaderBytes {
        HeaderBytes::NONE
    }
}

impl std::fmt::Debug for HeaderBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02x?}", self.as_slice())
    }
}

/// A congestion header from the table of its fields: a struct with public fields, and its [`Header`].
///
/// After the name come the type, and the bytes on the air of those of the whole header. Byte 0 is the type,
/// and in bits 5 to 7 the number of 32-bit words beyond the bytes on the air, 0 for most. Each field says its
/// place, `[from..to]` and for part of a byte the bit, and its unit; its doc comment is what dissectors and
/// the reference say of it.
///
/// What is no congestion header, such as a message of a routing protocol, has `= AIR of LEN` after its name,
/// and no byte that is not in the table. A byte that is in no field is zero.
///
/// ```
/// use multihop_core::{HeaderBytes, header};
///
/// header! {
///     /// What a router advertises.
///     pub struct Advice: "advice", 16, 8 of 8 {
///         /// Rate that the router offers.
///         rate: u32 [4..8] "B/s",
///         /// It is on an acknowledgement.
///         returned: bool [1..2, bit 0] "",
///     }
/// }
///
/// let advice = Advice { rate: 125_000, returned: true };
/// let bytes = HeaderBytes::of(&advice);
/// assert_eq!(bytes.as_slice(), [16, 1, 0, 0, 0, 1, 0xe8, 0x48]);
/// assert_eq!(bytes.parse(), Some(advice));
/// ```
#[macro_export]
macro_rules! header {
    (
        $(#[doc = $title:literal])+
        $vis:vis struct $name:ident: $tag:literal, $kind:literal, $air:literal of $len:literal { $($fields:tt)+ }
    ) => {
        $crate::header! { @make [$($title)+] [Some($kind)] [$vis] $name $tag $air $len $($fields)+ }
    };
    (
        $(#[doc = $title:literal])+
        $vis:vis struct $name:ident: $tag:literal = $air:literal of $len:literal { $($fields:tt)+ }
    ) => {
        $crate::header! { @make [$($title)+] [None] [$vis] $name $tag $air $len $($fields)+ }
    };
    (
        @make [$($title:literal)+] [$kind:expr] [$vis:vis] $name:ident $tag:literal $air:literal $len:literal
        $(
            $(#[doc = $meaning:literal])+
            $field:ident: $type:ty [$from:literal..$to:literal $(, bit $bit:literal)?] $unit:literal
        ),+ $(,)?
    ) => {
        $(#[doc = $title])+
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        $vis struct $name {
            $(
                $(#[doc = $meaning])+
                pub $field: $type,
            )+
        }

        impl $crate::Header for $name {
            const LAYOUT: $crate::Layout = $crate::Layout {
                name: $tag,
                title: concat!($($title),+),
                kind: $kind,
                air: $air,
                len: $len,
                fields: &[$($crate::FieldLayout {
                    name: stringify!($field),
                    from: $from,
                    to: $to,
                    kind: <$type as $crate::Field>::KIND $(.at($bit))?,
                    unit: $unit,
                    meaning: concat!($($meaning),+),
                }),+],
            };

            #[inline]
            fn emit(&self, bytes: &mut [u8]) {
                if let Some(kind) = Self::LAYOUT.kind {
                    bytes[0] = kind;
                }
                $($crate::Field::put(&self.$field, &mut bytes[$from..$to], 0 $(+ $bit)?);)+
            }

            #[inline]
            fn parse(bytes: &[u8]) -> Option<Self> {
                let bytes: &[u8; $len] = bytes.try_into().ok()?;
                if Self::LAYOUT.kind.is_some_and(|kind| bytes[0] & $crate::Layout::KIND_BITS != kind) {
                    return None;
                }
                Some($name { $($field: $crate::Field::get(&bytes[$from..$to], 0 $(+ $bit)?),)+ })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;

    header! {
        /// One of each kind of field.
        struct All: "all", 31, 8 of 22 {
            /// A word beyond.
            words: Bits<3> [0..1, bit 5] "",
            /// Three bytes.
            rtt: u32 [1..4] "us",
            /// Two's complement.
            change: i32 [4..8] "B/s",
            /// Two bytes.
            queue: u16 [8..10] "B",
            /// One byte.
            number: u8 [10..11] "",
            /// A bit.
            urgent: bool [11..12, bit 7] "",
            /// Seven.
            packets: Bits<7> [11..12, bit 0] "",
            /// Bytes.
            summary: [u64; 1] [12..20] "",
        }
    }

    header! {
        /// A row without a type.
        struct Row: "row" = 8 of 16 {
            /// An address.
            node: NodeId [0..4] "",
            /// Bits of two bytes.
            count: Bits<4> [4..6, bit 6] "",
            /// What only simulated nodes know.
            asked: u64 [8..16] "ns",
        }
    }

    #[test]
    fn what_has_no_type_is_its_fields_alone() {
        let row = Row { node: NodeId(256), count: Bits(0b1001), asked: 7 };
        let mut bytes = [0; Row::LEN];
        row.emit(&mut bytes);
        assert_eq!(bytes, [10, 0, 1, 1, 0b10, 0b0100_0000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(Row::parse(&bytes), Some(row));
        assert_eq!(Row::parse(&bytes[..15]), None);
        bytes[..4].fill(0xff);
        assert_eq!(Row::parse(&bytes).unwrap().node, NodeId::BROADCAST);
        assert_eq!((Row::LAYOUT.kind, Row::LAYOUT.fields[1].kind), (None, FieldKind::Bits(6, 4)));
    }

    fn all() -> All {
        All {
            words: Bits(5),
            rtt: 0x01_02_03,
            change: -2,
            queue: 0x0405,
            number: 6,
            urgent: true,
            packets: Bits(7),
            summary: [0x0809_0a0b_0c0d_0e0f],
        }
    }

    #[test]
    fn a_header_by_hand() {
        let bytes = HeaderBytes::of(&all());
        let expected =
            [5 << 5 | 31, 1, 2, 3, 0xff, 0xff, 0xff, 0xfe, 4, 5, 6, 0x87, 8, 9, 10, 11, 12, 13, 14, 15, 0, 0];
        assert_eq!(bytes.as_slice(), expected);
        assert_eq!(bytes.parse(), Some(all()));
        assert_eq!(All::LAYOUT.fields[5].kind, FieldKind::Flag(7));
        assert_eq!(All::LAYOUT.fields[0].kind, FieldKind::Bits(5, 3));
        assert_eq!(All::LAYOUT.title.trim(), "One of each kind of field.");
    }

    #[test]
    fn words_beyond_are_on_the_air() {
        assert_eq!(HeaderBytes::of(&all()).on_air().len(), 22, "no more than there are");
        assert_eq!(HeaderBytes::of(&All { words: Bits(1), ..all() }).on_air().len(), 12);
        assert_eq!(HeaderBytes::NONE.on_air(), [0u8; 0]);
    }

    #[test]
    fn a_number_that_does_not_fit_is_the_largest_that_does() {
        let large = All { rtt: 1 << 24, packets: Bits(200), ..all() };
        let read: All = HeaderBytes::of(&large).parse().unwrap();
        assert_eq!((read.rtt, read.packets, read.urgent), (0xff_ffff, Bits(127), true));
    }

    #[test]
    fn bytes_of_another_type_or_length_are_no_header() {
        let bytes = HeaderBytes::of(&all());
        assert_eq!(All::parse(&bytes.as_slice()[1..]), None);
        let mut other = bytes.as_slice().to_vec();
        other[0] = 30;
        assert_eq!(All::parse(&other), None);
        assert_eq!(HeaderBytes::NONE.parse::<All>(), None);
        let mut none = HeaderBytes::NONE;
        none.change(|_: &mut All| panic!("there is none"));
        assert!(none.is_none());
    }

    #[test]
    fn a_change_is_written_back() {
        let mut bytes = HeaderBytes::of(&all());
        bytes.change(|header: &mut All| header.change = 7);
        assert_eq!(bytes.parse(), Some(All { change: 7, ..all() }));
    }
}
