//! PHY and MAC parameters of a channel, as its frames show them.

use crate::CapturedFrame;
use multihop_capture::{Control, FrameType, RadioChannel};
use multihop_core::{Rate, Span};
use multihop_dot11::{
    ACK_BYTES, Bandwidth, CTS_BYTES, DcfRules, OfdmClock, Phy, Ppdu, PpduOptions, Preamble, RTS_BYTES,
    Standard,
};
use multihop_link::PhyTimes;
use std::collections::BTreeMap;

/// Parameters that the estimators and the network allocation vector need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// Times of the PHY.
    pub times: PhyTimes,
    /// Time after an RTS at which its NAV may be reset if no frame has begun (9.3.2.4).
    pub nav_reset: Span,
    /// Time after a frame at which its CTS or ACK must have begun (9.3.2.8).
    pub response_timeout: Span,
}

/// Overhead of a DATA frame in bytes: MAC header with three addresses, LLC and SNAP, FCS.
const DATA_HEADER: u32 = 24 + 8 + 4;

impl Profile {
    /// Derives the standard from rates and band, and lengths and rates from the most frequent frames. Without
    /// such frames, values of the standard are used: control frames at the lowest basic rate, and DATA at the
    /// highest rate of any frame.
    pub fn from_frames(seen: &[CapturedFrame]) -> Profile {
        let phy = phy(seen);
        let lowest = phy.basic_rates()[0];
        let airtime = |bytes| phy.airtime(lowest, bytes, DcfRules::IEEE.airtime);
        let control = |what: fn(Control) -> bool, bytes| {
            let like = seen.iter().filter(|frame| frame.control().is_some_and(what));
            most_frequent(like.filter_map(|frame| frame.airtime)).unwrap_or_else(|| airtime(bytes))
        };
        let cts = control(|control| control == Control::Cts, CTS_BYTES);
        let is_data = |frame: &&CapturedFrame| {
            matches!(frame.frame.kind, FrameType::Data(data) if !data.null) && frame.receiver.is_some()
        };
        let data = || seen.iter().filter(is_data);
        let fastest = || seen.iter().filter_map(|frame| frame.rate).max();
        let data_rate = most_frequent(data().filter_map(|frame| frame.rate)).or_else(fastest);
        let quality_of_service =
            data().filter(|frame| frame.frame.header_bytes >= 26).count() * 2 > data().count();
        let times = PhyTimes {
            slot: phy.slot,
            sifs: phy.sifs,
            difs: phy.difs(),
            backoff: phy.slot * u64::from(phy.cw_min) / 2,
            cw_min: phy.cw_min,
            cw_max: phy.cw_max,
            rts: control(|control| control == Control::Rts, RTS_BYTES),
            cts,
            ack: control(|control| control == Control::Ack, ACK_BYTES),
            data_rate: data_rate.unwrap_or(lowest),
            data_overhead: most_frequent(data().map(|frame| frame.preamble))
                .unwrap_or_else(|| phy.overhead(lowest)),
            data_header: DATA_HEADER + if quality_of_service { 2 } else { 0 },
        };
        let begun = phy.sifs + phy.rx_start_delay(lowest) + phy.slot;
        Profile { times, nav_reset: begun + phy.sifs + cts + phy.slot, response_timeout: begun }
    }
}

/// PHY for the timing; for 802.11n and later, that of the older standard of the band.
fn phy(seen: &[CapturedFrame]) -> Phy {
    if seen.iter().any(|frame| frame.sifs == Span::from_us(FHSS_SIFS_US)) {
        return Phy::new(Standard::Fhss, Preamble::Long);
    }
    for (clock, bandwidth) in [(OfdmClock::Half, Bandwidth::Mhz10), (OfdmClock::Quarter, Bandwidth::Mhz5)] {
        let sifs = Span::from_us(OFDM_SIFS_US * clock.slowdown());
        if seen.iter().any(|frame| frame.sifs == sifs) {
            let phy = Phy::new(Standard::Dot11a, Preamble::Long);
            return phy.with_options(PpduOptions { bandwidth, ..phy.options() });
        }
    }
    let at_5_ghz = seen.iter().any(|frame| frame.sifs == Span::from_us(OFDM_SIFS_US));
    let is_cck = |rate: Rate| matches!(rate.bps(), 1_000_000 | 2_000_000 | 5_500_000 | 11_000_000);
    let rates = || seen.iter().filter_map(|frame| frame.rate);
    let has_ofdm = rates().any(|rate| !is_cck(rate));
    let long = seen.iter().any(|frame| frame.rate.is_some_and(is_cck) && frame.preamble == LONG_PREAMBLE);
    let preamble = if long { Preamble::Long } else { Preamble::Short };
    match (at_5_ghz, has_ofdm) {
        (true, _) => Phy::new(Standard::Dot11a, preamble),
        (false, true) if rates().any(is_cck) => Phy::mixed(preamble),
        (false, true) => Phy::new(Standard::Dot11g, preamble),
        (false, false) => Phy::new(Standard::Dot11b, preamble),
    }
}

