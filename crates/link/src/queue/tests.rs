//! Properties of all disciplines.

use super::*;
use multihop_core::{Ecn, FlowId, Rng, Segment};

fn disciplines() -> [Discipline; 7] {
    let hasty = CodelOptions { target: Span::from_us(50), interval: Span::from_ms(1), ecn: true };
    let lines = FqCodelOptions { codel: hasty, flows: 4, byte_limit: 9_000, ..FqCodelOptions::default() };
    [
        Discipline::DropTail,
        Discipline::FqCodel(FqCodelOptions::default()),
        Discipline::FqCodel(lines),
        Discipline::Stations(StationsOptions { lines, ..StationsOptions::default() }),
        Discipline::Pie(PieOptions {
            target: Span::from_us(50),
            max_burst: Span::from_ms(1),
            update: Span::from_us(100),
            alpha: 1_000.0,
            ..PieOptions::default()
        }),
        Discipline::DualPi2(DualPi2Options::default()),
        Discipline::DualPi2(DualPi2Options {
            target: Span::from_us(50),
            update: Span::from_us(100),
            schedule: DualQueueSchedule::TimeShifted { shift: Span::from_ms(1) },
            ..DualPi2Options::default()
        }),
    ]
}

fn arrival(at: Time, priority: Priority, flow: u64) -> Arrival {
    Arrival { at, priority, size: 1000, flow, next_hop: NodeId(flow as u32 % 3), ecn: Ecn::NotCapable }
}

fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn lost<T>(queue: &mut InterfaceQueue<T>) -> Vec<T> {
    std::iter::from_fn(|| queue.poll_lost()).collect()
}

#[test]
fn frames_from_a_station_are_charged_where_stations_share_and_the_option_says_so() {
    let charges = |discipline: &Discipline| InterfaceQueue::<u32>::new(discipline, 10, 0).charges_received();
    let stations = |charge_received| {
        Discipline::Stations(StationsOptions { charge_received, ..StationsOptions::default() })
    };
    assert!(charges(&stations(true)));
    assert!(!charges(&stations(false)));
    assert!(!charges(&Discipline::DropTail) && !charges(&Discipline::FqCodel(FqCodelOptions::default())));
}

#[test]
fn routing_packets_overtake() {
    for discipline in disciplines() {
        let mut queue = InterfaceQueue::new(&discipline, 10, 0);
        queue.push(&arrival(at(0), Priority::Data, 0), 1);
        queue.push(&arrival(at(0), Priority::Data, 0), 2);
        queue.push(&arrival(at(0), Priority::Routing, 0), 9);
        let order: Vec<i32> = std::iter::from_fn(|| queue.pop(at(1)).map(|taken| taken.item)).collect();
        assert_eq!(order, [9, 1, 2], "{discipline:?}");
    }
}

#[test]
fn routing_packets_take_the_place_of_data_packets_and_then_none() {
    for discipline in disciplines() {
        let mut queue = InterfaceQueue::new(&discipline, 2, 0);
        let now = at(0);
        queue.push(&arrival(now, Priority::Data, 0), 1);
        queue.push(&arrival(now, Priority::Data, 0), 2);
        let mut made_room = Vec::new();
        for item in [8, 9] {
            queue.push(&arrival(now, Priority::Routing, 0), item);
            made_room.extend(lost(&mut queue));
        }
        made_room.sort_unstable();
        assert_eq!(made_room, [1, 2], "{discipline:?}");
        queue.push(&arrival(now, Priority::Routing, 0), 10);
        assert_eq!(lost(&mut queue), [10], "{discipline:?}");
        queue.push(&arrival(now, Priority::Data, 0), 3);
        assert_eq!(lost(&mut queue), [3], "{discipline:?}");
        assert_eq!(queue.pop(now).map(|taken| taken.item), Some(8));
        assert_eq!(queue.pop(now).map(|taken| taken.item), Some(9));
        assert!(queue.pop(now).is_none());
    }
}

