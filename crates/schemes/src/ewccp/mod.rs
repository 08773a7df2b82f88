//! EWCCP (Tan, Jiang, Zhang and Shen, "Congestion Control in Multi-hop Wireless Networks", 2005/2007).
//! Routers signal to each other the queues of links that share the medium. They close windows according to
//! the sum of the queues in the neighbourhood.
//!
//! | file | content |
//! |---|---|
//! | `sender.rs` | window law (7)-(8), start-up probe, pacing |
//! | `router.rs` | rounds, separated control (6), times of signalling |
//! | `table.rs` | neighbour queue table: sums over [`crate::neighbourhood`]'s table |
//! | `summary.rs` | Bloom filter of the counted links |
//! | `signalling.rs` | entry of a broadcast |
//!
//! Choices where the paper is silent:
//! - A router finds a link congested by its own table. The receiving router uses the queues that the sending
//!   router does not know, and also adds feedback if the sending router found congestion.
//! - Credit that a probe gathered before a congested link is void.
//! - An end retransmits at once what its own MAC gave up, because windows of one to three segments bring no
//!   selective acknowledgements. Other losses are repaired by SACK or after a timeout.
//! - Losses do not change the window, unless `on_timeout` says so. After silence longer than a timeout, a
//!   probe asks for a new window.
//! - Acknowledgements count in queues but carry no feedback.

pub(crate) mod header;
mod router;
mod sender;
pub(crate) mod signalling;
mod summary;
mod table;

use crate::tcp::TcpParameters;
use crate::xcp::reject_ecn;
use crate::{Parameters, TcpScheme};
use header::{EwccpEcho, EwccpHeader};
use multihop_config::keys;
use multihop_config::parameter_error::{Clash, Found, ParameterError, Wanted};
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_core::{Carrier, HeaderFormat, NodeId};
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, Echo, Recovery, TcpOptions};
use router::{EwccpConstants, EwccpRouter, SharedCapacity};
use schemars::JsonSchema;
use sender::{EwccpSender, LeastWindow, SenderOptions};
use serde::{Deserialize, Serialize};
use signalling::EntryOnAir;
use summary::Hashing;

/// Random variation of the time between broadcasts, as a share of that time. It prevents repeated collisions
/// of neighbours.
const SIGNALLING_JITTER: f64 = 0.1;

