// What the viewer asks of a log: transmissions, lanes, summaries for pictures of long times, packets, events.

import { Contentions } from "./contention.js";
import { Steps, lowerBound } from "./steps.js";

/** Categories of what a lane shows, in the order of its sums. */
export const CATEGORIES = ["rts", "cts", "data", "ack", "lost"];
/** Where more of the transmissions than this share have no airtime, sums of airtime say little. */
const MOST_TIMELESS = 0.05;
/** A sender gives a packet up after so many nanoseconds: 500 TU (dot11EDCATableMSDULifetime). */
const LIFETIME = 512e6;
/** What became of a transmission that was on the air at the node that it was for. */
const REACHES = ["arrived", "collision", "receiver-sending", "channel"];
/** Every so many transmissions of a lane there is a sum of what was before. */
const SUM_EVERY = 8;

/** What a node sent, in the order of time. */
export class Lane {
  constructor(length, isCounted) {
    /** Sums are numbers of transmissions, where the log does not say how long these are on the air. */
    this.isCounted = isCounted;
    /** Transmissions, by their number in the log, and once more what a picture of many of them asks for. */
    this.order = new Int32Array(length);
    this.start = new Float64Array(length);
    this.lasts = new Float64Array(length);
    this.category = new Uint8Array(length);
    /** Time on the air, or number, of each category before every eighth of them. */
    this.sums = new Float64Array((Math.floor(length / SUM_EVERY) + 1) * CATEGORIES.length);
  }

  /** Adds the sums up. */
  close({ start, end, category }) {
    const sum = new Float64Array(CATEGORIES.length);
    this.airtime = 0;
    for (let at = 0; at < this.order.length; at += 1) {
      if (at % SUM_EVERY === 0) this.sums.set(sum, at / SUM_EVERY * CATEGORIES.length);
      const i = this.order[at];
      this.start[at] = start[i];
      this.lasts[at] = end[i] - start[i];
      this.category[at] = category[i];
      sum[category[i]] += this.isCounted ? 1 : this.lasts[at];
      this.airtime += this.lasts[at];
    }
    if (this.order.length % SUM_EVERY === 0) this.sums.set(sum, this.sums.length - CATEGORIES.length);
  }

  /** Time on the air, or number, of each category until an instant, into `out`; `place` is that of the first transmission that does not begin before it. */
  until(time, place, out) {
    const group = Math.floor(place / SUM_EVERY);
    for (let of = 0; of < CATEGORIES.length; of += 1) out[of] = this.sums[group * CATEGORIES.length + of];
    for (let at = group * SUM_EVERY; at < place; at += 1) out[this.category[at]] += this.isCounted ? 1 : this.lasts[at];
    const over = place && !this.isCounted ? this.start[place - 1] + this.lasts[place - 1] - time : 0;
    if (over > 0) out[this.category[place - 1]] -= over;
  }
}

/** What a lane shows of a kind of frame with this outcome. */
function category(kind, outcome) {
  if (outcome >= 2 && outcome < 7) return 4;
  if (kind > 5) return 2; // management, and what a capture cannot name
  return kind < 4 ? kind : kind === 4 ? 0 : 3;
}

/** Rows with this number of a packet. */
function rowsOf({ packet }, number) {
  const made = [];
  for (let row = 0; row < packet.length; row += 1) if (packet[row] === number) made.push(row);
  return made;
}

/** By number of a set, and of one that is not there: its first row. Sets are in the order of their numbers. */
function firstRows(set) {
  const made = new Int32Array(set.length ? set[set.length - 1] + 2 : 2);
  for (let row = 0, number = 0; number < made.length; number += 1) {
    while (row < set.length && set[row] < number) row += 1;
    made[number] = row;
  }
  return made;
}

export class Model {
  /** Of a log; `between` if only what is near that interval was read. */
  constructor(log, between = null) {
    this.head = log.head;
    const { only_nodes: nodes, only_flows: flows, only_between: part } = log.head;
    /** There may have been more on the air than is in the log: of other nodes, or of other flows; or before. */
    this.only = { nodes: nodes?.length ? new Set(nodes) : null, flows: Boolean(flows?.length), from: Boolean(part || between) };
    /** A sniffer sees frames, and nothing of what stations did meanwhile: back-off, queues, NAVs, collisions. */
    this.isCapture = log.head.source === "capture";
    this.cutShort = log.cutShort;
    this.tables = log.tables;
    this.names = Object.fromEntries(log.head.enumerations);
    const t = log.tables.transmissions;
    this.count = t.rows;
    Object.assign(this, t.columns);
    this.resolve();
    const last = this.count ? this.end[this.count - 1] : 0;
    /** Of a log that is cut short there is nothing to see after the last transmission. */
    this.duration = Math.max(log.cutShort && last ? 0 : log.head.duration_ns, last, 1);
    const { set, node, nav } = log.tables.reservations.columns;
    /** Which stations set the NAV by a frame: of set `n` the rows from `first[n]` to `first[n + 1]`. */
    this.sets = { first: firstRows(set), node, nav };
    this.navs();
    this.aggregates = log.aggregates;
    this.lanes();
    this.placesByNode();
    this.contentions = new Contentions(this);
    this.lines = new Map();
  }

