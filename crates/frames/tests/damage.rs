//! What is read of a file that is not what was written: what is before the damage, and which block it is.

use multihop_frames::{
    Fault, Flow, FrameLog, Gap, Head, Mpdu, Node, ReadError, Sort, Table, Transmission, Writer, check, cut,
    read,
};

const MOST: u64 = 1 << 30;
/// Bytes of a file before its first block, and of a block before and behind its content.
const BEGINS: usize = 12;
const BLOCK: usize = 25 + 4;
const BETWEEN: i64 = 1_000_000;
const NODES: usize = 2;

/// So many DATA frames, one after the other.
fn log(count: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (nodes, flows) = (vec![Node::default(); NODES], vec![Flow::default()]);
    let head = Head { slot_ns: 20_000, nodes, flows, ..Head::default() };
    let mut writer = Writer::new(&mut bytes, &head).unwrap();
    let sort = Sort { airtime: 300_000, to: 1, carries: 1, kind: 2, bytes: 100, rate: 1, ..Sort::default() };
    for n in 0..count {
        let frozen = n * n % 7;
        let mut row = Transmission { start: n * BETWEEN, frozen, collided: -1, ..Transmission::default() };
        writer.transmission(&sort, &mut row).unwrap();
        writer.row(Table::Places, [n, 0, n, n, 0]).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

/// Where blocks begin.
fn blocks(bytes: &[u8]) -> Vec<usize> {
    let (mut at, mut found) = (BEGINS, Vec::new());
    while let Some(size) = bytes.get(at + 21..at + 25) {
        found.push(at);
        at += BLOCK + u32::from_le_bytes(size.try_into().unwrap()) as usize;
    }
    found
}

/// Is it all of the whole log, but for the last rows?
fn is_beginning(part: &FrameLog, whole: &FrameLog) -> bool {
    let begins = |(part, whole): (&Vec<i64>, &Vec<i64>)| whole.starts_with(part);
    let columns = part.tables.iter().zip(&whole.tables);
    part.head == whole.head && columns.flat_map(|(part, whole)| part.0.iter().zip(&whole.0)).all(begins)
}

#[test]
fn no_flipped_byte_is_read_as_something_else() {
    let bytes = log(40);
    let whole = read(&bytes, None, MOST).unwrap();
    let starts = blocks(&bytes);
    assert_eq!(starts.len(), 5, "description, sorts, transmissions, places, end");
    for (at, mask) in (0..bytes.len()).flat_map(|at| [1, 0x80, 0xff].map(|mask| (at, mask))) {
        let mut flipped = bytes.clone();
        flipped[at] ^= mask;
        let number = starts.partition_point(|start| *start <= at);
        match read(&flipped, None, MOST) {
            Err(ReadError::NoFrameLog) => assert!(at < 8, "byte {at}"),
            Err(ReadError::Version(_)) => assert!((8..BEGINS).contains(&at), "byte {at}"),
            Err(ReadError::Damaged { gap }) => {
                assert_eq!((gap.block, gap.at), (number, starts[number - 1]), "byte {at}");
            }
            Err(other) => panic!("byte {at}: {other}"),
            // A length that reaches beyond the end of the file.
            Ok(part) => {
                let gap = part.cut_short.expect("it says so");
                assert_eq!((gap.block, gap.at), (number, starts[number - 1]), "byte {at}");
                assert!((21..25).contains(&(at - starts[number - 1])) && is_beginning(&part, &whole));
            }
        }
    }
}

#[test]
fn a_file_that_ends_early_says_in_which_block() {
    let bytes = log(40);
    let whole = read(&bytes, None, MOST).unwrap();
    let starts = blocks(&bytes);
    for length in starts[1]..bytes.len() {
        let part = read(&bytes[..length], None, MOST).unwrap();
        let number = starts.partition_point(|start| *start <= length);
        let gap = part.cut_short.expect("it says so");
        assert_eq!((gap.block, gap.at, gap.fault), (number, starts[number - 1], Fault::Missing));
        assert!(is_beginning(&part, &whole));
    }
    let error = read(&bytes[..starts[1] - 1], None, MOST).unwrap_err().to_string();
    assert_eq!(
        error,
        "damaged: block 1, at byte 12, is missing, or not all of it is there; write the log again"
    );
}

#[test]
fn blocks_that_are_left_out_or_stand_elsewhere_are_damage() {
    let bytes = log(40);
    let starts = blocks(&bytes);
    let without: Vec<u8> = [&bytes[..starts[1]], &bytes[starts[2]..]].concat();
    let changed: Vec<u8> = [
        &bytes[..starts[1]],
        &bytes[starts[2]..starts[3]],
        &bytes[starts[1]..starts[2]],
        &bytes[starts[3]..],
    ]
    .concat();
    for other in [without, changed] {
        let Err(ReadError::Damaged { gap }) = read(&other, None, MOST) else { panic!("it was read") };
        assert_eq!((gap.block, gap.fault), (2, Fault::CheckSum));
    }
    let more = [&bytes[..], &[0]].concat();
    let Err(ReadError::Damaged { gap }) = read(&more, None, MOST) else { panic!("it was read") };
    assert_eq!((gap.block, gap.at, gap.fault), (6, bytes.len(), Fault::AfterEnd));
}

#[test]
fn what_is_before_the_damage_is_read_as_a_window() {
    let mut bytes = log(70_000);
    let starts = blocks(&bytes);
    let is_of_transmissions = |at: &&usize| bytes[**at] == Table::Transmissions as u8;
    let second = *starts.iter().filter(is_of_transmissions).nth(1).unwrap();
    bytes[second + 40] ^= 4;
    let until = (1 << 15) * BETWEEN as u64 - BETWEEN as u64;
    let gap = Gap {
        block: 1 + starts.iter().position(|start| *start == second).unwrap(),
        at: second,
        fault: Fault::CheckSum,
        until: Some(until),
    };
    let error = read(&bytes, None, MOST).unwrap_err();
    assert_eq!(error, ReadError::Damaged { gap });
    assert_eq!(
        error.to_string(),
        format!(
            "damaged: block {}, at byte {second}, has another check sum than it says; write the log again; \
             --between \"0 s, 32.766999999 s\" is still readable",
            gap.block
        )
    );
    assert_eq!(read(&bytes, Some([0, until]), MOST).unwrap_err(), error, "more may begin at this instant");
    let part = read(&bytes, Some([0, until - 1]), MOST).unwrap();
    assert_eq!((part.transmissions, part.cut_short), ((1 << 15) - 1, Some(gap)));
    let again = read(&cut(&bytes, [0, until - 1]).unwrap(), None, MOST).unwrap();
    assert_eq!(again.transmissions, (1 << 15) - 1);
}

/// The description of a run of one node and one flow.
fn small() -> Head {
    Head { slot_ns: 20_000, nodes: vec![Node::default()], flows: vec![Flow::default()], ..Head::default() }
}

/// A log of one node and one flow, to which rows are added that name others.
fn with(add: impl FnOnce(&mut Writer<&mut Vec<u8>>)) -> Result<FrameLog, ReadError> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &small()).unwrap();
    add(&mut writer);
    writer.finish().unwrap();
    let found = read(&bytes, None, MOST);
    assert_eq!(check(&bytes, None, MOST).err(), found.clone().err());
    found
}

