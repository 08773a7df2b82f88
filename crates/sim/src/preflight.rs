//! What is known of a configuration before it runs: what scenarios are refused by.

use crate::config::Config;
use crate::mac::Timing;
pub use crate::medium::{exceed, farthest, femtowatts, light};
use multihop_core::Span;

/// The shortest pause of the MAC between two frames of one exchange: no frame may travel for longer.
pub fn least_pause(config: &Config) -> Span {
    Timing::new(config).least_pause()
}
