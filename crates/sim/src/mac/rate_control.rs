//! Rate control: choice of the rate at which a station sends DATA to a neighbour.
//!
//! The station chooses a rate each time it wins the medium. Each consecutive failure moves on to the next
//! stage of the retry chain. A new chain begins after an acknowledgement, or when a frame is given up. The
//! rate of a response follows from the rate of the frame that it answers.

use super::timing::errors_at;
use super::{Context, FramePayload, Mac, Timing};
use crate::config::Config;
use crate::medium::{Collisions, RateClass, RateErrors, RateSet};
use multihop_core::{NodeId, Rng, Span, Time};
use multihop_dot11::{DataRate, Mcs, Modulation};
use multihop_link::{AVERAGE_BYTES, Algorithm, Attempted, Candidate, Chain, RateControl, RateTable, Stage};

/// Rates from which all stations of a run choose.
#[derive(Clone, Debug)]
pub struct RateChoices {
    algorithm: Algorithm,
    table: RateTable,
    /// Rate sets, one per candidate.
    sets: Vec<RateSet>,
    /// Consecutive failures after which a frame is given up.
    most_failures: u32,
    /// Noise power, in the unit of received power.
    noise: f64,
}

/// Rate control of a station.
#[derive(Clone, Debug)]
pub(super) struct StationRates {
    seed: u64,
    neighbours: Vec<NeighbourRates>,
}

/// Rate control of the link to one neighbour.
#[derive(Clone, Debug)]
struct NeighbourRates {
    peer: NodeId,
    control: RateControl,
    chain: Chain,
    /// Consecutive failures since the chain began.
    failures: u32,
}

/// Demands of the chosen rate on the frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateDemands {
    /// Whether RTS and CTS precede the frame.
    pub(super) rts: bool,
    /// Whether the frame is limited to a single MPDU.
    pub(super) single: bool,
}

/// Packets in the A-MPDU with which rates are compared, as in Linux.
const COMPARED_PACKETS: u32 = 16;

/// Rates from which stations of a configuration choose, by streams and in ascending order. Empty if rates are
/// fixed.
pub fn candidates(config: &Config) -> Vec<DataRate> {
    let Some(control) = config.mac.rate_control else { return Vec::new() };
    let phy = &config.phy;
    let schemes: Vec<DataRate> =
        phy.schemes().filter(|mcs: &Mcs| mcs.streams <= control.streams).map(DataRate::Mcs).collect();
    if !schemes.is_empty() {
        return schemes;
    }
    // Without 802.11b stations in the network, 802.11g does not use the 802.11b rates.
    let lowest = phy.modulation(phy.basic_rates()[0]);
    let only_ofdm = lowest.is_some_and(Modulation::is_ofdm);
    phy.rates()
        .filter(|(_, modulation)| modulation.is_ofdm() || !only_ofdm)
        .map(|(rate, _)| DataRate::Bits(rate))
        .collect()
}

impl RateChoices {
    /// Choices of a configuration; `sets` are the rate sets of the candidates.
    pub(super) fn new(config: &Config, timing: &Timing, sets: Vec<RateSet>) -> Option<RateChoices> {
        let algorithm = config.mac.rate_control?.algorithm;
        let candidate = |(rate, set): (DataRate, &RateSet)| {
            candidate(timing, *set, if let DataRate::Mcs(mcs) = rate { mcs.streams } else { 1 })
        };
        let rates = candidates(config);
        let table = RateTable {
            candidates: rates.iter().copied().zip(&sets).map(candidate).collect(),
            slot: timing.slot,
            cw_min: timing.best_effort().cw_min,
            cw_max: timing.best_effort().cw_max,
            most_tries: u8::try_from(timing.short_retry_limit / 3).unwrap_or(u8::MAX).max(1),
            by_snr: Vec::new(),
        };
        let errors: Vec<RateErrors> = rates.iter().map(|rate| errors_at(config, *rate)).collect();
        let aggregates = timing.aggregation.is_some();
        let noise = match &timing.collisions {
            Collisions::Sinr { noise, .. } => *noise as f64,
            Collisions::Pairwise { .. } => 1.0, // unused: scenarios refuse rate control by SNR on this medium
        };
        let by_snr =
            RateTable::snrs().map(|snr| best_at(&errors, &table, aggregates, [snr, noise])).collect();
        let table = RateTable { by_snr, ..table };
        Some(RateChoices { algorithm, table, sets, most_failures: timing.short_retry_limit, noise })
    }

