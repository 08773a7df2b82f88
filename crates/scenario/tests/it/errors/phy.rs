//! Channels, bit rates and MCSs that do not exist.

use super::check_all;

/// Valid scenario of 802.11ac.
const FAST: &str = r#"duration = "1 s"
[phy]
standard = "802.11ac"
band = "5 GHz"
channel_width = "80 MHz"
guard_interval = "800 ns"
coding = "bcc"
data_rate = "MCS 9"
control_rate = "6 Mb/s"
[topology]
generator = "chain"
hops = 1
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

const BROKEN_FAST: &str = r#"
band = "5 GHz" => band = "2.4 GHz" -> phy.band: "2.4 GHz" does not exist in "802.11ac" | it has "5 GHz"
band = "5 GHz" => band = "6 GHz" -> phy.band: 6 GHz | 2.4 GHz, 5 GHz
channel_width = "80 MHz" => channel_width = "60 MHz" -> phy.channel_width: 60 MHz | 20 MHz, 40 MHz, 80 MHz, 160 MHz
channel_width = "80 MHz" => channel_width = 80 -> phy.channel_width: 80 | 160 MHz
standard = "802.11ac" => standard = "802.11n" @ channel_width -> phy.channel_width: "80 MHz" does not exist in "802.11n" at "5 GHz" | it has "20 MHz", "40 MHz"
standard = "802.11ac"\nband = "5 GHz" => standard = "802.11ax"\nband = "2.4 GHz" @ channel_width -> phy.channel_width: does not exist in "802.11ax" at "2.4 GHz" | "20 MHz", "40 MHz"
guard_interval = "800 ns" => guard_interval = "1600 ns" -> phy.guard_interval: does not exist in "802.11ac" | "400 ns", "800 ns"
standard = "802.11ac" => standard = "802.11ax" @ coding -> phy.coding: "bcc" does not exist in "802.11ax" in channels wider than 20 MHz | it has "ldpc"
channel_width = "80 MHz" => channel_width = "10 MHz" -> phy.channel_width: "10 MHz" does not exist in "802.11ac" at "5 GHz" | "20 MHz", "40 MHz"
standard = "802.11ac" => standard = "802.11a" @ band -> phy.band: "5 GHz" is not an option of "802.11a" | 802.11n
data_rate = "MCS 9" => rate = "MCS 9" -> phy.rate: unknown key | did you mean "data_rate", "control_rate" or "ack_rate"? known: standard
data_rate = "MCS 9" => data_rate = "MCS 10" -> phy.data_rate: "MCS 10" does not exist: "802.11ac" in 80 MHz has no such MCS with NSS 1 | MCS 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
data_rate = "MCS 9" => data_rate = "MCS 6 NSS 3" -> phy.data_rate: does not exist | MCS 0, 1, 2, 3, 4, 5, 7, 8, 9
data_rate = "MCS 9" => data_rate = "MCS 9 NSS 9" -> phy.data_rate: has 9 streams | NSS can be 1, 2, 3, 4, 5, 6, 7, 8
data_rate = "MCS 9" => data_rate = "MCS 9 NSS 0" -> phy.data_rate: has 0 streams | NSS can be 1
data_rate = "MCS 9" => data_rate = "MCS nine" -> phy.data_rate: "MCS nine" is not a modulation and coding scheme | MCS 7
data_rate = "MCS 9" => data_rate = 9 -> phy.data_rate: 9 | MCS 7
data_rate = "MCS 9" => data_rate = "64 Mb/s" -> phy.data_rate: "64 Mb/s" is not a rate of "802.11ac" in 80 MHz with guard intervals of 800 ns | its legacy rates: 6 Mb/s, 9 Mb/s, 12 Mb/s, 18 Mb/s, 24 Mb/s, 36 Mb/s, 48 Mb/s, 54 Mb/s; or an MCS, such as "MCS 7"
data_rate = "MCS 9" => data_rate = "65 Mb/s" -> phy.data_rate: "65 Mb/s" is not a rate of "802.11ac" in 80 MHz with guard intervals of 800 ns | MCS 6 has this rate in 20 MHz with guard intervals of 400 ns; MCS 7 has this rate in 20 MHz with guard intervals of 800 ns; MCS 1
data_rate = "MCS 9" => data_rate = "351 Mb/s" -> phy.data_rate: "351 Mb/s" is the rate of MCS 8, MCS 4 NSS 2, MCS 3 NSS 3, MCS 2 NSS 4, MCS 1 NSS 6 of "802.11ac" in 80 MHz | give the MCS, "MCS 8"
channel_width = "80 MHz" => channel_width = "20 MHz" @ data_rate -> phy.data_rate: "MCS 9" does not exist: "802.11ac" in 20 MHz | MCS 0, 1, 2, 3, 4, 5, 6, 7, 8
control_rate = "6 Mb/s" => control_rate = "1 Mb/s" -> phy.control_rate: "1 Mb/s" is not a legacy rate of "802.11ac" | 6 Mb/s
control_rate = "6 Mb/s" => control_rate = "65 Mb/s" -> phy.control_rate: "65 Mb/s" is not a legacy rate of "802.11ac" | its legacy rates: 6 Mb/s, 9 Mb/s, 12 Mb/s, 18 Mb/s, 24 Mb/s, 36 Mb/s, 48 Mb/s, 54 Mb/s
control_rate = "6 Mb/s" => control_rate = "MCS 0" -> phy.control_rate: "MCS 0" is an MCS, but control frames have legacy rates | a bit rate, such as "6 Mb/s"
control_rate = "6 Mb/s" => ack_rate = "MCS 0" -> phy.ack_rate: "MCS 0" is an MCS | a bit rate
control_rate = "6 Mb/s" => ofdm_symbols = "ns2" -> phy.ofdm_symbols: has no effect in this standard | 802.11a
"#;

