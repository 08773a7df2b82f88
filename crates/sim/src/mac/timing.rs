//! The numbers that every station of a run shares.

use crate::config::{Config, MatrixQuantity, MediumModel};
use crate::medium::{Collisions, DataLoss, Frame, RateClass, femtowatts};
use multihop_core::{FrameKind, Interval, NodeId, Rate, Span, Time};
use multihop_dot11::{
    ACK_BYTES, BackoffDraw, CTS_BYTES, DcfRules, ErrorTable, FrameTiming, RTS_BYTES, ResponseTimeout,
};
use multihop_link::PhyTimes;

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
    /// Propagation delay between any two nodes.
    pub propagation: Span,
    /// First and largest contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Transmissions before giving up, without and with RTS.
    pub short_retry_limit: u32,
    /// Transmissions of DATA after RTS before giving up.
    pub long_retry_limit: u32,
    /// Airtimes of the control frames.
    pub rts: Span,
    /// Airtime of a CTS.
    pub cts: Span,
    /// Airtime of an ACK.
    pub ack: Span,
    /// From the end of an RTS until its CTS is overdue.
    pub cts_timeout: Span,
    /// From the end of DATA until its ACK is overdue.
    pub ack_timeout: Span,
    /// How long an overheard RTS keeps the NAV if nothing follows (9.3.2.4).
    pub nav_reset: Span,
    /// Loss of DATA frames on top of everything else.
    pub data_loss: DataLoss,
    /// What overlapping signals do to each other.
    pub collisions: Collisions,
    /// The medium is busy where the energy of all signals is at least this.
    pub busy_from: u64,
    rts_threshold: Option<u32>,
    rates: [FrameTiming; 4],
    bit_rates: [Rate; 4],
}

impl Timing {
    /// The shared numbers of a configuration.
    pub fn new(config: &Config) -> Timing {
        let (phy, rules) = (&config.phy, config.mac.rules);
        let by_class = rates(config);
        let [_, cts_rate, ack_rate, _] = by_class;
        let rates = by_class.map(|rate| phy.timing(rate, rules.airtime));
        let (rts, cts, ack) =
            (rates[0].airtime(RTS_BYTES), rates[1].airtime(CTS_BYTES), rates[2].airtime(ACK_BYTES));
        let timeout = |rate: Rate, response: Span| match rules.response_timeout {
            ResponseTimeout::FirstBit => phy.sifs + phy.slot + phy.rx_start_delay(rate),
            ResponseTimeout::WholeResponse { propagation } => phy.sifs + response + propagation * 2,
        };
        let collisions = collisions(config, by_class);
        let busy_from = match &collisions {
            Collisions::Pairwise { .. } => 1,
            Collisions::Sinr { .. } => femtowatts(config.medium.carrier_sense_mw()).max(1),
        };
        Timing {
            rules,
            slot: phy.slot,
            sifs: phy.sifs,
            difs: phy.difs(),
            eifs: phy.eifs(),
            propagation: config.medium.propagation_delay,
            cw_min: config.mac.cw_min,
            cw_max: config.mac.cw_max,
            short_retry_limit: config.mac.short_retry_limit.unwrap_or(u32::MAX),
            long_retry_limit: config.mac.long_retry_limit.unwrap_or(u32::MAX),
            rts,
            cts,
            ack,
            cts_timeout: timeout(cts_rate, cts),
            ack_timeout: timeout(ack_rate, ack),
            nav_reset: phy.sifs * 2 + cts + phy.rx_start_delay(cts_rate) + phy.slot * 2,
            data_loss: DataLoss::new(&config.medium, config.nodes.len()),
            collisions,
            busy_from,
            rts_threshold: config.mac.rts_threshold,
            rates,
            bit_rates: by_class,
        }
    }

    /// Bit rate of a class of frames.
    pub fn rate(&self, class: RateClass) -> Rate {
        self.bit_rates[class as usize]
    }

