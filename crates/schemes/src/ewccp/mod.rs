//! EWCCP (Tan, Jiang, Zhang and Shen, "Congestion Control in Multi-hop Wireless Networks", 2005/2007):
//! routers signal to each other the queues of links that share the medium, and close windows by what waits in
//! a whole neighbourhood.
//!
//! | file | what |
//! |---|---|
//! | `sender.rs` | the window law (7)-(8), the start-up probe, pacing |
//! | `router.rs` | rounds, separated control (6), when to signal |
//! | `table.rs` | the neighbour queue table: freshness, age |
//! | `summary.rs` | the Bloom filter of links that were counted |
//! | `signalling.rs` | what a broadcast says |
//!
//! Where the paper is silent, and what is done: a router finds a link congested by what it knows itself, and
//! its receiver by what the sender does not know, or if the sender found it congested. Credit that a probe
//! gathered before a congested link is void. What the MAC of an end's own node gives up goes again at once:
//! windows of one to three segments have no selective acknowledgements to show a loss by. Other losses are
//! repaired from these, or after a timeout. None changes the window, unless `on_timeout` says otherwise;
//! after silence for longer than a timeout a probe asks for a window anew. Acknowledgements wait in queues
//! and count there, but are given no feedback.

pub(crate) mod header;
mod router;
mod sender;
pub(crate) mod signalling;
mod summary;
mod table;

use crate::tcp::TcpParameters;
use crate::xcp::no_ecn;
use crate::{Parameters, TcpScheme};
use header::{EwccpEcho, EwccpHeader};
use multihop_config::keys;
use multihop_config::parameter_error::{Clash, Found, ParameterError, Wanted};
use multihop_config::quantity::{BitRate, Duration, Size};
use multihop_core::{Carrier, HeaderFormat, NodeId};
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, Echo, Recovery, TcpOptions};
use router::{Capacity, Constants, EwccpRouter};
use schemars::JsonSchema;
use sender::{EwccpSender, SenderOptions};
use serde::{Deserialize, Serialize};
use signalling::EntryOnAir;
use summary::Hashing;

/// By which share of itself that time varies at random, lest neighbours go on colliding.
const SIGNALLING_JITTER: f64 = 0.1;

keys! {
    /// A reliable transport whose window routers close by the queues of all links around, which they signal
    /// to each other.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct Ewccp {
        /// What stands for the sum of the rates in a congested interference set, each hop counted (`psi C`):
        /// a constant, or what a node heard and delivered in the last interval, but at least a tenth of the
        /// bit rate ("measured").
        pub load: SharedLoad = SharedLoad::Constant,
        /// The constant `psi C`. Default: `psi` times the bit rate of what the queue leads to.
        pub capacity: Option<BitRate> ["8 b/s", "16 Gb/s"],
        /// Share of the bit rate that a congested interference set carries; the paper does not give it.
        /// Ignored if `capacity` is given, and of wires, which carry all of theirs. The default is that of
        /// the paper's Table 1, which has 2.35 Mb/s over seven hops, of which five interfere with each other
        /// and carry 11.8 of 54 Mb/s.
        pub psi: f64 [0.001, 10] = 0.22,
        /// What opens by `alpha` segments in each control interval: what a flow sends in one, so that rates
        /// are equalised ("rates"; Eq. 16), or its window, so that windows are (Eq. 8 as printed, "windows").
        pub law: Law = Law::Rates,
        /// Segments by which what the `law` names opens in each control interval.
        pub alpha: f64 [0, 1000] = 1.0,
        /// Share of the neighbourhood's queue by which rates are lowered in each control interval.
        pub beta: f64 [0, 1000] = 1.0,
        /// Neighbourhood queues up to this are no congestion. Default: one segment.
        pub gamma: Option<Size> ["0 B", "1 GB"],
        /// Control interval (`d`): queues are averaged over it. It should be longer than a round trip.
        pub interval: Duration ["1 ms", "1 min"] = Duration(0.1),
        /// Time between two broadcasts of a router (`d_s`); it should not be longer than `interval`.
        pub signalling_interval: Duration ["1 ms", "1 min"] = Duration(0.1),
        /// Over how many hops queues are signalled: 1 where links interfere as far as they reach, more where
        /// they interfere farther.
        pub signalling_hops: u32 [1, 16] = 1,
        /// For how long a router believes what was signalled to it. Default: three times
        /// `signalling_interval`.
        pub lifetime: Option<Duration> ["1 ms", "1 h"],
        /// Bytes of a broadcast besides its entries: UDP and IP.
        pub signalling_header: Size ["0 B", "1500 B"] = Size(28.0),
        /// Bytes of an entry of a broadcast. In captures what is beyond 6 is padding, and of less the last
        /// entries are missing.
        pub entry_size: Size ["1 B", "100 B"] = Size(6.0),
        /// Bits of the summary of links in each packet of data, a multiple of 32.
        pub summary_bits: u32 [32, Hashing::MOST_BITS] = 128,
        /// Bits of it that each link sets.
        pub summary_hashes: u32 [1, 16] = 4,
        /// The first packet asks for a window: as many segments as there are links, if none is congested.
        pub probe: bool = true,
        /// Spread each window over a round trip.
        pub pacing: bool = true,
        /// The least window, in segments. Below 1 a sender with `pacing` sends a segment in several round
        /// trips: prices of a crowded neighbourhood ask for that, and no window of whole segments can.
        /// Without `pacing` it must be 1. The paper names none.
        pub least_window: f64 [0.01, 1] = 1.0,
        /// What a retransmission timeout does to the window. The paper says nothing of it; as it says it,
        /// acknowledgements alone change a window ("keep"). Or the sender begins anew, with one segment and a
        /// probe ("probe"): then flows that lose frames to hidden senders stay at one segment, and starve.
        pub on_timeout: OnTimeout = OnTimeout::Keep,
        /// A TCP connection, repaired from selective acknowledgements, with a congestion header of 8 bytes,
        /// and in data 4 more and the summary. It has its own `delayed_ack` and `local_repairs` unless these
        /// are given.
        #[serde(flatten)]
        pub tcp: TcpParameters,
    }
}

