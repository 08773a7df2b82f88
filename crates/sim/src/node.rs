//! A node: a MAC below, a stack above. It alone knows both.

use crate::mac::{Context, Mac};
use crate::medium::Radio;
use crate::stack::{Stack, Surroundings};

/// A node. A frame concerns radio and MAC of many nodes, and what lies above of few: that has a place of its
/// own.
pub struct Node {
    /// Its receiver.
    pub radio: Radio,
    /// Its MAC.
    pub mac: Mac,
    /// What lies above.
    pub stack: Box<Stack>,
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
pub(crate) use in_node;

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
        let mut around = Surroundings {
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
