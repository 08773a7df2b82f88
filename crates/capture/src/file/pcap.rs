//! The pcap format (draft-ietf-opsawg-pcap): a header, then records one after the other; and its older
//! dialects.

use super::source::{Source, WINDOW};
use super::{CaptureError, Found, Interface, MAX_RECORD_BYTES, read_error};
use crate::LinkType;
use crate::bytes::{Order, bit};
use multihop_core::{Span, Time};

const FILE_HEADER: usize = 24;
/// What every variant's records begin with: seconds, their fraction, and the two lengths.
const RECORD_HEADER: usize = 16;
/// With the index of an interface (4 bytes), the protocol (2), the type of the packet (1) and padding (1).
const WITH_INTERFACE: usize = 24;

/// What a magic number stands for.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    order: Order,
    /// Nanoseconds of a unit of the fraction of a second.
    unit_ns: u64,
    file_header: usize,
    /// Lengths of the header of a record, as writers of this magic number have it; the likeliest first.
    record_headers: &'static [usize],
}

/// Where a pcap file stands.
pub(super) struct Pcap {
    order: Order,
    /// Nanoseconds of a unit of the fraction of a second.
    unit_ns: u64,
    /// Length of the header of a record.
    record_header: usize,
    /// In which order a record has its two lengths.
    lengths: Lengths,
    /// Bytes of the record before, which are still in the window because they were lent out.
    lent: u64,
}

/// Version 2.3 exchanged the length on the wire, which came first, with that in the file; some wrote the
/// number 2.3 with the order of before.
enum Lengths {
    CapturedFirst,
    OriginalFirst,
    SmallerIsCaptured,
}

/// The numbers at the beginning of a record.
struct Head {
    seconds: u32,
    fraction: u32,
    length: u32,
    original_length: u32,
}

/// The dialect of a magic number: libpcap's with microseconds and with nanoseconds, Kuznetsov's modified one
/// of 1999, and Ixia's lcap, whose file header ends with a size. Some of 1999 wrote longer records under the
/// first one: Red Hat 6.1 as Kuznetsov did, and Nokia's with 4 bytes more. The modified ones have 8 bytes
/// more, or 12 in `SuSE` 6.3.
pub(super) fn dialect(magic: &[u8]) -> Option<Dialect> {
    let standard: &[usize] = &[RECORD_HEADER, WITH_INTERFACE, RECORD_HEADER + 4];
    let found = |order: Order| {
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
    found(Order::Big).or_else(|| found(Order::Little))
}

/// Reads the header of the file.
pub(super) fn begin(
    source: &mut Source<'_>,
    dialect: Dialect,
    interfaces: &mut Vec<Interface>,
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
    // The upper half of the link type may give the length of the FCS, in units of 16 bits.
    let fcs_bytes = bit(link, 26).then(|| (link >> 28) as u8 * 2);
    let link_type = LinkType::from_number(link as u16);
    interfaces.push(Interface { link_type, snap_length, fcs_bytes, name: None });
    source.skip(file_header as u64).map_err(read_error(source, 0))?;
    let mut pcap = Pcap { order, unit_ns, record_header: record_headers[0], lengths, lent: 0 };
    pcap.record_header = pcap.guess(source, record_headers);
    Ok(pcap)
}

impl Pcap {
    /// Puts the next record into the window, after `records` others.
    pub fn next(&mut self, source: &mut Source<'_>, records: u64) -> Result<Option<Found>, CaptureError> {
        source.skip(std::mem::take(&mut self.lent)).map_err(read_error(source, records))?;
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
        let Some(Head { seconds, fraction, length, original_length }) = head else {
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
        self.lent = needed as u64;
        // Some writers let the fraction exceed a second; the sum is then what they meant.
        let time = Time::from_ns(u64::from(seconds) * 1_000_000_000)
            + Span::from_ns(u64::from(fraction) * self.unit_ns);
        let time = (time < Time::NEVER).then_some(time);
        Ok(Some(Found { interface: 0, time, original_length, skip: self.record_header, length }))
    }

    /// The numbers of a record that begins here.
    fn head(&self, bytes: &[u8]) -> Option<Head> {
        let word = |n: usize| self.order.u32(bytes, 4 * n);
        let (first, second) = (word(2)?, word(3)?);
        let (length, original_length) = match self.lengths {
            Lengths::CapturedFirst => (first, second),
            Lengths::OriginalFirst => (second, first),
            Lengths::SmallerIsCaptured => (first.min(second), first.max(second)),
        };
        Some(Head { seconds: word(0)?, fraction: word(1)?, length, original_length })
    }

    /// Which of these lengths the headers of records have, by what the first records look like. As libpcap
    /// reads it, unless its second record makes no sense and another reading's records do.
    fn guess(&self, source: &mut Source<'_>, candidates: &[usize]) -> usize {
        let [likeliest, others @ ..] = candidates else { unreachable!("a dialect has a header of records") };
        if others.is_empty() {
            return *likeliest;
        }
        if let (_, true) = self.records_that_make_sense(source, *likeliest) {
            return *likeliest;
        }
        // Files of the standard kind that are cut are commoner than files of 1999.
        let enough = if *likeliest == RECORD_HEADER { 2 } else { 1 };
        let fits = |header: &&usize| {
            let (seen, sound) = self.records_that_make_sense(source, **header);
            sound && seen >= enough
        };
        *others.iter().find(fits).unwrap_or(likeliest)
    }

    /// How many of the first three records make sense if their headers are so long, and whether all do and
    /// are whole.
    fn records_that_make_sense(&self, source: &mut Source<'_>, header: usize) -> (usize, bool) {
        let mut at = 0;
        for seen in 0..3 {
            let end = at + header;
            if end > WINDOW {
                return (seen, true);
            }
            let found = source.look(end);
            if found < end {
                return (seen, found == at);
            }
            let bytes = &source.peek(end)[at..];
            let head = self.head(bytes).expect("every header has these numbers");
            // Machines of 1999 had few interfaces; Linux knows five types of packets, from "to us" to "from us".
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
