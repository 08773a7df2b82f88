//! Bits by how often they were set lately: an arithmetic coder of one bit after the other (Rissanen and
//! Langdon 1979, doi:10.1147/rd.232.0149), with carry-less renormalisation.

/// How often a bit was set lately, of 65,536, and how many were seen.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    set: u16,
    seen: u8,
}

/// What was seen counts as no more than so many.
const MOST_SEEN: u8 = 60;
/// Chances are not nearer to 0 and 1 than this.
const LEAST: i32 = 32;

impl Default for Chance {
    fn default() -> Chance {
        Chance { set: 1 << 15, seen: 0 }
    }
}

impl Chance {
    fn learn(&mut self, bit: bool) {
        let to = if bit { 1 << 16 } else { 0 };
        let step = (to - i32::from(self.set)) * 2 / (2 * i32::from(self.seen) + 3);
        self.set = (i32::from(self.set) + step).clamp(LEAST, (1 << 16) - LEAST) as u16;
        self.seen = (self.seen + 1).min(MOST_SEEN);
    }
}

/// The range that is left.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: u32,
    high: u32,
}

impl Range {
    const ALL: Range = Range { low: 0, high: u32::MAX };

    /// The last number for which a bit is set.
    fn middle(self, chance: Chance) -> u32 {
        self.low + ((self.high - self.low) >> 16) * u32::from(chance.set)
    }

    fn take(&mut self, middle: u32, bit: bool) {
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
    }

    fn is_settled(self) -> bool {
        (self.low ^ self.high) >> 24 == 0
    }

    fn shift(&mut self) {
        (self.low, self.high) = (self.low << 8, self.high << 8 | 0xff);
    }
}

/// Writes bits.
#[derive(Debug)]
pub struct Encoder(Range);

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder(Range::ALL)
    }
}

impl Encoder {
    pub fn code(&mut self, chance: &mut Chance, bit: bool, out: &mut Vec<u8>) {
        self.0.take(self.0.middle(*chance), bit);
        chance.learn(bit);
        while self.0.is_settled() {
            out.push((self.0.high >> 24) as u8);
            self.0.shift();
        }
    }

    /// Writes what is left, of a stream that is not empty.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        // A reader goes on with zeros.
        if self.0.low > 0 || self.0.high < u32::MAX {
            out.push((self.0.low >> 24) as u8 + 1);
        }
        self.0 = Range::ALL;
    }
}

/// Reads bits.
#[derive(Debug)]
pub struct Decoder {
    range: Range,
    value: u32,
    begun: bool,
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder { range: Range::ALL, value: 0, begun: false }
    }
}

impl Decoder {
    /// The next bit; `next` has the bytes, and zeros behind them.
    pub fn code(&mut self, chance: &mut Chance, mut next: impl FnMut() -> u8) -> bool {
        if !self.begun {
            self.begun = true;
            self.value = (0..4).fold(0, |value, _| value << 8 | u32::from(next()));
        }
        let middle = self.range.middle(*chance);
        let bit = self.value <= middle;
        self.range.take(middle, bit);
        chance.learn(bit);
        while self.range.is_settled() {
            self.range.shift();
            self.value = self.value << 8 | u32::from(next());
        }
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits of which one in so many is set, in the order of a multiplicative hash.
    fn there_and_back(bits: u32, one_in: u32) -> usize {
        let bit = |n: u32| n.wrapping_mul(2_654_435_761) >> 7 < (1 << 25) / one_in;
        let (mut encoder, mut chance, mut bytes) = (Encoder::default(), Chance::default(), Vec::new());
        (0..bits).for_each(|n| encoder.code(&mut chance, bit(n), &mut bytes));
        encoder.end(&mut bytes);
        let (mut decoder, mut chance, mut read) = (Decoder::default(), Chance::default(), bytes.iter());
        for n in 0..bits {
            let found = decoder.code(&mut chance, || read.next().copied().unwrap_or(0));
            assert_eq!(found, bit(n), "{n} of {bits}");
        }
        bytes.len()
    }

    #[test]
    fn bits_come_back_and_take_what_their_entropy_says() {
        for bits in 0..200 {
            for one_in in [1, 2, 3, 9, 1 << 25] {
                there_and_back(bits, one_in);
            }
        }
        // One in eight is set: .544 bits each, and what is learned and forgotten.
        let size = there_and_back(80_000, 8);
        assert!((5_430..5_650).contains(&size), "{size}");
        assert!(there_and_back(80_000, 2) < 10_200);
        assert!(there_and_back(80_000, 1) < 20);
    }
}
