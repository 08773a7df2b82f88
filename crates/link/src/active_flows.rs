//! Flows that a sender observes through its node's radio.

use multihop_core::{FlowId, FrameKind, LinkEvent, Span, Time};

/// Flows of which a sender's node recently sent or decoded packets: its own, those that it forwards, and
/// those within its range. The node identifies them by the addresses and ports of decoded packets. A flow
/// expires when none of its packets was sent or decoded for one window.
#[derive(Clone, Debug)]
pub struct ActiveFlows {
    own: FlowId,
    window: Span,
    /// Time of the last exchange of a packet of the sender's own flow by this radio.
    sent: Option<Time>,
    /// Time at which a packet of the sender's own flow was last overheard between other nodes.
    relayed: Option<Time>,
    /// Other flows, each listed once.
    observed: Vec<ObservedFlow>,
    /// Bytes of the sender's own flow, and start of the current window.
    sending: WindowBytes,
    turned: Time,
}

/// Another flow: time of its latest packet, and bytes observed.
#[derive(Clone, Copy, Debug)]
struct ObservedFlow {
    flow: FlowId,
    last: Time,
    counts: WindowBytes,
}

/// Bytes of the current and of the previous window.
#[derive(Clone, Copy, Debug, Default)]
struct WindowBytes {
    present: u64,
    before: u64,
}

impl WindowBytes {
    fn sum(self) -> u64 {
        self.present + self.before
    }

    fn start_window(&mut self) {
        *self = WindowBytes { present: 0, before: self.present };
    }
}

/// Maximum number of flows; beyond it, a new flow replaces the one observed longest ago.
const MAX_FLOWS: usize = 64;

impl ActiveFlows {
    /// Starts without flows, for the sender of the flow `own`; flows expire after `window`.
    pub fn new(own: FlowId, window: Span) -> ActiveFlows {
        let observed = Vec::with_capacity(MAX_FLOWS);
        let (sending, turned) = (WindowBytes::default(), Time::ZERO);
        ActiveFlows { own, window, sent: None, relayed: None, observed, sending, turned }
    }

    /// Processes an event of the node's MAC.
    pub fn on_link(&mut self, event: &LinkEvent) {
        match event {
            // Each packet of an aggregate counts for its own flow, and the aggregate for none.
            LinkEvent::Exchange(exchange) if exchange.mpdus > 1 => {}
            LinkEvent::Mpdu(exchange) | LinkEvent::Exchange(exchange) => {
                self.observe(exchange.flow, exchange.done, exchange.size);
                if exchange.flow == self.own {
                    self.sent = Some(exchange.done);
                    self.sending.present += u64::from(exchange.size);
                }
            }
            LinkEvent::Decoded(heard) if heard.kind == FrameKind::Data => {
                let Some(flow) = heard.flow else { return };
                if flow == self.own && heard.to != Some(heard.node) {
                    self.relayed = Some(heard.air.end);
                }
                self.observe(flow, heard.air.end, heard.size);
            }
            _ => {}
        }
    }

    /// Whether the flow leaves its node by this radio, and not by a wire.
    pub fn sends(&self, now: Time) -> bool {
        self.is_recent(self.sent, now)
    }

    /// Whether the next hop forwards the flow by radio: it may be the destination, or use a wire.
    pub fn is_relayed(&self, now: Time) -> bool {
        self.is_recent(self.relayed, now)
    }

    fn is_recent(&self, last: Option<Time>, now: Time) -> bool {
        last.is_some_and(|last| now.since(last) <= self.window)
    }

    fn observe(&mut self, flow: FlowId, at: Time, size: u32) {
        self.start_window(at);
        if matches!(flow, FlowId::ROUTING | FlowId::SIGNALLING | FlowId::ARP | FlowId::PROBES) {
            return;
        }
        let size = u64::from(size);
        if let Some(seen) = self.observed.iter_mut().find(|seen| seen.flow == flow) {
            seen.last = at;
            seen.counts.present += size;
            return;
        }
        let new = ObservedFlow { flow, last: at, counts: WindowBytes { present: size, before: 0 } };
        if self.observed.len() < MAX_FLOWS {
            self.observed.push(new);
        } else if let Some(oldest) = self.observed.iter_mut().min_by_key(|seen| seen.last) {
            *oldest = new;
        }
    }

    /// Starts a new window of counts when the current one is over.
    fn start_window(&mut self, now: Time) {
        let windows = now.since(self.turned).ns() / self.window.ns();
        for _ in 0..windows.min(2) {
            self.sending.start_window();
            self.observed.iter_mut().for_each(|seen| seen.counts.start_window());
        }
        self.turned += self.window * windows;
    }

