// Which stations set the NAV by a frame. crates/frames says what a log has of it (timeline/reserved.rs).

import { Chances } from "./chance.js";
import { Growing, damaged } from "./unpack.js";

/** Another NAV than the frame's is one of so many that were met lately, or signalled. */
const LATEST_LENGTHS = 4;
/** Of each listener: whether it hears, by whether it heard the last frame of the sort and whether something covers this one; whether it decodes, by kind. */
const BY_HEARING = 4;
const BY_KIND = 3;

/** Sets of nodes with their NAVs, numbered from 1 in the order of their first. One that is met again keeps its number. */
export class Sets {
  constructor() {
    this.count = 0;
    /** Of set `n` are the rows from `first[n]` to `first[n + 1]`. */
    this.first = new Growing(Int32Array);
    this.first.push(0);
    this.first.push(0);
    this.node = new Growing(Int32Array);
    this.nav = new Growing(Float64Array);
    /** Numbers by hash, with open addressing. */
    this.slots = new Int32Array(4096);
  }

  /** The number of the set of the first `length` of these; 0 if there are none. */
  number(nodes, navs, length) {
    if (!length) return 0;
    const mask = this.slots.length - 1;
    let slot = hash(nodes, navs, 0, length) & mask;
    for (let known = this.slots[slot]; known; known = this.slots[slot]) {
      if (this.is(known, nodes, navs, length)) return known;
      slot = (slot + 1) & mask;
    }
    this.count += 1;
    this.slots[slot] = this.count;
    for (let at = 0; at < length; at += 1) {
      this.node.push(nodes[at]);
      this.nav.push(navs[at]);
    }
    this.first.push(this.node.length);
    if (2 * this.count > this.slots.length) this.spread();
    return this.count;
  }

  is(set, nodes, navs, length) {
    const from = this.first.values[set];
    if (this.first.values[set + 1] - from !== length) return false;
    for (let at = 0; at < length; at += 1) {
      if (this.node.values[from + at] !== nodes[at] || this.nav.values[from + at] !== navs[at]) return false;
    }
    return true;
  }

  spread() {
    this.slots = new Int32Array(2 * this.slots.length);
    const mask = this.slots.length - 1;
    const first = this.first.values;
    for (let set = 1; set <= this.count; set += 1) {
      let slot = hash(this.node.values, this.nav.values, first[set], first[set + 1]) & mask;
      while (this.slots[slot]) slot = (slot + 1) & mask;
      this.slots[slot] = set;
    }
  }

  /** The columns of the table of reservations. */
  columns() {
    const set = new Int32Array(this.node.length);
    for (let number = 1; number <= this.count; number += 1) set.fill(number, this.first.values[number], this.first.values[number + 1]);
    return { set, node: this.node.all(), nav: this.nav.all() };
  }
}

function hash(nodes, navs, from, to) {
  let made = to - from;
  for (let at = from; at < to; at += 1) {
    made = Math.imul(made ^ nodes[at], 0x9e3779b1);
    made = Math.imul(made ^ (made >>> 15) ^ navs[at], 0x85ebca6b);
  }
  return made ^ (made >>> 13);
}

/** Stations that may set the NAV by frames of a node. */
export class Listeners {
  constructor() {
    this.length = 0;
    this.grow(8);
  }

  grow(room) {
    const grown = (Type, values) => {
      const made = new Type(room);
      if (values) made.set(values);
      return made;
    };
    this.nodes = grown(Int32Array, this.nodes);
    this.hearing = this.hearing ? this.hearing.grown(BY_HEARING * room) : new Chances(BY_HEARING * room);
    this.decoding = this.decoding ? this.decoding.grown(BY_KIND * room) : new Chances(BY_KIND * room);
    /** Of each, whether it hears the frame, and how long it sets its NAV. */
    this.hears = grown(Uint8Array, this.hears);
    this.navs = grown(Float64Array, this.navs);
    /** Places of all, by node. */
    this.sorted = grown(Int32Array, this.sorted);
  }

  add(node) {
    if (this.length === this.nodes.length) this.grow(2 * this.length);
    let at = this.length;
    for (; at > 0 && this.nodes[this.sorted[at - 1]] > node; at -= 1) this.sorted[at] = this.sorted[at - 1];
    this.sorted[at] = this.length;
    this.nodes[this.length] = node;
    this.length += 1;
  }
}

/** Reads sets of which only what was not expected is coded. */
export class Reservations {
  constructor(sets) {
    this.sets = sets;
    this.lengths = new Float64Array(LATEST_LENGTHS);
    this.nodes = new Int32Array(64);
    this.navs = new Float64Array(64);
    /** By node: in which of the sets that were read it is among those before, and covered. */
    this.turn = 0;
    this.before = [];
    this.covered = [];
  }

  restart() { this.lengths.fill(0); }

  /** A set comes next; then `cover` tells of nodes that may not hear the frame. */
  begin() { this.turn += 1; }

  cover(node) { this.covered[node] = this.turn; }

  coverListeners({ nodes, length }) { for (let at = 0; at < length; at += 1) this.covered[nodes[at]] = this.turn; }

  /** The number of the set of a frame of this kind and NAV, the last one of the sort of which had the set `last`. */
  read(coded, listeners, { kind, nav }, last) {
    for (let left = coded.number(coded.listeners); left > 0; left -= 1) listeners.add(coded.number(coded.listeners));
    const { length, nodes, hears, navs, sorted } = listeners;
    const { first, node } = this.sets;
    for (let row = first.values[last]; last && row < first.values[last + 1]; row += 1) this.before[node.values[row]] = this.turn;
    for (let at = 0; at < length; at += 1) {
      const chance = (this.before[nodes[at]] === this.turn ? 1 : 0) + (this.covered[nodes[at]] === this.turn ? 2 : 0);
      hears[at] = coded.chances.bit(listeners.hearing, BY_HEARING * at + chance) ? 1 : 0;
    }
    const isOther = coded.number(coded.navs) > 0;
    for (let at = 0; isOther && at < length; at += 1) {
      if (!hears[at]) continue;
      const decodes = coded.chances.bit(listeners.decoding, BY_KIND * at + Math.min(Math.max(kind, 0), BY_KIND - 1));
      navs[at] = decodes ? nav : this.other(coded);
    }
    if (this.nodes.length < length) {
      this.nodes = new Int32Array(2 * length);
      this.navs = new Float64Array(2 * length);
    }
    let found = 0;
    for (let at = 0; at < length; at += 1) {
      const place = sorted[at];
      if (!hears[place]) continue;
      this.nodes[found] = nodes[place];
      this.navs[found] = isOther ? navs[place] : nav;
      found += 1;
    }
    return this.sets.number(this.nodes, this.navs, found);
  }

  /** How long another NAV lasts: as one of the latest, mostly the last one, or otherwise. */
  other(coded) {
    const { lengths } = this;
    const place = coded.navs.byte();
    if (place > LATEST_LENGTHS) throw damaged();
    const value = place === LATEST_LENGTHS ? coded.time() : lengths[place];
    for (let at = Math.min(place, LATEST_LENGTHS - 1); at > 0; at -= 1) lengths[at] = lengths[at - 1];
    lengths[0] = value;
    return value;
  }
}
