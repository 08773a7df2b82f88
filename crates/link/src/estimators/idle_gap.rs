//! `IdleGap` (Lee et al. 2007).

use crate::estimators::occupied::Occupied;
use crate::{Elapsed, Estimator, LinkView};
use multihop_config::parameters;
use multihop_core::{FrameKind, Interval, LinkEvent, Rate, Span, Time};

parameters! {
    ($)
    /// Options of [`IdleGap`].
    #[derive(Clone, Copy, Debug, PartialEq)]
    IdleGapOptions, listed by idle_gap_options:
    /// Divisor of the time reserved by NAVs: the latest time of this length, or with "off" the time since the
    /// first frame.
    window: Elapsed from "1 ms" to "1 min" = Elapsed::Window(Span::from_ms(1_000));
}

/// Estimates the available bandwidth as the bit rate times the idle rate, in bits per second:
/// `AB = C (1 - sum of NAVs / T_Total)`.
///
/// NAVs are those of all frames that the node decodes, for itself or others; overlaps count once. `C` is the
/// bit rate of the latest DATA frame, sent or decoded, not the throughput of the link: therefore `IdleGap`
/// overestimates (Barreto 2015). Before the first DATA frame `C` is the nominal data rate.
#[derive(Clone, Debug)]
pub struct IdleGap {
    occupied: Occupied,
    rate: Rate,
}

impl IdleGap {
    /// Creates an estimator without frames; `data_rate` is the nominal rate of DATA.
    pub fn new(elapsed: Elapsed, data_rate: Rate) -> IdleGap {
        IdleGap { occupied: Occupied::new(elapsed), rate: data_rate }
    }

    /// Bit rate that serves as the capacity, in bits per second.
    pub fn capacity_bps(&self) -> f64 {
        self.rate.bps() as f64
    }

    /// Available bandwidth in bits per second at `now`, which must not precede the last event.
    pub fn available_bps(&self, now: Time) -> f64 {
        self.capacity_bps() * (1.0 - self.occupied.share(now)).max(0.0)
    }
}

impl Estimator for IdleGap {
    fn on_link(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::Decoded(heard) => {
                let end = heard.air.end + heard.duration;
                self.occupied.add(Interval { start: heard.air.end, end });
                if heard.kind == FrameKind::Data && heard.to.is_some() {
                    self.rate = heard.rate;
                }
            }
            LinkEvent::Exchange(exchange) if exchange.peer != multihop_core::NodeId::BROADCAST => {
                self.rate = exchange.rate;
            }
            LinkEvent::NavReset(at) => self.occupied.cut(*at),
            _ => {}
        }
    }

    fn write(&self, now: Time, view: &mut LinkView) {
        view.capacity_bps = Some(self.capacity_bps());
        view.available_bps = Some(self.available_bps(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{A, B, C, heard, us};
    use multihop_core::Span;

    /// One millisecond: an RTS that reserves 400 us from 152 on, its CTS and DATA within it, and 100 us of
    /// another DATA frame.
    #[test]
    fn navs_count_once_and_the_rate_is_that_of_data() {
        let mut estimator = IdleGap::new(Elapsed::Window(Span::from_ms(1)), Rate::from_kbps(2_000));
        assert_eq!(estimator.available_bps(us(0)), 2e6);
        estimator.on_link(&heard(FrameKind::Rts, B, C, (100, 152), 400));
        estimator.on_link(&heard(FrameKind::Cts, C, B, (162, 200), 352));
        estimator.on_link(&heard(FrameKind::Data, B, C, (210, 500), 52));
        assert_eq!(estimator.capacity_bps(), 11e6, "of the DATA, not of RTS and CTS at 1 Mb/s");
        estimator.on_link(&heard(FrameKind::Data, C, A, (700, 800), 100));
        assert!((estimator.available_bps(us(1_000)) - 11e6 * 0.5).abs() < 1.0);
        assert!((estimator.available_bps(us(1_500)) - 11e6 * (1.0 - 0.052 - 0.1)).abs() < 1.0);
    }

    #[test]
    fn a_nav_that_is_given_up_is_idle() {
        let mut estimator = IdleGap::new(Elapsed::SinceStart, Rate::from_kbps(11_000));
        estimator.on_link(&heard(FrameKind::Rts, B, C, (100, 200), 1_000));
        estimator.on_link(&LinkEvent::NavReset(us(600)));
        assert!((estimator.available_bps(us(1_000)) - 11e6 * 0.5).abs() < 1.0);
    }

    /// The node's own frames have a rate as those of others; broadcasts, at the basic rate, do not count.
    #[test]
    fn the_rate_is_that_of_its_own_exchanges_too() {
        use multihop_core::{Exchange, Fate, NodeId};
        let mut estimator = IdleGap::new(Elapsed::SinceStart, Rate::from_kbps(2_000));
        let own = crate::testing::exchange(1500, 0, 1_000, Fate::Acknowledged);
        let rate = Rate::from_kbps(1_000);
        let broadcast = Exchange { peer: NodeId::BROADCAST, fate: Fate::Broadcast, rate, ..own };
        estimator.on_link(&LinkEvent::Exchange(broadcast));
        assert_eq!(estimator.capacity_bps(), 2e6);
        estimator.on_link(&LinkEvent::Exchange(own));
        assert_eq!(estimator.capacity_bps(), 11e6);
        estimator.on_link(&LinkEvent::Exchange(broadcast));
        assert_eq!(estimator.capacity_bps(), 11e6);
    }
}
