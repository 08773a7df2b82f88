//! Options of rt-Winf, each declared once: name, default, range, and meaning.

use crate::Elapsed;
use multihop_core::{Interval, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packet size assumed before any packet was seen, in bytes.
pub(super) const FULL_SIZE: u32 = 1_500;

/// Reading of rt-Winf's equations of capacity.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Reading")]
pub enum WinfReading {
    /// As printed, with times of the ends of frames: Eqs. 1 and 6 divide by DATA and ACK, and Eq. 4 by DATA
    /// and CTS minus a SIFS. 1500 bytes at 11 Mb/s have a capacity of 7.47 and 7.51 Mb/s, because both
    /// divisors contain a control frame.
    Printed,
    /// As intended: all three divide by the airtime of DATA. `T_ACK` is the start of the ACK, and two SIFS
    /// and the CTS are subtracted from `T_DATA - T_RTS`. The same bytes have 9.21 Mb/s. For pairs of DATA and
    /// ACK it equals the printed reading: Eq. 12 has no CTS.
    Strict,
    /// As defined, "the maximum sustainable data rate at a link", of which "the unused portion" is available:
    /// the value of Eq. 14 for packets of this size. Capacity divides by the whole exchange with DIFS and the
    /// mean back-off, so that the same bytes have 4.52 Mb/s. All time in which the medium is sensed busy or
    /// reserved counts as used, with DIFS and the mean back-off of each access.
    Whole,
}

impl WinfReading {
    /// Denominator of Eqs. 1 and 6: time of the data in an exchange whose CTS ended at `cts` and whose ACK
    /// was on the air at `ack`. The additional time of [`WinfReading::Whole`] depends on the PHY alone, and
    /// is not included.
    pub fn transfer(self, cts: Time, ack: Interval, sifs: Span) -> Span {
        let ack = match self {
            WinfReading::Printed => ack.end,
            WinfReading::Strict | WinfReading::Whole => ack.start,
        };
        ack.since(cts).saturating_sub(sifs * 2)
    }
}

/// Declares a table of options: those common to rt-Winf with and without RTS/CTS, and options of its own.
macro_rules! options {
    (
        ($d:tt)
        $(#[$doc:meta])*
        $config:ident, listed by $list:ident:
        $(#[$readings:meta])*
        reading;
        $($own:tt)*
    ) => {
        multihop_config::parameters! {
            ($d)
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq)]
            $config, listed by $list:
            $(#[$readings])*
            reading: [WinfReading] = WinfReading::Printed;
            /// Divisor of busy time: the latest time of this length, or with "off" the time since the first
            /// exchange, as in the paper.
            window: Elapsed from "1 ms" to "1 min" = Elapsed::Window(Span::from_ms(1_000));
            $($own)*
            /// Whether ACKs report capacity and available bandwidth of the node that sends them. The sender
            /// uses the smaller of its own values and those that its receivers reported within the window of
            /// busy time (Eq. 11, for capacity alone). The ACK of 802.11 has no field for them: here they
            /// take no airtime.
            ack_report: bool = false;
            /// Packet size to which capacities are normalised, so that acknowledgements do not lower them:
            /// `S_ref / (T + (S_ref - S) / R)`. Default: the sizes sent, as printed; 40 bytes have a tenth of
            /// the capacity of 1500.
            reference_size: (Option<u32> as Bytes) from "1 B" to "65535 B" = None;
            /// Weight of a new sample of capacity: above 0, up to 1, which uses the last one alone. The paper
            /// does not state it.
            smoothing: f64 [above 0, 1] = 1.0 / 8.0;
        }
    };
}

options! {
    ($)
    /// Options of [`crate::RtWinf`].
    RtWinfOptions, listed by rt_winf_options:
    /// Reading of the equations: as printed; strict, with the airtime of DATA alone; or whole, with a
    /// complete exchange and all time sensed busy or reserved.
    reading;
    /// Whether overhearing nodes divide by the length of the exchange overheard last, `NAV_RTS + T_RTS` (Eq.
    /// 8) or `NAV_CTS + T_CTS + 2 SIFS` (Eq. 7), as printed. The available bandwidth is then a constant
    /// fraction of the capacity at any load, as long as the latest exchange was overheard. Not with reading
    /// "whole".
    total_per_exchange: bool = false;
    /// Whether whole exchanges count as busy, and each frame of others: the NAV, and also RTS, SIFS and CTS
    /// before it. As printed, NAVs alone count, so that 0.39 of the capacity remains of a saturated medium
    /// with 1500 bytes at 11 Mb/s; with this option, 0.14. Not with reading "whole", which counts sensed
    /// time.
    full_busy: bool = false;
}

options! {
    ($)
    /// Options of [`crate::RtWinfProbe`].
    RtWinfProbeOptions, listed by rt_winf_probe_options:
    /// Reading of the equations: as printed, or whole, with DIFS, back-off and all time sensed busy or
    /// reserved. The strict reading equals the printed one here, because Eq. 12 has no CTS, and cannot be
    /// selected.
    reading;
    /// Number of probes that the node sends to a next hop before a communication: UDP datagrams in data
    /// frames of the reserved subtype 1001. The paper sends 4. Default: none, so that an estimator observes
    /// existing traffic and does not change the run.
    probes: u32 [0, 1_000] = 0;
    /// Time between two probes. The paper sends four a second, as `AdHoc` Probe does.
    probe_interval: Span from "0 s" to "1 min" = Span::from_ms(250);
    /// Size of a probe, with UDP and IP headers.
    probe_size: Bytes from "28 B" to "2304 B" = 1500;
    /// Time without packets to a next hop after which the next packet begins a new communication. The paper
    /// does not state it.
    probe_after: Span from "1 ms" to "1 h" = Span::from_ms(10_000);
    /// Whether packets to a next hop wait until its probes are sent, as in the paper: for `probes` times
    /// `probe_interval`. Otherwise they do not wait, and the next probe is the last one that is due before
    /// more packets follow.
    probe_hold: bool = true;
}
