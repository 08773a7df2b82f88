// Viewer of frame logs: `await mount(element, bytes)` shows a log in an element of a page.

import { decode } from "./decode.js";
import { draw, layout, pick } from "./draw.js";
import { drawMap, extent } from "./map.js";
import { Model } from "./model.js";
import { nodesOf, opening, tracksOf } from "./opening.js";
import { Raster } from "./raster.js";
import { FLOW_COLOURS, FRAMES, LANE, LEGEND } from "./style.js";
import { packetName, packetPath, seconds, span, transmission } from "./words.js";

/** Minimum length of the visible interval, in nanoseconds. */
const SHORTEST = 1000;
/** Maximum number of visible lanes. */
const LANES = 24;
const CUT_SHORT = "The log is cut short: its end is missing.";
/** Events with a button "next"; their first letters are keys. */
const EVENTS = ["collision", "drop", "timeout"];
/** Maximum movement of a click or tap, in pixels. */
const TAP = 5;
/** Tolerance of a click and of a tap, in pixels. */
const MOUSE = 3;
const FINGER = 14;
/** Minimum distance of two fingers, in pixels. */
const CLOSEST = 10;

/** Creates an element with attributes and children; text is never markup. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
}

/** Creates a legend from entries `[name, colour]`; a colour without # is a CSS variable of the viewer. */
function legend(title, entries) {
  const element = make("p", { class: "viewer-legend" }, title);
  entries.forEach(([name, colour]) => {
    const chip = make("i", {});
    chip.style.background = colour.startsWith("#") ? colour : `var(--viewer-${colour})`;
    element.append(make("span", {}, chip, name));
  });
  return element;
}

/** Returns the legend entries of flows or nodes, up to the number of colours. */
function palette(list) {
  return list.slice(0, FLOW_COLOURS.length).map(({ name }, index) => [name, FLOW_COLOURS[index]]);
}

/**
 * Shows a frame log. Returns the viewer, which `go({t, span, flow, node})` moves; rejects with an Error if the bytes are not a log.
 * With `hash` the address of the page contains the position (`#t=12.3&flow=f2`). `cutShort` is the note about an incomplete log.
 */
export async function mount(root, bytes, { between = null, hash = true, cutShort = CUT_SHORT } = {}) {
  root.classList.add("viewer-host");
  const status = make("p", { role: "status" }, "Reading the frame log...");
  root.replaceChildren(status);
  const progress = (share) => { status.textContent = `Reading the frame log: ${Math.floor(100 * share)} %`; };
  try {
    const model = new Model(await decode(bytes, { progress }), between);
    const viewer = new Viewer(root, model, hash, cutShort);
    return viewer;
  } catch (error) {
    root.replaceChildren(make("p", { role: "alert", class: "viewer-error" }, error.message));
    throw error;
  }
}

export class Viewer {
  constructor(root, model, hash, cutShort = CUT_SHORT) {
    this.root = root;
    this.model = model;
    this.hash = hash;
    this.cutShort = cutShort;
    this.opening = opening(model);
    const { from, to, at } = this.opening;
    const nodes = nodesOf(model);
    this.state = {
      from, to, at, node: -1, flow: -1, picked: -1, packet: null, scroll: 0,
      lanesInSight: Math.min(LANES, nodes.length),
      tracks: tracksOf(model),
      nodes,
      isLit: (i) => {
        const { flow, packet } = this.state;
        if (packet) return this.lit.has(i);
        return flow < 0 || model.flow[i] === flow || model.flow[i] < 0;
      },
    };
    this.corners = extent(model);
    this.raster = new Raster();
    this.build();
    this.listen();
    this.readHash();
    if (this.opening.label && !this.words.hasChildNodes()) this.say(`The page shows ${this.opening.label}. Click a frame to follow its packet; "all" shows the whole log.`);
    this.redraw();
  }

