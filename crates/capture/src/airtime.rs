//! For how long a frame was on the air, by what its receiver said of it.

use crate::link_layer::{Encoding, HeEncoding, HeFormat, HtEncoding, VhtEncoding};
use crate::{Channel, Reception};
use multihop_core::{Rate, Span};
use multihop_dot11::{Band, Bandwidth, Clock, HePpdu, HtPpdu, Ppdu, Preamble, VhtPpdu};

/// For how long a frame of `air_bytes` bytes, MAC header and frame check sequence included, was on the air by itself, from its
/// preamble to its last symbol.
///
/// None where the receiver did not say enough ([`ppdu`]) or said something that cannot be. The silence at the end of OFDM frames at
/// 2.4 GHz, in which the medium is idle, is not part of it. For the frames of an A-MPDU, which share a preamble, use [`ppdu`] and the
/// sum of their bytes.
pub fn airtime(reception: &Reception, air_bytes: u32) -> Option<Span> {
    ppdu(reception)?.airtime(air_bytes, Band::Other)
}

/// How a frame was sent, by what its receiver said.
///
/// What is not said is taken to be usual: long preamble, long guard intervals, mixed format, convolutional coding, no space-time
/// block coding, and for HE 0.8 us of guard interval with training symbols of 6.4 us. Rate, scheme, streams and bandwidth
/// are not guessed: without them there is nothing. Nor is there of HE frames to or from several users, whose length is not
/// that of one of them.
pub fn ppdu(reception: &Reception) -> Option<Ppdu> {
    match reception.encoding? {
        Encoding::Legacy(rate) => Some(legacy(rate, reception.preamble, reception.channel)),
        Encoding::Ht(encoding) => ht(encoding).map(Ppdu::Ht),
        Encoding::Vht(encoding) => vht(encoding).map(Ppdu::Vht),
        Encoding::He(encoding) => he(encoding).map(Ppdu::He),
    }
}

/// The rates of direct sequence are none of those of OFDM, but for 5.5 and 11 Mb/s, which OFDM has not even at half its clock, and
/// 1 and 2 Mb/s, which it has not at a quarter.
fn legacy(rate: Rate, preamble: Option<Preamble>, channel: Option<Channel>) -> Ppdu {
    match rate.bps() / 1_000 {
        1_000 | 2_000 | 5_500 | 11_000 => Ppdu::Dsss { rate, preamble: preamble.unwrap_or(Preamble::Long) },
        _ => {
            let clock = match channel {
                Some(channel) if channel.is_half() => Clock::Half,
                Some(channel) if channel.is_quarter() => Clock::Quarter,
                _ => Clock::Full,
            };
            Ppdu::Ofdm { rate, clock }
        }
    }
}

fn ht(encoding: HtEncoding) -> Option<HtPpdu> {
    Some(HtPpdu {
        mcs: encoding.mcs?,
        bandwidth: encoding.bandwidth?,
        short_gi: encoding.short_gi.unwrap_or_default(),
        greenfield: encoding.greenfield.unwrap_or_default(),
        stbc: encoding.stbc.unwrap_or_default(),
        ldpc: encoding.ldpc.unwrap_or_default(),
        extension_streams: encoding.extension_streams.unwrap_or_default(),
    })
}

fn vht(encoding: VhtEncoding) -> Option<VhtPpdu> {
    Some(VhtPpdu {
        mcs: encoding.mcs?,
        streams: encoding.streams?,
        bandwidth: encoding.bandwidth?,
        short_gi: encoding.short_gi.unwrap_or_default(),
        stbc: encoding.stbc.unwrap_or_default(),
        ldpc: encoding.ldpc.unwrap_or_default(),
        ldpc_extra_symbol: encoding.ldpc_extra_symbol,
    })
}

fn he(encoding: HeEncoding) -> Option<HePpdu> {
    if matches!(encoding.format, HeFormat::MultiUser | HeFormat::TriggerBased) {
        return None;
    }
    let bandwidth = encoding.bandwidth?;
    // Only the lowest schemes at up to 20 MHz may do without it.
    let usual_ldpc = !matches!(bandwidth, Bandwidth::Mhz20 | Bandwidth::Tones106);
    let ns = |ns: Option<u16>, usual| Span::from_ns(ns.map_or(usual, u64::from));
    Some(HePpdu {
        mcs: encoding.mcs?,
        streams: encoding.streams?,
        bandwidth,
        guard: ns(encoding.guard_ns, 800),
        training: ns(encoding.training_ns, 6_400),
        extended_range: encoding.format == HeFormat::ExtendedRange,
        dual_carrier: encoding.dual_carrier.unwrap_or_default(),
        stbc: encoding.stbc.unwrap_or_default(),
        ldpc: encoding.ldpc.unwrap_or(usual_ldpc),
    })
}
