//! Delays by distance: a frame arrives at each radio after its distance over the speed of light.

use crate::common::capture::{Shared, read};
use multihop_scenario::{Overrides, resolve};
use multihop_sim::config::Config;
use multihop_sim::logs::AirLog;
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World, run};

fn resolved(text: &str) -> Result<Config, String> {
    resolve(text, "distance.toml", &Overrides::default())
        .map(|resolved| resolved.config)
        .map_err(|error| error.to_string())
}

fn ran(text: &str) -> Outcome {
    let config = resolved(text).unwrap();
    let outcome = run(&config);
    assert_eq!(outcome, World::new(&config, Ties::Reversed).finish(), "{text}");
    outcome
}

fn chain(hops: u32, delay: &str, tables: &str) -> String {
    format!(
        "duration = \"2 s\"\nwarmup = \"0 s\"\n[medium]\nmodel = \"ranges\"\npropagation_delay = \"{delay}\"\n\
         [topology]\ngenerator = \"chain\"\nhops = {hops}\nspacing = \"200 m\"\n\
         {tables}\n[[flows]]\nfrom = \"n0\"\nto = \"n{hops}\"\nscheme = \"tcp-newreno\"\n"
    )
}

/// Two nodes have one distance: 200 m are 668 ns. With a constant delay a station's own frame ends together
/// with its arrival. A host's random delay may fall between the two; the flavour of the RFCs has none.
#[test]
fn between_two_nodes_the_delay_is_constant() {
    for rts in ["off", "0 B"] {
        let mac = format!("[mac]\nrts_threshold = \"{rts}\"\n[schemes.tcp-newreno]\nflavour = \"rfc\"");
        let [by_distance, constant] = ["distance", "668 ns"].map(|delay| ran(&chain(1, delay, &mac)));
        assert_eq!(by_distance.flows, constant.flows, "{rts}");
        assert!(by_distance.flows[0].packets_delivered > 100);
    }
}

/// Frames of n0 arrive at n1 after 668 ns, and at n2 after 1335 ns.
#[test]
fn frames_arrive_after_their_distance_over_the_speed_of_light() {
    let config = resolved(&chain(2, "distance", "")).unwrap();
    let file = Shared::default();
    let log = AirLog::new(&config, Box::new(file.clone())).unwrap();
    World::new(&config, Ties::InOrder).finish_logged(log, |_| ()).unwrap();
    let capture = read(&file.0.lock().unwrap());
    let mut after = [Vec::new(), Vec::new(), Vec::new()];
    let sent = capture.packets.iter().filter(|packet| packet.interface == 0 && packet.tx_flags.is_some());
    for own in sent.filter(|packet| packet.transmitter == Some(0)) {
        let same = capture.packets.iter().filter(|packet| {
            (packet.transmitter, packet.sequence) == (Some(0), own.sequence)
                && packet.end_ns.abs_diff(own.end_ns) < 10_000
        });
        same.for_each(|packet| after[packet.interface].push(packet.end_ns - own.end_ns));
    }
    assert!(after[1].len() > 50, "{}", after[1].len());
    assert_eq!([&after[0], &after[1]].map(|all| all.iter().all(|late| *late == 0)), [true, false]);
    assert!(after[1].iter().all(|late| *late == 668));
    // n2 senses n0 but does not decode its frames.
    assert!(after[2].is_empty());
    assert!(capture.packets.is_sorted_by_key(|packet| (packet.end_ns, packet.interface)));
}

/// Broadcasts, link breaks, outages and moving nodes: packets are conserved, and the order of ties does not
/// matter.
#[test]
fn packets_are_conserved_with_delays_by_distance() {
    for routing in ["dsdv", "aodv", "dsr"] {
        for medium in ["ranges", "sinr"] {
            let text = format!(
                "duration = \"4 s\"\nwarmup = \"0 s\"\n[medium]\nmodel = \"{medium}\"\n\
                 propagation_delay = \"distance\"\n[routing]\nprotocol = \"{routing}\"\n[network]\narp = true\n\
                 [topology]\ngenerator = \"grid\"\ncolumns = 3\nrows = 3\nspacing = \"150 m\"\n\
                 [mobility]\nmodel = \"random-waypoint\"\narea = [\"500 m\", \"500 m\"]\n\
                 min_speed = \"1 m/s\"\nmax_speed = \"20 m/s\"\n\
                 [[outages]]\nnode = \"n4\"\nfrom = \"1 s\"\nto = \"1500 ms\"\n\
                 [[flows]]\nfrom = \"n0\"\nto = \"n8\"\nscheme = \"tcp-newreno\"\nstart = \"500 ms\"\n\
                 [[flows]]\nfrom = \"n2\"\nto = \"n6\"\nscheme = \"udp\"\napp = {{ kind = \"saturated\" }}\n"
            );
            assert!(ran(&text).events > 1_000);
        }
    }
}

#[test]
fn impossible_delays_by_distance_are_refused() {
    let matrix = "duration = \"1 s\"\n[medium]\nmodel = \"matrix\"\nquantity = \"delivery\"\n\
                  propagation_delay = \"distance\"\n[topology]\n\
                  nodes = [{ name = \"a\", position = [\"0 m\", \"0 m\"] }, { name = \"b\" }]\n\
                  links = [{ from = \"a\", to = \"b\", delivery = 1.0 }, { from = \"b\", to = \"a\", delivery = 1.0 }]\n\
                  [[flows]]\nfrom = \"a\"\nto = \"b\"\nscheme = \"udp\"\n";
    let found = resolved(matrix).err().unwrap();
    assert!(
        found.contains("medium.propagation_delay: \"distance\" needs positions, and \"b\" has none; "),
        "{found}"
    );
    let placed = matrix.replace("name = \"b\"", "name = \"b\", position = [\"200 m\", \"0 m\"]");
    assert!(resolved(&placed).is_ok());
    let far = chain(1, "distance", "").replace("200 m", "16 km").replace(
        "model = \"ranges\"",
        "model = \"ranges\"\nreceive_range = \"20 km\"\ncarrier_sense_range = \"20 km\"",
    );
    let found = resolved(&far).err().unwrap();
    assert!(
        found.contains("means that frames are sensed 16 km away, 53.371 µs after they are sent; "),
        "{found}"
    );
    assert!(found.contains("up to 50 µs"), "DIFS of 802.11b: {found}");
    let found = resolved(&chain(1, "far", "")).err().unwrap();
    assert!(found.contains("\"distance\""), "{found}");
}
