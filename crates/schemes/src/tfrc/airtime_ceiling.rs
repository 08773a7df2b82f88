//! Rate for which the airtime of a chain is sufficient, computed from the constants of the PHY. Li, Agu,
//! Claypool and Kinicki limit TFRC to such a constant rate (WPI-CS-TR-03-33, section III.B).

use crate::SenderStation;
use multihop_core::{LinkEvent, Time};
use multihop_link::{ActiveFlows, FirstHopRate};
use multihop_transport::{RateCeiling, TfrcReport};

/// Ceiling of a TFRC sender at its flow's share of the airtime around a node of a chain.
#[derive(Clone, Debug)]
pub(crate) struct AirtimeCeiling {
    station: SenderStation,
    /// Whether an exchange carries a full A-MPDU instead of one packet.
    is_full: bool,
    /// Bit rate at which the flow's packets leave.
    in_use: FirstHopRate,
    /// Header bytes that the transport adds.
    header: u32,
    /// Hops of the path, if configured; else the hops that reports take.
    hops: Option<u16>,
    /// Share of the airtime for data, if configured.
    share: Option<f64>,
    flows: ActiveFlows,
    /// Latest ceiling in payload bytes per second.
    rate: f64,
}

impl AirtimeCeiling {
    /// Creates the ceiling of a sender at a station, whose packets have `header` bytes of transport headers.
    pub(crate) fn new(
        station: &SenderStation,
        is_full: bool,
        header: u32,
        hops: Option<u16>,
        share: Option<f64>,
        flows: ActiveFlows,
    ) -> AirtimeCeiling {
        let (station, in_use) = (*station, FirstHopRate::new(station.flow, station.phy.data_rate));
        AirtimeCeiling { station, is_full, in_use, header, hops, share, flows, rate: f64::INFINITY }
    }

    /// Returns the time in seconds between packets of `payload` bytes. With a configured share, that share of
    /// the airtime holds the exchanges at the hops that exclude each other. Otherwise the time is an exchange
    /// at each of these hops and at one more. On each remaining hop, the second packet may gain some time on
    /// the first, which is added. The packets of an A-MPDU share an exchange and its gain.
    fn spacing(&self, payload: u32, hops: u16) -> f64 {
        let (phy, exchange) = self.station.exchange(self.in_use.rate(), payload + self.header, self.is_full);
        let packets = f64::from(exchange.packets);
        let exchange = phy.length(&exchange).seconds() / packets;
        if let Some(share) = self.share {
            return f64::from(hops.clamp(1, EXCLUSIVE_HOPS)) * exchange / share;
        }
        let apart = EXCLUSIVE_HOPS + 1;
        // Two backoffs of the first window differ by a third of it in the mean.
        let gain = 2.0 / 3.0 * phy.backoff.seconds() / packets;
        f64::from(hops.clamp(1, apart)) * exchange + f64::from(hops.saturating_sub(apart)) * gain
    }

    /// Returns the flow's share of the rate in bytes per second. The rate is infinite if the flow leaves by a
    /// wire, and that of one hop if the next hop does not forward by radio.
    fn shared_rate(&mut self, now: Time, payload: u32, hops: u16) -> f64 {
        if !self.flows.sends(now) {
            return f64::INFINITY;
        }
        let flows = self.flows.sharers(now);
        let hops = if self.flows.is_relayed(now) { hops } else { 1 };
        f64::from(payload) / self.spacing(payload, hops) / flows
    }
}

impl RateCeiling for AirtimeCeiling {
    fn at_any_time(&self) -> f64 {
        self.rate
    }

    /// Updates the ceiling at each report, also in slow start. The first report brings the number of hops.
    fn on_report(&mut self, report: &TfrcReport) -> f64 {
        self.rate = self.shared_rate(report.now, report.packet_size, self.hops.unwrap_or(report.hops));
        self.rate
    }

    fn observes_link(&self) -> bool {
        true
    }

    fn on_link(&mut self, event: &LinkEvent) {
        self.in_use.on_link(event);
        self.flows.on_link(event);
    }
}

