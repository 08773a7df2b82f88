//! The corpora of the fuzz targets `scenario` and `mobility`, as an ordinary test; and how they were made.

#[path = "../../../../fuzz/targets/mobility.rs"]
mod mobility;
#[path = "../../../../fuzz/targets/scenario.rs"]
mod scenario;

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn folder(target: &str) -> PathBuf {
    Path::new(ROOT).join("fuzz/corpus").join(target)
}

/// Calls `check` with every input of a corpus. There are some.
fn replay(target: &str, check: fn(&[u8])) {
    let files = fs::read_dir(folder(target)).unwrap().map(|entry| entry.unwrap().path());
    let count = files.map(|file| check(&fs::read(file).unwrap())).count();
    assert!(count >= 6, "{count} inputs of {target}");
}

#[test]
fn the_corpus_of_scenarios_is_read() {
    replay("scenario", scenario::check);
}

#[test]
fn the_corpus_of_motion_is_read() {
    replay("mobility", mobility::check);
}

/// A script with heights, a status, a jump, a block, and names with braces.
const HEIGHTS: &str = "\
    set i 1\n$node_($i) set X_ 0.001; ${node_(1)} set Y_ [expr {1.0/8 - (2)}]\n$node_(1) set Z_ 3\n\
    $ns_ at [expr 1+.5] {$node_(1) setdest .002 5e-3 4 1E1}\n$node_(2) set X_ 1\n$node_(2) set Y_ 1\n\
    $ns_ at 3 \"$node_(2) setdest 2 2 1 2.0; $node_(2) switch off\"\n$ns_ at 0 \"$node_(2) set X_ 1\"\n\
    if {$i} {\n puts \"[expr $i*2]\"\n}\n";

/// Writes the seeds, of the scenarios and files of motion that are part of the project, without their
/// comments: `cargo test -p multihop-scenario --test it corpus:: -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_the_seeds() {
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    for entry in fs::read_dir(Path::new(ROOT).join("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            let lines: Vec<String> =
                text(&path).lines().filter(|line| !line.starts_with('#')).map(Into::into).collect();
            fs::write(folder("scenario").join(path.file_stem().unwrap()), lines.join("\n")).unwrap();
        }
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let three = "0 0 0 5 10 20 10 1 10 10 30\n2 0 0 5 10 20 20 1\n";
    let degrees = text(&data.join("degrees.fcd.xml"));
    let files = [
        (0, text(&data.join("passing.tcl"))),
        (0, text(&data.join("from_one.tcl"))),
        (1, text(&data.join("passing.movements"))),
        (2, text(&data.join("passing.movements"))),
        (3, three.to_owned()),
        (4, text(&data.join("passing.fcd.xml"))),
        // Forms of scripts, and units: behind the format, five for each of the coordinates, 25 for that of times.
        (0, text(&data.join("forms.tcl"))),
        (4, degrees.clone()),
        (19, degrees),
        (37, text(&data.join("passing.movements"))),
        (15, HEIGHTS.to_owned()),
        (60, text(&data.join("forms.tcl"))),
    ];
    for (n, (format, text)) in files.iter().enumerate() {
        fs::write(folder("mobility").join(format!("seed-{n}")), [&[*format][..], text.as_bytes()].concat())
            .unwrap();
    }
}
