// Transmissions, of which a log has only what a model does not expect. crates/frames says what that is (timeline, streams.rs); names are the same.

import { ofThousands, unzigzag } from "./unpack.js";

const STREAMS = [
  "runAlone", "runAwaited", "runSeveral", "maskAlone", "maskAwaited", "access", "accessAgain", "who", "which", "slots", "slotsAgain", "since", "rest",
  "rare", "queue", "loss", "collided", "listeners", "bits", "navs", "packet", "mpdus", "hits", "streams", "jumps", "lost", "outcomes", "low", "wide",
];
const KIND = { rts: 0, cts: 1, data: 2, ack: 3, blockAck: 5 };
const MASK = { answers: 3, queue: 4, loss: 8, reserves: 16, packet: 32, mpdus: 64, rare: 128 };
const RARE = { tries: 1, frozen: 2, waited: 4 };
const SINCE = { exchange: 0, arrival: 1, feeder: 2, gap: 3, otherwise: 4 };
const LATEST_SORTS = 128;
const MOST_AWAITED = 8;
const MOST_SPACE = 64;

/** What a block has of transmissions. */
class Coded {
  constructor(block) {
    for (const name of STREAMS) this[name] = block.unpack();
  }

  number(name) {
    const first = this[name].byte();
    if (first < 192) return first;
    if (first === 255) return unzigzag(this.wide.take());
    return 192 + (first - 192) * 256 + this.low.byte();
  }

  signed(name) { return unzigzag(this.number(name)); }

  time() { return ofThousands(this.wide.take()); }
}

/** Moves a value to the front of a list, from a place. */
function toFront(list, place, value) {
  for (let at = place; at > 0; at -= 1) list[at] = list[at - 1];
  list[0] = value;
}

/** What transmissions are expected to be. */
export class Timeline {
  constructor(head) {
    this.slot = head.slot_ns || 1;
    this.propagation = head.propagation_ns;
    this.flows = head.flows;
    this.answeredWithin = 3 * this.slot + 2 * this.propagation;
    this.sorts = [];
    this.sets = new Map();
    this.restart();
  }

  /** Makes another sort known: an object with the columns of its table. */
  learn(sort) {
    sort.isAnswer = sort.kind === KIND.cts || sort.kind === KIND.ack || sort.kind === KIND.blockAck;
    sort.usual = sort.to < 0 ? 1 : 0;
    this.sorts.push(sort);
  }

  restart() {
    this.ofSorts = [];
    this.nodes = [];
    this.expected = [];
    this.lastEnd = 0;
    this.rests = [0, 0, 0, 0];
    this.offsets = new Array(8).fill(0);
    this.arrivals = [0, 0, 0, 0];
  }

  ofSort(place) {
    this.ofSorts[place] ||= { answer: null, reserves: { set: 0, listeners: [] }, mpdus: 0 };
    return this.ofSorts[place];
  }

  node(index) {
    this.nodes[index] ||= {
      sorts: [], queue: 0, addressed: null, end: 0, arrived: 0, feeder: 0, gap: 0, gapBefore: 0, spaces: [0, 0, 0, 0, 0], spacesBefore: [0, 0, 0, 0, 0],
      tries: [0, 0], answered: [false, false], packet: 0, streams: [], links: [], listeners: [],
    };
    return this.nodes[index];
  }

  /** Appends the transmissions of a block to the tables `out`, from row `first` on. */
  read(block, rows, out, first) {
    const coded = new Coded(block);
    this.restart();
    let run = -1;
    for (let row = first; row < first + rows; row += 1) {
      if (run < 0) run = coded.number(["runAlone", "runAwaited", "runSeveral"][Math.min(this.expected.length, 2)]);
      const t = { sort: 0, start: 0, frozen: 0, waited: -1, tries: 0, queue: 0, packet: 0, outcome: 0, collided: -1, overlap: 0, mpdus: [] };
      if (run > 0) {
        run -= 1;
        this.readAnswer(coded, t);
      } else {
        run = -1;
        this.readOther(coded, t);
      }
      this.put(out, row, t);
    }
    for (const name of STREAMS) if (!coded[name].isOver()) throw new Error("The frame log is damaged.");
  }

  readAnswer(coded, t) {
    if (!this.expected.length) throw new Error("The frame log is damaged.");
    t.start = this.expected[0].time;
    t.sort = this.expected[0].sort;
    const guess = this.guess(t.sort, true);
    t.tries = guess.tries;
    this.readRest(coded, 0, guess, t);
    this.follow(1, t);
  }

