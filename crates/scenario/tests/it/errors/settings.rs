//! Options of the command line that replace values, and `--set`.

use super::{SOUND, message};
use multihop_scenario::{Overrides, Setting, resolve};

#[test]
fn broken_overrides_name_their_option() {
    let text = |value: &str| Some(value.to_owned());
    let cases = [
        (
            Overrides { duration: text("60"), ..Overrides::default() },
            "--duration: \"60\" has no unit; expected a time",
        ),
        (
            Overrides { duration: text("0 s"), ..Overrides::default() },
            "--duration: 0 s is out of range; give a value",
        ),
        (Overrides { duration: text(""), ..Overrides::default() }, "--duration: \"\" has no number"),
        (
            Overrides { warmup: text("3 h"), ..Overrides::default() },
            "--warmup: 3 h is not shorter than the duration",
        ),
        (
            Overrides { duration: text("10 s"), ..Overrides::default() },
            "case.toml:4: warmup: \"20 s\" is not shorter than the duration of 10 s",
        ),
        (
            Overrides { record_interval: text("1 ns"), ..Overrides::default() },
            "--record-interval: 1 ns makes",
        ),
        (
            Overrides { scheme: text("recm"), ..Overrides::default() },
            "--scheme: recm is not a scheme; did you mean \"recn\"?",
        ),
    ];
    for (overrides, expected) in cases {
        let message = message(SOUND, &overrides);
        assert!(message.starts_with(expected), "expected {expected}\n  got      {message}");
    }
}

/// Settings of [`SOUND`], separated by ` & `, and the start of the message.
const BROKEN_SETTINGS: &str = r#"
topology.hops = 0 & topology.generator = "chain" -> case.toml:34: topology.nodes: there are a generator and a list of nodes; remove
topology = { generator = "chain", hops = 0 } -> --set topology: topology.hops: 0 is out of range; give a value from 1
topology = { generator = "chain", hops = 3 } & topology.hops = "five" -> --set topology.hops: found the text "five"; expected
topology = { generator = "chain", hops = 3 } & topology.hop = 5 -> --set topology.hop: unknown key; did you mean "hops"?
mac.queue = 0 -> --set mac.queue: 0 is out of range
mac.queue = 50.5 -> --set mac.queue: found the number 50.5; expected a whole number
duration = "60" -> --set duration: "60" has no unit; expected a time
duration = "10 s" -> case.toml:4: warmup: "20 s" is not shorter than the duration of 10 s
warmup = "3 h" -> --set warmup: "3 h" is not shorter than the duration
traffic.flows = 3 -> --set traffic.flows: traffic.pattern: missing; add it
flows[1].to = "x" -> --set flows[1].to: "x" is not a node
flows[*].stop = "1 s" -> --set flows[*].stop: flows[0].stop: "1 s"
flows.length = 1 & flows[0].stop = "1 s" -> --set flows[0].stop: "1 s"
flows.length = 0 -> case.toml:52: flows: the scenario has no flows
flows.length = 3 -> --set flows.length: 3 entries are wanted, but the list has 2; give
flows.length = -1 -> --set flows.length: the length of a list is a whole number; give
flows.length = "1" -> --set flows.length: the length of a list is a whole number; give
flows[2].start = "1 s" -> --set flows[2].start: flows[2]: there is no such entry; the list has 2; count from 0
flows.start = "1 s" -> --set flows.start: flows: found a value of the kind array, not a table; correct
topology[0].name = "a" -> --set topology[0].name: topology: found a value of the kind table, not a list; correct
mac.queue.limit = 5 -> --set mac.queue.limit: mac.queue: found a value of the kind integer, not a table; correct
nodes[0].name = "a" -> --set nodes[0].name: nodes: there is no such list; set the whole list
routing.hold[*] = "a" -> --set routing.hold[*]: routing.hold: found a value of the kind string, not a list; correct
flows = [] & flows[*].start = "1 s" -> --set flows[*].start: flows: the list is empty; set the whole list
flows[*] = 5 -> --set flows[*]: flows[0]: found the number 5; expected a table
schemes.recn-strict.threshold = inf -> --set schemes.recn-strict.threshold: inf is not a finite number; write a number
schemes.recn-strict.treshold = 0.5 -> --set schemes.recn-strict.treshold: unknown parameter of recn; did you mean "threshold"?
flow.length = 5 -> --set flow.length: flow: unknown key; did you mean "flows"?
seed = 7 -> --set seed: seeds are not set by --set; give --seed
scheme = "recn" -> --set scheme: not a key of scenarios; give --scheme
mac..queue = 5 -> --set mac..queue: not a path to a key; write
 = 5 -> --set : set: not a path to a key; write
