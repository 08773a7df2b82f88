//! The radiotap header in front of each frame (radiotap.org, "defined fields").

use multihop_core::Rate;
use multihop_dot11::{Phy, Standard};

/// Bytes of the longest header that is written here.
pub(super) const LONGEST: usize = 36;

// Bits of the word that says which fields are present, in their order.
const TSFT: u32 = 1 << 0;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const ANTENNA_SIGNAL: u32 = 1 << 5;
const TX_FLAGS: u32 = 1 << 15;
const TIMESTAMP: u32 = 1 << 22;

/// Nanoseconds, at the last bit of the PPDU.
const TIMESTAMP_UNIT_AND_POSITION: u8 = 0x23;

const FLAG_SHORT_PREAMBLE: u8 = 0x02;
/// The frame ends with its FCS.
const FLAG_FCS: u8 = 0x10;

const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
const CHANNEL_5_GHZ: u16 = 0x0100;
/// Frequency hopping.
const CHANNEL_GFSK: u16 = 0x0800;

/// It was sent after RTS and CTS.
pub(super) const TX_WITH_RTS: u16 = 0x0004;
/// No acknowledgement is awaited.
pub(super) const TX_WITHOUT_ACK: u16 = 0x0008;

/// What is the same for all frames at one rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct RateFields {
    flags: u8,
    /// In units of 500 kb/s.
    rate: u8,
    mhz: u16,
    channel: u16,
}

impl RateFields {
    /// The scenario names no channel: it is 1 at 2.4 GHz, and 36 at 5 GHz. Its flags are those of the frame's modulation, which is
    /// how Linux distinguishes 802.11g frames from 802.11b frames. A network that hops is written down as if it stood on one of its channels.
    pub(super) fn new(phy: &Phy, rate: Rate) -> RateFields {
        let (mhz, band) = match phy.standard() {
            Standard::Fhss | Standard::Dsss | Standard::Dot11b | Standard::Dot11g => (2412, CHANNEL_2_GHZ),
            Standard::Dot11a => (5180, CHANNEL_5_GHZ),
        };
        let kind = match phy.modulation(rate) {
            Some(modulation) if modulation.is_ofdm() => CHANNEL_OFDM,
            Some(modulation) if modulation.is_gfsk() => CHANNEL_GFSK,
            _ => CHANNEL_CCK,
        };
        RateFields {
            flags: FLAG_FCS | if phy.has_short_preamble(rate) { FLAG_SHORT_PREAMBLE } else { 0 },
            rate: (rate.bps() / 500_000) as u8,
            mhz,
            channel: band | kind,
        }
    }
}

/// How the frame came to be seen by this radio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seen {
    /// It was received; with the power in dBm where the medium has powers.
    Received {
        /// At the antenna.
        dbm: Option<i8>,
    },
    /// The node sent it itself.
    Sent {
        /// Of `TX_WITH_RTS` and `TX_WITHOUT_ACK`.
        flags: u16,
    },
}

/// When a frame was at an antenna.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamps {
    /// The first bit of the MPDU, in microseconds.
    pub tsft_us: u64,
    /// The last bit, in nanoseconds.
    pub end_ns: u64,
}

/// Appends a header. The end of the frame, which the time of the packet says too, is in a field that says what it means; TSFT has
/// no fractions of microseconds.
pub(super) fn put(out: &mut Vec<u8>, stamps: Stamps, fields: RateFields, seen: Seen) {
    let start = out.len();
    let which = match seen {
        Seen::Received { dbm: None } => 0,
        Seen::Received { dbm: Some(_) } => ANTENNA_SIGNAL,
        Seen::Sent { .. } => TX_FLAGS,
    };
    out.extend([0; 4]);
    out.extend((TSFT | FLAGS | RATE | CHANNEL | which | TIMESTAMP).to_le_bytes());
    out.extend(stamps.tsft_us.to_le_bytes());
    out.extend([fields.flags, fields.rate]);
    out.extend(fields.mhz.to_le_bytes());
    out.extend(fields.channel.to_le_bytes());
    match seen {
        Seen::Received { dbm } => out.extend(dbm.map(i8::to_le_bytes).into_iter().flatten()),
        Seen::Sent { flags } => out.extend(flags.to_le_bytes()),
    }
    out.resize(start + (out.len() - start).next_multiple_of(8), 0);
    out.extend(stamps.end_ns.to_le_bytes());
    // No accuracy is given; the last byte has flags.
    out.extend([0, 0, TIMESTAMP_UNIT_AND_POSITION, 0]);
    let length = ((out.len() - start) as u16).to_le_bytes();
    out[start + 2..start + 4].copy_from_slice(&length);
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_dot11::Preamble;

    fn header(fields: RateFields, seen: Seen) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, Stamps { tsft_us: 0x0102, end_ns: 0x0506 }, fields, seen);
        assert!(out.len() <= LONGEST);
        out
    }

    #[test]
    fn every_field_is_where_its_alignment_puts_it() {
        let phy = Phy::new(Standard::Dot11b, Preamble::Short);
        let fields = RateFields::new(&phy, Rate::from_kbps(5_500));
        let common = [2, 1, 0, 0, 0, 0, 0, 0, 0x12, 11, 0x6c, 0x09, 0xa0, 0x00];
        let stamp = [6, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0x23, 0];
        let heard = header(fields, Seen::Received { dbm: Some(-70) });
        assert_eq!(heard[..8], [0, 0, 36, 0, 0x2f, 0, 0x40, 0]);
        assert_eq!(heard[8..22], common);
        assert_eq!(heard[22..24], [186, 0]);
        assert_eq!(heard[24..], stamp);
        let powerless = header(fields, Seen::Received { dbm: None });
        assert_eq!((powerless.len(), powerless[4]), (36, 0x0f));
        assert_eq!(powerless[22..24], [0, 0]);
        let sent = header(fields, Seen::Sent { flags: TX_WITH_RTS });
        assert_eq!(sent[..8], [0, 0, 36, 0, 0x0f, 0x80, 0x40, 0]);
        assert_eq!(sent[8..22], common);
        assert_eq!(sent[22..24], [4, 0]);
        assert_eq!(sent[24..], stamp);
    }

    #[test]
    fn the_channel_is_that_of_the_modulation() {
        let of = |standard, kbps| {
            let fields = RateFields::new(&Phy::new(standard, Preamble::Short), Rate::from_kbps(kbps));
            (fields.mhz, fields.channel, fields.rate, fields.flags)
        };
        assert_eq!(of(Standard::Dot11a, 54_000), (5180, 0x0140, 108, 0x10));
        assert_eq!(of(Standard::Fhss, 2_000), (2412, 0x0880, 4, 0x10));
        assert_eq!(of(Standard::Dot11g, 6_000), (2412, 0x00c0, 12, 0x10));
        assert_eq!(of(Standard::Dot11g, 11_000), (2412, 0x00a0, 22, 0x12));
        assert_eq!(
            of(Standard::Dsss, 1_000),
            (2412, 0x00a0, 2, 0x10),
            "1 Mb/s frames keep the long preamble"
        );
    }
}
