//! PHY and MAC parameters for estimators, and the upper bound on capacity that follows from them.

use multihop_core::{Rate, Span};

/// Parameters of PHY and MAC that link events do not carry. Airtimes include the preamble.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhyTimes {
    /// Slot time.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// Distributed coordination function interframe space.
    pub difs: Span,
    /// Mean back-off of a first attempt.
    pub backoff: Span,
    /// Minimum contention window, in slots.
    pub cw_min: u32,
    /// Maximum contention window, in slots.
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
    /// Bytes of a DATA frame besides the MSDU: MAC header, LLC header and FCS.
    pub data_header: u32,
}

/// Limits of one exchange with aggregation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AggregateLimits {
    /// Maximum number of MPDUs in an A-MPDU.
    pub mpdus: u32,
    /// Maximum length of an A-MPDU in bytes.
    pub bytes: u32,
    /// Maximum airtime of the PPDU.
    pub max_duration: Span,
    /// Whether an RTS precedes each A-MPDU.
    pub rts: bool,
    /// Airtime of a `BlockAck`.
    pub block_ack: Span,
}

/// Exchange of packets of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketExchange {
    /// Number of packets in the exchange.
    pub packets: u32,
    /// Airtime of DATA.
    pub data: Span,
    /// Airtime of the ACK or `BlockAck`.
    pub response: Span,
    /// Whether RTS and CTS precede the DATA frame.
    pub handshake: bool,
}

/// Length of an A-MPDU delimiter, and alignment of its subframes, in bytes (802.11-2020, 9.7.1).
const DELIMITER: u32 = 4;

impl PhyTimes {
    /// An exchange of one packet of `size` bytes; with RTS from `rts_from` bytes on.
    pub fn exchange(&self, size: u32, rts_from: Option<u32>) -> PacketExchange {
        let handshake = rts_from.is_some_and(|least| size >= least);
        PacketExchange { packets: 1, data: self.data(size), response: self.ack, handshake }
    }

    /// An exchange of as many packets of `size` bytes as fit into an A-MPDU, one per MPDU: that of a station
    /// whose queue never runs empty.
    pub fn full_exchange(
        &self,
        size: u32,
        rts_from: Option<u32>,
        limits: &AggregateLimits,
    ) -> PacketExchange {
        let mpdu = (DELIMITER + self.data_header + size).next_multiple_of(DELIMITER);
        let airtime = limits.max_duration.saturating_sub(self.data_overhead);
        let in_time = (airtime.seconds() * self.data_rate.bps() as f64 / 8.0) as u32;
        let packets = limits.mpdus.min(limits.bytes.min(in_time) / mpdu);
        if packets < 2 {
            return self.exchange(size, rts_from);
        }
        let bytes = packets * mpdu;
        PacketExchange {
            packets,
            data: self.data_overhead + self.data_rate.span_of_bytes(u64::from(bytes)),
            response: limits.block_ack,
            handshake: limits.rts || rts_from.is_some_and(|least| bytes >= least),
        }
    }

    /// Duration of an exchange without contention, including DIFS and the mean back-off.
    pub fn length(&self, exchange: &PacketExchange) -> Span {
        let reservation = if exchange.handshake { self.rts + self.cts + self.sifs * 2 } else { Span::ZERO };
        self.difs + self.backoff + reservation + exchange.data + self.sifs + exchange.response
    }

    /// Parameters with another bit rate of DATA. ACKs keep their airtime, although the standard's rule for
    /// control responses derives it from the rate of DATA, between 28 and 44 us in OFDM.
    #[must_use]
    pub fn at(self, data_rate: Rate) -> PhyTimes {
        PhyTimes { data_rate, ..self }
    }

    /// Airtime of a DATA frame that carries `size` bytes, at the nominal rate. OFDM's rounding up to whole
    /// symbols is ignored.
    pub fn data(&self, size: u32) -> Span {
        self.data_overhead + self.data_rate.span_of_bytes(u64::from(size + self.data_header))
    }

    /// Size in bytes that a DATA frame of this airtime carries, to the nearest byte: the inverse of
    /// [`PhyTimes::data`].
    pub(crate) fn size_of(&self, data: Span) -> u32 {
        let bits = data.saturating_sub(self.data_overhead).seconds() * self.data_rate.bps() as f64;
        (bits / 8.0).round() as u32 - self.data_header.min((bits / 8.0).round() as u32)
    }

    /// Delay of an MSDU of `size` bytes without contention, `T_MSDU` of Barreto 2015, Eq. 14: DIFS, mean
    /// back-off, RTS and CTS with a SIFS after each (`handshake`), DATA, SIFS, ACK.
    pub fn per_msdu(&self, size: u32, handshake: bool) -> Span {
        self.length(&self.exchange(size, handshake.then_some(0)))
    }

    /// Overhead of a packet without contention: [`PhyTimes::per_msdu`] minus the DATA frame.
    pub(crate) fn besides_data(&self, handshake: bool) -> Span {
        let reservation = if handshake { self.rts + self.cts + self.sifs * 2 } else { Span::ZERO };
        self.difs + self.backoff + reservation + self.sifs + self.ack
    }

    /// Upper bound on the capacity of a link, in bits of MSDU per second: `TH = MSDU / T_MSDU` (Barreto 2015,
    /// Eq. 14, after Ilić et al. 2005).
    ///
    /// The *lower* bound in the paper's figures ("iperf UDP") is a measurement, not an estimate: the rate at
    /// which a receiver gets datagrams of 1470 bytes that are offered at the PHY's rate for 10 s. Such a
    /// stream displaces part of the other traffic.
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

    /// 802.11ac at 351 Mb/s: 1492 bytes with 34 of headers, a delimiter and padding are 1532 bytes, 34.9 us;
    /// 64 of them 2274.7 us.
    #[test]
    fn a_full_aggregate_is_as_long_as_its_limits_allow() {
        let us = Span::from_us;
        let phy = PhyTimes {
            data_rate: Rate::from_kbps(351_000),
            data_overhead: us(40),
            data_header: 34,
            sifs: us(16),
            difs: us(34),
            backoff: Span::from_ns(67_500),
            ..dot11b()
        };
        let limits = AggregateLimits {
            mpdus: 64,
            bytes: 1_048_575,
            max_duration: us(5_484),
            rts: false,
            block_ack: us(32),
        };
        let full = phy.full_exchange(1_492, None, &limits);
        assert_eq!((full.packets, full.handshake), (64, false));
        assert!((full.data.seconds() - (40e-6 + 64.0 * 1_532.0 * 8.0 / 351e6)).abs() < 1e-9);
        assert_eq!(phy.length(&full), us(34 + 16 + 32) + Span::from_ns(67_500) + full.data);
        // 65 535 bytes hold 42, and 300 us hold (300 - 40) us * 351 Mb/s / 8 / 1532 = 7.4.
        assert_eq!(phy.full_exchange(1_492, None, &AggregateLimits { bytes: 65_535, ..limits }).packets, 42);
        assert_eq!(
            phy.full_exchange(1_492, None, &AggregateLimits { max_duration: us(300), ..limits }).packets,
            7
        );
        // RTS comes before what is long enough together.
        assert!(phy.full_exchange(1_492, Some(3_000), &limits).handshake);
        assert!(!phy.exchange(1_492, Some(3_000)).handshake);
        let slow = AggregateLimits { max_duration: us(60), ..limits };
        assert_eq!(phy.full_exchange(1_492, None, &slow), phy.exchange(1_492, None), "nothing to aggregate");
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
