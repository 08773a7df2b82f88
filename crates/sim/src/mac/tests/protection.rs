//! Timelines with protection by RTS and CTS-to-self. Names end with the clause.
//!
//! Unless a test sets others: 802.11g with 802.11b stations, long preambles, no back-off. In us: SIFS 10,
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
/// Duration field of the CTS: SIFS, DATA, SIFS and ACK.
const RESERVED: u64 = 10 + DATA_US + 10 + ACK_US;

fn mixed(rts_threshold: Option<u32>) -> Config {
    let mut setup = config(DcfRules::IEEE, rts_threshold);
    setup.phy = Phy::mixed(Preamble::Long);
    setup.rates.data = Rate::from_kbps(54_000).into();
    setup.rates.control = None;
    setup.mac.cts_to_self = true;
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
    assert_eq!(
        airtime,
        Some(Span::from_us(CTS_US + RESERVED)),
        "the airtime of an exchange includes its CTS-to-self"
    );
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
fn each_attempt_has_a_cts_to_self_9_23_1() {
    let mut s = Script::with(&mixed(None));
    s.queues(1_000, Some(B));
    let data = 1_000 + CTS_US + 10;
    // The ACK timeout is SIFS, slot and a PHY-RX-START delay of 24 us: by then the medium has been idle for
    // DIFS.
    let again = data + DATA_US + 10 + 20 + 24;
    let expected = [
        (1_000, Cts, Some(A), RESERVED),
        (data, Data, Some(B), 44),
        (again, Cts, Some(A), RESERVED),
        (again + CTS_US + 10, Data, Some(B), 44),
    ];
    assert_eq!(s.runs_until(again + CTS_US + 20), expected);
}

/// An RTS reserves the medium itself, at a rate that all stations decode.
#[test]
fn an_rts_replaces_a_cts_to_self_9_23_1() {
    let mut s = Script::with(&mixed(Some(0)));
    s.queues(1_000, Some(B));
    let cts = s.control(Cts, B, A, 10 + DATA_US + 10 + ACK_US);
    let end = s.hears(1_000 + 207 + 10, cts, Signal::Clear);
    let expected = [(1_000, Rts, Some(B), 10 + CTS_US + RESERVED), (end + 10, Data, Some(B), 44)];
    assert_eq!(s.runs_until(end + 20), expected);
}

#[test]
fn frames_that_all_stations_decode_are_not_protected_9_23_1() {
    let mut slow = mixed(None);
    slow.rates.data = Rate::from_kbps(11_000).into();
    let mut s = Script::with(&slow);
    s.queues(1_000, Some(B));
    assert_eq!(s.runs_until(1_100), [(1_000, Data, Some(B), 10 + CTS_US)], "an ACK is as long as a CTS");
    let mut s = Script::with(&mixed(None));
    s.queues(1_000, None);
    assert_eq!(s.runs_until(1_100), [(1_000, Data, None, 0)], "broadcasts have a basic rate");
}

/// In a network of OFDM stations whose scenario sets `cts_to_self`. At 6 Mb/s a broadcast takes 20 + 347 * 4
/// + 6 us and a CTS 20 + 6 * 4 + 6 us.
#[test]
pub fn an_ofdm_broadcast_has_a_cts_to_self_9_3_2_11() {
    let mut setup = mixed(None);
    setup.phy = Phy::new(Standard::Dot11g, Preamble::Long);
    setup.rates.control = Some(Rate::from_kbps(6_000));
    let mut s = Script::with(&setup);
    s.queues(1_000, None);
    let expected = [(1_000, Cts, Some(A), 10 + 1_414), (1_060, Data, None, 0)];
    assert_eq!(s.runs_until(3_000), expected);
    assert!(!s.mac.holds_packet());
}

/// DATA follows the station's own CTS also in a busy medium.
#[test]
fn data_follows_its_cts_in_a_busy_medium_9_3_2_11() {
    let mut s = Script::with(&mixed(None));
    s.queues(1_000, Some(B));
    let broadcast = s.data(C, None, 1);
    s.hears(1_000 + CTS_US + 5, broadcast, Signal::FcsError);
    let sent = s.runs_until(1_000 + CTS_US + 20);
    assert_eq!(sent.last(), Some(&(1_000 + CTS_US + 10, Data, Some(B), 44)));
}

/// A PSDU must be longer than the threshold: a packet of 1000 bytes is a PSDU of 1036.
#[test]
fn unicast_psdus_above_the_rts_threshold_have_an_rts_9_3_5() {
    for (threshold, first) in [(1_035, Rts), (1_036, Data)] {
        let mut s = Script::new(DcfRules::IEEE, Some(threshold));
        s.queues(1_000, Some(B));
        assert_eq!(s.runs_until(1_100)[0].1, first, "{threshold} B");
        let mut s = Script::new(DcfRules::IEEE, Some(threshold));
        s.queues(1_000, None);
        assert_eq!(s.runs_until(1_100)[0].1, Data, "a broadcast has no RTS");
    }
}

/// An A-MPDU is one PSDU: three MPDUs of 1038 bytes are 3130 bytes with delimiters and padding.
#[test]
fn the_rts_threshold_applies_to_the_length_of_an_a_mpdu_10_3_1() {
    for (threshold, first) in [(3_129, Rts), (3_130, Data)] {
        let mut setup = config(DcfRules::IEEE.with_quality_of_service(), Some(threshold));
        (setup.mac.cw_min, setup.mac.cw_max) = (0, 0);
        setup.mac.block_ack.aggregation = Some(AGGREGATION);
        let mut s = Script::with(&setup);
        (0..4).for_each(|_| s.queues(1_000, Some(B)));
        // The first packet is sent alone and takes 947 us. The others follow in one frame.
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
