//! Captures of runs contain exactly the frames that radios decoded or sent, with correct times and lengths.

use crate::common::capture::{Capture, Kind, Packet, Shared, Small, read};
use crate::common::{add_flow, chain, saturate};
use multihop_core::{FrameKind, Interval, LinkEvent, NodeId, Rate, Span};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_schemes::{Scheme, TcpSack};
use multihop_sim::config::*;
use multihop_sim::logs::{AirLog, LogError};
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run};
use multihop_transport::Endpoint;
use std::io;
use std::sync::{Arc, Mutex};

/// Runs a configuration and returns its capture.
fn capture_with(config: &Config, ties: Ties) -> (Outcome, Vec<u8>) {
    let file = Shared::default();
    let log = AirLog::new(config, Box::new(file.clone())).unwrap();
    let outcome = World::new(config, ties).finish_logged(log, |_| ()).unwrap();
    let bytes = std::mem::take(&mut *file.0.lock().unwrap());
    (outcome, bytes)
}

fn capture(config: &Config) -> (Outcome, Capture) {
    let (outcome, bytes) = capture_with(config, Ties::InOrder);
    (outcome, read(&bytes))
}

/// Returns a network of five nodes, some hidden from each other, with TCP in both directions and AODV.
fn busy(rules: DcfRules, rts_threshold: Option<u32>) -> Config {
    let mut config = chain(rules, 4);
    config.recording.warmup = Span::ZERO;
    config.duration = Span::from_ms(8_000);
    config.mac.rts_threshold = rts_threshold;
    config.medium.packet_error_rate = 0.05;
    config.traffic.schemes =
        vec![SchemeConfig { name: "tcp-sack".into(), scheme: Arc::new(TcpSack::default()) }];
    config.routing.protocol = RoutingProtocol::Dsdv(DsdvConfig {
        start_jitter: Span::from_ms(100),
        update_period: Span::from_ms(500),
        triggered_interval: Span::from_ms(100),
        settling_time: Span::from_ms(100),
        ..DsdvConfig::default()
    });
    saturate(&mut config, 0, 4);
    saturate(&mut config, 3, 0);
    // Routes exist by then.
    config.traffic.flows.iter_mut().for_each(|flow| flow.start = Span::from_ms(5_000));
    config
}

/// Scheme whose nodes record the frames that they receive.
struct Listening<S> {
    scheme: S,
    reported: Arc<Mutex<Vec<(NodeId, LinkEvent)>>>,
}

struct Ear(NodeId, Arc<Mutex<Vec<(NodeId, LinkEvent)>>>);

impl<S: Scheme> Scheme for Listening<S> {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.scheme.sender()
    }
    fn receiver(&self) -> Box<dyn Endpoint> {
        self.scheme.receiver()
    }
    fn segment_size(&self) -> u32 {
        self.scheme.segment_size()
    }
    fn router(&self, node: NodeId, _egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(Ear(node, self.reported.clone())))
    }
}

impl RouterPolicy for Ear {
    fn on_link(&mut self, event: &LinkEvent) {
        self.1.lock().unwrap().push((self.0, *event));
    }
}

fn kind(kind: FrameKind) -> Kind {
    match kind {
        FrameKind::Rts => Kind::Rts,
        FrameKind::Cts => Kind::Cts,
        FrameKind::Ack => Kind::Ack,
        FrameKind::BlockAckRequest | FrameKind::BlockAck | FrameKind::CfEnd => {
            unreachable!("nothing is aggregated here")
        }
        FrameKind::Data => Kind::Data,
    }
}

/// Airtime of a packet, from its length, rate and preamble alone.
fn airtime(config: &Config, packet: &Packet) -> Span {
    let standard = config.phy.standard();
    let preamble = if packet.short_preamble { Preamble::Short } else { Preamble::Long };
    let phy = Phy::new(standard, preamble);
    phy.airtime(Rate::from_kbps(packet.kbps), packet.bytes, config.mac.rules.airtime)
}

