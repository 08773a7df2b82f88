//! The numbers that every station of a run shares.

use super::access_parameters::AccessParameters;
use super::aggregation::{BLOCK_ACK_REQUEST_BYTES, block_ack_bytes};
use super::link_timing::{LinkTiming, equal_wait, largest};
use super::rate_control::{RateChoices, candidates};
use crate::config::{
    AggregationConfig, Config, MPDU_RETRY_LIMIT, MatrixQuantity, MediumModel, Protection, REQUEST_LIMIT,
};
use crate::medium::{Collisions, Frame, FrameLoss, RateClass, RateErrors, RateSet, femtowatts};
use multihop_core::{FrameKind, Interval, NodeId, Span, Time};
use multihop_dot11::{
    ACK_BYTES, AccessCategory, BackoffDraw, CF_END_BYTES, CTS_BYTES, DataRate, DcfRules, RTS_BYTES,
    ResponseTimeout,
};
use multihop_link::{AggregateLimits, PhyTimes};

/// Rules, inter-frame spaces, airtimes and limits: what every station of a run shares.
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
    /// Propagation delay between any two nodes; zero where it goes by distance.
    pub propagation: Span,
    /// What each category contends with; all the same under the DCF.
    access: [AccessParameters; AccessCategory::COUNT],
    /// A slot at whose beginning the medium turns busy has counted.
    pub busy_period_counts_as_slot: bool,
    /// Traffic identifiers of frames are those of their packets.
    pub differentiates: bool,
    /// What duration fields cover in a transmission opportunity.
    pub protection: Protection,
    /// Transmissions before giving up, without and with RTS.
    pub short_retry_limit: u32,
    /// Tries of an MPDU before it is given up.
    pub mpdu_retry_limit: u32,
    /// Requests for a block acknowledgement in a row without an answer before what was sent is given up.
    pub request_limit: u32,
    /// How long a receiver waits for an MPDU before it passes on what it holds; none for without end.
    pub reordering_timeout: Option<Span>,
    /// Transmissions of DATA after RTS before giving up.
    pub long_retry_limit: u32,
    /// Rates and times of frames on links without a rate of their own, and of broadcasts.
    pub nominal: LinkTiming,
    /// The same of links with other rates: [`RateSet`] 1 is the first.
    others: Vec<LinkTiming>,
    /// By node: the rates of its link to its base station. Empty if all links have the same.
    set_of: Vec<RateSet>,
    /// Pairs of nodes whose link has rates of its own, the lower first, in order.
    set_between: Vec<([NodeId; 2], RateSet)>,
    /// Loss of DATA frames on top of everything else.
    pub frame_loss: FrameLoss,
    /// What overlapping signals do to each other.
    pub collisions: Collisions,
    /// The medium is busy where the energy of all signals is at least this.
    pub busy_from: u64,
    /// Aggregation, if stations have it.
    pub aggregation: Option<AggregationConfig>,
    /// What stations choose the rate of DATA from, if they do.
    pub rate_control: Option<RateChoices>,
    rts_threshold: Option<u32>,
    /// LLC and MAC header and FCS of a DATA frame.
    data_header: u32,
}

impl Timing {
    /// The shared numbers of a configuration.
    pub fn new(config: &Config) -> Timing {
        let (phy, rules) = (&config.phy, config.mac.rules);
        let LinkRates { rates: others, set_of, set_between, controlled } = LinkRates::new(config);
        let mut others: Vec<LinkTiming> =
            others.into_iter().map(|rate| LinkTiming::new(config, rate)).collect();
        let mut nominal = LinkTiming::new(config, config.data_rate);
        let mut eifs = phy.eifs();
        if rules.response_timeout == ResponseTimeout::Eifs {
            eifs = equal_wait(config, std::iter::once(&mut nominal).chain(&mut others));
        }
        let collisions = collisions(config, std::iter::once(&nominal).chain(&others));
        let busy_from = match &collisions {
            Collisions::Pairwise { .. } => 1,
            Collisions::Sinr { .. } => femtowatts(config.medium.carrier_sense_mw()).max(1),
        };
        let tries = config.rate_control.and_then(|control| control.tries);
        let limit = |own: Option<u32>| tries.or(own).unwrap_or(u32::MAX);
        let mpdu_retry_limit = config
            .persistence
            .retry_limit
            .or(tries)
            .unwrap_or(limit(config.mac.short_retry_limit).max(MPDU_RETRY_LIMIT));
        let request_limit = if mpdu_retry_limit == u32::MAX { u32::MAX } else { REQUEST_LIMIT };
        let mut timing = Timing {
            rules,
            slot: phy.slot,
            sifs: phy.sifs,
            difs: phy.difs(),
            eifs,
            propagation: config.medium.propagation_delay,
            access: AccessParameters::of(config),
            busy_period_counts_as_slot: rules.busy_period_counts_as_slot || config.edca.is_some(),
            differentiates: config.edca.is_some(),
            protection: config.protection,
            short_retry_limit: limit(config.mac.short_retry_limit),
            mpdu_retry_limit,
            request_limit: config.persistence.request_limit.unwrap_or(request_limit),
            reordering_timeout: config
                .aggregation
                .filter(|_| !config.persistence.reorders_without_end)
                .map(|limits| limits.reordering_timeout),
            long_retry_limit: limit(config.mac.long_retry_limit),
            nominal,
            others,
            set_of,
            set_between,
            frame_loss: FrameLoss::new(&config.medium, config.nodes.len()),
            collisions,
            busy_from,
            aggregation: config.aggregation,
            rate_control: None,
            rts_threshold: config.mac.rts_threshold,
            data_header: rules.llc_header + rules.data_header,
        };
        timing.rate_control = RateChoices::new(config, &timing, controlled);
        timing
    }

