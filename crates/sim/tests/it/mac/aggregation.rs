//! Aggregation in a network: invariants of block acknowledgements, and saturation against closed forms.

use crate::common::{
    Datagrams, add_flow, check_conservation, dropped, network, saturate, saturated_cell, total_goodput,
};
use multihop_core::{DropCause, Dscp, NodeId, Rate, Rng, Segment, Span, Time};
use multihop_dot11::{
    ACK_BYTES, AccessCategory, DataRate, DcfRules, EdcaParameters, Mcs, Phy, Preamble, Standard,
};
use multihop_link::{AirtimeLimits, Discipline, FqCodelOptions, StationsOptions};
use multihop_schemes::Scheme;
use multihop_sim::capacity::Capacity;
use multihop_sim::config::{
    AggregationConfig, AodvConfig, AppConfig, Config, Delivery, HardwareQueueConfig, LinkError, MediumModel,
    Persistence, Protection, RoutingProtocol, SchemeConfig,
};
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::{At, LinkOutcome, Outcome, Table, Values};
use multihop_sim::run;
use multihop_transport::{Delivered, Endpoint, Progress, UdpReceiver};
use std::sync::{Arc, Mutex};

/// Limits on A-MPDUs of 802.11n, without A-MSDUs.
pub const LIMITS: AggregationConfig = AggregationConfig {
    mpdus: 64,
    window: 64,
    a_mpdu: 65_535,
    a_msdu: None,
    mpdu: 4_095,
    max_duration: Span::from_us(5_484),
    spacing: Span::ZERO,
    reordering_timeout: Span::from_ms(100),
    rts: false,
    single_delimited: false,
};
/// 802.11n at MCS 7 and 20 MHz, with queues that hold whole aggregates.
pub fn high_throughput(positions: &[[f64; 2]]) -> Config {
    aggregating(network(DcfRules::IEEE.with_quality_of_service(), positions))
}

fn aggregating(mut config: Config) -> Config {
    config.phy = Phy::new(Standard::Dot11n, Preamble::Long);
    config.rates.data = DataRate::Mcs(Mcs { streams: 1, scheme: 7 });
    config.rates.control = None;
    (config.mac.cw_min, config.mac.cw_max) = (config.phy.cw_min, config.phy.cw_max);
    config.mac.queue.limit = 200;
    config.medium.propagation_delay = Span::ZERO;
    config.mac.block_ack.aggregation = Some(LIMITS);
    config
}

fn sum(outcome: &Outcome, of: fn(&LinkOutcome) -> u64) -> u64 {
    outcome.links.iter().map(of).sum()
}

/// Sequence numbers that a receiver recorded, in order.
type Received = Arc<Mutex<Vec<u64>>>;

/// Datagrams whose receiver records every sequence number, duplicates included.
struct Recorded {
    datagrams: Datagrams,
    received: Received,
}

struct RecordingReceiver {
    received: Received,
    receiver: UdpReceiver,
}

impl Scheme for Recorded {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.datagrams.sender()
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(RecordingReceiver { received: self.received.clone(), receiver: UdpReceiver::new() })
    }
    fn segment_size(&self) -> u32 {
        self.datagrams.segment_size()
    }
    fn is_uncontrolled(&self) -> bool {
        true
    }
}

impl Endpoint for RecordingReceiver {
    fn push(&mut self, _now: Time, _bytes: u64) {}
    fn backlog(&self) -> u64 {
        0
    }
    fn on_segment(&mut self, now: Time, segment: &Segment) -> Delivered {
        self.received.lock().expect("one thread").push(segment.seq);
        self.receiver.on_segment(now, segment)
    }
    fn on_timeout(&mut self, _now: Time) {}
    fn poll_segment(&mut self, _now: Time) -> Option<Segment> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
    fn progress(&self) -> Progress {
        self.receiver.progress()
    }
}

