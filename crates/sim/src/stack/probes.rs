//! Probes that a node sends to a next hop before a communication, for its estimators.

use super::{Stack, StackContext};
use crate::slab::{Handle, PacketContent};
use multihop_core::{DropCause, FlowId, NodeId, Port, Time};
use multihop_link::{ProbeStep, Prober, Probing};
use std::collections::VecDeque;

/// Schedule of the probes of a radio, and packets that wait for their end.
pub(super) struct Probes {
    prober: Prober,
    /// Size of a probe in bytes, headers included.
    size: u32,
    /// Packets that wait, each with its next hop, in the order of arrival.
    held: VecDeque<(NodeId, Handle)>,
}

impl Probes {
    /// Creates the schedule without links.
    pub(super) fn new(probing: Probing) -> Probes {
        Probes { prober: Prober::new(probing), size: probing.size, held: VecDeque::new() }
    }

    /// Time of the next probe or release.
    pub(super) fn next(&self) -> Option<Time> {
        self.prober.next()
    }

    /// Removes the packets that wait for this next hop.
    fn take_held(&mut self, peer: NodeId) -> Vec<Handle> {
        let taken = self.held.iter().filter(|(to, _)| *to == peer).map(|(_, handle)| *handle).collect();
        self.held.retain(|(to, _)| *to != peer);
        taken
    }
}

impl Stack {
    /// Sends the probes that a packet for this next hop makes due. Returns whether the packet waits for the
    /// end of probing. It is dropped if as many packets wait as its queue holds.
    pub(super) fn waits_for_probes(
        &mut self,
        around: &mut StackContext,
        handle: Handle,
        peer: NodeId,
    ) -> bool {
        let Some(probes) = &mut self.probes else { return false };
        let waits = probes.prober.on_packet(around.now, peer);
        if waits {
            let category = self.category(around.packets.get(handle).packet.segment.dscp);
            let limit = self.queues.of(category).limit();
            let held = &mut self.probes.as_mut().expect("present above").held;
            if held.iter().filter(|(to, _)| *to == peer).count() >= limit {
                self.lose(around.now, handle, DropCause::QueueFull, around.packets, around.record);
            } else {
                held.push_back((peer, handle));
            }
        }
        self.send_probes(around);
        waits
    }

    /// Sends the probes that are due, and the packets whose wait is over.
    pub(super) fn send_probes(&mut self, around: &mut StackContext) {
        while let Some(probes) = &mut self.probes
            && let Some(step) = probes.prober.poll(around.now)
        {
            match step {
                ProbeStep::Probe(peer) => {
                    let size = probes.size;
                    let of = (FlowId::PROBES, Port::Receiver);
                    let probe = self.control_packet(around, of, PacketContent::Probe, size, peer);
                    self.queue_up(around, probe, Some(peer));
                }
                ProbeStep::Release(peer) => {
                    for held in probes.take_held(peer) {
                        self.admit_to_radio(around, held, peer);
                    }
                }
            }
        }
    }

    /// Whether packets to this next hop wait for the end of probing.
    pub(super) fn is_probing(&self, peer: NodeId) -> bool {
        self.probes.as_ref().is_some_and(|probes| probes.prober.holds(peer))
    }

    /// Ends the probing of an unreachable next hop, and removes the packets that wait for it.
    pub(super) fn forget_probes(&mut self, peer: NodeId) -> Vec<Handle> {
        let Some(probes) = &mut self.probes else { return Vec::new() };
        probes.prober.forget(peer);
        probes.take_held(peer)
    }
}
