//! Accurate ECN feedback (RFC 9768): every acknowledgement carries a counter of congestion marks, instead of
//! an echo until the sender reacts.

use multihop_core::{AccEcnOption, Ecn, Flags, Segment};

/// ACE field of an `AccECN` SYN: all three flags (RFC 9768, section 3.1.1).
const SETUP: u8 = 0b111;

/// Initial value of the counters of packets, so that a connection that clears the field is noticed (section
/// 3.2.1).
const INITIAL_PACKETS: u8 = 5;

/// Largest number of packets that the three bits of the ACE field count without ambiguity.
const MAX_COUNT: u64 = 7;

/// Kind of ECN feedback in use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum EcnMode {
    /// No ECN.
    Off,
    /// ECN-Echo until CWR (RFC 3168).
    Classic,
    /// Counters of marks (RFC 9768).
    Accurate,
}

/// Flags of a SYN that asks for ECN: for accurate feedback, which older receivers take for RFC 3168's.
pub(crate) fn syn_flags(classic: bool, accurate: bool) -> Flags {
    let flags = Flags { syn: true, ..Flags::default() };
    match (accurate, classic) {
        (true, _) => flags.with_ace(SETUP),
        (false, true) => Flags { ece: true, cwr: true, ..flags },
        (false, false) => flags,
    }
}

impl EcnMode {
    /// Mode of a connection that is open from the start.
    pub fn without_handshake(classic: bool, accurate: bool) -> EcnMode {
        match (accurate, classic) {
            (true, _) => EcnMode::Accurate,
            (false, true) => EcnMode::Classic,
            (false, false) => EcnMode::Off,
        }
    }

    /// Mode that a receiver agrees to, by the flags of a SYN.
    pub fn from_syn(flags: Flags, classic: bool, accurate: bool) -> EcnMode {
        if accurate && flags.ace() == SETUP {
            EcnMode::Accurate
        } else if (classic || accurate) && flags.ece && flags.cwr {
            EcnMode::Classic
        } else {
            EcnMode::Off
        }
    }

    /// Mode that a SYN-ACK confirms (RFC 9768, section 3.1.2, table 2). A sender that asked for RFC 3168
    /// knows no AE.
    pub fn from_syn_ack(flags: Flags, classic: bool, accurate: bool) -> EcnMode {
        match flags.ace() {
            0b010 | 0b011 | 0b100 | 0b110 if accurate => EcnMode::Accurate,
            0b001 | 0b101 if classic || accurate => EcnMode::Classic,
            _ => EcnMode::Off,
        }
    }
}

/// ACE field that returns the ECN codepoint of a SYN or SYN-ACK (RFC 9768, section 3.2.2.1, tables 2 and 3).
pub(crate) fn handshake_ace(codepoint: Ecn) -> u8 {
    match codepoint {
        Ecn::NotCapable => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::CongestionExperienced => 0b110,
    }
}

/// Counters of arriving packets (`r.cep`, `r.ceb` and `r.e1b` of RFC 9768, section 3.2.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivalCounters {
    /// Number of packets with congestion experienced; the three lowest bits count.
    packets: u8,
    ce_bytes: u64,
    ect1_bytes: u64,
    /// Whether the last packet was marked.
    last_was_marked: bool,
    /// Number of marks since the last acknowledgement.
    unreported: u32,
}

impl Default for ArrivalCounters {
    /// Initial values of RFC 9768, section 3.2.1.
    fn default() -> ArrivalCounters {
        ArrivalCounters {
            packets: INITIAL_PACKETS,
            ce_bytes: 0,
            ect1_bytes: 1,
            last_was_marked: false,
            unreported: 0,
        }
    }
}

impl ArrivalCounters {
    /// Counts an arriving packet.
    pub fn count(&mut self, segment: &Segment) {
        let is_marked = segment.ecn == Ecn::CongestionExperienced;
        match segment.ecn {
            Ecn::CongestionExperienced => {
                self.packets = self.packets.wrapping_add(1);
                self.ce_bytes += u64::from(segment.payload);
                self.unreported += 1;
            }
            Ecn::Ect1 => self.ect1_bytes += u64::from(segment.payload),
            Ecn::Ect0 | Ecn::NotCapable => {}
        }
        let was_marked = std::mem::replace(&mut self.last_was_marked, is_marked);
        if is_marked && !was_marked {
            self.unreported = self.unreported.max(ACK_EVERY_MARKS); // the change is reported
        }
    }

