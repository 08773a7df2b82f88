//! Headers of media packets and of the reports on them.

use multihop_core::{Bits, Ecn, Header, Span, Time, header};

header! {
    /// Media packets (RTP, RFC 3550, section 5.1)
    pub struct MediaHeader: "media", 14, 12 of 12 {
        /// Number of the packet, modulo 2^24
        number: u32 [1..4] "",
        /// Send time of the packet, by the sender's clock
        timestamp: u32 [4..8] "us",
        /// Whether nothing waits behind the packet, as behind the last packet of a video frame (marker)
        marker: bool [8..9, bit 0] "",
    }
}

header! {
    /// Reports on media packets (RTCP, RFC 8888, section 3.1)
    pub struct MediaReport: "media_report", 15, 9 of 25 {
        /// Length of the packets' part in 32-bit words
        words: Bits<3> [0..1, bit 5] "words",
        /// Number of the first reported packet, modulo 2^24 (begin_seq)
        first: u32 [1..4] "",
        /// Time of the report, by the receiver's clock (RTS)
        stamp: u32 [4..8] "2^-16 s",
        /// Number of reported packets (num_reports)
        count: u8 [8..9] "packets",
        /// Reported packets, 16 bits each: whether the packet arrived, its ECN bits, and the time from its
        /// arrival to the report in units of 2^-10 s
        packets: [u64; 2] [9..25] "",
    }
}

impl MediaHeader {
    /// Bytes of the RTP header.
    pub const BYTES: u32 = MediaHeader::LAYOUT.air as u32;

    /// Packet number as far as it fits into the header.
    pub fn number(seq: u64) -> u32 {
        (seq & NUMBERS) as u32
    }

    /// Value of the timestamp clock.
    pub fn clock(now: Time) -> u32 {
        (now.ns() / 1_000) as u32
    }
}

/// Mask of the bits of a packet number in a header.
pub(super) const NUMBERS: u64 = 0xff_ffff;

/// Units of a report's stamp in a second.
const STAMPS_PER_SECOND: f64 = 65_536.0;
/// Units of the time from arrival to report in a second.
const OFFSETS_PER_SECOND: f64 = 1_024.0;
/// Largest time from arrival to report that has an exact value (RFC 8888: 0x1FFE means "at least so long").
const LONGEST_OFFSET: u16 = 0x1ffd;
/// Bit of a packet that arrived.
const ARRIVED: u16 = 0x8000;

impl MediaReport {
    /// Maximum number of packets in a report.
    pub const MOST: usize = 8;
    /// Bytes of RTCP besides the packets: header, two sources, first number and count, stamp.
    const FRAME: u32 = 20;

    /// Report at `now` on packets from number `first` on. An entry is the arrival time and the ECN codepoint
    /// of a packet, or none for a packet that did not arrive. Entries beyond [`MediaReport::MOST`] are
    /// ignored.
    pub(super) fn on(
        now: Time,
        first: u64,
        packets: impl Iterator<Item = Option<(Time, Ecn)>>,
    ) -> MediaReport {
        let mut report = MediaReport { first: MediaHeader::number(first), ..MediaReport::default() };
        report.stamp = (now.seconds() * STAMPS_PER_SECOND) as u64 as u32;
        for (index, packet) in packets.take(MediaReport::MOST).enumerate() {
            let bits = packet.map_or(0, |(arrival, ecn)| {
                let offset = (now.since(arrival).seconds() * OFFSETS_PER_SECOND).round();
                ARRIVED | u16::from(ecn.bits()) << 13 | (offset as u16).min(LONGEST_OFFSET)
            });
            report.packets[index / 4] |= u64::from(bits) << (48 - 16 * (index % 4));
            report.count += 1;
        }
        report.words = Bits(report.count.div_ceil(2));
        report
    }

    /// Bytes of RTCP in the report.
    pub(super) fn bytes(&self) -> u32 {
        MediaReport::FRAME + 4 * u32::from(self.words.0)
    }

    /// For each reported packet the time from its arrival to the report and its ECN codepoint; none for a
    /// packet that did not arrive.
    pub(super) fn fates(&self) -> impl Iterator<Item = Option<(Span, Ecn)>> {
        let packets = self.packets;
        (0..usize::from(self.count).min(MediaReport::MOST)).map(move |index| {
            let bits = (packets[index / 4] >> (48 - 16 * (index % 4))) as u16;
            let offset = Span::from_seconds(f64::from(bits & 0x1fff) / OFFSETS_PER_SECOND);
            (bits & ARRIVED != 0).then(|| (offset, Ecn::from_bits((bits >> 13) as u8)))
        })
    }
}

/// Clock of the receiver, which wraps every 18 hours in reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiverClock {
    latest: Option<i64>,
}

impl ReceiverClock {
    /// Time of a report's stamp in seconds, without wraps.
    pub(super) fn read(&mut self, stamp: u32) -> f64 {
        let latest = self.latest.unwrap_or(i64::from(stamp));
        let time = latest + i64::from(stamp.wrapping_sub(latest as u32) as i32);
        self.latest = Some(latest.max(time));
        time as f64 / STAMPS_PER_SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::HeaderBytes;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// RFC 8888, section 3.1: packets 7 to 9 at 2 s. 7 arrived 500 ms before (512 of 1024), unmarked ECT(0);
    /// 8 is missing; 9 arrived 125 ms before (128 of 1024), with congestion experienced.
    #[test]
    fn a_report_by_hand() {
        let packets = [Some((ms(1_500), Ecn::Ect0)), None, Some((ms(1_875), Ecn::CongestionExperienced))];
        let report = MediaReport::on(ms(2_000), 7, packets.into_iter());
        assert_eq!((report.first, report.stamp, report.count, report.words), (7, 2 << 16, 3, Bits(2)));
        assert_eq!(report.packets, [(0xc200 << 48) | (0xe080 << 16), 0]);
        assert_eq!(report.bytes(), 28, "12 + 4 + 2 * 4 + 4");
        let bytes = HeaderBytes::of(&report);
        assert_eq!((bytes.on_air().len(), bytes.parse()), (17, Some(report)));
        let fates: Vec<_> = report.fates().collect();
        let expected = [
            Some((Span::from_ms(500), Ecn::Ect0)),
            None,
            Some((Span::from_ms(125), Ecn::CongestionExperienced)),
        ];
        assert_eq!(fates, expected);
    }

    #[test]
    fn a_report_has_eight_packets_at_most() {
        let report = MediaReport::on(ms(100), 0, std::iter::repeat_n(Some((ms(0), Ecn::NotCapable)), 20));
        assert_eq!((report.count, report.words, report.bytes()), (8, Bits(4), 36));
        assert_eq!(HeaderBytes::of(&report).on_air().len(), 25);
    }

    #[test]
    fn an_old_arrival_has_the_longest_offset() {
        let report = MediaReport::on(ms(60_000), 0, std::iter::once(Some((ms(0), Ecn::NotCapable))));
        let longest = f64::from(LONGEST_OFFSET) / 1_024.0;
        assert_eq!(report.fates().next(), Some(Some((Span::from_seconds(longest), Ecn::NotCapable))));
    }

    #[test]
    fn the_receivers_clock_may_wrap() {
        let mut clock = ReceiverClock::default();
        let read = [u32::MAX - 65_535, u32::MAX - 32_767, 65_536, 0].map(|stamp| clock.read(stamp));
        assert_eq!(read, [65_535.0, 65_535.5, 65_537.0, 65_536.0]);
    }
}
