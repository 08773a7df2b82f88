// Packed streams of bytes, and the columns of tables that need no model. crates/frames says what they are (rans.rs, coding.rs).

/** Digits of a frequency after the highest one. */
const DIGITS = 3;
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

  /** How many bytes are left. */
  left() { return this.bytes.length - this.at; }

  isOver() { return this.at === this.bytes.length; }
}

/** The bytes that there are, and how often, of all. */
function frequenciesOf(content) {
  let byte = 0;
  let left = 0;
  const bits = (count) => {
    let value = 0;
    for (let at = 0; at < count; at += 1, left -= 1, byte >>= 1) {
      if (!left) [byte, left] = [content.byte(), 8];
      value |= (byte & 1) << at;
    }
    return value;
  };
  const made = [];
  let next = 0;
  let rest = RANS.total;
  for (let others = bits(8); others >= 0; others -= 1) {
    let zeros = 0;
    while (!bits(1)) zeros += 1;
    let gap = 1;
    for (; zeros > 0; zeros -= 1) gap = 2 * gap + bits(1);
    const symbol = next + gap - 1;
    next = symbol + 1;
    const digits = bits(4) - 1;
    const kept = Math.min(digits, DIGITS);
    const frequency = digits < 0 ? 0 : ((1 << kept) | bits(kept)) << (digits - kept);
    made.push({ symbol, frequency });
    rest -= frequency;
  }
  const most = made.filter(({ frequency }) => !frequency);
  if (next > 256 || rest <= 0 || most.length !== 1) throw damaged();
  most[0].frequency = rest;
  return made;
}

/** Bytes that were coded by their frequencies. */
function unransed(content, length) {
  // By slot: the symbol, its frequency less one, and how far into the symbol's slots this one is.
  const slots = new Uint32Array(RANS.total);
  let sum = 0;
  for (const { symbol, frequency } of frequenciesOf(content)) {
    for (let into = 0; into < frequency; into += 1) slots[sum + into] = symbol + (frequency - 1) * 2 ** 8 + into * 2 ** 20;
    sum += frequency;
  }
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

/** Appends rows of a table to its columns, from row `first` on. */
export function unpackRows(block, table, columns, first, rows) {
  for (const { name, coding, by } of table.columns) {
    const numbers = block.unpack();
    const out = columns[name];
    const keys = [by ?? []].flat().map((index) => columns[table.columns[index].name]);
    const last = new Map();
    for (let row = first; row < first + rows; row += 1) {
      const number = numbers.take();
      const key = keys.map((values) => values[row]).join(" ");
      const before = last.get(key) ?? 0;
      if (coding === "plain") out[row] = number;
      else if (coding === "optional") out[row] = number - 1;
      else if (coding === "like") out[row] = number ? unzigzag(number - 1) : before;
      else out[row] = before + unzigzag(number);
      last.set(key, out[row]);
    }
    if (!numbers.isOver()) throw damaged();
  }
}

/** Numbers in a typed array that grows. */
export class Growing {
  constructor(Type, room = 1024) {
    this.values = new Type(room);
    this.length = 0;
  }

  push(value) {
    if (this.length === this.values.length) {
      const more = new this.values.constructor(2 * this.length);
      more.set(this.values);
      this.values = more;
    }
    this.values[this.length] = value;
    this.length += 1;
  }

  /** All of them, in an array of their number. */
  all() { return this.values.slice(0, this.length); }
}
