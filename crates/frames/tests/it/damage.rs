use crate::{BATCH, BATCHES, Place, column, example, folder, write};
use multihop_frames::Table;
use multihop_frames::files::{ReadError, read};
use multihop_frames::layout::TABLES;
use std::fs;

/// A file may end anywhere: its complete batches are read, and the log reports the missing end.
#[test]
fn a_file_that_is_cut_short_is_read_to_its_last_complete_batch() {
    let place = Place::new("cut");
    write(folder(&place.0));
    let file = place.file(Table::Transmissions);
    let whole = fs::read(&file).unwrap();
    let wanted = column(&example(), Table::Transmissions, "start");
    let mut last = BATCHES;
    for length in (0..whole.len()).rev().step_by(23) {
        fs::write(&file, &whole[..length]).unwrap();
        let log = match read(&place.0, None, u64::MAX) {
            Ok(log) => log,
            Err(ReadError::NoLog(_)) => {
                assert_eq!(last, 0, "{length} bytes: only a file without its first footer is no log");
                return;
            }
            Err(error) => panic!("{length} bytes: {error}"),
        };
        let rows = column(&log, Table::Transmissions, "start");
        let batches = rows.len().div_ceil(BATCH);
        assert_eq!(rows, wanted[..rows.len()]);
        assert!(rows.len() == wanted.len() || rows.len().is_multiple_of(BATCH));
        let reason = log.cut_short.expect("the end is missing");
        assert!(reason.starts_with("transmissions.parquet is cut short at byte "), "{reason}");
        assert!(reason.ends_with(&format!(", after {} rows", rows.len())), "{reason}");
        assert!(log.head.contains("\"name\":\"example\""));
        assert!(batches == last || batches + 1 == last, "batches are missing one by one");
        last = batches;
    }
    panic!("a file without its first footer was read");
}

/// A flipped bit causes an error, or a log that is cut short. Wrong values are never read.
#[test]
fn a_flipped_bit_never_changes_a_value() {
    let place = Place::new("flipped");
    write(folder(&place.0));
    let wanted = example();
    for (table, _) in TABLES {
        let file = place.file(table);
        let whole = fs::read(&file).unwrap();
        for at in (0..whole.len()).step_by(if table == Table::Transmissions { 97 } else { 11 }) {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            fs::write(&file, &flipped).unwrap();
            let Ok(log) = read(&place.0, None, u64::MAX) else { continue };
            for (other, _) in TABLES {
                let (found, all) = (log.tables.columns(other), wanted.tables.columns(other));
                let is_beginning =
                    found.iter().zip(all).all(|(found, all)| found.iter().eq(all.iter().take(found.len())));
                assert!(is_beginning, "byte {at} of {table:?}, {other:?}");
            }
            let is_whole = log.tables == wanted.tables;
            assert!(is_whole || log.cut_short.is_some(), "byte {at} of {table:?}");
            assert_eq!(log.head, wanted.head, "byte {at} of {table:?}");
        }
        fs::write(&file, &whole).unwrap();
    }
}

/// Intervals before and after the damage can be read.
#[test]
fn damage_is_reported_only_where_it_is_read() {
    let place = Place::new("named");
    write(folder(&place.0));
    let file = place.file(Table::Transmissions);
    let mut bytes = fs::read(&file).unwrap();
    // The second row group follows the footer of the first batch.
    let ends: Vec<usize> = (4..bytes.len()).filter(|at| bytes[*at..].starts_with(b"PAR1")).collect();
    let at = ends[1] + 4;
    bytes[at + 40] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let error = read(&place.0, None, u64::MAX).unwrap_err().to_string();
    let fault = format!("batch 2 at byte {at} does not match its checksum");
    assert_eq!(error, format!("transmissions.parquet is damaged: {fault}; write the log again"));
    for [from, to] in [[0, 40_000], [100_000, 200_000]] {
        assert!(read(&place.0, Some([from, to]), u64::MAX).unwrap().tables.rows(Table::Transmissions) > 0);
    }
    assert!(read(&place.0, Some([40_000, 60_000]), u64::MAX).is_err());
}

#[test]
fn a_missing_file_is_reported_as_damage() {
    let place = Place::new("missing");
    write(folder(&place.0));
    fs::remove_file(place.file(Table::Drops)).unwrap();
    let error = read(&place.0, None, u64::MAX).unwrap_err().to_string();
    assert_eq!(error, "drops.parquet is damaged: the file is missing; write the log again");
}
