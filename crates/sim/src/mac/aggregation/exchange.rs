//! Sending what was put together, and what becomes of each MPDU.

use super::psdu::BLOCK_ACK_REQUEST_BYTES;
use super::window::{Held, State, Window};
use crate::config::AggregationConfig;
use crate::mac::originator::sent;
use crate::mac::phase::{Event, Phase};
use crate::mac::rate_control::Demands;
use crate::mac::{Context, FramePayload, Mac, Outgoing};
use crate::medium::{Bitmap, Frame, RateClass};
use crate::outcome::LossCause;
use multihop_core::{DropCause, Exchange, Fate, FrameKind, Interval, LinkEvent, Span};
use multihop_link::Departure;

use super::sequence::{after, ahead};

/// What the recipient said.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// The one MPDU of the frame arrived.
    Ack,
    /// These arrived, from a sequence number on.
    BlockAck(u16, Bitmap),
    /// Nothing.
    None,
    /// Nothing, as often as it may be asked whether it can receive.
    Unreachable,
}

/// What an exchange did for several MPDUs of one fate.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    mpdus: u64,
    size: u32,
    payload: u32,
    /// Of all together.
    queueing: Span,
    service: Span,
}

impl Sum {
    fn add(&mut self, held: &Held, exchange: &Exchange) {
        self.mpdus += 1;
        self.size += held.size;
        self.payload += held.payload;
        self.queueing += exchange.queueing_delay();
        self.service += exchange.service_delay();
    }
}

impl Mac {
    /// The access was won: MPDUs for one neighbour are put together, if that is what the station has.
    pub(in crate::mac) fn begin_block(&mut self, ctx: &mut Context, demands: Demands) {
        let out = self.station.function.current.as_mut().expect("access is used only with a frame to send");
        match out.cargo {
            FramePayload::Packet(_) => {}
            FramePayload::Block { window, .. } => self.assemble(ctx, window, demands),
            FramePayload::Request { .. } => {
                let link = ctx.timing.on(out.rates);
                out.data = link.airtime(RateClass::Control, BLOCK_ACK_REQUEST_BYTES);
            }
        }
    }

    pub(in crate::mac) fn send_request(&mut self, ctx: &mut Context, index: u32) {
        let out = self.station.function.current.as_mut().expect("a request is to be sent");
        let peer = out.peer.expect("agreements are with one neighbour");
        out.data_tries += 1;
        let out = *out;
        let link = ctx.timing.on(out.rates);
        let after = ctx.timing.sifs + link.block_ack;
        let airtime = link.airtime(RateClass::Control, BLOCK_ACK_REQUEST_BYTES);
        let txop_reservation = self.txop_reservation(ctx, &out, airtime + after);
        let duration = ctx.timing.rules.duration_field.apply(after) + txop_reservation;
        let (between, rates, sequence) = ([self.id, peer], out.rates, self.station.function.sequence);
        let kind = FrameKind::BlockAckRequest;
        let frame = ctx.timing.control_frame(kind, between, rates, sequence, duration, ctx.now);
        let agreements = self.station.agreements.as_ref().expect("the station aggregates");
        let window = &agreements.originators[self.station.function.category as usize].windows[index as usize];
        let load = ctx.loads.get_mut(agreements.load);
        load.mpdus.clear();
        (load.start, load.tid, load.agreement) = (window.start(), window.tid, window.agreement);
        let frame = Frame { load: Some(agreements.load), ..frame };
        self.station.phase.change(Event::DataSent);
        self.arm(ctx, ctx.now + frame.airtime() + link.block_ack_timeout);
        self.transmit(ctx, frame);
    }

