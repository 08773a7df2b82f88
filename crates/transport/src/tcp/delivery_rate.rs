//! Estimation of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-00): one rate sample per
//! acknowledgement.
//!
//! Each segment stores the amount delivered when it was sent. When the segment itself is delivered, the
//! difference is the amount delivered in between. The elapsed time is the longer one of the send interval and
//! the acknowledgement interval. The send interval is longer if acknowledgements are compressed, and a path
//! cannot deliver faster than data is sent for long.

use crate::LostSegment;
use multihop_core::{SackBlock, Span, Time};
use std::collections::VecDeque;

/// State of a connection (section "Per-connection (C) state" of the draft), and of its outstanding segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryRate {
    /// Outstanding segments in order, with the boundaries of their first transmission.
    segments: VecDeque<OutstandingSegment>,
    /// `C.delivered`: number of bytes acknowledged, cumulatively or selectively.
    delivered: u64,
    /// `C.delivered_time`: time at which it last grew.
    delivered_time: Time,
    /// `C.first_sent_time`: send time of the segment that was delivered last.
    first_sent_time: Time,
    /// `C.app_limited`: value of `delivered` at which the application-limited phase ends.
    limited_until: Option<u64>,
    /// `C.lost` (draft-ietf-ccwg-bbr-06, section 2.2): number of bytes lost.
    lost: u64,
    /// Minimum round-trip time of segments that were sent once.
    least_rtt: Option<Span>,
}

/// Outstanding segment (section "Per-packet (P) state").
#[derive(Clone, Copy, Debug)]
struct OutstandingSegment {
    start: u64,
    end: u64,
    /// Whether the segment was sent only once.
    sent_once: bool,
    /// Whether the segment was selectively acknowledged.
    sacked: bool,
    departure: SendState,
}

/// State of the connection when a segment was last sent.
#[derive(Clone, Copy, Debug)]
struct SendState {
    sent: Time,
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    app_limited: bool,
    /// Bytes in flight, this segment included, and bytes lost so far (`P.tx_in_flight` and `P.lost` of
    /// draft-ietf-ccwg-bbr-06, section 4.1.2.1.2).
    in_flight: u64,
    lost: u64,
}

/// Rate sample of an acknowledgement (section "Rate Sample (rs) output").
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateSample {
    /// Number of bytes newly delivered.
    pub size: u64,
    /// Number of bytes delivered so far.
    pub delivered: u64,
    /// Number of bytes delivered when the newest of these segments was sent.
    pub prior_delivered: u64,
    /// Bytes per second; none if that segment was sent less than a round trip ago.
    pub rate: Option<f64>,
    /// Whether that segment was sent while application-limited.
    pub app_limited: bool,
    /// Round-trip time of that segment, if it was sent once (Karn).
    pub rtt: Option<Span>,
    /// Bytes in flight when that segment was sent, and bytes lost since.
    pub in_flight_at_send: u64,
    pub lost_since_send: u64,
}

impl DeliveryRate {
    /// Records the sending of bytes `start..end`, for the first time or again, with `in_flight` bytes in the
    /// network ("Transmitting a data packet").
    pub fn on_sent(&mut self, now: Time, start: u64, end: u64, in_flight: u64) {
        if in_flight == 0 {
            (self.first_sent_time, self.delivered_time) = (now, now);
        }
        let departure = SendState {
            sent: now,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent_time: self.first_sent_time,
            app_limited: self.limited_until.is_some(),
            in_flight: in_flight + (end - start),
            lost: self.lost,
        };
        let first = self.segments.partition_point(|segment| segment.end <= start);
        for segment in self.segments.range_mut(first..).take_while(|segment| segment.start < end) {
            (segment.departure, segment.sent_once) = (departure, false);
        }
        let start = self.segments.back().map_or(start, |last| last.end.max(start));
        if start < end {
            self.segments.push_back(OutstandingSegment {
                start,
                end,
                sent_once: true,
                sacked: false,
                departure,
            });
        }
    }

    /// Processes an acknowledgement of everything below `una` and in `blocks` ("Upon receiving an ACK"). None
    /// if it delivers nothing new.
    pub fn on_ack(&mut self, now: Time, una: u64, blocks: &[SackBlock]) -> Option<RateSample> {
        let before = self.delivered;
        let mut newest = None;
        while let Some(segment) = self.segments.front().copied().filter(|segment| segment.end <= una) {
            self.segments.pop_front();
            if !segment.sacked {
                self.deliver(segment, &mut newest);
            }
        }
        for block in blocks {
            let first = self.segments.partition_point(|segment| segment.start < block.start);
            for index in first..self.segments.len() {
                let segment = self.segments[index];
                if segment.end > block.end {
                    break;
                }
                if !segment.sacked {
                    self.segments[index].sacked = true;
                    self.deliver(segment, &mut newest);
                }
            }
        }
        let newest = newest?;
        self.delivered_time = now;
        self.first_sent_time = newest.departure.sent;
        self.limited_until = self.limited_until.filter(|until| self.delivered <= *until);
        Some(self.sample(now, newest, before))
    }

