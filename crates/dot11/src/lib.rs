//! What the IEEE 802.11 standard says: PHY tables, airtimes, error rates, and the rules of the DCF.
//!
//! * [`Phy`]: rates, inter-frame spaces and airtimes of a physical layer; [`FrameTiming`] is what is asked
//!   for each frame.
//! * [`Ppdu`]: airtimes of frames of every generation, up to HE, as stations send them and by what receivers
//!   report of them.
//! * [`Band::channels`]: which channels there are.
//! * [`DataRate`]: a bit rate, or a modulation and coding scheme of HT, VHT or HE ([`Mcs`]).
//! * [`Durations`]: what the frames of an exchange write into their duration fields, which others take as
//!   their NAV.
//! * [`bit_error_rate`] and its relatives: how many bits a receiver gets wrong at a given ratio of signal to
//!   interference and noise; [`ErrorTable`] is what is asked for each frame.
//! * [`Phy::sensitivity_dbm`]: the least power at which a receiver has to decode a rate.
//! * [`DcfRules`]: the rules of the distributed coordination function, with every departure of ns-2 named.
//! * [`EdcaParameters`]: what the access categories of quality of service contend with, and
//!   [`user_priority`]: what packets are of which.
//!
//! Nothing here has state, draws random numbers or knows of stations: these are tables and pure functions.
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

pub use channel::first_of_run;
pub use duration::{ACK_DURATION, Durations};
pub use edca::{AccessCategory, EdcaParameters, user_priority};
pub use error::{ErrorTable, bit_error_rate, bit_success_ln, frame_success, success_from_delivery};
pub use mcs::{Coding, DataRate, GuardInterval, Mcs, PpduOptions};
pub use phy::{
    ACK_BYTES, CF_END_BYTES, CTS_BYTES, FrameTiming, Modulation, OfdmSymbols, Phy, Preamble, RTS_BYTES,
    Standard,
};
pub use ppdu::{Band, Bandwidth, Clock, HePpdu, HtPpdu, MPDU_DELIMITER, Ppdu, VhtPpdu};
pub use rules::{BackoffDraw, DcfRules, EifsRule, Microseconds, NS2_PROPAGATION, ResponseTimeout};
