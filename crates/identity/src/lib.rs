//! Identity of an engine build, under which finished runs are stored.
//!
//! Two builds have the same identity if and only if they are made from the same sources, on any machine, in
//! any folder, with or without a Git checkout. The identity covers what can change a run: the sources of the
//! engine's crates without their tests, the build settings of their manifests, and the locked versions of all
//! their dependencies. Tests, documents, Python, lints, and crates that the engine does not use are not
//! covered.

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Names of files and folders of tests among the sources; each is a module under `#[cfg(test)]`.
const TESTS: [&str; 2] = ["tests", "testing"];

/// Keys of a crate's manifest that do not change its build.
const NOT_BUILT: [&str; 3] = ["build-dependencies", "dev-dependencies", "lints"];

/// Computes the identity of the crate in folder `of` of the workspace `root`: 16 hexadecimal digits.
///
/// # Errors
/// If a file cannot be read, a manifest is not one of Cargo, or `Cargo.lock` lacks a package that a manifest
/// requires.
pub fn identity(root: &Path, of: &str) -> Result<String> {
    let mut digest = Sha256::new();
    for (name, content) in parts(root, of)? {
        // Lengths are included, so that bytes cannot move from one part to another unnoticed.
        for bytes in [name.as_bytes(), &content] {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        }
    }
    // 64 bits suffice: nobody constructs edits that collide.
    let number = digest.finalize().iter().take(8).fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
    Ok(format!("{number:016x}"))
}

/// Contents that the identity is computed from, by a path or name that is equal on every machine, sorted.
///
/// # Errors
/// As [`identity`].
pub fn parts(root: &Path, of: &str) -> Result<BTreeMap<String, Vec<u8>>> {
    let workspace = table(&root.join("Cargo.toml"))?;
    let lock = Lock::read(&root.join("Cargo.lock"))?;
    let mut parts = BTreeMap::new();
    for key in ["profile", "patch"] {
        if let Some(said) = workspace.get(key) {
            parts.insert(format!("Cargo.toml {key}"), said.to_string().into_bytes());
        }
    }
    let shared = workspace.get("workspace").and_then(Value::as_table).cloned().unwrap_or_default();
    if let Some(edition) = entry(&shared, "package").get("edition") {
        parts.insert("Cargo.toml edition".to_owned(), edition.to_string().into_bytes());
    }
    let mut folders = vec![of.to_owned()];
    let mut packages = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let file = format!("{folder}/Cargo.toml");
        if parts.contains_key(&file) {
            continue;
        }
        let mut manifest = table(&root.join(&file))?;
        let name =
            entry(&manifest, "package").get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        for (alias, wanted) in entry(&manifest, "dependencies") {
            let said = entry(&shared, "dependencies").get(&alias).cloned().unwrap_or(wanted);
            if let Some(path) = said.get("path").and_then(Value::as_str) {
                folders.push(path.to_owned());
            } else {
                let package = said.get("package").and_then(Value::as_str).unwrap_or(&alias);
                packages.insert(lock.of_member(&name, package)?);
                parts.insert(format!("Cargo.toml dependencies {alias}"), said.to_string().into_bytes());
            }
        }
        for key in NOT_BUILT {
            manifest.remove(key);
        }
        parts.insert(file, manifest.to_string().into_bytes());
        for source in sources(&root.join(&folder).join("src"))? {
            let path = source.strip_prefix(root).unwrap_or(&source);
            let steps: Vec<_> = path.iter().map(|step| step.to_string_lossy()).collect();
            parts.insert(steps.join("/"), fs::read(&source)?);
        }
    }
    parts.extend(lock.below(packages)?);
    Ok(parts)
}

/// Packages of `Cargo.lock`.
struct Lock(Vec<Table>);

impl Lock {
    fn read(file: &Path) -> Result<Self> {
        let packages = table(file)?.remove("package");
        let Some(Value::Array(packages)) = packages else { return Err(wrong(file, "no packages")) };
        Ok(Self(packages.into_iter().filter_map(|package| package.try_into().ok()).collect()))
    }

    /// Entry of `Cargo.lock` for a dependency of a workspace crate: its name, with its version if there are
    /// several.
    fn of_member(&self, member: &str, package: &str) -> Result<String> {
        let names = dependencies(self.find(member)?);
        let found = names.into_iter().find(|name| name.split(' ').next() == Some(package));
        found.ok_or_else(|| Error::new(ErrorKind::NotFound, format!("Cargo.lock: {member} has no {package}")))
    }

    /// Version and checksum of these packages and of all their dependencies.
    fn below(&self, names: BTreeSet<String>) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut open: Vec<String> = names.into_iter().collect();
        while let Some(name) = open.pop() {
            let package = self.find(&name)?;
            let said = |key: &str| package.get(key).and_then(Value::as_str).unwrap_or_default();
            let called = format!("Cargo.lock {} {}", said("name"), said("version"));
            if found.insert(called, said("checksum").as_bytes().to_vec()).is_none() {
                open.extend(dependencies(package));
            }
        }
        Ok(found)
    }

    fn find(&self, called: &str) -> Result<&Table> {
        let mut words = called.split(' ');
        let (name, version) = (words.next(), words.next());
        let is = |package: &Table, key: &str, wanted: Option<&str>| {
            package.get(key).and_then(Value::as_str) == wanted
        };
        let fits = |package: &&Table| {
            is(package, "name", name) && (version.is_none() || is(package, "version", version))
        };
        let missing = || Error::new(ErrorKind::NotFound, format!("Cargo.lock: no package {called}"));
        self.0.iter().find(fits).ok_or_else(missing)
    }
}

fn dependencies(package: &Table) -> Vec<String> {
    let listed = package.get("dependencies").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Source files below a folder, without tests.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if TESTS.iter().any(|&name| path.file_stem().is_some_and(|stem| stem == name)) {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

/// Table in a table; empty if absent.
fn entry(of: &Table, key: &str) -> Table {
    of.get(key).and_then(Value::as_table).cloned().unwrap_or_default()
}

fn table(file: &Path) -> Result<Table> {
    let text = fs::read_to_string(file)
        .map_err(|error| Error::new(error.kind(), format!("{}: {error}", file.display())))?;
    text.parse().map_err(|error| wrong(file, error))
}

fn wrong(file: &Path, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{}: {what}", file.display()))
}
