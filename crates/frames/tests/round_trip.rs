//! What is written is read; what is damaged says so.

use multihop_frames::{
    Columns, Flow, FrameLog, Head, Mpdu, Node, ReadError, Sort, Table, Transmission, Writer, check, cut,
    read, sizes,
};
use proptest::prelude::*;

const MOST: u64 = 1 << 30;

fn head() -> Head {
    let flow = |source, destination| Flow { source, destination, ..Flow::default() };
    Head {
        name: "<b>".into(),
        slot_ns: 20_000,
        propagation_ns: 1_000,
        nodes: vec![Node::default(); 12],
        flows: vec![flow(0, 3), flow(2, 1), flow(1, 0), flow(3, 2)],
        ..Head::default()
    }
}

fn log(rows: &[(Sort, Transmission)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &head()).unwrap();
    for (sort, row) in rows {
        let mut given = row.clone();
        writer.transmission(sort, &mut given).unwrap();
        assert_eq!(given, *row, "what is given stays as it is");
    }
    let summary = writer.finish().unwrap();
    assert_eq!((summary.transmissions, summary.bytes), (rows.len() as u64, bytes.len() as u64));
    bytes
}

/// The rows that a log has.
fn rows_of(log: &FrameLog) -> Vec<(Sort, Transmission)> {
    let of = |table: Table, column: &str, row: usize| log.column(table, column)[row];
    let sets = log.column(Table::Reservations, "set");
    let reserves = |set: i64| {
        let members = (0..sets.len()).filter(|row| sets[*row] == set);
        let member = |row| (of(Table::Reservations, "node", row) as u32, of(Table::Reservations, "nav", row));
        members.map(member).collect()
    };
    let mut mpdus = (0..log.column(Table::Mpdus, "start").len()).peekable();
    let row = |row: usize| {
        let at = |column| of(Table::Transmissions, column, row);
        let sort = |column| of(Table::Sorts, column, at("sort") as usize);
        let sort = Sort {
            airtime: sort("airtime"),
            to: sort("to"),
            flow: sort("flow"),
            carries: sort("carries"),
            kind: sort("kind"),
            from: sort("from"),
            bytes: sort("bytes"),
            rate: sort("rate"),
            nav: sort("nav"),
        };
        let mut transmission = Transmission {
            start: at("start"),
            tries: at("try"),
            frozen: at("frozen"),
            waited: at("waited"),
            queue: at("queue"),
            packet: at("packet"),
            outcome: at("outcome"),
            collided: at("collided"),
            overlap: at("overlap"),
            reserves: reserves(at("reserves")),
            mpdus: Vec::new(),
        };
        let mpdu = |row: usize| {
            of(Table::Mpdus, "start", row) == transmission.start && of(Table::Mpdus, "from", row) == sort.from
        };
        while let Some(row) = mpdus.next_if(|row| mpdu(*row)) {
            let of = |column| of(Table::Mpdus, column, row);
            transmission.mpdus.push(Mpdu {
                stream: [of("flow"), of("carries")],
                packet: of("packet"),
                outcome: of("outcome"),
            });
        }
        (sort, transmission)
    };
    (0..log.column(Table::Transmissions, "start").len()).map(row).collect()
}

/// Exchanges of RTS, CTS, DATA and ACK of four nodes, one after the other.
fn exchanges(count: i64) -> Vec<(Sort, Transmission)> {
    let airtimes = [352_000, 304_000, 1_310_000, 304_000];
    let mut start = 0;
    let row = |n: i64| {
        let (kind, from) = (n % 4, n / 4 % 3);
        let answers = kind % 2 == 1;
        let sort = Sort {
            airtime: airtimes[kind as usize],
            to: if answers { from } else { from + 1 },
            flow: if answers { -1 } else { 0 },
            carries: i64::from(!answers),
            kind,
            from: if answers { from + 1 } else { from },
            bytes: 14 + kind,
            rate: 11_000_000,
            nav: 100_000 * (3 - kind),
        };
        let row = Transmission {
            start,
            tries: i64::from(!answers),
            frozen: if kind == 0 { 3 } else { 0 },
            waited: if kind == 0 && n % 7 == 0 { 40_000 } else { -1 },
            queue: n / 24 % 5,
            packet: if answers { 0 } else { n / 12 + 1 },
            collided: -1,
            reserves: if kind == 0 { vec![(3, 200_000)] } else { Vec::new() },
            ..Transmission::default()
        };
        start += airtimes[kind as usize] + if kind == 3 { 50_000 + 20_000 * (n % 31) } else { 10_000 };
        (sort, row)
    };
    (0..count).map(row).collect()
}