    /// MAC bytes of a DATA frame that carries `size` network-layer bytes.
    pub fn data_bytes(&self, size: u32) -> u32 {
        size + self.rules.llc_header + self.rules.data_header
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

    /// The least network-layer size of packets whose DATA frames need RTS/CTS; none if none do.
    pub fn rts_from(&self) -> Option<u32> {
        let least = self.rts_threshold? + u32::from(!self.rules.rts_at_threshold);
        Some(least.saturating_sub(self.data_bytes(0)))
    }

    /// Airtime of a frame of `bytes` MAC bytes.
    pub fn airtime(&self, rate: RateClass, bytes: u32) -> Span {
        self.rates[rate as usize].airtime(bytes)
    }

    /// Airtime of a successful exchange, from the first to the last bit.
    pub fn exchange(&self, data: Span, with_rts: bool) -> Span {
        let handshake = if with_rts { self.rts + self.cts + self.sifs * 2 } else { Span::ZERO };
        handshake + data + self.sifs + self.ack
    }

    /// What a station that is alone waits before each exchange, on average: DIFS and a back-off from the first window (9.3.4.2).
    pub fn mean_access(&self) -> Span {
        let most = match self.rules.backoff_draw {
            BackoffDraw::Inclusive => self.cw_min,
            BackoffDraw::Exclusive => self.cw_min - 1,
        };
        self.difs + self.slot * u64::from(most) / 2
    }

    /// What estimators know of all this.
    pub fn phy_times(&self) -> PhyTimes {
        PhyTimes {
            sifs: self.sifs,
            difs: self.difs,
            backoff: self.mean_access() - self.difs,
            rts: self.rts,
            cts: self.cts,
            ack: self.ack,
            data_rate: self.rate(RateClass::Data),
            data_overhead: self.overhead(RateClass::Data),
            data_header: self.data_bytes(0),
        }
    }

    /// A frame that starts now, without packet.
    pub fn control_frame(
        &self,
        kind: FrameKind,
        from: NodeId,
        to: NodeId,
        duration: Span,
        now: Time,
    ) -> Frame {
        let (rate, bytes, airtime) = match kind {
            FrameKind::Rts => (RateClass::Control, RTS_BYTES, self.rts),
            FrameKind::Cts => (RateClass::Cts, CTS_BYTES, self.cts),
            FrameKind::Ack => (RateClass::Ack, ACK_BYTES, self.ack),
            FrameKind::Data => unreachable!("DATA is not a control frame"),
        };
        let start = now + self.propagation;
        Frame {
            kind,
            from,
            to: Some(to),
            duration,
            bytes,
            rate,
            packet: None,
            sequence: 0,
            retry: false,
            overhead: self.rates[rate as usize].overhead(),
            air: Interval { start, end: start + airtime },
        }
    }

    /// Preamble and PLCP header at a rate.
    pub fn overhead(&self, rate: RateClass) -> Span {
        self.rates[rate as usize].overhead()
    }
}

/// The rates of frames by [`RateClass`], in its order.
pub fn rates(config: &Config) -> [Rate; 4] {
    let phy = &config.phy;
    let control = config.control_rate.unwrap_or_else(|| phy.response_rate(config.data_rate));
    let cts = config.control_rate.unwrap_or_else(|| phy.response_rate(control));
    let ack = config.ack_rate.or(config.control_rate).unwrap_or_else(|| phy.response_rate(config.data_rate));
    [control, cts, ack, config.data_rate]
}

fn collisions(config: &Config, rates: [Rate; 4]) -> Collisions {
    let sinr = |noise_mw: f64, sensitivity_mw: f64| {
        let modulations = rates.map(|rate| config.phy.modulation(rate).expect("the rate belongs to the PHY"));
        Collisions::Sinr {
            noise: femtowatts(noise_mw).max(1),
            sensitivity: femtowatts(sensitivity_mw),
            errors: Box::new(modulations.map(ErrorTable::new)),
            bps: rates.map(|rate| rate.bps() as f64),
        }
    };
    match &config.medium.model {
        MediumModel::Ranges { capture_ratio, .. } => Collisions::Pairwise { capture: *capture_ratio },
        MediumModel::Sinr { noise_mw, sensitivity_mw, .. } => sinr(*noise_mw, *sensitivity_mw),
        MediumModel::Matrix { quantity: MatrixQuantity::Delivery { .. }, .. } => {
            Collisions::Pairwise { capture: None }
        }
        MediumModel::Matrix { quantity: MatrixQuantity::Rssi { noise_mw, sensitivity_mw, .. }, .. } => {
            sinr(*noise_mw, *sensitivity_mw)
        }
    }
}
