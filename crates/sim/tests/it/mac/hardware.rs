//! Hardware queues in a network: delays by arithmetic and by limits on airtime.

use super::aggregation::high_throughput;
use crate::common::{add_flow, check_conservation, saturate, total_goodput};
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::{DataRate, Mcs};
use multihop_link::{
    Adaptation, AirtimeLimits, CodelOptions, Discipline, FqCodelOptions, SlowStations, StationsOptions,
};
use multihop_sim::config::{AppConfig, Config, HardwareQueueConfig};
use multihop_sim::outcome::Outcome;
use multihop_sim::run;

const NONE: HardwareQueueConfig = HardwareQueueConfig { packets: None, aggregates: None, airtime: None };

/// In a hardware queue of `n` frames, a packet of a saturated link waits `n - 1` exchanges longer than in a
/// queue of one frame.
#[test]
fn each_frame_in_the_hardware_adds_one_exchange_of_delay() {
    let of = |frames: u32| {
        let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
        config.mac.queue.hardware = Some(HardwareQueueConfig { aggregates: Some(frames), ..NONE });
        saturate(&mut config, 0, 1);
        let outcome = run(&config);
        check_conservation(&outcome);
        outcome
    };
    let [one, two, four] = [1, 2, 4].map(of);
    let delay =
        |outcome: &Outcome| outcome.nodes[0].hardware_delay_mean_s.expect("the node has a hardware queue");
    let exchange = one.measured_s / one.links[0].ppdus as f64;
    let added = [&two, &four].map(|outcome| (delay(outcome) - delay(&one)) / exchange);
    println!("one frame waits {:.6} s, an exchange is {exchange:.6} s, added {added:?}", delay(&one));
    assert!((added[0] - 1.0).abs() < 0.01 && (added[1] - 3.0).abs() < 0.03, "{added:?}");
    assert!((total_goodput(&four) / total_goodput(&one) - 1.0).abs() < 0.005);
}

/// A saturated access point with a station at MCS 0 and one at MCS 7.
fn anomaly(hardware: Option<HardwareQueueConfig>) -> Outcome {
    run(&anomaly_with(hardware, StationsOptions::default()))
}

fn anomaly_with(hardware: Option<HardwareQueueConfig>, options: StationsOptions) -> Config {
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]]);
    for (station, scheme) in [(1, 0), (2, 7)] {
        config.topology.nodes[station].base = Some(NodeId(0));
        config.topology.nodes[station].data_rate = Some(DataRate::Mcs(Mcs { streams: 1, scheme }));
        let rate = Rate::from_kbps(80_000);
        add_flow(&mut config, 0, station, AppConfig::Cbr { rate, packet: 1472, jitter: 0.5 });
    }
    config.mac.queue.discipline = Discipline::Stations(options);
    config.mac.queue.limit = 4_000;
    config.mac.queue.hardware = hardware;
    config.duration = Span::from_ms(10_000);
    config
}

fn shares(outcome: &Outcome) -> [f64; 2] {
    let air = [1, 2].map(|to| outcome.links.iter().find(|link| link.to == to).unwrap().air.seconds());
    air.map(|of| of / (air[0] + air[1]))
}

/// A thousand packets, half of them at 6.5 Mb/s, take most of a second. With the limits of Linux, pending
/// packets take 24 ms and the last packet of each station; back-offs and acknowledgements add a little.
#[test]
fn airtime_limits_bound_the_delay_below_the_discipline() {
    let deep = anomaly(Some(HardwareQueueConfig { packets: Some(1_000), ..NONE }));
    let limited = |low: u64, high: u64| {
        let airtime = AirtimeLimits {
            low: Span::from_us(low),
            high: Span::from_us(high),
            threshold: Span::from_us(2 * high),
        };
        anomaly(Some(HardwareQueueConfig { packets: Some(1_000), airtime: Some(airtime), ..NONE }))
    };
    let [linux, tight] = [limited(5_000, 12_000), limited(1_500, 5_000)];
    let delay = |outcome: &Outcome| outcome.nodes[0].hardware_delay_mean_s.unwrap();
    let none = anomaly(None);
    for (name, outcome) in [("deep", &deep), ("5/12", &linux), ("1.5/5", &tight)] {
        println!(
            "{name}: {:.4} s, shares {:?}, {:.0} b/s",
            delay(outcome),
            shares(outcome),
            total_goodput(outcome)
        );
        check_conservation(outcome);
    }
    println!("none: shares {:?}, {:.0} b/s", shares(&none), total_goodput(&none));
    assert!(none.nodes[0].hardware_delay_mean_s.is_none());
    assert!(delay(&deep) > 0.1, "{}", delay(&deep));
    assert!(delay(&linux) < 0.030 && delay(&tight) < 0.013, "{} {}", delay(&linux), delay(&tight));
    for outcome in [&none, &deep, &linux, &tight] {
        assert!((shares(outcome)[0] - 0.5).abs() < 0.03, "{:?}", shares(outcome));
    }
}

/// `CoDel` targets: a slow station has 50 ms, others 20. A target of three exchanges of two packets is 12 ms,
/// below 20, and changes nothing. A target of a hundred is half a second.
#[test]
fn the_codel_target_follows_the_throughput_of_the_link() {
    let waits = |adaptation: Adaptation| {
        let lines = FqCodelOptions {
            codel: CodelOptions { ecn: false, ..StationsOptions::default().lines.codel },
            ..StationsOptions::default().lines
        };
        let mut config =
            anomaly_with(None, StationsOptions { lines, adaptation, ..StationsOptions::default() });
        // Slightly above the capacity, and only to the slow station.
        config.traffic.flows.truncate(1);
        config.traffic.flows[0].app =
            AppConfig::Cbr { rate: Rate::from_kbps(6_100), packet: 1472, jitter: 0.5 };
        let outcome = run(&config);
        outcome.flows[0].delay.p50
    };
    let below = SlowStations { below: Rate::from_kbps(7_000), ..SlowStations::default() };
    let plain = waits(Adaptation::default());
    let slow = waits(Adaptation { slow: Some(below), exchanges: 0 });
    let few = waits(Adaptation { slow: None, exchanges: 3 });
    let many = waits(Adaptation { slow: None, exchanges: 100 });
    println!("{plain} {slow} {few} {many}");
    assert!(slow > 1.5 * plain && few == plain && many > 3.0 * plain);
}
