// Decoder of frame logs to typed arrays. crates/frames/src/page.rs documents the format.

import { Aggregates } from "./aggregates.js";

const TYPES = { f8: Float64Array, i4: Int32Array, u1: Uint8Array };
/** Alignment of columns in bytes. */
const ALIGNMENT = 8;
/** Maximum number of transmissions on a page. */
export const MAX_TRANSMISSIONS = 5_000_000;

/** Decompresses raw DEFLATE. */
async function inflate(bytes) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser has no DecompressionStream, which is needed to read the log. Use a current Firefox, Chromium or Safari.");
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Fills an array with values from varints of their zigzag differences. Returns the number of bytes read. */
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

/** Decodes a column. */
async function column(content, rows, { type, at, size, packed }) {
  const values = new TYPES[type](rows);
  const bytes = content.subarray(at, at + size);
  if (bytes.length !== size) throw new RangeError("The content is shorter than its header states.");
  if (packed) {
    const varints = await inflate(bytes);
    if (fill(values, varints) !== varints.length) throw new RangeError("The length of a column differs from its header.");
  } else {
    new Uint8Array(values.buffer).set(bytes);
  }
  return values;
}

/** Splits a log into its header and the bytes of its columns. */
function split(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return [header, bytes.subarray(Math.ceil((4 + length) / ALIGNMENT) * ALIGNMENT)];
}

/**
 * Decodes a frame log: `{head, cutShort, tables: {name: {rows, columns: {name: typed array}}}, aggregates}`. Packets of aggregates are runs, not a
 * table. `progress` is called with the share that is decoded. Throws an Error with a message for the user.
 */
export async function decode(bytes, { limit = MAX_TRANSMISSIONS, progress = () => {} } = {}) {
  let header;
  let content;
  try {
    [header, content] = split(bytes);
  } catch {
    throw new Error("The page contains no readable frame log. Write the page again.");
  }
  const { head, cutShort, tables: descriptions } = header;
  const count = descriptions.find(({ name }) => name === "transmissions").rows;
  if (count > limit) {
    throw new Error(`The frame log has ${count} transmissions; a page holds at most ${limit}. Name an interval, as in --between 10s,20s.`);
  }
  const tables = {};
  for (const [place, { name, rows, columns }] of descriptions.entries()) {
    tables[name] = { rows, columns: {} };
    for (const each of columns) {
      try {
        tables[name].columns[each.name] = await column(content, rows, each);
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
        throw new Error(`The frame log is damaged: column ${each.name} of ${name} cannot be read. Write the page again.`);
      }
      progress((place + 1) / descriptions.length);
    }
  }
  const { aggregates, lost } = tables;
  delete tables.aggregates;
  delete tables.lost;
  return { head, cutShort, tables, aggregates: new Aggregates(aggregates.columns, lost.columns) };
}