#[test]
fn one_line_drops_its_tail() {
    let mut queue = InterfaceQueue::new(&Discipline::DropTail, 2, 0);
    for item in 1..=3 {
        queue.push(&arrival(at(0), Priority::Data, item), item);
    }
    assert_eq!(lost(&mut queue), [3]);
    queue.push(&arrival(at(0), Priority::Routing, 0), 9);
    assert_eq!(lost(&mut queue), [2]);
}

#[test]
fn a_purge_takes_only_what_waits_for_the_broken_hop() {
    for discipline in disciplines() {
        let mut queue = InterfaceQueue::new(&discipline, 10, 0);
        (0..6).for_each(|i| queue.push(&arrival(at(i), Priority::Data, i), i));
        let mut dropped = Vec::new();
        queue.purge(|item| item % 2 == 0, |item| dropped.push(item));
        assert_eq!(dropped, [0, 2, 4], "oldest first: {discipline:?}");
        assert_eq!(queue.len(), 3);
        let mut rest: Vec<u64> = std::iter::from_fn(|| queue.pop(at(10)).map(|taken| taken.item)).collect();
        rest.sort_unstable();
        assert_eq!(rest, [1, 3, 5], "{discipline:?}");
    }
}

/// Random arrivals, departures and broken links: each packet leaves once, in one way, with its size and
/// arrival time; the limit holds; and a packet is returned whenever one waits.
#[test]
fn packets_are_conserved() {
    for (case, discipline) in (0..).zip(disciplines()).cycle().take(140) {
        let rng = &mut Rng::at(case, &["queue"]);
        let limit = [1, 3, 20][rng.below(3) as usize];
        let mut queue = InterfaceQueue::new(&discipline, limit, rng.bits());
        let mut came: Vec<Option<(Time, u32)>> = Vec::new();
        let (mut waiting, mut aqm) = (0, 0);
        for step in 0..2_000 {
            let now = at(step * 20_000);
            match rng.below(20) {
                0..=10 => {
                    let priority = if rng.below(10) == 0 { Priority::Routing } else { Priority::Data };
                    let size = 40 + rng.below(1461);
                    let flow = u64::from(rng.below(6));
                    let ecn = Ecn::from_bits(rng.below(4) as u8);
                    queue.push(&Arrival { size, ecn, ..arrival(now, priority, flow) }, came.len());
                    came.push(Some((now, size)));
                    waiting += 1;
                    aqm += u32::from(queue.push_loss() == DropCause::Aqm);
                    for item in lost(&mut queue) {
                        assert!(came[item].take().is_some());
                        waiting -= 1;
                    }
                }
                11..=17 => {
                    let taken = queue.pop(now);
                    for item in lost(&mut queue) {
                        assert!(came[item].take().is_some());
                        waiting -= 1;
                        aqm += 1;
                    }
                    assert_eq!(taken.is_some(), waiting > 0, "{discipline:?}");
                    if let Some(taken) = taken {
                        assert_eq!(came[taken.item].take(), Some((taken.came, taken.size)));
                        waiting -= 1;
                    }
                }
                18 => queue.charge(NodeId(rng.below(4)), Span::from_us(u64::from(rng.below(5_000)))),
                _ => {
                    let broken = rng.below(7) as usize;
                    queue.purge(
                        |item| item % 7 == broken,
                        |item| {
                            assert!(item % 7 == broken && came[item].take().is_some());
                            waiting -= 1;
                        },
                    );
                }
            }
            assert_eq!(queue.len(), waiting, "{discipline:?}");
            assert!(queue.len() <= limit);
        }
        assert_eq!(came.iter().flatten().count(), waiting);
        let is_hasty = [2, 3, 4, 6].contains(&(case % 7)) && limit == 20;
        assert!(!is_hasty || aqm > 0, "the cases drop something: {discipline:?}");
    }
}

