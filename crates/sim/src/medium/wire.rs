//! Wires: packets on their way from one end to the other.

use crate::agenda::{Agenda, Lane, Slot};
use crate::config::WireConfig;
use crate::slab::Handle;
use multihop_core::{Rng, Span, Time};
use std::collections::VecDeque;

/// One direction of a wire: packets whose last bit has left the sending end and not yet reached the other
/// end.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Number of the receiving node.
    pub to: u32,
    delay: Span,
    /// Probability that a packet is lost.
    loss: f64,
    rng: Rng,
    arrival: Slot,
    /// Packets on the wire, with their arrival times.
    on_the_way: VecDeque<(Time, Handle)>,
}

impl Wire {
    /// Creates an empty wire in a run with this seed; `arrival` is its slot of the agenda.
    pub fn new(config: &WireConfig, seed: u64, arrival: Slot) -> Wire {
        let WireConfig { from, to, delay, loss, .. } = config;
        let rng = Rng::at(seed, &["wire", &from.0.to_string(), &to.0.to_string(), "loss"]);
        Wire { to: to.0, delay: *delay, loss: *loss, rng, arrival, on_the_way: VecDeque::new() }
    }

    /// Draws whether the packet is lost whose last bit leaves the sending end. A wire without loss draws
    /// nothing.
    pub fn draw_loss(&mut self) -> bool {
        self.loss > 0.0 && self.rng.unit() < self.loss
    }

    /// Puts a packet on the wire when its last bit leaves the sending end.
    pub fn carry(&mut self, now: Time, handle: Handle, agenda: &mut Agenda) {
        let due = now + self.delay;
        if self.on_the_way.is_empty() {
            agenda.arm(self.arrival, due, Lane::Upper);
        }
        self.on_the_way.push_back((due, handle));
    }

    /// Takes the first packet off the wire when its last bit arrives.
    ///
    /// # Panics
    /// If the wire is empty.
    pub fn arrive(&mut self, agenda: &mut Agenda) -> Handle {
        let (_, handle) = self.on_the_way.pop_front().expect("the slot is armed for the first packet");
        if let Some((due, _)) = self.on_the_way.front() {
            agenda.arm(self.arrival, *due, Lane::Upper);
        }
        handle
    }
}
