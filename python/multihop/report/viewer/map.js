// Where nodes are, and what is on the air between them.

import { CATEGORIES } from "./model.js";
import { COLOURS } from "./style.js";

/** The latest so many transmissions may light links. */
const MOST_LIGHTS = 2000;

/** The corners of all places, in metres; null where nodes have none. */
export function extent(model) {
  const xs = [];
  const ys = [];
  model.head.nodes.forEach((_, index) => {
    for (const place of model.places.get(index)?.places || [model.place(index, 0)]) {
      if (place) { xs.push(place.x); ys.push(place.y); }
    }
  });
  if (!xs.length) return null;
  const least = (values) => values.reduce((a, b) => Math.min(a, b));
  const most = (values) => values.reduce((a, b) => Math.max(a, b));
  return { left: least(xs), right: most(xs), bottom: least(ys), top: most(ys) };
}

/** Draws the map at the cursor's instant; links of transmissions in the last 1/200 of what is in sight are lit. */
export function drawMap(canvas, model, state, colours, corners) {
  const width = canvas.clientWidth || 300;
  const wide = corners.right - corners.left;
  const high = corners.top - corners.bottom;
  const height = Math.max(90, Math.min(320, (width - 60) * (wide ? high / wide : 1) + 60));
  const ratio = window.devicePixelRatio || 1;
  // Where nothing of it has changed, it stays.
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
  const lately = (state.to - state.from) / 200;
  g.lineWidth = 3;
  for (const i of lightsOf(model, state.at - lately, state.at)) {
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
    // A name on a lit link stays legible.
    g.strokeStyle = colours.paper;
    g.strokeText(model.name(node), x, y + 19);
    g.fillStyle = colours.ink;
    g.fillText(model.name(node), x, y + 19);
  });
}

/** The transmissions that light the map: of each link and kind the latest that was on the air in an interval. */
function lightsOf(model, from, to) {
  const [first, last] = model.range(from, to + 1);
  const latest = new Map();
  for (let i = Math.max(first, last - MOST_LIGHTS); i < last; i += 1) {
    if (model.end[i] >= from) latest.set((model.from[i] * (model.head.nodes.length + 1) + model.to[i] + 1) * CATEGORIES.length + model.category[i], i);
  }
  return [...latest.values()].sort((one, other) => one - other);
}
