// Transmissions, of which a log has only what a model does not expect. crates/frames says what that is (timeline).

import { Access, toFront } from "./access.js";
import { newLink, Walk } from "./aggregates.js";
import { Beside } from "./beside.js";
import { Coded } from "./coded.js";
import { Queues } from "./queues.js";
import { Listeners, Reservations } from "./reserved.js";
import { Dropped, Seen } from "./seen.js";
import { damaged } from "./unpack.js";

const KIND = { rts: 0, cts: 1, data: 2, ack: 3, blockAck: 5 };
const MASK = { answers: 3, loss: 8, reserves: 16, packet: 32, mpdus: 64, rare: 128 };
const RARE = { tries: 1, frozen: 2, waited: 4 };
const LATEST_SORTS = 128;
const MOST_AWAITED = 8;
const MOST_MPDUS = 2 ** 14;

/** A stream of a node: of a flow, in one direction. */
class Stream {
  constructor(flow, carries, last, place, dropped) {
    Object.assign(this, { flow, carries, last, place, dropped });
  }

  /** The number that comes next. */
  next(now) { return this.dropped ? this.dropped.next(this.last + 1, now) : this.last + 1; }
}

/** What is remembered of a node. */
class OfNode {
  constructor() {
    /** Its latest sorts, the latest first. */
    this.sorts = [];
    /** The last frame to it; -1 if there is none. */
    this.addressed = -1;
    this.addressedStart = 0;
    this.addressedEnd = 0;
    this.end = 0;
    this.arrived = 0;
    this.arrivedBefore = 0;
    this.feeder = 0;
    this.gap = 0;
    this.gapBefore = 0;
    this.spaces = [0, 0, 0, 0, 0, 0];
    this.spacesBefore = [0, 0, 0, 0, 0, 0];
    this.tries = [0, 0];
    this.answered = [false, false];
    this.packet = 0;
    this.streams = [];
    this.links = [];
    this.listeners = new Listeners();
    /** Packets that did not fit its queue: `{flow, carries, dropped}`. */
    this.lost = [];
  }

  /** Packets of a stream that did not fit its queue. */
  drops(flow, carries) {
    let known = this.lost.find((one) => one.flow === flow && one.carries === carries);
    if (!known) this.lost.push(known = { flow, carries, dropped: new Dropped() });
    return known.dropped;
  }

  learnStream(flow, carries, last, place) {
    const known = this.lost.find((one) => one.flow === flow && one.carries === carries);
    this.streams.push(new Stream(flow, carries, last, place, known ? known.dropped : null));
  }

  stream(flow, carries) {
    const { streams } = this;
    for (let at = 0; at < streams.length; at += 1) if (streams[at].flow === flow && streams[at].carries === carries) return streams[at];
    return null;
  }

  link(to) {
    const { links } = this;
    for (let at = 0; at < links.length; at += 1) if (links[at].to === to) return links[at];
    return null;
  }
}

/** A transmission, as far as it was read. */
class Transmission {
  constructor() {
    this.sort = 0;
    this.start = 0;
    this.begin(0);
  }

  begin(row) {
    this.row = row;
    this.tries = 0;
    this.frozen = 0;
    this.waited = -1;
    this.packet = 0;
    this.outcome = 0;
    this.collided = -1;
    this.overlap = 0;
    this.reserves = 0;
    this.mpdus = 0;
    this.fresh = 0;
  }
}

/** What is remembered of a sort: what answers it and how much later (-1 if nothing), its last reservations, its last number of packets. */
class OfSort {
  constructor() {
    this.answer = -1;
    this.answerAfter = 0;
    this.reserves = 0;
    this.mpdus = 0;
  }
}

/** What transmissions are expected to be. */
export class Timeline {
  constructor(head, sets, aggregates) {
    this.slot = head.slot_ns || 1;
    this.propagation = head.propagation_ns;
    this.flows = head.flows;
    this.answeredWithin = 3 * this.slot + 2 * this.propagation;
    this.sorts = [];
    this.aggregates = aggregates;
    this.reservations = new Reservations(sets);
    this.walk = new Walk(aggregates);
    this.seen = new Seen();
    this.beside = new Beside();
    /** The transmission that is read. */
    this.now = new Transmission();
    this.access = new Access(this);
    this.guessed = { tries: 0, packet: 0 };
    this.restart();
  }

