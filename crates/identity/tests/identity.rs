//! Changes that alter the identity of a build, and changes that do not, on a sample workspace; and that the
//! sources of this workspace are all included.

use multihop_identity::{identity, parts};
use std::fs;
use std::path::{Path, PathBuf};

/// Workspace of an engine, a library that it uses, and a tool that it does not use.
const FILES: [(&str, &str); 11] = [
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\n[workspace.package]\nversion = \"1.0.0\"\nedition = \"2024\"\n\
         [workspace.dependencies]\nlibrary = { path = \"crates/library\" }\nhash = \"1.2\"\nprobe = \"3\"\n\
         [workspace.lints.rust]\nmissing_docs = \"deny\"\n[profile.release]\nlto = \"thin\"\n",
    ),
    (
        "Cargo.lock",
        "version = 4\n\
         [[package]]\nname = \"deep\"\nversion = \"0.1.0\"\nchecksum = \"d1\"\n\
         [[package]]\nname = \"deep\"\nversion = \"0.2.0\"\nchecksum = \"d2\"\n\
         [[package]]\nname = \"engine\"\nversion = \"1.0.0\"\ndependencies = [\"library\"]\n\
         [[package]]\nname = \"hash\"\nversion = \"1.2.3\"\nchecksum = \"h1\"\ndependencies = [\"deep 0.2.0\"]\n\
         [[package]]\nname = \"library\"\nversion = \"1.0.0\"\ndependencies = [\"hash\", \"probe\"]\n\
         [[package]]\nname = \"probe\"\nversion = \"3.0.0\"\nchecksum = \"p1\"\n\
         [[package]]\nname = \"tool\"\nversion = \"1.0.0\"\n",
    ),
    ("crates/engine/Cargo.toml", "[package]\nname = \"engine\"\n[dependencies]\nlibrary.workspace = true\n"),
    ("crates/engine/src/lib.rs", "//! Runs.\n"),
    (
        "crates/library/Cargo.toml",
        "[package]\nname = \"library\"\n[dependencies]\nhash.workspace = true\n[dev-dependencies]\nprobe.workspace = true\n",
    ),
    ("crates/library/src/lib.rs", "mod reno;\n#[cfg(test)]\nmod tests;\n"),
    ("crates/library/src/reno/mod.rs", "const INCREASE: f64 = 1.0;\n"),
    ("crates/library/src/tests.rs", "// a test\n"),
    ("crates/library/tests/whole.rs", "// a test\n"),
    ("crates/tool/Cargo.toml", "[package]\nname = \"tool\"\n"),
    ("crates/tool/src/main.rs", "fn main() {}\n"),
];

