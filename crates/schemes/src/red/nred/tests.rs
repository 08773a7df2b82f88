use super::*;
use crate::testing::{EGRESS, hop, packet};
use multihop_core::{Ecn, Header, Interval};
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};

fn at(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000)
}

fn node(parameters: &Nred) -> NredPolicy {
    NredPolicy::new(parameters, &EGRESS)
}

fn shares(busy: f64, own: f64) -> UsageShares {
    UsageShares { busy, own }
}

/// Returns a node after this many intervals with the same shares.
fn after(intervals: u32, busy: f64, own: f64) -> NredPolicy {
    let mut node = node(&Nred::default());
    for _ in 0..intervals {
        node.end_interval(shares(busy, own));
    }
    node
}

#[test]
fn the_mean_index_approaches_the_index_of_a_busy_medium() {
    assert!((after(1, 1.0, 0.0).index - 0.2 * 244.0).abs() < 1e-9);
    assert!((after(2, 1.0, 0.0).index - 0.36 * 244.0).abs() < 1e-9);
    assert!((after(100, 1.0, 0.0).index - 244.0).abs() < 1e-6);
}

/// A mean index of 170 is half way between the thresholds: 0.07 in all, in proportion to each node's share.
#[test]
fn the_probability_is_in_proportion_to_the_own_share() {
    let busy = 170.0 / 244.0;
    for (own, expected) in [(busy, 0.07), (busy / 2.0, 0.035), (busy / 7.0, 0.01), (0.0, 0.0)] {
        let probability = after(200, busy, own).probability(Time::ZERO);
        assert!((probability - expected).abs() < 1e-9, "{own}: {probability}");
    }
}

#[test]
fn the_probability_is_constant_outside_the_thresholds() {
    for (index, expected) in [(0.0, 0.0), (100.0, 0.0), (135.0, 0.035), (240.0, 0.14), (244.0, 0.14)] {
        let mut node = node(&Nred::default());
        (node.index, node.own_index) = (index, index);
        node.per_index = node.red_per_index();
        assert!((node.probability(Time::ZERO) - expected).abs() < 1e-12, "{index}");
    }
}

/// The mean index exceeds the threshold after three intervals of a busy medium.
#[test]
fn persistent_congestion_is_signalled_by_contributing_nodes() {
    let reported = |parameters: &Nred, own: f64| {
        let mut node = node(parameters);
        (0..5).map(|_| node.end_interval(shares(1.0, own)).is_some()).collect::<Vec<_>>()
    };
    assert_eq!(reported(&Nred::default(), 0.5), [false, false, false, true, true]);
    assert_eq!(reported(&Nred::default(), 0.1), [false; 5]);
    assert_eq!(reported(&Nred { notices: false, ..Nred::default() }, 0.5), [false; 5]);
}

/// Congestion that has ended is not signalled.
#[test]
fn past_congestion_is_not_signalled() {
    let mut node = after(10, 1.0, 0.5);
    assert!(node.per_index > 0.0);
    node.index = 100.0;
    assert_eq!(node.end_interval(shares(0.0, 0.5)), None);
    assert_eq!(node.per_index, 0.0);
}

#[test]
fn negative_and_infinite_probabilities_are_refused() {
    let lifetime = Span::from_ms(200);
    for (per_index, known) in [(0.0, true), (1e-3, true), (-1e-3, false), (f64::INFINITY, false)] {
        let notice = NeighbourCongestion { per_index, lifetime }.to_notice();
        assert_eq!(NeighbourCongestion::from_content(&notice.content).is_some(), known, "{per_index}");
    }
}

