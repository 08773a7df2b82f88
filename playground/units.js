// Formats of numbers.

const PREFIXES = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];

/** Formats a number with three significant digits. */
export function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 100 ? Math.round(value).toLocaleString("en") : size >= 0.001 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
}

/** Formats a value with its unit, which the engine names; counts have none. */
export function quantity(value, unit) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (unit === "bit/s") {
    const [scale, prefix] = PREFIXES.find(([minimum]) => Math.abs(value) >= minimum) ?? [1, ""];
    return `${digits(value / scale)} ${prefix}b/s`;
  }
  if (unit === "s" && Math.abs(value) < 1 && value !== 0) return `${digits(value * 1e3)} ms`;
  return ["s", "m", "byte"].includes(unit) ? `${digits(value)} ${unit}` : digits(value);
}

/** Returns the unit of a column from its name. */
export function unitOf(column) {
  if (column.endsWith("_bps")) return "bit/s";
  if (column.endsWith("_s")) return "s";
  if (column.endsWith("_bytes")) return "byte";
  return "1";
}
