//! Frame logs agree with the tables of a run and change nothing in it.

use crate::common::{chain, network, saturate, saturated_cell};
use crate::mac::aggregation::high_throughput;
use multihop_core::{DropCause, FlowId, NodeId, Span, Time};
use multihop_dot11::DcfRules;
use multihop_frames::layout::ENUMERATIONS;
use multihop_frames::{Head, Log, Memory, Sink, Table, Tables};
use multihop_sim::config::{Config, MediumModel};
use multihop_sim::logs::{FrameLog, LogError, Selection};
use multihop_sim::mobility::Outage;
use multihop_sim::outcome::{LossCause, Outcome};
use multihop_sim::{run, run_logged};
use std::io;

/// Runs a configuration with a frame log of a selection.
fn logged_of(config: &Config, selection: Selection) -> (Outcome, Log) {
    let memory = Memory::default();
    let log = FrameLog::new(config, selection, Box::new(memory.clone())).unwrap();
    let outcome = run_logged(config, log, |_| ()).unwrap();
    let log = memory.log().clone();
    (outcome, log)
}

/// Runs a configuration without warm-up, with causes and a frame log. Asserts that the run equals one without
/// a log.
fn logged(mut config: Config) -> (Outcome, Log) {
    config.recording.warmup = Span::ZERO;
    config.recording.causes = true;
    let (outcome, log) = logged_of(&config, Selection::default());
    assert_eq!(run(&config), outcome);
    config.recording.causes = false;
    assert_eq!(run(&config).fingerprint, outcome.fingerprint);
    (outcome, log)
}

fn column(log: &Log, table: Table, name: &str) -> Vec<i64> {
    log.tables.column(table, name).iter().collect()
}

/// Returns a column of the table of transmissions.
fn sent(log: &Log, name: &str) -> Vec<i64> {
    column(log, Table::Transmissions, name)
}

/// Asserts that the airtimes in a log add up to the table of nodes to the nanosecond, and that collisions and
/// other losses are those that the run counted.
fn check(outcome: &Outcome, log: &Log) {
    let (from, to, kind) = (sent(log, "from"), sent(log, "to"), sent(log, "kind"));
    let airtime = sent(log, "airtime");
    for (index, node) in outcome.nodes.iter().enumerate() {
        let sent = from.iter().zip(&airtime).filter(|(from, _)| **from == index as i64);
        let sum: i64 = sent.map(|(_, airtime)| *airtime).sum();
        assert_eq!(sum, (node.transmitting * outcome.measured_s * 1e9).round() as i64, "node {index}");
    }
    let outcomes = sent(log, "outcome");
    let count = |row: &multihop_sim::outcome::LossOutcome, cause: LossCause| {
        (0..outcomes.len())
            .filter(|at| (from[*at], to[*at], kind[*at]) == (row.from.into(), row.to.into(), row.kind as i64))
            .filter(|at| outcomes[*at] == 2 + cause as i64)
            .count() as u64
    };
    let physical = &LossCause::ALL[..5];
    for row in &outcome.causes.losses {
        for cause in physical {
            assert_eq!(count(row, *cause), row.lost[*cause as usize], "{cause:?} of {row:?}");
        }
    }
    let counted: u64 = outcome
        .causes
        .losses
        .iter()
        .flat_map(|row| physical.iter().map(|cause| row.lost[*cause as usize]))
        .sum();
    assert_eq!(outcomes.iter().filter(|outcome| (2..7).contains(*outcome)).count() as u64, counted);
    let interferers = sent(log, "collided");
    for hit in &outcome.causes.collisions {
        let found = (0..interferers.len()).filter(|at| {
            (from[*at], to[*at], interferers[*at])
                == (hit.sender.into(), hit.receiver.into(), hit.interferer.into())
        });
        assert!(found.count() as u64 >= hit.lost, "{hit:?}");
    }
    let dropped: u64 = outcome.conservation.dropped.iter().sum();
    assert_eq!(column(log, Table::Drops, "time").len() as u64, dropped);
}

