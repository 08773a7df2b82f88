//! Router policies of the schemes at one output queue, and their estimators.

use multihop_core::{Fate, LinkEvent, NodeId, Packet, Report, Span, Time};
use multihop_link::{Estimator, LinkView, Notice, PhyTimes, Probing, QueueEvent, RouterPolicy, Verdict};
use std::sync::Arc;

/// Router policy of one scheme, with the estimators that it uses.
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

/// Policies of all schemes at one queue.
pub struct Policies {
    /// Policies by scheme; empty if no scheme has one here.
    routers: Vec<Option<Router>>,
    /// Scheme of each flow.
    scheme_of: Arc<[usize]>,
    /// Number of bytes in the queue.
    queue_bytes: u64,
}

impl Policies {
    /// Creates the policies at a queue, by scheme. Without `phy` there is no MAC behind the queue for
    /// estimators to observe.
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

    /// Whether no scheme has a policy here.
    pub fn is_empty(&self) -> bool {
        self.routers.is_empty()
    }

    /// Whether a policy, or an estimator of one, observes events of the medium.
    pub fn sense_medium(&self) -> bool {
        let senses = |router: &Router| {
            router.policy.senses_medium()
                || router.estimators.iter().any(|estimator| estimator.senses_medium())
        };
        self.routers.iter().flatten().any(senses)
    }

    /// Reports a packet of this size that entered the queue for this next hop; none for a broadcast.
    pub fn entered(&mut self, now: Time, next_hop: Option<NodeId>, size: u32) {
        self.queue_bytes += u64::from(size);
        self.backlog(now, next_hop, i64::from(size));
    }

    /// Reports a packet of this size that was dequeued to be sent.
    pub fn taken(&mut self, size: u32) {
        self.queue_bytes -= u64::from(size);
    }

    /// Reports a dequeued packet that was sent, given up or discarded.
    pub fn done(&mut self, now: Time, next_hop: Option<NodeId>, size: u32) {
        self.backlog(now, next_hop, -i64::from(size));
    }

    /// Reports a packet that was removed from the queue and will not be sent.
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

    /// Asks the policy of the packet's scheme, if there is one, and marks the packet on its verdict.
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

    /// Addition to the back-off before the packet's frame by the policy of its scheme.
    pub fn extra_backoff(&self, packet: &Packet) -> Span {
        if self.is_empty() {
            return Span::ZERO;
        }
        let scheme = self.scheme_of.get(packet.flow.index());
        let router = scheme.and_then(|scheme| self.routers[*scheme].as_ref());
        router.map_or(Span::ZERO, |router| router.policy.extra_backoff(packet))
    }

    /// Reports a packet that passes the queue to the policies of other schemes.
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

    /// Reports a link event of the MAC behind the queue.
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

    /// Report of an estimator about the node's links for its next ACK.
    pub fn report(&self, now: Time) -> Option<Report> {
        let mut estimators = self.routers.iter().flatten().flat_map(|router| &router.estimators);
        estimators.find_map(|estimator| estimator.report(now))
    }

    /// Probes that an estimator requests: those of the first one that does.
    pub fn probing(&self) -> Option<Probing> {
        let mut estimators = self.routers.iter().flatten().flat_map(|router| &router.estimators);
        estimators.find_map(|estimator| estimator.probing())
    }

    /// Passes a neighbour's notice to the policy of this scheme.
    pub fn on_notice(&mut self, now: Time, from: NodeId, scheme: usize, content: &[u8]) {
        if let Some(Some(router)) = self.routers.get_mut(scheme) {
            router.policy.on_notice(now, from, content);
        }
    }

    /// Next notice of a policy that is due, with the number of its scheme.
    pub fn poll_notice(&mut self, now: Time) -> Option<(usize, Notice)> {
        self.routers.iter_mut().enumerate().find_map(|(scheme, router)| {
            let policy = &mut router.as_mut()?.policy;
            policy.next_notice().filter(|at| *at <= now)?;
            policy.poll_notice(now).map(|notice| (scheme, notice))
        })
    }

    /// Time of the next notice of a policy.
    pub fn next_notice(&self) -> Option<Time> {
        self.routers.iter().flatten().filter_map(|router| router.policy.next_notice()).min()
    }

    /// Resets the policies after the node was off.
    pub fn restart(&mut self, now: Time) {
        self.routers.iter_mut().flatten().for_each(|router| router.policy.on_restart(now));
    }
}
