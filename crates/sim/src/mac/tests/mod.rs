//! Timelines of the MAC: frames that a station sends, and when, for frames that it receives.
//!
//! Airtimes with these settings, in us: RTS 352, CTS and ACK 304, DATA of 1000 bytes 192 + ceil(8 * 1036
//! / 11) = 946. SIFS 10, slot 20, DIFS 50, EIFS 364.

mod aggregates;
mod distant;
mod edca;
mod events;
mod hardware;
mod ns2;
mod pauses;
pub(super) mod phases;
mod protection;
mod reactions;
pub(crate) mod script;
mod standard;
mod timing;
mod txop;
