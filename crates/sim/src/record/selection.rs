//! Selection: the part of a run that a log covers.

use crate::config::Config;
use crate::medium::Frame;
use multihop_core::{FlowId, NodeId, Time};

/// Part of a run that a log covers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// Nodes whose transmissions and receptions are logged; all nodes if empty.
    pub nodes: Vec<NodeId>,
    /// Flows whose packets, in either direction, are logged with the frames sent for them and the responses;
    /// all flows if empty.
    pub flows: Vec<FlowId>,
    /// Logged interval, inclusive; none for the whole run.
    pub between: Option<[Time; 2]>,
}

impl Selection {
    /// Adds the flows that send packets for the selected ones: the first flow of a multicast group sends for
    /// all.
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

    /// Whether a frame of the selected flows that begins at `start` involves a selected node and is in the
    /// interval.
    pub(crate) fn has(&self, frame: &Frame, start: Time) -> bool {
        self.has_time(start) && (self.has_node(frame.from) || frame.to.is_some_and(|to| self.has_node(to)))
    }
}

/// Whether each node's last exchange belongs to a selected flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowFilter(Vec<bool>);

impl FlowFilter {
    /// Whether a frame carries packets of a selected flow or is sent for them. A response passes if the frame
    /// that it answers passed.
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
