//! Build script: computes the identity of the build from its sources, and records the commit if it is built
//! in a Git checkout.

use std::path::Path;
use std::process::Command;

fn main() {
    // A commit changes `logs/HEAD`; an edit changes another of these.
    for path in ["../../crates", "../../Cargo.toml", "../../Cargo.lock"] {
        println!("cargo:rerun-if-changed={path}");
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    match multihop_identity::identity(Path::new("../.."), "crates/py") {
        Ok(identity) => println!("cargo:rustc-env=MULTIHOP_IDENTITY={identity}"),
        Err(error) => panic!("what this build is made from cannot be read: {error}"),
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        let changed = git(&["status", "--porcelain", "--", ".."]).is_none_or(|changes| !changes.is_empty());
        let suffix = if changed { "-modified" } else { "" };
        println!("cargo:rustc-env=MULTIHOP_COMMIT={commit}{suffix}");
    }
}

/// Output of a git command; none without git or outside of a checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