    /// Sends the frame that was put together.
    pub(in crate::mac) fn send_block(&mut self, ctx: &mut Context, index: u32, several: bool) {
        let out = self.station.function.current.as_mut().expect("DATA is sent only with a frame to send");
        out.data_tries += 1;
        let out = *out;
        let link = ctx.timing.on(out.rates);
        let (response, timeout) = out.response(link);
        let exchange = ctx.timing.exchange_with(out.rates, out.data, response, out.with_rts);
        let access = ctx.timing.mean_access(self.station.function.category);
        let after = ctx.timing.sifs + response;
        let duration =
            ctx.timing.rules.duration_field.apply(after) + self.txop_reservation(ctx, &out, out.data + after);
        let agreements = self.station.agreements.as_mut().expect("the station aggregates");
        let load = agreements.load;
        let window =
            &mut agreements.originators[self.station.function.category as usize].windows[index as usize];
        window.airtime = exchange;
        window.mpdus = ctx.loads.get(load).mpdus.len() as u32;
        for held in window.iter_mut() {
            if !held.flying {
                continue;
            }
            let departure = Departure {
                now: ctx.now,
                service_so_far: ctx.now.since(held.head_of_line),
                data: out.data,
                ack: response,
                sifs: ctx.timing.sifs,
                propagation: ctx.timing.propagation,
                exchange,
                access,
                rts_tries: out.rts_tries,
                rts_failures: out.rts_failures,
                data_tries: held.tries,
            };
            held.tries += 1;
            held.tries_alone += u32::from(!several);
            let mut packet = Some(held.packet);
            while let Some(handle) = packet {
                ctx.stack.on_departure(departure.now, || departure, &mut ctx.packets.get_mut(handle).packet);
                packet = ctx.packets.next_msdu(handle);
            }
        }
        let first = ctx.loads.get(load).mpdus[0];
        let start = ctx.now + ctx.timing.propagation;
        let frame = Frame {
            kind: FrameKind::Data,
            from: self.id,
            to: out.peer,
            duration,
            bytes: out.bytes,
            rate: RateClass::Data,
            rates: out.rates,
            packet: Some(first.packet),
            sequence: self.station.function.sequence,
            report: None,
            load: Some(load),
            retry: !several && first.retry,
            overhead: link.overhead(RateClass::Data),
            air: Interval { start, end: start + out.data },
        };
        self.station.function.attempt.data = Some(sent(&frame, ctx));
        self.station.phase.change(Event::DataSent);
        self.arm(ctx, ctx.now + out.data + timeout);
        self.transmit(ctx, frame);
    }

    /// A block acknowledgement for this station.
    pub(in crate::mac) fn on_block_ack(&mut self, ctx: &mut Context, frame: &Frame) {
        let awaited = self.station.function.current.as_ref().is_some_and(Outgoing::wants_block_ack);
        let Some(load) = frame
            .load
            .filter(|_| awaited && self.station.phase == Phase::AwaitingAck && self.is_answer(frame))
        else {
            ctx.record.record_frame_loss(frame.kind, [frame.from, self.id], LossCause::Late, ctx.now);
            return;
        };
        self.station.receiving_at_timeout = false;
        ctx.agenda.disarm(self.station.timer);
        self.end_attempt(ctx, Some(frame.air));
        let load = ctx.loads.get(load);
        self.conclude(ctx, Answer::BlockAck(load.start, load.arrived));
    }

    /// The ACK of a single MPDU.
    pub(in crate::mac) fn on_ack_of_block(&mut self, ctx: &mut Context) {
        self.conclude(ctx, Answer::Ack);
    }

    /// A try failed, of which everyone knows by now.
    pub(in crate::mac) fn fail_block(&mut self, ctx: &mut Context, awaited_cts: bool) {
        if !awaited_cts {
            return self.conclude(ctx, Answer::None);
        }
        let out = self.station.function.current.as_mut().expect("a CTS was awaited for a frame");
        out.short_retries += 1;
        if out.short_retries >= ctx.timing.short_retry_limit {
            return self.conclude(ctx, Answer::Unreachable);
        }
        self.double_cw(ctx);
        self.draw(ctx.timing);
        self.station.phase.change(Event::AttemptFailed);
    }

    /// The exchange is over: what became of each MPDU, and what is done next.
    fn conclude(&mut self, ctx: &mut Context, answer: Answer) {
        let mut agreements = self.agreements();
        let out = self.station.function.current.take().expect("an exchange is over");
        let index = out.cargo.window().expect("it was one of an agreement");
        let window =
            &mut agreements.originators[self.station.function.category as usize].windows[index as usize];
        let request_failed = out.is_request() && answer == Answer::None && window.request_failed(ctx.timing);
        let gives_up = decide(window, answer, request_failed, ctx);
        if self.station.rates.is_some() && !out.is_request() && answer != Answer::Unreachable {
            let [sent, acknowledged] = window.in_flight();
            self.learn_rate_of(ctx, window.peer, sent, acknowledged);
        }
        self.report_block(ctx, &out, window, answer, gives_up);
        if self.station.hardware.is_some() {
            self.release_done(ctx, window);
        }
        let gave_up = part_with_packets(window, ctx);
        let answered = matches!(answer, Answer::Ack | Answer::BlockAck(..));
        if answered {
            ctx.stack.on_delivered(window.peer);
            window.request_tries = 0;
            window.request = std::mem::take(&mut window.owes_request) || gave_up;
        } else if request_failed {
            window.request = false;
        } else if (out.wants_block_ack() && answer != Answer::Unreachable) || gave_up {
            window.request = true;
            if gave_up {
                window.request_tries = 0;
            }
        }
        if answered || request_failed || answer == Answer::Unreachable || !window.is_behind() {
            self.reset_cw(ctx); // 10.22.2.2
        } else {
            self.double_cw(ctx);
        }
        window.advance(answered);
        self.station.agreements = Some(agreements);
        self.end_exchange(ctx, answered);
    }

