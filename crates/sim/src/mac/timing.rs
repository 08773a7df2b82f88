//! Rules, inter-frame spaces, airtimes and limits that every station of a run shares.

use super::access_parameters::AccessParameters;
use super::aggregation::{BLOCK_ACK_REQUEST_BYTES, block_ack_bytes};
use super::link_timing::{LinkTiming, equal_timeouts, largest};
use super::rate_control::{RateChoices, candidates};
use crate::config::{
    AggregationConfig, BlockAckConfig, Config, MPDU_RETRY_LIMIT, MatrixQuantity, MediumModel, Protection,
    REQUEST_LIMIT, RateConfig,
};
use crate::medium::{Collisions, Frame, FrameLoss, RateClass, RateErrors, RateSet, femtowatts};
use multihop_core::{FrameKind, Interval, NodeId, Span, Time};
use multihop_dot11::{
    ACK_BYTES, AccessCategory, BackoffDraw, CF_END_BYTES, CTS_BYTES, DataRate, DcfRules, RTS_BYTES,
    ResponseTimeout,
};
use multihop_link::{AggregateLimits, PhyTimes};

/// Rules, inter-frame spaces, airtimes and limits of a run.
#[derive(Clone, Debug)]
pub struct Timing {
    /// The rule set.
    pub rules: DcfRules,
    /// Slot time.
    pub slot: Span,
    /// Short inter-frame space.
    pub sifs: Span,
    /// Distributed inter-frame space.
    pub difs: Span,
    /// Extended inter-frame space.
    pub eifs: Span,
    /// Propagation delay between any two nodes; zero if the delay depends on distance.
    pub propagation: Span,
    /// Parameters of each access category; all equal under the DCF.
    access: [AccessParameters; AccessCategory::COUNT],
    /// Whether a slot counts if the medium turns busy at its start.
    pub busy_period_counts_as_slot: bool,
    /// Whether the traffic identifier of a frame is derived from the packet's DSCP. Otherwise the identifier
    /// is 0.
    pub differentiates: bool,
    /// Protection of a TXOP by duration fields.
    pub protection: Protection,
    /// Attempts before a frame without RTS, or an RTS, is given up (`dot11ShortRetryLimit`).
    pub short_retry_limit: u32,
    /// Attempts before an MPDU in an A-MPDU is given up.
    pub mpdu_retry_limit: u32,
    /// Consecutive block acknowledgement requests without a response before the sent MPDUs are given up.
    pub request_limit: u32,
    /// Time for which a receiver waits for a missing MPDU before it passes on the later ones; none for no
    /// limit.
    pub reordering_timeout: Option<Span>,
    /// Attempts before DATA after an RTS is given up (`dot11LongRetryLimit`).
    pub long_retry_limit: u32,
    /// Rates and times of broadcasts, and of links without a rate of their own.
    pub nominal: LinkTiming,
    /// Rates and times of links with other rates; the first has [`RateSet`] 1.
    others: Vec<LinkTiming>,
    /// Rates of the link to the base station, by node. Empty if all links have the same.
    set_of: Vec<RateSet>,
    /// Sorted pairs of nodes whose link has rates of its own, the lower node first.
    set_between: Vec<([NodeId; 2], RateSet)>,
    /// Additional loss of DATA frames.
    pub frame_loss: FrameLoss,
    /// Effect of overlapping signals on each other.
    pub collisions: Collisions,
    /// Total received power from which CCA reports busy, in femtowatts; 1 on media without powers.
    pub busy_from: u64,
    /// Limits on aggregation, if stations aggregate.
    pub aggregation: Option<AggregationConfig>,
    /// Rates from which stations choose, if they have rate control.
    pub rate_control: Option<RateChoices>,
    rts_threshold: Option<u32>,
    /// Bytes of LLC header, MAC header and FCS of a DATA frame.
    data_header: u32,
}

