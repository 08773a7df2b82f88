//! Delay of packets among saturated stations (Carvalho and Garcia-Luna-Aceves, ICNP 2003), and round-trip
//! time over a chain of them (Li, Agu, Claypool and Kinicki, WPI-CS-TR-03-33, Eqs. 4 to 8).

use crate::{PacketExchange, PhyTimes};
use multihop_core::Span;

/// Contention in a cell of saturated stations that all sense each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContentionDelay {
    /// Slot time, sigma.
    pub slot: Span,
    /// Number of slots of the first window, `W`: `CW_min + 1`.
    pub window: u32,
    /// Number of doublings of the window, `m`. The last window is kept until the packet arrives.
    pub stages: u32,
    /// Method by which the probability of success is computed.
    pub success: SuccessProbability,
    /// Whether the mean back-off accounts for growing windows, beta. Otherwise Eq. 5 is as printed, with the
    /// first window at every attempt.
    pub growing_windows: bool,
}

/// Method by which the probability `q` of success is computed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SuccessProbability {
    /// Fixed point of Bianchi 2000, Eqs. 7 and 9.
    #[default]
    FixedPoint,
    /// First-order approximation in the collision probability, in closed form: accurate up to five stations;
    /// 37 % too many collisions with ten.
    Linear,
}

/// Result of contention among a number of stations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contention {
    /// Probability that a station transmits in a slot, tau.
    pub attempt: f64,
    /// Probability that a transmission succeeds, `q`.
    pub success: f64,
    /// Mean number of back-off steps until a packet is delivered: `(W beta - 1) / 2 q`.
    pub steps: f64,
    /// Probabilities that a step of a station's back-off is idle, contains one transmission of another
    /// station, or a collision of others.
    step: [f64; 3],
}

/// Durations of transmissions of packets of one size, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServiceTimes {
    /// Duration of a successful transmission, `t_s` (Eq. 6).
    pub success: f64,
    /// Duration of a collision, `t_c` (Eq. 7).
    pub collision: f64,
}

impl ServiceTimes {
    /// Computes the durations for packets of `size` bytes of MSDU. Each frame takes `propagation` to arrive.
    /// Eq. 6 includes RTS and CTS (`handshake`); without them, DATA and ACK remain, and DATA collides. A
    /// station that collides waits for DIFS and for no timeout (Eq. 7).
    pub fn new(phy: &PhyTimes, size: u32, handshake: bool, propagation: Span) -> ServiceTimes {
        ServiceTimes::of(phy, &phy.exchange(size, handshake.then_some(0)), propagation)
    }

    /// Computes the durations for an exchange of one packet or of an aggregate.
    pub fn of(phy: &PhyTimes, exchange: &PacketExchange, propagation: Span) -> ServiceTimes {
        let frame = |airtime: Span| airtime + propagation;
        let data = frame(exchange.data);
        let answered = data + phy.sifs + frame(exchange.response) + phy.difs;
        let (reservation, collides) = if exchange.handshake {
            (frame(phy.rts) + phy.sifs + frame(phy.cts) + phy.sifs, frame(phy.rts))
        } else {
            (Span::ZERO, data)
        };
        ServiceTimes {
            success: (reservation + answered).seconds(),
            collision: (collides + phy.difs).seconds(),
        }
    }
}

impl ContentionDelay {
    /// Creates the model with the parameters of a PHY.
    pub fn new(phy: &PhyTimes) -> ContentionDelay {
        let window = phy.cw_min + 1;
        ContentionDelay {
            slot: phy.slot,
            window,
            stages: ((phy.cw_max + 1) / window).max(1).ilog2(),
            success: SuccessProbability::default(),
            growing_windows: true,
        }
    }