keys! {
    /// Reliable transport whose window routers close according to the queues of all links around them, which
    /// they signal to each other.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Ewccp {
        /// Sum of the rates in a congested interference set, each hop counted (`psi C`): a "constant", or
        /// "measured". A measured sum is what the node overheard and delivered in the last interval, and at
        /// least a tenth of the bit rate.
        pub load: SharedLoad = SharedLoad::Constant,
        /// Constant `psi C`. Default: `psi` times the bit rate of the link.
        pub capacity: Option<BitRate> ["8 b/s", "16 Gb/s"],
        /// Share of the bit rate that a congested interference set carries. Ignored if `capacity` is given,
        /// and on wires, which carry their full rate. The paper does not give it. Default: in Table 1
        /// of the paper, five interfering hops of 2.35 Mb/s each carry 11.8 Mb/s, 22 % of 54 Mb/s.
        pub psi: f64 [0.001, 10] = 0.22,
        /// Increase law. With "rates" (Eq. 16) the data that a flow sends per control interval grows by
        /// `alpha` segments in each interval, which equalises rates. With "windows" (Eq. 8 as printed) the
        /// window grows by `alpha` segments, which equalises windows.
        pub law: Law = Law::Rates,
        /// Increase per control interval, in segments. `law` selects whether the data per interval or the
        /// window increases.
        pub alpha: f64 [0, 1000] = 1.0,
        /// Share of the neighbourhood's queue by which rates are lowered in each control interval.
        pub beta: f64 [0, 1000] = 1.0,
        /// Neighbourhood queue up to which there is no congestion. Default: one segment.
        pub gamma: Option<Size> ["0 B", "1 GB"],
        /// Control interval (`d`), over which queues are averaged. It should be longer than a round trip.
        pub interval: Duration ["1 ms", "1 min"] = Duration(0.1),
        /// Time between two broadcasts of a router (`d_s`). It should not be longer than `interval`.
        pub signalling_interval: Duration ["1 ms", "1 min"] = Duration(0.1),
        /// Number of hops over which queues are signalled. 1 fits links that interfere as far as they reach;
        /// more fits a longer interference range.
        pub signalling_hops: u32 [1, 16] = 1,
        /// Lifetime of a signalled queue at a router. Default: three times `signalling_interval`.
        pub lifetime: Option<Duration> ["1 ms", "1 h"],
        /// Bytes of a broadcast besides its entries: UDP and IP headers.
        pub signalling_header: Size ["0 B", "1500 B"] = Size(28.0),
        /// Bytes of an entry of a broadcast. In captures, bytes beyond 6 are padding. With fewer than 6, the
        /// last entries are missing.
        pub entry_size: Size ["1 B", "100 B"] = Size(6.0),
        /// Bits of the summary of links in each data packet, a multiple of 32.
        pub summary_bits: u32 [32, Hashing::MOST_BITS] = 128,
        /// Bits of the summary that each link sets.
        pub summary_hashes: u32 [1, 16] = 4,
        /// Whether the first packet is a probe. If no link on the path is congested, the probe sets the
        /// window to one segment for each link.
        pub probe: bool = true,
        /// Whether the sender spreads each window over a round trip.
        pub pacing: bool = true,
        /// Minimum window, in segments. With less than 1 and `pacing`, a sender can send one segment in
        /// several round trips, as prices of a crowded neighbourhood require. The paper has no minimum.
        /// Default: one segment per control interval or per round trip, whichever is less often; without
        /// `pacing`, one.
        pub least_window: Option<f64> [0.01, 1],
        /// Effect of a retransmission timeout on the window. With "keep" only acknowledgements change the
        /// window; the paper mentions no other change. With "probe" the sender restarts with one segment and
        /// a probe: flows that lose frames to hidden senders then remain at one segment and starve.
        pub on_timeout: OnTimeout = OnTimeout::Keep,
        /// TCP connection with SACK recovery and a congestion header of 8 bytes. Data packets carry 4 more
        /// bytes and the summary. `local_repairs` has its own default here.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

/// Source of the sum of the rates in a congested interference set.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedLoad {
    /// Constant.
    #[default]
    Constant,
    /// Data that the node overheard and delivered.
    Measured,
}

/// Quantity that grows by the same amount in each control interval, whatever the round-trip time is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The rate: a packet adds `alpha rtt^2 s^2 / (w d^2)` to the window.
    #[default]
    Rates,
    /// The window: a packet adds `alpha rtt s^2 / (w d)` to the window.
    Windows,
}

/// Effect of a retransmission timeout on the window.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// Restart with one segment and a probe.
    Probe,
    /// No effect.
    #[default]
    Keep,
}

/// Consecutive retransmissions of packets that the node's own MAC gave up. In the paper's topologies, higher
/// numbers change nothing. After them, an unreachable next hop is left to the retransmission timer.
const LOCAL_REPAIRS: u32 = 10;

/// Minimum of a measured load, as a share of the bit rate.
const LEAST_MEASURED: f64 = 0.1;

impl Ewccp {
    /// Returns the connection with the scheme's own defaults.
    fn connection(&self) -> TcpParameters {
        TcpParameters { local_repairs: self.tcp.local_repairs.or(Some(LOCAL_REPAIRS)), ..self.tcp.clone() }
    }

