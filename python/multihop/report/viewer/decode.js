// A frame log's bytes to typed arrays. The file describes its own tables; crates/frames says what a file is.

import { Aggregates } from "./aggregates.js";
import { Sets } from "./reserved.js";
import { Timeline } from "./timeline.js";
import { Bytes, damaged, unpackRows } from "./unpack.js";

const MAGIC = "mhframes";
const VERSION = 6;
const HEAD = 0xfe;
const END = 0xff;
/** Bytes of a file before its first block, and of a block before and behind its content. */
const BEGINS = 12;
const BLOCK_HEADER = 25;
const CHECK_SUM = 4;
/** Tables that a model of what is expected writes. */
const MODELLED = ["transmissions", "reservations", "mpdus"];
/** Columns of transmissions: 50 bytes of each. */
const TRANSMISSIONS = {
  start: Float64Array, sort: Int32Array, try: Int32Array, frozen: Int32Array, waited: Float64Array, queue: Int32Array, packet: Float64Array,
  outcome: Uint8Array, collided: Int32Array, overlap: Uint8Array, reserves: Int32Array,
};
/** For so long, in milliseconds, a page does nothing but read. */
const TURN_MS = 40;
/** More transmissions than these are asked for by a window of time. */
export const MOST = 5_000_000;

async function inflate(bytes) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser has no DecompressionStream, without which the log cannot be read. Use a current Firefox, Chromium or Safari.");
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let register = byte;
  for (let bit = 0; bit < 8; bit += 1) register = register & 1 ? (register >>> 1) ^ 0xedb88320 : register >>> 1;
  return register;
});

/** The register of a CRC-32 (IEEE 802.3) after these bytes. */
function summed(before, bytes) {
  let register = before;
  for (let at = 0; at < bytes.length; at += 1) register = CRC[(register ^ bytes[at]) & 0xff] ^ (register >>> 8);
  return register;
}

/** What is said of a block, by its place, that is not what was written. */
function damagedBlock(place, at, fault) {
  return new Error(`The frame log is damaged: block ${place + 1}, at byte ${at}, ${fault}. Write it again.`);
}

/** The whole blocks of a file; the last one is the end if nothing is missing. */
function blocksOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = [];
  let at = BEGINS;
  let register = summed(-1, bytes.subarray(0, BEGINS));
  while (at + BLOCK_HEADER <= bytes.length) {
    const start = at + BLOCK_HEADER;
    const end = start + view.getUint32(at + 21, true);
    if (found.at(-1)?.table === END) throw damagedBlock(found.length, at, "comes after the end of the log");
    if (end + CHECK_SUM > bytes.length) break;
    register = summed(register, bytes.subarray(at, end));
    if (view.getUint32(end, true) !== ~register >>> 0) throw damagedBlock(found.length, at, "has another check sum than it says");
    const [first, last] = [at + 5, at + 13].map((place) => Number(view.getBigUint64(place, true)));
    found.push({ at, table: bytes[at], rows: view.getUint32(at + 1, true), first, last, content: bytes.subarray(start, end) });
    at = end + CHECK_SUM;
  }
  return found;
}

/** Lets the page do something else; not throttled where it is hidden, as timers are. */
function pause() {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); done(); };
    port2.postMessage(null);
  });
}

/**
 * The tables of a frame log: `{head, cutShort, tables: {name: {rows, columns: {name: typed array}}}, sets, aggregates}`; instead of a table of
 * packets in aggregates there are these as runs. `between`, in nanoseconds, leaves out blocks of transmissions that do not overlap it. `progress` hears
 * now and then which share was read; in between, the page can do something else. Throws an Error in plain words.
 */
export async function decode(bytes, { between = null, most = MOST, progress = () => {} } = {}) {
  const text = String.fromCharCode(...bytes.subarray(0, 8));
  if (text !== MAGIC) throw new Error("This is no frame log: it does not begin with mhframes.");
  if (bytes.length < BEGINS) throw new Error("The frame log is cut short: nothing of it is left.");
  const version = new DataView(bytes.buffer, bytes.byteOffset + 8, 4).getUint32(0, true);
  if (version !== VERSION) {
    throw new Error(`This is a frame log of version ${version}; this page reads version ${VERSION}. Write it again, or view it with the multihop that wrote it.`);
  }
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
  const tables = new Tables(head, count);
  let since = performance.now();
  for (const [place, block] of wanted.entries()) {
    try {
      tables.read(block);
    } catch {
      throw damagedBlock(blocks.indexOf(block), block.at, "is not what its header says");
    }
    if (performance.now() - since < TURN_MS) continue;
    progress((place + 1) / wanted.length);
    await pause();
    since = performance.now();
  }
  return { head, cutShort: !blocks.some((block) => block.table === END), ...tables.all() };
}

/** The tables of a log, block by block. */
class Tables {
  constructor(head, transmissions) {
    this.head = head;
    this.described = Object.fromEntries(head.tables.map((table) => [table.name, table]));
    this.transmissions = Object.fromEntries(Object.entries(TRANSMISSIONS).map(([column, Type]) => [column, new Type(transmissions)]));
    this.filled = 0;
    this.others = {};
    for (const { name, columns } of head.tables) {
      if (!MODELLED.includes(name)) this.others[name] = Object.fromEntries(columns.map((column) => [column.name, []]));
    }
    this.ingresses = [];
    this.sets = new Sets();
    this.aggregates = new Aggregates();
    this.timeline = new Timeline(head, this.sets, this.aggregates);
  }

  rows(name) { return this.others[name][this.described[name].columns[0].name].length; }

  read(block) {
    const content = new Bytes(block.content);
    const { name } = this.head.tables[block.table];
    if (name === "transmissions") {
      this.timeline.read(content, block.rows, this.transmissions, this.filled, this.ingresses);
      this.filled += block.rows;
      this.timeline.beside.append(this.others);
    } else {
      if (!this.others[name]) throw damaged();
      const first = this.rows(name);
      unpackRows(content, this.described[name], this.others[name], first, block.rows);
      if (name === "sorts") for (const sort of rowsFrom(this.others.sorts, first)) this.timeline.learn(sort);
      if (name === "ingress") this.ingresses.push(...rowsFrom(this.others.ingress, first));
    }
    if (!content.isOver()) throw damaged();
  }

  all() {
    const { sets, aggregates } = this;
    const tables = {
      transmissions: { rows: this.filled, columns: this.transmissions },
      reservations: { rows: sets.node.length, columns: sets.columns() },
    };
    for (const [name, columns] of Object.entries(this.others)) {
      const typed = Object.entries(columns).map(([column, values]) => [column, Float64Array.from(values)]);
      tables[name] = { rows: this.rows(name), columns: Object.fromEntries(typed) };
    }
    return { tables, sets, aggregates };
  }
}

/** The rows from row `first` on, as objects. */
function rowsFrom(columns, first) {
  const names = Object.keys(columns);
  const length = columns[names[0]].length - first;
  return Array.from({ length }, (_, at) => Object.fromEntries(names.map((name) => [name, columns[name][first + at]])));
}
