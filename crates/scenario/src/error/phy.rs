//! What can be wrong with `[phy]`, channels and rates.

use super::{list, problems};
use multihop_config::quantity::BitRate;
use multihop_dot11::{Band, PpduOptions, Standard};
use serde::Serialize;

problems! {
    /// What can be wrong with the PHY and its channels.
    PhyProblem:

    NoShortPreamble =>
        "VALUE does not exist in this standard";
        "short preambles belong to 802.11b and 802.11g; use \"long\" or remove the key";
    NoOfdm =>
        "VALUE has no effect in this standard";
        "OFDM belongs to 802.11a and 802.11g; remove the key";
    NotMixed { standard: Standard } =>
        "stations of 802.11b share no network with those of {}", named(standard);
        "remove it, or set phy.standard = \"802.11g\"";
    NoChoice { standard: Standard } =>
        "VALUE is no choice in {}", named(standard);
        "it belongs to 802.11n, 802.11ac and 802.11ax; remove the key";
    OneWidth { standard: Standard } =>
        "VALUE is no choice in {}", named(standard);
        "it belongs to 802.11a, 802.11n, 802.11ac and 802.11ax; remove the key";
    NoDetection { standard: Standard } =>
        "VALUE has no effect in {}, where what overlaps a preamble does not harm it", named(standard);
        "remove it, or set phy.standard to \"802.11n\", \"802.11ac\" or \"802.11ax\"";
    NotOfStandard { standard: Standard, there: Vec<String> } =>
        "VALUE does not exist in {}", named(standard);
        "it has {}", list(there);
    NotInBand { standard: Standard, band: Band, there: Vec<String> } =>
        "VALUE does not exist in {} at {}", named(standard), named(band);
        "it has {}", list(there);
    NotInWideChannel { standard: Standard, there: Vec<String> } =>
        "VALUE does not exist in {} in channels wider than 20 MHz", named(standard);
        "it has {}", list(there);

    // Channels.
    NoChannel { number: u16, mhz: u32, band: Band, known: Vec<u16> } =>
        "{number} is no channel of {mhz} MHz at {}", named(band);
        "there are {}", runs(known);
    SecondOnChannel { node: String } =>
        "VALUE is the channel of another radio of {node:?}";
        "give each radio of a node a channel of its own, or remove one";
}

problems! {
    /// What can be wrong with a rate.
    RateProblem:

    // Bit rates.
    NotARate { standard: Standard, rates: Vec<BitRate> } =>
        "VALUE is not a{} rate of {}", legacy(*standard), named(standard);
        "{}", legacy_rates(*standard, rates);
    RateOfScheme { standard: Standard, channel: PpduOptions, schemes: Vec<String> } =>
        "VALUE is the rate of {} of {} {}", list(schemes), named(standard), said(*channel);
        "give the scheme, \"{}\"", schemes[0];
    NoRate { standard: Standard, channel: PpduOptions, rates: Vec<BitRate> } =>
        "VALUE is no rate of {} {}", named(standard), said(*channel);
        "{}; or a scheme, such as \"MCS 7\"", legacy_rates(*standard, rates);
    RateElsewhere { standard: Standard, channel: PpduOptions, elsewhere: Vec<(String, PpduOptions)> } =>
        "VALUE is no rate of {} {}", named(standard), said(*channel);
        "{}", has_it(elsewhere);

    // Schemes.
    NoSchemes { standard: Standard, rates: Vec<BitRate> } =>
        "VALUE is a scheme, and {} has none", named(standard);
        "{}", legacy_rates(*standard, rates);
    Duplicate =>
        "VALUE is the duplicate of 6 Mb/s in both halves of 40 MHz, which is not modelled";
        "give one of MCS 0 to 31";
    Unequal =>
        "VALUE has streams of unequal modulation, which is not modelled";
        "give one of MCS 0 to 31";
    Reserved =>
        "VALUE is reserved: 802.11n has no such scheme";
        "give one of MCS 0 to 31";
    TwoNumbers { number: u8, streams: u8 } =>
        "VALUE gives two numbers of streams: MCS {number} of 802.11n has {streams}";
        "give the number alone, or 0 to 7 with NSS";
    NoStreams { standard: Standard, mhz: u32, streams: u8, known: Vec<u8> } =>
        "VALUE has {streams} streams, and {} in {mhz} MHz has other numbers of them", named(standard);
        "NSS can be {}", list(known);
    NoScheme { standard: Standard, mhz: u32, streams: u8, known: Vec<u8> } =>
        "VALUE does not exist: {} in {mhz} MHz has no such scheme with NSS {streams}", named(standard);
        "with so many streams there are MCS {}", list(known);
}

/// A choice as scenarios name it.
fn named<T: Serialize>(choice: &T) -> String {
    serde_json::to_string(choice).expect("a choice is a text")
}

/// What tells rates of a bit rate from those of schemes, where there are both.
fn legacy(standard: Standard) -> &'static str {
    if standard.has_mcs() { " legacy" } else { "" }
}

fn legacy_rates(standard: Standard, rates: &[BitRate]) -> String {
    format!("its{} rates: {}", legacy(standard), list(rates))
}

/// Which schemes have a rate in other channels.
fn has_it(elsewhere: &[(String, PpduOptions)]) -> String {
    let each = elsewhere.iter().map(|(scheme, channel)| format!("{scheme} has it {}", said(*channel)));
    each.collect::<Vec<_>>().join("; ")
}

/// A channel and its guard intervals.
fn said(channel: PpduOptions) -> String {
    let guard = channel.guard.span().ns();
    format!("in {} MHz with guard intervals of {guard} ns", channel.bandwidth.mhz())
}

/// Numbers in ascending order, those that are equally far apart as one: `34 to 46 by 4, 100`.
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
