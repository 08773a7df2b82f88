//! Address resolution (ARP): frames before the first packet to a neighbour, and packets buffered meanwhile.

use crate::common::capture::{Capture, Kind, Shared, read};
use multihop_core::DropCause;
use multihop_scenario::{Overrides, resolve};
use multihop_sim::logs::AirLog;
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run};

/// One datagram every 100 ms over a chain.
fn chain(hops: u32, rules: &str, tables: &str) -> String {
    format!(
        "duration = \"950 ms\"\nwarmup = \"0 s\"\n[phy]\ndata_rate = \"11 Mb/s\"\ncontrol_rate = \"1 Mb/s\"\n\
         [mac]\nrules = \"{rules}\"\n[network]\narp = true\n\
         [topology]\ngenerator = \"chain\"\nhops = {hops}\nspacing = \"200 m\"\n\
         {tables}\n[[flows]]\nfrom = \"n0\"\nto = \"n{hops}\"\nscheme = \"udp\"\n\
         app = {{ kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\", jitter = 0.0 }}\n"
    )
}

fn captured(text: &str) -> (Outcome, Capture) {
    let config = resolve(text, "arp.toml", &Overrides::default()).unwrap().config;
    let file = Shared::default();
    let log = AirLog::new(&config, Box::new(file.clone())).unwrap();
    let outcome = World::new(&config, Ties::InOrder).finish_logged(log, |_| ()).unwrap();
    assert_eq!(outcome, World::new(&config, Ties::Reversed).finish());
    let capture = read(&file.0.lock().unwrap());
    (outcome, capture)
}

const N0: [u8; 10] = [2, 0, 0, 0, 0, 0, 10, 0, 0, 1];
const N1: [u8; 10] = [2, 0, 0, 0, 0, 1, 10, 0, 0, 2];

/// RFC 826: hardware type 1, protocol type 0x0800, addresses of 6 and 4 bytes, the operation, sender and
/// target.
fn arp(operation: u8, sender: [u8; 10], target: [u8; 10]) -> Vec<u8> {
    [&[0, 1, 8, 0, 6, 4, 0, operation][..], &sender, &target].concat()
}

/// Order of frames: request, reply and its ACK, DATA and its ACK; later DATA without a request.
#[test]
fn the_address_of_a_neighbour_is_resolved_before_the_first_packet() {
    for (rules, llc, bytes) in [
        ("ieee", &[0xaa, 0xaa, 3, 0, 0, 0, 8, 6][..], 24 + 8 + 28 + 4),
        ("ns2", &[0x98, 0x98, 3][..], 34 + 28),
    ] {
        let (outcome, capture) = captured(&chain(1, rules, ""));
        let here: Vec<_> = capture.packets.iter().filter(|packet| packet.interface == 0).collect();
        let seen: Vec<_> = here
            .iter()
            .take(7)
            .map(|packet| (packet.kind, packet.tx_flags.is_some(), packet.receiver))
            .collect();
        let (data, ack) = (Kind::Data, Kind::Ack);
        let [request, reply] = [(data, true, None), (data, false, Some(0))];
        let exchange = [(data, true, Some(1)), (ack, false, Some(0))];
        let expected = [&[request, reply, (ack, true, Some(1))][..], &exchange, &exchange].concat();
        assert_eq!(seen, expected, "{rules}");
        let [request, reply] = [here[0], here[1]];
        assert_eq!([request.bytes, reply.bytes], [bytes; 2], "{rules}");
        assert_eq!([request.kbps, reply.kbps], [1_000, 11_000]);
        let unresolved = [&[0; 6], &N1[6..]].concat().try_into().unwrap();
        let body = |arp: Vec<u8>| [llc, &arp].concat();
        assert!(request.body.starts_with(&body(arp(1, N0, unresolved))), "{:x?}", request.body);
        assert!(reply.body.starts_with(&body(arp(2, N1, N0))), "{:x?}", reply.body);
        let flow = &outcome.flows[0];
        assert_eq!((flow.packets_sent, flow.packets_delivered), (10, 10), "{rules}");
        assert_eq!(outcome.nodes[0].signalling.bytes + outcome.nodes[1].signalling.bytes, 56);
    }
}

/// On three hops each node is asked once, because it learns the address of the previous hop from the request.
#[test]
fn the_target_of_an_arp_request_sends_no_request_itself() {
    let text = chain(3, "ieee", "").replace("scheme = \"udp\"", "scheme = \"tcp-newreno\"");
    let (outcome, _) = captured(&text);
    let sent: Vec<u64> = outcome.nodes.iter().map(|node| node.signalling.sent).collect();
    assert_eq!(sent, [1, 2, 2, 1], "a request of each but the last, a reply of each but the first");
    assert!(outcome.flows[0].packets_delivered > 0);
}

/// The neighbour is down. Of four packets, three trigger requests; the fourth is dropped together with the
/// third, as at the MAC's retry limit.
#[test]
fn the_latest_packet_is_buffered_and_after_three_requests_the_neighbour_is_unreachable() {
    let off = "[[outages]]\nnode = \"n1\"\nfrom = \"0 s\"\nto = \"10 s\"";
    let (outcome, _) = captured(&chain(1, "ieee", off));
    let flow = &outcome.flows[0];
    assert_eq!(flow.packets_sent, 10);
    // Packets 1 to 4, 5 to 8, and one of 9 and 10; the other is still buffered.
    assert_eq!(flow.dropped[DropCause::QueueFull as usize], 2 + 2 + 1, "{:?}", flow.dropped);
    assert_eq!(flow.dropped[DropCause::RetryLimit as usize], 2 + 2, "{:?}", flow.dropped);
    assert_eq!(outcome.nodes[0].signalling.sent, 3 + 3 + 2);
    assert_eq!(outcome.conservation.queued, 1);
}

/// A saturated source sends one request and loses no packet.
#[test]
fn a_saturated_source_loses_no_packet_to_address_resolution() {
    let text = chain(1, "ieee", "").replace(
        "kind = \"cbr\", rate = \"80 kb/s\", packet = \"1000 B\", jitter = 0.0",
        "kind = \"saturated\"",
    );
    let outcome = run(&resolve(&text, "arp.toml", &Overrides::default()).unwrap().config);
    assert_eq!(outcome.nodes[0].signalling.sent, 1);
    assert_eq!(outcome.flows[0].dropped, [0; DropCause::ALL.len()]);
    assert!(outcome.flows[0].packets_delivered > 300, "{:?}", outcome.flows[0]);
}