    fn constants(&self, egress: &EgressQueue) -> EwccpConstants {
        let psi = if egress.is_wired { 1.0 } else { self.psi };
        EwccpConstants {
            beta: self.beta,
            threshold: self.gamma.map_or(f64::from(self.tcp.segment_size()), |size| size.0),
            round: self.interval.span(),
            // A wire has no neighbours.
            signalling: (!egress.is_wired).then(|| self.signalling_interval.span()),
            jitter: SIGNALLING_JITTER,
            hops: self.signalling_hops as u8,
            lifetime: self.lifetime.map_or(self.signalling_interval.span() * 3, Duration::span),
            hashing: Hashing { bits: self.summary_bits, hashes: self.summary_hashes },
            header: self.signalling_header.bytes() as u32,
            entry: self.entry_size.bytes() as u32,
            capacity: match self.load {
                SharedLoad::Measured if !egress.is_wired => {
                    SharedCapacity::Measured { least: LEAST_MEASURED }
                }
                _ => self.capacity.map_or(SharedCapacity::Share(psi), |rate| {
                    SharedCapacity::Constant(rate.bytes_per_second())
                }),
            },
            rate: egress.rate,
        }
    }
}

impl Parameters for Ewccp {
    const NAME: &str = "ewccp";
    const SUMMARY: &str = "EWCCP: routers that share the medium signal their queues to each other and close windows accordingly";
    const REFERENCE: &str = "Tan, Jiang, Zhang and Shen, Congestion Control in Multi-hop Wireless Networks";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<EwccpHeader>()];
    const NOTICES: Option<(Carrier, HeaderFormat)> =
        Some((signalling::CARRIER, HeaderFormat::of::<EntryOnAir>()));

    fn check(&self) -> Result<(), ParameterError> {
        if !self.summary_bits.is_multiple_of(32) {
            let found = Found::Unsigned(self.summary_bits.into());
            return Err(ParameterError::new("summary_bits", found, Wanted::MultipleOf(32)));
        }
        if let (Some(least), false) = (self.least_window.filter(|least| *least < 1.0), self.pacing) {
            let found = Found::NoEffect(Clash::new(least, "pacing", false));
            return Err(ParameterError::new("least_window", found, Wanted::LeaveOutOr("pacing", "true")));
        }
        reject_ecn(&self.tcp)?;
        self.connection().check()
    }
}

impl TcpScheme for Ewccp {
    fn options(&self) -> TcpOptions {
        let options = self.connection().options(Recovery::Sack);
        TcpOptions {
            congestion_header: CongestionHeader {
                bytes: EwccpHeader::BYTES,
                bytes_with_data: EwccpHeader::BYTES + EwccpHeader::LINK_BYTES + self.summary_bits / 8,
                ..CongestionHeader::of(0)
            },
            time_every_segment: !options.timestamps,
            ..options
        }
    }

    fn control(&self) -> Box<dyn Controller> {
        let options = self.options();
        let timestamps = if options.timestamps { 12 } else { 0 };
        let header = options.header + options.congestion_header.bytes_with_data + timestamps;
        let sender = EwccpSender::new(SenderOptions {
            segment_size: options.segment_size,
            packet_size: options.segment_size + header,
            max_window: options.receive_window(),
            least_window: match self.least_window {
                None if self.pacing => LeastWindow::PerInterval,
                given => LeastWindow::Constant(f64::from(options.segment_size) * given.unwrap_or(1.0)),
            },
            law: self.law,
            link_words: 1 + (self.summary_bits / 32) as u8,
            alpha: self.alpha,
            round: self.interval.span(),
            probes: self.probe,
            paced: self.pacing,
            on_timeout: self.on_timeout,
        });
        Box::new(sender)
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(EwccpEcho::default()))
    }

    fn policy(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        Some(Box::new(EwccpRouter::new(node, self.constants(egress), egress.seed)))
    }
}

#[cfg(test)]
mod tests {
    use crate::find;
    use serde_json::json;

    #[test]
    fn a_window_of_less_than_a_segment_needs_pacing() {
        for parameters in [
            json!({ "least_window": 1.0, "pacing": false }),
            json!({ "least_window": 0.5, "pacing": true }),
            json!({ "least_window": 1.0, "pacing": true }),
        ] {
            assert!(find("ewccp").unwrap().build(&parameters).is_ok(), "{parameters}");
        }
    }
}

#[cfg(test)]
mod wiring;
