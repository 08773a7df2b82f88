//! Duration fields: time after the end of a frame for which it reserves the medium.

use crate::Microseconds;
use multihop_core::Span;

/// Duration field of an ACK that ends an exchange without further fragments (8.3.1.4).
pub const ACK_DURATION: Span = Span::ZERO;

/// Duration fields of one exchange, computed from the airtimes of its responses (8.2.4.2, 9.3.2.4).
///
/// Other stations that decode a frame defer for its duration, counted from the end of the frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Durations {
    /// Short inter-frame space.
    pub sifs: Span,
    /// Airtime of the CTS, at the response rate of the RTS.
    pub cts: Span,
    /// Airtime of the ACK, at the response rate of the DATA frame.
    pub ack: Span,
    /// Rounding of the field, which counts whole microseconds.
    pub rounding: Microseconds,
}

impl Durations {
    /// Duration field of an RTS: "one CTS frame, plus one ACK frame, plus three SIFS intervals" and the DATA
    /// frame of airtime `data` (8.3.1.2).
    pub const fn rts(&self, data: Span) -> Span {
        let (sifs, cts, ack) = (self.sifs.ns(), self.cts.ns(), self.ack.ns());
        self.rounding.apply(Span::from_ns(3 * sifs + cts + data.ns() + ack))
    }

    /// Duration field of a CTS: that of the RTS, minus a SIFS and the airtime of the CTS (8.3.1.3).
    ///
    /// Zero if `rts_duration` is shorter than SIFS and CTS, as in a malformed frame.
    pub const fn cts(&self, rts_duration: Span) -> Span {
        self.rounding.apply(rts_duration.saturating_sub(self.sifs).saturating_sub(self.cts))
    }

    /// Duration field of an unfragmented unicast DATA frame: a SIFS and the ACK (8.2.5.2). Group-addressed
    /// frames have zero.
    pub const fn data(&self) -> Span {
        self.rounding.apply(Span::from_ns(self.sifs.ns() + self.ack.ns()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ACK_BYTES, CTS_BYTES, Phy, Preamble, Standard};
    use multihop_core::Rate;

    const MBPS: u64 = 1_000;

    fn durations(phy: &Phy, control: u64, rounding: Microseconds) -> Durations {
        let timing = phy.timing(Rate::from_kbps(control), Microseconds::Exact);
        Durations { sifs: phy.sifs, cts: timing.airtime(CTS_BYTES), ack: timing.airtime(ACK_BYTES), rounding }
    }

    /// 1500 bytes at 11 Mb/s are 192 + 1528 * 8 / 11 = 1303.27 us on the air, a CTS or an ACK at 1 Mb/s is
    /// 304 us.
    #[test]
    fn an_exchange_at_11_mbps_with_control_at_1_mbps() {
        let phy = Phy::new(Standard::Dot11b, Preamble::Long);
        let data = phy.airtime(Rate::from_kbps(11 * MBPS), 1528, Microseconds::Exact);
        let nearest = durations(&phy, MBPS, Microseconds::Nearest);
        assert_eq!(nearest.rts(data), Span::from_us(1941));
        assert_eq!(nearest.cts(nearest.rts(data)), Span::from_us(1627));
        assert_eq!(nearest.data(), Span::from_us(314));

        let up = durations(&phy, MBPS, Microseconds::Up);
        assert_eq!(up.rts(data), Span::from_us(1942));
        assert_eq!(up.cts(up.rts(data)), Span::from_us(1628));

        let exact = durations(&phy, MBPS, Microseconds::Exact);
        assert_eq!(exact.rts(data), Span::from_ns(1_941_273));
        assert_eq!(exact.cts(exact.rts(data)), Span::from_ns(1_627_273));
    }

    /// 248 us of DATA, 28 us each of CTS and ACK, and 16 us SIFS.
    #[test]
    fn an_exchange_at_54_mbps_with_control_at_24_mbps() {
        let phy = Phy::new(Standard::Dot11a, Preamble::Long);
        let data = phy.airtime(Rate::from_kbps(54 * MBPS), 1534, Microseconds::Up);
        let durations = durations(&phy, 24 * MBPS, Microseconds::Up);
        assert_eq!(durations.rts(data), Span::from_us(48 + 28 + 248 + 28));
        assert_eq!(durations.cts(durations.rts(data)), Span::from_us(32 + 248 + 28));
        assert_eq!(durations.data(), Span::from_us(44));
    }

    #[test]
    fn all_frames_of_an_exchange_reserve_until_the_same_instant() {
        let phy = Phy::new(Standard::Dot11g, Preamble::Long);
        let data = phy.airtime(Rate::from_kbps(36 * MBPS), 777, Microseconds::Up);
        let durations = durations(&phy, 12 * MBPS, Microseconds::Exact);
        let rts = durations.rts(data);
        let cts = durations.cts(rts);
        assert_eq!(rts, durations.sifs + durations.cts + cts);
        assert_eq!(cts, durations.sifs + data + durations.data());
        assert_eq!(durations.data(), durations.sifs + durations.ack + ACK_DURATION);
    }

    #[test]
    fn the_cts_to_an_rts_of_too_short_a_duration_reserves_nothing() {
        let phy = Phy::new(Standard::Dsss, Preamble::Long);
        assert_eq!(durations(&phy, MBPS, Microseconds::Up).cts(Span::from_us(100)), Span::ZERO);
    }
}