    /// Number of flows that share the medium, in units of the sender's own flow. The own flow counts as one.
    /// Each other flow counts as its bytes in the current and the previous window over those of the own flow,
    /// at most one. A flow that sends less therefore leaves the remainder to the others; in equilibrium this
    /// is max-min fairness.
    pub fn sharers(&mut self, now: Time) -> f64 {
        self.start_window(now);
        self.observed.retain(|seen| now.since(seen.last) <= self.window);
        let sent = self.sending.sum().max(1) as f64;
        let others = self.observed.iter().filter(|seen| seen.flow != self.own);
        1.0 + others.map(|seen| (seen.counts.sum() as f64 / sent).min(1.0)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{A, B, C, exchange, heard, us};
    use multihop_core::{DecodedFrame, Exchange, Fate};

    fn flows() -> ActiveFlows {
        ActiveFlows::new(FlowId(0), Span::from_ms(1_000))
    }

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
    }

    /// Sends a packet of a flow that ends at this microsecond.
    fn sends(flows: &mut ActiveFlows, flow: FlowId, at: u64) {
        let exchange = Exchange { flow, ..exchange(1500, at - 10, at, Fate::Acknowledged) };
        flows.on_link(&LinkEvent::Exchange(exchange));
    }

    #[test]
    fn flows_that_are_sent_and_overheard_count_by_what_they_send() {
        let mut flows = flows();
        close(flows.sharers(us(0)), 1.0);
        (1..=4).for_each(|packet| sends(&mut flows, FlowId(0), 100 * packet));
        close(flows.sharers(us(400)), 1.0);
        // 1500 bytes of flow 1, while the own flow sent 6000.
        flows.on_link(&heard(FrameKind::Data, B, C, (500, 600), 0));
        close(flows.sharers(us(600)), 1.25);
        (7..=10).for_each(|at| flows.on_link(&heard(FrameKind::Data, B, C, (100 * at - 50, 100 * at), 0)));
        close(flows.sharers(us(1_000)), 2.0); // it sends more, and counts as one
        // Control frames say of no flow what they are for, and routing and signalling are none.
        flows.on_link(&heard(FrameKind::Rts, B, C, (1_100, 1_200), 1_000));
        sends(&mut flows, FlowId::ROUTING, 1_300);
        sends(&mut flows, FlowId::SIGNALLING, 1_400);
        close(flows.sharers(us(1_400)), 2.0);
        sends(&mut flows, FlowId(2), 1_500); // forwarded
        close(flows.sharers(us(1_500)), 2.25);
    }

    /// Only DATA carries a packet: control frames do not count, whatever they are for.
    #[test]
    fn a_control_frame_is_no_packet_of_its_flow() {
        let mut flows = flows();
        sends(&mut flows, FlowId(0), 100);
        let LinkEvent::Decoded(rts) = heard(FrameKind::Rts, B, C, (200, 300), 1_000) else { unreachable!() };
        flows.on_link(&LinkEvent::Decoded(DecodedFrame { flow: Some(FlowId(1)), size: 1500, ..rts }));
        close(flows.sharers(us(300)), 1.0);
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
    fn a_flow_not_seen_for_a_window_is_forgotten() {
        let mut flows = flows();
        sends(&mut flows, FlowId(0), 100);
        flows.on_link(&heard(FrameKind::Data, B, C, (300, 400), 0));
        sends(&mut flows, FlowId(0), 999_000);
        close(flows.sharers(us(999_999)), 1.5);
        close(flows.sharers(us(1_000_400)), 1.5); // the second window counts the first as well
        close(flows.sharers(us(1_000_401)), 1.0);
        sends(&mut flows, FlowId(0), 1_500_000);
        flows.on_link(&heard(FrameKind::Data, B, C, (1_500_000, 1_600_000), 0));
        sends(&mut flows, FlowId(0), 2_000_000);
        close(flows.sharers(us(2_000_000)), 1.5); // of the first window nothing counts any more
        sends(&mut flows, FlowId(0), 9_000_000);
        close(flows.sharers(us(9_000_000)), 1.0);
    }

    #[test]
    fn there_is_room_for_so_many_and_the_latest_stay() {
        let mut flows = flows();
        (0..100).for_each(|flow| sends(&mut flows, FlowId(flow), 100 + u64::from(flow)));
        close(flows.sharers(us(200)), 65.0); // the own one has made room, and shares with 64
        assert!(flows.observed.iter().all(|seen| seen.flow.0 >= 36));
        assert_eq!(flows.observed.capacity(), MAX_FLOWS, "nothing was allocated");
    }

    /// Two flows of one packet of 1500 bytes each, while the own flow sent four packets.
    #[test]
    fn what_is_seen_of_a_flow_adds_up() {
        let mut flows = flows();
        (1..=4).for_each(|packet| sends(&mut flows, FlowId(0), 100 * packet));
        (5..=6).for_each(|at| flows.on_link(&heard(FrameKind::Data, B, C, (100 * at - 50, 100 * at), 0)));
        close(flows.sharers(us(600)), 1.5);
    }
}
