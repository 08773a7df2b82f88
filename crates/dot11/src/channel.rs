//! Channel numbers of each band (802.11-2016, annex E; 15.4.4.3, 19.3.15, 21.3.14).

use crate::{Band, Bandwidth};

/// Blocks of adjacent 20 MHz channels at 5 GHz: first channel, last channel, and width in MHz of the widest
/// channel that can be bonded within the block.
const CHANNEL_BLOCKS: [(u16, u16, u32); 4] = [(36, 64, 160), (100, 144, 160), (149, 165, 80), (184, 196, 40)];
/// 20 MHz channels that are never bonded. The first four were used in Japan.
const UNBONDED: [u16; 6] = [34, 38, 42, 46, 169, 173];
/// Difference between the numbers of adjacent 20 MHz channels.
const CHANNEL_SPACING: u16 = 4;
/// Channels of 10 and 5 MHz at 5.9 GHz for 802.11p: first, last, width in MHz (802.11-2016, table E-1,
/// classes 16 and 17; from memory, not verified).
const VEHICULAR: [(u16, u16, u32); 2] = [(171, 184, 10), (170, 184, 5)];

impl Band {
    /// Numbers of the 20 MHz channels that can be the primary channel at this bandwidth, in ascending order.
    /// Channels of 10 and 5 MHz are listed by their own numbers, which give their centre frequency.
    pub fn channels(self, bandwidth: Bandwidth) -> impl Iterator<Item = u16> {
        (1..=196).filter(move |number| self.has_channel(*number, bandwidth.mhz()))
    }

    fn has_channel(self, number: u16, width_mhz: u32) -> bool {
        match (self, width_mhz) {
            // Channel 14 is for direct sequence in Japan only and cannot be bonded.
            (Band::Ghz2_4, 20) => (1..=14).contains(&number),
            (Band::Ghz2_4, 40) => (1..=13).contains(&number),
            (Band::Ghz2_4, _) => false,
            (Band::Ghz5, 5 | 10) => {
                let vehicular = |(first, last, width): &(u16, u16, u32)| {
                    *width == width_mhz && (*first..=*last).contains(&number)
                };
                self.has_channel(number, 20) || VEHICULAR.iter().any(vehicular)
            }
            (Band::Ghz5, 20) if UNBONDED.contains(&number) => true,
            (Band::Ghz5, _) => CHANNEL_BLOCKS.iter().any(|(first, last, widest)| {
                let within =
                    (*first..=*last).contains(&number) && (number - first).is_multiple_of(CHANNEL_SPACING);
                let together = (width_mhz / 20) as u16 * CHANNEL_SPACING;
                let beginning = |number: u16| number - (number - first) % together;
                within && width_mhz <= *widest && beginning(number) + together <= last + CHANNEL_SPACING
            }),
        }
    }
}

/// First channel of the 5 GHz block that contains this channel; bonded channels are counted from there. A
/// channel outside all blocks is its own first.
pub fn first_of_block(number: u16) -> u16 {
    let block = CHANNEL_BLOCKS.iter().find(|(first, last, _)| (*first..=*last).contains(&number));
    block.map_or(number, |(first, ..)| *first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(band: Band, bandwidth: Bandwidth) -> Vec<u16> {
        band.channels(bandwidth).collect()
    }

    /// 802.11-2016, tables E-1 to E-4.
    #[test]
    fn wide_channels_are_whole() {
        let of_5 = |bandwidth| channels(Band::Ghz5, bandwidth);
        let narrow = of_5(Bandwidth::Mhz20);
        assert_eq!(narrow.len(), 4 + 8 + 12 + 5 + 2 + 4);
        assert!([34, 36, 64, 100, 144, 149, 165, 184].iter().all(|number| narrow.contains(number)));
        assert!([35, 37, 66, 68, 96, 98, 147, 150, 161 + 5].iter().all(|number| !narrow.contains(number)));
        let wide = of_5(Bandwidth::Mhz40);
        assert!([36, 40, 144, 157, 161, 196].iter().all(|number| wide.contains(number)));
        assert!([34, 42, 165, 169].iter().all(|number| !wide.contains(number)), "165 has no neighbour above");
        let eighty = of_5(Bandwidth::Mhz80);
        assert_eq!(
            eighty,
            [
                36, 40, 44, 48, 52, 56, 60, 64, 100, 104, 108, 112, 116, 120, 124, 128, 132, 136, 140, 144,
                149, 153, 157, 161
            ]
        );
        assert_eq!(
            of_5(Bandwidth::Mhz160),
            [36, 40, 44, 48, 52, 56, 60, 64, 100, 104, 108, 112, 116, 120, 124, 128]
        );
        let narrow = of_5(Bandwidth::Mhz10);
        assert!([36, 171, 172, 178, 184, 196].iter().all(|number| narrow.contains(number)));
        assert!(!narrow.contains(&170) && of_5(Bandwidth::Mhz5).contains(&170));
        assert!(channels(Band::Ghz2_4, Bandwidth::Mhz10).is_empty());
        assert_eq!(channels(Band::Ghz2_4, Bandwidth::Mhz20), (1..=14).collect::<Vec<_>>());
        assert_eq!(channels(Band::Ghz2_4, Bandwidth::Mhz40), (1..=13).collect::<Vec<_>>());
    }
}
