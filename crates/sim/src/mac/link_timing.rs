//! The rates of frames on a link, and the times that follow from them.

use super::aggregation::{block_ack_bytes, limits_on};
use crate::config::{AggregationConfig, Config};
use crate::medium::RateClass;
use multihop_core::{Rate, Span};
use multihop_dot11::{ACK_BYTES, CTS_BYTES, DataRate, FrameTiming, Modulation, RTS_BYTES, ResponseTimeout};

/// Rates of frames on a link, and the times that follow from them.
#[derive(Clone, Debug)]
pub struct LinkTiming {
    /// Airtimes of the control frames.
    pub rts: Span,
    /// Airtime of a CTS.
    pub cts: Span,
    /// Airtime of an ACK.
    pub ack: Span,
    /// From the end of an RTS until its CTS is overdue; never before the RTS is over at its listeners.
    pub cts_timeout: Span,
    /// From the end of DATA until its ACK is overdue; never before the DATA is over at its listeners.
    pub ack_timeout: Span,
    /// Airtime of a block acknowledgement, at the rate of an ACK; zero without aggregation.
    pub block_ack: Span,
    /// The same as `ack_timeout` for one of those.
    pub block_ack_timeout: Span,
    /// Its DATA rate is of PPDUs that carry no A-MPDU, in a network whose other PPDUs do.
    pub single_mpdu: bool,
    /// Bytes of the longest A-MPDU, by the limits on its length and its airtime.
    pub longest_psdu: u32,
    /// Bytes from one beginning of an MPDU to the next, at least.
    pub mpdu_spacing: u32,
    /// How long an overheard RTS keeps the NAV if nothing follows (9.3.2.4).
    pub nav_reset: Span,
    /// By [`RateClass`]: the CTS that a station sends to itself before a frame of the class that no RTS
    /// precedes, and the SIFS behind it; zero for frames without one.
    protections: [Span; RateClass::COUNT],
    /// By [`RateClass`].
    timings: [FrameTiming; RateClass::COUNT],
    rates: [Rate; RateClass::COUNT],
    /// What DATA is sent at.
    data: DataRate,
}

impl LinkTiming {
    /// Of links at a DATA rate. RTS have the highest basic rate not above it, responses that not above the
    /// rate of the frame that they answer (9.7.6), where the configuration says nothing else. A CF-End may
    /// have any basic rate (802.11-2020, 10.6.6.3) and has the lowest, since it ends the NAV of all that
    /// heard the opportunity, however far they are.
    pub(super) fn new(config: &Config, data_rate: DataRate) -> LinkTiming {
        let (phy, rules) = (&config.phy, config.mac.rules);
        let control = config.control_rate.unwrap_or_else(|| phy.request_rate(data_rate));
        let cts_rate = config.control_rate.unwrap_or_else(|| phy.response_rate(control));
        let ack_rate =
            config.ack_rate.or(config.control_rate).unwrap_or_else(|| phy.response_rate(data_rate));
        let lowest = phy.basic_rates().iter().copied().min().expect("every PHY has basic rates");
        let cf_end_rate = config.control_rate.unwrap_or(lowest);
        let bits = phy.bit_rate(data_rate).expect("the rate belongs to the PHY");
        let timing = |rate| phy.timing(rate, rules.airtime);
        let timings = in_classes([control, cts_rate, ack_rate, cf_end_rate], data_rate).map(timing);
        let (rts, cts, ack) =
            (timings[0].airtime(RTS_BYTES), timings[1].airtime(CTS_BYTES), timings[2].airtime(ACK_BYTES));
        let timeout = |rate: Rate, response: Span| {
            let rule = match rules.response_timeout {
                ResponseTimeout::FirstBit => phy.sifs + phy.slot + phy.rx_start_delay(rate),
                ResponseTimeout::WholeResponse { propagation } => phy.sifs + response + propagation * 2,
                ResponseTimeout::Eifs => phy.eifs() - phy.difs(), // of which `equal_wait` makes that of all links
            };
            // The packet of a frame on the air is its sender's, which does not give it up before all listeners had its last bit. The
            // station could not do anything before that anyway.
            rule.max(config.medium.propagation_delay)
        };
        let aggregation = config.aggregation.as_ref();
        let single_mpdu = phy.standard().has_mcs() && matches!(data_rate, DataRate::Bits(_));
        let block_ack = aggregation.map_or(Span::ZERO, |_| timings[2].airtime(block_ack_bytes(aggregation)));
        let longest = |limits: &AggregationConfig| {
            let limits = limits_on(single_mpdu, limits);
            let within = |bytes: u32| timings[3].psdu_airtime(bytes) <= limits.max_duration;
            largest(limits.a_mpdu, within)
        };
        let spacing =
            |limits: &AggregationConfig| (limits.spacing.ns() * bits.bps()).div_ceil(8_000_000_000) as u32;
        let protection = |rate| {
            let is_protected = config.cts_to_self && phy.modulation(rate).is_some_and(Modulation::is_ofdm);
            if is_protected { timings[0].airtime(CTS_BYTES) + phy.sifs } else { Span::ZERO }
        };
        LinkTiming {
            protections: in_classes([control, cts_rate, ack_rate, cf_end_rate], data_rate).map(protection),
            block_ack,
            block_ack_timeout: timeout(ack_rate, block_ack),
            single_mpdu,
            longest_psdu: aggregation.map_or(0, longest),
            mpdu_spacing: aggregation.map_or(0, spacing),
            rts,
            cts,
            ack,
            cts_timeout: timeout(cts_rate, cts),
            ack_timeout: timeout(ack_rate, ack),
            nav_reset: phy.sifs * 2 + cts + phy.rx_start_delay(cts_rate) + phy.slot * 2,
            timings,
            rates: [control, cts_rate, ack_rate, bits, cf_end_rate],
            data: data_rate,
        }
    }

