//! Fuzz test of every registered scheme, over a path that loses, delays, reorders, duplicates and marks
//! packets.

use crate::pipe::{Path, Pipe};
use multihop_core::{Ecn, Rng, Segment, Span, Time};
use multihop_schemes::{REGISTRY, Scheme};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Impairments of a path. Probabilities are out of 256. After `calm`, no packet is lost or marked.
#[derive(Clone, Debug)]
struct Weather {
    seed: u64,
    loss: u32,
    ack_loss: u32,
    duplicate: u32,
    mark: u32,
    /// Maximum delay in milliseconds. Delays are drawn from 1 to this value; values above 1 reorder packets.
    delay_ms: u32,
    calm: Span,
}

struct Hostile {
    weather: Weather,
    rng: Rng,
}

impl Hostile {
    fn chance(&mut self, of_256: u32) -> bool {
        self.rng.below(256) < of_256
    }
}

impl Path for Hostile {
    fn carry(&mut self, now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>) {
        let Weather { loss, ack_loss, duplicate, mark, delay_ms, calm, .. } = self.weather;
        let lossy = now < Time::ZERO + calm;
        if lossy && self.chance(if to_receiver { loss } else { ack_loss }) {
            return;
        }
        if lossy && segment.ecn == Ecn::Ect0 && self.chance(mark) {
            segment.ecn = Ecn::CongestionExperienced;
        }
        segment.hops = 1 + self.rng.below(9) as u16;
        let count = if self.chance(duplicate) { 2 } else { 1 };
        for _ in 0..count {
            copies.push(Span::from_ms(1 + u64::from(self.rng.below(delay_ms))));
        }
    }
}

fn weather() -> impl Strategy<Value = Weather> {
    let chances = (0..200_u32, 0..200_u32, 0..60_u32, 0..256_u32);
    (any::<u64>(), chances, 1..300_u32, 0..30_u64).prop_map(
        |(seed, (loss, ack_loss, duplicate, mark), delay_ms, calm_s)| Weather {
            seed,
            loss,
            ack_loss,
            duplicate,
            mark,
            delay_ms,
            calm: Span::from_ms(1_000 * calm_s),
        },
    )
}

/// Draws parameters, of which each scheme uses those that it has.
fn parameters() -> impl Strategy<Value = Value> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let sizes = (1..3_000_u32, 1..70_u32, 1..12_u32, 1..40_u32, 1..6_u32, 1..4_u32);
    let spans = (0..400_u32, 1..3_000_u32, 0..1_500_u32, prop_oneof![Just(0_u32), 1..500_u32]);
    (0..3_usize, flags, sizes, spans).prop_map(|(flavour, flags, sizes, spans)| {
        let (handshake, timestamps, limited_transmit, ecn) = flags;
        let (segment_size, window, initial_window, initial_threshold, duplicate_threshold, byte_counting) = sizes;
        let (delayed_ack, initial_rto, min_rto, tick) = spans;
        let ms = |ms: u32| format!("{ms} ms");
        let flavour = ["ns2", "rfc", "linux"][flavour];
        json!({
            "flavour": flavour,
            "handshake": handshake, "timestamps": timestamps, "limited_transmit": limited_transmit, "ecn": ecn,
            "segment_size": format!("{segment_size} B"), "window": window, "initial_window": initial_window,
            "initial_threshold": initial_threshold, "duplicate_threshold": duplicate_threshold,
            "byte_counting": byte_counting, "delayed_ack": ms(delayed_ack), "initial_rto": ms(initial_rto),
            "min_rto": ms(min_rto), "tick": ms(tick), "host_delay": ms(0),
            "fine_timeout": handshake, "filter": if ecn { "tustin" } else { "exponential" },
            "dispersion": if handshake { "cov" } else { "mad" }, "short": if ecn { "one" } else { "h" },
            "interfering_hops": duplicate_threshold,
        })
    })
}

/// Runs one scheme over one path: pushes data at random instants and then waits for all deliveries.
fn weather_through(scheme: &Arc<dyn Scheme>, weather: &Weather, pushes: &[(u64, u64)]) {
    let rng = Rng::at(weather.seed, &["fuzz"]);
    let path = Hostile { weather: weather.clone(), rng };
    let mut pipe = Pipe::new(scheme.sender(), scheme.receiver(), scheme.segment_size(), path);
    let reliable = scheme.is_reliable();
    // A sender that depends on reports waits for the next one as long as the flow exists (RFC 5348, section
    // 4.4).
    let waits = !reliable && !scheme.is_uncontrolled();
    for &(wait_ms, segments) in pushes {
        pipe.run_until(pipe.now + Span::from_ms(wait_ms));
        // Pushes are not whole segments, so that segment boundaries vary.
        pipe.push(segments * u64::from(scheme.segment_size()) + segments % 7);
    }
    let pending = pipe.run_until(pipe.now + weather.calm + Span::from_ms(4 * 3_600_000));
    assert!(waits || !pending, "timers run for ever");
    // After the worst losses the rate may be one packet in 64 s, and the sender takes as long to notice the
    // end of the losses.
    assert!(
        pipe.sender.backlog() == 0 || waits && pipe.log.len() > 200,
        "{} bytes wait",
        pipe.sender.backlog()
    );
    if reliable {
        assert_eq!(pipe.delivered, pipe.pushed);
        assert_eq!(pipe.sender.progress().acked, pipe.pushed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_scheme_delivers_everything_once_when_losses_stop(
        weather in weather(),
        parameters in parameters(),
        pushes in prop::collection::vec((0..3_000_u64, 0..80_u64), 1..8),
    ) {
        // `FUZZ_SCHEME` selects one scheme.
        let only = std::env::var("FUZZ_SCHEME").ok();
        prop_assert!(only.as_deref().is_none_or(|name| REGISTRY.iter().any(|entry| entry.name == name)));
        for entry in REGISTRY.iter().filter(|entry| only.as_deref().is_none_or(|name| name == entry.name)) {
            let schema = entry.schema();
            let known = |key: &str| schema["properties"].get(key).is_some();
            let mut own: Map<String, Value> =
                parameters.as_object().unwrap().iter().filter(|(key, _)| known(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
            // Schemes that mark require ECN; recovery by time does not use Limited Transmit; some schemes have
            // no flavour of Linux.
            for key in ["limited_transmit", "ecn", "flavour"] {
                if entry.build(&Value::Object(own.clone())).is_err() {
                    own.remove(key);
                }
            }
            let scheme = entry.build(&Value::Object(own)).unwrap();
            weather_through(&scheme, &weather, &pushes);
        }
    }
}