    /// Contention among `stations` stations, at least one.
    pub fn among(&self, stations: u32) -> Contention {
        let others = f64::from(stations.max(1) - 1);
        let (attempt, collision) = match self.success {
            SuccessProbability::FixedPoint => self.fixed_point(others),
            SuccessProbability::Linear => self.linear(others),
        };
        let success = 1.0 - collision;
        let silent = (1.0 - attempt).powf(others);
        let one = if others > 0.0 { others * attempt * (1.0 - attempt).powf(others - 1.0) } else { 0.0 };
        let window = f64::from(self.window) * if self.growing_windows { self.growth(success) } else { 1.0 };
        Contention {
            attempt,
            success,
            steps: (window - 1.0) / (2.0 * success),
            step: [silent, one, 1.0 - silent - one],
        }
    }

    /// Mean delay from the head of the line to the acknowledgement among `stations` stations, `T` (Eq. 4), in
    /// seconds.
    pub fn delay(&self, stations: u32, times: &ServiceTimes) -> f64 {
        let contention = self.among(stations);
        let collisions = (1.0 - contention.success) / contention.success;
        contention.step(self.slot, times) * contention.steps + collisions * times.collision + times.success
    }

    /// Round-trip time over a chain of saturated hops, `r(N)` (Eq. 8), in seconds: data forward, feedback
    /// back. Each hop is a cell of four stations, or three at both ends; a single hop, which the paper omits,
    /// is a cell of two.
    pub fn round_trip(&self, hops: u32, data: &ServiceTimes, feedback: &ServiceTimes) -> f64 {
        let there_and_back = |stations| self.delay(stations, data) + self.delay(stations, feedback);
        match hops {
            0 => 0.0,
            1 => there_and_back(2),
            _ => 2.0 * there_and_back(3) + f64::from(hops - 2) * there_and_back(4),
        }
    }

    /// Attempts and collisions: `tau(p)` falls with `p`, and `p = 1 - (1 - tau)^(n - 1)` rises with `tau`.
    fn fixed_point(&self, others: f64) -> (f64, f64) {
        let window = f64::from(self.window);
        let attempt = |collision: f64| {
            let doubling: f64 = (0..self.stages).map(|stage| (2.0 * collision).powi(stage as i32)).sum();
            2.0 / (1.0 + window + collision * window * doubling)
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if 1.0 - (1.0 - attempt(middle)).powf(others) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        let collision = if others > 0.0 { f64::midpoint(low, high) } else { 0.0 };
        (attempt(collision), collision)
    }

    /// `tau = 2 / (W + 1) - 2 W p / (W + 1)^2` and `p = (n - 1) tau`.
    fn linear(&self, others: f64) -> (f64, f64) {
        let window = f64::from(self.window);
        let next = window + 1.0;
        let collision = 2.0 * others * next / (next * next + 2.0 * window * others);
        (2.0 / next - 2.0 * window * collision / (next * next), collision)
    }

    /// Beta: mean number of first windows over the attempts of a packet, so that `(W beta - 1) / 2 q` slots
    /// are counted down.
    fn growth(&self, success: f64) -> f64 {
        let failure = 1.0 - success;
        // Sum of q (2 (1 - q))^k over the stages, and of all later attempts at the last, without a division
        // that fails at q = 1/2.
        let growing: f64 = (0..self.stages).map(|stage| success * (2.0 * failure).powi(stage as i32)).sum();
        growing + (2.0 * failure).powi(self.stages as i32)
    }
}

impl Contention {
    /// Mean length of a step of a station's back-off, alpha, in seconds: a slot, or a transmission of others.
    pub fn step(&self, slot: Span, times: &ServiceTimes) -> f64 {
        let [idle, success, collision] = self.step;
        slot.seconds() * idle + times.success * success + times.collision * collision
    }
}

/// Number of bisections, enough for all digits.
const BISECTIONS: u32 = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy_times::testing::dot11b;
    use multihop_core::Rate;

    /// The paper's Table II: DSSS, MAC header of 34 bytes; data at 2 Mb/s, and control frames at 1 Mb/s.
    fn dsss() -> PhyTimes {
        PhyTimes { data_rate: Rate::from_kbps(2_000), data_header: 34, ..dot11b() }
    }

    fn model() -> ContentionDelay {
        ContentionDelay::new(&dsss())
    }

