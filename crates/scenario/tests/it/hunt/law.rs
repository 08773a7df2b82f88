//! Laws that hold for every run of every scenario.

use super::columns::out_of_range;
use multihop_core::Time;
use multihop_frames::{Memory, ROWS};
use multihop_sim::config::Config;
use multihop_sim::logs::{AirLog, FrameLog, Logs, Selection};
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World};
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

/// Result of a run that broke no law.
pub enum Kept {
    /// The run reached its end.
    Whole(Box<Outcome>),
    /// The run was stopped, because it has too many events.
    CutShort,
}

/// Number of checks of a run, 65,536 events apart, within which its clock must advance.
const LOOKS_AT_ONE_INSTANT: u32 = 3;
/// Number of checks after which a run is stopped.
const LOOKS_MAX: u32 = 12;

/// Reason why a run was stopped, if it breaks a law.
struct Stopped(Option<&'static str>);

/// One of this many scenarios is also run in steps, and with logs.
const LOGGED: u64 = 8;
/// Number of steps of a run in steps.
const STEPS: u64 = 7;

/// Runs a scenario three times, and for a share of scenarios also in steps and with logs. The error is the
/// broken law.
pub fn check(config: &Config) -> Result<Kept, String> {
    let Some(first) = run(config, Ties::InOrder)? else { return Ok(Kept::CutShort) };
    for (ties, what) in [(Ties::InOrder, "a second run"), (Ties::Reversed, "reversed ties")] {
        let again = run(config, ties)?;
        if again.as_ref() != Some(&first) {
            return Err(format!("another result with {what}"));
        }
    }
    if first.fingerprint.is_multiple_of(LOGGED) {
        for (run, what) in [(in_steps as fn(&Config) -> _, "steps"), (logged, "logs")] {
            let again = catch_unwind(AssertUnwindSafe(|| run(config)));
            match again.map_err(|panic| message(panic.as_ref())) {
                Err(panic) => return Err(format!("panic with {what}: {panic}")),
                Ok(again) if again.as_ref() != Some(&first) => {
                    return Err(format!("another result with {what}"));
                }
                Ok(_) => {}
            }
        }
    }
    match out_of_range(config, &first) {
        Some(column) => Err(format!("out of range: {column}")),
        None => Ok(Kept::Whole(Box::new(first))),
    }
}

/// The outcome; none for a stopped run. The engine asserts at the end of each run that packets are conserved
/// and no station is stuck.
fn run(config: &Config, ties: Ties) -> Result<Option<Outcome>, String> {
    let (mut looks, mut still, mut before) = (0, 0, Time::ZERO);
    let watch = |now: Time| {
        looks += 1;
        still = if now == before { still + 1 } else { 0 };
        before = now;
        if still >= LOOKS_AT_ONE_INSTANT {
            panic_any(Stopped(Some("time stands still")));
        }
        if looks >= LOOKS_MAX {
            panic_any(Stopped(None));
        }
    };
    let run = AssertUnwindSafe(|| World::new(config, ties).finish_watched(watch));
    match catch_unwind(run) {
        Ok(outcome) => Ok(Some(outcome)),
        Err(panic) => match panic.downcast_ref::<Stopped>() {
            Some(Stopped(None)) => Ok(None),
            Some(Stopped(Some(why))) => Err((*why).into()),
            None => Err(format!("panic: {}", message(panic.as_ref()))),
        },
    }
}

/// Outcome of a run that is advanced in steps, with its tables read after each.
fn in_steps(config: &Config) -> Option<Outcome> {
    let mut world = World::new(config, Ties::InOrder);
    for step in 1..=STEPS {
        world.advance(Time::from_ns(config.duration.ns() * step / STEPS));
        world.tables();
    }
    world.close().ok()
}

/// Outcome of a run that logs its frames, and the capture of each radio if the scenario can be captured.
fn logged(config: &Config) -> Option<Outcome> {
    let frames = FrameLog::new(config, Selection::default(), Box::new(Memory::new(ROWS, 0))).ok();
    let logs = Logs { air: AirLog::new(config, Box::new(io::sink())).ok(), frames };
    World::new(config, Ties::InOrder).finish_logged(logs, |_| ()).ok()
}

/// Message of a panic.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("of no text").into()
}
