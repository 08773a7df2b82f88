// Bits by how often they were set lately. crates/frames says how they are coded (chance.rs).

const MOST_SEEN = 60;
const LEAST_CHANCE = 32;
const ONE_CHANCE = 65536;

/** How often bits were set lately, of 65,536, and how many were seen: so many of them. */
export class Chances {
  constructor(count) {
    this.set = new Uint16Array(count).fill(ONE_CHANCE / 2);
    this.seen = new Uint8Array(count);
  }

  /** As many more, which keep what is known of the first ones. */
  grown(count) {
    const made = new Chances(count);
    made.set.set(this.set);
    made.seen.set(this.seen);
    return made;
  }

  learn(at, bit) {
    const { set, seen } = this;
    const made = set[at] + Math.trunc((((bit ? ONE_CHANCE : 0) - set[at]) * 2) / (2 * seen[at] + 3));
    set[at] = Math.min(Math.max(made, LEAST_CHANCE), ONE_CHANCE - LEAST_CHANCE);
    if (seen[at] < MOST_SEEN) seen[at] += 1;
  }
}

/** Reads bits from `{bytes, at}`, and zeros behind these. */
export class Bits {
  constructor(from) {
    this.from = from;
    this.low = 0;
    this.high = 0xffffffff;
    this.value = 0;
    this.begun = false;
  }

  next() {
    const { from } = this;
    const byte = from.at < from.bytes.length ? from.bytes[from.at] : 0;
    if (from.at < from.bytes.length) from.at += 1;
    this.value = ((this.value << 8) | byte) >>> 0;
  }

  /** The next bit, which has the chance in this place. */
  bit(chances, at) {
    if (!this.begun) {
      this.begun = true;
      for (let count = 0; count < 4; count += 1) this.next();
    }
    const middle = this.low + ((this.high - this.low) >>> 16) * chances.set[at];
    const bit = this.value <= middle;
    if (bit) this.high = middle;
    else this.low = middle + 1;
    chances.learn(at, bit);
    while ((this.low ^ this.high) >>> 24 === 0) {
      this.low = (this.low << 8) >>> 0;
      this.high = ((this.high << 8) | 0xff) >>> 0;
      this.next();
    }
    return bit;
  }
}
