//! Small valid captures, and the damage that a broken disk, a hostile sender or a faulty driver may cause.

use super::{gzip, pcap, pcapng};
use proptest::prelude::*;

/// A QoS data frame with LLC, IPv4 and TCP, after a radiotap header with most fields.
pub fn packet() -> Vec<u8> {
    // TSFT, flags, rate, channel, signal, noise, antenna, XChannel, MCS, A-MPDU, VHT; another antenna; a vendor; HE.
    let words = [0xa03c_086f_u32, 0xc000_0820, 0xa000_0001, 0x0080_0000];
    let mut header = vec![0, 0, 0, 0];
    header.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    header.resize(120, 0x21);
    header[32] = 0; // flags
    header[82..84].copy_from_slice(&4_u16.to_le_bytes()); // bytes of the vendor's namespace
    let length = header.len() as u16;
    header[2..4].copy_from_slice(&length.to_le_bytes());
    let mut frame = vec![0x88, 0x01, 0x3a, 0x01];
    frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3, 0x10, 0, 5, 0]);
    frame.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45, 0, 0, 52, 0, 0, 0x40, 0, 64, 6, 0, 0]);
    frame.extend([10, 0, 0, 1, 10, 0, 0, 2, 0x1f, 0x90, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10]);
    frame.extend([0; 16]);
    [header, frame].concat()
}

/// Files to mutate, each with a few packets of every link type that it can have.
pub fn seeds() -> Vec<Vec<u8>> {
    let packet = packet();
    let frame = &packet[120..];
    let prism: Vec<u8> = [
        &0x44_u32.to_le_bytes()[..],
        &48_u32.to_le_bytes(),
        &[0; 16],
        &[0x44, 0, 8, 0, 0, 0, 4, 0, 22, 0, 0, 0],
        &[0x44, 0, 3, 0, 0, 0, 4, 0, 6, 0, 0, 0],
        frame,
    ]
    .concat();
    let avs: Vec<u8> = [&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64][..], &[0; 56], frame].concat();
    let ppi: Vec<u8> = [&[0, 1, 32, 0, 105, 0, 0, 0, 2, 0, 20, 0][..], &[7; 20], frame].concat();
    let blocks = pcapng(true)
        .interface(127, &[(2, b"mon0"), (9, &[9])])
        .interface(105, &[(9, &[0x86]), (13, &[4])])
        .packet(0, 1 << 33, &packet)
        .block(5, &[0; 16])
        .packet(1, 1 << 34, frame)
        .block(3, &[&20_u32.to_le_bytes()[..], &packet[..20]].concat())
        .bytes;
    let plain = pcap(true, false, 127, &[&packet, &packet[..150], &packet]);
    vec![
        gzip(&plain),
        plain,
        pcap(false, true, 105, &[frame, &frame[..10]]),
        pcap(true, true, 119, &[&prism, &avs]),
        pcap(true, false, 163, &[&avs]),
        pcap(true, false, 192, &[&ppi]),
        blocks,
    ]
}

/// One change to a file. Positions are fractions of its length, in units of 2^-16.
#[derive(Clone, Debug)]
pub enum Mutation {
    Set(u16, u8),
    Flip(u16, u8),
    Word(u16, u32),
    Cut(u16),
    Remove(u16, u8),
    Insert(u16, Vec<u8>),
    Repeat(u16, u16),
}

pub fn mutation() -> impl Strategy<Value = Mutation> {
    let words = prop_oneof![
        any::<u32>(),
        0_u32..64,
        Just(u32::MAX),
        Just(1 << 31),
        (0_u32..32).prop_map(|bit| 1 << bit),
        200_000_u32..300_000
    ];
    prop_oneof![
        (any::<u16>(), any::<u8>()).prop_map(|(at, to)| Mutation::Set(at, to)),
        (any::<u16>(), 0_u8..8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
        (any::<u16>(), words).prop_map(|(at, to)| Mutation::Word(at, to)),
        any::<u16>().prop_map(Mutation::Cut),
        (any::<u16>(), any::<u8>()).prop_map(|(at, bytes)| Mutation::Remove(at, bytes)),
        (any::<u16>(), prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(at, b)| Mutation::Insert(at, b)),
        (any::<u16>(), any::<u16>()).prop_map(|(from, to)| Mutation::Repeat(from, to)),
    ]
}

pub fn mutate(file: &mut Vec<u8>, mutation: &Mutation) {
    let place = |at: u16| usize::from(at) * file.len() / 65_536;
    match mutation {
        _ if file.is_empty() => {}
        Mutation::Set(at, to) => {
            let at = place(*at);
            file[at] = *to;
        }
        Mutation::Flip(at, bit) => {
            let at = place(*at);
            file[at] ^= 1 << bit;
        }
        Mutation::Word(at, to) => {
            let at = place(*at) & !3;
            let room = (file.len() - at).min(4);
            file[at..at + room].copy_from_slice(&to.to_le_bytes()[..room]);
        }
        Mutation::Cut(at) => file.truncate(place(*at)),
        Mutation::Remove(at, bytes) => {
            let at = place(*at);
            let end = (at + usize::from(*bytes)).min(file.len());
            file.drain(at..end);
        }
        Mutation::Insert(at, bytes) => {
            let at = place(*at);
            file.splice(at..at, bytes.iter().copied());
        }
        Mutation::Repeat(from, to) => {
            let (from, to) = (place(*from), place(*to));
            let again = file[from.min(to)..from.max(to)].to_vec();
            file.extend(again);
        }
    }
}

/// Number of cases: some thousand, or the value of the environment variable `PROPTEST_CASES`.
pub fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 4_000 };
    ProptestConfig { cases, failure_persistence: None, ..default }
}
