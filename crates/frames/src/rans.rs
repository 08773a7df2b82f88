//! Bytes of one kind in as few bytes as their frequencies allow: range asymmetric numeral systems (Duda 2013,
//! arXiv:1311.2540) with frequencies of the whole.
//!
//! A DEFLATE of this crate's streams took four times as long as everything else that writes a log, and at
//! least one bit for each byte, where most bytes are as expected and carry almost no information.

use crate::coding::{put, take};

/// Frequencies add up to two to this.
const SCALE: u32 = 12;
const TOTAL: u32 = 1 << SCALE;
/// Below this a state takes in another byte.
const LOW: u32 = 1 << 23;
/// A packed stream has no more bytes than this, or a damaged one could ask for any memory.
pub const MOST: usize = 1 << 24;

/// Appends a stream: how many bytes it has; how many follow, times two, and one if they are coded; these.
pub fn pack(bytes: &[u8], out: &mut Vec<u8>) {
    put(out, bytes.len() as u64);
    if bytes.is_empty() {
        return;
    }
    let coded = coded(bytes);
    let (content, is_coded) = if coded.len() < bytes.len() { (coded.as_slice(), 1) } else { (bytes, 0) };
    put(out, (content.len() as u64) << 1 | is_coded);
    out.extend_from_slice(content);
}

/// A stream, and what follows it; none if it is not one.
pub fn unpack(bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (length, rest) = take(bytes)?;
    let length = usize::try_from(length).ok().filter(|length| *length <= MOST)?;
    if length == 0 {
        return Some((Vec::new(), rest));
    }
    let (size, rest) = take(rest)?;
    let (content, rest) = rest.split_at_checked(usize::try_from(size >> 1).ok()?)?;
    let unpacked = if size & 1 == 1 { decoded(content, length)? } else { content.to_vec() };
    (unpacked.len() == length).then_some((unpacked, rest))
}

/// How often each byte occurs, of [`TOTAL`]; at least once if it occurs at all.
fn frequencies(bytes: &[u8]) -> [u32; 256] {
    let mut counts = [0_u32; 256];
    if bytes[1..] == bytes[..bytes.len() - 1] {
        // Compared at once: a stream is often one byte again and again.
        counts[usize::from(bytes[0])] = bytes.len() as u32;
    } else {
        for byte in bytes {
            counts[usize::from(*byte)] += 1;
        }
    }
    let of_all = |count: u32| (u64::from(count) * u64::from(TOTAL) / bytes.len() as u64) as u32;
    let mut made = counts.map(|count| if count == 0 { 0 } else { of_all(count).max(1) });
    loop {
        let sum: u32 = made.iter().sum();
        let most = made.iter_mut().max().expect("there are 256");
        match sum.cmp(&TOTAL) {
            std::cmp::Ordering::Less => *most += TOTAL - sum,
            std::cmp::Ordering::Equal => return made,
            std::cmp::Ordering::Greater => *most -= (sum - TOTAL).min(*most / 2),
        }
    }
}

/// The table of frequencies, and the state and bytes in the order in which they are read.
fn coded(bytes: &[u8]) -> Vec<u8> {
    let frequency = frequencies(bytes);
    let mut out = Vec::with_capacity(bytes.len() / 2 + 64);
    let present: Vec<u8> = (0..=u8::MAX).filter(|byte| frequency[usize::from(*byte)] > 0).collect();
    out.push((present.len() - 1) as u8);
    let mut before = 0;
    for byte in &present {
        out.push(byte - before);
        put(&mut out, u64::from(frequency[usize::from(*byte)] - 1));
        before = *byte;
    }
    let head = out.len();
    let mut state = LOW;
    // Bytes that are all alike leave the state as it is.
    if present.len() > 1 {
        let symbols = symbols(&frequency);
        for byte in bytes.iter().rev() {
            let symbol = &symbols[usize::from(*byte)];
            while state >= symbol.most {
                out.push(state as u8);
                state >>= 8;
            }
            state += symbol.start + symbol.of(state) * symbol.rest;
        }
    }
    out.extend(state.to_le_bytes());
    out[head..].reverse();
    out
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

fn decoded(mut content: &[u8], length: usize) -> Option<Vec<u8>> {
    let (count, rest) = content.split_first()?;
    content = rest;
    let mut symbols = Vec::with_capacity(TOTAL as usize);
    let mut table = [(0_u32, 0_u32); 256];
    let mut byte = 0_u8;
    for _ in 0..=*count {
        let (step, rest) = content.split_first()?;
        let (frequency, rest) = take(rest)?;
        content = rest;
        byte = byte.checked_add(*step)?;
        let frequency = u32::try_from(frequency).ok().filter(|frequency| *frequency < TOTAL)? + 1;
        table[usize::from(byte)] = (frequency, symbols.len() as u32);
        symbols.extend(std::iter::repeat_n(byte, frequency as usize));
    }
    if symbols.len() != TOTAL as usize {
        return None;
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
        let (read, rest) = unpack(&packed).expect("it was packed");
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
    fn more_different_bytes_than_frequencies_can_tell_apart_are_packed() {
        let mut bytes = vec![0; 200_000];
        bytes.extend(1..=255);
        there_and_back(&bytes);
        let mut bytes: Vec<u8> = (0..128).flat_map(|byte| vec![byte; 400]).collect();
        bytes.extend(128..=255);
        there_and_back(&bytes);
    }
}
