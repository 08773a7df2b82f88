// Engine on a worker thread, with promises as answers.

/** Worker thread with an engine. */
export class Remote {
  /** @param {WebAssembly.Module} module @param {string} source text of worker.js and its imports */
  constructor(module, source) {
    this.start = () => {
      const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      this.worker = new Worker(url);
      URL.revokeObjectURL(url);
      this.waiting = new Map();
      this.worker.onmessage = ({ data }) => this.answer(data);
      this.worker.onerror = (event) => this.stop(event.message || "the thread of the engine failed");
      this.worker.postMessage({ module });
    };
    this.next = 0;
    this.start();
  }

  /** Returns the answer to a request; rejects with an Error, whose `details` locate the error in a scenario. */
  call(request) {
    return this.post({ request });
  }

  /** Returns the tables of a run. `watch` is called with `{ now, end, tables, part, frames }`: sometimes with tables and a part of the frame log, at the end with the whole log. */
  run(run, watch) {
    return this.post({ run }, watch);
  }

  /** Terminates the thread and starts a new one; pending requests are rejected. */
  stop(reason) {
    this.worker.terminate();
    const waiting = this.waiting;
    this.start();
    for (const { reject } of waiting.values()) reject(new Error(reason));
  }

  /** Sends a message to the thread. */
  post(message, watch) {
    const id = ++this.next;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, watch });
      this.worker.postMessage({ id, ...message });
    });
  }

  /** Handles a message of the thread. */
  answer({ id, ok, error, progress }) {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    if (progress) {
      waiting.watch?.(progress);
      return;
    }
    this.waiting.delete(id);
    if (error) waiting.reject(Object.assign(new Error(error.message), { details: error }));
    else waiting.resolve(ok);
  }
}
