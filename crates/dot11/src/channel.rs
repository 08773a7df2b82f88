//! Which channels there are, by number (802.11-2016, annex E; 15.4.4.3, 19.3.15, 21.3.14).

use crate::{Band, Bandwidth};

/// Channels at 5 GHz that lie side by side, four numbers apart: the first, the last, and the widest channels
/// made of them.
const RUNS: [(u16, u16, u32); 4] = [(36, 64, 160), (100, 144, 160), (149, 165, 80), (184, 196, 40)];
/// Those that wide channels are never made of. The first four were Japan's.
const SINGLE: [u16; 6] = [34, 38, 42, 46, 169, 173];
/// Of 20 MHz each.
const APART: u16 = 4;
/// Channels of 10 and 5 MHz at 5.9 GHz, where 802.11p has them (802.11-2016, table E-1, classes 16 and 17;
/// from memory, not verified).
const VEHICULAR: [(u16, u16, u32); 2] = [(171, 184, 10), (170, 184, 5)];

impl Band {
    /// The numbers of the 20 MHz channels that can be the primary one of a channel of this width, in
    /// ascending order; of channels of 10 and 5 MHz their own, each around the centre that its number says.
    pub fn channels(self, bandwidth: Bandwidth) -> impl Iterator<Item = u16> {
        (1..=196).filter(move |number| self.has(*number, bandwidth.mhz()))
    }

    fn has(self, number: u16, width_mhz: u32) -> bool {
        match (self, width_mhz) {
            // Channel 14 is Japan's, for direct sequence, and has no neighbour.
            (Band::Ghz2_4, 20) => (1..=14).contains(&number),
            (Band::Ghz2_4, 40) => (1..=13).contains(&number),
            (Band::Ghz2_4, _) => false,
            (Band::Ghz5, 5 | 10) => {
                let vehicular = |(first, last, width): &(u16, u16, u32)| {
                    *width == width_mhz && (*first..=*last).contains(&number)
                };
                self.has(number, 20) || VEHICULAR.iter().any(vehicular)
            }
            (Band::Ghz5, 20) if SINGLE.contains(&number) => true,
            (Band::Ghz5, _) => RUNS.iter().any(|(first, last, widest)| {
                let within = (*first..=*last).contains(&number) && (number - first).is_multiple_of(APART);
                let together = (width_mhz / 20) as u16 * APART;
                let beginning = |number: u16| number - (number - first) % together;
                within && width_mhz <= *widest && beginning(number) + together <= last + APART
            }),
        }
    }
}

/// The first of the channels at 5 GHz that a channel lies side by side with, from which wide ones are
/// counted.
pub fn first_of_run(number: u16) -> u16 {
    let run = RUNS.iter().find(|(first, last, _)| (*first..=*last).contains(&number));
    run.map_or(number, |(first, ..)| *first)
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