/// A random chain in which nodes two hops apart may not sense each other, with flows over one to all hops.
/// Each flow has a scheme of its own.
fn row(rng: &mut Rng) -> (Config, Vec<Received>) {
    let mut pick = |of: &[u32]| of[rng.below(of.len() as u32) as usize];
    let hops = pick(&[1, 2, 3]) as usize;
    let positions: Vec<[f64; 2]> = (0..=hops).map(|i| [200.0 * i as f64, 0.0]).collect();
    let mut config = high_throughput(&positions);
    config.duration = Span::from_ms(3_000);
    config.seed = u64::from(pick(&[1, 2, 3, 4, 5, 6, 7, 8]));
    config.mac.short_retry_limit = Some(pick(&[1, 2, 7]));
    config.mac.rts_threshold = (pick(&[0, 1, 2]) == 0).then_some(0);
    config.mac.queue.limit = pick(&[3, 50, 200]) as usize;
    config.mac.queue.lifetime = (pick(&[0, 1, 2, 3]) == 0).then_some(Span::from_ms(20));
    config.mac.queue.discipline = match pick(&[0, 0, 1, 2]) {
        0 => Discipline::DropTail,
        1 => Discipline::FqCodel(FqCodelOptions::default()),
        _ => Discipline::Stations(StationsOptions::default()),
    };
    let window = pick(&[1, 2, 8, 64, 256]);
    config.mac.block_ack.aggregation = Some(AggregationConfig {
        window,
        mpdus: pick(&[1, 4, 64, 256]).min(window),
        a_mpdu: pick(&[3_000, 65_535, 1_048_575]),
        a_msdu: [None, Some(3_839), Some(7_935)][pick(&[0, 1, 2]) as usize],
        reordering_timeout: Span::from_ms(u64::from(pick(&[1, 10, 100]))),
        rts: pick(&[0, 1]) == 0,
        single_delimited: pick(&[0, 1]) == 0,
        ..LIMITS
    });
    config.mac.block_ack.delivery = [Delivery::Ppdu, Delivery::Mpdu][pick(&[0, 1]) as usize];
    config.mac.block_ack.persistence = Persistence {
        retry_limit: [None, None, Some(3), Some(u32::MAX)][pick(&[0, 1, 2, 3]) as usize],
        reorders_without_end: pick(&[0, 1, 2]) == 0,
        request_limit: [None, None, Some(1), Some(5)][pick(&[0, 1, 2, 3]) as usize],
    };
    // Losses of DATA alone, and losses of all frames by their length.
    config.medium.packet_error_rate = f64::from(pick(&[0, 10, 50])) / 100.0;
    config.medium.bit_error_rate = f64::from(pick(&[0, 1, 100])) * 1e-5;
    if let MediumModel::Ranges { carrier_sense_range, .. } = &mut config.medium.model {
        *carrier_sense_range = f64::from(pick(&[250, 550]));
    }
    config.traffic.schemes.clear();
    let received: Vec<Received> = (0..2 * hops).map(|_| Received::default()).collect();
    for (index, received) in received.iter().enumerate() {
        let datagrams = Datagrams { payload: pick(&[80, 700, 1_472]), header: 28 };
        let scheme: Arc<dyn Scheme> = Arc::new(Recorded { datagrams, received: received.clone() });
        config.traffic.schemes.push(SchemeConfig { name: format!("recorded-{index}"), scheme });
        let (near, far) = (index / 2, hops);
        let (from, to) = if index % 2 == 0 { (near, far) } else { (far, near) };
        saturate(&mut config, from, to);
        config.traffic.flows[index].scheme = index;
    }
    if pick(&[0, 1]) == 0 {
        differentiate(&mut config, &mut pick);
    }
    if pick(&[0, 1]) == 0 {
        let limits = matches!(config.mac.queue.discipline, Discipline::Stations(_)) && pick(&[0, 1, 2]) > 0;
        config.mac.queue.hardware = Some(HardwareQueueConfig {
            packets: [None, Some(3), Some(40)][pick(&[0, 1, 2]) as usize],
            aggregates: [Some(1), Some(2), None][pick(if limits { &[0, 1, 2] } else { &[0, 1] }) as usize],
            airtime: limits.then(AirtimeLimits::default),
        });
    }
    lose_acks(&mut config, f64::from(pick(&[0, 0, 10, 95])) / 100.0);
    (config, received)
}

