//! The transition table of the MAC: each transition is taken by a timeline, and a page shows the table.
//!
//! A change of phase that the table does not list is a panic in every test that runs a scenario.

use super::{aggregates, edca, ns2, protection, reactions, standard, txop};
use crate::mac::phase::{MacEvent, Phase};
use std::cell::RefCell;
use std::fmt::Write;

const PHASES: [Phase; 12] = {
    use Phase::{
        AckDue, AwaitingAck, AwaitingCts, AwaitingData, BlockAckDue, Broadcasting, CfEndDue, Contending,
        CtsDue, DataDue, NextFrameDue, SendingControl,
    };
    [
        Contending,
        AwaitingCts,
        DataDue,
        AwaitingAck,
        Broadcasting,
        NextFrameDue,
        CfEndDue,
        CtsDue,
        AwaitingData,
        AckDue,
        BlockAckDue,
        SendingControl,
    ]
};

const EVENTS: [MacEvent; 20] = {
    use MacEvent::{
        AckSent, AggregateReceived, AttemptFailed, BlockAckSent, BroadcastSent, CfEndSent, CtsReceived,
        CtsSent, CtsToSelfSent, DataOverdue, DataReceived, DataSent, ExchangeEnded, RequestReceived,
        RtsReceived, RtsSent, TransmissionEnded, TxopContinued, TxopReturned, Withheld,
    };
    [
        RtsSent,
        CtsToSelfSent,
        DataSent,
        BroadcastSent,
        CtsReceived,
        AttemptFailed,
        Withheld,
        ExchangeEnded,
        TxopContinued,
        TxopReturned,
        CfEndSent,
        RtsReceived,
        CtsSent,
        DataReceived,
        AggregateReceived,
        RequestReceived,
        DataOverdue,
        AckSent,
        BlockAckSent,
        TransmissionEnded,
    ]
};

type Transition = (Phase, MacEvent);

/// Names of tests of this folder, and the tests.
macro_rules! timelines {
    ($($module:ident :: $test:ident,)*) => {
        &[$((concat!(stringify!($module), "::", stringify!($test)), $module::$test)),*]
    };
}

/// Timelines that together take each transition.
const TIMELINES: &[(&str, fn())] = timelines![
    standard::rts_cts_data_ack_9_3_2_6,
    standard::an_idle_medium_is_accessed_at_once_9_3_4_2,
    standard::a_broadcast_is_sent_once_without_rts_or_ack_9_3_6,
    standard::an_unanswered_rts_is_sent_seven_times_9_3_4_4,
    standard::without_rts_data_is_sent_seven_times_9_3_4_4,
    standard::an_rts_is_answered_after_sifs_9_3_2_6,
    standard::an_ack_ignores_the_nav_9_3_2_8,
    protection::a_cts_to_self_reserves_data_and_ack_9_3_2_11,
    protection::an_ofdm_broadcast_has_a_cts_to_self_9_3_2_11,
    ns2::data_is_withheld_when_the_medium_is_busy_after_the_cts,
    ns2::a_cts_is_withheld_when_the_medium_is_busy_after_the_rts,
    ns2::data_after_own_cts_is_acknowledged,
    ns2::an_aggregate_or_a_request_after_own_cts_is_acknowledged,
    reactions::under_ns2_a_station_waits_for_data_after_its_cts,
    aggregates::a_recipient_passes_mpdus_on_in_order,
    aggregates::a_request_moves_the_recipient_past_a_gap,
    edca::internal_collisions_count_for_the_retry_limit,
    txop::exchanges_of_a_txop_follow_after_sifs_while_they_fit,
    txop::multiple_protection_reserves_the_txop_and_a_cf_end_returns_the_rest,
    txop::each_exchange_of_a_txop_has_an_rts,
    txop::each_exchange_of_a_txop_has_a_cts_to_self,
    txop::broadcasts_share_a_txop,
];

thread_local! {
    static TAKEN: RefCell<Vec<Transition>> = const { RefCell::new(Vec::new()) };
}

/// Notes a transition that the table lists, or not.
pub fn note(phase: Phase, event: MacEvent) {
    TAKEN.with_borrow_mut(|taken| taken.push((phase, event)));
}

/// Transitions that a timeline takes, in order.
fn taken_by(timeline: fn()) -> Vec<Transition> {
    TAKEN.take();
    timeline();
    TAKEN.take()
}

/// Transitions of the table, by phase and event.
fn listed() -> Vec<Transition> {
    let all = PHASES.iter().flat_map(|phase| EVENTS.map(|event| (*phase, event)));
    all.filter(|(phase, event)| event.transition().0.contains(phase)).collect()
}

/// Names and doc comments of the variants of an enum of `phase.rs`.
fn variants(of: &str) -> Vec<(&'static str, String)> {
    let source = include_str!("../phase.rs");
    let (_, body) = source.split_once(&format!("enum {of} {{\n")).expect("the enum is in the file");
    let (body, _) = body.split_once("\n}").expect("the enum ends");
    let mut described = Vec::new();
    let mut meaning = Vec::new();
    for line in body.lines().map(str::trim) {
        match line.strip_prefix("/// ") {
            Some(text) => meaning.push(text),
            None => described.push((line.trim_end_matches(','), std::mem::take(&mut meaning).join(" "))),
        }
    }
    described
}

