//! The IEEE 802.11 standard: PHY tables, airtimes, error rates, and the rules of the DCF.
//!
//! * [`Phy`]: rates, inter-frame spaces and airtimes of a physical layer; [`FrameTiming`] is the part used
//!   per frame.
//! * [`Ppdu`]: airtimes of frames of every generation up to HE, as sent by stations or as reported by
//!   receivers.
//! * [`Band::channels`]: channel numbers of a band.
//! * [`DataRate`]: bit rate, or modulation and coding scheme of HT, VHT or HE ([`Mcs`]).
//! * [`Durations`]: duration fields of the frames of an exchange, from which other stations set their NAV.
//! * [`bit_error_rate`] and related functions: bit errors at a given signal to interference and noise ratio;
//!   [`ErrorTable`] is the part used per frame.
//! * [`Phy::sensitivity_dbm`]: lowest power at which a receiver must decode a rate.
//! * [`DcfRules`]: rules of the distributed coordination function, with a name for each deviation of ns-2.
//! * [`EdcaParameters`]: contention parameters of the EDCA access categories; [`user_priority`] maps packets
//!   to them.
//!
//! This crate has no state, draws no random numbers and knows no stations: only tables and pure functions.
//! Clauses are those of IEEE 802.11-2012 unless another edition is named.

mod channel;
mod duration;
mod edca;
mod error;
mod ldpc;
mod mcs;
mod phy;
mod ppdu;
mod rates;
mod rules;
mod sensitivity;
mod special;

pub use channel::first_of_block;
pub use duration::{ACK_DURATION, Durations};
pub use edca::{AccessCategory, EdcaParameters, user_priority};
pub use error::{ErrorTable, bit_error_rate, bit_success_ln, frame_success, success_from_delivery};
pub use mcs::{Coding, DataRate, GuardInterval, Mcs, PpduOptions};
pub use phy::{
    ACK_BYTES, CF_END_BYTES, CTS_BYTES, FrameTiming, Modulation, OfdmSymbols, Phy, Preamble, RTS_BYTES,
    Standard,
};
pub use ppdu::{Band, Bandwidth, HePpdu, HtPpdu, MPDU_DELIMITER, OfdmClock, Ppdu, VhtPpdu};
pub use rules::{BackoffDraw, DcfRules, EifsRule, Microseconds, NS2_PROPAGATION, ResponseTimeout};
