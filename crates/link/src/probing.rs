//! Probes that a node sends to a next hop before a communication.

use multihop_core::{NodeId, Span, Time};

/// Probes that an estimator requests for each next hop of its node (Barreto 2015, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probing {
    /// Number of probes before a communication.
    pub count: u32,
    /// Time between two probes.
    pub interval: Span,
    /// Size of a probe in bytes, with UDP and IP headers.
    pub size: u32,
    /// Time without packets to a next hop after which the next packet begins a new communication.
    pub silence: Span,
    /// Whether packets wait for the end of probing. Otherwise probing ends when more packets follow.
    pub holds_data: bool,
}

/// Action of a node at an instant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProbeStep {
    /// Send a probe to this next hop.
    Probe(NodeId),
    /// Send the packets that wait for this next hop.
    Release(NodeId),
}

/// Schedule of the probes of a node to its next hops. Probing of a next hop begins with the first packet of a
/// communication and ends an interval after the last probe.
#[derive(Clone, Debug)]
pub struct Prober {
    probing: Probing,
    links: Vec<Link>,
}

/// State of a next hop.
#[derive(Clone, Copy, Debug)]
struct Link {
    peer: NodeId,
    /// Time of the latest packet, or of the release of those that waited.
    last_packet: Time,
    /// Time of the latest probe; before the first one, start of the communication.
    last_probe: Time,
    /// Number of probes still to send.
    left: u32,
    /// Time of the next step; none if probing is over.
    due: Option<Time>,
}

impl Prober {
    /// Creates the schedule of a node that has not sent anything.
    pub fn new(probing: Probing) -> Prober {
        Prober { probing, links: Vec::new() }
    }

    /// Reports a packet for a next hop. Returns whether the packet waits for [`ProbeStep::Release`].
    pub fn on_packet(&mut self, now: Time, peer: NodeId) -> bool {
        let Probing { count, silence, holds_data, .. } = self.probing;
        let begun = Link { peer, last_packet: now, last_probe: now, left: count, due: Some(now) };
        let Some(link) = self.links.iter_mut().find(|link| link.peer == peer) else {
            self.links.push(begun);
            return holds_data;
        };
        if link.due.is_none() && now.since(link.last_packet) > silence {
            *link = begun;
        }
        link.last_packet = now;
        holds_data && link.due.is_some()
    }

    /// Next step that is due at `now`, if any.
    pub fn poll(&mut self, now: Time) -> Option<ProbeStep> {
        let Probing { interval, holds_data, .. } = self.probing;
        while let Some(link) = self.links.iter_mut().find(|link| link.due.is_some_and(|due| due <= now)) {
            if link.left == 0 {
                link.due = None;
                if holds_data {
                    link.last_packet = now;
                    return Some(ProbeStep::Release(link.peer));
                }
            } else if !holds_data && link.last_packet > link.last_probe {
                (link.left, link.due) = (0, None);
            } else {
                (link.left, link.last_probe) = (link.left - 1, now);
                link.due = Some(now + interval);
                return Some(ProbeStep::Probe(link.peer));
            }
        }
        None
    }

    /// Time of the next step, if any.
    pub fn next(&self) -> Option<Time> {
        self.links.iter().filter_map(|link| link.due).min()
    }

    /// Whether packets to this next hop wait.
    pub fn holds(&self, peer: NodeId) -> bool {
        self.probing.holds_data && self.links.iter().any(|link| link.peer == peer && link.due.is_some())
    }

