//! Bit errors over the course of a frame, so that interference during a part of an A-MPDU affects only the
//! MPDUs there.

use multihop_core::Span;

/// Probability that all bits of a frame up to a time are correct, at each time at which interference changed.
#[derive(Clone, Debug, Default)]
pub struct SuccessCurve(Vec<Point>);

/// Logarithm of that probability at a time after the first bit.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    after_ns: f64,
    ln_success: f64,
}

impl SuccessCurve {
    /// Empties the curve for the next frame.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends a point later than the last one.
    pub fn reach(&mut self, after: Span, ln_success: f64) {
        self.0.push(Point { after_ns: after.ns() as f64, ln_success });
    }

    /// Whether all bits were correct with certainty.
    pub fn is_certain(&self) -> bool {
        self.0.iter().all(|point| point.ln_success == 0.0)
    }

    /// Logarithm of the probability for the bits between two times, in nanoseconds after the first bit.
    pub fn between(&self, from_ns: f64, to_ns: f64) -> f64 {
        self.until(to_ns) - self.until(from_ns)
    }

    /// The last points are the ones asked for.
    fn until(&self, after_ns: f64) -> f64 {
        let behind = self.0.iter().rposition(|point| point.after_ns <= after_ns).map_or(0, |at| at + 1);
        let before = if behind > 0 { self.0[behind - 1] } else { Point::default() };
        let Some(next) = self.0.get(behind) else { return before.ln_success };
        let part = (after_ns - before.after_ns) / (next.after_ns - before.after_ns);
        before.ln_success + part * (next.ln_success - before.ln_success)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_part_suffers_is_its_own() {
        let mut curve = SuccessCurve::default();
        assert!(curve.is_certain());
        curve.reach(Span::from_us(50), 0.0);
        assert!(curve.is_certain());
        curve.clear();
        for (us, ln) in [(100, -1.0), (200, -9.0), (400, -10.0)] {
            curve.reach(Span::from_us(us), ln);
        }
        for (from, to, expected) in
            [(0.0, 1.0, -10.0), (0.25, 0.5, -8.0), (0.125, 0.25, -0.5), (0.75, 1.0, -0.5)]
        {
            let ln = curve.between(from * 400_000.0, to * 400_000.0);
            assert!((ln - expected).abs() < 1e-12, "{from} to {to}: {ln}");
        }
        assert!(!curve.is_certain());
        curve.clear();
        assert!(curve.between(0.0, 400_000.0).abs() < 1e-12);
    }
}