  /** Makes another sort known: an object with the columns of its table. */
  learn(sort) {
    sort.isAnswer = sort.kind === KIND.cts || sort.kind === KIND.ack || sort.kind === KIND.blockAck;
    sort.usual = sort.to < 0 || sort.to === sort.from ? 1 : 0;
    this.sorts.push(sort);
  }

  restart() {
    this.ofSorts = [];
    this.nodes = [];
    /** What should follow: when, and of which sort. */
    this.expected = { length: 0, time: new Float64Array(MOST_AWAITED + 1), sort: new Int32Array(MOST_AWAITED + 1) };
    this.lastEnd = 0;
    this.nextSort = 0;
    this.seen.restart();
    this.access.restart();
    this.reservations.restart();
  }

  ofSort(place) {
    let known = this.ofSorts[place];
    if (!known) known = this.ofSorts[place] = new OfSort();
    return known;
  }

  node(index) {
    let known = this.nodes[index];
    if (!known) known = this.nodes[index] = new OfNode();
    return known;
  }

  /** Writes the transmissions of a block into the columns `out`, from row `first` on, and keeps in `beside` what is there beside them. */
  read(block, rows, out, first, ingresses) {
    const coded = new Coded(block);
    const t = this.now;
    const taken = { mpdus: new Uint16Array(rows), fresh: new Uint16Array(rows) };
    this.restart();
    this.beside.readEarly(coded, (node, flow, carries, packet, time) => this.node(node).drops(flow, carries).add(packet, time));
    let run = -1;
    for (let row = first; row < first + rows; row += 1) {
      if (run < 0) run = this.expected.length === 0 ? coded.number(coded.runAlone) : coded.number(this.expected.length === 1 ? coded.runAwaited : coded.runSeveral);
      t.begin(row);
      if (run > 0) {
        run -= 1;
        this.readAnswer(coded, t);
      } else {
        run = -1;
        this.readOther(coded, t);
      }
      put(out, row, t);
      taken.mpdus[row - first] = t.mpdus;
      taken.fresh[row - first] = t.fresh;
    }
    this.beside.readRest(coded, this.seen, ingresses, this.flows);
    this.readQueues(coded, rows, out, first, taken, ingresses);
    if (!coded.isOver()) throw damaged();
  }

  readQueues(coded, rows, out, first, taken, ingresses) {
    const queues = new Queues(this.beside, ingresses, coded);
    const of = { mpdus: 0, fresh: 0, arrived: false, takes: false, acknowledges: false, hands: false };
    for (let row = first; row < first + rows; row += 1) {
      const sort = this.sorts[out.sort[row]];
      of.mpdus = taken.mpdus[row - first];
      of.fresh = taken.fresh[row - first];
      of.arrived = out.outcome[row] === sort.usual;
      of.takes = sort.kind === KIND.data || sort.kind === KIND.rts;
      of.acknowledges = sort.kind === KIND.ack;
      of.hands = sort.kind === KIND.data && this.destinationOf(sort) !== sort.to;
      out.queue[row] = queues.read(sort, out.start[row], of);
    }
  }

  /** The node that packets in frames of a sort are for; the receiver of what is of no flow. */
  destinationOf(sort) {
    const flow = this.flows[sort.flow];
    if (!flow) return sort.to;
    return sort.carries === 1 ? flow.destination : flow.source;
  }

  readAnswer(coded, t) {
    if (!this.expected.length) throw damaged();
    t.start = this.expected.time[0];
    t.sort = this.expected.sort[0];
    const guess = this.guess(t.sort);
    guess.packet = this.guessPacket(t.sort, true, guess.tries, t.start);
    t.tries = guess.tries;
    this.readRest(coded, 0, guess, t);
    this.follow(1, t);
  }

