//! Control frames (9.3.1).

use super::{Frame, FrameError, FrameType, HT_CONTROL, MacAddress, address, require_bytes};
use crate::bytes::{ByteOrder, array, field};

/// Control frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Control {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
    /// Block acknowledgement.
    BlockAck(BlockAck),
    /// Block acknowledgement request: the starting sequence number, if it requests a single traffic
    /// identifier.
    BlockAckRequest(Option<u16>),
    /// PS-Poll, by which a station in power-save mode requests its buffered frames: the association
    /// identifier.
    PsPoll(u16),
    /// CF-End: end of a contention-free period or of a reservation.
    CfEnd,
    /// CF-End with an acknowledgement.
    CfEndAck,
    /// NDP announcement, before a sounding frame.
    NdpAnnouncement,
    /// Trigger frame, which solicits simultaneous transmissions.
    Trigger,
    /// Control wrapper, which adds an HT control field: the subtype of the wrapped frame.
    Wrapper(u8),
    /// Other control frame: its subtype.
    Other(u8),
}

/// Block acknowledgement (9.3.1.9).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BlockAck {
    /// Traffic identifier.
    pub tid: u8,
    /// Sequence number of bit 0, in the basic and the compressed variant.
    pub start: Option<u16>,
    /// One bit per received frame, in the compressed variant.
    pub bitmap: Option<BlockAckBitmap>,
}

impl BlockAck {
    /// Whether the frame with this sequence number was received; none outside the bitmap.
    pub fn acknowledges(&self, sequence: u16) -> Option<bool> {
        const SEQUENCES: u16 = 4_096;
        let place = (SEQUENCES + sequence % SEQUENCES - self.start? % SEQUENCES) % SEQUENCES;
        let BlockAckBitmap { words, bits } = self.bitmap?;
        (place < bits).then(|| words[usize::from(place / 64)] >> (place % 64) & 1 == 1)
    }
}

/// Bitmap of a block acknowledgement; the first 256 bits of a longer one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BlockAckBitmap {
    /// Bits, from the lowest of the first word on.
    pub words: [u64; 4],
    /// Number of bits: 64 or 256.
    pub bits: u16,
}

impl Frame {
    pub(super) fn control(&mut self, bytes: &[u8], subtype: u8) -> Result<(), FrameError> {
        const ONE_ADDRESS: usize = 10;
        const TWO_ADDRESSES: usize = 16;
        let two = matches!(subtype, 2..=5 | 8..=11 | 14..=15);
        require_bytes("a control header", bytes, if two { TWO_ADDRESSES } else { ONE_ADDRESS })?;
        self.receiver = address(bytes, 4);
        self.transmitter = if two { address(bytes, 10).map(MacAddress::individual) } else { None };
        self.header_bytes = if two { TWO_ADDRESSES } else { ONE_ADDRESS } as u32;
        let control = match subtype {
            2 => Control::Trigger,
            5 => Control::NdpAnnouncement,
            7 => {
                // The frame control field of the wrapped frame, and HT control.
                const LENGTH: usize = ONE_ADDRESS + 2 + HT_CONTROL;
                require_bytes("a control wrapper", bytes, LENGTH)?;
                self.header_bytes = LENGTH as u32;
                Control::Wrapper(
                    ByteOrder::Little.u16(bytes, ONE_ADDRESS).map_or(0, |carried| field(carried, 4, 4)),
                )
            }
            8 => Control::BlockAckRequest(block_ack(bytes, TWO_ADDRESSES).and_then(|request| request.start)),
            9 => {
                let unread = BlockAck { tid: 0, start: None, bitmap: None };
                Control::BlockAck(block_ack(bytes, TWO_ADDRESSES).unwrap_or(unread))
            }
            10 => {
                self.bssid = self.receiver;
                Control::PsPoll(ByteOrder::Little.u16(bytes, 2).unwrap_or_default() & 0x3fff)
            }
            11 => Control::Rts,
            12 => Control::Cts,
            13 => Control::Ack,
            14 | 15 => {
                // The second address is the BSSID, not a transmitter (802.11-2020, 9.3.1.6).
                self.bssid = self.transmitter.take();
                if subtype == 14 { Control::CfEnd } else { Control::CfEndAck }
            }
            other => Control::Other(other),
        };
        self.kind = FrameType::Control(control);
        Ok(())
    }
}

/// Fields common to a block acknowledgement and its request, and the bitmap.
fn block_ack(bytes: &[u8], at: usize) -> Option<BlockAck> {
    let control = ByteOrder::Little.u16(bytes, at)?;
    // Types 0 and 2, basic and compressed, have one starting sequence number after the control field (table
    // 9-24).
    let kind = field(control, 1, 4);
    let starting = ByteOrder::Little.u16(bytes, at + 2).filter(|_| matches!(kind, 0 | 2));
    // In a compressed one the fragment number encodes the length of the bitmap: nonzero for more than 8 bytes
    // (802.11ax-2021, table 9-30b; 802.11be adds longer ones).
    let bitmap =
        starting.filter(|_| kind == 2).and_then(|starting| bitmap(bytes, at + 4, starting & 0xf != 0));
    Some(BlockAck { tid: field(control, 12, 4), start: starting.map(|starting| starting >> 4), bitmap })
}

fn bitmap(bytes: &[u8], at: usize, is_long: bool) -> Option<BlockAckBitmap> {
    let word = |number: usize| array(bytes, at + 8 * number).map(u64::from_le_bytes);
    let first = word(0)?;
    if !is_long {
        return Some(BlockAckBitmap { words: [first, 0, 0, 0], bits: 64 });
    }
    Some(BlockAckBitmap { words: [first, word(1)?, word(2)?, word(3)?], bits: 256 })
}
