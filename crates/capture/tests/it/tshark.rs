//! tshark as an oracle: types and airtimes of every frame of every capture in the folder beside the project.
//!
//! A rule explains each difference; a difference without a rule is a failure. Without tshark or the captures,
//! nothing is tested, and a line says so.

use crate::common::{captures, name};
use multihop_capture::{
    Capture, DissectError, Encoding, Fcs, Frame, FrameType, LinkType, RxInfo, TransportHeader, airtime,
    dissect,
};
use multihop_core::Rate;
use multihop_dot11::Preamble;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Fields of a frame as tshark prints them.
#[derive(Debug)]
struct TsharkFrame {
    /// `wlan.fc.type_subtype`, as 16 * type + subtype.
    kind: Option<u8>,
    /// `wlan_radio.duration`, in microseconds.
    us: Option<f64>,
    /// Addresses and the sequence number.
    receiver: String,
    transmitter: String,
    sequence: Option<u16>,
    /// Duration field, in microseconds.
    duration: Option<u64>,
    retry: Option<bool>,
    tid: Option<u8>,
    /// `wlan.fcs.status`: correct or wrong.
    fcs: Option<bool>,
    /// Fields of radiotap; the first one if there is one per antenna.
    tsft: Option<u64>,
    signal: Option<i8>,
    mhz: Option<u16>,
    ip_bytes: Option<u32>,
    tcp_bytes: Option<u32>,
    /// Length with the 8 bytes of the UDP header.
    udp_bytes: Option<u32>,
}

/// Fields that tshark prints, in the order of [`TsharkFrame`].
const FIELDS: [&str; 15] = [
    "wlan.fc.type_subtype",
    "wlan_radio.duration",
    "wlan.ra",
    "wlan.ta",
    "wlan.seq",
    "wlan.duration",
    "wlan.fc.retry",
    "wlan.qos.tid",
    "wlan.fcs.status",
    "radiotap.mactime",
    "radiotap.dbm_antsignal",
    "radiotap.channel.freq",
    "ip.len",
    "tcp.len",
    "udp.length",
];

fn tshark(path: &Path) -> Vec<TsharkFrame> {
    let output = Command::new("tshark")
        .arg("-n")
        .arg("-r")
        .arg(path)
        .args(["-T", "fields", "-E", "separator=|", "-E", "occurrence=f"])
        .args(["-o", "wlan.check_checksum:TRUE"])
        .args(FIELDS.iter().flat_map(|field| ["-e", *field]))
        .output()
        .expect("it ran before");
    // tshark fails on the truncated capture, after it has printed the frames before the cut.
    String::from_utf8(output.stdout).expect("it prints UTF-8").lines().map(said).collect()
}

fn said(line: &str) -> TsharkFrame {
    let fields: Vec<&str> = line.split('|').collect();
    TsharkFrame {
        kind: fields[0].strip_prefix("0x").map(|hex| u8::from_str_radix(hex, 16).expect("a byte")),
        us: fields[1].parse().ok(),
        receiver: fields[2].to_owned(),
        transmitter: fields[3].to_owned(),
        sequence: fields[4].parse().ok(),
        duration: fields[5].parse().ok(),
        retry: fields[6].parse::<u8>().ok().map(|retry| retry == 1),
        tid: fields[7].parse().ok(),
        fcs: fields[8].parse::<u8>().ok().filter(|status| *status < 2).map(|status| status == 1),
        tsft: fields[9].parse().ok(),
        signal: fields[10].parse().ok(),
        mhz: fields[11].parse().ok(),
        ip_bytes: fields[12].parse().ok(),
        tcp_bytes: fields[13].parse().ok(),
        udp_bytes: fields[14].parse().ok(),
    }
}

/// Rules by which tshark computes another airtime.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Why {
    Equal,
    /// tshark prints none: no rate, or HE.
    NothingSaid,
    /// tshark counts the captured bytes, without the FCS that was not captured.
    WithoutFcs,
    /// tshark assumes a short preamble where it is unknown, even at 1 Mb/s, which has only the long one.
    ShortPreamble,
    /// Both of the previous rules.
    Both,
    /// Drivers report an MCS as a rate that no PHY has, such as 23.5 Mb/s.
    NoSuchRate,
    /// At 40 MHz tshark counts twice the bits of 20 MHz, though there are 108 carriers and not 104. It does
    /// not round short symbols up to a multiple of 4 us (19.4.3), and counts LDPC as convolutional coding.
    HighThroughput,
}

