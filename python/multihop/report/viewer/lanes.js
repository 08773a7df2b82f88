// Drawing of lanes: single transmissions, or sums where many are visible.

import { CATEGORIES } from "./model.js";
import { nextBound, lowerBound } from "./steps.js";
import { AXIS, COLOURS, LANE } from "./style.js";

/** Width of a column of sums, in pixels. */
const COLUMN = 2;
/** Minimum height of a category in a column that counts transmissions, in pixels. */
const MIN_HEIGHT = 4;
/** Maximum number of visible transmissions for which backoff and NAV are drawn. */
const MAX_WITH_BACKOFF = 4000;
/** Maximum number of transmissions in the visible lanes that are drawn one by one; more are drawn as sums. */
const MAX_SINGLE = 8000;
/** Number of transmissions after the visible interval whose contention may begin in it. */
const LOOKAHEAD = 8;
/** Minimum width of a contention that is drawn in detail, in pixels. */
const MIN_DETAIL = 3;

/** Draws the lanes of `frame`, the drawing context of draw.js. */
export function drawLanes(g, frame) {
  const { model, state, box, first, last } = frame;
  let inLanes = 0;
  const ranges = box.lanes.map((node) => {
    const { start } = model.lane[node];
    const from = lowerBound(start, state.from - model.longest);
    const to = lowerBound(start, state.to, from);
    inLanes += to - from;
    return [from, to];
  });
  if (inLanes > MAX_SINGLE) {
    const maximum = columnMaximum(frame);
    box.lanes.forEach((node, index) => sums(frame, model.lane[node], AXIS + index * LANE + 4, maximum));
  } else {
    if (last - first <= MAX_WITH_BACKOFF) backoffAndNav(g, frame);
    box.lanes.forEach((node, index) => singles(g, frame, model.lane[node], ranges[index], AXIS + index * LANE));
  }
  g.globalAlpha = 1;
  outages(g, frame);
}

/** Draws single transmissions of a lane. */
function singles(g, { model, state, box, x, colours }, lane, [from, to], top) {
  for (let place = from; place < to; place += 1) {
    const i = lane.order[place];
    if (model.end[i] < state.from) continue;
    const at = x(model.start[i]);
    const length = Math.max(x(model.end[i]) - at, 1);
    const category = model.category[i];
    const isLit = state.isLit(i);
    g.globalAlpha = isLit ? 1 : 0.25;
    g.fillStyle = COLOURS[CATEGORIES[category === 4 ? model.kind[i] < 4 ? model.kind[i] : 0 : category]];
    g.fillRect(at, top + 4, length, LANE - 9);
    if (category === 4) {
      g.fillStyle = COLOURS.lost;
      g.fillRect(at, top + 4, length, 6);
      if (length > 8) cross(g, at, top + 4, Math.min(length, LANE - 9), LANE - 9);
    }
    if (length > 44) {
      g.globalAlpha = isLit ? 1 : 0.6;
      g.fillStyle = isLit ? "#ffffff" : colours.ink;
      g.textAlign = "left";
      const text = `${model.kindName(i)}${model.to[i] >= 0 && length > 90 ? ` > ${model.name(model.to[i])}` : ""}`;
      g.save();
      g.beginPath();
      g.rect(at, top, length - 3, LANE);
      g.clip();
      g.fillText(text, Math.max(at, box.left) + (category === 4 ? 22 : 4), top + LANE / 2 + (category === 4 ? 2 : 0));
      g.restore();
    }
    if (state.picked === i) {
      g.globalAlpha = 1;
      g.strokeStyle = colours.ink;
      g.lineWidth = 2;
      g.strokeRect(at - 1, top + 3, length + 2, LANE - 7);
    }
  }
}

/** Draws the cross of a lost transmission. */
function cross(g, left, top, width, height) {
  g.strokeStyle = "#ffffff";
  g.lineWidth = 1.5;
  g.beginPath();
  g.moveTo(left + 2, top + 8);
  g.lineTo(left + width - 2, top + height - 1);
  g.moveTo(left + width - 2, top + 8);
  g.lineTo(left + 2, top + height - 1);
  g.stroke();
}

