//! Forms of ns-2 scripts as written by tools and people, and files whose units contradict the motion. All
//! texts are made here.

use multihop_scenario::trace::{Coordinates, Format, Times, Trace, TraceError, Units, read, read_file};
use multihop_scenario::{MobilityProblem, Overrides, TraceProblem, resolve};
use multihop_sim::mobility::crossings;
use std::fmt::Write;
use std::path::Path;

const BONNMOTION: Format = Format::BonnMotion { dimensions: None };

fn script(text: &str) -> Result<Trace, TraceError> {
    read(text.as_bytes(), Format::Setdest, Units::default())
}

/// Places of the only node of a script at these times.
fn places<const N: usize>(text: &str, times: [f64; N]) -> [[f64; 2]; N] {
    let trace = script(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(trace.nodes.len(), 1, "{text}");
    times.map(|time| trace.nodes[0].motion.at(time).map(|place| (place * 1e6).round() / 1e6))
}

fn problem(text: &str) -> (usize, TraceProblem) {
    let error = script(text).expect_err(text);
    assert!(!error.found().is_empty() && !error.remedy().is_empty(), "{error}");
    (error.line, error.problem)
}

/// One motion, from (10, 20) to (110, 20) at 10 m/s from 2 s on, in the forms of several tools.
#[test]
fn a_motion_is_the_same_in_every_form() {
    let forms = [
        // setdest, BonnMotion, SUMO's traceExporter
        "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$node_(0) set Z_ 0.00\n$ns_ at 2.0 \"$node_(0) setdest 110 20 10\"\n",
        // the place at 0 s rather than before the run, as canuMobiSim's descendants write it
        "$ns_ at 0.0 \"$node_(0) set X_ 10\"\n$ns_ at 0 \"$node_(0) set Y_ 20\"\n$ns_ at 2.0 \"$node_(0) setdest 110 20 10\"\n",
        // names and numbers of nodes, lines of Windows, other numbers, and places at the end
        "$ns at 2 \"$n0 setdest 1.1e+2 2E1 10.\"\r\n$n0 set X_ +10\r\n$n0 set Y_ 20\r\n\r\n",
        "$ns at 2 \"$node(7) setdest 110 20 10\"\n$node(7) set X_ 10;\n$node(7) set Y_ 20 ;\n",
        "${node_(1)} set X_ 10\n${node_(1)} set Y_ 20\n$ns_ at 2 {${node_(1)} setdest 110 20 10}",
        // several commands in a line and within quotes, comments, a command over two lines
        "$node_(0) set X_ 10; $node_(0) set Y_ 20 ### here\n#$node_(0) set X_ 99\n$ns_ at 2 \\\n \" $node_(0) setdest 110 20 10  \"",
        "$ns_ at 0 \"$node_(0) set X_ 10; $node_(0) set Y_ 20\"\n$ns_ at 2 $node_(0) setdest 110 20 10\n",
        // a script with all that nodes need besides
        "set opt(x) 500\nset god_ [God instance]\nset node_(0) [$ns_ node]\n$node_(0) random-motion 0\n\
         $node_(0) set X_ 10\n$node_(0) set Y_ 20\n$ns_ initial_node_pos $node_(0) 20\n\
         $ns_ at 2 \"$node_(0) setdest 110 20 10\"\n$ns_ at 150.0 \"$node_(0) reset\"\n$ns_ at 150.01 \"stop\"\n\
         proc stop {} {\n  global ns_\n  set x [$node_(0) set X_]\n  close $f\n}\n$ns_ run\n",
        // variables and arithmetic
        "set x 110\nset i 3\nset p($i) 20\n$node_($i) set X_ [expr $x - 100]\n$node_(3) set Y_ $p(3)\n\
         $ns_ at [expr 1 + 2/2] \"$node_(3) setdest $x [expr {4 * 5.0}] 10\"\n",
        // the status of BonnMotion's disaster area, and a height that does not change
        "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$ns_ at 2 \"$node_(0) setdest 110 20 10 1.0\"\n\
         set RoutingAgent [$node_(0) agent 255]\n$ns_ at 2 \"$RoutingAgent activate\"\n",
        "$node_(0) set X_ 10\n$node_(0) set Y_ 20\n$node_(0) set Z_ 5\n$ns_ at 2 \"$node_(0) setdest 110 20 5 10\"\n",
    ];
    for text in forms {
        assert_eq!(
            places(text, [0.0, 2.0, 7.0, 12.0, 99.0]).map(|[x, _]| x),
            [10.0, 10.0, 60.0, 110.0, 110.0],
            "{text}"
        );
        assert_eq!(places(text, [0.0, 99.0]).map(|[_, y]| y), [20.0, 20.0], "{text}");
    }
}

/// A climb of 60 m over 80 m of ground at 10 m/s takes 10 s rather than 8 s.
#[test]
fn a_climb_takes_longer_than_its_ground_distance() {
    let text = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$node_(0) set Z_ 0\n$ns_ at 0 \"$node_(0) setdest 80 0 60 10\"\n";
    assert_eq!(places(text, [5.0, 10.0]), [[40.0, 0.0], [80.0, 0.0]]);
    let (line, found) =
        problem("$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$ns_ at 0 \"$node_(0) setdest 80 0 60 10\"\n");
    assert_eq!((line, found), (3, TraceProblem::FourNumbers { node: 0 }));
}

/// Speed 0 is a halt, also in the middle of a leg. A node that is set to its current place stays there.
#[test]
fn a_node_halts_and_does_not_jump() {
    let start = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$ns_ at 1.5 \"$node_(0) setdest 110 0 0\"\n";
    assert_eq!(places(start, [0.0, 99.0]), [[0.0, 0.0]; 2]);
    let moved =
        format!("{start}$ns_ at 2 \"$node_(0) setdest 100 0 10\"\n$ns_ at 7 \"$node_(0) setdest 0 0 0\"\n");
    assert_eq!(places(&moved, [7.0, 99.0]), [[50.0, 0.0]; 2]);
    assert_eq!(places(&format!("{moved}$ns_ at 9 \"$node_(0) set X_ 50.02\"\n"), [99.0]), [[50.0, 0.0]]);
    let jump = format!("{moved}$ns_ at 9 \"$node_(0) set X_ 60\"\n");
    assert_eq!(problem(&jump), (6, TraceProblem::SetDuringRun { node: 0, time: 9.0 }));
    let late = "$ns_ at 9 \"$node_(0) set X_ 60\"\n$ns_ at 9 \"$node_(0) set Y_ 60\"\n";
    assert_eq!(problem(late), (1, TraceProblem::SetDuringRun { node: 0, time: 9.0 }));
}

type Is = fn(&TraceProblem) -> bool;

#[test]
fn motions_that_are_not_understood_are_never_ignored() {
    let start = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n";
    let refused: [(&str, Is); 16] = [
        ("for {set i 0} {$i < 5} {incr i} {\n $node_($i) set X_ $i\n}\n", |p| {
            matches!(p, TraceProblem::NotExecuted { .. })
        }),
        ("if 0 {\n $ns at 3 \"$node_(0) setdest 1 2 3\"\n}\n", |p| {
            matches!(p, TraceProblem::NotExecuted { .. })
        }),
        ("proc go {} { $node_(0) set Y_ 5 }\n", |p| matches!(p, TraceProblem::NotExecuted { .. })),
        ("$ns_ at 1 \"$ns_ at 2 {$node_(0) setdest 1 2 3}\"\n", |p| {
            matches!(p, TraceProblem::NotExecuted { .. })
        }),
        ("source scen.tcl\n", |p| matches!(p, TraceProblem::Sourced { .. })),
        ("$ns_ at 1 \"$node_(0) setdest [expr rand()*500] 2 3\"\n", |p| {
            matches!(p, TraceProblem::Computed { .. })
        }),
        ("$ns_ at $later \"$node_(0) setdest 1 2 3\"\n", |p| matches!(p, TraceProblem::Computed { .. })),
        ("$ns_ at 1 \"$node_(0) setdset 1 2 3\"\n", |p| matches!(p, TraceProblem::NoSetdest { .. })),
        ("$ns_ at 1 \"$node_(0) start\"\n", |p| matches!(p, TraceProblem::NoSetdest { .. })),
        ("$node_(0) random-motion 1\n", |p| matches!(p, TraceProblem::NoSetdest { .. })),
        ("$node_(0) set x_ 5\n", |p| matches!(p, TraceProblem::NoSetdest { .. })),
        ("$ap set X_ 5\n", |p| matches!(p, TraceProblem::NoSetdest { .. })),
        ("node_(0) setdest 1 2 3\n", |p| matches!(p, TraceProblem::NotExecuted { .. })),
        ("$rsu(0) set X_ 5\n", |p| matches!(p, TraceProblem::TwoFamilies { .. })),
        ("$ns_ at 1 \"$node_(0) setdest 1 2 3\n", |p| matches!(p, TraceProblem::NotClosed { missing: '"' })),
        ("proc end {} {\n", |p| matches!(p, TraceProblem::NotClosed { missing: '}' })),
    ];
    for (text, expected) in refused {
        let (line, found) = problem(&format!("{start}{text}"));
        assert!(line == 3 && expected(&found), "{text}: line {line}: {found:?}");
    }
}

#[test]
fn a_whole_script_and_places_in_degrees_make_the_pass_of_the_other_files() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for (name, format, times) in
        [("forms.tcl", Format::Setdest, [20.0, 60.0]), ("degrees.fcd.xml", Format::Fcd, [10.0, 50.0])]
    {
        let trace = read_file(&data.join(name), format, Units::default()).unwrap().unwrap();
        let changes = crossings(&trace.nodes[0].motion, &trace.nodes[1].motion, 250.0, 80.0);
        let near = changes.iter().zip(times).all(|(change, time)| (change.time - time).abs() < 0.02);
        assert!(changes.len() == 2 && near, "{name}: {changes:?}");
    }
}

