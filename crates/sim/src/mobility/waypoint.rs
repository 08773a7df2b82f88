//! Random waypoint model (Johnson and Maltz 1996): a node moves to a random position at a random speed,
//! pauses, and repeats.
//!
//! ns-2's setdest has two versions:
//!
//! * Version 1 (CMU 1999) draws speeds down to 0 and starts with a pause. The mean speed decreases forever,
//!   because a node that draws a small speed travels for long.
//! * Version 2 (Yoon, Liu and Noble, INFOCOM 2003) has a minimum speed, and draws the initial state and speed
//!   from their stationary distribution.
//!
//! Both start with uniformly distributed positions, although the stationary distribution of moving nodes is
//! denser in the middle of the area.

use super::motion::{Motion, distance};
use multihop_core::Rng;
use serde::Serialize;

/// Parameters of the random waypoint model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RandomWaypoint {
    /// South-west corner of the area, in metres.
    pub corner: [f64; 2],
    /// Extent of the area along x and y, in metres.
    pub area: [f64; 2],
    /// Minimum speed, in metres per second.
    pub min_speed: f64,
    /// Maximum speed, in metres per second.
    pub max_speed: f64,
    /// Mean pause between two legs, in seconds.
    pub pause: f64,
    /// Distribution of pauses.
    pub pauses: Pause,
    /// Initial state of nodes.
    pub start: Start,
}

/// Distribution of pauses.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum Pause {
    /// Constant pauses.
    Constant,
    /// Pauses uniform between 0 and twice the mean.
    Uniform,
}

/// Initial state of nodes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum Start {
    /// All nodes pause (setdest version 1).
    Pause,
    /// State and speed are drawn from the stationary distribution (setdest version 2).
    Stationary,
}

impl RandomWaypoint {
    /// Mean distance between two random positions in the area, in metres (Ghosh 1951): 0.5214 of the side of
    /// a square.
    pub fn mean_distance(&self) -> f64 {
        const LINE: f64 = 1e4;
        let [a, b] = self.area;
        if a.max(b) > LINE * a.min(b) {
            return a.max(b) / 3.0; // the closed form loses precision for narrow areas, where a line is accurate enough
        }
        let d = a.hypot(b);
        let powers = a.powi(3) / b.powi(2) + b.powi(3) / a.powi(2);
        let diagonal = d * (3.0 - (a / b).powi(2) - (b / a).powi(2));
        let logarithms = b * b / a * ((a + d) / b).ln() + a * a / b * ((b + d) / a).ln();
        (powers + diagonal + 2.5 * logarithms) / 15.0
    }

    /// Mean of the inverse speed, in seconds per metre. Multiplied by the mean distance it is the mean travel
    /// time. Infinite if speeds go down to 0.
    pub fn mean_inverse_speed(&self) -> f64 {
        if self.min_speed == self.max_speed {
            return 1.0 / self.max_speed;
        }
        (self.max_speed / self.min_speed).ln() / (self.max_speed - self.min_speed)
    }

    /// Mean speed over time, pauses included, in metres per second.
    pub fn mean_speed(&self) -> f64 {
        let distance = self.mean_distance();
        distance / (self.mean_inverse_speed() * distance + self.pause)
    }

    /// Share of time that nodes pause.
    pub fn pause_share(&self) -> f64 {
        self.pause / (self.mean_inverse_speed() * self.mean_distance() + self.pause)
    }

    /// Upper bound on the mean number of legs of a node in `time` seconds.
    pub fn most_legs(&self, time: f64) -> f64 {
        1.0 + time / (self.mean_distance() / self.max_speed + self.pause)
    }

    /// Draws a node's motion up to `until` seconds.
    pub fn motion(&self, rng: &mut Rng, until: f64) -> Motion {
        let mut motion = Motion::standing(self.place(rng));
        let pauses = self.start == Start::Pause || rng.unit() < self.pause_share();
        let mut now = if pauses { self.draw_pause(rng) } else { 0.0 };
        let mut is_first = !pauses;
        while now < until {
            let to = self.place(rng);
            let speed = if is_first { self.draw_lasting_speed(rng) } else { self.draw_speed(rng) };
            let end = now + distance(motion.at(now), to) / speed;
            if end > now {
                motion.reach(now, end, to);
            }
            now = end + self.draw_pause(rng);
            is_first = false;
        }
        motion
    }

    fn place(&self, rng: &mut Rng) -> [f64; 2] {
        [0, 1].map(|axis| self.corner[axis] + self.area[axis] * rng.unit())
    }

    fn draw_speed(&self, rng: &mut Rng) -> f64 {
        self.max_speed - (self.max_speed - self.min_speed) * rng.unit()
    }

    /// Draws the speed of a moving node at a random instant: its density is proportional to 1/v.
    fn draw_lasting_speed(&self, rng: &mut Rng) -> f64 {
        self.min_speed * (self.max_speed / self.min_speed).powf(rng.unit())
    }

