// A frame log's bytes to typed arrays. The file describes its own tables; crates/frames says what a file is.

import { Timeline } from "./timeline.js";
import { Bytes, unpackRows } from "./unpack.js";

const MAGIC = "mhframes";
const VERSION = 2;
/** Tables of which the rows are behind the transmissions of a block. */
const BESIDE = ["drops", "windows"];
const HEAD = 0xfe;
const END = 0xff;
const BLOCK_HEADER = 25;
/** More transmissions than these are asked for by a window of time. */
export const MOST = 5_000_000;

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The whole blocks of a file. */
function blocksOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = [];
  let at = 12;
  while (at + BLOCK_HEADER <= bytes.length) {
    const size = view.getUint32(at + 21, true);
    const start = at + BLOCK_HEADER;
    if (start + size > bytes.length) break;
    found.push({
      table: bytes[at],
      rows: view.getUint32(at + 1, true),
      first: Number(view.getBigUint64(at + 5, true)),
      last: Number(view.getBigUint64(at + 13, true)),
      content: bytes.subarray(start, start + size),
    });
    at = start + size;
  }
  return found;
}

/**
 * The tables of a frame log: `{head, cutShort, tables: {name: {rows, columns: {name: Float64Array}}}}`.
 * `between`, in nanoseconds, leaves out blocks of transmissions that do not overlap it. Throws an Error in plain words.
 */
export async function decode(bytes, { between = null, most = MOST } = {}) {
  const text = String.fromCharCode(...bytes.subarray(0, 8));
  if (text !== MAGIC) throw new Error("This is no frame log: it does not begin with mhframes.");
  const version = new DataView(bytes.buffer, bytes.byteOffset + 8, 4).getUint32(0, true);
  if (version !== VERSION) throw new Error(`This is a frame log of version ${version}; this page reads version ${VERSION}.`);
  const blocks = blocksOf(bytes);
  const headBlock = blocks.find((block) => block.table === HEAD);
  if (!headBlock) throw new Error("The frame log is cut short: nothing of it is left.");
  const head = JSON.parse(new TextDecoder().decode(await inflate(headBlock.content)));
  const wanted = blocks.filter(({ table, first, last }) => {
    const timed = head.tables[table]?.name === "transmissions" && between;
    return head.tables[table] && (!timed || (first <= between[1] && last >= between[0]));
  });
  const count = wanted.reduce((sum, block) => sum + (head.tables[block.table].name === "transmissions" ? block.rows : 0), 0);
  if (count > most) {
    throw new Error(`The frame log has ${count} transmissions, more than the ${most} that a page holds. Name a window: --between 10s,20s.`);
  }
  return { head, tables: tablesOf(head, wanted, count), cutShort: !blocks.some((block) => block.table === END) };
}

/** The tables in some blocks, which have so many transmissions. */
function tablesOf(head, blocks, count) {
  const described = Object.fromEntries(head.tables.map((table) => [table.name, table]));
  const out = {};
  for (const { name, columns } of head.tables) {
    out[name] = Object.fromEntries(columns.map((column) => [column.name, name === "transmissions" ? new Float64Array(count) : []]));
  }
  const rowsOf = (name) => out[name][described[name].columns[0].name].length;
  const timeline = new Timeline(head);
  let filled = 0;
  for (const block of blocks) {
    const content = new Bytes(block.content);
    const { name } = head.tables[block.table];
    if (name === "transmissions") {
      timeline.read(content, block.rows, out, filled);
      const starts = out.transmissions.start.subarray(filled, filled + block.rows);
      for (const table of BESIDE) unpackRows(content, described[table], out[table], rowsOf(table), content.take(), starts);
      filled += block.rows;
    } else {
      const first = rowsOf(name);
      unpackRows(content, described[name], out[name], first, block.rows);
      if (name === "sorts") learn(timeline, out.sorts, first);
    }
    if (!content.isOver()) throw new Error("The frame log is damaged.");
  }
  return Object.fromEntries(Object.entries(out).map(([name, columns]) => {
    const typed = Object.entries(columns).map(([column, values]) => [column, name === "transmissions" ? values : Float64Array.from(values)]);
    return [name, { rows: name === "transmissions" ? count : rowsOf(name), columns: Object.fromEntries(typed) }];
  }));
}

/** Makes the sorts from row `first` on known. */
function learn(timeline, columns, first) {
  for (let row = first; row < columns.from.length; row += 1) {
    timeline.learn(Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[row]])));
  }
}
