//! Times of `Timing`, against values computed by hand.

use super::script::{A, B, C, Script, config, us};
use crate::config::{Config, LinkRate, NodeConfig, RateConfig};
use crate::mac::originator::airtime_used;
use crate::mac::{OutgoingFrame, Timing};
use crate::medium::{RateClass, RateSet};
use multihop_core::FrameKind::{Ack, Cts, Rts};
use multihop_core::{Fate, NodeId, Rate, Span};
use multihop_dot11::{
    AccessCategory, BackoffDraw, DataRate, DcfRules, Phy, Preamble, ResponseTimeout, Standard,
};

const MBPS: [u64; 3] = [11_000, 5_500, 2_000];

fn timing(rules: DcfRules, rts_threshold: Option<u32>) -> Timing {
    Timing::new(&config(rules, rts_threshold))
}

fn span(us: u64) -> Span {
    Span::from_us(us)
}

/// DATA of 1036 bytes takes 192 + ceil(8288 / 11) us; RTS 192 + 160, CTS and ACK 192 + 112.
#[test]
fn exchanges_are_the_sum_of_their_frames_and_sifs_9_3_2_6() {
    let timing = timing(DcfRules::IEEE, None);
    let bytes = timing.data_bytes(1_000);
    let data = timing.nominal.airtime(RateClass::Data, bytes);
    assert_eq!((bytes, data), (1_036, span(946)));
    assert_eq!(timing.exchange(RateSet::NOMINAL, data, false), span(946 + 10 + 304));
    assert_eq!(timing.exchange(RateSet::NOMINAL, data, true), span(352 + 10 + 304 + 10 + 946 + 10 + 304));
    let link = &timing.nominal;
    assert_eq!([link.rts, link.cts, link.ack], [352, 304, 304].map(span));
    // Timeout: SIFS, slot and PHY-RX-START delay. NAV reset: 2 SIFS, CTS, that delay and 2 slots (9.3.2.4,
    // 9.3.2.8).
    assert_eq!([link.cts_timeout, link.ack_timeout, link.nav_reset], [222, 222, 556].map(span));
    assert_eq!(link.overhead(RateClass::Data), span(192));
}

/// A CF-End of 20 bytes has the lowest basic rate for every DATA rate: 20 us and 8 symbols at 6 Mb/s, 192 us
/// and 160 bits at 1 Mb/s. A scenario can set another rate.
#[test]
fn a_cf_end_has_the_lowest_basic_rate() {
    let of = |standard, data: DataRate, control| {
        let phy = Phy::new(standard, Preamble::Long);
        let rates = RateConfig { data, control, ack: None, links: Vec::new() };
        Timing::new(&Config { phy, rates, ..config(DcfRules::IEEE, None) }).cf_end()
    };
    let mbps = |mbps: u64| Rate::from_kbps(mbps * 1_000);
    let ax = Phy::new(Standard::Dot11ax, Preamble::Long).schemes().last().expect("it has schemes");
    assert_eq!(of(Standard::Dot11ax, ax.into(), None), span(52));
    assert_eq!(of(Standard::Dot11a, mbps(54).into(), None), span(52));
    assert_eq!(of(Standard::Dot11b, mbps(11).into(), None), span(352));
    assert_eq!(of(Standard::Dot11a, mbps(54).into(), Some(mbps(24))), span(28));
}

/// The mean of 0 to CW is half of CW. ns-2 draws up to CW - 1 (9.3.3).
#[test]
fn the_mean_back_off_is_half_of_the_window_and_windows_double_up_to_the_limit() {
    let standard = timing(DcfRules::IEEE, None);
    assert_eq!(
        (standard.mean_backoff(31), standard.mean_access(AccessCategory::BestEffort)),
        (span(310), span(360))
    );
    let ns2 = timing(DcfRules { backoff_draw: BackoffDraw::Exclusive, ..DcfRules::IEEE }, None);
    assert_eq!((ns2.mean_backoff(31), ns2.mean_access(AccessCategory::BestEffort)), (span(300), span(350)));
    assert_eq!([31, 63, 511, 1_023].map(|cw| standard.best_effort().next_cw(cw)), [63, 127, 1_023, 1_023]);
    let times = standard.phy_times();
    assert_eq!(
        [times.difs, times.backoff, times.rts, times.cts, times.ack],
        [50, 310, 352, 304, 304].map(span)
    );
    assert_eq!((times.data_header, times.data_rate), (36, Rate::from_kbps(11_000)));
}

