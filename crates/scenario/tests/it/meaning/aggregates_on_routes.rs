//! Aggregates and routing agents: an agent may enqueue packets of a failed A-MSDU anew, each by itself.

use multihop_scenario::{Overrides, resolve};
use multihop_sim::{Ties, World};

/// Saturated TCP in both directions over a chain with hidden terminals, where links are often considered
/// broken.
fn chain(protocol: &str, aggregation: &str, more: &str) -> String {
    format!(
        "duration = \"4 s\"\nwarmup = \"0 s\"\n[phy]\nstandard = \"802.11n\"\n\
         [medium]\nmodel = \"ranges\"\ncarrier_sense_range = \"250 m\"\n\
         [mac]\nshort_retry_limit = 3\naggregation = {aggregation}\n{more}\n\
         [topology]\ngenerator = \"chain\"\nhops = 4\nspacing = \"200 m\"\n\
         [routing]\nprotocol = \"{protocol}\"\n\
         [[flows]]\nfrom = \"n0\"\nto = \"n4\"\nscheme = \"tcp-sack\"\n\
         [[flows]]\nfrom = \"n4\"\nto = \"n1\"\nscheme = \"tcp-sack\"\n\
         [[flows]]\nfrom = \"n2\"\nto = \"n0\"\nscheme = \"recn\"\n"
    )
}

/// The engine asserts at the end of each run that packets are conserved, and that none was freed twice.
#[test]
fn packets_of_a_failed_a_msdu_are_rerouted_one_by_one() {
    let aggregations = [
        "{ a_msdu = \"3839 B\" }",
        "{ a_msdu = \"7935 B\", a_mpdu = \"off\" }",
        "{ a_msdu = \"3839 B\", delivery = \"mpdu\" }",
        "{}",
    ];
    let more = [
        "",
        "[network]\narp = true",
        "[[outages]]\nnode = \"n2\"\nfrom = \"1 s\"\nto = \"1500 ms\"",
        "[mac.rate_control]\nalgorithm = \"minstrel-ht\"",
    ];
    for protocol in ["aodv", "dsr", "dsdv"] {
        for aggregation in aggregations {
            for more in more {
                let text = chain(protocol, aggregation, more);
                let config = resolve(&text, "chain.toml", &Overrides::default()).unwrap().config;
                let outcome = World::new(&config, Ties::InOrder).finish();
                assert_eq!(outcome, World::new(&config, Ties::Reversed).finish(), "{text}");
            }
        }
    }
}
