//! Tells the build which commit it is made from.

use std::process::Command;

fn main() {
    // A commit moves `logs/HEAD`; an edit moves something below `crates`.
    for path in ["../../crates", "../../Cargo.lock"] {
        println!("cargo:rerun-if-changed={path}");
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        let changed = git(&["status", "--porcelain", "--", ".."]).is_none_or(|changes| !changes.is_empty());
        let suffix = if changed { "-modified" } else { "" };
        println!("cargo:rustc-env=MULTIHOP_COMMIT={commit}{suffix}");
    }
}

/// What git says, if it is there and this is a checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
