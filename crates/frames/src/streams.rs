//! What is written of transmissions, as streams of small numbers, each of which is packed apart; and the two
//! directions in which they go.

use crate::chance::{Chance, Decoder, Encoder};
use crate::coding::{of_thousands, put, take, thousands, unzigzag, zigzag};
use crate::rans;
use crate::room::Room;

/// A stream. Some quantities have several, by what is known before they are read: they are distributed
/// differently.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Stream {
    /// How many transmissions follow that are as expected in all; when nothing, one, or more answers are
    /// awaited.
    RunAlone,
    RunAwaited,
    RunSeveral,
    /// In what the next one is not as expected; when nothing is awaited, and when something is.
    MaskAlone,
    MaskAwaited,
    /// How what begins an exchange was come by; of first tries and of others.
    Access,
    AccessAgain,
    /// Its transmitter.
    Who,
    /// Which of its latest sorts it is; or what sort.
    Which,
    Sorts,
    /// How many bits have the slots that counted; of first tries, of second ones and so on.
    Slots,
    SlotsAgain,
    SlotsThird,
    SlotsLater,
    /// The bits after the highest one.
    Raw,
    /// Slots since something on the air ended.
    Since,
    /// The rest of a slot.
    Rest,
    /// What is seldom otherwise.
    Rare,
    Loss,
    Collided,
    /// Listeners: nodes that did not occur before, and a bit for each node, by how often it was set.
    Listeners,
    Bits,
    Navs,
    Packet,
    /// Packets of aggregates.
    Mpdus,
    Hits,
    Streams,
    Jumps,
    Lost,
    Outcomes,
    /// Lower bytes of numbers that have two.
    Low,
    /// Numbers that are larger.
    Wide,
    /// How many groups, their keys, and how many rows or runs they have.
    Groups,
    Drops,
    DropChoices,
    DropSteps,
    DropSaid,
    DropCounts,
    Entries,
    EntryChoices,
    EntrySteps,
    EntrySaid,
    EntryCounts,
    Windows,
    WindowChoices,
    WindowSteps,
    WindowSaid,
    Rtts,
    Timeouts,
    /// How many transmissions follow that have the queue which is expected; by how much the next one has not.
    QueueRuns,
    Queues,
}

/// How many there are.
pub const STREAMS: usize = Stream::Queues as usize + 1;

impl Stream {
    /// All of them, in their order in a block.
    pub const ALL: [Stream; STREAMS] = [
        Stream::RunAlone,
        Stream::RunAwaited,
        Stream::RunSeveral,
        Stream::MaskAlone,
        Stream::MaskAwaited,
        Stream::Access,
        Stream::AccessAgain,
        Stream::Who,
        Stream::Which,
        Stream::Sorts,
        Stream::Slots,
        Stream::SlotsAgain,
        Stream::SlotsThird,
        Stream::SlotsLater,
        Stream::Raw,
        Stream::Since,
        Stream::Rest,
        Stream::Rare,
        Stream::Loss,
        Stream::Collided,
        Stream::Listeners,
        Stream::Bits,
        Stream::Navs,
        Stream::Packet,
        Stream::Mpdus,
        Stream::Hits,
        Stream::Streams,
        Stream::Jumps,
        Stream::Lost,
        Stream::Outcomes,
        Stream::Low,
        Stream::Wide,
        Stream::Groups,
        Stream::Drops,
        Stream::DropChoices,
        Stream::DropSteps,
        Stream::DropSaid,
        Stream::DropCounts,
        Stream::Entries,
        Stream::EntryChoices,
        Stream::EntrySteps,
        Stream::EntrySaid,
        Stream::EntryCounts,
        Stream::Windows,
        Stream::WindowChoices,
        Stream::WindowSteps,
        Stream::WindowSaid,
        Stream::Rtts,
        Stream::Timeouts,
        Stream::QueueRuns,
        Stream::Queues,
    ];
}

/// Numbers from here on have two bytes, the higher of which is one of these and the lower is in
/// [`Stream::Low`].
const TWO: i64 = 192;
/// Numbers from here on are in [`Stream::Wide`], and have this in their place.
const MANY: i64 = TWO + ((ESCAPE as i64 - TWO) << 8);
const ESCAPE: u8 = 255;

/// Numbers that are spread have no more bits, or are said.
const MOST_BITS: u32 = 20;
const SAID: u8 = 255;
/// Of those that are steep, these are as they are; larger ones have at least so many bits.
const STEEP: i64 = 64;
const STEEP_BITS: u32 = 7;

/// Numbers on their way to streams, or from them. A writer returns what it is given; a reader, what is there.
pub trait Coder {
    /// Is it a writer?
    const WRITES: bool;

