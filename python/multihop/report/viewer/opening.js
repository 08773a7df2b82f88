// What the viewer shows first: a part of the log that can be read, and the lanes and tracks that have something in them.

import { lowerBound } from "./steps.js";

/** So many transmissions are in sight when the page opens, about. */
const FIRST = 40;
/** Where a log has no more than these, all of it is. */
const FEW = 80;
/** What is looked for, the best first. */
const MOMENTS = ["collision", "drop", "timeout"];

/** Where a page opens: `{from, to, at, what}`, with what is there in words. */
export function opening(model) {
  const { count, duration } = model;
  if (!count) return { from: 0, to: duration, at: 0, what: "" };
  if (count <= FEW) return { from: 0, to: duration, at: model.start[0], what: "" };
  const { time, what } = moment(model);
  const place = Math.min(count - 1, lowerBound(model.start, time));
  const first = Math.max(0, Math.min(count - FIRST, place - FIRST / 2));
  const last = Math.min(count - 1, first + FIRST - 1);
  // Far from the others one transmission would leave no room for them.
  const length = Math.max(1000, 1.04 * (model.end[last] - model.start[first]));
  const from = Math.max(0, Math.min(duration - length, model.start[first] - 0.02 * length));
  return { from, to: Math.min(duration, from + length), at: Math.min(time, from + length), what };
}

/** The first collision, drop or timeout after the warm-up; otherwise the first transmission after it, or of all. */
function moment(model) {
  const warmup = model.isCapture ? 0 : model.head.warmup_ns || 0;
  const when = warmup > 0 ? " after the warm-up" : "";
  const found = model.isCapture ? undefined : MOMENTS.map((what) => [what, model.next(what, warmup)]).find(([, next]) => next);
  if (found) return { time: found[1].time, what: `the first ${found[0]}${when}` };
  const place = lowerBound(model.start, warmup);
  const isAfter = place < model.count;
  return { time: model.start[isAfter ? place : 0], what: `the first transmission${isAfter ? when : ""}` };
}

/** Nodes that have a lane: all but those, such as hosts on wires, that have neither a frame nor a place where others have one. */
export function nodesOf(model) {
  const seen = new Uint8Array(model.head.nodes.length);
  const mark = (node) => { if (node >= 0) seen[node] = 1; };
  model.from.forEach(mark);
  model.to.forEach(mark);
  const all = model.head.nodes.map((_, node) => node);
  const placed = all.filter((node) => model.place(node, 0) !== null);
  if (!placed.length) return all;
  placed.forEach(mark);
  return all.filter((node) => seen[node]);
}

/** Tracks that have a value. */
export function tracksOf(model) {
  const { window: windows, rtt } = model.tables.windows?.columns || { window: [], rtt: [] };
  const some = (values) => values.some((value) => value > 0);
  const rate = model.rate.some((value, i) => value > 0 && model.kind[i] === 2);
  if (model.isCapture) return rate ? ["rate"] : [];
  const there = { queue: some(model.queue), window: some(windows), rtt: some(rtt), rate };
  return Object.keys(there).filter((track) => there[track]);
}
