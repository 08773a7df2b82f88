//! Infrastructure networks: stations that are associated with a base station, and what that costs.

use crate::common::capture::Shared;
use crate::common::{add_flow, network};
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::{ACK_BYTES, CTS_BYTES, DataRate, DcfRules, RTS_BYTES};
use multihop_link::{Discipline, StationsOptions};
use multihop_sim::capacity::Capacity;
use multihop_sim::config::{
    AppConfig, Config, DsdvConfig, LinkError, MediumModel, PathLoss, RoutingProtocol,
};
use multihop_sim::logs::AirLog;
use multihop_sim::mobility::Motion;
use multihop_sim::outcome::{LinkOutcome, Outcome};
use multihop_sim::routing::LinkQuality;
use multihop_sim::run;

/// Nodes at these places in metres along a line, some of them associated: client and base station.
fn stations(places: &[f64], associated: &[(usize, u32)]) -> Config {
    let positions: Vec<[f64; 2]> = places.iter().map(|x| [*x, 0.0]).collect();
    let mut config = network(DcfRules::IEEE, &positions);
    for (client, base) in associated {
        config.topology.nodes[*client].base = Some(NodeId(*base));
    }
    config
}

/// A flow of 200 kb/s, far below what the channel carries.
fn trickle(config: &mut Config, from: usize, to: usize) {
    add_flow(config, from, to, AppConfig::Cbr { rate: Rate::from_kbps(200), packet: 1_472, jitter: 0.0 });
}

/// The links that were used, as pairs of indices.
fn used(outcome: &Outcome) -> Vec<(u32, u32)> {
    outcome.links.iter().map(|link| (link.from, link.to)).collect()
}

fn link(outcome: &Outcome, from: u32, to: u32) -> LinkOutcome {
    *outcome.links.iter().find(|link| (link.from, link.to) == (from, to)).expect("the link was used")
}

fn air(outcome: &Outcome) -> f64 {
    outcome.nodes.iter().map(|node| node.transmitting).sum()
}

/// Every packet from client to client is sent twice, and so needs twice the air.
#[test]
fn clients_reach_each_other_by_their_base_station_alone() {
    let mut direct = stations(&[0.0, 10.0, 20.0], &[]);
    trickle(&mut direct, 1, 2);
    let mut relayed = stations(&[0.0, 10.0, 20.0], &[(1, 0), (2, 0)]);
    trickle(&mut relayed, 1, 2);
    let (direct, relayed) = (run(&direct), run(&relayed));
    assert_eq!((used(&direct), direct.flows[0].hops), (vec![(1, 2)], 1));
    assert_eq!((used(&relayed), relayed.flows[0].hops), (vec![(0, 2), (1, 0)], 2));
    assert_eq!(direct.flows[0].delivered_bytes, relayed.flows[0].delivered_bytes);
    assert!((air(&relayed) / air(&direct) - 2.0).abs() < 1e-3, "{} {}", air(&relayed), air(&direct));
    // What is behind that: as many DATA frames on each of the two links.
    assert!(link(&relayed, 1, 0).data.abs_diff(link(&relayed, 0, 2).data) <= 1);
}

/// Base stations talk to each other, in the same channel; a client hears the other one and does not use it.
#[test]
fn packets_between_cells_go_by_both_base_stations() {
    let mut config = stations(&[0.0, 20.0, 10.0, 30.0, 40.0], &[(2, 0), (3, 1)]);
    trickle(&mut config, 2, 3);
    trickle(&mut config, 4, 1);
    trickle(&mut config, 4, 2);
    let outcome = run(&config);
    assert_eq!(
        used(&outcome),
        [(0, 1), (0, 2), (1, 3), (2, 0), (4, 0), (4, 1)].into_iter().collect::<Vec<_>>()
    );
    let hops: Vec<u32> = outcome.flows.iter().map(|flow| flow.hops).collect();
    assert_eq!(hops, [3, 1, 2], "node 4 is in neither cell, and hears all");
}

/// A wire is no frame of a radio: a client may have one to any node.
#[test]
fn wires_know_no_associations() {
    let mut config = stations(&[0.0, 10.0, 20.0], &[(1, 0), (2, 0)]);
    crate::common::wires::lay(&mut config, (1, 2), crate::common::wires::mbps(10), Span::from_ms(1), 50);
    trickle(&mut config, 1, 2);
    trickle(&mut config, 0, 2);
    let outcome = run(&config);
    assert_eq!(used(&outcome), [(0, 2)]);
    assert_eq!(outcome.flows[0].hops, 1);
}

