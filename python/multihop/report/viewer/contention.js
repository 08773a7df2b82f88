// Backoff slots and deferrals in the contention before a frame, as far as they follow from the log.

import { lowerBound } from "./steps.js";

/** Flags of a pair of nodes: the first node heard the second; the first counted a slot while the second transmitted. */
const HEARS = 1;
const COUNTS = 2;
/** Maximum number of transmissions in a contention that is analysed. */
const MAX_ANALYSED = 4000;
/** Size of the cache of contentions. */
const CACHE_SIZE = 20_000;
/** Tolerance of times that should be equal, in nanoseconds. */
const TOLERANCE = 2500;

/** Contentions of a log. Slots are located only where their position follows from the log. */
export class Contentions {
  constructor(model) {
    this.model = model;
    this.slot = model.head.slot_ns || 1;
    this.propagation = model.head.propagation_ns || 0;
    this.cache = new Map();
  }

  /**
   * Returns the contention before transmission `i`: `{since, until, busy, counted, isLocated}`. `busy` are periods in which the node cannot have
   * counted slots. `counted` are periods in which it did: all slots, or none if `isLocated` is false.
   */
  of(i) {
    const cached = this.cache.get(i);
    if (cached) return cached;
    if (this.cache.size > CACHE_SIZE) this.cache.clear();
    const contention = this.analyse(i);
    this.cache.set(i, contention);
    return contention;
  }

  analyse(i) {
    const { model, slot } = this;
    const [since, until] = [model.contends[i], model.start[i]];
    const slots = model.slots[i];
    const unlocated = { since, until, busy: [], counted: [], isLocated: slots === 0 };
    const { nodes, flows } = model.only;
    const heard = nodes || flows ? null : this.heard(i, since, until);
    if (!heard) return unlocated;
    const gaps = gapsBetween(heard.busy, since, until);
    const idle = gaps.reduce((sum, [from, to]) => sum + to - from, 0);
    // The NAV was reset, or slots counted before the frame was queued.
    if (slots * slot > idle) return unlocated;
    const contention = { ...unlocated, busy: heard.busy };
    if (slots === 0) return contention;
    // Deferring to a transmission longer than this would leave no time for all slots, unless some counted before the frame was queued.
    const slack = model.waited[i] >= 0 ? Infinity : idle - slots * slot;
    const isAmbiguous = heard.uncertain.some(([from, to]) => overlap(gaps, from, to) <= slack && !this.isBefore(gaps, from, to, until - slots * slot));
    const counted = isAmbiguous ? null : this.locate(i, gaps, slots);
    return counted ? { ...contention, counted, isLocated: true } : contention;
  }

  /** Whether a transmission ended before the first slot can have counted and began within the initial spaces: hearing it has no influence. */
  isBefore(gaps, from, to, first) { return gaps.length === 1 && to <= first && from <= gaps[0][0] + 2 * this.slot; }

  /** Returns the periods in which the medium was busy or reserved for the sender of `i`, and transmissions that it may have heard. Null for too many. */
  heard(i, since, until) {
    const { model, propagation } = this;
    const node = model.from[i];
    const [first, last] = [lowerBound(model.start, since - model.reach), lowerBound(model.start, until)];
    if (last - first > MAX_ANALYSED) return null;
    const pairs = this.pairs();
    const [busy, uncertain] = [[], []];
    // The contention may begin at the end of a frame, which listeners hear after the propagation delay.
    const add = (list, from, to) => { if (to > since + propagation && from < until) list.push([Math.max(since, from), Math.min(until, to)]); };
    for (let other = first; other < last; other += 1) {
      if (other === i) continue;
      const from = model.from[other];
      const [start, end] = [model.start[other] + propagation, model.end[other] + propagation];
      if (from === node) {
        add(busy, model.start[other], model.end[other]);
        continue;
      }
      const nav = model.navOf(other, node);
      const relation = pairs ? pairs[node * model.lane.length + from] : 0;
      // A transmission that began within a slot of the frame was not sensed.
      if (nav >= 0 || model.reaches(other, node) || relation === HEARS) add(busy, start, Math.max(end, end - propagation + nav));
      else if (relation !== COUNTS && start < until - this.slot) add(uncertain, start, end);
    }
    return { busy: merge(busy), uncertain };
  }

