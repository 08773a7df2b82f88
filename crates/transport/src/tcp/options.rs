//! The options of a TCP connection. Where RFCs and ns-2 part, each difference is a field here.

use crate::{Flavour, RtoOptions, SmallQueues};
use multihop_core::{Ecn, Span, Written, parameters};

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

impl Written<bool> for SackedAtTimeout {
    fn read(kept: bool) -> SackedAtTimeout {
        if kept { SackedAtTimeout::Kept } else { SackedAtTimeout::Forgotten }
    }

    fn written(&self) -> Option<bool> {
        match self {
            SackedAtTimeout::Forgotten => Some(false),
            SackedAtTimeout::Kept => Some(true),
            SackedAtTimeout::SentAgain => None,
        }
    }
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

parameters! {
    ($)
    /// Options of both ends of a TCP connection, by default as the RFCs have it: 1460 bytes in 1500. Linux 6
    /// has its own where the RFCs leave a choice: timestamps, its timer, delayed acknowledgements of at most
    /// 40 ms, and what it does about marks.
    #[derive(Clone, Debug, PartialEq)]
    TcpOptions(
        /// How losses are repaired.
        recovery: Recovery
    ) by Flavour, listed by tcp_parameters:
    /// Payload of a full segment (SMSS). linux without `timestamps` has that of rfc.
    segment_size: Bytes from "1 B" to "65535 B" = 1460, Linux: 1448;
    /// Network and transport headers of each packet, options not counted.
    header: Bytes from "0 B" to "65535 B" = 40;
    /// Receive window in segments: the receiver's buffer, which it advertises. It caps the congestion window
    /// and is the first slow-start threshold (ns-2's `window_`). That of rfc is large enough not to bind, as
    /// receivers that tune their buffers keep it (Fisk and Feng, Dynamic Right-Sizing, 2001; RFC 7323 for its
    /// scale).
    window: u32 [1, 1_048_576] = TcpOptions::OPEN_WINDOW, Ns2: 20;
    /// The receiver waits this long for a second segment before it acknowledges (RFC 1122, section 4.2.3.2);
    /// "0 s" acknowledges each segment.
    delayed_ack: (Option<Span> as Span) from "0 s" to "500 ms"
        = Some(Span::from_ms(100)), Ns2: None, Linux: Some(Span::from_ms(40));
    /// Segments that one acknowledgement stands for, if they come within `delayed_ack`: two (RFC 5681,
    /// section 4.2), or more, which leaves more of a shared medium to data (RFC 5690's acknowledgement ratio,
    /// and what a host that merges segments on reception comes to). A larger number opens the window more
    /// slowly in slow start, unless `byte_counting` is raised as well.
    ack_every: u32 [1, 1000] = 2;
    /// Pace segments, once there is a round-trip sample, at Linux's rate for a window: 1.2 windows per
    /// smoothed round trip, 2 in slow start up to half of the threshold. Schemes with a pace of their own
    /// keep it.
    window_pacing: bool = false;
    /// TCP small queues (Linux): no more of the connection waits in its own node, in queues and radio, than
    /// its rate in bytes per second shifted right by this, and at least two packets; twice that for what is
    /// sent again. 10, TCP's default in Linux, is about 1 ms, 7, that of mac80211, 8 ms. The rate is that of
    /// `window_pacing`, whether segments are paced or not. The window does not open while this, and not the
    /// window, holds the sender back. None: all that the window allows. On a node of several radios, what is
    /// handed from one to another counts as gone.
    pacing_shift: (Option<u32> as u32) [0, 20] = None;
    /// The most that waits there with `pacing_shift`, whatever the rate, of a connection that is not paced
    /// (Linux's `tcp_limit_output_bytes`).
    output_limit: Bytes from "1 B" to "1 GB" = 4 << 20;
    /// Segmentation offload (Linux): new data leaves in bursts of what the rate brings in the time that
    /// `pacing_shift` says, or in a millisecond, of at least two segments, and of more where round trips are
    /// short: 64 KiB, halved for each 512 us of the least one; but of at most half the window. Less than a
    /// burst waits for the next acknowledgement, if that is to come within a millisecond. Pacing is from
    /// burst to burst, and one that leaves late has the next sooner.
    segmentation_offload: bool = false, Linux: true;
    /// Receive offload (Linux's GRO): segments in order that arrive at one instant, as those of an A-MPDU do,
    /// are one to the receiver, up to one with PSH, the last of a burst. One acknowledgement stands for all.
    receive_offload: bool = false, Linux: true;
    /// Open the connection with SYN and SYN-ACK. Without it the connection is open from the start.
    handshake: bool = true;
    /// The timestamp option: 12 more header bytes, and a round-trip sample from every acknowledgement of new
    /// data (RFC 7323). Without it one segment at a time is timed (RFC 6298, section 3).
    timestamps: bool = false, Linux: true;
    /// Explicit congestion notification (RFC 3168).
    ecn: bool = false;
    /// Limited Transmit: new data on the first two duplicate acknowledgements (RFC 3042).
    limited_transmit: bool = true;
    /// Where losses are repaired from selective acknowledgements: keep these when the retransmission timer
    /// expires, as most implementations do, and send nothing again that they report (RFC 6675, section 5.1).
    /// Otherwise they are forgotten (RFC 2018, section 8). None: everything is sent again, whatever the
    /// receiver reports.
    keep_sacked: (SackedAtTimeout as bool)
        = SackedAtTimeout::Forgotten, Ns2: SackedAtTimeout::SentAgain, Linux: SackedAtTimeout::Kept;
    /// A node's MAC that gives a packet up, because its retry limit is reached, signals that to the end of
    /// the flow at this node, if the packet came from there. Data is sent again at once, in its own place in
    /// the window; so is an acknowledgement that no later one replaces. So often in a row without an answer:
    /// then the retransmission timer is waited for. Losses further on are found as without it. 0: no signal.
    local_repairs: u32 [0, 1_048_576] = 0;
    /// Duplicate acknowledgements that mean a loss (`DupThresh`).
    duplicate_threshold: u32 [1, 1000] = 3;
    {
        /// Note when each segment was sent, at no cost in bytes, so that every acknowledgement of data that
        /// was sent once gives the controller a round-trip sample. The retransmission timer goes on with the
        /// samples that it would have without.
        time_every_segment: bool = false;
        /// Sample the rate at which data is delivered, at no cost in bytes, and report it to the controller
        /// with each acknowledgement ([`crate::Controller::on_delivered`]).
        delivery_rate: bool = false;
        /// Header bytes of the SACK option itself, before 8 for each block: 4 with padding (RFC 2018, section
        /// 3), none in ns-2.
        sack_option: u32 = 4, Ns2: 0;
        /// The congestion header, beyond `header`.
        congestion_header: CongestionHeader = CongestionHeader::of(0);
        /// What an acknowledgement without news brings from routers counts as well. ns-2's XCP only takes it
        /// from those of new data.
        feedback_of_duplicates: bool = true;
        /// Retransmissions are ECN capable too and may carry CWR, as in ns-2; RFC 3168, section 6.1.5,
        /// forbids the former.
        ecn_on_retransmissions: bool = false, Ns2: true;
        /// Each further ECN-Echo at a window of one segment doubles the wait for the retransmission timer, as
        /// in ns-2. RFC 3168, section 6.1.2, only asks to wait for it.
        echo_backs_off: bool = false, Ns2: true;
        /// `NewReno` applies Limited Transmit also to what it repeats after a timeout, as ns-2 does. The RFC
        /// speaks of new data.
        limited_transmit_repeats: bool = false, Ns2: true;
        /// In which order SACK recovery sends: first every hole below what was selectively acknowledged, lost
        /// or not, then new data, and no rescue, as ns-2 does. Without it `NextSeg()` of RFC 6675.
        holes_first: bool = false, Ns2: true;
        /// The window after `NewReno`'s fast recovery.
        exit_window: ExitWindow = ExitWindow::Flight, Ns2: ExitWindow::Deflated;
        /// Segments that one acknowledgement may release during `NewReno`'s fast recovery; none for no limit.
        recovery_burst: Option<u32> = None, Ns2: (recovery == Recovery::NewReno).then_some(2);
        /// Slow start again after the application was silent for longer than a retransmission timeout (RFC
        /// 5681, section 4.1).
        idle_restart: bool = true, Ns2: false;
        /// Segments that are acknowledged at once when the first mark since the sender's last answer arrives,
        /// and after it. RFC 3168 asks for none; Linux does it (`tcp_enter_quickack_mode`).
        quick_acks: u32 = 0, Linux: 2;
        /// A segment that has PSH or CWR is acknowledged at once, as Linux does where the application has
        /// read everything (`tcp_cleanup_rbuf`), and to a sender whose window may be very small
        /// (`tcp_ecn_accept_cwr`).
        prompt_acks: bool = false, Linux: true;
        /// The window opens if it was full at any time since the last round of data, or by half in slow
        /// start, as in Linux (`tcp_cwnd_validate`), and not because the application has more to send.
        validates_window: bool = false, Linux: true;
        /// The window does not open for the round trip after an ECN-Echo, as in Linux, in which that is a
        /// state of its own (CWR).
        holds_after_echo: bool = false, Linux: true;
        /// The retransmission timer.
        rto: RtoOptions = RtoOptions::of(Flavour::Rfc), Ns2: RtoOptions::ns2(), Linux: RtoOptions::linux();
    }
}

impl Default for TcpOptions {
    fn default() -> TcpOptions {
        TcpOptions::of(Flavour::Rfc, Recovery::default())
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
        TcpOptions { segment_size, window, ..TcpOptions::of(Flavour::Ns2, recovery) }
    }