/// Rule that explains the airtime `us` of tshark for a frame of `air_bytes` bytes; none if there is no rule.
fn explain(us: f64, reception: &RxInfo, air_bytes: u32, fcs: Option<Fcs>) -> Option<Why> {
    let ours = |reception: &RxInfo, bytes: u32| airtime(reception, bytes).map(|span| span.ns() as f64 / 1e3);
    let near = |ours: Option<f64>| ours.is_some_and(|ours| (ours - us).abs() <= 1.0);
    let Some(exact) = ours(reception, air_bytes) else {
        let rate = matches!(reception.encoding, Some(Encoding::Legacy(_)));
        return rate.then_some(Why::NoSuchRate);
    };
    let captured = if fcs == Some(Fcs::Absent) { air_bytes - 4 } else { air_bytes };
    // In the standard's formula, 1 Mb/s has no short preamble.
    let shorter = |bytes| {
        let one = reception.encoding == Some(Encoding::Legacy(Rate::from_kbps(1_000)));
        let short = RxInfo { preamble: Some(Preamble::Short), ..*reception };
        if reception.preamble.is_some() {
            None
        } else if one {
            ours(reception, bytes).map(|us| us - 96.0)
        } else {
            ours(&short, bytes)
        }
    };
    let high = matches!(reception.encoding, Some(Encoding::Ht(_)));
    if near(Some(exact)) {
        Some(Why::Equal)
    } else if near(ours(reception, captured)) {
        Some(Why::WithoutFcs)
    } else if near(shorter(air_bytes)) {
        Some(Why::ShortPreamble)
    } else if near(shorter(captured)) {
        Some(Why::Both)
    } else {
        (high && (exact - us).abs() <= 4.0).then_some(Why::HighThroughput)
    }
}

fn same_reception(reception: &RxInfo, said: &TsharkFrame, place: &str) {
    assert_eq!(reception.tsft_us, said.tsft, "{place}");
    assert_eq!(reception.signal_dbm, said.signal, "{place}");
    assert_eq!(reception.channel.map(|channel| channel.mhz), said.mhz, "{place}");
}

fn same_header(frame: &Frame, said: &TsharkFrame, place: &str) {
    assert_eq!(Some(frame.type_subtype), said.kind, "{place}");
    assert_eq!(Some(frame.retry), said.retry, "{place}");
    assert_eq!(frame.duration.map(|span| span.ns() / 1_000), said.duration, "{place}");
    let right = match frame.fcs {
        Fcs::Right => Some(true),
        Fcs::Wrong | Fcs::Zero => Some(false),
        Fcs::Absent | Fcs::Cut => None,
    };
    // tshark reads an FCS only where the header announces one.
    assert!(right == said.fcs || (right == Some(true) && said.fcs.is_none()), "{place}: {:?}", frame.fcs);
    if let (Some(receiver), false) = (frame.receiver, said.receiver.is_empty()) {
        assert_eq!(receiver.to_string(), said.receiver, "{place}");
    }
    if let (Some(transmitter), false) = (frame.transmitter, said.transmitter.is_empty()) {
        assert_eq!(transmitter.to_string(), said.transmitter, "{place}");
    }
    match frame.kind {
        FrameType::Data(data) => {
            assert_eq!(data.tid, said.tid, "{place}");
            assert_eq!(frame.sequence.map(|sequence| sequence.number), said.sequence, "{place}");
        }
        FrameType::Management(_) => {
            assert_eq!(frame.sequence.map(|sequence| sequence.number), said.sequence, "{place}");
        }
        _ => {}
    }
    let network = frame.payload.and_then(|payload| payload.network);
    if let Some(network) = network.filter(|network| network.version == 4) {
        assert_eq!(Some(network.total_bytes), said.ip_bytes, "{place}");
    }
    match network.and_then(|network| network.transport) {
        Some(TransportHeader::Tcp { payload_bytes, .. }) => {
            assert_eq!(Some(payload_bytes), said.tcp_bytes, "{place}");
        }
        Some(TransportHeader::Udp { payload_bytes, .. }) => {
            assert_eq!(Some(payload_bytes + 8), said.udp_bytes, "{place}");
        }
        None => assert_eq!((said.tcp_bytes, said.udp_bytes), (None, None), "{place}"),
    }
}

#[test]
fn types_and_airtimes_are_those_of_tshark() {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("skipped: there is no tshark");
        return;
    }
    let Some(files) = captures("pcap") else { return };
    let mut reasons: BTreeMap<Why, u32> = BTreeMap::new();
    for path in files {
        let mut says = tshark(&path).into_iter();
        let mut capture = Capture::open(&path).unwrap();
        while let Some(Ok(record)) = capture.next() {
            let said = says.next().expect("as many frames");
            let place = format!("frame {} of {}: {said:?}", record.number, name(&path));
            let (reception, air_bytes, fcs) = match dissect(&record) {
                Ok((reception, frame)) => {
                    same_header(&frame, &said, &place);
                    if record.link_type == LinkType::Radiotap {
                        same_reception(&reception, &said, &place);
                    }
                    (reception, frame.air_bytes, Some(frame.fcs))
                }
                Err(DissectError::Frame { reception, air_bytes, .. }) => {
                    assert_eq!(said.kind, None, "{place}");
                    (*reception, air_bytes, None)
                }
                Err(error) => panic!("{place}: {error}"),
            };
            let why = match said.us {
                None => Some(Why::NothingSaid),
                Some(us) => explain(us, &reception, air_bytes, fcs),
            };
            let why = why.unwrap_or_else(|| panic!("{place}: {:?}", airtime(&reception, air_bytes)));
            *reasons.entry(why).or_default() += 1;
        }
        assert!(says.next().is_none(), "{} has no more frames", name(&path));
    }
    eprintln!("{reasons:?}");
    let timed: u32 = reasons.iter().filter(|(why, _)| **why != Why::NothingSaid).map(|(_, n)| n).sum();
    assert!(reasons[&Why::Equal] * 100 >= timed * 98, "{reasons:?}");
}
