// A frame log's bytes to typed arrays. The file describes its own tables; crates/frames says what a file is.

const MAGIC = "mhframes";
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

/** Appends the values of a column of a block to `out`, from row `first` on. */
function column(bytes, { coding, slot }, keys, out, first, rows) {
  const memory = [];
  let before = 0;
  let at = 0;
  const take = () => {
    let byte = bytes[at];
    at += 1;
    let value = byte & 0x7f;
    for (let scale = 128; byte & 0x80; scale *= 128) {
      byte = bytes[at];
      at += 1;
      value += (byte & 0x7f) * scale;
    }
    return value;
  };
  for (let row = first; row < first + rows; row += 1) {
    const value = take();
    if (coding === "plain") out[row] = value;
    else if (coding === "optional") out[row] = value - 1;
    else {
      const half = Math.floor(value / 2);
      const difference = value % 2 ? -half - 1 : half;
      if (coding === "signed") out[row] = difference;
      else if (coding === "delta-slots") out[row] = before += difference * slot + take();
      else if (coding === "delta") out[row] = before += difference;
      else out[row] = memory[keys[row]] = (memory[keys[row]] || 0) + difference;
    }
  }
  if (at !== bytes.length) throw new Error("The frame log is damaged.");
}

/**
 * The tables of a frame log: `{head, cutShort, tables: {name: {rows, columns: {name: Float64Array}}}}`.
 * `between`, in nanoseconds, leaves out blocks of transmissions that do not overlap it. Throws an Error in plain words.
 */
export async function decode(bytes, { between = null, most = MOST } = {}) {
  const text = String.fromCharCode(...bytes.subarray(0, 8));
  if (text !== MAGIC) throw new Error("This is no frame log: it does not begin with mhframes.");
  const version = new DataView(bytes.buffer, bytes.byteOffset + 8, 4).getUint32(0, true);
  if (version !== 1) throw new Error(`This is a frame log of version ${version}; this page reads version 1.`);
  const blocks = blocksOf(bytes);
  const headBlock = blocks.find((block) => block.table === HEAD);
  if (!headBlock) throw new Error("The frame log is cut short: nothing of it is left.");
  const head = JSON.parse(new TextDecoder().decode(await inflate(headBlock.content)));
  const wanted = blocks.filter((block) => {
    const table = head.tables[block.table];
    const timed = table && ["transmissions", "mpdus"].includes(table.name) && between;
    return table && (!timed || (block.first <= between[1] && block.last >= between[0]));
  });
  const totals = head.tables.map(() => 0);
  wanted.forEach((block) => { totals[block.table] += block.rows; });
  const count = totals[head.tables.findIndex((table) => table.name === "transmissions")];
  if (count > most) {
    throw new Error(`The frame log has ${count} transmissions, more than the ${most} that a page holds. Name a window: --between 10s,20s.`);
  }
  const tables = {};
  head.tables.forEach((table, index) => {
    const columns = {};
    table.columns.forEach(({ name }) => { columns[name] = new Float64Array(totals[index]); });
    tables[table.name] = { rows: totals[index], columns };
  });
  const filled = head.tables.map(() => 0);
  for (const block of wanted) {
    const table = head.tables[block.table];
    const { columns } = tables[table.name];
    const view = new DataView(block.content.buffer, block.content.byteOffset, block.content.length);
    let at = 0;
    for (const { name, coding, by } of table.columns) {
      const size = view.getUint32(at, true);
      const keys = coding === "delta-by" ? columns[table.columns[by].name] : null;
      const content = await inflate(block.content.subarray(at + 4, at + 4 + size));
      column(content, { coding, slot: head.slot_ns || 1 }, keys, columns[name], filled[block.table], block.rows);
      at += 4 + size;
    }
    filled[block.table] += block.rows;
  }
  return { head, tables, cutShort: !blocks.some((block) => block.table === END) };
}
