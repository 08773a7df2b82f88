//! One station and a script of the frames that it receives.
//!
//! Station 0 is under test. The script puts frames of other stations on its radio and records the frames that
//! it sends. Times are in microseconds, without propagation delay. The PHY is 802.11b with a long preamble,
//! DATA at 11 Mb/s and control frames at 1 Mb/s. Unless a test sets it, the contention window is 0, so that
//! every back-off has no slots.

use crate::agenda::{Agenda, Lane, Slot};
use crate::config::{
    AggregationConfig, BlockAckConfig, Config, LinkFailureRule, MacConfig, MediumConfig, MediumModel,
    NetworkConfig, NodeConfig, PathLoss, Protection, QueueConfig, RateConfig, RecordingConfig, RoutingConfig,
    TopologyConfig, TrafficConfig,
};
use crate::mac::{Context, Mac, Timing};
use crate::medium::{Bitmap, Collisions, Frame, Link, LoadId, Loads, Mpdu, Radio, RateClass, RateSet};
use crate::mobility::Mobility;
use crate::record::Recorder;
use crate::slab::Slab;
use crate::stack::{Failures, Policies, Queues, Stack};
use multihop_core::{
    Dscp, FlowId, FrameKind, Interval, LinkEvent, NodeId, Packet, Port, Rate, Rng, Segment, Span, Time,
};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_link::{Discipline, RouterPolicy};
use std::sync::{Arc, Mutex};

pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);
pub const C: NodeId = NodeId(2);

pub fn us(us: u64) -> Time {
    Time::from_ns(us * 1_000)
}

/// Reception of a signal at the station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    Clear,
    FcsError,
    TooWeak,
}

/// A frame that the station sent: start in microseconds, kind, receiver, and duration field in microseconds.
pub type Transmission = (u64, FrameKind, Option<NodeId>, u64);

pub struct Script {
    pub mac: Mac,
    pub timing: Timing,
    agenda: Agenda,
    packets: Slab,
    loads: Loads,
    /// MPDUs or acknowledgement of the station's own frames, with aggregation.
    own_load: Option<LoadId>,
    radio: Radio,
    pub stack: Stack,
    pub record: Recorder,
    now: Time,
    sent: Vec<Transmission>,
    arriving: Vec<ArrivingFrame>,
    serial: u64,
    events: Arc<Mutex<Vec<LinkEvent>>>,
    pause: Arc<Mutex<Span>>,
}

/// A router policy that records link events, and demands an extra back-off before each frame.
struct Probe {
    events: Arc<Mutex<Vec<LinkEvent>>>,
    pause: Arc<Mutex<Span>>,
}

impl RouterPolicy for Probe {
    fn on_link(&mut self, event: &LinkEvent) {
        self.events.lock().expect("one thread").push(*event);
    }
    fn extra_backoff(&self, _packet: &Packet) -> Span {
        *self.pause.lock().expect("one thread")
    }
}

/// A frame of another station.
#[derive(Clone, Copy)]
struct ArrivingFrame {
    frame: Frame,
    signal: Signal,
    begun: bool,
}

impl ArrivingFrame {
    /// Next edge of the frame: its start, or its end once it has begun.
    fn edge(&self) -> Time {
        if self.begun { self.frame.air.end } else { self.frame.air.start }
    }

    fn link(&self) -> Link {
        let ln_bit_success = if self.signal == Signal::FcsError { f64::NEG_INFINITY } else { 0.0 };
        Link::new(0, self.signal != Signal::TooWeak, 1, 1.0, ln_bit_success)
    }
}

const NO_CAPTURE: Collisions = Collisions::Pairwise { capture: None };
const TIMER: Slot = Slot(0);
const AIR: Slot = Slot(1);
const REORDERING: Slot = Slot(2);

impl Script {
    pub fn new(rules: DcfRules, rts_threshold: Option<u32>) -> Script {
        let mut config = config(rules, rts_threshold);
        config.mac.cw_min = 0;
        Script::with(&config)
    }

