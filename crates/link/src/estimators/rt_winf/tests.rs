//! Timelines of 1500 bytes at 11 Mb/s with control frames at 1 Mb/s, in microseconds: RTS 352, CTS and ACK
//! 304, SIFS 10; NAV of the RTS 1941, of the CTS 1627, of DATA 314. DATA takes 1303.273 us, so that ends of
//! frames are given in nanoseconds.

use super::*;
use crate::Elapsed;
use crate::phy_times::testing::dot11b;
use crate::testing::{A, B, C, exchange, us};

const RTS: u64 = 352;
const CTS: u64 = 304;
const ACK: u64 = 304;
const NAV_RTS: u64 = 1_941;
const NAV_CTS: u64 = 1_627;
const NAV_DATA: u64 = 314;

/// Interval between exchanges of a single saturated station: DIFS, 310 us of back-off on average, and the
/// exchange.
const CYCLE_NS: u64 = 2_653_273;

/// Frames of an exchange that begins at `start`, with their intervals on the air.
struct Frames {
    rts: Interval,
    cts: Interval,
    data: Interval,
    ack: Interval,
}

fn frames(start: Time) -> Frames {
    let sifs = Span::from_us(10);
    let after = |at: Time, length: Span| Interval { start: at, end: at + length };
    let rts = after(start, Span::from_us(RTS));
    let cts = after(rts.end + sifs, Span::from_us(CTS));
    let data = after(cts.end + sifs, dot11b().data(1500));
    let ack = after(data.end + sifs, Span::from_us(ACK));
    Frames { rts, cts, data, ack }
}

fn hears(kind: FrameKind, from: NodeId, to: NodeId, air: Interval, nav: u64) -> LinkEvent {
    let (size, kbps) = if kind == FrameKind::Data { (1500, 11_000) } else { (0, 1_000) };
    let (rate, duration) = (Rate::from_kbps(kbps), Span::from_us(nav));
    LinkEvent::Decoded(DecodedFrame {
        node: A,
        kind,
        from,
        to: Some(to),
        air,
        duration,
        size,
        flow: None,
        rate,
    })
}

/// Exchange from `A` to `B`.
fn sends(estimator: &mut RtWinf, start: Time) {
    let Frames { rts, cts, data, ack } = frames(start);
    estimator.on_link(&hears(FrameKind::Cts, B, A, cts, NAV_CTS));
    estimator.on_link(&hears(FrameKind::Ack, B, A, ack, 0));
    let [rts, cts, data, ack] = [rts, cts, data, ack].map(Some);
    let flow = multihop_core::FlowId(0);
    estimator.on_link(&LinkEvent::Attempt(Attempt {
        node: A,
        peer: B,
        flow,
        cw: 31,
        slots: 15,
        rts,
        cts,
        data,
        ack,
    }));
    estimator.on_link(&LinkEvent::Exchange(exchange(1500, 0, 1, Fate::Acknowledged)));
}

/// Exchange from `B` to `A`.
fn receives(estimator: &mut RtWinf, start: Time) {
    let Frames { rts, data, .. } = frames(start);
    estimator.on_link(&hears(FrameKind::Rts, B, A, rts, NAV_RTS));
    estimator.on_link(&hears(FrameKind::Data, B, A, data, NAV_DATA));
}

/// Exchange from `B` to `C`, of which `A` decodes these frames.
fn overhears(estimator: &mut RtWinf, start: Time, kinds: &[FrameKind]) {
    let Frames { rts, cts, data, ack } = frames(start);
    for kind in kinds {
        estimator.on_link(&match kind {
            FrameKind::Rts => hears(*kind, B, C, rts, NAV_RTS),
            FrameKind::Cts => hears(*kind, C, B, cts, NAV_CTS),
            FrameKind::Data => hears(*kind, B, C, data, NAV_DATA),
            FrameKind::Ack => hears(*kind, C, B, ack, 0),
            FrameKind::BlockAckRequest | FrameKind::BlockAck | FrameKind::CfEnd => {
                unreachable!("not in these tests")
            }
        });
    }
}

