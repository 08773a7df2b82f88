// Drops, windows and entries of a block, in groups. crates/frames says what a log has of them (beside).

import { countUntil } from "./seen.js";
import { damaged, ofThousands, unzigzag } from "./unpack.js";

/** A block has no more rows of a table in groups. */
const MOST_ROWS = 2 ** 24;
const MOST_FLOWS = 2 ** 20;
const MANY_CAME = 64;
const BETWEEN_WINDOWS_NS = 10_000_000;
const CHOICE = { paced: 0, same: 1, lately: 2, lengths: 4 };
const RTT = { same: 0, since: 1, ends: 4, said: 1 + 4 * 16 };
/** Columns that make a group, and in which streams it is. */
const DROPS = { keys: 5, packet: "drops", choice: "dropChoices", step: "dropSteps", said: "dropSaid", count: "dropCounts" };
const ENTRIES = { keys: 1, packet: "entries", choice: "entryChoices", step: "entrySteps", said: "entrySaid", count: "entryCounts" };

/** Instants after causes: how many of these there were, and how much later it was lately, the latest first. */
class After {
  constructor() {
    this.place = 0;
    this.lengths = new Array(CHOICE.lengths).fill(0);
  }

  read(coded, streams, causes, known, expected, before) {
    const { lengths } = this;
    let base = before;
    if (causes.length) {
      this.place = expected + unzigzag(coded[streams.step].take());
      if (this.place < 0 || this.place > causes.length) throw damaged();
      base = this.place ? causes.time.values[this.place - 1] : 0;
    } else this.place = 0;
    if (known > lengths.length) throw damaged();
    const length = known < lengths.length ? lengths[known] : ofThousands(coded[streams.said].take());
    for (let at = Math.min(known, lengths.length - 1); at > 0; at -= 1) lengths[at] = lengths[at - 1];
    lengths[0] = length;
    return base + length;
  }
}

/** How many packets follow from those that came. */
class Counts {
  constructor() {
    this.came = 0;
    this.made = 0;
    this.owed = 0;
  }

  guess(came) {
    const twice = this.came ? Math.floor((2 * this.made + Math.floor(this.came / 2)) / this.came) : 2;
    this.owed += Math.min(came, MOST_ROWS) * twice;
    this.came += Math.min(came, MOST_ROWS);
    return Math.max(1, Math.floor(this.owed / 2));
  }

  keep(count) {
    this.owed = Math.min(Math.max(this.owed - 2 * count, 0), 1);
    this.made += count;
    if (this.came <= MANY_CAME) return;
    this.came = Math.floor(this.came / 2);
    this.made = Math.floor(this.made / 2);
  }
}

/** The packets of a group: the instant of a run, or what it is at the pace of those before, and how many there are. */
class Pace {
  constructor() {
    this.packet = 0;
    this.time = 0;
    this.pace = 0;
  }

  guess(packet) { return this.time + (packet - this.packet) * this.pace; }

  begin(packet, time) {
    if (packet !== this.packet) this.pace = Math.trunc((time - this.time) / (packet - this.packet));
    this.packet = packet;
    this.time = time;
  }

  end(run) {
    this.packet = run.packet + run.more;
    this.time = run.time + run.more * run.step;
  }
}

/** So many runs of a group: `[{packet, more, time, step}]`. */
function runsOf(coded, streams, causes, length) {
  const [pace, after, counts] = [new Pace(), new After(), new Counts()];
  const runs = [];
  let last = 0;
  while (runs.length < length) {
    const packet = pace.packet + 1 + unzigzag(coded[streams.packet].take());
    const number = coded[streams.choice].take();
    const choice = Math.floor(number / 2);
    let count = 1;
    let time = choice === CHOICE.paced ? pace.guess(packet) : pace.time;
    if (choice >= CHOICE.lately) {
      time = after.read(coded, streams, causes, choice - CHOICE.lately, last + 1, pace.time);
      if (causes.length) {
        let came = 0;
        for (let at = last; at < after.place; at += 1) came += causes.packets.values[at];
        count = counts.guess(came);
      }
      last = after.place;
    }
    pace.begin(packet, time);
    count += unzigzag(coded[streams.count].take());
    if (!(count >= 1 && count <= MOST_ROWS)) throw damaged();
    counts.keep(count);
    const run = { packet, more: count - 1, time, step: number % 2 ? pace.pace : 0 };
    pace.end(run);
    runs.push(run);
  }
  return runs;
}

/** Groups of a table, `[{key, runs}]`; `causes` of a key are what its rows may follow from. */
function groupsOf(coded, streams, causes) {
  const made = [];
  for (let left = coded.groups.take(); left > 0; left -= 1) {
    const key = [];
    for (let at = 0; at < streams.keys; at += 1) key.push(unzigzag(coded.groups.take()));
    const length = coded.groups.take();
    if (!length || length > coded[streams.choice].left()) throw damaged();
    made.push({ key, runs: runsOf(coded, streams, causes(key), length) });
  }
  return made;
}

