//! The part of a log that is in a window has what the whole log has there, block by block.

use multihop_frames::{Flow, FrameLog, Head, Mpdu, Node, Sort, Table, Transmission, Writer, cut, read};
use proptest::prelude::*;

const MOST: u64 = 1 << 30;
/// Bytes of a block before its content.
const BLOCK_HEADER: usize = 25;
/// And behind it.
const CHECK_SUM: usize = 4;

/// Numbers that look random, by a linear congruential generator (Knuth's MMIX).
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % end
    }
}

fn transmission(draw: &mut Draws, start: i64, numbers: &mut [i64; 3]) -> (Sort, Transmission) {
    let (from, flow) = (draw.below(4), draw.below(3));
    let kind = draw.below(6);
    let carries = i64::from(kind == 2);
    let sort = Sort {
        airtime: 100_000 * (1 + kind),
        to: (from + 1 + draw.below(3)) % 4,
        flow: if carries > 0 { flow } else { -1 },
        carries,
        kind,
        from,
        bytes: 100,
        rate: 1_000_000,
        nav: 40_000 * draw.below(2),
    };
    let mut row = Transmission {
        start,
        tries: draw.below(3),
        frozen: draw.below(5),
        waited: if draw.below(3) == 0 { draw.below(90_000) } else { -1 },
        queue: draw.below(50),
        outcome: if draw.below(6) == 0 { 2 } else { 0 },
        collided: -1,
        ..Transmission::default()
    };
    if carries > 0 {
        for _ in 0..draw.below(6) {
            numbers[flow as usize] += 1 + draw.below(10) / 9;
            let outcome = if draw.below(9) == 0 { 4 } else { 0 };
            row.mpdus.push(Mpdu { stream: [flow, 1], packet: numbers[flow as usize], outcome });
        }
        row.packet = row.mpdus.first().map_or(1, |mpdu| mpdu.packet);
    }
    if draw.below(4) == 0 {
        row.reserves.push((draw.below(9) as u32, 40_000));
    }
    (sort, row)
}

/// A log of so many transmissions, with rows of all other tables in between.
fn log(seed: u64, transmissions: usize, entries: i64) -> Vec<u8> {
    let mut draw = Draws(seed);
    let mut bytes = Vec::new();
    let (nodes, flows) = (vec![Node::default(); 9], vec![Flow::default(); 3]);
    let head =
        Head { source: "run", slot_ns: 20_000, propagation_ns: 1_000, nodes, flows, ..Head::default() };
    let mut writer = Writer::new(&mut bytes, &head).unwrap();
    let (mut time, mut numbers) = (0, [0; 3]);
    (0..3).for_each(|flow| writer.row(Table::Ingress, [flow, 1, 0, 0]).unwrap());
    for _ in 0..transmissions {
        time += 1 + draw.below(400_000);
        let (sort, mut row) = transmission(&mut draw, time, &mut numbers);
        writer.transmission(&sort, &mut row).unwrap();
        let flow = draw.below(3);
        for more in 0..draw.below(1 + entries) {
            writer.row(Table::Entries, [flow, numbers[flow as usize] + 40 + 2 * more, time]).unwrap();
        }
        match draw.below(12) {
            0 => writer.row(Table::Windows, [time, flow, 1_460 * draw.below(40), draw.below(1 << 30), 0]),
            1 => {
                let packet = numbers[flow as usize] + 1 + draw.below(9);
                writer
                    .row(Table::Drops, [flow, 1, draw.below(4), draw.below(2), packet, time + draw.below(2)])
            }
            2 => writer.row(Table::Routes, [time, draw.below(4), draw.below(4), draw.below(4)]),
            3 => writer.row(Table::Places, [time, draw.below(4), draw.below(9_000), 0, 0]),
            _ => Ok(()),
        }
        .unwrap();
    }
    writer.finish().unwrap();
    bytes
}

