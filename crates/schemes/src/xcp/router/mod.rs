//! The router of XCP (Katabi, Handley and Rohrs 2002; draft-falk-xcp-spec-03), one for each queue.
//!
//! A control interval is as long as the mean round-trip time of the traffic. At its end the router computes
//! the change of the aggregate of all flows ([`ControlLaw`]), and shuffles a tenth of the traffic so that
//! flows become equal. An increase is divided equally among flows, a decrease in proportion to their
//! throughput. Every packet carries its part.
//!
//! Derivatives of XCP differ in their [`ControlLaw`] only. Throughput is in bytes per second, time in
//! seconds.

use super::header::XcpHeader;
use multihop_core::{HeaderBytes, LinkEvent, NodeId, Packet, Span, Time};
use multihop_link::{Estimator, Hop, LinkView, PhyTimes, QueueEvent, RouterPolicy, Verdict};

/// Measurements of a router's queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QueueMeasurement {
    /// Input traffic `y` of the control interval, in bytes per second.
    pub input: f64,
    /// Length of the control interval in seconds.
    pub elapsed: f64,
    /// Mean round-trip time `d` in seconds, which is the length of the next control interval.
    pub mean_rtt: f64,
    /// Persistent queue `Q` in bytes: the minimum queue behind a departing packet within about half a round
    /// trip.
    pub persistent: f64,
    /// Bytes in the queue now.
    pub waiting: f64,
}

/// Change of the aggregate that a law demands, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AggregateChange {
    /// Desired change, `F`.
    pub change: f64,
    /// Traffic of which a share, `gamma`, is shuffled.
    pub shuffled_traffic: f64,
}

/// Control law: the change of the aggregate, and the other rules in which schemes differ.
pub(crate) trait ControlLaw: Send {
    /// Returns the estimators that write the law's inputs into link views.
    fn estimators(&self, _phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        Vec::new()
    }
    /// Returns the capacity of the egress in bytes per second.
    fn capacity(&self, view: &LinkView) -> f64;
    /// Returns the change of the aggregate at the end of a control interval.
    fn aggregate(&mut self, measured: &QueueMeasurement, view: &LinkView) -> AggregateChange;
    /// Returns the weight of a packet in the division of positive feedback, in seconds. The weight is the
    /// time between packets of the flow, which makes the feedback equal for all flows.
    fn weight(&self, header: &XcpHeader, _size: u32, _view: &LinkView) -> f64 {
        seconds(header.x)
    }
    /// Returns the maximum change that a packet may be granted, in bytes per second.
    fn max_grant(&self, _measured: &QueueMeasurement, _view: &LinkView) -> f64 {
        f64::INFINITY
    }
    /// Adjusts the request of a packet at its first node, before the hop to `_to`, by that node's knowledge.
    fn request(
        &self,
        _header: &mut XcpHeader,
        _to: NodeId,
        _payload: u32,
        _measured: &QueueMeasurement,
        _view: &LinkView,
    ) {
    }
    /// Returns the time over which the minimum of the queue is measured, in seconds.
    fn queue_interval(&self, measured: &QueueMeasurement, view: &LinkView) -> f64 {
        (measured.mean_rtt - measured.waiting / self.capacity(view)) / 2.0
    }
    /// Processes an event of the node's own exchanges, or a loss.
    fn on_link(&mut self, _event: &LinkEvent) {}
}

/// Constants of an XCP router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct XcpConstants {
    /// Share of the traffic that is shuffled, `gamma`.
    pub gamma: f64,
    /// Upper limit of a round-trip time in the mean, in seconds. Longer ones would delay the control of other
    /// flows.
    pub max_rtt: f64,
}

/// Mean round-trip time in seconds while no packet carries one.
const INITIAL_RTT: f64 = 0.05;
/// Minimum length of a control interval in seconds.
const MIN_CONTROL_INTERVAL: f64 = 1e-3;
/// Minimum time over which the minimum of the queue is measured, in seconds.
const MIN_WATCH: f64 = 2e-3;