/// The bound of the channel, without a run, refers to the same links.
#[test]
fn bounds_are_of_the_links_by_the_base_station() {
    let mut config = stations(&[0.0, 10.0, 20.0], &[(1, 0), (2, 0)]);
    trickle(&mut config, 1, 2);
    let capacity = Capacity::new(&config);
    let links: Vec<(u32, u32)> = capacity.links.iter().map(|(from, to)| (from.0, to.0)).collect();
    assert_eq!(links, [(1, 0), (0, 2)]);
}

/// Adds the errors of one direction.
fn lose(config: &mut Config, from: u32, to: u32, packet_error_rate: f64) {
    let (from, to) = (NodeId(from), NodeId(to));
    config.medium.link_errors.push(LinkError { from, to, packet_error_rate, ack_error_rate: 0.0 });
}

/// The share of DATA frames lost in each direction of each link is the configured one, as retries show;
/// losses of all links and of one link are independent.
#[test]
fn each_direction_of_a_link_loses_what_it_is_said_to_lose() {
    let mut config = stations(&[0.0, 10.0, 20.0, 30.0], &[(1, 0), (2, 0), (3, 0)]);
    config.duration = Span::from_ms(120_000);
    config.recording.warmup = Span::ZERO;
    config.mac.short_retry_limit = None;
    config.medium.packet_error_rate = 0.05;
    lose(&mut config, 0, 2, 0.1);
    lose(&mut config, 2, 0, 0.4);
    lose(&mut config, 3, 0, 0.2);
    for client in 1..=3 {
        trickle(&mut config, 0, client);
        trickle(&mut config, client, 0);
    }
    // Six packets every 58.88 ms, so far apart that nothing collides.
    for (flow, place) in config.traffic.flows.iter_mut().zip(0..) {
        flow.start = Span::from_us(9_700) * place;
    }
    let outcome = run(&config);
    for (from, to, own) in [(0, 1, 0.0), (1, 0, 0.0), (0, 2, 0.1), (2, 0, 0.4), (0, 3, 0.0), (3, 0, 0.2)] {
        let LinkOutcome { data, acknowledged, .. } = link(&outcome, from, to);
        let expected = 1.0 - 0.95 * (1.0 - own);
        let lost = 1.0 - acknowledged as f64 / data as f64;
        let deviation = (expected * (1.0 - expected) / data as f64).sqrt();
        assert!(data > 2_000, "{from} to {to}: {data} frames");
        assert!((lost - expected).abs() < 4.0 * deviation, "{from} to {to}: {lost} against {expected}");
    }
}

/// ACKs are lost by themselves: DATA arrives, and is sent again.
#[test]
fn acknowledgements_are_lost_alone() {
    let mut config = stations(&[0.0, 10.0], &[(1, 0)]);
    config.duration = Span::from_ms(120_000);
    config.recording.warmup = Span::ZERO;
    config.mac.short_retry_limit = None;
    let (from, to) = (NodeId(0), NodeId(1));
    let error = |from, to, ack_error_rate| LinkError { from, to, packet_error_rate: 0.0, ack_error_rate };
    config.medium.link_errors = vec![error(from, to, 0.1), error(to, from, 0.4)];
    trickle(&mut config, 0, 1);
    trickle(&mut config, 1, 0);
    config.traffic.flows[1].start = Span::from_us(9_700);
    let quality = LinkQuality::new(&config);
    assert!((quality.success(from, to) - 0.6).abs() < 1e-9, "routes know");
    let outcome = run(&config);
    for (from, to, lost) in [(0, 1, 0.4), (1, 0, 0.1)] {
        let LinkOutcome { data, acknowledged, .. } = link(&outcome, from, to);
        let seen = 1.0 - acknowledged as f64 / data as f64;
        let deviation = (lost * (1.0_f64 - lost) / data as f64).sqrt();
        assert!(data > 2_000 && (seen - lost).abs() < 4.0 * deviation, "{from} to {to}: {seen} of {data}");
    }
    assert!(
        outcome.flows.iter().all(|flow| flow.packets_delivered + 1 >= flow.packets_sent),
        "nothing is lost"
    );
}