    pub fn with(config: &Config) -> Script {
        let timing = Timing::new(config);
        let agenda = Agenda::new(4);
        let events = Arc::new(Mutex::new(Vec::new()));
        let pause = Arc::new(Mutex::new(Span::ZERO));
        let probe: Box<dyn RouterPolicy> = Box::new(Probe { events: events.clone(), pause: pause.clone() });
        let policies = Policies::new(vec![Some(probe)], Some(&timing.phy_times()), Arc::new([0]));
        let failures = Failures::new(LinkFailureRule::Ignore, [].into());
        let queues = if config.mac.edca.is_some() { Queues::by_category } else { Queues::single };
        let mut queues = queues(&config.mac.queue.discipline, config.mac.queue.limit, 0);
        if let Some(limits) = config.mac.queue.hardware.and_then(|hardware| hardware.airtime) {
            queues.limit_airtime(limits);
        }
        let stack = Stack::new(A, queues, config.mac.queue.lifetime, policies, Slot(3), failures);
        let mut script = Script {
            events,
            pause,
            mac: Mac::new(A, TIMER, AIR, &timing, Rng::at(1, &["script"])),
            timing,
            agenda,
            packets: Slab::default(),
            loads: Loads::default(),
            own_load: None,
            radio: Radio::new(1, Rng::at(1, &["air"])),
            stack,
            record: Recorder::new(3, 1, Time::ZERO).with_categories(config),
            now: Time::ZERO,
            sent: Vec::new(),
            arriving: Vec::new(),
            serial: 0,
        };
        script.mac.join(&script.stack);
        if config.mac.edca.is_some() {
            script.mac.differentiate(&script.timing);
        }
        if let Some(hardware) = config.mac.queue.hardware {
            script.mac.queue_in_hardware(hardware);
        }
        if config.mac.block_ack.aggregation.is_some() {
            let load = script.loads.add();
            script.mac.aggregate(load, REORDERING);
            script.own_load = Some(load);
        }
        script
    }

    /// DATA of another station with MPDUs of 1000 network-layer bytes, with these sequence numbers.
    pub fn aggregate(&mut self, from: NodeId, to: NodeId, sequences: &[u16]) -> Frame {
        self.aggregate_of(from, to, 0, sequences)
    }

    /// DATA of another station with MPDUs of a traffic identifier.
    pub fn aggregate_of(&mut self, from: NodeId, to: NodeId, tid: u8, sequences: &[u16]) -> Frame {
        let bytes = self.timing.data_bytes(1000);
        let load = self.loads.add();
        self.loads.get_mut(load).tid = tid;
        for sequence in sequences {
            let packet = self.packet(from, to);
            let packet = self.packets.insert(packet);
            let mpdu = Mpdu { packet, sequence: *sequence, bytes, retry: false };
            self.loads.get_mut(load).mpdus.push(mpdu);
        }
        let subframe = bytes.next_multiple_of(4) + 4;
        let psdu = if sequences.len() > 1 { subframe * sequences.len() as u32 - 2 } else { bytes };
        let airtime = self.timing.nominal.airtime(RateClass::Data, psdu);
        Frame {
            load: Some(load),
            bytes: psdu,
            packet: Some(self.loads.get(load).mpdus[0].packet),
            air: Interval { start: Time::ZERO, end: Time::ZERO + airtime },
            ..self.data(from, Some(to), u32::MAX)
        }
    }

    /// A block acknowledgement of another station for MPDUs at these places after `start`.
    pub fn block_ack(&mut self, from: NodeId, start: u16, places: &[usize]) -> Frame {
        let load = self.loads.add();
        self.loads.get_mut(load).start = start;
        for place in places {
            self.loads.get_mut(load).arrived.set(*place);
        }
        Frame { load: Some(load), ..self.control(FrameKind::BlockAck, from, A, 0) }
    }

    /// A block acknowledgement request of another station, whose window begins at `start`.
    pub fn request(&mut self, from: NodeId, start: u16) -> Frame {
        let load = self.loads.add();
        self.loads.get_mut(load).start = start;
        Frame { load: Some(load), ..self.control(FrameKind::BlockAckRequest, from, A, 458) }
    }

    /// The last block acknowledgement that the station sent.
    pub fn acknowledged(&self) -> (u16, Bitmap) {
        let load = self.loads.get(self.own_load.expect("the station aggregates"));
        (load.start, load.arrived)
    }

    /// The sequence numbers of the MPDUs that the station sent last.
    pub fn sent_sequences(&self) -> Vec<u16> {
        let load = self.loads.get(self.own_load.expect("the station aggregates"));
        load.mpdus.iter().map(|mpdu| mpdu.sequence).collect()
    }

    /// Makes the router policy demand an extra back-off from now on, in microseconds.
    pub fn pauses(&mut self, us: u64) {
        *self.pause.lock().expect("one thread") = Span::from_us(us);
    }

    /// Schedules a frame of another station at `at`. Returns its end.
    pub fn hears(&mut self, at: u64, frame: Frame, signal: Signal) -> u64 {
        let air = Interval { start: us(at), end: us(at) + frame.airtime() };
        self.arriving.push(ArrivingFrame { frame: Frame { air, ..frame }, signal, begun: false });
        air.end.ns() / 1_000
    }

