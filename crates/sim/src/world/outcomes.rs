//! Results of flows and nodes at the end of a run.

use super::World;
use crate::apps::App;
use crate::node::Node;
use crate::outcome::{ControlOutcome, FlowOutcome, NodeOutcome};
use crate::record::{ControlCounters, quantiles};
use multihop_core::{NodeId, Port, Span};
use multihop_transport::Progress;

impl World {
    pub(super) fn flow_outcome(
        &mut self,
        index: usize,
        progress: &Progress,
        nodes: &[NodeOutcome],
        measured: Span,
    ) -> FlowOutcome {
        let flow = &self.config.traffic.flows[index];
        let base = self.samples.baseline.get(index).copied().unwrap_or_default();
        let route = self.network.flows[index];
        let sender = self.nodes[self.order.of(flow.source)].stack.end(route.ends[Port::Sender as usize]);
        let transfers = sender.app().map(App::completed).unwrap_or_default();
        let mut durations: Vec<u64> = transfers.iter().map(|span| span.ns()).collect();
        let durations = (!durations.is_empty()).then(|| quantiles(&mut durations));
        let samples = progress.rtt_samples - base.rtt_samples;
        let window = self.samples.window[index];
        let receive_limited = progress.receive_limited - base.receive_limited;
        let rates = self.samples.rates[index];
        let routed = self.network.routes.hops(flow.source, flow.destination, &self.config.topology.radios);
        let hops = if flow.group.is_none() {
            routed.map_or(0, |hops| hops.len() as u32)
        } else {
            let sender = self.config.multicast_sender(flow);
            u32::from(sender != flow.source) + u32::from(sender != flow.destination)
        };
        let video = self.record.video_outcome(index, self.now);
        let (rate_cv, jitter_s) = (self.record.rate_cv(index), self.record.jitter_s(index));
        let counters = &mut self.record.flows[index];
        FlowOutcome {
            delivered_bytes: counters.delivered_bytes,
            timely_bytes: counters.timely_bytes,
            payload_airtime: Span::from_ns(counters.payload_air).seconds() / measured.seconds(),
            packets_sent: counters.packets_sent,
            sent_bytes: counters.sent_bytes,
            packets_delivered: counters.packets_delivered,
            dropped: counters.dropped,
            feedback_dropped: counters.feedback_dropped,
            delay: quantiles(&mut counters.delays),
            rtt_mean_s: (samples > 0).then(|| (progress.rtt_sum - base.rtt_sum).seconds() / samples as f64),
            retransmissions: progress.retransmissions - base.retransmissions,
            timeouts: progress.timeouts - base.timeouts,
            recoveries: progress.recoveries - base.recoveries,
            ecn_reductions: progress.ecn_reductions - base.ecn_reductions,
            receive_limited: (window.count > 0).then_some(receive_limited.seconds() / measured.seconds()),
            marked: counters.marked,
            window_mean_bytes: (window.count > 0).then(|| window.sum as f64 / window.count as f64),
            rate_mean_bps: rates.allowed.get(),
            loss_event_rate: rates.loss_event.get(),
            hops,
            transfers: transfers.len() as u64,
            transfer_mean_s: durations.map(|durations| durations.mean),
            transfer_p50_s: durations.map(|durations| durations.p50),
            transfer_p95_s: durations.map(|durations| durations.p95),
            transfer_p99_s: durations.map(|durations| durations.p99),
            transmission_efficiency: counters.frames.efficiency.get(),
            service_delay_mean_s: counters.frames.service_delay.get(),
            rts_retransmissions_mean: counters.rts_failures.get(),
            rts_unanswered: counters.rts_unanswered,
            busy_ratio: counters.mean_over_frames(|station| nodes[station.index()].busy_ratio),
            rate_cv,
            jitter_s,
            video,
        }
    }

    pub(super) fn node_outcome(&mut self, index: usize, measured: Span) -> NodeOutcome {
        let id = NodeId(index as u32);
        let row = self.order.of(id);
        let Node { radio, mac, .. } = &self.nodes[row];
        let medium = self.record.media_use_measured(row, mac.medium_use(radio, self.now));
        let queue_mean = self.record.queue_mean(id, self.now);
        let counters = &self.record.nodes[index];
        let share = |span: Span| span.seconds() / measured.seconds();
        let control = |counters: &ControlCounters| ControlOutcome {
            sent: counters.sent,
            bytes: counters.bytes,
            dropped: counters.dropped,
            airtime: share(counters.airtime),
        };
        let sensing = medium.busy.saturating_sub(counters.transmitting + counters.receiving);
        let busy = share(counters.transmitting) + share(counters.receiving) + share(sensing);
        let nav_only = share(medium.nav_only);
        NodeOutcome {
            transmitting: share(counters.transmitting),
            receiving: share(counters.receiving),
            sensing: share(sensing),
            idle: 1.0 - busy,
            nav_only,
            busy_ratio: busy + nav_only,
            queue_mean,
            queue_max: counters.queue.max,
            dropped: counters.dropped,
            routing: control(&counters.routing),
            signalling: control(&counters.signalling),
            transmission_efficiency: counters.frames.efficiency.get(),
            service_delay_mean_s: counters.frames.service_delay.get(),
            hardware_delay_mean_s: counters.hardware.get(),
        }
    }
}
