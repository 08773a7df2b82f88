//! What the IEEE 802.11 standard says: PHY tables, airtimes, error rates, and the rules of the DCF.
//!
//! * [`Phy`]: rates, inter-frame spaces and airtimes of a physical layer.
//! * [`DcfRules`]: the rules of the distributed coordination function, with every departure of ns-2 named.

mod phy;
mod rules;

pub use phy::{ACK_BYTES, CTS_BYTES, Modulation, Phy, Preamble, RTS_BYTES, Standard};
pub use rules::{BackoffDraw, DcfRules, EifsRule, Microseconds, ResponseTimeout};