  /** What follows from the columns of transmissions: ends, since when stations contended, and how many slots of that counted. */
  resolve() {
    const { count, start, airtime, contended, frozen } = this;
    const slot = this.head.slot_ns || 1;
    this.end = new Float64Array(count);
    this.slots = new Int32Array(count);
    this.contends = new Float64Array(count).fill(-1);
    this.category = new Uint8Array(count);
    this.longest = 0;
    for (let i = 0; i < count; i += 1) {
      this.end[i] = start[i] + airtime[i];
      this.category[i] = category(this.kind[i], this.outcome[i]);
      if (airtime[i] > this.longest) this.longest = airtime[i];
      if (contended[i] < 0) continue;
      this.contends[i] = start[i] - contended[i];
      this.slots[i] = Math.floor(contended[i] / slot) - frozen[i];
    }
  }

  /** The longest NAV of each set, and how long a transmission and its NAV last at most. */
  navs() {
    const { first, nav } = this.sets;
    this.longestNav = new Float64Array(first.length);
    for (let set = 1; set + 1 < first.length; set += 1) {
      for (let row = first[set]; row < first[set + 1]; row += 1) this.longestNav[set] = Math.max(this.longestNav[set], nav[row]);
    }
    this.reach = this.longest + this.longestNav.reduce((one, other) => Math.max(one, other), 0);
  }

  /** How long a node's NAV lasts that it sets by transmission `i`; -1 if it sets none. */
  navOf(i, of) {
    const { first, node, nav } = this.sets;
    const set = this.reserves[i];
    for (let row = set ? first[set] : 0; set && row < first[set + 1]; row += 1) if (node[row] === of) return nav[row];
    return -1;
  }

  /** Is it for this node, and was on the air there, whether it arrived or not? */
  reaches(i, node) {
    if (this.to[i] !== node) return false;
    return REACHES.includes(this.names.outcome[this.outcome[i]]);
  }

  /** Transmissions by node, in the order of time. */
  lanes() {
    const counts = new Int32Array(this.head.nodes.length);
    for (let i = 0; i < this.count; i += 1) counts[this.from[i]] += 1;
    // A capture need not say at which rates frames were sent.
    this.timeless = 0;
    for (let i = 0; i < this.count; i += 1) if (this.end[i] === this.start[i]) this.timeless += 1;
    this.isCounted = this.timeless > MOST_TIMELESS * this.count;
    this.lane = Array.from(counts, (count) => new Lane(count, this.isCounted));
    counts.fill(0);
    for (let i = 0; i < this.count; i += 1) {
      const from = this.from[i];
      this.lane[from].order[counts[from]] = i;
      counts[from] += 1;
    }
    this.lane.forEach((lane) => lane.close(this));
  }

  /** A line that is made when it is first asked for, by what returns its times and values. */
  line(key, make) {
    if (!this.lines.has(key)) this.lines.set(key, new Steps(...make()));
    return this.lines.get(key);
  }

  /** Packets in the queue of a node. */
  queueOf(node) {
    const { start, order } = this.lane[node];
    return this.line(`queue ${node}`, () => [start, this.queueOfLane(order)]);
  }

  queueOfLane(order) {
    const values = new Float64Array(order.length);
    for (let at = 0; at < order.length; at += 1) values[at] = this.queue[order[at]];
    return values;
  }

  /** Rates of DATA of a flow, in Mb/s; of all for -1. */
  ratesOf(flow) {
    return this.line(`rate ${flow}`, () => {
      const [times, values] = [[], []];
      for (let i = 0; i < this.count; i += 1) {
        if (this.kind[i] !== 2 || !this.rate[i] || (flow >= 0 && this.flow[i] !== flow)) continue;
        times.push(this.start[i]);
        values.push(this.rate[i] / 1e6);
      }
      return [Float64Array.from(times), Float64Array.from(values)];
    });
  }

  /** Windows, in kB, or round-trip times, in ms, of a flow. */
  windowsOf(flow, column) {
    return this.line(`${column} ${flow}`, () => {
      const { time, flow: flows, [column]: values } = this.tables.windows.columns;
      // A round-trip time of 0 is none yet.
      const rows = this.rowsOfFlow(flows)[flow].filter((row) => values[row] > 0 || (column === "window" && values[row] === 0));
      return [Float64Array.from(rows, (row) => time[row]), Float64Array.from(rows, (row) => values[row] / (column === "rtt" ? 1e6 : 1000))];
    });
  }

  rowsOfFlow(flows) {
    if (!this.windowRows) {
      this.windowRows = this.head.flows.map(() => []);
      flows.forEach((of, row) => this.windowRows[of].push(row));
    }
    return this.windowRows;
  }

