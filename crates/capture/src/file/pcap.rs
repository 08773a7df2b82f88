//! The pcap format (draft-ietf-opsawg-pcap), a file header followed by records, and its older dialects.

use super::window::{WINDOW, WindowReader};
use super::{CaptureError, CaptureInterface, FoundPacket, MAX_RECORD_BYTES, read_error};
use crate::LinkType;
use crate::bytes::{ByteOrder, bit};
use multihop_core::{Span, Time};

const FILE_HEADER: usize = 24;
/// Bytes that every dialect's record header begins with: seconds, fraction, and the two lengths.
const RECORD_HEADER: usize = 16;
/// Record header with interface index (4 bytes), protocol (2), packet type (1) and padding (1).
const WITH_INTERFACE: usize = 24;

/// Layout that a magic number stands for.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    order: ByteOrder,
    /// Nanoseconds per unit of the fraction of a second.
    unit_ns: u64,
    file_header: usize,
    /// Lengths of record headers that writers of this magic number use; the most likely first.
    record_headers: &'static [usize],
}

/// State of reading a pcap file.
pub(super) struct Pcap {
    order: ByteOrder,
    /// Nanoseconds per unit of the fraction of a second.
    unit_ns: u64,
    /// Length of a record header.
    record_header: usize,
    /// Order of the two lengths in a record header.
    lengths: Lengths,
    /// Number of bytes of the previous record, which is still in the window because the caller borrows it.
    borrowed_bytes: u64,
}

/// Order of the two lengths in a record header. Version 2.3 exchanged them: before, the original length came
/// first. Some writers used version number 2.3 with the older order.
enum Lengths {
    CapturedFirst,
    OriginalFirst,
    SmallerIsCaptured,
}

/// Fields that every record header begins with.
struct RecordHead {
    seconds: u32,
    fraction: u32,
    length: u32,
    original_length: u32,
}