    /// The receive window in bytes.
    pub fn receive_window(&self) -> u64 {
        u64::from(self.window) * self.mss()
    }

    /// How much may wait in the sender's own node; none for all that the window allows.
    pub fn small_queues(&self) -> Option<SmallQueues> {
        let limit = u64::from(self.output_limit);
        self.pacing_shift.map(|pacing_shift| SmallQueues { pacing_shift, limit })
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
        assert_eq!(ns2.receive_window(), 20_000, "window_ 20");
        assert_eq!(ns2.recovery, Recovery::NewReno);
        assert_eq!(ns2.sack_option, 0, "blocks take no room but their own");
        assert!(ns2.ecn_on_retransmissions && ns2.echo_backs_off);
        assert!(ns2.limited_transmit && ns2.limited_transmit_repeats, "singledup_ 1");
        assert!(ns2.holes_first);
        assert_eq!(ns2.exit_window, ExitWindow::Deflated, "exit_recovery_fix_ 0");
        assert_eq!(ns2.recovery_burst, Some(2), "two segments for an acknowledgement");
        assert_eq!(ns2.keep_sacked, SackedAtTimeout::SentAgain);
        assert!(!ns2.idle_restart, "a silence changes nothing");
        assert_eq!(ns2.delayed_ack, None, "Agent/TCPSink, not DelAck");
        assert_eq!(ns2.rto, RtoOptions::ns2());
        assert_eq!(TcpOptions::ns2(Recovery::Sack1, 1000, 20).recovery_burst, None);
        assert_eq!(TcpOptions::ns2(Recovery::Sack1, 1000, 20).recovery, Recovery::Sack1);
    }

