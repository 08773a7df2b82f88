//! Expected airtime of a packet on one hop of its path.

use super::opportunity::Opportunity;
use super::tries::{Tries, geometric, ns};
use crate::config::{AggregationConfig, TopologyConfig, WireConfig};
use crate::mac::Fullest;
use crate::medium::{RateClass, RateSet};
use crate::routing::{Arrivals, LinkQuality};
use multihop_core::NodeId;
use multihop_dot11::AccessCategory;

/// Expected cost of a packet on a link, with times in nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct PacketCost {
    /// Smallest airtime of DATA frames, and of exchanges, per packet delivered over the link.
    pub data: f64,
    pub exchange: f64,
    /// Airtime of all frames, and waiting time, per packet that the sender starts.
    pub airtime: f64,
    pub access: f64,
    /// Probability that the packet is delivered in the end.
    pub delivered: f64,
    /// Share of attempts that succeed, and number of DATA frames per packet started.
    pub delivery: f64,
    pub transmissions: f64,
}

/// Costs of the packets of a message on a hop; each entry is a number of packets and their network-layer
/// bytes, the largest first. Where stations choose their rates, all costs are at the rate with the shortest
/// exchanges; DATA alone may take less at another rate.
pub(super) fn cross_all(
    hop: (NodeId, NodeId),
    packets: &[(f64, u32)],
    category: AccessCategory,
    topology: &TopologyConfig,
    quality: &LinkQuality,
) -> Vec<PacketCost> {
    if let Some(wire) = topology.wire(hop.0, hop.1) {
        return packets.iter().map(|(_, size)| across_wire(wire, *size)).collect();
    }
    let (_, timing) = quality.parts();
    let at_rates = |rates: &RateSet| cross_at(hop, packets, category, *rates, quality);
    let chosen = timing.rates_between(hop.0, hop.1);
    let all: Vec<Vec<PacketCost>> = chosen.iter().map(at_rates).collect();
    let least = |of: &dyn Fn(&PacketCost) -> f64, packet: usize| {
        all.iter().map(|costs| of(&costs[packet])).fold(f64::INFINITY, f64::min)
    };
    let best = |packet: usize| PacketCost {
        data: least(&|crossing| crossing.data, packet),
        ..*all
            .iter()
            .map(|costs| &costs[packet])
            .min_by(|a, b| a.exchange.total_cmp(&b.exchange))
            .expect("a rate")
    };
    (0..packets.len()).map(best).collect()
}

/// Costs over a radio link at one of its rates.
fn cross_at(
    hop: (NodeId, NodeId),
    packets: &[(f64, u32)],
    category: AccessCategory,
    rates: RateSet,
    quality: &LinkQuality,
) -> Vec<PacketCost> {
    let (_, timing) = quality.parts();
    let Some(limits) = &timing.aggregation else {
        return packets.iter().map(|(_, size)| cross(hop, *size, category, rates, quality)).collect();
    };
    let largest = packets.iter().map(|(_, size)| *size).max().unwrap_or(0);
    let full = Fullest::new(limits, timing, rates, category, largest);
    let whole = Opportunity::new(limits, timing, rates, category, largest, &full);
    let cross = |size| cross_in(hop, [size, largest], (category, rates), (limits, &full, &whole), quality);
    packets.iter().map(|(_, size)| cross(*size)).collect()
}

/// Cost of a packet of `size` network-layer bytes in a frame of its own.
fn cross(
    hop: (NodeId, NodeId),
    size: u32,
    category: AccessCategory,
    rates: RateSet,
    quality: &LinkQuality,
) -> PacketCost {
    let (_, timing) = quality.parts();
    let bytes = timing.data_bytes(size);
    let with_rts = timing.needs_rts(bytes);
    let nothing = Arrivals { rts: 0.0, cts: 0.0, data: 0.0, ack: 0.0 };
    let arrivals = quality.arrivals(hop.0, hop.1, rates, bytes).unwrap_or(nothing);
    let (link, sifs) = (timing.on(rates), ns(timing.sifs));
    let (rts, cts, ack) = (ns(link.rts), sifs + ns(link.cts), sifs + ns(link.ack));
    let before = if with_rts { sifs } else { ns(link.protection(RateClass::Data)) };
    let data = ns(link.airtime(RateClass::Data, bytes)) + before;
    let handshake = if with_rts { rts / arrivals.rts / arrivals.cts + cts / arrivals.cts } else { 0.0 };
    let tries = Tries::new(arrivals, with_rts, timing);
    let exchange = timing.exchange(rates, link.airtime(RateClass::Data, bytes), with_rts);
    PacketCost {
        data: ns(link.airtime(RateClass::Data, bytes)) / arrivals.data,
        exchange: (handshake + data) / arrivals.data + ack,
        airtime: tries.rts * rts + tries.cts * cts + tries.data * data + tries.ack * ack,
        access: tries.access(arrivals, timing, rates, category, exchange),
        delivered: tries.delivered,
        delivery: tries.succeed(),
        transmissions: tries.data,
    }
}

/// Cost of a packet on a wire, which sends one packet after the other.
fn across_wire(wire: &WireConfig, size: u32) -> PacketCost {
    let sending = ns(wire.rate.span_of_bytes(u64::from(size)));
    let delivered = 1.0 - wire.loss;
    let arrived = sending / delivered;
    PacketCost {
        data: arrived,
        exchange: arrived,
        airtime: sending,
        access: 0.0,
        delivered,
        delivery: delivered,
        transmissions: 1.0,
    }
}

/// Cost of a packet of `size` network-layer bytes in an aggregate that is as full as the limits allow. The
/// packet's share of the whole aggregate is by number if the number of MPDUs limits the aggregate, else by
/// bytes. The same share is a lower bound for any mixture of packets.
///
/// MPDUs are lost independently. Requests for lost block acknowledgements are not counted.
fn cross_in(
    hop: (NodeId, NodeId),
    [size, largest]: [u32; 2],
    (category, rates): (AccessCategory, RateSet),
    (limits, full, opportunity): (&AggregationConfig, &Fullest, &Opportunity),
    quality: &LinkQuality,
) -> PacketCost {
    let (_, timing) = quality.parts();
    let own = timing.data_bytes(size);
    let arrives = quality.arrivals(hop.0, hop.1, rates, own).map_or(0.0, |arrivals| arrivals.data);
    let by_bytes = if limits.a_msdu.is_some() {
        f64::from(size) / f64::from(largest)
    } else {
        f64::from(own.next_multiple_of(4)) / f64::from(timing.data_bytes(largest).next_multiple_of(4))
    };
    // Per-packet shares of an aggregate: the time of DATA, and the time of everything.
    let shares = |frames: &Opportunity| {
        let bytes = by_bytes / frames.packets;
        let share = if full.by_number { 1.0 / frames.packets } else { bytes };
        let data = bytes * frames.payload + share * frames.preambles;
        (share, data, data + share * (frames.handshakes + frames.answers))
    };
    let (_, data, exchange) = shares(&Opportunity::of_one(full, limits, timing, rates));
    let (share, _, airtime) = shares(opportunity);
    let tries = geometric(1.0 - arrives, timing.mpdu_retry_limit);
    let waited = ns(timing.mean_access(category)) + opportunity.between;
    PacketCost {
        data: data / arrives,
        exchange: exchange / arrives,
        airtime: tries * airtime,
        access: tries * share * waited,
        delivered: 1.0 - (1.0 - arrives).powf(f64::from(timing.mpdu_retry_limit)),
        delivery: arrives,
        transmissions: tries,
    }
}
