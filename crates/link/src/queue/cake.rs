//! CAKE (Høiland-Jørgensen, Täht and Morton, *Piece of CAKE*, 2018; `net/sched/sch_cake.c` of Linux): hosts
//! share the rate, and so do the flows of a host, each under `Cobalt`.

use super::cobalt::Cobalt;
use super::codel::CodelOptions;
use super::fq_codel::{FqCodel, FqCodelOptions};
use multihop_core::Span;
use serde::Serialize;

/// Parameters of CAKE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CakeOptions {
    /// Round-trip time for which the queue management is set: its interval. The target is a twentieth.
    pub round_trip: Span,
    /// Whether hosts share the rate (`triple-isolate`). Otherwise all flows share it (`flows`).
    pub isolate_hosts: bool,
}

impl Default for CakeOptions {
    /// Returns the defaults of Linux.
    fn default() -> CakeOptions {
        CakeOptions { round_trip: Span::from_ms(100), isolate_hosts: true }
    }
}

/// Number of sub-queues among which a flow finds an unused one (`CAKE_SET_WAYS`).
const WAYS: usize = 8;

impl CakeOptions {
    /// Creates an empty set of sub-queues. Its limit in bytes is that of 10240 packets, Linux's default.
    pub(super) fn queues<T>(&self, salt: u64) -> FqCodel<T, Cobalt> {
        let options = FqCodelOptions {
            codel: CodelOptions {
                target: Span::from_ns(self.round_trip.ns() / 20),
                interval: self.round_trip,
                ecn: true,
            },
            byte_limit: 10_240 * 1514,
            drop_batch: 1,
            ..FqCodelOptions::default()
        };
        FqCodel::new(options, salt).isolating(WAYS, self.isolate_hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::host_loads::Hosts;
    use crate::queue::line::Queued;
    use multihop_core::{NodeId, Time};
    use std::collections::VecDeque;

    /// Packets of 1000 bytes among the first 2000 that leave, by flow. Each flow always has ten packets. The
    /// flows are given by their sources and destinations.
    fn served(options: CakeOptions, flows: &[(u32, u32)]) -> Vec<usize> {
        let mut queues = options.queues::<usize>(1);
        let hosts = |flow: usize| Hosts { source: NodeId(flows[flow].0), destination: NodeId(flows[flow].1) };
        let packet =
            |flow| Queued { item: flow, came: Time::ZERO, size: 1000, markable: false, marked: false };
        for flow in 0..flows.len() {
            (0..10).for_each(|_| queues.push(flow as u64, hosts(flow), packet(flow)));
        }
        let mut counts = vec![0; flows.len()];
        for _ in 0..2_000 {
            let flow = queues.pop(Time::ZERO, &mut VecDeque::new()).unwrap().item;
            counts[flow] += 1;
            queues.push(flow as u64, hosts(flow), packet(flow));
        }
        counts
    }

    fn shares(options: CakeOptions, flows: &[(u32, u32)]) -> Vec<f64> {
        served(options, flows).into_iter().map(|packets| packets as f64 / 2_000.0).collect()
    }

    fn assert_near(shares: &[f64], expected: &[f64]) {
        let near = |(share, expected): (&f64, &f64)| (share - expected).abs() < 0.01;
        assert!(shares.iter().zip(expected).all(near), "{shares:?} against {expected:?}");
    }

    /// A source with four flows has as much as one with a single flow.
    #[test]
    fn hosts_share_the_rate() {
        let flows = [(0, 10), (0, 11), (0, 12), (0, 13), (1, 14)];
        assert_near(&shares(CakeOptions::default(), &flows), &[0.125, 0.125, 0.125, 0.125, 0.5]);
        let by_flows = CakeOptions { isolate_hosts: false, ..CakeOptions::default() };
        assert_near(&shares(by_flows, &flows), &[0.2; 5]);
    }

    /// Destinations count as sources do, and of both the one with more flows.
    #[test]
    fn a_flow_counts_for_its_busier_end() {
        let downloads = [(9, 0), (8, 0), (7, 0), (6, 1)];
        assert_near(&shares(CakeOptions::default(), &downloads), &[1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 0.5]);
        // All have one server: no host is preferred.
        let downloads = [(9, 0), (9, 0), (9, 0), (9, 1)];
        assert_near(&shares(CakeOptions::default(), &downloads), &[0.25; 4]);
    }

    /// A hundred flows over 1024 lines: with a plain hash five of them share lines, with eight ways none.
    #[test]
    fn flows_do_not_share_lines() {
        let flows: Vec<(u32, u32)> = (0..100).map(|flow| (flow, 1_000 + flow)).collect();
        assert!(served(CakeOptions::default(), &flows).iter().all(|packets| *packets == 20));
    }
}
