//! Trajectories of nodes as straight legs.

use serde::Serialize;

/// Largest valid speed of a leg in metres per second; a faster leg is an error in a file.
pub const FASTEST: f64 = 100_000.0;

/// Straight segment of a trajectory, at constant speed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Leg {
    /// Start time, in seconds.
    pub start: f64,
    /// End time, in seconds.
    pub end: f64,
    /// Start position, in metres.
    pub from: [f64; 2],
    /// End position, in metres.
    pub to: [f64; 2],
}

/// Trajectory of a node: at rest before the first leg, between legs, and after the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Motion {
    origin: [f64; 2],
    legs: Vec<Leg>,
}

/// Entry of two nodes into a range of each other, or their exit from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Time of the crossing, in seconds.
    pub time: f64,
    /// Whether the nodes are within the range afterwards.
    pub within: bool,
}

impl Leg {
    /// Speed in metres per second.
    pub fn speed(&self) -> f64 {
        let length = distance(self.from, self.to);
        if length == 0.0 { 0.0 } else { length / (self.end - self.start) }
    }

    /// Velocity in metres per second, along both axes.
    pub fn velocity(&self) -> [f64; 2] {
        let time = self.end - self.start;
        [0, 1].map(|axis| if time > 0.0 { (self.to[axis] - self.from[axis]) / time } else { 0.0 })
    }

    /// Position at `time` seconds; the start or end position outside the leg.
    pub fn at(&self, time: f64) -> [f64; 2] {
        if time >= self.end {
            return self.to;
        }
        let share = ((time - self.start) / (self.end - self.start)).max(0.0);
        [0, 1].map(|axis| self.from[axis] + share * (self.to[axis] - self.from[axis]))
    }
}

impl Motion {
    /// Creates the trajectory of a node that stays at `origin`.
    pub fn standing(origin: [f64; 2]) -> Motion {
        Motion { origin, legs: Vec::new() }
    }

    /// Position at the start.
    pub fn origin(&self) -> [f64; 2] {
        self.origin
    }

    /// Legs, in order of time.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Position at `time` seconds.
    pub fn at(&self, time: f64) -> [f64; 2] {
        let begun = self.legs.partition_point(|leg| leg.start <= time);
        if begun == 0 { self.origin } else { self.legs[begun - 1].at(time) }
    }

    /// Speed at `time` seconds, in metres per second.
    pub fn speed(&self, time: f64) -> f64 {
        let begun = self.legs.partition_point(|leg| leg.start <= time);
        let leg = begun.checked_sub(1).map(|index| &self.legs[index]);
        leg.filter(|leg| time < leg.end).map_or(0.0, Leg::speed)
    }

    /// Changes the destination from `time` on: the node moves from its position then to `to` at this speed;
    /// speed 0 is a stop.
    ///
    /// # Panics
    /// If the last leg begins later.
    pub fn head_for(&mut self, time: f64, to: [f64; 2], speed: f64) {
        let from = self.at(time);
        if let Some(last) = self.legs.last_mut() {
            assert!(last.start <= time, "legs are added in their order");
            if last.end > time {
                (last.end, last.to) = (time, from);
            }
        }
        self.legs.pop_if(|last| last.start == last.end);
        let length = distance(from, to);
        if speed > 0.0 && length > 0.0 {
            self.legs.push(Leg { start: time, end: time + length / speed, from, to });
        }
    }

    /// Appends a leg that begins at `start` and reaches `to` at `end`.
    ///
    /// # Panics
    /// If the last leg is not over at `start`, or the new leg takes no time.
    pub fn reach(&mut self, start: f64, end: f64, to: [f64; 2]) {
        let from = self.at(start);
        let over = self.legs.last().is_none_or(|last| last.end <= start);
        assert!(over && start < end, "legs are added in their order");
        if from != to {
            self.legs.push(Leg { start, end, from, to });
        }
    }

    /// Shifts the trajectory `by` seconds earlier and drops the part before time 0.
    #[must_use]
    pub fn advanced(&self, by: f64) -> Motion {
        let mut later = Motion::standing(self.at(by));
        for leg in self.legs.iter().filter(|leg| leg.end > by) {
            let start = leg.start.max(by);
            let from = leg.at(start);
            later.legs.push(Leg { start: start - by, end: leg.end - by, from, to: leg.to });
        }
        later.legs.retain(|leg| leg.end > leg.start);
        later
    }

    /// Maps every position of the trajectory by a function that keeps straight lines straight.
    #[must_use]
    pub fn mapped(&self, place: impl Fn([f64; 2]) -> [f64; 2]) -> Motion {
        let leg = |leg: &Leg| Leg { from: place(leg.from), to: place(leg.to), ..*leg };
        Motion { origin: place(self.origin), legs: self.legs.iter().map(leg).collect() }
    }