    /// What a category contends with.
    #[inline]
    pub fn access(&self, category: AccessCategory) -> &AccessParameters {
        &self.access[category as usize]
    }

    /// What best effort contends with, and everything under the DCF.
    pub fn best_effort(&self) -> &AccessParameters {
        self.access(AccessCategory::BestEffort)
    }

    /// Every station begins with this contention window.
    #[cfg(test)]
    pub fn begin_with(&mut self, cw_min: u32) {
        self.access.iter_mut().for_each(|access| access.cw_min = cw_min);
    }

    /// The rates of unicast frames between two nodes.
    #[inline]
    pub fn between(&self, one: NodeId, other: NodeId) -> RateSet {
        if self.set_between.is_empty() && self.set_of.is_empty() {
            return RateSet::NOMINAL;
        }
        self.own_between(one, other)
    }

    /// The rates that unicast frames between two nodes may have: those that stations choose from, or one.
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
        // A station with a rate of its own exchanges frames with its base station alone, which has none.
        let of = |node: NodeId| self.set_of[node.index()];
        if of(one) == RateSet::NOMINAL { of(other) } else { of(one) }
    }

    /// What follows from a set of rates.
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

    /// Slots that last at least this long.
    pub fn slots_of(&self, length: Span) -> u32 {
        u32::try_from(length.ns().div_ceil(self.slot.ns())).unwrap_or(u32::MAX)
    }

    /// Does a DATA frame of this many MAC bytes need RTS/CTS?
    pub fn needs_rts(&self, bytes: u32) -> bool {
        self.rts_threshold
            .is_some_and(|limit| bytes > limit || (self.rules.rts_at_threshold && bytes == limit))
    }

    /// Do lifetimes alone end the tries of MPDUs under an agreement?
    pub fn tries_without_end(&self) -> bool {
        self.mpdu_retry_limit == u32::MAX
    }

    /// Tries of a frame of so many bytes: dot11LongRetryLimit if RTS/CTS precedes it, else
    /// dot11ShortRetryLimit (802.11-2016, 10.3.4.4).
    pub fn retry_limit_of(&self, bytes: u32) -> u32 {
        if self.needs_rts(bytes) { self.long_retry_limit } else { self.short_retry_limit }
    }

    /// The least network-layer size of packets whose DATA frames need RTS/CTS; none if none do.
    pub fn rts_from(&self) -> Option<u32> {
        let least = self.rts_threshold? + u32::from(!self.rules.rts_at_threshold);
        Some(least.saturating_sub(self.data_bytes(0)))
    }

    /// What A-MPDUs of data at the nominal rate may be; none where MPDUs are sent alone.
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

    /// The same with a response of this airtime. Without RTS a CTS to the station itself may come first.
    pub fn exchange_with(&self, set: RateSet, data: Span, response: Span, with_rts: bool) -> Span {
        let link = self.on(set);
        let unanswered = link.protection(RateClass::Data);
        let handshake = if with_rts { link.rts + link.cts + self.sifs * 2 } else { unanswered };
        handshake + data + self.sifs + response
    }

    /// What a station that is alone waits before each exchange of a category, on average: inter-frame space
    /// and a back-off from the first window (9.3.4.2).
    pub fn mean_access(&self, category: AccessCategory) -> Span {
        let access = self.access(category);
        access.aifs + self.mean_backoff(access.cw_min)
    }

    /// How many exchanges of so many frames and this length, without propagation, a category has each time
    /// that it wins the medium.
    pub fn exchanges_at_once(&self, category: AccessCategory, exchange: Span, frames: u64) -> u64 {
        let rest = self.access(category).txop_limit.saturating_sub(exchange);
        1 + rest.whole(exchange + self.propagation * frames + self.sifs)
    }

    /// Bytes of the longest PSDU of a link that is over within this time with its answer, and with RTS and
    /// CTS if they may come first.
    pub fn longest_psdu_within(&self, set: RateSet, limits: &AggregationConfig, time: Span) -> u32 {
        let link = self.on(set);
        let with_rts = limits.rts || self.needs_rts(u32::MAX);
        let room = time.saturating_sub(self.exchange_with(set, Span::ZERO, link.block_ack, with_rts));
        largest(link.longest_psdu, |bytes| link.psdu_airtime(bytes) <= room)
    }

    /// The mean of a back-off from a contention window.
    pub fn mean_backoff(&self, cw: u32) -> Span {
        let most = match self.rules.backoff_draw {
            BackoffDraw::Inclusive => cw,
            BackoffDraw::Exclusive => cw.max(1) - 1,
        };
        self.slot * u64::from(most) / 2
    }

    /// Airtime of the shortest DATA frame that there can be.
    pub fn shortest_data(&self) -> Span {
        self.least(|link| {
            let airtime = |class| link.airtime(class, self.data_bytes(0));
            airtime(RateClass::Data).min(airtime(RateClass::Control))
        })
    }

    /// Of the preambles and headers before DATA, the shortest.
    pub fn shortest_preamble(&self) -> Span {
        self.least(|link| link.overhead(RateClass::Data).min(link.overhead(RateClass::Control)))
    }

    /// Airtime of the shortest answer that there can be.
    pub fn shortest_answer(&self) -> Span {
        self.least(|link| link.ack.min(link.cts))
    }

    /// The least of this over all rates of links.
    fn least(&self, of: impl Fn(&LinkTiming) -> Span) -> Span {
        self.others.iter().map(&of).fold(of(&self.nominal), Span::min)
    }

    /// Within this after the last bit of a frame its sender neither begins another one nor parts with the
    /// packet in it.
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

    /// What estimators know of all this: the nominal rates, and what best effort contends with.
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

    /// Airtime of a CF-End, which goes to all.
    pub fn cf_end(&self) -> Span {
        self.nominal.airtime(RateClass::CfEnd, CF_END_BYTES)
    }

    /// A frame that starts now, without packet. `between` are its sender and its receiver, of a CF-End, and
    /// of a CTS to itself, the sender twice; `rates` are those of what it precedes or answers.
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