#[test]
fn a_notice_is_decoded_as_encoded() {
    let congestion = NeighbourCongestion { per_index: 0.14 / 240.0, lifetime: Span::from_ms(200) };
    let notice = congestion.to_notice();
    assert_eq!((notice.size, notice.air), (36, 16));
    // 0.14 / 240 of 2^32, and 200 ms in microseconds.
    assert_eq!(notice.content[..16], [0, 0, 0, 1, 0, 0x26, 0x3a, 0xb6, 0, 0, 0, 0, 0, 3, 0x0d, 0x40]);
    assert_eq!(NeighbourCongestion::from_content(&notice.content), Some(congestion));
    for content in [&[][..], &[0; 8], &[0; 31], &[0; 32], &[0; 33]] {
        assert_eq!(NeighbourCongestion::from_content(content), None);
    }
    let long = NeighbourCongestion { per_index: 2.0, lifetime: Span::from_ms(5_000_000) }.to_notice();
    assert_eq!(
        [&long.content[4..8], &long.content[12..16]],
        [&[0xff; 4]; 2],
        "limited to the size of the fields"
    );
    let absurd = NeighbourCongestion { per_index: f64::NAN, ..congestion }.to_notice();
    assert_eq!(NeighbourCongestion::from_content(&absurd.content), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Nodes receive the exact values, captures values rounded to 32 bits.
    #[test]
    fn any_congestion_is_decoded_as_encoded(per_index in 0.0..1.0, lifetime in any::<u64>()) {
        let congestion = NeighbourCongestion { per_index, lifetime: Span::from_ns(lifetime) };
        let notice = congestion.to_notice();
        prop_assert_eq!(NeighbourCongestion::from_content(&notice.content), Some(congestion));
        let on_air = CongestionNotice::parse(&notice.content).unwrap();
        prop_assert!((f64::from(on_air.probability) / 2f64.powi(32) - per_index).abs() <= 2f64.powi(-32));
        prop_assert_eq!(u64::from(on_air.lifetime), (lifetime / 1_000).min(u64::from(u32::MAX)));
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(mut content in prop::collection::vec(any::<u8>(), 0..40), is_kind in any::<bool>()) {
        if is_kind && content.len() >= 4 {
            content[..4].copy_from_slice(&[0, 0, 0, 1]);
        }
        if let Some(congestion) = NeighbourCongestion::from_content(&content) {
            prop_assert_eq!(content.len(), CongestionNotice::LEN);
            prop_assert!(congestion.per_index >= 0.0 && congestion.per_index.is_finite());
        }
    }
}

/// The node measures a busy share of 0.3, which is no congestion; a neighbour measures more.
#[test]
fn a_notice_counts_for_its_lifetime() {
    let mut node = after(200, 0.3, 0.2);
    let signal = |node: &mut NredPolicy, now: u64, by: u32, per_index: f64, lifetime_ms: u64| {
        let congestion = NeighbourCongestion { per_index, lifetime: Span::from_ms(lifetime_ms) };
        node.on_notice(at(now), NodeId(by), &congestion.to_notice().content);
    };
    let own = 0.2 * 244.0;
    let expect = |node: &mut NredPolicy, now: u64, per_index: f64| {
        assert!((node.probability(at(now)) - per_index * own).abs() < 1e-9, "{now} ms");
    };
    expect(&mut node, 1_000, 0.0);
    signal(&mut node, 1_000, 1, 4e-4, 200);
    expect(&mut node, 1_000, 4e-4);
    signal(&mut node, 1_050, 2, 5e-4, 100);
    expect(&mut node, 1_149, 5e-4); // the larger of the two
    expect(&mut node, 1_150, 4e-4);
    signal(&mut node, 1_160, 1, 3e-4, 200);
    expect(&mut node, 1_160, 3e-4); // the latest of the same neighbour
    expect(&mut node, 1_360, 0.0);
    node.poll_notice(at(1_400));
    assert!(node.signalled.is_empty());
}

/// The node's own congestion counts if a neighbour signals less.
#[test]
fn a_neighbour_does_not_lower_the_own_congestion() {
    let mut node = after(200, 1.0, 0.5);
    let before = node.probability(Time::ZERO);
    assert!((before - 0.07).abs() < 1e-9, "{before}");
    let congestion = NeighbourCongestion { per_index: 1e-6, lifetime: Span::from_ms(200) };
    node.on_notice(Time::ZERO, NodeId(1), &congestion.to_notice().content);
    assert_eq!(node.probability(Time::ZERO), before);
}

#[test]
fn data_is_dropped_on_reception_and_on_arrival_at_the_queue() {
    let counts = |ecn: Ecn, payload: u32| {
        let mut node = after(200, 1.0, 1.0);
        let view = LinkView::default();
        let mut other_than_pass = [0; 2];
        for _ in 0..10_000 {
            let mut packet = packet(payload, ecn);
            other_than_pass[0] +=
                usize::from(node.on_received(hop(at(1)), &mut packet, &view) != Verdict::Pass);
            other_than_pass[1] +=
                usize::from(node.on_arrival(hop(at(1)), &mut packet, &view) != Verdict::Pass);
        }
        other_than_pass
    };
    for judged in counts(Ecn::NotCapable, 1000).into_iter().chain(counts(Ecn::Ect0, 1000)) {
        assert!(judged.abs_diff(1_400) < 150, "{judged}");
    }
    assert_eq!(counts(Ecn::NotCapable, 0), [0, 0]);
}

/// Half of each of three intervals is busy.
#[test]
fn intervals_end_when_they_are_due() {
    let mut node = node(&Nred::default());
    let first = node.next_notice().unwrap();
    assert!(first >= at(100) && first < at(200), "{first}");
    for interval in 0..3 {
        let start = first + Span::from_ms(100) * interval;
        assert_eq!(node.next_notice(), Some(start));
        node.poll_notice(start);
        node.on_link(&LinkEvent::BusyFrom(start));
        node.on_link(&LinkEvent::Busy(Interval { start, end: start + Span::from_ms(50) }));
    }
    node.poll_notice(node.due);
    assert!((node.index - 122.0 * (0.2 + 0.16 + 0.128)).abs() < 1e-6, "{}", node.index);
}

#[test]
fn a_restart_clears_measurements_and_notices() {
    let mut node = after(200, 1.0, 1.0);
    let congestion = NeighbourCongestion { per_index: 5e-4, lifetime: Span::from_ms(60_000) };
    node.on_notice(at(100), NodeId(1), &congestion.to_notice().content);
    node.on_restart(at(5_000));
    assert_eq!(node.probability(at(5_000)), 0.0);
    node.own_index = 100.0;
    assert_eq!(node.probability(at(5_000)), 0.0);
    let due = node.next_notice().unwrap();
    assert!(due >= at(5_100) && due < at(5_200), "{due}");
}

#[test]
fn wires_have_no_policy() {
    assert!(Nred::default().policy(NodeId(0), &EgressQueue { is_wired: true, ..EGRESS }).is_none());
}

/// A notice counts for its lifetime across the node's own intervals, and no longer.
#[test]
fn the_end_of_an_interval_drops_expired_notices_only() {
    let mut node = node(&Nred::default());
    let congestion = NeighbourCongestion { per_index: 0.14 / 240.0, lifetime: Span::from_ms(200) };
    node.on_notice(at(0), NodeId(1), &congestion.to_notice().content);
    for (now, known) in [(100, 1), (199, 1), (200, 0)] {
        node.poll_notice(at(now));
        assert_eq!(node.signalled.len(), known, "at {now} ms");
    }
}