/// Dialect of a magic number: libpcap's with microseconds or nanoseconds, Kuznetsov's modified pcap of 1999,
/// and Ixia's lcap, whose file header ends with a size.
///
/// Some systems of 1999 wrote longer record headers under the first magic number: Red Hat 6.1 those of the
/// modified pcap, Nokia 4 bytes more. Record headers of the modified pcap are 8 bytes longer, in `SuSE` 6.3
/// 12 bytes.
pub(super) fn dialect(magic: &[u8]) -> Option<Dialect> {
    let standard: &[usize] = &[RECORD_HEADER, WITH_INTERFACE, RECORD_HEADER + 4];
    let found = |order: ByteOrder| {
        let (unit_ns, file_header, record_headers): (u64, usize, &'static [usize]) =
            match order.u32(magic, 0)? {
                0xa1b2_c3d4 => (1_000, FILE_HEADER, standard),
                0xa1b2_3c4d => (1, FILE_HEADER, &standard[..1]),
                0xa1b2_cd34 => (1_000, FILE_HEADER, &[WITH_INTERFACE, WITH_INTERFACE + 4]),
                0x1c00_01ab => (1_000, FILE_HEADER + 4, &standard[..1]),
                0x1c00_01ac => (1, FILE_HEADER + 4, &standard[..1]),
                _ => return None,
            };
        Some(Dialect { order, unit_ns, file_header, record_headers })
    };
    found(ByteOrder::Big).or_else(|| found(ByteOrder::Little))
}

/// Reads the file header.
pub(super) fn begin(
    source: &mut WindowReader<'_>,
    dialect: Dialect,
    interfaces: &mut Vec<CaptureInterface>,
) -> Result<Pcap, CaptureError> {
    let Dialect { order, unit_ns, file_header, record_headers } = dialect;
    let found = source.fill(file_header).map_err(read_error(source, 0))?;
    let header = source.peek(found);
    let fields = (order.u16(header, 4), order.u16(header, 6), order.u32(header, 16), order.u32(header, 20));
    let (Some(major), Some(minor), Some(snap_length), Some(link), true) =
        (fields.0, fields.1, fields.2, fields.3, found == file_header)
    else {
        let (needed, found) = (file_header as u64, found as u64);
        return Err(CaptureError::Truncated {
            record: 1,
            offset: 0,
            what: "the header of the file",
            needed,
            found,
        });
    };
    if major != 2 {
        return Err(CaptureError::UnknownVersion { format: "pcap", major, minor, known: "2.4" });
    }
    let lengths = match minor {
        0..3 => Lengths::OriginalFirst,
        3 => Lengths::SmallerIsCaptured,
        _ => Lengths::CapturedFirst,
    };
    // The upper half of the link type may give the FCS length, in units of 16 bits.
    let fcs_bytes = bit(link, 26).then(|| (link >> 28) as u8 * 2);
    let link_type = LinkType::from_number(link as u16);
    interfaces.push(CaptureInterface { link_type, snap_length, fcs_bytes, name: None });
    source.skip(file_header as u64).map_err(read_error(source, 0))?;
    let mut pcap = Pcap { order, unit_ns, record_header: record_headers[0], lengths, borrowed_bytes: 0 };
    pcap.record_header = pcap.guess_record_header(source, record_headers);
    Ok(pcap)
}

impl Pcap {
    /// Loads the next record into the window, after `records` others.
    pub fn next(
        &mut self,
        source: &mut WindowReader<'_>,
        records: u64,
    ) -> Result<Option<FoundPacket>, CaptureError> {
        source.skip(std::mem::take(&mut self.borrowed_bytes)).map_err(read_error(source, records))?;
        let (record, offset) = (records + 1, source.offset());
        let truncated = |what, needed: usize, found: usize| {
            let (needed, found) = (needed as u64, found as u64);
            Err(CaptureError::Truncated { record, offset, what, needed, found })
        };
        let found = source.fill(self.record_header).map_err(read_error(source, records))?;
        if found == 0 {
            return Ok(None);
        }
        let head = self.head(source.peek(found)).filter(|_| found == self.record_header);
        let Some(RecordHead { seconds, fraction, length, original_length }) = head else {
            return truncated("the header of a packet", self.record_header, found);
        };
        if length > MAX_RECORD_BYTES {
            let (found, limit) = (u64::from(length), u64::from(MAX_RECORD_BYTES));
            return Err(CaptureError::TooLong { record, offset, what: "a packet", found, limit });
        }
        let length = length as usize;
        let needed = self.record_header + length;
        let found = source.fill(needed).map_err(read_error(source, records))?;
        if found < needed {
            return truncated("a packet", needed, found);
        }
        self.borrowed_bytes = needed as u64;
        // Some writers let the fraction exceed a second; the sum is the intended time.
        let time = Time::from_ns(u64::from(seconds) * 1_000_000_000)
            + Span::from_ns(u64::from(fraction) * self.unit_ns);
        let time = (time < Time::NEVER).then_some(time);
        Ok(Some(FoundPacket { interface: 0, time, original_length, skip: self.record_header, length }))
    }

    /// Fields of the record header at the start of `bytes`.
    fn head(&self, bytes: &[u8]) -> Option<RecordHead> {
        let word = |n: usize| self.order.u32(bytes, 4 * n);
        let (first, second) = (word(2)?, word(3)?);
        let (length, original_length) = match self.lengths {
            Lengths::CapturedFirst => (first, second),
            Lengths::OriginalFirst => (second, first),
            Lengths::SmallerIsCaptured => (first.min(second), first.max(second)),
        };
        Some(RecordHead { seconds: word(0)?, fraction: word(1)?, length, original_length })
    }

    /// Length of the record headers, guessed from the first records. The first candidate, which libpcap uses,
    /// is taken unless its second record is implausible and the records of another candidate are plausible.
    fn guess_record_header(&self, source: &mut WindowReader<'_>, candidates: &[usize]) -> usize {
        let [likeliest, others @ ..] = candidates else { unreachable!("a dialect has a header of records") };
        if others.is_empty() {
            return *likeliest;
        }
        if let (_, true) = self.records_that_make_sense(source, *likeliest) {
            return *likeliest;
        }
        // Truncated files of the standard dialect are more frequent than files of 1999.
        let enough = if *likeliest == RECORD_HEADER { 2 } else { 1 };
        let fits = |header: &&usize| {
            let (seen, sound) = self.records_that_make_sense(source, **header);
            sound && seen >= enough
        };
        *others.iter().find(fits).unwrap_or(likeliest)
    }

    /// Number of plausible records among the first three for this header length, and whether all are
    /// plausible and complete.
    fn records_that_make_sense(&self, source: &mut WindowReader<'_>, header: usize) -> (usize, bool) {
        let mut at = 0;
        for seen in 0..3 {
            let end = at + header;
            if end > WINDOW {
                return (seen, true);
            }
            let found = source.look_ahead(end);
            if found < end {
                return (seen, found == at);
            }
            let bytes = &source.peek(end)[at..];
            let head = self.head(bytes).expect("every header has these numbers");
            // Machines of 1999 had few interfaces; Linux has five packet types, from "to us" to "from us".
            let odd_interface =
                header >= WITH_INTERFACE && (self.order.u32(bytes, 16) > Some(10_000) || bytes[22] > 4);
            if head.fraction >= 1_000_000
                || head.length > MAX_RECORD_BYTES.min(head.original_length)
                || head.original_length > 1 << 27
                || odd_interface
            {
                return (seen, false);
            }
            at = end + head.length as usize;
        }
        (3, true)
    }
}