    /// Rate sets of the candidates.
    pub(super) fn sets(&self) -> &[RateSet] {
        &self.sets
    }
}

/// Airtimes of a frame at a rate with this number of streams.
fn candidate(timing: &Timing, set: RateSet, streams: u8) -> Candidate {
    // Packets of an A-MPDU share symbols. A lone packet fills up its last symbol, so that fast rates would
    // look alike.
    let packets = if timing.aggregation.is_some() { COMPARED_PACKETS } else { 1 };
    let link = timing.on(set);
    let preamble = link.overhead(RateClass::Data);
    let answer = if timing.aggregation.is_some() { link.block_ack } else { link.ack };
    Candidate {
        streams,
        payload: (link.airtime(RateClass::Data, packets * AVERAGE_BYTES) - preamble) / u64::from(packets),
        overhead: preamble + timing.sifs + answer,
    }
}

/// Candidate with the highest goodput at a signal-to-noise ratio in dB, for frames of [`AVERAGE_BYTES`]. With
/// aggregation, the overhead of a frame is neglected.
fn best_at(errors: &[RateErrors], table: &RateTable, aggregates: bool, [snr, noise]: [f64; 2]) -> u8 {
    let ratio = 10f64.powf(snr / 10.0);
    let bits = 8.0 * f64::from(AVERAGE_BYTES);
    let goodput = |place: usize| {
        let Candidate { payload, overhead, .. } = table.candidates[place];
        let around = if aggregates { Span::ZERO } else { overhead };
        if ratio * noise < errors[place].least {
            return 0.0;
        }
        (errors[place].table.bit_success_ln(ratio) * bits).exp() / (payload + around).seconds()
    };
    let goodputs: Vec<f64> = (0..errors.len()).map(goodput).collect();
    (1..goodputs.len()).fold(0, |best, place| if goodputs[place] > goodputs[best] { place } else { best })
        as u8
}

impl StationRates {
    fn neighbour(&mut self, node: NodeId, peer: NodeId, choices: &RateChoices) -> &mut NeighbourRates {
        let known = self.neighbours.iter().position(|neighbour| neighbour.peer == peer);
        let place = known.unwrap_or_else(|| {
            let path = ["node", &node.0.to_string(), "rates", &peer.0.to_string()];
            let rng = Rng::at(self.seed, &path);
            let control = RateControl::new(choices.algorithm, &choices.table, rng);
            self.neighbours.push(NeighbourRates { peer, control, chain: Chain::constant(0), failures: 0 });
            self.neighbours.len() - 1
        });
        &mut self.neighbours[place]
    }
}

impl NeighbourRates {
    /// Stage of the retry chain for the next attempt.
    fn stage(&mut self, choices: &RateChoices, now: Time) -> Stage {
        if self.failures == 0 {
            self.chain = self.control.chain(&choices.table, now);
        }
        self.chain.after(self.failures)
    }

    /// Rate of the last attempt.
    fn tried(&self) -> u8 {
        self.chain.after(self.failures).rate
    }
}

impl Mac {
    /// Gives the station rate control. `seed` is the seed of the run.
    pub fn control_rates(&mut self, seed: u64) {
        self.station.rates = Some(Box::new(StationRates { seed, neighbours: Vec::new() }));
    }

    /// Chooses the rate of the outgoing frame if it is DATA to a neighbour.
    #[inline]
    pub(super) fn choose_rate(&mut self, ctx: &Context) -> RateDemands {
        if self.station.rates.is_none() { RateDemands::default() } else { self.choose_among(ctx) }
    }