    fn byte(&mut self, stream: Stream, value: u8) -> u8;

    /// A bit of [`Stream::Bits`], which is set as often as that says.
    fn bit(&mut self, chance: &mut Chance, bit: bool) -> bool;

    /// So many bits, at most 56, which look random.
    fn raw(&mut self, value: u64, bits: u32) -> u64;

    /// A number that is as likely to be in the upper half of those with as many bits as in the lower one.
    fn spread(&mut self, stream: Stream, value: i64) -> i64 {
        let bits = 64 - value.leading_zeros();
        let bits = u32::from(self.byte(stream, if bits > MOST_BITS { SAID } else { bits as u8 }));
        match bits {
            0 => 0,
            1..=MOST_BITS => {
                self.raw(value as u64, bits - 1) as i64 & ((1 << (bits - 1)) - 1) | 1 << (bits - 1)
            }
            _ => unzigzag(self.wide(zigzag(value))),
        }
    }

    /// A number of which small values are likelier than large ones, and those with the same two bits after
    /// the highest one are as likely as each other.
    fn steep(&mut self, stream: Stream, value: i64) -> i64 {
        let bits = 64 - value.leading_zeros();
        let first = match value {
            0..STEEP => value,
            _ if bits > MOST_BITS => i64::from(SAID),
            _ => STEEP + i64::from(bits - STEEP_BITS) * 4 + (value >> (bits - 3) & 3),
        };
        let first = i64::from(self.byte(stream, first as u8));
        if first < STEEP {
            return first;
        }
        let bits = STEEP_BITS + ((first - STEEP) / 4) as u32;
        if bits > MOST_BITS {
            return unzigzag(self.wide(zigzag(value)));
        }
        let top = 4 | ((first - STEEP) % 4);
        self.raw(value as u64, bits - 3) as i64 & ((1 << (bits - 3)) - 1) | top << (bits - 3)
    }

    /// A number of any size, in a stream that has no others.
    fn varint(&mut self, stream: Stream, value: u64) -> u64;

    /// May a stream have so many numbers more?
    fn holds(&self, stream: Stream, numbers: usize) -> bool;

    /// May so many rows more come of what is read?
    fn has_room(&mut self, rows: usize) -> bool;

    /// A number of any size.
    fn wide(&mut self, value: u64) -> u64 {
        self.varint(Stream::Wide, value)
    }

    /// A number that is mostly small and not negative.
    #[inline(always)]
    #[allow(clippy::inline_always)] // most have one byte, and there are several in a transmission
    fn number(&mut self, stream: Stream, value: i64) -> i64 {
        let is_one = (0..TWO).contains(&value);
        let first = i64::from(self.byte(stream, if is_one { value } else { first_of(value) } as u8));
        if first < TWO { first } else { self.more(first, value) }
    }

    /// A number of which the first byte says that there is more.
    #[inline(never)]
    fn more(&mut self, first: i64, value: i64) -> i64 {
        if first == i64::from(ESCAPE) {
            return unzigzag(self.wide(zigzag(value)));
        }
        let low = self.byte(Stream::Low, value.wrapping_sub(TWO) as u8);
        TWO + ((first - TWO) << 8) + i64::from(low)
    }

    /// A length of time in nanoseconds, which may be whole microseconds.
    fn time(&mut self, value: i64) -> i64 {
        of_thousands(self.wide(thousands(value)))
    }

    /// A number that is mostly near 0.
    fn signed(&mut self, stream: Stream, value: i64) -> i64 {
        unzigzag(self.number(stream, zigzag(value) as i64) as u64)
    }

    /// A number that is mostly this guess.
    fn near(&mut self, stream: Stream, value: i64, guess: i64) -> i64 {
        guess.wrapping_add(self.signed(stream, value.wrapping_sub(guess)))
    }
}

/// The first byte of a number that has more than one.
fn first_of(value: i64) -> i64 {
    if (TWO..MANY).contains(&value) { TWO + ((value - TWO) >> 8) } else { i64::from(ESCAPE) }
}

/// Streams that are being written.
pub struct Written {
    streams: [Vec<u8>; STREAMS],
    encoder: Encoder,
    /// Raw bits that are no byte yet, the lowest first, and how many.
    raw: (u64, u32),
}

impl Default for Written {
    fn default() -> Written {
        let streams = std::array::from_fn(|_| Vec::new());
        Written { streams, encoder: Encoder::default(), raw: (0, 0) }
    }
}

impl Written {
    /// The length of the longest.
    pub fn longest(&self) -> usize {
        self.streams.iter().map(Vec::len).max().unwrap_or_default()
    }