#[test]
fn indices_that_are_not_there_are_damage() {
    let sort = Sort { airtime: 300_000, to: -1, flow: -1, kind: 2, ..Sort::default() };
    let row = Transmission { collided: -1, ..Transmission::default() };
    let mpdu = |stream, outcome| vec![Mpdu { stream, packet: 1, outcome }];
    let sorts = [
        Sort { from: 1, ..sort },
        Sort { to: 900_000, ..sort },
        Sort { flow: 1, ..sort },
        Sort { kind: 9, ..sort },
        Sort { carries: 6, ..sort },
    ];
    let rows = [
        Transmission { outcome: 8, ..row.clone() },
        Transmission { collided: 1, ..row.clone() },
        Transmission { reserves: vec![(1, 0)], ..row.clone() },
        Transmission { mpdus: mpdu([1, 1], 0), ..row.clone() },
        Transmission { mpdus: mpdu([0, 6], 0), ..row.clone() },
        Transmission { mpdus: mpdu([0, 1], 8), ..row.clone() },
    ];
    let others: [(Table, &[i64]); 8] = [
        (Table::Drops, &[1, 1, 0, 1, 1, 1]),
        (Table::Drops, &[0, 1, 1, 1, 1, 1]),
        (Table::Drops, &[0, 1, 1, 0, 1, 1]),
        (Table::Drops, &[0, 1, 0, 99, 1, 1]),
        (Table::Windows, &[1, 1, 1, 1, 0]),
        (Table::Routes, &[1, 0, 0, 1]),
        (Table::Places, &[1, 1, 0, 0, 0]),
        (Table::Ingress, &[0, 1, 0, -2]),
    ];
    let is_damage = |found: Result<FrameLog, ReadError>| {
        matches!(found, Err(ReadError::Damaged { gap: Gap { fault: Fault::Content, .. } }))
    };
    assert_eq!(with(|log| log.transmission(&sort, &mut row.clone()).unwrap()).unwrap().transmissions, 1);
    for sort in sorts {
        assert!(is_damage(with(|log| log.transmission(&sort, &mut row.clone()).unwrap())), "{sort:?}");
    }
    for mut row in rows {
        assert!(is_damage(with(|log| log.transmission(&sort, &mut row).unwrap())), "{row:?}");
    }
    for (table, values) in others {
        assert!(is_damage(with(|log| log.add(table, values).unwrap())), "{} {values:?}", table.name());
    }
}

/// Runs of packets take a few bytes whatever their length.
#[test]
fn a_small_file_does_not_unpack_to_everything() {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &small()).unwrap();
    for packet in 0..2_000_000 {
        writer.row(Table::Drops, [0, 1, 0, 2, packet, packet * 1_000]).unwrap();
    }
    writer.finish().unwrap();
    assert!(bytes.len() < 1_500);
    let error = read(&bytes, None, MOST).unwrap_err();
    assert!(error.to_string().contains("unpacks to more than a log of this size can have"), "{error}");
    assert_eq!(check(&bytes, None, MOST).unwrap_err(), error);
}
