//! Bytes of one kind in as few bytes as their frequencies allow: range asymmetric numeral systems (Duda 2013,
//! arXiv:1311.2540) with frequencies of the whole.
//!
//! A DEFLATE of this crate's streams took four times as long as everything else that writes a log, and at
//! least one bit for each byte, where most bytes are as expected and carry almost no information.

use crate::coding::{put, take};
use crate::room::Room;

/// Frequencies add up to two to this.
const SCALE: u32 = 12;
const TOTAL: u32 = 1 << SCALE;
/// There is room for what so many bytes take at once.
const CHUNK: usize = 1 << 12;
/// Bits of a frequency after the highest one.
const DIGITS: u32 = 3;
/// Below this a state takes in another byte.
const LOW: u32 = 1 << 23;
/// A packed stream has no more bytes than this, or a damaged one could ask for any memory.
const MOST: usize = 1 << 24;

/// Appends a stream: how many bytes it has; how many follow, times two, and one if they are coded; these.
pub fn pack(bytes: &[u8], out: &mut Vec<u8>) {
    pack_all(vec![(bytes, false)], out);
}

/// Appends streams. What codes a byte waits for the one before it: several streams are coded side by side.
pub fn pack_all(streams: Vec<(&[u8], bool)>, out: &mut Vec<u8>) {
    let mut lanes: Vec<Lane> = streams.into_iter().map(Lane::new).collect();
    let mut waiting: Vec<&mut Lane> = lanes.iter_mut().filter(|lane| lane.left > 0).collect();
    let mut going: Vec<&mut Lane> = Vec::new();
    loop {
        going.retain(|lane| lane.left > 0);
        while going.len() < 4
            && let Some(longest) = (0..waiting.len()).max_by_key(|place| waiting[*place].left)
        {
            going.push(waiting.swap_remove(longest));
        }
        match &mut going[..] {
            [] => break,
            [one, two, three, four] => advance([one, two, three, four]),
            [one, ..] => advance([one]),
        }
    }
    for lane in lanes {
        lane.finish(out);
    }
}

/// A stream, and what follows it; none if it is not one, or there is no room for it.
pub fn unpack<'b>(bytes: &'b [u8], room: &mut Room) -> Option<(Vec<u8>, &'b [u8])> {
    let (length, rest) = take(bytes)?;
    let length = usize::try_from(length).ok().filter(|length| *length <= MOST)?;
    room.take_bytes(length)?;
    if length == 0 {
        return Some((Vec::new(), rest));
    }
    let (size, rest) = take(rest)?;
    let (content, rest) = rest.split_at_checked(usize::try_from(size >> 1).ok()?)?;
    let unpacked = if size & 1 == 1 { decoded(content, length)? } else { content.to_vec() };
    (unpacked.len() == length).then_some((unpacked, rest))
}

/// Counts bytes. One after the other, equal bytes would wait for each other: four are counted apart.
fn count(bytes: &[u8], counts: &mut [u32; 256]) {
    let mut apart = [[0_u32; 256]; 4];
    let fours = bytes.chunks_exact(4);
    let rest = fours.remainder();
    for four in fours {
        for (counts, byte) in apart.iter_mut().zip(four) {
            counts[usize::from(*byte)] += 1;
        }
    }
    for (byte, count) in counts.iter_mut().enumerate() {
        *count += apart.iter().map(|counts| counts[byte]).sum::<u32>();
    }
    for byte in rest {
        counts[usize::from(*byte)] += 1;
    }
}

/// How often each byte occurs, of [`TOTAL`], at least once if it occurs at all, and one that occurs most
/// often: the frequencies of all others have no more than [`DIGITS`] bits after the highest one.
fn frequencies(bytes: &[u8]) -> ([u32; 256], usize) {
    let mut counts = [0_u32; 256];
    if bytes[1..] == bytes[..bytes.len() - 1] {
        // Compared at once: a stream is often one byte again and again.
        counts[usize::from(bytes[0])] = bytes.len() as u32;
    } else {
        count(bytes, &mut counts);
    }
    let of_all = |count: u32| (u64::from(count) * u64::from(TOTAL) / bytes.len() as u64) as u32;
    let rounded = |frequency: u32| frequency >> spare(frequency) << spare(frequency);
    let mut made = counts.map(|count| if count == 0 { 0 } else { rounded(of_all(count).max(1)) });
    let most = (0..256).max_by_key(|byte| counts[*byte]).expect("there are 256");
    loop {
        let sum: u32 = made.iter().sum();
        let others = sum - made[most];
        if others < TOTAL {
            made[most] = TOTAL - others;
            return (made, most);
        }
        // There are many that are seldom.
        made.iter_mut().filter(|frequency| **frequency > 1).for_each(|frequency| {
            *frequency = rounded(*frequency / 2);
        });
    }
}

