// The packets of aggregates: mostly one after the other. crates/frames says what a log has of them (timeline/aggregates.rs).

import { Growing, damaged } from "./unpack.js";

/** Packets of aggregates, as runs of numbers that follow each other: some millions of packets are some thousand runs. */
export class Aggregates {
  constructor() {
    /** By stream: `{flow, carries}`. */
    this.streams = [];
    this.places = new Map();
    this.row = new Growing(Int32Array);
    this.stream = new Growing(Int32Array);
    this.packet = new Growing(Float64Array);
    this.length = new Growing(Uint16Array);
    /** Those that did not arrive: of which transmission, which of its packets, and why. */
    this.lost = { row: new Growing(Int32Array), place: new Growing(Uint16Array), outcome: new Growing(Uint8Array) };
  }

  /** The place of a stream, which may be new. */
  streamOf(flow, carries) {
    const key = `${flow} ${carries}`;
    if (!this.places.has(key)) {
      this.places.set(key, this.streams.length);
      this.streams.push({ flow, carries });
    }
    return this.places.get(key);
  }

  /** Transmission `row` has `length` more packets, from number `packet` on. */
  add(row, stream, packet, length) {
    const last = this.row.length - 1;
    if (last >= 0 && this.row.values[last] === row && this.stream.values[last] === stream
      && this.packet.values[last] + this.length.values[last] === packet) {
      this.length.values[last] += length;
      return;
    }
    this.row.push(row);
    this.stream.push(stream);
    this.packet.push(packet);
    this.length.push(length);
  }

  lose(row, place, outcome) {
    this.lost.row.push(row);
    this.lost.place.push(place);
    this.lost.outcome.push(outcome);
  }

  /** The packets of a transmission: `[{flow, carries, packet, outcome}]`. */
  of(row) {
    const made = [];
    for (let run = firstOf(this.row, row); run < this.row.length && this.row.values[run] === row; run += 1) {
      const { flow, carries } = this.streams[this.stream.values[run]];
      for (let at = 0; at < this.length.values[run]; at += 1) made.push({ flow, carries, packet: this.packet.values[run] + at, outcome: 0 });
    }
    const { lost } = this;
    for (let at = firstOf(lost.row, row); at < lost.row.length && lost.row.values[at] === row; at += 1) made[lost.place.values[at]].outcome = lost.outcome.values[at];
    return made;
  }

  /**
   * Calls back with how many packets arrived of the last transmission, which is `row`: of streams other than `own` each time that some follow each
   * other, and then of `own`.
   */
  lastArrived(row, own, call) {
    const { lost } = this;
    let run = this.row.length;
    while (run > 0 && this.row.values[run - 1] === row) run -= 1;
    let miss = lost.row.length;
    while (miss > 0 && lost.row.values[miss - 1] === row) miss -= 1;
    let ofOwn = 0;
    for (let end = 0; run < this.row.length;) {
      const stream = this.streams[this.stream.values[run]];
      let there = 0;
      for (const { values } = this.stream, number = values[run]; run < this.row.length && values[run] === number; run += 1) {
        end += this.length.values[run];
        there += this.length.values[run];
      }
      for (; miss < lost.row.length && lost.place.values[miss] < end; miss += 1) there -= 1;
      if (stream.flow === own.flow && stream.carries === own.carries) ofOwn += there;
      else if (there) call(stream, there);
    }
    if (ofOwn) call(own, ofOwn);
  }

  /** The transmissions that a packet is in. */
  rowsWith(flow, carries, packet) {
    const stream = this.places.get(`${flow} ${carries}`);
    const made = [];
    if (stream === undefined) return made;
    const [rows, streams, packets, lengths] = [this.row.values, this.stream.values, this.packet.values, this.length.values];
    for (let run = 0; run < this.row.length; run += 1) {
      if (packets[run] <= packet && packet < packets[run] + lengths[run] && streams[run] === stream) made.push(rows[run]);
    }
    return made;
  }
}

/** The place of the first entry of `row` among rows in their order. */
function firstOf({ values, length }, row) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Of aggregates of a node to another one: of which stream the last new packet was, and which packets did not arrive. */
export function newLink(to) { return { to, latest: null, again: [] }; }

/** Reads the packets of an aggregate into `aggregates`, of which only what was not expected is coded. */
export class Walk {
  constructor(aggregates) { this.aggregates = aggregates; }

  /** Reads `count` packets of transmission `row`; returns how many are not of the last aggregate. Without `signalled` they are as expected. */
  read(coded, node, link, { row, start }, count, signalled) {
    this.row = row;
    this.now = start;
    this.link = link;
    this.next = 0;
    this.fresh = 0;
    const first = this.aggregates.row.length;
    for (let left = count; left > 0;) {
      const coming = signalled ? coded.number(coded.hits) : 0;
      const hits = coming ? coming - 1 : left;
      if (hits > left) throw damaged();
      this.asExpected(hits);
      left -= hits;
      if (left > 0) {
        const stream = this.otherStream(coded, node);
        this.take(stream, stream.next(this.now) + coded.signed(coded.jumps));
        left -= 1;
      }
    }
    link.again.length = 0;
    if (signalled && coded.lost.byte()) this.outcomes(coded, node, first, count);
    return this.fresh;
  }

  /** Those that did not arrive come first, then the next numbers. */
  asExpected(hits) {
    const { again, latest } = this.link;
    let left = hits;
    for (; left > 0 && this.next < again.length; left -= 1) {
      const { stream, packet } = again[this.next];
      this.next += 1;
      this.aggregates.add(this.row, stream.place, packet, 1);
    }
    if (!left) return;
    if (!latest) throw damaged();
    this.fresh += left;
    if (!latest.dropped) {
      this.aggregates.add(this.row, latest.place, latest.last + 1, left);
      latest.last += left;
      return;
    }
    for (; left > 0; left -= 1) {
      latest.last = latest.next(this.now);
      this.aggregates.add(this.row, latest.place, latest.last, 1);
    }
  }

  otherStream(coded, node) {
    const place = coded.number(coded.streams);
    if (place > node.streams.length) throw damaged();
    if (place === node.streams.length) {
      const flow = coded.number(coded.streams);
      const carries = coded.number(coded.streams);
      node.learnStream(flow, carries, 0, this.aggregates.streamOf(flow, carries));
    }
    return node.streams[place];
  }

  take(stream, packet) {
    const { again } = this.link;
    let place = this.next;
    while (place < again.length && (again[place].stream !== stream || again[place].packet !== packet)) place += 1;
    if (place < again.length) this.next = place + 1;
    else {
      this.link.latest = stream;
      stream.last = packet;
      this.fresh += 1;
    }
    this.aggregates.add(this.row, stream.place, packet, 1);
  }

  /** Which packets did not arrive, and why; they are in the runs from `first` on. */
  outcomes(coded, node, first, count) {
    const { aggregates, row, link } = this;
    let run = first;
    let before = 0;
    let byte = 0;
    for (let place = 0; place < count; place += 1) {
      if (place % 8 === 0) byte = coded.lost.byte();
      if (!((byte >> (place % 8)) & 1)) continue;
      aggregates.lose(row, place, coded.number(coded.outcomes));
      while (place - before >= aggregates.length.values[run]) {
        before += aggregates.length.values[run];
        run += 1;
      }
      const number = aggregates.stream.values[run];
      link.again.push({ stream: node.streams.find((stream) => stream.place === number), packet: aggregates.packet.values[run] + place - before });
    }
  }
}
