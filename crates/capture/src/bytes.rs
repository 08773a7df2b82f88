//! Integers from slices that may be too short.

/// Byte order of a file or a header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ByteOrder {
    Big,
    Little,
}

impl ByteOrder {
    pub fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let raw = array(bytes, at)?;
        Some(if self == ByteOrder::Big { u16::from_be_bytes(raw) } else { u16::from_le_bytes(raw) })
    }

    pub fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let raw = array(bytes, at)?;
        Some(if self == ByteOrder::Big { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) })
    }

    pub fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        let raw = array(bytes, at)?;
        Some(if self == ByteOrder::Big { u64::from_be_bytes(raw) } else { u64::from_le_bytes(raw) })
    }
}

/// The `N` bytes at `at`; none beyond the end.
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Field of `bits` bits that starts at bit `low`.
pub(crate) fn field(word: u16, low: u32, bits: u32) -> u8 {
    (word >> low & ((1 << bits) - 1)) as u8
}

/// Whether bit `n` is set.
pub(crate) fn bit(word: impl Into<u32>, n: u32) -> bool {
    word.into() >> n & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_both_orders_and_none_beyond_the_end() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(ByteOrder::Big.u16(&bytes, 1), Some(0x0203));
        assert_eq!(ByteOrder::Little.u32(&bytes, 4), Some(0x0807_0605));
        assert_eq!(ByteOrder::Big.u64(&bytes, 0), Some(0x0102_0304_0506_0708));
        assert_eq!(ByteOrder::Little.u32(&bytes, 5), None);
        assert_eq!(ByteOrder::Little.u16(&bytes, usize::MAX), None);
    }

    #[test]
    fn bit_fields() {
        assert_eq!(field(0b1011_0100, 4, 3), 0b011);
        assert!(bit(0x8000_u16, 15) && !bit(0x8000_u16, 14));
    }
}
