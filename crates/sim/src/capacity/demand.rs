//! What a flow needs of the channel.

use super::crossing::{Crossing, cross_all};
use crate::config::{AppConfig, Config, FlowConfig};
use crate::routing::{LinkQuality, Routes};
use multihop_core::{NodeId, Segment, Span, Time};
use multihop_dot11::{AccessCategory, user_priority};
use multihop_schemes::Scheme;

/// Airtime on a link for one message of a flow, in seconds. A message may be several packets, or a share of
/// one. On a wire it is the time of sending, in all respects.
///
/// Frames arrive as on an idle channel: what the channel loses by itself is sent again, and collisions, which
/// take more, are not counted. The first two are the least that any MAC needs, the others what DCF does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkTime {
    /// Index into the list of links.
    pub link: usize,
    /// Of DATA frames alone, preambles included, until each packet has arrived once.
    pub data: f64,
    /// Of whole exchanges, from the first bit to the last: the same with RTS and CTS before each DATA frame,
    /// if they are used, and one ACK, with SIFS between.
    pub exchange: f64,
    /// Of all frames that DCF sends: DATA whose ACK is lost again as well, a packet given up at the retry
    /// limit for nothing, and packets that a later hop of the path will give up.
    pub airtime: f64,
    /// What a station that is alone waits besides: DIFS, the mean of back-offs, time-outs, and propagation.
    pub access: f64,
    /// Share of the tries with a full packet that succeed, from RTS to ACK.
    pub delivery: f64,
    /// Expected DATA frames for each packet that arrives at the end of the path.
    pub transmissions: f64,
    /// Share of the packets that do not get across, as they are given up at the retry limit, or lost by a
    /// wire.
    pub lost: f64,
}

/// What a flow needs of the channel for each of its messages: the payload that its transport sends as one, at
/// best.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Payload bytes of a message: a full segment, or a packet of an application that sends datagrams.
    pub payload: u32,
    /// Network and transport headers of each of its packets: the least that the transport uses.
    pub header: u32,
    /// Payload that the application offers, in bits per second; none if that is without limit. Of random
    /// arrivals, the mean.
    pub offered_bps: Option<f64>,
    /// Whether the application offers that during all of the measured time: it starts within the warm-up,
    /// never stops, and makes no pauses.
    pub steady: bool,
    /// On the links of the path; empty if there is none, or nothing crosses it.
    pub forward: Vec<LinkTime>,
    /// Of what the receiver sends back when every packet arrives once, on the links of the reverse route;
    /// empty for datagrams.
    pub feedback: Vec<LinkTime>,
}

