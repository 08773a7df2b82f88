//! The pcapng format (draft-ietf-opsawg-pcapng): blocks, of which those of packets and interfaces are read.

use super::window::WindowReader;
use super::{CaptureError, CaptureInterface, FoundPacket, MAX_RECORD_BYTES, read_error};
use crate::LinkType;
use crate::bytes::{ByteOrder, array};
use multihop_core::Time;

// Block types (section 10.1 of the draft).
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Type and length before a block; the length is repeated at its end.
const BLOCK_HEADER: usize = 8;
const BLOCK_TRAILER: u64 = 4;

/// Fixed part of a section header, with its block header.
const SECTION_HEADER: usize = 24;

/// Limits on the size of an interface description and on the number of interfaces, far above any that are
/// written.
const MAX_DESCRIPTION_BYTES: u32 = 262_144;
const MAX_INTERFACES: usize = 65_536;
const MAX_NAME_BYTES: usize = 256;

/// State of reading a pcapng file.
#[derive(Default)]
pub(super) struct Pcapng {
    /// Byte order of the section; none before the first section.
    order: Option<ByteOrder>,
    /// Index of the first interface of the section, and the clocks of its interfaces.
    first_interface: usize,
    clocks: Vec<InterfaceClock>,
    /// Block at the start of the window that has been read; the caller may borrow a packet of it.
    current_block: Option<BlockSpan>,
}

/// Timestamp clock of an interface.
#[derive(Clone, Copy)]
struct InterfaceClock {
    units_per_second: u128,
    offset_s: i64,
}

/// Offset of a block, and its length including both block lengths.
#[derive(Clone, Copy)]
struct BlockSpan {
    offset: u64,
    length: u32,
}

/// State that the reading of a block needs.
struct BlockContext<'a, 'r> {
    source: &'a mut WindowReader<'r>,
    interfaces: &'a mut Vec<CaptureInterface>,
    records: u64,
    offset: u64,
}

impl Pcapng {
    /// Loads the next packet into the window, after `records` others.
    pub fn next(
        &mut self,
        source: &mut WindowReader<'_>,
        interfaces: &mut Vec<CaptureInterface>,
        records: u64,
    ) -> Result<Option<FoundPacket>, CaptureError> {
        let mut context = BlockContext { offset: source.offset(), source, interfaces, records };
        loop {
            if let (Some(block), Some(order)) = (self.current_block.take(), self.order) {
                context.offset = block.offset;
                context.skip_block(order, block)?;
            }
            context.offset = context.source.offset();
            let found = context.fill(BLOCK_HEADER)?;
            if found == 0 {
                return Ok(None);
            }
            context.require("the header of a block", BLOCK_HEADER)?;
            if let Some(packet) = self.read_block(&mut context)? {
                return Ok(Some(packet));
            }
        }
    }