  placesByNode() {
    this.places = new Map();
    const { time, node, x, y, off } = this.tables.places.columns;
    for (let row = 0; row < time.length; row += 1) {
      if (!this.places.has(node[row])) this.places.set(node[row], { times: [], places: [], offs: [] });
      const { times, places, offs } = this.places.get(node[row]);
      // It is off from the first such row to the next one in which it is on.
      const before = places.length ? places[places.length - 1].off : 0;
      if (off[row] && !before) offs.push([time[row], this.duration]);
      if (!off[row] && before) offs[offs.length - 1][1] = time[row];
      times.push(time[row]);
      places.push({ x: x[row] / 1000, y: y[row] / 1000, off: off[row] });
    }
  }

  /** When a node is off: `[[from, until]]`. */
  offs(node) { return this.places.get(node)?.offs || []; }

  /** Where a node is, in metres, and whether it is off; null where unknown. */
  place(node, time) {
    const known = this.places.get(node);
    if (!known) {
      const { position } = this.head.nodes[node];
      return position ? { x: position[0], y: position[1], off: 0 } : null;
    }
    const { times, places } = known;
    const after = lowerBound(times, time + 1);
    if (after === 0 || after === times.length) return places[Math.max(0, after - 1)];
    const [before, next] = [places[after - 1], places[after]];
    const share = (time - times[after - 1]) / (times[after] - times[after - 1]);
    return { x: before.x + share * (next.x - before.x), y: before.y + share * (next.y - before.y), off: before.off };
  }

  /** Transmissions that may be on the air in an interval: [first, last), by place. */
  range(from, to) {
    return [lowerBound(this.start, from - this.longest), lowerBound(this.start, to)];
  }

  /** Are these nodes one, or radios of one? */
  isOneNode(node, other) {
    const of = (index) => this.head.nodes[index]?.radio_of ?? index;
    return of(node) === of(other);
  }

  name(node) { return node >= 0 ? this.head.nodes[node].name : "everyone"; }

  flowName(flow) { return flow >= 0 ? this.head.flows[flow].name : ""; }

  kindName(i) { return this.names.kind[this.kind[i]].toUpperCase().replace(/-/g, " "); }

  /**
   * All transmissions of a packet, and what else became of it: `{sent, entries, drops, others}`, rows of tables. Packets of a capture have sequence numbers, which are
   * used again: it is the one with this number at the instant `near`, and there are `others`.
   */
  follow({ flow, carries, packet, near = 0 }) {
    const sent = [];
    for (let i = 0; i < this.count; i += 1) {
      if (this.packet[i] === packet && this.flow[i] === flow && this.carries[i] === carries) sent.push(i);
    }
    sent.push(...this.aggregates.rowsWith(flow, carries, packet));
    const isIts = (columns, row) => columns.flow[row] === flow && columns.carries[row] === carries;
    const d = this.tables.drops.columns;
    const drops = rowsOf(d, packet).filter((row) => isIts(d, row));
    const [ingress, e] = [this.tables.ingress, this.tables.entries].map((table) => table?.columns);
    const entries = e ? rowsOf(e, packet).filter((row) => isIts(ingress, e.ingress[row])) : [];
    const all = [...new Set(sent)].sort((a, b) => a - b);
    if (!this.isCapture || !all.length) return { sent: all, entries, drops, others: 0 };
    const lives = this.livesOf(all);
    const since = lives.filter(([first]) => this.start[first] <= near);
    return { sent: since[since.length - 1] || lives[0], entries, drops, others: lives.length - 1 };
  }

  /** Frames of a capture with one number: a retry is of the frame before, if that was of its kind and not too long ago. */
  livesOf(frames) {
    const lives = [];
    for (const i of frames) {
      const life = lives.find((each) => this.isRetryOf(i, each[each.length - 1]));
      if (life) life.push(i);
      else lives.push([i]);
    }
    return lives;
  }

  isRetryOf(i, before) {
    return this.try[i] > 1 && this.kind[i] === this.kind[before] && this.to[i] === this.to[before] && this.start[i] - this.end[before] <= LIFETIME;
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

  /**
   * The next collision, drop or timeout from an instant on, or after row `last` of its table, which was the last one; null if there is none.
   * Several may be at one instant.
   */
  next(what, from, last = -1) {
    const { time, flow, node, timeouts } = what === "collision" ? { time: this.start } : this.tables[what === "drop" ? "drops" : "windows"].columns;
    const first = last >= 0 ? last + 1 : lowerBound(time, from);
    if (what === "collision") {
      for (let i = first; i < this.count; i += 1) if (this.outcome[i] === 2) return { time: time[i], node: this.from[i], at: i, row: i };
      return null;
    }
    if (what === "drop") return first < time.length ? { time: time[first], node: node[first], row: first } : null;
    const before = new Map();
    for (let row = 0; row < time.length; row += 1) {
      if (row >= first && timeouts[row] > (before.get(flow[row]) || 0)) return { time: time[row], node: this.head.flows[flow[row]].source, flow: flow[row], row };
      before.set(flow[row], timeouts[row]);
    }
    return null;
  }
}
