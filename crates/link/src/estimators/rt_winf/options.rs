//! Options of rt-Winf. Each is written once, here: name, default, range, and what it is for.

use crate::Elapsed;
use multihop_core::{Interval, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Size of the packets that a link is taken to carry before any were seen, in bytes.
pub(super) const FULL_SIZE: u32 = 1_500;

/// How rt-Winf's equations of capacity are read.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Reading")]
pub enum WinfReading {
    /// As printed, times being those of the ends of frames: Eqs. 1 and 6 divide by DATA and ACK, and Eq. 4 by
    /// DATA and CTS less a SIFS. 1500 bytes at 11 Mb/s have 7.47 and 7.51 Mb/s, as both contain one control
    /// frame.
    Printed,
    /// As meant: all three divide by the airtime of DATA. `T_ACK` is the beginning of the ACK, and from
    /// `T_DATA - T_RTS` two SIFS and the CTS are taken off. The same bytes have 9.21 Mb/s. Where pairs of
    /// DATA and ACK are watched it is the same as printed: Eq. 12 has no CTS.
    Strict,
    /// As defined, "the maximum sustainable data rate at a link", of which "the unused portion" is available:
    /// what Eq. 14 has for packets of this size. Capacity divides by the whole exchange with DIFS and the
    /// mean back-off, so that the same bytes have 4.52 Mb/s; and in use is all that the medium is sensed busy
    /// or reserved for, with DIFS and the mean back-off of each access.
    Whole,
}

impl WinfReading {
    /// The denominator of Eqs. 1 and 6: the time that the data of an exchange took of which the CTS ended at
    /// `cts` and the ACK was on the air at `ack`. What [`WinfReading::Whole`] counts besides depends on the
    /// PHY alone, and is not in it.
    pub fn transfer(self, cts: Time, ack: Interval, sifs: Span) -> Span {
        let ack = match self {
            WinfReading::Printed => ack.end,
            WinfReading::Strict | WinfReading::Whole => ack.start,
        };
        ack.since(cts).saturating_sub(sifs * 2)
    }
}

/// A table of options: those that rt-Winf has with RTS/CTS and without, and some of its own between them.
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
            /// What busy time is divided by: the latest time of this length, or with "off" the time since the
            /// first exchange, as in the paper.
            window: Elapsed from "1 ms" to "1 min" = Elapsed::Window(Span::from_ms(1_000));
            $($own)*
            /// ACKs report capacity and available bandwidth of the node that sends them, and the sender takes
            /// the smaller of its own and of what its receivers reported over the latest time that busy time
            /// counts for (Eq. 11, which has capacity alone). The ACK of 802.11 has no field for them: here
            /// they take no airtime.
            ack_report: bool = false;
            /// Capacities are those of packets of this size, so that acknowledgements do not lower them:
            /// `S_ref / (T + (S_ref - S) / R)`. Without it they are those of the sizes that are sent, as
            /// printed: 40 bytes have a tenth of the capacity of 1500.
            reference_size: (Option<u32> as Bytes) from "1 B" to "65535 B" = None;
            /// Weight of a new sample of capacity: above 0, up to 1, which keeps the last one alone. The
            /// paper says nothing of it.
            smoothing: f64 [above 0, 1] = 1.0 / 8.0;
        }
    };
}

options! {
    ($)
    /// Options of [`crate::RtWinf`].
    RtWinfOptions, listed by rt_winf_options:
    /// How the equations are read: as printed; strict, with the airtime of DATA alone; or whole, with all
    /// that an exchange needs and all that is sensed busy or reserved.
    reading;
    /// Overhearing nodes divide by the length of the exchange that they saw last, `NAV_RTS + T_RTS` (Eq. 8)
    /// or `NAV_CTS + T_CTS + 2 SIFS` (Eq. 7), as printed. The available bandwidth is then a constant fraction
    /// of the capacity, whatever the load, as long as the latest exchange was overheard. Not with reading
    /// "whole".
    total_per_exchange: bool = false;
    /// Whole exchanges count as busy, and each frame of others: what a NAV reserves, and besides RTS, SIFS
    /// and CTS before it. As printed, NAVs alone count, so that 0.39 of the capacity is left of a saturated
    /// medium with 1500 bytes at 11 Mb/s; with this, 0.14. Not with reading "whole", which goes by what is
    /// sensed.
    full_busy: bool = false;
}

options! {
    ($)
    /// Options of [`crate::RtWinfProbe`].
    RtWinfProbeOptions, listed by rt_winf_probe_options:
    /// How the equations are read: as printed, or whole, with DIFS and back-off and all that is sensed busy
    /// or reserved. The strict reading is the printed one here, as Eq. 12 has no CTS, and files do not say
    /// it.
    reading;
}
