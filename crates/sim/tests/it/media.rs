//! Laws of video over transports.

use crate::common::wires::{lay, mbps, seconds, tcp, wired};
use crate::common::{Datagrams, add_flow, chain};
use multihop_core::{NodeId, Rate, Span};
use multihop_dot11::DcfRules;
use multihop_schemes::REGISTRY;
use multihop_sim::config::{AppConfig, Config, SchemeConfig, VideoConfig};
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::{FlowOutcome, VideoOutcome};
use multihop_sim::{Ties, World, run};
use serde_json::json;
use std::sync::Arc;

/// 25 frames of 1280 bytes per second, with a deadline of 400 ms.
const VIDEO: VideoConfig = VideoConfig {
    frame_rate: 25.0,
    rate_bps: 256_000.0,
    min_rate_bps: None,
    gop: 1,
    key_ratio: 1.0,
    variation: 0.0,
    deadline: Span::from_ms(400),
    buffer: Some(12_800),
};

/// Video over a wire of this rate with 5 ms of propagation and this queue limit.
fn over_wire(rate: Rate, queue: usize, scheme: &str) -> Config {
    let mut config = wired(DcfRules::IEEE, 2);
    lay(&mut config, (0, 1), rate, Span::from_ms(5), queue);
    match scheme {
        "udp" => {
            let scheme = Arc::new(Datagrams { payload: 1472, header: 28 });
            config.traffic.schemes = vec![SchemeConfig { name: "udp".into(), scheme }];
        }
        name => tcp(&mut config, name, &json!({ "segment_size": "1460 B" })),
    }
    add_flow(&mut config, 0, 1, AppConfig::Video(VIDEO));
    config
}

fn video(flow: &FlowOutcome) -> VideoOutcome {
    flow.video.unwrap()
}

fn share(part: u64, video: &VideoOutcome) -> f64 {
    part as f64 / video.video_frames_sent as f64
}

#[test]
fn a_good_link_shows_every_frame_in_time() {
    for scheme in ["udp", "tcp-newreno"] {
        let outcome = seconds(&mut over_wire(mbps(10), 50, scheme), 5, 65);
        let flow = &outcome.flows[0];
        let video = video(flow);
        // Frames of the last 400 ms would count as in transit if they were missing, but one arrives in 7 ms.
        assert_eq!(
            (
                video.video_frames_sent,
                video.video_frames_late,
                video.video_frames_lost,
                video.video_frames_skipped
            ),
            (1500, 0, 0, 0),
            "{scheme}: {video:?}"
        );
        assert!((1499..=1500).contains(&video.video_frames_on_time), "{scheme}: {video:?}");
        assert_eq!((video.late_ratio, video.stalls, video.stall_time_s), (Some(0.0), 0, 0.0), "{scheme}");
        let delay = video.video_frame_delay_mean_s.unwrap();
        assert!((0.006..0.008).contains(&delay), "{scheme}: {delay}");
        assert!(flow.rate_cv.unwrap() < 0.02, "{scheme}: {:?}", flow.rate_cv);
        assert!(flow.jitter_s.unwrap() < 1e-6 || scheme != "udp", "{:?}", flow.jitter_s);
    }
}

/// The receiver is off from 10 to 12 s. A frame needs 1.0464 ms on the wire and 5 ms of propagation: those of
/// 10.00 to 11.96 s are lost, the first of which was due at 10.4 s; that of 12 s arrives at 12.0060464 s.
#[test]
fn an_outage_stalls_a_player_for_its_length_less_what_it_has_in_store() {
    for scheme in ["udp", "tcp-newreno"] {
        let mut config = over_wire(mbps(10), 50, scheme);
        let (from, to) = (Span::from_ms(10_000), Span::from_ms(12_000));
        config.mobility.outages = vec![Outage { node: NodeId(1), from, to }];
        let outcome = seconds(&mut config, 5, 65);
        let video = video(&outcome.flows[0]);
        if scheme == "udp" {
            assert_eq!(
                (video.video_frames_lost, video.video_frames_late, video.video_frames_skipped, video.stalls),
                (50, 0, 0, 1),
                "{video:?}"
            );
            assert!((video.stall_time_s - 1.606_046_4).abs() < 1e-6, "{video:?}");
        } else {
            // The stream waits for its retransmission timer as well, which backs off; nothing is lost for
            // good.
            assert_eq!(video.video_frames_lost, 0, "{video:?}");
            assert!((1.606..4.0).contains(&video.stall_time_s), "{video:?}");
            assert!(video.video_frames_skipped > 20 && video.video_frames_late >= 10, "{video:?}");
        }
    }
}

/// Wire of half the video's rate. Datagrams that do not fit are lost: of 25 frames of 1308 bytes per second
/// 12.23 pass, none of which waits for longer than three others. Over a stream the encoder skips as much, so
/// that 1460/1500 of the wire's rate is sent.
#[test]
fn half_the_capacity_carries_half_of_the_frames() {
    let wire = Rate::from_kbps(128);
    let outcome = seconds(&mut over_wire(wire, 3, "udp"), 5, 205);
    let by_datagrams = video(&outcome.flows[0]);
    let passes = 128_000.0 / (1308.0 * 8.0) / 25.0;
    assert!(
        (share(by_datagrams.video_frames_on_time, &by_datagrams) - passes).abs() < 0.005,
        "{by_datagrams:?}"
    );
    assert_eq!(
        (by_datagrams.video_frames_skipped, by_datagrams.video_frames_late),
        (0, 0),
        "{by_datagrams:?}"
    );
    assert!((by_datagrams.late_ratio.unwrap() - (1.0 - passes)).abs() < 0.005, "{by_datagrams:?}");

    let outcome = seconds(&mut over_wire(wire, 3, "tcp-newreno"), 5, 205);
    let by_stream = video(&outcome.flows[0]);
    assert!(by_stream.video_frames_lost < 40, "only those that are under way at the end: {by_stream:?}");
    assert!(
        (share(by_stream.video_frames_skipped, &by_stream) - (1.0 - 0.5 * 1460.0 / 1500.0)).abs() < 0.03,
        "{by_stream:?}"
    );
    // The buffer holds 400 ms of video, for which the wire needs twice as long: every frame is late.
    assert!(by_stream.late_ratio.unwrap() > 0.9, "{by_stream:?}");
    // Half of the picture's time is missing, whenever the player stops for it.
    assert!((by_stream.stall_time_s / outcome.measured_s - 0.5).abs() < 0.05, "{by_stream:?}");
}