/// Cars at places given by a function of the step; every car states 10 m/s.
fn cars(more: &str, place: impl Fn(f64) -> [f64; 2], seconds: f64) -> String {
    let step = |step: u32| {
        let [x, y] = place(f64::from(step));
        let time = f64::from(step) * seconds;
        format!("<timestep time=\"{time}\"><vehicle id=\"v\" x=\"{x:.6}\" y=\"{y:.6}\"{more}/></timestep>\n")
    };
    format!("<fcd-export>\n{}</fcd-export>\n", (0..20).map(step).collect::<String>())
}

fn fcd(text: &str, units: Units) -> Result<Trace, TraceError> {
    read(text.as_bytes(), Format::Fcd, units)
}

/// Distance from the first to the last place in metres.
fn way(trace: &Trace) -> f64 {
    let motion = &trace.nodes[0].motion;
    let [from, to] = [motion.origin(), motion.at(1e6)];
    (to[0] - from[0]).hypot(to[1] - from[1])
}

#[test]
fn units_that_contradict_stated_speeds_are_projected_or_refused() {
    let states = " speed=\"10\"";
    let none = Units::default();
    // 10 m/s eastwards in metres, in degrees at 52.5 degrees north, in kilometres and in milliseconds.
    let metres = cars(states, |step| [500.0 + 10.0 * step, 20.0], 1.0);
    let degrees = cars(states, |step| [13.4 + 0.000_147_73 * step, 52.5], 1.0);
    let kilometres = cars(states, |step| [0.5 + 0.01 * step, 0.02], 1.0);
    let milliseconds = cars(states, |step| [500.0 + 10.0 * step, 20.0], 1000.0);
    assert!((way(&fcd(&metres, none).unwrap()) - 190.0).abs() < 1e-6);
    assert!((way(&fcd(&degrees, none).unwrap()) - 190.0).abs() < 0.1);
    for text in [&kilometres, &milliseconds] {
        let error = fcd(text, none).expect_err(text);
        assert!(matches!(error.problem, TraceProblem::SpeedsContradict { .. }) && error.line == 2, "{error}");
        let remedies = ["coordinates = \"kilometres\"", "times = \"milliseconds\""];
        assert!(remedies.iter().all(|remedy| error.remedy().contains(remedy)), "{error}");
    }
    let stated = |coordinates, times| Units { coordinates, times };
    assert!(
        (way(&fcd(&kilometres, stated(Some(Coordinates::Kilometres), None)).unwrap()) - 190.0).abs() < 1e-6
    );
    let read = fcd(&milliseconds, stated(None, Some(Times::Milliseconds))).unwrap();
    assert!((read.nodes[0].motion.fastest() - 10.0).abs() < 1e-6);
    assert!((way(&fcd(&kilometres, stated(Some(Coordinates::Metres), None)).unwrap()) - 0.19).abs() < 1e-6);
    // Latitude first.
    let swapped = cars(states, |step| [52.5, 113.4 + 0.000_147_73 * step], 1.0);
    let error = fcd(&swapped, none).expect_err("latitude first");
    assert!(error.remedy().contains("\"lat-lon\""), "{error}");
    assert!((way(&fcd(&swapped, stated(Some(Coordinates::LatLon), None)).unwrap()) - 190.0).abs() < 0.1);
    // Speeds in km/h.
    let error = fcd(&cars(" speed=\"36\"", |step| [10.0 * step, 0.0], 1.0), none).expect_err("km/h");
    assert!(
        error.to_string().contains("36.0 m/s, but places in metres change by 10.0 m per second"),
        "{error}"
    );
    assert!(error.remedy().contains("\"metres\" if only the speeds are wrong"), "{error}");
}

