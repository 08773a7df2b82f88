// Where in the time before a frame its sender counted back-off, and where it deferred, as far as the log tells.

import { lowerBound } from "./steps.js";

/** What is known of whether a node hears another one: it did; it counted a slot while the other one sent. */
const HEARS = 1;
const COUNTS = 2;
/** A contention with more transmissions in it is not looked into. */
const MOST_WITHIN = 4000;
/** Contentions that are remembered. */
const REMEMBERED = 20_000;
/** Instants that should be equal are, but for so many nanoseconds. */
const ALIKE = 2500;

/** Contentions of a log. What does not follow from it, is not said: then slots are in no place. */
export class Contentions {
  constructor(model) {
    this.model = model;
    this.slot = model.head.slot_ns || 1;
    this.late = model.head.propagation_ns || 0;
    this.known = new Map();
  }

  /**
   * The contention before transmission `i`: `{since, until, busy, counted, isLocated}`, where `busy` are the periods in which the node cannot
   * have counted, `counted` those in which it did; together these last as long as all slots that counted, or there are none.
   */
  of(i) {
    const found = this.known.get(i);
    if (found) return found;
    if (this.known.size > REMEMBERED) this.known.clear();
    const made = this.look(i);
    this.known.set(i, made);
    return made;
  }

  look(i) {
    const { model, slot } = this;
    const [since, until] = [model.contends[i], model.start[i]];
    const slots = model.slots[i];
    const nowhere = { since, until, busy: [], counted: [], isLocated: slots === 0 };
    const { nodes, flows } = model.only;
    const heard = nodes || flows ? null : this.heard(i, since, until);
    if (!heard) return nowhere;
    const gaps = between(heard.busy, since, until);
    const free = gaps.reduce((sum, [from, to]) => sum + to - from, 0);
    // A NAV was reset, or slots had counted before there was a frame to send.
    if (slots * slot > free) return nowhere;
    const made = { ...nowhere, busy: heard.busy };
    if (slots === 0) return made;
    // If it had deferred to one of these, there would have been no time for all its slots.
    const slack = free - slots * slot;
    const isOpen = heard.perhaps.some(([from, to]) => overlap(gaps, from, to) <= slack && !this.isBefore(gaps, from, to, until - slots * slot));
    const counted = isOpen ? null : this.place(i, gaps, slots);
    return counted ? { ...made, counted, isLocated: true } : made;
  }

  /** Is that over before the first slot can have counted, and has it begun before that, whether it was heard or not? */
  isBefore(gaps, from, to, first) { return gaps.length === 1 && to <= first && from <= gaps[0][0] + 2 * this.slot; }

  /** When the medium was busy or reserved for the sender of `i`, and transmissions that it may have heard, or not. Null of too many. */
  heard(i, since, until) {
    const { model, late } = this;
    const node = model.from[i];
    const [first, last] = [lowerBound(model.start, since - model.reach), lowerBound(model.start, until)];
    if (last - first > MOST_WITHIN) return null;
    const pairs = this.pairs();
    const [busy, perhaps] = [[], []];
    // The contention may begin with the end of what it heard last, which came a little later.
    const add = (list, from, to) => { if (to > since + late && from < until) list.push([Math.max(since, from), Math.min(until, to)]); };
    for (let other = first; other < last; other += 1) {
      if (other === i) continue;
      const from = model.from[other];
      const [begins, ends] = [model.start[other] + late, model.end[other] + late];
      if (from === node) {
        add(busy, model.start[other], model.end[other]);
        continue;
      }
      const nav = model.navOf(other, node);
      const known = pairs ? pairs[node * model.lane.length + from] : 0;
      // What began within a slot of the frame itself was not noticed.
      if (nav >= 0 || model.reaches(other, node) || known === HEARS) add(busy, begins, Math.max(ends, ends - late + nav));
      else if (known !== COUNTS && begins < until - this.slot) add(perhaps, begins, ends);
    }
    return { busy: merged(busy), perhaps };
  }