    /// Ends the probing of a next hop. Its next packet begins a new communication.
    pub fn forget(&mut self, peer: NodeId) {
        self.links.retain(|link| link.peer != peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{B, C};
    use ProbeStep::{Probe, Release};

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn prober(holds_data: bool, interval_ms: u64) -> Prober {
        let (interval, silence) = (Span::from_ms(interval_ms), Span::from_ms(1_000));
        Prober::new(Probing { count: 4, interval, size: 1_500, silence, holds_data })
    }

    /// Steps from the packets at these milliseconds on, up to `until`, with their milliseconds.
    fn run(prober: &mut Prober, packets: &[(u64, NodeId)], until: u64) -> Vec<(u64, ProbeStep)> {
        let mut packets = packets.iter().peekable();
        let mut steps = Vec::new();
        for now in 0..=until {
            while let Some((_, peer)) = packets.next_if(|(at, _)| *at == now) {
                prober.on_packet(ms(now), *peer);
            }
            assert!(prober.next().is_none_or(|next| next >= ms(now)));
            steps.extend(std::iter::from_fn(|| prober.poll(ms(now))).map(|step| (now, step)));
        }
        steps
    }

    #[test]
    fn four_probes_a_second_precede_the_data() {
        let mut prober = prober(true, 250);
        assert_eq!(prober.next(), None);
        let probes = [10, 260, 510, 760].map(|at| (at, Probe(B)));
        let steps = run(&mut prober, &[(10, B), (20, B), (900, B), (1_010, B), (1_500, B)], 3_000);
        assert_eq!(steps, [&probes[..], &[(1_010, Release(B))]].concat());
        assert_eq!(prober.next(), None);
    }

    #[test]
    fn packets_wait_until_they_are_released() {
        let mut prober = prober(true, 250);
        assert!(!prober.holds(B));
        assert!(prober.on_packet(ms(10), B));
        assert!(prober.holds(B) && !prober.holds(C));
        for at in [10, 260, 510, 760] {
            assert!(prober.on_packet(ms(at), B));
            assert_eq!(prober.poll(ms(at)), Some(Probe(B)));
        }
        assert!(prober.on_packet(ms(1_009), B));
        assert_eq!(prober.poll(ms(1_010)), Some(Release(B)));
        assert!(!prober.holds(B) && !prober.on_packet(ms(1_010), B));
    }

    /// The silence is longer than a second, not a second.
    #[test]
    fn no_probes_while_traffic_flows_and_again_after_silence() {
        let packets = [10, 1_500, 2_500, 3_501].map(|at| (at, B));
        let steps = run(&mut prober(true, 250), &packets, 6_000);
        let probes = |start: u64| [0, 250, 500, 750].map(|after| (start + after, Probe(B)));
        let again = [&probes(3_501)[..], &[(4_501, Release(B))]].concat();
        assert_eq!(steps, [&probes(10)[..], &[(1_010, Release(B))], &again].concat());
    }

    #[test]
    fn each_next_hop_has_its_own_probes() {
        let steps = run(&mut prober(true, 250), &[(10, B), (100, C)], 2_000);
        let at = |to| steps.iter().filter(move |(_, step)| *step == Probe(to)).map(|(at, _)| *at);
        assert_eq!(at(B).collect::<Vec<_>>(), [10, 260, 510, 760]);
        assert_eq!(at(C).collect::<Vec<_>>(), [100, 350, 600, 850]);
    }

    /// The packets at 10 ms are those that begin the communication.
    #[test]
    fn data_that_does_not_wait_ends_probing() {
        let mut probing = prober(false, 250);
        assert!(!probing.on_packet(ms(0), C) && !probing.holds(C));
        let steps = run(&mut prober(false, 250), &[(10, B), (10, B), (300, B)], 2_000);
        assert_eq!(steps, [(10, Probe(B)), (260, Probe(B))]);
        let steps = run(&mut prober(false, 250), &[(10, B)], 2_000);
        assert_eq!(steps, [10, 260, 510, 760].map(|at| (at, Probe(B))), "no traffic follows");
    }

    #[test]
    fn without_an_interval_all_probes_precede_the_first_packet() {
        let steps = run(&mut prober(true, 0), &[(10, B), (11, B)], 2_000);
        assert_eq!(steps, [&[(10, Probe(B)); 4][..], &[(10, Release(B))]].concat());
        let steps = run(&mut prober(false, 0), &[(10, B), (11, B)], 2_000);
        assert_eq!(steps, [(10, Probe(B)); 4]);
    }

    #[test]
    fn a_forgotten_next_hop_is_probed_anew() {
        let mut prober = prober(true, 250);
        prober.on_packet(ms(10), B);
        assert_eq!(prober.poll(ms(10)), Some(Probe(B)));
        prober.forget(B);
        assert_eq!((prober.next(), prober.holds(B)), (None, false));
        assert!(prober.on_packet(ms(100), B));
        assert_eq!(prober.next(), Some(ms(100)));
    }
}
