// Map of the network, with nodes that can be dragged.
import { colour, h, s } from "./dom.js";
import { digits } from "./units.js";

/** Minimum and maximum width. The map is as wide as its place, so that its text has the size of the page's text. */
const MIN_WIDTH = 280;
const MAX_WIDTH = 700;
const HEIGHT = 380;
const MARGIN = 42;
/** Maximum number of links, and of nodes with names. */
const MAX_LINKS = 2000;
const MAX_NAMES = 60;
/** Step of the arrow keys, in metres. */
const STEP_M = 10;

/** Map. `moved(node, x, y)` is called after a node is moved, with its position in metres. */
export class NetworkMap {
  constructor(moved) {
    this.moved = moved;
    this.svg = s("svg", { class: "chart topology", role: "group", "aria-label": "Network" });
    this.note = h("p", { class: "note" });
    this.element = h("div", {}, this.svg, this.note);
    this.svg.addEventListener("pointermove", (event) => this.drag(event));
    this.svg.addEventListener("pointerup", () => this.drop());
    this.svg.addEventListener("pointercancel", () => this.drop());
  }

  /** Shows a resolved scenario; `ranges`, `[name, metres]`, are drawn around the focused node. */
  show(view, ranges) {
    const focused = this.focused;
    this.view = view;
    this.ranges = ranges;
    this.places = places(view);
    this.fit();
    this.draw();
    if (focused !== undefined) this.svg.querySelector(`[data-node="${focused}"]`)?.focus({ preventScroll: true });
  }

  /** Writes the note below the map. */
  explain() {
    const { name } = this.view.nodes[this.focused] ?? {};
    if (name && this.ranges.length) this.note.textContent = `Node ${name} ${this.ranges.map(([what, metres]) => `${what} up to ${digits(metres)} m`).join(", ")}.`;
    else if (this.view.nodes.some((node) => node.x !== null)) this.note.textContent = "Drag a node, or select it with Tab and move it with the arrow keys (with Shift by 1 m).";
    else this.note.textContent = "The scenario has no positions: nodes are drawn in a circle.";
  }

