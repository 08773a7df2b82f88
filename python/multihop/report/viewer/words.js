// What happened, in sentences.

/** An instant or a length of nanoseconds, with as many digits as `step` asks for. */
export function seconds(ns, step = 1000) {
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(1, step)))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

export function span(ns) {
  if (ns < 1000) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${+(ns / 1e3).toPrecision(4)} us`;
  if (ns < 1e9) return `${+(ns / 1e6).toPrecision(4)} ms`;
  return `${+(ns / 1e9).toPrecision(4)} s`;
}

const LOSSES = {
  "receiver-sending": "was lost, because the receiver was itself transmitting",
  channel: "was lost to noise or to an error of the channel",
  weak: "was too weak there to be decoded",
  off: "was lost, because a radio was off",
  unknown: "was sent; whether it arrived is not known",
};
const OVERLAPS = {
  hidden: "which its sender does not sense: a hidden terminal",
  simultaneous: "which began within the same slot",
  sensed: "which its sender senses, but one of the two did not wait",
};

/** What became of a transmission at the node that it was for, or of what was in it and had this outcome. */
export function fate(model, i, of = model.outcome[i]) {
  const outcome = model.names.outcome[of];
  if (outcome === "arrived") return "arrived";
  if (outcome === "broadcast") return "went to all that hear it";
  if (outcome !== "collision") return LOSSES[outcome];
  const overlap = OVERLAPS[model.names.overlap[model.overlap[i]]];
  return `collided with a frame of ${model.name(model.collided[i])}${overlap ? `, ${overlap}` : ""}`;
}

/** A transmission in a sentence; of an aggregate, with what became of the packet that is followed. */
export function transmission(model, i, followed = null) {
  const packets = model.aggregates.of(i);
  const own = packets.find((each) => followed && isSame(each, followed));
  const what = packetName(model, own || { flow: model.flow[i], carries: model.carries[i], packet: model.packet[i] });
  const others = packets.length > 1 ? ` and ${packets.length - 1} more` : "";
  const tries = model.try[i] > 1 ? `, try ${model.try[i]}` : "";
  const contended = model.contends[i] >= 0 ? ` It had contended for ${span(model.start[i] - model.contends[i])}${backoff(model, i)}.` : "";
  const to = model.to[i] === model.from[i] ? "itself" : model.name(model.to[i]);
  return `${model.name(model.from[i])} sent ${model.kindName(i)}${what ? ` of ${what}${others}` : ""} to ${to}${tries}, `
    + `${onAir(model, i)}: it ${fate(model, i)}${exceptions(model, i, packets, own)}.${contended}`;
}

/** How long a transmission was on the air, and at which rate; not every capture says so. */
function onAir(model, i) {
  const airtime = model.airtime[i];
  const rate = model.rate[i] ? ` at ${+(model.rate[i] / 1e6).toPrecision(3)} Mb/s` : "";
  return airtime ? `${span(airtime)}${rate}` : "at a rate that is not known";
}

/** How many packets a sender had in its queue then; a capture does not say. */
function behind(model, i) {
  return model.isCapture ? "" : ` ${model.queue[i]} ${model.queue[i] === 1 ? "packet" : "packets"} waited behind it.`;
}

/** Of an aggregate that arrived: which of its packets did not. */
function exceptions(model, i, packets, own) {
  const lost = packets.filter(({ outcome }) => outcome).length;
  if (!lost || model.outcome[i]) return "";
  if (own) return own.outcome ? `, but this packet ${fate(model, i, own.outcome)}` : "";
  return `, but ${lost} of its ${packets.length} packets did not`;
}

function isSame(one, other) { return one.packet === other.packet && one.flow === other.flow && one.carries === other.carries; }

/** What there was in the contention before a transmission. */
export function backoff(model, i) {
  const slots = model.slots[i];
  const counted = slots * (model.head.slot_ns || 0);
  const rest = model.start[i] - model.contends[i] - counted;
  const { busy, isLocated } = model.contentions.of(i);
  const deferred = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  const passed = slots ? [`${slots} ${slots === 1 ? "slot" : "slots"} of back-off counted, ${span(counted)}`] : [];
  if (deferred > 0) passed.push(`it deferred to what it heard for ${span(deferred)}`);
  if (isLocated && rest > deferred) passed.push(`inter-frame spaces and timeouts took ${span(rest - deferred)}`);
  if (!isLocated && rest > deferred) passed.push(`in the other ${span(rest - deferred)} it deferred as well, or spaces and timeouts passed; when the slots counted, the log does not tell`);
  return passed.length ? ` (${passed.join("; ")})` : "";
}

export function packetName(model, { flow, carries, packet }) {
  const kind = model.names.carries[carries];
  if (kind === "nothing") return "";
  if (flow < 0) return kind === "arp" ? "ARP" : `${kind} traffic`;
  return `${kind === "feedback" ? "acknowledgement" : "packet"} ${packet} of ${model.flowName(flow)}`;
}

/** The life of a packet: its lines, `[{time, node, text}]`, and what there is to say of it all. */
export function life(model, packet) {
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
  const isKnown = drops.length || lines.some((line) => line.done);
  if (!isKnown && lines.length) lines.push({ time: lines[lines.length - 1].time, node: -1, text: "Its end is not in this log." });
  const note = others ? `${others} other ${others === 1 ? "packet has" : "packets have"} this number: sequence numbers are used again.` : "";
  return { lines, note };
}

/** The path of a packet: where it is, since when, and what was said of that. */
class Path {
  constructor(model, packet) {
    this.model = model;
    this.packet = packet;
    const flow = model.head.flows[packet.flow];
    this.end = flow && (packet.carries === 2 ? flow.source : flow.destination);
    this.lines = [];
    /** In a queue of this node since then; null while it is not known to be in one. */
    this.here = null;
  }

  say(time, node, text, more = {}) { this.lines.push({ time, node, text, ...more }); }

  /** It comes to a node otherwise than by a frame. */
  enter(row) {
    const { model, here } = this;
    const { ingress, time: times } = model.tables.entries.columns;
    const { node: nodes, from: froms } = model.tables.ingress.columns;
    const [time, node, from] = [times[row], nodes[ingress[row]], froms[ingress[row]]];
    if (from === node) this.say(time, node, `${model.name(node)} made it.`);
    else if (model.isOneNode(from, node)) this.say(time, node, `It went over to ${model.name(node)}, another radio of the node.`);
    else {
      const took = here && model.isOneNode(here.node, from) ? `, ${span(time - here.time)} after it had come there: its queue, sending and propagation` : "";
      this.say(time, node, `It came to ${model.name(node)} over the wire from ${model.name(from)}${took}.`);
    }
    this.here = { node, time };
    if (from !== node) this.arrive(node, time);
  }

  /** It is in transmission `i`. */
  send(i) {
    const { model, here } = this;
    if (here && model.isOneNode(here.node, model.from[i])) {
      const waits = (model.contends[i] >= 0 ? model.contends[i] : model.start[i]) - here.time;
      if (waits > 0) this.say(here.time, model.from[i], `It waited in the queue of ${model.name(model.from[i])} for ${span(waits)}.`);
      this.here = null;
    }
    this.say(model.start[i], model.from[i], `${transmission(model, i, this.packet)}${behind(model, i)}`, { at: i });
    const own = model.aggregates.of(i).find((each) => isSame(each, this.packet));
    if (model.kind[i] !== 2 || (own ? own.outcome : model.outcome[i]) !== 0) return;
    this.here = { node: model.to[i], time: model.end[i] };
    this.arrive(model.to[i], model.end[i]);
  }

  arrive(node, time) {
    if (node !== this.end || this.lines.some((line) => line.done)) return;
    this.say(time, node, `It was delivered to ${this.model.name(node)}.`, { done: true });
  }

  drop(row) {
    const { time, node, cause } = this.model.tables.drops.columns;
    this.say(time[row], node[row], `It was dropped at ${this.model.name(node[row])}: ${this.model.names.cause[cause[row]].replace("-", " ")}.`);
  }
}