/// Only the two ends: what the base station sends to one client is lost to the other as well only by its own
/// link.
#[test]
fn errors_of_one_link_do_nothing_to_others() {
    let run_with = |errors: &[(u32, u32, f64)]| {
        let mut config = stations(&[0.0, 10.0, 20.0], &[(1, 0), (2, 0)]);
        for (from, to, rate) in errors {
            lose(&mut config, *from, *to, *rate);
        }
        trickle(&mut config, 0, 1);
        let outcome = run(&config);
        (link(&outcome, 0, 1), outcome.fingerprint)
    };
    let clean = run_with(&[]);
    assert_eq!(run_with(&[(0, 1, 0.0), (1, 0, 0.5)]), clean, "its client sends it no DATA");
    let LinkOutcome { data, acknowledged, .. } = run_with(&[(0, 1, 0.98)]).0;
    assert!(data > 1_000 && acknowledged * 25 < data, "{acknowledged} of {data}");
}

/// The errors are of two nodes, wherever they are.
#[test]
fn errors_of_a_link_go_with_nodes_that_move() {
    let mut config = stations(&[0.0, 10.0, 20.0], &[]);
    config.duration = Span::from_ms(60_000);
    config.routing.protocol = RoutingProtocol::Dsdv(DsdvConfig::default());
    config.mobility.motions = [0.0, 10.0, 20.0].map(|x| Motion::standing([x, 0.0])).to_vec();
    config.mobility.motions[1].head_for(0.0, [10.0, 50.0], 1.0);
    lose(&mut config, 0, 1, 0.3);
    config.mac.short_retry_limit = None;
    trickle(&mut config, 0, 1);
    trickle(&mut config, 0, 2);
    let outcome = run(&config);
    let share = |link: LinkOutcome| 1.0 - link.acknowledged as f64 / link.data as f64;
    assert!((share(link(&outcome, 0, 1)) - 0.3).abs() < 0.05, "{:?}", link(&outcome, 0, 1));
    assert!(share(link(&outcome, 0, 2)) < 0.01, "{:?}", link(&outcome, 0, 2));
}

/// Routes know of them: by expected transmissions, two good links are better than one that loses two frames
/// of three.
#[test]
fn routes_go_around_links_that_lose_much() {
    let hops = |rate: f64| {
        let mut config = stations(&[0.0, 10.0, 20.0], &[]);
        lose(&mut config, 0, 2, rate);
        trickle(&mut config, 0, 2);
        run(&config).flows[0].hops
    };
    assert_eq!([0.0, 0.4, 0.66].map(hops), [1, 1, 2]);
}

/// The base station alone sends datagrams, so that nothing collides: downloads share what one sender has, the
/// mean back-off before each exchange included, and a client's radio sends nothing but acknowledgements of
/// the MAC.
#[test]
fn downloads_share_what_the_base_station_gets() {
    let mut config = stations(&[0.0, 10.0, 20.0, 30.0], &[(1, 0), (2, 0), (3, 0)]);
    config.duration = Span::from_ms(121_000);
    for client in 1..=3 {
        add_flow(&mut config, 0, client, AppConfig::Saturated);
    }
    let rules = config.mac.rules;
    let bytes = 1_500 + rules.llc_header + rules.data_header;
    let data = config.phy.airtime(config.rates.data, bytes, rules.airtime).seconds();
    let (ack, delay) = (304e-6, 1e-6);
    let cycle = 50e-6 + 15.5 * 20e-6 + data + 10e-6 + ack + 2.0 * delay;
    let outcome = run(&config);
    for (client, flow) in outcome.flows.iter().enumerate() {
        let goodput = flow.delivered_bytes as f64 * 8.0 / outcome.measured_s;
        let expected = 1_472.0 * 8.0 / cycle / 3.0;
        assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} against {expected}");
        let transmitting = outcome.nodes[client + 1].transmitting;
        assert!((transmitting / (ack / cycle / 3.0) - 1.0).abs() < 0.01, "client {client}: {transmitting}");
    }
    assert!((outcome.nodes[0].transmitting / (data / cycle) - 1.0).abs() < 0.001);
}

/// A base station and clients whose links have these DATA rates in Mb/s; control frames by the standard's
/// rule.
fn at_rates(mbps: &[u64]) -> Config {
    let places: Vec<f64> = (0..=mbps.len()).map(|i| 10.0 * i as f64).collect();
    let clients: Vec<(usize, u32)> = (1..=mbps.len()).map(|client| (client, 0)).collect();
    let mut config = stations(&places, &clients);
    config.rates.control = None;
    config.recording.warmup = Span::ZERO;
    for (node, rate) in config.topology.nodes[1..].iter_mut().zip(mbps) {
        node.data_rate = Some(Rate::from_kbps(rate * 1_000).into());
    }
    config
}