    fn choose_among(&mut self, ctx: &Context) -> RateDemands {
        let rates =
            self.station.rates.as_mut().expect("the caller checked that the station has rate control");
        let choices = ctx.timing.rate_control.as_ref().expect("a run with rate control has choices");
        let out = self.station.function.current.as_mut().expect("the station has an outgoing frame");
        let Some(peer) = out.peer.filter(|_| !out.is_request()) else { return RateDemands::default() };
        let neighbour = rates.neighbour(self.id, peer, choices);
        let stage = neighbour.stage(choices, ctx.now);
        out.rates = choices.sets[usize::from(stage.rate)];
        if let FramePayload::Packet(_) = out.payload {
            out.airtime = ctx.timing.on(out.rates).airtime(RateClass::Data, out.bytes);
            out.with_rts = stage.protected || ctx.timing.needs_rts(out.bytes);
        }
        RateDemands { rts: stage.protected, single: neighbour.chain.is_sample }
    }

    /// Reports an attempt of the outgoing frame to rate control: MPDUs sent and acknowledged, or zero after
    /// an RTS without CTS.
    #[inline]
    pub(super) fn report_attempt(&mut self, ctx: &Context, sent: u32, acknowledged: u32) {
        if self.station.rates.is_some()
            && let Some(peer) = self.station.function.current.as_ref().and_then(|out| out.peer)
        {
            self.report_attempt_to(ctx, peer, sent, acknowledged);
        }
    }

    /// Reports an attempt with MPDUs to a neighbour to rate control.
    pub(super) fn report_attempt_to(&mut self, ctx: &Context, peer: NodeId, sent: u32, acknowledged: u32) {
        let rates =
            self.station.rates.as_mut().expect("the caller checked that the station has rate control");
        let choices = ctx.timing.rate_control.as_ref().expect("a run with rate control has choices");
        let neighbour = rates.neighbour(self.id, peer, choices);
        if sent > 0 {
            let attempted = Attempted { rate: neighbour.tried(), mpdus: sent, acknowledged };
            neighbour.control.on_attempt(&choices.table, attempted, ctx.now);
        }
        neighbour.failures = if acknowledged > 0 { 0 } else { neighbour.failures + 1 };
        if neighbour.failures >= choices.most_failures.min(neighbour.chain.tries()) {
            neighbour.failures = 0;
        }
    }

    /// Rates of the last DATA to a neighbour; without rate control, rates of the link.
    pub(super) fn last_rates(&self, timing: &Timing, peer: NodeId) -> RateSet {
        let chosen = self.station.rates.as_ref().zip(timing.rate_control.as_ref());
        let tried = chosen.and_then(|(rates, choices)| {
            let known = rates.neighbours.iter().find(|neighbour| neighbour.peer == peer)?;
            Some(choices.sets[usize::from(known.tried())])
        });
        tried.unwrap_or_else(|| timing.between(self.id, peer))
    }

    /// Expected throughput of the link to a neighbour, in bit/s. If rates are fixed, losses are neglected.
    pub(super) fn expected_throughput(&self, timing: &Timing, peer: NodeId) -> f64 {
        let packets = if timing.aggregation.is_some() { f64::from(COMPARED_PACKETS) } else { 1.0 };
        let chosen = self.station.rates.as_ref().zip(timing.rate_control.as_ref());
        let known = chosen.and_then(|(rates, choices)| {
            let known = rates.neighbours.iter().find(|neighbour| neighbour.peer == peer)?;
            Some(known.control.expected_throughput(&choices.table, packets))
        });
        known.unwrap_or_else(|| {
            let candidate = candidate(timing, timing.between(self.id, peer), 1);
            8.0 * f64::from(AVERAGE_BYTES) * candidate.frames_a_second(packets)
        })
    }

    /// Samples the signal-to-noise ratio of a frame from a neighbour.
    #[inline]
    pub(super) fn sample_snr(&mut self, ctx: &Context, from: NodeId) {
        if let Some(rates) = &mut self.station.rates {
            let choices = ctx.timing.rate_control.as_ref().expect("a run with rate control has choices");
            let snr = 10.0 * (ctx.radio.ended_power() / choices.noise).log10();
            rates.neighbour(self.id, from, choices).control.on_heard(snr);
        }
    }
}