/// The DATA rates of links that have one of their own.
struct LinkRates {
    /// Each once.
    rates: Vec<DataRate>,
    /// Which of them each node has; nothing at all if none has.
    set_of: Vec<RateSet>,
    /// Which of them pairs of nodes have, in order.
    set_between: Vec<([NodeId; 2], RateSet)>,
    /// Those that stations choose from.
    controlled: Vec<RateSet>,
}

impl LinkRates {
    fn new(config: &Config) -> LinkRates {
        let mut rates: Vec<DataRate> = Vec::new();
        let mut set = |rate: DataRate| {
            if rate == config.data_rate {
                return RateSet::NOMINAL;
            }
            let place = rates.iter().position(|other| *other == rate).unwrap_or_else(|| {
                rates.push(rate);
                rates.len() - 1
            });
            RateSet(place as u8 + 1) // a PHY has a hundred rates and schemes at most
        };
        let of = |rate: Option<DataRate>| rate.map_or(RateSet::NOMINAL, &mut set);
        let mut set_of: Vec<RateSet> = config.nodes.iter().map(|node| node.data_rate).map(of).collect();
        if set_of.iter().all(|set| *set == RateSet::NOMINAL) {
            set_of.clear();
        }
        let ordered = |[one, other]: [NodeId; 2]| [one.min(other), one.max(other)];
        let mut set_between: Vec<([NodeId; 2], RateSet)> =
            config.link_rates.iter().map(|link| (ordered(link.between), set(link.rate))).collect();
        set_between.sort_unstable_by_key(|(pair, _)| *pair);
        let controlled = candidates(config).into_iter().map(set).collect();
        LinkRates { rates, set_of, set_between, controlled }
    }
}

/// What a receiver of the run makes of a rate.
pub fn errors_at(config: &Config, rate: DataRate) -> RateErrors {
    let errors = RateErrors::new(&config.phy, rate);
    if config.sensitivity_by_rate { errors.above_sensitivity(&config.phy, rate) } else { errors }
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
            detection: config.preamble_detection.unwrap_or(0.0),
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