    /// What a kernel has: `include/net/tcp.h`, `net/ipv4/tcp_input.c`.
    #[test]
    fn linux_has_its_own_defaults() {
        let linux = TcpOptions { window: 100, ..TcpOptions::of(Flavour::Linux, Recovery::Sack) };
        assert_eq!(linux.packet_size(), 1500, "timestamps take 12 bytes");
        assert_eq!((linux.receive_window(), linux.recovery), (144_800, Recovery::Sack));
        assert_eq!(linux.keep_sacked, SackedAtTimeout::Kept);
        assert_eq!((linux.delayed_ack, linux.quick_acks), (Some(Span::from_ms(40)), 2), "TCP_DELACK_MIN");
        assert!(linux.holds_after_echo && !TcpOptions::default().holds_after_echo);
        assert_eq!(TcpOptions::default().quick_acks, 0);
        let RtoOptions { initial_rto, min_rto, max_rto, margin, .. } = linux.rto;
        assert_eq!(
            [initial_rto, min_rto, max_rto, margin].map(|span| span.ns() / 1_000_000),
            [1_000, 200, 120_000, 200]
        );
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
        assert_eq!(rfc.keep_sacked, SackedAtTimeout::Forgotten, "RFC 2018, section 8");
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
        assert_eq!(rfc.receive_window(), 1024 * 1460);
        assert_eq!(rfc.delayed_ack, Some(Span::from_ms(100)), "RFC 1122: less than 0.5 s");
        assert_eq!((rfc.ack_every, rfc.window_pacing, rfc.small_queues()), (2, false, None));
        let second = Span::from_ms(1_000);
        let RtoOptions { initial_rto, min_rto, max_rto, margin, tick, exponential } = rfc.rto;
        assert_eq!((initial_rto, min_rto, max_rto), (second, second, second * 60), "RFC 6298, 2.1, 2.4, 2.5");
        assert_eq!((tick, exponential, margin), (None, true, Span::ZERO));
        let RtoOptions { initial_rto, min_rto, max_rto, margin, tick, exponential } = RtoOptions::ns2();
        assert_eq!(
            (initial_rto, min_rto, max_rto),
            (second * 3, Span::from_ms(200), second * 60),
            "rtxcur_init_, minrto_"
        );
        assert_eq!((tick, exponential), (Some(Span::from_ms(10)), true), "tcpTick_ 0.01");
        assert_eq!(margin, Span::ZERO);
    }
}
