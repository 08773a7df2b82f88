//! The options of a TCP connection. Where RFCs and ns-2 part, each difference is a field here.

use crate::{RtoOptions, SmallQueues};
use multihop_core::{Ecn, Span};

/// How lost segments are found and repaired.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Recovery {
    /// From duplicate and partial acknowledgements (RFC 6582).
    #[default]
    NewReno,
    /// The same, but any new acknowledgement ends it, so that a second loss of a window waits for the
    /// retransmission timer (RFC 5681, section 3.2): ns-2's `Agent/TCP/Reno`, from which its XCP derives.
    Reno,
    /// From selective acknowledgements (RFC 6675).
    Sack,
    /// From selective acknowledgements as ns-2's `Agent/TCP/Sack1` has it, which counts packets and forgets
    /// more.
    Sack1,
}

impl Recovery {
    /// Does the receiver say which data it has?
    pub const fn is_selective(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Sack1)
    }
}

/// The congestion window with which `NewReno` leaves fast recovery (RFC 6582, section 3.2, step 3).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ExitWindow {
    /// At most one segment more than what is outstanding, so that no burst follows: the first choice of
    /// RFC 6582.
    #[default]
    Flight,
    /// The window as partial acknowledgements left it, which the full acknowledgement opens like any other:
    /// ns-2 with its default `exit_recovery_fix_ 0`.
    Deflated,
}

/// What becomes of selective acknowledgements when the retransmission timer expires.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SackedAtTimeout {
    /// They are forgotten, because the receiver may have reneged (RFC 2018, section 8); what it reports from
    /// then on is not sent again.
    Forgotten,
    /// They still hold, as most implementations have it (RFC 6675, section 5.1).
    Kept,
    /// Everything is sent again, whatever the receiver reports, as ns-2 does.
    SentAgain,
}

/// What a scheme's feedback takes of each segment: bytes of a congestion header, and the ECN codepoint. The
/// header itself is the scheme's.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CongestionHeader {
    /// Bytes of the header in segments without data.
    pub bytes: u32,
    /// Bytes of the header in segments with data: other than in those without if routers have a part of their
    /// own, or if only acknowledgements carry one.
    pub bytes_with_data: u32,
    /// The ECN codepoint with which data leaves, for routers to change; none if that is not what they change.
    pub codepoint: Option<Ecn>,
    /// The ECN codepoint with which acknowledgements leave: capable if routers are to mark them as well.
    pub ack_codepoint: Ecn,
}

impl CongestionHeader {
    /// The same header in every segment.
    pub const fn of(bytes: u32) -> CongestionHeader {
        CongestionHeader { bytes, bytes_with_data: bytes, codepoint: None, ack_codepoint: Ecn::NotCapable }
    }

    /// Routers change the codepoint of data, which leaves with this one; acknowledgements return `bytes` of
    /// what came of it.
    pub const fn marks(codepoint: Ecn, bytes: u32) -> CongestionHeader {
        CongestionHeader {
            bytes,
            bytes_with_data: 0,
            codepoint: Some(codepoint),
            ack_codepoint: Ecn::NotCapable,
        }
    }
}

