//! Control frames (9.3.1).

use super::{Address, Frame, FrameError, FrameType, HT_CONTROL, address, need};
use crate::bytes::{Order, array, field};

/// What a control frame is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Control {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
    /// Acknowledgement of several frames.
    BlockAck(BlockAck),
    /// The request for one: the first sequence number that it asks for, if it asks for one traffic
    /// identifier.
    BlockAckRequest(Option<u16>),
    /// A station that slept asks for what waits for it; with its association identifier.
    PsPoll(u16),
    /// The end of a contention-free period, or of what was reserved.
    CfEnd,
    /// The same, with an acknowledgement.
    CfEndAck,
    /// Announcement of a frame for sounding.
    NdpAnnouncement,
    /// Asks stations to send together.
    Trigger,
    /// A control frame with an HT control field; the subtype of the frame that it wraps.
    Wrapper(u8),
    /// Another one: its subtype.
    Other(u8),
}

/// An acknowledgement of several frames (9.3.1.9).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BlockAck {
    /// Traffic identifier.
    pub tid: u8,
    /// The sequence number that bit 0 stands for, in the basic and the compressed variant.
    pub start: Option<u16>,
    /// One bit for each frame that arrived, in the compressed variant.
    pub bitmap: Option<Bitmap>,
}

impl BlockAck {
    /// Did the frame with this sequence number arrive? None where it does not say.
    pub fn acknowledges(&self, sequence: u16) -> Option<bool> {
        const SEQUENCES: u16 = 4_096;
        let place = (SEQUENCES + sequence % SEQUENCES - self.start? % SEQUENCES) % SEQUENCES;
        let Bitmap { words, bits } = self.bitmap?;
        (place < bits).then(|| words[usize::from(place / 64)] >> (place % 64) & 1 == 1)
    }
}

/// The bitmap of a block acknowledgement; the first 256 bits if there are more.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bitmap {
    /// The bits, from the lowest of the first word on.
    pub words: [u64; 4],
    /// How many of them there are: 64 or 256.
    pub bits: u16,
}

impl Frame {
    pub(super) fn control(&mut self, bytes: &[u8], subtype: u8) -> Result<(), FrameError> {
        const ONE_ADDRESS: usize = 10;
        const TWO_ADDRESSES: usize = 16;
        let two = matches!(subtype, 2..=5 | 8..=11 | 14..=15);
        need("a control header", bytes, if two { TWO_ADDRESSES } else { ONE_ADDRESS })?;
        self.receiver = address(bytes, 4);
        self.transmitter = if two { address(bytes, 10).map(Address::individual) } else { None };
        self.header_bytes = if two { TWO_ADDRESSES } else { ONE_ADDRESS } as u32;
        let control = match subtype {
            2 => Control::Trigger,
            5 => Control::NdpAnnouncement,
            7 => {
                // The frame control of what it carries, and HT control.
                const LENGTH: usize = ONE_ADDRESS + 2 + HT_CONTROL;
                need("a control wrapper", bytes, LENGTH)?;
                self.header_bytes = LENGTH as u32;
                Control::Wrapper(
                    Order::Little.u16(bytes, ONE_ADDRESS).map_or(0, |carried| field(carried, 4, 4)),
                )
            }
            8 => Control::BlockAckRequest(block_ack(bytes, TWO_ADDRESSES).and_then(|request| request.start)),
            9 => {
                let unread = BlockAck { tid: 0, start: None, bitmap: None };
                Control::BlockAck(block_ack(bytes, TWO_ADDRESSES).unwrap_or(unread))
            }
            10 => {
                self.bssid = self.receiver;
                Control::PsPoll(Order::Little.u16(bytes, 2).unwrap_or_default() & 0x3fff)
            }
            11 => Control::Rts,
            12 => Control::Cts,
            13 => Control::Ack,
            14 | 15 => {
                // The second address is that of the network, and not of the transmitter (802.11-2020, 9.3.1.6).
                self.bssid = self.transmitter.take();
                if subtype == 14 { Control::CfEnd } else { Control::CfEndAck }
            }
            other => Control::Other(other),
        };
        self.kind = FrameType::Control(control);
        Ok(())
    }
}

/// The fields that a block acknowledgement and the request for one share, and the bitmap.
fn block_ack(bytes: &[u8], at: usize) -> Option<BlockAck> {
    let control = Order::Little.u16(bytes, at)?;
    // Types 0 and 2, basic and compressed, have one start behind the control field (table 9-24).
    let kind = field(control, 1, 4);
    let starting = Order::Little.u16(bytes, at + 2).filter(|_| matches!(kind, 0 | 2));
    // Instead of a fragment number, a compressed one says how long its bitmap is: not zero if longer than 8 bytes (802.11ax-2021, table
    // 9-30b; 802.11be adds longer ones).
    let bitmap =
        starting.filter(|_| kind == 2).and_then(|starting| bitmap(bytes, at + 4, starting & 0xf != 0));
    Some(BlockAck { tid: field(control, 12, 4), start: starting.map(|starting| starting >> 4), bitmap })
}

fn bitmap(bytes: &[u8], at: usize, is_long: bool) -> Option<Bitmap> {
    let word = |number: usize| array(bytes, at + 8 * number).map(u64::from_le_bytes);
    let first = word(0)?;
    if !is_long {
        return Some(Bitmap { words: [first, 0, 0, 0], bits: 64 });
    }
    Some(Bitmap { words: [first, word(1)?, word(2)?, word(3)?], bits: 256 })
}
