//! rt-Winf without RTS/CTS (Barreto 2015, section 3.2).

use super::medium::InUse;
use super::node_capacity::{NodeCapacity, capacity_bps};
use super::options::{FULL_SIZE, RtWinfProbeOptions};
use super::peers::Peers;
use crate::{Estimator, LinkView, PhyTimes, Probing, RateInUse, WinfReading};
use multihop_core::{
    Attempt, DecodedFrame, Exchange, Fate, FrameKind, Interval, LinkEvent, Rate, Report, Span, Time,
};

/// Estimates capacity and available bandwidth from pairs of DATA and ACK, in bits per second of MSDUs: from
/// probes before a communication, and from ordinary frames later, without distinction.
///
/// `C = S / T_Transfer` (Eq. 12) with `T_Transfer = T_ACK - T_DATA`, from the start of DATA to the end of its
/// ACK: DATA, SIFS and ACK. A receiver knows the end of its own ACK; an overhearing node has to decode both
/// frames. Roles are combined as in [`crate::RtWinf`] (Eqs. 9, 10).
///
/// `AB = C (1 - sum of T_Transfer / T_Total)` (Eq. 13). The paper prints `1 - (sum / T_Total) C`, which
/// subtracts bits per second from a number.
///
/// With [`WinfReading::Whole`], `T_Transfer` includes DIFS and the mean back-off before it, and the sum is
/// over all time sensed busy or reserved, with the same addition for each access.
///
/// Before the first sample the capacity is the bit rate at which the node sends DATA, and with
/// [`WinfReading::Whole`] that of Eq. 14.
#[derive(Clone, Debug)]
pub struct RtWinfProbe {
    options: RtWinfProbeOptions,
    phy: PhyTimes,
    rate: RateInUse,
    in_use: InUse,
    /// Time that [`WinfReading::Whole`] adds to `T_Transfer`.
    extra_time: Span,
    peers: Peers,
    capacity: NodeCapacity,
    /// Last DATA of other nodes.
    overheard: Option<DecodedFrame>,
    /// Interval from DATA to ACK of the successful attempt.
    succeeded: Option<Interval>,
}

impl RtWinfProbe {
    /// Creates an estimator without frames.
    pub fn new(options: RtWinfProbeOptions, phy: PhyTimes) -> RtWinfProbe {
        let whole = options.reading == WinfReading::Whole;
        RtWinfProbe {
            options,
            phy,
            rate: RateInUse::new(phy.data_rate),
            in_use: InUse::new(options.reading, options.window, &phy),
            extra_time: if whole { phy.difs + phy.backoff } else { Span::ZERO },
            peers: Peers::new(options.window),
            capacity: NodeCapacity::new(options.smoothing),
            overheard: None,
            succeeded: None,
        }
    }

    /// Capacity in bits per second, in this node's own view.
    pub fn capacity_bps(&self) -> f64 {
        let size = self.options.reference_size.unwrap_or(FULL_SIZE);
        self.capacity.get().unwrap_or_else(|| match self.options.reading {
            WinfReading::Whole => self.phy.at(self.rate.rate()).upper_bound_bps(size, false),
            _ => self.rate.bps(),
        })
    }

    /// Available bandwidth in bits per second at `now`, in this node's own view. `now` must not precede the
    /// last event.
    pub fn available_bps(&self, now: Time) -> f64 {
        let busy = self.in_use.share(now);
        self.capacity_bps() * (1.0 - busy).max(0.0)
    }

    fn own_report(&self, now: Time) -> Report {
        Report { capacity_bps: self.capacity_bps(), available_bps: self.available_bps(now) }
    }

    fn on_decoded(&mut self, heard: &DecodedFrame) {
        match (heard.kind, heard.to) {
            (FrameKind::Data, Some(to)) if to == heard.node => {
                let end = heard.air.end + self.phy.sifs + self.phy.ack;
                let transfer = Interval { start: heard.air.start, end };
                if let Some(sample) = self.transferred(heard.size, transfer, heard.rate) {
                    self.capacity.add_own(sample);
                }
            }
            (FrameKind::Data, to) => self.overheard = to.map(|_| *heard),
            (FrameKind::Ack, to) if to != Some(heard.node) => self.overhear_ack(heard),
            _ => {}
        }
    }