/// Adds losses of acknowledgements alone.
fn lose_acks(config: &mut Config, ack_error_rate: f64) {
    let nodes = config.topology.nodes.len() as u32;
    let links = (1..nodes).flat_map(|node| [(node - 1, node), (node, node - 1)]);
    let errors = links.map(|(from, to)| LinkError {
        from: NodeId(from),
        to: NodeId(to),
        packet_error_rate: 0.0,
        ack_error_rate,
    });
    config.medium.link_errors = errors.filter(|_| ack_error_rate > 0.0).collect();
}

/// Adds access categories, TXOP limits, and flows with several traffic identifiers.
fn differentiate(config: &mut Config, pick: &mut impl FnMut(&[u32]) -> u32) {
    config.mac.edca = Some(AccessCategory::ALL.map(|category| EdcaParameters {
        txop_limit: Span::from_us(pick(&[0, 500, 2_080, 50_000]).into()),
        ..EdcaParameters::new(category, &config.phy)
    }));
    config.mac.protection = [Protection::Single, Protection::Multiple][pick(&[0, 1]) as usize];
    for flow in &mut config.traffic.flows {
        flow.dscp = Dscp::new(pick(&[0, 8, 18, 34, 40, 46, 48]) as u8).expect("six bits");
    }
}

/// The MAC passes on no packet twice or out of order, and loses none without a cause, for any loss of DATA,
/// block acknowledgements and requests.
#[test]
fn packets_are_passed_on_once_and_in_order() {
    let mut exercised = [0u64; 3];
    for seed in 0..120 {
        let mut rng = Rng::at(seed, &["block acknowledgements"]);
        let (config, received) = row(&mut rng);
        let outcome = run(&config);
        check_conservation(&outcome);
        for (flow, received) in received.iter().enumerate() {
            let received = received.lock().expect("one thread");
            let disorder = received.windows(2).find(|pair| pair[1] <= pair[0]);
            assert_eq!(
                disorder, None,
                "seed {seed}, flow {flow} under {:?}",
                config.mac.block_ack.aggregation
            );
        }
        exercised[0] += outcome.flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>();
        exercised[1] += sum(&outcome, |link| link.given_up);
        exercised[2] += dropped(&outcome, DropCause::Reordering);
    }
    assert!(exercised.iter().all(|count| *count > 0), "{exercised:?}");
}

/// Cycle of a lone station: DIFS, mean back-off, longest aggregate, SIFS and a block acknowledgement of 32
/// bytes at 24 Mb/s.
#[test]
fn a_lone_station_reaches_the_closed_form() {
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
    saturate(&mut config, 1, 0);
    let phy = config.phy;
    // HT-mixed preamble 36 us, symbols of 4 us with 260 bits. Airtime limits the aggregate:
    // 28 MPDUs: 28 * 1,544 - 2 bytes are 1,331 symbols, 5,360 us; one more is 5,548.
    let data = 36.0 + 4.0 * 1_331.0;
    let answer = 20.0 + 4.0 * 3.0; // 16 + 256 + 6 bits in symbols of 96
    let cycle = phy.difs().seconds() * 1e6 + 9.0 * 7.5 + data + 16.0 + answer;
    let expected = 28.0 * 1_472.0 * 8.0 / cycle * 1e6;
    let measured = total_goodput(&run(&config));
    assert!((measured / expected - 1.0).abs() < 2e-3, "{measured} instead of {expected}");
    config.mac.block_ack.aggregation = None;
    let ack = phy.airtime(DataRate::Bits(Rate::from_kbps(24_000)), ACK_BYTES, config.mac.rules.airtime);
    let data = 36.0 + 4.0 * 48.0; // 16 + 8 * 1,538 + 6 bits
    let cycle = phy.difs().seconds() * 1e6 + 9.0 * 7.5 + data + 16.0 + ack.seconds() * 1e6;
    let expected = 1_472.0 * 8.0 / cycle * 1e6;
    let measured = total_goodput(&run(&config));
    assert!((measured / expected - 1.0).abs() < 2e-3, "{measured} instead of {expected} without aggregation");
}

