//! Broken scenarios: each gives one message with file, line, key, what was found, and a remedy.
//!
//! The tables read `old text => new text @ text in the line of the message -> key: parts of the message`,
//! with parts separated by ` | `. Without `@` the message is at the line of the replacement. `\n` is a line
//! break.

mod aggregation;
mod edca;
mod measure;
mod phy;
mod routing;
mod settings;
mod wires;

use measure::{BROKEN_OBSERVED, OBSERVED};
use multihop_scenario::{Overrides, resolve};
use routing::{ON_DEMAND, ROUTED, SOURCE_ROUTED};
use wires::{DUMBBELL, WIRED};

/// Valid scenario with one key per line.
const SOUND: &str = r#"name = "sound"
seed = 1
duration = "100 s"
warmup = "20 s"
record_interval = "1 s"
[phy]
standard = "802.11b"
preamble = "long"
data_rate = "11 Mb/s"
control_rate = "1 Mb/s"
slot = "20 us"
sifs = "10 us"
cw_min = 31
cw_max = 1023
[mac]
rules = "ieee"
rts_threshold = "off"
short_retry_limit = 7
long_retry_limit = "none"
queue = 50
[mac.override]
eifs = "never"
data_header = "34 B"
cca_time = "4 us"
[medium]
model = "ranges"
propagation_delay = "1 us"
bit_error_rate = 0
packet_error_rate = 0.01
receive_range = "250 m"
carrier_sense_range = "550 m"
capture = "10 dB"
[topology]
nodes = [
  { name = "a", position = ["0 m", "0 m"] },
  { name = "b", position = ["200 m", "0 m"] },
  { name = "c", position = ["400 m", "0 m"] },
  { name = "far", position = ["9 km", "0 m"] },
]
[routing]
metric = "hops"
on_link_failure = "break"
failures = 2
hold = "10 s"
[network]
extra_header = "20 B"
[schemes.tcp-newreno]
segment_size = "1000 B"
[schemes.recn-strict]
base = "recn"
threshold = 0.8
[[flows]]
name = "one"
from = "a"
to = "c"
scheme = "tcp-newreno"
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 }
start = "1 s"
start_jitter = "1 s"
stop = "90 s"
[[flows]]
from = "b"
to = "c"
scheme = "recn-strict"
app = { kind = "transfers", size = "1 MB", pause = "2 s", distribution = "exponential", count = 3 }
"#;