    fn overhear_ack(&mut self, ack: &DecodedFrame) {
        let Some(data) = self.overheard.take().filter(|data| ack.to == Some(data.from)) else { return };
        // An ACK that does not follow at once belongs to a frame that was not decoded.
        if ack.air.start > data.air.end + self.phy.sifs * 2 {
            return;
        }
        let transfer = Interval { start: data.air.start, end: ack.air.end };
        if let Some(sample) = self.transferred(data.size, transfer, data.rate) {
            self.capacity.add_overheard(sample);
        }
    }

    fn on_attempt(&mut self, attempt: &Attempt) {
        let frames = attempt.data.zip(attempt.ack);
        self.succeeded = frames.map(|(data, ack)| Interval { start: data.start, end: ack.end });
    }

    fn on_exchange(&mut self, exchange: &Exchange) {
        let succeeded = self.succeeded.take().filter(|_| exchange.fate == Fate::Acknowledged);
        let sample = succeeded.and_then(|transfer| self.transferred(exchange.size, transfer, exchange.rate));
        if let Some(sample) = sample {
            self.capacity.add_own(sample);
        }
    }

    fn transferred(&mut self, size: u32, transfer: Interval, rate: Rate) -> Option<f64> {
        self.in_use.add(transfer);
        capacity_bps(size, transfer.length() + self.extra_time, rate, self.options.reference_size)
    }
}

impl Estimator for RtWinfProbe {
    fn on_link(&mut self, event: &LinkEvent) {
        self.in_use.on_link(event);
        self.rate.on_link(event);
        match event {
            LinkEvent::Decoded(heard) => self.on_decoded(heard),
            LinkEvent::Attempt(attempt) => self.on_attempt(attempt),
            LinkEvent::Exchange(exchange) => self.on_exchange(exchange),
            LinkEvent::Reported(reported) if self.options.ack_report => self.peers.add(*reported),
            _ => {}
        }
    }

    fn write(&self, now: Time, view: &mut LinkView) {
        let least = self.peers.least(self.own_report(now), now);
        view.capacity_bps = Some(least.capacity_bps);
        view.available_bps = Some(least.available_bps);
    }

    fn report(&self, now: Time) -> Option<Report> {
        self.options.ack_report.then(|| self.own_report(now))
    }