/// The packets of a radio are the frames that its MAC received or sent, with equal times.
#[test]
fn a_radio_captures_the_frames_that_its_mac_received_and_sent() {
    for (rules, rts) in [(DcfRules::IEEE, Some(500)), (DcfRules::NS2, Some(0)), (DcfRules::IEEE, None)] {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let mut config = busy(rules, rts);
        let scheme = Listening { scheme: TcpSack::default(), reported: reported.clone() };
        config.traffic.schemes = vec![SchemeConfig { name: "listening".into(), scheme: Arc::new(scheme) }];
        let (_, capture) = capture(&config);
        assert_eq!(capture.interfaces, ["n0", "n1", "n2", "n3", "n4"]);
        let reported = reported.lock().unwrap();
        for node in 0..5u32 {
            let here: Vec<&Packet> =
                capture.packets.iter().filter(|p| p.interface == node as usize).collect();
            let heard = here.iter().filter(|packet| packet.tx_flags.is_none());
            let heard: Vec<_> = heard
                .map(|p| (p.kind, p.transmitter, p.receiver, p.end_ns, airtime(&config, p), p.duration_us))
                .collect();
            let mut expected = Vec::new();
            let mut sent = Vec::new();
            for (_, event) in reported.iter().filter(|(id, _)| id.0 == node) {
                match event {
                    LinkEvent::Decoded(heard) => {
                        let from =
                            matches!(heard.kind, FrameKind::Rts | FrameKind::Data).then_some(heard.from.0);
                        let duration = (heard.duration.ns() / 1_000) as u16;
                        let air = (heard.air.end.ns(), heard.air.length());
                        expected.push((
                            kind(heard.kind),
                            from,
                            heard.to.map(|to| to.0),
                            air.0,
                            air.1,
                            duration,
                        ));
                    }
                    LinkEvent::Attempt(attempt) => {
                        let frames = [(Kind::Rts, attempt.rts), (Kind::Data, attempt.data)];
                        sent.extend(
                            frames.into_iter().filter_map(|(kind, air)| Some((kind, air?, attempt.peer.0))),
                        );
                    }
                    _ => {}
                }
            }
            assert!(heard.len() > 100, "node {node}: {}", heard.len());
            assert_eq!(heard, expected, "node {node}");
            let own = |p: &&&Packet| {
                p.tx_flags.is_some() && matches!(p.kind, Kind::Rts | Kind::Data) && p.receiver.is_some()
            };
            let own = here.iter().filter(own);
            let own: Vec<_> =
                own.map(|p| (p.kind, p.end_ns, airtime(&config, p), p.receiver.unwrap())).collect();
            let sent: Vec<_> = sent
                .iter()
                .map(|(kind, air, to): &(Kind, Interval, u32)| (*kind, air.end.ns(), air.length(), *to))
                .collect();
            // An attempt that the end of the run interrupts is in no report.
            assert!(own.len() - sent.len() <= 2, "node {node}");
            assert_eq!(own[..sent.len()], sent, "node {node}");
        }
    }
}

/// TSFT is the end of the preamble; from there to the packet time is the duration of the MPDU's bits.
#[test]
fn tsft_and_packet_time_enclose_the_mpdu() {
    let preambles = [(Standard::Dot11b, Preamble::Short, 11_000), (Standard::Dot11g, Preamble::Long, 54_000)];
    for (standard, preamble, kbps) in preambles {
        let mut config = busy(DcfRules::IEEE, Some(0));
        config.phy = Phy::new(standard, preamble);
        config.rates.data = Rate::from_kbps(kbps).into();
        config.rates.control = None;
        let (_, capture) = capture(&config);
        assert!(capture.packets.iter().any(|packet| packet.kbps == kbps));
        for packet in &capture.packets {
            let phy = config.phy;
            let rate = Rate::from_kbps(packet.kbps);
            assert_eq!(packet.short_preamble, phy.has_short_preamble(rate));
            let mpdu = phy.airtime(rate, packet.bytes, config.mac.rules.airtime) - phy.overhead(rate);
            let first_bit = packet.end_ns - mpdu.ns();
            assert_eq!(packet.tsft_us, first_bit / 1_000, "{packet:?}");
        }
    }
}

