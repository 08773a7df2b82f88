// Packets of aggregates. crates/frames/src/page.rs documents their format.

import { lowerBound } from "./steps.js";

/** Packets of aggregates, as runs of consecutive packet numbers: millions of packets need only thousands of runs. */
export class Aggregates {
  /** `runs` has columns for transmission, flow, direction, first packet and length; `lost` lists lost packets with their outcome. */
  constructor(runs, lost) {
    this.runs = runs;
    this.lost = lost;
  }

  /** Returns the packets of a transmission: `[{flow, carries, packet, outcome}]`. */
  of(row) {
    const packets = [];
    const { runs, lost } = this;
    for (let run = lowerBound(runs.row, row); runs.row[run] === row; run += 1) {
      const [flow, carries] = [runs.flow[run], runs.carries[run]];
      for (let at = 0; at < runs.length[run]; at += 1) packets.push({ flow, carries, packet: runs.packet[run] + at, outcome: 0 });
    }
    for (let at = lowerBound(lost.row, row); lost.row[at] === row; at += 1) packets[lost.place[at]].outcome = lost.outcome[at];
    return packets;
  }

  /** Returns the transmissions that carry a packet. */
  rowsWith(flow, carries, packet) {
    const rows = [];
    const { row, flow: flows, carries: directions, packet: firsts, length } = this.runs;
    for (let run = 0; run < row.length; run += 1) {
      const isWithin = firsts[run] <= packet && packet < firsts[run] + length[run];
      if (isWithin && flows[run] === flow && directions[run] === carries) rows.push(row[run]);
    }
    return rows;
  }
}
