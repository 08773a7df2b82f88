// Columns whose length is not known beforehand.

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
