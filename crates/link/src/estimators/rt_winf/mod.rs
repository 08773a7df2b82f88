//! rt-Winf with RTS/CTS (Barreto 2015, section 3.1).

mod medium;
mod node_capacity;
mod options;
mod peers;
mod probe;

pub use node_capacity::capacity_bps;
pub use options::{RtWinfOptions, RtWinfProbeOptions, WinfReading};
pub use probe::RtWinfProbe;

use crate::{Estimator, LinkView, PhyTimes, RateInUse};
use medium::InUse;
use multihop_core::{
    Attempt, DecodedFrame, Exchange, Fate, FrameKind, Interval, LinkEvent, NodeId, Rate, Report, Span, Time,
};
use node_capacity::NodeCapacity;
use options::FULL_SIZE;
use peers::Peers;

/// Estimates capacity and available bandwidth from the times of RTS, CTS, DATA and ACK and from their NAVs,
/// in bits per second of MSDUs. In the printed and the strict reading:
///
/// | role in an exchange | capacity | busy time |
/// |---|---|---|
/// | sender | `S / (T_ACK - T_CTS - 2 SIFS)` (Eq. 1) | NAV of the CTS (Eq. 3) |
/// | receiver | `S / (T_DATA - T_RTS - 3 SIFS)` (Eq. 4) | NAV of the RTS (Eq. 5) |
/// | overhearing node | `S / (T_ACK - T_CTS - 2 SIFS)` (Eq. 6) | NAV of RTS, else of CTS (Eqs. 7, 8) |
///
/// The available bandwidth is `C (1 - busy / elapsed)` over all roles: NAVs of all exchanges count, overlaps
/// once. A node that overheard an exchange uses the smaller of that sample and its own next sample (Eqs. 9,
/// 10). Eq. 11, the smaller of sender and receiver, needs a field in the ACK that 802.11 does not have, and
/// is an option; a node reports its own view, without reports of others.
///
/// Before the first sample the capacity is the bit rate at which the node sends DATA, and with
/// [`WinfReading::Whole`] that of Eq. 14. An overhearing node that cannot decode the DATA computes its size
/// from the NAV, at the nominal rate. A NAV that stations reset because nothing followed its RTS does not
/// count after the reset.
#[derive(Clone, Debug)]
pub struct RtWinf {
    options: RtWinfOptions,
    phy: PhyTimes,
    rate: RateInUse,
    in_use: InUse,
    /// Time that [`WinfReading::Whole`] adds to DATA in an exchange.
    extra_time: Span,
    peers: Peers,
    capacity: NodeCapacity,
    /// Last RTS for this node.
    asked: Option<DecodedFrame>,
    overheard: Option<Overheard>,
    /// End of the CTS, and interval of the ACK, of the successful attempt.
    succeeded: Option<(Time, Interval)>,
    /// `NAV / T_Total` of Eq. 7 or 8, if the latest exchange was overheard.
    share_of_exchange: Option<f64>,
}

/// Exchange of other nodes in progress.
#[derive(Clone, Copy, Debug)]
struct Overheard {
    sender: Option<NodeId>,
    share: f64,
    /// End and duration field of the CTS.
    cts: Option<(Time, Span)>,
    data: Option<(u32, Rate)>,
}

impl RtWinf {
    /// Creates an estimator without frames.
    pub fn new(options: RtWinfOptions, phy: PhyTimes) -> RtWinf {
        let whole = options.reading == WinfReading::Whole;
        RtWinf {
            options,
            phy,
            rate: RateInUse::new(phy.data_rate),
            in_use: InUse::new(options.reading, options.window, &phy),
            extra_time: if whole { phy.besides_data(true) } else { Span::ZERO },
            peers: Peers::new(options.window),
            capacity: NodeCapacity::new(options.smoothing),
            asked: None,
            overheard: None,
            succeeded: None,
            share_of_exchange: None,
        }
    }

    /// Capacity in bits per second, in this node's own view.
    pub fn capacity_bps(&self) -> f64 {
        let size = self.options.reference_size.unwrap_or(FULL_SIZE);
        self.capacity.get().unwrap_or_else(|| match self.options.reading {
            WinfReading::Whole => self.phy.at(self.rate.rate()).upper_bound_bps(size, true),
            _ => self.rate.bps(),
        })
    }

    /// Available bandwidth in bits per second at `now`, in this node's own view. `now` must not precede the
    /// last event.
    pub fn available_bps(&self, now: Time) -> f64 {
        let per_exchange = self.options.total_per_exchange && self.options.reading != WinfReading::Whole;
        let of_exchange = self.share_of_exchange.filter(|_| per_exchange);
        let busy = of_exchange.unwrap_or_else(|| self.in_use.share(now));
        self.capacity_bps() * (1.0 - busy).max(0.0)
    }

    fn own_report(&self, now: Time) -> Report {
        Report { capacity_bps: self.capacity_bps(), available_bps: self.available_bps(now) }
    }

    fn on_decoded(&mut self, heard: &DecodedFrame) {
        let mine = heard.to == Some(heard.node);
        if self.options.full_busy || (matches!(heard.kind, FrameKind::Rts | FrameKind::Cts)) {
            self.occupy(heard, mine);
        }
        match heard.kind {
            FrameKind::Rts if mine => self.asked = Some(*heard),
            FrameKind::Data if mine => self.receive(heard),
            FrameKind::Cts | FrameKind::Ack if mine => {}
            FrameKind::Rts => self.overhear_rts(heard),
            FrameKind::Cts => self.overhear_cts(heard),
            FrameKind::Data => self.overhear_data(heard),
            FrameKind::Ack => self.overhear_ack(heard),
            FrameKind::BlockAckRequest | FrameKind::BlockAck | FrameKind::CfEnd => {}
        }
    }

