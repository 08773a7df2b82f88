//! Which part of a run its logs are of.

use crate::config::Config;
use crate::medium::Frame;
use multihop_core::{FlowId, NodeId, Time};

/// What a log is to have.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// Only what these nodes send or receive; all if there are none.
    pub nodes: Vec<NodeId>,
    /// Only what carries packets of these flows, in either direction, or is sent for them, and what answers
    /// that; all if there are none.
    pub flows: Vec<FlowId>,
    /// Only what is in this interval, its ends included; none for the whole run.
    pub between: Option<[Time; 2]>,
}

impl Selection {
    /// The same with the flows that send packets of the selected ones: of a multicast group the first one
    /// sends for all.
    pub(crate) fn with_senders(mut self, config: &Config) -> Selection {
        let groups = self.flows.iter().filter_map(|flow| config.flows.get(flow.index())?.group);
        for sender in groups.collect::<Vec<_>>() {
            if !self.flows.contains(&sender) {
                self.flows.push(sender);
            }
        }
        self
    }

    pub(crate) fn has_time(&self, time: Time) -> bool {
        self.between.is_none_or(|[from, to]| from <= time && time <= to)
    }

    pub(crate) fn has_node(&self, node: NodeId) -> bool {
        self.nodes.is_empty() || self.nodes.contains(&node)
    }

    pub(crate) fn has_flow(&self, flow: FlowId) -> bool {
        self.flows.is_empty() || self.flows.contains(&flow)
    }

    /// Does a frame of its flows, which begins then, concern its nodes?
    pub(crate) fn has(&self, frame: &Frame, start: Time) -> bool {
        self.has_time(start) && (self.has_node(frame.from) || frame.to.is_some_and(|to| self.has_node(to)))
    }
}

/// By node: was its last frame that begins an exchange, or goes on with one, of the flows of a selection?
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowFilter(Vec<bool>);

impl FlowFilter {
    /// Is a frame with packets of these flows, or sent for them, of those of the selection? An answer is, if
    /// what it answers was.
    pub(crate) fn passes(
        &mut self,
        selection: &Selection,
        frame: &Frame,
        mut flows: impl Iterator<Item = FlowId>,
    ) -> bool {
        if selection.flows.is_empty() {
            return true;
        }
        let is_answer = frame.is_answer();
        let Some(node) = (if is_answer { frame.to } else { Some(frame.from) }) else { return false };
        if node.index() >= self.0.len() {
            self.0.resize(node.index() + 1, false);
        }
        if !is_answer {
            self.0[node.index()] = flows.any(|flow| selection.has_flow(flow));
        }
        self.0[node.index()]
    }
}
