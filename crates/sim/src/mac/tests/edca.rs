//! Timelines with access categories.
//!
//! Airtimes in us, besides those of `script`: a packet of 1000 bytes with quality of service takes 947. An
//! AIFS is SIFS (10) and AIFSN slots of 20: 50 for video and voice, 70 for best effort, 150 for background.
//! Contention windows are 0 unless a test sets them.

use super::script::{A, B, C, Script, Signal, config};
use crate::config::Config;
use crate::outcome::CategoryOutcome;
use multihop_core::FrameKind::{Ack, Data};
use multihop_core::{DropCause, Dscp, Span};
use multihop_dot11::AccessCategory::{self, Background, BestEffort, Video, Voice};
use multihop_dot11::{DcfRules, EdcaParameters};

const DATA: u64 = 947;
const ACK: u64 = 304;
/// Airtime of DATA, SIFS and ACK.
pub const EXCHANGE: u64 = DATA + 10 + ACK;

/// A codepoint of a category.
pub fn marked(category: AccessCategory) -> Dscp {
    let number = match category {
        Background => 8,
        BestEffort => 0,
        Video => 34,
        Voice => 46,
    };
    Dscp::new(number).expect("six bits")
}

pub fn setup() -> Config {
    let mut setup = config(DcfRules::IEEE.with_quality_of_service(), None);
    let contends = |aifsn| EdcaParameters { aifsn, cw_min: 0, cw_max: 0, txop_limit: Span::ZERO };
    setup.mac.edca = Some([7, 3, 2, 2].map(contends));
    setup
}

/// Makes the medium busy from 100 us until the returned time.
pub fn busy(s: &mut Script) -> u64 {
    let broadcast = s.data(C, None, 1);
    s.hears(100, broadcast, Signal::Clear)
}

fn counters(s: &Script, category: AccessCategory) -> CategoryOutcome {
    s.record.category_outcomes(Span::from_ms(1))[category as usize]
}

#[test]
fn each_category_waits_for_its_own_aifs_10_22_2_4() {
    for (category, space) in [(Background, 150), (BestEffort, 70), (Video, 50), (Voice, 50)] {
        let mut s = Script::with(&setup());
        let end = busy(&mut s);
        s.queues_marked(end + 5, Some(B), marked(category));
        assert_eq!(s.runs_until(end + 500), [(end + space, Data, Some(B), 314)], "{category:?}");
    }
}

/// EIFS less DIFS is 314 us.
#[test]
fn eifs_grows_with_the_aifs() {
    for (category, space) in [(Background, 150), (BestEffort, 70), (Voice, 50)] {
        let mut s = Script::with(&setup());
        let corrupt = s.data(C, None, 1);
        let end = s.hears(100, corrupt, Signal::FcsError);
        s.queues_marked(end + 5, Some(B), marked(category));
        assert_eq!(s.runs_until(end + 1_000), [(end + 314 + space, Data, Some(B), 314)], "{category:?}");
    }
}

/// The boundary at the end of the inter-frame space counts, and so do those 20, 40 and 60 us later.
#[test]
fn slot_boundaries_count_until_the_medium_turns_busy() {
    let mut s = Script::with(&setup());
    let end = busy(&mut s);
    for category in [Background, BestEffort, Voice] {
        s.queues_marked(200, Some(B), marked(category));
        s.mac.function_of(category).backoff = Some(7);
    }
    let second = s.data(C, None, 2);
    let second_end = s.hears(end + 50 + 3 * 20 + 11, second, Signal::Clear);
    s.runs_until(second_end);
    let left = [Background, BestEffort, Voice].map(|category| s.mac.function_of(category).backoff);
    assert_eq!(left, [Some(7), Some(7 - 3), Some(7 - 4)], "the AIFS of background had not ended");
    assert_eq!(s.runs_until(second_end + 500), [(second_end + 50 + 3 * 20, Data, Some(B), 314)]);
}

#[test]
fn a_function_resumes_after_the_exchange_of_another() {
    let mut s = Script::with(&setup());
    let end = busy(&mut s);
    s.queues_marked(200, Some(B), marked(BestEffort));
    s.queues_marked(300, Some(C), marked(Voice));
    let ack = s.control(Ack, C, A, 0);
    let done = s.hears(end + 50 + DATA + 10, ack, Signal::Clear);
    let sent = [(end + 50, Data, Some(C), 314), (done + 70, Data, Some(B), 314)];
    assert_eq!(s.runs_until(done + 500), sent);
}

