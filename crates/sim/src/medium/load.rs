//! Contents of frames under block acknowledgement agreements: the MPDUs of an aggregate, or which of them
//! arrived.
//!
//! The contents are stored here, one entry per MAC, because [`Frame`](super::Frame) is copied often. A MAC
//! has one frame on the air, and its entry stays until the MAC makes the next frame.

use crate::slab::Handle;

/// Largest number of MPDUs that a block acknowledgement covers.
pub const MOST_MPDUS: usize = 256;

/// MPDU of an aggregate.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu {
    /// Sender's copy of the packet; of an A-MSDU, the first packet.
    pub packet: Handle,
    /// Sequence number, 12 bits.
    pub sequence: u16,
    /// Length in bytes from the MAC header to the FCS.
    pub bytes: u32,
    /// Whether the MPDU was sent before.
    pub retry: bool,
}

/// Progress of a receiver through a PSDU: the next MPDU, and the fraction of the PSDU before it. Delimiters
/// and padding are spread evenly over the MPDUs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Course {
    place: usize,
    before: u32,
    all: u32,
}

impl Course {
    /// Starts before the first of these MPDUs.
    pub fn of(mpdus: &[Mpdu]) -> Course {
        Course { place: 0, before: 0, all: mpdus.iter().map(|mpdu| mpdu.bytes).sum() }
    }

    /// Index of the next MPDU.
    pub fn place(&self) -> usize {
        self.place
    }

    /// Fraction of the PSDU at which the next MPDU begins.
    pub fn begins(&self) -> f64 {
        f64::from(self.before) / f64::from(self.all)
    }

    /// Fraction of the PSDU at which the next MPDU ends.
    pub fn ends(&self, mpdus: &[Mpdu]) -> f64 {
        let mut after = *self;
        after.advance(mpdus);
        after.begins()
    }

    /// Moves past the next MPDU.
    pub fn advance(&mut self, mpdus: &[Mpdu]) {
        self.before += mpdus[self.place].bytes;
        self.place += 1;
    }
}

/// Bitmap of MPDUs, one bit per sequence number from a start on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bitmap([u64; MOST_MPDUS / 64]);

impl Bitmap {
    /// Sets a bit.
    pub fn set(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    /// Creates a bitmap whose first `places` bits are set.
    pub fn of_first(places: usize) -> Bitmap {
        let left = |index: usize| places.saturating_sub(64 * index).min(64) as u32;
        Bitmap(std::array::from_fn(|index| u64::MAX.checked_shr(64 - left(index)).unwrap_or(0)))
    }

    /// Whether a bit is set; false beyond the last.
    pub fn has(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// Returns the bitmap without its first bits.
    #[must_use]
    pub fn without_first(self, places: usize) -> Bitmap {
        let (words, bits) = (places / 64, places % 64);
        let word = |index: usize| self.0.get(index).copied().unwrap_or(0);
        let moved = |index: usize| {
            let above = word(index + words + 1).checked_shl(64 - bits as u32).unwrap_or(0);
            word(index + words) >> bits | above
        };
        Bitmap(std::array::from_fn(moved))
    }

    /// Number of bits set.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Words of the bitmap; the first bits are the low bits of the first word.
    pub fn words(&self) -> [u64; MOST_MPDUS / 64] {
        self.0
    }
}

/// Contents of a frame under a block acknowledgement agreement.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// MPDUs in the order of transmission; none in control frames.
    pub mpdus: Vec<Mpdu>,
    /// Traffic identifier of the MPDUs, or of the control frame.
    pub tid: u8,
    /// Number of the agreement, among those of the originator with this recipient.
    pub agreement: u32,
    /// Starting sequence number.
    pub start: u16,
    /// MPDUs that arrived, from `start` on, in a block acknowledgement.
    pub arrived: Bitmap,
}

/// Identifier of a MAC's entry in [`Loads`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoadId(u32);

/// Contents of the frames on the air, by MAC.
#[derive(Clone, Debug, Default)]
pub struct Loads(Vec<Load>);

impl Loads {
    /// Adds the entry of one more MAC.
    pub fn add(&mut self) -> LoadId {
        self.0.push(Load { mpdus: Vec::with_capacity(MOST_MPDUS), ..Load::default() });
        LoadId((self.0.len() - 1) as u32)
    }

    /// Contents of a frame.
    pub fn get(&self, id: LoadId) -> &Load {
        &self.0[id.0 as usize]
    }

    /// Contents of a frame, to be changed.
    pub fn get_mut(&mut self, id: LoadId) -> &mut Load {
        &mut self.0[id.0 as usize]
    }

    /// MPDUs of a frame; none without aggregation.
    #[inline]
    pub fn mpdus(&self, load: Option<LoadId>) -> &[Mpdu] {
        load.map_or(&[], |id| &self.get(id).mpdus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_moves_with_its_start() {
        let mut bits = Bitmap::default();
        for place in [0, 63, 64, 255] {
            bits.set(place);
        }
        assert_eq!(bits.count(), 4);
        for places in [0, 1, 63, 64, 65, 200, 256] {
            let mut one_by_one = Bitmap::default();
            (0..places).for_each(|place| one_by_one.set(place));
            assert_eq!(Bitmap::of_first(places), one_by_one, "{places}");
        }
        let moved = bits.without_first(63);
        assert_eq!((moved.has(0), moved.has(1), moved.has(192), moved.count()), (true, true, true, 3));
        assert!(!bits.has(256) && !bits.has(1_000));
        assert_eq!(bits.without_first(256), Bitmap::default());
    }
}
