//! Which data arrived, by block acknowledgements.

use crate::{CapturedFrame, Number, StationId};
use multihop_capture::{BlockAck, FrameType};
use multihop_core::Time;
use std::collections::BTreeMap;

/// Data frames that share a fate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Group {
    /// How many.
    pub frames: u64,
    /// Bytes that the network layer asked the MAC to carry in them.
    pub bytes: u64,
    /// When the PPDU began in which so many of them were sent first. Of more than these PPDUs the last has
    /// all others.
    first: [(Time, u32); PPDUS],
}

/// Retries are few, so that the frames of a group were sent first in few PPDUs.
const PPDUS: usize = 8;

impl Group {
    fn add(&mut self, waiting: &Waiting) {
        self.frames += 1;
        self.bytes += u64::from(waiting.size);
        let is_it = |(start, count): &(Time, u32)| *count == 0 || *start == waiting.first;
        let place = self.first.iter().position(is_it).unwrap_or(PPDUS - 1);
        let (start, count) = &mut self.first[place];
        if *count == 0 {
            *start = waiting.first;
        }
        *count += 1;
    }

    /// PPDUs in which they were sent first, and how many in each.
    pub fn first_sent(&self) -> impl Iterator<Item = (Time, u32)> {
        self.first.into_iter().take_while(|(_, count)| *count > 0)
    }
}

/// What a block acknowledgement settles.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Settled {
    /// What arrived.
    pub arrived: Group,
    /// What did not, and will not be sent again.
    pub given_up: Group,
}

/// A data frame that was not acknowledged so far.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: Number,
    size: u32,
    /// When the PPDU began in which it was sent first.
    first: Time,
}

/// Data frames of quality of service that were seen and not acknowledged so far, by sender and receiver.
///
/// A block acknowledgement may be about frames of an earlier exchange, if the answer to that was lost and
/// asked for again. One that is cut, or of a kind with other fields, is taken to say that all arrived. What
/// the sniffer missed has no size, and does not count.
#[derive(Clone, Debug, Default)]
pub struct BlockAcks(BTreeMap<(StationId, StationId), Vec<Waiting>>);

/// No agreement covers more, in 802.11be.
const MOST_FRAMES: usize = 1_024;
/// Links beyond so many are not distinguished.
const MOST_LINKS: usize = 16_384;

impl BlockAcks {
    /// A data frame in a PPDU that began then; its traffic identifier says that there may be an agreement
    /// about it.
    pub fn sent(&mut self, frame: &CapturedFrame, ppdu: Time) {
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
        let mut first = ppdu;
        if frame.frame.retry {
            if let Some(at) = waiting.iter().position(|other| other.number == number) {
                first = waiting.remove(at).first;
            }
        } else if waiting.len() >= MOST_FRAMES {
            waiting.remove(0);
        }
        waiting.push(Waiting { number, size: frame.size, first });
    }

    /// An ACK for this one.
    pub fn acknowledged(&mut self, sender: StationId, receiver: StationId, number: Number) {
        if let Some(waiting) = self.0.get_mut(&(sender, receiver)) {
            waiting.retain(|other| other.number != number);
        }
    }

    /// A block acknowledgement of `receiver`: what it says to have arrived, and what it moves on behind.
    pub fn block(&mut self, sender: StationId, receiver: StationId, said: &BlockAck) -> Settled {
        let mut settled = Settled::default();
        let Some(waiting) = self.0.get_mut(&(sender, receiver)) else { return settled };
        waiting.retain(|data| {
            let number = data.number;
            let is_about = said.bitmap.is_none() || number.tid == Some(said.tid);
            let is_there =
                is_about && (said.bitmap.is_none() || said.acknowledges(number.sequence) == Some(true));
            // What lies before its first number will not be sent again (10.24.7.5).
            let is_over = is_about && said.start.is_some_and(|start| is_before(number.sequence, start));
            if is_there {
                settled.arrived.add(data);
            } else if is_over {
                settled.given_up.add(data);
            }
            !is_there && !is_over
        });
        settled
    }
}

/// Does it lie in the half of all sequence numbers before `start`?
fn is_before(sequence: u16, start: u16) -> bool {
    const SEQUENCES: u16 = 4_096;
    (1..SEQUENCES / 2).contains(&((SEQUENCES + start % SEQUENCES - sequence % SEQUENCES) % SEQUENCES))
}
