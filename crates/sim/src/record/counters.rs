//! What is counted of a flow and of a node.

use super::causes::FlowCauses;
use super::mean::Mean;
use super::occupancy::Occupancy;
use super::timely::Timely;
use crate::outcome::{LinkOutcome, Quantiles, RTS_COUNTS};
use multihop_core::{DropCause, Exchange, NodeId, Span};

/// A flow's counters.
#[derive(Clone, Debug, Default)]
pub struct FlowCounters {
    /// Its packets come from outside.
    pub external: bool,
    /// Flows of its multicast group whose packets it sends too.
    pub(super) further_receivers: u32,
    /// Its receiver is the node that sends the group-addressed frames for its source.
    pub(super) ends_at_relay: bool,
    /// Number of the last packet of a multicast flow that its receiver decoded.
    pub(super) last_received: u64,
    pub delivered_bytes: u64,
    /// Those of them that came in time.
    pub timely_bytes: u64,
    pub(super) timely: Timely,
    /// How long they were on the air, once on each hop, in nanoseconds.
    pub payload_air: u64,
    /// Since the start of the run, for the time series.
    pub delivered_bytes_ever: u64,
    /// Payload that its transport emitted.
    pub sent_bytes: u64,
    /// The same since the start of the run, for the time series.
    pub sent_bytes_ever: u64,
    pub packets_sent: u64,
    pub packets_delivered: u64,
    pub dropped: [u64; DropCause::ALL.len()],
    pub feedback_dropped: u64,
    pub marked: u64,
    pub delays: Vec<u64>,
    pub frames: FrameCounters,
    /// RTS without CTS, of its DATA frames that used RTS.
    pub rts_failures: Mean,
    /// How many of these frames had none, one, and so on; the last one as many or more.
    pub rts_unanswered: [u64; RTS_COUNTS],
    /// Transmission efficiency since the last row of the time series.
    pub step_efficiency: Mean,
    /// Stations that sent its DATA frames, in the order of their first, and how many each.
    pub(super) stations: Vec<(NodeId, u64)>,
    pub(super) causes: FlowCauses,
}

/// Unicast DATA frames that were acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameCounters {
    pub efficiency: Mean,
    /// In seconds.
    pub service_delay: Mean,
}

/// A node's counters.
#[derive(Clone, Debug, Default)]
pub struct NodeCounters {
    pub transmitting: Span,
    pub receiving: Span,
    pub dropped: [u64; DropCause::ALL.len()],
    pub frames: FrameCounters,
    pub queue: Occupancy,
    /// In the hardware's queue, in seconds.
    pub hardware: Mean,
    pub routing: ControlCounters,
    pub signalling: ControlCounters,
    /// By next hop, in the order of their first use.
    pub(super) links: Vec<LinkOutcome>,
}

/// How long a node could not use the medium, since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct MediumUse {
    pub busy: Span,
    /// With the NAV set, but not busy.
    pub nav_only: Span,
}

impl MediumUse {
    /// The difference to what it was before.
    #[must_use]
    pub fn since(self, before: MediumUse) -> MediumUse {
        MediumUse {
            busy: self.busy.saturating_sub(before.busy),
            nav_only: self.nav_only.saturating_sub(before.nav_only),
        }
    }
}

/// What a node sent that belongs to no flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlCounters {
    pub sent: u64,
    pub bytes: u64,
    pub dropped: u64,
    pub airtime: Span,
}

impl FrameCounters {
    /// A frame ended; it has an efficiency if it was acknowledged.
    pub(super) fn add(&mut self, efficiency: Option<f64>, service: f64) {
        if let Some(efficiency) = efficiency {
            self.efficiency.add(efficiency);
            self.service_delay.add(service);
        }
    }
}

impl FlowCounters {
    /// A frame of its data ended.
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

    /// The mean of a quantity of stations over its DATA frames, each counting the station that sent it.
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

    /// What its links did, by next hop.
    pub fn links(&self) -> Vec<LinkOutcome> {
        let mut links = self.links.clone();
        links.sort_by_key(|link| link.to);
        links
    }
}

/// The distribution of delays given in nanoseconds; sorts them.
pub fn quantiles(delays: &mut [u64]) -> Quantiles {
    if delays.is_empty() {
        return Quantiles::default();
    }
    delays.sort_unstable();
    let seconds = |ns: u64| ns as f64 * 1e-9;
    // The nearest-rank definition: the smallest delay that at least this share does not exceed.
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
