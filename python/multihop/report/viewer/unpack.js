// Packed streams of bytes, and the columns of tables that need no model. crates/frames says what they are (rans.rs, coding.rs).

// Guesses are nearer to zero than this, as where logs are written.
const FARTHEST = 2 ** 60;
/** Of instants: as in the row before, at a steady pace, and from which number on as long after a transmission as lately: so many lengths are known of a key. */
const INSTANT = { same: 0, paced: 1, lately: 2, lengths: 4 };
/** A block has no more rows of a table with runs. */
const MOST_ROWS = 2 ** 24;
const RANS = { total: 4096, bits: 12, low: 2 ** 23 };

/** What is said of bytes that are not what their header says. */
export function damaged() { return new Error("The frame log is damaged."); }

/** Reads numbers from bytes, one after the other. */
export class Bytes {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  byte() {
    const { at } = this;
    if (at >= this.bytes.length) throw damaged();
    this.at = at + 1;
    return this.bytes[at];
  }

  /** A varint: seven bits in each byte, the lowest first. */
  take() {
    let byte = this.byte();
    let value = byte & 0x7f;
    for (let scale = 128; byte & 0x80; scale *= 128) {
      byte = this.byte();
      value += (byte & 0x7f) * scale;
    }
    return value;
  }

  /** The packed stream that is next. */
  unpack() {
    const length = this.take();
    if (!length) return new Bytes(new Uint8Array(0));
    const size = this.take();
    const end = this.at + Math.floor(size / 2);
    if (length > 2 ** 24 || end > this.bytes.length) throw damaged();
    const content = this.bytes.subarray(this.at, end);
    this.at = end;
    return new Bytes(size % 2 ? unransed(new Bytes(content), length) : content);
  }

  isOver() { return this.at === this.bytes.length; }
}

/** Bytes that were coded by their frequencies. */
function unransed(content, length) {
  // By slot: the symbol, its frequency less one, and how far into the symbol's slots this one is.
  const slots = new Uint32Array(RANS.total);
  let sum = 0;
  let symbol = 0;
  for (let left = content.byte() + 1; left > 0; left -= 1) {
    symbol += content.byte();
    const frequency = content.take() + 1;
    if (symbol > 255 || sum + frequency > RANS.total) throw damaged();
    for (let into = 0; into < frequency; into += 1) slots[sum + into] = symbol + (frequency - 1) * 2 ** 8 + into * 2 ** 20;
    sum += frequency;
  }
  if (sum !== RANS.total) throw damaged();
  let state = 0;
  for (let index = 0; index < 4; index += 1) state = (state << 8) | content.byte();
  const out = new Uint8Array(length);
  const { bytes } = content;
  let { at } = content;
  for (let index = 0; index < length; index += 1) {
    const slot = slots[state & (RANS.total - 1)];
    out[index] = slot & 0xff;
    state = Math.imul(((slot >>> 8) & 0xfff) + 1, state >>> RANS.bits) + (slot >>> 20) | 0;
    while (state < RANS.low) {
      if (at >= bytes.length) throw damaged();
      state = (state << 8) | bytes[at];
      at += 1;
    }
  }
  return out;
}

/** 0, 1, 2, 3 are 0, -1, 1, -2. */
export function unzigzag(value) {
  const half = Math.floor(value / 2);
  return value % 2 ? -half - 1 : half;
}

/** A length of time, which may be whole microseconds. */
export function ofThousands(number) {
  const value = unzigzag(Math.floor(number / 2));
  return number % 2 ? value : value * 1000;
}

/** What is remembered of a key, and what its next value is at a steady pace. */
function paced(last, key, count) {
  if (!last.has(key)) last.set(key, { value: 0, count: 0, step: 0, lengths: new Array(INSTANT.lengths).fill(0) });
  const known = last.get(key);
  const guess = known.value + (count - known.count) * known.step;
  return { known, guess: Math.abs(guess) < FARTHEST ? guess : known.value };
}

function remember(known, count, value) {
  if (count !== known.count) known.step = Math.trunc((value - known.value) / (count - known.count));
  known.value = value;
  known.count = count;
}