/// The rows of a table, those that are in a window by the column of its time.
fn rows(log: &FrameLog, table: Table, window: Option<[u64; 2]>) -> Vec<Vec<i64>> {
    let columns = &log.tables[table as usize].0;
    let time = table.columns().iter().position(|column| ["time", "start"].contains(&column.name));
    let row = |at: usize| columns.iter().map(|column| column[at]).collect::<Vec<i64>>();
    let within = |row: &Vec<i64>| {
        let time = time.map_or(0, |time| row[time] as u64);
        window.is_none_or(|[from, to]| (from..=to).contains(&time))
    };
    (0..columns.first().map_or(0, Vec::len)).map(row).filter(within).collect()
}

/// Transmissions with what their sorts and sets stand for. What contention began with is left out: of the
/// first frame of a node it is said otherwise.
fn transmissions(log: &FrameLog, window: Option<[u64; 2]>) -> Vec<Vec<i64>> {
    let (sorts, sets) = (rows(log, Table::Sorts, None), rows(log, Table::Reservations, None));
    let resolved = |mut row: Vec<i64>| {
        let set = row.pop().expect("it is the last column");
        row.drain(3..5);
        let sort = row.remove(1);
        row.extend(&sorts[sort as usize]);
        row.extend(sets.iter().filter(|member| member[0] == set).flat_map(|member| member[1..].to_vec()));
        row
    };
    rows(log, Table::Transmissions, window).into_iter().map(resolved).collect()
}

/// The instants that blocks of transmissions say they have rows of.
fn spans(bytes: &[u8]) -> Vec<[u64; 2]> {
    let (mut at, mut found) = (12, Vec::new());
    while let Some(header) = bytes.get(at..at + BLOCK_HEADER) {
        let long = |place: usize| u64::from_le_bytes(header[place..place + 8].try_into().unwrap());
        if header[0] == Table::Transmissions as u8 {
            found.push([long(5), long(13)]);
        }
        at += BLOCK_HEADER + u32::from_le_bytes(header[21..25].try_into().unwrap()) as usize + CHECK_SUM;
    }
    found
}

fn is_cut_as_it_is_filtered(bytes: &[u8], whole: &FrameLog, window: [u64; 2]) -> Result<(), TestCaseError> {
    let made = cut(bytes, window).unwrap();
    let part = read(&made, None, MOST).unwrap();
    prop_assert!(part.cut_short.is_none());
    prop_assert_eq!(transmissions(&part, None), transmissions(whole, Some(window)));
    for table in [Table::Mpdus, Table::Drops, Table::Windows, Table::Entries] {
        prop_assert_eq!(rows(&part, table, None), rows(whole, table, Some(window)), "{}", table.name());
    }
    for table in [Table::Routes, Table::Places, Table::Ingress] {
        prop_assert_eq!(rows(&part, table, None), rows(whole, table, None), "{}", table.name());
    }
    let found = spans(&made);
    for pair in found.windows(2) {
        prop_assert!(pair[0][1] <= pair[1][0], "blocks that were one after the other overlap: {:?}", found);
    }
    let again = cut(&made, window).unwrap();
    prop_assert!(again == made, "what is cut again to the same stays as it is");
    Ok(())
}

proptest! {
    // A log is large, for several blocks, and not made smaller for minutes.
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 8, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_is_a_filter(
        seed in any::<u64>(),
        count in 60_000_usize..110_000,
        entries in prop_oneof![Just(2_i64), Just(40)],
        [from, to] in prop::array::uniform2(0.0..1.0_f64),
    ) {
        let bytes = log(seed, count, entries);
        let whole = read(&bytes, None, MOST).unwrap();
        let last = *whole.column(Table::Transmissions, "start").last().unwrap() as f64;
        let window = [last * from.min(to), last * from.max(to)].map(|time| time as u64);
        is_cut_as_it_is_filtered(&bytes, &whole, window)?;
    }
}