/// Seconds on the air of a frame of this many MAC bytes.
fn airtime(config: &Config, rate: impl Into<DataRate>, bytes: u32) -> f64 {
    config.phy.airtime(rate, bytes, config.mac.rules.airtime).seconds()
}

/// Seconds of a DATA frame of 1500 B at the network layer, and of its ACK: at the highest basic rate not
/// above that of the DATA.
fn data_and_ack(config: &Config, rate: DataRate) -> (f64, f64) {
    let bytes = 1_500 + config.mac.rules.llc_header + config.mac.rules.data_header;
    (airtime(config, rate, bytes), airtime(config, config.phy.response_rate(rate), ACK_BYTES))
}

/// The transmission time of each station follows from its number of frames, each at the rate of its link or
/// at the control rate that the standard derives from it, with and without RTS.
#[test]
fn every_frame_goes_at_the_rate_of_its_link() {
    for rts in [None, Some(0)] {
        let mut config = at_rates(&[1, 11, 2]);
        config.mac.rts_threshold = rts;
        for client in 1..=3 {
            trickle(&mut config, 0, client);
        }
        trickle(&mut config, 1, 0);
        let outcome = run(&config);
        let mut expected = [0.0; 4];
        for LinkOutcome { from, to, rts, data, acknowledged, .. } in &outcome.links {
            let rate = config.topology.nodes[*from.max(to) as usize].data_rate.unwrap();
            let (frame, ack) = data_and_ack(&config, rate);
            let control = config.phy.response_rate(rate);
            expected[*from as usize] +=
                *data as f64 * frame + *rts as f64 * airtime(&config, control, RTS_BYTES);
            let cts = if rts == &0 { 0.0 } else { airtime(&config, control, CTS_BYTES) };
            expected[*to as usize] += *acknowledged as f64 * (ack + cts);
        }
        for (node, expected) in outcome.nodes.iter().zip(expected) {
            let seconds = node.transmitting * outcome.measured_s;
            assert!((seconds / expected - 1.0).abs() < 5e-3, "rts {rts:?}: {seconds} s, and not {expected}");
        }
    }
}

/// One sender takes packets in turn, so that both clients get one packet in the time of a fast and a slow
/// exchange: the fast one has no more than the slow one (Heusse et al. 2003).
#[test]
fn a_slow_client_slows_downloads_of_all() {
    let mut config = at_rates(&[11, 1]);
    config.duration = Span::from_ms(240_000);
    for client in 1..=2 {
        add_flow(&mut config, 0, client, AppConfig::Saturated);
    }
    let cycle = |mbps: u64| {
        let (data, ack) = data_and_ack(&config, Rate::from_kbps(mbps * 1_000).into());
        50e-6 + 15.5 * 20e-6 + data + 10e-6 + ack + 2e-6
    };
    let expected = 1_472.0 * 8.0 / (cycle(11) + cycle(1));
    let outcome = run(&config);
    for flow in &outcome.flows {
        let goodput = flow.delivered_bytes as f64 * 8.0 / outcome.measured_s;
        assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput} against {expected}");
    }
}

/// The same of uploads, where stations of equal chances contend. The closed form is that of Heusse et al.
/// (2003): of N stations each gets a frame across in the time of all frames and of the collisions, `N P_c` of
/// them, each as long as the slow frame; the mean contention is `SLOT (1 + P_c) / 2N CW_min / 2`, with `P_c =
/// 1 - (1 - 1/CW_min)^(N-1)`. The fast station has a little more: when two frames collide the slow one ends
/// last, and its sender waits for an ACK while the other already counts slots.
#[test]
fn a_slow_client_slows_uploads_of_all() {
    let mut config = at_rates(&[11, 1]);
    config.duration = Span::from_ms(600_000);
    for client in 1..=2 {
        add_flow(&mut config, client, 0, AppConfig::Saturated);
    }
    let (stations, cw) = (2.0, 31.0);
    let collides: f64 = 1.0 / cw;
    let contention = 20e-6 * (1.0 + collides) / (2.0 * stations) * cw / 2.0;
    let exchange = |mbps: u64| {
        let (data, ack) = data_and_ack(&config, Rate::from_kbps(mbps * 1_000).into());
        50e-6 + data + 10e-6 + ack + contention
    };
    let (fast, slow) = (exchange(11), exchange(1));
    let expected = 1_472.0 * 8.0 / (fast + slow + collides * slow * stations);
    let outcome = run(&config);
    let goodput = |flow: usize| outcome.flows[flow].delivered_bytes as f64 * 8.0 / outcome.measured_s;
    let mean = f64::midpoint(goodput(0), goodput(1));
    assert!((mean / expected - 1.0).abs() < 0.02, "{mean} against {expected}");
    assert!((goodput(0) / goodput(1) - 1.0).abs() < 0.05, "{} and {}", goodput(0), goodput(1));
}

