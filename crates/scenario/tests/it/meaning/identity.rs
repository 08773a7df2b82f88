//! Settings, and the hash of a scenario.

use super::{PLAIN, config, hash};
use multihop_core::Span;
use multihop_dot11::Microseconds;
use multihop_scenario::{Overrides, Setting, Step, locate, resolve};

#[test]
fn starts_are_jittered_by_the_seed_of_the_run() {
    let start = |seed| {
        let text = format!("{PLAIN}start = \"5 s\"\nstart_jitter = \"2 s\"\n");
        let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
        resolve(&text, "case.toml", &overrides).unwrap().config.traffic.flows[0].start
    };
    assert_eq!(start(1), start(1));
    assert_ne!(start(1), start(2));
    assert!((1..50).map(start).all(|start| (5.0..7.0).contains(&start.seconds())));
}

/// The hash of a scenario with settings, each a path and a value.
fn hash_with(text: &str, settings: &[(&str, &str)]) -> String {
    let setting = |&(path, value): &(&str, &str)| {
        // A whole document, or one value.
        let value = if value.starts_with("[[value]]") { value.into() } else { format!("value = {value}") };
        Setting { path: path.into(), value }
    };
    let overrides = Overrides { set: settings.iter().map(setting).collect(), ..Overrides::default() };
    resolve(text, "case.toml", &overrides).unwrap_or_else(|error| panic!("{settings:?}: {error}")).hash
}

/// A scenario, settings, and the equivalent scenario.
type Case<'a> = (String, &'a [(&'a str, &'a str)], String);

#[test]
fn a_setting_means_what_the_file_would_mean() {
    check(&[
        (PLAIN.into(), &[("topology.hops", "3")], PLAIN.replace("hops = 2", "hops = 3")),
        (
            PLAIN.into(),
            &[("topology.hops", "9"), ("topology.hops", "3")],
            PLAIN.replace("hops = 2", "hops = 3"),
        ),
        (PLAIN.into(), &[("mac.queue", "20")], format!("{PLAIN}[mac]\nqueue = 20\n")),
        (
            PLAIN.into(),
            &[("mac.override.eifs", "\"never\""), ("mac.rules", "\"ns2\"")],
            format!("{PLAIN}[mac]\nrules = \"ns2\"\noverride = {{ eifs = \"never\" }}\n"),
        ),
        (PLAIN.into(), &[("flows[0].start", "\"3 s\"")], format!("{PLAIN}start = \"3 s\"\n")),
        (
            PLAIN.into(),
            &[
                ("topology", "{ generator = \"bar\" }"),
                ("topology.length", "\"90 m\""),
                ("flows[0].to", "\"n1\""),
            ],
            PLAIN
                .replace("\"chain\"\nhops = 2", "\"bar\"\nlength = \"90 m\"")
                .replace("to = \"n2\"", "to = \"n1\""),
        ),
        (
            PLAIN.into(),
            &[
                ("schemes.\"my recn\".base", "\"recn\""),
                ("schemes.\"my recn\".threshold", "0.7"),
                ("flows[0].scheme", "\"my recn\""),
            ],
            PLAIN.replace("tcp-sack", "my recn") + "[schemes.'my recn']\nbase = \"recn\"\nthreshold = 0.7\n",
        ),
    ]);
    assert_eq!(
        hash_with(PLAIN, &[("topology.hops", "2")]),
        hash(PLAIN),
        "a setting equal to the file's value changes nothing"
    );
}

/// A scenario of before `linux` was the default has its hash again once it names the flavour `rfc`.
#[test]
fn the_default_flavour_is_part_of_the_hash() {
    let cubic = PLAIN.replace("tcp-sack", "tcp-cubic");
    let with = |flavour: &str| hash_with(&cubic, &[("schemes.tcp-cubic.flavour", &format!("\"{flavour}\""))]);
    assert_eq!(hash(&cubic), with("linux"));
    assert_ne!(with("linux"), with("rfc"));
    assert_eq!(hash(PLAIN), hash_with(PLAIN, &[("schemes.tcp-sack.flavour", "\"rfc\"")]));
    assert_eq!(with("rfc"), "a63a37befa8d0689f65b5132598a2022467148d54bb4ef537fc808025078ba7c");
}