#[test]
fn the_lists_of_phases_and_events_are_complete() {
    let names = |of| variants(of).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(PHASES.map(|phase| format!("{phase:?}"))[..], names("Phase"));
    assert_eq!(EVENTS.map(|event| format!("{event:?}"))[..], names("MacEvent"));
}

#[test]
fn each_transition_is_taken_by_a_timeline_and_no_other_is() {
    let taken: Vec<Transition> = TIMELINES.iter().flat_map(|(_, timeline)| taken_by(*timeline)).collect();
    let listed = listed();
    let missing: Vec<_> = listed.iter().filter(|transition| !taken.contains(transition)).collect();
    assert!(missing.is_empty(), "no timeline takes {missing:?}");
    let unlisted: Vec<_> = taken.iter().filter(|transition| !listed.contains(transition)).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
}

#[test]
#[should_panic(expected = "CtsReceived cannot occur in phase Broadcasting")]
fn an_event_that_cannot_occur_in_a_phase_is_a_panic() {
    let mut phase = Phase::Broadcasting;
    phase.change(MacEvent::CtsReceived);
}

/// From each phase events lead back to contention, so that no station is caught in a phase.
#[test]
fn each_phase_leads_back_to_contention() {
    for phase in PHASES {
        let mut reached = vec![phase];
        let mut place = 0;
        while let Some(from) = reached.get(place).copied() {
            let transitions = EVENTS.iter().map(|event| event.transition());
            let next = transitions.filter(|(phases, _)| phases.contains(&from)).map(|(_, next)| next);
            reached.extend(next.filter(|next| !reached.contains(next)).collect::<Vec<_>>());
            place += 1;
        }
        assert!(reached.contains(&Phase::Contending), "{phase:?} reaches {reached:?}");
    }
}

const INTRODUCTION: &str = "\
# States of the MAC

The MAC of a station is a state machine of 12 phases. Each station contends for the medium, exchanges its own
frame, or responds to a frame of another station. It does one of these at a time, so that one timer serves
all phases.

Read this page before the code. Its tables are those of `crates/sim/src/mac/phase.rs`. Every change of phase
goes through `MacEvent::transition`. In a test, an event that the table does not list for a phase is a panic.
A test writes this page from the code, and fails if the page differs.

| file in `crates/sim/src/mac` | events that it raises |
|---|---|
| `originator.rs`, `aggregation/exchange.rs` | exchange of the station's own frame |
| `txop.rs` | several exchanges in one transmission opportunity (TXOP) |
| `recipient.rs`, `aggregation/reception.rs` | responses to frames of other stations |
| `contention.rs`, `edca.rs` | none: they decide in `Contending` when the exchange begins |
";

/// Timelines whose sequence of phases the page shows, with the heading of each.
const EXAMPLES: [(&str, fn()); 4] = [
    ("Exchange with RTS and CTS", standard::rts_cts_data_ack_9_3_2_6),
    ("Response to RTS and DATA, under the rules of ns-2", ns2::data_after_own_cts_is_acknowledged),
    ("Response to an A-MPDU, then to a single MPDU", aggregates::a_recipient_passes_mpdus_on_in_order),
    ("Two RTS exchanges in one TXOP", txop::each_exchange_of_a_txop_has_an_rts),
];

/// The page that shows the transition table.
fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    page += "\n## Phases\n\n| phase | the station | timer |\n|---|---|---|\n";
    for (name, meaning) in variants("Phase") {
        let without = meaning.strip_suffix(" No timer.").map(|meaning| (meaning, "none."));
        let described = without.or_else(|| meaning.split_once(" Timer: "));
        let (meaning, timer) = described.expect("the comment of each phase names its timer");
        writeln!(page, "| `{name}` | {meaning} | {} |", timer.trim_end_matches('.')).unwrap();
    }
    page += "\n## Events\n\n| event | meaning |\n|---|---|\n";
    for (name, meaning) in variants("MacEvent") {
        writeln!(page, "| `{name}` | {meaning} |").unwrap();
    }
    page += "\n## Transitions\n\nEach row names a test of `crates/sim/src/mac/tests` that takes the transition.\n";
    page += "\n| phase | event | next phase | timeline |\n|---|---|---|---|\n";
    let taken: Vec<_> = TIMELINES.iter().map(|(name, timeline)| (name, taken_by(*timeline))).collect();
    for (phase, event) in listed() {
        let (_, next) = event.transition();
        let found = taken.iter().find(|(_, taken)| taken.contains(&(phase, event)));
        let (timeline, _) = found.expect("a timeline takes the transition");
        writeln!(page, "| `{phase:?}` | `{event:?}` | `{next:?}` | `{timeline}` |").unwrap();
    }
    page += "\n## Examples\n\nEach column of phases begins in `Contending`.\n";
    for (heading, timeline) in EXAMPLES {
        write!(page, "\n**{heading}**\n\n```text\n").unwrap();
        for (_, event) in taken_by(timeline) {
            let (_, next) = event.transition();
            writeln!(page, "{:<20} {next:?}", format!("{event:?}")).unwrap();
        }
        page += "```\n";
    }
    page
}

/// `WRITE_PAGES=1 cargo test -p multihop-sim phases` writes the page anew.
#[test]
fn the_page_shows_the_transition_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explanation/mac-states.md");
    let page = page();
    if std::env::var_os("WRITE_PAGES").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "{path} differs from the code; WRITE_PAGES=1 writes it anew:\n{page}");
}