/// Returns a chain with one flow from end to end.
fn relayed(rules: DcfRules, hops: usize) -> Config {
    let mut config = chain(rules, hops);
    saturate(&mut config, 0, hops);
    config
}

fn seconds(mut config: Config, seconds: u64) -> Config {
    config.duration = Span::from_ms(1_000 * seconds);
    config
}

#[test]
fn hidden_terminals_collide_in_the_log_as_in_the_tables() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [200.0, 0.0], [600.0, 0.0], [800.0, 0.0]]);
    saturate(&mut config, 0, 1);
    saturate(&mut config, 2, 3);
    let (outcome, log) = logged(seconds(config, 4));
    check(&outcome, &log);
    let overlap = sent(&log, "overlap");
    assert!(overlap.contains(&1), "some collisions are with hidden senders");
}

/// Makes propagation delays depend on distance, and multiplies distances and ranges by a factor.
fn by_distance(mut config: Config, factor: f64) -> Config {
    config.medium.propagation_delay = Span::ZERO;
    config.medium.delays_by_distance = true;
    for node in &mut config.topology.nodes {
        node.position = node.position.map(|place| place.map(|metres| metres * factor));
    }
    if let MediumModel::Ranges { receive_range, carrier_sense_range, .. } = &mut config.medium.model {
        *receive_range *= factor;
        *carrier_sense_range *= factor;
    }
    config
}

/// Losses are those counted, and the log contains NAVs and packets of aggregates, if delays depend on
/// distance.
#[test]
fn logs_agree_with_tables_where_delays_depend_on_distance() {
    let mut hidden = network(DcfRules::IEEE, &[[0.0, 0.0], [200.0, 0.0], [600.0, 0.0], [800.0, 0.0]]);
    saturate(&mut hidden, 0, 1);
    saturate(&mut hidden, 2, 3);
    let mut with_rts = hidden.clone();
    with_rts.mac.rts_threshold = Some(0);
    let mut aggregates = high_throughput(&[[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]]);
    for (from, to) in [(0, 1), (2, 0)] {
        saturate(&mut aggregates, from, to);
    }
    let configs =
        [hidden, with_rts, relayed(DcfRules::IEEE, 3), saturated_cell(DcfRules::IEEE, 6), aggregates];
    let mut collisions = 0;
    for (index, config) in configs.into_iter().enumerate() {
        let has_aggregates = config.mac.block_ack.aggregation.is_some();
        let (_, fixed) = logged(seconds(config.clone(), 3));
        let set_navs = |log: &Log| sent(log, "reserves").iter().any(|set| *set > 0);
        for factor in [1.0, 5.0] {
            let (outcome, log) = logged(by_distance(seconds(config.clone(), 3), factor));
            check(&outcome, &log);
            collisions += outcome.causes.collisions.iter().map(|row| row.lost).sum::<u64>();
            let (nav, sets) = (sent(&log, "nav"), column(&log, Table::Reservations, "set"));
            let reserves = sent(&log, "reserves");
            assert_eq!(set_navs(&log), set_navs(&fixed), "{index}");
            let navs = column(&log, Table::Reservations, "nav");
            for at in (0..nav.len()).filter(|at| reserves[*at] > 0).take(100) {
                let row = sets.iter().position(|set| *set == reserves[at]).unwrap();
                assert_eq!(navs[row], nav[at], "{index}");
            }
            let arrived =
                column(&log, Table::Mpdus, "outcome").iter().filter(|outcome| **outcome == 0).count();
            assert_eq!(arrived > 1_000, has_aggregates, "{index}: {arrived}");
            let unknown = sent(&log, "outcome").iter().filter(|outcome| **outcome == 7).count();
            assert!(unknown <= 1, "{index}: only a frame that propagates when the run ends");
        }
    }
    assert!(collisions > 1_000, "{collisions}");
}

