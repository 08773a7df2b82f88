//! Destinations of a node's flows whose routes are watched for failures.

use multihop_core::NodeId;

/// Watched destinations, and failures of their routes that the node has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct WatchedRoutes {
    destinations: Vec<NodeId>,
    failed: Vec<NodeId>,
}

impl WatchedRoutes {
    /// Watches the route to this destination.
    pub(crate) fn watch(&mut self, destination: NodeId) {
        if !self.destinations.contains(&destination) {
            self.destinations.push(destination);
        }
    }

    /// Records that the route to this destination broke. Ignored unless the route is watched.
    pub(in crate::routing) fn note_failure(&mut self, destination: NodeId) {
        if self.destinations.contains(&destination) && !self.failed.contains(&destination) {
            self.failed.push(destination);
        }
    }

    /// Records the failure of each watched route for which `breaks` holds.
    pub(in crate::routing) fn note_failures(&mut self, breaks: impl Fn(NodeId) -> bool) {
        let broken: Vec<NodeId> = self.destinations.iter().copied().filter(|to| breaks(*to)).collect();
        for destination in broken {
            self.note_failure(destination);
        }
    }

    /// Whether a failure was not taken yet.
    pub(crate) fn has_failure(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Takes the destination of a route that broke.
    pub(crate) fn take_failure(&mut self) -> Option<NodeId> {
        self.failed.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_watched_routes_are_reported_and_each_failure_once() {
        let mut routes = WatchedRoutes::default();
        routes.note_failure(NodeId(3));
        assert_eq!(routes.take_failure(), None);
        routes.watch(NodeId(3));
        routes.note_failure(NodeId(3));
        routes.note_failures(|_| true);
        assert!(routes.has_failure());
        assert_eq!((routes.take_failure(), routes.take_failure()), (Some(NodeId(3)), None));
        assert!(!routes.has_failure());
    }
}
