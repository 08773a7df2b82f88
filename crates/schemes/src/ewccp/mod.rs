//! EWCCP (Tan, Jiang, Zhang and Shen, "Congestion Control in Multi-hop Wireless Networks", 2005/2007): routers signal to each other the
//! queues of links that share the medium, and close windows by what waits in a whole neighbourhood.
//!
//! | file | what |
//! |---|---|
//! | `sender.rs` | the window law (7)-(8), the start-up probe, pacing |
//! | `router.rs` | rounds, separated control (6), when to signal |
//! | `table.rs` | the neighbour queue table: freshness, age |
//! | `summary.rs` | the Bloom filter of links that were counted |
//! | `signalling.rs` | what a broadcast says |
//!
//! Where the paper is silent, and what is done: a router finds a link congested by what it knows itself, and its receiver by what the
//! sender does not know, or if the sender found it congested. Credit that a probe gathered before a congested link is void. What the
//! MAC of an end's own node gives up goes again at once: windows of one to three segments have no selective acknowledgements to show
//! a loss by. Other losses are repaired from these, or after a timeout. None changes the window, unless `on_timeout` says otherwise;
//! after silence for longer than a timeout a probe asks for a window anew.
//! Acknowledgements wait in queues and count there, but are given no feedback.

pub(crate) mod header;
mod router;
mod sender;
mod signalling;
mod summary;
mod table;

use crate::quantity::{BitRate, Duration, Size};
use crate::range::{
    bytes_per_second, in_range, number_in_range, rate_in_range, size_in_range, span_in_range,
};
use crate::tcp::TcpParameters;
use crate::xcp::no_ecn;
use crate::{Misfit, Parameters, TcpScheme};
use header::{EwccpEcho, EwccpHeader};
use multihop_core::{Header, Layout, NodeId};
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_transport::{CongestionHeader, Controller, Echo, Recovery, TcpOptions};
use router::{Capacity, Constants, EwccpRouter};
use schemars::JsonSchema;
use sender::{EwccpSender, SenderOptions};
use serde::{Deserialize, Serialize};
use summary::Hashing;

/// A reliable transport whose window routers close by the queues of all links around, which they signal to each other.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Ewccp {
    /// What stands for the sum of the rates in a congested interference set, each hop counted (`psi C`): a constant, or what a node
    /// heard and delivered in the last interval, but at least a tenth of the bit rate ("measured"). Default "constant".
    pub load: SharedLoad,
    /// The constant `psi C`. Default: `psi` times the bit rate of what the queue leads to.
    pub capacity: Option<BitRate>,
    /// Share of the bit rate that a congested interference set carries; the paper does not give it. Ignored if `capacity` is given, and
    /// of wires, which carry all of theirs. Default 0.22: the paper's Table 1 has 2.35 Mb/s over seven hops, of which five interfere with
    /// each other and carry 11.8 of 54 Mb/s.
    pub psi: f64,
    /// What opens by `alpha` segments in each control interval: what a flow sends in one, so that rates are equalised ("rates"; Eq. 16), or
    /// its window, so that windows are (Eq. 8 as printed, "windows"). Default "rates".
    pub law: Law,
    /// Segments by which what the `law` names opens in each control interval.
    pub alpha: f64,
    /// Share of the neighbourhood's queue by which rates are lowered in each control interval.
    pub beta: f64,
    /// Neighbourhood queues up to this are no congestion. Default: one segment.
    pub gamma: Option<Size>,
    /// Control interval (`d`): queues are averaged over it. It should be longer than a round trip.
    pub interval: Duration,
    /// Time between two broadcasts of a router (`d_s`); it should not be longer than `interval`.
    pub signalling_interval: Duration,
    /// By which share of itself that time varies at random, lest neighbours go on colliding.
    pub signalling_jitter: f64,
    /// Over how many hops queues are signalled: 1 where links interfere as far as they reach, more where they interfere farther.
    #[schemars(range(min = 1, max = 16))]
    pub signalling_hops: u32,
    /// For how long a router believes what was signalled to it. Default: three times `signalling_interval`.
    pub lifetime: Option<Duration>,
    /// Bytes of a broadcast besides its entries: UDP and IP.
    pub signalling_header: Size,
    /// Bytes of an entry of a broadcast.
    pub entry_size: Size,
    /// Bits of the summary of links in each packet of data, a multiple of 32.
    #[schemars(range(min = 32, max = 128))]
    pub summary_bits: u32,
    /// Bits of it that each link sets.
    #[schemars(range(min = 1, max = 16))]
    pub summary_hashes: u32,
    /// The first packet asks for a window: as many segments as there are links, if none is congested.
    pub probe: bool,
    /// Spread each window over a round trip.
    pub pacing: bool,
    /// The least window, in segments. Below 1 a sender with `pacing` sends a segment in several round trips: prices of a crowded
    /// neighbourhood ask for that, and no window of whole segments can. Without `pacing` it must be 1. The paper names none.
    /// Default 1.
    pub least_window: f64,
    /// What a retransmission timeout does to the window. The paper says nothing of it; as it says it, acknowledgements alone change a
    /// window ("keep"). Or the sender begins anew, with one segment and a probe ("probe"): then flows that lose frames to hidden
    /// senders stay at one segment, and starve. Default "keep".
    pub on_timeout: OnTimeout,
    /// A TCP connection, repaired from selective acknowledgements, with a congestion header of 8 bytes, and in data 4 more and the
    /// summary. Each segment is acknowledged unless `delayed_ack` is given, and `local_repairs` is 10 unless given.
    #[serde(flatten)]
    pub tcp: TcpParameters,
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

