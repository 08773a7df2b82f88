//! What a sender knows of its own flow and of others by its node's radio.

use multihop_core::{FlowId, FrameKind, LinkEvent, Span, Time};

/// Flows of which a sender's node sent or decoded packets lately: its own, those that it forwards, and those that pass within its range.
/// Who reads addresses and ports of what it decodes knows them. A flow counts until nothing of it was sent or decoded for so long as
/// the window is: it ended, its route goes elsewhere, or one of the nodes has moved away.
#[derive(Clone, Debug)]
pub struct ActiveFlows {
    own: FlowId,
    window: Span,
    /// When this radio was last done with a packet of its own flow.
    sent: Option<Time>,
    /// When a packet of its own flow was last overheard on its way between others.
    relayed: Option<Time>,
    /// Each once, with when it was last seen.
    seen: Vec<(FlowId, Time)>,
}

/// The most flows that are told apart; beyond, the one that was seen longest ago makes room.
const MOST: usize = 64;

impl ActiveFlows {
    /// Of the sender of the flow `own`. No flow is known yet; each counts for `window`.
    pub fn new(own: FlowId, window: Span) -> ActiveFlows {
        ActiveFlows { own, window, sent: None, relayed: None, seen: Vec::with_capacity(MOST) }
    }

    /// Something happened at the node's MAC.
    pub fn on_link(&mut self, event: &LinkEvent) {
        match event {
            LinkEvent::Exchange(exchange) => {
                if exchange.flow == self.own {
                    self.sent = Some(exchange.done);
                }
                self.see(exchange.flow, exchange.done);
            }
            LinkEvent::Heard(heard) if heard.kind == FrameKind::Data => {
                let Some(flow) = heard.flow else { return };
                if flow == self.own && heard.to != Some(heard.node) {
                    self.relayed = Some(heard.air.end);
                }
                self.see(flow, heard.air.end);
            }
            _ => {}
        }
    }

    /// Does the flow leave its node by this radio? (It may by a wire.)
    pub fn sends(&self, now: Time) -> bool {
        self.lately(self.sent, now)
    }

    /// Does the next hop pass the flow on by radio? (It may be its end, or have a wire.)
    pub fn is_relayed(&self, now: Time) -> bool {
        self.lately(self.relayed, now)
    }

    fn lately(&self, last: Option<Time>, now: Time) -> bool {
        last.is_some_and(|last| now.since(last) <= self.window)
    }

    fn see(&mut self, flow: FlowId, at: Time) {
        if matches!(flow, FlowId::ROUTING | FlowId::SIGNALLING) {
            return;
        }
        if let Some((_, last)) = self.seen.iter_mut().find(|(known, _)| *known == flow) {
            *last = at;
        } else if self.seen.len() < MOST {
            self.seen.push((flow, at));
        } else if let Some(oldest) = self.seen.iter_mut().min_by_key(|(_, last)| *last) {
            *oldest = (flow, at);
        }
    }

    /// How many flows there are now.
    pub fn count(&mut self, now: Time) -> usize {
        self.seen.retain(|(_, last)| now.since(*last) <= self.window);
        self.seen.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{A, B, C, exchange, heard, us};
    use multihop_core::{Exchange, Fate};

    fn flows() -> ActiveFlows {
        ActiveFlows::new(FlowId(0), Span::from_ms(1_000))
    }

    /// Sends a packet of a flow, done at this microsecond.
    fn sends(flows: &mut ActiveFlows, flow: FlowId, at: u64) {
        let exchange = Exchange { flow, ..exchange(1500, at - 10, at, Fate::Acknowledged) };
        flows.on_link(&LinkEvent::Exchange(exchange));
    }

    #[test]
    fn flows_that_are_sent_and_overheard_count_once_each() {
        let mut flows = flows();
        assert_eq!(flows.count(us(0)), 0);
        sends(&mut flows, FlowId(0), 100);
        sends(&mut flows, FlowId(0), 200);
        assert_eq!(flows.count(us(200)), 1);
        flows.on_link(&heard(FrameKind::Data, B, C, (300, 400), 0)); // of flow 1
        flows.on_link(&heard(FrameKind::Data, C, A, (500, 600), 0));
        assert_eq!(flows.count(us(600)), 2);
        // Control frames say of no flow what they are for, and routing and signalling are none.
        flows.on_link(&heard(FrameKind::Rts, B, C, (700, 800), 1_000));
        sends(&mut flows, FlowId::ROUTING, 900);
        sends(&mut flows, FlowId::SIGNALLING, 950);
        assert_eq!(flows.count(us(1_000)), 2);
    }

    #[test]
    fn the_own_flow_leaves_by_this_radio_and_the_next_hop_passes_it_on() {
        let mut flows = ActiveFlows::new(FlowId(1), Span::from_ms(1_000));
        sends(&mut flows, FlowId(0), 100);
        flows.on_link(&heard(FrameKind::Data, B, A, (200, 300), 0)); // a report
        assert!(!flows.sends(us(300)) && !flows.is_relayed(us(300)));
        sends(&mut flows, FlowId(1), 400);
        flows.on_link(&heard(FrameKind::Data, B, C, (500, 600), 0));
        assert!(flows.sends(us(1_000_400)) && flows.is_relayed(us(1_000_600)));
        assert!(!flows.sends(us(1_000_401)) && !flows.is_relayed(us(1_000_601)));
    }

    #[test]
    fn who_is_not_seen_for_a_window_is_forgotten() {
        let mut flows = flows();
        sends(&mut flows, FlowId(0), 100);
        flows.on_link(&heard(FrameKind::Data, B, C, (300, 400), 0));
        sends(&mut flows, FlowId(0), 500_100);
        assert_eq!(flows.count(us(1_000_400)), 2, "a window after the frame that was overheard");
        assert_eq!(flows.count(us(1_000_401)), 1);
        assert_eq!(flows.count(us(1_500_101)), 0);
        sends(&mut flows, FlowId(0), 2_000_000);
        assert_eq!(flows.count(us(2_000_000)), 1, "back again");
    }

    #[test]
    fn there_is_room_for_so_many_and_the_latest_stay() {
        let mut flows = flows();
        (0..100).for_each(|flow| sends(&mut flows, FlowId(flow), 100 + u64::from(flow)));
        assert_eq!(flows.count(us(200)), MOST);
        assert!(flows.seen.iter().all(|(flow, _)| flow.0 >= 36));
        assert_eq!(flows.seen.capacity(), MOST, "nothing was allocated");
    }
}
