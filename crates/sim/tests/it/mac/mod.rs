//! MAC functions of 802.11e and 802.11n in a simulated network.

pub mod aggregation;
mod agreements;
mod edca;
mod fairness;
mod hardware;
mod mpdus;
mod protection;
mod rate_control;
