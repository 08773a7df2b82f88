//! A reader with a buffer of fixed size.

use std::io::{self, Read};

/// Size of the window in bytes.
pub(super) const WINDOW: usize = 1 << 19;

/// A window that moves over a stream.
pub(super) struct WindowReader<'r> {
    reader: Box<dyn Read + Send + 'r>,
    buffer: Box<[u8]>,
    /// Range of bytes that have been read but not consumed.
    start: usize,
    end: usize,
    /// Number of bytes of the stream before `start`.
    offset: u64,
    /// Whether the compressed file ended before its compressed data did.
    truncated: bool,
    /// Error met while [`WindowReader::look_ahead`] read ahead.
    look_ahead_error: Option<io::Error>,
}

impl<'r> WindowReader<'r> {
    pub fn new(reader: Box<dyn Read + Send + 'r>) -> WindowReader<'r> {
        let buffer = vec![0; WINDOW].into_boxed_slice();
        WindowReader { reader, buffer, start: 0, end: 0, offset: 0, truncated: false, look_ahead_error: None }
    }

    /// Offset of the window in the stream.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Fails if the compressed file was truncated, which may happen exactly between two records.
    pub fn check_end(&self) -> io::Result<()> {
        const WHY: &str = "the compressed file is truncated, and records may be missing";
        if self.truncated { Err(io::Error::new(io::ErrorKind::UnexpectedEof, WHY)) } else { Ok(()) }
    }

    /// Reads until the window holds `bytes` bytes, at most [`WINDOW`], or the stream ends. Returns the number
    /// of bytes available, at most `bytes`.
    pub fn fill(&mut self, bytes: usize) -> io::Result<usize> {
        debug_assert!(bytes <= WINDOW);
        if self.end - self.start >= bytes {
            return Ok(bytes);
        }
        if let Some(error) = self.look_ahead_error.take() {
            return Err(error);
        }
        if self.start + bytes > WINDOW {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        while self.end - self.start < bytes {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A truncated compressed file is reported like an uncompressed one: by the bytes that are
                // missing.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.truncated = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(bytes.min(self.end - self.start))
    }

    /// Same as [`WindowReader::fill`], before the bytes are needed: an error is kept for the next call that
    /// needs more bytes than there are.
    pub fn look_ahead(&mut self, bytes: usize) -> usize {
        match self.fill(bytes) {
            Ok(found) => found,
            Err(error) => {
                self.look_ahead_error = Some(error);
                bytes.min(self.end - self.start)
            }
        }
    }

    /// The first `bytes` bytes of the window, which [`WindowReader::fill`] must have found.
    pub fn peek(&self, bytes: usize) -> &[u8] {
        &self.buffer[self.start..self.end][..bytes]
    }

    /// Moves the window by `bytes` bytes, possibly more than it holds. Returns the number of bytes skipped.
    pub fn skip(&mut self, bytes: u64) -> io::Result<u64> {
        let mut left = bytes;
        while left > 0 {
            let step = left.min(WINDOW as u64) as usize;
            let found = self.fill(step)?;
            self.start += found;
            self.offset += found as u64;
            left -= found as u64;
            if found < step {
                break;
            }
        }
        Ok(bytes - left)
    }
}
