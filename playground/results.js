// Tables of a run: what is made of them, and what questions measure.

/** The tables with the columns that are made of others, as python/multihop/results/frames.py makes them. */
export function completed(tables, view) {
  const { flows, series, summary } = tables;
  if (flows) {
    const causes = Object.keys(flows).filter((name) => name.startsWith("dropped_"));
    flows.goodput_bps = flows.delivered_bytes.map((bytes) => (8 * bytes) / summary.measured_s);
    flows.packets_lost = flows.flow.map((_, row) => causes.reduce((sum, cause) => sum + flows[cause][row], 0));
    const unseen = (values) => values.map((value, row) => (flows.packets_delivered[row] ? value : null));
    for (const name of Object.keys(flows).filter((name) => name.startsWith("delay_"))) flows[name] = unseen(flows[name]);
    summary.goodput_total_bps = flows.goodput_bps.reduce((sum, value) => sum + value, 0);
    summary.jain = jain(flows.goodput_bps);
  }
  if (series) {
    const lengths = stepLengths(series);
    series.goodput_bps = series.delivered_bytes.map((bytes, row) => (lengths[row] ? (8 * bytes) / lengths[row] : null));
    series.name = series.flow.map((flow) => view.flows[flow].name);
  }
  return tables;
}

/** Seconds that each row of a time series covers. */
function stepLengths({ flow, time_s: time }) {
  const before = new Map();
  return time.map((now, row) => {
    const length = now - (before.get(flow[row]) ?? 0);
    before.set(flow[row], now);
    return length;
  });
}

/** Jain's fairness index; null where nothing was carried. */
export function jain(values) {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares ? (sum * sum) / (values.length * squares) : null;
}

/** The one number that a question is about, of the tables of a run; null where it was not measured. */
export function measured({ table, column, fold, where, weight }, tables) {
  const columns = tables[table] ?? {};
  const all = columns[column] ?? [];
  const meant = all.map((_, row) => !where || Object.entries(where).every(([name, value]) => columns[name][row] === value));
  const values = all.filter((value, row) => meant[row] && value !== null);
  if (!values.length) return null;
  const sum = (list) => list.reduce((total, value) => total + value, 0);
  switch (fold) {
    case "sum":
      return sum(values);
    case "share":
      return sum(all) ? sum(values) / sum(all) : null;
    case "quotient":
      return values.length === 2 && values[1] ? values[0] / values[1] : null;
    case "mean": {
      const weights = columns[weight].filter((_, row) => meant[row] && all[row] !== null);
      return sum(weights) ? sum(values.map((value, row) => value * weights[row])) / sum(weights) : null;
    }
    default:
      throw new Error(`${fold} does not fold a column`);
  }
}

/** What a question asks, of the number of each of its runs: the last one, or its ratio to the first. Null where there is none. */
export function compared(compare, numbers) {
  const first = numbers[0];
  const last = numbers[numbers.length - 1];
  if (last === null || (compare === "ratio" && !first)) return null;
  return compare === "ratio" ? last / first : last;
}

/** Which choice is right: the first one whose bound the value is below; the last has none. */
export function right(choices, value) {
  return choices.findIndex(({ below }) => below === undefined || value < below);
}

/** Rows of a time series by flow: `[{ name, points: [[time, value], …] }]`, without what was not measured. */
export function linesOf(series, column, scale = 1) {
  const lines = [];
  series?.flow.forEach((flow, row) => {
    lines[flow] ??= { name: series.name[row], points: [] };
    const value = series[column]?.[row];
    if (value !== null && value !== undefined) lines[flow].points.push([series.time_s[row], value * scale]);
  });
  return lines;
}