  readOther(coded, t) {
    const mask = (this.expected.length ? coded.maskAwaited : coded.maskAlone).byte();
    const awaited = mask & MASK.answers;
    if (awaited > this.expected.length) throw damaged();
    t.sort = awaited ? this.expected.sort[awaited - 1] : this.readSort(coded);
    const guess = this.guess(t.sort);
    const rare = mask & MASK.rare ? coded.rare.byte() : 0;
    if (awaited) t.start = this.expected.time[awaited - 1];
    else this.access.read(coded, this.node(this.sorts[t.sort].from), guess.tries, t);
    guess.packet = this.guessPacket(t.sort, awaited > 0, guess.tries, t.start);
    t.tries = guess.tries + (rare & RARE.tries ? coded.signed(coded.rare) : 0);
    if (rare & (RARE.frozen | RARE.waited)) {
      t.frozen = rare & RARE.frozen ? coded.signed(coded.rare) : 0;
      t.waited = rare & RARE.waited ? coded.signed(coded.rare) - 1 : -1;
    }
    this.readRest(coded, mask, guess, t);
    this.follow(awaited, t);
  }

  readSort(coded) {
    const from = coded.number(coded.who);
    const { sorts } = this.node(from);
    const signalled = coded.number(coded.which);
    if (signalled > sorts.length) throw damaged();
    const place = signalled ? sorts[signalled - 1] : this.nextSort + coded.signed(coded.sorts);
    if (!signalled && sorts.length < LATEST_SORTS) sorts.push(0);
    toFront(sorts, signalled ? signalled - 1 : sorts.length - 1, place);
    this.nextSort = Math.max(this.nextSort, place + 1);
    if (!this.sorts[place] || this.sorts[place].from !== from) throw damaged();
    return place;
  }

  /** What a transmission of a sort should have, but for its packet. */
  guess(place) {
    const { guessed } = this;
    guessed.tries = 0;
    guessed.packet = 0;
    const sort = this.sorts[place];
    if (sort.isAnswer) return guessed;
    const node = this.node(sort.from);
    const which = sort.kind === KIND.rts ? 0 : 1;
    const last = node.tries[which];
    if (sort.to >= 0) guessed.tries = node.answered[which] || last === 0 ? 1 : last + 1;
    return guessed;
  }

  guessPacket(place, awaited, tries, now) {
    const sort = this.sorts[place];
    if (sort.isAnswer || !sort.carries) return 0;
    const node = this.node(sort.from);
    if (awaited || tries > 1) return node.packet;
    const link = node.link(sort.to);
    if (link && link.again.length) return link.again[0].packet;
    const stream = node.stream(sort.flow, sort.carries);
    return stream ? stream.next(now) : 1;
  }

  /** Everything but when, and by whom, and after what. */
  readRest(coded, mask, guess, t) {
    const sort = this.sorts[t.sort];
    const of = this.ofSort(t.sort);
    const node = this.node(sort.from);
    t.outcome = sort.usual;
    if (mask & MASK.loss) {
      const loss = coded.number(coded.loss);
      t.outcome = Math.floor(loss / 4);
      t.overlap = loss - 4 * t.outcome;
      t.collided = coded.number(coded.collided) - 1;
    }
    const arrived = t.outcome === sort.usual;
    const signalled = (mask & MASK.mpdus) > 0;
    if (signalled) t.mpdus = coded.number(coded.mpdus);
    else if (arrived) t.mpdus = of.mpdus;
    t.fresh = t.mpdus ? this.readAggregate(coded, node, sort, t, signalled) : 0;
    t.packet = guess.packet + (mask & MASK.packet ? coded.signed(coded.packet) : 0);
    if (mask & MASK.reserves) of.reserves = this.readReserves(coded, node, sort, t.start, of.reserves);
    t.reserves = of.reserves;
    if (arrived) of.mpdus = t.mpdus;
  }

  readReserves(coded, node, sort, start, last) {
    const { reservations } = this;
    reservations.begin();
    this.seen.thatSend(start, (other) => {
      if (other === sort.from) return;
      reservations.cover(other);
      reservations.coverListeners(this.node(other).listeners);
    });
    return reservations.read(coded, node.listeners, sort, last);
  }

  /** The packets of an aggregate; returns how many are not of the last one. */
  readAggregate(coded, node, sort, t, signalled) {
    if (t.mpdus < 0 || t.mpdus > MOST_MPDUS) throw damaged();
    let link = node.link(sort.to);
    if (!link) {
      link = newLink(sort.to);
      node.links.push(link);
    }
    return this.walk.read(coded, node, link, t, t.mpdus, signalled);
  }

