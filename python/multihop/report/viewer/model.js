// Model of a log for the viewer: transmissions, lanes, sums over long intervals, packets, events.

import { Contentions } from "./contention.js";
import { Steps, lowerBound } from "./steps.js";

/** Categories of transmissions in a lane, in the order of its sums. */
export const CATEGORIES = ["rts", "cts", "data", "ack", "lost"];
/** Share of transmissions without airtime above which lanes count transmissions in place of airtime. */
const MAX_TIMELESS = 0.05;
/** Lifetime of a packet at its sender in nanoseconds: 500 TU (dot11EDCATableMSDULifetime). */
const LIFETIME = 512e6;
/** Outcomes of transmissions that the receiver could sense. */
const SENSED_OUTCOMES = ["arrived", "collision", "receiver-sending", "channel"];
/** Number of transmissions between stored sums of a lane. */
const SUM_INTERVAL = 8;

/** Transmissions of a node in the order of time. */
export class Lane {
  constructor(length, isCounted) {
    /** Whether sums are numbers of transmissions, because the log lacks airtimes. */
    this.isCounted = isCounted;
    /** Transmissions by number in the log; the other arrays copy their values for fast drawing. */
    this.order = new Int32Array(length);
    this.start = new Float64Array(length);
    this.airtimes = new Float64Array(length);
    this.category = new Uint8Array(length);
    /** Airtime, or number, of each category before every eighth transmission. */
    this.sums = new Float64Array((Math.floor(length / SUM_INTERVAL) + 1) * CATEGORIES.length);
  }

  /** Computes the sums. */
  close({ start, end, category }) {
    const sum = new Float64Array(CATEGORIES.length);
    this.airtime = 0;
    for (let at = 0; at < this.order.length; at += 1) {
      if (at % SUM_INTERVAL === 0) this.sums.set(sum, at / SUM_INTERVAL * CATEGORIES.length);
      const i = this.order[at];
      this.start[at] = start[i];
      this.airtimes[at] = end[i] - start[i];
      this.category[at] = category[i];
      sum[category[i]] += this.isCounted ? 1 : this.airtimes[at];
      this.airtime += this.airtimes[at];
    }
    if (this.order.length % SUM_INTERVAL === 0) this.sums.set(sum, this.sums.length - CATEGORIES.length);
  }

  /** Writes the airtime, or number, of each category until a time to `out`; `place` is the index of the first transmission that begins then or later. */
  until(time, place, out) {
    const group = Math.floor(place / SUM_INTERVAL);
    for (let index = 0; index < CATEGORIES.length; index += 1) out[index] = this.sums[group * CATEGORIES.length + index];
    for (let at = group * SUM_INTERVAL; at < place; at += 1) out[this.category[at]] += this.isCounted ? 1 : this.airtimes[at];
    const excess = place && !this.isCounted ? this.start[place - 1] + this.airtimes[place - 1] - time : 0;
    if (excess > 0) out[this.category[place - 1]] -= excess;
  }
}

/** Returns the category of a kind of frame with an outcome, as an index. */
function category(kind, outcome) {
  if (outcome >= 2 && outcome < 7) return 4;
  if (kind > 5) return 2; // management, and frames of a capture without a known kind
  return kind < 4 ? kind : kind === 4 ? 0 : 3;
}

/** Returns the rows of a packet number. */
function rowsOf({ packet }, number) {
  const rows = [];
  for (let row = 0; row < packet.length; row += 1) if (packet[row] === number) rows.push(row);
  return rows;
}

/** Returns the first row of each set by its number; the last entry ends the last set. Sets are sorted by number. */
function firstRows(set) {
  const first = new Int32Array(set.length ? set[set.length - 1] + 2 : 2);
  for (let row = 0, number = 0; number < first.length; number += 1) {
    while (row < set.length && set[row] < number) row += 1;
    first[number] = row;
  }
  return first;
}

export class Model {
  /** Creates the model of a log; `between` is the interval of a partial log. */
  constructor(log, between = null) {
    this.head = log.head;
    const { only_nodes: nodes, only_flows: flows, only_between: part } = log.head;
    /** Selection of the log. Other nodes, other flows or earlier frames may have used the medium as well. */
    this.only = { nodes: nodes?.length ? new Set(nodes) : null, flows: Boolean(flows?.length), from: Boolean(part || between) };
    /** Whether the log is that of a capture, which has no backoff, queues, NAVs and collisions. */
    this.isCapture = log.head.source === "capture";
    this.cutShort = log.cutShort;
    this.tables = log.tables;
    this.names = Object.fromEntries(log.head.enumerations);
    const t = log.tables.transmissions;
    this.count = t.rows;
    Object.assign(this, t.columns);
    this.derive();
    const last = this.count ? this.end[this.count - 1] : 0;
    /** Duration of the log; a log that is cut short ends with its last transmission. */
    this.duration = Math.max(log.cutShort && last ? 0 : log.head.duration_ns, last, 1);
    const { set, node, nav } = log.tables.reservations.columns;
    /** Sets of nodes that set their NAV: set `n` has the rows from `first[n]` to `first[n + 1]`. */
    this.sets = { first: firstRows(set), node, nav };
    this.navs();
    this.aggregates = log.aggregates;
    this.lanes();
    this.placesByNode();
    this.contentions = new Contentions(this);
    this.lines = new Map();
  }