    fn times(size: u32) -> ServiceTimes {
        ServiceTimes::new(&dsss(), size, true, Span::from_us(1))
    }

    fn close(got: f64, expected: f64, within: f64) {
        assert!((got - expected).abs() <= within, "{got} is not {expected}");
    }

    #[test]
    fn contention_is_bianchis_fixed_point() {
        assert_eq!((model().window, model().stages), (32, 5));
        for (stations, attempt, success) in [(3, 0.05372, 0.89544), (4, 0.05065, 0.85561)] {
            let found = model().among(stations);
            close(found.attempt, attempt, 5e-6);
            close(found.success, success, 5e-6);
        }
        close(1.0 - model().among(10).success, 0.28977, 5e-6);
        let linear = ContentionDelay { success: SuccessProbability::Linear, ..model() };
        close(linear.among(3).success, 0.89154, 5e-6);
        close(linear.among(4).success, 0.84543, 5e-6);
        // 2 / 33 - 64 p / 33^2, which is p / (n - 1).
        close(linear.among(3).attempt, 0.054_232, 5e-6);
        close(linear.among(4).attempt, 0.051_522, 5e-6);
        assert_eq!(model().among(1).success, 1.0);
    }

    #[test]
    fn delays_of_the_papers_physical_layer() {
        close(times(1460).success, 7.212e-3, 1e-9);
        close(times(1460).collision, 0.403e-3, 1e-9);
        let printed = ContentionDelay { growing_windows: false, ..model() };
        for (stations, delay) in [(2, 14.78), (3, 22.06), (4, 29.36), (5, 36.67)] {
            close(model().delay(stations, &times(1460)) * 1e3, delay, 5e-3);
        }
        close(printed.delay(3, &times(1460)) * 1e3, 20.28, 5e-3);
        close(printed.delay(4, &times(1460)) * 1e3, 25.54, 5e-3);
        close(model().round_trip(7, &times(1460), &times(40)) * 1e3, 234.1, 0.05);
        close(printed.round_trip(7, &times(1460), &times(40)) * 1e3, 206.3, 0.05);
        let [one, two, three] = [1, 2, 3].map(|hops| model().round_trip(hops, &times(1460), &times(40)));
        close(one, model().delay(2, &times(1460)) + model().delay(2, &times(40)), 1e-12);
        assert!(two > one && three > two && model().round_trip(0, &times(1460), &times(40)) == 0.0);
    }

    /// Interval between two successes of a station, by the renewals of all stations' slots.
    fn renewal(model: &ContentionDelay, stations: i32, times: &ServiceTimes) -> f64 {
        let attempt = model.among(stations as u32).attempt;
        let idle = (1.0 - attempt).powi(stations);
        let own = attempt * (1.0 - attempt).powi(stations - 1);
        let success = f64::from(stations) * own;
        let slot = idle * model.slot.seconds() + success * times.success;
        (slot + (1.0 - idle - success) * times.collision) / own
    }

    /// The delay equals the interval between successes, to all digits: so beta belongs in Eq. 5.
    #[test]
    fn the_delay_is_the_renewal_value_of_the_cell() {
        for (window, stages) in [(32, 5), (16, 6), (8, 3), (16, 0)] {
            let model = ContentionDelay { window, stages, ..model() };
            for stations in [1, 2, 3, 4, 10, 50] {
                for size in [40, 1460] {
                    let expected = renewal(&model, stations, &times(size));
                    close(model.delay(stations as u32, &times(size)) / expected, 1.0, 1e-9);
                }
            }
        }
    }

    #[test]
    fn without_the_handshake_data_collides() {
        let basic = ServiceTimes::new(&dsss(), 1460, false, Span::from_us(1));
        close(times(1460).success - basic.success, (352.0 + 304.0 + 20.0 + 2.0) * 1e-6, 1e-12);
        close(basic.collision, (192.0 + 1494.0 * 4.0 + 1.0 + 50.0) * 1e-6, 1e-12);
    }
}
