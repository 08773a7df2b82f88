//! Airtime that a flow needs.

use super::packet_cost::{PacketCost, cross_all};
use crate::config::{AppConfig, Config, FlowConfig};
use crate::routing::{LinkQuality, Routes};
use multihop_core::{NodeId, Segment, Span, Time};
use multihop_dot11::{AccessCategory, user_priority};
use multihop_schemes::Scheme;

/// Airtime on a link for one message of a flow, in seconds. A message may be several packets, or a share of
/// one. On a wire all times are transmission times.
///
/// Frames arrive as on an idle channel. Retransmissions of frames that the channel loses are counted;
/// collisions, which cost more, are not. `data` and `exchange` are lower bounds for any MAC; the others
/// describe DCF.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkTime {
    /// Index into the list of links.
    pub link: usize,
    /// Airtime of DATA frames alone, preambles included, until each packet has arrived once.
    pub data: f64,
    /// Airtime of exchanges, from the first bit to the last: as `data`, with RTS and CTS before each DATA
    /// frame if used, one ACK, and SIFS between frames.
    pub exchange: f64,
    /// Airtime of all frames that DCF sends. Includes DATA sent again because its ACK was lost, packets given
    /// up at the retry limit, and packets that a later hop gives up.
    pub airtime: f64,
    /// Waiting time of a station without contenders: DIFS, mean back-off, timeouts, and propagation.
    pub access: f64,
    /// Share of attempts with a full packet that succeed, from RTS to ACK.
    pub delivery: f64,
    /// Expected number of DATA frames per packet that arrives at the end of the path.
    pub transmissions: f64,
    /// Share of packets not delivered over the link, because the retry limit is reached or a wire loses them.
    pub lost: f64,
}

/// Airtime that a flow needs per message; a message is the payload that its transport sends in one packet at
/// best.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Payload bytes of a message: a full segment, or a packet of an application that sends datagrams.
    pub payload: u32,
    /// Bytes of network and transport headers per packet: the least that the transport uses.
    pub header: u32,
    /// Payload rate that the application offers, in bits per second; the mean for random arrivals; none if
    /// unlimited.
    pub offered_bps: Option<f64>,
    /// Whether the application offers that rate during the whole measured interval: it starts within the
    /// warm-up, never stops, and does not pause.
    pub steady: bool,
    /// Airtimes on the links of the path; empty if there is no path or it delivers nothing.
    pub forward: Vec<LinkTime>,
    /// Airtimes of acknowledgements, on the links of the reverse path, if every packet arrives once; empty
    /// for datagrams.
    pub feedback: Vec<LinkTime>,
}

impl Demand {
    /// Computes the demand of a flow; adds new links to the list.
    pub(super) fn new(
        config: &Config,
        flow: &FlowConfig,
        routes: &Routes,
        quality: &LinkQuality,
        links: &mut Vec<(NodeId, NodeId)>,
    ) -> Demand {
        let scheme = config.traffic.schemes[flow.scheme].scheme.as_ref();
        let extra_header = config.network.extra_header;
        let wire = SegmentSizes::of(scheme, arrivals_apart(config));
        let payload = match flow.app {
            AppConfig::Cbr { packet, .. } | AppConfig::Poisson { packet, .. } if !scheme.is_reliable() => {
                packet
            }
            // Frames have the mean size, each sent at once over datagrams.
            AppConfig::Video(video) if scheme.is_uncontrolled() => {
                let frame = (video.rate_bps / 8.0 / video.frame_rate).round().max(1.0);
                frame as u32
            }
            _ => scheme.segment_size(),
        };
        let pieces = pieces(payload, scheme.segment_size());
        let forward: Vec<(f64, u32)> =
            pieces.map(|piece| (1.0, piece + wire.header + extra_header)).collect();
        let feedback: Vec<(f64, u32)> =
            wire.feedback.iter().map(|(share, size)| (*share, size + extra_header)).collect();
        let category = if config.mac.edca.is_some() {
            AccessCategory::from_priority(user_priority(flow.dscp))
        } else {
            AccessCategory::BestEffort
        };
        let mut along = |from, to, packets: &[(f64, u32)], direction: CountedDirection| -> Vec<LinkTime> {
            let hops = routes.hops(from, to, &config.topology.radios).unwrap_or_default();
            let costs: Vec<Vec<PacketCost>> = hops
                .iter()
                .map(|hop| cross_all(*hop, packets, category, &config.topology, quality))
                .collect();
            let begun = begun(&costs, packets, direction);
            if begun.iter().flatten().any(|packets| *packets > MOST_BEGUN) {
                return Vec::new();
            }
            let used = hops.iter().map(|hop| index_of(links, *hop));
            used.zip(costs.iter().zip(&begun))
                .map(|(link, (of, begun))| link_time(link, packets, of, begun))
                .collect()
        };
        Demand {
            payload,
            header: wire.header + extra_header,
            offered_bps: flow.app.offered_bps(),
            steady: is_steady(config, flow),
            forward: along(flow.source, flow.destination, &forward, CountedDirection::Out),
            feedback: if feedback.is_empty() {
                Vec::new()
            } else {
                along(flow.destination, flow.source, &feedback, CountedDirection::Back)
            },
        }
    }
}

