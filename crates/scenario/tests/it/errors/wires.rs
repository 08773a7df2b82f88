//! Broken wires.

use super::check_all;

/// Valid scenario with wires.
pub const WIRED: &str = r#"duration = "10 s"
[medium]
model = "ranges"
[topology]
nodes = [{ name = "a", position = ["0 m", "0 m"] }, { name = "b" }, { name = "c" }]
[[topology.wires]]
between = ["a", "b"]
rate = "10 Mb/s"
delay = "10 ms"
queue = 50
rate_back = "1 Mb/s"
delay_back = "30 ms"
[[topology.wires]]
between = ["c", "b"]
rate = "2 Mb/s"
delay = "0 s"
[routing]
protocol = "static"
[[flows]]
from = "a"
to = "c"
scheme = "udp"
"#;

/// Changes that break the scenario, with their messages.
const BROKEN_WIRED: &str = r#"
between = ["a", "b"] => between = ["a", "x"] -> topology.wires[0].between[1]: "x" is not a node | known: a, b, c
between = ["a", "b"] => between = ["b", "b"] -> topology.wires[0].between: a wire from "b" to itself | another node, or remove the wire
between = ["a", "b"] => between = ["b", "c"] @ between = ["c" -> topology.wires[1].between: topology.wires[0] already joins "c" and "b"
between = ["a", "b"] => between = ["a"] -> topology.wires[0].between: list of 1 | two
between = ["a", "b"] => between = "a-b" -> topology.wires[0].between: "a-b" | two
between = ["a", "b"]\n =>  @ [[topology.wires]]\nbetween = ["a" -> topology.wires[0].between: missing | ["n0", "n1"]
rate = "10 Mb/s" => rate = "0 b/s" -> topology.wires[0].rate: "0 b/s" is out of range | from 1 b/s to 100 Gb/s
rate = "10 Mb/s" => rate = "1000 Gb/s" -> topology.wires[0].rate: "1000 Gb/s" is out of range
rate = "10 Mb/s" => rate = 10 -> topology.wires[0].rate: number 10 | a bit rate
rate = "10 Mb/s"\n =>  @ [[topology.wires]]\nbetween = ["a" -> topology.wires[0].rate: missing
delay = "10 ms" => delay = "-1 ms" -> topology.wires[0].delay: "-1 ms" is out of range | 0 s
delay = "10 ms"\n =>  @ [[topology.wires]]\nbetween = ["a" -> topology.wires[0].delay: missing | "10 ms"
queue = 50 => queue = 0 -> topology.wires[0].queue: 0 is out of range | from 1 to 1000000
queue = 50 => queue = "50 kB" -> topology.wires[0].queue: 50 kB | whole number
queue = 50 => losses = 0.1 -> topology.wires[0].losses: unknown key | rate_back
queue = 50 => loss = 1 -> topology.wires[0].loss: 1 is out of range | from 0 to below 1
queue = 50 => loss = -0.1 -> topology.wires[0].loss: -0.1 is out of range
queue = 50 => loss = nan -> topology.wires[0].loss: nan is not a finite number
queue = 50 => loss = "1 %" -> topology.wires[0].loss: "1 %" | a number
queue = 50 => loss_back = 1.5 -> topology.wires[0].loss_back: 1.5 is out of range | from 0 to below 1
queue = 50 => discipline = "stations" -> topology.wires[0].discipline: "stations" is for radios | "fq-codel"
queue = 50 => codel = { ecn = false } -> topology.wires[0].codel: unknown key | remove it: fq-codel on a wire has the defaults of Linux
queue = 50 => pie = { ecn = true } -> topology.wires[0].pie: has no effect with discipline = "drop-tail" | set discipline = "pie"
queue = 50 => dualpi2 = { threshold = "101 s" }\ndiscipline = "dualpi2" -> topology.wires[0].dualpi2.threshold: "101 s" is out of range | 100 s
rate_back = "1 Mb/s" => rate_back = "0 b/s" -> topology.wires[0].rate_back: "0 b/s" is out of range
delay_back = "30 ms" => delay_back = "1e9 h" -> topology.wires[0].delay_back: out of range | 100 years
protocol = "static" => protocol = "dsdv" -> routing.protocol: "dsdv" sends its packets by radio only | static routes
name = "c" }] => name = "c" }, { name = "d" }] @ nodes = -> topology.nodes[3].position: node "d" has no position | a wire
"#;

/// Valid scenario with a generated topology of wires.
pub const DUMBBELL: &str = r#"duration = "10 s"
[topology]
generator = "dumbbell"
pairs = 3
rate = "10 Mb/s"
delay = "10 ms"
queue = 50
access_rates = ["100 Mb/s"]
access_delays = ["1 ms", "2 ms", "3 ms"]
access_queue = 100
[routing]
metric = "hops"
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

/// Changes that break the scenario, with their messages.
const BROKEN_DUMBBELL: &str = r#"
pairs = 3 => pairs = 0 -> topology.pairs: 0 is out of range
pairs = 3 => pairs = 50000 -> topology.pairs: 50000 is out of range | from 1 to 49999
pairs = 3 => pairs = 2 @ access_delays -> topology.access_delays: a list of 3 values for 2 pairs | one value for all pairs, or 2 values
access_rates = ["100 Mb/s"] => access_rates = [] -> topology.access_rates: a list of 0 values for 3 pairs
access_rates = ["100 Mb/s"] => access_rates = "100 Mb/s" -> topology.access_rates: 100 Mb/s | a list
"2 ms" => "-2 ms" -> topology.access_delays[1]: "-2 ms" is out of range
access_queue = 100 => access_queue = 0 -> topology.access_queue: 0 is out of range
rate = "10 Mb/s" => rate = "0 b/s" -> topology.rate: "0 b/s" is out of range
delay = "10 ms"\n =>  @ [topology] -> topology.delay: missing | "10 ms"
queue = 50 => queue = 2000000 -> topology.queue: 2000000 is out of range
queue = 50 => loss = 1.0 -> topology.loss: is out of range | from 0 to below 1
queue = 50 => loss_back = -1 -> topology.loss_back: -1 is out of range
queue = 50 => discipline = "stations" -> topology.discipline: "stations" is for radios | "fq-codel"
metric = "hops" => protocol = "dsdv" -> routing.protocol: "dsdv" sends its packets by radio only
"#;

#[test]
fn broken_wires() {
    check_all(WIRED, BROKEN_WIRED);
    check_all(DUMBBELL, BROKEN_DUMBBELL);
}
