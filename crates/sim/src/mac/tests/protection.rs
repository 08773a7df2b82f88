//! RTS and CTS by which frames are protected, as timelines; the names carry the clause.
//!
//! Unless a test says otherwise: 802.11g with 802.11b stations, long preambles, no back-off. In us: SIFS 10,
//! slot 20, DIFS 50; CTS at 11 Mb/s 192 + ceil(112 / 11) = 203, RTS 207; DATA of 1000 bytes, 1036 with
//! headers, at 54 Mb/s 20 + 39 * 4 + 6 = 182; ACK at 24 Mb/s 20 + 2 * 4 + 6 = 34.

use super::script::{A, AGGREGATION, B, C, Script, Signal, config};
use crate::config::Config;
use multihop_core::FrameKind::{Ack, BlockAck, Cts, Data, Rts};
use multihop_core::{LinkEvent, Rate, Span};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};

const CTS_US: u64 = 203;
const DATA_US: u64 = 182;
const ACK_US: u64 = 34;
/// What the CTS reserves: SIFS, DATA, SIFS and ACK.
const RESERVED: u64 = 10 + DATA_US + 10 + ACK_US;

fn mixed(rts_threshold: Option<u32>) -> Config {
    let mut setup = config(DcfRules::IEEE, rts_threshold);
    setup.phy = Phy::mixed(Preamble::Long);
    setup.data_rate = Rate::from_kbps(54_000).into();
    setup.control_rate = None;
    setup.cts_to_self = true;
    (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
    setup
}

#[test]
pub fn a_cts_to_self_reserves_data_and_ack_9_3_2_11() {
    let mut s = Script::with(&mixed(None));
    s.queues(1_000, Some(B));
    let data = 1_000 + CTS_US + 10;
    let ack = s.control(Ack, B, A, 0);
    let done = s.hears(data + DATA_US + 10, ack, Signal::Clear);
    assert_eq!(done, 1_000 + CTS_US + RESERVED, "the reservation ends with the ACK");
    let expected = [(1_000, Cts, Some(A), RESERVED), (data, Data, Some(B), 10 + ACK_US)];
    assert_eq!(s.runs_until(done + 1_000), expected);
    assert!(!s.mac.holds_packet());
    let airtime = s.events().iter().find_map(|event| match event {
        LinkEvent::Exchange(exchange) => Some(exchange.airtime),
        _ => None,
    });
    assert_eq!(airtime, Some(Span::from_us(CTS_US + RESERVED)), "an exchange counts its protection");
}

#[test]
fn others_set_their_nav_by_a_cts_to_self_9_3_2_11() {
    let mut s = Script::with(&mixed(None));
    let cts = s.control(Cts, B, B, RESERVED);
    let end = s.hears(1_000, cts, Signal::Clear);
    assert_eq!(end, 1_000 + CTS_US, "at the rate of an RTS");
    s.queues(end + 1, Some(C));
    let begins = end + RESERVED + 50;
    assert_eq!(s.runs_until(begins + 10), [(begins, Cts, Some(A), RESERVED)]);
}

#[test]
fn each_try_is_protected_anew_9_23_1() {
    let mut s = Script::with(&mixed(None));
    s.queues(1_000, Some(B));
    let data = 1_000 + CTS_US + 10;
    // The ACK is overdue after SIFS, slot and the 24 us in which OFDM at 2.4 GHz is noticed: by then the medium is idle for DIFS.
    let again = data + DATA_US + 10 + 20 + 24;
    let expected = [
        (1_000, Cts, Some(A), RESERVED),
        (data, Data, Some(B), 44),
        (again, Cts, Some(A), RESERVED),
        (again + CTS_US + 10, Data, Some(B), 44),
    ];
    assert_eq!(s.runs_until(again + CTS_US + 20), expected);
}

/// RTS are at a rate that all decode as well, and reserve by themselves.
#[test]
fn an_rts_takes_the_place_of_a_cts_to_self_9_23_1() {
    let mut s = Script::with(&mixed(Some(0)));
    s.queues(1_000, Some(B));
    let cts = s.control(Cts, B, A, 10 + DATA_US + 10 + ACK_US);
    let end = s.hears(1_000 + 207 + 10, cts, Signal::Clear);
    let expected = [(1_000, Rts, Some(B), 10 + CTS_US + RESERVED), (end + 10, Data, Some(B), 44)];
    assert_eq!(s.runs_until(end + 20), expected);
}

#[test]
fn frames_that_all_decode_are_not_protected_9_23_1() {
    let mut slow = mixed(None);
    slow.data_rate = Rate::from_kbps(11_000).into();
    let mut s = Script::with(&slow);
    s.queues(1_000, Some(B));
    assert_eq!(s.runs_until(1_100), [(1_000, Data, Some(B), 10 + CTS_US)], "an ACK is as long as a CTS");
    let mut s = Script::with(&mixed(None));
    s.queues(1_000, None);
    assert_eq!(s.runs_until(1_100), [(1_000, Data, None, 0)], "broadcasts are at a basic rate");
}

/// Where all have OFDM and the keys ask for it: at 6 Mb/s a broadcast takes 20 + 347 * 4 + 6 us, a CTS 20 + 6
/// * 4 + 6.
#[test]
pub fn a_broadcast_of_ofdm_is_protected_without_an_answer_9_3_2_11() {
    let mut setup = mixed(None);
    setup.phy = Phy::new(Standard::Dot11g, Preamble::Long);
    setup.control_rate = Some(Rate::from_kbps(6_000));
    let mut s = Script::with(&setup);
    s.queues(1_000, None);
    let expected = [(1_000, Cts, Some(A), 10 + 1_414), (1_060, Data, None, 0)];
    assert_eq!(s.runs_until(3_000), expected);
    assert!(!s.mac.holds_packet());
}

/// DATA follows the station's own CTS, whatever the medium does meanwhile.
#[test]
fn data_follows_its_cts_in_a_busy_medium_9_3_2_11() {
    let mut s = Script::with(&mixed(None));
    s.queues(1_000, Some(B));
    let broadcast = s.data(C, None, 1);
    s.hears(1_000 + CTS_US + 5, broadcast, Signal::FcsError);
    let sent = s.runs_until(1_000 + CTS_US + 20);
    assert_eq!(sent.last(), Some(&(1_000 + CTS_US + 10, Data, Some(B), 44)));
}

/// The PSDU counts, and the threshold is to be exceeded: a packet of 1000 bytes is one of 1036.
#[test]
fn individually_addressed_psdus_longer_than_the_rts_threshold_have_an_rts_9_3_5() {
    for (threshold, first) in [(1_035, Rts), (1_036, Data)] {
        let mut s = Script::new(DcfRules::IEEE, Some(threshold));
        s.queues(1_000, Some(B));
        assert_eq!(s.runs_until(1_100)[0].1, first, "{threshold} B");
        let mut s = Script::new(DcfRules::IEEE, Some(threshold));
        s.queues(1_000, None);
        assert_eq!(s.runs_until(1_100)[0].1, Data, "a broadcast has none");
    }
}

/// Of an A-MPDU the PSDU is the whole of it: three MPDUs of 1038 bytes are 3130 with delimiters and padding.
#[test]
fn the_rts_threshold_is_of_the_length_of_an_a_mpdu_10_3_1() {
    for (threshold, first) in [(3_129, Rts), (3_130, Data)] {
        let mut setup = config(DcfRules::IEEE.with_quality_of_service(), Some(threshold));
        (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
        setup.aggregation = Some(AGGREGATION);
        let mut s = Script::with(&setup);
        (0..4).for_each(|_| s.queues(1_000, Some(B)));
        // The first packet leaves alone, as 947 us; the others follow in one frame.
        let ack = s.control(Ack, B, A, 0);
        let done = s.hears(1_000 + 947 + 10, ack, Signal::Clear);
        let sent = s.runs_until(done + 100);
        let kinds: Vec<_> = sent.iter().map(|(_, kind, ..)| *kind).collect();
        assert_eq!(kinds, [Data, first], "{threshold} B");
        if first == Data {
            let answer = s.block_ack(B, 0, &[1, 2, 3]);
            s.hears(sent[1].0 + 2_469 + 10, answer, Signal::Clear);
            assert_eq!(sent[1].3, 10 + s.control(BlockAck, B, A, 0).airtime().ns() / 1_000);
            s.runs_until(20_000);
            assert!(!s.mac.holds_packet());
        }
    }
}