const ALL: [FrameKind; 4] = [FrameKind::Rts, FrameKind::Cts, FrameKind::Data, FrameKind::Ack];
const HIDDEN_SENDER: [FrameKind; 2] = [FrameKind::Cts, FrameKind::Ack];

fn last_sample(reading: WinfReading) -> RtWinfOptions {
    RtWinfOptions { reading, smoothing: 1.0, ..RtWinfOptions::default() }
}

fn estimator(options: RtWinfOptions) -> RtWinf {
    RtWinf::new(options, dot11b())
}

/// Capacity in Mb/s, to three decimals.
fn mbps(estimator: &RtWinf) -> f64 {
    (estimator.capacity_bps() * 1e-3).round() / 1e3
}

/// Share of the capacity that is available, to three decimals.
fn unused(estimator: &RtWinf, now: Time) -> f64 {
    (estimator.available_bps(now) / estimator.capacity_bps() * 1e3).round() / 1e3
}

#[test]
fn one_exchange_in_each_role_and_reading() {
    for (reading, sender, receiver) in [
        (WinfReading::Printed, 7.466, 7.513),
        (WinfReading::Strict, 9.208, 9.208),
        (WinfReading::Whole, 4.523, 4.523),
    ] {
        let fresh = || estimator(last_sample(reading));
        let first = if reading == WinfReading::Whole { 4.523 } else { 11.0 };
        assert_eq!(mbps(&fresh()), first, "the PHY's rate, or Eq. 14, before the first sample");
        let mut own = fresh();
        sends(&mut own, us(1_000));
        assert_eq!(mbps(&own), sender, "Eq. 1");
        let mut own = fresh();
        receives(&mut own, us(1_000));
        assert_eq!(mbps(&own), receiver, "Eq. 4");
        for kinds in [&ALL[..], &ALL[1..], &HIDDEN_SENDER] {
            let mut observer = fresh();
            overhears(&mut observer, us(1_000), kinds);
            // The NAV, in whole microseconds, is 0.27 us short of DATA: 0.4 bytes.
            assert_eq!(mbps(&observer), sender, "Eq. 6, from {kinds:?}");
        }
    }
}

#[test]
fn an_overhearing_node_needs_cts_and_ack() {
    use FrameKind::{Ack, Cts, Data, Rts};
    for kinds in [&[Rts, Data, Ack][..], &[Rts, Cts, Data], &[Data, Ack], &[Rts]] {
        let mut observer = estimator(last_sample(WinfReading::Printed));
        overhears(&mut observer, us(1_000), kinds);
        assert_eq!(mbps(&observer), 11.0, "{kinds:?}");
    }
    // The ACK belongs to a later exchange.
    let mut observer = estimator(last_sample(WinfReading::Printed));
    overhears(&mut observer, us(1_000), &[Cts]);
    overhears(&mut observer, us(9_000), &[Ack]);
    assert_eq!(mbps(&observer), 11.0);
}

#[test]
fn a_retry_begins_anew_and_a_try_that_fails_is_no_sample() {
    let mut observer = estimator(last_sample(WinfReading::Printed));
    overhears(&mut observer, us(1_000), &ALL[..3]);
    overhears(&mut observer, us(5_000), &ALL);
    assert_eq!(mbps(&observer), 7.466);

    let mut own = estimator(last_sample(WinfReading::Printed));
    let Frames { rts, cts, data, .. } = frames(us(1_000));
    let flow = multihop_core::FlowId(0);
    let [rts, cts, data] = [rts, cts, data].map(Some);
    let failed = Attempt { node: A, peer: B, flow, cw: 31, slots: 3, rts, cts, data, ack: None };
    own.on_link(&LinkEvent::Attempt(failed));
    own.on_link(&LinkEvent::Exchange(exchange(1500, 0, 1, Fate::GivenUp)));
    assert_eq!(mbps(&own), 11.0);

    // DATA without RTS does not belong to an earlier, unanswered RTS.
    let mut own = estimator(last_sample(WinfReading::Printed));
    own.on_link(&hears(FrameKind::Rts, B, A, frames(us(1_000)).rts, NAV_RTS));
    own.on_link(&hears(FrameKind::Data, B, A, frames(us(9_000)).data, NAV_DATA));
    assert_eq!((mbps(&own), unused(&own, us(20_000))), (11.0, 1.0));
}

