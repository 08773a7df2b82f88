//! Options of a TCP connection, with a field for each difference between RFCs, ns-2 and Linux.

use crate::{Flavour, RtoOptions, SmallQueues, Standby};
use multihop_config::{Written, parameters};
use multihop_core::{AccEcnOption, Ecn, Span};

/// Detection and repair of lost segments.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Recovery {
    /// Duplicate and partial acknowledgements (RFC 6582).
    #[default]
    NewReno,
    /// Duplicate acknowledgements; recovery ends with any new acknowledgement, so that a second loss in a
    /// window needs the retransmission timer (RFC 5681, section 3.2): ns-2's `Agent/TCP/Reno`, base of its
    /// XCP.
    Reno,
    /// Selective acknowledgements (RFC 6675).
    Sack,
    /// Selective acknowledgements as in ns-2's `Agent/TCP/Sack1`, which counts packets and keeps less state.
    Sack1,
    /// Times of sending, as hosts of today do it: RACK-TLP (RFC 8985) with proportional rate reduction (RFC
    /// 9937), F-RTO (RFC 5682) and undo of needless reductions.
    Rack,
}

impl Recovery {
    /// Whether the receiver reports the data that it has.
    pub const fn is_selective(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Sack1 | Recovery::Rack)
    }
}

/// Congestion window after `NewReno`'s fast recovery (RFC 6582, section 3.2, step 3).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ExitWindow {
    /// At most one segment more than the data in flight, so that no burst follows: the first option of RFC
    /// 6582.
    #[default]
    Flight,
    /// Window as deflated by partial acknowledgements, which the full acknowledgement opens like any other:
    /// ns-2 with its default `exit_recovery_fix_ 0`.
    Deflated,
}

/// Handling of selective acknowledgements when the retransmission timer expires.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SackedAtTimeout {
    /// The scoreboard is cleared, because the receiver may have reneged (RFC 2018, section 8). Data that the
    /// receiver reports afterwards is not retransmitted.
    Forgotten,
    /// The scoreboard is kept, as in most implementations (RFC 6675, section 5.1).
    Kept,
    /// All data is retransmitted, whatever the receiver reports, as in ns-2.
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

/// Use of segments by a scheme's feedback: size of the congestion header, and ECN codepoints. The scheme
/// defines the header itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CongestionHeader {
    /// Size of the header in segments without data, in bytes.
    pub bytes: u32,
    /// Size of the header in segments with data, in bytes. Differs if routers have their own part, or if only
    /// acknowledgements carry a header.
    pub bytes_with_data: u32,
    /// ECN codepoint of data, which routers may change; none if routers do not use it.
    pub codepoint: Option<Ecn>,
    /// ECN codepoint of acknowledgements: ECN-capable if routers may mark them as well.
    pub ack_codepoint: Ecn,
}

impl CongestionHeader {
    /// The same header in every segment.
    pub const fn of(bytes: u32) -> CongestionHeader {
        CongestionHeader { bytes, bytes_with_data: bytes, codepoint: None, ack_codepoint: Ecn::NotCapable }
    }

