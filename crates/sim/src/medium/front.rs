//! A frame that reaches each listener as late as light does.

use super::Frame;
use multihop_core::{Interval, Span, Time};

/// Speed of light in metres per second.
const LIGHT: f64 = 299_792_458.0;

/// How long light takes over a distance in metres: the first whole nanosecond at which it is there.
pub fn light(distance: f64) -> Span {
    Span::from_ns((distance / LIGHT * 1e9).ceil() as u64)
}

/// The frame of one transmitter on its way to its listeners. It is over everywhere before the next one begins.
#[derive(Clone, Debug, Default)]
pub struct Front {
    /// In the order in which a frame reaches the listeners: how late, and their places among the transmitter's links.
    order: Vec<(Span, u32)>,
    frame: Option<Frame>,
    begun: usize,
    ended: usize,
}

impl Front {
    /// Listeners are at these distances in metres, in the order of links, from now on.
    pub fn arrange(&mut self, distances: impl Iterator<Item = f64>) {
        debug_assert!(self.frame.is_none(), "a frame is still on its way");
        self.order.clear();
        self.order.extend((0..).zip(distances).map(|(place, distance)| (light(distance), place)));
        self.order.sort_unstable();
    }

    /// A frame begins at its sender.
    pub fn send(&mut self, frame: Frame) {
        (self.frame, self.begun, self.ended) = (Some(frame), 0, 0);
    }

    /// The frame, if there is one, as it is at its sender.
    pub fn frame(&mut self) -> Option<&mut Frame> {
        self.frame.as_mut()
    }

    /// The frame is over everywhere.
    pub fn finish(&mut self) -> Option<Frame> {
        self.frame.take()
    }

    /// The frame as it is for those whom its first bit reaches now, who these are, and when it reaches the next ones.
    pub fn begins(&mut self, now: Time) -> Group<'_> {
        let frame = self.frame.expect("a frame was sent");
        Group::next(&self.order, &mut self.begun, frame, now.since(frame.air.start))
    }

    /// The same of its last bit.
    pub fn ends(&mut self, now: Time) -> Group<'_> {
        let frame = self.frame.expect("a frame was sent");
        let group = Group::next(&self.order, &mut self.ended, frame, now.since(frame.air.end));
        Group { next: group.next.map(|at| at + frame.airtime()), ..group }
    }
}

/// Listeners whom one bit of a frame reaches at one instant.
pub struct Group<'f> {
    /// The frame as it is for them.
    pub frame: Frame,
    /// How late, and their places among the transmitter's links; none may be there.
    pub listeners: &'f [(Span, u32)],
    /// When the bit reaches the next ones.
    pub next: Option<Time>,
}

impl<'f> Group<'f> {
    /// Those whom the first bit reaches `late`; all up to `done` were reached before.
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