/// Changes that break the scenario, with their messages.
const BROKEN: &str = r#"
seed = 1 => seed = -1 -> seed: -1 | whole number, not negative
seed = 1 => seed = 99999999999999999999999 -> seed: does not fit | 64 bits
duration = "100 s" => duration = 100 -> duration: number 100 | text with a unit
duration = "100 s" => duration = "100" -> duration: "100" has no unit | ms
duration = "100 s" => duration = "100 m" -> duration: "m" | not a unit of a time
duration = "100 s" => duration = "0 s" -> duration: "0 s" is out of range | from 1 ns
duration = "100 s" => duration = "-5 s" -> duration: "-5 s" is out of range
duration = "100 s" => duration = "1e30 s" -> duration: "1e30 s" | 100 years
duration = "100 s" => duration = "nan s" -> duration: no number
duration = "100 s" => duration = "1e999 s" -> duration: not a finite number
duration = "100 s" => duration = ["100 s"] -> duration: a list | a time
warmup = "20 s" => warmup = "100 s" -> warmup: "100 s" is not shorter than the duration | shorter warm-up
record_interval = "1 s" => record_interval = "1 us" -> record_interval: rows | give at least 200
record_interval = "1 s" => record_interval = "0 s" -> record_interval: out of range
record_interval = "1 s" => record_interval = "2 h" -> record_interval: longer than the run
standard = "802.11b" => standard = "802.11z" -> phy.standard: 802.11z | dsss, 802.11b
standard = "802.11b" => standard = "fhss" @ data_rate -> phy.data_rate: "11 Mb/s" is not a rate of "fhss" | its rates: 1 Mb/s, 2 Mb/s
standard = "802.11b"\npreamble = "long" => standard = "fhss"\npreamble = "short" @ preamble -> phy.preamble: does not exist in this standard | use "long"
standard = "802.11b" => standard = 11 -> phy.standard: integer | dsss, 802.11b
preamble = "long" => preamble = "shrot" -> phy.preamble: did you mean "short"?
preamble = "long" => ofdm_symbols = "ns2" -> phy.ofdm_symbols: "ns2" has no effect in this standard | 802.11a
preamble = "long" => ofdm_symbols = "ns3" -> phy.ofdm_symbols: whole, ns2
data_rate = "11 Mb/s" => data_rate = "12 Mb/s" -> phy.data_rate: "12 Mb/s" is not a rate | 5.5 Mb/s, 11 Mb/s
data_rate = "11 Mb/s" => data_rate = "-2 Mb/s" -> phy.data_rate: "-2 Mb/s" | its rates
control_rate = "1 Mb/s" => control_rate = "6 Mb/s" -> phy.control_rate: "802.11b" | 1 Mb/s, 2 Mb/s
slot = "20 us" => slot = "0 us" -> phy.slot: "0 us" | 100 ns
sifs = "10 us" => sifs = "1 s" -> phy.sifs: "1 s" | 10 ms
cw_min = 31 => cw_min = 0 -> phy.cw_min: 0 is out of range | from 1
cw_min = 31 => cw_min = 2047 -> phy.cw_min: cw_min 2047 is above cw_max 1023
cw_max = 1023 => cw_max = 1000000 -> phy.cw_max: 65535
rules = "ieee" => rules = "ns3" -> mac.rules: "ns3" | did you mean "ns2"? | ieee
rts_threshold = "off" => rts_threshold = 500 -> mac.rts_threshold: 500 | "off" | B, kB
rts_threshold = "off" => rts_threshold = "never" -> mac.rts_threshold: never | or "off"
rts_threshold = "off" => rts_threshold = "1 MB" -> mac.rts_threshold: "1 MB" | 65535 B
short_retry_limit = 7 => short_retry_limit = 0 -> mac.short_retry_limit: 0 | 1 to 255 | none
long_retry_limit = "none" => long_retry_limit = "nine" -> mac.long_retry_limit: nine | "none"
queue = 50 => queue = 0 -> mac.queue: 0 is out of range | 1000000
queue = 50 => queue = 5.5 -> mac.queue: 5.5 | whole number
queue = 50 => queu = 50 -> mac.queu: unknown key | did you mean "queue"?
queue = 50 => discipline = "fqcodel" -> mac.discipline: "fqcodel" | did you mean "fq-codel"? | drop-tail, fq-codel, cake, stations
queue = 50 => codel = { target = "5 ms" } -> mac.codel: has no effect with discipline = "drop-tail" | "fq-codel"
queue = 50 => codel = { airtime_quantum = "1 ms" }\ndiscipline = "fq-codel" -> mac.codel.airtime_quantum: "1 ms" has no effect | "stations"
queue = 50 => codel = { target = "0 s" }\ndiscipline = "fq-codel" -> mac.codel.target: "0 s" is out of range | from 10 us
queue = 50 => codel = { target = "200 ms" }\ndiscipline = "fq-codel" -> mac.codel.target: "200 ms" makes the target of 200 ms longer than the interval of 100 ms | round-trip
queue = 50 => codel = { interval = "10 ms" }\ndiscipline = "stations" -> mac.codel.interval: "10 ms" makes the target of 20 ms longer
queue = 50 => codel = { quantum = "1 B" }\ndiscipline = "fq-codel" -> mac.codel.quantum: "1 B" is out of range | 64 B
queue = 50 => codel = { flows = 0 }\ndiscipline = "fq-codel" -> mac.codel.flows: 0 is out of range | from 1 to 65536
queue = 50 => codel = { airtime_quantum = "0 us" }\ndiscipline = "stations" -> mac.codel.airtime_quantum: "0 us" is out of range | 10 us
queue = 50 => codel = { slow = true }\ndiscipline = "fq-codel" -> mac.codel.slow: true has no effect | "stations"
queue = 50 => codel = { target_exchanges = 2 }\ndiscipline = "fq-codel" -> mac.codel.target_exchanges: 2 has no effect | "stations"
queue = 50 => codel = { target = "5 ms" }\ndiscipline = "pie" -> mac.codel: has no effect with discipline = "pie" | "fq-codel" or "stations"
queue = 50 => pie = { target = "5 ms" } -> mac.pie: has no effect with discipline = "drop-tail" | set discipline = "pie"
queue = 50 => pie = {}\ndiscipline = "fq-codel" -> mac.pie: has no effect with discipline = "fq-codel" | set discipline = "pie"
queue = 50 => dualpi2 = { coupling = 2 }\ndiscipline = "pie" -> mac.dualpi2: has no effect with discipline = "pie" | set discipline = "dualpi2"
queue = 50 => dualpi2 = { coupling = 0 }\ndiscipline = "dualpi2" -> mac.dualpi2.coupling: 0 is out of range | from 0.1 to 100
queue = 50 => dualpi2 = { classic_share = 101 }\ndiscipline = "dualpi2" -> mac.dualpi2.classic_share: 101 is out of range | from 0 to 100
queue = 50 => dualpi2 = { shift = "30 ms", classic_share = 10 }\ndiscipline = "dualpi2" -> mac.dualpi2.shift: is given together with classic_share | remove one
queue = 50 => pie = { target = "0 s" }\ndiscipline = "pie" -> mac.pie.target: "0 s" is out of range | from 10 us
queue = 50 => cake = { rtt = "50 ms" } -> mac.cake: has no effect with discipline = "drop-tail" | set discipline = "cake"
queue = 50 => cake = { rtt = "0 s" }\ndiscipline = "cake" -> mac.cake.rtt: "0 s" is out of range | from 200 us to 100 s
queue = 50 => cake = { isolation = "hosts" }\ndiscipline = "cake" -> mac.cake.isolation: unknown name "hosts" | triple-isolate, flows
queue = 50 => discipline = "dual-pi2" -> mac.discipline: "dual-pi2" | did you mean "dualpi2"?
queue = 50 => codel = { target_exchanges = 1001 }\ndiscipline = "stations" -> mac.codel.target_exchanges: 1001 is out of range | from 0 to 1000
queue = 50 => hardware_queue = {} -> mac.hardware_queue: has no limit | set packets, aggregates or aql
queue = 50 => hardware_queue = { aql = {} } -> mac.hardware_queue.aql: has no effect without a queue for each station | set mac.discipline = "stations"
queue = 50 => hardware_queue = { packets = 0 } -> mac.hardware_queue.packets: 0 is out of range | from 1 to 1000000
queue = 50 => hardware_queue = { aggregates = 65 } -> mac.hardware_queue.aggregates: 65 is out of range | from 1 to 64
queue = 50 => hardware_queue = { aggregate = 2 } -> mac.hardware_queue.aggregate: unknown key | did you mean "aggregates"?
queue = 50 => hardware_queue = { aql = { high = "4 ms" } }\ndiscipline = "stations" -> mac.hardware_queue.aql.high: low 5 ms is above high 4 ms | raise high
queue = 50 => hardware_queue = { aql = { low = "1 us" } }\ndiscipline = "stations" -> mac.hardware_queue.aql.low: "1 us" is out of range | 10 us
queue = 50 => codel = { byte_limit = "1 MB" }\ndiscipline = "stations" -> mac.codel.byte_limit: unknown key | remove it: "fq-codel" holds 32 MiB
queue = 50 => codel = { limit = 5 }\ndiscipline = "stations" -> mac.codel.limit: unknown key | known: 
eifs = "never" => eifs = "nav" -> mac.override.eifs: until-correct-frame, as-nav, never
eifs = "never" => eif = "never" -> mac.override.eif: did you mean "eifs"?
eifs = "never" => response_propagation = "1 us" -> mac.override.response_propagation: first-bit
eifs = "never" => response_propagation = "1 us"\nresponse_timeout = "eifs" -> mac.override.response_propagation: no effect with response_timeout = "eifs" | "whole-response"
eifs = "never" => response_timeout = "long" -> mac.override.response_timeout: first-bit, whole-response, eifs
data_header = "34 B" => data_header = "1 kB" -> mac.override.data_header: 256 B
cca_time = "4 us" => cca_time = "-1 us" -> mac.override.cca_time: "-1 us"
model = "ranges" => model = "range" -> medium.model: did you mean "ranges"? | sinr, matrix
model = "ranges" => model = 3 -> medium.model: integer | ranges, sinr, matrix
propagation_delay = "1 us" => propagation_delay = "2 s" -> medium.propagation_delay: 1 ms
bit_error_rate = 0 => bit_error_rate = 1.5 -> medium.bit_error_rate: 1.5 | from 0 to 1
bit_error_rate = 0 => bit_error_rate = nan -> medium.bit_error_rate: nan is not a finite number
packet_error_rate = 0.01 => packet_error_rate = -inf -> medium.packet_error_rate: -inf
receive_range = "250 m" => receive_range = "0 m" -> medium.receive_range: 0.01 m
carrier_sense_range = "550 m" => carrier_sense_range = "100 m" -> medium.carrier_sense_range: below receive_range 250 m
capture = "10 dB" => capture = "-3 dB" -> medium.capture: "-3 dB" | off
capture = "10 dB" => capture = "10 dBm" -> medium.capture: dBm | dB
capture = "10 dB" => noise = "-90 dBm" -> medium.noise: unknown key | receive_range
capture = "10 dB" => path_loss = { model = "logdistance" } -> medium.path_loss.model: did you mean "log-distance"?
capture = "10 dB" => path_loss = { exponent = 3 } -> medium.path_loss.model: missing | two-ray, log-distance
capture = "10 dB" => path_loss = { model = "log-distance", exponent = 0 } -> medium.path_loss.exponent: 0.1 to 10
capture = "10 dB" => path_loss = "two-ray" -> medium.path_loss: string | a table such as { model =
name = "b" => name = "a" -> topology.nodes[1].name: "a" is already the name of topology.nodes[0]
name = "b" => name = " " -> topology.nodes[1].name: empty name
["200 m", "0 m"] => ["200 m"] -> topology.nodes[1].position: list of 1 | two
["200 m", "0 m"] => ["200 m", "0 m", "5 m"] -> topology.nodes[1].position: list of 3 | two
["200 m", "0 m"] => ["200 m", 0] -> topology.nodes[1].position[1]: number 0 | a length
["200 m", "0 m"] => ["200 m", "1e9 km"] -> topology.nodes[1].position[1]: 10000 km
["200 m", "0 m"] => ["-0 m", "0 m"] -> topology.nodes[1].position: is the position of "a"
{ name = "b", position = ["200 m", "0 m"] } => { name = "b" } -> topology.nodes[1].position: "b" has no position | matrix
{ name = "b", position = ["200 m", "0 m"] } => { position = ["200 m", "0 m"] } -> topology.nodes[1].name: missing
{ name = "b", position = ["200 m", "0 m"] } => { name = "b", position = ["200 m", "0 m"], transmit_power = "20 dBm" } -> topology.nodes[1].transmit_power: "20 dBm" has no effect with medium.model = "ranges" | set medium.model = "sinr"
{ name = "b", position = ["200 m", "0 m"] } => { name = "b", position = ["200 m", "0 m"], antenna_gain = "2 dBm" } -> topology.nodes[1].antenna_gain: dBm | dBi, dB
{ name = "b", position = ["200 m", "0 m"] } => { name = "b", position = ["200 m", "0 m"], antenna_gain = "61 dBi" } -> topology.nodes[1].antenna_gain: "61 dBi" is out of range | from -40 dBi to 60 dBi
{ name = "b", position = ["200 m", "0 m"] } => { name = "b", position = ["200 m", "0 m"], radios = [{ channel = 1, antenna_gain = "2 dBi" }] } -> topology.nodes[1].radios[0].antenna_gain: "2 dBi" has no effect with medium.model = "ranges"
{ name = "b", position = ["200 m", "0 m"] } => { name = "b", position = ["200 m", "0 m"], radios = [{ channel = 300 }] } -> topology.nodes[1].radios[0].channel: 300 is out of range
{ name = "b", position = ["200 m", "0 m"] } => { name = "b", position = ["200 m", "0 m"], transmit_power = "2 dBm", radios = [{ channel = 1 }] } -> topology.nodes[1].transmit_power: "2 dBm" is given together with radios | remove one
metric = "hops" => metric = "ett" -> routing.metric: did you mean "etx"?
failures = 2 => failures = 0 -> routing.failures: 1 to 1000
hold = "10 s" => hold = "10 kg" -> routing.hold: kg
metric = "hops" => protocol = "olsr" -> routing.protocol: unknown name "olsr" | static, dsdv, dsr, aodv
metric = "hops" => protocol = 1 -> routing.protocol: integer | static, dsdv, dsr, aodv
metric = "hops" => protocol = "dsdv" @ on_link_failure -> routing.on_link_failure: unknown key | update_period
failures = 2 => update_period = "15 s" -> routing.update_period: unknown key | metric
extra_header = "20 B" => extra_header = "2 kB" -> network.extra_header: 1500 B
segment_size = "1000 B" => segment_size = "0 B" -> schemes.tcp-newreno.segment_size: "0 B" is out of range | from 1 B to 65535 B
segment_size = "1000 B" => segment_size = "4000 B" -> schemes.tcp-newreno.segment_size: 4000 B | 2304 B | ns2
segment_size = "1000 B" => segmentsize = "1000 B" -> schemes.tcp-newreno.segmentsize: did you mean "segment_size"?
[schemes.tcp-newreno] => [schemes.tcp-newrino] -> schemes.tcp-newrino: did you mean "tcp-newreno"? | base
from = "b"\n => name = "one"\nfrom = "b"\n -> flows[1].name: "one" is already the name of flows[0]
base = "recn" => base = "recm" -> schemes.recn-strict.base: "recm" is not a scheme | did you mean "recn"?
threshold = 0.8 => threshold = 2 -> schemes.recn-strict.threshold: 2 is out of range | from 0 to 1
threshold = 0.8 => threshold = inf -> schemes.recn-strict.threshold: inf is not a finite number | such as 0.5
threshold = 0.8 => threshold = -inf -> schemes.recn-strict.threshold: -inf is not a finite number | such as 0.5
threshold = 0.8 => threshold = nan -> schemes.recn-strict.threshold: nan is not a finite number | such as 0.5
threshold = 0.8 => threshold = 1e999 -> schemes.recn-strict.threshold: 1e999 is not a finite number | such as 0.5
threshold = 0.8 => threshold = [inf] -> schemes.recn-strict.threshold[0]: inf is not a finite number | such as 0.5
threshold = 0.8 => threshold = "low" -> schemes.recn-strict.threshold: found the text "low" | expected a number from 0 to 1
threshold = 0.8 => treshold = 0.8 -> schemes.recn-strict.treshold: unknown parameter of recn | did you mean "threshold"?
threshold = 0.8 => flavour = "ns3" -> schemes.recn-strict.flavour: unknown name "ns3" | did you mean "ns2"? | rfc, ns2, linux
threshold = 0.8 => threshold = 2026-01-01 -> schemes.recn-strict.threshold: date
name = "one" => name = "" -> flows[0].name: empty name
from = "a" => from = "aa" -> flows[0].from: "aa" is not a node | did you mean "a"? | far
scheme = "tcp-newreno" => scheme = "tcp-tahoe" -> flows[0].scheme: "tcp-tahoe" is not a scheme | known:  | recn-strict
scheme = "tcp-newreno" => scheme = "TCP-NewReno" -> flows[0].scheme: did you mean "tcp-newreno"?
scheme = "tcp-newreno" => scheme = "cubic" -> flows[0].scheme: did you mean "tcp-cubic"?
kind = "cbr" => kind = "crb" -> flows[0].app.kind: did you mean "cbr"?
rate = "500 kb/s" => rate = "500 kbps" -> flows[0].app.rate: kbps | kb/s
rate = "500 kb/s" => rate = "0 b/s" -> flows[0].app.rate: 1 b/s
rate = "500 kb/s", packet = "1000 B" => rate = "100 Gb/s", packet = "1 B" -> flows[0].app.rate: interval of | nanoseconds
packet = "1000 B" => packet = "70 kB" -> flows[0].app.packet: 65507 B
packet = "1000 B",  =>  -> flows[0].app.packet: missing | for example packet =
jitter = 0.5 => jitter = 2 -> flows[0].app.jitter: from 0 to 1
start_jitter = "1 s" => start_jitter = "-1 s" -> flows[0].start_jitter: "-1 s" is out of range
stop = "90 s" => stop = "2 s" -> flows[0].stop: "2 s" is not after the start | 2 s at the latest
size = "1 MB" => size = "0 B" -> flows[1].app.size: 1 B
distribution = "exponential" => distribution = "pareto" -> flows[1].app.distribution: constant, exponential
count = 3 => count = 0 -> flows[1].app.count: at least 1
pause = "2 s" => paus = "2 s" -> flows[1].app.paus: did you mean "pause"?
start = "1 s" => start = "100 s" @ start_jitter -> flows[0].start_jitter: the run of 100 s
from = "a" => from = "far" @ [[flows]]\nname -> flows[0]: no path | far is in a component of 1 node (far) | c is in a component of 3 nodes (a, b, c) | join the components
from = "a" => from = "c" @ to = "c"\nscheme = "tcp -> flows[0].to: from "c" to itself
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", deadline = "1 s", frame_rate = 0 } -> flows[0].app.frame_rate: 0 is out of range | give a value from 0.1 to 1000
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", deadline = "0 s" } -> flows[0].app.deadline: "0 s" is out of range | from 1 ms to 1 h
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", deadline = "1 s", gop = 0 } -> flows[0].app.gop: 0 is out of range | from 1 to 100000
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", deadline = "1 s", key_ratio = 5 } -> flows[0].app.key_ratio: has no effect if all frames are key frames | give gop
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", deadline = "1 s", gop = 12, key_ratio = 0.5 } -> flows[0].app.key_ratio: 0.5 is out of range | from 1 to 1000
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", deadline = "1 s", variation = -1 } -> flows[0].app.variation: -1 is out of range | from 0 to 10
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", deadline = "1 s", buffer = "0 s" } -> flows[0].app.buffer: "0 s" is out of range | from 1 ms
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", deadline = "1 s", buffer = "none" } -> flows[0].app.buffer: "off"
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "100 b/s", deadline = "1 s" } -> flows[0].app.rate: "100 b/s" leaves 0.50 B for a frame | raise the rate
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", min_rate = "100 b/s", deadline = "1 s" } -> flows[0].app.min_rate: "100 b/s" leaves 0.50 B for a frame | raise the rate
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", min_rate = "2 Mb/s", deadline = "1 s" } -> flows[0].app.min_rate: "2 Mb/s" is above rate (1 Mb/s) | lower min_rate
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1000 Gb/s", deadline = "1 s", frame_rate = 0.1 } -> flows[0].app.rate: makes frames too large | raise frame_rate
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s" } -> flows[0].app.deadline: missing | deadline = "400 ms"
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", deadline = "1 s" } -> flows[0].app.rate: missing
app = { kind = "cbr", rate = "500 kb/s", packet = "1000 B", jitter = 0.5 } => app = { kind = "video", rate = "1 Mb/s", deadline = "1 s", fps = 25 } -> flows[0].app.fps: unknown key | frame_rate
app = { kind = "cbr",  => app = {  @ app = { kind = "cbr" -> flows[0].app.kind: missing | saturated, bulk
scheme = "tcp-newreno"\n =>  @ [[flows]]\nname -> flows[0].scheme: missing | tcp-newreno
from = "a"\n =>  @ [[flows]]\nname -> flows[0].from: missing | for example from =
"#;

/// Valid scenario with a generated topology and generated traffic.
const GENERATED: &str = r#"duration = "10 s"
[topology]
generator = "grid"
columns = 3
rows = 2
spacing = "200 m"
jitter = "10 m"
[traffic]
pattern = "random-pairs"
flows = 4
min_hops = 2
pairs_seed = 7
scheme = "udp"
"#;

/// Changes that break the scenario, with their messages.
const BROKEN_GENERATED: &str = r#"
columns = 3 => columns = 0 @ columns -> topology.columns: 0 is out of range | 100000
columns = 3 => columns = -3 @ columns -> topology.columns: -3 | whole number
columns = 3 => columns = 90000 @ rows -> topology.rows: 180000 nodes are too many | at most 100000
columns = 3 => colums = 3 @ colum -> topology.colums: did you mean "columns"?
rows = 2\n =>  @ [topology] -> topology.rows: missing
generator = "grid" => generator = "gird" @ gen -> topology.generator: did you mean "grid"? | circle
generator = "grid" => generator = [1] @ gen -> topology.generator: array | chain, grid
spacing = "200 m" => spacing = "0 m" @ spacing -> topology.spacing: "0 m" | 0.01 m
jitter = "10 m" => jitter = "100 m" @ jitter -> topology.jitter: below 100 m
jitter = "10 m" => nodes = [] @ jitter -> topology.nodes: a generator and a list of nodes | remove one
spacing = "200 m" => spacing = "900 m" @ flows = 4 -> traffic.flows: there are 0 pairs of nodes
flows = 4 => flows = 19 @ flows -> traffic.flows: 19 flows are too many | there are 16 pairs | lower min_hops
flows = 4\n =>  @ [traffic] -> traffic.flows: missing | flows = 10
flows = 4 => flows = 0 @ flows -> traffic.flows: 0 is out of range
min_hops = 2 => min_hops = 9 @ flows -> traffic.flows: 0 pairs of nodes over at least 9 hops
min_hops = 2 => gateway = "n0" @ min_hops -> traffic.gateway: no effect with pattern "random-pairs"
pattern = "random-pairs" => pattern = "canonical" @ flows = 4 -> traffic.flows: no effect
pattern = "random-pairs" => pattern = "to-gateway" @ [traffic] -> traffic.gateway: missing | "n0"
pattern = "random-pairs" => pattern = "pairs" @ pattern -> traffic.pattern: random-pairs
scheme = "udp" => scheme = "upd" @ scheme -> traffic.scheme: did you mean "udp"?
scheme = "udp"\n =>  @ [traffic] -> traffic.scheme: missing
scheme = "udp"\n => scheme = "udp"\n[medium]\nmodel = "matrix"\nquantity = "rssi"\n @ generator -> topology.generator: measured links
"#;

/// Valid scenario with measured links.
const MEASURED: &str = r#"duration = "10 s"
[medium]
model = "matrix"
quantity = "delivery"
probe_size = "1500 B"
[topology]
nodes = [{ name = "a" }, { name = "b" }, { name = "c" }]
links = [
  { from = "a", to = "b", delivery = 0.9, reverse = 0.8 },
  { from = "b", to = "c", delivery = 0.7 },
  { from = "c", to = "b", delivery = 0.6 },
]
[[flows]]
from = "a"
to = "c"
scheme = "udp"
"#;

/// Changes that break the scenario, with their messages.
const BROKEN_MEASURED: &str = r#"
quantity = "delivery"\n =>  @ [medium] -> medium.quantity: missing | delivery
quantity = "delivery" => quantity = "snr" @ quantity -> medium.quantity: delivery, rssi, delivery-and-rssi
quantity = "delivery" => quantity = "rssi" @ probe_size -> medium.probe_size: no effect with quantity = "rssi"
probe_size = "1500 B" => noise = "-90 dBm" @ probe -> medium.noise: no effect with quantity = "delivery"
probe_size = "1500 B" => probe_size = "0 B" @ probe -> medium.probe_size: 1 B
delivery = 0.9 => delivery = 1.1 @ { from = "a" -> topology.links[0].delivery: 1.1 is out of range | 0 to 1
reverse = 0.8 => reverse = nan @ { from = "a" -> topology.links[0].reverse: nan is not a finite number
reverse = 0.8 => reverse = "80 %" @ { from = "a" -> topology.links[0].reverse: 80 % | a number
delivery = 0.9,  =>  @ { from = "a" -> topology.links[0].delivery: missing | delivery = 0.9
delivery = 0.9 => rssi = "-70 dBm" @ { from = "a" -> topology.links[0].rssi: has no effect with | give delivery
from = "c", to = "b" => from = "c", to = "x" @ { from = "c" -> topology.links[2].to: "x" is not a node | a, b, c
from = "c", to = "b" => from = "c", to = "c" @ { from = "c" -> topology.links[2]: from "c" to itself
from = "c", to = "b" => from = "b", to = "a" @ { from = "c" -> topology.links[2]: from "b" to "a" is already in topology.links[0]
delivery = 0.6 => delivery = 0.0 @ [[flows]] -> flows[0]: no path | c is in a component of 1 node (c)
delivery = 0.6 => delivery = 0.6, data_rate = "3 Mb/s" @ { from = "c" -> topology.links[2].data_rate: is not a rate of "802.11b" | 5.5 Mb/s
"#;

/// Valid scenario with measured links and received powers.
const POWERED: &str = r#"duration = "10 s"
[medium]
model = "matrix"
quantity = "delivery-and-rssi"
noise = "-94 dBm"
[topology]
nodes = [{ name = "a" }, { name = "b" }, { name = "c" }]
links = [
  { from = "a", to = "b", delivery = 0.9, reverse = 0.8, rssi = "-70 dBm", reverse_rssi = "-71 dBm", data_rate = "2 Mb/s" },
  { from = "b", to = "c", delivery = 0.7, rssi = "-80 dBm", reverse = 0.7, reverse_rssi = "-80 dBm" },
  { from = "a", to = "c", rssi = "-90 dBm" },
  { from = "c", to = "a", rssi = "-91 dBm" },
]
[traffic]
pattern = "gateway"
gateways = ["b"]
clients = 2
scheme = "tcp-sack"
"#;

/// Changes that break the scenario, with their messages.
const BROKEN_POWERED: &str = r#"
rssi = "-70 dBm",  =>  @ { from = "a", to = "b" -> topology.links[0].rssi: missing | every direction has a power
 reverse_rssi = "-71 dBm", =>  @ { from = "a", to = "b" -> topology.links[0].reverse_rssi: missing | every direction has a power
rssi = "-90 dBm" => reverse_rssi = "-90 dBm" @ { from = "a", to = "c" -> topology.links[2].rssi: missing | rssi = "-70 dBm"
rssi = "-90 dBm" => rssi = "90 dBm" @ { from = "a", to = "c" -> topology.links[2].rssi: 90 | -150 dBm to 40 dBm
rssi = "-90 dBm" => rssi = "-90 dBm", data_rate = "7 Mb/s" @ { from = "a", to = "c" -> topology.links[2].data_rate: is not a rate
reverse_rssi = "-80 dBm" => reverse_rssi = "-80 dBm", data_rate = "1 Mb/s" }, { from = "c", to = "b", rssi = "-80 dBm" @ { from = "b" -> topology.links[2]: from "c" to "b" is already in topology.links[1]
noise = "-94 dBm" => noise = "94 dBm" @ noise -> medium.noise: 94
gateways = ["b"] => gateways = ["b", "x"] @ gateways -> traffic.gateways[1]: "x" is not a node | a, b, c
gateways = ["b"] => gateways = ["b", "b"] @ gateways -> traffic.gateways[1]: "b" is listed twice | once
gateways = ["b"] => gateways = [] @ gateways -> traffic.gateways: [] is an empty list | remove the key
clients = 2 => gateway_count = 1 @ clients -> traffic.gateway_count: 1 is given together with gateways | remove one of the two
gateways = ["b"] => gateway_count = 3 @ gateways -> traffic.gateway_count: leaves no clients | 3 nodes
gateways = ["b"] => gateway = "b" @ gateways -> traffic.gateway: no effect with pattern "gateway"
clients = 2 => clients = 3 @ clients -> traffic.clients: too many: 2 of 2 nodes reach "b"; | ask for fewer clients
clients = 2 => clients = 2\nmin_hops = 2 @ clients -> traffic.clients: too many: 0 of 2 nodes reach "b" over at least 2 hops; | lower min_hops
gateways = ["b"]\nclients = 2 => gateways = ["b"]\nmin_hops = 2 @ gateways -> traffic.gateways: 0 of 2 nodes reach "b" over at least 2 hops | choose another gateway, lower min_hops
clients = 2 => among = ["x*"] @ clients -> traffic.among[0]: matches no node
clients = 2 => clients = 2\namong = ["a"] @ clients -> traffic.clients: too many: 1 of 1 nodes reaches "b"
clients = 2 => clients = 0 @ clients -> traffic.clients: 0 is out of range
clients = 2 => flows = 2 @ clients -> traffic.flows: no effect with pattern "gateway"
clients = 2 => direction = "down" @ clients -> traffic.direction: "down" | downloads
clients = 2 => mix = ["vidio"] @ clients -> traffic.mix[0]: "vidio" | did you mean "video"?
clients = 2 => mix = [] @ clients -> traffic.mix: [] is an empty list | at least one
clients = 2 => mix = ["web"]\napp = { kind = "saturated" } @ scheme -> traffic.app: is given together with mix
clients = 2\nscheme = "tcp-sack" => mix = ["call", "web"]\nscheme = "udp" @ clients -> traffic.mix: needs a scheme with acknowledgements | leave out "web"
pattern = "gateway" => pattern = "gatway" @ pattern -> traffic.pattern: did you mean "gateway"?
"#;

#[test]
fn measurements() {
    check_all(OBSERVED, BROKEN_OBSERVED);
}

/// 2001 nodes that all sense each other have 2001 x 2000 links, just above four million.
#[test]
fn the_number_of_links_of_carrier_sense_is_limited() {
    let crowd = |nodes: u32| {
        let hops = nodes - 1;
        let topology = format!("[topology]\ngenerator = \"chain\"\nhops = {hops}\nspacing = \"0.1 m\"\n");
        let flow = "[[flows]]\nfrom = \"n0\"\nto = \"n1\"\nscheme = \"udp\"\n";
        message(&format!("duration = \"1 s\"\n{topology}{flow}"), &Overrides::default())
    };
    assert_eq!(crowd(2000), "no error");
    let refused = crowd(2001);
    assert!(
        refused.contains("topology: 2001 nodes make more than 4000000 links of carrier sense; "),
        "{refused}"
    );
}

#[test]
fn the_scenarios_without_changes_are_valid() {
    for text in
        [SOUND, GENERATED, MEASURED, POWERED, WIRED, DUMBBELL, ROUTED, SOURCE_ROUTED, ON_DEMAND, OBSERVED]
    {
        assert_eq!(message(text, &Overrides::default()), "no error");
    }
}

#[test]
fn broken_values() {
    check_all(SOUND, BROKEN);
}

#[test]
fn broken_generators() {
    check_all(GENERATED, BROKEN_GENERATED);
}

#[test]
fn broken_link_matrices() {
    check_all(MEASURED, BROKEN_MEASURED);
    check_all(POWERED, BROKEN_POWERED);
}

#[test]
fn broken_files() {
    let cases: &[(&str, &str)] = &[
        (
            "",
            "case.toml:1: topology: missing; add it, for example topology = { generator = \"chain\", hops = 7 }",
        ),
        ("seed = 1\nduration = ", "case.toml:2: syntax: not valid TOML: "),
        ("seed = 1\nseed = 2", "case.toml:2: syntax: not valid TOML: duplicate key; "),
        ("\u{0}", "case.toml:1: syntax: not valid TOML: "),
        (
            "duration = \"1 s\"\n[topology]\n",
            "case.toml:2: topology.nodes: there are 0 nodes; add [[topology.nodes]]",
        ),
        ("topology = 5", "case.toml:1: topology: found a value of the kind integer; expected a table"),
        (
            "[topology]\ngenerator = \"chain\"\n",
            "case.toml:1: topology.hops: missing; add it, for example hops = 5",
        ),
        (
            "[topology]\ngenerator = \"chain\"\nhops = 1\n",
            "case.toml:1: duration: missing; add it, for example duration = \"100 s\"",
        ),
        (
            "duration = \"1 s\"\n[topology]\ngenerator = \"chain\"\nhops = 1\n",
            "case.toml:1: flows: the scenario has no flows; add [[flows]]",
        ),
        ("flows = 3", "case.toml:1: flows: found the number 3; expected a list"),
        ("schemes = { recn = 1 }", "case.toml:1: schemes.recn: found the number 1; expected a table"),
        ("\"odd key\" = 1", "case.toml:1: \"odd key\": unknown key; known: name, description, seed"),
    ];
    for (text, expected) in cases {
        let message = message(text, &Overrides::default());
        assert!(message.starts_with(expected), "{text:?}:\n  expected {expected}\n  got      {message}");
    }
}

fn message(text: &str, overrides: &Overrides) -> String {
    match resolve(text, "case.toml", overrides) {
        Ok(_) => "no error".into(),
        Err(error) => error.to_string(),
    }
}

/// Checks a table of changes.
fn check_all(text: &str, table: &str) {
    let cases: Vec<&str> = table.trim().lines().collect();
    let failures: Vec<String> = cases.iter().filter_map(|case| check(text, case).err()).collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// Checks one line of a table.
fn check(text: &str, case: &str) -> Result<(), String> {
    let (change, expected) = case.split_once(" -> ").expect(case);
    let (sound, rest) = change.split_once(" => ").expect(case);
    let (broken, place) = rest.split_once(" @ ").unwrap_or((rest, sound));
    let (key, parts) = expected.split_once(": ").expect(case);
    let [sound, broken, place] = [sound, broken, place].map(|text| text.replace("\\n", "\n"));
    assert_eq!(text.matches(&sound).count(), 1, "{sound:?} is in the scenario once");
    let line = 1 + text[..text.find(&place).expect(case)].matches('\n').count();
    let message = message(&text.replacen(&sound, &broken, 1), &Overrides::default());
    let start = format!("case.toml:{line}: {key}: ");
    let sentence = message.strip_prefix(&start).unwrap_or_default();
    let formed = sentence.contains("; ") && !message.contains('\n');
    let complete = parts.split(" | ").all(|part| sentence.contains(part));
    if formed && complete {
        Ok(())
    } else {
        Err(format!("{case}\n  expected {start}...\n  got      {message}"))
    }
}