/// How many low bits of a frequency are not set.
fn spare(frequency: u32) -> u32 {
    (u32::BITS - frequency.leading_zeros()).saturating_sub(DIGITS + 1)
}

/// Appends which bytes there are and how often, as bits, the lowest first: how many bytes, less one, in eight
/// bits; of each how many values are left out before it, as a number; how many bits its frequency has, in
/// four, or 0 of the one that has what is left of the total; and up to
/// [`DIGITS`] bits of the frequency after the highest one. A number is one more in its bits, the highest
/// first, after as many zeros as it has bits beyond the first (Elias 1975, doi:10.1109/TIT.1975.1055349).
fn put_frequencies(frequencies: &[u32; 256], most: usize, out: &mut Vec<u8>) {
    let present = frequencies.iter().filter(|frequency| **frequency > 0).count();
    let (mut left, mut count) = (0_u64, 0);
    let mut bits = |value: u32, bits: u32| {
        left |= u64::from(value) << count;
        count += bits;
        while count >= 8 {
            out.push(left as u8);
            (left, count) = (left >> 8, count - 8);
        }
    };
    bits(present as u32 - 1, 8);
    let mut next = 0;
    for byte in (0..256).filter(|byte| frequencies[*byte] > 0) {
        let gap = (byte - next) as u32 + 1;
        next = byte + 1;
        let zeros = gap.ilog2();
        bits(0, zeros);
        (0..=zeros).rev().for_each(|bit| bits(gap >> bit & 1, 1));
        let frequency = frequencies[byte];
        if byte == most {
            bits(0, 4);
            continue;
        }
        let digits = frequency.ilog2();
        bits(digits + 1, 4);
        let kept = digits.min(DIGITS);
        bits(frequency >> (digits - kept) & ((1 << kept) - 1), kept);
    }
    bits(0, 7);
}

/// The same read; what follows.
fn take_frequencies(content: &[u8]) -> Option<([u32; 256], &[u8])> {
    let mut at = 0;
    let mut bits = |count: u32| {
        let mut value = 0;
        for bit in 0..count {
            value |= u32::from(content.get(at / 8)? >> (at % 8) & 1) << bit;
            at += 1;
        }
        Some(value)
    };
    let (mut made, mut next, mut most, mut sum) = ([0; 256], 0, None, 0);
    for _ in 0..=bits(8)? {
        let mut zeros = 0;
        while bits(1)? == 0 {
            zeros += 1;
        }
        let mut gap = 1_usize;
        for _ in 0..zeros {
            gap = gap.checked_mul(2)? | bits(1)? as usize;
        }
        let byte = (gap - 1).checked_add(next).filter(|byte| *byte < 256)?;
        next = byte + 1;
        match bits(4)?.checked_sub(1) {
            None => most = Some(byte),
            Some(digits) => {
                let kept = digits.min(DIGITS);
                made[byte] = (1 << kept | bits(kept)?) << (digits - kept);
                sum += made[byte];
            }
        }
    }
    made[most?] = TOTAL.checked_sub(sum).filter(|left| *left > 0)?;
    Some((made, content.get(at.div_ceil(8)..)?))
}

/// A stream on its way: the table of frequencies, and the bytes and the state, which are read in the opposite
/// order.
struct Lane<'b> {
    bytes: &'b [u8],
    /// They stay as they are.
    plain: bool,
    /// So many of them, the first ones, are to be coded.
    left: usize,
    symbols: Vec<Symbol>,
    state: u32,
    out: Vec<u8>,
    /// Where the table ends, and where the next byte comes.
    head: usize,
    at: usize,
}

