//! Problems with `[phy]`, channels and rates.

use super::{list, problems};
use multihop_config::quantity::BitRate;
use multihop_dot11::{Band, PpduOptions, Standard};
use serde::Serialize;

problems! {
    /// Problem with the PHY and its channels.
    PhyProblem:

    NoShortPreamble =>
        "VALUE does not exist in this standard";
        "short preambles belong to 802.11b and 802.11g; use \"long\" or remove the key";
    NoOfdm =>
        "VALUE has no effect in this standard";
        "OFDM belongs to 802.11a and 802.11g; remove the key";
    NotMixed { standard: Standard } =>
        "stations of 802.11b share no network with those of {}", quoted(standard);
        "remove it, or set phy.standard = \"802.11g\"";
    NoChoice { standard: Standard } =>
        "VALUE is not an option of {}", quoted(standard);
        "it belongs to 802.11n, 802.11ac and 802.11ax; remove the key";
    OneWidth { standard: Standard } =>
        "VALUE is not an option of {}", quoted(standard);
        "it belongs to 802.11a, 802.11n, 802.11ac and 802.11ax; remove the key";
    NoDetection { standard: Standard } =>
        "VALUE has no effect in {}, where interference does not affect preambles", quoted(standard);
        "remove it, or set phy.standard to \"802.11n\", \"802.11ac\" or \"802.11ax\"";
    NotOfStandard { standard: Standard, there: Vec<String> } =>
        "VALUE does not exist in {}", quoted(standard);
        "it has {}", list(there);
    NotInBand { standard: Standard, band: Band, there: Vec<String> } =>
        "VALUE does not exist in {} at {}", quoted(standard), quoted(band);
        "it has {}", list(there);
    NotInWideChannel { standard: Standard, there: Vec<String> } =>
        "VALUE does not exist in {} in channels wider than 20 MHz", quoted(standard);
        "it has {}", list(there);

    // Channels.
    NoChannel { number: u16, mhz: u32, band: Band, known: Vec<u16> } =>
        "{number} is not a channel of {mhz} MHz at {}", quoted(band);
        "there are {}", runs(known);
    SecondOnChannel { node: String } =>
        "VALUE is the channel of another radio of {node:?}";
        "give each radio of a node a channel of its own, or remove one";
}

problems! {
    /// Problem with a rate.
    RateProblem:

    // Bit rates.
    NotARate { standard: Standard, rates: Vec<BitRate> } =>
        "VALUE is not a{} rate of {}", legacy(*standard), quoted(standard);
        "{}", legacy_rates(*standard, rates);
    RateOfScheme { standard: Standard, channel: PpduOptions, schemes: Vec<String> } =>
        "VALUE is the rate of {} of {} {}", list(schemes), quoted(standard), in_channel(*channel);
        "give the MCS, \"{}\"", schemes[0];
    NoRate { standard: Standard, channel: PpduOptions, rates: Vec<BitRate> } =>
        "VALUE is not a rate of {} {}", quoted(standard), in_channel(*channel);
        "{}; or an MCS, such as \"MCS 7\"", legacy_rates(*standard, rates);
    RateElsewhere { standard: Standard, channel: PpduOptions, elsewhere: Vec<(String, PpduOptions)> } =>
        "VALUE is not a rate of {} {}", quoted(standard), in_channel(*channel);
        "{}", has_it(elsewhere);

    // Schemes.
    NoSchemes { standard: Standard, rates: Vec<BitRate> } =>
        "VALUE is an MCS, which {} does not have", quoted(standard);
        "{}", legacy_rates(*standard, rates);
    Duplicate =>
        "VALUE is the duplicate of 6 Mb/s in both halves of 40 MHz, which is not modelled";
        "give one of MCS 0 to 31";
    Unequal =>
        "VALUE has streams of unequal modulation, which is not modelled";
        "give one of MCS 0 to 31";
    Reserved =>
        "VALUE is reserved: 802.11n has no such MCS";
        "give one of MCS 0 to 31";
    TwoNumbers { number: u8, streams: u8 } =>
        "VALUE gives two numbers of streams: MCS {number} of 802.11n has {streams}";
        "give the number alone, or 0 to 7 with NSS";
    NoStreams { standard: Standard, mhz: u32, streams: u8, known: Vec<u8> } =>
        "VALUE has {streams} streams, for which {} in {mhz} MHz has no MCS", quoted(standard);
        "NSS can be {}", list(known);
    NoScheme { standard: Standard, mhz: u32, streams: u8, known: Vec<u8> } =>
        "VALUE does not exist: {} in {mhz} MHz has no such MCS with NSS {streams}", quoted(standard);
        "with this number of streams there are MCS {}", list(known);
}

/// Name of an option in scenario files, with its quotes.
fn quoted<T: Serialize>(choice: &T) -> String {
    serde_json::to_string(choice).expect("a choice is a text")
}

/// Word that distinguishes bit rates from the rates of MCSs, in standards that have both.
fn legacy(standard: Standard) -> &'static str {
    if standard.has_mcs() { " legacy" } else { "" }
}

fn legacy_rates(standard: Standard, rates: &[BitRate]) -> String {
    format!("its{} rates: {}", legacy(standard), list(rates))
}

/// MCSs that have a rate in other channels.
fn has_it(elsewhere: &[(String, PpduOptions)]) -> String {
    let each =
        elsewhere.iter().map(|(scheme, channel)| format!("{scheme} has this rate {}", in_channel(*channel)));
    each.collect::<Vec<_>>().join("; ")
}

/// Text of a channel width and guard interval.
fn in_channel(channel: PpduOptions) -> String {
    let guard = channel.guard.span().ns();
    format!("in {} MHz with guard intervals of {guard} ns", channel.bandwidth.mhz())
}

/// Text of numbers in ascending order, with equidistant numbers as one range: `34 to 46 by 4, 100`.
fn runs(numbers: &[u16]) -> String {
    let mut made: Vec<String> = Vec::new();
    let mut rest = numbers;
    while let [first, more @ ..] = rest {
        let step = more.first().map_or(1, |second| second - first);
        let many = 1 + more.iter().zip(1..).take_while(|(number, i)| **number == first + i * step).count();
        let (run, after) = rest.split_at(if many > 2 { many } else { 1 });
        rest = after;
        made.push(match run {
            [only] => only.to_string(),
            [.., last] if step == 1 => format!("{first} to {last}"),
            _ => format!("{first} to {} by {step}", run[run.len() - 1]),
        });
    }
    made.join(", ")
}
