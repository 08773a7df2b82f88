//! Delivery of data frames by block acknowledgements.

use crate::{CapturedFrame, FrameNumber, StationId};
use multihop_capture::{BlockAck, FrameType};
use multihop_core::Time;
use std::collections::BTreeMap;

/// Data frames with the same outcome.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MpduGroup {
    /// Number of frames.
    pub frames: u64,
    /// Number of bytes that the network layer asked the MAC to carry in these frames.
    pub bytes: u64,
    /// Start of each PPDU that first sent frames of the group, and the number of these frames. The last entry
    /// includes all further PPDUs.
    first: [(Time, u32); PPDUS],
}

/// Number of PPDUs that a group distinguishes. Retransmissions are few, so that few PPDUs first sent its
/// frames.
const PPDUS: usize = 8;

impl MpduGroup {
    fn add(&mut self, waiting: &UnacknowledgedMpdu) {
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

    /// Start of the PPDUs that first sent the frames, and number of frames in each.
    pub fn first_sent(&self) -> impl Iterator<Item = (Time, u32)> {
        self.first.into_iter().take_while(|(_, count)| *count > 0)
    }
}

/// Outcome of data frames by a block acknowledgement.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct BlockAckOutcome {
    /// Frames that were received.
    pub delivered: MpduGroup,
    /// Frames that were not received and will not be retransmitted.
    pub given_up: MpduGroup,
}

/// Data frame that is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct UnacknowledgedMpdu {
    number: FrameNumber,
    size: u32,
    /// Start of the PPDU that sent the frame first.
    first: Time,
}

/// QoS data frames that were captured and are not acknowledged yet, by sender and receiver.
///
/// A block acknowledgement may concern frames of an earlier exchange, if the first acknowledgement was lost
/// and then requested. One that is cut, or of a variant without a bitmap, counts as acknowledging all frames.
/// Frames that the sniffer missed have an unknown size and are not counted.
#[derive(Clone, Debug, Default)]
pub struct BlockAcks(BTreeMap<(StationId, StationId), Vec<UnacknowledgedMpdu>>);

/// Limit on the frames of a link: the largest agreement in 802.11be.
const MAX_FRAMES: usize = 1_024;
/// Limit on the number of links.
const MAX_LINKS: usize = 16_384;

impl BlockAcks {
    /// Processes a data frame of a PPDU that began at `ppdu`. Frames with a traffic identifier may be under a
    /// block acknowledgement agreement.
    pub fn on_data(&mut self, frame: &CapturedFrame, ppdu: Time) {
        let (Some(sender), Some(receiver), Some(number)) =
            (frame.transmitter, frame.receiver, frame.number())
        else {
            return;
        };
        let is_data = matches!(frame.frame.kind, FrameType::Data(data) if !data.null);
        if !is_data || number.tid.is_none() || self.0.len() >= MAX_LINKS {
            return;
        }
        let waiting = self.0.entry((sender, receiver)).or_default();
        let mut first = ppdu;
        if frame.frame.retry {
            if let Some(at) = waiting.iter().position(|other| other.number == number) {
                first = waiting.remove(at).first;
            }
        } else if waiting.len() >= MAX_FRAMES {
            waiting.remove(0);
        }
        waiting.push(UnacknowledgedMpdu { number, size: frame.size, first });
    }

    /// Processes an ACK of a frame.
    pub fn on_ack(&mut self, sender: StationId, receiver: StationId, number: FrameNumber) {
        if let Some(waiting) = self.0.get_mut(&(sender, receiver)) {
            waiting.retain(|other| other.number != number);
        }
    }

    /// Processes a block acknowledgement of `receiver`. Returns the frames that it acknowledges, and those
    /// before its window.
    pub fn on_block_ack(
        &mut self,
        sender: StationId,
        receiver: StationId,
        said: &BlockAck,
    ) -> BlockAckOutcome {
        let mut settled = BlockAckOutcome::default();
        let Some(waiting) = self.0.get_mut(&(sender, receiver)) else { return settled };
        waiting.retain(|data| {
            let number = data.number;
            let is_about = said.bitmap.is_none() || number.tid == Some(said.tid);
            let is_there =
                is_about && (said.bitmap.is_none() || said.acknowledges(number.sequence) == Some(true));
            // Frames before the starting sequence number are not retransmitted (10.24.7.5).
            let is_over = is_about && said.start.is_some_and(|start| is_before(number.sequence, start));
            if is_there {
                settled.delivered.add(data);
            } else if is_over {
                settled.given_up.add(data);
            }
            !is_there && !is_over
        });
        settled
    }
}

/// Whether a sequence number is in the half of all sequence numbers before `start`.
fn is_before(sequence: u16, start: u16) -> bool {
    const SEQUENCES: u16 = 4_096;
    (1..SEQUENCES / 2).contains(&((SEQUENCES + start % SEQUENCES - sequence % SEQUENCES) % SEQUENCES))
}