impl Timing {
    /// Timing of a configuration.
    pub fn new(config: &Config) -> Timing {
        let Config { phy, mac, medium, .. } = config;
        let (rules, BlockAckConfig { aggregation, persistence, .. }) = (mac.rules, mac.block_ack);
        let LinkRates { rates: others, set_of, set_between, controlled } = LinkRates::new(config);
        let mut others: Vec<LinkTiming> =
            others.into_iter().map(|rate| LinkTiming::new(config, rate)).collect();
        let mut nominal = LinkTiming::new(config, config.rates.data);
        let mut eifs = phy.eifs();
        if rules.response_timeout == ResponseTimeout::Eifs {
            eifs = equal_timeouts(config, std::iter::once(&mut nominal).chain(&mut others));
        }
        let collisions = collisions(config, std::iter::once(&nominal).chain(&others));
        let busy_from = match &collisions {
            Collisions::Pairwise { .. } => 1,
            Collisions::Sinr { .. } => femtowatts(medium.carrier_sense_mw()).max(1),
        };
        let tries = mac.rate_control.and_then(|control| control.tries);
        let limit = |own: Option<u32>| tries.or(own).unwrap_or(u32::MAX);
        let mpdu_retry_limit =
            persistence.retry_limit.or(tries).unwrap_or(limit(mac.short_retry_limit).max(MPDU_RETRY_LIMIT));
        let request_limit = if mpdu_retry_limit == u32::MAX { u32::MAX } else { REQUEST_LIMIT };
        let mut timing = Timing {
            rules,
            slot: phy.slot,
            sifs: phy.sifs,
            difs: phy.difs(),
            eifs,
            propagation: medium.propagation_delay,
            access: AccessParameters::by_category(config),
            busy_period_counts_as_slot: rules.busy_period_counts_as_slot || mac.edca.is_some(),
            differentiates: mac.edca.is_some(),
            protection: mac.protection,
            short_retry_limit: limit(mac.short_retry_limit),
            mpdu_retry_limit,
            request_limit: persistence.request_limit.unwrap_or(request_limit),
            reordering_timeout: aggregation
                .filter(|_| !persistence.reorders_without_end)
                .map(|limits| limits.reordering_timeout),
            long_retry_limit: limit(mac.long_retry_limit),
            nominal,
            others,
            set_of,
            set_between,
            frame_loss: FrameLoss::new(medium, config.topology.nodes.len()),
            collisions,
            busy_from,
            aggregation,
            rate_control: None,
            rts_threshold: mac.rts_threshold,
            data_header: rules.llc_header + rules.data_header,
        };
        timing.rate_control = RateChoices::new(config, &timing, controlled);
        timing
    }

    /// Parameters of an access category.
    #[inline]
    pub fn access(&self, category: AccessCategory) -> &AccessParameters {
        &self.access[category as usize]
    }

    /// Parameters of best effort, and of the DCF.
    pub fn best_effort(&self) -> &AccessParameters {
        self.access(AccessCategory::BestEffort)
    }

    /// Sets the first contention window of all categories.
    #[cfg(test)]
    pub fn set_cw_min(&mut self, cw_min: u32) {
        self.access.iter_mut().for_each(|access| access.cw_min = cw_min);
    }

    /// Rates of unicast frames between two nodes.
    #[inline]
    pub fn between(&self, one: NodeId, other: NodeId) -> RateSet {
        if self.set_between.is_empty() && self.set_of.is_empty() {
            return RateSet::NOMINAL;
        }
        self.own_between(one, other)
    }

    /// All rates that unicast frames between two nodes can have: the candidates of rate control, or one.
    pub fn rates_between(&self, one: NodeId, other: NodeId) -> Vec<RateSet> {
        match &self.rate_control {
            Some(choices) => choices.sets().to_vec(),
            None => vec![self.between(one, other)],
        }
    }

    #[inline(never)]
    fn own_between(&self, one: NodeId, other: NodeId) -> RateSet {
        if !self.set_between.is_empty() {
            let pair = [one.min(other), one.max(other)];
            if let Ok(at) = self.set_between.binary_search_by_key(&pair, |(pair, _)| *pair) {
                return self.set_between[at].1;
            }
        }
        if self.set_of.is_empty() {
            return RateSet::NOMINAL;
        }
        // A station with a rate of its own exchanges frames only with its base station, which has none.
        let of = |node: NodeId| self.set_of[node.index()];
        if of(one) == RateSet::NOMINAL { of(other) } else { of(one) }
    }

    /// Rates and times of a rate set.
    #[inline]
    pub fn on(&self, set: RateSet) -> &LinkTiming {
        match set.0 {
            0 => &self.nominal,
            other => &self.others[usize::from(other) - 1],
        }
    }