  /** Fits the scale to the positions. */
  fit() {
    const xs = this.places.map(([x]) => x);
    const ys = this.places.map(([, y]) => y);
    const low = [Math.min(...xs), Math.min(...ys)];
    const extent = [Math.max(...xs) - low[0], Math.max(...ys) - low[1]];
    const width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, this.svg.clientWidth || MAX_WIDTH));
    const room = [width - 2 * MARGIN, HEIGHT - 2 * MARGIN];
    this.scale = Math.min(room[0] / Math.max(extent[0], 1), room[1] / Math.max(extent[1], 1));
    const height = Math.max(160, extent[1] * this.scale + 2 * MARGIN);
    this.origin = [width / 2 - (low[0] + extent[0] / 2) * this.scale, height / 2 + (low[1] + extent[1] / 2) * this.scale];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height.toFixed(0)}`);
  }

  /** Returns the position of a node on the map; y points down. */
  at(node) {
    const [x, y] = this.places[node];
    return [this.origin[0] + x * this.scale, this.origin[1] - y * this.scale];
  }

  draw() {
    const { view } = this;
    const line = (from, to, attributes) => {
      const [[x1, y1], [x2, y2]] = [this.at(from), this.at(to)];
      return s("line", { x1, y1, x2, y2, ...attributes });
    };
    const strongest = new Map();
    for (const [from, to, quality] of view.links.slice(0, 2 * MAX_LINKS)) {
      const key = from < to ? `${from} ${to}` : `${to} ${from}`;
      strongest.set(key, Math.max(quality, strongest.get(key)?.[2] ?? 0) && [from, to, quality]);
    }
    const links = [...strongest.values()].map(([from, to, quality]) => line(from, to, { "stroke-opacity": 0.12 + 0.25 * quality }));
    const wires = view.wires.map(([from, to]) => line(from, to, { "stroke-dasharray": "6 3" }));
    const paths = view.flows.map((flow, index) => {
      const hops = flow.path.length ? flow.path : [flow.source, flow.destination];
      const shift = 3 * (index - (view.flows.length - 1) / 2);
      const points = hops.map((node) => this.at(node).map((value) => (value + Math.max(-12, Math.min(12, shift))).toFixed(1)).join());
      return s("polyline", { points: points.join(" "), stroke: colour(index) }, s("title", {}, flow.name));
    });
    this.reach = s("g", { class: "reach", "aria-hidden": "true" });
    this.svg.replaceChildren(
      s("g", { class: "links" }, links, wires),
      s("g", { class: "paths" }, paths),
      this.reach,
      ...view.nodes.map((_, node) => this.node(node)),
      ...this.scaleBar(),
    );
    this.drawReach();
  }

  node(node) {
    const { view } = this;
    const { name, x, y } = view.nodes[node];
    const role = view.flows.some((flow) => flow.source === node) ? "source" : view.flows.some((flow) => flow.destination === node) ? "sink" : "";
    const [cx, cy] = this.at(node);
    const place = x === null ? "without a position" : `at ${digits(x)} m, ${digits(y)} m`;
    const element = s(
      "g",
      {
        class: "node",
        tabindex: 0,
        role: "button",
        "data-node": node,
        "aria-label": `Node ${name} ${place}; arrow keys move it`,
        transform: `translate(${cx} ${cy})`,
        onpointerdown: (event) => this.take(event, node),
        onkeydown: (event) => this.key(event, node),
        onfocus: () => {
          this.focused = node;
          this.drawReach();
        },
        onblur: () => {
          this.focused = undefined;
          this.drawReach();
        },
      },
      s("circle", { r: 22, class: "touch" }),
      s("circle", { r: 8, class: x === null ? "hollow" : role }),
    );
    if (view.nodes.length <= MAX_NAMES) element.append(s("text", { y: -13 }, name));
    return element;
  }

  /** Draws the ranges of the focused node. */
  drawReach() {
    this.explain();
    const [cx, cy] = this.places[this.focused] ? this.at(this.focused) : [];
    this.reach.replaceChildren(...(cx === undefined ? [] : this.ranges.map(([, metres]) => s("circle", { cx, cy, r: metres * this.scale }))));
  }

  scaleBar() {
    const wanted = 120 / this.scale;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const metres = power * [5, 2, 1].find((factor) => factor * power <= wanted);
    const length = metres * this.scale;
    return [s("path", { class: "scale", d: `M10 10v6h${length.toFixed(1)}v-6` }), s("text", { class: "scale", x: 14 + length, y: 18 }, `${digits(metres)} m`)];
  }

  take(event, node) {
    if (event.button !== 0) return;
    this.dragged = { node, moved: false };
    this.svg.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (!this.dragged) return;
    const { node } = this.dragged;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    this.dragged.moved = true;
    this.places[node] = [(point.x - this.origin[0]) / this.scale, (this.origin[1] - point.y) / this.scale];
    const [x, y] = this.at(node);
    this.svg.querySelector(`[data-node="${node}"]`).setAttribute("transform", `translate(${x} ${y})`);
    this.focused = node;
    this.drawReach();
  }

  drop() {
    const dragged = this.dragged;
    this.dragged = null;
    if (dragged?.moved) this.put(dragged.node, ...this.places[dragged.node]);
  }

  key(event, node) {
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!direction) return;
    event.preventDefault();
    const [x, y] = this.places[node];
    const step = event.shiftKey ? 1 : STEP_M;
    this.places[node] = [x + step * direction[0], y + step * direction[1]];
    this.put(node, ...this.places[node]);
  }

  put(node, x, y) {
    this.moved(node, Math.round(x), Math.round(y));
  }
}

/** Returns the positions of nodes in metres; nodes without one are placed in a circle. */
function places(view) {
  const circle = (index) => {
    const angle = (2 * Math.PI * index) / view.nodes.length;
    return [200 * Math.cos(angle), 200 * Math.sin(angle)];
  };
  const known = view.nodes.filter((node) => node.x !== null);
  const middle = known.length && [known.reduce((sum, node) => sum + node.x, 0) / known.length, known.reduce((sum, node) => sum + node.y, 0) / known.length];
  return view.nodes.map((node, index) => {
    if (node.x !== null) return [node.x, node.y];
    const [x, y] = circle(index);
    return known.length ? [middle[0] + x / 10, middle[1] + y / 10] : [x, y];
  });
}