    fn probing(&self) -> Option<Probing> {
        let RtWinfProbeOptions { probes, probe_interval, probe_size, probe_after, probe_hold, .. } =
            self.options;
        (probes > 0).then_some(Probing {
            count: probes,
            interval: probe_interval,
            size: probe_size,
            silence: probe_after,
            holds_data: probe_hold,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy_times::testing::dot11b;
    use crate::testing::{A, B, C, exchange, us};
    use multihop_core::{FlowId, NodeId};

    /// 1500 bytes at 11 Mb/s: DATA 1303.273, SIFS 10, ACK 304 us; 12000 bits in 1617.273 us are 7.420 Mb/s.
    const MBPS: f64 = 7.42;

    fn frames(start: Time) -> [Interval; 2] {
        let data = Interval { start, end: start + dot11b().data(1500) };
        let ack = data.end + Span::from_us(10);
        [data, Interval { start: ack, end: ack + Span::from_us(304) }]
    }

    fn hears(kind: FrameKind, from: NodeId, to: NodeId, air: Interval) -> LinkEvent {
        let rate = Rate::from_kbps(11_000);
        let duration = Span::ZERO;
        LinkEvent::Decoded(DecodedFrame {
            node: A,
            kind,
            from,
            to: Some(to),
            air,
            duration,
            size: 1500,
            flow: None,
            rate,
        })
    }

    fn sends(estimator: &mut RtWinfProbe, start: Time) {
        let [data, ack] = frames(start).map(Some);
        let (flow, rts, cts) = (FlowId(0), None, None);
        let attempt = Attempt { node: A, peer: B, flow, cw: 31, slots: 0, rts, cts, data, ack };
        estimator.on_link(&LinkEvent::Attempt(attempt));
        estimator.on_link(&LinkEvent::Exchange(exchange(1500, 0, 1, Fate::Acknowledged)));
    }

    fn receives(estimator: &mut RtWinfProbe, start: Time) {
        estimator.on_link(&hears(FrameKind::Data, B, A, frames(start)[0]));
    }

    fn overhears(estimator: &mut RtWinfProbe, start: Time) {
        let [data, ack] = frames(start);
        estimator.on_link(&hears(FrameKind::Data, B, C, data));
        estimator.on_link(&hears(FrameKind::Ack, C, B, ack));
    }

    fn fresh() -> RtWinfProbe {
        RtWinfProbe::new(RtWinfProbeOptions::default(), dot11b())
    }

    fn mbps(estimator: &RtWinfProbe) -> f64 {
        (estimator.capacity_bps() * 1e-4).round() / 100.0
    }

    /// Eq. 12, and Eq. 13 with 100 transfers a second: 0.1617 s.
    #[test]
    fn the_same_in_each_role() {
        let roles: [fn(&mut RtWinfProbe, Time); 3] = [sends, receives, overhears];
        for role in roles {
            let mut estimator = fresh();
            assert_eq!(estimator.capacity_bps(), 11e6, "the PHY's rate, before the first sample");
            (0..100).for_each(|n| role(&mut estimator, us(10_000 * n)));
            assert_eq!(mbps(&estimator), MBPS);
            let unused = estimator.available_bps(us(1_000_000)) / estimator.capacity_bps();
            assert!((unused - (1.0 - 0.161_727_3)).abs() < 1e-9, "{unused}");
        }
    }

    /// Eq. 14 without RTS/CTS: 1977.273 us with DIFS and the mean back-off, 6.069 Mb/s.
    #[test]
    fn read_whole_the_capacity_is_what_a_link_sustains() {
        let options = RtWinfProbeOptions { reading: WinfReading::Whole, ..RtWinfProbeOptions::default() };
        let mut whole = RtWinfProbe::new(options, dot11b());
        for start in (0..100).map(|n| us(10_000 * n)) {
            for air in frames(start) {
                whole.on_link(&LinkEvent::BusyFrom(air.start));
                whole.on_link(&LinkEvent::Busy(air));
            }
            sends(&mut whole, start);
        }
        assert_eq!(mbps(&whole), 6.07);
        let unused = whole.available_bps(us(1_000_000)) / whole.capacity_bps();
        assert!((unused - (1.0 - 0.197_727_3)).abs() < 1e-9, "{unused}");
    }

    #[test]
    fn what_is_no_pair_is_no_sample() {
        let mut estimator = fresh();
        let [data, ack] = frames(us(1_000));
        let [_, later] = frames(us(9_000));
        estimator.on_link(&hears(FrameKind::Data, B, C, data));
        estimator.on_link(&hears(FrameKind::Ack, C, B, later));
        estimator.on_link(&hears(FrameKind::Ack, C, B, ack));
        estimator.on_link(&hears(FrameKind::Data, B, C, data));
        estimator.on_link(&hears(FrameKind::Ack, B, C, ack));
        let attempt = Attempt {
            node: A,
            peer: B,
            flow: FlowId(0),
            cw: 31,
            slots: 0,
            rts: None,
            cts: None,
            data: Some(data),
            ack: None,
        };
        estimator.on_link(&LinkEvent::Attempt(attempt));
        estimator.on_link(&LinkEvent::Exchange(exchange(1500, 0, 1, Fate::GivenUp)));
        assert_eq!((estimator.capacity_bps(), estimator.available_bps(us(20_000))), (11e6, 11e6));
    }
}