    /// Marking of data, which is sent with `codepoint`; acknowledgements return feedback of `bytes` bytes.
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
    /// Options of both ends of a TCP connection. The defaults are those of the RFCs, with 1460 bytes in
    /// packets of 1500. Linux 6 differs where the RFCs leave a choice: timestamps, timer, delayed
    /// acknowledgements of at most 40 ms, and its reactions to marks.
    #[derive(Clone, Debug, PartialEq)]
    TcpOptions(
        /// Detection and repair of losses.
        recovery: Recovery
    ) by Flavour, listed by tcp_parameters:
    /// Payload of a full segment (SMSS). linux without `timestamps` has the value of rfc.
    segment_size: Bytes from "1 B" to "65535 B" = 1460, Linux: 1448;
    /// Network and transport headers of each packet, without options.
    header: Bytes from "0 B" to "65535 B" = 40;
    /// Receive window in segments: the receiver's buffer, which it advertises. Limits the congestion window,
    /// and is the initial slow-start threshold (ns-2's `window_`). Receivers of linux begin with 64 KB, and
    /// tune the window to the rate at which the application reads, up to this value (Fisk and Feng, Dynamic
    /// Right-Sizing, 2001; `tcp_rmem` of 32 MB, two thirds of it payload). That of rfc binds beyond 1.5 MB
    /// per round trip.
    window: u32 [1, 1_048_576] = TcpOptions::OPEN_WINDOW, Ns2: 20, Linux: TcpOptions::TUNED_WINDOW;
    /// Maximum time for which the receiver delays an acknowledgement to wait for a second segment (RFC 1122,
    /// section 4.2.3.2); "0 s" acknowledges each segment.
    delayed_ack: (Option<Span> as Span) from "0 s" to "500 ms"
        = Some(Span::from_ms(100)), Ns2: None, Linux: Some(Span::from_ms(40));
    /// Time that the receiver's host takes before an acknowledgement leaves it. That of linux is measured:
    /// half of the kernel's acknowledgements leave within 126 us of a segment's arrival, nine in ten within
    /// 66 to 215 us. With linux the time varies evenly between half and one and a half of this value.
    host_delay: (Option<Span> as Span) from "0 s" to "1 s" = None, Linux: Some(Span::from_us(130));
    /// Number of segments that one acknowledgement covers, if they arrive within `delayed_ack`: two (RFC
    /// 5681, section 4.2), or more to leave more of a shared medium to data (acknowledgement ratio of RFC
    /// 5690; also the effect of a host that merges segments on reception). Larger values slow the window
    /// growth in slow start, unless `byte_counting` is raised as well.
    ack_every: u32 [1, 1000] = 2;
    /// Pace segments after the first round-trip sample, at Linux's rate for a window: 1.2 windows per
    /// smoothed round trip, 2 in slow start up to half of the threshold. Schemes with a pace of their own
    /// keep it.
    window_pacing: bool = false;
    /// TCP small queues (Linux): limit on the connection's data in the queues and the radio of its own node,
    /// the rate in bytes per second shifted right by this value, at least two packets; twice that for
    /// retransmissions. 10, TCP's default in Linux, is about 1 ms; 7, the value of mac80211, is 8 ms. The
    /// rate is that of `window_pacing`, whether segments are paced or not. The window does not open while
    /// this limit, and not the window, holds the sender back. None: no limit but the window. On a node of
    /// several radios, packets that one radio passes to another count as sent.
    pacing_shift: (Option<u32> as u32) [0, 20] = None;
    /// Upper limit of that amount with `pacing_shift`, whatever the rate, for a connection that is not paced
    /// (Linux's `tcp_limit_output_bytes`).
    output_limit: Bytes from "1 B" to "1 GB" = 4 << 20;
    /// Segmentation offload (Linux): new data is sent in bursts. A burst is the data that the rate carries in
    /// the time of `pacing_shift`, or in a millisecond, at least two segments. Short round trips add 64 KiB,
    /// halved for each 512 us of the minimum round trip. Half the window is the maximum. Less than a burst
    /// waits for the next acknowledgement, if that is expected within a millisecond. Pacing is between
    /// bursts, and a late burst brings the next one forward.
    segmentation_offload: bool = false, Linux: true;
    /// Receive offload (Linux's GRO): segments in order that arrive at one instant, such as those of an
    /// A-MPDU, count as one segment, up to one with PSH, the last of a burst. One acknowledgement covers them
    /// all.
    receive_offload: bool = false, Linux: true;
    /// Open the connection with SYN and SYN-ACK. If false, the connection is open from the start.
    handshake: bool = true;
    /// The timestamp option: 12 more header bytes, and a round-trip sample from every acknowledgement of new
    /// data (RFC 7323). Without it one segment at a time is timed (RFC 6298, section 3).
    timestamps: bool = false, Linux: true;
    /// Explicit congestion notification (RFC 3168).
    ecn: bool = false;
    /// Accurate ECN feedback (RFC 9768), negotiated in the handshake; includes `ecn`. Each acknowledgement
    /// reports the number of marks, in flags and in an option of 8 bytes. With timestamps and three SACK
    /// blocks there is no room for the option.
    accurate_ecn: bool = false;
    /// Limited Transmit: new data on the first two duplicate acknowledgements (RFC 3042).
    limited_transmit: bool = true;
    /// With recovery from selective acknowledgements: keep the scoreboard when the retransmission timer
    /// expires, as most implementations do, and do not retransmit data that it reports (RFC 6675, section
    /// 5.1). If false, the scoreboard is cleared (RFC 2018, section 8). None: all data is retransmitted,
    /// whatever the receiver reports.
    keep_sacked: (SackedAtTimeout as bool)
        = SackedAtTimeout::Forgotten, Ns2: SackedAtTimeout::SentAgain, Linux: SackedAtTimeout::Kept;
    /// Number of local repairs in a row without an acknowledgement. If the node's MAC reaches its retry limit
    /// for a packet of a flow that starts or ends at this node, it signals the loss to that end of the flow.
    /// Data is retransmitted at once, within the window; so is an acknowledgement that no later one replaces.
    /// Beyond this number, the retransmission timer repairs the loss. Losses at other nodes are detected as
    /// usual. 0: no signal.
    local_repairs: u32 [0, 1_048_576] = 0;
    /// Number of duplicate acknowledgements that indicate a loss (`DupThresh`).
    duplicate_threshold: u32 [1, 1000] = 3;
    {
        /// Record the send time of each segment, without extra bytes, so that every acknowledgement of data
        /// that was sent once gives the controller a round-trip sample. The retransmission timer keeps its
        /// own samples.
        time_every_segment: bool = false;
        /// Sample the delivery rate, without extra bytes, and report it to the controller with each
        /// acknowledgement ([`crate::Controller::on_delivered`]).
        delivery_rate: bool = false;
        /// Header bytes of the SACK option without its blocks of 8 bytes: 4 with padding (RFC 2018, section
        /// 3), none in ns-2.
        sack_option: u32 = 4, Ns2: 0;
        /// Send data with ECT(1), as a scalable sender (RFC 9331, section 4.1), once accurate feedback was
        /// negotiated.
        scalable: bool = false;
        /// Congestion header, in addition to `header`.
        congestion_header: CongestionHeader = CongestionHeader::of(0);
        /// Use router feedback of acknowledgements without new data as well. ns-2's XCP only uses that of
        /// acknowledgements of new data.
        feedback_of_duplicates: bool = true;
        /// Send retransmissions as ECN-capable, possibly with CWR, as in ns-2; RFC 3168, section 6.1.5,
        /// forbids ECN-capable retransmissions.
        ecn_on_retransmissions: bool = false, Ns2: true;
        /// Double the retransmission timeout at each further ECN-Echo at a window of one segment, as in ns-2.
        /// RFC 3168, section 6.1.2, only asks to wait for the timer.
        echo_backs_off: bool = false, Ns2: true;
        /// Apply Limited Transmit of `NewReno` also to retransmissions after a timeout, as in ns-2. The RFC
        /// refers to new data.
        limited_transmit_repeats: bool = false, Ns2: true;
        /// Order of SACK recovery: first every hole below selectively acknowledged data, lost or not, then
        /// new data, without rescue retransmissions, as in ns-2. If false, `NextSeg()` of RFC 6675.
        holes_first: bool = false, Ns2: true;
        /// Window after `NewReno`'s fast recovery.
        exit_window: ExitWindow = ExitWindow::Flight, Ns2: ExitWindow::Deflated;
        /// Maximum number of segments that one acknowledgement releases during `NewReno`'s fast recovery;
        /// none for no limit.
        recovery_burst: Option<u32> = None, Ns2: (recovery == Recovery::NewReno).then_some(2);
        /// Restart in slow start after the application was idle for longer than a retransmission timeout (RFC
        /// 5681, section 4.1).
        idle_restart: bool = true, Ns2: false;
        /// Number of lost SYNs that leave the initial window. RFC 5681, section 3.1, allows none; Linux
        /// allows one, as its first timeout is only a second (`tcp_init_transfer`).
        lost_syns_allowed: u32 = 0, Linux: 1;
        /// Number of segments that are acknowledged at once, from the first mark since the sender's last
        /// reaction. RFC 3168 asks for none; Linux does so (`tcp_enter_quickack_mode`).
        quick_acks: u32 = 0, Linux: 2;
        /// Number of segments that are acknowledged at once from the first data, from the first after a
        /// silence of a retransmission timeout, and from data that arrives again. The RFCs ask for none;
        /// Linux does so, as the sender may be in slow start (`tcp_incr_quickack`).
        start_quick_acks: u32 = 0, Linux: 16;
        /// Vary `host_delay` by half of it, as hosts do. A constant delay may always fall into the same slot
        /// of a contention for the medium.
        host_delay_varies: bool = false, Linux: true;
        /// Tune the receive window to the rate at which the application reads, up to `window`, as Linux does
        /// (`tcp_rcv_space_adjust`). If false, the receiver advertises `window` from the start.
        tuned_window: bool = false, Linux: true;
        /// Compress acknowledgements of data beyond a gap, as Linux does (`tcp_comp_sack`): after the third,
        /// one per 5 % of a round trip, at most a millisecond, covers up to 44 segments.
        compressed_acks: bool = false, Linux: true;
        /// Report data that arrived twice in the first SACK block (RFC 2883).
        duplicate_sack: bool = false, Linux: true;
        /// Acknowledge a segment with PSH or CWR at once, as Linux does if the application has read
        /// everything (`tcp_cleanup_rbuf`), and for a sender whose window may be very small
        /// (`tcp_ecn_accept_cwr`).
        prompt_acks: bool = false, Linux: true;
        /// Open the window only if it was full at any time since the last round of data, or half full in slow
        /// start, as in Linux (`tcp_cwnd_validate`), whether or not the application has more to send.
        validates_window: bool = false, Linux: true;
        /// Keep the window for the round trip after an ECN-Echo, as in Linux, where this is a separate state
        /// (CWR).
        holds_after_echo: bool = false, Linux: true;
        /// Reaction to failures of the route; none if the sender does not learn of them.
        standby: Option<Standby> = None;
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
    /// A receive window, in segments, that does not bind, so that the congestion window does. Deployed
    /// receivers tune their buffers to twice the data of a round trip for that purpose (Fisk and Feng,
    /// *Dynamic Right-Sizing in TCP*, 2001), and advertise it with the window scale option (RFC 7323), up to
    /// some megabytes. The application here reads delivered data at once, so that a fixed buffer suffices:
    /// 1.5 MB, more than twenty queues of 50 packets.
    pub const OPEN_WINDOW: u32 = 1024;

    /// Receive window, in segments, that a receiver of today reaches: 24 MB.
    pub const TUNED_WINDOW: u32 = 16_384;

    /// Defaults of ns-2.35 with `Agent/TCP/Newreno`, `Reno` or `Sack1` and `Agent/TCPSink`, `window_` in
    /// segments.
    pub fn ns2(recovery: Recovery, segment_size: u32, window: u32) -> TcpOptions {
        TcpOptions { segment_size, window, ..TcpOptions::of(Flavour::Ns2, recovery) }
    }

    /// Receive window in bytes.
    pub fn receive_window(&self) -> u64 {
        u64::from(self.window) * self.mss()
    }

    /// Bytes for which the receiver waits before it acknowledges, if routers open the window; otherwise 0.
    /// Routers often open less than that. A paced sender then sends that much ahead of acknowledgements,
    /// because its pace limits the rate. Another sender asks for an acknowledgement at once when its window
    /// is full (draft-ietf-tcpm-ack-rate-request, section 1).
    pub(crate) fn awaited_data(&self) -> u64 {
        let waits = self.delayed_ack.is_some() && self.congestion_header != CongestionHeader::default();
        if waits { u64::from(self.ack_every) * self.mss() } else { 0 }
    }

    /// Limit on data in the sender's own node; none for no limit but the window.
    pub fn small_queues(&self) -> Option<SmallQueues> {
        let limit = u64::from(self.output_limit);
        self.pacing_shift.map(|pacing_shift| SmallQueues { pacing_shift, limit })
    }

    /// Number of header bytes of a segment with `sack_blocks` SACK blocks; options are padded to 32-bit
    /// words.
    pub(crate) fn header_with(&self, sack_blocks: usize) -> u32 {
        let timestamps = if self.timestamps { 12 } else { 0 };
        let sack = if sack_blocks > 0 { self.sack_option + 8 * sack_blocks as u32 } else { 0 };
        self.header + self.congestion_header.bytes + timestamps + sack
    }

    /// Whether an `AccECN` option of two fields fits beside `sack_blocks` SACK blocks: options have 40 bytes
    /// (RFC 9293, section 3.1).
    pub(crate) fn has_room_for_acc_ecn(&self, sack_blocks: usize) -> bool {
        let others = self.header_with(sack_blocks) - self.header - self.congestion_header.bytes;
        others + AccEcnOption::LENGTH <= 40
    }

    /// Number of header bytes of a segment with data.
    pub(crate) fn header_with_data(&self) -> u32 {
        self.header_with(0) - self.congestion_header.bytes + self.congestion_header.bytes_with_data
    }

    /// Size of a full segment with its headers, in bytes.
    pub fn packet_size(&self) -> u32 {
        self.segment_size + self.header_with_data()
    }

    /// `segment_size` in the type of sequence numbers.
    pub(crate) fn mss(&self) -> u64 {
        u64::from(self.segment_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deviations of ns-2.35 from the RFCs, option by option.
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

    /// Defaults of a kernel: `include/net/tcp.h`, `net/ipv4/tcp_input.c`.
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

    /// Defaults by the RFCs named with each option.
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

    /// RFC 2018, section 3: two bytes of padding, kind and length, and 8 per block. RFC 7323, appendix A: 12
    /// for timestamps.
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

    /// Defaults of the remaining options: the header in all segments, no marks, and all defaults that the
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
        let RtoOptions { initial_rto, min_rto, max_rto, margin, tick, exponential, by_round } = rfc.rto;
        assert!(!by_round);
        assert_eq!((initial_rto, min_rto, max_rto), (second, second, second * 60), "RFC 6298, 2.1, 2.4, 2.5");
        assert_eq!((tick, exponential, margin), (None, true, Span::ZERO));
        let RtoOptions { initial_rto, min_rto, max_rto, margin, tick, exponential, by_round } =
            RtoOptions::ns2();
        assert!(!by_round);
        assert_eq!(
            (initial_rto, min_rto, max_rto),
            (second * 3, Span::from_ms(200), second * 60),
            "rtxcur_init_, minrto_"
        );
        assert_eq!((tick, exponential), (Some(Span::from_ms(10)), true), "tcpTick_ 0.01");
        assert_eq!(margin, Span::ZERO);
    }
}
