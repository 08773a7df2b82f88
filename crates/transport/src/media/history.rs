//! Packets in flight, and their fates from reports.

use super::control::PacketFate;
use super::header::{MediaReport, NUMBERS, ReceiverClock};
use multihop_core::{Ecn, Span, Time};
use std::collections::VecDeque;

/// Packet that no report has covered.
#[derive(Clone, Copy, Debug)]
struct SentPacket {
    number: u64,
    payload: u32,
    sent: Time,
}

/// Packets sent, from the oldest that no report has covered.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    packets: VecDeque<SentPacket>,
    /// Number of the next packet.
    next: u64,
    in_flight: u64,
    clock: ReceiverClock,
    fates: Vec<PacketFate>,
}

impl History {
    /// Records a packet. Returns its number.
    pub(super) fn sent(&mut self, now: Time, payload: u32) -> u64 {
        let number = self.next;
        self.next += 1;
        self.in_flight += u64::from(payload);
        self.packets.push_back(SentPacket { number, payload, sent: now });
        number
    }

    /// Payload bytes sent after the newest packet that a report covered.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Fates from the latest report.
    pub(super) fn fates(&self) -> &[PacketFate] {
        &self.fates
    }

    /// Forgets all packets. Reports on them will be ignored.
    pub(super) fn forget(&mut self) {
        self.packets.clear();
        self.in_flight = 0;
    }

    /// Processes a report: sets the fates of the packets that it covers first, and returns the round-trip
    /// time of the newest packet that arrived. Packets before it that no report covered, because a report was
    /// lost, leave without a fate.
    pub(super) fn report(&mut self, now: Time, report: &MediaReport) -> Option<Span> {
        self.fates.clear();
        let stamp = self.clock.read(report.stamp);
        let behind = self.next.wrapping_sub(u64::from(report.first)) & NUMBERS;
        let first = self.next.saturating_sub(behind);
        let mut rtt = None;
        for (number, fate) in (first..).zip(report.fates()) {
            let Some(packet) = self.take(number) else { continue };
            if let Some((held, _)) = fate {
                rtt = Some(now.since(packet.sent).saturating_sub(held).max(Span::from_us(1)));
            }
            self.fates.push(PacketFate {
                number,
                payload: packet.payload,
                sent: packet.sent.seconds(),
                arrival: fate.map(|(held, _)| stamp - held.seconds()),
                marked: fate.is_some_and(|(_, ecn)| ecn == Ecn::CongestionExperienced),
            });
        }
        rtt
    }

    /// Removes the packet of this number and all older ones. None if it is not there.
    fn take(&mut self, number: u64) -> Option<SentPacket> {
        while let Some(packet) = self.packets.front().copied().filter(|packet| packet.number <= number) {
            self.packets.pop_front();
            self.in_flight -= u64::from(packet.payload);
            if packet.number == number {
                return Some(packet);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn report(at: u64, first: u64, arrivals: &[Option<u64>]) -> MediaReport {
        let packets = arrivals.iter().map(|arrival| arrival.map(|at| (ms(at), Ecn::NotCapable)));
        MediaReport::on(ms(at), first, packets)
    }

    /// Five packets of 100 bytes each 10 ms. A report at 500 ms says that 0 arrived 250 ms before, 1 is
    /// missing, 2 arrived just then; it is there at 600 ms: 600 - 20 ms. A report on 3 is lost, and that on 4
    /// leaves 3 without a fate.
    #[test]
    fn fates_by_hand() {
        let mut history = History::default();
        (0..5).for_each(|number| assert_eq!(history.sent(ms(10 * number), 100), number));
        assert_eq!(history.in_flight(), 500);
        let rtt = history.report(ms(600), &report(500, 0, &[Some(250), None, Some(500)]));
        assert_eq!((rtt, history.in_flight()), (Some(Span::from_ms(580)), 200));
        let found: Vec<_> = history.fates().iter().map(|fate| (fate.number, fate.arrival)).collect();
        assert_eq!(found, [(0, Some(0.25)), (1, None), (2, Some(0.5))]);
        assert_eq!(history.fates()[2].delay(), Some(0.48));
        history.report(ms(700), &report(500, 4, &[None]));
        assert_eq!((history.fates().len(), history.fates()[0].number, history.in_flight()), (1, 4, 0));
    }

    #[test]
    fn a_report_counts_once() {
        let mut history = History::default();
        (0..3).for_each(|_| _ = history.sent(ms(0), 100));
        assert!(history.report(ms(50), &report(40, 0, &[Some(40), Some(40)])).is_some());
        assert_eq!(history.report(ms(60), &report(40, 0, &[Some(40), Some(40)])), None);
        assert_eq!((history.fates(), history.in_flight()), (&[][..], 100));
        history.forget();
        assert_eq!(history.report(ms(70), &report(60, 2, &[Some(60)])), None);
        assert_eq!(history.in_flight(), 0);
    }

    /// Numbers of 24 bits in reports.
    #[test]
    fn numbers_may_wrap() {
        let mut history = History { next: 0x1ff_ffff, ..History::default() };
        (0..2).for_each(|_| _ = history.sent(ms(0), 100));
        history.report(ms(50), &report(40, 0x1ff_ffff, &[Some(40), None]));
        let numbers: Vec<u64> = history.fates().iter().map(|fate| fate.number).collect();
        assert_eq!(numbers, [0x1ff_ffff, 0x200_0000]);
    }
}
