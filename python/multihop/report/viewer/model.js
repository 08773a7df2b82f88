// What the viewer asks of a log: who sent what when, lanes, summaries for pictures of long times, packets, events.

/** Categories of what a lane shows, in the order of the summary. */
export const CATEGORIES = ["rts", "cts", "data", "ack", "lost"];
const SUMMARY_CELLS = 4_000_000;

/** The index of the first value of `sorted` that is not below `value`. */
export function lowerBound(sorted, value, length = sorted.length) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Model {
  constructor(log) {
    this.head = log.head;
    this.cutShort = log.cutShort;
    this.tables = log.tables;
    this.names = Object.fromEntries(log.head.enumerations);
    const t = log.tables.transmissions;
    this.count = t.rows;
    Object.assign(this, t.columns);
    this.resolve(log.tables.sorts.columns);
    this.duration = Math.max(log.head.duration_ns, this.count ? this.end[this.count - 1] : 0, 1);
    this.reservations();
    this.lanes();
    this.summary();
    this.placesByNode();
  }

  /** The columns of a transmission's sort, and for which of them the station contended, since when. */
  resolve(sorts) {
    const { count, sort, start } = this;
    this.from = new Int32Array(count);
    this.to = new Int32Array(count);
    this.kind = new Uint8Array(count);
    this.flow = new Int32Array(count);
    this.end = new Float64Array(count);
    this.slots = new Int32Array(count);
    this.contends = new Float64Array(count).fill(-1);
    this.sorts = sorts;
    this.longest = 0;
    const nodes = this.head.nodes.length;
    const last = new Float64Array(nodes);
    const answered = new Int8Array(nodes);
    for (let i = 0; i < count; i += 1) {
      const s = sort[i];
      const from = this.from[i] = sorts.from[s];
      const to = this.to[i] = sorts.to[s];
      const kind = this.kind[i] = sorts.kind[s];
      this.flow[i] = sorts.flow[s];
      const end = this.end[i] = start[i] + sorts.airtime[s];
      this.longest = Math.max(this.longest, sorts.airtime[s]);
      const begins = kind === 0 || ((kind === 2 || kind === 4) && !answered[from]);
      if (begins) this.contends[i] = this.waited[i] < 0 ? Math.min(last[from], start[i]) : start[i] - this.waited[i];
      if (begins) this.slots[i] = Math.floor((start[i] - this.contends[i]) / (this.head.slot_ns || 1)) - this.frozen[i];
      const isAnswer = kind === 1 || kind === 3 || kind === 5;
      const node = isAnswer ? to : from;
      if (node >= 0) {
        last[node] = end;
        answered[node] = kind === 1 ? 1 : 0;
      }
    }
  }

  /** Where each set of reservations begins among its rows. */
  reservations() {
    const { set, node, nav } = this.tables.reservations.columns;
    this.sets = { first: [0, 0], node, nav };
    for (let row = 0; row < set.length; row += 1) {
      while (this.sets.first.length <= set[row] + 1) this.sets.first.push(row);
      this.sets.first[set[row] + 1] = row + 1;
    }
  }

  /** Transmissions by node, in the order of time. */
  lanes() {
    const counts = new Int32Array(this.head.nodes.length);
    for (let i = 0; i < this.count; i += 1) counts[this.from[i]] += 1;
    this.lane = Array.from(counts, (count) => new Int32Array(count));
    counts.fill(0);
    for (let i = 0; i < this.count; i += 1) {
      const from = this.from[i];
      this.lane[from][counts[from]] = i;
      counts[from] += 1;
    }
  }

  category(i) {
    const outcome = this.outcome[i];
    if (outcome >= 2 && outcome < 7) return 4;
    if (this.kind[i] > 5) return 2; // management, and what a capture cannot name
    return this.kind[i] < 4 ? this.kind[i] : this.kind[i] === 4 ? 0 : 3;
  }

  /** Time on the air of each node and category, and its longest queue, in bins. */
  summary() {
    const nodes = Math.max(1, this.head.nodes.length);
    const bins = Math.max(64, Math.min(65_536, Math.floor(SUMMARY_CELLS / nodes / CATEGORIES.length)));
    this.bins = bins;
    this.binWidth = this.duration / bins;
    this.air = new Float32Array(nodes * CATEGORIES.length * bins);
    this.longestQueue = new Float32Array(nodes * bins);
    this.airtime = new Float64Array(nodes);
    this.queueMax = 1;
    for (let i = 0; i < this.count; i += 1) {
      const bin = Math.min(bins - 1, Math.floor(this.start[i] / this.binWidth));
      const node = this.from[i];
      const length = this.end[i] - this.start[i];
      this.air[(node * CATEGORIES.length + this.category(i)) * bins + bin] += length;
      this.airtime[node] += length;
      const cell = node * bins + bin;
      if (this.queue[i] > this.longestQueue[cell]) this.longestQueue[cell] = this.queue[i];
      if (this.queue[i] > this.queueMax) this.queueMax = this.queue[i];
    }
  }

  placesByNode() {
    this.places = new Map();
    const { time, node, x, y, off } = this.tables.places.columns;
    for (let row = 0; row < time.length; row += 1) {
      if (!this.places.has(node[row])) this.places.set(node[row], []);
      this.places.get(node[row]).push({ time: time[row], x: x[row] / 1000, y: y[row] / 1000, off: off[row] });
    }
  }

  /** Where a node is, in metres, and whether it is off; null where nobody knows. */
  place(node, time) {
    const places = this.places.get(node);
    if (!places) {
      const position = this.head.nodes[node].position;
      return position ? { x: position[0], y: position[1], off: 0 } : null;
    }
    const after = places.findIndex((place) => place.time > time);
    const before = places[after < 0 ? places.length - 1 : Math.max(0, after - 1)];
    if (after <= 0) return before;
    const next = places[after];
    const share = (time - before.time) / (next.time - before.time);
    return { x: before.x + share * (next.x - before.x), y: before.y + share * (next.y - before.y), off: before.off };
  }

  /** Transmissions that may be on the air in an interval: [first, last), by place. */
  range(from, to) {
    return [lowerBound(this.start, from - this.longest), lowerBound(this.start, to)];
  }

  name(node) { return node >= 0 ? this.head.nodes[node].name : "everyone"; }

  flowName(flow) { return flow >= 0 ? this.head.flows[flow].name : ""; }

  kindName(i) { return this.names.kind[this.kind[i]].toUpperCase().replace(/-/g, " "); }

  rate(i) { return this.sorts.rate[this.sort[i]]; }

  carries(i) { return this.sorts.carries[this.sort[i]]; }

  /** The transmission of a node that began at an instant; -1 if it is not there. */
  at(start, from) {
    let i = lowerBound(this.start, start);
    while (i < this.count && this.start[i] === start && this.from[i] !== from) i += 1;
    return this.start[i] === start ? i : -1;
  }

  /** All transmissions of the packet of transmission `i`, and what else became of it: `{sent, drops}`. */
  follow({ flow, carries, packet }) {
    const sent = [];
    for (let i = 0; i < this.count; i += 1) {
      if (this.packet[i] === packet && this.flow[i] === flow && this.carries(i) === carries) sent.push(i);
    }
    const m = this.tables.mpdus.columns;
    for (let row = 0; row < m.flow.length; row += 1) {
      if (m.packet[row] === packet && m.flow[row] === flow && m.carries[row] === carries) sent.push(this.at(m.start[row], m.from[row]));
    }
    const d = this.tables.drops.columns;
    const drops = [];
    for (let row = 0; row < d.time.length; row += 1) {
      if (d.packet[row] === packet && d.flow[row] === flow && d.carries[row] === carries) drops.push(row);
    }
    return { sent: [...new Set(sent)].filter((i) => i >= 0).sort((a, b) => a - b), drops };
  }

  /** The frames that destroyed a transmission, if that is what became of it. */
  destroyers(i) {
    if (this.outcome[i] !== 2) return [];
    const [first, last] = this.range(this.start[i], this.end[i]);
    const made = [];
    for (let other = first; other < last; other += 1) {
      if (this.from[other] === this.collided[i] && this.end[other] > this.start[i]) made.push(other);
    }
    return made;
  }

  /** When the next collision, drop or timeout is after an instant; null if there is none. */
  next(what, after) {
    if (what === "collision") {
      for (let i = lowerBound(this.start, after); i < this.count; i += 1) {
        if (this.outcome[i] === 2 && this.start[i] > after) return { time: this.start[i], node: this.from[i], at: i };
      }
      return null;
    }
    if (what === "drop") {
      const { time, node } = this.tables.drops.columns;
      const row = lowerBound(time, after + 1);
      return row < time.length ? { time: time[row], node: node[row], drop: row } : null;
    }
    const { time, flow, timeouts } = this.tables.windows.columns;
    const last = new Map();
    for (let row = 0; row < time.length; row += 1) {
      if (timeouts[row] > (last.get(flow[row]) || 0) && time[row] > after) {
        return { time: time[row], node: this.head.flows[flow[row]].source, flow: flow[row] };
      }
      last.set(flow[row], timeouts[row]);
    }
    return null;
  }
}
