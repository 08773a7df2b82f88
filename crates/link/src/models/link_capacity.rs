//! Model of the capacity of a link in a shared medium (Qazi, "Improving Performance of Router-Assisted
//! Transport Protocols over Variable Capacity Links", section IV): the capacity above the MAC, from bit rate,
//! losses, the airtime of others, and overhead.

use crate::PhyTimes;
use multihop_core::{Rate, Span};

/// Parameters of a link in the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkCapacity {
    /// Size of a MAC frame, `X`, in bytes: the packet with the MAC header and FCS.
    pub frame: f64,
    /// Bit rate of DATA, `R`.
    pub rate: Rate,
    /// Share of DATA frames that the channel loses, `p`, in [0, 1].
    pub loss: f64,
    /// Share of time that transmissions on other links take, `U`, in [0, 1].
    pub others: f64,
    /// Overhead of each transmission, `T_ov`.
    pub overhead: Span,
}

impl LinkCapacity {
    /// Overhead of a transmission, Eq. 3: `T_ov = DIFS + T_pr + T_BO + SIFS + T_pr + T_ack`, where `T_pr` is
    /// the preamble with the PLCP header. Airtimes of `phy` include it.
    ///
    /// The model has neither RTS/CTS nor propagation.
    pub fn overhead(phy: &PhyTimes, backoff: Span) -> Span {
        phy.difs + phy.data_overhead + backoff + phy.sifs + phy.ack
    }

    /// Transmission time of a frame's bits, `T_tr = X / R`, in seconds.
    pub fn transmission(&self) -> f64 {
        self.frame * 8.0 / self.rate.bps() as f64
    }

    /// Bit rate left by losses and other stations, Eq. 1: `C_PHY = R (1 - p) (1 - U)`, in bits per second.
    pub fn phy_bps(&self) -> f64 {
        self.rate.bps() as f64 * (1.0 - self.loss) * (1.0 - self.others)
    }

    /// Capacity above the MAC, Eq. 2: `C = T_tr / (T_tr + T_ov) C_PHY`, in bits of frames per second.
    pub fn bps(&self) -> f64 {
        self.share(0.0)
    }

    /// Capacity above the MAC if a transport acknowledgement of `frame` bytes answers every `per` frames,
    /// with its own transmission and overhead on the same medium. The paper's example has one per frame.
    pub fn bps_with_acknowledgements(&self, frame: f64, per: f64) -> f64 {
        let answer = LinkCapacity { frame, ..*self };
        self.share((answer.transmission() + self.overhead.seconds()) / per)
    }

    /// Share of a capacity above a header of `header` bytes: `(X - H) / X`. (The paper prints `(X - H / X)`.)
    pub fn above(&self, header: f64) -> f64 {
        (self.frame - header) / self.frame
    }

    fn share(&self, more: f64) -> f64 {
        let transmission = self.transmission();
        transmission / (transmission + self.overhead.seconds() + more) * self.phy_bps()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy_times::testing::dot11b;

    /// The ACK at 1 Mb/s has 192 us of preamble and 112 us of bits.
    fn example() -> LinkCapacity {
        let phy = dot11b();
        LinkCapacity {
            frame: 1500.0,
            rate: phy.data_rate,
            loss: 0.0,
            others: 0.0,
            overhead: LinkCapacity::overhead(&phy, Span::from_us(320)),
        }
    }

    /// Frames of 1500 bytes at 11 Mb/s with 320 us of back-off: "about 6 Mbps for UDP traffic and about 4.2
    /// Mbps (assuming 40 b transport ACKs)".
    #[test]
    fn the_example_of_section_iv() {
        let link = example();
        assert!((link.transmission() * 1e6 - 1_090.909).abs() < 1e-3);
        assert_eq!(link.overhead, Span::from_us(876));
        assert!((link.bps() * 1e-6 - 6.101).abs() < 1e-3, "{}", link.bps());
        let with = link.bps_with_acknowledgements(40.0, 1.0);
        assert!((with * 1e-6 - 4.178).abs() < 1e-3, "{with}");
        let delayed = link.bps_with_acknowledgements(40.0, 2.0);
        assert!((delayed * 1e-6 - 4.960).abs() < 1e-3, "{delayed}");
    }

    #[test]
    fn eq_1_takes_losses_and_others_away() {
        let link = LinkCapacity { loss: 0.25, others: 0.5, ..example() };
        assert!((link.phy_bps() * 1e-6 - 11.0 * 0.75 * 0.5).abs() < 1e-9);
        assert!((link.bps() - example().bps() * 0.75 * 0.5).abs() < 1e-6);
        assert!((link.above(54.0) - 0.964).abs() < 1e-9);
    }
}
