//! Route cache of DSR: paths, as in ns-2's `MobiCache`.
//!
//! Paths for the node's own packets and overheard paths are separate, so that overheard ones do not evict the
//! others. Paths do not expire; a broken link truncates them.

use super::wire::BrokenLink;
use multihop_core::NodeId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Route cache of a node.
pub(super) struct RouteCache {
    id: NodeId,
    /// Largest number of nodes in a cached path.
    longest: usize,
    own: Paths,
    heard: Paths,
    /// Results of searches since the last change.
    answers: BTreeMap<NodeId, Option<Arc<[NodeId]>>>,
    /// Buffer in which a path is built.
    draft: Vec<NodeId>,
}

impl RouteCache {
    /// Creates the empty cache of node `id`, for paths of at most `longest` nodes: `own` of the node's own,
    /// and `heard` overheard ones.
    pub(super) fn new(id: NodeId, longest: usize, own: usize, heard: usize) -> RouteCache {
        RouteCache {
            id,
            longest,
            own: Paths::new(own),
            heard: Paths::new(heard),
            answers: BTreeMap::new(),
            draft: Vec::new(),
        }
    }

    /// Shortest route from this node to a destination.
    pub(super) fn find(&self, destination: NodeId) -> Option<&[NodeId]> {
        self.shortest(destination).map(|found| self.route(found))
    }

    /// Shortest route for a packet; the route becomes one of the node's own.
    pub(super) fn take(&mut self, destination: NodeId) -> Option<Arc<[NodeId]>> {
        if let Some(answer) = self.answers.get(&destination) {
            return answer.clone();
        }
        let found = self.shortest(destination);
        let answer = found.map(|found| Arc::from(self.route(found)));
        if let Some(Found { is_heard: true, at, .. }) = found {
            let path = std::mem::take(&mut self.heard.list[at]);
            self.add(&path);
        }
        self.answers.insert(destination, answer.clone());
        answer
    }

    /// Adds a route from this node for its own packets.
    pub(super) fn add(&mut self, route: &[NodeId]) {
        debug_assert_eq!(route.first(), Some(&self.id));
        let route = &route[..route.len().min(self.longest)];
        if route.len() > 1 && self.own.add(route) {
            self.answers.clear();
        }
    }

    /// Learns from the route of a packet or message: if it contains the node, the node knows a route to the
    /// nodes behind it.
    pub(super) fn learn(&mut self, route: &[NodeId]) {
        if let Some(at) = route.iter().position(|node| *node == self.id) {
            let rest = &route[at..route.len().min(at + self.longest)];
            if rest.len() > 1 && self.heard.add(rest) {
                self.answers.clear();
            }
        }
    }

    /// Learns from a route that does not contain the node but a neighbour: the nodes behind the neighbour are
    /// reachable through it.
    pub(super) fn learn_through(&mut self, neighbour: NodeId, route: &[NodeId]) {
        if let Some(at) = route.iter().position(|node| *node == neighbour) {
            let mut path = std::mem::take(&mut self.draft);
            path.push(self.id);
            path.extend_from_slice(&route[at..]);
            self.learn(&path);
            path.clear();
            self.draft = path;
        }
    }

    /// Truncates paths at a broken link.
    pub(super) fn cut(&mut self, link: BrokenLink) {
        let own = self.own.cut(link);
        if self.heard.cut(link) || own {
            self.answers.clear();
        }
    }

    /// Place of the shortest path; one of the node's own if it is as short.
    fn shortest(&self, destination: NodeId) -> Option<Found> {
        let found = |is_heard, (at, nodes)| Found { is_heard, at, nodes };
        let own = self.own.shortest(destination).map(|place| found(false, place));
        let heard = self.heard.shortest(destination).map(|place| found(true, place));
        own.into_iter().chain(heard).min_by_key(|found| found.nodes)
    }

    fn route(&self, found: Found) -> &[NodeId] {
        let paths = if found.is_heard { &self.heard } else { &self.own };
        &paths.list[found.at][..found.nodes]
    }
}

/// Place of a path, and number of its nodes up to the destination.
#[derive(Clone, Copy)]
struct Found {
    is_heard: bool,
    at: usize,
    nodes: usize,
}

/// Fixed number of paths; when full, places are reused in turn.
struct Paths {
    /// Paths; empty for free places.
    list: Vec<Vec<NodeId>>,
    limit: usize,
    next_victim: usize,
}

impl Paths {
    fn new(limit: usize) -> Paths {
        Paths { list: Vec::new(), limit, next_victim: 0 }
    }

    /// Adds a path unless it is known. Returns whether it was new.
    fn add(&mut self, path: &[NodeId]) -> bool {
        let mut free = None;
        for (at, known) in self.list.iter_mut().enumerate() {
            if known.is_empty() {
                free = free.or(Some(at));
            } else if known.starts_with(path) {
                return false;
            } else if path.starts_with(known) {
                known.extend_from_slice(&path[known.len()..]);
                return true;
            }
        }
        let at = match free {
            Some(at) => at,
            None if self.list.len() < self.limit => {
                self.list.push(Vec::new());
                self.list.len() - 1
            }
            None => {
                let victim = self.next_victim;
                self.next_victim = (victim + 1) % self.limit;
                victim
            }
        };
        self.list[at].clear();
        self.list[at].extend_from_slice(path);
        true
    }

    /// Truncates paths at a broken link. Returns whether there were any.
    fn cut(&mut self, link: BrokenLink) -> bool {
        let mut any = false;
        for path in &mut self.list {
            if let Some(at) = path.windows(2).position(|pair| pair == [link.from, link.to]) {
                // A path that leads nowhere would contain the node alone.
                path.truncate(if at == 0 { 0 } else { at + 1 });
                any = true;
            }
        }
        any
    }

    fn shortest(&self, destination: NodeId) -> Option<(usize, usize)> {
        let nodes = |path: &Vec<NodeId>| Some(path.iter().position(|node| *node == destination)? + 1);
        let found = self.list.iter().enumerate().filter_map(|(at, path)| Some((at, nodes(path)?)));
        found.min_by_key(|(_, nodes)| *nodes)
    }
}
