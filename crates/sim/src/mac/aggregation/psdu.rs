//! Lengths of a PSDU with several MPDUs (802.11-2016, 9.7.1), of an MPDU with several packets (9.3.2.2), and
//! of block acknowledgements.

use crate::config::AggregationConfig;
use crate::mac::Timing;
use crate::medium::RateSet;
use multihop_core::Span;
use multihop_dot11::AccessCategory;

/// Bytes of a compressed block acknowledgement request (9.3.1.8).
pub(in crate::mac) const BLOCK_ACK_REQUEST_BYTES: u32 = 24;
/// Bytes of the delimiter before each MPDU of an A-MPDU (9.7.1).
const DELIMITER: u32 = 4;
/// Alignment in bytes of the MPDUs of an A-MPDU and of the packets of an A-MSDU.
const ALIGNMENT: u32 = 4;
/// Bytes of the longest PSDU of a PPDU that is neither HT, VHT nor HE (802.11-2016, 17.3.4.3).
const LONGEST_LEGACY: u32 = 4_095;
/// Bytes before each packet of an A-MSDU: two addresses and a length.
const SUBFRAME_HEADER: u32 = 14;

/// Bytes of a compressed block acknowledgement of 64 MPDUs (9.3.1.9), or of 256 (802.11ax-2021, 9.3.1.8.2).
pub(in crate::mac) fn block_ack_bytes(limits: Option<&AggregationConfig>) -> u32 {
    if limits.is_some_and(|limits| limits.window > 64) { 56 } else { 32 }
}

/// Limits on a link. Only HT, VHT and HE PPDUs carry A-MPDUs (802.11-2016, 9.7.1); other PPDUs carry a single
/// MPDU.
pub(in crate::mac) fn limits_on(is_single: bool, limits: &AggregationConfig) -> AggregationConfig {
    if !is_single {
        return *limits;
    }
    AggregationConfig {
        mpdus: 1,
        a_mpdu: limits.a_mpdu.min(LONGEST_LEGACY),
        mpdu: limits.mpdu.min(LONGEST_LEGACY),
        single_delimited: false,
        ..*limits
    }
}

/// Length of a PSDU that grows MPDU by MPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Psdu {
    /// Most bytes of the PSDU.
    limit: u32,
    /// Least distance in bytes between the starts of two MPDUs.
    spacing: u32,
    /// Most MPDUs.
    most: u32,
    /// Whether a single MPDU has a delimiter.
    single_delimited: bool,
    count: u32,
    /// Start of the last MPDU with its delimiter.
    last: u32,
    /// End of the last MPDU.
    end: u32,
}

impl Psdu {
    /// An empty PSDU of at most `limit` bytes, whose MPDUs start at least `spacing` bytes apart.
    pub(super) fn new(limits: &AggregationConfig, limit: u32, spacing: u32) -> Psdu {
        let single_delimited = limits.single_delimited;
        Psdu { limit, spacing, most: limits.mpdus, single_delimited, count: 0, last: 0, end: 0 }
    }

    /// Start of the next MPDU.
    fn next(&self) -> u32 {
        if self.count == 0 { 0 } else { self.end.max(self.last + self.spacing).next_multiple_of(ALIGNMENT) }
    }

    /// Most bytes of one more MPDU. The first is not limited.
    pub(super) fn room(&self) -> u32 {
        match self.count {
            0 => u32::MAX,
            count if count >= self.most => 0,
            _ => self.limit.saturating_sub(self.next() + DELIMITER),
        }
    }

    /// Adds an MPDU if it fits. Returns whether it does.
    pub(super) fn add(&mut self, bytes: u32) -> bool {
        let fits = bytes <= self.room();
        if fits {
            self.last = self.next();
            self.end = self.last + DELIMITER + bytes;
            self.count += 1;
        }
        fits
    }

    /// Bytes of the PSDU, without padding after the last MPDU.
    pub(super) fn bytes(&self) -> u32 {
        if self.count == 1 && !self.single_delimited { self.end - DELIMITER } else { self.end }
    }
}

/// Bytes of an A-MSDU of `bytes` bytes with one more subframe, of a packet of `msdu` bytes with its LLC
/// header.
pub(super) fn a_msdu_with(bytes: u32, msdu: u32) -> u32 {
    bytes.next_multiple_of(ALIGNMENT) + SUBFRAME_HEADER + msdu
}

/// The longest PSDU within limits, with packets of one size.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fullest {
    /// Packets in the PSDU.
    pub packets: u32,
    /// MPDUs in the PSDU.
    pub mpdus: u32,
    /// Bytes of the PSDU.
    pub bytes: u32,
    /// Whether the number of MPDUs limits the PSDU, and not its length.
    pub by_number: bool,
}

