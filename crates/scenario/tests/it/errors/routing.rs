//! Broken parameters of routing protocols.

use super::check_all;

/// Valid scenario with every parameter of DSDV.
pub const ROUTED: &str = r#"duration = "10 s"
[topology]
generator = "chain"
hops = 2
[routing]
protocol = "dsdv"
update_period = "15 s"
settling_time = "6 s"
buffer = 5
use_mac = false
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

/// Changes that break the scenario, with their messages.
const BROKEN_ROUTED: &str = r#"
protocol = "dsdv" => protocol = "dsvd" -> routing.protocol: did you mean "dsdv"? | static
protocol = "dsdv"\n =>  @ protocol -> routing.update_period: unknown key | on_link_failure
update_period = "15 s" => update_period = "0 s" -> routing.update_period: "0 s" is out of range | at least 1 ms
update_period = "15 s" => update_period = 15 -> routing.update_period: number 15 | text with a unit
update_period = "15 s" => metric = "etx" -> routing.metric: unknown key | update_period
settling_time = "6 s" => setling_time = "6 s" -> routing.setling_time: did you mean "settling_time"?
settling_time = "6 s" => settling_time = "6 B" -> routing.settling_time: "B" | time
buffer = 5 => buffer = -5 -> routing.buffer: -5 | whole number
use_mac = false => missed_updates = 3 -> routing.missed_updates: unknown key | remove it: DSDV loses a neighbour after 3
use_mac = false => use_mac = "no" -> routing.use_mac: "no" | true or false
"#;

/// Valid scenario with every parameter of DSR.
pub const SOURCE_ROUTED: &str = r#"duration = "10 s"
[topology]
generator = "chain"
hops = 2
[routing]
protocol = "dsr"
failures = 3
request_period = "500 ms"
request_backoff = 2
buffer = 64
reply_from_cache = true
listen = true
salvage_limit = 15
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

/// Changes that break the scenario, with their messages.
const BROKEN_SOURCE_ROUTED: &str = r#"
protocol = "dsr" => protocol = "drs" -> routing.protocol: did you mean "dsr"? | static
failures = 3 => failures = 0 -> routing.failures: 0 is out of range | 1 to 1000
failures = 3 => on_link_failure = "break" -> routing.on_link_failure: unknown key | failures
request_period = "500 ms" => request_period = "0 s" -> routing.request_period: "0 s" is out of range | at least 1 ms
request_backoff = 2 => request_backoff = 101 -> routing.request_backoff: 101 is out of range | 1 to 100
buffer = 64 => buffer = -1 -> routing.buffer: -1 | whole number
reply_from_cache = true => reply_from_cache = "yes" -> routing.reply_from_cache: "yes" | true or false
listen = true => listen = 1 -> routing.listen: 1 | true or false
salvage_limit = 15 => salvage_limit = 256 -> routing.salvage_limit: 256 is out of range | 0 to 255
"#;

/// Valid scenario with every parameter of AODV.
pub const ON_DEMAND: &str = r#"duration = "10 s"
[topology]
generator = "chain"
hops = 2
[routing]
protocol = "aodv"
failures = 1
blind_to = ["udp"]
link_layer_detection = true
hello_interval = "1 s"
active_route_timeout = "10 s"
rreq_retries = 3
intermediate_replies = true
local_repair = "ns2"
rreq_size = "48 B"
rrep_size = "44 B"
rerr_size = "24 B"
buffer = 64
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

/// Changes that break the scenario, with their messages.
const BROKEN_ON_DEMAND: &str = r#"
protocol = "aodv" => protocol = "aovd" -> routing.protocol: did you mean "aodv"? | static
failures = 1 => failures = 0 -> routing.failures: 0 is out of range | 1 to 1000
blind_to = ["udp"] => blind_to = ["upd"] -> routing.blind_to[0]: "upd" is not a scheme; did you mean "udp"?
blind_to = ["udp"] => blind_to = "udp" -> routing.blind_to: "udp" | list
link_layer_detection = true => link_layer_detection = "yes" -> routing.link_layer_detection: "yes" | true or false
hello_interval = "1 s" => hello_interval = "0 s" -> routing.hello_interval: "0 s" is out of range | at least 1 ms
active_route_timeout = "10 s" => active_route_timeout = "10" -> routing.active_route_timeout: "10" | unit
rreq_retries = 3 => rreq_retries = -1 -> routing.rreq_retries: -1 | whole number
intermediate_replies = true => intermediate_replies = "no" -> routing.intermediate_replies: "no" | true or false
local_repair = "ns2" => local_repair = "ns3" -> routing.local_repair: did you mean "ns2"? | rfc3561
rreq_size = "48 B" => rreq_size = "3 kB" -> routing.rreq_size: "3 kB" | 2304 B
rrep_size = "44 B" => rrep_size = "0 B" -> routing.rrep_size: "0 B" | 1 B
rerr_size = "24 B" => rerr_size = "-1 B" -> routing.rerr_size: "-1 B" | 1 B
local_repair = "ns2" => local_repair = true -> routing.local_repair: boolean | off, ns2, rfc3561
buffer = 64 => buffer = -1 -> routing.buffer: -1 | whole number
"#;

#[test]
fn routing_protocols() {
    check_all(ROUTED, BROKEN_ROUTED);
    check_all(SOURCE_ROUTED, BROKEN_SOURCE_ROUTED);
    check_all(ON_DEMAND, BROKEN_ON_DEMAND);
}
