//! Where the frame log of a run goes: into memory, as far as there is room.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a log that are kept: some three million transmissions. What comes later is left out, and the log
/// is cut short.
const MOST: usize = 8 << 20;

/// A frame log that is being written, and may be read at its other end.
#[derive(Clone, Default)]
pub struct FrameFile(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    is_full: bool,
}

impl FrameFile {
    /// A copy of what was written until now, if that is more than so many bytes; else nothing.
    pub fn so_far(&self, longer_than: usize) -> Vec<u8> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes.len() > longer_than { kept.bytes.clone() } else { Vec::new() }
    }

    /// What was written; nothing is left of it.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).bytes
    }
}

impl Write for FrameFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.is_full |= kept.bytes.len() + bytes.len() > MOST;
        if !kept.is_full {
            kept.bytes.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
