// The engine in a thread of its own. Who wants to stop it ends the thread.
import { Engine } from "./engine.js";

/** A step of a run takes about so long, and the tables are shown so often, in ms. */
const STEP_MS = 40;
const SHOW_MS = 250;

/** The log is shown when it has grown by this factor: what is drawn at each time is proportional to all of it. */
const GROWTH = 2;

/** Bytes of a log from which on the rest is shown at the end alone, as to read more would hold up the page. */
const MOST_PART = 1 << 25;

let engine = null;

self.onmessage = ({ data }) => {
  if (data.module) {
    engine = new Engine(data.module);
    return;
  }
  const { id, request, run } = data;
  try {
    self.postMessage({ id, ok: run ? simulate(id, run) : engine.call(request) });
  } catch (error) {
    self.postMessage({ id, error: { message: error.message, ...error.details } });
  }
};

/** Runs `{ text, overrides, frames }` to its end and returns the tables; on the way, how far it is, the tables and now and then the frame log so far, and then the whole log. */
function simulate(id, run) {
  const { end_s: end } = engine.call({ do: "start", ...run });
  // A run without an end is interrupted soon, too: steps grow.
  let step = Math.min(end / 1000, 1);
  let now = 0;
  let showAt = performance.now() + SHOW_MS;
  // Of a log without transmissions there is nothing to show.
  let shown = run.frames ? engine.framesSoFar(0).length : 0;
  for (;;) {
    const began = performance.now();
    const { now_s: reached, over } = engine.call({ do: "advance", until_s: now + step });
    const ended = performance.now();
    if (over) {
      const tables = engine.call({ do: "tables" });
      if (run.frames) {
        const frames = engine.frames();
        self.postMessage({ id, progress: { now: end, end, frames } }, [frames.buffer]);
      }
      return tables;
    }
    now = reached;
    step = Math.min(end / 50, step * Math.min(4, Math.max(0.25, STEP_MS / Math.max(ended - began, 0.5))));
    if (ended < showAt) {
      self.postMessage({ id, progress: { now, end } });
    } else {
      const log = run.frames && shown < MOST_PART ? engine.framesSoFar(GROWTH * shown) : new Uint8Array();
      shown = Math.max(shown, log.length);
      const part = log.length ? log : null;
      self.postMessage({ id, progress: { now, end, tables: engine.call({ do: "tables" }), part } }, part ? [part.buffer] : []);
      const made = performance.now();
      // Tables of long runs take a while to make; the run has most of the time.
      showAt = made + Math.max(SHOW_MS, 5 * (made - ended));
    }
  }
}