#[test]
fn a_geographic_export_of_sumo_states_its_units() {
    let option =
        "<!-- generated by SUMO\n<configuration><fcd-output.geo value=\"true\"/></configuration>\n-->\n";
    let standing = cars(" speed=\"0\"", |_| [13.4, 52.5], 1.0)
        .replace("</timestep>", "<vehicle id=\"w\" x=\"14.4\" y=\"52.5\"/></timestep>");
    let trace = fcd(&format!("{option}{standing}"), Units::default()).unwrap();
    let [a, b] = [0, 1].map(|node: usize| trace.nodes[node].motion.at(5.0));
    assert!((b[0] - a[0] - 67_690.0).abs() < 10.0, "{a:?} {b:?}");
    // A file that states degrees and has metres is refused. Builds of SUMO whose projection fails write such
    // files.
    let metres = cars("", |step| [532_226.3 + step, 5_261_763.1], 1.0);
    let error = fcd(&format!("{option}{metres}"), Units::default()).expect_err("metres");
    assert!(error.found().contains("x 532226"), "{error}");
}

#[test]
fn implausible_motions_without_stated_speeds_are_refused() {
    let none = Units::default();
    let places = |step: f64, time: f64| {
        let place = |n: u32| format!("{} {} 52.5", f64::from(n) * time, 13.4 + f64::from(n) * step);
        (0..20).map(place).collect::<Vec<_>>().join(" ") + "\n"
    };
    let read = |text: &str, units| read(text.as_bytes(), BONNMOTION, units);
    let degrees = read(&places(0.000_147_73, 1.0), none).expect_err("degrees");
    assert!(matches!(degrees.problem, TraceProblem::ImplausiblySlow { .. }), "{degrees}");
    assert!(degrees.remedy().contains("\"lon-lat\""), "{degrees}");
    let lon_lat = Units { coordinates: Some(Coordinates::LonLat), times: None };
    assert!((way(&read(&places(0.000_147_73, 1.0), lon_lat).unwrap()) - 190.0).abs() < 0.1);
    let milliseconds = read(&places(10.0, 1000.0), none).expect_err("milliseconds");
    assert!(milliseconds.remedy().contains("times = \"milliseconds\""), "{milliseconds}");
    let fast = read(&places(5000.0, 1.0), none).expect_err("fast");
    assert!(fast.to_string().contains("a node moves at 5000 m/s, more than 1000 m/s"), "{fast}");
    let metres = Units { coordinates: Some(Coordinates::Metres), times: None };
    for text in [places(5000.0, 1.0), places(0.001, 1.0)] {
        assert!(read(&text, metres).is_ok(), "{text}");
    }
    assert!(read(&places(10.0, 1.0), none).is_ok());
    // Nodes that stand still, a tenth of a degree apart.
    let near = read("0 13.4 52.5\n0 13.45 52.5\n", none).expect_err("near");
    assert!(matches!(near.problem, TraceProblem::ImplausiblyNear { .. }), "{near}");
    assert!(read("0 13.4 52.5\n0 23.4 52.5\n", none).is_ok() && read("0 5 5\n", none).is_ok());
}

