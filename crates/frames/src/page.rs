//! Log format of the viewer: a header, then columns as typed arrays.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | length of the header; all numbers are little-endian |
//! | this length | header, JSON: `head`, `cutShort`, and `name`, `rows` and `columns` of each table |
//! | from the next multiple of 8 | columns, each aligned to 8 bytes |
//!
//! The header gives for each column its `name`, its `type` (`f8`, `i4` or `u1`), its offset (`at`), its size
//! in bytes (`size`), and whether it is `packed`. A packed column consists of the zigzag differences of its
//! values as varints (LEB128), compressed by raw DEFLATE. Packets of aggregates are stored as runs of
//! consecutive packet numbers, so that a page can hold millions of packets.

use crate::columns::{Tables, Values};
use crate::layout::Table;
use crate::layout::Type::{I32, I64, U8};
use crate::writer::Log;
use serde_json::{Value, json};

/// Alignment of columns, in bytes.
const ALIGNMENT: usize = 8;

/// Converts a log to the viewer's format, with columns as plain typed arrays.
pub fn raw(log: &Log) -> Vec<u8> {
    convert(log, false, |values, out| match values {
        Values::U8(values) => out.extend_from_slice(values),
        Values::I32(values) => values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes())),
        Values::I64(values) => {
            for value in values {
                out.extend_from_slice(&(*value as f64).to_le_bytes());
            }
        }
    })
}

/// Converts a log to the viewer's format, with packed columns.
#[cfg(feature = "files")]
pub fn packed(log: &Log) -> Vec<u8> {
    convert(log, true, pack)
}

#[cfg(feature = "files")]
fn pack(values: &Values, out: &mut Vec<u8>) {
    use flate2::{Compression, write::DeflateEncoder};
    use std::io::Write;
    let mut varints = Vec::with_capacity(values.len());
    let mut previous = 0;
    for value in values.iter() {
        let difference = value.wrapping_sub(previous);
        previous = value;
        let mut zigzag = (difference << 1 ^ difference >> 63) as u64;
        while zigzag >= 0x80 {
            varints.push(zigzag as u8 | 0x80);
            zigzag >>= 7;
        }
        varints.push(zigzag as u8);
    }
    let mut encoder = DeflateEncoder::new(out, Compression::new(4));
    encoder.write_all(&varints).and_then(|()| encoder.finish()).expect("writing to memory succeeds");
}

fn convert(log: &Log, packed: bool, write: impl Fn(&Values, &mut Vec<u8>)) -> Vec<u8> {
    let (aggregates, lost) = aggregates(&log.tables);
    let mut content = Vec::new();
    let mut table = |name: &str, columns: Vec<(&str, &Values)>| {
        let rows = columns[0].1.len();
        let columns = columns.into_iter().map(|(name, values)| {
            content.resize(content.len().next_multiple_of(ALIGNMENT), 0);
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
    let content_start = (4 + header.len()).next_multiple_of(ALIGNMENT);
    let mut bytes = Vec::with_capacity(content_start + content.len());
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(content_start, b' ');
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

/// Converts the packets of aggregates to two tables. Rows of the first are runs of consecutive packet
/// numbers: transmission, flow, direction, first number, length. Rows of the second are single lost packets:
/// transmission, position in the aggregate, outcome.
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
            break; // the log is cut short: the transmissions of the other packets are missing
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
