//! Logs on disk: reading returns what was written, or its complete batches, or an error.
#![cfg(feature = "files")]

mod damage;
mod folders;
mod pages;

use multihop_frames::files::{Folder, Open};
use multihop_frames::{Flow, Head, Log, Memory, Mpdu, Node, Sink, Table, Tables, Transmission, Writer};
use std::fs;
use std::path::{Path, PathBuf};

/// Number of transmissions in a batch.
const BATCH: usize = 50;
/// Number of batches of [`example`].
const BATCHES: usize = 4;

/// Folder that is removed after the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("multihop-frames-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn file(&self, table: Table) -> PathBuf {
        self.0.join(format!("{}.parquet", table.name()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Log folder with small batches.
struct SmallBatches(Folder);

impl Sink for SmallBatches {
    fn begin(&mut self, head: &Head) -> std::io::Result<()> {
        self.0.begin(head)
    }
    fn write(&mut self, rows: &Tables) -> std::io::Result<()> {
        self.0.write(rows)
    }
    fn finish(&mut self) -> std::io::Result<()> {
        self.0.finish()
    }
    fn batch(&self) -> usize {
        BATCH
    }
}

fn folder(path: &Path) -> Box<dyn Sink> {
    let open: Open = |file| Ok(Box::new(fs::File::create(file)?));
    Box::new(SmallBatches(Folder::new(path.to_owned(), open)))
}

fn head() -> Head {
    let node = |name: &str| Node { name: name.into(), ..Node::default() };
    let flow = Flow { name: "up".into(), source: 0, destination: 2, scheme: "udp".into() };
    Head {
        name: "example".into(),
        source: "run",
        duration_ns: 1_000_000,
        nodes: ["a", "b", "<c>"].map(node).into(),
        flows: vec![flow],
        ..Head::default()
    }
}

/// Transmission `n` of the log, at 1000 n ns. Every third one carries two packets; each uses one of two sets.
fn transmission(n: i64) -> (Transmission, Vec<(u32, i64)>, Vec<Mpdu>) {
    let row = Transmission {
        start: 1_000 * n,
        from: n % 2,
        to: if n % 5 == 0 { -1 } else { 2 },
        kind: n % 9,
        airtime: 300 + n,
        bytes: 100 * n,
        rate: 6_000_000_000,
        nav: 1 << 40,
        flow: -1 + n % 2,
        carries: n % 6,
        tries: n % 7,
        frozen: -n,
        waited: -1 + n,
        contended: n,
        queue: n,
        packet: 1 << 45,
        outcome: n % 8,
        collided: -1,
        overlap: n % 4,
    };
    let mpdu = |packet, outcome| Mpdu { stream: [0, 1], packet, outcome };
    let mpdus = if n % 3 == 0 { vec![mpdu(2 * n, 0), mpdu(2 * n + 1, n % 2)] } else { Vec::new() };
    (row, vec![(2, n % 2), (1, 70)], mpdus)
}

/// Writes [`BATCHES`] batches of transmissions and rows of other tables; the last batch is half full.
fn write(out: Box<dyn Sink>) {
    let mut writer = Writer::new(out, &head()).unwrap();
    for n in 0..(BATCHES * BATCH - BATCH / 2) as i64 {
        let (row, mut reserves, mpdus) = transmission(n);
        writer.transmission(&row, &mut reserves, &mpdus).unwrap();
        let mut rows = Tables::default();
        rows.push(Table::Drops, [0, 1, 2, 3, n, 1_000 * n]);
        if n % 60 == 0 {
            rows.push(Table::Routes, [1_000 * n, 0, 2, 1]);
        }
        writer.append(&rows).unwrap();
    }
    writer.finish().unwrap();
}

/// The same log in memory.
fn example() -> Log {
    let memory = Memory::new(BATCH, usize::MAX);
    write(Box::new(memory.clone()));
    memory.log().clone()
}

fn column(log: &Log, table: Table, name: &str) -> Vec<i64> {
    log.tables.column(table, name).iter().collect()
}