mac.queue = -> --set mac.queue: not valid TOML: 
mac.queue = 5\nother = 6 -> --set mac.queue: there is not exactly one value; give a TOML document
"#;

#[test]
fn broken_settings_name_their_path() {
    for case in BROKEN_SETTINGS.trim_matches('\n').lines() {
        let (settings, expected) = case.split_once(" -> ").or_else(|| case.split_once("-> ")).expect(case);
        let set = settings.split(" & ").map(|setting| {
            let (path, value) = setting.split_once(" =").expect(case);
            Setting { path: path.into(), value: format!("value = {}", value.trim()).replace("\\n", "\n") }
        });
        let message = message(SOUND, &Overrides { set: set.collect(), ..Overrides::default() });
        assert!(message.starts_with(expected), "{case}\n  got      {message}");
        assert!(message.contains("; ") && !message.contains('\n'), "{message:?}");
    }
}

#[test]
fn a_key_given_by_a_setting_and_an_option_is_refused() {
    let set = vec![Setting { path: "warmup".into(), value: "value = \"2 s\"".into() }];
    let message = message(SOUND, &Overrides { warmup: Some("1 s".into()), set, ..Overrides::default() });
    assert!(message.starts_with("--set warmup: given twice; remove --warmup"), "{message}");
}

/// If an option makes the run too short for the file's values, the message names the option that corrects it.
#[test]
fn messages_about_a_shorter_run_name_the_options_to_change() {
    let text = "duration = \"10 s\"\nwarmup = \"5 s\"\n[topology]\ngenerator = \"chain\"\nhops = 1\n[[flows]]\n\
                from = \"n0\"\nto = \"n1\"\nscheme = \"udp\"\nstart = \"2 s\"\n";
    let shorter = |duration: &str| Overrides { duration: Some(duration.into()), ..Overrides::default() };
    let said = |text: &str, overrides: &Overrides| {
        resolve(text, "x.toml", overrides).err().expect("refused").to_string()
    };
    let warmup = said(text, &shorter("3 s"));
    assert!(
        warmup.contains("the duration of 3 s (--duration)") && warmup.contains("--warmup \"300 ms\""),
        "{warmup}"
    );
    let step = said(&text.replace("warmup = \"5 s\"", "record_interval = \"5 s\""), &shorter("3 s"));
    assert!(step.contains("such as --record-interval \"300 ms\""), "{step}");
    let start = said(&text.replace("warmup = \"5 s\"\n", ""), &shorter("1 s"));
    assert!(start.contains("such as --set 'flows[0].start=\"0 s\"', or run for longer"), "{start}");
    let set = Overrides {
        set: vec![Setting { path: "duration".into(), value: "value = \"3 s\"".into() }],
        ..Overrides::default()
    };
    let by_set = said(text, &set);
    assert!(by_set.contains("such as --set 'warmup=\"300 ms\"'"), "{by_set}");
    let in_file = said(&text.replace("10 s", "3 s"), &Overrides::default());
    assert!(
        in_file.ends_with("the duration of 3 s; give a shorter warm-up, or a longer duration"),
        "{in_file}"
    );
}
