//! Channels, and nodes with several radios.

use multihop_core::NodeId;
use multihop_dot11::first_of_block;
use serde::Serialize;

/// Channels of the radios, and the node of each additional radio.
///
/// Each entry of [`super::TopologyConfig::nodes`] is one radio with a MAC and an interface queue of its own.
/// A node with several radios has several entries. The first entry is the node; `further` maps the others to
/// it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Radios {
    /// Channel of each entry; empty if all entries share one channel.
    pub channels: Vec<Channel>,
    /// Additional radios, each with the entry of its node, in ascending order.
    pub further: Vec<(NodeId, NodeId)>,
}

/// Channel of a radio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Channel {
    /// Number of the primary 20 MHz channel, or of a narrower channel (802.11-2016, 17.3.8.4.2, 16.3.6.3 and
    /// 19.3.15). Numbers up to 14 are in the band of 2.4 GHz, higher ones in that of 5 GHz.
    pub number: u16,
    /// Width of the channel in MHz.
    pub width_mhz: u32,
    /// Whether transmissions on partly overlapping channels are noise to each other.
    pub overlaps: bool,
}

/// Transmit power of a radio, and gain of its antenna.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RadioPower {
    /// Transmit power at the antenna input, in milliwatts.
    pub transmit_mw: f64,
    /// Linear gain of the antenna, applied to both transmission and reception.
    pub antenna_gain: f64,
}

impl RadioPower {
    /// Equivalent isotropically radiated power (EIRP) in milliwatts.
    pub fn radiated_mw(self) -> f64 {
        self.transmit_mw * self.antenna_gain
    }
}

impl Channel {
    /// Centre frequency of the whole channel in MHz (802.11-2016, 19.3.15.4 and 21.3.14).
    ///
    /// Numbers are 5 MHz apart, starting from 2407 or 5000 MHz; channel 14 lies 12 MHz above channel 13. At
    /// 2.4 GHz, the secondary half of a 40 MHz channel lies above primary channels up to 7, and below the
    /// others. At 5 GHz, wide channels lie side by side from the lower edge of the first channel of their
    /// part of the band.
    pub fn centre_mhz(self) -> u32 {
        let wider = self.width_mhz.saturating_sub(20) / 2;
        match u32::from(self.number) {
            14 => 2484 - wider,
            number @ 1..=7 => 2407 + 5 * number + wider,
            number @ 8..=13 => 2407 + 5 * number - wider,
            number => {
                let first = u32::from(first_of_block(self.number));
                let within = if wider > 0 { 5 * (number - first) % self.width_mhz } else { 0 };
                5000 + 5 * number - within + wider
            }
        }
    }

    /// Share of the power sent on this channel that falls into `other`. The spectrum is flat within the
    /// channel and zero outside. Channels with the same number share all power.
    pub fn part_in(self, other: Channel) -> f64 {
        let [a, b] = [self, other].map(|channel| f64::from(channel.centre_mhz()));
        let [half, other_half] = [self, other].map(|channel| f64::from(channel.width_mhz) / 2.0);
        let shared = (a + half).min(b + other_half) - (a - half).max(b - other_half);
        if self.number == other.number {
            1.0
        } else if self.overlaps {
            (shared / (2.0 * half)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

impl Radios {
    /// Whether all nodes share one channel and have one radio each.
    pub fn are_one_each(&self) -> bool {
        self.channels.is_empty() && self.further.is_empty()
    }

    /// The node that a radio belongs to.
    pub fn node_of(&self, radio: NodeId) -> NodeId {
        let at = self.further.binary_search_by_key(&radio, |(radio, _)| *radio);
        at.map_or(radio, |at| self.further[at].1)
    }

    /// Whether two radios belong to the same node.
    pub fn share_node(&self, one: NodeId, other: NodeId) -> bool {
        self.node_of(one) == self.node_of(other)
    }

    /// All radios of a node, the first one first.
    pub fn of(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let further = self.further.iter().filter(move |(_, of)| *of == node).map(|(radio, _)| *radio);
        std::iter::once(node).chain(further)
    }

    /// Share of the power sent by radio `from` that falls into the channel of radio `to`, which belongs to
    /// another node.
    pub fn part_at(&self, from: NodeId, to: NodeId) -> f64 {
        match self.channels.as_slice() {
            [] => 1.0,
            channels => channels[from.index()].part_in(channels[to.index()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(number: u16) -> Channel {
        Channel { number, width_mhz: 20, overlaps: true }
    }

    /// 802.11-2016, 17.3.8.4.2 and table 15-6.
    #[test]
    fn channel_centres_are_those_of_the_standard() {
        let centres = [1, 6, 11, 13, 14, 36, 149, 196].map(|number| channel(number).centre_mhz());
        assert_eq!(centres, [2412, 2437, 2462, 2472, 2484, 5180, 5745, 5980]);
    }

    /// 802.11-2016, annex E: 38 and 46 are centres of 40 MHz, 42, 106 and 155 of 80, 50 and 114 of 160.
    #[test]
    fn wide_channels_contain_their_primary_channel() {
        let centre = |number: u16, width_mhz: u32| Channel { width_mhz, ..channel(number) }.centre_mhz();
        let centre_at_5_ghz = |number: u32| 5000 + 5 * number;
        assert_eq!([36, 40, 44].map(|n| centre(n, 40)), [38, 38, 46].map(centre_at_5_ghz));
        assert_eq!(
            [36, 48, 112, 149, 161].map(|n| centre(n, 80)),
            [42, 42, 106, 155, 155].map(centre_at_5_ghz)
        );
        assert_eq!([64, 100].map(|n| centre(n, 160)), [50, 114].map(centre_at_5_ghz));
        assert_eq!([1, 7, 11].map(|n| centre(n, 40)), [2422, 2452, 2452]);
    }

    #[test]
    fn power_in_another_channel_follows_from_the_shared_width() {
        let parts = [1, 2, 3, 4, 5, 11].map(|number| channel(1).part_in(channel(number)));
        assert_eq!(parts, [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]);
        let wide = Channel { width_mhz: 40, ..channel(40) };
        assert_eq!([channel(36).part_in(wide), wide.part_in(channel(36))], [1.0, 0.5]);
        let narrow = Channel { width_mhz: 10, ..channel(177) };
        let [adjacent, apart] = [178, 179].map(|number| Channel { number, ..narrow });
        assert_eq!([narrow.part_in(adjacent), narrow.part_in(apart)], [0.5, 0.0], "5885, 5890 and 5895 MHz");
        let apart = Channel { overlaps: false, ..channel(2) };
        assert_eq!([apart.part_in(channel(1)), apart.part_in(channel(2))], [0.0, 1.0]);
    }

    #[test]
    fn radios_of_a_node_start_with_its_own_entry() {
        let further = vec![(NodeId(3), NodeId(1)), (NodeId(4), NodeId(1)), (NodeId(5), NodeId(0))];
        let radios = Radios { further, ..Radios::default() };
        assert_eq!(radios.of(NodeId(1)).collect::<Vec<_>>(), [NodeId(1), NodeId(3), NodeId(4)]);
        assert!(radios.share_node(NodeId(4), NodeId(1)) && radios.share_node(NodeId(5), NodeId(0)));
        assert!(!radios.share_node(NodeId(4), NodeId(5)) && radios.share_node(NodeId(2), NodeId(2)));
    }
}
