//! Number of backlogged flows of each host, by which CAKE divides the rate among hosts.

use multihop_core::NodeId;

/// Source and destination of a flow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Hosts {
    /// Node that sends the flow's packets.
    pub source: NodeId,
    /// Node that receives them.
    pub destination: NodeId,
}

/// Backlogged flows of each host, as a source and as a destination.
#[derive(Clone, Debug, Default)]
pub(super) struct HostLoads {
    sources: Vec<u32>,
    destinations: Vec<u32>,
}

impl HostLoads {
    /// Number of backlogged flows of the source or of the destination, whichever is larger; at least one
    /// (`triple-isolate` of `net/sched/sch_cake.c`).
    pub(super) fn of(&self, hosts: Hosts) -> i64 {
        let count = |loads: &[u32], host: NodeId| loads.get(host.index()).copied().unwrap_or(0);
        let most = count(&self.sources, hosts.source).max(count(&self.destinations, hosts.destination));
        i64::from(most.max(1))
    }

    /// Adds a backlogged flow.
    pub(super) fn add(&mut self, hosts: Hosts) {
        self.each(hosts, |load| *load += 1);
    }

    /// Removes a backlogged flow that was added.
    pub(super) fn remove(&mut self, hosts: Hosts) {
        self.each(hosts, |load| *load -= 1);
    }

    fn each(&mut self, hosts: Hosts, change: impl Fn(&mut u32)) {
        let both = [(&mut self.sources, hosts.source), (&mut self.destinations, hosts.destination)];
        for (loads, host) in both {
            if loads.len() <= host.index() {
                loads.resize(host.index() + 1, 0);
            }
            change(&mut loads[host.index()]);
        }
    }
}