    fn deliver(&mut self, segment: OutstandingSegment, newest: &mut Option<OutstandingSegment>) {
        self.delivered += segment.end - segment.start;
        let order = |segment: &OutstandingSegment| (segment.departure.sent, segment.end);
        if newest.as_ref().is_none_or(|newest| order(newest) < order(&segment)) {
            *newest = Some(segment);
        }
    }

    fn sample(&mut self, now: Time, newest: OutstandingSegment, before: u64) -> RateSample {
        let SendState { sent, delivered, delivered_time, first_sent_time, app_limited, in_flight, lost } =
            newest.departure;
        let rtt = newest.sent_once.then(|| now.since(sent));
        self.least_rtt = [self.least_rtt, rtt].into_iter().flatten().min();
        let interval = sent.since(first_sent_time).max(now.since(delivered_time));
        // A shorter interval comes from an unnecessary retransmission.
        let plausible = interval > Span::ZERO && self.least_rtt.is_none_or(|least| interval >= least);
        let rate = plausible.then(|| (self.delivered - delivered) as f64 * 1e9 / interval.ns() as f64);
        let size = self.delivered - before;
        RateSample {
            size,
            delivered: self.delivered,
            prior_delivered: delivered,
            rate,
            app_limited,
            rtt,
            in_flight_at_send: in_flight,
            lost_since_send: self.lost - lost,
        }
    }

    /// Counts bytes `start..end` of an outstanding segment as lost.
    pub fn on_lost(&mut self, start: u64, end: u64) -> Option<LostSegment> {
        let index = self.segments.partition_point(|segment| segment.end <= start);
        let SendState { in_flight, lost, app_limited, .. } = self.segments.get(index)?.departure;
        let size = end - start;
        self.lost += size;
        let lost_since_send = self.lost - lost;
        Some(LostSegment { start, size, in_flight_at_send: in_flight, lost_since_send, app_limited })
    }

    /// Starts an application-limited phase: the application has nothing to send although the window allows
    /// it, with `in_flight` bytes in the network ("Detecting application-limited phases"). Rates of data sent
    /// until these bytes are delivered say little about the path.
    pub fn mark_app_limited(&mut self, in_flight: u64) {
        self.limited_until = Some((self.delivered + in_flight).max(1));
    }

