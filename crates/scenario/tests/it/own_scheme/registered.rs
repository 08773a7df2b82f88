//! What the page says of taking the scheme into the registry, done to a copy of the crates.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = include_str!("../../../../../docs/tutorials/own-scheme.md");
const SCHEME: &str = include_str!("queue_price.rs");

/// Files by their paths.
type Files = BTreeMap<PathBuf, String>;

/// Each line of the page has one place where it goes.
#[test]
fn the_page_registers_a_scheme_by_two_lines() {
    with_the_scheme();
}

/// The tests of the registry with one scheme more, and the fuzzing of that one. By itself the scheme is
/// compiled and tested beside this.
#[test]
#[ignore = "compiles the crates once more"]
fn a_copied_file_and_the_lines_of_the_page_register_it() {
    let files = with_the_scheme();
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-scheme");
    write(&copy, &renamed(files));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--locked", "-p", "multihop-schemes", "--lib", "--test", "it", "--"]);
    cargo.args(["fuzz::", "registry::", "wiring::", "queue_price::"]);
    cargo.env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "0").env("FUZZ_SCHEME", "queue-price");
    let output = cargo.current_dir(&copy).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // Lints make errors of these, such as of an import that tests alone use.
    assert!(!said.contains("warning:"), "{said}");
    for passed in ["queue_price::tests::", "registry::tests::every_entry", "every_scheme_delivers_everything"]
    {
        let ran = |line: &str| line.contains(passed) && line.ends_with("... ok");
        assert!(said.lines().any(ran), "{passed} did not run: {said}");
    }
}

/// The crates with the scheme as a file of theirs, and with the lines of the page.
fn with_the_scheme() -> Files {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Files::new();
    collect(&root, Path::new("crates"), &mut files);
    for name in ["Cargo.toml", "Cargo.lock"] {
        files.insert(name.into(), fs::read_to_string(root.join(name)).unwrap());
    }
    files.get_mut(Path::new("Cargo.toml")).unwrap().push_str(&quickly_compiled());
    files.insert("crates/schemes/src/queue_price.rs".into(), SCHEME.into());
    let lines = apply(PAGE, &mut files);
    assert_eq!(lines, 2, "the page speaks of two lines");
    files
}

/// Profiles by which the copied crates are compiled for one short run; what they depend on stays as it was
/// compiled already.
fn quickly_compiled() -> String {
    let crates = ["core", "dot11", "link", "transport", "schemes"];
    crates
        .map(|name| format!("\n[profile.test.package.multihop-{name}]\nopt-level = 0\ndebug = 0\n"))
        .concat()
}

/// All text files of a folder.
fn collect(root: &Path, folder: &Path, files: &mut Files) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            collect(root, &path, files);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            files.insert(path, text);
        }
    }
}

/// Applies the page's `diff`: a line with a file, one that is there, and one to be added after it. Returns
/// how many were added.
fn apply(page: &str, files: &mut Files) -> usize {
    let (_, rest) = page.split_once("```diff\n").expect("the page has a diff");
    let (diff, _) = rest.split_once("```").expect("which ends");
    let (mut file, mut after, mut added) = (PathBuf::new(), "", 0);
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("+++ ") {
            file = name.into();
        } else if let Some(there) = line.strip_prefix(' ') {
            after = there;
        } else if let Some(new) = line.strip_prefix('+') {
            let text = files.get_mut(&file).unwrap_or_else(|| panic!("there is no {}", file.display()));
            let found = format!("\n{after}\n");
            assert_eq!(text.matches(&found).count(), 1, "{after:?} in {}", file.display());
            *text = text.replace(&found, &format!("{found}{new}\n"));
            added += 1;
        }
    }
    added
}

/// With another name for the folder of the crates. Cargo tells crates of two workspaces in one target folder
/// apart by their places within each: under the same name, these would be compiled in turn with the others,
/// again and again.
fn renamed(files: Files) -> Files {
    let rename = |(path, text): (PathBuf, String)| match path.strip_prefix("crates") {
        Ok(rest) => (Path::new("copied").join(rest), text),
        Err(_) => (path, text.replace("crates/", "copied/")),
    };
    files.into_iter().map(rename).collect()
}

/// Makes the folder hold these files and no others. What is as it was stays untouched, so that it is not
/// compiled again.
fn write(folder: &Path, files: &Files) {
    let mut there = Files::new();
    fs::create_dir_all(folder).unwrap();
    collect(folder, Path::new(""), &mut there);
    for path in there.keys().filter(|path| !files.contains_key(*path)) {
        fs::remove_file(folder.join(path)).unwrap();
    }
    for (path, text) in files.iter().filter(|(path, text)| there.get(*path) != Some(*text)) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
