//! At which rate a station sends DATA to a neighbour, where it may choose.
//!
//! The rate is chosen anew when an access was won. Failures in a row go down the chain of the control; a new
//! chain begins when something was acknowledged, or given up. Responses follow from the rate of what they
//! answer.

use super::timing::errors_at;
use super::{Context, FramePayload, Mac, Timing};
use crate::config::Config;
use crate::medium::{Collisions, RateClass, RateErrors, RateSet};
use multihop_core::{NodeId, Rng, Span, Time};
use multihop_dot11::{DataRate, Mcs, Modulation};
use multihop_link::{AVERAGE_BYTES, Algorithm, Attempted, Candidate, Chain, RateControl, RateTable, Stage};

/// What all stations of a run choose from.
#[derive(Clone, Debug)]
pub struct RateChoices {
    algorithm: Algorithm,
    table: RateTable,
    /// By candidate.
    sets: Vec<RateSet>,
    /// Failures in a row after which a frame has been given up.
    most_failures: u32,
    /// In units of received power.
    noise: f64,
}

/// What a station keeps about rates.
#[derive(Clone, Debug)]
pub(super) struct StationRates {
    seed: u64,
    neighbours: Vec<NeighbourRates>,
}

/// What it keeps about those to one neighbour.
#[derive(Clone, Debug)]
struct NeighbourRates {
    peer: NodeId,
    control: RateControl,
    chain: Chain,
    /// Since the chain began.
    failures: u32,
}

/// What the choice of a rate asks of the frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateDemands {
    /// RTS/CTS in front of it.
    pub(super) rts: bool,
    /// A single MPDU.
    pub(super) single: bool,
}

/// Packets of an A-MPDU by which rates are compared, as in Linux.
const TOGETHER: u32 = 16;

/// The rates that stations of a configuration choose from, by streams and ascending; none where rates are
/// fixed.
pub fn candidates(config: &Config) -> Vec<DataRate> {
    let Some(control) = config.rate_control else { return Vec::new() };
    let phy = &config.phy;
    let schemes: Vec<DataRate> =
        phy.schemes().filter(|mcs: &Mcs| mcs.streams <= control.streams).map(DataRate::Mcs).collect();
    if !schemes.is_empty() {
        return schemes;
    }
    // Without stations of 802.11b, 802.11g has no use for their rates.
    let lowest = phy.modulation(phy.basic_rates()[0]);
    let only_ofdm = lowest.is_some_and(Modulation::is_ofdm);
    phy.rates()
        .filter(|(_, modulation)| modulation.is_ofdm() || !only_ofdm)
        .map(|(rate, _)| DataRate::Bits(rate))
        .collect()
}

impl RateChoices {
    /// Of a configuration whose rates have these sets.
    pub(super) fn new(config: &Config, timing: &Timing, sets: Vec<RateSet>) -> Option<RateChoices> {
        let algorithm = config.rate_control?.algorithm;
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
            Collisions::Pairwise { .. } => 1.0, // never asked for: scenarios refuse what would
        };
        let by_snr =
            RateTable::snrs().map(|snr| best_at(&errors, &table, aggregates, [snr, noise])).collect();
        let table = RateTable { by_snr, ..table };
        Some(RateChoices { algorithm, table, sets, most_failures: timing.short_retry_limit, noise })
    }

    /// Of each candidate.
    pub(super) fn sets(&self) -> &[RateSet] {
        &self.sets
    }
}

/// What a frame costs at a set of rates, of so many streams.
fn candidate(timing: &Timing, set: RateSet, streams: u8) -> Candidate {
    // Packets of an A-MPDU share their symbols: a packet alone has a whole last one, by which fast rates would look alike.
    let packets = if timing.aggregation.is_some() { TOGETHER } else { 1 };
    let link = timing.on(set);
    let preamble = link.overhead(RateClass::Data);
    let answer = if timing.aggregation.is_some() { link.block_ack } else { link.ack };
    Candidate {
        streams,
        payload: (link.airtime(RateClass::Data, packets * AVERAGE_BYTES) - preamble) / u64::from(packets),
        overhead: preamble + timing.sifs + answer,
    }
}

