//! What is known of a configuration before it runs: what scenarios are refused by.

use crate::config::{Config, MediumModel};
use crate::mac::Timing;
pub use crate::medium::{exceed, farthest, femtowatts, light};
use multihop_core::Span;
use multihop_dot11::success_from_delivery;

/// The shortest pause of the MAC between two frames of one exchange: no frame may travel for longer.
pub fn least_pause(config: &Config) -> Span {
    Timing::new(config).least_pause()
}

/// The ratio of signal to noise at which probes arrive at the data rate in each of these shares; none unless the medium has probes and
/// powers.
pub fn power_ratio_of_delivery(config: &Config, shares: &[f64]) -> Option<Vec<f64>> {
    let MediumModel::Sensed { probe_size, .. } = config.medium.model else { return None };
    let table = config.phy.error_table(config.data_rate)?;
    let ratio = |share: &f64| table.sinr_for(success_from_delivery(*share, probe_size));
    Some(shares.iter().map(ratio).collect())
}