    /// A control frame of another station.
    pub fn control(&self, kind: FrameKind, from: NodeId, to: NodeId, duration_us: u64) -> Frame {
        self.timing.control_frame(
            kind,
            [from, to],
            self.timing.between(from, to),
            0,
            Span::from_us(duration_us),
            Time::ZERO,
        )
    }

    /// A DATA frame of another station with 1000 network-layer bytes; `to` is none for a broadcast.
    pub fn data(&mut self, from: NodeId, to: Option<NodeId>, sequence: u32) -> Frame {
        let packet = self.packet(from, to.unwrap_or(A));
        let bytes = self.timing.data_bytes(1000);
        let after = if to.is_some() { self.timing.sifs + self.timing.nominal.ack } else { Span::ZERO };
        let airtime = self.timing.nominal.airtime(RateClass::Data, bytes);
        Frame {
            kind: FrameKind::Data,
            from,
            to,
            duration: after,
            bytes,
            rate: RateClass::Data,
            rates: RateSet::NOMINAL,
            packet: Some(self.packets.insert(packet)),
            sequence,
            report: None,
            load: None,
            retry: false,
            overhead: self.timing.nominal.overhead(RateClass::Data),
            air: Interval { start: Time::ZERO, end: Time::ZERO + airtime },
        }
    }

    /// A DATA frame of another station for the station under test, with a codepoint.
    pub fn marked_data(&mut self, from: NodeId, sequence: u32, dscp: Dscp) -> Frame {
        let frame = self.data(from, Some(A), sequence);
        let packet = frame.packet.expect("DATA carries a packet");
        self.packets.get_mut(packet).packet.segment.dscp = dscp;
        frame
    }

    /// Enqueues a packet of 1000 bytes for `to` at `at`; `to` is none for a broadcast.
    pub fn queues(&mut self, at: u64, to: Option<NodeId>) {
        self.queues_marked(at, to, Dscp::BEST_EFFORT);
    }

    /// Enqueues a packet with a codepoint.
    pub fn queues_marked(&mut self, at: u64, to: Option<NodeId>, dscp: Dscp) {
        self.sent = self.runs_until(at);
        let mut packet = self.packet(A, to.unwrap_or(B));
        packet.segment.dscp = dscp;
        let handle = self.packets.insert(packet);
        self.stack.put(self.now, handle, to, &packet);
        self.with_mac(Mac::on_queued);
    }

    fn packet(&mut self, source: NodeId, destination: NodeId) -> Packet {
        self.serial += 1;
        Packet {
            segment: Segment { payload: 960, ..Segment::default() },
            flow: FlowId(0),
            port: Port::Receiver,
            source,
            destination,
            size: 1000,
            number: self.serial,
            created: self.now,
            hops: 0,
        }
    }

    /// Runs all events up to `until`. Returns the frames that were sent since the last call.
    pub fn runs_until(&mut self, until: u64) -> Vec<Transmission> {
        let end = us(until);
        loop {
            let edge = self.arriving.iter().map(ArrivingFrame::edge).min();
            let due = self.agenda.clone().pop_until(Time::NEVER).map(|(time, _)| time);
            let Some(next) = edge.into_iter().chain(due).min().filter(|next| *next <= end) else { break };
            self.now = next;
            // Frames of other stations end before timers fire, and begin after them.
            let happened = self.ends() || self.pops() || self.begins();
            assert!(happened, "an event was due at {next}");
        }
        self.now = end;
        std::mem::take(&mut self.sent)
    }

    fn ends(&mut self) -> bool {
        let Some(at) = self.arriving.iter().position(|frame| frame.begun && frame.edge() == self.now) else {
            return false;
        };
        let ended = self.arriving.remove(at);
        let now = self.now;
        self.with_mac(|mac, ctx| {
            let finished = ctx.radio.finish(&NO_CAPTURE, &ended.link(), &ended.frame, || 0.0, ctx.loads, now);
            mac.on_signal_end(ctx, &ended.frame, finished);
            if !ctx.radio.is_busy() {
                mac.on_idle(ctx);
            }
        });
        true
    }

    fn begins(&mut self) -> bool {
        let Some(at) = self.arriving.iter().position(|frame| !frame.begun && frame.edge() == self.now) else {
            return false;
        };
        self.arriving[at].begun = true;
        let frame = &mut self.arriving[at].frame;
        if matches!(frame.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck) && frame.sequence == 0
        {
            frame.sequence = self.mac.station.function.sequence; // a response answers the present frame, unless the test sets its sequence
        }
        let (begun, now) = (self.arriving[at], self.now);
        self.with_mac(|mac, ctx| {
            let was_quiet = ctx.radio.is_quiet(now);
            ctx.radio.begin(&NO_CAPTURE, &begun.link(), &begun.frame, now);
            if was_quiet {
                mac.on_busy(ctx);
            }
        });
        true
    }