/// SIFS of frequency hopping, by which its frames are recognised: no other PHY has this value.
const FHSS_SIFS_US: u64 = 28;
/// Long preamble of direct sequence (16.2.2.2).
const LONG_PREAMBLE: Span = Span::from_us(192);

/// SIFS at 5 GHz and above (Table 17-21), equal to SIFS plus signal extension at 2.4 GHz.
const OFDM_SIFS_US: u64 = 16;
/// SIFS at 2.4 GHz (Tables 15-6, 18-5).
const DSSS_SIFS_US: u64 = 10;

/// SIFS of a band: 10 us at 2.4 GHz, 16 us at 5 GHz and above, 32 and 64 us in channels of 10 and 5 MHz
/// (Tables 15-6, 17-21, 18-5), 28 us for frequency hopping. The default for unknown bands is 10 us.
pub(crate) fn sifs(channel: Option<RadioChannel>) -> Span {
    let is_high = channel.is_some_and(|channel| !channel.is_2_4_ghz() && channel.mhz > 3_000);
    let hops = channel.is_some_and(RadioChannel::is_gfsk);
    let slowdown = slowdown(channel);
    Span::from_us(if hops {
        FHSS_SIFS_US
    } else if is_high || slowdown > 1 {
        OFDM_SIFS_US * slowdown
    } else {
        DSSS_SIFS_US
    })
}

/// Factor by which the clock of a narrow channel is slower.
fn slowdown(channel: Option<RadioChannel>) -> u64 {
    match channel {
        Some(channel) if channel.is_half() => OfdmClock::Half.slowdown(),
        Some(channel) if channel.is_quarter() => OfdmClock::Quarter.slowdown(),
        _ => 1,
    }
}

/// Time from the last symbol of a frame to its response. At 2.4 GHz OFDM has a signal extension of 6 us
/// before the SIFS of 10 us (18.3.2.4, 19.3.2), so that the sum equals the SIFS of 5 GHz.
pub(crate) fn response_gap(channel: Option<RadioChannel>, how: Option<Ppdu>) -> Span {
    match how {
        None => sifs(channel),
        Some(Ppdu::Fhss { .. }) => Span::from_us(FHSS_SIFS_US),
        Some(Ppdu::Dsss { .. }) => Span::from_us(DSSS_SIFS_US),
        Some(_) => Span::from_us(OFDM_SIFS_US * slowdown(channel)),
    }
}

/// Most frequent value; the largest one among equally frequent values.
fn most_frequent<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, u64> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts.into_iter().max_by_key(|&(value, count)| (count, value)).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_dot11::Band;

    #[test]
    fn gaps_are_those_of_the_tables() {
        let at = |mhz, flags| Some(RadioChannel { mhz, flags });
        let rate = Rate::from_kbps(12_000);
        let ofdm = |clock| Some(Ppdu::Ofdm { rate, clock });
        let full = ofdm(OfdmClock::Full);
        for (channel, standard, band) in
            [(at(2_437, 0), Standard::Dot11g, Band::Ghz2_4), (at(5_180, 0), Standard::Dot11a, Band::Ghz5)]
        {
            let phy = Phy::new(standard, Preamble::Long);
            assert_eq!(sifs(channel), phy.sifs);
            assert_eq!(response_gap(channel, full), phy.sifs + full.unwrap().signal_extension(band));
        }
        assert_eq!(response_gap(None, full), Span::from_us(16), "without a channel too");
        let dsss = Some(Ppdu::Dsss { rate, preamble: Preamble::Long });
        assert_eq!(response_gap(at(2_437, 0), dsss), Phy::new(Standard::Dot11b, Preamble::Long).sifs);
        let hops = at(2_412, 1 << 11);
        assert_eq!(
            response_gap(hops, Some(Ppdu::Fhss { rate })),
            Phy::new(Standard::Fhss, Preamble::Long).sifs
        );
        let narrow = [(14, OfdmClock::Half), (15, OfdmClock::Quarter)];
        let gaps = narrow.map(|(flag, clock)| response_gap(at(5_890, 1 << flag), ofdm(clock)));
        assert_eq!(gaps, [32, 64].map(Span::from_us));
    }
}