    /// Whether the marks are to be acknowledged at once: the first after an unmarked packet, and each second
    /// one (RFC 9768, section 3.2.2.5.1).
    pub fn wants_ack(&self) -> bool {
        self.unreported >= ACK_EVERY_MARKS
    }

    /// Records that an acknowledgement is sent.
    pub fn on_acknowledged(&mut self) {
        self.unreported = 0;
    }

    /// Number in the ACE field.
    pub fn ace(&self) -> u8 {
        self.packets & MAX_COUNT as u8
    }

    /// `AccECN` option of an acknowledgement.
    pub fn option(&self) -> AccEcnOption {
        AccEcnOption::new(self.ect1_bytes, self.ce_bytes)
    }
}

/// Number of marks after which an acknowledgement is sent, with unacknowledged data (RFC 9768, section
/// 3.2.2.5.1).
const ACK_EVERY_MARKS: u32 = 2;

/// Counters of the sender, which follow those of the receiver (`s.cep` and `s.ceb`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportedMarks {
    ace: u8,
    ce_bytes: u64,
}

impl Default for ReportedMarks {
    fn default() -> ReportedMarks {
        ReportedMarks { ace: INITIAL_PACKETS, ce_bytes: 0 }
    }
}

impl ReportedMarks {
    /// Number of payload bytes that an acknowledgement reports as newly marked. `acked` is the number of
    /// bytes by which the acknowledgement number grew, in segments of `mss` bytes.
    ///
    /// The `AccECN` option counts bytes. Without the option, packets count as segments; if more than seven
    /// were acknowledged, the counter may have cycled, and as many as possible count as marked (RFC 9768,
    /// section 3.2.2.5.2 and appendix A.2).
    pub fn on_ack(&mut self, segment: &Segment, acked: u64, mss: u64) -> u64 {
        let ace = segment.flags.ace();
        if let Some(option) = segment.acc_ecn {
            let Some(bytes) = option.ce_since(self.ce_bytes) else { return 0 };
            self.ace = ace;
            self.ce_bytes += bytes;
            return bytes;
        }
        let packets =
            safe_count(u64::from(ace.wrapping_sub(self.ace) & MAX_COUNT as u8), acked.div_ceil(mss));
        self.ace = ace;
        // The next option includes these bytes.
        self.ce_bytes += packets * mss;
        packets * mss
    }
}

