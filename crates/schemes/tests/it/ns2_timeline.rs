//! Comparison of `tcp-newreno` with `flavour = "ns2"` to a run of ns-2.35: `Agent/TCP/Newreno`, `window_` 16,
//! 1460-byte packets. The path is a link of 2 Mb/s and 20 ms that loses the packets in `LOST`, then a link of
//! 100 Mb/s and 33 ms.

use crate::connect;
use crate::pipe::Path;
use multihop_core::{Rate, Segment, Span, Time};
use multihop_schemes::find;
use serde_json::json;

/// Numbers of the packets that are lost, counted from the SYN as 0.
const LOST: [usize; 15] = [9, 19, 29, 48, 51, 60, 62, 65, 69, 70, 85, 97, 102, 111, 113];

/// Retransmissions of ns-2 in five seconds: time in ms and packet number.
const REPEATED: [(f64, u64); 19] = [
    (473.2, 9),
    (591.5, 19),
    (904.3, 27),
    (1477.7, 45),
    (1590.0, 48),
    (2020.6, 55),
    (2039.1, 56),
    (2132.9, 57),
    (2132.9, 58),
    (2151.4, 59),
    (2245.1, 60),
    (2830.6, 74),
    (3273.7, 85),
    (3386.0, 90),
    (3934.8, 97),
    (3953.4, 98),
    (3965.4, 99),
    (4047.1, 100),
    (4065.7, 101),
];

/// Two links in a row.
struct Links {
    carried: usize,
    /// Times at which the links are free again: slow forward, fast forward, fast back and slow back.
    free: [Time; 4],
}

impl Links {
    /// Waits for link `index`, crosses it and returns the time at which the last bit leaves.
    fn cross(&mut self, index: usize, from: Time, bits: u64, mbps: u64) -> Time {
        let sent = from.max(self.free[index]) + Rate::from_kbps(1_000 * mbps).span_of_bits(bits);
        self.free[index] = sent;
        sent
    }
}

impl Path for Links {
    fn carry(&mut self, now: Time, to_receiver: bool, segment: &mut Segment, copies: &mut Vec<Span>) {
        let bits = 8 * u64::from(segment.payload + segment.header);
        let (slow, fast) = (Span::from_ms(20), Span::from_ms(33));
        let arrives = if to_receiver {
            let sent = self.cross(0, now, bits, 2);
            self.carried += 1;
            if LOST.contains(&(self.carried - 1)) {
                return;
            }
            self.cross(1, sent + slow, bits, 100) + fast
        } else {
            let sent = self.cross(2, now, bits, 100);
            self.cross(3, sent + fast, bits, 2) + slow
        };
        copies.push(arrives.since(now));
    }
}

/// Five recoveries and two timeouts. ns-2 draws the phase of its 10 ms clock at random, which makes no
/// difference in this run.
#[test]
fn tcp_newreno_retransmits_what_ns2_retransmits() {
    let scheme = find("tcp-newreno").unwrap().build(&json!({ "flavour": "ns2", "window": 16 })).unwrap();
    let links = Links { carried: 0, free: [Time::ZERO; 4] };
    let mut pipe = connect(scheme.as_ref(), links);
    pipe.push(1460 * 10_000);
    pipe.run_until(Time::ZERO + Span::from_ms(5_000));
    let repeated: Vec<(f64, u64)> = pipe
        .log
        .iter()
        .filter(|(_, segment)| segment.retransmission)
        .map(|(at, segment)| (at.seconds() * 1e3, segment.seq / 1460 + 1))
        .collect();
    assert_eq!(repeated.len(), REPEATED.len(), "{repeated:?}");
    for ((at, number), (expected_at, expected)) in repeated.iter().zip(REPEATED) {
        assert!(
            *number == expected && (at - expected_at).abs() < 0.1,
            "{number} at {at}, not {expected} at {expected_at}"
        );
    }
    let progress = pipe.sender.progress();
    assert_eq!((progress.timeouts, progress.recoveries, progress.sent), (2, 5, 150 * 1460));
    assert_eq!(pipe.log.len(), 170);
}
