//! Outstanding segments of a sender, in sequence and in the order of their last transmission.

use crate::tcp::ranges::ByteRanges;
use crate::tcp::recovery::PlannedRange;
use multihop_core::{Span, Time};
use std::collections::VecDeque;

/// Outstanding segment, with the boundaries of its first transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutstandingSegment {
    pub start: u64,
    pub end: u64,
    /// Time of the last transmission, and its number among all transmissions.
    pub sent: Time,
    pub transmission: u64,
    /// Whether the segment was ever retransmitted.
    pub was_retransmitted: bool,
    /// Whether the segment was selectively acknowledged.
    pub is_sacked: bool,
    /// Whether the first transmission counts as lost.
    pub is_lost: bool,
    /// Whether a retransmission is in flight.
    pub repair_in_flight: bool,
}

impl OutstandingSegment {
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }

    /// Whether the segment waits for a retransmission.
    fn needs_repair(&self) -> bool {
        self.is_lost && !self.repair_in_flight && !self.is_sacked
    }

    /// Number of bytes of its copies in the network.
    fn bytes_in_flight(&self) -> u64 {
        let copies = u64::from(!self.is_lost) + u64::from(self.repair_in_flight);
        if self.is_sacked { 0 } else { copies * self.bytes() }
    }
}

/// Transmission of a segment.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    number: u64,
    /// First byte of the segment.
    start: u64,
}

/// Result of a search for lost segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DetectedLosses {
    /// Number of bytes newly lost.
    pub lost: u64,
    /// Whether lost retransmissions are among them.
    pub repairs: bool,
    /// Time until the last of the other segments that were sent earlier counts as lost.
    pub wait: Option<Span>,
}

/// Segments `una..max`, with sums over them.
#[derive(Clone, Debug, Default)]
pub(super) struct OutstandingSegments {
    in_sequence: VecDeque<OutstandingSegment>,
    /// Last transmission of each segment, in order. Entries of segments that were acknowledged, lost or sent
    /// again are outdated.
    in_time: VecDeque<Transmission>,
    /// Number of transmissions.
    transmissions: u64,
    sacked: ByteRanges,
    sacked_segments: u32,
    in_flight: u64,
    /// Bytes of retransmissions in flight.
    repairs: u64,
    /// Bytes that wait for a retransmission, and a sequence number below which none do.
    to_repair: u64,
    first_to_repair: u64,
    /// Segments newly lost, in order, that were not reported yet.
    lost: VecDeque<PlannedRange>,
}

impl OutstandingSegments {
    /// Number of bytes in the network (`tcp_packets_in_flight` of Linux).
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Number of bytes that were selectively acknowledged.
    pub fn sacked(&self) -> u64 {
        self.sacked.bytes()
    }

    /// Number of segments that were selectively acknowledged.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Whether a retransmission is in flight.
    pub fn has_repairs_in_flight(&self) -> bool {
        self.repairs > 0
    }

    /// Whether lost data waits for a retransmission.
    pub fn has_losses_to_repair(&self) -> bool {
        self.to_repair > 0
    }

    pub fn first(&self) -> Option<&OutstandingSegment> {
        self.in_sequence.front()
    }

    pub fn last(&self) -> Option<&OutstandingSegment> {
        self.in_sequence.back()
    }

    /// Whether at most one segment is outstanding.
    pub fn is_single(&self) -> bool {
        self.in_sequence.len() <= 1
    }

    fn index_of(&self, start: u64) -> usize {
        self.in_sequence.partition_point(|segment| segment.end <= start)
    }

    /// Changes a segment, and the sums with it.
    fn update(&mut self, index: usize, change: impl FnOnce(&mut OutstandingSegment)) {
        let before = self.in_sequence[index];
        self.subtract(&before);
        change(&mut self.in_sequence[index]);
        let after = self.in_sequence[index];
        self.add(&after);
    }

