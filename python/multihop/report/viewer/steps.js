// Lines of any number of points, of which a picture needs no more than the least and the greatest of each of its columns.

/** So many points, and so many groups of them, are one of the next level. */
const GROUP = 32;

/** The index of the first value of `sorted` that is not below `value`, from `low` on. */
export function lowerBound(sorted, value, low = 0, high = sorted.length) {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The same, for values that are asked for in their order: it is likely to be not far from `low`. */
export function nextBound(sorted, value, low) {
  let step = 1;
  let from = low;
  while (from + step <= sorted.length && sorted[from + step - 1] < value) {
    from += step;
    step *= 2;
  }
  return lowerBound(sorted, value, from, Math.min(sorted.length, from + step));
}

/** Values that hold from their times on, with the least and the greatest of groups. */
export class Steps {
  constructor(times, values) {
    this.times = times;
    this.values = values;
    this.low = 0;
    this.high = 0;
    this.lows = [];
    this.highs = [];
    let [lows, highs] = [values, values];
    while (lows.length > GROUP) {
      const length = Math.ceil(lows.length / GROUP);
      const [less, more] = [new Float64Array(length).fill(Infinity), new Float64Array(length).fill(-Infinity)];
      for (let at = 0; at < lows.length; at += 1) {
        const group = Math.floor(at / GROUP);
        if (lows[at] < less[group]) less[group] = lows[at];
        if (highs[at] > more[group]) more[group] = highs[at];
      }
      [lows, highs] = [less, more];
      this.lows.push(lows);
      this.highs.push(highs);
    }
  }

  /** Those that matter in an interval: from the one that holds when it begins to the next one after it. */
  within(from, to) {
    return [Math.max(0, lowerBound(this.times, from) - 1), Math.min(this.times.length, lowerBound(this.times, to) + 1)];
  }

  /** Sets `low` and `high` to the least and the greatest of the values from place `from` to before `to`. */
  extremes(from, to) {
    this.low = Infinity;
    this.high = -Infinity;
    let [lows, highs] = [this.values, this.values];
    let [first, last] = [from, to];
    for (let level = 0; first < last; level += 1) {
      const [inner, outer] = [Math.ceil(first / GROUP), Math.floor(last / GROUP)];
      if (inner >= outer || level >= this.lows.length) {
        this.look(lows, highs, first, last);
        return;
      }
      this.look(lows, highs, first, inner * GROUP);
      this.look(lows, highs, outer * GROUP, last);
      [first, last] = [inner, outer];
      [lows, highs] = [this.lows[level], this.highs[level]];
    }
  }

  look(lows, highs, from, to) {
    for (let at = from; at < to; at += 1) {
      if (lows[at] < this.low) this.low = lows[at];
      if (highs[at] > this.high) this.high = highs[at];
    }
  }
}
