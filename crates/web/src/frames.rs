//! In-memory file of a run's frame log, of limited size.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest number of bytes kept: about three million transmissions. Later bytes are dropped, and the log is
/// truncated.
const MAX_BYTES: usize = 8 << 20;

/// Frame log in memory, readable while it is written.
#[derive(Clone, Default)]
pub struct FrameFile(Arc<Mutex<LogBytes>>);

#[derive(Default)]
struct LogBytes {
    bytes: Vec<u8>,
    is_full: bool,
}

impl FrameFile {
    /// Copies the bytes written so far, if there are more than `longer_than`; otherwise returns nothing.
    pub fn so_far(&self, longer_than: usize) -> Vec<u8> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes.len() > longer_than { kept.bytes.clone() } else { Vec::new() }
    }

    /// Removes and returns the bytes written.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).bytes
    }
}

impl Write for FrameFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.is_full |= kept.bytes.len() + bytes.len() > MAX_BYTES;
        if !kept.is_full {
            kept.bytes.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
