//! Replays the corpora of the fuzz targets `scenario` and `mobility` as ordinary tests, and writes their
//! seeds.

#[path = "../../../../fuzz/targets/mobility.rs"]
mod mobility;
#[path = "../../../../fuzz/targets/scenario.rs"]
mod scenario;

use crate::files::shipped_files;
use multihop_core::Rng;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn folder(target: &str) -> PathBuf {
    Path::new(ROOT).join("fuzz/corpus").join(target)
}

/// Calls `check` with every input of a corpus, which must not be empty.
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
fn the_corpus_of_motion_files_is_read() {
    replay("mobility", mobility::check);
}

/// Words of motion files, and numbers at the edges of their ranges.
const PIECES: [&str; 44] = [
    "$node_(0)",
    "$node_(1)",
    "$n1",
    "${node_(2)}",
    "$node_($i)",
    "$ns_",
    "at",
    "set",
    "setdest",
    "X_",
    "Y_",
    "Z_",
    "switch",
    "OFF",
    "on",
    "[expr 1+2/0.5]",
    "[expr $i*(2-1)]",
    "$i",
    "{",
    "}",
    "\"",
    "[",
    "]",
    ";",
    "#",
    "\\\n",
    "\n",
    "proc f {} {",
    "source x",
    "0",
    "-1",
    "1e7",
    "1e-9",
    "180.5",
    "13.400147",
    "90",
    "1e300",
    "nan",
    "5",
    "200",
    "speed=\"10\"",
    "x=\"1\"",
    "<timestep time=\"7\">",
    "<!-- fcd-output.geo value=\"true\" -->",
];

/// A motion file with some of its words replaced, left out, doubled or moved.
fn mutated(rng: &mut Rng, inputs: &[Vec<u8>]) -> Vec<u8> {
    let pick = |rng: &mut Rng| rng.below(inputs.len() as u32) as usize;
    let (first, other) = (pick(rng), pick(rng));
    let choice = if rng.below(3) == 0 { rng.below(256) as u8 } else { inputs[first][0] };
    let words = |input: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(&input[1..]).into_owned();
        text.split_inclusive([' ', '\n']).map(str::to_owned).collect()
    };
    let (mut made, others) = (words(&inputs[first]), words(&inputs[other]));
    for _ in 0..=rng.below(6) {
        let at = rng.below(made.len() as u32 + 1) as usize;
        let piece = PIECES[rng.below(PIECES.len() as u32) as usize];
        match rng.below(7) {
            0 if at < made.len() => drop(made.remove(at)),
            1 if at < made.len() => made[at] = format!("{piece} "),
            2 if !others.is_empty() => {
                let from = rng.below(others.len() as u32) as usize;
                let some = others[from..].iter().take(1 + rng.below(12) as usize).cloned();
                made.splice(at..at, some);
            }
            3 if at < made.len() => made.insert(at, made[at].clone()),
            4 if at < made.len() => {
                let with = rng.below(made.len() as u32) as usize;
                made.swap(at, with);
            }
            5 => made.truncate(at),
            _ => made.insert(at, format!("{piece}{}", ["", " ", "\n"][rng.below(3) as usize])),
        }
    }
    [&[choice][..], made.concat().as_bytes()].concat()
}

/// Each of `MOTIONS` files, made of the words of the corpus, is read or refused in one line.
#[test]
fn mutated_motion_files_are_read_or_refused() {
    let count = std::env::var("MOTIONS").map_or(3000, |count| count.parse().expect("MOTIONS is a number"));
    let from =
        std::env::var("MOTIONS_FROM").map_or(0, |from| from.parse().expect("MOTIONS_FROM is a number"));
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder("mobility")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let inputs: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    for number in from..from + count {
        let number: u64 = number;
        let made = mutated(&mut Rng::at(number, &["motions"]), &inputs);
        let read = std::panic::catch_unwind(|| mobility::check(&made));
        assert!(read.is_ok(), "MOTIONS_FROM={number}: {:?}", String::from_utf8_lossy(&made));
    }
}

/// A script with heights, a status, a jump, a block, and names with braces.
const HEIGHTS: &str = "\
    set i 1\n$node_($i) set X_ 0.001; ${node_(1)} set Y_ [expr {1.0/8 - (2)}]\n$node_(1) set Z_ 3\n\
    $ns_ at [expr 1+.5] {$node_(1) setdest .002 5e-3 4 1E1}\n$node_(2) set X_ 1\n$node_(2) set Y_ 1\n\
    $ns_ at 3 \"$node_(2) setdest 2 2 1 2.0; $node_(2) switch off\"\n$ns_ at 0 \"$node_(2) set X_ 1\"\n\
    if {$i} {\n puts \"[expr $i*2]\"\n}\n";

/// Writes the seeds from the scenarios and motion files of the project, without their comments: `cargo test
/// -p multihop-scenario --test it corpus:: -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_the_seeds() {
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    for path in shipped_files() {
        let lines: Vec<String> =
            text(&path).lines().filter(|line| !line.starts_with('#')).map(Into::into).collect();
        fs::write(folder("scenario").join(path.file_stem().unwrap()), lines.join("\n")).unwrap();
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
