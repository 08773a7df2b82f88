//! Capture files as streams of records.

mod error;
mod pcap;
mod pcapng;
mod window;

pub use error::CaptureError;

use crate::LinkType;
use flate2::read::MultiGzDecoder;
use multihop_core::Time;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use window::WindowReader;

/// Limit of a record's length in bytes: the largest that libpcap writes for radio links.
pub const MAX_RECORD_BYTES: u32 = 262_144;

/// File format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CaptureFormat {
    /// pcap, the format of libpcap (draft-ietf-opsawg-pcap), with its older dialects: Kuznetsov's modified
    /// pcap of 1999, and those of Red Hat 6.1, `SuSE` 6.3, Nokia and Ixia.
    Pcap,
    /// pcapng, with blocks and several interfaces (draft-ietf-opsawg-pcapng).
    Pcapng,
}

/// Capturing interface of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CaptureInterface {
    /// Link type: format of the header that precedes each frame.
    pub link_type: LinkType,
    /// Snap length: maximum number of captured bytes per packet; zero for no limit.
    pub snap_length: u32,
    /// Length in bytes of the frame check sequence at the end of each packet, if the file gives it. Headers
    /// such as radiotap are more reliable.
    pub fcs_bytes: Option<u8>,
    /// Name of the interface, if the file has one, cut to 256 bytes.
    pub name: Option<String>,
}

/// A captured packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Record<'c> {
    /// Number of the record, from 1.
    pub number: u64,
    /// Index in [`Capture::interfaces`].
    pub interface: usize,
    /// Link type of `bytes`.
    pub link_type: LinkType,
    /// Time at which the host received the packet, since 1970. None if the file has no time, or one after
    /// 2116.
    pub time: Option<Time>,
    /// Number of bytes of the packet before it was cut to the snap length; at least the length of `bytes`.
    pub original_length: u32,
    /// Length in bytes of the frame check sequence, if the file gives it ([`CaptureInterface::fcs_bytes`]).
    pub fcs_bytes: Option<u8>,
    /// Captured bytes.
    pub bytes: &'c [u8],
}

/// Open capture file.
///
/// ```no_run
/// let mut capture = multihop_capture::Capture::open("a.pcapng.gz")?;
/// while let Some(record) = capture.next() {
///     println!("{} bytes", record?.bytes.len());
/// }
/// # Ok::<(), multihop_capture::CaptureError>(())
/// ```
pub struct Capture<'r> {
    source: WindowReader<'r>,
    reader: Reader,
    interfaces: Vec<CaptureInterface>,
    records: u64,
    finished: bool,
}

enum Reader {
    Pcap(pcap::Pcap),
    Pcapng(pcapng::Pcapng),
}

impl Capture<'static> {
    /// Opens a pcap or pcapng file, in either byte order, plain or compressed by gzip.
    ///
    /// # Errors
    /// If the file cannot be read or is not a capture.
    pub fn open(path: impl AsRef<Path>) -> Result<Capture<'static>, CaptureError> {
        let path = path.as_ref();
        let file = File::open(path)
            .map_err(|source| CaptureError::Open { path: path.display().to_string(), source })?;
        Capture::from_reader(file)
    }
}