  /** Creates the elements of the viewer. */
  build() {
    const { model } = this;
    const button = (name, title, act) => {
      const element = make("button", { type: "button", title }, name);
      element.addEventListener("click", act);
      return element;
    };
    const options = (label, names, act) => {
      const select = make("select", { "aria-label": label }, make("option", { value: "-1" }, label));
      names.forEach((name, index) => select.append(make("option", { value: String(index) }, name)));
      select.addEventListener("change", () => act(Number(select.value)));
      return select;
    };
    this.flowSelect = options("all flows", model.head.flows.map((flow) => flow.name), (flow) => this.go({ flow }));
    this.nodeSelect = options("all nodes", model.head.nodes.map((node) => node.name), (node) => this.go({ node }));
    this.search = make("input", { type: "search", placeholder: "flow, node, f0#12 or 1.25 s", "aria-label": "Search: flow, node, packet as f0#12, or time" });
    this.canvas = make("canvas", { tabindex: "0", role: "application", "aria-label": "Time line" });
    // If all lanes are visible, vertical movement of a finger scrolls the page.
    this.canvas.style.touchAction = this.state.lanesInSight < this.state.nodes.length ? "none" : "pan-y";
    this.overview = make("input", { type: "range", min: "0", max: "10000", value: "0", "aria-label": "Time" });
    this.map = make("canvas", { role: "img", "aria-label": "Map of nodes" });
    this.words = make("div", { class: "viewer-words", "aria-live": "polite" });
    this.status = make("p", { class: "viewer-status", role: "status" });
    const controls = make("div", { class: "viewer-controls" },
      this.flowSelect, this.nodeSelect, this.search,
      button("\u2212", "Zoom out (-)", () => this.zoom(2)), button("+", "Zoom in (+)", () => this.zoom(0.5)), button("all", "Whole log (0)", () => this.show(0, model.duration)));
    if (!model.isCapture) EVENTS.forEach((event) => controls.append(button(`next ${event}`, `Next ${event} (${event[0]})`, () => this.next(event))));
    if (this.state.lanesInSight < this.state.nodes.length) {
      controls.append(button("\u2191", "Lanes above (arrow up)", () => this.scroll(-5)), button("\u2193", "Lanes below (arrow down)", () => this.scroll(5)));
    }
    this.side = make("div", { class: "viewer-side" }, ...(this.corners ? [this.map] : []), this.words);
    const notes = [];
    if (model.cutShort) notes.push(this.cutShort);
    if (!model.count) notes.push("The log contains no transmission.");
    if (model.head.source === "capture") notes.push(`From a capture; inferred: ${model.head.inferred.join(", ") || "nothing"}.`);
    if (model.isCounted) notes.push(`The capture does not contain the rate of ${model.timeless} of its ${model.count} frames. Lanes show their times, and their number when zoomed out.`);
    const { flows, nodes } = model.head;
    const { tracks } = this.state;
    const legends = [legend("", model.isCapture ? FRAMES : LEGEND)];
    if (tracks.includes("queue")) legends.push(legend("queues:", palette(nodes)));
    if (tracks.includes("window") || tracks.includes("rtt")) legends.push(legend("windows, RTTs:", palette(flows)));
    const idle = nodes.length - this.state.nodes.length;
    if (idle) notes.push(`${idle === 1 ? "One node has" : `${idle} nodes have`} no radio and no lane.`);
    this.root.replaceChildren(make("div", { class: "viewer" }, controls, ...legends,
      ...notes.map((note) => make("p", { class: "viewer-note" }, note)),
      this.canvas, this.overview, this.status, this.side));
  }

