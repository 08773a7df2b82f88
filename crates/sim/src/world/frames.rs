//! Frame log of a run, which observes without changing anything.

use super::World;
use crate::logs::FrameLog;
use crate::medium::Frame;
use crate::record::DrainedEvents;
use multihop_core::Port;

impl World {
    /// Logs a frame that begins, or would have begun if the radio of the sender in this row were on.
    pub(super) fn frame_begins(&mut self, frame: &Frame, row: u32) {
        let Some(log) = self.frame_log.as_deref_mut() else { return };
        if let Some(polled) = self.record.poll_packets() {
            hand_over(polled, log);
        }
        let sender = &self.nodes[row as usize];
        if frame.is_answer() {
            log.response_started(frame, sender.stack.queue_length());
        } else {
            let access = sender.mac.access(frame);
            let packet = frame.packet.or(access.packet).map(|handle| &self.packets.get(handle).packet);
            log.frame_started(frame, &access, sender.stack.queue_length(), packet);
        }
        let mut place = 0;
        while let Some((flow, is_due)) = log.flow_from(frame.from, place, self.now) {
            place += 1;
            if is_due {
                let end = self.network.flows[flow as usize].ends[Port::Sender as usize];
                log.sender_progressed(flow, &sender.stack.end(end).endpoint().progress(), self.now);
            }
        }
    }

    /// Passes packets that were lost, or arrived without a frame, since the last call to the log.
    pub(super) fn log_packets(&mut self, log: &mut FrameLog) {
        if let Some(polled) = self.record.poll_packets() {
            hand_over(polled, log);
        }
    }

    /// Logs the end of a frame at its receiver.
    #[inline]
    pub(super) fn frame_ended(&mut self, frame: &Frame, is_lost: bool) {
        let Some(log) = self.frame_log.as_deref_mut() else { return };
        log.frame_ended(frame);
        if !is_lost && frame.load.is_some() {
            self.load_ended(frame);
        }
    }

    /// Logs the arrival of a frame's packets at its receiver.
    #[inline(never)]
    fn load_ended(&mut self, frame: &Frame) {
        let (Some(to), Some(mut log)) = (frame.to, self.frame_log.take()) else { return };
        let there = self.node(to).radio.arrived();
        let mpdus = self.loads.mpdus(frame.load);
        // A single packet arrived with its frame.
        let arrived = |place| mpdus.len() < 2 || there.has(place);
        let of_mpdu = |(place, mpdu): (usize, &crate::medium::Mpdu)| {
            std::iter::successors(Some(mpdu.packet), |packet| self.packets.next_msdu(*packet))
                .map(move |handle| (handle, arrived(place)))
        };
        let mpdus = mpdus.iter().enumerate().flat_map(of_mpdu);
        log.aggregate_received(
            frame,
            mpdus.map(|(handle, arrived)| (&self.packets.get(handle).packet, arrived)),
        );
        self.frame_log = Some(log);
    }
}

fn hand_over(DrainedEvents { dropped, came }: DrainedEvents, log: &mut FrameLog) {
    for dropped in dropped.drain(..) {
        log.packet_dropped(&dropped);
    }
    for came in came.drain(..) {
        log.packet_entered(&came);
    }
}