/// Only HT, VHT and HE PPDUs carry A-MPDUs. At 54 Mb/s a frame has one MPDU and an ACK as in 802.11a, for any
/// limits.
#[test]
fn a_rate_without_an_mcs_carries_no_aggregate() {
    let rate = DataRate::Bits(Rate::from_kbps(54_000));
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
    saturate(&mut config, 1, 0);
    config.rates.data = rate;
    config.mac.block_ack.aggregation = Some(AggregationConfig { single_delimited: true, ..LIMITS });
    let outcome = run(&config);
    assert_eq!(number(&config, &outcome, "aggregate_mean"), 1.0);
    let cycle = config.phy.difs().seconds() * 1e6 + 9.0 * 7.5 + (20.0 + 4.0 * 58.0) + 16.0 + 28.0;
    let (measured, expected) = (total_goodput(&outcome), 1_472.0 * 8.0 / cycle * 1e6);
    assert!((measured / expected - 1.0).abs() < 2e-3, "{measured} instead of {expected}");
    let hop = Capacity::new(&config).demands[0].forward[0];
    let bound = 1_472.0 * 8.0 / (hop.airtime + hop.access);
    assert!((measured / bound - 1.0).abs() < 2e-3, "{measured} of {bound}");
    // Two packets in an A-MSDU of at most 4095 bytes with its header: 1,524 + 1,522 + 30 bytes are 115
    // symbols.
    config.mac.block_ack.aggregation =
        Some(AggregationConfig { a_msdu: Some(7_935), mpdu: 11_454, ..LIMITS });
    let expected = 2.0 * 1_472.0 * 8.0 / (cycle + 4.0 * (115.0 - 58.0)) * 1e6;
    let measured = total_goodput(&run(&config));
    assert!((measured / expected - 1.0).abs() < 2e-3, "{measured} instead of {expected} in A-MSDUs");
}

/// Value of a column of the first link.
fn number(config: &Config, outcome: &Outcome, name: &str) -> f64 {
    let at = At { config, measured_s: outcome.measured_s, index: 0, row: &outcome.links[0] };
    match LinkOutcome::columns().into_iter().find(|column| column.name == name).map(|column| column.values) {
        Some(Values::Numbers(value)) => value(&at),
        _ => panic!("links have no column {name} of numbers"),
    }
}

/// Columns of a link: MPDUs per PPDU, rate, and airtime of exchanges.
#[test]
fn links_report_mpdus_rate_and_airtime_of_ppdus() {
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
    saturate(&mut config, 1, 0);
    let counters = |config: &Config, mpdus: f64, exchange: f64| {
        let outcome = run(config);
        let of = |name: &str| number(config, &outcome, name);
        assert!((of("aggregate_mean") / mpdus - 1.0).abs() < 1e-9, "{}", of("aggregate_mean"));
        assert_eq!(of("rate_mean_bps"), 65e6);
        let expected = outcome.links[0].data as f64 / mpdus * exchange / outcome.measured_s;
        assert!((of("airtime") / expected - 1.0).abs() < 1e-4, "{} instead of {expected}", of("airtime"));
    };
    // As above: 28 MPDUs, SIFS and a block acknowledgement; then one MPDU, SIFS and an ACK.
    counters(&config, 28.0, (36.0 + 4.0 * 1_331.0 + 16.0 + 32.0) / 1e6);
    config.mac.block_ack.aggregation = None;
    counters(&config, 1.0, (36.0 + 4.0 * 48.0 + 16.0 + 28.0) / 1e6);
    // With losses the window limits aggregates. SIFS and a block acknowledgement follow each; a request
    // follows a lost aggregate.
    config.mac.block_ack.aggregation = Some(LIMITS);
    config.medium.packet_error_rate = 0.2;
    let outcome = run(&config);
    let [answers, frames] = [0, 1].map(|node| outcome.nodes[node].transmitting);
    let airtime = number(&config, &outcome, "airtime");
    assert!((airtime / (frames + answers * 48.0 / 32.0) - 1.0).abs() < 1e-3, "{airtime} {frames} {answers}");
    let ppdus = answers * outcome.measured_s / 32e-6;
    let (mean, sent) = (number(&config, &outcome, "aggregate_mean"), outcome.links[0].data as f64);
    assert!((mean * ppdus / sent - 1.0).abs() < 0.02, "{mean} of {sent} in {ppdus}");
    assert!(mean < 27.0, "{mean}");
}

