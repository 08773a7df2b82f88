//! That what is quick is the same as what is not.

use super::*;
use multihop_core::{Interval, Span};

/// Random signals, of which some overlap, some cannot be decoded, and some come while the node sends: what
/// is quick is the same as what is not.
#[test]
fn a_signal_in_silence_is_as_any_other() {
    let collisions = Collisions::Pairwise { capture: Some(10.0) };
    let mut rng = Rng::at(7, &["radio"]);
    let mut radios = [0, 1].map(|_| Radio::new(1, Rng::at(1, &["test"])));
    let (mut present, mut quick): (Vec<(Link, Frame)>, u32) = (Vec::new(), 0);
    for step in 1..20_000 {
        let now = Time::from_ns(step * 1_000);
        while let Some(at) = present.iter().position(|(_, frame)| frame.end() == now) {
            let (link, frame) = present.remove(at);
            let [any, sooner] = &mut radios;
            let loads = Loads::default();
            let finished = any.finish(&collisions, &link, &frame, || 0.0, &loads, now);
            if sooner.is_ended_alone_by(&link, &frame, true) {
                sooner.end_alone(now);
                let reception = if link.is_decodable() { Reception::Decoded } else { Reception::Noise };
                assert_eq!(finished, Finished { reception, turns_idle: true, ..Finished::NOTHING });
                quick += 1;
            } else {
                assert_eq!(finished, sooner.finish(&collisions, &link, &frame, || 0.0, &loads, now));
            }
        }
        match rng.below(100) {
            0 => radios.iter_mut().for_each(|radio| radio.transmit(now + Span::from_us(1))),
            1..3 => radios.iter_mut().for_each(Radio::stop),
            3..20 => {
                let from = step as u32;
                let air = Interval { start: now, end: now + Span::from_us(1 + u64::from(rng.below(8))) };
                let power = f64::from(1 + rng.below(30));
                let link = Link::new(9, rng.below(3) > 0, 1, power, 0.0);
                let frame = Frame::sample(from, air);
                let [any, sooner] = &mut radios;
                let turns_busy = any.begin(&collisions, &link, &frame, now);
                if sooner.is_silent() {
                    assert!(turns_busy);
                    sooner.begin_in_silence(&link, &frame, now);
                    quick += 1;
                } else {
                    assert_eq!(turns_busy, sooner.begin(&collisions, &link, &frame, now));
                }
                present.push((link, frame));
            }
            _ => {}
        }
        let [any, sooner] = &radios;
        assert_eq!((any.energy, any.loud, any.quiet_since), (sooner.energy, sooner.loud, sooner.quiet_since));
        assert_eq!(format!("{:?}", any.lock), format!("{:?}", sooner.lock), "{now:?}");
    }
    assert!(quick > 1_000, "{quick}");
}
