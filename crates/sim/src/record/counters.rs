//! Counters of flows and nodes.

use super::causes::FlowCauses;
use super::mean::Mean;
use super::occupancy::Occupancy;
use super::timely::Timely;
use crate::outcome::{LinkOutcome, Quantiles, RTS_COUNTS};
use multihop_core::{DropCause, Exchange, NodeId, Span, Time};

/// Counters of a flow.
#[derive(Clone, Debug, Default)]
pub struct FlowCounters {
    /// Whether the flow's packets are injected.
    pub external: bool,
    /// Number of further flows of its multicast group for which it sends.
    pub(super) further_receivers: u32,
    /// Whether the receiver is the node that relays group-addressed frames for the source.
    pub(super) ends_at_relay: bool,
    /// Number of the last packet of a multicast flow that its receiver decoded.
    pub(super) last_received: u64,
    pub delivered_bytes: u64,
    /// Delivered bytes that were on time.
    pub timely_bytes: u64,
    pub(super) timely: Timely,
    /// Time on the air of the delivered bytes, once on each hop, in nanoseconds.
    pub payload_air: u64,
    /// Bytes delivered since the start of the run, for the time series.
    pub delivered_bytes_ever: u64,
    /// Time of the last delivery to the receiver's application.
    pub last_delivery: Time,
    /// Payload bytes that the transport sent.
    pub sent_bytes: u64,
    /// Payload bytes sent since the start of the run, for the time series.
    pub sent_bytes_ever: u64,
    pub packets_sent: u64,
    pub packets_delivered: u64,
    pub dropped: [u64; DropCause::ALL.len()],
    pub feedback_dropped: u64,
    pub marked: u64,
    pub delays: Vec<u64>,
    pub frames: FrameCounters,
    /// Mean number of unanswered RTS of a DATA frame, over the frames that sent an RTS.
    pub rts_failures: Mean,
    /// Number of these frames by unanswered RTS: none, one, and so on; the last entry also counts higher
    /// numbers.
    pub rts_unanswered: [u64; RTS_COUNTS],
    /// Transmission efficiency since the last row of the time series.
    pub step_efficiency: Mean,
    /// Stations that sent the flow's DATA frames, in the order of their first, with the number of frames.
    pub(super) stations: Vec<(NodeId, u64)>,
    pub(super) causes: FlowCauses,
}

/// Counters of acknowledged unicast DATA frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameCounters {
    pub efficiency: Mean,
    /// Service delay in seconds.
    pub service_delay: Mean,
}

/// Counters of a node.
#[derive(Clone, Debug, Default)]
pub struct NodeCounters {
    pub transmitting: Span,
    pub receiving: Span,
    pub dropped: [u64; DropCause::ALL.len()],
    pub frames: FrameCounters,
    pub queue: Occupancy,
    /// Waiting time in the hardware queue, in seconds.
    pub hardware: Mean,
    pub routing: ControlCounters,
    pub signalling: ControlCounters,
    /// Results by next hop, in the order of first use.
    pub(super) links: Vec<LinkOutcome>,
}

/// Time in which a node could not use the medium, since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct MediumUse {
    pub busy: Span,
    /// Time with the NAV set and the medium not busy.
    pub nav_only: Span,
}

impl MediumUse {
    /// Difference to an earlier value.
    #[must_use]
    pub fn since(self, before: MediumUse) -> MediumUse {
        MediumUse {
            busy: self.busy.saturating_sub(before.busy),
            nav_only: self.nav_only.saturating_sub(before.nav_only),
        }
    }
}

/// Counters of packets of a node that belong to no flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlCounters {
    pub sent: u64,
    pub bytes: u64,
    pub dropped: u64,
    pub airtime: Span,
}

impl FrameCounters {
    /// Counts a frame that ended; it has an efficiency if it was acknowledged.
    pub(super) fn add(&mut self, efficiency: Option<f64>, service: f64) {
        if let Some(efficiency) = efficiency {
            self.efficiency.add(efficiency);
            self.service_delay.add(service);
        }
    }
}

impl FlowCounters {
    /// Counts a data frame of the flow that ended.
    pub(super) fn count(&mut self, exchange: &Exchange) {
        if exchange.rts_tries > 0 {
            self.rts_failures.add(f64::from(exchange.rts_failures));
            self.rts_unanswered[(exchange.rts_failures as usize).min(RTS_COUNTS - 1)] += 1;
        }
        match self.stations.iter_mut().find(|(station, _)| *station == exchange.node) {
            Some((_, frames)) => *frames += 1,
            None => self.stations.push((exchange.node, 1)),
        }
    }

    /// Mean of a quantity of stations over the flow's DATA frames; each frame counts the station that sent
    /// it.
    pub fn mean_over_frames(&self, of: impl Fn(NodeId) -> f64) -> Option<f64> {
        let frames: u64 = self.stations.iter().map(|(_, frames)| frames).sum();
        let sum: f64 = self.stations.iter().map(|(station, frames)| of(*station) * *frames as f64).sum();
        (frames > 0).then(|| sum / frames as f64)
    }
}

impl NodeCounters {
    pub(super) fn link(&mut self, from: NodeId, to: NodeId) -> &mut LinkOutcome {
        let at = self.links.iter().position(|link| link.to == to.0).unwrap_or_else(|| {
            self.links.push(LinkOutcome { from: from.0, to: to.0, ..LinkOutcome::default() });
            self.links.len() - 1
        });
        &mut self.links[at]
    }

    /// Results of the node's links, by next hop.
    pub fn links(&self) -> Vec<LinkOutcome> {
        let mut links = self.links.clone();
        links.sort_by_key(|link| link.to);
        links
    }
}

/// Distribution of delays given in nanoseconds; sorts them.
pub fn quantiles(delays: &mut [u64]) -> Quantiles {
    if delays.is_empty() {
        return Quantiles::default();
    }
    delays.sort_unstable();
    let seconds = |ns: u64| ns as f64 * 1e-9;
    // Nearest-rank definition: the smallest delay that at least this share does not exceed.
    let rank = |share: f64| {
        seconds(delays[((share * delays.len() as f64).ceil() as usize).clamp(1, delays.len()) - 1])
    };
    let sum: u128 = delays.iter().map(|delay| u128::from(*delay)).sum();
    Quantiles {
        mean: sum as f64 * 1e-9 / delays.len() as f64,
        p50: rank(0.5),
        p90: rank(0.9),
        p95: rank(0.95),
        p99: rank(0.99),
        max: seconds(delays[delays.len() - 1]),
    }
}
