// Tracks below the lanes: step functions on the same time axis.

import { nextBound } from "./steps.js";
import { AXIS, FLOW_COLOURS, LANE, TRACK } from "./style.js";

const TITLES = { queue: "queue [packets]", window: "window [kB]", rtt: "RTT [ms]", rate: "rate [Mb/s]" };
/** Maximum number of queues in the track. */
const MAX_QUEUES = 8;

/** Returns the lines of a track: `[{colour, steps}]`. */
export function linesOf(model, state, track) {
  const colour = (index) => FLOW_COLOURS[index % FLOW_COLOURS.length];
  if (track === "rate") return [{ colour: colour(0), steps: model.ratesOf(state.flow) }];
  if (track === "queue") {
    const shown = state.node >= 0 ? [state.node] : state.nodes.slice(0, MAX_QUEUES);
    return shown.map((node) => ({ colour: colour(node), steps: model.queueOf(node) }));
  }
  const shown = state.flow >= 0 ? [state.flow] : model.head.flows.map((_, flow) => flow);
  return shown.map((flow) => ({ colour: colour(flow), steps: model.windowsOf(flow, track) }));
}

/** Draws all tracks of `frame`. Returns the label of each track's scale. */
export function drawTracks(g, frame) {
  const { box, model, state, colours } = frame;
  return box.tracks.map((track, index) => {
    const top = AXIS + box.lanes.length * LANE + index * TRACK;
    const lines = linesOf(model, state, track).map((line) => ({ ...line, range: line.steps.within(state.from, state.to) })).filter(({ range: [from, to] }) => to > from);
    const maximum = lines.reduce((high, { steps, range }) => {
      steps.extremes(...range);
      return Math.max(high, steps.high);
    }, 1e-9);
    g.strokeStyle = colours.grid;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(box.left, top + 0.5);
    g.lineTo(box.width, top + 0.5);
    g.stroke();
    const y = (value) => top + TRACK - 6 - value / maximum * (TRACK - 18);
    for (const line of lines) {
      if (line.range[1] - line.range[0] > box.width - box.left) dense(frame, line, y);
      else sparse(g, frame, line, y);
    }
    return lines.length ? `max ${maximum < 1e-6 ? 0 : +maximum.toPrecision(3)}` : "none";
  });
}

/** Draws a line through all its points. */
function sparse(g, { x }, { colour, steps: { times, values }, range: [from, to] }, y) {
  g.strokeStyle = colour;
  g.lineWidth = 1.5;
  g.beginPath();
  for (let at = from; at < to; at += 1) {
    if (at > from) g.lineTo(x(times[at]), y(values[at - 1]));
    g.lineTo(x(times[at]), y(values[at]));
  }
  g.stroke();
}

/** Draws a line with more points than columns: each column from its minimum to its maximum. */
function dense({ state, box, raster, scale }, { colour, steps, range: [from, to] }, y) {
  const per = (state.to - state.from) / ((box.width - box.left) * scale);
  const ink = raster.colour(colour);
  const thick = Math.max(1, Math.round(1.5 * scale));
  let place = from;
  for (let column = 0; column < raster.width && place < to; column += 1) {
    const passed = Math.min(to, nextBound(steps.times, state.from + (column + 1) * per, place));
    // The previous value holds at the start of the column.
    steps.extremes(Math.max(from, place - 1), passed);
    place = passed;
    if (steps.low > steps.high) continue;
    const top = Math.round(y(steps.high) * scale - thick / 2);
    raster.fill(column, top, column + 1, Math.max(top + thick, Math.round(y(steps.low) * scale + thick / 2)), ink);
  }
}

/** Draws names, units and scales of the tracks. */
export function labelTracks(g, { box }, scales, fit) {
  box.tracks.forEach((track, index) => {
    const top = AXIS + box.lanes.length * LANE + index * TRACK;
    const [title, unit] = TITLES[track].split(" [");
    g.fillText(fit(title), 6, top + 12);
    g.fillText(fit(`[${unit}`), 6, top + 28);
    // A truncated number would be wrong.
    const scale = scales[index];
    g.fillText(fit(scale) === scale ? scale : scale.replace("max", "\u2264"), 6, top + 44);
  });
}
