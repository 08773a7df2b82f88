// The lanes and the tracks below them, on one canvas.

import { CATEGORIES, lowerBound } from "./model.js";

/** Okabe and Ito's palette, as in the report. */
export const COLOURS = { rts: "#E69F00", cts: "#56B4E9", data: "#0072B2", ack: "#009E73", lost: "#D55E00" };
export const FLOW_COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C8C8C", "#6A51A3"];
export const LANE = 26;
const TRACK = 62;
const AXIS = 22;
/** Width of a column of sums. */
const COLUMN = 2;
/** Up to so many transmissions in sight, back-off and NAV are drawn; up to more, each transmission; beyond, sums. */
const SINGLE = 4000;
const SUMMED = 8000;

/** What the canvas is divided into, for its width and for the lanes in sight. */
export function layout(state, width) {
  const left = width < 560 ? 70 : 110;
  const lanes = state.nodes.slice(state.scroll, state.scroll + state.lanesInSight);
  const tracks = ["queue", "window", "rtt", "rate"];
  return { left, width, lanes, tracks, most: [], lane: LANE, track: TRACK, axis: AXIS, height: AXIS + lanes.length * LANE + tracks.length * TRACK };
}

/** Draws everything for `state` on `canvas`. */
export function draw(canvas, model, state, colours) {
  const width = canvas.clientWidth || 800;
  const box = layout(state, width);
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(box.height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(box.height * scale);
    canvas.style.height = `${box.height}px`;
  }
  const g = canvas.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.fillStyle = colours.paper;
  g.fillRect(0, 0, width, box.height);
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "middle";
  const x = (time) => box.left + (time - state.from) / (state.to - state.from) * (width - box.left);
  axis(g, box, state, colours, x);
  const [first, last] = model.range(state.from, state.to);
  g.save();
  g.beginPath();
  g.rect(box.left, 0, width - box.left, box.height);
  g.clip();
  if (last - first > SUMMED) summed(g, model, state, box, x);
  else singles(g, model, state, box, x, first, last, colours);
  off(g, model, box, state, x, colours);
  tracks(g, model, state, box, x, first, last, colours);
  cursor(g, state, box, x, colours);
  g.restore();
  labels(g, model, state, box, colours);
  return last - first;
}

function axis(g, box, state, colours, x) {
  const span_ = state.to - state.from;
  const rough = span_ / Math.max(2, (box.width - box.left) / 110);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((by) => by * power).find((by) => by >= rough);
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9)));
  g.strokeStyle = colours.grid;
  g.fillStyle = colours.soft;
  g.textAlign = "center";
  g.lineWidth = 1;
  for (let time = Math.ceil(state.from / step) * step; time <= state.to; time += step) {
    const at = Math.round(x(time)) + 0.5;
    g.beginPath();
    g.moveTo(at, AXIS);
    g.lineTo(at, box.height);
    g.stroke();
    const half = g.measureText((time / 1e9).toFixed(digits)).width / 2;
    if (at - half > box.left && at + half < box.width) g.fillText((time / 1e9).toFixed(digits), at, AXIS / 2);
  }
  g.textAlign = "left";
  g.fillText("s", 6, AXIS / 2);
}

function laneTops(box) {
  const tops = new Map();
  box.lanes.forEach((node, index) => tops.set(node, AXIS + index * LANE));
  return tops;
}

