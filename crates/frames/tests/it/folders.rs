use crate::{BATCH, BATCHES, Place, column, example, folder, write};
use multihop_frames::files::{ReadError, read};
use multihop_frames::{Memory, Table};

#[test]
fn a_folder_contains_the_rows_that_were_written() {
    let place = Place::new("rows");
    write(folder(&place.0));
    let (found, wanted) = (read(&place.0, None, u64::MAX).unwrap(), example());
    assert_eq!(found.head, wanted.head);
    assert_eq!(found.tables, wanted.tables);
    assert_eq!(found.cut_short, None);
    assert_eq!(column(&found, Table::Transmissions, "packet")[0], 1 << 45);
    assert!(found.head.contains("\"name\":\"<c>\""));
}

/// Intervals may begin and end in any batch. Sets are those of the transmissions read; next hops are
/// complete.
#[test]
fn an_interval_contains_the_rows_that_begin_in_it() {
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
fn too_many_transmissions_are_refused() {
    let place = Place::new("many");
    write(folder(&place.0));
    let limit = (BATCH * BATCHES) as u64;
    let refused = read(&place.0, None, 100).unwrap_err();
    assert_eq!(refused.to_string(), "found 175 transmissions, at most 100 can be read; name an interval");
    assert!(read(&place.0, None, limit).is_ok() && read(&place.0, Some([0, 1_000]), 100).is_ok());
}

#[test]
fn other_folders_are_refused() {
    let place = Place::new("none");
    let none = read(&place.0, None, u64::MAX).unwrap_err();
    assert!(matches!(none, ReadError::NoLog(_)), "{none}");
    std::fs::write(place.file(Table::Transmissions), "PAR1 or something else").unwrap();
    let other = read(&place.0, None, u64::MAX).unwrap_err();
    assert_eq!(
        other.to_string(),
        "not a frame log: transmissions.parquet does not begin with a description of multihop"
    );
}

/// A log that reaches the limit of memory keeps complete batches and reports the limit.
#[test]
fn a_log_in_memory_respects_its_limit() {
    let memory = Memory::new(BATCH, 12_000);
    write(Box::new(memory.clone()));
    let log = memory.log();
    let rows = log.tables.rows(Table::Transmissions);
    assert!(rows > 0 && rows < 175 && rows.is_multiple_of(BATCH), "{rows}");
    assert_eq!(log.cut_short.as_deref(), Some("the limit of memory was reached"));
}
