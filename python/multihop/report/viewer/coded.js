// The streams of a block of transmissions. crates/frames says what they are (streams.rs); names are the same.

import { Bits } from "./chance.js";
import { ofThousands, unzigzag } from "./unpack.js";

const STREAMS = [
  "runAlone", "runAwaited", "runSeveral", "maskAlone", "maskAwaited", "access", "accessAgain", "who", "which", "sorts", "slots", "slotsAgain",
  "slotsThird", "slotsLater", "raw", "since", "rest", "rare", "loss", "collided", "listeners", "bits", "navs", "packet", "mpdus", "hits", "streams",
  "jumps", "lost", "outcomes", "low", "wide", "groups", "drops", "dropChoices", "dropSteps", "dropSaid", "dropCounts", "entries", "entryChoices",
  "entrySteps", "entrySaid", "entryCounts", "windows", "windowChoices", "windowSteps", "windowSaid", "rtts", "timeouts", "queueRuns", "queues",
];
/** Of numbers that are spread, or steep: they have no more bits, or are said; so many are as they are, and larger ones have at least so many bits. */
const NUMBERS = { bits: 20, said: 255, steep: 64, steepBits: 7 };

/** What a block has of transmissions: its streams, by name. */
export class Coded {
  constructor(block) {
    for (const name of STREAMS) this[name] = block.unpack();
    /** What reads the bits by their chances. */
    this.chances = new Bits(this.bits);
    this.rawBits = 0;
    this.rawLeft = 0;
  }

  /** So many bits that look random. */
  rawOf(count) {
    while (this.rawLeft < count) {
      this.rawBits |= this.raw.byte() << this.rawLeft;
      this.rawLeft += 8;
    }
    const value = this.rawBits & ((1 << count) - 1);
    this.rawBits >>>= count;
    this.rawLeft -= count;
    return value;
  }

  /** A number that is as likely to be in the upper half of those with as many bits as in the lower one. */
  spread(stream) {
    const bits = stream.byte();
    if (bits > NUMBERS.bits) return unzigzag(this.wide.take());
    return bits ? this.rawOf(bits - 1) + 2 ** (bits - 1) : 0;
  }

  /** A number of which small values are likelier than large ones. */
  steep(stream) {
    const first = stream.byte();
    if (first < NUMBERS.steep) return first;
    const bits = NUMBERS.steepBits + ((first - NUMBERS.steep) >> 2);
    if (bits > NUMBERS.bits) return unzigzag(this.wide.take());
    return this.rawOf(bits - 3) + (4 + ((first - NUMBERS.steep) & 3)) * 2 ** (bits - 3);
  }

  number(stream) {
    const first = stream.byte();
    if (first < 192) return first;
    if (first === 255) return unzigzag(this.wide.take());
    return 192 + (first - 192) * 256 + this.low.byte();
  }

  signed(stream) { return unzigzag(this.number(stream)); }

  time() { return ofThousands(this.wide.take()); }

  /** Was all read? What ends the bits may not be needed to tell them. */
  isOver() { return STREAMS.every((name) => name === "bits" || this[name].isOver()); }
}