/// The buffer bounds the backlog of the sender.
#[test]
fn a_smaller_buffer_skips_more_and_delays_less() {
    let with_buffer = |buffer: Option<u64>| {
        let mut config = over_wire(Rate::from_kbps(200), 2, "tcp-newreno");
        config.traffic.flows[0].app = AppConfig::Video(VideoConfig { buffer, ..VIDEO });
        video(&seconds(&mut config, 5, 105).flows[0])
    };
    let [none, large, small] = [None, Some(32_000), Some(3_200)].map(with_buffer);
    assert_eq!(
        (none.video_frames_skipped, none.video_frames_lost > 0),
        (0, true),
        "without a bound the sender falls behind for ever"
    );
    assert!(
        large.video_frames_skipped > 100 && small.video_frames_skipped >= large.video_frames_skipped,
        "{large:?} {small:?}"
    );
    let delay = |video: VideoOutcome| video.video_frame_delay_mean_s.unwrap();
    assert!(delay(none) > delay(large) && delay(large) > delay(small) + 0.5, "{none:?} {large:?} {small:?}");
}

/// Every scheme carries a video of 256 kb/s over one hop of 802.11b, after a while for slow starts.
#[test]
fn video_goes_over_every_transport() {
    for entry in REGISTRY {
        let scheme = entry.build(&json!({})).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let mut config = chain(DcfRules::IEEE, 1);
        config.traffic.schemes = vec![SchemeConfig { name: entry.name.into(), scheme }];
        config.recording.warmup = Span::from_ms(10_000);
        config.duration = Span::from_ms(30_000);
        add_flow(&mut config, 0, 1, AppConfig::Video(VideoConfig { gop: 12, key_ratio: 4.0, ..VIDEO }));
        let video = video(&run(&config).flows[0]);
        assert!((499..=501).contains(&video.video_frames_sent), "{}: {video:?}", entry.name);
        assert!(video.video_frames_on_time + 2 >= video.video_frames_sent, "{}: {video:?}", entry.name);
        assert_eq!((video.stalls, video.late_ratio), (0, Some(0.0)), "{}: {video:?}", entry.name);
    }
}

/// Over a lossy chain each frame still has one outcome, frames without one are younger than the deadline, and
/// the order of simultaneous events does not matter.
#[test]
fn every_frame_has_one_fate() {
    for (name, bit_error_rate) in [("udp", 5e-5), ("tcp-newreno", 5e-5), ("recn", 1e-4)] {
        let mut config = chain(DcfRules::IEEE, 4);
        let scheme = REGISTRY.iter().find(|entry| entry.name == name).unwrap().build(&json!({})).unwrap();
        config.traffic.schemes = vec![SchemeConfig { name: name.into(), scheme }];
        config.medium.bit_error_rate = bit_error_rate;
        config.duration = Span::from_ms(40_000);
        let rough = VideoConfig { rate_bps: 300_000.0, gop: 12, key_ratio: 5.0, variation: 0.3, ..VIDEO };
        add_flow(&mut config, 0, 4, AppConfig::Video(rough));
        add_flow(&mut config, 4, 0, AppConfig::Video(VideoConfig { buffer: None, ..rough }));
        let outcome = run(&config);
        for flow in &outcome.flows {
            let video = video(flow);
            let decided = video.video_frames_skipped
                + video.video_frames_on_time
                + video.video_frames_late
                + video.video_frames_lost;
            // The last 400 ms have eleven frames at most.
            assert!(
                decided <= video.video_frames_sent && video.video_frames_sent - decided <= 11,
                "{name}: {video:?}"
            );
            assert!(
                video.video_frames_late + video.video_frames_lost + video.video_frames_skipped > 0,
                "{name}: {video:?}"
            );
            assert!(video.stall_time_s <= outcome.measured_s, "{name}: {video:?}");
        }
        assert_eq!(outcome, World::new(&config, Ties::Reversed).finish());
    }
}

/// Other applications have a sending rate and jitter, and no frames.
#[test]
fn the_rate_of_any_flow_varies() {
    let of = |app| {
        let mut config = over_wire(mbps(10), 50, "udp");
        config.traffic.flows[0].app = app;
        seconds(&mut config, 5, 205).flows.remove(0)
    };
    let rate = Rate::from_kbps(80);
    let even = of(AppConfig::Cbr { rate, packet: 100, jitter: 0.0 });
    assert_eq!((even.rate_cv, even.video), (Some(0.0), None));
    // A Poisson process with 100 packets per second has a coefficient of variation of 1/10.
    let random = of(AppConfig::Poisson { rate, packet: 100 });
    assert!((random.rate_cv.unwrap() - 0.1).abs() < 0.02, "{:?}", random.rate_cv);
}