/// Loss is drawn for each MPDU: the share that arrives is that of the link, and no MPDU that arrived is sent
/// again.
#[test]
fn mpdus_are_lost_one_by_one() {
    for lost in [0.1, 0.3, 0.5] {
        let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
        saturate(&mut config, 1, 0);
        config.medium.packet_error_rate = lost;
        let outcome = run(&config);
        let (sent, arrived) = (sum(&outcome, |link| link.data), sum(&outcome, |link| link.acknowledged));
        let share = arrived as f64 / sent as f64;
        assert!((share - (1.0 - lost)).abs() < 0.01, "{share} arrive although {lost} are lost");
        // Fifteen attempts each.
        let given_up = sum(&outcome, |link| link.given_up) as f64 / (arrived as f64 + 1.0);
        assert!((given_up - lost.powi(15) / (1.0 - lost.powi(15))).abs() < 2e-3, "{given_up}");
    }
}

/// A lone station reaches the bound of an idle channel, with and without losses and A-MSDUs.
#[test]
fn a_lone_station_reaches_the_bound_of_an_idle_channel() {
    for (lost, a_msdu) in [(0.0, None), (0.3, None), (0.0, Some(3_839))] {
        let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0]]);
        saturate(&mut config, 1, 0);
        config.medium.packet_error_rate = lost;
        config.mac.block_ack.aggregation = Some(AggregationConfig { a_msdu, ..LIMITS });
        let capacity = Capacity::new(&config);
        let hop = capacity.demands[0].forward[0];
        let bound = 1_472.0 * 8.0 / (hop.airtime + hop.access) * (1.0 - hop.lost);
        let measured = total_goodput(&run(&config));
        assert!((measured / bound - 1.0).abs() < 0.01, "{measured} of {bound} with {lost} lost, {a_msdu:?}");
        assert!(measured < 1_472.0 * 8.0 / hop.exchange, "no MAC exceeds the bound of exchanges alone");
    }
}

/// Saturated sources of one queue fill a frame for each neighbour: an access point with ten clients has the
/// goodput and the aggregates of one with a single client, also with A-MSDUs.
#[test]
fn saturated_sources_fill_the_frames_of_all_neighbours() {
    for a_msdu in [None, Some(7_935)] {
        let mean = |clients: usize| {
            let around = (1..=clients).map(|at| [at as f64, 10.0]);
            let positions: Vec<[f64; 2]> = std::iter::once([0.0, 0.0]).chain(around).collect();
            let mut config = high_throughput(&positions);
            config.mac.block_ack.aggregation = Some(AggregationConfig { a_msdu, ..LIMITS });
            config.mac.queue.limit = 4_000;
            (1..=clients).for_each(|client| saturate(&mut config, 0, client));
            let outcome = run(&config);
            (total_goodput(&outcome), number(&config, &outcome, "aggregate_mean"))
        };
        let (one, ten) = (mean(1), mean(10));
        assert!((ten.0 / one.0 - 1.0).abs() < 0.01, "{ten:?} and {one:?}");
        assert!((ten.1 / one.1 - 1.0).abs() < 0.02, "{ten:?} and {one:?}");
    }
}

