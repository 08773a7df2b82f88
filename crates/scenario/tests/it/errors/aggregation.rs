//! Aggregation, rate control and radios: combinations that are refused.

use super::check_all;

const AGGREGATING: &str = r#"duration = "1 s"
[phy]
standard = "802.11n"
[mac.aggregation]
a_mpdu = "65535 B"
a_msdu = "3839 B"
window = 64
mpdus = 32
max_duration = "4 ms"
spacing = "8 us"
reordering_timeout = "100 ms"
[topology]
generator = "chain"
hops = 1
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

const BROKEN_AGGREGATION: &str = r#"
a_mpdu = "65535 B" => a_mpdu = "65536 B" -> mac.aggregation.a_mpdu: 65536 B | from 1 B to 65535 B
a_mpdu = "65535 B" => a_mpdu = "0 B" -> mac.aggregation.a_mpdu: 0 B | from 1 B to 65535 B
a_mpdu = "65535 B" => a_mpdu = "100 B" -> mac.aggregation.a_mpdu: "100 B" has no room for one MPDU: the shortest of the flows takes 1542 B | "off" for single MPDUs
a_mpdu = "65535 B" => a_mpdu = "off" @ mpdus -> mac.aggregation.mpdus: has no effect without A-MPDUs | remove it
a_msdu = "3839 B" => a_msdu = "7936 B" -> mac.aggregation.a_msdu: 7936 B | from 1 B to 7935 B
window = 64 => window = 65 -> mac.aggregation.window: 65 | from 1 to 64
window = 64 => window = 16 @ mpdus -> mac.aggregation.mpdus: 32 | from 1 to 16
mpdus = 32 => mpdus = 0 -> mac.aggregation.mpdus: 0 | from 1 to 256
max_duration = "4 ms" => max_duration = "6 ms" -> mac.aggregation.max_duration: 6 ms | from 0 s to 5484 us
spacing = "8 us" => spacing = "17 us" -> mac.aggregation.spacing: 17 us | 16 us
reordering_timeout = "100 ms" => reordering_timeout = "11 s" -> mac.aggregation.reordering_timeout: 11 s | 10 s
a_mpdu = "65535 B"\na_msdu = "3839 B"\nwindow = 64\nmpdus = 32 => a_mpdu = "off"\na_msdu = "3839 B"\nwindow = 64 @ window -> mac.aggregation.window: has no effect without A-MPDUs | remove it
a_mpdu = "65535 B"\na_msdu = "3839 B"\nwindow = 64\nmpdus = 32 => a_mpdu = "off"\na_msdu = "3839 B"\n#\n# @ spacing -> mac.aggregation.spacing: has no effect without A-MPDUs | remove it
a_mpdu = "65535 B"\na_msdu = "3839 B"\nwindow = 64\nmpdus = 32\nmax_duration = "4 ms"\nspacing = "8 us" => a_mpdu = "off"\na_msdu = "3839 B"\n#\ndelivery = "mpdu" @ mpdus -> mac.aggregation.delivery: has no effect without A-MPDUs | remove it
a_mpdu = "65535 B"\na_msdu = "3839 B"\nwindow = 64\nmpdus = 32\nmax_duration = "4 ms"\nspacing = "8 us" => a_mpdu = "off"\na_msdu = "off"\n#\n#\nmax_duration = "4 ms" @ max_duration -> mac.aggregation.max_duration: "4 ms" has no effect with both a_mpdu and a_msdu "off" | remove it
a_mpdu = "65535 B"\na_msdu = "3839 B"\nwindow = 64\nmpdus = 32\nmax_duration = "4 ms"\nspacing = "8 us" => a_mpdu = "off"\na_msdu = "off"\n#\nretry_limit = 3 @ mpdus -> mac.aggregation.retry_limit: has no effect with both a_mpdu and a_msdu "off" | remove it
a_msdu = "3839 B" => a_msdus = "3839 B" -> mac.aggregation.a_msdus: unknown key | did you mean "a_msdu"?
standard = "802.11n" => standard = "802.11a" @ [mac.aggregation] -> mac.aggregation: this standard has no aggregation | set phy.standard to "802.11n", "802.11ac" or "802.11ax"
"#;

const ONE_BY_ONE: &str = r#"duration = "1 s"
[phy]
standard = "802.11n"
[mac.aggregation]
delivery = "mpdu"
[topology]
generator = "chain"
hops = 1
[traffic]
pattern = "canonical"
scheme = "udp"
[schemes.tcp-cubic]
flavour = "ns2"
"#;