    /// All rates of the run, by [`RateSet::index`].
    pub fn rates(&self) -> impl Iterator<Item = DataRate> {
        std::iter::once(&self.nominal).chain(&self.others).flat_map(LinkTiming::data_rates)
    }

    /// MAC bytes of a DATA frame that carries `size` network-layer bytes.
    pub fn data_bytes(&self, size: u32) -> u32 {
        size + self.data_header
    }

    /// Least number of slots that last this long.
    pub fn slots_of(&self, length: Span) -> u32 {
        u32::try_from(length.ns().div_ceil(self.slot.ns())).unwrap_or(u32::MAX)
    }

    /// Whether a DATA frame of this many MAC bytes needs RTS and CTS.
    pub fn needs_rts(&self, bytes: u32) -> bool {
        self.rts_threshold
            .is_some_and(|limit| bytes > limit || (self.rules.rts_at_threshold && bytes == limit))
    }

    /// Whether MPDUs in an A-MPDU have no retry limit, so that only their lifetime ends them.
    pub fn tries_without_end(&self) -> bool {
        self.mpdu_retry_limit == u32::MAX
    }

    /// Retry limit of a frame of this many bytes: `dot11LongRetryLimit` after RTS and CTS, else
    /// `dot11ShortRetryLimit` (802.11-2016, 10.3.4.4).
    pub fn retry_limit_of(&self, bytes: u32) -> u32 {
        if self.needs_rts(bytes) { self.long_retry_limit } else { self.short_retry_limit }
    }

    /// Least network-layer size of packets whose DATA frames need RTS and CTS; none if no frame does.
    pub fn rts_from(&self) -> Option<u32> {
        let least = self.rts_threshold? + u32::from(!self.rules.rts_at_threshold);
        Some(least.saturating_sub(self.data_bytes(0)))
    }

    /// Limits on A-MPDUs at the nominal rate; none if MPDUs are sent alone.
    pub fn aggregate_limits(&self) -> Option<AggregateLimits> {
        let limits = self.aggregation.filter(|_| !self.nominal.single_mpdu)?;
        Some(AggregateLimits {
            mpdus: limits.mpdus.min(limits.window),
            bytes: limits.a_mpdu,
            max_duration: limits.max_duration,
            rts: limits.rts,
            block_ack: self.nominal.block_ack,
        })
    }

    /// Airtime of a successful exchange, from the first to the last bit.
    pub fn exchange(&self, set: RateSet, data: Span, with_rts: bool) -> Span {
        self.exchange_with(set, data, self.on(set).ack, with_rts)
    }

    /// Airtime of a successful exchange with a response of this airtime. Without RTS, a CTS-to-self may
    /// precede the DATA.
    pub fn exchange_with(&self, set: RateSet, data: Span, response: Span, with_rts: bool) -> Span {
        let link = self.on(set);
        let handshake =
            if with_rts { link.rts + link.cts + self.sifs * 2 } else { link.protection(RateClass::Data) };
        handshake + data + self.sifs + response
    }

    /// Mean wait before an exchange of a category without contention: inter-frame space and a back-off from
    /// the first window (9.3.4.2).
    pub fn mean_access(&self, category: AccessCategory) -> Span {
        let access = self.access(category);
        access.aifs + self.mean_backoff(access.cw_min)
    }

    /// Number of exchanges in a TXOP of a category. `exchange` is the airtime of an exchange without
    /// propagation, `frames` its number of frames.
    pub fn exchanges_at_once(&self, category: AccessCategory, exchange: Span, frames: u64) -> u64 {
        let rest = self.access(category).txop_limit.saturating_sub(exchange);
        1 + rest.whole(exchange + self.propagation * frames + self.sifs)
    }

    /// Bytes of the longest PSDU whose exchange ends within this time: with acknowledgement, and with RTS and
    /// CTS if these can precede it.
    pub fn longest_psdu_within(&self, set: RateSet, limits: &AggregationConfig, time: Span) -> u32 {
        let link = self.on(set);
        let with_rts = limits.rts || self.needs_rts(u32::MAX);
        let room = time.saturating_sub(self.exchange_with(set, Span::ZERO, link.block_ack, with_rts));
        largest(link.longest_psdu, |bytes| link.psdu_airtime(bytes) <= room)
    }