/// 100 exchanges a second: NAVs of the CTS add up to 0.1627 s.
#[test]
fn a_sender_of_100_packets_a_second_leaves_837_thousandths() {
    let mut own = estimator(RtWinfOptions::default());
    (0..100).for_each(|n| sends(&mut own, us(10_000 * n)));
    let now = us(1_000_000);
    assert_eq!((mbps(&own), unused(&own, now)), (7.466, 0.837));
    assert!((own.available_bps(now) - 0.8373 * own.capacity_bps()).abs() < 1.0);
    // NAVs of the RTS, 0.1941 s, for a receiver and an overhearing node.
    let mut own = estimator(RtWinfOptions::default());
    (0..100).for_each(|n| receives(&mut own, us(10_000 * n)));
    assert_eq!(unused(&own, now), 0.806);
    let mut observer = estimator(RtWinfOptions::default());
    (0..100).for_each(|n| overhears(&mut observer, us(10_000 * n), &ALL));
    assert_eq!(unused(&observer, now), 0.806);
    let mut observer = estimator(RtWinfOptions::default());
    (0..100).for_each(|n| overhears(&mut observer, us(10_000 * n), &HIDDEN_SENDER));
    assert_eq!(unused(&observer, now), 0.837);
}

/// An idle node has all of its capacity available; a saturated one 0.387 as printed, and 0.136 when whole
/// exchanges count.
#[test]
fn nothing_is_left_of_a_saturated_medium_but_what_the_equation_leaves_out() {
    let saturated = |options: RtWinfOptions, what: fn(&mut RtWinf, Time)| {
        let mut estimator = estimator(options);
        (0..400).for_each(|n| what(&mut estimator, Time::from_ns(n * CYCLE_NS)));
        unused(&estimator, Time::from_ns(400 * CYCLE_NS))
    };
    let elapsed = Elapsed::Window(Span::from_ns(400 * CYCLE_NS));
    let printed = RtWinfOptions { window: elapsed, ..RtWinfOptions::default() };
    let full = RtWinfOptions { full_busy: true, ..printed };
    let observer: fn(&mut RtWinf, Time) = |estimator, at| overhears(estimator, at, &ALL);
    let hidden: fn(&mut RtWinf, Time) = |estimator, at| overhears(estimator, at, &HIDDEN_SENDER);
    assert_eq!(unused(&estimator(printed), us(5_000_000)), 1.0);
    assert_eq!(saturated(printed, sends), 0.387);
    assert_eq!(saturated(printed, hidden), 0.387);
    assert_eq!(saturated(printed, observer), 0.268, "of 2653 us, NAV_RTS reserves 1941");
    for what in [sends, receives, observer, hidden] {
        assert_eq!(saturated(full, what), 0.136);
    }
}

type Role<'a> = &'a dyn Fn(&mut RtWinf, Time);

/// Whole exchanges of 2653 us with DIFS and back-off: 100 a second leave 0.735, and those of a saturated
/// sender nothing. A node that senses the frames without decoding them has the same result.
#[test]
fn read_whole_what_is_left_is_what_could_be_added() {
    let on_air = |estimator: &mut RtWinf, start: Time| {
        let Frames { rts, cts, data, ack } = frames(start);
        for air in [rts, cts, data, ack] {
            estimator.on_link(&LinkEvent::BusyFrom(air.start));
            estimator.on_link(&LinkEvent::Busy(air));
        }
    };
    let decoded = |estimator: &mut RtWinf, start: Time| {
        on_air(estimator, start);
        sends(estimator, start);
    };
    let roles: [Role; 2] = [&on_air, &decoded];
    for role in roles {
        for (cycle, expected) in [(Span::from_ms(10), 1.0 - 0.265_327_3), (Span::from_ns(CYCLE_NS), 0.0)] {
            let options = RtWinfOptions { window: Elapsed::SinceStart, ..last_sample(WinfReading::Whole) };
            let mut whole = estimator(options);
            (0..400).for_each(|n| role(&mut whole, Time::ZERO + cycle * n));
            let left = whole.available_bps(Time::ZERO + cycle * 400) / whole.capacity_bps();
            assert!((left - expected).abs() < 1e-6, "{left} of {expected}");
        }
    }
}

