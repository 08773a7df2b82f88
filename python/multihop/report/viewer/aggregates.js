// The packets of aggregates: mostly one after the other. crates/frames/src/page.rs says what a log has of them.

import { lowerBound } from "./steps.js";

/** Packets of aggregates, as runs of numbers that follow each other: some millions of packets are some thousand runs. */
export class Aggregates {
  /** `runs` are columns of transmissions, flows, directions, first numbers and lengths; `lost` says which packets did not arrive, and why. */
  constructor(runs, lost) {
    this.runs = runs;
    this.lost = lost;
  }

  /** The packets of a transmission: `[{flow, carries, packet, outcome}]`. */
  of(row) {
    const made = [];
    const { runs, lost } = this;
    for (let run = lowerBound(runs.row, row); runs.row[run] === row; run += 1) {
      const [flow, carries] = [runs.flow[run], runs.carries[run]];
      for (let at = 0; at < runs.length[run]; at += 1) made.push({ flow, carries, packet: runs.packet[run] + at, outcome: 0 });
    }
    for (let at = lowerBound(lost.row, row); lost.row[at] === row; at += 1) made[lost.place[at]].outcome = lost.outcome[at];
    return made;
  }

  /** The transmissions that a packet is in. */
  rowsWith(flow, carries, packet) {
    const made = [];
    const { row, flow: flows, carries: directions, packet: firsts, length } = this.runs;
    for (let run = 0; run < row.length; run += 1) {
      const isWithin = firsts[run] <= packet && packet < firsts[run] + length[run];
      if (isWithin && flows[run] === flow && directions[run] === carries) made.push(row[run]);
    }
    return made;
  }
}