#[test]
fn bytes_are_limited_as_well() {
    let lines = FqCodelOptions { byte_limit: 5_000, drop_batch: 1, ..FqCodelOptions::default() };
    for discipline in [
        Discipline::FqCodel(lines),
        Discipline::Stations(StationsOptions { lines, ..StationsOptions::default() }),
    ] {
        let mut queue = InterfaceQueue::new(&discipline, 100, 0);
        (0..8).for_each(|i| queue.push(&arrival(at(i), Priority::Data, i), i));
        assert_eq!((queue.len(), lost(&mut queue).len()), (5, 3), "{discipline:?}");
        queue.push(&Arrival { size: 6_000, ..arrival(at(9), Priority::Data, 9) }, 9);
        assert_eq!(lost(&mut queue), [9], "it alone is too much: {discipline:?}");
    }
}

#[test]
fn directions_and_ends_of_flows_are_different_flows() {
    let packet = |flow, port, source, destination| Packet {
        segment: Segment { ecn: Ecn::Ect0, ..Segment::default() },
        flow: FlowId(flow),
        port,
        source: NodeId(source),
        destination: NodeId(destination),
        size: 1500,
        number: 0,
        created: at(0),
        hops: 0,
    };
    let of = |packet: &Packet| Arrival::of(packet, Some(NodeId(5)), at(3));
    let first = packet(0, Port::Receiver, 1, 2);
    let arrival = of(&first);
    assert_eq!((arrival.at, arrival.size, arrival.next_hop), (at(3), 1500, NodeId(5)));
    assert!(arrival.ecn == Ecn::Ect0 && arrival.priority == Priority::Data);
    assert_eq!(of(&Packet { number: 7, size: 40, ..first }).flow, arrival.flow);
    for other in [
        packet(1, Port::Receiver, 1, 2),
        packet(0, Port::Sender, 1, 2),
        packet(0, Port::Receiver, 3, 2),
        packet(0, Port::Receiver, 1, 3),
        packet(0, Port::Receiver, 2, 1),
    ] {
        assert_ne!(of(&other).flow, arrival.flow);
    }
    let routing = packet(FlowId::ROUTING.0, Port::Receiver, 1, 2);
    let broadcast = Arrival::of(&routing, None, at(0));
    assert_eq!((broadcast.priority, broadcast.next_hop), (Priority::Routing, NodeId::BROADCAST));
}

/// Charged airtime delays a station where stations share airtime; elsewhere packets leave in order.
#[test]
fn a_charged_station_waits_where_stations_share_airtime() {
    for discipline in disciplines() {
        let shares = matches!(discipline, Discipline::Stations(_));
        let mut queue = InterfaceQueue::new(&discipline, 10, 0);
        assert!(queue.is_empty() && queue.limit() == 10);
        assert_eq!(queue.shares_airtime(), shares, "{discipline:?}");
        queue.charge(NodeId(1), Span::from_ms(10));
        queue.push(&arrival(at(0), Priority::Data, 1), 1);
        queue.push(&arrival(at(0), Priority::Data, 2), 2);
        assert!(!queue.is_empty());
        let first = queue.pop(at(1)).map(|taken| taken.item);
        assert_eq!(first, Some(if shares { 2 } else { 1 }), "{discipline:?}");
    }
}

/// No two of 64 flows among eight nodes, in both directions, have the same key.
#[test]
fn keys_of_flows_are_unique() {
    let mut keys = std::collections::BTreeSet::new();
    for number in 0..64 * 8 * 8 * 2 {
        let packet = Packet {
            segment: Segment::default(),
            flow: FlowId(number / 128),
            port: if number % 2 == 0 { Port::Sender } else { Port::Receiver },
            source: NodeId(number / 2 % 8),
            destination: NodeId(number / 16 % 8),
            size: 40,
            number: 0,
            created: at(0),
            hops: 0,
        };
        assert!(keys.insert(Arrival::of(&packet, None, at(0)).flow), "{packet:?}");
    }
}

