//! Rate control: the rate at which a station sends DATA to a neighbour.
//!
//! A [`RateTable`] is common to all stations of a network: the candidate rates, and the cost of a frame at
//! each. A [`RateControl`] is a station's state for one neighbour. The MAC requests a [`Chain`] when it
//! starts to send a frame, moves along the chain while no response arrives, and reports each [`Attempted`].

mod ideal;
mod minstrel_ht;

#[cfg(test)]
mod tests;

use ideal::Ideal;
use minstrel_ht::MinstrelHt;
use multihop_core::{Rng, Span, Time};
use serde::Serialize;

/// Rate control algorithm.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum Algorithm {
    /// Rate with the highest goodput at the signal-to-noise ratio of the last response.
    Ideal,
    /// Linux's algorithm: statistics of arrivals at each rate, and occasional samples of other rates.
    MinstrelHt,
}

/// Candidate rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Number of spatial streams. Rates with the same number form a group, ascending.
    pub streams: u8,
    /// Airtime of the payload of a frame of [`AVERAGE_BYTES`], as one of many in an A-MPDU if aggregation is
    /// on.
    pub payload: Span,
    /// Airtime that an exchange adds once: preamble, SIFS and response.
    pub overhead: Span,
}

impl Candidate {
    /// Frames of [`AVERAGE_BYTES`] per second without losses, in A-MPDUs of `together` frames on average.
    pub fn frames_a_second(&self, together: f64) -> f64 {
        1e9 / (self.overhead.ns() as f64 / together + self.payload.ns() as f64)
    }
}

/// Length in bytes of the frame by which rates are compared, as in Linux.
pub const AVERAGE_BYTES: u32 = 1200;

/// Candidate rates of the stations of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct RateTable {
    /// Candidates, sorted by streams, and ascending within a group.
    pub candidates: Vec<Candidate>,
    /// Slot time.
    pub slot: Span,
    /// Minimum contention window, in slots.
    pub cw_min: u32,
    /// Maximum contention window, in slots.
    pub cw_max: u32,
    /// Largest number of attempts at one rate of a chain, so that the MAC's retry limit leaves some for the
    /// others.
    pub most_tries: u8,
    /// Index of the best candidate at each signal-to-noise ratio, from [`RateTable::LEAST_SNR`] on in steps
    /// of [`RateTable::SNR_STEP`], in dB.
    pub by_snr: Vec<u8>,
}

impl RateTable {
    /// Lowest signal-to-noise ratio of `by_snr`, in dB.
    pub const LEAST_SNR: f64 = -5.0;
    /// Step of `by_snr`, in dB.
    pub const SNR_STEP: f64 = 0.25;
    /// Number of steps of `by_snr`.
    pub const SNR_STEPS: usize = 241;

    /// Signal-to-noise ratios of `by_snr`, in dB.
    pub fn snrs() -> impl Iterator<Item = f64> {
        (0..RateTable::SNR_STEPS).map(|step| RateTable::LEAST_SNR + RateTable::SNR_STEP * step as f64)
    }
}

/// Sequence of rates that an exchange tries while no response arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    stages: [Stage; 3],
    /// Whether the chain begins with a sample for the statistics, in a frame of a single MPDU as in Linux's
    /// drivers.
    pub is_sample: bool,
}

/// Stage of a chain: attempts at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Index of the rate among the candidates of the table.
    pub rate: u8,
    /// Number of attempts. After the last stage a new chain begins.
    pub tries: u8,
    /// Whether the attempts use RTS/CTS regardless of the threshold.
    pub protected: bool,
}

impl Chain {
    /// Chain of one rate without end.
    pub fn constant(rate: u8) -> Chain {
        Chain { stages: [Stage { rate, tries: u8::MAX, protected: false }; 3], is_sample: false }
    }

    /// Stage after this number of consecutive failures.
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

    /// Number of attempts of the whole chain.
    pub fn tries(&self) -> u32 {
        self.stages.iter().map(|stage| u32::from(stage.tries)).sum()
    }

    /// Stages of the chain.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }
}

/// Result of one transmission of DATA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempted {
    /// Index of the rate among the candidates.
    pub rate: u8,
    /// Number of MPDUs sent.
    pub mpdus: u32,
    /// Number of MPDUs acknowledged.
    pub acknowledged: u32,
}

/// Rate control of one station for one neighbour.
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
    /// Creates the state without statistics, at the lowest rate.
    pub fn new(algorithm: Algorithm, table: &RateTable, rng: Rng) -> RateControl {
        let state = match algorithm {
            Algorithm::Ideal => State::Ideal(Ideal::default()),
            Algorithm::MinstrelHt => State::MinstrelHt(Box::new(MinstrelHt::new(table, rng))),
        };
        RateControl { state }
    }

    /// Chain for a frame that is about to be sent for the first time.
    pub fn chain(&mut self, table: &RateTable, now: Time) -> Chain {
        match &mut self.state {
            State::Ideal(ideal) => ideal.chain(table),
            State::MinstrelHt(minstrel) => minstrel.chain(now),
        }
    }

    /// Processes the result of a transmission.
    pub fn on_attempt(&mut self, table: &RateTable, attempted: Attempted, now: Time) {
        match &mut self.state {
            State::Ideal(_) => {}
            State::MinstrelHt(minstrel) => minstrel.on_attempt(table, attempted, now),
        }
    }

    /// Expected throughput of the link, in bit/s; `together` is the number of frames per A-MPDU, for
    /// algorithms that do not measure it.
    pub fn expected_throughput(&self, table: &RateTable, together: f64) -> f64 {
        let frames = match &self.state {
            State::Ideal(ideal) => table.candidates[usize::from(ideal.rate(table))].frames_a_second(together),
            State::MinstrelHt(minstrel) => minstrel.expected(table),
        };
        frames * 8.0 * f64::from(AVERAGE_BYTES)
    }

    /// Processes a frame of the neighbour received with this signal-to-noise ratio, in dB.
    pub fn on_heard(&mut self, snr: f64) {
        match &mut self.state {
            State::Ideal(ideal) => ideal.on_heard(snr),
            State::MinstrelHt(_) => {}
        }
    }
}
