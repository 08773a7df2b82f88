//! The frame check sequence (IEEE 802.11-2012, clause 8.2.4.8): CRC-32 over the MPDU.

/// The generator polynomial, with the coefficient of the highest power in the lowest bit.
const POLYNOMIAL: u32 = 0xedb8_8320;

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 { remainder >> 1 ^ POLYNOMIAL } else { remainder >> 1 };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

/// The sequence that follows an MPDU, as it is sent.
pub(super) fn fcs(mpdu: &[u8]) -> [u8; 4] {
    let next = |crc: u32, byte: &u8| TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ crc >> 8;
    (!mpdu.iter().fold(u32::MAX, next)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_crc_32() {
        assert_eq!(fcs(b"123456789"), 0xcbf4_3926u32.to_le_bytes());
        assert_eq!(fcs(b""), [0; 4]);
    }
}
