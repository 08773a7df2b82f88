//! Journals: an emulation is recorded, and a replay gives the same run.

use crate::outside::{CHAIN, Fake, frame, packet, world};
use multihop_core::{DropCause, Ecn, Rng, Span, Time};
use multihop_live::journal::{self, JournalError, JournalWriter};
use multihop_live::{Emulation, Mode};
use multihop_sim::outcome::Outcome;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Output of a recorder, to be read again.
#[derive(Clone, Default)]
pub struct Shared(pub Arc<Mutex<Vec<u8>>>);

impl Shared {
    /// All but the first line of a journal.
    pub fn behind_first_line(&self) -> Vec<u8> {
        let written = self.0.lock().unwrap();
        let rest = written.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        written[rest..].to_vec()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run of random packets with a clock of random lateness; its result, and its journal without the first
/// line.
fn with_journal(seed: u64) -> (Outcome, Vec<u8>) {
    let mut rng = Rng::at(seed, &["recorded"]);
    let (fake, file) = (Fake::default(), Shared::default());
    fake.at().oversleep = Span::from_us(u64::from(rng.below(500)));
    let mut at = Span::ZERO;
    for i in 0..1_500 {
        at += Span::from_ns(u64::from(rng.below(2_000_000)));
        let (from, to) = (rng.below(3), rng.below(3));
        fake.send(at, from, packet(from, to, Ecn::Ect0, 4 + rng.below(1_400) as usize, i));
    }
    let recorder =
        JournalWriter::new(Box::new(file.clone()) as Box<dyn Write + Send>, "a line of its own").unwrap();
    let mut emulation = Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0).with_journal(recorder);
    // Some of them end in the middle.
    let turns = if seed.is_multiple_of(2) { u32::MAX } else { rng.below(9_000) + 1_000 };
    for _ in 0..turns {
        if !emulation.run_once().unwrap() {
            break;
        }
    }
    let (world, ..) = emulation.end().unwrap();
    (world.close().unwrap(), file.behind_first_line())
}

#[test]
fn a_journal_is_the_same_run_again() {
    for seed in 0..20 {
        let (outcome, written) = with_journal(seed);
        let mut again = world(CHAIN);
        let ending = journal::replay(&written[..], &mut again).unwrap().expect("it was ended");
        assert_eq!(ending.fingerprint, outcome.fingerprint);
        assert_eq!(again.close().unwrap(), outcome, "seed {seed}");
    }
}

/// A disk that is full after some bytes.
struct Full(Shared, usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.1.saturating_sub(self.0.0.lock().unwrap().len());
        match self.0.write(&bytes[..bytes.len().min(room)])? {
            0 => Err(io::ErrorKind::StorageFull.into()),
            written => Ok(written),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_journal_that_cannot_be_written_ends_and_the_emulation_goes_on() {
    let (fake, file) = (Fake::default(), Shared::default());
    for i in 0..100 {
        fake.send(Span::from_ms(10 * u64::from(i)), 0, packet(0, 1, Ecn::Ect0, 100, i));
    }
    let out = Box::new(Full(file.clone(), 1_000)) as Box<dyn Write + Send>;
    let recorder = JournalWriter::new(out, "first").unwrap();
    let mut emulation = Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0).with_journal(recorder);
    while emulation.run_once().unwrap() {}
    assert_eq!(emulation.counters().delivered, 100);
    assert_eq!(emulation.end_journal().unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(emulation.end().unwrap().0.close().unwrap().conservation.delivered, 100);
    let mut again = world(CHAIN);
    assert_eq!(
        journal::replay(&file.behind_first_line()[..], &mut again).unwrap(),
        None,
        "what it has is whole"
    );
    assert!(again.now() > Time::ZERO);
}

/// Without propagation delay, a broadcast starts at the instant of its injection: an emulation that ends then
/// includes its start.
#[test]
fn an_emulation_ends_with_all_that_its_last_packet_makes_due() {
    let text = CHAIN.to_owned() + "[medium]\nmodel = \"ranges\"\npropagation_delay = \"0 s\"\n";
    let (fake, file) = (Fake::default(), Shared::default());
    fake.send(Span::from_ms(100), 0, frame(0, None, 64, 1));
    let recorder = JournalWriter::new(Box::new(file.clone()) as Box<dyn Write + Send>, "first").unwrap();
    let mut emulation = Emulation::new(world(&text), fake.clone(), fake.clone(), 1.0)
        .with_mode(Mode::Ethernet)
        .with_journal(recorder);
    while emulation.counters().read == 0 {
        emulation.run_once().unwrap();
    }
    let fingerprint = emulation.end().unwrap().0.close().unwrap().fingerprint;
    let written = file.0.lock().unwrap().clone();
    let mut again = world(&text);
    let ending = journal::replay(&written["first\n".len()..], &mut again).unwrap().unwrap();
    assert_eq!((ending.fingerprint, again.fingerprint()), (fingerprint, fingerprint));
}

#[test]
fn a_journal_that_was_cut_is_the_run_until_then() {
    let (_, written) = with_journal(0);
    let mut rng = Rng::at(1, &["cut"]);
    for _ in 0..20 {
        let cut = &written[..rng.below(written.len() as u32) as usize];
        let mut again = world(CHAIN);
        assert_eq!(journal::replay(cut, &mut again).unwrap(), None);
        let injections = cut.split(|byte| *byte == b'\n').count() as u64 - 1;
        assert_eq!(again.close().unwrap().conservation.sent, injections);
    }
}

#[test]
fn what_is_wrong_with_a_journal_is_said() {
    let wrong = |text: &str| match journal::replay(text.as_bytes(), &mut world(CHAIN)).unwrap_err() {
        JournalError::Line { line, needs, .. } => (line, needs),
        JournalError::Io(error) => panic!("{error}"),
    };
    let good = "1000 0 100 28 2 7 45 00000000000000ff\n";
    assert_eq!(wrong(&format!("{good}nonsense\n")).0, 3);
    for line in [
        "1000 0 100 28 4 7 45 ff\n",
        "1000 0 100 28 2 7 4g ff\n",
        "1000 0 100 28 2 7 ff\n",
        "1000 0 70000 28 2 7 45 ff\n",
        "1000 0 100 28 2 7\n",
        "-1 0 1 28 2 7 45 ff\n",
    ] {
        assert_eq!(
            wrong(line),
            (
                2,
                "nanoseconds, flow, payload, header, ECN, stream, a congestion header if any, headers, and a hash"
            ),
            "{line}"
        );
    }
    assert_eq!(wrong("1000 6 100 28 2 7 45 ff\n").1, "a flow that takes packets from outside");
    let backwards = "non-decreasing times before the end of the run";
    assert_eq!(wrong(&format!("{good}999 0 100 28 2 7 45 ff\n")), (3, backwards));
    assert_eq!(wrong("2000000001 0 100 28 2 7 45 ff\n").1, backwards);
    assert_eq!(wrong(&format!("{good}end 999 0\n")).1, "`end`, nanoseconds and a fingerprint");
}

#[test]
fn a_journal_of_frames_is_the_same_run_again() {
    let (fake, file) = (Fake::default(), Shared::default());
    let mut rng = Rng::at(1, &["frames"]);
    let mut at = Span::ZERO;
    for i in 0..2_000 {
        at += Span::from_us(u64::from(rng.below(1_500)));
        let to = Some(rng.below(4)).filter(|to| *to < 3);
        fake.send(at, i % 3, frame(i % 3, to, 64 + rng.below(1_000) as usize, i));
    }
    let recorder = JournalWriter::new(Box::new(file.clone()) as Box<dyn Write + Send>, "first").unwrap();
    let mut emulation = Emulation::new(world(CHAIN), fake.clone(), fake.clone(), 1.0)
        .with_mode(Mode::Ethernet)
        .with_journal(recorder);
    while emulation.run_once().unwrap() {}
    let counters = emulation.counters();
    assert!(counters.is_balanced() && counters.lost[DropCause::QueueFull as usize] > 10, "{counters:?}");
    let outcome = emulation.end().unwrap().0.close().unwrap();
    let written = file.0.lock().unwrap().clone();
    let mut again = world(CHAIN);
    let ending = journal::replay(&written["first\n".len()..], &mut again).unwrap().unwrap();
    assert_eq!((ending.fingerprint, again.close().unwrap()), (outcome.fingerprint, outcome));
}
