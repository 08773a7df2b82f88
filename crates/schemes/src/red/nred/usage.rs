//! Use of the medium around a node during an interval: the detector of NRED (Xu et al. 2003).

use multihop_core::{Attempt, DecodedFrame, FrameKind, Interval, LinkEvent, Span, Time};
use multihop_link::{BusyRatio, Estimator};

/// Shares of an interval in which the medium was used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UsageShares {
    /// Share of time in which the radio was not idle: transmitting, receiving, sensing a signal or with its
    /// NAV set (`U_busy`).
    pub(super) busy: f64,
    /// Share of time in which the radio transmitted, or received frames for this node (`U_tx + U_rx`).
    pub(super) own: f64,
}

/// Meter of the use of the medium in an interval: the busy time, and the part of it in the node's own
/// exchanges.
///
/// Own time is that of the node's RTS and DATA and of the CTS and ACK that it received. It also includes RTS
/// and DATA for this node with the node's responses. No event reports these responses, so their time is what
/// the frames leave for them, including SIFS. Broadcasts do not count. An attempt counts in the interval in
/// which its outcome is known.
#[derive(Clone, Debug)]
pub(super) struct MediumUsage {
    busy: BusyRatio,
    since: Time,
    own: Span,
    /// Latest RTS for this node.
    last_rts: Option<DecodedFrame>,
}

impl MediumUsage {
    /// Creates a meter for intervals of at least this length, the first of which starts with the run.
    pub(super) fn new(interval: Span) -> MediumUsage {
        MediumUsage { busy: BusyRatio::new(interval), since: Time::ZERO, own: Span::ZERO, last_rts: None }
    }

    /// Processes an event at the MAC of this node.
    pub(super) fn on_link(&mut self, event: &LinkEvent) {
        self.busy.on_link(event);
        match event {
            LinkEvent::Attempt(attempt) => self.own += attempt_airtime(attempt),
            LinkEvent::Decoded(heard) if heard.to == Some(heard.node) => self.note_received(heard),
            _ => {}
        }
    }

    /// Ends the interval and starts the next one. The busy share is that of the latest time of the given
    /// length.
    pub(super) fn end_interval(&mut self, now: Time) -> UsageShares {
        let own = self.own.seconds() / now.since(self.since).seconds();
        self.start_interval(now);
        UsageShares { busy: self.busy.at(now).unwrap_or(0.0), own: own.min(1.0) }
    }

    /// Starts an interval with no own time. The busy ratio has a sliding window and is not reset.
    pub(super) fn start_interval(&mut self, now: Time) {
        (self.since, self.own) = (now, Span::ZERO);
    }

    fn note_received(&mut self, heard: &DecodedFrame) {
        match heard.kind {
            FrameKind::Rts => {
                self.own += heard.air.length();
                self.last_rts = Some(*heard);
            }
            FrameKind::Data => {
                let before = self.last_rts.take().map(|rts| gap_before_data(&rts, heard));
                self.own += before.unwrap_or(Span::ZERO) + heard.air.length() + heard.duration;
            }
            FrameKind::Cts
            | FrameKind::Ack
            | FrameKind::BlockAckRequest
            | FrameKind::BlockAck
            | FrameKind::CfEnd => {}
        }
    }
}

/// Returns the airtime of the frames of an attempt.
fn attempt_airtime(attempt: &Attempt) -> Span {
    [attempt.rts, attempt.cts, attempt.data, attempt.ack].into_iter().flatten().map(Interval::length).sum()
}