/// The candidate of the highest goodput at a signal-to-noise ratio in dB, of frames of [`AVERAGE_BYTES`]; in
/// A-MPDUs they are taken to be so many that their overhead does not count.
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
    /// What is tried now.
    fn stage(&mut self, choices: &RateChoices, now: Time) -> Stage {
        if self.failures == 0 {
            self.chain = self.control.chain(&choices.table, now);
        }
        self.chain.after(self.failures)
    }

    /// The rate that was tried last.
    fn tried(&self) -> u8 {
        self.chain.after(self.failures).rate
    }
}

impl Mac {
    /// The station chooses rates from now on. `seed` is that of the run.
    pub fn control_rates(&mut self, seed: u64) {
        self.station.rates = Some(Box::new(StationRates { seed, neighbours: Vec::new() }));
    }

    /// The access was won: the rate of what the station has to send, if it is DATA to a neighbour.
    #[inline]
    pub(super) fn choose_rate(&mut self, ctx: &Context) -> RateDemands {
        if self.station.rates.is_none() { RateDemands::default() } else { self.choose_among(ctx) }
    }

    fn choose_among(&mut self, ctx: &Context) -> RateDemands {
        let rates = self.station.rates.as_mut().expect("the caller has seen them");
        let choices = ctx.timing.rate_control.as_ref().expect("stations choose rates");
        let out = self.station.function.current.as_mut().expect("access is used only with a frame to send");
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

    /// What came of a try of the present packet: of its DATA, or of its RTS alone.
    #[inline]
    pub(super) fn report_attempt(&mut self, ctx: &Context, sent: u32, acknowledged: u32) {
        if self.station.rates.is_some()
            && let Some(peer) = self.station.function.current.as_ref().and_then(|out| out.peer)
        {
            self.report_attempt_to(ctx, peer, sent, acknowledged);
        }
    }

    /// The same of MPDUs to a neighbour.
    pub(super) fn report_attempt_to(&mut self, ctx: &Context, peer: NodeId, sent: u32, acknowledged: u32) {
        let rates = self.station.rates.as_mut().expect("the caller has seen them");
        let choices = ctx.timing.rate_control.as_ref().expect("stations choose rates");
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

    /// The rates of the last DATA to a neighbour, if those are chosen, or else of the link.
    pub(super) fn last_rates(&self, timing: &Timing, peer: NodeId) -> RateSet {
        let chosen = self.station.rates.as_ref().zip(timing.rate_control.as_ref());
        let tried = chosen.and_then(|(rates, choices)| {
            let known = rates.neighbours.iter().find(|neighbour| neighbour.peer == peer)?;
            Some(choices.sets[usize::from(known.tried())])
        });
        tried.unwrap_or_else(|| timing.between(self.id, peer))
    }

    /// What the link to a neighbour is expected to carry, in bit/s; where rates are fixed, without losses.
    pub(super) fn expected_throughput(&self, timing: &Timing, peer: NodeId) -> f64 {
        let together = if timing.aggregation.is_some() { f64::from(TOGETHER) } else { 1.0 };
        let chosen = self.station.rates.as_ref().zip(timing.rate_control.as_ref());
        let known = chosen.and_then(|(rates, choices)| {
            let known = rates.neighbours.iter().find(|neighbour| neighbour.peer == peer)?;
            Some(known.control.expected_throughput(&choices.table, together))
        });
        known.unwrap_or_else(|| {
            let candidate = candidate(timing, timing.between(self.id, peer), 1);
            8.0 * f64::from(AVERAGE_BYTES) * candidate.frames_a_second(together)
        })
    }

    /// A frame for this station came from a neighbour.
    #[inline]
    pub(super) fn sample_snr(&mut self, ctx: &Context, from: NodeId) {
        if let Some(rates) = &mut self.station.rates {
            let choices = ctx.timing.rate_control.as_ref().expect("stations choose rates");
            let snr = 10.0 * (ctx.radio.ended_power() / choices.noise).log10();
            rates.neighbour(self.id, from, choices).control.on_heard(snr);
        }
    }
}
