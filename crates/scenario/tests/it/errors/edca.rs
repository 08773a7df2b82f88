//! Access categories and codepoints that are refused.

use super::check_all;
use multihop_dot11::AccessCategory::{BestEffort, Voice};
use multihop_scenario::{Overrides, resolve};

const DIFFERENTIATED: &str = r#"duration = "1 s"
[phy]
standard = "802.11n"
[mac]
rules = "ieee"
[mac.edca]
ac_bk = {}
ac_vi = { aifsn = 2, txop_limit = "4 ms" }
ac_vo = { cw_min = 3, cw_max = 7 }
[topology]
generator = "chain"
hops = 1
[traffic]
pattern = "canonical"
scheme = "udp"
app = { kind = "saturated", dscp = "EF" }
"#;

const BROKEN: &str = r#"
rules = "ieee" => rules = "ns2" @ [mac.edca] -> mac.edca: ns-2 has no access categories | set mac.rules to "ieee" or "bianchi"
aifsn = 2 => aifsn = 0 -> mac.edca.ac_vi.aifsn: 0 | from 1 to 15
aifsn = 2 => aifsn = 16 -> mac.edca.ac_vi.aifsn: 16 | from 1 to 15
txop_limit = "4 ms" => txop_limit = "3 s" -> mac.edca.ac_vi.txop_limit: 3 s | from 0 s to 2.09712 s
txop_limit = "4 ms" => txop_limit = 4 -> mac.edca.ac_vi.txop_limit: 4 | unit
txop_limit = "4 ms" => txop_limit = "1 us" -> mac.edca.ac_vi.txop_limit: "1 us" is not a multiple of 32 us | give "0 s" or "32 µs"
txop_limit = "4 ms" => txop_limit = "3 ms" -> mac.edca.ac_vi.txop_limit: "3 ms" is not a multiple of 32 us | give "2.976 ms" or "3.008 ms"
cw_min = 3 => cw_min = 15 -> mac.edca.ac_vo.cw_min: cw_min 15 is above cw_max 7 | lower cw_min
cw_min = 3 => cw_min = 9 -> mac.edca.ac_vo.cw_min: 9 is not of the form 2^n - 1 | give 7 or 15
cw_max = 7 => cw_max = 16 -> mac.edca.ac_vo.cw_max: 16 is not of the form 2^n - 1 | give 15 or 31
cw_min = 3, cw_max = 7 => cw_max = 1 -> mac.edca.ac_vo.cw_max: cw_min 3 is above cw_max 1
cw_max = 7 => cw_max = 40000 -> mac.edca.ac_vo.cw_max: 40000 | from 0 to 32767
ac_bk = {}\nac_vi = { aifsn = 2, txop_limit = "4 ms" }\nac_vo = { cw_min = 3, cw_max = 7 } => ac_bk = { txop_limit = "0 s" }\nac_vi = { txop_limit = "0 s" }\nac_vo = { txop_limit = "0 s" }\nac_be = { txop_limit = "0 s" }\nprotection = "multiple" @ generator -> mac.edca.protection: "multiple" has no effect where the txop_limit of all categories is 0 s | remove it
ac_bk = {} => protection = "double" -> mac.edca.protection: double | single
ac_bk = {} => ac_bg = {} -> mac.edca.ac_bg: unknown key | did you mean "ac_bk"?
ac_bk = {} => ac_bk = 3 -> mac.edca.ac_bk: 3 | table
dscp = "EF" => dscp = 64 -> traffic.app.dscp: 64 | from 0 to 63
dscp = "EF" => dscp = "ef" -> traffic.app.dscp: ef | "EF", "AF41" or "CS1"
dscp = "EF" => dscp = -1 -> traffic.app.dscp: -1 | from 0 to 63
dscp = "EF" => tos = 46 -> traffic.app.tos: unknown key
"#;

#[test]
fn broken_categories() {
    check_all(DIFFERENTIATED, BROKEN);
}

#[test]
fn stations_contend_with_the_stated_parameters() {
    let read = |text: &str| resolve(text, "test.toml", &Overrides::default()).expect("it is sound").config;
    let config = read(DIFFERENTIATED);
    let edca = config.mac.edca.expect("the table is there");
    assert_eq!(
        edca.map(|contends| (contends.aifsn, contends.cw_min, contends.cw_max)),
        [(7, 15, 1_023), (3, 15, 1_023), (2, 7, 15), (2, 3, 7),]
    );
    assert_eq!(edca.map(|contends| contends.txop_limit.ns() / 1_000), [2_528, 2_528, 4_000, 2_080]);
    assert_eq!((config.traffic.flows[0].dscp.number(), config.mac.rules.data_header), (46, 30));
    let own =
        DIFFERENTIATED.replace("\"EF\"", "0").replace("ac_vo = {", "ac_be = {").replace("802.11n", "802.11a");
    let config = read(&own);
    let edca = config.mac.edca.expect("the table is there");
    assert_eq!((edca[BestEffort as usize].cw_max, edca[Voice as usize].cw_min), (7, 3));
    assert_eq!(config.mac.rules.data_header, 30, "frames of quality of service, in older standards too");
    let lines: Vec<&str> =
        own.lines().filter(|line| !line.starts_with("ac_") && *line != "[mac.edca]").collect();
    let config = read(&lines.join("\n"));
    assert_eq!((config.mac.edca, config.mac.rules.data_header), (None, 28));
}
