//! What frames on the air carry under block acknowledgement agreements: the MPDUs of an aggregate, or which
//! of them arrived.
//!
//! It lives here, one place for each MAC, and not in the [`Frame`](super::Frame), which is copied. A MAC has
//! one frame on the air, and what it carries stays until the MAC makes the next one.

use crate::slab::Handle;

/// MPDUs that a block acknowledgement can be about at most.
pub const MOST_MPDUS: usize = 256;

/// An MPDU of an aggregate.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu {
    /// The sender's copy of its packet; of the first, if it is an A-MSDU.
    pub packet: Handle,
    /// Its sequence number, of 12 bits.
    pub sequence: u16,
    /// Bytes from its MAC header to its FCS.
    pub bytes: u32,
    /// It was sent before.
    pub retry: bool,
}

/// Which MPDU of a PSDU comes next, and how far along the PSDU that is. Delimiters and padding are spread
/// evenly over its MPDUs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Course {
    place: usize,
    before: u32,
    all: u32,
}

impl Course {
    /// Before the first of these.
    pub fn of(mpdus: &[Mpdu]) -> Course {
        Course { place: 0, before: 0, all: mpdus.iter().map(|mpdu| mpdu.bytes).sum() }
    }

    /// The place of the next among the MPDUs.
    pub fn place(&self) -> usize {
        self.place
    }

    /// At which fraction of the PSDU it begins.
    pub fn begins(&self) -> f64 {
        f64::from(self.before) / f64::from(self.all)
    }

    /// At which fraction it ends.
    pub fn ends(&self, mpdus: &[Mpdu]) -> f64 {
        let mut after = *self;
        after.advance(mpdus);
        after.begins()
    }

    /// The MPDU is over.
    pub fn advance(&mut self, mpdus: &[Mpdu]) {
        self.before += mpdus[self.place].bytes;
        self.place += 1;
    }
}

/// One bit for each of the MPDUs from a sequence number on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bitmap([u64; MOST_MPDUS / 64]);

impl Bitmap {
    /// Sets the bit of this place.
    pub fn set(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    /// One with so many bits set, the first ones.
    pub fn of_first(places: usize) -> Bitmap {
        let left = |index: usize| places.saturating_sub(64 * index).min(64) as u32;
        Bitmap(std::array::from_fn(|index| u64::MAX.checked_shr(64 - left(index)).unwrap_or(0)))
    }

    /// Is the bit of this place set? None beyond the last is.
    pub fn has(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// The same without the first bits.
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

    /// How many bits are set.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Its words, the first places in the low bits of the first.
    pub fn words(&self) -> [u64; MOST_MPDUS / 64] {
        self.0
    }
}

/// What a frame carries.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Its MPDUs, in the order of the air; none in control frames.
    pub mpdus: Vec<Mpdu>,
    /// The traffic identifier that it is about, or of its MPDUs.
    pub tid: u8,
    /// The agreement that it is about, of those that the originator had with this recipient.
    pub agreement: u32,
    /// The first sequence number that it is about.
    pub start: u16,
    /// In a block acknowledgement: those that arrived, from `start` on.
    pub arrived: Bitmap,
}

/// The place of a MAC among the [`Loads`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoadId(u32);

/// What the frames on the air carry.
#[derive(Clone, Debug, Default)]
pub struct Loads(Vec<Load>);

impl Loads {
    /// A place for the frames of one more MAC.
    pub fn add(&mut self) -> LoadId {
        self.0.push(Load { mpdus: Vec::with_capacity(MOST_MPDUS), ..Load::default() });
        LoadId((self.0.len() - 1) as u32)
    }

    /// What a frame carries.
    pub fn get(&self, id: LoadId) -> &Load {
        &self.0[id.0 as usize]
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, id: LoadId) -> &mut Load {
        &mut self.0[id.0 as usize]
    }

    /// The MPDUs that a frame carries; none, if there is no aggregation in it.
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