/// Scripts that sample a motion, as SUMO's traceExporter writes them, state a speed for every second.
#[test]
fn sampled_scripts_are_checked_against_their_speeds() {
    let sampled = |place: &dyn Fn(f64) -> [f64; 2], speed: f64| {
        let [x, y] = place(0.0);
        let mut text = format!("$node_(0) set X_ {x:.6}\n$node_(0) set Y_ {y:.6}\n");
        for step in 0..20 {
            let [x, y] = place(f64::from(step) + 1.0);
            writeln!(text, "$ns_ at {step}.0 \"$node_(0) setdest {x:.6} {y:.6} {speed}\"").unwrap();
        }
        text
    };
    let degrees = |step: f64| [13.4 + 0.000_147_73 * step, 52.5];
    let way_of = |text: &str, units| read(text.as_bytes(), Format::Setdest, units).map(|trace| way(&trace));
    let none = Units::default();
    assert!((way_of(&sampled(&|step| [10.0 * step, 0.0], 10.0), none).unwrap() - 200.0).abs() < 1e-6);
    let projected = read(sampled(&degrees, 10.0).as_bytes(), Format::Setdest, none).unwrap();
    assert!((way(&projected) - 200.0).abs() < 0.1);
    let halfway = projected.nodes[0].motion.at(10.5);
    assert!((halfway[0] - 105.0).abs() < 0.2, "{halfway:?}");
    let kilometres = sampled(&|step| [0.01 * step, 0.0], 10.0);
    let error = way_of(&kilometres, none).expect_err("kilometres");
    assert!(matches!(error.problem, TraceProblem::SpeedsContradict { .. }), "{error}");
    let unit = |coordinates| Units { coordinates: Some(coordinates), times: None };
    assert!((way_of(&kilometres, unit(Coordinates::Kilometres)).unwrap() - 200.0).abs() < 1e-6);
    // Speeds in degrees per second, as a conversion from such places computes them.
    let own = sampled(&degrees, 0.000_147_73);
    let error = way_of(&own, none).expect_err("degrees a second");
    assert!(matches!(error.problem, TraceProblem::ImplausiblySlow { .. }), "{error}");
    assert!((way_of(&own, unit(Coordinates::LonLat)).unwrap() - 200.0).abs() < 0.1);
    // Scripts by hand have pauses and high speeds, which is no contradiction.
    let people = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$ns_ at 1 \"$node_(0) setdest 50 0 3000\"\n\
                  $ns_ at 500 \"$node_(0) setdest 0 0 1\"\n";
    assert!(way_of(people, none).is_ok());
}

