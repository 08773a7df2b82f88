// Tables of a run.
import { h } from "./dom.js";
import { quantity, unitOf } from "./units.js";

const ROWS_MOST = 200;

/** Of flows, what one looks at first. */
const FIRST = ["name", "scheme", "goodput_bps", "delay_mean_s", "delay_p95_s", "packets_delivered", "packets_lost", "retransmissions", "timeouts", "marked"];

/** What came of the flows. `about` are the engine's descriptions of columns. */
export function flowsOf(tables, about) {
  const { summary } = tables;
  const facts = [
    ["all goodput", quantity(summary.goodput_total_bps, "bit/s")],
    ["Jain's index", quantity(summary.jain, "1")],
    ["events", quantity(summary.events, "1")],
    ["fingerprint", summary.fingerprint],
  ];
  const named = facts.map(([name, value]) => h("span", { id: name === "fingerprint" ? "fingerprint" : null }, `${name} ${value}`));
  return [tables.flows ? table(tables.flows, FIRST, about.flows, "flows") : null, h("p", { class: "note facts-line" }, named)];
}

/** All columns of all tables, each behind its name. */
export function tablesOf(tables, about) {
  const shown = ["flows", "nodes", "links", "wires", "categories", "measurements", "series"].filter((name) => tables[name]);
  return shown.map((name) => h("details", { ontoggle: (event) => fill(event.target, tables[name], about[name], name) }, h("summary", {}, `All columns of ${name}`)));
}

/** Large tables are made when they are asked for. */
function fill(details, columns, about, name) {
  if (details.open && details.children.length === 1) details.append(table(columns, Object.keys(columns), about, name));
}

function table(columns, names, about, title) {
  const meanings = new Map(about.columns.map(({ name, unit, meaning }) => [name, { unit, meaning }]));
  const wanted = names.filter((name) => columns[name]);
  const rows = columns[wanted[0]].length;
  const head = wanted.map((name) => h("th", { scope: "col", title: meanings.get(name)?.meaning }, label(name)));
  const body = Array.from({ length: Math.min(rows, ROWS_MOST) }, (_, row) =>
    h("tr", {}, wanted.map((name, column) => h(column ? "td" : "th", { scope: column ? null : "row" }, quantity(columns[name][row], meanings.get(name)?.unit ?? unitOf(name))))),
  );
  const more = rows > ROWS_MOST ? h("p", { class: "note" }, `The first ${ROWS_MOST} of ${rows} rows.`) : null;
  return h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `Table of ${title}` }, h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)), more);
}

const label = (name) => name.replace(/_(bps|s|bytes|m)$/, "").replaceAll("_", " ");
