// The lanes and the tracks below them, on one canvas.

import { drawLanes } from "./lanes.js";
import { lowerBound } from "./steps.js";
import { AXIS, LANE, TRACK } from "./style.js";
import { drawTracks, labelTracks } from "./tracks.js";

/** Pixels between labels of the axis. */
const ROOM = 36;

/** What the canvas is divided into, for its width and for the lanes in sight. */
export function layout(state, width) {
  const left = width < 560 ? 70 : 110;
  const lanes = state.nodes.slice(state.scroll, state.scroll + state.lanesInSight);
  const { tracks } = state;
  return { left, width, lanes, tracks, height: AXIS + lanes.length * LANE + tracks.length * TRACK };
}

/** Draws everything for `state` on `canvas`, with a raster of its own; returns how many transmissions are in sight. */
export function draw(canvas, model, state, colours, raster) {
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
  const [first, last] = model.range(state.from, state.to);
  const frame = { model, state, box, colours, raster, scale, x, first, last };
  raster.begin(Math.max(1, Math.round((width - box.left) * scale)), canvas.height);
  axis(g, frame);
  g.save();
  g.beginPath();
  g.rect(box.left, 0, width - box.left, box.height);
  g.clip();
  drawLanes(g, frame);
  const scales = drawTracks(g, frame);
  raster.paint(g, Math.round(box.left * scale));
  cursor(g, frame);
  g.restore();
  labels(g, frame, scales);
  return last - first;
}

function axis(g, { state, box, colours, x }) {
  const { step, digits } = ticks(g, state, box.width - box.left);
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

/** The least round step of which the labels, with some room, fit beside each other, and their digits behind the point. */
function ticks(g, { from, to }, width) {
  const least = 10 ** Math.floor(Math.log10((to - from) * ROOM / width));
  const all = [1, 2, 5, 10, 20, 50, 100, 200, 500].map((by) => {
    const step = by * least;
    const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9)));
    return { step, digits, fits: g.measureText((to / 1e9).toFixed(digits)).width + ROOM <= step / (to - from) * width };
  });
  return all.find(({ fits }) => fits) || all[all.length - 1];
}

function cursor(g, { state, box, x, colours }) {
  g.strokeStyle = colours.accent;
  g.lineWidth = 1.5;
  const at = x(state.at);
  g.beginPath();
  g.moveTo(at, AXIS - 4);
  g.lineTo(at, box.height);
  g.stroke();
}

function labels(g, frame, scales) {
  const { model, state, box, colours } = frame;
  g.textAlign = "left";
  const fits = (text) => g.measureText(text).width <= box.left - 12;
  const fit = (text) => {
    g.font = "12px system-ui, sans-serif";
    let shown = text;
    while (shown.length > 1 && !fits(shown)) shown = `${shown.slice(0, -2)}\u2026`;
    return shown;
  };
  // Addresses of one vendor differ at their ends: names are shortened in the middle.
  const fitName = (name, bold) => {
    g.font = `${bold ? "600 " : ""}12px system-ui, sans-serif`;
    let shown = name;
    for (let kept = name.length - 1; kept > 2 && !fits(shown); kept -= 1) {
      const front = Math.floor(kept / 3);
      shown = `${name.slice(0, front)}\u2026${name.slice(front - kept)}`;
    }
    return shown;
  };
  box.lanes.forEach((node, index) => {
    g.fillStyle = node === state.node ? colours.accent : colours.ink;
    g.fillText(fitName(model.name(node), node === state.node), 6, AXIS + index * LANE + LANE / 2);
  });
  g.fillStyle = colours.soft;
  labelTracks(g, frame, scales, fit);
}

/** What is at a place, or at most `near` pixels beside it: `{time, node, at}`, where `at` is a transmission. */
export function pick(model, state, width, px, py, near = 0) {
  const box = layout(state, width);
  const per = (state.to - state.from) / (width - box.left);
  const time = state.from + (px - box.left) * per;
  const node = box.lanes[Math.floor((py - AXIS) / LANE)];
  if (py < AXIS || node === undefined) return { time, node: -1, at: -1 };
  const { order, start } = model.lane[node];
  let best = -1;
  let least = near * per;
  for (let at = lowerBound(start, time - model.longest - least); at < order.length && start[at] <= time + least; at += 1) {
    const off = Math.max(0, start[at] - time, time - model.end[order[at]]);
    if (off > least) continue;
    least = off;
    best = order[at];
  }
  return { time, node, at: best };
}
