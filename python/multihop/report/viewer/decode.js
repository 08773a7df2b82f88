// A frame log's bytes to typed arrays. crates/frames/src/page.rs says what they are.

import { Aggregates } from "./aggregates.js";

const TYPES = { f8: Float64Array, i4: Int32Array, u1: Uint8Array };
/** Columns begin at multiples of so many bytes. */
const ALIGNED = 8;
/** More transmissions than these are asked for by a window of time. */
export const MOST = 5_000_000;

async function inflated(bytes) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser has no DecompressionStream, without which the log cannot be read. Use a current Firefox, Chromium or Safari.");
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Fills an array with the values of which varints are the zigzag differences. Returns how many bytes these had. */
function fill(values, bytes) {
  let at = 0;
  let value = 0;
  for (let row = 0; row < values.length; row += 1) {
    let byte = bytes[at];
    at += 1;
    let number = byte & 0x7f;
    for (let scale = 128; byte & 0x80; scale *= 128) {
      byte = bytes[at];
      at += 1;
      number += (byte & 0x7f) * scale;
    }
    value += number % 2 ? -(number + 1) / 2 : number / 2;
    values[row] = value;
  }
  return at;
}

async function column(content, rows, { type, at, size, packed }) {
  const values = new TYPES[type](rows);
  const bytes = content.subarray(at, at + size);
  if (bytes.length !== size) throw new RangeError("The content is shorter than its header says.");
  if (packed) {
    const varints = await inflated(bytes);
    if (fill(values, varints) !== varints.length) throw new RangeError("A column has another length than its header says.");
  } else {
    new Uint8Array(values.buffer).set(bytes);
  }
  return values;
}

/** The header of a log, and where its columns begin. */
function opened(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return [header, bytes.subarray(Math.ceil((4 + length) / ALIGNED) * ALIGNED)];
}

/**
 * The tables of a frame log: `{head, cutShort, tables: {name: {rows, columns: {name: typed array}}}, aggregates}`; instead of a table of packets in
 * aggregates there are these as runs. `progress` hears now and then which share was read. Throws an Error in plain words.
 */
export async function decode(bytes, { most = MOST, progress = () => {} } = {}) {
  let header;
  let content;
  try {
    [header, content] = opened(bytes);
  } catch {
    throw new Error("This is no frame log, or nothing of it is left. Write the page again.");
  }
  const { head, cutShort, tables: described } = header;
  const count = described.find(({ name }) => name === "transmissions").rows;
  if (count > most) {
    throw new Error(`The frame log has ${count} transmissions, more than the ${most} that a page holds. Name a window: --between 10s,20s.`);
  }
  const tables = {};
  for (const [place, { name, rows, columns }] of described.entries()) {
    tables[name] = { rows, columns: {} };
    for (const each of columns) {
      try {
        tables[name].columns[each.name] = await column(content, rows, each);
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
        throw new Error(`The frame log is damaged: column ${each.name} of ${name} cannot be read. Write the page again.`);
      }
      progress((place + 1) / described.length);
    }
  }
  const { aggregates, lost } = tables;
  delete tables.aggregates;
  delete tables.lost;
  return { head, cutShort, tables, aggregates: new Aggregates(aggregates.columns, lost.columns) };
}