/// Number of consecutive hops of a chain of which only one at a time can carry a packet. The third node after
/// a sender still disturbs the sender's next hop if nodes interfere at more than twice their distance; the
/// fourth does not. (Li, Blake, De Couto, Lee and Morris, `MobiCom` 2001, section 3: a quarter of the
/// capacity of a link.) A shorter path has fewer.
const EXCLUSIVE_HOPS: u16 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sent;
    use multihop_core::{DecodedFrame, Exchange, Fate, FlowId, FrameKind, Interval, NodeId, Rate, Span};
    use multihop_link::{AggregateLimits, PhyTimes};

    const OWN: FlowId = FlowId(7);

    /// Returns a station of 802.11b with a long preamble, control frames at 1 Mb/s and the MAC header of the
    /// paper's Table II.
    fn station(kbps: u64, rts_from: Option<u32>) -> SenderStation {
        let us = Span::from_us;
        let phy = PhyTimes {
            slot: us(20),
            sifs: us(10),
            difs: us(50),
            backoff: us(310),
            cw_min: 31,
            cw_max: 1023,
            rts: us(352),
            cts: us(304),
            ack: us(304),
            data_rate: Rate::from_kbps(kbps),
            data_overhead: us(192),
            data_header: 34,
        };
        SenderStation { phy, rts_from, flow: OWN, aggregates: None }
    }

    fn ceiling(station: &SenderStation, hops: Option<u16>) -> AirtimeCeiling {
        let flows = ActiveFlows::new(OWN, Span::from_ms(5_000));
        let mut ceiling = AirtimeCeiling::new(station, false, 32, hops, None, flows);
        sends(&mut ceiling, 0);
        hears(&mut ceiling, OWN, 0);
        ceiling
    }

    fn report(at_ms: u64, hops: u16) -> TfrcReport {
        TfrcReport {
            now: ms(at_ms),
            rtt: 0.4,
            sample: 0.4,
            loss_event_rate: 0.0,
            receive_rate: 1e4,
            hops,
            packet_size: 1460,
            rate: 1e4,
            equation: f64::INFINITY,
        }
    }

    /// Returns the ceiling after a report, in bits of payload per second.
    fn bps(ceiling: &mut AirtimeCeiling, report: &TfrcReport) -> f64 {
        let rate = ceiling.on_report(report);
        assert_eq!(rate, ceiling.at_any_time());
        8.0 * rate
    }

    fn close(got: f64, expected: f64) {
        assert!((got / expected - 1.0).abs() < 1e-9, "{got} is not {expected}");
    }

    /// DIFS and backoff take 360 us; RTS, CTS and two SIFS 676 us; SIFS and ACK 314 us. DATA of 1526 bytes
    /// takes 192 + 6104 us at 2 Mb/s, and 192 + 12208 / 11 us at 11 Mb/s.
    #[test]
    fn packets_are_five_exchanges_plus_the_gain_apart() {
        let slow = 360.0 + 676.0 + 314.0 + 192.0 + 6104.0;
        assert_eq!(slow, 7646.0);
        let room = |us: f64| 11_680.0 / (us * 1e-6);
        let mut unknown = ceiling(&station(2_000, Some(0)), None);
        assert_eq!(unknown.at_any_time(), f64::INFINITY, "the first report brings the number of hops");
        // Two backoffs of 0 to 620 us differ by 206.7 us in the mean. Over seven hops both packets are in
        // flight during two.
        let gain = 620.0 / 3.0;
        close(bps(&mut unknown, &report(0, 7)), room(5.0 * slow + 2.0 * gain));
        assert!((room(5.0 * slow + 2.0 * gain) - 302.3e3).abs() < 50.0, "300 kb/s is the paper's knee");
        for hops in [1, 2, 3, 4, 5] {
            close(bps(&mut unknown, &report(0, hops)), room(f64::from(hops) * slow));
        }
        close(bps(&mut unknown, &report(0, 15)), room(5.0 * slow + 10.0 * gain));
        close(bps(&mut ceiling(&station(2_000, Some(0)), Some(3)), &report(0, 7)), room(3.0 * slow));
        let no_handshake = 5.0 * (slow - 676.0) + 2.0 * gain;
        close(bps(&mut ceiling(&station(2_000, None), None), &report(0, 7)), room(no_handshake));

        let fast = 5.0 * (360.0 + 676.0 + 314.0 + 192.0 + 12_208.0 / 11.0);
        let held = bps(&mut ceiling(&station(11_000, Some(0)), None), &report(0, 15));
        assert!(
            (held / room(fast + 10.0 * gain) - 1.0).abs() < 1e-6,
            "airtimes are whole nanoseconds: {held}"
        );
        assert!((held - 762.1e3).abs() < 50.0, "{held}");
    }

    /// The flow's packets leave at 11 Mb/s, whatever the nominal rate is.
    #[test]
    fn the_exchange_uses_the_rate_in_use() {
        let mut nominal = ceiling(&station(11_000, None), Some(1));
        let mut ceiling = ceiling(&station(2_000, None), Some(1));
        (0..200).for_each(|n| ceiling.on_link(&sent(OWN, if n < 100 { 2_000 } else { 11_000 })));
        (0..200).for_each(|_| nominal.on_link(&sent(OWN, 11_000)));
        let [found, expected] = [&mut ceiling, &mut nominal].map(|ceiling| bps(ceiling, &report(0, 1)));
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
    }

    /// Sixteen MPDUs of 1492 + 34 bytes, a delimiter and padding are 1532 bytes each, 6128 us at 2 Mb/s. All
    /// 16 share the rest of the exchange.
    #[test]
    fn a_full_aggregate_shares_one_exchange() {
        let us = Span::from_us;
        let limits = AggregateLimits {
            mpdus: 16,
            bytes: 65_535,
            max_duration: us(200_000),
            rts: false,
            block_ack: us(400),
        };
        let station = SenderStation { aggregates: Some(limits), ..station(2_000, Some(0)) };
        let mut full = AirtimeCeiling { is_full: true, station, ..ceiling(&station, None) };
        let exchange = (360.0 + 676.0 + 10.0 + 400.0 + 192.0) / 16.0 + 6128.0;
        let gain = 620.0 / 3.0 / 16.0;
        close(bps(&mut full, &report(0, 7)), 11_680.0 / ((5.0 * exchange + 2.0 * gain) * 1e-6));
        let mut single = AirtimeCeiling { is_full: false, ..full };
        close(bps(&mut single, &report(0, 1)), 11_680.0 / 7646e-6);
    }

    /// DATA of 534 bytes takes 192 + 2136 us, and an exchange 3678 us.
    #[test]
    fn small_packets_have_a_lower_ceiling() {
        let mut ceiling = ceiling(&station(2_000, Some(0)), None);
        let small = TfrcReport { packet_size: 468, ..report(0, 7) };
        close(bps(&mut ceiling, &small), 468.0 * 8.0 / (5.0 * 3678e-6 + 2.0 * 620e-6 / 3.0));
    }

    #[test]
    fn a_configured_share_is_divided_by_four_exchanges() {
        let mut ceiling = AirtimeCeiling { share: Some(0.8), ..ceiling(&station(2_000, Some(0)), None) };
        for (hops, exchanges) in [(1, 1.0), (4, 4.0), (15, 4.0)] {
            close(bps(&mut ceiling, &report(0, hops)), 0.8 * 11_680.0 / (exchanges * 7646e-6));
        }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Sends a packet of the own flow.
    fn sends(ceiling: &mut AirtimeCeiling, at_ms: u64) {
        ceiling.on_link(&LinkEvent::Exchange(Exchange {
            node: NodeId(0),
            peer: NodeId(1),
            flow: OWN,
            size: 1492,
            rate: ceiling.station.phy.data_rate,
            payload: 1460,
            enqueued: ms(at_ms),
            head_of_line: ms(at_ms),
            done: ms(at_ms),
            fate: Fate::Acknowledged,
            rts_tries: 1,
            rts_failures: 0,
            data_tries: 1,
            slots: 0,
            airtime: Span::ZERO,
            mpdus: 1,
        }));
    }

    /// Overhears the next hop forwarding a packet of this flow.
    fn hears(ceiling: &mut AirtimeCeiling, flow: FlowId, at_ms: u64) {
        ceiling.on_link(&LinkEvent::Decoded(DecodedFrame {
            node: NodeId(0),
            kind: FrameKind::Data,
            from: NodeId(1),
            to: Some(NodeId(2)),
            air: Interval { start: ms(at_ms), end: ms(at_ms) },
            duration: Span::ZERO,
            size: 1492,
            flow: Some(flow),
            rate: Rate::from_kbps(2_000),
        }));
    }

    #[test]
    fn known_flows_share_the_ceiling() {
        let mut ceiling = ceiling(&station(2_000, Some(0)), None);
        assert!(ceiling.observes_link());
        let alone = bps(&mut ceiling, &report(100, 7));
        (0..2).for_each(|flow| hears(&mut ceiling, FlowId(flow), 1_000 + u64::from(flow)));
        close(ceiling.at_any_time() * 8.0, alone);
        close(bps(&mut ceiling, &report(1_100, 7)), alone / 3.0); // a packet of each flow
        sends(&mut ceiling, 2_000);
        close(bps(&mut ceiling, &report(2_000, 7)), alone / 2.0); // the others sent half as much
        sends(&mut ceiling, 6_000);
        hears(&mut ceiling, OWN, 6_000);
        close(bps(&mut ceiling, &report(6_002, 7)), alone); // 5001 ms after the last of them
    }

    #[test]
    fn wired_hops_use_no_airtime() {
        let mut ceiling = ceiling(&station(2_000, Some(0)), None);
        let chain = bps(&mut ceiling, &report(4_000, 7));
        sends(&mut ceiling, 6_000);
        // The flow is not forwarded by radio: one exchange in place of five and two gains.
        close(bps(&mut ceiling, &report(6_000, 7)), chain * (5.0 * 7646.0 + 1240.0 / 3.0) / 7646.0);
        assert_eq!(ceiling.on_report(&report(12_000, 7)), f64::INFINITY, "the flow leaves by a wire");
    }
}
