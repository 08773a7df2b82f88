use crate::{BATCH, BATCHES, Place, column, example, folder, write};
use multihop_frames::files::{ReadError, read};
use multihop_frames::{Memory, Table};

#[test]
fn a_folder_has_the_rows_that_were_written() {
    let place = Place::new("rows");
    write(folder(&place.0));
    let (found, wanted) = (read(&place.0, None, u64::MAX).unwrap(), example());
    assert_eq!(found.head, wanted.head);
    assert_eq!(found.tables, wanted.tables);
    assert_eq!(found.cut_short, None);
    assert_eq!(column(&found, Table::Transmissions, "packet")[0], 1 << 45);
    assert!(found.head.contains("\"name\":\"<c>\""));
}

/// Whatever batches they are in. Sets are those of its transmissions, next hops are all there.
#[test]
fn a_part_has_the_rows_of_its_interval() {
    let place = Place::new("part");
    write(folder(&place.0));
    let whole = example();
    for [from, to] in [[0, 10], [49_000, 51_000], [49_001, 49_999], [100_000, 149_000], [0, 1 << 60]] {
        let part = read(&place.0, Some([from, to]), u64::MAX).unwrap();
        for (table, name) in
            [(Table::Transmissions, "start"), (Table::Mpdus, "start"), (Table::Drops, "time")]
        {
            let wanted = column(&whole, table, name).into_iter();
            let wanted: Vec<i64> = wanted.filter(|time| (from as i64..=to as i64).contains(time)).collect();
            assert_eq!(column(&part, table, name), wanted, "{from} to {to}");
        }
        assert_eq!(part.tables.rows(Table::Routes), whole.tables.rows(Table::Routes));
        assert!(part.head.contains(&format!("\"only_between\":[{from},{to}]")), "{}", part.head);
        let sets = column(&part, Table::Reservations, "set");
        assert!(column(&part, Table::Transmissions, "reserves").iter().all(|set| sets.contains(set)));
    }
}

#[test]
fn more_transmissions_than_are_wanted_ask_for_a_window() {
    let place = Place::new("many");
    write(folder(&place.0));
    let most = (BATCH * BATCHES) as u64;
    let refused = read(&place.0, None, 100).unwrap_err();
    assert_eq!(refused.to_string(), "175 transmissions are more than 100; name a window of time");
    assert!(read(&place.0, None, most).is_ok() && read(&place.0, Some([0, 1_000]), 100).is_ok());
}

#[test]
fn a_folder_that_is_no_log_says_so() {
    let place = Place::new("none");
    let none = read(&place.0, None, u64::MAX).unwrap_err();
    assert!(matches!(none, ReadError::NoLog(_)), "{none}");
    std::fs::write(place.file(Table::Transmissions), "PAR1 or something else").unwrap();
    let other = read(&place.0, None, u64::MAX).unwrap_err();
    assert_eq!(
        other.to_string(),
        "this is no frame log: transmissions.parquet does not begin as one of its files"
    );
}

/// A log that outgrows its memory has whole batches, and says that the rest is missing.
#[test]
fn memory_takes_no_more_than_it_may() {
    let memory = Memory::new(BATCH, 12_000);
    write(Box::new(memory.clone()));
    let log = memory.log();
    let rows = log.tables.rows(Table::Transmissions);
    assert!(rows > 0 && rows < 175 && rows.is_multiple_of(BATCH), "{rows}");
    assert_eq!(log.cut_short.as_deref(), Some("there was no room for the rest"));
}