const BROKEN_ONE_BY_ONE: &str = r#"
scheme = "udp" => scheme = "quick-and-plenty" @ delivery -> mac.aggregation.delivery: "mpdu" delivers MPDUs one by one | quick-and-plenty | remove it, or choose another scheme
scheme = "udp"\n[schemes.tcp-cubic]\nflavour = "ns2" => scheme = "tcp-cubic"\n[schemes.tcp-cubic]\nflavour = "linux" @ delivery -> mac.aggregation.delivery: "mpdu" delivers MPDUs one by one | tcp-cubic | set receive_offload = false
"#;

const RADIOS: &str = r#"duration = "1 s"
[phy]
standard = "802.11a"
channel = 36
adjacent_channels = "apart"
[topology]
[[topology.nodes]]
name = "a"
position = ["0 m", "0 m"]
channel = 40
[[topology.nodes]]
name = "b"
position = ["50 m", "0 m"]
radios = [{ channel = 40 }, { channel = 44 }]
[[flows]]
from = "a"
to = "b"
scheme = "udp"
"#;

const BROKEN_RADIOS: &str = r#"
channel = 36 => channel = 6 -> phy.channel: 6 is not a channel of 20 MHz at "5 GHz" | there are 34 to 48 by 2, 52 to 64 by 4
channel = 40\n => channel = 14\n -> topology.nodes[0].channel: 14 is not a channel of 20 MHz | 100 to 144 by 4, 149 to 173 by 4
channel = 36 => channel = 37 -> phy.channel: 37 is not a channel of 20 MHz at "5 GHz" | there are
{ channel = 44 } => { channel = 68 } -> topology.nodes[1].radios[1].channel: 68 is not a channel of 20 MHz | there are
standard = "802.11a"\nchannel = 36 => standard = "802.11n"\nchannel_width = "40 MHz"\nchannel = 165 @ adjacent_channels -> phy.channel: 165 is not a channel of 40 MHz at "5 GHz" | there are 36 to 64 by 4, 100 to 144 by 4, 149 to 161 by 4, 184 to 196 by 4
standard = "802.11a"\nchannel = 36 => standard = "802.11b"\nchannel = 36 @ channel -> phy.channel: 36 is not a channel of 20 MHz at "2.4 GHz" | there are 1 to 14
{ channel = 44 } => { channel = 40 } -> topology.nodes[1].radios[1].channel: 40 is the channel of another radio of "b" | a channel of its own
radios = [{ channel = 40 }, { channel = 44 }] => radios = [{ channel = 44 }, { channel = 48 }] @ [[flows]] -> flows[0]: no path: a is in a component of 1 node (a) | a is on channel 40, b on channel 44 and 48 | a common channel
{ channel = 44 } => { chanel = 44 } -> topology.nodes[1].radios[1].chanel: unknown key | channel
duration = "1 s" => medium = { model = "sinr", preamble_detection = "4 dB" }\nduration = "1 s" -> medium.preamble_detection: "4 dB" has no effect in "802.11a" | remove it, or set phy.standard
{ channel = 44 } => { channel = "x" } -> topology.nodes[1].radios[1].channel: found the text "x" | a whole number from 0 to 65535
adjacent_channels = "apart" => adjacent_channels = "far" -> phy.adjacent_channels: far | overlap
radios = [ => channel = 40\nradios = [ -> topology.nodes[1].channel: is given together with radios | remove one of the two
"#;

const RATES: &str = r#"duration = "1 s"
[phy]
standard = "802.11n"
data_rate = "MCS 0"
[mac.rate_control]
algorithm = "minstrel-ht"
streams = 2
[medium]
model = "ranges"
[topology]
generator = "chain"
hops = 1
spacing = "50 m"
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

const BROKEN_RATES: &str = r#"
"minstrel-ht" => "minstrel" -> mac.rate_control.algorithm: minstrel | did you mean "minstrel-ht"?
"minstrel-ht" => "ideal" -> mac.rate_control.algorithm: needs received powers | set medium.model = "sinr"
streams = 2 => streams = 5 -> mac.rate_control.streams: 5 | from 1 to 4
streams = 2 => streams = 0 -> mac.rate_control.streams: 0 | from 1 to 8
streams = 2 => tries = 0 -> mac.rate_control.tries: 0 | from 1 to 255
streams = 2 => stream = 2 -> mac.rate_control.stream: unknown key | did you mean "streams"?
standard = "802.11n"\ndata_rate = "MCS 0" => standard = "802.11a"\ndata_rate = "6 Mb/s" @ streams -> mac.rate_control.streams: has no effect before 802.11n | remove it
"#;

#[test]
fn broken_rate_control() {
    check_all(RATES, BROKEN_RATES);
}

#[test]
fn broken_aggregation() {
    check_all(AGGREGATING, BROKEN_AGGREGATION);
}

#[test]
fn broken_delivery() {
    check_all(ONE_BY_ONE, BROKEN_ONE_BY_ONE);
}

#[test]
fn broken_radios() {
    check_all(RADIOS, BROKEN_RADIOS);
}