#[test]
fn a_setting_of_a_list_means_what_the_file_would_mean() {
    let flow = |scheme: &str| format!("[[flows]]\nfrom = \"n1\"\nto = \"n0\"\nscheme = \"{scheme}\"\n");
    let listed = |count: usize| format!("{}{}", PLAIN, flow("udp").repeat(count));
    check(&[
        (
            listed(2),
            &[("flows[*].scheme", "\"recn\"")],
            listed(2).replace("tcp-sack", "recn").replace("udp", "recn"),
        ),
        (listed(3), &[("flows.length", "2")], listed(1)),
        (
            listed(3),
            &[("flows.length", "2"), ("flows[1].scheme", "\"recn\"")],
            format!("{PLAIN}{}", flow("recn")),
        ),
        (
            PLAIN.into(),
            &[("flows.append", "{ from = \"n1\", to = \"n0\", scheme = \"udp\" }")],
            format!("{PLAIN}{}", flow("udp")),
        ),
        (
            PLAIN.into(),
            &[
                ("flows.append", "[{ name = \"a1\", from = \"n1\", to = \"n0\" }]"),
                ("flows[a*].scheme", "\"udp\""),
            ],
            format!("{PLAIN}{}name = \"a1\"\n", flow("udp")),
        ),
        (
            PLAIN.into(),
            &[("flows", "[[value]]\nfrom = \"n1\"\nto = \"n0\"\nscheme = \"udp\"")],
            PLAIN.split("[[flows]]").next().unwrap().to_owned() + &flow("udp"),
        ),
    ]);
}

