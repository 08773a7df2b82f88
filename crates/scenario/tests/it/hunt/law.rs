//! What must hold of every run, whatever the scenario.

use super::columns::out_of_range;
use multihop_core::Time;
use multihop_sim::config::Config;
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

/// A run that broke no law.
pub enum Kept {
    /// It came to its end.
    Whole(Box<Outcome>),
    /// It was stopped: too much happens in it.
    CutShort,
}

/// Looks at a run between which its clock must have moved: each is after 65,536 events.
const LOOKS_AT_ONE_INSTANT: u32 = 3;
/// Looks after which a run is stopped.
const LOOKS_MAX: u32 = 12;

/// A run that was stopped, and why if that is against the law.
struct Stopped(Option<&'static str>);

/// Runs it three times, and says which law it broke.
pub fn check(config: &Config) -> Result<Kept, String> {
    let Some(first) = run(config, Ties::InOrder)? else { return Ok(Kept::CutShort) };
    for (ties, what) in [(Ties::InOrder, "a second run"), (Ties::Reversed, "reversed ties")] {
        let again = run(config, ties)?;
        if again.as_ref() != Some(&first) {
            return Err(format!("another result with {what}"));
        }
    }
    match out_of_range(config, &first) {
        Some(column) => Err(format!("out of range: {column}")),
        None => Ok(Kept::Whole(Box::new(first))),
    }
}

/// The outcome; none of a run that was stopped. That packets are conserved and no station is stuck is
/// asserted at the end of each.
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

/// What a panic said.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("of no text").into()
}
