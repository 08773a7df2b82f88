// When a transmission that was not awaited begins. crates/frames says what a log has of it (timeline/access.rs).

import { unzigzag } from "./unpack.js";

const SINCE = { exchange: 0, arrival: 1, feeder: 2, gap: 3, otherwise: 4, earlier: 5 };
const MOST_SPACE = 64;
const MOST_DELAY = 1_000_000;

/** Moves a value to the front of a list, from a place. */
export function toFront(list, place, value) {
  for (let at = place; at > 0; at -= 1) list[at] = list[at - 1];
  list[0] = value;
}

/** By its back-off, or so many slots after something on the air ended. */
export class Access {
  constructor(timeline) {
    this.timeline = timeline;
    this.restart();
  }

  restart() {
    /** How long after the arrival of a packet a node contended with it. */
    this.delay = 0;
    /** By how much what began an exchange was not whole slots after the last end, the latest first. */
    this.rests = [0, 0, 0, 0];
    /** Nodes at which DATA arrived lately. */
    this.arrivals = [0, 0, 0, 0];
  }

  /** When it begins, its back-off, and since when it waits. */
  read(coded, node, tries, t) {
    const { timeline } = this;
    const { slot } = timeline;
    const again = tries > 1;
    const code = (again ? coded.accessAgain : coded.access).byte();
    const since = code & 7;
    const kind = (code >> 3) & 7;
    const begins = code & 64;
    let slots = 0;
    if (begins) {
      if (since === SINCE.otherwise) t.waited = coded.time();
      slots = coded.spread([coded.slots, coded.slotsAgain, coded.slotsThird, coded.slotsLater][Math.min(Math.max(tries - 1, 0), 3)]);
    }
    const space = since === SINCE.exchange && again ? 4 : since;
    let began = 0;
    if (since === SINCE.exchange) began = node.end;
    else if (since === SINCE.arrival) began = node.arrived + this.delay;
    else if (since === SINCE.earlier) began = node.arrivedBefore + this.delay;
    else if (since === SINCE.feeder) began = timeline.node(node.feeder).arrived;
    else began = node.end + node.gap;
    if (kind) t.start = timeline.lastEnd + unzigzag(coded.steep(coded.since)) * slot + this.restOfSlot(coded, kind);
    else t.start = began + node.spaces[space] + slots * slot;
    if (!begins) return;
    if (since === SINCE.otherwise) began = t.start - t.waited;
    else if (since !== SINCE.exchange) t.waited = t.start - began;
    t.frozen = Math.floor((t.start - began) / slot) - slots;
    this.learn(node, since, space, began, t.start - began - slots * slot);
  }

  /** How long after a whole slot it begins: as one of the latest did, or otherwise. */
  restOfSlot(coded, kind) {
    const rest = kind === 5 ? coded.number(coded.rest) : this.rests[kind - 1];
    const place = this.rests.indexOf(rest);
    toFront(this.rests, place < 0 ? 3 : place, rest);
    return rest;
  }

  learn(node, since, space, began, found) {
    if (since === SINCE.otherwise) {
      for (const index of this.arrivals) {
        if (this.timeline.node(index).arrived === began) {
          node.feeder = index;
          return;
        }
      }
      const after = began - node.arrived;
      if (after >= 0 && after < MOST_DELAY) {
        this.delay = after;
        return;
      }
      const gap = began - node.end;
      if (node.gapBefore === gap) node.gap = gap;
      node.gapBefore = gap;
    } else if (found >= 0 && found < MOST_SPACE * this.timeline.slot) {
      if (node.spacesBefore[space] === found || node.spaces[space] === 0) node.spaces[space] = found;
      node.spacesBefore[space] = found;
    }
  }
}
