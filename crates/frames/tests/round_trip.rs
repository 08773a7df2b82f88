//! What is written is read; what is damaged says so.

use multihop_frames::{Head, ReadError, Table, Writer, cut, read};
use proptest::prelude::*;

const MOST: u64 = 1 << 30;

fn log(rows: &[[i64; 11]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &Head { name: "<b>".into(), ..Head::default() }).unwrap();
    for row in rows {
        writer.row(Table::Transmissions, *row).unwrap();
    }
    let summary = writer.finish().unwrap();
    assert_eq!((summary.transmissions, summary.bytes), (rows.len() as u64, bytes.len() as u64));
    bytes
}

fn rows(count: i64) -> Vec<[i64; 11]> {
    (0..count).map(|n| [n * 1_000, n % 4, n % 3, 0, 0, n * n % 1_013, n / 4, 0, -1, 0, n % 2]).collect()
}

proptest! {
    #[test]
    fn every_value_comes_back(starts in prop::collection::vec((0..1_i64 << 60, 0..50_i64, -1..9_i64), 1..300)) {
        let rows: Vec<_> =
            starts.iter().map(|(start, sort, with)| [*start, *sort, 1, 2, 3, *with, *start, 4, *with, 5, 6]).collect();
        let read = read(&log(&rows), None, MOST).unwrap();
        let columns = &read.tables[Table::Transmissions as usize].0;
        for (index, column) in columns.iter().enumerate() {
            prop_assert_eq!(column, &rows.iter().map(|row| row[index]).collect::<Vec<_>>());
        }
        prop_assert!(!read.cut_short);
    }

    #[test]
    fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0_usize..400) {
        let _ = read(&bytes, None, MOST);
        let mut whole = log(&rows(50));
        bytes.truncate(8);
        let at = at.min(whole.len() - bytes.len());
        whole[at..at + bytes.len()].copy_from_slice(&bytes);
        let _ = read(&whole, None, 1000);
    }
}

#[test]
fn a_window_reads_the_blocks_that_overlap_it() {
    let bytes = log(&rows(100_000));
    let all = read(&bytes, None, MOST).unwrap();
    assert_eq!(all.column(Table::Transmissions, "start").len(), 100_000);
    let some = read(&bytes, Some([40_000_000, 41_000_000]), MOST).unwrap();
    let starts = some.column(Table::Transmissions, "start");
    assert_eq!((starts.len(), starts[0]), (32_768, 32_768_000));
    let part = cut(&bytes, [40_000_000, 41_000_000]).unwrap();
    assert!(part.len() < bytes.len() / 2, "{} of {} bytes", part.len(), bytes.len());
    assert_eq!(read(&part, None, MOST).unwrap().tables, some.tables);
    assert_eq!(read(&bytes, None, 10).unwrap_err(), ReadError::TooMany { found: 100_000, most: 10 });
}

#[test]
fn what_is_cut_short_is_read_as_far_as_it_goes() {
    let bytes = log(&rows(100_000));
    let read_back = read(&bytes[..bytes.len() - 40], None, MOST).unwrap();
    assert!(read_back.cut_short);
    assert_eq!(read_back.column(Table::Transmissions, "start").len(), 98_304);
    assert_eq!(read(&bytes[..5], None, MOST).unwrap_err(), ReadError::NoFrameLog);
    assert_eq!(read(b"mhframes\x02\0\0\0", None, MOST).unwrap_err(), ReadError::Version(2));
}
