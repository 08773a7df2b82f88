//! 802.11e and 802.11n features of the MAC, over a medium.

pub mod aggregation;
mod agreements;
mod edca;
mod fairness;
mod hardware;
mod mpdus;
mod protection;
mod rate_control;
