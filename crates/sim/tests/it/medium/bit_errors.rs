//! Laws of uniform bit errors: which frames they hit, and how often.

use crate::common::capture::{Capture, Kind, Shared, read};
use crate::common::{add_flow, network};
use multihop_core::{Rate, Span};
use multihop_dot11::DcfRules;
use multihop_sim::config::{AppConfig, Config};
use multihop_sim::logs::AirLog;
use multihop_sim::{Ties, World};

/// One packet every 50 ms from node 0 to node 1, with RTS; node 2 overhears. Nothing collides, so that only
/// errors lose frames.
fn trickle() -> Config {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [200.0, 0.0], [100.0, 100.0]]);
    config.duration = Span::from_ms(200_000);
    config.recording.warmup = Span::ZERO;
    config.mac.rts_threshold = Some(0);
    let app = AppConfig::Cbr { rate: Rate::from_kbps(80), packet: 500, jitter: 0.0 };
    add_flow(&mut config, 0, 1, app);
    config
}

fn capture(config: &Config) -> Capture {
    let file = Shared::default();
    let log = AirLog::new(config, Box::new(file.clone())).unwrap();
    World::new(config, Ties::InOrder).finish_logged(log, |_| ()).unwrap();
    let bytes = std::mem::take(&mut *file.0.lock().unwrap());
    read(&bytes)
}

/// Frames of one kind: their length in bytes, the number sent, and the number that one listener decoded.
fn counts(capture: &Capture, kind: Kind, sender: usize, listener: usize) -> (u32, u32, u32) {
    let like = |at: usize, own: bool| {
        capture.packets.iter().filter(move |packet| {
            packet.kind == kind && packet.interface == at && packet.tx_flags.is_some() == own
        })
    };
    let bytes = like(sender, true).next().expect("one was sent").bytes;
    assert!(like(sender, true).all(|packet| packet.bytes == bytes));
    (bytes, like(sender, true).count() as u32, like(listener, false).count() as u32)
}

const FRAMES: [(Kind, usize, u32); 4] =
    [(Kind::Rts, 0, 20), (Kind::Cts, 1, 14), (Kind::Data, 0, 500 + 28 + 8 + 28), (Kind::Ack, 1, 14)];

/// Every bit of every frame, from the first of the MAC header to the last of the FCS, at every listener by
/// itself: frames of `n` bytes survive with `(1 - b)^(8 n)`.
#[test]
fn bit_errors_hit_frames_of_all_kinds_by_their_length() {
    let mut config = trickle();
    config.medium.bit_error_rate = 2e-4;
    let capture = capture(&config);
    for (kind, sender, expected_bytes) in FRAMES {
        for listener in [1 - sender, 2] {
            let (bytes, sent, heard) = counts(&capture, kind, sender, listener);
            assert_eq!(bytes, expected_bytes, "{kind:?}");
            assert!(sent > 3_000, "{sent} {kind:?}");
            let expected = (1.0 - config.medium.bit_error_rate).powi(8 * bytes as i32);
            let share = f64::from(heard) / f64::from(sent);
            let deviation = (expected * (1.0 - expected) / f64::from(sent)).sqrt();
            println!("{kind:?} at {listener}: {share:.4} of {sent}, expected {expected:.4}");
            assert!(
                (share - expected).abs() < 4.0 * deviation,
                "{kind:?} at {listener}: {share} not {expected}"
            );
        }
    }
}

/// Packet errors do not depend on length and spare control frames.
#[test]
fn packet_errors_hit_data_alone() {
    let mut config = trickle();
    config.medium.packet_error_rate = 0.3;
    let capture = capture(&config);
    for (kind, sender, _) in FRAMES {
        let (_, sent, heard) = counts(&capture, kind, sender, 1 - sender);
        let expected = if kind == Kind::Data { 0.7 } else { 1.0 };
        let share = f64::from(heard) / f64::from(sent);
        let deviation = (expected * (1.0 - expected) / f64::from(sent)).sqrt();
        assert!((share - expected).abs() <= 4.0 * deviation, "{kind:?}: {share} not {expected}");
    }
}

/// A wrong frame still takes its time at its listeners: the exchange fails, nothing is passed up, and the
/// frame is sent again until the retry limit. One of ten DATA frames of 4512 bits survives, so that one of
/// the four tries that the long retry limit allows succeeds for 36 % of packets; RTS have a limit of their
/// own, and a packet has arrived though its ACK was wrong.
#[test]
fn a_wrong_frame_is_lost_below_the_network_layer() {
    let mut config = trickle();
    config.medium.bit_error_rate = 5e-4;
    let outcome = multihop_sim::run(&config);
    let (flow, link) = (&outcome.flows[0], &outcome.links[0]);
    assert!(flow.packets_sent > 3_000);
    // Nothing else loses packets, so that all packets not given up arrive.
    assert!(flow.packets_delivered + link.given_up >= flow.packets_sent, "{flow:?}");
    let right = (1.0f64 - 5e-4).powi(8 * (500 + 28 + 8 + 28));
    let delivered = 1.0 - (1.0 - right).powi(4);
    let share = flow.packets_delivered as f64 / flow.packets_sent as f64;
    assert!((share - delivered).abs() < 0.03, "{share} of packets, {delivered} expected");
}
