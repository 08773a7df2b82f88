//! A run in steps: time passes as far as the caller says, packets come from outside, tables can be looked at
//! in between.

use super::World;
use crate::config::{AppConfig, Config};
use crate::external::{Injection, OutsideFrame, PacketOutcome};
use crate::logs::{LogError, Logs};
use crate::medium::Listeners;
use crate::outcome::Outcome;
use multihop_core::{NodeId, Packet, Port, Segment, Time};

impl World {
    /// What happens goes to these logs from now on.
    pub fn log_to(&mut self, logs: impl Into<Logs>) {
        let Logs { air, frames } = logs.into();
        self.air_log = air.map(Box::new);
        self.frame_log = frames.map(Box::new);
        if self.frame_log.is_some() {
            self.record.know_causes(Listeners::spread(&self.config));
        }
    }

    /// What is run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Of all events until now; that of the whole run is in its result.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// When the run is over.
    pub fn end(&self) -> Time {
        Time::ZERO + self.config.duration
    }

    /// Lets everything happen up to this instant, included, but nothing after the end of the run; an instant
    /// that has passed changes nothing. Returns when the next event is due; none when the run is over.
    ///
    /// Into which steps a run is divided makes no difference to it.
    pub fn advance(&mut self, until: Time) -> Option<Time> {
        self.advance_while(until, |_| true)
    }

    /// The same as long as `look`, which is asked now and then for the time until then, says so.
    pub fn advance_while(&mut self, until: Time, mut look: impl FnMut(Time) -> bool) -> Option<Time> {
        self.process(until, &mut |world| look(world.now));
        (self.now < self.end()).then(|| self.next_event())
    }

    /// When the next event is due, or the end of the run if that is earlier.
    pub fn next_event(&mut self) -> Time {
        self.agenda.next().map_or(self.end(), |next| next.min(self.end()))
    }

    /// Puts a packet from outside into its source now, after everything else that happens at this instant.
    /// Returns its number, from 1, by which [`World::poll_outcome`] says what became of it.
    ///
    /// # Panics
    /// If there is no such flow, or it is not [`AppConfig::External`].
    pub fn inject(&mut self, injection: &Injection) -> u64 {
        let Injection { flow, payload, header, ecn, stream, congestion } = *injection;
        let of = &self.config.flows[flow.index()];
        assert_eq!(of.app, AppConfig::External, "flow {:?} sends packets of its own", of.name);
        self.injected += 1;
        let number = self.injected;
        let packet = Packet {
            segment: Segment {
                seq: number,
                payload,
                header,
                ecn,
                stream,
                feedback: congestion,
                ..Segment::default()
            },
            flow,
            port: Port::Receiver,
            source: of.source,
            destination: of.destination,
            size: payload + header + self.network.extra_header,
            number,
            created: self.now,
            hops: 0,
        };
        self.above(self.order.of(packet.source) as u32, |stack, around| stack.emit(around, packet));
        number
    }

    /// The same, of a packet whose headers of IPv4 and transport are these, which captures show. Without them
    /// a capture has UDP of the right length.
    ///
    /// # Panics
    /// As [`World::inject`].
    pub fn inject_with_headers(&mut self, injection: &Injection, headers: &[u8]) -> u64 {
        if let Some(log) = &mut self.air_log {
            log.register_headers(self.now, self.injected + 1, headers, &self.record.outcomes);
        }
        self.inject(injection)
    }

    /// The same for a frame of one hop: no route is looked up, and it is in no flow's counters, but in those
    /// of its sender's signalling.
    ///
    /// # Panics
    /// If a node is not there.
    pub fn inject_frame(&mut self, frame: &OutsideFrame) -> u64 {
        let OutsideFrame { from, to, size } = *frame;
        assert!(to.is_none_or(|to| to.index() < self.nodes.len()), "there is no node {to:?}");
        self.injected += 1;
        let number = self.injected;
        let to = to.unwrap_or(NodeId::BROADCAST);
        self.above(self.order.of(from) as u32, |stack, around| stack.emit_frame(around, number, size, to));
        number
    }

    /// What became of a packet from outside, in the order in which it happened; none if nothing more has.
    pub fn poll_outcome(&mut self) -> Option<PacketOutcome> {
        if let Some(log) = self.air_log.as_mut().filter(|_| !self.record.outcomes.is_empty()) {
            log.outcome_polled(&self.record.outcomes);
        }
        self.record.outcomes.pop_front()
    }

    /// Packets in a node's interface queue.
    pub fn queue_length(&self, node: usize) -> usize {
        self.node(NodeId(node as u32)).stack.queue_length()
    }

    /// The tables as they would be if the run ended now.
    pub fn tables(&mut self) -> Outcome {
        let record = self.record.clone();
        let outcome = self.count();
        self.record = record;
        self.samples.series.clone_from(&outcome.series);
        self.measurements.put_back(&outcome.measurements);
        outcome
    }

    /// Ends the logs now; nothing is logged from then on.
    ///
    /// # Errors
    /// If there is a log that cannot be written.
    pub fn end_logs(&mut self) -> Result<(), LogError> {
        if let Some(log) = self.air_log.take() {
            log.finish()?;
        }
        if let Some(mut log) = self.frame_log.take() {
            self.log_packets(&mut log);
            log.finish(self.now)?;
        }
        Ok(())
    }

    /// Ends the run now, with its logs, and closes the counters.
    ///
    /// # Errors
    /// If there is a log that cannot be written.
    ///
    /// # Panics
    /// If packets are not conserved.
    pub fn close(mut self) -> Result<Outcome, LogError> {
        self.end_logs()?;
        Ok(self.count())
    }
}
