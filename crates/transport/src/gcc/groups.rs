//! Groups of packets, and the variation of their delay (draft-ietf-rmcat-gcc-02, sections 5.1 and 5.2).

use crate::media::PacketFate;

/// Change from one group to the next. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variation {
    /// Difference of the groups' delays: `d(i)`.
    pub(super) delay: f64,
    /// Time between the departures of the groups.
    pub(super) departure: f64,
    /// Arrival of the newer group, by the receiver's clock.
    pub(super) arrival: f64,
}

/// Packets that count as one measurement. Times are in seconds.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: f64,
    last_sent: f64,
    first_arrival: f64,
    last_arrival: f64,
}

/// Sequence of groups.
#[derive(Clone, Debug)]
pub(super) struct PacketGroups {
    burst: f64,
    previous: Option<Group>,
    current: Option<Group>,
}

/// Resolution of send times in seconds. Bursts leave at multiples of the burst time, so that two of them are
/// one burst time apart.
const RESOLUTION: f64 = 1e-6;
/// Maximum time in seconds between the arrivals of a group's first and last packet. The draft has no limit;
/// this is that of libwebrtc.
const LONGEST_GROUP: f64 = 0.1;

impl Group {
    fn of(sent: f64, arrival: f64) -> Group {
        Group { first_sent: sent, last_sent: sent, first_arrival: arrival, last_arrival: arrival }
    }

    /// Whether a packet belongs to this group: it was sent within the burst time, or arrived within it after
    /// the last packet and with a shorter delay, as after an outage.
    fn contains(&self, sent: f64, arrival: f64, burst: f64) -> bool {
        let gap = arrival - self.last_arrival;
        let is_shorter = gap - (sent - self.last_sent) < 0.0;
        let is_short_group = arrival - self.first_arrival < LONGEST_GROUP;
        sent - self.first_sent < burst - RESOLUTION || (gap < burst && is_shorter && is_short_group)
    }
}

impl PacketGroups {
    /// Creates an empty sequence of groups that leave within `burst` seconds.
    pub(super) fn new(burst: f64) -> PacketGroups {
        PacketGroups { burst, previous: None, current: None }
    }

    /// Adds a packet. Returns the change to the current group when the packet begins a new one. Lost packets
    /// and those out of order are ignored.
    pub(super) fn add(&mut self, packet: &PacketFate) -> Option<Variation> {
        let (sent, arrival) = (packet.sent, packet.arrival?);
        let Some(current) = &mut self.current else {
            self.current = Some(Group::of(sent, arrival));
            return None;
        };
        if sent < current.last_sent || arrival < current.last_arrival {
            return None;
        }
        if current.contains(sent, arrival, self.burst) {
            (current.last_sent, current.last_arrival) = (sent, arrival);
            return None;
        }
        let complete = std::mem::replace(current, Group::of(sent, arrival));
        let previous = self.previous.replace(complete)?;
        let departure = complete.last_sent - previous.last_sent;
        Some(Variation {
            delay: (complete.last_arrival - previous.last_arrival - departure) * 1e3,
            departure: departure * 1e3,
            arrival: complete.last_arrival * 1e3,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds packets with these send and arrival times in milliseconds, or none if lost. Returns delay
    /// variation and departure of each change in milliseconds.
    fn changes(packets: &[(f64, Option<f64>)]) -> Vec<(f64, f64)> {
        let mut groups = PacketGroups::new(0.005);
        let mut add = |&(sent, arrival): &(f64, Option<f64>)| {
            let (sent, arrival) = (sent * 1e-3, arrival.map(|at| at * 1e-3));
            groups.add(&PacketFate { number: 0, payload: 1, sent, arrival, marked: false })
        };
        let rounded = |value: f64| (value * 1e6).round() / 1e6;
        let found = packets.iter().filter_map(&mut add);
        found.map(|change| (rounded(change.delay), rounded(change.departure))).collect()
    }

    /// Groups of 0, 4 | 10 | 15, 19 | 40. Last departures 4, 10, 19; last arrivals 106, 111, 121. The delay
    /// changes by 5 - 6 and by 10 - 9. A packet 5 ms after the first of a group begins the next group.
    #[test]
    fn a_burst_is_a_group() {
        let packets = [(0, 101), (4, 106), (10, 111), (15, 116), (19, 121), (40, 141)];
        let packets = packets.map(|(sent, arrival)| (f64::from(sent), Some(f64::from(arrival))));
        assert_eq!(changes(&packets), [(-1.0, 6.0), (1.0, 9.0)]);
    }

    /// Packets each 10 ms stop at an outage and arrive 1 ms apart after it: one group, sent 20 to 50 and
    /// there from 200 to 203. The next one arrives as late as it was sent, and is a group of its own.
    #[test]
    fn arrivals_in_a_burst_are_a_group() {
        let packets =
            [(0, 100), (10, 110), (20, 200), (30, 201), (40, 202), (50, 203), (160, 260), (170, 270)];
        let packets = packets.map(|(sent, arrival)| (f64::from(sent), Some(f64::from(arrival))));
        assert_eq!(changes(&packets), [(0.0, 10.0), (53.0, 40.0), (-53.0, 110.0)]);
    }

    #[test]
    fn lost_and_late_packets_are_ignored() {
        let packets =
            [(0.0, Some(100.0)), (10.0, Some(110.0)), (20.0, None), (5.0, Some(111.0)), (30.0, Some(130.0))];
        assert_eq!(changes(&packets), [(0.0, 10.0)]);
    }

    /// Packets that arrive 3 ms apart, sent 4 ms apart, would be one group for ever: groups end at 100 ms.
    #[test]
    fn a_group_has_an_end() {
        let packets: Vec<_> =
            (0..200).map(|n| (4.0 * f64::from(n), Some(1_000.0 + 3.0 * f64::from(n)))).collect();
        assert!(changes(&packets).len() >= 4);
    }
}