/// Options of both ends of a TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpOptions {
    /// Payload bytes of a full segment (SMSS).
    pub segment_size: u32,
    /// Network and transport header bytes without options.
    pub header: u32,
    /// Timestamps (RFC 7323): 12 more header bytes on every segment, and every acknowledgement of new data is
    /// a round-trip sample. Without them one segment at a time is timed (RFC 6298, section 3).
    pub timestamps: bool,
    /// Note when each segment was sent, at no cost in bytes, so that every acknowledgement of data that was
    /// sent once gives the controller a round-trip sample. The retransmission timer goes on with the samples
    /// that it would have without.
    pub time_every_segment: bool,
    /// Sample the rate at which data is delivered, at no cost in bytes, and report it to the controller with
    /// each acknowledgement ([`crate::Controller::on_delivered`]).
    pub delivery_rate: bool,
    /// Header bytes of the SACK option itself, before 8 for each block: 4 with padding (RFC 2018, section 3),
    /// 0 in ns-2.
    pub sack_option: u32,
    /// The congestion header, beyond `header`.
    pub congestion_header: CongestionHeader,
    /// What an acknowledgement without news brings from routers counts as well. ns-2's XCP only takes it from
    /// those of new data.
    pub feedback_of_duplicates: bool,
    /// Open with SYN and SYN-ACK. Without it the connection is open from the start.
    pub handshake: bool,
    /// Ask for ECN (RFC 3168).
    pub ecn: bool,
    /// Retransmissions are ECN capable too and may carry CWR, as in ns-2; RFC 3168, section 6.1.5, forbids
    /// the former.
    pub ecn_on_retransmissions: bool,
    /// Each further ECN-Echo at a window of one segment doubles the wait for the retransmission timer, as in
    /// ns-2. RFC 3168, section 6.1.2, only asks to wait for it.
    pub echo_backs_off: bool,
    /// The receiver's buffer in bytes, which is the window that it advertises.
    pub receive_window: u64,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Data and acknowledgements that the MAC of their own node gave up are sent again at once, so often in a
    /// row without an answer; then the retransmission timer is waited for. 0: losses are always for
    /// acknowledgements or the timer to show.
    pub local_repairs: u32,
    /// Duplicate acknowledgements that mean a loss (`DupThresh`).
    pub duplicate_threshold: u32,
    /// Send new data on the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// `NewReno` applies Limited Transmit also to what it repeats after a timeout, as ns-2 does. The RFC
    /// speaks of new data.
    pub limited_transmit_repeats: bool,
    /// In which order SACK recovery sends: first every hole below what was selectively acknowledged, lost or
    /// not, then new data, and no rescue, as ns-2 does. Without it `NextSeg()` of RFC 6675.
    pub holes_first: bool,
    /// The window after `NewReno`'s fast recovery.
    pub exit_window: ExitWindow,
    /// Segments that one acknowledgement may release during `NewReno`'s fast recovery; none for no limit.
    /// ns-2: 2.
    pub recovery_burst: Option<u32>,
    /// What becomes of selective acknowledgements when the retransmission timer expires.
    pub sacked_at_timeout: SackedAtTimeout,
    /// Slow start again after the application was silent for longer than a retransmission timeout (RFC 5681,
    /// section 4.1).
    pub idle_restart: bool,
    /// Segments leave at the rate that Linux takes the window to mean, once there is a round-trip sample,
    /// unless the congestion control has a pace of its own.
    pub pacing: bool,
    /// How much may wait in the sender's own node; none for all that the window allows. The window does not
    /// open while that, and not the window, holds the sender back.
    pub small_queues: Option<SmallQueues>,
    /// How long an acknowledgement may be delayed in wait for a second segment (RFC 1122, section 4.2.3.2);
    /// none to acknowledge each segment.
    pub delayed_ack: Option<Span>,
    /// Segments that an acknowledgement stands for, if they come within that time: two (RFC 5681, section
    /// 4.2), or more (RFC 5690's acknowledgement ratio, and what a host that merges segments on reception
    /// comes to).
    pub ack_every: u32,
    /// Segments that are acknowledged at once when the first mark since the sender's last answer arrives, and
    /// after it. RFC 3168 asks for none; Linux: 2 (`tcp_enter_quickack_mode`).
    pub quick_acks: u32,
    /// The window does not open for the round trip after an ECN-Echo, as in Linux, in which that is a state
    /// of its own (CWR).
    pub holds_after_echo: bool,
    /// The retransmission timer.
    pub rto: RtoOptions,
}

impl Default for TcpOptions {
    /// As the RFCs have it: 1460 bytes in 1500, a receive window of [`TcpOptions::OPEN_WINDOW`] segments,
    /// delayed acknowledgements of 100 ms.
    fn default() -> TcpOptions {
        TcpOptions {
            segment_size: 1460,
            header: 40,
            timestamps: false,
            time_every_segment: false,
            delivery_rate: false,
            sack_option: 4,
            congestion_header: CongestionHeader::of(0),
            feedback_of_duplicates: true,
            handshake: true,
            ecn: false,
            ecn_on_retransmissions: false,
            echo_backs_off: false,
            receive_window: u64::from(TcpOptions::OPEN_WINDOW) * 1460,
            recovery: Recovery::NewReno,
            local_repairs: 0,
            duplicate_threshold: 3,
            limited_transmit: true,
            limited_transmit_repeats: false,
            holes_first: false,
            exit_window: ExitWindow::Flight,
            recovery_burst: None,
            sacked_at_timeout: SackedAtTimeout::Forgotten,
            idle_restart: true,
            pacing: false,
            small_queues: None,
            delayed_ack: Some(Span::from_ms(100)),
            ack_every: 2,
            quick_acks: 0,
            holds_after_echo: false,
            rto: RtoOptions::default(),
        }
    }
}

impl TcpOptions {
    /// A receive window, in segments, that does not bind: the congestion window is to. Receivers in use tune
    /// their buffers to twice what arrives in a round trip for that (Fisk and Feng, *Dynamic Right-Sizing in
    /// TCP*, 2001), which the advertised window follows with the window scale option (RFC 7323), up to some
    /// megabytes. The application here takes what is delivered at once, so that this is a buffer that is
    /// already large enough: 1.5 MB, above twenty queues of 50 packets.
    pub const OPEN_WINDOW: u32 = 1024;

