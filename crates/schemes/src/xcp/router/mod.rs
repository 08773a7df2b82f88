//! The router of XCP (Katabi, Handley and Rohrs 2002; draft-falk-xcp-spec-03), one for each queue.
//!
//! Each control interval, whose length is the mean round-trip time of the traffic, it decides by how much the
//! aggregate of all flows is to change ([`Law`]), and shuffles a tenth of the traffic besides, so that flows
//! become equal. What is to be added is divided equally among flows, what is to be taken away in proportion
//! to what each sends; every packet carries its part.
//!
//! Schemes that derive from XCP differ in their [`Law`] alone. Throughput is in bytes per second, time in
//! seconds.

use super::header::XcpHeader;
use multihop_core::{HeaderBytes, LinkEvent, NodeId, Packet, Span, Time};
use multihop_link::{Estimator, Hop, LinkView, PhyTimes, QueueEvent, RouterPolicy, Verdict};

/// What a router saw of its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    /// Input traffic `y` of the control interval, in bytes per second.
    pub input: f64,
    /// Length of that interval.
    pub elapsed: f64,
    /// Mean round-trip time `d`, by which the next one will be as long.
    pub mean_rtt: f64,
    /// Persistent queue `Q` in bytes: the least that a packet left behind within about half a round trip.
    pub persistent: f64,
    /// Bytes in the queue at this instant.
    pub waiting: f64,
}

/// What a law wants of the traffic as a whole, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aggregate {
    /// Desired change, `F`.
    pub change: f64,
    /// The traffic of which a tenth is shuffled.
    pub shuffled_of: f64,
}

/// How a router arrives at the change of the aggregate, and what else schemes do differently.
pub(crate) trait Law: Send {
    /// The estimators that write what it reads in its views.
    fn estimators(&self, _phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        Vec::new()
    }
    /// Capacity of the egress in bytes per second.
    fn capacity(&self, view: &LinkView) -> f64;
    /// A control interval ended.
    fn aggregate(&mut self, seen: &Seen, view: &LinkView) -> Aggregate;
    /// By what positive feedback is divided among packets, in seconds: the time between packets of the flow,
    /// which makes it equal for all flows.
    fn weight(&self, header: &XcpHeader, _size: u32, _view: &LinkView) -> f64 {
        seconds(header.x)
    }
    /// The most that a packet may be granted, in bytes per second.
    fn most(&self, _seen: &Seen, _view: &LinkView) -> f64 {
        f64::INFINITY
    }
    /// The packet begins its way here, with the hop to `to`: what the sender asks for may be changed by what
    /// its own node knows.
    fn request(&self, _header: &mut XcpHeader, _to: NodeId, _payload: u32, _seen: &Seen, _view: &LinkView) {}
    /// How long to watch the queue for its least length, in seconds.
    fn queue_interval(&self, seen: &Seen, view: &LinkView) -> f64 {
        (seen.mean_rtt - seen.waiting / self.capacity(view)) / 2.0
    }
    /// Something happened at the node's MAC.
    fn on_link(&mut self, _event: &LinkEvent) {}
}

/// Constants of a router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Constants {
    /// Share of the traffic that is shuffled, `gamma`.
    pub gamma: f64,
    /// The longest round-trip time that counts, in seconds: longer ones would delay control of the others.
    pub max_rtt: f64,
}

/// Mean round-trip time while no packet carries one, in seconds.
const INITIAL_RTT: f64 = 0.05;
/// The shortest control interval.
const LEAST_CONTROL: f64 = 1e-3;
/// The shortest time to watch the queue.
const LEAST_WATCH: f64 = 2e-3;

/// A router.
pub(crate) struct XcpRouter<L> {
    law: L,
    constants: Constants,
    control: Timer,
    watch: Timer,
    /// Nothing came during the last control interval.
    idle: bool,
    seen: Seen,
    /// The least queue so far while it is watched.
    least: f64,
    sums: Sums,
    grants: Grants,
}

/// What runs from one instant to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    pub from: Time,
    pub next: Time,
}

/// Of the present control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    bytes: f64,
    weight: f64,
    weighted_rtt: f64,
}

/// What is left to be given in this control interval, in bytes per second, and how much of it for each second
/// of weight or byte.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Grants {
    positive: f64,
    negative: f64,
    per_weight: f64,
    per_byte: f64,
}

/// Seconds of a header's microseconds.
pub(crate) fn seconds(microseconds: u32) -> f64 {
    f64::from(microseconds) * 1e-6
}