/// Stations under airtime limits, each with packets numbered as the station.
fn limited(limits: AirtimeLimits, stations: u32, packets: u32) -> InterfaceQueue<u32> {
    let lines = FqCodelOptions { byte_limit: 1 << 30, ..StationsOptions::default().lines };
    let options = StationsOptions { lines, ..StationsOptions::default() };
    let mut queue = InterfaceQueue::new(&Discipline::Stations(options), 100_000, 0);
    queue.limit_airtime(limits);
    for station in (0..packets).flat_map(|_| 0..stations) {
        let next_hop = NodeId(station);
        queue.push(&Arrival { next_hop, ..arrival(at(0), Priority::Data, u64::from(station)) }, station);
    }
    queue
}

/// No station exceeds its limit by more than a packet; no station waits that may send; and all packets leave.
#[test]
fn no_station_has_more_pending_than_its_limit_and_a_packet() {
    let limits = AirtimeLimits { threshold: Span::from_ms(15), ..AirtimeLimits::default() };
    let mut queue = limited(limits, 5, 300);
    let mut rng = Rng::at(3, &["airtime"]);
    let mut held: Vec<(u32, Span)> = Vec::new();
    let (mut left, mut full) = ([300; 5], 0);
    while left.iter().sum::<u32>() > 0 {
        let before = queue.pending();
        if let Some(taken) = queue.pop(at(1)) {
            let station = taken.item;
            let pending = queue.pending_for(NodeId(station));
            let limit = if before < limits.threshold { limits.high } else { limits.low };
            assert!(pending < limit, "{pending:?} of {before:?}");
            let airtime = Span::from_us(100 + u64::from(rng.below(1_900)) * u64::from(station + 1));
            queue.hold(NodeId(station), airtime);
            held.push((station, airtime));
            left[station as usize] -= 1;
        } else {
            assert!(!queue.offers() && !held.is_empty());
            let waiting = left.iter().filter(|left| **left > 0).count() as u64;
            let is_full = before >= limits.high + limits.low * (waiting - 1) / 2;
            full += u32::from(is_full);
            for station in (0..5).filter(|station| left[*station as usize] > 0) {
                let pending = queue.pending_for(NodeId(station));
                let is_limited = before >= limits.threshold || pending >= limits.high;
                assert!(is_full || (pending >= limits.low && is_limited));
            }
            let (station, airtime) = held.remove(rng.below(held.len() as u32) as usize);
            queue.charge(NodeId(station), airtime);
            queue.release(NodeId(station), airtime);
        }
    }
    assert!(full > 0 && full < 1500, "{full}");
    for (station, airtime) in held {
        queue.release(NodeId(station), airtime);
    }
    assert_eq!(queue.pending(), Span::ZERO);
}

/// Hardware that sends in the order of hand-over and is never idle: credit, reduced by pending airtime,
/// decides which station gets room, and stations share airtime.
#[test]
fn stations_share_airtime_through_a_queue_below() {
    let airtime = [400, 900, 4_000].map(Span::from_us);
    let mut queue = limited(AirtimeLimits::default(), 3, 4_000);
    let (mut below, mut used) = (VecDeque::new(), [Span::ZERO; 3]);
    while used.iter().copied().sum::<Span>() < Span::from_ms(3_000) {
        while let Some(taken) = queue.pop(at(1)) {
            queue.hold(NodeId(taken.item), airtime[taken.item as usize]);
            below.push_back(taken.item);
        }
        let station = below.pop_front().expect("there is work") as usize;
        queue.charge(NodeId(station as u32), airtime[station]);
        queue.release(NodeId(station as u32), airtime[station]);
        used[station] += airtime[station];
    }
    let (least, most) = (used.iter().min().unwrap(), used.iter().max().unwrap());
    println!("{used:?}");
    assert!(*most - *least <= Span::from_ms(12 + 4), "{used:?}");
}

