//! The throughput equation of TCP Reno (RFC 5348, section 3.1), and its inverse.

use crate::Flavour;
use multihop_config::parameters;

/// Parameters of a path in the equation, besides the loss event rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EquationPath {
    /// Packet size `s` in bytes.
    pub packet_size: f64,
    /// Round-trip time `R` in seconds.
    pub rtt: f64,
    /// Retransmission timeout `t_RTO` of the modelled TCP, in seconds.
    pub timeout: f64,
}

impl EquationPath {
    /// Parameters with `t_RTO` = 4 R, as RFC 5348 recommends: the rate is then inversely proportional to the
    /// round-trip time.
    pub fn new(packet_size: f64, rtt: f64) -> EquationPath {
        EquationPath { packet_size, rtt, timeout: 4.0 * rtt }
    }
}

parameters! {
    ($)
    /// The equation: X = s / (R sqrt(2bp/3) + `t_RTO` 3 sqrt(3bp/8) p (1 + 32 p^2)).
    #[derive(Clone, Copy, Debug, PartialEq)]
    Equation by Flavour, listed by equation_parameters:
    {
        /// Number of packets that an acknowledgement of the modelled TCP covers (`b`).
        acknowledged: f64 = 1.0;
        /// Whether the factor `3 sqrt(3bp/8)`, a probability in the model, is limited to 1 (Padhye et al.
        /// 1998, equation 28). This matters above a loss event rate of 0.296.
        clamp: bool = false, Ns2: true;
        /// Upper limit of the equation.
        equation_limit: f64 = f64::INFINITY, Ns2: 25e6;
    }
}

impl Default for Equation {
    /// Equation that RFC 5348 recommends.
    fn default() -> Equation {
        Equation::of(Flavour::Rfc)
    }
}

/// Range of loss event rates in which the inverse is searched.
const LEAST: f64 = 1e-9;
const LARGEST: f64 = 1.0;

impl Equation {
    /// Equation of ns-2.35 (`formula.h`).
    pub fn ns2() -> Equation {
        Equation::of(Flavour::Ns2)
    }

    /// Rate in bytes per second at `loss_event_rate`; without losses the upper limit, or infinity.
    pub fn rate(&self, path: &EquationPath, loss_event_rate: f64) -> f64 {
        let p = loss_event_rate;
        let bp = self.acknowledged * p;
        let timed_out = 3.0 * (3.0 * bp / 8.0).sqrt();
        let timed_out = if self.clamp { timed_out.min(1.0) } else { timed_out };
        let seconds =
            path.rtt * (2.0 * bp / 3.0).sqrt() + path.timeout * timed_out * p * (1.0 + 32.0 * p * p);
        if seconds > 0.0 {
            (path.packet_size / seconds).min(self.equation_limit)
        } else {
            self.equation_limit
        }
    }

    /// Loss event rate at which the equation gives `rate` bytes per second, limited to 1e-9 for higher rates
    /// and to 1 for lower ones.
    pub fn loss_event_rate(&self, path: &EquationPath, rate: f64) -> f64 {
        if rate >= self.rate(path, LEAST) {
            return LEAST;
        }
        if rate <= self.rate(path, LARGEST) {
            return LARGEST;
        }
        // The rate decreases except where `equation_limit` cuts it off, and there the first test has ended
        // the search.
        let (mut low, mut high) = (LEAST.ln(), LARGEST.ln());
        while high - low > 1e-13 {
            let middle = 0.5 * (low + high);
            if self.rate(path, middle.exp()) > rate {
                low = middle;
            } else {
                high = middle;
            }
        }
        (0.5 * (low + high)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, within: f64) {
        assert!((found / expected - 1.0).abs() < within, "{found} instead of {expected}");
    }

    #[test]
    fn rates_of_the_equation() {
        let path = EquationPath::new(1460.0, 0.1);
        let rfc = Equation::default();
        for (p, expected) in [(0.01, 164_005.0), (0.001, 560_412.0), (0.1, 25_843.0), (0.5, 609.3)] {
            close(rfc.rate(&path, p), expected, 1e-4);
        }
        close(Equation { acknowledged: 2.0, ..rfc }.rate(&path, 0.01), 115_969.0, 1e-5);
        // Below p = 8/27 the factor is below 1, and the clamp has no effect.
        let ns2 = Equation::ns2();
        close(ns2.rate(&path, 0.5), 785.9, 1e-4);
        assert_eq!(ns2.rate(&path, 8.0 / 27.0 - 1e-9), rfc.rate(&path, 8.0 / 27.0 - 1e-9));
    }

    #[test]
    fn without_losses_there_is_no_limit_but_that_of_ns2() {
        let path = EquationPath::new(1460.0, 0.1);
        assert_eq!(Equation::default().rate(&path, 0.0), f64::INFINITY);
        assert_eq!(Equation::ns2().rate(&path, 0.0), 25e6);
        assert_eq!(Equation::ns2().rate(&path, 1e-8), 25e6);
    }

    #[test]
    fn the_inverse_finds_the_loss_event_rate() {
        let rfc = Equation::default();
        let size = 1460.0;
        let p = rfc.loss_event_rate(&EquationPath::new(size, 0.2), 37_500.0);
        close(p, 0.033_171, 2e-5);
        // With t_RTO = 4 R the rate is proportional to 1/R.
        close(rfc.rate(&EquationPath::new(size, 0.3), p), 37_500.0 * 0.2 / 0.3, 1e-9);
        for equation in [rfc, Equation::ns2()] {
            for p in [1e-6, 1e-4, 0.01, 0.2, 0.3, 0.9] {
                let path = EquationPath { timeout: 0.7, ..EquationPath::new(size, 0.15) };
                close(equation.loss_event_rate(&path, equation.rate(&path, p)), p, 1e-9);
            }
        }
    }

    #[test]
    fn the_inverse_has_ends() {
        let path = EquationPath::new(1460.0, 0.1);
        for equation in [Equation::default(), Equation::ns2()] {
            assert_eq!(equation.loss_event_rate(&path, 1e12), 1e-9);
            assert_eq!(equation.loss_event_rate(&path, f64::INFINITY), 1e-9);
            assert_eq!(equation.loss_event_rate(&path, 0.0), 1.0);
            assert_eq!(equation.loss_event_rate(&path, equation.rate(&path, 1.0)), 1.0);
        }
    }
}