#[test]
fn at_an_internal_collision_the_highest_category_transmits_10_22_2_4() {
    let mut setup = setup();
    setup.mac.edca.as_mut().expect("the setup has access categories")[Video as usize].cw_max = 15;
    let mut s = Script::with(&setup);
    let end = busy(&mut s);
    s.queues_marked(200, Some(B), marked(Video));
    s.queues_marked(200, Some(C), marked(Voice));
    assert_eq!(s.runs_until(end + 51), [(end + 50, Data, Some(C), 314)]);
    let video = s.mac.function_of(Video);
    assert_eq!((video.cw, video.current.map(|out| (out.short_retries, out.data_tries))), (1, Some((1, 0))));
    let slots = u64::from(video.backoff.expect("drawn from the larger window"));
    let ack = s.control(Ack, C, A, 0);
    let done = s.hears(end + 50 + DATA + 10, ack, Signal::Clear);
    assert_eq!(s.runs_until(done + 500), [(done + 50 + 20 * slots, Data, Some(B), 314)]);
    assert_eq!((counters(&s, Video).internal_collisions, counters(&s, Voice).internal_collisions), (1, 0));
    let links = s.record.nodes[A.index()].links();
    assert_eq!(links.iter().map(|link| (link.to, link.data)).collect::<Vec<_>>(), [(C.0, 1)]);
}

#[test]
pub fn internal_collisions_count_for_the_retry_limit() {
    let mut setup = setup();
    setup.mac.short_retry_limit = Some(2);
    let mut s = Script::with(&setup);
    let mut end = busy(&mut s);
    s.queues_marked(200, Some(B), marked(Video));
    for _ in 0..3 {
        s.queues_marked(200.max(end - 5), Some(C), marked(Voice));
        let ack = s.control(Ack, C, A, 0);
        end = s.hears(end + 50 + DATA + 10, ack, Signal::Clear);
    }
    let sent = s.runs_until(end + 1_000);
    assert!(sent.iter().all(|(_, _, to, _)| *to == Some(C)), "{sent:?}");
    assert_eq!(counters(&s, Video).internal_collisions, 2);
    assert_eq!(counters(&s, Video).dropped[DropCause::RetryLimit as usize], 1);
    let to_b = s.record.nodes[A.index()]
        .links()
        .into_iter()
        .find(|link| link.to == B.0)
        .expect("the link has counters");
    assert_eq!((to_b.data, to_b.given_up), (0, 1), "the frame was never on the air");
}

#[test]
fn a_failure_doubles_the_window_of_one_category() {
    let mut setup = setup();
    setup
        .mac
        .edca
        .as_mut()
        .expect("the setup has access categories")
        .iter_mut()
        .for_each(|contends| contends.cw_max = 15);
    let mut s = Script::with(&setup);
    s.queues_marked(1_000, Some(B), marked(Voice));
    // The ACK is overdue.
    let failed = 1_000 + DATA + 222;
    assert_eq!(s.runs_until(failed), [(1_000, Data, Some(B), 314)]);
    let windows = AccessCategory::ALL.map(|category| s.mac.function_of(category).cw);
    assert_eq!(windows, [0, 0, 0, 1]);
    let slots = u64::from(s.mac.function_of(Voice).backoff.expect("a back-off precedes the retry"));
    assert_eq!(
        s.runs_until(failed + 200),
        [(failed + 50 + 20 * slots, Data, Some(B), 314)],
        "AIFS follows the timeout"
    );
}

/// Sequence numbers count separately for each traffic identifier.
#[test]
fn duplicates_are_detected_by_traffic_identifier_10_3_2_11() {
    let mut s = Script::with(&setup());
    let heard = [(Voice, 5, 1), (BestEffort, 5, 2), (BestEffort, 6, 3), (Voice, 5, 3)];
    for (place, (category, sequence, passed_on)) in heard.into_iter().enumerate() {
        let frame = s.marked_data(B, sequence, marked(category));
        let at = 1_000 + 5_000 * place as u64;
        s.hears(at, frame, Signal::Clear);
        assert_eq!(s.runs_until(at + 2_000).len(), 1, "each has an ACK");
        assert_eq!(s.stack.inbox(), passed_on, "{category:?} {sequence}");
    }
}
