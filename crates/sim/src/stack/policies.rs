//! What the schemes do to packets at one output queue of a node, and what they measure there.

use multihop_core::{Fate, LinkEvent, NodeId, Packet, Report, Span, Time};
use multihop_link::{Estimator, LinkView, Notice, PhyTimes, QueueEvent, RouterPolicy, Verdict};
use std::sync::Arc;

/// What is done to the packets of one scheme, and what is measured for that.
struct Router {
    policy: Box<dyn RouterPolicy>,
    estimators: Vec<Box<dyn Estimator>>,
}

impl Router {
    fn view(&self, now: Time, queue_bytes: u64) -> LinkView {
        let mut view = LinkView { queue_bytes, ..LinkView::default() };
        self.estimators.iter().for_each(|estimator| estimator.write(now, &mut view));
        view
    }
}

/// The policies of all schemes at one queue.
pub struct Policies {
    /// By scheme; empty if none does anything here.
    routers: Vec<Option<Router>>,
    /// By flow.
    scheme_of: Arc<[usize]>,
    /// Bytes that wait in the queue.
    queue_bytes: u64,
}

impl Policies {
    /// What the schemes do at a queue, by scheme. Without `phy` there is no MAC behind it that estimators
    /// could watch.
    pub fn new(
        by_scheme: Vec<Option<Box<dyn RouterPolicy>>>,
        phy: Option<&PhyTimes>,
        scheme_of: Arc<[usize]>,
    ) -> Policies {
        let router = |policy: Box<dyn RouterPolicy>| Router {
            estimators: phy.map_or_else(Vec::new, |phy| policy.estimators(phy)),
            policy,
        };
        let mut routers: Vec<Option<Router>> =
            by_scheme.into_iter().map(|policy| policy.map(router)).collect();
        if routers.iter().all(Option::is_none) {
            routers.clear();
        }
        Policies { routers, scheme_of, queue_bytes: 0 }
    }

    /// Does no scheme do anything here?
    pub fn is_empty(&self) -> bool {
        self.routers.is_empty()
    }

    /// A packet of this size has entered the queue, for this next hop; for none, if it is a broadcast.
    pub fn entered(&mut self, now: Time, next_hop: Option<NodeId>, size: u32) {
        self.queue_bytes += u64::from(size);
        self.backlog(now, next_hop, i64::from(size));
    }

    /// A packet of this size has left the queue to be sent.
    pub fn taken(&mut self, size: u32) {
        self.queue_bytes -= u64::from(size);
    }

    /// A packet that was taken has been sent, or was given up or discarded.
    pub fn done(&mut self, now: Time, next_hop: Option<NodeId>, size: u32) {
        self.backlog(now, next_hop, -i64::from(size));
    }

    /// A packet was removed from the queue, and will not be sent.
    pub fn removed(&mut self, now: Time, next_hop: Option<NodeId>, size: u32) {
        self.taken(size);
        self.done(now, next_hop, size);
    }

    fn backlog(&mut self, now: Time, next_hop: Option<NodeId>, bytes: i64) {
        let Some(next_hop) = next_hop else { return };
        for router in self.routers.iter_mut().flatten() {
            router.policy.on_backlog(now, next_hop, bytes);
        }
    }

    /// Asks the policy of the packet's scheme, if there is one, and marks if it says so.
    pub fn consult(
        &mut self,
        now: Time,
        packet: &mut Packet,
        ask: impl FnOnce(&mut dyn RouterPolicy, &mut Packet, &LinkView) -> Verdict,
    ) -> Verdict {
        if self.is_empty() {
            return Verdict::Pass;
        }
        // A packet of a routing protocol belongs to no scheme.
        let Some(scheme) = self.scheme_of.get(packet.flow.index()) else { return Verdict::Pass };
        let Some(router) = &mut self.routers[*scheme] else { return Verdict::Pass };
        let view = router.view(now, self.queue_bytes);
        let verdict = ask(router.policy.as_mut(), packet, &view);
        if verdict == Verdict::Mark {
            packet.mark();
        }
        verdict
    }

    /// What the policy of the packet's scheme, if there is one, adds to the back-off before its frame.
    pub fn extra_backoff(&self, packet: &Packet) -> Span {
        if self.is_empty() {
            return Span::ZERO;
        }
        let scheme = self.scheme_of.get(packet.flow.index());
        let router = scheme.and_then(|scheme| self.routers[*scheme].as_ref());
        router.map_or(Span::ZERO, |router| router.policy.extra_backoff(packet))
    }

    /// Reports to the policies of other schemes that a packet passes the queue.
    pub fn report_other(&mut self, now: Time, packet: &Packet, event: QueueEvent) {
        if self.is_empty() {
            return;
        }
        let own = self.scheme_of.get(packet.flow.index()).copied();
        for (scheme, router) in self.routers.iter_mut().enumerate() {
            if let Some(router) = router.as_mut().filter(|_| own != Some(scheme)) {
                let view = router.view(now, self.queue_bytes);
                router.policy.on_other(now, event, packet.size, &view);
            }
        }
    }

    /// Something happened at what the queue leads to.
    pub fn on_link(&mut self, event: &LinkEvent) {
        for router in self.routers.iter_mut().flatten() {
            router.estimators.iter_mut().for_each(|estimator| estimator.on_link(event));
            router.policy.on_link(event);
        }
        if let LinkEvent::Exchange(exchange) = event
            && exchange.fate != Fate::Broadcast
        {
            self.done(exchange.done, Some(exchange.peer), exchange.size);
        }
    }

    /// What an estimator has to say of the node's links in its next ACK.
    pub fn report(&self, now: Time) -> Option<Report> {
        let mut estimators = self.routers.iter().flatten().flat_map(|router| &router.estimators);
        estimators.find_map(|estimator| estimator.report(now))
    }

    /// Passes a neighbour's notice to the policy of this scheme.
    pub fn on_notice(&mut self, now: Time, from: NodeId, scheme: usize, content: &[u8]) {
        if let Some(Some(router)) = self.routers.get_mut(scheme) {
            router.policy.on_notice(now, from, content);
        }
    }

    /// What one of the policies has to signal now, with the scheme that it is of.
    pub fn poll_notice(&mut self, now: Time) -> Option<(usize, Notice)> {
        self.routers.iter_mut().enumerate().find_map(|(scheme, router)| {
            let policy = &mut router.as_mut()?.policy;
            policy.next_notice().filter(|at| *at <= now)?;
            policy.poll_notice(now).map(|notice| (scheme, notice))
        })
    }

    /// When one of the policies wants to signal something next.
    pub fn next_notice(&self) -> Option<Time> {
        self.routers.iter().flatten().filter_map(|router| router.policy.next_notice()).min()
    }

    /// The node was off, and begins anew.
    pub fn restart(&mut self, now: Time) {
        self.routers.iter_mut().flatten().for_each(|router| router.policy.on_restart(now));
    }
}