/** A round-trip time: as before, or from an instant at which the flow sent until another one. */
function rttOf(coded, before, now, runs) {
  const code = coded.rtts.take();
  if (code === RTT.same) return before;
  if (code >= RTT.said) return ofThousands(coded.windowSaid.take());
  let until = 0;
  for (let high = runs.length; until < high;) {
    const middle = (until + high) >> 1;
    if (runs[middle].time <= now) until = middle + 1;
    else high = middle;
  }
  const end = until - 1 - ((code - RTT.since) % RTT.ends);
  const begin = end - Math.floor((code - RTT.since) / RTT.ends) - 1;
  if (begin < 0) throw damaged();
  return runs[end].time - runs[begin].time;
}

const WINDOWS = { step: "windowSteps", said: "windowSaid" };

/** So many rows of the windows of a flow, the source of which began frames and sent packets at these instants. */
function windowsOf(coded, flow, frames, runs, length) {
  const after = new After();
  const rows = [];
  let due = 0;
  let row = { time: 0, flow, window: 0, rtt: 0, timeouts: 0 };
  while (rows.length < length) {
    const expected = countUntil(frames.time, due - after.lengths[0], true) + 1;
    const time = after.read(coded, WINDOWS, frames, coded.windowChoices.take(), expected, row.time);
    due = time + BETWEEN_WINDOWS_NS;
    const window = row.window + unzigzag(coded.windows.take());
    const rtt = rttOf(coded, row.rtt, time, runs);
    row = { time, flow, window, rtt, timeouts: row.timeouts + unzigzag(coded.timeouts.take()) };
    rows.push(row);
  }
  return rows;
}

/** What a block has beside transmissions. */
export class Beside {
  /** The drops that are known before the transmissions; `call` hears of each. */
  readEarly(coded, call) {
    this.early = groupsOf(coded, DROPS, () => []);
    for (const { key: [flow, carries, node], runs } of this.early) {
      for (const run of runs) {
        for (let at = 0; at <= run.more; at += 1) call(node, flow, carries, run.packet + at, run.time + at * run.step);
      }
    }
  }

  /** All else. `ingresses` are the rows of that table, and `flows` those of the description. */
  readRest(coded, seen, ingresses, flows) {
    this.drops = [...this.early, ...groupsOf(coded, DROPS, (key) => seen.endsOf(key[2]))];
    this.entries = groupsOf(coded, ENTRIES, (key) => seen.brings(ingresses[key[0]]));
    this.windows = [];
    for (let left = coded.groups.take(); left > 0; left -= 1) {
      const flow = coded.groups.take();
      const length = coded.groups.take();
      if (!length || flow >= MOST_FLOWS || length > coded.windowChoices.left()) throw damaged();
      const source = flows[flow]?.source ?? -1;
      const place = ingresses.findIndex((row) => row.flow === flow && row.carries === 1 && row.node === source && row.from === source);
      const packets = place < 0 ? null : this.entries.find(({ key }) => key[0] === place);
      const rows = windowsOf(coded, flow, seen.startsOf(source), packets ? packets.runs : [], length);
      for (const row of rows) this.windows.push(row);
    }
    this.windows.sort((one, other) => one.time - other.time);
  }

  /** Appends all rows to the columns of their tables, in the order of their times. */
  append(tables) {
    const { drops, windows, entries } = tables;
    inOrder(this.drops, (key, packet, time) => {
      ["flow", "carries", "node", "cause"].forEach((name, at) => drops[name].push(key[at]));
      drops.packet.push(packet);
      drops.time.push(time);
    });
    for (const row of this.windows) for (const [name, column] of Object.entries(windows)) column.push(row[name]);
    inOrder(this.entries, (key, packet, time) => {
      entries.ingress.push(key[0]);
      entries.packet.push(packet);
      entries.time.push(time);
    });
  }
}

/** Calls back with key, number and time of each row of groups, in the order of the times, and of keys at one instant. */
function inOrder(groups, call) {
  const parts = [];
  const order = [...groups].sort(({ key: one }, { key: other }) => {
    const at = one.findIndex((value, index) => value !== other[index]);
    return at < 0 ? 0 : one[at] - other[at];
  });
  for (const { key, runs } of order) {
    for (const run of runs) {
      if (run.step === 0) parts.push({ key, ...run });
      else for (let at = 0; at <= run.more; at += 1) parts.push({ key, packet: run.packet + at, more: 0, time: run.time + at * run.step });
    }
  }
  parts.sort((one, other) => one.time - other.time);
  for (const { key, packet, more, time } of parts) for (let at = 0; at <= more; at += 1) call(key, packet + at, time);
}