  /** Registers the event listeners. */
  listen() {
    const { canvas } = this;
    this.search.addEventListener("keydown", (event) => { if (event.key === "Enter") this.find(this.search.value.trim()); });
    this.overview.addEventListener("input", () => this.centre(Number(this.overview.value) / 10_000 * this.model.duration));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.shiftKey) this.scroll(Math.sign(event.deltaY));
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / canvas.clientWidth);
      else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event.offsetX));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    this.pointers = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY, moved: 0 });
      // Several fingers are no tap.
      if (this.pointers.size > 1) this.pointers.forEach((pointer) => { pointer.moved = Infinity; });
    });
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("pointerup", (event) => {
      const pointer = this.pointers.get(event.pointerId);
      this.pointers.delete(event.pointerId);
      if (pointer && pointer.moved < TAP) this.click(event.offsetX, event.offsetY, event.pointerType === "touch" ? FINGER : MOUSE);
    });
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    const { signal } = this.ended = new AbortController();
    window.addEventListener("resize", () => this.redraw(), { signal });
    if (this.hash) window.addEventListener("hashchange", () => {
      if (location.hash === this.written) return;
      this.readHash();
      this.root.scrollIntoView();
    }, { signal });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw(), { signal });
    // Printing uses dark colours on white.
    [["beforeprint", true], ["afterprint", false]].forEach(([event, isPrinting]) => window.addEventListener(event, () => {
      this.root.classList.toggle("viewer-printed", isPrinting);
      this.drawNow();
    }, { signal }));
  }

  /** Removes all listeners, so that another viewer can replace this one. */
  close() { this.ended.abort(); }

  /** Pans, scrolls or zooms with a moving pointer. */
  drag(event) {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return;
    const [dx, dy] = [event.offsetX - pointer.x, event.offsetY - pointer.y];
    pointer.moved += Math.abs(dx) + Math.abs(dy);
    // Small movements belong to a tap.
    if (pointer.moved < TAP) return;
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) this.pinch(pointer.x, event.offsetX, other.x);
    else {
      this.pan(-dx / (this.canvas.clientWidth - this.left()));
      this.dragLanes(pointer, -dy, event.pointerType === "touch");
    }
    pointer.x = event.offsetX;
    pointer.y = event.offsetY;
  }

  /** Zooms with two fingers: the times under both fingers stay under them. */
  pinch(before, after, other) {
    if (Math.abs(after - other) < CLOSEST || (before - other) * (after - other) <= 0) return;
    const anchor = this.timeAt(other);
    const per = (this.timeAt(before) - anchor) / (after - other);
    const from = anchor - (other - this.left()) * per;
    this.show(from, from + (this.canvas.clientWidth - this.left()) * per);
  }

  /** Scrolls the lanes with a pointer; at the first and last lane a finger scrolls the page. */
  dragLanes(pointer, dy, isFinger) {
    if (this.state.lanesInSight === this.state.nodes.length) return;
    pointer.lanes = (pointer.lanes || 0) + dy;
    const lanes = Math.trunc(pointer.lanes / LANE);
    if (!lanes) return;
    pointer.lanes -= lanes * LANE;
    const before = this.state.scroll;
    this.scroll(lanes);
    if (isFinger && this.state.scroll === before) window.scrollBy(0, lanes * LANE);
  }

  /** Returns the left edge of the lanes. */
  left() { return layout(this.state, this.canvas.clientWidth).left; }

  /** Returns the time at a horizontal position. */
  timeAt(px) { return pick(this.model, this.state, this.canvas.clientWidth, px, 0).time; }

  /** Handles a key. */
  key(event) {
    const acts = {
      ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
      ArrowUp: () => this.scroll(-1), ArrowDown: () => this.scroll(1),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.show(0, this.model.duration),
      Home: () => this.centre(0), End: () => this.centre(this.model.duration),
      ...Object.fromEntries(EVENTS.map((name) => [name[0], () => this.next(name)])),
      n: () => this.step(1), p: () => this.step(-1), Escape: () => this.clear(),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  /** Sets the visible interval. */
  show(from, to) {
    const longest = this.model.duration;
    const length = Math.min(longest, Math.max(SHORTEST, to - from));
    const first = Math.max(0, Math.min(longest - length, from));
    Object.assign(this.state, { from: first, to: first + length });
    this.redraw();
  }

  /** Moves the visible interval by a share of its length. */
  pan(share) {
    const length = this.state.to - this.state.from;
    this.show(this.state.from + share * length, this.state.to + share * length);
  }

  /** Scales the visible interval around a time. */
  zoom(by, around = this.middle()) {
    const { from, to } = this.state;
    this.show(around - (around - from) * by, around + (to - around) * by);
  }

  /** Returns the time of the cursor if it is visible, otherwise the middle of the interval. */
  middle() {
    const { from, to, at } = this.state;
    return at >= from && at <= to ? at : (from + to) / 2;
  }

  /** Moves the cursor and the visible interval to a time. */
  centre(time) {
    const half = (this.state.to - this.state.from) / 2;
    this.state.at = time;
    this.show(time - half, time + half);
  }

  /** Scrolls by a number of lanes. */
  scroll(by) {
    const { state } = this;
    state.scroll = Math.max(0, Math.min(state.nodes.length - state.lanesInSight, state.scroll + by));
    this.redraw();
  }

  /** Moves to the position of a link: `t` and `span` in seconds, names or indices of a flow and a node, number and kind of a packet. */
  go({ t, span: length, flow, node, packet, of = "data" }) {
    const { state, model } = this;
    // An unknown name or index selects nothing.
    const index = (list, wanted) => {
      const named = typeof wanted === "number" ? -1 : list.findIndex((entry) => entry.name === wanted);
      return named < 0 && /^\d+$/.test(wanted) && list[Number(wanted)] ? Number(wanted) : named;
    };
    if (flow !== undefined) state.flow = index(model.head.flows, flow);
    if (node !== undefined) {
      state.node = index(model.head.nodes, node);
      if (state.node >= 0) this.reveal(state.node);
    }
    if (flow !== undefined || node !== undefined) state.packet = null;
    const time = Number.isFinite(t) ? Math.max(0, Math.min(model.duration, t * 1e9)) : NaN;
    if (packet !== undefined && state.flow >= 0) this.follow({ flow: state.flow, carries: model.names.carries.indexOf(of), packet: Number(packet), near: time || 0 });
    if (length >= 0) {
      const half = Math.min(model.duration, length * 5e8);
      const middle = Number.isFinite(time) ? time : this.middle();
      Object.assign(state, { from: middle - half, to: middle + half });
    }
    if (Number.isFinite(time)) this.centre(time);
    else this.show(state.from, state.to);
  }

  /** Scrolls the lane of a node into view. */
  reveal(node) {
    const { state } = this;
    const place = state.nodes.indexOf(node);
    if (place < 0) return;
    if (place < state.scroll) state.scroll = place;
    if (place >= state.scroll + state.lanesInSight) state.scroll = place - state.lanesInSight + 1;
  }

  /** Moves to the result of a search. */
  find(text) {
    const { model } = this;
    const packet = /^(.*)#(\d+)$/.exec(text);
    const flow = (name) => model.head.flows.findIndex((entry) => entry.name === name);
    const time = /^(\d+\.?\d*)\s*s?$/.exec(text);
    if (!this.state.packet) this.words.replaceChildren();
    if (packet && flow(packet[1]) >= 0) {
      this.state.flow = flow(packet[1]);
      this.follow({ flow: this.state.flow, carries: 1, packet: Number(packet[2]) });
    } else if (flow(text) >= 0) this.go({ flow: flow(text) });
    else if (model.head.nodes.some((node) => node.name === text)) this.go({ node: text });
    else if (time) this.go({ t: Number(time[1]) });
    else this.say(`Found no flow, node, packet or time ${text}. Write a packet as FLOW#NUMBER.`);
  }

  /** Moves to the next event of a kind. */
  next(event) {
    if (this.model.isCapture) return this.say(`A capture does not show ${event}s.`);
    const { at, picked } = this.state;
    // The search continues after the last event or the selected collision, and otherwise begins at the cursor.
    const isLast = this.last?.event === event && this.last.time === at;
    const last = event === "collision" && this.model.start[picked] === at && this.model.outcome[picked] === 2 ? picked : isLast ? this.last.row : -1;
    const found = this.model.next(event, at, last);
    if (!found) return this.say(`Found no ${event} ${last < 0 ? "from" : "after"} ${seconds(at)}${last < 0 ? " on" : ""}.`);
    this.last = { event, time: found.time, row: found.row };
    Object.assign(this.state, { picked: -1, packet: null });
    if (found.node >= 0) this.reveal(found.node);
    const length = Math.min(this.state.to - this.state.from, 2e7);
    Object.assign(this.state, { from: found.time - length / 2, to: found.time + length / 2 });
    this.centre(found.time);
    if (found.at !== undefined) this.choose(found.at);
    else if (event === "drop") {
      const { flow, carries, packet } = this.model.tables.drops.columns;
      this.follow({ flow: flow[found.row], carries: carries[found.row], packet: packet[found.row] }, false);
    } else this.say(`The retransmission timer of ${this.model.flowName(found.flow)} expired before ${seconds(found.time)}.`);
    return undefined;
  }

  /** Moves to the next or previous transmission of the selected node, or of any node. */
  step(by) {
    const { model, state } = this;
    const from = state.picked < 0 ? model.range(state.at, state.at + 1)[1] - (by > 0 ? 1 : 0) : state.picked;
    for (let i = from + by; i >= 0 && i < model.count; i += by) {
      if (state.node < 0 || model.from[i] === state.node) return this.choose(i);
    }
    return undefined;
  }

  /** Handles a click or a tap with a tolerance in pixels. */
  click(px, py, tolerance = MOUSE) {
    const found = pick(this.model, this.state, this.canvas.clientWidth, px, py, tolerance);
    if (found.at >= 0) return this.choose(found.at);
    this.state.at = found.time;
    if (found.node >= 0 && px < this.left()) this.go({ node: found.node });
    return this.redraw();
  }

  /** Selects a transmission and follows its packet. */
  choose(i) {
    const { model, state } = this;
    state.picked = i;
    state.at = model.start[i];
    const packet = { flow: model.flow[i], carries: model.carries[i], packet: model.packet[i], near: model.start[i] };
    if (packet.flow >= 0 && packet.packet > 0) this.follow(packet, false);
    else {
      state.packet = null;
      this.say(transmission(model, i));
    }
    if (state.at < state.from || state.at > state.to) this.centre(state.at);
    this.redraw();
  }

  /** Shows the path of a packet, and moves the view to it unless `moves` is false. */
  follow(packet, moves = true) {
    const { model, state } = this;
    const { lines, note } = packetPath(model, packet);
    state.packet = packet;
    this.lit = new Set(lines.flatMap(({ at }) => (at === undefined ? [] : [at, ...model.collidingFrames(at)])));
    const list = make("ol", {});
    lines.forEach((line) => {
      const link = make("button", { type: "button", class: "viewer-time" }, seconds(line.time));
      link.addEventListener("click", () => { state.picked = line.at === undefined ? -1 : line.at; if (line.node >= 0) this.reveal(line.node); this.centre(line.time); });
      list.append(make("li", { "data-time": line.time }, link, ` ${line.text}`));
    });
    const title = packetName(model, packet);
    this.words.replaceChildren(make("h3", {}, title.charAt(0).toUpperCase() + title.slice(1)), lines.length ? list : make("p", {}, "The log does not contain this packet."), ...(note ? [make("p", {}, note)] : []));
    if (moves && lines.length) {
      const length = Math.max(1e6, (lines[lines.length - 1].time - lines[0].time) * 1.2);
      state.at = lines[0].time;
      this.show(lines[0].time - length * 0.08, lines[0].time + length);
    } else this.redraw();
  }

  /** Clears the selection. */
  clear() {
    Object.assign(this.state, { picked: -1, packet: null, flow: -1, node: -1 });
    this.words.replaceChildren();
    this.redraw();
  }

  /** Shows a sentence. */
  say(text) { this.words.replaceChildren(make("p", {}, text)); this.redraw(); }

  /** Moves to the position in the address. */
  readHash() {
    if (!this.hash) return;
    const given = new URLSearchParams(location.hash.slice(1));
    const number = (name) => (given.has(name) ? Number(given.get(name)) : undefined);
    const text = (name) => (given.has(name) ? given.get(name) : undefined);
    this.go({ t: number("t"), span: number("span"), flow: text("flow"), node: text("node"), packet: number("packet"), of: text("of") });
  }

  /** Writes the position into the address. */
  writeHash() {
    if (!this.hash || !this.model.count) return;
    const { state, model } = this;
    const parts = new URLSearchParams({ t: (state.at / 1e9).toFixed(9).replace(/0+$/, "").replace(/\.$/, ""), span: String(+((state.to - state.from) / 1e9).toPrecision(6)) });
    if (state.flow >= 0) parts.set("flow", model.flowName(state.flow));
    if (state.node >= 0) parts.set("node", model.name(state.node));
    if (state.packet && state.packet.flow >= 0) {
      parts.set("flow", model.flowName(state.packet.flow));
      parts.set("packet", String(state.packet.packet));
      if (model.names.carries[state.packet.carries] !== "data") parts.set("of", model.names.carries[state.packet.carries]);
    }
    this.written = `#${parts}`;
    clearTimeout(this.writing);
    this.writing = setTimeout(() => history.replaceState(null, "", this.written), 200);
  }

  /** Schedules drawing for the next animation frame. */
  redraw() {
    if (this.scheduled) return;
    this.scheduled = requestAnimationFrame(() => {
      this.scheduled = 0;
      this.drawNow();
    });
  }

  /** Draws the viewer. */
  drawNow() {
    const { state, model } = this;
    const style = getComputedStyle(this.root);
    const colour = (name) => style.getPropertyValue(`--viewer-${name}`).trim();
    const colours = Object.fromEntries(["paper", "ink", "soft", "grid", "accent", "contends", "backoff", "nav", "off"].map((name) => [name, colour(name)]));
    const inSight = draw(this.canvas, model, state, colours, this.raster);
    if (this.corners) drawMap(this.map, model, state, colours, this.corners);
    this.overview.value = String(state.at / model.duration * 10_000);
    this.overview.setAttribute("aria-valuetext", seconds(state.at));
    this.flowSelect.value = String(state.flow);
    this.nodeSelect.value = String(state.node);
    this.words.querySelectorAll("li").forEach((line) => {
      const isNow = Number(line.dataset.time) === state.at;
      // Only the list scrolls to the line of the cursor, not the page.
      if (isNow && !line.hasAttribute("aria-current")) line.parentElement.scrollTop = line.offsetTop - line.parentElement.offsetTop - 40;
      line.toggleAttribute("aria-current", isNow);
    });
    const { nodes, scroll, lanesInSight } = state;
    const lanes = lanesInSight < nodes.length ? `; nodes ${scroll + 1} to ${scroll + lanesInSight} of ${nodes.length}` : "";
    const text = `${seconds(state.from, (state.to - state.from) / 1000)} to ${seconds(state.to, (state.to - state.from) / 1000)} (${span(state.to - state.from)}), cursor at ${seconds(state.at)}; ${inSight === model.count ? "all" : `about ${inSight} of`} ${model.count} transmissions${lanes}`;
    if (this.status.textContent !== text) this.status.textContent = text;
    this.canvas.setAttribute("aria-label", `Time line: ${text}. Arrow keys pan, plus and minus zoom, n and p go to the next and previous transmission${model.isCapture ? "" : ", c, d, t to the next collision, drop, timeout"}.`);
    this.writeHash();
    this.announce();
  }

  /** Reports the position to the page after a movement. */
  announce() {
    const { state, model } = this;
    const detail = { t: state.at / 1e9, flow: model.flowName(state.flow), node: state.node >= 0 ? model.name(state.node) : "" };
    const place = JSON.stringify(detail);
    if (this.reported && this.reported !== place) this.root.dispatchEvent(new CustomEvent("viewer-moved", { bubbles: true, detail }));
    this.reported = place;
  }
}