/// A scenario with a motion file whose numbers do not begin with 0, and the remedies of messages.
#[test]
fn numbers_that_do_not_begin_with_zero_are_read_or_have_a_remedy() {
    let scenario = |more: &str| {
        format!(
            "duration = \"5 s\"\n[topology]\nnodes = []\n[routing]\nprotocol = \"aodv\"\n[mobility]\nmodel = \"setdest\"\n\
             file = \"forms.tcl\"\n{more}\n[[flows]]\nfrom = \"m0\"\nto = \"m1\"\nscheme = \"udp\"\n"
        )
    };
    let origin = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/x.toml");
    let nodes = |more: &str| {
        resolve(&scenario(more), origin, &Overrides::default()).map(|made| made.config.topology.nodes.len())
    };
    assert_eq!(nodes("count = 3").unwrap(), 3);
    let few = nodes("count = 2").unwrap_err();
    assert!(few.to_string().ends_with("; set mobility.count = 3, or take the node out of the file"), "{few}");
    let first = nodes("count = 3\nfirst_node = 0").unwrap_err();
    assert!(first.remedy().starts_with("set mobility.first_node = 4,"), "{first}");
    assert_eq!(nodes("count = 3\nfirst_node = 4").unwrap(), 3);
    let both = nodes("count = 2\nfirst_node = 0").unwrap_err();
    assert!(both.remedy().starts_with("set mobility.count = 3 and leave out mobility.first_node"), "{both}");
    assert!(
        matches!(&*nodes("count = 4").unwrap_err().problem, problem if *problem == MobilityProblem::NoPosition { node: "m3".into() }.into())
    );
}