/// On the sender's interface an ACK follows each acknowledged DATA frame after SIFS.
#[test]
fn every_acknowledged_exchange_is_data_then_ack() {
    let mut config = busy(DcfRules::IEEE, Some(500));
    config.routing.protocol = RoutingProtocol::Static;
    for flow in &mut config.traffic.flows {
        // All exchanges end long before the run.
        flow.app = AppConfig::Bulk { bytes: Some(60_000) };
    }
    config.duration = Span::from_ms(20_000);
    let (outcome, capture) = capture(&config);
    assert_eq!(outcome.conservation.queued, 0);
    for node in 0..5 {
        let here: Vec<&Packet> = capture.packets.iter().filter(|packet| packet.interface == node).collect();
        let me = Some(node as u32);
        let own =
            |kind: Kind| here.iter().filter(move |p| p.tx_flags.is_some() && p.kind == kind).count() as u64;
        let mut acknowledged = 0;
        for pair in here.windows(2) {
            let [data, ack] = pair else { unreachable!() };
            if ack.kind == Kind::Ack && ack.receiver == me {
                assert_eq!((data.kind, data.transmitter), (Kind::Data, me), "{pair:?}");
                let gap = ack.end_ns - airtime(&config, ack).ns() - data.end_ns;
                assert_eq!(gap, config.phy.sifs.ns() + 2 * config.medium.propagation_delay.ns());
                acknowledged += 1;
            }
        }
        let links = outcome.links.iter().filter(|link| link.from == node as u32);
        let sum = |of: fn(&multihop_sim::outcome::LinkOutcome) -> u64| links.clone().map(of).sum::<u64>();
        assert!(acknowledged > 0);
        assert_eq!(acknowledged, sum(|link| link.acknowledged), "node {node}");
        assert_eq!((own(Kind::Rts), own(Kind::Data)), (sum(|link| link.rts), sum(|link| link.data)));
    }
    let own = capture.packets.iter().filter(|packet| packet.tx_flags.is_some() && packet.kind == Kind::Data);
    let mut last = [None; 5];
    let mut retries = 0;
    for data in own {
        let before = last[data.interface].replace(data.sequence);
        assert_eq!(data.retry, before == Some(data.sequence), "a retry has the number of the frame before");
        retries += u32::from(data.retry);
    }
    assert!(retries > 10, "5 % of DATA are lost: {retries}");
}

/// Packets are ordered by time, then by interface, for any order of simultaneous events. With the long
/// propagation delay a sender's frames are known long after their end.
#[test]
fn packets_are_ordered_by_time() {
    for delay in [Span::ZERO, Span::from_ns(1_000), Span::from_us(900)] {
        let mut config = busy(DcfRules::IEEE, Some(0));
        config.medium.propagation_delay = delay;
        // Timeouts allow for the delay.
        config.mac.rules.response_timeout =
            multihop_dot11::ResponseTimeout::WholeResponse { propagation: delay };
        let (outcome, bytes) = capture_with(&config, Ties::InOrder);
        let capture = read(&bytes);
        let order: Vec<_> = capture.packets.iter().map(|packet| (packet.end_ns, packet.interface)).collect();
        assert!(order.len() > 100);
        assert!(order.is_sorted(), "with a propagation delay of {delay}");
        let (reversed, other) = capture_with(&config, Ties::Reversed);
        assert_eq!(outcome, reversed);
        assert!(bytes == other, "the order of events shows");
        assert_eq!(outcome, run(&config), "a log changes nothing");
    }
}

/// Under every rule set, IPv4 total lengths are correct, and frames have the lengths of the rules.
#[test]
fn datagrams_are_complete_under_every_rule_set() {
    for rules in [DcfRules::IEEE, DcfRules::NS2, DcfRules::BIANCHI] {
        let (_, capture) = capture(&busy(rules, None));
        let headers = rules.data_header + rules.llc_header;
        let mut sizes = Vec::new();
        for data in capture.packets.iter().filter(|packet| packet.kind == Kind::Data) {
            let datagram = if data.body[0] == 0xaa { &data.body[8..] } else { &data.body[3..] };
            assert_eq!(datagram[0], 0x45, "{data:?}");
            let total = u32::from(u16::from_be_bytes([datagram[2], datagram[3]]));
            // ns-2 rules leave too few bytes for all SACK blocks; one is omitted.
            let left_out = data.bytes - headers - total;
            assert!(left_out == 0 || (rules == DcfRules::NS2 && left_out == 8), "{data:?}");
            sizes.push(total);
        }
        assert!(sizes.contains(&40) && sizes.contains(&1500), "{rules:?}");
    }
}

/// The DSR header follows the IPv4 header; the transport header of data packets follows it.
#[test]
fn source_routes_precede_the_transport() {
    let mut config = busy(DcfRules::IEEE, None);
    config.routing.protocol = RoutingProtocol::Dsr(DsrConfig::default());
    let (outcome, capture) = capture(&config);
    assert_eq!(outcome, run(&config), "a log changes nothing");
    let headers = config.mac.rules.data_header + config.mac.rules.llc_header;
    let mut seen = [0; 3];
    for data in capture.packets.iter().filter(|packet| packet.kind == Kind::Data) {
        let datagram = &data.body[8..];
        let total = u32::from(u16::from_be_bytes([datagram[2], datagram[3]]));
        assert_eq!(
            (datagram[9], data.bytes - headers),
            (48, total),
            "nothing is behind the datagram: {data:?}"
        );
        let (next_header, length) =
            (datagram[20], usize::from(u16::from_be_bytes([datagram[22], datagram[23]])));
        let is_unicast = data.receiver.is_some();
        let is_message = next_header == 59;
        assert_eq!(is_message, 24 + length == total as usize, "a message is options alone: {data:?}");
        // A route request that floods the network, or a source route with the addresses between the ends.
        assert_eq!(datagram[24], if is_unicast { 96 } else { 1 }, "{data:?}");
        if !is_message {
            assert!(is_unicast && next_header == 6 && [4, 8, 12, 16].contains(&length), "{data:?}");
            assert_eq!(
                datagram[24 + length..][..2],
                datagram[24 + length..][2..4],
                "both ports are the flow's"
            );
        }
        seen[if is_message { usize::from(is_unicast) } else { 2 }] += 1;
    }
    assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
}