const HIGH: &str = r#"duration = "1 s"
[phy]
standard = "802.11n"
data_rate = "MCS 15"
[topology]
generator = "chain"
hops = 1
[traffic]
pattern = "canonical"
scheme = "udp"
"#;

const BROKEN_HIGH: &str = r#"
data_rate = "MCS 15" => data_rate = "MCS 15 NSS 1" -> phy.data_rate: gives two numbers of streams: MCS 15 of 802.11n has 2 | 0 to 7 with NSS
data_rate = "MCS 15" => data_rate = "65 Mb/s" -> phy.data_rate: "65 Mb/s" is the rate of MCS 7 of "802.11n" in 20 MHz with guard intervals of 800 ns | give the MCS, "MCS 7"
data_rate = "MCS 15" => data_rate = "72.2 Mb/s" -> phy.data_rate: "72.2 Mb/s" is not a rate of "802.11n" in 20 MHz with guard intervals of 800 ns | MCS 7 has this rate in 20 MHz with guard intervals of 400 ns
data_rate = "MCS 15" => data_rate = "MCS 32" -> phy.data_rate: "MCS 32" is the duplicate of 6 Mb/s in both halves of 40 MHz, which is not modelled | MCS 0 to 31
data_rate = "MCS 15" => data_rate = "MCS 33" -> phy.data_rate: "MCS 33" has streams of unequal modulation | MCS 0 to 31
data_rate = "MCS 15" => data_rate = "MCS 76" -> phy.data_rate: "MCS 76" has streams of unequal modulation | MCS 0 to 31
data_rate = "MCS 15" => data_rate = "MCS 99" -> phy.data_rate: "MCS 99" is reserved | MCS 0 to 31
data_rate = "MCS 15" => data_rate = "MCS 7 NSS 5" -> phy.data_rate: has 5 streams | NSS can be 1, 2, 3, 4
standard = "802.11n" => standard = "802.11g" @ data_rate -> phy.data_rate: "MCS 15" is an MCS, which "802.11g" does not have | 54 Mb/s
"#;

#[test]
fn broken_rates_and_channels() {
    check_all(FAST, BROKEN_FAST);
    check_all(HIGH, BROKEN_HIGH);
}
