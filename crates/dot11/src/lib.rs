//! What the IEEE 802.11 standard says: PHY tables, airtimes, error rates, and the rules of the DCF.

mod rules;

pub use rules::{BackoffDraw, DcfRules, EifsRule, Microseconds, ResponseTimeout};