/// Routing packets do not wait for limits, and the pending airtime of other queues counts.
#[test]
fn limits_are_of_data_and_of_all_queues_of_a_radio() {
    let mut queue = limited(AirtimeLimits::default(), 1, 5);
    queue.hold(NodeId(0), Span::from_ms(12));
    assert!(!queue.offers() && queue.pop(at(1)).is_none());
    queue.push(&arrival(at(1), Priority::Routing, 0), 9);
    assert!(queue.offers());
    assert_eq!(queue.pop(at(1)).map(|taken| taken.item), Some(9));
    queue.release(NodeId(0), Span::from_ms(6));
    assert!(queue.offers(), "6 ms are less than the high limit");
    queue.note_pending_elsewhere(Span::from_ms(18));
    assert!(!queue.offers() && queue.pop_for(at(1), (NodeId(0), 0), &|_| true, 9_000).is_none());
}

/// Of 1000 packets that arrive at once and leave one per millisecond, `CoDel` drops the first an interval
/// after one waited for the target.
#[test]
fn codel_follows_what_the_link_can_do() {
    let first_drop = |adaptation: Adaptation, throughput: f64, exchange: Span| {
        let options = StationsOptions { adaptation, ..StationsOptions::default() };
        let mut queue = InterfaceQueue::new(&Discipline::Stations(options), 10_000, 0);
        (0..2_000).for_each(|item| queue.push(&arrival(at(0), Priority::Data, 0), item));
        queue.adapt(NodeId(0), LinkState { throughput, exchange });
        (0..2_000u64)
            .find(|ms| {
                queue.pop(at(ms * 1_000_000));
                queue.has_lost()
            })
            .expect("one is dropped")
    };
    let (fast, ms) = (7e6, Span::from_ms);
    let slow = Adaptation { slow: Some(SlowStations::default()), exchanges: 0 };
    assert_eq!(first_drop(Adaptation::default(), 1e6, ms(40)), 120);
    assert_eq!((first_drop(slow, fast, ms(40)), first_drop(slow, 5.9e6, ms(40))), (120, 350));
    let exchanges = Adaptation { slow: None, exchanges: 2 };
    assert_eq!((first_drop(exchanges, fast, ms(4)), first_drop(exchanges, fast, ms(40))), (120, 180));
    assert_eq!(first_drop(exchanges, fast, ms(150)), 600, "the interval is not shorter than the target");
}

/// A search finds the same packet as an examination of all packets, after any arrivals and departures.
#[test]
fn a_packet_for_a_neighbour_is_the_first_of_all_for_it() {
    let mut rng = Rng::at(7, &["sought"]);
    let mut queue = InterfaceQueue::new(&Discipline::DropTail, 40, 0);
    let mut waiting: Vec<(u32, u32, u32)> = Vec::new(); // number, neighbour, bytes
    let mut found = [0; 3];
    for number in 0..20_000 {
        let neighbour = rng.below(3);
        match rng.below(8) {
            0..4 => {
                let size = 100 + rng.below(1_000);
                let arrival = Arrival { size, ..arrival(at(0), Priority::Data, 0) };
                queue.push(&arrival, (number, neighbour, size));
                lost(&mut queue);
                waiting.push((number, neighbour, size));
                waiting.truncate(40);
            }
            4..7 => {
                let most = if rng.below(4) == 0 { 300 } else { 2_000 };
                for _ in 0..=rng.below(3) {
                    let wanted = |item: &(u32, u32, u32)| item.1 == neighbour;
                    let sought = (NodeId(neighbour), 0);
                    let taken = queue.pop_for(at(1), sought, &wanted, most).map(|taken| taken.item);
                    let first = waiting.iter().position(wanted).filter(|place| waiting[*place].2 <= most);
                    found
                        [usize::from(first.is_some()) + usize::from(first.is_some_and(|place| place > 5))] +=
                        1;
                    assert_eq!(taken, first.map(|place| waiting.remove(place)));
                }
            }
            _ if rng.below(4) == 0 => {
                queue.purge(|item| item.1 == neighbour, |_| {});
                waiting.retain(|item| item.1 != neighbour);
            }
            _ => {
                let first = (!waiting.is_empty()).then(|| waiting.remove(0));
                assert_eq!(queue.pop(at(1)).map(|taken| taken.item), first);
            }
        }
        assert_eq!(queue.len(), waiting.len());
    }
    assert!(found.iter().all(|times| *times > 100), "{found:?}");
}
