// What transmissions bring about beside others. crates/frames says what follows from it (timeline/seen.rs, timeline/dropped.rs).

import { Growing } from "./unpack.js";

/** Instants from which others mostly follow, and how many packets each brought. */
export class Causes {
  constructor() {
    this.time = new Growing(Float64Array, 64);
    this.packets = new Growing(Float64Array, 64);
  }

  get length() { return this.time.length; }

  push(time, packets) {
    this.time.push(time);
    this.packets.push(packets);
  }

  clear() {
    this.time.length = 0;
    this.packets.length = 0;
  }
}

/** How many of the first values in a growing array are at most this, or less than it. */
export function countUntil({ values, length }, value, strictly = false) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value || (!strictly && values[middle] === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const NO_CAUSES = new Causes();

/** What was seen of the transmissions of a block. */
export class Seen {
  constructor() { this.restart(); }

  restart() {
    /** By node: its frames, and answers to it that say that DATA arrived. */
    this.starts = [];
    this.ends = [];
    this.answers = [];
    /** By receiver, flow and what they are: packets that arrived. */
    this.arrivals = new Map();
  }

  sent(from, start, end) {
    if (!this.starts[from]) {
      this.starts[from] = new Causes();
      this.ends[from] = new Causes();
    }
    this.starts[from].push(start, 0);
    this.ends[from].push(end, 0);
  }

  answered(to, end) {
    if (!this.answers[to]) this.answers[to] = new Causes();
    this.answers[to].push(end, 1);
  }

  arrived(to, flow, carries, end, packets) {
    const key = `${to} ${flow} ${carries}`;
    let known = this.arrivals.get(key);
    if (!known) this.arrivals.set(key, known = new Causes());
    known.push(end, packets);
  }

  startsOf(node) { return this.starts[node] ?? NO_CAUSES; }

  endsOf(node) { return this.ends[node] ?? NO_CAUSES; }

  /** Calls back with each node the latest frame of which ends later than this. */
  thatSend(now, call) {
    for (let node = 0; node < this.ends.length; node += 1) {
      const ends = this.ends[node]?.time;
      if (ends && ends.values[ends.length - 1] > now) call(node);
    }
  }

  /** What may bring packets by an ingress. */
  brings(ingress) {
    if (!ingress) return NO_CAUSES;
    const { flow, node, from } = ingress;
    const carries = node === from ? 3 - ingress.carries : ingress.carries;
    return this.arrivals.get(`${from} ${flow} ${carries}`) ?? this.answers[from] ?? NO_CAUSES;
  }
}

/** Numbers of packets of a stream that did not fit a queue, as ranges. */
export class Dropped {
  constructor() { this.ranges = []; }

  add(packet, time) {
    const range = this.ranges.at(-1);
    if (range && packet <= range.last) return;
    const passed = range ? time - timeOf(range, range.last) : 0;
    if (range && packet - 1 === range.last && (range.first === range.last || passed === range.step)) {
      range.last = packet;
      range.step = passed;
    } else this.ranges.push({ first: packet, last: packet, time, step: 0 });
  }

  /** This number, or the first one after it of a packet that was not lost until `now`. */
  next(number, now) {
    const { ranges } = this;
    let low = 0;
    let high = ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ranges[middle].last < number) low = middle + 1;
      else high = middle;
    }
    let packet = number;
    for (; low < ranges.length; low += 1) {
      const range = ranges[low];
      while (range.first <= packet && packet <= range.last) {
        if (timeOf(range, packet) > now) return packet;
        packet = (range.step === 0 ? range.last : packet) + 1;
      }
      if (packet <= range.last) break;
    }
    return packet;
  }
}

function timeOf(range, packet) { return range.time + (packet - range.first) * range.step; }