#[test]
fn slots_cover_a_span() {
    let timing = timing(DcfRules::IEEE, None);
    let slots = [0, 1, 20_000, 20_001, 1_001_000].map(|ns| timing.slots_of(Span::from_ns(ns)));
    assert_eq!(slots, [0, 1, 1, 2, 51]);
}

/// Frames above `dot11RTSThreshold` have an RTS (9.3.5); in ns-2 frames of that length too. Headers take 36
/// bytes.
#[test]
fn packets_from_the_least_size_on_have_an_rts() {
    for (at_threshold, threshold, from) in
        [(false, 500, 465), (true, 500, 464), (false, 36, 1), (true, 36, 0), (false, 0, 0), (true, 0, 0)]
    {
        let rules = DcfRules { rts_at_threshold: at_threshold, ..DcfRules::IEEE };
        let timing = timing(rules, Some(threshold));
        assert_eq!(timing.rts_from(), Some(from), "{at_threshold} {threshold}");
        assert!(timing.needs_rts(timing.data_bytes(from)));
        assert!(from == 0 || !timing.needs_rts(timing.data_bytes(from - 1)));
    }
    let never = timing(DcfRules::IEEE, None);
    assert_eq!((never.rts_from(), never.needs_rts(u32::MAX)), (None, false));
}

/// A base station without a rate of its own, two stations with one each, and one without.
fn cell() -> Config {
    let mut setup = config(DcfRules::IEEE, None);
    let node = |kbps: Option<u64>| NodeConfig {
        name: "n".into(),
        position: None,
        base: None,
        data_rate: kbps.map(|kbps| Rate::from_kbps(kbps).into()),
    };
    setup.topology.nodes = [None, Some(5_500), Some(2_000), None].map(node).into();
    setup
}

fn kbps(timing: &Timing, one: u32, other: u32) -> u64 {
    timing.on(timing.between(NodeId(one), NodeId(other))).rate(RateClass::Data).bps() / 1_000
}

#[test]
fn a_station_and_its_base_station_use_the_rate_of_the_station() {
    let timing = Timing::new(&cell());
    for (station, rate) in [(1, 5_500), (2, 2_000), (3, 11_000)] {
        assert_eq!((kbps(&timing, 0, station), kbps(&timing, station, 0)), (rate, rate));
    }
    let data: Vec<DataRate> =
        timing.rates().skip(RateClass::Data as usize).step_by(RateClass::COUNT).collect();
    assert_eq!(data, MBPS.map(|kbps| Rate::from_kbps(kbps).into()));
}

#[test]
fn the_rate_of_a_link_precedes_the_rates_of_its_stations() {
    let mut setup = cell();
    let link = |one, other, kbps| LinkRate {
        between: [NodeId(one), NodeId(other)],
        rate: Rate::from_kbps(kbps).into(),
    };
    setup.rates.links = vec![link(3, 0, 2_000), link(1, 0, 11_000)];
    let timing = Timing::new(&setup);
    for (one, other, rate) in [(0, 3, 2_000), (0, 1, 11_000), (0, 2, 2_000), (1, 3, 5_500)] {
        assert_eq!((kbps(&timing, one, other), kbps(&timing, other, one)), (rate, rate), "{one} {other}");
    }
    setup.topology.nodes = vec![setup.topology.nodes[0].clone(); 4];
    let timing = Timing::new(&setup);
    assert_eq!([(0, 3), (0, 1), (1, 2)].map(|(a, b)| kbps(&timing, a, b)), [2_000, 11_000, 11_000]);
}