    /// Bit rate of a class of frames.
    pub fn rate(&self, class: RateClass) -> Rate {
        self.rates[class as usize]
    }

    /// What frames are sent at, by [`RateClass`].
    pub(super) fn data_rates(&self) -> [DataRate; RateClass::COUNT] {
        let [control, cts, ack, _, cf_end] = self.rates;
        in_classes([control, cts, ack, cf_end], self.data)
    }

    /// What a frame of a class that no RTS precedes is protected by: a CTS to the station itself, and SIFS.
    pub fn protection(&self, class: RateClass) -> Span {
        self.protections[class as usize]
    }

    /// Is any class of frames?
    pub(super) fn protects(&self) -> bool {
        self.protections.iter().any(|protection| *protection > Span::ZERO)
    }

    /// Airtime of a frame of `bytes` MAC bytes.
    pub fn airtime(&self, class: RateClass, bytes: u32) -> Span {
        self.timings[class as usize].airtime(bytes)
    }

    /// Airtime of DATA with a PSDU of `bytes` bytes, delimiters included.
    pub fn psdu_airtime(&self, bytes: u32) -> Span {
        self.timings[RateClass::Data as usize].psdu_airtime(bytes)
    }

    /// Preamble and PLCP header.
    pub fn overhead(&self, class: RateClass) -> Span {
        self.timings[class as usize].overhead()
    }
}

fn in_classes(
    [control, cts, ack, cf_end]: [Rate; RateClass::COUNT - 1],
    data: DataRate,
) -> [DataRate; RateClass::COUNT] {
    [control.into(), cts.into(), ack.into(), data, cf_end.into()]
}

/// The largest number up to `most` for which `holds`, which holds for all below it as well.
pub(super) fn largest(most: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// Under [`ResponseTimeout::Eifs`]: the timeouts of all links become one, long enough for every response.
/// Returns EIFS, which is that and DIFS.
pub(super) fn equal_wait<'a>(config: &Config, links: impl Iterator<Item = &'a mut LinkTiming>) -> Span {
    let links: Vec<&mut LinkTiming> = links.collect();
    let responses = links.iter().map(|link| config.phy.sifs + link.cts.max(link.ack).max(link.block_ack));
    let least = (config.phy.eifs() - config.phy.difs()).max(config.medium.propagation_delay);
    let wait = responses.fold(least, Span::max);
    for link in links {
        (link.cts_timeout, link.ack_timeout, link.block_ack_timeout) = (wait, wait, wait);
    }
    wait + config.phy.difs()
}