impl Fullest {
    /// Longest PSDU with packets of a category, of `size` network-layer bytes, over a link with these rates.
    pub fn new(
        limits: &AggregationConfig,
        timing: &Timing,
        rates: RateSet,
        category: AccessCategory,
        size: u32,
    ) -> Fullest {
        let link = timing.on(rates);
        let longest = match timing.access(category).txop_limit {
            Span::ZERO => link.longest_psdu,
            limit => timing.longest_psdu_within(rates, &limits_on(link.single_mpdu, limits), limit),
        };
        Fullest::within(limits, timing, rates, size, longest)
    }

    /// Longest PSDU within `longest` bytes, unless a single MPDU is longer.
    pub(crate) fn within(
        limits: &AggregationConfig,
        timing: &Timing,
        rates: RateSet,
        size: u32,
        longest: u32,
    ) -> Fullest {
        let link = timing.on(rates);
        let limits = &limits_on(link.single_mpdu, limits);
        let llc = timing.rules.llc_header;
        let around = timing.data_bytes(0) - llc;
        let most = limits.a_msdu.map_or(0, |most| most.min(limits.mpdu.saturating_sub(around)));
        let single = (1, timing.data_bytes(size));
        // Packets and bytes of the longest MPDU within `room` bytes.
        let longest_mpdu = |room: u32| {
            let (mut packets, mut body) = (1, a_msdu_with(0, size + llc));
            while a_msdu_with(body, size + llc) <= most.min(room.saturating_sub(around)) {
                (packets, body) = (packets + 1, a_msdu_with(body, size + llc));
            }
            if packets > 1 { (packets, around + body) } else { single }
        };
        let mut psdu = Psdu::new(limits, longest, link.mpdu_spacing);
        let (mut packets, mut mpdus, mut next) = (0, 0, longest_mpdu(longest));
        while psdu.add(next.1) {
            (packets, mpdus) = (packets + next.0, mpdus + 1);
            if next.1 > psdu.room() {
                next = longest_mpdu(psdu.room());
            }
        }
        Fullest { packets, mpdus, bytes: psdu.bytes(), by_number: mpdus == limits.mpdus }
    }

    /// Whether RTS and CTS precede the PSDU.
    pub(crate) fn needs_rts(&self, limits: &AggregationConfig, timing: &Timing) -> bool {
        (self.mpdus > 1 && limits.rts) || timing.needs_rts(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: AggregationConfig = AggregationConfig {
        mpdus: 3,
        window: 64,
        a_mpdu: 65_535,
        a_msdu: None,
        mpdu: 4_095,
        max_duration: Span::from_us(5_484),
        spacing: Span::ZERO,
        reordering_timeout: Span::from_ms(100),
        rts: false,
        single_delimited: false,
    };

    /// 4 + 1538, padded to 1544, twice, and 4 + 101 without padding.
    #[test]
    fn delimiters_and_padding_count_except_after_the_last_mpdu() {
        let mut psdu = Psdu::new(&LIMITS, 65_535, 0);
        assert!(psdu.add(1_538));
        assert_eq!(psdu.bytes(), 1_538, "a lone MPDU has no delimiter");
        assert!(psdu.add(1_538) && psdu.add(101) && !psdu.add(1));
        assert_eq!(psdu.bytes(), 1_544 + 1_544 + 105);
        let mut single = Psdu::new(&AggregationConfig { single_delimited: true, ..LIMITS }, 65_535, 0);
        single.add(1_538);
        assert_eq!(single.bytes(), 1_542);
    }

    #[test]
    fn an_mpdu_that_does_not_fit_is_rejected_except_the_first() {
        let mut psdu = Psdu::new(&LIMITS, 3_000, 0);
        assert!(psdu.add(4_000) && !psdu.add(10));
        let mut psdu = Psdu::new(&LIMITS, 3_000, 0);
        assert!(psdu.add(1_000));
        assert_eq!(psdu.room(), 3_000 - 1_004 - 4);
        assert!(!psdu.add(1_993) && psdu.add(1_992));
        assert_eq!(psdu.bytes(), 3_000);
    }

    /// 8 us at 65 Mb/s are 65 bytes.
    #[test]
    fn small_mpdus_are_spaced() {
        let mut psdu = Psdu::new(&LIMITS, 65_535, 65);
        assert!(psdu.add(30) && psdu.add(30) && psdu.add(30));
        assert_eq!(psdu.bytes(), 68 + 136 - 68 + 34, "each starts 68 bytes after the one before");
    }

    /// Two packets of 1500 bytes with LLC headers: 14 + 1508 = 1522, padded to 1524, and 1522.
    #[test]
    fn subframes_are_padded_except_the_last() {
        assert_eq!(a_msdu_with(a_msdu_with(0, 1_508), 1_508), 1_524 + 1_522);
    }
}
