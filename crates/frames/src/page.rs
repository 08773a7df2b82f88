//! A log as the viewer reads it: typed arrays behind a header.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | length of the header, little-endian as all numbers |
//! | as many | header, JSON: `head`, `cutShort`, and of each table `name`, `rows` and `columns` |
//! | from the next multiple of 8 on | columns, each from a multiple of 8 on |
//!
//! The header says of a column its `name`, its type (`f8`, `i4` or `u1`), where it begins (`at`), its length
//! in bytes (`size`), and whether it is `packed`: as varints (LEB128) of zigzag differences, compressed by
//! DEFLATE without a header. Packets of aggregates are runs of numbers that follow each other, which some
//! millions of packets need to fit a page.

use crate::columns::{Tables, Values};
use crate::layout::Table;
use crate::layout::Type::{I32, I64, U8};
use crate::writer::Log;
use serde_json::{Value, json};

/// Columns begin at multiples of this.
const ALIGNED: usize = 8;

/// Returns a log as bytes whose columns are typed arrays in place.
pub fn raw(log: &Log) -> Vec<u8> {
    made(log, false, |values, out| match values {
        Values::U8(values) => out.extend_from_slice(values),
        Values::I32(values) => values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes())),
        Values::I64(values) => {
            values.iter().for_each(|value| out.extend_from_slice(&(*value as f64).to_le_bytes()));
        }
    })
}

/// Returns a log as bytes whose columns are packed.
#[cfg(feature = "files")]
pub fn packed(log: &Log) -> Vec<u8> {
    made(log, true, pack)
}

#[cfg(feature = "files")]
fn pack(values: &Values, out: &mut Vec<u8>) {
    use flate2::{Compression, write::DeflateEncoder};
    use std::io::Write;
    let mut varints = Vec::with_capacity(values.len());
    let mut before = 0;
    for value in values.iter() {
        let difference = value.wrapping_sub(before);
        before = value;
        let mut left = (difference << 1 ^ difference >> 63) as u64;
        while left >= 0x80 {
            varints.push(left as u8 | 0x80);
            left >>= 7;
        }
        varints.push(left as u8);
    }
    let mut encoder = DeflateEncoder::new(out, Compression::new(4));
    encoder.write_all(&varints).and_then(|()| encoder.finish()).expect("memory can be written");
}

fn made(log: &Log, packed: bool, write: impl Fn(&Values, &mut Vec<u8>)) -> Vec<u8> {
    let (aggregates, lost) = aggregates(&log.tables);
    let mut content = Vec::new();
    let mut table = |name: &str, columns: Vec<(&str, &Values)>| {
        let rows = columns[0].1.len();
        let columns = columns.into_iter().map(|(name, values)| {
            content.resize(content.len().next_multiple_of(ALIGNED), 0);
            let at = content.len();
            write(values, &mut content);
            json!({ "name": name, "type": type_of(values), "at": at, "size": content.len() - at, "packed": packed })
        });
        let columns: Vec<Value> = columns.collect();
        json!({ "name": name, "rows": rows, "columns": columns })
    };
    let mut tables = Vec::new();
    for (of, _) in crate::layout::TABLES.iter().filter(|(of, _)| *of != Table::Mpdus) {
        let names = of.columns().iter().map(|column| column.name);
        tables.push(table(of.name(), names.zip(log.tables.columns(*of)).collect()));
    }
    let names = ["row", "flow", "carries", "packet", "length"];
    tables.push(table("aggregates", names.into_iter().zip(&aggregates).collect()));
    tables.push(table("lost", ["row", "place", "outcome"].into_iter().zip(&lost).collect()));
    let head: Value = serde_json::from_str(&log.head).unwrap_or_default();
    let header = json!({ "head": head, "cutShort": log.cut_short, "tables": tables }).to_string();
    let begins = (4 + header.len()).next_multiple_of(ALIGNED);
    let mut bytes = Vec::with_capacity(begins + content.len());
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(begins, b' ');
    bytes.append(&mut content);
    bytes
}

fn type_of(values: &Values) -> &'static str {
    match values {
        Values::U8(_) => "u1",
        Values::I32(_) => "i4",
        Values::I64(_) => "f8",
    }
}

/// Packets of aggregates as runs: of which transmission, of which flow and direction, from which number on,
/// and how many; and those that were lost alone: of which transmission, in which place, and the outcome.
fn aggregates(tables: &Tables) -> ([Values; 5], [Values; 3]) {
    let mut runs = [I32, I32, U8, I64, I32].map(Values::new);
    let mut lost = [I32, I32, U8].map(Values::new);
    let transmissions = tables.columns(Table::Transmissions);
    let mpdus = tables.columns(Table::Mpdus);
    let (mut of, mut place) = (0, 0);
    let mut run = [-1; 5];
    let mut add = |run: [i64; 5]| {
        if run[4] > 0 {
            runs.iter_mut().zip(run).for_each(|(column, value)| column.push(value));
        }
    };
    for at in 0..tables.rows(Table::Mpdus) {
        let [start, from, flow, carries, packet, outcome] =
            std::array::from_fn(|column| mpdus[column].get(at));
        let before = of;
        while of < transmissions[0].len()
            && (transmissions[0].get(of), transmissions[1].get(of)) != (start, from)
        {
            of += 1;
        }
        if of == transmissions[0].len() {
            break; // the transmissions of the rest are missing
        }
        place = if of == before && at > 0 { place + 1 } else { 0 };
        if run[..3] == [of as i64, flow, carries] && run[3] + run[4] == packet {
            run[4] += 1;
        } else {
            add(run);
            run = [of as i64, flow, carries, packet, 1];
        }
        if outcome != 0 {
            let values = [of as i64, place, outcome];
            lost.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
    }
    add(run);
    (runs, lost)
}