    fn add(&mut self, segment: &OutstandingSegment) {
        self.in_flight += segment.bytes_in_flight();
        self.sacked_segments += u32::from(segment.is_sacked);
        self.repairs += if segment.repair_in_flight { segment.bytes() } else { 0 };
        if segment.needs_repair() {
            self.to_repair += segment.bytes();
            self.first_to_repair = self.first_to_repair.min(segment.start);
        }
    }

    fn subtract(&mut self, segment: &OutstandingSegment) {
        self.in_flight -= segment.bytes_in_flight();
        self.sacked_segments -= u32::from(segment.is_sacked);
        self.repairs -= if segment.repair_in_flight { segment.bytes() } else { 0 };
        self.to_repair -= if segment.needs_repair() { segment.bytes() } else { 0 };
    }

    /// Adds the last transmission of a segment in its place.
    fn insert_in_time(&mut self, segment: &OutstandingSegment) {
        let (number, start) = (segment.transmission, segment.start);
        let at = self.in_time.partition_point(|entry| entry.number <= number);
        self.in_time.insert(at, Transmission { number, start });
    }

    /// Records the transmission of `start..end`: new data, or a retransmission of the segments in this range.
    /// A retransmission that `replaces` a segment which left the network adds no copy.
    pub fn on_sent(&mut self, now: Time, start: u64, end: u64, replaces: bool) {
        let mut index = self.index_of(start);
        while index < self.in_sequence.len() && self.in_sequence[index].start < end {
            self.transmissions += 1;
            let number = self.transmissions;
            self.update(index, |segment| {
                (segment.sent, segment.transmission) = (now, number);
                segment.was_retransmitted = true;
                segment.repair_in_flight |= !segment.is_sacked && (segment.is_lost || !replaces);
            });
            self.in_time.push_back(Transmission { number, start: self.in_sequence[index].start });
            index += 1;
        }
        let start = self.last().map_or(start, |last| last.end.max(start));
        if start < end {
            self.transmissions += 1;
            let number = self.transmissions;
            let segment = OutstandingSegment {
                start,
                end,
                sent: now,
                transmission: number,
                was_retransmitted: false,
                is_sacked: false,
                is_lost: false,
                repair_in_flight: false,
            };
            self.in_sequence.push_back(segment);
            self.add(&segment);
            self.in_time.push_back(Transmission { number, start });
        }
        self.first_to_repair = self.next_to_repair().map_or(u64::MAX, |segment| segment.start);
    }

    /// Removes the data below `una`. Calls `deliver` for each segment, or part of a segment, that is removed
    /// and was not selectively acknowledged before.
    pub fn acknowledge(&mut self, una: u64, mut deliver: impl FnMut(&OutstandingSegment)) {
        self.sacked.remove_below(una);
        while let Some(first) = self.in_sequence.front().copied().filter(|first| first.start < una) {
            self.subtract(&first);
            if !first.is_sacked {
                deliver(&OutstandingSegment { end: first.end.min(una), ..first });
            }
            if first.end <= una {
                self.in_sequence.pop_front();
            } else {
                let rest = OutstandingSegment { start: una, ..first };
                self.in_sequence[0] = rest;
                self.add(&rest);
                self.insert_in_time(&rest);
            }
        }
        self.drop_outdated();
    }

    /// Records a SACK block. Calls `deliver` for each segment that it newly covers.
    pub fn sack(&mut self, start: u64, end: u64, mut deliver: impl FnMut(&OutstandingSegment)) {
        let mut start = start;
        while start < end {
            if let Some(range) = self.sacked.containing(start) {
                start = range.end;
                continue;
            }
            let gap_end = self.sacked.after(start).map_or(end, |range| range.start.min(end));
            self.sack_gap(start, gap_end, &mut deliver);
            start = gap_end;
        }
    }

