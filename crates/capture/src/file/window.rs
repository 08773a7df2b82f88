//! A reader behind one buffer of fixed size.

use std::io::{self, Read};

/// Bytes that can be looked at together.
pub(super) const WINDOW: usize = 1 << 19;

/// A window that moves over a stream.
pub(super) struct Source<'r> {
    reader: Box<dyn Read + Send + 'r>,
    buffer: Box<[u8]>,
    /// What has been read and not yet been consumed.
    start: usize,
    end: usize,
    /// Bytes of the stream before `start`.
    offset: u64,
    /// The compressed file ended before its compression did.
    cut: bool,
    /// What went wrong while [`Source::look`] looked ahead.
    failed: Option<io::Error>,
}

impl<'r> Source<'r> {
    pub fn new(reader: Box<dyn Read + Send + 'r>) -> Source<'r> {
        let buffer = vec![0; WINDOW].into_boxed_slice();
        Source { reader, buffer, start: 0, end: 0, offset: 0, cut: false, failed: None }
    }

    /// Where the window begins in the stream.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// An error if the stream ended, but its compression did not: it may have ended between two records.
    pub fn ended(&self) -> io::Result<()> {
        const WHY: &str = "the compressed file is cut, and more may have followed";
        if self.cut { Err(io::Error::new(io::ErrorKind::UnexpectedEof, WHY)) } else { Ok(()) }
    }

    /// Reads until there are `bytes` bytes, at most [`WINDOW`], to look at, or the stream ends; returns how
    /// many of them there are.
    pub fn fill(&mut self, bytes: usize) -> io::Result<usize> {
        debug_assert!(bytes <= WINDOW);
        if self.end - self.start >= bytes {
            return Ok(bytes);
        }
        if let Some(error) = self.failed.take() {
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
                // A compressed file that is cut is reported as if it were not compressed: by what is missing.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.cut = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(bytes.min(self.end - self.start))
    }

    /// As [`Source::fill`], ahead of need: an error is kept for the next call that needs more bytes than
    /// there are.
    pub fn look(&mut self, bytes: usize) -> usize {
        match self.fill(bytes) {
            Ok(found) => found,
            Err(error) => {
                self.failed = Some(error);
                bytes.min(self.end - self.start)
            }
        }
    }

    /// The first `bytes` bytes, which [`Source::fill`] must have found.
    pub fn peek(&self, bytes: usize) -> &[u8] {
        &self.buffer[self.start..self.end][..bytes]
    }

    /// Moves the window by `bytes` bytes, which may be more than it holds; returns how many there were.
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