  /** Derives columns of transmissions: end, start of the contention, number of slots that counted, category. */
  derive() {
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

  /** Computes the longest NAV of each set, and the maximum duration of a transmission with its NAV. */
  navs() {
    const { first, nav } = this.sets;
    this.longestNav = new Float64Array(first.length);
    for (let set = 1; set + 1 < first.length; set += 1) {
      for (let row = first[set]; row < first[set + 1]; row += 1) this.longestNav[set] = Math.max(this.longestNav[set], nav[row]);
    }
    this.reach = this.longest + this.longestNav.reduce((one, other) => Math.max(one, other), 0);
  }

  /** Returns the duration of the NAV that a node sets by transmission `i`; -1 if it sets none. */
  navOf(i, wanted) {
    const { first, node, nav } = this.sets;
    const set = this.reserves[i];
    for (let row = set ? first[set] : 0; set && row < first[set + 1]; row += 1) if (node[row] === wanted) return nav[row];
    return -1;
  }

  /** Whether a node is the receiver of transmission `i` and could sense it. */
  reaches(i, node) {
    if (this.to[i] !== node) return false;
    return SENSED_OUTCOMES.includes(this.names.outcome[this.outcome[i]]);
  }

  /** Groups transmissions by sender. */
  lanes() {
    const counts = new Int32Array(this.head.nodes.length);
    for (let i = 0; i < this.count; i += 1) counts[this.from[i]] += 1;
    // Captures may lack the rates of frames, and so airtimes.
    this.timeless = 0;
    for (let i = 0; i < this.count; i += 1) if (this.end[i] === this.start[i]) this.timeless += 1;
    this.isCounted = this.timeless > MAX_TIMELESS * this.count;
    this.lane = Array.from(counts, (count) => new Lane(count, this.isCounted));
    counts.fill(0);
    for (let i = 0; i < this.count; i += 1) {
      const from = this.from[i];
      this.lane[from].order[counts[from]] = i;
      counts[from] += 1;
    }
    this.lane.forEach((lane) => lane.close(this));
  }

  /** Returns a line, created at first use from the times and values that `make` returns. */
  line(key, make) {
    if (!this.lines.has(key)) this.lines.set(key, new Steps(...make()));
    return this.lines.get(key);
  }

  /** Returns the length of a node's queue over time. */
  queueOf(node) {
    const { start, order } = this.lane[node];
    return this.line(`queue ${node}`, () => [start, this.queueOfLane(order)]);
  }

  /** Returns the queue lengths at the transmissions of a lane. */
  queueOfLane(order) {
    const values = new Float64Array(order.length);
    for (let at = 0; at < order.length; at += 1) values[at] = this.queue[order[at]];
    return values;
  }

  /** Returns the rates of DATA of a flow, in Mb/s; of all flows for -1. */
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

  /** Returns the windows, in kB, or the round-trip times, in ms, of a flow. */
  windowsOf(flow, column) {
    return this.line(`${column} ${flow}`, () => {
      const { time, flow: flows, [column]: values } = this.tables.windows.columns;
      // A round-trip time of 0 means that there is no sample yet.
      const rows = this.rowsOfFlow(flows)[flow].filter((row) => values[row] > 0 || (column === "window" && values[row] === 0));
      return [Float64Array.from(rows, (row) => time[row]), Float64Array.from(rows, (row) => values[row] / (column === "rtt" ? 1e6 : 1000))];
    });
  }

  /** Returns the rows of each flow in the table `windows`. */
  rowsOfFlow(flows) {
    if (!this.windowRows) {
      this.windowRows = this.head.flows.map(() => []);
      flows.forEach((flow, row) => this.windowRows[flow].push(row));
    }
    return this.windowRows;
  }

  /** Groups positions and outages by node. */
  placesByNode() {
    this.places = new Map();
    const { time, node, x, y, off } = this.tables.places.columns;
    for (let row = 0; row < time.length; row += 1) {
      if (!this.places.has(node[row])) this.places.set(node[row], { times: [], places: [], offs: [] });
      const { times, places, offs } = this.places.get(node[row]);
      // An outage lasts from its first row to the next row without it.
      const before = places.length ? places[places.length - 1].off : 0;
      if (off[row] && !before) offs.push([time[row], this.duration]);
      if (!off[row] && before) offs[offs.length - 1][1] = time[row];
      times.push(time[row]);
      places.push({ x: x[row] / 1000, y: y[row] / 1000, off: off[row] });
    }
  }

  /** Returns the outages of a node: `[[from, until]]`. */
  offs(node) { return this.places.get(node)?.offs || []; }

  /** Returns the position of a node in metres, and whether it has an outage; null if unknown. */
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

  /** Returns the range [first, last) of transmissions that may be on the air in an interval. */
  range(from, to) {
    return [lowerBound(this.start, from - this.longest), lowerBound(this.start, to)];
  }

  /** Whether two nodes are equal or radios of one node. */
  isSameNode(node, other) {
    const firstRadio = (index) => this.head.nodes[index]?.radio_of ?? index;
    return firstRadio(node) === firstRadio(other);
  }

  name(node) { return node >= 0 ? this.head.nodes[node].name : "everyone"; }

  flowName(flow) { return flow >= 0 ? this.head.flows[flow].name : ""; }

  kindName(i) { return this.names.kind[this.kind[i]].toUpperCase().replace(/-/g, " "); }

  /**
   * Returns all transmissions, entries and drops of a packet, as rows of tables: `{sent, entries, drops, others}`. Sequence numbers of a capture are
   * reused: the packet is the one with this number at the time `near`; `others` is the number of other packets with it.
   */
  follow({ flow, carries, packet, near = 0 }) {
    const sent = [];
    for (let i = 0; i < this.count; i += 1) {
      if (this.packet[i] === packet && this.flow[i] === flow && this.carries[i] === carries) sent.push(i);
    }
    sent.push(...this.aggregates.rowsWith(flow, carries, packet));
    const isOfPacket = (columns, row) => columns.flow[row] === flow && columns.carries[row] === carries;
    const d = this.tables.drops.columns;
    const drops = rowsOf(d, packet).filter((row) => isOfPacket(d, row));
    const [ingress, e] = [this.tables.ingress, this.tables.entries].map((table) => table?.columns);
    const entries = e ? rowsOf(e, packet).filter((row) => isOfPacket(ingress, e.ingress[row])) : [];
    const frames = [...new Set(sent)].sort((a, b) => a - b);
    if (!this.isCapture || !frames.length) return { sent: frames, entries, drops, others: 0 };
    const packets = this.splitByPacket(frames);
    const earlier = packets.filter(([first]) => this.start[first] <= near);
    return { sent: earlier[earlier.length - 1] || packets[0], entries, drops, others: packets.length - 1 };
  }

  /** Splits frames of a capture with one sequence number by packet. */
  splitByPacket(frames) {
    const packets = [];
    for (const i of frames) {
      const packet = packets.find((each) => this.isRetryOf(i, each[each.length - 1]));
      if (packet) packet.push(i);
      else packets.push([i]);
    }
    return packets;
  }

  /** Whether frame `i` is a retry of an earlier frame: of its kind and receiver, and within the lifetime of a packet. */
  isRetryOf(i, before) {
    return this.try[i] > 1 && this.kind[i] === this.kind[before] && this.to[i] === this.to[before] && this.start[i] - this.end[before] <= LIFETIME;
  }

  /** Returns the frames that collided with a transmission. */
  collidingFrames(i) {
    if (this.outcome[i] !== 2) return [];
    const [first, last] = this.range(this.start[i], this.end[i]);
    const frames = [];
    for (let other = first; other < last; other += 1) {
      if (this.from[other] === this.collided[i] && this.end[other] > this.start[i]) frames.push(other);
    }
    return frames;
  }

  /**
   * Returns the next collision, drop or timeout from a time on, or after row `last` of its table; null if there is none. Several events may have
   * the same time.
   */
  next(event, from, last = -1) {
    const { time, flow, node, timeouts } = event === "collision" ? { time: this.start } : this.tables[event === "drop" ? "drops" : "windows"].columns;
    const first = last >= 0 ? last + 1 : lowerBound(time, from);
    if (event === "collision") {
      for (let i = first; i < this.count; i += 1) if (this.outcome[i] === 2) return { time: time[i], node: this.from[i], at: i, row: i };
      return null;
    }
    if (event === "drop") return first < time.length ? { time: time[first], node: node[first], row: first } : null;
    const previous = new Map();
    for (let row = 0; row < time.length; row += 1) {
      if (row >= first && timeouts[row] > (previous.get(flow[row]) || 0)) return { time: time[row], node: this.head.flows[flow[row]].source, flow: flow[row], row };
      previous.set(flow[row], timeouts[row]);
    }
    return null;
  }
}