fn check(cases: &[Case<'_>]) {
    for (text, settings, written) in cases {
        assert_eq!(hash_with(text, settings), hash(written), "{settings:?}");
        assert_ne!(hash(written), hash(text), "{settings:?} change something");
    }
}

#[test]
fn keys_are_found_in_any_toml() {
    let text = "a = 1\n[b]\nc = 2\n[[d]]\ne = 3\n[[d]]\ne = 4\n";
    let line = |path: &[Step]| locate(text, path);
    assert_eq!(line(&[]), Some(1));
    assert_eq!(line(&["b".into(), "c".into()]), Some(3));
    assert_eq!(line(&["b".into(), "absent".into()]), Some(2), "the table that it is missing from");
    assert_eq!(line(&["d".into(), 1.into(), "e".into()]), Some(7));
    assert_eq!(locate("a = ", &["a".into()]), None);
}

#[test]
fn the_hash_depends_on_the_meaning_only() {
    let text = format!("{PLAIN}start_jitter = \"2 s\"\n");
    let original = hash(&text);
    assert_eq!(original, "56a4b0d320d93efd1de6dae1bbffd8cf1843b6b586911b4aac98d65fb128ce5c");
    let same = [
        ("duration = \"100 s\"", "# a comment\nduration   =  '100000 ms'"),
        ("duration = \"100 s\"", "seed = 7\nduration = \"100 s\""),
        ("hops = 2", "spacing = \"0.2 km\"\nhops = 2"),
        ("[topology]", "[mac]\nqueue = 50\n[topology]"),
        ("[topology]", "[schemes.tcp-sack]\nflavour = \"rfc\"\n[topology]"),
        ("generator = \"chain\"\nhops = 2", "hops = 0x2\ngenerator = \"chain\""),
    ];
    for (from, to) in same {
        assert_eq!(hash(&text.replacen(from, to, 1)), original, "{to:?}");
    }
    let marking = text.replace("tcp-sack", "ecn-fsd");
    let with = |parameter: &str| {
        hash(&marking.replacen("[topology]", &format!("[schemes.ecn-fsd]\n{parameter}\n[topology]"), 1))
    };
    assert_eq!(with("threshold = \"0.03 s\""), hash(&marking), "the default, in another unit");
    assert_eq!(with("smoothing = 1"), hash(&marking), "the default, as a whole number");
    assert_ne!(with("threshold = \"31 ms\""), hash(&marking));
    let rewritten = toml::to_string_pretty(&toml::from_str::<toml::Table>(&text).unwrap()).unwrap();
    assert_eq!(hash(&rewritten), original, "written by another hand:\n{rewritten}");
    let different = [
        ("duration = \"100 s\"", "duration = \"100.000000001 s\""),
        ("duration = \"100 s\"", "warmup = \"1 s\"\nduration = \"100 s\""),
        ("hops = 2", "hops = 3"),
        ("start_jitter = \"2 s\"", "start_jitter = \"3 s\""),
        ("tcp-sack", "tcp-newreno"),
        ("[topology]", "[mac]\nqueue = 51\n[topology]"),
        ("[topology]", "[mac.override]\ncca_time = \"4 us\"\n[topology]"),
        ("[topology]", "[medium]\nmodel = \"ranges\"\nbit_error_rate = 1e-9\n[topology]"),
        ("[topology]", "[schemes.tcp-sack]\nwindow = 12\n[topology]"),
        ("[topology]", "[routing]\nmetric = \"etx\"\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"dsdv\"\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"dsr\"\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"dsr\"\nfailures = 3\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"aodv\"\n[topology]"),
        ("[topology]", "[routing]\nprotocol = \"aodv\"\nblind_to = [\"tcp-sack\"]\n[topology]"),
        ("[topology]", "[network]\nextra_header = \"1 B\"\n[topology]"),
        ("[topology]", "[phy]\ncontrol_rate = \"1 Mb/s\"\n[topology]"),
        ("[topology]", "[[measure]]\nestimator = \"fte\"\n[topology]"),
        ("[topology]", "[[measure]]\nestimator = \"fte\"\nat = [\"n1\"]\n[topology]"),
        ("[topology]", "[[measure]]\nestimator = \"rt-winf\"\n[topology]"),
        ("[topology]", "[[measure]]\nestimator = \"rt-winf\"\nwindow = \"2 s\"\n[topology]"),
    ];
    let mut seen = vec![original];
    for (from, to) in different {
        let other = hash(&text.replacen(from, to, 1));
        assert!(!seen.contains(&other), "{to:?}");
        seen.push(other);
    }
}

#[test]
fn ofdm_frames_may_have_no_symbols() {
    let airtime = |keys: &str| {
        let text = format!("{PLAIN}[phy]\nstandard = \"802.11a\"\n{keys}\n");
        let config = config(&text);
        config.phy.airtime(config.rates.data, 1080, Microseconds::Exact)
    };
    // With 16 and 6 more bits, 8662 bits in symbols of 216: 41 symbols.
    assert_eq!(airtime(""), Span::from_us(20 + 164));
    assert_eq!(airtime("ofdm_symbols = \"whole\""), Span::from_us(20 + 164));
    assert_eq!(airtime("ofdm_symbols = \"ns2\""), Span::from_us(20 + 160));
}

/// A scenario without a name has the name of its file. A copy with another file name is the same scenario.
#[test]
fn the_name_of_the_file_is_not_in_the_hash() {
    let of = |text: &str, file: &str| {
        let resolved = resolve(text, file, &Overrides::default()).unwrap();
        (resolved.config.name, resolved.hash)
    };
    let ((name, hash), (other, same)) = (of(PLAIN, "two-hops.toml"), of(PLAIN, "results/scenario.toml"));
    assert_eq!((name.as_str(), other.as_str()), ("two-hops", "scenario"));
    assert_eq!(hash, same);
    assert_ne!(hash, of(&format!("name = \"two-hops\"\n{PLAIN}"), "two-hops.toml").1);
}
