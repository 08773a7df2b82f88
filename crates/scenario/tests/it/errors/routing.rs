//! Broken routing protocols.

use super::check_all;

/// A scenario with every parameter of a routing protocol, to break.
pub const ROUTED: &str = r#"duration = "10 s"
[topology]
generator = "chain"
hops = 2
[routing]
protocol = "dsdv"
update_period = "15 s"
missed_updates = 3
triggered_interval = "1 s"
settling_time = "6 s"
settling_weight = 0.875
start_jitter = "2 s"
broadcast_jitter = "10 ms"
buffer = 5
hop_limit = 32
use_mac = false
entry_size = "12 B"
header_size = "20 B"
update_size_limit = "1500 B"
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

/// How to break it.
const BROKEN_ROUTED: &str = r#"
protocol = "dsdv" => protocol = "dsvd" -> routing.protocol: did you mean "dsdv"? | static
protocol = "dsdv"\n =>  @ protocol -> routing.update_period: unknown key | on_link_failure
update_period = "15 s" => update_period = "0 s" -> routing.update_period: "0 s" is out of range | at least 1 ms
update_period = "15 s" => update_period = 15 -> routing.update_period: number 15 | text with a unit
update_period = "15 s" => metric = "etx" -> routing.metric: unknown key | update_period
missed_updates = 3 => missed_updates = 0 -> routing.missed_updates: 0 is out of range | 1 to 1000000
triggered_interval = "1 s" => triggered_interval = "-1 s" -> routing.triggered_interval: "-1 s"
settling_time = "6 s" => settling_time = "6 B" -> routing.settling_time: "B" | time
settling_weight = 0.875 => settling_weight = 1.5 -> routing.settling_weight: 1.5 | from 0 to 1
start_jitter = "2 s" => start_jiter = "2 s" -> routing.start_jiter: did you mean "start_jitter"?
broadcast_jitter = "10 ms" => broadcast_jitter = "nan s" -> routing.broadcast_jitter: no number
buffer = 5 => buffer = -5 -> routing.buffer: -5 | whole number
hop_limit = 32 => hop_limit = 256 -> routing.hop_limit: 256 is out of range | 1 to 255
use_mac = false => use_mac = "no" -> routing.use_mac: "no" | true or false
entry_size = "12 B" => entry_size = "0 B" -> routing.entry_size: "0 B" | 1 B
header_size = "20 B" => header_size = "3 kB" -> routing.header_size: "3 kB" | 2304 B
update_size_limit = "1500 B" => update_size_limit = "30 B" -> routing.update_size_limit: "30 B" leaves no room | at least
update_size_limit = "1500 B" => update_size_limit = "9 kB" -> routing.update_size_limit: 2304 B
"#;

/// The same for DSR.
pub const SOURCE_ROUTED: &str = r#"duration = "10 s"
[topology]
generator = "chain"
hops = 2
[routing]
protocol = "dsr"
failures = 3
request_period = "500 ms"
request_backoff = 2
request_period_max = "10 s"
nonprop_request_timeout = "30 ms"
broadcast_jitter = "10 ms"
buffer = 64
buffer_timeout = "30 s"
buffer_check = "30 ms"
release_interval = "30 ms"
reply_from_cache = true
listen = true
salvage_limit = 15
route_limit = 15
hop_limit = 32
routes = 30
overheard_routes = 64
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

/// How to break it.
const BROKEN_SOURCE_ROUTED: &str = r#"
protocol = "dsr" => protocol = "drs" -> routing.protocol: did you mean "dsr"? | static
failures = 3 => failures = 0 -> routing.failures: 0 is out of range | 1 to 1000
failures = 3 => on_link_failure = "break" -> routing.on_link_failure: unknown key | failures
request_period = "500 ms" => request_period = "0 s" -> routing.request_period: "0 s" is out of range | at least 1 ms
request_backoff = 2 => request_backoff = 101 -> routing.request_backoff: 101 is out of range | 1 to 100
request_period_max = "10 s" => request_period_max = "10" -> routing.request_period_max: "10" | unit
nonprop_request_timeout = "30 ms" => nonprop_request_timeout = "-1 s" -> routing.nonprop_request_timeout: "-1 s"
broadcast_jitter = "10 ms" => broadcast_jiter = "10 ms" -> routing.broadcast_jiter: did you mean "broadcast_jitter"?
buffer = 64 => buffer = -1 -> routing.buffer: -1 | whole number
buffer_timeout = "30 s" => buffer_timeout = "30 B" -> routing.buffer_timeout: "B" | time
buffer_check = "30 ms" => buffer_check = "0 s" -> routing.buffer_check: "0 s" is out of range | at least 1 ms
release_interval = "30 ms" => release_interval = "nan s" -> routing.release_interval: no number
reply_from_cache = true => reply_from_cache = "yes" -> routing.reply_from_cache: "yes" | true or false
listen = true => listen = 1 -> routing.listen: 1 | true or false
salvage_limit = 15 => salvage_limit = 256 -> routing.salvage_limit: 256 is out of range | 0 to 255
route_limit = 15 => route_limit = 63 -> routing.route_limit: 63 is out of range | 1 to 62
hop_limit = 32 => hop_limit = 0 -> routing.hop_limit: 0 is out of range | 1 to 255
overheard_routes = 64 => overheard_routes = 0 -> routing.overheard_routes: 0 is out of range | 1 to 100000
"#;