    /// What ns-2.35 does by default with `Agent/TCP/Newreno`, `Reno` or `Sack1` and `Agent/TCPSink`,
    /// `window_` in segments.
    pub fn ns2(recovery: Recovery, segment_size: u32, window: u32) -> TcpOptions {
        TcpOptions {
            segment_size,
            receive_window: u64::from(window) * u64::from(segment_size),
            recovery,
            sack_option: 0,
            ecn_on_retransmissions: true,
            echo_backs_off: true,
            limited_transmit_repeats: true,
            holes_first: true,
            exit_window: ExitWindow::Deflated,
            recovery_burst: (recovery == Recovery::NewReno).then_some(2),
            sacked_at_timeout: SackedAtTimeout::SentAgain,
            idle_restart: false,
            delayed_ack: None,
            rto: RtoOptions::ns2(),
            ..TcpOptions::default()
        }
    }

    /// What Linux 6 has where the RFCs leave a choice, or where it has its own: timestamps, its timer,
    /// delayed acknowledgements of at most 40 ms, and what it does about marks. `window` is in segments.
    pub fn linux(recovery: Recovery, segment_size: u32, window: u32) -> TcpOptions {
        TcpOptions {
            segment_size,
            receive_window: u64::from(window) * u64::from(segment_size),
            recovery,
            timestamps: true,
            sacked_at_timeout: SackedAtTimeout::Kept,
            delayed_ack: Some(Span::from_ms(40)),
            quick_acks: 2,
            holds_after_echo: true,
            rto: RtoOptions::linux(),
            ..TcpOptions::default()
        }
    }

    /// Header bytes of a segment with `sack_blocks` SACK blocks: options are padded to whole 32-bit words.
    pub(crate) fn header_with(&self, sack_blocks: usize) -> u32 {
        let timestamps = if self.timestamps { 12 } else { 0 };
        let sack = if sack_blocks > 0 { self.sack_option + 8 * sack_blocks as u32 } else { 0 };
        self.header + self.congestion_header.bytes + timestamps + sack
    }

    /// Header bytes of a segment with data.
    pub(crate) fn header_with_data(&self) -> u32 {
        self.header_with(0) - self.congestion_header.bytes + self.congestion_header.bytes_with_data
    }

    /// Bytes of a full segment with its headers.
    pub fn packet_size(&self) -> u32 {
        self.segment_size + self.header_with_data()
    }

