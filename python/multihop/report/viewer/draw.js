// Drawing of the lanes and the tracks on one canvas.

import { drawLanes } from "./lanes.js";
import { lowerBound } from "./steps.js";
import { AXIS, LANE, TRACK } from "./style.js";
import { drawTracks, labelTracks } from "./tracks.js";

/** Minimum distance between labels of the axis, in pixels. */
const LABEL_GAP = 36;

/** Returns the layout of the canvas, from its width and the visible lanes. */
export function layout(state, width) {
  const left = width < 560 ? 70 : 110;
  const lanes = state.nodes.slice(state.scroll, state.scroll + state.lanesInSight);
  const { tracks } = state;
  return { left, width, lanes, tracks, height: AXIS + lanes.length * LANE + tracks.length * TRACK };
}

/** Draws `state` on `canvas`; `raster` is a buffer for single pixels. Returns the number of visible transmissions. */
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

/** Draws the time axis. */
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

/** Returns the smallest round step of the axis whose labels do not overlap, and the number of their decimals. */
function ticks(g, { from, to }, width) {
  const magnitude = 10 ** Math.floor(Math.log10((to - from) * LABEL_GAP / width));
  const candidates = [1, 2, 5, 10, 20, 50, 100, 200, 500].map((factor) => {
    const step = factor * magnitude;
    const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9)));
    return { step, digits, fits: g.measureText((to / 1e9).toFixed(digits)).width + LABEL_GAP <= step / (to - from) * width };
  });
  return candidates.find(({ fits }) => fits) || candidates[candidates.length - 1];
}

/** Draws the cursor. */
function cursor(g, { state, box, x, colours }) {
  g.strokeStyle = colours.accent;
  g.lineWidth = 1.5;
  const at = x(state.at);
  g.beginPath();
  g.moveTo(at, AXIS - 4);
  g.lineTo(at, box.height);
  g.stroke();
}

/** Draws the labels of lanes and tracks. */
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
  // Names are shortened in the middle, because addresses of one vendor differ at their ends.
  const fitName = (name, bold) => {
    g.font = `${bold ? "600 " : ""}12px system-ui, sans-serif`;
    let shown = name;
    for (let length = name.length - 1; length > 2 && !fits(shown); length -= 1) {
      const front = Math.floor(length / 3);
      shown = `${name.slice(0, front)}\u2026${name.slice(front - length)}`;
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

/** Returns the time, the node and the transmission at a position, or at most `tolerance` pixels from it: `{time, node, at}`. */
export function pick(model, state, width, px, py, tolerance = 0) {
  const box = layout(state, width);
  const per = (state.to - state.from) / (width - box.left);
  const time = state.from + (px - box.left) * per;
  const node = box.lanes[Math.floor((py - AXIS) / LANE)];
  if (py < AXIS || node === undefined) return { time, node: -1, at: -1 };
  const { order, start } = model.lane[node];
  let nearest = -1;
  let distance = tolerance * per;
  for (let at = lowerBound(start, time - model.longest - distance); at < order.length && start[at] <= time + distance; at += 1) {
    const gap = Math.max(0, start[at] - time, time - model.end[order[at]]);
    if (gap > distance) continue;
    distance = gap;
    nearest = order[at];
  }
  return { time, node, at: nearest };
}
