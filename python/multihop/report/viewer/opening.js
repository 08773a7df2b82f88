// Initial view of the viewer: interval, lanes and tracks.

import { lowerBound } from "./steps.js";

/** Approximate number of transmissions in the initial view. */
const INITIAL = 40;
/** Maximum number of transmissions of a log that is shown whole. */
const MAX_WHOLE = 80;
/** Events around which the page opens, in the order of preference. */
const EVENT_ORDER = ["collision", "drop", "timeout"];

/** Returns the initial view: interval, cursor, and a description of the event there: `{from, to, at, label}`. */
export function opening(model) {
  const { count, duration } = model;
  if (!count) return { from: 0, to: duration, at: 0, label: "" };
  if (count <= MAX_WHOLE) return { from: 0, to: duration, at: model.start[0], label: "" };
  const { time, label } = initialEvent(model);
  const place = Math.min(count - 1, lowerBound(model.start, time));
  const first = Math.max(0, Math.min(count - INITIAL, place - INITIAL / 2));
  const last = Math.min(count - 1, first + INITIAL - 1);
  const length = Math.max(1000, 1.04 * (model.end[last] - model.start[first]));
  const from = Math.max(0, Math.min(duration - length, model.start[first] - 0.02 * length));
  return { from, to: Math.min(duration, from + length), at: Math.min(time, from + length), label };
}

/** Returns the first collision, drop or timeout after the warm-up; otherwise the first transmission after it, or of the log. */
function initialEvent(model) {
  const warmup = model.isCapture ? 0 : model.head.warmup_ns || 0;
  const when = warmup > 0 ? " after the warm-up" : "";
  const found = model.isCapture ? undefined : EVENT_ORDER.map((event) => [event, model.next(event, warmup)]).find(([, next]) => next);
  if (found) return { time: found[1].time, label: `the first ${found[0]}${when}` };
  const place = lowerBound(model.start, warmup);
  const isAfter = place < model.count;
  return { time: model.start[isAfter ? place : 0], label: `the first transmission${isAfter ? when : ""}` };
}

/** Returns the nodes with a lane. Nodes without frames and without a position, such as wired hosts, have none if other nodes have positions. */
export function nodesOf(model) {
  const hasLane = new Uint8Array(model.head.nodes.length);
  const mark = (node) => { if (node >= 0) hasLane[node] = 1; };
  model.from.forEach(mark);
  model.to.forEach(mark);
  const all = model.head.nodes.map((_, node) => node);
  const placed = all.filter((node) => model.place(node, 0) !== null);
  if (!placed.length) return all;
  placed.forEach(mark);
  return all.filter((node) => hasLane[node]);
}

/** Returns the tracks that have values. */
export function tracksOf(model) {
  const { window: windows, rtt } = model.tables.windows?.columns || { window: [], rtt: [] };
  const hasValues = (values) => values.some((value) => value > 0);
  const rate = model.rate.some((value, i) => value > 0 && model.kind[i] === 2);
  if (model.isCapture) return rate ? ["rate"] : [];
  const tracks = { queue: hasValues(model.queue), window: hasValues(windows), rtt: hasValues(rtt), rate };
  return Object.keys(tracks).filter((track) => tracks[track]);
}