/// What stands for the sum of the rates in a congested interference set.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedLoad {
    /// A constant.
    #[default]
    Constant,
    /// What a node heard and delivered.
    Measured,
}

/// What opens by as much in each control interval, whatever the round-trip time is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The rate: what a packet adds is `alpha rtt^2 s^2 / (w d^2)`.
    #[default]
    Rates,
    /// The window: what a packet adds is `alpha rtt s^2 / (w d)`.
    Windows,
}

/// What a retransmission timeout does to the window.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// It begins anew with a probe.
    Probe,
    /// Nothing.
    #[default]
    Keep,
}

/// Repairs in a row of what a node's own MAC gave up. In the paper's topologies more change nothing; a next
/// hop that is not there is left to the timer after them.
const LOCAL_REPAIRS: u32 = 10;

/// The least load that is measured, as a share of the bit rate.
const LEAST_MEASURED: f64 = 0.1;

impl Ewccp {
    /// Its own defaults.
    fn connection(&self) -> TcpParameters {
        TcpParameters {
            delayed_ack: self.tcp.delayed_ack.or(Some(Duration(0.0))),
            local_repairs: self.tcp.local_repairs.or(Some(LOCAL_REPAIRS)),
            ..self.tcp.clone()
        }
    }

    fn constants(&self, egress: &EgressQueue) -> Constants {
        let psi = if egress.is_wired { 1.0 } else { self.psi };
        Constants {
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
                SharedLoad::Measured if !egress.is_wired => Capacity::Measured { least: LEAST_MEASURED },
                _ => self
                    .capacity
                    .map_or(Capacity::Share(psi), |rate| Capacity::Constant(rate.bytes_per_second())),
            },
            rate: egress.rate,
        }
    }
}

impl Parameters for Ewccp {
    const NAME: &str = "ewccp";
    const SUMMARY: &str = "EWCCP: routers that share the medium signal their queues to each other, and to senders by how much to close";
    const REFERENCE: &str = "Tan, Jiang, Zhang and Shen, Congestion Control in Multi-hop Wireless Networks";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<EwccpHeader>()];
    const NOTICES: Option<(Carrier, HeaderFormat)> =
        Some((signalling::CARRIER, HeaderFormat::of::<EntryOnAir>()));

    fn check(&self) -> Result<(), ParameterError> {
        if !self.summary_bits.is_multiple_of(32) {
            let found = Found::Unsigned(self.summary_bits.into());
            return Err(ParameterError::new("summary_bits", found, Wanted::MultipleOf(32)));
        }
        if self.least_window < 1.0 && !self.pacing {
            let found = Found::NoEffect(Clash::new(self.least_window, "pacing", false));
            return Err(ParameterError::new("least_window", found, Wanted::LeaveOutOr("pacing", "true")));
        }
        no_ecn(&self.tcp)?;
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
            least_window: f64::from(options.segment_size) * self.least_window,
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
