//! States of senders: seen when a frame of theirs begins, and not too often.

use super::instants::{After, Cause, Streams};
use super::runs::Run;
use crate::coding::{of_thousands, thousands, unzigzag, zigzag};
use crate::layout::BETWEEN_WINDOWS_NS;
use crate::streams::{Coder, Stream};

/// A row but for its flow: time, window, RTT, timeouts.
pub type Row = [i64; 4];

const STREAMS: Streams = Streams {
    packet: Stream::Windows,
    choice: Stream::WindowChoices,
    step: Stream::WindowSteps,
    said: Stream::WindowSaid,
    count: Stream::Windows,
};

/// The RTT is as in the row before.
const SAME: u64 = 0;
/// From here on, it is from an instant at which the flow sent until one of the latest such instants: so many
/// are looked at, and so many before each.
const SINCE: u64 = 1;
const ENDS: u64 = 4;
const BEGINNINGS: u64 = 16;
const SAID: u64 = SINCE + ENDS * BEGINNINGS;

/// Codes the rows of a flow, the source of which sent frames and packets at these instants. None if they
/// cannot be.
pub fn code<C: Coder>(c: &mut C, rows: &mut [Row], frames: &[Cause], packets: &[Run]) -> Option<()> {
    let mut after = After::default();
    let mut before: Row = [0; 4];
    let mut due = 0_i64;
    for row in rows {
        let expected =
            frames.partition_point(|frame| frame.time < due.wrapping_sub(after.lengths[0])) as i64 + 1;
        let found = if C::WRITES { after.find(frames, row[0], before[0]) } else { (0, 0, 0) };
        let choice = c.varint(STREAMS.choice, found.1 as u64);
        let found = (found.0, usize::try_from(choice).ok()?, found.2);
        row[0] = after.code(c, STREAMS, frames, found, [expected, before[0]])?;
        due = row[0].saturating_add(BETWEEN_WINDOWS_NS);
        let window = c.varint(Stream::Windows, zigzag(row[1].wrapping_sub(before[1])));
        row[1] = before[1].wrapping_add(unzigzag(window));
        row[2] = rtt(c, row[2], before[2], row[0], packets)?;
        let timeouts = c.varint(Stream::Timeouts, zigzag(row[3].wrapping_sub(before[3])));
        row[3] = before[3].wrapping_add(unzigzag(timeouts));
        before = *row;
    }
    Some(())
}

fn rtt<C: Coder>(c: &mut C, rtt: i64, before: i64, now: i64, packets: &[Run]) -> Option<i64> {
    let until = packets.partition_point(|run| run.time <= now) as u64;
    let of = |code: u64| {
        let (end, back) = ((code - SINCE) % ENDS, (code - SINCE) / ENDS + 1);
        let at = |back: u64| Some(packets[usize::try_from(until.checked_sub(back + 1)?).ok()?].time);
        Some(at(end)?.wrapping_sub(at(end + back)?))
    };
    let mut code = SAME;
    if C::WRITES && rtt != before {
        code = (SINCE..SAID).find(|code| of(*code) == Some(rtt)).unwrap_or(SAID);
    }
    match c.varint(Stream::Rtts, code) {
        SAME => Some(before),
        code @ SINCE..SAID => of(code),
        SAID => Some(of_thousands(c.varint(Stream::WindowSaid, thousands(rtt)))),
        _ => None,
    }
}