  readOther(coded, t) {
    const mask = coded[this.expected.length ? "maskAwaited" : "maskAlone"].byte();
    const awaited = mask & MASK.answers;
    if (awaited > this.expected.length) throw new Error("The frame log is damaged.");
    t.sort = awaited ? this.expected[awaited - 1].sort : this.readSort(coded);
    const guess = this.guess(t.sort, awaited > 0);
    const rare = mask & MASK.rare ? coded.rare.byte() : 0;
    if (awaited) t.start = this.expected[awaited - 1].time;
    else this.readAccess(coded, guess.tries > 1, t);
    t.tries = guess.tries + (rare & RARE.tries ? coded.signed("rare") : 0);
    if (rare & (RARE.frozen | RARE.waited)) {
      t.frozen = rare & RARE.frozen ? coded.signed("rare") : 0;
      t.waited = rare & RARE.waited ? coded.signed("rare") - 1 : -1;
    }
    this.readRest(coded, mask, guess, t);
    this.follow(awaited, t);
  }

  readSort(coded) {
    const from = coded.number("who");
    const { sorts } = this.node(from);
    const told = coded.number("which");
    if (told > sorts.length) throw new Error("The frame log is damaged.");
    const place = told ? sorts.splice(told - 1, 1)[0] : coded.wide.take();
    if (sorts.length > LATEST_SORTS - 1) sorts.length = LATEST_SORTS - 1;
    sorts.unshift(place);
    if (!this.sorts[place] || this.sorts[place].from !== from) throw new Error("The frame log is damaged.");
    return place;
  }

  guess(place, awaited) {
    const sort = this.sorts[place];
    if (sort.isAnswer) return { tries: 0, packet: 0 };
    const node = this.node(sort.from);
    const which = sort.kind === KIND.rts ? 0 : 1;
    const last = node.tries[which];
    let tries = 0;
    if (sort.to >= 0) tries = node.answered[which] || last === 0 ? 1 : last + 1;
    if (!sort.carries) return { tries, packet: 0 };
    if (awaited || tries > 1) return { tries, packet: node.packet };
    const link = node.links.find((known) => known.to === sort.to);
    if (link && link.again.length) return { tries, packet: link.again[0].packet };
    const stream = this.stream(node, sort.flow, sort.carries);
    return { tries, packet: stream ? stream.last + 1 : 1 };
  }

  stream(node, flow, carries) {
    return node.streams.find((stream) => stream.flow === flow && stream.carries === carries);
  }

  /** When it begins, its back-off, and since when it waits. */
  readAccess(coded, again, t) {
    const node = this.node(this.sorts[t.sort].from);
    const code = coded[again ? "accessAgain" : "access"].byte();
    const [since, kind, begins] = [code & 7, (code >> 3) & 7, code & 64];
    let slots = 0;
    if (begins) {
      if (since === SINCE.otherwise) t.waited = coded.time();
      slots = coded.number(again ? "slotsAgain" : "slots");
    }
    const space = since === SINCE.exchange && again ? 4 : since;
    let began = 0;
    if (since === SINCE.exchange) began = node.end;
    else if (since === SINCE.arrival) began = node.arrived;
    else if (since === SINCE.feeder) began = this.node(node.feeder).arrived;
    else began = node.end + node.gap;
    if (kind) {
      const after = coded.signed("since");
      const known = this.rests.slice();
      const rest = kind === 5 ? coded.number("rest") : known[kind - 1];
      const place = known.indexOf(rest);
      toFront(this.rests, place < 0 ? 3 : place, rest);
      t.start = this.lastEnd + after * this.slot + rest;
    } else t.start = began + node.spaces[space] + slots * this.slot;
    if (!begins) return;
    if (since === SINCE.otherwise) began = t.start - t.waited;
    else if (since !== SINCE.exchange) t.waited = t.start - began;
    t.frozen = Math.floor((t.start - began) / this.slot) - slots;
    this.learnAccess(node, since, space, began, t.start - began - slots * this.slot);
  }

  learnAccess(node, since, space, began, found) {
    if (since === SINCE.otherwise) {
      const feeder = this.arrivals.find((index) => this.node(index).arrived === began);
      if (feeder !== undefined) node.feeder = feeder;
      else {
        const gap = began - node.end;
        if (node.gapBefore === gap) node.gap = gap;
        node.gapBefore = gap;
      }
    } else if (found >= 0 && found < MOST_SPACE * this.slot) {
      if (node.spacesBefore[space] === found || node.spaces[space] === 0) node.spaces[space] = found;
      node.spacesBefore[space] = found;
    }
  }

