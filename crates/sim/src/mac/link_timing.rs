//! Rates of frames on a link, and the times that follow from them.

use super::aggregation::{block_ack_bytes, limits_on};
use crate::config::{AggregationConfig, Config};
use crate::medium::RateClass;
use multihop_core::{Rate, Span};
use multihop_dot11::{ACK_BYTES, CTS_BYTES, DataRate, FrameTiming, Modulation, RTS_BYTES, ResponseTimeout};

/// Rates of frames on a link, and the times that follow from them.
#[derive(Clone, Debug)]
pub struct LinkTiming {
    /// Airtime of an RTS.
    pub rts: Span,
    /// Airtime of a CTS.
    pub cts: Span,
    /// Airtime of an ACK.
    pub ack: Span,
    /// Timeout after the end of an RTS until the CTS is overdue. At least the propagation delay.
    pub cts_timeout: Span,
    /// Timeout after the end of DATA until the ACK is overdue. At least the propagation delay.
    pub ack_timeout: Span,
    /// Airtime of a block acknowledgement at the rate of an ACK; zero without aggregation.
    pub block_ack: Span,
    /// Timeout after the end of a frame until the block acknowledgement is overdue.
    pub block_ack_timeout: Span,
    /// Whether PPDUs at the DATA rate carry no A-MPDU, although other PPDUs of the network do.
    pub single_mpdu: bool,
    /// Bytes of the longest A-MPDU under the limits on length and airtime.
    pub longest_psdu: u32,
    /// Least distance in bytes between the starts of two MPDUs.
    pub mpdu_spacing: u32,
    /// Time after an overheard RTS at which the NAV is reset if no frame follows (9.3.2.4).
    pub nav_reset: Span,
    /// Airtime of the CTS-to-self before a frame, with the SIFS after it, by [`RateClass`]; zero without
    /// protection.
    protections: [Span; RateClass::COUNT],
    /// Airtimes by [`RateClass`].
    timings: [FrameTiming; RateClass::COUNT],
    /// Bit rates by [`RateClass`].
    rates: [Rate; RateClass::COUNT],
    /// Rate or scheme of DATA.
    data: DataRate,
}

impl LinkTiming {
    /// Times of links with a DATA rate. Unless the configuration sets other rates:
    ///
    /// - An RTS has the highest basic rate that is not above the DATA rate (9.7.6).
    /// - A response has the highest basic rate that is not above the rate of the answered frame.
    /// - A CF-End has the lowest basic rate, so that distant stations end their NAV too. Any basic rate is
    ///   allowed (802.11-2020, 10.6.6.3).
    pub(super) fn new(config: &Config, data_rate: DataRate) -> LinkTiming {
        let Config { phy, mac, rates, medium, .. } = config;
        let rules = mac.rules;
        let control = rates.control.unwrap_or_else(|| phy.request_rate(data_rate));
        let cts_rate = rates.control.unwrap_or_else(|| phy.response_rate(control));
        let ack_rate = rates.ack.or(rates.control).unwrap_or_else(|| phy.response_rate(data_rate));
        let lowest = phy.basic_rates().iter().copied().min().expect("every PHY has basic rates");
        let cf_end_rate = rates.control.unwrap_or(lowest);
        let bits = phy.bit_rate(data_rate).expect("the rate belongs to the PHY");
        let timing = |rate| phy.timing(rate, rules.airtime);
        let timings = in_classes([control, cts_rate, ack_rate, cf_end_rate], data_rate).map(timing);
        let (rts, cts, ack) =
            (timings[0].airtime(RTS_BYTES), timings[1].airtime(CTS_BYTES), timings[2].airtime(ACK_BYTES));
        let timeout = |rate: Rate, response: Span| {
            let rule = match rules.response_timeout {
                ResponseTimeout::FirstBit => phy.sifs + phy.slot + phy.rx_start_delay(rate),
                ResponseTimeout::WholeResponse { propagation } => phy.sifs + response + propagation * 2,
                ResponseTimeout::Eifs => phy.eifs() - phy.difs(), // `equal_timeouts` makes it one for all links
            };
            // The packet of a frame on the air belongs to its sender, which must not give the packet up
            // before the last listener has received the last bit.
            rule.max(medium.propagation_delay)
        };
        let aggregation = mac.block_ack.aggregation.as_ref();
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
            let is_protected = mac.cts_to_self && phy.modulation(rate).is_some_and(Modulation::is_ofdm);
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

    /// Rates or schemes of frames, by [`RateClass`].
    pub(super) fn data_rates(&self) -> [DataRate; RateClass::COUNT] {
        let [control, cts, ack, _, cf_end] = self.rates;
        in_classes([control, cts, ack, cf_end], self.data)
    }

    /// Airtime of the CTS-to-self before a frame of a class, with the SIFS after it; zero without protection.
    pub fn protection(&self, class: RateClass) -> Span {
        self.protections[class as usize]
    }

    /// Whether any class of frames has a CTS-to-self.
    pub(super) fn protects(&self) -> bool {
        self.protections.iter().any(|protection| *protection > Span::ZERO)
    }

    /// Airtime of a frame of `bytes` MAC bytes.
    pub fn airtime(&self, class: RateClass, bytes: u32) -> Span {
        self.timings[class as usize].airtime(bytes)
    }

    /// Duration of a DATA PPDU, preamble included, with a PSDU of `bytes` bytes, delimiters included.
    pub fn psdu_airtime(&self, bytes: u32) -> Span {
        self.timings[RateClass::Data as usize].psdu_airtime(bytes)
    }

    /// Duration of the preamble and the PLCP header of a class of frames.
    pub fn overhead(&self, class: RateClass) -> Span {
        self.timings[class as usize].overhead()
    }
}

/// Rates by [`RateClass`].
fn in_classes(
    [control, cts, ack, cf_end]: [Rate; RateClass::COUNT - 1],
    data: DataRate,
) -> [DataRate; RateClass::COUNT] {
    [control.into(), cts.into(), ack.into(), data, cf_end.into()]
}

/// Largest number up to `most` for which `holds` is true. It must be true for all smaller numbers as well.
pub(super) fn largest(most: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// Makes the timeouts of all links equal under [`ResponseTimeout::Eifs`], long enough for every response.
/// Returns EIFS, which is this timeout and DIFS.
pub(super) fn equal_timeouts<'a>(config: &Config, links: impl Iterator<Item = &'a mut LinkTiming>) -> Span {
    let Config { phy, medium, .. } = config;
    let links: Vec<&mut LinkTiming> = links.collect();
    let responses = links.iter().map(|link| phy.sifs + link.cts.max(link.ack).max(link.block_ack));
    let least = (phy.eifs() - phy.difs()).max(medium.propagation_delay);
    let wait = responses.fold(least, Span::max);
    for link in links {
        (link.cts_timeout, link.ack_timeout, link.block_ack_timeout) = (wait, wait, wait);
    }
    wait + phy.difs()
}