/// Router policy of XCP at one queue.
pub(crate) struct XcpRouter<L> {
    law: L,
    constants: XcpConstants,
    control: Timer,
    watch: Timer,
    /// Whether no packet arrived during the last control interval.
    idle: bool,
    measured: QueueMeasurement,
    /// Minimum of the queue in bytes, in the current measurement.
    least: f64,
    sums: IntervalSums,
    grants: Grants,
}

/// Timer from one instant to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// Start, or time of the last expiry.
    pub from: Time,
    /// Time of the next expiry.
    pub next: Time,
}

/// Sums over the packets of the current control interval.
#[derive(Clone, Copy, Debug, Default)]
struct IntervalSums {
    bytes: f64,
    weight: f64,
    weighted_rtt: f64,
}

/// Feedback that remains in this control interval, in bytes per second, and the shares per second of weight
/// and per byte.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Grants {
    positive: f64,
    negative: f64,
    per_weight: f64,
    per_byte: f64,
}

/// Converts microseconds of a header to seconds.
pub(crate) fn seconds(microseconds: u32) -> f64 {
    f64::from(microseconds) * 1e-6
}

impl Timer {
    /// Creates a timer whose first expiry is at 0.5 to 1.5 times `length`. Nodes are spread evenly over that
    /// range, so that routers do not act in step. (ns-2 draws it at random.)
    pub(crate) fn first(node: NodeId, length: f64) -> Timer {
        const GOLDEN: f64 = 0.618_033_988_749_895;
        let phase = 0.5 + (f64::from(node.0) * GOLDEN).fract();
        Timer { from: Time::ZERO, next: Time::ZERO + Span::from_seconds(length * phase) }
    }

    /// Returns the length in seconds.
    pub(crate) fn length(&self) -> f64 {
        (self.next - self.from).seconds()
    }

    /// Expires the timer and starts it again for `length` seconds.
    pub(crate) fn restart(&mut self, length: f64) {
        *self = Timer { from: self.next, next: self.next + Span::from_seconds(length) };
    }

    /// Expires the timer repeatedly up to `last`, with the same length each time. Returns whether it expired.
    pub(crate) fn skip(&mut self, last: Time) -> bool {
        if self.next > last {
            return false;
        }
        let length = self.next - self.from;
        let times = last.since(self.next).whole(length);
        self.from = self.next + length * times;
        self.next = self.from + length;
        true
    }
}

impl Grants {
    /// Returns the feedback to distribute after an interval with these sums.
    fn new(aggregate: AggregateChange, gamma: f64, sums: &IntervalSums) -> Grants {
        if sums.bytes == 0.0 {
            return Grants::default();
        }
        let shuffled = (gamma * aggregate.shuffled_traffic - aggregate.change.abs()).max(0.0);
        let positive = aggregate.change.max(0.0) + shuffled;
        let negative = (-aggregate.change).max(0.0) + shuffled;
        let weight = if sums.weight > 0.0 { sums.weight } else { 1.0 };
        Grants { positive, negative, per_weight: positive / weight, per_byte: negative / sums.bytes }
    }

    /// Returns the change granted to a packet that requested `requested`: the smaller of the request and the
    /// packet's part, which is limited to `most`.
    fn grant(&mut self, requested: i32, weight: f64, size: f64, most: f64) -> i32 {
        let mut negative = self.negative.min(self.per_byte * size);
        let part = (self.positive.min(self.per_weight * weight) - negative).min(most);
        let given = if f64::from(requested) >= part {
            // Rounded down, so that the sum of all parts never exceeds the total.
            part.floor() as i32
        } else {
            // A previous router granted less, and the difference counts as negative feedback of this router
            // too.
            negative = self.negative.min(negative + part - f64::from(requested));
            requested
        };
        self.positive = (self.positive - (f64::from(given) + negative).max(0.0)).max(0.0);
        self.negative -= negative;
        if self.positive == 0.0 {
            self.per_weight = 0.0;
        }
        if self.negative == 0.0 {
            self.per_byte = 0.0;
        }
        given
    }
}