  /** Everything but when, and by whom, and after what. */
  readRest(coded, mask, guess, t) {
    const sort = this.sorts[t.sort];
    const of = this.ofSort(t.sort);
    const node = this.node(sort.from);
    t.outcome = sort.usual;
    if (mask & MASK.loss) {
      const loss = coded.number("loss");
      t.outcome = Math.floor(loss / 4);
      t.overlap = loss - 4 * t.outcome;
      t.collided = coded.number("collided") - 1;
    }
    const arrived = t.outcome === sort.usual;
    const count = mask & MASK.mpdus ? coded.number("mpdus") : arrived ? of.mpdus : 0;
    const fresh = count ? this.readAggregate(coded, node, sort, mask & MASK.mpdus, count, t) : 0;
    t.queue = node.queue - fresh + (mask & MASK.queue ? coded.signed("queue") : 0);
    t.packet = guess.packet + (mask & MASK.packet ? coded.signed("packet") : 0);
    if (mask & MASK.reserves) of.reserves = this.readReserves(coded, node, sort.nav);
    t.reserves = of.reserves;
    if (arrived) of.mpdus = count;
  }

  /** Who sets the NAV: `{nodes, navs, set}`, of which the set is numbered when it is put down. */
  readReserves(coded, node, nav) {
    const { listeners } = node;
    for (let left = coded.number("listeners"); left > 0; left -= 1) listeners.push({ node: coded.number("listeners"), lean: 0 });
    const members = [];
    for (let at = 0; at < listeners.length; at += 8) {
      const byte = coded.bits.byte();
      for (let place = 0; place < 8 && at + place < listeners.length; place += 1) {
        const listener = listeners[at + place];
        const hears = ((byte >> place) & 1) !== (listener.lean >= 0 ? 1 : 0);
        listener.lean = Math.max(-4, Math.min(3, listener.lean + (hears ? 1 : -1)));
        if (hears) members.push([listener.node, nav]);
      }
    }
    if (coded.number("navs")) for (const member of members) member[1] += this.readOffset(coded);
    members.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    return { members, set: members.length ? -1 : 0 };
  }

  readOffset(coded) {
    const place = coded.number("navs");
    const value = place === 8 ? coded.time() : this.offsets[place];
    toFront(this.offsets, Math.min(place, 7), value);
    return value;
  }

  /** The packets of an aggregate; returns how many are not of the last one. */
  readAggregate(coded, node, sort, told, count, t) {
    let link = node.links.find((known) => known.to === sort.to);
    if (!link) {
      link = { to: sort.to, latest: null, again: [] };
      node.links.push(link);
    }
    const { again } = link;
    let next = 0;
    let fresh = 0;
    const take = (stream, packet) => {
      let place = next;
      while (place < again.length && (again[place].stream !== stream || again[place].packet !== packet)) place += 1;
      if (place < again.length) next = place + 1;
      else {
        link.latest = stream;
        stream.last = packet;
        fresh += 1;
      }
      t.mpdus.push({ stream, packet, outcome: 0 });
    };
    while (t.mpdus.length < count) {
      const coming = told ? coded.number("hits") : 0;
      const hits = coming ? coming - 1 : count - t.mpdus.length;
      if (hits > count - t.mpdus.length) throw new Error("The frame log is damaged.");
      for (let left = hits; left > 0; left -= 1) {
        if (next < again.length) take(again[next].stream, again[next].packet);
        else take(link.latest, link.latest.last + 1);
      }
      if (t.mpdus.length < count) {
        const place = coded.number("streams");
        if (place === node.streams.length) {
          const flow = coded.number("streams");
          node.streams.push({ flow, carries: coded.number("streams"), last: 0 });
        }
        const stream = node.streams[place];
        take(stream, stream.last + 1 + coded.signed("jumps"));
      }
    }
    if (told) this.readOutcomes(coded, t.mpdus);
    link.again = t.mpdus.filter((mpdu) => mpdu.outcome);
    return fresh;
  }

  readOutcomes(coded, mpdus) {
    if (!coded.lost.byte()) return;
    for (let at = 0; at < mpdus.length; at += 8) {
      const byte = coded.lost.byte();
      for (let place = 0; place < 8 && at + place < mpdus.length; place += 1) {
        if ((byte >> place) & 1) mpdus[at + place].outcome = coded.number("outcomes");
      }
    }
  }