#[test]
fn the_busy_list_empties_and_the_capacity_stays() {
    let mut own = estimator(RtWinfOptions::default());
    (0..100).for_each(|n| sends(&mut own, us(10_000 * n)));
    assert_eq!((mbps(&own), unused(&own, us(1_500_000))), (7.466, 0.919));
    assert_eq!((mbps(&own), unused(&own, us(9_000_000))), (7.466, 1.0));
}

#[test]
fn a_reservation_counts_up_to_now_and_not_after_it_was_given_up() {
    let mut observer = estimator(RtWinfOptions::default());
    overhears(&mut observer, us(998_648), &[FrameKind::Rts]);
    assert_eq!(unused(&observer, us(1_000_000)), 0.999, "1 ms of it has passed");
    observer.on_link(&LinkEvent::NavReset(us(999_500)));
    assert_eq!((observer.available_bps(us(1_999_000)) - 11e6 * (1.0 - 500e-6)).abs().round(), 0.0);
}

#[test]
fn an_unanswered_rts_of_its_own_is_on_the_air_all_the_same() {
    let rts = Some(frames(us(1_000)).rts);
    let flow = multihop_core::FlowId(0);
    let failed = Attempt { node: A, peer: B, flow, cw: 31, slots: 3, rts, cts: None, data: None, ack: None };
    for (full_busy, expected) in [(false, 1.0), (true, 1.0 - 0.352)] {
        let elapsed = Elapsed::Window(Span::from_ms(1));
        let mut own = estimator(RtWinfOptions { window: elapsed, full_busy, ..RtWinfOptions::default() });
        own.on_link(&LinkEvent::Attempt(failed));
        assert_eq!(unused(&own, us(1_500)), expected);
    }
}

/// Eqs. 7 and 8 as printed: `1 - 1627 / (1627 + 304 + 20)` and `1 - 1941 / (1941 + 352)`, at any load.
#[test]
fn totals_as_printed_for_overhearing_nodes_make_a_constant() {
    let printed = RtWinfOptions { total_per_exchange: true, ..RtWinfOptions::default() };
    for (kinds, expected) in [(&ALL[..], 0.154), (&HIDDEN_SENDER, 0.166)] {
        let mut observer = estimator(printed);
        overhears(&mut observer, us(1_000), kinds);
        assert_eq!(unused(&observer, us(10_000_000)), expected);
        sends(&mut observer, us(20_000_000));
        assert_eq!(unused(&observer, us(21_000_000)), 0.998, "a sender has another total");
    }
}

#[test]
fn capacity_is_smoothed_from_the_first_sample_on() {
    let mut own = estimator(RtWinfOptions::default());
    sends(&mut own, us(1_000));
    receives(&mut own, us(10_000));
    let [first, second] = [12_000.0 / 1_607.273, 12_000.0 / 1_597.273];
    assert!((own.capacity_bps() * 1e-6 - (first + (second - first) / 8.0)).abs() < 1e-9);
}

/// 40 bytes have 320 bits in 192 + 49.45 + 304 us; normalised to 1500 bytes, the capacity of 1500 bytes.
#[test]
fn a_reference_size_makes_small_packets_like_large_ones() {
    for (reference_size, expected) in [(None, 0.587), (Some(1500), 7.466)] {
        let mut own = estimator(RtWinfOptions { reference_size, ..last_sample(WinfReading::Printed) });
        let cts = Interval { start: us(1_000), end: us(1_304) };
        let data = dot11b().data(40);
        let ack = cts.end + Span::from_us(10) + data + Span::from_us(10);
        let ack = Some(Interval { start: ack, end: ack + Span::from_us(ACK) });
        let flow = multihop_core::FlowId(0);
        let (rts, cts) = (None, Some(cts));
        let attempt = Attempt { node: A, peer: B, flow, cw: 31, slots: 0, rts, cts, data: None, ack };
        own.on_link(&LinkEvent::Attempt(attempt));
        own.on_link(&LinkEvent::Exchange(exchange(40, 0, 1, Fate::Acknowledged)));
        assert_eq!(mbps(&own), expected);
    }
}

