//! Bit rates.

use crate::Span;
use serde::Serialize;
use std::fmt;

/// Bit rate in bits per second.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Rate(u64);

impl Rate {
    /// Rate of `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// Rate of `kbps` thousand bits per second: 5.5 Mb/s is `from_kbps(5_500)`.
    pub const fn from_kbps(kbps: u64) -> Rate {
        Rate(kbps * 1_000)
    }

    /// Number of bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Number of million bits per second.
    pub fn mbps(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// Transmission time of `bits` bits, to the nearest nanosecond. The rate must not be zero.
    pub const fn span_of_bits(self, bits: u64) -> Span {
        let bit_ns = bits as u128 * 1_000_000_000;
        let rate = self.0 as u128;
        Span::from_ns(((bit_ns + rate / 2) / rate) as u64)
    }

    /// Transmission time of `bytes` bytes, to the nearest nanosecond. The rate must not be zero.
    pub const fn span_of_bytes(self, bytes: u64) -> Span {
        self.span_of_bits(bytes * 8)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mb/s", self.mbps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_exact_to_the_nanosecond() {
        assert_eq!(Rate::from_kbps(2_000).span_of_bytes(1500), Span::from_us(6_000));
        assert_eq!(Rate::from_kbps(11_000).span_of_bytes(1528), Span::from_ns(1_111_273));
    }
}