    fn pops(&mut self) -> bool {
        let now = self.now;
        if self.agenda.clone().pop_until(Time::NEVER).is_none_or(|(time, _)| time > now) {
            return false;
        }
        let (_, slot) = self.agenda.pop_until(Time::NEVER).expect("an event is due");
        match slot {
            TIMER => self.with_mac(Mac::on_timer),
            REORDERING => self.with_mac(Mac::on_reordering_due),
            AIR => {
                let frame = self.mac.on_air();
                if now < frame.end() {
                    let duration = frame.duration.ns() / 1_000;
                    self.sent.push((now.ns() / 1_000, frame.kind, frame.to, duration));
                    self.agenda.arm(AIR, frame.end(), Lane::AirEnd);
                } else {
                    self.with_mac(|mac, ctx| {
                        mac.take_off_air();
                        mac.on_sent(ctx, &frame);
                        if !ctx.radio.is_busy() {
                            mac.on_idle(ctx);
                        }
                    });
                }
            }
            other => unreachable!("{other:?} is not armed here"),
        }
        true
    }

    /// Link events since the last call.
    pub fn events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events.lock().expect("one thread"))
    }

    /// Calls a handler of the MAC.
    pub fn with_mac(&mut self, what: impl FnOnce(&mut Mac, &mut Context)) {
        let mut ctx = Context {
            now: self.now,
            agenda: &mut self.agenda,
            timing: &self.timing,
            packets: &mut self.packets,
            loads: &mut self.loads,
            radio: &mut self.radio,
            stack: &mut self.stack,
            record: &mut self.record,
        };
        what(&mut self.mac, &mut ctx);
        self.mac.update_slow_path();
    }
}

/// Limits on aggregation in tests. A test overrides the limits that it checks.
pub const AGGREGATION: AggregationConfig = AggregationConfig {
    mpdus: 64,
    window: 64,
    a_mpdu: 65_535,
    a_msdu: None,
    mpdu: 4_095,
    max_duration: Span::from_ms(100),
    spacing: Span::ZERO,
    reordering_timeout: Span::from_ms(100),
    rts: false,
    single_delimited: false,
};

/// Configuration of the station under test. Only PHY and MAC parameters matter, because the script replaces
/// the medium.
pub fn config(rules: DcfRules, rts_threshold: Option<u32>) -> Config {
    let phy = Phy::new(Standard::Dot11b, Preamble::Long);
    let path_loss = PathLoss::LogDistance { exponent: 3.0, reference_loss_db: 40.0, reference_distance: 1.0 };
    let model =
        MediumModel::Ranges { receive_range: 1.0, carrier_sense_range: 1.0, capture_ratio: None, path_loss };
    let node = NodeConfig { name: "a".into(), position: None, base: None, data_rate: None };
    Config {
        name: "script".into(),
        seed: 1,
        duration: Span::from_ms(1),
        topology: TopologyConfig { nodes: vec![node], ..TopologyConfig::default() },
        mobility: Mobility::default(),
        medium: MediumConfig {
            propagation_delay: Span::ZERO,
            bit_error_rate: 0.0,
            packet_error_rate: 0.0,
            link_errors: Vec::new(),
            model,
            delays_by_distance: false,
            sensitivity_by_rate: false,
            preamble_detection: None,
            fading: None,
        },
        phy,
        rates: RateConfig {
            data: Rate::from_kbps(11_000).into(),
            control: Some(Rate::from_kbps(1_000)),
            ack: None,
            links: Vec::new(),
        },
        mac: MacConfig {
            rules,
            rts_threshold,
            short_retry_limit: Some(7),
            long_retry_limit: Some(4),
            cw_min: 31,
            cw_max: 1023,
            queue: QueueConfig {
                limit: 50,
                lifetime: None,
                discipline: Discipline::DropTail,
                hardware: None,
            },
            msdu_limit: None,
            edca: None,
            protection: Protection::default(),
            cts_to_self: false,
            rate_control: None,
            block_ack: BlockAckConfig::default(),
        },
        routing: RoutingConfig::default(),
        network: NetworkConfig::default(),
        traffic: TrafficConfig::default(),
        recording: RecordingConfig {
            warmup: Span::ZERO,
            interval: Span::from_ms(1),
            measurements: Vec::new(),
            causes: false,
        },
    }
}
