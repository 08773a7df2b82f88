//! Node: a radio and MAC below, a stack above. The only module that knows both.

use crate::mac::{Context, Mac, Reservation};
use crate::medium::{Frame, Link, Radio};
use crate::stack::{Stack, StackContext};
use multihop_core::Time;

/// Node of a run. A frame changes radio and MAC of many nodes but the stack of few, so the stack is stored
/// apart.
#[repr(C, align(128))]
pub struct Node {
    /// Receiver of the node.
    pub radio: Radio,
    /// MAC of the node.
    pub mac: Mac,
    /// Layers above the MAC.
    pub stack: Box<Stack>,
}

const _: () = assert!(size_of::<Node>() == 128, "all that frames of others change is two cache lines");

impl Node {
    /// Starts a signal at the node by carrier sense alone, if overlaps are decided by pairs, nothing else is
    /// on the air here, and nothing observes the link. Returns whether the NAV might have been reset (see
    /// [`Mac::sense_begin`]); none if nothing was done.
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

    /// Ends a signal at the node by carrier sense alone, if that signal was the only one. Returns whether
    /// that was done. The frame is `certain` to be correct if it can be decoded and the link makes no errors.
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
        let only = self.mac.only_senses(frame, link.is_decodable())
            && self.radio.is_ended_alone_by(link, frame, certain);
        if only {
            self.radio.end_alone(now);
            self.mac.sense_end(reserves, link.is_decodable(), now);
        }
        only
    }
}

/// Borrows the parts of the world that a node's handlers may change: `$world` is a path to the world, `$row`
/// a node's row.
///
/// A macro, because the borrow checker follows fields of one expression, not those behind a method call.
macro_rules! at_node {
    ($world:ident, $row:expr, $now:expr, |$mac:ident, $ctx:ident| $body:expr) => {{
        let node = &mut $world.nodes[$row as usize];
        crate::node::in_node!($world, node, $now, |$mac, $ctx| $body)
    }};
}
pub(crate) use at_node;

/// Variant of [`at_node`] for a node that is already borrowed: `$node` is a reference to it.
macro_rules! in_node {
    ($world:ident, $node:ident, $now:expr, |$mac:ident, $ctx:ident| $body:expr) => {{
        let outcome = crate::node::at_listener!($world, $node, $now, |$mac, $ctx| $body);
        $node.mac.update_slow_path();
        outcome
    }};
}
pub(crate) use in_node;

/// Variant of [`at_node`] for events that cannot change whether [the station needs the slow
/// path](Mac::needs_slow_path): the medium becomes busy or idle, and a back-off freezes or resumes.
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

/// Processes all events above the MAC, and lets the MAC start what results from them.
#[expect(clippy::inline_always, reason = "after most events of a node, nothing is pending")]
#[inline(always)]
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
