// Map of nodes and of transmissions between them.

import { CATEGORIES } from "./model.js";
import { COLOURS } from "./style.js";

/** Number of recent transmissions that can light links. */
const MAX_LIGHTS = 2000;

/** Returns the bounding box of all positions, in metres; null without positions. */
export function extent(model) {
  const xs = [];
  const ys = [];
  model.head.nodes.forEach((_, index) => {
    for (const place of model.places.get(index)?.places || [model.place(index, 0)]) {
      if (place) { xs.push(place.x); ys.push(place.y); }
    }
  });
  if (!xs.length) return null;
  const min = (values) => values.reduce((a, b) => Math.min(a, b));
  const max = (values) => values.reduce((a, b) => Math.max(a, b));
  return { left: min(xs), right: max(xs), bottom: min(ys), top: max(ys) };
}

/** Draws the map at the cursor's time. Transmissions in the last 1/200 of the visible interval light their links. */
export function drawMap(canvas, model, state, colours, corners) {
  const width = canvas.clientWidth || 300;
  const wide = corners.right - corners.left;
  const high = corners.top - corners.bottom;
  const height = Math.max(90, Math.min(320, (width - 60) * (wide ? high / wide : 1) + 60));
  const ratio = window.devicePixelRatio || 1;
  // An unchanged map is not redrawn.
  const shown = [width, ratio, state.at, state.to - state.from, state.node, ...Object.values(colours)].join();
  if (canvas.dataset.shown === shown) return;
  canvas.dataset.shown = shown;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = "12px system-ui, sans-serif";
  g.textAlign = "center";
  const scale = Math.min((width - 60) / (wide || 1), (height - 50) / (high || 1));
  const at = (place) => [
    width / 2 + (place.x - (corners.left + corners.right) / 2) * scale,
    height / 2 - (place.y - (corners.bottom + corners.top) / 2) * scale - 4,
  ];
  const places = model.head.nodes.map((_, node) => model.place(node, state.at));
  const recent = (state.to - state.from) / 200;
  g.lineWidth = 3;
  for (const i of lightsOf(model, state.at - recent, state.at)) {
    const from = places[model.from[i]];
    const to = model.to[i] >= 0 ? places[model.to[i]] : null;
    if (!from) continue;
    g.globalAlpha = model.end[i] >= state.at ? 1 : 0.4;
    g.strokeStyle = COLOURS[CATEGORIES[model.category[i]]];
    g.beginPath();
    if (to) {
      g.moveTo(...at(from));
      g.lineTo(...at(to));
    } else g.arc(...at(from), 14, 0, 7);
    g.stroke();
  }
  g.globalAlpha = 1;
  places.forEach((place, node) => {
    if (!place) return;
    const [x, y] = at(place);
    g.fillStyle = place.off ? colours.grid : node === state.node ? colours.accent : colours.soft;
    g.beginPath();
    g.arc(x, y, places.length > 200 ? 2 : 6, 0, 7);
    g.fill();
    if (places.length > 60) return;
    // The outline keeps a name on a lit link legible.
    g.strokeStyle = colours.paper;
    g.strokeText(model.name(node), x, y + 19);
    g.fillStyle = colours.ink;
    g.fillText(model.name(node), x, y + 19);
  });
}

/** Returns the transmissions that light the map: the latest of each link and kind on the air in an interval. */
function lightsOf(model, from, to) {
  const [first, last] = model.range(from, to + 1);
  const latest = new Map();
  for (let i = Math.max(first, last - MAX_LIGHTS); i < last; i += 1) {
    if (model.end[i] >= from) latest.set((model.from[i] * (model.head.nodes.length + 1) + model.to[i] + 1) * CATEGORIES.length + model.category[i], i);
  }
  return [...latest.values()].sort((one, other) => one - other);
}