/// Repairs in a row of what a node's own MAC gave up. In the paper's topologies more change nothing; a next hop that is not there is
/// left to the timer after them.
const LOCAL_REPAIRS: u32 = 10;

/// The least load that is measured, as a share of the bit rate.
const LEAST_MEASURED: f64 = 0.1;

impl Default for Ewccp {
    /// As published; sizes of headers and `psi` are ours.
    fn default() -> Ewccp {
        Ewccp {
            load: SharedLoad::Constant,
            capacity: None,
            psi: 0.22,
            law: Law::Rates,
            alpha: 1.0,
            beta: 1.0,
            gamma: None,
            interval: Duration(0.1),
            signalling_interval: Duration(0.1),
            signalling_jitter: 0.1,
            signalling_hops: 1,
            lifetime: None,
            signalling_header: Size(28.0),
            entry_size: Size(6.0),
            summary_bits: 128,
            summary_hashes: 4,
            probe: true,
            pacing: true,
            least_window: 1.0,
            on_timeout: OnTimeout::Keep,
            tcp: TcpParameters::default(),
        }
    }
}

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
            // Nobody hears a wire.
            signalling: (!egress.is_wired).then(|| self.signalling_interval.span()),
            jitter: self.signalling_jitter,
            hops: self.signalling_hops as u8,
            lifetime: self.lifetime.map_or(self.signalling_interval.span() * 3, Duration::span),
            hashing: Hashing { bits: self.summary_bits, hashes: self.summary_hashes },
            header: self.signalling_header.bytes() as u32,
            entry: self.entry_size.bytes() as u32,
            capacity: match self.load {
                SharedLoad::Measured if !egress.is_wired => Capacity::Measured { least: LEAST_MEASURED },
                _ => self
                    .capacity
                    .map_or(Capacity::Share(psi), |rate| Capacity::Constant(bytes_per_second(rate))),
            },
            rate: egress.rate,
        }
    }
}

impl Parameters for Ewccp {
    const NAME: &str = "ewccp";
    const SUMMARY: &str = "EWCCP: routers that share the medium signal their queues to each other, and to senders by how much to close";
    const REFERENCE: &str = "Tan, Jiang, Zhang and Shen, Congestion Control in Multi-hop Wireless Networks";
    const HEADERS: &[Layout] = &[EwccpHeader::LAYOUT];

    fn check(&self) -> Result<(), Misfit> {
        rate_in_range("capacity", self.capacity)?;
        number_in_range("psi", self.psi, 1e-3, 10.0)?;
        number_in_range("alpha", self.alpha, 0.0, 1000.0)?;
        number_in_range("beta", self.beta, 0.0, 1000.0)?;
        size_in_range("gamma", self.gamma, 0.0, 1e9)?;
        span_in_range("interval", Some(self.interval), 1e-3, 60.0)?;
        span_in_range("signalling_interval", Some(self.signalling_interval), 1e-3, 60.0)?;
        number_in_range("signalling_jitter", self.signalling_jitter, 0.0, 0.9)?;
        in_range("signalling_hops", Some(self.signalling_hops), 1, 16, "hops")?;
        span_in_range("lifetime", self.lifetime, 1e-3, 3600.0)?;
        size_in_range("signalling_header", Some(self.signalling_header), 0.0, 1_500.0)?;
        size_in_range("entry_size", Some(self.entry_size), 1.0, 100.0)?;
        in_range("summary_bits", Some(self.summary_bits), 32, Hashing::MOST_BITS, "bits")?;
        if !self.summary_bits.is_multiple_of(32) {
            return Err(Misfit::of("summary_bits", self.summary_bits, "it must be a multiple of 32"));
        }
        number_in_range("least_window", self.least_window, 0.01, 1.0)?;
        if self.least_window < 1.0 && !self.pacing {
            return Err(Misfit::of("least_window", self.least_window, "with pacing = false it must be 1"));
        }
        in_range("summary_hashes", Some(self.summary_hashes), 1, 16, "hashes")?;
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
            max_window: options.receive_window,
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
    fn what_is_wrong_with_the_law_or_the_repairs_is_said_in_one_sentence() {
        for (parameters, message) in [
            (json!({ "law": "sums" }), "law is \"sums\": unknown variant `sums`"),
            (json!({ "least_window": 2.0 }), "least_window is 2; it must be between 0.01 and 1"),
            (
                json!({ "least_window": 0.5, "pacing": false }),
                "least_window is 0.5; with pacing = false it must be 1",
            ),
            (
                json!({ "local_repairs": 2_000_000 }),
                "local_repairs is 2000000; it must be between 0 and 1048576 repairs",
            ),
        ] {
            let error = find("ewccp").unwrap().build(&parameters).err();
            assert!(error.as_ref().is_some_and(|error| error.to_string().contains(message)), "{error:?}");
        }
    }

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
