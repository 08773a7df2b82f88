use crate::example;
use multihop_frames::{Table, page};
use serde_json::Value;

/// Splits a page into its header and the bytes of its columns.
fn opened(page: &[u8]) -> (Value, &[u8]) {
    let length = u32::from_le_bytes(page[..4].try_into().unwrap()) as usize;
    let header = serde_json::from_slice(&page[4..4 + length]).unwrap();
    (header, &page[(4 + length).next_multiple_of(8)..])
}

fn table<'h>(header: &'h Value, name: &str) -> &'h Value {
    header["tables"].as_array().unwrap().iter().find(|table| table["name"] == name).unwrap()
}

#[test]
fn raw_columns_are_typed_arrays() {
    let log = example();
    let page = page::raw(&log);
    let (header, content) = opened(&page);
    let column = |place: usize| {
        let column = &table(&header, "transmissions")["columns"][place];
        let [at, size] = ["at", "size"].map(|key| column[key].as_u64().unwrap() as usize);
        assert!(at.is_multiple_of(8));
        (column["type"].as_str().unwrap(), &content[at..at + size])
    };
    let (of, starts) = column(0);
    let starts: Vec<f64> =
        starts.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(of, "f8");
    assert!(
        log.tables.column(Table::Transmissions, "start").iter().eq(starts.iter().map(|start| *start as i64))
    );
    let (of, to) = column(2);
    assert_eq!((of, &to[..8]), ("i4", &[255, 255, 255, 255, 2, 0, 0, 0][..]));
    assert_eq!(column(3).0, "u1");
    assert_eq!(header["head"]["name"], "example");
    assert!(header["cutShort"].is_null());
}

/// Every third transmission carries two packets; in every sixth the second packet is lost.
#[test]
fn packets_of_aggregates_are_stored_as_runs() {
    let log = example();
    let page = page::raw(&log);
    let (header, _) = opened(&page);
    assert_eq!(table(&header, "aggregates")["rows"], 59);
    assert_eq!(table(&header, "lost")["rows"], 29);
    assert_eq!(log.tables.rows(Table::Mpdus), 118);
}

#[test]
fn packed_columns_are_shorter() {
    let log = example();
    assert!(page::packed(&log).len() < page::raw(&log).len() / 2);
}