    /// `segment_size`, as sequence numbers are counted.
    pub(crate) fn mss(&self) -> u64 {
        u64::from(self.segment_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What ns-2.35 does that the RFCs do not, option by option, as the field of each says.
    #[test]
    fn ns2_has_its_own_defaults() {
        let ns2 = TcpOptions::ns2(Recovery::NewReno, 1000, 20);
        assert_eq!((ns2.segment_size, ns2.header), (1000, 40), "packetSize_, tcpip_base_hdr_size_");
        assert_eq!(ns2.receive_window, 20_000, "window_ 20");
        assert_eq!(ns2.recovery, Recovery::NewReno);
        assert_eq!(ns2.sack_option, 0, "blocks take no room but their own");
        assert!(ns2.ecn_on_retransmissions && ns2.echo_backs_off);
        assert!(ns2.limited_transmit && ns2.limited_transmit_repeats, "singledup_ 1");
        assert!(ns2.holes_first);
        assert_eq!(ns2.exit_window, ExitWindow::Deflated, "exit_recovery_fix_ 0");
        assert_eq!(ns2.recovery_burst, Some(2), "two segments for an acknowledgement");
        assert_eq!(ns2.sacked_at_timeout, SackedAtTimeout::SentAgain);
        assert!(!ns2.idle_restart, "a silence changes nothing");
        assert_eq!(ns2.delayed_ack, None, "Agent/TCPSink, not DelAck");
        assert_eq!(ns2.rto, RtoOptions::ns2());
        assert_eq!(TcpOptions::ns2(Recovery::Sack1, 1000, 20).recovery_burst, None);
        assert_eq!(TcpOptions::ns2(Recovery::Sack1, 1000, 20).recovery, Recovery::Sack1);
    }

    /// What a kernel has: `include/net/tcp.h`, `net/ipv4/tcp_input.c`.
    #[test]
    fn linux_has_its_own_defaults() {
        let linux = TcpOptions::linux(Recovery::Sack, 1448, 100);
        assert_eq!(linux.packet_size(), 1500, "timestamps take 12 bytes");
        assert_eq!((linux.receive_window, linux.recovery), (144_800, Recovery::Sack));
        assert_eq!(linux.sacked_at_timeout, SackedAtTimeout::Kept);
        assert_eq!((linux.delayed_ack, linux.quick_acks), (Some(Span::from_ms(40)), 2), "TCP_DELACK_MIN");
        assert!(linux.holds_after_echo && !TcpOptions::default().holds_after_echo);
        assert_eq!(TcpOptions::default().quick_acks, 0);
        let RtoOptions { initial, min, max, margin, .. } = linux.rto;
        assert_eq!([initial, min, max, margin].map(|span| span.ns() / 1_000_000), [1_000, 200, 120_000, 200]);
    }

    /// The RFCs named with each option.
    #[test]
    fn the_default_is_as_the_rfcs_have_it() {
        let rfc = TcpOptions::default();
        assert_eq!((rfc.segment_size + rfc.header, rfc.sack_option), (1500, 4));
        assert!(!rfc.ecn_on_retransmissions, "RFC 3168, section 6.1.5");
        assert!(rfc.limited_transmit && !rfc.limited_transmit_repeats, "RFC 3042");
        assert!(rfc.idle_restart, "RFC 5681, section 4.1");
        assert_eq!((rfc.duplicate_threshold, rfc.exit_window), (3, ExitWindow::Flight));
        assert_eq!(rfc.sacked_at_timeout, SackedAtTimeout::Forgotten, "RFC 2018, section 8");
    }

    #[test]
    fn sack_is_selective_and_reno_is_not() {
        let all = [Recovery::NewReno, Recovery::Reno, Recovery::Sack, Recovery::Sack1];
        assert_eq!(all.map(Recovery::is_selective), [false, false, true, true]);
    }

    /// RFC 2018, section 3: two bytes of padding, kind and length, and 8 for each block. RFC 7323, appendix
    /// A: 12 for timestamps.
    #[test]
    fn header_bytes_add_up() {
        let header = CongestionHeader { bytes_with_data: 7, ..CongestionHeader::of(20) };
        let options = TcpOptions { timestamps: true, congestion_header: header, ..TcpOptions::default() };
        assert_eq!(options.header_with(0), 40 + 20 + 12);
        assert_eq!(options.header_with(3), 40 + 20 + 12 + 4 + 24);
        assert_eq!(options.header_with_data(), 40 + 12 + 7);
        assert_eq!((options.packet_size(), options.mss()), (1460 + 59, 1460));
        let marks = CongestionHeader::marks(Ecn::Ect1, 4);
        assert_eq!((marks.bytes, marks.bytes_with_data, marks.codepoint), (4, 0, Some(Ecn::Ect1)));
    }

    /// What a user has without options: the header in all segments, no marks; and every default that the
    /// fields name.
    #[test]
    fn defaults_of_every_other_option() {
        let expected = CongestionHeader {
            bytes: 20,
            bytes_with_data: 20,
            codepoint: None,
            ack_codepoint: Ecn::NotCapable,
        };
        assert_eq!(CongestionHeader::of(20), expected);
        assert_eq!(CongestionHeader::marks(Ecn::Ect0, 2).ack_codepoint, Ecn::NotCapable);
        let rfc = TcpOptions::default();
        assert_eq!((rfc.header, rfc.congestion_header), (40, CongestionHeader::of(0)));
        assert!(!rfc.timestamps && !rfc.time_every_segment && !rfc.delivery_rate && !rfc.ecn);
        assert!(rfc.handshake && rfc.feedback_of_duplicates && !rfc.echo_backs_off && !rfc.holes_first);
        assert_eq!((rfc.recovery, rfc.local_repairs, rfc.recovery_burst), (Recovery::NewReno, 0, None));
        assert_eq!(rfc.receive_window, 1024 * 1460);
        assert_eq!(rfc.delayed_ack, Some(Span::from_ms(100)), "RFC 1122: less than 0.5 s");
        assert_eq!((rfc.ack_every, rfc.pacing, rfc.small_queues), (2, false, None));
        let second = Span::from_ms(1_000);
        let RtoOptions { initial, min, max, margin, granularity, exponential } = rfc.rto;
        assert_eq!((initial, min, max), (second, second, second * 60), "RFC 6298, 2.1, 2.4, 2.5");
        assert_eq!((granularity, exponential, margin), (None, true, Span::ZERO));
        let RtoOptions { initial, min, max, margin, granularity, exponential } = RtoOptions::ns2();
        assert_eq!(
            (initial, min, max),
            (second * 3, Span::from_ms(200), second * 60),
            "rtxcur_init_, minrto_"
        );
        assert_eq!((granularity, exponential), (Some(Span::from_ms(10)), true), "tcpTick_ 0.01");
        assert_eq!(margin, Span::ZERO);
    }
}