  /** The periods in which all slots counted; null if that does not follow. */
  place(i, gaps, slots) {
    const { slot } = this;
    const last = gaps[gaps.length - 1];
    const until = this.model.start[i];
    if (last[1] < until) return null;
    if (gaps.length === 1) return slots * slot <= last[1] - last[0] ? [[until - slots * slot, until]] : null;
    const space = this.spaceOf(this.model.from[i]);
    const made = [];
    let left = slots;
    for (let at = gaps.length - 1; at > 0; at -= 1) {
      const [from, to] = gaps[at];
      const whole = Math.floor((to - from - space + ALIKE) / slot);
      if (at === gaps.length - 1 && (whole < 0 || Math.abs(to - from - space - whole * slot) > ALIKE)) return null;
      if (whole > 0) made.unshift(at === gaps.length - 1 ? [to - whole * slot, to] : [from + space, from + space + whole * slot]);
      left -= Math.max(0, whole);
    }
    return this.placeFirst(i, gaps[0], left, space, made);
  }

  /** What is left is in the first gap, which may begin with a timeout, or in the middle of a medium that was idle before. */
  placeFirst(i, [from, to], left, space, made) {
    const { slot, model } = this;
    const rest = to - from - left * slot;
    if (left < 0 || rest < 0) return null;
    const isIdleBefore = model.waited[i] >= 0 && from === model.contends[i];
    if (!isIdleBefore && left > 0 && rest < space - ALIKE) return null;
    const early = rest - space;
    const into = early >= 0 && early < slot ? early : 0;
    if (left > 0) made.unshift([to - into - left * slot, to - into]);
    return made;
  }

  /** The inter-frame space of a node: the least time in which no slot of a contention counted. */
  spaceOf(node) {
    if (!this.spaces) {
      const { model, slot } = this;
      this.spaces = new Float64Array(model.lane.length).fill(Infinity);
      for (let i = 0; i < model.count; i += 1) {
        if (model.contends[i] < 0 || model.waited[i] >= 0 || !model.slots[i]) continue;
        const rest = model.start[i] - model.contends[i] - model.slots[i] * slot;
        if (rest > 0 && rest < this.spaces[model.from[i]]) this.spaces[model.from[i]] = rest;
      }
    }
    return this.spaces[node] - this.late;
  }

  /** By pair of nodes, what is known of whether one hears the other; null where nodes move or are off for a while: then it changes. */
  pairs() {
    if (this.hears === undefined) this.hears = this.model.places.size ? null : this.findPairs();
    return this.hears;
  }

  findPairs() {
    const { model, slot, late } = this;
    const nodes = model.lane.length;
    const made = new Uint8Array(nodes * nodes);
    const { first, node } = model.sets;
    let oldest = 0;
    for (let i = 0; i < model.count; i += 1) {
      const [from, to] = [model.from[i], model.to[i]];
      if (to >= 0 && model.reaches(i, to)) made[to * nodes + from] |= HEARS;
      const set = model.reserves[i];
      for (let row = set ? first[set] : 0; set && row < first[set + 1]; row += 1) made[node[row] * nodes + from] |= HEARS;
      if (model.contends[i] < 0 || !model.slots[i]) continue;
      while (model.start[oldest] + model.longest < model.start[i]) oldest += 1;
      for (let other = oldest; other < i; other += 1) {
        const isOn = model.end[other] > model.start[i] && model.start[other] + 2 * late < model.start[i] - slot;
        if (isOn && model.from[other] !== from) made[from * nodes + model.from[other]] |= COUNTS;
      }
    }
    return made;
  }
}

/** Periods in their order, of which none overlap. */
function merged(periods) {
  const made = [];
  for (const [from, to] of periods.sort((one, other) => one[0] - other[0])) {
    const last = made[made.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else made.push([from, to]);
  }
  return made;
}

/** What is between periods in an interval. */
function between(periods, from, to) {
  const made = [];
  let at = from;
  for (const [begins, ends] of [...periods, [to, to]]) {
    if (begins > at) made.push([at, begins]);
    at = Math.max(at, ends);
  }
  return made;
}

/** How much of an interval is in periods. */
function overlap(periods, from, to) {
  return periods.reduce((sum, [begins, ends]) => sum + Math.max(0, Math.min(to, ends) - Math.max(from, begins)), 0);
}