    /// The hardware is done with the packets of MPDUs that will not be sent again.
    #[inline(never)]
    fn release_done(&mut self, ctx: &mut Context, window: &Window) {
        let done = |held: &&Held| !matches!(held.state, State::Waiting | State::Gone);
        for held in window.iter().filter(done) {
            let mut packet = Some(held.packet);
            while let Some(handle) = packet {
                packet = ctx.packets.next_msdu(handle);
                self.release(ctx, self.station.function.category, Some(window.peer), handle);
            }
        }
    }

    /// The first MPDU that waits will not be sent any more.
    pub(in crate::mac) fn give_up_first(&mut self, ctx: &mut Context, index: u32) {
        let agreements = self.station.agreements.as_mut().expect("the station aggregates");
        let window =
            &mut agreements.originators[self.station.function.category as usize].windows[index as usize];
        if let Some(first) = window.iter_mut().find(|held| held.state == State::Waiting) {
            first.flying = true;
        }
        self.conclude(ctx, Answer::Unreachable);
    }

    /// Airtime of the shortest frame that can be sent for a window, that of its answer, and whether an RTS
    /// comes before.
    pub(in crate::mac) fn least_of_block(
        &self,
        ctx: &Context,
        out: &Outgoing,
        index: u32,
    ) -> (Span, Span, bool) {
        let link = ctx.timing.on(out.rates);
        let agreements = self.station.agreements.as_ref().expect("the station aggregates");
        let window = &agreements.originators[self.station.function.category as usize].windows[index as usize];
        let first = window.iter().find(|held| held.state == State::Waiting);
        match first.filter(|_| !out.is_request()) {
            Some(first) => (link.psdu_airtime(first.bytes), link.ack, ctx.timing.needs_rts(first.bytes)),
            None => (link.airtime(RateClass::Control, BLOCK_ACK_REQUEST_BYTES), link.block_ack, false),
        }
    }

    /// Bytes of the longest PSDU that fits into the rest of the opportunity with its answer, if that has a
    /// limit.
    pub(super) fn longest_in_opportunity(&self, ctx: &Context, limits: &AggregationConfig) -> Option<u32> {
        let out = self.station.function.current.as_ref().expect("a window is served");
        let left = self.opportunity()?.since(ctx.now);
        Some(ctx.timing.longest_psdu_within(out.rates, limits, left))
    }

    /// Reports it to all that count.
    fn report_block(
        &self,
        ctx: &mut Context,
        out: &Outgoing,
        window: &mut Window,
        answer: Answer,
        gives_up: bool,
    ) {
        let sent_data = u32::from(!out.is_request()) * out.data_tries;
        let spent = &mut window.spent;
        spent.rts_tries += out.rts_tries;
        spent.rts_failures += out.rts_failures;
        spent.data_tries += sent_data;
        spent.slots += out.slots;
        let template = Exchange {
            node: self.id,
            peer: window.peer,
            flow: out.flow,
            size: 0,
            rate: ctx.timing.on(out.rates).rate(RateClass::Data),
            payload: 0,
            enqueued: ctx.now,
            head_of_line: ctx.now,
            done: ctx.now,
            fate: Fate::Acknowledged,
            rts_tries: 0,
            rts_failures: 0,
            data_tries: 0,
            slots: 0,
            airtime: window.airtime,
            mpdus: window.mpdus,
        };
        for fate in [Fate::Acknowledged, Fate::GivenUp] {
            if fate == Fate::GivenUp && !gives_up {
                continue;
            }
            let Some(exchange) = report_mpdus(ctx, window, &template, fate) else { continue };
            ctx.stack.on_link(&LinkEvent::Exchange(exchange));
        }
        let answered = matches!(answer, Answer::Ack | Answer::BlockAck(..));
        let fate = if answered { Fate::Acknowledged } else { Fate::GivenUp };
        self.used_airtime(ctx, out, window.peer, fate, [sent_data, window.mpdus]);
    }
}