/** Draws the backoff before transmissions, and the NAVs that they set. */
function backoffAndNav(g, frame) {
  const { model, state, box, x, colours } = frame;
  const tops = new Map(box.lanes.map((node, index) => [node, AXIS + index * LANE]));
  for (const [node, top] of tops) contentions(g, frame, model.lane[node], top + LANE - 9);
  const { first, node, nav } = model.sets;
  g.fillStyle = colours.nav;
  const [from, to] = [lowerBound(model.start, state.from - model.reach), lowerBound(model.start, state.to)];
  for (let i = from; i < to; i += 1) {
    const set = model.reserves[i];
    if (!set || model.end[i] + model.longestNav[set] < state.from) continue;
    for (let row = first[set]; row < first[set + 1]; row += 1) {
      const lane = tops.get(node[row]);
      if (lane === undefined) continue;
      const at = x(model.end[i]);
      g.fillRect(at, lane + LANE - 5, Math.max(1, x(model.end[i] + nav[row]) - at), 3);
    }
  }
}

/** Draws the contentions of a lane that overlap with the visible interval, also those whose frame follows it. */
function contentions(g, frame, lane, top) {
  const { model, state } = frame;
  const { order, start } = lane;
  let following = 0;
  for (let place = lowerBound(start, state.from); place < order.length && following < LOOKAHEAD; place += 1) {
    const i = order[place];
    if (start[place] >= state.to) following += 1;
    if (model.contends[i] >= 0 && model.contends[i] < state.to) contention(g, frame, i, top);
  }
}

/** Draws a contention, its deferrals, and its slots where these are located. */
function contention(g, { model, state, x, colours }, i, top) {
  const bar = (from, to, colour) => {
    const [left, right] = [x(Math.max(from, state.from)), x(Math.min(to, state.to))];
    g.fillStyle = colour;
    if (right > left) g.fillRect(left, top, right - left, 3);
  };
  bar(model.contends[i], model.start[i], colours.contends);
  if (x(model.start[i]) - x(model.contends[i]) < MIN_DETAIL) return;
  const { busy, counted } = model.contentions.of(i);
  busy.forEach(([from, to]) => bar(from, to, colours.backoff));
  counted.forEach(([from, to]) => bar(from, to, colours.soft));
}

/** Draws the shares of airtime, or of transmissions, as columns of colours; `maximum` fills a column. */
function sums({ state, box, raster, scale }, lane, top, maximum) {
  const height = (LANE - 9) * scale;
  const bottom = Math.round((top + LANE - 9) * scale);
  forColumns({ state, box }, lane, (column, values) => {
    let level = 0;
    for (let category = 0; category < CATEGORIES.length; category += 1) {
      const share = values[category] / maximum;
      if (share <= 0) continue;
      const from = bottom - Math.round(Math.min(1, level) * height);
      level += share;
      const to = bottom - Math.round(Math.min(1, level) * height);
      const visible = lane.isCounted ? Math.min(to, from - Math.round(MIN_HEIGHT * scale)) : to;
      raster.fill(Math.round(column * COLUMN * scale), visible, Math.round((column + 1) * COLUMN * scale), from, raster.colour(COLOURS[CATEGORIES[category]]));
    }
  });
}

/** Calls `visit` with the index of each column of a lane and the values of its categories, an array that is reused. */
function forColumns({ state, box }, lane, visit) {
  const columns = columnsOf(box);
  const per = (state.to - state.from) / columns;
  let [before, after] = [new Float64Array(CATEGORIES.length), new Float64Array(CATEGORIES.length)];
  const values = new Float64Array(CATEGORIES.length);
  let place = lowerBound(lane.start, state.from);
  lane.until(state.from, place, before);
  for (let column = 0; column < columns; column += 1) {
    const until = state.from + (column + 1) * per;
    place = nextBound(lane.start, until, place);
    lane.until(until, place, after);
    for (let category = 0; category < CATEGORIES.length; category += 1) values[category] = after[category] - before[category];
    visit(column, values);
    [before, after] = [after, before];
  }
}

/** Returns the number of columns of sums. */
function columnsOf(box) { return Math.max(1, Math.floor((box.width - box.left) / COLUMN)); }

/** Returns the value that fills a column: its duration, or the maximum number of transmissions in a column. */
function columnMaximum({ model, state, box }) {
  if (!model.isCounted) return (state.to - state.from) / columnsOf(box);
  let maximum = 1;
  for (const node of box.lanes) forColumns({ state, box }, model.lane[node], (_, values) => { maximum = Math.max(maximum, values.reduce((one, other) => one + other)); });
  return maximum;
}

/** Draws outages of nodes. */
function outages(g, { model, box, state, x, colours }) {
  box.lanes.forEach((node, index) => {
    for (const [from, until] of model.offs(node)) {
      if (until < state.from || from > state.to) continue;
      g.fillStyle = colours.off;
      g.fillRect(x(from), AXIS + index * LANE + 2, x(until) - x(from), LANE - 4);
    }
  });
}