impl<'r> Capture<'r> {
    /// Reads a capture from any stream, which need not be buffered.
    ///
    /// # Errors
    /// If the stream cannot be read or is not a capture.
    pub fn from_reader(mut reader: impl Read + Send + 'r) -> Result<Capture<'r>, CaptureError> {
        let mut magic = Vec::with_capacity(GZIP_MAGIC.len());
        let at_start = |source| CaptureError::Read { offset: 0, records: 0, source };
        reader.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut magic).map_err(at_start)?;
        let compressed = magic == GZIP_MAGIC;
        let whole = io::Cursor::new(magic).chain(reader);
        let mut source = WindowReader::new(if compressed {
            Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, whole)))
        } else {
            Box::new(whole)
        });
        let found = source.fill(4).map_err(at_start)?;
        let mut interfaces = Vec::new();
        let dialect = pcap::dialect(source.peek(found));
        let reader = match (source.peek(found), dialect) {
            ([], _) => return Err(CaptureError::Empty),
            ([0x0a, 0x0d, 0x0d, 0x0a], _) => Reader::Pcapng(pcapng::Pcapng::default()),
            (_, Some(dialect)) => Reader::Pcap(pcap::begin(&mut source, dialect, &mut interfaces)?),
            (other, None) => return Err(CaptureError::UnknownFormat { found: known_magic(other) }),
        };
        Ok(Capture { source, reader, interfaces, records: 0, finished: false })
    }

    /// Returns the next record; none at the end of the file.
    ///
    /// After an error, there are no more records. All records before it are complete.
    #[allow(clippy::should_implement_trait, reason = "an `Iterator` cannot lend from its own buffer")]
    pub fn next(&mut self) -> Option<Result<Record<'_>, CaptureError>> {
        if self.finished {
            return None;
        }
        let next = match &mut self.reader {
            Reader::Pcap(pcap) => pcap.next(&mut self.source, self.records),
            Reader::Pcapng(pcapng) => pcapng.next(&mut self.source, &mut self.interfaces, self.records),
        };
        match next {
            Err(error) => {
                self.finished = true;
                Some(Err(error))
            }
            Ok(None) => {
                self.finished = true;
                self.source.check_end().err().map(read_error(&self.source, self.records)).map(Err)
            }
            Ok(Some(found)) => {
                self.records += 1;
                let CaptureInterface { link_type, fcs_bytes, .. } = self.interfaces[found.interface];
                let bytes = &self.source.peek(found.skip + found.length)[found.skip..];
                let original_length = found.original_length.max(found.length as u32);
                let FoundPacket { interface, time, .. } = found;
                let number = self.records;
                Some(Ok(Record { number, interface, link_type, time, original_length, fcs_bytes, bytes }))
            }
        }
    }

    /// Interfaces described so far; pcapng may add some between records.
    pub fn interfaces(&self) -> &[CaptureInterface] {
        &self.interfaces
    }

    /// Format of the file.
    pub fn format(&self) -> CaptureFormat {
        match self.reader {
            Reader::Pcap(_) => CaptureFormat::Pcap,
            Reader::Pcapng(_) => CaptureFormat::Pcapng,
        }
    }

    /// Number of bytes of the decompressed file consumed so far.
    pub fn position(&self) -> u64 {
        self.source.offset()
    }
}

impl fmt::Debug for Capture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("format", &self.format())
            .field("interfaces", &self.interfaces)
            .field("records", &self.records)
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Packet in the window of the reader: `length` bytes after `skip` bytes of headers.
struct FoundPacket {
    interface: usize,
    time: Option<Time>,
    original_length: u32,
    skip: usize,
    length: usize,
}

/// First bytes of an unknown file, with their format if known.
fn known_magic(bytes: &[u8]) -> String {
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let meaning = match *bytes {
        [0x28, 0xb5, 0x2f, 0xfd] => " (zstd; decompress it first)",
        [0xfd, b'7', b'z', b'X'] => " (xz; decompress it first)",
        [0x04, 0x22, 0x4d, 0x18] => " (lz4; decompress it first)",
        [b'B', b'Z', b'h', _] => " (bzip2; decompress it first)",
        [b'P', b'K', 3, 4] => " (zip; unpack it first)",
        [b's', b'n', b'o', b'o'] => " (snoop)",
        _ => "",
    };
    hex.join(" ") + meaning
}

/// Converts an I/O error to a read error at the current offset.
fn read_error(source: &WindowReader<'_>, records: u64) -> impl Fn(io::Error) -> CaptureError + use<> {
    let offset = source.offset();
    move |error| CaptureError::Read { offset, records, source: error }
}