    /// Mean back-off from a contention window.
    pub fn mean_backoff(&self, cw: u32) -> Span {
        let most = match self.rules.backoff_draw {
            BackoffDraw::Inclusive => cw,
            BackoffDraw::Exclusive => cw.max(1) - 1,
        };
        self.slot * u64::from(most) / 2
    }

    /// Airtime of the shortest possible DATA frame.
    pub fn shortest_data(&self) -> Span {
        self.least(|link| {
            let airtime = |class| link.airtime(class, self.data_bytes(0));
            airtime(RateClass::Data).min(airtime(RateClass::Control))
        })
    }

    /// Duration of the shortest preamble and PLCP header of a DATA frame.
    pub fn shortest_preamble(&self) -> Span {
        self.least(|link| link.overhead(RateClass::Data).min(link.overhead(RateClass::Control)))
    }

    /// Airtime of the shortest possible CTS or ACK.
    pub fn shortest_answer(&self) -> Span {
        self.least(|link| link.ack.min(link.cts))
    }

    /// Least value of `of` over all rates of links.
    fn least(&self, of: impl Fn(&LinkTiming) -> Span) -> Span {
        self.others.iter().map(&of).fold(of(&self.nominal), Span::min)
    }

    /// Least time after the last bit of a frame before its sender begins another frame or releases the
    /// packet.
    pub fn least_pause(&self) -> Span {
        let least = |link: &LinkTiming| {
            let data = link.airtime(RateClass::Data, self.data_bytes(0));
            [link.cts_timeout, link.ack_timeout, link.rts, link.cts, link.ack, data].into_iter().min()
        };
        let frames = std::iter::once(&self.nominal).chain(&self.others).filter_map(least);
        let spaces = self.access.iter().map(|access| {
            if access.txop_limit > Span::ZERO { self.sifs } else { access.aifs.min(self.difs) }
        });
        let protects = std::iter::once(&self.nominal).chain(&self.others).any(LinkTiming::protects);
        let least = frames.chain(spaces).fold(self.difs, Span::min);
        if protects { least.min(self.sifs) } else { least }
    }

    /// Times that estimators use: of the nominal rates and of best effort.
    pub fn phy_times(&self) -> PhyTimes {
        let (link, access) = (&self.nominal, self.best_effort());
        PhyTimes {
            slot: self.slot,
            sifs: self.sifs,
            difs: access.aifs,
            backoff: self.mean_backoff(access.cw_min),
            cw_min: access.cw_min,
            cw_max: access.cw_max,
            rts: link.rts,
            cts: link.cts,
            ack: link.ack,
            data_rate: link.rate(RateClass::Data),
            data_overhead: link.overhead(RateClass::Data),
            data_header: self.data_bytes(0),
        }
    }

    /// Airtime of a CF-End.
    pub fn cf_end(&self) -> Span {
        self.nominal.airtime(RateClass::CfEnd, CF_END_BYTES)
    }

    /// A control frame that starts now. `between` is its sender and its receiver; for a CF-End and a
    /// CTS-to-self the sender twice. `rates` are the rates of the frame that it precedes or answers.
    pub fn control_frame(
        &self,
        kind: FrameKind,
        between: [NodeId; 2],
        rates: RateSet,
        sequence: u32,
        duration: Span,
        now: Time,
    ) -> Frame {
        let [from, to] = between;
        let link = self.on(rates);
        let (rate, bytes, airtime) = match kind {
            FrameKind::Rts => (RateClass::Control, RTS_BYTES, link.rts),
            FrameKind::Cts if from == to => {
                (RateClass::Control, CTS_BYTES, link.airtime(RateClass::Control, CTS_BYTES))
            }
            FrameKind::Cts => (RateClass::Cts, CTS_BYTES, link.cts),
            FrameKind::Ack => (RateClass::Ack, ACK_BYTES, link.ack),
            FrameKind::BlockAckRequest => {
                let class = RateClass::Control;
                (class, BLOCK_ACK_REQUEST_BYTES, link.airtime(class, BLOCK_ACK_REQUEST_BYTES))
            }
            FrameKind::BlockAck => {
                (RateClass::Ack, block_ack_bytes(self.aggregation.as_ref()), link.block_ack)
            }
            FrameKind::CfEnd => (RateClass::CfEnd, CF_END_BYTES, self.cf_end()),
            FrameKind::Data => unreachable!("DATA is not a control frame"),
        };
        let start = now + self.propagation;
        Frame {
            kind,
            from,
            to: (kind != FrameKind::CfEnd).then_some(to),
            duration,
            bytes,
            rate,
            rates,
            packet: None,
            sequence,
            report: None,
            load: None,
            retry: false,
            overhead: link.overhead(rate),
            air: Interval { start, end: start + airtime },
        }
    }
}

