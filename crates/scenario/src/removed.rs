//! Removed keys, with what replaces them.

use crate::document::{KeyPath, Step};
use multihop_config::parameter_error::Found;

/// Removed keys, with `[]` for the index in a list and `*` for the name of a scheme, and the reason for the
/// message.
const REMOVED: &[(&str, &str)] = &[
    ("mac.codel.byte_limit", "\"fq-codel\" holds 32 MiB and \"stations\" 4 MiB (Linux)"),
    ("mac.codel.charge_received", "frames from a neighbour are charged to it (mac80211)"),
    (
        "mac.codel.drop_batch",
        "an overflow of \"fq-codel\" takes 64 packets (RFC 8290), of \"stations\" 1 (mac80211)",
    ),
    (
        "mac.override.airtime",
        "it is part of mac.rules: \"ieee\" rounds airtimes of DSSS up, \"ns2\" does not",
    ),
    (
        "mac.override.answer_rts_while_waiting",
        "it is part of mac.rules: \"ieee\" answers (9.3.2.8), \"ns2\" does not",
    ),
    (
        "mac.override.backoff_draw",
        "it is part of mac.rules: \"ieee\" draws from 0 to cw (9.3.3), \"ns2\" from 0 to cw - 1",
    ),
    ("mac.override.busy_period_counts_as_slot", "it is part of mac.rules: \"bianchi\" counts it"),
    ("mac.override.cts_needs_idle_medium", "it is part of mac.rules: \"ns2\" has it"),
    ("mac.override.data_needs_idle_medium", "it is part of mac.rules: \"ns2\" has it"),
    ("mac.override.data_needs_own_cts", "it is part of mac.rules: \"ns2\" has it"),
    (
        "mac.override.duration_field",
        "it is part of mac.rules: \"ieee\" rounds up (8.2.4.2), \"ns2\" to the nearest",
    ),
    ("mac.override.fresh_difs", "it is part of mac.rules: \"ns2\" and \"bianchi\" have it"),
    (
        "mac.override.immediate_access",
        "it is part of mac.rules: \"ieee\" has it (9.3.4.2), \"ns2\" always backs off",
    ),
    ("mac.override.link_layer_delay", "it is part of mac.rules: \"ns2\" has 25 us, \"ieee\" none"),
    (
        "mac.override.nav_reset_after_rts",
        "it is part of mac.rules: \"ieee\" resets the NAV (9.3.2.4), \"ns2\" does not",
    ),
    ("mac.override.rts_at_threshold", "it is part of mac.rules: \"ns2\" has it"),
    // AODV, DSDV and DSR: constants of `crates/sim/src/routing/config.rs`.
    ("routing.allowed_hello_loss", "AODV's ALLOWED_HELLO_LOSS is 3 (RFC 3561, section 10)"),
    ("routing.broadcast_jitter", "broadcasts of routing protocols are held back for up to 10 ms"),
    ("routing.buffer_check", "DSR looks through held packets every 30 to 60 ms (BUFFER_CHECK of ns-2)"),
    ("routing.buffer_timeout", "a packet waits 30 s for a route (SEND_TIMEOUT and AODV_RTQ_TIMEOUT of ns-2)"),
    ("routing.check_interval", "AODV looks for expired routes every 500 ms (FREQUENCY of ns-2)"),
    ("routing.entry_size", "an entry of DSDV's updates has 12 B (ns-2)"),
    ("routing.header_size", "an update of DSDV has 20 B besides its entries (ns-2)"),
    ("routing.hello_slack", "AODV loses a neighbour after 1.5 * 3 hello intervals (ns-2)"),
    ("routing.hold_down", "AODV pauses for 10 s (MAX_RREQ_TIMEOUT of ns-2)"),
    (
        "routing.hop_limit",
        "packets go 30 hops with AODV (NETWORK_DIAMETER) and 32 with DSR and DSDV (IP_DEF_TTL of ns-2)",
    ),
    ("routing.latency_samples", "AODV takes the mean of 3 latencies (MAX_HISTORY of ns-2)"),
    ("routing.local_add_ttl", "AODV's LOCAL_ADD_TTL is 2 (RFC 3561, section 10)"),
    ("routing.missed_updates", "DSDV loses a neighbour after 3 update periods (min_update_periods_ of ns-2)"),
    ("routing.my_route_timeout", "AODV's MY_ROUTE_TIMEOUT is 10 s (ns-2)"),
    ("routing.network_diameter", "AODV's NETWORK_DIAMETER is 30 (ns-2)"),
    ("routing.node_traversal_time", "AODV's NODE_TRAVERSAL_TIME is 30 ms (ns-2)"),
    ("routing.nonprop_request_timeout", "DSR's NonpropRequestTimeout is 30 ms (RFC 4728, section 9)"),
    ("routing.overheard_routes", "DSR keeps 64 routes that it forwarded on or overheard (ns-2)"),
    ("routing.path_discovery_time", "AODV's PATH_DISCOVERY_TIME is 6 s (BCAST_ID_SAVE of ns-2)"),
    (
        "routing.release_interval",
        "packets that a reply lets go leave every 10 ms with AODV and 30 ms with DSR (ns-2)",
    ),
    ("routing.request_period_max", "DSR's MaxRequestPeriod is 10 s (RFC 4728, section 9)"),
    ("routing.rerr_destination_size", "a destination of AODV's RERRs has 8 B (RFC 3561, section 5.3)"),
    ("routing.reverse_route_life", "AODV's reverse routes live for 6 s (REV_ROUTE_LIFE of ns-2)"),
    (
        "routing.ring_search_first",
        "the first RREQ for a destination that was never known floods the network (ns-2)",
    ),
    ("routing.route_limit", "DSR's routes have 15 hops at most (MAX_SR_LEN of ns-2)"),
    ("routing.routes", "DSR keeps 30 routes for its own packets (ns-2)"),
    (
        "routing.rreq_jitter",
        "RREQs are held back for up to 10 ms where the MAC may access the medium at once",
    ),
    ("routing.rreq_timeout_max", "AODV waits for an RREP for 10 s at most (MAX_RREQ_TIMEOUT of ns-2)"),
    ("routing.settling_weight", "DSDV's weight of the past is 0.875 (alpha_ of ns-2)"),
    ("routing.start_jitter", "DSDV's first update comes within 2 s (DSDV_STARTUP_JITTER of ns-2)"),
    ("routing.triggered_interval", "DSDV's triggered updates are 1 s apart (DSDV_MIN_TUP_PERIOD of ns-2)"),
    ("routing.ttl_increment", "AODV's TTL_INCREMENT is 2 (RFC 3561, section 10)"),
    ("routing.ttl_start", "AODV's TTL_START is 5 (ns-2)"),
    ("routing.ttl_threshold", "AODV's TTL_THRESHOLD is 7 (RFC 3561, section 10)"),
    ("routing.update_size_limit", "updates of DSDV have 1500 B at most (ns-2)"),
    (
        "schemes.*.acknowledged",
        "an acknowledgement of the equation's TCP stands for one packet (RFC 5348, section 3.1)",
    ),
    ("schemes.*.busy_index", "NRED's busy index is 244"),
    ("schemes.*.clamp", "it is part of the flavour: ns2 keeps the factor at most 1"),
    ("schemes.*.discounting", "long loss intervals discount those before them (RFC 5348, section 5.5)"),
    ("schemes.*.equation_limit", "it is part of the flavour: 200 Mb/s in ns2, none in rfc"),
    ("schemes.*.fast_convergence", "CUBIC has it always (RFC 9438, section 4.7)"),
    (
        "schemes.*.first_rate",
        "it is part of the flavour: the highest receive rate in rfc (RFC 5348, section 6.3.1), the latest in ns2",
    ),
    ("schemes.*.flow_window", "a flow is active that sent within 5 s"),
    ("schemes.*.gain", "Quick and Plenty's gain is 0.5"),
    ("schemes.*.given_up_retries", "a packet that is given up counts as 7 retries"),
    ("schemes.*.granularity", "the timer of TFRC has no granularity (RFC 5348, section 4.6)"),
    ("schemes.*.history", "TCP-AP keeps 50 samples"),
    ("schemes.*.index_weight", "the weight of a sample of NRED's index is 0.2"),
    ("schemes.*.initial_interval", "TCP-AP's first interval is 50 ms"),
    ("schemes.*.kappa", "BMCC's kappa is 0.35"),
    ("schemes.*.loss_limit", "Quick and Plenty's limit of losses is 0.1"),
    ("schemes.*.min_own_share", "NRED's least share of a node is 0.1"),
    ("schemes.*.min_timeout", "the timeout of TFRC's equation has no least value (RFC 5348, section 3.1)"),
    ("schemes.*.mtu", "RCP-Winf's MTU is 1500 B"),
    ("schemes.*.new_round", "it is part of the flavour: ns2 has it"),
    (
        "schemes.*.no_feedback",
        "it is part of the flavour: receive rates count half in rfc (RFC 5348, section 4.4), the rate is halved in ns2",
    ),
    ("schemes.*.oscillation_reduction", "TFRC reduces oscillations (RFC 5348, section 4.5)"),
    ("schemes.*.queue_share", "BMCC's share of the queue is 0.5"),
    ("schemes.*.rate_window", "ABC's routers measure over 50 ms"),
    ("schemes.*.report_size", "it is part of the flavour: 44 B in rfc, 40 B in ns2"),
    ("schemes.*.retry_weight", "the weight of a sample of LRED's retries is 0.125"),
    ("schemes.*.round_trip_window", "BBR's least round trip is that of 10 s"),
    ("schemes.*.rtt_weight", "it is part of the flavour: 0.1 in rfc (RFC 5348, section 4.3), 0.05 in ns2"),
    ("schemes.*.signalling_jitter", "EWCCP's signalling intervals vary by 0.1"),
    (
        "schemes.*.slow_start_factor",
        "a gradual slow start doubles the rate in a round-trip time (ssmult_ of ns-2)",
    ),
    ("schemes.*.token_limit", "ABC lets 5 accelerates through in a row"),
    ("schemes.*.typical_rtt", "BMCC's typical round-trip time is 100 ms"),
    ("schemes.*.window_gain", "BBR's window is 2 bandwidth-delay products"),
    ("topology.codel", "fq-codel on a wire has the defaults of Linux (RFC 8290)"),
    ("topology.wires[].codel", "fq-codel on a wire has the defaults of Linux (RFC 8290)"),
];

