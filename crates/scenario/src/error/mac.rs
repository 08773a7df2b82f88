//! Problems with `[mac]` and queues.

use super::problems;
use multihop_config::quantity::Duration;

problems! {
    /// Problem with the MAC, or the queue above it.
    MacProblem:

    ClassWithoutTimeout =>
        "VALUE has no effect unless the response timeout is \"first-bit\"";
        "set mac.override.response_timeout = \"first-bit\", or mac.override.response_propagation and phy.slot instead of a class";

    CtsLongerThanSifs { delay: Duration, sifs: Duration } =>
        "a CTS-to-self propagates for {delay}, longer than the SIFS of {sifs} between it and the DATA";
        "give a medium.propagation_delay of at most {sifs}, a longer phy.sifs, or mac.cts_to_self = false";
    NoOfdm =>
        "VALUE has no effect in this standard, whose frames every station decodes";
        "remove the key: it protects OFDM frames, as in 802.11g";

    // Aggregation.
    NoAggregation =>
        "this standard has no aggregation";
        "set phy.standard to \"802.11n\", \"802.11ac\" or \"802.11ax\", or remove the table";
    NoRoom { least: u32 } =>
        "VALUE has no room for one MPDU: the shortest of the flows takes {least} B";
        "give more, or \"off\" for single MPDUs";
    NoAMpdus =>
        "VALUE has no effect without A-MPDUs";
        "remove it, or a_mpdu = \"off\"";
    NoAggregates =>
        "VALUE has no effect with both a_mpdu and a_msdu \"off\"";
        "remove it, or one of these";
    NoCommonArrival { scheme: String, instead: &'static str } =>
        "VALUE delivers MPDUs one by one, but {scheme} recognises the packets of an A-MPDU by their common arrival time";
        "remove it, or {instead}";

    // Rate control.
    NoStreams =>
        "VALUE has no effect before 802.11n, where every frame is one stream";
        "remove it, or set phy.standard to \"802.11n\", \"802.11ac\" or \"802.11ax\"";
    FixedRates =>
        "sets the rate of each link, but links or stations have rates of their own";
        "remove the table, or those rates";
    NoPowers =>
        "VALUE needs received powers, which this medium does not have";
        "set medium.model = \"sinr\", or \"minstrel-ht\" as the algorithm";

    // Access categories.
    NoCategories =>
        "ns-2 has no access categories";
        "set mac.rules to \"ieee\" or \"bianchi\", or remove the table";
    NoWindow { below: u32, above: u32 } =>
        "VALUE is not of the form 2^n - 1, as the standard requires";
        "give {below} or {above}";
    NoOpportunity =>
        "VALUE has no effect where the txop_limit of all categories is 0 s";
        "remove it, or give a category a txop_limit";
    NoTxopLimit { below: Duration, above: Duration } =>
        "VALUE is not a multiple of 32 us, the unit of the standard's field";
        "give \"{below}\" or \"{above}\"";

    // Queues.
    NoAirtime =>
        "VALUE has no effect with discipline \"fq-codel\", which does not use airtime";
        "remove it, or set discipline = \"stations\"";
    StationsOnWire { instead: String } =>
        "VALUE is for radios: a wire leads to one node and has no airtime";
        "set discipline = {instead}";
    TargetTooLong { target: Duration, interval: Duration } =>
        "VALUE makes the target of {target} longer than the interval of {interval}";
        "make the target 5 to 10 % of the interval, which is about the longest round-trip time";
    NoLimit =>
        "has no limit";
        "set packets, aggregates or aql, or remove the table";
    NoStations =>
        "has no effect without a queue for each station";
        "remove it, or set mac.discipline = \"stations\"";
}
