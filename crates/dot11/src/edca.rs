//! Enhanced distributed channel access (IEEE 802.11-2016, 10.22.2): access categories, their contention
//! parameters, and the mapping of packets to them.

use crate::phy::{Phy, Standard};
use multihop_core::{Dscp, Span};
use serde::Serialize;

/// Access category, in ascending order of priority (802.11-2016, table 10-1).
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum AccessCategory {
    /// `AC_BK`.
    Background,
    /// `AC_BE`.
    #[default]
    BestEffort,
    /// `AC_VI`.
    Video,
    /// `AC_VO`.
    Voice,
}

impl AccessCategory {
    /// Number of access categories.
    pub const COUNT: usize = 4;

    /// All access categories, lowest priority first.
    pub const ALL: [AccessCategory; AccessCategory::COUNT] = [
        AccessCategory::Background,
        AccessCategory::BestEffort,
        AccessCategory::Video,
        AccessCategory::Voice,
    ];

    /// Abbreviation in the standard.
    pub const fn name(self) -> &'static str {
        match self {
            AccessCategory::Background => "AC_BK",
            AccessCategory::BestEffort => "AC_BE",
            AccessCategory::Video => "AC_VI",
            AccessCategory::Voice => "AC_VO",
        }
    }

    /// Access category of a user priority, 0 to 7 (table 10-1).
    pub const fn from_priority(priority: u8) -> AccessCategory {
        match priority {
            1 | 2 => AccessCategory::Background,
            0 | 3 => AccessCategory::BestEffort,
            4 | 5 => AccessCategory::Video,
            _ => AccessCategory::Voice,
        }
    }
}

/// User priority of packets with a codepoint, which is the traffic identifier of their frames (RFC 8325,
/// section 4.3 and figure 1; for LE, RFC 8622, section 11).
///
/// RFC 8325 gives two mappings for CS6 and CS7; this is the one for networks that use them: priority 7.
/// Codepoints without a class have priority 0, the default class.
pub const fn user_priority(dscp: Dscp) -> u8 {
    match dscp.number() {
        48 | 56 => 7,                               // CS6, CS7: network control
        46 | 44 => 6,                               // EF, VA: telephony
        40 => 5,                                    // CS5: signalling
        34 | 36 | 38 | 32 | 26 | 28 | 30 | 24 => 4, // AF4x, CS4, AF3x, CS3: video
        18 | 20 | 22 => 3,                          // AF2x: low-latency data
        8 | 1 => 1,                                 // CS1, LE: low-priority data
        _ => 0,
    }
}

/// Contention parameters of an access category.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct EdcaParameters {
    /// Number of slots in the arbitration inter-frame space after SIFS (AIFSN).
    pub aifsn: u32,
    /// Minimum contention window, in slots.
    pub cw_min: u32,
    /// Maximum contention window, in slots.
    pub cw_max: u32,
    /// Limit of a transmission opportunity; zero allows a single exchange.
    pub txop_limit: Span,
}

impl EdcaParameters {
    /// Default parameters of a category (802.11-2016, table 9-137).
    pub fn new(category: AccessCategory, phy: &Phy) -> EdcaParameters {
        let (least, most) = (phy.cw_min, phy.cw_max);
        let part = |parts: u32| ((least + 1) / parts).max(1) - 1;
        let (aifsn, cw_min, cw_max) = match category {
            AccessCategory::Background => (7, least, most),
            AccessCategory::BestEffort => (3, least, most),
            AccessCategory::Video => (2, part(2), least),
            AccessCategory::Voice => (2, part(4), part(2)),
        };
        let [direct_sequence, orthogonal] = match category {
            AccessCategory::Background | AccessCategory::BestEffort => [3_264, 2_528],
            AccessCategory::Video => [6_016, 4_096],
            AccessCategory::Voice => [3_264, 2_080],
        };
        let txop_limit = match phy.standard() {
            Standard::Fhss => Span::ZERO,
            Standard::Dsss | Standard::Dot11b => Span::from_us(direct_sequence),
            _ => Span::from_us(orthogonal),
        };
        EdcaParameters { aifsn, cw_min, cw_max, txop_limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preamble;

    fn named(name: &str) -> AccessCategory {
        let (_, dscp) = Dscp::NAMED.into_iter().find(|(known, _)| *known == name).expect("a name");
        AccessCategory::from_priority(user_priority(dscp))
    }

    /// RFC 8325, figure 1.
    #[test]
    fn codepoints_have_the_categories_of_rfc_8325() {
        let of = |names: &[&str]| names.iter().map(|name| named(name)).collect::<Vec<_>>();
        assert_eq!(of(&["CS7", "CS6", "EF", "VA"]), [AccessCategory::Voice; 4]);
        let video = ["CS5", "AF41", "AF42", "AF43", "CS4", "AF31", "AF32", "AF33", "CS3"];
        assert_eq!(of(&video), [AccessCategory::Video; 9]);
        let best_effort = ["AF21", "AF22", "AF23", "CS2", "AF11", "AF12", "AF13", "DF", "CS0"];
        assert_eq!(of(&best_effort), [AccessCategory::BestEffort; 9]);
        assert_eq!(of(&["CS1", "LE"]), [AccessCategory::Background; 2]);
    }

    /// The three highest bits alone do not decide: those of EF are 5, and those of AF21 are 2 (background).
    #[test]
    fn priorities_are_not_the_precedence_bits() {
        let of = |number| user_priority(Dscp::new(number).expect("six bits"));
        assert_eq!([46, 18, 16, 40, 63].map(of), [6, 3, 0, 5, 0]);
        assert_eq!(Dscp::new(64), None);
    }

    /// 802.11-2016, table 9-137, with the windows of 802.11n (15, 1023) and 802.11b (31, 1023).
    #[test]
    fn defaults_are_those_of_the_table() {
        let all = |standard| {
            let phy = Phy::new(standard, Preamble::Long);
            AccessCategory::ALL.map(|category| {
                let EdcaParameters { aifsn, cw_min, cw_max, txop_limit } =
                    EdcaParameters::new(category, &phy);
                (aifsn, cw_min, cw_max, txop_limit.ns() / 1_000)
            })
        };
        let of_n = [(7, 15, 1_023, 2_528), (3, 15, 1_023, 2_528), (2, 7, 15, 4_096), (2, 3, 7, 2_080)];
        assert_eq!(all(Standard::Dot11n), of_n);
        let of_b = [(7, 31, 1_023, 3_264), (3, 31, 1_023, 3_264), (2, 15, 31, 6_016), (2, 7, 15, 3_264)];
        assert_eq!(all(Standard::Dot11b), of_b);
        assert_eq!(all(Standard::Fhss)[3].3, 0);
    }
}