prop_compose! {
    fn sort()(
        airtime in 1..3_000_000_i64, to in -1..6_i64, flow in -1..3_i64, carries in 0..6_i64, kind in 0..9_i64, from in 0..6_i64, nav in 0..3_i64,
    ) -> Sort {
        Sort { airtime, to, flow, carries, kind, from, bytes: 100, rate: 1, nav }
    }
}

prop_compose! {
    fn transmission()(
        after in prop_oneof![0..3_i64, 0..50_000_i64, 0..1_i64 << 50],
        values in prop::array::uniform4(prop_oneof![-2..4_i64, -300..300_i64, any::<i32>().prop_map(i64::from)]),
        waited in prop_oneof![Just(-1_i64), 0..100_000_i64, 0..1_i64 << 50],
        outcome in -1..8_i64,
        collided in -1..12_i64,
        overlap in 0..4_i64,
        set in prop::collection::btree_map(0..12_u32, -5..5_i64, 0..4),
        mpdus in prop::collection::vec((-1..3_i64, 0..2_i64, 0..40_i64, 0..2_i64), 0..6),
    ) -> Transmission {
        let [tries, frozen, queue, packet] = values;
        let mpdu = |(flow, carries, packet, outcome)| Mpdu { stream: [flow, carries], packet, outcome };
        Transmission {
            start: after, tries, frozen, waited, queue, packet, outcome, collided, overlap,
            reserves: set.into_iter().collect(),
            mpdus: mpdus.into_iter().map(mpdu).collect(),
        }
    }
}

proptest! {
    #[test]
    fn every_value_comes_back(rows in prop::collection::vec((sort(), transmission(), 0..4_usize), 1..200)) {
        let mut start = 0;
        let mut made: Vec<(Sort, Transmission)> = Vec::new();
        for (sort, mut row, again) in rows {
            // Sorts come again, or nothing would be expected.
            let sort = if again == 0 { sort } else { made.get(made.len().saturating_sub(again)).map_or(sort, |row| row.0) };
            start += 1 + row.start;
            row.start = start;
            made.push((sort, row));
        }
        let read = read(&log(&made), None, MOST).unwrap();
        prop_assert_eq!(read.cut_short, None);
        prop_assert_eq!(rows_of(&read), made);
    }

    #[test]
    fn other_tables_come_back(
        drops in prop::collection::vec((-1..4_i64, 0..3_i64, any::<i32>(), 0..1_i64 << 50), 1..100),
    ) {
        come_back(&drops);
    }

    /// With check sums that are right, so that everything behind them is asked.
    #[test]
    fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0_usize..1200) {
        let _ = read(&bytes, None, MOST);
        let mut whole = log(&exchanges(50));
        bytes.truncate(8);
        let at = at.min(whole.len() - bytes.len());
        whole[at..at + bytes.len()].copy_from_slice(&bytes);
        seal(&mut whole);
        let found = read(&whole, None, 1000);
        prop_assert_eq!(check(&whole, None, 1000).err(), found.err());
        let _ = sizes(&whole);
        let part = cut(&whole, [0, 200_000_000]);
        prop_assert!(part.is_err() || read(&part.unwrap(), None, 1000).is_ok());
    }
}

/// Makes the check sums of all blocks right.
fn seal(log: &mut [u8]) {
    let mut at = 12;
    let mut sum = crc32fast::Hasher::new();
    sum.update(&log[..at]);
    while let Some(size) = log.get(at + 21..at + 25) {
        let end = at + 25 + u32::from_le_bytes(size.try_into().unwrap()) as usize;
        if end + 4 > log.len() {
            return;
        }
        sum.update(&log[at..end]);
        log[end..end + 4].copy_from_slice(&sum.clone().finalize().to_le_bytes());
        at = end + 4;
    }
}