/// Next hops that take turns share the windows and the queue evenly.
#[test]
fn neighbours_share_an_access_point() {
    let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]]);
    (1..=3).for_each(|station| saturate(&mut config, 0, station));
    let outcome = run(&config);
    let goodputs: Vec<u64> = outcome.flows.iter().map(|flow| flow.delivered_bytes).collect();
    let (least, most) = (goodputs.iter().min(), goodputs.iter().max());
    assert!(
        most.zip(least).is_some_and(|(most, least)| *most as f64 / (*least as f64) < 1.05),
        "{goodputs:?}"
    );
}

/// Fixed point of Bianchi (IEEE JSAC 18(3), 2000) for A-MPDUs. After a collision, requests for the block
/// acknowledgement follow from larger windows. Returns the probability that a station transmits in a slot,
/// and the share of A-MPDUs among these transmissions.
fn fixed_point(stations: f64, requests: Option<i32>) -> (f64, f64) {
    let tries = requests.map_or(200, |requests| requests + 1);
    let transmit = |p: f64| {
        let window = |stage: i32| f64::from(16 << stage.min(6));
        let [reached, slots] = (0..tries).fold([0.0, 0.0], |[reached, slots], stage| {
            [reached + p.powi(stage), slots + p.powi(stage) * f64::midpoint(window(stage), 1.0)]
        });
        (reached / slots, 1.0 / reached)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let p = f64::midpoint(low, high);
        if 1.0 - (1.0 - transmit(p).0).powf(stations - 1.0) > p { low = p } else { high = p }
    }
    transmit(low)
}

/// Goodput of the fixed point: delivered bits of a slot over its mean duration.
fn expected_goodput(stations: usize, requests: Option<i32>) -> f64 {
    let n = stations as f64;
    let (tau, aggregates) = fixed_point(n, requests);
    let (difs, data, request, answer) = (34.0, 36.0 + 4.0 * 1_331.0, 32.0, 16.0 + 32.0);
    let after_collision = 16.0 + 44.0 + difs; // EIFS
    let silence = (1.0 - tau).powf(n);
    let alone = n * tau * (1.0 - tau).powf(n - 1.0);
    let no_data = (1.0 - aggregates * tau).powf(n);
    let slot = silence * 9.0
        + alone * (aggregates * data + (1.0 - aggregates) * request + answer + difs)
        + (1.0 - no_data - aggregates * alone) * (data + after_collision)
        + (no_data - silence - (1.0 - aggregates) * alone) * (request + after_collision);
    aggregates * alone * 28.0 * 1_472.0 * 8.0 / slot * 1e6
}

/// Under the model's assumptions, with unlimited requests and with seven. A station is silent for long after
/// a collision, so that 100 s scatter by a per cent. The validation page has longer runs.
#[test]
fn saturated_stations_reach_the_fixed_point_of_aggregates() {
    let mut sum = 0.0;
    for requests in [None, Some(7)] {
        for stations in [1, 2, 5, 10, 20, 50] {
            let rules = DcfRules::BIANCHI.with_quality_of_service();
            let mut config = aggregating(saturated_cell(rules, stations));
            config.mac.block_ack.persistence.request_limit = requests.map(i32::cast_unsigned);
            config.mac.block_ack.persistence.retry_limit = requests.is_none().then_some(u32::MAX);
            config.duration = Span::from_ms(101_000);
            let (measured, expected) = (total_goodput(&run(&config)), expected_goodput(stations, requests));
            let off = (measured / expected - 1.0).abs();
            assert!(off < 0.025, "{stations} stations, {requests:?} requests: {measured} and {expected}");
            sum += off;
        }
    }
    assert!(sum / 12.0 < 0.01, "{sum}");
}

