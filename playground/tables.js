// HTML tables of a run.
import { h } from "./dom.js";
import { quantity, unitOf } from "./units.js";

/** Maximum number of rows of a table. */
const MAX_ROWS = 200;

/** Columns of the summary of flows. */
const SUMMARY_COLUMNS = ["name", "scheme", "goodput_bps", "delay_mean_s", "delay_p95_s", "packets_delivered", "packets_lost", "retransmissions", "timeouts", "marked"];

/** Creates the summary of flows. `descriptions` are the engine's descriptions of columns. */
export function flowsOf(tables, descriptions) {
  const { summary } = tables;
  const facts = [
    ["total goodput", quantity(summary.goodput_total_bps, "bit/s")],
    ["Jain's index", quantity(summary.jain, "1")],
    ["events", quantity(summary.events, "1")],
    ["fingerprint", summary.fingerprint],
  ];
  const named = facts.map(([name, value]) => h("span", { id: name === "fingerprint" ? "fingerprint" : null }, `${name} ${value}`));
  return [tables.flows ? table(tables.flows, SUMMARY_COLUMNS, descriptions.flows, "flows") : null, h("p", { class: "note facts-line" }, named)];
}

/** Creates all tables with all columns, collapsed. */
export function tablesOf(tables, descriptions) {
  const shown = ["flows", "nodes", "links", "wires", "categories", "measurements", "series"].filter((name) => tables[name]);
  return shown.map((name) => h("details", { ontoggle: (event) => fill(event.target, tables[name], descriptions[name], name) }, h("summary", {}, `All columns of ${name}`)));
}

/** Creates a table when its element opens. */
function fill(details, columns, description, name) {
  if (details.open && details.children.length === 1) details.append(table(columns, Object.keys(columns), description, name));
}

/** Creates a table of the columns `names`. */
function table(columns, names, description, title) {
  const meanings = new Map(description.columns.map(({ name, unit, meaning }) => [name, { unit, meaning }]));
  const wanted = names.filter((name) => columns[name]);
  const rows = columns[wanted[0]].length;
  const head = wanted.map((name) => h("th", { scope: "col", title: meanings.get(name)?.meaning }, label(name)));
  const body = Array.from({ length: Math.min(rows, MAX_ROWS) }, (_, row) =>
    h("tr", {}, wanted.map((name, column) => h(column ? "td" : "th", { scope: column ? null : "row" }, quantity(columns[name][row], meanings.get(name)?.unit ?? unitOf(name))))),
  );
  const more = rows > MAX_ROWS ? h("p", { class: "note" }, `First ${MAX_ROWS} of ${rows} rows.`) : null;
  return h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `Table of ${title}` }, h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)), more);
}

const label = (name) => name.replace(/_(bps|s|bytes|m)$/, "").replaceAll("_", " ");
