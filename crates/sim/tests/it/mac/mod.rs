//! MAC functions of 802.11e and 802.11n, and probes of links, in a simulated network.

pub mod aggregation;
mod agreements;
mod edca;
mod fairness;
mod hardware;
mod mpdus;
mod probes;
mod protection;
mod rate_control;