/// The table of nodes counts the airtime after the warm-up, also of a frame that began in the warm-up.
#[test]
fn airtimes_add_up_after_any_warm_up() {
    let mut config = seconds(saturated_cell(DcfRules::IEEE, 4), 2);
    config.medium.propagation_delay = Span::from_us(3);
    for warmup_us in (300_000..310_000).step_by(97) {
        config.recording.warmup = Span::from_us(warmup_us);
        let (outcome, log) = logged_of(&config, Selection::default());
        let warmup = config.recording.warmup.ns() as i64;
        let (from, airtime) = (sent(&log, "from"), sent(&log, "airtime"));
        let starts = sent(&log, "start");
        for (index, node) in outcome.nodes.iter().enumerate() {
            let own = (0..starts.len()).filter(|at| from[*at] == index as i64);
            let after = own.map(|at| (starts[at] + airtime[at] - starts[at].max(warmup)).max(0));
            let counted = (node.transmitting * outcome.measured_s * 1e9).round() as i64;
            assert_eq!(after.sum::<i64>(), counted, "node {index} after {warmup_us} us");
        }
    }
}

#[test]
fn packets_of_aggregates_are_in_the_log() {
    let mut config = high_throughput(&[[0.0, 0.0], [100.0, 0.0]]);
    saturate(&mut config, 0, 1);
    let (outcome, log) = logged(seconds(config, 2));
    check(&outcome, &log);
    let arrived = column(&log, Table::Mpdus, "outcome").iter().filter(|outcome| **outcome == 0).count();
    assert!(arrived > 1_000, "{arrived}");
    let aggregates = sent(&log, "kind").iter().filter(|kind| **kind == 2).count();
    assert!(column(&log, Table::Mpdus, "start").len() > 2 * aggregates);
    let starts = sent(&log, "start");
    assert!(column(&log, Table::Mpdus, "start").iter().all(|start| starts.binary_search(start).is_ok()));
}

#[test]
fn a_selection_of_flows_contains_their_frames_and_the_responses() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [100.0, 0.0], [0.0, 100.0], [100.0, 100.0]]);
    saturate(&mut config, 0, 1);
    saturate(&mut config, 2, 3);
    let config = seconds(config, 2);
    let (_, whole) = logged_of(&config, Selection::default());
    let (_, part) = logged_of(&config, Selection { flows: vec![FlowId(1)], ..Selection::default() });
    let (from, to) = (sent(&whole, "from"), sent(&whole, "to"));
    let wanted: Vec<i64> = (0..from.len())
        .filter(|at| [[2, 3], [3, 2]].contains(&[from[*at], to[*at]]))
        .map(|at| sent(&whole, "start")[at])
        .collect();
    assert!(wanted.len() > 100 && wanted.len() < from.len());
    assert_eq!(sent(&part, "start"), wanted);
    assert!(sent(&part, "kind").contains(&3), "the responses are selected");
    assert!(part.head.contains("\"only_flows\":[1]") && whole.head.contains("\"only_flows\":[]"));
}

#[test]
fn radios_in_an_outage_send_nothing_and_lose_all_frames() {
    let mut config = relayed(DcfRules::IEEE, 2);
    let outage = Outage { node: NodeId(1), from: Span::from_ms(1_000), to: Span::from_ms(2_000) };
    config.mobility.outages.push(outage);
    let (outcome, log) = logged(seconds(config, 4));
    check(&outcome, &log);
    let off = column(&log, Table::Places, "off");
    assert!(off.contains(&1) && off.contains(&0));
}

#[test]
fn a_selection_is_a_subset_of_the_whole_log() {
    let config = seconds(relayed(DcfRules::IEEE, 3), 4);
    let (_, whole) = logged_of(&config, Selection::default());
    let between = [Time::from_ns(1_000_000_000), Time::from_ns(2_000_000_000)];
    let nodes = vec![NodeId(3)];
    let (_, part) = logged_of(&config, Selection { nodes, between: Some(between), ..Selection::default() });
    let (from, to) = (sent(&whole, "from"), sent(&whole, "to"));
    let starts: Vec<i64> = sent(&whole, "start")
        .iter()
        .zip(from.iter().zip(&to))
        .filter(|(start, (from, to))| {
            (1_000_000_000..=2_000_000_000).contains(*start) && (**from == 3 || **to == 3)
        })
        .map(|(start, _)| *start)
        .collect();
    assert!(!starts.is_empty());
    assert_eq!(sent(&part, "start"), starts);
}

