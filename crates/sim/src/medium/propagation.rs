//! Propagation delays by distance: a frame that reaches each listener at the speed of light.

use super::Frame;
use multihop_core::{Interval, Span, Time};

/// Speed of light in metres per second.
const LIGHT: f64 = 299_792_458.0;

/// Propagation delay over a distance in metres, rounded up to whole nanoseconds.
pub fn light(distance: f64) -> Span {
    Span::from_ns((distance / LIGHT * 1e9).ceil() as u64)
}

/// Frame of one transmitter on its way to its listeners. The frame ends everywhere before the transmitter's
/// next one begins.
#[derive(Clone, Debug, Default)]
pub struct Wavefront {
    /// Propagation delay of each listener and its index among the transmitter's links, sorted by delay.
    order: Vec<(Span, u32)>,
    frame: Option<Frame>,
    begun: usize,
    ended: usize,
}

impl Wavefront {
    /// Sets the distances of listeners in metres, in the order of links.
    pub fn arrange(&mut self, distances: impl Iterator<Item = f64>) {
        debug_assert!(self.frame.is_none(), "a frame is still on its way");
        self.order.clear();
        self.order.extend((0..).zip(distances).map(|(place, distance)| (light(distance), place)));
        self.order.sort_unstable();
    }

    /// Starts a frame at its sender.
    pub fn send(&mut self, frame: Frame) {
        (self.frame, self.begun, self.ended) = (Some(frame), 0, 0);
    }

    /// Frame on its way, with the times at its sender; none if there is none.
    pub fn frame(&mut self) -> Option<&mut Frame> {
        self.frame.as_mut()
    }

    /// Ends the frame at its last listener.
    pub fn finish(&mut self) -> Option<Frame> {
        self.frame.take()
    }

    /// Frame for the listeners that its first bit reaches now, those listeners, and the time at which it
    /// reaches the next ones.
    pub fn begins(&mut self, now: Time) -> Group<'_> {
        let frame = self.frame.expect("a frame was sent");
        Group::next(&self.order, &mut self.begun, frame, now.since(frame.air.start))
    }

    /// Frame for the listeners that its last bit reaches now, those listeners, and the time at which it
    /// reaches the next ones.
    pub fn ends(&mut self, now: Time) -> Group<'_> {
        let frame = self.frame.expect("a frame was sent");
        let group = Group::next(&self.order, &mut self.ended, frame, now.since(frame.air.end));
        Group { next: group.next.map(|at| at + frame.airtime()), ..group }
    }
}

/// Listeners that one bit of a frame reaches at the same instant.
pub struct Group<'f> {
    /// Frame, with the times at these listeners.
    pub frame: Frame,
    /// Propagation delays, and indices among the transmitter's links; may be empty.
    pub listeners: &'f [(Span, u32)],
    /// Time at which the bit reaches the next listeners.
    pub next: Option<Time>,
}

impl<'f> Group<'f> {
    /// Listeners whose delay is `late`; those up to `done` were reached before.
    fn next(order: &'f [(Span, u32)], done: &mut usize, frame: Frame, late: Span) -> Group<'f> {
        let first = *done;
        let reached = order[first..].iter().take_while(|(delay, _)| *delay <= late).count();
        *done += reached;
        let Interval { start, end } = frame.air;
        Group {
            frame: Frame { air: Interval { start: start + late, end: end + late }, ..frame },
            listeners: &order[first..*done],
            next: order.get(*done).map(|(delay, _)| start + *delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::RateClass;
    use multihop_core::FrameKind;

    fn frame(start: u64, end: u64) -> Frame {
        let air = Interval { start: Time::from_ns(start), end: Time::from_ns(end) };
        Frame { kind: FrameKind::Ack, rate: RateClass::Ack, bytes: 14, ..Frame::sample(0, air) }
    }

    #[test]
    fn light_takes_3336_ns_for_a_kilometre_and_is_never_early() {
        assert_eq!(light(1000.0), Span::from_ns(3_336)); // 3335.64
        assert_eq!(light(200.0), Span::from_ns(668)); // 667.13
        assert_eq!(light(0.0), Span::ZERO);
        assert_eq!(light(299_792_458.0), Span::from_ms(1_000));
    }

    /// Listeners at 600, 0, 300 and 600 m of a frame from 1000 to 1500 ns: the first bit reaches the last two
    /// after the last bit has left.
    #[test]
    fn each_bit_reaches_one_group_after_the_other() {
        let mut wavefront = Wavefront::default();
        wavefront.arrange([600.0, 0.0, 300.0, 600.0].into_iter());
        wavefront.send(frame(1_000, 1_500));
        let mut reached = Vec::new();
        let mut next = Some(Time::from_ns(1_000));
        while let Some(now) = next {
            let group = wavefront.begins(now);
            let places: Vec<u32> = group.listeners.iter().map(|(_, place)| *place).collect();
            reached.push((now.ns(), group.frame.air.end.ns(), places));
            next = group.next;
        }
        assert_eq!(
            reached,
            [(1_000, 1_500, vec![1]), (2_001, 2_501, vec![2]), (3_002, 3_502, vec![0, 3])],
            "1000.7 ns for 300 m"
        );
        let ends: Vec<u64> =
            std::iter::successors(Some(Time::from_ns(1_500)), |now| wavefront.ends(*now).next)
                .map(Time::ns)
                .collect();
        assert_eq!(ends, [1_500, 2_501, 3_502]);
    }

    #[test]
    fn a_listener_elsewhere_is_reached_later() {
        let mut wavefront = Wavefront::default();
        wavefront.arrange([0.0].into_iter());
        wavefront.arrange([30.0].into_iter());
        wavefront.send(frame(0, 10));
        let group = wavefront.begins(Time::ZERO);
        assert!(group.listeners.is_empty());
        assert_eq!(group.next, Some(Time::from_ns(101)));
    }
}