    /// Reads the block at the start of the window and sets `current_block`.
    fn read_block(
        &mut self,
        context: &mut BlockContext<'_, '_>,
    ) -> Result<Option<FoundPacket>, CaptureError> {
        let header = context.source.peek(BLOCK_HEADER);
        let raw: [u8; 4] = array(header, 0).unwrap_or_default();
        if raw == SECTION.to_be_bytes() {
            self.section(context)?;
            return Ok(None);
        }
        let order = self.order.unwrap_or(ByteOrder::Little);
        let kind = order.u32(header, 0).unwrap_or_default();
        let length = order.u32(header, 4).unwrap_or_default();
        context.check_block_length(length)?;
        // The window stays at the start of the block until `skip_block` passes it.
        self.current_block = Some(BlockSpan { offset: context.offset, length });
        match kind {
            INTERFACE => {
                self.interface(context, order, length)?;
                Ok(None)
            }
            ENHANCED_PACKET | PACKET => self.packet(context, order, length, kind).map(Some),
            SIMPLE_PACKET => self.simple_packet(context, order, length).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads a section header, which sets the byte order and discards earlier interfaces.
    fn section(&mut self, context: &mut BlockContext<'_, '_>) -> Result<(), CaptureError> {
        context.require("the header of a section", SECTION_HEADER)?;
        let header = context.source.peek(SECTION_HEADER);
        let order = match array(header, 8) {
            Some([0x1a, 0x2b, 0x3c, 0x4d]) => ByteOrder::Big,
            Some([0x4d, 0x3c, 0x2b, 0x1a]) => ByteOrder::Little,
            other => {
                let found = format!("a section with the byte-order magic {:02x?}", other.unwrap_or_default());
                return Err(context.error(found, "1a 2b 3c 4d in either order would do"));
            }
        };
        let major = order.u16(header, 12).unwrap_or_default();
        let minor = order.u16(header, 14).unwrap_or_default();
        let length = order.u32(header, 4).unwrap_or_default();
        if major != 1 {
            return Err(CaptureError::UnknownVersion { format: "pcapng", major, minor, known: "1.0" });
        }
        context.check_block_length(length)?;
        if (length as usize) < SECTION_HEADER + BLOCK_TRAILER as usize {
            return Err(context.error(format!("a section header of {length} bytes"), "28 or more would do"));
        }
        self.order = Some(order);
        self.first_interface = context.interfaces.len();
        self.clocks.clear();
        self.current_block = Some(BlockSpan { offset: context.offset, length });
        Ok(())
    }

    /// Reads an interface description.
    fn interface(
        &mut self,
        context: &mut BlockContext<'_, '_>,
        order: ByteOrder,
        length: u32,
    ) -> Result<(), CaptureError> {
        const FIXED: usize = 16;
        context.at_most("an interface description", length, MAX_DESCRIPTION_BYTES)?;
        context.require_length("an interface description", length, FIXED)?;
        if context.interfaces.len() == MAX_INTERFACES {
            return Err(context.error(
                format!("the description of interface {}", MAX_INTERFACES + 1),
                "65536 interfaces would do; split the file",
            ));
        }
        let needed = length as usize - BLOCK_TRAILER as usize;
        context.require("an interface description", needed)?;
        let body = context.source.peek(needed);
        let mut interface = CaptureInterface {
            link_type: LinkType::from_number(order.u16(body, 8).unwrap_or_default()),
            snap_length: order.u32(body, 12).unwrap_or_default(),
            fcs_bytes: None,
            name: None,
        };
        let mut clock = InterfaceClock { units_per_second: 1_000_000, offset_s: 0 };
        for (code, value) in options(order, &body[FIXED..]) {
            match (code, value) {
                (2, name) => {
                    let name = &name[..name.len().min(MAX_NAME_BYTES)];
                    interface.name = Some(String::from_utf8_lossy(name).into_owned());
                }
                // if_tsresol: a power of two or of ten, selected by the highest bit.
                (9, &[resolution]) => {
                    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
                    let power = base.checked_pow(u32::from(resolution & 0x7f));
                    let Some(units_per_second) = power.filter(|units| *units <= u128::from(u64::MAX)) else {
                        let found = format!("a clock of {base}^{} units per second", resolution & 0x7f);
                        return Err(context.error(found, "up to 10^19 or 2^63 would do"));
                    };
                    clock.units_per_second = units_per_second;
                }
                // if_fcslen is in bits by the draft; some writers give bytes.
                (13, &[fcs]) => interface.fcs_bytes = Some(if fcs < 8 { fcs } else { fcs / 8 }),
                (14, offset) => clock.offset_s = order.u64(offset, 0).unwrap_or_default() as i64,
                _ => {}
            }
        }
        context.interfaces.push(interface);
        self.clocks.push(clock);
        Ok(())
    }

    /// Reads an enhanced packet block, or its predecessor, the packet block, whose interface index has 16
    /// bits.
    fn packet(
        &mut self,
        context: &mut BlockContext<'_, '_>,
        order: ByteOrder,
        length: u32,
        kind: u32,
    ) -> Result<FoundPacket, CaptureError> {
        const FIXED: usize = 28;
        context.require_length("a packet block", length, FIXED)?;
        context.require("the header of a packet block", FIXED)?;
        let header = context.source.peek(FIXED);
        let word = |n: usize| order.u32(header, 4 * n).unwrap_or_default();
        let id = if kind == PACKET { u32::from(order.u16(header, 8).unwrap_or_default()) } else { word(2) };
        let (high, low, captured, original_length) = (word(3), word(4), word(5), word(6));
        let (interface, clock) = self.interface_of(context, id)?;
        let time = clock.time(u64::from(high) << 32 | u64::from(low));
        context.packet_fits(captured, length, FIXED)?;
        context.require("a packet block", FIXED + captured as usize)?;
        Ok(FoundPacket { interface, time, original_length, skip: FIXED, length: captured as usize })
    }

    /// Reads a simple packet block: interface 0, no time, cut to the snap length.
    fn simple_packet(
        &mut self,
        context: &mut BlockContext<'_, '_>,
        order: ByteOrder,
        length: u32,
    ) -> Result<FoundPacket, CaptureError> {
        const FIXED: usize = 12;
        context.require_length("a simple packet block", length, FIXED)?;
        context.require("the header of a simple packet block", FIXED)?;
        let original_length = order.u32(context.source.peek(FIXED), 8).unwrap_or_default();
        let (interface, _) = self.interface_of(context, 0)?;
        let snap_length = match context.interfaces[interface].snap_length {
            0 => u32::MAX,
            limit => limit,
        };
        let room = length - FIXED as u32 - BLOCK_TRAILER as u32;
        let captured = original_length.min(snap_length).min(room);
        context.packet_fits(captured, length, FIXED)?;
        context.require("a simple packet block", FIXED + captured as usize)?;
        Ok(FoundPacket { interface, time: None, original_length, skip: FIXED, length: captured as usize })
    }

    /// Index and clock of the interface with this number in the section.
    fn interface_of(
        &self,
        context: &BlockContext<'_, '_>,
        id: u32,
    ) -> Result<(usize, InterfaceClock), CaptureError> {
        match self.clocks.get(id as usize) {
            Some(clock) => Ok((self.first_interface + id as usize, *clock)),
            None => Err(context.error(
                format!("a packet of interface {id}, of {} described", self.clocks.len()),
                "an interface description must precede its packets; the file is damaged here",
            )),
        }
    }
}

impl InterfaceClock {
    /// Time of a timestamp, if it is between 1970 and 2116.
    fn time(self, stamp: u64) -> Option<Time> {
        let ns = u128::from(stamp) * 1_000_000_000 / self.units_per_second;
        let ns = i128::try_from(ns).ok()? + i128::from(self.offset_s) * 1_000_000_000;
        u64::try_from(ns).ok().map(Time::from_ns).filter(|time| *time < Time::NEVER)
    }
}

impl BlockContext<'_, '_> {
    fn fill(&mut self, bytes: usize) -> Result<usize, CaptureError> {
        self.source.fill(bytes).map_err(read_error(self.source, self.records))
    }

    /// Fills the window with `bytes` bytes of the block, or reports that the file is truncated.
    fn require(&mut self, what: &'static str, bytes: usize) -> Result<(), CaptureError> {
        let found = self.fill(bytes)?;
        if found == bytes { Ok(()) } else { Err(self.truncated(what, bytes as u64, found as u64)) }
    }

    /// Moves the window past `block` and compares the length at the end of the block with that at its start.
    fn skip_block(&mut self, order: ByteOrder, block: BlockSpan) -> Result<(), CaptureError> {
        let body = u64::from(block.length) - BLOCK_TRAILER;
        let passed = self.source.skip(body).map_err(read_error(self.source, self.records))?;
        let found = self.fill(BLOCK_TRAILER as usize)?;
        if passed < body || found < BLOCK_TRAILER as usize {
            let (needed, found) = (u64::from(block.length), passed + found as u64);
            return Err(self.truncated("a block", needed, found));
        }
        let repeated = order.u32(self.source.peek(found), 0).unwrap_or_default();
        if repeated != block.length {
            let found =
                format!("the length is {} at the start and {repeated} at the end of the block", block.length);
            return Err(self.error(found, "both must be equal; the file is damaged here"));
        }
        self.source.skip(BLOCK_TRAILER).map_err(read_error(self.source, self.records))?;
        Ok(())
    }

    fn check_block_length(&self, length: u32) -> Result<(), CaptureError> {
        if length < BLOCK_HEADER as u32 + BLOCK_TRAILER as u32 || !length.is_multiple_of(4) {
            let found = format!("a length of {length} bytes");
            return Err(self.error(found, "12 or more, in steps of 4, would do; the file is damaged here"));
        }
        Ok(())
    }

    /// Checks that the block is long enough for its fixed part.
    fn require_length(&self, what: &str, length: u32, fixed: usize) -> Result<(), CaptureError> {
        let least = fixed as u64 + BLOCK_TRAILER;
        if u64::from(length) >= least {
            return Ok(());
        }
        let found = format!("{what} of {length} bytes, at least {least} are needed");
        Err(self.error(found, "the file is damaged here"))
    }

    fn at_most(&self, what: &'static str, length: u32, limit: u32) -> Result<(), CaptureError> {
        if length <= limit {
            return Ok(());
        }
        let (found, limit) = (u64::from(length), u64::from(limit));
        Err(CaptureError::TooLong { record: self.records + 1, offset: self.offset, what, found, limit })
    }

    /// Checks that a packet of `captured` bytes is within the limit and fits into its block.
    fn packet_fits(&self, captured: u32, length: u32, fixed: usize) -> Result<(), CaptureError> {
        self.at_most("a packet", captured, MAX_RECORD_BYTES)?;
        if fixed as u64 + u64::from(captured) + BLOCK_TRAILER > u64::from(length) {
            let found = format!("a packet of {captured} bytes in a block of {length}");
            return Err(self.error(found, "the file is damaged here"));
        }
        Ok(())
    }

    fn truncated(&self, what: &'static str, needed: u64, found: u64) -> CaptureError {
        CaptureError::Truncated { record: self.records + 1, offset: self.offset, what, needed, found }
    }

    fn error(&self, found: String, remedy: &'static str) -> CaptureError {
        CaptureError::Block { offset: self.offset, records: self.records, found, remedy }
    }
}

/// Options of a block, code and value, up to the end mark or the first option that does not fit.
fn options(order: ByteOrder, mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let code = order.u16(bytes, 0).filter(|code| *code != 0)?;
        let length = usize::from(order.u16(bytes, 2)?);
        let value = bytes.get(4..4 + length)?;
        bytes = bytes.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        Some((code, value))
    })
}