/// 802.11a at 54 Mb/s: 36 bytes of headers are 310 bits, two symbols, and DATA of no payload takes 20 + 8 us;
/// DIFS is 34 us.
#[test]
fn no_pause_is_longer_than_difs_or_the_shortest_frame() {
    assert_eq!(timing(DcfRules::IEEE, None).least_pause(), span(50));
    let mut setup = config(DcfRules::IEEE, None);
    setup.phy = Phy::new(Standard::Dot11a, Preamble::Long);
    (setup.rates.data, setup.rates.control) = (Rate::from_kbps(54_000).into(), Some(Rate::from_kbps(6_000)));
    assert_eq!(Timing::new(&setup).least_pause(), span(28));
}

/// In Bianchi's model a station waits for a response as long as a station that could not decode the frame.
/// With 802.11b this is 314 us. EIFS of 802.11g assumes an ACK at 6 Mb/s, which is shorter than a CTS of 304
/// us at 1 Mb/s, and is therefore extended. DIFS is 28 us.
#[test]
fn response_timeouts_and_eifs_are_equal_in_bianchis_model() {
    let rules = DcfRules { response_timeout: ResponseTimeout::Eifs, ..DcfRules::IEEE };
    let waits = |timing: &Timing| [timing.nominal.cts_timeout, timing.nominal.ack_timeout, timing.eifs];
    assert_eq!(waits(&timing(rules, None)), [314, 314, 364].map(span));
    let mut setup = config(rules, None);
    setup.phy = Phy::new(Standard::Dot11g, Preamble::Long);
    assert!(setup.phy.eifs() < span(150));
    assert_eq!(waits(&Timing::new(&setup)), [314, 314, 342].map(span));
    setup.medium.propagation_delay = span(1_000);
    assert_eq!(waits(&Timing::new(&setup)), [1_000, 1_000, 1_028].map(span));
}

#[test]
fn response_timeouts_follow_the_airtime_in_ns2() {
    let timing = timing(DcfRules::NS2, None);
    assert_eq!([timing.nominal.cts_timeout, timing.nominal.ack_timeout], [10 + 304 + 4; 2].map(span));
}

#[test]
fn control_frames_arrive_one_propagation_delay_later() {
    let mut setup = config(DcfRules::IEEE, None);
    setup.medium.propagation_delay = span(3);
    let timing = Timing::new(&setup);
    for (kind, bytes, airtime) in [(Rts, 20, 352), (Cts, 14, 304), (Ack, 14, 304)] {
        let frame = timing.control_frame(kind, [A, C], timing.between(A, C), 7, span(99), us(1_000));
        assert_eq!((frame.kind, frame.from, frame.to, frame.sequence), (kind, A, Some(C), 7));
        assert_eq!((frame.bytes, frame.duration, frame.overhead), (bytes, span(99), span(192)));
        assert_eq!((frame.air.start, frame.air.end), (us(1_003), us(1_003 + airtime)));
    }
}

/// Three RTS of 352 us, two with a response (SIFS, CTS of 304 us, SIFS), two DATA of 946 us, then SIFS and an
/// ACK of 304 us.
#[test]
fn used_airtime_counts_all_attempts_and_responses() {
    let mut s = Script::new(DcfRules::IEEE, Some(0));
    s.queues(1_000, Some(B));
    let out = OutgoingFrame {
        rts_tries: 3,
        rts_failures: 1,
        data_tries: 2,
        ..s.mac.station.function.current.expect("a packet is queued")
    };
    let tries = 3 * 352 + 2 * (10 + 304 + 10) + 2 * 946;
    s.with_mac(|_, ctx| {
        assert_eq!(airtime_used(&out, Fate::Acknowledged, ctx), span(tries + 10 + 304));
        assert_eq!(airtime_used(&out, Fate::GivenUp, ctx), span(tries));
    });
}