/// The same for AODV.
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
allowed_hello_loss = 3
hello_slack = 1.5
active_route_timeout = "10 s"
my_route_timeout = "10 s"
reverse_route_life = "6 s"
path_discovery_time = "6 s"
ttl_start = 5
ttl_increment = 2
ttl_threshold = 7
network_diameter = 30
ring_search_first = false
rreq_retries = 3
hold_down = "10 s"
rreq_timeout_max = "10 s"
node_traversal_time = "30 ms"
latency_samples = 3
rreq_jitter = "10 ms"
broadcast_jitter = "10 ms"
intermediate_replies = true
local_repair = "ns2"
local_add_ttl = 2
buffer = 64
buffer_timeout = "30 s"
release_interval = "10 ms"
check_interval = "500 ms"
hop_limit = 30
rreq_size = "48 B"
rrep_size = "44 B"
rerr_size = "24 B"
rerr_destination_size = "8 B"
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

/// How to break it.
const BROKEN_ON_DEMAND: &str = r#"
protocol = "aodv" => protocol = "aovd" -> routing.protocol: did you mean "aodv"? | static
failures = 1 => failures = 0 -> routing.failures: 0 is out of range | 1 to 1000
blind_to = ["udp"] => blind_to = ["upd"] -> routing.blind_to[0]: "upd" is not a scheme; did you mean "udp"?
blind_to = ["udp"] => blind_to = "udp" -> routing.blind_to: "udp" | list
link_layer_detection = true => link_layer_detection = "yes" -> routing.link_layer_detection: "yes" | true or false
hello_interval = "1 s" => hello_interval = "0 s" -> routing.hello_interval: "0 s" is out of range | at least 1 ms
allowed_hello_loss = 3 => allowed_hello_loss = 0 -> routing.allowed_hello_loss: 0 is out of range | 1 to 1000
hello_slack = 1.5 => hello_slack = 0.5 -> routing.hello_slack: 0.5 is out of range | 1 to 1000
active_route_timeout = "10 s" => active_route_timeout = "10" -> routing.active_route_timeout: "10" | unit
my_route_timeout = "10 s" => my_route_timeout = "0 s" -> routing.my_route_timeout: "0 s" is out of range | at least 1 ms
reverse_route_life = "6 s" => reverse_route_live = "6 s" -> routing.reverse_route_live: did you mean "reverse_route_life"?
path_discovery_time = "6 s" => path_discovery_time = "-6 s" -> routing.path_discovery_time: "-6 s" is out of range
ttl_start = 5 => ttl_start = 0 -> routing.ttl_start: 0 is out of range | 1 to 255
ttl_increment = 2 => ttl_increment = 0 -> routing.ttl_increment: 0 is out of range | 1 to 255
ttl_threshold = 7 => ttl_threshold = 256 -> routing.ttl_threshold: 256 is out of range | 1 to 255
network_diameter = 30 => network_diameter = 0 -> routing.network_diameter: 0 is out of range | 1 to 255
ring_search_first = false => ring_search_first = 1 -> routing.ring_search_first: 1 | true or false
rreq_retries = 3 => rreq_retries = -1 -> routing.rreq_retries: -1 | whole number
hold_down = "10 s" => hold_down = "nan s" -> routing.hold_down: no number
rreq_timeout_max = "10 s" => rreq_timeout_max = "0 s" -> routing.rreq_timeout_max: "0 s" is out of range | at least 1 ms
node_traversal_time = "30 ms" => node_traversal_time = "30 B" -> routing.node_traversal_time: "B" | time
latency_samples = 3 => latency_samples = 1001 -> routing.latency_samples: 1001 is out of range | 0 to 1000
rreq_jitter = "10 ms" => rreq_jitter = "10" -> routing.rreq_jitter: "10" | unit
broadcast_jitter = "10 ms" => broadcast_jitter = "-1 ms" -> routing.broadcast_jitter: "-1 ms" is out of range
intermediate_replies = true => intermediate_replies = "no" -> routing.intermediate_replies: "no" | true or false
local_repair = "ns2" => local_repair = "ns3" -> routing.local_repair: did you mean "ns2"? | rfc3561
local_repair = "ns2" => local_repair = true -> routing.local_repair: boolean | off, ns2, rfc3561
local_add_ttl = 2 => local_add_ttl = 256 -> routing.local_add_ttl: 256 is out of range | 0 to 255
buffer = 64 => buffer = -1 -> routing.buffer: -1 | whole number
buffer_timeout = "30 s" => buffer_timeout = "-30 s" -> routing.buffer_timeout: "-30 s" is out of range
release_interval = "10 ms" => release_interval = "-10 ms" -> routing.release_interval: "-10 ms" is out of range
check_interval = "500 ms" => check_interval = "0 s" -> routing.check_interval: "0 s" is out of range | at least 1 ms
hop_limit = 30 => hop_limit = 0 -> routing.hop_limit: 0 is out of range | 1 to 255
rreq_size = "48 B" => rreq_size = "3 kB" -> routing.rreq_size: "3 kB" | 2304 B
rrep_size = "44 B" => rrep_size = "0 B" -> routing.rrep_size: "0 B" | 1 B
rerr_size = "24 B" => rerr_size = "-1 B" -> routing.rerr_size: "-1 B" | 1 B
rerr_destination_size = "8 B" => rerr_destination_size = "8" -> routing.rerr_destination_size: "8" | unit
"#;

#[test]
fn routing_protocols() {
    check_all(ROUTED, BROKEN_ROUTED);
    check_all(SOURCE_ROUTED, BROKEN_SOURCE_ROUTED);
    check_all(ON_DEMAND, BROKEN_ON_DEMAND);
}