    /// Largest speed, in metres per second.
    pub fn fastest(&self) -> f64 {
        self.legs.iter().map(Leg::speed).fold(0.0, f64::max)
    }
}

/// Times up to `until` seconds at which two nodes come within `range` metres of each other or part. At time 0
/// they are within the range if the first crossing parts them, or if the initial distance is at most `range`
/// and there is no crossing.
pub fn crossings(a: &Motion, b: &Motion, range: f64, until: f64) -> Vec<Crossing> {
    let edges = |motion: &Motion| motion.legs.iter().flat_map(|leg| [leg.start, leg.end]).collect::<Vec<_>>();
    let mut instants = [edges(a), edges(b), vec![0.0, until]].concat();
    instants.retain(|time| (0.0..=until).contains(time));
    instants.sort_by(f64::total_cmp);
    instants.dedup();
    let mut found = Vec::new();
    let mut within = distance(a.at(0.0), b.at(0.0)) <= range;
    for span in instants.windows(2) {
        let [start, end] = [span[0], span[1]];
        let apart = |time: f64| {
            let (a, b) = (a.at(time), b.at(time));
            [b[0] - a[0], b[1] - a[1]]
        };
        let (first, last) = (apart(start), apart(end));
        let velocity = [0, 1].map(|axis| (last[axis] - first[axis]) / (end - start));
        let inside = roots(first, velocity, range);
        for (time, enters) in inside.into_iter().flat_map(|[enter, leave]| [(enter, true), (leave, false)]) {
            let time = start + time;
            if enters != within && time >= start && time < end {
                within = enters;
                found.push(Crossing { time, within });
            }
        }
    }
    found
}

/// Times at which a point with this start and velocity enters and leaves a circle around the origin.
fn roots(from: [f64; 2], velocity: [f64; 2], radius: f64) -> Option<[f64; 2]> {
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let (square, half) = (dot(velocity, velocity), dot(from, velocity));
    let discriminant = half * half - square * (dot(from, from) - radius * radius);
    (square > 0.0 && discriminant > 0.0).then(|| {
        let root = discriminant.sqrt();
        [(-half - root) / square, (-half + root) / square]
    })
}

/// Distance between two positions, in metres.
pub fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_destination_cuts_the_present_leg() {
        let mut motion = Motion::standing([0.0, 0.0]);
        motion.head_for(10.0, [100.0, 0.0], 5.0);
        motion.head_for(20.0, [50.0, 30.0], 3.0);
        assert_eq!([0.0, 10.0, 15.0, 20.0].map(|t| motion.at(t)[0]), [0.0, 0.0, 25.0, 50.0]);
        assert_eq!([20.0, 25.0, 30.0, 99.0].map(|t| motion.at(t)[1]), [0.0, 15.0, 30.0, 30.0]);
        assert_eq!([5.0, 15.0, 25.0, 31.0].map(|t| motion.speed(t)), [0.0, 5.0, 3.0, 0.0]);
        motion.head_for(25.0, [0.0, 0.0], 0.0);
        assert_eq!((motion.at(26.0), motion.speed(26.0)), ([50.0, 15.0], 0.0));
        assert_eq!(motion.fastest(), 5.0);
    }

    #[test]
    fn a_motion_begun_later_is_the_same_but_for_the_clock() {
        let mut motion = Motion::standing([1.0, 2.0]);
        motion.reach(2.0, 4.0, [9.0, 2.0]);
        motion.reach(4.0, 10.0, [9.0, 26.0]);
        motion.reach(12.0, 13.0, [0.0, 0.0]);
        for by in [0.0, 1.0, 3.0, 4.0, 11.0, 12.5, 40.0] {
            let later = motion.advanced(by);
            for step in 0..60 {
                let time = f64::from(step) * 0.25;
                let (here, there) = (later.at(time), motion.at(time + by));
                assert!(distance(here, there) < 1e-9, "{by} {time}: {here:?} against {there:?}");
            }
        }
    }

    /// One node rests; the other passes it at 10 m/s in a distance of 30 m: within 50 m from 40 m before to
    /// 40 m behind.
    #[test]
    fn crossings_are_where_geometry_has_them() {
        let standing = Motion::standing([100.0, 0.0]);
        let mut passing = Motion::standing([0.0, 30.0]);
        passing.head_for(5.0, [200.0, 30.0], 10.0);
        let found = crossings(&standing, &passing, 50.0, 100.0);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[0].time - 11.0).abs() < 1e-12 && found[0].within);
        assert!((found[1].time - 19.0).abs() < 1e-12 && !found[1].within);
        assert!(crossings(&standing, &passing, 50.0, 10.0).is_empty());
        assert!(crossings(&standing, &passing, 29.0, 100.0).is_empty());
        assert_eq!(crossings(&passing, &passing, 50.0, 100.0), []);
    }
}
