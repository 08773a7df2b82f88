//! A node: a MAC below, a stack above. It alone knows both.

use crate::mac::{Context, Mac};
use crate::medium::Radio;
use crate::stack::{Stack, Surroundings};

/// A node while a run is built; then its layers lie apart.
pub struct Node {
    /// Its MAC.
    pub mac: Mac,
    /// What lies above.
    pub stack: Stack,
}

/// All nodes, while they run.
pub struct Layers<'w> {
    /// Their radios.
    pub radios: &'w [Radio],
    /// Their MACs.
    pub macs: &'w [Mac],
    /// What lies above.
    pub stacks: &'w [Stack],
}

/// Splits what a node's handlers may touch out of the world: `$world` must be a path to it, `$id` a node index.
///
/// A macro, because the borrow checker follows fields of one expression, not those behind a method call.
macro_rules! at_node {
    ($world:ident, $id:expr, $now:expr, |$mac:ident, $ctx:ident| $body:expr) => {{
        let $mac = &mut $world.macs[$id as usize];
        let mut context = crate::mac::Context {
            now: $now,
            agenda: &mut $world.agenda,
            timing: &$world.timing,
            packets: &mut $world.packets,
            loads: &mut $world.loads,
            radio: &mut $world.radios[$id as usize],
            stack: &mut $world.stacks[$id as usize],
            record: &mut $world.record,
        };
        let $ctx = &mut context;
        $body
    }};
}
pub(crate) use at_node;

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
