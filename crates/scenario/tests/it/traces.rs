//! Motion files: made by hand here, and of setdest, `BonnMotion` and SUMO where such files are available.

use multihop_core::Rng;
use multihop_scenario::TraceProblem;
use multihop_scenario::trace::{self, Format, Trace, TraceError, Units};
use multihop_sim::mobility::{Motion, crossings};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const BONNMOTION: Format = Format::BonnMotion { dimensions: None };

fn own(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Motion files of other projects, which are not part of this one.
fn found() -> Vec<(PathBuf, Format)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mobility");
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("skipped: there are no files of motion beside the project");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let format = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let scripts =
            name.starts_with("ns2-scen") || name.ends_with(".ns_movements") || name.ends_with("mobility.tcl");
        match () {
            () if scripts => Some(Format::Setdest),
            () if name.ends_with(".movements") => Some(BONNMOTION),
            () if name.ends_with(".fcd.xml") => Some(Format::Fcd),
            () => None,
        }
    };
    files.into_iter().filter_map(|file| format(&file).map(|format| (file, format))).collect()
}

fn parsed(path: &Path, format: Format) -> Trace {
    trace::read_file(path, format, Units::default())
        .unwrap()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a text without stated units.
fn read(text: &[u8], format: Format) -> Result<Trace, TraceError> {
    trace::read(text, format, Units::default())
}

fn error(text: &str, format: Format) -> TraceError {
    read(text.as_bytes(), format).expect_err(text)
}

#[test]
fn the_same_pass_is_read_from_every_format() {
    let files = [
        ("passing.tcl", Format::Setdest),
        ("passing.movements", BONNMOTION),
        ("passing.movements.gz", BONNMOTION),
        ("passing.fcd.xml", Format::Fcd),
    ];
    for (name, format) in files {
        let trace = parsed(&own(name), format);
        let changes = crossings(&trace.nodes[0].motion, &trace.nodes[1].motion, 250.0, 100.0);
        let times: Vec<f64> = changes.iter().map(|change| change.time).collect();
        assert_eq!(times.len(), 2, "{name}: {changes:?}");
        assert!((times[0] - 20.0).abs() < 1e-9 && changes[0].within, "{name}: {changes:?}");
        assert!((times[1] - 60.0).abs() < 1e-9, "{name}: {changes:?}");
    }
    let cars = parsed(&own("passing.fcd.xml"), Format::Fcd).nodes;
    assert_eq!(cars[1].name, "there&back");
    assert_eq!((&cars[0].off, &cars[1].off), (&vec![], &vec![[0.0, 10.0], [70.0, f64::INFINITY]]));
}

/// Found by fuzzing: a step that is not directly below the root is ignored, with the vehicles in it.
#[test]
fn steps_that_are_not_directly_below_the_root_are_ignored() {
    let step = "<timestep time=\"0\"><vehicle id=\"a\" x=\"1\" y=\"2\"/></timestep>";
    let nested = format!("<fcd-export><other>{step}</other></fcd-export>");
    assert_eq!(error(&nested, Format::Fcd).problem, TraceProblem::NoVehicles);
    let both = format!("<fcd-export><other>{step}</other>{}</fcd-export>", step.replace("\"a\"", "\"b\""));
    let names: Vec<String> =
        read(both.as_bytes(), Format::Fcd).unwrap().nodes.into_iter().map(|node| node.name).collect();
    assert_eq!(names, ["b"]);
}

/// A script as written by people and tools other than setdest: comments behind commands, blanks within
/// quotes, braces, commands for nam, and switched nodes.
#[test]
fn scripts_switch_nodes_and_contain_comments_and_commands_for_nam() {
    let text = "\
        $node_(1) set X_ 5.0 ;# a start\n\
        $node_(1) set Y_ 0.0\n\
        $node_(1) random-motion 0\n\
        $ns_ initial_node_pos $node_(1) 20\n\
        $ns_ at 0.0 \"$node_(1) color red\"\n\
        $ns_ at 40 \"$node_(1) switch on\"\n\
        $ns_ at 10.0 \" $node_(1) setdest 25.0 0.0 2.0 \" # goes away\n\
        $ns_ at 12.0 {$node_(1) switch OFF}\n\
        $ns_ at 20.0 \"$node_(1) switch OFF\"\n\
        $ns_ at 60.0 \"$node_(1) switch OFF\"\n\
        \t# the end";
    let node = read(text.as_bytes(), Format::Setdest).unwrap().nodes.remove(0);
    assert_eq!((node.motion.at(10.0), node.motion.at(15.0)), ([5.0, 0.0], [15.0, 0.0]));
    assert_eq!(node.off, [[12.0, 40.0], [60.0, f64::INFINITY]]);
    for wrong in [
        "$node_(1) switch away",
        "$node_(1) random-motion 1",
        "$god switch off",
        "$ns_ at 1 \"$node_(1) stop\"",
    ] {
        let found = error(&format!("$node_(1) set X_ 5.0\n{wrong}"), Format::Setdest);
        assert!(found.line == 2 && matches!(found.problem, TraceProblem::NoSetdest { .. }), "{found}");
    }
}

/// Distances in hops, by breadth-first search over pairs within 250 m.
fn hops(motions: &BTreeMap<usize, Motion>, time: f64) -> BTreeMap<[usize; 2], u32> {
    let place: BTreeMap<usize, [f64; 2]> =
        motions.iter().map(|(node, motion)| (*node, motion.at(time))).collect();
    let near = |a: usize, b: usize| {
        let (a, b) = (place[&a], place[&b]);
        (a[0] - b[0]).hypot(a[1] - b[1]) < 250.0
    };
    let mut found = BTreeMap::new();
    for &from in place.keys() {
        let mut frontier = vec![from];
        let mut left: Vec<usize> = place.keys().copied().filter(|node| *node != from).collect();
        for hop in 1.. {
            let next: Vec<usize> = left
                .iter()
                .copied()
                .filter(|node| frontier.iter().any(|known| near(*known, *node)))
                .collect();
            if next.is_empty() {
                break;
            }
            left.retain(|node| !next.contains(node));
            found.extend(next.iter().map(|to| ([from, *to], hop)));
            frontier = next;
        }
    }
    found
}

/// Checks that the distances in hops of setdest follow from the motions, at every instant between two
/// changes.
fn check_hops(name: &str, trace: &Trace) -> usize {
    let motions: BTreeMap<usize, Motion> =
        trace.nodes.iter().map(|node| (node.index, node.motion.clone())).collect();
    let mut known: BTreeMap<[usize; 2], u32> = BTreeMap::new();
    let mut compared = 0;
    let mut at = 0;
    while at < trace.hops.len() {
        let now = trace.hops[at].time;
        while let Some(change) = trace.hops.get(at).filter(|change| change.time == now) {
            let [a, b] = change.nodes;
            match change.hops {
                Some(hops) => drop(known.insert([a.min(b), a.max(b)], hops)),
                None => drop(known.remove(&[a.min(b), a.max(b)])),
            }
            at += 1;
        }
        let next = trace.hops.get(at).map_or(now + 1.0, |change| change.time);
        if next - now < 1e-6 {
            continue; // the digits of the file do not tell the two instants apart
        }
        let ours = hops(&motions, f64::midpoint(now, next));
        for (pair, hops) in ours.iter().filter(|(pair, _)| pair[0] < pair[1]) {
            assert_eq!(known.get(pair), Some(hops), "{name}: {pair:?} after {now} s");
        }
        assert_eq!(known.len() * 2, ours.len(), "{name}: after {now} s");
        compared += 1;
    }
    compared
}

#[test]
fn distances_of_setdest_follow_from_the_motions() {
    assert_eq!(check_hops("passing.tcl", &parsed(&own("passing.tcl"), Format::Setdest)), 3);
    // One file states no distances after the start, and counts hops over nodes that it does not have.
    for (path, format) in found().into_iter().filter(|(path, _)| !path.ends_with("ns2-scen-3-test.tcl")) {
        let trace = parsed(&path, format);
        let compared = check_hops(&path.display().to_string(), &trace);
        if path.ends_with("ns2-scen-670x670-50-600-20-0.tcl") {
            assert!(compared > 400, "{compared} instants");
            assert_eq!(trace.hops.iter().filter(|change| change.time > 0.0).count(), 2877);
        }
    }
}

#[test]
fn every_file_has_its_nodes() {
    let expected = [
        ("gen-sumo-grid.fcd.xml", 40),
        ("gen-sumo-grid.ns2mobility.tcl", 40),
        ("inet-bonnmotion_scenario.movements", 100),
        ("inet-bonnmotion_small.movements", 2),
        ("ns2-scen-3-test.tcl", 3),
        ("ns2-scen-670x670-50-600-20-0.tcl", 50),
        ("ns3-bonnmotion.ns_movements", 1),
        ("ns3-default.ns_movements", 2),
    ];
    for (path, format) in found() {
        let trace = parsed(&path, format);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let count = expected.iter().find(|(file, _)| *file == name).map(|(_, count)| *count);
        assert_eq!(Some(trace.nodes.len()), count, "{name}");
        for leg in trace.nodes.iter().flat_map(|node| node.motion.legs()) {
            assert!(leg.start < leg.end && leg.speed() < 100.0, "{name}: {leg:?}");
        }
    }
}

#[test]
fn sumo_exports_the_same_ways_twice() {
    let files = found();
    let named = |end: &str| files.iter().find(|(path, _)| path.to_string_lossy().ends_with(end));
    let (Some((fcd, _)), Some((script, _))) =
        (named("gen-sumo-grid.fcd.xml"), named("gen-sumo-grid.ns2mobility.tcl"))
    else {
        return;
    };
    let (fcd, script) = (parsed(fcd, Format::Fcd), parsed(script, Format::Setdest));
    assert_eq!((fcd.nodes.len(), script.nodes.len()), (40, 40));
    for (car, node) in fcd.nodes.iter().zip(&script.nodes) {
        // The script states from each second on where the car moves *in* that second, with two digits of its
        // speed.
        let off = |time: f64| car.off.iter().any(|[from, to]| (*from..*to).contains(&time));
        for time in (0..180).map(f64::from).filter(|time| !off(*time)) {
            let (car_at, node_at) = (car.motion.at(time), node.motion.at(time + 1.0));
            let apart = (car_at[0] - node_at[0]).hypot(car_at[1] - node_at[1]);
            assert!(apart < 15.0, "{}: {apart} m at {time} s", car.name);
        }
    }
}

#[test]
fn problems_are_reported_with_their_line() {
    let start = "$node_(0) set X_ 1.0\n$node_(0) set Y_ 1.0\n";
    let cases = [
        (Format::Setdest, "", 1, "no node"),
        (Format::Setdest, "\n\n$node_(0) set X_ 1.0\n", 3, "no place to start from"),
        (Format::Setdest, "$node_(0) set X_ east\n", 1, "X_ east"),
        (Format::Setdest, "$node_(0) set W_ 1\n", 1, "not a line of a setdest script"),
        (Format::Setdest, "hello there\n", 1, "not a line of a setdest script"),
        (Format::Setdest, &format!("{start}$ns_ at -1.0 \"$node_(0) setdest 1 2 3\"\n"), 3, "time -1.0"),
        (Format::Setdest, &format!("{start}$ns_ at 1.0 \"$node_(0) setdest 1 2 -3\"\n"), 3, "speed -3"),
        (Format::Setdest, &format!("{start}$ns_ at 1.0 \"$node_(0) setdest 1 2\"\n"), 3, "not a line"),
        (
            Format::Setdest,
            &format!("{start}$ns_ at 1.0 \"$node_(0) set X_ 2\"\n"),
            3,
            "set to a place during the run",
        ),
        (BONNMOTION, "# nothing\n", 1, "no nodes"),
        (BONNMOTION, "0 0 0 1 1 1\n0 0 0 1 1\n", 2, "5 numbers"),
        (BONNMOTION, "0 0 0 1 1 1\n0 0 x\n", 2, "\"x\" is not a number"),
        (BONNMOTION, "0 0 0 2 1 1 1 0 0\n", 1, "time 1 s after 2 s"),
        (BONNMOTION, "0 0 0 0 50 0\n", 1, "50 m in 0 s"),
        (BONNMOTION, "-1 0 0\n", 1, "time -1"),
        (BONNMOTION, "0 1 2 3 4 5 6 7 8 9 10 11\n", 1, "both fit"),
        (Format::Fcd, "", 1, "no vehicles"),
        (Format::Fcd, "t,x,y\n0,1,2\n", 1, "not XML"),
        (Format::Fcd, "<net>\n</net>", 1, "<net> at the top"),
        (Format::Fcd, "<fcd-export>\n<timestep time=\"0\">\n", 3, "ends within <timestep>"),
        (Format::Fcd, "<fcd-export>\n<timestep time=\"0\">\n</fcd-export>", 3, "invalid XML"),
        (Format::Fcd, "<fcd-export>\n<timestep>\n</timestep></fcd-export>", 2, "<timestep> without time"),
        (
            Format::Fcd,
            "<fcd-export>\n<timestep time=\"0\">\n\n<vehicle id=\"a\" x=\"1\"/></timestep></fcd-export>",
            4,
            "<vehicle> without y",
        ),
        (
            Format::Fcd,
            "<fcd-export>\n<timestep time=\"1\"/>\n<timestep time=\"1\"/></fcd-export>",
            3,
            "time 1 s after 1 s",
        ),
    ];
    for (format, text, line, part) in cases {
        let error = error(text, format);
        assert!(error.line == line && error.found().contains(part), "{text:?}: {error}");
        assert!(!error.remedy().is_empty() && !error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn dimensions_are_inferred_only_if_one_number_fits() {
    let places = |text: &str, dimensions| {
        let trace = read(text.as_bytes(), Format::BonnMotion { dimensions }).unwrap();
        trace.nodes[0].motion.at(100.0)
    };
    assert_eq!(places("0 1 2 9 10 3 4 9\n", None), [3.0, 4.0]);
    assert_eq!(places("0 1 2 9 3 4\n", None), [3.0, 4.0]);
    let both = "0 1 2 3 4 5 6 7 8 9 10 11\n";
    assert_eq!(places(both, Some(2)), [10.0, 11.0]);
    assert_eq!(places(both, Some(3)), [9.0, 10.0]);
    assert_eq!(places(&format!("# dim=3\n{both}"), None), [9.0, 10.0]);
}

/// Truncated and changed files end as a trace or as an error within the file, never as a panic.
#[test]
fn broken_files_end_in_an_error_or_a_trace() {
    let mut files: Vec<(PathBuf, Format)> = [
        ("passing.tcl", Format::Setdest),
        ("passing.movements", BONNMOTION),
        ("passing.fcd.xml", Format::Fcd),
    ]
    .map(|(name, format)| (own(name), format))
    .into();
    files.extend(found());
    let mut errors = 0;
    for (path, format) in files {
        let whole = fs::read(&path).unwrap();
        let whole = &whole[..whole.len().min(20_000)];
        let mut rng = Rng::at(1, &["broken", &path.file_name().unwrap().to_string_lossy()]);
        for _ in 0..60 {
            let mut bytes = whole[..rng.below(whole.len() as u32) as usize].to_vec();
            for _ in 0..rng.below(4) {
                if !bytes.is_empty() {
                    let at = rng.below(bytes.len() as u32) as usize;
                    bytes[at] = rng.below(256) as u8;
                }
            }
            let lines = bytes.split(|byte| *byte == b'\n').count();
            if let Err(error) = read(bytes.as_slice(), format) {
                assert!((1..=lines).contains(&error.line), "{}: {error}", path.display());
                errors += 1;
            }
        }
    }
    assert!(errors > 60, "{errors}");
}