/// Number of marks, if the three bits grew by `count` and `acked` packets were acknowledged.
fn safe_count(count: u64, acked: u64) -> u64 {
    if acked <= MAX_COUNT { count } else { acked - (acked.wrapping_sub(count) & MAX_COUNT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(ace: u8) -> Flags {
        Flags::default().with_ace(ace)
    }

    /// RFC 9768, table 2: all answers to an `AccECN` SYN, and to one of RFC 3168.
    #[test]
    fn rfc_9768_3_1_2_the_syn_ack_selects_the_mode() {
        use EcnMode::{Accurate, Classic, Off};
        let answers = [Off, Classic, Accurate, Accurate, Accurate, Classic, Accurate, Off];
        for (ace, expected) in (0..8).zip(answers) {
            assert_eq!(EcnMode::from_syn_ack(flags(ace), false, true), expected, "{ace:03b}");
            let classic = if [1, 5].contains(&ace) { Classic } else { Off };
            assert_eq!(EcnMode::from_syn_ack(flags(ace), true, false), classic, "{ace:03b}");
            assert_eq!(EcnMode::from_syn_ack(flags(ace), false, false), Off);
        }
        let setup = |classic, accurate| syn_flags(classic, accurate).ace();
        assert_eq!([setup(false, true), setup(true, false), setup(false, false)], [7, 3, 0]);
        let from_syn = |ace, classic, accurate| EcnMode::from_syn(flags(ace), classic, accurate);
        assert_eq!([from_syn(7, false, true), from_syn(3, false, true)], [Accurate, Classic]);
        assert_eq!([from_syn(7, true, false), from_syn(7, false, false)], [Classic, Off], "an older host");
        assert_eq!(from_syn(0, true, true), Off);
    }

    /// The answer to a SYN says how the SYN arrived, and is never mistaken for that of an older host.
    #[test]
    fn rfc_9768_3_2_2_1_the_handshake_returns_the_codepoint() {
        for (codepoint, ace) in [
            (Ecn::NotCapable, 0b010),
            (Ecn::Ect1, 0b011),
            (Ecn::Ect0, 0b100),
            (Ecn::CongestionExperienced, 0b110),
        ] {
            assert_eq!(handshake_ace(codepoint), ace);
            assert_eq!(EcnMode::from_syn_ack(flags(ace), false, true), EcnMode::Accurate);
        }
    }

    fn data(ecn: Ecn) -> Segment {
        Segment { payload: 1000, ecn, ..Segment::default() }
    }

    /// Counters after a number of marked packets: 5, 6, 7, 0, 1 and so on.
    #[test]
    fn rfc_9768_3_2_2_the_ace_field_starts_at_five_and_wraps() {
        let mut counters = ArrivalCounters::default();
        let mut fields = Vec::new();
        for _ in 0..600 {
            fields.push(counters.ace());
            counters.count(&data(Ecn::CongestionExperienced));
            counters.count(&data(Ecn::Ect1));
        }
        assert_eq!(fields[..6], [5, 6, 7, 0, 1, 2]);
        assert!(fields.iter().zip(5..).all(|(ace, count)| u32::from(*ace) == count % 8));
        assert_eq!(counters.option(), AccEcnOption::new(600_001, 600_000));
        counters.count(&data(Ecn::Ect0));
        counters.count(&data(Ecn::NotCapable));
        assert_eq!(counters.option(), AccEcnOption::new(600_001, 600_000));
    }

    /// RFC 9768, section 3.2.2.5.1: a change to marked packets, and each second mark.
    #[test]
    fn rfc_9768_3_2_2_5_1_marks_trigger_acknowledgements() {
        let mut counters = ArrivalCounters::default();
        let mut wants = |ecn| {
            counters.count(&data(ecn));
            let wants = counters.wants_ack();
            if wants {
                counters.on_acknowledged();
            }
            wants
        };
        let (ce, not) = (Ecn::CongestionExperienced, Ecn::Ect1);
        let arrivals = [not, ce, ce, ce, ce, ce, not, not, ce, not];
        let acked = arrivals.map(&mut wants);
        assert_eq!(acked, [false, true, false, true, false, true, false, false, true, false]);
    }

    /// Each acknowledgement stands for `packets`, of which some were marked.
    fn reported(exchanges: &[(u64, u64)], has_option: bool) -> Vec<u64> {
        let (mut counters, mut reported) = (ArrivalCounters::default(), ReportedMarks::default());
        let mut on_ack = |&(packets, marked): &(u64, u64)| {
            (0..marked).for_each(|_| counters.count(&data(Ecn::CongestionExperienced)));
            let flags = flags(counters.ace());
            let acc_ecn = has_option.then(|| counters.option());
            let ack = Segment { flags, acc_ecn, ..Segment::default() };
            reported.on_ack(&ack, 1000 * packets, 1000) / 1000
        };
        exchanges.iter().map(&mut on_ack).collect()
    }

    /// Up to seven packets the field is exact, however often it wraps. More are ambiguous: 20 packets with 3,
    /// 11 or 19 marks look alike, and 19 count. The option is exact.
    #[test]
    fn rfc_9768_3_2_2_5_2_the_sender_takes_the_safest_count() {
        let exact = [(2, 1), (2, 2), (7, 7), (7, 0), (1, 1), (4, 3), (7, 6), (2, 0)];
        let marks = exact.map(|(_, marked)| marked);
        assert_eq!(reported(&exact, false), marks);
        assert_eq!(reported(&exact, true), marks);
        let long = [(20, 3), (20, 11), (20, 19), (8, 0), (8, 8), (40, 12), (9, 2)];
        assert_eq!(reported(&long, false), [19, 19, 19, 8, 8, 36, 2]);
        assert_eq!(reported(&long, true), long.map(|(_, marked)| marked));
    }

    /// The counters of bytes go on over 2^24, and an option that was overtaken changes nothing.
    #[test]
    fn rfc_9768_3_2_3_1_the_option_wraps() {
        let mut reported = ReportedMarks { ce_bytes: 0xff_ff00, ..ReportedMarks::default() };
        let mut on_ack = |ce| {
            let ack = Segment { acc_ecn: Some(AccEcnOption::new(1, ce)), ..Segment::default() };
            reported.on_ack(&ack, 1000, 1000)
        };
        assert_eq!([0xff_ff10, 0x0100_0010, 0xff_ff10, 0x0100_0020].map(&mut on_ack), [16, 256, 0, 16]);
    }
}
