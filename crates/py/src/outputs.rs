//! Output files, whose errors name the file.

use pyo3::PyErr;
use pyo3::exceptions::PyOSError;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Output file.
pub struct Output {
    path: PathBuf,
    file: File,
}

/// Creates a file at this path, or empties an existing one.
pub fn created(path: &Path) -> io::Result<Output> {
    let file = File::create(path).map_err(|error| named(path, error))?;
    Ok(Output { path: path.to_owned(), file })
}

/// Makes a folder at this path, unless it is there.
pub fn made(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path).map_err(|error| named(path, error))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| named(&self.path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| named(&self.path, error))
    }
}

/// Error of a file.
#[derive(Debug)]
struct Failed {
    path: PathBuf,
    error: io::Error,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for Failed {}

fn named(path: &Path, error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::Interrupted {
        return error; // the caller tries again
    }
    io::Error::new(error.kind(), Failed { path: path.to_owned(), error })
}

/// Converts an I/O error to Python: number, reason, and the name of the file if known.
pub fn os_error(error: &io::Error) -> PyErr {
    let failed = failure(error);
    let cause = failed.map_or(error, |failed| &failed.error);
    let Some(code) = cause.raw_os_error() else { return PyOSError::new_err(cause.to_string()) };
    match failed {
        Some(failed) => PyOSError::new_err((code, reason(cause), failed.path.clone())),
        None => PyOSError::new_err((code, reason(cause))),
    }
}

/// Message for a file whose writing ended early: its name if known, and the reason.
pub fn cut_short(error: &io::Error) -> String {
    match failure(error) {
        Some(Failed { path, error }) => {
            format!("{}: cannot be written: {}; the file ends there", path.display(), reason(error))
        }
        None => reason(error),
    }
}

/// Kernel's text for an error, without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|code| format!(" (os error {code})"));
    number.and_then(|number| text.strip_suffix(&number).map(str::to_owned)).unwrap_or(text)
}

fn failure(error: &io::Error) -> Option<&Failed> {
    error.get_ref().and_then(|inner| inner.downcast_ref::<Failed>())
}