impl Demand {
    /// Of a flow; links that are not yet in the list are added.
    pub(super) fn new(
        config: &Config,
        flow: &FlowConfig,
        routes: &Routes,
        quality: &LinkQuality,
        links: &mut Vec<(NodeId, NodeId)>,
    ) -> Demand {
        let scheme = config.schemes[flow.scheme].scheme.as_ref();
        let wire = Wire::of(scheme);
        let payload = match flow.app {
            AppConfig::Cbr { packet, .. } | AppConfig::Poisson { packet, .. } if !scheme.is_reliable() => packet,
            // Frames of the mean size, each sent at once if by datagrams.
            AppConfig::Video(video) if scheme.is_uncontrolled() => {
                let frame = (video.rate_bps / 8.0 / video.frame_rate).round().max(1.0);
                frame as u32
            }
            _ => scheme.segment_size(),
        };
        let pieces = pieces(payload, scheme.segment_size());
        let forward: Vec<(f64, u32)> =
            pieces.map(|piece| (1.0, piece + wire.header + config.extra_header)).collect();
        let feedback: Vec<(f64, u32)> =
            wire.feedback.iter().map(|(share, size)| (*share, size + config.extra_header)).collect();
        let category = if config.edca.is_some() {
            AccessCategory::from_priority(user_priority(flow.dscp))
        } else {
            AccessCategory::BestEffort
        };
        let mut along = |from, to, packets: &[(f64, u32)], direction: Direction| -> Vec<LinkTime> {
            let hops = routes.hops(from, to, &config.radios).unwrap_or_default();
            let crossings: Vec<Vec<Crossing>> =
                hops.iter().map(|hop| cross_all(*hop, packets, category, config, quality)).collect();
            let begun = begun(&crossings, packets, direction);
            if begun.iter().flatten().any(|packets| *packets > MOST_BEGUN) {
                return Vec::new();
            }
            let used = hops.iter().map(|hop| index_of(links, *hop));
            used.zip(crossings.iter().zip(&begun))
                .map(|(link, (of, begun))| link_time(link, packets, of, begun))
                .collect()
        };
        Demand {
            payload,
            header: wire.header + config.extra_header,
            offered_bps: flow.app.offered_bps(),
            steady: is_steady(config, flow),
            forward: along(flow.source, flow.destination, &forward, Direction::Out),
            feedback: if feedback.is_empty() {
                Vec::new()
            } else {
                along(flow.destination, flow.source, &feedback, Direction::Back)
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
    lasts && flow.start <= config.warmup && flow.stop.is_none_or(|stop| stop >= config.duration)
}

/// The payloads of the packets of a message.
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

/// A path that needs more packets than this at its first node for one at its last carries nothing.
const MOST_BEGUN: f64 = 1e9;

/// For what packets are counted.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    /// Each has to arrive at the end, however many do not.
    Out,
    /// Each is sent once by transport, and may get lost on its way.
    Back,
}

/// How many packets of each kind are begun on each hop.
fn begun(crossings: &[Vec<Crossing>], packets: &[(f64, u32)], direction: Direction) -> Vec<Vec<f64>> {
    let mut made: Vec<Vec<f64>> = crossings.iter().map(|_| vec![1.0; packets.len()]).collect();
    for kind in 0..packets.len() {
        let mut before = 1.0;
        match direction {
            Direction::Out => {
                for (hop, of) in crossings.iter().enumerate().rev() {
                    before /= of[kind].delivered;
                    made[hop][kind] = before;
                }
            }
            Direction::Back => {
                for (hop, of) in crossings.iter().enumerate() {
                    made[hop][kind] = before;
                    before *= of[kind].delivered;
                }
            }
        }
    }
    made
}

/// The time that packets take on a link, each a number of them and network-layer bytes.
fn link_time(link: usize, packets: &[(f64, u32)], crossings: &[Crossing], begun: &[f64]) -> LinkTime {
    let all = |of: &dyn Fn(&Crossing, f64) -> f64| -> f64 {
        let each = packets.iter().zip(crossings.iter().zip(begun));
        each.map(|((count, _), (crossing, begun))| count * (of(crossing, *begun) * 1e-9)).sum()
    };
    LinkTime {
        link,
        data: all(&|crossing, _| crossing.data),
        exchange: all(&|crossing, _| crossing.exchange),
        airtime: all(&|crossing, begun| begun * crossing.airtime),
        access: all(&|crossing, begun| begun * crossing.access),
        delivery: crossings[0].delivery,
        transmissions: begun[0] * crossings[0].transmissions,
        lost: 1.0 - crossings[0].delivered,
    }
}

/// What a scheme's transport puts on the wire in the steady state of a transfer without losses.
#[derive(Clone, Debug, Default, PartialEq)]
struct Wire {
    /// Header bytes of a full segment: the least that were seen.
    header: u32,
    /// What goes back: how many packets for each full segment, and their network-layer bytes.
    feedback: Option<(f64, u32)>,
}

/// Full segments of the transfer that is watched, and of those the first that are not counted.
const WATCHED: usize = 512;
const UNCOUNTED: usize = 128;
/// Segments that go together at most, lest a sender with a large window has sent all before counting begins.
const TOGETHER: usize = 64;

impl Wire {
    /// Watches a transfer of the scheme over a path of 1 ms each way that loses nothing.
    fn of(scheme: &dyn Scheme) -> Wire {
        let delay = Span::from_ms(1);
        let (mut sender, mut receiver) = (scheme.sender(), scheme.receiver());
        let full = scheme.segment_size();
        let (mut headers, mut back): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let (mut now, mut uncounted) = (Time::ZERO, None);
        sender.push(now, u64::from(full) * WATCHED as u64);
        // Far more turns than a transfer takes, should it come to nothing.
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
        // Reports that come once in a round-trip time, however many packets there are in it, are not charged: on a path that is
        // shared there are few, and how few is not known before the run.
        let least = back.iter().min().filter(|_| counted > 0 && scheme.is_reliable());
        let feedback = least.map(|size| (back.len() as f64 / counted as f64, *size));
        Wire { header: headers.iter().copied().min().unwrap_or(0), feedback }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_schemes::REGISTRY;
    use serde_json::json;

    fn wire(name: &str, parameters: &serde_json::Value) -> Wire {
        let entry = REGISTRY.iter().find(|entry| entry.name == name).unwrap();
        Wire::of(entry.build(parameters).unwrap().as_ref())
    }

    #[test]
    fn acknowledgements_are_counted_as_they_are_sent() {
        assert_eq!(wire("udp", &json!({})), Wire { header: 28, feedback: None });
        for (flavour, header) in [("rfc", 40), ("ns2", 32)] {
            let tfrc = wire("tfrc", &json!({ "flavour": flavour }));
            assert_eq!(tfrc, Wire { header, feedback: None }, "its reports are few");
        }
        let each = Wire { header: 40, feedback: Some((1.0, 40)) };
        assert_eq!(wire("tcp-newreno", &json!({ "flavour": "ns2" })), each);
        assert_eq!(wire("tcp-newreno", &json!({ "delayed_ack": "0 s" })), each);
        let stamped = Wire { header: 52, feedback: Some((1.0, 52)) };
        assert_eq!(wire("tcp-newreno", &json!({ "flavour": "ns2", "timestamps": true })), stamped);
        let every_second = wire("tcp-sack", &json!({}));
        assert_eq!((every_second.header, every_second.feedback.unwrap().1), (40, 40));
        assert!((every_second.feedback.unwrap().0 - 0.5).abs() < 0.01, "{every_second:?}");
        for window in [64, 1024] {
            let open = wire("xcp", &json!({ "flavour": "ns2", "window": window }));
            assert_eq!(open, Wire { header: 72, feedback: Some((1.0, 72)) }, "{window}");
        }
        let alone = wire("tcp-newreno", &json!({ "window": 1 }));
        assert!(
            (alone.feedback.unwrap().0 - 1.0).abs() < 0.01,
            "one segment is acknowledged by the timer: {alone:?}"
        );
    }

    #[test]
    fn every_scheme_has_a_header() {
        for entry in REGISTRY {
            let wire = Wire::of(entry.build(&json!({})).unwrap().as_ref());
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
