//! The parameters that all TCP schemes share.

mod ap;
mod bbr;
mod cubic;
mod newreno;
mod sack;
mod vegas;
mod westwood;

pub use ap::{DelayDispersion, ShortPaths, TcpAp};
pub use bbr::TcpBbr;
pub use cubic::TcpCubic;
pub use newreno::TcpNewReno;
pub use sack::{SackRecovery, TcpSack};
pub use vegas::TcpVegas;
pub use westwood::{Filter, TcpWestwood};

pub use multihop_transport::Flavour;

use crate::Misfit;
use crate::keys;
use crate::quantity::{Duration, Size};
use multihop_transport::{
    CongestionHeader, Controller as _, Growth, Recovery, Reno, RenoOptions, SackedAtTimeout, SmallQueues,
    TcpOptions,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Parameters of a TCP connection. What is left out takes the default of the `flavour`.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct TcpParameters {
        /// Whose defaults the other parameters take: those of the standards ("rfc"), of ns-2.35 ("ns2"), or
        /// of the Linux kernel ("linux"). linux also acknowledges two segments at once when a mark arrives,
        /// and opens no window in the round trip after an ECN-Echo; its retransmission timeout is at least
        /// `min_rto` above the smoothed round trip. ns2 also has quirks that no single parameter covers. It
        /// halves the congestion window and not what is outstanding, and opens it per acknowledgement, used
        /// or not; in `NewReno` recovery a duplicate acknowledgement releases at most two segments, and the
        /// window stays as deflated as it was; SACK recovery fills holes before it sends new data; after a
        /// timeout everything is sent again; SACK blocks cost 8 bytes each; retransmissions are ECN capable;
        /// and echoes at a window of one segment back off the timer.
        pub flavour: Flavour,
        /// Payload of a full segment. Default "1460 B", and "1448 B" in linux with timestamps.
        pub segment_size: Option<Size> ["1 B", "65535 B"],
        /// Network and transport headers of each packet, options not counted. Default "40 B".
        pub header: Option<Size> ["0 B", "65535 B"],
        /// Receive window in segments. It caps the congestion window and is the first slow-start threshold
        /// (ns-2's `window_`). Default 1024 (1.5 MB; rfc), large enough not to bind, as receivers that tune
        /// their buffers keep it (Fisk and Feng, Dynamic Right-Sizing, 2001; RFC 7323 for its scale); or 20
        /// (ns2).
        #[schemars(extend("x-role" = "receive-window"))]
        pub window: Option<u32> [1, 1_048_576],
        /// First congestion window in segments. Default: 3 segments of 1460 bytes (RFC 5681; rfc), 2 (ns2),
        /// or 10 (RFC 6928; linux).
        pub initial_window: Option<u32> [1, 1_048_576],
        /// First slow-start threshold in segments. Default: `window`.
        pub initial_threshold: Option<u32> [1, 1_048_576],
        /// The most segments by which one acknowledgement opens the window in slow start (RFC 3465). Default
        /// 1, and 2 in linux. In ns2 the window is opened per acknowledgement, unless this is given.
        pub byte_counting: Option<u32> [1, 1_048_576],
        /// The receiver waits this long for a second segment before it acknowledges; "0 s" acknowledges each
        /// segment. Default "100 ms" (rfc), "40 ms" (linux) or "0 s" (ns2, and tcp-ap and ewccp always).
        pub delayed_ack: Option<Duration> ["0 s", "500 ms"],
        /// Segments that one acknowledgement stands for, if they come within `delayed_ack`; fewer
        /// acknowledgements leave more of a shared medium to data (RFC 5690). Default 2. It opens the window
        /// more slowly in slow start, unless `byte_counting` is raised as well.
        pub ack_every: Option<u32> [1, 1000],
        /// Pace segments, once there is a round-trip sample, at Linux's rate for a window: 1.2 windows per
        /// smoothed round trip, 2 in slow start up to half of the threshold. Default false; schemes with a
        /// pace of their own keep it.
        pub window_pacing: Option<bool>,
        /// TCP small queues (Linux): no more of the connection waits in its own node, in queues and radio,
        /// than its rate in bytes per second shifted right by this, and at least two packets; twice that for
        /// what is sent again. 10, TCP's default in Linux, is about 1 ms, 7, that of mac80211, 8 ms. The rate
        /// is that of `window_pacing`, whether segments are paced or not. Default none: all that the window
        /// allows. On a node of several radios, what is handed from one to another counts as gone.
        pub pacing_shift: Option<u32> [0, 20],
        /// The most that waits there with `pacing_shift`, whatever the rate, of a connection that is not
        /// paced (Linux's `tcp_limit_output_bytes`). Default "4 MiB".
        pub output_limit: Option<Size> ["1 B", "1 GB"],
        /// Open the connection with SYN and SYN-ACK. Default true.
        pub handshake: Option<bool>,
        /// The timestamp option: 12 more header bytes, and a round-trip sample from every acknowledgement
        /// (RFC 7323). Default false: one segment at a time is timed; true in linux, and in tcp-ap unless the
        /// flavour is ns2.
        pub timestamps: Option<bool>,
        /// Explicit congestion notification (RFC 3168). Default false; always true in schemes that mark.
        pub ecn: Option<bool>,
        /// Limited Transmit: new data on the first two duplicate acknowledgements (RFC 3042). Default true;
        /// false in tcp-vegas with the flavour ns2.
        pub limited_transmit: Option<bool>,
        /// Where losses are repaired from selective acknowledgements: keep these when the retransmission
        /// timer expires, as most implementations do, and send nothing again that they report (RFC 6675,
        /// section 5.1). Default false (RFC 2018, section 8), and true in linux and of schemes whose window
        /// routers open, of xcp, xcp-b and xcp-winf with the flavour rfc, and false of ewccp.
        pub keep_sacked: Option<bool>,
        /// A node's MAC that gives a packet up, because its retry limit is reached, signals that to the end
        /// of the flow at this node, if the packet came from there. Data is sent again at once, in its own
        /// place in the window; so is an acknowledgement that no later one replaces. So often in a row
        /// without an answer: then the retransmission timer is waited for. Losses further on are found as
        /// without it. Default 0, no signal, and 10 of ewccp.
        pub local_repairs: Option<u32> [0, 1_048_576],
        /// Duplicate acknowledgements that mean a loss. Default 3.
        pub duplicate_threshold: Option<u32> [1, 1000],
        /// Retransmission timeout before the first round-trip sample. Default "1 s" (RFC 6298; rfc) or "3 s"
        /// (ns2).
        pub initial_rto: Option<Duration> ["1 ms", "1 h"],
        /// The least retransmission timeout. Default "1 s" (RFC 6298; rfc) or "200 ms" (ns2, linux).
        pub min_rto: Option<Duration> ["0 s", "1 h"],
        /// The largest retransmission timeout. Default "60 s", and "120 s" in linux.
        pub max_rto: Option<Duration> ["1 ms", "1 h"],
        /// Tick of the clock that measures round trips; "0 s" for an exact one. Default "0 s" (rfc) or "10
        /// ms" (ns2's `tcpTick_`).
        pub tick: Option<Duration> ["0 s", "1 s"],
    }
}

