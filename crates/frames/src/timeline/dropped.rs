//! Packets that did not fit a queue: the numbers that its node does not send.

/// Numbers that follow each other, and when these packets were lost.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: i64,
    last: i64,
    time: i64,
    /// How much later the next one is each time.
    step: i64,
}

/// Numbers of packets of a stream, in their order.
#[derive(Clone, Debug, Default)]
pub struct Dropped(Vec<Range>);

impl Dropped {
    /// A packet was lost. One that is not behind all others is left out.
    pub fn add(&mut self, packet: i64, time: i64) {
        let Some(range) = self.0.last_mut() else {
            self.0.push(Range { first: packet, last: packet, time, step: 0 });
            return;
        };
        if packet <= range.last {
            return;
        }
        let passed = time.wrapping_sub(range.time_of(range.last));
        if packet - 1 == range.last && (range.first == range.last || passed == range.step) {
            range.last = packet;
            range.step = passed;
        } else {
            self.0.push(Range { first: packet, last: packet, time, step: 0 });
        }
    }

    /// This number, or the first one after it of a packet that was not lost until `now`.
    pub fn next(&self, packet: i64, now: i64) -> i64 {
        let mut packet = packet;
        for range in &self.0[self.0.partition_point(|range| range.last < packet)..] {
            while range.first <= packet && packet <= range.last {
                if range.time_of(packet) > now {
                    return packet;
                }
                packet = if range.step == 0 { range.last } else { packet }.wrapping_add(1);
            }
            if packet <= range.last {
                break;
            }
        }
        packet
    }
}

impl Range {
    fn time_of(&self, packet: i64) -> i64 {
        self.time.wrapping_add(packet.wrapping_sub(self.first).wrapping_mul(self.step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_left_out() {
        let mut dropped = Dropped::default();
        for (packet, time) in [(5, 10), (6, 20), (7, 30), (9, 30), (10, 30), (11, 30), (2, 40)] {
            dropped.add(packet, time);
        }
        let next = |packet| dropped.next(packet, 100);
        assert_eq!([4, 5, 6, 8, 9, 11, 12, i64::MAX].map(next), [4, 8, 8, 8, 12, 12, 12, i64::MAX]);
        assert_eq!([9, 10, 20, 29, 30].map(|now| dropped.next(5, now)), [5, 6, 7, 7, 8]);
    }
}
