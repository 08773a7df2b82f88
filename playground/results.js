// Tables of a run: derived columns, and values of questions.

/** Adds the derived columns to tables, as python/multihop/results/frames.py does. */
export function complete(tables, view) {
  const { flows, series, summary } = tables;
  if (flows) {
    const causes = Object.keys(flows).filter((name) => name.startsWith("dropped_"));
    flows.goodput_bps = flows.delivered_bytes.map((bytes) => (8 * bytes) / summary.measured_s);
    flows.packets_lost = flows.flow.map((_, row) => causes.reduce((sum, cause) => sum + flows[cause][row], 0));
    const withoutDeliveries = (values) => values.map((value, row) => (flows.packets_delivered[row] ? value : null));
    for (const name of Object.keys(flows).filter((name) => name.startsWith("delay_"))) flows[name] = withoutDeliveries(flows[name]);
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

/** Returns the duration of each row of a time series, in seconds. */
function stepLengths({ flow, time_s: time }) {
  const previous = new Map();
  return time.map((now, row) => {
    const length = now - (previous.get(flow[row]) ?? 0);
    previous.set(flow[row], now);
    return length;
  });
}

/** Returns Jain's fairness index; null if all values are 0. */
export function jain(values) {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares ? (sum * sum) / (values.length * squares) : null;
}

/** Returns the value of a question from the tables of a run; null if it was not measured. */
export function measured({ table, column, fold, where, weight }, tables) {
  const columns = tables[table] ?? {};
  const all = columns[column] ?? [];
  const isSelected = all.map((_, row) => !where || Object.entries(where).every(([name, value]) => columns[name][row] === value));
  const values = all.filter((value, row) => isSelected[row] && value !== null);
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
      const weights = (columns[weight] ?? all.map(() => 1)).filter((_, row) => isSelected[row] && all[row] !== null);
      return sum(weights) ? sum(values.map((value, row) => value * weights[row])) / sum(weights) : null;
    }
    default:
      throw new Error(`unknown fold ${fold}`);
  }
}

/** Returns the result of a question from the value of each run: the last value, or its ratio to the first. Null if a value is missing. */
export function compared(compare, numbers) {
  const first = numbers[0];
  const last = numbers[numbers.length - 1];
  if (last === null || (compare === "ratio" && !first)) return null;
  return compare === "ratio" ? last / first : last;
}

/** Returns the index of the right choice: the first whose bound exceeds the value. The last choice has no bound. */
export function rightChoice(choices, value) {
  return choices.findIndex(({ below }) => below === undefined || value < below);
}

/** Splits a time series by flow: `[{ name, points: [[time, value], …] }]`; values that were not measured are omitted. */
export function linesOf(series, column, scale = 1) {
  const lines = [];
  series?.flow.forEach((flow, row) => {
    lines[flow] ??= { name: series.name[row], points: [] };
    const value = series[column]?.[row];
    if (value !== null && value !== undefined) lines[flow].points.push([series.time_s[row], value * scale]);
  });
  return lines;
}
