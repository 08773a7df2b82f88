// Charts: lines over time with a common cursor, and bars.
import { colour, h, s } from "./dom.js";
import { digits } from "./units.js";

const WIDTH = 340;
const HEIGHT = 170;
const LEFT = 46;
const BOTTOM = 24;
const TOP = 8;
/** Maximum number of points of a line. */
const MAX_POINTS = 600;

/** Line charts with a common cursor. */
export class TimeCharts {
  constructor() {
    this.element = h("div", { class: "figures" });
    this.charts = [];
  }

  /** Draws `[{ title, unit, lines: [{ name, points }] }]` from 0 to `end` seconds. */
  show(charts, end) {
    this.charts = charts.map((chart) => new TimeChart(chart, end, (time) => this.charts.forEach((each) => each.point(time))));
    this.element.replaceChildren(...this.charts.map((chart) => chart.element));
  }
}

/** Chart of lines over time. */
class TimeChart {
  constructor({ title, unit, lines }, end, point) {
    this.lines = lines.filter(Boolean);
    this.end = end;
    const maximum = Math.max(...this.lines.flatMap(({ points }) => points.map(([, value]) => value)), 0) || 1;
    this.top = roundUp(maximum);
    this.cursor = s("line", { class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
    this.svg = s(
      "svg",
      { class: "chart lines", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title} over time` },
      this.axes(),
      this.lines.map((line, index) => s("polyline", { points: this.path(line.points), stroke: colour(index) })),
      this.cursor,
    );
    const read = (event) => {
      const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse()).x;
      point(Math.max(0, Math.min(end, ((x - LEFT) / (WIDTH - LEFT)) * end)));
    };
    this.svg.addEventListener("pointermove", read);
    this.svg.addEventListener("pointerdown", read);
    this.values = this.lines.map(() => h("b", {}));
    const legend = this.lines.map(({ name }, index) => h("span", {}, h("i", { style: `background:${colour(index)}` }), name, " ", this.values[index]));
    this.when = h("span", { class: "note" });
    this.element = h("figure", { class: "chart-box half" }, h("figcaption", {}, h("h3", {}, `${title} (${unit})`)), h("div", { class: "key" }, legend, this.when), this.svg);
    this.point(end);
  }

  x(time) {
    return LEFT + ((WIDTH - LEFT - 4) * time) / this.end;
  }

  y(value) {
    return HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * value) / this.top;
  }

  path(points) {
    const stride = Math.ceil(points.length / MAX_POINTS) || 1;
    return points
      .filter((_, index) => index % stride === 0 || index === points.length - 1)
      .map(([time, value]) => `${this.x(time).toFixed(1)},${this.y(value).toFixed(1)}`)
      .join(" ");
  }

  axes() {
    const values = [0, 0.25, 0.5, 0.75, 1].map((share) => share * this.top);
    const times = [0, 0.25, 0.5, 0.75, 1].map((share) => share * this.end);
    return [
      ...values.map((value) => s("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: this.y(value), y2: this.y(value) })),
      ...values.map((value) => s("text", { x: LEFT - 5, y: this.y(value) + 4, "text-anchor": "end" }, digits(value))),
      ...times.map((time, index) => s("text", { x: this.x(time), y: HEIGHT - 6, "text-anchor": index === 0 ? "start" : index === 4 ? "end" : "middle" }, `${digits(time)} s`)),
    ];
  }

  /** Moves the cursor to a time and shows the values there in the legend. */
  point(time) {
    const x = this.x(time);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.cursor.setAttribute("visibility", time < this.end ? "visible" : "hidden");
    this.when.textContent = time < this.end ? `at ${digits(time)} s` : "";
    this.lines.forEach(({ points }, index) => {
      const next = points.findIndex(([at]) => at >= time);
      const value = points[next < 0 ? points.length - 1 : next]?.[1];
      this.values[index].textContent = value === undefined ? "–" : digits(value);
    });
  }
}

/** Returns a round number of at least `value`. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].find((factor) => factor * power >= value * 0.9999);
}

/** Creates a bar chart of rows `[{ name, text, value }]`. */
export function bars(rows, label) {
  const maximum = Math.max(...rows.map(({ value }) => value ?? 0)) || 1;
  return h(
    "div",
    { class: "bars", role: "img", "aria-label": `${label}: ${rows.map(({ name, text }) => `${name} ${text}`).join(", ")}` },
    rows.map(({ name, text, value }, index) =>
      h("div", {}, h("span", {}, name), h("i", { style: `width:${(100 * (value ?? 0)) / maximum}%;background:${colour(index)}` }), h("b", {}, text)),
    ),
  );
}

/** Shares of a radio's time: column, label, colour. */
const SHARES = [
  ["transmitting", "transmits", 0],
  ["receiving", "receives", 2],
  ["sensing", "senses", 5],
  ["nav_only", "NAV only", 1],
  ["idle", "idle", 6],
];

/** Creates stacked bars of airtime from the table `nodes`, for the first `limit` nodes. */
export function airtime(nodes, limit = 40) {
  if (!nodes) return null;
  const rows = nodes.name.slice(0, limit).map((name, row) =>
    h(
      "div",
      { class: "stack", role: "img", "aria-label": `${name}: ${SHARES.map(([column, text]) => `${text} ${share(nodes[column][row])}`).join(", ")}` },
      h("span", {}, name),
      h("div", {}, SHARES.map(([column, text, index]) => h("i", { style: `width:${100 * nodes[column][row]}%;background:${colour(index)}`, title: `${text} ${share(nodes[column][row])}` }))),
    ),
  );
  const key = SHARES.map(([, text, index]) => h("span", {}, h("i", { style: `background:${colour(index)}` }), text));
  return h("figure", { class: "chart-box" }, h("figcaption", {}, h("h3", {}, "Airtime of each radio")), h("div", { class: "key" }, key), rows);
}

const share = (value) => `${(100 * value).toFixed(1)} %`;
