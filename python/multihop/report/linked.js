// Charts that belong together: a cursor and a zoom for all that have the same axis, flows and nodes that are picked once and lit
// everywhere, numbers as CSV and pictures as SVG. Charts stay as they were drawn: this moves what is there. Without it, nothing is missing.
"use strict";
(() => {
  const SHOWN = 8;
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.append(...children);
    return element;
  };
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
  const digits = (value) => String(+value.toPrecision(4));

  /** A pair of axes in a picture. What it shows of its axis is `window`, from one end to the other. */
  class Panel {
    constructor(chart, data) {
      Object.assign(this, data, { chart, lines: data.lines });
      this.group = chart.svg.querySelector(`#${CSS.escape(data.group)}`);
      [this.left, this.top, this.right, this.bottom] = data.box;
      this.window = [...this.range];
      if (!this.cursor) return;
      this.places = [...new Set(this.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
      this.lines.forEach((line) => { line.at = new Map(line.x.map((x, index) => [x, index])); });
      this.mark = document.createElementNS(chart.svg.namespaceURI, "line");
      Object.entries({ class: "cursor", y1: this.top, y2: this.bottom, visibility: "hidden" }).forEach(([name, value]) => this.mark.setAttribute(name, value));
      chart.svg.append(this.mark);
    }

    /** From places on the axis to the picture, and back. */
    across(value) {
      const [from, to] = this.window.map(this.scale, this);
      return this.left + (this.scale(value) - from) / (to - from) * (this.right - this.left);
    }

    value(across) {
      const [from, to] = this.window.map(this.scale, this);
      const found = from + (across - this.left) / (this.right - this.left) * (to - from);
      return this.log ? 10 ** found : found;
    }

    scale(value) { return this.log ? Math.log10(value) : value; }

    /** The place nearest to a value; null where there is none. */
    nearest(value) {
      const { places } = this;
      if (!places.length) return null;
      let low = 0;
      let high = places.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (places[middle] < value) low = middle + 1;
        else high = middle;
      }
      const before = places[Math.max(0, low - 1)];
      const after = places[Math.min(low, places.length - 1)];
      return value - before < after - value ? before : after;
    }

    /** Puts the cursor at a place; `null` takes it away. */
    point(value) {
      const place = value === null ? null : this.nearest(value);
      const isThere = place !== null && place >= this.window[0] && place <= this.window[1];
      this.mark.setAttribute("visibility", isThere ? "visible" : "hidden");
      if (isThere) ["x1", "x2"].forEach((end) => this.mark.setAttribute(end, this.across(place)));
      return isThere ? place : null;
    }

    /** What its series have at a place, as elements: those that are picked before others. */
    said(place) {
      const there = this.lines.filter((line) => line.at.has(place) && line.y[line.at.get(place)] !== null);
      const lines = [...there].sort((a, b) => picks.isLit(b.of) - picks.isLit(a.of));
      const parts = lines.slice(0, SHOWN).map((line) => {
        const chip = make("i", {});
        chip.style.background = line.colour;
        return make("span", {}, chip, `${line.name ? `${line.name} ` : ""}${digits(line.y[line.at.get(place)])}`);
      });
      if (lines.length > SHOWN) parts.push(make("span", {}, `and ${lines.length - SHOWN} more`));
      return make("div", {}, make("b", {}, `${this.title ? `${this.title}, ` : ""}${this.y}: `), ...parts);
    }

    /** Shows a part of the axis: what is drawn is stretched, its ticks are new. */
    show([from, to]) {
      const least = (this.range[1] - this.range[0]) / 10_000;
      const length = clamp(to - from, least, this.range[1] - this.range[0]);
      const first = clamp(from, this.range[0], this.range[1] - length);
      const [left, k] = [this.left, (this.range[1] - this.range[0]) / length];
      this.window = [first, first + length];
      const start = left + (first - this.range[0]) / (this.range[1] - this.range[0]) * (this.right - left);
      this.stretched().forEach((part) => part.setAttribute("transform", `translate(${left - k * start} 0) scale(${k} 1)`));
      this.ticks();
    }

    /** The elements that a zoom stretches, each inside of one that cuts it off at the axes. */
    stretched() {
      if (this.parts) return this.parts;
      this.parts = [...(this.group ? this.group.querySelectorAll("[clip-path]") : [])].map((cut) => {
        const inner = document.createElementNS(cut.namespaceURI, "g");
        if (cut.tagName === "g") inner.append(...cut.childNodes);
        else {
          const outer = document.createElementNS(cut.namespaceURI, "g");
          outer.setAttribute("clip-path", cut.getAttribute("clip-path"));
          cut.removeAttribute("clip-path");
          cut.replaceWith(outer);
          outer.append(inner);
          inner.append(cut);
        }
        if (cut.tagName === "g") cut.append(inner);
        inner.querySelectorAll("*").forEach((part) => part.setAttribute("vector-effect", "non-scaling-stroke"));
        return inner;
      });
      return this.parts;
    }

    ticks() {
      const axis = this.group && this.group.querySelector(`#${CSS.escape(this.group.id)}-x`);
      const texts = axis ? [...axis.querySelectorAll("g[id*=xtick] text")] : [];
      if (!texts.length) return;
      this.drawn = this.drawn || texts;
      (this.made || []).forEach((text) => text.remove());
      const isWhole = this.window[0] === this.range[0] && this.window[1] === this.range[1];
      this.drawn.forEach((text) => { text.style.display = isWhole ? "" : "none"; });
      this.made = isWhole ? [] : rounds(...this.window).map(({ value, text }) => {
        const tick = this.drawn[0].cloneNode();
        tick.style.display = "";
        tick.removeAttribute("transform");
        tick.setAttribute("x", this.across(value));
        tick.textContent = text;
        this.drawn[0].parentNode.parentNode.parentNode.append(tick);
        return tick;
      });
    }
  }

  /** Round numbers between two, some seven, with the digits that tell them apart. */
  function rounds(from, to) {
    const rough = (to - from) / 7;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((by) => by * power).find((by) => by >= rough);
    const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const made = [];
    for (let n = Math.ceil(from / step); n * step <= to; n += 1) made.push({ value: n * step, text: (n * step).toFixed(places) });
    return made;
  }

  /** A picture with its panels, and what is below it. */
  class Chart {
    constructor(holder) {
      const data = JSON.parse(holder.textContent);
      this.svg = holder.previousElementSibling;
      this.name = data.name;
      this.panels = data.panels.map((panel) => new Panel(this, panel));
      this.readout = make("div", { class: "readout" });
      if (this.panels.some((panel) => panel.cursor)) {
        this.readout.style.minHeight = `${1.45 * (1 + this.panels.length)}em`;
        // A picture that stands alone scrolls where it is too wide; what is said of it does not.
        if (holder.parentElement.matches(".scroll")) holder.parentElement.after(this.readout);
        else holder.after(this.readout);
      }
      this.listen();
    }

    get zooms() { return this.panels.some((panel) => panel.zooms); }

    /** Where a pointer is in the picture, and in which panel. */
    at(event) {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
      const panel = this.panels.find((each) => each.cursor && place.x >= each.left && place.x <= each.right && place.y >= each.top && place.y <= each.bottom);
      return { x: place.x, panel };
    }

    listen() {
      const { svg } = this;
      if (!this.panels.some((panel) => panel.cursor)) return;
      svg.addEventListener("pointermove", (event) => this.move(event));
      svg.addEventListener("pointerleave", () => { if (!this.drag) together.point(null); });
      svg.addEventListener("keydown", (event) => this.key(event), true);
      if (!this.zooms) return;
      svg.classList.add("zooms");
      svg.addEventListener("pointerdown", (event) => {
        const { x, panel } = this.at(event);
        if (!panel || event.button !== 0) return;
        if (event.pointerType === "touch") together.point(panel.x, panel.nearest(panel.value(x)));
        else this.drag = { panel, x, band: null };
      });
      window.addEventListener("pointerup", (event) => this.drop(event));
      svg.addEventListener("dblclick", () => together.show(this.panels[0].x, null));
    }

    move(event) {
      const { x, panel } = this.at(event);
      if (this.drag) {
        const { panel: held, x: begun } = this.drag;
        const now = clamp(x, held.left, held.right);
        if (!this.drag.band && Math.abs(now - begun) < 4) return;
        this.drag.band = this.drag.band || this.svg.appendChild(document.createElementNS(this.svg.namespaceURI, "rect"));
        const shape = { class: "chosen", x: Math.min(now, begun), width: Math.abs(now - begun), y: held.top, height: held.bottom - held.top };
        Object.entries(shape).forEach(([name, value]) => this.drag.band.setAttribute(name, value));
        this.drag.end = now;
      } else if (panel) together.point(panel.x, panel.nearest(panel.value(x)));
    }

    drop() {
      const { drag } = this;
      this.drag = null;
      if (!drag) return;
      if (!drag.band) {
        viewers((viewer) => { if (drag.panel.x === TIME) viewer.go({ t: drag.panel.value(drag.x) }); });
        return;
      }
      drag.band.remove();
      this.dragged = true;
      setTimeout(() => { this.dragged = false; });
      together.show(drag.panel.x, [drag.x, drag.end].map((x) => drag.panel.value(x)).sort((a, b) => a - b));
    }

    key(event) {
      const panel = this.panels.find((each) => each.cursor);
      const now = together.at.get(panel.x);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const zoom = { "+": 0.5, "=": 0.5, "-": 2, 0: Infinity }[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (step && this.zooms) {
        const index = now === undefined ? -1 : panel.places.indexOf(panel.nearest(now));
        const next = panel.places[clamp(index + step, 0, panel.places.length - 1)];
        together.point(panel.x, next);
        // Arrow keys go through places here, not through parts, of which there is one for each line.
        event.stopImmediatePropagation();
        event.preventDefault();
      } else if (zoom && this.zooms) {
        together.zoom(panel, zoom);
        event.preventDefault();
      } else if (event.key === "Escape") together.point(null);
    }

    /** The numbers that are drawn, a row for each. */
    csv() {
      const titled = this.panels.some((panel) => panel.title);
      const rows = [["quantity", ...(titled ? ["panel"] : []), "series", "axis", "place", "value", "low", "high"]];
      this.panels.forEach((panel) => panel.lines.forEach((line) => line.x.forEach((x, index) => {
        const ends = line.low ? [line.low[index], line.high[index]] : [null, null];
        rows.push([panel.y, ...(titled ? [panel.title] : []), line.name, panel.x, x, line.y[index], ...ends]);
      })));
      return rows;
    }

    static text(rows) {
      const cell = (value) => {
        const text = value === null ? "" : String(value);
        return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
      };
      return `${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
    }

    /** The picture without what belongs to the page. */
    bare() {
      const copy = this.svg.cloneNode(true);
      copy.querySelectorAll(".cursor, .chosen").forEach((part) => part.remove());
      ["class", "style", "tabindex", "role"].forEach((name) => copy.removeAttribute(name));
      return copy;
    }
  }

  /** The pictures of a figure and its legend as they lie in the page, dark on white, as a file of its own. */
  function file(members) {
    const around = members[0].svg.closest("figure.chart-box") || members[0].svg;
    const [origin, keys] = [around.getBoundingClientRect(), [...around.querySelectorAll(".keys > span")]];
    const boxes = members.map(({ svg }) => svg.getBoundingClientRect());
    const top = Math.min(...[...keys.map((key) => key.getBoundingClientRect()), ...boxes].map((box) => box.top));
    const [width, height] = [origin.width, Math.max(...boxes.map((box) => box.bottom)) - top];
    const part = (tag, attributes, ...children) => {
      const element = document.createElementNS(members[0].svg.namespaceURI, tag);
      Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
      element.append(...children);
      return element;
    };
    const placed = (copy, box) => {
      Object.entries({ x: box.left - origin.left, y: box.top - top, width: box.width, height: box.height }).forEach(([name, value]) => copy.setAttribute(name, value));
      return copy;
    };
    const legend = keys.flatMap((key) => {
      const [swatch, box] = [key.querySelector("svg"), key.getBoundingClientRect()];
      const at = { x: swatch.getBoundingClientRect().right - origin.left + 6, y: box.top - top + 0.7 * box.height, "font-size": 14 };
      return [placed(swatch.cloneNode(true), swatch.getBoundingClientRect()), part("text", at, key.textContent)];
    });
    const pictures = members.map((chart, index) => placed(chart.bare(), boxes[index]));
    const paper = part("rect", { width, height, fill: "#ffffff" });
    const whole = part("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": "sans-serif", color: "#1c2126" }, paper, ...legend, ...pictures);
    return new XMLSerializer().serializeToString(whole).replace(/currentcolor/gi, "#1c2126").replaceAll("var(--grid)", "#d5dade");
  }

  const TIME = "time [s]";
  const viewers = (act) => document.querySelectorAll("[data-frames]").forEach((host) => { if (host.viewer) act(host.viewer); });

  /** What all charts of an axis do at once. */
  const together = {
    at: new Map(),
    point(key, value = null) {
      if (key === null) {
        [...this.at.keys()].forEach((each) => this.point(each));
        return;
      }
      if (value === null) this.at.delete(key);
      else this.at.set(key, value);
      charts.forEach((chart) => {
        const shown = chart.panels.filter((panel) => panel.cursor && panel.x === key).map((panel) => [panel, panel.point(value)]).filter(([, place]) => place !== null);
        if (!chart.panels.some((panel) => panel.x === key)) return;
        const head = shown.length ? [make("div", {}, make("b", {}, `${key.replace(/ \[.*/, "")} ${digits(shown[0][1])}${/\[(.*)\]/.test(key) ? ` ${/\[(.*)\]/.exec(key)[1]}` : ""}`))] : [];
        chart.readout.replaceChildren(...head, ...shown.map(([panel, place]) => panel.said(place)));
      });
    },
    show(key, window) {
      charts.flatMap((chart) => chart.panels).filter((panel) => panel.zooms && panel.x === key).forEach((panel) => panel.show(window || panel.range));
      if (key === TIME) viewers((viewer) => (window ? viewer.show(window[0] * 1e9, window[1] * 1e9) : viewer.show(0, viewer.model.duration)));
      this.point(key, this.at.has(key) ? this.at.get(key) : null);
    },
    zoom(panel, by) {
      const [from, to] = panel.window;
      const around = this.at.has(panel.x) ? this.at.get(panel.x) : (from + to) / 2;
      this.show(panel.x, Number.isFinite(by) ? [around - (around - from) * by, around + (to - around) * by] : null);
    },
  };

  /** Variants, flows and nodes: one of each may be picked, and what is of others is faint. */
  const picks = {
    about: JSON.parse((document.getElementById("subjects") || { textContent: '{"variants":[],"flows":[],"nodes":[]}' }).textContent),
    now: { v: -1, f: -1, n: -1 },
    parts: [...document.querySelectorAll("[data-of]")].map((part) => ({ part, of: part.dataset.of.split(" ") })),
    isLit(of) {
      const numbers = (letter) => of.filter((token) => token[0] === letter).map((token) => Number(token.slice(1)));
      const [variants, flows, nodes] = ["v", "f", "n"].map(numbers);
      const { v, f, n } = this.now;
      const path = (flow) => this.about.flows[flow].path;
      if (v >= 0 && variants.length && !variants.includes(v)) return false;
      if (f >= 0 && (flows.length ? !flows.includes(f) : nodes.length && !nodes.every((node) => path(f).includes(node)))) return false;
      return n < 0 || (nodes.length ? nodes.includes(n) : !flows.length || flows.some((flow) => path(flow).includes(n)));
    },
    pick(change, reports = true) {
      const before = JSON.stringify(this.now);
      Object.assign(this.now, change);
      if (JSON.stringify(this.now) === before) return;
      this.parts.forEach(({ part, of }) => part.classList.toggle("dim", !this.isLit(of)));
      Object.entries(this.selects).forEach(([letter, select]) => { select.value = String(this.now[letter]); });
      this.clear.disabled = Object.values(this.now).every((number) => number < 0);
      if (!reports) return;
      viewers((viewer) => viewer.go({ flow: this.named("f", viewer.model.head.flows), node: this.named("n", viewer.model.head.nodes) }));
      if (!document.querySelector("[data-frames]")) this.write();
    },
    names: { v: ["scheme", "variants"], f: ["flow", "flows"], n: ["node", "nodes"] },
    name(letter, number) {
      const found = this.about[this.names[letter][1]][number];
      return found && found.name !== undefined ? found.name : found;
    },
    /** The index of what is picked in a list of a frame log. */
    named(letter, list) {
      return this.now[letter] < 0 ? -1 : list.findIndex((each) => each.name === this.name(letter, this.now[letter]));
    },
    find(letter, name) {
      return this.about[this.names[letter][1]].findIndex((_, number) => this.name(letter, number) === name);
    },
    /** The bar where one picks; of a kind of which there is one, there is nothing to pick. */
    bar() {
      this.selects = {};
      Object.entries(this.names).forEach(([letter, [one, many]]) => {
        if (this.about[many].length < 2) return;
        const select = make("select", { "aria-label": `Light up a ${one}` }, make("option", { value: "-1" }, `all ${one}s`));
        this.about[many].forEach((_, number) => select.append(make("option", { value: String(number) }, this.name(letter, number))));
        select.addEventListener("change", () => this.pick({ [letter]: Number(select.value) }));
        this.selects[letter] = select;
      });
      this.clear = make("button", { type: "button", disabled: "" }, "clear");
      this.clear.addEventListener("click", () => this.pick({ v: -1, f: -1, n: -1 }));
      const made = make("div", { class: "picks", role: "group", "aria-label": "What is lit in all charts" }, make("span", {}, "light up"), ...Object.values(this.selects), this.clear);
      if (Object.keys(this.selects).length) document.querySelector("main > header").after(made);
    },
    listen() {
      document.addEventListener("click", (event) => {
        const part = event.target.closest ? event.target.closest("[data-of]") : null;
        if (!part || event.target.closest("details, a, button") || charts.some((chart) => chart.dragged)) return;
        const tokens = part.dataset.of.split(" ");
        const letter = ["f", "n", "v"].find((each) => tokens.filter((token) => token[0] === each).length === 1);
        if (!letter) return;
        const number = Number(tokens.find((token) => token[0] === letter).slice(1));
        this.pick({ [letter]: this.now[letter] === number ? -1 : number });
      });
      document.addEventListener("viewer-moved", ({ detail }) => {
        this.pick({ f: this.find("f", detail.flow), n: this.find("n", detail.node) }, false);
        if (charts.length) together.point(TIME, detail.t);
      });
      window.addEventListener("hashchange", () => this.read());
    },
    write() {
      const parts = new URLSearchParams();
      Object.entries(this.names).forEach(([letter, [one]]) => { if (this.now[letter] >= 0) parts.set(one, this.name(letter, this.now[letter])); });
      history.replaceState(null, "", `#${parts}`);
    },
    read() {
      const given = new URLSearchParams(location.hash.slice(1));
      if (!["scheme", "flow", "node"].some((name) => given.has(name))) return;
      this.pick(Object.fromEntries(Object.entries(this.names).map(([letter, [one]]) => [letter, this.find(letter, given.get(one))])), false);
    },
  };

  const save = (content, type, name) => {
    const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  const button = (text, label, act) => {
    const made = make("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", act);
    return made;
  };

  /** Below a chart: its files, and its zoom. A chart of a study has panels of one picture each, and its file is in the page. */
  function below(members) {
    const [first] = members;
    const figure = first.svg.closest("figure.chart-box");
    const kept = figure && figure.querySelector("a.file");
    const name = kept ? kept.download.replace(/\.svg$/, "") : figure ? figure.id.replace(/^figure-/, "") : first.name;
    const parts = [button("\u2193 CSV", `Download the numbers of ${first.svg.getAttribute("aria-label")} as CSV`, () => {
      const rows = members.flatMap((chart, index) => chart.csv().slice(index ? 1 : 0));
      save(Chart.text(rows), "text/csv", `${name}.csv`);
    })];
    if (!kept) parts.push(button("\u2193 SVG", `Download ${first.svg.getAttribute("aria-label")} as SVG`, () => save(file(members), "image/svg+xml", `${name}.svg`)));
    if (first.zooms) {
      const [panel] = first.panels;
      parts.push(button("\u2212", "Zoom out (-)", () => together.zoom(panel, 2)), button("+", "Zoom in (+)", () => together.zoom(panel, 0.5)),
        button("all", "The whole time (0)", () => together.show(panel.x, null)), make("span", { class: "note" }, "drag over a span of time to zoom"));
    }
    const place = figure ? figure.querySelector(".below") : make("div", { class: "below" });
    place.append(...parts);
    if (!figure) (first.readout.parentElement ? first.readout : first.svg.parentElement).after(place);
  }

  const charts = [...document.querySelectorAll("script.numbers")].map((holder) => new Chart(holder));
  const figures = new Map();
  charts.forEach((chart) => {
    const key = chart.svg.closest("figure.chart-box") || chart;
    figures.set(key, [...(figures.get(key) || []), chart]);
  });
  figures.forEach(below);
  picks.bar();
  picks.listen();
  picks.read();
})();
