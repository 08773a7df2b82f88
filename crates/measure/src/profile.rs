//! What the PHY and the MAC of a channel take, as its frames show.

use crate::CapturedFrame;
use multihop_capture::{Channel, Control, FrameType};
use multihop_core::{Rate, Span};
use multihop_dot11::{
    ACK_BYTES, Bandwidth, CTS_BYTES, Clock, DcfRules, Phy, Ppdu, PpduOptions, Preamble, RTS_BYTES, Standard,
};
use multihop_link::PhyTimes;
use std::collections::BTreeMap;

/// What estimators, and the network allocation vector, have to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// Times of the PHY.
    pub times: PhyTimes,
    /// The NAV that an RTS set may be dropped so long after its end if nothing has followed (9.3.2.4).
    pub nav_reset: Span,
    /// A CTS or an ACK that has not begun so long after the frame that it would answer does not come
    /// (9.3.2.8).
    pub answer_timeout: Span,
}

/// Bytes of a DATA frame besides the network layer's: MAC header with three addresses, LLC and SNAP, FCS.
const DATA_HEADER: u32 = 24 + 8 + 4;

impl Profile {
    /// Takes the standard from rates and band, and lengths and rates of frames from those that are most
    /// frequent. What was not seen is as the standard says: control frames at the lowest basic rate, and DATA
    /// as fast as any frame that was seen.
    pub fn of(seen: &[CapturedFrame]) -> Profile {
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
        Profile { times, nav_reset: begun + phy.sifs + cts + phy.slot, answer_timeout: begun }
    }
}

/// The standard and preamble that timing follows; of 802.11n and later, that of its band before.
fn phy(seen: &[CapturedFrame]) -> Phy {
    if seen.iter().any(|frame| frame.sifs == Span::from_us(FHSS_SIFS_US)) {
        return Phy::new(Standard::Fhss, Preamble::Long);
    }
    for (clock, bandwidth) in [(Clock::Half, Bandwidth::Mhz10), (Clock::Quarter, Bandwidth::Mhz5)] {
        let sifs = Span::from_us(OFDM_SIFS_US * clock.slower());
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

/// By which frames of frequency hopping are distinguished from others: no other PHY has it.
const FHSS_SIFS_US: u64 = 28;
/// Of direct sequence (16.2.2.2).
const LONG_PREAMBLE: Span = Span::from_us(192);

/// At 5 GHz and above (Table 17-21), and as much as SIFS and signal extension are at 2.4 GHz.
const OFDM_SIFS_US: u64 = 16;
/// At 2.4 GHz (Tables 15-6, 18-5).
const DSSS_SIFS_US: u64 = 10;

/// SIFS of a band: 10 us at 2.4 GHz, 16 us at 5 GHz and above, 32 and 64 us in channels of 10 and 5 MHz
/// (Tables 15-6, 17-21, 18-5), 28 us for frequency hopping; where the band is not known, the first.
pub(crate) fn sifs(channel: Option<Channel>) -> Span {
    let is_high = channel.is_some_and(|channel| !channel.is_2_4_ghz() && channel.mhz > 3_000);
    let hops = channel.is_some_and(Channel::is_gfsk);
    let slower = slower(channel);
    Span::from_us(if hops {
        FHSS_SIFS_US
    } else if is_high || slower > 1 {
        OFDM_SIFS_US * slower
    } else {
        DSSS_SIFS_US
    })
}

/// By how much the clock of a narrow channel is slower.
fn slower(channel: Option<Channel>) -> u64 {
    match channel {
        Some(channel) if channel.is_half() => Clock::Half.slower(),
        Some(channel) if channel.is_quarter() => Clock::Quarter.slower(),
        _ => 1,
    }
}

/// Time from the last symbol of a frame to its answer. Behind OFDM at 2.4 GHz a signal extension of 6 us
/// precedes the SIFS of 10 us (18.3.2.4, 19.3.2), so that it is that of 5 GHz whatever the band.
pub(crate) fn answer_gap(channel: Option<Channel>, how: Option<Ppdu>) -> Span {
    match how {
        None => sifs(channel),
        Some(Ppdu::Fhss { .. }) => Span::from_us(FHSS_SIFS_US),
        Some(Ppdu::Dsss { .. }) => Span::from_us(DSSS_SIFS_US),
        Some(_) => Span::from_us(OFDM_SIFS_US * slower(channel)),
    }
}

/// Of several that are as frequent, the largest.
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
        let at = |mhz, flags| Some(Channel { mhz, flags });
        let rate = Rate::from_kbps(12_000);
        let ofdm = |clock| Some(Ppdu::Ofdm { rate, clock });
        let full = ofdm(Clock::Full);
        for (channel, standard, band) in
            [(at(2_437, 0), Standard::Dot11g, Band::Ghz2_4), (at(5_180, 0), Standard::Dot11a, Band::Ghz5)]
        {
            let phy = Phy::new(standard, Preamble::Long);
            assert_eq!(sifs(channel), phy.sifs);
            assert_eq!(answer_gap(channel, full), phy.sifs + full.unwrap().signal_extension(band));
        }
        assert_eq!(answer_gap(None, full), Span::from_us(16), "without a channel too");
        let dsss = Some(Ppdu::Dsss { rate, preamble: Preamble::Long });
        assert_eq!(answer_gap(at(2_437, 0), dsss), Phy::new(Standard::Dot11b, Preamble::Long).sifs);
        let hops = at(2_412, 1 << 11);
        assert_eq!(
            answer_gap(hops, Some(Ppdu::Fhss { rate })),
            Phy::new(Standard::Fhss, Preamble::Long).sifs
        );
        let narrow = [(14, Clock::Half), (15, Clock::Quarter)];
        let gaps = narrow.map(|(flag, clock)| answer_gap(at(5_890, 1 << flag), ofdm(clock)));
        assert_eq!(gaps, [32, 64].map(Span::from_us));
    }
}
