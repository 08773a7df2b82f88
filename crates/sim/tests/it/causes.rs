//! Causes in runs: every failed frame has one, and collisions have two sides.

use crate::common::{add_flow, chain, network, saturate, saturated_cell, two_ray};
use multihop_core::{DropCause, FrameKind, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::{AppConfig, Config, LinkError, MediumModel};
use multihop_sim::outcome::{CollisionOutcome, LossCause, Outcome, Overlap};
use multihop_sim::run;

/// Frames of a kind that failed on a link for these causes.
fn lost(outcome: &Outcome, from: u32, to: u32, kind: FrameKind, causes: &[LossCause]) -> u64 {
    let rows = outcome.causes.losses.iter().filter(|row| (row.from, row.to, row.kind) == (from, to, kind));
    rows.map(|row| causes.iter().map(|cause| row.lost[*cause as usize]).sum::<u64>()).sum()
}

/// Every DATA frame without an ACK and every RTS without DATA is among the losses, as its own loss or that of
/// its response, and losses by collision equal the sums of the collision table. The last frame of a link may
/// be in progress at the end.
fn check(outcome: &Outcome) {
    use FrameKind::{Ack, Cts, Data, Rts};
    let all = &LossCause::ALL;
    for link in &outcome.links {
        let (from, to) = (link.from, link.to);
        // Attempts of one frame may be counted without its end: seven of DATA, or seven RTS before each of
        // four DATA.
        let answered = [
            (
                link.data - link.acknowledged,
                lost(outcome, from, to, Data, all) + lost(outcome, to, from, Ack, all),
                7,
            ),
            (
                link.rts.saturating_sub(link.data),
                lost(outcome, from, to, Rts, all) + lost(outcome, to, from, Cts, all),
                28,
            ),
        ];
        for (failed, booked, under_way) in answered {
            assert!(booked.abs_diff(failed) <= under_way + 1, "{failed} failed, {booked} booked: {link:?}");
            assert!(failed <= booked + 1, "{failed} failed, {booked} booked: {link:?}");
        }
    }
    for row in &outcome.causes.losses {
        let same =
            |hit: &&CollisionOutcome| (hit.sender, hit.receiver, hit.kind) == (row.from, row.to, row.kind);
        let matrix: u64 = outcome.causes.collisions.iter().filter(same).map(|hit| hit.lost).sum();
        assert_eq!(matrix, row.lost[LossCause::Collision as usize], "{row:?}");
        assert_eq!(row.lost[LossCause::Off as usize], 0, "no radio was off: {row:?}");
    }
}

fn short(mut config: Config) -> Outcome {
    config.recording.warmup = Span::ZERO;
    config.duration = Span::from_ms(4_000);
    let outcome = run(&config);
    check(&outcome);
    outcome
}

/// Node n0 sends to n1, and n2, 600 m from n0 and 400 m from n1, to n3: n0 does not sense n2, whose frames
/// collide at n1.
fn hidden() -> Config {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [200.0, 0.0], [600.0, 0.0], [800.0, 0.0]]);
    saturate(&mut config, 0, 1);
    saturate(&mut config, 2, 3);
    config
}

#[test]
fn frames_of_a_hidden_terminal_name_it_and_whom_it_sent_to() {
    let outcome = short(hidden());
    let hits = &outcome.causes.collisions;
    let at_n1 = hits.iter().filter(|hit| hit.receiver == 1 && hit.sender == 0 && hit.interferer == 2);
    let data =
        at_n1.clone().filter(|hit| hit.interferer_kind == FrameKind::Data).map(|hit| hit.lost).sum::<u64>();
    assert!(data > 100, "{hits:?}");
    assert!(
        at_n1.clone().all(|hit| hit.how == Overlap::Hidden && !hit.warned && hit.interferer_node == Some(3)),
        "{hits:?}"
    );
    assert_eq!(lost(&outcome, 2, 3, FrameKind::Data, &LossCause::ALL), 0, "n3 is 600 m from n1");
}

