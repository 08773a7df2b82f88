//! Rate at which media arrives.

use super::PacketFate;
use std::collections::VecDeque;

/// Payload that arrived in the last `window` seconds, by the receiver's clock.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalRate {
    window: f64,
    arrivals: VecDeque<(f64, u32)>,
    bytes: u64,
    /// Arrival of the first packet of all.
    first: Option<f64>,
}

impl ArrivalRate {
    /// Creates an empty window of this length in seconds.
    pub(crate) fn new(window: f64) -> ArrivalRate {
        ArrivalRate { window, arrivals: VecDeque::new(), bytes: 0, first: None }
    }

    /// Adds a packet, if it arrived.
    pub(crate) fn add(&mut self, packet: &PacketFate) {
        let Some(arrival) = packet.arrival else { return };
        self.first.get_or_insert(arrival);
        self.arrivals.push_back((arrival, packet.payload));
        self.bytes += u64::from(packet.payload);
        while let Some((_, payload)) = self.arrivals.front().filter(|(at, _)| *at <= arrival - self.window) {
            self.bytes -= u64::from(*payload);
            self.arrivals.pop_front();
        }
    }

    /// Bytes per second; none until packets have arrived for a whole window.
    pub(crate) fn rate(&self) -> Option<f64> {
        let (first, (latest, _)) = (self.first?, self.arrivals.back()?);
        (latest - first >= self.window).then(|| self.bytes as f64 / self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 bytes each 0.125 s: four in half a second.
    #[test]
    fn bytes_of_the_window_count() {
        let mut rate = ArrivalRate::new(0.5);
        let mut rates = Vec::new();
        for index in 0..6 {
            let arrival = Some(7.0 + 0.125 * f64::from(index));
            rate.add(&PacketFate { number: 0, payload: 100, sent: 0.0, arrival, marked: false });
            rates.push(rate.rate());
        }
        assert_eq!(rates, [None, None, None, None, Some(800.0), Some(800.0)]);
        rate.add(&PacketFate { number: 0, payload: 100, sent: 0.0, arrival: None, marked: false });
        assert_eq!(rate.rate(), Some(800.0), "a lost packet is no arrival");
    }
}