impl Timer {
    /// The first expiry lies between half and one and a half times `length`, spread evenly over nodes, so
    /// that routers do not act in step. (ns-2 draws it.)
    pub(crate) fn first(node: NodeId, length: f64) -> Timer {
        const GOLDEN: f64 = 0.618_033_988_749_895;
        let phase = 0.5 + (f64::from(node.0) * GOLDEN).fract();
        Timer { from: Time::ZERO, next: Time::ZERO + Span::from_seconds(length * phase) }
    }

    /// Length in seconds.
    pub(crate) fn length(&self) -> f64 {
        (self.next - self.from).seconds()
    }

    /// Expires, for the next time after `length` seconds.
    pub(crate) fn restart(&mut self, length: f64) {
        *self = Timer { from: self.next, next: self.next + Span::from_seconds(length) };
    }

    /// Expires as often as it would until `last`, each time after the same length. Returns whether it did at
    /// all.
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
    /// What is to be given after an interval in which `sums` came.
    fn new(aggregate: Aggregate, gamma: f64, sums: &Sums) -> Grants {
        if sums.bytes == 0.0 {
            return Grants::default();
        }
        let shuffled = (gamma * aggregate.shuffled_of - aggregate.change.abs()).max(0.0);
        let positive = aggregate.change.max(0.0) + shuffled;
        let negative = (-aggregate.change).max(0.0) + shuffled;
        let weight = if sums.weight > 0.0 { sums.weight } else { 1.0 };
        Grants { positive, negative, per_weight: positive / weight, per_byte: negative / sums.bytes }
    }

    /// What a packet that asked for a change of `asked` is granted, at the most `most`: the smaller of that
    /// and of its part.
    fn give(&mut self, asked: i32, weight: f64, size: f64, most: f64) -> i32 {
        let mut negative = self.negative.min(self.per_byte * size);
        let part = (self.positive.min(self.per_weight * weight) - negative).min(most);
        let given = if f64::from(asked) >= part {
            // Rounded down, so that the sum of all is never more than what there is.
            part.floor() as i32
        } else {
            // A router before this one gave less: what that takes away counts here too.
            negative = self.negative.min(negative + part - f64::from(asked));
            asked
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

impl<L: Law> XcpRouter<L> {
    pub(crate) fn new(node: NodeId, law: L, constants: Constants) -> XcpRouter<L> {
        let seen = Seen { input: 0.0, elapsed: 0.0, mean_rtt: INITIAL_RTT, persistent: 0.0, waiting: 0.0 };
        XcpRouter {
            law,
            constants,
            control: Timer::first(node, INITIAL_RTT),
            watch: Timer::first(node, INITIAL_RTT),
            idle: false,
            seen,
            least: 0.0,
            sums: Sums::default(),
            grants: Grants::default(),
        }
    }

    /// Does what the timers would have done up to `now`, since when `waiting` bytes have been in the queue.
    ///
    /// A time without traffic costs nothing, however long it is: two control intervals without a packet leave
    /// everything as a third one would, and so does a second look at a queue that does not change.
    fn advance(&mut self, now: Time, waiting: u64, view: &LinkView) {
        self.seen.waiting = waiting as f64;
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
        self.seen.elapsed = self.control.length();
        self.seen.input = sums.bytes / self.seen.elapsed;
        self.seen.mean_rtt = if sums.weight > 0.0 { sums.weighted_rtt / sums.weight } else { INITIAL_RTT };
        let aggregate = self.law.aggregate(&self.seen, view);
        self.grants = Grants::new(aggregate, self.constants.gamma, &sums);
        self.control.restart(self.seen.mean_rtt.max(LEAST_CONTROL));
        let idle = sums.bytes == 0.0;
        if idle && self.idle {
            self.control.skip(now);
        }
        self.idle = idle;
    }

    fn end_watch(&mut self, now: Time, view: &LinkView) {
        self.seen.persistent = std::mem::replace(&mut self.least, self.seen.waiting);
        self.watch.restart(self.law.queue_interval(&self.seen, view).max(LEAST_WATCH));
        // The interval depends on the round-trip time, which the control timer may change.
        let last = now.min(self.control.next - Span::from_ns(1));
        if self.watch.skip(last) {
            self.seen.persistent = self.least;
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

impl<L: Law> RouterPolicy for XcpRouter<L> {
    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.law.estimators(phy)
    }

    fn on_arrival(&mut self, hop: Hop, packet: &mut Packet, view: &LinkView) -> Verdict {
        self.arrive(hop.now, packet.size, view);
        if let Some(mut header) = packet.segment.feedback.parse::<XcpHeader>()
            && header.rtt > 0
        {
            if packet.hops == 0 {
                self.law.request(&mut header, hop.peer, packet.segment.payload, &self.seen, view);
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
                let most = self.law.most(&self.seen, view);
                self.grants.give(header.delta, weight, f64::from(size), most)
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