impl<'b> Lane<'b> {
    fn new((bytes, plain): (&'b [u8], bool)) -> Lane<'b> {
        let (mut out, mut left, mut made) = (Vec::new(), 0, Vec::new());
        if !bytes.is_empty() && !plain {
            let (frequency, most) = frequencies(bytes);
            put_frequencies(&frequency, most, &mut out);
            // Bytes that are all alike leave the state as it is.
            if frequency.iter().all(|frequency| *frequency < TOTAL) {
                left = bytes.len();
                made = symbols(&frequency).to_vec();
            }
        }
        let head = out.len();
        Lane { bytes, plain, left, symbols: made, state: LOW, out, head, at: head }
    }

    fn finish(mut self, out: &mut Vec<u8>) {
        put(out, self.bytes.len() as u64);
        if self.bytes.is_empty() {
            return;
        }
        self.out.truncate(self.at);
        self.out.extend(self.state.to_le_bytes());
        self.out[self.head..].reverse();
        let is_coded = !self.plain && self.out.len() < self.bytes.len();
        let content = if is_coded { &self.out[..] } else { self.bytes };
        put(out, (content.len() as u64) << 1 | u64::from(is_coded));
        out.extend_from_slice(content);
    }
}

/// Codes as many bytes of each as the shortest has left, or [`CHUNK`].
fn advance<const N: usize>(mut lanes: [&mut Lane; N]) {
    let steps = lanes.iter().map(|lane| lane.left).min().unwrap_or(0).min(CHUNK);
    let mut coding = lanes.each_mut().map(|lane| {
        // A byte takes no more than two bytes.
        lane.out.resize(lane.at + 2 * steps + 2, 0);
        lane.left -= steps;
        let Lane { bytes, left, symbols, state, out, at, .. } = &mut **lane;
        let symbols: &[Symbol; 256] = symbols[..].try_into().expect("there is one for each byte");
        (&bytes[*left..*left + steps], symbols, &mut out[..], *state, *at)
    });
    for step in (0..steps).rev() {
        for (bytes, symbols, out, state, at) in &mut coding {
            let symbol = &symbols[usize::from(bytes[step])];
            // They are written whether they are needed or not: which are looks random, and a processor would
            // guess wrongly.
            let room = &mut out[*at..*at + 2];
            (room[0], room[1]) = (*state as u8, (*state >> 8) as u8);
            let needed = u32::from(*state >= symbol.most) + u32::from(*state >> 8 >= symbol.most);
            *at += needed as usize;
            *state >>= 8 * needed;
            *state += symbol.start + symbol.of(*state) * symbol.rest;
        }
    }
    let ends = coding.map(|(_, _, _, state, at)| (state, at));
    for (lane, (state, at)) in lanes.iter_mut().zip(ends) {
        (lane.state, lane.at) = (state, at);
    }
}

/// What takes a state on by a byte: to its quotient by the frequency, times the total, and the remainder, and
/// where the byte begins.
#[derive(Clone, Copy, Default)]
struct Symbol {
    start: u32,
    /// The total without the frequency: a state is a quotient times that, and a remainder.
    rest: u32,
    /// From here on the state puts out a byte first.
    most: u32,
    /// A division takes several times as long as a multiplication by the inverse (Granlund and Montgomery
    /// 1994, doi:10.1145/178243.178249), which is exact for states below two to 31.
    inverse: u64,
    shift: u32,
}

impl Symbol {
    /// The quotient of a state by the frequency.
    #[inline]
    fn of(&self, state: u32) -> u32 {
        ((u64::from(state) * self.inverse) >> self.shift) as u32
    }
}

fn symbols(frequencies: &[u32; 256]) -> [Symbol; 256] {
    let mut start = 0;
    frequencies.map(|frequency| {
        if frequency == 0 {
            return Symbol::default();
        }
        let shift = 31 + frequency.next_power_of_two().trailing_zeros();
        let most = ((LOW >> SCALE) << 8) * frequency;
        let inverse = (1_u64 << shift).div_ceil(u64::from(frequency));
        start += frequency;
        Symbol { start: start - frequency, rest: TOTAL - frequency, most, inverse, shift }
    })
}

fn decoded(content: &[u8], length: usize) -> Option<Vec<u8>> {
    let (frequencies, content) = take_frequencies(content)?;
    let mut symbols = Vec::with_capacity(TOTAL as usize);
    let mut table = [(0_u32, 0_u32); 256];
    for (byte, frequency) in (0..=u8::MAX).zip(frequencies) {
        table[usize::from(byte)] = (frequency, symbols.len() as u32);
        symbols.extend(std::iter::repeat_n(byte, frequency as usize));
    }
    let (state, mut rest) = content.split_first_chunk()?;
    let mut state = u32::from_be_bytes(*state);
    let mut out = Vec::with_capacity(length);
    for _ in 0..length {
        let slot = state % TOTAL;
        let byte = symbols[slot as usize];
        let (frequency, start) = table[usize::from(byte)];
        state = frequency.checked_mul(state >> SCALE)?.checked_add(slot.checked_sub(start)?)?;
        while state < LOW {
            let (next, others) = rest.split_first()?;
            rest = others;
            state = state << 8 | u32::from(*next);
        }
        out.push(byte);
    }
    (state == LOW && rest.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(bytes: &[u8]) -> usize {
        let mut packed = Vec::new();
        pack(bytes, &mut packed);
        let size = packed.len();
        packed.push(7);
        let (read, rest) = unpack(&packed, &mut Room::of(size)).expect("it was packed");
        assert_eq!((read.as_slice(), rest), (bytes, [7].as_slice()));
        size
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        for bytes in [vec![], vec![5], vec![0; 100_000], (0..=255).collect(), vec![255; 3]] {
            there_and_back(&bytes);
        }
        let skewed: Vec<u8> =
            (0..60_000_u32).map(|n| if n % 997 == 0 { (n % 256) as u8 } else { 3 }).collect();
        there_and_back(&skewed);
    }

    /// At the edges of where the quotient goes up.
    #[test]
    fn inverses_divide() {
        for frequency in 1..TOTAL {
            let symbol = symbols(&[[0, frequency], [1, 0]].concat().repeat(64).try_into().unwrap())[1];
            for quotient in [1, 2, 3, 1_000, (symbol.most - 1) / frequency] {
                for state in [quotient * frequency - 1, quotient * frequency] {
                    assert_eq!(symbol.of(state), state / frequency, "{state} by {frequency}");
                }
            }
            assert_eq!(symbol.of(symbol.most - 1), (symbol.most - 1) / frequency);
        }
    }

    #[test]
    fn it_takes_what_the_entropy_says() {
        // Seven in eight are 0: .544 bits each.
        let bytes: Vec<u8> =
            (0..80_000_u32).map(|n| u8::from(n.wrapping_mul(2_654_435_761) >> 29 == 0)).collect();
        let size = there_and_back(&bytes);
        assert!((5_300..5_600).contains(&size), "{size}");
        assert!(there_and_back(&vec![9; 100_000]) < 20);
    }

    #[test]
    fn what_looks_random_stays_as_it_is() {
        let bytes = [1, 2, 3].repeat(10);
        let mut packed = Vec::new();
        pack_all(vec![(&bytes[..], true)], &mut packed);
        assert_eq!(packed[2..], bytes);
        assert_eq!(unpack(&packed, &mut Room::of(packed.len())), Some((bytes, &[][..])));
    }

    #[test]
    fn more_different_bytes_than_frequencies_can_tell_apart_are_packed() {
        let mut bytes = vec![0; 200_000];
        bytes.extend(1..=255);
        there_and_back(&bytes);
        let mut bytes: Vec<u8> = (0..128).flat_map(|byte| vec![byte; 400]).collect();
        bytes.extend(128..=255);
        there_and_back(&bytes);
    }

    #[test]
    fn streams_side_by_side_are_as_one_after_the_other() {
        let stream = |n: u32| -> Vec<u8> {
            let bytes = |at: u32| ((at + n).wrapping_mul(2_654_435_761) >> (24 + n % 8)) as u8;
            (0..n * n * 331 % 20_011).map(bytes).collect()
        };
        for count in 0..12 {
            let streams: Vec<Vec<u8>> = (0..count).map(stream).collect();
            let (mut together, mut apart) = (Vec::new(), Vec::new());
            pack_all(streams.iter().map(|stream| (&stream[..], false)).collect(), &mut together);
            for stream in &streams {
                pack(stream, &mut apart);
            }
            assert_eq!(together, apart, "{count} streams");
            let mut rest = &together[..];
            for stream in &streams {
                let (read, after) = unpack(rest, &mut Room::of(rest.len())).expect("it was packed");
                assert_eq!(&read, stream);
                rest = after;
            }
        }
    }
}
