//! Which data arrived, by block acknowledgements.

use crate::{CapturedFrame, Number, StationId};
use multihop_capture::{BlockAck, FrameType};
use std::collections::BTreeMap;

/// Data that arrived.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Arrived {
    /// Frames of it.
    pub frames: u64,
    /// Bytes that the network layer asked the MAC to carry in them.
    pub bytes: u64,
}

/// Data frames of quality of service that were seen and not acknowledged so far, by sender and receiver.
///
/// A block acknowledgement may be about frames of an earlier exchange, if the answer to that was lost and asked for again. One that is
/// cut, or of a kind with other fields, is taken to say that all arrived. What the sniffer missed has no size, and does not count.
#[derive(Clone, Debug, Default)]
pub struct BlockAcks(BTreeMap<(StationId, StationId), Vec<(Number, u32)>>);

/// No agreement covers more, in 802.11be.
const MOST_FRAMES: usize = 1_024;
/// Links beyond so many are not distinguished.
const MOST_LINKS: usize = 16_384;

impl BlockAcks {
    /// A data frame, of which the traffic identifier says that there may be an agreement about it.
    pub fn sent(&mut self, frame: &CapturedFrame) {
        let (Some(sender), Some(receiver), Some(number)) =
            (frame.transmitter, frame.receiver, frame.number())
        else {
            return;
        };
        let is_data = matches!(frame.frame.kind, FrameType::Data(data) if !data.null);
        if !is_data || number.tid.is_none() || self.0.len() >= MOST_LINKS {
            return;
        }
        let waiting = self.0.entry((sender, receiver)).or_default();
        if frame.frame.retry {
            waiting.retain(|(other, _)| *other != number);
        } else if waiting.len() >= MOST_FRAMES {
            waiting.remove(0);
        }
        waiting.push((number, frame.size));
    }

    /// An ACK for this one.
    pub fn acknowledged(&mut self, sender: StationId, receiver: StationId, number: Number) {
        if let Some(waiting) = self.0.get_mut(&(sender, receiver)) {
            waiting.retain(|(other, _)| *other != number);
        }
    }

    /// A block acknowledgement of `receiver`: what it says to have arrived.
    pub fn block(&mut self, sender: StationId, receiver: StationId, said: &BlockAck) -> Arrived {
        let mut arrived = Arrived::default();
        let Some(waiting) = self.0.get_mut(&(sender, receiver)) else { return arrived };
        waiting.retain(|(number, size)| {
            let is_about = said.bitmap.is_none() || number.tid == Some(said.tid);
            let is_there =
                is_about && (said.bitmap.is_none() || said.acknowledges(number.sequence) == Some(true));
            if is_there {
                arrived.frames += 1;
                arrived.bytes += u64::from(*size);
            }
            // What lies before its first number will not be sent again (10.24.7.5).
            let is_over = is_about && said.start.is_some_and(|start| is_before(number.sequence, start));
            !is_there && !is_over
        });
        arrived
    }
}

/// Does it lie in the half of all sequence numbers before `start`?
fn is_before(sequence: u16, start: u16) -> bool {
    const SEQUENCES: u16 = 4_096;
    (1..SEQUENCES / 2).contains(&((SEQUENCES + start % SEQUENCES - sequence % SEQUENCES) % SEQUENCES))
}