    /// Whether data sent now is application-limited.
    pub fn is_app_limited(&self) -> bool {
        self.limited_until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn rate(sample: Option<RateSample>) -> f64 {
        sample.unwrap().rate.unwrap()
    }

    /// Segments of 1000 bytes, 10 ms apart, with a round trip of 100 ms: after the first window, 1000 bytes
    /// per 10 ms.
    #[test]
    fn a_steady_flow_has_the_rate_at_which_it_is_sent() {
        let mut rates = DeliveryRate::default();
        let mut last = None;
        for i in 0..60 {
            if i >= 10 {
                last = rates.on_ack(ms(10 * i), 1_000 * (i - 9), &[]);
            }
            rates.on_sent(ms(10 * i), 1_000 * i, 1_000 * (i + 1), 1_000 * i.min(9));
        }
        let last = last.unwrap();
        assert_eq!((last.size, last.delivered, last.rtt), (1_000, 50_000, Some(Span::from_ms(100))));
        // Sent at 490 ms, when 40 segments had been delivered.
        assert_eq!(last.prior_delivered, 40_000);
        assert_eq!(last.rate, Some(100_000.0));
    }

    /// Bytes of a whole flight over the time from its first transmission to the acknowledgement, however they
    /// are acknowledged: at once, mostly compressed, or in two halves 100 ms apart.
    #[test]
    fn stretched_acknowledgements_lower_the_rate_and_bunches_do_not_raise_it() {
        let mut rates = DeliveryRate::default();
        // Ten segments 10 ms apart, all acknowledged at 200 ms.
        (0..10).for_each(|i| rates.on_sent(ms(10 * i), 1_000 * i, 1_000 * (i + 1), 1_000 * i));
        assert_eq!(rate(rates.on_ack(ms(200), 10_000, &[])), 50_000.0);
        // Ten more from 200 ms on: one is acknowledged after 120 ms, and the others 1 ms later.
        for i in 10..20 {
            rates.on_sent(ms(100 + 10 * i), 1_000 * i, 1_000 * (i + 1), 1_000 * (i - 10));
        }
        assert_eq!(rate(rates.on_ack(ms(320), 11_000, &[])), 1e12 / 120e6);
        assert_eq!(rate(rates.on_ack(ms(321), 20_000, &[])), 1e13 / 121e6);
        // Ten at once, acknowledged after 120 and 220 ms.
        (20..30).for_each(|i| rates.on_sent(ms(330), 1_000 * i, 1_000 * (i + 1), 1_000 * (i - 20)));
        assert_eq!(rate(rates.on_ack(ms(450), 21_000, &[])), 1e12 / 120e6);
        assert_eq!(rate(rates.on_ack(ms(550), 30_000, &[])), 1e13 / 220e6);
    }

    /// Twenty segments 10 ms apart, with a round trip of 50 ms. The acknowledgements from 100 ms on are
    /// delayed and compressed into one at 195 ms: 15 segments in the 105 ms since the last one, but sent
    /// within 150 ms.
    #[test]
    fn compressed_acknowledgements_are_measured_by_the_times_of_sending() {
        let mut rates = DeliveryRate::default();
        let mut acked = 0;
        for i in 0..20 {
            let now = 10 * i;
            if (5..10).contains(&i) {
                acked += 1;
                rates.on_ack(ms(now), 1_000 * acked, &[]);
            }
            rates.on_sent(ms(now), 1_000 * i, 1_000 * (i + 1), 1_000 * (i - acked));
        }
        let sample = rates.on_ack(ms(195), 20_000, &[]).unwrap();
        // The last delivery before was that of the fifth segment, sent at 40 ms and delivered at 90 ms.
        assert_eq!(sample.prior_delivered, 5_000);
        assert_eq!(sample.rate, Some(15e12 / 150e6), "not {}", 15_000.0 / 0.105);
    }

    #[test]
    fn selectively_acknowledged_bytes_are_delivered_once() {
        let mut rates = DeliveryRate::default();
        (0..5).for_each(|i| rates.on_sent(ms(i), 100 * i, 100 * (i + 1), 100 * i));
        let block = |start, end| [SackBlock { start, end }];
        let sample = rates.on_ack(ms(50), 0, &block(200, 400)).unwrap();
        assert_eq!((sample.size, sample.rtt), (200, Some(Span::from_ms(47))));
        assert_eq!(rates.on_ack(ms(51), 0, &block(200, 400)), None);
        assert_eq!(rates.on_ack(ms(52), 100, &block(200, 400)).unwrap().size, 100);
        rates.on_sent(ms(60), 100, 200, 200);
        let sample = rates.on_ack(ms(110), 400, &[]).unwrap();
        assert_eq!((sample.size, sample.delivered, sample.rtt), (100, 400, None), "sent twice");
        assert_eq!(sample.prior_delivered, 300, "by its second departure");
    }

    /// The original arrives just after its retransmission: no rate sample, as a round trip of 1 ms is
    /// impossible.
    #[test]
    fn a_repetition_that_was_not_needed_gives_no_rate() {
        let mut rates = DeliveryRate::default();
        rates.on_sent(ms(0), 0, 100, 0);
        assert!(rates.on_ack(ms(50), 100, &[]).unwrap().rate.is_some());
        rates.on_sent(ms(60), 100, 200, 0);
        rates.on_sent(ms(109), 100, 200, 0);
        assert_eq!(rates.on_ack(ms(110), 200, &[]).unwrap().rate, None);
    }

    #[test]
    fn what_the_application_held_back_is_marked_until_it_is_delivered() {
        let mut rates = DeliveryRate::default();
        rates.on_sent(ms(0), 0, 100, 0);
        rates.mark_app_limited(100);
        rates.on_sent(ms(10), 100, 200, 100);
        assert!(!rates.on_ack(ms(50), 100, &[]).unwrap().app_limited);
        rates.on_sent(ms(55), 200, 300, 100);
        assert!(rates.on_ack(ms(60), 200, &[]).unwrap().app_limited);
        assert!(!rates.is_app_limited(), "200 bytes are delivered, more than 100");
        rates.on_sent(ms(70), 300, 400, 100);
        assert!(rates.on_ack(ms(105), 300, &[]).unwrap().app_limited);
        assert!(!rates.on_ack(ms(120), 400, &[]).unwrap().app_limited);
    }

    /// After a timeout segments may have other boundaries, which extend into new data.
    #[test]
    fn a_repetition_that_reaches_into_new_data_counts_both() {
        let mut rates = DeliveryRate::default();
        rates.on_sent(ms(0), 0, 100, 0);
        rates.on_sent(ms(0), 100, 150, 100);
        rates.on_sent(ms(900), 100, 200, 0);
        let sample = rates.on_ack(ms(950), 200, &[]).unwrap();
        assert_eq!((sample.size, sample.delivered), (200, 200));
        assert_eq!(sample.rtt, Some(Span::from_ms(50)), "of the new part");
    }

    /// Only the first of two segments is retransmitted: the second keeps its send time, and gives a sample
    /// (Karn).
    #[test]
    fn what_follows_a_repeated_segment_was_sent_once() {
        let mut rates = DeliveryRate::default();
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        rates.on_sent(ms(0), 0, 10, 0);
        rates.on_sent(ms(1), 10, 20, 10);
        rates.on_sent(ms(5), 0, 10, 10);
        assert_eq!(rates.on_ack(ms(50), 10, &[]).unwrap().rtt, None);
        assert_eq!(rates.on_ack(ms(60), 20, &[]).unwrap().rtt, Some(Span::from_ms(59)));
    }
}