/// Flow, what it carries, number and time of each row, in four tables.
fn come_back(given: &[(i64, i64, i32, i64)]) {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &head()).unwrap();
    let mut rows = vec![Vec::new(); 4];
    for (flow, carries, number, time) in given {
        let number = i64::from(*number);
        rows[0].push(vec![*flow, *carries, 2, number.rem_euclid(2), number, *time]);
        rows[1].push(vec![*time, carries % 3, number, time / 3, 0]);
        rows[2].push(vec![*time, number.rem_euclid(12), number, -5, 1]);
        rows[3].push(vec![*flow, number, *time]);
        writer.row::<6>(Table::Drops, rows[0].last().unwrap()[..].try_into().unwrap()).unwrap();
        writer.row::<5>(Table::Windows, rows[1].last().unwrap()[..].try_into().unwrap()).unwrap();
        writer.row::<5>(Table::Places, rows[2].last().unwrap()[..].try_into().unwrap()).unwrap();
        writer.row::<3>(Table::Entries, rows[3].last().unwrap()[..].try_into().unwrap()).unwrap();
    }
    writer.finish().unwrap();
    let log = read(&bytes, None, MOST).unwrap();
    for (table, mut rows) in
        [Table::Drops, Table::Windows, Table::Places, Table::Entries].into_iter().zip(rows)
    {
        let columns = &log.tables[table as usize].0;
        let mut found: Vec<Vec<i64>> =
            (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect();
        let time = table.time().unwrap();
        if table.is_with_transmissions() {
            assert!(found.is_sorted_by_key(|row| row[time]), "{} is not in order", table.name());
            rows.sort();
            found.sort();
        }
        assert_eq!(found, rows, "{}", table.name());
    }
}

/// Packet numbers that leap lead what is expected next beyond all times: the difference to it would not fit.
#[test]
fn wild_numbers_come_back() {
    come_back(&[
        (-1, 0, -1_553_305_744, 235_884_009_750_251),
        (-1, 0, -1_552_856_665, 1_021_164_707_507_336),
        (-1, 0, 1_084_256_812, 0),
    ]);
}

#[test]
fn what_is_as_expected_takes_next_to_nothing() {
    let rows = exchanges(32_000);
    let bytes = log(&rows);
    assert_eq!(rows_of(&read(&bytes, None, MOST).unwrap()), rows);
    assert!(bytes.len() < rows.len() * 6 / 10, "{} bytes", bytes.len());
    let found = sizes(&bytes).unwrap();
    assert!(found.values().sum::<usize>() <= bytes.len());
    assert!(found["transmissions: Raw"] > found["transmissions: Packet"]);
}

/// The rows that begin in a window; what contended since an exchange before it says for how long.
fn rows_in(rows: &[(Sort, Transmission)], [from, to]: [i64; 2]) -> Vec<(Sort, Transmission)> {
    let mut kept: Vec<_> = rows.iter().filter(|(_, row)| (from..=to).contains(&row.start)).cloned().collect();
    let mut seen = Vec::new();
    for (sort, row) in &mut kept {
        let is_answer = matches!(sort.kind, 1 | 3);
        if !is_answer && !seen.contains(&sort.from) && row.waited < 0 {
            let node = |sort: &Sort| if matches!(sort.kind, 1 | 3) { sort.to } else { sort.from };
            let before = rows.iter().rfind(|(other, at)| node(other) == sort.from && at.start < row.start);
            let (other, at) = before.expect("a node sent before");
            row.waited = row.start - at.start - other.airtime;
        }
        seen.push(if is_answer { sort.to } else { sort.from });
    }
    kept
}

#[test]
fn a_window_has_what_begins_in_it() {
    let rows = exchanges(100_000);
    let bytes = log(&rows);
    for (first, count) in [(40_000, 100), (40_001, 1), (65_400, 400), (40_002, 30_000)] {
        let window = [rows[first].1.start, rows[first + count - 1].1.start];
        let wanted = rows_in(&rows, window);
        assert_eq!(wanted.len(), count);
        let window = window.map(|time| time as u64);
        let some = read(&bytes, Some(window), MOST).unwrap();
        assert_eq!(rows_of(&some), wanted);
        let part = cut(&bytes, window).unwrap();
        assert!(part.len() < bytes.len() / 2, "{} of {} bytes", part.len(), bytes.len());
        let again = read(&part, None, MOST).unwrap();
        assert_eq!(rows_of(&again), wanted);
        assert_eq!(again.cut_short, None);
        assert!(again.head.contains(&format!("\"only_between\":[{},{}]", window[0], window[1])));
    }
    let short = cut(&bytes[..bytes.len() - 40], [0, 1_000_000_000]).unwrap();
    assert!(read(&short, None, MOST).unwrap().cut_short.is_some(), "what was cut short stays so");
    assert_eq!(read(&bytes, None, 10).unwrap_err(), ReadError::TooMany { found: 100_000, most: 10 });
}