  /** Returns the periods in which all slots counted; null if these do not follow from the log. */
  locate(i, gaps, slots) {
    const { slot } = this;
    const last = gaps[gaps.length - 1];
    const until = this.model.start[i];
    if (last[1] < until) return null;
    const space = this.spaceOf(this.model.from[i]);
    if (gaps.length === 1) return this.fits(i, last, slots, space) ? [[until - slots * slot, until]] : null;
    const periods = [];
    let remaining = slots;
    for (let at = gaps.length - 1; at > 0; at -= 1) {
      const [from, to] = gaps[at];
      const count = Math.floor((to - from - space + TOLERANCE) / slot);
      if (at === gaps.length - 1 && (count < 0 || Math.abs(to - from - space - count * slot) > TOLERANCE)) return null;
      if (count > 0) periods.unshift(at === gaps.length - 1 ? [to - count * slot, to] : [from + space, from + space + count * slot]);
      remaining -= Math.max(0, count);
    }
    return this.locateFirst(i, gaps[0], remaining, space, periods);
  }

  /** Locates the remaining slots in the first gap, which may begin with a timeout or within an idle period. */
  locateFirst(i, [from, to], remaining, space, periods) {
    const { slot } = this;
    if (remaining < 0 || !this.fits(i, [from, to], remaining, space)) return null;
    const excess = to - from - remaining * slot - space;
    const offset = excess >= 0 && excess < slot ? excess : 0;
    if (remaining > 0) periods.unshift([to - offset - remaining * slot, to - offset]);
    return periods;
  }

  /**
   * Whether slots fit into the first gap of a contention. A gap after a busy period begins with an inter-frame space; otherwise some slots counted
   * before the frame was queued.
   */
  fits(i, [from, to], slots, space) {
    const { model } = this;
    const rest = to - from - slots * this.slot;
    const isIdleBefore = model.waited[i] >= 0 && from === model.contends[i];
    return rest >= (isIdleBefore || slots === 0 ? 0 : space - TOLERANCE);
  }

  /** Returns the inter-frame space of a node: the minimum time of a contention in which no slot counted. */
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
    return this.spaces[node] - this.propagation;
  }

  /** Returns the flags of each pair of nodes; null where nodes move or have outages, because the flags change then. */
  pairs() {
    if (this.hears === undefined) this.hears = this.model.places.size ? null : this.findPairs();
    return this.hears;
  }

  findPairs() {
    const { model, slot, propagation } = this;
    const nodes = model.lane.length;
    const pairs = new Uint8Array(nodes * nodes);
    const { first, node } = model.sets;
    let oldest = 0;
    for (let i = 0; i < model.count; i += 1) {
      const [from, to] = [model.from[i], model.to[i]];
      if (to >= 0 && model.reaches(i, to)) pairs[to * nodes + from] |= HEARS;
      const set = model.reserves[i];
      for (let row = set ? first[set] : 0; set && row < first[set + 1]; row += 1) pairs[node[row] * nodes + from] |= HEARS;
      if (model.contends[i] < 0 || !model.slots[i]) continue;
      while (model.start[oldest] + model.longest < model.start[i]) oldest += 1;
      for (let other = oldest; other < i; other += 1) {
        const isOnAir = model.end[other] > model.start[i] && model.start[other] + 2 * propagation < model.start[i] - slot;
        if (isOnAir && model.from[other] !== from) pairs[from * nodes + model.from[other]] |= COUNTS;
      }
    }
    return pairs;
  }
}

/** Merges overlapping periods and sorts them. */
function merge(periods) {
  const merged = [];
  for (const [from, to] of periods.sort((one, other) => one[0] - other[0])) {
    const last = merged[merged.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** Returns the gaps between periods in an interval. */
function gapsBetween(periods, from, to) {
  const gaps = [];
  let at = from;
  for (const [start, end] of [...periods, [to, to]]) {
    if (start > at) gaps.push([at, start]);
    at = Math.max(at, end);
  }
  return gaps;
}

/** Returns the duration of the overlap of an interval with periods. */
function overlap(periods, from, to) {
  return periods.reduce((sum, [start, end]) => sum + Math.max(0, Math.min(to, end) - Math.max(from, start)), 0);
}
