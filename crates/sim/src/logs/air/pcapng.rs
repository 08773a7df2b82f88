//! Writer of pcapng files (draft-ietf-opsawg-pcapng): one section, its interfaces, its packets.
//!
//! Numbers are little-endian, times are in nanoseconds. Files are written sequentially through a buffer.

use std::io::{self, BufWriter, Write};

// Block types (sections 4.1 to 4.3 of the draft).
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

// Options.
const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const SHB_USER_APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TIME_RESOLUTION: u16 = 9;

const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const VERSION: [u16; 2] = [1, 0];
/// Section length of a section that extends to the end of the file.
const LENGTH_UNKNOWN: u64 = u64::MAX;
/// Time resolution: units of 10^-9 s.
const NANOSECONDS: u8 = 9;
const BUFFER: usize = 1 << 16;

/// Writer of a pcapng file with one section.
pub struct PcapngWriter<W: Write> {
    out: BufWriter<W>,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins the section, whose header contains `application` and `comment`.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(out: W, application: &str, comment: &str) -> io::Result<PcapngWriter<W>> {
        let mut writer = PcapngWriter { out: BufWriter::with_capacity(BUFFER, out), block: Vec::new() };
        writer.write(SECTION_HEADER, |block| {
            block.extend(BYTE_ORDER.to_le_bytes());
            block.extend(VERSION.into_iter().flat_map(u16::to_le_bytes));
            block.extend(LENGTH_UNKNOWN.to_le_bytes());
            put_option(block, OPT_COMMENT, text(comment));
            put_option(block, SHB_USER_APPLICATION, text(application));
            put_option(block, OPT_END, &[]);
        })?;
        Ok(writer)
    }

    /// Adds an interface. Interfaces are numbered from 0 in the order of these calls.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn interface(&mut self, name: &str, link_type: u16, snap_length: u32) -> io::Result<()> {
        self.write(INTERFACE_DESCRIPTION, |block| {
            block.extend(link_type.to_le_bytes());
            block.extend([0; 2]);
            block.extend(snap_length.to_le_bytes());
            put_option(block, IF_NAME, text(name));
            put_option(block, IF_TIME_RESOLUTION, &[NANOSECONDS]);
            put_option(block, OPT_END, &[]);
        })
    }

    /// Writes a packet of `length` bytes, whose first bytes are `captured`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn packet(&mut self, interface: u32, time_ns: u64, length: u32, captured: &[u8]) -> io::Result<()> {
        self.write(ENHANCED_PACKET, |block| {
            let [high, low] = [(time_ns >> 32) as u32, time_ns as u32];
            for word in [interface, high, low, captured.len() as u32, length] {
                block.extend(word.to_le_bytes());
            }
            block.extend_from_slice(captured);
        })
    }

    /// Writes the rest of the buffer.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes a block: type, length, body, padding, length.
    fn write(&mut self, kind: u32, body: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        const OVERHEAD: usize = 12;
        let block = &mut self.block;
        block.clear();
        block.extend(kind.to_le_bytes());
        block.extend([0; 4]);
        body(block);
        pad(block);
        let length = ((block.len() + OVERHEAD - 8) as u32).to_le_bytes();
        block[4..8].copy_from_slice(&length);
        block.extend(length);
        self.out.write_all(block)
    }
}

/// Returns the bytes of a text, truncated to complete characters that fit into an option.
fn text(text: &str) -> &[u8] {
    let mut end = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text.as_bytes()[..end]
}

fn put_option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    block.extend(code.to_le_bytes());
    block.extend((value.len() as u16).to_le_bytes());
    block.extend_from_slice(value);
    pad(block);
}

fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_of_five_bytes_is_padded_to_eight() {
        let mut out = Vec::new();
        let mut writer = PcapngWriter::new(&mut out, "", "").unwrap();
        writer.interface("a", 127, 64).unwrap();
        writer.packet(0, 0x0102_0304_0506_0708, 9, &[1, 2, 3, 4, 5]).unwrap();
        writer.finish().unwrap();
        let packet = &out[out.len() - 40..];
        assert_eq!(packet[..8], [6, 0, 0, 0, 40, 0, 0, 0]);
        assert_eq!(packet[8..20], [0, 0, 0, 0, 4, 3, 2, 1, 8, 7, 6, 5]);
        assert_eq!(packet[20..28], [5, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(packet[28..], [1, 2, 3, 4, 5, 0, 0, 0, 40, 0, 0, 0]);
    }

    #[test]
    fn a_long_text_is_truncated_to_complete_characters() {
        let long = "ö".repeat(40_000);
        assert_eq!(text(&long).len(), 65_534);
        assert!(std::str::from_utf8(text(&long)).is_ok());
        assert_eq!(text("node"), b"node");
    }
}