/** The values of a column of instants that mostly follow from a transmission, or come at a steady pace. */
function instants(block, { keys, counts, ends, starts }, out, first, rows) {
  const [choices, steps, said] = [block.unpack(), block.unpack(), block.unpack()];
  const last = new Map();
  let before = 0;
  let place = 0;
  for (let row = first; row < first + rows; row += 1) {
    const { known, guess } = paced(last, keys[row], counts[row]);
    const choice = choices.take();
    if (choice === INSTANT.paced) before = guess;
    else if (choice !== INSTANT.same) {
      place += unzigzag(steps.take());
      const at = choice - INSTANT.lately;
      const length = at < INSTANT.lengths ? known.lengths[at] : unzigzag(said.take());
      known.lengths.splice(Math.min(at, INSTANT.lengths - 1), 1);
      known.lengths.unshift(length);
      before = (place ? starts[place - 1] : 0) + length;
    }
    remember(known, ends[row], before);
    out[row] = before;
  }
  if (!choices.isOver() || !steps.isOver() || !said.isOver()) throw damaged();
}

/**
 * The values of a column: `keys` and `counts` are the columns that its coding refers to, `ends` the counts in the last rows of runs, `starts` the
 * beginnings of the block's transmissions. `more` says how much more a value is in the last row of its run.
 */
function column(block, { coding }, { keys, counts, ends, starts, more }, out, first, rows) {
  if (coding === "since") {
    instants(block, { keys, counts, ends, starts }, out, first, rows);
    return;
  }
  const places = coding === "after" ? block.unpack() : null;
  const numbers = block.unpack();
  const last = new Map();
  let before = -1;
  let place = 0;
  for (let row = first; row < first + rows; row += 1) {
    const number = numbers.take();
    if (coding === "plain") out[row] = number;
    else if (coding === "optional") out[row] = number - 1;
    else if (coding === "after") {
      place += unzigzag(places.take());
      out[row] = (place ? starts[place - 1] : 0) + unzigzag(number);
    } else {
      const key = coding === "follows" ? before : keys ? keys[row] : 0;
      const count = counts ? counts[row] : 0;
      const { known, guess } = paced(last, key, count);
      let value;
      if (coding === "follows") value = number ? unzigzag(number - 1) : guess;
      else value = guess + (coding === "time-by" || coding === "paced-by" ? ofThousands(number) : unzigzag(number));
      remember(known, ends ? ends[row] : 0, value + (more ? more[row] : 0));
      before = value;
      out[row] = value;
    }
  }
  if (!numbers.isOver()) throw damaged();
}

/** Appends columns of a table that are there row by row; `more`, of first rows of runs, says how many follow each. */
function unpackColumns(block, table, columns, first, rows, { starts, more }) {
  const isCounted = (index) => more && index === table.runs;
  for (const [at, described] of table.columns.entries()) {
    const by = described.by === undefined ? [] : [described.by].flat();
    const [keys, counts] = by.map((index) => columns[table.columns[index].name]);
    const ends = isCounted(by[1]) ? counts.map((count, row) => count + more[row]) : counts;
    const values = { keys, counts, ends, starts, more: isCounted(at) ? more : null };
    column(block, described, values, columns[described.name], first, rows);
  }
}

/** Appends rows of a table to its columns, from row `first` on. */
export function unpackRows(block, table, columns, first, rows, starts = []) {
  if (table.runs === undefined) {
    unpackColumns(block, table, columns, first, rows, { starts, more: null });
    return;
  }
  const lengths = block.unpack();
  const more = [];
  let all = 0;
  while (!lengths.isOver()) {
    more.push(lengths.take());
    all += more.at(-1) + 1;
  }
  if (all !== rows || rows > MOST_ROWS) throw damaged();
  const firsts = Object.fromEntries(table.columns.map(({ name }) => [name, []]));
  unpackColumns(block, table, firsts, 0, more.length, { starts, more });
  for (const [at, { name }] of table.columns.entries()) {
    const step = at === table.runs ? 1 : 0;
    const out = columns[name];
    for (let run = 0; run < more.length; run += 1) {
      for (let row = 0; row <= more[run]; row += 1) out.push(firsts[name][run] + row * step);
    }
  }
}
