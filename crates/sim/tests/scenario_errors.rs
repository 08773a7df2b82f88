//! Broken scenarios: each gives one message that names file, line, key, what was found, and what would do.

use multihop_sim::scenario::{Overrides, resolve};

/// A sound scenario to break, one key a line.
const SOUND: &str = r#"name = "sound"
seed = 1
duration = "100 s"
warmup = "20 s"
record_interval = "1 s"
[phy]
standard = "802.11b"
preamble = "long"
data_rate = "11 Mb/s"
control_rate = "1 Mb/s"
slot = "20 us"
sifs = "10 us"
cw_min = 31
cw_max = 1023
[mac]
rules = "ieee"
rts_threshold = "off"
short_retry_limit = 7
long_retry_limit = "none"
queue = 50
[mac.override]
eifs = "never"
data_header = "34 B"
link_layer_delay = "25 us"
[medium]
model = "ranges"
propagation_delay = "1 us"
bit_error_rate = 0
packet_error_rate = 0.01
receive_range = "250 m"
carrier_sense_range = "550 m"
capture = "10 dB"
[topology]
nodes = [
  { name = "a", position = ["0 m", "0 m"] },
  { name = "b", position = ["200 m", "0 m"] },
  { name = "c", position = ["400 m", "0 m"] },
  { name = "far", position = ["9 km", "0 m"] },
]
[routing]
metric = "hops"
on_link_failure = "break"
failures = 2
hold = "10 s"
[network]
extra_header = "20 B"
[schemes.tcp-newreno]
segment_size = 1000
[schemes.recn-strict]
base = "recn"
threshold = 0.8
[[flows]]
name = "one"
from = "a"
to = "c"
scheme = "tcp-newreno"
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 }
start = "1 s"
start_jitter = "1 s"
stop = "90 s"
[[flows]]
from = "b"
to = "c"
scheme = "recn-strict"
app = { kind = "transfers", size = "1 MB", pause = "2 s", distribution = "exponential", count = 3 }
"#;

fn message(text: &str, overrides: &Overrides) -> String {
    match resolve(text, "case.toml", overrides) {
        Ok(_) => "no error".into(),
        Err(error) => error.to_string(),
    }
}

/// Checks that breaking a line of `text` gives a message at that line with `key`, and with all `parts`.
fn check(text: &str, sound: &str, broken: &str, key: &str, parts: &[&str]) {
    assert_eq!(text.matches(sound).count(), 1, "{sound:?} is not in the scenario once");
    let line = 1 + text[..text.find(sound).unwrap()].matches('\n').count();
    let message = message(&text.replacen(sound, broken, 1), &Overrides::default());
    let start = format!("case.toml:{line}: {key}: ");
    assert!(message.starts_with(&start), "{broken:?}:\n  expected {start}\n  got      {message}");
    assert!(
        !message.contains('\n') && message.contains("; "),
        "{broken:?}: {message:?} has not the form of a message"
    );
    for part in parts {
        assert!(message.contains(part), "{broken:?}:\n  expected {part}\n  in       {message}");
    }
}

#[test]
fn the_scenario_to_break_is_sound() {
    assert_eq!(message(SOUND, &Overrides::default()), "no error");
}