    /// Counts the reservation of a frame. An RTS for this node reserves nothing until DATA shows that it was
    /// answered.
    fn occupy(&mut self, heard: &DecodedFrame, mine: bool) {
        let reserved = heard.air.end + heard.duration;
        let answers = heard.kind == FrameKind::Cts && heard.to != Some(heard.from);
        let before = if answers { self.phy.rts + self.phy.sifs } else { Span::ZERO };
        let start = if self.options.full_busy {
            Time::ZERO + heard.air.start.since(Time::ZERO + before)
        } else {
            heard.air.end
        };
        let end = if heard.kind == FrameKind::Rts && mine { heard.air.end } else { reserved };
        self.in_use.add(Interval { start, end });
    }

    /// Processes DATA for this node (Eqs. 4, 5, 9).
    fn receive(&mut self, data: &DecodedFrame) {
        let asked = self.asked.take().filter(|rts| rts.from == data.from);
        let Some(rts) = asked.filter(|rts| data.air.end <= rts.air.end + rts.duration) else { return };
        self.in_use.add(Interval { start: rts.air.end, end: rts.air.end + rts.duration });
        let others = match self.options.reading {
            WinfReading::Printed => self.phy.sifs * 3,
            WinfReading::Strict | WinfReading::Whole => self.phy.sifs * 2 + self.phy.cts,
        };
        let transfer = data.air.end.since(rts.air.end).saturating_sub(others);
        self.take_part(data.size, transfer, data.rate);
    }

    /// Processes an attempt of this node.
    fn on_attempt(&mut self, attempt: &Attempt) {
        if self.options.full_busy {
            let frames = [attempt.rts, attempt.cts, attempt.data, attempt.ack];
            let mut sent = frames.into_iter().flatten();
            if let Some(first) = sent.next() {
                self.in_use.add(Interval { end: sent.last().unwrap_or(first).end, ..first });
            }
        }
        self.succeeded = attempt.cts.zip(attempt.ack).map(|(cts, ack)| (cts.end, ack));
    }

    /// Processes the end of a frame exchange of this node (Eqs. 1, 10).
    fn on_exchange(&mut self, exchange: &Exchange) {
        let succeeded = self.succeeded.take().filter(|_| exchange.fate == Fate::Acknowledged);
        let Some((cts, ack)) = succeeded else { return };
        self.take_part(exchange.size, self.transfer(cts, ack), exchange.rate);
    }

    fn overhear_rts(&mut self, rts: &DecodedFrame) {
        let nav = rts.duration.seconds();
        let share = nav / (nav + rts.air.length().seconds());
        self.overheard = Some(Overheard { sender: Some(rts.from), share, cts: None, data: None });
    }

    fn overhear_cts(&mut self, cts: &DecodedFrame) {
        let nav = cts.duration.seconds();
        let alone = nav / (nav + cts.air.length().seconds() + 2.0 * self.phy.sifs.seconds());
        let after_rts = self.overheard.filter(|exchange| exchange.sender == cts.to && exchange.cts.is_none());
        let share = after_rts.map_or(alone, |exchange| exchange.share);
        let cts_seen = Some((cts.air.end, cts.duration));
        self.overheard = Some(Overheard { sender: cts.to, share, cts: cts_seen, data: None });
    }

    fn overhear_data(&mut self, data: &DecodedFrame) {
        if let Some(exchange) = &mut self.overheard
            && exchange.sender == Some(data.from)
        {
            exchange.data = Some((data.size, data.rate));
        }
    }

    /// Processes the end of an exchange of other nodes (Eq. 6).
    fn overhear_ack(&mut self, ack: &DecodedFrame) {
        let Some(exchange) = self.overheard.take().filter(|exchange| exchange.sender == ack.to) else {
            return;
        };
        // Rounding of the duration field and propagation may put the ACK slightly beyond the reservation.
        let Some((cts, reserved)) = exchange.cts else { return };
        if ack.air.end > cts + reserved + self.phy.sifs {
            return;
        }
        let hidden = || {
            let data = reserved.saturating_sub(self.phy.sifs * 2 + self.phy.ack);
            (self.phy.size_of(data), self.phy.data_rate)
        };
        let (size, rate) = exchange.data.unwrap_or_else(hidden);
        let transfer = self.transfer(cts, ack.air);
        if let Some(sample) = self.sample(size, transfer, rate) {
            self.capacity.add_overheard(sample);
        }
        self.share_of_exchange = Some(exchange.share);
    }

    fn transfer(&self, cts: Time, ack: Interval) -> Span {
        self.options.reading.transfer(cts, ack, self.phy.sifs)
    }

    fn take_part(&mut self, size: u32, transfer: Span, rate: Rate) {
        if let Some(sample) = self.sample(size, transfer, rate) {
            self.capacity.add_own(sample);
        }
        self.share_of_exchange = None;
    }

    fn sample(&self, size: u32, transfer: Span, rate: Rate) -> Option<f64> {
        capacity_bps(size, transfer + self.extra_time, rate, self.options.reference_size)
    }
}

impl Estimator for RtWinf {
    fn on_link(&mut self, event: &LinkEvent) {
        self.in_use.on_link(event);
        self.rate.on_link(event);
        match event {
            LinkEvent::Decoded(heard) => self.on_decoded(heard),
            LinkEvent::Attempt(attempt) => self.on_attempt(attempt),
            LinkEvent::Exchange(exchange) => self.on_exchange(exchange),
            LinkEvent::Reported(reported) if self.options.ack_report => self.peers.add(*reported),
            LinkEvent::NavReset(at) => self.in_use.cut(*at),
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
}

#[cfg(test)]
mod tests;