/** Each transmission, its back-off before and the NAV of others behind it. */
function singles(g, model, state, box, x, first, last, colours) {
  const tops = laneTops(box);
  const few = last - first <= SINGLE;
  if (few) waits(g, model, x, first, last, tops, colours);
  for (let i = first; i < last; i += 1) {
    const top = tops.get(model.from[i]);
    if (top === undefined || model.end[i] < state.from) continue;
    const at = x(model.start[i]);
    const long = Math.max(x(model.end[i]) - at, 1);
    const category = model.category(i);
    g.globalAlpha = state.isLit(i) ? 1 : 0.25;
    g.fillStyle = COLOURS[CATEGORIES[category === 4 ? model.kind[i] < 4 ? model.kind[i] : 0 : category]];
    g.fillRect(at, top + 4, long, LANE - 9);
    if (category === 4) {
      g.fillStyle = COLOURS.lost;
      g.fillRect(at, top + 4, long, 6);
      if (long > 8) cross(g, at, top + 4, Math.min(long, LANE - 9), LANE - 9);
    }
    if (long > 44) {
      g.globalAlpha = state.isLit(i) ? 1 : 0.6;
      g.fillStyle = state.isLit(i) ? "#ffffff" : colours.ink;
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
  g.globalAlpha = 1;
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

function waits(g, model, x, first, last, tops, colours) {
  const { first: begins, node, nav } = model.sets;
  for (let i = first; i < last; i += 1) {
    const top = tops.get(model.from[i]);
    if (top !== undefined && model.contends[i] >= 0) {
      const at = x(model.contends[i]);
      const long = x(model.start[i]) - at;
      g.fillStyle = colours.backoff;
      g.fillRect(at, top + LANE - 9, long, 3);
      const counted = model.slots[i] * model.head.slot_ns;
      const share = x(model.start[i] - counted);
      g.fillStyle = colours.soft;
      g.fillRect(share, top + LANE - 9, x(model.start[i]) - share, 3);
    }
    const set = model.reserves[i];
    for (let row = set ? begins[set] : 0; set && row < begins[set + 1]; row += 1) {
      const lane = tops.get(node[row]);
      if (lane === undefined) continue;
      const at = x(model.end[i]);
      g.fillStyle = colours.nav;
      g.fillRect(at, lane + LANE - 5, Math.max(1, x(model.end[i] + nav[row]) - at), 3);
    }
  }
}

/** Sums of time on the air: columns of colours. */
function summed(g, model, state, box, x) {
  const pixels = Math.max(1, Math.floor((box.width - box.left) / COLUMN));
  const per = (state.to - state.from) / pixels;
  box.lanes.forEach((node, index) => {
    const top = AXIS + index * LANE + 4;
    const height = LANE - 9;
    for (let pixel = 0; pixel < pixels; pixel += 1) {
      const low = Math.max(0, Math.floor((state.from + pixel * per) / model.binWidth));
      const high = Math.min(model.bins, Math.max(low + 1, Math.floor((state.from + (pixel + 1) * per) / model.binWidth)));
      let bottom = top + height;
      for (let category = 0; category < CATEGORIES.length; category += 1) {
        let sum = 0;
        const row = (node * CATEGORIES.length + category) * model.bins;
        for (let bin = low; bin < high; bin += 1) sum += model.air[row + bin];
        if (!sum) continue;
        const tall = Math.min(1, sum / ((high - low) * model.binWidth)) * height;
        g.fillStyle = COLOURS[CATEGORIES[category]];
        g.fillRect(box.left + pixel * COLUMN, bottom - tall, COLUMN, tall);
        bottom -= tall;
      }
    }
  });
}

function off(g, model, box, state, x, colours) {
  box.lanes.forEach((node, index) => {
    const places = model.places.get(node) || [];
    places.forEach((place, at) => {
      if (!place.off || (at && places[at - 1].off)) return;
      const on = places.findIndex((later, index) => index > at && !later.off);
      const until = on < 0 ? model.duration : places[on].time;
      if (until < state.from || place.time > state.to) return;
      g.fillStyle = colours.off;
      g.fillRect(x(place.time), AXIS + index * LANE + 2, x(until) - x(place.time), LANE - 4);
    });
  });
}

/** A step line through [time, value] pairs, scaled to the track. */
function steps(g, points, x, top, most, colour) {
  if (!points.length) return;
  const y = (value) => top + TRACK - 6 - value / most * (TRACK - 18);
  g.strokeStyle = colour;
  g.lineWidth = 1.5;
  g.beginPath();
  let column = Math.round(x(points[0][0]));
  let low = points[0][1];
  let high = low;
  let last = low;
  g.moveTo(column, y(low));
  for (const [time, value] of points) {
    const now = Math.round(x(time));
    if (now !== column) {
      // Points of one pixel are a line from the least to the greatest.
      if (low !== high) { g.lineTo(column, y(low)); g.lineTo(column, y(high)); }
      g.lineTo(column, y(last));
      g.lineTo(now, y(last));
      column = now;
      low = high = value;
      g.lineTo(now, y(value));
    }
    low = Math.min(low, value);
    high = Math.max(high, value);
    last = value;
  }
  g.lineTo(column, y(last));
  g.stroke();
}

/** Points of a track: `[{colour, points}]`. */
export function series(model, state, track, first, last) {
  if (track === "queue") return queues(model, state, first, last);
  if (track === "rate") {
    const points = [];
    const stride = Math.max(1, Math.ceil((last - first) / 4000));
    for (let i = first; i < last; i += stride) {
      if (model.kind[i] === 2 && (state.flow < 0 || model.flow[i] === state.flow)) points.push([model.start[i], model.rate(i) / 1e6]);
    }
    return [{ colour: FLOW_COLOURS[0], points }];
  }
  const { time, flow } = model.tables.windows.columns;
  const values = model.tables.windows.columns[track];
  const unit = track === "rtt" ? 1e6 : 1000;
  const lines = new Map();
  const low = Math.max(0, lowerBound(time, state.from) - 200);
  for (let row = low; row < time.length && (row === low || time[row - 1] <= state.to); row += 1) {
    // A round-trip time of 0 is none yet.
    if ((state.flow >= 0 && flow[row] !== state.flow) || values[row] < 0 || (track === "rtt" && values[row] === 0)) continue;
    if (!lines.has(flow[row])) lines.set(flow[row], []);
    lines.get(flow[row]).push([time[row], values[row] / unit]);
  }
  return [...lines].map(([of, points]) => ({ colour: FLOW_COLOURS[of % FLOW_COLOURS.length], points }));
}

function queues(model, state, first, last) {
  const shown = state.node >= 0 ? [state.node] : state.nodes.slice(0, 8);
  return shown.map((node) => {
    const points = [];
    if (last - first > SUMMED) {
      const low = Math.max(0, Math.floor(state.from / model.binWidth));
      const high = Math.min(model.bins, Math.ceil(state.to / model.binWidth));
      const stride = Math.max(1, Math.ceil((high - low) / 1000));
      for (let bin = low; bin < high; bin += stride) {
        let most = 0;
        for (let at = bin; at < Math.min(high, bin + stride); at += 1) most = Math.max(most, model.longestQueue[node * model.bins + at]);
        points.push([bin * model.binWidth, most]);
      }
    } else {
      const lane = model.lane[node];
      const low = Math.max(0, lowerBound(lane, first) - 1);
      for (let at = low; at < lane.length && lane[at] < last; at += 1) points.push([model.start[lane[at]], model.queue[lane[at]]]);
    }
    return { colour: FLOW_COLOURS[node % FLOW_COLOURS.length], points };
  });
}

const TITLES = { queue: "queue [packets]", window: "window [kB]", rtt: "RTT [ms]", rate: "rate [Mb/s]" };

function tracks(g, model, state, box, x, first, last, colours) {
  box.tracks.forEach((track, index) => {
    const top = AXIS + box.lanes.length * LANE + index * TRACK;
    const lines = series(model, state, track, first, last);
    const most = Math.max(1e-9, ...lines.map(({ points }) => points.reduce((high, point) => Math.max(high, point[1]), 0)));
    g.strokeStyle = colours.grid;
    g.beginPath();
    g.moveTo(box.left, top + 0.5);
    g.lineTo(box.width, top + 0.5);
    g.stroke();
    lines.forEach(({ colour, points }) => steps(g, points, x, top, most, colour));
    box.most.push(lines.some(({ points }) => points.length) ? `max ${most < 1e-6 ? 0 : +most.toPrecision(3)}` : "none here");
  });
}

function cursor(g, state, box, x, colours) {
  g.strokeStyle = colours.accent;
  g.lineWidth = 1.5;
  const at = x(state.at);
  g.beginPath();
  g.moveTo(at, AXIS - 4);
  g.lineTo(at, box.height);
  g.stroke();
}

function labels(g, model, state, box, colours) {
  g.textAlign = "left";
  const fit = (text, bold) => {
    g.font = `${bold ? "600 " : ""}12px system-ui, sans-serif`;
    let shown = text;
    while (shown.length > 1 && g.measureText(shown).width > box.left - 12) shown = `${shown.slice(0, -2)}\u2026`;
    return shown;
  };
  box.lanes.forEach((node, index) => {
    g.fillStyle = node === state.node ? colours.accent : colours.ink;
    g.fillText(fit(model.name(node), node === state.node), 6, AXIS + index * LANE + LANE / 2);
  });
  g.fillStyle = colours.soft;
  box.tracks.forEach((track, index) => {
    const top = AXIS + box.lanes.length * LANE + index * TRACK;
    const [title, unit] = TITLES[track].split(" [");
    g.fillText(fit(title), 6, top + 12);
    g.fillText(fit(`[${unit}`), 6, top + 28);
    g.fillText(fit(box.most[index]), 6, top + 44);
  });
}

/** What the pointer is on: `{time, node, at}`, where `at` is a transmission. */
export function pick(model, state, width, px, py) {
  const box = layout(state, width);
  const time = state.from + (px - box.left) / (width - box.left) * (state.to - state.from);
  const node = box.lanes[Math.floor((py - AXIS) / LANE)];
  if (py < AXIS || node === undefined) return { time, node: -1, at: -1 };
  const slack = 3 * (state.to - state.from) / width;
  let best = -1;
  const lane = model.lane[node];
  for (let at = lowerBound(lane, lowerBound(model.start, time - model.longest - slack)); at < lane.length; at += 1) {
    const i = lane[at];
    if (model.start[i] > time + slack) break;
    if (model.end[i] >= time - slack) best = i;
  }
  return { time, node, at: best };
}

/** The legend: colours and what they mean. */
export const LEGEND = [
  ["RTS", COLOURS.rts], ["CTS", COLOURS.cts], ["DATA", COLOURS.data], ["ACK", COLOURS.ack], ["collision or lost", COLOURS.lost],
  ["back-off, frozen", "backoff"], ["back-off, counted", "soft"], ["NAV", "nav"], ["off", "off"],
];