    /// Records bytes `start..end`, none of which were selectively acknowledged before.
    fn sack_gap(&mut self, start: u64, end: u64, deliver: &mut impl FnMut(&OutstandingSegment)) {
        let mut index = self.in_sequence.partition_point(|segment| segment.start < start);
        while let Some(segment) = self.in_sequence.get(index).copied().filter(|segment| segment.end <= end) {
            self.update(index, |segment| {
                segment.is_sacked = true;
                segment.repair_in_flight = false;
            });
            self.sacked.add(segment.start, segment.end);
            deliver(&segment);
            index += 1;
        }
    }

    /// Whether an entry of `in_time` is the last transmission of a segment that may still be lost.
    fn position(&self, entry: Transmission) -> Option<usize> {
        let index = self.index_of(entry.start);
        let segment = self.in_sequence.get(index)?;
        let is_current = segment.start == entry.start && segment.transmission == entry.number;
        let may_be_lost = !segment.is_sacked && (!segment.is_lost || segment.repair_in_flight);
        (is_current && may_be_lost).then_some(index)
    }

    fn drop_outdated(&mut self) {
        while let Some(entry) = self.in_time.front().copied()
            && self.position(entry).is_none()
        {
            self.in_time.pop_front();
        }
    }

    /// Marks as lost each segment that was sent before transmission `newest`, and at least `limit` ago (RFC
    /// 8985, section 6.2, `RACK_detect_loss`).
    pub fn detect_losses(&mut self, now: Time, newest: u64, limit: Span) -> DetectedLosses {
        self.drop_outdated();
        let mut found = DetectedLosses::default();
        let mut at = 0;
        while let Some(entry) = self.in_time.get(at).copied() {
            at += 1;
            let Some(index) = self.position(entry) else { continue };
            let segment = self.in_sequence[index];
            if segment.transmission >= newest {
                break;
            }
            let age = now.since(segment.sent);
            if age >= limit {
                found.repairs |= segment.repair_in_flight;
                found.lost += self.mark_lost(index);
            } else {
                found.wait = found.wait.max(Some(limit - age));
            }
        }
        self.drop_outdated();
        found
    }

    /// Marks the last transmission of a segment as lost. Returns the number of its bytes.
    fn mark_lost(&mut self, index: usize) -> u64 {
        self.update(index, |segment| {
            segment.is_lost = true;
            segment.repair_in_flight = false;
        });
        let OutstandingSegment { start, end, .. } = self.in_sequence[index];
        self.lost.push_back(PlannedRange { start, end });
        end - start
    }

    /// Returns the first segment that was marked as lost and not returned before.
    pub fn next_lost(&mut self) -> Option<PlannedRange> {
        self.lost.pop_front()
    }

    /// Marks as lost, after a timeout, the first segment and all others that were sent at least `limit` ago
    /// (`tcp_timeout_mark_lost` of Linux; RFC 8985, section 6.3). Returns the number of bytes newly lost.
    pub fn mark_lost_at_timeout(&mut self, now: Time, limit: Span) -> u64 {
        let mut lost = 0;
        for index in 0..self.in_sequence.len() {
            let segment = self.in_sequence[index];
            let may_be_lost = !segment.is_sacked && (!segment.is_lost || segment.repair_in_flight);
            if may_be_lost && (index == 0 || now.since(segment.sent) >= limit) {
                lost += self.mark_lost(index);
            }
        }
        self.drop_outdated();
        lost
    }

    /// Unmarks all lost segments, after their losses proved wrong.
    pub fn forget_losses(&mut self) {
        for index in 0..self.in_sequence.len() {
            let segment = self.in_sequence[index];
            if segment.is_lost {
                self.update(index, |segment| segment.is_lost = false);
                self.insert_in_time(&segment);
            }
        }
        self.drop_outdated();
    }

    /// First lost segment that waits for a retransmission.
    pub fn next_to_repair(&self) -> Option<&OutstandingSegment> {
        if self.to_repair == 0 {
            return None;
        }
        let from = self.index_of(self.first_to_repair);
        self.in_sequence.range(from..).find(|segment| segment.needs_repair())
    }
}