/// Reason for the message about an unknown key, if the key was removed.
pub(crate) fn why_removed(path: &KeyPath, found: &Found) -> Option<&'static str> {
    if !matches!(found, Found::UnknownKey | Found::UnknownParameter(_)) {
        return None;
    }
    let steps = path.0.iter().enumerate().map(|(depth, step)| match (step, &path.0[0]) {
        (Step::Index(_), _) => "[]".to_owned(),
        (Step::Key(_), Step::Key(table)) if depth == 1 && table == "schemes" => ".*".to_owned(),
        (Step::Key(key), _) => format!(".{key}"),
    });
    let path = steps.collect::<String>();
    let path = path.trim_start_matches('.');
    REMOVED.iter().find(|(key, _)| *key == path).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::REMOVED;
    use crate::{Overrides, resolve};

    #[test]
    fn keys_are_listed_once_and_in_order() {
        assert!(REMOVED.windows(2).all(|pair| pair[0].0 < pair[1].0), "{REMOVED:?}");
    }

    #[test]
    fn removed_keys_of_routing_protocols_are_unknown_to_all_of_them() {
        let keys = REMOVED.iter().filter_map(|(path, _)| path.strip_prefix("routing."));
        for (key, protocol) in keys.flat_map(|key| ["aodv", "dsdv", "dsr"].map(|protocol| (key, protocol))) {
            let text = format!(
                "duration = \"1 s\"\n[topology]\ngenerator = \"chain\"\nhops = 1\n[routing]\n\
                 protocol = \"{protocol}\"\n{key} = 1\n"
            );
            let error = resolve(&text, "case.toml", &Overrides::default()).err().expect("it is removed");
            assert!(error.to_string().contains("unknown key; remove it: "), "{protocol}: {error}");
        }
    }

    #[test]
    fn messages_about_removed_keys_state_what_replaces_them() {
        let text = "duration = \"1 s\"\n[topology]\ngenerator = \"chain\"\nhops = 1\n[routing]\nprotocol = \"aodv\"\nttl_start = 3\n";
        let error = resolve(text, "case.toml", &Overrides::default()).err().expect("it is removed");
        assert_eq!(
            error.to_string(),
            "case.toml:7: routing.ttl_start: unknown key; remove it: AODV's TTL_START is 5 (ns-2)"
        );
    }
}