/// RTS and CTS of a hop set the NAV of their listeners until the end of the ACK.
#[test]
fn a_nav_lasts_as_long_as_the_duration_field_says() {
    let (_, log) = logged(seconds(relayed(DcfRules::IEEE, 3), 2));
    let nav = sent(&log, "nav");
    let sets = column(&log, Table::Reservations, "set");
    let (navs, nodes) = (column(&log, Table::Reservations, "nav"), column(&log, Table::Reservations, "node"));
    let (reserves, from) = (sent(&log, "reserves"), sent(&log, "from"));
    let mut checked = 0;
    for (index, set) in reserves.iter().enumerate().filter(|(_, set)| **set > 0) {
        for at in (0..sets.len()).filter(|at| sets[*at] == *set) {
            assert_eq!(navs[at], nav[index]);
            assert_ne!(nodes[at], from[index]);
            checked += 1;
        }
        if checked > 200 {
            return;
        }
    }
    panic!("only {checked} NAVs are in the log");
}

/// Constructor of a log that the thread of the run or a separate thread writes.
type New = fn(&Config, Selection, Box<dyn Sink>) -> io::Result<FrameLog>;

#[test]
fn a_log_that_is_written_on_a_thread_has_the_same_rows() {
    let mut config = network(DcfRules::IEEE, &[[0.0, 0.0], [200.0, 0.0], [600.0, 0.0], [800.0, 0.0]]);
    config.mac.rts_threshold = Some(0);
    saturate(&mut config, 0, 1);
    saturate(&mut config, 2, 3);
    let config = by_distance(seconds(config, 30), 1.0);
    let [inline, on_a_thread] = [FrameLog::new as New, FrameLog::on_a_thread].map(|new| {
        let memory = Memory::default();
        let log = new(&config, Selection::default(), Box::new(memory.clone())).unwrap();
        let outcome = run_logged(&config, log, |_| ()).unwrap();
        let log = memory.log().clone();
        (outcome.fingerprint, log)
    });
    let transmissions = inline.1.tables.rows(Table::Transmissions);
    assert!(transmissions > 5_000, "{transmissions} transmissions fill no batch");
    assert_eq!(inline.0, on_a_thread.0);
    assert_eq!(inline.1.tables, on_a_thread.1.tables);
    assert!(inline.1.cut_short.is_none() && on_a_thread.1.cut_short.is_none());
}

/// Sink with space for a number of small batches.
struct Full(usize);

impl Sink for Full {
    fn begin(&mut self, _: &Head) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, _: &Tables) -> io::Result<()> {
        let remaining = self.0.checked_sub(1);
        self.0 = remaining.ok_or(io::ErrorKind::StorageFull)?;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn batch(&self) -> usize {
        100
    }
}

/// The run ends early.
#[test]
fn a_full_disk_ends_a_run_with_a_frame_log() {
    let mut config = chain(DcfRules::IEEE, 1);
    saturate(&mut config, 0, 1);
    let logs = [FrameLog::new as New, FrameLog::on_a_thread];
    for (new, room, length) in logs.into_iter().flat_map(|new| [(new, 0, 3), (new, 20, 1_000_000)]) {
        let config = seconds(config.clone(), length);
        let log = new(&config, Selection::default(), Box::new(Full(room))).unwrap();
        let failed = run_logged(&config, log, |_| ());
        assert!(
            matches!(&failed, Err(LogError::Io(error)) if error.kind() == io::ErrorKind::StorageFull),
            "room for {room} batches: {failed:?}"
        );
    }
}

/// The format lists the causes of drops separately; the codes of drops are indices of this list.
#[test]
fn the_format_names_every_cause_of_a_drop() {
    let (_, named) = ENUMERATIONS.iter().find(|(unit, _)| *unit == "cause").unwrap();
    let causes = DropCause::ALL.map(|cause| cause.name().replace('_', "-"));
    assert_eq!(named[..], causes);
}