#[test]
fn broken_values() {
    let cases: &[(&str, &str, &str, &[&str])] = &[
        ("seed = 1", "seed = -1", "seed", &["-1", "whole number, not negative"]),
        ("seed = 1", "seed = 99999999999999999999999", "seed", &["does not fit", "64 bits"]),
        ("duration = \"100 s\"", "duration = 100", "duration", &["number 100", "text with a unit"]),
        ("duration = \"100 s\"", "duration = \"100\"", "duration", &["\"100\" has no unit", "ms"]),
        ("duration = \"100 s\"", "duration = \"100 m\"", "duration", &["\"m\"", "not a unit of a time"]),
        ("duration = \"100 s\"", "duration = \"0 s\"", "duration", &["\"0 s\" is out of range", "from 1 ns"]),
        ("duration = \"100 s\"", "duration = \"-5 s\"", "duration", &["\"-5 s\" is out of range"]),
        ("duration = \"100 s\"", "duration = \"1e30 s\"", "duration", &["\"1e30 s\"", "100 years"]),
        ("duration = \"100 s\"", "duration = \"nan s\"", "duration", &["no number"]),
        ("duration = \"100 s\"", "duration = \"1e999 s\"", "duration", &["not a finite number"]),
        ("duration = \"100 s\"", "duration = [\"100 s\"]", "duration", &["a list", "a time"]),
        (
            "warmup = \"20 s\"",
            "warmup = \"100 s\"",
            "warmup",
            &["\"100 s\" leaves nothing", "shorter warm-up"],
        ),
        (
            "record_interval = \"1 s\"",
            "record_interval = \"1 us\"",
            "record_interval",
            &["rows", "give at least 200"],
        ),
        ("record_interval = \"1 s\"", "record_interval = \"0 s\"", "record_interval", &["out of range"]),
        (
            "record_interval = \"1 s\"",
            "record_interval = \"2 h\"",
            "record_interval",
            &["longer than the run"],
        ),
        ("standard = \"802.11b\"", "standard = \"802.11n\"", "phy.standard", &["802.11n", "dsss, 802.11b"]),
        ("standard = \"802.11b\"", "standard = 11", "phy.standard", &["integer", "dsss, 802.11b"]),
        ("preamble = \"long\"", "preamble = \"shrot\"", "phy.preamble", &["did you mean \"short\"?"]),
        (
            "data_rate = \"11 Mb/s\"",
            "data_rate = \"12 Mb/s\"",
            "phy.data_rate",
            &["\"12 Mb/s\" is not a rate", "5.5 Mb/s, 11 Mb/s"],
        ),
        (
            "data_rate = \"11 Mb/s\"",
            "data_rate = \"-2 Mb/s\"",
            "phy.data_rate",
            &["\"-2 Mb/s\"", "its rates"],
        ),
        (
            "control_rate = \"1 Mb/s\"",
            "control_rate = \"6 Mb/s\"",
            "phy.control_rate",
            &["\"802.11b\"", "1 Mb/s, 2 Mb/s"],
        ),
        ("slot = \"20 us\"", "slot = \"0 us\"", "phy.slot", &["\"0 us\"", "100 ns"]),
        ("sifs = \"10 us\"", "sifs = \"1 s\"", "phy.sifs", &["\"1 s\"", "10 ms"]),
        ("cw_min = 31", "cw_min = 0", "phy.cw_min", &["0 is out of range", "from 1"]),
        ("cw_min = 31", "cw_min = 2047", "phy.cw_min", &["cw_min 2047 is above cw_max 1023"]),
        ("cw_max = 1023", "cw_max = 1000000", "phy.cw_max", &["65535"]),
        ("rules = \"ieee\"", "rules = \"ns3\"", "mac.rules", &["\"ns3\"", "did you mean \"ns2\"?", "ieee"]),
        ("rts_threshold = \"off\"", "rts_threshold = 500", "mac.rts_threshold", &["500", "\"off\"", "B, kB"]),
        (
            "rts_threshold = \"off\"",
            "rts_threshold = \"never\"",
            "mac.rts_threshold",
            &["never", "or \"off\""],
        ),
        (
            "rts_threshold = \"off\"",
            "rts_threshold = \"1 MB\"",
            "mac.rts_threshold",
            &["\"1 MB\"", "65535 B"],
        ),
        (
            "short_retry_limit = 7",
            "short_retry_limit = 0",
            "mac.short_retry_limit",
            &["0", "1 to 255", "none"],
        ),
        (
            "long_retry_limit = \"none\"",
            "long_retry_limit = \"nine\"",
            "mac.long_retry_limit",
            &["nine", "\"none\""],
        ),
        ("queue = 50", "queue = 0", "mac.queue", &["0 is out of range", "1000000"]),
        ("queue = 50", "queue = 5.5", "mac.queue", &["5.5", "whole number"]),
        ("queue = 50", "queu = 50", "mac.queu", &["unknown key", "did you mean \"queue\"?"]),
        ("eifs = \"never\"", "eifs = \"nav\"", "mac.override.eifs", &["until-correct-frame, as-nav, never"]),
        ("eifs = \"never\"", "eif = \"never\"", "mac.override.eif", &["did you mean \"eifs\"?"]),
        (
            "eifs = \"never\"",
            "response_propagation = \"1 us\"",
            "mac.override.response_propagation",
            &["first-bit"],
        ),
        ("data_header = \"34 B\"", "data_header = \"1 kB\"", "mac.override.data_header", &["256 B"]),
        (
            "link_layer_delay = \"25 us\"",
            "link_layer_delay = \"-1 us\"",
            "mac.override.link_layer_delay",
            &["\"-1 us\""],
        ),
        (
            "model = \"ranges\"",
            "model = \"range\"",
            "medium.model",
            &["did you mean \"ranges\"?", "sinr, matrix"],
        ),
        ("model = \"ranges\"", "model = 3", "medium.model", &["integer", "ranges, sinr, matrix"]),
        (
            "propagation_delay = \"1 us\"",
            "propagation_delay = \"2 s\"",
            "medium.propagation_delay",
            &["1 ms"],
        ),
        ("bit_error_rate = 0", "bit_error_rate = 1.5", "medium.bit_error_rate", &["1.5", "from 0 to 1"]),
        ("bit_error_rate = 0", "bit_error_rate = nan", "medium.bit_error_rate", &["nan is out of range"]),
        ("packet_error_rate = 0.01", "packet_error_rate = -inf", "medium.packet_error_rate", &["-inf"]),
        ("receive_range = \"250 m\"", "receive_range = \"0 m\"", "medium.receive_range", &["0.01 m"]),
        (
            "carrier_sense_range = \"550 m\"",
            "carrier_sense_range = \"100 m\"",
            "medium.carrier_sense_range",
            &["below receive_range 250 m"],
        ),
        ("capture = \"10 dB\"", "capture = \"-3 dB\"", "medium.capture", &["\"-3 dB\"", "off"]),
        ("capture = \"10 dB\"", "capture = \"10 dBm\"", "medium.capture", &["dBm", "dB"]),
        ("capture = \"10 dB\"", "noise = \"-90 dBm\"", "medium.noise", &["unknown key", "receive_range"]),
        (
            "capture = \"10 dB\"",
            "path_loss = { model = \"logdistance\" }",
            "medium.path_loss.model",
            &["did you mean \"log-distance\"?"],
        ),
        (
            "capture = \"10 dB\"",
            "path_loss = { exponent = 3 }",
            "medium.path_loss.model",
            &["missing", "two-ray, log-distance"],
        ),
        (
            "capture = \"10 dB\"",
            "path_loss = { model = \"log-distance\", exponent = 0 }",
            "medium.path_loss.exponent",
            &["0.1 to 10"],
        ),
        (
            "capture = \"10 dB\"",
            "path_loss = \"two-ray\"",
            "medium.path_loss",
            &["string", "a table such as { model ="],
        ),
        (
            "name = \"b\"",
            "name = \"a\"",
            "topology.nodes[1].name",
            &["\"a\" is already the name of topology.nodes[0]"],
        ),
        ("name = \"b\"", "name = \" \"", "topology.nodes[1].name", &["empty name"]),
        ("[\"200 m\", \"0 m\"]", "[\"200 m\"]", "topology.nodes[1].position", &["list of 1", "two"]),
        (
            "[\"200 m\", \"0 m\"]",
            "[\"200 m\", 0]",
            "topology.nodes[1].position[1]",
            &["number 0", "a length"],
        ),
        ("[\"200 m\", \"0 m\"]", "[\"200 m\", \"1e9 km\"]", "topology.nodes[1].position[1]", &["10000 km"]),
        (
            "[\"200 m\", \"0 m\"]",
            "[\"-0 m\", \"0 m\"]",
            "topology.nodes[1].position",
            &["is where \"a\" stands"],
        ),
        (
            "{ name = \"b\", position = [\"200 m\", \"0 m\"] }",
            "{ name = \"b\" }",
            "topology.nodes[1].position",
            &["\"b\" has no position", "matrix"],
        ),
        (
            "{ name = \"b\", position = [\"200 m\", \"0 m\"] }",
            "{ position = [\"200 m\", \"0 m\"] }",
            "topology.nodes[1].name",
            &["missing"],
        ),
        ("metric = \"hops\"", "metric = \"ett\"", "routing.metric", &["did you mean \"etx\"?"]),
        ("failures = 2", "failures = 0", "routing.failures", &["1 to 1000"]),
        ("hold = \"10 s\"", "hold = \"10 kg\"", "routing.hold", &["kg"]),
        ("extra_header = \"20 B\"", "extra_header = \"2 kB\"", "network.extra_header", &["1500 B"]),
        (
            "segment_size = 1000",
            "segment_size = 0",
            "schemes.tcp-newreno.segment_size",
            &["segment_size is 0", "between 1 and"],
        ),
        (
            "segment_size = 1000",
            "segment_size = 4000",
            "schemes.tcp-newreno.segment_size",
            &["4000 B", "2304 B", "ns2"],
        ),
        (
            "segment_size = 1000",
            "segmentsize = 1000",
            "schemes.tcp-newreno.segmentsize",
            &["did you mean \"segment_size\"?"],
        ),
        (
            "[schemes.tcp-newreno]",
            "[schemes.tcp-newrino]",
            "schemes.tcp-newrino",
            &["did you mean \"tcp-newreno\"?", "base"],
        ),
        (
            "base = \"recn\"",
            "base = \"recm\"",
            "schemes.recn-strict.base",
            &["\"recm\" is not a scheme", "did you mean \"recn\"?"],
        ),
        (
            "threshold = 0.8",
            "threshold = 2",
            "schemes.recn-strict.threshold",
            &["threshold is 2", "between 0 and 1"],
        ),
        ("threshold = 0.8", "threshold = 2026-01-01", "schemes.recn-strict.threshold", &["date"]),
        ("name = \"one\"", "name = \"\"", "flows[0].name", &["empty name"]),
        (
            "from = \"a\"",
            "from = \"aa\"",
            "flows[0].from",
            &["\"aa\" is not a node", "did you mean \"a\"?", "far"],
        ),
        (
            "from = \"a\"",
            "from = \"far\"",
            "flows",
            &["no path", "far is in a component of 1 node (far)", "c is in a component of 3 nodes (a, b, c)"],
        ),
        ("from = \"a\"", "from = \"c\"", "flows[0].to", &["from \"c\" to itself"]),
        (
            "scheme = \"tcp-newreno\"",
            "scheme = \"tcp-vegas\"",
            "flows[0].scheme",
            &["\"tcp-vegas\" is not a scheme", "known: ", "recn-strict"],
        ),
        (
            "scheme = \"tcp-newreno\"",
            "scheme = \"TCP-NewReno\"",
            "flows[0].scheme",
            &["did you mean \"tcp-newreno\"?"],
        ),
        ("kind = \"cbr\"", "kind = \"crb\"", "flows[0].app.kind", &["did you mean \"cbr\"?"]),
        ("rate = \"500 kb/s\"", "rate = \"500 kbps\"", "flows[0].app.rate", &["kbps", "kb/s"]),
        ("rate = \"500 kb/s\"", "rate = \"0 b/s\"", "flows[0].app.rate", &["1 b/s"]),
        (
            "rate = \"500 kb/s\", packet = \"1000 B\"",
            "rate = \"100 Gb/s\", packet = \"1 B\"",
            "flows[0].app.rate",
            &["interval of", "nanoseconds"],
        ),
        ("packet = \"1000 B\"", "packet = \"70 kB\"", "flows[0].app.packet", &["65507 B"]),
        ("packet = \"1000 B\", ", "", "flows[0].app.packet", &["missing", "for example packet ="]),
        ("jitter = 0.5", "jitter = 2", "flows[0].app.jitter", &["from 0 to 1"]),
        ("start = \"1 s\"", "start = \"100 s\"", "flows[0].start_jitter", &["the run of"]),
        (
            "start_jitter = \"1 s\"",
            "start_jitter = \"-1 s\"",
            "flows[0].start_jitter",
            &["\"-1 s\" is out of range"],
        ),
        (
            "stop = \"90 s\"",
            "stop = \"2 s\"",
            "flows[0].stop",
            &["\"2 s\" is not after the start", "2 s at the latest"],
        ),
        ("size = \"1 MB\"", "size = \"0 B\"", "flows[1].app.size", &["1 B"]),
        (
            "distribution = \"exponential\"",
            "distribution = \"pareto\"",
            "flows[1].app.distribution",
            &["constant, exponential"],
        ),
        ("count = 3", "count = 0", "flows[1].app.count", &["at least 1"]),
        ("pause = \"2 s\"", "paus = \"2 s\"", "flows[1].app.paus", &["did you mean \"pause\"?"]),
    ];
    for (sound, broken, key, parts) in cases {
        let moved = ["flows[0].start_jitter", "flows", "flows[0].to"];
        if moved.contains(key) && !sound.contains("jitter") {
            continue; // the message is at another line than the change: see below
        }
        check(SOUND, sound, broken, key, parts);
    }
}
