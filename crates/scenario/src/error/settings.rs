//! Problems with `--set` and with edits.

use super::problems;

problems! {
    /// Problem with a setting.
    SettingProblem:

    NoPath =>
        "not a path to a key";
        "write a path as messages show it, such as topology.hops, flows[0].start or flows[*].scheme";
    Seed =>
        "seeds are not set by --set";
        "give --seed (seed= in Python)";
    Scheme =>
        "not a key of scenarios";
        "give --scheme (scheme= in Python), or set flows[*].scheme or traffic.scheme";
    Twice { option: String } =>
        "given twice";
        "remove {option}, which replaces the same key, or this";
    NoToml { message: String } =>
        "not valid TOML: {message}";
        "give a TOML document with the one key value, such as value = 5";
    NotOne =>
        "there is not exactly one value";
        "give a TOML document with the one key value, such as value = 5";

    // Value at the path.
    NoTable { kind: &'static str } =>
        "found a value of the kind {kind}, not a table";
        "correct the path, or set this key as a whole";
    NotList { kind: &'static str } =>
        "found a value of the kind {kind}, not a list";
        "correct the path, or set this key as a whole";
    NoList =>
        "there is no such list";
        "set the whole list";
    NoEntry { length: usize } =>
        "there is no such entry; the list has {length}";
        "count from 0, or set the whole list";
    NoEntries =>
        "the list is empty";
        "set the whole list";
    NoName { pattern: String } =>
        "no entry of the list has a name like {pattern:?}";
        "correct the name; * matches any text";
    NoLength =>
        "the length of a list is a whole number";
        "give how many entries of the list to keep: a whole number, not negative";
    TooLong { wanted: usize, length: usize } =>
        "{wanted} entries are wanted, but the list has {length}";
        "give at most that many, or set the whole list";
}

problems! {
    /// Problem with an edit of a scenario's text.
    EditProblem:

    NoToml { message: String } =>
        "{message}";
        "correct the text";
    NoPath =>
        "not a path to a key";
        "write it as messages show it";
    ThroughValue =>
        "the path leads through a value";
        "correct the path, or set the whole key";
    NoTomlValue =>
        "the new value is not TOML";
        "write a TOML value";

    // Topologies and flows that a list cannot express.
    Wires =>
        "the generator makes wires";
        "list the nodes by hand";
    Radios =>
        "nodes have several radios, or channels of their own";
        "list the nodes by hand";
    Motion =>
        "nodes move";
        "list the nodes by hand";
    FlowsDiffer { key: &'static str } =>
        "flows of a pattern with {key} differ";
        "list them by hand";
    InlineFlows =>
        "flows are not listed as [[flows]]";
        "list them by hand";
}
