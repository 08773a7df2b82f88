//! Transmit powers and antenna gains of single radios.

use multihop_scenario::{Overrides, ScenarioError, resolve};
use multihop_sim::config::{Config, RadioPower};
use multihop_sim::run;

/// Two nodes 150 m apart with these keys. The path loss is 105 dB: 20 dBm arrive as -85 dBm.
fn scenario(medium: &str, keys: [&str; 2]) -> String {
    format!(
        "duration = \"2 s\"\n[medium]\n{medium}\n[topology]\n\
         nodes = [{{ name = \"a\", position = [\"0 m\", \"0 m\"]{} }}, {{ name = \"b\", position = [\"150 m\", \"0 m\"]{} }}]\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\nscheme = \"udp\"\n",
        keys[0], keys[1]
    )
}

fn read(keys: [&str; 2]) -> Result<(Config, String), ScenarioError> {
    let text = scenario("model = \"sinr\"", keys);
    resolve(&text, "case.toml", &Overrides::default()).map(|resolved| (resolved.config, resolved.hash))
}

#[test]
fn stated_default_powers_do_not_change_the_hash() {
    let (plain, hash) = read(["", ""]).unwrap();
    assert_eq!(plain.topology.powers, []);
    let (stated, same) = read([", transmit_power = \"20 dBm\"", ", antenna_gain = \"0 dB\""]).unwrap();
    assert_eq!((stated.topology.powers, same), (vec![], hash.clone()));
    let (higher, other) = read([", transmit_power = \"30 dBm\"", ""]).unwrap();
    assert_ne!(other, hash);
    let usual = RadioPower { transmit_mw: 100.0, antenna_gain: 1.0 };
    assert_eq!(higher.topology.powers, [RadioPower { transmit_mw: 1000.0, ..usual }, usual]);
    let (_, gain) = read([", antenna_gain = \"10 dBi\"", ""]).unwrap();
    assert!(gain != hash && gain != other);
}

/// A node with a low transmit power receives others and is not received itself. No ACK arrives, so that there
/// is no route.
#[test]
fn a_one_way_link_is_not_a_route() {
    let equal = ["transmit_power = \"30 dBm\""; 2].map(|key| format!(", {key}"));
    let reached = read([&equal[0], &equal[1]]).unwrap().0;
    assert!(run(&reached).flows[0].delivered_bytes > 100_000);
    let whispers = ", transmit_power = \"-20 dBm\"";
    for keys in [[equal[0].as_str(), whispers], [whispers, equal[1].as_str()]] {
        let error = read(keys).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("flows[0]: no path"), "{error}");
    }
    let dish = [", transmit_power = \"10 dBm\", antenna_gain = \"40 dBi\"", ", transmit_power = \"0 dBm\""];
    assert!(run(&read(dish).unwrap().0).flows[0].delivered_bytes > 100_000);
}

#[test]
fn each_radio_of_a_node_has_its_own_power_and_gain() {
    let radios = ", radios = [{ channel = 1 }, { channel = 11, transmit_power = \"10 dBm\", antenna_gain = \"3 dBi\" }]";
    let (config, _) = read(["", radios]).unwrap();
    assert_eq!(config.topology.nodes.len(), 3);
    let own = config.topology.powers[2];
    assert!((own.transmit_mw - 10.0).abs() < 1e-9 && (own.antenna_gain - 1.995).abs() < 1e-3, "{own:?}");
    assert_eq!(config.topology.powers[0], config.topology.powers[1]);
}

#[test]
fn media_without_transmit_powers_refuse_them() {
    for (medium, name) in [
        ("model = \"ranges\"", "ranges"),
        ("model = \"matrix\"\nquantity = \"rssi\"", "matrix"),
        ("model = \"matrix\"\nquantity = \"delivery\"", "matrix"),
    ] {
        let links = "[[topology.links]]\nfrom = \"a\"\nto = \"b\"\n";
        let value = if medium.contains("rssi") { "rssi = \"-60 dBm\"\n" } else { "delivery = 0.9\n" };
        let text = scenario(medium, [", antenna_gain = \"3 dBi\"", ""]);
        let text = if name == "matrix" { text + links + value } else { text };
        let error = resolve(&text, "case.toml", &Overrides::default()).map(|_| ()).unwrap_err().to_string();
        let wanted = format!("\"3 dBi\" has no effect with medium.model = \"{name}\"");
        assert!(error.contains(&wanted) && error.contains("\"sinr\""), "{error}");
    }
}
