//! What the frame log sees of the run. It looks on, and changes nothing in it.

use super::World;
use crate::airlog::AirLog;
use crate::framelog::FrameLog;
use crate::medium::Frame;
use crate::record::Polled;
use multihop_core::Port;

/// What is written while a run goes on.
#[derive(Default)]
pub struct Logs {
    /// What every radio sees, as a capture.
    pub air: Option<AirLog>,
    /// Every transmission.
    pub frames: Option<FrameLog>,
}

impl From<AirLog> for Logs {
    fn from(log: AirLog) -> Logs {
        Logs { air: Some(log), frames: None }
    }
}

impl From<FrameLog> for Logs {
    fn from(log: FrameLog) -> Logs {
        Logs { air: None, frames: Some(log) }
    }
}

impl World {
    /// A frame begins, or would have if the radio of its sender were on.
    pub(super) fn frame_begins(&mut self, frame: &Frame) {
        let Some(mut log) = self.frame_log.take() else { return };
        self.log_packets(&mut log);
        let sender = &self.nodes[self.order.of(frame.from)];
        let access = sender.mac.access(frame);
        let packet = frame.packet.or(access.packet).map(|handle| &self.packets.get(handle).packet);
        log.begins(frame, &access, sender.stack.queue_length(), packet);
        let mut place = 0;
        while let Some((flow, is_due)) = log.flow_from(frame.from, place, self.now) {
            place += 1;
            if is_due {
                let end = self.network.flows[flow as usize].ends[Port::Sender as usize];
                log.sender(flow, &sender.stack.end(end).endpoint().progress(), self.now);
            }
        }
        self.frame_log = Some(log);
    }

    /// Hands to the log the packets that were lost, or came otherwise than by a frame, since the last time.
    #[inline]
    pub(super) fn log_packets(&mut self, log: &mut FrameLog) {
        if let Some(Polled { dropped, came }) = self.record.poll_packets() {
            for dropped in dropped.drain(..) {
                log.dropped(&dropped);
            }
            for came in came.drain(..) {
                log.came(&came);
            }
        }
    }

    /// A frame ended at some listeners: at these places among the links of its sender, or at all.
    #[inline(never)]
    pub(super) fn frame_ends(&mut self, frame: &Frame, reached: super::air::Reached, is_lost: bool) {
        let Some(mut log) = self.frame_log.take() else { return };
        let links = self.listeners.of(frame.from);
        let listeners = (0..reached.map_or(links.len(), <[_]>::len))
            .map(|index| &links[reached.map_or(index, |places| places[index].1 as usize)]);
        let navs = listeners.map(|link| (link.to, self.nodes[link.row()].mac.nav()));
        let reached = log.ended(frame, navs, self.now);
        if let (Some(to), Some(load)) = (frame.to.filter(|_| reached && !is_lost), frame.load) {
            let there = self.node(to).radio.arrived();
            let mpdus = self.loads.mpdus(Some(load));
            // One that is alone arrived with its frame.
            let arrived = |place| mpdus.len() < 2 || there.has(place);
            let of_mpdu = |(place, mpdu): (usize, &crate::medium::Mpdu)| {
                std::iter::successors(Some(mpdu.packet), |packet| self.packets.next_msdu(*packet))
                    .map(move |handle| (handle, arrived(place)))
            };
            let mpdus = mpdus.iter().enumerate().flat_map(of_mpdu);
            log.aggregate(frame, mpdus.map(|(handle, arrived)| (&self.packets.get(handle).packet, arrived)));
        }
        self.frame_log = Some(log);
    }
}
