//! Routes that a node knows: paths, as ns-2's `MobiCache` keeps them.
//!
//! Those for its own packets and those that it heard of are kept apart, so that the many of the second kind
//! push none of the first out. Paths never grow old; a broken link cuts them off.

use super::wire::BrokenLink;
use multihop_core::NodeId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The routes that a node knows.
pub(super) struct RouteCache {
    id: NodeId,
    /// Longest path that is kept, in nodes.
    longest: usize,
    own: Paths,
    heard: Paths,
    /// Answers that were given since something changed.
    answers: BTreeMap<NodeId, Option<Arc<[NodeId]>>>,
    /// A path that is being put together.
    draft: Vec<NodeId>,
}

impl RouteCache {
    /// Nothing yet, at node `id`; paths of at most `longest` nodes, `own` of its own and `heard` others.
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

    /// The shortest route to a destination, from this node on.
    pub(super) fn find(&self, destination: NodeId) -> Option<&[NodeId]> {
        self.shortest(destination).map(|found| self.route(found))
    }

    /// The same for a packet that is to take it: the route becomes one of the node's own.
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

    /// Adds a route, which begins here, for the node's own packets.
    pub(super) fn add(&mut self, route: &[NodeId]) {
        debug_assert_eq!(route.first(), Some(&self.id));
        let route = &route[..route.len().min(self.longest)];
        if route.len() > 1 && self.own.add(route) {
            self.answers.clear();
        }
    }

    /// A packet or a message follows this route. If the node is on it, it knows a route to the nodes after
    /// it.
    pub(super) fn learn(&mut self, route: &[NodeId]) {
        if let Some(at) = route.iter().position(|node| *node == self.id) {
            let rest = &route[at..route.len().min(at + self.longest)];
            if rest.len() > 1 && self.heard.add(rest) {
                self.answers.clear();
            }
        }
    }

    /// A neighbour on it uses this route; the node, which is not on it, could reach the nodes after it
    /// through that.
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

    /// A link broke.
    pub(super) fn cut(&mut self, link: BrokenLink) {
        let own = self.own.cut(link);
        if self.heard.cut(link) || own {
            self.answers.clear();
        }
    }

    /// Where the shortest path is; one of the node's own if it is as short.
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

/// Where a path is, and how many of its nodes lead to the destination.
#[derive(Clone, Copy)]
struct Found {
    is_heard: bool,
    at: usize,
    nodes: usize,
}

/// So many paths at most; when all places are taken, they are given away in turn.
struct Paths {
    /// Free places are empty.
    list: Vec<Vec<NodeId>>,
    limit: usize,
    next_victim: usize,
}

impl Paths {
    fn new(limit: usize) -> Paths {
        Paths { list: Vec::new(), limit, next_victim: 0 }
    }

    /// Adds what is new in a path. Returns whether there was anything.
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

    /// Cuts paths off before a broken link. Returns whether there were any.
    fn cut(&mut self, link: BrokenLink) -> bool {
        let mut any = false;
        for path in &mut self.list {
            if let Some(at) = path.windows(2).position(|pair| pair == [link.from, link.to]) {
                // What is left of a path that leads nowhere is the node itself.
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
