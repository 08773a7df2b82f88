//! Adaptive deterministic packet marking (Andrew, Hanly, Chan and Cui 2006; Qazi, Andrew and Znati 2009). A
//! load factor is signalled to the receiver in the two ECN bits of many packets.
//!
//! The IP identification of a packet selects a threshold, and the packet signals whether the load factor
//! reaches it. Thresholds of consecutive packets are a van der Corput sequence. `2^k` consecutive packets
//! determine a constant load to `2^-k` of the range, or to twice that if they do not begin at a multiple of
//! `2^k`.
//!
//! Routers raise the code of a packet and never lower it, as 10 < 01 < 11. The receiver thus sees the largest
//! load on the path. The papers' texts could not be retrieved. The use of all three codes on both sides of 1
//! is this project's. Whatever the threshold is, every packet signals an overload:
//!
//! | code | threshold up to 1 | threshold above 1 |
//! |---|---|---|
//! | 10 | below the threshold | below 1 |
//! | 01 | from the threshold up to 1 | from 1 up to the threshold |
//! | 11 | 1 and more | the threshold and more |

use multihop_core::Ecn;

/// Upper limit of the load factors that are distinguished.
pub const MAX_LOAD: f64 = 1.2;

/// Returns the position of a packet's threshold in the range, in [0, 1): the reversed bits of its
/// identification.
pub fn position(identification: u16) -> f64 {
    f64::from(identification.reverse_bits()) / 65_536.0
}

/// Returns the load factor at which a packet's code changes.
pub fn threshold(identification: u16) -> f64 {
    position(identification) * MAX_LOAD
}

/// Returns the code of a packet after a router with this load factor. `code` is the code before.
pub fn mark(code: Ecn, identification: u16, load: f64) -> Ecn {
    let threshold = threshold(identification);
    let own = if load >= threshold.max(1.0) {
        Ecn::CongestionExperienced
    } else if load >= threshold.min(1.0) {
        Ecn::Ect1
    } else {
        Ecn::Ect0
    };
    match code {
        Ecn::Ect0 => own,
        Ecn::Ect1 if own == Ecn::CongestionExperienced => own,
        // Other schemes' packets and codes that are already higher remain.
        _ => code,
    }
}

/// Returns the least load factor that a packet's code signals, and the least one above the signalled range;
/// none for the code of another scheme.
pub fn bounds(code: Ecn, identification: u16) -> Option<(f64, f64)> {
    let threshold = threshold(identification);
    match code {
        Ecn::NotCapable => None,
        Ecn::Ect0 => Some((0.0, threshold.min(1.0))),
        Ecn::Ect1 => Some((threshold.min(1.0), threshold.max(1.0))),
        Ecn::CongestionExperienced => Some((threshold.max(1.0), f64::INFINITY)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_a_van_der_corput_sequence() {
        let places: Vec<f64> = (0..8).map(position).collect();
        assert_eq!(places, [0.0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875]);
    }

    #[test]
    fn a_code_bounds_the_load_whatever_the_threshold() {
        for identification in (0..=u16::MAX).step_by(7) {
            for load in [0.0, 0.3, 0.799, 0.8, 0.999, 1.0, 1.05, 1.19, 1.2, 3.0] {
                let code = mark(Ecn::Ect0, identification, load);
                let (from, below) = bounds(code, identification).unwrap();
                assert!(load >= from && load < below, "{identification} {load} {code:?}");
                assert_eq!(from >= 1.0 || below > 1.0, load >= 1.0, "overload is signalled by every packet");
            }
        }
    }

    /// The largest load of several routers is signalled, in whatever order the routers are.
    #[test]
    fn the_largest_load_on_the_path_is_signalled() {
        for identification in (0..=u16::MAX).step_by(13) {
            for (small, large) in [(0.2, 0.7), (0.7, 1.1), (0.9, 1.3), (0.5, 0.5)] {
                let alone = mark(Ecn::Ect0, identification, large);
                for (first, second) in [(small, large), (large, small)] {
                    let code = mark(Ecn::Ect0, identification, first);
                    assert_eq!(mark(code, identification, second), alone);
                }
            }
        }
    }

    #[test]
    fn packets_of_other_schemes_are_not_marked() {
        assert_eq!(mark(Ecn::NotCapable, 5, 3.0), Ecn::NotCapable);
        assert_eq!(bounds(Ecn::NotCapable, 5), None);
    }
}