/// A base station that shares its airtime gives each client as much time, and so the fast one more packets.
#[test]
fn queues_by_airtime_know_the_rate_of_each_link() {
    let mut config = at_rates(&[11, 1]);
    config.mac.queue.discipline = Discipline::Stations(StationsOptions::default());
    config.duration = Span::from_ms(60_000);
    for client in 1..=2 {
        let rate = Rate::from_kbps(8_000);
        add_flow(&mut config, 0, client, AppConfig::Cbr { rate, packet: 1_472, jitter: 0.5 });
    }
    let outcome = run(&config);
    let used = [(1, 11), (2, 1)].map(|(client, mbps)| {
        let (data, ack) = data_and_ack(&config, Rate::from_kbps(mbps * 1_000).into());
        link(&outcome, 0, client).data as f64 * (data + 10e-6 + ack)
    });
    assert!((used[0] / used[1] - 1.0).abs() < 0.02, "{used:?} s on the air");
    assert!(used[0] > 24.0, "{used:?} s on the air");
}

/// With SINR, a slow link reaches further: routes, the medium and bounds use the rate of each link.
#[test]
fn slow_links_reach_further() {
    let far = |mbps: u64| {
        let mut config = at_rates(&[11, mbps]);
        config.topology.nodes[2].position = Some([62.0, 0.0]); // 2 dB above noise
        config.medium.model = MediumModel::Sinr {
            transmit_power_mw: 100.0,
            noise_mw: 1e-9,
            sensitivity_mw: 10f64.powf(-9.2),
            carrier_sense_mw: 10f64.powf(-8.2),
            path_loss: PathLoss::LogDistance {
                exponent: 3.8,
                reference_loss_db: 40.0,
                reference_distance: 1.0,
            },
        };
        trickle(&mut config, 0, 2);
        let capacity = Capacity::new(&config);
        (run(&config).flows[0].delivered_bytes, capacity.demands[0].forward.first().map(|link| link.data))
    };
    assert_eq!(far(11), (0, None), "no route");
    let (delivered, data) = far(1);
    let (expected, _) = data_and_ack(&at_rates(&[1]), Rate::from_kbps(1_000).into());
    let tries = data.expect("a route") / expected;
    assert!((1.0..1.001).contains(&tries), "{tries} transmissions of each frame at 2 dB");
    assert!(delivered > 450_000, "{delivered} bytes of 200 kb/s for 20 s");
}

/// A rate for each link that is that of all links is no difference at all.
#[test]
fn rates_of_links_that_are_those_of_all_change_nothing() {
    let fingerprint = |own: bool| {
        let mut config = at_rates(&[11, 11]);
        if !own {
            config.topology.nodes.iter_mut().for_each(|node| node.data_rate = None);
        }
        add_flow(&mut config, 1, 2, AppConfig::Saturated);
        run(&config).fingerprint
    };
    assert_eq!(fingerprint(true), fingerprint(false));
}

/// A capture says the rate of each frame.
#[test]
fn captures_have_the_rates_of_each_link() {
    let mut config = at_rates(&[1, 11]);
    trickle(&mut config, 0, 1);
    trickle(&mut config, 0, 2);
    let file = Shared::default();
    let log = AirLog::new(&config, Box::new(file.clone())).unwrap();
    multihop_sim::run_logged(&config, log, |_| ()).unwrap();
    let capture = crate::common::capture::read(&file.0.lock().unwrap());
    let own = capture.packets.iter().filter(|packet| packet.tx_flags.is_some());
    let mut sent: Vec<(usize, Option<u32>, u64)> =
        own.map(|packet| (packet.interface, packet.receiver, packet.kbps)).collect();
    sent.sort_unstable();
    sent.dedup();
    let ack = config.phy.response_rate(Rate::from_kbps(11_000)).bps() / 1_000;
    assert_eq!(sent, [(0, Some(1), 1_000), (0, Some(2), 11_000), (1, Some(0), 1_000), (2, Some(0), ack)]);
}