#[test]
fn the_signal_is_captured_if_the_medium_computes_powers() {
    let mut config = busy(DcfRules::IEEE, None);
    let (_, without) = capture(&config);
    assert!(without.packets.iter().all(|packet| packet.dbm.is_none()));
    let link = |from: u32, to: u32, value: f64| MatrixLink { from: NodeId(from), to: NodeId(to), value };
    config.medium.model = MediumModel::Matrix {
        links: vec![link(0, 1, -60.4), link(1, 0, -55.6)],
        quantity: MatrixQuantity::Rssi { noise_mw: 1e-9, sensitivity_mw: 1e-9, carrier_sense_mw: 1e-8 },
    };
    config.routing.protocol = RoutingProtocol::Static;
    config.traffic.flows.clear();
    add_flow(&mut config, 0, 1, AppConfig::Saturated);
    let (_, with) = capture(&config);
    let heard: Vec<_> = with.packets.iter().filter(|packet| packet.tx_flags.is_none()).collect();
    assert!(heard.len() > 100);
    assert!(heard.iter().all(|packet| packet.dbm == Some(if packet.interface == 1 { -60 } else { -56 })));
}

/// A full disk is reported to the caller, and the run ends early.
#[test]
fn a_full_disk_ends_the_run_with_an_error() {
    let mut config = busy(DcfRules::IEEE, None);
    let (_, whole) = capture_with(&config, Ties::InOrder);
    for room in [0, 1, 100_000, whole.len() - 1] {
        let log = AirLog::new(&config, Box::new(Small(room))).unwrap();
        let failed = World::new(&config, Ties::InOrder).finish_logged(log, |_| ());
        assert!(
            matches!(&failed, Err(LogError::Io(error)) if error.kind() == io::ErrorKind::StorageFull),
            "room for {room} bytes: {failed:?}"
        );
    }
    config.duration = Span::from_ms(1_000_000_000);
    let log = AirLog::new(&config, Box::new(Small(100_000))).unwrap();
    let mut last = 0;
    assert!(World::new(&config, Ties::InOrder).finish_logged(log, |now| last = now.ns()).is_err());
    assert!(last < 1_000_000_000_000);
}

/// Notices of router policies are broadcast data frames with their own size. Notices in a queue at the end of
/// the run were not sent.
#[test]
fn notices_of_policies_are_captured() {
    let mut config = chain(DcfRules::IEEE, 4);
    config.recording.warmup = Span::ZERO;
    let scheme = multihop_schemes::find("nred").unwrap().build(&serde_json::json!({})).unwrap();
    config.traffic.schemes = vec![SchemeConfig { name: "nred".into(), scheme }];
    saturate(&mut config, 0, 4);
    let (outcome, capture) = capture(&config);
    assert_eq!(outcome, multihop_sim::run(&config));
    let reported: usize = outcome.nodes.iter().map(|node| node.signalling.sent as usize).sum();
    let overhead = config.mac.rules.data_header + config.mac.rules.llc_header;
    let sent = capture.packets.iter().filter(|packet| packet.tx_flags.is_some() && packet.kind == Kind::Data);
    let broadcasts = sent.filter(|packet| packet.receiver.is_none() && packet.bytes == 36 + overhead).count();
    assert!(reported > 50 && (reported - 5..=reported).contains(&broadcasts), "{broadcasts} of {reported}");
}

#[test]
fn a_mac_header_too_short_for_80211_is_reported_before_the_run() {
    let mut config = busy(DcfRules::IEEE, None);
    config.mac.rules.data_header = 27;
    let reported = AirLog::new(&config, Box::new(io::sink())).err().expect("an error").to_string();
    assert!(reported.starts_with("mac.override.data_header: 27 B"), "{reported}");
}