impl<L: ControlLaw> XcpRouter<L> {
    /// Creates the policy of `node` with this control law.
    pub(crate) fn new(node: NodeId, law: L, constants: XcpConstants) -> XcpRouter<L> {
        let measured = QueueMeasurement {
            input: 0.0,
            elapsed: 0.0,
            mean_rtt: INITIAL_RTT,
            persistent: 0.0,
            waiting: 0.0,
        };
        XcpRouter {
            law,
            constants,
            control: Timer::first(node, INITIAL_RTT),
            watch: Timer::first(node, INITIAL_RTT),
            idle: false,
            measured,
            least: 0.0,
            sums: IntervalSums::default(),
            grants: Grants::default(),
        }
    }

    /// Expires the timers up to `now`, with `waiting` bytes in the queue since the last call.
    ///
    /// Long idle times are skipped: a third control interval without packets has the effect of the second,
    /// and so has a second measurement of a constant queue.
    fn advance(&mut self, now: Time, waiting: u64, view: &LinkView) {
        self.measured.waiting = waiting as f64;
        while self.control.next.min(self.watch.next) <= now {
            if self.control.next <= self.watch.next {
                self.end_interval(now, view);
            } else {
                self.end_watch(now, view);
            }
        }
    }

    fn end_interval(&mut self, now: Time, view: &LinkView) {
        let sums = std::mem::take(&mut self.sums);
        self.measured.elapsed = self.control.length();
        self.measured.input = sums.bytes / self.measured.elapsed;
        self.measured.mean_rtt =
            if sums.weight > 0.0 { sums.weighted_rtt / sums.weight } else { INITIAL_RTT };
        let aggregate = self.law.aggregate(&self.measured, view);
        self.grants = Grants::new(aggregate, self.constants.gamma, &sums);
        self.control.restart(self.measured.mean_rtt.max(MIN_CONTROL_INTERVAL));
        let idle = sums.bytes == 0.0;
        if idle && self.idle {
            self.control.skip(now);
        }
        self.idle = idle;
    }

    fn end_watch(&mut self, now: Time, view: &LinkView) {
        self.measured.persistent = std::mem::replace(&mut self.least, self.measured.waiting);
        self.watch.restart(self.law.queue_interval(&self.measured, view).max(MIN_WATCH));
        // The length depends on the mean round-trip time, which the control timer may change.
        let last = now.min(self.control.next - Span::from_ns(1));
        if self.watch.skip(last) {
            self.measured.persistent = self.least;
        }
    }

    fn arrive(&mut self, now: Time, size: u32, view: &LinkView) {
        self.advance(now, view.queue_bytes, view);
        self.sums.bytes += f64::from(size);
    }

    fn depart(&mut self, now: Time, size: u32, view: &LinkView) {
        self.advance(now, view.queue_bytes + u64::from(size), view);
        self.least = self.least.min(view.queue_bytes as f64);
    }
}

impl<L: ControlLaw> RouterPolicy for XcpRouter<L> {
    fn senses_medium(&self) -> bool {
        false
    }

    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.law.estimators(phy)
    }

    fn on_arrival(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.arrive(hop.now, packet.size, view);
        if let Some(mut header) = packet.segment.feedback.parse::<XcpHeader>()
            && header.rtt > 0
        {
            if packet.hops == 0 {
                self.law.request(&mut header, hop.peer, packet.segment.payload, &self.measured, view);
                packet.segment.feedback = HeaderBytes::of(&header);
            }
            let weight = self.law.weight(&header, packet.size, view);
            self.sums.weight += weight;
            self.sums.weighted_rtt += weight * seconds(header.rtt).min(self.constants.max_rtt);
        }
        Verdict::Pass
    }

    fn on_head_of_line(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.depart(hop.now, packet.size, view);
        let size = packet.size;
        packet.segment.feedback.change(|header: &mut XcpHeader| {
            header.delta = if header.rtt > 0 {
                let weight = self.law.weight(header, size, view);
                let most = self.law.max_grant(&self.measured, view);
                self.grants.grant(header.delta, weight, f64::from(size), most)
            } else {
                0
            };
        });
        Verdict::Pass
    }

    fn on_other(&mut self, now: Time, event: QueueEvent, size: u32, view: &LinkView) {
        match event {
            QueueEvent::Enqueue => self.arrive(now, size, view),
            QueueEvent::Dequeue => self.depart(now, size, view),
        }
    }

    fn on_link(&mut self, event: &LinkEvent) {
        self.law.on_link(event);
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