#[test]
fn a_window_of_tables_has_rows_in_it_and_all_places() {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &head()).unwrap();
    for (sort, mut row) in exchanges(2_000) {
        writer.transmission(&sort, &mut row).unwrap();
        let time = row.start + 5;
        writer.row(Table::Drops, [0, 1, 2, 1, 7, time]).unwrap();
        writer.row(Table::Windows, [time, 0, 1, 2, 3]).unwrap();
        writer.row(Table::Entries, [0, 7, time]).unwrap();
        writer.row(Table::Places, [time, 0, 1, 2, 0]).unwrap();
    }
    writer.row(Table::Ingress, [0, 1, 0, 0]).unwrap();
    writer.finish().unwrap();
    let whole = read(&bytes, None, MOST).unwrap();
    let window = [100_000_000, 120_000_000];
    let part = read(&cut(&bytes, window).unwrap(), None, MOST).unwrap();
    for (table, name) in [(Table::Drops, "time"), (Table::Windows, "time"), (Table::Entries, "time")] {
        let inside = |time: &i64| (window[0] as i64..=window[1] as i64).contains(time);
        let wanted: Vec<i64> = whole.column(table, name).iter().copied().filter(inside).collect();
        assert!(wanted.len() > 10);
        assert_eq!(part.column(table, name), wanted);
    }
    assert_eq!(part.column(Table::Places, "time").len(), 2_000);
    assert_eq!(part.column(Table::Ingress, "flow"), [0]);
}

#[test]
fn what_is_checked_is_not_kept() {
    let bytes = log(&exchanges(100_000));
    let [kept, checked] = [read(&bytes, None, MOST).unwrap(), check(&bytes, None, MOST).unwrap()];
    assert_eq!((&checked.head, checked.cut_short), (&kept.head, kept.cut_short));
    assert_eq!(checked.column(Table::Sorts, "from"), kept.column(Table::Sorts, "from"));
    assert_eq!(checked.column(Table::Transmissions, "start").len(), 0);
    assert_eq!(checked.transmissions, 100_000);
    assert!(check(&bytes[..bytes.len() - 40], None, MOST).unwrap().cut_short.is_some());
    assert_eq!(check(&bytes, None, 10).unwrap_err(), ReadError::TooMany { found: 100_000, most: 10 });
}

/// Aggregates that are as expected take no bytes: what a block may have is counted by packets. No radio sends
/// such aggregates, and a reader refuses a file of some hundred bytes that would take a gigabyte.
#[test]
fn large_aggregates_are_in_several_blocks() {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &head()).unwrap();
    let sort = Sort { airtime: 5_000_000, to: 1, flow: 0, carries: 1, kind: 2, ..Sort::default() };
    let mpdu = |packet| Mpdu { stream: [0, 1], packet, outcome: 0 };
    let mut row =
        Transmission { collided: -1, mpdus: (1..=1 << 14).map(mpdu).collect(), ..Transmission::default() };
    for _ in 0..1_030 {
        writer.transmission(&sort, &mut row).unwrap();
        row.start += 6_000_000;
        row.mpdus.iter_mut().for_each(|mpdu| mpdu.packet += 1 << 14);
    }
    writer.finish().unwrap();
    let blocks = |bytes: &[u8]| {
        let (mut at, mut found) = (12, 0);
        while let Some(header) = bytes.get(at..at + 25) {
            found += usize::from(header[0] == Table::Transmissions as u8);
            at += 29 + u32::from_le_bytes(header[21..].try_into().unwrap()) as usize;
        }
        found
    };
    assert_eq!(blocks(&bytes), 2);
    let error = check(&bytes, None, MOST).unwrap_err().to_string();
    assert!(error.contains("unpacks to more than a log of this size can have"), "{error}");
}

#[test]
fn what_is_cut_short_is_read_as_far_as_it_goes() {
    let bytes = log(&exchanges(100_000));
    let read_back = read(&bytes[..bytes.len() - 40], None, MOST).unwrap();
    assert!(read_back.cut_short.is_some());
    assert_eq!(read_back.column(Table::Transmissions, "start").len(), 98_304);
    assert_eq!(read(&bytes[..5], None, MOST).unwrap_err(), ReadError::NoFrameLog);
    let other = read(b"mhframes\x04\0\0\0", None, MOST).unwrap_err();
    assert_eq!(other, ReadError::Version(4));
    assert_eq!(
        other.to_string(),
        "a frame log of version 4; this build reads version 6: write it again, or read it with the build that wrote it"
    );
    assert_eq!(Columns::default().0.len(), 0);
}
