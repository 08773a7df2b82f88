// Worker thread of the engine. A run is stopped by terminating the thread.
import { Engine } from "./engine.js";

/** Approximate duration of a step of a run, in ms. */
const STEP_MS = 40;
/** Minimum time between two updates of the tables, in ms. */
const SHOW_MS = 250;

/** Growth factor of the log between two updates of the viewer, whose cost is proportional to the whole log. */
const GROWTH = 2;

/** Size of a log in bytes above which it is shown only at the end, because reading it would block the page. */
const MAX_PART = 1 << 25;

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

/** Runs `{ text, overrides, frames }` and returns the tables. Posts the progress, the tables and the frame log so far during the run, and the whole log at its end. */
function simulate(id, run) {
  const { end_s: end } = engine.call({ do: "start", ...run });
  // Steps start short and grow, so that an endless run can be interrupted early.
  let step = Math.min(end / 1000, 1);
  let now = 0;
  let showAt = performance.now() + SHOW_MS;
  // A log without transmissions is not shown.
  let shown = run.frames ? engine.framesSoFar(0).length : 0;
  for (;;) {
    const start = performance.now();
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
    step = Math.min(end / 50, step * Math.min(4, Math.max(0.25, STEP_MS / Math.max(ended - start, 0.5))));
    if (ended < showAt) {
      self.postMessage({ id, progress: { now, end } });
    } else {
      const log = run.frames && shown < MAX_PART ? engine.framesSoFar(GROWTH * shown) : new Uint8Array();
      shown = Math.max(shown, log.length);
      const part = log.length ? log : null;
      self.postMessage({ id, progress: { now, end, tables: engine.call({ do: "tables" }), part } }, part ? [part.buffer] : []);
      const shownAt = performance.now();
      // Tables of long runs are slow: updates use at most a sixth of the time.
      showAt = shownAt + Math.max(SHOW_MS, 5 * (shownAt - ended));
    }
  }
}
