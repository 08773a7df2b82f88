//! The pcap format (draft-ietf-opsawg-pcap): a header, then records one after the other.

use super::source::Source;
use super::{CaptureError, Found, Interface, MAX_RECORD_BYTES, read_error};
use crate::LinkType;
use crate::bytes::{Order, bit};
use multihop_core::{Span, Time};

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// Where a pcap file stands.
pub(super) struct Pcap {
    order: Order,
    /// Nanoseconds of a unit of the fraction of a second.
    unit_ns: u64,
    /// Bytes of the record before, which are still in the window because they were lent out.
    lent: u64,
}

/// Reads the header of the file, whose magic number has told the byte order and the unit of time.
pub(super) fn begin(
    source: &mut Source<'_>,
    order: Order,
    unit_ns: u64,
    interfaces: &mut Vec<Interface>,
) -> Result<Pcap, CaptureError> {
    let found = source.fill(FILE_HEADER).map_err(read_error(source, 0))?;
    let header = source.peek(found);
    let fields = (order.u16(header, 4), order.u16(header, 6), order.u32(header, 16), order.u32(header, 20));
    let (Some(major), Some(minor), Some(snap_length), Some(link)) = fields else {
        let (needed, found) = (FILE_HEADER as u64, found as u64);
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
    // The upper half of the link type may give the length of the FCS, in units of 16 bits.
    let fcs_bytes = bit(link, 26).then(|| (link >> 28) as u8 * 2);
    let link_type = LinkType::from_number(link as u16);
    interfaces.push(Interface { link_type, snap_length, fcs_bytes, name: None });
    source.skip(FILE_HEADER as u64).map_err(read_error(source, 0))?;
    Ok(Pcap { order, unit_ns, lent: 0 })
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
        let found = source.fill(RECORD_HEADER).map_err(read_error(source, records))?;
        if found == 0 {
            return Ok(None);
        }
        let header = source.peek(found);
        let word = |n: usize| self.order.u32(header, 4 * n);
        let (Some(seconds), Some(fraction), Some(length), Some(original_length)) =
            (word(0), word(1), word(2), word(3))
        else {
            return truncated("the header of a packet", RECORD_HEADER, found);
        };
        if length > MAX_RECORD_BYTES {
            let (found, limit) = (u64::from(length), u64::from(MAX_RECORD_BYTES));
            return Err(CaptureError::TooLong { record, offset, what: "a packet", found, limit });
        }
        let length = length as usize;
        let needed = RECORD_HEADER + length;
        let found = source.fill(needed).map_err(read_error(source, records))?;
        if found < needed {
            return truncated("a packet", needed, found);
        }
        self.lent = needed as u64;
        // Some writers let the fraction exceed a second; the sum is then what they meant.
        let time = Time::from_ns(u64::from(seconds) * 1_000_000_000)
            + Span::from_ns(u64::from(fraction) * self.unit_ns);
        let time = (time < Time::NEVER).then_some(time);
        Ok(Some(Found { interface: 0, time, original_length, skip: RECORD_HEADER, length }))
    }
}