  /** Learns from a transmission, which was this one of the awaited, from 1. */
  follow(awaited, t) {
    if (awaited) this.forget(awaited - 1, 1);
    let over = 0;
    while (over < this.expected.length && this.expected.time[over] < t.start) over += 1;
    if (over) this.forget(0, over);
    const sort = this.sorts[t.sort];
    const end = t.start + sort.airtime;
    this.lastEnd = Math.max(this.lastEnd, end);
    const node = this.node(sort.from);
    if (!awaited) this.learnAnswer(node, sort, t);
    this.seen.sent(sort.from, t.start, end);
    if (!sort.isAnswer) {
      node.end = end;
      node.packet = t.packet;
      const which = sort.kind === KIND.rts ? 0 : 1;
      if (sort.to >= 0) {
        node.tries[which] = t.tries;
        node.answered[which] = false;
      }
      if (sort.carries && !node.link(sort.to)) {
        const stream = node.stream(sort.flow, sort.carries);
        if (stream) stream.last = t.packet;
        else node.learnStream(sort.flow, sort.carries, t.packet, this.aggregates.streamOf(sort.flow, sort.carries));
      }
    }
    if (sort.to >= 0) this.reaches(sort, t, end);
  }

  learnAnswer(node, sort, t) {
    if (node.addressed < 0 || t.start < node.addressedEnd || t.start - node.addressedEnd > this.answeredWithin) return;
    const to = this.sorts[node.addressed];
    if (to.from === sort.to && (sort.isAnswer || to.kind === KIND.cts)) {
      const of = this.ofSort(node.addressed);
      of.answer = t.sort;
      of.answerAfter = t.start - node.addressedStart;
    }
  }

  reaches(sort, t, end) {
    const node = this.node(sort.to);
    node.addressed = t.sort;
    node.addressedStart = t.start;
    node.addressedEnd = end;
    if (sort.isAnswer) node.end = end;
    if (t.outcome !== sort.usual) return;
    if (sort.isAnswer) {
      node.answered[0] = true;
      node.answered[1] ||= sort.kind !== KIND.cts;
      if (sort.kind !== KIND.cts) this.seen.answered(sort.to, end);
    }
    if (sort.kind === KIND.data) {
      node.arrivedBefore = node.arrived;
      node.arrived = end + this.propagation;
      if (sort.carries) this.arrived(sort, t, end);
      toFront(this.access.arrivals, 3, sort.to);
    }
    const of = this.ofSort(t.sort);
    if (of.answer >= 0) this.expect(t.start + of.answerAfter, of.answer);
  }

  /** Packets arrived, of one or more streams. */
  arrived(sort, { row, mpdus }, end) {
    if (!mpdus) {
      this.seen.arrived(sort.to, sort.flow, sort.carries, end, 1);
      return;
    }
    this.aggregates.lastArrived(row, sort, ({ flow, carries }, packets) => this.seen.arrived(sort.to, flow, carries, end, packets));
  }

  /** An answer should begin then. */
  expect(when, which) {
    const { time, sort } = this.expected;
    let at = this.expected.length;
    for (; at > 0 && time[at - 1] > when; at -= 1) {
      time[at] = time[at - 1];
      sort[at] = sort[at - 1];
    }
    time[at] = when;
    sort[at] = which;
    this.expected.length += 1;
    if (this.expected.length > MOST_AWAITED) this.forget(0, 1);
  }

  /** Some of what is expected is not any more. */
  forget(place, count) {
    const { time, sort } = this.expected;
    this.expected.length -= count;
    for (let at = place; at < this.expected.length; at += 1) {
      time[at] = time[at + count];
      sort[at] = sort[at + count];
    }
  }
}

/** Puts a transmission down. */
function put(out, row, t) {
  out.start[row] = t.start;
  out.sort[row] = t.sort;
  out.try[row] = t.tries;
  out.frozen[row] = t.frozen;
  out.waited[row] = t.waited;
  out.packet[row] = t.packet;
  out.outcome[row] = t.outcome;
  out.collided[row] = t.collided;
  out.overlap[row] = t.overlap;
  out.reserves[row] = t.reserves;
}