/// Folder that is removed when the value is dropped.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("multihop-identity-{}-{name}", std::process::id()));
        let tree = Self(root);
        for (path, text) in FILES {
            tree.write(path, text);
        }
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("is below the root")).expect("a temporary folder");
        fs::write(path, text).expect("a temporary file");
    }

    /// Replaces a text that must be present.
    fn replace(&self, path: &str, old: &str, new: &str) {
        let text = fs::read_to_string(self.0.join(path)).expect("is there");
        assert!(text.contains(old), "{path} has no {old}");
        self.write(path, &text.replace(old, new));
    }

    fn identity(&self) -> String {
        identity(&self.0, "crates/engine").expect("a workspace")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Change to the workspace.
type Change<'a> = (&'a str, &'a dyn Fn(&Tree));

#[test]
fn every_edit_of_what_the_engine_is_made_of_is_another_name() {
    let reno = "crates/library/src/reno/mod.rs";
    let changes: [Change; 11] = [
        ("edit A", &|tree| tree.replace(reno, "1.0", "2.0")),
        ("edit B", &|tree| tree.replace(reno, "1.0", "3.0")),
        ("line endings", &|tree| tree.replace(reno, "\n", "\r\n")),
        ("another file", &|tree| tree.write("crates/library/src/cubic.rs", "")),
        ("a file of another name", &|tree| {
            fs::rename(tree.0.join(reno), tree.0.join("crates/library/src/reno.rs")).expect("can be renamed");
        }),
        ("a feature", &|tree| {
            tree.replace("Cargo.toml", "hash = \"1.2\"", "hash = { version = \"1.2\", features = [\"x\"] }");
        }),
        ("a default", &|tree| {
            tree.write("crates/library/Cargo.toml", &format!("{}[features]\ndefault = []\n", FILES[4].1));
        }),
        ("the edition", &|tree| tree.replace("Cargo.toml", "2024", "2027")),
        ("the profile", &|tree| tree.replace("Cargo.toml", "thin", "fat")),
        ("a locked version", &|tree| tree.replace("Cargo.lock", "1.2.3", "1.2.4")),
        ("a locked version below", &|tree| tree.replace("Cargo.lock", "d2", "d3")),
    ];
    let mut names = vec![("none", Tree::new("none").identity())];
    for (what, change) in changes {
        let tree = Tree::new("changed");
        change(&tree);
        let name = tree.identity();
        for (other, known) in &names {
            assert_ne!(*known, name, "{what} and {other}");
        }
        names.push((what, name));
    }
}

#[test]
fn nothing_else_is_another_name() {
    let changes: [Change; 12] = [
        ("nothing", &|_| ()),
        ("a document", &|tree| tree.write("docs/index.md", "# Engine\n")),
        ("Python", &|tree| tree.write("python/engine/__init__.py", "")),
        ("a test", &|tree| tree.write("crates/library/tests/whole.rs", "// another test\n")),
        ("a test among the sources", &|tree| tree.write("crates/library/src/tests.rs", "// another test\n")),
        ("a folder of tests", &|tree| tree.write("crates/library/src/reno/tests/mod.rs", "// a test\n")),
        ("an editor's copy", &|tree| tree.write("crates/library/src/lib.rs~", "")),
        ("a lint", &|tree| tree.replace("Cargo.toml", "deny", "warn")),
        ("the version, which is said beside", &|tree| tree.replace("Cargo.toml", "1.0.0", "1.0.1")),
        ("a package of tests", &|tree| tree.replace("Cargo.lock", "p1", "p2")),
        ("a package that nothing uses", &|tree| tree.replace("Cargo.lock", "d1", "d3")),
        ("a crate that is not used", &|tree| {
            tree.write("crates/tool/src/main.rs", "fn main() { todo!() }\n");
        }),
    ];
    let name = Tree::new("as it is").identity();
    for (what, change) in changes {
        let tree = Tree::new("elsewhere");
        change(&tree);
        assert_eq!(tree.identity(), name, "{what}");
    }
}

#[test]
fn what_is_missing_is_said() {
    let cases: [(Change, &str); 3] = [
        (("", &|tree| fs::remove_file(tree.0.join("Cargo.lock")).expect("is there")), "Cargo.lock"),
        (("", &|tree| tree.replace("Cargo.lock", "\"hash\"", "\"dash\"")), "Cargo.lock: library has no hash"),
        (("", &|tree| tree.write("crates/library/Cargo.toml", "[package")), "crates/library/Cargo.toml"),
    ];
    for ((_, change), words) in cases {
        let tree = Tree::new("broken");
        change(&tree);
        let error = identity(&tree.0, "crates/engine").expect_err("is broken").to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// Exclusion is by file name: in this workspace the excluded files are tests only.
#[test]
fn what_is_left_out_of_this_engine_is_tests_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let parts = parts(&root, "crates/py").expect("this workspace");
    let sources: Vec<_> = parts.iter().filter(|(name, _)| name.contains("/src/")).collect();
    assert!(sources.iter().any(|(name, _)| *name == "crates/transport/src/cc/reno.rs"));
    assert!(parts.keys().any(|name| name.starts_with("Cargo.lock serde_json ")));
    assert!(!parts.keys().any(|name| name.contains("proptest") || name.contains("crates/identity")));
    for (name, content) in sources {
        let text = String::from_utf8_lossy(content);
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        for (before, line) in lines.iter().zip(&lines[1.min(lines.len())..]) {
            let declares = ["mod tests;", "mod testing;"].iter().any(|module| line.ends_with(module));
            assert!(
                !declares || *before == "#[cfg(test)]",
                "{name}: {line} is no test, and is left out for its name"
            );
        }
        for macro_name in ["include_str!", "include_bytes!", "include!("] {
            assert!(
                !text.contains(macro_name),
                "{name}: {macro_name} takes in a file that the name does not know"
            );
        }
    }
}
