//! The page on the reasons for a grade lists all of them.

use multihop_core::Span;
use multihop_measure::{Quality, TimerFault};

#[test]
fn each_reason_is_on_the_page() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/trust-measure.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut all = Quality {
        records: 9,
        unreadable: 3,
        cut: 1,
        damaged: 1,
        damaged_headers: 1,
        fcs_overruled: 2,
        unknown_airtime: 1,
        unknown_extension: 2,
        aggregates: 1,
        partial_aggregates: 1,
        numbered: 1,
        missed: 1,
        acks: 1,
        orphan_acks: 1,
        to_answer: 1,
        unanswered: 1,
        block_acks: 1,
        orphan_block_acks: 1,
        timed: 1,
        impossible: 1,
        stamp_pairs: 2,
        other_pairs: 1,
        outlier_frames: 1,
        replaced_stamps: 2,
        host_steps: 2,
        set_back: Span::from_ms(1),
        airtime: Span::from_ms(2),
        overlapping: Span::from_ms(1),
        copies: 2,
        other_records: 2,
        timer_fault: Some(TimerFault::Stopped),
        stalled: 2,
        timer_steps: 1,
        backward: 2,
        length: Span::from_ms(20_000),
        longest_silence: Span::from_ms(20_000),
        channel_changes: 2,
        stations_beyond: 2,
        broken: true,
        ..Quality::default()
    };
    let mut said = all.verdict().1;
    (all.records, all.length) = (0, Span::ZERO);
    said.extend(all.verdict().1);
    all.records = 9;
    said.extend(all.verdict().1);
    assert!(said.len() > 30, "{}", said.len());
    for sentence in said {
        // Longest part of the sentence without its numbers.
        let fixed = sentence
            .split(|letter: char| letter.is_ascii_digit())
            .map(|part| part.trim_matches(['.', '(', '%', ')', ' ']));
        let longest = fixed.max_by_key(|part| part.len()).unwrap_or_default();
        assert!(page.contains(longest), "the page has no row of {longest:?}");
    }
}
