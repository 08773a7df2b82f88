//! Rate control: at which of its rates a station sends DATA to a neighbour.
//!
//! A [`RateTable`] is what all stations of a network share: the rates to choose from, and what a frame costs
//! at each. A [`RateControl`] is what a station keeps about one neighbour. The MAC asks it for a [`Chain`]
//! when it begins to send something, goes down the chain while no response comes, and reports each
//! [`Attempted`].

mod ideal;
mod minstrel_ht;

#[cfg(test)]
mod tests;

use ideal::Ideal;
use minstrel_ht::MinstrelHt;
use multihop_core::{Rng, Span, Time};
use serde::Serialize;

/// An algorithm of rate control.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum Algorithm {
    /// The rate with the highest goodput at the signal-to-noise ratio of the last response.
    Ideal,
    /// Linux's: statistics of what arrived at each rate, and a little sampling of others.
    MinstrelHt,
}

/// A rate that may be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Spatial streams: rates of as many form a group, ascending.
    pub streams: u8,
    /// How long the payload of a frame of [`AVERAGE_BYTES`] is on the air, of many in an A-MPDU where there
    /// are such.
    pub payload: Span,
    /// What comes on top once per exchange: preamble, SIFS and the response.
    pub overhead: Span,
}

impl Candidate {
    /// Frames of [`AVERAGE_BYTES`] a second, in A-MPDUs of so many on average, if none is lost.
    pub fn frames_a_second(&self, together: f64) -> f64 {
        1e9 / (self.overhead.ns() as f64 / together + self.payload.ns() as f64)
    }
}

/// Bytes of the frame by which rates are compared, as in Linux.
pub const AVERAGE_BYTES: u32 = 1200;

/// The rates that the stations of a network choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct RateTable {
    /// By streams, and ascending in a group.
    pub candidates: Vec<Candidate>,
    /// Slot time.
    pub slot: Span,
    /// First contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Tries of one rate of a chain at most: what is left of the MAC's retry limit is for the others.
    pub most_tries: u8,
    /// The best candidate at a signal-to-noise ratio: of [`RateTable::LEAST_SNR`] and on in steps of
    /// [`RateTable::SNR_STEP`], in dB.
    pub by_snr: Vec<u8>,
}

impl RateTable {
    /// The lowest signal-to-noise ratio of `by_snr`, in dB.
    pub const LEAST_SNR: f64 = -5.0;
    /// The step of `by_snr`, in dB.
    pub const SNR_STEP: f64 = 0.25;
    /// How many steps `by_snr` has.
    pub const SNR_STEPS: usize = 241;

    /// The signal-to-noise ratios of `by_snr`, in dB.
    pub fn snrs() -> impl Iterator<Item = f64> {
        (0..RateTable::SNR_STEPS).map(|step| RateTable::LEAST_SNR + RateTable::SNR_STEP * step as f64)
    }
}

/// What an exchange tries, in this order, without a response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    stages: [Stage; 3],
    /// It begins with a rate that is tried for the sake of statistics: in a frame of a single MPDU, as
    /// drivers of Linux do.
    pub is_sample: bool,
}

/// One rate of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Its place among the candidates of the table.
    pub rate: u8,
    /// How often it is tried. After the last stage a new chain begins.
    pub tries: u8,
    /// With RTS/CTS, whatever the threshold says.
    pub protected: bool,
}

impl Chain {
    /// One rate, however often.
    pub fn constant(rate: u8) -> Chain {
        Chain { stages: [Stage { rate, tries: u8::MAX, protected: false }; 3], is_sample: false }
    }

    /// What is tried after so many failures in a row.
    pub fn after(&self, failures: u32) -> Stage {
        let mut before = 0;
        for stage in &self.stages[..2] {
            before += u32::from(stage.tries);
            if failures < before {
                return *stage;
            }
        }
        self.stages[2]
    }

    /// How often it has something sent.
    pub fn tries(&self) -> u32 {
        self.stages.iter().map(|stage| u32::from(stage.tries)).sum()
    }

    /// All that it has.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }
}

/// What came of one transmission of DATA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempted {
    /// Its rate, by its place among the candidates.
    pub rate: u8,
    /// MPDUs that were sent.
    pub mpdus: u32,
    /// Those of them that were acknowledged.
    pub acknowledged: u32,
}

/// The rate control of one station for one neighbour.
#[derive(Clone, Debug)]
pub struct RateControl {
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Ideal(Ideal),
    MinstrelHt(Box<MinstrelHt>),
}

impl RateControl {
    /// It knows nothing yet: it begins at the lowest rate.
    pub fn new(algorithm: Algorithm, table: &RateTable, rng: Rng) -> RateControl {
        let state = match algorithm {
            Algorithm::Ideal => State::Ideal(Ideal::default()),
            Algorithm::MinstrelHt => State::MinstrelHt(Box::new(MinstrelHt::new(table, rng))),
        };
        RateControl { state }
    }

    /// The chain for a frame that is about to be sent for the first time.
    pub fn chain(&mut self, table: &RateTable, now: Time) -> Chain {
        match &mut self.state {
            State::Ideal(ideal) => ideal.chain(table),
            State::MinstrelHt(minstrel) => minstrel.chain(now),
        }
    }

    /// A transmission was answered, or was not.
    pub fn on_attempt(&mut self, table: &RateTable, attempted: Attempted, now: Time) {
        match &mut self.state {
            State::Ideal(_) => {}
            State::MinstrelHt(minstrel) => minstrel.on_attempt(table, attempted, now),
        }
    }

    /// What it expects the link to carry, in bit/s; `together` are the frames of an A-MPDU, where it does not
    /// know them itself.
    pub fn expected_throughput(&self, table: &RateTable, together: f64) -> f64 {
        let frames = match &self.state {
            State::Ideal(ideal) => table.candidates[usize::from(ideal.rate(table))].frames_a_second(together),
            State::MinstrelHt(minstrel) => minstrel.expected(table),
        };
        frames * 8.0 * f64::from(AVERAGE_BYTES)
    }

    /// A frame of the neighbour came with this signal-to-noise ratio, in dB.
    pub fn on_heard(&mut self, snr: f64) {
        match &mut self.state {
            State::Ideal(ideal) => ideal.on_heard(snr),
            State::MinstrelHt(_) => {}
        }
    }
}