impl TcpParameters {
    /// Do values go together that each are in their range?
    ///
    /// # Errors
    /// The parameter, what was found, and what would do.
    pub fn check(&self) -> Result<(), Misfit> {
        if let (Some(limit), None) = (self.output_limit, self.pacing_shift) {
            let found = format!("{limit} has no effect without pacing_shift");
            return Err(Misfit::of("output_limit", found, "leave it out, or set pacing_shift, such as 10"));
        }
        self.check_ack_every()?;
        let rto = self.options(Recovery::NewReno).rto;
        if rto.min > rto.max {
            let (min, max) = (rto.min.ns() as f64 / 1e9, rto.max.ns() as f64 / 1e9);
            let value = format!("{min} s is above max_rto ({max} s)");
            return Err(Misfit::of("min_rto", value, format!("make it at most {max} s")));
        }
        Ok(())
    }

    fn check_ack_every(&self) -> Result<(), Misfit> {
        match self.ack_every {
            Some(every) if every > 1 && self.options(Recovery::NewReno).delayed_ack.is_none() => {
                let found = format!("{every} has no effect with a delayed_ack of 0 s");
                Err(Misfit::of("ack_every", found, "leave it out, or set delayed_ack, such as \"40 ms\""))
            }
            _ => Ok(()),
        }
    }