    /// Appends all of them, packed, and empties them.
    pub fn pack(&mut self, out: &mut Vec<u8>) {
        self.encoder.end(&mut self.streams[Stream::Bits as usize]);
        let (left, bits) = std::mem::take(&mut self.raw);
        self.streams[Stream::Raw as usize].extend((bits > 0).then_some(left as u8));
        let looks_random = |stream| matches!(stream, Stream::Raw | Stream::Bits);
        let streams = Stream::ALL.iter().zip(&self.streams);
        rans::pack_all(streams.map(|(stream, bytes)| (&bytes[..], looks_random(*stream))).collect(), out);
        self.streams.iter_mut().for_each(Vec::clear);
    }
}

impl Coder for Written {
    const WRITES: bool = true;

    #[inline]
    fn byte(&mut self, stream: Stream, value: u8) -> u8 {
        self.streams[stream as usize].push(value);
        value
    }

    fn bit(&mut self, chance: &mut Chance, bit: bool) -> bool {
        self.encoder.code(chance, bit, &mut self.streams[Stream::Bits as usize]);
        bit
    }

    #[inline]
    fn raw(&mut self, value: u64, bits: u32) -> u64 {
        let (left, count) = &mut self.raw;
        *left |= (value & ((1 << bits) - 1)) << *count;
        *count += bits;
        while *count >= 8 {
            self.streams[Stream::Raw as usize].push(*left as u8);
            *left >>= 8;
            *count -= 8;
        }
        value
    }

    #[inline]
    fn varint(&mut self, stream: Stream, value: u64) -> u64 {
        put(&mut self.streams[stream as usize], value);
        value
    }

    fn holds(&self, _: Stream, _: usize) -> bool {
        true
    }

    fn has_room(&mut self, _: usize) -> bool {
        true
    }
}

/// Streams that are being read.
pub struct Read<'r> {
    room: &'r mut Room,
    streams: [(Vec<u8>, usize); STREAMS],
    decoder: Decoder,
    /// How many bits of the last raw byte are left, and these.
    raw: (u64, u32),
    /// More was asked for than was there.
    pub failed: bool,
}

impl<'r> Read<'r> {
    /// The streams at the beginning of these bytes, and what follows.
    pub fn unpack<'b>(mut bytes: &'b [u8], room: &'r mut Room) -> Option<(Read<'r>, &'b [u8])> {
        let mut read = Read {
            room,
            streams: std::array::from_fn(|_| Default::default()),
            decoder: Decoder::default(),
            raw: (0, 0),
            failed: false,
        };
        for stream in &mut read.streams {
            (stream.0, bytes) = rans::unpack(bytes, read.room)?;
        }
        Some((read, bytes))
    }

    /// Was all read, and nothing beyond?
    pub fn is_over(&self) -> bool {
        // What ends the bits may not be needed to tell them.
        let is_over = |(stream, (bytes, at)): (&Stream, &(Vec<u8>, usize))| {
            *at == bytes.len() || *stream == Stream::Bits
        };
        !self.failed && Stream::ALL.iter().zip(&self.streams).all(is_over)
    }
}

impl Coder for Read<'_> {
    const WRITES: bool = false;

    fn byte(&mut self, stream: Stream, _: u8) -> u8 {
        let (bytes, at) = &mut self.streams[stream as usize];
        let Some(byte) = bytes.get(*at) else {
            self.failed = true;
            return 0;
        };
        *at += 1;
        *byte
    }

    fn bit(&mut self, chance: &mut Chance, _: bool) -> bool {
        let (bytes, at) = &mut self.streams[Stream::Bits as usize];
        self.decoder.code(chance, || {
            *at += 1;
            bytes.get(*at - 1).copied().unwrap_or(0)
        })
    }

    fn raw(&mut self, _: u64, bits: u32) -> u64 {
        while self.raw.1 < bits {
            let byte = self.byte(Stream::Raw, 0);
            self.raw.0 |= u64::from(byte) << self.raw.1;
            self.raw.1 += 8;
        }
        let value = self.raw.0 & ((1 << bits) - 1);
        self.raw = (self.raw.0 >> bits, self.raw.1 - bits);
        value
    }

    fn holds(&self, stream: Stream, numbers: usize) -> bool {
        let (bytes, at) = &self.streams[stream as usize];
        numbers <= bytes.len() - at
    }

    fn has_room(&mut self, rows: usize) -> bool {
        self.room.take_rows(rows).is_some()
    }

    fn varint(&mut self, stream: Stream, _: u64) -> u64 {
        let (bytes, at) = &mut self.streams[stream as usize];
        let Some((value, rest)) = take(&bytes[*at..]) else {
            self.failed = true;
            return 0;
        };
        *at = bytes.len() - rest.len();
        value
    }
}