/// An A-MSDU may begin with a routing message or an ARP request, and continue with data of a flow. The MPDU
/// then counts for that flow.
#[test]
fn data_can_share_an_a_msdu_with_packets_of_no_flow() {
    let protocols = [RoutingProtocol::Static, RoutingProtocol::Aodv(AodvConfig::default())];
    for protocol in protocols {
        for a_mpdu in [65_535, 0] {
            let positions: Vec<[f64; 2]> =
                (0..9).map(|i| [200.0 * f64::from(i % 3), 200.0 * f64::from(i / 3)]).collect();
            let mut config = high_throughput(&positions);
            config.duration = Span::from_ms(1_500);
            config.recording.warmup = Span::ZERO;
            config.network.arp = true;
            config.routing.protocol = protocol.clone();
            let mpdus = if a_mpdu > 0 { LIMITS.mpdus } else { 1 };
            config.mac.block_ack.aggregation =
                Some(AggregationConfig { a_msdu: Some(7_935), mpdu: 11_454, mpdus, ..LIMITS });
            let pairs = (0..9).flat_map(|from| (0..9).map(move |to| (from, to)));
            for (from, to) in pairs.filter(|(from, to)| from != to) {
                let rate = Rate::from_kbps(400);
                add_flow(&mut config, from, to, AppConfig::Cbr { rate, packet: 500, jitter: 1.0 });
            }
            let outcome = run(&config);
            check_conservation(&outcome);
            assert!(outcome.flows.iter().any(|flow| flow.delivered_bytes > 0), "{protocol:?}");
        }
    }
}

/// Two hidden stations with A-MPDUs longer than most back-offs. Block acknowledgement requests fit into the
/// gaps, so that retry limits cost little.
#[test]
fn retry_limits_cost_hidden_stations_little() {
    let goodput = |persistence| {
        let mut config = high_throughput(&[[0.0, 0.0], [200.0, 0.0], [400.0, 0.0]]);
        config.rates.data = DataRate::Mcs(Mcs { streams: 1, scheme: 1 });
        config.mac.block_ack.persistence = persistence;
        if let MediumModel::Ranges { carrier_sense_range, .. } = &mut config.medium.model {
            *carrier_sense_range = 250.0;
        }
        saturate(&mut config, 0, 1);
        saturate(&mut config, 2, 1);
        total_goodput(&run(&config))
    };
    let endless = Persistence { retry_limit: Some(u32::MAX), ..Persistence::default() };
    let (limited, endless) = (goodput(Persistence::default()), goodput(endless));
    println!("{limited} and {endless}");
    assert!(limited > 0.9 * endless, "{limited} and {endless}");
}

/// One of three receivers is off, each with 6 Mb/s. The others reach all of theirs if neighbours take turns,
/// and a part if packets wait in one queue.
#[test]
fn a_silent_neighbour_takes_no_turns_from_others() {
    let disciplines = [
        (Discipline::DropTail, 2.0e6),
        (Discipline::FqCodel(FqCodelOptions::default()), 5.9e6),
        (Discipline::Stations(StationsOptions::default()), 5.9e6),
    ];
    for (discipline, least) in disciplines {
        let mut config = high_throughput(&[[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [-10.0, 0.0]]);
        config.duration = Span::from_ms(11_000);
        config.mac.queue.discipline = discipline;
        for to in 1..4 {
            let app = AppConfig::Cbr { rate: Rate::from_kbps(6_000), packet: 1_472, jitter: 0.0 };
            add_flow(&mut config, 0, to, app);
        }
        config.mobility.outages.push(Outage { node: NodeId(3), from: Span::ZERO, to: config.duration });
        let outcome = run(&config);
        let goodput = |flow: usize| outcome.flows[flow].delivered_bytes as f64 * 8.0 / outcome.measured_s;
        println!("{discipline:?}: {} {}", goodput(0), goodput(1));
        assert!(goodput(0).min(goodput(1)) > least, "{discipline:?}: {} {}", goodput(0), goodput(1));
        assert_eq!(outcome.flows[2].delivered_bytes, 0);
    }
}
