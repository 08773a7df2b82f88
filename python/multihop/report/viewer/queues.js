// How long queues are. crates/frames says what a log has of it (timeline/queues.rs).

import { unzigzag } from "./unpack.js";

const CAUSE = { queueFull: 0, retryLimit: 1 };

/** Packets that come to a queue, or leave it otherwise than by a frame. */
class Flux {
  constructor(runs, sign) {
    this.runs = runs;
    this.sign = sign;
    this.at = 0;
    this.ofNext = 0;
  }

  /** How many there are until an instant, beyond those that were counted. */
  until(now) {
    let found = 0;
    while (this.at < this.runs.length && this.runs[this.at].time <= now) {
      const { time, step, more } = this.runs[this.at];
      const passed = step ? Math.trunc((now - time) / step) : more;
      const count = Math.max(0, Math.min(Math.max(passed, 0), more) + 1 - this.ofNext);
      found += count;
      this.ofNext += count;
      if (this.ofNext <= more) break;
      this.at += 1;
      this.ofNext = 0;
    }
    return found * this.sign;
  }
}

/** The queue of a node. */
class Queue {
  constructor() {
    this.length = 0;
    /** Has the MAC a packet that it took out? */
    this.serves = false;
    /** It takes packets when a frame begins, for an aggregate. */
    this.aggregates = false;
    this.fluxes = [];
    this.givenUp = [];
  }

  pass(now) {
    let came = 0;
    for (const flux of this.fluxes) came += flux.until(now);
    this.come(came);
    let givenUp = 0;
    for (const flux of this.givenUp) givenUp += flux.until(now);
    for (let left = Math.min(givenUp, this.length + 1); left > 0; left -= 1) this.served();
  }

  come(packets) {
    const takes = packets > 0 && !this.serves && !this.aggregates;
    this.serves ||= takes;
    this.length = Math.max(0, this.length + packets - (takes ? 1 : 0));
  }

  /** The MAC is done with a packet. */
  served() {
    this.serves = this.length > 0;
    if (this.serves) this.length -= 1;
  }
}

/** The queues of nodes in a block. */
export class Queues {
  constructor({ entries, drops }, ingresses, coded) {
    this.nodes = [];
    this.coded = coded;
    /** So many are as expected, and then one is not. */
    this.asExpected = coded.queueRuns.take();
    for (const { key, runs } of entries) {
      const ingress = ingresses[key[0]];
      if (!ingress) continue;
      this.of(ingress.node).fluxes.push(new Flux(runs, 1));
      if (ingress.from !== ingress.node) this.of(ingress.from).fluxes.push(new Flux(runs, -1));
    }
    for (const { key, runs } of drops) {
      if (key[3] === CAUSE.queueFull) this.of(key[2]).fluxes.push(new Flux(runs, -1));
      else if (key[3] === CAUSE.retryLimit) this.of(key[2]).givenUp.push(new Flux(runs, 1));
    }
  }

  of(node) {
    let known = this.nodes[node];
    if (!known) known = this.nodes[node] = new Queue();
    return known;
  }

  /**
   * The queue of a transmission. `takes` says that it is DATA or RTS, `acknowledges` that it is an ACK and `hands` that it is DATA that goes
   * further than to its receiver.
   */
  read({ from, to }, start, { mpdus, fresh, arrived, takes, acknowledges, hands }) {
    const queue = this.of(from);
    queue.pass(start);
    if (mpdus > 0) {
      queue.aggregates = true;
      queue.length -= fresh;
    } else if (takes && !queue.aggregates && !queue.serves) {
      queue.served();
      queue.serves = true;
    }
    const length = queue.length + this.difference();
    queue.length = Math.max(0, length);
    if (arrived && to >= 0) {
      if (acknowledges) this.of(to).served();
      else if (hands) this.of(to).come(Math.max(1, mpdus));
    }
    return length;
  }

  /** By how much the next queue is not as expected. */
  difference() {
    if (this.asExpected > 0) {
      this.asExpected -= 1;
      return 0;
    }
    const difference = unzigzag(this.coded.queues.take());
    this.asExpected = this.coded.queueRuns.take();
    return difference;
  }
}