    /// The options that these parameters mean.
    pub fn options(&self, recovery: Recovery) -> TcpOptions {
        let segment_size = self.segment_size();
        let mut options = match self.flavour {
            Flavour::Ns2 => TcpOptions::ns2(recovery, segment_size, self.window()),
            Flavour::Linux => TcpOptions::linux(recovery, segment_size, self.window()),
            Flavour::Rfc => TcpOptions {
                recovery,
                segment_size,
                receive_window: u64::from(self.window()) * u64::from(segment_size),
                ..TcpOptions::default()
            },
        };
        let unless_zero = |duration: Duration| Some(duration.span()).filter(|span| span.ns() > 0);
        set(&mut options.header, self.header.map(|header| header.bytes() as u32));
        set(&mut options.delayed_ack, self.delayed_ack.map(unless_zero));
        set(&mut options.ack_every, self.ack_every);
        set(&mut options.pacing, self.window_pacing);
        options.small_queues = self.pacing_shift.map(|pacing_shift| SmallQueues {
            pacing_shift,
            limit: self.output_limit.map_or(SmallQueues::LIMIT, Size::bytes),
        });
        set(&mut options.handshake, self.handshake);
        set(&mut options.timestamps, self.timestamps);
        set(&mut options.ecn, self.ecn);
        set(&mut options.limited_transmit, self.limited_transmit);
        if let Some(kept) = self.keep_sacked {
            options.sacked_at_timeout = if kept { SackedAtTimeout::Kept } else { SackedAtTimeout::Forgotten };
        }
        set(&mut options.local_repairs, self.local_repairs);
        set(&mut options.duplicate_threshold, self.duplicate_threshold);
        set(&mut options.rto.initial, self.initial_rto.map(Duration::span));
        set(&mut options.rto.min, self.min_rto.map(Duration::span));
        if self.flavour == Flavour::Linux {
            options.rto.margin = options.rto.min;
        }
        set(&mut options.rto.max, self.max_rto.map(Duration::span));
        set(&mut options.rto.granularity, self.tick.map(unless_zero));
        options
    }

    /// The options of a connection whose window routers open: with selective acknowledgements, which hold
    /// after a timeout, a round-trip sample from every acknowledgement, and a receive window that does not
    /// bind, unless something else was given.
    pub(crate) fn router_assisted(&self, congestion_header: CongestionHeader) -> TcpOptions {
        let tcp = TcpParameters {
            window: self.window.or(Some(TcpOptions::OPEN_WINDOW)),
            keep_sacked: self.keep_sacked.or(Some(true)),
            ..self.clone()
        };
        TcpOptions { congestion_header, time_every_segment: true, ..tcp.options(Recovery::Sack) }
    }

    /// The AIMD controller that these parameters mean.
    pub fn reno(&self) -> Reno {
        Reno::new(self.reno_options())
    }

    /// The options of that controller, which others take their slow start, first window and limits from.
    pub fn reno_options(&self) -> RenoOptions {
        let segment_size = self.segment_size();
        let bytes = |segments: u32| u64::from(segments) * u64::from(segment_size);
        let mut options = match self.flavour {
            Flavour::Rfc => RenoOptions::rfc(segment_size, bytes(self.window())),
            Flavour::Ns2 => RenoOptions::ns2(segment_size, bytes(self.window())),
            Flavour::Linux => RenoOptions::linux(segment_size, bytes(self.window())),
        };
        set(&mut options.initial_window, self.initial_window.map(|segments| Some(bytes(segments))));
        options.initial_threshold = self.initial_threshold.map(bytes);
        set(&mut options.growth, self.byte_counting.map(|limit| Growth::PerByte { limit }));
        options
    }

    /// The first congestion window in bytes, with a default as in [`TcpParameters::reno`].
    pub(crate) fn first_window(&self) -> u64 {
        self.reno().allowance().window
    }

    /// Payload bytes of a full segment.
    pub fn segment_size(&self) -> u32 {
        let timestamps = self.flavour == Flavour::Linux && self.timestamps != Some(false);
        self.segment_size.map_or(if timestamps { 1448 } else { 1460 }, |size| size.bytes() as u32)
    }