/// Reports the MPDUs of a fate one by one; what they were together, if there were any.
fn report_mpdus(ctx: &mut Context, window: &mut Window, template: &Exchange, fate: Fate) -> Option<Exchange> {
    let (mut sum, mut flow) = (Sum::default(), None);
    let mut all_spent = window.spent;
    for held in window.iter() {
        let is_so = match held.state {
            State::Acknowledged => fate == Fate::Acknowledged,
            State::GivenUp | State::Expired => fate == Fate::GivenUp,
            State::Waiting | State::Gone => false,
        };
        if !is_so {
            continue;
        }
        // What the exchange took besides is the first one's.
        let spent = std::mem::take(&mut all_spent);
        let mpdu = Exchange {
            flow: held.flow,
            size: held.size,
            payload: held.payload,
            enqueued: held.enqueued,
            head_of_line: held.head_of_line,
            fate,
            rts_tries: spent.rts_tries,
            rts_failures: spent.rts_failures,
            data_tries: held.tries,
            slots: spent.slots,
            ..*template
        };
        flow.get_or_insert(Exchange { data_tries: spent.data_tries, ..mpdu });
        sum.add(held, &mpdu);
        ctx.record.exchange(&mpdu, ctx.now);
        ctx.stack.on_link(&LinkEvent::Mpdu(mpdu));
    }
    window.spent = all_spent;
    let head_of_line = template.done - sum.service / sum.mpdus.max(1);
    flow.map(|first| Exchange {
        size: sum.size,
        payload: sum.payload,
        head_of_line,
        enqueued: head_of_line - sum.queueing / sum.mpdus,
        ..first
    })
}

/// What the answer means for each MPDU, or that the neighbour was asked without an answer; returns whether
/// any is given up.
fn decide(window: &mut Window, answer: Answer, request_failed: bool, ctx: &Context) -> bool {
    // Tries that have no end are not ended by RTS either.
    let unreachable = answer == Answer::Unreachable && !ctx.timing.tries_without_end();
    let mut gives_up = false;
    let mut next = window.start();
    for held in window.iter_mut() {
        let sequence = next;
        next = after(next, 1);
        if held.state != State::Waiting || !(held.flying || held.tries > 0) {
            continue;
        }
        let arrived = match answer {
            Answer::Ack => held.flying,
            Answer::BlockAck(start, bitmap) => bitmap.has(usize::from(ahead(start, sequence))),
            Answer::None | Answer::Unreachable => false,
        };
        let alone = ctx.timing.retry_limit_of(held.bytes);
        let exhausted = held.tries >= ctx.timing.mpdu_retry_limit || held.tries_alone >= alone;
        if arrived {
            held.state = State::Acknowledged;
        } else if exhausted || request_failed || (unreachable && held.flying) {
            held.state = State::GivenUp;
        } else if ctx.stack.is_expired(ctx.now, held.enqueued) {
            held.state = State::Expired;
        }
        gives_up |= matches!(held.state, State::GivenUp | State::Expired);
    }
    gives_up
}

/// The packets of MPDUs that are done with leave; returns whether any was not acknowledged.
fn part_with_packets(window: &mut Window, ctx: &mut Context) -> bool {
    let mut gave_up = false;
    let peer = window.peer;
    for held in window.iter_mut() {
        held.flying = false;
        if held.state == State::Waiting {
            continue;
        }
        let state = std::mem::replace(&mut held.state, State::Gone);
        gave_up |= matches!(state, State::GivenUp | State::Expired);
        let mut packet = Some(held.packet).filter(|_| state != State::Gone);
        while let Some(handle) = packet {
            packet = ctx.packets.detach_msdu(handle);
            match state {
                State::GivenUp => {
                    ctx.stack.on_given_up(ctx.now, peer, handle, ctx.packets, ctx.record);
                }
                State::Expired if !ctx.packets.get(handle).passed_on => {
                    ctx.stack.lose(ctx.now, handle, DropCause::Lifetime, ctx.packets, ctx.record);
                }
                _ => {
                    ctx.stack.on_departed(ctx.now, &ctx.packets.get(handle).packet);
                    ctx.packets.discard(handle);
                }
            }
        }
    }
    gave_up
}
