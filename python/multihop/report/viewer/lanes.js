// What nodes send: each transmission, or sums of them where there are many.

import { CATEGORIES } from "./model.js";
import { nextBound, lowerBound } from "./steps.js";
import { AXIS, COLOURS, LANE } from "./style.js";

/** Width of a column of sums, in pixels of the page. */
const COLUMN = 2;
/** Where transmissions are counted, few of many are as high as this. */
const SEEN = 4;
/** Up to so many transmissions in sight, back-off and NAV are drawn; up to more in the lanes that are, each transmission; beyond, sums. */
const SINGLE = 4000;
const SUMMED = 8000;
/** So many transmissions of a node after what is in sight may be those that it contends for now. */
const LATER = 8;
/** Contentions of fewer pixels are not divided. */
const SMALL = 3;

/** Draws the lanes of `frame`, which is what draw.js makes for a picture. */
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
  if (inLanes > SUMMED) {
    const most = fullColumn(frame);
    box.lanes.forEach((node, index) => sums(frame, model.lane[node], AXIS + index * LANE + 4, most));
  } else {
    if (last - first <= SINGLE) waits(g, frame);
    box.lanes.forEach((node, index) => singles(g, frame, model.lane[node], ranges[index], AXIS + index * LANE));
  }
  g.globalAlpha = 1;
  off(g, frame);
}

/** The transmissions of a lane, from one place to another. */
function singles(g, { model, state, box, x, colours }, lane, [from, to], top) {
  for (let place = from; place < to; place += 1) {
    const i = lane.order[place];
    if (model.end[i] < state.from) continue;
    const at = x(model.start[i]);
    const long = Math.max(x(model.end[i]) - at, 1);
    const category = model.category[i];
    const isLit = state.isLit(i);
    g.globalAlpha = isLit ? 1 : 0.25;
    g.fillStyle = COLOURS[CATEGORIES[category === 4 ? model.kind[i] < 4 ? model.kind[i] : 0 : category]];
    g.fillRect(at, top + 4, long, LANE - 9);
    if (category === 4) {
      g.fillStyle = COLOURS.lost;
      g.fillRect(at, top + 4, long, 6);
      if (long > 8) cross(g, at, top + 4, Math.min(long, LANE - 9), LANE - 9);
    }
    if (long > 44) {
      g.globalAlpha = isLit ? 1 : 0.6;
      g.fillStyle = isLit ? "#ffffff" : colours.ink;
      g.textAlign = "left";
      const text = `${model.kindName(i)}${model.to[i] >= 0 && long > 90 ? ` > ${model.name(model.to[i])}` : ""}`;
      g.save();
      g.beginPath();
      g.rect(at, top, long - 3, LANE);
      g.clip();
      g.fillText(text, Math.max(at, box.left) + (category === 4 ? 22 : 4), top + LANE / 2 + (category === 4 ? 2 : 0));
      g.restore();
    }
    if (state.picked === i) {
      g.globalAlpha = 1;
      g.strokeStyle = colours.ink;
      g.lineWidth = 2;
      g.strokeRect(at - 1, top + 3, long + 2, LANE - 7);
    }
  }
}

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

/** Back-off before transmissions, and the NAV of others behind them. */
function waits(g, frame) {
  const { model, state, box, x, colours } = frame;
  const tops = new Map(box.lanes.map((node, index) => [node, AXIS + index * LANE]));
  for (const [node, top] of tops) contentions(g, frame, model.lane[node], top + LANE - 9);
  const { first, node, nav } = model.sets;
  g.fillStyle = colours.nav;
  const [begins, ends] = [lowerBound(model.start, state.from - model.reach), lowerBound(model.start, state.to)];
  for (let i = begins; i < ends; i += 1) {
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

/** The contentions of a lane that overlap with what is in sight: also those of which the frame comes later. */
function contentions(g, frame, lane, top) {
  const { model, state } = frame;
  const { order, start } = lane;
  let later = 0;
  for (let place = lowerBound(start, state.from); place < order.length && later < LATER; place += 1) {
    const i = order[place];
    if (start[place] >= state.to) later += 1;
    if (model.contends[i] >= 0 && model.contends[i] < state.to) contention(g, frame, i, top);
  }
}

/** The whole contention, when the node deferred in it, and when its slots counted, as far as the log tells. */
function contention(g, { model, state, x, colours }, i, top) {
  const bar = (from, to, colour) => {
    const [left, right] = [x(Math.max(from, state.from)), x(Math.min(to, state.to))];
    g.fillStyle = colour;
    if (right > left) g.fillRect(left, top, right - left, 3);
  };
  bar(model.contends[i], model.start[i], colours.contends);
  if (x(model.start[i]) - x(model.contends[i]) < SMALL) return;
  const { busy, counted } = model.contentions.of(i);
  busy.forEach(([from, to]) => bar(from, to, colours.backoff));
  counted.forEach(([from, to]) => bar(from, to, colours.soft));
}

/** Shares of time on the air, or of the most transmissions in a column, in columns of colours. */
function sums({ state, box, raster, scale }, lane, top, most) {
  const height = (LANE - 9) * scale;
  const bottom = Math.round((top + LANE - 9) * scale);
  forColumns({ state, box }, lane, (column, found) => {
    let level = 0;
    for (let of = 0; of < CATEGORIES.length; of += 1) {
      const share = found[of] / most;
      if (share <= 0) continue;
      const from = bottom - Math.round(Math.min(1, level) * height);
      level += share;
      const to = bottom - Math.round(Math.min(1, level) * height);
      const seen = lane.isCounted ? Math.min(to, from - Math.round(SEEN * scale)) : to;
      raster.fill(Math.round(column * COLUMN * scale), seen, Math.round((column + 1) * COLUMN * scale), from, raster.colour(COLOURS[CATEGORIES[of]]));
    }
  });
}

/** Calls with the place of each column of a lane, and with what its categories have in it, which is theirs until the next one. */
function forColumns({ state, box }, lane, each) {
  const columns = columnsOf(box);
  const per = (state.to - state.from) / columns;
  let [before, now] = [new Float64Array(CATEGORIES.length), new Float64Array(CATEGORIES.length)];
  const found = new Float64Array(CATEGORIES.length);
  let place = lowerBound(lane.start, state.from);
  lane.until(state.from, place, before);
  for (let column = 0; column < columns; column += 1) {
    const until = state.from + (column + 1) * per;
    place = nextBound(lane.start, until, place);
    lane.until(until, place, now);
    for (let of = 0; of < CATEGORIES.length; of += 1) found[of] = now[of] - before[of];
    each(column, found);
    [before, now] = [now, before];
  }
}

function columnsOf(box) { return Math.max(1, Math.floor((box.width - box.left) / COLUMN)); }

/** What fills a column: its time, or where transmissions are counted, the most of them in one of these lanes. */
function fullColumn({ model, state, box }) {
  if (!model.isCounted) return (state.to - state.from) / columnsOf(box);
  let most = 1;
  for (const node of box.lanes) forColumns({ state, box }, model.lane[node], (_, found) => { most = Math.max(most, found.reduce((one, other) => one + other)); });
  return most;
}

function off(g, { model, box, state, x, colours }) {
  box.lanes.forEach((node, index) => {
    for (const [from, until] of model.offs(node)) {
      if (until < state.from || from > state.to) continue;
      g.fillStyle = colours.off;
      g.fillRect(x(from), AXIS + index * LANE + 2, x(until) - x(from), LANE - 4);
    }
  });
}
