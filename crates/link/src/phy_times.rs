//! What estimators have to know of the PHY, and the upper bound that follows from it.

use multihop_core::{Rate, Span};

/// What link events do not say of the PHY and the MAC. Airtimes include the preamble.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhyTimes {
    /// Slot time.
    pub slot: Span,
    /// Short inter-frame space.
    pub sifs: Span,
    /// Distributed inter-frame space.
    pub difs: Span,
    /// Mean back-off of a first try.
    pub backoff: Span,
    /// First contention window, in slots.
    pub cw_min: u32,
    /// Largest contention window, in slots.
    pub cw_max: u32,
    /// Airtime of an RTS.
    pub rts: Span,
    /// Airtime of a CTS.
    pub cts: Span,
    /// Airtime of an ACK.
    pub ack: Span,
    /// Nominal bit rate of DATA.
    pub data_rate: Rate,
    /// Preamble and PLCP header of DATA.
    pub data_overhead: Span,
    /// Bytes of a DATA frame besides those that the MAC is asked to carry: MAC header, LLC header and FCS.
    pub data_header: u32,
}

impl PhyTimes {
    /// Airtime of a DATA frame that carries `size` bytes, at the nominal rate. OFDM's rounding up to whole symbols is left out.
    pub fn data(&self, size: u32) -> Span {
        self.data_overhead + self.data_rate.span_of_bytes(u64::from(size + self.data_header))
    }

    /// The size that a DATA frame of this airtime carries, to the nearest byte: the inverse of [`PhyTimes::data`].
    pub(crate) fn size_of(&self, data: Span) -> u32 {
        let bits = data.saturating_sub(self.data_overhead).seconds() * self.data_rate.bps() as f64;
        (bits / 8.0).round() as u32 - self.data_header.min((bits / 8.0).round() as u32)
    }

    /// The delay of each MSDU of `size` bytes without contention, `T_MSDU` of Barreto 2015, Eq. 14: DIFS, the mean
    /// back-off, RTS and CTS with a SIFS after each (`handshake`), DATA, SIFS, ACK.
    pub fn per_msdu(&self, size: u32, handshake: bool) -> Span {
        self.besides_data(handshake) + self.data(size)
    }

    /// What a packet needs besides its DATA without contention: the rest of [`PhyTimes::per_msdu`].
    pub(crate) fn besides_data(&self, handshake: bool) -> Span {
        let reservation = if handshake { self.rts + self.cts + self.sifs * 2 } else { Span::ZERO };
        self.difs + self.backoff + reservation + self.sifs + self.ack
    }

    /// The upper bound of what a link can carry, in bits of MSDU per second: `TH = MSDU / T_MSDU` (Barreto 2015, Eq. 14, after
    /// Ilić et al. 2005).
    ///
    /// Its counterpart, the *lower* bound of the paper's figures ("iperf UDP"), is no estimate but a measurement: the rate at
    /// which a receiver gets datagrams of 1470 bytes that are offered at the PHY's rate for 10 s. It displaces part of the
    /// traffic that was there, so that it bounds the available bandwidth only in that this could be had by force.
    pub fn upper_bound_bps(&self, size: u32, handshake: bool) -> f64 {
        f64::from(size) * 8.0 / self.per_msdu(size, handshake).seconds()
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// 802.11b at 11 Mb/s with a long preamble, control frames at 1 Mb/s, and no LLC header.
    pub(crate) fn dot11b() -> PhyTimes {
        PhyTimes {
            slot: Span::from_us(20),
            sifs: Span::from_us(10),
            difs: Span::from_us(50),
            backoff: Span::from_us(310),
            cw_min: 31,
            cw_max: 1023,
            rts: Span::from_us(352),
            cts: Span::from_us(304),
            ack: Span::from_us(304),
            data_rate: Rate::from_kbps(11_000),
            data_overhead: Span::from_us(192),
            data_header: 28,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::dot11b;
    use super::*;

    #[test]
    fn eq_14_of_1500_bytes_at_11_mbps() {
        let phy = dot11b();
        assert_eq!(phy.data(1500), Span::from_ns(1_303_273));
        assert_eq!(phy.per_msdu(1500, true), Span::from_ns(2_653_273));
        assert!((phy.upper_bound_bps(1500, true) * 1e-6 - 4.523).abs() < 1e-3);
        assert!((phy.upper_bound_bps(1500, false) * 1e-6 - 6.068).abs() < 1.5e-3);
    }

    #[test]
    fn sizes_come_back_from_airtimes() {
        let phy = dot11b();
        for size in [0, 1, 40, 1500, 2304] {
            assert_eq!(phy.size_of(phy.data(size)), size);
        }
        assert_eq!(phy.size_of(Span::from_us(100)), 0, "shorter than a preamble");
        for bytes in 0..=28 {
            let part = phy.data_overhead + phy.data_rate.span_of_bytes(bytes);
            assert_eq!(phy.size_of(part), 0, "no more than a header");
        }
    }
}
