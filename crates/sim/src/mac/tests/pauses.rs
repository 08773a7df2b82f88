//! Timelines with an extra back-off of a router policy.

use super::script::{A, B, C, Script, Signal, config};
use multihop_core::FrameKind::{Ack, Data, Rts};
use multihop_dot11::DcfRules;

const ACK_US: u64 = 304;
const DATA_US: u64 = 946;
const DIFS: u64 = 50;
const SLOT: u64 = 20;

/// A script in which a first packet has just been acknowledged, and the time of that. From now on the policy
/// demands a pause of 1001 us, which is 51 slots. The back-off after the first packet is drawn from a window
/// of `cw_min`.
fn after_a_first(cw_min: u32, packets: u32) -> (Script, u64) {
    let mut s = Script::new(DcfRules::IEEE, None);
    s.queues(1_000, Some(B));
    s.pauses(1_001);
    (1..packets).for_each(|_| s.queues(1_001, Some(B)));
    s.runs_until(1_002);
    let ack = s.control(Ack, B, A, 0);
    let end = s.hears(1_000 + DATA_US + 10, ack, Signal::Clear);
    s.runs_until(end - 1);
    s.timing.set_cw_min(cw_min);
    s.runs_until(end);
    (s, end)
}

#[test]
fn a_pause_adds_to_the_back_off_after_the_previous_frame() {
    let (mut s, end) = after_a_first(0, 2);
    assert_eq!(s.runs_until(end + 2_000), [(end + DIFS + 51 * SLOT, Data, Some(B), 10 + ACK_US)]);
    let (mut s, end) = after_a_first(31, 2);
    let slots = u64::from(s.mac.station.function.backoff.expect("a back-off is drawn after a success"));
    assert!((51..=82).contains(&slots), "{slots}");
    assert_eq!(s.runs_until(end + 2_000), [(end + DIFS + slots * SLOT, Data, Some(B), 10 + ACK_US)]);
}

#[test]
fn a_packet_that_arrives_during_the_back_off_extends_it() {
    let (mut s, end) = after_a_first(1023, 1);
    let drawn = u64::from(s.mac.station.function.backoff.expect("a back-off is drawn after a success"));
    assert!(drawn > 10, "{drawn}");
    s.queues(end + 60, Some(B));
    let due = end + DIFS + (drawn + 51) * SLOT;
    assert_eq!(s.runs_until(due), [(due, Data, Some(B), 10 + ACK_US)]);
}

#[test]
fn a_pause_excludes_immediate_access() {
    let mut s = Script::new(DcfRules::IEEE, None);
    s.pauses(1_000);
    s.queues(1_000, Some(B));
    assert_eq!(s.runs_until(3_000), [(1_000 + 50 * SLOT, Data, Some(B), 10 + ACK_US)]);
}

/// The slots of a pause freeze like all others.
#[test]
fn a_pause_freezes_while_the_medium_is_busy() {
    let (mut s, end) = after_a_first(0, 2);
    let other = s.data(C, None, 1);
    let other_end = s.hears(end + DIFS + 20 * SLOT + 7, other, Signal::Clear);
    assert_eq!(
        s.runs_until(other_end + DIFS + 31 * SLOT),
        [(other_end + DIFS + 31 * SLOT, Data, Some(B), 10 + ACK_US)]
    );
}

/// Of seven RTS without a response, only the first waits longer.
#[test]
fn a_pause_does_not_delay_retries() {
    let mut setup = config(DcfRules::IEEE, Some(0));
    (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
    let mut s = Script::with(&setup);
    s.pauses(1_000);
    s.queues(1_000, Some(B));
    let sent = s.runs_until(100_000);
    let retries: Vec<u64> = sent.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert_eq!((sent[0].0, sent[0].1, retries.len()), (2_000, Rts, 6));
    assert!(retries.iter().all(|gap| *gap < 1_000), "{retries:?}");
}

#[test]
fn a_pause_does_not_delay_broadcasts() {
    let mut s = Script::new(DcfRules::IEEE, None);
    s.pauses(1_000);
    s.queues(1_000, None);
    assert_eq!(s.runs_until(3_000), [(1_000, Data, None, 0)]);
}
