// The engine as the page sees it: promises, and threads that can be ended.

/** A thread with an engine. */
export class Remote {
  /** @param {WebAssembly.Module} module @param {string} source the text of worker.js and what it needs */
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

  /** The answer to a request; rejected with an Error, whose `details` say where a scenario is wrong. */
  call(request) {
    return this.post({ request });
  }

  /** The tables of a run; `watch` is called with `{ now, end, tables, part, frames }` on the way, tables and a part of the frame log now and then, all of it at the end. */
  run(run, watch) {
    return this.post({ run }, watch);
  }

  /** Ends the thread, whatever it does, and begins a new one; what was asked for is rejected. */
  stop(reason) {
    this.worker.terminate();
    const waiting = this.waiting;
    this.start();
    for (const { reject } of waiting.values()) reject(new Error(reason));
  }

  post(message, watch) {
    const id = ++this.next;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, watch });
      this.worker.postMessage({ id, ...message });
    });
  }

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