fn is_steady(config: &Config, flow: &FlowConfig) -> bool {
    let lasts = match flow.app {
        AppConfig::Saturated
        | AppConfig::Cbr { .. }
        | AppConfig::Poisson { .. }
        | AppConfig::Video(_)
        | AppConfig::Bulk { bytes: None } => true,
        AppConfig::Bulk { bytes: Some(_) } | AppConfig::Transfers { .. } | AppConfig::External => false,
    };
    lasts && flow.start <= config.recording.warmup && flow.stop.is_none_or(|stop| stop >= config.duration)
}

/// Payload sizes of the packets of a message.
fn pieces(message: u32, segment: u32) -> impl Iterator<Item = u32> {
    let segment = segment.max(1);
    (0..message.div_ceil(segment)).map(move |index| segment.min(message - index * segment))
}

fn index_of(links: &mut Vec<(NodeId, NodeId)>, link: (NodeId, NodeId)) -> usize {
    links.iter().position(|known| *known == link).unwrap_or_else(|| {
        links.push(link);
        links.len() - 1
    })
}

/// Number of packets started at the first node per packet delivered, beyond which a path carries nothing.
const MOST_BEGUN: f64 = 1e9;

/// Direction in which packets are counted.
#[derive(Clone, Copy, PartialEq)]
enum CountedDirection {
    /// Data: every packet has to arrive at the end of the path.
    Out,
    /// Feedback: every packet is sent once by the transport and may be lost.
    Back,
}

/// Number of packets of each size that are started on each hop.
fn begun(costs: &[Vec<PacketCost>], packets: &[(f64, u32)], direction: CountedDirection) -> Vec<Vec<f64>> {
    let mut made: Vec<Vec<f64>> = costs.iter().map(|_| vec![1.0; packets.len()]).collect();
    for kind in 0..packets.len() {
        let mut before = 1.0;
        match direction {
            CountedDirection::Out => {
                for (hop, of) in costs.iter().enumerate().rev() {
                    before /= of[kind].delivered;
                    made[hop][kind] = before;
                }
            }
            CountedDirection::Back => {
                for (hop, of) in costs.iter().enumerate() {
                    made[hop][kind] = before;
                    before *= of[kind].delivered;
                }
            }
        }
    }
    made
}

/// Time of packets on a link; each entry is a number of packets and their network-layer bytes.
fn link_time(link: usize, packets: &[(f64, u32)], costs: &[PacketCost], begun: &[f64]) -> LinkTime {
    let all = |of: &dyn Fn(&PacketCost, f64) -> f64| -> f64 {
        let each = packets.iter().zip(costs.iter().zip(begun));
        each.map(|((count, _), (crossing, begun))| count * (of(crossing, *begun) * 1e-9)).sum()
    };
    LinkTime {
        link,
        data: all(&|crossing, _| crossing.data),
        exchange: all(&|crossing, _| crossing.exchange),
        airtime: all(&|crossing, begun| begun * crossing.airtime),
        access: all(&|crossing, begun| begun * crossing.access),
        delivery: costs[0].delivery,
        transmissions: begun[0] * costs[0].transmissions,
        lost: 1.0 - costs[0].delivered,
    }
}

/// Packet sizes of a scheme's transport in the steady state of a transfer without losses.
#[derive(Clone, Debug, Default, PartialEq)]
struct SegmentSizes {
    /// Smallest number of header bytes of a full segment.
    header: u32,
    /// Feedback: packets per full segment, and their network-layer bytes; none if there is no regular
    /// feedback.
    feedback: Option<(f64, u32)>,
}

/// Number of full segments in the observed transfer, and number of first segments not counted, in which a
/// receiver tunes its window.
const WATCHED: usize = 1536;
const UNCOUNTED: usize = 1024;
/// Largest number of segments sent at once, so that a large window does not send everything before counting
/// begins.
const TOGETHER: usize = 64;

/// Time between segments that a receiver does not merge.
const APART: Span = Span::from_us(1);

/// Time between arrivals of segments that leave together: none if radios aggregate, whose MPDUs arrive at one
/// instant.
fn arrivals_apart(config: &Config) -> Span {
    if config.mac.block_ack.aggregation.is_some() { Span::ZERO } else { APART }
}

