//! A node: a MAC below, a stack above. It alone knows both.

use crate::mac::{Context, Mac, Reservation};
use crate::medium::{Frame, Link, Radio};
use crate::stack::{Stack, StackContext};
use multihop_core::Time;

/// A node. A frame concerns radio and MAC of many nodes, and what lies above of few: that has a place of its
/// own.
#[repr(C, align(128))]
pub struct Node {
    /// Its receiver.
    pub radio: Radio,
    /// Its MAC.
    pub mac: Mac,
    /// What lies above.
    pub stack: Box<Stack>,
}

const _: () = assert!(size_of::<Node>() == 128, "all that frames of others change is two cache lines");

impl Node {
    /// A signal begins, where overlaps are settled by pairs. If nothing else is on the air here, and nothing
    /// observes the link, the node senses it, and says whether its NAV might have been reset: see
    /// [`Mac::sense_begin`]. Otherwise nothing is done.
    #[expect(clippy::inline_always, reason = "a call for each listener is 5 % of a grid")]
    #[inline(always)]
    pub fn senses_begin(&mut self, link: &Link, frame: &Frame, now: Time) -> Option<bool> {
        if !self.radio.is_silent() {
            return None;
        }
        let might_reset = self.mac.sense_begin(now)?;
        self.radio.begin_in_silence(link, frame, now);
        Some(might_reset)
    }

    /// A signal ends there. If it was alone, and is a matter of carrier sense, that is done, and true
    /// returned. It is `certain` to be right, if it can be decoded and the link makes no errors.
    #[expect(clippy::inline_always, reason = "as for `senses_begin`")]
    #[inline(always)]
    pub fn senses_end(
        &mut self,
        link: &Link,
        frame: &Frame,
        certain: bool,
        reserves: &Reservation,
        now: Time,
    ) -> bool {
        let only = self.mac.only_senses(frame, link.decodable())
            && self.radio.is_ended_alone_by(link, frame, certain);
        if only {
            self.radio.end_alone(now);
            self.mac.sense_end(reserves, link.decodable(), now);
        }
        only
    }
}

/// Splits what a node's handlers may touch out of the world: `$world` must be a path to it, `$row` a node's
/// row.
///
/// A macro, because the borrow checker follows fields of one expression, not those behind a method call.
macro_rules! at_node {
    ($world:ident, $row:expr, $now:expr, |$mac:ident, $ctx:ident| $body:expr) => {{
        let node = &mut $world.nodes[$row as usize];
        crate::node::in_node!($world, node, $now, |$mac, $ctx| $body)
    }};
}
pub(crate) use at_node;

/// The same, of a node that was found before: `$node` is a reference to it.
macro_rules! in_node {
    ($world:ident, $node:ident, $now:expr, |$mac:ident, $ctx:ident| $body:expr) => {{
        let outcome = crate::node::at_listener!($world, $node, $now, |$mac, $ctx| $body);
        $node.mac.update_slow_path();
        outcome
    }};
}
pub(crate) use in_node;

/// The same, where what happens cannot change whether [the station is involved](Mac::needs_slow_path): the
/// medium turns busy or idle, and a back-off stops or goes on.
macro_rules! at_listener {
    ($world:ident, $node:ident, $now:expr, |$mac:ident, $ctx:ident| $body:expr) => {{
        let $mac = &mut $node.mac;
        let mut context = crate::mac::Context {
            now: $now,
            agenda: &mut $world.agenda,
            timing: &$world.timing,
            packets: &mut $world.packets,
            loads: &mut $world.loads,
            radio: &mut $node.radio,
            stack: &mut $node.stack,
            record: &mut $world.record,
        };
        let $ctx = &mut context;
        $body
    }};
}
pub(crate) use at_listener;

/// Settles everything above the MAC, and lets the MAC take what came of it.
#[inline]
pub fn settle(mac: &mut Mac, ctx: &mut Context, network: &crate::stack::Network) {
    if ctx.stack.is_settled() && !mac.wants_packet(ctx.stack) {
        return;
    }
    settle_fully(mac, ctx, network);
}

#[inline(never)]
fn settle_fully(mac: &mut Mac, ctx: &mut Context, network: &crate::stack::Network) {
    loop {
        let mut around = StackContext {
            now: ctx.now,
            agenda: ctx.agenda,
            network,
            packets: ctx.packets,
            record: ctx.record,
        };
        ctx.stack.settle(&mut around);
        if !mac.wants_packet(ctx.stack) {
            return;
        }
        mac.on_queued(ctx);
    }
}
