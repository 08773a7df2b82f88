//! Stepping: the caller advances virtual time, injects packets, and reads tables between steps.

use super::World;
use crate::config::{AppConfig, Config};
use crate::external::{Injection, OutsideFrame, PacketOutcome};
use crate::logs::{LogError, Logs};
use crate::medium::Listeners;
use crate::outcome::Outcome;
use multihop_core::{NodeId, Packet, Port, Segment, Time};

impl World {
    /// Starts to write these logs.
    pub fn log_to(&mut self, logs: impl Into<Logs>) {
        let Logs { air, frames } = logs.into();
        self.air_log = air.map(Box::new);
        self.frame_log = frames.map(Box::new);
        if self.frame_log.is_some() {
            self.record.enable_causes(Listeners::spread(&self.config));
        }
    }

    /// Configuration of the run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Instant up to which all events have been processed.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Hash of all events until now; the result of the run has that of the whole run.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// End of the run.
    pub fn end(&self) -> Time {
        Time::ZERO + self.config.duration
    }

    /// Processes all events up to this instant, inclusive, but not beyond the end of the run; a past instant
    /// changes nothing. Returns the time of the next event; none when the run is over.
    ///
    /// The division of a run into steps does not change its results.
    pub fn advance(&mut self, until: Time) -> Option<Time> {
        self.advance_while(until, |_| true)
    }

    /// Variant of [`World::advance`] that stops when `look` returns false, or when a log cannot be written;
    /// `look` is called occasionally with the time reached.
    pub fn advance_while(&mut self, until: Time, mut look: impl FnMut(Time) -> bool) -> Option<Time> {
        self.process(until, &mut |world| {
            look(world.now)
                && !world.air_log.as_ref().is_some_and(|log| log.has_failed())
                && !world.frame_log.as_ref().is_some_and(|log| log.has_failed())
        });
        (self.now < self.end()).then(|| self.next_event())
    }

    /// Time of the next event, or the end of the run if that is earlier.
    pub fn next_event(&mut self) -> Time {
        self.agenda.next().map_or(self.end(), |next| next.min(self.end()))
    }

    /// Injects a packet at its source now, after all other events of this instant. Returns its number, from
    /// 1, which [`World::poll_outcome`] refers to.
    ///
    /// # Panics
    /// If there is no such flow, or its application is not [`AppConfig::External`].
    pub fn inject(&mut self, injection: &Injection) -> u64 {
        let Injection { flow, payload, header, ecn, stream, congestion } = *injection;
        let of = &self.config.traffic.flows[flow.index()];
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

    /// Injects a packet with these IPv4 and transport headers, which captures show. Without them a capture
    /// has UDP of the correct length.
    ///
    /// # Panics
    /// As [`World::inject`].
    pub fn inject_with_headers(&mut self, injection: &Injection, headers: &[u8]) -> u64 {
        if let Some(log) = &mut self.air_log {
            log.register_headers(self.now, self.injected + 1, headers, &self.record.outcomes);
        }
        self.inject(injection)
    }

    /// Injects a frame for one hop: no route is used, and no flow counts it, only the signalling of its
    /// sender.
    ///
    /// # Panics
    /// If a node does not exist.
    pub fn inject_frame(&mut self, frame: &OutsideFrame) -> u64 {
        let OutsideFrame { from, to, size } = *frame;
        assert!(to.is_none_or(|to| to.index() < self.nodes.len()), "there is no node {to:?}");
        self.injected += 1;
        let number = self.injected;
        let to = to.unwrap_or(NodeId::BROADCAST);
        self.above(self.order.of(from) as u32, |stack, around| stack.emit_frame(around, number, size, to));
        number
    }

    /// Next outcome of an injected packet, in order of time; none if there is no further one.
    pub fn poll_outcome(&mut self) -> Option<PacketOutcome> {
        if let Some(log) = self.air_log.as_mut().filter(|_| !self.record.outcomes.is_empty()) {
            log.outcome_polled(&self.record.outcomes);
        }
        self.record.outcomes.pop_front()
    }

    /// Number of packets in a node's interface queue.
    pub fn queue_length(&self, node: usize) -> usize {
        self.node(NodeId(node as u32)).stack.queue_length()
    }

    /// Result tables as if the run ended now.
    pub fn tables(&mut self) -> Outcome {
        let record = self.record.clone();
        let outcome = self.count();
        self.record = record;
        self.samples.series.clone_from(&outcome.series);
        self.measurements.put_back(&outcome.measurements);
        outcome
    }

    /// Ends the logs.
    ///
    /// # Errors
    /// If a log cannot be written.
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

    /// Ends the run and its logs now, and closes the counters.
    ///
    /// # Errors
    /// If a log cannot be written.
    ///
    /// # Panics
    /// If packets are not conserved.
    pub fn close(mut self) -> Result<Outcome, LogError> {
        self.end_logs()?;
        Ok(self.count())
    }
}