#[test]
fn stations_of_a_cell_collide_only_by_beginning_together() {
    let outcome = short(saturated_cell(DcfRules::IEEE, 5));
    let hits = &outcome.causes.collisions;
    assert!(hits.iter().map(|hit| hit.lost).sum::<u64>() > 50, "{hits:?}");
    assert!(hits.iter().all(|hit| hit.how == Overlap::Simultaneous && hit.receiver == 0), "{hits:?}");
}

#[test]
fn a_lossy_link_loses_to_the_channel_and_to_nothing_else() {
    let mut config = chain(DcfRules::IEEE, 1);
    config.medium.link_errors = vec![LinkError {
        from: multihop_core::NodeId(0),
        to: multihop_core::NodeId(1),
        packet_error_rate: 0.4,
        ack_error_rate: 0.0,
    }];
    saturate(&mut config, 0, 1);
    let outcome = short(config);
    let data = outcome.links[0].data as f64;
    let channel = lost(&outcome, 0, 1, FrameKind::Data, &[LossCause::Channel]);
    assert!((channel as f64 / data - 0.4).abs() < 0.05, "{channel} of {data}");
    assert_eq!(channel, lost(&outcome, 0, 1, FrameKind::Data, &LossCause::ALL));
}

/// Of an offered load of 3 Mb/s, the second of three hops forwards what the first delivers, and the queue of
/// the first overflows.
#[test]
fn drops_are_booked_where_they_happen_for_whom_they_happen() {
    let mut config = chain(DcfRules::IEEE, 3);
    add_flow(&mut config, 0, 3, AppConfig::Cbr { rate: Rate::from_kbps(6_000), packet: 1_000, jitter: 0.0 });
    let outcome = short(config);
    for cause in DropCause::ALL {
        let booked: u64 = outcome.causes.drops.iter().map(|drop| drop.dropped[cause as usize]).sum();
        assert_eq!(booked, outcome.flows[0].dropped[cause as usize], "{cause:?}");
    }
    let full = |node: u32| -> u64 {
        let there = outcome.causes.drops.iter().filter(|drop| drop.node == node);
        there.map(|drop| drop.dropped[DropCause::QueueFull as usize]).sum()
    };
    assert!(full(0) > 100 && full(0) > full(1), "{:?}", outcome.causes.drops);
    let data: u64 = outcome.causes.hops.iter().map(|hop| hop.data).sum();
    assert_eq!(data, outcome.links.iter().map(|link| link.data).sum::<u64>(), "all frames are of flows");
}

#[test]
fn every_failed_frame_has_a_cause_under_all_rules_and_media() {
    let sinr = MediumModel::Sinr {
        transmit_power_mw: 281.8,
        noise_mw: 4.4e-10,
        sensitivity_mw: 3.2e-8,
        carrier_sense_mw: 1.6e-8,
        path_loss: two_ray(),
    };
    let mut seen = 0;
    for rules in [DcfRules::IEEE, DcfRules::NS2] {
        for with_rts in [None, Some(0)] {
            for model in [None, Some(sinr.clone())] {
                for far in [false, true] {
                    let mut config = chain(rules, 6);
                    config.mac.rts_threshold = with_rts;
                    config.medium.bit_error_rate = 1e-5;
                    config.medium.delays_by_distance = far;
                    if let Some(model) = model.clone() {
                        config.medium.model = model;
                    }
                    saturate(&mut config, 0, 6);
                    saturate(&mut config, 6, 0);
                    seen += short(config).causes.collisions.len();
                }
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// The same bits at the same SINR: losses that noise alone would have caused are not attributed to other
/// nodes.
#[test]
fn with_sinr_a_weak_link_far_from_others_loses_to_the_channel() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [245.0, 0.0]]);
    config.medium.model = MediumModel::Sinr {
        transmit_power_mw: 281.8,
        noise_mw: 6e-8,
        sensitivity_mw: 3.2e-8,
        carrier_sense_mw: 1.6e-8,
        path_loss: two_ray(),
    };
    saturate(&mut config, 0, 1);
    let outcome = short(config);
    assert!(lost(&outcome, 0, 1, FrameKind::Data, &[LossCause::Channel]) > 20, "{:?}", outcome.causes);
    assert!(outcome.causes.collisions.is_empty());
}
