// Sentences about transmissions and packets.

/** Formats a time in nanoseconds as seconds, with the resolution of `step` nanoseconds. */
export function seconds(ns, step = 1000) {
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(1, step)))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

/** Formats a duration in nanoseconds. */
export function span(ns) {
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${+(ns / 1e3).toPrecision(4)} us`;
  if (ns < 1e9) return `${+(ns / 1e6).toPrecision(4)} ms`;
  return `${+(ns / 1e9).toPrecision(4)} s`;
}

/** Sentences about lost transmissions, by outcome. */
const LOSSES = {
  "receiver-sending": "was lost because the receiver was transmitting",
  channel: "was lost to noise or a channel error",
  weak: "was too weak to be decoded",
  off: "was lost because a radio was off",
  unknown: "has an unknown outcome",
};
/** Clauses about the causes of collisions. */
const OVERLAPS = {
  hidden: "which its sender does not sense: a hidden terminal",
  simultaneous: "which began in the same slot",
  sensed: "which its sender senses, but one of the two senders did not defer",
};

/** Describes the outcome of a transmission, or of a packet in it with the outcome `code`. */
export function outcomeText(model, i, code = model.outcome[i]) {
  const outcome = model.names.outcome[code];
  if (outcome === "arrived") return "arrived";
  if (outcome === "broadcast") return "was broadcast";
  if (outcome !== "collision") return LOSSES[outcome];
  const overlap = OVERLAPS[model.names.overlap[model.overlap[i]]];
  return `collided with a frame of ${model.name(model.collided[i])}${overlap ? `, ${overlap}` : ""}`;
}

/** Describes a transmission in a sentence, with the outcome of the followed packet if it is an aggregate. */
export function transmission(model, i, followed = null) {
  const packets = model.aggregates.of(i);
  const own = packets.find((each) => followed && isSame(each, followed));
  const carried = packetName(model, own || { flow: model.flow[i], carries: model.carries[i], packet: model.packet[i] });
  const others = packets.length > 1 ? ` and ${packets.length - 1} more` : "";
  const attempt = model.try[i] > 1 ? `, attempt ${model.try[i]}` : "";
  const contended = model.contends[i] >= 0 ? ` The sender contended for ${span(model.start[i] - model.contends[i])} before${backoff(model, i)}.` : "";
  const to = model.to[i] === model.from[i] ? "itself" : model.name(model.to[i]);
  return `${model.name(model.from[i])} sent ${model.kindName(i)}${carried ? ` of ${carried}${others}` : ""} to ${to}${attempt}, `
    + `${onAir(model, i)}: the frame ${outcomeText(model, i)}${exceptions(model, i, packets, own)}.${contended}`;
}

/** Describes airtime and rate of a transmission, if known. */
function onAir(model, i) {
  const airtime = model.airtime[i];
  const rate = model.rate[i] ? ` at ${+(model.rate[i] / 1e6).toPrecision(3)} Mb/s` : "";
  return airtime ? `${span(airtime)}${rate}` : "at an unknown rate";
}

/** Describes the sender's queue at a transmission; empty for captures. */
function queueText(model, i) {
  return model.isCapture ? "" : ` ${model.queue[i]} ${model.queue[i] === 1 ? "packet" : "packets"} waited in the queue.`;
}

/** Describes lost packets of an aggregate that arrived. */
function exceptions(model, i, packets, own) {
  const lost = packets.filter(({ outcome }) => outcome).length;
  if (!lost || model.outcome[i]) return "";
  if (own) return own.outcome ? `, but this packet ${outcomeText(model, i, own.outcome)}` : "";
  return `, but ${lost} of its ${packets.length} packets did not`;
}

function isSame(one, other) { return one.packet === other.packet && one.flow === other.flow && one.carries === other.carries; }

/** Describes the contention before a transmission. */
export function backoff(model, i) {
  const slots = model.slots[i];
  const counted = slots * (model.head.slot_ns || 0);
  const uncounted = model.start[i] - model.contends[i] - counted;
  const { busy, isLocated } = model.contentions.of(i);
  const deferred = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  const parts = slots ? [`${slots} ${slots === 1 ? "slot" : "slots"} of backoff counted, ${span(counted)}`] : [];
  if (deferred > 0) parts.push(`the sender deferred for ${span(deferred)} to frames and NAVs`);
  if (isLocated && uncounted > deferred) parts.push(`inter-frame spaces and timeouts took ${span(uncounted - deferred)}`);
  if (!isLocated && uncounted > deferred) parts.push(`deferrals, inter-frame spaces and timeouts took the other ${span(uncounted - deferred)}; the log does not show when the slots counted`);
  return parts.length ? ` (${parts.join("; ")})` : "";
}

/** Returns the name of a packet, as "packet 12 of left". */
export function packetName(model, { flow, carries, packet }) {
  const kind = model.names.carries[carries];
  if (kind === "nothing") return "";
  if (flow < 0) return kind === "arp" ? "ARP" : `${kind} traffic`;
  return `${kind === "feedback" ? "acknowledgement" : "packet"} ${packet} of ${model.flowName(flow)}`;
}

/** Returns the path of a packet, `{lines: [{time, node, text}], note}`. */
export function packetPath(model, packet) {
  const { sent, entries, drops, others } = model.follow(packet);
  const path = new Path(model, packet);
  const { time } = model.tables.entries?.columns || {};
  let entry = 0;
  for (const i of sent) {
    for (; entry < entries.length && time[entries[entry]] <= model.start[i]; entry += 1) path.enter(entries[entry]);
    path.send(i);
  }
  for (; entry < entries.length; entry += 1) path.enter(entries[entry]);
  drops.forEach((row) => path.drop(row));
  const { lines } = path;
  lines.sort((a, b) => a.time - b.time);
  const hasEnd = drops.length || lines.some((line) => line.done);
  if (!hasEnd && lines.length) lines.push({ time: lines[lines.length - 1].time, node: -1, text: "The log does not contain the end of the packet." });
  const note = others ? `${others} other ${others === 1 ? "packet has" : "packets have"} this number: sequence numbers are reused.` : "";
  return { lines, note };
}

/** Builder of a packet's path, which tracks the queue that contains the packet. */
class Path {
  constructor(model, packet) {
    this.model = model;
    this.packet = packet;
    const flow = model.head.flows[packet.flow];
    this.end = flow && (packet.carries === 2 ? flow.source : flow.destination);
    this.lines = [];
    /** Node whose queue contains the packet, and time of its arrival; null if unknown. */
    this.here = null;
  }

  /** Adds a line. */
  say(time, node, text, more = {}) { this.lines.push({ time, node, text, ...more }); }

  /** Adds the entry of the packet into a node by an ingress. */
  enter(row) {
    const { model, here } = this;
    const { ingress, time: times } = model.tables.entries.columns;
    const { node: nodes, from: froms } = model.tables.ingress.columns;
    const [time, node, from] = [times[row], nodes[ingress[row]], froms[ingress[row]]];
    if (from === node) this.say(time, node, `${model.name(node)} generated the packet.`);
    else if (model.isSameNode(from, node)) this.say(time, node, `The packet moved to ${model.name(node)}, another radio of the node.`);
    else {
      const duration = here && model.isSameNode(here.node, from) ? `, ${span(time - here.time)} after its arrival there: queue, transmission and propagation` : "";
      this.say(time, node, `The packet reached ${model.name(node)} over the wire from ${model.name(from)}${duration}.`);
    }
    this.here = { node, time };
    if (from !== node) this.arrive(node, time);
  }

  /** Adds transmission `i` of the packet. */
  send(i) {
    const { model, here } = this;
    if (here && model.isSameNode(here.node, model.from[i])) {
      const wait = (model.contends[i] >= 0 ? model.contends[i] : model.start[i]) - here.time;
      if (wait > 0) this.say(here.time, model.from[i], `The packet waited in the queue of ${model.name(model.from[i])} for ${span(wait)}.`);
      this.here = null;
    }
    this.say(model.start[i], model.from[i], `${transmission(model, i, this.packet)}${queueText(model, i)}`, { at: i });
    const own = model.aggregates.of(i).find((each) => isSame(each, this.packet));
    if (model.kind[i] !== 2 || (own ? own.outcome : model.outcome[i]) !== 0) return;
    this.here = { node: model.to[i], time: model.end[i] };
    this.arrive(model.to[i], model.end[i]);
  }

  /** Adds the delivery, if the node is the packet's destination. */
  arrive(node, time) {
    if (node !== this.end || this.lines.some((line) => line.done)) return;
    this.say(time, node, `The packet was delivered to ${this.model.name(node)}.`, { done: true });
  }

  /** Adds a drop. */
  drop(row) {
    const { time, node, cause } = this.model.tables.drops.columns;
    this.say(time[row], node[row], `The packet was dropped at ${this.model.name(node[row])}: ${this.model.names.cause[cause[row]].replace("-", " ")}.`);
  }
}