    fn draw_pause(&self, rng: &mut Rng) -> f64 {
        match self.pauses {
            Pause::Constant => self.pause,
            Pause::Uniform => 2.0 * self.pause * rng.unit(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: u32 = 20_000;

    fn square(speeds: [f64; 2], pause: f64, start: Start) -> RandomWaypoint {
        let [min_speed, max_speed] = speeds;
        let (corner, area) = ([0.0, 0.0], [1000.0, 1000.0]);
        RandomWaypoint { corner, area, min_speed, max_speed, pause, pauses: Pause::Constant, start }
    }

    fn motions(model: &RandomWaypoint, until: f64) -> Vec<Motion> {
        (0..NODES).map(|node| model.motion(&mut Rng::at(1, &["walk", &node.to_string()]), until)).collect()
    }

    fn mean_speed(motions: &[Motion], time: f64) -> f64 {
        motions.iter().map(|motion| motion.speed(time)).sum::<f64>() / motions.len() as f64
    }

    #[test]
    fn places_are_inside_and_ways_without_jumps() {
        let model = RandomWaypoint {
            corner: [-50.0, 20.0],
            area: [300.0, 100.0],
            ..square([1.0, 9.0], 2.0, Start::Stationary)
        };
        for motion in &motions(&model, 200.0)[..200] {
            let mut before = motion.origin();
            for leg in motion.legs() {
                assert_eq!(leg.from, before);
                assert!(leg.start < leg.end && (1.0..=9.0 + 1e-9).contains(&leg.speed()), "{leg:?}");
                before = leg.to;
            }
            for pair in motion.legs().windows(2) {
                assert!((pair[1].start - pair[0].end - 2.0).abs() < 1e-9, "{pair:?}");
            }
            for step in 0..2000 {
                let [x, y] = motion.at(f64::from(step) * 0.1);
                assert!((-50.0..=250.0).contains(&x) && (20.0..=120.0).contains(&y), "{x} {y}");
            }
        }
    }

    /// The values are the closed form's: 20 / ln 3 m/s, and E[R] / (E[1/V] E[R] + P) with E[R] = 521.4 m.
    #[test]
    fn version_2_keeps_its_mean_speed() {
        let model = square([10.0, 30.0], 0.0, Start::Stationary);
        assert!((model.mean_speed() - 18.205).abs() < 0.001 && model.pause_share() == 0.0);
        let moving = motions(&model, 300.0);
        for time in [0.0, 5.0, 20.0, 60.0, 150.0, 299.0] {
            let mean = mean_speed(&moving, time);
            // A first leg is as long as any other, though a leg observed at a random instant is longer than
            // average. So some first legs end too soon, and for half a minute speeds are slightly lower.
            assert!((mean / 18.205 - 1.0).abs() < 0.035, "{mean} m/s at {time} s");
        }
        let pausing = square([10.0, 30.0], 10.0, Start::Stationary);
        assert!((pausing.mean_speed() - 13.49).abs() < 0.005, "{}", pausing.mean_speed());
        assert!((pausing.pause_share() - 0.2588).abs() < 0.0001, "{}", pausing.pause_share());
        let moving = motions(&pausing, 10.1);
        let first = moving.iter().filter(|motion| motion.legs()[0].start > 0.0).count() as f64;
        assert!((first / f64::from(NODES) - 0.2588).abs() < 0.01, "{first} pause first");
        assert!((mean_speed(&moving, 0.0) - 13.49).abs() < 0.15);
    }

    #[test]
    fn version_1_starts_with_a_pause_and_slows_down() {
        let model = square([0.0, 30.0], 5.0, Start::Pause);
        assert!(motions(&model, 6.0).iter().all(|motion| motion.legs()[0].start == 5.0));
        let model = square([0.0, 30.0], 0.0, Start::Pause);
        let moving = motions(&model, 900.0);
        let means = [0.0, 50.0, 300.0, 890.0].map(|time| mean_speed(&moving, time));
        assert!((means[0] - 15.0).abs() < 0.2, "{means:?}");
        assert!(means.is_sorted_by(|a, b| a > b) && means[3] < 8.0, "{means:?}");
    }

    #[test]
    fn uniform_pauses_have_their_mean() {
        let model = RandomWaypoint { pauses: Pause::Uniform, ..square([10.0, 30.0], 8.0, Start::Stationary) };
        let gaps: Vec<f64> = motions(&model, 300.0)
            .iter()
            .flat_map(|motion| {
                motion.legs().windows(2).map(|pair| pair[1].start - pair[0].end).collect::<Vec<_>>()
            })
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        // Pauses that end before the end of the run are not the longest.
        assert!((7.8..8.0).contains(&mean), "{mean}");
        assert!(gaps.iter().all(|gap| (0.0..=16.0).contains(gap)) && gaps.iter().any(|gap| *gap > 15.0));
    }

    #[test]
    fn the_mean_distance_of_a_narrow_area_is_that_of_a_line() {
        let narrow =
            |width: f64| RandomWaypoint { area: [1000.0, width], ..square([1.0, 2.0], 0.0, Start::Pause) };
        for width in [1e-3, 0.05, 0.2, 5.0] {
            let mean = narrow(width).mean_distance();
            assert!((mean / 1000.0 - 1.0 / 3.0).abs() < 1e-4, "{width} m: {mean}");
        }
        assert!((narrow(1000.0).mean_distance() - 521.405).abs() < 0.001);
    }
}
