//! Selection of the nodes, the flows and the interval that the logs of a run cover.

use crate::config::TrafficConfig;
use crate::medium::Frame;
use multihop_core::{FlowId, NodeId, Time};

/// Selection that a log covers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// Nodes whose sent and received frames are selected. Empty: all nodes.
    pub nodes: Vec<NodeId>,
    /// Flows whose frames are selected: those that carry their packets in either direction or are sent for
    /// them, and the responses. Empty: all flows.
    pub flows: Vec<FlowId>,
    /// Closed interval that is selected; none for the whole run.
    pub between: Option<[Time; 2]>,
}

impl Selection {
    /// Adds the flows that send for selected ones: the first flow of a multicast group sends for all its
    /// flows.
    pub(crate) fn with_senders(mut self, traffic: &TrafficConfig) -> Selection {
        let groups = self.flows.iter().filter_map(|flow| traffic.flows.get(flow.index())?.group);
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

    /// Whether a frame that begins at `start` is in the interval and has a selected sender or receiver.
    pub(crate) fn has_frame(&self, frame: &Frame, start: Time) -> bool {
        self.has_time(start) && (self.has_node(frame.from) || frame.to.is_some_and(|to| self.has_node(to)))
    }
}

/// Filter of frames by flow: whether the last frame of each node that is no response belongs to a selected
/// flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowFilter(Vec<bool>);

impl FlowFilter {
    /// Whether a frame with packets of these flows, or sent for them, is selected. A response is selected if
    /// the frame that it responds to is.
    pub(crate) fn passes(
        &mut self,
        selection: &Selection,
        frame: &Frame,
        mut flows: impl Iterator<Item = FlowId>,
    ) -> bool {
        if selection.flows.is_empty() {
            return true;
        }
        let is_response = frame.is_answer();
        let Some(node) = (if is_response { frame.to } else { Some(frame.from) }) else { return false };
        if node.index() >= self.0.len() {
            self.0.resize(node.index() + 1, false);
        }
        if !is_response {
            self.0[node.index()] = flows.any(|flow| selection.has_flow(flow));
        }
        self.0[node.index()]
    }
}
