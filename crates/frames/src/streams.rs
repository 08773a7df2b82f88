//! What is written of transmissions, as streams of small numbers, each of which is packed apart; and the two
//! directions in which they go.

use crate::coding::{of_thousands, put, take, thousands, unzigzag, zigzag};
use crate::rans;

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
    /// Which of its latest sorts it is.
    Which,
    /// Slots that counted; of first tries and of others.
    Slots,
    SlotsAgain,
    /// Slots since something on the air ended.
    Since,
    /// The rest of a slot.
    Rest,
    /// What is seldom otherwise.
    Rare,
    Queue,
    Loss,
    Collided,
    /// Listeners: nodes that did not occur before, and a bit for each node.
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
}

/// How many there are.
pub const STREAMS: usize = Stream::Wide as usize + 1;

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
        Stream::Slots,
        Stream::SlotsAgain,
        Stream::Since,
        Stream::Rest,
        Stream::Rare,
        Stream::Queue,
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
    ];
}

/// Numbers from here on have two bytes, the higher of which is one of these and the lower is in
/// [`Stream::Low`].
const TWO: i64 = 192;
/// Numbers from here on are in [`Stream::Wide`], and have this in their place.
const MANY: i64 = TWO + ((ESCAPE as i64 - TWO) << 8);
const ESCAPE: u8 = 255;

/// Numbers on their way to streams, or from them. A writer returns what it is given; a reader, what is there.
pub trait Coder {
    /// Is it a writer?
    const WRITES: bool;

    fn byte(&mut self, stream: Stream, value: u8) -> u8;

    /// A number of any size.
    fn wide(&mut self, value: u64) -> u64;

    /// A number that is mostly small and not negative.
    #[inline]
    fn number(&mut self, stream: Stream, value: i64) -> i64 {
        let first = if (0..TWO).contains(&value) { value } else { first_of(value) };
        let first = i64::from(self.byte(stream, first as u8));
        if first < TWO { first } else { self.more(first, value) }
    }

    /// A number of which the first byte says that there is more.
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
pub struct Written([Vec<u8>; STREAMS]);

impl Default for Written {
    fn default() -> Written {
        Written(std::array::from_fn(|_| Vec::new()))
    }
}

impl Written {
    /// The length of the longest.
    pub fn longest(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or_default()
    }

    /// Appends all of them, packed, and empties them.
    pub fn pack(&mut self, out: &mut Vec<u8>) {
        for stream in &mut self.0 {
            rans::pack(stream, out);
            stream.clear();
        }
    }
}

impl Coder for Written {
    const WRITES: bool = true;

    #[inline]
    fn byte(&mut self, stream: Stream, value: u8) -> u8 {
        self.0[stream as usize].push(value);
        value
    }

    fn wide(&mut self, value: u64) -> u64 {
        put(&mut self.0[Stream::Wide as usize], value);
        value
    }
}

/// Streams that are being read.
pub struct Read {
    streams: [(Vec<u8>, usize); STREAMS],
    /// More was asked for than was there.
    pub failed: bool,
}

impl Read {
    /// The streams at the beginning of these bytes, and what follows.
    pub fn unpack(mut bytes: &[u8]) -> Option<(Read, &[u8])> {
        let mut read = Read { streams: std::array::from_fn(|_| Default::default()), failed: false };
        for stream in &mut read.streams {
            (stream.0, bytes) = rans::unpack(bytes)?;
        }
        Some((read, bytes))
    }

    /// Was all read, and nothing beyond?
    pub fn is_over(&self) -> bool {
        !self.failed && self.streams.iter().all(|(bytes, at)| *at == bytes.len())
    }
}

impl Coder for Read {
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

    fn wide(&mut self, _: u64) -> u64 {
        let (bytes, at) = &mut self.streams[Stream::Wide as usize];
        let Some((value, rest)) = take(&bytes[*at..]) else {
            self.failed = true;
            return 0;
        };
        *at = bytes.len() - rest.len();
        value
    }
}
