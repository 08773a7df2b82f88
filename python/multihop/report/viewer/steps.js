// Step functions with many points, with minimum and maximum for each column of a drawing.

/** Number of points, or groups, in a group of the next level. */
const GROUP = 32;

/** Returns the index of the first value of `sorted`, from `low` on, that is at least `value`. */
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

/** As `lowerBound`, but faster if the index is near `low`, as for ascending values. */
export function nextBound(sorted, value, low) {
  let step = 1;
  let from = low;
  while (from + step <= sorted.length && sorted[from + step - 1] < value) {
    from += step;
    step *= 2;
  }
  return lowerBound(sorted, value, from, Math.min(sorted.length, from + step));
}

/** Step function: each value holds from its time on. Minimum and maximum are stored for groups of values. */
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
      const [groupLows, groupHighs] = [new Float64Array(length).fill(Infinity), new Float64Array(length).fill(-Infinity)];
      for (let at = 0; at < lows.length; at += 1) {
        const group = Math.floor(at / GROUP);
        if (lows[at] < groupLows[group]) groupLows[group] = lows[at];
        if (highs[at] > groupHighs[group]) groupHighs[group] = highs[at];
      }
      [lows, highs] = [groupLows, groupHighs];
      this.lows.push(lows);
      this.highs.push(highs);
    }
  }

  /** Returns the range of values for an interval: from the one that holds at its start to the first after its end. */
  within(from, to) {
    return [Math.max(0, lowerBound(this.times, from) - 1), Math.min(this.times.length, lowerBound(this.times, to) + 1)];
  }

  /** Sets `low` and `high` to the minimum and the maximum of the values in the range [from, to). */
  extremes(from, to) {
    this.low = Infinity;
    this.high = -Infinity;
    let [lows, highs] = [this.values, this.values];
    let [first, last] = [from, to];
    for (let level = 0; first < last; level += 1) {
      const [inner, outer] = [Math.ceil(first / GROUP), Math.floor(last / GROUP)];
      if (inner >= outer || level >= this.lows.length) {
        this.update(lows, highs, first, last);
        return;
      }
      this.update(lows, highs, first, inner * GROUP);
      this.update(lows, highs, outer * GROUP, last);
      [first, last] = [inner, outer];
      [lows, highs] = [this.lows[level], this.highs[level]];
    }
  }

  update(lows, highs, from, to) {
    for (let at = from; at < to; at += 1) {
      if (lows[at] < this.low) this.low = lows[at];
      if (highs[at] > this.high) this.high = highs[at];
    }
  }
}