impl SegmentSizes {
    /// Observes a transfer of the scheme over a lossless path of 1 ms each way. Segments arrive `apart`.
    fn of(scheme: &dyn Scheme, apart: Span) -> SegmentSizes {
        let delay = Span::from_ms(1);
        let (mut sender, mut receiver) = (scheme.sender(), scheme.receiver());
        let full = scheme.segment_size();
        let (mut headers, mut back): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let (mut now, mut uncounted) = (Time::ZERO, None);
        sender.push(now, u64::from(full) * WATCHED as u64);
        // Many more turns than a transfer takes, in case it stalls.
        for _ in 0..WATCHED * 8 {
            let there: Vec<Segment> =
                std::iter::from_fn(|| sender.poll_segment(now)).take(TOGETHER).collect();
            now += delay;
            if uncounted.is_none() && headers.len() >= UNCOUNTED {
                uncounted = Some(headers.len());
            }
            let mut answers: Vec<Segment> = Vec::new();
            for segment in &there {
                headers.extend((segment.payload == full).then_some(segment.header));
                now += apart;
                while let Some(due) = receiver.poll_timeout().filter(|due| *due < now) {
                    receiver.on_timeout(due);
                    answers.extend(std::iter::from_fn(|| receiver.poll_segment(due)));
                }
                receiver.on_segment(now, segment);
                answers.extend(std::iter::from_fn(|| receiver.poll_segment(now)));
            }
            if there.is_empty() {
                let due = [sender.poll_timeout(), receiver.poll_timeout()].into_iter().flatten().min();
                let Some(due) = due else { break };
                now = now.max(due);
                for end in [&mut sender, &mut receiver] {
                    if end.poll_timeout().is_some_and(|timeout| timeout <= now) {
                        end.on_timeout(now);
                    }
                }
                answers.extend(std::iter::from_fn(|| receiver.poll_segment(now)));
            }
            now += delay;
            for answer in &answers {
                back.extend(uncounted.is_some().then_some(answer.header + answer.payload));
                sender.on_segment(now, answer);
            }
            if headers.len() >= WATCHED {
                break;
            }
        }
        let counted = headers.len() - uncounted.unwrap_or(headers.len());
        // Reports once per round-trip time are not counted: a shared path has few, and how few is not known
        // before the run.
        let least = back.iter().min().filter(|_| counted > 0 && scheme.is_reliable());
        let feedback = least.map(|size| (back.len() as f64 / counted as f64, *size));
        SegmentSizes { header: headers.iter().copied().min().unwrap_or(0), feedback }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_schemes::REGISTRY;
    use serde_json::json;

    fn wire(name: &str, parameters: &serde_json::Value) -> SegmentSizes {
        let entry = REGISTRY.iter().find(|entry| entry.name == name).unwrap();
        SegmentSizes::of(entry.build(parameters).unwrap().as_ref(), APART)
    }

    #[test]
    fn acknowledgements_are_counted_as_they_are_sent() {
        assert_eq!(wire("udp", &json!({})), SegmentSizes { header: 28, feedback: None });
        for (flavour, header) in [("rfc", 40), ("ns2", 32)] {
            let tfrc = wire("tfrc", &json!({ "flavour": flavour }));
            assert_eq!(tfrc, SegmentSizes { header, feedback: None }, "its reports are few");
        }
        let each = SegmentSizes { header: 40, feedback: Some((1.0, 40)) };
        assert_eq!(wire("tcp-newreno", &json!({ "flavour": "ns2" })), each);
        assert_eq!(wire("tcp-newreno", &json!({ "flavour": "rfc", "delayed_ack": "0 s" })), each);
        let stamped = SegmentSizes { header: 52, feedback: Some((1.0, 52)) };
        assert_eq!(wire("tcp-newreno", &json!({ "flavour": "ns2", "timestamps": true })), stamped);
        let every_second = wire("tcp-sack", &json!({}));
        assert_eq!((every_second.header, every_second.feedback.unwrap().1), (40, 40));
        assert!((every_second.feedback.unwrap().0 - 0.5).abs() < 0.01, "{every_second:?}");
        for window in [64, 1024] {
            let open = wire("xcp", &json!({ "flavour": "ns2", "window": window }));
            assert_eq!(open, SegmentSizes { header: 72, feedback: Some((1.0, 72)) }, "{window}");
        }
        // A host acknowledges each second segment, or all that arrive at one instant.
        let host = wire("tcp-newreno", &json!({}));
        assert_eq!((host.header, host.feedback.unwrap().1), (52, 52));
        assert!((0.4..=1.0).contains(&host.feedback.unwrap().0), "{host:?}");
        let merged = SegmentSizes::of(&multihop_schemes::TcpNewReno::default(), Span::ZERO);
        assert!(merged.feedback.unwrap().0 < 0.5 * host.feedback.unwrap().0, "{merged:?} of {host:?}");
        let alone = wire("tcp-newreno", &json!({ "window": 1 }));
        assert!(
            (alone.feedback.unwrap().0 - 1.0).abs() < 0.01,
            "one segment is acknowledged by the timer: {alone:?}"
        );
    }

    #[test]
    fn every_scheme_has_a_header() {
        for entry in REGISTRY {
            let wire = SegmentSizes::of(entry.build(&json!({})).unwrap().as_ref(), APART);
            assert!(wire.header >= 20, "{}: {wire:?}", entry.name);
        }
    }

    #[test]
    fn messages_are_cut_into_segments() {
        assert_eq!(pieces(2500, 1000).collect::<Vec<_>>(), [1000, 1000, 500]);
        assert_eq!(pieces(1000, 1000).collect::<Vec<_>>(), [1000]);
        assert_eq!(pieces(10, 1000).collect::<Vec<_>>(), [10]);
    }
}