  /** Learns from a transmission, which was this one of the awaited, from 1. */
  follow(awaited, t) {
    const { expected } = this;
    if (awaited) expected.splice(awaited - 1, 1);
    while (expected.length && expected[0].time < t.start) expected.shift();
    const sort = this.sorts[t.sort];
    const end = t.start + sort.airtime;
    this.lastEnd = Math.max(this.lastEnd, end);
    const node = this.node(sort.from);
    if (!awaited) this.learnAnswer(node, sort, t);
    node.queue = t.queue;
    if (!sort.isAnswer) {
      node.end = end;
      node.packet = t.packet;
      const which = sort.kind === KIND.rts ? 0 : 1;
      if (sort.to >= 0) {
        node.tries[which] = t.tries;
        node.answered[which] = false;
      }
      if (sort.carries && !node.links.some((link) => link.to === sort.to)) {
        const stream = this.stream(node, sort.flow, sort.carries);
        if (stream) stream.last = t.packet;
        else node.streams.push({ flow: sort.flow, carries: sort.carries, last: t.packet });
      }
    }
    if (sort.to >= 0) this.reaches(sort, t, end);
  }

  learnAnswer(node, sort, t) {
    const { addressed } = node;
    if (!addressed || t.start < addressed.end || t.start - addressed.end > this.answeredWithin) return;
    const to = this.sorts[addressed.sort];
    if (to.from === sort.to && (sort.isAnswer || to.kind === KIND.cts)) {
      this.ofSort(addressed.sort).answer = { after: t.start - addressed.start, sort: t.sort };
    }
  }

  reaches(sort, t, end) {
    const node = this.node(sort.to);
    node.addressed = { sort: t.sort, start: t.start, end };
    if (sort.isAnswer) node.end = end;
    if (t.outcome !== sort.usual) return;
    if (sort.isAnswer) {
      node.answered[0] = true;
      node.answered[1] ||= sort.kind !== KIND.cts;
      if (sort.kind === KIND.ack && node.queue > 0) node.queue -= 1;
    }
    if (sort.kind === KIND.data) {
      node.arrived = end + this.propagation;
      const flow = this.flows[sort.flow];
      const last = flow ? (sort.carries === 1 ? flow.destination : flow.source) : sort.to;
      if (node.queue > 0 && last !== sort.to) node.queue += Math.max(1, t.mpdus.length);
      toFront(this.arrivals, 3, sort.to);
    }
    const { answer } = this.ofSort(t.sort);
    if (!answer) return;
    const time = t.start + answer.after;
    let at = this.expected.length;
    while (at > 0 && this.expected[at - 1].time > time) at -= 1;
    this.expected.splice(at, 0, { time, sort: answer.sort });
    if (this.expected.length > MOST_AWAITED) this.expected.shift();
  }

  /** Puts a transmission, its packets, and its set of reservations down. */
  put({ transmissions, mpdus, reservations }, row, t) {
    const { reserves } = t;
    if (reserves.set < 0) reserves.set = this.setOf(reserves.members, reservations);
    transmissions.start[row] = t.start;
    transmissions.sort[row] = t.sort;
    transmissions.try[row] = t.tries;
    transmissions.frozen[row] = t.frozen;
    transmissions.waited[row] = t.waited;
    transmissions.queue[row] = t.queue;
    transmissions.packet[row] = t.packet;
    transmissions.outcome[row] = t.outcome;
    transmissions.collided[row] = t.collided;
    transmissions.overlap[row] = t.overlap;
    transmissions.reserves[row] = reserves.set;
    const { from } = this.sorts[t.sort];
    for (const { stream, packet, outcome } of t.mpdus) {
      mpdus.start.push(t.start);
      mpdus.from.push(from);
      mpdus.flow.push(stream.flow);
      mpdus.carries.push(stream.carries);
      mpdus.packet.push(packet);
      mpdus.outcome.push(outcome);
    }
  }

  /** The number of a set, which may be new. */
  setOf(members, reservations) {
    const key = members.join(";");
    if (!this.sets.has(key)) {
      this.sets.set(key, this.sets.size + 1);
      for (const [node, nav] of members) {
        reservations.set.push(this.sets.size);
        reservations.node.push(node);
        reservations.nav.push(nav);
      }
    }
    return this.sets.get(key);
  }
}