/// Returns the time between an RTS and the DATA that it announced; zero if it did not announce the DATA.
fn gap_before_data(rts: &DecodedFrame, data: &DecodedFrame) -> Span {
    let announced = data.from == rts.from && data.air.start <= rts.air.end + rts.duration;
    if announced { data.air.start.since(rts.air.end) } else { Span::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{FlowId, NodeId, Rate};

    fn us(us: u64) -> Time {
        Time::from_ns(us * 1_000)
    }

    fn air(start: u64, end: u64) -> Interval {
        Interval { start: us(start), end: us(end) }
    }

    fn heard(kind: FrameKind, from: u32, to: Option<u32>, start: u64, end: u64, duration: u64) -> LinkEvent {
        LinkEvent::Decoded(DecodedFrame {
            node: NodeId(0),
            kind,
            from: NodeId(from),
            to: to.map(NodeId),
            air: air(start, end),
            duration: Span::from_us(duration),
            size: 0,
            flow: None,
            rate: Rate::from_kbps(1_000),
        })
    }

    fn busy(usage: &mut MediumUsage, start: u64, end: u64) {
        usage.on_link(&LinkEvent::BusyFrom(us(start)));
        usage.on_link(&LinkEvent::Busy(air(start, end)));
    }

    fn attempt(rts: (u64, u64), data: Option<(u64, u64)>) -> LinkEvent {
        LinkEvent::Attempt(Attempt {
            node: NodeId(0),
            peer: NodeId(1),
            flow: FlowId(0),
            cw: 31,
            slots: 0,
            rts: Some(air(rts.0, rts.1)),
            cts: data.map(|_| air(rts.1 + 10, rts.1 + 310)),
            data: data.map(|(start, end)| air(start, end)),
            ack: data.map(|(_, end)| air(end + 10, end + 310)),
        })
    }

    /// 100 ms with an own exchange, an unanswered RTS, an exchange for this node, and DATA of another
    /// exchange.
    #[test]
    fn an_interval_by_hand() {
        let mut usage = MediumUsage::new(Span::from_ms(100));
        busy(&mut usage, 0, 350);
        busy(&mut usage, 360, 660);
        busy(&mut usage, 670, 8_670);
        busy(&mut usage, 8_680, 8_980);
        usage.on_link(&attempt((0, 350), Some((670, 8_670)))); // 350 + 300 + 8000 + 300
        busy(&mut usage, 20_000, 20_350);
        usage.on_link(&attempt((20_000, 20_350), None)); // 350
        busy(&mut usage, 30_000, 30_350);
        usage.on_link(&heard(FrameKind::Rts, 2, Some(0), 30_000, 30_350, 8_640));
        busy(&mut usage, 30_360, 30_660);
        busy(&mut usage, 30_670, 38_670);
        usage.on_link(&heard(FrameKind::Data, 2, Some(0), 30_670, 38_670, 310)); // 350 + 320 + 8000 + 310
        busy(&mut usage, 38_680, 38_980);
        busy(&mut usage, 50_000, 60_000);
        usage.on_link(&heard(FrameKind::Data, 3, Some(4), 50_000, 60_000, 310));
        let shares = usage.end_interval(us(100_000));
        assert!((shares.own - (8_950.0 + 350.0 + 8_980.0) / 1e5).abs() < 1e-12, "{shares:?}");
        assert!((shares.busy - (8_950.0 + 350.0 + 8_950.0 + 10_000.0) / 1e5).abs() < 1e-12, "{shares:?}");
        assert_eq!(usage.end_interval(us(200_000)), UsageShares { busy: 0.0, own: 0.0 });
    }

    #[test]
    fn an_rts_without_data_adds_nothing_to_later_data() {
        let own_us = |rts_from: u32, data_at: u64| {
            let mut usage = MediumUsage::new(Span::from_ms(100));
            usage.on_link(&heard(FrameKind::Rts, rts_from, Some(0), 0, 350, 8_640));
            usage.on_link(&heard(FrameKind::Data, 2, Some(0), data_at, data_at + 8_000, 310));
            (usage.end_interval(us(100_000)).own * 1e5).round() as u64
        };
        assert_eq!(own_us(2, 670), 350 + 320 + 8_310);
        assert_eq!(own_us(3, 670), 350 + 8_310);
        assert_eq!(own_us(2, 50_000), 350 + 8_310);
    }

    #[test]
    fn the_nav_is_busy_time_but_not_own_time() {
        let mut usage = MediumUsage::new(Span::from_ms(100));
        usage.on_link(&LinkEvent::BusyFrom(us(0)));
        usage.on_link(&LinkEvent::NavSet(air(350, 50_000)));
        usage.on_link(&LinkEvent::Busy(air(0, 350)));
        assert_eq!(usage.end_interval(us(100_000)), UsageShares { busy: 0.5, own: 0.0 });
    }
}
