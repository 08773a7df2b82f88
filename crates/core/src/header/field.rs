//! Types of header fields, and their encodings.

use super::FieldKind;
use crate::NodeId;

/// Type of a field in [`header!`](crate::header!).
pub trait Field: Sized {
    /// Type of the field for dissectors.
    const KIND: FieldKind;
    /// Writes the value. A number that does not fit is written as the largest that does.
    fn put(&self, bytes: &mut [u8], bit: u8);
    /// Reads the value.
    fn get(bytes: &[u8], bit: u8) -> Self;
}

macro_rules! unsigned {
    ($($number:ty),*) => { $(
        impl Field for $number {
            const KIND: FieldKind = FieldKind::Unsigned;

            #[inline]
            fn put(&self, bytes: &mut [u8], _bit: u8) {
                let all = self.to_be_bytes();
                let (above, fits) = all.split_at(all.len() - bytes.len());
                if above.iter().all(|byte| *byte == 0) {
                    bytes.copy_from_slice(fits);
                } else {
                    bytes.fill(0xff);
                }
            }

            #[inline]
            fn get(bytes: &[u8], _bit: u8) -> $number {
                let mut all = [0; size_of::<$number>()];
                let from = all.len() - bytes.len();
                all[from..].copy_from_slice(bytes);
                <$number>::from_be_bytes(all)
            }
        }
    )* };
}

unsigned!(u8, u16, u32, u64);

impl Field for NodeId {
    const KIND: FieldKind = FieldKind::Address;

    #[inline]
    fn put(&self, bytes: &mut [u8], _bit: u8) {
        bytes.copy_from_slice(&self.ipv4());
    }

    #[inline]
    fn get(bytes: &[u8], _bit: u8) -> NodeId {
        NodeId::from_ipv4([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

impl Field for i32 {
    const KIND: FieldKind = FieldKind::Signed;

    #[inline]
    fn put(&self, bytes: &mut [u8], _bit: u8) {
        bytes.copy_from_slice(&self.to_be_bytes());
    }

    #[inline]
    fn get(bytes: &[u8], _bit: u8) -> i32 {
        i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

impl Field for bool {
    const KIND: FieldKind = FieldKind::Flag(0);

    #[inline]
    fn put(&self, bytes: &mut [u8], bit: u8) {
        bytes[0] |= u8::from(*self) << bit;
    }

    #[inline]
    fn get(bytes: &[u8], bit: u8) -> bool {
        bytes[0] >> bit & 1 == 1
    }
}

/// Number of `WIDTH` bits, which shares its byte, or its two bytes, with others.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bits<const WIDTH: u8>(pub u8);

impl<const WIDTH: u8> Bits<WIDTH> {
    /// Largest number of `WIDTH` bits.
    pub const MOST: u8 = ((1u16 << WIDTH) - 1) as u8;
}

impl<const WIDTH: u8> Field for Bits<WIDTH> {
    const KIND: FieldKind = FieldKind::Bits(0, WIDTH);

    #[inline]
    fn put(&self, bytes: &mut [u8], bit: u8) {
        let value = u16::from(self.0.min(Self::MOST)) << bit;
        match bytes {
            [high, low] => {
                *high |= (value >> 8) as u8;
                *low |= value as u8;
            }
            _ => bytes[0] |= value as u8,
        }
    }

    #[inline]
    fn get(bytes: &[u8], bit: u8) -> Bits<WIDTH> {
        let all = match *bytes {
            [high, low] => u16::from_be_bytes([high, low]),
            _ => u16::from(bytes[0]),
        };
        Bits((all >> bit) as u8 & Self::MOST)
    }
}

impl<const N: usize> Field for [u64; N] {
    const KIND: FieldKind = FieldKind::Opaque;

    #[inline]
    fn put(&self, bytes: &mut [u8], _bit: u8) {
        for (place, word) in bytes.chunks_exact_mut(8).zip(self) {
            place.copy_from_slice(&word.to_be_bytes());
        }
    }

    #[inline]
    fn get(bytes: &[u8], _bit: u8) -> [u64; N] {
        std::array::from_fn(|i| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * i..8 * i + 8]);
            u64::from_be_bytes(word)
        })
    }
}