    fn window(&self) -> u32 {
        self.window.unwrap_or(match self.flavour {
            Flavour::Rfc | Flavour::Linux => TcpOptions::OPEN_WINDOW,
            Flavour::Ns2 => 20,
        })
    }
}

pub(crate) fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::Span;
    use serde_json::json;

    #[test]
    fn a_timer_may_be_fixed_and_not_more_than_that() {
        let check = |min: &str, max: &str| {
            let parameters: TcpParameters =
                serde_json::from_value(json!({ "min_rto": min, "max_rto": max })).unwrap();
            parameters.check()
        };
        assert_eq!(check("1 s", "1 s"), Ok(()));
        assert_eq!(
            check("1001 ms", "1 s"),
            Err(Misfit::of("min_rto", "1.001 s is above max_rto (1 s)", "make it at most 1 s"))
        );
    }

    /// Of a packet of 1500 bytes timestamps take 12; the timer stays above the round trip by what is the
    /// least timeout.
    #[test]
    fn linux_has_its_own_defaults_and_takes_others() {
        let of = |value: serde_json::Value| serde_json::from_value::<TcpParameters>(value).unwrap();
        let linux = of(json!({ "flavour": "linux" }));
        let options = linux.options(Recovery::Sack);
        assert_eq!((options.segment_size, options.packet_size()), (1448, 1500));
        assert_eq!((linux.first_window(), options.rto.margin), (14_480, Duration(0.2).span()));
        let plain =
            of(json!({ "flavour": "linux", "timestamps": false, "min_rto": "50 ms", "initial_window": 4 }));
        let options = plain.options(Recovery::Sack);
        assert_eq!((options.segment_size, options.packet_size()), (1460, 1500));
        assert_eq!((plain.first_window(), options.rto.margin), (5_840, Duration(0.05).span()));
        assert_eq!(of(json!({ "min_rto": "50 ms" })).options(Recovery::Sack).rto.margin, Span::ZERO);
    }

    #[test]
    fn what_waits_below_is_limited_on_demand() {
        let of = |value: serde_json::Value| serde_json::from_value::<TcpParameters>(value).unwrap();
        let small = |value| of(value).options(Recovery::Sack).small_queues;
        assert_eq!(small(json!({ "flavour": "linux" })), None);
        assert_eq!(
            small(json!({ "pacing_shift": 7 })),
            Some(SmallQueues { pacing_shift: 7, limit: 4 << 20 })
        );
        let given =
            json!({ "pacing_shift": 10, "output_limit": "64 KiB", "window_pacing": true, "ack_every": 8 });
        assert_eq!(small(given.clone()), Some(SmallQueues { pacing_shift: 10, limit: 65_536 }));
        let options = of(given).options(Recovery::Sack);
        assert_eq!((options.pacing, options.ack_every), (true, 8));
        let alone = of(json!({ "output_limit": "64 KiB" })).check();
        assert_eq!(
            alone,
            Err(Misfit::of(
                "output_limit",
                "64 KiB has no effect without pacing_shift",
                "leave it out, or set pacing_shift, such as 10"
            ))
        );
        let at_once = of(json!({ "delayed_ack": "0 s", "ack_every": 2 })).check();
        let found = "2 has no effect with a delayed_ack of 0 s";
        let remedy = "leave it out, or set delayed_ack, such as \"40 ms\"";
        assert_eq!(at_once, Err(Misfit::of("ack_every", found, remedy)));
        assert_eq!(of(json!({ "delayed_ack": "0 s", "ack_every": 1 })).check(), Ok(()));
    }

    #[test]
    fn no_delay_and_no_tick_are_none() {
        let options = |delayed_ack: &str, tick: &str| {
            let parameters: TcpParameters =
                serde_json::from_value(json!({ "delayed_ack": delayed_ack, "tick": tick })).unwrap();
            let options = parameters.options(Recovery::Sack);
            (options.delayed_ack.map(Span::ns), options.rto.granularity.map(Span::ns))
        };
        assert_eq!(options("0 s", "0 s"), (None, None));
        assert_eq!(options("40 ms", "10 ms"), (Some(40_000_000), Some(10_000_000)));
    }
}