/// DATA rates of links that have one of their own.
struct LinkRates {
    /// The rates, each once.
    rates: Vec<DataRate>,
    /// Rate set of each node; empty if no node has a rate of its own.
    set_of: Vec<RateSet>,
    /// Rate sets of pairs of nodes, sorted.
    set_between: Vec<([NodeId; 2], RateSet)>,
    /// Rate sets from which stations choose.
    controlled: Vec<RateSet>,
}

impl LinkRates {
    fn new(config: &Config) -> LinkRates {
        let Config { topology, rates: RateConfig { data, links, .. }, .. } = config;
        let mut rates: Vec<DataRate> = Vec::new();
        let mut set = |rate: DataRate| {
            if rate == *data {
                return RateSet::NOMINAL;
            }
            let place = rates.iter().position(|other| *other == rate).unwrap_or_else(|| {
                rates.push(rate);
                rates.len() - 1
            });
            RateSet(place as u8 + 1) // a PHY has a hundred rates and schemes at most
        };
        let of = |rate: Option<DataRate>| rate.map_or(RateSet::NOMINAL, &mut set);
        let mut set_of: Vec<RateSet> = topology.nodes.iter().map(|node| node.data_rate).map(of).collect();
        if set_of.iter().all(|set| *set == RateSet::NOMINAL) {
            set_of.clear();
        }
        let ordered = |[one, other]: [NodeId; 2]| [one.min(other), one.max(other)];
        let mut set_between: Vec<([NodeId; 2], RateSet)> =
            links.iter().map(|link| (ordered(link.between), set(link.rate))).collect();
        set_between.sort_unstable_by_key(|(pair, _)| *pair);
        let controlled = candidates(config).into_iter().map(set).collect();
        LinkRates { rates, set_of, set_between, controlled }
    }
}

/// Errors of a receiver of the run at a rate.
pub fn errors_at(config: &Config, rate: DataRate) -> RateErrors {
    let errors = RateErrors::new(&config.phy, rate);
    if config.medium.sensitivity_by_rate { errors.above_sensitivity(&config.phy, rate) } else { errors }
}

fn collisions<'a>(config: &Config, links: impl Iterator<Item = &'a LinkTiming>) -> Collisions {
    let rates: Vec<DataRate> = links.flat_map(LinkTiming::data_rates).collect();
    let sinr = |noise_mw: f64, sensitivity_mw: f64, measured: bool| {
        let errors = |rate: &DataRate| errors_at(config, *rate);
        Collisions::Sinr {
            noise: femtowatts(noise_mw).max(1),
            sensitivity: femtowatts(sensitivity_mw),
            errors: rates.iter().map(errors).collect(),
            header: config.phy.standard().has_mcs().then(|| Box::new(RateErrors::of_header())),
            detection: config.medium.preamble_detection.unwrap_or(0.0),
            measured,
        }
    };
    match &config.medium.model {
        MediumModel::Ranges { capture_ratio, .. } => Collisions::Pairwise { capture: *capture_ratio },
        MediumModel::Sinr { noise_mw, sensitivity_mw, .. } => sinr(*noise_mw, *sensitivity_mw, false),
        MediumModel::Sensed { noise_mw, sensitivity_mw, .. } => sinr(*noise_mw, *sensitivity_mw, true),
        MediumModel::Matrix { quantity: MatrixQuantity::Delivery { .. }, .. } => {
            Collisions::Pairwise { capture: None }
        }
        MediumModel::Matrix { quantity: MatrixQuantity::Rssi { noise_mw, sensitivity_mw, .. }, .. } => {
            sinr(*noise_mw, *sensitivity_mw, false)
        }
    }
}