/// DATA of 1500 bytes at 5.5 Mb/s takes 192 + 2222.545 us. A station that decodes the DATA knows its size;
/// from the NAV alone it would be twice as large. A frame of another station gives no information on it.
#[test]
fn an_overhearing_node_takes_the_size_of_the_data_that_it_decodes() {
    let slow = Rate::from_kbps(5_500);
    let Frames { cts, .. } = frames(us(1_000));
    let after = |at: Time, ns: u64| Interval { start: at, end: at + Span::from_ns(ns) };
    let data = after(cts.end + Span::from_us(10), 2_414_545);
    let ack = after(data.end + Span::from_us(10), 304_000);
    let sent = |from| {
        let LinkEvent::Decoded(frame) = hears(FrameKind::Data, from, C, data, NAV_DATA) else {
            unreachable!()
        };
        LinkEvent::Decoded(DecodedFrame { rate: slow, ..frame })
    };
    let seen = |data: Option<LinkEvent>| {
        let mut observer = estimator(last_sample(WinfReading::Printed));
        observer.on_link(&hears(FrameKind::Cts, C, B, cts, 2_739));
        if let Some(data) = &data {
            observer.on_link(data);
        }
        observer.on_link(&hears(FrameKind::Ack, C, B, ack, 0));
        mbps(&observer)
    };
    // 12000 bits in 2414.545 + 304 us; 2415 us minus the preamble are 3056.6 bytes at 11 Mb/s, 28 of them
    // header.
    assert_eq!(seen(Some(sent(B))), 4.414);
    assert_eq!(seen(None), 8.914);
    assert_eq!(seen(Some(sent(NodeId(7)))), seen(None));
}

/// Responses to the node's own frames are not overheard exchanges: without its own exchange they are no
/// sample.
#[test]
fn answers_to_its_own_frames_are_not_those_of_others() {
    let mut own = estimator(last_sample(WinfReading::Printed));
    let Frames { cts, ack, .. } = frames(us(1_000));
    own.on_link(&hears(FrameKind::Cts, B, A, cts, NAV_CTS));
    own.on_link(&hears(FrameKind::Ack, B, A, ack, 0));
    assert_eq!(mbps(&own), 11.0);
}

/// An ACK may end a SIFS beyond the reservation of the CTS, and DATA at the end of that of the RTS, and not a
/// nanosecond later.
#[test]
fn frames_beyond_the_reservation_belong_to_no_exchange() {
    for (late, is_sample) in [(0, true), (1, false)] {
        let Frames { rts, cts, .. } = frames(us(1_000));
        let mut observer = estimator(last_sample(WinfReading::Printed));
        observer.on_link(&hears(FrameKind::Cts, C, B, cts, NAV_CTS));
        let end = cts.end + Span::from_ns(1_637_000 + late);
        let ack = Interval { start: cts.end + Span::from_us(1_333), end };
        observer.on_link(&hears(FrameKind::Ack, C, B, ack, 0));
        assert_eq!(mbps(&observer) != 11.0, is_sample, "{late} ns");

        let mut receiver = estimator(last_sample(WinfReading::Printed));
        receiver.on_link(&hears(FrameKind::Rts, B, A, rts, NAV_RTS));
        let end = rts.end + Span::from_ns(1_941_000 + late);
        let data = Interval { start: rts.end + Span::from_us(324), end };
        receiver.on_link(&hears(FrameKind::Data, B, A, data, NAV_DATA));
        assert_eq!(mbps(&receiver) != 11.0, is_sample, "{late} ns");
    }
}
