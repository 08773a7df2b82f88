//! Messages of parameter errors, one line each.

use multihop_schemes::find;
use serde_json::Value;

/// Scheme, parameters, and the beginning of the message.
const CASES: &str = r#"
udp { "segment_size": "0 B" } -> segment_size: "0 B" is out of range; give a value from 1 B to 65535 B
udp { "segment_size": 1472 } -> segment_size: found the number 1472; expected a size as text with a unit (B, kB, MB, GB, KiB, MiB), such as "1 B", from 1 B to 65535 B
udp [] -> found []; expected a table
tcp-sack { "min_rt": "1 s" } -> min_rt: unknown parameter of tcp-sack; did you mean "min_rto"?
tcp-sack { "min_rto": 1 } -> min_rto: found the number 1; expected a time as text with a unit (s, ms, us, µs, ns, min, h), such as "1 s", from 0 s to 1 h
tcp-sack { "min_rto": "-1 s" } -> min_rto: "-1 s" is out of range; give a value from 0 s to 1 h
tcp-sack { "min_rto": "70 s" } -> min_rto: 70 s is above max_rto (60 s); make it at most 60 s
tcp-newreno { "flavour": "ns3" } -> flavour: unknown name "ns3"; did you mean "ns2"? known: rfc, ns2, linux
tcp-newreno { "window": 0 } -> window: 0 is out of range; give a value from 1 to 1048576
tcp-cubic { "beta": 1.5 } -> beta: 1.5 is out of range; give a value from 0.1 to 1
tcp-cubic { "scale": 0.0 } -> scale: 0.0 is out of range; give a value from 0.001 to 1000
tcp-vegas { "alpha": 4.0 } -> alpha: 4 is above beta (3); make it at most 3
tcp-vegas { "gamma": -1.0 } -> gamma: -1.0 is out of range; give a value from 0 to 1000000
tcp-westwood { "filter": "kalman" } -> filter: unknown name "kalman"; known: exponential, tustin
tfrc { "initial_rate": "1 b/s" } -> initial_rate: "1 b/s" is out of range; give a value from 8 b/s to 16 Gb/s
tfrc { "pacing": "burst" } -> pacing: unknown name "burst"; known: due, timer
tfrc-capped { "cap": 300 } -> cap: found the number 300; expected a bit rate as text with a unit (b/s, kb/s, Mb/s, Gb/s), such as "1 b/s", from 8 b/s to 16 Gb/s
re-tfrc { "hops": 0 } -> hops: 0 is out of range; give a value from 1 to 1000
re-tfrc { "rtt_window": "0 s" } -> rtt_window: "0 s" is out of range; give a value from 1 ms to 1 h
re-tfrc { "success": "sure" } -> success: unknown name "sure"; known: fixed-point, linear
tfrc-capped { "cap": "0 b/s" } -> cap: "0 b/s" is out of range; give a value from 8 b/s to 16 Gb/s
tcp-ap { "rate": "0 b/s" } -> rate: "0 b/s" is out of range; give a value from 1 kb/s to 100 Gb/s
tcp-ap { "short": "two" } -> short: unknown name "two"; known: h, one
tcp-elfn { "probe_interval": "0 s" } -> probe_interval: "0 s" is out of range; give a value from 1 ms to 1 h
atcp { "ecn": false } -> ecn: found false; atcp needs it, so leave it out
atcp { "accurate_ecn": true } -> accurate_ecn: found true; leave it out, or set base = "tcp-prague"
atcp { "marking_queue": 0 } -> marking_queue: 0 is out of range; give a value from 1 to 1000000
recn { "threshold": 1.5 } -> threshold: 1.5 is out of range; give a value from 0 to 1
recn { "threshold": "low" } -> threshold: found the text "low"; expected a number from 0 to 1
recn { "threshold": null } -> threshold: found nothing; expected a number from 0 to 1
recn { "ecn": false } -> ecn: found false; recn needs it, so leave it out
recn { "smoothing": 0.0 } -> smoothing: 0.0 is out of range; give a value above 0, up to 1
ecn-rts { "ecn": false } -> ecn: found false; ecn-rts needs it, so leave it out
ecn-rts { "threshold": 0 } -> threshold: 0 is out of range; give a value from 1 to 1000
ecn-rts { "threshold": 2.5 } -> threshold: found the number 2.5; expected a whole number from 1 to 1000
ecn-fsd { "threshold": 0.03 } -> threshold: found the number 0.03; expected a time as text with a unit (s, ms, us, µs, ns, min, h), such as "1 s", from 0 s to 1 h
ecn-fsd { "threshold": "-1 ms" } -> threshold: "-1 ms" is out of range; give a value from 0 s to 1 h
ecn-busy { "threshold": -0.1 } -> threshold: -0.1 is out of range; give a value from 0 to 1
ecn-busy { "busy_window": "0 s" } -> busy_window: "0 s" is out of range; give a value from 1 ms to 1 min
ewccp { "psi": 0.0 } -> psi: 0.0 is out of range; give a value from 0.001 to 10
ewccp { "summary_bits": 100 } -> summary_bits: found the number 100; give a multiple of 32
ewccp { "signalling_hops": 0 } -> signalling_hops: 0 is out of range; give a value from 1 to 16
ewccp { "load": "guessed" } -> load: unknown name "guessed"; known: constant, measured
wcp { "alpha": 0.0 } -> alpha: 0.0 is out of range; give a value from 0.001 to 1000
wcp { "queue_weight": 2.0 } -> queue_weight: 2.0 is out of range; give a value from 0.0001 to 1
wcp { "ecn": true } -> ecn: found true; routers of this scheme have feedback of their own, so leave it out
wcp-cap { "reserve": 1.0 } -> reserve: 1.0 is out of range; give a value from 0 to 0.99
wcp-cap { "epoch": "1 ms" } -> epoch: "1 ms" is out of range; give a value from 10 ms to 1 min
lred { "max_threshold": 1.0 } -> max_threshold: 1 is not above min_threshold (1); raise it, or lower min_threshold
abc { "drain_time": "0 s" } -> drain_time: "0 s" is out of range; give a value from 1 ms to 1 min
abc { "ecn": true } -> ecn: found true; routers of this scheme have feedback of their own, so leave it out
lred { "max_probability": 2.0 } -> max_probability: 2.0 is out of range; give a value from 0 to 1
nred { "interval": "0 s" } -> interval: "0 s" is out of range; give a value from 1 ms to 1 min
nred { "min_threshold": 300.0 } -> max_threshold: 240 is not above min_threshold (300); raise it, or lower min_threshold
nred { "lifetime": "2 h" } -> lifetime: "2 h" is out of range; give a value from 1 ms to 1 h
xcp { "alpha": -1.0 } -> alpha: -1.0 is out of range; give a value from 0 to 2
xcp { "ecn": true } -> ecn: found true; routers of this scheme have feedback of their own, so leave it out
xcp { "capacity": "1 b/s" } -> capacity: "1 b/s" is out of range; give a value from 8 b/s to 16 Gb/s
rcp { "slot": "0 s" } -> slot: "0 s" is out of range; give a value from 1 ms to 1 min
xcp-winf { "psi": "caps" } -> psi: unknown name "caps"; did you mean "cap"? known: flow, cap
rcp-winf { "capacity_smoothing": 0.0 } -> capacity_smoothing: 0.0 is out of range; give a value above 0, up to 1
ecn-busy { "busy_windw": "1 s" } -> busy_windw: unknown parameter of ecn-busy; did you mean "busy_window"?
re-tfrc { "airtime_share": 0.0 } -> airtime_share: 0.0 is out of range; give a value from 0.01 to 1
re-tfrc { "airtime_share": 1.5 } -> airtime_share: 1.5 is out of range; give a value from 0.01 to 1
re-tfrc { "ceiling": "round-trip", "airtime_share": 0.8 } -> airtime_share: 0.8 has no effect with ceiling = "round-trip"; leave it out, or set ceiling = "airtime"
re-tfrc { "ceiling": "sky" } -> ceiling: unknown name "sky"; known: airtime, round-trip
tcp-vegas { "alpha": 1e9 } -> alpha: 1000000000.0 is out of range; give a value from 0 to 1000000
recn { "treshold": 0.5 } -> treshold: unknown parameter of recn; did you mean "threshold"?
tcp-sack { "recovery": "sack1", "keep_sacked": true } -> keep_sacked: true has no effect with recovery = "sack1"; leave it out, or set recovery = "rfc6675"
xcp { "capacity": "modl" } -> capacity: unknown name "modl"; did you mean "model"? known: phy-rate, packet-throughput, rt-winf, model; or a bit rate: a number and one of the units b/s, kb/s, Mb/s, Gb/s
bmcc { "weights": { "1": 0.0 } } -> weights: 0 of node 1 is out of range; give a value from 0.001 to 1000
xcp-winf { "queue_allowed": 10001 } -> queue_allowed: 10001 is out of range; give a value from 0 to 10000
maxnet { "max_rate": "1 b/s" } -> max_rate: "1 b/s" is out of range; give a value from 8 b/s to 16 Gb/s
ewccp { "pacing": false, "least_window": 0.5 } -> least_window: 0.5 has no effect with pacing = false; leave it out, or set pacing = true
tfrc { "segment_size": "1.5 B" } -> segment_size: found the text "1.5 B"; give a whole number of bytes
xcp-winf { "reading": "strict", "watched": "probe" } -> reading: "strict" is not available with watched = "probe"; give "printed", which is the same there, or "whole"
xcp-winf { "full_busy": true } -> full_busy: true has no effect with reading = "whole"; leave it out, or set reading = "printed" or "strict"
xcp { "capacity": "phy-rate", "normalise_over": 3 } -> normalise_over: 3 has no effect with capacity = "phy-rate"; leave it out, or set capacity = "packet-throughput"
xcp {"capacity": "11 MB"} -> capacity: "MB" in "11 MB" is not a unit of a bit rate; known: phy-rate, packet-throughput, rt-winf, model; or a bit rate: a number and one of the units b/s, kb/s, Mb/s, Gb/s
xcp {"capacity": "11 Mb/s", "capacity_interval": "1 s"} -> capacity_interval: 1 s has no effect with capacity = "11 Mb/s"; leave it out, or set capacity = "packet-throughput"
xcp {"capacity": "0 b/s"} -> capacity: "0 b/s" is out of range; give a value from 8 b/s to 16 Gb/s
xcp {"capacity_smoothing": 0} -> capacity_smoothing: 0 is out of range; give a value above 0, up to 1
maxnet {"time_constant": "0 s"} -> time_constant: "0 s" is out of range; give a value from 10 ms to 1 min
ewccp {"lifetime": "0 s"} -> lifetime: "0 s" is out of range; give a value from 1 ms to 1 h
bmcc {"mark_ack": true} -> mark_ack: unknown parameter of bmcc; did you mean "mark_acks"?
tcp-newreno {"flavour": true} -> flavour: found true; expected one of the texts rfc, ns2, linux
tcp-newreno {"window": "20"} -> window: found the text "20"; expected a whole number from 1 to 1048576
bmcc {"alpha": -0.1} -> alpha: -0.1 is out of range; give a value from 0 to 1000
bmcc {"mark_acks": "both"} -> mark_acks: found the text "both"; expected true or false
bmcc {"addition_limit": 0.1} -> addition_limit: found the number 0.1; expected one of the texts cut, table, none
ewccp {"law": "sums"} -> law: unknown name "sums"; known: rates, windows
ewccp {"least_window": 2.0} -> least_window: 2.0 is out of range; give a value from 0.01 to 1
ewccp {"local_repairs": 2000000} -> local_repairs: 2000000 is out of range; give a value from 0 to 1048576
"#;

#[test]
fn errors_of_parameters_begin_with_their_names() {
    for case in CASES.trim().lines() {
        let (given, expected) = case.split_once(" -> ").unwrap();
        let (name, parameters) = given.split_once(' ').unwrap();
        let parameters: Value = serde_json::from_str(parameters).unwrap();
        let error = find(name).unwrap().build(&parameters).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|error| error.starts_with(expected)), "{given}: {error:?}");
    }
}
